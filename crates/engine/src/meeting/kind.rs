// SPDX-License-Identifier: Apache-2.0
//! The categories of types, and the type that several of one category meet in.

use crate::pg_catalog::type_name;
use arrow::datatypes::DataType;
use datafusion::logical_expr::type_coercion::binary::type_union_coercion;

/// What is known of the type of a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Met {
    /// A text that is written out, or NULL: it takes the type of what it meets.
    Unknown,
    Known(DataType),
}

/// Types of one category can meet; those of two never do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Category {
    Truth,
    Number,
    Text,
    /// Dates and timestamps.
    Moment,
    Time,
    Span,
    Bytes,
    List,
    /// What only the query engine knows.
    Other,
}

impl Category {
    pub fn of(data_type: &DataType) -> Self {
        match data_type {
            DataType::Boolean => Self::Truth,
            DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Self::Text,
            DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => Self::Moment,
            DataType::Time32(_) | DataType::Time64(_) => Self::Time,
            DataType::Interval(_) | DataType::Duration(_) => Self::Span,
            DataType::Binary | DataType::LargeBinary | DataType::BinaryView | DataType::FixedSizeBinary(_) => Self::Bytes,
            DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) => Self::List,
            DataType::Dictionary(_, values) => Self::of(values),
            number if number.is_numeric() => Self::Number,
            _ => Self::Other,
        }
    }
}

/// Whether values of these types can be compared.
pub(super) fn comparable(left: &DataType, right: &DataType) -> bool {
    let (one, other) = (Category::of(left), Category::of(right));
    match (items(left), items(right)) {
        (Some(left), Some(right)) => left.is_null() || right.is_null() || comparable(left, right),
        // PostgreSQL takes a time of day for the interval since midnight.
        _ => {
            one == other
                || one == Category::Other
                || other == Category::Other
                || matches!((one, other), (Category::Time, Category::Span) | (Category::Span, Category::Time))
        }
    }
}

/// The type that all of these meet in, or the first two that do not; `None` where nothing is known, or the query engine decides.
pub(super) fn common(all: &[Met]) -> Result<Option<DataType>, (DataType, DataType)> {
    let known = all.iter().filter_map(|met| if let Met::Known(data_type) = met { Some(data_type) } else { None });
    let mut found: Option<DataType> = None;
    for data_type in known {
        found = match found {
            None => Some(data_type.clone()),
            Some(before) if before == *data_type => Some(before),
            Some(before) => Some(wider(&before, data_type)?),
        };
    }
    Ok(found)
}

fn wider(one: &DataType, other: &DataType) -> Result<DataType, (DataType, DataType)> {
    let unmatched = || (one.clone(), other.clone());
    let category = Category::of(one);
    if category == Category::List
        && let (Some(left), Some(right)) = (items(one), items(other))
    {
        return match (left.is_null(), right.is_null()) {
            (true, _) => Ok(other.clone()),
            (_, true) => Ok(one.clone()),
            _ if comparable(left, right) => type_union_coercion(one, other).ok_or_else(unmatched),
            _ => Err(unmatched()),
        };
    }
    if category != Category::of(other) {
        return Err(unmatched());
    }
    if category == Category::Moment {
        return Ok(if later(one) >= later(other) { one.clone() } else { other.clone() });
    }
    if one.is_floating() && decimal(other) || decimal(one) && other.is_floating() {
        return Ok(DataType::Float64);
    }
    type_union_coercion(one, other).ok_or_else(unmatched)
}

/// A date becomes a timestamp, and each of them an instant.
fn later(moment: &DataType) -> u8 {
    match moment {
        DataType::Timestamp(_, Some(_)) => 2,
        DataType::Timestamp(_, None) => 1,
        _ => 0,
    }
}

fn items(list: &DataType) -> Option<&DataType> {
    match list {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => Some(item.data_type()),
        _ => None,
    }
}

fn decimal(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) | DataType::Decimal256(..))
}

/// The type without its digits: `numeric`, `timestamp with time zone`.
pub(super) fn sql_name(data_type: &DataType) -> String {
    if data_type.is_null() {
        return "unknown".to_owned();
    }
    let name = type_name(data_type);
    match (name.find('('), name.find(')')) {
        (Some(open), Some(close)) if open < close => format!("{}{}", &name[..open], &name[close + 1..]),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::{Field, IntervalUnit, TimeUnit};
    use std::sync::Arc;

    fn types() -> Vec<DataType> {
        let micros = TimeUnit::Microsecond;
        let list = |item: DataType| DataType::List(Arc::new(Field::new("item", item, true)));
        vec![
            DataType::Boolean,
            DataType::Int32,
            DataType::Int64,
            DataType::UInt64,
            DataType::Decimal128(10, 2),
            DataType::Float32,
            DataType::Float64,
            DataType::Utf8,
            DataType::Date32,
            DataType::Timestamp(micros, None),
            DataType::Timestamp(micros, Some("UTC".into())),
            DataType::Time64(micros),
            DataType::Interval(IntervalUnit::MonthDayNano),
            DataType::Binary,
            list(DataType::Int32),
            list(DataType::Utf8),
        ]
    }

    /// Each pair of types that PostgreSQL lets meet, and in what; every other pair is refused.
    const MEET: [(&str, &str, &str); 17] = [
        ("integer", "bigint", "bigint"),
        ("integer", "numeric", "numeric"),
        ("integer", "real", "real"),
        ("integer", "double precision", "double precision"),
        ("bigint", "numeric", "numeric"),
        ("bigint", "real", "real"),
        ("bigint", "double precision", "double precision"),
        ("numeric", "numeric", "numeric"),
        ("numeric", "real", "double precision"),
        ("numeric", "double precision", "double precision"),
        ("real", "double precision", "double precision"),
        ("date", "timestamp without time zone", "timestamp without time zone"),
        ("date", "timestamp with time zone", "timestamp with time zone"),
        ("timestamp without time zone", "timestamp with time zone", "timestamp with time zone"),
        ("integer", "integer", "integer"),
        ("text", "text", "text"),
        ("bytea", "bytea", "bytea"),
    ];

    #[test]
    fn types_meet_as_in_postgres() {
        for one in types() {
            for other in types() {
                let (left, right) = (sql_name(&one), sql_name(&other));
                let expected = MEET.iter().find(|(a, b, _)| (*a, *b) == (left.as_str(), right.as_str()) || (*b, *a) == (left.as_str(), right.as_str()));
                // numeric stands for what is unsigned, too, which meets floating point numbers in their type.
                let unsigned = one == DataType::UInt64 || other == DataType::UInt64;
                let met = common(&[Met::Known(one.clone()), Met::Unknown, Met::Known(other.clone())]).ok().flatten();
                let told = met.as_ref().map(sql_name);
                match expected {
                    _ if one == other => assert_eq!(met, Some(one.clone())),
                    Some(_) if unsigned => assert!(told.is_some(), "{left} {right}"),
                    Some((_, _, expected)) => assert_eq!(told.as_deref(), Some(*expected), "{left} {right}"),
                    None => assert_eq!(told, None, "{left} {right}"),
                }
            }
        }
        assert_eq!(common(&[Met::Unknown, Met::Unknown]), Ok(None));
    }

    #[test]
    fn what_meets_can_be_compared() {
        for one in types() {
            for other in types() {
                let meets = common(&[Met::Known(one.clone()), Met::Known(other.clone())]).is_ok();
                let times = matches!((Category::of(&one), Category::of(&other)), (Category::Time, Category::Span) | (Category::Span, Category::Time));
                assert_eq!(comparable(&one, &other), meets || times, "{one} {other}");
            }
        }
    }
}
