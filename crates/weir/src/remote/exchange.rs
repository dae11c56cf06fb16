// SPDX-License-Identifier: Apache-2.0
//! Requests to the HTTP door and what comes back: JSON, or the error that the door describes.

use reqwest::{Certificate, Client, Method, RequestBuilder, Response, StatusCode};
use serde_json::Value;
use std::path::Path;
use std::time::Duration;
use weir_base::limits::CONNECT_TIMEOUT_MS;
use weir_base::{Error, ErrorCode, Result, UserName};

pub(super) const ARROW: &str = "application/vnd.apache.arrow.stream";
const JSON: &str = "application/json";

/// Where to ask, and as whom.
pub(super) struct Exchange {
    client: Client,
    url: String,
    pub(super) user: UserName,
    password: Option<String>,
}

impl Exchange {
    pub(super) fn new(url: &str, user: &UserName, password: Option<String>, certificate: Option<&Path>) -> Result<Self> {
        // Straight to the server: a proxy of the environment has no business between two processes of one machine.
        let mut builder = Client::builder().no_proxy().connect_timeout(Duration::from_millis(CONNECT_TIMEOUT_MS));
        if let Some(file) = certificate {
            builder = builder.add_root_certificate(read_certificate(file)?);
        }
        let client = builder.build().map_err(|error| Error::internal("HTTP client cannot be made").with_detail(error.to_string()))?;
        Ok(Self { client, url: url.trim_end_matches('/').to_owned(), user: user.clone(), password })
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.client.request(method, format!("{}{path}", self.url));
        match &self.password {
            Some(password) => request.basic_auth(self.user.as_str(), Some(password)),
            None => request,
        }
    }

    pub(super) async fn get(&self, path: &str) -> Result<Value> {
        json_of(self.send(self.request(Method::GET, path)).await?).await
    }

    pub(super) async fn delete(&self, path: &str) -> Result<Value> {
        json_of(self.send(self.request(Method::DELETE, path)).await?).await
    }

    pub(super) async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        json_of(self.post_for(path, body, JSON).await?).await
    }

    /// Whatever the server answers, when it is no error.
    pub(super) async fn post_for(&self, path: &str, body: &Value, accept: &str) -> Result<Response> {
        self.send(self.request(Method::POST, path).header("accept", accept).json(body)).await
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response> {
        let response = request.send().await.map_err(|error| self.unreachable(&error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status();
        Err(described(status, &json_of(response).await.unwrap_or_default()["error"]))
    }

    fn unreachable(&self, error: &reqwest::Error) -> Error {
        let why = if error.is_connect() { "no connection" } else { "the connection broke" };
        Error::new(ErrorCode::Protocol, "server does not answer")
            .with_detail(format!("{} holds the data directory: {why}", self.url))
            .with_hint("is it stopping? try again, or look at its log")
    }
}

fn read_certificate(file: &Path) -> Result<Certificate> {
    let unusable = |why: String| Error::new(ErrorCode::Config, "certificate cannot be used").with_detail(format!("{}: {why}", file.display()));
    let bytes = std::fs::read(file).map_err(|error| unusable(error.to_string()))?;
    Certificate::from_pem(&bytes).map_err(|error| unusable(error.to_string()))
}

pub(super) async fn json_of(response: Response) -> Result<Value> {
    response.json().await.map_err(|error| garbled(if error.is_decode() { "not JSON" } else { "the answer broke off" }))
}

/// The server's error, as it would be in this process.
pub(super) fn described(status: StatusCode, error: &Value) -> Error {
    let Some(message) = error["message"].as_str() else {
        return garbled(&format!("status {}", status.as_u16()));
    };
    let mut made = Error::new(ErrorCode::from_sqlstate(error["code"].as_str().unwrap_or_default()), message);
    if let Some(detail) = error["detail"].as_str() {
        made = made.with_detail(detail);
    }
    if let Some(hint) = error["hint"].as_str() {
        made = made.with_hint(hint);
    }
    made
}

pub(super) fn garbled(why: &str) -> Error {
    Error::new(ErrorCode::Protocol, "server answered what no weir answers").with_detail(why)
}
