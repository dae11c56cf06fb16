// SPDX-License-Identifier: Apache-2.0
//! Tables of one source are joined with each other first, where the question allows it: then their source can do it in one statement.
//! Inner joins may be done in any order; that between the places is the one in which the fewest rows move.

use super::cut::source_of;
use super::join_order::{Link, Part, Parts, Tree, best};
use crate::sizes::{Facts, Size, column, keys};
use arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, JoinConstraint, JoinType, NullEquality, Result};
use datafusion::execution::SessionState;
use datafusion::logical_expr::logical_plan::{Filter, Join, Projection};
use datafusion::logical_expr::utils::{conjunction, split_conjunction_owned};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, LogicalPlan, Operator};
use datafusion::optimizer::Optimizer;
use std::sync::Arc;
use weir_base::SourceName;

/// The plan with its inner joins in an order in which sources can do more of them.
pub(crate) fn regroup(plan: LogicalPlan, state: &SessionState) -> Result<LogicalPlan> {
    let moved = moved(plan)?;
    if !moved.transformed {
        return Ok(moved.data);
    }
    // Columns that only a join inside a source needs do not travel.
    let rules = state.optimizers().iter().filter(|rule| rule.name() == "optimize_projections").cloned().collect();
    Optimizer::with_rules(rules).optimize(moved.data, state, |_, _| {})
}

fn moved(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    plan.transform_down_with_subqueries(|node| {
        let Some(chain) = Chain::of(&node) else { return Ok(Transformed::no(node)) };
        Ok(match chain.regrouped(&node)? {
            Some(better) => Transformed::new(better, true, TreeNodeRecursion::Jump),
            None => Transformed::no(node),
        })
    })
}

/// Inner joins that stand directly above each other.
#[derive(Default)]
struct Chain {
    parts: Vec<LogicalPlan>,
    conditions: Vec<Expr>,
}

impl Chain {
    fn of(plan: &LogicalPlan) -> Option<Self> {
        if !matches!(plan, LogicalPlan::Join(join) if free(join)) {
            return None;
        }
        let mut chain = Self::default();
        chain.add(plan);
        (chain.parts.len() > 2 && chain.conditions.iter().all(|condition| chain.cannot_fail(condition))).then_some(chain)
    }

    fn add(&mut self, plan: &LogicalPlan) {
        match plan {
            LogicalPlan::Join(join) if free(join) => {
                self.add(&join.left);
                self.add(&join.right);
                self.conditions.extend(join.on.iter().map(|(left, right)| left.clone().eq(right.clone())));
                self.conditions.extend(join.filter.iter().flat_map(|filter| split_conjunction_owned(filter.clone())));
            }
            LogicalPlan::Projection(projection) if projection.expr.iter().all(|expr| matches!(expr, Expr::Column(_))) && above_joins(&projection.input) => {
                self.add(&projection.input);
            }
            LogicalPlan::Filter(filter) if above_joins(&filter.input) => {
                self.add(&filter.input);
                self.conditions.extend(split_conjunction_owned(filter.predicate.clone()));
            }
            other => self.parts.push(other.clone()),
        }
    }

    /// Whether a condition can be asked of any rows. Only what widens a number may be cast.
    fn cannot_fail(&self, condition: &Expr) -> bool {
        use Operator::{And, Eq, Gt, GtEq, IsDistinctFrom, IsNotDistinctFrom, Lt, LtEq, NotEq, Or};
        let harmless = |node: &Expr| match node {
            Expr::BinaryExpr(BinaryExpr { op, .. }) => matches!(op, And | Eq | Gt | GtEq | IsDistinctFrom | IsNotDistinctFrom | Lt | LtEq | NotEq | Or),
            Expr::Cast(cast) => self.type_of(&cast.expr).is_some_and(|from| widens(&from, cast.field.data_type())),
            Expr::Column(_) | Expr::Literal(..) | Expr::Not(_) | Expr::IsNull(_) | Expr::IsNotNull(_) | Expr::Between(_) | Expr::InList(_) | Expr::Like(_) => {
                true
            }
            _ => false,
        };
        !condition.exists(|node| Ok(!harmless(node))).unwrap_or(true)
    }

