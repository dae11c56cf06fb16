// SPDX-License-Identifier: Apache-2.0
//! Functions that Postgres clients call: about the session, about rights, about how things are printed.

use crate::errors::from_datafusion;
use crate::session::database;
use arrow::array::{ArrayRef, StringArray};
use arrow::datatypes::DataType;
use datafusion::catalog::MemoryCatalogProviderList;
use datafusion::execution::{FunctionRegistry, SessionState};
use datafusion::logical_expr::{ColumnarValue, Volatility, create_udf};
use datafusion::catalog::{CatalogProvider, CatalogProviderList, MemoryCatalogProvider};
use datafusion::common::ScalarValue;
use datafusion::prelude::SessionContext;
use datafusion_pg_catalog::pg_catalog::context::EmptyContextProvider;
use datafusion_pg_catalog::pg_catalog::setup_pg_catalog;
use std::sync::Arc;
use weir_api::Session;
use weir_base::Result;

/// What `version()` says; tools read the number after `PostgreSQL`.
const VERSION: &str = concat!("PostgreSQL 15.0 (Weir ", env!("CARGO_PKG_VERSION"), ")");

/// The functions that are the same for everybody, into the template.
pub(crate) fn register_functions(template: &mut SessionState) -> Result<()> {
    let catalogs = Arc::new(MemoryCatalogProviderList::new());
    let catalog: Arc<dyn CatalogProvider> = Arc::new(MemoryCatalogProvider::new());
    catalogs.register_catalog("weir".into(), catalog);
    template.register_catalog_list(catalogs);
    let context = SessionContext::new_with_state(template.clone());
    setup_pg_catalog(&context, "weir", EmptyContextProvider).map_err(|error| from_datafusion(*error))?;
    *template = context.state();
    Ok(())
}

/// The functions that tell about one session.
pub(crate) fn register_session_functions(state: &mut SessionState, session: &Session) -> Result<()> {
    let user = session.user.to_string();
    let settings: [(&str, String); 4] =
        [("current_database", database(session).to_owned()), ("current_catalog", database(session).to_owned()), ("version", VERSION.to_owned()), ("session_user", user.clone())];
    for (name, value) in settings.into_iter().chain([("current_user", user.clone()), ("user", user)]) {
        let told: ArrayRef = Arc::new(StringArray::from(vec![value]));
        let told = ScalarValue::try_from_array(&told, 0).map_err(from_datafusion)?;
        let function = create_udf(name, Vec::new(), DataType::Utf8, Volatility::Stable, Arc::new(move |_: &[ColumnarValue]| Ok(ColumnarValue::Scalar(told.clone()))));
        state.register_udf(Arc::new(function)).map_err(from_datafusion)?;
    }
    Ok(())
}
