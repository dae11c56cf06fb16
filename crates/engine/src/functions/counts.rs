// SPDX-License-Identifier: Apache-2.0
//! Functions that count, with the types that PostgreSQL gives them: the query engine has unsigned numbers there, from which nothing can be
//! subtracted. An empty array has no length in any dimension, as in PostgreSQL.

use crate::errors::carry;
use arrow::array::{Array, ArrayRef, AsArray, BooleanArray};
use arrow::compute::{cast, nullif};
use arrow::datatypes::{DataType, Field, FieldRef, Int32Type};
use datafusion::common::{Result, ScalarValue};
use datafusion::execution::{FunctionRegistry, SessionState};
use datafusion::logical_expr::function::{ExpressionArgs, PartitionEvaluatorArgs, WindowUDFFieldArgs};
use datafusion::logical_expr::{
    ColumnarValue, LimitEffect, PartitionEvaluator, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, WindowUDF, WindowUDFImpl,
};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Literal;
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;
use weir_base::{Error, ErrorCode};

/// What `row_number` is called in plans. By its own name the planner would know that its numbers tell rows apart, and it counts the columns
/// of what is computed above them wrongly.
pub(crate) const ROW_NUMBER: &str = "row number";

const WINDOWS: [(&str, DataType); 4] =
    [("row_number", DataType::Int64), ("rank", DataType::Int64), ("dense_rank", DataType::Int64), ("ntile", DataType::Int32)];

const OF_ARRAYS: [&str; 5] = ["array_length", "cardinality", "array_ndims", "array_position", "array_positions"];

/// Puts the functions in the place of those of the query engine.
pub(super) fn register(state: &mut SessionState) -> Result<()> {
    for (name, to) in WINDOWS {
        let inner = state.udwf(name)?;
        let aliases = if name == "row_number" { vec![name.to_owned()] } else { inner.aliases().to_vec() };
        state.register_udwf(Arc::new(WindowUDF::from(Numbered { inner, to, aliases })))?;
    }
    for name in OF_ARRAYS {
        let inner = state.udf(name)?;
        state.register_udf(Arc::new(ScalarUDF::from(Counted { inner })))?;
    }
    Ok(())
}

/// A function of an array, with signed numbers.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Counted {
    inner: Arc<ScalarUDF>,
}

fn signed(data_type: &DataType) -> DataType {
    match data_type {
        DataType::UInt64 | DataType::Int64 => DataType::Int32,
        DataType::List(item) => DataType::List(Arc::new(item.as_ref().clone().with_data_type(signed(item.data_type())))),
        other => other.clone(),
    }
}

impl ScalarUDFImpl for Counted {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn aliases(&self) -> &[String] {
        self.inner.aliases()
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        self.inner.coerce_types(arguments)
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        self.inner.return_type(arguments).map(|data_type| signed(&data_type))
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs) -> Result<FieldRef> {
        let types: Vec<DataType> = arguments.arg_fields.iter().map(|field| field.data_type().clone()).collect();
        Ok(Arc::new(Field::new(self.name(), self.return_type(&types)?, true)))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let types: Vec<DataType> = arguments.arg_fields.iter().map(|field| field.data_type().clone()).collect();
        let (to, first, rows) = (arguments.return_field.data_type().clone(), arguments.args.first().cloned(), arguments.number_rows);
        let unsigned = Arc::new(arguments.return_field.as_ref().clone().with_data_type(self.inner.return_type(&types)?));
        let counted = self.inner.invoke_with_args(ScalarFunctionArgs { return_field: unsigned, ..arguments })?;
        let single = matches!(counted, ColumnarValue::Scalar(_));
        let counts = cast(&counted.into_array(rows)?, &to)?;
        let empty = match (self.name(), first) {
            ("array_length", _) => Some(counts.as_primitive::<Int32Type>().iter().map(|count| Some(count == Some(0))).collect()),
            ("array_ndims", Some(array)) => without_items(&array.into_array(rows)?),
            _ => None,
        };
        let counts = empty.map_or_else(|| Ok(counts.clone()), |empty| nullif(&counts, &empty))?;
        if single && !counts.is_empty() { Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&counts, 0)?)) } else { Ok(ColumnarValue::Array(counts)) }
    }
}

