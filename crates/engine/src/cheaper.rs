// SPDX-License-Identifier: Apache-2.0
//! What may be asked in the place of a question that is refused: a smaller range of it, its first rows, how many there are. Each is planned
//! and forecast like any question, and only one that would run is offered.

use crate::admit;
use crate::bind::{Command, bind, classify, parse};
use crate::plan::plan_to_tell;
use crate::residual::Leaves;
use crate::scan::SourceScan;
use crate::session::PlanningSession;
use arrow::datatypes::DataType;
use datafusion::sql::sqlparser::ast::{
    BinaryOperator, Expr, GroupByExpr, Ident, LimitClause, ObjectName, Query, Select, SelectItem, SetExpr, Statement, TableFactor, Value,
};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::Parser;
use weir_api::{Parameter, Suggestion};
use weir_base::{CalendarDay, DAY_MICROS, Error, ErrorCode, TableName};
use weir_source::ColumnStatistics;

/// So many are offered.
const OFFERED_MAX: usize = 3;
/// Rows of a sample.
const SAMPLE_ROWS: u64 = 1_000;
/// A range is chosen so that it takes this share of what is allowed: estimates are estimates.
const SHARE: f64 = 0.4;

/// A question, and what it is in words.
struct Candidate {
    statement: Statement,
    why: String,
}

/// Cheaper questions that run, the nearest to the one that was asked first.
pub(crate) async fn cheaper(planning: &PlanningSession<'_>, leaves: &Leaves, params: &[Parameter]) -> Vec<Suggestion> {
    let Some(asked) = asked(&planning.run.sql) else { return Vec::new() };
    for scan in leaves.by_source().into_values().flatten() {
        if let Some(table) = &scan.table {
            scan.handle.learn(std::slice::from_ref(table)).await;
        }
    }
    let mut offered = Vec::new();
    for candidate in candidates(&asked, leaves) {
        if offered.len() >= OFFERED_MAX {
            break;
        }
        if runs(planning, candidate.statement.clone(), params).await {
            offered.push(Suggestion { sql: candidate.statement.to_string(), why: candidate.why });
        }
    }
    offered
}

/// The refusal with the first cheaper question in its hint.
pub(crate) async fn with_cheaper(error: Error, planning: &PlanningSession<'_>, leaves: &Leaves, params: &[Parameter]) -> Error {
    if error.code() != ErrorCode::OverBudget {
        return error;
    }
    match cheaper(planning, leaves, params).await.into_iter().next() {
        Some(Suggestion { sql, why }) => error.with_hint(format!("this runs, {why}: {sql}")),
        None => error,
    }
}

/// The question in a statement, read again: a deep one is not copied on the stack of a worker for the few that are refused.
fn asked(sql: &str) -> Option<Statement> {
    match classify(parse(sql).ok()?).ok()? {
        Command::Question(statement) => Some(*statement),
        Command::Explain(request) => Some(*request.inner),
        _ => None,
    }
}

/// Whether it would be admitted. What does not even plan is not offered.
async fn runs(planning: &PlanningSession<'_>, statement: Statement, params: &[Parameter]) -> bool {
    let Ok(bound) = bind(planning, statement, params).await else { return false };
    let Ok(physical) = plan_to_tell(planning, bound).await else { return false };
    admit::decide(&Leaves::of(&physical.plan().plan), planning).await.is_ok()
}

fn candidates(asked: &Statement, leaves: &Leaves) -> Vec<Candidate> {
    let Statement::Query(query) = asked else { return Vec::new() };
    let SetExpr::Select(select) = query.body.as_ref() else { return Vec::new() };
    let mut candidates = narrower(query, select, leaves);
    candidates.extend(sample(query));
    candidates.extend(counted(query, select));
    candidates
}

