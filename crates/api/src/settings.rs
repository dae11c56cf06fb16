// SPDX-License-Identifier: Apache-2.0
//! Settings of a session: `weir.*` ones that change how a query is answered, and the few that Postgres clients expect.

use crate::accepted::{self, bad, time, truth};
use arrow::array::timezone::Tz;
use std::collections::BTreeMap;
use std::str::FromStr;
use weir_base::{Error, ErrorCode, Result, Span, Timestamp, nearest};

/// Which placement to read (`weir.read`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReadMode {
    #[default]
    Auto,
    Live,
    Copy,
}

/// Whether sources do work for us (`weir.pushdown`); `Random` switches each operator by a seeded coin, for tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PushDown {
    #[default]
    On,
    Off,
    Random(u64),
}

/// One setting as `SHOW ALL` prints it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    pub name: String,
    pub value: String,
    pub description: &'static str,
}

/// All settings of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    pub read: ReadMode,
    pub max_staleness: Option<Span>,
    pub as_of: Option<Timestamp>,
    pub pushdown: PushDown,
    pub receipt: bool,
    /// IANA name; timestamps with a zone are shown in it.
    pub timezone: String,
    /// Ends a statement of this session after so long; `None` leaves the sources' own timeouts.
    pub statement_timeout: Option<Span>,
    pub application_name: String,
    /// Settings that clients send and that change nothing here, kept so that SHOW gives them back.
    accepted: BTreeMap<String, String>,
}

impl Default for Settings {
    fn default() -> Self {
        let accepted = accepted::initial().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Self {
            read: ReadMode::Auto,
            max_staleness: None,
            as_of: None,
            pushdown: PushDown::On,
            receipt: false,
            timezone: "UTC".into(),
            statement_timeout: None,
            application_name: String::new(),
            accepted,
        }
    }
}

/// Ours, with the sentence that SHOW ALL prints.
const OWN: [(&str, &str); 8] = [
    ("weir.read", "which placement to read: auto, live or copy"),
    ("weir.max_staleness", "oldest acceptable input, such as 5m; empty accepts any"),
    ("weir.as_of", "read everything as it was at this instant"),
    ("weir.pushdown", "on, off, or random:SEED"),
    ("weir.receipt", "on sends the receipt as a notice after each answer"),
    ("timezone", "zone in which timestamps with a zone are shown"),
    ("statement_timeout", "longest time a statement may run, in milliseconds or such as 30s; 0 for none"),
    ("application_name", "name that the client gives itself"),
];

impl Settings {
    /// Sets one by name. Names are case-insensitive; an unknown one is an error with the nearest names.
    pub fn set(&mut self, name: &str, value: &str) -> Result<()> {
        let name = name.to_ascii_lowercase();
        let value = value.trim();
        match name.as_str() {
            "weir.read" => self.read = parse_read(value)?,
            "weir.max_staleness" => self.max_staleness = optional(&name, value)?,
            "weir.as_of" => self.as_of = parse_as_of(value)?,
            "weir.pushdown" => self.pushdown = parse_pushdown(value)?,
            "weir.receipt" => self.receipt = truth(&name, value)?,
            "timezone" | "time zone" => self.timezone = parse_zone(value)?,
            "statement_timeout" => self.statement_timeout = time(&name, value)?,
            "application_name" => self.application_name = value.chars().filter(|c| !c.is_control()).take(63).collect(),
            _ => return self.accept(&name, value),
        }
        Ok(())
    }

    /// As `set`, with `DEFAULT` for the value that a new session has.
    pub fn assign(&mut self, name: &str, value: &str) -> Result<()> {
        if value.eq_ignore_ascii_case("default") { self.reset(name) } else { self.set(name, value) }
    }

    /// Back to the value that a new session has.
    pub fn reset(&mut self, name: &str) -> Result<()> {
        let fresh = Self::default().get(name)?;
        self.set(name, &fresh)
    }

    pub fn get(&self, name: &str) -> Result<String> {
        let name = name.to_ascii_lowercase();
        Ok(match name.as_str() {
            "weir.read" => match self.read {
                ReadMode::Auto => "auto".into(),
                ReadMode::Live => "live".into(),
                ReadMode::Copy => "copy".into(),
            },
            "weir.max_staleness" => self.max_staleness.map(|span| span.to_string()).unwrap_or_default(),
            "weir.as_of" => self.as_of.map(|at| at.to_string()).unwrap_or_default(),
            "weir.pushdown" => match self.pushdown {
                PushDown::On => "on".into(),
                PushDown::Off => "off".into(),
                PushDown::Random(seed) => format!("random:{seed}"),
            },
            "weir.receipt" => on_off(self.receipt),
            "timezone" | "time zone" => self.timezone.clone(),
            "statement_timeout" => self.statement_timeout.map_or("0".into(), |span| span.to_string()),
            "application_name" => self.application_name.clone(),
            _ => self.accepted.get(&name).cloned().ok_or_else(|| unknown(&name))?,
        })
    }

