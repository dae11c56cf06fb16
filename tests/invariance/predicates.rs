// SPDX-License-Identifier: Apache-2.0
//! Random filters over the columns of a table, as SQL text. The same seed gives the same filters.

use super::chance::Chance;

/// A column, and literals worth comparing it with.
pub struct Tricky {
    pub column: &'static str,
    pub literals: &'static [&'static str],
    /// Whether `LIKE` is asked of it.
    pub text: bool,
}

pub const fn values(column: &'static str, literals: &'static [&'static str]) -> Tricky {
    Tricky { column, literals, text: false }
}

pub const fn text(column: &'static str, literals: &'static [&'static str]) -> Tricky {
    Tricky { column, literals, text: true }
}

/// A condition, at most `depth` deep.
pub fn predicate(chance: &mut Chance, columns: &[Tricky], depth: usize) -> String {
    match chance.below(if depth == 0 { 6 } else { 10 }) {
        6 => format!("({} AND {})", predicate(chance, columns, depth - 1), predicate(chance, columns, depth - 1)),
        7 | 8 => format!("({} OR {})", predicate(chance, columns, depth - 1), predicate(chance, columns, depth - 1)),
        9 => format!("NOT ({})", predicate(chance, columns, depth - 1)),
        _ => {
            let column = &columns[chance.below(columns.len())];
            simple(chance, column)
        }
    }
}

fn simple(chance: &mut Chance, of: &Tricky) -> String {
    let Tricky { column, literals, text } = of;
    match chance.below(10) {
        0 => format!("{column} IS NULL"),
        1 => format!("{column} IS NOT NULL"),
        2 => format!("{column} IN ({}, {})", chance.pick(literals), chance.pick(literals)),
        3 => format!("{column} NOT IN ({}, {})", chance.pick(literals), chance.pick(literals)),
        4 => format!("{column} BETWEEN {} AND {}", chance.pick(literals), chance.pick(literals)),
        5 if *text => format!("{column} LIKE {}", chance.pick(&["'a%'", "'%a'", "'_'", "'A%'", "'%é%'", "''", "'%'"])),
        6 => format!("{} {} {column}", chance.pick(literals), chance.pick(&["=", "<>", "<", ">="])),
        _ => format!("{column} {} {}", chance.pick(&["=", "<>", "<", "<=", ">", ">="]), chance.pick(literals)),
    }
}
