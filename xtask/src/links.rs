// SPDX-License-Identifier: Apache-2.0
//! Relative links in Markdown lead somewhere.

use crate::finding::Finding;
use crate::worktree::TextFile;
use std::path::Path;

/// Checks the links of all Markdown files; `exists` answers for a path relative to the root.
pub fn check(files: &[TextFile], exists: impl Fn(&str) -> bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in files.iter().filter(|file| file.has_extension("md")) {
        for (line, target) in links(&file.text) {
            let Some(path) = relative_path(&file.path, &target) else { continue };
            if !exists(&path) {
                findings.push(Finding::new(&file.path, line, format!("the link to `{target}` leads nowhere"), format!("there is no {path}")));
            }
        }
    }
    findings
}

/// Line and target of each `[text](target)` outside of code.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut in_code = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
            continue;
        }
        if in_code || line.starts_with("    ") {
            continue;
        }
        // Every other piece stands between backticks.
        for piece in line.split('`').step_by(2) {
            found.extend(piece.match_indices("](").filter_map(|(at, _)| target(&piece[at + 2..])).map(|target| (index + 1, target)));
        }
    }
    found
}

/// The target without its title.
fn target(rest: &str) -> Option<String> {
    let inside = rest.split(')').next()?;
    inside.split_whitespace().next().map(|target| target.trim_matches(['<', '>']).to_owned())
}

/// The path a link means, relative to the root; none for the web, mail and places in the same file.
fn relative_path(from: &str, target: &str) -> Option<String> {
    let elsewhere = target.contains("://") || target.starts_with("mailto:") || target.starts_with('#');
    if elsewhere {
        return None;
    }
    let without_anchor = target.split('#').next().unwrap_or(target);
    let folder = Path::new(from).parent().unwrap_or(Path::new(""));
    let mut parts: Vec<&str> = folder.iter().filter_map(|part| part.to_str()).collect();
    for part in without_anchor.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                // One too many leads out of the repository, where nothing may be linked.
                if parts.pop().is_none() {
                    return Some(target.to_owned());
                }
            }
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_links_are_found_and_code_is_left_alone() {
        let text =
            "[a](other.md#part) [b](https://x.y/z) `[c](nowhere.md)`\n```\n[d](nowhere.md)\n```\n[e](../nowhere.md \"title\") [f](#here)\n[g](../../out.md)\n";
        let exists = |path: &str| path == "docs/other.md";
        let findings = check(&[TextFile::sample("docs/a.md", text)], exists);
        let seen: Vec<(usize, &str)> = findings.iter().map(|f| (f.line, f.todo.as_str())).collect();
        assert_eq!(seen, [(5, "there is no nowhere.md"), (6, "there is no ../../out.md")]);
    }
}
