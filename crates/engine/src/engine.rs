// SPDX-License-Identifier: Apache-2.0
//! The engine as its doors see it: one question goes through bind, secure, route, push down, admit and execute, in this order.

use crate::bind::names::SYSTEM;
use crate::bind::{Bound, Command, bind, bind_open, check_count, classify, parse, split};
use crate::errors::from_datafusion;
use crate::pg_catalog::Catalogs;
use crate::plan::plan;
use crate::registry::Registry;
use crate::residual::Leaves;
use crate::run::QueryRun;
use crate::session::{PlanningSession, template};
use crate::shared::Shared;
use crate::{EngineParts, admit, cheaper, complete, execute, explain, look_after, meters, parameters, secure, settings, verify, write};
use arrow::datatypes::{DataType, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::logical_expr::LogicalPlan;
use datafusion::sql::sqlparser::ast::Statement;
use std::sync::Arc;
use weir_api::{Answer, Parameter, PlanReport, Prepared, Query, QueryService, QueryStatus, Readiness, Session};
use weir_base::{Error, ErrorCode, QueryId, Result, TableName, UserName};
use weir_policy::{Access, Action};

/// What is counted of everybody has a name that a grant can be about.
const METRICS: &str = "metrics";

/// Answers questions over all places of one configuration.
#[derive(Debug)]
pub struct Engine {
    shared: Arc<Shared>,
}

impl Engine {
    /// Opens no connection. Error: a spill folder that cannot be made.
    pub fn new(parts: EngineParts) -> Result<Self> {
        meters::describe();
        let mut template = template(&parts.config)?;
        template.add_analyzer_rule(Arc::new(crate::scan::ReadAsText));
        crate::moments::register(&mut template)?;
        crate::text_kinds::register(&mut template);
        crate::membership::register(&mut template);
        crate::arithmetic::register(&mut template)?;
        crate::pg_catalog::register_functions(&mut template)?;
        crate::functions::register(&mut template)?;
        Ok(Self { shared: Arc::new(Shared { parts, registry: Registry::default(), catalogs: Catalogs::load()?, template }) })
    }

    /// Asks the sources that are in use how they are, every few seconds, until the task ends. Needs a runtime.
    pub fn look_after_sources(&self) -> tokio::task::JoinHandle<()> {
        look_after::start(&self.shared)
    }

    /// The places it reads, for `weir sources` and metrics.
    pub fn places(&self) -> &crate::Places {
        &self.shared.parts.places
    }

    /// Cancels everything that runs, whoever asked.
    pub fn cancel_all(&self) {
        for run in self.shared.registry.running() {
            run.cancel.cancel();
        }
    }

    /// Cancels what runs, waits until the log is written, and closes the sources.
    pub async fn close(&self) {
        self.cancel_all();
        for handle in self.shared.parts.places.sources() {
            handle.source.close().await;
        }
        self.shared.parts.store.close().await;
    }

    async fn answer(&self, session: &Arc<Session>, query: &Query, run: &Arc<QueryRun>) -> Result<Answer> {
        let shared = &self.shared;
        let command = classify(parse(&query.sql)?)?;
        let principal = shared.parts.policy.principal(&session.user)?;
        let planning = PlanningSession::new(shared, session, &principal, run);
        if !command.takes_parameters() {
            check_count(0, query.params.len())?;
        }
        match command {
            Command::Question(statement) => self.question(&planning, *statement, &query.params).await,
            Command::Explain(request) => explain::explain(&planning, shared, request, &query.params).await,
            Command::Verify(statement) => verify::verify(&planning, shared, *statement, &query.params).await,
            Command::Set(assignments) => settings::set(session, &assignments).map(|()| execute::command(shared, run, "SET".into())),
            Command::SetLocal(assignments) => session.set_for_block(&assignments).map(|()| execute::command(shared, run, "SET".into())),
            Command::Reset(name) => settings::reset(session, name.as_deref()).map(|()| execute::command(shared, run, "RESET".into())),
            Command::Show(name) => settings::show(session, Some(&name)).map(|batch| execute::rows(shared, run, batch)),
            Command::ShowAll => settings::show(session, None).map(|batch| execute::rows(shared, run, batch)),
            Command::Transaction(tag) => Ok(execute::command(shared, run, tag.into())),
            writing => write::write(&planning, shared, writing, &query.params).await,
        }
    }

    /// The way of one question; each word is a stage and a module.
    async fn question(&self, planning: &PlanningSession<'_>, statement: Statement, params: &[Parameter]) -> Result<Answer> {
        let bound = bind(planning, statement, params).await?;
        let physical = plan(planning, bound).await?;
        if let Err(error) = admit::admit(&physical, planning).await {
            let leaves = Leaves::of(&physical.plan().plan);
            return Err(cheaper::with_cheaper(error, planning, &leaves, params).await);
        }
        execute::execute(&self.shared, planning.run, physical)
    }

    async fn prepared(&self, planning: &PlanningSession<'_>, sql: &str, declared: &[Option<DataType>]) -> Result<Prepared> {
        match classify(parse(sql)?)? {
            Command::Question(statement) => prepared_question(planning, *statement, declared).await,
            Command::Explain(request) => {
                let inner = prepared_question(planning, *request.inner, declared).await?;
                Ok(Prepared { schema: explain::schema(), ..inner })
            }
            Command::Verify(statement) => {
                let inner = prepared_question(planning, *statement, declared).await?;
                Ok(Prepared { schema: verify::schema(), ..inner })
            }
            Command::Show(name) => Ok(returning(settings::show_schema(Some(&name)))),
            Command::ShowAll => Ok(returning(settings::show_schema(None))),
            Command::Insert(statement) => Ok(taking(parameters::told_types(&bind_open(planning, *statement, declared).await?)?)),
            Command::CreateTable(table) => match table.query {
                Some(query) => Ok(taking(parameters::told_types(&bind_open(planning, Statement::Query(query), declared).await?)?)),
                None => Ok(taking(Vec::new())),
            },
            _ => Ok(taking(Vec::new())),
        }
    }
}

async fn prepared_question(planning: &PlanningSession<'_>, statement: Statement, declared: &[Option<DataType>]) -> Result<Prepared> {
    let bound = bind_open(planning, statement, declared).await?;
    let authorized = secure::secure(bound, planning.principal)?;
    let bound: &Bound = authorized.plan();
    let schema: SchemaRef = bound.names.show(&told_schema(bound)?);
    Ok(Prepared { parameters: parameters::told_types(bound)?, schema, returns_rows: true })
}

/// The columns with the types in which they will be sent, such as that in which the parts of a UNION meet.
fn told_schema(bound: &Bound) -> Result<SchemaRef> {
    let schema = |plan: &LogicalPlan| Arc::new(plan.schema().as_arrow().clone());
    match bound.state.analyzer().execute_and_check(bound.plan.clone(), bound.state.config_options(), |_, _| {}) {
        Ok(typed) => Ok(schema(&typed)),
        // What a parameter without a value is compared with can be wrong for it only then.
        Err(_) if bound.parameter_count > 0 => Ok(schema(&bound.plan)),
        Err(error) => Err(from_datafusion(error)),
    }
}

/// A command, with the types of its parameters.
fn taking(parameters: Vec<Option<DataType>>) -> Prepared {
    Prepared { parameters, schema: Arc::new(Schema::empty()), returns_rows: false }
}

fn returning(schema: SchemaRef) -> Prepared {
    Prepared { parameters: Vec::new(), schema, returns_rows: true }
}

/// Ends a query whose asker stopped waiting before there was an answer.
struct Waiting<'a> {
    shared: &'a Shared,
    run: &'a Arc<QueryRun>,
    answered: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if !self.answered {
            self.run.cancel.cancel();
            self.shared.finish(self.run, None, true);
        }
    }
}

