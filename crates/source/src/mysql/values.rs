// SPDX-License-Identifier: Apache-2.0
//! Readers of single values, one for each kind of Arrow column. A value that does not fit exactly is an error, never a near one.

use super::decode::Trouble;
use super::wire::Reader;
use arrow::array::{ArrayRef, BinaryBuilder, BooleanBuilder, PrimitiveBuilder, StringBuilder, new_null_array};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Decimal128Type, Decimal256Type, DecimalType, Float32Type, Float64Type, Time64MicrosecondType,
    TimestampMicrosecondType, UInt64Type, i256,
};
use std::sync::Arc;
use weir_base::{CalendarDay, DAY_MICROS};

/// Reads the values of one column, row by row.
pub(super) trait ValueReader: Send {
    fn null(&mut self);

    /// Takes one value off the packet.
    fn read(&mut self, rest: &mut Reader<'_>) -> Result<(), Trouble>;

    /// The values so far; the next batch begins empty.
    fn finish(&mut self) -> ArrayRef;
}

/// A column of `SELECT NULL`.
pub(super) struct Nulls {
    data_type: DataType,
    rows: usize,
}

impl Nulls {
    pub(super) fn new(data_type: DataType) -> Self {
        Self { data_type, rows: 0 }
    }
}

impl ValueReader for Nulls {
    fn null(&mut self) {
        self.rows += 1;
    }

    fn read(&mut self, _rest: &mut Reader<'_>) -> Result<(), Trouble> {
        Err(Trouble::Value("a value where only NULL was promised"))
    }

    fn finish(&mut self) -> ArrayRef {
        new_null_array(&self.data_type, std::mem::take(&mut self.rows))
    }
}

/// Integers of 1, 2, 4 or 8 bytes.
pub(super) struct Integers<T: ArrowPrimitiveType> {
    width: u8,
    unsigned: bool,
    builder: PrimitiveBuilder<T>,
}

impl<T: ArrowPrimitiveType> Integers<T> {
    pub(super) fn new(width: u8, unsigned: bool) -> Self {
        Self { width, unsigned, builder: PrimitiveBuilder::new() }
    }
}

impl<T> ValueReader for Integers<T>
where
    T: ArrowPrimitiveType,
    T::Native: TryFrom<i64> + TryFrom<u64>,
{
    fn null(&mut self) {
        self.builder.append_null();
    }

    fn read(&mut self, rest: &mut Reader<'_>) -> Result<(), Trouble> {
        let value = match integer(rest, self.width, self.unsigned)? {
            Integer::Signed(value) => T::Native::try_from(value).ok(),
            Integer::Unsigned(value) => T::Native::try_from(value).ok(),
        };
        self.builder.append_value(value.ok_or(Trouble::Value("an integer is outside the column's range"))?);
        Ok(())
    }

    fn finish(&mut self) -> ArrayRef {
        Arc::new(self.builder.finish())
    }
}

enum Integer {
    Signed(i64),
    /// Only where an `i64` might be too small.
    Unsigned(u64),
}

#[inline]
fn integer(rest: &mut Reader<'_>, width: u8, unsigned: bool) -> Result<Integer, Trouble> {
    Ok(match (width, unsigned) {
        (1, false) => Integer::Signed(i64::from(i8::from_le_bytes(rest.array()?))),
        (1, true) => Integer::Signed(i64::from(u8::from_le_bytes(rest.array()?))),
        (2, false) => Integer::Signed(i64::from(i16::from_le_bytes(rest.array()?))),
        (2, true) => Integer::Signed(i64::from(u16::from_le_bytes(rest.array()?))),
        (4, false) => Integer::Signed(i64::from(i32::from_le_bytes(rest.array()?))),
        (4, true) => Integer::Signed(i64::from(u32::from_le_bytes(rest.array()?))),
        (_, false) => Integer::Signed(i64::from_le_bytes(rest.array()?)),
        (_, true) => Integer::Unsigned(u64::from_le_bytes(rest.array()?)),
    })
}

/// A truth value, which the servers know as an integer only.
pub(super) struct Booleans {
    width: u8,
    builder: BooleanBuilder,
}

impl Booleans {
    pub(super) fn new(width: u8) -> Self {
        Self { width, builder: BooleanBuilder::new() }
    }
}

impl ValueReader for Booleans {
    fn null(&mut self) {
        self.builder.append_null();
    }

