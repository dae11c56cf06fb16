// SPDX-License-Identifier: Apache-2.0
//! Deletes written by hand, as other engines write them: by position and by key, with the rules of who deletes what.

use crate::support::{TestLake, events, ids, request, scan, sorted, spec, stream};
use arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema};
use iceberg::io::FileIO;
use iceberg::spec::{
    DataContentType, DataFile, DataFileBuilder, DataFileFormat, FormatVersion, MAIN_BRANCH, ManifestListWriter, ManifestWriterBuilder, NestedField, Operation,
    PrimitiveType, Snapshot, Struct, Summary, TableMetadata, TableMetadataBuilder, Type,
};
use iceberg::{MetadataLocation, NamespaceIdent, Runtime, TableIdent};
use parquet::arrow::{ArrowWriter, PARQUET_FIELD_ID_META_KEY};
use parquet::file::properties::WriterProperties;
use sqlx::Connection;
use std::collections::{HashMap, HashSet};
use std::str::FromStr;
use std::sync::Arc;
use weir_base::ErrorCode;
use weir_lake::{CompareOp, Literal, PartitionField, Predicate, TableSpec, Transform};

/// The table's files as another engine sees and changes them.
struct Engine {
    catalog: String,
    name: String,
    io: FileIO,
    location: String,
    metadata: TableMetadata,
}

impl Engine {
    async fn open(test: &TestLake, name: &str) -> Self {
        let catalog = format!("sqlite://{}", test.catalog().display());
        let mut connection = sqlx::SqliteConnection::connect(&catalog).await.unwrap();
        let query = "SELECT metadata_location FROM iceberg_tables WHERE table_name = ?";
        let location: String = sqlx::query_scalar(query).bind(name).fetch_one(&mut connection).await.unwrap();
        let io = FileIO::new_with_fs();
        let metadata = TableMetadata::read_from(&io, &location).await.unwrap();
        Self { catalog, name: name.to_owned(), io, location, metadata }
    }

    async fn data_files(&self) -> Vec<DataFile> {
        let mut found = Vec::new();
        for manifest in self.manifests().await {
            found.extend(manifest.load_manifest(&self.io).await.unwrap().entries().iter().map(|entry| entry.data_file().clone()));
        }
        found
    }

    async fn manifests(&self) -> Vec<iceberg::spec::ManifestFile> {
        let ident = TableIdent::new(NamespaceIdent::new("web".into()), self.name.clone());
        let table = iceberg::table::Table::builder().identifier(ident).file_io(self.io.clone()).runtime(Runtime::current());
        let table = table.metadata(self.metadata.clone()).build().unwrap();
        let snapshot = self.metadata.current_snapshot().unwrap();
        table.manifest_list_reader(snapshot).load().await.unwrap().entries().to_vec()
    }

    /// Writes a Parquet file whose columns have these field ids.
    async fn parquet(&self, columns: Vec<(&str, i32, ArrayRef)>) -> (String, u64, u64) {
        self.parquet_with(columns, WriterProperties::default()).await
    }

