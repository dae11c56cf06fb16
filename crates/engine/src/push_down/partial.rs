// SPDX-License-Identifier: Apache-2.0
//! Groups made before a join of several places: the source of one side adds up its rows by the keys of the join, and only these
//! sums travel. What is added up here is exact: whole numbers and decimals, counts, extremes; each row of a group meets the same rows.

use super::block::Block;
use super::cut::{Cutter, Piece, aggregate_words, leaf, source_of};
use super::fragment::may_push;
use super::group::{self, Groups};
use super::terms::value;
use crate::arithmetic;
use crate::sizes::Size;
use arrow::datatypes::DataType;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Column, JoinType, Result};
use datafusion::logical_expr::expr::{AggregateFunction, AggregateFunctionParams};
use datafusion::logical_expr::logical_plan::{Aggregate, Filter, Join, Projection};
use datafusion::logical_expr::{AggregateUDF, Expr, ExprSchemable, LogicalPlan, cast};
use std::collections::BTreeSet;
use std::sync::Arc;
use weir_api::PushDown;
use weir_source::Reason;

/// Groups must be this much fewer than rows, or the source would work for nothing.
const ROWS_PER_GROUP_MIN: f64 = 2.0;
/// How many values a column is taken to have that is a key beside that of a join.
const VALUES_OF_A_KEY: f64 = 30.0;
/// Sums of decimals with more digits could leave their type on the way, and come back to it.
const DIGITS_MAX: u8 = 28;

impl Cutter {
    /// The groups of a join of several places, of which a source makes the first part. `None` where that is not exact, or brings nothing.
    pub(super) fn early(&mut self, plan: &Aggregate) -> Result<Option<LogicalPlan>> {
        let Some(question) = Question::of(plan)? else { return Ok(None) };
        let mut sides = Vec::new();
        sides_of(&question.input, &mut sides);
        sides.retain(|side| question.asks_only(side));
        sides.sort_by(|a, b| rows(b).total_cmp(&rows(a)));
        for side in sides {
            let Some(split) = question.split(&side)? else { continue };
            let Piece::Remote { block, .. } = self.piece(side.clone())? else { continue };
            let what = aggregate_words(&split.groups);
            let groups = may_push(self.mode, &what)
                .and_then(|()| split.cannot_fail(&block))
                .and_then(|()| split.is_worth_it(&block, self.mode))
                .and_then(|()| group::group(&split.groups, block.as_ref().clone(), &mut self.aliases));
            if let Ok(Groups { mut block, finish: None }) = groups {
                block.size = Some(Size::of(&LogicalPlan::Aggregate(split.groups.clone())));
                block.pushed.push(format!("{what} (before the join; added up here)"));
                return self.added_up(plan, &question, &split, &side, &block).map(Some);
            }
        }
        Ok(None)
    }

    fn added_up(&mut self, plan: &Aggregate, question: &Question, split: &Split, side: &LogicalPlan, block: &Block) -> Result<LogicalPlan> {
        let input = replaced(&question.input, side, &leaf(block)?)?;
        let input = self.whole(input)?;
        let mut once: Vec<Expr> = Vec::with_capacity(split.keys.len());
        split.keys.iter().for_each(|key| once.extend((!once.contains(key)).then(|| key.clone())));
        let sums = LogicalPlan::Aggregate(Aggregate::try_new(Arc::new(input), once, split.totals.clone())?);
        let keys = split.keys.iter().zip(plan.schema.iter()).map(|(key, (qualifier, field))| match key {
            Expr::Column(column) if column.relation.as_ref() == qualifier && column.name == *field.name() => key.clone(),
            Expr::Column(_) => key.clone().alias_qualified(qualifier.cloned(), field.name()),
            other => Expr::Column(Column::from_name(other.schema_name().to_string())).alias_qualified(qualifier.cloned(), field.name()),
        });
        let fields = plan.schema.iter().skip(split.keys.len());
        let values = split.finals.iter().cloned().zip(fields).map(|(value, (qualifier, field))| value.alias_qualified(qualifier.cloned(), field.name()));
        let columns = Projection::try_new_with_schema(keys.chain(values).collect(), Arc::new(sums), plan.schema.clone())?;
        Ok(LogicalPlan::Projection(columns))
    }
}

/// What is asked of the rows of a join.
struct Question {
    input: LogicalPlan,
    keys: Vec<Expr>,
    values: Vec<AggregateFunction>,
}

