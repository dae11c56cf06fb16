// SPDX-License-Identifier: Apache-2.0
//! Joins over several sources are done in the order in which few rows leave them, whatever order they are written in.

use crate::kit::{World, mariadb, postgres};

/// Rows that left each source for a question.
async fn moved(world: &World, sql: &str) -> Vec<(String, u64)> {
    world.receipt(sql).await.sources.iter().map(|used| (used.source.clone(), used.rows)).collect()
}

/// Twenty thousand orders of two thousand customers in PostgreSQL, their payments in MariaDB, five customers of interest in the lake.
async fn world(database: &str) -> World {
    let orders = "CREATE TABLE orders (id int PRIMARY KEY, customer int, status text);
        INSERT INTO orders SELECT n, n % 2000, CASE WHEN n % 100 = 0 THEN 'failed' ELSE 'paid' END FROM generate_series(1, 20000) n; ANALYZE orders";
    let payments = "CREATE TABLE payments (order_id int PRIMARY KEY, amount int, note varchar(20));
        INSERT INTO payments SELECT seq, seq % 50, concat('n', seq) FROM seq_1_to_20000; ANALYZE TABLE payments";
    postgres().await.run(database, orders).await.unwrap();
    mariadb().await.run(database, payments).await.unwrap();
    let sources = World::builder().source("app", "postgres", &postgres().await.url(database)).source("billing", "mysql", &mariadb().await.url(database));
    let world = sources.start().await;
    world.rows("CREATE SCHEMA lake.order").await;
    world.rows("CREATE TABLE lake.order.vip AS SELECT value AS id, 'vip ' || value AS name FROM generate_series(1, 5)").await;
    world
}

#[tokio::test(flavor = "multi_thread")]
async fn the_written_order_does_not_decide_how_many_rows_move() {
    let world = world("order_written").await;
    let (orders, payments, vip) = ("app.public.orders o", "billing.order_written.payments p", "lake.order.vip v");
    for sql in [
        format!("SELECT count(*), sum(p.amount) FROM {orders} JOIN {payments} ON p.order_id = o.id JOIN {vip} ON v.id = o.customer"),
        format!("SELECT count(*), sum(p.amount) FROM {payments} JOIN {orders} ON p.order_id = o.id JOIN {vip} ON v.id = o.customer"),
        format!("SELECT count(*), sum(p.amount) FROM {vip}, {payments}, {orders} WHERE p.order_id = o.id AND v.id = o.customer"),
    ] {
        assert_eq!(world.rows(&sql).await, [["50", "150"]], "{sql}");
        let expected = [("app".to_owned(), 50), ("billing".to_owned(), 50), ("lake".to_owned(), 5)];
        assert_eq!(moved(&world, &sql).await, expected, "keys of five customers, then those of their fifty orders: {sql}");
        world.rows(&format!("VERIFY {sql}")).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn columns_and_names_stay_as_they_are_written() {
    let world = world("order_names").await;
    let sql = "SELECT * FROM billing.order_names.payments p JOIN app.public.orders o ON p.order_id = o.id JOIN lake.order.vip v ON v.id = o.customer
        WHERE o.status = 'paid' AND p.amount + v.id > 6 ORDER BY o.id LIMIT 2";
    assert_eq!(world.rows(sql).await, [["4", "4", "n4", "4", "4", "paid", "4", "vip 4"], ["5", "5", "n5", "5", "5", "paid", "5", "vip 5"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_counted_says_which_filter_keeps_little() {
    let world = world("order_counted").await;
    // One in a hundred orders failed, and four in a hundred payments are large: the orders go first.
    let sql = "SELECT count(*) FROM billing.order_counted.payments p JOIN app.public.orders o ON p.order_id = o.id WHERE o.status = 'failed' AND p.amount >= 0";
    assert_eq!(world.rows(sql).await, [["200"]]);
    assert_eq!(moved(&world, sql).await, [("app".to_owned(), 200), ("billing".to_owned(), 200)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_tells_nothing_is_no_error() {
    let database = "order_rights";
    world(database).await;
    let rights = "CREATE ROLE order_reader LOGIN PASSWORD 'pw'; GRANT SELECT (id, customer) ON orders TO order_reader";
    postgres().await.run(database, rights).await.unwrap();
    let world = World::builder()
        .source("app", "postgres", &postgres().await.url_as("order_reader", "pw", database))
        .source("billing", "mysql", &mariadb().await.url(database))
        .start()
        .await;
    let sql = "SELECT count(*) FROM app.public.orders o JOIN billing.order_rights.payments p ON p.order_id = o.id WHERE o.customer = 7";
    assert_eq!(world.rows(sql).await, [["10"]]);
}
