// SPDX-License-Identifier: Apache-2.0
//! TLS as `sslmode`, `sslrootcert`, `sslcert` and `sslkey` mean it to libpq.

use super::address::{Address, SslMode, misconfigured};
use crate::tls::{ClientCertificate, RootFile, Trust, client_config};
use std::path::PathBuf;
use tokio_postgres_rustls::MakeRustlsConnect;
use weir_base::{Result, SourceName};

/// Where distributions keep the certificates that everybody believes (`sslrootcert=system`).
const SYSTEM_BUNDLES: [&str; 3] = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// The connector for an address; `None` when TLS is switched off. Errors: `ErrorCode::Config` for certificate files that
/// are missing or unreadable.
pub fn connector(source: &SourceName, address: &Address) -> Result<Option<MakeRustlsConnect>> {
    if address.ssl_mode == SslMode::Disable {
        return Ok(None);
    }
    let client = address.client_certificate.as_ref().map(|(chain, key)| ClientCertificate { chain: ("sslcert", chain), key: ("sslkey", key) });
    let config = client_config(&trust(source, address)?, client).map_err(|what| misconfigured(source, &what))?;
    Ok(Some(MakeRustlsConnect::new(config)))
}

fn trust(source: &SourceName, address: &Address) -> Result<Trust> {
    let roots = || Ok(RootFile { parameter: "sslrootcert", path: root_path(source, address)? });
    Ok(match (address.ssl_mode, &address.root_certificates) {
        (SslMode::VerifyFull, _) => Trust::ChainAndHost(roots()?),
        // libpq: a root certificate turns `require` into `verify-ca`.
        (SslMode::VerifyCa, _) | (SslMode::Require, Some(_)) => Trust::Chain(roots()?),
        _ => Trust::Anyone,
    })
}

fn root_path(source: &SourceName, address: &Address) -> Result<PathBuf> {
    match &address.root_certificates {
        Some(path) if path.as_os_str() == "system" => SYSTEM_BUNDLES
            .iter()
            .map(PathBuf::from)
            .find(|path| path.exists())
            .ok_or_else(|| misconfigured(source, "sslrootcert=system, but this system has no bundle of certificates")),
        Some(path) => Ok(path.clone()),
        None => {
            let home = std::env::var_os("HOME").map(PathBuf::from).map(|home| home.join(".postgresql/root.crt"));
            home.filter(|path| path.exists()).ok_or_else(|| {
                misconfigured(source, "sslmode verify-ca and verify-full need a root certificate")
                    .with_hint("add sslrootcert=/path/to/ca.pem, or sslrootcert=system, to the URL")
            })
        }
    }
}
