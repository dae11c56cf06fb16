// SPDX-License-Identifier: Apache-2.0
//! Reading one piece of a data file: decode, bring columns to the table's types, take deleted rows out, filter, project.

use crate::BatchStream;
use crate::deletes::KeyMap;
use crate::fault::{computing, reading};
use crate::file::LakeFile;
use crate::filter::BatchFilter;
use crate::origin::FileColumns;
use crate::plan::{PlannedFile, ScanPlan};
use crate::prune::FilePruner;
use crate::scan::{Morsel, Shared};
use crate::table::LakeTable;
use crate::text_views::{as_plain, compact, viewed};
use arrow::array::{ArrayRef, BooleanArray, RecordBatch, RecordBatchOptions};
use arrow::compute::{BatchCoalescer, FilterBuilder, and, prep_null_mask_filter};
use arrow::datatypes::{Field, Schema, SchemaRef};
use futures::StreamExt;
use iceberg::spec::NestedFieldRef;
use parquet::arrow::ParquetRecordBatchStreamBuilder;
use parquet::arrow::arrow_reader::{ArrowPredicate, ArrowPredicateFn, RowFilter, RowSelection};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OnceCell;
use weir_base::{Error, Result};

/// Rows per batch, as the engine's operators like them.
pub(crate) const BATCH_ROWS: usize = 8_192;

/// For each row group whether it may match; `None` when nothing is ruled out.
pub(crate) type Matching = Option<Arc<Vec<bool>>>;

/// A planned file while it is read: its handle, and what the filter rules out in it.
pub(crate) struct ReadFile {
    pub(crate) planned: Arc<PlannedFile>,
    handle: OnceCell<LakeFile>,
    /// The filter's generation that was last asked, and which row groups it leaves.
    ruled: Mutex<Option<(u64, Matching)>>,
}

impl ReadFile {
    pub(crate) fn new(planned: Arc<PlannedFile>) -> Self {
        Self { planned, handle: OnceCell::new(), ruled: Mutex::new(None) }
    }

    async fn handle(&self, table: &LakeTable) -> Result<LakeFile> {
        let entry = &self.planned.entry;
        let open = || LakeFile::open(table.io(), entry.location(), entry.file.file_size_in_bytes());
        self.handle.get_or_try_init(open).await.cloned()
    }

    /// Which row groups the filter leaves; asked once per generation of the filter.
    pub(crate) fn matching_groups<'a>(&self, filter: &dyn BatchFilter, pruner: impl Fn() -> FilePruner<'a>) -> Result<Matching> {
        let generation = filter.generation();
        let mut ruled = self.ruled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((known, matching)) = ruled.as_ref()
            && *known == generation
        {
            return Ok(matching.clone());
        }
        let matching = match filter.predicate() {
            Some(predicate) => Some(Arc::new(pruner().matching_groups(&predicate.normalized())?)),
            None => None,
        };
        *ruled = Some((generation, matching.clone()));
        Ok(matching)
    }
}

/// The table columns that a piece needs, each once; what is returned, what the filter and the deletes look at.
struct Slots {
    fields: Vec<NestedFieldRef>,
    outputs: Vec<usize>,
    filter: Vec<usize>,
    /// Key columns of each equality group.
    keys: Vec<Vec<usize>>,
}

impl Slots {
    fn new(table: &LakeTable, projection: &[usize], filter: &[usize], planned: &PlannedFile) -> Result<Self> {
        let mut slots = Self { fields: Vec::new(), outputs: Vec::new(), filter: Vec::new(), keys: Vec::new() };
        slots.outputs = projection.iter().map(|column| slots.slot(&table.columns()[*column])).collect();
        slots.filter = filter.iter().map(|column| slots.slot(&table.columns()[*column])).collect();
        for group in &planned.equalities {
            let fields = table.key_fields(&group.ids)?;
            let keys = fields.iter().map(|field| slots.slot(field)).collect();
            slots.keys.push(keys);
        }
        Ok(slots)
    }

    fn slot(&mut self, field: &NestedFieldRef) -> usize {
        if let Some(at) = self.fields.iter().position(|known| known.id == field.id) {
            return at;
        }
        self.fields.push(field.clone());
        self.fields.len() - 1
    }
}

/// A filter with the schema of the batches that it wants.
struct BoundFilter {
    filter: Arc<dyn BatchFilter>,
    schema: SchemaRef,
}

impl BoundFilter {
    fn new(plan: &ScanPlan, filter: Arc<dyn BatchFilter>, columns: &[usize]) -> Result<Self> {
        let fields: Vec<Field> = columns.iter().map(|column| plan.table.column_field(*column)).collect::<Result<_>>()?;
        let schema = Arc::new(Schema::new(fields));
        Ok(Self { filter, schema: if plan.text_views { viewed(&schema) } else { schema } })
    }

