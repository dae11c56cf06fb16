// SPDX-License-Identifier: Apache-2.0
//! `pg_catalog` and `information_schema` for tools: the tables that one principal may see, as the database a session is in shows them.

mod functions;
mod information_schema;
mod visible;

pub(crate) use functions::{register_functions, register_session_functions};

use crate::bind::names::INFORMATION_SCHEMA;
use crate::engine::Shared;
use crate::errors::from_datafusion;
use crate::session::database;
use datafusion::catalog::{SchemaProvider, TableProvider};
use datafusion::sql::sqlparser::ast::Statement;
use datafusion_pg_catalog::pg_catalog::context::EmptyContextProvider;
use datafusion_pg_catalog::pg_catalog::{PgCatalogSchemaProvider, PgCatalogStaticTables};
use datafusion_pg_catalog::sql::PostgresCompatibilityParser;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use visible::Visible;
use weir_api::Session;
use weir_base::{Error, ErrorCode, Result, TableName, UserName};
use weir_policy::Principal;

/// The catalog of one user in one database. Kept, so that an object keeps its oid from one query of a tool to the next.
type Catalog = PgCatalogSchemaProvider<Visible, EmptyContextProvider>;

/// All of them, with the tables that are the same for everybody.
#[derive(Debug, Default)]
pub(crate) struct Catalogs {
    known: Mutex<HashMap<(UserName, String), Arc<Catalog>>>,
    fixed: Mutex<Option<Arc<PgCatalogStaticTables>>>,
}

impl Catalogs {
    fn of(&self, shared: &Arc<Shared>, session: &Session, principal: &Principal) -> Result<Arc<Catalog>> {
        let key = (session.user.clone(), database(session).to_owned());
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(catalog) = known.get(&key) {
            return Ok(catalog.clone());
        }
        let visible = Visible::new(Arc::downgrade(shared), principal.clone(), key.1.clone());
        let catalog = PgCatalogSchemaProvider::try_new(visible, self.fixed()?, EmptyContextProvider).map_err(from_datafusion)?;
        let catalog = Arc::new(catalog);
        known.insert(key, catalog.clone());
        Ok(catalog)
    }

    fn fixed(&self) -> Result<Arc<PgCatalogStaticTables>> {
        let mut fixed = self.fixed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fixed) = fixed.as_ref() {
            return Ok(fixed.clone());
        }
        let made = Arc::new(PgCatalogStaticTables::try_new().map_err(from_datafusion)?);
        *fixed = Some(made.clone());
        Ok(made)
    }
}

/// A table of either schema. Error: 42P01 for one that does not exist there.
pub(crate) async fn table(shared: &Arc<Shared>, session: &Session, principal: &Principal, name: &TableName) -> Result<Arc<dyn TableProvider>> {
    if name.schema == INFORMATION_SCHEMA {
        return information_schema::table(shared, session, principal, &name.table).await;
    }
    let catalog = shared.catalogs.of(shared, session, principal)?;
    let found = catalog.table(&name.table).await.map_err(from_datafusion)?;
    found.ok_or_else(|| Error::new(ErrorCode::UnknownTable, format!("table pg_catalog.{} does not exist", name.table)))
}

/// Whether a text asks about catalogs, so that it needs the rewriting that tools' queries need. Other texts are left as they are.
pub(crate) fn concerns(sql: &str) -> bool {
    let folded = sql.to_ascii_lowercase();
    ["pg_", "information_schema", "regclass", "regtype", "regproc", "current_schemas", "has_"].iter().any(|word| folded.contains(word))
}

/// Parses a tool's question about catalogs, rewritten to what the planner understands.
pub(crate) fn parse(sql: &str) -> std::result::Result<Vec<Statement>, datafusion::sql::sqlparser::parser::ParserError> {
    PostgresCompatibilityParser::new().parse(sql)
}
