// SPDX-License-Identifier: Apache-2.0
//! Keys of one side of a join go to the source of the other: the rows that move are the rows that match.

use crate::kit::{World, mariadb, postgres};

/// Rows that left a source for a statement.
async fn moved(world: &World, source: &str, sql: &str) -> u64 {
    let receipt = world.receipt(sql).await;
    receipt.sources.iter().find(|used| used.source == source).map_or(0, |used| used.rows)
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_rows_of_a_few_scattered_keys_leave_the_source() {
    let server = postgres().await;
    server
        .run(
            "keys",
            "CREATE TABLE big AS SELECT n AS id, n * 7919 AS scattered, 'name ' || n AS name, n::text AS code FROM generate_series(1, 20000) n; ANALYZE big;
             CREATE TABLE nothing AS SELECT 1 AS id WHERE false",
        )
        .await
        .unwrap();
    let world = World::builder().source("app", "postgres", &server.url("keys")).start().await;
    world.rows("CREATE SCHEMA lake.keys").await;
    world.rows("CREATE TABLE lake.keys.wanted AS SELECT id * 200 AS id, id * 200 * 7919 AS scattered, (id * 200)::text AS code FROM app.public.big WHERE id <= 100").await;
    for (key, sql) in [
        ("id", "SELECT count(*), min(big.name) FROM lake.keys.wanted w JOIN app.public.big ON big.id = w.id"),
        ("scattered", "SELECT count(*), min(big.name) FROM lake.keys.wanted w JOIN app.public.big ON big.scattered = w.scattered"),
        ("code", "SELECT count(*), min(big.name) FROM lake.keys.wanted w JOIN app.public.big ON big.code = w.code"),
    ] {
        assert_eq!(world.rows(sql).await, [["100", "name 1000"]], "{key}");
        assert_eq!(moved(&world, "app", sql).await, 100, "{key}: rows moved are rows that match");
    }
    // Keys are values of rows: neither the log nor the ledger shows them.
    let logged = world.value("SELECT sql FROM system.query_sources WHERE source = 'app' ORDER BY started_at DESC LIMIT 1").await;
    assert!(logged.contains("/* 100 keys from a join on code */") && !logged.contains("20000"), "{logged}");
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_of_one_source_go_to_another() {
    postgres().await.run("keys_a", "CREATE TABLE few AS SELECT n * 100 AS id FROM generate_series(1, 50) n; ANALYZE few").await.unwrap();
    mariadb()
        .await
        .run(
            "keys_b",
            "CREATE TABLE big (id int PRIMARY KEY, name varchar(20)); INSERT INTO big SELECT seq, concat('n', seq) FROM seq_1_to_20000; ANALYZE TABLE big",
        )
        .await
        .unwrap();
    let world =
        World::builder().source("app", "postgres", &postgres().await.url("keys_a")).source("billing", "mysql", &mariadb().await.url("keys_b")).start().await;
    let sql = "SELECT few.id, big.name FROM app.public.few JOIN billing.keys_b.big ON big.id = few.id ORDER BY few.id LIMIT 1";
    assert_eq!(world.rows(sql).await, [["100", "n100"]]);
    assert_eq!(moved(&world, "billing", sql).await, 50);
}

#[tokio::test(flavor = "multi_thread")]
async fn more_keys_than_rows_are_not_worth_a_filter() {
    postgres().await.run("keys_c", "CREATE TABLE small AS SELECT n AS id FROM generate_series(1, 1000) n; ANALYZE small").await.unwrap();
    let world = World::builder().source("app", "postgres", &postgres().await.url("keys_c")).start().await;
    world.rows("CREATE SCHEMA lake.keys").await;
    world.rows("CREATE TABLE lake.keys.many AS SELECT a.id FROM app.public.small a WHERE a.id <= 900").await;
    let sql = "SELECT count(*) FROM lake.keys.many m JOIN app.public.small s ON s.id = m.id";
    assert_eq!(world.rows(sql).await, [["900"]]);
    let logged = world.value("SELECT sql FROM system.query_sources WHERE source = 'app' ORDER BY started_at DESC LIMIT 1").await;
    assert!(!logged.contains("ANY") && !logged.contains(" IN "), "{logged}");
}

#[tokio::test(flavor = "multi_thread")]
async fn three_hundred_thousand_scattered_keys_move_the_rows_that_match() {
    // F54: a list is never made a range, which would hold the whole table here.
    let server = postgres().await;
    server.run("keys_many", "CREATE TABLE big AS SELECT n * 3 AS id, n AS n FROM generate_series(1, 700000) n; ANALYZE big").await.unwrap();
    let world = World::builder().source("app", "postgres", &server.url("keys_many")).start().await;
    world.rows("CREATE SCHEMA lake.keys").await;
    world.rows("CREATE TABLE lake.keys.many AS SELECT id FROM app.public.big WHERE n % 7 < 3").await;
    let sql = "SELECT count(*), sum(big.n) FROM lake.keys.many m JOIN app.public.big ON big.id = m.id";
    let with = world.rows(sql).await;
    assert_eq!(with[0][0], "300000");
    assert_eq!(moved(&world, "app", sql).await, 300_000);
    world.rows(&format!("VERIFY {sql}")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn more_keys_than_one_list_takes_stand_in_several() {
    // F54: a hundred and fifty thousand scattered keys, of which MariaDB takes fifty thousand in a list.
    let big = "CREATE TABLE big (id int PRIMARY KEY, n int); INSERT INTO big SELECT seq * 300, seq FROM seq_1_to_700000; ANALYZE TABLE big";
    mariadb().await.run("keys_lists", big).await.unwrap();
    let world = World::builder().source("billing", "mysql", &mariadb().await.url("keys_lists")).start().await;
    world.rows("CREATE SCHEMA lake.keys").await;
    world.rows("CREATE TABLE lake.keys.many AS SELECT id FROM billing.keys_lists.big WHERE n % 14 < 3").await;
    let sql = "SELECT count(*), sum(b.n) FROM lake.keys.many m JOIN billing.keys_lists.big b ON b.id = m.id";
    world.rows(&format!("VERIFY {sql}")).await;
    assert_eq!(world.rows(sql).await[0][0], "150000");
    assert_eq!(moved(&world, "billing", sql).await, 150_000, "rows moved are rows that match");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_keys_that_are_close_to_each_other_go_as_bits() {
    // Below zero, missing, and beyond the first and the last key.
    let columns = "n int PRIMARY KEY, id bigint, small int NOT NULL";
    let fill = "SELECT n, CASE WHEN n % 1000 <> 0 THEN n * 3 - 100000 END, n * 2";
    let app = format!("CREATE TABLE big ({columns}); INSERT INTO big {fill} FROM generate_series(1, 200000) n; ANALYZE big");
    postgres().await.run("keys_bits", &app).await.unwrap();
    let columns = columns.replace("small int", "small int unsigned");
    let billing =
        format!("CREATE TABLE big ({columns}); INSERT INTO big {fill} FROM (SELECT CAST(seq AS signed) AS n FROM seq_1_to_200000) s; ANALYZE TABLE big");
    mariadb().await.run("keys_bits", &billing).await.unwrap();
    let world = World::builder()
        .source("app", "postgres", &postgres().await.url("keys_bits"))
        .source("billing", "mysql", &mariadb().await.url("keys_bits"))
        .start()
        .await;
    world.rows("CREATE SCHEMA lake.keys").await;
    world.rows("CREATE TABLE lake.keys.many AS SELECT n, id, small FROM app.public.big WHERE n % 7 < 3 AND n BETWEEN 20 AND 190000").await;
    for (source, table) in [("app", "app.public.big"), ("billing", "billing.keys_bits.big")] {
        for (key, rows) in [("id", 81_339), ("small", 81_420)] {
            // Not a plain count: groups of the keys would be counted at the source.
            let sql = format!("SELECT count(DISTINCT b.n), sum(b.n) FROM lake.keys.many m JOIN {table} b ON b.{key} = m.{key}");
            let sum = world.value(&format!("SELECT sum(n) FROM lake.keys.many WHERE {key} IS NOT NULL")).await;
            assert_eq!(world.rows(&sql).await, [[rows.to_string(), sum]], "{source}, {key}");
            assert_eq!(moved(&world, source, &sql).await, rows, "{source}, {key}: rows moved are rows that match");
            let logged = world.value(&format!("SELECT sql FROM system.query_sources WHERE source = '{source}' ORDER BY started_at DESC LIMIT 1")).await;
            assert!(logged.contains(&format!("/* {rows} keys from a join on {key}, as bits */")), "{logged}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_keys_that_leave_nothing_out_are_not_sent() {
    // Twenty thousand rows of a thousand values: 990 keys are fewer than half the rows, and spare two hundred.
    let big = "CREATE TABLE big AS SELECT n AS id, n % 1000 AS kind FROM generate_series(1, 20000) n; ANALYZE big";
    postgres().await.run("keys_idle", big).await.unwrap();
    let world = World::builder().source("app", "postgres", &postgres().await.url("keys_idle")).start().await;
    world.rows("CREATE SCHEMA lake.keys").await;
    for (keys, rows, sent) in [(990, 19_800, false), (300, 6_000, true)] {
        world.rows("DROP TABLE IF EXISTS lake.keys.kinds").await;
        world.rows(&format!("CREATE TABLE lake.keys.kinds AS SELECT value AS kind FROM generate_series(0, {})", keys - 1)).await;
        // Not a plain count: groups of the keys would be counted at the source.
        let sql = "SELECT count(DISTINCT b.id) FROM lake.keys.kinds k JOIN app.public.big b ON b.kind = k.kind";
        assert_eq!(world.value(sql).await, rows.to_string());
        assert_eq!(moved(&world, "app", sql).await, if sent { rows } else { 20_000 }, "{keys} keys");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_travel_over_three_places() {
    let server = postgres().await;
    let middle = "CREATE TABLE middle AS SELECT n AS id, n * 2 AS other FROM generate_series(1, 20000) n; ANALYZE middle";
    server.run("keys_middle", middle).await.unwrap();
    let last =
        "CREATE TABLE last (id int PRIMARY KEY, name varchar(20)); INSERT INTO last SELECT seq, concat('n', seq) FROM seq_1_to_40000; ANALYZE TABLE last";
    mariadb().await.run("keys_last", last).await.unwrap();
    let world =
        World::builder().source("app", "postgres", &server.url("keys_middle")).source("billing", "mysql", &mariadb().await.url("keys_last")).start().await;
    world.rows("CREATE SCHEMA lake.keys").await;
    world.rows("CREATE TABLE lake.keys.first AS SELECT value * 10 AS id FROM generate_series(1, 20)").await;
    let sql = "SELECT count(*), min(l.name) FROM billing.keys_last.last l JOIN app.public.middle m ON m.other = l.id JOIN lake.keys.first f ON f.id = m.id";
    assert_eq!(world.rows(sql).await, [["20", "n100"]]);
    assert_eq!((moved(&world, "app", sql).await, moved(&world, "billing", sql).await), (20, 20));
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_reach_a_statement_over_two_tables() {
    let server = postgres().await;
    server
        .run(
            "keys_joined",
            "CREATE TABLE sold (id int PRIMARY KEY, customer int NOT NULL, amount numeric(10,2) NOT NULL);
             INSERT INTO sold SELECT n, n % 1000, n FROM generate_series(1, 100000) n;
             CREATE TABLE customer (id int PRIMARY KEY, name text NOT NULL, region text NOT NULL);
             INSERT INTO customer SELECT n, 'name ' || n, 'region ' || n % 5 FROM generate_series(0, 999) n;
             VACUUM ANALYZE",
        )
        .await
        .unwrap();
    let world = World::builder().source("app", "postgres", &server.url("keys_joined")).start().await;
    world.rows("CREATE SCHEMA lake.joined").await;
    world.rows("CREATE TABLE lake.joined.wanted AS SELECT id * 1999 AS id, id AS line FROM app.public.sold WHERE id <= 50").await;
    for (rows, sql) in [
        (50, "SELECT c.name, s.amount, w.line FROM lake.joined.wanted w JOIN app.public.sold s ON s.id = w.id JOIN app.public.customer c ON c.id = s.customer"),
        (
            50,
            "SELECT c.region, count(*), sum(s.amount) FROM lake.joined.wanted w JOIN app.public.sold s ON s.id = w.id JOIN app.public.customer c ON c.id = s.customer GROUP BY c.region",
        ),
        (
            50,
            "SELECT w.line, j.name FROM lake.joined.wanted w JOIN (SELECT s.id, c.name FROM app.public.sold s JOIN app.public.customer c ON c.id = s.customer WHERE s.amount > 1) j ON j.id = w.id",
        ),
        (
            50,
            "SELECT w.line, j.total FROM lake.joined.wanted w JOIN (SELECT s.id, sum(s.amount) AS total FROM app.public.sold s GROUP BY s.id) j ON j.id = w.id",
        ),
        (50, "SELECT w.line, s.amount FROM lake.joined.wanted w LEFT JOIN app.public.sold s ON s.id = w.id"),
        (50, "SELECT s.id, s.amount FROM app.public.sold s WHERE s.id IN (SELECT id FROM lake.joined.wanted)"),
        (47, "SELECT s.id, s.amount FROM app.public.sold s WHERE EXISTS (SELECT 1 FROM lake.joined.wanted w WHERE w.id = s.id AND w.line > 3)"),
        (50, "SELECT w.line, s.amount FROM lake.joined.wanted w JOIN app.public.sold s ON s.id = w.id AND s.customer = w.id % 1000"),
    ] {
        let sql = format!("{sql} ORDER BY 1, 2");
        assert_eq!(moved(&world, "app", &sql).await, rows, "{sql}");
        world.every_way(&sql).await.expect("the same in every way");
    }
}

/// What a subquery of one row finds goes to the source of the table that is compared with it.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_subquery_finds_goes_to_the_source() {
    let server = postgres().await;
    let script = "CREATE TABLE sold (id int PRIMARY KEY, day date NOT NULL, amount numeric(10,2) NOT NULL, note text COLLATE \"C\");
        INSERT INTO sold SELECT n, date '2026-01-01' + n % 300, n % 1000, 'note ' || n FROM generate_series(1, 20000) n; VACUUM ANALYZE";
    server.run("found", script).await.unwrap();
    let world = World::builder().source("app", "postgres", &server.url("found")).start().await;
    world.rows("CREATE SCHEMA lake.found").await;
    world.rows("CREATE TABLE lake.found.marks AS SELECT id, day, amount FROM app.public.sold WHERE id IN (19990, 500)").await;
    for (rows, sql) in [
        (10, "SELECT id FROM app.public.sold WHERE id > (SELECT max(id) FROM lake.found.marks)"),
        (1, "SELECT id, note FROM app.public.sold WHERE id = (SELECT min(id) FROM lake.found.marks)"),
        (67, "SELECT count(*), sum(amount) FROM app.public.sold WHERE day = (SELECT max(day) FROM lake.found.marks)"),
        (20, "SELECT id FROM app.public.sold WHERE amount = (SELECT max(amount) FROM lake.found.marks)"),
        (0, "SELECT id FROM app.public.sold WHERE id > (SELECT max(id) FROM lake.found.marks WHERE id < 0)"),
    ] {
        let sql = format!("{sql} ORDER BY 1");
        assert_eq!(moved(&world, "app", &sql).await, rows, "{sql}");
        world.every_way(&sql).await.expect("the same in every way");
    }
    // Of the same source: what it finds there is one row more.
    let sql = "SELECT id, note FROM app.public.sold WHERE id = (SELECT max(id) FROM app.public.sold)";
    assert_eq!(world.rows(sql).await, [["20000", "note 20000"]]);
    assert_eq!(moved(&world, "app", sql).await, 2);
    let told = world.explain(&format!("ANALYZE {sql}")).await;
    assert!(told.contains("app was asked for id beside the value that a subquery found"), "{told}");
    assert!(told.contains("(subquery): its subquery runs first"), "{told}");
    let logged =
        world.value("SELECT sql FROM system.query_sources WHERE source = 'app' AND sql LIKE '%subquery found%' ORDER BY started_at DESC LIMIT 1").await;
    assert!(!logged.contains("20000"), "{logged}");
}
