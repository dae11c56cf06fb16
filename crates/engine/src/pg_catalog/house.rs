// SPDX-License-Identifier: Apache-2.0
//! The tables of `pg_catalog` that tell about users, settings and running queries.

use super::oids::{OWNER, OWNER_NAME, Object, Oids};
use super::sheet::Sheet;
use super::snapshot::Snapshot;
use crate::run::QueryRun;
use crate::system::Columns;
use arrow::array::RecordBatch;
use arrow::datatypes::DataType;
use std::sync::Arc;
use weir_api::{QueryState, Settings};
use weir_base::Result;

/// The names made here.
pub(super) const NAMES: [&str; 4] = ["pg_roles", "pg_settings", "pg_stat_activity", "pg_user"];

/// Who and what these tables are about.
pub(super) struct House<'a> {
    pub snapshot: &'a Snapshot,
    pub settings: &'a Settings,
    /// Queries that the reader may see.
    pub runs: &'a [Arc<QueryRun>],
    pub oids: &'a Oids,
}

impl House<'_> {
    /// `None` for a table that is not made here.
    pub fn batch(&self, name: &str) -> Result<Option<RecordBatch>> {
        let made = match name {
            "pg_roles" => roles(self.snapshot),
            "pg_settings" => settings(self.settings),
            "pg_stat_activity" => self.activity(),
            "pg_user" => users(self.snapshot),
            _ => return Ok(None),
        };
        made.map(Some)
    }

    fn activity(&self) -> Result<RecordBatch> {
        let database_oid = self.snapshot.databases.iter().find(|(name, _)| *name == self.snapshot.database).map_or(0, |(_, oid)| *oid);
        let state = |run: &QueryRun| if matches!(run.state(), QueryState::Waiting) { "waiting" } else { "active" };
        let started = || self.runs.iter().map(|run| Some(run.started_at));
        let instants = Columns::default().instant("backend_start", started()).instant("query_start", started()).instant("state_change", started()).batch()?;
        let texts = Sheet::of(self.runs)
            .oid("datid", |_| database_oid)
            .text("datname", |_| &self.snapshot.database)
            .int("pid", |run| run.number)
            .oid("usesysid", |run| self.oids.of(Object::Role(run.user.to_string())))
            .text("usename", |run| run.user.to_string())
            .text("application_name", |run| if run.application_name.is_empty() { run.door } else { &run.application_name })
            .none("client_addr", DataType::Utf8)
            .none("client_hostname", DataType::Utf8)
            .none("client_port", DataType::Int32)
            .none("xact_start", DataType::Utf8)
            .none("wait_event_type", DataType::Utf8)
            .none("wait_event", DataType::Utf8)
            .text("state", |run| state(run))
            .none("backend_xid", DataType::Int32)
            .none("backend_xmin", DataType::Int32)
            .text("query_id", |run| run.id.to_string())
            .text("query", |run| &run.sql)
            .text("backend_type", |_| "client backend")
            .batch()?;
        beside(&texts, &instants)
    }
}

/// The columns of two batches of equal length in one.
fn beside(left: &RecordBatch, right: &RecordBatch) -> Result<RecordBatch> {
    let fields: Vec<_> = left.schema().fields().iter().chain(right.schema().fields()).cloned().collect();
    let arrays = left.columns().iter().chain(right.columns()).cloned().collect();
    let made = RecordBatch::try_new(Arc::new(arrow::datatypes::Schema::new(fields)), arrays);
    made.map_err(|error| weir_base::Error::internal("a catalog table does not fit its schema").with_detail(error.to_string()))
}

/// Nobody is shown but oneself and the owner of all that is shown.
fn people(snapshot: &Snapshot) -> Vec<(i32, &str)> {
    vec![(OWNER, OWNER_NAME), (snapshot.user_oid, snapshot.user.as_str())]
}

fn roles(snapshot: &Snapshot) -> Result<RecordBatch> {
    Sheet::of(&people(snapshot))
        .text("rolname", |(_, name)| *name)
        .flag("rolsuper", |_| false)
        .flag("rolinherit", |_| true)
        .flag("rolcreaterole", |_| false)
        .flag("rolcreatedb", |_| false)
        .flag("rolcanlogin", |(oid, _)| *oid != OWNER)
        .flag("rolreplication", |_| false)
        .int("rolconnlimit", |_| -1)
        .text("rolpassword", |_| "********")
        .none("rolvaliduntil", DataType::Utf8)
        .flag("rolbypassrls", |_| false)
        .no_list("rolconfig")
        .oid("oid", |(oid, _)| *oid)
        .batch()
}

fn users(snapshot: &Snapshot) -> Result<RecordBatch> {
    let own = [(snapshot.user_oid, snapshot.user.as_str())];
    Sheet::of(&own)
        .text("usename", |(_, name)| *name)
        .oid("usesysid", |(oid, _)| *oid)
        .flag("usecreatedb", |_| false)
        .flag("usesuper", |_| false)
        .flag("userepl", |_| false)
        .flag("usebypassrls", |_| false)
        .text("passwd", |_| "********")
        .none("valuntil", DataType::Utf8)
        .no_list("useconfig")
        .batch()
}

fn settings(settings: &Settings) -> Result<RecordBatch> {
    let all = settings.all();
    Sheet::of(&all)
        .text("name", |one| &one.name)
        .text("setting", |one| &one.value)
        .none("unit", DataType::Utf8)
        .text("category", |_| "Weir")
        .text("short_desc", |one| one.description)
        .none("extra_desc", DataType::Utf8)
        .text("context", |_| "user")
        .text("vartype", |_| "string")
        .text("source", |_| "session")
        .none("min_val", DataType::Utf8)
        .none("max_val", DataType::Utf8)
        .no_list("enumvals")
        .none("boot_val", DataType::Utf8)
        .none("reset_val", DataType::Utf8)
        .none("sourcefile", DataType::Utf8)
        .none("sourceline", DataType::Int32)
        .flag("pending_restart", |_| false)
        .batch()
}
