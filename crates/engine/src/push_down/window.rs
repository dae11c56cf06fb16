// SPDX-License-Identifier: Apache-2.0
//! Window functions at the source. Where rows that are equal in the order of a window would get different values, the order must tell
//! all rows apart: else the answer depends on how they happen to lie.

use super::block::{Block, Output};
use super::cut::{Aliases, Cutter, Piece, list, note};
use super::fragment::{as_kept, may_push};
use super::group::key;
use super::terms::{Scope, type_of, value};
use super::words::in_words;
use crate::functions::ROW_NUMBER;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::expr::{WindowFunction, WindowFunctionParams};
use datafusion::logical_expr::logical_plan::Window as Windows;
use datafusion::logical_expr::{Expr, LogicalPlan, SortExpr, WindowFrame, WindowFrameBound, WindowFrameUnits, WindowFunctionDefinition};
use std::sync::Arc;
use weir_source::{Aggregate, Operation, Reason, Support, Term, Window, Written};

/// The rows of a block with the values of the windows behind them, or why these are computed here.
pub(super) fn windowed(plan: &Windows, input: Block, aliases: &mut Aliases) -> Result<Block, Reason> {
    let block = if input.is_flat() { input } else { input.wrap(&aliases.derived()) };
    let terms = block.terms();
    let mut outputs = block.outputs.clone();
    for expr in &plan.window_expr {
        let term = function(expr, &block, block.scope(&terms))?;
        outputs.push(Output { term, label: in_words(expr) });
    }
    Ok(block.with_outputs(plan.schema.clone(), outputs, true).settled(&aliases.derived()))
}

fn unlike(why: &str) -> Reason {
    Reason::new("window", why)
}

fn function(expr: &Expr, block: &Block, scope: Scope<'_>) -> Written {
    let function = match expr {
        Expr::Alias(alias) => return self::function(&alias.expr, block, scope),
        Expr::WindowFunction(function) => function.as_ref(),
        _ => return Err(unlike("window functions of this kind are computed here")),
    };
    let WindowFunction { fun, params } = function;
    let WindowFunctionParams { args, partition_by, order_by, window_frame, filter, null_treatment, distinct } = params;
    if filter.is_some() || null_treatment.is_some() || *distinct {
        return Err(unlike("windows with FILTER, DISTINCT or IGNORE NULLS are computed here"));
    }
    let kind = kind(fun)?;
    let partition: Vec<Term> = partition_by.iter().map(|expr| key(expr, scope)).collect::<Result<_, _>>()?;
    let order: Vec<(Term, &SortExpr)> = order_by.iter().map(|sort| ordered(sort, scope).map(|term| (term, sort))).collect::<Result<_, _>>()?;
    let order: Vec<(Term, &SortExpr)> = order.into_iter().filter(|(term, _)| !term.constant).collect();
    if matches!(kind, Window::Rank | Window::DenseRank) && order.is_empty() {
        return Err(unlike("a rank without an order is computed here"));
    }
    let frame = frame(kind, window_frame, order.is_empty())?;
    if looks_at_places(kind, &frame) && !is_total(block, &partition, &order) {
        return Err(Reason::new("order_not_total", "rows that are equal in the order of the window would get different values")
            .with_remedy("add the primary key to the ORDER BY of the window"));
    }
    let dialect = scope.source.dialect();
    let mut over = Vec::new();
    let keys: Vec<String> = partition.iter().filter(|term| !term.constant).map(|term| dialect.grouped(term)).collect();
    if !keys.is_empty() {
        over.push(format!("PARTITION BY {}", keys.join(", ")));
    }
    if !order.is_empty() {
        let keys: Vec<String> = order.iter().map(|(term, sort)| dialect.order(term, !sort.asc, sort.nulls_first)).collect();
        over.push(format!("ORDER BY {}", keys.join(", ")));
    }
    over.extend(Some(frame).filter(|frame| !frame.is_empty()));
    let mut written = called(kind, args, &format!("({})", over.join(" ")), expr, scope)?;
    written.meaning.nullable = true;
    Ok(Term { constant: false, ..written })
}

fn called(kind: Window, args: &[Expr], over: &str, whole: &Expr, scope: Scope<'_>) -> Written {
    let result = type_of(whole, scope)?;
    match (kind, args) {
        (Window::RowNumber | Window::Rank | Window::DenseRank, []) => scope.source.window(kind, None, over, &result),
        (Window::Aggregate(Aggregate::Count), [Expr::Literal(value, _)]) if !value.is_null() => scope.source.window(kind, None, over, &result),
        (_, [Expr::Literal(..)]) => Err(unlike("windows over a constant are computed here")),
        (Window::Aggregate(_) | Window::Lag | Window::Lead | Window::First | Window::Last, [argument]) => {
            scope.source.window(kind, Some(&value(argument, scope)?), over, &result)
        }
        _ => Err(unlike("window functions of several values are computed here")),
    }
}

