// SPDX-License-Identifier: Apache-2.0
//! One session in a server: opened, made read-only and harmless, asked for its clock, cancelled, ended.

use super::address::{Address, Endpoint};
use super::failure;
use super::socket::{self, Socket, Tally};
use std::future::poll_fn;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::JoinHandle;
use tokio_postgres::tls::NoTlsStream;
use tokio_postgres::{CancelToken, Client, Connection, NoTls, Statement};
use tokio_postgres_rustls::MakeRustlsConnect;
use weir_base::limits::CANCEL_GRACE_MS;
use weir_base::{AsOf, AsOfMethod, Error, ErrorCode, QueryId, Result, SourceName, Timestamp, UserName};

/// What kind of server answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavour {
    /// PostgreSQL itself, new enough for everything we use.
    Postgres,
    /// Something that speaks the protocol: no binary COPY, no catalogs of PostgreSQL, no settings that can be relied on.
    Compatible,
}

/// How sessions of one source are opened.
pub struct Opener {
    pub source: SourceName,
    pub address: Address,
    pub tls: Option<MakeRustlsConnect>,
    pub statement_timeout: Duration,
    /// From the option `server`; `None` is found out from the server's version.
    pub flavour: Option<Flavour>,
}

/// A session that is ready for statements.
pub struct Session {
    pub client: Client,
    pub tally: Arc<Tally>,
    pub flavour: Flavour,
    /// Whether a range of a table's pages is read without reading the others, as since PostgreSQL 14.
    pub reads_ranges: bool,
    /// As `version()` says.
    pub version: String,
    /// Whether the server orders texts by their UTF-8 bytes under `COLLATE "C"`.
    pub utf8: bool,
    /// `None` where the server has no such notion.
    pub in_recovery: Option<bool>,
    endpoint: Endpoint,
    preamble: Statement,
    cancel: CancelToken,
    connection: JoinHandle<()>,
    pub idle_since: Instant,
}

/// What the preamble of a statement told.
#[derive(Debug, Clone, Copy)]
pub struct Preamble {
    pub in_recovery: Option<bool>,
    pub as_of: Option<AsOf>,
    /// The source's clock.
    pub now: Timestamp,
}

/// Made once per session; sets the application name and asserts read-only again, so that nothing that ran before can have changed it.
/// A replica that has replayed all it received, and still receives, is as fresh as its own clock; else the last replayed transaction,
/// or before any the checkpoint it started from, says how old it is.
const PREAMBLE: &str = "SELECT pg_is_in_recovery(), \
    (extract(epoch FROM clock_timestamp()) * 1000000)::int8, \
    (extract(epoch FROM CASE \
        WHEN NOT pg_is_in_recovery() THEN clock_timestamp() \
        WHEN pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn() AND EXISTS (SELECT 1 FROM pg_catalog.pg_stat_wal_receiver) THEN clock_timestamp() \
        ELSE coalesce(pg_last_xact_replay_timestamp(), (SELECT checkpoint_time FROM pg_control_checkpoint())) \
    END) * 1000000)::int8, \
    set_config('application_name', $1, false), set_config('default_transaction_read_only', 'on', false)";

/// For servers that lack some of those functions.
const PREAMBLE_SHORT: &str = "SELECT pg_is_in_recovery(), \
    (extract(epoch FROM clock_timestamp()) * 1000000)::int8, \
    (extract(epoch FROM CASE WHEN pg_is_in_recovery() THEN pg_last_xact_replay_timestamp() ELSE clock_timestamp() END) * 1000000)::int8, \
    set_config('application_name', $1, false), set_config('default_transaction_read_only', 'on', false)";

/// For servers that are not PostgreSQL.
const PREAMBLE_PLAIN: &str = "SELECT NULL::bool, (extract(epoch FROM current_timestamp) * 1000000)::int8, \
    (extract(epoch FROM current_timestamp) * 1000000)::int8, $1::text, ''";

impl Opener {
    /// Opens a session at the first place that will have us. `place` counts it against the cap until the server has hung up.
    /// Errors: 08001 unreachable or login refused, 42501 a primary where that is not allowed, 53300 no place at the server.
    pub async fn open(&self, place: OwnedSemaphorePermit, tally: Arc<Tally>, primary_allowed: bool) -> Result<Session> {
        let place = Arc::new(place);
        let mut refusal = None;
        for endpoint in self.address.endpoints() {
            let opening = self.open_at(&endpoint, place.clone(), tally.clone());
            let opened = tokio::time::timeout(self.address.connect_timeout, opening).await;
            let opened = opened.unwrap_or_else(|_| Err(failure::unreachable(&self.source, &endpoint, "no answer in time")));
            match opened {
                Ok(session) if primary_allowed || session.in_recovery != Some(false) => return Ok(session),
                Ok(session) => {
                    session.end().await;
                    refusal = Some(primary_refused(&self.source, &endpoint));
                }
                Err(error) => refusal = refusal.or(Some(error)),
            }
        }
        Err(refusal.unwrap_or_else(|| Error::internal("source without an address")))
    }