    fn read(&mut self, rest: &mut Reader<'_>) -> Result<(), Trouble> {
        let bytes = rest.take(usize::from(self.width))?;
        self.builder.append_value(bytes.iter().any(|byte| *byte != 0));
        Ok(())
    }

    fn finish(&mut self) -> ArrayRef {
        Arc::new(self.builder.finish())
    }
}

/// `bit(n)`: up to 64 bits, the highest first.
#[derive(Default)]
pub(super) struct Bits {
    builder: PrimitiveBuilder<UInt64Type>,
}

impl ValueReader for Bits {
    fn null(&mut self) {
        self.builder.append_null();
    }

    fn read(&mut self, rest: &mut Reader<'_>) -> Result<(), Trouble> {
        let bytes = rest.sized()?;
        if bytes.len() > 8 {
            return Err(Trouble::Value("a bit string is longer than 64 bits"));
        }
        self.builder.append_value(bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte)));
        Ok(())
    }

    fn finish(&mut self) -> ArrayRef {
        Arc::new(self.builder.finish())
    }
}

/// `float` and `double`.
pub(super) struct Floats<T: ArrowPrimitiveType> {
    single: bool,
    builder: PrimitiveBuilder<T>,
}

impl<T: ArrowPrimitiveType> Floats<T> {
    /// `single` when four bytes come for each value.
    pub(super) fn new(single: bool) -> Self {
        Self { single, builder: PrimitiveBuilder::new() }
    }
}

impl ValueReader for Floats<Float32Type> {
    fn null(&mut self) {
        self.builder.append_null();
    }

    fn read(&mut self, rest: &mut Reader<'_>) -> Result<(), Trouble> {
        self.builder.append_value(f32::from_le_bytes(rest.array()?));
        Ok(())
    }

    fn finish(&mut self) -> ArrayRef {
        Arc::new(self.builder.finish())
    }
}

impl ValueReader for Floats<Float64Type> {
    fn null(&mut self) {
        self.builder.append_null();
    }

    fn read(&mut self, rest: &mut Reader<'_>) -> Result<(), Trouble> {
        let value = if self.single { f64::from(f32::from_le_bytes(rest.array()?)) } else { f64::from_le_bytes(rest.array()?) };
        self.builder.append_value(value);
        Ok(())
    }

    fn finish(&mut self) -> ArrayRef {
        Arc::new(self.builder.finish())
    }
}

/// Unscaled digits of a decimal, wide enough for the Arrow type.
pub(super) trait Unscaled: Copy {
    const ZERO: Self;
    /// `self * 10 + digit`, or `None` when that is too large.
    fn push(self, digit: u8) -> Option<Self>;
    fn negated(self) -> Self;
}

impl Unscaled for i128 {
    const ZERO: Self = 0;

    #[inline]
    fn push(self, digit: u8) -> Option<Self> {
        self.checked_mul(10)?.checked_add(i128::from(digit))
    }

    fn negated(self) -> Self {
        -self
    }
}

impl Unscaled for i256 {
    const ZERO: Self = i256::ZERO;

    fn push(self, digit: u8) -> Option<Self> {
        self.checked_mul(i256::from_i128(10))?.checked_add(i256::from_i128(i128::from(digit)))
    }

    fn negated(self) -> Self {
        self.wrapping_neg()
    }
}

/// Exact decimals, which come as digits, or as an integer from an expression.
pub(super) struct Decimals<T: DecimalType> {
    precision: u8,
    scale: i8,
    integer: Option<(u8, bool)>,
    builder: PrimitiveBuilder<T>,
}

impl Decimals<Decimal128Type> {
    pub(super) fn boxed(precision: u8, scale: i8, integer: Option<(u8, bool)>) -> Option<Box<dyn ValueReader>> {
        let builder = PrimitiveBuilder::new().with_precision_and_scale(precision, scale).ok()?;
        Some(Box::new(Self { precision, scale, integer, builder }))
    }
}

impl Decimals<Decimal256Type> {
    pub(super) fn boxed(precision: u8, scale: i8, integer: Option<(u8, bool)>) -> Option<Box<dyn ValueReader>> {
        let builder = PrimitiveBuilder::new().with_precision_and_scale(precision, scale).ok()?;
        Some(Box::new(Self { precision, scale, integer, builder }))
    }
}

