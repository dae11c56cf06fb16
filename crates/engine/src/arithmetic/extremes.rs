// SPDX-License-Identifier: Apache-2.0
//! `min` and `max` of floating point numbers in groups: NaN is the largest number, and the infinities are numbers too.
//! The query engine's own take the last NaN for both, and begin with the finite limits of the type. What they begin with stays behind
//! the NULL of a group without values; of days it is one that no timestamp has.

use super::sliding::SlidingExtreme;
use arrow::array::{ArrayRef, ArrowPrimitiveType, AsArray, BooleanArray, PrimitiveArray};
use arrow::compute::nullif;
use arrow::datatypes::{DataType, Date32Type, FieldRef, Float32Type, Float64Type};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::functions_aggregate::min_max::{max_udaf, min_udaf};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::AggregateOrderSensitivity;
use datafusion::logical_expr::{
    Accumulator, AggregateUDF, AggregateUDFImpl, EmitTo, GroupsAccumulator, ReversedUDAF, SetMonotonicity, Signature, StatisticsArgs,
};
use std::sync::Arc;

/// One of both; all but floating point numbers and days as the query engine does it.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Extreme {
    inner: AggregateUDF,
    largest: bool,
}

impl Extreme {
    pub fn min() -> Self {
        Self { inner: min_udaf().as_ref().clone(), largest: false }
    }

    pub fn max() -> Self {
        Self { inner: max_udaf().as_ref().clone(), largest: true }
    }

    fn inner(&self) -> &dyn AggregateUDFImpl {
        self.inner.inner().as_ref()
    }
}

impl AggregateUDFImpl for Extreme {
    fn name(&self) -> &str {
        self.inner().name()
    }

    fn signature(&self) -> &Signature {
        self.inner().signature()
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        self.inner().return_type(arguments)
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        self.inner().coerce_types(arguments)
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        self.inner().accumulator(args)
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        self.inner().state_fields(args)
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        self.inner().groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        match args.return_field.data_type() {
            DataType::Float32 => Ok(Box::new(Extremes::<Float32Type>::new(self.largest, f32::is_nan))),
            DataType::Float64 => Ok(Box::new(Extremes::<Float64Type>::new(self.largest, f64::is_nan))),
            DataType::Date32 => Ok(Box::new(Extremes::<Date32Type>::new(self.largest, |_| false))),
            _ => self.inner().create_groups_accumulator(args),
        }
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        Ok(Box::new(SlidingExtreme::new(self.largest, args.return_field.data_type().clone())))
    }

    fn is_descending(&self) -> Option<bool> {
        self.inner().is_descending()
    }

    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        self.inner().order_sensitivity()
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        self.inner().reverse_expr()
    }

    /// Statistics of files and tables leave NaN out.
    fn value_from_stats(&self, args: &StatisticsArgs) -> Option<ScalarValue> {
        if args.return_type.is_floating() { None } else { self.inner().value_from_stats(args) }
    }

    fn set_monotonicity(&self, data_type: &DataType) -> SetMonotonicity {
        self.inner().set_monotonicity(data_type)
    }
}

/// The extreme value of each group, or NULL where it has none.
struct Extremes<T: ArrowPrimitiveType> {
    values: Vec<Option<T::Native>>,
    largest: bool,
    nan: fn(T::Native) -> bool,
}

impl<T: ArrowPrimitiveType> Extremes<T> {
    fn new(largest: bool, nan: fn(T::Native) -> bool) -> Self {
        Self { values: Vec::new(), largest, nan }
    }

    /// Whether a value stands beyond the one that is known.
    fn beyond(&self, new: T::Native, known: T::Native) -> bool {
        match (self.largest, (self.nan)(new), (self.nan)(known)) {
            (true, new_nan, known_nan) if new_nan || known_nan => new_nan,
            (true, ..) => new > known,
            (false, new_nan, known_nan) if new_nan || known_nan => !new_nan,
            (false, ..) => new < known,
        }
    }
}

impl<T: ArrowPrimitiveType + Send> GroupsAccumulator for Extremes<T> {
    fn update_batch(&mut self, values: &[ArrayRef], groups: &[usize], filter: Option<&BooleanArray>, group_count: usize) -> Result<()> {
        self.values.resize(group_count, None);
        let Some(values) = values[0].as_primitive_opt::<T>() else { return internal_err!("no extreme of {}", values[0].data_type()) };
        for (row, (value, group)) in values.iter().zip(groups).enumerate() {
            let passes = filter.is_none_or(|filter| arrow::array::Array::is_valid(filter, row) && filter.value(row));
            let Some(value) = value.filter(|_| passes) else { continue };
            if self.values[*group].is_none_or(|known| self.beyond(value, known)) {
                self.values[*group] = Some(value);
            }
        }
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef], groups: &[usize], filter: Option<&BooleanArray>, group_count: usize) -> Result<()> {
        self.update_batch(states, groups, filter, group_count)
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let values = emit_to.take_needed(&mut self.values);
        Ok(Arc::new(values.into_iter().collect::<PrimitiveArray<T>>()))
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        Ok(vec![self.evaluate(emit_to)?])
    }

    fn convert_to_state(&self, values: &[ArrayRef], filter: Option<&BooleanArray>) -> Result<Vec<ArrayRef>> {
        let Some(filter) = filter else { return Ok(vec![values[0].clone()]) };
        // What the filter does not let through (false or unknown) becomes NULL.
        let left_out = BooleanArray::from_iter(filter.iter().map(|passes| Some(passes != Some(true))));
        Ok(vec![nullif(&values[0], &left_out)?])
    }

    fn supports_convert_to_state(&self) -> bool {
        true
    }

    fn size(&self) -> usize {
        self.values.capacity() * size_of::<Option<T::Native>>()
    }
}
