// SPDX-License-Identifier: Apache-2.0
//! The systems of the demo's company: a private server each where the machine has one, an SQLite file where it has none.

use super::market::Market;
use super::shape::{Shape, Spelling, Value, copy_script, csv, insert_script};
use super::steps::Step;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};
use std::path::{Path, PathBuf};
use weir_base::{Error, ErrorCode, Result};
use weir_sandbox::{MariaDb, Postgres, Snowflake, random_word};

/// The account that Weir has in every server: it reads and does nothing else.
const ACCOUNT: &str = "weir_ro";
const PASSWORD_CHARS: usize = 24;

/// Name, database and schema of a system, and the kind of server that it is meant to be.
#[derive(Debug, Clone, Copy)]
pub struct Role {
    pub name: &'static str,
    pub database: &'static str,
    pub schema: &'static str,
    kind: Wanted,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Replicated,
    Postgres,
    MariaDb,
    Warehouse,
    File,
}

pub const ROLES: [Role; 5] = [
    Role { name: "app_pg", database: "app", schema: "public", kind: Wanted::Replicated },
    Role { name: "support_pg", database: "support", schema: "public", kind: Wanted::Postgres },
    Role { name: "billing_mysql", database: "billing", schema: "billing", kind: Wanted::MariaDb },
    Role { name: "marts", database: "marts", schema: "public", kind: Wanted::Warehouse },
    Role { name: "crm", database: "crm", schema: "main", kind: Wanted::File },
];

/// What holds a system's tables.
#[derive(Debug)]
enum Place {
    Postgres { server: Postgres, replica: Option<Postgres> },
    MariaDb(MariaDb),
    Snowflake(Snowflake),
    Sqlite(PathBuf),
}

/// A running system. Dropping it ends its servers.
#[derive(Debug)]
pub struct System {
    pub role: Role,
    place: Place,
    password: String,
    /// Why it is not what it is meant to be.
    pub shortcoming: Option<String>,
}

impl System {
    /// Starts it; its data go below `folder`, and stay after the end where `keep` says so.
    pub async fn start(role: Role, folder: &Path, keep: bool) -> Result<Self> {
        let file = embedded_file(role, folder);
        let place = match role.kind {
            Wanted::Replicated | Wanted::Postgres => or_missing(postgres(role, folder, keep).await)?,
            Wanted::MariaDb => or_missing(mariadb(role, folder, keep).await)?,
            Wanted::Warehouse => return Self::start_warehouse(role, folder, keep).await,
            Wanted::File => Ok(Place::Sqlite(file.clone())),
        };
        let (place, shortcoming) = match place {
            Ok(place) => (place, None),
            Err(why) => (Place::Sqlite(file), Some(format!("{why}: its tables are in an SQLite file"))),
        };
        Ok(Self { role, place, password: random_word(PASSWORD_CHARS), shortcoming })
    }

    /// Its tables in an SQLite file, since no servers are wanted.
    pub fn embedded(role: Role, folder: &Path) -> Self {
        let shortcoming = (role.kind != Wanted::File).then(|| "started with --no-servers: its tables are in an SQLite file".to_owned());
        Self { role, place: Place::Sqlite(embedded_file(role, folder)), password: String::new(), shortcoming }
    }

    async fn start_warehouse(role: Role, folder: &Path, keep: bool) -> Result<Self> {
        let started = Snowflake::start().await.and_then(|server| server.driver_path().map(|_| Place::Snowflake(server)));
        let (place, shortcoming) = match or_missing(started)? {
            Ok(place) => (place, None),
            Err(why) => match or_missing(postgres(role, folder, keep).await)? {
                Ok(place) => (place, Some(format!("{why}: a PostgreSQL database stands in for the cloud warehouse"))),
                Err(_) => (Place::Sqlite(embedded_file(role, folder)), Some(format!("{why}: an SQLite file stands in for the cloud warehouse"))),
            },
        };
        let password = if matches!(place, Place::Snowflake(_)) { "unchecked".to_owned() } else { random_word(PASSWORD_CHARS) };
        Ok(Self { role, place, password, shortcoming })
    }

