// SPDX-License-Identifier: Apache-2.0
//! Key filters: what a join has found out about the keys of its one side, sent to the source of the other before that is read.
//! The join looks at every row again, so a part that cannot be written is left out; what is sent is a list of keys, never a range
//! around them, which would hold most of a table when the keys are scattered.

use super::condition::{Condition, condition};
use super::key_bits::in_bits;
use super::literal::operand;
use super::terms::Scope;
use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::{Column, DFSchema, ScalarValue};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{ColumnarValue, Expr, Operator, binary_expr, cast, lit};
use datafusion::physical_expr::expressions::{BinaryExpr, CaseExpr, CastExpr, Column as Place, InListExpr, Literal};
use datafusion::physical_expr::utils::collect_columns;
use datafusion::physical_expr::{PhysicalExpr, ScalarFunctionExpr, split_conjunction};
use std::collections::HashSet;
use std::sync::Arc;
use weir_source::{KeysMax, Operand, Operation, Source, Support, Term};

/// Keys for one column of a statement's output.
#[derive(Debug, Clone, PartialEq)]
struct Keys {
    column: usize,
    /// What the column is cast to before it is compared.
    cast: Option<DataType>,
    list: Vec<Expr>,
}

/// A condition that a join asks for, with what may be shown of it: keys are values of rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyFilter {
    pub sql: String,
    pub shown: String,
    pub column: String,
    /// Which output that is.
    pub place: usize,
    /// How many; `None` for a comparison with one value.
    pub keys: Option<usize>,
}

/// What a list of keys is worth to a scan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Worth {
    /// It costs more than it spares.
    Nothing,
    /// An index finds the few rows of these keys.
    Some,
    /// There are so many that the source looks at each row.
    Many,
    /// So many that only a set of bits costs less than it spares.
    OnlyBits,
}

/// The lists of keys in a filter as it stands now, as conditions over the outputs of a statement. `worth` is asked about an output and
/// the number of its keys.
pub(crate) fn key_filters(filter: &Arc<dyn PhysicalExpr>, outputs: &[Term], source: &dyn Source, worth: impl Fn(usize, usize) -> Worth) -> Vec<KeyFilter> {
    let Some((schema, names)) = numbered(outputs) else { return Vec::new() };
    let scope = Scope { source, schema: &schema, terms: outputs };
    let limits = source.keys_max();
    let written = |keys: Keys| {
        let (count, column) = (keys.list.len(), keys.column);
        let worth = worth(column, count);
        if worth == Worth::Nothing {
            return None;
        }
        let bits = if matches!(worth, Worth::Many | Worth::OnlyBits) { in_bits(&outputs[column], &keys.list, source) } else { None };
        let value = Expr::Column(Column::new_unqualified(names.get(column)?));
        let value = keys.cast.map_or(value.clone(), |to| cast(value, to));
        let name = outputs[column].meaning.name.clone();
        let one = keys.list.iter().take(1).cloned().collect();
        let bits = bits.filter(|_| in_lists(&value, one, limits, scope).is_some());
        let form = if bits.is_some() { ", as bits" } else { "" };
        let shown = format!("/* {count} keys from a join on {}{form} */ true", name.replace("*/", "* /"));
        let sql = match bits {
            Some(bits) => bits,
            None if worth == Worth::OnlyBits => return None,
            None => in_lists(&value, keys.list, limits, scope)?,
        };
        Some(KeyFilter { sql, shown, column: name, place: column, keys: Some(count) })
    };
    lists(filter).into_iter().filter_map(written).collect()
}

