// SPDX-License-Identifier: Apache-2.0
//! `sum(DISTINCT x)` and `avg(DISTINCT x)` of whole numbers and decimals: each value counts once.

use super::totals::state_type;
use arrow::array::{ArrayRef, AsArray, Decimal128Array, PrimitiveArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Decimal128Type, Field, FieldRef};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::Accumulator;
use datafusion::logical_expr::utils::format_state_name;
use std::collections::HashMap;
use std::sync::Arc;

/// From the total and the number of distinct values to the result.
type Finish = Box<dyn Fn(i128, u64) -> Result<ScalarValue> + Send + Sync>;

/// The values so far, and how often each is there: a window that slides takes them out again.
pub(super) struct Distinct {
    seen: HashMap<i128, u64>,
    scale: i8,
    finish: Finish,
}

impl std::fmt::Debug for Distinct {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Distinct").field("seen", &self.seen.len()).field("scale", &self.scale).finish_non_exhaustive()
    }
}

/// What one partition hands to the next: a list of its values.
pub(super) fn state_field(name: &str, scale: i8) -> FieldRef {
    let values = Field::new_list_field(state_type(&DataType::Decimal128(1, scale)), true);
    Arc::new(Field::new_list(format_state_name(name, "distinct values"), values, true))
}

impl Distinct {
    pub fn new(scale: i8, finish: Finish) -> Self {
        Self { seen: HashMap::new(), scale, finish }
    }

    fn values_type(&self) -> DataType {
        state_type(&DataType::Decimal128(1, self.scale))
    }

    fn decimals(&self, values: &ArrayRef) -> Result<PrimitiveArray<Decimal128Type>> {
        Ok(cast(values, &self.values_type())?.as_primitive::<Decimal128Type>().clone())
    }
}

impl Accumulator for Distinct {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for value in self.decimals(&values[0])?.iter().flatten() {
            *self.seen.entry(value).or_default() += 1;
        }
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        for value in self.decimals(&values[0])?.iter().flatten() {
            let left = self.seen.get(&value).map_or(0, |count| count.saturating_sub(1));
            match left {
                0 => self.seen.remove(&value),
                left => self.seen.insert(value, left),
            };
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let Some(lists) = states[0].as_list_opt::<i32>() else { return internal_err!("no list of distinct values") };
        lists.iter().flatten().try_for_each(|values| self.update_batch(&[values]))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let values = Decimal128Array::from_iter_values(self.seen.keys().copied()).with_data_type(self.values_type());
        let list = datafusion::common::utils::SingleRowListArrayBuilder::new(Arc::new(values)).build_list_array();
        Ok(vec![ScalarValue::List(Arc::new(list))])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        let total = self.seen.keys().try_fold(0_i128, |total, value| total.checked_add(*value)).ok_or_else(super::sum_out_of_range)?;
        (self.finish)(total, self.seen.len() as u64)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.seen.capacity() * size_of::<(i128, u64)>()
    }
}