/// Which of the arrays have nothing in them.
fn without_items(arrays: &ArrayRef) -> Option<BooleanArray> {
    let lists = arrays.as_list_opt::<i32>()?;
    Some((0..lists.len()).map(|row| Some(lists.value_length(row) == 0)).collect())
}

/// A function that numbers the rows of a window.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Numbered {
    inner: Arc<WindowUDF>,
    to: DataType,
    aliases: Vec<String>,
}

impl WindowUDFImpl for Numbered {
    fn name(&self) -> &str {
        if self.inner.name() == "row_number" { ROW_NUMBER } else { self.inner.name() }
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        self.inner.signature()
    }

    fn expressions(&self, arguments: ExpressionArgs) -> Vec<Arc<dyn PhysicalExpr>> {
        self.inner.expressions(arguments)
    }

    fn partition_evaluator(&self, arguments: PartitionEvaluatorArgs) -> Result<Box<dyn PartitionEvaluator>> {
        let inner = match buckets(self.name(), arguments.input_exprs())? {
            Buckets::None => return Ok(Box::new(Unnumbered { to: self.to.clone() })),
            Buckets::Some => self.inner.partition_evaluator_factory(arguments)?,
        };
        Ok(Box::new(Signed { inner, to: self.to.clone() }))
    }

    fn field(&self, arguments: WindowUDFFieldArgs) -> Result<FieldRef> {
        Ok(Arc::new(Field::new(arguments.name(), self.to.clone(), self.name() == "ntile")))
    }

    fn sort_options(&self) -> Option<arrow::compute::SortOptions> {
        self.inner.sort_options()
    }

    fn limit_effect(&self, arguments: &[Arc<dyn PhysicalExpr>]) -> LimitEffect {
        self.inner.inner().limit_effect(arguments)
    }
}

enum Buckets {
    None,
    Some,
}

/// Whether there are any buckets to put rows into. Error: 22023 for a number of them below 1.
fn buckets(function: &str, arguments: &[Arc<dyn PhysicalExpr>]) -> Result<Buckets> {
    let [count] = arguments else { return Ok(Buckets::Some) };
    let literal = (count.as_ref() as &dyn Any).downcast_ref::<Literal>();
    match literal.filter(|_| function == "ntile").map(|literal| literal.value().cast_to(&DataType::Int64)) {
        Some(Ok(ScalarValue::Int64(None))) => Ok(Buckets::None),
        Some(Ok(ScalarValue::Int64(Some(count)))) if count < 1 => {
            Err(carry(Error::new(ErrorCode::BadSetting, "the argument of ntile must be greater than zero")))
        }
        _ => Ok(Buckets::Some),
    }
}

/// NULL for each row.
#[derive(Debug)]
struct Unnumbered {
    to: DataType,
}

impl PartitionEvaluator for Unnumbered {
    fn evaluate_all(&mut self, _: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        Ok(arrow::array::new_null_array(&self.to, rows))
    }
}

/// The numbers of another evaluator in another type.
#[derive(Debug)]
struct Signed {
    inner: Box<dyn PartitionEvaluator>,
    to: DataType,
}

impl PartitionEvaluator for Signed {
    fn memoize(&mut self, state: &mut datafusion::logical_expr::window_state::WindowAggState) -> Result<()> {
        self.inner.memoize(state)
    }

    fn get_range(&self, row: usize, rows: usize) -> Result<Range<usize>> {
        self.inner.get_range(row, rows)
    }

    fn is_causal(&self) -> bool {
        self.inner.is_causal()
    }

    fn evaluate_all(&mut self, values: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        Ok(cast(&self.inner.evaluate_all(values, rows)?, &self.to)?)
    }

    fn evaluate(&mut self, values: &[ArrayRef], range: &Range<usize>) -> Result<ScalarValue> {
        self.inner.evaluate(values, range)?.cast_to(&self.to)
    }

    fn evaluate_all_with_rank(&self, rows: usize, ranks: &[Range<usize>]) -> Result<ArrayRef> {
        Ok(cast(&self.inner.evaluate_all_with_rank(rows, ranks)?, &self.to)?)
    }

    fn supports_bounded_execution(&self) -> bool {
        self.inner.supports_bounded_execution()
    }

    fn uses_window_frame(&self) -> bool {
        self.inner.uses_window_frame()
    }

    fn include_rank(&self) -> bool {
        self.inner.include_rank()
    }
}
