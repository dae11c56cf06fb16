// SPDX-License-Identifier: Apache-2.0
//! Clauses of a query that the query engine does not know, said in clauses that it knows: FETCH FIRST, TABLE, column lists of
//! recursive common table expressions, names of functions in FROM.

use super::dialect::WeirDialect;
use super::operators::cast;
use crate::call::call;
use datafusion::sql::sqlparser::ast::{
    DataType, ExactNumberInfo, Expr, Fetch, Ident, Join, JoinConstraint, JoinOperator, LimitClause, ObjectName, ObjectNamePart, Query, Select, SelectItem,
    SetExpr, Statement, TableAlias, TableAliasColumnDef, TableFactor, Value, Values, Visit, VisitMut, Visitor, VisitorMut, With,
};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::Parser;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use std::ops::ControlFlow;
use weir_base::{Error, ErrorCode, Result};

/// Errors: 0A000 for FETCH … WITH TIES and FETCH … PERCENT, for TABLESAMPLE and for WITH ORDINALITY.
pub(super) fn adapt(statement: &mut Statement) -> Result<()> {
    let series_value = Visit::visit(&*statement, &mut MentionsValue).is_break();
    match statement.visit(&mut Clauses { series_value }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

/// The query engine calls the column of a series `value`; a statement that does so too means that.
struct MentionsValue;

impl Visitor for MentionsValue {
    type Break = ();

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<()> {
        let last = match expr {
            Expr::Identifier(name) => Some(name),
            Expr::CompoundIdentifier(names) => names.last(),
            _ => None,
        };
        if last.is_some_and(|name| name.value.eq_ignore_ascii_case("value")) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

struct Clauses {
    series_value: bool,
}

impl VisitorMut for Clauses {
    type Break = Error;

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        if let Some(with) = query.with.as_mut().filter(|with| with.recursive) {
            name_first_terms(with);
        }
        match fetched(query) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => ControlFlow::Break(error),
        }
    }

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<Error> {
        let joins = select.from.iter().flat_map(|table| &table.joins);
        if let Some(error) = joins.filter_map(merged_column).next() {
            return ControlFlow::Break(error);
        }
        super::grouping::name_places(select);
        for item in &mut select.projection {
            spread_series(item);
        }
        ControlFlow::Continue(())
    }

    fn post_visit_query(&mut self, query: &mut Query) -> ControlFlow<Error> {
        if let SetExpr::Values(values) = query.body.as_mut() {
            as_doubles(values);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<Error> {
        if let TableFactor::Table { sample: Some(_), .. } | TableFactor::Derived { sample: Some(_), .. } = factor {
            let error = Error::new(ErrorCode::Unsupported, "TABLESAMPLE is not in Weir");
            return ControlFlow::Break(error.with_hint("keep a tenth of the rows with WHERE random() < 0.1"));
        }
        if let TableFactor::Table { with_ordinality: true, .. } | TableFactor::Function { with_ordinality: true, .. } = factor {
            let error = Error::new(ErrorCode::Unsupported, "WITH ORDINALITY is not in Weir");
            return ControlFlow::Break(error.with_hint("number the rows with row_number() OVER ()"));
        }
        if !self.series_value {
            name_series(factor);
        }
        ControlFlow::Continue(())
    }
}

/// The column that USING makes of two has the value of the side that has one; the query engine would take it from the left.
fn merged_column(join: &Join) -> Option<Error> {
    let (JoinOperator::FullOuter(constraint) | JoinOperator::RightOuter(constraint) | JoinOperator::Right(constraint)) = &join.join_operator else {
        return None;
    };
    if !matches!(constraint, JoinConstraint::Using(_) | JoinConstraint::Natural) {
        return None;
    }
    let error = Error::new(ErrorCode::Unsupported, "USING and NATURAL of a RIGHT or FULL JOIN are not in Weir");
    Some(error.with_hint("write ON a.id = b.id, and coalesce(a.id, b.id) for the column of both"))
}

/// FETCH FIRST n ROWS ONLY is LIMIT n.
fn fetched(query: &mut Query) -> Result<()> {
    let Some(Fetch { with_ties, percent, quantity }) = query.fetch.take() else { return Ok(()) };
    if with_ties || percent {
        return Err(Error::new(ErrorCode::Unsupported, format!("FETCH FIRST … {} is not in Weir", if with_ties { "WITH TIES" } else { "PERCENT" }))
            .with_hint("rank the rows in a subquery with rank() OVER (ORDER BY …) and filter on the rank"));
    }
    let count = quantity.unwrap_or_else(|| Expr::value(Value::Number("1".into(), false)));
    match &mut query.limit_clause {
        Some(LimitClause::LimitOffset { limit: limit @ None, .. }) => *limit = Some(count),
        None => query.limit_clause = Some(LimitClause::LimitOffset { limit: Some(count), offset: None, limit_by: Vec::new() }),
        Some(_) => return Err(Error::new(ErrorCode::Syntax, "LIMIT and FETCH FIRST in one query").with_hint("leave out one of them")),
    }
    Ok(())
}

/// `WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL …)`: the query engine takes the names of the columns from the first term.
fn name_first_terms(with: &mut With) {
    for cte in &mut with.cte_tables {
        if cte.alias.columns.is_empty() {
            continue;
        }
        if let SetExpr::SetOperation { left, .. } = cte.query.body.as_mut()
            && let Some(named) = with_names(left, &cte.alias.columns)
        {
            **left = named;
        }
    }
}

/// `SELECT * FROM (term) AS first_term(names)`.
fn with_names(term: &SetExpr, names: &[TableAliasColumnDef]) -> Option<SetExpr> {
    const FRAME: &str = "SELECT * FROM (SELECT 1) AS first_term";
    let mut frame = Parser::new(&WeirDialect).try_with_sql(FRAME).ok()?.parse_query().ok()?;
    let SetExpr::Select(select) = frame.body.as_mut() else { return None };
    let TableFactor::Derived { subquery, alias: Some(alias), .. } = &mut select.from.first_mut()?.relation else { return None };
    *subquery.body = term.clone();
    alias.columns = names.to_vec();
    Some(*frame.body)
}

/// `FROM generate_series(1, 3) AS g` has a column `g`, and without a name one that is called as the function.
fn name_series(factor: &mut TableFactor) {
    let (TableFactor::Table { name, args: Some(_), alias, .. } | TableFactor::Function { name, alias, .. }) = factor else { return };
    if !is_series(name) {
        return;
    }
    let column = |name: &Ident| vec![TableAliasColumnDef { name: name.clone(), data_type: None }];
    match alias {
        Some(alias) if alias.columns.is_empty() => alias.columns = column(&alias.name),
        Some(_) => {}
        None => {
            let name = Ident::new("generate_series");
            *alias = Some(TableAlias { explicit: true, columns: column(&name), name, at: None });
        }
    }
}

fn is_series(name: &ObjectName) -> bool {
    matches!(name.0.as_slice(), [ObjectNamePart::Identifier(only)] if only.value.eq_ignore_ascii_case("generate_series"))
}

/// A series among the selected columns makes rows, not a list.
fn spread_series(item: &mut SelectItem) {
    let (SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. }) = item else { return };
    if let Expr::Function(function) = expr
        && is_series(&function.name)
    {
        let series = expr.clone();
        *expr = call("unnest", vec![series]);
        if matches!(item, SelectItem::UnnamedExpr(_)) {
            let SelectItem::UnnamedExpr(expr) = item else { return };
            *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias: Ident::new("generate_series") };
        }
    }
}

/// A column of VALUES in which one value is cast to a floating point number is one of such numbers; the query engine would make
/// decimals of them, which hold fewer.
fn as_doubles(values: &mut Values) {
    let width = values.rows.first().map_or(0, |row| row.content.len());
    for column in 0..width {
        let cells = || values.rows.iter().filter_map(|row| row.content.get(column));
        if !cells().any(is_double) || !cells().any(is_decimal) {
            continue;
        }
        for row in &mut values.rows {
            if let Some(cell) = row.content.get_mut(column).filter(|cell| is_decimal(cell)) {
                *cell = cast(cell.clone(), DataType::DoublePrecision);
            }
        }
    }
}

fn is_double(cell: &Expr) -> bool {
    matches!(cell, Expr::Cast { data_type, .. } if matches!(data_type, DataType::Double(ExactNumberInfo::None) | DataType::DoublePrecision | DataType::Float8 | DataType::Float(_) | DataType::Real | DataType::Float4))
}

fn is_decimal(cell: &Expr) -> bool {
    match cell {
        Expr::Value(value) => matches!(&value.value, Value::Number(digits, _) if digits.contains('.')),
        Expr::UnaryOp { expr, .. } | Expr::Nested(expr) => is_decimal(expr),
        _ => false,
    }
}

/// `TABLE t` is `SELECT * FROM t`, wherever a query may stand.
pub(super) fn write_out_table(tokens: Vec<TokenWithSpan>) -> Vec<TokenWithSpan> {
    let solid = |token: &&TokenWithSpan| !matches!(token.token, Token::Whitespace(_));
    let begins = |at: usize| {
        let before = tokens[..at].iter().rev().find(solid).is_none_or(|token| before_query(&token.token));
        before && tokens[at + 1..].iter().find(solid).is_some_and(|next| matches!(next.token, Token::Word(_)))
    };
    let places: Vec<usize> = (0..tokens.len()).filter(|at| is_keyword(&tokens[*at].token, &[Keyword::TABLE]) && begins(*at)).collect();
    if places.is_empty() {
        return tokens;
    }
    let mut written = Vec::with_capacity(tokens.len() + 2 * places.len());
    for (at, token) in tokens.into_iter().enumerate() {
        if places.binary_search(&at).is_err() {
            written.push(token);
            continue;
        }
        let words = [Token::make_keyword("SELECT"), Token::Mul, Token::make_keyword("FROM")];
        written.extend(words.map(|word| TokenWithSpan { token: word, span: token.span }));
    }
    written
}

fn before_query(token: &Token) -> bool {
    const WORDS: [Keyword; 7] = [Keyword::UNION, Keyword::EXCEPT, Keyword::INTERSECT, Keyword::ALL, Keyword::EXPLAIN, Keyword::ANALYZE, Keyword::VERBOSE];
    matches!(token, Token::LParen | Token::SemiColon) || is_keyword(token, &WORDS)
}

fn is_keyword(token: &Token, words: &[Keyword]) -> bool {
    matches!(token, Token::Word(word) if word.quote_style.is_none() && words.contains(&word.keyword))
}

#[cfg(test)]
mod tests {
    use crate::bind::parse;

    fn adapted(sql: &str) -> String {
        parse(sql).unwrap().to_string()
    }

    #[test]
    fn clauses_in_other_words() {
        assert_eq!(adapted("SELECT a FROM b.c.t ORDER BY a OFFSET 1 ROWS FETCH NEXT 2 ROWS ONLY"), "SELECT a FROM b.c.t ORDER BY a LIMIT 2 OFFSET 1 ROWS");
        assert_eq!(adapted("SELECT a FROM b.c.t FETCH FIRST ROW ONLY"), "SELECT a FROM b.c.t LIMIT 1");
        assert_eq!(adapted("TABLE b.c.t"), "SELECT * FROM b.c.t");
        assert_eq!(adapted("SELECT 1 UNION ALL TABLE t"), "SELECT 1 UNION ALL SELECT * FROM t");
        assert_eq!(adapted("EXPLAIN TABLE t"), "EXPLAIN SELECT * FROM t");
        assert!(parse("SELECT a FROM t ORDER BY a FETCH FIRST 1 ROWS WITH TIES").is_err());
        assert!(parse("SELECT a FROM t TABLESAMPLE BERNOULLI (10)").is_err());
        assert_eq!(
            adapted("WITH RECURSIVE c(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM c) SELECT * FROM c"),
            "WITH RECURSIVE c (n) AS (SELECT * FROM (VALUES (1)) AS first_term (n) UNION ALL SELECT n + 1 FROM c) SELECT * FROM c"
        );
        assert_eq!(adapted("SELECT g FROM generate_series(1, 3) g"), "SELECT g FROM generate_series(1, 3) g (g)");
        assert_eq!(adapted("SELECT value FROM generate_series(1, 3) g"), "SELECT value FROM generate_series(1, 3) g");
        assert_eq!(adapted("SELECT generate_series(1, 3)"), "SELECT unnest(generate_series(1, 3)) AS generate_series");
        assert_eq!(adapted("VALUES (0.5::float8), (1.5)"), "VALUES (0.5::FLOAT8), (CAST(1.5 AS DOUBLE PRECISION))");
    }
}
