// SPDX-License-Identifier: Apache-2.0
//! Answers, types and errors as PostgreSQL has them: each statement is asked of a PostgreSQL and of Weir over that PostgreSQL, with push-down
//! on, off and of parts.

use crate::kit::{Doors, World, postgres};

const TABLES: &str = "CREATE TABLE t (id int PRIMARY KEY, k int, s smallint, b bigint, n numeric(10,2), f double precision, r real, x text, d date, ts timestamp,
        tz timestamptz, ti time, iv interval, bo boolean, by bytea, ar int[], ip inet, mo money, ra int4range);
    INSERT INTO t VALUES
        (1, 1, 1, -9223372036854775808, 1.25, 1.5, 1.5, 'a', '2026-01-01', '2026-01-01 10:00', '2026-01-01 10:00+00', '10:00', '1 day', true, '\\x02', '{1,2}', '10.0.0.9', 9, '[9,10)'),
        (2, 2, 2, 9223372036854775807, 2.25, 2.5, 2.5, 'b', '2026-01-02', '2026-01-02 10:00', '2026-01-02 10:00+00', '09:00', '2 days', false, '\\x01', '{}', '10.0.0.10', 10, '[10,11)'),
        (3, 1, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '10.0.0.0/8', NULL, NULL)";

async fn ground(database: &str) -> World {
    let server = postgres().await;
    server.run(database, TABLES).await.unwrap();
    World::builder().source("app", "postgres", &server.url(database)).start().await
}

/// The statement with the table by its full name.
fn ours(statement: &str) -> String {
    statement.replace("{t}", "app.public.t")
}

fn theirs(statement: &str) -> String {
    statement.replace("{t}", "t")
}

/// Each statement has the rows that PostgreSQL gives, in every way.
async fn same_rows(world: &World, database: &str, statements: &[&str]) {
    let server = postgres().await;
    for statement in statements {
        let truth = server.query(database, &theirs(statement)).await.unwrap_or_else(|error| panic!("{statement}\n{error:?}"));
        let rows = world.every_way(&ours(statement)).await.unwrap_or_else(|error| panic!("{statement}\n{error:?}"));
        let told: Vec<String> = rows.into_iter().map(|row| row.join("\t").replace("NULL", "")).collect();
        assert_eq!(told.join("\n").trim_end_matches('\n'), truth.trim_end_matches('\n'), "{statement}");
    }
}

/// The types that psql is told before it sees a row.
async fn types(doors: &Doors, statement: &str) -> String {
    let described = doors.psql_in("weir", &["-At"], &format!("{} \\gdesc\n", ours(statement))).await;
    assert!(described.success && !described.output.contains("ERROR"), "{statement}\n{}", described.output);
    described.output.trim().lines().map(|line| line.rsplit('|').next().unwrap_or_default()).collect::<Vec<_>>().join(", ")
}

#[tokio::test(flavor = "multi_thread")]
async fn what_counts_has_a_sign() {
    let world = ground("as_counts").await;
    let doors = Doors::open(&world).await;
    let statements = [
        ("SELECT row_number() OVER (ORDER BY id) FROM {t}", "bigint"),
        ("SELECT row_number() OVER (ORDER BY id) - 5, -row_number() OVER (ORDER BY id) FROM {t}", "bigint, bigint"),
        ("SELECT rank() OVER (ORDER BY k), dense_rank() OVER (ORDER BY k), ntile(2) OVER (ORDER BY id) FROM {t} ORDER BY 1, 2, 3", "bigint, bigint, integer"),
        ("SELECT r - 5 FROM (SELECT row_number() OVER (ORDER BY id) AS r FROM {t}) s ORDER BY 1", "bigint"),
        ("SELECT r FROM (SELECT row_number() OVER (ORDER BY id) AS r FROM {t}) s WHERE r - 2 >= 0 ORDER BY 1", "bigint"),
        ("SELECT row_number() OVER (ORDER BY id) FROM {t} UNION ALL SELECT -1 ORDER BY 1", "bigint"),
        ("SELECT max(r), min(r) - 9 FROM (SELECT row_number() OVER () AS r FROM {t}) s", "bigint, bigint"),
        ("SELECT ntile(NULL) OVER (ORDER BY id) FROM {t}", "integer"),
        ("SELECT array_length(ar, 1), cardinality(ar), array_ndims(ar), array_position(ar, 2) FROM {t} ORDER BY id", "integer, integer, integer, integer"),
        ("SELECT array_length('{}'::int[], 1), cardinality('{}'::int[]), array_ndims('{}'::int[])", "integer, integer, integer"),
        ("SELECT array_length(ar, 1) - 5 FROM {t} WHERE id = 1", "bigint"),
        ("SELECT array_length(ar, 2), array_length(ar, 0) FROM {t} WHERE id = 1", "integer, integer"),
    ];
    for (statement, told) in statements {
        same_rows(&world, "as_counts", &[statement]).await;
        assert_eq!(types(&doors, statement).await, told, "{statement}");
    }
    assert_eq!(world.error(&ours("SELECT ntile(0) OVER (ORDER BY id) FROM {t}")).await.code().sqlstate(), "22023");
}

