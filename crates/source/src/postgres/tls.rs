// SPDX-License-Identifier: Apache-2.0
//! TLS to a PostgreSQL server: which certificates are believed under each `sslmode`.

use super::address::{Address, SslMode, misconfigured};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_postgres_rustls::MakeRustlsConnect;
use weir_base::{Error, Result, SourceName};

/// Where distributions keep the certificates that everybody believes (`sslrootcert=system`).
const SYSTEM_BUNDLES: [&str; 3] = ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/cert.pem"];

/// The connector for an address; `None` when TLS is switched off. Errors: `ErrorCode::Config` for certificate files that
/// are missing or unreadable.
pub fn connector(source: &SourceName, address: &Address) -> Result<Option<MakeRustlsConnect>> {
    if address.ssl_mode == SslMode::Disable {
        return Ok(None);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = verifier(source, address, &provider)?;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::internal("tls cannot be set up").with_detail(error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let config = match &address.client_certificate {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let chain = certificates(source, "sslcert", certificate)?;
            let key = PrivateKeyDer::from_pem_file(key).map_err(|_| misconfigured(source, "sslkey cannot be read"))?;
            builder.with_client_auth_cert(chain, key).map_err(|_| misconfigured(source, "sslcert and sslkey do not fit together"))?
        }
    };
    Ok(Some(MakeRustlsConnect::new(config)))
}

fn verifier(source: &SourceName, address: &Address, provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>> {
    let host_checked = match (address.ssl_mode, &address.root_certificates) {
        (SslMode::VerifyFull, _) => true,
        // libpq: a root certificate turns `require` into `verify-ca`.
        (SslMode::VerifyCa, _) | (SslMode::Require, Some(_)) => false,
        _ => return Ok(Arc::new(AnyCertificate(provider.clone()))),
    };
    let path = root_path(source, address)?;
    let mut roots = RootCertStore::empty();
    for certificate in certificates(source, "sslrootcert", &path)? {
        roots.add(certificate).map_err(|_| misconfigured(source, "sslrootcert holds something that is no root certificate"))?;
    }
    let chain = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
        .build()
        .map_err(|_| misconfigured(source, "sslrootcert holds no usable root certificate"))?;
    Ok(if host_checked { chain } else { Arc::new(AnyHost(chain)) })
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

fn certificates(source: &SourceName, parameter: &str, path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let unreadable = || misconfigured(source, &format!("{parameter} cannot be read as PEM"));
    let found: std::result::Result<Vec<_>, _> = CertificateDer::pem_file_iter(path).map_err(|_| unreadable())?.collect();
    let found = found.map_err(|_| unreadable())?;
    if found.is_empty() { Err(unreadable()) } else { Ok(found) }
}

/// Believes every certificate: `prefer` and `require` without a root certificate encrypt, they do not authenticate.
#[derive(Debug)]
struct AnyCertificate(Arc<CryptoProvider>);

impl ServerCertVerifier for AnyCertificate {
    fn verify_server_cert(
        &self,
        _certificate: &CertificateDer<'_>,
        _chain: &[CertificateDer<'_>],
        _host: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

/// Checks the chain and forgives a host name that the certificate does not carry.
#[derive(Debug)]
struct AnyHost(Arc<WebPkiServerVerifier>);

impl ServerCertVerifier for AnyHost {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        chain: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        // The name is looked at only after the chain has been found good.
        match self.0.verify_server_cert(certificate, chain, host, ocsp, now) {
            Err(rustls::Error::InvalidCertificate(CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. })) => {
                Ok(ServerCertVerified::assertion())
            }
            verdict => verdict,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        self.0.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.supported_verify_schemes()
    }
}
