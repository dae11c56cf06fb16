// SPDX-License-Identifier: Apache-2.0
//! A union of floating point numbers and decimals is one of doubles; the query engine would make decimals, which hold fewer numbers.

use arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::logical_expr::{Expr, LogicalPlan, LogicalPlanBuilder, Union, cast};
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
