// SPDX-License-Identifier: Apache-2.0
//! Cuts the largest parts that one source can answer out of an optimized plan; what is left over is noted where it stays.

use super::block::{Block, Output};
use super::bound::{bounded_columns, prefixed_columns};
use super::condition::{Condition, condition};
use super::fragment::{TableUse, as_kept, label, may_push};
use super::group::Groups;
use super::terms::{table_terms, value};
use super::words::in_words;
use super::{group, join, order, switched_off};
use crate::scan::{Notes, RemoteTable, SourceTableProvider};
use crate::sizes::{FILTER_KEEPS, Size};
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode, TreeNodeRecursion};
use datafusion::common::{Column, DFSchema, NullEquality, Result, TableReference};
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::logical_expr::logical_plan::{Aggregate, FetchType, Filter, Join, Limit, Projection, SkipType, Sort, SubqueryAlias, TableScan};
use datafusion::logical_expr::utils::{conjunction, split_conjunction};
use datafusion::logical_expr::{Expr, LogicalPlan, cast};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use weir_api::{Kept, PushDown};
use weir_base::SourceName;
use weir_source::{Reason, SourceTable, Term};

/// The plan with a statement in the place of each part that a source answers.
pub(crate) fn cut_plan(plan: LogicalPlan, mode: PushDown) -> Result<LogicalPlan> {
    let plan = with_own_notes(plan)?;
    if mode == PushDown::Off {
        switched_off::note_all(&plan)?;
        return Ok(plan);
    }
    let mut cutter = Cutter { mode, aliases: Aliases::default(), alone: alone(&plan) };
    cutter.whole(plan)
}

/// Each scan with notes of its own: a table may be read several times.
fn with_own_notes(plan: LogicalPlan) -> Result<LogicalPlan> {
    let own = |node: LogicalPlan| {
        let LogicalPlan::TableScan(mut scan) = node else { return Ok(Transformed::no(node)) };
        let provider = source_as_provider(&scan.source).ok();
        let Some(table) = provider.as_ref().and_then(|provider| provider.downcast_ref::<SourceTableProvider>()) else {
            return Ok(Transformed::no(LogicalPlan::TableScan(scan)));
        };
        scan.source = provider_as_source(Arc::new(table.anew()));
        Ok(Transformed::yes(LogicalPlan::TableScan(scan)))
    };
    plan.transform_down_with_subqueries(own).data()
}

/// Names for tables and derived tables of a statement, each given once.
#[derive(Debug, Default)]
pub(super) struct Aliases {
    tables: usize,
    derived: usize,
}

impl Aliases {
    pub fn table(&mut self) -> String {
        self.tables += 1;
        format!("t{}", self.tables)
    }

    pub fn derived(&mut self) -> String {
        self.derived += 1;
        format!("d{}", self.derived)
    }
}

/// A part of a plan that was walked.
pub(super) enum Piece {
    /// A source answers it, if nothing above asks for more. `plain` is what it was cut from, with its inputs cut: for what gains
    /// nothing by being sent (a projection, a table by itself).
    Remote {
        block: Box<Block>,
        plain: Option<LogicalPlan>,
    },
    Local(LogicalPlan),
}

pub(super) struct Cutter {
    pub mode: PushDown,
    pub aliases: Aliases,
    /// Sources of which the plan reads one table: its columns need no alias in front of them.
    alone: BTreeSet<SourceName>,
}

/// The sources of which a plan reads just one table.
fn alone(plan: &LogicalPlan) -> BTreeSet<SourceName> {
    let mut counts: BTreeMap<SourceName, usize> = BTreeMap::new();
    let _ = plan.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node
            && let Ok(provider) = source_as_provider(&scan.source)
            && let Some(table) = provider.downcast_ref::<SourceTableProvider>()
        {
            *counts.entry(table.handle.name().clone()).or_default() += 1;
        }
        Ok(TreeNodeRecursion::Continue)
    });
    counts.into_iter().filter(|(_, count)| *count == 1).map(|(name, _)| name).collect()
}

