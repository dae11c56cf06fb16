// SPDX-License-Identifier: Apache-2.0
//! A table at one snapshot: its columns, its age, its size, and the plan of a scan over it.

use crate::bounds::may_match;
use crate::fault::{at, redact};
use crate::file::LakeFile;
use crate::footer::Footer;
use crate::lake::Store;
use crate::manifest::{FileEntry, SnapshotFiles};
use crate::partition::FileEvidence;
use crate::plan::{ScanPlan, ScanRequest};
use crate::predicate::Predicate;
use crate::schema::{arrow_field, arrow_schema};
use crate::spec::Version;
use crate::statistics::{ColumnStatistics, column_statistics};
use crate::text_views::viewed;
use arrow::datatypes::{Field, SchemaRef};
use iceberg::io::FileIO;
use iceberg::spec::{NameMapping, NestedFieldRef, PartitionSpec, SnapshotRef, TableMetadata};
use iceberg::table::Table;
use std::sync::Arc;
use weir_base::{AsOf, AsOfMethod, Error, ErrorCode, Result, TableName, Timestamp};

const NAME_MAPPING: &str = "schema.name-mapping.default";

/// A table, pinned to the snapshot that was current when it was looked up.
pub struct LakeTable {
    name: TableName,
    store: Arc<Store>,
    table: Arc<Table>,
    snapshot: Option<SnapshotRef>,
    /// The schema to read with: the current one, or the snapshot's own when an old one is read.
    columns: Vec<NestedFieldRef>,
    arrow: SchemaRef,
    files: Arc<SnapshotFiles>,
    mapping: Option<NameMapping>,
}

impl std::fmt::Debug for LakeTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LakeTable").field("name", &self.name).field("snapshot", &self.snapshot_id()).finish_non_exhaustive()
    }
}

impl LakeTable {
    pub(crate) async fn load(store: Arc<Store>, name: TableName, table: Arc<Table>, version: Option<Version>) -> Result<Self> {
        let metadata = table.metadata();
        let snapshot = match version {
            None => metadata.current_snapshot().cloned(),
            Some(version) => Some(find_snapshot(metadata, version)?),
        };
        let schema = match (&snapshot, version) {
            (Some(snapshot), Some(_)) => snapshot.schema(metadata).map_err(at("cannot find the schema of a snapshot"))?,
            _ => metadata.current_schema().clone(),
        };
        let files = match &snapshot {
            Some(snapshot) => store.snapshot_files(&table, snapshot).await?,
            None => Arc::default(),
        };
        let mapping = metadata.properties().get(NAME_MAPPING).map(|json| name_mapping(json)).transpose()?;
        let arrow = arrow_schema(&schema)?;
        Ok(Self { name, store, snapshot, columns: schema.as_struct().fields().to_vec(), arrow, files, mapping, table })
    }

    pub fn name(&self) -> &TableName {
        &self.name
    }

    /// The columns as readers get them: strings `Utf8`, timestamps in microseconds, decimals, lists, structs and maps.
    pub fn schema(&self) -> SchemaRef {
        self.arrow.clone()
    }

