// SPDX-License-Identifier: Apache-2.0
//! Functions of the catalog as texts in, text out: what all of them share.

use crate::errors::{carry, from_datafusion};
use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::common::Result as PlanResult;
use datafusion::execution::{FunctionRegistry, SessionState};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature, Volatility};
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use weir_base::Result;

pub(super) fn register(state: &mut SessionState, told: impl IntoIterator<Item = Told>) -> Result<()> {
    for told in told {
        state.register_udf(Arc::new(ScalarUDF::new_from_impl(told))).map_err(from_datafusion)?;
    }
    Ok(())
}

fn signature(volatility: Volatility) -> Signature {
    Signature::one_of(vec![TypeSignature::Nullary, TypeSignature::VariadicAny], volatility)
}

type Body = dyn Fn(&[Option<&str>]) -> Result<Option<String>> + Send + Sync;

/// A function from texts to a text, with both ends cast to what they are.
pub(super) struct Told {
    name: &'static str,
    signature: Signature,
    returns: DataType,
    /// Whether arguments come as JSON values instead of as bare texts.
    json: bool,
    body: Arc<Body>,
}

impl Told {
    fn new(name: &'static str, returns: DataType, body: Arc<Body>) -> Self {
        Self { name, signature: signature(Volatility::Stable), returns, json: false, body }
    }

    /// One that may fail.
    pub(super) fn fallible(name: &'static str, returns: DataType, body: impl Fn(&[Option<&str>]) -> Result<Option<String>> + Send + Sync + 'static) -> Self {
        Self::new(name, returns, Arc::new(body))
    }

    /// One that may fail, and that does something or looks at what others do: called once for each row, when the row is made.
    pub(super) fn doing(name: &'static str, returns: DataType, body: impl Fn(&[Option<&str>]) -> Result<Option<String>> + Send + Sync + 'static) -> Self {
        Self { signature: signature(Volatility::Volatile), ..Self::new(name, returns, Arc::new(body)) }
    }

    pub(super) fn json(name: &'static str, body: impl Fn(&[Option<&str>]) -> Option<String> + Send + Sync + 'static) -> Self {
        Self { json: true, ..Self::text(name, body) }
    }

    pub(super) fn constant(name: &'static str, value: String) -> Self {
        Self::new(name, DataType::Utf8, Arc::new(move |_| Ok(Some(value.clone()))))
    }

    pub(super) fn text(name: &'static str, body: impl Fn(&[Option<&str>]) -> Option<String> + Send + Sync + 'static) -> Self {
        Self::new(name, DataType::Utf8, Arc::new(move |arguments| Ok(body(arguments))))
    }

    pub(super) fn number(name: &'static str, body: impl Fn(&[Option<&str>]) -> Option<i32> + Send + Sync + 'static) -> Self {
        Self::new(name, DataType::Int32, Arc::new(move |arguments| Ok(body(arguments).map(|number| number.to_string()))))
    }

    pub(super) fn long(name: &'static str, body: impl Fn(&[Option<&str>]) -> Option<i64> + Send + Sync + 'static) -> Self {
        Self::new(name, DataType::Int64, Arc::new(move |arguments| Ok(body(arguments).map(|number| number.to_string()))))
    }

    pub(super) fn truth(name: &'static str, body: impl Fn(&[Option<&str>]) -> Option<bool> + Send + Sync + 'static) -> Self {
        Self::new(name, DataType::Boolean, Arc::new(move |arguments| Ok(body(arguments).map(|truth| truth.to_string()))))
    }

    /// The body gives the items, one a line.
    pub(super) fn list(name: &'static str, body: impl Fn(&[Option<&str>]) -> Option<String> + Send + Sync + 'static) -> Self {
        Self::new(name, super::sheet::list_of(DataType::Utf8), Arc::new(move |arguments| Ok(body(arguments))))
    }
}

impl std::fmt::Debug for Told {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Told").field("name", &self.name).finish_non_exhaustive()
    }
}

impl PartialEq for Told {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && Arc::ptr_eq(&self.body, &other.body)
    }
}

impl Eq for Told {}

impl Hash for Told {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl ScalarUDFImpl for Told {
    fn name(&self) -> &str {
        self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> PlanResult<DataType> {
        Ok(self.returns.clone())
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> PlanResult<ColumnarValue> {
        let told_once = self.signature.volatility != Volatility::Volatile;
        let constant = told_once && arguments.args.iter().all(|argument| matches!(argument, ColumnarValue::Scalar(_)));
        let rows = if constant { 1 } else { arguments.number_rows };
        let text = |argument: &ColumnarValue| {
            let values = argument.to_array(rows)?;
            let texts = cast(&values, &DataType::Utf8)?;
            PlanResult::Ok(if self.json { as_json(values.data_type(), texts.as_string::<i32>()) } else { texts })
        };
        let texts = arguments.args.iter().map(text).collect::<PlanResult<Vec<ArrayRef>>>()?;
        let columns: Vec<&StringArray> = texts.iter().map(|text| text.as_string::<i32>()).collect();
        let row = |row: usize| {
            let values: Vec<Option<&str>> = columns.iter().map(|column| column.is_valid(row).then(|| column.value(row))).collect();
            (self.body)(&values)
        };
        let answers: StringArray = (0..rows).map(row).collect::<Result<_>>().map_err(carry)?;
        let answers = self.returned(answers)?;
        Ok(if constant { ColumnarValue::Scalar(datafusion::common::ScalarValue::try_from_array(&answers, 0)?) } else { ColumnarValue::Array(answers) })
    }
}

/// Numbers and truths as they are, everything else as a JSON text; NULL as `null`.
fn as_json(data_type: &DataType, texts: &StringArray) -> ArrayRef {
    let bare = data_type.is_numeric() || data_type == &DataType::Boolean;
    let value = |text: Option<&str>| match text {
        None => "null".to_owned(),
        Some(text) if bare => text.to_owned(),
        Some(text) => serde_json::Value::from(text).to_string(),
    };
    Arc::new(texts.iter().map(|text| Some(value(text))).collect::<StringArray>())
}

impl Told {
    fn returned(&self, answers: StringArray) -> PlanResult<ArrayRef> {
        if !matches!(self.returns, DataType::List(_)) {
            return Ok(cast(&answers, &self.returns)?);
        }
        let mut lists = arrow::array::ListBuilder::new(arrow::array::StringBuilder::new());
        for answer in &answers {
            match answer {
                Some(lines) => lists.append_value(lines.lines().map(Some)),
                None => lists.append_null(),
            }
        }
        Ok(Arc::new(lists.finish()))
    }
}
