// SPDX-License-Identifier: Apache-2.0
//! TPC-H by placement: the 22 questions have the same answers wherever their tables are, to the last digit.

use crate::kit::{World, mariadb, postgres};
use std::time::Duration;
use tempfile::TempDir;
use weir_guard::Limits;
use weir_sandbox::tpch::{PLACEMENTS, Place, Placement, QUESTIONS_COUNT, TABLES, Texts, Tpch, question, tables_in};

/// The data of one scale in every place that a placement names, and the world over them.
struct Ground {
    world: World,
    data: Tpch,
    /// The database in the servers, and the schema in the lake.
    database: &'static str,
    _folder: TempDir,
}

impl Ground {
    async fn with(database: &'static str, scale: f64, texts: Texts) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let data = Tpch::make(folder.path(), scale).await.expect("data");
        let (postgres, mariadb) = (postgres().await, mariadb().await);
        let all: Vec<_> = TABLES.iter().collect();
        data.load_postgres(postgres, database, &all, texts).await.expect("tables in PostgreSQL");
        data.load_mariadb(mariadb, database, &tables_in(Place::MariaDb), texts).await.expect("tables in MariaDB");
        // Other tests work beside this one.
        let patient = Limits { statement_timeout: Duration::from_secs(300), ..Limits::default() };
        let world = World::builder()
            .limited("pg", "postgres", &postgres.url(database), patient.clone())
            .limited("maria", "mysql", &mariadb.url(database), patient)
            .source("small", "sqlite", &format!("sqlite://{}", data.small_tables().display()))
            .start()
            .await;
        world.rows(&format!("CREATE SCHEMA lake.{database}")).await;
        for table in tables_in(Place::Lake) {
            world.rows(&format!("CREATE TABLE lake.{database}.{name} AS SELECT * FROM pg.public.{name}", name = table.name)).await;
        }
        Self { world, data, database, _folder: folder }
    }

    fn ask(&self, placement: &Placement, number: usize) -> String {
        let named = |table: &str| match placement.place(table) {
            Place::Postgres => format!("pg.public.{table}"),
            Place::MariaDb => format!("maria.{}.{table}", self.database),
            Place::Lake => format!("lake.{}.{table}", self.database),
            Place::Sqlite => format!("small.main.{table}"),
        };
        question(number, named).expect("a question")
    }

    /// What PostgreSQL answers by itself.
    async fn expected(&self, number: usize) -> Vec<Vec<String>> {
        let sql = question(number, str::to_owned).expect("a question");
        let text = postgres().await.query(self.database, &format!("\\pset null NULL\n{sql}")).await.expect("an answer of PostgreSQL");
        text.lines().map(|line| line.split('\t').map(str::to_owned).collect()).collect()
    }
}

/// The published answers have floating point numbers where ours have decimals, and nothing for NULL.
fn is_near(one: &str, two: &str) -> bool {
    match (one.parse::<f64>(), two.parse::<f64>()) {
        (Ok(one), Ok(two)) => (one - two).abs() <= 1e-12 * two.abs(),
        _ => one == "NULL" && two.is_empty(),
    }
}

/// The places behind the point of a quotient come from its type here, and from its values in PostgreSQL: where one has more places, it has
/// to be the other when it is rounded to so many.
fn is_rounded(one: &str, two: &str) -> bool {
    let (Some((one, places)), Some((two, fewer))) = (decimal(one), decimal(two)) else { return false };
    if places < fewer {
        return rounded(two, fewer - places) == one;
    }
    rounded(one, places - fewer) == two
}

/// All digits of a decimal as one number, and how many of them are behind the point.
fn decimal(text: &str) -> Option<(i128, u32)> {
    let (_, fraction) = text.split_once('.')?;
    Some((text.replace('.', "").parse().ok()?, u32::try_from(fraction.len()).ok()?))
}

/// Without the last places; half of one is rounded away from zero.
fn rounded(number: i128, places: u32) -> i128 {
    let unit = 10_i128.pow(places);
    (number + number.signum() * unit / 2) / unit
}

/// Blanks at the end are the padding of a `char(n)`.
fn alike(ours: &[Vec<String>], theirs: &[Vec<String>], same: fn(&str, &str) -> bool) -> bool {
    let cell = |(one, two): (&String, &String)| one.trim_end() == two.trim_end() || same(one, two);
    let row = |(one, two): (&Vec<String>, &Vec<String>)| one.len() == two.len() && one.iter().zip(two).all(cell);
    ours.len() == theirs.len() && ours.iter().zip(theirs).all(row)
}

/// The first row that differs.
fn difference(ours: &[Vec<String>], theirs: &[Vec<String>]) -> String {
    let differing = ours.iter().zip(theirs).position(|(one, two)| one != two).unwrap_or(ours.len().min(theirs.len()));
    format!("{} and {} rows, row {differing}: {:?} and {:?}", ours.len(), theirs.len(), ours.get(differing), theirs.get(differing))
}

/// Asks every question in every placement: each has PostgreSQL's answer and the published one, and the same digits everywhere.
async fn same_answers_everywhere(ground: &Ground) {
    let mut wrong = Vec::new();
    for number in 1..=QUESTIONS_COUNT {
        let expected = ground.expected(number).await;
        let published = ground.data.published(number).expect("a published answer");
        if !alike(&expected, &published, is_near) {
            wrong.push(format!("question {number} is not as published: {}", difference(&expected, &published)));
        }
        let mut first: Option<Vec<Vec<String>>> = None;
        for placement in &PLACEMENTS {
            let told = ground.world.ask(&ground.ask(placement, number)).await;
            let (right, rows) = match (&told, &first) {
                (Ok(rows), Some(first)) => (rows == first, first),
                (Ok(rows), None) => (alike(rows, &expected, is_rounded), &expected),
                (Err(error), _) => {
                    wrong.push(format!("{}, question {number}: {error:?}", placement.name));
                    continue;
                }
            };
            let answer = told.as_deref().unwrap_or_default();
            if !right {
                wrong.push(format!("{}, question {number}: {}", placement.name, difference(answer, rows)));
            }
            first.get_or_insert_with(|| answer.to_vec());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn tpch_has_the_same_answers_in_every_placement() {
    let ground = Ground::with("tpch", 0.1, Texts::Varying).await;
    same_answers_everywhere(&ground).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn tpch_over_padded_texts_has_the_published_answers() {
    let ground = Ground::with("tpch_padded", 0.01, Texts::Fixed).await;
    same_answers_everywhere(&ground).await;
}

#[test]
fn digits_are_compared_as_they_round() {
    assert!(is_rounded("23512.7528571428571429", "23512.752857142857"));
    assert!(is_rounded("0.0286487413056176", "0.02864874130561755275"));
    assert!(is_rounded("-1.25", "-1.3") && !is_rounded("1.25", "1.2") && !is_rounded("1.26", "1.25"));
    assert!(!is_rounded("7", "7.0"));
}
