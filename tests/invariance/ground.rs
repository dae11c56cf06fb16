// SPDX-License-Identifier: Apache-2.0
//! The ground on which queries are tried: an engine over all kinds of places, and a PostgreSQL that holds every table.

use super::setup::{Place, Setup, Table};
use crate::kit::{Doors, SqliteFile, World, eventually, mariadb, postgres};
use sqlx::{Column, Connection, PgConnection, Row, TypeInfo, ValueRef};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::OnceCell;

const DATABASE: &str = "invariance";
const ICU_DATABASE: &str = "invariance_icu";
const TRUTH_DATABASE: &str = "invariance_truth";
/// Nobody waits longer for one answer.
const ANSWER_TIME_MAX: Duration = Duration::from_secs(60);

/// Rows as text, or the SQLSTATE and the message.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    Rows { types: Vec<String>, rows: Vec<Vec<String>> },
    Error { code: String, message: String },
}

impl Told {
    pub fn code(&self) -> Option<&str> {
        match self {
            Self::Rows { .. } => None,
            Self::Error { code, .. } => Some(code),
        }
    }
}

pub struct Ground {
    world: World,
    doors: Doors,
    files: SqliteFile,
}

static PREPARED: OnceCell<()> = OnceCell::const_new();
static SETUPS: AtomicUsize = AtomicUsize::new(0);

const TYPES: &str = "CREATE TYPE mood AS ENUM ('sad', 'ok', 'Happy');
    CREATE COLLATION blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false);";

/// A view of a table in which whole numbers have all the digits that they need.
const WIDE: &str = "CREATE SCHEMA wide;
    CREATE FUNCTION widen(name text) RETURNS text LANGUAGE plpgsql AS $$ BEGIN
        EXECUTE (SELECT format('CREATE VIEW wide.%I AS SELECT %s FROM %I', name, string_agg(CASE WHEN atttypid IN ('int2'::regtype, 'int4'::regtype,
            'int8'::regtype) THEN format('%I::numeric AS %I', attname, attname) ELSE format('%I', attname) END, ', ' ORDER BY attnum), name)
            FROM pg_attribute WHERE attrelid = name::regclass AND attnum > 0);
        RETURN name;
    END $$;";

async fn prepare() {
    let postgres = postgres().await;
    let create = [
        format!("CREATE DATABASE {ICU_DATABASE} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C.UTF-8'"),
        format!("CREATE DATABASE {TRUTH_DATABASE} TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C.UTF-8'"),
    ];
    for sql in create {
        postgres.query("postgres", &sql).await.expect("a database");
    }
    for database in [DATABASE, ICU_DATABASE, TRUTH_DATABASE] {
        postgres.run(database, TYPES).await.expect("types");
    }
    postgres.run(TRUTH_DATABASE, WIDE).await.expect("a schema");
    mariadb().await.run(DATABASE, "SELECT 1;").await.expect("a database");
}

impl Ground {
    pub async fn new() -> Self {
        PREPARED.get_or_init(prepare).await;
        let (postgres, files) = (postgres().await, SqliteFile::with("CREATE TABLE first (id INTEGER)").await);
        let world = World::builder()
            .source("app", "postgres", &postgres.url(DATABASE))
            .source("icu", "postgres", &postgres.url(ICU_DATABASE))
            .source("truth", "postgres", &postgres.url(TRUTH_DATABASE))
            .source("billing", "mysql", &mariadb().await.url(DATABASE))
            .source("files", "sqlite", &files.url());
        let world = world.start().await;
        world.rows("CREATE SCHEMA lake.invariance").await;
        let doors = Doors::open(&world).await;
        Self { world, doors, files }
    }

