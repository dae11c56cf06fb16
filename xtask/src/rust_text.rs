// SPDX-License-Identifier: Apache-2.0
//! What every Rust file keeps: a header that says what it is for, sizes that fit a head, and no words that hide a problem.

use crate::finding::Finding;
use crate::ratchet::{FILE_LINES_MAX, FILES_OVER, FUNCTION_LINES_MAX, FUNCTIONS_OVER, limit, unneeded};
use crate::scanner::{blank, functions, line_of, test_lines};
use crate::worktree::TextFile;

const SPDX: &str = "// SPDX-License-Identifier: Apache-2.0";

/// Words that are never right, in tests neither, and what to do instead.
const NEVER: &[(&str, &str)] = &[
    ("todo!(", "build it, or return a typed error that says it is not in this version"),
    ("unimplemented!(", "build it, or return a typed error that says it is not in this version"),
    ("dbg!(", "remove it, or log with tracing"),
    ("#[ignore", "make the test run everywhere, or delete it"),
    ("#[allow(", "fix what the lint says"),
    ("#![allow(", "fix what the lint says"),
];

/// Words that are wrong outside tests.
const NEVER_IN_PRODUCT: &[(&str, &str)] =
    &[(".unwrap()", "return a weir_base::Error; a truly impossible case is an expect() whose text proves it"), ("panic!(", "return a weir_base::Error")];

/// Names that say nothing about what is inside.
const EMPTY_NAMES: &[&str] = &["utils", "util", "common", "types", "helpers", "helper", "core", "manager", "misc"];

pub fn check(files: &[TextFile]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut file_sizes = Vec::new();
    let mut function_sizes = Vec::new();
    for file in files.iter().filter(|file| file.has_extension("rs")) {
        let blanked = blank(&file.text);
        findings.extend(header(file));
        findings.extend(name(file));
        findings.extend(words(file, &blanked));
        let lines = file.text.lines().count();
        file_sizes.push((file.path.clone(), lines));
        findings.extend(file_size(file, lines));
        for function in functions(&blanked) {
            let full_name = format!("{}::{}", file.path, function.name);
            let most = limit(FUNCTIONS_OVER, &full_name, FUNCTION_LINES_MAX);
            if function.lines() > most {
                let what = format!("function {} has {} lines, at most {most}", function.name, function.lines());
                findings.push(Finding::new(&file.path, function.first, what, "split it where a step has a name"));
            }
            function_sizes.push((full_name, function.lines()));
        }
    }
    findings.extend(stale(FILES_OVER, &file_sizes, FILE_LINES_MAX));
    findings.extend(stale(FUNCTIONS_OVER, &function_sizes, FUNCTION_LINES_MAX));
    findings
}

fn header(file: &TextFile) -> Option<Finding> {
    let mut lines = file.text.lines();
    if lines.next() != Some(SPDX) {
        return Some(Finding::new(&file.path, 1, "the licence line is missing", format!("begin the file with `{SPDX}`")));
    }
    let paragraph: Vec<&str> = lines.map_while(|line| line.strip_prefix("//! ")).collect();
    let purpose = paragraph.join(" ");
    let says_something = purpose.split_whitespace().count() >= 3 && purpose.contains(['.', ':', '!', '?']);
    if says_something {
        return None;
    }
    Some(Finding::new(&file.path, 2, "the file does not say what it is for", "write a `//!` sentence on line 2"))
}

fn name(file: &TextFile) -> Option<Finding> {
    // A test file is named after what it tests, which may well be types.
    if is_test_file(&file.path) {
        return None;
    }
    let parts = file.path.trim_end_matches(".rs").split('/');
    let empty = parts.into_iter().find(|part| EMPTY_NAMES.contains(part))?;
    Some(Finding::new(&file.path, 1, format!("`{empty}` says nothing about what is inside"), "name the module by the noun it holds"))
}

fn file_size(file: &TextFile, lines: usize) -> Option<Finding> {
    let most = limit(FILES_OVER, &file.path, FILE_LINES_MAX);
    let what = format!("the file has {lines} lines, at most {most}");
    (lines > most).then(|| Finding::new(&file.path, lines, what, "split it by noun"))
}

