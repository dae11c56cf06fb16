// SPDX-License-Identifier: Apache-2.0
//! The planner's session for one statement: the settings of the client's session, turned into those of the query engine.

use crate::bind::names::WHOLE_DATABASE;
use crate::bind::{Names, TypeNames};
use crate::errors::from_datafusion;
use crate::pg_catalog::Reader;
use crate::run::QueryRun;
use crate::shared::Shared;
use crate::shortcuts;
use crate::system;
use datafusion::catalog::{CatalogProviderList, TableProvider};
use datafusion::execution::SessionState;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::prelude::SessionConfig;
use std::sync::Arc;
use tokio::sync::OnceCell;
use weir_api::{PushDown, Session};
use weir_base::{Result, TableName};
use weir_policy::Principal;

/// One statement's view of the engine.
pub(crate) struct PlanningSession<'a> {
    pub engine: &'a Arc<Shared>,
    pub session: &'a Arc<Session>,
    pub principal: &'a Principal,
    pub run: &'a Arc<QueryRun>,
    pub pushdown: PushDown,
    /// What the statement sees of the catalog; looked up once.
    pub catalog: OnceCell<Arc<Reader>>,
}

impl<'a> PlanningSession<'a> {
    pub fn new(engine: &'a Arc<Shared>, session: &'a Arc<Session>, principal: &'a Principal, run: &'a Arc<QueryRun>) -> Self {
        let pushdown = session.settings().pushdown;
        Self { engine, session, principal, run, pushdown, catalog: OnceCell::new() }
    }
}

impl PlanningSession<'_> {
    pub fn names(&self) -> Names<'_> {
        Names { places: &self.engine.parts.places, principal: self.principal, database: self.session.database.as_deref() }
    }

    /// A session of the query engine that knows just these tables and this client's settings.
    pub fn state(&self, catalogs: Arc<dyn CatalogProviderList>) -> Result<SessionState> {
        let template = &self.engine.template;
        let timezone = self.session.settings().timezone.clone();
        let mut config: SessionConfig = template.config().clone().with_extension(self.run.clone());
        config.options_mut().set("datafusion.execution.time_zone", &timezone).map_err(from_datafusion)?;
        let builder = SessionStateBuilder::new_from_existing(template.clone())
            .with_session_id(self.session.id.to_string())
            .with_type_planner(Arc::new(TypeNames { zone: timezone.into() }));
        let mut state = builder.with_config(config).with_catalog_list(catalogs).build();
        crate::pg_catalog::register_session_functions(&mut state, self)?;
        state.mark_start_execution();
        Ok(state)
    }

    pub async fn system_table(&self, name: &TableName) -> Result<Arc<dyn TableProvider>> {
        system::table(self.engine, self.session, self.principal, name).await
    }

    pub async fn catalog_table(&self, name: &TableName) -> Result<Arc<dyn TableProvider>> {
        crate::pg_catalog::table(self, name).await
    }

    /// The catalog as this statement sees it.
    pub async fn reader(&self) -> Result<&Arc<Reader>> {
        self.catalog.get_or_try_init(|| crate::pg_catalog::reader(self, database(self.session))).await
    }
}

/// The database that a session is in, as `current_database()` says it.
pub(crate) fn database(session: &Session) -> &str {
    session.database.as_deref().unwrap_or(WHOLE_DATABASE)
}

/// The engine-wide part: functions, rules, memory, spill folder.
pub(crate) fn template(config: &crate::EngineConfig) -> Result<SessionState> {
    use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
    use datafusion::execution::memory_pool::{FairSpillPool, TrackConsumersPool};
    use datafusion::execution::runtime_env::RuntimeEnvBuilder;
    use std::num::NonZeroUsize;

    let largest_shown = NonZeroUsize::new(3).unwrap_or(NonZeroUsize::MIN);
    let pool = TrackConsumersPool::new(FairSpillPool::new(config.memory_bytes_max), largest_shown);
    let disk = DiskManagerBuilder::default().with_mode(DiskManagerMode::Directories(vec![config.spill_dir.clone()]));
    let runtime = RuntimeEnvBuilder::new().with_memory_pool(Arc::new(pool)).with_disk_manager_builder(disk).build_arc().map_err(from_datafusion)?;

    let mut session = SessionConfig::new().with_create_default_catalog_and_schema(false).with_default_catalog_and_schema("weir", "public");
    if config.partitions > 0 {
        session = session.with_target_partitions(config.partitions);
    }
    let options = session.options_mut();
    options.sql_parser.map_string_types_to_utf8view = false;
    options.sql_parser.parse_float_as_decimal = true;
    options.catalog.information_schema = false;
    // A repartition costs more than it brings for the few batches that most answers have.
    options.optimizer.prefer_hash_join = true;
    // Its heap loses count of NaN, and then panics.
    options.optimizer.enable_topk_aggregation = false;
    // A CASE says one thing of whether it can be NULL before it is planned, and another after.
    options.execution.skip_physical_aggregate_schema_check = true;
    let builder = SessionStateBuilder::new().with_config(session).with_runtime_env(runtime).with_default_features().with_file_formats(Vec::new());
    let state = builder.with_optimizer_rules(shortcuts::optimizer_rules()).build();
    Ok(crate::arms::with_arms_alike(crate::operators::guarded(state)))
}