impl Cutter {
    pub fn whole(&mut self, plan: LogicalPlan) -> Result<LogicalPlan> {
        let piece = self.piece(plan)?;
        self.finished(piece)
    }

    /// A subquery, which is run once by itself: under names of its own, so that two that are the same are seen to be so, and run once.
    fn by_itself(&mut self, plan: LogicalPlan) -> Result<LogicalPlan> {
        let outside = std::mem::take(&mut self.aliases);
        let whole = self.whole(plan);
        self.aliases = outside;
        whole
    }

    pub fn finished(&mut self, piece: Piece) -> Result<LogicalPlan> {
        match piece {
            Piece::Local(plan) | Piece::Remote { plain: Some(plan), .. } => Ok(plan),
            Piece::Remote { block, plain: None } => leaf(&block),
        }
    }

    pub fn piece(&mut self, plan: LogicalPlan) -> Result<Piece> {
        let size = Size::of(&plan);
        let mut piece = self.cut(plan)?;
        if let Piece::Remote { block, .. } = &mut piece {
            block.size = Some(size);
        }
        Ok(piece)
    }

    fn cut(&mut self, plan: LogicalPlan) -> Result<Piece> {
        match plan {
            LogicalPlan::TableScan(scan) => Ok(self.scan(scan)),
            LogicalPlan::SubqueryAlias(alias) => self.alias(alias),
            LogicalPlan::Projection(projection) => self.projection(projection),
            LogicalPlan::Filter(filter) => self.filter(filter),
            LogicalPlan::Join(join) => self.join(join),
            LogicalPlan::Aggregate(aggregate) => self.aggregate(aggregate),
            LogicalPlan::Sort(sort) => self.sort(sort),
            LogicalPlan::Limit(limit) => self.limit(limit),
            LogicalPlan::Union(union) => self.union(union),
            LogicalPlan::Window(window) => self.window(window),
            other => self.other(other),
        }
    }

    /// Operators that stay here, with their inputs cut.
    fn other(&mut self, plan: LogicalPlan) -> Result<Piece> {
        let plan = plan.map_children(|child| self.whole(child).map(Transformed::yes)).data()?;
        let plan = plan.map_subqueries(|subquery| self.by_itself(subquery).map(Transformed::yes)).data()?;
        Ok(Piece::Local(plan))
    }

    /// A table with all its filters done by the source; else the scan itself sends what it can.
    fn scan(&mut self, scan: TableScan) -> Piece {
        match self.block_of(&scan) {
            Some(block) => Piece::Remote { block: Box::new(block), plain: Some(LogicalPlan::TableScan(scan)) },
            None => Piece::Local(LogicalPlan::TableScan(scan)),
        }
    }

    fn block_of(&mut self, scan: &TableScan) -> Option<Block> {
        let provider = source_as_provider(&scan.source).ok()?;
        let table = provider.downcast_ref::<SourceTableProvider>()?;
        let alias = (!self.alone.contains(table.handle.name())).then(|| self.aliases.table());
        let source = table.handle.source.as_ref();
        let terms = table_terms(&table.table, source, alias.as_deref());
        let whole = datafusion::common::DFSchema::try_from_qualified_schema(scan.table_name.clone(), &scan.source.schema()).ok()?;
        let scope = super::terms::Scope { source, schema: &whole, terms: &terms };
        let mut conditions = Vec::new();
        for filter in &scan.filters {
            let what = format!("filter {}", in_words(filter));
            match condition(filter, scope) {
                Condition::Exact(sent) if may_push(self.mode, &what).is_ok() => conditions.push((sent.sql, what)),
                _ => return None,
            }
        }
        let bounded = scan.filters.iter().flat_map(|filter| bounded_columns(filter, scope)).collect();
        let outputs = outputs(scan, table, &terms)?;
        let prefixed = scan.filters.iter().flat_map(|filter| prefixed_columns(filter, scope)).collect();
        let used = TableUse { name: table.name.clone(), bounded, prefixed };
        let from = source.dialect().table(&table.table.schema, &table.table.name);
        let from = alias.map_or_else(|| from.clone(), |alias| format!("{from} AS {alias}"));
        let rows = table.table.rows_estimate.map(|rows| rows as f64 * FILTER_KEEPS.powi(conditions.len().min(3) as i32));
        let mut block = Block::of_table(table.handle.clone(), scan.projected_schema.clone(), outputs, from, used, rows);
        block.unique = table.table.unique.iter().map(|key| key.iter().map(|place| terms[*place].sql.clone()).collect()).collect();
        for (sql, what) in conditions {
            block.filter(sql);
            block.pushed.push(what);
        }
        if let Some(fetch) = scan.fetch {
            may_push(self.mode, &format!("limit {fetch}")).ok()?;
            stop(&mut block, Vec::new(), fetch);
        }
        Some(block)
    }

