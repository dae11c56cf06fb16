// SPDX-License-Identifier: Apache-2.0
//! `unnest`: its column is called `unnest` as in PostgreSQL, and a list that comes as a parameter has a type before it has a value.

use super::placeholders;
use arrow::datatypes::DataType;
use datafusion::sql::sqlparser::ast::{
    ArrayElemTypeDef, CastKind, DataType as SqlType, ExactNumberInfo, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, GroupByExpr, Ident,
    Query, Select, SelectItem, SetExpr, Statement, TableAlias, TableAliasColumnDef, TableFactor, TimezoneInfo, VisitMut, VisitorMut,
};
use std::ops::ControlFlow;
use weir_base::{Error, Result};

const UNNEST: &str = "unnest";

/// Names the columns of every `FROM unnest(…)` that has no names for them: after its alias where it has one, else `unnest`.
pub(super) fn name(statement: &mut Statement) {
    let _ = statement.visit(&mut Namer);
}

/// Gives each parameter that is unnested the list type that `item_type` tells for its number.
pub(super) fn type_lists(statement: &mut Statement, item_type: impl FnMut(usize) -> Result<DataType>) -> Result<()> {
    match statement.visit(&mut Typist { item_type }) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(()),
    }
}

/// The list of `SELECT unnest(list)` and `SELECT * FROM unnest(list)`; `None` for a query that does anything else.
pub(super) fn only(query: &Query) -> Option<&Expr> {
    let plain = query.with.is_none() && query.order_by.is_none() && query.limit_clause.is_none() && query.fetch.is_none();
    let SetExpr::Select(select) = query.body.as_ref() else { return None };
    let [item] = select.projection.as_slice() else { return None };
    if !plain || !bare(select) {
        return None;
    }
    match (select.from.as_slice(), item) {
        ([], SelectItem::UnnamedExpr(Expr::Function(function)) | SelectItem::ExprWithAlias { expr: Expr::Function(function), .. }) => argument(function),
        ([table], item) if table.joins.is_empty() => {
            let TableFactor::UNNEST { alias: Some(alias), array_exprs, with_offset: false, with_ordinality: false, .. } = &table.relation else { return None };
            let ([list], [column]) = (array_exprs.as_slice(), alias.columns.as_slice()) else { return None };
            let whole = match item {
                SelectItem::Wildcard(_) => true,
                SelectItem::UnnamedExpr(Expr::Identifier(selected)) => *selected == column.name,
                _ => false,
            };
            whole.then_some(list)
        }
        _ => None,
    }
}

/// Whether a SELECT has nothing but a list and a FROM.
fn bare(select: &Select) -> bool {
    let grouped = !matches!(&select.group_by, GroupByExpr::Expressions(by, modifiers) if by.is_empty() && modifiers.is_empty());
    !grouped && select.distinct.is_none() && select.top.is_none() && select.selection.is_none() && select.having.is_none() && select.qualify.is_none()
}

/// What a call of `unnest` spreads.
fn argument(function: &Function) -> Option<&Expr> {
    let name = function.name.0.last()?.as_ident()?;
    let FunctionArguments::List(list) = &function.args else { return None };
    match list.args.as_slice() {
        [FunctionArg::Unnamed(FunctionArgExpr::Expr(list))] if name.value.eq_ignore_ascii_case(UNNEST) => Some(list),
        _ => None,
    }
}

struct Namer;

impl VisitorMut for Namer {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        let TableFactor::UNNEST { alias, array_exprs, with_offset: false, with_ordinality: false, .. } = factor else { return ControlFlow::Continue(()) };
        let named = alias.get_or_insert_with(|| TableAlias { explicit: true, name: Ident::new(UNNEST), columns: Vec::new(), at: None });
        if !named.columns.is_empty() {
            return ControlFlow::Continue(());
        }
        // Two columns of one name could not be asked for.
        let numbered = |place: usize| if place == 0 { Ident::new(UNNEST) } else { Ident::new(format!("{UNNEST}_{}", place + 1)) };
        let names = if array_exprs.len() == 1 { vec![named.name.clone()] } else { (0..array_exprs.len()).map(numbered).collect() };
        named.columns = names.into_iter().map(|name| TableAliasColumnDef { name, data_type: None }).collect();
        ControlFlow::Continue(())
    }
}

struct Typist<F> {
    item_type: F,
}

