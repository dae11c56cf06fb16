// SPDX-License-Identifier: Apache-2.0
//! A lake in a folder of its own, batches to put into it, and ways to look at what came out.

use arrow::array::{Array, ArrayRef, AsArray, Float64Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use arrow::compute::concat_batches;
use arrow::datatypes::Int64Type;
use futures::{StreamExt, TryStreamExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use weir_base::{Error, ErrorCode, Result, SourceName};
use weir_lake::{BatchFilter, BatchStream, CatalogConfig, Lake, LakeConfig, LakeTable, Predicate, ScanRequest, TableSpec};

pub struct TestLake {
    pub lake: Arc<Lake>,
    folder: tempfile::TempDir,
}

impl TestLake {
    pub async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let lake = Lake::open(config(folder.path())).await.unwrap();
        lake.create_schema("web", false).await.unwrap();
        Self { lake, folder }
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn catalog(&self) -> PathBuf {
        self.folder.path().join("catalog.db")
    }

    pub async fn table(&self, name: &str) -> Arc<LakeTable> {
        self.lake.table("web", name).await.unwrap().unwrap()
    }

    /// Every file of the warehouse but the catalog.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        collect(&self.folder.path().join("warehouse"), &mut found);
        found
    }
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { collect(&path, found) } else { found.push(path) }
    }
}

pub fn config(folder: &Path) -> LakeConfig {
    LakeConfig {
        name: SourceName::new("lake"),
        catalog: CatalogConfig::Sql { url: format!("sqlite://{}/catalog.db", folder.display()) },
        warehouse: format!("file://{}/warehouse", folder.display()),
        s3: None,
    }
}

/// id, name (NULL for every seventh), amount, ts (hourly from `first_ts`).
pub fn events(ids: std::ops::Range<i64>) -> RecordBatch {
    let id: Int64Array = ids.clone().collect();
    let name: StringArray = ids.clone().map(|id| (id % 7 != 0).then(|| format!("name-{:02}", id % 50))).collect();
    let amount: Float64Array = ids.clone().map(|id| Some(id as f64 / 4.0)).collect();
    let ts = TimestampMicrosecondArray::from_iter_values(ids.map(|id| 1_767_225_600_000_000 + id * 3_600_000_000));
    RecordBatch::try_from_iter_with_nullable(vec![
        ("id", Arc::new(id) as ArrayRef, true),
        ("name", Arc::new(name) as ArrayRef, true),
        ("amount", Arc::new(amount) as ArrayRef, true),
        ("ts", Arc::new(ts) as ArrayRef, true),
    ])
    .unwrap()
}

pub fn stream(batches: Vec<RecordBatch>) -> BatchStream {
    futures::stream::iter(batches.into_iter().map(Ok)).boxed()
}

pub fn spec(name: &str, batch: &RecordBatch) -> TableSpec {
    TableSpec::new("web", name, batch.schema())
}

pub fn broken() -> Error {
    Error::new(ErrorCode::SourceBroke, "the source broke")
}

pub fn request(projection: &[usize], predicate: Option<Predicate>) -> ScanRequest {
    ScanRequest { projection: projection.to_vec(), predicate, limit: None }
}

/// All rows of a scan over some partitions, in one batch.
pub async fn scan(table: &Arc<LakeTable>, request: ScanRequest, partitions: usize, filter: Option<Arc<dyn BatchFilter>>) -> Result<RecordBatch> {
    let plan = table.plan(request).await?;
    let scan = plan.open(partitions);
    let streams = (0..partitions).map(|index| scan.partition(index, filter.clone()).try_collect::<Vec<_>>());
    let batches: Vec<Vec<RecordBatch>> = futures::future::try_join_all(streams).await?;
    let batches: Vec<RecordBatch> = batches.into_iter().flatten().collect();
    Ok(concat_batches(&plan.schema(), &batches).unwrap())
}

/// The first column's integers, sorted.
pub async fn ids(table: &Arc<LakeTable>, predicate: Option<Predicate>) -> Vec<i64> {
    sorted(&scan(table, request(&[0], predicate), 2, None).await.unwrap())
}

pub fn sorted(batch: &RecordBatch) -> Vec<i64> {
    let column = arrow::compute::cast(batch.column(0), &arrow::datatypes::DataType::Int64).unwrap();
    assert_eq!(column.null_count(), 0);
    let mut values = column.as_primitive::<Int64Type>().values().to_vec();
    values.sort_unstable();
    values
}

/// Runs Python of one of the project's environments; what it printed.
pub fn python(interpreter: &Path, script: &str, arguments: &[&str]) -> String {
    let output = Command::new(interpreter.join("bin/python")).arg("-c").arg(script).args(arguments).output().unwrap();
    assert!(output.status.success(), "python failed:\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