    async fn open_at(&self, endpoint: &Endpoint, place: Arc<OwnedSemaphorePermit>, tally: Arc<Tally>) -> Result<Session> {
        let failed = |error: tokio_postgres::Error| failure::of_connecting(&self.source, endpoint, self.address.user(), &error);
        let (client, parameters, connection) = self.handshake(endpoint, place, &tally).await?;
        let version_of = async { client.query_one("SELECT version()", &[]).await?.try_get::<_, String>(0) };
        let settings = self.settings();
        let (settled, version) = tokio::join!(client.batch_execute(&settings), version_of);
        let version = version.map_err(failed)?;
        let flavour = self.flavour.unwrap_or_else(|| flavour_of(&version, &parameters));
        match settled {
            Err(error) if flavour == Flavour::Postgres => return Err(failed(error)),
            Err(_) => self.settle_one_by_one(&client).await,
            Ok(()) => {}
        }
        let (preamble, first) = self.prepare_preamble(&client).await.map_err(failed)?;
        if flavour == Flavour::Postgres && parameters.major >= 14 {
            self.watch_client(&client).await;
        }
        let cancel = client.cancel_token();
        Ok(Session {
            tally,
            flavour,
            reads_ranges: flavour == Flavour::Postgres && parameters.major >= 14,
            version,
            utf8: parameters.utf8,
            in_recovery: first.in_recovery,
            endpoint: endpoint.clone(),
            preamble,
            cancel,
            connection,
            client,
            idle_since: Instant::now(),
        })
    }

