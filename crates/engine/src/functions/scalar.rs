// SPDX-License-Identifier: Apache-2.0
//! A function of rows as a name, the type it gives, and what it does with arrays.

use arrow::array::ArrayRef;
use arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::common::{Result, ScalarValue, internal_err};
use datafusion::logical_expr::expr::ScalarFunction;
use datafusion::logical_expr::{ColumnarValue, Expr, ReturnFieldArgs, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// What a function gives, told from the types of its arguments and from those that are literals.
pub(super) type Returns = fn(&[DataType], &[Option<&ScalarValue>]) -> Result<DataType>;
/// What it does with columns of equal length, for the type that it gives.
pub(super) type Body = fn(&[ArrayRef], &DataType) -> Result<ArrayRef>;

#[derive(Debug, Clone)]
pub(super) struct Scalar {
    name: &'static str,
    signature: Signature,
    returns: Returns,
    body: Body,
}

impl Scalar {
    /// A function that takes its arguments as they come.
    pub fn any(name: &'static str, arguments: usize, returns: Returns, body: Body) -> Self {
        Self { name, signature: Signature::any(arguments, Volatility::Immutable), returns, body }
    }

    /// A function of arguments that are cast to these types.
    pub fn of(name: &'static str, arguments: Vec<DataType>, returns: Returns, body: Body) -> Self {
        Self { name, signature: Signature::exact(arguments, Volatility::Immutable), returns, body }
    }

    /// A function of any number of arguments, as they come.
    pub fn variadic(name: &'static str, returns: Returns, body: Body) -> Self {
        Self { name, signature: Signature::variadic_any(Volatility::Immutable), returns, body }
    }

    pub fn udf(self) -> Arc<ScalarUDF> {
        Arc::new(ScalarUDF::from(self))
    }

    pub fn call(self, arguments: Vec<Expr>) -> Expr {
        Expr::ScalarFunction(ScalarFunction::new_udf(self.udf(), arguments))
    }
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Scalar {}

impl Hash for Scalar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for Scalar {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        internal_err!("{} tells its type from its arguments", self.name)
    }

    fn return_field_from_args(&self, arguments: ReturnFieldArgs) -> Result<FieldRef> {
        let types: Vec<DataType> = arguments.arg_fields.iter().map(|field| field.data_type().clone()).collect();
        Ok(Arc::new(Field::new(self.name, (self.returns)(&types, arguments.scalar_arguments)?, true)))
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let constant = arguments.args.iter().all(|argument| matches!(argument, ColumnarValue::Scalar(_)));
        let arrays = ColumnarValue::values_to_arrays(&arguments.args)?;
        let made = (self.body)(&arrays, arguments.return_field.data_type())?;
        match constant && made.len() == 1 {
            true => Ok(ColumnarValue::Scalar(ScalarValue::try_from_array(&made, 0)?)),
            false => Ok(ColumnarValue::Array(made)),
        }
    }
}
