// SPDX-License-Identifier: Apache-2.0
//! Results as a table for people and as a file for programs.

use crate::figure::Figure;
use serde_json::Value;
use std::fs;
use std::path::Path;
use weir_base::{Error, ErrorCode, Result};

const HEADS: [&str; 8] = ["figure", "value", "unit", "peer", "peer value", "ratio", "target", "holds"];

/// Prints the figures as a table.
pub fn print(figures: &[Figure]) {
    let rows: Vec<[String; 8]> = std::iter::once(HEADS.map(str::to_owned)).chain(figures.iter().map(cells)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..HEADS.len()).map(width).collect();
    println!();
    for row in &rows {
        let line: Vec<String> = row.iter().enumerate().map(|(column, cell)| aligned(cell, widths[column], column)).collect();
        println!("{}", line.join("  ").trim_end());
    }
}

/// Numbers stand right, words left.
fn aligned(cell: &str, width: usize, column: usize) -> String {
    if matches!(column, 1 | 4 | 5) { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
}

fn cells(figure: &Figure) -> [String; 8] {
    let holds = match figure.holds {
        Some(true) => "yes",
        Some(false) => "NO",
        None => "",
    };
    [
        figure.figure.clone(),
        number(figure.value),
        figure.unit.to_owned(),
        figure.peer.clone().unwrap_or_default(),
        figure.peer_value.map(number).unwrap_or_default(),
        figure.ratio.map(|ratio| format!("{ratio:.2}")).unwrap_or_default(),
        figure.target.clone().unwrap_or_default(),
        holds.to_owned(),
    ]
}

/// Four digits that mean something, thousands grouped.
fn number(value: f64) -> String {
    match value.abs() {
        small if small < 1.0 => format!("{value:.4}"),
        small if small < 100.0 => format!("{value:.2}"),
        small if small < 1000.0 => format!("{value:.1}"),
        _ => grouped(value.round() as i64),
    }
}

fn grouped(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let groups: Vec<&str> = digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    format!("{}{}", if value < 0 { "-" } else { "" }, groups.join(","))
}

/// Writes `<folder>/<group>.json`. Of a `partial` run, only what was measured is new there.
pub fn write(folder: &Path, group: &str, figures: &[Figure], partial: bool) -> Result<()> {
    let path = folder.join(format!("{group}.json"));
    let failed = |detail: String| Error::new(ErrorCode::OutOfResources, "cannot write the results").with_detail(format!("{}: {detail}", path.display()));
    let mut lines = serde_json::to_value(figures).map_err(|error| failed(error.to_string()))?;
    if let (true, Value::Array(new), Ok(old)) = (partial, &mut lines, fs::read_to_string(&path)) {
        let old: Vec<Value> = serde_json::from_str(&old).map_err(|error| failed(error.to_string()))?;
        *new = replaced(old, std::mem::take(new));
    }
    let text = serde_json::to_string_pretty(&lines).map_err(|error| failed(error.to_string()))?;
    fs::create_dir_all(folder).map_err(|error| failed(error.to_string()))?;
    fs::write(&path, text + "\n").map_err(|error| failed(error.to_string()))?;
    println!("\nwritten to {}", path.display());
    Ok(())
}

/// The old figures where they were, each with its new value if there is one, and what is new behind them.
fn replaced(old: Vec<Value>, new: Vec<Value>) -> Vec<Value> {
    let same = |one: &Value, two: &Value| one["figure"] == two["figure"] && one["peer"] == two["peer"];
    let (mut lines, mut rest) = (old, Vec::new());
    for figure in new {
        match lines.iter_mut().find(|line| same(line, &figure)) {
            Some(line) => *line = figure,
            None => rest.push(figure),
        }
    }
    lines.extend(rest);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_that_is_measured_again_takes_its_old_place() {
        let line = |figure: &str, value: u32| serde_json::json!({ "figure": figure, "peer": null, "value": value });
        let lines = replaced(vec![line("a", 1), line("b", 2)], vec![line("c", 3), line("a", 4)]);
        assert_eq!(lines, [line("a", 4), line("b", 2), line("c", 3)]);
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(number(1_234_567.4), "1,234,567");
        assert_eq!(number(999.96), "1000.0");
        assert_eq!(number(12.345), "12.35");
        assert_eq!(number(0.000_5), "0.0005");
    }
}
