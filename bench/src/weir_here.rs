// SPDX-License-Identifier: Apache-2.0
//! Weir in this process: an engine over a lake, and its queries as contenders.

use crate::THREADS;
use crate::contest::{Contender, Lap};
use arrow::array::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use async_trait::async_trait;
use futures::TryStreamExt;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::time::Instant;
use weir_api::{Door, Query, QueryService, Receipt, Session, SourceUse};
use weir_base::{Error, ErrorCode, Result, SourceName, SystemClock, UserName};
use weir_catalog::ControlStore;
use weir_engine::{Engine, EngineConfig, EngineParts, LakePlace, Places, SourceHandle};
use weir_guard::{Guard, Limits};
use weir_lake::{CatalogConfig, Lake, LakeConfig};
use weir_policy::Policy;
use weir_source::{SourceSpec, ValuePolicy, connect};

/// Enough that nothing spills.
const MEMORY_BYTES_MAX: usize = 8 << 30;

/// Longer than anything here takes.
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(900);

/// A lake in a folder, and an engine over it.
pub struct WeirHere {
    pub lake: Arc<Lake>,
    engine: Arc<Engine>,
    session: Arc<Session>,
    folder: PathBuf,
}

impl WeirHere {
    pub async fn open(folder: &Path) -> Result<Self> {
        Self::over(folder, "weir.db", Vec::new()).await
    }

    /// The lake of a folder and some sources. `store` is the file of the control store: two engines over one lake have one each.
    pub async fn over(folder: &Path, store: &str, sources: Vec<SourceSpec>) -> Result<Self> {
        let spill_dir = folder.join("spill");
        std::fs::create_dir_all(&spill_dir).map_err(|error| unusable(&spill_dir, &error))?;
        let name = SourceName::new("lake");
        let config = LakeConfig { name: name.clone(), catalog: CatalogConfig::Sql { url: catalog_url(folder) }, warehouse: warehouse_url(folder), s3: None };
        let lake = Lake::open(config).await?;
        let store = ControlStore::open(&folder.join(store), Arc::new(SystemClock)).await?;
        let handle = |spec: SourceSpec| {
            let guard = Guard::new(spec.name.clone(), spec.limits.clone());
            connect(spec).map(|source| SourceHandle::new(source, guard))
        };
        let handles = sources.into_iter().map(handle).collect::<Result<Vec<_>>>()?;
        let parts = EngineParts {
            config: EngineConfig { memory_bytes_max: MEMORY_BYTES_MAX, spill_dir, partitions: THREADS },
            places: Places::new(handles, Some(LakePlace { name, lake: lake.clone() })),
            policy: Policy::open(),
            store,
            clock: Arc::new(SystemClock),
        };
        let engine = Arc::new(Engine::new(parts)?);
        let session = Session::new(UserName::new("local"), Door::Cli, None);
        Ok(Self { lake, engine, session, folder: folder.to_path_buf() })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub fn query(&self, sql: String) -> WeirQuery {
        WeirQuery { engine: self.engine.clone(), session: self.session.clone(), sql, receipt: None }
    }

    /// The same with push-down switched off: only columns are chosen at the sources.
    pub fn query_without_push_down(&self, sql: String) -> Result<WeirQuery> {
        let session = Session::new(UserName::new("local"), Door::Cli, None);
        session.settings().set("weir.pushdown", "off")?;
        Ok(WeirQuery { engine: self.engine.clone(), session, sql, receipt: None })
    }

    /// Does something that is not measured.
    pub async fn prepare(&self, sql: &str) -> Result<()> {
        self.query(sql.to_owned()).lap().await.map(|_| ())
    }

    /// Plans and tells the plan in words, without running it: how long that took, in seconds.
    pub async fn plan(&self, sql: &str) -> Result<f64> {
        let began = Instant::now();
        self.engine.plan(&self.session, Query::new(sql)).await?;
        Ok(began.elapsed().as_secs_f64())
    }

    pub async fn close(&self) {
        self.engine.close().await;
    }
}

/// A source on a primary that may be read for as long as it takes.
pub fn source(name: &str, kind: &str, url: String) -> SourceSpec {
    SourceSpec {
        name: SourceName::new(name),
        kind: kind.to_owned(),
        url,
        allow_primary: true,
        nan: ValuePolicy::Keep,
        infinity: ValuePolicy::Keep,
        limits: Limits { statement_timeout: STATEMENT_TIMEOUT, ..Limits::default() },
        options: BTreeMap::new(),
    }
}

/// The lake's catalog, as `weir.yaml` writes it.
pub fn catalog_url(folder: &Path) -> String {
    format!("sqlite://{}", folder.join("catalog.db").display())
}

/// The lake's files, as `weir.yaml` writes it.
pub fn warehouse_url(folder: &Path) -> String {
    format!("file://{}", folder.join("lake").display())
}

pub fn unusable(path: &Path, error: &std::io::Error) -> Error {
    Error::new(ErrorCode::OutOfResources, "a folder cannot be used").with_detail(format!("{}: {error}", path.display()))
}

pub struct WeirQuery {
    engine: Arc<Engine>,
    session: Arc<Session>,
    sql: String,
    receipt: Option<Receipt>,
}

impl WeirQuery {
    /// What left a source in the last lap.
    pub fn used(&self, source: &str) -> Option<&SourceUse> {
        self.receipt.as_ref()?.sources.iter().find(|used| used.source == source)
    }
}

#[async_trait]
impl Contender for WeirQuery {
    fn name(&self) -> &str {
        "Weir"
    }

    async fn lap(&mut self) -> Result<Lap> {
        let began = Instant::now();
        let mut answer = self.engine.run(&self.session, Query::new(self.sql.clone())).await?;
        let batches: Vec<RecordBatch> = answer.batches().try_collect().await?;
        let mut lap = Lap::since(began, None);
        lap.answer = Some(text_rows(&batches)?);
        self.receipt = Some(answer.receipt());
        Ok(lap)
    }
}

/// Rows as text, in an order of their own, so that two answers can be compared.
pub fn text_rows(batches: &[RecordBatch]) -> Result<Vec<String>> {
    let mut rows = Vec::new();
    let unprintable = |error: arrow::error::ArrowError| Error::internal("a column cannot be printed").with_detail(error.to_string());
    let options = FormatOptions::default().with_null("NULL");
    for batch in batches {
        let columns: Vec<ArrayFormatter<'_>> =
            batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &options)).collect::<std::result::Result<_, _>>().map_err(unprintable)?;
        let row = |row: usize| columns.iter().map(|column| column.value(row).to_string()).collect::<Vec<_>>().join("|");
        rows.extend((0..batch.num_rows()).map(row));
    }
    rows.sort();
    Ok(rows)
}
