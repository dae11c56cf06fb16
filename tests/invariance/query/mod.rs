// SPDX-License-Identifier: Apache-2.0
//! Queries made at random over the tables of a setup. Each has one meaning: where rows are cut off, all outputs are ordered by.

mod aggregates;
mod conditions;
mod sources;
mod values;

use super::chance::Chance;
use super::kinds::Class;
use super::setup::Table;
use super::tree::{Sort, Tree, list, maybe, node, text};

/// A column that an expression may use.
#[derive(Debug, Clone)]
struct Column {
    sql: String,
    class: Class,
}

/// What an expression may use.
#[derive(Debug, Clone, Default)]
struct Scope {
    columns: Vec<Column>,
    /// Columns that tell all rows apart, when there are such.
    unique: Option<Vec<String>>,
    /// How deep questions may still be nested.
    depth: usize,
}

impl Scope {
    fn of_class(&self, class: Class) -> Vec<&Column> {
        self.columns.iter().filter(|column| column.class == class).collect()
    }
}

/// Makes queries.
struct Maker<'a> {
    chance: Chance,
    tables: &'a [Table],
    aliases: usize,
}

/// How deep questions stand in questions.
const DEPTH: usize = 2;
/// Parts of a FROM.
const JOINED_MAX: usize = 4;

/// A query over the tables; `@a` stands for the table `a`.
pub fn query(chance: Chance, tables: &[Table]) -> Tree {
    let mut maker = Maker { chance, tables, aliases: 0 };
    let classes = maker.classes();
    maker.ordered(&classes, DEPTH, 45)
}