impl Question {
    fn of(plan: &Aggregate) -> Result<Option<Self>> {
        let mut input = plan.input.as_ref();
        let mut keys: Vec<Expr> = plan.group_expr.iter().map(unaliased).collect();
        let mut values: Vec<Expr> = plan.aggr_expr.iter().map(unaliased).collect();
        while let LogicalPlan::Projection(projection) = input {
            keys = keys.into_iter().map(|key| beneath(key, projection)).collect::<Result<_>>()?;
            values = values.into_iter().map(|value| beneath(value, projection)).collect::<Result<_>>()?;
            input = projection.input.as_ref();
        }
        let joined = matches!(input, LogicalPlan::Join(_)) || matches!(input, LogicalPlan::Filter(filter) if matches!(*filter.input, LogicalPlan::Join(_)));
        if !joined || source_of(input).is_some() || keys.iter().any(|key| matches!(key, Expr::GroupingSet(_))) {
            return Ok(None);
        }
        let function = |value: Expr| if let Expr::AggregateFunction(function) = value { Some(function) } else { None };
        let Some(values) = values.into_iter().map(function).collect::<Option<Vec<_>>>() else { return Ok(None) };
        Ok(Some(Self { input: input.clone(), keys, values }))
    }

    /// Whether all that is computed is computed of this side.
    fn asks_only(&self, side: &LogicalPlan) -> bool {
        let of_side = |expr: &Expr| expr.column_refs().into_iter().all(|column| side.schema().has_column(column));
        let asked = |function: &AggregateFunction| function.params.args.iter().chain(function.params.filter.as_deref()).all(of_side);
        self.values.iter().all(asked)
    }

    /// The two parts of the work; `None` where the parts would not add up to the whole.
    fn split(&self, side: &LogicalPlan) -> Result<Option<Split>> {
        let mut needed: BTreeSet<usize> = BTreeSet::new();
        let mut partners = Vec::new();
        if !needs(&self.input, side, &mut needed, &mut partners) {
            return Ok(None);
        }
        let of_side = |expr: &Expr| !expr.column_refs().is_empty() && expr.column_refs().into_iter().all(|column| side.schema().has_column(column));
        let mut computed = Vec::new();
        let mut keys = Vec::new();
        let join_keys = needed.len();
        for (index, key) in self.keys.iter().enumerate() {
            match key {
                key if of_side(key) && !matches!(key, Expr::Column(_)) => {
                    let name = format!("key {}", index + 1);
                    computed.push(key.clone().alias(&name));
                    keys.push(Expr::Column(Column::new_unqualified(name)));
                }
                key => {
                    needed.extend(places(key, side));
                    keys.push(key.clone());
                }
            }
        }
        if join_keys == 0 {
            return Ok(None);
        }
        let more_keys = needed.len() - join_keys + computed.len();
        let columns = needed.into_iter().map(|place| Expr::Column(Column::from(side.schema().qualified_field(place))));
        let group_keys: Vec<Expr> = columns.chain(computed).collect();
        let mut parts = Parts::default();
        for value in &self.values {
            if !parts.add(value, side)? {
                return Ok(None);
            }
        }
        let groups = Aggregate::try_new(Arc::new(side.clone()), group_keys, parts.partial)?;
        Ok(Some(Split { groups, keys, totals: parts.totals, finals: parts.finals, partners, more_keys }))
    }
}

/// The work of a source, and what is left of it here.
struct Split {
    /// What the source does with the side.
    groups: Aggregate,
    /// Keys and totals of what is done here, over the join.
    keys: Vec<Expr>,
    totals: Vec<Expr>,
    /// The values of the question over the totals.
    finals: Vec<Expr>,
    /// Rows of the sides that it is joined with.
    partners: Vec<f64>,
    more_keys: usize,
}

impl Split {
    /// Groups are made of rows that the join would have left out, so nothing that is computed for them may fail.
    fn cannot_fail(&self, block: &Block) -> Result<(), Reason> {
        let terms = block.terms();
        let arguments = self.groups.aggr_expr.iter().map(unaliased).filter_map(|value| match value {
            Expr::AggregateFunction(function) => Some(function.params.args),
            _ => None,
        });
        for expr in self.groups.group_expr.iter().cloned().chain(arguments.flatten()) {
            if !value(&expr, block.scope(&terms))?.total {
                return Err(Reason::new("may_fail", "it can fail for rows that the join leaves out"));
            }
        }
        Ok(())
    }

