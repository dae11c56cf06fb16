// SPDX-License-Identifier: Apache-2.0
//! A world: an engine over the sources that a test names, with a lake and a control store in a folder of its own.

use arrow::array::RecordBatch;
use arrow::util::display::{ArrayFormatter, FormatOptions};
use futures::TryStreamExt;
use std::collections::BTreeMap;
use std::sync::Arc;
use tempfile::TempDir;
use weir_api::{AnswerKind, Door, Query, QueryService, Receipt, Session};
use weir_base::{Error, SourceName, SystemClock, UserName};
use weir_catalog::ControlStore;
use weir_engine::{Engine, EngineConfig, EngineParts, LakePlace, Places, SourceHandle, TableRule};
use weir_guard::{Guard, Limits};
use weir_lake::{CatalogConfig, Lake, LakeConfig, S3Config};
use weir_policy::Policy;
use weir_sandbox::{S3, Snowflake};
use weir_source::{SourceSpec, ValuePolicy, connect};

/// What a test wants its world to have.
pub struct WorldBuilder {
    sources: Vec<SourceSpec>,
    policy: Policy,
    memory_bytes_max: usize,
    rules: Vec<(String, Vec<TableRule>)>,
    /// The prefix in the store's bucket, and the store, when the lake is not on local disk.
    store: Option<(String, S3Config)>,
}

impl WorldBuilder {
    /// A source on a primary, with default limits.
    pub fn source(self, name: &str, kind: &str, url: &str) -> Self {
        self.limited(name, kind, url, Limits::default())
    }

    pub fn limited(self, name: &str, kind: &str, url: &str, limits: Limits) -> Self {
        self.configured(SourceSpec {
            name: SourceName::new(name),
            kind: kind.into(),
            url: url.into(),
            allow_primary: true,
            nan: ValuePolicy::default(),
            infinity: ValuePolicy::default(),
            limits,
            options: BTreeMap::new(),
        })
    }

    pub fn configured(mut self, spec: SourceSpec) -> Self {
        self.sources.push(spec);
        self
    }

    /// The stand-in of a cloud warehouse as source `name`, in one of its databases.
    pub fn warehouse(self, name: &str, server: &Snowflake, database: &str) -> Self {
        let mut options: BTreeMap<String, String> = server.adbc_options(database, "PUBLIC").into_iter().collect();
        let driver = server.driver_path().expect("the warehouse's driver");
        options.insert("driver".into(), driver.to_string_lossy().into_owned());
        let (nan, infinity) = (ValuePolicy::default(), ValuePolicy::default());
        let spec = SourceSpec {
            name: SourceName::new(name),
            kind: "adbc".into(),
            url: String::new(),
            allow_primary: false,
            nan,
            infinity,
            limits: Limits::default(),
            options,
        };
        self.configured(spec)
    }

    /// The lake in an object store, under a prefix.
    pub fn lake_on(mut self, store: &S3, prefix: &str) -> Self {
        let settings = S3Config {
            endpoint: Some(store.endpoint()),
            region: "us-east-1".into(),
            access_key: Some(store.access_key().to_owned()),
            secret_key: Some(store.secret_key().to_owned()),
            path_style: true,
        };
        self.store = Some((format!("s3://{}/{prefix}", store.bucket()), settings));
        self
    }

    /// Rules of the tables of one source.
    pub fn rules(mut self, source: &str, rules: Vec<TableRule>) -> Self {
        self.rules.push((source.to_owned(), rules));
        self
    }

    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    pub fn memory(mut self, bytes_max: usize) -> Self {
        self.memory_bytes_max = bytes_max;
        self
    }

    pub async fn start(self) -> World {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let path = folder.path();
        let lake = LakeConfig {
            name: SourceName::new("lake"),
            catalog: CatalogConfig::Sql { url: format!("sqlite://{}/lake/catalog.db", path.display()) },
            warehouse: self.store.as_ref().map_or_else(|| format!("file://{}/lake", path.display()), |(warehouse, _)| warehouse.clone()),
            s3: self.store.map(|(_, settings)| settings),
        };
        let lake = LakePlace { name: SourceName::new("lake"), lake: Lake::open(lake).await.expect("a lake") };
        let handles = self.sources.into_iter().map(|spec| {
            let guard = Guard::new(spec.name.clone(), spec.limits.clone());
            let rules = self.rules.iter().find(|(source, _)| *source == spec.name.as_str()).map(|(_, rules)| rules.clone()).unwrap_or_default();
            SourceHandle::new(connect(spec).expect("a source"), guard).with_rules(rules)
        });
        let spill_dir = path.join("spill");
        std::fs::create_dir_all(&spill_dir).expect("a spill folder");
        let store = ControlStore::open(&path.join("weir.db"), Arc::new(SystemClock)).await.expect("a control store");
        let parts = EngineParts {
            config: EngineConfig { memory_bytes_max: self.memory_bytes_max, spill_dir, partitions: 2 },
            places: Places::new(handles, Some(lake)),
            policy: self.policy,
            store,
            clock: Arc::new(SystemClock),
        };
        let engine = Arc::new(Engine::new(parts).expect("an engine"));
        let session = Session::new(UserName::new("local"), Door::Cli, None);
        World { engine, session, folder }
    }
}

