// SPDX-License-Identifier: Apache-2.0
//! A correlated subquery that stands for one value must be an aggregate for the planner. Over the catalog it gives one row at most
//! (in Postgres more would be an error), and of one value the greatest is that value.

use super::words::call;
use datafusion::sql::sqlparser::ast::{Expr, GroupByExpr, Query, Select, SelectItem, SetExpr, TableFactor, Visit, Visitor, VisitorMut};
use std::collections::HashSet;
use std::ops::ControlFlow;

pub(super) struct Subqueries;

impl VisitorMut for Subqueries {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Subquery(query) = expr {
            aggregate(query);
        }
        ControlFlow::Continue(())
    }
}

fn aggregate(query: &mut Query) {
    let correlated = correlated(query);
    let bounded = query.limit_clause.is_some() || query.fetch.is_some() || query.with.is_some();
    let SetExpr::Select(select) = query.body.as_mut() else { return };
    let grouped = !matches!(&select.group_by, GroupByExpr::Expressions(expressions, _) if expressions.is_empty());
    if !correlated || bounded || grouped || select.distinct.is_some() || calls_aggregate(select) {
        return;
    }
    let [SelectItem::UnnamedExpr(value) | SelectItem::ExprWithAlias { expr: value, .. }] = select.projection.as_mut_slice() else { return };
    *value = call("max", Some(value.clone()));
    query.order_by = None;
}

fn calls_aggregate(select: &Select) -> bool {
    let [SelectItem::UnnamedExpr(value) | SelectItem::ExprWithAlias { expr: value, .. }] = select.projection.as_slice() else { return false };
    matches!(value, Expr::Function(function) if ["array_agg", "bool_or", "count", "max", "min", "string_agg", "sum"].contains(&function.name.to_string().to_ascii_lowercase().as_str()))
}

/// Whether a column of a table outside is named.
fn correlated(query: &Query) -> bool {
    #[derive(Default)]
    struct Finder {
        inside: HashSet<String>,
        named: HashSet<String>,
    }
    impl Visitor for Finder {
        type Break = ();

        fn pre_visit_table_factor(&mut self, factor: &TableFactor) -> ControlFlow<()> {
            let alias = match factor {
                TableFactor::Table { name, alias, .. } => alias.as_ref().map(|alias| &alias.name).or_else(|| super::last(name)),
                TableFactor::Derived { alias, .. } => alias.as_ref().map(|alias| &alias.name),
                _ => None,
            };
            self.inside.extend(alias.map(super::folded));
            ControlFlow::Continue(())
        }

        fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
            if let Expr::CompoundIdentifier(idents) = expr
                && let Some(qualifier) = idents.len().checked_sub(2).map(|at| &idents[at])
            {
                self.named.insert(super::folded(qualifier));
            }
            ControlFlow::Continue(())
        }
    }
    let mut finder = Finder::default();
    let _ = query.visit(&mut finder);
    !finder.named.is_subset(&finder.inside)
}
