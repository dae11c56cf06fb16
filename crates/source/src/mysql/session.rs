// SPDX-License-Identifier: Apache-2.0
//! One session in a server: opened, set up for careful reading, and spoken to in text or in prepared statements.

use super::address::Address;
use super::failure::{Failure, ServerError};
use super::login::log_in;
use super::wire::{Reader, Wire};
use std::time::{Duration, Instant};
use tokio::net::TcpStream;
use tokio::time::timeout;
use weir_base::limits::{CANCEL_GRACE_MS, CONNECT_TIMEOUT_MS};
use weir_base::{Error, ErrorCode, Result, SourceName};

const QUIT: u8 = 0x01;
const QUERY: u8 = 0x03;
const PREPARE: u8 = 0x16;
const EXECUTE: u8 = 0x17;
const CLOSE_STATEMENT: u8 = 0x19;
/// "The statement prepared last": lets MariaDB take prepare and execute in one breath.
const LAST_PREPARED: u32 = u32::MAX;

/// Whose server it is; the two differ in a few words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Product {
    MariaDb,
    MySql,
}

impl Product {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::MariaDb => "MariaDB",
            Self::MySql => "MySQL",
        }
    }
}

/// An open session.
#[derive(Debug)]
pub(super) struct Session {
    wire: Wire,
    pub(super) id: u64,
    pub(super) product: Product,
    pub(super) version: String,
    /// When and as what the server was last asked about its role.
    pub(super) role: Option<(Instant, super::role::Role)>,
}

/// All of a small result, as text.
#[derive(Debug)]
pub(super) struct TextResult {
    pub(super) names: Vec<String>,
    pub(super) rows: Vec<Vec<Option<String>>>,
}

/// What the server says about a column of a running result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WireColumn {
    pub(super) kind: u8,
    pub(super) unsigned: bool,
}

impl Session {
    /// Connects, logs in, and sets the session up. Bounded by the connect timeout as a whole.
    pub(super) async fn open(source: &SourceName, address: &Address, statement_timeout: Duration) -> Result<Self> {
        let opening = async {
            let stream = TcpStream::connect((address.host.as_str(), address.port)).await?;
            stream.set_nodelay(true)?;
            let mut wire = Wire::new(stream);
            let greeting = log_in(&mut wire, address).await?;
            let product = if greeting.version.contains("MariaDB") { Product::MariaDb } else { Product::MySql };
            let mut session = Self { wire, id: 0, product, version: greeting.version, role: None };
            session.set_up(statement_timeout).await?;
            Ok(session)
        };
        match timeout(Duration::from_millis(CONNECT_TIMEOUT_MS), opening).await {
            Ok(Ok(session)) => Ok(session),
            Ok(Err(failure)) => Err(Failure::at_connect(failure, source, address)),
            Err(_) => Err(Error::new(ErrorCode::SourceUnreachable, format!("cannot reach source {source}"))
                .with_detail(format!("{}: no answer within {CONNECT_TIMEOUT_MS} ms", address.place()))
                .with_hint("check that the server runs, and the network between")),
        }
    }

    async fn set_up(&mut self, statement_timeout: Duration) -> Result<(), Failure> {
        self.query(&set_up_sql(self.product, statement_timeout)).await?;
        let answer = self.query("SELECT CONNECTION_ID()").await?;
        let id = answer.rows.first().and_then(|row| row.first()?.as_deref()?.parse().ok());
        self.id = id.ok_or(Failure::Protocol("the server does not tell its connection id"))?;
        Ok(())
    }

    /// Bytes that have arrived since the connection was opened.
    pub(super) fn bytes_read(&self) -> u64 {
        self.wire.bytes_read()
    }

    pub(super) fn wire(&mut self) -> &mut Wire {
        &mut self.wire
    }

    /// Whether the session can be used again: nothing has arrived since its last answer.
    pub(super) fn quiet(&mut self) -> bool {
        self.wire.shrink();
        self.wire.quiet()
    }

    /// One small query, and all of its answer.
    pub(super) async fn query(&mut self, sql: &str) -> Result<TextResult, Failure> {
        self.send_query(sql);
        self.wire.flush().await?;
        self.read_result().await
    }

    /// Adds a query without sending it yet.
    pub(super) fn send_query(&mut self, sql: &str) {
        self.wire.command(QUERY, sql.as_bytes());
    }

