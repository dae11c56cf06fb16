// SPDX-License-Identifier: Apache-2.0
//! The part of a filter that the lake can use to leave out files and row groups: of a logical one while planning, of a physical one,
//! which a join or a top-n may have tightened since, while running.

use arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Operator};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{self as physical, CaseExpr, Column, InListExpr, IsNotNullExpr, IsNullExpr};
use std::sync::Arc;
use weir_lake::{CompareOp, Literal, Predicate};

/// Lists up to this length are compared value by value.
const LISTED_MAX: usize = 1_000;
/// What becomes of longer ones.
const RANGES: usize = 64;

/// The predicate, weakened where a part of it cannot be used; `None` when nothing can.
pub(crate) fn prunable(filter: &Expr, schema: &SchemaRef) -> Option<Predicate> {
    match filter {
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => match (prunable(left, schema), prunable(right, schema)) {
            (Some(left), Some(right)) => Some(Predicate::And(vec![left, right])),
            (one, other) => one.or(other),
        },
        Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => Some(Predicate::Or(vec![prunable(left, schema)?, prunable(right, schema)?])),
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => compare(left, *op, right, schema),
        Expr::Between(Between { expr, negated: false, low, high }) => {
            let low = compare(expr, Operator::GtEq, low, schema);
            let high = compare(expr, Operator::LtEq, high, schema);
            match (low, high) {
                (Some(low), Some(high)) => Some(Predicate::And(vec![low, high])),
                (one, other) => one.or(other),
            }
        }
        Expr::InList(InList { expr, list, negated: false }) => {
            let column = column_index(expr, schema)?;
            let literals: Option<Vec<Literal>> = list.iter().map(literal).collect();
            Some(Predicate::In { column, literals: literals? })
        }
        Expr::IsNull(inner) => Some(Predicate::IsNull(column_index(inner, schema)?)),
        Expr::IsNotNull(inner) => Some(Predicate::IsNotNull(column_index(inner, schema)?)),
        _ => None,
    }
}

fn compare(left: &Expr, op: Operator, right: &Expr, schema: &Schema) -> Option<Predicate> {
    let (column, op, literal) = match (column_index(left, schema), literal(right)) {
        (Some(column), Some(literal)) => (column, op, literal),
        _ => (column_index(right, schema)?, op.swap()?, literal(left)?),
    };
    Some(Predicate::Compare { column, op: compare_op(op)?, literal })
}

fn compare_op(op: Operator) -> Option<CompareOp> {
    Some(match op {
        Operator::Eq => CompareOp::Equal,
        Operator::NotEq => CompareOp::NotEqual,
        Operator::Lt => CompareOp::Less,
        Operator::LtEq => CompareOp::LessOrEqual,
        Operator::Gt => CompareOp::Greater,
        Operator::GtEq => CompareOp::GreaterOrEqual,
        _ => return None,
    })
}

fn column_index(expr: &Expr, schema: &Schema) -> Option<usize> {
    match expr {
        Expr::Column(column) => schema.index_of(&column.name).ok(),
        _ => None,
    }
}

fn literal(expr: &Expr) -> Option<Literal> {
    match expr {
        Expr::Literal(value, _) => value_of(value),
        _ => None,
    }
}

fn value_of(value: &ScalarValue) -> Option<Literal> {
    Some(match value {
        ScalarValue::Boolean(Some(value)) => Literal::Bool(*value),
        ScalarValue::Int32(Some(value)) => Literal::Int(i64::from(*value)),
        ScalarValue::Int64(Some(value)) => Literal::Int(*value),
        ScalarValue::Float32(Some(value)) => Literal::Float(f64::from(*value)),
        ScalarValue::Float64(Some(value)) => Literal::Float(*value),
        ScalarValue::Decimal128(Some(value), _, scale) => Literal::Decimal { unscaled: *value, scale: *scale },
        ScalarValue::Utf8(Some(value)) | ScalarValue::LargeUtf8(Some(value)) | ScalarValue::Utf8View(Some(value)) => Literal::Text(value.clone()),
        ScalarValue::Binary(Some(value)) | ScalarValue::LargeBinary(Some(value)) => Literal::Bytes(value.clone()),
        ScalarValue::Date32(Some(value)) => Literal::Date(*value),
        ScalarValue::Time64Microsecond(Some(value)) => Literal::Time(*value),
        ScalarValue::TimestampMicrosecond(Some(value), _) => Literal::Timestamp(*value),
        _ => return None,
    })
}

