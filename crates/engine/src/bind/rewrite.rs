// SPDX-License-Identifier: Apache-2.0
//! Rewrites a parsed statement so that every name is exact: tables in three quoted parts, columns as their source spells them.

use super::at_time_zone;
use super::exponent;
use super::names::Resolved;
use datafusion::sql::sqlparser::ast::{
    Expr, Ident, ObjectName, ObjectNamePart, Query, Select, SelectItem, SelectItemQualifiedWildcardKind, SetExpr, Statement, TableFactor, TableWithJoins,
    Visit, VisitMut, Visitor, VisitorMut,
};
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

pub(super) fn folded(ident: &Ident) -> String {
    if ident.quote_style.is_some() { ident.value.clone() } else { ident.value.to_lowercase() }
}

/// Makes every name exact. `resolved` is keyed by the name as typed.
pub(crate) fn make_exact(statement: &mut Statement, resolved: &BTreeMap<String, Resolved>) {
    let mut everywhere = Everything::default();
    let _ = Visit::visit(&*statement, &mut everywhere);
    let mut outermost = Scope::default();
    for table in &everywhere.tables {
        outermost.add(table, resolved.get(&table.typed));
    }
    let local = local_names(statement);
    let _ = statement.visit(&mut Rewriter { resolved, local, outermost, scopes: Vec::new() });
}

struct Rewriter<'a> {
    resolved: &'a BTreeMap<String, Resolved>,
    local: HashSet<String>,
    /// Every table of the statement: for what stands outside any SELECT, such as ORDER BY.
    outermost: Scope,
    /// The tables of each SELECT that is open, the innermost last.
    scopes: Vec<Scope>,
}

impl VisitorMut for Rewriter<'_> {
    type Break = ();

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        let mut scope = Scope::default();
        for table in &select.from {
            scope.add_joined(table, self.resolved);
        }
        self.scopes.push(scope);
        for item in &mut select.projection {
            self.keep_typed_name(item);
            if let SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) = item {
                self.exact_wildcard(name);
            }
        }
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &mut Select) -> ControlFlow<()> {
        self.scopes.pop();
        ControlFlow::Continue(())
    }

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
            Expr::Identifier(ident) => self.spell(ident, None),
            Expr::CompoundIdentifier(idents) => self.compound(idents),
            Expr::AtTimeZone { .. } => at_time_zone::write_out(expr),
            other => exponent::write_out(other),
        }
        ControlFlow::Continue(())
    }
}

impl Rewriter<'_> {
    /// A selected column keeps the name under which it was asked for, so that the query around it finds it under that name.
    fn keep_typed_name(&self, item: &mut SelectItem) {
        let SelectItem::UnnamedExpr(expr) = item else { return };
        let typed = match expr {
            Expr::Identifier(ident) => ident.clone(),
            Expr::CompoundIdentifier(idents) => match idents.last() {
                Some(last) => last.clone(),
                None => return,
            },
            _ => return,
        };
        let alias = match expr {
            Expr::CompoundIdentifier(idents) if idents.len() > 1 => Some(folded(&idents[idents.len() - 2])),
            _ => None,
        };
        let mut spelled = typed.clone();
        self.spell(&mut spelled, alias.as_deref());
        if spelled != typed {
            *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias: Ident::with_quote('"', typed.value.to_lowercase()) };
        }
    }

    fn compound(&self, idents: &mut Vec<Ident>) {
        let Some((column, qualifier)) = idents.split_last_mut() else { return };
        let typed = ObjectName::from(qualifier.to_vec()).to_string();
        self.spell(column, qualifier.last().map(folded).as_deref());
        if let [only] = qualifier {
            if let Some(table) = self.exact_table(only) {
                let mut exact = idents_of(table);
                exact.push(column.clone());
                *idents = exact;
            }
            return;
        }
        if let Some(resolved) = self.resolved.get(&typed) {
            let mut exact = idents_of(resolved.name());
            exact.push(column.clone());
            *idents = exact;
        }
    }

    /// `t.*` of a table without an alias: the planner knows such a table by its full name only.
    fn exact_wildcard(&self, name: &mut ObjectName) {
        let exact = match name.0.as_slice() {
            [ObjectNamePart::Identifier(only)] => {
                let called = folded(only);
                self.scopes.iter().rev().find_map(|scope| scope.tables.get(&called)).and_then(Option::as_ref)
            }
            _ => self.resolved.get(&name.to_string()).map(Resolved::name),
        };
        if let Some(exact) = exact {
            *name = exact_name(exact);
        }
    }

    /// The table that an unquoted name in front of a column means, where its source spells it otherwise.
    fn exact_table(&self, qualifier: &Ident) -> Option<&TableName> {
        let lower = Some(qualifier.value.to_lowercase()).filter(|_| qualifier.quote_style.is_none())?;
        let known = self.scopes.iter().rev().chain([&self.outermost]).find_map(|scope| scope.tables.get(&lower))?;
        known.as_ref().filter(|table| table.table != lower)
    }

    /// An unquoted name that no table in reach spells in lower case, and that just one spelling fits, becomes that spelling.
    fn spell(&self, ident: &mut Ident, alias: Option<&str>) {
        if ident.quote_style.is_some() {
            return;
        }
        let lower = ident.value.to_lowercase();
        let outermost = std::iter::once(&self.outermost).filter(|_| self.scopes.is_empty());
        for scope in self.scopes.iter().rev().chain(outermost) {
            let Some(spellings) = scope.spellings(&lower, alias) else { continue };
            if spellings.contains(&lower) {
                return;
            }
            if let (1, Some(only)) = (spellings.len(), spellings.iter().next()) {
                *ident = Ident::with_quote('"', only);
            }
            return;
        }
    }
}

