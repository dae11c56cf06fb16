// SPDX-License-Identifier: Apache-2.0
//! Writes that hide in a question: inside WITH, behind EXPLAIN, as SELECT … INTO or FOR UPDATE.

use super::statement::{Command, other_write};
use datafusion::sql::sqlparser::ast::{Query, SetExpr, Statement};
use weir_base::{Error, ErrorCode, Result};

/// The write that a statement hides. Error: 25006 for a lock on rows, which no reader takes.
pub(super) fn hidden(statement: &Statement) -> Result<Option<Command>> {
    match statement {
        Statement::Explain { statement, .. } => match statement.as_ref() {
            write @ (Statement::Update(_) | Statement::Delete(_) | Statement::Merge(_) | Statement::Truncate(_)) => other_write(write.clone()).map(Some),
            inner => hidden(inner),
        },
        Statement::Query(query) => in_query(query),
        _ => Ok(None),
    }
}

fn in_query(query: &Query) -> Result<Option<Command>> {
    if !query.locks.is_empty() {
        return Err(Error::new(ErrorCode::ReadOnlySource, "rows cannot be locked")
            .with_detail("Weir only reads")
            .with_hint("leave out FOR UPDATE or FOR SHARE"));
    }
    for cte in query.with.iter().flat_map(|with| &with.cte_tables) {
        if let Some(write) = in_query(&cte.query)? {
            return Ok(Some(write));
        }
    }
    in_body(&query.body)
}

fn in_body(body: &SetExpr) -> Result<Option<Command>> {
    match body {
        SetExpr::Insert(write) | SetExpr::Update(write) | SetExpr::Delete(write) | SetExpr::Merge(write) => match write {
            Statement::Insert(insert) => Ok(Some(Command::OtherWrite { what: "INSERT inside a question".into(), target: inserted(insert) })),
            other => other_write(other.clone()).map(Some),
        },
        SetExpr::Select(select) => Ok(select.into.as_ref().map(|into| Command::OtherWrite { what: "SELECT INTO".into(), target: Some(into.name.clone()) })),
        SetExpr::Query(query) => in_query(query),
        SetExpr::SetOperation { left, right, .. } => match in_body(left)? {
            Some(write) => Ok(Some(write)),
            None => in_body(right),
        },
        _ => Ok(None),
    }
}

fn inserted(insert: &datafusion::sql::sqlparser::ast::Insert) -> Option<datafusion::sql::sqlparser::ast::ObjectName> {
    match &insert.table {
        datafusion::sql::sqlparser::ast::TableObject::TableName(name) => Some(name.clone()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::{classify, parse};

    fn write(sql: &str) -> String {
        match classify(parse(sql).unwrap()) {
            Ok(Command::OtherWrite { what, target }) => format!("{what} {}", target.map(|name| name.to_string()).unwrap_or_default()),
            other => panic!("{sql}: {other:?}"),
        }
    }

    #[test]
    fn hidden_writes_are_found() {
        assert_eq!(write("WITH x AS (DELETE FROM a.b.c RETURNING *) SELECT * FROM x"), "DELETE a.b.c");
        assert_eq!(write("EXPLAIN ANALYZE DELETE FROM a.b.c"), "DELETE a.b.c");
        assert_eq!(write("SELECT * INTO a.b.d FROM a.b.c"), "SELECT INTO a.b.d");
        assert!(classify(parse("SELECT * FROM a.b.c FOR UPDATE").unwrap()).is_err());
        assert!(matches!(classify(parse("WITH x AS (SELECT 1) SELECT * FROM x").unwrap()), Ok(Command::Question(_))));
    }
}
