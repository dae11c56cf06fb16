// SPDX-License-Identifier: Apache-2.0
//! Who may use whom: the absences of ARCHITECTURE.md, read from the crates' manifests and, where a manifest cannot tell, from the code.

use crate::finding::Finding;
use crate::rust_text::is_test_file;
use crate::scanner::{blank, line_of, test_lines};
use crate::worktree::TextFile;
use toml::{Table, Value};

/// Room and what it may use of ours. Each stands on what is above it.
const ROOMS: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("api", &["base"]),
    ("semantic", &["base", "api"]),
    ("policy", &["base", "api"]),
    ("guard", &["base", "api"]),
    ("catalog", &["base", "api", "guard", "policy"]),
    ("source", &["base", "guard"]),
    ("lake", &["base", "guard"]),
    ("serving", &["base", "guard"]),
    ("engine", &["base", "api", "semantic", "policy", "guard", "catalog", "source", "lake", "serving"]),
    ("replicate", &["base", "guard", "catalog", "source", "lake"]),
    ("materialize", &["base", "api", "catalog", "lake"]),
    ("server", &["base", "api", "policy"]),
    ("sandbox", &["base"]),
];

/// Rooms that may use everything: where the parts meet, and what looks at the whole from outside.
const ROOMS_ABOVE: &[&str] = &["weir", "tests", "bench", "xtask"];

/// Rooms that name the query engine. The bench compares with it.
const MAY_NAME_DATAFUSION: &[&str] = &["engine", "bench"];

/// Rooms that decide and speak, and touch neither disk nor network.
const PURE: &[&str] = &["base", "api", "semantic", "policy", "guard"];

const IO_CRATES: &[&str] = &[
    "sqlx",
    "reqwest",
    "hyper",
    "hyper-util",
    "axum",
    "tonic",
    "tokio-postgres",
    "mysql_async",
    "object_store",
    "opendal",
    "iceberg",
    "adbc_driver_manager",
    "pgwire",
];

const IO_PATHS: &[&str] = &["std::fs", "std::net", "std::process", "tokio::fs", "tokio::net", "tokio::process", "File::open", "TcpStream", "TcpListener"];

const TABLES: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];

/// One line of a dependency table.
struct Dependency {
    name: String,
    from_workspace: bool,
    dev: bool,
    line: usize,
}

pub fn check(files: &[TextFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.path.ends_with("/Cargo.toml")) {
        match dependencies(file) {
            Ok(dependencies) => findings.extend(dependencies.iter().flat_map(|dependency| dependency_findings(file, dependency))),
            Err(finding) => findings.push(finding),
        }
    }
    for file in files.iter().filter(|file| file.has_extension("rs")) {
        findings.extend(code_findings(file));
    }
    findings
}

/// `crates/engine/src/x.rs` is in the room `engine`, `bench/Cargo.toml` in `bench`.
fn room(path: &str) -> &str {
    let inner = path.strip_prefix("crates/").unwrap_or(path);
    inner.split('/').next().unwrap_or(inner)
}

fn dependencies(file: &TextFile) -> Result<Vec<Dependency>, Finding> {
    let parsed: Table = file.text.parse().map_err(|error| Finding::new(&file.path, 1, format!("not TOML: {error}"), "correct the manifest"))?;
    let mut found = tables_in(&parsed, file);
    let targets = parsed.get("target").and_then(Value::as_table);
    for target in targets.into_iter().flat_map(|targets| targets.values()).filter_map(Value::as_table) {
        found.extend(tables_in(target, file));
    }
    Ok(found)
}

fn tables_in(parent: &Table, file: &TextFile) -> Vec<Dependency> {
    let mut found = Vec::new();
    for table in TABLES {
        let Some(entries) = parent.get(*table).and_then(Value::as_table) else { continue };
        for (name, value) in entries {
            let from_workspace = value.get("workspace").and_then(Value::as_bool) == Some(true);
            found.push(Dependency { name: name.clone(), from_workspace, dev: *table == "dev-dependencies", line: line_naming(&file.text, table, name) });
        }
    }
    found
}

/// The line on which `name` is a key in the table; the first line when the manifest writes it in some other way.
fn line_naming(text: &str, table: &str, name: &str) -> usize {
    let header = format!("[{table}]");
    let start = text.lines().position(|line| line.trim() == header).unwrap_or(0);
    let names = |line: &str| line.strip_prefix(name).is_some_and(|rest| rest.starts_with(['.', ' ', '=']));
    text.lines().skip(start).position(|line| names(line.trim_start())).map_or(1, |offset| start + offset + 1)
}

fn dependency_findings(file: &TextFile, dependency: &Dependency) -> Vec<Finding> {
    let room = room(&file.path);
    let Dependency { name, line, .. } = dependency;
    let finding = |what: String, todo: &str| Finding::new(&file.path, *line, what, todo);
    let mut findings = Vec::new();
    if !dependency.from_workspace {
        findings.push(finding(
            format!("`{name}` has a version of its own"),
            "put version and features into [workspace.dependencies] and write `.workspace = true` here",
        ));
    }
    if name.starts_with("datafusion") && !MAY_NAME_DATAFUSION.contains(&room) {
        findings.push(finding(format!("`{room}` depends on {name}"), "only `engine` names DataFusion: put what is needed behind its interface"));
    }
    if PURE.contains(&room) && !dependency.dev && IO_CRATES.contains(&name.as_str()) {
        findings.push(finding(format!("`{room}` decides and does no IO, but depends on {name}"), "move the IO into a room of places, movement or surface"));
    }
    if let Some(other) = name.strip_prefix("weir-") {
        findings.extend(may_use(room, other, dependency.dev).map(|todo| finding(format!("`{room}` depends on `{other}`"), &todo)));
    }
    findings
}

