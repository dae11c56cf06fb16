// SPDX-License-Identifier: Apache-2.0
//! Bind: from text to a logical plan in which every table is known, and the list of what the plan wants to touch.

mod arrays;
mod at_time_zone;
mod catalog;
mod clauses;
mod comparisons;
mod depth;
mod dialect;
mod distinct_on;
mod elsewhere;
mod exponent;
mod grouping;
mod interval;
mod make_interval;
mod misplaced;
pub(crate) mod names;
mod narrow;
mod operators;
mod order_inputs;
mod outer_aliases;
mod output_names;
mod placeholders;
mod precedence;
mod rewrite;
mod rows;
mod show;
mod similar;
mod statement;
mod time_patterns;
mod twins;
mod type_names;
mod unnested;
mod writes;

pub(crate) use arrays::Spread;
pub(crate) use interval::interval_of_text;
pub(crate) use names::{Names, Resolved};
pub(crate) use output_names::{OutputNames, is_twin};
pub(crate) use placeholders::check_count;
pub(crate) use statement::{Command, Explain, ExplainFormat, classify, parse, split};
pub(crate) use type_names::TypeNames;

use crate::errors::from_datafusion;
use crate::scan::{LakeTableProvider, SourceTableProvider};
use crate::session::PlanningSession;
use crate::shortcuts;
use crate::{parameters, pg_catalog};
use arrow::datatypes::DataType;
use catalog::StatementCatalogs;
use datafusion::catalog::TableProvider;
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::parser::Statement as ParsedStatement;
use datafusion::sql::sqlparser::ast::Statement;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use weir_api::Parameter;
use weir_base::limits::COLUMNS_MAX;
use weir_base::{Error, ErrorCode, Result, TableName, nearest};
use weir_policy::{Access, Action};

/// A plan over known tables, not yet authorised.
pub(crate) struct Bound {
    pub plan: LogicalPlan,
    /// The planner's session that the plan was made in and has to be optimized and run in.
    pub state: SessionState,
    /// What running the plan would touch.
    pub accesses: Vec<Access>,
    pub tables: Vec<Resolved>,
    pub names: OutputNames,
    /// Parameters that are lists, where they have no values yet.
    pub lists: BTreeSet<usize>,
    /// How many parameters the statement has, where they have no values yet.
    pub parameter_count: usize,
}

/// Binds a question (anything that returns rows) with the values of its parameters.
/// Error: 08P01 for another number of values than the statement has parameters.
pub(crate) async fn bind(session: &PlanningSession<'_>, statement: Statement, params: &[Parameter]) -> Result<Bound> {
    let mut statement = show::as_question(session, statement).await?;
    placeholders::check_count(placeholders::count(&statement)?, params.len())?;
    placeholders::type_intervals(&mut statement, |number| matches!(params[number - 1], Parameter::Interval { .. } | Parameter::IntervalText(_)));
    unnested::name(&mut statement);
    let mut spread = arrays::spread(&mut statement, params)?;
    unnested::type_lists(&mut statement, |number| parameters::item_type(number, &mut spread.params))?;
    let zone = session.session.settings().timezone.clone();
    let bound = bind_unfilled(session, statement).await?;
    Ok(Bound { plan: parameters::fill(bound.plan, &spread, &zone)?, ..bound })
}

/// Binds a question whose parameters have no values yet, only types where the client `declared` them.
pub(crate) async fn bind_open(session: &PlanningSession<'_>, statement: Statement, declared: &[Option<DataType>]) -> Result<Bound> {
    let mut statement = show::as_question(session, statement).await?;
    let parameter_count = placeholders::count(&statement)?;
    let declared = |number: usize| declared.get(number - 1).and_then(Option::as_ref);
    placeholders::type_intervals(&mut statement, |number| matches!(declared(number), Some(DataType::Interval(_))));
    unnested::name(&mut statement);
    let lists = arrays::open(&mut statement);
    unnested::type_lists(&mut statement, |number| match declared(number) {
        Some(DataType::List(item)) => Ok(item.data_type().clone()),
        _ => Ok(DataType::Utf8),
    })?;
    Ok(Bound { lists, parameter_count, ..bind_unfilled(session, statement).await? })
}

/// Binds an INSERT: the target is written, and read only where the question behind it reads it too.
pub(crate) async fn bind_insert(session: &PlanningSession<'_>, statement: Statement, target: &TableName, params: &[Parameter]) -> Result<Bound> {
    let read = match &statement {
        Statement::Insert(insert) => insert.source.clone().map(|query| rewrite::relations(&Statement::Query(query))).unwrap_or_default(),
        _ => Vec::new(),
    };
    let mut reads_target = false;
    for typed in &read {
        reads_target |= session.names().resolve(typed).await?.name() == target;
    }
    let mut bound = bind(session, statement, params).await?;
    bound.accesses.retain(|access| access.table != *target || reads_target);
    bound.accesses.push(Access { action: Action::Insert, table: target.clone() });
    Ok(bound)
}

/// A column that is not known may be younger than what is remembered of its table: then the source is asked again, once.
async fn bind_unfilled(session: &PlanningSession<'_>, statement: Statement) -> Result<Bound> {
    match bind_known(session, copied(&statement, session.run.sql.len())).await {
        Err(error) if error.code() == ErrorCode::UnknownColumn && changed(session, &statement).await? => bind_known(session, statement).await,
        outcome => outcome,
    }
}

/// A short text has no deep tree.
const SHALLOW_TEXT_BYTES: usize = 500;
const DEEP_STACK_BYTES: usize = 32 << 20;

