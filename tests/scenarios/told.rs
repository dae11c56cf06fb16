// SPDX-License-Identifier: Apache-2.0
//! EXPLAIN tells of every operator over a source whether it is sent or kept, and which keys will be; what is sent is of use there.

use crate::kit::{World, mariadb, postgres};
use weir_api::{FragmentReport, Kept, PlanReport};
use weir_base::ErrorCode;

async fn world(database: &str) -> World {
    let sources = World::builder().source("app", "postgres", &postgres().await.url(database)).source("billing", "mysql", &mariadb().await.url(database));
    sources.start().await
}

async fn statements(world: &World, sql: &str) -> Vec<FragmentReport> {
    let json = world.rows(&format!("EXPLAIN (FORMAT JSON) {sql}")).await.concat().join("\n");
    let report: PlanReport = serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}"));
    report.sources.into_iter().flat_map(|source| source.statements).collect()
}

async fn kept(world: &World, sql: &str) -> Vec<Kept> {
    statements(world, sql).await.into_iter().flat_map(|statement| statement.kept).collect()
}

/// `what (code)` of all that is kept.
async fn words(world: &World, sql: &str) -> Vec<String> {
    kept(world, sql).await.into_iter().map(|kept| format!("{} ({})", kept.what, kept.code)).collect()
}

const PADDED: &str = "
    CREATE EXTENSION IF NOT EXISTS citext;
    CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    CREATE TABLE padded (code char(6) PRIMARY KEY, name citext, loose char(12) COLLATE loose, n int);
    INSERT INTO padded SELECT lpad(n::text, 6, '0'), 'Name ' || n, 'Name ' || n, n FROM generate_series(1, 50000) n;
    INSERT INTO padded VALUES ('ab', 'AB', 'AB', 0), ('a', 'A', 'A', -1), ('', '', '', NULL);
    CREATE INDEX ON padded (name); CREATE INDEX ON padded (loose); VACUUM ANALYZE padded";

#[tokio::test(flavor = "multi_thread")]
async fn texts_of_a_fixed_length_are_found_by_their_index() {
    let database = "told_padded";
    postgres().await.run(database, PADDED).await.unwrap();
    mariadb().await.run(database, "CREATE TABLE few (code varchar(9)); INSERT INTO few VALUES ('000077'), ('000078'), ('ab'), ('ab ')").await.unwrap();
    let world = world(database).await;
    let many = (1..60).map(|n| format!("'{n:06}'")).collect::<Vec<_>>().join(", ");
    for (condition, rows, indexed) in [
        ("code = '000077'".to_owned(), "1", true),
        ("code = 'ab'".to_owned(), "1", true),
        ("code = 'ab '".to_owned(), "0", true),
        ("code IN ('000077', 'a', '')".to_owned(), "3", true),
        (format!("code IN ({many})"), "59", true),
        ("code <> '000077'".to_owned(), "50002", false),
        ("code < '000003'".to_owned(), "3", false),
        ("code > 'a' AND code < 'ab '".to_owned(), "1", false),
        ("code LIKE 'a_'".to_owned(), "1", false),
        ("code LIKE 'ab%' OR code LIKE '%77'".to_owned(), "501", false),
        ("name = 'Name 77'".to_owned(), "1", true),
        ("name = 'name 77'".to_owned(), "0", true),
        ("name IN ('Name 77', 'NAME 78')".to_owned(), "1", true),
        ("loose = 'Name 77'".to_owned(), "1", true),
        ("loose = 'name 77'".to_owned(), "0", true),
    ] {
        let sql = format!("SELECT count(*) FROM app.public.padded WHERE {condition}");
        assert_eq!(world.every_way(&sql).await.unwrap(), [[rows]], "{condition}");
        let sent = statements(&world, &format!("SELECT n FROM app.public.padded WHERE {condition}")).await.remove(0).sql;
        if indexed {
            let plan = postgres().await.query(database, &format!("EXPLAIN {sent}")).await.unwrap();
            assert!(plan.contains("Index") && !plan.contains("Seq Scan"), "{sent}: {plan}");
        }
    }
    for (sql, wanted) in [
        ("SELECT code, count(*) FROM app.public.padded WHERE n < 3 GROUP BY code ORDER BY code", "000001|1;000002|1;a|1;ab|1"),
        ("SELECT min(code), max(code), count(DISTINCT code) FROM app.public.padded", "|ab|50003"),
        ("SELECT code FROM app.public.padded ORDER BY code LIMIT 2", ";000001"),
        ("SELECT count(*) FROM app.public.padded a JOIN app.public.padded b ON a.code = b.code", "50003"),
        ("SELECT f.code FROM billing.told_padded.few f JOIN app.public.padded p ON p.code = f.code ORDER BY 1", "000077;000078;ab"),
    ] {
        let rows = world.every_way(sql).await.unwrap();
        assert_eq!(rows.into_iter().map(|row| row.join("|")).collect::<Vec<_>>().join(";"), wanted, "{sql}");
    }
    // What has blanks at its end is in no such column, and is looked for all the same.
    let told = kept(&world, "SELECT n FROM app.public.padded WHERE code = 'ab '").await;
    assert!(told.iter().any(|kept| kept.code == "padding" && kept.remedy.as_deref().is_some_and(|remedy| remedy.contains("blanks"))), "{told:?}");
    let lines = world.rows("EXPLAIN ANALYZE SELECT f.code FROM billing.told_padded.few f JOIN app.public.padded p ON p.code = f.code").await.concat();
    assert!(lines.iter().any(|line| line.contains("app was asked for 4 keys of code")), "{lines:#?}");
}

