// SPDX-License-Identifier: Apache-2.0
//! Files and functions that may be over a limit for now. A number here may only go down; an entry that is no longer needed is
//! itself a finding, so that the table empties.

pub const FILE_LINES_MAX: usize = 700;
pub const FUNCTION_LINES_MAX: usize = 70;

/// Files over `FILE_LINES_MAX`: path and the lines it may have.
pub const FILES_OVER: &[(&str, usize)] = &[];

/// Functions over `FUNCTION_LINES_MAX`: `path::function` and the lines it may have.
pub const FUNCTIONS_OVER: &[(&str, usize)] = &[];

/// The limit for `name`: its own where the table has one, else `general`.
pub fn limit(table: &[(&str, usize)], name: &str, general: usize) -> usize {
    table.iter().find(|(known, _)| *known == name).map_or(general, |(_, lines)| *lines)
}

/// The entries of `table` that nothing in `seen` (name and lines) needs any more.
pub fn unneeded<'a>(table: &[(&'a str, usize)], seen: &[(String, usize)], general: usize) -> Vec<&'a str> {
    let over = |name: &str| seen.iter().any(|(known, lines)| known == name && *lines > general);
    table.iter().map(|(name, _)| *name).filter(|name| !over(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_raises_the_limit_until_it_is_not_needed() {
        let table = [("a.rs", 900)];
        assert_eq!(limit(&table, "a.rs", 700), 900);
        assert_eq!(limit(&table, "b.rs", 700), 700);
        assert!(unneeded(&table, &[("a.rs".into(), 800)], 700).is_empty());
        assert_eq!(unneeded(&table, &[("a.rs".into(), 600)], 700), ["a.rs"]);
        assert_eq!(unneeded(&table, &[], 700), ["a.rs"]);
    }
}
