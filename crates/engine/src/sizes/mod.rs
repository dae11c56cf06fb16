// SPDX-License-Identifier: Apache-2.0
//! How many rows a part of a plan is taken to give, and how many values its columns: from what sources and manifests have counted.
//! These are guesses; the order of joins and the memory they need are chosen by them, and no answer.

mod selectivity;
mod tables;

use arrow::datatypes::{DataType, Schema};
use datafusion::common::stats::Precision;
use datafusion::common::{DFSchema, JoinType, Statistics};
use datafusion::logical_expr::logical_plan::{Aggregate, FetchType, Join, Limit, Projection, SkipType};
use datafusion::logical_expr::utils::split_conjunction;
use datafusion::logical_expr::{Distinct, Expr, LogicalPlan};
use std::sync::Arc;
use weir_source::ColumnStatistics;

pub(crate) use selectivity::FILTER_KEEPS;
pub(crate) use tables::{lake_size, learn, source_size};

/// What a table is taken to hold of which nothing is known.
const UNKNOWN_ROWS: f64 = 1_000_000.0;
/// The share of rows that start a new group, where nothing is known of the keys.
const NEW_GROUPS: f64 = 0.1;

/// Rows, and what is known of each column of the part's schema.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Size {
    pub rows: f64,
    pub columns: Vec<Facts>,
    /// False where a table in it has never been counted.
    pub known: bool,
}

/// One column.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Facts {
    /// Different values, NULL not counted.
    pub distinct: Option<f64>,
    /// The share of rows in which it is NULL.
    pub nulls: f64,
    /// How its values are spread, as far as no filter has changed that.
    pub spread: Option<Arc<ColumnStatistics>>,
}

impl Size {
    pub fn unknown(columns: usize) -> Self {
        Self { rows: UNKNOWN_ROWS, columns: vec![Facts::default(); columns], known: false }
    }

    fn exactly(rows: usize, columns: usize) -> Self {
        Self { rows: rows as f64, columns: vec![Facts::default(); columns], known: true }
    }

    /// The size of what a plan gives.
    pub fn of(plan: &LogicalPlan) -> Self {
        let size = of_node(plan);
        let width = plan.schema().fields().len();
        if size.columns.len() == width { size } else { Self { columns: vec![Facts::default(); width], ..size } }
    }

    /// What is known of an expression over these columns.
    pub fn facts(&self, expr: &Expr, schema: &DFSchema) -> Facts {
        match expr {
            Expr::Literal(..) => Facts { distinct: Some(1.0), ..Facts::default() },
            _ => column(expr, schema).and_then(|index| self.columns.get(index).cloned()).unwrap_or_default(),
        }
    }

    /// Those of its rows for which all conditions are true.
    pub fn filtered<'a>(self, conditions: impl IntoIterator<Item = &'a Expr>, schema: &DFSchema) -> Self {
        selectivity::filtered(self, conditions.into_iter().collect(), schema)
    }

    pub fn projected(&self, places: &[usize]) -> Self {
        Self { columns: places.iter().map(|place| self.columns.get(*place).cloned().unwrap_or_default()).collect(), ..*self }
    }

    /// No more than so many rows.
    pub fn at_most(self, rows: usize) -> Self {
        let share = rows as f64 / self.rows.max(1.0);
        let known = self.known || (rows as f64) < UNKNOWN_ROWS;
        if share < 1.0 { Self { known, ..self.scaled(share) } } else { self }
    }

    /// A share of the rows, taken without looking at any column.
    fn scaled(mut self, share: f64) -> Self {
        let before = self.rows;
        self.rows = (before * share).max(1.0);
        for facts in &mut self.columns {
            facts.distinct = facts.distinct.map(|distinct| drawn(distinct, before, share).min(self.rows));
        }
        self
    }

    /// In the planner's words. Bounds are left out: what it makes of them can fail.
    pub fn statistics(&self, schema: &Schema) -> Statistics {
        if !self.known {
            return Statistics::new_unknown(schema);
        }
        let rows = self.rows.ceil() as usize;
        let width: usize = schema.fields().iter().map(|field| width_guess(field.data_type())).sum();
        let told = |facts: &Facts| datafusion::common::ColumnStatistics {
            distinct_count: facts.distinct.map_or(Precision::Absent, |distinct| Precision::Inexact(distinct.ceil() as usize)),
            null_count: Precision::Inexact((self.rows * facts.nulls) as usize),
            ..datafusion::common::ColumnStatistics::new_unknown()
        };
        let nothing = Facts::default();
        let columns = (0..schema.fields().len()).map(|index| told(self.columns.get(index).unwrap_or(&nothing)));
        Statistics {
            num_rows: Precision::Inexact(rows),
            total_byte_size: Precision::Inexact(rows.saturating_mul(width.max(1))),
            column_statistics: columns.collect(),
        }
    }
}

