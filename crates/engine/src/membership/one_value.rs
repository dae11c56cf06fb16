// SPDX-License-Identifier: Apache-2.0
//! A question over columns of the one around it that stands for a value: the query engine turns it into a join, and knows how only if
//! an aggregate makes one row of its rows. Here it gets one that keeps the value, and knows whether there was another; whether
//! that is an error is decided for each row that asks. `ORDER BY … LIMIT 1` is the first value in an order.

use super::only::{keep, only};
use crate::errors::carry;
use crate::walk::{expressions, seen_by};
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, Result, ScalarValue};
use datafusion::functions_aggregate::expr_fn::{first_value, nth_value};
use datafusion::logical_expr::expr::{Exists, InSubquery, Sort as SortExpr};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::{conjunction, split_conjunction, split_conjunction_owned};
use datafusion::logical_expr::{
    Aggregate, BinaryExpr, Expr, Filter, Join, JoinType, Limit, LogicalPlan, LogicalPlanBuilder, Operator, Projection, Subquery, lit, scalar_subquery,
};
use datafusion::optimizer::AnalyzerRule;
use std::sync::Arc;
use weir_base::{Error, ErrorCode};

#[derive(Debug)]
pub(super) struct OneValue;

impl AnalyzerRule for OneValue {
    fn name(&self) -> &str {
        "one_value"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(rewritten).data()
    }
}

fn rewritten(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let plan = match plan {
        LogicalPlan::Join(join) if join.filter.as_ref().is_some_and(looks_out) => asked_after(join)?,
        LogicalPlan::Filter(filter) if filter.predicate.contains_outer() => merged(filter)?,
        LogicalPlan::Sort(sort) if sort.expr.iter().any(|key| asks(&key.expr)) => sorted(sort)?,
        LogicalPlan::Aggregate(aggregate) if aggregate.group_expr.iter().chain(&aggregate.aggr_expr).any(asks) => asked_before(aggregate)?,
        other => other,
    };
    if let LogicalPlan::Subquery(lateral) = &plan {
        check_windows(&lateral.subquery)?;
    }
    let schema = seen_by(&plan)?;
    let changed = expressions(plan, |node| {
        check_reach(&node, &schema)?;
        if let Expr::Exists(Exists { subquery, .. }) | Expr::InSubquery(InSubquery { subquery, .. }) = &node {
            check_windows(&subquery.subquery)?;
        }
        one_value(node)
    })?;
    Ok(Transformed::yes(changed.data))
}

/// Error: 0A000 for a value over columns of a query further out, which no join can reach.
fn check_reach(node: &Expr, schema: &DFSchema) -> Result<()> {
    let Expr::ScalarSubquery(asked) = node else { return Ok(()) };
    let in_reach = |column: &Expr| !matches!(column, Expr::OuterReferenceColumn(_, column) if !schema.has_column(column));
    if asked.outer_ref_columns.iter().all(in_reach) { Ok(()) } else { refuse() }
}

/// Whether a value is asked for, be it another one for each row or not.
fn asks(expr: &Expr) -> bool {
    expr.exists(|node| Ok(matches!(node, Expr::ScalarSubquery(_)))).unwrap_or(false)
}

/// Whether a condition has a question in it, or a column of the query around.
fn looks_out(expr: &Expr) -> bool {
    expr.contains_outer() || expr.exists(|node| Ok(matches!(node, Expr::Exists(_) | Expr::InSubquery(_) | Expr::ScalarSubquery(_)))).unwrap_or(true)
}

/// A join whose condition looks out of it: the pairs are made first, and asked then. Error: 0A000 where a row without a partner stays,
/// and its condition has a column of the query around.
fn asked_after(mut join: Join) -> Result<LogicalPlan> {
    if join.join_type != JoinType::Inner {
        return if join.filter.as_ref().is_some_and(Expr::contains_outer) { refuse() } else { Ok(LogicalPlan::Join(join)) };
    }
    let parts = join.filter.take().map(split_conjunction_owned).unwrap_or_default();
    let (asking, plain): (Vec<Expr>, Vec<Expr>) = parts.into_iter().partition(looks_out);
    join.filter = conjunction(plain);
    let condition = conjunction(asking).unwrap_or_else(|| lit(true));
    Ok(LogicalPlan::Filter(Filter::try_new(condition, Arc::new(LogicalPlan::Join(join)))?))
}

/// One filter of two that lie on each other: of two with columns of the query around, the planner forgets those of the lower one.
fn merged(filter: Filter) -> Result<LogicalPlan> {
    match filter.input.as_ref() {
        LogicalPlan::Filter(below) if below.predicate.contains_outer() => {
            let both = below.predicate.clone().and(filter.predicate);
            Ok(LogicalPlan::Filter(Filter::try_new(both, below.input.clone())?))
        }
        _ => Ok(LogicalPlan::Filter(filter)),
    }
}

/// Values that are asked for each row, as columns beside it.
struct Columns {
    asked: Vec<Expr>,
}

