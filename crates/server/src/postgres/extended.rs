// SPDX-License-Identifier: Apache-2.0
//! The extended protocol: Parse, Bind, Describe, Execute, Close.

use crate::postgres::command::Command;
use crate::postgres::conversation::{Conversation, no_cursor, rows_tag};
use crate::postgres::fault::{Fault, Trouble};
use crate::postgres::frame::{Bind, Target};
use crate::postgres::portal::{Portal, Progress, Statement, Work, binary_columns, check_room};
use crate::postgres::reply::{self, ColumnShape};
use crate::values::{Kind, kind, parameter};
use arrow::datatypes::Field;
use std::sync::Arc;
use weir_api::{Parameter, Prepared};
use weir_base::Result as WeirResult;

const PARSE_COMPLETE: u8 = b'1';
const BIND_COMPLETE: u8 = b'2';
const CLOSE_COMPLETE: u8 = b'3';
const NO_DATA: u8 = b'n';
const PORTAL_SUSPENDED: u8 = b's';
const EMPTY_QUERY: u8 = b'I';

impl Conversation {
    pub(super) async fn parse(&mut self, name: String, sql: &str, types: &[u32]) -> Result<(), Trouble> {
        check_room(&self.statements, &name, "prepared statements")?;
        if !name.is_empty() && self.statements.contains_key(&name) {
            return Err(Fault::error("42P05", format!("prepared statement {name:?} already exists")).into());
        }
        let mut works = self.works(sql)?;
        if works.len() > 1 {
            return Err(Fault::syntax("cannot insert multiple commands into a prepared statement").into());
        }
        let work = works.pop().unwrap_or(Work::Empty);
        let statement = self.statement(work, types).await?;
        self.statements.insert(name, Arc::new(statement));
        reply::bare(&mut self.link.out, PARSE_COMPLETE);
        Ok(())
    }

    async fn statement(&mut self, work: Work, types: &[u32]) -> Result<Statement, Trouble> {
        let query = match &work {
            Work::Query(sql) => Some(sql.as_str()),
            Work::Command(command) => command.query(),
            Work::Empty => None,
        };
        if !matches!(&work, Work::Empty) && !matches!(&work, Work::Command(command) if command.ends_failure()) {
            self.transaction.check()?;
        }
        let Some(query) = query else { return Ok(Statement { work, parameters: types.to_vec(), taken: 0, columns: None }) };
        let declared: Vec<_> = types.iter().map(|oid| kind::declared_type(*oid)).collect();
        let prepared = self.attention.wait(&mut self.link, self.service.prepare(&self.session, query, &declared)).await??;
        let parameters = parameter_types(&prepared, types)?;
        let rows = matches!(work, Work::Query(_)) && prepared.returns_rows;
        let columns = if rows { Some(reply::shapes(&prepared.schema)?) } else { None };
        Ok(Statement { work, parameters, taken: prepared.parameters.len(), columns })
    }

    pub(super) fn bind(&mut self, bind: Bind) -> Result<(), Trouble> {
        let statement = self.statements.get(&bind.statement).cloned().ok_or_else(|| no_statement(&bind.statement))?;
        let transaction_end = matches!(&statement.work, Work::Command(command) if command.ends_failure());
        if !transaction_end && statement.work != Work::Empty {
            self.transaction.check()?;
        }
        if !bind.portal.is_empty() && self.portals.contains_key(&bind.portal) {
            return Err(Fault::error("42P03", format!("cursor {:?} already exists", bind.portal)).into());
        }
        check_room(&self.portals, &bind.portal, "portals")?;
        let mut parameters = bound(&statement.parameters, &bind)?;
        parameters.truncate(statement.taken);
        if let (Some(columns), Work::Query(_)) = (&statement.columns, &statement.work) {
            binary_columns(&bind.result_formats, columns.len())?;
        }
        self.portals.insert(bind.portal, Portal::new(statement, parameters, bind.result_formats));
        reply::bare(&mut self.link.out, BIND_COMPLETE);
        Ok(())
    }

    pub(super) async fn describe(&mut self, target: Target) -> Result<(), Trouble> {
        match target {
            Target::Statement(name) => {
                let statement = self.statements.get(&name).cloned().ok_or_else(|| no_statement(&name))?;
                reply::parameter_description(&mut self.link.out, &statement.parameters);
                let columns = self.columns_of(&statement);
                self.describe_columns(columns.as_deref(), &[])?;
            }
            Target::Portal(name) => {
                self.start_early(&name).await?;
                let portal = self.portals.get(&name).ok_or_else(|| no_cursor(&name))?;
                let formats = portal.formats.clone();
                let columns = match &portal.progress {
                    Progress::Running(rows) if rows.command_tag().is_none() => Some(rows.columns().to_vec()),
                    _ => self.columns_of(&portal.statement),
                };
                self.describe_columns(columns.as_deref(), &formats)?;
            }
        }
        Ok(())
    }

    /// With parameters only the running query knows its types for sure (`SELECT $1`), so a described portal begins to run.
    async fn start_early(&mut self, name: &str) -> Result<(), Trouble> {
        let Some(portal) = self.portals.get(name) else { return Ok(()) };
        let wanted = matches!(portal.progress, Progress::Fresh) && portal.statement.columns.is_some() && !portal.parameters.is_empty();
        let Work::Query(sql) = &portal.statement.work else { return Ok(()) };
        if !wanted {
            return Ok(());
        }
        let (sql, parameters) = (sql.clone(), portal.parameters.clone());
        let rows = self.begin(sql, parameters, None).await?;
        if let Some(portal) = self.portals.get_mut(name) {
            portal.progress = Progress::Running(Box::new(rows));
        }
        Ok(())
    }

