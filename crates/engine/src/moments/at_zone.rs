// SPDX-License-Identifier: Apache-2.0
//! `x AT TIME ZONE 'z'`, which PostgreSQL also spells `timezone('z', x)`: a clock in a zone becomes an instant, and the reverse.

use super::convert::{Failed, in_unit, micros_or_days};
use super::read::abbreviation;
use super::zone::{Zone, out_of_range};
use arrow::array::{Array, ArrayRef, AsArray, Int64Array};
use arrow::datatypes::{DataType, TimeUnit};
use datafusion::common::{Result as PlanResult, ScalarValue, plan_err};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility};
use weir_base::{Error, ErrorCode, Result};

/// The function's name.
pub(crate) const TIMEZONE: &str = "timezone";

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct AtZone {
    signature: Signature,
}

impl AtZone {
    pub fn new() -> Self {
        Self { signature: Signature::user_defined(Volatility::Immutable) }
    }
}

/// A zone in which instants are read, or an abbreviation, which is a fixed offset.
enum Place {
    Zone(Zone),
    Fixed(i64),
}

impl Place {
    fn named(name: &str) -> Result<Self> {
        if let Some(seconds) = abbreviation(name) {
            return Ok(Self::Fixed(seconds * 1_000_000));
        }
        if name.starts_with(['+', '-']) || name.starts_with(|first: char| first.is_ascii_digit()) {
            let error = Error::new(ErrorCode::Unsupported, "AT TIME ZONE takes the name of a zone");
            return Err(error.with_hint("name a zone such as Asia/Kolkata: PostgreSQL reads the sign of an offset the other way round here"));
        }
        Zone::named(name).map(Self::Zone)
    }

    fn local(&self, instant: i64) -> Result<i64> {
        match self {
            Self::Zone(zone) => zone.local(instant),
            Self::Fixed(micros) => instant.checked_add(*micros).ok_or_else(out_of_range),
        }
    }

    fn instant(&self, local: i64) -> Result<i64> {
        match self {
            Self::Zone(zone) => zone.instant(local),
            Self::Fixed(micros) => local.checked_sub(*micros).ok_or_else(out_of_range),
        }
    }
}

fn array(arguments: &[ArrayRef]) -> Result<ArrayRef, Failed> {
    let (zones, moments) = (arguments[0].as_string::<i32>(), &arguments[1]);
    let zoned = matches!(moments.data_type(), DataType::Timestamp(_, Some(_)));
    let micros = micros_or_days(moments)?;
    let one = |(zone, at): (Option<&str>, Option<i64>)| {
        let Some((zone, at)) = zone.zip(at) else { return Ok(None) };
        let place = Place::named(zone)?;
        if zoned { place.local(at).map(Some) } else { place.instant(at).map(Some) }
    };
    let turned: Int64Array = zones.iter().zip(micros.iter()).map(one).collect::<Result<_>>()?;
    in_unit(turned, &other_kind(moments.data_type()))
}

/// An instant for a clock, a clock for an instant.
fn other_kind(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Timestamp(_, Some(_)) => DataType::Timestamp(TimeUnit::Microsecond, None),
        _ => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
    }
}

impl ScalarUDFImpl for AtZone {
    fn name(&self) -> &str {
        TIMEZONE
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Texts and dates are instants in the session's zone, as in PostgreSQL.
    fn coerce_types(&self, arguments: &[DataType]) -> PlanResult<Vec<DataType>> {
        let [zone, moment] = arguments else { return plan_err!("{TIMEZONE} takes a zone and a timestamp") };
        let text = |data_type: &DataType| matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null);
        let moment = match moment {
            DataType::Timestamp(_, zone) => DataType::Timestamp(TimeUnit::Microsecond, zone.clone()),
            DataType::Date32 => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            other if text(other) => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            other => return plan_err!("no function matches {TIMEZONE} of {other}"),
        };
        if !text(zone) {
            return plan_err!("no function matches {TIMEZONE} with a zone that is a {zone}");
        }
        Ok(vec![DataType::Utf8, moment])
    }

    fn return_type(&self, arguments: &[DataType]) -> PlanResult<DataType> {
        Ok(other_kind(&arguments[1]))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> PlanResult<ColumnarValue> {
        let scalar = arguments.args.iter().all(|argument| matches!(argument, ColumnarValue::Scalar(_)));
        let arrays = ColumnarValue::values_to_arrays(&arguments.args)?;
        let turned = array(&arrays).map_err(Failed::into_plan)?;
        Ok(if scalar { ColumnarValue::Scalar(ScalarValue::try_from_array(&turned, 0)?) } else { ColumnarValue::Array(turned) })
    }
}
