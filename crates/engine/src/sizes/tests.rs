// SPDX-License-Identifier: Apache-2.0
//! Sizes of plans over tables with made-up statistics.

use super::*;
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::common::ScalarValue;
use datafusion::common::{Column, TableReference};
use datafusion::logical_expr::{col, lit};
use weir_source::{Column as SourceColumn, SourceTable, TableKind, TableStatistics, Value};

fn table(columns: &[&str]) -> SourceTable {
    let column = |name: &&str| SourceColumn {
        name: (*name).to_owned(),
        native_type: "int".into(),
        data_type: DataType::Int64,
        nullable: true,
        collation: None,
        bytewise_equality: true,
        read_as: None,
        labels: None,
        degraded: None,
        altering: weir_source::Altering::default(),
    };
    SourceTable {
        schema: "s".into(),
        name: "t".into(),
        kind: TableKind::Table,
        columns: columns.iter().map(column).collect(),
        unique: Vec::new(),
        rows_estimate: Some(10),
        bytes_estimate: None,
        comment: None,
    }
}

/// A thousand rows: `id` is a key from 0 to 999, `kind` has ten values of which 1 is in half of the rows, `gap` is NULL in a quarter.
fn counted() -> (Size, DFSchema) {
    let id = ColumnStatistics { distinct: Some(1000), quantiles: vec![0.0, 500.0, 1000.0], ..ColumnStatistics::default() };
    let kind = ColumnStatistics { distinct: Some(11), common: vec![(Value::Place(1.0), 0.5)], ..ColumnStatistics::default() };
    let gap = ColumnStatistics { null_fraction: Some(0.25), distinct: Some(100), ..ColumnStatistics::default() };
    let known = TableStatistics { rows: Some(1000), columns: vec![id, kind, gap] };
    let size = source_size(&table(&["id", "kind", "gap"]), Some(&known), &[]);
    let fields = ["id", "kind", "gap"].map(|name| Field::new(name, DataType::Int64, true));
    let schema = DFSchema::try_from_qualified_schema(TableReference::bare("t"), &Schema::new(fields.to_vec())).unwrap();
    (size, schema)
}

fn kept(condition: Expr) -> f64 {
    let (size, schema) = counted();
    size.filtered(split_conjunction(&condition), &schema).rows.round()
}

#[test]
fn a_table_without_statistics_has_its_estimate_or_is_unknown() {
    assert_eq!(source_size(&table(&["a"]), None, &[]).rows, 10.0);
    let never = SourceTable { rows_estimate: None, ..table(&["a"]) };
    let size = source_size(&never, Some(&TableStatistics::unknown(1)), &[]);
    assert!(!size.known);
    assert_eq!(size.statistics(&Schema::new(vec![Field::new("a", DataType::Int64, true)])).num_rows, Precision::Absent);
}

#[test]
fn filters_keep_what_the_source_has_counted() {
    for (condition, rows) in [
        (col("id").eq(lit(7_i64)), 1.0),
        (col("id").eq(lit(5000_i64)), 1.0),
        (col("kind").eq(lit(1_i64)), 500.0),
        (col("kind").eq(lit(2_i64)), 50.0),
        (col("kind").not_eq(lit(1_i64)), 500.0),
        (lit(250_i64).gt(col("id")), 250.0),
        (col("id").gt_eq(lit(100_i64)).and(col("id").lt(lit(200_i64))), 100.0),
        (col("id").between(lit(100_i64), lit(200_i64)), 100.0),
        (col("id").in_list(vec![lit(1_i64), lit(2_i64), lit(3_i64)], false), 3.0),
        (col("gap").is_null(), 250.0),
        (col("gap").is_not_null(), 750.0),
        (col("gap").eq(lit(1_i64)), 8.0),
        (col("kind").eq(lit(1_i64)).or(col("id").lt(lit(500_i64))), 750.0),
        (col("kind").eq(lit(ScalarValue::Int64(None))), 1.0),
    ] {
        assert_eq!(kept(condition.clone()), rows, "{condition}");
    }
}

#[test]
fn fewer_rows_have_fewer_values() {
    let (size, schema) = counted();
    let half = size.clone().filtered([&col("kind").eq(lit(1_i64))], &schema);
    assert_eq!(half.columns[0].distinct, Some(500.0));
    assert_eq!(half.columns[1].distinct, Some(1.0));
    // Ten rows have each of the hundred values: half of the rows have nearly all of them.
    assert!(half.columns[2].distinct.is_some_and(|distinct| distinct > 99.0));
    let few = size.at_most(10);
    assert_eq!((few.rows, few.columns[0].distinct), (10.0, Some(10.0)));
}

#[test]
fn joins_groups_and_projections_are_put_together() {
    use datafusion::logical_expr::{LogicalPlanBuilder, table_scan};
    let named = |name: &str, rows: usize| {
        let schema = Schema::new(vec![Field::new("k", DataType::Int64, true)]);
        let plan = table_scan(Some(name), &schema, None).unwrap().build().unwrap();
        let facts = Facts { distinct: Some(rows as f64 / 10.0), ..Facts::default() };
        (plan, Size { rows: rows as f64, columns: vec![facts], known: true })
    };
    let ((left, left_size), (right, right_size)) = (named("l", 1000), named("r", 100));
    let joined = |kind| {
        let keys = (vec![Column::from_qualified_name("l.k")], vec![Column::from_qualified_name("r.k")]);
        let plan = LogicalPlanBuilder::from(left.clone()).join(right.clone(), kind, keys, None).unwrap().build().unwrap();
        let LogicalPlan::Join(join) = plan else { panic!("{plan}") };
        of_join(&join, left_size.clone(), right_size.clone())
    };
    let inner = joined(JoinType::Inner);
    assert_eq!((inner.rows, inner.columns[0].distinct, inner.columns[1].distinct), (1000.0, Some(10.0), Some(10.0)));
    assert_eq!(joined(JoinType::Left).rows, 1000.0);
    let semi = joined(JoinType::LeftSemi);
    assert_eq!((semi.rows, semi.columns.len()), (100.0, 1));
    assert_eq!(groups(left_size.columns.iter(), 1000.0), 100.0);
    assert_eq!(keys(left_size.columns.iter().chain(&right_size.columns), 1000.0), 1000.0);
}

#[test]
fn bounds_of_the_lake_bound_the_values() {
    let bounds = |low: i64, high: i64| datafusion::common::ColumnStatistics {
        min_value: Precision::Inexact(ScalarValue::Int64(Some(low))),
        max_value: Precision::Inexact(ScalarValue::Int64(Some(high))),
        ..datafusion::common::ColumnStatistics::new_unknown()
    };
    let schema = Arc::new(Schema::new(vec![Field::new("a", DataType::Int64, true), Field::new("b", DataType::Int64, true)]));
    let size = lake_size(&schema, 1000, &[bounds(1, 10), bounds(0, 1_000_000)]);
    assert_eq!((size.columns[0].distinct, size.columns[1].distinct), (Some(10.0), Some(1000.0)));
}
