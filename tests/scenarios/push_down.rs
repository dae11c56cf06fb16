// SPDX-License-Identifier: Apache-2.0
//! What users of other engines report of push-down, under the numbers of the project's collection of cases: the kind of each is tested here.

use crate::kit::{World, mariadb, postgres};
use weir_api::FragmentReport;

const SHOP: &str = "
    CREATE TYPE mood AS ENUM ('sad', 'ok', 'Happy');
    CREATE TABLE a (id int PRIMARY KEY, name text, amount numeric(12,2), qty int, day date, at timestamptz, mood mood, uid uuid, status varchar(10));
    INSERT INTO a SELECT n, CASE WHEN n % 10 = 0 THEN NULL ELSE 'name ' || n % 50 END, n * 1.25, n % 7, date '2026-01-01' + n % 300, timestamptz '2026-11-01 00:00:00+00' + n * interval '1 minute',
        (ARRAY['sad', 'ok', 'Happy'])[1 + n % 3]::mood, ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid, CASE WHEN n % 20 = 0 THEN 'failed' ELSE 'paid' END FROM generate_series(1, 2000) n;
    CREATE TABLE b (id int PRIMARY KEY, a_id int, note text);
    INSERT INTO b SELECT n, n * 2, 'note ' || n FROM generate_series(1, 500) n;
    CREATE VIEW v AS SELECT id, name FROM a WHERE id > 10;
    ANALYZE";

/// A PostgreSQL and a MariaDB with a shop, and a lake.
async fn world(database: &str) -> World {
    postgres().await.run(database, SHOP).await.unwrap();
    mariadb()
        .await
        .run(
            database,
            "CREATE TABLE t (id int PRIMARY KEY, word varchar(20) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, day date NULL, big bigint unsigned);
             SET sql_mode = '';
             INSERT INTO t SELECT seq, ELT(1 + seq % 4, 'a', 'A', 'a ', 'b'), IF(seq % 5 = 0, '0000-00-00', '2026-01-01'), 18446744073709551000 + seq FROM seq_1_to_400",
        )
        .await
        .unwrap();
    let sources = World::builder().source("app", "postgres", &postgres().await.url(database)).source("billing", "mysql", &mariadb().await.url(database));
    sources.start().await
}

/// The plan's statements for a source.
async fn statements(world: &World, source: &str, sql: &str) -> Vec<FragmentReport> {
    let json = world.rows(&format!("EXPLAIN (FORMAT JSON) {sql}")).await.concat().join("\n");
    let report: weir_api::PlanReport = serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}"));
    report.sources.into_iter().filter(|found| found.source == source).flat_map(|found| found.statements).collect()
}

/// The one statement for a source, after the answer is seen to be the same without push-down.
async fn one(world: &World, source: &str, sql: &str) -> FragmentReport {
    world.rows(&format!("VERIFY {sql}")).await;
    let mut found = statements(world, source, sql).await;
    assert_eq!(found.len(), 1, "{sql}: {found:#?}");
    found.remove(0)
}

