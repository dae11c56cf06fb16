// SPDX-License-Identifier: Apache-2.0
//! Questions to tables that are always empty here (constraints, indexes, triggers …) have empty answers, whatever they do with the rows.
//! Said so at once, they need none of the array and set functions that the planner lacks.

use super::super::{fixed, information_schema};
use super::words::null_like;
use super::{PG_CATALOG, catalog_table, folded, labels};
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, Ident, JoinOperator, ObjectNamePart, Query, Select, SelectItem,
    SetExpr, Statement, TableFactor, TableWithJoins, Value, ValueWithSpan, Visit, Visitor, VisitorMut,
};
use std::collections::HashSet;
use std::ops::ControlFlow;

/// Aggregates give a row where there is none.
const AGGREGATES: [&str; 10] = ["array_agg", "avg", "bool_and", "bool_or", "count", "json_agg", "max", "min", "string_agg", "sum"];

#[derive(Default)]
pub(super) struct Void {
    /// Common table expressions that turned out to be empty.
    tables: HashSet<String>,
}

impl VisitorMut for Void {
    type Break = ();

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        let empty = query.with.iter().flat_map(|with| &with.cte_tables).filter(|table| is_void(&table.query)).map(|table| folded(&table.alias.name));
        self.tables.extend(empty.collect::<Vec<_>>());
        // What is empty has no order; its columns are not there to be sorted by.
        if is_void(query) {
            query.order_by = None;
            query.limit_clause = None;
        }
        ControlFlow::Continue(())
    }

    fn post_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        if self.empties(select) {
            empty_out(select);
        }
        ControlFlow::Continue(())
    }

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let Some(none) = no_rows(factor) {
            *factor = none;
        }
        if let TableFactor::Derived { lateral, subquery, .. } = factor
            && let SetExpr::Select(select) = subquery.body.as_ref()
            && matches!(select.from.as_slice(), [only] if only.joins.is_empty() && matches!(&only.relation, TableFactor::Derived { subquery, .. } if is_void(subquery)))
        {
            *lateral = false;
        }
        if let TableFactor::Derived { lateral, subquery, .. } = factor
            && is_void(subquery)
        {
            *lateral = false;
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let replaced = match expr {
            Expr::Subquery(query) => self.value(query),
            Expr::Function(function) => match &function.args {
                FunctionArguments::Subquery(query) if is_void(query) && function.name.to_string().eq_ignore_ascii_case("array") => Some(no_elements()),
                _ => None,
            },
            _ => None,
        };
        if let Some(replaced) = replaced {
            *expr = replaced;
        }
        ControlFlow::Continue(())
    }
}

impl Void {
    fn empties(&self, select: &Select) -> bool {
        select.from.iter().any(|from| self.empty(from)) || select.selection.as_ref().is_some_and(never)
    }

    fn empty(&self, from: &TableWithJoins) -> bool {
        let mut empty = self.empty_factor(&from.relation);
        for join in &from.joins {
            let right = self.empty_factor(&join.relation);
            match join.join_operator {
                JoinOperator::Join(_) | JoinOperator::Inner(_) | JoinOperator::CrossJoin(_) | JoinOperator::CrossApply => empty |= right,
                JoinOperator::Left(_) | JoinOperator::LeftOuter(_) | JoinOperator::OuterApply => {}
                JoinOperator::Right(_) | JoinOperator::RightOuter(_) => empty = right,
                JoinOperator::FullOuter(_) => empty &= right,
                _ => return false,
            }
        }
        empty
    }

    fn empty_factor(&self, factor: &TableFactor) -> bool {
        match factor {
            TableFactor::Derived { subquery, .. } => is_void(subquery),
            TableFactor::NestedJoin { table_with_joins, .. } => self.empty(table_with_joins),
            TableFactor::Table { name, args: None, .. } => match catalog_table(name) {
                Some((PG_CATALOG, table)) => fixed::EMPTY.contains(&table.as_str()),
                Some((_, table)) => information_schema::EMPTY.iter().any(|(known, _)| *known == table),
                None => matches!(name.0.as_slice(), [ObjectNamePart::Identifier(only)] if self.tables.contains(&folded(only))),
            },
            TableFactor::Table { args: Some(arguments), .. } => of_nothing(&arguments.args),
            TableFactor::Function { args, .. } => of_nothing(args),
            TableFactor::UNNEST { array_exprs, .. } => !array_exprs.is_empty() && array_exprs.iter().all(|array| column_in(array, &ALWAYS_NULL)),
            _ => false,
        }
    }

    /// The value of a scalar subquery over no rows: NULL, also for the aggregates that are NULL then.
    fn value(&self, query: &Query) -> Option<Expr> {
        let SetExpr::Select(select) = query.body.as_ref() else { return None };
        let [SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }] = select.projection.as_slice() else { return None };
        if is_void(query) {
            // As somebody may have written it too: an aggregate of nothing has a value.
            return (!aggregates(&select.projection[0])).then(|| null_like(expr));
        }
        let ungrouped = matches!(&select.group_by, GroupByExpr::Expressions(expressions, _) if expressions.is_empty()) && select.having.is_none();
        let counts = calls_any(&select.projection[0], &["count", "coalesce", "concat", "concat_ws", "format", "array_cat", "array_append"]);
        (ungrouped && self.empties(select) && !counts).then(|| null_like(expr))
    }
}

