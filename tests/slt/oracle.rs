// SPDX-License-Identifier: Apache-2.0
//! The oracle: a PostgreSQL that holds all tables says what a statement means, and Weir must give the same rows of the same text.
//!
//! The files in `oracle/` hold one statement per line over the tables of `oracle/tables.sql`. `@people` is the table `people` in the place that is asked. Before a statement may stand:
//!
//! | line | means |
//! |---|---|
//! | `-- refused CODE: reason` | PostgreSQL answers; Weir says no, with this SQLSTATE |
//! | `-- no oracle: reason` | is left out; in the `.slt` files of `cases/` that compute `# no oracle: reason` |
//!
//! A new statement needs no recompile.

use crate::kit::{Doors, SqliteFile, World, mariadb, ordered, postgres, same_rows};
use sqllogictest::{DefaultColumnType, Record};
use sqlx::postgres::PgRow;
use sqlx::{Connection, PgConnection, Row, ValueRef};
use std::path::{Path, PathBuf};
use tokio::sync::OnceCell;

const TABLES: [&str; 5] = ["people", "orders", "words", "numbers", "doubles"];
/// Cases that compute; the others are about names, settings and the lake, which the oracle knows nothing of.
const COMPUTING: [&str; 7] = ["aggregates", "dates", "joins", "numbers", "queries", "texts", "windows"];
const DATABASE: &str = "oracle";
const SOURCE: &str = "oracle_source";

/// Rows as text, or the SQLSTATE.
type Told = Result<Vec<Vec<String>>, String>;

/// Two connections that should tell the same.
struct Trial {
    oracle: PgConnection,
    weir: PgConnection,
    failures: Vec<String>,
    asked: usize,
}

impl Trial {
    async fn of(doors: &Doors) -> Self {
        let oracle = connect(&postgres().await.url(DATABASE)).await;
        let weir = connect(&format!("postgres://local@{}/weir?sslmode=disable", doors.postgres)).await;
        Self { oracle, weir, failures: Vec::new(), asked: 0 }
    }

    /// Asks both in their own words.
    async fn compare(&mut self, mode: &str, oracle: &str, weir: &str) {
        let (expected, actual) = (ask(&mut self.oracle, oracle).await, ask(&mut self.weir, weir).await);
        self.asked += 1;
        if !agree(&expected, &actual, oracle) {
            self.failures.push(format!("{mode}: {weir}\n  oracle: {expected:?}\n  weir:   {actual:?}"));
        }
    }

    /// Asks for what is refused with a code.
    async fn refused(&mut self, mode: &str, weir: &str, code: &str) {
        let actual = ask(&mut self.weir, weir).await;
        self.asked += 1;
        if actual.as_ref().err().map(String::as_str) != Some(code) {
            self.failures.push(format!("{mode}: {weir}\n  should be refused with {code}\n  weir:   {actual:?}"));
        }
    }

    async fn set(&mut self, mode: &str) {
        sqlx::raw_sql(&format!("SET weir.pushdown = '{mode}'")).execute(&mut self.weir).await.expect("a setting");
    }

    fn finish(self, asked_min: usize) {
        let Self { failures, asked, .. } = self;
        assert!(asked >= asked_min, "only {asked} statements were asked");
        assert!(failures.is_empty(), "{} of {asked} differ\n\n{}", failures.len(), failures.join("\n\n"));
    }
}

async fn connect(url: &str) -> PgConnection {
    PgConnection::connect(url).await.unwrap_or_else(|error| panic!("no connection: {error}"))
}

async fn ask(connection: &mut PgConnection, sql: &str) -> Told {
    match sqlx::raw_sql(sql).fetch_all(connection).await {
        Ok(rows) => Ok(rows.iter().map(texts).collect()),
        Err(sqlx::Error::Database(error)) => Err(error.code().expect("an SQLSTATE").into_owned()),
        Err(error) => panic!("{sql}\n{error}"),
    }
}

fn texts(row: &PgRow) -> Vec<String> {
    let text = |index| {
        let value = row.try_get_raw(index).expect("a value");
        if value.is_null() { "NULL".to_owned() } else { value.as_str().expect("text").to_owned() }
    };
    (0..row.len()).map(text).collect()
}

/// The same rows, or errors of the same class. The order counts where the statement asks for one.
fn agree(expected: &Told, actual: &Told, sql: &str) -> bool {
    match (expected, actual) {
        (Err(expected), Err(actual)) => expected[..2] == actual[..2],
        (Ok(expected), Ok(actual)) => same_rows(expected, actual, ordered(sql)),
        _ => false,
    }
}

/// Where the tables are read from.
#[derive(Clone, Copy)]
struct Place {
    /// Each table of a statement is taken from the next of these.
    schemas: &'static [&'static str],
    /// `weir.pushdown`
    modes: &'static [&'static str],
}

impl Place {
    fn of(self, statement: &str) -> String {
        let mut schemas = self.schemas.iter().cycle();
        let mut parts = statement.split('@');
        let head = parts.next().unwrap_or_default().to_owned();
        parts.fold(head, |text, part| match TABLES.iter().any(|table| part.starts_with(table)) {
            true => format!("{text}{}.{part}", schemas.next().expect("a schema")),
            false => format!("{text}@{part}"),
        })
    }
}

fn oracle_of(statement: &str) -> String {
    TABLES.iter().fold(statement.to_owned(), |text, table| text.replace(&format!("@{table}"), table))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("slt")
}

struct Statement {
    file: String,
    sql: String,
    /// The SQLSTATE with which it is refused.
    refused: Option<String>,
}

