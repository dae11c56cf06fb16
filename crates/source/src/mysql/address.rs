// SPDX-License-Identifier: Apache-2.0
//! Where a server is and who logs in there, read from `mysql://user:password@host:port/database?ssl-mode=…&ssl-ca=…`.

use super::tls::Tls;
use std::path::PathBuf;
use url::{Host, Url};
use weir_base::{Error, ErrorCode, Result, SourceName, nearest};

const PORT: u16 = 3306;
const PARAMETERS: [&str; 2] = ["ssl-mode", "ssl-ca"];

/// When TLS is used and what is checked, as the servers' own clients mean it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SslMode {
    Disabled,
    /// TLS when the server offers it; nothing is verified.
    Preferred,
    /// TLS or no connection; nothing is verified.
    Required,
    VerifyCa,
    VerifyIdentity,
}

/// A server, an account, and the way there.
#[derive(Clone)]
pub(super) struct Address {
    pub(super) host: String,
    pub(super) port: u16,
    pub(super) user: String,
    pub(super) password: String,
    pub(super) database: Option<String>,
    pub(super) ssl_mode: SslMode,
    /// `None` when TLS is disabled.
    pub(super) tls: Option<Tls>,
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Address").field("host", &self.host).field("port", &self.port).field("user", &self.user).finish_non_exhaustive()
    }
}

impl Address {
    /// Errors: anything in the URL that is wrong, never with the URL itself, since it holds the password.
    pub(super) fn parse(source: &SourceName, text: &str) -> Result<Self> {
        let wrong = |detail: String| {
            Error::new(ErrorCode::Config, format!("url of source {source} is wrong"))
                .with_detail(detail)
                .with_hint("write mysql://user:password@host:port/database, with special characters as %XX")
        };
        let url = Url::parse(text).map_err(|error| wrong(error.to_string()))?;
        if !matches!(url.scheme(), "mysql" | "mariadb") {
            return Err(wrong(format!("it begins with {}://, not with mysql://", url.scheme())));
        }
        // In a scheme that the URL standard does not know, every host is a "domain", also 127.0.0.1.
        let host = match url.host() {
            Some(Host::Domain(name)) if !name.is_empty() => percent_decoded(name),
            Some(Host::Ipv4(ip)) => Some(ip.to_string()),
            Some(Host::Ipv6(ip)) => Some(ip.to_string()),
            _ => None,
        };
        let host = host.ok_or_else(|| wrong("it names no host".to_owned()))?;
        let bad_escape = |part: &str| wrong(format!("the {part} has a %XX that is not UTF-8"));
        let user = percent_decoded(url.username()).ok_or_else(|| bad_escape("user name"))?;
        if user.is_empty() {
            return Err(wrong("it names no user".to_owned()));
        }
        let password = percent_decoded(url.password().unwrap_or_default()).ok_or_else(|| bad_escape("password"))?;
        let database = percent_decoded(url.path().trim_start_matches('/')).ok_or_else(|| bad_escape("database"))?;
        let (ssl_mode, ssl_ca) = parameters(&url).map_err(wrong)?;
        let tls = match ssl_mode {
            SslMode::Disabled => None,
            mode => Some(Tls::new(source, &host, mode, ssl_ca.as_deref())?),
        };
        let database = Some(database).filter(|name| !name.is_empty());
        Ok(Self { host, port: url.port().unwrap_or(PORT), user, password, database, ssl_mode, tls })
    }

    /// `host:port`, for messages.
    pub(super) fn place(&self) -> String {
        if self.host.contains(':') { format!("[{}]:{}", self.host, self.port) } else { format!("{}:{}", self.host, self.port) }
    }
}

fn parameters(url: &Url) -> Result<(SslMode, Option<PathBuf>), String> {
    let (mut mode, mut ca) = (SslMode::Preferred, None);
    for (name, value) in url.query_pairs() {
        match name.replace(['-', '_'], "").to_lowercase().as_str() {
            "sslmode" => mode = ssl_mode(&value)?,
            "sslca" => ca = Some(PathBuf::from(value.as_ref())),
            _ => {
                let near = nearest(&name, PARAMETERS);
                let known = near.first().map_or_else(|| format!("known are {}", PARAMETERS.join(" and ")), |near| format!("did you mean {near}?"));
                return Err(format!("unknown parameter {name}; {known}"));
            }
        }
    }
    Ok((mode, ca))
}

fn ssl_mode(value: &str) -> Result<SslMode, String> {
    match value.replace('-', "_").to_lowercase().as_str() {
        "disabled" | "disable" => Ok(SslMode::Disabled),
        "preferred" | "prefer" => Ok(SslMode::Preferred),
        "required" | "require" => Ok(SslMode::Required),
        "verify_ca" => Ok(SslMode::VerifyCa),
        "verify_identity" | "verify_full" => Ok(SslMode::VerifyIdentity),
        _ => Err("ssl-mode is one of disabled, preferred, required, verify_ca, verify_identity".to_owned()),
    }
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escape = after.get(..2).and_then(|pair| std::str::from_utf8(pair).ok()).and_then(|pair| u8::from_str_radix(pair, 16).ok());
        match (first, escape) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Address> {
        Address::parse(&SourceName::new("billing_mysql"), text)
    }

    #[test]
    fn all_parts_are_read() {
        let address = parse("mysql://weir%40ro:p%2Fw%3A@127.0.0.1:3307/bill%20ing?ssl-mode=DISABLED").unwrap();
        assert_eq!((address.host.as_str(), address.port), ("127.0.0.1", 3307));
        assert_eq!((address.user.as_str(), address.password.as_str()), ("weir@ro", "p/w:"));
        assert_eq!((address.database.as_deref(), address.ssl_mode), (Some("bill ing"), SslMode::Disabled));
        assert_eq!(parse("mysql://u@[::1]/").unwrap().place(), "[::1]:3306");
    }

    #[test]
    fn errors_never_hold_the_password() {
        for text in ["mysql://u:s3cret@h/db?ssl-mod=x", "pg://u:s3cret@h/db", "mysql://u:s3cret@h:99999/db", "mysql://:s3cret@h/db", "s3cret"] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.code(), ErrorCode::Config);
            assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
        }
        let error = parse("mysql://u:x@h/db?ssl-mod=required").unwrap_err();
        assert_eq!(error.detail(), Some("unknown parameter ssl-mod; did you mean ssl-mode?"));
    }

    #[test]
    fn verifying_needs_certificates() {
        let error = parse("mysql://u:x@h/db?ssl-mode=verify_ca").unwrap_err();
        assert_eq!(error.detail(), Some("ssl-mode verifies the server, but ssl-ca does not say by which certificates"));
    }
}
