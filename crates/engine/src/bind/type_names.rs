// SPDX-License-Identifier: Apache-2.0
//! SQL's names for times: microseconds, as PostgreSQL has them, so that every year from 1 to 9999 fits.

use crate::text_kinds::uuid_field;
use arrow::datatypes::{DataType, Field, FieldRef, TimeUnit};
use datafusion::common::Result;
use datafusion::logical_expr::planner::TypePlanner;
use datafusion::sql::sqlparser::ast::{DataType as SqlType, TimezoneInfo};
use std::sync::Arc;

/// The types of one session, which has a time zone.
#[derive(Debug)]
pub(crate) struct TypeNames {
    pub zone: Arc<str>,
}

impl TypePlanner for TypeNames {
    fn plan_type_field(&self, name: &SqlType) -> Result<Option<FieldRef>> {
        if *name == SqlType::Uuid {
            return Ok(Some(Arc::new(uuid_field())));
        }
        let micros = match name {
            SqlType::Timestamp(None | Some(6..), zone) => Some(DataType::Timestamp(TimeUnit::Microsecond, self.zone_of(zone))),
            SqlType::Datetime(None | Some(6..)) => Some(DataType::Timestamp(TimeUnit::Microsecond, None)),
            SqlType::Time(None | Some(6..), TimezoneInfo::None | TimezoneInfo::WithoutTimeZone) => Some(DataType::Time64(TimeUnit::Microsecond)),
            _ => None,
        };
        Ok(micros.map(|data_type| Arc::new(Field::new("", data_type, true))))
    }
}

impl TypeNames {
    fn zone_of(&self, zone: &TimezoneInfo) -> Option<Arc<str>> {
        matches!(zone, TimezoneInfo::Tz | TimezoneInfo::WithTimeZone).then(|| self.zone.clone())
    }
}
