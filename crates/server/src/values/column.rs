// SPDX-License-Identifier: Apache-2.0
//! An Arrow column made ready to be read value by value, with the many physical types brought down to a few meanings.

use crate::values::calendar::Interval;
use crate::values::kind::Kind;
use arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, AsArray, BinaryArray, BinaryViewArray, BooleanArray, FixedSizeBinaryArray, LargeBinaryArray, LargeStringArray,
    StringArray, StringViewArray, UInt64Array,
};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{
    DataType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DurationMicrosecondType, DurationMillisecondType,
    DurationNanosecondType, DurationSecondType, Field, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, IntervalDayTimeType,
    IntervalMonthDayNanoType, IntervalUnit, IntervalYearMonthType, Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimeUnit, TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type,
};
use std::ops::Range;
use weir_base::{Error, ErrorCode, Result};

/// Reads the value in a row. The row must not be null.
pub type Read<T> = Box<dyn Fn(usize) -> Result<T> + Send + Sync>;

/// A column with its nulls and its Postgres type.
pub struct Cells {
    pub kind: Kind,
    pub column: Column,
    name: String,
    nulls: Option<NullBuffer>,
}

/// What the values of a column mean.
pub enum Column {
    Null,
    Bool(BooleanArray),
    Int(Read<i64>),
    Unsigned(UInt64Array),
    Float32(Read<f32>),
    Float64(Read<f64>),
    Decimal {
        unscaled: Read<String>,
        scale: i8,
    },
    Text(Texts),
    Bytes(Blobs),
    /// Days since 1970-01-01.
    Date(Read<i64>),
    /// Microseconds since midnight.
    Time(Read<i64>),
    /// Microseconds since 1970-01-01; `utc` when it is an instant.
    Timestamp {
        micros: Read<i64>,
        utc: bool,
    },
    Interval(Read<Interval>),
    List {
        range: Read<Range<usize>>,
        items: Box<Cells>,
    },
    Struct(Vec<(String, Cells)>),
    Map {
        range: Read<Range<usize>>,
        keys: Box<Cells>,
        values: Box<Cells>,
    },
}

/// Text in any of its layouts.
pub enum Texts {
    Small(StringArray),
    Large(LargeStringArray),
    View(StringViewArray),
}

impl Texts {
    pub fn value(&self, row: usize) -> &str {
        match self {
            Self::Small(array) => array.value(row),
            Self::Large(array) => array.value(row),
            Self::View(array) => array.value(row),
        }
    }
}

/// Bytes in any of their layouts.
pub enum Blobs {
    Small(BinaryArray),
    Large(LargeBinaryArray),
    View(BinaryViewArray),
    Fixed(FixedSizeBinaryArray),
}

impl Blobs {
    pub fn value(&self, row: usize) -> &[u8] {
        match self {
            Self::Small(array) => array.value(row),
            Self::Large(array) => array.value(row),
            Self::View(array) => array.value(row),
            Self::Fixed(array) => array.value(row),
        }
    }
}

impl Cells {
    /// Prepares a column. Errors: 0A000 for a type that no door can show.
    pub fn new(field: &Field, array: &ArrayRef) -> Result<Self> {
        let name = field.name().clone();
        let prepare = || {
            let array = unpacked(array)?;
            Ok((Kind::of(field)?, array.logical_nulls(), column(&array)?))
        };
        let (kind, nulls, column) = prepare().map_err(|error| named(error, &name))?;
        Ok(Self { kind, column, name, nulls })
    }

    /// Adds the name of this column to an error about one of its values.
    pub fn named(&self, error: Error) -> Error {
        named(error, &self.name)
    }

    pub fn is_null(&self, row: usize) -> bool {
        self.nulls.as_ref().is_some_and(|nulls| nulls.is_null(row))
    }
}

fn named(error: Error, column: &str) -> Error {
    if error.detail().is_some() { error } else { error.with_detail(format!("column {column:?}")) }
}

/// Dictionaries and runs become plain columns.
fn unpacked(array: &ArrayRef) -> Result<ArrayRef> {
    let target = match array.data_type() {
        DataType::Dictionary(_, values) => values.as_ref().clone(),
        DataType::RunEndEncoded(_, values) => values.data_type().clone(),
        _ => return Ok(array.clone()),
    };
    let plain =
        arrow::compute::cast(array, &target).map_err(|error| Error::internal("a dictionary column could not be unpacked").with_detail(error.to_string()))?;
    unpacked(&plain)
}

fn read<T: ArrowPrimitiveType, V>(array: &ArrayRef, convert: impl Fn(T::Native) -> Result<V> + Send + Sync + 'static) -> Read<V> {
    let array = array.as_primitive::<T>().clone();
    Box::new(move |row| convert(array.value(row)))
}