    /// All settings by name, for SHOW ALL and `pg_settings`.
    pub fn all(&self) -> Vec<Setting> {
        let own = OWN.iter().map(|(name, description)| (name.to_string(), *description));
        let accepted = self.accepted.keys().map(|name| (name.clone(), "accepted for Postgres clients"));
        let mut all: Vec<Setting> =
            own.chain(accepted).map(|(name, description)| Setting { value: self.get(&name).unwrap_or_default(), name, description }).collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    fn accept(&mut self, name: &str, value: &str) -> Result<()> {
        let Some(current) = self.accepted.get_mut(name) else { return Err(unknown(name)) };
        *current = accepted::check(name, value, current)?;
        Ok(())
    }
}

fn unknown(name: &str) -> Error {
    let known = OWN.iter().map(|(name, _)| *name).chain(accepted::initial().map(|(name, _)| name));
    let near = nearest(name, known);
    let error = Error::new(ErrorCode::UnknownSetting, format!("unknown setting {name}"));
    match near.is_empty() {
        true => error.with_hint("SHOW ALL lists the settings"),
        false => error.with_hint(format!("did you mean {}?", near.join(" or "))),
    }
}

fn on_off(value: bool) -> String {
    if value { "on".into() } else { "off".into() }
}

fn parse_read(value: &str) -> Result<ReadMode> {
    match value.to_ascii_lowercase().as_str() {
        "auto" => Ok(ReadMode::Auto),
        "live" => Ok(ReadMode::Live),
        "copy" => Ok(ReadMode::Copy),
        _ => Err(bad("weir.read", "auto, live or copy")),
    }
}

fn parse_pushdown(value: &str) -> Result<PushDown> {
    let value = value.to_ascii_lowercase();
    if let Some(seed) = value.strip_prefix("random:") {
        return seed.parse().map(PushDown::Random).map_err(|_| bad("weir.pushdown", "random:SEED with a whole number"));
    }
    match value.as_str() {
        "on" => Ok(PushDown::On),
        "off" => Ok(PushDown::Off),
        _ => Err(bad("weir.pushdown", "on, off or random:SEED")),
    }
}

fn optional<T: FromStr>(name: &str, value: &str) -> Result<Option<T>> {
    if value.is_empty() {
        return Ok(None);
    }
    value.parse().map(Some).map_err(|_| bad(name, "a duration such as 30s or 15m"))
}

fn parse_as_of(value: &str) -> Result<Option<Timestamp>> {
    if value.is_empty() {
        return Ok(None);
    }
    let parsed = serde_json::from_value(serde_json::Value::String(value.replacen(' ', "T", 1)));
    parsed.map(Some).map_err(|_| bad("weir.as_of", "an instant such as 2026-11-01T00:00:00Z"))
}

/// A zone of the IANA database, or an offset such as +02:00.
fn parse_zone(value: &str) -> Result<String> {
    if value.eq_ignore_ascii_case("utc") || value.eq_ignore_ascii_case("z") {
        return Ok("UTC".into());
    }
    match value.parse::<Tz>() {
        Ok(_) => Ok(value.to_owned()),
        Err(_) => Err(bad("timezone", "a zone such as UTC, Europe/Berlin or +02:00")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_shows_and_resets() {
        let mut settings = Settings::default();
        settings.set("weir.pushdown", "random:7").unwrap();
        settings.set("STATEMENT_TIMEOUT", "1500").unwrap();
        assert_eq!(settings.pushdown, PushDown::Random(7));
        assert_eq!(settings.get("weir.pushdown").unwrap(), "random:7");
        assert_eq!(settings.get("statement_timeout").unwrap(), "1500ms");
        settings.reset("weir.pushdown").unwrap();
        assert_eq!(settings.pushdown, PushDown::On);
    }

    #[test]
    fn wrong_names_and_values_are_told() {
        let mut settings = Settings::default();
        let error = settings.set("weir.pushdwn", "on").unwrap_err();
        assert!(error.hint().is_some_and(|hint| hint.starts_with("did you mean weir.pushdown")), "{error:?}");
        assert_eq!(error.code(), ErrorCode::UnknownSetting);
        for (name, value) in [("weir.read", "maybe"), ("timezone", "Nope/Zone"), ("timezone", ""), ("statement_timeout", "soon"), ("weir.as_of", "then")] {
            assert_eq!(settings.set(name, value).unwrap_err().code(), ErrorCode::BadSetting, "{name} = {value}");
        }
        settings.set("TimeZone", "Asia/Kolkata").unwrap();
        assert!(settings.set("client_encoding", "LATIN1").is_err());
        settings.set("client_encoding", "utf-8").unwrap();
        settings.set("DateStyle", "ISO, YMD").unwrap();
        assert!(settings.set("datestyle", "German").is_err());
        assert!(settings.set("bytea_output", "escape").is_err());
    }
}
