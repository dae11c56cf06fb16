// SPDX-License-Identifier: Apache-2.0
//! What stands where it cannot: window functions outside of the selected columns and ORDER BY, aggregates of aggregates, joins without a
//! condition, a table's name twice. The query engine notices late, in words of its own, or not at all.

use super::rewrite::folded;
use datafusion::sql::sqlparser::ast::{
    DuplicateTreatment, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, Ident, Join, JoinConstraint, JoinOperator, LimitClause,
    Query, Select, Statement, TableFactor, ValueWithSpan, Visit, Visitor, WindowFrame, WindowFrameBound, WindowType,
};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use weir_base::{Error, ErrorCode, Result};

/// Functions that are nothing without a window, and how many arguments they take.
const WINDOWS: [(&str, usize, usize); 9] = [
    ("row_number", 0, 0),
    ("rank", 0, 0),
    ("dense_rank", 0, 0),
    ("percent_rank", 0, 0),
    ("cume_dist", 0, 0),
    ("ntile", 1, 1),
    ("lag", 1, 3),
    ("lead", 1, 3),
    ("nth_value", 2, 2),
];

const AGGREGATES: [&str; 19] = [
    "count",
    "sum",
    "avg",
    "min",
    "max",
    "string_agg",
    "array_agg",
    "bool_and",
    "bool_or",
    "every",
    "bit_and",
    "bit_or",
    "stddev",
    "stddev_samp",
    "stddev_pop",
    "variance",
    "var_samp",
    "var_pop",
    "corr",
];

/// Errors: 42P20, 42809, 42803, 42883, 42712, 42601, as PostgreSQL has them.
pub(super) fn check(statement: &Statement) -> Result<()> {
    match Visit::visit(statement, &mut Misplaced) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

struct Misplaced;

impl Visitor for Misplaced {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &Query) -> ControlFlow<Error> {
        broken(checked_limit(query))
    }

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<Error> {
        broken(checked_select(select))
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Error> {
        match expr {
            Expr::Function(function) => broken(checked_function(function)),
            Expr::Like { escape_char: Some(escape), .. }
            | Expr::ILike { escape_char: Some(escape), .. }
            | Expr::SimilarTo { escape_char: Some(escape), .. } => broken(checked_escape(escape)),
            _ => ControlFlow::Continue(()),
        }
    }
}

fn broken(checked: Result<()>) -> ControlFlow<Error> {
    match checked {
        Ok(()) => ControlFlow::Continue(()),
        Err(error) => ControlFlow::Break(error),
    }
}

/// Error: 22025 for an escape of several characters.
fn checked_escape(escape: &ValueWithSpan) -> Result<()> {
    match escape.value.clone().into_string().map_or(0, |escape| escape.chars().count()) {
        0 | 1 => Ok(()),
        _ => Err(Error::new(ErrorCode::BadEscape, "invalid escape string").with_hint("the escape is one character, or none: ESCAPE ''")),
    }
}

fn checked_limit(query: &Query) -> Result<()> {
    let Some(LimitClause::LimitOffset { limit, offset, .. }) = &query.limit_clause else { return Ok(()) };
    for (clause, rows) in [("LIMIT", limit.as_ref()), ("OFFSET", offset.as_ref().map(|offset| &offset.value))] {
        if rows.is_some_and(|rows| Found::in_expr(rows).columns) {
            let error = Error::new(ErrorCode::BadPosition, format!("argument of {clause} must not contain variables"));
            return Err(error.with_hint("number the rows in a subquery with row_number() OVER (…), and filter on the number"));
        }
    }
    Ok(())
}

fn checked_select(select: &Select) -> Result<()> {
    for (clause, condition) in [("WHERE", &select.selection), ("HAVING", &select.having)] {
        condition.iter().try_for_each(|condition| without_windows(condition, clause))?;
    }
    if let GroupByExpr::Expressions(keys, _) = &select.group_by {
        keys.iter().try_for_each(|key| without_windows(key, "GROUP BY"))?;
    }
    for join in select.from.iter().flat_map(|table| &table.joins) {
        checked_join(join)?;
    }
    let factors = select.from.iter().flat_map(|table| std::iter::once(&table.relation).chain(table.joins.iter().map(|join| &join.relation)));
    let mut known = BTreeSet::new();
    match factors.filter_map(called).find(|name| !known.insert(name.clone())) {
        Some(twice) => Err(Error::new(ErrorCode::DuplicateName, format!("table name {twice} specified more than once"))
            .with_hint("give one of the tables an alias of its own: FROM t AS a, t AS b")),
        None => Ok(()),
    }
}

/// By what a table is called in its query: the alias, or the name as it was typed.
fn called(factor: &TableFactor) -> Option<String> {
    match factor {
        TableFactor::Table { alias: Some(alias), .. } | TableFactor::Derived { alias: Some(alias), .. } => Some(folded(&alias.name)),
        TableFactor::Table { name, alias: None, args: None, .. } => {
            Some(name.0.iter().filter_map(|part| part.as_ident()).map(folded).collect::<Vec<_>>().join("."))
        }
        _ => None,
    }
}

fn checked_join(join: &Join) -> Result<()> {
    use JoinOperator::{FullOuter, Inner, Left, LeftOuter, Right, RightOuter};
    let (JoinOperator::Join(constraint)
    | Inner(constraint)
    | Left(constraint)
    | LeftOuter(constraint)
    | Right(constraint)
    | RightOuter(constraint)
    | FullOuter(constraint)) = &join.join_operator
    else {
        return Ok(());
    };
    match constraint {
        JoinConstraint::None => {
            Err(Error::new(ErrorCode::Syntax, "JOIN without a condition").with_hint("write ON a.id = b.id or USING (id), or CROSS JOIN for each row with each"))
        }
        JoinConstraint::On(condition) => without_windows(condition, "JOIN conditions"),
        _ => Ok(()),
    }
}

fn without_windows(expr: &Expr, clause: &str) -> Result<()> {
    match Found::in_expr(expr).windows {
        false => Ok(()),
        true => Err(Error::new(ErrorCode::MisplacedWindow, format!("window functions are not allowed in {clause}"))
            .with_hint("compute it in a subquery, and filter or group around it")),
    }
}

/// What there is in an expression, but for queries inside.
#[derive(Default)]
struct Found {
    depth: usize,
    windows: bool,
    aggregates: bool,
    columns: bool,
}

impl Found {
    fn in_expr(expr: &Expr) -> Self {
        let mut found = Self::default();
        let _ = Visit::visit(expr, &mut found);
        found
    }

    fn in_arguments(function: &Function) -> Self {
        let mut found = Self::default();
        let _ = Visit::visit(&function.args, &mut found);
        found
    }
}

impl Visitor for Found {
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
        if self.depth == 0 && matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_)) {
            self.columns = true;
        }
        if let Expr::Function(function) = expr
            && self.depth == 0
        {
            self.windows |= function.over.is_some();
            self.aggregates |= function.over.is_none() && AGGREGATES.contains(&name(function).as_str());
        }
        ControlFlow::Continue(())
    }
}