fn int<T: ArrowPrimitiveType>(array: &ArrayRef) -> Column
where
    T::Native: Into<i64>,
{
    Column::Int(read::<T, _>(array, |value| Ok(value.into())))
}

fn decimal<T: ArrowPrimitiveType>(array: &ArrayRef, scale: i8) -> Column
where
    T::Native: ToString,
{
    Column::Decimal { unscaled: read::<T, _>(array, |value| Ok(value.to_string())), scale }
}

fn column(array: &ArrayRef) -> Result<Column> {
    Ok(match array.data_type() {
        DataType::Null => Column::Null,
        DataType::Boolean => Column::Bool(array.as_boolean().clone()),
        DataType::Int8 => int::<Int8Type>(array),
        DataType::Int16 => int::<Int16Type>(array),
        DataType::Int32 => int::<Int32Type>(array),
        DataType::Int64 => int::<Int64Type>(array),
        DataType::UInt8 => int::<UInt8Type>(array),
        DataType::UInt16 => int::<UInt16Type>(array),
        DataType::UInt32 => int::<UInt32Type>(array),
        DataType::UInt64 => Column::Unsigned(array.as_primitive().clone()),
        DataType::Float16 => Column::Float32(read::<Float16Type, _>(array, |value| Ok(value.to_f32()))),
        DataType::Float32 => Column::Float32(read::<Float32Type, _>(array, Ok)),
        DataType::Float64 => Column::Float64(read::<Float64Type, _>(array, Ok)),
        DataType::Decimal32(_, scale) => decimal::<Decimal32Type>(array, *scale),
        DataType::Decimal64(_, scale) => decimal::<Decimal64Type>(array, *scale),
        DataType::Decimal128(_, scale) => decimal::<Decimal128Type>(array, *scale),
        DataType::Decimal256(_, scale) => decimal::<Decimal256Type>(array, *scale),
        DataType::Utf8 => Column::Text(Texts::Small(array.as_string().clone())),
        DataType::LargeUtf8 => Column::Text(Texts::Large(array.as_string().clone())),
        DataType::Utf8View => Column::Text(Texts::View(array.as_string_view().clone())),
        DataType::Binary => Column::Bytes(Blobs::Small(array.as_binary().clone())),
        DataType::LargeBinary => Column::Bytes(Blobs::Large(array.as_binary().clone())),
        DataType::BinaryView => Column::Bytes(Blobs::View(array.as_binary_view().clone())),
        DataType::FixedSizeBinary(_) => Column::Bytes(Blobs::Fixed(array.as_fixed_size_binary().clone())),
        DataType::Date32 => Column::Date(read::<Date32Type, _>(array, |days| Ok(i64::from(days)))),
        DataType::Date64 => Column::Date(read::<Date64Type, _>(array, |ms| Ok(ms.div_euclid(86_400_000)))),
        DataType::Time32(_) | DataType::Time64(_) => Column::Time(time(array)?),
        DataType::Timestamp(unit, zone) => Column::Timestamp { micros: timestamp(array, *unit), utc: zone.is_some() },
        DataType::Duration(unit) => Column::Interval(duration(array, *unit)),
        DataType::Interval(unit) => Column::Interval(interval(array, *unit)),
        DataType::Struct(_) | DataType::Map(_, _) | DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(_, _) => nested(array)?,
        DataType::ListView(_) | DataType::LargeListView(_) => nested(array)?,
        other => return Err(Error::new(ErrorCode::Unsupported, "a column of this type cannot be shown").with_detail(other.to_string())),
    })
}

fn out_of_range() -> Error {
    Error::new(ErrorCode::ValueOutOfRange, "timestamp out of range")
}

fn scaled(factor: i64) -> impl Fn(i64) -> Result<i64> + Send + Sync + 'static {
    move |value| value.checked_mul(factor).ok_or_else(out_of_range)
}

/// Instants are microseconds everywhere in Weir; finer ones are cut to the microsecond they fall in.
fn timestamp(array: &ArrayRef, unit: TimeUnit) -> Read<i64> {
    match unit {
        TimeUnit::Second => read::<TimestampSecondType, _>(array, scaled(1_000_000)),
        TimeUnit::Millisecond => read::<TimestampMillisecondType, _>(array, scaled(1000)),
        TimeUnit::Microsecond => read::<TimestampMicrosecondType, _>(array, Ok),
        TimeUnit::Nanosecond => read::<TimestampNanosecondType, _>(array, |nanos| Ok(nanos.div_euclid(1000))),
    }
}