#[tokio::test(flavor = "multi_thread")]
async fn types_meet_in_the_type_that_is_told_before() {
    let world = ground("as_meets").await;
    let doors = Doors::open(&world).await;
    let zoned = "timestamp with time zone";
    let statements = [
        ("SELECT d FROM {t} WHERE id = 1 UNION SELECT tz FROM {t} WHERE id = 2 ORDER BY 1", zoned),
        ("SELECT ts FROM {t} WHERE id = 1 UNION ALL SELECT tz FROM {t} WHERE id = 2 ORDER BY 1", zoned),
        ("SELECT d FROM {t} WHERE id = 1 UNION ALL SELECT ts FROM {t} WHERE id = 2 ORDER BY 1", "timestamp without time zone"),
        (
            "SELECT coalesce(d, tz), coalesce(tz, d), coalesce(ts, tz) FROM {t} WHERE id = 1",
            "timestamp with time zone, timestamp with time zone, timestamp with time zone",
        ),
        ("SELECT CASE WHEN id = 1 THEN d ELSE tz END FROM {t} WHERE id < 3 ORDER BY 1", zoned),
        ("SELECT greatest(d, tz), least(ts, tz) FROM {t} WHERE id = 1", "timestamp with time zone, timestamp with time zone"),
        ("SELECT nullif(d, tz), nullif(d, ts) FROM {t} WHERE id = 1", "date, date"),
        ("SELECT NULL UNION ALL SELECT d FROM {t} WHERE id = 1 ORDER BY 1", "date"),
        ("SELECT '2026-01-05' UNION ALL SELECT d FROM {t} WHERE id = 1 ORDER BY 1", "date"),
        ("SELECT s FROM {t} WHERE id = 1 UNION ALL SELECT b FROM {t} WHERE id = 2 ORDER BY 1", "bigint"),
        ("SELECT r FROM {t} WHERE id = 1 UNION ALL SELECT f FROM {t} WHERE id = 2 ORDER BY 1", "double precision"),
        ("SELECT f FROM {t} WHERE id = 1 UNION ALL SELECT n FROM {t} WHERE id = 2 ORDER BY 1", "double precision"),
        ("SELECT id FROM {t} WHERE id = 1 EXCEPT SELECT b FROM {t} ORDER BY 1", "bigint"),
        ("SELECT r FROM {t} WHERE id = 1 INTERSECT SELECT f FROM {t} ORDER BY 1", "double precision"),
        ("SELECT '1' UNION ALL SELECT id FROM {t} WHERE id = 2 ORDER BY 1", "integer"),
        ("SELECT coalesce(id, '7'), CASE WHEN id = 1 THEN '3' ELSE id END FROM {t} WHERE id = 1", "integer, integer"),
    ];
    for (statement, told) in statements {
        let truth = postgres().await.query("as_meets", &theirs(&format!("SET timezone = 'UTC'; {statement}"))).await.unwrap();
        // The printed form of an instant differs between the two ways, its type and its value do not.
        let rows = world.every_way(&ours(statement)).await.unwrap_or_else(|error| panic!("{statement}\n{error:?}"));
        let plain = |text: String| text.replace('T', " ").replace("+00", "").replace('Z', "");
        let shown: Vec<String> = rows.into_iter().map(|row| plain(row.join("\t").replace("NULL", ""))).collect();
        assert_eq!(shown.join("\n").trim_end_matches('\n'), plain(truth.trim_end_matches('\n').trim_start_matches("SET\n").to_owned()), "{statement}");
        assert_eq!(types(&doors, statement).await, told, "{statement}");
    }
}