/// What holds of nothing here: no column has a collation other than its type's, and rights and options of objects are always NULL.
fn never(selection: &Expr) -> bool {
    match selection {
        Expr::BinaryOp { left, op: BinaryOperator::And, right } => never(left) || never(right),
        Expr::BinaryOp { left, op: BinaryOperator::NotEq, right } => [left, right].into_iter().all(|side| column_in(side, &["attcollation", "typcollation"])),
        Expr::IsNotNull(inner) => column_in(inner, &ALWAYS_NULL),
        Expr::Nested(inner) => never(inner),
        _ => false,
    }
}

/// Columns of the catalog that are never anything but NULL here.
const ALWAYS_NULL: [&str; 11] =
    ["proacl", "typacl", "attacl", "attfdwoptions", "attoptions", "datacl", "nspacl", "relacl", "reloptions", "rolconfig", "useconfig"];

fn column_in(expr: &Expr, names: &[&str]) -> bool {
    let column = match expr {
        Expr::Identifier(ident) => Some(ident),
        Expr::CompoundIdentifier(idents) => idents.last(),
        _ => None,
    };
    column.is_some_and(|column| names.contains(&folded(column).as_str()))
}

/// Functions that give no rows here, as tables without rows: no table has partitions of its own, nobody listens, and the zones are not listed.
fn no_rows(factor: &TableFactor) -> Option<TableFactor> {
    let (TableFactor::Table { name, alias, args: Some(_), .. } | TableFactor::Function { name, alias, .. }) = factor else { return None };
    let function = name.0.last().and_then(ObjectNamePart::as_ident).map(folded)?;
    let columns = match function.as_str() {
        "pg_partition_tree" => "NULL::int AS relid, NULL::int AS parentrelid, NULL::boolean AS isleaf, NULL::int AS level".to_owned(),
        "pg_timezone_names" => "NULL::text AS name, NULL::text AS abbrev, NULL::text AS utc_offset, NULL::boolean AS is_dst".to_owned(),
        "pg_listening_channels" => {
            let column = alias.as_ref().map_or(function, |alias| folded(&alias.name));
            format!("NULL::text AS {}", weir_base::quote_ident(&column))
        }
        _ => return None,
    };
    let Ok(Statement::Query(subquery)) = crate::bind::parse(&format!("SELECT {columns} WHERE false")) else { return None };
    Some(TableFactor::Derived { lateral: false, subquery, alias: alias.clone(), sample: None })
}

/// Whether all that a set function is given is a list that is always NULL.
fn of_nothing(arguments: &[FunctionArg]) -> bool {
    let nothing = |argument: &FunctionArg| matches!(argument, FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) if column_in(expr, &ALWAYS_NULL));
    !arguments.is_empty() && arguments.iter().all(nothing)
}

/// Makes a select say that it is empty. `false` where its columns cannot be told, or where it gives a row all the same.
fn empty_out(select: &mut Select) -> bool {
    let grouped = !matches!(&select.group_by, GroupByExpr::Expressions(expressions, _) if expressions.is_empty());
    if !grouped && (select.projection.iter().any(aggregates) || select.having.is_some()) {
        return false;
    }
    let mut projection = Vec::with_capacity(select.projection.len());
    let mut taken = HashSet::new();
    for item in &select.projection {
        let (expr, alias) = match item {
            SelectItem::UnnamedExpr(expr) => (expr, labels::label_of(expr).unwrap_or_else(|| "?column?".into())),
            SelectItem::ExprWithAlias { expr, alias } => (expr, folded(alias)),
            _ => return false,
        };
        let quoted = matches!(item, SelectItem::ExprWithAlias { alias, .. } if alias.quote_style.is_some());
        let unique = (1..).map(|number| if number == 1 { alias.clone() } else { format!("{alias}_{number}") }).find(|name| taken.insert(name.clone()));
        let name = unique.unwrap_or(alias);
        let plain = name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_') && !name.starts_with(|c: char| c.is_ascii_digit());
        let alias = if quoted || !plain { Ident::with_quote('"', name) } else { Ident::new(name) };
        projection.push(SelectItem::ExprWithAlias { expr: null_like(expr), alias });
    }
    select.projection = projection;
    select.from = Vec::new();
    select.distinct = None;
    select.selection = Some(Expr::value(Value::Boolean(false)));
    select.group_by = GroupByExpr::Expressions(Vec::new(), Vec::new());
    select.having = None;
    true
}

fn aggregates(item: &SelectItem) -> bool {
    calls_any(item, &AGGREGATES)
}

fn calls_any(item: &SelectItem, names: &[&str]) -> bool {
    let mut finder = Finder { names, depth: 0, found: false };
    let _ = item.visit(&mut finder);
    finder.found
}

/// Looks for calls outside of subqueries, whose aggregates are their own.
struct Finder<'a> {
    names: &'a [&'a str],
    depth: usize,
    found: bool,
}

impl Visitor for Finder<'_> {
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
        if let Expr::Function(function) = expr {
            self.found |= self.depth == 0 && self.names.contains(&function.name.to_string().to_ascii_lowercase().as_str());
        }
        ControlFlow::Continue(())
    }
}

fn is_void(query: &Query) -> bool {
    match query.body.as_ref() {
        SetExpr::Select(select) => select.from.is_empty() && matches!(&select.selection, Some(Expr::Value(ValueWithSpan { value: Value::Boolean(false), .. }))),
        SetExpr::Query(inner) => is_void(inner),
        _ => false,
    }
}

/// An empty array, whose texts nobody will miss.
fn no_elements() -> Expr {
    use datafusion::sql::sqlparser::ast::{ArrayElemTypeDef, CastKind, DataType};
    let data_type = DataType::Array(ArrayElemTypeDef::SquareBracket(Box::new(DataType::Text), None));
    Expr::Cast { kind: CastKind::DoubleColon, expr: Box::new(super::words::call("make_array", None)), data_type, array: false, format: None }
}