    fn type_of(&self, expr: &Expr) -> Option<DataType> {
        self.parts.iter().find_map(|part| expr.get_type(part.schema()).ok())
    }

    /// The same joins in another order; `None` where that brings nothing, or cannot be written.
    fn regrouped(self, before: &LogicalPlan) -> Result<Option<LogicalPlan>> {
        let sources: Vec<Option<SourceName>> = self.parts.iter().map(source_of).collect();
        if sources.iter().all(|source| source.is_some() && *source == sources[0]) {
            return Ok(None);
        }
        let count = self.parts.len();
        let mut islands: Vec<Island> = Vec::new();
        let mut left: Vec<Expr> = self.conditions;
        for (number, (part, source)) in self.parts.into_iter().zip(sources).enumerate() {
            let mut island = Island { size: Size::of(&part), plan: moved(part)?.data, source, number };
            while let Some(at) = islands.iter().position(|other| other.beside(&island, &left)) {
                island = islands.remove(at).joined(island, &mut left)?;
            }
            islands.push(island);
        }
        islands.sort_by_key(|island| island.number);
        let whole = match islands.len() {
            1 => islands.pop(),
            _ => ordered(islands, count, &mut left)?,
        };
        let Some(whole) = whole.filter(|_| left.is_empty()) else { return Ok(None) };
        let columns = before.schema().iter().map(|(qualifier, field)| Expr::Column(Column::new(qualifier.cloned(), field.name()))).collect();
        let same = Projection::try_new_with_schema(columns, Arc::new(whole.plan), before.schema().clone())?;
        Ok(Some(LogicalPlan::Projection(same)))
    }
}

/// All islands as one; `None` where they stand as they were written, or do not hang together.
fn ordered(islands: Vec<Island>, written: usize, left: &mut Vec<Expr>) -> Result<Option<Island>> {
    let parts: Vec<Part> = islands.iter().map(|island| Part { rows: island.size.rows, remote: island.source.is_some() }).collect();
    let links: Vec<Link> = left.iter().filter_map(|condition| link(&islands, condition)).collect();
    let Some(tree) = best(&parts, &links) else { return Ok(None) };
    if islands.len() == written && as_written(&tree) {
        return Ok(None);
    }
    let mut waiting: Vec<Option<Island>> = islands.into_iter().map(Some).collect();
    build(&tree, &mut waiting, left)
}

/// Whether each part is joined with all before it, on whichever side.
fn as_written(tree: &Tree) -> bool {
    fn last(tree: &Tree) -> Option<usize> {
        match tree {
            Tree::Part(index) => (*index == 0).then_some(0),
            Tree::Join(left, right) => {
                let next = |tree: &Tree, part: &Tree| last(tree).filter(|last| *part == Tree::Part(last + 1)).map(|last| last + 1);
                next(left, right).or_else(|| next(right, left))
            }
        }
    }
    last(tree).is_some()
}

fn build(tree: &Tree, waiting: &mut [Option<Island>], left: &mut Vec<Expr>) -> Result<Option<Island>> {
    match tree {
        Tree::Part(index) => Ok(waiting.get_mut(*index).and_then(Option::take)),
        Tree::Join(first, second) => {
            let (Some(first), Some(second)) = (build(first, waiting, left)?, build(second, waiting, left)?) else { return Ok(None) };
            first.joined(second, left).map(Some)
        }
    }
}

