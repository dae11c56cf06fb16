// SPDX-License-Identifier: Apache-2.0
//! `cargo xtask services`: starts the private servers, prints where they are as shell exports, and keeps them until Ctrl-C.

use std::io::Write;
use std::process::ExitCode;
use tokio::signal::unix::{SignalKind, signal};
use weir_base::{Error, ErrorCode, Result};
use weir_sandbox::{MariaDb, Postgres, S3, Snowflake};

const KINDS: &[&str] = &["postgres", "replica", "mariadb", "s3", "warehouse"];
const USAGE: &str = "usage: weir-services [postgres] [replica] [mariadb] [s3] [warehouse]   (all of them by default)";

/// What runs; dropping it ends everything.
#[derive(Default)]
struct Services {
    replica: Option<Postgres>,
    postgres: Option<Postgres>,
    mariadb: Option<MariaDb>,
    s3: Option<S3>,
    warehouse: Option<Snowflake>,
}

#[tokio::main]
async fn main() -> ExitCode {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    if let Some(odd) = asked.iter().find(|word| !KINDS.contains(&word.as_str())) {
        eprintln!("weir-services: no service is called {odd}\n{USAGE}");
        return ExitCode::from(2);
    }
    match run(&asked).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("weir-services: {error:?}");
            ExitCode::FAILURE
        }
    }
}

async fn run(asked: &[String]) -> Result<()> {
    let wanted = |kind: &str| asked.is_empty() || asked.iter().any(|word| word == kind);
    let mut services = Services::default();
    tokio::select! {
        started = services.start(wanted) => started?,
        stopped = asked_to_stop() => return stopped,
    }
    eprintln!("ready; Ctrl-C ends and removes everything");
    asked_to_stop().await
}

impl Services {
    async fn start(&mut self, wanted: impl Fn(&str) -> bool) -> Result<()> {
        if wanted("postgres") || wanted("replica") {
            self.start_postgres(wanted("replica")).await?;
        }
        if wanted("mariadb") {
            say("MariaDB");
            let mariadb = MariaDb::start().await?;
            export(&[("WEIR_MARIADB_URL", mariadb.url("mysql")), ("WEIR_MARIADB_FOLDER", mariadb.folder().display().to_string())])?;
            self.mariadb = Some(mariadb);
        }
        if wanted("s3") {
            say("S3 store");
            let s3 = S3::start().await?;
            export(&[
                ("WEIR_S3_ENDPOINT", s3.endpoint()),
                ("WEIR_S3_BUCKET", s3.bucket().to_owned()),
                ("AWS_ACCESS_KEY_ID", s3.access_key().to_owned()),
                ("AWS_SECRET_ACCESS_KEY", s3.secret_key().to_owned()),
                ("WEIR_S3_FOLDER", s3.folder().display().to_string()),
            ])?;
            self.s3 = Some(s3);
        }
        if wanted("warehouse") {
            say("warehouse stand-in (fakesnow)");
            let warehouse = Snowflake::start().await?;
            export(&[
                ("WEIR_SNOWFLAKE_HOST", warehouse.host().to_owned()),
                ("WEIR_SNOWFLAKE_PORT", warehouse.port().to_string()),
                ("WEIR_SNOWFLAKE_DRIVER", warehouse.driver_path()?.display().to_string()),
            ])?;
            self.warehouse = Some(warehouse);
        }
        Ok(())
    }

    async fn start_postgres(&mut self, with_replica: bool) -> Result<()> {
        say("PostgreSQL");
        let postgres = Postgres::start().await?;
        export(&[("WEIR_POSTGRES_URL", postgres.url("postgres")), ("WEIR_POSTGRES_FOLDER", postgres.folder().display().to_string())])?;
        if with_replica {
            say("PostgreSQL replica");
            let replica = postgres.replica().await?;
            export(&[("WEIR_REPLICA_URL", replica.url("postgres")), ("WEIR_REPLICA_FOLDER", replica.folder().display().to_string())])?;
            self.replica = Some(replica);
        }
        self.postgres = Some(postgres);
        Ok(())
    }
}

fn say(what: &str) {
    eprintln!("starting: {what}");
}

/// Prints `export NAME='value'` lines and flushes them, since a reader may wait for them.
fn export(pairs: &[(&str, String)]) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let lines: String = pairs.iter().map(|(name, value)| format!("export {name}='{}'\n", value.replace('\'', r"'\''"))).collect();
    let written = out.write_all(lines.as_bytes()).and_then(|()| out.flush());
    written.map_err(|e| Error::new(ErrorCode::OutOfResources, "cannot print").with_detail(e.to_string()))
}

/// Ctrl-C, a polite kill, or a closed terminal.
async fn asked_to_stop() -> Result<()> {
    let listen = |kind| signal(kind).map_err(|e| Error::internal("cannot listen for signals").with_detail(e.to_string()));
    let (mut int, mut term, mut hup) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?, listen(SignalKind::hangup())?);
    tokio::select! {
        _ = int.recv() => {}
        _ = term.recv() => {}
        _ = hup.recv() => {}
    }
    Ok(())
}
