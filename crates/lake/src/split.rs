// SPDX-License-Identifier: Apache-2.0
//! Which partition each row of a batch goes to.

use crate::fault::{at, computing};
use crate::moments::MomentGuard;
use arrow::array::{ArrayRef, AsArray, RecordBatch, StructArray, UInt32Array};
use arrow::compute::take_record_batch;
use arrow::row::{RowConverter, SortField};
use iceberg::arrow::{PartitionValueCalculator, arrow_struct_to_literal};
use iceberg::spec::{Literal, PartitionKey, PartitionSpecRef, SchemaRef, Struct};
use std::collections::HashMap;
use std::sync::Arc;
use weir_base::{Error, Result};

/// Computes partition values and groups rows by them.
pub(crate) struct Splitter {
    schema: SchemaRef,
    spec: PartitionSpecRef,
    guard: MomentGuard,
    calculator: PartitionValueCalculator,
    converter: RowConverter,
}

impl Splitter {
    pub(crate) fn new(schema: SchemaRef, spec: PartitionSpecRef) -> Result<Self> {
        let calculator = PartitionValueCalculator::try_new(&spec, &schema).map_err(at("cannot partition the table"))?;
        let arrow::datatypes::DataType::Struct(fields) = calculator.partition_arrow_type() else {
            return Err(Error::internal("partition values are not a struct"));
        };
        let sort = fields.iter().map(|field| SortField::new(field.data_type().clone())).collect();
        let converter = RowConverter::new(sort).map_err(computing)?;
        let guard = MomentGuard::new(&schema, &spec);
        Ok(Self { schema, spec, guard, calculator, converter })
    }

    /// The batch cut by partition; each part keeps its rows' order. Error: 22008 for a moment that cannot name a partition.
    pub(crate) fn split(&self, batch: &RecordBatch) -> Result<Vec<(PartitionKey, RecordBatch)>> {
        self.guard.check(batch)?;
        let values = self.calculator.calculate(batch).map_err(at("cannot compute partition values"))?;
        let values = self.guard.with_true_days(values.as_struct(), batch)?;
        let rows = self.converter.convert_columns(values.columns()).map_err(computing)?;
        let mut groups: HashMap<arrow::row::Row<'_>, Vec<u32>> = HashMap::new();
        for (index, row) in rows.iter().enumerate() {
            groups.entry(row).or_default().push(index as u32);
        }
        let mut parts = Vec::with_capacity(groups.len());
        for members in groups.into_values() {
            let key = PartitionKey::new(self.spec.as_ref().clone(), self.schema.clone(), self.tuple(&values, members[0])?);
            let part =
                if members.len() == batch.num_rows() { batch.clone() } else { take_record_batch(batch, &UInt32Array::from(members)).map_err(computing)? };
            parts.push((key, part));
        }
        Ok(parts)
    }

    fn tuple(&self, values: &StructArray, row: u32) -> Result<Struct> {
        let one: ArrayRef = Arc::new(values.slice(row as usize, 1));
        let mut literals = arrow_struct_to_literal(&one, self.calculator.partition_type()).map_err(at("cannot read partition values"))?;
        match literals.pop().flatten() {
            Some(Literal::Struct(tuple)) => Ok(tuple),
            _ => Err(Error::internal("a partition value is not a struct")),
        }
    }
}
