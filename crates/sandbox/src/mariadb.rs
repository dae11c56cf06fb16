// SPDX-License-Identifier: Apache-2.0
//! A private MariaDB server.

use crate::account::runs_as_root;
use crate::folder::{Folder, random_word, trouble};
use crate::port::free_port;
use crate::program::{Tool, find};
use crate::server::{Server, Signal};
use crate::template::Template;
use crate::url::url;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use weir_base::{Error, ErrorCode, Result};

const SUPERUSER: &str = "root";
const PACKAGE: &str = "mariadb-server";
const PORT_TRIES: usize = 5;

/// Both when the tables are made and when the server runs; a log of another size would be rewritten at start.
const LOG_FILE_SIZE: &str = "--innodb-log-file-size=32M";

/// Quick to start and to fill; durable against a killed process, not against a crash of the machine.
const SETTINGS: &[&str] = &[
    "--bind-address=127.0.0.1",
    "--skip-name-resolve",
    // Relative to the data folder, since the path of a socket may have 107 bytes only.
    "--socket=mysqld.sock",
    "--innodb-flush-log-at-trx-commit=2",
    "--innodb-doublewrite=0",
    "--innodb-buffer-pool-size=128M",
    LOG_FILE_SIZE,
    "--max-allowed-packet=256M",
    "--character-set-server=utf8mb4",
    "--collation-server=utf8mb4_general_ci",
    "--performance-schema=OFF",
];

/// How a MariaDB server is to be started, where the defaults do not do.
#[derive(Debug, Default, Clone)]
pub struct MariaDbOptions {
    settings: Vec<String>,
    folder: Option<PathBuf>,
    tls: Option<(String, String)>,
}

impl MariaDbOptions {
    /// One server option, as on its command line without the dashes: `setting("log-bin", "binlog")`.
    pub fn setting(mut self, name: &str, value: &str) -> Self {
        self.settings.push(format!("--{name}={value}"));
        self
    }

    /// A row-based binary log with full metadata, as change capture needs it.
    pub fn binlog(self) -> Self {
        self.setting("log-bin", "binlog").setting("server-id", "1").setting("binlog-format", "ROW").setting("binlog-row-metadata", "FULL")
    }

    /// Keeps the data in this folder: it stays after the end, and a later start finds the same data.
    pub fn folder(mut self, path: impl Into<PathBuf>) -> Self {
        self.folder = Some(path.into());
        self
    }

    /// Offers TLS with this certificate chain and private key (PEM).
    pub fn tls(mut self, certificate_pem: &str, key_pem: &str) -> Self {
        self.tls = Some((certificate_pem.into(), key_pem.into()));
        self
    }

    /// Starts the server and waits until it answers.
    pub async fn start(self) -> Result<MariaDb> {
        let programs = Programs::find()?;
        let folder = Folder::open("mariadb", self.folder.as_deref())?;
        if !folder.join("data/mysql").exists() {
            programs.make_data(&folder).await?;
        }
        let mut settings = self.settings;
        if let Some((certificate, key)) = &self.tls {
            let certificate = folder.write_secret("server.crt", certificate)?;
            let key = folder.write_secret("server.key", key)?;
            settings.push(format!("--ssl-cert={}", certificate.display()));
            settings.push(format!("--ssl-key={}", key.display()));
        }
        MariaDb::launch(programs, folder, settings).await
    }
}

/// A running private MariaDB. Dropping it ends the server and removes its folder.
#[derive(Debug)]
pub struct MariaDb {
    server: Server,
    programs: Programs,
    settings: Vec<String>,
    port: u16,
    password: String,
}

impl MariaDb {
    /// A fresh server in a temporary folder on a free loopback port.
    pub async fn start() -> Result<Self> {
        MariaDbOptions::default().start().await
    }

