// SPDX-License-Identifier: Apache-2.0
//! Shortcuts of the planner that lead to other rows, and are not taken here.
//!
//! * GROUP BY of nothing but constants: no rows make no group, but one without keys is a row for all.
//! * A condition without columns is moved below a GROUP BY, also below one that makes a row out of no rows: `HAVING false` would count none
//!   instead of giving none.
//! * What depends on what: the planner notes that the keys of a GROUP BY tell its rows apart, and drops what it holds for repeated behind
//!   ORDER BY, GROUP BY and DISTINCT. It counts columns wrongly where something computed stands in front of a key
//!   (`SELECT k % 2, k, count(*) … GROUP BY k ORDER BY 1, 3`), so nothing is dropped by that. It also adds keys to the GROUP BY of a
//!   question around such a one. For that it would have to see all keys of the inner one: each GROUP BY gets one more, a constant that no
//!   question selects, while names are bound.
//! * A join that takes NULLs for equal (`IS NOT DISTINCT FROM`) around one that does not: made one tree of joins, both did.
//! * The first rows of a union: where a column is one constant in each arm, the arms are sorted without it. But they also leave out what
//!   comes after the rows that another arm has found, and between the arms that column counts.

use crate::list_logic::ListLogic;
use crate::moments::WholeDays;
use crate::scan::Proven;
use crate::whole_ranges::WholeRanges;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{DFSchemaRef, FunctionalDependencies, JoinType, NullEquality, Result, ScalarValue};
use datafusion::execution::SessionState;
use datafusion::logical_expr::logical_plan::Distinct;
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{Aggregate, Expr, Join, LogicalPlan, SortExpr};
use datafusion::optimizer::common_subexpr_eliminate::CommonSubexprEliminate;
use datafusion::optimizer::optimizer::{ApplyOrder, Optimizer};
use datafusion::optimizer::replace_distinct_aggregate::ReplaceDistinctWithAggregate;
use datafusion::optimizer::{OptimizerConfig, OptimizerRule};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::sorts::sort_preserving_merge::SortPreservingMergeExec;
use datafusion::sql::sqlparser::ast::{Expr as SqlExpr, GroupByExpr, Select, Statement, Value, VisitMut, VisitorMut};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The key that is there only while names are bound.
const MARK: &str = "the last key of a GROUP BY";

/// Adds the mark to each GROUP BY. Whether there was one.
pub(crate) fn mark_groups(statement: &mut Statement) -> bool {
    let mut marks = Marks { marked: false };
    let _ = statement.visit(&mut marks);
    marks.marked
}

struct Marks {
    marked: bool,
}

impl VisitorMut for Marks {
    type Break = ();

    fn pre_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        let GroupByExpr::Expressions(keys, modifiers) = &mut select.group_by else { return ControlFlow::Continue(()) };
        let sets = |key: &SqlExpr| matches!(key, SqlExpr::Rollup(_) | SqlExpr::Cube(_) | SqlExpr::GroupingSets(_) | SqlExpr::Tuple(_));
        if !keys.is_empty() && modifiers.is_empty() && !keys.iter().any(sets) {
            keys.push(SqlExpr::value(Value::SingleQuotedString(MARK.to_owned())));
            self.marked = true;
        }
        ControlFlow::Continue(())
    }
}

/// The plan without the marks.
pub(crate) fn without_marks(plan: LogicalPlan) -> Result<LogicalPlan> {
    let mark = |key: &Expr| matches!(key, Expr::Literal(ScalarValue::Utf8(Some(text)), _) if text == MARK);
    let unmarked = plan.transform_up_with_subqueries(|node| match node {
        LogicalPlan::Aggregate(mut aggregate) if aggregate.group_expr.iter().any(mark) => {
            aggregate.group_expr.retain(|key| !mark(key));
            let Aggregate { input, group_expr, aggr_expr, .. } = aggregate;
            Ok(Transformed::yes(LogicalPlan::Aggregate(Aggregate::try_new(input, group_expr, aggr_expr)?)))
        }
        other => other.recompute_schema().map(Transformed::yes),
    });
    unmarked.data()
}

