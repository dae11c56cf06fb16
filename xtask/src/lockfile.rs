// SPDX-License-Identifier: Apache-2.0
//! One version of each heavy crate: two of them would not understand each other's types, and double the build.

use crate::finding::Finding;
use crate::worktree::TextFile;
use toml::{Table, Value};

const ONE_VERSION: &[&str] = &[
    "arrow",
    "arrow-array",
    "arrow-schema",
    "datafusion",
    "iceberg",
    "libsqlite3-sys",
    "mysql_async",
    "parquet",
    "pgwire",
    "rustls",
    "sqlx-core",
    "tokio",
    "tokio-postgres",
];

pub fn check(files: &[TextFile]) -> Vec<Finding> {
    let Some(file) = files.iter().find(|file| file.path == "Cargo.lock") else {
        return vec![Finding::new("Cargo.lock", 1, "there is no Cargo.lock", "commit it: the build must be the same everywhere")];
    };
    let parsed: Table = match file.text.parse() {
        Ok(parsed) => parsed,
        Err(error) => return vec![Finding::new(&file.path, 1, format!("not TOML: {error}"), "let cargo write it again")],
    };
    let packages = parsed.get("package").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    ONE_VERSION.iter().filter_map(|name| several(file, packages, name)).collect()
}

fn several(file: &TextFile, packages: &[Value], name: &str) -> Option<Finding> {
    let field = |package: &Value, key: &str| package.get(key).and_then(Value::as_str).map(str::to_owned);
    let named = packages.iter().filter(|package| field(package, "name").as_deref() == Some(name));
    let versions: Vec<String> = named.filter_map(|package| field(package, "version")).collect();
    if versions.len() < 2 {
        return None;
    }
    let wanted = format!("name = \"{name}\"");
    let line = file.text.lines().position(|line| line == wanted).map_or(1, |at| at + 1);
    let todo = format!("`cargo tree -d -i {name}` shows who wants which; move the set together in [workspace.dependencies]");
    Some(Finding::new(&file.path, line, format!("{} versions of {name}: {}", versions.len(), versions.join(", ")), todo))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_arrows_are_one_too_many() {
        let one = "[[package]]\nname = \"arrow\"\nversion = \"58.4.1\"\n[[package]]\nname = \"rand\"\nversion = \"0.8.0\"\n[[package]]\nname = \"rand\"\nversion = \"0.9.0\"\n";
        assert!(check(&[TextFile::sample("Cargo.lock", one)]).is_empty());
        let two = format!("{one}[[package]]\nname = \"arrow\"\nversion = \"59.0.0\"\n");
        let findings = check(&[TextFile::sample("Cargo.lock", &two)]);
        assert_eq!(findings.len(), 1);
        assert_eq!((findings[0].line, findings[0].what.as_str()), (2, "2 versions of arrow: 58.4.1, 59.0.0"));
        assert_eq!(check(&[])[0].what, "there is no Cargo.lock");
    }
}
