// SPDX-License-Identifier: Apache-2.0
//! Columns that the planner would give one name: it leaves casts out of names, so `sum(a)` and `sum(a::numeric)` are twins to it, and a
//! question with both an error. While names are bound, their casts are calls of a function that says its type; the calls go, the names stay.

use crate::{functions, walk};
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::sqlparser::ast::{
    Expr, Function, FunctionArg, FunctionArgExpr, FunctionArgumentList, FunctionArguments, GroupByExpr, Ident, ObjectName, OrderByKind, Query, Select,
    SelectItem, SetExpr, Statement, TableFactor, Value, Visit, VisitMut, Visitor, VisitorMut,
};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// Marks the casts of questions with twins. Whether there were any.
pub(crate) fn mark(statement: &mut Statement) -> bool {
    let mut marker = Marker { marked: false };
    let _ = VisitMut::visit(statement, &mut marker);
    marker.marked
}

/// The plan without the marks, its columns called as with them.
pub(crate) fn without_marks(plan: LogicalPlan) -> Result<LogicalPlan> {
    let unmarked = plan.transform_up_with_subqueries(|node| {
        walk::expressions(node, |expr| Ok(functions::typed(&expr).map_or_else(|| Transformed::no(expr), Transformed::yes)))
    });
    unmarked.data()
}

struct Marker {
    marked: bool,
}

impl VisitorMut for Marker {
    type Break = ();

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        let Query { body, order_by, .. } = query;
        let Some(select) = selected(body) else { return ControlFlow::Continue(()) };
        if !has_twins(select) {
            return ControlFlow::Continue(());
        }
        self.marked = true;
        let mut calls = Calls::default();
        let _ = VisitMut::visit(&mut select.projection, &mut calls);
        let _ = VisitMut::visit(&mut select.group_by, &mut calls);
        let _ = VisitMut::visit(&mut select.having, &mut calls);
        let _ = VisitMut::visit(&mut select.qualify, &mut calls);
        if let Some(OrderByKind::Expressions(keys)) = order_by.as_mut().map(|order| &mut order.kind) {
            let _ = VisitMut::visit(keys, &mut calls);
        }
        ControlFlow::Continue(())
    }
}

fn selected(body: &mut SetExpr) -> Option<&mut Select> {
    match body {
        SetExpr::Select(select) => Some(select),
        SetExpr::Query(query) => selected(&mut query.body),
        _ => None,
    }
}

/// Whether two calls, or two keys of GROUP BY, differ in their casts alone.
fn has_twins(select: &Select) -> bool {
    let mut names = Names::default();
    if let GroupByExpr::Expressions(keys, _) = &select.group_by {
        keys.iter().for_each(|key| names.add(meant(key, &select.projection)));
    }
    let _ = Visit::visit(&select.projection, &mut names);
    let _ = Visit::visit(&select.having, &mut names);
    let _ = Visit::visit(&select.qualify, &mut names);
    names.twins
}

/// What a key stands for that is the place or the name of something selected.
fn meant<'a>(key: &'a Expr, selected: &'a [SelectItem]) -> &'a Expr {
    let named = |name: &Ident| selected.iter().find(|item| matches!(item, SelectItem::ExprWithAlias { alias, .. } if alias.value == name.value));
    let item = match key {
        Expr::Value(value) => match &value.value {
            Value::Number(place, _) => place.parse::<usize>().ok().and_then(|place| selected.get(place.wrapping_sub(1))),
            _ => None,
        },
        Expr::Identifier(name) => named(name),
        _ => None,
    };
    match item {
        Some(SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) => expr,
        _ => key,
    }
}

#[derive(Default)]
struct Names {
    /// What each is called by the planner, and how it is written.
    written: HashMap<String, String>,
    twins: bool,
}

