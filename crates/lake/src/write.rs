// SPDX-License-Identifier: Apache-2.0
//! Data files, written while the input streams by. Until the commit they belong to nobody: whatever ends the write early,
//! an error or a dropped future, removes them.

use crate::BatchStream;
use crate::conform::Conform;
use crate::fault::at;
use crate::file::make_durable;
use crate::lake::Store;
use crate::split::Splitter;
use arrow::array::RecordBatch;
use futures::StreamExt;
use iceberg::io::FileIO;
use iceberg::spec::{DataFile, DataFileFormat, PartitionKey, Struct, TableMetadata};
use iceberg::writer::base_writer::data_file_writer::{DataFileWriter, DataFileWriterBuilder};
use iceberg::writer::file_writer::ParquetWriterBuilder;
use iceberg::writer::file_writer::location_generator::{DefaultFileNameGenerator, DefaultLocationGenerator, LocationGenerator};
use iceberg::writer::file_writer::rolling_writer::RollingFileWriterBuilder;
use iceberg::writer::{IcebergWriter, IcebergWriterBuilder};
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};
use weir_base::Result;

/// A new file is begun beyond this size, unless the table says otherwise.
const FILE_BYTES_TARGET: usize = 256 * 1024 * 1024;
const TARGET_PROPERTY: &str = "write.target-file-size-bytes";
/// Small enough for pruning and for two cores to share one file, large enough for long runs.
const ROW_GROUP_ROWS: usize = 256 * 1024;
/// With many partitions open at once, smaller groups bound the memory.
const PARTITIONED_ROW_GROUP_ROWS: usize = 128 * 1024;
/// Partitions that are written side by side; the fullest is closed when there are more, or when too much waits in memory.
const OPEN_PARTITIONS_MAX: usize = 128;
const WAITING_BYTES_MAX: usize = 256 * 1024 * 1024;

type Builder = DataFileWriterBuilder<ParquetWriterBuilder, Tracked, DefaultFileNameGenerator>;
type Writer = DataFileWriter<ParquetWriterBuilder, Tracked, DefaultFileNameGenerator>;

/// Files that were written and are not part of a table yet. Dropped without `keep`, they are removed.
#[derive(Debug)]
pub(crate) struct Staged {
    files: Vec<DataFile>,
    io: FileIO,
    written: Locations,
    /// The folder of a table that is not there yet; it goes as a whole.
    folder: Option<String>,
    armed: bool,
}

impl Staged {
    /// Nothing staged yet. `folder` is the table's own, when the table is new.
    pub(crate) fn new(store: &Store, folder: Option<String>) -> Self {
        Self { files: Vec::new(), io: store.io().clone(), written: Locations::default(), folder, armed: true }
    }

    /// Rows, files, bytes.
    pub(crate) fn totals(&self) -> (u64, u64, u64) {
        let rows = self.files.iter().map(DataFile::record_count).sum();
        let bytes = self.files.iter().map(DataFile::file_size_in_bytes).sum();
        (rows, self.files.len() as u64, bytes)
    }

    pub(crate) fn files(&self) -> &[DataFile] {
        &self.files
    }

    /// A commit's own files go too when it fails.
    pub(crate) fn also_remove(&self, locations: &[String]) {
        self.written.add(locations);
    }

    /// Everything written so far is on the disk, not only on its way there.
    pub(crate) async fn make_durable(&self) -> Result<()> {
        make_durable(self.written.all()).await
    }

    /// The files belong to a table now.
    pub(crate) fn keep(mut self) {
        self.armed = false;
    }

    /// Removes the files, and comes back when they are gone.
    pub(crate) async fn discard(mut self) {
        self.armed = false;
        let locations = self.written.take();
        if !crate::drop::remove_local(&locations, self.folder.as_deref()) {
            crate::drop::remove_locations(&self.io, locations).await;
        }
    }
}

/// Locations handed out to writers.
#[derive(Debug, Clone, Default)]
struct Locations(Arc<Mutex<Vec<String>>>);

impl Locations {
    fn add(&self, locations: &[String]) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(locations);
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.armed {
            return;
        }
        let (io, locations) = (self.io.clone(), self.written.take());
        if crate::drop::remove_local(&locations, self.folder.as_deref()) {
            return;
        }
        // A drop cannot wait; the runtime that wrote the files also removes them.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { crate::drop::remove_locations(&io, locations).await });
        }
    }
}

/// Names data files, and remembers the names.
#[derive(Debug, Clone)]
struct Tracked {
    inner: DefaultLocationGenerator,
    written: Locations,
}

impl LocationGenerator for Tracked {
    fn generate_location(&self, partition_key: Option<&PartitionKey>, file_name: &str) -> String {
        let location = self.inner.generate_location(partition_key, file_name);
        self.written.add(std::slice::from_ref(&location));
        location
    }
}