/// Whether a key of its type can be looked for in an output, as far as that does not depend on the key.
pub(crate) fn takes_keys(term: &Term, source: &dyn Source) -> bool {
    let meaning = &term.meaning;
    let label = meaning.labels.as_ref().and_then(|labels| labels.first()).map(String::as_str);
    let texts = [label, Some("a"), Some("00000000-0000-0000-0000-000000000000")];
    let text = matches!(meaning.data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let sample = ScalarValue::new_default(&meaning.data_type).ok();
    let other = sample.as_ref().filter(|_| !text).and_then(operand);
    let operands = texts.into_iter().flatten().filter(|_| text).map(Operand::Text).chain(other);
    term.total && operands.into_iter().any(|operand| !matches!(source.support(&Operation::Equal(operand), meaning), Support::Never(_)))
}

/// Comparisons of an output with a value that was not known when the statement was planned, as the one row of a subquery is. Whoever asks
/// looks at each row again.
pub(crate) fn value_filters(filter: &Arc<dyn PhysicalExpr>, outputs: &[Term], source: &dyn Source) -> Vec<KeyFilter> {
    let Some((schema, names)) = numbered(outputs) else { return Vec::new() };
    let scope = Scope { source, schema: &schema, terms: outputs };
    let written = |part: &Arc<dyn PhysicalExpr>| {
        let (place, cast_to, op, found) = comparison(part)?;
        let value = Expr::Column(Column::new_unqualified(names.get(place)?));
        let value = cast_to.map_or(value.clone(), |to| cast(value, to));
        // Beside a NULL there is no row.
        let asked = if found.is_null() { lit(false) } else { binary_expr(value, op, Expr::Literal(found, None)) };
        let (Condition::Exact(sent) | Condition::Superset(sent, _)) = condition(&asked, scope) else { return None };
        let column = outputs[place].meaning.name.clone();
        let shown = format!("/* {} {op} what a subquery found */ true", column.replace("*/", "* /"));
        Some(KeyFilter { sql: sent.sql, shown, column, place, keys: None })
    };
    split_conjunction(filter).into_iter().filter_map(written).collect()
}

/// A column, what it is cast to, how it is compared, and with what.
fn comparison(part: &Arc<dyn PhysicalExpr>) -> Option<(usize, Option<DataType>, Operator, ScalarValue)> {
    let binary = part.downcast_ref::<BinaryExpr>()?;
    let compares = matches!(binary.op(), Operator::Eq | Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq);
    let sides = [(binary.left(), binary.right(), Some(*binary.op())), (binary.right(), binary.left(), binary.op().swap())];
    sides.into_iter().filter(|_| compares).find_map(|(column, other, op)| {
        let (column, cast) = place(column)?;
        if !collect_columns(other).is_empty() {
            return None;
        }
        let row = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), Vec::new(), &RecordBatchOptions::new().with_row_count(Some(1))).ok()?;
        let ColumnarValue::Scalar(found) = other.evaluate(&row).ok()? else { return None };
        Some((column, cast, op?, found))
    })
}

/// One list, or several beside each other where one may not be that long. They stand in one statement: several would each see the
/// table at another moment, and miss a row whose key changes between them.
fn in_lists(value: &Expr, mut keys: Vec<Expr>, limits: KeysMax, scope: Scope<'_>) -> Option<String> {
    let mut lists = Vec::new();
    let mut bytes = 0;
    while !keys.is_empty() {
        let rest = keys.split_off(keys.len().min(limits.list));
        let list = Expr::InList(InList::new(Box::new(value.clone()), std::mem::replace(&mut keys, rest), false));
        let (Condition::Exact(sent) | Condition::Superset(sent, _)) = condition(&list, scope) else { return None };
        bytes += sent.sql.len();
        if bytes > limits.text_bytes {
            return None;
        }
        lists.push(sent.sql);
    }
    match lists.len() {
        1 => lists.pop(),
        _ => Some(format!("({})", lists.iter().map(|list| format!("({list})")).collect::<Vec<_>>().join(" OR "))),
    }
}

/// Columns by their place: those of a join can have one name.
fn numbered(outputs: &[Term]) -> Option<(DFSchema, Vec<String>)> {
    let names: Vec<String> = (0..outputs.len()).map(|place| place.to_string()).collect();
    let fields: Vec<Field> = outputs.iter().zip(&names).map(|(term, name)| Field::new(name, term.meaning.data_type.clone(), true)).collect();
    Some((DFSchema::try_from(Schema::new(fields)).ok()?, names))
}