fn time(array: &ArrayRef) -> Result<Read<i64>> {
    Ok(match array.data_type() {
        DataType::Time32(TimeUnit::Second) => read::<Time32SecondType, _>(array, |value| Ok(i64::from(value) * 1_000_000)),
        DataType::Time32(TimeUnit::Millisecond) => read::<Time32MillisecondType, _>(array, |value| Ok(i64::from(value) * 1000)),
        DataType::Time64(TimeUnit::Microsecond) => read::<Time64MicrosecondType, _>(array, Ok),
        DataType::Time64(TimeUnit::Nanosecond) => read::<Time64NanosecondType, _>(array, |nanos| Ok(nanos.div_euclid(1000))),
        other => return Err(Error::internal("a time column with a unit that does not exist").with_detail(other.to_string())),
    })
}

const DAY_MICROS: i64 = 86_400_000_000;

fn duration(array: &ArrayRef, unit: TimeUnit) -> Read<Interval> {
    // A difference of two instants is shown in days and time, as PostgreSQL does it.
    let of_micros = |micros: i64| Interval { months: 0, days: (micros / DAY_MICROS) as i32, micros: micros % DAY_MICROS };
    match unit {
        TimeUnit::Second => read::<DurationSecondType, _>(array, move |value| scaled(1_000_000)(value).map(of_micros)),
        TimeUnit::Millisecond => read::<DurationMillisecondType, _>(array, move |value| scaled(1000)(value).map(of_micros)),
        TimeUnit::Microsecond => read::<DurationMicrosecondType, _>(array, move |value| Ok(of_micros(value))),
        TimeUnit::Nanosecond => read::<DurationNanosecondType, _>(array, move |value| Ok(of_micros(value / 1000))),
    }
}

fn interval(array: &ArrayRef, unit: IntervalUnit) -> Read<Interval> {
    match unit {
        IntervalUnit::YearMonth => read::<IntervalYearMonthType, _>(array, |months| Ok(Interval { months, days: 0, micros: 0 })),
        IntervalUnit::DayTime => {
            read::<IntervalDayTimeType, _>(array, |value| Ok(Interval { months: 0, days: value.days, micros: i64::from(value.milliseconds) * 1000 }))
        }
        IntervalUnit::MonthDayNano => {
            read::<IntervalMonthDayNanoType, _>(array, |value| Ok(Interval { months: value.months, days: value.days, micros: value.nanoseconds / 1000 }))
        }
    }
}

fn list(item: &Field, values: &ArrayRef, range: Read<Range<usize>>) -> Result<Column> {
    Ok(Column::List { range, items: Box::new(Cells::new(item, values)?) })
}

fn nested(array: &ArrayRef) -> Result<Column> {
    match array.data_type() {
        DataType::List(item) => {
            let list_array = array.as_list::<i32>();
            let offsets = list_array.offsets().clone();
            list(item, list_array.values(), Box::new(move |row| Ok(offsets[row] as usize..offsets[row + 1] as usize)))
        }
        DataType::LargeList(item) => {
            let list_array = array.as_list::<i64>();
            let offsets = list_array.offsets().clone();
            list(item, list_array.values(), Box::new(move |row| Ok(offsets[row] as usize..offsets[row + 1] as usize)))
        }
        DataType::FixedSizeList(item, _) => {
            let list_array = array.as_fixed_size_list().clone();
            let values = list_array.values().clone();
            let length = list_array.value_length() as usize;
            list(item, &values, Box::new(move |row| Ok(list_array.value_offset(row) as usize..list_array.value_offset(row) as usize + length)))
        }
        DataType::Struct(fields) => {
            let parts = fields.iter().zip(array.as_struct().columns()).map(|(field, part)| Ok((field.name().clone(), Cells::new(field, part)?)));
            Ok(Column::Struct(parts.collect::<Result<_>>()?))
        }
        DataType::Map(entries, _) => map(array, entries),
        DataType::ListView(item) => nested(&cast_list(array, DataType::List(item.clone()))?),
        DataType::LargeListView(item) => nested(&cast_list(array, DataType::LargeList(item.clone()))?),
        other => Err(Error::internal("not a nested column").with_detail(other.to_string())),
    }
}

fn cast_list(array: &ArrayRef, target: DataType) -> Result<ArrayRef> {
    arrow::compute::cast(array, &target).map_err(|error| Error::new(ErrorCode::Unsupported, "a list column cannot be shown").with_detail(error.to_string()))
}

fn map(array: &ArrayRef, entries: &Field) -> Result<Column> {
    let map_array = array.as_map();
    let offsets = map_array.offsets().clone();
    let DataType::Struct(fields) = entries.data_type() else { return Err(Error::internal("a map column without entries")) };
    let [key, value] = fields.iter().map(AsRef::as_ref).collect::<Vec<&Field>>()[..] else {
        return Err(Error::internal("a map column without keys and values"));
    };
    Ok(Column::Map {
        range: Box::new(move |row| Ok(offsets[row] as usize..offsets[row + 1] as usize)),
        keys: Box::new(Cells::new(key, map_array.keys())?),
        values: Box::new(Cells::new(value, map_array.values())?),
    })
}
