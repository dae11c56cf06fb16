// SPDX-License-Identifier: Apache-2.0
//! The check beside a running server: the server's own sessions are all that a source allows, so the server is asked what it sees.

use super::finding::Finding;
use crate::cli::Global;
use crate::client::Client;
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::compute::{cast, concat_batches};
use arrow::datatypes::{DataType, Int64Type};
use futures::TryStreamExt;
use std::collections::BTreeMap;
use weir_api::Query;
use weir_base::{Error, ErrorCode, Result, Span};
use weir_source::{Health, ServerRole};

const SOURCES: &str = "SELECT source, state, version, role, account, clock_skew_ms, lag_ms, tables, note FROM system.sources";
const DEGRADED: &str = "SELECT source, concat(schema, '.', \"table\", '.', \"column\", ': ', degraded) AS why
    FROM system.columns WHERE degraded IS NOT NULL ORDER BY 1, 2";

/// One finding for each source of the file. Errors: those of a client that asks the server.
pub(super) async fn ask(global: &Global) -> Result<Vec<Finding>> {
    let client = Client::open(global).await?;
    let place = client.server.clone().unwrap_or_default();
    eprintln!(
        "note: the server{} holds all sessions that the sources allow, so it was asked; what weir.yaml says since it started is not looked at",
        spaced(&place)
    );
    let looked = look(&client, &place).await;
    client.close().await;
    looked
}

fn spaced(place: &str) -> String {
    if place.is_empty() { String::new() } else { format!(" at {place}") }
}

async fn look(client: &Client, place: &str) -> Result<Vec<Finding>> {
    let sources = rows(client, SOURCES).await?;
    let mut degraded: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for row in rows(client, DEGRADED).await? {
        degraded.entry(row.text("source").unwrap_or_default()).or_default().extend(row.text("why"));
    }
    let of = |spec: &weir_source::SourceSpec| {
        let name = spec.name.to_string();
        let found = sources.iter().find(|row| row.text("source").as_ref() == Some(&name));
        let finding = Finding {
            kind: weir_source::CONNECTORS.iter().find(|kind| kind.word == spec.kind).map_or("", |kind| kind.word),
            degraded: degraded.remove(&name).unwrap_or_default(),
            lag_max: spec.limits.replica_lag_max.map(Span),
            ..Finding::of(name.clone())
        };
        match found {
            Some(row) => told(finding, row),
            None => Finding { failure: Some(not_shown(&name, place, client)), ..finding },
        }
    };
    Ok(client.config.sources.iter().map(of).collect())
}

/// It may be new in the file, or not for the eyes of this user.
fn not_shown(source: &str, place: &str, client: &Client) -> Error {
    Error::new(ErrorCode::NotFound, format!("the server{} does not show source {source} to user {}", spaced(place), client.session.user))
        .with_hint("ask as a user who may read it; for a source that is new in weir.yaml, check while the server is stopped, or restart it")
}

/// What the server says of a source, as if it had been looked at from here.
fn told(finding: Finding, row: &Row) -> Finding {
    let note = row.text("note");
    match row.text("state").as_deref() {
        Some("reachable") => {}
        state => {
            let code = match state {
                Some("refused") => ErrorCode::Forbidden,
                Some("login refused") => ErrorCode::LoginRefused,
                _ => ErrorCode::SourceUnreachable,
            };
            return Finding { failure: Some(Error::new(code, note.unwrap_or_else(|| "the server cannot use it".into()))), ..finding };
        }
    }
    let health = row.text("version").map(|version| Health {
        version,
        role: match row.text("role").as_deref() {
            Some("primary") => ServerRole::Primary,
            Some("replica") => ServerRole::Replica,
            _ => ServerRole::NotApplicable,
        },
        account_writes: row.text("account").map(|account| account == "can write"),
        account_note: None,
        clock_skew_ms: row.number("clock_skew_ms").unwrap_or_default(),
        replica_lag_ms: row.number("lag_ms"),
        latency_ms: 0.0,
    });
    let tables = row.number("tables").and_then(|count| usize::try_from(count).ok());
    let unknown =
        health.is_none().then(|| Error::new(ErrorCode::SourceUnreachable, note.clone().unwrap_or_else(|| "the server does not know how it is".into())));
    Finding { health, tables, warnings: note.into_iter().collect(), failure: unknown, ..finding }
}

/// One row of an answer.
struct Row {
    batch: RecordBatch,
    at: usize,
}

impl Row {
    fn text(&self, column: &str) -> Option<String> {
        let texts = cast(self.batch.column_by_name(column)?, &DataType::Utf8).ok()?;
        let texts = texts.as_string::<i32>();
        (!texts.is_null(self.at)).then(|| texts.value(self.at).to_owned())
    }

    fn number(&self, column: &str) -> Option<i64> {
        let numbers = cast(self.batch.column_by_name(column)?, &DataType::Int64).ok()?;
        let numbers = numbers.as_primitive::<Int64Type>();
        (!numbers.is_null(self.at)).then(|| numbers.value(self.at))
    }
}

async fn rows(client: &Client, sql: &str) -> Result<Vec<Row>> {
    let mut answer = client.service.run(&client.session, Query::new(sql)).await?;
    let schema = answer.schema().clone();
    let batches: Vec<RecordBatch> = answer.batches().try_collect().await?;
    let batch =
        concat_batches(&schema, &batches).map_err(|error| Error::internal("an answer of the server does not hold together").with_detail(error.to_string()))?;
    Ok((0..batch.num_rows()).map(|at| Row { batch: batch.clone(), at }).collect())
}
