// SPDX-License-Identifier: Apache-2.0
//! A date that is compared with a fixed clock time is compared with its day: `d < date '2026-01-31' + interval '1 day'` asks about days,
//! as midnights of `d` it would keep sources from using an index and the lake from leaving files out.

use crate::walk::{expressions, seen_by};
use arrow::datatypes::DataType;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::expr::Cast;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator};
use datafusion::optimizer::optimizer::ApplyOrder;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};

#[derive(Debug)]
pub(crate) struct WholeDays;

impl OptimizerRule for WholeDays {
    fn name(&self) -> &str {
        "whole_days"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        Some(ApplyOrder::BottomUp)
    }

    fn rewrite(&self, plan: LogicalPlan, _: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        if !matches!(plan, LogicalPlan::Filter(_) | LogicalPlan::Join(_) | LogicalPlan::TableScan(_)) {
            return Ok(Transformed::no(plan));
        }
        let schema = seen_by(&plan)?;
        expressions(plan, |expr| Ok(compared(&expr, &schema).map_or_else(|| Transformed::no(expr), Transformed::yes)))
    }
}

fn compared(expr: &Expr, schema: &DFSchema) -> Option<Expr> {
    let Expr::BinaryExpr(BinaryExpr { left, op, right }) = expr else { return None };
    let (date, op, at) = match (midnight_of(left, schema), midnight_of(right, schema)) {
        (Some(date), None) => (date, *op, right),
        (None, Some(date)) => (date, op.swap()?, left),
        _ => return None,
    };
    let (day, midnight) = clock(at)?;
    let op = match op {
        Operator::Lt | Operator::GtEq | Operator::Eq | Operator::NotEq if midnight => op,
        Operator::Lt | Operator::LtEq => Operator::LtEq,
        Operator::Gt | Operator::GtEq => Operator::Gt,
        _ => return None,
    };
    let day = Expr::Literal(ScalarValue::Date32(Some(day)), None);
    Some(Expr::BinaryExpr(BinaryExpr::new(Box::new(date.clone()), op, Box::new(day))))
}

/// The date whose midnight this is.
fn midnight_of<'e>(expr: &'e Expr, schema: &DFSchema) -> Option<&'e Expr> {
    let date = match expr {
        Expr::Cast(Cast { expr, field }) if matches!(field.data_type(), DataType::Timestamp(_, None)) => expr.as_ref(),
        _ => return None,
    };
    (date.get_type(schema).ok()? == DataType::Date32).then_some(date)
}

/// The day of a fixed clock time, and whether that is its midnight.
fn clock(expr: &Expr) -> Option<(i32, bool)> {
    let Expr::Literal(value, _) = expr else { return None };
    let (at, of_a_day) = match value {
        ScalarValue::TimestampSecond(Some(at), None) => (*at, 86_400),
        ScalarValue::TimestampMillisecond(Some(at), None) => (*at, 86_400_000),
        ScalarValue::TimestampMicrosecond(Some(at), None) => (*at, 86_400_000_000),
        ScalarValue::TimestampNanosecond(Some(at), None) => (*at, 86_400_000_000_000),
        _ => return None,
    };
    Some((i32::try_from(at.div_euclid(of_a_day)).ok()?, at.rem_euclid(of_a_day) == 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::{Field, Schema, TimeUnit};
    use datafusion::logical_expr::{binary_expr, cast, col, lit};

    fn of(left: Expr, op: Operator, right: Expr) -> Option<String> {
        let schema = DFSchema::try_from(Schema::new(vec![Field::new("d", DataType::Date32, true)])).unwrap();
        compared(&binary_expr(left, op, right), &schema).map(|expr| expr.to_string())
    }

    fn day() -> Expr {
        cast(col("d"), DataType::Timestamp(TimeUnit::Microsecond, None))
    }

    /// So many hours after the midnight with which 1970-01-03 began.
    fn hours(hours: i64) -> Expr {
        lit(ScalarValue::TimestampMicrosecond(Some((48 + hours) * 3_600_000_000), None))
    }

    #[test]
    fn a_midnight_is_its_day() {
        for (op, sign) in
            [(Operator::Lt, "<"), (Operator::LtEq, "<="), (Operator::Gt, ">"), (Operator::GtEq, ">="), (Operator::Eq, "="), (Operator::NotEq, "!=")]
        {
            assert_eq!(of(day(), op, hours(0)), Some(format!("d {sign} Date32(\"1970-01-03\")")));
        }
    }

    #[test]
    fn a_time_within_a_day_is_after_its_midnight() {
        assert_eq!(of(day(), Operator::Lt, hours(12)).unwrap(), "d <= Date32(\"1970-01-03\")");
        assert_eq!(of(day(), Operator::GtEq, hours(12)).unwrap(), "d > Date32(\"1970-01-03\")");
        assert_eq!(of(day(), Operator::Lt, hours(-60)).unwrap(), "d <= Date32(\"1969-12-31\")");
        assert_eq!(of(day(), Operator::Eq, hours(12)), None);
    }

    #[test]
    fn the_sides_may_be_the_other_way_round() {
        assert_eq!(of(hours(0), Operator::Lt, day()).unwrap(), "d > Date32(\"1970-01-03\")");
        assert_eq!(of(hours(12), Operator::LtEq, day()).unwrap(), "d > Date32(\"1970-01-03\")");
    }

    #[test]
    fn what_is_not_fixed_stays() {
        assert_eq!(of(day(), Operator::Lt, day()), None);
        assert_eq!(of(day(), Operator::Lt, lit(ScalarValue::TimestampMicrosecond(None, None))), None);
        assert_eq!(of(day(), Operator::IsDistinctFrom, hours(0)), None);
    }
}
