// SPDX-License-Identifier: Apache-2.0
//! What holds for every text file: a first sentence where the language has `#` comments, and nothing of the machine it was written on.

use crate::finding::Finding;
use crate::worktree::TextFile;

/// Pieces of one machine or of one way to the registries. Written in two parts, so that this file does not contain them.
const MACHINE: &[(&str, &str)] = &[
    ("/ro", "ot/"),
    ("/ho", "me/"),
    ("/wo", "rk/main"),
    ("/wo", "rk/shared"),
    ("/wo", "rk/briefs"),
    ("../sha", "red/"),
    ("/opt/whe", "els"),
    ("index.crat", "es.io"),
    ("static.crat", "es.io"),
    ("files.python", "hosted.org"),
    ("pypi.org/sim", "ple"),
    ("registry.npm", "js.org"),
    ("deb.deb", "ian.org"),
];

/// Written by tools, or quoted from elsewhere.
const NOT_WRITTEN_BY_US: &[&str] = &["Cargo.lock"];

pub fn check(files: &[TextFile]) -> Vec<Finding> {
    let ours = files.iter().filter(|file| !NOT_WRITTEN_BY_US.contains(&file.path.as_str()));
    ours.flat_map(|file| header(file).into_iter().chain(machine(file))).collect()
}

/// Shell, Python, YAML and make files say what they are for in a comment before anything else.
fn header(file: &TextFile) -> Option<Finding> {
    let script = file.text.starts_with("#!");
    let commented = ["sh", "py", "yaml", "yml", "slt", "mk"].iter().any(|extension| file.has_extension(extension)) || file.path.ends_with("Makefile");
    if !script && !commented {
        return None;
    }
    let line = usize::from(script);
    let first = file.text.lines().nth(line).unwrap_or_default();
    let says_something = first.strip_prefix('#').is_some_and(|rest| rest.split_whitespace().count() >= 3);
    (!says_something).then(|| Finding::new(&file.path, line + 1, "the file does not say what it is for", "begin it with a `# ` sentence"))
}

fn machine(file: &TextFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        for (first, second) in MACHINE {
            let piece = format!("{first}{second}");
            if line.contains(&piece) {
                let what = format!("`{piece}` belongs to one machine");
                findings.push(Finding::new(&file.path, index + 1, what, "write it relative, or from HOME or another variable"));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_say_what_they_are_for() {
        assert!(check(&[TextFile::sample("a/b", "#!/bin/sh\n# Says what it is for.\n")]).is_empty());
        assert_eq!(check(&[TextFile::sample("a/b", "#!/bin/sh\nset -e\n")])[0].line, 2);
        assert_eq!(check(&[TextFile::sample("a/b.yaml", "a: 1\n")])[0].line, 1);
        assert!(check(&[TextFile::sample("a/b.txt", "a: 1\n")]).is_empty());
    }

    #[test]
    fn nothing_of_the_machine() {
        let text = format!("fine ~/x\nlook in {}{}x\n", MACHINE[0].0, MACHINE[0].1);
        let findings = check(&[TextFile::sample("a.txt", &text)]);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].line, 2);
        assert!(check(&[TextFile::sample("Cargo.lock", &text)]).is_empty());
    }
}
