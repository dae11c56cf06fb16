// SPDX-License-Identifier: Apache-2.0
//! The HTTP door: routes, and the listener below them.

mod encoder;
mod gate;
mod house;
mod listener;
mod problem;
mod queries;
mod query;

use crate::config::ServerConfig;
use crate::login::Logins;
use crate::server::Ending;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderValue, Method, StatusCode, Uri, header};
use axum::middleware::{from_fn_with_state, map_response};
use axum::response::Response;
use axum::routing::{get, post};
use listener::Incoming;
use metrics_exporter_prometheus::PrometheusHandle;
use problem::Problem;
use std::sync::Arc;
use std::time::Instant;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use weir_api::QueryService;
use weir_base::limits::HTTP_BODY_BYTES_MAX;
use weir_base::{Error, ErrorCode, Result};

/// What every request sees.
pub struct Door {
    pub logins: Arc<Logins>,
    pub service: Arc<dyn QueryService>,
    pub ending: Ending,
    metrics: Option<PrometheusHandle>,
    version: String,
    began: Instant,
}

/// The listener with its routes.
pub struct HttpDoor {
    listener: TcpListener,
    tls: Option<TlsAcceptor>,
    door: Arc<Door>,
}

impl HttpDoor {
    pub fn new(
        listener: TcpListener,
        tls: Option<TlsAcceptor>,
        logins: Arc<Logins>,
        service: Arc<dyn QueryService>,
        ending: Ending,
        config: &ServerConfig,
    ) -> Self {
        let door = Door { logins, service, ending, metrics: config.metrics.clone(), version: config.version.clone(), began: Instant::now() };
        Self { listener, tls, door: Arc::new(door) }
    }

    /// Serves until draining begins and the last request has been answered.
    pub async fn run(self) -> Result<()> {
        let drain = self.door.ending.drain.clone();
        let incoming = Incoming::open(self.listener, self.tls, drain.clone())?;
        let served = axum::serve(incoming, routes(self.door)).with_graceful_shutdown(drain.cancelled_owned()).await;
        served.map_err(|error| Error::internal("the HTTP door broke").with_detail(error.to_string()))
    }
}

fn routes(door: Arc<Door>) -> Router {
    let behind_login = Router::new()
        .route("/v1/query", post(query::query))
        .route("/v1/plan", post(query::plan))
        .route("/v1/queries/{id}", get(queries::status).delete(queries::cancel))
        .route("/metrics", get(house::metrics))
        .route_layer(from_fn_with_state(door.clone(), gate::log_in));
    Router::new()
        .route("/", get(house::front_page))
        .route("/healthz", get(house::health))
        .route("/readyz", get(house::readiness))
        .route("/openapi.json", get(house::openapi))
        .merge(behind_login)
        .fallback(unknown_route)
        .method_not_allowed_fallback(wrong_method)
        .layer(DefaultBodyLimit::max(HTTP_BODY_BYTES_MAX))
        .layer(from_fn_with_state(door.clone(), gate::check_host))
        .layer(map_response(harden))
        .with_state(door)
}

/// Browsers must not guess types, and no page may frame this one.
async fn harden(mut response: Response) -> Response {
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"));
    response
}

async fn unknown_route(uri: Uri) -> Problem {
    Problem::from(Error::new(ErrorCode::NotFound, "no such route").with_detail(uri.path().to_owned()).with_hint("see /openapi.json"))
}

async fn wrong_method(method: Method, uri: Uri) -> Problem {
    let error = Error::new(ErrorCode::Protocol, "this route does not take that method").with_detail(format!("{method} {}", uri.path()));
    Problem::with_status(StatusCode::METHOD_NOT_ALLOWED, error.with_hint("see /openapi.json"))
}
