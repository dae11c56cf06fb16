// SPDX-License-Identifier: Apache-2.0
//! PostgreSQL's binary values into Arrow columns: one reader a column, chosen by the type on the wire and the type wanted.

use super::numeric::{self, Numeric};
use crate::ValuePolicy;
use arrow::array::{ArrayBuilder, ArrayRef, ArrowPrimitiveType, BinaryBuilder, BooleanBuilder, ListArray, NullBufferBuilder, PrimitiveBuilder, StringBuilder};
use arrow::buffer::OffsetBuffer;
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Decimal256Type, FieldRef, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type, IntervalMonthDayNano,
    IntervalMonthDayNanoType, IntervalUnit, Time64MicrosecondType, TimeUnit, TimestampMicrosecondType, i256,
};
use std::sync::Arc;
use tokio_postgres::types::{Kind, Type};
use weir_base::DAY_MICROS;

/// Days from 1970-01-01 to 2000-01-01, where PostgreSQL counts from.
const EPOCH_DAYS: i32 = 10_957;
const EPOCH_MICROS: i64 = EPOCH_DAYS as i64 * DAY_MICROS;

/// Infinities clamp to the last and first instant that both PostgreSQL knows and all of Weir can print:
/// 262142-12-31 23:59:59.999999 and 4714-11-24 BC 00:00:00.
pub const TIMESTAMP_CLAMP_MAX: i64 = (DATE_CLAMP_MAX as i64 + 1) * DAY_MICROS - 1;
pub const TIMESTAMP_CLAMP_MIN: i64 = DATE_CLAMP_MIN as i64 * DAY_MICROS;
pub const DATE_CLAMP_MAX: i32 = 95_026_236;
pub const DATE_CLAMP_MIN: i32 = -2_440_588;

/// Why a value cannot become what it is read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Misfit {
    /// The bytes are not what the protocol says; names the type.
    Wire(&'static str),
    TooLarge,
    /// More digits behind the point than the type keeps.
    TooFine,
    NaN,
    Infinity,
    /// Text that is not UTF-8.
    Encoding,
    /// An array with another number of dimensions than the column declares.
    Dimensions,
    /// An array whose subscripts do not begin with 1.
    LowerBound,
    /// `24:00:00`, which is no time of a day.
    Midnight,
}

impl Misfit {
    /// In words, for the detail of a 22003.
    pub fn words(self) -> &'static str {
        match self {
            Self::Wire(_) => "bytes that are not of the announced type",
            Self::TooLarge => "a value outside the range of the type it is read as",
            Self::TooFine => "a number with more decimal places than the type it is read as",
            Self::NaN => "NaN, which the type it is read as cannot hold",
            Self::Infinity => "an infinity, which the type it is read as cannot hold",
            Self::Encoding => "text that is not UTF-8",
            Self::Dimensions => "an array with another number of dimensions than its column declares",
            Self::LowerBound => "an array whose subscripts do not begin with 1",
            Self::Midnight => "the time 24:00:00, which is outside the range of a time of day",
        }
    }
}

/// What becomes of values that need a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policies {
    pub nan: ValuePolicy,
    pub infinity: ValuePolicy,
}

type Read<T> = Result<Option<T>, Misfit>;

/// Takes the values of one column, one after the other, and gives an Arrow array.
pub trait ColumnReader: Send {
    /// `None` is NULL; else the value's binary form. On an error the column must not be used further.
    fn append(&mut self, raw: Option<&[u8]>) -> Result<(), Misfit>;
    /// Everything so far as an array; the reader starts anew.
    fn finish(&mut self) -> Result<ArrayRef, Misfit>;
}

/// The reader for a column that arrives as `wire` and is wanted as `wanted`; `None` when that conversion is not exact.
pub fn reader(wire: &Type, wanted: &DataType, policies: Policies) -> Option<Box<dyn ColumnReader>> {
    if let Kind::Domain(base) = wire.kind() {
        return reader(base, wanted, policies);
    }
    match wanted {
        DataType::List(item) => list_reader(wire, item, policies),
        DataType::Boolean if *wire == Type::BOOL => Some(Box::new(BoolReader(BooleanBuilder::new()))),
        DataType::Utf8 if reads_as_text(wire) => Some(Box::new(TextReader(StringBuilder::new()))),
        DataType::Binary if *wire == Type::BYTEA => Some(Box::new(BytesReader(BinaryBuilder::new()))),
        DataType::Int16 | DataType::Int32 | DataType::Int64 => integer_reader(wire, wanted, policies),
        DataType::Float32 | DataType::Float64 => float_reader(wire, wanted, policies),
        DataType::Decimal128(..) | DataType::Decimal256(..) => decimal_reader(wire, wanted, policies),
        _ => moment_reader(wire, wanted, policies),
    }
}

