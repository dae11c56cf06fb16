// SPDX-License-Identifier: Apache-2.0
//! TLS as `ssl-mode` of the URL means it: from no check at all to the chain and the host name.

use super::address::SslMode;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
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
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let verifier: Arc<dyn ServerCertVerifier> = match mode {
            SslMode::Disabled | SslMode::Preferred | SslMode::Required => Arc::new(Lenient { chain: None, provider: provider.clone() }),
            SslMode::VerifyCa | SslMode::VerifyIdentity => {
                let ca = ca.ok_or_else(|| wrong("ssl-mode verifies the server, but ssl-ca does not say by which certificates"))?;
                let chain = WebPkiServerVerifier::builder_with_provider(Arc::new(roots(ca).map_err(|what| wrong(&what))?), provider.clone())
                    .build()
                    .map_err(|error| wrong(&format!("ssl-ca: {error}")))?;
                if mode == SslMode::VerifyIdentity { chain } else { Arc::new(Lenient { chain: Some(chain), provider: provider.clone() }) }
            }
        };
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| wrong(&error.to_string()))?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        Ok(Self { connector: TlsConnector::from(Arc::new(config)), server_name })
    }

    pub(super) fn connector(&self) -> &TlsConnector {
        &self.connector
    }

    pub(super) fn server_name(&self) -> ServerName<'static> {
        self.server_name.clone()
    }
}

fn roots(ca: &Path) -> Result<RootCertStore, String> {
    let unreadable = |error: rustls::pki_types::pem::Error| format!("ssl-ca cannot be read: {error}");
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(ca).map_err(unreadable)? {
        roots.add(certificate.map_err(unreadable)?).map_err(|error| format!("ssl-ca holds a certificate that cannot be used: {error}"))?;
    }
    if roots.is_empty() { Err("ssl-ca holds no certificate".to_owned()) } else { Ok(roots) }
}

/// Checks less than the standard: the chain without the host name (`verify_ca`), or only that the server owns its key
/// (`preferred`, `required`: against listening, not against a false server).
#[derive(Debug)]
struct Lenient {
    chain: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<rustls::crypto::CryptoProvider>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        match chain.verify_server_cert(end_entity, intermediates, server_name, ocsp, now) {
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
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls12_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        rustls::crypto::verify_tls13_signature(message, certificate, signature, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
