// SPDX-License-Identifier: Apache-2.0
//! `min` and `max` over frames that move along: `min(x) OVER (… ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)`. The query engine's own keep the
//! last value when nothing but NULLs is left in the frame.

use arrow::array::{Array, ArrayRef};
use arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::Accumulator;
use std::cmp::Ordering;
use std::collections::VecDeque;

/// The extreme of the rows in a frame. Rows leave it in the order in which they came.
#[derive(Debug)]
pub(super) struct SlidingExtreme {
    /// Rows that can still become the extreme, each beyond all after it, with the number of the row.
    candidates: VecDeque<(u64, ScalarValue)>,
    came: u64,
    left: u64,
    largest: bool,
    data_type: DataType,
}

impl SlidingExtreme {
    pub fn new(largest: bool, data_type: DataType) -> Self {
        Self { candidates: VecDeque::new(), came: 0, left: 0, largest, data_type }
    }

    /// Whether a new value takes the place of one that came before.
    fn supersedes(&self, new: &ScalarValue, known: &ScalarValue) -> Result<bool> {
        let order = new.try_cmp(known)?;
        Ok(if self.largest { order != Ordering::Less } else { order != Ordering::Greater })
    }
}

impl Accumulator for SlidingExtreme {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let values = &values[0];
        for row in 0..values.len() {
            self.came += 1;
            if values.is_null(row) {
                continue;
            }
            let value = ScalarValue::try_from_array(values, row)?;
            while let Some((_, last)) = self.candidates.back()
                && self.supersedes(&value, last)?
            {
                self.candidates.pop_back();
            }
            self.candidates.push_back((self.came, value));
        }
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.left += values[0].len() as u64;
        while self.candidates.front().is_some_and(|(row, _)| *row <= self.left) {
            self.candidates.pop_front();
        }
        Ok(())
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        self.candidates.front().map_or_else(|| ScalarValue::try_from(&self.data_type), |(_, value)| Ok(value.clone()))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.evaluate()?])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.update_batch(states)
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.candidates.iter().map(|(_, value)| size_of::<u64>() + value.size()).sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::Int64Array;
    use std::sync::Arc;

    /// The extremes of frames of two rows.
    fn frames(largest: bool, rows: &[Option<i64>]) -> Vec<ScalarValue> {
        let mut extreme = SlidingExtreme::new(largest, DataType::Int64);
        let one = |row: &Option<i64>| vec![Arc::new(Int64Array::from(vec![*row])) as ArrayRef];
        let mut told = Vec::new();
        for (index, row) in rows.iter().enumerate() {
            extreme.update_batch(&one(row)).unwrap();
            if index >= 2 {
                extreme.retract_batch(&one(&rows[index - 2])).unwrap();
            }
            told.push(extreme.evaluate().unwrap());
        }
        told
    }

    #[test]
    fn a_frame_of_nulls_has_no_extreme() {
        let of = |values: &[Option<i64>]| values.iter().map(|value| ScalarValue::Int64(*value)).collect::<Vec<_>>();
        let rows = [Some(3), None, None, Some(1), Some(2), Some(2), None, Some(5)];
        assert_eq!(frames(false, &rows), of(&[Some(3), Some(3), None, Some(1), Some(1), Some(2), Some(2), Some(5)]));
        assert_eq!(frames(true, &rows), of(&[Some(3), Some(3), None, Some(1), Some(2), Some(2), Some(2), Some(5)]));
    }
}
