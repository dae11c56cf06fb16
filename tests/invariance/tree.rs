// SPDX-License-Identifier: Apache-2.0
//! A query as a tree of its text, so that it can be made smaller without knowing SQL.

use super::kinds::Class;

/// What a part of a query is. A part may stand in the place of another of its sort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    Query,
    From,
    Condition,
    Value(Class),
    /// Has no simpler form.
    Clause,
}

impl Sort {
    /// The smallest text of the sort, if there is one.
    fn smallest(self) -> Option<&'static str> {
        match self {
            Self::Condition => Some("true"),
            Self::Value(Class::Int | Class::Big | Class::Dec | Class::Wide) => Some("1"),
            Self::Value(Class::Text) => Some("CAST('a' AS text)"),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Tree {
    Text(String),
    Node(Sort, Vec<Tree>),
    /// May be left out.
    Maybe(Box<Tree>),
    /// May lose items.
    List {
        items: Vec<Tree>,
        separator: &'static str,
    },
}

/// A text that stays as it is.
pub fn text(text: impl Into<String>) -> Tree {
    Tree::Text(text.into())
}

pub fn node(sort: Sort, parts: Vec<Tree>) -> Tree {
    Tree::Node(sort, parts)
}

pub fn maybe(parts: Vec<Tree>) -> Tree {
    Tree::Maybe(Box::new(Tree::Node(Sort::Clause, parts)))
}

pub fn list(items: Vec<Tree>, separator: &'static str) -> Tree {
    Tree::List { items, separator }
}

impl Tree {
    pub fn sql(&self) -> String {
        let mut sql = String::new();
        self.write(&mut sql);
        sql
    }

    fn write(&self, sql: &mut String) {
        match self {
            Self::Text(text) => sql.push_str(text),
            Self::Node(_, parts) => parts.iter().for_each(|part| part.write(sql)),
            Self::Maybe(part) => part.write(sql),
            Self::List { items, separator } => {
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        sql.push_str(separator);
                    }
                    item.write(sql);
                }
            }
        }
    }

    /// Trees with one part less or simpler, the smallest first. Not all of them are SQL.
    pub fn smaller(&self) -> Vec<Self> {
        let mut all = self.simpler();
        all.sort_by_key(|tree| tree.sql().len());
        let own = self.sql();
        all.dedup_by_key(|tree| tree.sql());
        all.retain(|tree| tree.sql() != own);
        all
    }

    fn simpler(&self) -> Vec<Self> {
        match self {
            Self::Text(_) => Vec::new(),
            Self::Maybe(part) => {
                let mut all = vec![text("")];
                all.extend(part.simpler().into_iter().map(|part| Self::Maybe(Box::new(part))));
                all
            }
            Self::List { items, separator } => {
                let without = |index: usize| {
                    let mut items = items.clone();
                    items.remove(index);
                    Self::List { items, separator }
                };
                let mut all: Vec<Self> = if items.len() > 1 { (0..items.len()).map(without).collect() } else { Vec::new() };
                all.extend(one_simpler(items).map(|items| Self::List { items, separator }));
                all
            }
            Self::Node(sort, parts) => {
                let mut all = Vec::new();
                if let Some(smallest) = sort.smallest() {
                    all.push(node(*sort, vec![text(smallest)]));
                }
                if *sort != Sort::Clause {
                    parts.iter().for_each(|part| part.of_sort(*sort, &mut all));
                }
                all.extend(one_simpler(parts).map(|parts| node(*sort, parts)));
                all
            }
        }
    }

    /// Parts that could stand where a part of the sort stands.
    fn of_sort(&self, wanted: Sort, found: &mut Vec<Self>) {
        match self {
            Self::Text(_) => {}
            Self::Maybe(part) => part.of_sort(wanted, found),
            Self::List { items, .. } => items.iter().for_each(|item| item.of_sort(wanted, found)),
            Self::Node(sort, parts) => {
                if *sort == wanted {
                    found.push(self.clone());
                }
                parts.iter().for_each(|part| part.of_sort(wanted, found));
            }
        }
    }
}

/// The parts with one of them simpler, in each way.
fn one_simpler(parts: &[Tree]) -> impl Iterator<Item = Vec<Tree>> + '_ {
    parts.iter().enumerate().flat_map(move |(index, part)| {
        part.simpler().into_iter().map(move |simpler| {
            let mut parts = parts.to_vec();
            parts[index] = simpler;
            parts
        })
    })
}
