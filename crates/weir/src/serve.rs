// SPDX-License-Identifier: Apache-2.0
//! `weir serve`: opens the doors and keeps them open until told to stop.

use crate::cli::{Global, ServeArgs};
use crate::config::{self, Config, Login, Secret};
use crate::instance::Weir;
use crate::start::Outcome;
use crate::version::VERSION;
use std::collections::BTreeMap;
use std::io::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_util::sync::CancellationToken;
use weir_base::{Error, ErrorCode, Result};
use weir_catalog::DataDir;
use weir_engine::Engine;
use weir_server::{Auth, Server, ServerConfig, TlsFiles};

pub async fn run(global: &Global, args: &ServeArgs) -> Result<Outcome> {
    let config = config::load(&config::find(global.config.as_deref())?)?;
    for note in &config.notes {
        tracing::warn!("{note}");
    }
    let data_dir = DataDir::open(&config.data_dir)?;
    let signals = Signals::listen()?;
    let mut weir = Weir::open(&config, data_dir).await?;
    let server = Server::bind(server_config(&config, args)?, weir.engine.clone()).await?;
    let scheme = if config.listen.tls.is_some() { "https" } else { "http" };
    if let Some(address) = server.http_addr() {
        weir.data_dir.announce(&format!("{scheme}://{}", reachable(address)))?;
    }
    print_addresses(&server, scheme)?;
    let greeting = tokio::spawn(greet_sources(weir.engine.clone()));
    let looking = weir.engine.look_after_sources();
    let shutdown = CancellationToken::new();
    let stopping = tokio::spawn(signals.stop(shutdown.clone()));
    let served = server.run(shutdown).await;
    stopping.abort();
    greeting.abort();
    looking.abort();
    weir.close().await;
    tracing::info!("stopped");
    served.map(|()| Outcome::Done)
}

pub(crate) fn server_config(config: &Config, args: &ServeArgs) -> Result<ServerConfig> {
    Ok(ServerConfig {
        postgres: args.postgres.or(config.listen.postgres),
        http: args.http.or(config.listen.http),
        tls: config.listen.tls.clone().map(|tls| TlsFiles { cert: tls.cert, key: tls.key }),
        auth: auth(&config.login),
        metrics: Some(weir_server::metrics::install()?),
        version: VERSION.to_owned(),
        ..ServerConfig::default()
    })
}

fn auth(login: &Login) -> Auth {
    let Login::Scram(users) = login else { return Auth::Open };
    let users: BTreeMap<_, _> = users.iter().map(|user| (user.name.clone(), secret(&user.secret))).collect();
    Auth::Scram(users)
}

fn secret(secret: &Secret) -> weir_server::Secret {
    match secret {
        Secret::Password(password) => weir_server::Secret::Password(password.clone()),
        Secret::Verifier(verifier) => weir_server::Secret::ScramVerifier(verifier.clone()),
    }
}

/// An address that listens everywhere is reached from this machine over loopback.
pub(crate) fn reachable(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => SocketAddr::from((Ipv4Addr::LOCALHOST, address.port())),
        IpAddr::V6(ip) if ip.is_unspecified() => SocketAddr::from((Ipv6Addr::LOCALHOST, address.port())),
        _ => address,
    }
}

/// One line on standard output, for people and for scripts that wait for it.
fn print_addresses(server: &Server, scheme: &str) -> Result<()> {
    let postgres = server.postgres_addr().map(|address| format!("postgres://{address}"));
    let http = server.http_addr().map(|address| format!("{scheme}://{address}"));
    let doors: Vec<String> = postgres.into_iter().chain(http).collect();
    let line = if doors.is_empty() { "no door is open".to_owned() } else { doors.join("  ") };
    let mut out = std::io::stdout();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(crate::output::write_failed)
}

/// Asks every source for its tables, so that the first question need not wait; one that does not answer is a warning.
async fn greet_sources(engine: Arc<Engine>) {
    let greetings = engine.places().sources().into_iter().map(|handle| {
        let handle = handle.clone();
        async move {
            match handle.catalog().await {
                Ok(catalog) => tracing::info!(source = %handle.name(), tables = catalog.tables().len(), "SourceDiscovered"),
                Err(error) if error.code() == ErrorCode::Forbidden => tracing::warn!(source = %handle.name(), %error, "SourceRefused"),
                Err(error) => tracing::warn!(source = %handle.name(), %error, "SourceUnreachable"),
            }
        }
    });
    futures::future::join_all(greetings).await;
}

struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Listens from now on, so that a signal during the start is not lost.
    fn listen() -> Result<Self> {
        let failed = |error: std::io::Error| Error::internal("signals cannot be heard").with_detail(error.to_string());
        Ok(Self { terminate: signal(SignalKind::terminate()).map_err(failed)?, interrupt: signal(SignalKind::interrupt()).map_err(failed)? })
    }

    /// The first one asks the server to drain; the second one ends the process.
    async fn stop(mut self, shutdown: CancellationToken) {
        self.next().await;
        tracing::info!("stopping: running queries may finish; a second signal ends at once");
        shutdown.cancel();
        self.next().await;
        tracing::warn!("ended at once by a second signal");
        std::process::exit(1);
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