/// The same for a physical filter as it stands now, whose column `i` is the table's column `columns[i]`.
pub(crate) fn prunable_now(filter: &Arc<dyn PhysicalExpr>, columns: &[usize]) -> Option<Predicate> {
    if let Some(binary) = filter.downcast_ref::<physical::BinaryExpr>() {
        return match (binary.op(), binary.left(), binary.right()) {
            (Operator::And, left, right) => match (prunable_now(left, columns), prunable_now(right, columns)) {
                (Some(left), Some(right)) => Some(Predicate::And(vec![left, right])),
                (one, other) => one.or(other),
            },
            (Operator::Or, left, right) => Some(Predicate::Or(vec![prunable_now(left, columns)?, prunable_now(right, columns)?])),
            (op, left, right) => compare_now(left, *op, right, columns),
        };
    }
    if let Some(list) = filter.downcast_ref::<InListExpr>() {
        let literals: Option<Vec<Literal>> = list.list().iter().map(literal_now).collect();
        return (!list.negated()).then_some(among(column_now(list.expr(), columns)?, literals?));
    }
    if let Some(case) = filter.downcast_ref::<CaseExpr>() {
        return any_branch(case, columns);
    }
    if let Some(null) = filter.downcast_ref::<IsNullExpr>() {
        return Some(Predicate::IsNull(column_now(null.arg(), columns)?));
    }
    let not_null = filter.downcast_ref::<IsNotNullExpr>()?;
    Some(Predicate::IsNotNull(column_now(not_null.arg(), columns)?))
}

/// A long list is not compared with every row group, value by value: the ranges between its widest gaps rule out nearly as much.
fn among(column: usize, literals: Vec<Literal>) -> Predicate {
    let whole = |literal: &Literal| if let Literal::Int(value) = literal { Some(*value) } else { None };
    let Some(mut values) = literals.iter().map(whole).collect::<Option<Vec<i64>>>().filter(|values| values.len() > LISTED_MAX) else {
        return Predicate::In { column, literals };
    };
    values.sort_unstable();
    let mut gaps: Vec<usize> = (1..values.len()).collect();
    let width = |at: &usize| std::cmp::Reverse(values[*at].abs_diff(values[*at - 1]));
    gaps.select_nth_unstable_by_key(RANGES - 2, width);
    gaps.truncate(RANGES - 1);
    gaps.sort_unstable();
    let begins = std::iter::once(0).chain(gaps.iter().copied());
    let ends = gaps.iter().copied().chain([values.len()]);
    let bound = |op, value| Predicate::Compare { column, op, literal: Literal::Int(value) };
    let range =
        |(begin, end): (usize, usize)| Predicate::And(vec![bound(CompareOp::GreaterOrEqual, values[begin]), bound(CompareOp::LessOrEqual, values[end - 1])]);
    Predicate::Or(begins.zip(ends).map(range).collect())
}

/// A join in several partitions asks of each row only what its own has found: whatever passes, passes one of them.
fn any_branch(case: &CaseExpr, columns: &[usize]) -> Option<Predicate> {
    let never = |branch: &Arc<dyn PhysicalExpr>| literal_now(branch) == Some(Literal::Bool(false));
    let branches = case.when_then_expr().iter().map(|(_, then)| then).chain(case.else_expr());
    let predicates: Vec<Predicate> = branches.filter(|branch| !never(branch)).map(|branch| prunable_now(branch, columns)).collect::<Option<_>>()?;
    // Without an ELSE the rest is NULL, which keeps no row.
    (!predicates.is_empty()).then_some(Predicate::Or(predicates))
}

fn compare_now(left: &Arc<dyn PhysicalExpr>, op: Operator, right: &Arc<dyn PhysicalExpr>, columns: &[usize]) -> Option<Predicate> {
    let (column, op, literal) = match (column_now(left, columns), literal_now(right)) {
        (Some(column), Some(literal)) => (column, op, literal),
        _ => (column_now(right, columns)?, op.swap()?, literal_now(left)?),
    };
    Some(Predicate::Compare { column, op: compare_op(op)?, literal })
}

fn column_now(expr: &Arc<dyn PhysicalExpr>, columns: &[usize]) -> Option<usize> {
    columns.get(expr.downcast_ref::<Column>()?.index()).copied()
}

