// SPDX-License-Identifier: Apache-2.0
//! Dates and times that cannot name a partition: too far away to be counted in years, months, days or hours, and written out.

use crate::fault::computing;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch, StructArray};
use arrow::compute::{max, min};
use arrow::datatypes::{DataType, Date32Type, TimeUnit, TimestampMicrosecondType};
use iceberg::spec::{NestedFieldRef, PartitionSpec, PrimitiveType, Schema, Transform, Type};
use std::sync::Arc;
use weir_base::{DAY_MICROS, Error, ErrorCode, Result};

/// -200000-01-01 and 200001-01-01, in days since 1970-01-01. Hours of these years still fit 32 bits, and calendars end at 262142.
const DAYS_FIRST: i64 = -73_768_028;
const DAYS_END: i64 = 72_329_338;

/// A column of dates or times that a partition is made of.
#[derive(Debug)]
struct Watched {
    name: String,
    /// Where it stands in the batch, and inside of structs.
    path: Vec<usize>,
    /// Which partition value counts the days of its instants.
    day_value: Option<usize>,
    /// Times with a zone are written out whole into the path of their partition, where fractions before 1970 have no form.
    whole_before_1970: bool,
}

/// Looks at the moments of a batch before partitions are made of them.
#[derive(Debug)]
pub(crate) struct MomentGuard {
    watched: Vec<Watched>,
}

impl MomentGuard {
    pub(crate) fn new(schema: &Schema, spec: &PartitionSpec) -> Self {
        let of_moments = |transform| matches!(transform, Transform::Identity | Transform::Year | Transform::Month | Transform::Day | Transform::Hour);
        let fields = spec.fields().iter().enumerate().filter(|(_, field)| of_moments(field.transform));
        let watched = fields.filter_map(|(value, field)| {
            let source = schema.field_by_id(field.source_id)?;
            let Type::Primitive(primitive) = source.field_type.as_ref() else { return None };
            let zoned = matches!(primitive, PrimitiveType::Timestamptz);
            let instants = zoned || matches!(primitive, PrimitiveType::Timestamp);
            if !instants && !matches!(primitive, PrimitiveType::Date) {
                return None;
            }
            let path = path_to(schema.as_struct().fields(), field.source_id)?;
            let day_value = (instants && field.transform == Transform::Day && path.len() == 1).then_some(value);
            Some(Watched { name: source.name.clone(), path, day_value, whole_before_1970: zoned && field.transform == Transform::Identity })
        });
        Self { watched: watched.collect() }
    }

    /// Error: 22008 that names the column, when a value lies outside of the years -200000 to 200000.
    pub(crate) fn check(&self, batch: &RecordBatch) -> Result<()> {
        self.watched.iter().try_for_each(|watched| watched.check(batch))
    }

    /// The partition values of a batch, with days as the calendar counts them. The crate that computes them puts the last second of
    /// a day before 1970 into the day after, where a reader that trusts the partition would not look for it.
    pub(crate) fn with_true_days(&self, values: &StructArray, batch: &RecordBatch) -> Result<StructArray> {
        let (fields, mut columns, nulls) = values.clone().into_parts();
        for watched in &self.watched {
            let (Some(value), Some(instants)) = (watched.day_value, watched.values(batch)) else { continue };
            if let (Some(column), Some(micros)) = (columns.get_mut(value), instants.as_primitive_opt::<TimestampMicrosecondType>()) {
                *column = Arc::new(micros.unary::<_, Date32Type>(|micros| micros.div_euclid(DAY_MICROS) as i32));
            }
        }
        StructArray::try_new(fields, columns, nulls).map_err(computing)
    }
}

impl Watched {
    fn check(&self, batch: &RecordBatch) -> Result<()> {
        let Some(values) = self.values(batch) else { return Ok(()) };
        let (lowest, highest, unit) = match values.data_type() {
            DataType::Date32 => {
                let days = values.as_primitive::<Date32Type>();
                (min(days).map(i64::from), max(days).map(i64::from), 1)
            }
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                let micros = values.as_primitive::<TimestampMicrosecondType>();
                if self.whole_before_1970 && micros.iter().flatten().any(|micros| micros < 0 && micros % 1_000_000 != 0) {
                    return Err(self.refused("it holds a fraction of a second before 1970"));
                }
                (min(micros), max(micros), DAY_MICROS)
            }
            _ => return Ok(()),
        };
        let too_early = lowest.is_some_and(|lowest| lowest < DAYS_FIRST * unit);
        let too_late = highest.is_some_and(|highest| highest >= DAYS_END * unit);
        if too_early || too_late { Err(self.refused("it holds a moment outside of the years -200000 to 200000")) } else { Ok(()) }
    }

    fn values(&self, batch: &RecordBatch) -> Option<ArrayRef> {
        let (first, inner) = self.path.split_first()?;
        let mut values = batch.columns().get(*first)?.clone();
        for index in inner {
            values = values.as_struct_opt()?.columns().get(*index)?.clone();
        }
        Some(values)
    }

    fn refused(&self, detail: &str) -> Error {
        Error::new(ErrorCode::MomentOutOfRange, format!("column {:?} holds a date or time that cannot name a partition", self.name))
            .with_detail(detail)
            .with_hint("leave the column out of the partitioning, or filter those rows away")
    }
}

/// Where a column stands: its index in the table, then its index in each struct on the way.
fn path_to(fields: &[NestedFieldRef], id: i32) -> Option<Vec<usize>> {
    fields.iter().enumerate().find_map(|(index, field)| {
        if field.id == id {
            return Some(vec![index]);
        }
        let Type::Struct(inner) = field.field_type.as_ref() else { return None };
        let rest = path_to(inner.fields(), id)?;
        Some([vec![index], rest].concat())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::NaiveDate;

    #[test]
    fn the_years_begin_and_end_where_the_calendar_says() {
        let days = |year| NaiveDate::from_ymd_opt(year, 1, 1).unwrap().signed_duration_since(NaiveDate::from_ymd_opt(1970, 1, 1).unwrap()).num_days();
        assert_eq!((days(-200_000), days(200_001)), (DAYS_FIRST, DAYS_END));
        assert!(DAYS_FIRST.checked_mul(DAY_MICROS).is_some() && DAYS_END.checked_mul(DAY_MICROS).is_some());
        assert!(i32::try_from(DAYS_FIRST * 24).is_ok() && i32::try_from(DAYS_END * 24).is_ok());
    }
}
