// SPDX-License-Identifier: Apache-2.0
//! `x AT TIME ZONE z` as the function that PostgreSQL has for it: the query engine's own would only change how an instant is shown.

use crate::moments::TIMEZONE;
use datafusion::sql::sqlparser::ast::{Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, Ident, ObjectName, Value};

/// `x AT TIME ZONE z` becomes `timezone(z, x)`.
pub(super) fn write_out(expr: &mut Expr) {
    let Expr::AtTimeZone { timestamp, time_zone } = std::mem::replace(expr, Expr::value(Value::Null)) else { return };
    let argument = |of: Expr| FunctionArg::Unnamed(FunctionArgExpr::Expr(of));
    *expr = Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(TIMEZONE)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment: None,
            args: vec![argument(*time_zone), argument(*timestamp)],
            clauses: Vec::new(),
        }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    });
}
