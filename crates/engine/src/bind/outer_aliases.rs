// SPDX-License-Identifier: Apache-2.0
//! In `FROM a t … (SELECT … FROM b WHERE b.id = t.id)` the `t` is the table, also where `b` has a column of that name: a name in front
//! of a point is looked for among the tables, of all queries around it, and among columns only after that. The planner looks for
//! columns of the innermost query first. A table that could be taken for a column is therefore given a name that no column has.

use super::names::Resolved;
use super::rewrite::{column_names, folded};
use datafusion::sql::sqlparser::ast::{
    Expr, FunctionArg, FunctionArgExpr, FunctionArguments, Ident, ObjectName, Query, Select, SelectItem, SelectItemQualifiedWildcardKind, SetExpr, Statement,
    TableAlias, TableFactor, TableWithJoins, Visit, VisitMut, Visitor, VisitorMut,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// Renames tables that a query inside of theirs could take for a column. `resolved` is keyed by the name as typed.
pub(super) fn make_plain(statement: &mut Statement, resolved: &BTreeMap<String, Resolved>) {
    let mut finder = Finder { scopes: Scopes::over(resolved), hidden: BTreeSet::new() };
    let _ = Visit::visit(&*statement, &mut finder);
    let hidden = finder.hidden;
    if !hidden.is_empty() {
        let _ = VisitMut::visit(statement, &mut Renamer { scopes: Scopes::over(resolved), hidden });
    }
}

/// One table of a FROM clause.
struct Item {
    /// By which it is known: its alias, or the last part of its name.
    called: String,
    /// All parts of its name, where it has no alias.
    full: Option<Vec<String>>,
    /// Lower-case names of its columns; `None` where they are not known here.
    columns: Option<BTreeSet<String>>,
}

/// The tables of one SELECT. The same SELECT has the same number in each walk over a statement.
struct Scope {
    number: usize,
    items: Vec<Item>,
}

/// A table, by the number of its scope and its place in it.
type Place = (usize, usize);

/// The SELECTs that are open, the innermost last.
pub(super) struct Scopes<'r> {
    resolved: &'r BTreeMap<String, Resolved>,
    open: Vec<Scope>,
    next: usize,
    /// For each query that is open whether its SELECT was opened with it, so that its ORDER BY sees the tables.
    with_query: Vec<bool>,
}

impl<'r> Scopes<'r> {
    pub(super) fn over(resolved: &'r BTreeMap<String, Resolved>) -> Self {
        Self { resolved, open: Vec::new(), next: 0, with_query: Vec::new() }
    }

    pub(super) fn enter_query(&mut self, query: &Query) {
        let select = match query.body.as_ref() {
            SetExpr::Select(select) => Some(select),
            _ => None,
        };
        if let Some(select) = select {
            self.open(select);
        }
        self.with_query.push(select.is_some());
    }

    pub(super) fn leave_query(&mut self) {
        if self.with_query.pop() == Some(true) {
            self.open.pop();
        }
    }

    /// Whether the SELECT was opened now, and not with its query.
    pub(super) fn enter_select(&mut self, select: &Select) -> bool {
        let now = self.with_query.last() != Some(&true);
        if now {
            self.open(select);
        }
        now
    }

    pub(super) fn leave_select(&mut self) {
        if self.with_query.last() != Some(&true) {
            self.open.pop();
        }
    }

    fn open(&mut self, select: &Select) {
        let mut items = Vec::new();
        select.from.iter().for_each(|table| self.add_joined(table, &mut items));
        let scope = Scope { number: self.next, items };
        self.next += 1;
        self.open.push(scope);
    }

    fn add_joined(&self, table: &TableWithJoins, items: &mut Vec<Item>) {
        self.add_factor(&table.relation, items);
        table.joins.iter().for_each(|join| self.add_factor(&join.relation, items));
    }