    /// A FETCH has the columns of its cursor.
    fn columns_of(&self, statement: &Statement) -> Option<Vec<ColumnShape>> {
        match &statement.work {
            Work::Command(Command::Fetch(fetch)) if !fetch.skip => self.portals.get(&fetch.name)?.statement.columns.clone(),
            _ => statement.columns.clone(),
        }
    }

    fn describe_columns(&mut self, columns: Option<&[ColumnShape]>, formats: &[i16]) -> Result<(), Fault> {
        match columns {
            Some(columns) => reply::row_description(&mut self.link.out, columns, &binary_columns(formats, columns.len())?),
            None => reply::bare(&mut self.link.out, NO_DATA),
        }
        Ok(())
    }

    pub(super) async fn execute(&mut self, name: &str, rows_max: u32) -> Result<(), Trouble> {
        let mut portal = self.portals.remove(name).ok_or_else(|| no_cursor(name))?;
        let statement = portal.statement.clone();
        match &statement.work {
            Work::Empty => reply::bare(&mut self.link.out, EMPTY_QUERY),
            Work::Command(command) => {
                if matches!(portal.progress, Progress::Ended) {
                    return Err(ran_already(name).into());
                }
                let parameters = std::mem::take(&mut portal.parameters);
                self.carry_out(command, &parameters, &portal.formats, false).await?;
                portal.progress = Progress::Ended;
                let ends_transaction = matches!(command, Command::Commit { .. } | Command::Rollback { .. });
                if ends_transaction {
                    return Ok(());
                }
            }
            Work::Query(sql) => {
                self.transaction.check()?;
                self.execute_query(&mut portal, sql, rows_max, name).await?;
            }
        }
        self.portals.insert(name.to_owned(), portal);
        Ok(())
    }

    async fn execute_query(&mut self, portal: &mut Portal, sql: &str, rows_max: u32, name: &str) -> Result<(), Trouble> {
        let mut rows = match std::mem::replace(&mut portal.progress, Progress::Ended) {
            Progress::Running(rows) => rows,
            Progress::Fresh => {
                let announced = portal.statement.columns.as_deref();
                Box::new(self.begin(sql.to_owned(), std::mem::take(&mut portal.parameters), announced).await?)
            }
            Progress::Ended if portal.statement.columns.is_some() => {
                reply::command_complete(&mut self.link.out, "SELECT 0");
                return Ok(());
            }
            Progress::Ended => return Err(ran_already(name).into()),
        };
        let formats = binary_columns(&portal.formats, rows.columns().len())?;
        let most = (rows_max > 0).then_some(u64::from(rows_max));
        let stretch = self.send(&mut rows, &formats, most).await?;
        if stretch.ended {
            self.complete(&rows, rows_tag(sql), stretch);
        } else {
            reply::bare(&mut self.link.out, PORTAL_SUSPENDED);
            portal.progress = Progress::Running(rows);
        }
        Ok(())
    }

    /// Closing what is not there is no error.
    pub(super) fn close(&mut self, target: &Target) -> Result<(), Trouble> {
        match target {
            Target::Statement(name) => drop(self.statements.remove(name)),
            Target::Portal(name) => drop(self.portals.remove(name)),
        }
        reply::bare(&mut self.link.out, CLOSE_COMPLETE);
        Ok(())
    }
}

fn no_statement(name: &str) -> Fault {
    match name {
        "" => Fault::error("26000", "unnamed prepared statement does not exist"),
        _ => Fault::error("26000", format!("prepared statement {name:?} does not exist")),
    }
}

fn ran_already(name: &str) -> Fault {
    Fault::error("55000", format!("portal {name:?} cannot be run")).with_detail("its command was carried out already")
}

/// What the client declared, and for the rest what the statement needs; text where nothing decides.
fn parameter_types(prepared: &Prepared, declared: &[u32]) -> WeirResult<Vec<u32>> {
    let count = prepared.parameters.len().max(declared.len());
    let mut types = Vec::with_capacity(count);
    for index in 0..count {
        let told = declared.get(index).copied().filter(|oid| ![0, kind::UNKNOWN].contains(oid));
        let needed = prepared.parameters.get(index).and_then(Option::as_ref);
        types.push(match (told, needed) {
            (Some(oid), _) => oid,
            (None, Some(data_type)) => Kind::of(&Field::new("parameter", data_type.clone(), true))?.oid(),
            (None, None) => kind::TEXT,
        });
    }
    Ok(types)
}

fn bound(types: &[u32], bind: &Bind) -> Result<Vec<Parameter>, Fault> {
    let given = bind.values.len();
    if given != types.len() {
        return Err(Fault::protocol(format!("bind message supplies {given} parameters, but prepared statement {:?} requires {}", bind.statement, types.len())));
    }
    if bind.formats.len() > 1 && bind.formats.len() != given {
        return Err(Fault::protocol(format!("bind message has {} parameter formats but {given} parameters", bind.formats.len())));
    }
    let binary = binary_columns(&bind.formats, given)?;
    let values = types.iter().zip(&bind.values).zip(binary).enumerate();
    values.map(|(index, ((oid, value), binary))| Ok(parameter::read(index + 1, *oid, binary, value.as_deref())?)).collect()
}
