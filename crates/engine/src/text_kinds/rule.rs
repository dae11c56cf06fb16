// SPDX-License-Identifier: Apache-2.0
//! The rule that compares and sorts kinds of text as what they are, and refuses what PostgreSQL has no operator for.

use super::grouped::{canonical, told_apart};
use super::member::Member;
use super::words::{Word, Work, address_key, canonical_json, canonical_uuid, rank};
use super::{Labels, TextKind};
use crate::errors::carry;
use crate::walk::{expressions, orders, seen_by};
use arrow::datatypes::FieldRef;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::common::{DFSchema, ExprSchema, Result, ScalarValue, TableReference};
use datafusion::logical_expr::expr::{AggregateFunction, Cast, InList, ScalarFunction, Sort, TryCast};
use datafusion::logical_expr::{Between, BinaryExpr, Case, Distinct, Expr, LogicalPlan, Operator, Union};
use datafusion::optimizer::AnalyzerRule;
use std::sync::Arc;
use weir_base::{Error, ErrorCode};

#[derive(Debug)]
pub(super) struct CompareKinds;

impl AnalyzerRule for CompareKinds {
    fn name(&self) -> &str {
        "compare_kinds"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(rewritten).data()
    }
}

fn rewritten(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let schema = seen_by(&plan)?;
    let changed = expressions(plan, |node| compared(node, &schema))?;
    match &changed.data {
        LogicalPlan::Sort(sort) => sortable(&sort.expr, &schema)?,
        LogicalPlan::Distinct(Distinct::On(on)) => sortable(on.sort_expr.as_deref().unwrap_or_default(), &schema)?,
        _ => {}
    }
    // Enums sort by the order of their labels, addresses by that of networks.
    let plan = orders(changed.data, |order| by_rank(order, &schema));
    let plan = told_apart(plan)?;
    // A kind that was left behind further down is not inherited either.
    let inherits =
        matches!(plan, LogicalPlan::SubqueryAlias(_) | LogicalPlan::Projection(_) | LogicalPlan::Aggregate(_) | LogicalPlan::Join(_) | LogicalPlan::Window(_));
    match plan {
        LogicalPlan::Union(union) => agreed(union).map(|union| Transformed::yes(LogicalPlan::Union(union))),
        plan if inherits => plan.recompute_schema().map(Transformed::yes),
        plan => Ok(Transformed::yes(plan)),
    }
}

/// A union whose columns are of the kind that all its arms have, and otherwise of none.
fn agreed(union: Union) -> Result<Union> {
    let Union { inputs, schema } = union;
    let agreed = |(index, (qualifier, field)): (usize, (Option<&TableReference>, &FieldRef))| {
        let mut kinds = inputs.iter().map(|input| input.schema().field(index).metadata());
        let first = kinds.next().filter(|first| kinds.all(|other| other == *first));
        (qualifier.cloned(), Arc::new(field.as_ref().clone().with_metadata(first.cloned().unwrap_or_default())))
    };
    let fields = schema.iter().enumerate().map(agreed).collect();
    let schema = DFSchema::new_with_metadata(fields, schema.as_arrow().metadata().clone())?;
    Ok(Union { schema: Arc::new(schema), inputs })
}

/// Error: 0A000 for a value that is not put in an order here.
fn sortable(order: &[Sort], schema: &DFSchema) -> Result<()> {
    match order.iter().find_map(|sort| kind_of(&sort.expr, schema)) {
        Some(TextKind::Unordered(native)) => Err(carry(no_order(&native))),
        _ => Ok(()),
    }
}

fn no_order(native: &str) -> Error {
    Error::new(ErrorCode::Unsupported, format!("values of type {native} are not put in an order here"))
        .with_detail("they are read as the text that the source prints, which has another order")
        .with_hint(match native {
            "money" => "read it as a number: a view of the source with amount::numeric; amount::text compares letters",
            _ => "cast it to text to compare letters",
        })
}

