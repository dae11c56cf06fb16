// SPDX-License-Identifier: Apache-2.0
//! A filter in words: the SQL that an analyst would have typed, for EXPLAIN.

use crate::{arithmetic, functions, moments, text_kinds};
use datafusion::common::Column;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::logical_expr::Expr;
use datafusion::sql::sqlparser::ast::{DataType as SqlType, Expr as SqlExpr, TypedString, Value, VisitMut, VisitorMut};
use datafusion::sql::unparser::expr_to_sql;
use std::ops::ControlFlow;

/// The filter as the user would write it: without the table's name in front of each column, and with typed literals.
pub(crate) fn in_words(filter: &Expr) -> String {
    let bare = filter.clone().transform(|expr| match expr {
        Expr::Column(column) => Ok(Transformed::yes(Expr::Column(Column::new_unqualified(column.name)))),
        other => Ok(Transformed::no(other)),
    });
    let bare = bare
        .and_then(|done| text_kinds::plain(done.data))
        .and_then(arithmetic::plain)
        .and_then(moments::plain)
        .and_then(functions::plain)
        .unwrap_or_else(|_| filter.clone());
    let Ok(mut sql) = expr_to_sql(&bare) else { return bare.human_display().to_string() };
    let _ = sql.visit(&mut TypedLiterals);
    sql.to_string()
}

/// `CAST('2026-01-01' AS DATE)` is `DATE '2026-01-01'`.
struct TypedLiterals;

impl VisitorMut for TypedLiterals {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut SqlExpr) -> ControlFlow<()> {
        let SqlExpr::Cast { expr: inner, data_type, .. } = expr else { return ControlFlow::Continue(()) };
        let of_time = matches!(data_type, SqlType::Timestamp(..) | SqlType::Date | SqlType::Time(..) | SqlType::TimestampNtz(_));
        if of_time
            && let SqlExpr::Value(value) = inner.as_ref()
            && matches!(value.value, Value::SingleQuotedString(_))
        {
            *expr = SqlExpr::TypedString(TypedString { data_type: data_type.clone(), value: value.clone(), uses_odbc_syntax: false });
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::common::ScalarValue;
    use datafusion::logical_expr::{col, lit};

    #[test]
    fn literals_have_their_sql_names() {
        let moment = ScalarValue::TimestampMicrosecond(Some(1_767_225_600_000_000), None);
        let filter = col("t.ts").gt_eq(lit(moment)).and(col("name").eq(lit("it's"))).and(col("n").eq(lit(1_i64)));
        assert_eq!(in_words(&filter), "(((ts >= TIMESTAMP '2026-01-01 00:00:00') AND (\"name\" = 'it''s')) AND (n = 1))");
        assert_eq!(in_words(&col("d").lt(lit(ScalarValue::Date32(Some(0))))), "(d < DATE '1970-01-01')");
    }
}
