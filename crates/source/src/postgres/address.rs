// SPDX-License-Identifier: Apache-2.0
//! Where a PostgreSQL server is and as whom to log in: the URL of `weir.yaml`, read as libpq reads it.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;
use tokio_postgres::config::Host;
use weir_base::limits::CONNECT_TIMEOUT_MS;
use weir_base::{Error, ErrorCode, Result, SourceName, nearest};

/// How much of TLS is wanted, with libpq's meanings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SslMode {
    Disable,
    /// TLS where the server has it, else plain.
    Prefer,
    /// TLS; the certificate is checked only when a root certificate is given.
    Require,
    /// The certificate's chain is checked.
    VerifyCa,
    /// The chain and the host name are checked.
    VerifyFull,
}

const SSL_MODES: [(&str, SslMode); 6] = [
    ("disable", SslMode::Disable),
    ("allow", SslMode::Prefer),
    ("prefer", SslMode::Prefer),
    ("require", SslMode::Require),
    ("verify-ca", SslMode::VerifyCa),
    ("verify-full", SslMode::VerifyFull),
];

/// A parsed URL. Holds the password, hence no `Debug` of it.
#[derive(Clone)]
pub struct Address {
    pub config: tokio_postgres::Config,
    pub ssl_mode: SslMode,
    pub root_certificates: Option<PathBuf>,
    pub client_certificate: Option<(PathBuf, PathBuf)>,
    pub connect_timeout: Duration,
}

/// One place to try, of the one or more that a URL names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Endpoint {
    Tcp { host: String, port: u16 },
    Unix(PathBuf),
}

impl std::fmt::Display for Endpoint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

/// The TLS part of the URL's parameters, and the rest of the URL as it was.
#[derive(Default)]
struct Split {
    rest: String,
    ssl_mode: Option<String>,
    root: Option<String>,
    certificate: Option<String>,
    key: Option<String>,
}

impl Address {
    /// Reads a URL. Errors are of `ErrorCode::Config` and never repeat the URL, which holds a password.
    pub fn parse(source: &SourceName, url: &str) -> Result<Self> {
        if !url.starts_with("postgres://") && !url.starts_with("postgresql://") {
            return Err(misconfigured(source, "the URL does not start with postgres://")
                .with_hint("write it as postgres://user:${PASSWORD}@host:5432/database?sslmode=prefer"));
        }
        let split = Split::of(url);
        let mut config = tokio_postgres::Config::from_str(&split.rest).map_err(|error| unreadable(source, &error))?;
        if config.get_hosts().is_empty() {
            return Err(misconfigured(source, "the URL names no host"));
        }
        if config.get_application_name().is_none() {
            config.application_name("weir");
        }
        let ssl_mode = split.ssl_mode(source)?;
        config.ssl_mode(match ssl_mode {
            SslMode::Disable => tokio_postgres::config::SslMode::Disable,
            SslMode::Prefer => tokio_postgres::config::SslMode::Prefer,
            _ => tokio_postgres::config::SslMode::Require,
        });
        let connect_timeout = config.get_connect_timeout().copied().unwrap_or(Duration::from_millis(CONNECT_TIMEOUT_MS));
        Ok(Self {
            config,
            ssl_mode,
            root_certificates: split.root.map(PathBuf::from),
            client_certificate: split.certificate.zip(split.key).map(|(certificate, key)| (certificate.into(), key.into())),
            connect_timeout,
        })
    }

    /// Every place the URL names, in its order.
    pub fn endpoints(&self) -> Vec<Endpoint> {
        let ports = self.config.get_ports();
        let port_of = |index: usize| ports.get(index).or(ports.first()).copied().unwrap_or(5432);
        let endpoint = |(index, host): (usize, &Host)| match host {
            Host::Tcp(host) => Endpoint::Tcp { host: host.clone(), port: port_of(index) },
            #[cfg(unix)]
            Host::Unix(folder) => Endpoint::Unix(folder.join(format!(".s.PGSQL.{}", port_of(index)))),
        };
        self.config.get_hosts().iter().enumerate().map(endpoint).collect()
    }

