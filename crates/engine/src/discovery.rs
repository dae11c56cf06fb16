// SPDX-License-Identifier: Apache-2.0
//! What tables a source has: asked once per time to live, by one asker while the others wait.

use crate::meters;
use std::collections::HashMap;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Mutex;
use weir_api::Forecast;
use weir_base::limits::{DISCOVERY_TTL_MS, FORECASTS_KEPT_MAX, STATISTICS_WAIT_MS_MAX};
use weir_base::{Error, ErrorCode, Result, SourceName};
use weir_guard::{Guard, Look, Purpose};
use weir_source::{Health, Source, SourceTable, TableStatistics};

/// A failed discovery is believed this long, so that a hundred waiting queries do not knock one after the other.
const FAILURE_TTL: Duration = Duration::from_millis(1_000);
/// A failure is believed so many times as long as it took to notice.
const FAILURE_TTL_PER_WAIT: u32 = 4;
/// A list of tables is not read again because a name was not in it before it is this many times as old as reading it took:
/// a new table shows at once, and a stream of wrong names keeps the source busy for a small part of the time.
const REFRESH_AGE_FACTOR: u32 = 10;
/// However slow the source is to list its tables, a list of this age is read again.
const REFRESH_AGE_MAX: Duration = Duration::from_millis(1_000);

/// How the source is, is asked again after this long.
const HEALTH_TTL: Duration = Duration::from_secs(5);
/// Whoever looks at the sources waits this long for one of them.
const HEALTH_WAIT_MAX: Duration = Duration::from_secs(5);

/// A source with its guard and what is known of its tables.
#[derive(Debug)]
pub struct SourceHandle {
    pub source: Arc<dyn Source>,
    pub guard: Arc<Guard>,
    known: Mutex<Option<Known>>,
    health: Mutex<Option<(Instant, Result<Health>)>>,
    /// What the source has counted, by schema and name; true of a table as it was listed then.
    statistics: std::sync::Mutex<HashMap<(String, String), Counted>>,
    /// Held by the one who asks for statistics while others wait.
    learning: Mutex<()>,
    /// What the source lately said of a statement, by its text.
    forecasts: std::sync::Mutex<HashMap<String, (Instant, Forecast)>>,
    rules: Vec<TableRule>,
}

/// What the owner of a source demands of every question about one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableRule {
    pub schema: String,
    pub table: String,
    /// Each of these must be bounded by a filter that the source applies.
    pub require_filter: Vec<String>,
    /// No filter on it may stay here.
    pub strict: bool,
}

/// Statistics of a table as it was listed.
type Counted = (Arc<SourceTable>, Arc<TableStatistics>);

#[derive(Debug, Clone)]
struct Known {
    at: Instant,
    /// How long the source took to answer.
    took: Duration,
    outcome: Result<Arc<SourceCatalog>>,
}

impl SourceHandle {
    pub fn new(source: Arc<dyn Source>, guard: Arc<Guard>) -> Self {
        Self {
            source,
            guard,
            known: Mutex::new(None),
            health: Mutex::new(None),
            statistics: std::sync::Mutex::default(),
            learning: Mutex::new(()),
            forecasts: std::sync::Mutex::default(),
            rules: Vec::new(),
        }
    }

    pub fn with_rules(self, rules: Vec<TableRule>) -> Self {
        Self { rules, ..self }
    }

    pub fn rule(&self, schema: &str, table: &str) -> Option<&TableRule> {
        self.rules.iter().find(|rule| rule.schema == schema && rule.table == table)
    }

    pub fn name(&self) -> &SourceName {
        self.guard.source()
    }

    /// The forecast that the source gave for this text, while it is fresh.
    pub(crate) fn remembered_forecast(&self, sql: &str) -> Option<Forecast> {
        let forecasts = self.forecasts.lock().unwrap_or_else(PoisonError::into_inner);
        forecasts.get(sql).filter(|(at, _)| at.elapsed() < Duration::from_millis(DISCOVERY_TTL_MS)).map(|(_, forecast)| forecast.clone())
    }

