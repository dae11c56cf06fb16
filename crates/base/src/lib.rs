// SPDX-License-Identifier: Apache-2.0
//! The words every room shares: names, errors, the age of answers, units, limits and the clock. No IO.

pub mod as_of;
pub mod bytea;
pub mod calendar;
pub mod clock;
pub mod error;
pub mod ids;
pub mod limits;
pub mod names;
pub mod priority;
pub mod shortest;
pub mod units;

pub use as_of::{AsOf, AsOfMethod, Timestamp};
pub use calendar::{CalendarDay, DAY_MICROS};
pub use clock::{Clock, ManualClock, SystemClock};
pub use error::{Blame, Error, ErrorCode, Result};
pub use ids::{QueryId, SessionId, UserName};
pub use names::{ColumnName, SourceName, TableName, nearest, quote_ident};
pub use priority::Priority;
pub use units::{ByteSize, Span};