/// Statements that PostgreSQL refuses are refused with its SQLSTATE, in Weir's words, and show nothing of what Weir is made of.
async fn refused(world: &World, database: &str, statements: &[&str]) {
    let server = postgres().await;
    for statement in statements {
        let theirs = server.query(database, &format!("\\set VERBOSITY verbose\n{}", theirs(statement))).await.expect_err(statement);
        let ours = world.error(&ours(statement)).await;
        let told = format!("{theirs:?}");
        assert!(told.contains(ours.code().sqlstate()), "{statement}\nPostgreSQL: {told}\nWeir: {ours:?}");
        let words = format!("{ours:?}");
        for engine in ["Int64", "Utf8", "Date32", "Decimal128", "UDF", "{", "Expr", "__", "coerc"] {
            assert!(!words.contains(engine), "{statement}: {words}");
        }
        assert!(ours.hint().is_some(), "{statement}: {words}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn types_that_do_not_meet_are_refused() {
    let world = ground("as_refused").await;
    let sets = [
        "SELECT d FROM {t} UNION SELECT id FROM {t}",
        "SELECT id FROM {t} UNION ALL SELECT d FROM {t}",
        "SELECT bo FROM {t} UNION SELECT id FROM {t}",
        "SELECT x FROM {t} UNION SELECT id FROM {t}",
        "SELECT x FROM {t} UNION ALL SELECT d FROM {t}",
        "SELECT n FROM {t} UNION ALL SELECT x FROM {t}",
        "SELECT by FROM {t} UNION ALL SELECT x FROM {t}",
        "SELECT ti FROM {t} UNION ALL SELECT iv FROM {t}",
        "SELECT ar FROM {t} UNION ALL SELECT id FROM {t}",
        "SELECT id FROM {t} INTERSECT SELECT d FROM {t}",
        "SELECT id FROM {t} EXCEPT SELECT x FROM {t}",
        "VALUES (1), (date '2026-01-01')",
        "VALUES (true), (1)",
    ];
    let choices = [
        "SELECT coalesce(id, x) FROM {t}",
        "SELECT coalesce(id, bo) FROM {t}",
        "SELECT coalesce(d, id) FROM {t}",
        "SELECT CASE WHEN bo THEN id ELSE x END FROM {t}",
        "SELECT CASE WHEN bo THEN id ELSE d END FROM {t}",
        "SELECT CASE WHEN id THEN 1 END FROM {t}",
        "SELECT CASE x WHEN 1 THEN 1 END FROM {t}",
        "SELECT greatest(id, d) FROM {t}",
        "SELECT nullif(d, id) FROM {t}",
        "SELECT nullif(id, x) FROM {t}",
        "SELECT ARRAY[id, d] FROM {t}",
    ];
    let comparisons = [
        "SELECT 1 FROM {t} WHERE id = x",
        "SELECT 1 FROM {t} WHERE d = id",
        "SELECT 1 FROM {t} WHERE d = x",
        "SELECT 1 FROM {t} WHERE bo = 1",
        "SELECT 1 FROM {t} WHERE x > n",
        "SELECT 1 FROM {t} WHERE ti = d",
        "SELECT 1 FROM {t} WHERE by = x",
        "SELECT 1 FROM {t} WHERE ar = id",
        "SELECT 1 FROM {t} WHERE x IN (1, 2)",
        "SELECT 1 FROM {t} WHERE bo BETWEEN 0 AND 1",
        "SELECT 1 FROM {t} WHERE id IN (SELECT d FROM {t})",
        "SELECT 1 FROM {t} WHERE x IN (SELECT id FROM {t})",
        "SELECT 1 FROM {t} a JOIN {t} b ON a.d = b.id",
        "SELECT 1 FROM {t} a JOIN {t} b ON a.x = b.id",
        "SELECT bo + 1 FROM {t}",
        "SELECT d + 1.5 FROM {t}",
        "SELECT id || id FROM {t}",
        "SELECT x FROM {t} WHERE id LIKE '1%'",
        "SELECT id::date FROM {t}",
        "SELECT d::int FROM {t}",
        "SELECT d::boolean FROM {t}",
        "SELECT ts::bigint FROM {t}",
    ];
    for statements in [&sets[..], &choices[..], &comparisons[..]] {
        refused(&world, "as_refused", statements).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_stands_where_it_cannot_is_refused() {
    let world = ground("as_misplaced").await;
    let statements = [
        "SELECT row_number() FROM {t}",
        "SELECT lag(id) FROM {t}",
        "SELECT sum(row_number() OVER ()) FROM {t}",
        "SELECT sum(sum(id)) FROM {t}",
        "SELECT id FROM {t} WHERE row_number() OVER () = 1",
        "SELECT id FROM {t} WHERE count(*) > 1",
        "SELECT id FROM {t} HAVING id > 1",
        "SELECT id AS q FROM {t} WHERE q > 1",
        "SELECT q.id FROM {t}",
        "SELECT 1 FROM {t} a JOIN {t} b",
        "SELECT 1 FROM {t} a, {t} a",
        "SELECT 1 FROM {t} a JOIN {t} b ON a.id",
        "SELECT x FROM {t} WHERE x LIKE 'x' ESCAPE 'ab'",
        "SELECT id FROM {t} ORDER BY 5",
        "SELECT id FROM {t} GROUP BY 5",
        "SELECT DISTINCT x FROM {t} ORDER BY id",
        "SELECT DISTINCT ON (id) id FROM {t} ORDER BY k",
        "SELECT id FROM {t} UNION SELECT id, k FROM {t}",
        "SELECT NOT id FROM {t}",
        "SELECT grouping(x) FROM {t} GROUP BY ROLLUP (k)",
        "SELECT first_value() OVER () FROM {t}",
        "SELECT count() FROM {t}",
        "SELECT sum(id) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND 1 PRECEDING) FROM {t}",
        "SELECT sum(id) OVER (ORDER BY x RANGE BETWEEN 1 PRECEDING AND CURRENT ROW) FROM {t}",
        "SELECT -x FROM {t}",
        "WITH q AS (SELECT 1), q AS (SELECT 2) SELECT * FROM q",
    ];
    refused(&world, "as_misplaced", &statements).await;
    let hint = |sql: &'static str| {
        let world = &world;
        async move { world.error(&ours(sql)).await.hint().unwrap_or_default().to_owned() }
    };
    assert!(hint("SELECT id + 1 AS q FROM {t} WHERE q > 1").await.contains("q is the name of an output"));
    assert!(hint("SELECT id FROM {t} HAVING id > 1").await.contains("WHERE"));
    assert!(hint("SELECT 1 FROM {t} a JOIN {t} b").await.contains("CROSS JOIN"));
}

#[tokio::test(flavor = "multi_thread")]
async fn grouping_sets_of_expressions() {
    let world = ground("as_rollup").await;
    let statements = [
        "SELECT k + 1, count(*) FROM {t} GROUP BY ROLLUP (k + 1) ORDER BY 1, 2",
        "SELECT k + 1, s, count(*) FROM {t} GROUP BY ROLLUP (k + 1, s) ORDER BY 1, 2, 3",
        "SELECT k + 1, grouping(k + 1), count(*) FROM {t} GROUP BY CUBE (k + 1) ORDER BY 1, 2",
        "SELECT k + 1 AS q, upper(x), count(*) FROM {t} GROUP BY GROUPING SETS ((k + 1), (upper(x)), ()) ORDER BY 1, 2, 3",
        "SELECT k + 1, sum(id) FROM {t} GROUP BY ROLLUP (k + 1) HAVING grouping(k + 1) = 0 ORDER BY 1",
        "SELECT (k + 1) * 2, sum(id + 1) FROM {t} GROUP BY ROLLUP (k + 1) ORDER BY 1",
        "SELECT k AS kk, sum(id) FROM {t} GROUP BY ROLLUP (1) ORDER BY 1",
        "SELECT k + 1 AS kk, sum(id) FROM {t} GROUP BY CUBE (kk) ORDER BY 1",
        "SELECT coalesce(x, '-'), sum(id) FROM {t} GROUP BY CUBE (coalesce(x, '-'), k) ORDER BY 1, 2",
        "SELECT a.k + b.k, count(*) FROM {t} a JOIN {t} b ON a.id = b.id GROUP BY ROLLUP (a.k + b.k) ORDER BY 1",
        "SELECT q FROM (SELECT k + 1 AS q, count(*) FROM {t} GROUP BY ROLLUP (k + 1)) s WHERE q > 2 ORDER BY 1",
    ];
    same_rows(&world, "as_rollup", &statements).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_order_of_what_is_not_a_number() {
    let world = ground("as_order").await;
    let statements = [
        "SELECT id, rank() OVER (ORDER BY ti) FROM {t} ORDER BY 1",
        "SELECT id, sum(id) OVER (ORDER BY ti DESC) FROM {t} ORDER BY 1",
        "SELECT id, rank() OVER (ORDER BY by) FROM {t} ORDER BY 1",
        "SELECT id FROM {t} ORDER BY ip",
        "SELECT id FROM {t} ORDER BY ip DESC LIMIT 2",
        "SELECT id FROM {t} WHERE ip = '10.0.0.9'",
        "SELECT id FROM {t} WHERE ip > '10.0.0.9'",
        "SELECT id FROM {t} WHERE ip BETWEEN '10.0.0.0/8' AND '10.0.0.9/32' ORDER BY 1",
        "SELECT id FROM {t} WHERE ip IN ('10.0.0.10/32', '10.0.0.9') ORDER BY 1",
        "SELECT id, rank() OVER (ORDER BY ip) FROM {t} ORDER BY 1",
        "SELECT a.id, b.id FROM {t} a JOIN {t} b ON a.ip < b.ip ORDER BY 1, 2",
        "SELECT count(DISTINCT ip) FROM {t}",
        "SELECT id FROM {t} WHERE ip::text = '10.0.0.9/32'",
        "SELECT id FROM {t} WHERE mo::text = '$9.00'",
        "SELECT a.id FROM {t} a JOIN {t} b ON a.mo = b.mo ORDER BY 1",
    ];
    same_rows(&world, "as_order", &statements).await;
    for statement in [
        "SELECT id FROM {t} ORDER BY mo",
        "SELECT max(mo) FROM {t}",
        "SELECT id FROM {t} WHERE mo > '$9.00'",
        "SELECT id FROM {t} WHERE mo = '9'",
        "SELECT id FROM {t} ORDER BY ra",
        "SELECT id FROM {t} WHERE ra < '[10,11)'",
        "SELECT max(ip) FROM {t}",
        "SELECT rank() OVER (ORDER BY mo) FROM {t}",
    ] {
        let error = world.every_way(&ours(statement)).await.expect_err(statement);
        assert_eq!(error.code().sqlstate(), "0A000", "{statement}: {error:?}");
        assert!(error.hint().is_some(), "{statement}: {error:?}");
    }
    assert_eq!(world.error(&ours("SELECT id FROM {t} WHERE ip = 'x'")).await.code().sqlstate(), "22P02");
}

#[tokio::test(flavor = "multi_thread")]
async fn names_in_an_order_are_outputs_and_expressions_are_over_inputs() {
    let world = ground("as_names").await;
    let statements = [
        "SELECT * FROM (SELECT -id AS id, 1 FROM {t} ORDER BY id + 0 LIMIT 2) s ORDER BY 1",
        "SELECT * FROM (SELECT -id AS id, 1, 2 FROM {t} ORDER BY abs(id) LIMIT 2) s ORDER BY 1",
        "SELECT * FROM (SELECT -id AS id, 1 FROM {t} ORDER BY id LIMIT 2) s ORDER BY 1",
        "SELECT id, count FROM (SELECT -id AS id, count(*) FROM {t} GROUP BY id ORDER BY id + 0 LIMIT 2) s ORDER BY 1",
        "SELECT sum FROM (SELECT -k AS k, sum(id) FROM {t} GROUP BY k ORDER BY k + 0 LIMIT 1) s",
        "SELECT k FROM (SELECT -k AS k, id FROM {t} ORDER BY k * 1, id LIMIT 2) s ORDER BY 1",
        "SELECT {t}.* FROM (SELECT 1) q, {t} WHERE id = 99",
    ];
    same_rows(&world, "as_names", &statements).await;
    assert_eq!(world.rows("SELECT t.* FROM app.public.t WHERE id = 1").await[0].len(), 19);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_range_of_all_whole_numbers() {
    let world = ground("as_ranges").await;
    let statements = [
        "SELECT id FROM {t} WHERE b >= -9223372036854775808 AND b <= 9223372036854775807 ORDER BY 1",
        "SELECT id FROM {t} WHERE b BETWEEN -9223372036854775808 AND 9223372036854775807 AND b > 0",
        "SELECT id FROM {t} WHERE s::bigint >= -9223372036854775808 ORDER BY 1",
        "SELECT count(*) FROM {t} WHERE NOT (b >= -9223372036854775808 AND b <= 9223372036854775807)",
        "SELECT id FROM {t} WHERE b > -9223372036854775808 ORDER BY 1",
    ];
    same_rows(&world, "as_ranges", &statements).await;
}