    pub(crate) fn remember_forecast(&self, sql: &str, forecast: Forecast) {
        let mut forecasts = self.forecasts.lock().unwrap_or_else(PoisonError::into_inner);
        if forecasts.len() >= FORECASTS_KEPT_MAX {
            forecasts.clear();
        }
        forecasts.insert(sql.to_owned(), (Instant::now(), forecast));
    }

    /// What the source has counted in a table; `None` where it was not asked yet.
    pub(crate) fn known_statistics(&self, table: &Arc<SourceTable>) -> Option<Arc<TableStatistics>> {
        let known = self.statistics.lock().unwrap_or_else(PoisonError::into_inner);
        let (listed, counted) = known.get(&(table.schema.clone(), table.name.clone()))?;
        Arc::ptr_eq(listed, table).then(|| counted.clone())
    }

    /// Asks for what is not known of these tables yet, once for each list of tables. A source that is busy or slow is not waited for,
    /// and what it does not tell stays unknown until its tables are listed again.
    pub(crate) async fn learn(&self, tables: &[Arc<SourceTable>]) {
        if tables.iter().all(|table| self.known_statistics(table).is_some()) {
            return;
        }
        let _one = self.learning.lock().await;
        let missing: Vec<Arc<SourceTable>> = tables.iter().filter(|table| self.known_statistics(table).is_none()).cloned().collect();
        let load = self.guard.load();
        if missing.is_empty() || load.in_use >= load.allowed {
            return;
        }
        let asked = async {
            let permit = self.guard.permit(Purpose::Metadata).await?;
            self.source.statistics(permit, &missing).await
        };
        let counted = match tokio::time::timeout(Duration::from_millis(STATISTICS_WAIT_MS_MAX), asked).await {
            Ok(Ok(counted)) => counted,
            Ok(Err(error)) => {
                tracing::debug!(source = %self.name(), error = %error, "StatisticsFailed");
                Vec::new()
            }
            Err(_) => {
                tracing::debug!(source = %self.name(), "StatisticsTimedOut");
                Vec::new()
            }
        };
        let mut counted = counted.into_iter();
        let mut known = self.statistics.lock().unwrap_or_else(PoisonError::into_inner);
        for table in missing {
            let counted = counted.next().unwrap_or_else(|| TableStatistics::unknown(table.columns.len()));
            known.insert((table.schema.clone(), table.name.clone()), (table, Arc::new(counted)));
        }
    }

    /// The tables, from memory while they are fresh.
    pub async fn catalog(&self) -> Result<Arc<SourceCatalog>> {
        self.catalog_younger_than(|_| Duration::from_millis(DISCOVERY_TTL_MS)).await
    }

    /// The tables, asked again unless they are very fresh: for a name that the known list does not have.
    pub async fn catalog_again(&self) -> Result<Arc<SourceCatalog>> {
        self.catalog_younger_than(|known| (known.took * REFRESH_AGE_FACTOR).min(REFRESH_AGE_MAX)).await
    }

    /// How the source is: its version, role, lag and what our account may do, not older than a few seconds. Asked with a permit, like everything;
    /// while that has to be waited for, what was known last is the answer. Errors: as those of a probe, 53300 where nothing is known yet.
    pub async fn health(&self) -> Result<Health> {
        let mut known = self.health.lock().await;
        if let Some((at, outcome)) = known.as_ref().filter(|(at, outcome)| at.elapsed() < if outcome.is_ok() { HEALTH_TTL } else { FAILURE_TTL }) {
            tracing::trace!(source = %self.name(), age_ms = at.elapsed().as_millis() as u64, "HealthKnown");
            return outcome.clone();
        }
        match tokio::time::timeout(HEALTH_WAIT_MAX, self.probe()).await {
            Ok(outcome) => {
                *known = Some((Instant::now(), outcome.clone()));
                outcome
            }
            Err(_) => known.as_ref().map_or_else(|| Err(self.busy()), |(_, outcome)| outcome.clone()),
        }
    }

