// SPDX-License-Identifier: Apache-2.0
//! `make_interval(days => 3)`: its arguments have names, and each has a default.

use crate::call::call;
use datafusion::sql::sqlparser::ast::{Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Value};
use weir_base::{Error, ErrorCode, Result};

const PARAMETERS: [&str; 7] = ["years", "months", "weeks", "days", "hours", "mins", "secs"];

/// The call with all arguments in order. Error: 42883 for arguments that it does not have.
pub(super) fn ordered(function: &Function) -> Result<Expr> {
    let mut arguments = vec![Expr::value(Value::Number("0".into(), false)); PARAMETERS.len()];
    let given = match &function.args {
        FunctionArguments::List(list) => list.args.as_slice(),
        _ => &[],
    };
    for (index, argument) in given.iter().enumerate() {
        let (at, value) = match argument {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(value)) => (Some(index), value),
            FunctionArg::Named { name, arg: FunctionArgExpr::Expr(value), .. } => (position(&name.value), value),
            FunctionArg::ExprNamed { name: Expr::Identifier(name), arg: FunctionArgExpr::Expr(value), .. } => (position(&name.value), value),
            _ => return Err(unknown()),
        };
        *at.and_then(|at| arguments.get_mut(at)).ok_or_else(unknown)? = value.clone();
    }
    Ok(call("make_interval", arguments))
}

fn position(name: &str) -> Option<usize> {
    PARAMETERS.iter().position(|known| known.eq_ignore_ascii_case(name))
}

fn unknown() -> Error {
    Error::new(ErrorCode::UnknownFunction, "make_interval does not have such an argument").with_hint(format!("its arguments are {}", PARAMETERS.join(", ")))
}
