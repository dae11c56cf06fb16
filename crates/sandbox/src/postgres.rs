// SPDX-License-Identifier: Apache-2.0
//! A private PostgreSQL server, and streaming replicas of it.

use crate::account::Account;
use crate::folder::{Folder, random_word, trouble};
use crate::port::free_port;
use crate::program::{Tool, find};
use crate::server::{Server, Signal};
use crate::template::Template;
use crate::url::url;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::Instant;
use weir_base::{Error, ErrorCode, Result};

const SUPERUSER: &str = "postgres";
const PASSWORD_FILE: &str = "password";
const PACKAGE: &str = "postgresql";
const PORT_TRIES: usize = 5;
const REPLAY_WITHIN: Duration = Duration::from_secs(60);

/// Quick to start and to fill, and able to feed replicas and change capture. Durable against a killed process, not against
/// a crash of the machine: nothing here is worth keeping then.
const SETTINGS: &[(&str, &str)] = &[
    ("listen_addresses", "127.0.0.1"),
    ("unix_socket_directories", ""),
    ("fsync", "off"),
    ("full_page_writes", "off"),
    ("wal_level", "logical"),
    ("max_wal_senders", "10"),
    ("max_replication_slots", "10"),
    ("wal_keep_size", "256MB"),
    ("hot_standby", "on"),
    ("password_encryption", "scram-sha-256"),
    ("logging_collector", "off"),
    ("log_line_prefix", "%m [%p] %q%u@%d "),
];

/// How a PostgreSQL server is to be started, where the defaults do not do.
#[derive(Debug, Default, Clone)]
pub struct PostgresOptions {
    settings: Vec<(String, String)>,
    folder: Option<PathBuf>,
    tls: Option<(String, String)>,
}

impl PostgresOptions {
    /// One server setting, as in `postgresql.conf`.
    pub fn setting(mut self, name: &str, value: &str) -> Self {
        self.settings.push((name.into(), value.into()));
        self
    }

    /// Keeps the data in this folder: it stays after the end, and a later start finds the same data and password.
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
    pub async fn start(self) -> Result<Postgres> {
        let programs = Programs::find()?;
        let folder = Folder::open("postgres", self.folder.as_deref())?;
        let fresh = !folder.join("data/PG_VERSION").exists();
        if fresh {
            programs.make_data(&folder).await?;
        }
        let mut settings = self.settings;
        if let Some((certificate, key)) = &self.tls {
            settings.extend(programs.write_tls(&folder, certificate, key)?);
        }
        let password = read_secret(&folder)?;
        let mut postgres = Postgres::launch(programs, folder, settings, password).await?;
        if fresh {
            postgres.change_password().await?;
        }
        Ok(postgres)
    }
}

/// A running private PostgreSQL. Dropping it ends the server and removes its folder.
#[derive(Debug)]
pub struct Postgres {
    server: Server,
    programs: Programs,
    settings: Vec<(String, String)>,
    port: u16,
    password: String,
    /// The server's `cluster_name`: shows that it is ours that answers on the port.
    token: String,
}

impl Postgres {
    /// A fresh server in a temporary folder on a free loopback port.
    pub async fn start() -> Result<Self> {
        PostgresOptions::default().start().await
    }