impl Names {
    fn add(&mut self, expr: &Expr) {
        let mut plain = expr.clone();
        let _ = VisitMut::visit(&mut plain, &mut WithoutCasts);
        let written = expr.to_string();
        self.twins |= *self.written.entry(plain.to_string()).or_insert_with(|| written.clone()) != written;
    }
}

impl Visitor for Names {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        if matches!(expr, Expr::Function(_)) {
            self.add(expr);
        }
        ControlFlow::Continue(())
    }
}

/// Nor is there a difference between `count(*)` and `count(1)`.
struct WithoutCasts;

impl VisitorMut for WithoutCasts {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Function(Function { args: FunctionArguments::List(list), .. }) = expr {
            for argument in list.args.iter_mut().filter(|argument| matches!(argument, FunctionArg::Unnamed(FunctionArgExpr::Wildcard))) {
                *argument = FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::value(Value::Number("1".to_owned(), false))));
            }
        }
        while let Expr::Cast { expr: inner, .. } | Expr::Nested(inner) = expr {
            *expr = std::mem::replace(inner.as_mut(), Expr::value(Value::Null));
        }
        ControlFlow::Continue(())
    }
}

/// Turns casts into calls, but not those inside FROM, where functions of tables want constants.
#[derive(Default)]
struct Calls {
    tables: usize,
}

impl VisitorMut for Calls {
    type Break = ();

    fn pre_visit_table_factor(&mut self, _: &mut TableFactor) -> ControlFlow<()> {
        self.tables += 1;
        ControlFlow::Continue(())
    }

    fn post_visit_table_factor(&mut self, _: &mut TableFactor) -> ControlFlow<()> {
        self.tables -= 1;
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if self.tables == 0
            && let Expr::Cast { data_type, .. } = expr
        {
            let data_type = Expr::value(Value::SingleQuotedString(data_type.to_string()));
            let cast = std::mem::replace(expr, Expr::value(Value::Null));
            *expr = call(functions::TYPED, [cast, data_type]);
        }
        ControlFlow::Continue(())
    }
}

fn call(name: &str, arguments: [Expr; 2]) -> Expr {
    let args = arguments.into_iter().map(|argument| FunctionArg::Unnamed(FunctionArgExpr::Expr(argument))).collect();
    Expr::Function(Function {
        name: ObjectName::from(vec![Ident::new(name)]),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList { duplicate_treatment: None, args, clauses: Vec::new() }),
        filter: None,
        null_treatment: None,
        over: None,
        within_group: Vec::new(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::parse;

    fn marked(sql: &str) -> (bool, String) {
        let mut statement = parse(sql).unwrap();
        (mark(&mut statement), statement.to_string())
    }

    #[test]
    fn what_differs_in_casts_alone_is_marked() {
        let (twins, sql) = marked("SELECT sum(a), sum(CAST(a AS NUMERIC)) FROM t");
        assert!(twins);
        assert_eq!(sql, "SELECT sum(a), sum(__weir_typed(CAST(a AS NUMERIC), 'NUMERIC')) FROM t");
        assert!(marked("SELECT count(*) FROM t GROUP BY CAST(a AS DATE), a").0);
        assert!(marked("SELECT count(*), count(CAST(1 AS INT)) FROM t").0);
        assert!(marked("SELECT a, CAST(a AS TEXT) FROM t GROUP BY 1, 2").0);
        assert!(marked("SELECT a, CAST(a AS TEXT) AS t FROM t GROUP BY a, t").0);
        assert!(marked("SELECT 1 WHERE EXISTS (SELECT max((a)), max(CAST(a AS INT)) FROM t)").0);
    }

    #[test]
    fn other_questions_stay_as_they_are() {
        for sql in ["SELECT sum(CAST(a AS INT)), sum(CAST(b AS INT)) FROM t", "SELECT CAST(a AS INT), CAST(a AS BIGINT) FROM t", "SELECT max(a), max(a) FROM t"]
        {
            assert_eq!(marked(sql), (false, sql.to_owned()));
        }
    }
}
