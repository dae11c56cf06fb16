// SPDX-License-Identifier: Apache-2.0
//! The lake itself: schemas and tables by name, and the changes that a caller may make to them.

use crate::BatchStream;
use crate::commit;
use crate::config::LakeConfig;
use crate::drop::remove_files;
use crate::fault::at;
use crate::file::{local_path, open_storage};
use crate::footer::Footer;
use crate::manifest::{Manifest, SnapshotFiles, snapshot_files};
use crate::pointer::Pointers;
use crate::publish::Publication;
use crate::shelf::Shelf;
use crate::spec::{TableSpec, Version, Written};
use crate::table::LakeTable;
use crate::write::{Staged, write_data};
use iceberg::io::FileIO;
use iceberg::spec::{SnapshotRef, TableMetadata};
use iceberg::table::Table;
use iceberg::{NamespaceIdent, Runtime, TableIdent};
use std::sync::Arc;
use weir_base::{Error, ErrorCode, Result, TableName, nearest};

const METADATA_BYTES_MAX: usize = 64 * 1024 * 1024;
const MANIFEST_ENTRIES_MAX: usize = 500_000;
const SNAPSHOT_ENTRIES_MAX: usize = 500_000;
const FOOTER_BYTES_MAX: usize = 256 * 1024 * 1024;
const NAME_CHARS_MAX: usize = 255;

/// Iceberg tables under one catalog.
#[derive(Debug)]
pub struct Lake {
    config: LakeConfig,
    pointers: Arc<Pointers>,
    store: Arc<Store>,
}

/// Files of the warehouse, and what was read of those that never change.
pub(crate) struct Store {
    io: FileIO,
    runtime: Runtime,
    tables: Shelf<Arc<Table>>,
    manifests: Shelf<Manifest>,
    snapshots: Shelf<Arc<SnapshotFiles>>,
    footers: Shelf<Footer>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}

impl Store {
    pub(crate) fn io(&self) -> &FileIO {
        &self.io
    }

    pub(crate) fn footers(&self) -> &Shelf<Footer> {
        &self.footers
    }

    pub(crate) async fn snapshot_files(&self, table: &Table, snapshot: &SnapshotRef) -> Result<Arc<SnapshotFiles>> {
        // Manifest lists have unique paths, also where two tables have snapshots of one id.
        let key = snapshot.manifest_list();
        if let Some(known) = self.snapshots.get(key) {
            return Ok(known.as_ref().clone());
        }
        let files = Arc::new(snapshot_files(table, snapshot, &self.manifests).await?);
        let weight = files.data.len() + files.positions.len() + 1;
        Ok(self.snapshots.put(key, files, weight).as_ref().clone())
    }

    /// A table as one metadata file describes it.
    pub(crate) async fn table_at(&self, name: &TableName, location: &str) -> Result<Arc<Table>> {
        if let Some(known) = self.tables.get(location) {
            return Ok(known.as_ref().clone());
        }
        let metadata = TableMetadata::read_from(&self.io, location).await.map_err(at("cannot read a table's metadata file"))?;
        let table = Arc::new(self.table_of(name, metadata, Some(location))?);
        let weight = 4096 + 1024 * table.metadata().snapshots().len();
        Ok(self.tables.put(location, table, weight).as_ref().clone())
    }

    pub(crate) fn table_of(&self, name: &TableName, metadata: TableMetadata, location: Option<&str>) -> Result<Table> {
        let namespace = NamespaceIdent::from_strs(name.schema.split('.')).map_err(at("wrong schema name"))?;
        let mut builder = Table::builder()
            .identifier(TableIdent::new(namespace, name.table.clone()))
            .file_io(self.io.clone())
            .runtime(self.runtime.clone())
            .disable_cache()
            .metadata(metadata);
        if let Some(location) = location {
            builder = builder.metadata_location(location);
        }
        builder.build().map_err(at("cannot open a table"))
    }
}

impl Lake {
    /// Opens the catalog and the warehouse; makes the catalog file and the folder when they are not there.
    pub async fn open(config: LakeConfig) -> Result<Arc<Self>> {
        let io = open_storage(&config.warehouse, config.s3.as_ref())?;
        if let Some(folder) = local_path(&config.warehouse) {
            if !std::path::Path::new(folder).is_absolute() {
                return Err(Error::new(ErrorCode::Config, "the lake's warehouse is not an absolute folder").with_hint("write file:///abs/folder"));
            }
            std::fs::create_dir_all(folder).map_err(at("cannot make the lake's folder"))?;
        }
        let pointers = Arc::new(Pointers::open(&config.catalog, config.name.as_str()).await?);
        let store = Store {
            io,
            runtime: Runtime::try_current().map_err(at("the lake needs a tokio runtime"))?,
            tables: Shelf::new(METADATA_BYTES_MAX),
            manifests: Shelf::new(MANIFEST_ENTRIES_MAX),
            snapshots: Shelf::new(SNAPSHOT_ENTRIES_MAX),
            footers: Shelf::new(FOOTER_BYTES_MAX),
        };
        Ok(Arc::new(Self { config, pointers, store: Arc::new(store) }))
    }

