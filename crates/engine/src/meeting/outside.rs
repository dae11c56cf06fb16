// SPDX-License-Identifier: Apache-2.0
//! Subqueries keep the types that columns of the query around them had when they were written down. Where parts of a UNION have met in
//! another type since, they are told.

use crate::walk::seen_by;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{Exists, InSubquery, SetComparison};
use datafusion::logical_expr::{Expr, LogicalPlan, Subquery};
use std::sync::Arc;

/// The plan in which what a subquery takes from outside has the type that it has there.
pub(super) fn told(plan: LogicalPlan) -> Result<LogicalPlan> {
    let node = |node: LogicalPlan| {
        let schema = seen_by(&node)?;
        node.map_expressions(|expr| expr.transform_up(|inner| asked(inner, &schema)))
    };
    plan.transform_up_with_subqueries(node).data()
}

fn asked(expr: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    Ok(match expr {
        Expr::Exists(Exists { subquery, negated }) => within(subquery, schema)?.update_data(|subquery| Expr::Exists(Exists { subquery, negated })),
        Expr::InSubquery(InSubquery { expr, subquery, negated }) => {
            within(subquery, schema)?.update_data(|subquery| Expr::InSubquery(InSubquery { expr, subquery, negated }))
        }
        Expr::ScalarSubquery(subquery) => within(subquery, schema)?.update_data(Expr::ScalarSubquery),
        Expr::SetComparison(SetComparison { expr, subquery, op, quantifier }) => {
            within(subquery, schema)?.update_data(|subquery| Expr::SetComparison(SetComparison { expr, subquery, op, quantifier }))
        }
        other => Transformed::no(other),
    })
}

fn within(subquery: Subquery, schema: &DFSchema) -> Result<Transformed<Subquery>> {
    let mut changed = false;
    let node = |node: LogicalPlan| {
        let known = if changed { node.recompute_schema()? } else { node };
        let renewed = known.map_expressions(|expr| expr.transform_up(|inner| Ok(renewed(inner, schema))))?;
        changed |= renewed.transformed;
        Ok(renewed)
    };
    let plan = Arc::unwrap_or_clone(subquery.subquery).transform_up_with_subqueries(node)?;
    let outer_ref_columns = subquery.outer_ref_columns.into_iter().map(|column| renewed(column, schema).data).collect();
    Ok(Transformed::new_transformed(Subquery { subquery: Arc::new(plan.data), outer_ref_columns, spans: subquery.spans }, plan.transformed))
}

fn renewed(expr: Expr, schema: &DFSchema) -> Transformed<Expr> {
    match expr {
        Expr::OuterReferenceColumn(field, column) => match schema.qualified_field_from_column(&column) {
            Ok((_, known)) if known.data_type() != field.data_type() => Transformed::yes(Expr::OuterReferenceColumn(known.clone(), column)),
            _ => Transformed::no(Expr::OuterReferenceColumn(field, column)),
        },
        other => Transformed::no(other),
    }
}
