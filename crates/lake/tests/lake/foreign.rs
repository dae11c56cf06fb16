// SPDX-License-Identifier: Apache-2.0
//! The same lake through other tools: PyIceberg and DuckDB read what Weir wrote, Weir reads what PyIceberg wrote.

use crate::support::{TestLake, events, ids, python, request, scan, spec, stream};
use arrow::array::AsArray;
use arrow::datatypes::{DataType, Float64Type, Int64Type, TimestampMicrosecondType};
use weir_lake::{CompareOp, Literal, PartitionField, Predicate, TableSpec, Transform};

const OPEN: &str = "
import sys, json
from pyiceberg.catalog.sql import SqlCatalog
catalog = SqlCatalog('lake', uri='sqlite:///' + sys.argv[1], warehouse='file://' + sys.argv[2])
";

fn pyiceberg(test: &TestLake, script: &str) -> String {
    let warehouse = test.folder().join("warehouse");
    let venv = weir_sandbox::venv().unwrap();
    python(&venv, &format!("{OPEN}{script}"), &[test.catalog().to_str().unwrap(), warehouse.to_str().unwrap()])
}

/// DuckDB with its Iceberg extension, over a table's current metadata file.
fn duckdb(metadata: &str, query: &str) -> String {
    let script = "
import sys, glob, os, duckdb
site = os.path.dirname(os.path.dirname(duckdb.__file__))
con = duckdb.connect(config={'allow_unsigned_extensions': 'true'})
for name in ['avro', 'iceberg']:
    con.load_extension(glob.glob(f'{site}/**/{name}.duckdb_extension', recursive=True)[0])
print(con.execute(sys.argv[2].replace('TABLE_', f\"iceberg_scan('{sys.argv[1]}')\")).fetchall())
";
    python(&weir_sandbox::peers_venv().unwrap(), script, &[metadata, query])
}

fn current_metadata(test: &TestLake, table: &str) -> String {
    pyiceberg(test, &format!("print(catalog.load_table('web.{table}').metadata_location)")).trim_start_matches("file://").to_owned()
}

async fn partitioned() -> TestLake {
    let test = TestLake::new().await;
    let fields = [("name", Transform::Identity), ("ts", Transform::Month), ("id", Transform::Bucket(2))];
    let partitioning = fields.map(|(column, transform)| PartitionField { column: column.into(), transform }).to_vec();
    let wanted = TableSpec { partitioning, ..spec("t", &events(0..1)) };
    test.lake.create_table_as(wanted, stream(vec![events(0..500)])).await.unwrap();
    test.lake.append(test.table("t").await.as_ref(), stream(vec![events(500..600)])).await.unwrap();
    test
}

#[tokio::test]
async fn pyiceberg_reads_what_we_wrote() {
    let test = partitioned().await;
    let said = pyiceberg(
        &test,
        "
from pyiceberg.expressions import GreaterThanOrEqual, EqualTo
t = catalog.load_table('web.t')
a = t.scan().to_arrow()
one = t.scan(row_filter=EqualTo('name', 'name-03')).to_arrow()
late = t.scan(row_filter=GreaterThanOrEqual('ts', '2026-01-20T00:00:00')).to_arrow()
nulls = sum(1 for v in a['name'].to_pylist() if v is None)
print(json.dumps([catalog.list_tables('web'), a.num_rows, sum(a['id'].to_pylist()), sum(a['amount'].to_pylist()), nulls, one.num_rows, late.num_rows,
  len(t.snapshots()), t.current_snapshot().summary['total-records'], [f.name for f in t.spec().fields]]))
",
    );
    assert_eq!(said, r#"[[["web", "t"]], 600, 179700, 44925.0, 86, 10, 144, 2, "600", ["name", "ts_month", "id_bucket"]]"#);
}

#[tokio::test]
async fn duckdb_reads_what_we_wrote() {
    let test = partitioned().await;
    let query = "select count(*), sum(id), sum(amount), count(name), min(ts)::varchar, count(*) filter (name = 'name-03') from TABLE_";
    assert_eq!(duckdb(&current_metadata(&test, "t"), query), "[(600, 179700, 44925.0, 514, '2026-01-01 00:00:00', 10)]");
}

#[tokio::test]
async fn nested_and_odd_types_reach_the_others() {
    let test = TestLake::new().await;
    let rows = crate::tables::every_type();
    test.lake.create_table_as(spec("odd", &rows), stream(vec![rows])).await.unwrap();
    let said = pyiceberg(&test, "print([str(v) for v in catalog.load_table('web.odd').scan().to_arrow().to_pylist()[0].values()])");
    for part in ["'-128'", "'18446744073709551615'", "'-10.50'", "'1969-12-31'", "'23:59:59.999999'", "[1, None]", "'first': 'Ada', 'age': 36"] {
        assert!(said.contains(part), "{part} is not in {said}");
    }
    let seen = duckdb(&current_metadata(&test, "odd"), "select huge, price, day::varchar, list, person.age from TABLE_ where flag");
    assert_eq!(seen, "[(Decimal('18446744073709551615'), Decimal('-10.50'), '1969-12-31', [1, None], 36)]");
}

#[tokio::test]
async fn we_read_what_pyiceberg_wrote() {
    let test = TestLake::new().await;
    pyiceberg(
        &test,
        "
import pyarrow as pa, datetime as d
from pyiceberg.schema import Schema
from pyiceberg.types import *
from pyiceberg.partitioning import PartitionSpec, PartitionField
from pyiceberg.transforms import IdentityTransform, MonthTransform
schema = Schema(NestedField(1, 'id', LongType(), required=True), NestedField(2, 'region', StringType()), NestedField(3, 'at', TimestamptzType()),
  NestedField(4, 'tag', UUIDType()), NestedField(5, 'props', MapType(51, StringType(), 52, IntegerType(), False)), NestedField(6, 'raw', BinaryType()))
spec = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), 'region'), PartitionField(3, 1001, MonthTransform(), 'at_month'))
t = catalog.create_table('web.py', schema, partition_spec=spec)
utc = d.timezone.utc
import uuid
def rows(ids): return pa.table({'id': pa.array(ids, pa.int64()), 'region': pa.array([['EU', 'US', None][i % 3] for i in ids], pa.large_string()),
  'at': pa.array([d.datetime(1969, 11, 1, tzinfo=utc) + d.timedelta(days=i) for i in ids], pa.timestamp('us', 'UTC')),
  'tag': pa.array([uuid.UUID(int=i).bytes for i in ids], pa.binary(16)),
  'props': pa.array([[('a', i)] for i in ids], pa.map_(pa.string(), pa.int32())), 'raw': pa.array([bytes([i]) for i in ids], pa.large_binary())},
  schema=pa.schema([pa.field('id', pa.int64(), nullable=False), ('region', pa.large_string()), ('at', pa.timestamp('us', 'UTC')), ('tag', pa.binary(16)), ('props', pa.map_(pa.string(), pa.int32())), ('raw', pa.large_binary())]))
t.append(rows(range(0, 150)))
t.append(rows(range(150, 200)))
t.delete('id < 10')
",
    );
    let table = test.table("py").await;
    assert_eq!(table.partitioning(), ["region", "month(at)"]);
    assert_eq!(ids(&table, None).await, (10..200).collect::<Vec<_>>());
    let schema = table.schema();
    assert_eq!((schema.field(3).data_type(), schema.field(0).is_nullable()), (&DataType::Utf8, false));
    let region = Predicate::Compare { column: 1, op: CompareOp::Equal, literal: Literal::Text("EU".into()) };
    let early = Predicate::Compare { column: 2, op: CompareOp::Less, literal: Literal::Timestamp(0) };
    let predicate = Predicate::And(vec![region, early]);
    assert!(table.plan(request(&[0], Some(predicate.clone()))).await.unwrap().files_pruned() > 5);
    let found = ids(&table, Some(predicate)).await;
    assert!((10..61).filter(|id| id % 3 == 0).all(|id| found.contains(&id)), "{found:?}");

    let one = Predicate::Compare { column: 0, op: CompareOp::Equal, literal: Literal::Int(100) };
    let all = scan(&table, request(&[0, 1, 2, 3, 4, 5], Some(one)), 1, None).await.unwrap();
    let at = all.column(0).as_primitive::<Int64Type>().values().iter().position(|id| *id == 100).unwrap();
    assert_eq!(all.column(1).as_string::<i32>().value(at), "US");
    assert_eq!(all.column(2).as_primitive::<TimestampMicrosecondType>().value(at), (100 - 61) * 86_400_000_000);
    assert_eq!(all.column(3).as_string::<i32>().value(at), "00000000-0000-0000-0000-000000000064");
    assert_eq!(all.column(4).as_map().value(at).column(1).as_primitive::<arrow::datatypes::Int32Type>().value(0), 100);
    assert_eq!(all.column(5).as_binary::<i32>().value(at), [100]);
}

#[tokio::test]
async fn we_follow_a_table_that_pyiceberg_reshaped() {
    let test = TestLake::new().await;
    test.lake.create_table_as(spec("t", &events(0..1)), stream(vec![events(0..20)])).await.unwrap();
    pyiceberg(
        &test,
        "
from pyiceberg.types import *
t = catalog.create_table('web.narrow', __import__('pyarrow').schema([('n', 'int32'), ('f', 'float32'), ('p', __import__('pyarrow').decimal128(5, 2)), ('gone', 'string'), ('s', __import__('pyarrow').struct([('a', 'int32'), ('b', 'string')]))]))
import pyarrow as pa, decimal
def rows(n): return pa.table({'n': pa.array([n], 'int32'), 'f': pa.array([n / 2], 'float32'), 'p': pa.array([decimal.Decimal('1.25')], pa.decimal128(5, 2)), 'gone': ['x'], 's': pa.array([{'a': n, 'b': 'y'}], pa.struct([('a', 'int32'), ('b', 'string')]))})
t.append(rows(1))
with t.update_schema() as u:
    u.update_column('n', LongType()); u.update_column('f', DoubleType()); u.update_column('p', DecimalType(9, 2))
    u.rename_column('n', 'number'); u.delete_column('gone'); u.add_column('added', StringType()); u.move_first('p')
    u.rename_column('s.a', 'first'); u.add_column(('s', 'c'), IntegerType())
u = catalog.load_table('web.t')
with u.update_schema() as s:
    s.rename_column('name', 'label'); s.delete_column('amount'); s.add_column('extra', LongType())
u = catalog.load_table('web.t')
u.append(pa.table({'id': pa.array([100], 'int64'), 'label': ['py'], 'ts': pa.array([0], pa.timestamp('us')), 'extra': pa.array([7], 'int64')}))
",
    );
    let narrow = test.table("narrow").await;
    let names: Vec<String> = narrow.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["p", "number", "f", "s", "added"]);
    let row = scan(&narrow, request(&[0, 1, 2, 3, 4], None), 1, None).await.unwrap();
    assert_eq!(row.column(0).data_type(), &DataType::Decimal128(9, 2));
    assert_eq!(row.column(1).as_primitive::<Int64Type>().value(0), 1);
    assert_eq!(row.column(2).as_primitive::<Float64Type>().value(0), 0.5);
    let inner = row.column(3).as_struct();
    assert_eq!(inner.column_names(), ["first", "b", "c"]);
    assert_eq!(inner.column(0).as_primitive::<arrow::datatypes::Int32Type>().value(0), 1);
    assert!(arrow::array::Array::is_null(inner.column(2), 0) && arrow::array::Array::is_null(row.column(4), 0));

    let table = test.table("t").await;
    let label = table.schema().index_of("label").unwrap();
    assert_eq!(ids(&table, None).await, (0..20).chain([100]).collect::<Vec<_>>());
    let named = Predicate::Compare { column: label, op: CompareOp::Equal, literal: Literal::Text("name-03".into()) };
    assert!(ids(&table, Some(named)).await.contains(&3), "the old file's column has another name");
    let mut grown = scan(&table, request(&[0, 1, 2, 3], None), 1, None).await.unwrap();
    assert_eq!(grown.num_rows(), 21);
    grown = grown.slice(0, 5);
    test.lake.append(&table, stream(vec![grown])).await.unwrap();
    assert_eq!(pyiceberg(&test, "print(catalog.load_table('web.t').scan().to_arrow().num_rows)"), "26");
    let first = table.snapshots()[0].0;
    let then = test.lake.table_at("web", "t", weir_lake::Version::Snapshot(first)).await.unwrap().unwrap();
    assert_eq!(then.schema().field(1).name(), "name", "an old version has its old columns");
    assert_eq!(scan(&then, request(&[1, 2], None), 1, None).await.unwrap().num_rows(), 20);
}