const BIG: &str = "CREATE TABLE big (id int PRIMARY KEY, code varchar(40) NOT NULL, kind int NOT NULL);
    INSERT INTO big SELECT seq, concat('code ', if(seq % 1000 = 0, 0, seq)), seq % 10 FROM seq_1_to_20000;
    ANALYZE TABLE big PERSISTENT FOR ALL";

#[tokio::test(flavor = "multi_thread")]
async fn groups_that_are_as_many_as_rows_are_made_here() {
    let database = "told_groups";
    postgres().await.run(database, "CREATE TABLE few (id int PRIMARY KEY); INSERT INTO few SELECT generate_series(1, 1000)").await.unwrap();
    mariadb().await.run(database, BIG).await.unwrap();
    let world = world(database).await;
    let big = "billing.told_groups.big";
    for (sql, grouped) in [
        (format!("SELECT DISTINCT code FROM {big}"), false),
        (format!("SELECT code, count(*) FROM {big} GROUP BY code"), false),
        (format!("SELECT code, avg(kind) FROM {big} GROUP BY code"), false),
        (format!("SELECT id, kind, count(*) FROM {big} GROUP BY id, kind"), false),
        (format!("SELECT code FROM {big} INTERSECT SELECT code FROM {big} WHERE kind = 1"), false),
        // Few come of these all the same.
        (format!("SELECT code FROM {big} GROUP BY code HAVING count(*) > 1"), true),
        (format!("SELECT DISTINCT code FROM {big} LIMIT 3"), true),
        (format!("SELECT kind, count(*) FROM {big} GROUP BY kind"), true),
        (format!("SELECT DISTINCT kind FROM {big}"), true),
    ] {
        let asked = format!("SELECT count(*) FROM ({sql}) AS q");
        assert!(world.every_way(&asked).await.is_ok(), "{sql}");
        let found = statements(&world, &sql).await;
        assert_eq!(found.iter().any(|statement| statement.sql.contains("GROUP BY")), grouped, "{sql}: {found:#?}");
        let told = found.iter().flat_map(|statement| &statement.kept).any(|kept| kept.code == "as_many");
        assert_eq!(told, !grouped, "{sql}: {found:#?}");
    }
    assert_eq!(world.rows(&format!("SELECT code FROM {big} GROUP BY code HAVING count(*) > 1")).await, [["code 0"]]);
    // The rows of a join are not grouped by their key first, whoever has counted them.
    let joined = format!("SELECT b.id, count(*) FROM {big} b JOIN app.public.few f ON f.id = b.id AND f.id = b.kind GROUP BY b.id");
    let found = statements(&world, &joined).await;
    assert!(found.iter().all(|statement| !statement.sql.contains("GROUP BY")), "{found:#?}");
}

