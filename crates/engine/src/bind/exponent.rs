// SPDX-License-Identifier: Apache-2.0
//! Numbers written with an exponent: an exact decimal where one has digits enough, else a double.

use super::dialect::WeirDialect;
use datafusion::sql::sqlparser::ast::{Expr, Value};
use datafusion::sql::sqlparser::parser::Parser;

/// Digits that a decimal holds.
const DIGITS_MAX: usize = 38;

/// `1.5e3` becomes `1500`, and `1e300` a cast to double; everything else stays.
pub(super) fn write_out(expr: &mut Expr) {
    let Expr::Value(number) = expr else { return };
    let Value::Number(text, _) = &mut number.value else { return };
    if !text.contains(['e', 'E']) {
        return;
    }
    match digits(text) {
        Some(plain) => *text = plain,
        None => {
            // What no double holds is an error there, where it would be an infinity here.
            let target = if text.parse().is_ok_and(f64::is_finite) { "DOUBLE PRECISION" } else { "DECIMAL(38, 0)" };
            let cast = format!("CAST('{text}' AS {target})");
            if let Ok(double) = Parser::new(&WeirDialect).try_with_sql(&cast).and_then(|mut parser| parser.parse_expr()) {
                *expr = double;
            }
        }
    }
}

/// The number without its exponent, if that has no more digits than a decimal.
fn digits(text: &str) -> Option<String> {
    let (mantissa, exponent) = text.split_once(['e', 'E'])?;
    let exponent: i32 = exponent.parse().ok()?;
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let point = i32::try_from(whole.len()).ok()?.checked_add(exponent)?;
    if point.unsigned_abs() as usize > DIGITS_MAX || all.len() > DIGITS_MAX {
        return None;
    }
    let plain = match usize::try_from(point) {
        Ok(point) if point >= all.len() => format!("{all}{}", "0".repeat(point - all.len())),
        Ok(point) if point > 0 => format!("{}.{}", &all[..point], &all[point..]),
        _ => format!("0.{}{all}", "0".repeat(point.unsigned_abs() as usize)),
    };
    (plain.len() <= DIGITS_MAX).then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_written_out() {
        let cases = [("1e3", "1000"), ("1.5e1", "15"), ("1.25e1", "12.5"), ("1.5e-3", "0.0015"), ("12E0", "12"), ("1e-1", "0.1")];
        for (text, plain) in cases {
            assert_eq!(digits(text).as_deref(), Some(plain), "{text}");
        }
        assert_eq!(digits("1e300"), None);
        assert_eq!(digits("1e-300"), None);
    }
}