/// `char(n)` is missing on purpose: its padding must be gone before it leaves the source (`::text`).
fn reads_as_text(wire: &Type) -> bool {
    let plain = [Type::TEXT, Type::VARCHAR, Type::NAME, Type::JSON, Type::UNKNOWN];
    plain.contains(wire) || wire.name() == "citext" || matches!(wire.kind(), Kind::Enum(_))
}

fn integer_reader(wire: &Type, wanted: &DataType, policies: Policies) -> Option<Box<dyn ColumnReader>> {
    let reader: Box<dyn ColumnReader> = match (wire, wanted) {
        (w, DataType::Int16) if *w == Type::INT2 => primitive::<Int16Type>(policies, wanted, |raw, _| read_i16(raw)),
        (w, DataType::Int32) if *w == Type::INT4 => primitive::<Int32Type>(policies, wanted, |raw, _| read_i32(raw)),
        (w, DataType::Int32) if *w == Type::INT2 => primitive::<Int32Type>(policies, wanted, |raw, _| Ok(read_i16(raw)?.map(i32::from))),
        (w, DataType::Int64) if *w == Type::INT8 => primitive::<Int64Type>(policies, wanted, |raw, _| read_i64(raw)),
        (w, DataType::Int64) if *w == Type::INT4 => primitive::<Int64Type>(policies, wanted, |raw, _| Ok(read_i32(raw)?.map(i64::from))),
        (w, DataType::Int64) if *w == Type::INT2 => primitive::<Int64Type>(policies, wanted, |raw, _| Ok(read_i16(raw)?.map(i64::from))),
        (w, DataType::Int64) if *w == Type::OID => {
            primitive::<Int64Type>(policies, wanted, |raw, _| Ok(Some(i64::from(u32::from_be_bytes(fixed(raw, "oid")?)))))
        }
        (w, DataType::Int64) if *w == Type::NUMERIC => primitive::<Int64Type>(policies, wanted, |raw, rules| {
            let Some(unscaled) = read_decimal128(raw, Rules { precision: 19, scale: 0, ..rules })? else { return Ok(None) };
            i64::try_from(unscaled).map(Some).map_err(|_| Misfit::TooLarge)
        }),
        _ => return None,
    };
    Some(reader)
}

fn float_reader(wire: &Type, wanted: &DataType, policies: Policies) -> Option<Box<dyn ColumnReader>> {
    let reader: Box<dyn ColumnReader> = match (wire, wanted) {
        (w, DataType::Float32) if *w == Type::FLOAT4 => primitive::<Float32Type>(policies, wanted, |raw, rules| {
            let value = f32::from_be_bytes(fixed(raw, "float4")?);
            let kept = settle_float(f64::from(value), f64::from(f32::MAX), rules.policies)?;
            Ok(kept.map(|value| value as f32))
        }),
        (w, DataType::Float64) if *w == Type::FLOAT4 => primitive::<Float64Type>(policies, wanted, |raw, rules| {
            settle_float(f64::from(f32::from_be_bytes(fixed(raw, "float4")?)), f64::from(f32::MAX), rules.policies)
        }),
        (w, DataType::Float64) if *w == Type::FLOAT8 => {
            primitive::<Float64Type>(policies, wanted, |raw, rules| settle_float(f64::from_be_bytes(fixed(raw, "float8")?), f64::MAX, rules.policies))
        }
        _ => return None,
    };
    Some(reader)
}

fn decimal_reader(wire: &Type, wanted: &DataType, policies: Policies) -> Option<Box<dyn ColumnReader>> {
    let numeric = *wire == Type::NUMERIC;
    let integer = [Type::INT2, Type::INT4, Type::INT8].contains(wire);
    let reader: Box<dyn ColumnReader> = match wanted {
        DataType::Decimal128(..) if numeric => primitive::<Decimal128Type>(policies, wanted, read_decimal128),
        DataType::Decimal256(..) if numeric => primitive::<Decimal256Type>(policies, wanted, read_decimal256),
        DataType::Decimal128(..) if integer => primitive::<Decimal128Type>(policies, wanted, read_integer_as_decimal),
        _ => return None,
    };
    Some(reader)
}

