// SPDX-License-Identifier: Apache-2.0
//! What is sent of whole plans, over tables of sources that nobody connects to: unions, windows, groups before a join, and CASE.

use super::cut_plan;
use crate::discovery::SourceHandle;
use crate::scan::{RemoteTable, SourceTableProvider};
use arrow::datatypes::DataType;
use datafusion::datasource::{provider_as_source, source_as_provider};
use datafusion::functions_aggregate::expr_fn::{avg, count, min, sum};
use datafusion::functions_window::expr_fn::{lag, ntile, rank, row_number};
use datafusion::logical_expr::{Expr, ExprFunctionExt, JoinType, LogicalPlan, LogicalPlanBuilder, SortExpr, col, lit, when};
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;
use weir_api::PushDown;
use weir_base::{SourceName, TableName};
use weir_guard::{Guard, Limits};
use weir_source::{Column, SourceSpec, SourceTable, TableKind, ValuePolicy, connect};

fn column(name: &str, native: &str, data_type: DataType) -> Column {
    Column {
        name: name.into(),
        native_type: native.into(),
        data_type,
        nullable: false,
        collation: None,
        bytewise_equality: false,
        read_as: None,
        labels: None,
        degraded: None,
        altering: weir_source::Altering::default(),
    }
}

fn handle(source: &str) -> Arc<SourceHandle> {
    let spec = SourceSpec {
        name: SourceName::new(source),
        kind: "mysql".into(),
        url: "mysql://nobody@nowhere.invalid/nothing".into(),
        allow_primary: true,
        nan: ValuePolicy::Keep,
        infinity: ValuePolicy::Keep,
        limits: Limits::default(),
        options: BTreeMap::new(),
    };
    let guard = Guard::new(spec.name.clone(), spec.limits.clone());
    Arc::new(SourceHandle::new(connect(spec).unwrap(), guard))
}

/// A table with the key `id`.
fn scan(handle: &Arc<SourceHandle>, table: &str, rows: u64) -> LogicalPlanBuilder {
    let known = SourceTable {
        schema: "s".into(),
        name: table.into(),
        kind: TableKind::Table,
        columns: vec![column("id", "int(11)", DataType::Int32), column("k", "int(11)", DataType::Int32), column("f", "double", DataType::Float64)],
        rows_estimate: Some(rows),
        bytes_estimate: None,
        comment: None,
        unique: vec![vec![0]],
    };
    let name = TableName::new(handle.name().as_str(), "s", table);
    let provider = SourceTableProvider::new(handle.clone(), name, Arc::new(known), PushDown::On);
    LogicalPlanBuilder::scan(table, provider_as_source(Arc::new(provider)), None).unwrap()
}

/// The statements that are sent, in their order in the plan.
fn sent(plan: LogicalPlanBuilder) -> Vec<String> {
    let mut found = Vec::new();
    leaves(&cut_plan(plan.build().unwrap(), PushDown::On).unwrap(), &mut found);
    found
}

fn leaves(plan: &LogicalPlan, found: &mut Vec<String>) {
    if let LogicalPlan::TableScan(scan) = plan {
        let provider = source_as_provider(&scan.source).unwrap();
        let remote = (provider.as_ref() as &dyn Any).downcast_ref::<RemoteTable>();
        found.push(remote.map_or_else(|| format!("a scan of {}", scan.table_name), |remote| remote.fragment.sql.clone()));
    }
    plan.inputs().into_iter().for_each(|input| leaves(input, found));
}

fn united(arms: Vec<LogicalPlanBuilder>) -> LogicalPlanBuilder {
    let mut arms = arms.into_iter();
    let first = arms.next().unwrap();
    arms.fold(first, |all, arm| all.union(arm.build().unwrap()).unwrap())
}

#[tokio::test]
async fn parts_of_one_source_are_one_union() {
    let app = handle("app");
    let both = sent(united(vec![scan(&app, "a", 10), scan(&app, "b", 10)]));
    assert_eq!(both.len(), 1, "{both:?}");
    assert_eq!(both[0].matches(" UNION ALL ").count(), 1, "{both:?}");
    assert!(both[0].contains("`a`") && both[0].contains("`b`"), "{both:?}");
}

#[tokio::test]
async fn parts_of_several_sources_stand_beside_each_other() {
    let (app, shop) = (handle("app"), handle("shop"));
    let apart = sent(united(vec![scan(&app, "a", 10), scan(&shop, "c", 10)]));
    assert_eq!(apart.len(), 2, "{apart:?}");
    assert!(apart.iter().all(|sql| !sql.contains("UNION")), "{apart:?}");
}

fn windowed(window: Expr) -> String {
    let app = handle("app");
    sent(scan(&app, "a", 10).window(vec![window]).unwrap()).join("; ")
}