    fn alias(&mut self, alias: SubqueryAlias) -> Result<Piece> {
        let over = |input| {
            let mut alias = alias.clone();
            alias.input = Arc::new(input);
            LogicalPlan::SubqueryAlias(alias)
        };
        match self.piece(Arc::unwrap_or_clone(alias.input.clone()))? {
            Piece::Remote { block, plain } => {
                let block = Box::new(block.renamed(alias.schema.clone()));
                Ok(Piece::Remote { block, plain: plain.map(over) })
            }
            Piece::Local(input) => Ok(Piece::Local(over(input))),
        }
    }

    /// What is computed of each row by itself is computed here: the rows come anyway, and a source has better things to do. A statement
    /// over several tables gives only the columns that are asked for: of two that are called the same, filters would find but one.
    fn projection(&mut self, mut projection: Projection) -> Result<Piece> {
        let mut piece = self.piece(Arc::unwrap_or_clone(projection.input.clone()))?;
        let mut block = match &piece {
            Piece::Remote { block, .. } => projected(block, &projection),
            Piece::Local(_) => None,
        };
        if let Piece::Remote { block: input, plain: None } = &mut piece {
            if projection.expr.iter().all(|expr| matches!(expr, Expr::Column(_)))
                && let Some(block) = block.take()
            {
                return Ok(Piece::Remote { block: Box::new(block), plain: None });
            }
            narrow(input, &projection)?;
        }
        projection.input = Arc::new(self.finished(piece)?);
        let plain = LogicalPlan::Projection(projection);
        let plain = plain.map_subqueries(|subquery| self.by_itself(subquery).map(Transformed::yes)).data()?;
        Ok(match block {
            Some(block) => Piece::Remote { block: Box::new(block), plain: Some(plain) },
            None => Piece::Local(plain),
        })
    }

    fn filter(&mut self, filter: Filter) -> Result<Piece> {
        let mut block = match self.piece(Arc::unwrap_or_clone(filter.input.clone()))? {
            Piece::Remote { block, .. } => *block,
            local @ Piece::Local(_) => {
                let input = Arc::new(self.finished(local)?);
                return self.other(LogicalPlan::Filter(Filter::try_new(filter.predicate, input)?));
            }
        };
        if block.limit().is_some() || !block.is_flat() && !block.source().dialect().has_having() {
            block = block.wrap(&self.aliases.derived());
        }
        let terms = block.terms();
        let mut here = Vec::new();
        let mut sent_parts = Vec::new();
        for part in split_conjunction(&filter.predicate) {
            let what = format!("filter {}", in_words(part));
            let written = match may_push(self.mode, &what) {
                Ok(()) => condition(part, block.scope(&terms)),
                Err(reason) => Condition::Kept(reason),
            };
            match written {
                Condition::Exact(sent) => {
                    block.filter(sent.sql);
                    block.pushed.push(what);
                    sent_parts.push(part);
                }
                Condition::Superset(sent, reason) => {
                    block.filter(sent.sql);
                    sent_parts.push(part);
                    block.pushed.push(format!("{what} (at least; checked again here)"));
                    block.kept.push(as_kept(what, reason));
                    here.push(part.clone());
                }
                Condition::Kept(reason) => {
                    block.kept.push(as_kept(what, reason));
                    here.push(part.clone());
                }
            }
        }
        match conjunction(here) {
            None => Ok(Piece::Remote { block: Box::new(block), plain: None }),
            Some(predicate) => {
                block.size = block.size.map(|size| size.filtered(sent_parts, &block.schema));
                let filter = LogicalPlan::Filter(Filter::try_new(predicate, Arc::new(leaf(&block)?))?);
                Ok(Piece::Local(filter.map_subqueries(|subquery| self.by_itself(subquery).map(Transformed::yes)).data()?))
            }
        }
    }

