// SPDX-License-Identifier: Apache-2.0
//! Routes about the server itself: health, readiness, metrics, the API description, and the front page.

use crate::http::Door;
use crate::http::gate;
use crate::http::problem::Problem;
use axum::Json;
use axum::extract::{Extension, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use serde_json::{Value, json};
use std::sync::Arc;
use weir_base::{Error, ErrorCode, UserName};

/// Written by hand; `tests/` calls every path in it.
const OPENAPI: &str = include_str!("openapi.json");

const FRONT_PAGE: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Weir</title>\
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:44rem;margin:3rem auto;padding:0 1rem}code{background:#eee;padding:0 .2em}</style>\
<h1>Weir</h1><p>One governed door to data that lives in many places. This is its HTTP door.</p>\
<ul><li><code>POST /v1/query</code> answers <code>{\"sql\": \"…\"}</code></li>\
<li><code>POST /v1/plan</code> shows what a query would do, without running it</li>\
<li><a href=\"/openapi.json\">/openapi.json</a> describes every route</li>\
<li><a href=\"/readyz\">/readyz</a>, <a href=\"/healthz\">/healthz</a> and <a href=\"/metrics\">/metrics</a> are for operators</li></ul>\
<p>SQL clients connect to the Postgres door, for instance with <code>psql</code>.</p></html>\n";

pub async fn front_page() -> Html<&'static str> {
    Html(FRONT_PAGE)
}

pub async fn openapi() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], OPENAPI).into_response()
}

/// The process is alive.
pub async fn health(State(door): State<Arc<Door>>) -> Json<Value> {
    Json(json!({ "status": "alive", "version": door.version, "uptime_s": door.began.elapsed().as_secs() }))
}

/// 200 when questions can be asked, 503 before that and while the server drains. Anybody learns how many sources do not answer;
/// who logs in learns which, of those that they may know of. Error: 401 for a login that fails.
pub async fn readiness(State(door): State<Arc<Door>>, headers: HeaderMap) -> Result<(StatusCode, Json<Value>), Problem> {
    let user = gate::asking(&door, &headers).await?;
    let readiness = door.service.readiness().await;
    let ready = readiness.ready && !door.ending.drain.is_cancelled();
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let mut told = json!({ "ready": ready, "unreachable_count": readiness.unreachable.len() });
    if let Some(user) = user {
        told["unreachable"] = json!(door.service.readiness_for(&user).await.unreachable);
    }
    Ok((status, Json(told)))
}

/// Prometheus text, for those who may see what everybody does. Error: 403 for the others.
pub async fn metrics(State(door): State<Arc<Door>>, Extension(user): Extension<UserName>) -> Result<Response, Problem> {
    door.service.may_see_metrics(&user).await?;
    let handle = door.metrics.as_ref().ok_or_else(|| Error::new(ErrorCode::NotFound, "metrics are not collected"))?;
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], handle.render()).into_response())
}
