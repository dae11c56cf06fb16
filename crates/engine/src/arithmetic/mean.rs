// SPDX-License-Identifier: Apache-2.0
//! `avg` of whole numbers and decimals as a decimal with digits enough; everything else as the query engine does it.

use super::distinct::{self, Distinct};
use super::sum_out_of_range;
use super::totals::wide_total;
use crate::errors::carry;
use crate::functions::{QUOTIENT_SCALE, rounded_quotient};
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, Decimal128Array, UInt64Array};
use arrow::compute::nullif;
use arrow::datatypes::{DECIMAL128_MAX_PRECISION, DataType, Decimal128Type, Field, FieldRef, UInt64Type};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::functions_aggregate::average::Avg;
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl, EmitTo, GroupsAccumulator, ReversedUDAF, Signature, Volatility};
use std::sync::Arc;
use weir_base::{Error, ErrorCode};

#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct ExactMean {
    inner: Avg,
    signature: Signature,
    aliases: Vec<String>,
}

impl ExactMean {
    pub fn new() -> Self {
        Self { inner: Avg::new(), signature: Signature::user_defined(Volatility::Immutable), aliases: vec!["mean".into()] }
    }
}

fn sum_type(scale: i8) -> DataType {
    DataType::Decimal128(DECIMAL128_MAX_PRECISION, scale)
}

/// The scale of the inputs, if they are decimals (whole numbers have become ones).
fn decimal_scale(arguments: &AccumulatorArgs<'_>) -> Option<i8> {
    match arguments.expr_fields.first()?.data_type() {
        DataType::Decimal128(_, scale) => Some(*scale),
        _ => None,
    }
}

impl AggregateUDFImpl for ExactMean {
    fn name(&self) -> &str {
        "avg"
    }

    /// All names of the one that it replaces.
    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        let [argument] = arguments else {
            let error = Error::new(ErrorCode::UnknownFunction, "avg takes one argument");
            return Err(carry(error.with_hint("write avg(x)")));
        };
        Ok(vec![match argument {
            whole if whole.is_integer() => DataType::Decimal128(20, 0),
            DataType::Decimal32(precision, scale) | DataType::Decimal64(precision, scale) => DataType::Decimal128(*precision, *scale),
            DataType::Decimal128(..) | DataType::Decimal256(..) | DataType::Duration(_) | DataType::Float64 => argument.clone(),
            DataType::Float16 | DataType::Float32 | DataType::Null => DataType::Float64,
            _ => {
                let error = Error::new(ErrorCode::UnknownFunction, "avg has no meaning for this type");
                return Err(carry(
                    error.with_detail(format!("type {argument}")).with_hint("avg takes numbers and differences of timestamps; cast the argument"),
                ));
            }
        }])
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        match &arguments[0] {
            DataType::Decimal128(_, scale) => Ok(sum_type((*scale).max(QUOTIENT_SCALE))),
            _ => self.inner.return_type(arguments),
        }
    }

    fn accumulator(&self, arguments: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        match decimal_scale(&arguments) {
            None => self.inner.accumulator(arguments),
            Some(from) if arguments.is_distinct => Ok(Box::new(distinct_mean(from, arguments.return_field.data_type()))),
            Some(from) => Ok(Box::new(Mean { sum: 0, count: 0, from, output: arguments.return_field.data_type().clone() })),
        }
    }

    fn create_sliding_accumulator(&self, arguments: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        match decimal_scale(&arguments) {
            None => self.inner.create_sliding_accumulator(arguments),
            Some(_) => self.accumulator(arguments),
        }
    }

    fn state_fields(&self, arguments: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let DataType::Decimal128(_, scale) = arguments.input_fields[0].data_type() else { return self.inner.state_fields(arguments) };
        if arguments.is_distinct {
            return Ok(vec![distinct::state_field(arguments.name, *scale)]);
        }
        let sum = Field::new(format_state_name(arguments.name, "sum"), sum_type(*scale), true);
        let count = Field::new(format_state_name(arguments.name, "count"), DataType::UInt64, true);
        Ok(vec![Arc::new(count), Arc::new(sum)])
    }

    fn groups_accumulator_supported(&self, arguments: AccumulatorArgs) -> bool {
        match decimal_scale(&arguments) {
            None => self.inner.groups_accumulator_supported(arguments),
            Some(_) => !arguments.is_distinct,
        }
    }

    fn create_groups_accumulator(&self, arguments: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        match decimal_scale(&arguments) {
            None => self.inner.create_groups_accumulator(arguments),
            Some(from) => Ok(Box::new(GroupMeans { sums: Vec::new(), counts: Vec::new(), from, output: arguments.return_field.data_type().clone() })),
        }
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }
}

fn distinct_mean(from: i8, output: &DataType) -> Distinct {
    let output = output.clone();
    Distinct::new(from, Box::new(move |sum, count| ScalarValue::try_from_array(&output_array(vec![mean(sum, count, from, &output)?], &output)?, 0)))
}

