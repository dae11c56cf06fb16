// SPDX-License-Identifier: Apache-2.0
//! `SELECT n + z AS n FROM t ORDER BY n + z`: an expression in ORDER BY is over the columns of the tables; only a name by itself may be
//! that of an output. The planner looks among the outputs first, so such a column gets its table's name in front.

use super::names::Resolved;
use super::outer_aliases::Scopes;
use super::rewrite::folded;
use datafusion::sql::sqlparser::ast::{Expr, Ident, OrderByKind, Query, Select, SelectItem, SetExpr, Statement, Visit, VisitMut, Visitor, VisitorMut};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// Names the tables of such columns. `resolved` is keyed by the name as typed.
pub(super) fn make_plain(statement: &mut Statement, resolved: &BTreeMap<String, Resolved>) {
    let _ = VisitMut::visit(statement, &mut Inputs { scopes: Scopes::over(resolved) });
}

struct Inputs<'r> {
    scopes: Scopes<'r>,
}

impl Inputs<'_> {
    fn qualify(&self, query: &mut Query) {
        let SetExpr::Select(select) = query.body.as_ref() else { return };
        let hidden = hidden_columns(select);
        let Some(order_by) = query.order_by.as_mut().filter(|_| !hidden.is_empty()) else { return };
        let OrderByKind::Expressions(orders) = &mut order_by.kind else { return };
        for order in orders.iter_mut().filter(|order| !matches!(order.expr, Expr::Identifier(_))) {
            let _ = VisitMut::visit(&mut order.expr, &mut Qualify { scopes: &self.scopes, hidden: &hidden, depth: 0 });
        }
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

/// Columns without a table's name.
#[derive(Default)]
struct Used {
    names: BTreeSet<String>,
}

impl Visitor for Used {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if let Expr::Identifier(name) = expr {
            self.names.insert(folded(name));
        }
        ControlFlow::Continue(())
    }
}

struct Qualify<'a, 'r> {
    scopes: &'a Scopes<'r>,
    hidden: &'a BTreeMap<String, bool>,
    /// Queries inside of the expression; their names are their own business.
    depth: usize,
}

impl VisitorMut for Qualify<'_, '_> {
    type Break = ();

    fn pre_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
        self.depth -= 1;
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Identifier(name) = &*expr
            && self.depth == 0
            && let Some(an_input) = self.hidden.get(&folded(name))
            && let Some(table) = self.scopes.table_with(name, *an_input)
        {
            *expr = Expr::CompoundIdentifier(vec![Ident::with_quote('"', table), name.clone()]);
        }
        ControlFlow::Continue(())
    }
}

impl VisitorMut for Inputs<'_> {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        self.scopes.enter_query(query);
        self.qualify(query);
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, _: &mut Query) -> ControlFlow<()> {
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
        assert_eq!(plain("SELECT n + z AS n FROM c ORDER BY n + z, n"), "SELECT n + z AS n FROM c ORDER BY \"c\".n + z, n");
        assert_eq!(plain("SELECT -n AS n FROM (SELECT 1 AS n) q ORDER BY abs(n) DESC"), "SELECT -n AS n FROM (SELECT 1 AS n) q ORDER BY abs(\"q\".n) DESC");
        assert_eq!(plain("SELECT max(n) AS n FROM c GROUP BY z ORDER BY -max(n)"), "SELECT max(n) AS n FROM c GROUP BY z ORDER BY -max(\"c\".n)");
        same("SELECT n AS n FROM c ORDER BY n + 1");
        same("SELECT z AS m FROM c ORDER BY m + 1");
        same("SELECT -n AS n FROM c ORDER BY (SELECT max(n) FROM d)");
        same("SELECT -n AS n FROM c, d ORDER BY n + 1");
    }
}