/// The plan whose parallel sorts for the first rows look at all that their merge looks at.
pub(crate) fn whole_sorts(plan: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let whole = |node: Arc<dyn ExecutionPlan>| {
        let Some(merge) = node.downcast_ref::<SortPreservingMergeExec>() else { return Ok(Transformed::no(node)) };
        let Some(sort) = merge.input().downcast_ref::<SortExec>() else { return Ok(Transformed::no(node)) };
        if sort.fetch().is_none() || sort.expr() == merge.expr() {
            return Ok(Transformed::no(node));
        }
        let sort = SortExec::new(merge.expr().clone(), sort.input().clone()).with_preserve_partitioning(true).with_fetch(sort.fetch());
        node.clone().with_new_children(vec![Arc::new(sort)]).map(Transformed::yes)
    };
    plan.transform_up(whole).data()
}

type Rule = Arc<dyn OptimizerRule + Send + Sync>;

/// What is computed twice is computed once, under a name of its own. That name says nothing to whoever reads a plan, and hides what is
/// behind it from a source: so this comes last, when sources have got their parts.
pub(crate) fn share_expressions(plan: LogicalPlan, state: &SessionState) -> Result<LogicalPlan> {
    Optimizer::with_rules(vec![Arc::new(CommonSubexprEliminate::new())]).optimize(plan, state, |_, _| {})
}

/// The planner's rules, with a guard around those that take such shortcuts, before each simplification our own for lists and after
/// it that for dates, and after conditions have moved down our own for those that no row fails.
pub(crate) fn optimizer_rules() -> Vec<Rule> {
    let guarded = |rule: Rule| match rule.name() {
        "eliminate_group_by_constant" => Arc::new(KeepOneKey(rule)) as Rule,
        "push_down_filter" => Arc::new(StayAbove(rule)) as Rule,
        "eliminate_duplicated_expr" | "replace_distinct_aggregate" => Arc::new(ForgetBelow(rule)) as Rule,
        "eliminate_cross_join" => Arc::new(KeepNullsApart(rule)) as Rule,
        "optimize_projections" => Arc::new(ForgetEverywhere(rule)) as Rule,
        _ => rule,
    };
    let mut rules: Vec<Rule> = vec![Arc::new(FirstOfEach(Arc::new(ForgetBelow(Arc::new(ReplaceDistinctWithAggregate::new())))))];
    for rule in Optimizer::new().rules.into_iter().filter(|rule| rule.name() != CommonSubexprEliminate::new().name()) {
        let simplifies = rule.name() == "simplify_expressions";
        let moves_down = rule.name() == "push_down_filter";
        if simplifies {
            rules.push(Arc::new(ListLogic));
        }
        rules.push(guarded(rule));
        if moves_down {
            rules.push(Arc::new(Proven));
        }
        if simplifies {
            rules.push(Arc::new(WholeDays));
            rules.push(Arc::new(WholeRanges));
        }
    }
    rules
}

/// Removes constants from GROUP BY where something else groups.
#[derive(Debug)]
struct KeepOneKey(Rule);

impl OptimizerRule for KeepOneKey {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let constant = |aggregate: &Aggregate| aggregate.group_expr.iter().all(|key| key.column_refs().is_empty());
        match &plan {
            LogicalPlan::Aggregate(aggregate) if constant(aggregate) => Ok(Transformed::no(plan)),
            _ => self.0.rewrite(plan, config),
        }
    }
}

/// Moves conditions down.
#[derive(Debug)]
struct StayAbove(Rule);

impl OptimizerRule for StayAbove {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        if constant_over_all(&plan, false) { Ok(Transformed::no(plan)) } else { self.0.rewrite(plan, config) }
    }
}

/// Whether a condition without columns, or one of several filters that the rule would make one, lies on an aggregate that gives a row for no rows.
fn constant_over_all(plan: &LogicalPlan, constant: bool) -> bool {
    match plan {
        LogicalPlan::Filter(filter) => {
            let here = split_conjunction(&filter.predicate).iter().any(|condition| condition.column_refs().is_empty());
            constant_over_all(&filter.input, constant || here)
        }
        LogicalPlan::Aggregate(aggregate) => {
            constant && (aggregate.group_expr.is_empty() || aggregate.group_expr.iter().any(|key| matches!(key, Expr::GroupingSet(_))))
        }
        _ => false,
    }
}

/// Makes one join tree of nested joins, in which NULLs are equal for all joins or for none.
#[derive(Debug)]
struct KeepNullsApart(Rule);

impl OptimizerRule for KeepNullsApart {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let nulls_equal = |node: &LogicalPlan| {
            let inner = |join: &Join| join.join_type == JoinType::Inner && join.null_equality == NullEquality::NullEqualsNull;
            Ok(matches!(node, LogicalPlan::Join(join) if inner(join)))
        };
        if plan.exists(nulls_equal)? { Ok(Transformed::no(plan)) } else { self.0.rewrite(plan, config) }
    }
}

