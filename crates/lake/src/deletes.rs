// SPDX-License-Identifier: Apache-2.0
//! Rows that were deleted after their file was written: by position in a file, or by the values of key columns.

use crate::adapt::{adapt, field_id};
use crate::fault::{computing, reading};
use crate::file::LakeFile;
use crate::footer::Footer;
use crate::manifest::FileEntry;
use crate::schema::arrow_type;
use ahash::RandomState;
use arrow::array::{ArrayRef, AsArray, BooleanArray, RecordBatch};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::{DataType, Int64Type};
use arrow::row::{RowConverter, SortField};
use futures::TryStreamExt;
use iceberg::io::FileIO;
use iceberg::spec::{NestedFieldRef, Struct, TableMetadata};
use parquet::arrow::ParquetRecordBatchStreamBuilder;
use std::collections::HashMap;
use std::sync::Arc;
use tokio::sync::OnceCell;
use uuid::Uuid;
use weir_base::{Error, ErrorCode, Result};

const FILE_PATH_ID: i32 = 2_147_483_546;
const POSITION_ID: i32 = 2_147_483_545;
const BATCH_ROWS: usize = 16_384;

/// Key columns and scope that equality deletes have in common.
type GroupKey = (Vec<i32>, Option<(i32, Struct)>);

/// Sorted row positions by data file.
type Positions = HashMap<String, Vec<u64>>;

/// A file of position deletes, read at most once.
#[derive(Debug)]
pub(crate) struct PositionFile {
    entry: Arc<FileEntry>,
    positions: OnceCell<Positions>,
}

impl PositionFile {
    pub(crate) fn new(entry: Arc<FileEntry>) -> Self {
        Self { entry, positions: OnceCell::new() }
    }

    /// A position delete applies to files of its own partition that are not younger than itself.
    pub(crate) fn may_apply_to(&self, data: &FileEntry) -> bool {
        let path = data.location();
        let names_it = self.entry.file.referenced_data_file().is_none_or(|referenced| referenced == path);
        let bound = |bounds: &HashMap<i32, iceberg::spec::Datum>| match bounds.get(&FILE_PATH_ID).map(|datum| datum.literal().clone()) {
            Some(iceberg::spec::PrimitiveLiteral::String(text)) => Some(text),
            _ => None,
        };
        let in_bounds = bound(self.entry.file.lower_bounds()).is_none_or(|lower| lower.as_str() <= path)
            && bound(self.entry.file.upper_bounds()).is_none_or(|upper| path <= upper.as_str());
        names_it && in_bounds && data.sequence <= self.entry.sequence && data.partition() == self.entry.partition()
    }

    /// The deleted positions of one data file, ascending.
    pub(crate) async fn positions_of(&self, io: &FileIO, data: &FileEntry) -> Result<&[u64]> {
        let positions = self.positions.get_or_try_init(|| read_positions(io, &self.entry)).await?;
        Ok(positions.get(data.location()).map_or(&[], Vec::as_slice))
    }
}

async fn read_positions(io: &FileIO, entry: &FileEntry) -> Result<Positions> {
    let (footer, batches) = read_whole(io, entry).await?;
    let column = |id: i32, name: &str| footer.position_of(id).or_else(|| footer.fields.iter().position(|field| field.name() == name));
    let (Some(path_at), Some(position_at)) = (column(FILE_PATH_ID, "file_path"), column(POSITION_ID, "pos")) else {
        return Err(Error::new(ErrorCode::SourceBroke, "a position delete file has no file_path and pos columns"));
    };
    let mut found = Positions::new();
    for batch in &batches {
        let paths = batch.column(path_at).as_string_opt::<i32>();
        let positions = batch.column(position_at).as_primitive_opt::<Int64Type>();
        let (Some(paths), Some(positions)) = (paths, positions) else {
            return Err(Error::new(ErrorCode::SourceBroke, "a position delete file has columns of other types"));
        };
        for (path, position) in paths.iter().zip(positions.iter()) {
            let (Some(path), Some(position)) = (path, position) else { continue };
            match found.get_mut(path) {
                Some(list) => list.push(position as u64),
                None => drop(found.insert(path.to_owned(), vec![position as u64])),
            }
        }
    }
    for list in found.values_mut() {
        list.sort_unstable();
        list.dedup();
    }
    Ok(found)
}

async fn read_whole(io: &FileIO, entry: &FileEntry) -> Result<(Footer, Vec<RecordBatch>)> {
    let file = LakeFile::open(io, entry.location(), entry.file.file_size_in_bytes()).await?;
    let metadata = file.footer().await?;
    let empty = iceberg::spec::NameMapping::new(Vec::new());
    let footer = Footer::new(metadata, Some(&empty))?;
    let builder = ParquetRecordBatchStreamBuilder::new_with_metadata(file, footer.metadata.clone()).with_batch_size(BATCH_ROWS);
    let batches = builder.build().map_err(reading)?.try_collect().await.map_err(reading)?;
    Ok((footer, batches))
}

/// Equality deletes that share key columns and scope: one look-up per row, however many delete files there are.
pub(crate) struct EqualityGroup {
    /// Field ids of the key columns, ascending.
    pub(crate) ids: Vec<i32>,
    /// Spec and partition that they apply to; everywhere when written without partitioning.
    scope: Option<(i32, Struct)>,
    entries: Vec<Arc<FileEntry>>,
    keys: OnceCell<KeyMap>,
}

impl std::fmt::Debug for EqualityGroup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EqualityGroup").field("ids", &self.ids).field("files", &self.entries.len()).finish_non_exhaustive()
    }
}