fn name(function: &Function) -> String {
    match function.name.0.as_slice() {
        [only] => only.as_ident().filter(|ident| ident.quote_style.is_none()).map(|ident: &Ident| ident.value.to_ascii_lowercase()).unwrap_or_default(),
        _ => String::new(),
    }
}

fn checked_function(function: &Function) -> Result<()> {
    let name = name(function);
    let window = WINDOWS.iter().find(|(known, ..)| *known == name);
    if function.over.is_none() {
        // nth_value is an aggregate of the query engine's, too.
        if window.is_some() && name != "nth_value" && function.within_group.is_empty() {
            let error = Error::new(ErrorCode::WrongKind, format!("window function {name} requires an OVER clause"));
            return Err(error.with_hint(format!("write {name}(…) OVER (ORDER BY …)")));
        }
        return if AGGREGATES.contains(&name.as_str()) { checked_aggregate(function, &name) } else { Ok(()) };
    }
    if Found::in_arguments(function).windows {
        let error = Error::new(ErrorCode::MisplacedWindow, "window function calls cannot be nested");
        return Err(error.with_hint("compute the inner one in a subquery"));
    }
    let takes = window.map(|(_, least, most)| (*least, *most)).or_else(|| matches!(name.as_str(), "first_value" | "last_value").then_some((1, 1)));
    if let (Some((least, most)), FunctionArguments::List(list)) = (takes, &function.args)
        && !(least..=most).contains(&list.args.len())
    {
        let takes = match (least, most) {
            (0, _) => "no argument".to_owned(),
            (1, 1) => "one argument".to_owned(),
            (least, most) if least == most => format!("{least} arguments"),
            (least, most) => format!("{least} to {most} arguments"),
        };
        let error = Error::new(ErrorCode::UnknownFunction, format!("function {name} does not take {} arguments", list.args.len()));
        return Err(error.with_hint(format!("{name} takes {takes}")));
    }
    match &function.over {
        Some(WindowType::WindowSpec(spec)) => spec.window_frame.as_ref().map_or(Ok(()), checked_frame),
        _ => Ok(()),
    }
}

