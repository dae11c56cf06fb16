// SPDX-License-Identifier: Apache-2.0
//! A planned scan: which files, row groups and pages will be read, how much that is, and why the rest will not be.

use crate::bounds::may_match;
use crate::deletes::{EqualityGroup, PositionFile};
use crate::file::LakeFile;
use crate::footer::Footer;
use crate::manifest::FileEntry;
use crate::partition::FileEvidence;
use crate::predicate::Predicate;
use crate::prune::{FilePruner, GroupPlan};
use crate::read::BATCH_ROWS;
use crate::scan::Scan;
use crate::statistics::{ColumnStatistics, column_statistics};
use crate::table::LakeTable;
use crate::text_views::viewed;
use arrow::datatypes::SchemaRef;
use futures::{FutureExt, StreamExt, TryStreamExt};
use std::ops::Range;
use std::sync::Arc;
use weir_base::{ByteSize, Error, Result};

/// Footers read side by side.
const FOOTERS_AT_ONCE: usize = 32;

/// What to read.
#[derive(Debug, Clone, Default)]
pub struct ScanRequest {
    /// Table columns to return, in this order; empty returns row counts alone.
    pub projection: Vec<usize>,
    /// Rules files, row groups and pages out; what is returned may still not match.
    pub predicate: Option<Predicate>,
    /// Rows after which the scan may stop.
    pub limit: Option<u64>,
}

/// A scan of one snapshot, ready to be opened any number of times.
#[derive(Debug, Clone)]
pub struct ScanPlan {
    pub(crate) table: Arc<LakeTable>,
    pub(crate) request: ScanRequest,
    pub(crate) schema: SchemaRef,
    pub(crate) files: Vec<Arc<PlannedFile>>,
    files_pruned: usize,
    groups_pruned: usize,
    columns: Vec<ColumnStatistics>,
    pub(crate) text_views: bool,
    pub(crate) batch_rows: usize,
}

/// A data file of the plan with what has to be read of it and the deletes that apply.
pub(crate) struct PlannedFile {
    pub(crate) entry: Arc<FileEntry>,
    pub(crate) footer: Arc<Footer>,
    pub(crate) groups: Vec<GroupPlan>,
    pub(crate) positions: Vec<Arc<PositionFile>>,
    pub(crate) equalities: Vec<Arc<EqualityGroup>>,
}

impl std::fmt::Debug for PlannedFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PlannedFile").field("location", &self.entry.location()).field("groups", &self.groups.len()).finish_non_exhaustive()
    }
}

impl PlannedFile {
    pub(crate) fn has_deletes(&self) -> bool {
        !self.positions.is_empty() || !self.equalities.is_empty()
    }
}

impl ScanPlan {
    pub(crate) async fn make(table: Arc<LakeTable>, request: ScanRequest) -> Result<Self> {
        if let Some(reason) = &table.files().unreadable {
            return Err(reason.clone());
        }
        check_columns(&table, &request)?;
        let schema = Arc::new(table.schema().project(&request.projection).map_err(crate::fault::computing)?);
        let predicate = request.predicate.as_ref().map(Predicate::normalized);
        let kept = kept_entries(&table, predicate.as_ref(), request.limit);
        let files_pruned = table.files().data.len() - kept.len();
        let columns = column_statistics(table.columns(), &kept, predicate.is_none() && !table.has_deletes());
        let planned: Vec<PlannedFile> =
            futures::stream::iter(kept).map(|entry| plan_file(&table, entry, predicate.as_ref()).boxed()).buffered(FOOTERS_AT_ONCE).try_collect().await?;
        let groups_pruned = planned.iter().map(|file| file.footer.parquet().num_row_groups() - file.groups.len()).sum();
        let files = planned.into_iter().filter(|file| !file.groups.is_empty()).map(Arc::new).collect();
        Ok(Self { table, request, schema, files, files_pruned, groups_pruned, columns, text_views: false, batch_rows: BATCH_ROWS })
    }

    /// The same scan with texts as views (`Utf8View`), also in the batches that filters get: `LakeTable::schema_with_text_views`.
    pub fn with_text_views(self) -> Self {
        Self { schema: viewed(&self.schema), text_views: true, ..self }
    }

    /// The same scan in batches of at most so many rows, for those who have little memory.
    pub fn with_batch_rows(self, rows: usize) -> Self {
        Self { batch_rows: rows.clamp(1, BATCH_ROWS), ..self }
    }

    /// The columns asked for.
    pub fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    pub fn table(&self) -> &Arc<LakeTable> {
        &self.table
    }

    /// Rows left after pruning: exact where `rows_exact`, else an upper bound.
    pub fn rows(&self) -> u64 {
        self.groups().map(|group| group.rows).sum()
    }

    pub fn rows_exact(&self) -> bool {
        self.request.predicate.is_none() && !self.files.iter().any(|file| file.has_deletes())
    }