#[tokio::test]
async fn a_catalog_that_pyiceberg_made_is_ours_too() {
    let folder = tempfile::tempdir().unwrap();
    let venv = weir_sandbox::venv().unwrap();
    let (catalog, warehouse) = (folder.path().join("catalog.db"), folder.path().join("warehouse"));
    let script = format!(
        "{OPEN}\nimport pyarrow as pa\ncatalog.create_namespace('web')\ncatalog.create_table('web.t', pa.schema([('id', 'int64')])).append(pa.table({{'id': [1, 2]}}))"
    );
    python(&venv, &script, &[catalog.to_str().unwrap(), warehouse.to_str().unwrap()]);
    let lake = weir_lake::Lake::open(crate::support::config(folder.path())).await.unwrap();
    assert_eq!(lake.schemas().await.unwrap(), ["web"]);
    let table = lake.table("web", "t").await.unwrap().unwrap();
    assert_eq!(ids(&table, None).await, [1, 2]);
    let rows = scan(&table, request(&[0], None), 1, None).await.unwrap();
    lake.create_table_as(spec("ours", &rows), stream(vec![rows.clone()])).await.unwrap();
    lake.append(&table, stream(vec![rows])).await.unwrap();
    let said = python(
        &venv,
        &format!("{OPEN}\nprint(catalog.list_tables('web'), catalog.load_table('web.t').scan().to_arrow().num_rows)"),
        &[catalog.to_str().unwrap(), warehouse.to_str().unwrap()],
    );
    assert_eq!(said, "[('web', 'ours'), ('web', 't')] 4");
}

