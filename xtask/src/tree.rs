// SPDX-License-Identifier: Apache-2.0
//! The tree drawn in ARCHITECTURE.md is the tree on disk: every folder with code is in the picture, and the picture shows nothing else.

use crate::finding::Finding;
use crate::worktree::TextFile;
use std::collections::BTreeSet;

const PAGE: &str = "ARCHITECTURE.md";
const HEADING: &str = "The tree";

pub fn check(files: &[TextFile]) -> Vec<Finding> {
    let Some(page) = files.iter().find(|file| file.path == PAGE) else {
        return vec![Finding::new(PAGE, 1, "there is no ARCHITECTURE.md", "write it: the house, its rooms and its absences")];
    };
    let drawn = drawn(&page.text);
    if drawn.is_empty() {
        let todo = "draw the folders in a code block, one a line: `crates/`, then indented `base/   what it is for`";
        return vec![Finding::new(PAGE, 1, format!("there is no code block under the heading \"{HEADING}\""), todo)];
    }
    let on_disk = on_disk(files);
    let mut findings = Vec::new();
    for (line, folder) in &drawn {
        if !on_disk.contains(folder) && !is_folder(files, folder) {
            findings.push(Finding::new(PAGE, *line, format!("the tree shows `{folder}/`, which is not there"), "remove it from the picture until it is born"));
        }
    }
    for folder in &on_disk {
        if !drawn.iter().any(|(_, known)| known == folder) {
            findings.push(Finding::new(PAGE, drawn[0].0, format!("the tree does not show `{folder}/`"), "add a line that says what it is for"));
        }
    }
    findings
}

/// What the picture must show: every folder at the top that is not hidden, and every crate.
fn on_disk(files: &[TextFile]) -> BTreeSet<String> {
    let top = files.iter().filter_map(|file| file.path.split_once('/')).map(|(top, _)| top).filter(|top| !top.starts_with('.'));
    let crates = files.iter().filter_map(|file| file.path.strip_suffix("/Cargo.toml")).filter(|path| path.starts_with("crates/"));
    top.chain(crates).map(str::to_owned).collect()
}

fn is_folder(files: &[TextFile], folder: &str) -> bool {
    files.iter().any(|file| file.path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/')))
}

/// Line number and path of each folder in the picture. A line is `name/  words`; deeper indentation means inside.
fn drawn(text: &str) -> Vec<(usize, String)> {
    let lines: Vec<(usize, &str)> = text.lines().enumerate().map(|(index, line)| (index + 1, line)).collect();
    let heading = |line: &str| line.starts_with('#') && line.trim_start_matches('#').trim() == HEADING;
    let after = lines.iter().skip_while(|(_, line)| !heading(line)).skip(1);
    let section: Vec<_> = after.take_while(|(_, line)| !line.starts_with("# ") && !line.starts_with("## ")).collect();
    let mut found = Vec::new();
    let mut open: Vec<(usize, String)> = Vec::new();
    for (number, line) in
        section.into_iter().filter(|(_, line)| line.starts_with("    ") || line.split_whitespace().next().is_some_and(|word| word.ends_with('/')))
    {
        let indent = line.len() - line.trim_start().len();
        let Some(name) = line.split_whitespace().next().and_then(|word| word.strip_suffix('/')) else { continue };
        open.retain(|(outer, _)| *outer < indent);
        let path = open.last().map_or(name.to_owned(), |(_, outer)| format!("{outer}/{name}"));
        open.push((indent, path.clone()));
        found.push((*number, path));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(page: &str) -> Vec<TextFile> {
        let others = ["crates/base/Cargo.toml", "crates/base/src/lib.rs", "docs/adr/0001.md", ".ci/run", "README.md"];
        let mut files: Vec<TextFile> = others.iter().map(|path| TextFile::sample(path, "")).collect();
        files.push(TextFile::sample(PAGE, page));
        files
    }

    #[test]
    fn a_true_picture_has_no_findings() {
        let page = "# House\n## The tree\n```\ncrates/        rooms\n  base/        words\n  (no code of ours elsewhere)\ndocs/          pages\n  adr/         decisions\n```\n## Next\n    nowhere/\n";
        assert_eq!(check(&files(page)), []);
        let indented = "## The tree\n\n    crates/\n      base/   words\n    docs/\n";
        assert_eq!(check(&files(indented)), []);
    }

    #[test]
    fn what_is_missing_on_either_side_is_said() {
        let page = "## The tree\n```\ncrates/\n  garage/   cars\ndocs/\n```\n";
        let findings = check(&files(page));
        let seen: Vec<(usize, &str)> = findings.iter().map(|f| (f.line, f.what.as_str())).collect();
        assert_eq!(seen, [(4, "the tree shows `crates/garage/`, which is not there"), (3, "the tree does not show `crates/base/`")]);
        assert_eq!(check(&files("# House\n"))[0].what, "there is no code block under the heading \"The tree\"");
        assert_eq!(check(&[])[0].what, "there is no ARCHITECTURE.md");
    }
}
