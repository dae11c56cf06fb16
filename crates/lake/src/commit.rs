// SPDX-License-Identifier: Apache-2.0
//! Commits: a manifest of the new files, a manifest list, a snapshot, a metadata file. Nothing of it is visible until the
//! catalog's pointer moves, and nothing of it stays when that fails.

use crate::fault::at;
use crate::lake::Store;
use crate::schema::iceberg_schema;
use crate::spec::TableSpec;
use crate::write::Staged;
use iceberg::spec::{
    DataFile, FormatVersion, MAIN_BRANCH, ManifestFile, ManifestListWriter, ManifestWriterBuilder, Operation, PartitionSpecRef, SchemaRef, Snapshot,
    SnapshotSummaryCollector, Summary, TableMetadata, TableMetadataBuilder, UnboundPartitionSpec,
};
use iceberg::{MetadataLocation, TableCreation};
use std::collections::HashMap;
use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use uuid::Uuid;
use weir_base::{Error, ErrorCode, Result, TableName, nearest};

/// How often a commit is tried on fresh metadata before it gives up.
pub(crate) const ATTEMPTS_MAX: u32 = 20;
const BACK_OFF_MS: u64 = 10;
const BACK_OFF_MS_MAX: u64 = 500;

/// Waits a little longer each time, differently for each writer, so that two do not meet for ever.
pub(crate) async fn back_off(attempt: u32) {
    let longest = BACK_OFF_MS_MAX.min(BACK_OFF_MS << attempt.min(6));
    let share = Uuid::new_v4().as_u128() as u64 % longest;
    tokio::time::sleep(Duration::from_millis(share + 1)).await;
}

/// The state that a commit builds on.
pub(crate) struct Base<'a> {
    pub(crate) metadata: &'a TableMetadata,
    /// Its metadata file; `None` for a table that is not there yet.
    pub(crate) location: Option<&'a str>,
}

/// Metadata of a new, empty table.
pub(crate) fn new_metadata(spec: &TableSpec, location: &str, keep_not_null: bool) -> Result<TableMetadata> {
    let schema = iceberg_schema(&spec.columns, keep_not_null)?;
    let partitioning = unbound_spec(spec, &schema)?;
    let mut properties: HashMap<String, String> = spec.properties.clone().into_iter().collect();
    properties.entry("write.parquet.compression-codec".to_owned()).or_insert_with(|| "zstd".to_owned());
    if let Some(comment) = &spec.comment {
        properties.insert("comment".to_owned(), comment.clone());
    }
    let creation = TableCreation::builder()
        .name(spec.table.clone())
        .location(location.to_owned())
        .schema(schema)
        .partition_spec(partitioning)
        .properties(properties)
        .build();
    let builder = TableMetadataBuilder::from_table_creation(creation).map_err(at("cannot make the table"))?;
    Ok(builder.build().map_err(at("cannot make the table"))?.metadata)
}

fn unbound_spec(spec: &TableSpec, schema: &iceberg::spec::Schema) -> Result<UnboundPartitionSpec> {
    let mut builder = UnboundPartitionSpec::builder().with_spec_id(0);
    for field in &spec.partitioning {
        let Some(source) = schema.as_struct().field_by_name(&field.column) else {
            let near = nearest(&field.column, schema.as_struct().fields().iter().map(|field| field.name.as_str()));
            let error = Error::new(ErrorCode::UnknownColumn, format!("there is no column {:?} to partition by", field.column));
            return Err(if near.is_empty() { error } else { error.with_hint(format!("did you mean {}?", near.join(", "))) });
        };
        let transform = field.transform.iceberg();
        if matches!(field.transform, crate::spec::Transform::Bucket(0) | crate::spec::Transform::Truncate(0))
            || transform.result_type(&source.field_type).is_err()
        {
            return Err(Error::new(ErrorCode::BadValue, format!("the table cannot be partitioned by {field}"))
                .with_detail(format!("column {:?} has type {}", field.column, source.field_type)));
        }
        let name = format!("{}{}", field.column, field.transform.suffix());
        builder = builder.add_partition_field(source.id, name, transform).map_err(at("cannot partition the table"))?;
    }
    Ok(builder.build())
}