    fn join(&mut self, join: Join) -> Result<Piece> {
        let left = self.piece(Arc::unwrap_or_clone(join.left.clone()))?;
        let right = self.piece(Arc::unwrap_or_clone(join.right.clone()))?;
        let what = format!("join on {}", join_words(&join));
        let why = match (&left, &right) {
            (Piece::Remote { block: a, .. }, Piece::Remote { block: b, .. }) => {
                let joined = may_push(self.mode, &what).and_then(|()| join::join(&join, a.as_ref().clone(), b.as_ref().clone(), &mut self.aliases));
                match joined {
                    Ok(mut block) => {
                        block.pushed.push(what);
                        return Ok(Piece::Remote { block: Box::new(block), plain: None });
                    }
                    Err(reason) => reason,
                }
            }
            _ => Reason::new("local_input", "one of its sides is made here"),
        };
        let (left, right) = (self.finished(left)?, self.finished(right)?);
        let plan = LogicalPlan::Join(Join { left: Arc::new(left), right: Arc::new(right), ..join });
        note(&plan, &as_kept(what, across(&plan).unwrap_or(why)));
        Ok(Piece::Local(plan))
    }

    fn aggregate(&mut self, mut aggregate: Aggregate) -> Result<Piece> {
        if let Some(plan) = self.early(&aggregate)? {
            return Ok(Piece::Local(plan));
        }
        let input = self.piece(Arc::unwrap_or_clone(aggregate.input.clone()))?;
        let what = aggregate_words(&aggregate);
        let (block, why) = match self.grouped(&aggregate, &input, &what) {
            Ok((Groups { block, finish: None }, Ok(()))) => return Ok(Piece::Remote { block: Box::new(block), plain: None }),
            Ok((Groups { block, finish: Some(finish) }, Ok(()))) => {
                let columns = Projection::try_new_with_schema(finish, Arc::new(leaf(&block)?), aggregate.schema)?;
                return Ok(Piece::Local(LogicalPlan::Projection(columns)));
            }
            // What stands above may leave few of the groups, and ask for these in the same statement.
            Ok((Groups { block, finish: None }, Err(gains_nothing))) => (Some(block), gains_nothing),
            Ok((_, Err(reason))) | Err(reason) => (None, reason),
        };
        aggregate.input = Arc::new(self.finished(input)?);
        let plan = LogicalPlan::Aggregate(aggregate);
        note(&plan, &as_kept(what, why));
        Ok(match block {
            Some(block) => Piece::Remote { block: Box::new(block), plain: Some(plan) },
            None => Piece::Local(plan),
        })
    }

    /// Groups at the source, and whether that gains anything. Error: why they cannot be made there.
    fn grouped(&mut self, aggregate: &Aggregate, input: &Piece, what: &str) -> std::result::Result<(Groups, std::result::Result<(), Reason>), Reason> {
        let Piece::Remote { block, .. } = input else { return Err(Reason::new("local_input", "its rows are made here")) };
        may_push(self.mode, what)?;
        // A coin does not ask.
        let gains = if self.mode == PushDown::On { group::gains(aggregate, block) } else { Ok(()) };
        let mut groups = group::group(aggregate, block.as_ref().clone(), &mut self.aliases)?;
        groups.block.pushed.push(what.to_owned());
        groups.block.size = Some(Size::of(&LogicalPlan::Aggregate(aggregate.clone())));
        Ok((groups, gains))
    }