fn by_rank(order: Vec<Sort>, schema: &DFSchema) -> Vec<Sort> {
    let ranked = |sort: Sort| match kind_of(&sort.expr, schema) {
        Some(TextKind::Enum(labels)) => Sort { expr: Word::call(Work::Rank(labels), sort.expr), ..sort },
        Some(TextKind::Address) => Sort { expr: Word::call(Work::Address, sort.expr), ..sort },
        _ => sort,
    };
    order.into_iter().map(ranked).collect()
}

/// The kind of an expression; a literal has none and takes that of the other side.
pub(super) fn kind_of(expr: &Expr, schema: &DFSchema) -> Option<TextKind> {
    match expr {
        Expr::Column(column) => TextKind::of(schema.field_from_column(column).ok()?.metadata()),
        Expr::OuterReferenceColumn(field, _) => TextKind::of(field.metadata()),
        Expr::Alias(alias) => kind_of(&alias.expr, schema),
        Expr::ScalarSubquery(subquery) => TextKind::of(subquery.subquery.schema().fields().first()?.metadata()),
        Expr::ScalarFunction(function) if same_kind(function.name()) => function.args.iter().find_map(|argument| kind_of(argument, schema)),
        Expr::ScalarFunction(function) => {
            let inner = function.func.inner().as_ref() as &dyn std::any::Any;
            match (inner.downcast_ref::<Word>(), inner.downcast_ref::<Member>()) {
                (Some(word), _) => word.kind(),
                (_, Some(member)) => member.kind(),
                _ => None,
            }
        }
        Expr::Case(Case { when_then_expr, else_expr, .. }) => {
            let mut results = when_then_expr.iter().map(|(_, result)| result).chain(else_expr);
            results.find_map(|result| kind_of(result, schema))
        }
        _ => None,
    }
}

/// Functions that give one of their arguments.
fn same_kind(function: &str) -> bool {
    matches!(function, "coalesce" | "nullif" | "greatest" | "least" | "nvl" | "ifnull")
}

fn compared(node: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    match node {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) if order(op).is_some() => {
            let Some(kind) = kind_of(&left, schema).or_else(|| kind_of(&right, schema)) else {
                return Ok(Transformed::no(Expr::BinaryExpr(BinaryExpr { left, op, right })));
            };
            let by_order = order(op) == Some(true);
            let (left, right) = (side(*left, &kind, by_order, schema)?, side(*right, &kind, by_order, schema)?);
            Ok(Transformed::yes(Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right)))))
        }
        Expr::InList(InList { expr, list, negated }) => {
            let Some(kind) = kind_of(&expr, schema) else { return Ok(Transformed::no(Expr::InList(InList { expr, list, negated }))) };
            let expr = side(*expr, &kind, false, schema)?;
            let list = list.into_iter().map(|item| side(item, &kind, false, schema)).collect::<Result<_>>()?;
            Ok(Transformed::yes(Expr::InList(InList::new(Box::new(expr), list, negated))))
        }
        Expr::Between(Between { expr, negated, low, high }) => {
            let Some(kind) = kind_of(&expr, schema) else { return Ok(Transformed::no(Expr::Between(Between { expr, negated, low, high }))) };
            let ends = [*expr, *low, *high].map(|end| side(end, &kind, true, schema).map(Box::new));
            let [expr, low, high] = ends;
            Ok(Transformed::yes(Expr::Between(Between::new(expr?, negated, low?, high?))))
        }
        Expr::Cast(Cast { expr, field }) => Ok(match cast_of(&expr, &field, false, schema)? {
            Some(cast) => Transformed::yes(cast),
            None => Transformed::no(Expr::Cast(Cast { expr, field })),
        }),
        Expr::TryCast(TryCast { expr, field }) => Ok(match cast_of(&expr, &field, true, schema)? {
            Some(cast) => Transformed::yes(cast),
            None => Transformed::no(Expr::TryCast(TryCast { expr, field })),
        }),
        Expr::ScalarFunction(function) if same_kind(function.name()) => chosen(function, schema),
        Expr::AggregateFunction(function) => aggregated(function, schema),
        Expr::WindowFunction(mut window) => {
            sortable(&window.params.order_by, schema)?;
            let extreme = matches!(window.fun.name(), "min" | "max");
            if let Some(error) = no_extreme(extreme, &window.params.args, schema) {
                return Err(carry(error));
            }
            window.params.partition_by = window.params.partition_by.into_iter().map(|key| canonical(key, schema)).collect();
            window.params.order_by = by_rank(window.params.order_by, schema);
            Ok(Transformed::yes(Expr::WindowFunction(window)))
        }
        other => Ok(Transformed::no(other)),
    }
}

