// SPDX-License-Identifier: Apache-2.0
//! `x IN (question)` is unknown when `x` is NULL, or when it is not found and the answer has a NULL. The query engine's joins say
//! true or false. Where that makes a difference the expression is written out, so that it can also stand in a SELECT list.

use super::same::same;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Column, DFSchema, ExprSchema, Result, ScalarValue};
use datafusion::functions_aggregate::expr_fn::count;
use datafusion::logical_expr::expr::{Exists, InSubquery};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::utils::{conjunction, merge_schema, split_conjunction_owned};
use datafusion::logical_expr::{
    BinaryExpr, Expr, ExprSchemable, Filter, JoinType, LogicalPlan, LogicalPlanBuilder, Operator, exists, lit, not, not_exists, out_ref_col, scalar_subquery,
    when,
};
use datafusion::optimizer::AnalyzerRule;
use std::sync::Arc;

/// The name by which a question behind `IN` is known to the conditions put over it.
const MEMBERS: &str = "weir_members";

#[derive(Debug)]
pub(super) struct ThreeValues;

impl AnalyzerRule for ThreeValues {
    fn name(&self) -> &str {
        "three_values"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(rewritten).data()
    }
}

fn rewritten(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    match plan {
        LogicalPlan::Filter(filter) if asks(&filter.predicate) => {
            let schema = filter.input.schema().clone();
            let predicate = condition(filter.predicate, &schema)?;
            Ok(Transformed::yes(LogicalPlan::Filter(Filter::try_new(predicate, filter.input)?)))
        }
        LogicalPlan::Join(mut join) if join.join_type == JoinType::Inner && join.filter.as_ref().is_some_and(asks) => {
            let schema = join.schema.clone();
            join.filter = join.filter.map(|filter| condition(filter, &schema)).transpose()?;
            Ok(Transformed::yes(LogicalPlan::Join(join)))
        }
        LogicalPlan::Projection(_) | LogicalPlan::Aggregate(_) | LogicalPlan::Sort(_) => {
            let schema = merge_schema(&plan.inputs());
            let names = NamePreserver::new(&plan);
            plan.map_expressions(|expr| {
                let name = names.save(&expr);
                let changed = expr.transform_up(|node| value(node, &schema))?;
                Ok(changed.update_data(|expr| name.restore(expr)))
            })
        }
        other => Ok(Transformed::no(other)),
    }
}

fn asks(expr: &Expr) -> bool {
    expr.exists(|node| Ok(matches!(node, Expr::InSubquery(_)))).unwrap_or(false)
}

/// The condition of a filter: unknown is as good as false at its top, and nowhere else.
fn condition(predicate: Expr, schema: &DFSchema) -> Result<Expr> {
    let parts = split_conjunction_owned(predicate).into_iter().map(|part| top(part, schema)).collect::<Result<Vec<_>>>()?;
    Ok(conjunction(parts).unwrap_or_else(|| lit(true)))
}

/// One part of a condition. What is asked at its top the query engine turns into a join of its own.
fn top(part: Expr, schema: &DFSchema) -> Result<Expr> {
    match part {
        Expr::Not(inner) => match *inner {
            Expr::InSubquery(InSubquery { expr, subquery, negated }) => top(Expr::InSubquery(InSubquery::new(expr, subquery, !negated)), schema),
            other => embedded(not(other), schema),
        },
        Expr::InSubquery(asked) if asked.negated => not_in(asked, schema),
        Expr::InSubquery(_) => Ok(part),
        other => embedded(other, schema),
    }
}

fn not_in(asked: InSubquery, schema: &DFSchema) -> Result<Expr> {
    let member = Member::of(&asked, schema)?;
    let joined = asked.subquery.outer_ref_columns.is_empty() && !asked.expr.column_refs().is_empty();
    if member.known() {
        return Ok(Expr::InSubquery(asked));
    }
    if joined {
        let InSubquery { expr, subquery, negated } = asked;
        return Ok(Expr::InSubquery(InSubquery::new(Box::new(same(*expr)), subquery, negated)));
    }
    // Neither equal to a member, nor undecided about one.
    let undecided = member.column.clone().is_null().or(member.outer.clone().is_null());
    let met = LogicalPlanBuilder::from(member.question.clone()).filter(member.column.clone().eq(member.outer.clone()).or(undecided))?.build()?;
    Ok(not_exists(Arc::new(met)))
}

/// Where neither `NOT` nor anything else can tell unknown from false, a plain `IN` stays as it is.
fn embedded(expr: Expr, schema: &DFSchema) -> Result<Expr> {
    match expr {
        Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::And | Operator::Or), right }) => {
            let (left, right) = (embedded(*left, schema)?, embedded(*right, schema)?);
            Ok(Expr::BinaryExpr(BinaryExpr::new(Box::new(left), op, Box::new(right))))
        }
        Expr::InSubquery(asked) if !asked.negated => Ok(Expr::InSubquery(asked)),
        other => other.transform_up(|node| in_filter(node, schema)).data(),
    }
}

