// SPDX-License-Identifier: Apache-2.0
//! Push-down never changes an answer: random queries over tricky rows in all kinds of places, asked with push-down on, off and on random
//! subsets, and of a PostgreSQL that holds all tables.
//!
//! `cargo xtask invariance --queries N --seed S` runs more of them, and writes `docs/internals/invariance.md`.

mod agreement;
mod cases;
mod chance;
mod figures;
mod ground;
mod kinds;
mod predicates;
mod query;
mod setup;
mod tree;
mod trial;
mod warehouse;

use chance::Chance;
use figures::Figures;
use ground::Ground;
use setup::Setup;
use std::io::IsTerminal;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use trial::Trial;

/// Queries over one setup.
const CHUNK: usize = 25;
const WORKERS: usize = 3;

/// What to run: from the environment, where `cargo xtask invariance` puts it.
struct Order {
    queries: usize,
    seed: u64,
    /// Only this query.
    only: Option<usize>,
    failures_max: usize,
    /// Asked in the place of the query, with all answers shown.
    sql: Option<String>,
    /// Where the figures are written to.
    page: Option<String>,
}

impl Order {
    fn from_environment() -> Self {
        let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap_or_else(|_| panic!("{name} is no number: {text}")));
        Self {
            queries: number("WEIR_INVARIANCE_QUERIES").unwrap_or(300) as usize,
            seed: number("WEIR_INVARIANCE_SEED").unwrap_or(20_261_201),
            only: number("WEIR_INVARIANCE_ONLY").map(|only| only as usize),
            failures_max: number("WEIR_INVARIANCE_FAILURES").unwrap_or(5) as usize,
            sql: std::env::var("WEIR_INVARIANCE_SQL").ok(),
            page: std::env::var("WEIR_INVARIANCE_PAGE").ok(),
        }
    }
}

/// A run in progress.
struct Run {
    order: Order,
    next: AtomicUsize,
    done: AtomicUsize,
    figures: Mutex<Figures>,
    failures: Mutex<Vec<String>>,
    began: Instant,
}

impl Run {
    fn failed(&self) -> bool {
        self.failures.lock().expect("no panic").len() >= self.order.failures_max
    }

    async fn work(&self, ground: &Ground) {
        let mut trial = Trial::of(ground).await;
        loop {
            let chunk = self.next.fetch_add(1, Ordering::Relaxed);
            if chunk * CHUNK >= self.order.queries || self.failed() {
                return;
            }
            if self.order.only.is_some_and(|only| only / CHUNK != chunk) {
                continue;
            }
            self.chunk(ground, &mut trial, chunk).await;
        }
    }

    async fn chunk(&self, ground: &Ground, trial: &mut Trial, chunk: usize) {
        let setup = Setup::new(&mut Chance::part(self.order.seed, chunk as u64 + (1 << 40)));
        let loaded = ground.load(&setup).await;
        let mut figures = Figures::default();
        for number in (chunk * CHUNK..(chunk + 1) * CHUNK).take_while(|number| *number < self.order.queries) {
            if self.order.only.is_some_and(|only| only != number) || self.failed() {
                continue;
            }
            let tree = query::query(Chance::part(self.order.seed, number as u64), &setup.tables);
            if let Some(sql) = &self.order.sql {
                trial.show(&loaded, sql, number as u64).await;
                continue;
            }
            let sql = tree.sql();
            match trial.run(&loaded, &sql, number as u64, &mut figures).await {
                None => trial.plan(&loaded, &sql, &mut figures).await,
                Some(difference) => {
                    figures.differences += 1;
                    let (small, difference) = trial.shrink(&loaded, tree, number as u64, difference).await;
                    let small = small.sql();
                    let rows = trial.shrink_rows(ground, setup.clone(), &small, number as u64, &difference.kind).await;
                    let about = format!("seed {}, query {number}, {}", self.order.seed, difference.kind);
                    self.fail(&setup, &about, &sql, &cases::written(&rows, &small, &about), &difference);
                }
            }
            self.progress();
        }
        ground.unload(&loaded).await;
        self.figures.lock().expect("no panic").add(&figures);
    }

    fn fail(&self, setup: &Setup, about: &str, sql: &str, case: &str, difference: &trial::Difference) {
        let file = std::env::temp_dir().join(format!("{}.sql", about.split([',', ':']).take(2).collect::<String>().replace(' ', "-")));
        let saved = match std::fs::write(&file, case) {
            Ok(()) => format!("as {}, to be put into tests/invariance/cases/", file.display()),
            Err(error) => format!("not saved: {error}"),
        };
        let answers = format!("expected: {:?}\n  actual:   {:?}", difference.expected, difference.actual);
        let text = format!("{about}\n  tables: {}\n  query:  {sql}\n  {answers}\n  case {saved}\n{case}", setup.in_words());
        eprintln!("{text}");
        self.failures.lock().expect("no panic").push(text);
    }

    /// A bar for people, a line now and then for logs.
    fn progress(&self) {
        const WIDTH: usize = 40;
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        let (all, seconds) = (self.order.queries, self.began.elapsed().as_secs_f64());
        if std::io::stderr().is_terminal() {
            let filled = done * WIDTH / all.max(1);
            let left = seconds / done as f64 * (all - done) as f64;
            eprint!("\r[{}{}] {done} of {all} queries, {seconds:.0} s, {left:.0} s left ", "#".repeat(filled), " ".repeat(WIDTH - filled));
        } else if done.is_multiple_of(100) {
            eprintln!("{done} of {all} queries, {seconds:.0} s");
        }
    }

    /// The page of figures, where one was ordered.
    fn write_page(&self, figures: &Figures) {
        let Some(path) = &self.order.page else { return };
        let minutes = self.began.elapsed().as_secs_f64() / 60.0;
        let page = format!("{PAGE_HEAD}Seed {}, {minutes:.1} minutes.\n\n{}", self.order.seed, figures.page());
        std::fs::write(path, page).unwrap_or_else(|error| panic!("{path}: {error}"));
    }
}

const PAGE_HEAD: &str = "# Push-down never changes an answer: the last run

Written by `cargo xtask invariance --queries N --seed S`; do not edit. Random queries over tricky rows in PostgreSQL (C and ICU collations), MariaDB, SQLite, the lake
and mixes of them are asked with push-down on, off and on two random subsets of what can be pushed, and of a PostgreSQL that holds every table. Rows, types, order and
errors must be the same. How it works: [tests/invariance](../../tests/invariance/mod.rs).

";

#[tokio::test(flavor = "multi_thread")]
async fn push_down_never_changes_an_answer() {
    let ground = Ground::new().await;
    let run = Run {
        order: Order::from_environment(),
        next: AtomicUsize::new(0),
        done: AtomicUsize::new(0),
        figures: Mutex::default(),
        failures: Mutex::default(),
        began: Instant::now(),
    };
    // The doors work on threads of their own; what is asked of them waits here.
    futures::future::join_all((0..WORKERS).map(|_| run.work(&ground))).await;
    let figures = run.figures.lock().expect("no panic").clone();
    eprintln!("\nseed {}\n{}", run.order.seed, figures.page());
    run.write_page(&figures);
    let failures = run.failures.lock().expect("no panic");
    assert!(failures.is_empty(), "{} differences\n\n{}", failures.len(), failures.join("\n"));
}