    /// Looks how the source is, and lets its guard know: it gives out fewer sessions while the source suffers.
    async fn probe(&self) -> Result<Health> {
        let permit = self.guard.permit(Purpose::Health).await?;
        let asked = Instant::now();
        let outcome = self.source.probe(permit).await;
        let lag = outcome.as_ref().ok().and_then(|health| u64::try_from(health.replica_lag_ms?).ok()).map(Duration::from_millis);
        if let Ok(health) = &outcome {
            meters::health(self.name(), health);
        }
        let answered = !outcome.as_ref().is_err_and(unreachable);
        self.guard.looked(&Look { latency: asked.elapsed(), lag, lag_max: self.guard.limits().replica_lag_max, answered });
        outcome
    }

    /// What a statement ended with, for the guard: whether the source is there.
    pub(crate) fn told(&self, error: &Error) {
        match unreachable(error) {
            true => self.guard.failed(),
            // An error about the question is an answer; one of ours says nothing.
            false if error.code().blame() == weir_base::Blame::Source => self.guard.answered(),
            false => {}
        }
    }

    fn busy(&self) -> Error {
        Error::new(ErrorCode::NoPermit, format!("source {} is busy", self.name())).with_detail("all its sessions are in use, or it answers slowly")
    }

    /// What is known may be wrong: the source was not as expected when it was read. Nothing to do while somebody asks it anyway.
    pub fn forget(&self) {
        if let Ok(mut known) = self.known.try_lock() {
            *known = None;
        }
    }

    /// Whether the last look at it failed. Asks nothing, and does not wait for somebody who asks.
    pub fn known_unreachable(&self) -> bool {
        let known = self.known.try_lock();
        known.is_ok_and(|known| known.as_ref().is_some_and(|known| known.outcome.is_err()))
    }

    async fn catalog_younger_than(&self, age_max: fn(&Known) -> Duration) -> Result<Arc<SourceCatalog>> {
        let mut known = self.known.lock().await;
        if let Some(known) = known.as_ref() {
            // A source that lets its callers wait is asked less often than one that says no at once.
            let ttl = if known.outcome.is_ok() { age_max(known) } else { FAILURE_TTL.max(known.took * FAILURE_TTL_PER_WAIT) };
            if known.at.elapsed() < ttl {
                return known.outcome.clone();
            }
        }
        let asked = Instant::now();
        let outcome = self.ask().await;
        *known = Some(Known { at: Instant::now(), took: asked.elapsed(), outcome: outcome.clone() });
        outcome
    }

    async fn ask(&self) -> Result<Arc<SourceCatalog>> {
        let permit = self.guard.permit(Purpose::Metadata).await?;
        let discovered = self.source.discover(permit).await.inspect_err(|error| self.told(error))?;
        self.guard.answered();
        Ok(Arc::new(SourceCatalog::new(discovered.tables, discovered.warnings)))
    }
}

/// Whether nobody answered, or somebody hung up in the middle.
fn unreachable(error: &Error) -> bool {
    matches!(error.code(), ErrorCode::SourceUnreachable | ErrorCode::SourceBroke)
}

/// The tables of one source, by exact and by folded name.
#[derive(Debug)]
pub struct SourceCatalog {
    tables: Vec<Arc<SourceTable>>,
    exact: HashMap<(String, String), usize>,
    folded: HashMap<(String, String), Vec<usize>>,
    pub warnings: Vec<String>,
}

/// What a name found.
#[derive(Debug)]
pub enum Found {
    One(Arc<SourceTable>),
    None,
    /// Several tables differ only in case; the exact names.
    Ambiguous(Vec<String>),
}

/// A part of a name as it was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    pub text: String,
    pub quoted: bool,
}

impl Part {
    fn fits(&self, name: &str) -> bool {
        self.text == name || (!self.quoted && self.text.to_lowercase() == name.to_lowercase())
    }
}

impl SourceCatalog {
    pub fn new(tables: Vec<SourceTable>, warnings: Vec<String>) -> Self {
        let tables: Vec<Arc<SourceTable>> = tables.into_iter().map(Arc::new).collect();
        let mut exact = HashMap::with_capacity(tables.len());
        let mut folded: HashMap<(String, String), Vec<usize>> = HashMap::with_capacity(tables.len());
        for (index, table) in tables.iter().enumerate() {
            exact.insert((table.schema.clone(), table.name.clone()), index);
            folded.entry((table.schema.to_lowercase(), table.name.to_lowercase())).or_default().push(index);
        }
        Self { tables, exact, folded, warnings }
    }