/// Writes all of the input under the table's location, as its current schema says.
pub(crate) async fn write_data(store: &Store, metadata: &TableMetadata, mut input: BatchStream, staged: &mut Staged) -> Result<()> {
    let conform = Conform::new(metadata.current_schema())?;
    let mut writer = TableWriter::new(store.io(), metadata, staged.written.clone())?;
    while let Some(batch) = input.next().await {
        let batch = batch?;
        if batch.num_rows() > 0 {
            writer.write(conform.batch(&batch)?).await?;
        }
    }
    staged.files = writer.close().await?;
    Ok(())
}

struct TableWriter {
    builder: Builder,
    /// How the table is partitioned; `None` where one writer takes all rows.
    splitter: Option<Splitter>,
    /// The one partition of a table whose partition fields were all dropped.
    void: Option<PartitionKey>,
    open: HashMap<Struct, OpenPartition>,
    waiting_bytes: usize,
    done: Vec<DataFile>,
}

struct OpenPartition {
    writer: Writer,
    bytes: usize,
}

impl TableWriter {
    fn new(io: &FileIO, metadata: &TableMetadata, written: Locations) -> Result<Self> {
        let schema = metadata.current_schema().clone();
        let spec = metadata.default_partition_spec().clone();
        let partitioned = !spec.is_unpartitioned();
        let parquet = ParquetWriterBuilder::new(writer_properties(partitioned), schema.clone());
        let locations = Tracked { inner: DefaultLocationGenerator::new(metadata).map_err(at("cannot place data files"))?, written };
        let names = DefaultFileNameGenerator::new("part".to_owned(), Some(uuid::Uuid::new_v4().to_string()), DataFileFormat::Parquet);
        let rolling = RollingFileWriterBuilder::new(parquet, file_bytes_target(metadata), io.clone(), locations, names);
        let void = (!partitioned && !spec.fields().is_empty()).then(|| {
            let tuple = spec.fields().iter().map(|_| None).collect::<Struct>();
            PartitionKey::new(spec.as_ref().clone(), schema.clone(), tuple)
        });
        let splitter = if partitioned { Some(Splitter::new(schema, spec)?) } else { None };
        Ok(Self { builder: DataFileWriterBuilder::new(rolling), splitter, void, open: HashMap::new(), waiting_bytes: 0, done: Vec::new() })
    }

    async fn write(&mut self, batch: RecordBatch) -> Result<()> {
        let Some(splitter) = &self.splitter else { return self.write_part(self.void.clone(), batch).await };
        for (key, part) in splitter.split(&batch)? {
            self.write_part(Some(key), part).await?;
        }
        while self.open.len() > OPEN_PARTITIONS_MAX || (self.waiting_bytes > WAITING_BYTES_MAX && self.open.len() > 1) {
            self.close_fullest().await?;
        }
        Ok(())
    }

    async fn write_part(&mut self, key: Option<PartitionKey>, batch: RecordBatch) -> Result<()> {
        let tuple = key.as_ref().map_or_else(Struct::empty, |key| key.data().clone());
        let partition = match self.open.entry(tuple) {
            Entry::Occupied(open) => open.into_mut(),
            Entry::Vacant(free) => {
                let writer = self.builder.build(key).await.map_err(at("cannot write a data file"))?;
                free.insert(OpenPartition { writer, bytes: 0 })
            }
        };
        let bytes = batch.get_array_memory_size();
        partition.writer.write(batch).await.map_err(at("cannot write a data file"))?;
        partition.bytes += bytes;
        self.waiting_bytes += bytes;
        Ok(())
    }

    async fn close_fullest(&mut self) -> Result<()> {
        let fullest = self.open.iter().max_by_key(|(_, partition)| partition.bytes).map(|(tuple, _)| tuple.clone());
        let Some(mut partition) = fullest.and_then(|tuple| self.open.remove(&tuple)) else { return Ok(()) };
        self.waiting_bytes -= partition.bytes;
        self.done.extend(partition.writer.close().await.map_err(at("cannot write a data file"))?);
        Ok(())
    }

    async fn close(mut self) -> Result<Vec<DataFile>> {
        for mut partition in std::mem::take(&mut self.open).into_values() {
            self.done.extend(partition.writer.close().await.map_err(at("cannot write a data file"))?);
        }
        Ok(self.done)
    }
}

fn writer_properties(partitioned: bool) -> WriterProperties {
    let rows = if partitioned { PARTITIONED_ROW_GROUP_ROWS } else { ROW_GROUP_ROWS };
    WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(rows))
        .set_created_by("weir".to_owned())
        .build()
}

fn file_bytes_target(metadata: &TableMetadata) -> usize {
    metadata.properties().get(TARGET_PROPERTY).and_then(|bytes| bytes.parse().ok()).filter(|bytes| *bytes > 0).unwrap_or(FILE_BYTES_TARGET)
}
