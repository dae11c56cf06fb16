// SPDX-License-Identifier: Apache-2.0
//! Group `push-down`: what leaves the sources, what it costs them, and how long it takes, when tables are spread over several.

mod baseline;
mod ground;
mod keys;
mod planning;
mod seed;
mod tpch;

use crate::Size;
use crate::contest::{Contender, Lap};
use crate::figure::Figure;
use crate::scan;
use crate::workshop::{Workshop, known_parts};
use async_trait::async_trait;
use ground::Ground;
use weir_base::Result;

const PARTS: [&str; 6] = ["baseline", "seed", "keys", "planning", "trivial", "tpch"];
const DUCKDB: &str = "DuckDB 1.5.5";

/// Measures the parts that `only` names, or all.
pub async fn run(size: &Size, only: &[String]) -> Result<Vec<Figure>> {
    known_parts("push-down", &PARTS, only)?;
    let workshop = Workshop::open(size.keep.as_deref())?;
    let wanted = |part: &str| only.is_empty() || only.iter().any(|word| word == part);
    let mut figures = Vec::new();
    if ["baseline", "planning", "tpch"].into_iter().any(wanted) {
        let ground = Ground::open(size, workshop.path()).await?;
        if wanted("baseline") {
            eprintln!("measuring baseline");
            figures.extend(baseline::measure(size, &ground).await?);
        }
        if wanted("planning") {
            eprintln!("measuring planning");
            figures.extend(planning::measure(&ground).await?);
        }
        if wanted("tpch") {
            eprintln!("measuring tpch");
            figures.extend(tpch::measure(size, &ground).await?);
        }
        ground.close().await;
    }
    if wanted("seed") {
        eprintln!("measuring seed");
        figures.extend(seed::measure(size, workshop.path()).await?);
    }
    if wanted("keys") {
        eprintln!("measuring keys");
        figures.extend(keys::measure(size, workshop.path()).await?);
    }
    if wanted("trivial") {
        eprintln!("measuring trivial");
        figures.extend(scan::trivial(size, workshop.path()).await?);
    }
    Ok(figures)
}

/// A contender whose answers have been compared elsewhere: the others write numbers or truth in another way.
struct Untold<C>(C);

#[async_trait]
impl<C: Contender> Contender for Untold<C> {
    fn name(&self) -> &str {
        self.0.name()
    }

    async fn lap(&mut self) -> Result<Lap> {
        Ok(Lap { answer: None, ..self.0.lap().await? })
    }
}

/// Whether two answers are the same but for the way in which numbers and truth are written; rows are cells parted by bars.
fn alike(ours: &[String], theirs: &[String]) -> bool {
    let near = |one: &str, two: &str| match (one.parse::<f64>(), two.parse::<f64>()) {
        (Ok(one), Ok(two)) => (one - two).abs() <= 1e-9 * two.abs(),
        _ => false,
    };
    let same_cell = |one: &str, two: &str| one.eq_ignore_ascii_case(two) || near(one, two);
    let same_row = |one: &str, two: &str| {
        let (one, two): (Vec<&str>, Vec<&str>) = (one.split('|').collect(), two.split('|').collect());
        one.len() == two.len() && one.iter().zip(&two).all(|(one, two)| same_cell(one, two))
    };
    ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(one, two)| same_row(one, two))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_alike_when_their_numbers_are() {
        let rows = |rows: &[&str]| rows.iter().map(|row| (*row).to_owned()).collect::<Vec<_>>();
        assert!(alike(&rows(&["true|0.0344358904066548155"]), &rows(&["True|0.0344358904066548"])));
        assert!(!alike(&rows(&["a|1.5"]), &rows(&["a|1.5001"])));
        assert!(!alike(&rows(&["a|1"]), &rows(&["a"])));
        assert!(!alike(&rows(&["a"]), &rows(&[])));
    }
}
