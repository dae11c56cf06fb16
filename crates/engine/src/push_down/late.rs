// SPDX-License-Identifier: Apache-2.0
//! Key filters: what a join has found out about the keys of its one side, sent to the source of the other before that is read.
//! The join looks at every row again, so a part that cannot be written is left out; what is sent is a list of keys, never a range
//! around them, which would hold most of a table when the keys are scattered.

use super::condition::{Condition, condition};
use super::terms::Scope;
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::{Column, DFSchema};
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{Expr, Operator, cast};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{BinaryExpr, CaseExpr, CastExpr, Column as Place, InListExpr, Literal};
use std::sync::Arc;
use weir_source::{KeysMax, Source, Term};

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
    pub keys: usize,
}

/// The lists of keys in a filter as it stands now, as conditions over the outputs of a statement. `worth` says whether so many keys
/// for an output spare more than they cost.
pub(crate) fn key_filters(filter: &Arc<dyn PhysicalExpr>, outputs: &[Term], source: &dyn Source, worth: impl Fn(usize, usize) -> bool) -> Vec<KeyFilter> {
    let Some((schema, names)) = numbered(outputs) else { return Vec::new() };
    let scope = Scope { source, schema: &schema, terms: outputs };
    let limits = source.keys_max();
    let written = |keys: Keys| {
        let (count, column) = (keys.list.len(), keys.column);
        if !worth(column, count) {
            return None;
        }
        let value = Expr::Column(Column::new_unqualified(names.get(column)?));
        let value = keys.cast.map_or(value.clone(), |to| cast(value, to));
        let name = outputs[column].meaning.name.clone();
        let shown = format!("/* {count} keys from a join on {} */ true", name.replace("*/", "* /"));
        let sql = in_lists(&value, keys.list, limits, scope)?;
        Some(KeyFilter { sql, shown, column: name, place: column, keys: count })
    };
    lists(filter).into_iter().filter_map(written).collect()
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
        return united(case).into_iter().collect();
    }
    in_list(filter).into_iter().collect()
}

/// A join in several partitions asks of each row only the keys of its own: together they are the keys of all.
fn united(case: &CaseExpr) -> Option<Keys> {
    let mut together: Option<Keys> = None;
    let branches = case.when_then_expr().iter().map(|(_, then)| then).chain(case.else_expr());
    for branch in branches {
        if never(branch) {
            continue;
        }
        let keys = lists(branch).pop()?;
        match &mut together {
            None => together = Some(keys),
            Some(known) if known.column == keys.column && known.cast == keys.cast => known.list.extend(keys.list),
            Some(_) => return None,
        }
    }
    together
}

/// A partition without keys.
fn never(branch: &Arc<dyn PhysicalExpr>) -> bool {
    branch.downcast_ref::<Literal>().is_some_and(|literal| *literal.value() == datafusion::common::ScalarValue::Boolean(Some(false)))
}

fn in_list(filter: &Arc<dyn PhysicalExpr>) -> Option<Keys> {
    let listed = filter.downcast_ref::<InListExpr>().filter(|listed| !listed.negated())?;
    let (column, cast) = match listed.expr().downcast_ref::<CastExpr>() {
        Some(cast) => (cast.expr().downcast_ref::<Place>()?.index(), Some(cast.cast_type().clone())),
        None => (listed.expr().downcast_ref::<Place>()?.index(), None),
    };
    let value = |item: &Arc<dyn PhysicalExpr>| {
        let value = item.downcast_ref::<Literal>()?.value().clone();
        Some(if value.is_null() { None } else { Some(Expr::Literal(value, None)) })
    };
    let list: Vec<Expr> = listed.list().iter().map(value).collect::<Option<Vec<_>>>()?.into_iter().flatten().collect();
    let plain = !list.iter().any(|item| matches!(item, Expr::Literal(value, _) if matches!(value.data_type(), DataType::Struct(_))));
    (plain && !list.is_empty()).then_some(Keys { column, cast, list })
}