/// None when `room` may use `other`, else what to do.
fn may_use(room: &str, other: &str, dev: bool) -> Option<String> {
    if ROOMS_ABOVE.contains(&room) || (dev && other == "sandbox") {
        return None;
    }
    let Some((_, allowed)) = ROOMS.iter().find(|(name, _)| *name == room) else {
        return Some(format!("`{room}` is a new room: give it its place in xtask/src/manifests.rs and in ARCHITECTURE.md"));
    };
    let todo = format!("it may use {}; speak through what both know", if allowed.is_empty() { "nothing of ours".to_owned() } else { allowed.join(", ") });
    (!allowed.contains(&other)).then_some(todo)
}

fn code_findings(file: &TextFile) -> Vec<Finding> {
    let room = room(&file.path);
    if room == "xtask" || is_test_file(&file.path) {
        return Vec::new();
    }
    let blanked = blank(&file.text);
    let tests = test_lines(&blanked);
    let hits = |word: &str, what: String, todo: &str| -> Vec<Finding> {
        let lines = blanked.match_indices(word).map(|(at, _)| line_of(&blanked, at));
        let product = lines.filter(|line| !tests.iter().any(|(first, last)| (first..=last).contains(&line)));
        product.map(|line| Finding::new(&file.path, line, what.clone(), todo)).collect()
    };
    let mut findings = Vec::new();
    if !MAY_NAME_DATAFUSION.contains(&room) {
        findings.extend(hits("datafusion::", format!("`{room}` names DataFusion"), "only `engine` does: put what is needed behind its interface"));
    }
    if room != "guard" {
        findings.extend(hits("Permit::new", "a permit made outside `guard`".into(), "ask the guard for one"));
    }
    if PURE.contains(&room) {
        let io = IO_PATHS.iter().flat_map(|path| hits(path, format!("`{room}` decides and does no IO, but uses {path}"), "move the IO into another room"));
        findings.extend(io);
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whats(path: &str, text: &str) -> Vec<String> {
        check(&[TextFile::sample(path, text)]).into_iter().map(|f| format!("{}: {}", f.line, f.what)).collect()
    }

    #[test]
    fn only_the_engine_depends_on_datafusion() {
        let manifest = "[package]\nname = \"x\"\n[dependencies]\ndatafusion.workspace = true\n";
        assert!(whats("crates/engine/Cargo.toml", manifest).is_empty());
        assert_eq!(whats("crates/lake/Cargo.toml", manifest), ["4: `lake` depends on datafusion"]);
        assert_eq!(whats("crates/lake/src/a.rs", "// datafusion::x\nuse datafusion::x;\n"), ["2: `lake` names DataFusion"]);
    }

    #[test]
    fn rooms_use_only_what_stands_above() {
        let server = "[dependencies]\nweir-api.workspace = true\nweir-engine.workspace = true\n[dev-dependencies]\nweir-sandbox.workspace = true\n";
        assert_eq!(whats("crates/server/Cargo.toml", server), ["3: `server` depends on `engine`"]);
        assert_eq!(whats("crates/lake/Cargo.toml", "[dependencies]\nweir-source.workspace = true\n"), ["2: `lake` depends on `source`"]);
        assert_eq!(whats("crates/garage/Cargo.toml", "[dependencies]\nweir-base.workspace = true\n").len(), 1);
        assert!(whats("crates/weir/Cargo.toml", server).is_empty());
    }

    #[test]
    fn versions_stand_in_the_workspace_only() {
        let manifest = "[dependencies]\nbytes = \"1\"\n[target.'cfg(unix)'.dependencies]\nlibc = { version = \"0.2\" }\n[dev-dependencies]\nrand = { workspace = true, features = [\"x\"] }\n";
        assert_eq!(whats("crates/source/Cargo.toml", manifest), ["2: `bytes` has a version of its own", "4: `libc` has a version of its own"]);
    }

    #[test]
    fn pure_rooms_do_no_io() {
        assert_eq!(whats("crates/policy/Cargo.toml", "[dependencies]\nsqlx.workspace = true\n").len(), 1);
        let code = "fn a() { std::fs::read(x); }\n#[cfg(test)]\nmod tests { fn b() { std::fs::read(x); } }\n";
        assert_eq!(whats("crates/policy/src/a.rs", code), ["1: `policy` decides and does no IO, but uses std::fs"]);
        assert!(whats("crates/source/src/a.rs", code).is_empty());
    }

    #[test]
    fn permits_come_from_the_guard() {
        assert_eq!(whats("crates/source/src/a.rs", "fn a() { Permit::new(x) }\n"), ["1: a permit made outside `guard`"]);
        assert!(whats("crates/guard/src/a.rs", "fn a() { Permit::new(x) }\n").is_empty());
    }
}
