// SPDX-License-Identifier: Apache-2.0
//! Texts as views: short ones stand in the array itself, and repeated ones share their bytes, so that a scan copies far less.
//! Only columns of a table are read so; texts inside lists, structs and maps stay as they are.

use crate::fault::computing;
use arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use arrow::buffer::Buffer;
use arrow::compute::cast;
use arrow::datatypes::{DataType, FieldRef, Fields, Schema, SchemaRef};
use std::sync::Arc;
use weir_base::Result;

/// Bytes behind views that are not worth a copy.
const SMALL_BUFFERS_BYTES: usize = 16 * 1024;
/// Views may hold so many times the bytes that they show.
const WASTE_FACTOR: usize = 2;

/// The same columns, with texts as views.
pub(crate) fn viewed(schema: &SchemaRef) -> SchemaRef {
    let fields: Fields = schema.fields().iter().map(viewed_field).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

fn viewed_field(field: &FieldRef) -> FieldRef {
    if *field.data_type() == DataType::Utf8 { Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8View)) } else { field.clone() }
}

/// A column for a reader that wants views.
pub(crate) fn as_views(array: ArrayRef) -> Result<ArrayRef> {
    if *array.data_type() == DataType::Utf8 { cast(&array, &DataType::Utf8View).map_err(computing) } else { Ok(array) }
}

/// A column for whoever knows no views.
pub(crate) fn as_plain(array: ArrayRef) -> Result<ArrayRef> {
    if *array.data_type() == DataType::Utf8View { cast(&array, &DataType::Utf8).map_err(computing) } else { Ok(array) }
}

/// Views keep whole pages of the file alive. Where they need but a part of those, they get bytes of their own, so that whoever
/// holds or spills batches is charged for what is in them.
pub(crate) fn compact(batch: RecordBatch) -> Result<RecordBatch> {
    if !batch.columns().iter().any(wasteful) {
        return Ok(batch);
    }
    let columns = batch.columns().iter().map(|column| match column.as_string_view_opt() {
        Some(views) if wasteful(column) => Arc::new(views.gc()),
        _ => column.clone(),
    });
    RecordBatch::try_new(batch.schema(), columns.collect()).map_err(computing)
}

fn wasteful(column: &ArrayRef) -> bool {
    let Some(views) = column.as_string_view_opt() else { return false };
    let held: usize = views.data_buffers().iter().map(Buffer::len).sum();
    held > SMALL_BUFFERS_BYTES && held > views.total_buffer_bytes_used() * WASTE_FACTOR
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Int32Array, StringArray, StringViewArray};
    use arrow::datatypes::Field;

    #[test]
    fn only_columns_of_texts_change() {
        let list = DataType::List(Arc::new(Field::new("item", DataType::Utf8, true)));
        let fields = vec![Field::new("a", DataType::Utf8, false), Field::new("b", list.clone(), true)];
        let found = viewed(&Arc::new(Schema::new(fields)));
        assert_eq!(found.field(0), &Field::new("a", DataType::Utf8View, false));
        assert_eq!(found.field(1).data_type(), &list);
    }

    #[test]
    fn a_slice_of_a_page_gets_bytes_of_its_own() {
        let page: ArrayRef = Arc::new(StringViewArray::from_iter_values((0..4_000).map(|row| format!("a text that does not fit into a view: {row}"))));
        let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Utf8View, false)]));
        let whole = RecordBatch::try_new(schema, vec![page]).unwrap();
        let held = |batch: &RecordBatch| batch.column(0).as_string_view().data_buffers().iter().map(Buffer::len).sum::<usize>();
        assert_eq!(held(&compact(whole.clone()).unwrap()), held(&whole));
        let part = compact(whole.slice(10, 100)).unwrap();
        assert_eq!(part, whole.slice(10, 100));
        assert!(held(&part) < 5_000, "{} bytes", held(&part));
    }

    #[test]
    fn there_and_back() {
        let texts: ArrayRef = Arc::new(StringArray::from(vec![Some("short"), None, Some("long enough to stand outside of its view")]));
        let views = as_views(texts.clone()).unwrap();
        assert_eq!(views.data_type(), &DataType::Utf8View);
        assert_eq!(&as_plain(views).unwrap(), &texts);
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1]));
        assert_eq!(&as_views(numbers.clone()).unwrap(), &numbers);
    }
}
