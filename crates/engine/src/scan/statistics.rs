// SPDX-License-Identifier: Apache-2.0
//! What the lake's manifests say about columns, in the planner's words. Always estimates: no answer is ever taken from them.

use arrow::datatypes::{DataType, FieldRef, Schema};
use datafusion::common::stats::Precision;
use datafusion::common::{ColumnStatistics, ScalarValue};
use std::ops::RangeInclusive;
use weir_lake::Literal;

/// The days that are also instants of 64-bit microseconds. The planner casts bounds as filters cast their columns, and does not look
/// whether the result overflows.
const DAYS_AS_INSTANTS: RangeInclusive<i32> = -106_751_991..=106_751_991;

/// One entry per field of `schema`, whose column `i` is the table's column `projection[i]`.
pub(crate) fn column_statistics(schema: &Schema, projection: &[usize], known: &[weir_lake::ColumnStatistics]) -> Vec<ColumnStatistics> {
    let of_column = |(field, column): (&FieldRef, &usize)| match known.get(*column) {
        Some(known) => one_column(field.data_type(), known),
        None => ColumnStatistics::new_unknown(),
    };
    schema.fields().iter().zip(projection).map(of_column).collect()
}

fn one_column(data_type: &DataType, known: &weir_lake::ColumnStatistics) -> ColumnStatistics {
    let bounded = !spans_all_whole_numbers(known) && !cut_by_casts(data_type);
    let bound = |literal: &Option<Literal>| match literal.as_ref().and_then(|literal| scalar(literal, data_type)) {
        Some(value) if bounded => Precision::Inexact(value),
        _ => Precision::Absent,
    };
    let count = |count: Option<u64>| count.map_or(Precision::Absent, |count| Precision::Inexact(count as usize));
    ColumnStatistics { null_count: count(known.null_count), min_value: bound(&known.min), max_value: bound(&known.max), ..ColumnStatistics::new_unknown() }
}

/// From the smallest 64-bit number to the largest: the planner counts the numbers of a range in 64 bits, and these are one more.
fn spans_all_whole_numbers(known: &weir_lake::ColumnStatistics) -> bool {
    (&known.min, &known.max) == (&Some(Literal::Int(i64::MIN)), &Some(Literal::Int(i64::MAX)))
}

/// Timestamps are often cast to dates. Through such a cast the planner takes a range back as whole days, finds it wider than it was,
/// and fails over a share of more than all rows.
fn cut_by_casts(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Timestamp(_, _))
}

/// A bound as a value of the column's type; `None` where the two do not fit, which is no more than an estimate lost.
fn scalar(literal: &Literal, data_type: &DataType) -> Option<ScalarValue> {
    let value = match literal {
        Literal::Bool(value) => ScalarValue::Boolean(Some(*value)),
        Literal::Int(value) => ScalarValue::Int64(Some(*value)),
        Literal::Float(value) => ScalarValue::Float64(Some(*value)),
        Literal::Decimal { unscaled, scale } => ScalarValue::Decimal128(Some(*unscaled), arrow::datatypes::DECIMAL128_MAX_PRECISION, *scale),
        Literal::Text(value) => ScalarValue::Utf8(Some(value.clone())),
        Literal::Bytes(value) => ScalarValue::Binary(Some(value.clone())),
        Literal::Date(days) if DAYS_AS_INSTANTS.contains(days) => ScalarValue::Date32(Some(*days)),
        Literal::Date(_) => return None,
        Literal::Time(micros) => ScalarValue::Time64Microsecond(Some(*micros)),
        Literal::Timestamp(micros) => match data_type {
            DataType::Timestamp(_, zone) => ScalarValue::TimestampMicrosecond(Some(*micros), zone.clone()),
            _ => return None,
        },
    };
    value.cast_to(data_type).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::{Field, TimeUnit};
    use weir_base::DAY_MICROS;

    #[test]
    fn bounds_take_the_type_of_their_column_and_stay_estimates() {
        let utc = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
        let schema = Schema::new(vec![Field::new("n", DataType::Int32, true), Field::new("at", utc.clone(), true), Field::new("t", DataType::Utf8View, true)]);
        let known = [
            weir_lake::ColumnStatistics { min: Some(Literal::Text("a".to_owned())), ..Default::default() },
            weir_lake::ColumnStatistics { min: Some(Literal::Int(1)), max: Some(Literal::Int(9)), null_count: Some(3), ..Default::default() },
            weir_lake::ColumnStatistics { max: Some(Literal::Timestamp(5)), ..Default::default() },
        ];
        let found = column_statistics(&schema, &[1, 2, 0], &known);
        assert_eq!(found[0].min_value, Precision::Inexact(ScalarValue::Int32(Some(1))));
        assert_eq!(found[0].max_value, Precision::Inexact(ScalarValue::Int32(Some(9))));
        assert_eq!(found[0].null_count, Precision::Inexact(3));
        assert_eq!((&found[1].min_value, &found[1].max_value), (&Precision::Absent, &Precision::Absent));
        assert_eq!(scalar(&Literal::Timestamp(5), &utc), Some(ScalarValue::TimestampMicrosecond(Some(5), Some("UTC".into()))));
        assert_eq!(found[2].min_value, Precision::Inexact(ScalarValue::Utf8View(Some("a".to_owned()))));
    }

    #[test]
    fn a_range_that_cannot_be_counted_is_no_range() {
        let known = weir_lake::ColumnStatistics { min: Some(Literal::Int(i64::MIN)), max: Some(Literal::Int(i64::MAX)), ..Default::default() };
        let found = one_column(&DataType::Int64, &known);
        assert_eq!((found.min_value, found.max_value), (Precision::Absent, Precision::Absent));
    }

    #[test]
    fn a_bound_that_does_not_fit_is_left_out() {
        assert_eq!(scalar(&Literal::Int(i64::MAX), &DataType::Int32), None);
        assert_eq!(scalar(&Literal::Timestamp(1), &DataType::Int32), None);
    }

    #[test]
    fn a_day_that_is_no_instant_is_left_out() {
        assert!((i64::from(*DAYS_AS_INSTANTS.end()) * DAY_MICROS).checked_add(DAY_MICROS).is_none());
        assert!((i64::from(*DAYS_AS_INSTANTS.start()) * DAY_MICROS).checked_sub(DAY_MICROS).is_none());
        assert_eq!(scalar(&Literal::Date(106_751_991), &DataType::Date32), Some(ScalarValue::Date32(Some(106_751_991))));
        assert_eq!(scalar(&Literal::Date(106_751_992), &DataType::Date32), None);
        assert_eq!(scalar(&Literal::Date(i32::MIN), &DataType::Date32), None);
    }
}
