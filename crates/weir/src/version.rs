// SPDX-License-Identifier: Apache-2.0
//! `weir version`: what was built, from what.

use crate::cli::VersionArgs;
use crate::start::Outcome;
use serde_json::json;
use weir_base::Result;

/// Version of this build.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
const COMMIT: &str = env!("WEIR_COMMIT");
const ARROW: &str = env!("WEIR_ARROW_VERSION");
const DATAFUSION: &str = env!("WEIR_DATAFUSION_VERSION");
const ICEBERG: &str = env!("WEIR_ICEBERG_VERSION");

pub fn run(args: &VersionArgs) -> Result<Outcome> {
    let connectors: Vec<&str> = weir_source::CONNECTORS.iter().map(|kind| kind.word).collect();
    if args.json {
        println!("{}", json!({ "weir": VERSION, "commit": COMMIT, "arrow": ARROW, "datafusion": DATAFUSION, "iceberg": ICEBERG, "connectors": connectors }));
        return Ok(Outcome::Done);
    }
    println!("weir {VERSION} ({COMMIT})");
    println!("arrow {ARROW}, datafusion {DATAFUSION}, iceberg {ICEBERG}");
    println!("connectors: {}", connectors.join(", "));
    Ok(Outcome::Done)
}
