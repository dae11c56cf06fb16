// SPDX-License-Identifier: Apache-2.0
//! TLS as `ssl-mode` of the URL means it: from no check at all to the chain and the host name.

use super::address::SslMode;
use crate::tls::{RootFile, Trust, client_config};
use rustls::pki_types::ServerName;
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsConnector;
use weir_base::{Error, ErrorCode, Result, SourceName};

/// How to secure a connection to one server.
#[derive(Clone)]
pub(super) struct Tls {
    connector: TlsConnector,
    server_name: ServerName<'static>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").field("server_name", &self.server_name).finish_non_exhaustive()
    }
}

impl Tls {
    /// Reads the CA file. Errors: an unreadable file, a host name that no certificate can carry.
    pub(super) fn new(source: &SourceName, host: &str, mode: SslMode, ca: Option<&Path>) -> Result<Self> {
        let wrong = |what: &str| Error::new(ErrorCode::Config, format!("TLS of source {source} cannot be set up")).with_detail(what);
        let server_name = ServerName::try_from(host.to_owned()).map_err(|_| wrong("the host is not a name that a certificate can carry"))?;
        let trust = trust(mode, ca).map_err(|what| wrong(&what))?;
        let config = client_config(&trust, None).map_err(|what| wrong(&what))?;
        Ok(Self { connector: TlsConnector::from(Arc::new(config)), server_name })
    }

    pub(super) fn connector(&self) -> &TlsConnector {
        &self.connector
    }

    pub(super) fn server_name(&self) -> ServerName<'static> {
        self.server_name.clone()
    }
}

fn trust(mode: SslMode, ca: Option<&Path>) -> Result<Trust, String> {
    let roots = || match ca {
        Some(path) => Ok(RootFile { parameter: "ssl-ca", path: path.to_owned() }),
        None => Err("ssl-mode verifies the server, but ssl-ca does not say by which certificates".to_owned()),
    };
    Ok(match mode {
        SslMode::Disabled | SslMode::Preferred | SslMode::Required => Trust::Anyone,
        SslMode::VerifyCa => Trust::Chain(roots()?),
        SslMode::VerifyIdentity => Trust::ChainAndHost(roots()?),
    })
}