    async fn parquet_with(&self, columns: Vec<(&str, i32, ArrayRef)>, properties: WriterProperties) -> (String, u64, u64) {
        let fields: Vec<Field> = columns
            .iter()
            .map(|(name, id, array)| {
                let meta = HashMap::from([(PARQUET_FIELD_ID_META_KEY.to_owned(), id.to_string())]);
                Field::new(*name, array.data_type().clone(), true).with_metadata(meta)
            })
            .collect();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns.into_iter().map(|(_, _, array)| array).collect()).unwrap();
        let mut bytes = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let path = format!("{}/data/{}.parquet", self.metadata.location(), uuid::Uuid::new_v4());
        let size = bytes.len() as u64;
        self.io.new_output(&path).unwrap().write(bytes.into()).await.unwrap();
        (path, size, batch.num_rows() as u64)
    }

    fn delete_file(&self, content: DataContentType, (path, size, rows): (String, u64, u64), partition: Struct) -> DataFileBuilder {
        let mut builder = DataFileBuilder::default();
        builder.content(content).file_path(path).file_format(DataFileFormat::Parquet).partition(partition);
        builder.partition_spec_id(self.metadata.default_partition_spec_id()).record_count(rows).file_size_in_bytes(size);
        builder
    }

    async fn by_position(&self, rows: Vec<(&str, i64)>, partition: Struct) -> DataFile {
        let paths: StringArray = rows.iter().map(|(path, _)| Some(*path)).collect();
        let positions: Int64Array = rows.iter().map(|(_, position)| Some(*position)).collect();
        let written = self.parquet(vec![("file_path", 2_147_483_546, Arc::new(paths)), ("pos", 2_147_483_545, Arc::new(positions))]).await;
        self.delete_file(DataContentType::PositionDeletes, written, partition).build().unwrap()
    }

    async fn by_key(&self, columns: Vec<(&str, i32, ArrayRef)>, partition: Struct) -> DataFile {
        let ids: Vec<i32> = columns.iter().map(|(_, id, _)| *id).collect();
        let written = self.parquet(columns).await;
        self.delete_file(DataContentType::EqualityDeletes, written, partition).equality_ids(Some(ids)).build().unwrap()
    }

    /// One snapshot with new data and new deletes.
    async fn commit(self, data: Vec<DataFile>, deletes: Vec<DataFile>) {
        let id = (uuid::Uuid::new_v4().as_u128() as u64 >> 1) as i64;
        let unique = uuid::Uuid::new_v4();
        let sequence = self.metadata.next_sequence_number();
        let parent = self.metadata.current_snapshot_id();
        let mut manifests = self.manifests().await;
        for (files, is_data) in [(data, true), (deletes, false)] {
            if files.is_empty() {
                continue;
            }
            let output = self.io.new_output(format!("{}/metadata/{unique}-{is_data}.avro", self.metadata.location())).unwrap();
            let schema = self.metadata.current_schema().clone();
            let builder = ManifestWriterBuilder::new(output, Some(id), schema, self.metadata.default_partition_spec().as_ref().clone());
            let mut writer = if is_data { builder.build_v2_data() } else { builder.build_v2_deletes() };
            files.into_iter().for_each(|file| writer.add_file(file, -1).unwrap());
            manifests.push(writer.write_manifest_file().await.unwrap());
        }
        let list = format!("{}/metadata/snap-{unique}.avro", self.metadata.location());
        let output = self.io.new_output(&list).unwrap().writer().await.unwrap();
        let mut writer = ManifestListWriter::v2(output, id, parent, sequence);
        writer.add_manifests(manifests.into_iter()).unwrap();
        writer.close().await.unwrap();
        let snapshot = Snapshot::builder()
            .with_snapshot_id(id)
            .with_parent_snapshot_id(parent)
            .with_sequence_number(sequence)
            .with_timestamp_ms(self.metadata.last_updated_ms() + 1)
            .with_manifest_list(list)
            .with_summary(Summary { operation: Operation::Overwrite, additional_properties: HashMap::new() })
            .with_schema_id(self.metadata.current_schema_id())
            .build();
        self.change(|builder| builder.set_branch_snapshot(snapshot, MAIN_BRANCH).unwrap()).await;
    }

    /// Makes other metadata the current one.
    async fn change(self, change: impl FnOnce(TableMetadataBuilder) -> TableMetadataBuilder) {
        let metadata = change(self.metadata.clone().into_builder(Some(self.location.clone()))).build().unwrap().metadata;
        let next = MetadataLocation::from_str(&self.location).unwrap().with_next_version();
        metadata.write_to(&self.io, &next).await.unwrap();
        let mut connection = sqlx::SqliteConnection::connect(&self.catalog).await.unwrap();
        let update = "UPDATE iceberg_tables SET metadata_location = ? WHERE table_name = ? AND metadata_location = ?";
        let done = sqlx::query(update).bind(next.to_string()).bind(&self.name).bind(&self.location).execute(&mut connection).await.unwrap();
        assert_eq!(done.rows_affected(), 1);
    }
}

fn longs(values: impl IntoIterator<Item = i64>) -> ArrayRef {
    Arc::new(values.into_iter().collect::<Int64Array>())
}

