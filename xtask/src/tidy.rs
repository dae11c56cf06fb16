// SPDX-License-Identifier: Apache-2.0
//! `cargo xtask tidy`: runs every check over the work tree and prints what it found.

use crate::finding::Finding;
use crate::worktree::{TextFile, read, root};
use crate::{links, lockfile, manifests, rust_text, text, tree};
use std::process::ExitCode;

pub fn main() -> ExitCode {
    let root = root();
    let files = match read(&root) {
        Ok(files) => files,
        Err(error) => {
            eprintln!("tidy: {error}");
            return ExitCode::FAILURE;
        }
    };
    let findings = check(&files, |path| root.join(path).exists());
    for finding in &findings {
        println!("{finding}");
    }
    match findings.len() {
        0 => println!("tidy: {} files, nothing to do", files.len()),
        count => println!("tidy: {} files, {count} to put right", files.len()),
    }
    if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn check(files: &[TextFile], exists: impl Fn(&str) -> bool) -> Vec<Finding> {
    let checks =
        [manifests::check(files), rust_text::check(files), text::check(files), lockfile::check(files), tree::check(files), links::check(files, exists)];
    let mut findings = checks.concat();
    findings.sort();
    findings.dedup();
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_come_sorted_and_once() {
        let files = [TextFile::sample("b.rs", "fn a() {}\n"), TextFile::sample("a.md", "[x](y.md)\n")];
        let findings = check(&files, |_| false);
        let places: Vec<&str> = findings.iter().map(|finding| finding.file.as_str()).collect();
        assert_eq!(places, ["ARCHITECTURE.md", "Cargo.lock", "a.md", "b.rs"]);
        assert_eq!(findings[2].to_string(), "a.md:1: the link to `y.md` leads nowhere\n    there is no y.md");
    }
}