/// Whether an operator compares, and if it asks for an order.
fn order(op: Operator) -> Option<bool> {
    match op {
        Operator::Eq | Operator::NotEq | Operator::IsDistinctFrom | Operator::IsNotDistinctFrom => Some(false),
        Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq => Some(true),
        _ => None,
    }
}

/// One side of a comparison as what is compared.
fn side(expr: Expr, kind: &TextKind, by_order: bool, schema: &DFSchema) -> Result<Expr> {
    let literal = text_literal(&expr).map(str::to_owned);
    match kind {
        TextKind::Uuid => match literal {
            Some(text) => Ok(text_of(canonical_uuid(&text).map_err(carry)?)),
            None => Ok(expr),
        },
        TextKind::Enum(labels) => enum_side(expr, literal, labels, by_order, schema),
        TextKind::Address => match literal {
            Some(text) => Ok(text_of(address_key(&text).map_err(carry)?)),
            None if expr_is_null(&expr) => Ok(expr),
            None => Ok(Word::call(Work::Address, expr)),
        },
        TextKind::Unordered(native) if by_order => Err(carry(no_order(native))),
        // `$9.00` and `9` are one amount.
        TextKind::Unordered(native) if native == "money" && literal.is_some() => Err(carry(
            Error::new(ErrorCode::Unsupported, "money is not compared with a text that is written out")
                .with_detail("it is read as the text that the source prints")
                .with_hint("write amount::text = '$9.00', or read it as a number: a view of the source with amount::numeric"),
        )),
        TextKind::Unordered(_) => Ok(expr),
        TextKind::Jsonb if !by_order => match literal {
            Some(text) => Ok(text_of(canonical_json(&text).map_err(carry)?)),
            None => Ok(Word::call(Work::Canonical, expr)),
        },
        TextKind::Jsonb => Err(carry(
            Error::new(ErrorCode::Unsupported, "jsonb values are not put in an order")
                .with_hint("order by a part of it that is a number or a text, or cast it to text"),
        )),
        TextKind::Json => Err(carry(
            Error::new(ErrorCode::UnknownFunction, "json values are not compared: there is no such operator")
                .with_hint("cast it to text, which compares how it is written"),
        )),
    }
}

fn expr_is_null(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(value, _) if value.is_null())
}

fn enum_side(expr: Expr, literal: Option<String>, labels: &Arc<Labels>, by_order: bool, schema: &DFSchema) -> Result<Expr> {
    if let Some(text) = literal {
        let place = rank(labels, &text).map_err(carry)?;
        return Ok(if by_order { Expr::Literal(ScalarValue::Int32(Some(place)), None) } else { expr });
    }
    if !by_order || matches!(&expr, Expr::Literal(value, _) if value.is_null()) {
        return Ok(expr);
    }
    match kind_of(&expr, schema) {
        Some(TextKind::Enum(own)) if own == *labels => Ok(Word::call(Work::Rank(own), expr)),
        _ => Err(carry(Error::new(ErrorCode::UnknownFunction, "an enum is put in an order with another type").with_hint("cast it to text on both sides"))),
    }
}

fn text_literal(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Literal(ScalarValue::Utf8(Some(text)) | ScalarValue::LargeUtf8(Some(text)) | ScalarValue::Utf8View(Some(text)), _) => Some(text),
        _ => None,
    }
}