/// A rule for one node at a time, which must not ask what the columns below depend on.
#[derive(Debug)]
struct ForgetBelow(Rule);

impl OptimizerRule for ForgetBelow {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let plan = match plan {
            LogicalPlan::Sort(mut sort) => {
                sort.input = forgetful(sort.input)?;
                LogicalPlan::Sort(sort)
            }
            LogicalPlan::Distinct(Distinct::All(input)) => LogicalPlan::Distinct(Distinct::All(forgetful(input)?)),
            // A key that comes again decides nothing, and there is no place for it in the first rows of groups.
            LogicalPlan::Distinct(Distinct::On(mut on)) => {
                on.sort_expr = on.sort_expr.map(once);
                LogicalPlan::Distinct(Distinct::On(on))
            }
            other => other,
        };
        self.0.rewrite(plan, config)
    }
}

/// Makes an aggregate of `DISTINCT ON` before anything else is done: where unions are put together, or conditions move down, its columns are
/// taken for those below it.
#[derive(Debug)]
struct FirstOfEach(Rule);

impl OptimizerRule for FirstOfEach {
    fn name(&self) -> &str {
        "first_of_each"
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        match plan {
            LogicalPlan::Distinct(Distinct::On(_)) => self.0.rewrite(plan, config),
            other => Ok(Transformed::no(other)),
        }
    }
}

fn once(keys: Vec<SortExpr>) -> Vec<SortExpr> {
    let mut kept: Vec<SortExpr> = Vec::with_capacity(keys.len());
    for key in keys {
        if !kept.iter().any(|known| known.expr == key.expr) {
            kept.push(key);
        }
    }
    kept
}

/// A rule that walks the plan by itself.
#[derive(Debug)]
struct ForgetEverywhere(Rule);

impl OptimizerRule for ForgetEverywhere {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn apply_order(&self) -> Option<ApplyOrder> {
        self.0.apply_order()
    }

    fn rewrite(&self, plan: LogicalPlan, config: &dyn OptimizerConfig) -> Result<Transformed<LogicalPlan>> {
        let plan = plan.transform_up_with_subqueries(|node| match node {
            LogicalPlan::Aggregate(mut aggregate) if depends(&aggregate.input) => {
                aggregate.input = forgetful(aggregate.input)?;
                Ok(Transformed::yes(LogicalPlan::Aggregate(aggregate)))
            }
            other => Ok(Transformed::no(other)),
        });
        self.0.rewrite(plan.data()?, config)
    }
}

fn depends(plan: &LogicalPlan) -> bool {
    !plan.schema().functional_dependencies().is_empty()
}

/// The same plan, whose columns are not said to depend on each other.
fn forgetful(plan: Arc<LogicalPlan>) -> Result<Arc<LogicalPlan>> {
    if !depends(&plan) {
        return Ok(plan);
    }
    let mut plan = Arc::unwrap_or_clone(plan);
    match &mut plan {
        LogicalPlan::Projection(node) => node.schema = independent(&node.schema)?,
        LogicalPlan::SubqueryAlias(node) => node.schema = independent(&node.schema)?,
        LogicalPlan::Aggregate(node) => node.schema = independent(&node.schema)?,
        LogicalPlan::Join(node) => node.schema = independent(&node.schema)?,
        LogicalPlan::Window(node) => node.schema = independent(&node.schema)?,
        LogicalPlan::Union(node) => node.schema = independent(&node.schema)?,
        LogicalPlan::Unnest(node) => node.schema = independent(&node.schema)?,
        LogicalPlan::TableScan(node) => node.projected_schema = independent(&node.projected_schema)?,
        // These have the columns of what is below.
        LogicalPlan::Filter(node) => node.input = forgetful(node.input.clone())?,
        LogicalPlan::Sort(node) => node.input = forgetful(node.input.clone())?,
        LogicalPlan::Limit(node) => node.input = forgetful(node.input.clone())?,
        LogicalPlan::Repartition(node) => node.input = forgetful(node.input.clone())?,
        LogicalPlan::Distinct(Distinct::All(input)) => *input = forgetful(input.clone())?,
        _ => {}
    }
    Ok(Arc::new(plan))
}

fn independent(schema: &DFSchemaRef) -> Result<DFSchemaRef> {
    Ok(Arc::new(schema.as_ref().clone().with_functional_dependencies(FunctionalDependencies::empty())?))
}