async fn table_of(rows: RecordBatch) -> TestLake {
    let test = TestLake::new().await;
    test.lake.create_table_as(spec("t", &rows), stream(vec![rows])).await.unwrap();
    test
}

#[tokio::test]
async fn positions_are_skipped_in_every_row_group() {
    let test = table_of(events(0..600_000)).await;
    let engine = Engine::open(&test, "t").await;
    let path = engine.data_files().await[0].file_path().to_owned();
    let gone = [0, 1, 262_143, 262_144, 300_000, 599_999];
    let delete = engine.by_position(gone.iter().map(|position| (path.as_str(), *position)).collect(), Struct::empty()).await;
    let elsewhere = engine.by_position(vec![("file:///elsewhere.parquet", 5)], Struct::empty()).await;
    engine.commit(vec![], vec![delete, elsewhere]).await;
    let table = test.table("t").await;
    assert!(!table.rows_exact());
    let expected: Vec<i64> = (0..600_000).filter(|id| !gone.contains(id)).collect();
    assert_eq!(ids(&table, None).await, expected);
    let few = Predicate::Compare { column: 0, op: CompareOp::Less, literal: Literal::Int(3) };
    assert!(!ids(&table, Some(few)).await.contains(&1), "deletes and page pruning together");
    test.lake.append(&table, stream(vec![events(0..2)])).await.unwrap();
    assert_eq!(ids(&test.table("t").await, None).await[..3], [0, 1, 2], "rows that came later stay");
}

#[tokio::test]
async fn nearly_all_rows_deleted_by_key_leave_exactly_the_others() {
    let test = table_of(events(0..50_000)).await;
    let survivors = [7, 999, 20_000, 33_333, 49_999];
    let engine = Engine::open(&test, "t").await;
    let keys = longs((0..50_000).filter(|id| !survivors.contains(id)));
    let delete = engine.by_key(vec![("id", 1, keys)], Struct::empty()).await;
    engine.commit(vec![], vec![delete]).await;
    assert_eq!(ids(&test.table("t").await, None).await, survivors);
}

#[tokio::test]
async fn keys_delete_only_what_came_before() {
    let test = table_of(events(0..10)).await;
    let engine = Engine::open(&test, "t").await;
    let delete = engine.by_key(vec![("id", 1, longs([1, 2, 3]))], Struct::empty()).await;
    // The same commit brings a new row under a deleted key, as an upsert does.
    let written = engine.parquet(vec![("id", 1, longs([2])), ("amount", 3, Arc::new(arrow::array::Float64Array::from(vec![9.0])))]).await;
    let upsert = engine.delete_file(DataContentType::Data, written, Struct::empty()).build().unwrap();
    engine.commit(vec![upsert], vec![delete]).await;
    let table = test.table("t").await;
    assert_eq!(ids(&table, None).await, [0, 2, 4, 5, 6, 7, 8, 9]);
    test.lake.append(&table, stream(vec![events(3..4)])).await.unwrap();
    assert_eq!(ids(&test.table("t").await, None).await, [0, 2, 3, 4, 5, 6, 7, 8, 9]);
    let engine = Engine::open(&test, "t").await;
    let again = engine.by_key(vec![("id", 1, longs([2, 3]))], Struct::empty()).await;
    engine.commit(vec![], vec![again]).await;
    assert_eq!(ids(&test.table("t").await, None).await, [0, 4, 5, 6, 7, 8, 9], "the youngest delete of a key counts");
}

#[tokio::test]
async fn key_columns_are_read_but_not_returned() {
    let test = table_of(events(0..20)).await;
    let engine = Engine::open(&test, "t").await;
    let names: ArrayRef = Arc::new(StringArray::from(vec![Some("name-05"), None, Some("name-06")]));
    let delete = engine.by_key(vec![("name", 2, names), ("id", 1, longs([5, 7, 1]))], Struct::empty()).await;
    engine.commit(vec![], vec![delete]).await;
    let table = test.table("t").await;
    let expected: Vec<i64> = (0..20).filter(|id| ![5, 7].contains(id)).collect();
    assert_eq!(ids(&table, None).await, expected, "NULL equals NULL in a key; a key needs all its columns");
    let amounts = scan(&table, request(&[2], None), 2, None).await.unwrap();
    assert_eq!((amounts.num_columns(), amounts.num_rows()), (1, 18));
    let counted = scan(&table, request(&[], None), 2, None).await.unwrap();
    assert_eq!((counted.num_columns(), counted.num_rows()), (0, 18));
}

