// SPDX-License-Identifier: Apache-2.0
//! `'infinity'` beside a date or a timestamp: a bound that everything finite is on one side of. Elsewhere it is refused, since no value
//! here is infinite; a source that has such values is asked for them.

use crate::walk::{sides, with_sides};
use arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::Cast;
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{Expr, ExprSchemable};

#[derive(Debug)]
pub(super) struct InfiniteBounds;

impl FunctionRewrite for InfiniteBounds {
    fn name(&self) -> &str {
        "infinite_bounds"
    }

    fn rewrite(&self, expr: Expr, schema: &DFSchema, _: &ConfigOptions) -> Result<Transformed<Expr>> {
        let compared = sides(&expr);
        if !compared.iter().any(|side| infinite(side).is_some()) {
            return Ok(Transformed::no(expr));
        }
        let of_values = |wanted: fn(&DataType) -> bool| {
            let values = compared.iter().filter(|side| infinite(side).is_none());
            values.filter_map(|side| side.get_type(schema).ok()).find(wanted)
        };
        let timestamp = of_values(|found| matches!(found, DataType::Timestamp(..)));
        let Some(moment) = timestamp.or_else(|| of_values(|found| *found == DataType::Date32)) else { return Ok(Transformed::no(expr)) };
        with_sides(expr, |side| Ok(infinite(&side).map_or(side, |positive| bound(positive, &moment)))).map(Transformed::yes)
    }
}

/// Whether a side is the text of an infinity, perhaps cast to a moment, and which.
fn infinite(side: &Expr) -> Option<bool> {
    match side {
        Expr::Literal(ScalarValue::Utf8(Some(text)) | ScalarValue::Utf8View(Some(text)) | ScalarValue::LargeUtf8(Some(text)), _) => {
            match text.trim().to_ascii_lowercase().as_str() {
                "infinity" | "+infinity" => Some(true),
                "-infinity" => Some(false),
                _ => None,
            }
        }
        Expr::Cast(Cast { expr, field }) if matches!(field.data_type(), DataType::Date32 | DataType::Timestamp(..)) => infinite(expr),
        _ => None,
    }
}

/// The extreme of the type stands for the infinity, as connectors know it.
fn bound(positive: bool, moment: &DataType) -> Expr {
    let value = match moment {
        DataType::Timestamp(_, zone) => ScalarValue::TimestampMicrosecond(Some(if positive { i64::MAX } else { i64::MIN }), zone.clone()),
        _ => ScalarValue::Date32(Some(if positive { i32::MAX } else { i32::MIN })),
    };
    Expr::Literal(value, None)
}

/// The text of a bound, for EXPLAIN.
pub(super) fn shown(value: &ScalarValue) -> Option<&'static str> {
    match value {
        ScalarValue::TimestampMicrosecond(Some(i64::MAX), _) | ScalarValue::Date32(Some(i32::MAX)) => Some("infinity"),
        ScalarValue::TimestampMicrosecond(Some(i64::MIN), _) | ScalarValue::Date32(Some(i32::MIN)) => Some("-infinity"),
        _ => None,
    }
}
