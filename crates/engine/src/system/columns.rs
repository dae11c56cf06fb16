// SPDX-License-Identifier: Apache-2.0
//! Columns of a system table, one by one, into a batch.

use arrow::array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray};
use arrow::datatypes::{Field, Schema};
use std::sync::Arc;
use weir_base::{Error, Result, Timestamp};

/// A batch in the making.
#[derive(Default)]
pub(crate) struct Columns {
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl Columns {
    fn with(mut self, name: &str, array: ArrayRef) -> Self {
        self.fields.push(Field::new(name, array.data_type().clone(), true));
        self.arrays.push(array);
        self
    }

    pub fn text<T: AsRef<str>>(self, name: &str, values: impl IntoIterator<Item = Option<T>>) -> Self {
        self.with(name, Arc::new(values.into_iter().collect::<StringArray>()))
    }

    pub fn number(self, name: &str, values: impl IntoIterator<Item = Option<i64>>) -> Self {
        self.with(name, Arc::new(values.into_iter().collect::<Int64Array>()))
    }

    pub fn decimal(self, name: &str, values: impl IntoIterator<Item = Option<f64>>) -> Self {
        self.with(name, Arc::new(values.into_iter().collect::<Float64Array>()))
    }

    pub fn truth(self, name: &str, values: impl IntoIterator<Item = Option<bool>>) -> Self {
        self.with(name, Arc::new(values.into_iter().collect::<BooleanArray>()))
    }

    pub fn instant(self, name: &str, values: impl IntoIterator<Item = Option<Timestamp>>) -> Self {
        let array: TimestampMicrosecondArray = values.into_iter().map(|at| at.map(Timestamp::micros)).collect();
        self.with(name, Arc::new(array.with_timezone("UTC")))
    }

    pub fn batch(self) -> Result<RecordBatch> {
        RecordBatch::try_new(Arc::new(Schema::new(self.fields)), self.arrays)
            .map_err(|error| Error::internal("a system table does not fit its schema").with_detail(error.to_string()))
    }
}

/// A count as the signed number that SQL has.
pub(super) fn count(value: u64) -> Option<i64> {
    Some(i64::try_from(value).unwrap_or(i64::MAX))
}
