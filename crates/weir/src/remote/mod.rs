// SPDX-License-Identifier: Apache-2.0
//! The server that holds the data directory, as a `QueryService`: commands ask it over HTTP and print the same.

mod answer;
mod assignment;
mod exchange;

use crate::statements::cut;
use answer::AnswerReader;
use arrow::datatypes::{DataType, Schema};
use assignment::Assignment;
use async_trait::async_trait;
use exchange::Exchange;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use weir_api::{Ages, Answer, AnswerKind, Parameter, PlanReport, Prepared, Query, QueryService, QueryStatus, Readiness, Receipt, Session, Settings};
use weir_base::{AsOf, AsOfMethod, Clock, Error, ErrorCode, QueryId, Result, SystemClock, UserName};

/// How long names for completion are believed.
const NAMES_TTL: Duration = Duration::from_secs(30);

/// A service at the other end of an HTTP connection.
pub struct RemoteService {
    exchange: Arc<Exchange>,
    names: Mutex<Option<(Instant, Vec<String>)>>,
}

impl RemoteService {
    /// `certificate` is the server's own, to be trusted. Opens no connection. Errors: a certificate that is none.
    pub fn new(url: &str, user: &UserName, password: Option<String>, certificate: Option<&Path>) -> Result<Self> {
        Ok(Self { exchange: Arc::new(Exchange::new(url, user, password, certificate)?), names: Mutex::default() })
    }

    async fn fresh_names(&self, session: &Arc<Session>) -> Result<Vec<String>> {
        let body = body(session, &Query::new("SELECT name FROM system.tables ORDER BY name"))?;
        let answer = self.exchange.post("/v1/query", &body).await?;
        let rows = answer["rows"].as_array().cloned().unwrap_or_default();
        Ok(rows.iter().filter_map(|row| row[0].as_str().map(str::to_owned)).collect())
    }

    fn known_names(&self) -> Option<Vec<String>> {
        let known = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().filter(|(at, _)| at.elapsed() < NAMES_TTL).map(|(_, names)| names.clone())
    }
}

#[async_trait]
impl QueryService for RemoteService {
    /// The server cuts with a parser; here it is enough to know where statements end.
    fn split(&self, sql: &str) -> Result<Vec<String>> {
        let cut = cut(sql);
        Ok(cut.complete.into_iter().chain(Some(cut.rest).filter(|rest| !rest.is_empty())).collect())
    }

    async fn prepare(&self, _: &Arc<Session>, _: &str, _: &[Option<DataType>]) -> Result<Prepared> {
        Err(Error::new(ErrorCode::Unsupported, "statements cannot be prepared over HTTP").with_hint("connect over the Postgres wire"))
    }

    /// Each request is a session of its own over there, so settings are kept here and sent along.
    async fn run(&self, session: &Arc<Session>, query: Query) -> Result<Answer> {
        if let Some(assignment) = Assignment::read(&query.sql) {
            let tag = assignment.apply(session)?;
            return Ok(local_command(session, query.id, tag));
        }
        let body = body(session, &query)?;
        AnswerReader::begin(self.exchange.clone(), query.id, &body).await
    }

    async fn plan(&self, session: &Arc<Session>, query: Query) -> Result<PlanReport> {
        let report = self.exchange.post("/v1/plan", &body(session, &query)?).await?;
        serde_json::from_value(report).map_err(|error| exchange::garbled(&error.to_string()))
    }

    async fn cancel(&self, _: &Arc<Session>, id: QueryId) -> Result<bool> {
        let told = self.exchange.delete(&format!("/v1/queries/{id}")).await?;
        Ok(told["cancelled"].as_bool().unwrap_or(false))
    }

    async fn status(&self, _: &Arc<Session>, id: QueryId) -> Result<QueryStatus> {
        let status = self.exchange.get(&format!("/v1/queries/{id}")).await?;
        serde_json::from_value(status).map_err(|error| exchange::garbled(&error.to_string()))
    }

    async fn readiness(&self) -> Readiness {
        match self.exchange.get("/readyz").await {
            Ok(readiness) => serde_json::from_value(readiness).unwrap_or(Readiness { ready: true, unreachable: Vec::new() }),
            Err(_) => Readiness { ready: false, unreachable: Vec::new() },
        }
    }

    async fn may_see_metrics(&self, _: &UserName) -> Result<()> {
        Err(Error::new(ErrorCode::Unsupported, "metrics are told by the server itself").with_hint("ask it for /metrics"))
    }

    async fn complete(&self, session: &Arc<Session>, prefix: &str) -> Vec<String> {
        let names = match self.known_names() {
            Some(names) => names,
            None => {
                // A server that cannot tell its names now is asked again with the next Tab.
                let Ok(names) = self.fresh_names(session).await else { return Vec::new() };
                *self.names.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), names.clone()));
                names
            }
        };
        let word = prefix.rsplit(|c: char| c.is_whitespace() || "(),;=<>".contains(c)).next().unwrap_or_default().to_lowercase();
        names.into_iter().filter(|name| name.to_lowercase().starts_with(&word)).collect()
    }
}

/// The request for one statement with the settings that are not as a new session has them.
fn body(session: &Session, query: &Query) -> Result<Value> {
    let params = query.params.iter().map(parameter).collect::<Result<Vec<Value>>>()?;
    let fresh = Settings::default().all();
    let changed = session.settings().all().into_iter().filter(|setting| !fresh.contains(setting));
    let settings: serde_json::Map<String, Value> = changed.map(|setting| (setting.name, Value::String(setting.value))).collect();
    Ok(json!({ "sql": query.sql, "params": params, "settings": settings, "query_id": query.id.to_string() }))
}

fn parameter(given: &Parameter) -> Result<Value> {
    Ok(match given {
        Parameter::Null => Value::Null,
        Parameter::Bool(value) => (*value).into(),
        Parameter::Int(value) => (*value).into(),
        Parameter::Float(value) => (*value).into(),
        Parameter::Decimal(text) | Parameter::Text(text) | Parameter::IntervalText(text) => text.as_str().into(),
        Parameter::Array { items, .. } => items.iter().map(parameter).collect::<Result<Vec<Value>>>()?.into(),
        _ => return Err(Error::new(ErrorCode::Unsupported, "a parameter of this type cannot be sent over HTTP")),
    })
}

fn local_command(session: &Session, id: QueryId, tag: &str) -> Answer {
    let now = SystemClock.now();
    let receipt = empty_receipt(id, &session.user);
    let nothing = Box::pin(futures::stream::empty());
    let ages = Ages::new(AsOf::new(now, AsOfMethod::Clock));
    Answer::new(id, AnswerKind::Command(tag.to_owned()), Arc::new(Schema::empty()), nothing, ages, Box::new(move || receipt.clone()))
}

/// Of an answer that read nothing, or whose receipt could not be had.
fn empty_receipt(id: QueryId, user: &UserName) -> Receipt {
    Receipt {
        query_id: id,
        user: user.clone(),
        as_of: SystemClock.now(),
        skew_ms: 0,
        tables: Vec::new(),
        sources: Vec::new(),
        definitions: Vec::new(),
        keys: None,
        policies: Vec::new(),
        elapsed_ms: 0.0,
        cache: "none".to_owned(),
    }
}
