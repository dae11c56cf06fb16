// SPDX-License-Identifier: Apache-2.0
//! Groups and their aggregates at the source.

use super::block::{Block, Output};
use super::condition::{Condition, condition};
use super::cut::Aliases;
use super::remedy::asked;
use super::sets;
use super::terms::{Scope, type_of, value};
use super::words::in_words;
use crate::arithmetic;
use crate::sizes::Size;
use arrow::datatypes::{DECIMAL128_MAX_PRECISION, DataType, Field, FieldRef};
use datafusion::common::{Column, DFSchema, ScalarValue, TableReference};
use datafusion::logical_expr::expr::{AggregateFunction, AggregateFunctionParams};
use datafusion::logical_expr::logical_plan::Aggregate as Grouped;
use datafusion::logical_expr::{Expr, LogicalPlan};
use std::sync::Arc;
use weir_source::{Aggregate, Operation, Reason, Support, Term, Written};

/// How many rows there are for each group, where nothing better is known.
const ROWS_PER_GROUP: f64 = 10.0;

/// As many rows are sent as fast as they are grouped.
const ROWS_HARMLESS: f64 = 10_000.0;
/// Groups that are more of its rows than this are none to speak of.
const GROUPS_OF_ROWS_MAX: f64 = 0.8;

/// Whether the source spares anything when it makes the groups of a block. Error: where they are known to be about as many as its rows.
pub(super) fn gains(plan: &Grouped, block: &Block) -> Result<(), Reason> {
    let input = Size::of(&plan.input);
    let rows = if input.known { Some(input.rows) } else { block.rows };
    let Some(rows) = rows.filter(|rows| *rows > ROWS_HARMLESS && !plan.group_expr.is_empty()) else { return Ok(()) };
    if tells_apart(&plan.group_expr, block) {
        return Err(Reason::new("as_many", "each of its groups is one row, so that all rows would come"));
    }
    let counted = input.known && plan.group_expr.iter().all(|key| input.facts(key, plan.input.schema()).distinct.is_some());
    let groups = Size::of(&LogicalPlan::Aggregate(plan.clone())).rows;
    match counted && groups > rows * GROUPS_OF_ROWS_MAX {
        true => Err(Reason::new("as_many", format!("about {groups:.0} groups are made of {rows:.0} rows, which are as soon sent"))),
        false => Ok(()),
    }
}

/// Whether the keys hold columns that tell all rows apart.
pub(super) fn tells_apart(keys: &[Expr], block: &Block) -> bool {
    let terms = block.terms();
    let keys: Vec<String> = keys.iter().filter_map(|key| Some(value(key, block.scope(&terms)).ok()?.sql)).collect();
    block.unique.iter().any(|unique| !unique.is_empty() && unique.iter().all(|column| keys.contains(column)))
}

/// Groups at the source, and what is left to be computed from them here.
pub(super) struct Groups {
    pub block: Block,
    /// The columns of the plan over those of the block, where they are not the same.
    pub finish: Option<Vec<Expr>>,
}