    /// Makes the tables of a setup under new names.
    pub async fn load(&self, setup: &Setup) -> Loaded {
        let number = Self::next_number();
        let names: BTreeMap<String, (Place, String)> =
            setup.tables.iter().map(|table| (table.name.clone(), (table.place, format!("{}_{number}", table.name)))).collect();
        let of = |place: Place| scripts(setup, &names, |table| table.place == place, Table::script);
        let truth = scripts(setup, &names, |_| true, Table::truth);
        self.run(&names, [of(Place::App), of(Place::Icu), of(Place::Billing), of(Place::Files), truth]).await;
        let loaded = Loaded { names };
        self.seen_all(&loaded).await;
        loaded
    }

    /// Scripts for the places in their order, and for the truth in the place of the lake.
    pub async fn run(&self, names: &BTreeMap<String, (Place, String)>, scripts: [String; 5]) {
        let [app, icu, billing, files, truth] = scripts;
        let (postgres, mariadb) = (postgres().await, mariadb().await);
        for (database, script) in [(DATABASE, app), (ICU_DATABASE, icu), (TRUTH_DATABASE, truth)] {
            if !script.is_empty() {
                postgres.run(database, &script).await.unwrap_or_else(|error| panic!("{script}\n{error:?}"));
            }
        }
        if !billing.is_empty() {
            let script = format!("SET sql_mode = 'NO_BACKSLASH_ESCAPES'; SET time_zone = '+00:00';\n{billing}");
            mariadb.run(DATABASE, &script).await.unwrap_or_else(|error| panic!("{script}\n{error:?}"));
        }
        if !files.is_empty() {
            self.files.run(&files).await;
        }
        for (_, name) in names.values().filter(|(place, _)| *place == Place::Lake) {
            self.seen(&format!("truth.public.{name}")).await;
            self.world.rows(&format!("CREATE TABLE lake.invariance.{name} AS SELECT * FROM truth.public.{name}")).await;
        }
    }

    /// For names that no table had before, so that no catalog of before is believed.
    pub fn next_number() -> usize {
        SETUPS.fetch_add(1, Ordering::Relaxed)
    }

    /// Waits until all tables are known.
    pub async fn seen_all(&self, loaded: &Loaded) {
        for (place, name) in loaded.names.values() {
            self.seen(&format!("{}.{name}", place.schema())).await;
        }
    }

    /// Waits until a new table is known: a list of tables that is very fresh is believed.
    async fn seen(&self, table: &str) {
        eventually(table, async || self.world.ask(&format!("SELECT 1 FROM {table} LIMIT 0")).await.is_ok()).await;
    }

    /// Removes the tables, so that listing them stays cheap.
    pub async fn unload(&self, loaded: &Loaded) {
        let of = |place: Option<Place>| {
            let names = loaded.names.values().filter(|(own, _)| place.is_none_or(|place| *own == place));
            names.map(|(_, name)| format!("DROP TABLE {name};")).collect::<String>()
        };
        let [app, icu, billing, files] = [Place::App, Place::Icu, Place::Billing, Place::Files].map(|place| of(Some(place)));
        self.run(&BTreeMap::new(), [app, icu, billing, files, of(None)]).await;
        for (_, name) in loaded.names.values().filter(|(place, _)| *place == Place::Lake) {
            self.world.rows(&format!("DROP TABLE lake.invariance.{name}")).await;
        }
    }

    /// A connection through the door for PostgreSQL clients.
    pub async fn weir(&self, mode: &str) -> Asker {
        let mut asker = Asker::new(&format!("postgres://local@{}/weir?sslmode=disable", self.doors.postgres)).await;
        asker.set(mode).await;
        asker
    }

    pub async fn truth(&self) -> Asker {
        Asker::new(&postgres().await.url(TRUTH_DATABASE)).await
    }
}

fn scripts(setup: &Setup, names: &BTreeMap<String, (Place, String)>, wanted: impl Fn(&Table) -> bool, script: impl Fn(&Table, &str) -> String) -> String {
    let tables = setup.tables.iter().filter(|table| wanted(table));
    tables.map(|table| script(table, &names[&table.name].1)).collect::<Vec<_>>().join("\n")
}

