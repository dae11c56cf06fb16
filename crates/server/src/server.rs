// SPDX-License-Identifier: Apache-2.0
//! The server: binds the listeners, runs both doors, and ends them in order.

use crate::config::{Auth, ServerConfig};
use crate::http::HttpDoor;
use crate::login::Logins;
use crate::postgres::PostgresDoor;
use crate::tls;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use weir_api::QueryService;
use weir_base::{Error, ErrorCode, Result};

/// How long sessions may take to say goodbye after their queries were cancelled.
const GOODBYE: Duration = Duration::from_secs(2);

/// Both stages of an end: first no new work, then no work at all.
#[derive(Debug, Clone, Default)]
pub struct Ending {
    /// Nothing new is taken in; idle sessions close.
    pub drain: CancellationToken,
    /// Running queries are cancelled.
    pub abort: CancellationToken,
}

/// Open listeners that nobody is served through until `run`.
pub struct Server {
    postgres: Option<(SocketAddr, PostgresDoor)>,
    http: Option<(SocketAddr, HttpDoor)>,
    ending: Ending,
    grace: Duration,
}

impl Server {
    /// Opens the listeners and reads the certificates.
    /// Errors: an open door that is not on loopback, an address in use, a bad certificate or verifier.
    pub async fn bind(config: ServerConfig, service: Arc<dyn QueryService>) -> Result<Self> {
        check_open(&config)?;
        let logins = Arc::new(Logins::new(&config.auth)?);
        let tls = config.tls.as_ref().map(tls::acceptor).transpose()?;
        let ending = Ending::default();
        let postgres = match config.postgres {
            Some(address) => {
                let (address, listener) = listen("postgres", address).await?;
                Some((address, PostgresDoor::new(listener, tls.clone(), logins.clone(), service.clone(), ending.clone())))
            }
            None => None,
        };
        let http = match config.http {
            Some(address) => {
                let (address, listener) = listen("http", address).await?;
                Some((address, HttpDoor::new(listener, tls, logins, service, ending.clone(), &config)))
            }
            None => None,
        };
        Ok(Self { postgres, http, ending, grace: config.drain })
    }

    /// The address that Postgres clients connect to.
    pub fn postgres_addr(&self) -> Option<SocketAddr> {
        self.postgres.as_ref().map(|(address, _)| *address)
    }

    /// The address that HTTP clients connect to.
    pub fn http_addr(&self) -> Option<SocketAddr> {
        self.http.as_ref().map(|(address, _)| *address)
    }

    /// Serves until `shutdown`; then takes nothing new, lets running queries finish for the grace time, and cancels the rest.
    pub async fn run(self, shutdown: CancellationToken) -> Result<()> {
        let ending = self.ending.clone();
        let grace = self.grace;
        let mut doors = tokio::task::JoinSet::new();
        if let Some((_, door)) = self.postgres {
            doors.spawn(door.run());
        }
        if let Some((_, door)) = self.http {
            doors.spawn(door.run());
        }
        let mut result = Ok(());
        tokio::select! {
            () = shutdown.cancelled() => {}
            Some(ended) = doors.join_next() => result = joined(ended),
        }
        ending.drain.cancel();
        if tokio::time::timeout(grace, join_all(&mut doors, &mut result)).await.is_err() {
            tracing::warn!(grace_ms = grace.as_millis() as u64, "ServerDrainExpired");
            ending.abort.cancel();
            if tokio::time::timeout(GOODBYE, join_all(&mut doors, &mut result)).await.is_err() {
                tracing::warn!("ServerSessionsDropped");
            }
        }
        result
    }
}

async fn join_all(doors: &mut tokio::task::JoinSet<Result<()>>, result: &mut Result<()>) {
    while let Some(ended) = doors.join_next().await {
        if let Err(error) = joined(ended) {
            *result = Err(error);
        }
    }
}

fn joined(ended: std::result::Result<Result<()>, tokio::task::JoinError>) -> Result<()> {
    ended.unwrap_or_else(|error| Err(Error::internal("a door broke").with_detail(error.to_string())))
}

fn check_open(config: &ServerConfig) -> Result<()> {
    let outside = [("postgres", config.postgres), ("http", config.http)]
        .into_iter()
        .find_map(|(door, address)| address.filter(|address| !address.ip().is_loopback()).map(|address| (door, address)));
    match (&config.auth, outside) {
        (Auth::Open, Some((door, address))) => Err(Error::new(ErrorCode::Config, "an open door must listen on loopback")
            .with_detail(format!("listen.{door} is {address} while auth.mode is open"))
            .with_hint("listen on 127.0.0.1, or set auth: { mode: scram } and add users")),
        _ => Ok(()),
    }
}

async fn listen(door: &str, address: SocketAddr) -> Result<(SocketAddr, TcpListener)> {
    let failed = |error: std::io::Error| {
        Error::new(ErrorCode::Config, format!("cannot listen for {door}"))
            .with_detail(format!("{address}: {error}"))
            .with_hint("choose another address in `listen`, or port 0 for any free one")
    };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    Ok((bound, listener))
}