/// Writes the first metadata file of a table; its location.
pub(crate) async fn first_metadata_file(store: &Store, metadata: &TableMetadata) -> Result<String> {
    let location = MetadataLocation::new_with_metadata(metadata.location(), metadata);
    write_metadata(store, metadata, &location).await
}

async fn write_metadata(store: &Store, metadata: &TableMetadata, location: &MetadataLocation) -> Result<String> {
    let name = location.to_string();
    let written = metadata.write_to(store.io(), location).await;
    if written.is_err() {
        crate::drop::remove_locations(store.io(), vec![name.clone()]).await;
    }
    written.map_err(at("cannot write a metadata file"))?;
    Ok(name)
}

/// New files on their way into a table: the manifest is written once, the rest anew for each attempt.
pub(crate) struct Append {
    snapshot_id: i64,
    commit_id: Uuid,
    files: Vec<DataFile>,
    schema: SchemaRef,
    spec: PartitionSpecRef,
    manifest: ManifestFile,
}

impl Append {
    pub(crate) async fn prepare(store: &Store, metadata: &TableMetadata, staged: &mut Staged) -> Result<Self> {
        let snapshot_id = (Uuid::new_v4().as_u128() as u64 >> 1) as i64;
        let commit_id = Uuid::new_v4();
        let path = format!("{}/metadata/{commit_id}-m0.avro", metadata.location());
        staged.also_remove(std::slice::from_ref(&path));
        let output = store.io().new_output(&path).map_err(at("cannot write a manifest"))?;
        let schema = metadata.current_schema().clone();
        let spec = metadata.default_partition_spec().clone();
        let builder = ManifestWriterBuilder::new(output, Some(snapshot_id), schema.clone(), spec.as_ref().clone());
        let mut writer = match metadata.format_version() {
            FormatVersion::V1 => builder.build_v1(),
            FormatVersion::V2 => builder.build_v2_data(),
            FormatVersion::V3 => builder.build_v3_data(),
        };
        for file in staged.files() {
            writer.add_file(file.clone(), -1).map_err(at("cannot write a manifest"))?;
        }
        let manifest = writer.write_manifest_file().await.map_err(at("cannot write a manifest"))?;
        Ok(Self { snapshot_id, commit_id, files: staged.files().to_vec(), schema, spec, manifest })
    }

    pub(crate) fn snapshot_id(&self) -> i64 {
        self.snapshot_id
    }

    /// Metadata of `base` with the new snapshot in it. Its manifest list is written and goes with the staged files if the
    /// commit fails.
    pub(crate) async fn apply(&self, store: &Store, name: &TableName, base: &Base<'_>, staged: &mut Staged) -> Result<TableMetadata> {
        let (metadata, list) = self.snapshot(store, name, base).await?;
        staged.also_remove(&[list]);
        Ok(metadata)
    }

    /// Writes the metadata file that follows `base`: its location, and the files to remove if it does not become current.
    pub(crate) async fn write_next(&self, store: &Store, name: &TableName, base: &Base<'_>) -> Result<(String, Vec<String>)> {
        let (metadata, list) = self.snapshot(store, name, base).await?;
        let next = match base.location.map(MetadataLocation::from_str) {
            Some(Ok(current)) => current.with_next_version().with_new_metadata(&metadata),
            _ => MetadataLocation::new_with_metadata(metadata.location(), &metadata),
        };
        match write_metadata(store, &metadata, &next).await {
            Ok(location) => Ok((location.clone(), vec![location, list])),
            Err(error) => {
                crate::drop::remove_locations(store.io(), vec![list]).await;
                Err(error)
            }
        }
    }