#[tokio::test]
async fn windows_are_sent_where_their_order_tells_rows_apart() {
    let by_key = vec![col("a.id").sort(true, false)];
    let by_k = vec![col("a.k").sort(true, false)];
    let numbered = |order: &[SortExpr]| row_number().order_by(order.to_vec()).partition_by(vec![col("a.k")]).build().unwrap();
    let total = windowed(numbered(&by_key));
    assert!(total.contains("ROW_NUMBER() OVER (PARTITION BY ") && total.contains("ORDER BY "), "{total}");
    assert!(!windowed(numbered(&by_k)).contains("OVER"), "equal rows would get different numbers");
    assert!(windowed(rank().order_by(by_k.clone()).build().unwrap()).contains("RANK() OVER (ORDER BY "), "equal rows have one rank");
    assert!(!windowed(rank()).contains("OVER"), "a rank without an order");
    assert!(!windowed(ntile(lit(2_i64)).order_by(by_key.clone()).build().unwrap()).contains("OVER"), "ntile is computed here");
    assert!(!windowed(lag(col("a.k"), None, None).order_by(by_key).build().unwrap()).contains("OVER"), "the server has a type of its own for it");
}

/// Sums over a join of two places, grouped by a column of the small one.
fn grouped(value: Expr) -> Vec<String> {
    let (app, shop) = (handle("app"), handle("shop"));
    let joined = scan(&app, "a", 1_000_000).join(scan(&shop, "c", 10).build().unwrap(), JoinType::Inner, (vec!["a.k"], vec!["c.id"]), None).unwrap();
    sent(joined.aggregate(vec![col("c.k")], vec![value]).unwrap())
}

#[tokio::test]
async fn groups_are_made_before_a_join_where_they_add_up() {
    for value in [sum(col("a.id")), count(col("a.id")), min(col("a.id"))] {
        let statements = grouped(value.clone());
        assert!(statements.iter().any(|sql| sql.contains("`a`") && sql.contains("GROUP BY")), "{value}: {statements:?}");
    }
    // Floating point numbers depend on the order in which they are added; a distinct count is none of parts; two sides are asked.
    let distinct = count(col("a.id")).distinct().build().unwrap();
    for value in [sum(col("a.f")), avg(col("a.f")), distinct, sum(col("a.id") + col("c.id"))] {
        let statements = grouped(value.clone());
        assert!(statements.iter().all(|sql| !sql.contains("GROUP BY")), "{value}: {statements:?}");
    }
}

#[tokio::test]
async fn groups_as_many_as_rows_are_not_made_early() {
    let (app, shop) = (handle("app"), handle("shop"));
    let joined = scan(&app, "a", 10).join(scan(&shop, "c", 1_000_000).build().unwrap(), JoinType::Inner, (vec!["a.k"], vec!["c.id"]), None).unwrap();
    let statements = sent(joined.aggregate(vec![col("a.f")], vec![sum(col("a.id"))]).unwrap());
    assert!(statements.iter().all(|sql| !sql.contains("GROUP BY")), "{statements:?}");
}

#[tokio::test]
async fn groups_of_one_row_each_are_not_made_at_the_source() {
    let app = handle("app");
    let by_key = |rows: u64| scan(&app, "a", rows).aggregate(vec![col("a.id"), col("a.k")], vec![count(col("a.k"))]).unwrap();
    assert_eq!(sent(by_key(20_000)), ["a scan of a"]);
    assert!(sent(by_key(20)).concat().contains("GROUP BY"), "a few rows");
    let few = by_key(20_000).filter(col("count(a.k)").gt(lit(1_i64))).unwrap();
    assert!(sent(few).concat().contains("GROUP BY"), "few groups are left");
    let by_other = scan(&app, "a", 20_000).aggregate(vec![col("a.k")], vec![count(col("a.id"))]).unwrap();
    assert!(sent(by_other).concat().contains("GROUP BY"), "nobody knows how many");
    let shop = handle("shop");
    let joined = scan(&app, "a", 1_000_000).join(scan(&shop, "c", 10).build().unwrap(), JoinType::Inner, (vec!["a.k"], vec!["c.id"]), None).unwrap();
    let statements = sent(joined.aggregate(vec![col("a.id")], vec![sum(col("a.k"))]).unwrap());
    assert!(statements.iter().all(|sql| !sql.contains("GROUP BY")), "{statements:?}");
}

#[tokio::test]
async fn a_case_is_a_condition() {
    let app = handle("app");
    let filtered = |condition: Expr| sent(scan(&app, "a", 10).filter(condition).unwrap()).join("; ");
    let chosen = |otherwise: Expr| when(col("a.k").eq(lit(1)), col("a.id")).otherwise(otherwise).unwrap();
    let sql = filtered(chosen(col("a.k")).gt(lit(2)));
    assert!(sql.contains(" WHERE ") && sql.contains("CASE WHEN "), "{sql}");
    assert!(!filtered(chosen(lit(10) / col("a.k")).gt(lit(2))).contains("WHERE"), "what can fail is asked here");
    assert!(!filtered(chosen(col("a.f")).gt(lit(2))).contains("WHERE"), "branches of several types are chosen here");
}