impl Columns {
    /// The expression over these columns.
    fn over(&mut self, expr: Expr) -> Result<Expr> {
        let replaced = expr.transform_down(|node| match node {
            Expr::ScalarSubquery(asked) => {
                let name = format!("weir_value_{}", self.asked.len());
                self.asked.push(Expr::ScalarSubquery(asked).alias(&name));
                Ok(Transformed::new(Expr::Column(Column::from_name(name)), true, TreeNodeRecursion::Jump))
            }
            other => Ok(Transformed::no(other)),
        });
        replaced.data()
    }

    fn beside(self, mut shown: Vec<Expr>, input: Arc<LogicalPlan>) -> Result<LogicalPlan> {
        shown.extend(self.asked);
        rewritten(LogicalPlan::Projection(Projection::try_new(shown, input)?)).data()
    }
}

fn columns(plan: &LogicalPlan) -> Vec<Expr> {
    plan.schema().columns().into_iter().map(Expr::Column).collect()
}

/// Rows that are sorted by what is asked of each: the keys become columns first.
fn sorted(sort: datafusion::logical_expr::Sort) -> Result<LogicalPlan> {
    let shown = columns(&sort.input);
    let mut values = Columns { asked: Vec::new() };
    let keys = sort.expr.into_iter().map(|key| Ok(SortExpr { expr: values.over(key.expr)?, ..key })).collect::<Result<Vec<_>>>()?;
    let in_reach = values.asked.iter().all(|value| reaches(value, sort.input.schema()));
    let asked = match sort.input.as_ref() {
        // The keys are over columns that are not selected.
        LogicalPlan::Projection(projection) if !in_reach => values.beside(projection.expr.clone(), projection.input.clone())?,
        _ => values.beside(shown.clone(), sort.input)?,
    };
    LogicalPlanBuilder::from(asked).sort_with_limit(keys, sort.fetch)?.project(shown)?.build()
}

fn reaches(value: &Expr, schema: &DFSchema) -> bool {
    !value.exists(|node| Ok(check_reach(node, schema).is_err())).unwrap_or(true)
}

/// An aggregate over what is asked of each row: the values become columns first.
fn asked_before(aggregate: Aggregate) -> Result<LogicalPlan> {
    let shown = columns(&aggregate.input);
    let input = aggregate.input.clone();
    let names = NamePreserver::new(&LogicalPlan::Aggregate(aggregate.clone()));
    let mut values = Columns { asked: Vec::new() };
    let mut over = |expr: Expr| {
        let name = names.save(&expr);
        values.over(expr).map(|expr| name.restore(expr))
    };
    let groups = aggregate.group_expr.into_iter().map(&mut over).collect::<Result<Vec<_>>>()?;
    let aggregates = aggregate.aggr_expr.into_iter().map(&mut over).collect::<Result<Vec<_>>>()?;
    LogicalPlanBuilder::from(values.beside(shown, input)?).aggregate(groups, aggregates)?.build()
}

fn one_value(node: Expr) -> Result<Transformed<Expr>> {
    let Expr::ScalarSubquery(asked) = &node else { return Ok(Transformed::no(node)) };
    if asked.outer_ref_columns.is_empty() || asked.subquery.schema().fields().len() != 1 {
        return Ok(Transformed::no(node));
    }
    let question = asked.subquery.as_ref();
    if let Some(value) = of_the_row_itself(question)? {
        return Ok(Transformed::yes(value));
    }
    check_windows(question)?;
    if aggregated(question) {
        return if picks_by_equality(question)? { Ok(Transformed::no(node)) } else { refuse() };
    }
    match question {
        LogicalPlan::Limit(limit) => limited(asked, limit),
        LogicalPlan::Sort(sort) => kept(asked, &sort.input).map(Transformed::yes),
        other => kept(asked, other).map(Transformed::yes),
    }
}

/// `(SELECT p.id + 1)` asks no table.
fn of_the_row_itself(question: &LogicalPlan) -> Result<Option<Expr>> {
    let LogicalPlan::Projection(Projection { expr, input, .. }) = question else { return Ok(None) };
    match (expr.as_slice(), input.as_ref()) {
        ([value], LogicalPlan::EmptyRelation(empty)) if empty.produce_one_row && !asks(value) => {
            let own = value.clone().transform_up(|node| match node {
                Expr::OuterReferenceColumn(_, column) => Ok(Transformed::yes(Expr::Column(column))),
                other => Ok(Transformed::no(other)),
            });
            own.data().map(Expr::unalias).map(Some)
        }
        _ => Ok(None),
    }
}