fn exact_name(name: &TableName) -> ObjectName {
    ObjectName::from(idents_of(name))
}

fn idents_of(name: &TableName) -> Vec<Ident> {
    [name.source.as_str(), &name.schema, &name.table].map(|part| Ident::with_quote('"', part)).to_vec()
}

/// How the columns of some tables are spelled: by lower-case name, for each alias and over all.
#[derive(Default)]
struct Scope {
    all: HashMap<String, HashSet<String>>,
    by_alias: HashMap<String, HashMap<String, HashSet<String>>>,
    /// By what they are called; no table where that is an alias, or a name of several.
    tables: HashMap<String, Option<TableName>>,
}

/// A table as it stands in a statement.
struct Named {
    /// The alias, or the bare name.
    called: String,
    aliased: bool,
    /// The name as typed.
    typed: String,
}

impl Scope {
    fn add(&mut self, named: &Named, table: Option<&Resolved>) {
        let exact = table.filter(|_| !named.aliased).map(|table| table.name().clone());
        let known = self.tables.entry(named.called.clone()).or_insert_with(|| exact.clone());
        if *known != exact {
            *known = None;
        }
        let Some(table) = table else { return };
        let own = self.by_alias.entry(named.called.clone()).or_default();
        for column in column_names(table) {
            let lower = column.to_lowercase();
            own.entry(lower.clone()).or_default().insert(column.clone());
            self.all.entry(lower).or_default().insert(column);
        }
    }

    fn add_joined(&mut self, table: &TableWithJoins, resolved: &BTreeMap<String, Resolved>) {
        self.add_factor(&table.relation, resolved);
        for join in &table.joins {
            self.add_factor(&join.relation, resolved);
        }
    }

    fn add_factor(&mut self, factor: &TableFactor, resolved: &BTreeMap<String, Resolved>) {
        match factor {
            TableFactor::NestedJoin { table_with_joins, .. } => self.add_joined(table_with_joins, resolved),
            // `SELECT *` hands the spellings of its own tables on.
            TableFactor::Derived { subquery, .. } => {
                if let SetExpr::Select(select) = subquery.body.as_ref()
                    && select.projection.iter().any(|item| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)))
                {
                    for table in &select.from {
                        self.add_joined(table, resolved);
                    }
                }
            }
            other => {
                if let Some(table) = named(other) {
                    self.add(&table, resolved.get(&table.typed));
                }
            }
        }
    }

    fn spellings(&self, lower: &str, alias: Option<&str>) -> Option<&HashSet<String>> {
        match alias {
            Some(alias) => self.by_alias.get(alias)?.get(lower),
            None => self.all.get(lower),
        }
    }
}

pub(super) fn column_names(table: &Resolved) -> Vec<String> {
    match table {
        Resolved::Live { table, .. } => table.columns.iter().map(|column| column.name.clone()).collect(),
        Resolved::Lake { table, .. } => table.schema().fields().iter().map(|field| field.name().clone()).collect(),
        Resolved::System(_) | Resolved::Catalog(_) => Vec::new(),
    }
}

fn named(factor: &TableFactor) -> Option<Named> {
    let TableFactor::Table { name, alias, args: None, .. } = factor else { return None };
    let last = name.0.last().and_then(|part| part.as_ident());
    let called = alias.as_ref().map(|alias| &alias.name).or(last)?;
    Some(Named { called: folded(called), aliased: alias.is_some(), typed: name.to_string() })
}

/// Every table of a statement.
#[derive(Default)]
struct Everything {
    tables: Vec<Named>,
}

impl Visitor for Everything {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
        self.tables.extend(named(factor));
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::parse;

    #[test]
    fn local_names_are_no_tables() {
        let statement = parse("WITH c AS (SELECT * FROM a.b.t) SELECT * FROM c, generate_series(1, 2), a.b.u").unwrap();
        let names: Vec<String> = relations(&statement).iter().map(ToString::to_string).collect();
        assert_eq!(names, ["a.b.t", "a.b.u"]);
    }
}