/// The same statement again. A deep tree is copied by recursion, for which the stack of a worker can be too small.
fn copied(statement: &Statement, text_bytes: usize) -> Statement {
    if text_bytes <= SHALLOW_TEXT_BYTES {
        return statement.clone();
    }
    let copy = std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(DEEP_STACK_BYTES).spawn_scoped(scope, || statement.clone());
        thread.ok().and_then(|thread| thread.join().ok())
    });
    copy.unwrap_or_else(|| statement.clone())
}

/// Looks again at the tables of a statement in their sources; whether any has other columns now.
async fn changed(session: &PlanningSession<'_>, statement: &Statement) -> Result<bool> {
    let mut changed = false;
    for typed in rewrite::relations(statement) {
        let Resolved::Live { handle, table, .. } = session.names().resolve(&typed).await? else { continue };
        handle.catalog_again().await?;
        let again = session.names().resolve(&typed).await?;
        changed |= matches!(again, Resolved::Live { table: again, .. } if again.columns != table.columns);
    }
    Ok(changed)
}

async fn bind_known(session: &PlanningSession<'_>, mut statement: Statement) -> Result<Bound> {
    let mut resolved = BTreeMap::new();
    for typed in rewrite::relations(&statement) {
        let found = session.names().resolve(&typed).await?;
        resolved.insert(typed.to_string(), found);
    }
    outer_aliases::make_plain(&mut statement, &resolved);
    let renamed = order_inputs::make_plain(&mut statement, &resolved);
    rewrite::make_exact(&mut statement, &resolved);
    distinct_on::order(&mut statement);
    let names = OutputNames::give(&mut statement).and(renamed);
    operators::adapt(&mut statement)?;
    let tables: Vec<Resolved> = resolved.into_values().collect();
    let mut providers: Vec<(TableName, Arc<dyn TableProvider>)> = Vec::with_capacity(tables.len());
    for table in &tables {
        providers.push((table.name().clone(), provider(session, table).await?));
    }
    let mut state = session.state(Arc::new(StatementCatalogs::of(providers)))?;
    pg_catalog::register_functions_of(session, &mut state, &statement).await?;
    let aliases = output_names::aliases(&statement);
    let twins = twins::mark(&mut statement);
    let grouped = shortcuts::mark_groups(&mut statement);
    let planned = state.statement_to_plan(ParsedStatement::Statement(Box::new(statement))).await;
    let plan = planned.map_err(|error| of_an_output(with_nearest_function(from_datafusion(error), &state), &aliases))?;
    let plan = if grouped { shortcuts::without_marks(plan).map_err(from_datafusion)? } else { plan };
    let plan = if twins { twins::without_marks(plan).map_err(from_datafusion)? } else { plan };
    let plan = grouping::over_columns(plan).map_err(from_datafusion)?;
    let plan = comparisons::exact(plan).map_err(from_datafusion)?;
    check_width(plan.schema().fields().len())?;
    let accesses = tables.iter().filter(|table| !matches!(table, Resolved::Catalog(_))).map(reads).collect();
    Ok(Bound { plan, state, accesses, tables, names, lists: BTreeSet::new(), parameter_count: 0 })
}

/// An unknown function with the nearest names.
fn with_nearest_function(error: Error, state: &SessionState) -> Error {
    let Some(name) = error.message().strip_prefix("function ").and_then(|rest| rest.strip_suffix(" does not exist")) else { return error };
    if let Some(error) = elsewhere::reader(name) {
        return error;
    }
    let scalars = state.scalar_functions().keys().chain(state.aggregate_functions().keys()).chain(state.window_functions().keys());
    let scalars = scalars.chain(state.table_functions().keys());
    // Some are both: they give rows in FROM and values elsewhere.
    let known: BTreeSet<&str> = scalars.map(String::as_str).collect();
    let near = nearest(name, known);
    match near.is_empty() {
        true => error,
        false => error.with_hint(format!("did you mean {}?", near.join(" or "))),
    }
}

/// An unknown column that is an output of some query says so.
fn of_an_output(error: Error, aliases: &BTreeSet<String>) -> Error {
    let name = error.message().strip_prefix("column ").and_then(|rest| rest.strip_suffix(" does not exist"));
    match name.filter(|name| error.code() == ErrorCode::UnknownColumn && aliases.contains(*name)).map(str::to_owned) {
        Some(name) => {
            error.with_hint(format!("{name} is the name of an output, which only ORDER BY and GROUP BY know: repeat its expression, or ask around a subquery"))
        }
        None => error,
    }
}

/// Error: 54000 for more columns than a result may have.
fn check_width(columns: usize) -> Result<()> {
    if columns <= COLUMNS_MAX {
        return Ok(());
    }
    let error = Error::new(ErrorCode::LimitExceeded, "result has too many columns").with_detail(format!("{columns}, at most {COLUMNS_MAX} are returned"));
    Err(error.with_hint("select fewer columns, or turn them into rows"))
}

fn reads(table: &Resolved) -> Access {
    Access { action: Action::Select, table: table.name().clone() }
}

async fn provider(session: &PlanningSession<'_>, table: &Resolved) -> Result<Arc<dyn TableProvider>> {
    Ok(match table {
        Resolved::Live { handle, name, table } => Arc::new(SourceTableProvider::new(handle.clone(), name.clone(), table.clone(), session.pushdown)),
        Resolved::Lake { name, table } => Arc::new(LakeTableProvider::new(name.clone(), table.clone(), session.engine.parts.config.memory_bytes_max)),
        Resolved::System(name) => session.system_table(name).await?,
        Resolved::Catalog(name) => session.catalog_table(name).await?,
    })
}