#[tokio::test]
async fn deletes_stay_in_their_partition() {
    let region = StringArray::from(vec!["EU", "EU", "US", "US"]);
    let rows = RecordBatch::try_from_iter_with_nullable(vec![("id", longs([1, 2, 1, 2]), true), ("region", Arc::new(region) as ArrayRef, true)]).unwrap();
    let test = TestLake::new().await;
    let by_region = vec![PartitionField { column: "region".into(), transform: Transform::Identity }];
    test.lake.create_table_as(TableSpec { partitioning: by_region, ..spec("t", &rows) }, stream(vec![rows])).await.unwrap();
    let engine = Engine::open(&test, "t").await;
    let files = engine.data_files().await;
    let of = |name: &str| files.iter().find(|file| file.file_path().contains(&format!("region={name}"))).unwrap();
    let (eu, us) = (of("EU"), of("US"));
    let by_key = engine.by_key(vec![("id", 1, longs([1]))], eu.partition().clone()).await;
    let by_position = engine.by_position(vec![(us.file_path(), 1)], us.partition().clone()).await;
    let wrong_partition = engine.by_position(vec![(us.file_path(), 0)], eu.partition().clone()).await;
    engine.commit(vec![], vec![by_key, by_position, wrong_partition]).await;
    let left = scan(&test.table("t").await, request(&[0, 1], None), 1, None).await.unwrap();
    let ids = left.column(0).as_primitive::<arrow::datatypes::Int64Type>();
    let mut found: Vec<(i64, &str)> = ids.values().iter().copied().zip(left.column(1).as_string::<i32>().iter().flatten()).collect();
    found.sort_unstable();
    assert_eq!(found, [(1, "US"), (2, "EU")]);
}

#[tokio::test]
async fn deletion_vectors_are_refused_and_never_ignored() {
    let test = table_of(events(0..10)).await;
    let engine = Engine::open(&test, "t").await;
    let path = engine.data_files().await[0].file_path().to_owned();
    let mut vector = engine.delete_file(DataContentType::PositionDeletes, (path, 100, 1), Struct::empty());
    let vector = vector.file_format(DataFileFormat::Puffin).build().unwrap();
    engine.commit(vec![], vec![vector]).await;
    let table = test.table("t").await;
    let error = table.plan(request(&[0], None)).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::Unsupported);
    assert!(error.message().contains("deletion vectors"), "{error}");
}

#[tokio::test]
async fn files_of_older_schemas_are_read_by_field_id() {
    let test = table_of(events(0..5)).await;
    let engine = Engine::open(&test, "t").await;
    // An old file: `id` was an int, `name` was called otherwise, `amount` was a float and `ts` was not there.
    let name: ArrayRef = Arc::new(StringArray::from(vec!["old"]));
    let columns: Vec<(&str, i32, ArrayRef)> = vec![
        ("title", 2, name),
        ("amount", 3, Arc::new(arrow::array::Float32Array::from(vec![0.5]))),
        ("nr", 1, Arc::new(arrow::array::Int32Array::from(vec![100]))),
    ];
    let written = engine.parquet(columns).await;
    let old = engine.delete_file(DataContentType::Data, written, Struct::empty()).build().unwrap();
    engine.commit(vec![old], vec![]).await;
    let table = test.table("t").await;
    let hundred = Predicate::Compare { column: 0, op: CompareOp::Equal, literal: Literal::Int(100) };
    let found = scan(&table, request(&[3, 2, 1, 0], Some(hundred.clone())), 1, None).await.unwrap();
    assert_eq!(sorted(&found.project(&[3]).unwrap()), [100]);
    assert_eq!(found.schema().field(3).data_type(), &DataType::Int64);
    assert!(arrow::array::Array::is_null(found.column(0), 0));
    assert_eq!(found.column(1).as_primitive::<arrow::datatypes::Float64Type>().value(0), 0.5);
    assert_eq!(found.column(2).as_string::<i32>().value(0), "old");
    let no_ts = Predicate::IsNotNull(3);
    assert_eq!(ids(&table, Some(Predicate::And(vec![hundred, no_ts]))).await, Vec::<i64>::new(), "a missing column is NULL everywhere");
}

