// SPDX-License-Identifier: Apache-2.0
//! What a client asks and gets. Doors speak to `dyn QueryService` and to nothing else, so they build and test without the engine.

mod accepted;
mod answer;
mod parameter;
mod plan_report;
mod plan_text;
mod receipt;
mod service;
mod session;
mod settings;

pub use answer::{Ages, Answer, AnswerKind, BatchStream, ReceiptMaker, TableAge};
pub use parameter::Parameter;
pub use plan_report::{
    AwaitedKeys, Budget, Forecast, ForecastMethod, FragmentReport, Kept, Materialized, PlacementReport, PlanReport, SourceReport, Suggestion, UsedToday,
    Verdict,
};
pub use receipt::{DefinitionUse, KeyUse, Receipt, SourceUse, TableReceipt, millis, thousands, to_micros};
pub use service::{Prepared, Query, QueryService, QueryState, QueryStatus, Readiness};
pub use session::{Door, Session};
pub use settings::{PushDown, ReadMode, Setting, Settings};
