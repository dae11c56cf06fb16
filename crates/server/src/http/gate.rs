// SPDX-License-Identifier: Apache-2.0
//! Who gets past the HTTP door: login, and in open mode only pages that this machine itself serves.

use crate::http::Door;
use crate::http::problem::Problem;
use crate::login::{LOCAL_USER, bad_password};
use crate::metrics;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::Next;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use std::net::IpAddr;
use std::sync::Arc;
use weir_base::{Error, ErrorCode, UserName};

/// Refuses what a foreign page in a browser on this machine could send (DNS rebinding, cross-site requests). Open mode only:
/// with a login, a foreign page has no credentials.
pub async fn check_host(State(door): State<Arc<Door>>, request: Request, next: Next) -> Result<Response, Problem> {
    if door.logins.open() {
        let host =
            request.headers().get(header::HOST).and_then(|host| host.to_str().ok()).or_else(|| request.uri().authority().map(|authority| authority.as_str()));
        if !host.is_some_and(loopback) {
            return Err(foreign("request for a foreign host name"));
        }
        let origin = request.headers().get(header::ORIGIN).map(|origin| origin.to_str().ok().and_then(|origin| origin.parse::<Uri>().ok()));
        let from_here = |origin: &Option<Uri>| origin.as_ref().and_then(Uri::authority).is_some_and(|authority| loopback(authority.as_str()));
        if origin.is_some_and(|origin| !from_here(&origin)) {
            return Err(foreign("request from a foreign page"));
        }
    }
    Ok(next.run(request).await)
}

fn foreign(message: &str) -> Problem {
    Problem::from(
        Error::new(ErrorCode::Forbidden, message)
            .with_hint("this Weir is open to its own machine only: call it as localhost or 127.0.0.1, or set auth: { mode: scram }"),
    )
}

/// `localhost`, `x.localhost` or a loopback address, with or without a port.
fn loopback(authority: &str) -> bool {
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => authority.rsplit_once(':').map_or(authority, |(host, _)| host),
    };
    let host = host.to_ascii_lowercase();
    host == "localhost" || host.ends_with(".localhost") || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Who asks, where a route takes anybody: `None` without a login. Error: 401 for a login that fails.
pub async fn asking(door: &Arc<Door>, headers: &HeaderMap) -> Result<Option<UserName>, Problem> {
    if door.logins.open() {
        return Ok(Some(UserName::new(LOCAL_USER)));
    }
    match headers.contains_key(header::AUTHORIZATION) {
        true => prove(door, headers).await.map(Some),
        false => Ok(None),
    }
}

/// Finds out who asks and hands the name on. Errors: 401 with a challenge.
pub async fn log_in(State(door): State<Arc<Door>>, mut request: Request, next: Next) -> Result<Response, Problem> {
    let user = if door.logins.open() { UserName::new(LOCAL_USER) } else { prove(&door, request.headers()).await? };
    request.extensions_mut().insert(user);
    Ok(next.run(request).await)
}

async fn prove(door: &Arc<Door>, headers: &HeaderMap) -> Result<UserName, Problem> {
    let Some((user, password)) = credentials(headers) else {
        let error = Error::new(ErrorCode::BadPassword, "login required").with_hint("send Basic credentials");
        return Err(Problem::with_status(StatusCode::UNAUTHORIZED, error));
    };
    if door.logins.proven(&user, &password) {
        return Ok(UserName::new(user));
    }
    let logins = door.logins.clone();
    let proved = tokio::task::spawn_blocking(move || logins.check_password(&user, &password)).await;
    let proved = proved.unwrap_or_else(|_| Err(bad_password()));
    metrics::login(weir_api::Door::Http, proved.is_ok());
    Ok(proved?)
}

fn credentials(headers: &HeaderMap) -> Option<(String, String)> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, encoded) = value.split_once(' ')?;
    if !scheme.eq_ignore_ascii_case("basic") {
        return None;
    }
    let text = String::from_utf8(STANDARD.decode(encoded.trim()).ok()?).ok()?;
    let (user, password) = text.split_once(':')?;
    Some((user.to_owned(), password.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_loopback() {
        for here in ["localhost", "localhost:8642", "127.0.0.1:8642", "[::1]:8642", "weir.localhost", "127.1.2.3"] {
            assert!(loopback(here), "{here}");
        }
        for elsewhere in ["example.com", "localhost.example.com:8642", "127.0.0.1.nip.io", "10.0.0.1", "[::2]", ""] {
            assert!(!loopback(elsewhere), "{elsewhere}");
        }
    }
}