fn literal_now(expr: &Arc<dyn PhysicalExpr>) -> Option<Literal> {
    value_of(expr.downcast_ref::<physical::Literal>()?.value())
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::{DataType, Field};
    use datafusion::physical_expr::expressions::{DynamicFilterPhysicalExpr, binary, col, in_list, lit};
    use datafusion::physical_expr_common::physical_expr::snapshot_physical_expr;

    #[test]
    fn a_filter_that_tightens_while_it_runs() {
        let schema = Schema::new(vec![Field::new("a", DataType::Int64, true), Field::new("b", DataType::Utf8View, true)]);
        let (a, b) = (col("a", &schema).unwrap(), col("b", &schema).unwrap());
        let dynamic = Arc::new(DynamicFilterPhysicalExpr::new(vec![a.clone(), b.clone()], lit(true)));
        let now = || prunable_now(&snapshot_physical_expr(dynamic.clone()).unwrap(), &[7, 3]);
        assert_eq!(now(), None, "nothing is known yet");

        let lower = binary(lit(5_i64), Operator::Lt, a, &schema).unwrap();
        let listed = in_list(b, vec![lit("x")], &false, &schema).unwrap();
        dynamic.update(binary(lower, Operator::And, listed, &schema).unwrap()).unwrap();
        let above = Predicate::Compare { column: 7, op: CompareOp::Greater, literal: Literal::Int(5) };
        let among = Predicate::In { column: 3, literals: vec![Literal::Text("x".to_owned())] };
        assert_eq!(now(), Some(Predicate::And(vec![above, among])));
    }

    #[test]
    fn what_partitions_of_a_join_have_found_is_put_together() {
        let schema = Schema::new(vec![Field::new("a", DataType::Int64, true)]);
        let a = col("a", &schema).unwrap();
        let equal = |value: i64| binary(a.clone(), Operator::Eq, lit(value), &schema).unwrap();
        let case = |branches: [Arc<dyn PhysicalExpr>; 2], rest: Arc<dyn PhysicalExpr>| -> Arc<dyn PhysicalExpr> {
            let when = branches.into_iter().enumerate().map(|(index, then)| (equal(index as i64), then)).collect();
            Arc::new(CaseExpr::try_new(None, when, Some(rest)).unwrap())
        };
        let found = prunable_now(&case([equal(5), lit(false)], equal(7)), &[2]);
        let one = |value| Predicate::Compare { column: 2, op: CompareOp::Equal, literal: Literal::Int(value) };
        assert_eq!(found, Some(Predicate::Or(vec![one(5), one(7)])));
        assert_eq!(prunable_now(&case([equal(5), lit(true)], equal(7)), &[2]), None, "one partition takes all");
    }

    #[test]
    fn a_long_list_becomes_ranges_that_hold_all_of_it() {
        let values: Vec<i64> = (0..2_000).rev().map(|n| n % 500 + n / 500 * 1_000_000 + n % 50 / 49 * 10).collect();
        let Predicate::Or(ranges) = among(3, values.iter().copied().map(Literal::Int).collect()) else { panic!("not ranges") };
        assert_eq!(ranges.len(), RANGES);
        let bounds = |range: &Predicate| match range {
            Predicate::And(parts) => match parts.as_slice() {
                [Predicate::Compare { literal: Literal::Int(low), .. }, Predicate::Compare { literal: Literal::Int(high), .. }] => (*low, *high),
                _ => panic!("{range:?}"),
            },
            _ => panic!("{range:?}"),
        };
        let bounds: Vec<(i64, i64)> = ranges.iter().map(bounds).collect();
        assert!(values.iter().all(|value| bounds.iter().any(|(low, high)| low <= value && value <= high)));
        assert!(bounds.iter().all(|(low, high)| low <= high && high - low < 1_000), "no range spans the gap of a million: {bounds:?}");
        let short = among(3, vec![Literal::Int(1)]);
        assert_eq!(short, Predicate::In { column: 3, literals: vec![Literal::Int(1)] });
    }

    #[test]
    fn one_unknown_side_of_an_or_says_nothing() {
        let schema = Schema::new(vec![Field::new("a", DataType::Int64, true)]);
        let known = binary(col("a", &schema).unwrap(), Operator::Eq, lit(1_i64), &schema).unwrap();
        let either = binary(known.clone(), Operator::Or, lit(true), &schema).unwrap();
        assert_eq!(prunable_now(&either, &[0]), None);
        let both = binary(known, Operator::And, lit(true), &schema).unwrap();
        assert!(prunable_now(&both, &[0]).is_some());
    }
}
