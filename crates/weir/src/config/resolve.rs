// SPDX-License-Identifier: Apache-2.0
//! From the raw to the resolved configuration: defaults, units, paths, and every rule that a schema cannot say.

use crate::config::access::resolve_access;
use crate::config::paths::{absolute, absolute_url};
use crate::config::problem::Findings;
use crate::config::raw::{RawCatalogKind, RawConfig, RawLake, RawListen, RawTls};
use crate::config::resolved::{Config, LakeCatalog, LakeSettings, Listen, Login, S3Settings, TlsFiles};
use crate::config::sources::resolve_sources;
use crate::config::written::unit;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use weir_base::{ByteSize, SourceName};

const POSTGRES_PORT: u16 = 5439;
const HTTP_PORT: u16 = 8642;
const LAKE_NAME: &str = "lake";
/// Below this, not even one query runs.
const MEMORY_LIMIT_MIN: ByteSize = ByteSize(16 * 1024 * 1024);
/// When the machine does not tell how much it has.
const MEMORY_LIMIT_FALLBACK: ByteSize = ByteSize(1024 * 1024 * 1024);

/// Checks and fills in. `None` when anything is wrong; the mistakes are in `findings`.
pub(crate) fn resolve(raw: RawConfig, file: &Path, findings: &mut Findings) -> Option<Config> {
    let folder = file.parent().unwrap_or(Path::new("/"));
    let data_dir = absolute(folder, raw.data_dir.as_deref().unwrap_or("./data"));
    let spill_dir = raw.spill_dir.as_deref().map_or_else(|| data_dir.join("spill"), |path| absolute(folder, path));
    let listen = resolve_listen(raw.listen.unwrap_or_default(), folder, findings);
    let lake = raw.lake.and_then(|lake| resolve_lake(lake, folder, &data_dir, findings));
    let memory_limit = resolve_memory(raw.memory_limit.as_deref(), findings);
    let raw_sources = raw.sources.unwrap_or_default();
    // As written, so that a source with a mistake is not unknown too.
    let names: Vec<String> = raw_sources.keys().cloned().chain(lake.iter().map(|lake| lake.name.as_str().to_owned())).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let (sources, table_rules) = resolve_sources(raw_sources, lake.as_ref(), folder, findings);
    let (login, policy) = resolve_access(raw.auth.unwrap_or_default(), raw.users, raw.roles, &names, findings);
    if login == Login::Open {
        refuse_open_beyond_loopback(&listen, findings);
    }
    note_what_is_not_read(folder, findings);
    findings.clean().then(|| Config {
        file: file.to_owned(),
        data_dir,
        listen,
        lake,
        sources,
        table_rules,
        login,
        policy,
        memory_limit,
        spill_dir,
        notes: Vec::new(),
    })
}