#[tokio::test]
async fn files_without_field_ids_are_read_by_the_name_mapping() {
    let test = TestLake::new().await;
    let said = pyiceberg(
        &test,
        "
import pyarrow as pa, pyarrow.parquet as pq
inner = pa.struct([('a', pa.int64()), ('b', pa.string())])
rows = pa.table({'n': pa.array([1, 2], pa.int64()), 's': pa.array([{'a': 5, 'b': 'x'}, None], inner), 'l': pa.array([[1], [2, 3]], pa.list_(pa.int64()))})
file = sys.argv[2] + '/outside.parquet'
pq.write_table(rows, file)
t = catalog.create_table('web.t', rows.schema)
t.add_files(['file://' + file])
with t.update_schema() as u: u.rename_column('n', 'number')
print('schema.name-mapping.default' in catalog.load_table('web.t').properties)
",
    );
    assert_eq!(said, "True");
    let table = test.table("t").await;
    let rows = scan(&table, request(&[0, 1, 2], None), 1, None).await.unwrap();
    assert_eq!(rows.schema().field(0).name(), "number");
    assert_eq!(rows.column(0).as_primitive::<Int64Type>().values(), &[1, 2]);
    assert_eq!(rows.column(1).as_struct().column(0).as_primitive::<Int64Type>().value(0), 5);
    assert_eq!(rows.column(2).as_list::<i32>().value(1).as_primitive::<Int64Type>().values(), &[2, 3]);
}

#[tokio::test]
async fn tables_of_version_one_are_read_and_grow() {
    let test = TestLake::new().await;
    pyiceberg(
        &test,
        "
import pyarrow as pa
t = catalog.create_table('web.t', pa.schema([('id', 'int64'), ('region', 'string')]), properties={'format-version': '1'})
t.append(pa.table({'id': [1, 2], 'region': ['EU', None]}))
",
    );
    let table = test.table("t").await;
    let rows = scan(&table, request(&[0, 1], None), 1, None).await.unwrap();
    test.lake.append(&table, stream(vec![rows])).await.unwrap();
    assert_eq!(ids(&test.table("t").await, None).await, [1, 1, 2, 2]);
    let said = pyiceberg(&test, "t = catalog.load_table('web.t'); print(t.metadata.format_version, sorted(t.scan().to_arrow()['id'].to_pylist()))");
    assert_eq!(said, "1 [1, 1, 2, 2]");
}