/// `sum / count` in the type of the result. Error: 22003.
pub(super) fn mean(sum: i128, count: u64, from: i8, output: &DataType) -> Result<Option<i128>> {
    let DataType::Decimal128(_, scale) = output else { return internal_err!("no mean of type {output}") };
    if count == 0 {
        return Ok(None);
    }
    rounded_quotient(sum, u32::try_from(scale - from).unwrap_or(0), i128::from(count)).map(Some)
}

pub(super) fn output_array(values: Vec<Option<i128>>, output: &DataType) -> Result<ArrayRef> {
    let DataType::Decimal128(precision, scale) = output else { return internal_err!("no mean of type {output}") };
    let array = Decimal128Array::from(values).with_precision_and_scale(*precision, *scale)?;
    array.validate_decimal_precision(*precision).map_err(|_| sum_out_of_range())?;
    Ok(Arc::new(array))
}

/// One mean; values can be taken out of it again, for windows that slide.
#[derive(Debug)]
struct Mean {
    sum: i128,
    count: u64,
    from: i8,
    output: DataType,
}

impl Accumulator for Mean {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.sum = self.sum.checked_add(wide_total(&values[0])?).ok_or_else(sum_out_of_range)?;
        self.count += (values[0].len() - values[0].null_count()) as u64;
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.sum = self.sum.checked_sub(wide_total(&values[0])?).ok_or_else(sum_out_of_range)?;
        self.count -= (values[0].len() - values[0].null_count()) as u64;
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.sum = self.sum.checked_add(wide_total(&states[1])?).ok_or_else(sum_out_of_range)?;
        self.count += states[0].as_primitive::<UInt64Type>().iter().flatten().sum::<u64>();
        Ok(())
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![ScalarValue::UInt64(Some(self.count)), ScalarValue::Decimal128(Some(self.sum), DECIMAL128_MAX_PRECISION, self.from)])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let value = mean(self.sum, self.count, self.from, &self.output)?;
        ScalarValue::try_from_array(&output_array(vec![value], &self.output)?, 0)
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}

/// A mean for each group.
struct GroupMeans {
    sums: Vec<i128>,
    counts: Vec<u64>,
    from: i8,
    output: DataType,
}

impl GroupMeans {
    fn grow(&mut self, groups: usize) {
        self.sums.resize(groups, 0);
        self.counts.resize(groups, 0);
    }

    fn add(&mut self, group: usize, sum: i128, count: u64) -> Result<()> {
        self.sums[group] = self.sums[group].checked_add(sum).ok_or_else(sum_out_of_range)?;
        self.counts[group] += count;
        Ok(())
    }

    fn take(&mut self, emit_to: EmitTo) -> (Vec<i128>, Vec<u64>) {
        (emit_to.take_needed(&mut self.sums), emit_to.take_needed(&mut self.counts))
    }
}

impl GroupsAccumulator for GroupMeans {
    fn update_batch(&mut self, values: &[ArrayRef], groups: &[usize], filter: Option<&BooleanArray>, group_count: usize) -> Result<()> {
        self.grow(group_count);
        let values = values[0].as_primitive::<Decimal128Type>();
        let passes = |row: usize| filter.is_none_or(|filter| filter.is_valid(row) && filter.value(row));
        for (row, group) in groups.iter().enumerate() {
            if values.is_valid(row) && passes(row) {
                self.add(*group, values.value(row), 1)?;
            }
        }
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], _: Option<&BooleanArray>, group_count: usize) -> Result<()> {
        self.grow(group_count);
        let (counts, sums) = (states[0].as_primitive::<UInt64Type>(), states[1].as_primitive::<Decimal128Type>());
        for (row, group) in groups.iter().enumerate() {
            if counts.is_valid(row) && sums.is_valid(row) {
                self.add(*group, sums.value(row), counts.value(row))?;
            }
        }
        Ok(())
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let (sums, counts) = self.take(emit_to);
        let means = sums.into_iter().zip(counts).map(|(sum, count)| mean(sum, count, self.from, &self.output));
        output_array(means.collect::<Result<_>>()?, &self.output)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let (sums, counts) = self.take(emit_to);
        let sums = Decimal128Array::from(sums).with_precision_and_scale(DECIMAL128_MAX_PRECISION, self.from)?;
        Ok(vec![Arc::new(UInt64Array::from(counts)), Arc::new(sums)])
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let values: ArrayRef = match filter {
            None => values[0].clone(),
            Some(filter) => {
                let left_out = BooleanArray::from_iter(filter.iter().map(|passes| Some(passes != Some(true))));
                nullif(&values[0], &left_out)?
            }
        };
        let counts = UInt64Array::from_iter_values((0..values.len()).map(|row| u64::from(values.is_valid(row))));
        let sums = values.as_primitive::<Decimal128Type>().clone().with_precision_and_scale(DECIMAL128_MAX_PRECISION, self.from)?;
        Ok(vec![Arc::new(counts), Arc::new(sums)])
    }

    fn supports_convert_to_state(&self) -> bool {
        true
    }

    fn size(&self) -> usize {
        self.sums.capacity() * size_of::<i128>() + self.counts.capacity() * size_of::<u64>()
    }
}
