// SPDX-License-Identifier: Apache-2.0
//! How deep a statement nests, told from its tokens before it is parsed: trees are walked by recursion, and a text of a
//! megabyte can hold a chain of operators that no stack is deep enough for.

use datafusion::sql::sqlparser::ast::{Expr, Statement, Visit, Visitor};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use std::ops::ControlFlow;
use weir_base::limits::{SQL_CHAIN_MAX, SUBQUERY_DEPTH_MAX};
use weir_base::{Error, ErrorCode, Result};

/// What a token does to the depth of the expression it stands in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Step {
    Open,
    Close,
    /// A comma or semicolon: a new expression begins beside the last one.
    Beside,
    /// Operators of equal rank in a row nest.
    Operator,
    /// So do comparisons, but `a = 1 OR b = 2` is no deeper than its OR.
    Comparison,
    Nothing,
}

/// One pair of parentheses that is open.
#[derive(Default)]
struct Level {
    chain: usize,
    compared: bool,
}

/// Error: 54000 for a chain of more than `SQL_CHAIN_MAX` operators.
pub(super) fn check(tokens: &[TokenWithSpan]) -> Result<()> {
    let mut levels = vec![Level::default()];
    let mut depth = 0;
    for token in tokens {
        match step(&token.token) {
            Step::Open => levels.push(Level::default()),
            Step::Close if levels.len() > 1 => depth -= levels.pop().map_or(0, |level| level.chain),
            Step::Close | Step::Nothing => {}
            Step::Beside => depth -= last(&mut levels, |level| std::mem::take(level).chain),
            Step::Comparison => depth += last(&mut levels, |level| level.add(level.compared, true)),
            Step::Operator => depth += last(&mut levels, |level| level.add(true, false)),
        }
        if depth > SQL_CHAIN_MAX {
            return Err(too_deep());
        }
    }
    Ok(())
}

impl Level {
    fn add(&mut self, counts: bool, compared: bool) -> usize {
        self.compared = compared;
        self.chain += usize::from(counts);
        usize::from(counts)
    }
}

/// Error: 54000 for subqueries in expressions that nest deeper than `SUBQUERY_DEPTH_MAX`.
pub(super) fn check_subqueries(statement: &Statement) -> Result<()> {
    match statement.visit(&mut Nesting { depth: 0 }) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(error) => Err(error),
    }
}

struct Nesting {
    depth: usize,
}

fn asks(expr: &Expr) -> bool {
    matches!(expr, Expr::Exists { .. } | Expr::InSubquery { .. } | Expr::Subquery(_))
}

impl Visitor for Nesting {
    type Break = Error;

    fn pre_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Error> {
        self.depth += usize::from(asks(expr));
        if self.depth <= SUBQUERY_DEPTH_MAX {
            return ControlFlow::Continue(());
        }
        let error = Error::new(ErrorCode::LimitExceeded, "statement is nested too deeply")
            .with_detail(format!("more than {SUBQUERY_DEPTH_MAX} subqueries in one another"));
        ControlFlow::Break(error.with_hint("write them as joins, or as common table expressions"))
    }

    fn post_visit_expr(&mut self, expr: &Expr) -> ControlFlow<Error> {
        self.depth -= usize::from(asks(expr));
        ControlFlow::Continue(())
    }
}

fn last(levels: &mut [Level], change: impl FnOnce(&mut Level) -> usize) -> usize {
    levels.last_mut().map_or(0, change)
}

fn too_deep() -> Error {
    Error::new(ErrorCode::LimitExceeded, "statement is nested too deeply")
        .with_detail(format!("more than {SQL_CHAIN_MAX} operators, joins or set operations in one chain"))
        .with_hint("write IN (…) in place of OR, or put long lists into a table or a parameter")
}

fn step(token: &Token) -> Step {
    match token {
        Token::LParen | Token::LBracket | Token::LBrace => Step::Open,
        Token::RParen | Token::RBracket | Token::RBrace => Step::Close,
        Token::Comma | Token::SemiColon => Step::Beside,
        Token::Eq | Token::DoubleEq | Token::Neq | Token::Lt | Token::Gt | Token::LtEq | Token::GtEq => Step::Comparison,
        Token::Word(word) => match word.keyword {
            Keyword::AND | Keyword::OR | Keyword::NOT | Keyword::IS | Keyword::BETWEEN | Keyword::LIKE | Keyword::ILIKE | Keyword::COLLATE => Step::Operator,
            Keyword::JOIN | Keyword::UNION | Keyword::EXCEPT | Keyword::INTERSECT | Keyword::CASE => Step::Operator,
            _ => Step::Nothing,
        },
        Token::EOF | Token::Whitespace(_) | Token::Number(..) | Token::Period | Token::Colon | Token::Placeholder(_) | Token::Char(_) => Step::Nothing,
        text if is_text(text) => Step::Nothing,
        // Every other sign is an operator: arithmetic, casts, concatenation, JSON and regular expressions.
        _ => Step::Operator,
    }
}

fn is_text(token: &Token) -> bool {
    matches!(
        token,
        Token::SingleQuotedString(_)
            | Token::DoubleQuotedString(_)
            | Token::DollarQuotedString(_)
            | Token::EscapedStringLiteral(_)
            | Token::NationalStringLiteral(_)
            | Token::HexStringLiteral(_)
            | Token::UnicodeStringLiteral(_)
            | Token::SingleQuotedByteStringLiteral(_)
            | Token::DoubleQuotedByteStringLiteral(_)
    )
}

#[cfg(test)]
mod tests {
    use super::super::statement::parse;
    use weir_base::ErrorCode;
    use weir_base::limits::{SQL_CHAIN_MAX, SUBQUERY_DEPTH_MAX};

    #[test]
    fn subqueries_nest_so_deep() {
        let nested = |depth: usize| format!("SELECT 1 WHERE {}true{}", "EXISTS (SELECT 1 WHERE ".repeat(depth), ")".repeat(depth));
        assert!(parse(&nested(SUBQUERY_DEPTH_MAX)).is_ok());
        assert_eq!(parse(&nested(SUBQUERY_DEPTH_MAX + 1)).unwrap_err().code(), ErrorCode::LimitExceeded);
        let beside = format!("SELECT 1 WHERE {}", ["EXISTS (SELECT 1)"; SUBQUERY_DEPTH_MAX + 1].join(" AND "));
        assert!(parse(&beside).is_ok());
    }

    #[test]
    fn chains_are_counted_and_lists_are_not() {
        let chain = |length: usize| format!("SELECT 1{}", " + 1".repeat(length));
        assert!(parse(&chain(SQL_CHAIN_MAX)).is_ok());
        assert_eq!(parse(&chain(SQL_CHAIN_MAX + 1)).unwrap_err().code(), ErrorCode::LimitExceeded);
        let list = format!("SELECT 1 WHERE 1 IN (-1{})", ", -1".repeat(10_000));
        assert!(parse(&list).is_ok());
        let beside = format!("SELECT {} + 1", "(1 + 1) + 1, ".repeat(5_000));
        assert!(parse(&beside).is_ok());
        let terms = format!("SELECT 1 WHERE a = 1{}", " OR a = 1".repeat(SQL_CHAIN_MAX - 1));
        assert!(parse(&terms).is_ok());
        let compared = format!("SELECT 1{}", " = 1".repeat(SQL_CHAIN_MAX + 2));
        assert!(parse(&compared).is_err());
    }
}