/// What a condition says of the islands; nothing for one that is over no columns.
fn link(islands: &[Island], condition: &Expr) -> Option<Link> {
    let over = |expr: &Expr| -> Option<Parts> {
        let place = |wanted: &&Column| islands.iter().position(|island| island.plan.schema().has_column(wanted));
        expr.column_refs().iter().map(|column| place(column).map(|index| 1 << index)).try_fold(0, |all: Parts, one| one.map(|one: Parts| all | one))
    };
    let facts = |expr: &Expr, parts: Parts| -> Option<f64> {
        let index = parts.trailing_zeros() as usize;
        let island = islands.get(index).filter(|_| parts.count_ones() == 1)?;
        let facts: Facts = island.size.facts(expr, island.plan.schema());
        column(expr, island.plan.schema()).and(facts.distinct)
    };
    if let Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) = condition {
        let (l, r) = (over(left)?, over(right)?);
        if l != 0 && r != 0 && l & r == 0 {
            return Some(Link::Key { left: l, right: r, distinct: (facts(left, l), facts(right, r)) });
        }
    }
    let parts = over(condition).filter(|parts| *parts != 0)?;
    Some(Link::Other { parts, share: crate::sizes::FILTER_KEEPS })
}

/// Tables that are joined already.
struct Island {
    plan: LogicalPlan,
    /// The one source that all of it is in.
    source: Option<SourceName>,
    size: Size,
    /// Where its first part stands in the question.
    number: usize,
}

impl Island {
    /// Both in one source, with an equality between them that does not make many rows out of few.
    fn beside(&self, other: &Self, conditions: &[Expr]) -> bool {
        const GROWS_MAX: f64 = 4.0;
        if self.source.is_none() || self.source != other.source {
            return false;
        }
        let on: Vec<(Expr, Expr)> = conditions.iter().filter_map(|condition| self.key(other, condition)).collect();
        if on.is_empty() {
            return false;
        }
        let own: Vec<Facts> = on.iter().map(|(expr, _)| self.size.facts(expr, self.plan.schema())).collect();
        let others: Vec<Facts> = on.iter().map(|(_, expr)| other.size.facts(expr, other.plan.schema())).collect();
        let (a, b) = (self.size.rows, other.size.rows);
        let rows = a * b / keys(own.iter(), a).max(keys(others.iter(), b));
        rows <= GROWS_MAX * (a + b) || !self.size.known || !other.size.known
    }

    /// An equality of a value of each side.
    fn key(&self, other: &Self, condition: &Expr) -> Option<(Expr, Expr)> {
        let Expr::BinaryExpr(BinaryExpr { left, op: Operator::Eq, right }) = condition else { return None };
        let of = |island: &Self, expr: &Expr| !expr.column_refs().is_empty() && island.has(expr);
        match () {
            () if of(self, left) && of(other, right) => Some((left.as_ref().clone(), right.as_ref().clone())),
            () if of(self, right) && of(other, left) => Some((right.as_ref().clone(), left.as_ref().clone())),
            () => None,
        }
    }

    fn has(&self, expr: &Expr) -> bool {
        expr.column_refs().into_iter().all(|column| self.plan.schema().has_column(column))
    }

    /// Both as one, with every condition that can be asked by now.
    fn joined(self, other: Self, left: &mut Vec<Expr>) -> Result<Self> {
        let mut on = Vec::new();
        left.retain(|condition| match self.key(&other, condition) {
            Some(key) => {
                on.push(key);
                false
            }
            None => true,
        });
        let source = if self.source == other.source { self.source.clone() } else { None };
        let join =
            Join::try_new(Arc::new(self.plan), Arc::new(other.plan), on, None, JoinType::Inner, JoinConstraint::On, NullEquality::NullEqualsNothing, false)?;
        let plan = LogicalPlan::Join(join);
        let mut island = Self { size: Size::of(&plan), plan, source, number: self.number.min(other.number) };
        let (now, later): (Vec<Expr>, Vec<Expr>) = left.drain(..).partition(|condition| island.has(condition));
        *left = later;
        if let Some(condition) = conjunction(now) {
            island.plan = LogicalPlan::Filter(Filter::try_new(condition, Arc::new(island.plan))?);
            island.size = Size::of(&island.plan);
        }
        Ok(island)
    }
}

