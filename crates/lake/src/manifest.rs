// SPDX-License-Identifier: Apache-2.0
//! What a snapshot consists of: data files and delete files with their sequence numbers, read from manifests once.

use crate::deletes::{EqualityGroup, PositionFile};
use crate::fault::at;
use crate::shelf::Shelf;
use futures::{FutureExt, StreamExt, TryStreamExt};
use iceberg::io::FileIO;
use iceberg::spec::{DataContentType, DataFile, DataFileFormat, ManifestFile, SnapshotRef, Struct, TableMetadata};
use iceberg::table::Table;
use std::sync::Arc;
use weir_base::{Error, ErrorCode, Result};

/// Manifests read side by side.
const MANIFESTS_AT_ONCE: usize = 16;

/// A live file of a snapshot.
#[derive(Debug)]
pub(crate) struct FileEntry {
    pub(crate) file: DataFile,
    pub(crate) spec_id: i32,
    /// When the file's rows (or deletes) came in; later deletes apply to earlier rows.
    pub(crate) sequence: i64,
}

impl FileEntry {
    pub(crate) fn location(&self) -> &str {
        self.file.file_path()
    }

    /// Spec and partition tuple: deletes are scoped by both.
    pub(crate) fn partition(&self) -> (i32, &Struct) {
        (self.spec_id, self.file.partition())
    }
}

/// All live files of one snapshot.
#[derive(Debug, Default)]
pub(crate) struct SnapshotFiles {
    pub(crate) data: Vec<Arc<FileEntry>>,
    pub(crate) positions: Vec<Arc<PositionFile>>,
    pub(crate) equalities: Vec<Arc<EqualityGroup>>,
    /// Why the snapshot cannot be read, when it cannot; tables stay listed, reading them is an error.
    pub(crate) unreadable: Option<Error>,
}

/// One manifest, as it applies in its snapshot's list.
#[derive(Debug)]
pub(crate) struct Manifest {
    entries: Vec<Arc<FileEntry>>,
}

/// Reads the snapshot's files; manifests never change under their path and are kept.
pub(crate) async fn snapshot_files(table: &Table, snapshot: &SnapshotRef, shelf: &Shelf<Manifest>) -> Result<SnapshotFiles> {
    let list = table.manifest_list_reader(snapshot).load().await.map_err(at("cannot read a snapshot's manifest list"))?;
    let live = list.consume_entries().into_iter().filter(|entry| entry.has_added_files() || entry.has_existing_files());
    let live: Vec<ManifestFile> = live.collect();
    let manifests: Vec<Arc<Manifest>> =
        futures::stream::iter(live).map(|entry| read_manifest(table.file_io(), entry, shelf).boxed()).buffered(MANIFESTS_AT_ONCE).try_collect().await?;
    let entries = manifests.iter().flat_map(|manifest| manifest.entries.iter().cloned());
    Ok(sort_entries(entries, table.metadata()))
}

async fn read_manifest(io: &FileIO, listed: ManifestFile, shelf: &Shelf<Manifest>) -> Result<Arc<Manifest>> {
    if let Some(known) = shelf.get(&listed.manifest_path) {
        return Ok(known);
    }
    let manifest = listed.load_manifest(io).await.map_err(at("cannot read a manifest"))?;
    let entries: Vec<Arc<FileEntry>> = manifest
        .entries()
        .iter()
        .filter(|entry| entry.is_alive())
        .map(|entry| {
            let sequence = entry.sequence_number().unwrap_or(0);
            Arc::new(FileEntry { file: entry.data_file().clone(), spec_id: listed.partition_spec_id, sequence })
        })
        .collect();
    let weight = entries.len().max(1);
    Ok(shelf.put(&listed.manifest_path, Manifest { entries }, weight))
}

fn sort_entries(entries: impl Iterator<Item = Arc<FileEntry>>, metadata: &TableMetadata) -> SnapshotFiles {
    let mut files = SnapshotFiles::default();
    let mut equality = Vec::new();
    for entry in entries {
        if let Some(reason) = unreadable(&entry) {
            files.unreadable = Some(reason);
        }
        match entry.file.content_type() {
            DataContentType::Data => files.data.push(entry),
            DataContentType::PositionDeletes => files.positions.push(Arc::new(PositionFile::new(entry))),
            DataContentType::EqualityDeletes => equality.push(entry),
        }
    }
    files.equalities = EqualityGroup::of(equality, metadata);
    files
}

fn unreadable(entry: &FileEntry) -> Option<Error> {
    let unsupported = |what: &str| Error::new(ErrorCode::Unsupported, format!("the table has {what}, which this version of Weir cannot read"));
    if entry.file.key_metadata().is_some() {
        return Some(unsupported("encrypted files"));
    }
    match entry.file.file_format() {
        DataFileFormat::Parquet => None,
        DataFileFormat::Puffin => Some(unsupported("deletion vectors").with_hint("rewrite its position deletes, or set write.delete.mode to copy-on-write")),
        DataFileFormat::Avro => Some(unsupported("Avro files")),
        DataFileFormat::Orc => Some(unsupported("ORC files")),
    }
}