#[async_trait]
impl QueryService for Engine {
    fn split(&self, sql: &str) -> Result<Vec<String>> {
        split(sql)
    }

    async fn database(&self, user: &UserName, asked: &str) -> Result<String> {
        let principal = self.shared.parts.policy.principal(user)?;
        crate::pg_catalog::entered(&self.shared, &principal, asked)
    }

    async fn prepare(&self, session: &Arc<Session>, sql: &str, declared: &[Option<DataType>]) -> Result<Prepared> {
        let principal = self.shared.parts.policy.principal(&session.user)?;
        let run = QueryRun::begin(session, QueryId::fresh(), sql, self.shared.parts.clock.as_ref());
        self.prepared(&PlanningSession::new(&self.shared, session, &principal, &run), sql, declared).await
    }

    async fn run(&self, session: &Arc<Session>, query: Query) -> Result<Answer> {
        let shared = &self.shared;
        if shared.registry.find(query.id).is_some() {
            return Err(Error::new(ErrorCode::AlreadyExists, format!("query id {} is taken", query.id)).with_hint("give each query an id of its own, or none"));
        }
        let run = QueryRun::begin(session, query.id, &query.sql, shared.parts.clock.as_ref());
        shared.registry.begin(run.clone());
        run.time_limit(session.settings().statement_timeout);
        let mut waiting = Waiting { shared, run: &run, answered: false };
        let outcome = tokio::select! {
            outcome = self.answer(session, &query, &run) => outcome,
            () = run.cancel.cancelled() => Err(run.cancelled_error()),
        };
        waiting.answered = true;
        if let Err(error) = &outcome {
            shared.finish(&run, Some(error), false);
        }
        outcome
    }

