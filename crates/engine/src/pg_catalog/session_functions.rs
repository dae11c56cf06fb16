// SPDX-License-Identifier: Apache-2.0
//! Functions about the session that asks: who it is, what is set, and what of its user's queries runs.

use super::told::{Told, register};
use crate::run::QueryRun;
use crate::session::PlanningSession;
use crate::shared::Shared;
use arrow::datatypes::DataType;
use datafusion::execution::SessionState;
use std::sync::Arc;
use weir_api::Session;
use weir_base::{Error, ErrorCode, Result};

/// What `version()` says; tools read the number after `PostgreSQL`.
const VERSION: &str = concat!("PostgreSQL 15.0 (Weir ", env!("CARGO_PKG_VERSION"), ")");

/// Registers them for one statement.
pub(crate) fn register_session_functions(state: &mut SessionState, planning: &PlanningSession<'_>) -> Result<()> {
    let session = planning.session;
    let (user, number) = (session.user.to_string(), session.number);
    let database = crate::session::database(session).to_owned();
    let mut told: Vec<Told> = ["session_user", "current_user", "user", "current_role"].into_iter().map(|name| Told::constant(name, user.clone())).collect();
    told.extend([
        Told::constant("current_database", database.clone()),
        Told::constant("current_catalog", database),
        Told::constant("version", VERSION.to_owned()),
        Told::number("pg_backend_pid", move |_| Some(number)),
        current_setting(session.clone()),
        set_config(session.clone()),
        cancel_backend(planning),
        Told::doing("pg_terminate_backend", DataType::Boolean, |_| {
            Err(Error::new(ErrorCode::Unsupported, "a session cannot be ended by another one").with_hint("pg_cancel_backend(pid) ends what it runs"))
        }),
    ]);
    register(state, told)
}

fn text<'a>(arguments: &[Option<&'a str>], at: usize) -> Option<&'a str> {
    arguments.get(at).copied().flatten()
}

/// `current_setting(name [, missing_ok])`. Error: 42704 for an unknown one, unless that is allowed.
fn current_setting(session: Arc<Session>) -> Told {
    Told::doing("current_setting", DataType::Utf8, move |arguments| {
        let Some(name) = text(arguments, 0) else { return Ok(None) };
        match session.settings().get(name) {
            Err(_) if text(arguments, 1) == Some("true") => Ok(None),
            outcome => outcome.map(Some),
        }
    })
}

/// `set_config(name, value, is_local)` is SET, or SET LOCAL. NULL goes back to the value of a new session. Errors: as those of SET.
fn set_config(session: Arc<Session>) -> Told {
    Told::doing("set_config", DataType::Utf8, move |arguments| {
        let name = text(arguments, 0).ok_or_else(|| Error::new(ErrorCode::BadSetting, "set_config needs the name of a setting"))?;
        let assignment = (name.to_owned(), text(arguments, 1).unwrap_or("default").to_owned());
        match text(arguments, 2) == Some("true") {
            true => session.set_for_block(&[assignment])?,
            false => session.settings().assign(&assignment.0, &assignment.1)?,
        }
        let shown = session.settings().get(name)?;
        Ok(Some(shown))
    })
}

/// `pg_cancel_backend(pid)`: true where that session ran something that the asker may cancel.
fn cancel_backend(planning: &PlanningSession<'_>) -> Told {
    let (shared, own) = (planning.engine.clone(), planning.run.id);
    let (user, everybody) = (planning.principal.user().clone(), planning.principal.unrestricted());
    Told::doing("pg_cancel_backend", DataType::Boolean, move |arguments| {
        let Some(number) = text(arguments, 0) else { return Ok(None) };
        let wanted = |run: &Arc<QueryRun>| run.number.to_string() == number && run.id != own && (everybody || run.user == user);
        Ok(Some(cancel(&shared, wanted).to_string()))
    })
}

/// Whether there was something to cancel.
fn cancel(shared: &Shared, wanted: impl Fn(&Arc<QueryRun>) -> bool) -> bool {
    let meant: Vec<Arc<QueryRun>> = shared.registry.running().into_iter().filter(wanted).collect();
    meant.iter().for_each(|run| run.cancel.cancel());
    !meant.is_empty()
}
