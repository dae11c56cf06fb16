// SPDX-License-Identifier: Apache-2.0
//! CREATE TABLE in the lake, empty or from any question.

use super::partitioning::options;
use super::{Target, lake};
use crate::admit;
use crate::bind::bind;
use crate::errors::from_datafusion;
use crate::execute::start;
use crate::plan::plan;
use crate::session::PlanningSession;
use arrow::datatypes::SchemaRef;
use datafusion::catalog::MemoryCatalogProviderList;
use datafusion::execution::SendableRecordBatchStream;
use datafusion::logical_expr::{DdlStatement, LogicalPlan};
use datafusion::sql::parser::Statement as ParsedStatement;
use datafusion::sql::sqlparser::ast::{CreateTable, CreateTableOptions, Ident, ObjectName, Statement};
use futures::StreamExt;
use std::sync::Arc;
use weir_api::Parameter;
use weir_base::{Error, ErrorCode, Result};
use weir_lake::{BatchStream, TableSpec};
use weir_policy::{Access, Action};

/// Returns the command tag: `CREATE TABLE`, or `SELECT n` when rows were written.
pub(super) async fn create_table(planning: &PlanningSession<'_>, mut table: CreateTable, params: &[Parameter]) -> Result<String> {
    let target = Target::of(planning, &table.name)?;
    planning.principal.decide(&[Access { action: Action::Create, table: target.name.clone() }])?;
    if table.temporary || table.external {
        return Err(
            Error::new(ErrorCode::Unsupported, "temporary and external tables are not in Weir").with_hint("create the table in the lake and drop it later")
        );
    }
    let (partitioning, properties) = options(&table)?;
    let query = table.query.take();
    let spec = |columns: SchemaRef| {
        let mut spec = TableSpec::new(&target.name.schema, &target.name.table, columns);
        spec.partitioning = partitioning.clone();
        spec.properties = properties.clone();
        spec.if_not_exists = table.if_not_exists;
        spec.or_replace = table.or_replace;
        spec.comment = table.comment.as_ref().map(comment_text);
        spec
    };
    let Some(query) = query else {
        let columns = declared_columns(planning, &table).await?;
        lake(planning)?.create_table(spec(columns)).await?;
        return Ok("CREATE TABLE".into());
    };
    if !table.columns.is_empty() {
        return Err(Error::new(ErrorCode::Unsupported, "CREATE TABLE with both columns and AS is not in Weir")
            .with_hint("give the columns their names and types in the SELECT"));
    }
    let bound = bind(planning, Statement::Query(query), params).await?;
    let physical = plan(planning, bound).await?;
    admit::admit(&physical, planning).await?;
    let input = start(&physical)?;
    let written = lake(planning)?.create_table_as(spec(input.schema()), batches(input)).await?;
    Ok(if written.created { format!("SELECT {}", written.rows) } else { "CREATE TABLE".into() })
}

/// The batches of a plan as the lake takes them.
pub(super) fn batches(input: SendableRecordBatchStream) -> BatchStream {
    input.map(|batch| batch.map_err(from_datafusion)).boxed()
}

fn comment_text(comment: &datafusion::sql::sqlparser::ast::CommentDef) -> String {
    use datafusion::sql::sqlparser::ast::CommentDef;
    match comment {
        CommentDef::WithEq(text) | CommentDef::WithoutEq(text) => text.clone(),
    }
}

/// The columns of `CREATE TABLE t (a int, b text)`, typed as the query engine types them.
async fn declared_columns(planning: &PlanningSession<'_>, table: &CreateTable) -> Result<SchemaRef> {
    let mut bare = table.clone();
    bare.name = ObjectName::from(Ident::new("declared"));
    bare.partition_by = None;
    bare.table_options = CreateTableOptions::None;
    let state = planning.state(Arc::new(MemoryCatalogProviderList::new()))?;
    let statement = ParsedStatement::Statement(Box::new(Statement::CreateTable(bare)));
    match state.statement_to_plan(statement).await.map_err(from_datafusion)? {
        LogicalPlan::Ddl(DdlStatement::CreateMemoryTable(create)) => Ok(Arc::new(create.input.schema().as_arrow().clone())),
        _ => Err(Error::new(ErrorCode::Unsupported, "this form of CREATE TABLE is not in Weir")),
    }
}
