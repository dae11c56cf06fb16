// SPDX-License-Identifier: Apache-2.0
//! The plan in words as text: what `weir plan` and `EXPLAIN` print.

use crate::receipt::thousands;
use crate::{Budget, Forecast, Kept, PlanReport, SourceReport, Verdict};
use weir_base::ByteSize;

/// Width of the words on the left.
const LABEL_CHARS: usize = 12;

impl PlanReport {
    /// One fact per line, the kind of fact on the left. Without a line end at the end.
    pub fn to_text(&self) -> String {
        let mut page = Page::default();
        page.verdict(self);
        page.placements(self);
        for policy in &self.policies {
            page.line("policy", policy);
        }
        for view in &self.materialized {
            page.line("view", &format!("{} {}: {}", view.view, if view.used { "is used" } else { "is not used" }, view.why));
        }
        page.sources(&self.sources);
        for (index, operator) in self.residual.iter().enumerate() {
            page.line(if index == 0 { "residual" } else { "" }, operator);
        }
        for suggestion in &self.suggestions {
            page.line("suggestion", &suggestion.sql);
            page.line("", &suggestion.why);
        }
        page.lines.join("\n")
    }
}

#[derive(Default)]
struct Page {
    lines: Vec<String>,
}

impl Page {
    /// A text of several lines is kept in its column.
    fn line(&mut self, label: &str, text: &str) {
        for (index, part) in text.lines().enumerate() {
            let label = if index == 0 { label } else { "" };
            self.lines.push(format!("{label:LABEL_CHARS$}{part}").trim_end().to_owned());
        }
    }

    /// A plan that simply runs needs no word about it.
    fn verdict(&mut self, report: &PlanReport) {
        if report.verdict != Verdict::Run || !report.why.is_empty() {
            let why = if report.why.is_empty() { String::new() } else { format!(": {}", report.why) };
            self.line("verdict", &format!("{}{why}", report.verdict.word()));
        }
    }

    fn placements(&mut self, report: &PlanReport) {
        let width = |text: &dyn Fn(usize) -> usize| (0..report.placements.len()).map(text).max().unwrap_or(0);
        let table_chars = width(&|index| report.placements[index].table.chars().count());
        let placement_chars = width(&|index| report.placements[index].placement.chars().count());
        for placement in &report.placements {
            let as_of = placement.as_of.map(|at| format!("  as of {at}")).unwrap_or_default();
            let why = if placement.why.is_empty() { String::new() } else { format!("  {}", placement.why) };
            self.line("placement", &format!("{:table_chars$}  {:placement_chars$}{as_of}{why}", placement.table, placement.placement));
        }
    }

    fn sources(&mut self, sources: &[SourceReport]) {
        let source_chars = sources.iter().map(|source| source.source.chars().count()).max().unwrap_or(0);
        let fragments = || sources.iter().flat_map(|source| source.statements.iter().map(move |statement| (source, statement)));
        for (index, (source, statement)) in fragments().enumerate() {
            let sql = statement.sql.replace('\n', &format!("\n{:source_chars$}  ", ""));
            self.line(&format!("fragment {}", index + 1), &format!("{:source_chars$}  {sql}", source.source));
            if !statement.pushed.is_empty() {
                self.line("", &format!("pushed {}", statement.pushed.join(", ")));
            }
            for keys in &statement.keys {
                let from = if keys.from.is_empty() { String::new() } else { format!(" from {}", keys.from.join(", ")) };
                self.line("", &format!("keys of {}{from} will be sent if they are few", keys.column));
            }
            self.line("", &forecast(&statement.forecast, &source.budget));
        }
        for (source, statement) in fragments() {
            for kept in &statement.kept {
                self.line("kept", &kept_text(kept, &source.source));
            }
        }
    }
}

fn kept_text(kept: &Kept, source: &str) -> String {
    let remedy = kept.remedy.as_ref().map(|remedy| format!("; remedy: {remedy}")).unwrap_or_default();
    format!("{} on {source} ({}): {}{remedy}", kept.what, kept.code, kept.reason)
}

