// SPDX-License-Identifier: Apache-2.0
//! `pg_catalog` and `information_schema` for tools: the tables that one principal may see, as the database a session is in shows them.
//!
//! The tables that tell what there is are our own: datafusion-pg-catalog asks for each table by itself (quadratic in the number of tables),
//! gives oids per user, and knows neither numeric modifiers, comments nor estimates. Types, functions and the other tables that are the same
//! everywhere are the crate's.

mod adapt;
mod column_type;
mod fixed;
mod functions;
mod house;
mod information_schema;
mod oids;
mod relations;
mod session_functions;
mod sheet;
mod snapshot;
mod told;

pub(crate) use adapt::adapt;
pub(crate) use functions::register_functions;
pub(crate) use session_functions::register_session_functions;

use crate::bind::names::{INFORMATION_SCHEMA, PG_CATALOG, WHOLE_DATABASE};
use crate::errors::from_datafusion;
use crate::session::{PlanningSession, database};
use crate::shared::Shared;
use crate::system::in_memory;
use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};
use datafusion::catalog::TableProvider;
use datafusion::datasource::MemTable;
use datafusion::execution::SessionState;
use datafusion::sql::sqlparser::ast::Statement;
use fixed::Fixed;
use house::House;
use oids::Oids;
use snapshot::{Basis, Maker, Snapshot};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use weir_api::Settings;
use weir_base::{Error, ErrorCode, Result, TableName, UserName, nearest};
use weir_policy::{Policy, Principal};

/// Snapshots kept at once; beyond that they are made anew for each statement.
const KEPT_MAX: usize = 64;

type Kept = HashMap<(UserName, String), (Basis, Arc<Snapshot>)>;