    /// The type of each column as Iceberg writes it: `long`, `decimal(12, 2)`, `timestamptz`.
    pub fn native_types(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.field_type.to_string()).collect()
    }

    /// The same with texts as views, as a scan `with_text_views` returns them.
    pub fn schema_with_text_views(&self) -> SchemaRef {
        viewed(&self.arrow)
    }

    pub fn snapshot_id(&self) -> Option<i64> {
        self.snapshot.as_ref().map(|snapshot| snapshot.snapshot_id())
    }

    /// When the snapshot was committed; for a table without one, when the table last changed.
    pub fn as_of(&self) -> AsOf {
        let millis = self.snapshot.as_ref().map_or_else(|| self.metadata().last_updated_ms(), |snapshot| snapshot.timestamp_ms());
        AsOf::new(Timestamp::from_millis(millis), AsOfMethod::Snapshot)
    }

    /// How the table is partitioned, in words: `region`, `month(created_at)`, `bucket(16, id)`.
    pub fn partitioning(&self) -> Vec<String> {
        let schema = self.metadata().current_schema();
        let spec = self.metadata().default_partition_spec();
        let words = spec.fields().iter().filter_map(|field| partition_words(schema.name_by_field_id(field.source_id)?, field.transform));
        words.collect()
    }

    /// The table's comment.
    pub fn comment(&self) -> Option<&str> {
        self.metadata().properties().get("comment").map(String::as_str)
    }

    /// Where the table's files are.
    pub fn location(&self) -> &str {
        self.metadata().location()
    }

    /// Every snapshot that can still be read, oldest first: id and commit time.
    pub fn snapshots(&self) -> Vec<(i64, Timestamp)> {
        let mut found: Vec<(i64, Timestamp)> =
            self.metadata().snapshots().map(|snapshot| (snapshot.snapshot_id(), Timestamp::from_millis(snapshot.timestamp_ms()))).collect();
        found.sort_by_key(|(_, committed_at)| *committed_at);
        found
    }

    /// Rows in the data files; deletes not taken off, so an upper bound when `rows_exact` is false.
    pub fn rows(&self) -> u64 {
        self.files.data.iter().map(|entry| entry.file.record_count()).sum()
    }

    pub fn rows_exact(&self) -> bool {
        !self.has_deletes()
    }

    /// Bytes of the data files.
    pub fn bytes(&self) -> u64 {
        self.files.data.iter().map(|entry| entry.file.file_size_in_bytes()).sum()
    }

    /// Number of data files.
    pub fn data_files(&self) -> usize {
        self.files.data.len()
    }

    /// One entry per column of the schema.
    pub fn column_statistics(&self) -> Vec<ColumnStatistics> {
        column_statistics(&self.columns, &self.files.data, !self.has_deletes())
    }

    /// Whether the manifests show that the condition is true in every row: no file may hold one for which it is false, or NULL.
    pub fn always(&self, condition: &Predicate) -> bool {
        let nulls = condition.columns().into_iter().map(Predicate::IsNull);
        let otherwise = Predicate::Or(nulls.chain([Predicate::Not(Box::new(condition.clone()))]).collect()).normalized();
        let rows = self.files.data.iter().filter(|entry| entry.file.record_count() > 0);
        let mut evidence = rows.map(|entry| FileEvidence { entry, spec: self.spec(entry.spec_id), columns: &self.columns });
        evidence.all(|evidence| !may_match(&otherwise, &evidence))
    }

    /// Prunes files, row groups and pages; reads manifests and footers (kept from earlier plans), no data.
    pub async fn plan(self: &Arc<Self>, request: ScanRequest) -> Result<ScanPlan> {
        ScanPlan::make(self.clone(), request).await
    }

    pub(crate) fn metadata(&self) -> &TableMetadata {
        self.table.metadata()
    }

    pub(crate) fn io(&self) -> &FileIO {
        self.table.file_io()
    }

    pub(crate) fn files(&self) -> &SnapshotFiles {
        &self.files
    }

    pub(crate) fn columns(&self) -> &[NestedFieldRef] {
        &self.columns
    }

    pub(crate) fn column_field(&self, column: usize) -> Result<Field> {
        match self.columns.get(column) {
            Some(field) => arrow_field(field),
            None => Err(Error::internal("a filter names a column that its table does not have")),
        }
    }

    pub(crate) fn has_deletes(&self) -> bool {
        !self.files.positions.is_empty() || !self.files.equalities.is_empty()
    }

    pub(crate) fn spec(&self, spec_id: i32) -> Option<&PartitionSpec> {
        self.metadata().partition_spec_by_id(spec_id).map(AsRef::as_ref)
    }

    /// Key columns of equality deletes; they may have been dropped from the table since.
    pub(crate) fn key_fields(&self, ids: &[i32]) -> Result<Vec<NestedFieldRef>> {
        ids.iter().map(|id| self.key_field(*id)).collect()
    }

    fn key_field(&self, id: i32) -> Result<NestedFieldRef> {
        if let Some(field) = self.columns.iter().find(|field| field.id == id) {
            return Ok(field.clone());
        }
        let dropped = self.metadata().schemas_iter().find_map(|schema| schema.as_struct().field_by_id(id));
        dropped.cloned().ok_or_else(|| {
            Error::new(ErrorCode::Unsupported, "equality deletes use a key that is not a column of the table").with_detail(format!("table {}", self.name))
        })
    }

    /// A data file's footer, read once.
    pub(crate) async fn footer(&self, entry: &FileEntry) -> Result<Arc<Footer>> {
        let footers = self.store.footers();
        // The same file can mean different columns under another name mapping.
        let key = if self.mapping.is_some() { format!("{}\n{}", entry.location(), self.metadata().uuid()) } else { entry.location().to_owned() };
        if let Some(known) = footers.get(&key) {
            return Ok(known);
        }
        let file = LakeFile::open(self.io(), entry.location(), entry.file.file_size_in_bytes()).await?;
        let metadata = file.footer().await?;
        let weight = metadata.memory_size();
        Ok(footers.put(&key, Footer::new(metadata, self.mapping.as_ref())?, weight))
    }
}

fn partition_words(column: &str, transform: iceberg::spec::Transform) -> Option<String> {
    use iceberg::spec::Transform;
    Some(match transform {
        Transform::Identity => column.to_owned(),
        Transform::Bucket(buckets) => format!("bucket({buckets}, {column})"),
        Transform::Truncate(width) => format!("truncate({width}, {column})"),
        Transform::Void => return None,
        other => format!("{other}({column})"),
    })
}

fn name_mapping(json: &str) -> Result<NameMapping> {
    serde_json::from_str(json)
        .map_err(|wrong| Error::new(ErrorCode::SourceBroke, "the table's name mapping cannot be read").with_detail(redact(&wrong.to_string())))
}

fn find_snapshot(metadata: &TableMetadata, version: Version) -> Result<SnapshotRef> {
    let found = match version {
        Version::Snapshot(id) => metadata.snapshot_by_id(id),
        Version::At(instant) => {
            let last = metadata.history().iter().filter(|log| log.timestamp_ms <= instant.millis()).max_by_key(|log| log.timestamp_ms);
            last.and_then(|log| metadata.snapshot_by_id(log.snapshot_id))
        }
    };
    found.cloned().ok_or_else(|| {
        let what = match version {
            Version::Snapshot(id) => format!("version {id}"),
            Version::At(instant) => format!("a state at {instant}"),
        };
        Error::new(ErrorCode::NotFound, "the table has no such state")
            .with_detail(what)
            .with_hint("its oldest states may have been removed; see the table's snapshots")
    })
}
