// SPDX-License-Identifier: Apache-2.0
//! Verdict: what a query is going to take out of a source, beside what it may. Decided before the first permit, from the forecast; what
//! the forecast did not know the ledger stops while it runs.

use crate::Limits;
use weir_base::{ByteSize, SourceName};

/// What is done with a query of which nobody knows what it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnknownForecast {
    /// It runs, and the ledger stops it at the budget.
    #[default]
    Run,
    /// It is refused where there is a budget.
    Refuse,
}

/// What a query is going to take out of one source, over all its statements. `None` is unknown, and never taken for nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wanted {
    pub rows_low: Option<u64>,
    pub rows: Option<u64>,
    pub rows_high: Option<u64>,
    pub bytes: Option<u64>,
}

impl Wanted {
    /// With one more statement: what is unknown of one is unknown of all, except that it is no less than what is known.
    pub fn and(self, other: Self) -> Self {
        let both = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        let known = |a: Option<u64>, b: Option<u64>| Some(a.unwrap_or(0).saturating_add(b.unwrap_or(0)));
        Self {
            rows_low: known(self.rows_low, other.rows_low),
            rows: both(self.rows, other.rows),
            rows_high: both(self.rows_high, other.rows_high),
            bytes: both(self.bytes, other.bytes),
        }
    }

    pub const NOTHING: Self = Self { rows_low: Some(0), rows: Some(0), rows_high: Some(0), bytes: Some(0) };
}

/// What a user has taken out of the source today, over all queries that have ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UsedToday {
    pub rows: u64,
    pub bytes: u64,
}

/// Why a query is not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub source: SourceName,
    /// The key of the limit in `weir.yaml`.
    pub limit: &'static str,
    /// How much it is going to take, and how much it may, in words.
    pub wants: String,
    pub allows: String,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} expected out of {}, {} allows {}", self.wants, self.source, self.limit, self.allows)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    Run,
    /// The estimate is too loose to decide by: whether there are more rows than this should be counted first. The refusal stands if nobody
    /// can.
    Count {
        rows_max: u64,
        otherwise: Refusal,
    },
    Refuse(Refusal),
}

/// Whether a query that wants so much may run, by the limits of a source and what its user has used today.
pub fn verdict(source: &SourceName, limits: &Limits, used: UsedToday, wanted: Wanted) -> Verdict {
    let refusal = |limit: &'static str, wants: String, allows: String| Refusal { source: source.clone(), limit, wants, allows };
    let rows = |rows: u64| format!("{} rows", grouped(rows));
    for (limit, most, used, wants) in
        [("bytes_per_query", limits.bytes_per_query, 0, wanted.bytes), ("bytes_per_day", limits.bytes_per_day, used.bytes, wanted.bytes)]
    {
        let Some(most) = most else { continue };
        match wants {
            Some(wants) if used.saturating_add(wants) > most => {
                let left = if used > 0 { format!("{}, of which {} are used today", ByteSize(most), ByteSize(used)) } else { ByteSize(most).to_string() };
                return Verdict::Refuse(refusal(limit, ByteSize(wants).to_string(), left));
            }
            // A day that is used up is so for whatever comes.
            _ if used >= most => return Verdict::Refuse(refusal(limit, "more".to_owned(), format!("{}, which are used", ByteSize(most)))),
            _ => {}
        }
    }
    let mut counted = None;
    for (limit, most, used) in [("rows_per_query", limits.rows_per_query, 0), ("rows_per_day", limits.rows_per_day, used.rows)] {
        let Some(most) = most else { continue };
        let allows = if used > 0 { format!("{}, of which {} are used today", rows(most), grouped(used)) } else { rows(most) };
        let over = |wants: u64| used.saturating_add(wants) > most;
        match (wanted.rows_low, wanted.rows) {
            _ if used >= most && most > 0 && limit == "rows_per_day" => {
                return Verdict::Refuse(refusal(limit, "more".to_owned(), format!("{}, which are used", rows(most))));
            }
            (Some(low), _) if over(low) => return Verdict::Refuse(refusal(limit, rows(wanted.rows.unwrap_or(low)), allows)),
            (_, Some(likely)) if over(likely) => {
                let otherwise = refusal(limit, rows(likely), allows);
                let rows_max = most - used.min(most);
                counted = Some(match counted {
                    Some(Verdict::Count { rows_max: known, otherwise: first }) if known <= rows_max => Verdict::Count { rows_max: known, otherwise: first },
                    _ => Verdict::Count { rows_max, otherwise },
                });
            }
            (_, None) if limits.unknown_forecast == UnknownForecast::Refuse => {
                return Verdict::Refuse(refusal(limit, "nobody knows how many rows".to_owned(), format!("{} (unknown_forecast: refuse)", rows(most))));
            }
            _ => {}
        }
    }
    counted.unwrap_or(Verdict::Run)
}

