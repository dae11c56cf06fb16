// SPDX-License-Identifier: Apache-2.0
//! `POST /v1/query` and `POST /v1/plan`: a statement in JSON, its answer as a stream.

use crate::http::Door;
use crate::http::encoder::{Encoder, Shape, as_json};
use crate::http::problem::Problem;
use crate::metrics::OpenQuery;
use crate::server::Ending;
use arrow::array::RecordBatch;
use arrow::datatypes::DataType;
use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::rejection::BytesRejection;
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::{FutureExt, StreamExt, stream};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use weir_api::{Answer, AnswerKind, Parameter, Query, Session};
use weir_base::limits::{HTTP_BODY_BYTES_MAX, SQL_TEXT_BYTES_MAX};
use weir_base::{Error, ErrorCode, QueryId, Result, UserName};

/// Answers are sent in pieces of about this size.
const CHUNK_BYTES: usize = 64 * 1024;
/// How long the end of a broken answer may take to leave before the connection is broken off.
const LAST_WORDS: Duration = Duration::from_millis(50);
const QUERY_ID: &str = "weir-query-id";

/// What a client sends.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Question {
    sql: String,
    #[serde(default)]
    params: Vec<Value>,
    #[serde(default)]
    settings: BTreeMap<String, Value>,
    /// Chosen by the client, so that it can cancel before the answer begins.
    #[serde(default)]
    query_id: Option<String>,
    /// Where names with fewer than three parts are looked up.
    #[serde(default)]
    database: Option<String>,
}

type RawBody = std::result::Result<Bytes, BytesRejection>;

/// Runs one statement. The status is decided when the first batch is there, so that most errors have their own.
pub async fn query(
    State(door): State<Arc<Door>>,
    Extension(user): Extension<UserName>,
    headers: HeaderMap,
    body: RawBody,
) -> std::result::Result<Response, Problem> {
    let shape = Shape::negotiate(&headers)?;
    let (session, query) = asked(&door, user, &headers, body).await?;
    let id = query.id;
    let mut measure = OpenQuery::begin(weir_api::Door::Http);
    let begun = begin(&door, &session, query).await.inspect_err(|error| measure.failed(error.code().sqlstate()));
    let (answer, first) = begun.map_err(|error| Problem::from(error).about(id))?;
    let timezone = session.settings().timezone.clone();
    let response = match answer.kind() {
        AnswerKind::Command(tag) => {
            measure.succeeded();
            command_response(&answer, tag)
        }
        AnswerKind::Rows => rows_response(answer, first, shape, &timezone, measure, door.ending.clone()),
    };
    response.map_err(|error| Problem::from(error).about(id))
}

/// The plan in words, without running anything.
pub async fn plan(
    State(door): State<Arc<Door>>,
    Extension(user): Extension<UserName>,
    headers: HeaderMap,
    body: RawBody,
) -> std::result::Result<Response, Problem> {
    let (session, query) = asked(&door, user, &headers, body).await?;
    let id = query.id;
    let report = unless_aborted(&door.ending, door.service.plan(&session, query)).await;
    Ok(Json(report.map_err(|error| Problem::from(error).about(id))?).into_response())
}

async fn asked(door: &Door, user: UserName, headers: &HeaderMap, body: RawBody) -> std::result::Result<(Arc<Session>, Query), Problem> {
    let question = question(headers, body)?;
    let database = match question.database {
        Some(asked) => Some(door.service.database(&user, &asked).await?),
        None => None,
    };
    let session = Session::new(user, weir_api::Door::Http, database);
    for (name, value) in question.settings {
        session.settings().set(&name, &setting(&name, &value)?)?;
    }
    if question.sql.len() > SQL_TEXT_BYTES_MAX {
        let error = Error::new(ErrorCode::LimitExceeded, "statement is too long")
            .with_detail(format!("{} bytes; at most {SQL_TEXT_BYTES_MAX} are taken", question.sql.len()));
        return Err(error.into());
    }
    let mut statements = door.service.split(&question.sql)?;
    let (Some(sql), true) = (statements.pop(), statements.is_empty()) else {
        return Err(Error::new(ErrorCode::Syntax, "expected exactly one statement").with_hint("send one statement per request").into());
    };
    let params = question.params.into_iter().enumerate().map(|(index, value)| parameter(index + 1, value)).collect::<std::result::Result<_, Problem>>()?;
    let id = match question.query_id {
        Some(text) => text.parse().map_err(|_| Problem::bad_request("query_id is not a UUID"))?,
        None => QueryId::fresh(),
    };
    Ok((session, Query { id, sql, params }))
}