    /// Keys that are few against the rows, as far as is known. A coin does not ask.
    fn is_worth_it(&self, block: &Block, mode: PushDown) -> Result<(), Reason> {
        if mode == PushDown::On && group::tells_apart(&self.groups.group_expr, block) {
            return Err(Reason::new("rows", "each of its groups is one row"));
        }
        let side = Size::of(&self.groups.input);
        let counted = self.groups.group_expr.iter().all(|key| side.facts(key, self.groups.input.schema()).distinct.is_some());
        let groups = match counted {
            true => Size::of(&LogicalPlan::Aggregate(self.groups.clone())).rows,
            // A key of a join has about as many values as the other side has rows.
            false => self.partners.iter().product::<f64>() * VALUES_OF_A_KEY.powi(i32::try_from(self.more_keys).unwrap_or(i32::MAX)),
        };
        let rows = if side.known { Some(side.rows) } else { block.rows };
        let fewer = rows.is_some_and(|rows| groups * ROWS_PER_GROUP_MIN <= rows);
        let worth = fewer || matches!(mode, PushDown::Random(_));
        if worth { Ok(()) } else { Err(Reason::new("rows", "its groups are not known to be fewer than its rows")) }
    }
}

/// The aggregates of a question in two steps.
#[derive(Default)]
struct Parts {
    partial: Vec<Expr>,
    totals: Vec<Expr>,
    finals: Vec<Expr>,
}