/// The lists that every row has to be in.
fn lists(filter: &Arc<dyn PhysicalExpr>) -> Vec<Keys> {
    if let Some(binary) = filter.downcast_ref::<BinaryExpr>()
        && *binary.op() == Operator::And
    {
        return lists(binary.left()).into_iter().chain(lists(binary.right())).collect();
    }
    if let Some(case) = filter.downcast_ref::<CaseExpr>() {
        return united(case);
    }
    in_list(filter)
}

/// A join in several partitions asks of each row only the keys of its own: together they are the keys of all.
fn united(case: &CaseExpr) -> Vec<Keys> {
    let mut together: Option<Vec<Keys>> = None;
    let branches = case.when_then_expr().iter().map(|(_, then)| then).chain(case.else_expr());
    for mut keys in branches.filter(|branch| !never(branch)).map(lists) {
        let Some(known) = &mut together else {
            together = Some(keys);
            continue;
        };
        // What is not asked in one partition may be anything there.
        known.retain_mut(|known| {
            let same = keys.iter().position(|keys| known.column == keys.column && known.cast == keys.cast);
            same.map(|place| known.list.extend(keys.swap_remove(place).list)).is_some()
        });
    }
    together.unwrap_or_default()
}

/// A partition without keys.
fn never(branch: &Arc<dyn PhysicalExpr>) -> bool {
    branch.downcast_ref::<Literal>().is_some_and(|literal| *literal.value() == ScalarValue::Boolean(Some(false)))
}

/// The keys of one column, or those of each of several that are looked up together: more rows may come then than match.
fn in_list(filter: &Arc<dyn PhysicalExpr>) -> Vec<Keys> {
    let Some(listed) = filter.downcast_ref::<InListExpr>().filter(|listed| !listed.negated()) else { return Vec::new() };
    let value = |item: &Arc<dyn PhysicalExpr>| Some(item.downcast_ref::<Literal>()?.value().clone());
    let Some(values) = listed.list().iter().map(value).collect::<Option<Vec<_>>>() else { return Vec::new() };
    let keys = match listed.expr().downcast_ref::<ScalarFunctionExpr>().filter(|function| function.name() == "struct") {
        None => vec![of_column(listed.expr(), values)],
        Some(together) => together.args().iter().enumerate().map(|(place, part)| of_column(part, parts(&values, place)?)).collect(),
    };
    keys.into_iter().flatten().collect()
}

/// The different values in one place of keys that are made of several.
fn parts(keys: &[ScalarValue], place: usize) -> Option<Vec<ScalarValue>> {
    let mut seen = HashSet::new();
    let mut values = Vec::new();
    for key in keys {
        let ScalarValue::Struct(key) = key else { return None };
        let value = ScalarValue::try_from_array(key.columns().get(place)?, 0).ok()?;
        if seen.insert(value.clone()) {
            values.push(value);
        }
    }
    Some(values)
}

/// A column, and what it is cast to.
fn place(expr: &Arc<dyn PhysicalExpr>) -> Option<(usize, Option<DataType>)> {
    match expr.downcast_ref::<CastExpr>() {
        Some(cast) => Some((cast.expr().downcast_ref::<Place>()?.index(), Some(cast.cast_type().clone()))),
        None => Some((expr.downcast_ref::<Place>()?.index(), None)),
    }
}

fn of_column(expr: &Arc<dyn PhysicalExpr>, values: Vec<ScalarValue>) -> Option<Keys> {
    let (column, cast) = place(expr)?;
    let plain = !values.iter().any(|value| matches!(value.data_type(), DataType::Struct(_)));
    let list: Vec<Expr> = values.into_iter().filter(|value| !value.is_null()).map(|value| Expr::Literal(value, None)).collect();
    (plain && !list.is_empty()).then_some(Keys { column, cast, list })
}