/// The groups of a block, or why they are made here.
pub(super) fn group(plan: &Grouped, input: Block, aliases: &mut Aliases) -> Result<Groups, Reason> {
    let (exprs, sets) = sets::keys_of(&plan.group_expr);
    let mut block = match sets {
        // Before version 18 PostgreSQL takes keys that a join makes equal, or a condition constant, for so above the sets too, where some
        // are NULL, and leaves them out of an order.
        Some(_) if !input.is_bare_table() => input.apart(&aliases.derived()),
        None if input.is_flat() => input,
        Some(_) => input,
        None => input.wrap(&aliases.derived()),
    };
    let terms = block.terms();
    let scope = block.scope(&terms);
    let mut columns = Columns::default();
    let mut keys = Vec::with_capacity(exprs.len());
    for (expr, (qualifier, field)) in exprs.iter().zip(plan.schema.iter()) {
        let mut term = key(expr, scope)?;
        term.meaning.nullable |= sets.is_some();
        if !term.constant {
            keys.push(block.source().dialect().grouped(&term));
        }
        columns.as_it_is(Output { term, label: in_words(expr) }, qualifier, field);
    }
    if let (Some(sets), Some((qualifier, field))) = (sets, plan.schema.iter().nth(exprs.len())) {
        let written = sets::written(sets, &exprs, &keys, block.source().dialect())?;
        columns.as_it_is(Output { term: sets::number(&keys), label: "grouping".to_owned() }, qualifier, field);
        keys = vec![written];
    }
    // Without rows there would be one group in the place of none.
    if keys.is_empty() && !plan.group_expr.is_empty() {
        return Err(Reason::new("expression", "groups of constants alone are made here"));
    }
    for (expr, (qualifier, field)) in plan.aggr_expr.iter().zip(plan.schema.iter().skip(columns.outputs.len())) {
        match average(expr, scope)? {
            Some((sum, count)) => columns.mean(sum, count, in_words(expr), qualifier, field),
            None => {
                // Of a constant too: a group may have none.
                let mut term = Term { constant: false, ..aggregate(expr, scope)? };
                term.meaning.nullable = true;
                columns.as_it_is(Output { term, label: in_words(expr) }, qualifier, field);
            }
        }
    }
    block.rows = if keys.is_empty() { Some(1.0) } else { block.rows.map(|rows| (rows / ROWS_PER_GROUP).max(1.0)) };
    // What is a key in one group is NULL in another: all else is asked of a table derived from the groups.
    block.group(keys, columns.outputs, if sets.is_some() { 0 } else { exprs.len() });
    let block = if sets.is_some() { block.settled(&aliases.derived()) } else { block };
    if !columns.means {
        return Ok(Groups { block: block.renamed(plan.schema.clone()), finish: None });
    }
    let schema = DFSchema::new_with_metadata(columns.fields, plan.schema.metadata().clone()).map_err(|_| Reason::new("expression", "columns have one name"))?;
    Ok(Groups { block: block.renamed(Arc::new(schema)), finish: Some(columns.finish) })
}

/// The columns of the groups, and those of the plan over them.
#[derive(Default)]
struct Columns {
    outputs: Vec<Output>,
    fields: Vec<(Option<TableReference>, FieldRef)>,
    finish: Vec<Expr>,
    means: bool,
}

impl Columns {
    fn as_it_is(&mut self, output: Output, qualifier: Option<&TableReference>, field: &FieldRef) {
        self.outputs.push(output);
        self.fields.push((qualifier.cloned(), field.clone()));
        self.finish.push(Expr::Column(Column::new(qualifier.cloned(), field.name())));
    }

    fn mean(&mut self, sum: Term, count: Term, label: String, qualifier: Option<&TableReference>, field: &FieldRef) {
        let mut part = |word: &str, term: Term| {
            let name = format!("{word} for {}", field.name());
            self.fields.push((None, Arc::new(Field::new(&name, term.meaning.data_type.clone(), true))));
            self.outputs.push(Output { term, label: label.clone() });
            Expr::Column(Column::new_unqualified(name))
        };
        let (sum, count) = (part("sum", sum), part("count", count));
        let mean = arithmetic::mean_of(sum, count, field.data_type().clone());
        self.finish.push(mean.alias_qualified(qualifier.cloned(), field.name()));
        self.means = true;
    }
}