impl<T> ValueReader for Decimals<T>
where
    T: DecimalType + ArrowPrimitiveType,
    T::Native: Unscaled,
{
    fn null(&mut self) {
        self.builder.append_null();
    }

    fn read(&mut self, rest: &mut Reader<'_>) -> Result<(), Trouble> {
        let value: Option<T::Native> = match self.integer {
            None => unscaled(rest.sized()?, self.precision, self.scale),
            Some((width, unsigned)) => {
                let text = match integer(rest, width, unsigned)? {
                    Integer::Signed(value) => value.to_string(),
                    Integer::Unsigned(value) => value.to_string(),
                };
                unscaled(text.as_bytes(), self.precision, self.scale)
            }
        };
        self.builder.append_value(value.ok_or(Trouble::Value("a number has more digits than the column's precision and scale"))?);
        Ok(())
    }

    fn finish(&mut self) -> ArrayRef {
        let fresh = PrimitiveBuilder::new().with_data_type(T::TYPE_CONSTRUCTOR(self.precision, self.scale));
        Arc::new(std::mem::replace(&mut self.builder, fresh).finish())
    }
}

/// The digits of `-12.50` at the wanted scale; `None` when they do not fit without loss.
fn unscaled<N: Unscaled>(text: &[u8], precision: u8, scale: i8) -> Option<N> {
    let (negative, digits) = match text.split_first()? {
        (b'-', rest) => (true, rest),
        (b'+', rest) => (false, rest),
        _ => (false, text),
    };
    let point = digits.iter().position(|byte| *byte == b'.').unwrap_or(digits.len());
    let (whole, fraction) = (&digits[..point], digits.get(point + 1..).unwrap_or_default());
    let scale = usize::try_from(scale).ok()?;
    let (kept, cut) = fraction.split_at(fraction.len().min(scale));
    if cut.iter().any(|byte| *byte != b'0') {
        return None;
    }
    let whole = &whole[whole.iter().take_while(|byte| **byte == b'0').count()..];
    if whole.len() + scale > usize::from(precision) {
        return None;
    }
    let mut value = N::ZERO;
    for byte in whole.iter().chain(kept) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value.push(digit)?;
    }
    for _ in kept.len()..scale {
        value = value.push(0)?;
    }
    Some(if negative { value.negated() } else { value })
}

/// Texts, which the server has converted to UTF-8.
#[derive(Default)]
pub(super) struct Texts {
    builder: StringBuilder,
}

impl ValueReader for Texts {
    fn null(&mut self) {
        self.builder.append_null();
    }

    fn read(&mut self, rest: &mut Reader<'_>) -> Result<(), Trouble> {
        let text = std::str::from_utf8(rest.sized()?).map_err(|_| Trouble::Value("a text is not valid UTF-8"))?;
        self.builder.append_value(text);
        Ok(())
    }

    fn finish(&mut self) -> ArrayRef {
        Arc::new(self.builder.finish())
    }
}

/// Bytes as they are.
#[derive(Default)]
pub(super) struct Binaries {
    builder: BinaryBuilder,
}

impl ValueReader for Binaries {
    fn null(&mut self) {
        self.builder.append_null();
    }

    fn read(&mut self, rest: &mut Reader<'_>) -> Result<(), Trouble> {
        self.builder.append_value(rest.sized()?);
        Ok(())
    }

    fn finish(&mut self) -> ArrayRef {
        Arc::new(self.builder.finish())
    }
}

/// Day and time of day as they come; `None` for a zero or partly zero date, which reads as NULL.
fn instant(rest: &mut Reader<'_>) -> Result<Option<(i32, i64)>, Trouble> {
    let length = rest.byte()?;
    let mut fields = Reader(rest.take(usize::from(length))?);
    if length == 0 {
        return Ok(None);
    }
    let (year, month, day) = (fields.u16()?, fields.byte()?, fields.byte()?);
    if month == 0 || day == 0 {
        return Ok(None);
    }
    let day = CalendarDay { year: i64::from(year), month: u32::from(month), day: u32::from(day) };
    let days = day.days().and_then(|days| i32::try_from(days).ok()).ok_or(Trouble::Value("a date has a day that its month does not have"))?;
    let micros = if length >= 7 { clock(&mut fields, length >= 11)? } else { 0 };
    Ok(Some((days, micros)))
}

fn clock(fields: &mut Reader<'_>, fraction: bool) -> Result<i64, Trouble> {
    let [hour, minute, second] = fields.array::<3>()?.map(i64::from);
    let micros = if fraction { i64::from(fields.u32()?) } else { 0 };
    Ok((hour * 3_600 + minute * 60 + second) * 1_000_000 + micros)
}

