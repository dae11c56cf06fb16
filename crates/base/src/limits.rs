// SPDX-License-Identifier: Apache-2.0
//! A limit on everything, in one file, with the relations between them asserted at compile time. Units stand last.

/// Longest SQL text taken from a client.
pub const SQL_TEXT_BYTES_MAX: usize = 1024 * 1024;
/// Deepest nesting of expressions and subqueries that is planned.
pub const SQL_DEPTH_MAX: usize = 200;
/// Deepest nesting of subqueries in expressions: the query engine checks each of them twice per level, so that a level doubles the work.
pub const SUBQUERY_DEPTH_MAX: usize = 16;
/// Longest chain of operators, joins or set operations: each is a level of the tree, and trees are walked by recursion on
/// stacks of 2 MiB.
pub const SQL_CHAIN_MAX: usize = 500;
/// Most columns in one table or one result. PostgreSQL stops at 1,664 in a result; wide exports need more.
pub const COLUMNS_MAX: usize = 16_384;
/// Most parameters in one statement (the wire protocol counts them in 16 bits).
pub const PARAMETERS_MAX: usize = 65_535;
/// Dates or timestamps that one series makes.
pub const SERIES_MOMENTS_MAX: usize = 1_000_000;
/// Most sources in one configuration.
pub const SOURCES_MAX: usize = 1_000;
/// Most tables that one source may list.
pub const TABLES_PER_SOURCE_MAX: usize = 100_000;

/// Rows in a batch that a connector hands over, at the most.
pub const BATCH_ROWS_MAX: usize = 8_192;
/// Bytes in a batch that a connector hands over: a batch is closed when it has grown past this.
pub const BATCH_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Batches that wait between a source and the engine; more would be buffering, fewer would stall.
pub const BATCHES_IN_FLIGHT_MAX: usize = 4;

/// Longest request body on HTTP.
pub const HTTP_BODY_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Longest message on the Postgres wire.
pub const WIRE_MESSAGE_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Open client sessions of one server.
pub const SESSIONS_MAX: usize = 2_000;
/// Prepared statements and portals that one session may hold.
pub const PORTALS_PER_SESSION_MAX: usize = 1_000;

/// Receipts that a server remembers for `system.receipts`.
pub const RECEIPTS_KEPT_MAX: usize = 1_000;
/// Queries that the log keeps before the oldest go.
pub const QUERY_LOG_ROWS_MAX: usize = 200_000;
/// Forecasts that are remembered for one source, by the text of the statement.
pub const FORECASTS_KEPT_MAX: usize = 1_000;
/// How long a question waits for a source's forecast before it runs without one.
pub const FORECAST_WAIT_MS_MAX: u64 = 1_000;
/// How long a question waits for what a source has counted in its tables before it is planned without.
pub const STATISTICS_WAIT_MS_MAX: u64 = 500;
/// Keys that a join sends to the source of its other side; more are looked up here.
pub const KEYS_MAX: usize = 500_000;
/// Bytes of such keys, for each partition of the join.
pub const KEY_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Nearest names offered when a name is unknown.
pub const SUGGESTIONS_MAX: usize = 3;

/// How long a source's list of tables is believed.
pub const DISCOVERY_TTL_MS: u64 = 60_000;
/// How long a connection attempt to a source may take.
pub const CONNECT_TIMEOUT_MS: u64 = 5_000;
/// How long a cancelled statement may keep its connection before the connection is dropped.
pub const CANCEL_GRACE_MS: u64 = 2_000;
/// How long a source's session is kept without use.
pub const IDLE_SESSION_MS_MAX: u64 = 60_000;
/// A session that was idle for longer is asked whether it still works before it is used again.
pub const IDLE_CHECK_AFTER_MS: u64 = 5_000;

const _: () = assert!(SQL_TEXT_BYTES_MAX < HTTP_BODY_BYTES_MAX);
const _: () = assert!(SQL_TEXT_BYTES_MAX < WIRE_MESSAGE_BYTES_MAX);
const _: () = assert!(BATCHES_IN_FLIGHT_MAX >= 2);
const _: () = assert!(CANCEL_GRACE_MS < CONNECT_TIMEOUT_MS);
const _: () = assert!(IDLE_CHECK_AFTER_MS < IDLE_SESSION_MS_MAX);
const _: () = assert!(BATCH_BYTES_MAX * BATCHES_IN_FLIGHT_MAX <= 64 * 1024 * 1024);
