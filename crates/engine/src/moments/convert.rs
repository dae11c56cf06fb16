// SPDX-License-Identifier: Apache-2.0
//! Casts between texts, dates, times and timestamps as PostgreSQL does them in the session's zone.

use super::read::{DAY_MICROS, Wanted, read};
use super::show;
use super::zone::{Zone, out_of_range};
use crate::errors::carry;
use arrow::array::{Array, ArrayRef, AsArray, Int64Array, StringArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Field, FieldRef, Int32Type, Int64Type, TimeUnit};
use datafusion::common::Result as PlanResult;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use std::sync::Arc;
use weir_base::{Error, Result};

/// What a type is to this cast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Date,
    Clock,
    Local,
    Instant,
}

fn kind(data_type: &DataType) -> Option<Kind> {
    Some(match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Kind::Text,
        DataType::Date32 => Kind::Date,
        DataType::Time64(_) => Kind::Clock,
        DataType::Timestamp(_, None) => Kind::Local,
        DataType::Timestamp(_, Some(_)) => Kind::Instant,
        _ => return None,
    })
}

/// One cast. A value that does not fit is an error, or NULL where the cast only tries.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Convert {
    from: DataType,
    to: DataType,
    zone: Arc<str>,
    tries: bool,
    signature: Signature,
}

impl Convert {
    /// `None` for a cast that the query engine does with the same meaning.
    pub fn between(from: &DataType, to: &DataType, zone: &Arc<str>, tries: bool) -> Result<Option<Self>> {
        let utc = Zone::named(zone)?.utc();
        let ours = match (kind(from), kind(to)) {
            (Some(Kind::Text), Some(Kind::Text)) => false,
            (Some(Kind::Text), Some(_)) | (Some(_), Some(Kind::Text)) => true,
            // The query engine's own error would show the date.
            (Some(Kind::Date), Some(Kind::Local | Kind::Instant)) if unit_of(to) == Some(TimeUnit::Nanosecond) => true,
            (Some(Kind::Date | Kind::Local), Some(Kind::Instant)) | (Some(Kind::Instant), Some(Kind::Local | Kind::Date | Kind::Clock)) => !utc,
            _ => false,
        };
        let signature = Signature::any(1, Volatility::Immutable);
        Ok(ours.then(|| Self { from: from.clone(), to: to.clone(), zone: zone.clone(), tries, signature }))
    }

    pub fn call(self, argument: Expr) -> Expr {
        Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(ScalarUDF::from(self)), vec![argument]))
    }

    /// The value cast now. Errors: 22007, 22008, 0A000.
    pub fn value(&self, value: &ScalarValue) -> PlanResult<ScalarValue> {
        let array = self.array(&value.to_array()?)?;
        ScalarValue::try_from_array(&array, 0)
    }

    /// The cast that this stands for: the type it gives, and whether it only tries.
    pub fn target(&self) -> (&DataType, bool) {
        (&self.to, self.tries)
    }

    fn array(&self, values: &ArrayRef) -> PlanResult<ArrayRef> {
        let zone = Zone::named(&self.zone).map_err(carry)?;
        let converted = match (kind(&self.from), kind(&self.to)) {
            (Some(Kind::Text), Some(to)) => self.read_texts(values, to, zone),
            (Some(from), Some(Kind::Text)) => self.to_text(values, from, zone),
            (Some(from), Some(to)) => self.shift_numbers(values, from, to, zone),
            _ => Err(Error::internal("a cast that is not one of dates and times").into()),
        };
        converted.map_err(|failed| failed.into_plan())
    }

    fn read_texts(&self, values: &ArrayRef, to: Kind, zone: Zone) -> Result<ArrayRef, Failed> {
        let wanted = match to {
            Kind::Date => Wanted::Date,
            Kind::Clock => Wanted::Clock,
            Kind::Local => Wanted::Local,
            _ => Wanted::Instant,
        };
        let texts = cast(values, &DataType::Utf8)?;
        let read = texts.as_string::<i32>().iter().map(|text| text.map(|text| read(text, wanted, zone)).map_or(Ok(None), |read| self.kept(read)));
        self.finished(read.collect::<Result<Int64Array>>()?)
    }

    fn shift_numbers(&self, values: &ArrayRef, from: Kind, to: Kind, zone: Zone) -> Result<ArrayRef, Failed> {
        let numbers = micros_or_days(values)?;
        let convert = |number: i64| match (from, to) {
            (Kind::Date, Kind::Local) => number.checked_mul(DAY_MICROS).ok_or_else(out_of_range),
            (Kind::Date, _) => zone.instant(number.checked_mul(DAY_MICROS).ok_or_else(out_of_range)?),
            (Kind::Local, _) => zone.instant(number),
            (_, Kind::Date) => Ok(zone.local(number)?.div_euclid(DAY_MICROS)),
            (_, Kind::Clock) => Ok(zone.local(number)?.rem_euclid(DAY_MICROS)),
            _ => zone.local(number),
        };
        let converted = numbers.iter().map(|number| number.map(convert).map_or(Ok(None), |converted| self.kept(converted)));
        self.finished(converted.collect::<Result<Int64Array>>()?)
    }

    fn to_text(&self, values: &ArrayRef, from: Kind, zone: Zone) -> Result<ArrayRef, Failed> {
        let numbers = micros_or_days(values)?;
        let shown = |number: i64| match from {
            Kind::Date => show::date(number),
            Kind::Clock => Ok(show::clock(number)),
            Kind::Local => show::local(number),
            _ => show::instant(number, zone),
        };
        let texts = numbers.iter().map(|number| number.map(shown).map_or(Ok(None), |text| self.kept(text)));
        Ok(cast(&texts.collect::<Result<StringArray>>()?, &self.to)?)
    }

    fn kept<T>(&self, value: Result<T>) -> Result<Option<T>> {
        match value {
            Err(_) if self.tries => Ok(None),
            value => value.map(Some),
        }
    }

    /// Days, or microseconds, as the type that is asked for.
    fn finished(&self, numbers: Int64Array) -> Result<ArrayRef, Failed> {
        if self.to == DataType::Date32 {
            return Ok(cast(&cast(&numbers, &DataType::Int32)?, &DataType::Date32)?);
        }
        in_unit(numbers, &self.to)
    }
}

