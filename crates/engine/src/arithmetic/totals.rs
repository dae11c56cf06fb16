// SPDX-License-Identifier: Apache-2.0
//! Totals in 128 bits, one per group, and their way back into the type of the result.

use super::sum_out_of_range;
use arrow::array::{Array, ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray, Decimal128Array, Int64Array, PrimitiveArray};
use arrow::buffer::NullBuffer;
use arrow::compute::{cast, nullif};
use arrow::datatypes::{DECIMAL128_MAX_PRECISION, DataType, Decimal128Type, Int32Type, Int64Type, UInt64Type};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::{EmitTo, GroupsAccumulator};
use datafusion::physical_expr::NullState;
use std::sync::Arc;

/// Partial totals keep all digits, so that only the final one can be out of range.
pub(super) fn state_type(output: &DataType) -> DataType {
    match output {
        DataType::Decimal128(_, scale) => DataType::Decimal128(DECIMAL128_MAX_PRECISION, *scale),
        _ => DataType::Decimal128(DECIMAL128_MAX_PRECISION, 0),
    }
}

/// The sum of a batch. Error: beyond 128 bits.
pub(super) fn wide_total(values: &dyn Array) -> Result<i128> {
    match values.data_type() {
        DataType::Int32 => total_of(values.as_primitive::<Int32Type>()),
        DataType::Int64 => total_of(values.as_primitive::<Int64Type>()),
        DataType::UInt64 => total_of(values.as_primitive::<UInt64Type>()),
        DataType::Decimal128(_, _) => total_of(values.as_primitive::<Decimal128Type>()),
        other => internal_err!("no wide sum of {other}"),
    }
}

fn total_of<T: ArrowPrimitiveType>(values: &PrimitiveArray<T>) -> Result<i128>
where
    i128: From<T::Native>,
{
    let add = |total: i128, value: T::Native| total.checked_add(i128::from(value));
    let total = match values.null_count() {
        0 => values.values().iter().try_fold(0, |total, value| add(total, *value)),
        _ => values.iter().flatten().try_fold(0, add),
    };
    total.ok_or_else(sum_out_of_range)
}

/// A total as a value of a type. Error: 22003 when the type cannot hold it.
pub(super) fn output_scalar(total: Option<i128>, output: &DataType) -> Result<ScalarValue> {
    let array = output_array(vec![total.unwrap_or(0)], total.is_none().then(|| NullBuffer::new_null(1)), output)?;
    ScalarValue::try_from_array(&array, 0)
}

/// Totals as an array of a type. Error: 22003 when the type cannot hold one of them.
fn output_array(totals: Vec<i128>, nulls: Option<NullBuffer>, output: &DataType) -> Result<ArrayRef> {
    Ok(match output {
        DataType::Int64 => {
            let values: Result<Vec<i64>, _> = totals.into_iter().map(i64::try_from).collect();
            Arc::new(Int64Array::new(values.map_err(|_| sum_out_of_range())?.into(), nulls))
        }
        DataType::Decimal128(precision, scale) => {
            let array = Decimal128Array::new(totals.into(), nulls).with_precision_and_scale(*precision, *scale)?;
            array.validate_decimal_precision(*precision).map_err(|_| sum_out_of_range())?;
            Arc::new(array)
        }
        other => return internal_err!("no wide sum of {other}"),
    })
}

/// A total for each group.
pub(super) struct GroupTotals {
    totals: Vec<i128>,
    seen: NullState,
    output: DataType,
}

impl GroupTotals {
    pub fn new(output: DataType) -> Self {
        Self { totals: Vec::new(), seen: NullState::new(), output }
    }

    fn add<T: ArrowPrimitiveType + Send>(
        &mut self,
        values: &PrimitiveArray<T>,
        groups: &[usize],
        filter: Option<&BooleanArray>,
        group_count: usize,
    ) -> Result<()>
    where
        i128: From<T::Native>,
    {
        let totals = &mut self.totals;
        let mut overflown = false;
        self.seen.accumulate(groups, values, filter, group_count, |group, value| {
            let (total, over) = totals[group].overflowing_add(i128::from(value));
            totals[group] = total;
            overflown |= over;
        });
        if overflown { Err(sum_out_of_range()) } else { Ok(()) }
    }

    fn emit(&mut self, emit_to: EmitTo, data_type: &DataType) -> Result<ArrayRef> {
        let totals = emit_to.take_needed(&mut self.totals);
        output_array(totals, self.seen.build(emit_to), data_type)
    }
}

impl GroupsAccumulator for GroupTotals {
    fn update_batch(&mut self, values: &[ArrayRef], groups: &[usize], filter: Option<&BooleanArray>, group_count: usize) -> Result<()> {
        self.totals.resize(group_count, 0);
        let values = &values[0];
        match values.data_type() {
            DataType::Int32 => self.add(values.as_primitive::<Int32Type>(), groups, filter, group_count),
            DataType::Int64 => self.add(values.as_primitive::<Int64Type>(), groups, filter, group_count),
            DataType::UInt64 => self.add(values.as_primitive::<UInt64Type>(), groups, filter, group_count),
            DataType::Decimal128(_, _) => self.add(values.as_primitive::<Decimal128Type>(), groups, filter, group_count),
            other => internal_err!("no wide sum of {other}"),
        }
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], filter: Option<&BooleanArray>, group_count: usize) -> Result<()> {
        self.update_batch(states, groups, filter, group_count)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let output = self.output.clone();
        self.emit(emit_to, &output)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let state = state_type(&self.output);
        Ok(vec![self.emit(emit_to, &state)?])
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let state = cast(&values[0], &state_type(&self.output))?;
        let Some(filter) = filter else { return Ok(vec![state]) };
        // What the filter does not let through (false or unknown) becomes NULL.
        let left_out = BooleanArray::from_iter(filter.iter().map(|passes| Some(passes != Some(true))));
        Ok(vec![nullif(&state, &left_out)?])
    }

    fn supports_convert_to_state(&self) -> bool {
        true
    }

    fn size(&self) -> usize {
        self.totals.capacity() * size_of::<i128>() + self.seen.size()
    }
}