    async fn plan(&self, session: &Arc<Session>, query: Query) -> Result<PlanReport> {
        let principal = self.shared.parts.policy.principal(&session.user)?;
        let run = QueryRun::begin(session, query.id, &query.sql, self.shared.parts.clock.as_ref());
        let statement = match classify(parse(&query.sql)?)? {
            Command::Question(statement) => statement,
            Command::Explain(request) => request.inner,
            _ => return Err(Error::new(ErrorCode::Unsupported, "only questions have a plan").with_hint("give a SELECT")),
        };
        explain::report(&PlanningSession::new(&self.shared, session, &principal, &run), *statement, &query.params).await
    }

    async fn cancel(&self, session: &Arc<Session>, id: QueryId) -> Result<bool> {
        let Some(run) = self.visible_run(session, id)? else { return Ok(false) };
        let running = run.ended_at().is_none();
        run.cancel.cancel();
        Ok(running)
    }

    async fn status(&self, session: &Arc<Session>, id: QueryId) -> Result<QueryStatus> {
        let run = self.visible_run(session, id)?;
        run.map(|run| run.status())
            .ok_or_else(|| Error::new(ErrorCode::NotFound, format!("query {id} is not known")).with_hint("system.queries has older ones"))
    }

    async fn readiness(&self) -> Readiness {
        let mut unreachable = Vec::new();
        for handle in self.shared.parts.places.sources() {
            if handle.known_unreachable() {
                unreachable.push(handle.name().to_string());
            }
        }
        Readiness { ready: true, unreachable }
    }

    async fn readiness_for(&self, user: &UserName) -> Readiness {
        let all = self.readiness().await;
        let Ok(principal) = self.shared.parts.policy.principal(user) else { return Readiness { unreachable: Vec::new(), ..all } };
        Readiness { unreachable: all.unreachable.into_iter().filter(|source| principal.may_reach(source)).collect(), ..all }
    }

    async fn may_see_metrics(&self, user: &UserName) -> Result<()> {
        let metrics = Access { action: Action::Select, table: TableName::new(SYSTEM, SYSTEM, METRICS) };
        self.shared.parts.policy.principal(user)?.decide_granted(&metrics)
    }

    async fn complete(&self, session: &Arc<Session>, prefix: &str) -> Vec<String> {
        match self.shared.parts.policy.principal(&session.user) {
            Ok(principal) => complete::complete(&self.shared, &principal, prefix).await,
            Err(_) => Vec::new(),
        }
    }
}

impl Engine {
    /// A run of the same user; one of somebody else looks as if it did not exist.
    fn visible_run(&self, session: &Session, id: QueryId) -> Result<Option<Arc<QueryRun>>> {
        let principal = self.shared.parts.policy.principal(&session.user)?;
        let run = self.shared.registry.find(id);
        Ok(run.filter(|run| principal.unrestricted() || run.user == session.user))
    }
}