fn moment_reader(wire: &Type, wanted: &DataType, policies: Policies) -> Option<Box<dyn ColumnReader>> {
    let reader: Box<dyn ColumnReader> = match wanted {
        DataType::Date32 if *wire == Type::DATE => primitive::<Date32Type>(policies, wanted, read_date),
        DataType::Time64(TimeUnit::Microsecond) if *wire == Type::TIME => primitive::<Time64MicrosecondType>(policies, wanted, read_time),
        DataType::Timestamp(TimeUnit::Microsecond, None) if *wire == Type::TIMESTAMP => primitive::<TimestampMicrosecondType>(policies, wanted, read_timestamp),
        DataType::Timestamp(TimeUnit::Microsecond, Some(_)) if *wire == Type::TIMESTAMPTZ => {
            primitive::<TimestampMicrosecondType>(policies, wanted, read_timestamp)
        }
        DataType::Interval(IntervalUnit::MonthDayNano) if *wire == Type::INTERVAL => primitive::<IntervalMonthDayNanoType>(policies, wanted, read_interval),
        _ => return None,
    };
    Some(reader)
}

/// What a primitive's reading function may need to know.
#[derive(Debug, Clone, Copy)]
struct Rules {
    policies: Policies,
    precision: u8,
    scale: i8,
}

struct PrimitiveReader<T: ArrowPrimitiveType> {
    builder: PrimitiveBuilder<T>,
    rules: Rules,
    read: fn(&[u8], Rules) -> Read<T::Native>,
}

fn primitive<T: ArrowPrimitiveType>(policies: Policies, wanted: &DataType, read: fn(&[u8], Rules) -> Read<T::Native>) -> Box<PrimitiveReader<T>> {
    let (precision, scale) = match wanted {
        DataType::Decimal128(precision, scale) | DataType::Decimal256(precision, scale) => (*precision, *scale),
        _ => (0, 0),
    };
    let builder = PrimitiveBuilder::<T>::new().with_data_type(wanted.clone());
    Box::new(PrimitiveReader { builder, rules: Rules { policies, precision, scale }, read })
}