    async fn handshake(&self, endpoint: &Endpoint, place: Arc<OwnedSemaphorePermit>, tally: &Arc<Tally>) -> Result<(Client, Parameters, JoinHandle<()>)> {
        let failed = |error: tokio_postgres::Error| failure::of_connecting(&self.source, endpoint, self.address.user(), &error);
        let socket = self.socket(endpoint, tally).await?;
        let Some(tls) = self.tls_for(endpoint) else {
            return plain(&self.address.config, socket, place).await.map_err(failed);
        };
        let connector = tls_connector(tls, endpoint).map_err(|cause| failure::unreachable(&self.source, endpoint, &cause))?;
        match self.address.config.connect_raw(socket, connector).await {
            Ok((client, connection)) => {
                let parameters = Parameters::of(&connection);
                Ok((client, parameters, tokio::spawn(drive(connection, place))))
            }
            // libpq: `prefer` goes on without TLS when the handshake fails, and only then.
            Err(error) if self.address.ssl_mode == super::address::SslMode::Prefer && error.as_db_error().is_none() => {
                let mut config = self.address.config.clone();
                config.ssl_mode(tokio_postgres::config::SslMode::Disable);
                plain(&config, self.socket(endpoint, tally).await?, place).await.map_err(failed)
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// Unix sockets never carry TLS.
    fn tls_for(&self, endpoint: &Endpoint) -> Option<&MakeRustlsConnect> {
        self.tls.as_ref().filter(|_| matches!(endpoint, Endpoint::Tcp { .. }))
    }

    async fn socket(&self, endpoint: &Endpoint, tally: &Arc<Tally>) -> Result<Socket> {
        let opened: io::Result<Socket> = socket::open(endpoint, tally.clone()).await;
        opened.map_err(|error| failure::unreachable(&self.source, endpoint, &error.to_string()))
    }

    /// Read-only, UTC, bounded in time, and printing values in the one way that we read.
    fn settings(&self) -> String {
        self.setting_list().iter().map(|(name, value)| format!("SET {name} = '{value}'; ")).collect()
    }

    fn setting_list(&self) -> [(&'static str, String); 10] {
        let timeout_ms = self.statement_timeout.as_millis().clamp(1, i32::MAX as u128).to_string();
        [
            ("default_transaction_read_only", "on".to_owned()),
            ("statement_timeout", timeout_ms),
            ("idle_in_transaction_session_timeout", "10000".to_owned()),
            ("timezone", "UTC".to_owned()),
            ("datestyle", "ISO, MDY".to_owned()),
            ("intervalstyle", "postgres".to_owned()),
            ("extra_float_digits", "1".to_owned()),
            ("bytea_output", "hex".to_owned()),
            ("standard_conforming_strings", "on".to_owned()),
            ("client_encoding", "UTF8".to_owned()),
        ]
    }

    /// A server that is not PostgreSQL may know some of the settings only. Each statement is wrapped read-only there.
    async fn settle_one_by_one(&self, client: &Client) {
        for (name, value) in self.setting_list() {
            if let Err(error) = client.batch_execute(&format!("SET {name} = '{value}'")).await {
                tracing::debug!(source = %self.source, setting = name, sqlstate = error.code().map(|code| code.code()), "setting refused by a compatible server");
            }
        }
    }

    /// Lets the server notice by itself that we are gone while it computes. Not every platform can.
    async fn watch_client(&self, client: &Client) {
        if let Err(error) = client.batch_execute("SET client_connection_check_interval = '1s'").await {
            tracing::debug!(source = %self.source, sqlstate = error.code().map(|code| code.code()), "server cannot watch its client");
        }
    }

    async fn prepare_preamble(&self, client: &Client) -> std::result::Result<(Statement, Preamble), tokio_postgres::Error> {
        for sql in [PREAMBLE, PREAMBLE_SHORT] {
            match try_preamble(client, sql).await {
                Ok(made) => return Ok(made),
                Err(error) if failure::connection_lost(&error) => return Err(error),
                Err(error) => tracing::debug!(source = %self.source, sqlstate = error.code().map(|code| code.code()), "server lacks functions of the preamble"),
            }
        }
        try_preamble(client, PREAMBLE_PLAIN).await
    }

    /// Asks the server to end what the session is running. Best effort, bounded in time; the caller watches the session itself.
    async fn cancel(&self, token: &CancelToken, endpoint: &Endpoint) -> io::Result<()> {
        let stream = socket::open(endpoint, Arc::default()).await?;
        let sent = match self.tls_for(endpoint) {
            Some(tls) => {
                let connector = tls_connector(tls, endpoint).map_err(io::Error::other)?;
                token.cancel_query_raw(stream, connector).await
            }
            None => token.cancel_query_raw(stream, NoTls).await,
        };
        sent.map_err(io::Error::other)
    }

    /// As `cancel`, logging what goes wrong.
    pub async fn cancel_session(&self, session: &Session) {
        let grace = Duration::from_millis(CANCEL_GRACE_MS);
        match tokio::time::timeout(grace, self.cancel(&session.cancel, &session.endpoint)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(source = %self.source, %error, "cancel request failed"),
            Err(_) => tracing::warn!(source = %self.source, "cancel request timed out"),
        }
    }
}

impl Session {
    /// Sets the application name, and asks for role and clock.
    pub async fn preamble(&self, application_name: &str) -> std::result::Result<Preamble, tokio_postgres::Error> {
        preamble(&self.client, &self.preamble, application_name).await
    }

    /// Ends the session and waits until the server has hung up, at most the grace.
    pub async fn end(self) {
        let Self { client, mut connection, .. } = self;
        drop(client);
        let grace = Duration::from_millis(CANCEL_GRACE_MS);
        if tokio::time::timeout(grace, &mut connection).await.is_err() {
            connection.abort();
            tracing::debug!("server did not hang up in time");
        }
    }
}

/// `weir/<user>/<query id>` within the 63 bytes that PostgreSQL keeps.
pub fn application_name(user: &UserName, query_id: &QueryId) -> String {
    let query_id = query_id.to_string();
    let room = 63 - "weir//".len() - query_id.len();
    let user: String = tame(user.as_str()).chars().take(room).collect();
    format!("weir/{user}/{query_id}")
}

/// `/* weir user=… query=… */ `: nothing in it can end the comment.
pub fn comment(user: &UserName, query_id: &QueryId) -> String {
    format!("/* weir user={} query={query_id} */ ", tame(user.as_str()))
}

fn tame(name: &str) -> String {
    name.chars().take(64).map(|c| if c.is_ascii_alphanumeric() || "._@-".contains(c) { c } else { '_' }).collect()
}

/// What the server announced at login.
#[derive(Debug, Clone, Copy)]
struct Parameters {
    major: u32,
    utf8: bool,
}

impl Parameters {
    fn of<S: AsyncRead + AsyncWrite + Unpin, T: AsyncRead + AsyncWrite + Unpin>(connection: &Connection<S, T>) -> Self {
        let version = connection.parameter("server_version").unwrap_or_default();
        let digits: String = version.chars().take_while(char::is_ascii_digit).collect();
        let encoding = connection.parameter("server_encoding").unwrap_or("UTF8");
        Self { major: digits.parse().unwrap_or(0), utf8: ["UTF8", "SQL_ASCII", "LATIN1"].contains(&encoding) }
    }
}

fn flavour_of(version: &str, parameters: &Parameters) -> Flavour {
    let genuine = version.starts_with("PostgreSQL ") && !version.contains("Redshift");
    if genuine && parameters.major >= 12 { Flavour::Postgres } else { Flavour::Compatible }
}

async fn plain(
    config: &tokio_postgres::Config,
    socket: Socket,
    place: Arc<OwnedSemaphorePermit>,
) -> std::result::Result<(Client, Parameters, JoinHandle<()>), tokio_postgres::Error> {
    let mut config = config.clone();
    config.ssl_mode(tokio_postgres::config::SslMode::Disable);
    let (client, connection): (Client, Connection<Socket, NoTlsStream>) = config.connect_raw(socket, NoTls).await?;
    let parameters = Parameters::of(&connection);
    Ok((client, parameters, tokio::spawn(drive(connection, place))))
}

type TlsConnector = <MakeRustlsConnect as tokio_postgres::tls::MakeTlsConnect<Socket>>::TlsConnect;

fn tls_connector(tls: &MakeRustlsConnect, endpoint: &Endpoint) -> std::result::Result<TlsConnector, String> {
    let host = match endpoint {
        Endpoint::Tcp { host, .. } => host.as_str(),
        Endpoint::Unix(_) => "localhost",
    };
    let mut make = tls.clone();
    tokio_postgres::tls::MakeTlsConnect::<Socket>::make_tls_connect(&mut make, host).map_err(|error| error.to_string())
}

/// Moves the bytes of a session until it ends. Notices are dropped: their text may carry data.
async fn drive<S, T>(mut connection: Connection<S, T>, place: Arc<OwnedSemaphorePermit>)
where
    S: AsyncRead + AsyncWrite + Unpin,
    T: AsyncRead + AsyncWrite + Unpin,
{
    while let Some(message) = poll_fn(|cx| connection.poll_message(cx)).await {
        if let Err(error) = message {
            tracing::debug!(sqlstate = error.code().map(|code| code.code()), "session of a source ended");
            break;
        }
    }
    drop(connection);
    drop(place);
}

async fn try_preamble(client: &Client, sql: &str) -> std::result::Result<(Statement, Preamble), tokio_postgres::Error> {
    let statement = client.prepare(sql).await?;
    let first = preamble(client, &statement, "weir").await?;
    Ok((statement, first))
}

async fn preamble(client: &Client, statement: &Statement, application_name: &str) -> std::result::Result<Preamble, tokio_postgres::Error> {
    let row = client.query_one(statement, &[&application_name]).await?;
    let in_recovery: Option<bool> = row.try_get(0)?;
    let at = |micros: i64| Timestamp::from_micros(micros);
    let as_of: Option<i64> = row.try_get(2)?;
    let method = if in_recovery == Some(true) { AsOfMethod::ReplicaReplay } else { AsOfMethod::Clock };
    Ok(Preamble { in_recovery, now: at(row.try_get(1)?), as_of: as_of.map(|micros| AsOf::new(at(micros), method)) })
}

pub fn primary_refused(source: &SourceName, endpoint: &Endpoint) -> Error {
    Error::new(ErrorCode::Forbidden, format!("source {source} is a primary"))
        .with_detail(format!("{endpoint} is not in recovery, so it takes writes"))
        .with_hint(format!("point the url of {source} at a replica, or set `allow_primary: true` for it"))
}

impl Session {
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_comments_cannot_break_out() {
        let query_id = QueryId::fresh();
        let text = comment(&UserName::new("ana */ drop table x; --"), &query_id);
        assert_eq!(text, format!("/* weir user=ana____drop_table_x__-- query={query_id} */ "));
        let name = application_name(&UserName::new("a".repeat(100)), &query_id);
        assert_eq!(name.len(), 63);
        assert!(name.ends_with(&query_id.to_string()));
    }

    #[test]
    fn a_redshift_is_no_postgres() {
        let parameters = |major| Parameters { major, utf8: true };
        let redshift = "PostgreSQL 8.0.2 on i686-pc-linux-gnu, compiled by GCC gcc (GCC) 3.4.2, Redshift 1.0.62614";
        assert_eq!(flavour_of(redshift, &parameters(8)), Flavour::Compatible);
        assert_eq!(flavour_of("CockroachDB CCL v25.1.0", &parameters(13)), Flavour::Compatible);
        assert_eq!(flavour_of("PostgreSQL 15.18 (Debian 15.18-0+deb12u1)", &parameters(15)), Flavour::Postgres);
    }
}