    /// What it is, in words.
    pub fn kind(&self) -> &'static str {
        match (&self.place, self.role.kind) {
            (Place::Postgres { .. }, Wanted::Replicated) => "PostgreSQL with a streaming replica; Weir reads the replica",
            (Place::Postgres { .. }, Wanted::Warehouse) => "PostgreSQL in place of a cloud warehouse",
            (Place::Postgres { .. }, _) => "PostgreSQL",
            (Place::MariaDb(_), _) => "MariaDB",
            (Place::Snowflake(_), _) => "a stand-in for Snowflake, read through Snowflake's own ADBC driver",
            (Place::Sqlite(_), Wanted::File) => "an export in an SQLite file",
            (Place::Sqlite(_), _) => "SQLite file in place of a server",
        }
    }

    /// Whether what it holds outlives its server.
    pub fn durable(&self) -> bool {
        !matches!(self.place, Place::Snowflake(_))
    }

    /// Creates and fills its tables. Gives the number of rows.
    pub async fn load(&self, market: Market, step: &Step) -> Result<u64> {
        let mut rows = 0;
        for (shape, values) in market.tables(self.role.name) {
            step.doing(format!("loading {}", shape.name));
            let mut count = 0;
            let counted = values.inspect(|_| count += 1);
            let script = self.script(shape, counted)?;
            self.run(&script).await?;
            rows += count;
        }
        Ok(rows)
    }

    /// Everything that fills one table. A warehouse takes files: the script then names one.
    fn script(&self, shape: &Shape, rows: impl Iterator<Item = Vec<Value>>) -> Result<String> {
        let table = |spelling: Spelling| spelling.create(shape);
        Ok(match &self.place {
            Place::Postgres { .. } => format!("{}{}analyze {};\n", table(Spelling::Postgres), copy_script(shape, rows), shape.name),
            Place::MariaDb(_) => {
                let inserts = insert_script(Spelling::MariaDb, shape, rows);
                format!("{}set autocommit = 0;\n{inserts}commit;\nanalyze table {};\n", table(Spelling::MariaDb), shape.name)
            }
            Place::Sqlite(_) => format!("begin;\n{}{}commit;\nanalyze;\n", table(Spelling::Sqlite), insert_script(Spelling::Sqlite, shape, rows)),
            Place::Snowflake(server) => {
                let file = server.folder().join(format!("{}.csv", shape.name));
                std::fs::write(&file, csv(rows)).map_err(|error| unwritable(&file, &error))?;
                let (database, schema) = (self.role.database, self.role.schema);
                let start =
                    format!("create database if not exists {database}; create schema if not exists {database}.{schema}; use schema {database}.{schema};\n");
                let copy = format!("copy into {} from @loading file_format = (type = csv field_optionally_enclosed_by = '\"');\n", shape.name);
                format!("{start}{}create or replace stage loading;\nput file://{} @loading;\n{copy}", table(Spelling::Snowflake), file.display())
            }
        })
    }

    async fn run(&self, script: &str) -> Result<()> {
        match &self.place {
            Place::Postgres { server, .. } => server.run(self.role.database, script).await,
            Place::MariaDb(server) => server.run(self.role.database, script).await,
            Place::Snowflake(server) => server.run(script).await,
            Place::Sqlite(file) => run_sqlite(file, script).await,
        }
    }

    /// Gives Weir its read-only account, and the replica, which then has everything that was loaded.
    pub async fn open_to_weir(&mut self) -> Result<()> {
        let password = &self.password;
        match &mut self.place {
            Place::Postgres { server, replica } => {
                let database = self.role.database;
                server.run(database, &postgres_account(password)).await?;
                if self.role.kind == Wanted::Replicated {
                    *replica = Some(server.replica().await?);
                }
            }
            Place::MariaDb(server) => server.run(self.role.database, &mariadb_account(password, self.role.database)).await?,
            Place::Snowflake(_) | Place::Sqlite(_) => {}
        }
        Ok(())
    }

    /// The environment variables that `weir.yaml` names for it.
    pub fn variables(&self) -> Result<Vec<(String, String)>> {
        let prefix = self.role.name.to_uppercase();
        let port = match &self.place {
            Place::Postgres { server, replica } => replica.as_ref().unwrap_or(server).port(),
            Place::MariaDb(server) => server.port(),
            Place::Snowflake(server) => server.port(),
            Place::Sqlite(_) => return Ok(Vec::new()),
        };
        let mut variables = vec![(format!("{prefix}_PORT"), port.to_string()), (format!("{prefix}_PASSWORD"), self.password.clone())];
        if let Place::Snowflake(server) = &self.place {
            variables.push((format!("{prefix}_DRIVER"), server.driver_path()?.display().to_string()));
        }
        Ok(variables)
    }

    /// What stands below its name in `weir.yaml` where it is not what it is meant to be; `None` where it is.
    pub fn replacement(&self) -> Option<String> {
        self.shortcoming.as_ref()?;
        let Role { name, database, schema, .. } = self.role;
        let prefix = name.to_uppercase();
        Some(match &self.place {
            Place::Sqlite(_) => format!("    type: sqlite\n    url: \"sqlite://${{WEIR_DEMO}}/{name}.db\"\n    schema: {schema}\n"),
            _ => format!(
                "    type: postgres               # a stand-in: no driver of a cloud warehouse was to be had\n    url: \"postgres://{ACCOUNT}:${{{prefix}_PASSWORD}}@127.0.0.1:${{{prefix}_PORT}}/{database}\"\n    allow_primary: true\n"
            ),
        })
    }

    /// Takes its server away without a word, as a crash would. False where there is no server.
    pub fn crash(&mut self) -> Result<bool> {
        match &mut self.place {
            Place::Postgres { server, replica: None } => server.stop_hard().map(|()| true),
            Place::MariaDb(server) => server.stop_hard().map(|()| true),
            _ => Ok(false),
        }
    }

    /// Brings a crashed server back.
    pub async fn recover(&mut self) -> Result<()> {
        match &mut self.place {
            Place::Postgres { server, .. } => server.restart().await,
            Place::MariaDb(server) => server.restart().await,
            _ => Ok(()),
        }
    }
}

