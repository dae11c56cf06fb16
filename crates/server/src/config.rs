// SPDX-License-Identifier: Apache-2.0
//! What a server needs to know before it opens its doors.

use metrics_exporter_prometheus::PrometheusHandle;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use weir_base::UserName;

/// How long running queries may go on after a shutdown was asked for.
const DRAIN_DEFAULT: Duration = Duration::from_secs(10);

/// Listeners, login and TLS of one server.
#[derive(Clone)]
pub struct ServerConfig {
    /// Where Postgres clients connect; port 0 picks a free one.
    pub postgres: Option<SocketAddr>,
    /// Where HTTP clients connect; port 0 picks a free one.
    pub http: Option<SocketAddr>,
    /// Certificate and key for both doors. On the Postgres wire TLS is offered; the HTTP door then speaks HTTPS only.
    pub tls: Option<TlsFiles>,
    pub auth: Auth,
    /// Where `/metrics` gets its text from (see `metrics::install`); without it the route answers 404.
    pub metrics: Option<PrometheusHandle>,
    /// The version that `/healthz` and the front page tell.
    pub version: String,
    /// How long running queries may go on after a shutdown was asked for, before they are cancelled.
    pub drain: Duration,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self { postgres: None, http: None, tls: None, auth: Auth::Open, metrics: None, version: env!("CARGO_PKG_VERSION").into(), drain: DRAIN_DEFAULT }
    }
}

/// PEM files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate, followed by its chain.
    pub cert: PathBuf,
    pub key: PathBuf,
}

/// Who may come in.
#[derive(Clone)]
pub enum Auth {
    /// Everybody is user `local`. Refused unless every listener is on loopback.
    Open,
    /// Named users with a secret each: SCRAM-SHA-256 on the Postgres wire, Basic on HTTP.
    Scram(BTreeMap<UserName, Secret>),
}

/// What a user proves to know.
#[derive(Clone)]
pub enum Secret {
    Password(String),
    /// `SCRAM-SHA-256$4096:<salt>$<stored key>:<server key>`, as Postgres keeps it.
    ScramVerifier(String),
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Secret(hidden)")
    }
}
