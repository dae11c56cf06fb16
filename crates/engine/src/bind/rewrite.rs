// SPDX-License-Identifier: Apache-2.0
//! Rewrites a parsed statement so that every name is exact: tables in three quoted parts, columns as their source spells them.

use super::names::Resolved;
use datafusion::sql::sqlparser::ast::{Expr, Ident, ObjectName, ObjectNamePart, Query, Statement, TableFactor, Visit, VisitMut, Visitor, VisitorMut};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::ControlFlow;
use weir_base::TableName;

/// Table names of a statement as typed, without common table expressions and table functions.
pub(crate) fn relations(statement: &Statement) -> Vec<ObjectName> {
    let mut collector = Collector::default();
    let _ = statement.visit(&mut collector);
    let Collector { found, local, .. } = collector;
    let mut seen = HashSet::new();
    found.into_iter().filter(|name| !is_local(name, &local) && seen.insert(name.to_string())).collect()
}

/// Names that a statement defines for itself: common table expressions and table functions.
fn local_names(statement: &Statement) -> HashSet<String> {
    let mut collector = Collector::default();
    let _ = statement.visit(&mut collector);
    collector.local
}

#[derive(Default)]
struct Collector {
    found: Vec<ObjectName>,
    local: HashSet<String>,
}

impl Visitor for Collector {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
            self.local.insert(folded(&cte.alias.name));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, args: Some(_), .. } = factor
            && let [ObjectNamePart::Identifier(function)] = name.0.as_slice()
        {
            self.local.insert(folded(function));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_relation(&mut self, name: &ObjectName) -> ControlFlow<()> {
        self.found.push(name.clone());
        ControlFlow::Continue(())
    }
}

fn is_local(name: &ObjectName, local: &HashSet<String>) -> bool {
    matches!(name.0.as_slice(), [ObjectNamePart::Identifier(only)] if local.contains(&folded(only)))
}

fn folded(ident: &Ident) -> String {
    if ident.quote_style.is_some() { ident.value.clone() } else { ident.value.to_lowercase() }
}

/// Makes every name exact. `resolved` is keyed by the name as typed.
pub(crate) fn make_exact(statement: &mut Statement, resolved: &BTreeMap<String, Resolved>) {
    let columns = Spellings::of(statement, resolved);
    let local = local_names(statement);
    let _ = statement.visit(&mut Rewriter { resolved, local, columns });
}

struct Rewriter<'a> {
    resolved: &'a BTreeMap<String, Resolved>,
    local: HashSet<String>,
    columns: Spellings,
}

impl VisitorMut for Rewriter<'_> {
    type Break = ();

    fn pre_visit_relation(&mut self, name: &mut ObjectName) -> ControlFlow<()> {
        if !is_local(name, &self.local)
            && let Some(resolved) = self.resolved.get(&name.to_string())
        {
            *name = exact_name(resolved.name());
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        match expr {
            Expr::Identifier(ident) => self.columns.spell(ident, None),
            Expr::CompoundIdentifier(idents) => self.compound(idents),
            _ => {}
        }
        ControlFlow::Continue(())
    }
}

impl Rewriter<'_> {
    fn compound(&self, idents: &mut Vec<Ident>) {
        let Some((column, qualifier)) = idents.split_last_mut() else { return };
        let typed = ObjectName::from(qualifier.to_vec()).to_string();
        self.columns.spell(column, qualifier.last().map(folded).as_deref());
        if qualifier.len() < 2 {
            return;
        }
        if let Some(resolved) = self.resolved.get(&typed) {
            let mut exact = idents_of(resolved.name());
            exact.push(column.clone());
            *idents = exact;
        }
    }
}

fn exact_name(name: &TableName) -> ObjectName {
    ObjectName::from(idents_of(name))
}

fn idents_of(name: &TableName) -> Vec<Ident> {
    [name.source.as_str(), &name.schema, &name.table].map(|part| Ident::with_quote('"', part)).to_vec()
}

/// How the columns of the statement's tables are spelled, by alias and over all.
struct Spellings {
    everywhere: HashMap<String, HashSet<String>>,
    by_alias: HashMap<String, HashMap<String, HashSet<String>>>,
}

impl Spellings {
    fn of(statement: &Statement, resolved: &BTreeMap<String, Resolved>) -> Self {
        let mut aliases = Aliases::default();
        let _ = statement.visit(&mut aliases);
        let mut spellings = Self { everywhere: HashMap::new(), by_alias: HashMap::new() };
        for (alias, typed) in &aliases.pairs {
            let Some(table) = resolved.get(typed) else { continue };
            for column in column_names(table) {
                let lower = column.to_lowercase();
                spellings.everywhere.entry(lower.clone()).or_default().insert(column.clone());
                spellings.by_alias.entry(alias.clone()).or_default().entry(lower).or_default().insert(column);
            }
        }
        spellings
    }

    /// An unquoted name that no table spells in lower case, and that just one spelling fits, becomes that spelling.
    fn spell(&self, ident: &mut Ident, alias: Option<&str>) {
        if ident.quote_style.is_some() {
            return;
        }
        let lower = ident.value.to_lowercase();
        let known = alias.and_then(|alias| self.by_alias.get(alias)).unwrap_or(&self.everywhere);
        let Some(spellings) = known.get(&lower) else { return };
        if spellings.contains(&lower) {
            return;
        }
        if let (1, Some(only)) = (spellings.len(), spellings.iter().next()) {
            *ident = Ident::with_quote('"', only);
        }
    }
}

fn column_names(table: &Resolved) -> Vec<String> {
    match table {
        Resolved::Live { table, .. } => table.columns.iter().map(|column| column.name.clone()).collect(),
        Resolved::Lake { table, .. } => table.schema().fields().iter().map(|field| field.name().clone()).collect(),
        Resolved::System(_) | Resolved::Catalog(_) => Vec::new(),
    }
}

/// Pairs of an alias (or the bare table name) and the table name as typed.
#[derive(Default)]
struct Aliases {
    pairs: Vec<(String, String)>,
}

impl Visitor for Aliases {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, alias, args: None, .. } = factor {
            let last = name.0.last().and_then(|part| part.as_ident());
            let called = alias.as_ref().map(|alias| &alias.name).or(last);
            self.pairs.extend(called.map(|called| (folded(called), name.to_string())));
        }
        ControlFlow::Continue(())
    }
}