    pub(super) async fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.wire.flush().await?)
    }

    /// Reads a whole answer in text.
    pub(super) async fn read_result(&mut self) -> Result<TextResult, Failure> {
        let names = self.read_heads().await?.into_iter().map(|(name, _)| name).collect();
        let mut result = TextResult { names, rows: Vec::new() };
        if result.names.is_empty() {
            return Ok(result);
        }
        loop {
            let packet = self.wire.packet().await?;
            match packet.first() {
                Some(0xFF) => return Err(Failure::Server(ServerError::parse(packet))),
                Some(0xFE) if packet.len() < 9 => return Ok(result),
                _ => result.rows.push(text_row(packet, result.names.len())?),
            }
        }
    }

    /// Starts a statement whose answer comes in the binary protocol, and reads as far as its column heads.
    /// `before` are queries whose answers are wanted first; they travel along where the server allows it.
    pub(super) async fn begin(&mut self, before: &[&str], sql: &str) -> Result<(Vec<TextResult>, Vec<WireColumn>), Failure> {
        let together = self.product == Product::MariaDb;
        let mut answers = Vec::with_capacity(before.len());
        for query in before {
            self.send_query(query);
            if !together {
                self.flush().await?;
                answers.push(self.read_result().await?);
            }
        }
        self.wire.command(PREPARE, sql.as_bytes());
        if together {
            self.execute(LAST_PREPARED);
        }
        self.flush().await?;
        while answers.len() < before.len() {
            answers.push(self.read_result().await?);
        }
        let statement = self.read_prepared().await?;
        if !together {
            self.execute(statement);
            self.flush().await?;
        }
        let heads = self.read_heads().await?;
        // The statement is only needed once: let the server forget it as soon as the answer is out.
        self.wire.command(CLOSE_STATEMENT, &statement.to_le_bytes());
        Ok((answers, heads.into_iter().map(|(_, column)| column).collect()))
    }

    fn execute(&mut self, statement: u32) {
        let mut body = statement.to_le_bytes().to_vec();
        body.push(0); // no cursor: rows stream
        body.extend_from_slice(&1u32.to_le_bytes());
        self.wire.command(EXECUTE, &body);
    }

    async fn read_prepared(&mut self) -> Result<u32, Failure> {
        let packet = self.wire.packet().await?;
        if packet.first() == Some(&0xFF) {
            return Err(Failure::Server(ServerError::parse(packet)));
        }
        let mut rest = Reader(packet);
        rest.byte()?;
        let (statement, columns, parameters) = (rest.u32()?, rest.u16()?, rest.u16()?);
        if parameters > 0 {
            return Err(Failure::Protocol("the statement has parameters"));
        }
        if columns > 0 {
            for _ in 0..=columns {
                self.wire.packet().await?;
            }
        }
        Ok(statement)
    }

    /// Reads the column heads of an answer; none when it has no rows at all.
    async fn read_heads(&mut self) -> Result<Vec<(String, WireColumn)>, Failure> {
        let packet = self.wire.packet().await?;
        let count = match packet.first() {
            Some(0xFF) => return Err(Failure::Server(ServerError::parse(packet))),
            Some(0xFB) => return Err(Failure::Protocol("the server asks for a local file")),
            Some(0x00) | None => return Ok(Vec::new()),
            Some(_) => Reader(packet).length()?,
        };
        let mut heads = Vec::with_capacity(count.min(weir_base::limits::COLUMNS_MAX));
        for _ in 0..count {
            heads.push(head(self.wire.packet().await?)?);
        }
        self.wire.packet().await?; // the end of the heads
        Ok(heads)
    }

    /// Says goodbye and waits until the server has closed, so that the session is gone there when this returns; a server
    /// that does not close in time is left to find out for itself.
    pub(super) async fn quit(mut self) {
        let leaving = async {
            self.wire.command(QUIT, &[]);
            self.wire.flush().await?;
            loop {
                while self.wire.buffered()?.is_some() {}
                self.wire.fill().await?;
            }
        };
        let ended: Result<Result<(), Failure>, _> = timeout(Duration::from_millis(CANCEL_GRACE_MS), leaving).await;
        if ended.is_err() {
            tracing::warn!(session = self.id, "mysql session did not close in time");
        }
    }
}

/// Everything that makes a session careful: nothing is written, times are UTC, texts are UTF-8, nothing runs or idles forever.
fn set_up_sql(product: Product, statement_timeout: Duration) -> String {
    // The server's own time-outs come after ours, so that they only catch what we have lost.
    let net_seconds = statement_timeout.as_secs() + 60;
    let lock_seconds = statement_timeout.as_secs().max(1);
    let statement_timeout = statement_timeout.max(Duration::from_millis(1));
    let own = match product {
        Product::MariaDb => format!("tx_read_only = 1, max_statement_time = {:.3}", statement_timeout.as_secs_f64()),
        Product::MySql => format!("transaction_read_only = 1, max_execution_time = {}", statement_timeout.as_millis()),
    };
    format!(
        "SET SESSION {own}, autocommit = 1, time_zone = '+00:00', \
         sql_mode = 'NO_BACKSLASH_ESCAPES,ANSI_QUOTES,PIPES_AS_CONCAT,STRICT_TRANS_TABLES', \
         character_set_client = utf8mb4, character_set_connection = utf8mb4, character_set_results = utf8mb4, \
         sql_auto_is_null = 0, max_sort_length = 1024, sql_select_limit = DEFAULT, sql_big_selects = 1, \
         lock_wait_timeout = {lock_seconds}, wait_timeout = 600, net_write_timeout = {net_seconds}, net_read_timeout = {net_seconds}"
    )
}

fn head(packet: &[u8]) -> Result<(String, WireColumn), Failure> {
    let mut rest = Reader(packet);
    for _ in 0..4 {
        rest.sized()?; // catalog, schema, table, original table
    }
    let name = String::from_utf8_lossy(rest.sized()?).into_owned();
    rest.sized()?; // original name
    rest.length()?;
    rest.take(6)?; // character set, length
    let kind = rest.byte()?;
    let flags = rest.u16()?;
    Ok((name, WireColumn { kind, unsigned: flags & 32 != 0 }))
}

fn text_row(packet: &[u8], count: usize) -> Result<Vec<Option<String>>, Failure> {
    let mut rest = Reader(packet);
    let mut row = Vec::with_capacity(count);
    for _ in 0..count {
        if rest.0.first() == Some(&0xFB) {
            rest.byte()?;
            row.push(None);
        } else {
            row.push(Some(String::from_utf8_lossy(rest.sized()?).into_owned()));
        }
    }
    Ok(row)
}
