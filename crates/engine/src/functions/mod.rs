// SPDX-License-Identifier: Apache-2.0
//! Functions and operators as PostgreSQL has them, where the query engine has none or others.

mod bytes;
mod counts;
mod fields;
mod meaning;
mod now;
mod numbers;
mod planner;
mod scalar;
mod series;
mod shown;
mod spans;
mod template;
mod texts;
mod typed;

pub(crate) use counts::ROW_NUMBER;
pub(crate) use numbers::{QUOTIENT_SCALE, rounded_quotient};
pub(crate) use typed::{TYPED, typed};

use crate::errors::from_datafusion;
use datafusion::common::Result as PlanResult;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::execution::{FunctionRegistry, SessionState};
use datafusion::logical_expr::planner::ExprPlanner;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, ScalarUDF};
use datafusion::optimizer::AnalyzerRule;
use std::sync::Arc;
use weir_base::Result;

/// Adds the functions, the planner of operators and the rules. Comes after all that registers functions of the same names.
pub(crate) fn register(state: &mut SessionState) -> Result<()> {
    let mut planners: Vec<Arc<dyn ExprPlanner>> = vec![Arc::new(planner::Operators)];
    planners.extend(state.expr_planners().iter().cloned());
    // Before types are decided.
    let mut rules: Vec<Arc<dyn AnalyzerRule + Send + Sync>> = vec![Arc::new(crate::meeting::MeetAsInPostgres)];
    rules.extend(state.analyzer().rules.iter().cloned());
    let rewrites = state.analyzer().function_rewrites().to_vec();
    *state = SessionStateBuilder::new_from_existing(state.clone()).with_expr_planners(planners).with_analyzer_rules(rules).build();
    for rewrite in rewrites {
        state.register_function_rewrite(rewrite).map_err(from_datafusion)?;
    }
    state.register_function_rewrite(Arc::new(meaning::PostgresMeaning)).map_err(from_datafusion)?;
    state.register_function_rewrite(Arc::new(bytes::BytesAndTexts)).map_err(from_datafusion)?;
    let scalars = spans::all().into_iter().chain(numbers::all()).chain(bytes::lengths()).chain([template::format_function(), typed::function()]);
    for function in
        scalars.map(scalar::Scalar::udf).chain([Arc::new(ScalarUDF::from(fields::DatePart::new(false))), Arc::new(ScalarUDF::from(now::Now::new()))])
    {
        state.register_udf(function).map_err(from_datafusion)?;
    }
    counts::register(state).map_err(from_datafusion)?;
    if let Some(numbers) = state.table_functions().get("generate_series").cloned() {
        state.register_udtf("generate_series", Arc::new(series::Series { numbers }));
    }
    Ok(())
}

/// How long an interval is: what intervals compare by.
pub(crate) fn interval_length(interval: Expr) -> Expr {
    spans::length().call(vec![interval])
}

/// The expression as it was written, for EXPLAIN: with operators in place of the functions.
pub(crate) fn plain(expr: Expr) -> PlanResult<Expr> {
    expr.transform_up(|node| Ok(written(&node).map_or_else(|| Transformed::no(node), Transformed::yes))).data()
}

fn written(node: &Expr) -> Option<Expr> {
    let Expr::ScalarFunction(function) = node else { return None };
    let arguments = function.args.as_slice();
    let operator = |operator: Operator| {
        let [left, right] = arguments else { return None };
        Some(Expr::BinaryExpr(BinaryExpr::new(Box::new(left.clone()), operator, Box::new(right.clone()))))
    };
    match function.func.name() {
        numbers::QUOTIENT | "interval_over" => operator(Operator::Divide),
        "time_plus" => operator(Operator::Plus),
        "time_minus" => operator(Operator::Minus),
        "interval_times" => operator(Operator::Multiply),
        name if crate::text_kinds::operator(name).is_some() => crate::text_kinds::operator(name).and_then(operator),
        "interval_length" | "as_text" | "as_letter" | "not_negative" | "positive" | "a_sine" | "finite" | "round_to_even" => arguments.first().cloned(),
        _ => None,
    }
}