impl EqualityGroup {
    pub(crate) fn of(entries: Vec<Arc<FileEntry>>, metadata: &TableMetadata) -> Vec<Arc<Self>> {
        let mut groups: HashMap<GroupKey, Vec<Arc<FileEntry>>> = HashMap::new();
        for entry in entries {
            let mut ids = entry.file.equality_ids().unwrap_or_default();
            ids.sort_unstable();
            let everywhere = metadata.partition_spec_by_id(entry.spec_id).is_none_or(|spec| spec.is_unpartitioned());
            let scope = (!everywhere).then(|| (entry.spec_id, entry.file.partition().clone()));
            groups.entry((ids, scope)).or_default().push(entry);
        }
        groups.into_iter().map(|((ids, scope), entries)| Arc::new(Self { ids, scope, entries, keys: OnceCell::new() })).collect()
    }

    /// An equality delete applies to rows that came in before it, never to those of its own commit.
    pub(crate) fn may_apply_to(&self, data: &FileEntry) -> bool {
        let in_scope = self.scope.as_ref().is_none_or(|(spec_id, partition)| data.partition() == (*spec_id, partition));
        in_scope && self.entries.iter().any(|entry| entry.sequence > data.sequence)
    }

    /// The deleted keys, read on first use. `fields` are the key columns in the order of `ids`.
    pub(crate) async fn keys(&self, io: &FileIO, fields: &[NestedFieldRef]) -> Result<&KeyMap> {
        self.keys.get_or_try_init(|| self.read_keys(io, fields)).await
    }

    /// The keys, where `keys` was called before.
    pub(crate) fn loaded(&self) -> Option<&KeyMap> {
        self.keys.get()
    }

    async fn read_keys(&self, io: &FileIO, fields: &[NestedFieldRef]) -> Result<KeyMap> {
        let mut keys = KeyMap::new(fields)?;
        for entry in &self.entries {
            let (footer, batches) = read_whole(io, entry).await?;
            for batch in &batches {
                let columns: Vec<ArrayRef> = fields.iter().map(|field| key_column(&footer, batch, field)).collect::<Result<_>>()?;
                keys.add(&columns, entry.sequence)?;
            }
        }
        Ok(keys)
    }
}

fn key_column(footer: &Footer, batch: &RecordBatch, field: &NestedFieldRef) -> Result<ArrayRef> {
    let Some(at) = footer.fields.iter().position(|found| field_id(found) == Some(field.id)) else {
        return Err(Error::new(ErrorCode::SourceBroke, "an equality delete file lacks one of its key columns").with_detail(format!("column {:?}", field.name)));
    };
    adapt(batch.column(at), &footer.fields[at], field)
}

/// A fast hash that nobody can prepare keys against: its seeds are random.
fn random_state() -> RandomState {
    let ((a, b), (c, d)) = (Uuid::new_v4().as_u64_pair(), Uuid::new_v4().as_u64_pair());
    RandomState::with_seeds(a, b, c, d)
}

/// Deleted keys, each with the youngest delete of it.
#[derive(Debug)]
pub(crate) struct KeyMap {
    converter: RowConverter,
    sequences: HashMap<Box<[u8]>, i64, RandomState>,
}

impl KeyMap {
    fn new(fields: &[NestedFieldRef]) -> Result<Self> {
        let types: Vec<DataType> = fields.iter().map(|field| arrow_type(&field.field_type)).collect::<Result<_>>()?;
        let converter = RowConverter::new(types.into_iter().map(SortField::new).collect()).map_err(computing)?;
        Ok(Self { converter, sequences: HashMap::with_hasher(random_state()) })
    }

    fn add(&mut self, columns: &[ArrayRef], sequence: i64) -> Result<()> {
        let rows = self.converter.convert_columns(columns).map_err(computing)?;
        for row in &rows {
            let youngest = self.sequences.entry(row.as_ref().into()).or_insert(sequence);
            *youngest = sequence.max(*youngest);
        }
        Ok(())
    }

    /// Which rows of a file with this sequence number live on. NULL equals NULL here.
    pub(crate) fn survivors(&self, columns: &[ArrayRef], data_sequence: i64) -> Result<BooleanArray> {
        let rows = self.converter.convert_columns(columns).map_err(computing)?;
        let lives = |index: usize| self.sequences.get(rows.row(index).as_ref()).is_none_or(|deleted| *deleted <= data_sequence);
        Ok(BooleanArray::new(BooleanBuffer::collect_bool(rows.num_rows(), lives), None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Int64Array, StringArray};
    use iceberg::spec::{NestedField, PrimitiveType, Type};

    #[test]
    fn a_key_is_deleted_only_for_older_rows() {
        let fields: Vec<NestedFieldRef> = vec![
            Arc::new(NestedField::optional(1, "a", Type::Primitive(PrimitiveType::Long))),
            Arc::new(NestedField::optional(2, "b", Type::Primitive(PrimitiveType::String))),
        ];
        let columns = |a: Vec<Option<i64>>, b: Vec<Option<&str>>| -> Vec<ArrayRef> { vec![Arc::new(Int64Array::from(a)), Arc::new(StringArray::from(b))] };
        let mut keys = KeyMap::new(&fields).unwrap();
        keys.add(&columns(vec![Some(1), None], vec![Some("x"), None]), 5).unwrap();
        keys.add(&columns(vec![Some(1)], vec![Some("x")]), 3).unwrap();
        let rows = columns(vec![Some(1), None, Some(1)], vec![Some("x"), None, None]);
        assert_eq!(keys.survivors(&rows, 4).unwrap(), BooleanArray::from(vec![false, false, true]));
        assert_eq!(keys.survivors(&rows, 5).unwrap(), BooleanArray::from(vec![true, true, true]));
    }
}
