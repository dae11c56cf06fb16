// SPDX-License-Identifier: Apache-2.0
//! Functions of texts that the query engine knows with another meaning at their edges.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::{Case, ScalarFunction};
use datafusion::logical_expr::{Expr, lit};

/// What PostgreSQL means; `None` where that is what the query engine does.
pub(super) fn meant(function: &ScalarFunction) -> Option<Expr> {
    let arguments = function.args.as_slice();
    match (function.func.name(), arguments) {
        // An empty text is nowhere in another one; the query engine finds it between all letters.
        ("replace", [text, searched, _]) if literal(searched).is_none_or(str::is_empty) => {
            let nothing = searched.clone().eq(lit(""));
            Some(choice(nothing, text.clone(), function.clone()))
        }
        ("encode", [bytes, kind]) if literal(kind).is_some_and(|kind| kind.eq_ignore_ascii_case("base64")) => {
            let padded = vec![bytes.clone(), lit("base64pad")];
            Some(Expr::ScalarFunction(ScalarFunction::new_udf(function.func.clone(), padded)))
        }
        // The query engine counts none in what is not known.
        ("regexp_count", [text, ..]) => Some(choice(text.clone().is_null(), lit(ScalarValue::Null), function.clone())),
        _ => None,
    }
}

fn choice(condition: Expr, then: Expr, otherwise: ScalarFunction) -> Expr {
    Expr::Case(Case { expr: None, when_then_expr: vec![(Box::new(condition), Box::new(then))], else_expr: Some(Box::new(Expr::ScalarFunction(otherwise))) })
}

fn literal(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Literal(value, _) => value.try_as_str().flatten(),
        _ => None,
    }
}
