// SPDX-License-Identifier: Apache-2.0
//! `GET` and `DELETE /v1/queries/{id}`: where a query is, and an end to it.

use crate::http::Door;
use crate::http::problem::Problem;
use axum::Json;
use axum::extract::{Extension, Path, State};
use axum::http::StatusCode;
use serde_json::{Value, json};
use std::sync::Arc;
use weir_api::{QueryStatus, Session};
use weir_base::{Error, ErrorCode, QueryId, UserName};

/// Where a query of this user is. Errors: 404.
pub async fn status(State(door): State<Arc<Door>>, Extension(user): Extension<UserName>, Path(id): Path<String>) -> Result<Json<QueryStatus>, Problem> {
    let id = parse(&id)?;
    let session = Session::new(user, weir_api::Door::Http, None);
    Ok(Json(door.service.status(&session, id).await.map_err(|error| Problem::from(error).about(id))?))
}

/// 202 when a running query was told to end, 200 when it had ended already. Errors: 404.
pub async fn cancel(State(door): State<Arc<Door>>, Extension(user): Extension<UserName>, Path(id): Path<String>) -> Result<(StatusCode, Json<Value>), Problem> {
    let id = parse(&id)?;
    let session = Session::new(user, weir_api::Door::Http, None);
    let about = |error: Error| Problem::from(error).about(id);
    if door.service.cancel(&session, id).await.map_err(about)? {
        return Ok((StatusCode::ACCEPTED, Json(json!({ "query_id": id.to_string(), "cancelled": true }))));
    }
    let status = door.service.status(&session, id).await.map_err(about)?;
    Ok((StatusCode::OK, Json(json!({ "query_id": id.to_string(), "cancelled": false, "state": status.state.word() }))))
}

/// What is no id cannot be the id of a query.
fn parse(text: &str) -> Result<QueryId, Problem> {
    text.parse().map_err(|_| Problem::from(Error::new(ErrorCode::NotFound, "no such query").with_hint("a query id is a UUID")))
}