    /// The first rows come sorted from the source, and are sorted again here; all rows are sorted here alone.
    fn sort(&mut self, sort: Sort) -> Result<Piece> {
        let input = self.piece(Arc::unwrap_or_clone(sort.input.clone()))?;
        let what = sort_words(&sort);
        let (input, why) = match (input, sort.fetch) {
            (Piece::Remote { block, plain }, Some(rows)) => {
                match may_push(self.mode, &what).and_then(|()| order::first(block.as_ref().clone(), &sort.expr, rows, &mut self.aliases)) {
                    Ok(mut first) => {
                        first.pushed.push(what);
                        let plan = LogicalPlan::Sort(Sort { input: Arc::new(leaf(&first)?), ..sort });
                        return Ok(Piece::Remote { block: Box::new(first), plain: Some(plan) });
                    }
                    Err(reason) => (Piece::Remote { block, plain }, reason),
                }
            }
            (remote @ Piece::Remote { .. }, None) => (remote, Reason::new("all_rows", "all rows come anyway, so they are sorted here")),
            (local, _) => (local, Reason::new("local_input", "its rows are made here")),
        };
        let plan = LogicalPlan::Sort(Sort { input: Arc::new(self.finished(input)?), ..sort });
        note(&plan, &as_kept(what, why));
        Ok(Piece::Local(plan))
    }

    fn limit(&mut self, limit: Limit) -> Result<Piece> {
        let (SkipType::Literal(skip), FetchType::Literal(Some(fetch))) = (limit.get_skip_type()?, limit.get_fetch_type()?) else {
            return self.other(LogicalPlan::Limit(limit));
        };
        let input = self.piece(Arc::unwrap_or_clone(limit.input.clone()))?;
        let rows = skip.saturating_add(fetch);
        let what = format!("limit {rows}");
        let mut why = Reason::new("local_input", "its rows are made here");
        let input = match input {
            Piece::Remote { block, plain: Some(plain) } if skip == 0 && block.limit().is_some_and(|limit| limit <= rows) => {
                let plain = LogicalPlan::Limit(Limit { input: Arc::new(plain), ..limit });
                return Ok(Piece::Remote { block, plain: Some(plain) });
            }
            Piece::Remote { block, .. } if !block.is_ordered() && i64::try_from(rows).is_ok() && pushed(&mut why, may_push(self.mode, &what)) => {
                let mut block = *block;
                stop(&mut block, Vec::new(), rows);
                match skip {
                    0 => return Ok(Piece::Remote { block: Box::new(block), plain: None }),
                    _ => leaf(&block)?,
                }
            }
            other => self.finished(other)?,
        };
        if !stops(&input) {
            note(&input, &as_kept(what, why));
        }
        Ok(Piece::Local(LogicalPlan::Limit(Limit { input: Arc::new(input), ..limit })))
    }
}

/// Keeps the reason against it, where there is one.
fn pushed(why: &mut Reason, allowed: std::result::Result<(), Reason>) -> bool {
    allowed.map_err(|reason| *why = reason).is_ok()
}

/// Whether what is below a limit stops by itself, and has been told.
pub(super) fn stops(plan: &LogicalPlan) -> bool {
    match plan {
        LogicalPlan::TableScan(scan) => {
            let remote = source_as_provider(&scan.source).ok().and_then(|provider| Some(provider.downcast_ref::<RemoteTable>()?.fragment.limit.is_some()));
            remote.unwrap_or(scan.fetch.is_some())
        }
        LogicalPlan::Sort(sort) => sort.fetch.is_some(),
        LogicalPlan::Projection(projection) => stops(&projection.input),
        LogicalPlan::SubqueryAlias(alias) => stops(&alias.input),
        _ => false,
    }
}

fn stop(block: &mut Block, order: Vec<String>, rows: usize) {
    block.stop(order, rows);
    block.pushed.push(format!("limit {rows}"));
}

fn outputs(scan: &TableScan, table: &SourceTableProvider, terms: &[Term]) -> Option<Vec<Output>> {
    let all: Vec<usize> = (0..scan.source.schema().fields().len()).collect();
    let projection = scan.projection.as_ref().unwrap_or(&all);
    let SourceTable { columns, .. } = table.table.as_ref();
    // The text of a column is read by the scan itself.
    let output = |index: &usize| Some(Output { term: terms.get(*index)?.clone(), label: label(&table.name, columns.get(*index)?) });
    projection.iter().map(output).collect()
}

