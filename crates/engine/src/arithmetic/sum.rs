// SPDX-License-Identifier: Apache-2.0
//! `sum` with the types of PostgreSQL: of `smallint` and `integer` a `bigint`, of `bigint` a `numeric`; and an error where the total
//! does not fit.

use super::distinct::{self, Distinct};
use super::sum_out_of_range;
use super::totals::{GroupTotals, output_scalar, state_type, wide_total};
use crate::errors::carry;
use arrow::array::{Array, ArrayRef};
use arrow::datatypes::{DECIMAL128_MAX_PRECISION, DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue};
use datafusion::functions_aggregate::sum::Sum;
use datafusion::logical_expr::expr::{AggregateFunction, AggregateFunctionParams};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::utils::format_state_name;
use datafusion::logical_expr::{Accumulator, AggregateUDFImpl, GroupsAccumulator, ReversedUDAF, SetMonotonicity, Signature, Volatility};
use std::sync::Arc;
use weir_base::{Error, ErrorCode};

/// Whole numbers and decimals are added up in 128 bits; everything else as the query engine does it.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct CheckedSum {
    inner: Sum,
    signature: Signature,
}

impl CheckedSum {
    pub fn new() -> Self {
        Self { inner: Sum::new(), signature: Signature::user_defined(Volatility::Immutable) }
    }
}

fn in_128_bits(output: &DataType) -> bool {
    matches!(output, DataType::Int64 | DataType::Decimal128(_, _))
}

/// Digits behind the point of what is added up in 128 bits.
fn scale(output: &DataType) -> i8 {
    match output {
        DataType::Decimal128(_, scale) => *scale,
        _ => 0,
    }
}

fn total(output: &DataType, once_each: bool) -> Box<dyn Accumulator> {
    if !once_each {
        return Box::new(Total::new(output.clone()));
    }
    let to = output.clone();
    Box::new(Distinct::new(scale(output), Box::new(move |sum, count| output_scalar((count > 0).then_some(sum), &to))))
}

impl AggregateUDFImpl for CheckedSum {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, arguments: &[DataType]) -> Result<Vec<DataType>> {
        let [argument] = arguments else {
            return Err(carry(Error::new(ErrorCode::UnknownFunction, "sum takes one argument").with_hint("write sum(x)")));
        };
        Ok(vec![match argument {
            DataType::Int8 | DataType::Int16 | DataType::Int32 | DataType::UInt8 | DataType::UInt16 => DataType::Int32,
            DataType::Int64 | DataType::UInt32 | DataType::Null => DataType::Int64,
            DataType::Decimal32(precision, scale) | DataType::Decimal64(precision, scale) => DataType::Decimal128(*precision, *scale),
            DataType::UInt64 | DataType::Decimal128(..) | DataType::Decimal256(..) | DataType::Duration(_) => argument.clone(),
            DataType::Float16 | DataType::Float32 | DataType::Float64 => DataType::Float64,
            _ => return datafusion::common::plan_err!("No function matches the given name and argument types 'sum({argument})'."),
        }])
    }

    fn return_type(&self, arguments: &[DataType]) -> Result<DataType> {
        match &arguments[0] {
            DataType::Int32 => Ok(DataType::Int64),
            DataType::Int64 | DataType::UInt64 => Ok(DataType::Decimal128(DECIMAL128_MAX_PRECISION, 0)),
            _ => self.inner.return_type(arguments),
        }
    }

    fn accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let output = args.return_field.data_type();
        match in_128_bits(output) {
            true => Ok(total(output, args.is_distinct)),
            false => self.inner.accumulator(args),
        }
    }

    fn state_fields(&self, args: StateFieldsArgs) -> Result<Vec<FieldRef>> {
        let output = args.return_type().clone();
        if !in_128_bits(&output) {
            return self.inner.state_fields(args);
        }
        if args.is_distinct {
            return Ok(vec![distinct::state_field(args.name, scale(&output))]);
        }
        let total = Field::new(format_state_name(args.name, "sum"), state_type(&output), true);
        Ok(vec![Arc::new(total)])
    }

    fn groups_accumulator_supported(&self, args: AccumulatorArgs) -> bool {
        self.inner.groups_accumulator_supported(args)
    }

    fn create_groups_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn GroupsAccumulator>> {
        let output = args.return_field.data_type();
        match in_128_bits(output) && !args.is_distinct {
            true => Ok(Box::new(GroupTotals::new(output.clone()))),
            false => self.inner.create_groups_accumulator(args),
        }
    }

    fn create_sliding_accumulator(&self, args: AccumulatorArgs) -> Result<Box<dyn Accumulator>> {
        let output = args.return_field.data_type();
        match in_128_bits(output) {
            true => Ok(total(output, args.is_distinct)),
            false => self.inner.create_sliding_accumulator(args),
        }
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        self.inner.reverse_expr()
    }

    fn order_sensitivity(&self) -> datafusion::logical_expr::utils::AggregateOrderSensitivity {
        self.inner.order_sensitivity()
    }

    fn set_monotonicity(&self, data_type: &DataType) -> SetMonotonicity {
        self.inner.set_monotonicity(data_type)
    }

    fn schema_name(&self, params: &AggregateFunctionParams) -> Result<String> {
        self.inner.schema_name(params)
    }

    /// `sum(x + 1)` stays as it is: the rewrite to `sum(x) + count(x)` would fail where this does not, and the other way round.
    fn simplify_expr_op_literal(
        &self,
        _: &AggregateFunction,
        _: &datafusion::logical_expr::Expr,
        _: datafusion::logical_expr::Operator,
        _: &datafusion::logical_expr::Expr,
        _: bool,
    ) -> Result<Option<datafusion::logical_expr::Expr>> {
        Ok(None)
    }
}

/// One total; values can be taken out of it again, for windows that slide.
#[derive(Debug)]
struct Total {
    sum: i128,
    count: u64,
    output: DataType,
}

impl Total {
    fn new(output: DataType) -> Self {
        Self { sum: 0, count: 0, output }
    }

    fn change(&mut self, values: &dyn Array, change: fn(i128, i128) -> Option<i128>) -> Result<u64> {
        self.sum = change(self.sum, wide_total(values)?).ok_or_else(sum_out_of_range)?;
        Ok((values.len() - values.null_count()) as u64)
    }

    fn known(&self) -> Option<i128> {
        (self.count > 0).then_some(self.sum)
    }
}

impl Accumulator for Total {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.count += self.change(&values[0], i128::checked_add)?;
        Ok(())
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        self.update_batch(states)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.count -= self.change(&values[0], i128::checked_sub)?;
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![output_scalar(self.known(), &state_type(&self.output))?])
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        output_scalar(self.known(), &self.output)
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}