fn in_filter(node: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let Expr::InSubquery(asked) = node else { return Ok(Transformed::no(node)) };
    let member = Member::of(&asked, schema)?;
    let found = exists(Arc::new(member.equal()?));
    member.told(found, asked.negated).map(Transformed::yes)
}

/// An expression of a SELECT list, where only scalar subqueries can stand.
fn value(node: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    match node {
        Expr::Exists(Exists { subquery, negated }) => {
            let some = any_row(LogicalPlanBuilder::from(subquery.subquery.as_ref().clone()), subquery.outer_ref_columns.is_empty())?;
            Ok(Transformed::yes(if negated { not(some) } else { some }))
        }
        Expr::InSubquery(asked) => {
            let member = Member::of(&asked, schema)?;
            let equal = member.equal()?;
            let found = any_row(LogicalPlanBuilder::from(equal), false)?;
            member.told(found, asked.negated).map(Transformed::yes)
        }
        other => Ok(Transformed::no(other)),
    }
}

/// Whether a question has an answer, as a scalar subquery. One row is enough, unless the rows are for a join to count.
fn any_row(question: LogicalPlanBuilder, alone: bool) -> Result<Expr> {
    let rows = if alone { question.limit(0, Some(1))? } else { question };
    let counted = rows.aggregate(Vec::<Expr>::new(), vec![count(lit(1_i64))])?.build()?;
    Ok(scalar_subquery(Arc::new(counted)).gt(lit(0_i64)))
}

/// The answer has no rows.
const EMPTY: i64 = 0;
/// It has rows, and no NULL is among them.
const KNOWN: i64 = 1;
/// A NULL is among them.
const UNKNOWN: i64 = 2;

/// One `x IN (question)`.
struct Member<'a> {
    /// `x`, which may be NULL or not.
    value: &'a Expr,
    value_nullable: bool,
    /// `x` as the question sees it.
    outer: Expr,
    question: LogicalPlan,
    column: Expr,
    column_nullable: bool,
}

impl<'a> Member<'a> {
    fn of(asked: &'a InSubquery, schema: &DFSchema) -> Result<Self> {
        let question = asked.subquery.subquery.as_ref().clone();
        // A name would hide the columns that tie a question to the one around it.
        let question = match asked.subquery.outer_ref_columns.is_empty() {
            true => LogicalPlanBuilder::from(question).alias(MEMBERS)?.build()?,
            false => question,
        };
        let (qualifier, field) = question.schema().qualified_field(0);
        let column = Expr::Column(Column::from((qualifier, field)));
        let column_nullable = field.is_nullable();
        let outer = asked.expr.as_ref().clone().transform_up(|node| seen_from_inside(node, schema)).data()?;
        let value_nullable = asked.expr.nullable(schema)?;
        Ok(Self { value: &asked.expr, value_nullable, outer, question, column, column_nullable })
    }

    /// Never unknown.
    fn known(&self) -> bool {
        !self.value_nullable && !self.column_nullable
    }

    /// The members that are equal to `x`.
    fn equal(&self) -> Result<LogicalPlan> {
        LogicalPlanBuilder::from(self.question.clone()).filter(self.column.clone().eq(self.outer.clone()))?.build()
    }

    /// `EMPTY`, `KNOWN` or `UNKNOWN`, as a scalar subquery.
    fn summary(&self) -> Result<Expr> {
        let counts = vec![count(lit(1_i64)).alias("weir_rows"), count(self.column.clone()).alias("weir_values")];
        let (rows, values) = (Expr::Column(Column::from_name("weir_rows")), Expr::Column(Column::from_name("weir_values")));
        let summary = when(rows.clone().eq(lit(0_i64)), lit(EMPTY)).when(rows.eq(values), lit(KNOWN)).otherwise(lit(UNKNOWN))?;
        let plan = LogicalPlanBuilder::from(self.question.clone()).aggregate(Vec::<Expr>::new(), counts)?.project(vec![summary.alias("weir_summary")])?;
        Ok(scalar_subquery(Arc::new(plan.build()?)))
    }

    /// True, false or unknown, given an expression for "is found".
    fn told(&self, found: Expr, negated: bool) -> Result<Expr> {
        if self.known() {
            return Ok(if negated { not(found) } else { found });
        }
        let unknown = lit(ScalarValue::Boolean(None));
        let summary = self.summary()?;
        let not_known = summary.clone().eq(lit(UNKNOWN)).or(self.value.clone().is_null());
        when(found, lit(!negated)).when(summary.eq(lit(EMPTY)), lit(negated)).when(not_known, unknown).otherwise(lit(negated))
    }
}

fn seen_from_inside(node: Expr, schema: &DFSchema) -> Result<Transformed<Expr>> {
    let Expr::Column(column) = node else { return Ok(Transformed::no(node)) };
    let data_type = schema.data_type(&column)?.clone();
    Ok(Transformed::yes(out_ref_col(data_type, column)))
}