/// The block without the outputs that the projection does not look at.
fn narrow(block: &mut Block, projection: &Projection) -> Result<()> {
    let asks_elsewhere = |expr: &Expr| expr.exists(|node| Ok(matches!(node, Expr::ScalarSubquery(_) | Expr::InSubquery(_) | Expr::Exists(_))));
    for expr in &projection.expr {
        if asks_elsewhere(expr)? {
            return Ok(());
        }
    }
    let used: BTreeSet<usize> = projection.expr.iter().flat_map(Expr::column_refs).map(|column| block.schema.index_of_column(column)).collect::<Result<_>>()?;
    if used.is_empty() || used.len() == block.outputs.len() {
        return Ok(());
    }
    let places: Vec<usize> = used.into_iter().collect();
    let field = |place: &usize| {
        let (qualifier, field) = block.schema.qualified_field(*place);
        (qualifier.cloned(), field.clone())
    };
    let schema = DFSchema::new_with_metadata(places.iter().map(field).collect(), block.schema.metadata().clone())?;
    let outputs = places.iter().map(|place| block.outputs[*place].clone()).collect();
    let size = block.size.take().map(|size| size.projected(&places));
    *block = block.clone().with_outputs(Arc::new(schema), outputs, false);
    block.size = size;
    Ok(())
}

/// The block with other outputs, when the source can compute all of them.
fn projected(block: &Block, projection: &Projection) -> Option<Block> {
    let terms = block.terms();
    let output = |expr: &Expr| {
        let term = value(expr, block.scope(&terms)).ok()?;
        Some(Output { term, label: in_words(expr) })
    };
    let outputs = projection.expr.iter().map(output).collect::<Option<Vec<_>>>()?;
    let computed = !projection.expr.iter().all(|expr| matches!(expr, Expr::Column(_)));
    Some(block.clone().with_outputs(projection.schema.clone(), outputs, computed))
}

/// The statement in the place of what it answers. Texts come as such, and are turned into the form of text that the plan has there.
pub(super) fn leaf(block: &Block) -> Result<LogicalPlan> {
    let fragment = block.fragment().map_err(crate::errors::carry)?;
    let come = block.outputs.iter().map(|output| &output.term.meaning.data_type);
    let fields = block.schema.iter().zip(come).map(|((qualifier, field), come)| match field.data_type() == come {
        true => (qualifier.cloned(), field.clone()),
        false => (qualifier.cloned(), Arc::new(field.as_ref().clone().with_data_type(come.clone()))),
    });
    let schema = Arc::new(DFSchema::new_with_metadata(fields.collect(), block.schema.metadata().clone())?);
    let size = block.size.clone().map(|size| block.limit().map_or_else(|| size.clone(), |rows| size.clone().at_most(rows)));
    // Plans of two scans are taken for the same by this name, and one of two equal subqueries is run.
    let table_name = TableReference::bare(format!("{}: {}", block.handle.name(), fragment.sql));
    let arrow = Arc::new(schema.as_arrow().clone());
    let remote = RemoteTable { handle: block.handle.clone(), fragment, schema: arrow, size, notes: Notes::default() };
    let scan = LogicalPlan::TableScan(TableScan {
        table_name,
        source: provider_as_source(Arc::new(remote)),
        projection: None,
        projected_schema: schema.clone(),
        filters: Vec::new(),
        fetch: None,
    });
    if schema.fields() == block.schema.fields() {
        return Ok(scan);
    }
    let turned = schema.iter().zip(block.schema.fields()).map(|((qualifier, come), wanted)| {
        let column = Expr::Column(Column::new(qualifier.cloned(), come.name()));
        match come.data_type() == wanted.data_type() {
            true => column,
            false => cast(column, wanted.data_type().clone()).alias_qualified(qualifier.cloned(), come.name()),
        }
    });
    Ok(LogicalPlan::Projection(Projection::try_new_with_schema(turned.collect(), Arc::new(scan), block.schema.clone())?))
}

