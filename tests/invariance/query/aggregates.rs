// SPDX-License-Identifier: Apache-2.0
//! Groups and what is computed of them.

use super::{Maker, Scope};
use crate::invariance::kinds::Class;
use crate::invariance::tree::{Sort, Tree, list, maybe, node, text};

impl Maker<'_> {
    /// GROUP BY, or one row for all.
    pub(super) fn grouped(&mut self, classes: &[Class], depth: usize) -> Tree {
        let (from, scope) = self.from(depth);
        let inner = Scope { depth: 0, ..scope.clone() };
        let mut outputs = Vec::with_capacity(classes.len());
        let mut keys = Vec::new();
        let whole = self.chance.percent(20);
        for (index, class) in classes.iter().enumerate() {
            let number = index + 1;
            let aggregate = if whole || index > 0 || self.chance.percent(30) { self.aggregate(&inner, *class) } else { None };
            let value = match aggregate {
                Some(aggregate) => aggregate,
                None => {
                    keys.push(text(number.to_string()));
                    self.grouped_by(&inner, *class)
                }
            };
            outputs.push(node(Sort::Clause, vec![value, text(format!(" AS c{number}"))]));
        }
        let condition = self.filter(&scope);
        let mut parts = vec![text("SELECT "), list(outputs, ", "), text(" FROM "), from, condition];
        if !keys.is_empty() {
            parts.push(node(Sort::Clause, vec![text(" GROUP BY "), list(keys, ", ")]));
        }
        if self.chance.percent(25) {
            let having = self.having(&inner);
            parts.push(maybe(vec![text(" HAVING "), having]));
        }
        node(Sort::Query, parts)
    }

    /// ROLLUP, CUBE or GROUPING SETS of one or two columns. `None` where a column or an aggregate of each class is not to be had.
    pub(super) fn rolled(&mut self, classes: &[Class], depth: usize) -> Option<Tree> {
        let (from, scope) = self.from(depth);
        let inner = Scope { depth: 0, ..scope.clone() };
        let mut keys: Vec<String> = Vec::new();
        let mut outputs = Vec::with_capacity(classes.len());
        for (index, class) in classes.iter().enumerate() {
            let columns = scope.of_class(*class);
            let value = match columns.is_empty() || keys.len() >= 2 || self.chance.percent(35) {
                false => {
                    let column = self.chance.pick(&columns).sql.clone();
                    if !keys.contains(&column) {
                        keys.push(column.clone());
                    }
                    text(column)
                }
                true => self.aggregate(&inner, *class)?,
            };
            outputs.push(node(Sort::Clause, vec![value, text(format!(" AS c{}", index + 1))]));
        }
        let sets = match (keys.as_slice(), self.chance.below(3)) {
            ([], _) => return None,
            ([key], 0) => format!("GROUPING SETS (({key}), ())"),
            ([a, b], 0) => format!("GROUPING SETS (({a}, {b}), ({b}), ())"),
            (keys, 1) => format!("CUBE ({})", keys.join(", ")),
            (keys, _) => format!("ROLLUP ({})", keys.join(", ")),
        };
        let condition = self.filter(&scope);
        let parts = vec![text("SELECT "), list(outputs, ", "), text(" FROM "), from, condition, text(format!(" GROUP BY {sets}"))];
        Some(node(Sort::Query, parts))
    }

    /// A key: a constant alone would group nothing.
    fn grouped_by(&mut self, scope: &Scope, class: Class) -> Tree {
        self.value(scope, class, 1)
    }

    fn having(&mut self, scope: &Scope) -> Tree {
        let (class, word) =
            *self.chance.pick(&[(Class::Big, "> 1"), (Class::Big, "<> 2"), (Class::Int, "IS NOT NULL"), (Class::Text, "> 'a'"), (Class::Date, "IS NULL")]);
        let value = self.aggregate(scope, class).unwrap_or_else(|| text("count(*)"));
        let word = if value == text("count(*)") { "> 1" } else { word };
        node(Sort::Condition, vec![value, text(format!(" {word}"))])
    }

    /// An aggregate whose result is of the class, if there is one.
    pub(super) fn aggregate(&mut self, scope: &Scope, class: Class) -> Option<Tree> {
        let tree = match class {
            Class::Big => self.counted(scope),
            Class::Wide => self.summed(scope)?,
            Class::Bool if !scope.of_class(class).is_empty() => {
                let word = *self.chance.pick(&["bool_and", "bool_or"]);
                self.over(scope, word, class)
            }
            Class::Bool | Class::Bytes | Class::Uuid | Class::Enum => return None,
            Class::Dec if self.chance.percent(30) && !scope.of_class(class).is_empty() => {
                vec![text("round("), node(Sort::Clause, self.over(scope, "avg", class)), text(", 4)")]
            }
            _ if scope.of_class(class).is_empty() => return None,
            _ => {
                let word = *self.chance.pick(&["min", "max"]);
                self.over(scope, word, class)
            }
        };
        Some(node(Sort::Value(class), tree))
    }

    fn over(&mut self, scope: &Scope, word: &str, class: Class) -> Vec<Tree> {
        let value = self.value(scope, class, 1);
        let mut parts = vec![text(format!("{word}(")), value, text(")")];
        if self.chance.percent(15) {
            let condition = self.condition(scope, 0);
            parts.push(maybe(vec![text(" FILTER (WHERE "), condition, text(")")]));
        }
        parts
    }

    fn counted(&mut self, scope: &Scope) -> Vec<Tree> {
        let Some(column) = self.any_column(scope) else { return vec![text("count(*)")] };
        match self.chance.below(8) {
            0 => self.over(scope, "count", column.class),
            1 => vec![text(format!("count(DISTINCT {})", column.sql))],
            2 => {
                let condition = self.condition(scope, 1);
                vec![text("count(*) FILTER (WHERE "), condition, text(")")]
            }
            3 => {
                let condition = self.condition(scope, 0);
                vec![text("sum(CASE WHEN "), condition, text(" THEN 1 ELSE 0 END)")]
            }
            4 if !scope.of_class(Class::Int).is_empty() => self.over(scope, "sum", Class::Int),
            5 if !scope.of_class(Class::Int).is_empty() => {
                let columns = scope.of_class(Class::Int);
                vec![text(format!("sum(DISTINCT {})", self.chance.pick(&columns).sql))]
            }
            _ => vec![text("count(*)")],
        }
    }

    fn summed(&mut self, scope: &Scope) -> Option<Vec<Tree>> {
        let decimals = scope.of_class(Class::Dec);
        if decimals.is_empty() {
            return None;
        }
        let (a, b) = (self.chance.pick(&decimals).sql.clone(), self.chance.pick(&decimals).sql.clone());
        Some(match self.chance.below(5) {
            0 => vec![text(format!("sum({a} * {b})"))],
            1 => vec![text(format!("avg({a})"))],
            2 => vec![text(format!("sum({a} * 2)"))],
            _ => self.over(scope, "sum", Class::Dec),
        })
    }
}
