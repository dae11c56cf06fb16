// SPDX-License-Identifier: Apache-2.0
//! ROLLUP, CUBE and GROUPING SETS over expressions: each key is computed below and grouped by as a column. The query engine takes the set
//! for a column as soon as the type of a key in it changes. A number in such a set is the place of a selected column, as in a plain GROUP BY.

use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Column, Result};
use datafusion::logical_expr::expr::GroupingSet;
use datafusion::logical_expr::utils::grouping_set_to_exprlist;
use datafusion::logical_expr::{Aggregate, Expr, LogicalPlan, LogicalPlanBuilder};
use datafusion::sql::sqlparser::ast::{Expr as SqlExpr, GroupByExpr, Select, SelectItem, Value};
use std::sync::Arc;

/// The plan whose grouping sets are of columns.
pub(super) fn over_columns(plan: LogicalPlan) -> Result<LogicalPlan> {
    plan.transform_up_with_subqueries(|node| match node {
        LogicalPlan::Aggregate(aggregate) if computes(&aggregate) => computed_below(aggregate).map(Transformed::yes),
        other => Ok(Transformed::no(other)),
    })
    .data()
}

fn computes(aggregate: &Aggregate) -> bool {
    let [Expr::GroupingSet(set)] = aggregate.group_expr.as_slice() else { return false };
    set.distinct_expr().into_iter().any(computed)
}

fn computed(key: &Expr) -> bool {
    !matches!(key, Expr::Column(_) | Expr::Literal(..))
}

fn computed_below(aggregate: Aggregate) -> Result<LogicalPlan> {
    let Aggregate { input, group_expr, aggr_expr, .. } = aggregate;
    let keys: Vec<Expr> = grouping_set_to_exprlist(&group_expr)?.into_iter().filter(|key| computed(key)).cloned().collect();
    let column = |key: &Expr| Expr::Column(Column::new_unqualified(key.schema_name().to_string()));
    let passed = input.schema().columns().into_iter().map(Expr::Column);
    let made = keys.iter().map(|key| key.clone().alias(key.schema_name().to_string()));
    let below = LogicalPlanBuilder::from(input.as_ref().clone()).project(passed.chain(made).collect::<Vec<_>>())?.build()?;
    let of_column = |key: Expr| if keys.contains(&key) { column(&key) } else { key };
    let of_columns = |set: Vec<Expr>| set.into_iter().map(of_column).collect::<Vec<_>>();
    let group_expr = group_expr.into_iter().map(|set| match set {
        Expr::GroupingSet(GroupingSet::Rollup(keys)) => Expr::GroupingSet(GroupingSet::Rollup(of_columns(keys))),
        Expr::GroupingSet(GroupingSet::Cube(keys)) => Expr::GroupingSet(GroupingSet::Cube(of_columns(keys))),
        Expr::GroupingSet(GroupingSet::GroupingSets(sets)) => Expr::GroupingSet(GroupingSet::GroupingSets(sets.into_iter().map(of_columns).collect())),
        other => other,
    });
    let group_expr: Vec<Expr> = group_expr.collect();
    // `grouping(k + 1)` asks for a key by what it is.
    let aggr_expr = aggr_expr.into_iter().map(|asked| {
        if !asks_for_keys(&asked) {
            return Ok(asked);
        }
        asked.transform_down(|inner| Ok(if keys.contains(&inner) { Transformed::yes(column(&inner)) } else { Transformed::no(inner) })).data()
    });
    let aggr_expr = aggr_expr.collect::<Result<Vec<_>>>()?;
    Ok(LogicalPlan::Aggregate(Aggregate::try_new(Arc::new(below), group_expr, aggr_expr)?))
}

fn asks_for_keys(expr: &Expr) -> bool {
    match expr {
        Expr::Alias(alias) => asks_for_keys(&alias.expr),
        Expr::AggregateFunction(function) => function.func.name() == "grouping",
        _ => false,
    }
}

/// `ROLLUP (1)` is the first selected column.
pub(super) fn name_places(select: &mut Select) {
    let Select { group_by: GroupByExpr::Expressions(keys, _), projection, .. } = select else { return };
    for key in keys {
        let (SqlExpr::Rollup(sets) | SqlExpr::Cube(sets) | SqlExpr::GroupingSets(sets)) = key else { continue };
        for key in sets.iter_mut().flatten() {
            if let Some(selected) = place(key).and_then(|place| projection.get(place)).and_then(selected) {
                *key = selected.clone();
            }
        }
    }
}

fn place(key: &SqlExpr) -> Option<usize> {
    match key {
        SqlExpr::Value(value) => match &value.value {
            Value::Number(digits, _) => digits.parse::<usize>().ok()?.checked_sub(1),
            _ => None,
        },
        SqlExpr::Nested(inner) => place(inner),
        _ => None,
    }
}

fn selected(item: &SelectItem) -> Option<&SqlExpr> {
    match item {
        SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } => Some(expr),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::bind::parse;

    #[test]
    fn places_in_grouping_sets_are_columns() {
        let plain = |sql: &str| parse(sql).unwrap().to_string();
        assert_eq!(plain("SELECT a + 1, b FROM t GROUP BY ROLLUP (1, 2)"), "SELECT a + 1, b FROM t GROUP BY ROLLUP (a + 1, b)");
        assert_eq!(plain("SELECT a AS x, b FROM t GROUP BY CUBE (1, c)"), "SELECT a AS x, b FROM t GROUP BY CUBE (a, c)");
    }
}
