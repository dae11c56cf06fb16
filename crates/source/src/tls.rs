// SPDX-License-Identifier: Apache-2.0
//! TLS to a server, for every connector that speaks its server's own protocol: which certificates are believed, and who we say we are.

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Which servers are believed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trust {
    /// Every one: encrypts against listening, and does not authenticate.
    Anyone,
    /// Those whose chain ends in one of these roots, under whatever host name.
    Chain(RootFile),
    /// The same, and the certificate carries the host's name.
    ChainAndHost(RootFile),
}

/// A PEM file, and what its parameter is called in the source's URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RootFile {
    pub(crate) parameter: &'static str,
    pub(crate) path: PathBuf,
}

/// Who we say we are: a certificate chain and its key, each with the parameter that names it.
#[derive(Debug, Clone)]
pub(crate) struct ClientCertificate<'a> {
    pub(crate) chain: (&'static str, &'a Path),
    pub(crate) key: (&'static str, &'a Path),
}

/// What rustls needs for a connection. Error: what is wrong with which parameter, to be put into the connector's own words.
pub(crate) fn client_config(trust: &Trust, client: Option<ClientCertificate<'_>>) -> Result<ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = verifier(trust, &provider)?;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("TLS cannot be set up: {error}"))?
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let Some(ClientCertificate { chain, key }) = client else { return Ok(builder.with_no_client_auth()) };
    let private = PrivateKeyDer::from_pem_file(key.1).map_err(|_| format!("{} cannot be read as PEM", key.0))?;
    builder.with_client_auth_cert(certificates(chain.0, chain.1)?, private).map_err(|_| format!("{} and {} do not fit together", chain.0, key.0))
}

fn verifier(trust: &Trust, provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>, String> {
    Ok(match trust {
        Trust::Anyone => Arc::new(Lenient { chain: None, provider: provider.clone() }),
        Trust::Chain(roots) => Arc::new(Lenient { chain: Some(chain_verifier(roots, provider)?), provider: provider.clone() }),
        Trust::ChainAndHost(roots) => chain_verifier(roots, provider)?,
    })
}

fn chain_verifier(file: &RootFile, provider: &Arc<CryptoProvider>) -> Result<Arc<WebPkiServerVerifier>, String> {
    let parameter = file.parameter;
    let mut roots = RootCertStore::empty();
    for certificate in certificates(parameter, &file.path)? {
        roots.add(certificate).map_err(|_| format!("{parameter} holds something that is no root certificate"))?;
    }
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build().map_err(|_| format!("{parameter} holds no usable root certificate"))
}

fn certificates(parameter: &str, path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let unreadable = || format!("{parameter} cannot be read as PEM");
    let found: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path).map_err(|_| unreadable())?.collect();
    let found = found.map_err(|_| unreadable())?;
    if found.is_empty() { Err(unreadable()) } else { Ok(found) }
}

/// Checks less than the standard: the chain without the host name, or only that the server owns its key.
#[derive(Debug)]
struct Lenient {
    chain: Option<Arc<WebPkiServerVerifier>>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        host: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(chain) = &self.chain else { return Ok(ServerCertVerified::assertion()) };
        // The name is looked at only after the chain has been found good.
        match chain.verify_server_cert(certificate, intermediates, host, ocsp, now) {
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
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
