// SPDX-License-Identifier: Apache-2.0
//! What a run counts: answers, and how much of what can be pushed was pushed.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Reasons of the planner and not of a source: work that the capability table has words for, and that was not pushed.
const MISSED: &[&str] = &["aggregate", "case", "cross_join", "expression", "literal", "not_in"];
/// Work that the capability table has no words for: it is never pushed.
const NEVER: &[&str] = &["join_kind"];
/// Work whose rows are not all in one source, or come anyway: nothing that a source could do.
const ELSEWHERE: &[&str] = &["all_rows", "local_input", "two_sources"];
/// How connectors begin to say that they have no aggregates.
const NO_AGGREGATES: &str = "aggregates are not known";

#[derive(Debug, Default, Clone)]
pub struct Figures {
    pub queries: usize,
    pub with_rows: usize,
    pub errors: usize,
    /// Weir says that it does not do this.
    pub refused: usize,
    /// Queries that the truth could be asked about.
    pub with_truth: usize,
    /// Those where one of the two has no room for a number that the other has room for.
    pub beyond: usize,
    /// Those where the truth computes, and fails at, what the answer does not depend on.
    pub computed_by_truth_alone: usize,
    /// Those where one way computes, and fails at, what another does not read.
    pub computed_by_one_way: usize,
    /// Those of which PostgreSQL 15 is known to take other first rows.
    pub sets_cut: usize,
    pub statements: usize,
    /// Queries that one statement of one source answers.
    pub whole: usize,
    pub pushed: BTreeMap<String, usize>,
    pub kept: BTreeMap<(String, String), usize>,
    pub differences: usize,
}

impl Figures {
    pub fn add(&mut self, other: &Self) {
        self.queries += other.queries;
        self.with_rows += other.with_rows;
        self.errors += other.errors;
        self.refused += other.refused;
        self.with_truth += other.with_truth;
        self.beyond += other.beyond;
        self.computed_by_truth_alone += other.computed_by_truth_alone;
        self.computed_by_one_way += other.computed_by_one_way;
        self.sets_cut += other.sets_cut;
        self.statements += other.statements;
        self.whole += other.whole;
        self.differences += other.differences;
        other.pushed.iter().for_each(|(word, count)| *self.pushed.entry(word.clone()).or_default() += count);
        other.kept.iter().for_each(|(key, count)| *self.kept.entry(key.clone()).or_default() += count);
    }

    /// Counts what a plan in words says.
    pub fn plan(&mut self, plan: &str) {
        let Ok(plan) = serde_json::from_str::<Value>(plan) else { return };
        let statements: Vec<&Value> =
            array(&plan, "sources").iter().filter(|source| source["source"] != "lake").flat_map(|source| array(source, "statements")).collect();
        self.statements += statements.len();
        let here = array(&plan, "residual").iter().filter_map(Value::as_str).filter(|line| works(line)).count();
        self.whole += usize::from(statements.len() == 1 && here == 0);
        for statement in statements {
            for what in array(statement, "pushed").iter().filter_map(Value::as_str).filter(|what| !what.ends_with(" columns")) {
                *self.pushed.entry(word(what)).or_default() += 1;
            }
            for kept in array(statement, "kept") {
                let part = |name: &str| kept[name].as_str().unwrap_or_default();
                // It was sent at least in part, and is counted there.
                let sent = array(statement, "pushed").iter().filter_map(Value::as_str).any(|what| what.starts_with(part("what")));
                if !sent {
                    let code = if part("reason").starts_with(NO_AGGREGATES) { "no_aggregates" } else { part("code") };
                    *self.kept.entry((word(part("what")), code.to_owned())).or_default() += 1;
                }
            }
        }
    }

    fn kept_by(&self, codes: &[&str]) -> usize {
        self.kept.iter().filter(|((_, code), _)| codes.contains(&code.as_str())).map(|(_, count)| count).sum()
    }

    /// Of a hundred operators that could be pushed, how many were: those that the capability table has words for, and all.
    pub fn shares(&self) -> (f64, f64) {
        let pushed: usize = self.pushed.values().sum();
        let missed = self.kept_by(MISSED);
        let share = |others: usize| if pushed + others == 0 { 100.0 } else { 100.0 * pushed as f64 / (pushed + others) as f64 };
        (share(missed), share(missed + self.kept_by(NEVER)))
    }

    /// As Markdown.
    pub fn page(&self) -> String {
        let pushed: usize = self.pushed.values().sum();
        let mut page = String::from("| | |\n|---|---:|\n");
        let (share, wide_share) = self.shares();
        let lines: [(&str, String); 15] = [
            ("queries", self.queries.to_string()),
            ("answered with rows", self.with_rows.to_string()),
            ("the same error in each way", self.errors.to_string()),
            ("refused by Weir (0A000), in each way", self.refused.to_string()),
            ("compared with PostgreSQL alone", self.with_truth.to_string()),
            ("where numbers are too large for one of the two, and it says so", self.beyond.to_string()),
            ("where PostgreSQL fails at a number that the answer does not depend on", self.computed_by_truth_alone.to_string()),
            ("where a way with or without push-down does so", self.computed_by_one_way.to_string()),
            ("where PostgreSQL 15 sorts grouping sets in a wrong order before it takes the first rows", self.sets_cut.to_string()),
            ("differences", self.differences.to_string()),
            ("statements sent with push-down on", self.statements.to_string()),
            ("queries answered by one statement of one source", self.whole.to_string()),
            ("operators pushed", pushed.to_string()),
            ("pushed share of what the capability tables call pushable", format!("{share:.1} %")),
            ("the same, with joins of kinds that are never sent", format!("{wide_share:.1} %")),
        ];
        for (what, figure) in &lines {
            let _ = writeln!(page, "| {what} | {figure} |");
        }
        page.push_str("\n| pushed | operators |\n|---|---:|\n");
        for (word, count) in &self.pushed {
            let _ = writeln!(page, "| {word} | {count} |");
        }
        page.push_str("\n| kept | code | operators | |\n|---|---|---:|---|\n");
        for ((word, code), count) in &self.kept {
            let kind = match code.as_str() {
                code if MISSED.contains(&code) => "pushable, not pushed",
                code if NEVER.contains(&code) => "never sent",
                code if ELSEWHERE.contains(&code) => "not in one source, or gains nothing",
                _ => "the capability table says no",
            };
            let _ = writeln!(page, "| {word} | `{code}` | {count} | {kind} |");
        }
        page
    }
}

fn array<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

fn word(what: &str) -> String {
    what.split(' ').next().unwrap_or_default().to_owned()
}

/// Whether a line of the residual plan is more than handing rows on.
fn works(line: &str) -> bool {
    let line = line.trim_start();
    !["Source", "Projection", "CoalescePartitions", "CoalesceBatches", "Watched", "Cooperative", "Repartition"].iter().any(|quiet| line.starts_with(quiet))
}
