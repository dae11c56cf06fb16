// SPDX-License-Identifier: Apache-2.0
//! Bind: from text to a logical plan in which every table is known, and the list of what the plan wants to touch.

mod catalog;
mod depth;
mod exponent;
pub(crate) mod names;
mod output_names;
mod rewrite;
mod show;
mod statement;
mod type_names;
mod writes;

pub(crate) use names::{Names, Resolved};
pub(crate) use output_names::OutputNames;
pub(crate) use statement::{Command, Explain, ExplainFormat, classify, parse, split};
pub(crate) use type_names::TypeNames;

use crate::errors::from_datafusion;
use crate::scan::{LakeTableProvider, SourceTableProvider};
use crate::session::PlanningSession;
use crate::{parameters, pg_catalog};
use catalog::StatementCatalogs;
use datafusion::catalog::TableProvider;
use datafusion::execution::SessionState;
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::parser::Statement as ParsedStatement;
use datafusion::sql::sqlparser::ast::Statement;
use std::collections::BTreeMap;
use std::sync::Arc;
use weir_api::Parameter;
use weir_base::limits::COLUMNS_MAX;
use weir_base::{Error, ErrorCode, Result, TableName};
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
}

/// Binds a question (anything that returns rows). Parameters are bound as values where there are any.
pub(crate) async fn bind(session: &PlanningSession<'_>, statement: Statement, params: Option<&[Parameter]>) -> Result<Bound> {
    let bound = bind_unfilled(session, statement).await?;
    match params {
        None => Ok(bound),
        Some(params) => Ok(Bound { plan: parameters::fill(bound.plan, params)?, ..bound }),
    }
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
    let mut bound = bind(session, statement, Some(params)).await?;
    bound.accesses.retain(|access| access.table != *target || reads_target);
    bound.accesses.push(Access { action: Action::Insert, table: target.clone() });
    Ok(bound)
}

/// A column that is not known may be younger than what is remembered of its table: then the source is asked again, once.
async fn bind_unfilled(session: &PlanningSession<'_>, statement: Statement) -> Result<Bound> {
    match bind_known(session, statement.clone()).await {
        Err(error) if error.code() == ErrorCode::UnknownColumn && changed(session, &statement).await? => bind_known(session, statement).await,
        outcome => outcome,
    }
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
    refuse_unseen(session, resolved.values())?;
    rewrite::make_exact(&mut statement, &resolved);
    let names = OutputNames::give(&mut statement);
    let tables: Vec<Resolved> = resolved.into_values().collect();
    let mut providers: Vec<(TableName, Arc<dyn TableProvider>)> = Vec::with_capacity(tables.len());
    for table in &tables {
        providers.push((table.name().clone(), provider(session, table).await?));
    }
    let mut state = session.state(Arc::new(StatementCatalogs::of(providers)))?;
    pg_catalog::register_functions_of(session, &mut state, &statement).await?;
    let plan = state.statement_to_plan(ParsedStatement::Statement(Box::new(statement))).await.map_err(from_datafusion)?;
    check_width(plan.schema().fields().len())?;
    let accesses = tables.iter().filter(|table| !matches!(table, Resolved::Catalog(_))).map(reads).collect();
    Ok(Bound { plan, state, accesses, tables, names })
}

/// Error: 54000 for more columns than a result may have.
fn check_width(columns: usize) -> Result<()> {
    if columns <= COLUMNS_MAX {
        return Ok(());
    }
    let error = Error::new(ErrorCode::LimitExceeded, "result has too many columns").with_detail(format!("{columns}, at most {COLUMNS_MAX} are returned"));
    Err(error.with_hint("select fewer columns, or turn them into rows"))
}

/// The columns of a table that somebody may not even see must not show in an error of the planner. Error: 42501.
fn refuse_unseen<'r>(session: &PlanningSession<'_>, tables: impl Iterator<Item = &'r Resolved>) -> Result<()> {
    let known = tables.filter(|table| !matches!(table, Resolved::Catalog(_)));
    let unseen: Vec<Access> = known.filter(|table| !session.principal.may_see(table.name())).map(reads).collect();
    session.principal.decide(&unseen).map(|_| ())
}

fn reads(table: &Resolved) -> Access {
    Access { action: Action::Select, table: table.name().clone() }
}

async fn provider(session: &PlanningSession<'_>, table: &Resolved) -> Result<Arc<dyn TableProvider>> {
    Ok(match table {
        Resolved::Live { handle, name, table } => Arc::new(SourceTableProvider::new(handle.clone(), name.clone(), table.clone(), session.pushdown)),
        Resolved::Lake { name, table } => Arc::new(LakeTableProvider::new(name.clone(), table.clone())),
        Resolved::System(name) => session.system_table(name).await?,
        Resolved::Catalog(name) => session.catalog_table(name).await?,
    })
}
