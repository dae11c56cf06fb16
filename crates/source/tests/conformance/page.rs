// SPDX-License-Identifier: Apache-2.0
//! The page of the reference that says what is pushed to a kind of source, printed from the answers that the planner gets.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use weir_source::{Aggregate, Column, Reason, Support, Written};

const OPERATIONS: [(&str, &str); 7] = [
    ("=", "`=`, `IN`"),
    ("<>", "`<>`, `NOT IN`"),
    ("<", "`<` `<=` `>` `>=`, `BETWEEN`"),
    ("IS NULL", "`IS NULL`, by itself"),
    ("LIKE", "`LIKE`"),
    ("GROUP BY", "groups, `DISTINCT`, join keys"),
    ("ORDER BY", "`ORDER BY … LIMIT`"),
];
/// Of functions that nobody has proven.
const UNKNOWN: &str = "never `function`";
const AGGREGATES: [&str; 6] = ["count", "count distinct", "sum", "sum distinct", "min, max", "bool_and, bool_or"];

/// A function, its verdicts, and the columns that have each.
type Answers = (String, Vec<(String, Vec<String>)>);

/// What was found out; verdicts in the order in which they were met.
#[derive(Default)]
pub struct Page {
    columns: Vec<String>,
    operations: BTreeMap<(String, &'static str), Vec<String>>,
    aggregates: BTreeMap<(String, &'static str), Vec<String>>,
    functions: Vec<Answers>,
    reasons: BTreeMap<(&'static str, String), Option<String>>,
    unreadable: Vec<String>,
    /// How many conditions, groups, orders, aggregates and rows of functions were computed by the server and found exact.
    pub executed: usize,
    /// How many steps found something that is not exact; each has been printed.
    pub failures: u32,
}

fn label(column: &Column) -> String {
    match &column.collation {
        Some(collation) => format!("`{} {collation}`", column.native_type),
        None if column.native_type.is_empty() => "(no type)".to_owned(),
        None => format!("`{}`", column.native_type),
    }
}

fn add<T: PartialEq>(list: &mut Vec<T>, item: T) {
    if !list.contains(&item) {
        list.push(item);
    }
}

impl Page {
    fn reason(&mut self, reason: &Reason) {
        self.reasons.insert((reason.code, reason.text.clone()), reason.remedy.clone());
    }

    fn verdict(&mut self, support: &Support) -> String {
        match support {
            Support::Exact => "exact".to_owned(),
            Support::Superset(reason) => {
                self.reason(reason);
                format!("superset `{}`", reason.code)
            }
            Support::Never(reason) => {
                self.reason(reason);
                format!("never `{}`", reason.code)
            }
        }
    }

    fn known(&mut self, column: &Column) -> String {
        let label = label(column);
        add(&mut self.columns, label.clone());
        label
    }

    pub fn unreadable(&mut self, column: &Column) {
        add(&mut self.unreadable, label(column));
    }

    pub fn operation(&mut self, column: &Column, kind: &'static str, support: &Support) {
        let kind = OPERATIONS.iter().find(|(known, _)| *known == kind).expect("a kind of operation").0;
        let (label, verdict) = (self.known(column), self.verdict(support));
        add(self.operations.entry((label, kind)).or_default(), verdict);
    }

    pub fn aggregate(&mut self, column: &Column, aggregate: Aggregate, distinct: bool, written: &Written) {
        let kind = match (aggregate, distinct) {
            (Aggregate::Count, false) => AGGREGATES[0],
            (Aggregate::Count, true) => AGGREGATES[1],
            (Aggregate::Sum, false) => AGGREGATES[2],
            (Aggregate::Sum, true) => AGGREGATES[3],
            (Aggregate::Min | Aggregate::Max, _) => AGGREGATES[4],
            (Aggregate::BoolAnd | Aggregate::BoolOr, _) => AGGREGATES[5],
        };
        let (label, verdict) = (self.known(column), self.written(written));
        add(self.aggregates.entry((label, kind)).or_default(), verdict);
    }

    fn written(&mut self, written: &Written) -> String {
        match written {
            Ok(term) if term.total => "exact".to_owned(),
            // It fails where it fails here; a condition is not made of it.
            Ok(_) => "exact, may fail".to_owned(),
            Err(reason) => {
                self.reason(reason);
                format!("never `{}`", reason.code)
            }
        }
    }

    pub fn function(&mut self, column: &Column, words: &str, written: &Written) {
        let (label, verdict) = (self.known(column), self.written(written));
        let at = self.functions.iter().position(|(known, _)| known == words).unwrap_or_else(|| {
            self.functions.push((words.to_owned(), Vec::new()));
            self.functions.len() - 1
        });
        let verdicts = &mut self.functions[at].1;
        match verdicts.iter_mut().find(|(known, _)| *known == verdict) {
            Some((_, columns)) => add(columns, label),
            None => verdicts.push((verdict, vec![label])),
        }
    }

    /// The text of the page. `head` says what was asked.
    pub fn text(&self, title: &str, head: &str) -> String {
        let mut text = format!("# {title}\n\n<!-- Written by the tests of the connector; `WEIR_BLESS=1 cargo test` writes it anew. -->\n\n{head}\n\n");
        text.push_str(LEGEND);
        self.table(&mut text, "Operations", "column", &OPERATIONS.map(|(kind, words)| (kind, words.to_owned())), &self.operations);
        self.table(&mut text, "Aggregates", "argument", &AGGREGATES.map(|kind| (kind, kind.to_owned())), &self.aggregates);
        let _ = writeln!(text, "\n## Functions\n\nWhat is not named here is {UNKNOWN}.\n\n| function | verdict | columns |\n|---|---|---|");
        let mut functions: Vec<&Answers> = self.functions.iter().collect();
        functions.sort_by_key(|(words, _)| words);
        for (words, verdicts) in functions {
            for (verdict, columns) in verdicts.iter().filter(|(verdict, _)| verdict != UNKNOWN) {
                let columns = if verdicts.len() == 1 && columns.len() > 3 { "all that have it".to_owned() } else { columns.join(", ") };
                let _ = writeln!(text, "| `{}` | {verdict} | {columns} |", words.replace('|', "\\|"));
            }
        }
        if !self.unreadable.is_empty() {
            let _ = writeln!(text, "\nNot compared at all: {}.", self.unreadable.join(", "));
        }
        text.push_str("\n## Reasons\n\n| code | why | what to do |\n|---|---|---|\n");
        for ((code, why), remedy) in &self.reasons {
            let _ = writeln!(text, "| `{code}` | {why} | {} |", remedy.as_deref().unwrap_or(""));
        }
        text
    }

    fn table(&self, text: &mut String, title: &str, first: &str, kinds: &[(&'static str, String)], verdicts: &BTreeMap<(String, &'static str), Vec<String>>) {
        let heads: Vec<&str> = kinds.iter().map(|(_, words)| words.as_str()).collect();
        let _ = writeln!(text, "\n## {title}\n\n| {first} | {} |\n|---|{}", heads.join(" | "), "---|".repeat(kinds.len()));
        for column in &self.columns {
            let cells: Vec<String> = kinds.iter().map(|(kind, _)| verdicts.get(&(column.clone(), *kind)).map_or(String::new(), |all| all.join("; "))).collect();
            let _ = writeln!(text, "| {column} | {} |", cells.join(" | "));
        }
    }
}

const LEGEND: &str = "* **exact**: the source does it and Weir does not look again.\n\
    * **exact, may fail**: the same, with the same error for the same values (overflow, division by zero). It is selected, sorted and summed there, but no filter or join key is made of it, since a source may compute a filter for rows that another one leaves out.\n\
    * **superset**: the source does it and returns at least the rows that Weir would keep; Weir checks them again.\n\
    * **never**: Weir does it, for the reason of that code. `EXPLAIN` names it as `kept`.\n\n\
    Several verdicts in one place depend on the constant beside the column. An empty place is an operation that the type does not have.\n";

/// Compares the page on disk with what it should be, or writes it when the environment says `WEIR_BLESS=1`.
pub fn keep(name: &str, text: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference").join(name);
    if std::env::var_os("WEIR_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == text, "docs/reference/{name} is not what the capability table says now: run this test with WEIR_BLESS=1");
}
