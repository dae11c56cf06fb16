// SPDX-License-Identifier: Apache-2.0
//! Kinds of text: a uuid, an enum, an address or JSON is read as text and compared as what it is. The kind travels as metadata of the field.

mod address;
mod grouped;
mod json;
mod member;
mod rule;
mod uuid;
mod words;

use arrow::datatypes::{DataType, Field};
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::execution::SessionState;
use datafusion::execution::session_state::SessionStateBuilder;
use datafusion::logical_expr::planner::ExprPlanner;
use datafusion::logical_expr::{Expr, Operator};
use std::collections::HashMap;
use std::sync::Arc;
use weir_source::Column;

const KIND: &str = "weir.kind";
const LABELS: &str = "weir.labels";
const TYPE: &str = "weir.type";

/// What a text stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TextKind {
    Uuid,
    Json,
    Jsonb,
    Enum(Arc<Labels>),
    Address,
    /// Of a type whose order is not that of its letters, such as `money`.
    Unordered(String),
}

/// The labels of an enum in their order, which is how its values sort.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Labels {
    type_name: String,
    labels: Vec<String>,
}

/// Adds the operators of JSON, and the rule that compares and sorts kinds of text as what they are.
pub(crate) fn register(state: &mut SessionState) {
    let mut planners: Vec<Arc<dyn ExprPlanner>> = vec![Arc::new(member::Members)];
    planners.extend(state.expr_planners().iter().cloned());
    *state = SessionStateBuilder::new_from_existing(state.clone()).with_expr_planners(planners).build();
    state.add_analyzer_rule(Arc::new(rule::CompareKinds));
}

/// The operator that a function of this name stands for.
pub(crate) fn operator(function: &str) -> Option<Operator> {
    member::operator(function)
}

/// The expression as it was written, for EXPLAIN: with labels of enums in the place of where they stand.
pub(crate) fn plain(expr: Expr) -> Result<Expr> {
    expr.transform_down(|node| Ok(words::with_labels(&node).map_or_else(|| Transformed::no(node), Transformed::yes))).data()
}

/// The field of a source's column. Every column may be NULL whatever the source declares: a policy or a zero date can make one.
pub(crate) fn field(column: &Column, source: &str) -> Field {
    let field = Field::new(&column.name, column.data_type.clone(), true);
    match kind(column, source) {
        Some(kind) => field.with_metadata(kind.metadata()),
        None => field,
    }
}

/// The field of the SQL type `uuid`.
pub(crate) fn uuid_field() -> Field {
    Field::new("", DataType::Utf8, true).with_metadata(TextKind::Uuid.metadata())
}

fn kind(column: &Column, source: &str) -> Option<TextKind> {
    if column.data_type != DataType::Utf8 {
        return None;
    }
    if let Some(labels) = &column.labels {
        return Some(TextKind::Enum(Arc::new(Labels { type_name: column.native_type.clone(), labels: labels.to_vec() })));
    }
    // A domain shows as `name (base)`.
    let native = column.native_type.strip_suffix(')').and_then(|open| open.split_once(" (")).map_or(column.native_type.as_str(), |(_, base)| base);
    match (native.to_ascii_lowercase().as_str(), source) {
        ("uuid", _) => Some(TextKind::Uuid),
        ("json", "postgres") => Some(TextKind::Json),
        ("jsonb", "postgres") => Some(TextKind::Jsonb),
        ("inet" | "cidr", "postgres") | ("inet4" | "inet6", "mysql") => Some(TextKind::Address),
        (native, "postgres") if unordered(native) => Some(TextKind::Unordered(native.to_owned())),
        _ => None,
    }
}

/// Types that PostgreSQL puts in another order than the letters that it prints.
fn unordered(native: &str) -> bool {
    let times = native.starts_with("time") && !native.starts_with("timestamp") && native.ends_with("with time zone");
    times || matches!(native, "money" | "pg_lsn") || native.ends_with("range")
}

impl TextKind {
    fn word(&self) -> &str {
        match self {
            Self::Uuid => "uuid",
            Self::Json => "json",
            Self::Jsonb => "jsonb",
            Self::Enum(labels) => &labels.type_name,
            Self::Address => "inet",
            Self::Unordered(native) => native,
        }
    }

    fn metadata(&self) -> HashMap<String, String> {
        let mut metadata = HashMap::new();
        match self {
            Self::Enum(labels) => {
                metadata.insert(KIND.to_owned(), "enum".to_owned());
                metadata.insert(TYPE.to_owned(), labels.type_name.clone());
                let list: Vec<serde_json::Value> = labels.labels.iter().map(|label| label.as_str().into()).collect();
                metadata.insert(LABELS.to_owned(), serde_json::Value::from(list).to_string());
            }
            Self::Unordered(native) => {
                metadata.insert(KIND.to_owned(), "unordered".to_owned());
                metadata.insert(TYPE.to_owned(), native.clone());
            }
            other => {
                metadata.insert(KIND.to_owned(), other.word().to_owned());
            }
        }
        metadata
    }

    fn of(metadata: &HashMap<String, String>) -> Option<Self> {
        Some(match metadata.get(KIND)?.as_str() {
            "uuid" => Self::Uuid,
            "json" => Self::Json,
            "jsonb" => Self::Jsonb,
            "inet" => Self::Address,
            "unordered" => Self::Unordered(metadata.get(TYPE)?.clone()),
            "enum" => {
                let labels = serde_json::from_str(metadata.get(LABELS)?).ok()?;
                Self::Enum(Arc::new(Labels { type_name: metadata.get(TYPE)?.clone(), labels }))
            }
            _ => return None,
        })
    }
}

impl Labels {
    /// Where a label stands.
    fn rank(&self, label: &str) -> Option<i32> {
        self.labels.iter().position(|known| known == label).and_then(|index| i32::try_from(index).ok())
    }
}