#[tokio::test]
async fn columns_added_with_a_default_have_it_in_older_rows() {
    let test = table_of(events(0..3)).await;
    let engine = Engine::open(&test, "t").await;
    let mut fields = engine.metadata.current_schema().as_struct().fields().to_vec();
    let added = NestedField::optional(5, "level", Type::Primitive(PrimitiveType::Long)).with_initial_default(iceberg::spec::Literal::long(7));
    fields.push(Arc::new(added.with_write_default(iceberg::spec::Literal::long(8))));
    let schema = iceberg::spec::Schema::builder().with_fields(fields).build().unwrap();
    engine.change(|builder| builder.upgrade_format_version(FormatVersion::V3).unwrap().add_current_schema(schema).unwrap()).await;
    let table = test.table("t").await;
    let seven = Predicate::Compare { column: 4, op: CompareOp::Equal, literal: Literal::Int(7) };
    let old = scan(&table, request(&[4, 0], Some(seven.clone())), 1, None).await.unwrap();
    assert_eq!(sorted(&old), [7, 7, 7]);
    let eight = Predicate::Compare { column: 4, op: CompareOp::Equal, literal: Literal::Int(8) };
    assert_eq!(ids(&table, Some(eight)).await, Vec::<i64>::new());

    let mut columns = events(3..5).columns().to_vec();
    columns.push(longs([1, 2]));
    let rows = RecordBatch::try_new(table.schema(), columns).unwrap();
    test.lake.append(&table, stream(vec![rows.clone()])).await.unwrap();
    test.lake.append(&table, stream(vec![rows])).await.unwrap();
    let table = test.table("t").await;
    assert_eq!(sorted(&scan(&table, request(&[4], None), 1, None).await.unwrap()), [1, 1, 2, 2, 7, 7, 7]);
    assert_eq!(Engine::open(&test, "t").await.metadata.next_row_id(), 7, "a table of version 3 counts its rows");
}

#[tokio::test]
async fn bloom_filters_rule_row_groups_out() {
    let test = table_of(events(0..1)).await;
    let engine = Engine::open(&test, "t").await;
    let scattered = || (0..20_000).map(|id: i64| (id * 7_919) % 1_000_003 + 10);
    let names: ArrayRef = Arc::new(scattered().map(|id| Some(format!("n{id}"))).collect::<StringArray>());
    let properties = WriterProperties::builder().set_bloom_filter_enabled(true).set_max_row_group_row_count(Some(5_000)).build();
    let written = engine.parquet_with(vec![("id", 1, longs(scattered())), ("name", 2, names)], properties).await;
    let file = engine.delete_file(DataContentType::Data, written, Struct::empty()).build().unwrap();
    engine.commit(vec![file], vec![]).await;
    let table = test.table("t").await;
    let equal = |column: usize, literal: Literal| Predicate::Compare { column, op: CompareOp::Equal, literal };
    for id in scattered().step_by(997) {
        for predicate in [equal(0, Literal::Int(id)), equal(1, Literal::Text(format!("n{id}")))] {
            let plan = table.plan(request(&[0], Some(predicate.clone()))).await.unwrap();
            assert_eq!(plan.row_groups(), 1, "{predicate:?}");
            assert!(ids(&table, Some(predicate)).await.contains(&id));
        }
    }
    let known: HashSet<i64> = scattered().collect();
    let literals: Vec<Literal> = (10..1_000_000).filter(|id| !known.contains(id)).step_by(50_000).map(Literal::Int).collect();
    assert!(table.plan(request(&[0], Some(Predicate::In { column: 0, literals }))).await.unwrap().row_groups() <= 2);
}