/// The statements of all files.
fn statements() -> Vec<Statement> {
    let entries = std::fs::read_dir(folder().join("oracle")).expect("the folder of statements");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).filter(|path| !path.ends_with("tables.sql")).collect();
    files.sort();
    let of_file = |file: &PathBuf| {
        let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(file).expect("a file of statements");
        parse(&name, &text)
    };
    files.iter().flat_map(of_file).collect()
}

fn parse(file: &str, text: &str) -> Vec<Statement> {
    let mut statements: Vec<Statement> = Vec::new();
    let (mut left_out, mut refused) = (false, None);
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if let Some(comment) = line.strip_prefix("-- ") {
            left_out |= comment.starts_with("no oracle:");
            refused = comment.strip_prefix("refused ").and_then(|rest| rest.split_once(':')).map(|(code, _)| code.to_owned()).or(refused);
        } else if !std::mem::take(&mut left_out) {
            statements.push(Statement { file: file.to_owned(), sql: line.to_owned(), refused: refused.take() });
        }
    }
    statements
}

static LOADED: OnceCell<()> = OnceCell::const_new();

/// The same rows in the oracle and in the sources. The sources sort by other rules than bytes where they can.
async fn load() {
    let postgres = postgres().await;
    let tables = include_str!("oracle/tables.sql");
    postgres.query("postgres", &format!("CREATE DATABASE {DATABASE} TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C.UTF-8'")).await.expect("a database");
    postgres.run(DATABASE, tables).await.expect("the oracle's tables");
    postgres.run(DATABASE, &format!("CREATE SCHEMA main; SET search_path = main; {}", shop())).await.expect("the shop");
    postgres
        .run(SOURCE, &tables.replace("varchar(40)", "varchar(40) COLLATE \"en-x-icu\"").replace(" text", " text COLLATE \"en-x-icu\""))
        .await
        .expect("the source's tables");
    let script = format!("SET sql_mode = 'NO_BACKSLASH_ESCAPES,STRICT_ALL_TABLES';\n{}", tables.replace(" timestamp", " datetime(6)"));
    let mariadb = mariadb().await;
    mariadb.run(DATABASE, "ALTER DATABASE CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci;").await.expect("a database");
    mariadb.run(DATABASE, &script).await.expect("MariaDB's tables");
}

/// The SQLite tables of the cases, as PostgreSQL spells them.
fn shop() -> String {
    let spelled = [("INTEGER", "BIGINT"), ("REAL", "DOUBLE PRECISION"), ("BLOB", "BYTEA"), ("x'00ff', 0)", "'\\x00ff', false)"), ("x'', 1)", "'', true)")];
    spelled.iter().fold(include_str!("shop.sql").to_owned(), |text, (ours, theirs)| text.replace(ours, theirs))
}

async fn world() -> (World, Doors) {
    LOADED.get_or_init(load).await;
    let sources = World::builder().source("app", "postgres", &postgres().await.url(SOURCE)).source("billing", "mysql", &mariadb().await.url(DATABASE));
    let world = sources.start().await;
    let doors = Doors::open(&world).await;
    (world, doors)
}

async fn agrees(place: Place) {
    let (world, doors) = world().await;
    if place.schemas.contains(&"lake.oracle") {
        world.rows("CREATE SCHEMA lake.oracle").await;
        for table in TABLES {
            world.rows(&format!("CREATE TABLE lake.oracle.{table} AS SELECT * FROM app.public.{table}")).await;
        }
    }
    let mut trial = Trial::of(&doors).await;
    for mode in place.modes {
        trial.set(mode).await;
        for Statement { file, sql, refused } in statements() {
            let asked = format!("{file}, push-down {mode}");
            match refused {
                Some(code) => trial.refused(&asked, &place.of(&sql), &code).await,
                None => trial.compare(&asked, &oracle_of(&sql), &place.of(&sql)).await,
            }
        }
    }
    trial.finish(300);
}

#[tokio::test(flavor = "multi_thread")]
async fn postgres_source_agrees_with_the_oracle() {
    agrees(Place { schemas: &["app.public"], modes: &["on", "off"] }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn mariadb_source_agrees_with_the_oracle() {
    agrees(Place { schemas: &["billing.oracle"], modes: &["on", "off"] }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lake_agrees_with_the_oracle() {
    agrees(Place { schemas: &["lake.oracle"], modes: &["on"] }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mix_of_all_agrees_with_the_oracle() {
    agrees(Place { schemas: &["app.public", "billing.oracle", "lake.oracle"], modes: &["random:20261130"] }).await;
}

/// The statements of the cases that compute, without those that say why not.
fn computing(name: &str) -> Vec<String> {
    let records = sqllogictest::parse_file::<DefaultColumnType>(folder().join(format!("cases/{name}.slt"))).expect("a case");
    let mut left_out = false;
    let mut statements = Vec::new();
    for record in records {
        match record {
            Record::Comment(lines) => left_out = lines.iter().any(|line| line.trim_start().starts_with("no oracle:")),
            Record::Query { .. } | Record::Statement { .. } if std::mem::take(&mut left_out) => {}
            Record::Query { sql, .. } | Record::Statement { sql, .. } => statements.push(sql),
            _ => {}
        }
    }
    statements
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cases_agree_with_the_oracle() {
    LOADED.get_or_init(load).await;
    let shop = SqliteFile::with(include_str!("shop.sql")).await;
    let world = World::builder().source("shop", "sqlite", &shop.url()).start().await;
    let doors = Doors::open(&world).await;
    let mut trial = Trial::of(&doors).await;
    for name in COMPUTING {
        for statement in computing(name) {
            trial.compare(name, &statement.replace("shop.main.", "main."), &statement).await;
        }
    }
    trial.finish(120);
}