    /// Compressed bytes of the wanted columns in the row groups that will be read; an upper bound.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| projected_bytes(file, &self.table, &self.request.projection)).sum()
    }

    /// Compressed bytes of the wanted columns in some rows of one planned group; `None` for all its rows.
    pub(crate) fn piece_bytes(&self, file: usize, group: usize, rows: Option<&Range<u64>>) -> u64 {
        let planned = &self.files[file];
        let group = &planned.groups[group];
        let bytes = group_bytes(planned, group, &self.table, &self.request.projection);
        let all = planned.footer.parquet().row_group(group.index).num_rows().max(1) as u64;
        rows.map_or(bytes, |rows| bytes * (rows.end - rows.start) / all)
    }

    /// Data files that will be read.
    pub fn files(&self) -> usize {
        self.files.len()
    }

    /// Data files that partitions and file statistics ruled out.
    pub fn files_pruned(&self) -> usize {
        self.files_pruned
    }

    pub fn row_groups(&self) -> usize {
        self.groups().count()
    }

    pub fn row_groups_pruned(&self) -> usize {
        self.groups_pruned
    }

    /// Statistics of the planned files, one entry per column of the table.
    pub fn column_statistics(&self) -> &[ColumnStatistics] {
        &self.columns
    }

    /// The plan in words, for EXPLAIN.
    pub fn describe(&self) -> Vec<String> {
        let table = &self.table;
        let state = match table.snapshot_id() {
            Some(id) => format!("snapshot {id} as of {}", table.as_of().at),
            None => "no snapshot yet".to_owned(),
        };
        let mut words = vec![
            state,
            format!("{} of {} columns", self.request.projection.len(), table.schema().fields().len()),
            format!("{} of {} files ({} ruled out by partitions and statistics)", self.files(), table.files().data.len(), self.files_pruned),
            format!("{} of {} row groups in them", self.row_groups(), self.row_groups() + self.groups_pruned),
            format!("{}{} rows, {}", if self.rows_exact() { "" } else { "at most " }, self.rows(), ByteSize(self.bytes())),
        ];
        let (positions, keys) = self.files.iter().fold((0, 0), |(positions, keys), file| (positions + file.positions.len(), keys + file.equalities.len()));
        if positions + keys > 0 {
            words.push(format!("deletes applied while reading ({positions} by position, {keys} by key)"));
        }
        words
    }

    /// Starts reading. `partitions` streams share the work among them, in pieces small enough to keep all of them busy.
    pub fn open(&self, partitions: usize) -> Scan {
        Scan::new(self.clone(), partitions.max(1))
    }

    fn groups(&self) -> impl Iterator<Item = &GroupPlan> {
        self.files.iter().flat_map(|file| file.groups.iter())
    }
}

fn check_columns(table: &LakeTable, request: &ScanRequest) -> Result<()> {
    let count = table.columns().len();
    let named = request.predicate.as_ref().map(Predicate::columns).unwrap_or_default();
    match request.projection.iter().chain(&named).find(|column| **column >= count) {
        Some(column) => Err(Error::internal("a scan names a column that its table does not have").with_detail(format!("column {column} of {count}"))),
        None => Ok(()),
    }
}

/// The files that may match; with a limit and nothing that takes rows away, only as many as it needs.
fn kept_entries(table: &LakeTable, predicate: Option<&Predicate>, limit: Option<u64>) -> Vec<Arc<FileEntry>> {
    let may = |entry: &Arc<FileEntry>| {
        let evidence = FileEvidence { entry, spec: table.spec(entry.spec_id), columns: table.columns() };
        entry.file.record_count() > 0 && predicate.is_none_or(|predicate| may_match(predicate, &evidence))
    };
    let kept = table.files().data.iter().filter(|entry| may(entry)).cloned();
    let Some(limit) = limit.filter(|_| predicate.is_none() && !table.has_deletes()) else { return kept.collect() };
    let mut rows = 0;
    kept.take_while(|entry| {
        let wanted = rows < limit;
        rows += entry.file.record_count();
        wanted
    })
    .collect()
}

async fn plan_file(table: &Arc<LakeTable>, entry: Arc<FileEntry>, predicate: Option<&Predicate>) -> Result<PlannedFile> {
    let footer = table.footer(&entry).await?;
    let pruner = FilePruner { footer: &footer, entry: &entry, spec: table.spec(entry.spec_id), columns: table.columns() };
    let groups = match predicate {
        None => pruner.all_groups(),
        Some(predicate) => {
            let mut groups = pruner.groups(predicate)?;
            if footer.has_bloom_filters() {
                let file = LakeFile::open(table.io(), entry.location(), entry.file.file_size_in_bytes()).await?;
                pruner.retain_by_bloom_filters(&mut groups, predicate, &file).await?;
            }
            groups
        }
    };
    let files = table.files();
    let positions = files.positions.iter().filter(|delete| delete.may_apply_to(&entry)).cloned().collect();
    let equalities = files.equalities.iter().filter(|delete| delete.may_apply_to(&entry)).cloned().collect();
    Ok(PlannedFile { entry, footer, groups, positions, equalities })
}

fn projected_bytes(file: &PlannedFile, table: &LakeTable, projection: &[usize]) -> u64 {
    file.groups.iter().map(|group| group_bytes(file, group, table, projection)).sum()
}

fn group_bytes(file: &PlannedFile, group: &GroupPlan, table: &LakeTable, projection: &[usize]) -> u64 {
    let roots: Vec<usize> = projection.iter().filter_map(|column| file.footer.position_of(table.columns()[*column].id)).collect();
    let schema = file.footer.metadata.parquet_schema();
    let chunks = file.footer.parquet().row_group(group.index).columns().iter().enumerate();
    chunks.filter(|(leaf, _)| roots.contains(&schema.get_column_root_idx(*leaf))).map(|(_, chunk)| chunk.compressed_size() as u64).sum()
}