    async fn snapshot(&self, store: &Store, name: &TableName, base: &Base<'_>) -> Result<(TableMetadata, String)> {
        let metadata = base.metadata;
        let list_path = format!("{}/metadata/snap-{}-{}-{}.avro", metadata.location(), self.snapshot_id, Uuid::new_v4().simple(), self.commit_id);
        let written = self.manifest_list(store, name, base, &list_path).await;
        if written.is_err() {
            crate::drop::remove_locations(store.io(), vec![list_path.clone()]).await;
        }
        let first_row_id = metadata.next_row_id();
        let next_row_id = written?.unwrap_or(first_row_id);
        let fields = Snapshot::builder()
            .with_snapshot_id(self.snapshot_id)
            .with_parent_snapshot_id(metadata.current_snapshot_id())
            .with_sequence_number(metadata.next_sequence_number())
            .with_timestamp_ms(now_ms().max(metadata.last_updated_ms()))
            .with_manifest_list(list_path.clone())
            .with_summary(self.summary(metadata))
            .with_schema_id(self.schema.schema_id());
        let snapshot = match metadata.format_version() {
            FormatVersion::V3 => fields.with_row_range(first_row_id, next_row_id - first_row_id).build(),
            _ => fields.build(),
        };
        let builder = metadata.clone().into_builder(base.location.map(str::to_owned));
        let builder = builder.set_branch_snapshot(snapshot, MAIN_BRANCH).map_err(at("cannot add a snapshot"))?;
        Ok((builder.build().map_err(at("cannot add a snapshot"))?.metadata, list_path))
    }

    /// All manifests of the parent snapshot and the new one; the next row id where the table counts rows.
    async fn manifest_list(&self, store: &Store, name: &TableName, base: &Base<'_>, path: &str) -> Result<Option<u64>> {
        let metadata = base.metadata;
        let parent = metadata.current_snapshot();
        let mut manifests = Vec::new();
        if let Some(parent) = parent {
            let table = store.table_of(name, metadata.clone(), base.location)?;
            let list = table.manifest_list_reader(parent).load().await.map_err(at("cannot read a snapshot's manifest list"))?;
            manifests.extend(list.entries().iter().cloned());
        }
        manifests.push(self.manifest.clone());
        let output = store.io().new_output(path).map_err(at("cannot write a manifest list"))?;
        let output = output.writer().await.map_err(at("cannot write a manifest list"))?;
        let parent_id = parent.map(|parent| parent.snapshot_id());
        let sequence = metadata.next_sequence_number();
        let mut writer = match metadata.format_version() {
            FormatVersion::V1 => ManifestListWriter::v1(output, self.snapshot_id, parent_id),
            FormatVersion::V2 => ManifestListWriter::v2(output, self.snapshot_id, parent_id, sequence),
            FormatVersion::V3 => ManifestListWriter::v3(output, self.snapshot_id, parent_id, sequence, Some(metadata.next_row_id())),
        };
        writer.add_manifests(manifests.into_iter()).map_err(at("cannot write a manifest list"))?;
        let next_row_id = writer.next_row_id();
        writer.close().await.map_err(at("cannot write a manifest list"))?;
        Ok(next_row_id)
    }

    /// What the snapshot added, and the totals after it, under the names that every Iceberg tool reads.
    fn summary(&self, metadata: &TableMetadata) -> Summary {
        let mut collector = SnapshotSummaryCollector::default();
        for file in &self.files {
            collector.add_file(file, self.schema.clone(), self.spec.clone());
        }
        let mut properties = collector.build();
        let before = metadata.current_snapshot().map(|snapshot| &snapshot.summary().additional_properties);
        let number = |from: &HashMap<String, String>, key: &str| from.get(key).and_then(|text| text.parse::<u64>().ok());
        let totals = [
            ("total-records", "added-records"),
            ("total-data-files", "added-data-files"),
            ("total-files-size", "added-files-size"),
            ("total-delete-files", "added-delete-files"),
            ("total-position-deletes", "added-position-deletes"),
            ("total-equality-deletes", "added-equality-deletes"),
        ];
        for (total, added) in totals {
            // A parent that does not say its total leaves the new one unknown as well.
            let old = before.map_or(Some(0), |before| number(before, total));
            if let Some(old) = old {
                properties.insert(total.to_owned(), (old + number(&properties, added).unwrap_or(0)).to_string());
            }
        }
        Summary { operation: Operation::Append, additional_properties: properties }
    }
}

fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}
