// SPDX-License-Identifier: Apache-2.0
//! The one value of a question: an aggregate that keeps it and knows whether there was another, and the function that makes an error of
//! that, 21000, for a row that asks for it.

use crate::errors::carry;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, StructArray, make_array};
use arrow::buffer::NullBuffer;
use arrow::datatypes::{DataType, Field, FieldRef, Fields};
use datafusion::common::{Result, ScalarValue, internal_datafusion_err, internal_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use std::sync::Arc;
use weir_base::{Error, ErrorCode};

const VALUE: &str = "value";
const SEVERAL: &str = "several";

/// `keep(value)`: the value, and whether there are several.
pub(super) fn keep(value: Expr) -> Expr {
    AggregateUDF::from(Keep { signature: Signature::any(1, Volatility::Immutable) }).call(vec![value])
}

/// `only(kept)`: the value. Volatile, so that it stays where it was asked for: below that, rows are looked at that nobody asks about.
pub(super) fn only(kept: Expr) -> Expr {
    let function = Only { signature: Signature::any(1, Volatility::Volatile) };
    Expr::ScalarFunction(ScalarFunction::new_udf(Arc::new(ScalarUDF::from(function)), vec![kept]))
}

/// The value's own field, with what is known of its kind.
fn kept_fields(value: &Field) -> Fields {
    Fields::from(vec![value.clone().with_name(VALUE).with_nullable(true), Field::new(SEVERAL, DataType::Boolean, true)])
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Keep {
    signature: Signature,
}

impl AggregateUDFImpl for Keep {
    fn name(&self) -> &str {
        "keep"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        Ok(DataType::Struct(kept_fields(&Field::new(VALUE, arguments[0].clone(), true))))
    }

    fn return_field(&self, arguments: &[FieldRef]) -> Result<FieldRef> {
        Ok(Arc::new(Field::new(self.name(), DataType::Struct(kept_fields(&arguments[0])), true)))
    }

    fn state_fields(&self, arguments: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let value = Field::new(format_state_name(arguments.name, VALUE), arguments.input_fields[0].data_type().clone(), true);
        let rows = Field::new(format_state_name(arguments.name, "rows"), DataType::UInt8, true);
        Ok(vec![Arc::new(value), Arc::new(rows)])
    }

    fn accumulator(&self, arguments: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let DataType::Struct(fields) = arguments.return_field.data_type() else { return internal_err!("nothing to keep a value in") };
        Ok(Box::new(Kept { value: ScalarValue::try_from(fields[0].data_type())?, rows: 0, fields: fields.clone() }))
    }
}

/// The first value, and how many rows there were: none, one, or two and more.
#[derive(Debug)]
struct Kept {
    value: ScalarValue,
    rows: u8,
    fields: Fields,
}

const SEVERAL_ROWS: u8 = 2;

impl Kept {
    fn add(&mut self, values: &ArrayRef, row: usize, rows: u8) -> Result<()> {
        if self.rows == 0 && rows > 0 {
            self.value = ScalarValue::try_from_array(values, row)?;
        }
        self.rows = self.rows.saturating_add(rows).min(SEVERAL_ROWS);
        Ok(())
    }
}

impl Accumulator for Kept {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let rows = values[0].len().min(SEVERAL_ROWS.into());
        if rows == 0 { Ok(()) } else { self.add(&values[0], 0, rows as u8) }
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let rows = states[1].as_primitive::<arrow::datatypes::UInt8Type>();
        (0..rows.len()).filter(|row| rows.is_valid(*row)).try_for_each(|row| self.add(&states[0], row, rows.value(row)))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.value.clone(), ScalarValue::UInt8(Some(self.rows))])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let several: ArrayRef = Arc::new(BooleanArray::from(vec![self.rows >= SEVERAL_ROWS]));
        let value = self.value.to_array()?;
        let nulls = (self.rows == 0).then(|| NullBuffer::new_null(1));
        let kept = StructArray::try_new(self.fields.clone(), vec![value, several], nulls)?;
        Ok(ScalarValue::Struct(Arc::new(kept)))
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.value.size()
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Only {
    signature: Signature,
}

impl ScalarUDFImpl for Only {
    fn name(&self) -> &str {
        "only"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        match &arguments[0] {
            DataType::Struct(fields) if fields.len() == 2 => Ok(fields[0].data_type().clone()),
            other => internal_err!("nothing kept in {other}"),
        }
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs) -> Result<FieldRef> {
        let DataType::Struct(fields) = arguments.arg_fields[0].data_type() else { return internal_err!("nothing kept") };
        Ok(Arc::new(fields[0].as_ref().clone().with_name(self.name())))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&arguments.args)?;
        let kept = arrays[0].as_struct_opt().ok_or_else(|| internal_datafusion_err!("nothing kept"))?;
        let several = kept.column(1).as_boolean();
        if (0..kept.len()).any(|row| kept.is_valid(row) && several.is_valid(row) && several.value(row)) {
            return Err(several_rows());
        }
        let value = kept.column(0);
        let nulls = NullBuffer::union(value.logical_nulls().as_ref(), kept.nulls());
        let data = value.to_data().into_builder().nulls(nulls).build()?;
        Ok(ColumnarValue::Array(make_array(data)))
    }
}

fn several_rows() -> datafusion::common::DataFusionError {
    let error = Error::new(ErrorCode::SeveralRows, "a subquery that stands for one value gives several rows");
    carry(error.with_hint("add LIMIT 1, or an aggregate"))
}