fn kind(function: &WindowFunctionDefinition) -> Result<Window, Reason> {
    let name = match function {
        WindowFunctionDefinition::AggregateUDF(function) => function.name(),
        WindowFunctionDefinition::WindowUDF(function) => function.name(),
    };
    Ok(match name {
        "row_number" | ROW_NUMBER => Window::RowNumber,
        "rank" => Window::Rank,
        "dense_rank" => Window::DenseRank,
        "lag" => Window::Lag,
        "lead" => Window::Lead,
        "first_value" => Window::First,
        "last_value" => Window::Last,
        "count" => Window::Aggregate(Aggregate::Count),
        "sum" => Window::Aggregate(Aggregate::Sum),
        "min" => Window::Aggregate(Aggregate::Min),
        "max" => Window::Aggregate(Aggregate::Max),
        _ => return Err(unlike("this window function is computed here")),
    })
}

fn ordered(sort: &SortExpr, scope: Scope<'_>) -> Written {
    let term = value(&sort.expr, scope)?;
    match scope.source.support(&Operation::Order, &term.meaning) {
        Support::Exact => Ok(term),
        Support::Superset(reason) | Support::Never(reason) => Err(reason),
    }
}

/// Whether the value depends on where among its equals a row stands.
fn looks_at_places(kind: Window, frame: &str) -> bool {
    match kind {
        Window::Rank | Window::DenseRank => false,
        Window::Aggregate(_) => frame.starts_with("ROWS"),
        Window::RowNumber | Window::Lag | Window::Lead | Window::First | Window::Last => true,
    }
}

/// Whether the keys of the window tell all rows apart.
fn is_total(block: &Block, partition: &[Term], order: &[(Term, &SortExpr)]) -> bool {
    let known = |text: &String| partition.iter().chain(order.iter().map(|(term, _)| term)).any(|term| term.sql == *text);
    block.unique.iter().any(|key| key.iter().all(known))
}

/// The frame as it is written; nothing for the usual one, and for functions that have none.
fn frame(kind: Window, frame: &WindowFrame, unordered: bool) -> Result<String, Reason> {
    if matches!(kind, Window::RowNumber | Window::Rank | Window::DenseRank | Window::Lag | Window::Lead) {
        return Ok(String::new());
    }
    let odd = || unlike("windows with this kind of frame are computed here");
    match frame.units {
        WindowFrameUnits::Rows => {
            let (start, end) = (bound(&frame.start_bound).ok_or_else(odd)?, bound(&frame.end_bound).ok_or_else(odd)?);
            // All rows, whatever their order.
            if unordered && (start.as_str(), end.as_str()) == ("UNBOUNDED PRECEDING", "UNBOUNDED FOLLOWING") {
                return Ok(String::new());
            }
            Ok(format!("ROWS BETWEEN {start} AND {end}"))
        }
        WindowFrameUnits::Range => match (bound(&frame.start_bound).as_deref(), bound(&frame.end_bound).as_deref()) {
            (Some("UNBOUNDED PRECEDING"), Some("CURRENT ROW")) => Ok(String::new()),
            (Some("UNBOUNDED PRECEDING"), Some("UNBOUNDED FOLLOWING")) if unordered => Ok(String::new()),
            (Some("UNBOUNDED PRECEDING"), Some("UNBOUNDED FOLLOWING")) => Ok("RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING".to_owned()),
            _ => Err(odd()),
        },
        // Over types without distances the usual frame is one of groups, which says the same.
        WindowFrameUnits::Groups if usual(frame) => Ok(String::new()),
        WindowFrameUnits::Groups => Err(odd()),
    }
}

/// From the first row to those that are equal to this one.
fn usual(frame: &WindowFrame) -> bool {
    matches!((bound(&frame.start_bound).as_deref(), bound(&frame.end_bound).as_deref()), (Some("UNBOUNDED PRECEDING"), Some("CURRENT ROW")))
}

fn bound(bound: &WindowFrameBound) -> Option<String> {
    let (value, word) = match bound {
        WindowFrameBound::CurrentRow => return Some("CURRENT ROW".to_owned()),
        WindowFrameBound::Preceding(value) => (value, "PRECEDING"),
        WindowFrameBound::Following(value) => (value, "FOLLOWING"),
    };
    match value {
        value if value.is_null() => Some(format!("UNBOUNDED {word}")),
        ScalarValue::UInt64(Some(rows)) => i32::try_from(*rows).ok().map(|rows| format!("{rows} {word}")),
        _ => None,
    }
}

impl Cutter {
    pub(super) fn window(&mut self, mut window: Windows) -> Result<Piece> {
        let input = self.piece(Arc::unwrap_or_clone(window.input.clone()))?;
        let what = format!("window {}", list(&window.window_expr));
        let why = match &input {
            Piece::Remote { block, .. } => match may_push(self.mode, &what).and_then(|()| windowed(&window, block.as_ref().clone(), &mut self.aliases)) {
                Ok(mut block) => {
                    block.pushed.push(what);
                    return Ok(Piece::Remote { block: Box::new(block), plain: None });
                }
                Err(reason) => reason,
            },
            Piece::Local(_) => Reason::new("local_input", "its rows are made here"),
        };
        window.input = Arc::new(self.finished(input)?);
        let plan = LogicalPlan::Window(window);
        note(&plan, &as_kept(what, why));
        Ok(Piece::Local(plan))
    }
}
