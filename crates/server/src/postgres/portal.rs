// SPDX-License-Identifier: Apache-2.0
//! Prepared statements and portals (which cursors are, too).

use crate::postgres::command::Command;
use crate::postgres::fault::Fault;
use crate::postgres::reply::ColumnShape;
use crate::postgres::rows::Rows;
use std::collections::HashMap;
use std::sync::Arc;
use weir_api::Parameter;
use weir_base::limits::PORTALS_PER_SESSION_MAX;

/// What a statement is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Work {
    Empty,
    /// For the service.
    Query(String),
    /// For the wire itself.
    Command(Command),
}

/// A parsed statement.
pub struct Statement {
    pub work: Work,
    /// Type of each parameter.
    pub parameters: Vec<u32>,
    /// How many of them the query has; a client may declare more.
    pub taken: usize,
    /// Columns of the rows; `None` when it gives none. For FETCH they are the cursor's, known only when it is described.
    pub columns: Option<Vec<ColumnShape>>,
}

/// A statement with its parameters, perhaps under way.
pub struct Portal {
    pub statement: Arc<Statement>,
    pub parameters: Vec<Parameter>,
    pub formats: Vec<i16>,
    pub progress: Progress,
    /// Lives on after its transaction (WITH HOLD).
    pub hold: bool,
}

/// How far a portal has come.
pub enum Progress {
    Fresh,
    Running(Box<Rows>),
    Ended,
}

impl Portal {
    pub fn new(statement: Arc<Statement>, parameters: Vec<Parameter>, formats: Vec<i16>) -> Self {
        Self { statement, parameters, formats, progress: Progress::Fresh, hold: false }
    }
}

/// Which columns are wanted in binary: no code means text for all, one code counts for all.
pub fn binary_columns(formats: &[i16], columns: usize) -> Result<Vec<bool>, Fault> {
    if let Some(unknown) = formats.iter().find(|format| !(0..=1).contains(*format)) {
        return Err(Fault::error("22023", format!("unsupported format code: {unknown}")));
    }
    match formats {
        [] => Ok(vec![false; columns]),
        [one] => Ok(vec![*one == 1; columns]),
        each if each.len() == columns => Ok(each.iter().map(|format| *format == 1).collect()),
        each => Err(Fault::protocol(format!("bind message has {} result formats but query has {columns} columns", each.len()))),
    }
}

/// Error: 54000 when a session holds too many of something.
pub fn check_room<V>(held: &HashMap<String, V>, name: &str, what: &str) -> Result<(), Fault> {
    if held.len() >= PORTALS_PER_SESSION_MAX && !held.contains_key(name) {
        return Err(Fault::error("54000", format!("too many {what}"))
            .with_detail(format!("a session may hold {PORTALS_PER_SESSION_MAX}"))
            .with_hint("close those that are no longer needed"));
    }
    Ok(())
}