    pub fn tables(&self) -> &[Arc<SourceTable>] {
        &self.tables
    }

    /// Quoted parts are exact; unquoted ones prefer the exact lower-case spelling and else ignore case where that is unambiguous.
    /// What `visible` does not hold of is not there.
    pub fn find(&self, schema: &Part, table: &Part, visible: impl Fn(&SourceTable) -> bool) -> Found {
        let as_typed = (spelled(schema), spelled(table));
        if let Some(found) = self.exact.get(&as_typed).map(|index| &self.tables[*index]).filter(|found| visible(found)) {
            return Found::One(found.clone());
        }
        let folded = (schema.text.to_lowercase(), table.text.to_lowercase());
        let candidates = self.folded.get(&folded).map(Vec::as_slice).unwrap_or_default();
        let fitting: Vec<&Arc<SourceTable>> = candidates
            .iter()
            .map(|index| &self.tables[*index])
            .filter(|found| schema.fits(&found.schema) && table.fits(&found.name) && visible(found))
            .collect();
        match fitting.as_slice() {
            [] => Found::None,
            [one] => Found::One((*one).clone()),
            several => Found::Ambiguous(several.iter().map(|found| format!("\"{}\".\"{}\"", found.schema, found.name)).collect()),
        }
    }

    /// Schemas that have a table of that name, for names written without a schema.
    pub fn schemas_with(&self, table: &Part, visible: impl Fn(&SourceTable) -> bool) -> Vec<String> {
        let mut schemas: Vec<String> = self.tables.iter().filter(|known| table.fits(&known.name) && visible(known)).map(|known| known.schema.clone()).collect();
        schemas.sort();
        schemas.dedup();
        schemas
    }

    pub fn has_schema(&self, schema: &Part) -> bool {
        self.tables.iter().any(|known| schema.fits(&known.schema))
    }
}

fn spelled(part: &Part) -> String {
    if part.quoted { part.text.clone() } else { part.text.to_lowercase() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_source::TableKind;

    fn table(schema: &str, name: &str) -> SourceTable {
        SourceTable {
            schema: schema.into(),
            name: name.into(),
            kind: TableKind::Table,
            columns: vec![],
            rows_estimate: None,
            bytes_estimate: None,
            comment: None,
            unique: Vec::new(),
        }
    }

    fn part(text: &str, quoted: bool) -> Part {
        Part { text: text.into(), quoted }
    }

    #[test]
    fn quoted_is_exact_and_unquoted_folds_when_unambiguous() {
        let catalog =
            SourceCatalog::new(vec![table("PUBLIC", "REVENUE"), table("public", "cs_user"), table("public", "cs_User"), table("public", "MyTable")], vec![]);
        let found = |schema, quoted_schema, name, quoted| catalog.find(&part(schema, quoted_schema), &part(name, quoted), |_| true);
        assert!(matches!(found("public", false, "revenue", false), Found::One(found) if found.name == "REVENUE"));
        assert!(matches!(found("public", false, "revenue", true), Found::None));
        assert!(matches!(found("public", false, "cs_user", false), Found::One(found) if found.name == "cs_user"));
        assert!(matches!(found("public", false, "CS_USER", false), Found::One(found) if found.name == "cs_user"));
        assert!(matches!(found("public", true, "cs_User", true), Found::One(found) if found.name == "cs_User"));
        assert!(matches!(found("public", false, "mytable", false), Found::One(found) if found.name == "MyTable"));
        assert!(matches!(found("public", false, "mytable", true), Found::None));
    }

    #[test]
    fn names_that_differ_in_case_only_are_ambiguous_unquoted() {
        let catalog = SourceCatalog::new(vec![table("s", "Ab"), table("s", "aB")], vec![]);
        let find = |visible: fn(&SourceTable) -> bool| catalog.find(&part("s", false), &part("ab", false), visible);
        assert!(matches!(find(|_| true), Found::Ambiguous(names) if names.len() == 2));
        assert!(matches!(find(|table| table.name == "aB"), Found::One(found) if found.name == "aB"));
        assert!(matches!(find(|_| false), Found::None));
    }
}
