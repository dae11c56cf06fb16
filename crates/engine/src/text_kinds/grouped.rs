// SPDX-License-Identifier: Apache-2.0
//! Groups of `jsonb`: `1` and `1.0` are one value, so the keys are what equal values share, and of each group one of its values is shown.

use super::TextKind;
use super::rule::kind_of;
use super::words::{Word, Work};
use datafusion::common::{Column, DFSchema, Result};
use datafusion::functions_aggregate::expr_fn::min;
use datafusion::logical_expr::logical_plan::{Aggregate, Projection};
use datafusion::logical_expr::{Distinct, Expr, LogicalPlan};
use std::sync::Arc;

/// DISTINCT, GROUP BY and the joins of INTERSECT and EXCEPT with `jsonb` among their keys, as those that tell its values apart. Everything else stays as it is.
pub(super) fn told_apart(plan: LogicalPlan) -> Result<LogicalPlan> {
    match plan {
        LogicalPlan::Aggregate(aggregate) if has_json(&aggregate.group_expr, aggregate.input.schema()) => by_value(aggregate),
        LogicalPlan::Distinct(Distinct::All(input)) => {
            let keys: Vec<Expr> = input.schema().columns().into_iter().map(Expr::Column).collect();
            match has_json(&keys, input.schema()) {
                true => by_value(Aggregate::try_new(input, keys, Vec::new())?),
                false => Ok(LogicalPlan::Distinct(Distinct::All(input))),
            }
        }
        LogicalPlan::Join(mut join) => {
            for (left, right) in &mut join.on {
                if is_json(left, join.left.schema()) && is_json(right, join.right.schema()) {
                    (*left, *right) = (Word::call(Work::Canonical, left.clone()), Word::call(Work::Canonical, right.clone()));
                }
            }
            Ok(LogicalPlan::Join(join))
        }
        other => Ok(other),
    }
}

/// What equal values share, of an expression that is `jsonb`.
pub(super) fn canonical(expr: Expr, schema: &DFSchema) -> Expr {
    if is_json(&expr, schema) { Word::call(Work::Canonical, expr) } else { expr }
}

fn is_json(expr: &Expr, schema: &DFSchema) -> bool {
    kind_of(expr, schema) == Some(TextKind::Jsonb)
}

/// Groups by several sets of keys are left out.
fn has_json(keys: &[Expr], schema: &DFSchema) -> bool {
    keys.iter().any(|key| is_json(key, schema)) && !keys.iter().any(|key| matches!(key, Expr::GroupingSet(_)))
}

fn by_value(aggregate: Aggregate) -> Result<LogicalPlan> {
    let Aggregate { input, group_expr, aggr_expr, schema, .. } = aggregate;
    let width = group_expr.len();
    let mut keys = Vec::with_capacity(width);
    let mut values = aggr_expr;
    let mut shown = Vec::with_capacity(schema.fields().len());
    for (index, key) in group_expr.into_iter().enumerate() {
        if !is_json(&key, input.schema()) {
            shown.push(None);
            keys.push(key);
            continue;
        }
        let name = format!("jsonb {}", index + 1);
        values.push(min(Word::call(Work::Plain, key.clone())).alias(&name));
        keys.push(Word::call(Work::Canonical, key).alias(format!("key {}", index + 1)));
        shown.push(Some(name));
    }
    let groups = Aggregate::try_new(input, keys, values)?;
    let column = |(index, (qualifier, field)): (usize, (Option<&datafusion::common::TableReference>, &arrow::datatypes::FieldRef))| {
        let (own, known) = groups.schema.qualified_field(index);
        match shown.get(index).cloned().flatten() {
            Some(name) => Word::call(Work::Jsonb, Expr::Column(Column::new_unqualified(name))).alias_qualified(qualifier.cloned(), field.name()),
            None if own == qualifier && known.name() == field.name() => Expr::Column(Column::new(own.cloned(), known.name())),
            None => Expr::Column(Column::new(own.cloned(), known.name())).alias_qualified(qualifier.cloned(), field.name()),
        }
    };
    let columns: Vec<Expr> = schema.iter().enumerate().map(column).collect();
    Ok(LogicalPlan::Projection(Projection::try_new(columns, Arc::new(LogicalPlan::Aggregate(groups)))?))
}