    fn add_factor(&self, factor: &TableFactor, items: &mut Vec<Item>) {
        match factor {
            TableFactor::NestedJoin { table_with_joins, alias: None, .. } => self.add_joined(table_with_joins, items),
            TableFactor::Table { name, alias, args: None, .. } => {
                let parts: Vec<String> = name.0.iter().filter_map(|part| part.as_ident()).map(folded).collect();
                let Some(last) = parts.last().cloned() else { return };
                let known = self.resolved.get(&name.to_string()).map(column_names).filter(|columns| !columns.is_empty());
                let columns = alias.as_ref().and_then(listed).or_else(|| known.map(|columns| columns.iter().map(|name| name.to_lowercase()).collect()));
                let called = alias.as_ref().map_or(last, |alias| folded(&alias.name));
                items.push(Item { called, full: alias.is_none().then_some(parts), columns });
            }
            other => {
                if let Some(alias) = alias_of(other) {
                    items.push(Item { called: folded(&alias.name), full: None, columns: listed(alias) });
                }
            }
        }
    }

    /// The table that a qualifier means: that of the innermost query which has one of that name.
    fn find(&self, qualifier: &[Ident]) -> Option<(usize, Place)> {
        let parts: Vec<String> = qualifier.iter().map(folded).collect();
        let means = |item: &Item| match parts.as_slice() {
            [only] => item.called == *only,
            several => item.full.as_deref() == Some(several),
        };
        let depth = self.open.iter().rposition(|scope| scope.items.iter().any(means))?;
        let scope = &self.open[depth];
        scope.items.iter().position(means).map(|index| (depth, (scope.number, index)))
    }

    /// Whether a table of the innermost query has a column of this name. Where no table is known to, and not all are known, `an_input`
    /// says whether one must.
    pub(super) fn has_column(&self, name: &str, an_input: bool) -> bool {
        let Some(scope) = self.open.last() else { return false };
        let known = scope.items.iter().any(|item| item.columns.as_ref().is_some_and(|columns| columns.contains(&name.to_lowercase())));
        known || an_input && scope.items.iter().any(|item| item.columns.is_none())
    }

    /// Whether the planner could take the first part of a qualifier that means a table at this depth for a column.
    fn hides(&self, first: &Ident, depth: usize) -> bool {
        let name = first.value.to_lowercase();
        let own = &self.open[depth];
        let known = |item: &Item| item.columns.as_ref().is_some_and(|columns| columns.contains(&name));
        let perhaps = |item: &Item| item.columns.as_ref().is_none_or(|columns| columns.contains(&name));
        own.items.iter().any(known) || self.open[depth + 1..].iter().any(|scope| scope.items.iter().any(perhaps))
    }
}

/// The columns that an alias lists.
fn listed(alias: &TableAlias) -> Option<BTreeSet<String>> {
    (!alias.columns.is_empty()).then(|| alias.columns.iter().map(|column| column.name.value.to_lowercase()).collect())
}

fn alias_of(factor: &TableFactor) -> Option<&TableAlias> {
    match factor {
        TableFactor::Table { alias, .. }
        | TableFactor::Derived { alias, .. }
        | TableFactor::TableFunction { alias, .. }
        | TableFactor::Function { alias, .. }
        | TableFactor::UNNEST { alias, .. }
        | TableFactor::NestedJoin { alias, .. } => alias.as_ref(),
        _ => None,
    }
}

fn alias_of_mut(factor: &mut TableFactor) -> Option<&mut Option<TableAlias>> {
    match factor {
        TableFactor::Table { alias, .. }
        | TableFactor::Derived { alias, .. }
        | TableFactor::TableFunction { alias, .. }
        | TableFactor::Function { alias, .. }
        | TableFactor::UNNEST { alias, .. }
        | TableFactor::NestedJoin { alias, .. } => Some(alias),
        _ => None,
    }
}

/// The parts of a name in front of `.*`.
fn idents(name: &ObjectName) -> Vec<Ident> {
    name.0.iter().filter_map(|part| part.as_ident()).cloned().collect()
}

