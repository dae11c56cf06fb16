// SPDX-License-Identifier: Apache-2.0
//! A connector as a contender: one statement from its text to its last Arrow batch.

use crate::contest::{Contender, Lap};
use async_trait::async_trait;
use futures::StreamExt;
use std::sync::Arc;
use std::time::Instant;
use weir_base::{Error, QueryId, Result, UserName};
use weir_guard::{Guard, Purpose};
use weir_source::{OutputColumn, Source, SourceTable, Statement, connect};

/// A source with the table that is read.
pub struct Shop {
    source: Arc<dyn Source>,
    guard: Arc<Guard>,
    table: SourceTable,
    rows: u64,
}

impl Shop {
    /// Finds the table `orders`, which has `rows` rows.
    pub async fn open(kind: &str, url: String, rows: u64) -> Result<Self> {
        let spec = crate::weir_here::source("shop", kind, url);
        let guard = Guard::new(spec.name.clone(), spec.limits.clone());
        let source = connect(spec)?;
        let discovered = source.discover(guard.permit(Purpose::Metadata).await?).await?;
        let table = discovered.tables.into_iter().find(|table| table.name == "orders");
        let table = table.ok_or_else(|| Error::internal("the table that was just made is not found"))?;
        Ok(Self { source, guard, table, rows })
    }

    /// Reading these columns, as the engine would have them read.
    pub fn fetch(&self, names: &[&str]) -> Result<Fetch> {
        let dialect = self.source.dialect();
        let mut selected = Vec::with_capacity(names.len());
        let mut outputs = Vec::with_capacity(names.len());
        for name in names {
            let column = self.table.columns.iter().find(|column| column.name == *name);
            let column = column.ok_or_else(|| Error::internal(format!("the table has no column {name}")))?;
            selected.push(column.read_as.unwrap_or("{}").replace("{}", &dialect.quote(name)));
            outputs.push(OutputColumn { name: column.name.clone(), data_type: column.data_type.clone(), label: column.name.clone() });
        }
        let sql = format!("SELECT {} FROM {}", selected.join(", "), dialect.table(&self.table.schema, &self.table.name));
        Ok(Fetch { source: self.source.clone(), guard: self.guard.clone(), sql, outputs, rows: self.rows })
    }

    pub async fn close(&self) {
        self.source.close().await;
    }
}

pub struct Fetch {
    source: Arc<dyn Source>,
    guard: Arc<Guard>,
    sql: String,
    outputs: Vec<OutputColumn>,
    rows: u64,
}

#[async_trait]
impl Contender for Fetch {
    fn name(&self) -> &str {
        "Weir"
    }

    async fn lap(&mut self) -> Result<Lap> {
        let statement = Statement {
            sql: self.sql.clone(),
            shown: None,
            outputs: self.outputs.clone(),
            user: UserName::new("bench"),
            query_id: QueryId::fresh(),
            rows_likely: None,
        };
        let began = Instant::now();
        let mut fetched = self.source.fetch(self.guard.permit(Purpose::Query).await?, statement).await?;
        let mut rows = 0;
        while let Some(batch) = fetched.batches.next().await {
            rows += batch?.num_rows() as u64;
        }
        let lap = Lap::since(began, None);
        if rows != self.rows {
            return Err(Error::internal("a short answer").with_detail(format!("{rows} of {} rows", self.rows)));
        }
        Ok(lap)
    }
}
