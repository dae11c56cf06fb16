// SPDX-License-Identifier: Apache-2.0
//! What a file's manifest entry says about its columns: partition values turned back into ranges, and the file's metrics.

use crate::bounds::{Bounds, Evidence, Nulls};
use crate::constant::literal_of;
use crate::manifest::FileEntry;
use crate::predicate::Literal;
use chrono::{Datelike, NaiveDate};
use iceberg::spec::{Datum, Literal as IcebergLiteral, NestedFieldRef, PartitionField, PartitionSpec, PrimitiveLiteral, PrimitiveType, Transform, Type};
use iceberg::transform::create_transform_function;
use weir_base::DAY_MICROS;

const HOUR_MICROS: i64 = 3_600_000_000;

/// A data file as its manifest describes it, for columns in table order.
pub(crate) struct FileEvidence<'a> {
    pub(crate) entry: &'a FileEntry,
    pub(crate) spec: Option<&'a PartitionSpec>,
    pub(crate) columns: &'a [NestedFieldRef],
}

impl Evidence for FileEvidence<'_> {
    fn of(&self, column: usize) -> Vec<Bounds> {
        let Some((id, primitive)) = primitive_column(self.columns, column) else { return Vec::new() };
        let mut known = vec![metrics(self.entry, id, primitive)];
        let Some(spec) = self.spec else { return known };
        let values = self.entry.file.partition().fields();
        for (field, value) in spec.fields().iter().zip(values) {
            if field.source_id == id {
                known.extend(partition_bounds(field, value.as_ref(), primitive));
            }
        }
        known
    }

    fn bucket_of(&self, column: usize, buckets: u32, literal: &Literal) -> Option<i32> {
        let (_, primitive) = primitive_column(self.columns, column)?;
        bucket_of(buckets, literal, primitive)
    }
}

pub(crate) fn primitive_column(columns: &[NestedFieldRef], column: usize) -> Option<(i32, &PrimitiveType)> {
    let field = columns.get(column)?;
    match field.field_type.as_ref() {
        Type::Primitive(primitive) => Some((field.id, primitive)),
        _ => None,
    }
}

pub(crate) fn is_float(primitive: &PrimitiveType) -> bool {
    matches!(primitive, PrimitiveType::Float | PrimitiveType::Double)
}

pub(crate) fn may_hold_nan(entry: &FileEntry, id: i32, primitive: &PrimitiveType) -> bool {
    is_float(primitive) && entry.file.nan_value_counts().get(&id) != Some(&0)
}

/// Bounds of the whole file, from the metrics that its writer left.
pub(crate) fn metrics(entry: &FileEntry, id: i32, primitive: &PrimitiveType) -> Bounds {
    let bound = |datum: &Datum| literal_of(datum.literal(), datum.data_type());
    let lower = entry.file.lower_bounds().get(&id).and_then(bound);
    let upper = entry.file.upper_bounds().get(&id).and_then(bound);
    let nulls = Nulls::of(entry.file.null_value_counts().get(&id).copied(), entry.file.record_count());
    Bounds::between(lower, upper, nulls, may_hold_nan(entry, id, primitive))
}

/// What a partition value says about the column it was made from. Nothing is said where that is not certain.
fn partition_bounds(field: &PartitionField, value: Option<&IcebergLiteral>, column: &PrimitiveType) -> Option<Bounds> {
    if matches!(field.transform, Transform::Void | Transform::Unknown) {
        return None;
    }
    let Some(IcebergLiteral::Primitive(value)) = value else { return Some(Bounds::all_null()) };
    let no_nulls = |lower: Literal, upper: Literal| Some(Bounds::between(Some(lower), Some(upper), Nulls::None, false));
    match field.transform {
        Transform::Identity => literal_of(value, column).map(Bounds::constant),
        Transform::Bucket(buckets) => {
            let PrimitiveLiteral::Int(bucket) = value else { return None };
            Some(Bounds { nulls: Nulls::None, bucket: Some((buckets, *bucket)), ..Bounds::unknown() })
        }
        Transform::Truncate(width) => truncated(value, width, column),
        Transform::Year | Transform::Month | Transform::Day | Transform::Hour => {
            let PrimitiveLiteral::Int(unit) = value else { return None };
            let (first, next) = time_span(field.transform, i64::from(*unit))?;
            match column {
                PrimitiveType::Date => no_nulls(date(first)?, date(next - 1)?),
                PrimitiveType::Timestamp | PrimitiveType::Timestamptz => no_nulls(Literal::Timestamp(first), Literal::Timestamp(next - 1)),
                _ => None,
            }
        }
        Transform::Void | Transform::Unknown => None,
    }
}

fn date(micros: i64) -> Option<Literal> {
    i32::try_from(micros.div_euclid(DAY_MICROS)).ok().map(Literal::Date)
}

/// First microsecond of a partition, and the first after it. Old writers rounded times before 1970 towards zero, so that a
/// partition at or before 1970 may hold rows of the one before it.
fn time_span(transform: Transform, unit: i64) -> Option<(i64, i64)> {
    let first = if unit <= 0 { unit - 1 } else { unit };
    Some((start_of(transform, first)?, start_of(transform, unit + 1)?))
}

