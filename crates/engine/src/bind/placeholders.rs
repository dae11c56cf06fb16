// SPDX-License-Identifier: Apache-2.0
//! The parameters of a statement as they are written: how many there are, and which of them are intervals.

use datafusion::sql::sqlparser::ast::{CastKind, DataType, Expr, Statement, Value, ValueWithSpan, Visit, VisitMut, Visitor, VisitorMut};
use std::ops::ControlFlow;
use weir_base::limits::PARAMETERS_MAX;
use weir_base::{Error, ErrorCode, Result};

/// The highest number that a parameter has. Error: 42601 for one that has none, or too high a one.
pub(super) fn count(statement: &Statement) -> Result<usize> {
    let mut counter = Counter::default();
    match statement.visit(&mut counter) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(counter.highest),
    }
}

/// Error: 08P01 where there are not as many values as parameters.
pub(crate) fn check_count(parameters: usize, values: usize) -> Result<()> {
    if parameters == values {
        return Ok(());
    }
    let message = if values < parameters { "a parameter has no value" } else { "more values than parameters" };
    let hint = match parameters {
        0 => "the statement has no parameters: give no values".to_owned(),
        1 => "give one value, for $1".to_owned(),
        _ => format!("give a value for each, $1 to ${parameters}"),
    };
    Err(Error::new(ErrorCode::Protocol, message).with_detail(format!("the statement has {parameters}, {values} were given")).with_hint(hint))
}

/// Says of parameters that they are intervals, so that operators beside them are planned for those.
pub(super) fn type_intervals(statement: &mut Statement, interval: impl Fn(usize) -> bool) {
    let _ = statement.visit(&mut Typist { interval });
}

/// The number of `$7`.
pub(super) fn number(expr: &Expr) -> Option<usize> {
    let Expr::Value(value) = expr else { return None };
    match &value.value {
        Value::Placeholder(name) => number_of(name),
        _ => None,
    }
}

fn number_of(name: &str) -> Option<usize> {
    name.strip_prefix('$')?.parse().ok().filter(|number| (1..=PARAMETERS_MAX).contains(number))
}

#[derive(Default)]
struct Counter {
    highest: usize,
}

impl Visitor for Counter {
    type Break = Error;

    fn pre_visit_value(&mut self, value: &ValueWithSpan) -> ControlFlow<Error> {
        let Value::Placeholder(name) = &value.value else { return ControlFlow::Continue(()) };
        match number_of(name) {
            Some(number) => {
                self.highest = self.highest.max(number);
                ControlFlow::Continue(())
            }
            None => ControlFlow::Break(Error::new(ErrorCode::Syntax, format!("bad parameter {name}")).with_hint("write $1, $2 and so on")),
        }
    }
}

struct Typist<F> {
    interval: F,
}

impl<F: Fn(usize) -> bool> VisitorMut for Typist<F> {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if number(expr).is_some_and(&self.interval) {
            *expr = Expr::Cast {
                kind: CastKind::DoubleColon,
                expr: Box::new(expr.clone()),
                data_type: DataType::Interval { fields: None, precision: None },
                array: false,
                format: None,
            };
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::parse;

    #[test]
    fn parameters_are_counted_wherever_they_stand() {
        let counted = |sql| count(&parse(sql).unwrap());
        assert_eq!(counted("SELECT 1").unwrap(), 0);
        assert_eq!(counted("SELECT $1, $1 FROM t WHERE x IN (SELECT y FROM u WHERE z = $3) LIMIT $2").unwrap(), 3);
        assert_eq!(counted("SELECT $x").unwrap_err().code(), ErrorCode::Syntax);
        assert!(check_count(2, 2).is_ok());
        assert_eq!(check_count(1, 2).unwrap_err().message(), "more values than parameters");
        assert_eq!(check_count(2, 1).unwrap_err().hint(), Some("give a value for each, $1 to $2"));
    }

    #[test]
    fn an_interval_is_said_to_be_one() {
        let mut statement = parse("SELECT now() - $1, $2").unwrap();
        type_intervals(&mut statement, |number| number == 1);
        assert_eq!(statement.to_string(), "SELECT now() - $1::INTERVAL, $2");
    }
}
