// SPDX-License-Identifier: Apache-2.0
//! `SELECT n + z AS n FROM t ORDER BY n + z`: an expression in ORDER BY is over the columns of the tables; only a name by itself may be
//! that of an output. The planner looks among the outputs first, so such an output is called otherwise while the question is planned.

use super::dialect::WeirDialect;
use super::names::Resolved;
use super::outer_aliases::Scopes;
use super::output_names::{UNNAMED, figured};
use super::rewrite::folded;
use datafusion::sql::sqlparser::ast::{
    Expr, Ident, OrderByExpr, OrderByKind, Query, Select, SelectItem, SetExpr, Statement, TableFactor, Visit, VisitMut, Visitor, VisitorMut,
};
use datafusion::sql::sqlparser::parser::Parser;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// Gives such outputs other names, and tells for each of the outermost query what it is called. `resolved` is keyed by the name as typed.
pub(super) fn make_plain(statement: &mut Statement, resolved: &BTreeMap<String, Resolved>) -> BTreeMap<String, String> {
    let mut inputs = Inputs { scopes: Scopes::over(resolved), depth: 0, shown: BTreeMap::new() };
    let _ = VisitMut::visit(statement, &mut inputs);
    inputs.shown
}

struct Inputs<'r> {
    scopes: Scopes<'r>,
    /// Queries that are open.
    depth: usize,
    shown: BTreeMap<String, String>,
}

impl Inputs<'_> {
    /// Outputs whose names stand for a column of a table in some expression of ORDER BY.
    fn hiding(&self, query: &Query) -> BTreeSet<String> {
        let SetExpr::Select(select) = query.body.as_ref() else { return BTreeSet::new() };
        let mut hidden = hidden_columns(select);
        hidden.retain(|name, an_input| self.scopes.has_column(name, *an_input));
        let Some(orders) = orders(query).filter(|_| !hidden.is_empty()) else { return BTreeSet::new() };
        let mut used = Used::default();
        for order in orders.iter().filter(|order| !matches!(order.expr, Expr::Identifier(_))) {
            let _ = Visit::visit(&order.expr, &mut used);
        }
        used.names.into_iter().filter(|name| hidden.contains_key(name)).collect()
    }
}

fn orders(query: &Query) -> Option<&Vec<OrderByExpr>> {
    match &query.order_by.as_ref()?.kind {
        OrderByKind::Expressions(orders) => Some(orders),
        _ => None,
    }
}

/// Names of outputs that were given to something else than the column of that name, and whether the outputs are made of such a column.
fn hidden_columns(select: &Select) -> BTreeMap<String, bool> {
    let mut used = Used::default();
    let _ = Visit::visit(&select.projection, &mut used);
    let renamed = select.projection.iter().filter_map(|item| match item {
        SelectItem::ExprWithAlias { expr, alias } if !matches!(expr, Expr::Identifier(name) if folded(name) == folded(alias)) => Some(folded(alias)),
        _ => None,
    });
    renamed.map(|name| (name.clone(), used.names.contains(&name))).collect()
}

/// Columns without a table's name, but for those in queries inside.
#[derive(Default)]
struct Used {
    names: BTreeSet<String>,
    depth: usize,
}

impl Visitor for Used {
    type Break = ();

    fn pre_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if let Expr::Identifier(name) = expr
            && self.depth == 0
        {
            self.names.insert(folded(name));
        }
        ControlFlow::Continue(())
    }
}

/// A name that no column has.
fn stand_in(name: &str) -> String {
    format!("{name} (output)")
}

/// Renames these outputs, also where ORDER BY has one of them by itself.
fn rename(query: &mut Query, names: &BTreeSet<String>) {
    let other = |name: &Ident| names.contains(&folded(name)).then(|| Ident::with_quote('"', stand_in(&folded(name))));
    if let Some(order_by) = &mut query.order_by
        && let OrderByKind::Expressions(orders) = &mut order_by.kind
    {
        for order in orders {
            if let Expr::Identifier(name) = &mut order.expr
                && let Some(other) = other(name)
            {
                *name = other;
            }
        }
    }
    let SetExpr::Select(select) = query.body.as_mut() else { return };
    for item in &mut select.projection {
        if let SelectItem::ExprWithAlias { alias, .. } = item
            && let Some(other) = other(alias)
        {
            *alias = other;
        }
    }
}

/// What the outputs of a query are called, where each has a name.
fn output_names(query: &Query) -> Option<Vec<Ident>> {
    let SetExpr::Select(select) = query.body.as_ref() else { return None };
    let name = |item: &SelectItem| match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(alias.clone()),
        SelectItem::UnnamedExpr(Expr::Identifier(name)) => Some(name.clone()),
        SelectItem::UnnamedExpr(Expr::CompoundIdentifier(parts)) => parts.last().cloned(),
        SelectItem::UnnamedExpr(expr) => Some(Ident::with_quote('"', figured(expr).unwrap_or_else(|| UNNAMED.to_owned()))),
        _ => None,
    };
    select.projection.iter().map(name).collect()
}