/// The sum and the count of an average of decimals. Quotients have other digits in each system, so it is divided here.
fn average(expr: &Expr, scope: Scope<'_>) -> Result<Option<(Term, Term)>, Reason> {
    let Expr::AggregateFunction(AggregateFunction { func, params }) = unaliased(expr) else { return Ok(None) };
    if func.name() != "avg" || params.distinct || !params.order_by.is_empty() {
        return Ok(None);
    }
    let [argument] = params.args.as_slice() else { return Ok(None) };
    let term = match &params.filter {
        None => value(argument, scope)?,
        Some(filter) => only(&value(argument, scope)?, filter, scope)?,
    };
    let scale = match (&term.meaning.data_type, type_of(unaliased(expr), scope)?) {
        (DataType::Decimal128(_, scale), DataType::Decimal128(..)) => *scale,
        (DataType::Float32 | DataType::Float64, _) => {
            let reason = Reason::new("float_order", "the last digits of an average of floating point numbers depend on the order in which they are added");
            return Err(reason.with_remedy("average a decimal: avg(cast(x AS decimal(18, 6)))"));
        }
        _ => return Ok(None),
    };
    let sum = scope.source.aggregate(Aggregate::Sum, Some(&term), false, &DataType::Decimal128(DECIMAL128_MAX_PRECISION, scale))?;
    let count = scope.source.aggregate(Aggregate::Count, Some(&term), false, &DataType::Int64)?;
    Ok(Some((sum, count)))
}

pub(super) fn key(expr: &Expr, scope: Scope<'_>) -> Written {
    let term = value(expr, scope)?;
    if term.constant {
        return Ok(term);
    }
    match asked(scope.source, &Operation::Distinguish, &term.meaning) {
        Support::Exact => Ok(term),
        Support::Superset(reason) | Support::Never(reason) => Err(reason),
    }
}

fn unaliased(expr: &Expr) -> &Expr {
    match expr {
        Expr::Alias(alias) => unaliased(&alias.expr),
        other => other,
    }
}

fn aggregate(expr: &Expr, scope: Scope<'_>) -> Written {
    let Expr::AggregateFunction(AggregateFunction { func, params }) = unaliased(expr) else {
        return Err(Reason::new("aggregate", "aggregates of this kind are computed here"));
    };
    let AggregateFunctionParams { args, distinct, filter, order_by, null_treatment } = params;
    if !order_by.is_empty() || null_treatment.is_some() {
        return Err(Reason::new("aggregate", "aggregates with an order are computed here"));
    }
    let kind = match func.name() {
        "count" => Aggregate::Count,
        "sum" => Aggregate::Sum,
        "min" => Aggregate::Min,
        "max" => Aggregate::Max,
        "bool_and" => Aggregate::BoolAnd,
        "bool_or" => Aggregate::BoolOr,
        name => return Err(Reason::new("aggregate", format!("the aggregate {name} is computed here"))),
    };
    let [argument] = args.as_slice() else { return Err(Reason::new("aggregate", "aggregates of several values are computed here")) };
    let result = type_of(unaliased(expr), scope)?;
    if matches!(argument, Expr::Literal(value, _) if value.is_null()) {
        return Err(Reason::new("literal", "what is made of a NULL is made here"));
    }
    let counts_rows = kind == Aggregate::Count && matches!(argument, Expr::Literal(value, _) if !value.is_null());
    let term = match (counts_rows, filter) {
        (true, None) if !distinct => return scope.source.aggregate(kind, None, false, &result),
        (true, Some(filter)) if !distinct => only(&one(scope)?, filter, scope)?,
        (true, _) => return Err(Reason::new("aggregate", "a count of different constants is made here")),
        (false, None) => value(argument, scope)?,
        (false, Some(filter)) => only(&value(argument, scope)?, filter, scope)?,
    };
    scope.source.aggregate(kind, Some(&term), *distinct, &result)
}

fn one(scope: Scope<'_>) -> Written {
    value(&Expr::Literal(ScalarValue::Int64(Some(1)), None), scope)
}

/// `FILTER (WHERE …)` in a form that every source knows: the value where the condition is true, else NULL.
fn only(term: &Term, filter: &Expr, scope: Scope<'_>) -> Written {
    match condition(filter, scope) {
        Condition::Exact(sent) => Ok(term.written(format!("CASE WHEN {} THEN {} END", sent.sql, term.sql))),
        Condition::Superset(_, reason) | Condition::Kept(reason) => Err(reason),
    }
}
