// SPDX-License-Identifier: Apache-2.0
//! INSERT INTO a table of the lake from any question or list of values.

use super::create::batches;
use super::{Target, lake};
use crate::admit;
use crate::bind::{Bound, Resolved, bind_insert};
use crate::execute::start;
use crate::plan::plan;
use crate::session::PlanningSession;
use datafusion::logical_expr::dml::InsertOp;
use datafusion::logical_expr::{LogicalPlan, WriteOp};
use datafusion::sql::sqlparser::ast::{Insert, Statement, TableObject};
use std::sync::Arc;
use weir_api::Parameter;
use weir_base::{Error, ErrorCode, Result};
use weir_lake::LakeTable;

/// Returns the command tag `INSERT 0 n`.
pub(super) async fn insert(planning: &PlanningSession<'_>, statement: Statement, params: &[Parameter]) -> Result<String> {
    let Statement::Insert(insert) = &statement else { return Err(Error::internal("not an INSERT")) };
    let target = Target::of(planning, target_name(insert)?)?;
    refuse_extras(insert)?;
    let bound = bind_insert(planning, statement, &target.name, params).await?;
    let table = into_lake(&bound, &target)?;
    let bound = Bound { plan: rows_of(&bound.plan)?, ..bound };
    let physical = plan(planning, bound).await?;
    admit::admit(&physical, planning).await?;
    let written = lake(planning)?.append(&table, batches(start(&physical)?)).await?;
    Ok(format!("INSERT 0 {}", written.rows))
}

fn target_name(insert: &Insert) -> Result<&datafusion::sql::sqlparser::ast::ObjectName> {
    match &insert.table {
        TableObject::TableName(name) => Ok(name),
        _ => Err(Error::new(ErrorCode::Unsupported, "INSERT into a function is not in Weir")),
    }
}

fn refuse_extras(insert: &Insert) -> Result<()> {
    let refused = [
        (insert.on.is_some(), "INSERT … ON CONFLICT"),
        (insert.returning.is_some(), "INSERT … RETURNING"),
        (insert.overwrite, "INSERT OVERWRITE"),
        (insert.replace_into, "REPLACE INTO"),
    ];
    match refused.iter().find(|(present, _)| *present) {
        Some((_, what)) => {
            Err(Error::new(ErrorCode::Unsupported, format!("{what} is not in this version")).with_hint("plain INSERT INTO … SELECT or VALUES is"))
        }
        None => Ok(()),
    }
}

fn into_lake(bound: &Bound, target: &Target) -> Result<Arc<LakeTable>> {
    let found = bound.tables.iter().find_map(|table| match table {
        Resolved::Lake { name, table } if *name == target.name => Some(table.clone()),
        _ => None,
    });
    found.ok_or_else(|| Error::internal("the target of an INSERT was not bound"))
}

/// The rows that an INSERT would write, in the order and types of the table.
fn rows_of(plan: &LogicalPlan) -> Result<LogicalPlan> {
    match plan {
        LogicalPlan::Dml(dml) if dml.op == WriteOp::Insert(InsertOp::Append) => Ok(dml.input.as_ref().clone()),
        _ => Err(Error::new(ErrorCode::Unsupported, "this form of INSERT is not in Weir")),
    }
}
