// SPDX-License-Identifier: Apache-2.0
//! `to_char` of a date, timestamp or instant by one of PostgreSQL's patterns; an instant is shown in the session's zone.

use super::convert::{Failed, micros_or_days};
use super::pattern::Pattern;
use super::zone::Zone;
use arrow::array::{ArrayRef, StringArray};
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result as PlanResult, ScalarValue};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use std::sync::Arc;
use weir_base::Result;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ToChar {
    pattern: Pattern,
    zone: Arc<str>,
    signature: Signature,
}

impl ToChar {
    /// `moment` is a timestamp with or without a zone. Error: 0A000 for a pattern that is not understood.
    pub fn call(moment: Expr, pattern: &str, zone: &Arc<str>) -> Result<Expr> {
        let function = Self { pattern: Pattern::of(pattern)?, zone: zone.clone(), signature: Signature::any(1, Volatility::Immutable) };
        Ok(Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(ScalarUDF::from(function)), vec![moment])))
    }

    fn array(&self, values: &ArrayRef) -> Result<ArrayRef, Failed> {
        let zone = Zone::named(&self.zone)?;
        let instants = matches!(values.data_type(), DataType::Timestamp(_, Some(_)));
        let micros = micros_or_days(values)?;
        let print = |at: i64| match instants {
            true => self.pattern.print(zone.local(at)?, Some((at, zone))),
            false => self.pattern.print(at, None),
        };
        let texts: StringArray = micros.iter().map(|at| at.map(print).transpose()).collect::<Result<_>>()?;
        Ok(Arc::new(texts))
    }
}

impl ScalarUDFImpl for ToChar {
    fn name(&self) -> &str {
        "to_char"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> PlanResult<DataType> {
        Ok(DataType::Utf8)
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs) -> PlanResult<FieldRef> {
        let nullable = arguments.arg_fields.iter().any(|field| field.is_nullable());
        Ok(Arc::new(Field::new(self.name(), DataType::Utf8, nullable)))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> PlanResult<ColumnarValue> {
        match &arguments.args[0] {
            ColumnarValue::Scalar(value) => {
                let one = self.array(&value.to_array()?).map_err(Failed::into_plan)?;
                Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&one, 0)?))
            }
            ColumnarValue::Array(values) => Ok(ColumnarValue::Array(self.array(values).map_err(Failed::into_plan)?)),
        }
    }
}
