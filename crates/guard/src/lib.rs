// SPDX-License-Identifier: Apache-2.0
//! No source is touched without leave. A `Guard` per source hands out `Permit`s up to a hard cap, queues the rest fairly,
//! and counts what really crosses the wire against the budget. No IO here: connectors call in.

mod admission;
mod breaker;
mod ledger;
mod limits;
mod permit;
mod pressure;
mod queue;
mod verdict;

pub use admission::{Admission, Guard, GuardLoad, Purpose, Waiting};
pub use breaker::BreakerState;
pub use ledger::{Ledger, Meter, MeterReading, Outcome};
pub use limits::Limits;
pub use permit::Permit;
pub use pressure::{Look, Strain};
pub use queue::{Asker, Position};
pub use verdict::{Refusal, UnknownForecast, UsedToday, Verdict, Wanted, verdict};
