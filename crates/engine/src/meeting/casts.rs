// SPDX-License-Identifier: Apache-2.0
//! Casts that PostgreSQL has not: the query engine makes days since 1970 of a number, and numbers of days.

use super::kind::{Category, sql_name};
use crate::errors::carry;
use arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::Transformed;
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{Cast, TryCast};
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{Expr, ExprSchemable};
use weir_base::{Error, ErrorCode};

/// Looks at the casts that were written, before any rule adds its own. Error: 42846.
#[derive(Debug)]
pub(crate) struct CastsAsInPostgres;

impl FunctionRewrite for CastsAsInPostgres {
    fn name(&self) -> &str {
        "casts_as_in_postgres"
    }

    fn rewrite(&self, expr: Expr, schema: &DFSchema, _: &ConfigOptions) -> Result<Transformed<Expr>> {
        if let Expr::Cast(Cast { expr: inner, field }) | Expr::TryCast(TryCast { expr: inner, field }) = &expr
            && let Ok(from) = inner.get_type(schema)
            && !castable(&from, field.data_type())
        {
            let message = format!("cannot cast type {} to {}", sql_name(&from), sql_name(field.data_type()));
            return Err(carry(Error::new(ErrorCode::NoCast, message).with_hint(hint(Category::of(&from), Category::of(field.data_type())))));
        }
        Ok(Transformed::no(expr))
    }
}

fn castable(from: &DataType, to: &DataType) -> bool {
    use Category::{Bytes, Moment, Number, Span, Time, Truth};
    match (Category::of(from), Category::of(to)) {
        (Number, Moment | Time | Span | Bytes) | (Moment | Time | Span | Bytes, Number | Truth) | (Truth, Moment | Time | Span | Bytes) => false,
        (Moment, Time) => matches!(from, DataType::Timestamp(..)),
        (Time, Moment) | (Span, Moment) | (Moment, Span) => false,
        (Bytes, Moment | Time | Span) | (Moment | Time | Span, Bytes) => false,
        _ => true,
    }
}

fn hint(from: Category, to: Category) -> &'static str {
    match (from, to) {
        (Category::Number, Category::Moment) => "write to_timestamp(seconds), or date '1970-01-01' + days",
        (Category::Moment, Category::Number) => "write extract(epoch FROM x), or x - date '1970-01-01' for days",
        (Category::Number, Category::Span) => "write x * interval '1 second'",
        (Category::Span | Category::Time, Category::Number) => "write extract(epoch FROM x)",
        _ => "cast by way of text, if that is meant",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::{IntervalUnit, TimeUnit};

    #[test]
    fn casts_are_those_of_postgres() {
        let (stamp, time) = (DataType::Timestamp(TimeUnit::Microsecond, None), DataType::Time64(TimeUnit::Microsecond));
        let span = DataType::Interval(IntervalUnit::MonthDayNano);
        for (from, to) in [
            (DataType::Int32, DataType::Date32),
            (DataType::Date32, DataType::Int32),
            (DataType::Boolean, DataType::Date32),
            (DataType::Date32, time.clone()),
            (DataType::Int64, stamp.clone()),
            (stamp.clone(), DataType::Int64),
            (span.clone(), DataType::Int64),
            (DataType::Binary, DataType::Int64),
        ] {
            assert!(!castable(&from, &to), "{from} {to}");
        }
        for (from, to) in [
            (DataType::Int32, DataType::Boolean),
            (DataType::Boolean, DataType::Int32),
            (DataType::Utf8, DataType::Date32),
            (stamp.clone(), DataType::Date32),
            (DataType::Date32, stamp.clone()),
            (stamp, time.clone()),
            (time, span),
            (DataType::Null, DataType::Date32),
        ] {
            assert!(castable(&from, &to), "{from} {to}");
        }
    }
}