/// A server that this machine does not have is no failure: the inner error says what is missing, in words.
fn or_missing(started: Result<Place>) -> Result<Result<Place, String>> {
    match started {
        Ok(place) => Ok(Ok(place)),
        Err(error) if error.code() == ErrorCode::NotFound => Ok(Err(error.message().to_owned())),
        Err(error) => Err(error),
    }
}

fn embedded_file(role: Role, folder: &Path) -> PathBuf {
    folder.join(format!("{}.db", role.name))
}

fn server_folder(role: Role, folder: &Path) -> PathBuf {
    folder.join("servers").join(role.name)
}

async fn postgres(role: Role, folder: &Path, keep: bool) -> Result<Place> {
    let mut options = Postgres::options();
    if keep {
        options = options.folder(server_folder(role, folder));
    }
    Ok(Place::Postgres { server: options.start().await?, replica: None })
}

async fn mariadb(role: Role, folder: &Path, keep: bool) -> Result<Place> {
    let mut options = MariaDb::options();
    if keep {
        options = options.folder(server_folder(role, folder));
    }
    Ok(Place::MariaDb(options.start().await?))
}

async fn run_sqlite(file: &Path, script: &str) -> Result<()> {
    let failed = |error: sqlx::Error| Error::internal("an SQLite file cannot be written").with_detail(error.to_string());
    let options = SqliteConnectOptions::new().filename(file).create_if_missing(true).pragma("synchronous", "OFF").disable_statement_logging();
    let mut connection = options.connect().await.map_err(failed)?;
    sqlx::raw_sql(script).execute(&mut connection).await.map_err(failed)?;
    connection.close().await.map_err(failed)
}

/// The password is a word of letters and digits.
fn postgres_account(password: &str) -> String {
    [
        format!("do $$ begin if not exists (select from pg_roles where rolname = '{ACCOUNT}') then create role {ACCOUNT} login; end if; end $$;"),
        format!("alter role {ACCOUNT} password '{password}';"),
        format!("alter role {ACCOUNT} set default_transaction_read_only = on;"),
        format!("grant usage on schema public to {ACCOUNT};"),
        format!("grant select on all tables in schema public to {ACCOUNT};\n"),
    ]
    .join("\n")
}

fn mariadb_account(password: &str, database: &str) -> String {
    let user = format!("'{ACCOUNT}'@'127.0.0.1'");
    format!("create or replace user {user} identified by '{password}';\ngrant select on {database}.* to {user};\n")
}

fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    Error::new(ErrorCode::OutOfResources, "a file of the demo cannot be written").with_detail(format!("{}: {error}", path.display()))
}