/// `2,000,000`
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let head = digits.len() % 3;
    let mut out = digits[..head].to_owned();
    for chunk in digits.as_bytes()[head..].chunks(3) {
        if !out.is_empty() {
            out.push(',');
        }
        out.extend(chunk.iter().map(|digit| char::from(*digit)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> Limits {
        Limits { rows_per_query: Some(1_000), bytes_per_query: Some(1 << 20), rows_per_day: Some(5_000), bytes_per_day: Some(1 << 22), ..Limits::default() }
    }

    fn wanted(low: u64, likely: u64, high: u64) -> Wanted {
        Wanted { rows_low: Some(low), rows: Some(likely), rows_high: Some(high), bytes: Some(likely) }
    }

    fn told(used: UsedToday, wanted: Wanted) -> String {
        match verdict(&SourceName::new("app_pg"), &limits(), used, wanted) {
            Verdict::Run => "run".to_owned(),
            Verdict::Count { rows_max, otherwise } => format!("count to {rows_max}, else {otherwise}"),
            Verdict::Refuse(refusal) => refusal.to_string(),
        }
    }

    #[test]
    fn within_the_budget_it_runs() {
        assert_eq!(told(UsedToday::default(), wanted(500, 1_000, 9_000)), "run");
        assert_eq!(told(UsedToday { rows: 4_000, bytes: 0 }, wanted(500, 1_000, 2_000)), "run");
    }

    #[test]
    fn beyond_it_the_number_and_the_limit_are_named() {
        let refused = "12,000 rows expected out of app_pg, rows_per_query allows 1,000 rows";
        assert_eq!(told(UsedToday::default(), wanted(6_000, 12_000, 24_000)), refused);
        let today = "1,000 rows expected out of app_pg, rows_per_day allows 5,000 rows, of which 4,500 are used today";
        assert_eq!(told(UsedToday { rows: 4_500, bytes: 0 }, wanted(1_000, 1_000, 1_000)), today);
        let wide = Wanted { bytes: Some(3 << 20), ..wanted(1, 2, 3) };
        assert_eq!(told(UsedToday::default(), wide), "3 MiB expected out of app_pg, bytes_per_query allows 1 MiB");
        let bytes = "2 B expected out of app_pg, bytes_per_day allows 4 MiB, of which 4 MiB are used today";
        assert_eq!(told(UsedToday { rows: 0, bytes: 1 << 22 }, wanted(1, 2, 3)), bytes);
    }

    #[test]
    fn a_loose_estimate_is_counted() {
        let counted = "count to 1000, else 1,200 rows expected out of app_pg, rows_per_query allows 1,000 rows";
        assert_eq!(told(UsedToday::default(), wanted(600, 1_200, 2_400)), counted);
        let today = "count to 800, else 900 rows expected out of app_pg, rows_per_day allows 5,000 rows, of which 4,200 are used today";
        assert_eq!(told(UsedToday { rows: 4_200, bytes: 0 }, wanted(450, 900, 1_800)), today);
    }

    #[test]
    fn what_nobody_knows_is_not_nothing() {
        let unknown = Wanted::NOTHING.and(wanted(1, 2, 3)).and(Wanted::default());
        assert_eq!(unknown, Wanted { rows_low: Some(1), rows: None, rows_high: None, bytes: None });
        assert_eq!(told(UsedToday::default(), unknown), "run");
        let strict = Limits { unknown_forecast: UnknownForecast::Refuse, ..limits() };
        assert!(matches!(verdict(&SourceName::new("a"), &strict, UsedToday::default(), unknown), Verdict::Refuse(_)));
        let free = Limits { unknown_forecast: UnknownForecast::Refuse, ..Limits::default() };
        assert_eq!(verdict(&SourceName::new("a"), &free, UsedToday::default(), unknown), Verdict::Run, "without a budget there is nothing to pass");
        assert_eq!(told(UsedToday { rows: 5_000, bytes: 0 }, unknown), "more expected out of app_pg, rows_per_day allows 5,000 rows, which are used");
    }
}
