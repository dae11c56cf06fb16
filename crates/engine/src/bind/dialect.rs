// SPDX-License-Identifier: Apache-2.0
//! The parser's PostgreSQL dialect but for two things: arguments of functions are read once (a name before one is a plain word, so that
//! nested calls do not take twice as long per level), and no operator swallows the sign of the number behind it (`5>-1`).

use datafusion::sql::sqlparser::dialect::{Dialect, PostgreSqlDialect, Precedence};
use datafusion::sql::sqlparser::keywords::Keyword;
use datafusion::sql::sqlparser::parser::{Parser, ParserError};
use std::any::TypeId;

const BASE: PostgreSqlDialect = PostgreSqlDialect {};

#[derive(Debug)]
pub(crate) struct WeirDialect;

impl Dialect for WeirDialect {
    /// The parser asks in places whether it reads PostgreSQL; it does.
    fn dialect(&self) -> TypeId {
        TypeId::of::<PostgreSqlDialect>()
    }

    fn is_custom_operator_part(&self, letter: char) -> bool {
        !matches!(letter, '+' | '-') && BASE.is_custom_operator_part(letter)
    }

    fn identifier_quote_style(&self, identifier: &str) -> Option<char> {
        BASE.identifier_quote_style(identifier)
    }

    fn is_delimited_identifier_start(&self, letter: char) -> bool {
        BASE.is_delimited_identifier_start(letter)
    }

    fn is_identifier_start(&self, letter: char) -> bool {
        BASE.is_identifier_start(letter)
    }

    fn is_identifier_part(&self, letter: char) -> bool {
        BASE.is_identifier_part(letter)
    }

    fn is_reserved_for_identifier(&self, keyword: Keyword) -> bool {
        BASE.is_reserved_for_identifier(keyword)
    }

    fn get_next_precedence(&self, parser: &Parser<'_>) -> Option<Result<u8, ParserError>> {
        BASE.get_next_precedence(parser)
    }

    fn prec_value(&self, precedence: Precedence) -> u8 {
        BASE.prec_value(precedence)
    }

    fn supports_unicode_string_literal(&self) -> bool {
        BASE.supports_unicode_string_literal()
    }

    fn supports_filter_during_aggregation(&self) -> bool {
        BASE.supports_filter_during_aggregation()
    }

    fn supports_group_by_expr(&self) -> bool {
        BASE.supports_group_by_expr()
    }

    fn allow_extract_custom(&self) -> bool {
        BASE.allow_extract_custom()
    }

    fn allow_extract_single_quotes(&self) -> bool {
        BASE.allow_extract_single_quotes()
    }

    fn supports_create_index_with_clause(&self) -> bool {
        BASE.supports_create_index_with_clause()
    }

    fn supports_explain_with_utility_options(&self) -> bool {
        BASE.supports_explain_with_utility_options()
    }

    fn supports_listen_notify(&self) -> bool {
        BASE.supports_listen_notify()
    }

    fn supports_factorial_operator(&self) -> bool {
        BASE.supports_factorial_operator()
    }

    fn supports_bitwise_shift_operators(&self) -> bool {
        BASE.supports_bitwise_shift_operators()
    }

    fn supports_comment_on(&self) -> bool {
        BASE.supports_comment_on()
    }

    fn supports_load_extension(&self) -> bool {
        BASE.supports_load_extension()
    }

    fn supports_named_fn_args_with_colon_operator(&self) -> bool {
        BASE.supports_named_fn_args_with_colon_operator()
    }

    fn supports_empty_projections(&self) -> bool {
        BASE.supports_empty_projections()
    }

    fn supports_nested_comments(&self) -> bool {
        BASE.supports_nested_comments()
    }

    fn supports_string_escape_constant(&self) -> bool {
        BASE.supports_string_escape_constant()
    }

    fn supports_numeric_literal_underscores(&self) -> bool {
        BASE.supports_numeric_literal_underscores()
    }

    fn supports_array_typedef_with_brackets(&self) -> bool {
        BASE.supports_array_typedef_with_brackets()
    }

    fn supports_geometric_types(&self) -> bool {
        BASE.supports_geometric_types()
    }

    fn supports_set_names(&self) -> bool {
        BASE.supports_set_names()
    }

    fn supports_alter_column_type_using(&self) -> bool {
        BASE.supports_alter_column_type_using()
    }

    fn supports_notnull_operator(&self) -> bool {
        BASE.supports_notnull_operator()
    }

    fn supports_interval_options(&self) -> bool {
        BASE.supports_interval_options()
    }

    fn supports_insert_table_alias(&self) -> bool {
        BASE.supports_insert_table_alias()
    }

    fn supports_create_table_like_parenthesized(&self) -> bool {
        BASE.supports_create_table_like_parenthesized()
    }

    fn supports_select_wildcard_with_alias(&self) -> bool {
        BASE.supports_select_wildcard_with_alias()
    }

    fn supports_comma_separated_trim(&self) -> bool {
        BASE.supports_comma_separated_trim()
    }

    fn supports_xml_expressions(&self) -> bool {
        BASE.supports_xml_expressions()
    }

    fn supports_comment_optimizer_hint(&self) -> bool {
        BASE.supports_comment_optimizer_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use datafusion::sql::sqlparser::ast::{BinaryOperator, Expr};

    fn parsed(text: &str) -> Expr {
        Parser::new(&WeirDialect).try_with_sql(text).unwrap().parse_expr().unwrap()
    }

    #[test]
    fn forty_nested_calls_are_read_once_each() {
        let text = format!("{}1{}", "abs(".repeat(40), ")".repeat(40));
        assert!(matches!(parsed(&text), Expr::Function(_)));
    }

    #[test]
    fn a_sign_belongs_to_its_number() {
        for (text, meant) in
            [("5>-1", BinaryOperator::Gt), ("a<=-1", BinaryOperator::LtEq), ("a<>-b", BinaryOperator::NotEq), ("2*-3", BinaryOperator::Multiply)]
        {
            assert!(matches!(parsed(text), Expr::BinaryOp { op, .. } if op == meant), "{text}");
        }
    }
}
