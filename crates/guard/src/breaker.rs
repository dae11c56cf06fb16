// SPDX-License-Identifier: Apache-2.0
//! A circuit breaker per source: after several failures in a row nobody is sent there for a while, then one is, to see. Time is an
//! argument, so that a test decides what it is. After the pattern of M. Nygard, "Release It!".

use std::time::{Duration, Instant};

/// Failures in a row after which nobody is sent.
pub const FAILURES_MAX: u32 = 5;
/// How long nobody is sent the first time; twice as long each time that the one who looks fails.
pub const PAUSE_FIRST: Duration = Duration::from_secs(1);
pub const PAUSE_MAX: Duration = Duration::from_secs(30);

/// Whether a source is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BreakerState {
    /// It is.
    Closed,
    /// Not before the moment.
    Open { until: Instant },
    /// One is on the way to see.
    HalfOpen { since: Instant },
}

impl BreakerState {
    pub fn word(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open { .. } => "open",
            Self::HalfOpen { .. } => "half-open",
        }
    }
}

/// What a source did last.
#[derive(Debug)]
pub struct Breaker {
    state: BreakerState,
    failures: u32,
    pause: Duration,
}

/// What a request may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    Go,
    /// It goes first, and what comes of it decides.
    Probe,
    /// Not before that much time has passed.
    Wait(Duration),
}

impl Default for Breaker {
    fn default() -> Self {
        Self { state: BreakerState::Closed, failures: 0, pause: PAUSE_FIRST }
    }
}

impl Breaker {
    /// Whether somebody may be sent now.
    pub fn pass(&mut self, now: Instant) -> Pass {
        match self.state {
            BreakerState::Closed => Pass::Go,
            BreakerState::Open { until } if now < until => Pass::Wait(until - now),
            // Who went to see may have been cancelled on the way: after a while another one goes.
            BreakerState::HalfOpen { since } if now.duration_since(since) < PAUSE_MAX => Pass::Wait(self.pause),
            BreakerState::Open { .. } | BreakerState::HalfOpen { .. } => {
                self.state = BreakerState::HalfOpen { since: now };
                Pass::Probe
            }
        }
    }

    /// The source answered, be it with an error of its own about the question.
    pub fn succeeded(&mut self) {
        *self = Self::default();
    }

    /// The source could not be reached, or broke.
    pub fn failed(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        match self.state {
            BreakerState::HalfOpen { .. } => {
                self.pause = (self.pause * 2).min(PAUSE_MAX);
                self.state = BreakerState::Open { until: now + self.pause };
            }
            BreakerState::Closed if self.failures >= FAILURES_MAX => self.state = BreakerState::Open { until: now + self.pause },
            // What was sent before it opened says nothing new.
            BreakerState::Closed | BreakerState::Open { .. } => {}
        }
    }

    pub fn state(&self) -> BreakerState {
        self.state
    }

    /// Failures since the last answer.
    pub fn failures(&self) -> u32 {
        self.failures
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opens_after_several_failures_and_closes_after_one_answer() {
        let (mut breaker, now) = (Breaker::default(), Instant::now());
        for _ in 1..FAILURES_MAX {
            breaker.failed(now);
            assert_eq!(breaker.pass(now), Pass::Go);
        }
        breaker.failed(now);
        assert_eq!(breaker.pass(now), Pass::Wait(PAUSE_FIRST));
        let later = now + PAUSE_FIRST;
        assert_eq!(breaker.pass(later), Pass::Probe);
        assert_eq!(breaker.pass(later), Pass::Wait(PAUSE_FIRST), "one is enough to see");
        breaker.succeeded();
        assert_eq!((breaker.pass(later), breaker.failures()), (Pass::Go, 0));
    }

    #[test]
    fn waits_longer_each_time_that_it_is_still_away() {
        let (mut breaker, mut now) = (Breaker::default(), Instant::now());
        (0..FAILURES_MAX).for_each(|_| breaker.failed(now));
        let mut pauses = Vec::new();
        for _ in 0..7 {
            let Pass::Wait(pause) = breaker.pass(now) else { panic!("open") };
            pauses.push(pause.as_secs());
            now += pause;
            assert_eq!(breaker.pass(now), Pass::Probe);
            breaker.failed(now);
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 30, 30]);
    }

    #[test]
    fn who_never_comes_back_from_looking_is_not_waited_for() {
        let (mut breaker, now) = (Breaker::default(), Instant::now());
        (0..FAILURES_MAX).for_each(|_| breaker.failed(now));
        assert_eq!(breaker.pass(now + PAUSE_FIRST), Pass::Probe);
        assert_eq!(breaker.pass(now + PAUSE_FIRST + PAUSE_MAX), Pass::Probe);
    }

    #[test]
    fn an_answer_between_failures_counts() {
        let (mut breaker, now) = (Breaker::default(), Instant::now());
        for _ in 0..3 {
            (1..FAILURES_MAX).for_each(|_| breaker.failed(now));
            breaker.succeeded();
        }
        assert_eq!(breaker.state(), BreakerState::Closed);
    }
}