/// Whether an aggregate over all rows makes one row of them already.
fn aggregated(question: &LogicalPlan) -> bool {
    match question {
        LogicalPlan::Projection(projection) => aggregated(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => aggregated(&alias.input),
        LogicalPlan::Filter(filter) => aggregated(&filter.input),
        LogicalPlan::Aggregate(aggregate) => one_row(aggregate),
        _ => false,
    }
}

fn one_row(aggregate: &Aggregate) -> bool {
    aggregate.group_expr.is_empty() && !aggregate.aggr_expr.is_empty()
}

/// Whether the rows of a question are picked by what is equal to columns of the question around it: these become the keys of groups.
fn picks_by_equality(question: &LogicalPlan) -> Result<bool> {
    let outside = |expr: &Expr| expr.exists(|node| Ok(matches!(node, Expr::OuterReferenceColumn(..))));
    let apart = |outer: &Expr, inner: &Expr| -> Result<bool> { Ok(outer.column_refs().is_empty() && !outside(inner)?) };
    let equal = |part: &Expr| -> Result<bool> {
        match part {
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) => Ok(apart(left, right)? || apart(right, left)?),
            _ => Ok(false),
        }
    };
    let other = question.exists(|node| match node {
        LogicalPlan::Filter(filter) => {
            for part in split_conjunction(&filter.predicate) {
                if outside(part)? && !equal(part)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        _ => Ok(false),
    })?;
    Ok(!other)
}

/// The one value of a question, or an error for the row that finds two.
fn kept(asked: &Subquery, question: &LogicalPlan) -> Result<Expr> {
    let value = Expr::Column(question.schema().columns().swap_remove(0));
    let kept = aggregate(asked, question, keep(value))?;
    Ok(only(kept))
}

fn aggregate(asked: &Subquery, question: &LogicalPlan, value: Expr) -> Result<Expr> {
    let name = asked.subquery.schema().field(0).name().clone();
    let plan = LogicalPlanBuilder::from(question.clone()).aggregate(Vec::<Expr>::new(), vec![value.alias(name)])?.build()?;
    Ok(scalar_subquery(Arc::new(plan)))
}

/// `LIMIT 1` is the first value, `LIMIT 1 OFFSET n` a later one. Error: 0A000 for a limit that is no number, or more rows after an OFFSET.
fn limited(asked: &Subquery, limit: &Limit) -> Result<Transformed<Expr>> {
    let (Some(skip), Some(fetch)) = (number(limit.skip.as_deref(), 0), number(limit.fetch.as_deref(), i64::MAX)) else { return refuse() };
    match (skip, fetch) {
        (skip, 1) => first(asked, &limit.input, skip).map(Transformed::yes),
        // Two rows are too many, whether more are cut off or not.
        (0, 2..) => one_value(Expr::ScalarSubquery(Subquery { subquery: limit.input.clone(), ..asked.clone() })),
        _ => refuse(),
    }
}

pub(super) fn number(expr: Option<&Expr>, otherwise: i64) -> Option<i64> {
    match expr {
        None => Some(otherwise),
        Some(Expr::Literal(ScalarValue::Int64(Some(number)), _)) => Some(*number),
        Some(Expr::Literal(value, _)) if value.is_null() => Some(otherwise),
        Some(_) => None,
    }
}

pub(super) fn refuse<T>() -> Result<T> {
    let error = Error::new(ErrorCode::Unsupported, "this subquery over columns of the query around it is not in Weir");
    Err(carry(error.with_hint("write it as a join; for the first row of each group, number the rows with row_number() OVER (PARTITION BY …)")))
}

/// The value of the first row in the order of the question, or of a later one.
fn first(asked: &Subquery, question: &LogicalPlan, skip: i64) -> Result<Expr> {
    let Ordered { rows, value, order } = Ordered::of(question);
    let picked = match skip {
        0 => first_value(value, order),
        skip => nth_value(value, skip.saturating_add(1), order),
    };
    aggregate(asked, rows, picked)
}

/// A question as rows, the value of each, and their order.
struct Ordered<'a> {
    rows: &'a LogicalPlan,
    value: Expr,
    order: Vec<SortExpr>,
}

impl<'a> Ordered<'a> {
    fn of(question: &'a LogicalPlan) -> Self {
        match question {
            LogicalPlan::Sort(sort) => {
                let value = Expr::Column(sort.input.schema().columns().swap_remove(0));
                Self { rows: &sort.input, value, order: sort.expr.clone() }
            }
            // The keys were columns that are not selected.
            LogicalPlan::Projection(Projection { expr, input, .. }) if matches!(input.as_ref(), LogicalPlan::Sort(_)) => {
                let below = Self::of(input);
                Self { value: expr[0].clone().unalias(), ..below }
            }
            other => Self { rows: other, value: Expr::Column(other.schema().columns().swap_remove(0)), order: Vec::new() },
        }
    }
}

/// Error: 0A000 for a window in a question whose rows are picked by columns of the query around it: the rows of all would be in it.
fn check_windows(question: &LogicalPlan) -> Result<()> {
    let picks = |plan: &LogicalPlan| plan.exists(|node| Ok(node.contains_outer_reference()));
    let spoiled = question.exists(|node| match node {
        LogicalPlan::Window(window) => picks(&window.input),
        _ => Ok(false),
    })?;
    if spoiled { refuse() } else { Ok(()) }
}