fn width_guess(data_type: &DataType) -> usize {
    data_type.primitive_width().unwrap_or(32)
}

/// How many of `distinct` values are among a share of the rows, which are spread over them evenly.
fn drawn(distinct: f64, rows: f64, share: f64) -> f64 {
    let per_value = rows / distinct.max(1.0);
    (distinct * (1.0 - (1.0 - share.clamp(0.0, 1.0)).powf(per_value))).max(1.0)
}

/// The column that an expression shows, cast or not.
pub(crate) fn column(expr: &Expr, schema: &DFSchema) -> Option<usize> {
    match expr {
        Expr::Column(column) => schema.maybe_index_of_column(column),
        Expr::Cast(cast) => self::column(&cast.expr, schema),
        Expr::TryCast(cast) => self::column(&cast.expr, schema),
        Expr::Alias(alias) => self::column(&alias.expr, schema),
        _ => None,
    }
}

fn of_node(plan: &LogicalPlan) -> Size {
    match plan {
        LogicalPlan::TableScan(scan) => tables::scan_size(scan),
        LogicalPlan::Filter(filter) => Size::of(&filter.input).filtered(split_conjunction(&filter.predicate), filter.input.schema()),
        LogicalPlan::Projection(projection) => of_projection(projection),
        LogicalPlan::SubqueryAlias(alias) => Size::of(&alias.input),
        LogicalPlan::Join(join) => of_join(join, Size::of(&join.left), Size::of(&join.right)),
        LogicalPlan::Aggregate(aggregate) => of_aggregate(aggregate),
        LogicalPlan::Distinct(Distinct::All(input)) => {
            let size = Size::of(input);
            let groups = groups(size.columns.iter(), size.rows);
            Size { rows: groups, ..size }
        }
        LogicalPlan::Sort(sort) => sort.fetch.map_or_else(|| Size::of(&sort.input), |rows| Size::of(&sort.input).at_most(rows)),
        LogicalPlan::Limit(limit) => of_limit(limit),
        LogicalPlan::Union(union) => of_union(&union.inputs),
        LogicalPlan::EmptyRelation(empty) => Size::exactly(usize::from(empty.produce_one_row), plan.schema().fields().len()),
        LogicalPlan::Values(values) => Size::exactly(values.values.len(), plan.schema().fields().len()),
        other => largest_input(other),
    }
}

fn largest_input(plan: &LogicalPlan) -> Size {
    let width = plan.schema().fields().len();
    let inputs: Vec<Size> = plan.inputs().into_iter().map(Size::of).collect();
    let Some(rows) = inputs.iter().map(|input| input.rows).max_by(f64::total_cmp) else { return Size::unknown(width) };
    let known = inputs.iter().all(|input| input.known);
    // A window adds columns behind those of its input.
    let mut columns = if inputs.len() == 1 { inputs[0].columns.clone() } else { Vec::new() };
    columns.resize(width, Facts::default());
    Size { rows, columns, known }
}

fn of_projection(projection: &Projection) -> Size {
    let input = Size::of(&projection.input);
    let columns = projection.expr.iter().map(|expr| input.facts(expr, projection.input.schema())).collect();
    Size { columns, ..input }
}

fn of_limit(limit: &Limit) -> Size {
    let size = Size::of(&limit.input);
    match (limit.get_skip_type(), limit.get_fetch_type()) {
        (Ok(SkipType::Literal(_)), Ok(FetchType::Literal(Some(rows)))) => size.at_most(rows),
        _ => size,
    }
}

fn of_union(inputs: &[Arc<LogicalPlan>]) -> Size {
    let sizes: Vec<Size> = inputs.iter().map(|input| Size::of(input)).collect();
    let width = sizes.first().map_or(0, |first| first.columns.len());
    Size { rows: sizes.iter().map(|size| size.rows).sum(), columns: vec![Facts::default(); width], known: sizes.iter().all(|size| size.known) }
}