/// `date`.
#[derive(Default)]
pub(super) struct Dates {
    builder: PrimitiveBuilder<Date32Type>,
}

impl ValueReader for Dates {
    fn null(&mut self) {
        self.builder.append_null();
    }

    fn read(&mut self, rest: &mut Reader<'_>) -> Result<(), Trouble> {
        self.builder.append_option(instant(rest)?.map(|(days, _)| days));
        Ok(())
    }

    fn finish(&mut self) -> ArrayRef {
        Arc::new(self.builder.finish())
    }
}

/// `datetime` (no zone) and `timestamp` (UTC, since the session is).
pub(super) struct Timestamps {
    zone: Option<Arc<str>>,
    builder: PrimitiveBuilder<TimestampMicrosecondType>,
}

impl Timestamps {
    pub(super) fn new(zone: Option<Arc<str>>) -> Self {
        Self { zone, builder: PrimitiveBuilder::new() }
    }
}

impl ValueReader for Timestamps {
    fn null(&mut self) {
        self.builder.append_null();
    }

    fn read(&mut self, rest: &mut Reader<'_>) -> Result<(), Trouble> {
        self.builder.append_option(instant(rest)?.map(|(days, micros)| i64::from(days) * DAY_MICROS + micros));
        Ok(())
    }

    fn finish(&mut self) -> ArrayRef {
        Arc::new(self.builder.finish().with_timezone_opt(self.zone.clone()))
    }
}

/// `time`, of which only a time of day fits.
#[derive(Default)]
pub(super) struct Times {
    builder: PrimitiveBuilder<Time64MicrosecondType>,
}

impl ValueReader for Times {
    fn null(&mut self) {
        self.builder.append_null();
    }

    fn read(&mut self, rest: &mut Reader<'_>) -> Result<(), Trouble> {
        let length = rest.byte()?;
        let mut fields = Reader(rest.take(usize::from(length))?);
        if length == 0 {
            self.builder.append_value(0);
            return Ok(());
        }
        let (negative, days) = (fields.byte()? != 0, fields.u32()?);
        let micros = clock(&mut fields, length >= 12)?;
        if days > 0 || micros >= DAY_MICROS || (negative && micros > 0) {
            return Err(Trouble::Value("a time is outside the day, 00:00:00 to 23:59:59.999999"));
        }
        self.builder.append_value(micros);
        Ok(())
    }

    fn finish(&mut self) -> ArrayRef {
        Arc::new(self.builder.finish())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_keep_every_digit_or_fail() {
        assert_eq!(unscaled::<i128>(b"-12.50", 10, 2), Some(-1250));
        assert_eq!(unscaled::<i128>(b"007", 5, 2), Some(700));
        assert_eq!(unscaled::<i128>(b"0.500", 3, 1), Some(5));
        assert_eq!(unscaled::<i128>(b"0.55", 3, 1), None);
        assert_eq!(unscaled::<i128>(b"1000", 5, 2), None);
        assert_eq!(unscaled::<i128>(b"12x", 5, 2), None);
        let widest = "9".repeat(65);
        let read = unscaled::<i256>(widest.as_bytes(), 65, 0).map(|value| value.to_string());
        assert_eq!(read.as_deref(), Some(widest.as_str()));
    }

    #[test]
    fn partly_zero_dates_are_null_and_impossible_ones_fail() {
        let read = |bytes: &[u8]| instant(&mut Reader(bytes)).map_err(|_| ());
        assert_eq!(read(&[0]), Ok(None));
        assert_eq!(read(&[4, 0xE8, 0x07, 0, 0]), Ok(None));
        assert_eq!(read(&[4, 0xE8, 0x07, 2, 0]), Ok(None));
        assert_eq!(read(&[4, 0xE8, 0x07, 2, 29]), Ok(Some((19_782, 0))));
        assert_eq!(read(&[4, 0xE9, 0x07, 2, 29]), Err(()));
    }

    #[test]
    fn times_outside_the_day_fail() {
        let read = |bytes: &[u8]| Times::default().read(&mut Reader(bytes)).is_ok();
        assert!(read(&[0]));
        assert!(read(&[8, 0, 0, 0, 0, 0, 23, 59, 59]));
        assert!(!read(&[8, 0, 1, 0, 0, 0, 0, 0, 0]));
        assert!(!read(&[8, 1, 0, 0, 0, 0, 0, 0, 1]));
    }
}