const WORDS: &str = "
    CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy');
    CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
    CREATE TABLE a (id int PRIMARY KEY, n int, m mood, s text COLLATE loose, d numeric(10,2));
    CREATE TABLE b (id int PRIMARY KEY, n int, s text COLLATE loose);
    INSERT INTO a SELECT n, n % 50, 'ok', 's' || n, n FROM generate_series(1, 3000) n;
    INSERT INTO b SELECT n, n % 50, 's' || n FROM generate_series(1, 3000) n; ANALYZE";

#[tokio::test(flavor = "multi_thread")]
async fn each_operator_is_sent_or_kept() {
    let database = "told_words";
    postgres().await.run(database, WORDS).await.unwrap();
    let table = "CREATE TABLE c (id int PRIMARY KEY, n int, d decimal(10,2)); INSERT INTO c SELECT seq, seq % 7, seq FROM seq_1_to_3000; ANALYZE TABLE c PERSISTENT FOR ALL";
    mariadb().await.run(database, table).await.unwrap();
    let world = world(database).await;
    let sure = |found: &[String], wanted: &str| assert!(found.iter().any(|line| line == wanted), "{wanted}: {found:#?}");
    // A limit that waits for a check.
    sure(&words(&world, "SELECT id FROM app.public.a WHERE s = 's7' LIMIT 5").await, "limit 5 (local_input)");
    // In the words of the pages.
    sure(&words(&world, "SELECT id FROM app.public.a WHERE m < 'happy'").await, "filter (m < 'happy') (enum)");
    let quotient = kept(&world, "SELECT id FROM billing.told_words.c WHERE d / 3 > 1").await;
    assert!(quotient.iter().any(|kept| kept.code == "rounding" && kept.remedy.is_some()), "{quotient:?}");
    // Keys as whoever asked wrote them, NULLs and all, and each line once.
    let member = words(&world, "SELECT id FROM app.public.a WHERE n IN (SELECT n FROM billing.told_words.c)").await;
    assert!(!member.concat().contains("member("), "{member:?}");
    sure(&member, "join on app.public.a.n = subquery.n (two_sources)");
    let shared = words(&world, "SELECT id FROM app.public.a INTERSECT SELECT n FROM billing.told_words.c").await;
    assert!(shared.concat().contains("a.id IS NOT DISTINCT FROM billing.told_words.c.n"), "{shared:?}");
    let mut twice = words(&world, "SELECT a.id FROM app.public.a a JOIN app.public.a b ON a.s = b.s").await;
    let all = twice.len();
    twice.sort();
    twice.dedup();
    assert_eq!(twice.len(), all, "{twice:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_silent_with_push_down_off() {
    let database = "told_off";
    postgres().await.run(database, WORDS).await.unwrap();
    mariadb().await.run(database, "CREATE TABLE c (id int)").await.unwrap();
    let world = world(database).await;
    let session = world.session("ana", None);
    world.ask_as(&session, "SET weir.pushdown = off").await.unwrap();
    for (sql, wanted) in [
        ("SELECT n, count(*) FROM app.public.a GROUP BY n", "aggregate count(1) by n"),
        ("SELECT DISTINCT n FROM app.public.a", "distinct n"),
        ("SELECT id FROM app.public.a ORDER BY n LIMIT 3", "first 3 by n"),
        ("SELECT id FROM app.public.a LIMIT 3", "limit 3"),
        ("SELECT a.id FROM app.public.a a JOIN app.public.b b ON a.id = b.n", "join on a.id = b.n"),
        ("SELECT id, row_number() OVER (ORDER BY id) FROM app.public.a", "window row_number()"),
        ("SELECT id FROM app.public.a UNION ALL SELECT id FROM app.public.b", "union all of 2 parts"),
        ("SELECT id FROM app.public.a WHERE n = 3", "filter (n = 3)"),
    ] {
        let (lines, _) = world.ask_as(&session, &format!("EXPLAIN {sql}")).await.unwrap();
        let lines = lines.concat();
        let told: Vec<&String> = lines.iter().filter(|line| line.starts_with("kept") && line.contains("(switched_off)")).collect();
        assert!(told.iter().any(|line| line.contains(wanted)), "{sql}: {lines:#?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_that_may_be_sent_are_told_before() {
    let database = "told_keys";
    postgres().await.run(database, "CREATE TABLE big AS SELECT n AS id, n % 9 AS kind FROM generate_series(1, 20000) n; ANALYZE big").await.unwrap();
    mariadb().await.run(database, "CREATE TABLE few (id int PRIMARY KEY); INSERT INTO few SELECT seq * 100 FROM seq_1_to_50; ANALYZE TABLE few").await.unwrap();
    let world = world(database).await;
    let sql = "SELECT f.id, b.kind FROM app.public.big b JOIN billing.told_keys.few f ON f.id = b.id";
    let found = statements(&world, sql).await;
    let told: Vec<String> = found.iter().flat_map(|statement| &statement.keys).map(|keys| format!("{} of {}", keys.column, keys.from.join("+"))).collect();
    assert_eq!(told, ["id of billing.told_keys.few"], "{found:#?}");
    let lines = world.explain(sql).await;
    assert!(lines.contains("keys of id from billing.told_keys.few will be sent if they are few"), "{lines}");
    assert!(!lines.contains("used today"), "there is no budget: {lines}");
    let alone = world.explain("SELECT id FROM app.public.big WHERE kind = 3").await;
    assert!(!alone.contains("will be sent"), "{alone}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_that_only_one_way_reads_is_no_wrong_answer() {
    let database = "told_values";
    postgres().await.run(database, "CREATE TABLE t (id int PRIMARY KEY, d numeric(5,2)); INSERT INTO t VALUES (1, 'NaN'), (2, 1)").await.unwrap();
    mariadb().await.run(database, "CREATE TABLE c (id int)").await.unwrap();
    let world = world(database).await;
    let error = world.error("VERIFY SELECT count(d) FROM app.public.t").await;
    assert_eq!(error.code(), ErrorCode::ValueOutOfRange, "{error:?}");
    assert!(error.hint().is_some_and(|hint| hint.contains("NaN") && hint.contains("values")), "{error:?}");
    assert!(world.ask("VERIFY SELECT count(id) FROM app.public.t").await.is_ok());
}

#[tokio::test(flavor = "multi_thread")]
async fn groups_of_jsonb_are_those_of_its_values() {
    let database = "told_jsonb";
    let script = r#"CREATE TABLE x (id int PRIMARY KEY, j jsonb);
        INSERT INTO x VALUES (1, '{"a": 1, "b": {"k": 1, "l": 2}}'), (2, '{"a": 1.0, "b": {"l": 2.00, "k": 1}}'), (3, '{"a": "1"}'), (4, NULL), (5, '{"a": 2.50}'), (6, '{"a": 2.50}')"#;
    postgres().await.run(database, script).await.unwrap();
    mariadb().await.run(database, "CREATE TABLE c (id int)").await.unwrap();
    let world = world(database).await;
    for sql in [
        "SELECT count(*), min(id) FROM app.public.x GROUP BY j->'a' ORDER BY 2",
        "SELECT count(*), min(id) FROM app.public.x GROUP BY j ORDER BY 2",
        "SELECT count(DISTINCT j), count(DISTINCT j->'b') FROM app.public.x",
        "SELECT id, count(*) OVER (PARTITION BY j->'a') FROM app.public.x ORDER BY id",
        "SELECT count(*) FROM (SELECT DISTINCT j->'a', j->'b' FROM app.public.x) AS q",
        "SELECT count(*) FROM (SELECT j->'a' FROM app.public.x WHERE id = 1 INTERSECT SELECT j->'a' FROM app.public.x WHERE id = 2) AS q",
        "SELECT count(*) FROM (SELECT j FROM app.public.x UNION SELECT j FROM app.public.x) AS q",
    ] {
        let truth = postgres().await.query(database, &sql.replace("app.public.x", "x")).await.unwrap();
        let rows = world.every_way(sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        let told: Vec<String> = rows.into_iter().map(|row| row.join("\t")).collect();
        assert_eq!(told.join("\n"), truth.trim_end(), "{sql}");
    }
    // Each group shows one of its values, as it stands there, and that is jsonb again.
    let shown = "SELECT j->'a' AS a, count(*) FROM app.public.x GROUP BY 1 HAVING count(*) = 2 ORDER BY min(id)";
    assert_eq!(world.every_way(shown).await.unwrap(), [["1", "2"], ["2.50", "2"]]);
    assert_eq!(world.rows("SELECT q.b->'k' FROM (SELECT DISTINCT j->'b' AS b FROM app.public.x WHERE id < 3) AS q").await, [["1"]]);
}