fn of_aggregate(aggregate: &Aggregate) -> Size {
    let input = Size::of(&aggregate.input);
    let keys: Vec<Facts> = aggregate.group_expr.iter().map(|key| input.facts(key, aggregate.input.schema())).collect();
    if keys.is_empty() {
        return Size::exactly(1, aggregate.schema.fields().len());
    }
    let rows = groups(keys.iter(), input.rows);
    let mut columns: Vec<Facts> = keys.into_iter().map(|facts| Facts { distinct: facts.distinct.map(|distinct| distinct.min(rows)), ..facts }).collect();
    // One key by itself is different in each group.
    if let [only] = columns.as_mut_slice() {
        only.distinct = Some(rows);
    }
    columns.resize(aggregate.schema.fields().len(), Facts::default());
    Size { rows, columns, known: input.known }
}

/// Different combinations of values; no more than rows.
fn groups<'a>(keys: impl Iterator<Item = &'a Facts>, rows: f64) -> f64 {
    let mut product = 1.0;
    for facts in keys {
        product *= facts.distinct.unwrap_or(rows * NEW_GROUPS).max(1.0) + if facts.nulls > 0.0 { 1.0 } else { 0.0 };
    }
    product.min(rows).max(1.0)
}

/// Different keys of one side: of several columns together no more than it has rows.
pub(crate) fn keys<'a>(facts: impl Iterator<Item = &'a Facts>, rows: f64) -> f64 {
    facts.map(|facts| facts.distinct.unwrap_or(rows).clamp(1.0, rows.max(1.0))).product::<f64>().min(rows).max(1.0)
}

fn of_join(join: &Join, left: Size, right: Size) -> Size {
    let on: Vec<(Facts, Facts)> = join.on.iter().map(|(l, r)| (left.facts(l, join.left.schema()), right.facts(r, join.right.schema()))).collect();
    let left_keys = keys(on.iter().map(|(facts, _)| facts), left.rows);
    let right_keys = keys(on.iter().map(|(_, facts)| facts), right.rows);
    let present: f64 = on.iter().map(|(l, r)| (1.0 - l.nulls) * (1.0 - r.nulls)).product();
    let known = left.known && right.known;
    let (left_rows, right_rows) = (left.rows, right.rows);
    let matched = left_rows * right_rows * present / if on.is_empty() { 1.0 } else { left_keys.max(right_keys) };
    let either = |size: Size, share: f64| Size { known, ..size.scaled(share.clamp(0.0, 1.0)) };
    let semi = |size: Size, own: f64, others: f64| either(size, if on.is_empty() { 1.0 } else { others / own });
    let anti = |size: Size, own: f64, others: f64| either(size, (1.0 - others / own).max(FILTER_KEEPS / 2.0));
    match join.join_type {
        JoinType::LeftSemi => return semi(left, left_keys, right_keys),
        JoinType::RightSemi => return semi(right, right_keys, left_keys),
        JoinType::LeftAnti => return anti(left, left_keys, right_keys),
        JoinType::RightAnti => return anti(right, right_keys, left_keys),
        JoinType::LeftMark => return Size { columns: marked(left.columns), known, ..left },
        JoinType::RightMark => return Size { columns: marked(right.columns), known, ..right },
        JoinType::Inner | JoinType::Left | JoinType::Right | JoinType::Full => {}
    }
    let mut columns = left.scaled((matched / left_rows).min(1.0)).columns;
    columns.extend(right.scaled((matched / right_rows).min(1.0)).columns);
    for (l, r) in &join.on {
        let sides = [column(l, &join.schema), column(r, &join.schema)];
        let shared = left_keys.min(right_keys);
        sides.into_iter().flatten().for_each(|index| columns[index].distinct = columns[index].distinct.map(|distinct| distinct.min(shared)));
    }
    let inner = Size { rows: matched.max(1.0), columns, known };
    let inner = match &join.filter {
        Some(filter) => inner.filtered(split_conjunction(filter), &join.schema),
        None => inner,
    };
    let rows = match join.join_type {
        JoinType::Left => inner.rows.max(left_rows),
        JoinType::Right => inner.rows.max(right_rows),
        JoinType::Full => inner.rows.max(left_rows).max(right_rows),
        _ => inner.rows,
    };
    Size { rows, ..inner }
}

fn marked(mut columns: Vec<Facts>) -> Vec<Facts> {
    columns.push(Facts { distinct: Some(2.0), ..Facts::default() });
    columns
}

#[cfg(test)]
mod tests;
