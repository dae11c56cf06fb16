// SPDX-License-Identifier: Apache-2.0
//! What stands behind FROM: tables, questions in parentheses, and joins of them.

use super::{Column, JOINED_MAX, Maker, Scope, columns_of};
use crate::invariance::kinds::Class;
use crate::invariance::tree::{Sort, Tree, maybe, node, text};

impl Maker<'_> {
    /// One to four parts, joined in different ways. Those of three and more are often joined by keys alone: their order is free then.
    pub(super) fn from(&mut self, depth: usize) -> (Tree, Scope) {
        let (mut tree, mut scope) = self.part(depth);
        let more = *self.chance.pick(&[0, 0, 0, 1, 1, JOINED_MAX - 2, JOINED_MAX - 1]);
        let free = more > 1 && self.chance.percent(60);
        for _ in 0..more {
            let (right, other) = self.part(depth);
            let word = if free { "JOIN" } else { *self.chance.pick(&["JOIN", "JOIN", "JOIN", "LEFT JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN"]) };
            let key = match self.join_key(&scope, &other) {
                key if word != "FULL JOIN" && self.chance.percent(12) => key.replace(" = ", " IS NOT DISTINCT FROM "),
                key => key,
            };
            scope.columns.extend(other.columns);
            scope.unique = scope.unique.zip(other.unique).map(|(a, b)| [a, b].concat());
            let more = match word {
                // PostgreSQL joins fully on equalities only.
                "FULL JOIN" => text(""),
                _ if self.chance.percent(25) => {
                    let inner = Scope { depth: 0, ..scope.clone() };
                    let condition = self.condition(&inner, 1);
                    maybe(vec![text(" AND "), condition])
                }
                _ => text(""),
            };
            tree = node(Sort::From, vec![tree, text(format!(" {word} ")), right, text(format!(" ON {key}")), more]);
        }
        scope.depth = depth;
        (tree, scope)
    }

    fn part(&mut self, depth: usize) -> (Tree, Scope) {
        if depth > 0 && self.chance.percent(15) { self.derived(depth) } else { self.table() }
    }

    pub(super) fn table(&mut self) -> (Tree, Scope) {
        let table = self.chance.pick(self.tables).clone();
        let alias = self.alias();
        let column = |column: &crate::invariance::setup::TableColumn| Column { sql: written(&alias, &column.name), class: column.kind.class };
        let columns = table.columns.iter().map(column).collect();
        let scope = Scope { columns, unique: Some(vec![format!("{alias}.id")]), depth: 0 };
        (node(Sort::From, vec![text(format!("@{} AS {alias}", table.name))]), scope)
    }

    fn derived(&mut self, depth: usize) -> (Tree, Scope) {
        let classes: Vec<Class> = std::iter::once(Class::Int).chain(self.classes()).collect();
        let question = self.ordered(&classes, depth - 1, 25);
        let alias = self.alias();
        let scope = Scope { columns: columns_of(&alias, &classes), unique: None, depth: 0 };
        (node(Sort::From, vec![text("("), question, text(format!(") AS {alias}"))]), scope)
    }

    /// An equality of columns of both sides that may be compared: most often the small whole numbers that are there for it.
    pub(super) fn join_key(&mut self, left: &Scope, right: &Scope) -> String {
        let mut pairs = Vec::new();
        for a in &left.columns {
            for b in &right.columns {
                let whole = |class: Class| matches!(class, Class::Int | Class::Big);
                if a.class == b.class && a.class != Class::Float || whole(a.class) && whole(b.class) {
                    pairs.push((a.sql.clone(), b.sql.clone()));
                }
            }
        }
        let (a, b) = match self.chance.percent(50) {
            true => (&left.columns[1.min(left.columns.len() - 1)], &right.columns[1.min(right.columns.len() - 1)]),
            false => (&left.columns[0], &right.columns[0]),
        };
        let whole = |class: Class| matches!(class, Class::Int | Class::Big);
        if (whole(a.class) && whole(b.class) && self.chance.percent(60)) || pairs.is_empty() {
            return format!("{} = {}", a.sql, b.sql);
        }
        let (a, b) = self.chance.pick(&pairs);
        format!("{a} = {b}")
    }
}

fn written(alias: &str, name: &str) -> String {
    if name.contains(' ') { format!("{alias}.\"{name}\"") } else { format!("{alias}.{name}") }
}