/// The newest part, by a column whose values the source has counted, of the table that gives most.
fn narrower(query: &Query, select: &Select, leaves: &Leaves) -> Vec<Candidate> {
    let mut scans: Vec<&SourceScan> = leaves.by_source().into_values().flatten().filter(|scan| scan.table.is_some()).collect();
    scans.sort_by_key(|scan| std::cmp::Reverse(scan.forecast().and_then(|forecast| forecast.rows)));
    let mut candidates = Vec::new();
    for scan in scans {
        let (Some(table), Some(used)) = (&scan.table, scan.fragment.tables.first()) else { continue };
        let Some(known) = scan.handle.known_statistics(table) else { continue };
        let (Some(most), Some(rows)) = (scan.handle.guard.limits().rows_per_query, known.rows.or(table.rows_estimate)) else { continue };
        let Some(called) = called(select, &used.name) else { continue };
        let required = scan.handle.rule(&used.name.schema, &used.name.table).map(|rule| rule.require_filter.clone()).unwrap_or_default();
        let mut columns: Vec<usize> = (0..table.columns.len()).collect();
        // What must be filtered first, then times, then what has an index.
        columns.sort_by_key(|index| {
            let column = &table.columns[*index];
            (!required.contains(&column.name), !is_time(&column.data_type), !known.columns.get(*index).is_some_and(|known| known.indexed))
        });
        for index in columns {
            let (column, counted) = (&table.columns[index], known.columns.get(index));
            let useful = is_time(&column.data_type) || counted.is_some_and(|counted| counted.indexed);
            let Some(bound) = counted.filter(|_| useful).and_then(|counted| newest(counted, most as f64 * SHARE / rows as f64)) else { continue };
            let Some(literal) = literal(bound, &column.data_type) else { continue };
            let condition = Expr::BinaryOp {
                left: Box::new(Expr::CompoundIdentifier(vec![called.clone(), Ident::with_quote('"', &column.name)])),
                op: BinaryOperator::GtEq,
                right: Box::new(literal),
            };
            candidates.push(Candidate { statement: with_condition(query, condition), why: format!("a smaller range of {}", column.name) });
            break;
        }
    }
    candidates
}

fn is_time(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Date32 | DataType::Timestamp(..))
}

/// How a table is called in the FROM of a question.
fn called(select: &Select, table: &TableName) -> Option<Ident> {
    let factors = select.from.iter().flat_map(|from| std::iter::once(&from.relation).chain(from.joins.iter().map(|join| &join.relation)));
    factors.into_iter().find_map(|factor| match factor {
        TableFactor::Table { name, alias, args: None, .. } => {
            let last = last(name)?;
            if last.value.to_lowercase() != table.table.to_lowercase() {
                return None;
            }
            Some(alias.as_ref().map_or_else(|| last.clone(), |alias| alias.name.clone()))
        }
        _ => None,
    })
}

fn last(name: &ObjectName) -> Option<&Ident> {
    name.0.last()?.as_ident()
}

/// Where the newest part begins that holds this share of the values.
fn newest(known: &ColumnStatistics, share: f64) -> Option<f64> {
    let last = known.quantiles.len().checked_sub(1).filter(|last| *last > 0)?;
    if share >= 1.0 {
        return None;
    }
    let place = (1.0 - share) * last as f64;
    let below = (place.floor() as usize).min(last - 1);
    let (low, high) = (known.quantiles[below], known.quantiles[below + 1]);
    Some(low + (high - low) * (place - below as f64))
}

/// The value as people write it.
fn literal(place: f64, data_type: &DataType) -> Option<Expr> {
    let text = match data_type {
        // Days stand among the microseconds.
        DataType::Date32 => format!("DATE '{}'", day((place / DAY_MICROS as f64).ceil() as i64)?),
        // A time of day says more than anybody needs.
        DataType::Timestamp(_, zone) => {
            let micros = place.ceil() as i64;
            let word = if zone.is_some() { "TIMESTAMPTZ" } else { "TIMESTAMP" };
            let minutes = micros.rem_euclid(DAY_MICROS) / 60_000_000;
            let zone = if zone.is_some() { "+00" } else { "" };
            format!("{word} '{} {:02}:{:02}:00{zone}'", day(micros.div_euclid(DAY_MICROS))?, minutes / 60, minutes % 60)
        }
        whole if whole.is_integer() => (place.ceil() as i64).to_string(),
        _ => return None,
    };
    Parser::new(&PostgreSqlDialect {}).try_with_sql(&text).ok()?.parse_expr().ok()
}

fn day(days: i64) -> Option<String> {
    let CalendarDay { year, month, day } = CalendarDay::from_days(days);
    (1..=9999).contains(&year).then(|| format!("{year:04}-{month:02}-{day:02}"))
}

fn with_condition(query: &Query, condition: Expr) -> Statement {
    let mut query = query.clone();
    if let SetExpr::Select(select) = query.body.as_mut() {
        let known = select.selection.take().map(|known| match known {
            Expr::BinaryOp { op: BinaryOperator::Or, .. } => Expr::Nested(Box::new(known)),
            other => other,
        });
        select.selection = Some(match known {
            Some(known) => Expr::BinaryOp { left: Box::new(known), op: BinaryOperator::And, right: Box::new(condition) },
            None => condition,
        });
    }
    Statement::Query(Box::new(query))
}