fn question(headers: &HeaderMap, body: RawBody) -> std::result::Result<Question, Problem> {
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !media_type.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json") {
        let error = Error::new(ErrorCode::Protocol, "the body must be JSON").with_hint("send Content-Type: application/json");
        return Err(Problem::with_status(StatusCode::UNSUPPORTED_MEDIA_TYPE, error));
    }
    let body = body.map_err(|rejection| match rejection.status() {
        StatusCode::PAYLOAD_TOO_LARGE => Problem::from(
            Error::new(ErrorCode::LimitExceeded, "request body is too long").with_detail(format!("at most {HTTP_BODY_BYTES_MAX} bytes are taken")),
        ),
        status => Problem::with_status(status, Error::new(ErrorCode::Protocol, "request body could not be read")),
    })?;
    serde_json::from_slice(&body).map_err(|error| unreadable(&error))
}

/// The parser's own words name keys and places, never values.
fn unreadable(error: &serde_json::Error) -> Problem {
    let place = format!("line {}, column {}", error.line(), error.column());
    let words = error.to_string();
    let named = ["unknown field", "missing field", "duplicate field"].iter().any(|start| words.starts_with(start));
    let problem = Problem::bad_request(if error.is_data() { "the JSON is not a question" } else { "the body is not JSON" });
    problem
        .with_detail(if named { words } else { place })
        .with_hint("send {\"sql\": \"…\", \"params\": […], \"settings\": {…}, \"query_id\": \"…\", \"database\": \"…\"}; all but sql are optional")
}

fn setting(name: &str, value: &Value) -> std::result::Result<String, Problem> {
    match value {
        Value::String(text) => Ok(text.clone()),
        Value::Bool(on) => Ok(if *on { "on".into() } else { "off".into() }),
        Value::Number(number) => Ok(number.to_string()),
        _ => Err(Error::new(ErrorCode::BadSetting, format!("bad value for setting {name}")).with_hint("write a string, a number, true or false").into()),
    }
}

fn parameter(number: usize, value: Value) -> std::result::Result<Parameter, Problem> {
    Ok(match value {
        Value::Null => Parameter::Null,
        Value::Bool(value) => Parameter::Bool(value),
        Value::String(text) => Parameter::Text(text),
        Value::Number(digits) => match (digits.as_i64(), digits.as_u64(), digits.as_f64()) {
            (Some(whole), ..) => Parameter::Int(whole),
            (None, Some(whole), _) => Parameter::Decimal(whole.to_string()),
            (None, None, Some(float)) => Parameter::Float(float),
            _ => return Err(Problem::bad_request("a parameter is not a number").with_detail(format!("parameter ${number}"))),
        },
        Value::Array(items) if !items.iter().any(Value::is_array) => {
            let items = items.into_iter().map(|item| parameter(number, item)).collect::<std::result::Result<_, Problem>>()?;
            Parameter::Array { element: DataType::Utf8, items }
        }
        Value::Array(_) | Value::Object(_) => {
            return Err(Problem::bad_request("a parameter must be a string, a number, true, false, null, or a list of these")
                .with_detail(format!("parameter ${number}")));
        }
    })
}

/// Errors: 57014 when the server ends first.
pub async fn unless_aborted<T>(ending: &Ending, work: impl Future<Output = Result<T>>) -> Result<T> {
    tokio::select! {
        biased;
        done = work => done,
        () = ending.abort.cancelled() => Err(Error::new(ErrorCode::Cancelled, "weir is shutting down")),
    }
}

