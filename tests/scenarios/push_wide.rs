// SPDX-License-Identifier: Apache-2.0
//! Push-down of what is made of several parts: unions, groups before a join of two places, joins in which NULLs count. Each answer is the
//! same with and without push-down, and the ledger shows how many rows moved.

use crate::kit::{SqliteFile, World, mariadb, postgres};
use weir_api::FragmentReport;

/// Many orders of few customers, some of nobody.
const ORDERS: &str = "
    CREATE TABLE orders (id int PRIMARY KEY, customer_id int, amount numeric(12,2), qty int, status varchar(10) COLLATE \"en-x-icu\", day date, uid uuid);
    INSERT INTO orders SELECT n, CASE WHEN n % 97 = 0 THEN NULL ELSE n % 50 END, n * 0.25, n % 7, CASE WHEN n % 3 = 0 THEN 'open' ELSE 'paid' END,
        date '2026-01-01' + n % 60, ('00000000-0000-0000-0000-' || lpad((n % 5)::text, 12, '0'))::uuid FROM generate_series(1, 3000) n;
    CREATE TABLE old_orders (id bigint PRIMARY KEY, customer_id int, amount numeric(10,4), status text, uid uuid);
    INSERT INTO old_orders SELECT n, n % 60, n * 0.125, CASE WHEN n % 2 = 0 THEN 'paid' ELSE 'Paid' END, ('00000000-0000-0000-0000-' || lpad((n % 7)::text, 12, '0'))::uuid
        FROM generate_series(1, 500) n;
    CREATE TABLE refused (customer_id int, amount numeric(12,2));
    INSERT INTO refused VALUES (1, 1.00), (2, NULL), (NULL, 3.00), (70, 4.00);
    CREATE TABLE nothing (customer_id int);
    ANALYZE";

const CUSTOMERS: &str = "
    CREATE TABLE customers (id int PRIMARY KEY, region varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, boss int NULL, since date NULL);
    SET sql_mode = '';
    INSERT INTO customers SELECT seq, ELT(1 + seq % 4, 'north', 'North', 'north ', 'south'), IF(seq % 5 = 0, NULL, seq % 10), IF(seq % 6 = 0, '0000-00-00', '2026-01-01')
        FROM seq_1_to_40;
    CREATE TABLE prospects (id int PRIMARY KEY, region varchar(40) CHARACTER SET latin1 COLLATE latin1_swedish_ci, boss int NULL, since date NULL);
    INSERT INTO prospects SELECT seq + 1000, IF(seq % 2 = 0, 'south', 'East'), seq % 3, '2026-02-02' FROM seq_1_to_20;
    ANALYZE TABLE customers, prospects;";

async fn world(database: &str) -> (World, SqliteFile) {
    postgres().await.run(database, ORDERS).await.unwrap();
    mariadb().await.run(database, CUSTOMERS).await.unwrap();
    let file = SqliteFile::with(
        "CREATE TABLE a (id INTEGER NOT NULL, n INTEGER, word TEXT) STRICT;
         INSERT INTO a VALUES (1, 1, 'x'), (2, NULL, 'y'), (3, 3, 'x'), (4, NULL, NULL);
         CREATE TABLE b (id INTEGER NOT NULL, n INTEGER, word TEXT) STRICT;
         INSERT INTO b VALUES (1, 1, 'x'), (2, 3, 'z'), (9, 9, 'x');",
    )
    .await;
    let sources = World::builder()
        .source("app", "postgres", &postgres().await.url(database))
        .source("billing", "mysql", &mariadb().await.url(database))
        .source("files", "sqlite", &file.url());
    (sources.start().await, file)
}

async fn statements(world: &World, source: &str, sql: &str) -> Vec<FragmentReport> {
    let json = world.rows(&format!("EXPLAIN (FORMAT JSON) {sql}")).await.concat().join("\n");
    let report: weir_api::PlanReport = serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}"));
    report.sources.into_iter().filter(|found| found.source == source).flat_map(|found| found.statements).collect()
}

