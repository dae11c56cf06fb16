// SPDX-License-Identifier: Apache-2.0
//! The warehouse stand-in: `fakesnow`, which speaks Snowflake's wire protocol over DuckDB. Honest in protocol, not in speed.

use crate::folder::Folder;
use crate::port::free_port;
use crate::program::Tool;
use crate::server::{Server, Signal};
use crate::venv::venv;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use weir_base::{Error, ErrorCode, Result};

const RUN: &str = include_str!("snowflake.py");
const PORT_TRIES: usize = 5;
const DRIVER: &str = "libadbc_driver_snowflake.so";

/// A running warehouse stand-in. It keeps everything in memory; dropping it ends it.
#[derive(Debug)]
pub struct Snowflake {
    server: Server,
    venv: PathBuf,
    port: u16,
}

impl Snowflake {
    /// A fresh, empty stand-in on a free loopback port. Needs the project's Python environment (`make setup`).
    pub async fn start() -> Result<Self> {
        let venv = venv()?;
        let mut warehouse = Self { server: Server::new(Folder::open("snowflake", None)?), venv, port: 0 };
        for _ in 0..PORT_TRIES {
            warehouse.port = free_port()?;
            warehouse.start_server()?;
            match warehouse.server.ready("the warehouse stand-in", async || answers_http(warehouse.port).await).await {
                Err(_) if warehouse.server.lost_its_port() => warehouse.server.end(Signal::Kill)?,
                done => return done.map(|()| warehouse),
            }
        }
        Err(Error::new(ErrorCode::SourceUnreachable, "the warehouse stand-in found no free port"))
    }

    fn start_server(&mut self) -> Result<()> {
        let folder = self.server.folder().path();
        // Its home is its folder, so that nothing of the user's settings gets in; what it stages goes there too, and with it.
        let here = |name: &str| {
            let mut variable = std::ffi::OsString::from(name);
            variable.push(folder);
            variable
        };
        let mut command = vec!["env".into(), here("HOME="), here("TMPDIR="), self.venv.join("bin/python").into()];
        command.extend(["-m", "fakesnow", "-s", "--host", "127.0.0.1", "-p"].map(Into::into));
        command.push(self.port.to_string().into());
        self.server.start(&command, Signal::Kill)
    }

    pub fn host(&self) -> &str {
        "127.0.0.1"
    }

    /// The server's folder (`log`), which goes with it.
    pub fn folder(&self) -> &Path {
        self.server.folder().path()
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Any account does; this is the one the stand-in's users write.
    pub fn account(&self) -> &str {
        "fakesnow"
    }

    pub fn user(&self) -> &str {
        "weir"
    }

    /// The stand-in checks no password; the driver wants one.
    pub fn password(&self) -> &str {
        "unchecked"
    }

    /// The database options with which Snowflake's ADBC driver reaches the stand-in. `database` and `schema` exist already.
    pub fn adbc_options(&self, database: &str, schema: &str) -> Vec<(String, String)> {
        let port = self.port.to_string();
        let options = [
            ("username", self.user()),
            ("password", self.password()),
            ("adbc.snowflake.sql.account", self.account()),
            ("adbc.snowflake.sql.uri.protocol", "http"),
            ("adbc.snowflake.sql.uri.host", self.host()),
            ("adbc.snowflake.sql.uri.port", &port),
            ("adbc.snowflake.sql.db", database),
            ("adbc.snowflake.sql.schema", schema),
        ];
        options.map(|(key, value)| (key.to_owned(), value.to_owned())).into()
    }

    /// The shared library of Snowflake's ADBC driver, from the project's Python environment.
    pub fn driver_path(&self) -> Result<PathBuf> {
        find_driver(&self.venv)
    }

    /// Runs a script of statements through Snowflake's own Python connector. Create databases and schemas here too.
    pub async fn run(&self, script: &str) -> Result<()> {
        self.query(script).await?;
        Ok(())
    }

    /// Runs a script and gives the rows of its last statement: fields parted by tabs, rows by newlines, NULL is empty.
    pub async fn query(&self, script: &str) -> Result<String> {
        let tool = Tool::new(&self.venv.join("bin/python")).args(["-c", RUN]).env("HOME", self.server.folder().path());
        let tool = tool.env("WEIR_SNOWFLAKE_PORT", self.port.to_string()).env("WEIR_SNOWFLAKE_ACCOUNT", self.account());
        let tool = tool.env("WEIR_SNOWFLAKE_USER", self.user()).env("WEIR_SNOWFLAKE_PASSWORD", self.password());
        let text = tool.input(script).run().await?;
        Ok(text.trim_end_matches('\n').to_owned())
    }
}

/// `<venv>/lib/python3.*/site-packages/adbc_driver_snowflake/…`, whichever Python made it.
fn find_driver(venv: &std::path::Path) -> Result<PathBuf> {
    let missing = || {
        let error = Error::new(ErrorCode::NotFound, "the ADBC driver of Snowflake is not installed");
        error.with_detail(format!("no {DRIVER} in {}", venv.display())).with_hint("run `make setup`")
    };
    let entries = std::fs::read_dir(venv.join("lib")).map_err(|_unreadable| missing())?;
    let mut candidates = entries.filter_map(|entry| Some(entry.ok()?.path().join("site-packages/adbc_driver_snowflake").join(DRIVER)));
    candidates.find(|path| path.is_file()).ok_or_else(missing)
}

/// Whether something on the port speaks HTTP.
async fn answers_http(port: u16) -> Result<bool> {
    let failed = |e: std::io::Error| Error::new(ErrorCode::SourceUnreachable, "no answer").with_detail(e.to_string());
    let mut socket = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.map_err(failed)?;
    socket.write_all(b"GET / HTTP/1.0\r\n\r\n").await.map_err(failed)?;
    let mut answer = [0; 7];
    socket.read_exact(&mut answer).await.map_err(failed)?;
    Ok(&answer == b"HTTP/1.")
}