    pub fn name(&self) -> &weir_base::SourceName {
        &self.config.name
    }

    /// Names of all schemas, in order.
    pub async fn schemas(&self) -> Result<Vec<String>> {
        self.pointers.schemas().await
    }

    /// Names of a schema's tables, in order; empty for a schema that is not there.
    pub async fn tables(&self, schema: &str) -> Result<Vec<String>> {
        self.pointers.tables(schema).await
    }

    /// The table as it is now, pinned; `None` when there is no such table.
    pub async fn table(&self, schema: &str, table: &str) -> Result<Option<Arc<LakeTable>>> {
        self.table_version(schema, table, None).await
    }

    /// The table as it was, with the columns that it had then.
    pub async fn table_at(&self, schema: &str, table: &str, version: Version) -> Result<Option<Arc<LakeTable>>> {
        self.table_version(schema, table, Some(version)).await
    }

    async fn table_version(&self, schema: &str, table: &str, version: Option<Version>) -> Result<Option<Arc<LakeTable>>> {
        let Some(location) = self.pointers.location(schema, table).await? else { return Ok(None) };
        let name = self.full_name(schema, table);
        let found = self.store.table_at(&name, &location).await?;
        Ok(Some(Arc::new(LakeTable::load(self.store.clone(), name, found, version).await?)))
    }

    pub async fn create_schema(&self, schema: &str, if_not_exists: bool) -> Result<()> {
        check_name("schema", schema)?;
        if self.has_schema(schema).await? {
            return if if_not_exists { Ok(()) } else { Err(already_exists("schema", schema)) };
        }
        self.pointers.create_schema(schema).await
    }

    /// Removes an empty schema.
    pub async fn drop_schema(&self, schema: &str, if_exists: bool) -> Result<()> {
        if !self.has_schema(schema).await? {
            return if if_exists { Ok(()) } else { Err(self.unknown_schema(schema).await?) };
        }
        let tables = self.tables(schema).await?.len();
        if tables == 0 && self.pointers.drop_empty_schema(schema).await? {
            return Ok(());
        }
        Err(Error::new(ErrorCode::StillUsed, format!("schema {schema:?} is not empty"))
            .with_detail(format!("{} tables are in it", tables.max(1)))
            .with_hint("drop its tables first"))
    }

    /// Takes the table out of the catalog, then removes its files.
    pub async fn drop_table(&self, schema: &str, table: &str, if_exists: bool) -> Result<()> {
        let Some(location) = self.pointers.location(schema, table).await? else {
            return if if_exists { Ok(()) } else { Err(self.unknown_table(schema, table).await?) };
        };
        let name = self.full_name(schema, table);
        let found = self.store.table_at(&name, &location).await?;
        if !self.pointers.remove(schema, table, &location).await? {
            return Err(conflict(&name));
        }
        remove_files(&found).await
    }

    /// Makes an empty table.
    pub async fn create_table(&self, spec: TableSpec) -> Result<Arc<LakeTable>> {
        let replaced = self.check_new(&spec).await?;
        if replaced.is_none() || spec.or_replace {
            let location = self.new_location(&spec.schema, &spec.table);
            let metadata = commit::new_metadata(&spec, &location, true)?;
            let staged = Staged::new(&self.store, Some(location));
            let created = self.publication(&spec.schema, &spec.table).run_create(metadata, replaced, staged).await;
            lost_race_is_fine(&spec, created)?;
        }
        let made = self.table(&spec.schema, &spec.table).await?;
        made.ok_or_else(|| conflict(&self.full_name(&spec.schema, &spec.table)))
    }

    /// Writes all of the input, then makes the table in one step. Whatever goes wrong before leaves nothing behind.
    pub async fn create_table_as(&self, spec: TableSpec, input: BatchStream) -> Result<Written> {
        let replaced = self.check_new(&spec).await?;
        if replaced.is_some() && !spec.or_replace {
            return Ok(Written { rows: 0, files: 0, bytes: 0, snapshot_id: None, created: false });
        }
        let location = self.new_location(&spec.schema, &spec.table);
        let metadata = commit::new_metadata(&spec, &location, false)?;
        let mut staged = Staged::new(&self.store, Some(location));
        if let Err(error) = write_data(&self.store, &metadata, input, &mut staged).await {
            staged.discard().await;
            return Err(error);
        }
        let (rows, files, bytes) = staged.totals();
        let created = self.publication(&spec.schema, &spec.table).run_create(metadata, replaced, staged).await;
        match lost_race_is_fine(&spec, created)? {
            Some(snapshot_id) => Ok(Written { rows, files, bytes, snapshot_id, created: true }),
            None => Ok(Written { rows: 0, files: 0, bytes: 0, snapshot_id: None, created: false }),
        }
    }

