// SPDX-License-Identifier: Apache-2.0
//! When two answers are the same.

use super::ground::Told;
use crate::kit::same_rows;

/// Answers of Weir with and without push-down: the same types, rows and errors. Rows in another order are the same where no order was asked for.
pub fn same(left: &Told, right: &Told, ordered: bool) -> bool {
    match (left, right) {
        (Told::Error { code: a, .. }, Told::Error { code: b, .. }) => a[..2] == b[..2],
        (Told::Rows { types: a, rows: left }, Told::Rows { types: b, rows: right }) => a == b && in_order(left, ordered) == in_order(right, ordered),
        _ => false,
    }
}

/// Whether the rows are the same, in another order.
pub fn only_order(left: &Told, right: &Told) -> bool {
    matches!(left, Told::Rows { .. }) && true_to(left, right, false)
}

fn in_order(rows: &[Vec<String>], ordered: bool) -> Vec<Vec<String>> {
    let mut rows = rows.to_vec();
    if !ordered {
        rows.sort();
    }
    rows
}

/// What Weir says, beside the truth: numbers without the zeros at their end and without the sign of zero; quotients to as many digits as both show.
pub fn true_to(weir: &Told, truth: &Told, ordered: bool) -> bool {
    match (weir, truth) {
        (Told::Error { code: a, .. }, Told::Error { code: b, .. }) => a[..2] == b[..2],
        (Told::Rows { rows: weir, .. }, Told::Rows { rows: truth, .. }) => same_rows(weir, truth, ordered),
        _ => false,
    }
}
