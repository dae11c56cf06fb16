// SPDX-License-Identifier: Apache-2.0
//! What is selected of the first rows of an order is computed of these rows alone, here as at a source: it may fail for others.

use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::logical_plan::{Projection, Sort};
use datafusion::logical_expr::{Expr, LogicalPlan, SortExpr};
use std::sync::Arc;

/// The plan with what is computed above the first rows of an order, where that order is one of columns.
pub(crate) fn computed_last(plan: LogicalPlan) -> Result<LogicalPlan> {
    let above = |node: LogicalPlan| {
        let LogicalPlan::Sort(sort) = &node else { return Ok(Transformed::no(node)) };
        match swapped(sort)? {
            Some(swapped) => Ok(Transformed::yes(swapped)),
            None => Ok(Transformed::no(node)),
        }
    };
    plan.transform_up_with_subqueries(above).data()
}

fn swapped(sort: &Sort) -> Result<Option<LogicalPlan>> {
    let LogicalPlan::Projection(projection) = sort.input.as_ref() else { return Ok(None) };
    let computes = projection.expr.iter().any(|expr| !is_column(expr));
    if sort.fetch.is_none() || !computes || projection.expr.iter().any(Expr::is_volatile) {
        return Ok(None);
    }
    let keys = sort.expr.iter().map(|key| below(key, projection)).collect::<Option<Vec<_>>>();
    let Some(expr) = keys else { return Ok(None) };
    let sorted = LogicalPlan::Sort(Sort { expr, input: projection.input.clone(), fetch: sort.fetch });
    let projection = Projection::try_new_with_schema(projection.expr.clone(), Arc::new(sorted), projection.schema.clone())?;
    Ok(Some(LogicalPlan::Projection(projection)))
}

fn is_column(expr: &Expr) -> bool {
    matches!(expr.clone().unalias_nested().data, Expr::Column(_))
}

/// The key over the projection's input. `None` for one that is computed.
fn below(key: &SortExpr, projection: &Projection) -> Option<SortExpr> {
    let Expr::Column(column) = &key.expr else { return None };
    let schema: &DFSchema = &projection.schema;
    let output = projection.expr.get(schema.index_of_column(column).ok()?)?;
    match output.clone().unalias_nested().data {
        plain @ Expr::Column(_) => Some(SortExpr { expr: plain, ..key.clone() }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::prelude::SessionContext;

    async fn optimized(sql: &str) -> String {
        let context = SessionContext::new();
        context.sql("CREATE TABLE t (a int, b int, c int) AS VALUES (1, 2, 3)").await.unwrap();
        let plan = context.sql(sql).await.unwrap().into_optimized_plan().unwrap();
        computed_last(plan).unwrap().display_indent().to_string()
    }

    #[tokio::test]
    async fn what_is_computed_stands_above_the_first_rows() {
        let plan = optimized("SELECT a / b AS q, c FROM t ORDER BY c DESC LIMIT 3").await;
        assert!(plan.starts_with("Projection: t.a / t.b AS q, t.c\n  Sort: t.c DESC"), "{plan}");
    }

    #[tokio::test]
    async fn a_computed_key_and_a_whole_order_stay() {
        for sql in ["SELECT a / b AS q FROM t ORDER BY q LIMIT 3", "SELECT a / b AS q, c FROM t ORDER BY c"] {
            assert!(optimized(sql).await.starts_with("Sort"), "{sql}");
        }
    }
}
