// SPDX-License-Identifier: Apache-2.0
//! One query in all ways, and the smallest query that still differs.

use super::agreement::{only_order, same, true_to};
use super::figures::Figures;
use super::ground::{Asker, Ground, Loaded, Told};
use super::setup::Setup;
use super::tree::Tree;
use crate::kit::ordered;

/// How many random subsets are pushed of each query.
const SUBSETS: u64 = 2;
/// Shrinking ends when nothing smaller differs, or after so many queries.
const SHRINKS_MAX: usize = 400;
/// Tables are made anew so many times to find the smallest.
const SETUPS_MAX: usize = 60;

/// What Weir says of numbers that it cannot hold.
const BEYOND_WEIR: &[&str] = &[
    "more digits than there are",
    "result of an arithmetic operation is out of range",
    "sum is out of the range of its type",
    "is out of the range of the type it is cast to",
];

/// Before version 18 PostgreSQL sorts what it groups by several sets in a wrong order where a join makes keys equal, or a condition constant.
const SETS: &[&str] = &["GROUPING SETS (", "ROLLUP (", "CUBE ("];

/// Sessions that are asked the same.
pub struct Trial {
    off: Asker,
    on: Asker,
    random: Asker,
    truth: Asker,
}

/// Two answers that should be one.
#[derive(Debug, Clone)]
pub struct Difference {
    /// Which answers, and what they are: rows or errors.
    pub kind: String,
    pub expected: Told,
    pub actual: Told,
}

impl Difference {
    fn new(who: &str, expected: &Told, actual: &Told) -> Self {
        let word = |told: &Told| told.code().unwrap_or("rows").to_owned();
        if only_order(expected, actual) {
            return Self { kind: format!("{who}: another order"), expected: expected.clone(), actual: actual.clone() };
        }
        Self { kind: format!("{who}: {} instead of {}", word(actual), word(expected)), expected: expected.clone(), actual: actual.clone() }
    }
}

impl Trial {
    pub async fn of(ground: &Ground) -> Self {
        Self { off: ground.weir("off").await, on: ground.weir("on").await, random: ground.weir("random:0").await, truth: ground.truth().await }
    }

    /// Asks in all ways. `number` picks the random subsets.
    pub async fn run(&mut self, loaded: &Loaded, sql: &str, number: u64, figures: &mut Figures) -> Option<Difference> {
        let (weir, ordered) = (loaded.weir(sql), ordered(sql));
        let off = self.off.ask(&weir).await;
        figures.queries += 1;
        match &off {
            Told::Rows { rows, .. } => figures.with_rows += usize::from(!rows.is_empty()),
            told if refused(told) => figures.refused += 1,
            Told::Error { .. } => figures.errors += 1,
        }
        let mut answers = vec![("on", self.on.ask(&weir).await)];
        for subset in 0..SUBSETS {
            let mode = format!("random:{}", number * SUBSETS + subset);
            self.random.set(&mode).await;
            answers.push(("random", self.random.ask(&weir).await));
        }
        let mut computed_apart = false;
        for (who, told) in &answers {
            if same(&off, told, ordered) {
                continue;
            }
            if !self.not_read(loaded, sql, &off, told).await {
                return Some(Difference::new(who, &off, told));
            }
            computed_apart = true;
        }
        if computed_apart {
            figures.computed_by_one_way += 1;
            return None;
        }
        if matches!(off.code(), Some("hangs" | "lost" | "XX000")) {
            return Some(Difference::new("off", &off, &off));
        }
        if refused(&off) {
            return None;
        }
        let truth = self.truth.ask(&loaded.truth(sql)).await;
        figures.with_truth += 1;
        let sets = grouped_by_sets(sql);
        if true_to(&off, &truth, ordered && !sets) {
            return None;
        }
        if truth.code() == Some("22003") && matches!(off, Told::Rows { .. }) && true_to(&off, &self.wide_truth(loaded, sql).await, ordered && !sets) {
            figures.computed_by_truth_alone += 1;
            return None;
        }
        if sets && sql.contains(" LIMIT ") && matches!((&off, &truth), (Told::Rows { .. }, Told::Rows { .. })) {
            figures.sets_cut += 1;
            return None;
        }
        if !documented(&off, &truth) {
            return Some(Difference::new("truth", &truth, &off));
        }
        figures.beyond += 1;
        if std::env::var_os("WEIR_INVARIANCE_BEYOND").is_some() {
            eprintln!("beyond: {} {off:?} {truth:?}", loaded.weir(sql));
        }
        None
    }