/// Rows that left a source for a question.
async fn moved(world: &World, source: &str, sql: &str) -> u64 {
    world.receipt(sql).await.sources.iter().find(|used| used.source == source).map_or(0, |used| used.rows)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_do_not_push() {
    let world = world("cases_pushed").await;
    let names: Vec<String> = (0..26).map(|n| format!("'name {n}'")).collect();
    for (case, sql, wanted, rows) in [
        ("F1", format!("SELECT id FROM app.public.a WHERE status = 'failed' AND name IN ({})", names.join(", ")), "IN (", None),
        ("F3", "SELECT * FROM app.public.a LIMIT 1".into(), "LIMIT 1", Some(1)),
        ("F4", "SELECT count(*) FROM app.public.a WHERE at = '2026-11-01 00:07:00+00'".into(), "SELECT count(*)", Some(1)),
        ("F5", "SELECT id FROM app.public.a WHERE at >= now() - interval '1 min' LIMIT 1".into(), "\"at\" >= '20", None),
        ("F10", "SELECT count(*), min(day), max(amount), sum(qty) FROM app.public.a".into(), "count(*)", Some(1)),
        ("F10 over a view", "SELECT count(*) FROM app.public.v".into(), "count(*)", Some(1)),
        ("F14", "SELECT status, sum(amount * qty) FILTER (WHERE id > 100) FROM app.public.a GROUP BY status".into(), "sum(CASE WHEN", Some(2)),
        ("F14 averages", "SELECT status, avg(amount), avg(qty) FROM app.public.a GROUP BY status".into(), "sum(", Some(2)),
        ("F27", "SELECT n1.id FROM app.public.a n1 JOIN app.public.a n2 ON n1.id = n2.qty WHERE n2.id < 50".into(), "JOIN", None),
        ("top", "SELECT id FROM app.public.a WHERE at > '2026-11-01' ORDER BY at DESC, id LIMIT 3".into(), "ORDER BY", Some(3)),
        ("F2 prefix", "SELECT count(*) FROM app.public.a WHERE name ~ '^name 1'".into(), "LIKE 'name 1%'", Some(1)),
        ("F2 substring", "SELECT count(*) FROM app.public.a WHERE substring(name FROM 1 FOR 6) = 'name 7'".into(), "substring(", Some(1)),
        ("F2 more than a prefix", "SELECT id FROM app.public.a WHERE name ~ '^name 4[0-9]$' AND id < 100".into(), "LIKE 'name 4%'", None),
        ("F7 over a view there", "SELECT name FROM app.public.v WHERE id = 17".into(), "\"id\" = 17", Some(1)),
        (
            "F7 over a question",
            "WITH w AS (SELECT id, upper(status) AS s FROM app.public.a) SELECT s FROM (SELECT * FROM w) AS q WHERE q.id = 17".into(),
            "\"id\" = 17",
            Some(1),
        ),
        ("F12", "SELECT id FROM app.public.a WHERE qty = 3 ORDER BY id LIMIT 2".into(), "LIMIT 2", Some(2)),
        ("F37", "SELECT id FROM app.public.a WHERE uid = '00000000-0000-0000-0000-000000000007'".into(), "::uuid", Some(1)),
        ("like", "SELECT count(*) FROM app.public.a WHERE name LIKE 'name 1%'".into(), "LIKE 'name 1%'", Some(1)),
        ("distinct", "SELECT DISTINCT status FROM app.public.a".into(), "GROUP BY", Some(2)),
        (
            "fields of dates",
            "SELECT extract(year FROM day), extract(MONTH FROM day), count(*) FROM app.public.a GROUP BY 1, 2".into(),
            "extract(year from",
            Some(10),
        ),
        (
            "days and clocks",
            "SELECT count(*) FROM app.public.a WHERE day < date '2026-01-31' + interval '1 day'".into(),
            "\"day\" < '2026-02-01'::date",
            Some(1),
        ),
        ("having", "SELECT qty FROM app.public.a GROUP BY qty HAVING count(*) > 285".into(), "HAVING count(*) > ", None),
    ] {
        let sent = one(&world, "app", &sql).await;
        assert!(sent.sql.contains(wanted), "{case}: {}", sent.sql);
        if let Some(rows) = rows {
            assert_eq!(moved(&world, "app", &sql).await, rows, "{case}: {}", sent.sql);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn joins_of_one_source_are_one_statement() {
    let world = world("cases_joined").await;
    world.rows("CREATE SCHEMA lake.cases").await;
    world.rows("CREATE TABLE lake.cases.c AS SELECT id, qty FROM app.public.a WHERE id <= 3").await;
    for (case, sql, wanted) in [
        ("F11", "SELECT c.qty, b.note FROM app.public.a JOIN app.public.b ON b.a_id = a.id JOIN lake.cases.c ON c.id = a.id", "JOIN"),
        ("F21", "SELECT a.id, b.note FROM app.public.a LEFT JOIN app.public.b ON b.a_id = a.id WHERE a.id = 1", "LEFT JOIN"),
        ("F23", "SELECT a.id, b.note FROM app.public.a LEFT JOIN app.public.b ON b.a_id = a.id AND b.note LIKE '%9%' WHERE a.id < 40", "LEFT JOIN"),
        ("F23 aggregated", "SELECT a.qty, count(b.id) FROM app.public.a LEFT JOIN app.public.b ON b.a_id = a.id AND b.id < 100 GROUP BY a.qty", "GROUP BY"),
        ("semi", "SELECT id FROM app.public.a WHERE EXISTS (SELECT 1 FROM app.public.b WHERE b.a_id = a.id AND b.id > 490)", "EXISTS"),
        ("anti", "SELECT count(*) FROM app.public.a WHERE NOT EXISTS (SELECT 1 FROM app.public.b WHERE b.a_id = a.id)", "NOT EXISTS"),
    ] {
        let sent = one(&world, "app", sql).await;
        assert!(sent.sql.contains(wanted), "{case}: {}", sent.sql);
    }
    assert_eq!(world.rows("SELECT a.id, b.note FROM app.public.a LEFT JOIN app.public.b ON b.a_id = a.id WHERE a.id = 1").await, [["1", "NULL"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_filter_on_the_kept_side_of_an_outer_join_is_pushed() {
    let world = world("cases_outer").await;
    world.rows("CREATE SCHEMA lake.cases").await;
    world.rows("CREATE TABLE lake.cases.c AS SELECT id, qty FROM app.public.a").await;
    // F8: of the preserved side always, of the other when it cannot be NULL.
    let sql = "SELECT c.id, b.note FROM lake.cases.c LEFT JOIN app.public.b ON b.a_id = c.id WHERE c.id < 5 ORDER BY c.id";
    world.rows(&format!("VERIFY {sql}")).await;
    assert_eq!(world.rows(sql).await, [["1", "NULL"], ["2", "note 1"], ["3", "NULL"], ["4", "note 2"]]);
    let sql = "SELECT c.id, b.note FROM lake.cases.c LEFT JOIN app.public.b ON b.a_id = c.id WHERE b.id = 7";
    assert!(one(&world, "app", sql).await.sql.contains("WHERE"));
    // F24: a subquery over another source is a join of two sources, not a text that names a table it does not have.
    let sql = "SELECT id FROM app.public.b WHERE a_id IN (SELECT id FROM billing.cases_outer.t WHERE id < 5) ORDER BY id";
    world.rows(&format!("VERIFY {sql}")).await;
    assert_eq!(world.rows(sql).await, [["1"], ["2"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_push_and_get_wrong() {
    let world = world("cases_wrong").await;
    for (case, sql, expected) in [
        ("F15 =", "SELECT count(*) FROM billing.cases_wrong.t WHERE word = 'a'", "100"),
        ("F15 <>", "SELECT count(*) FROM billing.cases_wrong.t WHERE word <> 'a'", "300"),
        ("F16", "SELECT count(*) FROM billing.cases_wrong.t WHERE word IN ('a ', 'b')", "200"),
        ("F16 nullif", "SELECT count(nullif(word, 'a ')) FROM billing.cases_wrong.t", "300"),
        ("F17", "SELECT count(*) FROM billing.cases_wrong.t WHERE word LIKE 'A%'", "100"),
        ("F20", "SELECT count(*) FROM (SELECT word FROM billing.cases_wrong.t EXCEPT SELECT 'A') AS d", "3"),
        ("groups under a loose collation", "SELECT count(*) FROM (SELECT DISTINCT word FROM billing.cases_wrong.t) AS d", "4"),
        ("F40", "SELECT count(*) FROM billing.cases_wrong.t WHERE day IS NULL", "80"),
        ("F42", "SELECT max(big) FROM billing.cases_wrong.t", "18446744073709551400"),
        ("F28", "SELECT count(*) FROM app.public.a WHERE (id < 100 AND upper(name) = 'NAME 7') OR id = 5", "3"),
        ("F31", "SELECT avg(qty) FROM app.public.a WHERE id <= 3", "2.0000000000000000"),
        ("F31 whole division", "SELECT sum(id / 2) FROM app.public.a WHERE id <= 3", "2"),
    ] {
        world.rows(&format!("VERIFY {sql}")).await;
        assert_eq!(world.value(sql).await, expected, "{case}");
    }
    // F26: a text is not compared with a number by either.
    assert!(world.ask("SELECT id FROM app.public.a WHERE status = 5").await.is_err());
    // F30: NULLs stand where PostgreSQL puts them, in every source.
    assert_eq!(world.rows("SELECT name FROM app.public.a ORDER BY name DESC LIMIT 1").await, [["NULL"]]);
    assert_eq!(world.rows("SELECT name FROM app.public.a ORDER BY name DESC NULLS LAST LIMIT 1").await, [["name 9"]]);
    assert_eq!(world.rows("SELECT day FROM billing.cases_wrong.t ORDER BY day LIMIT 1").await, [["2026-01-01"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guard_and_a_sum_fail_alike() {
    let world = world("cases_failing").await;
    assert_eq!(
        world.value("SELECT count(*) FROM app.public.a WHERE qty <> 0 AND 10 / qty > 3").await,
        world.value("SELECT count(*) FROM app.public.a WHERE qty IN (1, 2)").await
    );
    for sql in ["SELECT sum(10 / qty) FROM app.public.a", "SELECT max(id * 9223372036854775807) FROM app.public.a"] {
        let with = world.error(sql).await;
        let session = world.session("local", None);
        world.ask_as(&session, "SET weir.pushdown = 'off'").await.unwrap();
        let without = world.ask_as(&session, sql).await.unwrap_err();
        assert_eq!(with.code(), without.code(), "{sql}: {with} and {without}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_stays_here_says_why() {
    let world = world("cases_kept").await;
    world.rows("CREATE SCHEMA lake.cases").await;
    world.rows("CREATE TABLE lake.cases.c AS SELECT id, qty FROM app.public.a").await;
    for (sql, code) in [
        ("SELECT count(*) FROM app.public.a JOIN lake.cases.c ON c.id = a.id", "two_sources"),
        ("SELECT count(*) FROM app.public.a WHERE name ~ 'n.*7'", "regex_dialect"),
        ("SELECT count(*) FROM app.public.a WHERE regexp_like(name, '^n(a|b).*7')", "regex_dialect"),
        ("SELECT sum(id::double precision) FROM app.public.a", "float_order"),
        ("SELECT sum(amount / 3) FROM app.public.a", "rounding"),
        ("SELECT ntile(3) OVER (ORDER BY id) FROM app.public.a", "window"),
        ("SELECT row_number() OVER (ORDER BY qty) FROM app.public.a", "order_not_total"),
        ("SELECT id FROM app.public.a ORDER BY id", "all_rows"),
        ("SELECT word, count(*) FROM billing.cases_kept.t GROUP BY ROLLUP (word)", "grouping_sets"),
    ] {
        let source = if sql.contains("billing") { "billing" } else { "app" };
        let kept: Vec<_> = statements(&world, source, sql).await.into_iter().flat_map(|found| found.kept).collect();
        assert!(kept.iter().any(|kept| kept.code == code), "{sql}: {kept:#?}");
    }
}

/// F19: whether a filter was sent, and in which of its spellings it was written, changes nothing.
#[tokio::test(flavor = "multi_thread")]
async fn the_answer_does_not_depend_on_the_spelling_of_a_filter() {
    let world = world("cases_spelled").await;
    for (value, count) in [("a", "100"), ("A", "100"), ("a ", "100"), ("b", "100"), ("B", "0"), ("á", "0")] {
        for condition in [
            format!("word = '{value}'"),
            format!("'{value}' = word"),
            format!("word IN ('{value}')"),
            format!("word IN ('{value}', 'zz')"),
            format!("NOT word <> '{value}'"),
            format!("word LIKE '{value}'"),
            format!("word BETWEEN '{value}' AND '{value}'"),
            format!("word = ANY(ARRAY['{value}'])"),
            format!("word IS NOT DISTINCT FROM '{value}'"),
            format!("concat(word, '') = '{value}'"),
        ] {
            let sql = format!("SELECT count(*) FROM billing.cases_spelled.t WHERE {condition}");
            assert_eq!(world.every_way(&sql).await.unwrap(), [[count]], "{sql}");
        }
    }
}

/// F12: WHERE is sent to MariaDB, and so is LIMIT; a filter that is only known while the question runs, or of a kind that is not sent, does no harm.
#[tokio::test(flavor = "multi_thread")]
async fn mariadb_gets_what_it_can_do_and_keeps_the_rest_from_failing() {
    let world = world("cases_maria").await;
    let t = "billing.cases_maria.t";
    for (sql, wanted, rows) in [
        (format!("SELECT id FROM {t} WHERE id > 390 AND id <> 395"), "WHERE", 9),
        (format!("SELECT id FROM {t} LIMIT 3"), "LIMIT 3", 3),
        (format!("SELECT id, big FROM {t} WHERE id > 5 ORDER BY id DESC LIMIT 2"), "LIMIT 2", 2),
        (format!("SELECT count(*) FROM {t} WHERE id BETWEEN 10 AND 20"), "COUNT(*)", 1),
    ] {
        let sent = one(&world, "billing", &sql).await;
        assert!(sent.sql.contains(wanted), "{sql}: {}", sent.sql);
        assert_eq!(moved(&world, "billing", &sql).await, rows, "{sql}: {}", sent.sql);
    }
    for (sql, expected) in [
        (format!("SELECT count(*) FROM {t} WHERE word ~ '^a ?$' AND id < 100"), "49"),
        (format!("SELECT count(*) FROM {t} WHERE id = (SELECT max(id) FROM {t} WHERE md5(word) = md5('b'))"), "1"),
        (format!("SELECT count(*) FROM {t} x WHERE EXISTS (SELECT 1 FROM {t} y WHERE y.id = x.id + 1 AND y.word < x.word)"), "199"),
        (format!("SELECT id FROM {t} WHERE word SIMILAR TO '(a|b)' AND id BETWEEN 1 AND 5 ORDER BY word, id LIMIT 1"), "4"),
    ] {
        assert_eq!(world.every_way(&sql).await.unwrap_or_else(|error| panic!("{sql}\n{error:?}")), [[expected]], "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tables_of_one_source_find_each_other_across_a_join() {
    let world = world("cases_regrouped").await;
    world.rows("CREATE SCHEMA lake.cases").await;
    world.rows("CREATE TABLE lake.cases.c AS SELECT id, qty FROM app.public.a WHERE id <= 40").await;
    // The lake stands between two tables of one source.
    let sql =
        "SELECT b.note, c.qty, a.name FROM app.public.a JOIN lake.cases.c ON c.id = a.id JOIN app.public.b ON b.a_id = a.id WHERE b.id < 10 ORDER BY b.id";
    let sent = one(&world, "app", sql).await;
    assert!(sent.sql.contains(" JOIN "), "{}", sent.sql);
    assert_eq!(world.rows(sql).await.len(), 9);
    // And three places, each with its part.
    let sql = "SELECT count(*) FROM billing.cases_regrouped.t JOIN app.public.b ON b.id = t.id JOIN lake.cases.c ON c.id = b.a_id JOIN app.public.a ON a.id = c.id AND a.id = b.a_id";
    assert!(one(&world, "app", sql).await.sql.contains(" JOIN "));
    assert_eq!(world.value(sql).await, "20");
}
