// SPDX-License-Identifier: Apache-2.0
//! When rows that two systems print are the same: numbers without the zeros at their end and without the sign of zero, quotients to as
//! many digits as both show.

/// Rows as they are compared; in any order, unless one was asked for.
fn comparable(rows: &[Vec<String>], ordered: bool) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<String>> = rows.iter().map(|row| row.iter().map(|value| plain(value)).collect()).collect();
    if !ordered {
        rows.sort();
    }
    rows
}

/// Whether both are the same rows, of which PostgreSQL may show some with more or fewer digits.
pub fn same_rows(left: &[Vec<String>], right: &[Vec<String>], ordered: bool) -> bool {
    let (left, right) = (comparable(left, ordered), comparable(right, ordered));
    left.len() == right.len() && left.iter().zip(&right).all(|(left, right)| same_row(left, right))
}

fn same_row(left: &[String], right: &[String]) -> bool {
    left.len() == right.len() && left.iter().zip(right).all(|(left, right)| left == right || same_number(left, right))
}

/// The digits of a number with a point, and whether it is negative.
fn digits(value: &str) -> Option<(bool, &str, &str)> {
    let all = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (whole, fraction) = value.split_once('.')?;
    let positive = whole.trim_start_matches('-');
    (all(positive) && all(fraction)).then_some((positive.len() < whole.len(), positive, fraction))
}

fn plain(value: &str) -> String {
    if value == "-0" {
        return "0".to_owned();
    }
    match digits(value).map(|_| value.trim_end_matches('0').trim_end_matches('.')) {
        Some("-0") => "0".to_owned(),
        Some(shorter) => shorter.to_owned(),
        None => value.to_owned(),
    }
}

/// Quotients and averages go on for ever. PostgreSQL shows some 16 digits of them, Weir 16 places or a double: they must be the same number
/// to as many places as both show, at least eight and at most twelve.
fn same_number(left: &str, right: &str) -> bool {
    let (Some((_, _, left_fraction)), Some((_, _, right_fraction))) = (digits(left), digits(right)) else { return false };
    let places = left_fraction.len().min(right_fraction.len()).min(12);
    places >= 8 && rounded(left, places).is_some_and(|number| Some(number) == rounded(right, places))
}

/// A number in units of the last of so many places, halves away from zero.
fn rounded(value: &str, places: usize) -> Option<i128> {
    let (negative, whole, fraction) = digits(value)?;
    let cut: String = fraction.chars().chain(std::iter::repeat('0')).take(places + 1).collect();
    let units: i128 = format!("{whole}{cut}").parse().ok()?;
    let magnitude = (units + 5) / 10;
    Some(if negative { -magnitude } else { magnitude })
}

/// Whether an `ORDER BY` stands outside of all parentheses.
pub fn ordered(sql: &str) -> bool {
    let mut depth = 0_i32;
    let outside: String = sql
        .chars()
        .filter(|letter| {
            depth += i32::from(*letter == '(') - i32::from(*letter == ')');
            depth == 0
        })
        .collect();
    outside.to_uppercase().contains("ORDER BY")
}
