// SPDX-License-Identifier: Apache-2.0
//! A table of the catalog in the making: one row per item, one column per line.

use arrow::array::{ArrayRef, BooleanArray, Float32Array, Int16Array, Int32Array, Int64Array, RecordBatch, StringArray, new_null_array};
use arrow::datatypes::{DataType, Field, Schema};
use datafusion_pg_catalog::pg_catalog::oid_field::oid_field;
use std::sync::Arc;
use weir_base::{Error, Result};

/// Rows are the items, in order.
pub(super) struct Sheet<'a, T> {
    items: &'a [T],
    fields: Vec<Field>,
    arrays: Vec<ArrayRef>,
}

impl<'a, T> Sheet<'a, T> {
    pub fn of(items: &'a [T]) -> Self {
        Self { items, fields: Vec::new(), arrays: Vec::new() }
    }

    fn with(mut self, name: &str, array: ArrayRef) -> Self {
        self.fields.push(Field::new(name, array.data_type().clone(), true));
        self.arrays.push(array);
        self
    }

    /// An object identifier, which clients are told to be one.
    pub fn oid(mut self, name: &str, value: impl Fn(&'a T) -> i32) -> Self {
        let array: Int32Array = self.items.iter().map(|item| Some(value(item))).collect();
        self.fields.push(oid_field(name, "oid", true));
        self.arrays.push(Arc::new(array));
        self
    }

    pub fn int(self, name: &str, value: impl Fn(&'a T) -> i32) -> Self {
        let array: Int32Array = self.items.iter().map(|item| Some(value(item))).collect();
        self.with(name, Arc::new(array))
    }

    pub fn small(self, name: &str, value: impl Fn(&'a T) -> i16) -> Self {
        let array: Int16Array = self.items.iter().map(|item| Some(value(item))).collect();
        self.with(name, Arc::new(array))
    }

    pub fn long(self, name: &str, value: impl Fn(&'a T) -> Option<i64>) -> Self {
        let array: Int64Array = self.items.iter().map(value).collect();
        self.with(name, Arc::new(array))
    }

    pub fn real(self, name: &str, value: impl Fn(&'a T) -> f32) -> Self {
        let array: Float32Array = self.items.iter().map(|item| Some(value(item))).collect();
        self.with(name, Arc::new(array))
    }

    pub fn flag(self, name: &str, value: impl Fn(&'a T) -> bool) -> Self {
        let array: BooleanArray = self.items.iter().map(|item| Some(value(item))).collect();
        self.with(name, Arc::new(array))
    }

    pub fn text<S: AsRef<str>>(self, name: &str, value: impl Fn(&'a T) -> S) -> Self {
        let array: StringArray = self.items.iter().map(|item| Some(value(item))).collect();
        self.with(name, Arc::new(array))
    }

    /// Always NULL.
    pub fn none(self, name: &str, data_type: DataType) -> Self {
        let array = new_null_array(&data_type, self.items.len());
        self.with(name, array)
    }

    /// A list of texts, always NULL: rights and options of objects are Weir's own, not Postgres's.
    pub fn no_list(self, name: &str) -> Self {
        self.none(name, list_of(DataType::Utf8))
    }

    pub fn batch(self) -> Result<RecordBatch> {
        let made = RecordBatch::try_new(Arc::new(Schema::new(self.fields)), self.arrays);
        made.map_err(|error| Error::internal("a catalog table does not fit its schema").with_detail(error.to_string()))
    }
}

pub(super) fn list_of(item: DataType) -> DataType {
    DataType::List(Arc::new(Field::new("item", item, true)))
}