/// Whether `*` is among the outputs.
fn selects_all(query: &Query) -> bool {
    let SetExpr::Select(select) = query.body.as_ref() else { return false };
    select.projection.iter().any(|item| matches!(item, SelectItem::Wildcard(_)))
}

/// Gives outputs that are no columns a name by which they are asked for around the query.
fn name_the_unnamed(query: &mut Query) {
    let SetExpr::Select(select) = query.body.as_mut() else { return };
    for (index, item) in select.projection.iter_mut().enumerate() {
        if let SelectItem::UnnamedExpr(expr) = item
            && !matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_))
        {
            *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias: Ident::with_quote('"', stand_in(&index.to_string())) };
        }
    }
}

/// The query inside of another one that gives the outputs their names back.
fn wrapped(query: Query, names: &[Ident]) -> Option<Query> {
    const FRAME: &str = "SELECT 1 FROM (SELECT 1) AS ordered";
    let mut frame = Parser::new(&WeirDialect).try_with_sql(FRAME).ok()?.parse_query().ok()?;
    let inside = output_names(&query)?;
    let SetExpr::Select(select) = frame.body.as_mut() else { return None };
    let TableFactor::Derived { subquery, .. } = &mut select.from.first_mut()?.relation else { return None };
    **subquery = query;
    let named = inside.into_iter().zip(names).map(|(inside, name)| SelectItem::ExprWithAlias { expr: Expr::Identifier(inside), alias: name.clone() });
    select.projection = named.collect();
    Some(*frame)
}

impl VisitorMut for Inputs<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        self.scopes.enter_query(query);
        self.depth += 1;
        let hiding = self.hiding(query);
        if hiding.is_empty() {
            return ControlFlow::Continue(());
        }
        if self.depth == 1 {
            rename(query, &hiding);
            self.shown.extend(hiding.into_iter().map(|name| (stand_in(&name), name)));
            return ControlFlow::Continue(());
        }
        // Without a limit the order of a query inside of another one is nobody's.
        if query.limit_clause.is_none() && query.fetch.is_none() {
            return ControlFlow::Continue(());
        }
        if selects_all(query) {
            // Two outputs have the name, so nobody around asks for one by it.
            rename(query, &hiding);
            self.shown.extend(hiding.into_iter().map(|name| (stand_in(&name), name)));
            return ControlFlow::Continue(());
        }
        let names = output_names(query);
        if let Some(names) = names {
            let mut inside = query.clone();
            rename(&mut inside, &hiding);
            name_the_unnamed(&mut inside);
            if let Some(wrapped) = wrapped(inside, &names) {
                *query = wrapped;
            }
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth -= 1;
        self.scopes.leave_query();
        ControlFlow::Continue(())
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        self.scopes.enter_select(select);
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, _: &mut Select) -> ControlFlow<()> {
        self.scopes.leave_select();
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::parse;

    fn plain(sql: &str) -> String {
        let mut statement = parse(sql).unwrap();
        make_plain(&mut statement, &BTreeMap::new());
        statement.to_string()
    }

    #[test]
    fn expressions_are_over_inputs_and_names_over_outputs() {
        let same = |sql: &str| assert_eq!(plain(sql), sql);
        assert_eq!(plain("SELECT n + z AS n FROM c ORDER BY n + z, n"), "SELECT n + z AS \"n (output)\" FROM c ORDER BY n + z, \"n (output)\"");
        assert_eq!(plain("SELECT max(n) AS n FROM c GROUP BY z ORDER BY -max(n)"), "SELECT max(n) AS \"n (output)\" FROM c GROUP BY z ORDER BY -max(n)");
        assert_eq!(
            plain("SELECT n FROM (SELECT -n AS n, z FROM c ORDER BY abs(n) LIMIT 1) q"),
            "SELECT n FROM (SELECT \"n (output)\" AS n, z AS z FROM (SELECT -n AS \"n (output)\", z FROM c ORDER BY abs(n) LIMIT 1) AS ordered) q"
        );
        assert_eq!(
            plain("SELECT * FROM (SELECT -n AS n, 1, max(z) FROM c ORDER BY n + 0 LIMIT 1) q"),
            "SELECT * FROM (SELECT \"n (output)\" AS n, \"1 (output)\" AS \"?column?\", \"2 (output)\" AS \"max\" \
             FROM (SELECT -n AS \"n (output)\", 1 AS \"1 (output)\", max(z) AS \"2 (output)\" FROM c ORDER BY n + 0 LIMIT 1) AS ordered) q"
        );
        assert_eq!(
            plain("SELECT * FROM (SELECT *, -n AS n FROM c ORDER BY abs(n) LIMIT 1) q"),
            "SELECT * FROM (SELECT *, -n AS \"n (output)\" FROM c ORDER BY abs(n) LIMIT 1) q"
        );
        same("SELECT n AS n FROM c ORDER BY n + 1");
        same("SELECT z AS m FROM c ORDER BY m + 1");
        same("SELECT -n AS n FROM c ORDER BY n");
        same("SELECT -n AS n FROM c ORDER BY (SELECT max(n) FROM d)");
        same("SELECT n FROM (SELECT -n AS n FROM c ORDER BY abs(n)) q");
    }
}