    /// The user name for messages.
    pub fn user(&self) -> &str {
        self.config.get_user().unwrap_or("(of the operating system)")
    }
}

impl Split {
    fn of(url: &str) -> Self {
        let (before, parameters) = url.split_once('?').unwrap_or((url, ""));
        let mut split = Self::default();
        let mut kept: Vec<&str> = Vec::new();
        for raw in parameters.split('&').filter(|raw| !raw.is_empty()) {
            let value = || url::form_urlencoded::parse(raw.as_bytes()).next().map(|(_, value)| value.into_owned());
            match raw.split('=').next() {
                Some("sslmode") => split.ssl_mode = value(),
                Some("sslrootcert") => split.root = value(),
                Some("sslcert") => split.certificate = value(),
                Some("sslkey") => split.key = value(),
                _ => kept.push(raw),
            }
        }
        split.rest = if kept.is_empty() { before.to_owned() } else { format!("{before}?{}", kept.join("&")) };
        split
    }

    fn ssl_mode(&self, source: &SourceName) -> Result<SslMode> {
        let Some(word) = &self.ssl_mode else { return Ok(SslMode::Prefer) };
        if let Some((_, mode)) = SSL_MODES.iter().find(|(known, _)| known == word) {
            return Ok(*mode);
        }
        let near = nearest(word, SSL_MODES.iter().map(|(known, _)| *known));
        let hint = near.first().map_or_else(|| "one of disable, prefer, require, verify-ca, verify-full".to_owned(), |near| format!("did you mean {near}?"));
        Err(misconfigured(source, "unknown sslmode").with_hint(hint))
    }
}

pub fn misconfigured(source: &SourceName, what: &str) -> Error {
    Error::new(ErrorCode::Config, format!("bad url of source {source}")).with_detail(what)
}

fn unreadable(source: &SourceName, error: &tokio_postgres::Error) -> Error {
    use std::error::Error as _;
    // The cause names the parameter that is wrong; values are not in it.
    let cause = error.source().map_or_else(|| error.to_string(), ToString::to_string);
    misconfigured(source, &cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<Address> {
        Address::parse(&SourceName::new("app_pg"), url)
    }

    #[test]
    fn the_tls_words_are_ours_and_the_rest_is_kept() {
        let address = parse("postgres://weir_ro:p%40ss@db.example:5433/app?sslmode=verify-full&sslrootcert=%2Fetc%2Fca.pem&connect_timeout=7").unwrap();
        assert_eq!(address.ssl_mode, SslMode::VerifyFull);
        assert_eq!(address.root_certificates, Some(PathBuf::from("/etc/ca.pem")));
        assert_eq!(address.connect_timeout, Duration::from_secs(7));
        assert_eq!(address.config.get_password(), Some("p@ss".as_bytes()));
        assert_eq!(address.endpoints(), [Endpoint::Tcp { host: "db.example".into(), port: 5433 }]);
    }

    #[test]
    fn several_hosts_are_several_endpoints() {
        let address = parse("postgresql://u@one:1,two:2/app").unwrap();
        let shown: Vec<String> = address.endpoints().iter().map(ToString::to_string).collect();
        assert_eq!(shown, ["one:1", "two:2"]);
    }

    #[test]
    fn a_mistake_never_repeats_the_password() {
        for url in
            ["mysql://u:geheim@h/d", "postgres://u:geheim@h/d?sslmode=verify-al", "postgres://u:geheim@h:99999999/d", "postgres://u:geheim@h/d?nonsense=1"]
        {
            let error = parse(url).err().unwrap();
            assert_eq!(error.code(), ErrorCode::Config);
            assert!(!format!("{error:?}").contains("geheim"), "{error:?}");
        }
        assert_eq!(parse("postgres://h/d?sslmode=verify-ful").err().unwrap().hint(), Some("did you mean verify-full?"));
    }
}
