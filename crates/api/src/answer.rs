// SPDX-License-Identifier: Apache-2.0
//! An answer: a stream of batches that cannot be made without its age, and the receipt once the stream has ended.

use crate::Receipt;
use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use futures::stream::BoxStream;
use std::sync::{Arc, Mutex, PoisonError};
use weir_base::{AsOf, QueryId, Result, TableName};

/// Batches as they come; the first error ends the stream. Dropping it cancels the query, down to the sources.
pub type BatchStream = BoxStream<'static, Result<RecordBatch>>;

/// The age of one table as its scan reported it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableAge {
    pub table: TableName,
    /// `live`, `copy`, `materialized` or `rollup`.
    pub placement: &'static str,
    pub as_of: AsOf,
}

/// Where the scans of one query report how old what they read is. Shared by all of them.
#[derive(Debug, Clone)]
pub struct Ages {
    asked_at: AsOf,
    reported: Arc<Mutex<Vec<TableAge>>>,
}

impl Ages {
    /// `asked_at` is the age of an answer that reads no table at all.
    pub fn new(asked_at: AsOf) -> Self {
        Self { asked_at, reported: Arc::default() }
    }

    /// Called by a scan once it knows. A table that is read twice keeps its older age.
    pub fn report(&self, age: TableAge) {
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        match reported.iter_mut().find(|known| known.table == age.table && known.placement == age.placement) {
            Some(known) => known.as_of = known.as_of.oldest(age.as_of),
            None => reported.push(age),
        }
    }

    /// Every table read so far, by name.
    pub fn tables(&self) -> Vec<TableAge> {
        let mut tables = self.reported.lock().unwrap_or_else(PoisonError::into_inner).clone();
        tables.sort_by(|a, b| a.table.cmp(&b.table));
        tables
    }

    /// The oldest input: what the whole answer is true for.
    pub fn oldest(&self) -> AsOf {
        self.tables().into_iter().map(|age| age.as_of).reduce(AsOf::oldest).unwrap_or(self.asked_at)
    }

    /// Newest minus oldest input, in milliseconds.
    pub fn skew_ms(&self) -> i64 {
        let tables = self.tables();
        let newest = tables.iter().map(|age| age.as_of.at).max();
        newest.map_or(0, |newest| self.oldest().at.ms_until(newest))
    }
}

/// Makes the receipt once the batches have all been read.
pub type ReceiptMaker = Box<dyn Fn() -> Receipt + Send + Sync>;

/// Rows, or a command that was carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnswerKind {
    Rows,
    /// The command tag as Postgres words it: `INSERT 0 12`, `CREATE TABLE`, `SET`. The stream is empty.
    Command(String),
}

/// What a query gives back. There is no way to make one without its `Ages`.
pub struct Answer {
    query_id: QueryId,
    kind: AnswerKind,
    schema: SchemaRef,
    batches: BatchStream,
    ages: Ages,
    receipt: ReceiptMaker,
}

impl Answer {
    pub fn new(query_id: QueryId, kind: AnswerKind, schema: SchemaRef, batches: BatchStream, ages: Ages, receipt: ReceiptMaker) -> Self {
        Self { query_id, kind, schema, batches, ages, receipt }
    }

    pub fn query_id(&self) -> QueryId {
        self.query_id
    }

    pub fn kind(&self) -> &AnswerKind {
        &self.kind
    }

    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The batches, to be polled to the end.
    pub fn batches(&mut self) -> &mut BatchStream {
        &mut self.batches
    }

    /// The oldest input read so far; final once the batches have ended.
    pub fn oldest_as_of(&self) -> AsOf {
        self.ages.oldest()
    }

    /// The receipt; call it after the last batch.
    pub fn receipt(&self) -> Receipt {
        (self.receipt)()
    }
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Answer").field("query_id", &self.query_id).field("kind", &self.kind).field("schema", &self.schema).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_base::{AsOfMethod, Timestamp};

    #[test]
    fn the_answer_is_as_old_as_its_oldest_table() {
        let at = |ms| AsOf::new(Timestamp::from_millis(ms), AsOfMethod::Clock);
        let ages = Ages::new(at(100));
        assert_eq!(ages.oldest(), at(100));
        let age = |table, ms| TableAge { table: TableName::new("a", "b", table), placement: "live", as_of: at(ms) };
        ages.report(age("x", 90));
        ages.report(age("y", 40));
        ages.report(age("x", 70));
        assert_eq!((ages.oldest(), ages.skew_ms()), (at(40), 30));
    }
}