/// Finds the tables whose names are hidden by a column.
struct Finder<'r> {
    scopes: Scopes<'r>,
    hidden: BTreeSet<Place>,
}

impl Visitor for Finder<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<()> {
        self.scopes.enter_query(query);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.scopes.leave_query();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        self.scopes.enter_select(select);
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &Select) -> ControlFlow<()> {
        self.scopes.leave_select();
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if let Expr::CompoundIdentifier(parts) = expr
            && let Some((_, qualifier)) = parts.split_last()
            && let Some((depth, place)) = self.scopes.find(qualifier)
            && self.scopes.hides(&qualifier[0], depth)
        {
            self.hidden.insert(place);
        }
        ControlFlow::Continue(())
    }
}

/// Gives them other names.
struct Renamer<'r> {
    scopes: Scopes<'r>,
    hidden: BTreeSet<Place>,
}

impl Renamer<'_> {
    fn other_name(&self, qualifier: &[Ident]) -> Option<Ident> {
        let (depth, place) = self.scopes.find(qualifier)?;
        let (_, index) = place;
        self.hidden.contains(&place).then(|| other_name(&self.scopes.open[depth].items[index].called))
    }

    fn rename_wildcard(&self, name: &mut ObjectName) {
        if let Some(other) = self.other_name(&idents(name)) {
            *name = ObjectName::from(vec![other]);
        }
    }

    fn rename_tables(&self, select: &mut Select) {
        let Some(scope) = self.scopes.open.last() else { return };
        let mut place = 0;
        let mut rename = |factor: &mut TableFactor| {
            let Some(alias) = alias_of_mut(factor) else { return };
            let hidden = self.hidden.contains(&(scope.number, place));
            if let Some(item) = scope.items.get(place).filter(|_| hidden) {
                let name = other_name(&item.called);
                match alias {
                    Some(alias) => alias.name = name,
                    None => *alias = Some(TableAlias { explicit: true, name, columns: Vec::new(), at: None }),
                }
            }
            place += 1;
        };
        select.from.iter_mut().for_each(|table| each_factor(table, &mut rename));
    }
}

/// Each table that has a place in a scope, in their order.
fn each_factor(table: &mut TableWithJoins, change: &mut impl FnMut(&mut TableFactor)) {
    let joined = table.joins.iter_mut().map(|join| &mut join.relation);
    for factor in std::iter::once(&mut table.relation).chain(joined) {
        match factor {
            TableFactor::NestedJoin { table_with_joins, alias: None, .. } => each_factor(table_with_joins, change),
            TableFactor::Table { args: None, .. } => change(factor),
            other if alias_of(other).is_some() => change(other),
            _ => {}
        }
    }
}

/// A name that no column has.
fn other_name(called: &str) -> Ident {
    Ident::with_quote('"', format!("{called} (table)"))
}

impl VisitorMut for Renamer<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        self.scopes.enter_query(query);
        if let SetExpr::Select(select) = query.body.as_mut() {
            self.rename_tables(select);
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.scopes.leave_query();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        if self.scopes.enter_select(select) {
            self.rename_tables(select);
        }
        for item in &mut select.projection {
            if let SelectItem::QualifiedWildcard(SelectItemQualifiedWildcardKind::ObjectName(name), _) = item {
                self.rename_wildcard(name);
            }
        }
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &mut Select) -> ControlFlow<()> {
        self.scopes.leave_select();
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        match expr {
            Expr::CompoundIdentifier(parts) => {
                if let Some((column, qualifier)) = parts.split_last()
                    && let Some(other) = self.other_name(qualifier)
                {
                    *parts = vec![other, column.clone()];
                }
            }
            Expr::Function(function) => {
                let FunctionArguments::List(list) = &mut function.args else { return ControlFlow::Continue(()) };
                for argument in &mut list.args {
                    if let FunctionArg::Unnamed(FunctionArgExpr::QualifiedWildcard(name)) = argument {
                        self.rename_wildcard(name);
                    }
                }
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }
}