/// Tells the first statement below what is done here with its rows, and those of others.
pub(super) fn note(plan: &LogicalPlan, kept: &Kept) {
    let _ = plan.apply(|node| {
        let LogicalPlan::TableScan(scan) = node else { return Ok(TreeNodeRecursion::Continue) };
        let Ok(provider) = source_as_provider(&scan.source) else { return Ok(TreeNodeRecursion::Continue) };
        let own = provider.downcast_ref::<SourceTableProvider>().map(|table| &table.notes);
        let Some(notes) = own.or_else(|| provider.downcast_ref::<RemoteTable>().map(|table| &table.notes)) else {
            return Ok(TreeNodeRecursion::Continue);
        };
        notes.add(kept.clone());
        Ok(TreeNodeRecursion::Stop)
    });
}

/// The one source that a plan reads all its tables from.
pub(super) fn source_of(plan: &LogicalPlan) -> Option<SourceName> {
    let mut scans = 0;
    let mut names = BTreeSet::new();
    let _ = plan.apply_with_subqueries(|node| {
        if let LogicalPlan::TableScan(scan) = node {
            scans += 1;
            let provider = source_as_provider(&scan.source).ok();
            names.insert(provider.and_then(|provider| provider.downcast_ref::<SourceTableProvider>().map(|table| table.handle.name().clone())));
        }
        Ok(TreeNodeRecursion::Continue)
    });
    if scans == 0 || names.len() != 1 { None } else { names.pop_first().flatten() }
}

/// Why a join of several places is done here.
fn across(plan: &LogicalPlan) -> Option<Reason> {
    let mut places = BTreeSet::new();
    let _ = plan.apply(|node| {
        if let LogicalPlan::TableScan(scan) = node
            && let Ok(provider) = source_as_provider(&scan.source)
        {
            let table = provider.downcast_ref::<SourceTableProvider>().map(|table| table.handle.name().to_string());
            let remote = provider.downcast_ref::<RemoteTable>().map(|table| table.handle.name().to_string());
            let lake = provider.downcast_ref::<crate::scan::LakeTableProvider>().map(|table| table.name.source.to_string());
            places.extend(table.or(remote).or(lake));
        }
        Ok(TreeNodeRecursion::Continue)
    });
    let places: Vec<String> = places.into_iter().collect();
    (places.len() > 1).then(|| Reason::new("two_sources", format!("its rows are in {}", places.join(" and "))))
}

pub(super) fn list(exprs: &[Expr]) -> String {
    exprs.iter().map(in_words).collect::<Vec<_>>().join(", ")
}

pub(super) fn join_words(join: &Join) -> String {
    let equal = if join.null_equality == NullEquality::NullEqualsNull { "IS NOT DISTINCT FROM" } else { "=" };
    // That a key is looked for among others is no function of it.
    let bare = |key: &Expr| match key {
        Expr::ScalarFunction(function) if function.name() == "member" && function.args.len() == 1 => function.args[0].clone(),
        other => other.clone(),
    };
    let keys: Vec<String> = join.on.iter().map(|(left, right)| format!("{} {equal} {}", bare(left), bare(right))).collect();
    if keys.is_empty() { "a condition".to_owned() } else { keys.join(" AND ") }
}

pub(super) fn aggregate_words(aggregate: &Aggregate) -> String {
    match (aggregate.aggr_expr.as_slice(), aggregate.group_expr.as_slice()) {
        ([], keys) => format!("distinct {}", list(keys)),
        (values, []) => format!("aggregate {}", list(values)),
        (values, keys) => format!("aggregate {} by {}", list(values), list(keys)),
    }
}

/// What a sort is called, be it of all rows or of the first ones.
pub(super) fn sort_words(sort: &Sort) -> String {
    match sort.fetch {
        Some(rows) => format!("first {rows} by {}", order_words(sort)),
        None => format!("sort by {}", order_words(sort)),
    }
}

fn order_words(sort: &Sort) -> String {
    let word = |key: &datafusion::logical_expr::SortExpr| format!("{}{}", in_words(&key.expr), if key.asc { "" } else { " DESC" });
    sort.expr.iter().map(word).collect::<Vec<_>>().join(", ")
}