fn text_of(text: String) -> Expr {
    Expr::Literal(ScalarValue::Utf8(Some(text)), None)
}

/// A cast to uuid, or one to text that leaves a kind behind.
fn cast_of(expr: &Expr, field: &FieldRef, tries: bool, schema: &DFSchema) -> Result<Option<Expr>> {
    use arrow::datatypes::DataType::{LargeUtf8, Utf8, Utf8View};
    if !matches!(field.data_type(), Utf8 | LargeUtf8 | Utf8View) {
        return Ok(None);
    }
    match (TextKind::of(field.metadata()), text_literal(expr)) {
        (Some(TextKind::Uuid), Some(text)) if !tries => Ok(Some(text_of(canonical_uuid(text).map_err(carry)?))),
        (Some(TextKind::Uuid), _) => Ok(Some(Word::call(Work::Uuid { tries }, expr.clone()))),
        _ if kind_of(expr, schema).is_some() => {
            let plain = Word::call(Work::Plain, expr.clone());
            // A text of the lake comes as a view, and what it is compared with has to be one.
            Ok(Some(if *field.data_type() == Utf8 { plain } else { Expr::Cast(Cast { expr: Box::new(plain), field: field.clone() }) }))
        }
        _ => Ok(None),
    }
}

/// Literals beside a uuid are uuids; of enums there is no greatest here.
fn chosen(function: ScalarFunction, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let kind = function.args.iter().find_map(|argument| kind_of(argument, schema));
    let ordering = matches!(function.name(), "greatest" | "least");
    match kind {
        Some(TextKind::Uuid) => {
            let ScalarFunction { func, args } = function;
            let args = args.into_iter().map(|argument| side(argument, &TextKind::Uuid, false, schema)).collect::<Result<Vec<_>>>()?;
            Ok(Transformed::yes(Expr::ScalarFunction(ScalarFunction { func, args })))
        }
        Some(TextKind::Enum(_) | TextKind::Address | TextKind::Unordered(_)) if ordering => {
            no_extreme(true, &function.args, schema).map_or_else(|| Ok(Transformed::no(Expr::ScalarFunction(function))), |error| Err(carry(error)))
        }
        _ => Ok(Transformed::no(Expr::ScalarFunction(function))),
    }
}

fn aggregated(mut function: AggregateFunction, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let extreme = matches!(function.func.name(), "min" | "max");
    if let Some(error) = no_extreme(extreme, &function.params.args, schema) {
        return Err(carry(error));
    }
    sortable(&function.params.order_by, schema)?;
    if function.params.distinct && function.func.name() == "count" {
        function.params.args = function.params.args.into_iter().map(|argument| canonical(argument, schema)).collect();
    }
    function.params.order_by = by_rank(function.params.order_by, schema);
    Ok(Transformed::yes(Expr::AggregateFunction(function)))
}

/// Why there is no least or greatest of these here.
fn no_extreme(extreme: bool, arguments: &[Expr], schema: &DFSchema) -> Option<Error> {
    let kind = arguments.iter().find_map(|argument| kind_of(argument, schema)).filter(|_| extreme)?;
    match &kind {
        TextKind::Enum(_) => Some(extreme_of_enum()),
        TextKind::Address => Some(
            Error::new(ErrorCode::Unsupported, "the least or greatest address is not computed here")
                .with_hint("ORDER BY it and take the first row, or cast it to text to compare letters"),
        ),
        TextKind::Unordered(native) => Some(no_order(native)),
        TextKind::Json | TextKind::Jsonb => Some(
            Error::new(ErrorCode::UnknownFunction, format!("there is no least or greatest {}", kind.word()))
                .with_hint("cast it to text, which compares how it is written"),
        ),
        TextKind::Uuid => None,
    }
}

fn extreme_of_enum() -> Error {
    Error::new(ErrorCode::Unsupported, "the least or greatest value of an enum is not computed here")
        .with_hint("ORDER BY it and take the first row, or cast it to text to compare letters")
}
