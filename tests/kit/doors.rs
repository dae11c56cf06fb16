// SPDX-License-Identifier: Apache-2.0
//! The doors of a world on free ports, and real clients that come through them.

use super::World;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use weir_base::UserName;
use weir_server::{Auth, Secret, Server, ServerConfig};

/// How long a client program may take.
const CLIENT_TIME_MAX: Duration = Duration::from_secs(120);

/// Open doors; dropping them ends the server.
pub struct Doors {
    pub postgres: SocketAddr,
    pub http: SocketAddr,
    shutdown: CancellationToken,
    running: JoinHandle<weir_base::Result<()>>,
}

/// What a client program did.
pub struct Finished {
    pub success: bool,
    /// What it printed, errors in between.
    pub output: String,
}

impl Doors {
    /// Everybody is user `local`.
    pub async fn open(world: &World) -> Self {
        Self::with(world, Auth::Open).await
    }

    /// Users who prove a password that is their name.
    pub async fn for_users(world: &World, users: &[&str]) -> Self {
        let users: BTreeMap<UserName, Secret> = users.iter().map(|user| (UserName::new(*user), Secret::Password((*user).into()))).collect();
        Self::with(world, Auth::Scram(users)).await
    }

    async fn with(world: &World, auth: Auth) -> Self {
        let free = Some(SocketAddr::from(([127, 0, 0, 1], 0)));
        let config = ServerConfig { postgres: free, http: free, auth, ..ServerConfig::default() };
        let server = Server::bind(config, world.engine.clone()).await.expect("open doors");
        let (postgres, http) = (server.postgres_addr().expect("a Postgres door"), server.http_addr().expect("an HTTP door"));
        let shutdown = CancellationToken::new();
        let running = tokio::spawn(server.run(shutdown.clone()));
        Self { postgres, http, shutdown, running }
    }

    /// What psql prints for a script, as user `local` in database `weir`. It must succeed.
    pub async fn psql(&self, script: &str) -> String {
        let finished = self.psql_in("weir", &[], script).await;
        assert!(finished.success, "{script}\n{}", finished.output);
        finished.output
    }

    pub async fn psql_in(&self, database: &str, arguments: &[&str], script: &str) -> Finished {
        self.psql_as("local", database, arguments, script).await
    }

    pub async fn psql_as(&self, user: &str, database: &str, arguments: &[&str], script: &str) -> Finished {
        run(self.psql_command(user, database, arguments), script).await
    }

    /// psql with a user's name for a password, errors in its output.
    pub fn psql_command(&self, user: &str, database: &str, arguments: &[&str]) -> Command {
        let port = self.postgres.port().to_string();
        let mut command = Command::new("sh");
        command.args(["-c", "exec psql \"$@\" 2>&1", "psql", "-X", "-q", "-h", "127.0.0.1", "-p", &port, "-U", user, "-d", database]).args(arguments);
        command.env("PGPASSWORD", user).env("PGTZ", "UTC").env("LC_ALL", "C.UTF-8").env_remove("PGSERVICE");
        command
    }

    /// Runs a program of `wire/clients` that takes the Postgres port and `arguments`. Python by the project's environment, Java by its source file.
    pub async fn client(&self, program: &str, arguments: &[&str]) -> String {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("wire/clients").join(program);
        let mut command = if program.ends_with(".java") { java() } else { Command::new(python()) };
        command.arg(file).arg(self.postgres.port().to_string()).args(arguments).env("PYTHONUNBUFFERED", "1");
        let finished = run(command, "").await;
        assert!(finished.success, "{program}\n{}", finished.output);
        finished.output
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.http)
    }
}

impl Drop for Doors {
    fn drop(&mut self) {
        self.shutdown.cancel();
        self.running.abort();
    }
}

fn java() -> Command {
    let jar = "/usr/share/java/postgresql.jar";
    assert!(Path::new(jar).exists(), "the JDBC driver is missing: run `make setup`");
    let mut command = Command::new("java");
    command.args(["-Duser.timezone=UTC", "-cp", jar]);
    command
}

fn python() -> PathBuf {
    weir_sandbox::venv().expect("the project's Python environment").join("bin/python")
}

/// Runs a program to its end.
pub async fn run(mut command: Command, input: &str) -> Finished {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn().expect("the client program is installed (make setup)");
    let mut stdin = child.stdin.take().expect("a standard input");
    // A client that fails at once reads nothing; its output then tells why.
    let _ = stdin.write_all(input.as_bytes()).await;
    drop(stdin);
    let output = tokio::time::timeout(CLIENT_TIME_MAX, child.wait_with_output()).await.expect("the client ends in time").expect("its output");
    let text = [output.stdout, output.stderr].concat();
    Finished { success: output.status.success(), output: String::from_utf8(text).expect("UTF-8 output") }
}
