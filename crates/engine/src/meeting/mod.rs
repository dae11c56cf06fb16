// SPDX-License-Identifier: Apache-2.0
//! Which types meet, and in what: one rule, that of PostgreSQL, for set operations, CASE, `coalesce`, arrays and comparisons. The query
//! engine finds a type for many pairs that PostgreSQL refuses (a date beside a number is days since 1970 there).

mod casts;
mod choices;
mod compared;
mod kind;
mod outside;
mod sets;
mod windows;

use crate::errors::carry;
use crate::walk::{expressions, seen_by};
use arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{DFSchema, Result, ScalarValue};
use datafusion::logical_expr::{Expr, ExprSchemable, LogicalPlan};
use datafusion::optimizer::AnalyzerRule;
use kind::{Met, sql_name};
use weir_base::{Error, ErrorCode};

pub(crate) use casts::CastsAsInPostgres;
pub(crate) use outside::OutsideAsKnown;

/// Goes before types are decided, so that nothing is left to decide for the query engine.
#[derive(Debug)]
pub(crate) struct MeetAsInPostgres;

impl AnalyzerRule for MeetAsInPostgres {
    fn name(&self) -> &str {
        "meet_as_in_postgres"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        // Above a node whose types changed each schema has to be told so.
        let (plan, changed) = all_met(plan)?;
        // Subqueries come first: what they take from outside may have met in another type only then.
        if changed { all_met(outside::told(plan)?).map(|(plan, _)| plan) } else { Ok(plan) }
    }
}

/// The plan, and whether anything has got another type.
fn all_met(plan: LogicalPlan) -> Result<(LogicalPlan, bool)> {
    let mut changed = false;
    let met = plan.transform_up_with_subqueries(|node| {
        let told = if changed { node.recompute_schema()? } else { node };
        let met = rewritten(told)?;
        changed |= met.transformed;
        Ok(met)
    });
    Ok((met.data()?, changed))
}

fn rewritten(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    match plan {
        LogicalPlan::Union(union) => sets::united(union),
        LogicalPlan::Join(join) if sets::of_sets(&join) => sets::matched(join),
        plan if !meets_anything(&plan)? => Ok(Transformed::no(plan)),
        plan => {
            let schema = seen_by(&plan)?;
            expressions(plan, |node| met(node, &schema))
        }
    }
}

/// Whether an expression of the node is one in which types meet. Most nodes of wide plans have none.
fn meets_anything(plan: &LogicalPlan) -> Result<bool> {
    let meets = |node: &Expr| {
        use Expr::{Between, BinaryExpr, Case, InList, InSubquery, ScalarFunction, SetComparison, WindowFunction};
        matches!(node, Between(_) | BinaryExpr(_) | Case(_) | InList(_) | InSubquery(_) | ScalarFunction(_) | SetComparison(_) | WindowFunction(_))
    };
    let mut found = false;
    plan.apply_expressions(|expr| {
        found |= expr.exists(|node| Ok(meets(node)))?;
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    })?;
    Ok(found)
}

fn met(node: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    match node {
        Expr::Case(case) => choices::case(case, schema),
        Expr::ScalarFunction(function) => choices::function(function, schema),
        Expr::WindowFunction(window) => windows::framed(window, schema),
        other => {
            compared::check(&other, schema)?;
            Ok(Transformed::no(other))
        }
    }
}

/// What is known of the type of an expression; `None` for a parameter without a value.
fn of(expr: &Expr, schema: &DFSchema) -> Option<Met> {
    match expr {
        Expr::Literal(ScalarValue::Utf8(_) | ScalarValue::LargeUtf8(_) | ScalarValue::Utf8View(_), _) => Some(Met::Unknown),
        Expr::Alias(alias) => of(&alias.expr, schema),
        other => match other.get_type(schema).ok()? {
            DataType::Null => Some(Met::Unknown),
            known => Some(Met::Known(known)),
        },
    }
}

/// 42804 as PostgreSQL says it: `UNION types date and integer cannot be matched`.
fn unmatched(place: &str, one: &DataType, other: &DataType) -> datafusion::common::DataFusionError {
    let message = format!("{place} types {} and {} cannot be matched", sql_name(one), sql_name(other));
    carry(Error::new(ErrorCode::TypeMismatch, message).with_hint("cast one of them, such as x::text"))
}
