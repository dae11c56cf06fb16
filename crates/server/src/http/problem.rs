// SPDX-License-Identifier: Apache-2.0
//! Errors on HTTP: `{"error":{code,message,detail,hint,query_id}}` with the status that fits.

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use weir_base::{Error, ErrorCode, QueryId};

/// An error on its way to an HTTP client.
#[derive(Debug)]
pub struct Problem {
    status: StatusCode,
    error: Error,
    query_id: Option<QueryId>,
}

impl Problem {
    /// An error whose status is not the one of its code.
    pub fn with_status(status: StatusCode, error: Error) -> Self {
        Self { status, error, query_id: None }
    }

    /// A request that breaks a rule of this door.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::from(Error::new(ErrorCode::Protocol, message))
    }

    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.error = self.error.with_hint(hint);
        self
    }

    pub fn with_detail(mut self, detail: impl Into<String>) -> Self {
        self.error = self.error.with_detail(detail);
        self
    }

    pub fn about(mut self, query_id: QueryId) -> Self {
        self.query_id = Some(query_id);
        self
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let status = StatusCode::from_u16(error.code().http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        Self { status, error, query_id: None }
    }
}

/// The object that stands under `error`.
pub fn described(error: &Error, query_id: Option<QueryId>) -> Value {
    json!({
        "code": error.code().sqlstate(),
        "message": error.message(),
        "detail": error.detail(),
        "hint": error.hint(),
        "query_id": query_id.map(|id| id.to_string()),
    })
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(json!({ "error": described(&self.error, self.query_id) }))).into_response();
        if self.status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"weir\", charset=\"UTF-8\""));
        }
        response
    }
}