    fn evaluate(&self, columns: Vec<ArrayRef>, rows: usize) -> Result<BooleanArray> {
        let batch = batch_of(self.schema.clone(), columns, rows)?;
        let verdicts = self.filter.evaluate(&batch)?;
        if arrow::array::Array::len(&verdicts) != rows {
            return Err(Error::internal("a filter gave another number of verdicts than rows"));
        }
        Ok(if arrow::array::Array::null_count(&verdicts) > 0 { prep_null_mask_filter(&verdicts) } else { verdicts })
    }
}

/// Opens a piece for reading.
pub(crate) async fn open(shared: Arc<Shared>, morsel: &Morsel, filter: Option<Arc<dyn BatchFilter>>) -> Result<BatchStream> {
    let file = &shared.files[morsel.file];
    let planned = &file.planned;
    let (table, text_views) = (&shared.plan.table, shared.plan.text_views);
    let filter_columns = filter.as_ref().map(|filter| filter.columns()).unwrap_or_default();
    let bound = filter.map(|filter| BoundFilter::new(&shared.plan, filter, &filter_columns)).transpose()?.map(Arc::new);
    let slots = Slots::new(table, &shared.plan.request.projection, &filter_columns, planned)?;
    let spec = table.spec(planned.entry.spec_id);
    let columns = FileColumns::new(&planned.footer, &planned.entry, spec, &slots.fields)?.with_text_views(text_views);

    let handle = file.handle(table).await?;
    let group = &planned.groups[morsel.group];
    let metadata = if text_views { &planned.footer.metadata_of_views } else { &planned.footer.metadata };
    let mut builder = ParquetRecordBatchStreamBuilder::new_with_metadata(handle, metadata.clone())
        .with_batch_size(shared.plan.batch_rows)
        .with_row_groups(vec![group.index])
        .with_projection(columns.mask(&planned.footer));
    if let Some(selection) = selection(table, planned, morsel).await? {
        builder = builder.with_row_selection(selection);
    }
    let mut late = false;
    if let Some(bound) = &bound
        && shared.filtered.is_selective()
    {
        let fields = |columns: &[usize]| columns.iter().map(|column| table.columns()[*column].clone()).collect::<Vec<NestedFieldRef>>();
        let of_file = |columns: &[usize]| -> Result<FileColumns> {
            Ok(FileColumns::new(&planned.footer, &planned.entry, spec, &fields(columns))?.with_text_views(text_views))
        };
        let first = of_file(&filter_columns)?;
        late = !first.roots().is_empty() && first.roots().len() < columns.roots().len();
        if late {
            let mut stages = Vec::new();
            for stage in bound.filter.stages()? {
                let columns = stage.columns();
                stages.push((of_file(&columns)?, Arc::new(BoundFilter::new(&shared.plan, stage, &columns)?)));
            }
            // What looks at nothing in the file is no stage of its own.
            if stages.len() < 2 || stages.iter().any(|(columns, _): &(FileColumns, _)| columns.roots().is_empty()) {
                stages = vec![(first, bound.clone())];
            }
            builder = builder.with_row_filter(row_filter(&shared, planned, stages));
        }
    }
    let batches = builder.build().map_err(reading)?;
    for group in &planned.equalities {
        group.keys(table.io(), &table.key_fields(&group.ids)?).await?;
    }
    let piece = Piece { shared: shared.clone(), planned: planned.clone(), slots, columns, filter: bound.filter(|_| !late) };
    Ok(full_batches(shared.plan.schema.clone(), shared.plan.batch_rows, batches.map(move |batch| piece.finish(&batch.map_err(reading)?)).boxed()))
}

/// What a filter left of many batches, joined into few: whoever works on them pays for each.
fn full_batches(schema: SchemaRef, rows: usize, batches: BatchStream) -> BatchStream {
    if schema.fields().is_empty() {
        return batches;
    }
    let joined = BatchCoalescer::new(schema, rows).with_biggest_coalesce_batch_size(Some(rows / 2));
    let state = (batches, joined);
    let full = futures::stream::try_unfold(state, |(mut batches, mut joined)| async move {
        loop {
            if let Some(full) = joined.next_completed_batch() {
                return Ok(Some((full, (batches, joined))));
            }
            match batches.next().await {
                Some(batch) => joined.push_batch(compact(batch?)?).map_err(computing)?,
                None if joined.is_empty() => return Ok(None),
                None => joined.finish_buffered_batch().map_err(computing)?,
            }
        }
    });
    full.boxed()
}

/// The rows to decode: those of the piece, in pages that may match, not deleted by position.
async fn selection(table: &LakeTable, planned: &PlannedFile, morsel: &Morsel) -> Result<Option<RowSelection>> {
    let group = &planned.groups[morsel.group];
    let parquet = planned.footer.parquet();
    let rows = parquet.row_group(group.index).num_rows() as u64;
    let first: u64 = parquet.row_groups()[..group.index].iter().map(|group| group.num_rows() as u64).sum();
    let mut selection = group.selection.clone();
    let mut narrow = |by: RowSelection| {
        selection = Some(match selection.take() {
            Some(others) => others.intersection(&by),
            None => by,
        });
    };
    if let Some(piece) = &morsel.rows {
        narrow(ranges(std::iter::once(piece.start as usize..piece.end as usize), rows));
    }
    for delete in &planned.positions {
        let deleted = delete.positions_of(table.io(), &planned.entry).await?;
        let from = deleted.partition_point(|position| *position < first);
        let to = deleted.partition_point(|position| *position < first + rows);
        if from < to {
            narrow(ranges(gaps(&deleted[from..to], first, rows).into_iter(), rows));
        }
    }
    Ok(selection)
}