/// An answer as text.
pub struct Told {
    /// NULL as `NULL`; for a command its tag.
    pub rows: Vec<Vec<String>>,
    /// The tag of a command.
    pub tag: Option<String>,
    pub receipt: Receipt,
}

/// A running engine and one session in it.
pub struct World {
    pub engine: Arc<Engine>,
    pub session: Arc<Session>,
    folder: TempDir,
}

impl World {
    pub fn builder() -> WorldBuilder {
        WorldBuilder { sources: Vec::new(), policy: Policy::open(), memory_bytes_max: 1 << 30, rules: Vec::new(), store: None }
    }

    pub fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// Another session of the same engine.
    pub fn session(&self, user: &str, database: Option<&str>) -> Arc<Session> {
        Session::new(UserName::new(user), Door::Cli, database.map(str::to_owned))
    }

    /// Rows as text, NULL as `NULL`; for a command its tag.
    pub async fn ask(&self, sql: &str) -> Result<Vec<Vec<String>>, Error> {
        Ok(self.ask_as(&self.session, sql).await?.0)
    }

    pub async fn ask_as(&self, session: &Arc<Session>, sql: &str) -> Result<(Vec<Vec<String>>, Receipt), Error> {
        let told = self.tell(session, Query::new(sql)).await?;
        Ok((told.rows, told.receipt))
    }

    /// Everything that an answer says.
    pub async fn tell(&self, session: &Arc<Session>, query: Query) -> Result<Told, Error> {
        let mut answer = self.engine.run(session, query).await?;
        let batches: Vec<RecordBatch> = answer.batches().try_collect().await?;
        let (rows, tag) = match answer.kind() {
            AnswerKind::Command(tag) => (vec![vec![tag.clone()]], Some(tag.clone())),
            AnswerKind::Rows => (batches.iter().flat_map(text_rows).collect(), None),
        };
        Ok(Told { rows, tag, receipt: answer.receipt() })
    }

    /// The rows, which must come.
    pub async fn rows(&self, sql: &str) -> Vec<Vec<String>> {
        self.ask(sql).await.unwrap_or_else(|error| panic!("{sql}\n{error:?}"))
    }

    /// One value, which must come.
    pub async fn value(&self, sql: &str) -> String {
        let rows = self.rows(sql).await;
        assert_eq!((rows.len(), rows[0].len()), (1, 1), "{sql} gives {rows:?}");
        rows[0][0].clone()
    }

    /// The receipt of an answer, which must come.
    pub async fn receipt(&self, sql: &str) -> Receipt {
        self.ask_as(&self.session, sql).await.unwrap_or_else(|error| panic!("{sql}\n{error:?}")).1
    }

    /// What a question answers with push-down on, off, and of parts chosen by chance: the same rows, or errors of the same code.
    pub async fn every_way(&self, sql: &str) -> Result<Vec<Vec<String>>, Error> {
        let mut told: Option<Result<Vec<Vec<String>>, Error>> = None;
        for way in ["on", "off", "random:1", "random:2", "random:3"] {
            let session = self.session("local", None);
            self.ask_as(&session, &format!("SET weir.pushdown = '{way}'")).await?;
            let answer = self.ask_as(&session, sql).await.map(|(rows, _)| rows);
            let first = told.get_or_insert_with(|| answer.clone());
            match (&*first, &answer) {
                (Ok(first), Ok(answer)) => assert_eq!(first, answer, "push-down {way} gives other rows: {sql}"),
                (Err(first), Err(error)) => assert_eq!(first.code(), error.code(), "push-down {way} fails otherwise: {sql}\n{first:?}\n{error:?}"),
                _ => panic!("push-down {way}: {sql}\n{first:?}\n{answer:?}"),
            }
        }
        told.unwrap_or_else(|| Ok(Vec::new()))
    }

    /// The plan in words, as EXPLAIN prints it.
    pub async fn explain(&self, sql: &str) -> String {
        self.rows(&format!("EXPLAIN {sql}")).await.concat().join("\n")
    }

    /// The error, which must come.
    pub async fn error(&self, sql: &str) -> Error {
        match self.ask(sql).await {
            Ok(rows) => panic!("{sql} should fail and gives {rows:?}"),
            Err(error) => error,
        }
    }
}

fn text_rows(batch: &RecordBatch) -> Vec<Vec<String>> {
    let options = FormatOptions::default().with_null("NULL");
    let columns: Vec<ArrayFormatter<'_>> =
        batch.columns().iter().map(|column| ArrayFormatter::try_new(column, &options).expect("a printable column")).collect();
    (0..batch.num_rows()).map(|row| columns.iter().map(|column| column.value(row).to_string()).collect()).collect()
}