    /// Adds rows in one snapshot. The columns of the input are the table's, in its order.
    pub async fn append(&self, table: &LakeTable, input: BatchStream) -> Result<Written> {
        let metadata = table.metadata();
        let mut staged = Staged::new(&self.store, None);
        if let Err(error) = write_data(&self.store, metadata, input, &mut staged).await {
            staged.discard().await;
            return Err(error);
        }
        let (rows, files, bytes) = staged.totals();
        if files == 0 {
            return Ok(Written { rows, files, bytes, snapshot_id: None, created: false });
        }
        let name = table.name();
        let snapshot_id = self.publication(&name.schema, &name.table).run_append(metadata.clone(), staged).await?;
        Ok(Written { rows, files, bytes, snapshot_id: Some(snapshot_id), created: false })
    }

    fn publication(&self, schema: &str, table: &str) -> Publication {
        Publication { store: self.store.clone(), pointers: self.pointers.clone(), name: self.full_name(schema, table) }
    }

    /// Checks a new table's names; the location of the table that stands in its place, where that is allowed.
    async fn check_new(&self, spec: &TableSpec) -> Result<Option<String>> {
        check_name("table", &spec.table)?;
        if !self.has_schema(&spec.schema).await? {
            return Err(self.unknown_schema(&spec.schema).await?);
        }
        let present = self.pointers.location(&spec.schema, &spec.table).await?;
        if present.is_some() && !spec.if_not_exists && !spec.or_replace {
            return Err(already_exists("table", &spec.table));
        }
        Ok(present)
    }

    /// A folder of its own for each table ever made, so that a dropped and a new one never share files.
    fn new_location(&self, schema: &str, table: &str) -> String {
        let warehouse = self.config.warehouse.trim_end_matches('/');
        let unique = uuid::Uuid::new_v4().simple().to_string();
        format!("{warehouse}/{}/{}-{}", folder_name(schema), folder_name(table), &unique[..12])
    }

    fn full_name(&self, schema: &str, table: &str) -> TableName {
        TableName::new(self.config.name.as_str(), schema, table)
    }

    async fn has_schema(&self, schema: &str) -> Result<bool> {
        Ok(self.schemas().await?.iter().any(|known| known == schema))
    }

    async fn unknown_schema(&self, schema: &str) -> Result<Error> {
        let known = self.schemas().await?;
        let near = nearest(schema, known.iter().map(String::as_str));
        Ok(with_nearest(Error::new(ErrorCode::UnknownSchema, format!("there is no schema {schema:?} in {}", self.config.name)), &near))
    }

    async fn unknown_table(&self, schema: &str, table: &str) -> Result<Error> {
        let known = self.tables(schema).await?;
        let near = nearest(table, known.iter().map(String::as_str));
        Ok(with_nearest(Error::new(ErrorCode::UnknownTable, format!("there is no table {}", self.full_name(schema, table))), &near))
    }
}

/// `IF NOT EXISTS` also holds for a table that came while this one was written; `None` then.
fn lost_race_is_fine<T>(spec: &TableSpec, created: Result<T>) -> Result<Option<T>> {
    match created {
        Err(error) if spec.if_not_exists && error.code() == ErrorCode::AlreadyExists => Ok(None),
        other => other.map(Some),
    }
}

fn with_nearest(error: Error, near: &[String]) -> Error {
    if near.is_empty() { error } else { error.with_hint(format!("did you mean {}?", near.join(", "))) }
}

pub(crate) fn already_exists(kind: &str, name: &str) -> Error {
    Error::new(ErrorCode::AlreadyExists, format!("there is a {kind} {name:?} already")).with_hint("use IF NOT EXISTS or another name")
}

pub(crate) fn conflict(name: &TableName) -> Error {
    Error::new(ErrorCode::CommitConflict, "somebody else changed the table meanwhile")
        .with_detail(format!("table {name}"))
        .with_hint("run the statement again; nothing of it was kept")
}

fn check_name(kind: &str, name: &str) -> Result<()> {
    let wrong = |why: &str| Err(Error::new(ErrorCode::BadValue, format!("this is no {kind} name")).with_detail(why));
    if name.is_empty() || name.chars().count() > NAME_CHARS_MAX {
        return wrong("a name has 1 to 255 characters");
    }
    if name.chars().any(char::is_control) {
        return wrong("a name has no control characters");
    }
    if name.split('.').any(str::is_empty) {
        return wrong("a name neither starts nor ends with a dot");
    }
    Ok(())
}

/// Letters, digits, `_` and `-`; everything else would have to be escaped in a path.
fn folder_name(name: &str) -> String {
    name.chars().take(64).map(|c| if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_harmless_folders() {
        assert_eq!(folder_name("../Größe x"), "___Gr__e_x");
        assert!(check_name("table", "a\nb").is_err());
        assert!(check_name("schema", "a..b").is_err());
        assert!(check_name("schema", "a.b").is_ok());
    }
}
