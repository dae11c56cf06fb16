// SPDX-License-Identifier: Apache-2.0
//! `weir sources`: the sources as they are now, from the server that runs or from this process.

use crate::ask::{Show, ask};
use crate::cli::{Global, SourcesArgs};
use crate::client::Client;
use crate::output::{Destination, Format, Layout, Style};
use crate::start::Outcome;
use weir_api::Query;
use weir_base::Result;
use weir_server::values::Zone;

/// What is shown of each source. The sessions are those of the process that answers.
const QUESTION: &str = "SELECT source, type, state, version, role, account, lag_ms,
        concat(connections_in_use, ' of ', connections_allowed) AS sessions, waiting, tables,
        concat_ws('; ', CASE WHEN breaker <> 'closed' THEN concat('breaker ', breaker) END, strain, note) AS note
    FROM system.sources ORDER BY source";
/// All that is known, for programs.
const EVERYTHING: &str = "SELECT * FROM system.sources ORDER BY source";

pub async fn run(global: &Global, args: &SourcesArgs) -> Result<Outcome> {
    let client = Client::open(global).await?;
    let format = if args.json { Format::Json } else { Format::Table };
    let style = Style { layout: Layout::Aligned, null: String::new(), zone: Zone::parse("UTC")? };
    let show = Show { format, style, receipt: false, progress: true };
    let mut destination = Destination::open(None, format)?;
    let asked = ask(&client, Query::new(if args.json { EVERYTHING } else { QUESTION }), &show, &mut destination).await;
    client.close().await;
    asked?;
    destination.finish()?;
    Ok(Outcome::Done)
}