/// What the tables of a setup are called in their places.
pub struct Loaded {
    pub names: BTreeMap<String, (Place, String)>,
}

impl Loaded {
    /// The query as Weir reads it.
    pub fn weir(&self, sql: &str) -> String {
        self.written(sql, |place, name| format!("{}.{name}", place.schema()))
    }

    /// The query as the truth reads it.
    pub fn truth(&self, sql: &str) -> String {
        self.written(sql, |_, name| name.to_owned())
    }

    /// The query as the truth reads it where whole numbers never end, and what makes that so, and unmakes it.
    pub fn wide_truth(&self, sql: &str) -> (String, String, String) {
        let each = |write: fn(&String) -> String| self.names.values().map(|(_, name)| write(name)).collect::<Vec<_>>().join("; ");
        let asked = self.written(sql, |_, name| format!("wide.{name}"));
        (each(|name| format!("SELECT widen('{name}')")), asked, each(|name| format!("DROP VIEW wide.{name}")))
    }

    fn written(&self, sql: &str, spelled: impl Fn(Place, &str) -> String) -> String {
        let mut parts = sql.split('@');
        let head = parts.next().unwrap_or_default().to_owned();
        parts.fold(head, |text, part| {
            let end = part.find(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_').unwrap_or(part.len());
            match self.names.get(&part[..end]) {
                Some((place, name)) => format!("{text}{}{}", spelled(*place, name), &part[end..]),
                None => format!("{text}@{part}"),
            }
        })
    }
}

/// A session that is asked.
pub struct Asker {
    url: String,
    connection: PgConnection,
    mode: String,
}

impl Asker {
    async fn new(url: &str) -> Self {
        Self { url: url.to_owned(), connection: connect(url).await, mode: String::new() }
    }

    pub async fn set(&mut self, mode: &str) {
        if self.mode != mode {
            sqlx::raw_sql(&format!("SET weir.pushdown = '{mode}'")).execute(&mut self.connection).await.expect("a setting");
            self.mode = mode.to_owned();
        }
    }

    pub async fn ask(&mut self, sql: &str) -> Told {
        let answer = tokio::time::timeout(ANSWER_TIME_MAX, sqlx::raw_sql(sql).fetch_all(&mut self.connection)).await;
        match answer {
            Ok(Ok(rows)) => {
                let types = rows.first().map(|row| row.columns().iter().map(|column| column.type_info().name().to_owned()).collect()).unwrap_or_default();
                Told::Rows { types, rows: rows.iter().map(texts).collect() }
            }
            Ok(Err(sqlx::Error::Database(error))) => {
                let code = error.code().expect("an SQLSTATE").into_owned();
                let detail = error.try_downcast_ref::<sqlx::postgres::PgDatabaseError>().and_then(|error| error.detail()).unwrap_or_default();
                Told::Error { code, message: format!("{}; {detail}", error.message()) }
            }
            Ok(Err(error)) => self.broken("lost", &error.to_string()).await,
            Err(_) => self.broken("hangs", "no answer in time").await,
        }
    }

    /// The connection is not fit for another question.
    async fn broken(&mut self, code: &str, message: &str) -> Told {
        self.connection = connect(&self.url).await;
        let mode = std::mem::take(&mut self.mode);
        if !mode.is_empty() {
            self.set(&mode).await;
        }
        Told::Error { code: code.to_owned(), message: message.to_owned() }
    }
}

async fn connect(url: &str) -> PgConnection {
    PgConnection::connect(url).await.unwrap_or_else(|error| panic!("no connection: {error}"))
}

fn texts(row: &sqlx::postgres::PgRow) -> Vec<String> {
    let text = |index| {
        let value = row.try_get_raw(index).expect("a value");
        if value.is_null() { "NULL".to_owned() } else { value.as_str().expect("text").to_owned() }
    };
    (0..row.len()).map(text).collect()
}
