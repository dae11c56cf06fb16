// SPDX-License-Identifier: Apache-2.0
//! What `weir.yaml` says about an `adbc` source, resolved: which driver, which dialect, and what the driver is told.

use super::vendor::Vendor;
use crate::{SourceSpec, ValuePolicy};
use std::time::Duration;
use weir_base::limits::CONNECT_TIMEOUT_MS;
use weir_base::{Error, ErrorCode, Result, SourceName, nearest};

const OWN: [&str; 6] = ["driver", "entrypoint", "dialect", "database", "catalog", "location"];

/// A resolved source. Its `Debug` shows names only: options may hold secrets.
pub(super) struct AdbcConfig {
    pub(super) name: SourceName,
    /// Path or name of the driver.
    pub(super) driver: String,
    pub(super) entrypoint: Option<String>,
    pub(super) vendor: Vendor,
    pub(super) database: Option<String>,
    pub(super) location: String,
    /// Keys and values for the driver's database object, secrets included.
    pub(super) driver_options: Vec<(String, String)>,
    pub(super) nan: ValuePolicy,
    pub(super) infinity: ValuePolicy,
    pub(super) statement_timeout: Duration,
}

impl std::fmt::Debug for AdbcConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AdbcConfig").field("name", &self.name).field("vendor", &self.vendor).finish_non_exhaustive()
    }
}

impl AdbcConfig {
    /// Errors (`Config`): no driver, an unknown dialect, an option that is neither ours nor the driver's.
    pub(super) fn resolve(spec: SourceSpec) -> Result<Self> {
        let option = |key: &str| spec.options.get(key).filter(|value| !value.is_empty()).cloned();
        let driver = option("driver").ok_or_else(|| no_driver(&spec.name))?;
        let vendor = match option("dialect") {
            Some(word) => Vendor::from_word(&word).ok_or_else(|| unknown_dialect(&spec.name, &word))?,
            None => Vendor::guess(&driver),
        };
        let database = option("database").or_else(|| option("catalog"));
        let driver_options = driver_options(&spec, vendor, database.as_deref())?;
        Ok(Self {
            driver,
            entrypoint: option("entrypoint"),
            vendor,
            location: option("location").unwrap_or_else(|| "us".to_owned()),
            database,
            driver_options,
            nan: spec.nan,
            infinity: spec.infinity,
            statement_timeout: spec.limits.statement_timeout,
            name: spec.name,
        })
    }
}

/// The driver's options: the URL, then what the configuration says, then defaults that keep memory and waiting bounded.
fn driver_options(spec: &SourceSpec, vendor: Vendor, database: Option<&str>) -> Result<Vec<(String, String)>> {
    let mut options: Vec<(String, String)> = Vec::new();
    let uri = spec.url.strip_prefix("adbc:").map_or(spec.url.as_str(), |rest| rest.trim_start_matches('/'));
    if !uri.is_empty() {
        options.push(("uri".to_owned(), uri.to_owned()));
    }
    for (key, value) in &spec.options {
        if OWN.contains(&key.as_str()) {
            continue;
        }
        if !(key.contains('.') || matches!(key.as_str(), "uri" | "username" | "password")) {
            return Err(unknown_option(&spec.name, key));
        }
        // Some drivers have options without a point, such as `path`: they are written `driver.path`.
        options.push((key.strip_prefix("driver.").unwrap_or(key).to_owned(), value.clone()));
    }
    let login_timeout = format!("{CONNECT_TIMEOUT_MS}ms");
    let defaults = vendor.default_options(&login_timeout, database);
    let missing: Vec<(String, String)> = defaults.into_iter().filter(|(key, _)| !options.iter().any(|(known, _)| known == key)).collect();
    options.extend(missing);
    Ok(options)
}

fn no_driver(name: &SourceName) -> Error {
    Error::new(ErrorCode::Config, "option driver is missing")
        .with_detail(format!("source {name}"))
        .with_hint("set options.driver to the path of the vendor's ADBC driver library, such as libadbc_driver_snowflake.so")
}

fn unknown_dialect(name: &SourceName, word: &str) -> Error {
    let words = Vendor::ALL.map(Vendor::word);
    let near = nearest(word, words);
    let hint = near.first().map_or_else(|| format!("known dialects: {}", words.join(", ")), |near| format!("did you mean {near}?"));
    Error::new(ErrorCode::Config, format!("unknown dialect {word}")).with_detail(format!("source {name}")).with_hint(hint)
}

fn unknown_option(name: &SourceName, key: &str) -> Error {
    let near = nearest(key, OWN.into_iter().chain(["username", "password", "uri"]));
    let hint = near.first().map_or_else(
        || "options of the driver have a point in their name, such as adbc.snowflake.sql.account; write driver.NAME for one without".to_owned(),
        |near| format!("did you mean {near}?"),
    );
    Error::new(ErrorCode::Config, format!("unknown option {key}")).with_detail(format!("source {name}")).with_hint(hint)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn spec(options: &[(&str, &str)]) -> SourceSpec {
        SourceSpec {
            name: SourceName::new("marts"),
            kind: "adbc".into(),
            url: String::new(),
            allow_primary: false,
            nan: ValuePolicy::Keep,
            infinity: ValuePolicy::Keep,
            limits: weir_guard::Limits::default(),
            options: options.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect::<BTreeMap<_, _>>(),
        }
    }

    #[test]
    fn the_dialect_is_guessed_from_the_driver() {
        let config = AdbcConfig::resolve(spec(&[("driver", "/x/libadbc_driver_snowflake.so"), ("database", "MARTS"), ("password", "s3cret")])).unwrap();
        assert_eq!(config.vendor, Vendor::Snowflake);
        assert!(config.driver_options.contains(&("adbc.snowflake.sql.db".to_owned(), "MARTS".to_owned())));
        assert!(!format!("{config:?}").contains("s3cret"));
    }

    #[test]
    fn mistakes_are_named_with_a_hint() {
        let missing = AdbcConfig::resolve(spec(&[])).unwrap_err();
        assert_eq!((missing.code(), missing.message()), (ErrorCode::Config, "option driver is missing"));
        let typo = AdbcConfig::resolve(spec(&[("driver", "x"), ("entrypont", "y")])).unwrap_err();
        assert_eq!(typo.hint(), Some("did you mean entrypoint?"));
        let dialect = AdbcConfig::resolve(spec(&[("driver", "x"), ("dialect", "snowflak")])).unwrap_err();
        assert_eq!(dialect.hint(), Some("did you mean snowflake?"));
    }
}