fn checked_aggregate(function: &Function, name: &str) -> Result<()> {
    let inside = Found::in_arguments(function);
    let nested = |what: &str| Err(Error::new(ErrorCode::NotGrouped, what.to_owned()).with_hint("compute the inner one in a subquery"));
    if inside.aggregates {
        return nested("aggregate function calls cannot be nested");
    }
    if inside.windows {
        return nested("aggregate function calls cannot contain window function calls");
    }
    let FunctionArguments::List(list) = &function.args else { return Ok(()) };
    match (name, list.args.as_slice()) {
        ("count", []) => Err(Error::new(ErrorCode::WrongKind, "count without an argument").with_hint("count(*) counts rows")),
        ("count", [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)]) if list.duplicate_treatment == Some(DuplicateTreatment::Distinct) => {
            Err(Error::new(ErrorCode::Syntax, "count(DISTINCT *) is not SQL")
                .with_hint("count the rows of a subquery: SELECT count(*) FROM (SELECT DISTINCT …) AS s"))
        }
        _ => Ok(()),
    }
}

/// Error: 42P20 for a frame that ends before it starts.
fn checked_frame(frame: &WindowFrame) -> Result<()> {
    use WindowFrameBound::{CurrentRow, Following, Preceding};
    let end = frame.end_bound.as_ref().unwrap_or(&CurrentRow);
    let wrong = match (&frame.start_bound, end) {
        (Following(None), _) => "frame start cannot be UNBOUNDED FOLLOWING",
        (_, Preceding(None)) => "frame end cannot be UNBOUNDED PRECEDING",
        (CurrentRow, Preceding(_)) => "frame starting from current row cannot have preceding rows",
        (Following(_), Preceding(_) | CurrentRow) => "frame starting from following row cannot end before it",
        _ => return Ok(()),
    };
    Err(Error::new(ErrorCode::MisplacedWindow, wrong).with_hint("write the earlier bound first: BETWEEN 1 PRECEDING AND CURRENT ROW"))
}

#[cfg(test)]
mod tests {
    use crate::bind::parse;

    #[test]
    fn what_cannot_stand_there_is_refused_as_in_postgres() {
        for (sql, code) in [
            ("SELECT row_number() FROM t", "42809"),
            ("SELECT lag(a) FROM t", "42809"),
            ("SELECT a FROM t WHERE row_number() OVER () = 1", "42P20"),
            ("SELECT a FROM t GROUP BY rank() OVER ()", "42P20"),
            ("SELECT max(a) FROM t HAVING sum(a) OVER () > 1", "42P20"),
            ("SELECT 1 FROM t JOIN u ON rank() OVER () = 1", "42P20"),
            ("SELECT rank() OVER (ORDER BY a ROWS BETWEEN CURRENT ROW AND 1 PRECEDING) FROM t", "42P20"),
            ("SELECT sum(rank() OVER ()) OVER () FROM t", "42P20"),
            ("SELECT sum(rank() OVER ()) FROM t", "42803"),
            ("SELECT sum(1 + max(a)) FROM t", "42803"),
            ("SELECT first_value() OVER () FROM t", "42883"),
            ("SELECT rank(a) OVER () FROM t", "42883"),
            ("SELECT count() FROM t", "42809"),
            ("SELECT count(DISTINCT *) FROM t", "42601"),
            ("SELECT 1 FROM t JOIN u", "42601"),
            ("SELECT 1 FROM t LEFT JOIN u", "42601"),
            ("SELECT 1 FROM t a, u a", "42712"),
            ("SELECT 1 FROM t, t", "42712"),
            ("SELECT a FROM t LIMIT a", "42P10"),
            ("SELECT a LIKE 'x' ESCAPE 'ab' FROM t", "22025"),
            ("SELECT a FROM t WHERE a NOT ILIKE 'x' ESCAPE 'ab'", "22025"),
            ("SELECT a FROM t OFFSET a + 1", "42P10"),
        ] {
            let error = parse(sql).expect_err(sql);
            assert_eq!(error.code().sqlstate(), code, "{sql}: {error:?}");
        }
        for sql in [
            "SELECT row_number() OVER (), sum(max(a)) OVER () FROM t GROUP BY b",
            "SELECT a FROM t WHERE a IN (SELECT row_number() OVER () FROM u)",
            "SELECT max(a) FROM t HAVING max((SELECT rank() OVER () FROM u)) > 1",
            "SELECT 1 FROM t NATURAL JOIN u CROSS JOIN v JOIN w USING (a)",
            "SELECT 1 FROM a.b.t, a.c.t, a.b.t x",
            "SELECT sum((SELECT max(a) FROM u)) FROM t",
            "SELECT a FROM t LIMIT (SELECT max(b) FROM u) OFFSET 2 * 3",
            "SELECT a FROM t LIMIT $1 OFFSET $2",
            "SELECT a FROM t LIMIT ALL",
            "SELECT a LIKE 'x!%' ESCAPE '!', a LIKE 'x' ESCAPE '' FROM t",
            "SELECT lag(a, 1, 0) OVER (ORDER BY a ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM t",
        ] {
            assert!(parse(sql).is_ok(), "{sql}: {:?}", parse(sql));
        }
    }
}
