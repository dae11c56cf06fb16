// SPDX-License-Identifier: Apache-2.0
//! Conditions: comparisons of every kind, and questions about other rows.

use super::{Column, Maker, Scope};
use crate::invariance::kinds::{Class, constants, literal};
use crate::invariance::tree::{Sort, Tree, list, node, text};

const COMPARISONS: &[&str] = &["=", "<>", "<", "<=", ">", ">="];
const PATTERNS: &[&str] = &[
    "'a%'",
    "'%a'",
    "'_'",
    "'A%'",
    "'%é%'",
    "''",
    "'%'",
    "'__'",
    "'a\\_b'",
    "'50!%' ESCAPE '!'",
    "'a!_b' ESCAPE '!'",
    "'%\\\\%'",
    "'%''%'",
    "'_ '",
    "'%ss%'",
    "'%😀'",
    "'a_%'",
];

impl Maker<'_> {
    /// A condition, at most `depth` deep.
    pub(super) fn condition(&mut self, scope: &Scope, depth: usize) -> Tree {
        let parts = match self.chance.below(if depth == 0 { 6 } else { 11 }) {
            6 | 7 => vec![text("("), self.condition(scope, depth - 1), text(" AND "), self.condition(scope, depth - 1), text(")")],
            8 | 9 => vec![text("("), self.condition(scope, depth - 1), text(" OR "), self.condition(scope, depth - 1), text(")")],
            10 => vec![text("NOT ("), self.condition(scope, depth - 1), text(")")],
            _ if scope.depth > 0 && self.chance.percent(15) => self.asking(scope),
            _ if self.chance.percent(6) => self.lists(scope),
            _ => self.comparison(scope),
        };
        node(Sort::Condition, parts)
    }

    fn comparison(&mut self, scope: &Scope) -> Vec<Tree> {
        let Some(Column { sql, class }) = self.any_column(scope) else { return vec![text("true")] };
        let column = || text(sql.clone());
        let computed = self.chance.percent(20) && class != Class::Enum;
        let left = if computed { self.value(scope, class, 1) } else { node(Sort::Value(class), vec![column()]) };
        match self.chance.below(14) {
            0 => vec![left, text(" IS NULL")],
            1 => vec![left, text(" IS NOT NULL")],
            2 | 3 => self.among(left, class),
            4 => {
                let (low, high) = (self.beside(class), self.beside(class));
                let word = *self.chance.pick(&["BETWEEN", "BETWEEN", "NOT BETWEEN"]);
                vec![left, text(format!(" {word} ")), low, text(" AND "), high]
            }
            5 | 6 if class == Class::Text => {
                let word = *self.chance.pick(&["LIKE", "LIKE", "NOT LIKE"]);
                vec![left, text(format!(" {word} {}", self.chance.pick(PATTERNS)))]
            }
            5 | 6 if class == Class::Bool => vec![left, text(*self.chance.pick(&["", " IS TRUE", " IS NOT TRUE", " IS FALSE", " IS UNKNOWN"]))],
            7 => {
                let word = *self.chance.pick(&[" IS DISTINCT FROM ", " IS NOT DISTINCT FROM "]);
                vec![left, text(word), self.beside(class)]
            }
            8 if class != Class::Enum => {
                let word = *self.chance.pick(COMPARISONS);
                vec![self.beside(class), text(format!(" {word} ")), left]
            }
            9 | 10 => {
                let word = *self.chance.pick(&["=", "<>", "<", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM"]);
                let others = scope.of_class(class);
                let other = self.chance.pick(&others).sql.clone();
                vec![left, text(format!(" {word} ")), node(Sort::Value(class), vec![text(other)])]
            }
            _ => {
                let word = *self.chance.pick(COMPARISONS);
                vec![left, text(format!(" {word} ")), self.beside(class)]
            }
        }
    }

    /// A constant beside a value of the class.
    fn beside(&mut self, class: Class) -> Tree {
        let value = *self.chance.pick(constants(class));
        let mixed = self.chance.percent(8);
        text(match class {
            Class::Int | Class::Big | Class::Dec | Class::Float if mixed => "1.5".to_owned(),
            Class::Date if mixed => format!("'{value}'"),
            Class::Ts if mixed => "DATE '2026-11-30'".to_owned(),
            _ => literal(class, value),
        })
    }

    fn among(&mut self, left: Tree, class: Class) -> Vec<Tree> {
        let count = 1 + self.chance.below(4);
        let mut items: Vec<Tree> = (0..count).map(|_| self.beside(class)).collect();
        if self.chance.percent(12) {
            items.push(text("NULL"));
        }
        let word = *self.chance.pick(&[" IN (", " IN (", " NOT IN ("]);
        vec![left, text(word), list(items, ", "), text(")")]
    }

    /// Lists on one column, beside each other.
    fn lists(&mut self, scope: &Scope) -> Vec<Tree> {
        let Some(Column { sql, class }) = self.any_column(scope) else { return vec![text("true")] };
        let one = |maker: &mut Self| {
            let left = node(Sort::Value(class), vec![text(sql.clone())]);
            node(Sort::Condition, maker.among(left, class))
        };
        let (left, right) = (one(self), one(self));
        let word = *self.chance.pick(&[" AND ", " AND ", " OR "]);
        let negated = if self.chance.percent(40) { "NOT " } else { "" };
        vec![text(format!("{negated}(")), left, text(word), right, text(")")]
    }

    /// EXISTS, IN and the like over another table.
    fn asking(&mut self, scope: &Scope) -> Vec<Tree> {
        let outer = Scope { depth: 0, ..scope.clone() };
        let (from, inner) = self.table();
        let key = self.join_key(&outer, &inner);
        let (more, number) = (self.condition(&inner, 1), self.chance.below(11));
        let negated = if self.chance.percent(45) { "NOT " } else { "" };
        if number < 3 {
            let more = node(Sort::Clause, vec![text(" AND "), more]);
            return vec![text(format!("{negated}EXISTS (SELECT 1 FROM ")), from, text(format!(" WHERE {key}")), Tree::Maybe(Box::new(more)), text(")")];
        }
        if number == 3 {
            return vec![self.scalar_count(scope), text(" > 1")];
        }
        if number == 4
            && let Some(compared) = self.compared_with_found(scope)
        {
            return compared;
        }
        if number > 7 {
            return self.of_all(&outer, &key, from, negated);
        }
        let (left, right) = key.split_once(" = ").expect("an equality");
        let condition = Tree::Maybe(Box::new(node(Sort::Clause, vec![text(" WHERE "), more])));
        vec![text(format!("{left} {negated}IN (SELECT {right} FROM ")), from, condition, text(")")]
    }

    /// Questions whose rows are counted or put together first: `EXISTS (SELECT max(x) …)`, with HAVING, with OFFSET.
    fn of_all(&mut self, outer: &Scope, key: &str, from: Tree, negated: &str) -> Vec<Tree> {
        let what = *self.chance.pick(&["count(*)", "max(id)", "min(k)"]);
        let having = *self.chance.pick(&["", " HAVING count(*) = 0", " HAVING count(*) > 1", " HAVING max(id) > 5"]);
        match self.chance.below(4) {
            0 => vec![text(format!("{negated}EXISTS (SELECT {what} FROM ")), from, text(format!(" WHERE {key}{having})"))],
            1 => {
                let skipped = 1 + self.chance.below(2);
                vec![text(format!("{negated}EXISTS (SELECT 1 FROM ")), from, text(format!(" WHERE {key} OFFSET {skipped})"))]
            }
            // The first column is a whole number everywhere.
            2 => vec![text(format!("{} {negated}IN (SELECT {what} FROM ", outer.columns[0].sql)), from, text(format!(" WHERE {key}{having})"))],
            _ => {
                let word = *self.chance.pick(&["IS NULL", "IS NOT NULL", "> 3", "<> 0"]);
                vec![text(format!("(SELECT {what} FROM ")), from, text(format!(" WHERE {key}{having}) {word}"))]
            }
        }
    }

    /// `c < (SELECT max(d) FROM t WHERE …)`
    fn compared_with_found(&mut self, scope: &Scope) -> Option<Vec<Tree>> {
        let outer = Scope { depth: 0, ..scope.clone() };
        let (from, inner) = self.table();
        let column = self.any_column(&outer)?;
        let class = column.class;
        if !matches!(class, Class::Int | Class::Big | Class::Dec | Class::Date | Class::Ts | Class::Tstz) {
            return None;
        }
        let others = inner.of_class(class);
        if others.is_empty() {
            return None;
        }
        let other = self.chance.pick(&others).sql.clone();
        let (word, what) = (*self.chance.pick(&["=", "=", "<", ">=", "<>", "IS NOT DISTINCT FROM"]), *self.chance.pick(&["min", "max"]));
        let condition = self.condition(&inner, 0);
        let condition = Tree::Maybe(Box::new(node(Sort::Clause, vec![text(" WHERE "), condition])));
        Some(vec![text(format!("{} {word} (SELECT {what}({other}) FROM ", column.sql)), from, condition, text(")")])
    }

    /// `(SELECT count(*) FROM t WHERE t.k = outer.k)`
    pub(super) fn scalar_count(&mut self, scope: &Scope) -> Tree {
        let outer = Scope { depth: 0, ..scope.clone() };
        let (from, inner) = self.table();
        let correlated = self.chance.percent(70);
        let (key, what) = (self.join_key(&outer, &inner), *self.chance.pick(&["count(*)", "count(*)", "max(id)", "min(id)"]));
        let condition = if correlated { format!(" WHERE {key}") } else { String::new() };
        node(Sort::Value(Class::Big), vec![text(format!("(SELECT {what} FROM ")), from, text(format!("{condition})"))])
    }
}
