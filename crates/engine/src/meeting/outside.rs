// SPDX-License-Identifier: Apache-2.0
//! Subqueries keep the types that columns of the query around them had when they were written down. Where parts of a UNION have met in
//! another type since, they are told; where the planner has made another layout of a text since, they ask for the one they know.

use crate::walk::seen_by;
use arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::{Exists, InSubquery, SetComparison};
use datafusion::logical_expr::{Expr, LogicalPlan, Subquery, cast};
use datafusion::optimizer::AnalyzerRule;
use std::sync::Arc;

/// What becomes of a column from outside.
type Change = fn(Expr, &DFSchema) -> Transformed<Expr>;

/// The plan in which what a subquery takes from outside has the type that it has there.
pub(super) fn told(plan: LogicalPlan) -> Result<LogicalPlan> {
    changed(plan, renewed)
}

/// The plan in which what a subquery takes from outside is cast to the type by which it was compared there: types are decided.
fn cast_back(plan: LogicalPlan) -> Result<LogicalPlan> {
    changed(plan, as_known)
}

/// Goes after types are decided.
#[derive(Debug)]
pub(crate) struct OutsideAsKnown;

impl AnalyzerRule for OutsideAsKnown {
    fn name(&self) -> &str {
        "outside_as_known"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        cast_back(plan)
    }
}

fn changed(plan: LogicalPlan, change: Change) -> Result<LogicalPlan> {
    let node = |node: LogicalPlan| {
        let schema = seen_by(&node)?;
        node.map_expressions(|expr| expr.transform_up(|inner| asked(inner, &schema, change)))
    };
    plan.transform_up_with_subqueries(node).data()
}

fn asked(expr: Expr, schema: &DFSchema, change: Change) -> Result<Transformed<Expr>> {
    Ok(match expr {
        Expr::Exists(Exists { subquery, negated }) => within(subquery, schema, change)?.update_data(|subquery| Expr::Exists(Exists { subquery, negated })),
        Expr::InSubquery(InSubquery { expr, subquery, negated }) => {
            within(subquery, schema, change)?.update_data(|subquery| Expr::InSubquery(InSubquery { expr, subquery, negated }))
        }
        Expr::ScalarSubquery(subquery) => within(subquery, schema, change)?.update_data(Expr::ScalarSubquery),
        Expr::SetComparison(SetComparison { expr, subquery, op, quantifier }) => {
            within(subquery, schema, change)?.update_data(|subquery| Expr::SetComparison(SetComparison { expr, subquery, op, quantifier }))
        }
        other => Transformed::no(other),
    })
}

fn within(subquery: Subquery, schema: &DFSchema, change: Change) -> Result<Transformed<Subquery>> {
    let mut changed = false;
    let node = |node: LogicalPlan| {
        let known = if changed { node.recompute_schema()? } else { node };
        let told = known.map_expressions(|expr| expr.transform_up(|inner| Ok(change(inner, schema))))?;
        changed |= told.transformed;
        Ok(told)
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

fn as_known(expr: Expr, schema: &DFSchema) -> Transformed<Expr> {
    let known = match &expr {
        Expr::OuterReferenceColumn(field, _) => field.data_type().clone(),
        _ => return Transformed::no(expr),
    };
    renewed(expr, schema).update_data(|expr| if is_of(&expr, &known) { expr } else { cast(expr, known) })
}

fn is_of(expr: &Expr, known: &DataType) -> bool {
    matches!(expr, Expr::OuterReferenceColumn(field, _) if field.data_type() == known)
}
