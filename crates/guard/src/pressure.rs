// SPDX-License-Identifier: Apache-2.0
//! How many sessions a source gets at present. Fewer by half as soon as it suffers, one more at a time while it is well: additive increase,
//! multiplicative decrease, as TCP shares a wire (D. Chiu, R. Jain, 1989).

use std::time::Duration;

/// A source suffers when it takes so many times as long as it does when it is well, to answer the same small question.
pub const SLOWER_MAX: f64 = 4.0;
/// Beneath this an answer is quick, whatever it usually takes.
pub const LATENCY_MIN: Duration = Duration::from_millis(20);
/// How much the newest look counts for what is usual.
const NEWEST: f64 = 0.1;

/// What somebody who looked has found.
#[derive(Debug, Clone, PartialEq)]
pub struct Look {
    /// How long the source took for a question that costs nothing.
    pub latency: Duration,
    /// How far a replica is behind, and how far it may be.
    pub lag: Option<Duration>,
    pub lag_max: Option<Duration>,
    /// Whether it answered.
    pub answered: bool,
}

/// Why a source gets fewer sessions.
#[derive(Debug, Clone, PartialEq)]
pub enum Strain {
    Silent,
    Slow { latency: Duration, usual: Duration },
    Behind { lag: Duration, allowed: Duration },
}

impl std::fmt::Display for Strain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let span = |duration: &Duration| weir_base::Span(*duration);
        match self {
            Self::Silent => write!(f, "it does not answer"),
            Self::Slow { latency, usual } => write!(f, "it answers in {}, usually in {}", span(latency), span(usual)),
            Self::Behind { lag, allowed } => write!(f, "its replica is {} behind, {} are allowed", span(lag), span(allowed)),
        }
    }
}

/// The sessions that a source gets, between one and its hard cap.
#[derive(Debug)]
pub struct Pressure {
    most: usize,
    allowed: usize,
    usual: Option<Duration>,
    strain: Option<Strain>,
}

impl Pressure {
    pub fn new(most: usize) -> Self {
        let most = most.max(1);
        Self { most, allowed: most, usual: None, strain: None }
    }

    /// Why it is fewer than all.
    pub fn strain(&self) -> Option<&Strain> {
        self.strain.as_ref()
    }

    /// Somebody has looked; how many sessions there are from now on.
    pub fn looked(&mut self, look: &Look) -> usize {
        self.strain = self.judge(look);
        if self.strain.is_some() {
            self.allowed = (self.allowed / 2).max(1);
        } else {
            self.allowed = (self.allowed + 1).min(self.most);
            self.learn(look.latency);
        }
        self.allowed
    }

    fn judge(&self, look: &Look) -> Option<Strain> {
        if !look.answered {
            return Some(Strain::Silent);
        }
        if let (Some(lag), Some(allowed)) = (look.lag, look.lag_max)
            && lag > allowed
        {
            return Some(Strain::Behind { lag, allowed });
        }
        let usual = self.usual?;
        let slow = look.latency > LATENCY_MIN && look.latency.as_secs_f64() > usual.as_secs_f64() * SLOWER_MAX;
        slow.then_some(Strain::Slow { latency: look.latency, usual })
    }

    /// What is usual follows slowly, and not while the source suffers: else suffering became usual.
    fn learn(&mut self, latency: Duration) {
        let usual = self.usual.map_or(latency.as_secs_f64(), |usual| usual.as_secs_f64() * (1.0 - NEWEST) + latency.as_secs_f64() * NEWEST);
        self.usual = Some(Duration::from_secs_f64(usual));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(latency_ms: u64) -> Look {
        Look { latency: Duration::from_millis(latency_ms), lag: None, lag_max: None, answered: true }
    }

    #[test]
    fn halves_when_it_suffers_and_grows_back_one_by_one() {
        let mut pressure = Pressure::new(8);
        assert_eq!(pressure.looked(&look(10)), 8);
        assert_eq!([100, 100, 100, 100].map(|latency| pressure.looked(&look(latency))), [4, 2, 1, 1]);
        assert_eq!(pressure.strain().unwrap().to_string(), "it answers in 100ms, usually in 10ms");
        assert_eq!([10, 10, 10].map(|latency| pressure.looked(&look(latency))), [2, 3, 4]);
        assert_eq!(pressure.strain(), None);
        (0..9).for_each(|_| _ = pressure.looked(&look(10)));
        assert_eq!(pressure.looked(&look(10)), 8, "and never beyond the cap");
    }

    #[test]
    fn quick_answers_are_quick_though_they_were_quicker() {
        let mut pressure = Pressure::new(4);
        pressure.looked(&look(1));
        assert_eq!(pressure.looked(&look(19)), 4);
        assert_eq!(pressure.looked(&look(90)), 2);
    }

    #[test]
    fn a_source_that_is_silent_or_behind_suffers() {
        let mut pressure = Pressure::new(4);
        assert_eq!(pressure.looked(&Look { answered: false, ..look(0) }), 2);
        let behind = Look { lag: Some(Duration::from_secs(90)), lag_max: Some(Duration::from_secs(60)), ..look(1) };
        assert_eq!(pressure.looked(&behind), 1);
        assert_eq!(pressure.strain().unwrap().to_string(), "its replica is 90s behind, 1m are allowed");
        assert_eq!(pressure.looked(&Look { lag: Some(Duration::from_secs(9)), ..behind }), 2);
    }

    #[test]
    fn what_is_usual_follows_slowly() {
        let mut pressure = Pressure::new(2);
        pressure.looked(&look(10));
        (0..60).for_each(|_| _ = pressure.looked(&look(30)));
        assert_eq!(pressure.looked(&look(100)), 2);
    }
}
