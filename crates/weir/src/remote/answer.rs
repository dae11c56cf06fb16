// SPDX-License-Identifier: Apache-2.0
//! An answer as it comes over HTTP: Arrow batches, then the receipt; or, when the stream breaks off, why it did.

use crate::remote::empty_receipt;
use crate::remote::exchange::{ARROW, Exchange, garbled, json_of};
use arrow::buffer::Buffer;
use arrow::datatypes::{Schema, SchemaRef};
use arrow::ipc::reader::StreamDecoder;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};
use weir_api::{Ages, Answer, AnswerKind, Receipt, TableAge};
use weir_base::{AsOf, AsOfMethod, Clock, Error, ErrorCode, QueryId, Result, SystemClock, TableName};

type Pieces = BoxStream<'static, Result<Vec<u8>, reqwest::Error>>;

/// Reads one answer.
pub(super) struct AnswerReader {
    exchange: Arc<Exchange>,
    id: QueryId,
    bytes: Pieces,
    /// What has come and is not decoded yet.
    buffer: Buffer,
    decoder: StreamDecoder,
    ages: Ages,
    receipt: Arc<OnceLock<Receipt>>,
}

impl AnswerReader {
    /// Sends the question and waits for the columns. Errors: the server's, also those of the first rows.
    pub(super) async fn begin(exchange: Arc<Exchange>, id: QueryId, body: &Value) -> Result<Answer> {
        let response = exchange.post_for("/v1/query", body, ARROW).await?;
        let media_type = response.headers().get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
        if media_type != ARROW {
            return command(&exchange, id, &json_of(response).await?);
        }
        let ages = Ages::new(AsOf::new(SystemClock.now(), AsOfMethod::Clock));
        let receipt = Arc::new(OnceLock::new());
        let bytes = response.bytes_stream().map(|piece| piece.map(|bytes| bytes.to_vec())).boxed();
        let buffer = Buffer::from(Vec::<u8>::new());
        let mut reader = Self { exchange: exchange.clone(), id, bytes, buffer, decoder: StreamDecoder::new(), ages: ages.clone(), receipt: receipt.clone() };
        let first = reader.next().await?;
        let schema: SchemaRef = reader.decoder.schema().ok_or_else(|| garbled("no columns"))?;
        let rest = stream::unfold(Some(reader), |reader| async move {
            let mut reader = reader?;
            match reader.next().await {
                Ok(Some(batch)) => Some((Ok(batch), Some(reader))),
                Ok(None) => None,
                Err(error) => Some((Err(error), None)),
            }
        });
        let batches = stream::iter(first.map(Ok)).chain(rest).boxed();
        let user = exchange.user.clone();
        let made = move || receipt.get().cloned().unwrap_or_else(|| empty_receipt(id, &user));
        Ok(Answer::new(id, AnswerKind::Rows, schema, batches, ages, Box::new(made)))
    }

    /// The next batch; `None` at a proper end, when the receipt has been fetched too.
    async fn next(&mut self) -> Result<Option<arrow::array::RecordBatch>> {
        loop {
            match self.decoder.decode(&mut self.buffer) {
                Ok(Some(batch)) => return Ok(Some(batch)),
                Ok(None) => {}
                Err(error) => return Err(garbled(&error.to_string())),
            }
            match self.bytes.next().await {
                Some(Ok(bytes)) => self.buffer = Buffer::from(bytes),
                Some(Err(_)) => return Err(why_broken(&self.exchange, self.id).await),
                None if self.decoder.finish().is_err() => return Err(why_broken(&self.exchange, self.id).await),
                None => {
                    self.fetch_receipt().await?;
                    return Ok(None);
                }
            }
        }
    }

    async fn fetch_receipt(&mut self) -> Result<()> {
        if self.receipt.get().is_some() {
            return Ok(());
        }
        let found = look_up(&self.exchange, self.id, "SELECT receipt FROM system.receipts WHERE query_id = $1").await?;
        let Some(text) = found[0].as_str() else { return Ok(()) };
        let receipt: Receipt = serde_json::from_str(text).map_err(|error| garbled(&error.to_string()))?;
        for table in &receipt.tables {
            self.ages.report(TableAge { table: name_of(&table.table), placement: placement(&table.placement), as_of: AsOf::new(table.as_of, table.method) });
        }
        // Set once, right here: the check above saw it empty.
        self.receipt.get_or_init(|| receipt);
        Ok(())
    }
}

/// A stream that breaks off cannot say why; the log of queries can.
async fn why_broken(exchange: &Exchange, id: QueryId) -> Error {
    let unknown = || Error::new(ErrorCode::Protocol, "answer broke off before its end").with_detail(format!("query {id}"));
    match look_up(exchange, id, "SELECT error_code, note FROM system.queries WHERE query_id = $1").await {
        Ok(found) => match (found[0].as_str(), found[1].as_str()) {
            (Some(code), Some(message)) => Error::new(ErrorCode::from_sqlstate(code), message).with_detail(format!("query {id}, after rows had come already")),
            _ => unknown(),
        },
        Err(_) => unknown(),
    }
}

/// The first row of a question about a query.
async fn look_up(exchange: &Exchange, id: QueryId, sql: &str) -> Result<Value> {
    let answer = exchange.post("/v1/query", &json!({ "sql": sql, "params": [id.to_string()] })).await?;
    Ok(answer["rows"][0].clone())
}

fn command(exchange: &Exchange, id: QueryId, told: &Value) -> Result<Answer> {
    let tag = told["command"].as_str().ok_or_else(|| garbled("neither rows nor a command"))?.to_owned();
    let receipt: Receipt = serde_json::from_value(told["receipt"].clone()).unwrap_or_else(|_| empty_receipt(id, &exchange.user));
    let ages = Ages::new(AsOf::new(receipt.as_of, AsOfMethod::Clock));
    let nothing = stream::empty().boxed();
    Ok(Answer::new(id, AnswerKind::Command(tag), Arc::new(Schema::empty()), nothing, ages, Box::new(move || receipt.clone())))
}

/// A name as the receipt spells it; quoted parts keep their dots.
fn name_of(text: &str) -> TableName {
    let [source, schema, table] = crate::shell::parts_of(text);
    TableName::new(source, schema, table)
}

fn placement(word: &str) -> &'static str {
    ["copy", "materialized", "rollup"].into_iter().find(|known| *known == word).unwrap_or("live")
}
