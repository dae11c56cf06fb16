// SPDX-License-Identifier: Apache-2.0
//! An aggregate over all rows of a question gives one row, whatever the row around it is: `EXISTS (SELECT max(x) …)` is true, and
//! `y IN (SELECT max(x) …)` compares with one value. The query engine would join with the rows below the aggregate. The same goes for
//! `HAVING`, which decides whether there is that row, and for `OFFSET`, which counts the rows of each question alone.

use super::one_value::{number, refuse};
use crate::walk::expressions;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult};
use datafusion::common::{Column, Result};
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::{
    Aggregate, Expr, Filter, Limit, LogicalPlan, LogicalPlanBuilder, Operator, Projection, Subquery, binary_expr, lit, not, scalar_subquery, when,
};
use datafusion::optimizer::AnalyzerRule;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Whole;

impl AnalyzerRule for Whole {
    fn name(&self) -> &str {
        "whole_questions"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(|node| expressions(node, rewritten)).data()
    }
}

fn rewritten(node: Expr) -> Result<Transformed<Expr>> {
    match &node {
        Expr::Exists(Exists { subquery, negated }) if tied(subquery) => {
            let some = match exists(&subquery.subquery)? {
                Some(some) => some,
                None => return Ok(Transformed::no(node)),
            };
            Ok(Transformed::yes(if *negated { not(some) } else { some }))
        }
        Expr::InSubquery(InSubquery { expr, subquery, negated }) if tied(subquery) => {
            let Some(row) = OneRow::of(&subquery.subquery) else { return Ok(Transformed::no(node)) };
            let op = if *negated { Operator::NotEq } else { Operator::Eq };
            let compared = binary_expr(expr.as_ref().clone(), op, row.value()?);
            Ok(Transformed::yes(match row.having() {
                None => compared,
                Some(some) => when(some?, compared).otherwise(lit(*negated))?,
            }))
        }
        Expr::ScalarSubquery(subquery) if tied(subquery) => match OneRow::of(&subquery.subquery) {
            Some(row) if row.having.is_some() => row.value().map(Transformed::yes),
            _ => Ok(Transformed::no(node)),
        },
        _ => Ok(Transformed::no(node)),
    }
}

/// Whether a question is over columns of the one around it.
fn tied(question: &Subquery) -> bool {
    !question.outer_ref_columns.is_empty()
}

/// Whether there is a row, where the query engine would not see it.
fn exists(question: &LogicalPlan) -> Result<Option<Expr>> {
    if let Some(row) = OneRow::of(question) {
        return row.having().unwrap_or_else(|| Ok(lit(true))).map(Some);
    }
    match question {
        LogicalPlan::Limit(limit) => beyond(limit),
        LogicalPlan::Projection(projection) => exists(&projection.input),
        _ => Ok(None),
    }
}

/// Whether there are more rows than are skipped.
fn beyond(limit: &Limit) -> Result<Option<Expr>> {
    let (Some(skip), Some(fetch)) = (number(limit.skip.as_deref(), 0), number(limit.fetch.as_deref(), i64::MAX)) else { return refuse() };
    if fetch == 0 {
        return Ok(Some(lit(false)));
    }
    if skip == 0 {
        return Ok(None);
    }
    let counted = LogicalPlanBuilder::from(rows_of(&limit.input).clone()).aggregate(Vec::<Expr>::new(), vec![count(lit(1_i64))])?.build()?;
    Ok(Some(scalar_subquery(Arc::new(counted)).gt(lit(skip))))
}

/// The same number of rows, in no order and of any columns.
fn rows_of(question: &LogicalPlan) -> &LogicalPlan {
    match question {
        LogicalPlan::Sort(sort) if sort.fetch.is_none() => rows_of(&sort.input),
        LogicalPlan::Projection(projection) => rows_of(&projection.input),
        other => other,
    }
}

/// A question whose answer has one row, or none for its HAVING.
struct OneRow<'a> {
    aggregate: &'a Aggregate,
    having: Option<&'a Expr>,
    value: Expr,
}

impl<'a> OneRow<'a> {
    fn of(question: &'a LogicalPlan) -> Option<Self> {
        match question {
            LogicalPlan::Sort(sort) if sort.fetch.is_none_or(|rows| rows > 0) => Self::of(&sort.input),
            LogicalPlan::Limit(limit) => {
                let whole = number(limit.skip.as_deref(), 0) == Some(0) && number(limit.fetch.as_deref(), i64::MAX).is_some_and(|rows| rows > 0);
                if whole { Self::of(&limit.input) } else { None }
            }
            LogicalPlan::Projection(Projection { expr, input, .. }) => {
                let row = Self::of(input)?;
                Some(Self { value: expr.first()?.clone().unalias(), ..row })
            }
            LogicalPlan::Filter(Filter { predicate, input, .. }) => match input.as_ref() {
                LogicalPlan::Aggregate(aggregate) => Self::over(aggregate, Some(predicate)),
                _ => None,
            },
            LogicalPlan::Aggregate(aggregate) => Self::over(aggregate, None),
            _ => None,
        }
    }

    fn over(aggregate: &'a Aggregate, having: Option<&'a Expr>) -> Option<Self> {
        let over_all = aggregate.group_expr.is_empty() && !aggregate.aggr_expr.is_empty();
        let (qualifier, field) = aggregate.schema.qualified_field(0);
        over_all.then(|| Self { aggregate, having, value: Expr::Column(Column::from((qualifier, field))) })
    }

    fn asked(&self, value: Expr) -> Result<Expr> {
        let plan = LogicalPlanBuilder::from(LogicalPlan::Aggregate(self.aggregate.clone())).project(vec![value.alias("weir_whole")])?.build()?;
        Ok(scalar_subquery(Arc::new(plan)))
    }

    /// Whether there is the row, for a question with HAVING.
    fn having(&self) -> Option<Result<Expr>> {
        let having = self.having?.clone();
        Some(when(having, lit(true)).otherwise(lit(false)).and_then(|some| self.asked(some)))
    }

    /// The value of the row, NULL where there is none.
    fn value(&self) -> Result<Expr> {
        match self.having {
            None => self.asked(self.value.clone()),
            Some(having) => self.asked(when(having.clone(), self.value.clone()).end()?),
        }
    }
}