/// An error of ours or of Arrow.
pub(super) enum Failed {
    Ours(Error),
    Arrow(arrow::error::ArrowError),
}

impl Failed {
    pub fn into_plan(self) -> datafusion::common::DataFusionError {
        match self {
            Self::Ours(error) => carry(error),
            Self::Arrow(error) => error.into(),
        }
    }
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Ours(error)
    }
}

impl From<arrow::error::ArrowError> for Failed {
    fn from(error: arrow::error::ArrowError) -> Self {
        Self::Arrow(error)
    }
}

/// How many of a unit make a second.
fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

fn unit_of(data_type: &DataType) -> Option<TimeUnit> {
    match data_type {
        DataType::Timestamp(unit, _) | DataType::Time64(unit) => Some(*unit),
        _ => None,
    }
}

/// The values of a date as days, of everything else as microseconds.
pub(super) fn micros_or_days(values: &ArrayRef) -> Result<Int64Array, Failed> {
    let Some(unit) = unit_of(values.data_type()) else {
        let days = cast(values, &DataType::Int32)?;
        return Ok(days.as_primitive::<Int32Type>().iter().map(|day| day.map(i64::from)).collect());
    };
    let raw = cast(values, &DataType::Int64)?;
    let raw = raw.as_primitive::<Int64Type>();
    let per_second = per_second(unit);
    if per_second > 1_000_000 {
        return Ok(raw.unary(|value| value.div_euclid(per_second / 1_000_000)));
    }
    Ok(raw.try_unary(|value| value.checked_mul(1_000_000 / per_second).ok_or_else(out_of_range))?)
}

/// Microseconds in the unit of a type, rounded where that is coarser.
pub(super) fn in_unit(micros: Int64Array, to: &DataType) -> Result<ArrayRef, Failed> {
    let per_second = unit_of(to).map_or(1_000_000, per_second);
    let scaled: Int64Array = if per_second >= 1_000_000 {
        micros.try_unary(|value| value.checked_mul(per_second / 1_000_000).ok_or_else(out_of_range))?
    } else {
        let coarser = 1_000_000 / per_second;
        micros.try_unary(|value| value.checked_add(coarser / 2).map(|value| value.div_euclid(coarser)).ok_or_else(out_of_range))?
    };
    Ok(cast(&scaled, to)?)
}

impl ScalarUDFImpl for Convert {
    /// The word that PostgreSQL has for such a cast.
    fn name(&self) -> &str {
        match kind(&self.to) {
            Some(Kind::Date) => "date",
            Some(Kind::Clock) => "time",
            Some(Kind::Local) => "timestamp",
            Some(Kind::Instant) => "timestamptz",
            _ => "text",
        }
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> PlanResult<DataType> {
        Ok(self.to.clone())
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs) -> PlanResult<FieldRef> {
        let nullable = self.tries || arguments.arg_fields.iter().any(|field| field.is_nullable());
        Ok(Arc::new(Field::new(self.name(), self.to.clone(), nullable)))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> PlanResult<ColumnarValue> {
        match &arguments.args[0] {
            ColumnarValue::Scalar(value) => Ok(ColumnarValue::Scalar(self.value(value)?)),
            ColumnarValue::Array(values) => Ok(ColumnarValue::Array(self.array(values)?)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn converted(from: ScalarValue, to: DataType, zone: &str) -> ScalarValue {
        Convert::between(&from.data_type(), &to, &zone.into(), false).unwrap().unwrap().value(&from).unwrap()
    }

    #[test]
    fn units_and_zones() {
        let text = |text: &str| ScalarValue::Utf8(Some(text.into()));
        let nanos = DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()));
        assert_eq!(converted(text("1970-01-01 05:30:00.000001"), nanos, "Asia/Kolkata"), ScalarValue::TimestampNanosecond(Some(1000), Some("UTC".into())));
        let millis = DataType::Timestamp(TimeUnit::Millisecond, None);
        assert_eq!(converted(text("1970-01-01 00:00:00.0015"), millis, "UTC"), ScalarValue::TimestampMillisecond(Some(2), None));
        let noon = ScalarValue::TimestampMicrosecond(Some(19 * 3_600_000_000), Some("UTC".into()));
        assert_eq!(converted(noon.clone(), DataType::Date32, "Asia/Kolkata"), ScalarValue::Date32(Some(1)));
        assert_eq!(converted(noon, DataType::Utf8, "Asia/Kolkata"), text("1970-01-02 00:30:00+05:30"));
    }
}