/// `forecast 1,840 rows (1,700–2,000, explain), 64 KiB of 2,000,000 rows and 512 MiB allowed; 12 rows used today`
fn forecast(forecast: &Forecast, budget: &Budget) -> String {
    let method = forecast.method.word();
    let rows = match (forecast.rows, forecast.rows_low, forecast.rows_high) {
        (None, ..) => "forecast unknown".to_owned(),
        (Some(rows), Some(low), Some(high)) if low != rows || high != rows => {
            format!("forecast {} ({}–{}, {method})", counted(rows, "row"), thousands(low), thousands(high))
        }
        (Some(rows), ..) => format!("forecast {} ({method})", counted(rows, "row")),
    };
    let bytes = forecast.bytes.map(|bytes| format!(", {}", ByteSize(bytes))).unwrap_or_default();
    let allowed: Vec<String> =
        [budget.rows.map(|rows| counted(rows, "row")), budget.bytes.map(|bytes| ByteSize(bytes).to_string())].into_iter().flatten().collect();
    // What was used says something beside what there is.
    let used =
        if allowed.is_empty() || budget.used_today.rows == 0 { String::new() } else { format!("; {} used today", counted(budget.used_today.rows, "row")) };
    let allowed = if allowed.is_empty() { String::new() } else { format!(" of {} allowed", allowed.join(" and ")) };
    format!("{rows}{bytes}{allowed}{used}")
}

fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", thousands(count), if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AwaitedKeys, ForecastMethod, FragmentReport, Materialized, PlacementReport, Suggestion, UsedToday};
    use weir_base::Timestamp;

    fn fragment(sql: &str, kept: Vec<Kept>, forecast: Forecast) -> FragmentReport {
        FragmentReport {
            sql: sql.into(),
            table: vec!["public.tickets".into()],
            pushed: vec!["filter status = 'open'".into(), "2 of 12 columns".into()],
            kept,
            forecast,
            keys: Vec::new(),
        }
    }

    fn report() -> PlanReport {
        let kept = Kept {
            what: "filter name > 'm'".into(),
            code: "collation".into(),
            reason: "en_US sorts differently from binary".into(),
            remedy: Some("declare the column COLLATE \"C\"".into()),
        };
        let forecast = Forecast { rows: Some(1840), rows_low: Some(1700), rows_high: Some(2000), bytes: Some(65_536), method: ForecastMethod::Explain };
        let budget = Budget { rows: Some(2_000_000), bytes: Some(512 << 20), used_today: UsedToday { rows: 1204, bytes: 9 } };
        let keys = vec![AwaitedKeys { column: "customer_id".into(), from: vec!["lake.web.vip".into(), "app.public.t".into()] }];
        let asked_for_keys = FragmentReport { keys, ..fragment("SELECT 2", vec![], Forecast::UNKNOWN) };
        PlanReport {
            verdict: Verdict::Run,
            why: String::new(),
            sources: vec![
                SourceReport { source: "support_pg".into(), statements: vec![fragment("SELECT 1", vec![kept], forecast)], budget },
                SourceReport {
                    source: "crm".into(),
                    statements: vec![asked_for_keys],
                    budget: Budget { used_today: UsedToday { rows: 7, bytes: 9 }, ..Budget::default() },
                },
            ],
            placements: vec![
                PlacementReport { table: "support_pg.public.tickets".into(), placement: "live".into(), as_of: None, why: "no copy".into() },
                PlacementReport { table: "lake.web.clicks".into(), placement: "copy".into(), as_of: Some(Timestamp::from_millis(0)), why: String::new() },
            ],
            materialized: vec![Materialized { view: "lake.hot.engagement".into(), used: false, why: "older than asked".into() }],
            policies: vec!["row filter region = 'EU' on app_pg.public.customers".into()],
            suggestions: vec![Suggestion { sql: "SELECT 3".into(), why: "reads less".into() }],
            residual: vec!["HashJoin".into(), "  Scan".into()],
        }
    }

    #[test]
    fn the_layout_of_explain() {
        let expected = "\
placement   support_pg.public.tickets  live  no copy
placement   lake.web.clicks            copy  as of 1970-01-01T00:00:00.000Z
policy      row filter region = 'EU' on app_pg.public.customers
view        lake.hot.engagement is not used: older than asked
fragment 1  support_pg  SELECT 1
            pushed filter status = 'open', 2 of 12 columns
            forecast 1,840 rows (1,700–2,000, explain), 64 KiB of 2,000,000 rows and 512 MiB allowed; 1,204 rows used today
fragment 2  crm         SELECT 2
            pushed filter status = 'open', 2 of 12 columns
            keys of customer_id from lake.web.vip, app.public.t will be sent if they are few
            forecast unknown
kept        filter name > 'm' on support_pg (collation): en_US sorts differently from binary; remedy: declare the column COLLATE \"C\"
residual    HashJoin
              Scan
suggestion  SELECT 3
            reads less";
        assert_eq!(report().to_text(), expected);
    }

    #[test]
    fn a_refusal_comes_first() {
        let refused = PlanReport { verdict: Verdict::Refuse, why: "over the budget of app_pg".into(), ..report() };
        assert_eq!(refused.to_text().lines().next(), Some("verdict     refuse: over the budget of app_pg"));
    }
}