fn ranges(kept: impl Iterator<Item = Range<usize>>, rows: u64) -> RowSelection {
    RowSelection::from_consecutive_ranges(kept, rows as usize)
}

/// The rows between deleted positions, counted within the row group.
fn gaps(deleted: &[u64], first: u64, rows: u64) -> Vec<Range<usize>> {
    let mut kept = Vec::with_capacity(deleted.len() + 1);
    let mut next = 0;
    for position in deleted {
        let row = (position - first) as usize;
        if next < row {
            kept.push(next..row);
        }
        next = row + 1;
    }
    if next < rows as usize {
        kept.push(next..rows as usize);
    }
    kept
}

/// Rows are counted as seen by the first stage and as kept by the last.
fn row_filter(shared: &Arc<Shared>, planned: &PlannedFile, stages: Vec<(FileColumns, Arc<BoundFilter>)>) -> RowFilter {
    let last = stages.len().saturating_sub(1);
    let predicate = |(at, (columns, bound)): (usize, (FileColumns, Arc<BoundFilter>))| {
        let mask = columns.mask(&planned.footer);
        let shared = shared.clone();
        let evaluate = move |batch: RecordBatch| {
            let verdicts = columns.adapt(&batch).and_then(|arrays| bound.evaluate(arrays, batch.num_rows()));
            let verdicts = verdicts.map_err(|error| arrow::error::ArrowError::ExternalError(Box::new(error)))?;
            let seen = if at == 0 { batch.num_rows() } else { 0 };
            shared.filtered.add(seen, if at == last { verdicts.true_count() } else { 0 });
            Ok(verdicts)
        };
        Box::new(ArrowPredicateFn::new(mask, evaluate)) as Box<dyn ArrowPredicate>
    };
    RowFilter::new(stages.into_iter().enumerate().map(predicate).collect())
}

/// A piece being read.
struct Piece {
    shared: Arc<Shared>,
    planned: Arc<PlannedFile>,
    slots: Slots,
    columns: FileColumns,
    /// Set when the filter was not applied while decoding.
    filter: Option<Arc<BoundFilter>>,
}

impl Piece {
    fn finish(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let rows = batch.num_rows();
        let arrays = self.columns.adapt(batch)?;
        let mut keep: Option<BooleanArray> = None;
        if let Some(filter) = &self.filter {
            let verdicts = filter.evaluate(self.pick(&arrays, &self.slots.filter), rows)?;
            self.shared.filtered.add(rows, verdicts.true_count());
            keep = Some(verdicts);
        }
        for (group, slots) in self.planned.equalities.iter().zip(&self.slots.keys) {
            let keys: Vec<ArrayRef> = self.pick(&arrays, slots).into_iter().map(as_plain).collect::<Result<_>>()?;
            let survivors = self.keys_of(group)?.survivors(&keys, self.planned.entry.sequence)?;
            keep = Some(match keep {
                Some(others) => and(&others, &survivors).map_err(computing)?,
                None => survivors,
            });
        }
        let outputs = self.pick(&arrays, &self.slots.outputs);
        let schema = self.shared.plan.schema.clone();
        let Some(keep) = keep else { return batch_of(schema, outputs, rows) };
        let kept = keep.true_count();
        if kept == rows {
            return batch_of(schema, outputs, rows);
        }
        let mut filter = FilterBuilder::new(&keep);
        if outputs.len() > 1 {
            filter = filter.optimize();
        }
        let filter = filter.build();
        let outputs = outputs.iter().map(|array| filter.filter(array)).collect::<Result<_, _>>().map_err(computing)?;
        batch_of(schema, outputs, kept)
    }

    fn keys_of<'a>(&self, group: &'a crate::deletes::EqualityGroup) -> Result<&'a KeyMap> {
        group.loaded().ok_or_else(|| Error::internal("equality deletes were not read before their rows"))
    }

    fn pick(&self, arrays: &[ArrayRef], slots: &[usize]) -> Vec<ArrayRef> {
        slots.iter().map(|slot| arrays[*slot].clone()).collect()
    }
}

fn batch_of(schema: SchemaRef, columns: Vec<ArrayRef>, rows: usize) -> Result<RecordBatch> {
    RecordBatch::try_new_with_options(schema, columns, &RecordBatchOptions::new().with_row_count(Some(rows))).map_err(computing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_between_deleted_ones() {
        assert_eq!(gaps(&[10, 11, 14], 10, 5), vec![2..4]);
        assert_eq!(gaps(&[12], 10, 4), vec![0..2, 3..4]);
        assert!(gaps(&[5], 5, 1).is_empty());
    }
}
