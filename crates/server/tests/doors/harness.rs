// SPDX-License-Identifier: Apache-2.0
//! Opens doors on free ports in front of the canned service, and runs outside clients against them.

use crate::canned::Canned;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use weir_base::UserName;
use weir_server::{Auth, Secret, Server, ServerConfig, TlsFiles};

pub struct Doors {
    pub canned: Canned,
    pub postgres: SocketAddr,
    pub http: SocketAddr,
    pub shutdown: CancellationToken,
    pub running: JoinHandle<weir_base::Result<()>>,
}

pub fn free_port() -> Option<SocketAddr> {
    Some(SocketAddr::from(([127, 0, 0, 1], 0)))
}

pub fn users() -> Auth {
    // The verifier is of the password `pencil`, computed outside of Weir.
    let verifier = "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=";
    Auth::Scram(BTreeMap::from([(UserName::new("ana"), Secret::Password("s3cret pä§".into())), (UserName::new("bo"), Secret::ScramVerifier(verifier.into()))]))
}

impl Doors {
    pub async fn open() -> Self {
        Self::with(ServerConfig::default()).await
    }

    pub async fn with(config: ServerConfig) -> Self {
        let canned = Canned::new();
        let config = ServerConfig { postgres: free_port(), http: free_port(), ..config };
        let server = Server::bind(config, Arc::new(canned.clone())).await.unwrap();
        let (postgres, http) = (server.postgres_addr().unwrap(), server.http_addr().unwrap());
        let shutdown = CancellationToken::new();
        let running = tokio::spawn(server.run(shutdown.clone()));
        Self { canned, postgres, http, shutdown, running }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.http)
    }

    /// A session of tokio-postgres without a login.
    pub async fn connect(&self) -> tokio_postgres::Client {
        self.connect_with("user=ana dbname=lake").await
    }

    pub async fn connect_with(&self, options: &str) -> tokio_postgres::Client {
        let options = format!("host=127.0.0.1 port={} {options}", self.postgres.port());
        let (client, connection) = tokio_postgres::connect(&options, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }

    /// Runs psql on a script and gives what it printed, output and errors together in order.
    pub async fn psql(&self, script: &str) -> String {
        let finished = self.psql_as("ana", "", &[], script).await;
        assert!(finished.success, "psql failed: {}", finished.output);
        finished.output
    }

    pub async fn psql_as(&self, user: &str, password: &str, arguments: &[&str], script: &str) -> Finished {
        let port = self.postgres.port().to_string();
        let mut command = Command::new("sh");
        command.args(["-c", "exec psql \"$@\" 2>&1", "psql", "-X", "-q", "-h", "127.0.0.1", "-p", &port, "-U", user]);
        command.args(arguments).env("PGPASSWORD", password).env("PGTZ", "UTC").env("LC_ALL", "C.UTF-8").env_remove("PGSERVICE");
        if !arguments.iter().any(|argument| argument.contains("sslmode")) {
            command.args(["-d", "lake"]);
        }
        run(command, script).await
    }
}

impl Drop for Doors {
    fn drop(&mut self) {
        self.shutdown.cancel();
        self.running.abort();
    }
}

pub struct Finished {
    pub success: bool,
    pub output: String,
}

/// Runs a program to its end, at most a minute.
pub async fn run(mut command: Command, input: &str) -> Finished {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().expect("the client program is installed (make setup)");
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).await.unwrap();
    drop(stdin);
    let output = tokio::time::timeout(Duration::from_secs(60), child.wait_with_output()).await.expect("the client ends within a minute").unwrap();
    let text = [output.stdout, output.stderr].concat();
    Finished { success: output.status.success(), output: String::from_utf8(text).unwrap() }
}

/// A self-signed certificate for localhost. Keep the folder as long as the files are needed.
pub fn certificate() -> (tempfile::TempDir, TlsFiles) {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    let files = TlsFiles { cert: folder.path().join("cert.pem"), key: folder.path().join("key.pem") };
    std::fs::write(&files.cert, made.cert.pem()).unwrap();
    std::fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
    (folder, files)
}

/// The Python of the project's own environment.
pub fn python() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(|| Some(Path::new(&std::env::var_os("HOME")?).join(".cache")));
    let python = cache.unwrap_or_default().join("weir/venv/bin/python");
    assert!(python.exists(), "the project's Python environment is missing: run `make setup`");
    python
}

pub fn client_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/doors/clients").join(name)
}

impl Doors {
    /// For clients that take a URL.
    pub fn psql_url(&self) -> String {
        format!("postgres://ana@127.0.0.1:{}/lake", self.postgres.port())
    }
}