fn words(file: &TextFile, blanked: &str) -> Vec<Finding> {
    let found = |word: &str, todo: &str| -> Vec<Finding> {
        let hits = blanked.match_indices(word).filter(|(at, _)| starts_a_word(blanked, *at, word));
        hits.map(|(at, _)| Finding::new(&file.path, line_of(blanked, at), format!("`{word}` in the code"), todo)).collect()
    };
    let mut findings: Vec<Finding> = NEVER.iter().flat_map(|(word, todo)| found(word, todo)).collect();
    if !is_test_file(&file.path) {
        let tests = test_lines(blanked);
        let in_product = |finding: &Finding| !tests.iter().any(|(first, last)| (*first..=*last).contains(&finding.line));
        findings.extend(NEVER_IN_PRODUCT.iter().flat_map(|(word, todo)| found(word, todo)).filter(in_product));
    }
    findings
}

/// `debug_assert!(` is not `assert!(`.
fn starts_a_word(text: &str, at: usize, word: &str) -> bool {
    let before = text[..at].chars().next_back();
    !word.starts_with(char::is_alphabetic) || !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
}

/// Integration tests, and files that only hold the unit tests of a neighbour.
pub fn is_test_file(path: &str) -> bool {
    path.starts_with("tests/") || path.contains("/tests/") || path.ends_with("/tests.rs") || path.ends_with("_tests.rs")
}

fn stale(table: &[(&str, usize)], seen: &[(String, usize)], general: usize) -> Vec<Finding> {
    let entries = unneeded(table, seen, general);
    let finding = |name: &&str| Finding::new("xtask/src/ratchet.rs", 1, format!("`{name}` is no longer over the limit"), "remove it from the table");
    entries.iter().map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "// SPDX-License-Identifier: Apache-2.0\n//! Holds samples for a test.\n";

    fn whats(path: &str, text: &str) -> Vec<String> {
        check(&[TextFile::sample(path, text)]).into_iter().map(|f| format!("{}: {}", f.line, f.what)).collect()
    }

    #[test]
    fn a_good_file_has_no_findings() {
        assert!(whats("crates/a/src/b.rs", &format!("{HEAD}fn a() {{ let x = \"todo!(\"; }} // dbg!(\n")).is_empty());
    }

    #[test]
    fn headers() {
        assert_eq!(whats("a/b.rs", "//! Holds samples for a test.\n"), ["1: the licence line is missing"]);
        assert_eq!(whats("a/b.rs", "// SPDX-License-Identifier: Apache-2.0\n\nfn a() {}\n"), ["2: the file does not say what it is for"]);
        assert_eq!(whats("a/b.rs", "// SPDX-License-Identifier: Apache-2.0\n//! Samples.\n"), ["2: the file does not say what it is for"]);
    }

    #[test]
    fn words_that_hide_problems() {
        let text = format!(
            "{HEAD}fn a() {{ todo!() }}\n#[allow(dead_code)]\nfn b() {{ x.unwrap(); }}\n#[cfg(test)]\nmod tests {{ fn c() {{ x.unwrap(); dbg!(x); }} }}\n"
        );
        assert_eq!(whats("a/b.rs", &text), ["3: `todo!(` in the code", "7: `dbg!(` in the code", "4: `#[allow(` in the code", "5: `.unwrap()` in the code"]);
        assert_eq!(whats("a/tests/b.rs", &format!("{HEAD}fn b() {{ x.unwrap(); }}\n")), Vec::<String>::new());
    }

    #[test]
    fn sizes_and_names() {
        let long = format!("{HEAD}fn a() {{\n{}}}\n", "    b();\n".repeat(80));
        assert_eq!(whats("a/b.rs", &long), ["3: function a has 82 lines, at most 70"]);
        let big = format!("{HEAD}{}", "// a line\n".repeat(700));
        assert_eq!(whats("a/b.rs", &big), ["702: the file has 702 lines, at most 700"]);
        assert_eq!(whats("a/utils.rs", HEAD), ["1: `utils` says nothing about what is inside"]);
        assert_eq!(whats("a/common/b.rs", HEAD), ["1: `common` says nothing about what is inside"]);
        assert_eq!(whats("a/tests/types.rs", HEAD), Vec::<String>::new());
    }
}
