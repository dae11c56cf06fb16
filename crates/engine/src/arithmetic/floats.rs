// SPDX-License-Identifier: Apache-2.0
//! A floating point number is compared with a decimal as a double, as in PostgreSQL. The planner would turn both into decimals,
//! which NaN, infinities and large numbers do not fit.

use crate::walk::{sides, with_sides};
use arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{Expr, ExprSchemable, cast};

#[derive(Debug)]
pub(super) struct CompareAsDoubles;

impl FunctionRewrite for CompareAsDoubles {
    fn name(&self) -> &str {
        "compare_as_doubles"
    }

    fn rewrite(&self, expr: Expr, schema: &DFSchema, _: &ConfigOptions) -> Result<Transformed<Expr>> {
        match mixed(&expr, schema) {
            true => with_sides(expr, |side| Ok(as_double(side, schema))).map(Transformed::yes),
            false => Ok(Transformed::no(expr)),
        }
    }
}

/// Whether the expression compares a floating point number with a decimal.
fn mixed(expr: &Expr, schema: &DFSchema) -> bool {
    let types: Vec<DataType> = sides(expr).into_iter().filter_map(|side| side.get_type(schema).ok()).collect();
    types.iter().any(DataType::is_floating) && types.iter().any(decimal)
}

fn decimal(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) | DataType::Decimal256(..))
}

fn as_double(side: Expr, schema: &DFSchema) -> Expr {
    match side.get_type(schema) {
        Ok(data_type) if decimal(&data_type) => cast(side, DataType::Float64),
        _ => side,
    }
}