fn start_of(transform: Transform, unit: i64) -> Option<i64> {
    match transform {
        Transform::Year => month_start(unit.checked_mul(12)?),
        Transform::Month => month_start(unit),
        Transform::Day => unit.checked_mul(DAY_MICROS),
        _ => unit.checked_mul(HOUR_MICROS),
    }
}

fn month_start(months_since_1970: i64) -> Option<i64> {
    let year = i32::try_from(1970 + months_since_1970.div_euclid(12)).ok()?;
    let first = NaiveDate::from_ymd_opt(year, months_since_1970.rem_euclid(12) as u32 + 1, 1)?;
    let epoch = NaiveDate::from_ymd_opt(1970, 1, 1)?;
    i64::from(first.num_days_from_ce() - epoch.num_days_from_ce()).checked_mul(DAY_MICROS)
}

fn truncated(value: &PrimitiveLiteral, width: u32, column: &PrimitiveType) -> Option<Bounds> {
    let span = i64::from(width) - 1;
    let (lower, upper) = match literal_of(value, column)? {
        Literal::Int(from) => (Literal::Int(from), Some(Literal::Int(from.checked_add(span)?))),
        Literal::Decimal { unscaled, scale } => {
            (Literal::Decimal { unscaled, scale }, Some(Literal::Decimal { unscaled: unscaled.checked_add(i128::from(span))?, scale }))
        }
        Literal::Text(prefix) => {
            let whole = prefix.chars().count() < width as usize;
            let upper = if whole { Some(prefix.clone()) } else { successor(&prefix) };
            (Literal::Text(prefix), upper.map(Literal::Text))
        }
        Literal::Bytes(prefix) => (Literal::Bytes(prefix), None),
        _ => return None,
    };
    Some(Bounds::between(Some(lower), upper, Nulls::None, false))
}

/// A text above everything that starts with `prefix`; none when the prefix is made of the last characters.
fn successor(prefix: &str) -> Option<String> {
    let mut chars: Vec<char> = prefix.chars().collect();
    while let Some(last) = chars.pop() {
        let next = if last == '\u{D7FF}' { Some('\u{E000}') } else { char::from_u32(last as u32 + 1) };
        if let Some(next) = next {
            chars.push(next);
            return Some(chars.into_iter().collect());
        }
    }
    None
}

/// The bucket of a literal, where literal and column are of one kind; unknown otherwise.
fn bucket_of(buckets: u32, literal: &Literal, column: &PrimitiveType) -> Option<i32> {
    let datum = match (literal, column) {
        (Literal::Int(value), PrimitiveType::Int | PrimitiveType::Long) => Datum::long(*value),
        (Literal::Date(value), PrimitiveType::Date) => Datum::date(*value),
        (Literal::Time(value), PrimitiveType::Time) => Datum::time_micros(*value).ok()?,
        (Literal::Timestamp(value), PrimitiveType::Timestamp) => Datum::timestamp_micros(*value),
        (Literal::Timestamp(value), PrimitiveType::Timestamptz) => Datum::timestamptz_micros(*value),
        (Literal::Text(value), PrimitiveType::String) => Datum::string(value),
        (Literal::Bytes(value), PrimitiveType::Binary | PrimitiveType::Fixed(_)) => Datum::binary(value.iter().copied()),
        _ => return None,
    };
    let bucket = create_transform_function(&Transform::Bucket(buckets)).ok()?.transform_literal(&datum).ok()??;
    match bucket.literal() {
        PrimitiveLiteral::Int(bucket) => Some(*bucket),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_and_years_span_their_days() {
        assert_eq!(time_span(Transform::Month, 1), Some((31 * DAY_MICROS, 59 * DAY_MICROS)));
        assert_eq!(time_span(Transform::Year, 2), Some((730 * DAY_MICROS, 1096 * DAY_MICROS)));
        assert_eq!(time_span(Transform::Hour, 5), Some((5 * HOUR_MICROS, 6 * HOUR_MICROS)));
    }

    #[test]
    fn partitions_before_1970_also_hold_what_old_writers_put_there() {
        assert_eq!(time_span(Transform::Day, 0), Some((-DAY_MICROS, DAY_MICROS)));
        assert_eq!(time_span(Transform::Month, -1), Some((-61 * DAY_MICROS, 0)));
    }

    #[test]
    fn the_text_after_a_prefix() {
        assert_eq!(successor("ab").as_deref(), Some("ac"));
        assert_eq!(successor("a\u{10FFFF}").as_deref(), Some("b"));
        assert_eq!(successor("\u{10FFFF}"), None);
    }

    #[test]
    fn buckets_only_of_like_kinds() {
        assert_eq!(bucket_of(16, &Literal::Int(34), &PrimitiveType::Long), bucket_of(16, &Literal::Int(34), &PrimitiveType::Int));
        assert_eq!(bucket_of(16, &Literal::Int(34), &PrimitiveType::Decimal { precision: 9, scale: 2 }), None);
        // 2017239379 is the hash that the specification gives for 34.
        assert_eq!(bucket_of(100, &Literal::Int(34), &PrimitiveType::Int), Some(2_017_239_379 % 100));
    }
}
