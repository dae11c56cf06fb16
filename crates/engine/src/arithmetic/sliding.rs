// SPDX-License-Identifier: Apache-2.0
//! `min` and `max` over a frame that moves: NULL where nothing but NULLs is in it. The query engine's own go on telling the last value
//! that was.

use arrow::array::{Array, ArrayRef};
use arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Accumulator;

/// The extreme of a frame, and how many values it has.
#[derive(Debug)]
pub(super) struct Sliding {
    inner: Box<dyn Accumulator>,
    data_type: DataType,
    present: usize,
}

impl Sliding {
    pub fn over(inner: Box<dyn Accumulator>, data_type: DataType) -> Self {
        Self { inner, data_type, present: 0 }
    }
}

fn present(values: &[ArrayRef]) -> usize {
    values.first().map_or(0, |values| values.len() - values.logical_null_count())
}

impl Accumulator for Sliding {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.present += present(values);
        self.inner.update_batch(values)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.present = self.present.saturating_sub(present(values));
        self.inner.retract_batch(values)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.present += present(states);
        self.inner.merge_batch(states)
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        if self.present == 0 { ScalarValue::try_from(&self.data_type) } else { self.inner.evaluate() }
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.evaluate()?])
    }

    fn supports_retract_batch(&self) -> bool {
        self.inner.supports_retract_batch()
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.inner.size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::StringArray;
    use datafusion::functions_aggregate::min_max::SlidingMinAccumulator;
    use std::sync::Arc;

    #[test]
    fn a_frame_without_values_has_no_least() {
        let inner = SlidingMinAccumulator::try_new(&DataType::Utf8).unwrap();
        let mut least = Sliding::over(Box::new(inner), DataType::Utf8);
        let texts = |texts: &[Option<&str>]| vec![Arc::new(StringArray::from(texts.to_vec())) as ArrayRef];
        least.update_batch(&texts(&[Some("b"), Some("a"), None])).unwrap();
        assert_eq!(least.evaluate().unwrap(), ScalarValue::from("a"));
        least.retract_batch(&texts(&[Some("b"), Some("a")])).unwrap();
        assert_eq!(least.evaluate().unwrap(), ScalarValue::Utf8(None));
        least.update_batch(&texts(&[Some("c")])).unwrap();
        assert_eq!(least.evaluate().unwrap(), ScalarValue::from("c"));
    }
}
