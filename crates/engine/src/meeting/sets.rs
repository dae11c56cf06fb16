// SPDX-License-Identifier: Apache-2.0
//! The columns of set operations: those of all parts meet in one type, which is also that of INTERSECT and EXCEPT.

use super::choices::reads;
use super::kind::{Category, Met, common};
use super::unmatched;
use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{JoinType, NullEquality, Result};
use datafusion::logical_expr::logical_plan::Distinct;
use datafusion::logical_expr::{Expr, Join, LogicalPlan, LogicalPlanBuilder, Union, cast};
use std::sync::Arc;

/// Error: 42804 for columns that do not meet.
pub(super) fn united(union: Union) -> Result<Transformed<LogicalPlan>> {
    let parts: Vec<&LogicalPlan> = union.inputs.iter().map(AsRef::as_ref).collect();
    let types = common_types("UNION", &parts)?;
    let stale = |(index, to): (usize, &Option<DataType>)| to.as_ref().is_some_and(|to| union.schema.field(index).data_type() != to);
    if !types.iter().enumerate().any(stale) && union.inputs.iter().all(|input| fits(input, &types)) {
        return Ok(Transformed::no(LogicalPlan::Union(union)));
    }
    let inputs = union.inputs.iter().map(|input| as_types(input, &types)).collect::<Result<Vec<_>>>()?;
    Ok(Transformed::yes(LogicalPlan::Union(Union::try_new_with_loose_types(inputs)?)))
}

/// Whether the join is an INTERSECT or an EXCEPT.
pub(super) fn of_sets(join: &Join) -> bool {
    let of_sets = matches!(join.join_type, JoinType::LeftSemi | JoinType::LeftAnti) && join.null_equality == NullEquality::NullEqualsNull;
    of_sets && join.filter.is_none() && join.on.len() == join.left.schema().fields().len()
}

/// Error: 42804 for columns that do not meet.
pub(super) fn matched(join: Join) -> Result<Transformed<LogicalPlan>> {
    let place = if join.join_type == JoinType::LeftSemi { "INTERSECT" } else { "EXCEPT" };
    let types = common_types(place, &[&join.left, &join.right])?;
    if fits(&join.left, &types) && fits(&join.right, &types) {
        return Ok(Transformed::no(LogicalPlan::Join(join)));
    }
    let (left, right) = (as_types(&join.left, &types)?, as_types(&join.right, &types)?);
    let typed = Join::try_new(left, right, join.on, None, join.join_type, join.join_constraint, join.null_equality, join.null_aware)?;
    Ok(Transformed::yes(LogicalPlan::Join(typed)))
}

/// The type of each column; `None` where nothing is known.
fn common_types(place: &str, parts: &[&LogicalPlan]) -> Result<Vec<Option<DataType>>> {
    let columns = parts.first().map_or(0, |part| part.schema().fields().len());
    // Another number of columns is an error of the query engine's.
    if parts.iter().any(|part| part.schema().fields().len() != columns) {
        return Ok(vec![None; columns]);
    }
    let common_type = |column: usize| {
        let met: Vec<Met> = parts.iter().map(|part| column_of(part, column)).collect();
        common(&met).map_err(|(one, other)| unmatched(place, &one, &other))
    };
    (0..columns).map(common_type).collect()
}

/// What is known of the type of a column.
fn column_of(part: &LogicalPlan, column: usize) -> Met {
    let known = part.schema().field(column).data_type();
    if known.is_null() || Category::of(known) == Category::Text && written_out(part, column) { Met::Unknown } else { Met::Known(known.clone()) }
}

fn written_out(part: &LogicalPlan, column: usize) -> bool {
    match part {
        LogicalPlan::Projection(projection) => matches!(projection.expr[column].clone().unalias(), Expr::Literal(..)),
        LogicalPlan::Distinct(Distinct::All(input)) => written_out(input, column),
        LogicalPlan::Sort(sort) => written_out(&sort.input, column),
        LogicalPlan::Limit(limit) => written_out(&limit.input, column),
        _ => false,
    }
}

fn fits(part: &LogicalPlan, types: &[Option<DataType>]) -> bool {
    part.schema().fields().iter().zip(types).all(|(field, to)| !turns(field.data_type(), to.as_ref()))
}

fn turns(from: &DataType, to: Option<&DataType>) -> bool {
    // Kinds of texts are told by more than their type.
    to.is_some_and(|to| from != to && (Category::of(to) != Category::Text || from.is_null()) && (Category::of(from) != Category::Text || reads(to)))
}

/// The columns in these types. What is distinct is so before and after: a cast to a wider type keeps values apart.
fn as_types(input: &Arc<LogicalPlan>, types: &[Option<DataType>]) -> Result<Arc<LogicalPlan>> {
    if fits(input, types) {
        return Ok(input.clone());
    }
    if let LogicalPlan::Distinct(Distinct::All(inner)) = input.as_ref() {
        return Ok(Arc::new(LogicalPlan::Distinct(Distinct::All(as_types(inner, types)?))));
    }
    if let LogicalPlan::Union(parts) = input.as_ref() {
        let parts = parts.inputs.iter().map(|part| as_types(part, types)).collect::<Result<Vec<_>>>()?;
        return Ok(Arc::new(LogicalPlan::Union(Union::try_new_with_loose_types(parts)?)));
    }
    let expressions = input.schema().iter().zip(types).map(|((qualifier, field), to)| {
        let column = Expr::from((qualifier, field));
        match to {
            Some(to) if turns(field.data_type(), Some(to)) => cast(column, to.clone()).alias_qualified(qualifier.cloned(), field.name()),
            _ => column,
        }
    });
    let expressions: Vec<Expr> = expressions.collect();
    Ok(Arc::new(LogicalPlanBuilder::from(input.clone()).project(expressions)?.build()?))
}
