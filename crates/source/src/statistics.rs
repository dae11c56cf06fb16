// SPDX-License-Identifier: Apache-2.0
//! What a source knows of the values in a table: how many, how different, how spread. For estimates alone; no answer is ever taken from it.

use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::{CastOptions, cast_with_options};
use arrow::datatypes::{DataType, Float64Type, TimeUnit};
use std::sync::Arc;
use weir_base::DAY_MICROS;

/// One table, as its source last counted it. What is not known is left out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableStatistics {
    /// Rows, those of partitions and of tables that inherit from it too.
    pub rows: Option<u64>,
    /// One for each column of the table, in its order.
    pub columns: Vec<ColumnStatistics>,
}

impl TableStatistics {
    /// Nothing known of so many columns.
    pub fn unknown(columns: usize) -> Self {
        Self { rows: None, columns: vec![ColumnStatistics::default(); columns] }
    }
}

/// One column.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColumnStatistics {
    /// Different values, NULL not counted.
    pub distinct: Option<u64>,
    /// The share of rows in which it is NULL, from 0 to 1.
    pub null_fraction: Option<f64>,
    /// The most frequent values, each with its share of all rows.
    pub common: Vec<(Value, f64)>,
    /// Places that cut the other values into parts of equally many rows, from the smallest to the largest. At least two, or none.
    pub quantiles: Vec<f64>,
    /// Whether an index of the source begins with it.
    pub indexed: bool,
    /// Whether such an index stands in our order: texts by their bytes.
    pub indexed_by_bytes: bool,
    /// Whether an index that begins with it finds texts by their first letters, if only by these.
    pub indexed_for_prefixes: bool,
}

/// A value as estimates see it: where it stands among the others, or what it says.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    Place(f64),
    Text(String),
}

impl Value {
    /// A value out of the text that a source prints for it; `None` for one that is not of the column's type.
    pub fn of_text(text: &str, data_type: &DataType) -> Option<Self> {
        if matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View) {
            return Some(Self::Text(text.to_owned()));
        }
        let text = match (data_type, text) {
            (DataType::Boolean, "t") => "true",
            (DataType::Boolean, "f") => "false",
            _ => text,
        };
        let parsed = cast_with_options(&(Arc::new(StringArray::from(vec![text])) as ArrayRef), data_type, &lenient()).ok()?;
        place(&parsed).map(Self::Place)
    }

    /// The first value of an array; `None` for NULL and for types that have no order of numbers.
    pub fn of_array(array: &ArrayRef) -> Option<Self> {
        if array.is_empty() || array.is_null(0) {
            return None;
        }
        match array.data_type() {
            DataType::Utf8 => Some(Self::Text(array.as_string::<i32>().value(0).to_owned())),
            DataType::LargeUtf8 => Some(Self::Text(array.as_string::<i64>().value(0).to_owned())),
            DataType::Utf8View => Some(Self::Text(array.as_string_view().value(0).to_owned())),
            _ => place(array).map(Self::Place),
        }
    }

    pub fn place(&self) -> Option<f64> {
        match self {
            Self::Place(place) => Some(*place),
            Self::Text(_) => None,
        }
    }
}

/// Places of texts that a source prints for values, sorted; empty unless there are two of them that can be read.
pub(crate) fn places(texts: &[String], data_type: &DataType) -> Vec<f64> {
    let read = texts.iter().map(|text| Value::of_text(text, data_type)?.place()).collect::<Option<Vec<f64>>>();
    let mut places = read.unwrap_or_default();
    places.sort_by(f64::total_cmp);
    if places.len() < 2 || places.iter().any(|place| !place.is_finite()) { Vec::new() } else { places }
}

/// Numbers as they are; days and instants in microseconds, so that they can be compared with each other.
fn place(array: &ArrayRef) -> Option<f64> {
    let (whole, factor) = match array.data_type() {
        DataType::Date32 => (number(array, &DataType::Int32)?, DAY_MICROS as f64),
        DataType::Timestamp(_, zone) => (number(array, &DataType::Timestamp(TimeUnit::Microsecond, zone.clone()))?, 1.0),
        DataType::Time64(_) => (number(array, &DataType::Int64)?, 1.0),
        DataType::Boolean => (number(array, &DataType::Int8)?, 1.0),
        other if other.is_numeric() => (array.clone(), 1.0),
        _ => return None,
    };
    let whole = if matches!(whole.data_type(), DataType::Timestamp(..)) { number(&whole, &DataType::Int64)? } else { whole };
    let numbers = number(&whole, &DataType::Float64)?;
    let numbers = numbers.as_primitive::<Float64Type>();
    (!numbers.is_empty() && numbers.is_valid(0)).then(|| numbers.value(0) * factor)
}

fn number(array: &ArrayRef, data_type: &DataType) -> Option<ArrayRef> {
    cast_with_options(array, data_type, &lenient()).ok()
}

/// What does not fit becomes NULL.
fn lenient() -> CastOptions<'static> {
    CastOptions { safe: true, ..CastOptions::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place_of(text: &str, data_type: DataType) -> Option<f64> {
        Value::of_text(text, &data_type)?.place()
    }

    #[test]
    fn values_of_one_line_can_be_compared() {
        assert_eq!(place_of("12.50", DataType::Decimal128(12, 2)), Some(12.5));
        assert_eq!(place_of("-7", DataType::Int64), Some(-7.0));
        assert_eq!(place_of("18446744073709551615", DataType::UInt64), Some(18_446_744_073_709_551_615.0));
        assert_eq!(place_of("1970-01-02", DataType::Date32), Some(DAY_MICROS as f64));
        let utc = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
        assert_eq!(place_of("1970-01-02 00:00:00+00", utc), Some(DAY_MICROS as f64));
        assert_eq!(place_of("1970-01-02 00:00:00.5", DataType::Timestamp(TimeUnit::Microsecond, None)), Some(DAY_MICROS as f64 + 500_000.0));
        assert_eq!(place_of("t", DataType::Boolean), Some(1.0));
        assert_eq!(Value::of_text("t", &DataType::Utf8), Some(Value::Text("t".to_owned())));
    }

    #[test]
    fn what_cannot_be_read_is_unknown() {
        assert_eq!(place_of("0000-00-00", DataType::Date32), None);
        assert_eq!(place_of("many", DataType::Int32), None);
        let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        assert_eq!(places(&texts(&["3", "1", "2"]), &DataType::Int32), [1.0, 2.0, 3.0]);
        assert!(places(&texts(&["1", "x"]), &DataType::Int32).is_empty());
        assert!(places(&texts(&["1"]), &DataType::Int32).is_empty());
        assert!(places(&texts(&["NaN", "1"]), &DataType::Float64).is_empty());
    }
}
