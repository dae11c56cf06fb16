// SPDX-License-Identifier: Apache-2.0
//! Sources of a configuration: names, connectors and their options, limits, table rules.

use crate::config::paths::{absolute_option, absolute_url};
use crate::config::problem::{Findings, did_you_mean};
use crate::config::raw::{RawInfinity, RawLimits, RawNan, RawSource, RawTableRule, RawUnknownForecast, RawValues};
use crate::config::resolved::{LakeSettings, TableRule};
use crate::config::written::unit;
use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;
use std::time::Duration;
use weir_base::limits::SOURCES_MAX;
use weir_base::{ByteSize, SourceName, Span};
use weir_guard::{Limits, UnknownForecast};
use weir_source::{CONNECTORS, ConnectorKind, SourceSpec, ValuePolicy};

/// Names that mean something else in SQL.
const RESERVED: [&str; 4] = ["system", "information_schema", "pg_catalog", "weir"];
const NAME_CHARS_MAX: usize = 63;
/// Kinds that the contract names and that a later version brings.
const LATER: [&str; 4] = ["clickhouse", "flight_sql", "duckdb", "http"];
/// More sessions than this would hardly be a protection.
const CONNECTIONS_MAX: u64 = 1_000;
const DAY: Duration = Duration::from_secs(86_400);
const HOUR: Duration = Duration::from_secs(3_600);

pub(crate) fn resolve_sources(
    raw: BTreeMap<String, RawSource>,
    lake: Option<&LakeSettings>,
    folder: &Path,
    findings: &mut Findings,
) -> (Vec<SourceSpec>, Vec<TableRule>) {
    if raw.len() > SOURCES_MAX {
        findings.problem("sources", format!("are more than {SOURCES_MAX}"));
    }
    let mut specs = Vec::new();
    let mut rules = Vec::new();
    for (name, source) in raw {
        let key = format!("sources.{name}");
        findings.accept(&key, check_name(&name));
        if lake.is_some_and(|lake| lake.name.as_str() == name) {
            findings.problem(&key, "is the name of the lake too; rename one of them");
        }
        rules.extend(resolve_rules(&name, source.tables.as_ref(), &key, findings));
        specs.extend(resolve_source(name, source, &key, folder, findings));
    }
    (specs, rules)
}

/// Lower-case letters, digits and `_`, so that a name never needs quotes.
pub(crate) fn check_name(name: &str) -> Result<(), String> {
    let starts_well = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
    if !starts_well || !name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_') {
        return Err("is not a name; write lower-case letters, digits and _, beginning with a letter".into());
    }
    if name.len() > NAME_CHARS_MAX {
        return Err(format!("is longer than {NAME_CHARS_MAX} characters"));
    }
    if RESERVED.contains(&name) {
        return Err(format!("is reserved, as are {}", RESERVED.join(", ")));
    }
    Ok(())
}

fn resolve_source(name: String, raw: RawSource, key: &str, folder: &Path, findings: &mut Findings) -> Option<SourceSpec> {
    let kind = findings.accept(&format!("{key}.type"), connector(&raw.kind));
    let limits = resolve_limits(raw.limits.unwrap_or_default(), &format!("{key}.limits"), findings);
    let (nan, infinity) = resolve_values(raw.values.unwrap_or_default());
    let kind = kind?;
    let options = resolve_options(kind, raw.own, raw.options, key, folder, findings);
    let spec = SourceSpec {
        name: SourceName::new(name),
        kind: kind.word.to_owned(),
        url: absolute_url(folder, &raw.url.unwrap_or_default()),
        allow_primary: raw.allow_primary.unwrap_or(false),
        nan,
        infinity,
        limits,
        options,
    };
    check_with_connector(&spec, key, findings);
    Some(spec)
}

fn connector(word: &str) -> Result<&'static ConnectorKind, String> {
    if let Some(kind) = CONNECTORS.iter().find(|kind| kind.word == word) {
        return Ok(kind);
    }
    let known: Vec<&str> = CONNECTORS.iter().map(|kind| kind.word).collect();
    if LATER.contains(&word) {
        return Err(format!("{word} is not in this version; it has {}", known.join(", ")));
    }
    let near = did_you_mean(word, known.iter().copied());
    Err(format!("must be one of {}{near}", known.join(", ")))
}

/// The connector itself knows which URLs and options it can use; it opens no connection for that.
fn check_with_connector(spec: &SourceSpec, key: &str, findings: &mut Findings) {
    if findings.spoiled(key) {
        return;
    }
    if let Err(error) = weir_source::connect(spec.clone()) {
        let detail = error.detail().map(|detail| format!(" ({detail})")).unwrap_or_default();
        let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
        if spec.url.is_empty() && error.message().contains("url") {
            findings.problem(&format!("{key}.url"), format!("is missing{hint}"));
            return;
        }
        let message = format!("{}{detail}{hint}", error.message());
        let at = if error.message().contains("url") && !spec.url.is_empty() { format!("{key}.url") } else { key.to_owned() };
        findings.problem(&at, message);
    }
}