/// An inner join that may be done sooner or later.
fn free(join: &Join) -> bool {
    join.join_type == JoinType::Inner && join.null_equality == NullEquality::NullEqualsNothing && !join.null_aware && !join.on.is_empty()
}

fn above_joins(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::Join(join) => free(join),
        LogicalPlan::Projection(projection) => above_joins(&projection.input),
        LogicalPlan::Filter(filter) => above_joins(&filter.input),
        _ => false,
    }
}

/// Whether every value has a place in the other type.
fn widens(from: &DataType, to: &DataType) -> bool {
    use DataType::{Date32, Decimal128, Float32, Float64, Int16, Int32, Int64, LargeUtf8, Timestamp, UInt32, Utf8, Utf8View};
    match (from, to) {
        _ if from == to => true,
        (Int16 | Int32 | UInt32, Int64 | Float64) | (Int16, Int32) | (Float32, Float64) | (Utf8 | Utf8View | LargeUtf8, Utf8 | Utf8View | LargeUtf8) => true,
        (whole, Decimal128(precision, scale)) if whole.is_integer() => i16::from(*precision) - i16::from(*scale) >= 20,
        (Decimal128(p, s), Decimal128(precision, scale)) => scale >= s && i16::from(*precision) - i16::from(*scale) >= i16::from(*p) - i16::from(*s),
        (Date32, Timestamp(_, None)) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::SourceHandle;
    use crate::scan::SourceTableProvider;
    use datafusion::datasource::provider_as_source;
    use datafusion::execution::SessionStateBuilder;
    use datafusion::logical_expr::{LogicalPlanBuilder, cast, col, lit};
    use std::collections::BTreeMap;
    use weir_api::PushDown;
    use weir_base::TableName;
    use weir_guard::{Guard, Limits};
    use weir_source::{Column as SourceColumn, SourceSpec, SourceTable, TableKind, ValuePolicy, connect};

    fn column(name: &str, data_type: DataType) -> SourceColumn {
        SourceColumn {
            name: name.into(),
            native_type: "integer".into(),
            data_type,
            nullable: true,
            collation: None,
            bytewise_equality: false,
            read_as: None,
            labels: None,
            degraded: None,
            altering: weir_source::Altering::default(),
        }
    }

    /// A table of a source that nobody connects to, with keys `id` and `other` and a number of rows.
    fn scan(source: &str, table: &str, rows: u64) -> LogicalPlanBuilder {
        let spec = SourceSpec {
            name: SourceName::new(source),
            kind: "postgres".into(),
            url: "postgres://nobody@nowhere.invalid/nothing".into(),
            allow_primary: true,
            nan: ValuePolicy::Keep,
            infinity: ValuePolicy::Keep,
            limits: Limits::default(),
            options: BTreeMap::new(),
        };
        let guard = Guard::new(spec.name.clone(), spec.limits.clone());
        let known = SourceTable {
            schema: "s".into(),
            name: table.into(),
            kind: TableKind::Table,
            columns: vec![column("id", DataType::Int32), column("other", DataType::Int32), column("name", DataType::Utf8)],
            rows_estimate: Some(rows),
            bytes_estimate: None,
            comment: None,
            unique: Vec::new(),
        };
        let handle = Arc::new(SourceHandle::new(connect(spec).unwrap(), guard));
        let provider = SourceTableProvider::new(handle, TableName::new(source, "s", table), Arc::new(known), PushDown::On);
        LogicalPlanBuilder::scan(table, provider_as_source(Arc::new(provider)), None).unwrap()
    }

    fn joined(left: LogicalPlanBuilder, right: LogicalPlanBuilder, on: (&str, &str)) -> LogicalPlanBuilder {
        left.join(right.build().unwrap(), JoinType::Inner, (vec![on.0], vec![on.1]), None).unwrap()
    }

    /// The tables of each join from the inside out, those of one join in their order.
    fn order(plan: LogicalPlan) -> String {
        fn shown(plan: &LogicalPlan) -> String {
            match plan {
                LogicalPlan::Join(join) => format!("({} {})", shown(&join.left), shown(&join.right)),
                LogicalPlan::TableScan(scan) => scan.table_name.to_string(),
                other => other.inputs().into_iter().map(shown).collect::<Vec<_>>().join(" "),
            }
        }
        let state = SessionStateBuilder::new().with_default_features().build();
        let schema = plan.schema().clone();
        let regrouped = regroup(plan, &state).unwrap();
        assert_eq!(regrouped.schema().fields(), schema.fields(), "the columns stay where they were");
        shown(&regrouped)
    }

    /// Whether the two tables of `app` are joined with each other.
    fn together(plan: LogicalPlan) -> bool {
        let order = order(plan);
        order.contains("(a b)") || order.contains("(b a)")
    }

    #[tokio::test]
    async fn tables_of_one_source_are_joined_first() {
        let apart = joined(joined(scan("app", "a", 100), scan("lake", "c", 10), ("a.id", "c.id")), scan("app", "b", 1000), ("a.id", "b.other"));
        assert!(together(apart.build().unwrap()));
        let beside = joined(joined(scan("app", "a", 100), scan("app", "b", 10), ("a.id", "b.id")), scan("app", "d", 1000), ("a.id", "d.other"));
        assert_eq!(order(beside.build().unwrap()), "((a b) d)", "all is in one place already");
        let unrelated = joined(joined(scan("app", "a", 100), scan("lake", "c", 10), ("a.id", "c.id")), scan("app", "b", 1000), ("c.other", "b.other"));
        assert!(!together(unrelated.build().unwrap()), "no equality joins the two of one source");
    }

    #[tokio::test]
    async fn what_may_fail_keeps_its_place() {
        let three = || joined(joined(scan("app", "a", 100), scan("lake", "c", 10), ("a.id", "c.id")), scan("app", "b", 1000), ("a.id", "b.other"));
        let filtered = |condition: Expr| three().filter(condition).unwrap().build().unwrap();
        assert!(together(filtered(col("a.other").lt(col("c.other")))));
        assert!(together(filtered(cast(col("a.other"), DataType::Int64).lt(lit(7_i64)))));
        let outer = scan("app", "a", 100).join(scan("lake", "c", 10).build().unwrap(), JoinType::Left, (vec!["a.id"], vec!["c.id"]), None).unwrap();
        assert!(!together(joined(outer, scan("app", "b", 1000), ("a.id", "b.other")).build().unwrap()), "an outer join stays where it is");
        // A text may be no number, and a zero may be divided by; such a condition has to be a part of the joins to hold them.
        for failing in [cast(col("a.name"), DataType::Int64).lt(lit(7_i64)), (lit(10) / col("a.other")).lt(lit(7))] {
            let below = joined(scan("app", "a", 100), scan("lake", "c", 10), ("a.id", "c.id")).filter(failing).unwrap();
            assert!(!together(joined(below, scan("app", "b", 1000), ("a.id", "b.other")).build().unwrap()));
        }
    }

    #[test]
    fn only_what_holds_every_value_is_wider() {
        assert!(widens(&DataType::Int32, &DataType::Float64) && widens(&DataType::Decimal128(10, 2), &DataType::Decimal128(12, 4)));
        assert!(!widens(&DataType::Int64, &DataType::Float64) && !widens(&DataType::Decimal128(10, 2), &DataType::Decimal128(11, 4)));
        assert!(!widens(&DataType::Utf8, &DataType::Int32) && !widens(&DataType::Int64, &DataType::Decimal128(19, 0)));
    }
}