    pub fn options() -> MariaDbOptions {
        MariaDbOptions::default()
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The superuser's name (its password is random, and new with each start).
    pub fn user(&self) -> &str {
        SUPERUSER
    }

    pub fn password(&self) -> &str {
        &self.password
    }

    /// The server's own command line client.
    pub fn client_program(&self) -> &Path {
        &self.programs.client
    }

    /// The superuser's URL of a database, password included.
    pub fn url(&self, database: &str) -> String {
        self.url_as(SUPERUSER, &self.password, database)
    }

    pub fn url_as(&self, user: &str, password: &str, database: &str) -> String {
        url("mysql", user, password, self.port, database)
    }

    /// Runs a script as superuser with the mariadb client (`DELIMITER` works) and stops at the first error. Creates the
    /// database when it is missing.
    pub async fn run(&self, database: &str, script: &str) -> Result<()> {
        self.create_database(database).await?;
        self.client(Some(database)).input(script).run().await?;
        Ok(())
    }

    /// Runs statements as superuser and gives the rows as text: fields parted by tabs, rows by newlines, NULL is `NULL`.
    pub async fn query(&self, database: &str, sql: &str) -> Result<String> {
        let text = self.client(Some(database)).input(sql).run().await?;
        Ok(text.trim_end_matches('\n').to_owned())
    }

    /// Creates a database unless it is there.
    pub async fn create_database(&self, name: &str) -> Result<()> {
        let quoted = name.replace('`', "``");
        self.client(None).input(format!("CREATE DATABASE IF NOT EXISTS `{quoted}`")).run().await?;
        Ok(())
    }

    /// Kills the server at once, as a crash would. The data stays; `restart` brings it back.
    pub fn stop_hard(&mut self) -> Result<()> {
        self.server.kill()
    }

    /// A normal shutdown. The data stays; `restart` brings it back.
    pub fn stop(&mut self) -> Result<()> {
        self.server.end(Signal::Term)
    }

    /// Starts the server again on the same port (ending it first when it runs) and waits until it answers.
    pub async fn restart(&mut self) -> Result<()> {
        self.server.end(Signal::Term)?;
        self.start_server()?;
        self.ready().await
    }

    /// The server's log file.
    pub fn log_path(&self) -> PathBuf {
        self.server.log_path()
    }

    /// The server's folder (`data`, `log`, `tmp`).
    pub fn folder(&self) -> &Path {
        self.server.folder().path()
    }

    async fn launch(programs: Programs, folder: Folder, settings: Vec<String>) -> Result<Self> {
        let password = random_word(24);
        folder.write_secret("init.sql", &superuser_sql(&password))?;
        let mut mariadb = Self { server: Server::new(folder), programs, settings, port: 0, password };
        for _ in 0..PORT_TRIES {
            mariadb.port = free_port()?;
            mariadb.start_server()?;
            match mariadb.ready().await {
                Err(_) if mariadb.server.lost_its_port() => mariadb.server.end(Signal::Term)?,
                done => return done.map(|()| mariadb),
            }
        }
        Err(Error::new(ErrorCode::SourceUnreachable, "a private MariaDB found no free port"))
    }

    fn start_server(&mut self) -> Result<()> {
        let folder = self.server.folder();
        let mut command: Vec<OsString> = vec![self.programs.server.clone().into(), "--no-defaults".into()];
        command.push(option("datadir", &folder.join("data")));
        command.push(option("tmpdir", &temporary(folder)?));
        command.push(option("init-file", &folder.join("init.sql")));
        command.push(option("pid-file", &folder.join("mariadbd.pid")));
        command.push(format!("--port={}", self.port).into());
        command.extend(SETTINGS.iter().map(OsString::from));
        command.extend(self.programs.as_root().iter().map(OsString::from));
        command.extend(self.settings.iter().map(OsString::from));
        // Without its own folder there is nothing to lose by an immediate end.
        let signal = if folder.kept() { Signal::Term } else { Signal::Kill };
        self.server.start(&command, signal)
    }

    async fn ready(&self) -> Result<()> {
        // Only our server knows the password.
        let ask = async || Ok(self.client(None).input("SELECT 1").run().await?.trim() == "1");
        self.server.ready("a private MariaDB", ask).await
    }

    fn client(&self, database: Option<&str>) -> Tool {
        let port = self.port.to_string();
        let tool = Tool::new(&self.programs.client).args(["--no-defaults", "--batch", "--skip-column-names", "--protocol=tcp", "--connect-timeout=10"]);
        let tool = tool.args(["-h", "127.0.0.1", "-P", &port, "-u", SUPERUSER, "--default-character-set=utf8mb4", "--max-allowed-packet=256M"]);
        tool.env("MYSQL_PWD", &self.password).args(database.map(|name| format!("--database={name}")))
    }
}

/// Run by the server at each start: one superuser, reachable from the loopback with a password, and nobody else by default.
fn superuser_sql(password: &str) -> String {
    [
        "DELETE FROM mysql.global_priv WHERE User = '' OR User = 'root' AND Host <> '127.0.0.1';".to_owned(),
        "FLUSH PRIVILEGES;".into(),
        format!("CREATE OR REPLACE USER '{SUPERUSER}'@'127.0.0.1' IDENTIFIED BY '{password}';"),
        format!("GRANT ALL PRIVILEGES ON *.* TO '{SUPERUSER}'@'127.0.0.1' WITH GRANT OPTION;\n"),
    ]
    .join("\n")
}

/// Where the server keeps temporary tables: a folder of its own. At its start a MariaDB removes every `#sql…` file from this
/// folder, those of other servers too, and one that loses the file of a temporary table it is about to open crashes.
fn temporary(folder: &Folder) -> Result<PathBuf> {
    let path = folder.join("tmp");
    fs::create_dir_all(&path).map_err(|e| trouble("cannot create a folder for temporary tables", &path, &e))?;
    Ok(path)
}

fn option(name: &str, path: &Path) -> OsString {
    let mut option = OsString::from(format!("--{name}="));
    option.push(path);
    option
}

/// Where MariaDB's programs are.
#[derive(Debug, Clone)]
struct Programs {
    server: PathBuf,
    client: PathBuf,
    install: PathBuf,
    root: bool,
}

impl Programs {
    fn find() -> Result<Self> {
        let folders = ["/usr/sbin", "/usr/bin"].map(PathBuf::from);
        let server = find("mariadbd", &folders, PACKAGE)?;
        let client = find("mariadb", &folders, PACKAGE)?;
        let install = find("mariadb-install-db", &folders, PACKAGE)?;
        Ok(Self { server, client, install, root: runs_as_root()? })
    }

    /// MariaDB runs as root only when told so.
    fn as_root(&self) -> &[&str] {
        if self.root { &["--user=root"] } else { &[] }
    }

    /// Makes the data folder of a new server, from the template of this version if there is one.
    async fn make_data(&self, folder: &Folder) -> Result<()> {
        let version = Tool::new(&self.server).args(["--no-defaults", "--version"]).run().await?;
        let template = Template::named(&format!("mariadb-{}", version.split_whitespace().nth(2).unwrap_or("unknown")))?;
        if template.copy_into(folder.path()).await? {
            return Ok(());
        }
        let data = folder.join("data");
        fs::create_dir_all(&data).map_err(|e| trouble("cannot create a data folder", &data, &e))?;
        let args = ["--no-defaults", "--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve", LOG_FILE_SIZE];
        Tool::new(&self.install)
            .args(args)
            .args(self.as_root())
            .args([option("datadir", &data), option("tmpdir", &temporary(folder)?)])
            .in_folder(folder.path())
            .run()
            .await?;
        template.keep(folder.path(), &["data"]).await
    }
}
