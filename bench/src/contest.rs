// SPDX-License-Identifier: Apache-2.0
//! Contests: everybody does the same work by turns, so that what disturbs the machine disturbs all of them.

use async_trait::async_trait;
use std::time::Instant;
use weir_base::{Error, ErrorCode, Result};

/// Somebody who can do the work once.
#[async_trait]
pub trait Contender: Send {
    fn name(&self) -> &str;

    async fn lap(&mut self) -> Result<Lap>;
}

/// One time through the work.
#[derive(Debug, Clone, PartialEq)]
pub struct Lap {
    pub seconds: f64,
    /// What came out, where it can be compared: the same from everybody, else the contest is void.
    pub answer: Option<Vec<String>>,
}

impl Lap {
    pub fn since(began: Instant, answer: Option<Vec<String>>) -> Self {
        Self { seconds: began.elapsed().as_secs_f64(), answer }
    }
}

/// The times of one contender.
#[derive(Debug, Clone, Default)]
pub struct Laps(Vec<f64>);

impl Laps {
    pub fn median(&self) -> f64 {
        let sorted = self.sorted();
        let middle = sorted.len() / 2;
        match sorted.len() {
            0 => f64::NAN,
            odd if odd % 2 == 1 => sorted[middle],
            _ => (sorted[middle - 1] + sorted[middle]) / 2.0,
        }
    }

    pub fn fastest(&self) -> f64 {
        self.sorted().first().copied().unwrap_or(f64::NAN)
    }

    pub fn slowest(&self) -> f64 {
        self.sorted().last().copied().unwrap_or(f64::NAN)
    }

    fn sorted(&self) -> Vec<f64> {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        sorted
    }
}

/// Runs `rounds` rounds after one that does not count. Error: contenders that do not agree on the answer.
pub async fn contest(rounds: usize, contenders: &mut [&mut dyn Contender]) -> Result<Vec<Laps>> {
    let mut laps = vec![Laps::default(); contenders.len()];
    let mut agreed: Option<(String, Vec<String>)> = None;
    for round in 0..=rounds {
        for (contender, laps) in contenders.iter_mut().zip(&mut laps) {
            let lap = contender.lap().await?;
            if let Some(answer) = lap.answer {
                agree(&mut agreed, contender.name(), answer)?;
            }
            if round > 0 {
                laps.0.push(lap.seconds);
            }
        }
    }
    Ok(laps)
}

fn agree(agreed: &mut Option<(String, Vec<String>)>, name: &str, answer: Vec<String>) -> Result<()> {
    match agreed {
        None => *agreed = Some((name.to_owned(), answer)),
        Some((_, known)) if *known == answer => {}
        Some((other, known)) => {
            let differing = known.iter().zip(&answer).find(|(one, two)| one != two);
            let example = differing.map_or_else(|| format!("{} and {} rows", known.len(), answer.len()), |(one, two)| format!("{one}\n{two}"));
            return Err(Error::new(ErrorCode::BadValue, format!("{other} and {name} do not agree on the answer")).with_detail(example));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Fixed(&'static str, Vec<f64>, usize);

    #[async_trait]
    impl Contender for Fixed {
        fn name(&self) -> &str {
            self.0
        }

        async fn lap(&mut self) -> Result<Lap> {
            self.2 += 1;
            Ok(Lap { seconds: self.1[self.2 - 1], answer: Some(vec![self.0.to_owned()]) })
        }
    }

    #[tokio::test]
    async fn the_first_round_does_not_count_and_the_median_does() {
        let (mut one, mut two) = (Fixed("x", vec![9.0, 1.0, 5.0, 2.0], 0), Fixed("x", vec![9.0, 3.0, 3.0, 4.0], 0));
        let laps = contest(3, &mut [&mut one, &mut two]).await.unwrap();
        assert_eq!((laps[0].median(), laps[0].fastest(), laps[0].slowest()), (2.0, 1.0, 5.0));
        assert_eq!(laps[1].median(), 3.0);
    }

    #[tokio::test]
    async fn a_wrong_answer_ends_the_contest() {
        let (mut one, mut two) = (Fixed("x", vec![1.0], 0), Fixed("y", vec![1.0], 0));
        let error = contest(1, &mut [&mut one, &mut two]).await.unwrap_err();
        assert_eq!(error.message(), "x and y do not agree on the answer");
    }

    #[test]
    fn an_even_number_of_rounds_has_a_middle() {
        assert_eq!(Laps(vec![1.0, 4.0, 2.0, 8.0]).median(), 3.0);
    }
}
