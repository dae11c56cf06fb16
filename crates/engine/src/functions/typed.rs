// SPDX-License-Identifier: Apache-2.0
//! A value with the name of its type: a mark that keeps two names apart while they are bound, and is taken away before anything runs.

use super::scalar::Scalar;
use datafusion::logical_expr::Expr;

pub(crate) const TYPED: &str = "__weir_typed";

pub(super) fn function() -> Scalar {
    Scalar::any(TYPED, 2, |types, _| Ok(types[0].clone()), |arrays, _| Ok(arrays[0].clone()))
}

/// The value that is marked.
pub(crate) fn typed(expr: &Expr) -> Option<Expr> {
    match expr {
        Expr::ScalarFunction(function) if function.func.name() == TYPED => function.args.first().cloned(),
        _ => None,
    }
}