/// What all sessions share: identifiers, fixed tables, and the last snapshot of each user in each database.
#[derive(Debug)]
pub(crate) struct Catalogs {
    oids: Oids,
    fixed: Arc<Fixed>,
    /// Schema, name and columns of each table described here, these descriptions included.
    shapes: Vec<(&'static str, String, SchemaRef)>,
    kept: Mutex<Kept>,
}

/// One statement's look at the catalog.
#[derive(Debug)]
pub(crate) struct Reader {
    snapshot: Arc<Snapshot>,
    principal: Principal,
    fixed: Arc<Fixed>,
    /// The only place that can be written to.
    lake: Option<String>,
}

impl Catalogs {
    pub fn load() -> Result<Self> {
        let fixed = Arc::new(Fixed::load()?);
        let oids = Oids::default();
        let reader =
            Reader { snapshot: Arc::default(), principal: Policy::open().principal(&UserName::new(oids::OWNER_NAME))?, fixed: fixed.clone(), lake: None };
        let house = House { snapshot: &reader.snapshot, settings: &Settings::default(), runs: &[], oids: &oids };
        let mut shapes: Vec<(&'static str, String, SchemaRef)> = fixed.names().map(|(name, schema)| (PG_CATALOG, name.to_owned(), schema.clone())).collect();
        shapes.retain(|(_, name, _)| !relations::NAMES.contains(&name.as_str()) && !house::NAMES.contains(&name.as_str()));
        for name in relations::NAMES {
            shapes.extend(relations::batch(name, &reader.snapshot)?.map(|batch| (PG_CATALOG, name.to_owned(), batch.schema())));
        }
        for name in house::NAMES {
            shapes.extend(house.batch(name)?.map(|batch| (PG_CATALOG, name.to_owned(), batch.schema())));
        }
        for name in information_schema::NAMES {
            shapes.extend(information_schema::batch(name, &reader)?.map(|batch| (INFORMATION_SCHEMA, name.to_owned(), batch.schema())));
        }
        Ok(Self { oids, fixed, shapes, kept: Mutex::default() })
    }

    fn shapes(&self) -> impl Iterator<Item = (&'static str, &str, &SchemaRef)> {
        self.shapes.iter().map(|(schema, name, columns)| (*schema, name.as_str(), columns))
    }

    async fn snapshot(&self, shared: &Shared, principal: &Principal, database: &str) -> Result<Arc<Snapshot>> {
        let basis = Basis::gather(shared, database).await?;
        let key = (principal.user().clone(), database.to_owned());
        if let Some((_, snapshot)) = self.lock().get(&key).filter(|(before, _)| before.same(&basis)) {
            return Ok(snapshot.clone());
        }
        let snapshot = Arc::new(Maker { shared, catalogs: self, principal, database }.make(&basis));
        let mut kept = self.lock();
        if kept.len() < KEPT_MAX || kept.contains_key(&key) {
            kept.insert(key, (basis, snapshot.clone()));
        }
        Ok(snapshot)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The name of a type as `\d` shows it.
pub(crate) fn type_name(data_type: &DataType) -> String {
    column_type::ColumnType::of(data_type).display()
}

/// What this statement sees of a database.
pub(crate) async fn reader(session: &PlanningSession<'_>, database: &str) -> Result<Arc<Reader>> {
    let catalogs = &session.engine.catalogs;
    let snapshot = catalogs.snapshot(session.engine, session.principal, database).await?;
    let lake = session.engine.parts.places.lake.as_ref().map(|place| place.name.to_string());
    Ok(Arc::new(Reader { snapshot, principal: session.principal.clone(), fixed: catalogs.fixed.clone(), lake }))
}

/// Registers the functions that look into the catalog, where a statement calls one.
pub(crate) async fn register_functions_of(session: &PlanningSession<'_>, state: &mut SessionState, statement: &Statement) -> Result<()> {
    if adapt::calls(statement, functions::looks_into_catalog) {
        functions::register_catalog_functions(state, session.reader().await?)?;
    }
    Ok(())
}

/// A table of either schema, as the database in its name has it. Error: 42P01 for one that does not exist there.
pub(crate) async fn table(session: &PlanningSession<'_>, name: &TableName) -> Result<Arc<dyn TableProvider>> {
    let reader = &match name.source.as_str() {
        entered if entered == database(session.session) => session.reader().await?.clone(),
        other => reader(session, other).await?,
    };
    let made = match name.schema.as_str() {
        INFORMATION_SCHEMA => information_schema::batch(&name.table, reader)?,
        _ => pg_table(session, reader, &name.table)?,
    };
    if let Some(batch) = made {
        return in_memory(batch);
    }
    let fixed = reader.fixed.get(&name.table).filter(|_| name.schema == PG_CATALOG);
    let Some((schema, batches)) = fixed else { return Err(unknown(session, name)) };
    Ok(Arc::new(MemTable::try_new(schema.clone(), vec![batches.clone()]).map_err(from_datafusion)?))
}

fn pg_table(session: &PlanningSession<'_>, reader: &Reader, name: &str) -> Result<Option<RecordBatch>> {
    if let Some(batch) = relations::batch(name, &reader.snapshot)? {
        return Ok(Some(batch));
    }
    let running = session.engine.registry.running();
    // One's own running queries; everybody's for somebody without restrictions.
    let runs: Vec<_> = running.into_iter().filter(|run| session.principal.unrestricted() || run.user == *session.principal.user()).collect();
    let settings = session.session.settings().clone();
    House { snapshot: &reader.snapshot, settings: &settings, runs: &runs, oids: &session.engine.catalogs.oids }.batch(name)
}

fn unknown(session: &PlanningSession<'_>, name: &TableName) -> Error {
    let known = session.engine.catalogs.shapes().filter(|(schema, ..)| *schema == name.schema).map(|(_, table, _)| table);
    let error = Error::new(ErrorCode::UnknownTable, format!("table {}.{} does not exist", name.schema, name.table));
    match nearest(&name.table, known).first() {
        Some(near) => error.with_hint(format!("did you mean {}.{near}?", name.schema)),
        None => error,
    }
}

/// The database that a login means: the one it names, or all of Weir where it names none (which clients say by naming the user).
/// Error: 3D000 with the nearest names.
pub(crate) fn entered(shared: &Shared, principal: &Principal, asked: &str) -> Result<String> {
    let places = shared.parts.places.names().into_iter().map(|name| name.to_string()).filter(|name| principal.may_reach(name));
    let known: Vec<String> = std::iter::once(WHOLE_DATABASE.to_owned()).chain(places).collect();
    if known.iter().any(|name| name == asked) {
        return Ok(asked.to_owned());
    }
    if asked.is_empty() || asked == principal.user().as_str() {
        return Ok(WHOLE_DATABASE.to_owned());
    }
    let near = nearest(asked, known.iter().map(String::as_str));
    let hint = if near.is_empty() { format!("there are {}", known.join(", ")) } else { format!("did you mean {}?", near.join(" or ")) };
    Err(Error::new(ErrorCode::UnknownDatabase, format!("database {} does not exist", weir_base::quote_ident(asked))).with_hint(hint))
}