/// The one statement for a source, after the answer is seen to be the same without push-down and with some of it.
async fn one(world: &World, source: &str, sql: &str) -> FragmentReport {
    world.rows(&format!("VERIFY {sql}")).await;
    let session = world.session("local", None);
    for seed in [1, 2, 3] {
        world.ask_as(&session, &format!("SET weir.pushdown = 'random:{seed}'")).await.unwrap();
        let (mut some, _) = world.ask_as(&session, sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
        let mut all = world.rows(sql).await;
        some.sort();
        all.sort();
        assert_eq!(some, all, "{sql} with random:{seed}");
    }
    let mut found = statements(world, source, sql).await;
    assert_eq!(found.len(), 1, "{sql}: {found:#?}");
    found.remove(0)
}

async fn moved(world: &World, source: &str, sql: &str) -> u64 {
    world.receipt(sql).await.sources.iter().find(|used| used.source == source).map_or(0, |used| used.rows)
}

/// What it is about, the source, the question, and how many rows leave the source.
type Case = (&'static str, &'static str, String, u64);

fn unions_of_postgres(pg: &str) -> Vec<Case> {
    vec![
        ("bare", "app", format!("SELECT id, amount FROM {pg}.orders WHERE id < 4 UNION ALL SELECT id, amount FROM {pg}.old_orders WHERE id < 3"), 5),
        (
            "constants and NULLs",
            "app",
            format!(
                "SELECT 'new' AS kind, id, NULL AS note FROM {pg}.orders WHERE id < 4 UNION ALL SELECT 'old', id, status FROM {pg}.old_orders WHERE id < 3"
            ),
            5,
        ),
        (
            "grouped",
            "app",
            format!(
                "SELECT status, count(*), sum(amount) FROM (SELECT status, amount FROM {pg}.orders UNION ALL SELECT status, amount FROM {pg}.old_orders) AS u GROUP BY status"
            ),
            3,
        ),
        ("UNION", "app", format!("SELECT customer_id FROM {pg}.orders UNION SELECT customer_id FROM {pg}.old_orders"), 61),
        ("a text that is a uuid", "app", format!("SELECT DISTINCT uid FROM (SELECT uid FROM {pg}.orders UNION ALL SELECT uid FROM {pg}.old_orders) AS u"), 7),
        (
            "first rows",
            "app",
            format!("SELECT id, status FROM {pg}.orders UNION ALL SELECT id, status FROM {pg}.old_orders ORDER BY id DESC, status LIMIT 3"),
            3,
        ),
        (
            "limits inside",
            "app",
            format!("(SELECT id FROM {pg}.orders ORDER BY id LIMIT 2) UNION ALL (SELECT id FROM {pg}.old_orders ORDER BY id DESC LIMIT 1)"),
            3,
        ),
        (
            "three",
            "app",
            format!(
                "SELECT count(*) FROM (SELECT id FROM {pg}.orders UNION ALL SELECT id FROM {pg}.old_orders UNION ALL SELECT customer_id FROM {pg}.refused) AS u"
            ),
            1,
        ),
        (
            "filtered",
            "app",
            format!(
                "SELECT id FROM (SELECT id, status FROM {pg}.orders UNION ALL SELECT id, status FROM {pg}.old_orders) AS u WHERE status = 'Paid' AND id < 10"
            ),
            5,
        ),
        (
            "joined",
            "app",
            format!(
                "SELECT u.id, r.amount FROM (SELECT id, customer_id FROM {pg}.orders UNION ALL SELECT id, customer_id FROM {pg}.old_orders) AS u JOIN {pg}.refused AS r ON r.customer_id = u.customer_id WHERE u.id < 60"
            ),
            6,
        ),
    ]
}

fn unions_of_others(my: &str) -> Vec<Case> {
    vec![
        (
            "two character sets",
            "billing",
            format!("SELECT id, region FROM {my}.customers WHERE id < 4 UNION ALL SELECT id, region FROM {my}.prospects WHERE id < 1003"),
            5,
        ),
        (
            "groups of two character sets",
            "billing",
            format!("SELECT region, count(*) FROM (SELECT region FROM {my}.customers UNION ALL SELECT region FROM {my}.prospects) AS u GROUP BY region"),
            5,
        ),
        (
            "days that are none",
            "billing",
            format!(
                "SELECT since, count(*) FROM (SELECT since FROM {my}.customers UNION ALL SELECT since FROM {my}.prospects UNION ALL SELECT DATE '2026-03-03' FROM {my}.prospects WHERE id = 1001) AS u GROUP BY since"
            ),
            4,
        ),
        ("sqlite", "files", "SELECT n FROM files.main.a UNION SELECT n FROM files.main.b".to_owned(), 4),
        ("sqlite, limited", "files", "(SELECT id FROM files.main.a ORDER BY id LIMIT 2) UNION ALL SELECT 7 FROM files.main.b".to_owned(), 5),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn unions_of_one_source_are_one_statement() {
    let (world, _file) = world("wide_unions").await;
    let pg = "app.public";
    for (case, source, sql, rows) in unions_of_postgres(pg).into_iter().chain(unions_of_others("billing.wide_unions")) {
        let sent = one(&world, source, &sql).await;
        assert!(sent.sql.contains(" UNION ALL "), "{case}: {}", sent.sql);
        assert_eq!(moved(&world, source, &sql).await, rows, "{case}: {}", sent.sql);
    }
    // Alone it needs no table derived from it.
    let sent = one(&world, "app", &format!("SELECT id FROM {pg}.orders UNION ALL SELECT customer_id FROM {pg}.refused")).await;
    assert!(sent.sql.starts_with("SELECT t1.\"id\" AS c1 FROM"), "{}", sent.sql);
}

#[tokio::test(flavor = "multi_thread")]
async fn unions_of_several_places_send_each_its_part() {
    let (world, _file) = world("wide_places").await;
    let sql = "SELECT id FROM app.public.orders WHERE id < 3 UNION ALL SELECT id FROM billing.wide_places.customers WHERE id < 3 UNION ALL SELECT customer_id FROM app.public.refused";
    let sent = one(&world, "app", sql).await;
    assert!(sent.sql.contains(" UNION ALL "), "{}", sent.sql);
    assert!(sent.kept.iter().any(|kept| kept.code == "two_sources"), "{:?}", sent.kept);
    assert_eq!(world.rows(sql).await.len(), 8);
    // A text and an enum-like reading are not one type there.
    let sql = "SELECT uid FROM app.public.orders WHERE id < 3 UNION ALL SELECT status FROM app.public.orders WHERE id < 3";
    world.rows(&format!("VERIFY {sql}")).await;
    let found = statements(&world, "app", sql).await;
    assert!(found.iter().flat_map(|sent| &sent.kept).any(|kept| kept.code == "arms"), "{found:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_are_made_before_a_join_of_two_places() {
    let (world, _file) = world("wide_partial").await;
    let (orders, customers) = ("app.public.orders", "billing.wide_partial.customers");
    for (case, sql, rows) in [
        (
            "sums",
            format!(
                "SELECT c.region, sum(o.amount), count(*), min(o.day), max(o.qty) FROM {orders} o JOIN {customers} c ON c.id = o.customer_id GROUP BY c.region"
            ),
            51,
        ),
        (
            "averages",
            format!("SELECT c.region, avg(o.amount), avg(o.qty), count(o.qty) FROM {orders} o JOIN {customers} c ON c.id = o.customer_id GROUP BY c.region"),
            51,
        ),
        ("all", format!("SELECT sum(o.qty), count(*), count(o.customer_id) FROM {orders} o JOIN {customers} c ON c.id = o.customer_id"), 51),
        ("none", format!("SELECT sum(o.qty), count(*) FROM {orders} o JOIN {customers} c ON c.id = o.customer_id AND c.region = 'nowhere'"), 51),
        (
            "a filter",
            format!(
                "SELECT c.region, count(*) FILTER (WHERE o.status = 'open'), sum(o.amount) FILTER (WHERE o.qty > 3) FROM {orders} o JOIN {customers} c ON c.id = o.customer_id GROUP BY c.region"
            ),
            51,
        ),
        (
            "rows kept",
            format!("SELECT c.region, sum(o.amount), count(*) FROM {orders} o LEFT JOIN {customers} c ON c.id = o.customer_id GROUP BY c.region"),
            51,
        ),
        ("in a list", format!("SELECT sum(o.amount), count(*) FROM {orders} o WHERE o.customer_id IN (SELECT id FROM {customers} WHERE region = 'south')"), 51),
        (
            "several partners of a row",
            format!("SELECT c.boss, sum(o.amount), count(*) FROM {orders} o JOIN {customers} c ON c.boss = o.customer_id GROUP BY c.boss"),
            51,
        ),
    ] {
        let sent = one(&world, "app", &sql).await;
        assert!(sent.sql.contains(" GROUP BY "), "{case}: {}", sent.sql);
        let found = moved(&world, "app", &sql).await;
        assert!(found <= rows, "{case}: {found} rows for {}", sent.sql);
    }
    let sql = format!(
        "SELECT c.region, sum(o.amount), count(*) FROM {orders} o JOIN {customers} c ON c.id = o.customer_id WHERE c.region = 'south' GROUP BY c.region"
    );
    assert_eq!(world.rows(&sql).await, [["south", "222532.75", "595"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_stay_where_they_would_be_wrong_or_bring_nothing() {
    let (world, _file) = world("wide_partial_kept").await;
    let (orders, customers) = ("app.public.orders", "billing.wide_partial_kept.customers");
    for (case, sql) in [
        ("a key for each row", format!("SELECT c.region, count(*) FROM {orders} o JOIN {customers} c ON c.id = o.id GROUP BY c.region")),
        (
            "values once each",
            format!("SELECT c.region, count(DISTINCT o.qty), sum(o.qty) FROM {orders} o JOIN {customers} c ON c.id = o.customer_id GROUP BY c.region"),
        ),
        (
            "floating point",
            format!("SELECT c.region, sum(o.qty::double precision) FROM {orders} o JOIN {customers} c ON c.id = o.customer_id GROUP BY c.region"),
        ),
        ("it can fail", format!("SELECT c.region, sum(10 / (o.qty - 8)) FROM {orders} o JOIN {customers} c ON c.id = o.customer_id GROUP BY c.region")),
        ("values of both", format!("SELECT c.region, sum(o.qty * c.id) FROM {orders} o JOIN {customers} c ON c.id = o.customer_id GROUP BY c.region")),
        ("rows that may be missing", format!("SELECT c.region, count(*) FROM {customers} c LEFT JOIN {orders} o ON c.id = o.customer_id GROUP BY c.region")),
    ] {
        let sent = one(&world, "app", &sql).await;
        assert!(!sent.sql.contains(" GROUP BY "), "{case}: {}", sent.sql);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn joins_in_which_nulls_count() {
    let (world, _file) = world("wide_nulls").await;
    let (orders, refused, nothing) = ("app.public.orders", "app.public.refused", "app.public.nothing");
    let my = "billing.wide_nulls";
    for (case, source, sql, expected) in [
        ("NOT IN with a NULL", "app", format!("SELECT count(*) FROM {orders} WHERE customer_id NOT IN (SELECT customer_id FROM {refused})"), "0"),
        (
            "NOT IN",
            "app",
            format!("SELECT count(*) FROM {orders} WHERE customer_id NOT IN (SELECT customer_id FROM {refused} WHERE customer_id IS NOT NULL)"),
            "2851",
        ),
        ("NOT IN of nothing", "app", format!("SELECT count(*) FROM {orders} WHERE customer_id NOT IN (SELECT customer_id FROM {nothing})"), "3000"),
        ("NOT IN in MariaDB", "billing", format!("SELECT count(*) FROM {my}.customers WHERE boss NOT IN (SELECT boss FROM {my}.prospects)"), "24"),
        ("NOT IN in SQLite", "files", "SELECT count(*) FROM files.main.a WHERE n NOT IN (SELECT n FROM files.main.b)".to_owned(), "0"),
        ("INTERSECT", "app", format!("SELECT count(*) FROM (SELECT customer_id FROM {orders} INTERSECT SELECT customer_id FROM {refused}) AS d"), "3"),
        ("EXCEPT", "app", format!("SELECT count(*) FROM (SELECT customer_id FROM {refused} EXCEPT SELECT customer_id FROM {orders}) AS d"), "1"),
        ("NULLs are partners", "app", format!("SELECT count(*) FROM {orders} o JOIN {refused} r ON o.customer_id IS NOT DISTINCT FROM r.customer_id"), "149"),
        (
            "NULLs are partners in MariaDB",
            "billing",
            format!("SELECT count(*) FROM {my}.customers a JOIN {my}.prospects b ON a.boss IS NOT DISTINCT FROM b.boss"),
            "56",
        ),
        ("FULL", "app", format!("SELECT count(*) FROM {orders} o FULL JOIN {refused} r ON o.customer_id = r.customer_id"), "3002"),
        (
            "FULL, each filtered",
            "app",
            format!(
                "SELECT count(*) FROM (SELECT * FROM {orders} WHERE id < 5) o FULL JOIN (SELECT * FROM {refused} WHERE amount > 2) r ON o.customer_id = r.customer_id"
            ),
            "6",
        ),
        ("FULL in SQLite", "files", "SELECT count(*) FROM files.main.a FULL JOIN files.main.b ON a.n = b.n".to_owned(), "5"),
        (
            "one row beside each",
            "app",
            format!("SELECT count(*) FROM {orders} o, (SELECT max(amount) AS most FROM {refused}) r WHERE o.amount > r.most"),
            "2984",
        ),
    ] {
        let sent = one(&world, source, &sql).await;
        assert_eq!(moved(&world, source, &sql).await, 1, "{case}: {}", sent.sql);
        assert_eq!(world.value(&sql).await, expected, "{case}: {}", sent.sql);
    }
    for (sql, source, code) in [
        (format!("SELECT count(*) FROM {my}.customers a FULL JOIN {my}.prospects b ON a.boss = b.boss"), "billing", "join_kind"),
        (format!("SELECT count(*) FROM {orders} o JOIN {refused} r ON o.amount > r.amount"), "app", "cross_join"),
        ("SELECT count(*) FROM files.main.a JOIN files.main.b ON a.n IS NOT DISTINCT FROM b.n".to_owned(), "files", "null_keys"),
    ] {
        world.rows(&format!("VERIFY {sql}")).await;
        let kept: Vec<_> = statements(&world, source, &sql).await.into_iter().flat_map(|found| found.kept).collect();
        assert!(kept.iter().any(|kept| kept.code == code), "{sql}: {kept:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn grouping_sets() {
    let (world, _file) = world("wide_sets").await;
    let orders = "app.public.orders";
    for (case, sql, rows) in [
        ("ROLLUP", format!("SELECT status, qty, count(*), sum(amount) FROM {orders} GROUP BY ROLLUP (status, qty)"), 17),
        ("CUBE", format!("SELECT status, qty, avg(amount) FROM {orders} GROUP BY CUBE (status, qty)"), 24),
        ("GROUPING SETS", format!("SELECT status, qty, day, count(*) FROM {orders} GROUP BY GROUPING SETS ((status, qty), (day), ())"), 75),
        ("no rows", format!("SELECT status, count(*) FROM {orders} WHERE id < 0 GROUP BY ROLLUP (status)"), 1),
        ("GROUPING", format!("SELECT status, qty, grouping(status, qty), count(customer_id) FROM {orders} GROUP BY ROLLUP (status, qty)"), 17),
        ("NULLs of both kinds", format!("SELECT customer_id, grouping(customer_id), count(*) FROM {orders} GROUP BY ROLLUP (customer_id)"), 52),
        ("filtered", format!("SELECT customer_id, count(*) FROM {orders} GROUP BY ROLLUP (customer_id) HAVING count(*) > 2000"), 1),
        (
            "a key that is missing",
            format!("SELECT * FROM (SELECT id, qty, count(*) AS n FROM {orders} WHERE id < 9 GROUP BY ROLLUP (id, qty)) AS d WHERE id IS NULL"),
            1,
        ),
        ("a value of a key", format!("SELECT status || '!', sum(qty) FROM {orders} GROUP BY ROLLUP (status)"), 3),
    ] {
        let sent = one(&world, "app", &sql).await;
        assert!(sent.sql.contains("ROLLUP") || sent.sql.contains("CUBE") || sent.sql.contains("GROUPING SETS"), "{case}: {}", sent.sql);
        assert_eq!(moved(&world, "app", &sql).await, rows, "{case}: {}", sent.sql);
    }
    let sql = "SELECT region, count(*) FROM billing.wide_sets.customers GROUP BY ROLLUP (region)";
    world.rows(&format!("VERIFY {sql}")).await;
    let kept: Vec<_> = statements(&world, "billing", sql).await.into_iter().flat_map(|found| found.kept).collect();
    assert!(kept.iter().any(|kept| kept.code == "grouping_sets"), "{kept:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn windows_at_the_source() {
    let (world, _file) = world("wide_windows").await;
    let (orders, my) = ("app.public.orders", "billing.wide_windows.customers");
    for (case, source, sql, rows) in [
        (
            "ranks",
            "app",
            format!("SELECT id, rank() OVER (PARTITION BY status ORDER BY qty DESC), dense_rank() OVER (ORDER BY day) FROM {orders} WHERE id < 100"),
            99,
        ),
        (
            "first of each",
            "app",
            format!(
                "SELECT id, status FROM (SELECT id, status, row_number() OVER (PARTITION BY status ORDER BY amount DESC, id) AS n FROM {orders}) AS d WHERE n <= 2"
            ),
            4,
        ),
        (
            "neighbours",
            "app",
            format!(
                "SELECT id, lag(customer_id) OVER (ORDER BY day, id), lead(uid) OVER (ORDER BY id), first_value(status) OVER (PARTITION BY qty ORDER BY id), last_value(amount) OVER (ORDER BY id) FROM {orders} WHERE id < 100"
            ),
            99,
        ),
        (
            "totals",
            "app",
            format!(
                "SELECT id, sum(amount) OVER (ORDER BY day), count(*) OVER (), sum(qty) OVER (PARTITION BY status), min(status) OVER (ORDER BY qty NULLS FIRST), count(customer_id) OVER (ORDER BY customer_id DESC) FROM {orders} WHERE id < 200"
            ),
            199,
        ),
        (
            "frames",
            "app",
            format!(
                "SELECT id, sum(qty) OVER (ORDER BY id ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING), max(amount) OVER (PARTITION BY status ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) FROM {orders} WHERE id < 100"
            ),
            99,
        ),
        (
            "over groups",
            "app",
            format!("SELECT qty, count(*), rank() OVER (ORDER BY count(*) DESC), sum(sum(amount)) OVER (ORDER BY qty) FROM {orders} GROUP BY qty"),
            7,
        ),
        (
            "over a join",
            "app",
            format!("SELECT o.id, n.id, row_number() OVER (ORDER BY n.id, o.id) FROM {orders} o JOIN app.public.old_orders n ON n.id = o.qty WHERE o.id < 50"),
            42,
        ),
        ("counted", "app", format!("SELECT max(n) FROM (SELECT rank() OVER (ORDER BY day) AS n FROM {orders}) AS d"), 1),
        (
            "MariaDB",
            "billing",
            format!(
                "SELECT id, row_number() OVER (PARTITION BY region ORDER BY since, id), rank() OVER (ORDER BY boss NULLS FIRST), sum(boss) OVER (ORDER BY id ROWS 3 PRECEDING), min(region) OVER (ORDER BY region) FROM {my}"
            ),
            40,
        ),
        ("SQLite", "files", "SELECT id, rank() OVER (ORDER BY n DESC), count(n) OVER (ORDER BY id), max(n) OVER () FROM files.main.a".to_owned(), 4),
    ] {
        let sent = one(&world, source, &sql).await;
        assert!(sent.sql.contains(" OVER ("), "{case}: {}", sent.sql);
        assert_eq!(moved(&world, source, &sql).await, rows, "{case}: {}", sent.sql);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn windows_that_stay_here_say_why() {
    let (world, _file) = world("wide_windows_kept").await;
    let (orders, my) = ("app.public.orders", "billing.wide_windows_kept.customers");
    for (sql, source, code) in [
        (format!("SELECT lag(id) OVER (ORDER BY day) FROM {orders}"), "app", "order_not_total"),
        (format!("SELECT sum(qty) OVER (ORDER BY day ROWS 2 PRECEDING) FROM {orders}"), "app", "order_not_total"),
        (format!("SELECT sum(qty::double precision) OVER (ORDER BY id) FROM {orders}"), "app", "float_order"),
        (format!("SELECT lag(boss) OVER (ORDER BY id) FROM {my}"), "billing", "window"),
        ("SELECT row_number() OVER (ORDER BY id) FROM files.main.a".to_owned(), "files", "order_not_total"),
    ] {
        let kept: Vec<_> = statements(&world, source, &sql).await.into_iter().flat_map(|found| found.kept).collect();
        assert!(kept.iter().any(|kept| kept.code == code), "{sql}: {kept:#?}");
    }
}