fn resolve_listen(raw: RawListen, folder: &Path, findings: &mut Findings) -> Listen {
    let local = |port| Some(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let mut door = |key: &str, text: Option<String>, default: Option<SocketAddr>| match text {
        Some(text) => findings.accept(key, parse_address(&text)).flatten(),
        None => default,
    };
    let postgres = door("listen.postgres", raw.postgres, local(POSTGRES_PORT));
    let http = door("listen.http", raw.http, local(HTTP_PORT));
    let flight = door("listen.flight", raw.flight, None);
    if flight.is_some() {
        findings.note("listen.flight: the Flight SQL door is not in this version; nothing listens there");
    }
    if postgres.is_some_and(|address| address.port() != 0 && Some(address) == http) {
        findings.problem("listen.http", "is the same address as listen.postgres");
    }
    let tls = raw.tls.map(|tls| resolve_tls(tls, folder, findings));
    Listen { postgres, http, tls }
}

fn resolve_tls(raw: RawTls, folder: &Path, findings: &mut Findings) -> TlsFiles {
    let mut file = |key: &str, path: &str| {
        let path = absolute(folder, path);
        if !path.is_file() {
            findings.problem(key, format!("{} is not a file", path.display()));
        }
        path
    };
    TlsFiles { cert: file("listen.tls.cert", &raw.cert), key: file("listen.tls.key", &raw.key) }
}

/// ADDRESS:PORT with an IP address, `localhost` or `*`; `off` is `None`.
fn parse_address(text: &str) -> Result<Option<SocketAddr>, String> {
    if text == "off" || text == "false" {
        return Ok(None);
    }
    if let Ok(address) = text.parse() {
        return Ok(Some(address));
    }
    let wrong = || "is not ADDRESS:PORT; write an IP address, localhost or * and a port, such as 127.0.0.1:5439, or off".to_owned();
    let (host, port) = text.rsplit_once(':').ok_or_else(wrong)?;
    let port: u16 = port.parse().map_err(|_| wrong())?;
    match host {
        "localhost" => Ok(Some(SocketAddr::from((Ipv4Addr::LOCALHOST, port)))),
        "*" => Ok(Some(SocketAddr::from((Ipv4Addr::UNSPECIFIED, port)))),
        _ => Err(wrong()),
    }
}

fn refuse_open_beyond_loopback(listen: &Listen, findings: &mut Findings) {
    for (key, address) in [("listen.postgres", listen.postgres), ("listen.http", listen.http)] {
        let beyond = address.map(|address| address.ip()).filter(|ip: &IpAddr| !ip.is_loopback());
        if beyond.is_some() {
            findings.problem(key, "is reachable from other machines, which `auth: { mode: open }` does not allow; listen on 127.0.0.1 or use scram");
        }
    }
}

fn resolve_lake(raw: RawLake, folder: &Path, data_dir: &Path, findings: &mut Findings) -> Option<LakeSettings> {
    let name = raw.name.unwrap_or_else(|| LAKE_NAME.to_owned());
    findings.accept("lake.name", crate::config::sources::check_name(&name));
    let lake_dir = data_dir.join("lake");
    let warehouse = raw.warehouse.map_or_else(|| format!("file://{}", lake_dir.display()), |url| absolute_url(folder, &url));
    let on_s3 = warehouse.starts_with("s3://");
    if !on_s3 && !warehouse.starts_with("file://") {
        findings.problem("lake.warehouse", "must begin with file:// or s3://");
    }
    let catalog = match raw.catalog {
        None => LakeCatalog::Sql { url: format!("sqlite://{}", lake_dir.join("catalog.db").display()) },
        Some(catalog) => match (catalog.kind, catalog.url) {
            (RawCatalogKind::Sql, Some(url)) if !url.starts_with("sqlite:") => {
                findings.problem("lake.catalog.url", "must begin with sqlite:// for a catalog of type sql");
                return None;
            }
            (RawCatalogKind::Sql, Some(url)) => LakeCatalog::Sql { url: absolute_url(folder, &url) },
            (RawCatalogKind::Sql, None) => LakeCatalog::Sql { url: format!("sqlite://{}", lake_dir.join("catalog.db").display()) },
            (RawCatalogKind::Rest, url) => {
                findings.problem("lake.catalog.type", "rest is not in this version yet; use { type: sql }");
                LakeCatalog::Rest { url: url.unwrap_or_default(), token: catalog.token }
            }
        },
    };
    let s3 = raw.s3.map(|s3| S3Settings {
        path_style: s3.path_style.unwrap_or(s3.endpoint.is_some()),
        endpoint: s3.endpoint,
        region: s3.region.unwrap_or_else(|| "us-east-1".to_owned()),
        access_key: s3.access_key,
        secret_key: s3.secret_key,
    });
    if let Some(s3) = &s3
        && s3.access_key.is_some() != s3.secret_key.is_some()
    {
        findings.problem("lake.s3", "needs both access_key and secret_key, or neither");
    }
    Some(LakeSettings { name: SourceName::new(name), catalog, warehouse, s3 })
}

fn resolve_memory(text: Option<&str>, findings: &mut Findings) -> ByteSize {
    let Some(text) = text else { return half_of_memory() };
    match findings.accept("memory_limit", unit::<ByteSize>(text)) {
        Some(limit) if limit < MEMORY_LIMIT_MIN => {
            findings.problem("memory_limit", format!("must be at least {}", MEMORY_LIMIT_MIN.exact()));
            limit
        }
        Some(limit) => limit,
        None => MEMORY_LIMIT_FALLBACK,
    }
}

/// Half of the machine's memory; a container's own limit counts where it is lower.
fn half_of_memory() -> ByteSize {
    let meminfo = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:")?.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    let cgroup = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse::<u64>().ok());
    let total = total.map(|kib| kib.saturating_mul(1024));
    match total.into_iter().chain(cgroup).min() {
        Some(bytes) => ByteSize(bytes / 2).max(MEMORY_LIMIT_MIN),
        None => MEMORY_LIMIT_FALLBACK,
    }
}

fn note_what_is_not_read(folder: &Path, findings: &mut Findings) {
    for name in ["models", "rollups", "policies.yaml"] {
        let path: PathBuf = folder.join(name);
        if path.exists() {
            findings.note(format!("{name} is there but is not read by this version"));
        }
    }
}