/// Own options stand beside `type`; `options` go to the driver as they are, where the connector has such a thing.
fn resolve_options(
    kind: &ConnectorKind,
    own: BTreeMap<String, String>,
    driver: Option<BTreeMap<String, String>>,
    key: &str,
    folder: &Path,
    findings: &mut Findings,
) -> BTreeMap<String, String> {
    let known = |name: &str| kind.options.iter().any(|(option, _)| *option == name);
    for name in own.keys().filter(|name| !known(name)) {
        let near = did_you_mean(name, kind.options.iter().map(|(option, _)| *option));
        findings.problem(&format!("{key}.{name}"), format!("is not an option of a {} source{near}", kind.word));
    }
    if driver.is_some() && kind.word != "adbc" && !known("options") {
        findings.problem(&format!("{key}.options"), format!("is not an option of a {} source", kind.word));
    }
    let all = own.into_iter().chain(driver.unwrap_or_default());
    all.map(|(name, value)| (name, absolute_option(folder, value))).collect()
}

fn resolve_limits(raw: RawLimits, key: &str, findings: &mut Findings) -> Limits {
    let default = Limits::default();
    let queue = raw.queue.unwrap_or_default();
    let connections = raw.connections.unwrap_or(default.connections as u64);
    if connections == 0 || connections > CONNECTIONS_MAX {
        findings.problem(&format!("{key}.connections"), format!("must be between 1 and {CONNECTIONS_MAX}"));
    }
    if raw.rows_per_query == Some(0) {
        findings.problem(&format!("{key}.rows_per_query"), "must be at least 1; leave the key out for no limit");
    }
    if raw.rows_per_day == Some(0) {
        findings.problem(&format!("{key}.rows_per_day"), "must be at least 1; leave the key out for no limit");
    }
    if raw.connections_per_user.is_some_and(|each| each == 0 || each > connections) {
        findings.problem(&format!("{key}.connections_per_user"), format!("must be between 1 and connections, which is {connections}"));
    }
    let mut bytes = |name: &str, text: Option<String>| {
        let key = format!("{key}.{name}");
        let bytes: Option<ByteSize> = parsed(text, &key, findings);
        if bytes == Some(ByteSize(0)) {
            findings.problem(&key, "must be at least 1B; leave the key out for no limit");
        }
        bytes.map(|bytes| bytes.0)
    };
    let (bytes_per_query, bytes_per_day) = (bytes("bytes_per_query", raw.bytes_per_query), bytes("bytes_per_day", raw.bytes_per_day));
    let mut span = |name: &str, text: Option<String>, max: Duration| {
        let key = format!("{key}.{name}");
        let span: Option<Span> = parsed(text, &key, findings);
        if span.is_some_and(|span| span.0.is_zero() || span.0 > max) {
            findings.problem(&key, format!("must be between 1ms and {}", Span(max)));
        }
        span.map(|span| span.0)
    };
    Limits {
        connections: usize::try_from(connections).unwrap_or(1),
        connections_per_user: raw.connections_per_user.and_then(|each| usize::try_from(each).ok()),
        statement_timeout: span("statement_timeout", raw.statement_timeout, DAY).unwrap_or(default.statement_timeout),
        rows_per_query: raw.rows_per_query,
        bytes_per_query,
        rows_per_day: raw.rows_per_day,
        bytes_per_day,
        time_per_query: span("time_per_query", raw.time_per_query, DAY),
        unknown_forecast: match raw.unknown_forecast {
            Some(RawUnknownForecast::Refuse) => UnknownForecast::Refuse,
            Some(RawUnknownForecast::Run) | None => UnknownForecast::Run,
        },
        queue_wait_max: span("queue.max_wait", queue.max_wait, HOUR).unwrap_or(default.queue_wait_max),
        queue_waiting_max: queue.max_waiting.map_or(default.queue_waiting_max, |count| usize::try_from(count).unwrap_or(usize::MAX)),
        replica_lag_max: span("replica_lag", raw.replica_lag, DAY),
    }
}

fn parsed<T: FromStr<Err = String>>(text: Option<String>, key: &str, findings: &mut Findings) -> Option<T> {
    text.and_then(|text| findings.accept(key, unit(&text)))
}

fn resolve_values(raw: RawValues) -> (ValuePolicy, ValuePolicy) {
    let nan = match raw.nan {
        None | Some(RawNan::Keep) => ValuePolicy::Keep,
        Some(RawNan::Error) => ValuePolicy::Error,
        Some(RawNan::Null) => ValuePolicy::Null,
    };
    let infinity = match raw.infinity {
        None | Some(RawInfinity::Keep) => ValuePolicy::Keep,
        Some(RawInfinity::Error) => ValuePolicy::Error,
        Some(RawInfinity::Null) => ValuePolicy::Null,
        Some(RawInfinity::Clamp) => ValuePolicy::Clamp,
    };
    (nan, infinity)
}

fn resolve_rules(source: &str, raw: Option<&BTreeMap<String, RawTableRule>>, key: &str, findings: &mut Findings) -> Vec<TableRule> {
    let mut rules = Vec::new();
    for (name, rule) in raw.into_iter().flatten() {
        let key = format!("{key}.tables.{name}");
        let (schema, table) = match name.split_once('.') {
            Some((schema, table)) if !schema.is_empty() && !table.is_empty() && !table.contains('.') => (schema, table),
            _ => {
                findings.problem(&key, "is not a table of the source; write schema.table");
                continue;
            }
        };
        let require_filter = rule.require_filter.clone().unwrap_or_default();
        if require_filter.iter().any(String::is_empty) {
            findings.problem(&format!("{key}.require_filter"), "names an empty column");
        }
        rules.push(TableRule {
            source: SourceName::new(source),
            schema: schema.into(),
            table: table.into(),
            require_filter,
            strict: rule.strict.unwrap_or(false),
        });
    }
    rules
}