/// The answer with its first batch, or without one when it has none.
async fn begin(door: &Door, session: &Arc<Session>, query: Query) -> Result<(Answer, Option<RecordBatch>)> {
    unless_aborted(&door.ending, async {
        let mut answer = door.service.run(session, query).await?;
        let first = answer.batches().next().await.transpose()?;
        Ok((answer, first))
    })
    .await
}

fn command_response(answer: &Answer, tag: &str) -> Result<Response> {
    let id = answer.query_id();
    let body = as_json(&json!({ "query_id": id.to_string(), "command": tag, "receipt": answer.receipt() }))?;
    Ok(with_id(id, Shape::Json, Body::from(body)))
}

fn with_id(id: QueryId, shape: Shape, body: Body) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(shape.media_type()));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Ok(id) = HeaderValue::from_str(&id.to_string()) {
        headers.insert(QUERY_ID, id);
    }
    response
}

fn rows_response(answer: Answer, first: Option<RecordBatch>, shape: Shape, timezone: &str, measure: OpenQuery, ending: Ending) -> Result<Response> {
    let id = answer.query_id();
    let mut out = Vec::new();
    let encoder = Encoder::begin(shape, id, answer.schema(), timezone, &mut out)?;
    let mut flow = Flow { answer, encoder, out, measure, ending, stage: Stage::Rows };
    match first {
        Some(batch) => flow.take(&batch)?,
        None => flow.finish()?,
    }
    let pieces = stream::unfold(flow, |mut flow| async move { flow.piece().await.map(|piece| (piece, flow)) });
    Ok(with_id(id, shape, Body::from_stream(pieces)))
}

/// An answer under way to an HTTP client. Dropped when the client goes, which cancels the query.
struct Flow {
    answer: Answer,
    encoder: Encoder,
    out: Vec<u8>,
    measure: OpenQuery,
    ending: Ending,
    stage: Stage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Rows,
    /// All is written.
    Whole,
    /// It broke: after what is written the connection is broken off, so that nobody takes it for whole.
    Broken,
    Over,
}

impl Flow {
    async fn piece(&mut self) -> Option<std::io::Result<Bytes>> {
        while self.stage == Stage::Rows && self.out.len() < CHUNK_BYTES {
            let ready = self.answer.batches().next().now_or_never();
            if ready.is_none() && !self.out.is_empty() {
                break;
            }
            let next = match ready {
                Some(next) => next.transpose(),
                None => unless_aborted(&self.ending, self.answer.batches().next().map(Option::transpose)).await,
            };
            if let Err(error) = self.step(next) {
                self.break_off(&error);
            }
        }
        if !self.out.is_empty() {
            return Some(Ok(std::mem::take(&mut self.out).into()));
        }
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Broken => {
                // An error drops what the connection has not sent yet: let the last words leave first.
                tokio::time::sleep(LAST_WORDS).await;
                Some(Err(std::io::Error::other("the answer broke off")))
            }
            _ => None,
        }
    }

    fn step(&mut self, next: Result<Option<RecordBatch>>) -> Result<()> {
        match next? {
            Some(batch) => self.take(&batch),
            None => self.finish(),
        }
    }

    fn take(&mut self, batch: &RecordBatch) -> Result<()> {
        self.measure.rows(batch.num_rows() as u64);
        self.encoder.batch(batch, &mut self.out)
    }

    fn finish(&mut self) -> Result<()> {
        self.encoder.end(&self.answer.receipt(), &mut self.out)?;
        self.measure.succeeded();
        self.stage = Stage::Whole;
        Ok(())
    }

    fn break_off(&mut self, error: &Error) {
        self.measure.failed(error.code().sqlstate());
        tracing::debug!(query_id = %self.answer.query_id(), code = error.code().sqlstate(), "AnswerBroke");
        self.out.extend(self.encoder.broken(error));
        self.stage = Stage::Broken;
    }
}
