// SPDX-License-Identifier: Apache-2.0
//! What the demo prints on standard output: questions, plans, answers, receipts.

use super::question::Question;
use crate::output::{Destination, Format, Layout, Style, sink, write_failed};
use arrow::array::RecordBatch;
use futures::TryStreamExt;
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use weir_api::{Door, Query, QueryService, Receipt, Session};
use weir_base::{Error, Result, UserName};
use weir_server::LOCAL_USER;
use weir_server::values::Zone;

/// Longer answers are cut; the count says by how much.
const ROWS_SHOWN_MAX: usize = 12;

/// A reader of the demo: one session, and where its answers are printed.
pub struct Page {
    service: Arc<dyn QueryService>,
    session: Arc<Session>,
    bold: (&'static str, &'static str),
}

impl Page {
    pub fn new(service: Arc<dyn QueryService>) -> Self {
        let colour = std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        let bold = if colour { ("\u{1b}[1m", "\u{1b}[0m") } else { ("", "") };
        Self { service, session: Session::new(UserName::new(LOCAL_USER), Door::Cli, None), bold }
    }

    /// A heading with a rule.
    pub fn heading(&self, text: &str) -> Result<()> {
        let (on, off) = self.bold;
        line(&format!("\n{on}=== {text}{off}"))
    }

    /// Words, SQL, plan, answer, receipt of one question.
    pub async fn ask(&self, number: usize, question: &Question) -> Result<()> {
        self.heading(&format!("Question {number}. {}", question.title))?;
        line(&format!("{}\n\n{}", question.words(), question.sql()))?;
        let statement = self.statement(question)?;
        let mut report = self.service.plan(&self.session, Query::new(statement.clone())).await?;
        // The operators that Weir runs itself are many lines, and EXPLAIN has them.
        let operators = std::mem::take(&mut report.residual).len();
        self.part("plan, before anything is read")?;
        line(&format!("{}\nresidual    {operators} operators in Weir itself; EXPLAIN shows them", report.to_text()))?;
        let (batches, receipt) = self.run(&statement).await?;
        self.part("answer")?;
        print_rows(&batches)?;
        self.part("receipt")?;
        for table in &receipt.tables {
            line(&format!("{:32} {} as of {} ({})", table.table, table.placement, table.as_of, table.method.word()))?;
        }
        line(&receipt.footer())
    }

    /// Asks and shows in one line whether there is an answer; an error in full.
    pub async fn try_out(&self, question: &Question) -> Result<()> {
        let statement = self.statement(question)?;
        match self.run(&statement).await {
            Ok((batches, receipt)) => {
                let rows: usize = batches.iter().map(RecordBatch::num_rows).sum();
                line(&format!("{} → {rows} rows in {:.0} ms", question.title, receipt.elapsed_ms))
            }
            Err(error) => {
                line(&format!("{} → error {}: {}", question.title, error.code().sqlstate(), error.message()))?;
                for (label, text) in [("detail", error.detail()), ("hint", error.hint())] {
                    if let Some(text) = text {
                        line(&format!("  {label}: {text}"))?;
                    }
                }
                Ok(())
            }
        }
    }

    fn statement(&self, question: &Question) -> Result<String> {
        self.service.split(&question.sql())?.into_iter().next().ok_or_else(|| Error::internal("a question without SQL"))
    }

    async fn run(&self, statement: &str) -> Result<(Vec<RecordBatch>, Receipt)> {
        let mut answer = self.service.run(&self.session, Query::new(statement)).await?;
        let mut batches: Vec<RecordBatch> = answer.batches().try_collect().await?;
        if batches.is_empty() {
            batches.push(RecordBatch::new_empty(answer.schema().clone()));
        }
        Ok((batches, answer.receipt()))
    }

    fn part(&self, label: &str) -> Result<()> {
        let (on, off) = self.bold;
        line(&format!("\n{on}--- {label}{off}"))
    }
}

fn print_rows(batches: &[RecordBatch]) -> Result<()> {
    let total: usize = batches.iter().map(RecordBatch::num_rows).sum();
    let mut destination = Destination::open(None, Format::Table)?;
    let style = Style { layout: Layout::Aligned, null: "∅".into(), zone: Zone::parse("UTC")? };
    let mut table = sink(Format::Table, &style, &mut destination);
    let mut left = ROWS_SHOWN_MAX;
    for (index, batch) in batches.iter().enumerate() {
        if index == 0 {
            table.begin(&batch.schema())?;
        }
        let shown = batch.num_rows().min(left);
        table.batch(&batch.slice(0, shown))?;
        left -= shown;
    }
    table.end()?;
    drop(table);
    destination.finish()?;
    if total > ROWS_SHOWN_MAX { line(&format!("and {} more", total - ROWS_SHOWN_MAX)) } else { Ok(()) }
}

/// One line (or several) on standard output.
pub fn line(text: &str) -> Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "{text}").and_then(|()| out.flush()).map_err(write_failed)
}