impl<T: ArrowPrimitiveType> ColumnReader for PrimitiveReader<T> {
    fn append(&mut self, raw: Option<&[u8]>) -> Result<(), Misfit> {
        match raw {
            None => self.builder.append_null(),
            Some(raw) => self.builder.append_option((self.read)(raw, self.rules)?),
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<ArrayRef, Misfit> {
        Ok(ArrayBuilder::finish(&mut self.builder))
    }
}

struct BoolReader(BooleanBuilder);

impl ColumnReader for BoolReader {
    fn append(&mut self, raw: Option<&[u8]>) -> Result<(), Misfit> {
        match raw {
            None => self.0.append_null(),
            Some([byte]) => self.0.append_value(*byte != 0),
            Some(_) => return Err(Misfit::Wire("bool")),
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<ArrayRef, Misfit> {
        Ok(Arc::new(self.0.finish()))
    }
}

struct TextReader(StringBuilder);

impl ColumnReader for TextReader {
    fn append(&mut self, raw: Option<&[u8]>) -> Result<(), Misfit> {
        match raw {
            None => self.0.append_null(),
            Some(raw) => self.0.append_value(std::str::from_utf8(raw).map_err(|_| Misfit::Encoding)?),
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<ArrayRef, Misfit> {
        Ok(Arc::new(self.0.finish()))
    }
}

struct BytesReader(BinaryBuilder);

impl ColumnReader for BytesReader {
    fn append(&mut self, raw: Option<&[u8]>) -> Result<(), Misfit> {
        self.0.append_option(raw);
        Ok(())
    }

    fn finish(&mut self) -> Result<ArrayRef, Misfit> {
        Ok(Arc::new(self.0.finish()))
    }
}

/// An array column of one or two dimensions: one `Level` a dimension around the reader of the elements.
struct ListReader {
    levels: Vec<Level>,
    elements: Box<dyn ColumnReader>,
}

struct Level {
    item: FieldRef,
    lengths: Vec<usize>,
    nulls: NullBufferBuilder,
}

impl Level {
    fn new(item: FieldRef) -> Self {
        Self { item, lengths: Vec::new(), nulls: NullBufferBuilder::new(0) }
    }

    fn push(&mut self, length: usize) {
        self.lengths.push(length);
        self.nulls.append_non_null();
    }
}

fn list_reader(wire: &Type, item: &FieldRef, policies: Policies) -> Option<Box<dyn ColumnReader>> {
    let Kind::Array(element) = wire.kind() else { return None };
    let (levels, wanted) = match item.data_type() {
        DataType::List(inner) => (vec![Level::new(item.clone()), Level::new(inner.clone())], inner.data_type()),
        flat => (vec![Level::new(item.clone())], flat),
    };
    if matches!(wanted, DataType::List(_)) {
        return None;
    }
    let elements = reader(element, wanted, policies)?;
    Some(Box::new(ListReader { levels, elements }))
}

impl ListReader {
    /// Lengths of each dimension; an empty array has no dimensions on the wire.
    fn dimensions(&self, input: &mut Input<'_>) -> Result<Vec<usize>, Misfit> {
        let count = input.i32()?;
        let _has_nulls = input.i32()?;
        let _element_oid = input.i32()?;
        if count == 0 {
            return Ok(Vec::new());
        }
        if usize::try_from(count) != Ok(self.levels.len()) {
            return Err(Misfit::Dimensions);
        }
        let mut lengths = Vec::with_capacity(self.levels.len());
        for _ in 0..count {
            lengths.push(usize::try_from(input.i32()?).map_err(|_| Misfit::Wire("array"))?);
            // A list has no place for where the subscripts begin; read without it, `a[1]` would be another element.
            if input.i32()? != 1 {
                return Err(Misfit::LowerBound);
            }
        }
        Ok(lengths)
    }
}

impl ColumnReader for ListReader {
    fn append(&mut self, raw: Option<&[u8]>) -> Result<(), Misfit> {
        let Some(raw) = raw else {
            self.levels[0].lengths.push(0);
            self.levels[0].nulls.append_null();
            return Ok(());
        };
        let mut input = Input(raw);
        let lengths = self.dimensions(&mut input)?;
        self.levels[0].push(lengths.first().copied().unwrap_or(0));
        if let [outer, inner] = lengths[..] {
            for _ in 0..outer {
                self.levels[1].push(inner);
            }
        }
        let total = if lengths.is_empty() {
            0
        } else {
            lengths.iter().try_fold(1_usize, |product, length| product.checked_mul(*length)).ok_or(Misfit::Wire("array"))?
        };
        for _ in 0..total {
            self.elements.append(input.value()?)?;
        }
        if input.0.is_empty() { Ok(()) } else { Err(Misfit::Wire("array")) }
    }

    fn finish(&mut self) -> Result<ArrayRef, Misfit> {
        let mut values = self.elements.finish()?;
        for level in self.levels.iter_mut().rev() {
            let lengths = std::mem::take(&mut level.lengths);
            let offsets = OffsetBuffer::from_lengths(lengths);
            let list = ListArray::try_new(level.item.clone(), offsets, values, level.nulls.finish()).map_err(|_| Misfit::Wire("array"))?;
            values = Arc::new(list);
        }
        Ok(values)
    }
}

/// Bytes still to be read.
pub struct Input<'a>(pub &'a [u8]);

impl<'a> Input<'a> {
    pub fn i32(&mut self) -> Result<i32, Misfit> {
        Ok(i32::from_be_bytes(fixed(self.take(4)?, "int4")?))
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Misfit> {
        let (head, rest) = self.0.split_at_checked(length).ok_or(Misfit::Wire("length"))?;
        self.0 = rest;
        Ok(head)
    }

    /// A value behind its length; -1 is NULL.
    pub fn value(&mut self) -> Result<Option<&'a [u8]>, Misfit> {
        match self.i32()? {
            -1 => Ok(None),
            length => usize::try_from(length).map_err(|_| Misfit::Wire("length")).and_then(|length| self.take(length)).map(Some),
        }
    }
}

fn fixed<const N: usize>(raw: &[u8], name: &'static str) -> Result<[u8; N], Misfit> {
    raw.try_into().map_err(|_| Misfit::Wire(name))
}

fn read_i16(raw: &[u8]) -> Read<i16> {
    Ok(Some(i16::from_be_bytes(fixed(raw, "int2")?)))
}

fn read_i32(raw: &[u8]) -> Read<i32> {
    Ok(Some(i32::from_be_bytes(fixed(raw, "int4")?)))
}

fn read_i64(raw: &[u8]) -> Read<i64> {
    Ok(Some(i64::from_be_bytes(fixed(raw, "int8")?)))
}

/// A float's NaN becomes the one positive NaN, so that it sorts above every number here as it does in PostgreSQL.
fn settle_float(value: f64, largest: f64, policies: Policies) -> Read<f64> {
    if value.is_nan() {
        return match policies.nan {
            ValuePolicy::Keep | ValuePolicy::Clamp => Ok(Some(f64::NAN)),
            ValuePolicy::Error => Err(Misfit::NaN),
            ValuePolicy::Null => Ok(None),
        };
    }
    if value.is_infinite() {
        return match policies.infinity {
            ValuePolicy::Keep => Ok(Some(value)),
            ValuePolicy::Error => Err(Misfit::Infinity),
            ValuePolicy::Null => Ok(None),
            ValuePolicy::Clamp => Ok(Some(largest.copysign(value))),
        };
    }
    Ok(Some(value))
}

/// An infinity of a type that has none: refused, NULL, or the nearest value.
fn settle_infinity<T>(policies: Policies, nearest: T) -> Read<T> {
    match policies.infinity {
        ValuePolicy::Keep | ValuePolicy::Error => Err(Misfit::Infinity),
        ValuePolicy::Null => Ok(None),
        ValuePolicy::Clamp => Ok(Some(nearest)),
    }
}

fn settle_nan<T>(policies: Policies) -> Read<T> {
    if policies.nan == ValuePolicy::Null { Ok(None) } else { Err(Misfit::NaN) }
}

fn read_decimal128(raw: &[u8], rules: Rules) -> Read<i128> {
    let most = || 10_i128.pow(u32::from(rules.precision)) - 1;
    match numeric::parse(raw)? {
        Numeric::Finite(digits) => digits.to_i128(rules.precision, rules.scale).map(Some),
        Numeric::NaN => settle_nan(rules.policies),
        Numeric::PlusInfinity => settle_infinity(rules.policies, most()),
        Numeric::MinusInfinity => settle_infinity(rules.policies, -most()),
    }
}

fn read_decimal256(raw: &[u8], rules: Rules) -> Read<i256> {
    let most = || i256::from_string(&"9".repeat(usize::from(rules.precision))).unwrap_or(i256::MAX);
    match numeric::parse(raw)? {
        Numeric::Finite(digits) => digits.to_i256(rules.precision, rules.scale).map(Some),
        Numeric::NaN => settle_nan(rules.policies),
        Numeric::PlusInfinity => settle_infinity(rules.policies, most()),
        Numeric::MinusInfinity => settle_infinity(rules.policies, -most()),
    }
}

fn read_integer_as_decimal(raw: &[u8], rules: Rules) -> Read<i128> {
    let value = match raw.len() {
        2 => read_i16(raw)?.map(i128::from),
        4 => read_i32(raw)?.map(i128::from),
        _ => read_i64(raw)?.map(i128::from),
    };
    let factor = 10_i128.pow(u32::from(rules.scale.max(0).unsigned_abs()));
    let Some(unscaled) = value.and_then(|value| value.checked_mul(factor)) else { return Err(Misfit::TooLarge) };
    if unscaled.unsigned_abs() >= 10_u128.pow(u32::from(rules.precision)) { Err(Misfit::TooLarge) } else { Ok(Some(unscaled)) }
}

fn read_date(raw: &[u8], rules: Rules) -> Read<i32> {
    match i32::from_be_bytes(fixed(raw, "date")?) {
        i32::MAX => settle_infinity(rules.policies, DATE_CLAMP_MAX),
        i32::MIN => settle_infinity(rules.policies, DATE_CLAMP_MIN),
        days => days.checked_add(EPOCH_DAYS).map(Some).ok_or(Misfit::TooLarge),
    }
}

fn read_time(raw: &[u8], _rules: Rules) -> Read<i64> {
    match i64::from_be_bytes(fixed(raw, "time")?) {
        micros if (0..DAY_MICROS).contains(&micros) => Ok(Some(micros)),
        DAY_MICROS => Err(Misfit::Midnight),
        _ => Err(Misfit::Wire("time")),
    }
}

fn read_timestamp(raw: &[u8], rules: Rules) -> Read<i64> {
    match i64::from_be_bytes(fixed(raw, "timestamp")?) {
        i64::MAX => settle_infinity(rules.policies, TIMESTAMP_CLAMP_MAX),
        i64::MIN => settle_infinity(rules.policies, TIMESTAMP_CLAMP_MIN),
        micros => micros.checked_add(EPOCH_MICROS).map(Some).ok_or(Misfit::TooLarge),
    }
}

fn read_interval(raw: &[u8], _rules: Rules) -> Read<IntervalMonthDayNano> {
    let raw: [u8; 16] = fixed(raw, "interval")?;
    let micros = i64::from_be_bytes(fixed(&raw[..8], "interval")?);
    let days = i32::from_be_bytes(fixed(&raw[8..12], "interval")?);
    let months = i32::from_be_bytes(fixed(&raw[12..], "interval")?);
    let nanoseconds = micros.checked_mul(1000).ok_or(Misfit::TooLarge)?;
    // PostgreSQL 17 writes an infinite interval as the extremes of all three parts; the multiplication has caught it.
    Ok(Some(IntervalMonthDayNano { months, days, nanoseconds }))
}