impl Parts {
    /// Whether the aggregate can be made in two steps.
    fn add(&mut self, value: &AggregateFunction, side: &LogicalPlan) -> Result<bool> {
        let AggregateFunction { func, params } = value;
        let AggregateFunctionParams { args, distinct, filter, order_by, null_treatment } = params;
        let [argument] = args.as_slice() else { return Ok(false) };
        if *distinct || !order_by.is_empty() || null_treatment.is_some() {
            return Ok(false);
        }
        let schema = side.schema();
        let output = Expr::AggregateFunction(value.clone()).get_type(schema)?;
        let of = |func: Arc<AggregateUDF>| call(func, argument.clone(), filter.clone());
        match func.name() {
            "min" | "max" | "bool_and" | "bool_or" => {
                let part = self.part(of(func.clone()));
                let total = self.total(call(func.clone(), part, None));
                self.finals.push(total);
            }
            "count" => {
                let count = self.counted(of(func.clone()));
                self.finals.push(count);
            }
            "sum" if adds_exactly(&argument.get_type(schema)?) => {
                let total = self.summed(of(func.clone()));
                self.finals.push(cast(total, output));
            }
            "avg" if adds_exactly(&argument.get_type(schema)?) => {
                let total = self.summed(of(arithmetic::checked_sum()));
                let count = self.counted(of(datafusion::functions_aggregate::count::count_udaf()));
                self.finals.push(arithmetic::mean_of(total, count, output));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn summed(&mut self, partial: Expr) -> Expr {
        let part = self.part(partial);
        self.total(call(arithmetic::checked_sum(), part, None))
    }

    fn counted(&mut self, partial: Expr) -> Expr {
        let total = self.summed(partial);
        arithmetic::count_of(total)
    }

    fn part(&mut self, value: Expr) -> Expr {
        let name = format!("part {}", self.partial.len() + 1);
        self.partial.push(value.alias(&name));
        Expr::Column(Column::new_unqualified(name))
    }

    fn total(&mut self, value: Expr) -> Expr {
        let name = format!("total {}", self.totals.len() + 1);
        self.totals.push(value.alias(&name));
        Expr::Column(Column::new_unqualified(name))
    }
}

/// How many rows a part is taken to give; one of which nothing is known gives very many.
fn rows(plan: &LogicalPlan) -> f64 {
    let size = Size::of(plan);
    if size.known { size.rows } else { f64::MAX }
}

fn call(func: Arc<AggregateUDF>, argument: Expr, filter: Option<Box<Expr>>) -> Expr {
    Expr::AggregateFunction(AggregateFunction::new_udf(func, vec![argument], false, filter, Vec::new(), None))
}

fn adds_exactly(argument: &DataType) -> bool {
    match argument {
        DataType::Decimal128(precision, _) => *precision <= DIGITS_MAX,
        DataType::Int32 | DataType::Int64 => true,
        _ => false,
    }
}

/// The largest parts of a join of several places that are in one, and all of whose rows meet what they are joined with at least once
/// or are left out as a whole.
fn sides_of(plan: &LogicalPlan, sides: &mut Vec<LogicalPlan>) {
    if source_of(plan).is_some() {
        sides.push(plan.clone());
        return;
    }
    match plan {
        LogicalPlan::Join(join) => {
            use JoinType::{Inner, Left, LeftAnti, LeftSemi, Right, RightAnti, RightSemi};
            if matches!(join.join_type, Inner | Left | LeftSemi | LeftAnti) {
                sides_of(&join.left, sides);
            }
            if matches!(join.join_type, Inner | Right | RightSemi | RightAnti) {
                sides_of(&join.right, sides);
            }
        }
        LogicalPlan::Filter(filter) => sides_of(&filter.input, sides),
        LogicalPlan::Projection(projection) if plain(projection) => sides_of(&projection.input, sides),
        _ => {}
    }
}

fn plain(projection: &Projection) -> bool {
    projection.expr.iter().all(|expr| matches!(expr, Expr::Column(_)))
}

/// Collects the columns of a side that the joins above it look at, and how many rows it is joined with. False where the side stands
/// below something else.
fn needs(plan: &LogicalPlan, side: &LogicalPlan, needed: &mut BTreeSet<usize>, partners: &mut Vec<f64>) -> bool {
    if plan == side {
        return true;
    }
    let mut look = |expr: &Expr| needed.extend(places(expr, side));
    match plan {
        LogicalPlan::Join(join) => {
            let other = match (holds(&join.left, side), holds(&join.right, side)) {
                (true, false) => &join.right,
                (false, true) => &join.left,
                _ => return false,
            };
            let before = needed_by(join, side);
            join.on.iter().for_each(|(left, right)| {
                look(left);
                look(right);
            });
            join.filter.iter().for_each(&mut look);
            if before {
                partners.push(rows(other));
            }
            let inside = if Arc::ptr_eq(other, &join.right) { &join.left } else { &join.right };
            needs(inside, side, needed, partners)
        }
        LogicalPlan::Filter(filter) => {
            look(&filter.predicate);
            needs(&filter.input, side, needed, partners)
        }
        LogicalPlan::Projection(projection) if plain(projection) => needs(&projection.input, side, needed, partners),
        _ => false,
    }
}

/// Where the columns of a side stand that an expression is over.
fn places(expr: &Expr, side: &LogicalPlan) -> Vec<usize> {
    expr.column_refs().into_iter().filter_map(|column| side.schema().maybe_index_of_column(column)).collect()
}

/// Whether a join looks at columns of the side.
fn needed_by(join: &Join, side: &LogicalPlan) -> bool {
    let of_side = |expr: &Expr| expr.column_refs().into_iter().any(|column| side.schema().has_column(column));
    join.on.iter().any(|(left, right)| of_side(left) || of_side(right)) || join.filter.iter().any(of_side)
}

fn holds(plan: &LogicalPlan, side: &LogicalPlan) -> bool {
    plan.exists(|node| Ok(node == side)).unwrap_or(false)
}

/// The joins with something else in the place of a side. Projections hand on all that it has.
fn replaced(plan: &LogicalPlan, side: &LogicalPlan, by: &LogicalPlan) -> Result<LogicalPlan> {
    if plan == side {
        return Ok(by.clone());
    }
    Ok(match plan {
        LogicalPlan::Join(join) => {
            let in_left = holds(&join.left, side);
            let (left, right) = match in_left {
                true => (Arc::new(replaced(&join.left, side, by)?), join.right.clone()),
                false => (join.left.clone(), Arc::new(replaced(&join.right, side, by)?)),
            };
            let Join { on, filter, join_type, join_constraint, null_equality, null_aware, .. } = join.clone();
            LogicalPlan::Join(Join::try_new(left, right, on, filter, join_type, join_constraint, null_equality, null_aware)?)
        }
        LogicalPlan::Filter(filter) => LogicalPlan::Filter(Filter::try_new(filter.predicate.clone(), Arc::new(replaced(&filter.input, side, by)?))?),
        LogicalPlan::Projection(projection) => {
            let input = replaced(&projection.input, side, by)?;
            let of_by = by.schema().columns().into_iter().map(Expr::Column);
            let others = projection.expr.iter().filter(|expr| expr.column_refs().into_iter().all(|column| !side.schema().has_column(column)));
            let expr: Vec<Expr> = others.cloned().chain(of_by).collect();
            LogicalPlan::Projection(Projection::try_new(expr, Arc::new(input))?)
        }
        other => other.clone(),
    })
}

fn unaliased(expr: &Expr) -> Expr {
    expr.clone().unalias_nested().data
}

/// An expression over a projection as one over its input.
fn beneath(expr: Expr, projection: &Projection) -> Result<Expr> {
    let below = |node: Expr| match &node {
        Expr::Column(column) => Ok(match projection.schema.maybe_index_of_column(column) {
            Some(index) => Transformed::yes(unaliased(&projection.expr[index])),
            None => Transformed::no(node),
        }),
        _ => Ok(Transformed::no(node)),
    };
    expr.transform_up(below).data()
}