    /// Whether the one way fails at a number that the other never computes, as a join reads no second side when its first one is empty
    /// (docs/concepts/push-down.md), and the rows are those of numbers without an end.
    async fn not_read(&mut self, loaded: &Loaded, sql: &str, off: &Told, told: &Told) -> bool {
        let rows = match (off.code(), told.code()) {
            (Some("22003"), None) => told,
            (None, Some("22003")) => off,
            _ => return false,
        };
        true_to(rows, &self.wide_truth(loaded, sql).await, ordered(sql) && !grouped_by_sets(sql))
    }

    /// The truth where whole numbers have no largest one: what PostgreSQL computes and nobody asked for is no error there.
    async fn wide_truth(&mut self, loaded: &Loaded, sql: &str) -> Told {
        let (widen, asked, narrow) = loaded.wide_truth(sql);
        self.truth.ask(&widen).await;
        let told = self.truth.ask(&asked).await;
        self.truth.ask(&narrow).await;
        told
    }

    /// Prints all answers and the plan.
    pub async fn show(&mut self, loaded: &Loaded, sql: &str, number: u64) {
        let weir = loaded.weir(sql);
        eprintln!("off    {:?}\non     {:?}", self.off.ask(&weir).await, self.on.ask(&weir).await);
        for subset in 0..SUBSETS {
            self.random.set(&format!("random:{}", number * SUBSETS + subset)).await;
            eprintln!("random {:?}", self.random.ask(&weir).await);
        }
        eprintln!("truth  {:?}", self.truth.ask(&loaded.truth(sql)).await);
        for (asker, words) in [(&mut self.on, "EXPLAIN"), (&mut self.off, "EXPLAIN")] {
            if let Told::Rows { rows, .. } = asker.ask(&format!("{words} {weir}")).await {
                eprintln!("{}", rows.concat().join("\n"));
            }
        }
    }

    pub async fn plan(&mut self, loaded: &Loaded, sql: &str, figures: &mut Figures) {
        if let Told::Rows { rows, .. } = self.on.ask(&format!("EXPLAIN (FORMAT JSON) {}", loaded.weir(sql))).await {
            figures.plan(&rows.concat().concat());
        }
    }

    /// The smallest tables with which the query differs in the same way.
    pub async fn shrink_rows(&mut self, ground: &Ground, setup: Setup, sql: &str, number: u64, kind: &str) -> Setup {
        let (mut smallest, mut tries) = (setup, 0);
        'smaller: loop {
            let candidates = std::iter::once(smallest.used_by(sql)).filter(|_| tries == 0).chain(smallest.with_fewer_rows());
            for candidate in candidates.collect::<Vec<_>>() {
                tries += 1;
                if tries > SETUPS_MAX {
                    return smallest;
                }
                let loaded = ground.load(&candidate).await;
                let told = self.run(&loaded, sql, number, &mut Figures::default()).await;
                ground.unload(&loaded).await;
                if told.is_some_and(|told| told.kind == kind) {
                    smallest = candidate;
                    continue 'smaller;
                }
            }
            return smallest;
        }
    }

    /// The smallest query that differs in the same way.
    pub async fn shrink(&mut self, loaded: &Loaded, tree: Tree, number: u64, difference: Difference) -> (Tree, Difference) {
        let (mut smallest, mut difference, mut tries) = (tree, difference, 0);
        'smaller: loop {
            for candidate in smallest.smaller() {
                tries += 1;
                if tries > SHRINKS_MAX {
                    return (smallest, difference);
                }
                let told = self.run(loaded, &candidate.sql(), number, &mut Figures::default()).await;
                if let Some(told) = told.filter(|told| told.kind == difference.kind) {
                    (smallest, difference) = (candidate, told);
                    continue 'smaller;
                }
            }
            return (smallest, difference);
        }
    }
}

fn grouped_by_sets(sql: &str) -> bool {
    SETS.iter().any(|word| sql.contains(word))
}

/// What Weir says no to: what is not in it.
fn refused(told: &Told) -> bool {
    told.code().is_some_and(|code| code.starts_with("0A"))
}

/// Differences by design: numbers beyond the 38 digits that Weir holds are an error where PostgreSQL has room (README, "Known edges"), and
/// constants are of the wide type, so what is computed with them has room here.
fn documented(weir: &Told, truth: &Told) -> bool {
    match (weir, truth) {
        (Told::Error { code, message }, Told::Rows { .. }) => code == "22003" && BEYOND_WEIR.iter().any(|beyond| message.contains(beyond)),
        // Texts that are no literals of one statement are compared with uuids as texts.
        (Told::Rows { .. }, Told::Error { code, message }) if code == "42804" => message.contains("types uuid and text cannot be matched"),
        (Told::Rows { .. }, Told::Error { code, message }) => code == "22003" && (message.starts_with("integer out") || message.starts_with("smallint out")),
        _ => false,
    }
}
