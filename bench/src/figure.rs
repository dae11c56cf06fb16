// SPDX-License-Identifier: Apache-2.0
//! One measured figure, what it is compared with, and whether its target holds.

use crate::contest::Laps;
use serde::Serialize;

/// What a figure has to reach.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Target {
    RatioAtLeast(f64),
    RatioAtMost(f64),
    /// Above the peer, in the figure's unit.
    AboveAtMost(f64),
    ValueAtMost(f64),
    ValueAtLeast(f64),
}

impl Target {
    fn words(self, unit: &str) -> String {
        match self {
            Self::RatioAtLeast(least) => format!("ratio >= {least}"),
            Self::RatioAtMost(most) => format!("ratio <= {most}"),
            Self::AboveAtMost(most) => format!("peer + {most} {unit}"),
            Self::ValueAtMost(most) => format!("<= {most} {unit}"),
            Self::ValueAtLeast(least) => format!(">= {least} {unit}"),
        }
    }

    fn holds(self, value: f64, peer: Option<f64>) -> bool {
        match (self, peer) {
            (Self::RatioAtLeast(least), Some(peer)) => value >= least * peer,
            (Self::RatioAtMost(most), Some(peer)) => value <= most * peer,
            (Self::AboveAtMost(most), Some(peer)) => value <= peer + most,
            (Self::ValueAtMost(most), _) => value <= most,
            (Self::ValueAtLeast(least), _) => value >= least,
            (_, None) => false,
        }
    }
}

/// A line of the results file.
#[derive(Debug, Clone, Serialize)]
pub struct Figure {
    pub figure: String,
    pub value: f64,
    pub unit: &'static str,
    pub peer: Option<String>,
    pub peer_value: Option<f64>,
    pub ratio: Option<f64>,
    /// In words; none for a figure that is reported only.
    pub target: Option<String>,
    pub holds: Option<bool>,
    /// Lowest and highest of the rounds.
    pub spread: Option<[f64; 2]>,
    pub peer_spread: Option<[f64; 2]>,
    /// The machine's load average over the last minute when it was measured.
    pub load: f64,
}

/// A measured value with its spread.
#[derive(Debug, Clone, Copy)]
pub struct Measured {
    value: f64,
    spread: Option<[f64; 2]>,
}

impl Measured {
    pub fn once(value: f64) -> Self {
        Self { value, spread: None }
    }

    /// Rows a second: the median, and the slowest and fastest round.
    pub fn rate(rows: u64, laps: &Laps) -> Self {
        let rate = |seconds: f64| rows as f64 / seconds;
        Self { value: rate(laps.median()), spread: Some([rate(laps.slowest()), rate(laps.fastest())]) }
    }

    /// Time in a unit that has `per_second` of it.
    pub fn time(per_second: f64, laps: &Laps) -> Self {
        Self { value: laps.median() * per_second, spread: Some([laps.fastest() * per_second, laps.slowest() * per_second]) }
    }
}

impl Figure {
    pub fn alone(figure: impl Into<String>, measured: Measured, unit: &'static str, target: Option<Target>) -> Self {
        Self::new(figure.into(), measured, unit, None, target)
    }

    pub fn beside(figure: impl Into<String>, measured: Measured, unit: &'static str, peer: (&str, Measured), target: Option<Target>) -> Self {
        Self::new(figure.into(), measured, unit, Some(peer), target)
    }

    fn new(figure: String, measured: Measured, unit: &'static str, peer: Option<(&str, Measured)>, target: Option<Target>) -> Self {
        let peer_value = peer.map(|(_, measured)| measured.value);
        Self {
            figure,
            value: measured.value,
            unit,
            peer: peer.map(|(name, _)| name.to_owned()),
            peer_value,
            ratio: peer_value.map(|peer| measured.value / peer),
            target: target.map(|target| target.words(unit)),
            holds: target.map(|target| target.holds(measured.value, peer_value)),
            spread: measured.spread,
            peer_spread: peer.and_then(|(_, measured)| measured.spread),
            load: crate::machine::load(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_hold_on_the_right_side() {
        assert!(Target::RatioAtLeast(0.7).holds(70.0, Some(100.0)));
        assert!(!Target::RatioAtLeast(0.7).holds(69.0, Some(100.0)));
        assert!(!Target::RatioAtMost(1.3).holds(1.4, Some(1.0)));
        assert!(Target::AboveAtMost(2.0).holds(2.5, Some(0.6)));
        assert!(!Target::ValueAtMost(100.0).holds(100.5, None));
        assert!(!Target::RatioAtLeast(0.7).holds(1.0, None));
    }

    #[test]
    fn a_figure_knows_its_ratio() {
        let figure = Figure::beside("read", Measured::once(3.0), "s", ("peer", Measured::once(2.0)), Some(Target::RatioAtMost(1.3)));
        assert_eq!((figure.ratio, figure.holds), (Some(1.5), Some(false)));
        assert_eq!(figure.target.as_deref(), Some("ratio <= 1.3"));
    }
}
