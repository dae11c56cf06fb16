// SPDX-License-Identifier: Apache-2.0
//! `CAST(column AS text)` over a column whose values our types may not hold is read as text in the source, where every value has one.

use super::SourceTableProvider;
use arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::common::{Column, ExprSchema, Result};
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::logical_expr::expr::{Cast, TryCast};
use datafusion::logical_expr::expr_rewriter::NamePreserver;
use datafusion::logical_expr::{Expr, JoinType, LogicalPlan, Projection, SubqueryAlias, TableScan};
use datafusion::optimizer::AnalyzerRule;
use std::collections::HashMap;
use std::sync::Arc;

/// Goes before the rules that cast by themselves.
#[derive(Debug)]
pub(crate) struct ReadAsText;

impl AnalyzerRule for ReadAsText {
    fn name(&self) -> &str {
        "read_as_text"
    }

    fn analyze(&self, plan: LogicalPlan, _: &ConfigOptions) -> Result<LogicalPlan> {
        plan.transform_up_with_subqueries(rewritten).data()
    }
}

fn rewritten(plan: LogicalPlan) -> Result<Transformed<LogicalPlan>> {
    let wanted = columns_cast(&plan)?;
    let mut inputs: Vec<LogicalPlan> = plan.inputs().into_iter().cloned().collect();
    let mut texts = HashMap::new();
    for column in wanted {
        for input in &mut inputs {
            if let Some((wider, text)) = exposed(input, &column)? {
                *input = wider;
                texts.insert(column.clone(), text);
                break;
            }
        }
    }
    if texts.is_empty() {
        return Ok(Transformed::no(plan));
    }
    let narrow: Vec<Expr> = plan.schema().columns().into_iter().map(Expr::Column).collect();
    let names = NamePreserver::new(&plan);
    let expressions = plan.expressions().into_iter().map(|expr| {
        let name = names.save(&expr);
        let read = expr.transform_up(|node| Ok(read(&node, &texts).map_or_else(|| Transformed::no(node), Transformed::yes)))?;
        Ok(name.restore(read.data))
    });
    let expressions = expressions.collect::<Result<Vec<_>>>()?;
    let decides = matches!(plan, LogicalPlan::Projection(_) | LogicalPlan::Aggregate(_));
    let read = plan.with_new_exprs(expressions, inputs)?;
    // What passes its input on would pass the texts on too.
    Ok(Transformed::yes(if decides { read } else { LogicalPlan::Projection(Projection::try_new(narrow, Arc::new(read))?) }))
}

/// Columns that the node itself casts to text.
fn columns_cast(plan: &LogicalPlan) -> Result<Vec<Column>> {
    let mut found = Vec::new();
    if !matches!(
        plan,
        LogicalPlan::Projection(_) | LogicalPlan::Aggregate(_) | LogicalPlan::Filter(_) | LogicalPlan::Sort(_) | LogicalPlan::Join(_) | LogicalPlan::Window(_)
    ) {
        return Ok(found);
    }
    plan.apply_expressions(|expr| {
        expr.apply(|node| {
            if let Some(column) = cast_column(node).filter(|column| !found.contains(*column)) {
                found.push(column.clone());
            }
            Ok(datafusion::common::tree_node::TreeNodeRecursion::Continue)
        })
    })?;
    Ok(found)
}

fn cast_column(node: &Expr) -> Option<&Column> {
    let (Expr::Cast(Cast { expr, field }) | Expr::TryCast(TryCast { expr, field })) = node else { return None };
    match (expr.as_ref(), field.data_type()) {
        (Expr::Column(column), DataType::Utf8) if field.metadata().is_empty() => Some(column),
        _ => None,
    }
}

fn read(node: &Expr, texts: &HashMap<Column, Column>) -> Option<Expr> {
    texts.get(cast_column(node)?).cloned().map(Expr::Column)
}

/// The plan with one more column, the text of `column`; `None` where the column does not come out of a source as it is.
fn exposed(plan: &LogicalPlan, column: &Column) -> Result<Option<(LogicalPlan, Column)>> {
    if plan.schema().field_from_column(column).is_err() {
        return Ok(None);
    }
    match plan {
        LogicalPlan::TableScan(scan) => exposed_by_scan(scan, column),
        LogicalPlan::SubqueryAlias(alias) => {
            let index = plan.schema().index_of_column(column)?;
            let inner = Column::from(alias.input.schema().qualified_field(index));
            let Some((input, text)) = exposed(&alias.input, &inner)? else { return Ok(None) };
            let text = Column::new(Some(alias.alias.clone()), text.name);
            Ok(Some((LogicalPlan::SubqueryAlias(SubqueryAlias::try_new(Arc::new(input), alias.alias.clone())?), text)))
        }
        LogicalPlan::Projection(projection) => {
            let index = plan.schema().index_of_column(column)?;
            let Expr::Column(inner) = projection.expr[index].clone().unalias() else { return Ok(None) };
            let Some((input, text)) = exposed(&projection.input, &inner)? else { return Ok(None) };
            let mut list = projection.expr.clone();
            list.push(Expr::Column(text.clone()));
            Ok(Some((LogicalPlan::Projection(Projection::try_new(list, Arc::new(input))?), text)))
        }
        LogicalPlan::Join(join) if !matches!(join.join_type, JoinType::Inner | JoinType::Left | JoinType::Right | JoinType::Full) => Ok(None),
        LogicalPlan::Filter(_) | LogicalPlan::Sort(_) | LogicalPlan::Limit(_) | LogicalPlan::Join(_) => {
            let mut inputs: Vec<LogicalPlan> = plan.inputs().into_iter().cloned().collect();
            for index in 0..inputs.len() {
                if let Some((wider, text)) = exposed(&inputs[index], column)? {
                    inputs[index] = wider;
                    return Ok(Some((plan.with_new_exprs(plan.expressions(), inputs)?.recompute_schema()?, text)));
                }
            }
            Ok(None)
        }
        _ => Ok(None),
    }
}

fn exposed_by_scan(scan: &TableScan, column: &Column) -> Result<Option<(LogicalPlan, Column)>> {
    let Ok(provider) = source_as_provider(&scan.source) else { return Ok(None) };
    let Some(table) = (provider.as_ref() as &dyn std::any::Any).downcast_ref::<SourceTableProvider>() else { return Ok(None) };
    let Some((wider, index)) = table.with_text(&column.name) else { return Ok(None) };
    let name = wider.text_name(index);
    let projection = scan.projection.clone().map(|mut projection| {
        if !projection.contains(&index) {
            projection.push(index);
        }
        projection
    });
    let source = provider_as_source(Arc::new(wider));
    let scan = TableScan::try_new(scan.table_name.clone(), source, projection, scan.filters.clone(), scan.fetch)?;
    let text = Column::new(Some(scan.table_name.clone()), name);
    Ok(Some((LogicalPlan::TableScan(scan), text)))
}

/// Whether a source of that kind has values of this type that ours has not, and prints the others as we do.
pub(super) fn may_not_fit(kind: &str, data_type: &DataType) -> bool {
    match kind {
        "postgres" => matches!(
            data_type,
            DataType::Decimal128(..) | DataType::Decimal256(..) | DataType::Interval(_) | DataType::List(_) | DataType::Date32 | DataType::Timestamp(_, None)
        ),
        "mysql" => matches!(data_type, DataType::Time64(_)),
        _ => false,
    }
}