impl<F: FnMut(usize) -> Result<DataType>> Typist<F> {
    fn give(&mut self, list: &mut Expr) -> ControlFlow<Error> {
        let Some(number) = placeholders::number(list) else { return ControlFlow::Continue(()) };
        match (self.item_type)(number) {
            Ok(item_type) => {
                *list = as_list(list.clone(), sql_type(&item_type));
                ControlFlow::Continue(())
            }
            Err(error) => ControlFlow::Break(error),
        }
    }
}

impl<F: FnMut(usize) -> Result<DataType>> VisitorMut for Typist<F> {
    type Break = Error;

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        let Expr::Function(function) = expr else { return ControlFlow::Continue(()) };
        if argument(function).is_none() {
            return ControlFlow::Continue(());
        }
        let FunctionArguments::List(list) = &mut function.args else { return ControlFlow::Continue(()) };
        match list.args.as_mut_slice() {
            [FunctionArg::Unnamed(FunctionArgExpr::Expr(list))] => self.give(list),
            _ => ControlFlow::Continue(()),
        }
    }

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<Error> {
        let TableFactor::UNNEST { array_exprs, .. } = factor else { return ControlFlow::Continue(()) };
        array_exprs.iter_mut().try_for_each(|list| self.give(list))
    }
}

fn as_list(expr: Expr, item_type: SqlType) -> Expr {
    let data_type = SqlType::Array(ArrayElemTypeDef::SquareBracket(Box::new(item_type), None));
    Expr::Cast { kind: CastKind::DoubleColon, expr: Box::new(expr), data_type, array: false, format: None }
}

/// How a type is written; text for what has no shorter way to say it.
fn sql_type(data_type: &DataType) -> SqlType {
    match data_type {
        DataType::Boolean => SqlType::Boolean,
        DataType::Int16 => SqlType::SmallInt(None),
        DataType::Int32 => SqlType::Int(None),
        DataType::Int64 => SqlType::BigInt(None),
        DataType::Float32 => SqlType::Real,
        DataType::Float64 => SqlType::DoublePrecision,
        DataType::Decimal128(precision, scale) => SqlType::Numeric(ExactNumberInfo::PrecisionAndScale(u64::from(*precision), i64::from(*scale))),
        DataType::Binary => SqlType::Bytea,
        DataType::Date32 => SqlType::Date,
        DataType::Time64(_) => SqlType::Time(None, TimezoneInfo::None),
        DataType::Timestamp(_, None) => SqlType::Timestamp(None, TimezoneInfo::None),
        DataType::Timestamp(_, Some(_)) => SqlType::Timestamp(None, TimezoneInfo::WithTimeZone),
        DataType::Interval(_) => SqlType::Interval { fields: None, precision: None },
        _ => SqlType::Text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::parse;

    #[test]
    fn columns_are_called_as_in_postgres() {
        let named = |sql: &str| {
            let mut statement = parse(sql).unwrap();
            name(&mut statement);
            statement.to_string()
        };
        assert_eq!(named("SELECT * FROM unnest(ARRAY[1])"), "SELECT * FROM UNNEST(ARRAY[1]) AS unnest (unnest)");
        assert_eq!(named("SELECT * FROM unnest(ARRAY[1]) AS t"), "SELECT * FROM UNNEST(ARRAY[1]) AS t (t)");
        assert_eq!(named("SELECT * FROM unnest(ARRAY[1]) AS t(id)"), "SELECT * FROM UNNEST(ARRAY[1]) AS t (id)");
        assert_eq!(named("SELECT * FROM unnest(ARRAY[1], ARRAY[2])"), "SELECT * FROM UNNEST(ARRAY[1], ARRAY[2]) AS unnest (unnest, unnest_2)");
    }

    #[test]
    fn lists_have_a_type() {
        let typed = |sql: &str| {
            let mut statement = parse(sql).unwrap();
            type_lists(&mut statement, |number| Ok(if number == 1 { DataType::Int64 } else { DataType::Utf8 })).unwrap();
            statement.to_string()
        };
        assert_eq!(typed("SELECT unnest($1), unnest($2)"), "SELECT unnest($1::BIGINT[]), unnest($2::TEXT[])");
        assert_eq!(typed("SELECT * FROM unnest($1) AS t(x) WHERE x > $2"), "SELECT * FROM UNNEST($1::BIGINT[]) AS t (x) WHERE x > $2");
    }
}
