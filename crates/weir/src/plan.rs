// SPDX-License-Identifier: Apache-2.0
//! `weir plan`: what a query would do, in words, before it does it.

use crate::cli::{Global, PlanArgs};
use crate::client::Client;
use crate::sql::text_of;
use crate::start::Outcome;
use std::io::Write;
use weir_api::{PlanReport, Query, Verdict};
use weir_base::{Error, ErrorCode, Result};

pub async fn run(global: &Global, args: &PlanArgs) -> Result<Outcome> {
    let text = text_of(args.sql.as_deref(), args.file.as_deref())?.unwrap_or_default();
    let client = Client::open(global).await?;
    let report = report(&client, &text).await;
    client.close().await;
    let report = report?;
    let printed = if args.json {
        serde_json::to_string_pretty(&report).map_err(|error| Error::internal("plan cannot be printed").with_detail(error.to_string()))?
    } else {
        report.to_text()
    };
    writeln!(std::io::stdout(), "{printed}").map_err(crate::output::write_failed)?;
    Ok(if report.verdict == Verdict::Refuse { Outcome::Refused } else { Outcome::Done })
}

async fn report(client: &Client, text: &str) -> Result<PlanReport> {
    let statements = client.service.split(text)?;
    let [statement] = statements.as_slice() else {
        return Err(Error::new(ErrorCode::Syntax, "plan takes one statement").with_detail(format!("{} were given", statements.len())));
    };
    client.service.plan(&client.session, Query::new(statement)).await
}
