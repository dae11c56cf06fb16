// SPDX-License-Identifier: Apache-2.0
//! TLS for both doors, from PEM files.

use crate::config::TlsFiles;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use weir_base::{Error, ErrorCode, Result};

/// Reads the files. Errors: a missing or malformed file, a key that does not fit the certificate.
pub fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor> {
    let chain = CertificateDer::pem_file_iter(&files.cert)
        .and_then(Iterator::collect::<std::result::Result<Vec<_>, _>>)
        .map_err(|error| unreadable("certificate", &files.cert, &error.to_string()))?;
    if chain.is_empty() {
        return Err(unreadable("certificate", &files.cert, "no certificate in it"));
    }
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|error| unreadable("key", &files.key, &error.to_string()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| unreadable("certificate and key", &files.cert, &error.to_string()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn unreadable(what: &str, path: &Path, why: &str) -> Error {
    Error::new(ErrorCode::Config, format!("TLS {what} cannot be used"))
        .with_detail(format!("{}: {why}", path.display()))
        .with_hint("give PEM files: the certificate with its chain, and its unencrypted key")
}
