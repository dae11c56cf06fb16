// SPDX-License-Identifier: Apache-2.0
//! Values: columns, constants, and what is computed from them.

use super::{Maker, Scope};
use crate::invariance::kinds::{Class, constants, literal};
use crate::invariance::tree::{Sort, Tree, node, text};

impl Maker<'_> {
    /// A value of the class, at most `depth` deep.
    pub(super) fn value(&mut self, scope: &Scope, class: Class, depth: usize) -> Tree {
        let parts = if depth == 0 || self.chance.percent(60) { vec![self.simple(scope, class)] } else { self.computed(scope, class, depth - 1) };
        node(Sort::Value(class), parts)
    }

    fn simple(&mut self, scope: &Scope, class: Class) -> Tree {
        let columns = scope.of_class(class);
        if columns.is_empty() || self.chance.percent(6) { self.constant(class) } else { text(self.chance.pick(&columns).sql.clone()) }
    }

    pub(super) fn constant(&mut self, class: Class) -> Tree {
        let value = *self.chance.pick(constants(class));
        text(match class {
            // Beside nothing that says so, these would be of no type.
            Class::Uuid => format!("CAST('{value}' AS uuid)"),
            Class::Text => format!("CAST({} AS text)", literal(class, value)),
            // What overflows without a row is an error at once in PostgreSQL, and here with the first row.
            Class::Big if value.len() > 4 => "5".to_owned(),
            _ => literal(class, value),
        })
    }

    fn computed(&mut self, scope: &Scope, class: Class, depth: usize) -> Vec<Tree> {
        match self.chance.below(4) {
            0 => self.case(scope, class, depth),
            1 if !matches!(class, Class::Enum) => {
                let (a, b) = (self.value(scope, class, depth), self.value(scope, class, depth));
                let word = *self.chance.pick(&["coalesce", "coalesce", "nullif"]);
                vec![text(format!("{word}(")), a, text(", "), b, text(")")]
            }
            _ => self.of_class(scope, class, depth),
        }
    }

    fn case(&mut self, scope: &Scope, class: Class, depth: usize) -> Vec<Tree> {
        let inner = Scope { depth: 0, ..scope.clone() };
        let when = self.condition(&inner, depth.min(1));
        let (then, otherwise) = (self.value(scope, class, depth), self.value(scope, class, depth));
        match self.chance.percent(70) {
            true => vec![text("CASE WHEN "), when, text(" THEN "), then, text(" ELSE "), otherwise, text(" END")],
            false => vec![text("CASE WHEN "), when, text(" THEN "), then, text(" END")],
        }
    }

    fn of_class(&mut self, scope: &Scope, class: Class, depth: usize) -> Vec<Tree> {
        match class {
            Class::Int => self.whole(scope, depth),
            Class::Big => self.big(scope, depth),
            Class::Dec => self.decimal(scope, depth),
            Class::Wide => self.binary(scope, (Class::Wide, Class::Dec), &["+", "-"], depth),
            Class::Float => self.binary(scope, (Class::Float, Class::Float), &["+", "-"], depth),
            Class::Text => self.text(scope, depth),
            Class::Bool => {
                let inner = Scope { depth: 0, ..scope.clone() };
                vec![text("("), self.condition(&inner, depth.min(1)), text(")")]
            }
            Class::Date => match self.chance.below(3) {
                0 => vec![text("CAST("), self.value(scope, Class::Ts, depth), text(" AS date)")],
                1 => vec![text("greatest("), self.value(scope, Class::Date, depth), text(", "), self.value(scope, Class::Date, depth), text(")")],
                _ => vec![
                    text("CASE WHEN "),
                    self.value(scope, Class::Date, 0),
                    text(" < DATE '2100-01-01' THEN "),
                    self.value(scope, Class::Date, 0),
                    text(" END"),
                ],
            },
            Class::Ts => match self.chance.below(2) {
                0 => {
                    let unit = *self.chance.pick(&["day", "month", "hour", "year", "week", "quarter", "minute"]);
                    vec![text(format!("date_trunc('{unit}', ")), self.value(scope, Class::Ts, depth), text(")")]
                }
                _ => vec![text("CAST("), self.value(scope, Class::Date, depth), text(" AS timestamp)")],
            },
            _ => vec![self.simple(scope, class)],
        }
    }

    fn binary(&mut self, scope: &Scope, classes: (Class, Class), words: &[&'static str], depth: usize) -> Vec<Tree> {
        let word = *self.chance.pick(words);
        let (left, right) = (self.value(scope, classes.0, depth), self.value(scope, classes.1, depth));
        vec![text("("), left, text(format!(" {word} ")), right, text(")")]
    }

    fn whole(&mut self, scope: &Scope, depth: usize) -> Vec<Tree> {
        match self.chance.below(7) {
            0 => vec![text("length("), self.value(scope, Class::Text, depth), text(")")],
            1 => {
                let field = *self.chance.pick(&["year", "month", "day", "quarter", "dow", "doy"]);
                let class = *self.chance.pick(&[Class::Date, Class::Ts]);
                vec![text(format!("CAST(extract({field} FROM ")), self.value(scope, class, depth), text(") AS int)")]
            }
            2 => vec![text("abs("), self.value(scope, Class::Int, depth), text(")")],
            3 => {
                let word = *self.chance.pick(&["/", "%"]);
                let (left, right) = (self.value(scope, Class::Int, depth), self.value(scope, Class::Int, depth));
                vec![text("("), left, text(format!(" {word} nullif(")), right, text(", 0))")]
            }
            _ => self.binary(scope, (Class::Int, Class::Int), &["+", "-", "*"], depth),
        }
    }

    fn big(&mut self, scope: &Scope, depth: usize) -> Vec<Tree> {
        match self.chance.below(3) {
            0 => vec![text("CAST("), self.value(scope, Class::Int, depth), text(" AS bigint)")],
            1 => self.binary(scope, (Class::Big, Class::Int), &["%"], depth).into_iter().map(guarded).collect(),
            _ => self.binary(scope, (Class::Big, Class::Int), &["+", "-"], depth),
        }
    }

    fn decimal(&mut self, scope: &Scope, depth: usize) -> Vec<Tree> {
        match self.chance.below(6) {
            0 => {
                let places = self.chance.below(3);
                vec![text("round("), self.value(scope, Class::Dec, depth), text(format!(", {places})"))]
            }
            1 => vec![text("CAST("), self.value(scope, Class::Int, depth), text(" AS numeric(12, 2))")],
            2 => self.binary(scope, (Class::Dec, Class::Int), &["+", "-"], depth),
            3 => self.binary(scope, (Class::Dec, Class::Dec), &["*"], 0),
            4 => vec![text("abs("), self.value(scope, Class::Dec, depth), text(")")],
            _ => self.binary(scope, (Class::Dec, Class::Dec), &["+", "-"], depth),
        }
    }

    fn text(&mut self, scope: &Scope, depth: usize) -> Vec<Tree> {
        match self.chance.below(8) {
            0 | 1 => self.binary(scope, (Class::Text, Class::Text), &["||"], depth),
            2 => {
                let (from, count) = (1 + self.chance.below(3), self.chance.below(3));
                vec![text("substring("), self.value(scope, Class::Text, depth), text(format!(" FROM {from} FOR {count})"))]
            }
            3 => {
                let word = *self.chance.pick(&["trim", "rtrim", "ltrim"]);
                vec![text(format!("{word}(")), self.value(scope, Class::Text, depth), text(")")]
            }
            4 => {
                let word = *self.chance.pick(&["left", "right"]);
                let count = self.chance.below(4);
                vec![text(format!("{word}(")), self.value(scope, Class::Text, depth), text(format!(", {count})"))]
            }
            5 => {
                let class = *self.chance.pick(&[Class::Int, Class::Date, Class::Big, Class::Bool, Class::Uuid, Class::Enum, Class::Enum]);
                let class = if scope.of_class(class).is_empty() { Class::Int } else { class };
                vec![text("CAST("), self.value(scope, class, 0), text(" AS text)")]
            }
            6 => vec![text("replace("), self.value(scope, Class::Text, depth), text(", 'a', 'bc')")],
            _ => self.binary(scope, (Class::Text, Class::Text), &["||"], 0),
        }
    }
}

/// A remainder without division by zero: the right side stands last but one.
fn guarded(part: Tree) -> Tree {
    match part {
        Tree::Node(sort @ Sort::Value(Class::Int), parts) => {
            let all = std::iter::once(text("nullif(")).chain(parts).chain([text(", 0)")]);
            node(sort, all.collect())
        }
        other => other,
    }
}