/// Its first rows.
fn sample(query: &Query) -> Option<Candidate> {
    if query.limit_clause.is_some() || query.fetch.is_some() {
        return None;
    }
    let limit = Some(Expr::value(Value::Number(SAMPLE_ROWS.to_string(), false)));
    let limit_clause = Some(LimitClause::LimitOffset { limit, offset: None, limit_by: Vec::new() });
    let why = format!("its first {SAMPLE_ROWS} rows");
    Some(Candidate { statement: Statement::Query(Box::new(Query { limit_clause, ..query.clone() })), why })
}

/// How many rows there are.
fn counted(query: &Query, select: &Select) -> Option<Candidate> {
    let grouped = !matches!(&select.group_by, GroupByExpr::Expressions(keys, _) if keys.is_empty()) || select.having.is_some();
    if grouped || select.distinct.is_some() || query.with.is_some() {
        return None;
    }
    let count = Parser::new(&PostgreSqlDialect {}).try_with_sql("count(*)").ok()?.parse_expr().ok()?;
    let select = Select { projection: vec![SelectItem::UnnamedExpr(count)], ..select.clone() };
    let body = Box::new(SetExpr::Select(Box::new(select)));
    let query = Query { body, order_by: None, limit_clause: None, fetch: None, ..query.clone() };
    Some(Candidate { statement: Statement::Query(Box::new(query)), why: "how many rows there are".to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::TimeUnit;

    fn parsed(sql: &str) -> Query {
        let statement = Parser::parse_sql(&PostgreSqlDialect {}, sql).unwrap().remove(0);
        let Statement::Query(query) = statement else { panic!("no question") };
        *query
    }

    fn select(query: &Query) -> &Select {
        let SetExpr::Select(select) = query.body.as_ref() else { panic!("no SELECT") };
        select
    }

    #[test]
    fn the_newest_part_begins_between_quantiles() {
        let known = ColumnStatistics { quantiles: vec![0.0, 100.0, 200.0, 1_000.0], ..ColumnStatistics::default() };
        assert_eq!([0.5, 1.0 / 3.0, 0.1].map(|share| newest(&known, share).map(f64::round)), [Some(150.0), Some(200.0), Some(760.0)]);
        assert_eq!((newest(&known, 1.0), newest(&ColumnStatistics::default(), 0.1)), (None, None));
    }

    #[test]
    fn bounds_are_written_as_people_do() {
        let told = |place: f64, data_type: DataType| literal(place, &data_type).map(|literal| literal.to_string());
        assert_eq!(told(20_788.2 * DAY_MICROS as f64, DataType::Date32).unwrap(), "DATE '2026-12-02'");
        let micros = 20_788.0 * DAY_MICROS as f64 + 3_723_000_000.0;
        assert_eq!(told(micros, DataType::Timestamp(TimeUnit::Microsecond, None)).unwrap(), "TIMESTAMP '2026-12-01 01:02:00'");
        assert_eq!(told(micros, DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))).unwrap(), "TIMESTAMPTZ '2026-12-01 01:02:00+00'");
        assert_eq!((told(41.2, DataType::Int64), told(1.0, DataType::Utf8)), (Some("42".to_owned()), None));
    }

    #[test]
    fn the_question_stays_what_it_is() {
        let query = parsed("SELECT e.id FROM app.public.events e WHERE e.kind = 'a' OR e.id = 1 ORDER BY 1");
        let table = TableName::new("app", "public", "events");
        let called = called(select(&query), &table).unwrap();
        let condition =
            Expr::BinaryOp { left: Box::new(Expr::Identifier(called)), op: BinaryOperator::GtEq, right: Box::new(literal(5.0, &DataType::Int32).unwrap()) };
        assert_eq!(
            with_condition(&query, condition).to_string(),
            "SELECT e.id FROM app.public.events e WHERE (e.kind = 'a' OR e.id = 1) AND e >= 5 ORDER BY 1"
        );
        assert_eq!(sample(&query).unwrap().statement.to_string(), "SELECT e.id FROM app.public.events e WHERE e.kind = 'a' OR e.id = 1 ORDER BY 1 LIMIT 1000");
        assert_eq!(counted(&query, select(&query)).unwrap().statement.to_string(), "SELECT count(*) FROM app.public.events e WHERE e.kind = 'a' OR e.id = 1");
        let grouped = parsed("SELECT kind, count(*) FROM events GROUP BY kind LIMIT 5");
        assert!(counted(&grouped, select(&grouped)).is_none() && sample(&grouped).is_none());
        assert!(super::called(select(&grouped), &TableName::new("app", "public", "other")).is_none());
    }
}
