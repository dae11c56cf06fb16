// SPDX-License-Identifier: Apache-2.0
//! The types of set operations. A union of floating point numbers and decimals is one of doubles; the query engine would make decimals,
//! which hold fewer numbers. `INTERSECT` and `EXCEPT` have the types of a union; the query engine would take those of the left side.

use arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::common::{JoinType, NullEquality, Result};
use datafusion::logical_expr::logical_plan::Distinct;
use datafusion::logical_expr::type_coercion::binary::type_union_coercion;
use datafusion::logical_expr::{Expr, Join, LogicalPlan, LogicalPlanBuilder, Union, cast};
use datafusion::optimizer::AnalyzerRule;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct UnionsOfDoubles;

impl AnalyzerRule for UnionsOfDoubles {
    fn name(&self) -> &str {
        "unions_of_doubles"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(|node| match node {
            LogicalPlan::Union(union) => of_doubles(union),
            LogicalPlan::Join(join) if of_sets(&join) => of_one_type(join),
            other => Ok(Transformed::no(other)),
        })
        .data()
    }
}

fn of_doubles(union: Union) -> Result<Transformed<LogicalPlan>> {
    let columns: Vec<usize> = (0..union.schema.fields().len()).filter(|column| mixed(&union, *column)).collect();
    if columns.is_empty() {
        return Ok(Transformed::no(LogicalPlan::Union(union)));
    }
    let inputs = union.inputs.iter().map(|input| with_doubles(input, &columns)).collect::<Result<Vec<_>>>()?;
    Ok(Transformed::yes(LogicalPlan::Union(Union::try_new_with_loose_types(inputs)?)))
}

/// Whether the join is an INTERSECT or an EXCEPT.
fn of_sets(join: &Join) -> bool {
    let of_sets = matches!(join.join_type, JoinType::LeftSemi | JoinType::LeftAnti) && join.null_equality == NullEquality::NullEqualsNull;
    of_sets && join.filter.is_none() && join.on.len() == join.left.schema().fields().len()
}

fn of_one_type(join: Join) -> Result<Transformed<LogicalPlan>> {
    let pairs = join.left.schema().fields().iter().zip(join.right.schema().fields());
    let types: Vec<Option<DataType>> = pairs.map(|(left, right)| common_type(left.data_type(), right.data_type())).collect();
    if types.iter().all(Option::is_none) {
        return Ok(Transformed::no(LogicalPlan::Join(join)));
    }
    let (left, right) = (as_types(&join.left, &types)?, as_types(&join.right, &types)?);
    let typed = Join::try_new(left, right, join.on, None, join.join_type, join.join_constraint, join.null_equality, join.null_aware)?;
    Ok(Transformed::yes(LogicalPlan::Join(typed)))
}

/// The type of both sides, where they are not of one.
fn common_type(left: &DataType, right: &DataType) -> Option<DataType> {
    match (left, right) {
        (left, right) if left == right => None,
        (left, right) if left.is_floating() && decimal(right) || decimal(left) && right.is_floating() => Some(DataType::Float64),
        (left, right) => type_union_coercion(left, right),
    }
}

/// The columns in these types. What is distinct is so before and after: a cast to a wider type keeps values apart.
fn as_types(input: &Arc<LogicalPlan>, types: &[Option<DataType>]) -> Result<Arc<LogicalPlan>> {
    if let LogicalPlan::Distinct(Distinct::All(inner)) = input.as_ref() {
        return Ok(Arc::new(LogicalPlan::Distinct(Distinct::All(as_types(inner, types)?))));
    }
    let expressions = input.schema().iter().zip(types).map(|((qualifier, field), to)| {
        let column = Expr::from((qualifier, field));
        match to {
            Some(to) if to != field.data_type() => cast(column, to.clone()).alias_qualified(qualifier.cloned(), field.name()),
            _ => column,
        }
    });
    let expressions: Vec<Expr> = expressions.collect();
    Ok(Arc::new(LogicalPlanBuilder::from(input.clone()).project(expressions)?.build()?))
}

fn mixed(union: &Union, column: usize) -> bool {
    let types = || union.inputs.iter().filter_map(|input| input.schema().fields().get(column)).map(|field| field.data_type());
    types().any(DataType::is_floating) && types().any(decimal)
}

fn decimal(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Decimal128(..) | DataType::Decimal256(..))
}

fn with_doubles(input: &Arc<LogicalPlan>, columns: &[usize]) -> Result<Arc<LogicalPlan>> {
    let schema = input.schema();
    let expressions = schema.iter().enumerate().map(|(index, (qualifier, field))| {
        let column = Expr::from((qualifier, field));
        match columns.contains(&index) && decimal(field.data_type()) {
            true => cast(column, DataType::Float64).alias_qualified(qualifier.cloned(), field.name()),
            false => column,
        }
    });
    let expressions: Vec<Expr> = expressions.collect();
    Ok(Arc::new(LogicalPlanBuilder::from(input.clone()).project(expressions)?.build()?))
}