    pub fn options() -> PostgresOptions {
        PostgresOptions::default()
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// The superuser's name (its password is random).
    pub fn user(&self) -> &str {
        SUPERUSER
    }

    pub fn password(&self) -> &str {
        &self.password
    }

    /// The psql of the server's own version.
    pub fn psql_program(&self) -> PathBuf {
        self.programs.path("psql")
    }

    /// The superuser's URL of a database, password included.
    pub fn url(&self, database: &str) -> String {
        self.url_as(SUPERUSER, &self.password, database)
    }

    pub fn url_as(&self, user: &str, password: &str, database: &str) -> String {
        url("postgres", user, password, self.port, database)
    }

    /// Runs a script as superuser with psql (statement by statement, so also `VACUUM` and `COPY … FROM stdin`), and stops
    /// at the first error. Creates the database when it is missing.
    pub async fn run(&self, database: &str, script: &str) -> Result<()> {
        self.create_database(database).await?;
        self.psql(database).input(script).run().await?;
        Ok(())
    }

    /// Runs statements as superuser and gives the rows as text: fields parted by tabs, rows by newlines, NULL is empty.
    pub async fn query(&self, database: &str, sql: &str) -> Result<String> {
        let text = self.psql(database).input(sql).run().await?;
        Ok(text.trim_end_matches('\n').to_owned())
    }

    /// Creates a database unless it is there.
    pub async fn create_database(&self, name: &str) -> Result<()> {
        // psql itself quotes `:'name'` and `:"name"`.
        let script = "SELECT count(*) FROM pg_database WHERE datname = :'name'";
        let variable = format!("name={name}");
        let found = self.psql(SUPERUSER).args(["-v", &variable]).input(script).run().await?;
        if found.trim() == "0" {
            self.psql(SUPERUSER).args(["-v", &variable]).input("CREATE DATABASE :\"name\"").run().await?;
        }
        Ok(())
    }

    /// A streaming standby of this server in a temporary folder, which has replayed everything written so far.
    pub async fn replica(&self) -> Result<Postgres> {
        let folder = Folder::open("postgres-replica", None)?;
        let data = self.programs.empty_data(&folder)?;
        let port = self.port.to_string();
        let args = ["-h", "127.0.0.1", "-p", &port, "-U", SUPERUSER, "-w", "-R", "-X", "stream", "-c", "fast", "-D"];
        let copy = self.programs.tool("pg_basebackup", &folder).args(args).args([&data]).env("PGPASSWORD", &self.password);
        copy.run().await?;
        folder.write_secret(PASSWORD_FILE, &self.password)?;
        let replica = Self::launch(self.programs.clone(), folder, self.settings.clone(), self.password.clone()).await?;
        self.wait_for(&replica).await?;
        Ok(replica)
    }

    /// Waits until `replica` has replayed everything this server has written so far.
    pub async fn wait_for(&self, replica: &Postgres) -> Result<()> {
        let written = self.query(SUPERUSER, "SELECT pg_current_wal_flush_lsn()").await?;
        let deadline = Instant::now() + REPLAY_WITHIN;
        while !replica.replayed(&written).await? {
            if Instant::now() > deadline {
                let detail = format!("the end of its log:\n{}", replica.server.log_tail());
                return Err(Error::new(ErrorCode::NotFreshEnough, "a private replica does not follow").with_detail(detail));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    async fn replayed(&self, position: &str) -> Result<bool> {
        let variable = format!("position={position}");
        let script = "SELECT coalesce(pg_last_wal_replay_lsn() >= :'position'::pg_lsn, false)";
        Ok(self.psql(SUPERUSER).args(["-v", &variable]).input(script).run().await?.trim() == "t")
    }

    /// Kills the server and all its sessions at once, as a crash would. The data stays; `restart` brings it back.
    pub fn stop_hard(&mut self) -> Result<()> {
        self.server.kill()
    }

    /// A fast shutdown: sessions are cut with a proper message. The data stays; `restart` brings it back.
    pub fn stop(&mut self) -> Result<()> {
        self.server.end(Signal::Int)
    }

    /// Starts the server again on the same port (ending it first when it runs) and waits until it answers.
    pub async fn restart(&mut self) -> Result<()> {
        self.server.end(Signal::Int)?;
        self.start_server()?;
        self.ready().await
    }

    /// The server's log file.
    pub fn log_path(&self) -> PathBuf {
        self.server.log_path()
    }

    /// The server's folder (`data`, `log`).
    pub fn folder(&self) -> &Path {
        self.server.folder().path()
    }

    async fn launch(programs: Programs, folder: Folder, settings: Vec<(String, String)>, password: String) -> Result<Self> {
        let server = Server::new(folder);
        let token = format!("weir-{}", random_word(12));
        let mut postgres = Self { server, programs, settings, port: 0, password, token };
        for _ in 0..PORT_TRIES {
            postgres.port = free_port()?;
            postgres.start_server()?;
            match postgres.ready().await {
                Err(_) if postgres.server.lost_its_port() => postgres.server.end(Signal::Int)?,
                done => return done.map(|()| postgres),
            }
        }
        Err(Error::new(ErrorCode::SourceUnreachable, "a private PostgreSQL found no free port"))
    }

    fn start_server(&mut self) -> Result<()> {
        let mut command = self.programs.account.prefix();
        command.push(self.programs.path("postgres").into());
        command.push("-D".into());
        command.push(self.server.folder().join("data").into());
        let own = [("port", self.port.to_string()), ("cluster_name", self.token.clone())];
        let fixed = SETTINGS.iter().map(|(name, value)| (*name, (*value).to_owned()));
        let asked = self.settings.iter().map(|(name, value)| (name.as_str(), value.clone()));
        for (name, value) in fixed.chain(own).chain(asked) {
            command.push("-c".into());
            command.push(OsString::from(format!("{name}={value}")));
        }
        // Without its own folder there is nothing to lose by an immediate end.
        let signal = if self.server.folder().kept() { Signal::Int } else { Signal::Quit };
        self.server.start(&command, signal)
    }

    async fn ready(&self) -> Result<()> {
        let ask = async || Ok(self.query(SUPERUSER, "SELECT current_setting('cluster_name')").await? == self.token);
        self.server.ready("a private PostgreSQL", ask).await
    }

    /// The template's password is the same for all servers of this machine; each gets one of its own.
    async fn change_password(&mut self) -> Result<()> {
        let password = random_word(24);
        self.query(SUPERUSER, &format!("ALTER ROLE {SUPERUSER} PASSWORD '{password}'")).await?;
        self.server.folder().write_secret(PASSWORD_FILE, &password)?;
        self.password = password;
        Ok(())
    }

    fn psql(&self, database: &str) -> Tool {
        let port = self.port.to_string();
        let tool = Tool::new(&self.programs.path("psql")).args(["-X", "-q", "-A", "-t", "-w", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-f", "-"]);
        let tool = tool.args(["-h", "127.0.0.1", "-p", &port, "-U", SUPERUSER]).env("PGDATABASE", database);
        tool.env("PGPASSWORD", &self.password).env("PGCONNECT_TIMEOUT", "10").env("PGAPPNAME", "weir-sandbox")
    }
}

fn read_secret(folder: &Folder) -> Result<String> {
    let path = folder.join(PASSWORD_FILE);
    fs::read_to_string(&path).map_err(|e| trouble("cannot read a server's password", &path, &e))
}

/// Where PostgreSQL's programs are, and who may run them.
#[derive(Debug, Clone)]
struct Programs {
    folder: PathBuf,
    account: Account,
}

impl Programs {
    fn find() -> Result<Self> {
        let initdb = find("initdb", &debian_folders(), PACKAGE)?;
        let folder = initdb.parent().map(Path::to_path_buf).unwrap_or_default();
        find("pg_basebackup", std::slice::from_ref(&folder), PACKAGE)?;
        Ok(Self { folder, account: Account::for_postgres()? })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    fn tool(&self, name: &str, folder: &Folder) -> Tool {
        Tool::as_account(self.account, &self.path(name)).in_folder(folder.path())
    }

    /// Makes the data folder of a new cluster, from the template of this version if there is one.
    async fn make_data(&self, folder: &Folder) -> Result<()> {
        let version = Tool::new(&self.path("postgres")).args(["-V"]).run().await?;
        let template = Template::named(&format!("{}-{:?}", version.trim(), self.account))?;
        if template.copy_into(folder.path()).await? {
            return Ok(());
        }
        let data = self.empty_data(folder)?;
        let password_file = folder.write_secret(PASSWORD_FILE, &random_word(24))?;
        // initdb reads the password as the server's account.
        self.account.own(&password_file)?;
        let args = ["-U", SUPERUSER, "-A", "scram-sha-256", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync", "--no-instructions"];
        let initdb = self.tool("initdb", folder).args(args).args([Path::new("--pwfile"), &password_file, Path::new("-D"), &data]);
        initdb.run().await?;
        template.keep(folder.path(), &["data", PASSWORD_FILE]).await
    }

    fn empty_data(&self, folder: &Folder) -> Result<PathBuf> {
        let data = folder.join("data");
        fs::DirBuilder::new().mode(0o700).recursive(true).create(&data).map_err(|e| trouble("cannot create a data folder", &data, &e))?;
        self.account.own(&data)?;
        Ok(data)
    }

    /// Writes the certificate and the key where only the server reads them; gives the settings that name them.
    fn write_tls(&self, folder: &Folder, certificate: &str, key: &str) -> Result<[(String, String); 3]> {
        let certificate = folder.write_secret("server.crt", certificate)?;
        let key = folder.write_secret("server.key", key)?;
        self.account.own(&certificate)?;
        self.account.own(&key)?;
        let setting = |name: &str, value: &Path| (name.to_owned(), value.display().to_string());
        Ok([("ssl".into(), "on".into()), setting("ssl_cert_file", &certificate), setting("ssl_key_file", &key)])
    }
}

/// Debian keeps the server's programs out of PATH, by version; the newest first.
fn debian_folders() -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir("/usr/lib/postgresql") else { return Vec::new() };
    let mut versions: Vec<u32> = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect();
    versions.sort_unstable_by(|a, b| b.cmp(a));
    versions.iter().map(|version| PathBuf::from(format!("/usr/lib/postgresql/{version}/bin"))).collect()
}