impl Maker<'_> {
    fn alias(&mut self) -> String {
        self.aliases += 1;
        format!("r{}", self.aliases)
    }

    /// Classes of the outputs: those that the tables have.
    fn classes(&mut self) -> Vec<Class> {
        let count = 1 + self.chance.below(4);
        (0..count).map(|_| self.class()).collect()
    }

    fn class(&mut self) -> Class {
        let table = self.chance.pick(self.tables);
        match self.chance.pick(&table.columns).kind.class {
            // The type of an enum has no name that every place knows, so outputs are texts of it.
            Class::Enum => Class::Text,
            class => class,
        }
    }

    /// A question, sorted in so many of a hundred cases.
    fn ordered(&mut self, classes: &[Class], depth: usize, sorted: usize) -> Tree {
        if !self.chance.percent(sorted) {
            return self.question(classes, depth);
        }
        if self.chance.percent(10) {
            return self.sorted_by_others(classes, depth);
        }
        let question = self.question(classes, depth);
        let first = self.chance.below(classes.len());
        let keys: Vec<String> = (0..classes.len()).map(|index| self.sort_key((index + first) % classes.len() + 1)).collect();
        // All outputs or none: only then the order tells which rows come first.
        let mut order = vec![text(format!(" ORDER BY {}", keys.join(", ")))];
        if self.chance.percent(75) {
            let rows = *self.chance.pick(&[1, 2, 3, 5, 10, 100, 0]);
            order.push(maybe(vec![text(format!(" LIMIT {rows}"))]));
            if self.chance.percent(25) {
                let skipped = self.chance.below(4);
                order.push(maybe(vec![text(format!(" OFFSET {skipped}"))]));
            }
        }
        let parts = vec![question, maybe(order)];
        node(Sort::Query, parts)
    }

    /// Sorted by what is not selected too: another question's value, and a last column.
    fn sorted_by_others(&mut self, classes: &[Class], depth: usize) -> Tree {
        let (shown, hidden) = (classes.len(), self.class());
        let question = self.question(&[classes, &[hidden]].concat(), depth);
        let (alias, (from, _)) = (self.alias(), self.table());
        let keys = [maybe(vec![text("(SELECT max(id) FROM "), from, text("), ")]), text(format!("{alias}.c{}, ", shown + 1))];
        let rest: Vec<String> = (1..=shown).map(|place| self.sort_key(place)).collect();
        let columns: Vec<String> = (1..=shown).map(|place| format!("{alias}.c{place}")).collect();
        let head = vec![text(format!("SELECT {} FROM (", columns.join(", "))), question, text(format!(") AS {alias} ORDER BY "))];
        node(Sort::Clause, head.into_iter().chain(keys).chain([text(rest.join(", "))]).collect())
    }

    fn sort_key(&mut self, place: usize) -> String {
        let direction = *self.chance.pick(&["", "", " DESC", " DESC NULLS LAST", " NULLS FIRST"]);
        format!("{place}{direction}")
    }

    fn question(&mut self, classes: &[Class], depth: usize) -> Tree {
        match self.chance.below(if depth == 0 { 7 } else { 12 }) {
            0..=2 => self.plain(classes, depth),
            3 if self.chance.percent(25) => self.first_of_each(classes, depth),
            3 => self.distinct(classes, depth),
            4 if self.chance.percent(25) => match self.rolled(classes, depth) {
                Some(rolled) => rolled,
                None => self.grouped(classes, depth),
            },
            4..=6 => self.grouped(classes, depth),
            7 => self.plain(classes, depth),
            8 | 9 => self.combined(classes, depth),
            10 => self.with(classes, depth),
            _ => self.numbered(classes, depth),
        }
    }

    fn plain(&mut self, classes: &[Class], depth: usize) -> Tree {
        let (from, scope) = self.from(depth);
        let outputs = self.outputs(classes, &scope);
        let condition = self.filter(&scope);
        node(Sort::Query, vec![text("SELECT "), list(outputs, ", "), text(" FROM "), from, condition])
    }

    fn distinct(&mut self, classes: &[Class], depth: usize) -> Tree {
        let (from, scope) = self.from(depth);
        let outputs = self.outputs(classes, &scope);
        let condition = self.filter(&scope);
        node(Sort::Query, vec![text("SELECT "), maybe(vec![text("DISTINCT ")]), list(outputs, ", "), text(" FROM "), from, condition])
    }

    /// `DISTINCT ON`: the first row of each, in an order that tells rows apart as far as they are shown.
    fn first_of_each(&mut self, classes: &[Class], depth: usize) -> Tree {
        let (from, scope) = self.from(depth);
        let outputs = self.outputs(classes, &scope);
        let condition = self.filter(&scope);
        let keys: Vec<String> = (1..=classes.len()).map(|place| self.sort_key(place)).collect();
        let alias = self.alias();
        let head = vec![text("SELECT * FROM (SELECT DISTINCT ON (c1) * FROM (SELECT "), list(outputs, ", "), text(" FROM "), from, condition];
        let tail = text(format!(") AS {alias} ORDER BY {}) AS {alias}", keys.join(", ")));
        node(Sort::Query, head.into_iter().chain([tail]).collect())
    }

    fn outputs(&mut self, classes: &[Class], scope: &Scope) -> Vec<Tree> {
        let mut outputs = Vec::with_capacity(classes.len());
        for (index, class) in classes.iter().enumerate() {
            let value = match *class {
                Class::Big if self.chance.percent(10) && scope.depth > 0 => self.scalar_count(scope),
                class => self.value(scope, class, 2),
            };
            outputs.push(node(Sort::Clause, vec![value, text(format!(" AS c{}", index + 1))]));
        }
        outputs
    }

    fn filter(&mut self, scope: &Scope) -> Tree {
        if self.chance.percent(25) {
            return text("");
        }
        let condition = self.condition(scope, 2);
        maybe(vec![text(" WHERE "), condition])
    }

    /// UNION, EXCEPT, INTERSECT.
    fn combined(&mut self, classes: &[Class], depth: usize) -> Tree {
        let word = *self.chance.pick(&["UNION ALL", "UNION ALL", "UNION ALL", "UNION", "EXCEPT", "EXCEPT ALL", "INTERSECT", "INTERSECT ALL"]);
        let (left, right) = (self.arm(classes, depth), self.arm(classes, depth));
        let mut parts = vec![text("("), left, text(format!(") {word} (")), right, text(")")];
        if word == "UNION ALL" && self.chance.percent(25) {
            let third = self.arm(classes, depth);
            parts.push(maybe(vec![text(" UNION ALL ("), third, text(")")]));
        }
        node(Sort::Query, parts)
    }

    /// A part of a UNION: any question, or one with constants among the outputs.
    fn arm(&mut self, classes: &[Class], depth: usize) -> Tree {
        if self.chance.percent(75) {
            return self.ordered(classes, depth - 1, 15);
        }
        let (from, scope) = self.table();
        let mut outputs = Vec::with_capacity(classes.len());
        for (index, class) in classes.iter().enumerate() {
            let value = match self.chance.percent(40) {
                true => self.constant(*class),
                false => self.value(&scope, *class, 1),
            };
            outputs.push(node(Sort::Clause, vec![value, text(format!(" AS c{}", index + 1))]));
        }
        let condition = self.filter(&scope);
        node(Sort::Query, vec![text("SELECT "), list(outputs, ", "), text(" FROM "), from, condition])
    }

    /// A question with a name, asked once or twice.
    fn with(&mut self, classes: &[Class], depth: usize) -> Tree {
        let inner_classes: Vec<Class> = std::iter::once(Class::Int).chain(self.classes()).collect();
        let inner = self.ordered(&inner_classes, depth - 1, 20);
        let name = format!("w{}", self.aliases);
        let (alias, other) = (self.alias(), self.alias());
        let mut scope = Scope { columns: columns_of(&alias, &inner_classes), unique: None, depth: 0 };
        let joined = if self.chance.percent(40) {
            scope.columns.extend(columns_of(&other, &inner_classes));
            maybe(vec![text(format!(" JOIN {name} AS {other} ON {alias}.c1 = {other}.c1"))])
        } else {
            text("")
        };
        let outputs = self.outputs(classes, &scope);
        let condition = self.filter(&scope);
        let head = vec![text(format!("WITH {name} AS (")), inner, text(") SELECT "), list(outputs, ", ")];
        let tail = vec![text(format!(" FROM {name} AS {alias}")), joined, condition];
        node(Sort::Query, head.into_iter().chain(tail).collect())
    }

    /// Window functions over rows that an order tells apart.
    fn numbered(&mut self, classes: &[Class], depth: usize) -> Tree {
        let (from, scope) = self.from(depth);
        let mut outputs = Vec::with_capacity(classes.len());
        for (index, class) in classes.iter().enumerate() {
            let value = match self.chance.percent(60) {
                true => self.window(&scope, *class),
                false => self.value(&scope, *class, 1),
            };
            outputs.push(node(Sort::Clause, vec![value, text(format!(" AS c{}", index + 1))]));
        }
        let condition = self.filter(&scope);
        node(Sort::Query, vec![text("SELECT "), list(outputs, ", "), text(" FROM "), from, condition])
    }

    fn window(&mut self, scope: &Scope, class: Class) -> Tree {
        let partition = match self.any_column(scope) {
            Some(column) if self.chance.percent(60) => maybe(vec![text(format!("PARTITION BY {} ", column.sql))]),
            _ => text(""),
        };
        let Some(unique) = scope.unique.clone() else {
            return match class {
                Class::Big => node(Sort::Clause, vec![text("count(*) OVER ("), partition, text(")")]),
                _ => self.value(scope, class, 1),
            };
        };
        let direction = *self.chance.pick(&["", " DESC"]);
        let order: Vec<String> = unique.iter().map(|column| format!("{column}{direction}")).collect();
        let frame = match self.chance.below(6) {
            0 => " ROWS BETWEEN 2 PRECEDING AND CURRENT ROW",
            1 => " ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
            2 => " ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
            _ => "",
        };
        let over = vec![text(" OVER ("), partition, text(format!("ORDER BY {}", order.join(", "))), maybe(vec![text(frame)]), text(")")];
        let function = match class {
            Class::Int | Class::Float | Class::Text | Class::Date | Class::Dec if self.chance.percent(40) => {
                let word = *self.chance.pick(&["min", "max"]);
                let value = self.value(scope, class, 0);
                node(Sort::Clause, vec![text(format!("{word}(")), value, text(")")])
            }
            Class::Big => text(*self.chance.pick(&["row_number()", "rank()", "count(*)", "dense_rank()"])),
            _ => {
                let word = *self.chance.pick(&["lag", "lead", "first_value", "last_value"]);
                let value = self.value(scope, class, 0);
                node(Sort::Clause, vec![text(format!("{word}(")), value, text(")")])
            }
        };
        node(Sort::Clause, std::iter::once(function).chain(over).collect())
    }

    fn any_column(&mut self, scope: &Scope) -> Option<Column> {
        if scope.columns.is_empty() { None } else { Some(self.chance.pick(&scope.columns).clone()) }
    }
}

fn columns_of(alias: &str, classes: &[Class]) -> Vec<Column> {
    classes.iter().enumerate().map(|(index, class)| Column { sql: format!("{alias}.c{}", index + 1), class: *class }).collect()
}
