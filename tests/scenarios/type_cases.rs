// SPDX-License-Identifier: Apache-2.0
//! Types as users of other engines lose them, under the numbers of the project's collection of cases: each kind of value comes back
//! exactly, is found by what it is compared with, and is the same with push-down on, off, and of parts.

use crate::kit::{World, mariadb, postgres};
use std::collections::BTreeMap;
use weir_base::{ErrorCode, SourceName};
use weir_guard::Limits;
use weir_source::{SourceSpec, ValuePolicy};

/// A PostgreSQL database as source `app`, with what becomes of NaN and of infinities.
async fn app(database: &str, script: &str, nan: ValuePolicy, infinity: ValuePolicy) -> World {
    let server = postgres().await;
    server.run(database, script).await.unwrap();
    let (name, url) = (SourceName::new("app"), server.url(database));
    let spec = SourceSpec { name, kind: "postgres".into(), url, allow_primary: true, nan, infinity, limits: Limits::default(), options: BTreeMap::new() };
    World::builder().configured(spec).start().await
}

async fn plain(database: &str, script: &str) -> World {
    app(database, script, ValuePolicy::default(), ValuePolicy::default()).await
}

/// Each question has this answer in every way: rows joined by `;`, values by `|`.
async fn agree(world: &World, cases: &[(&str, &str)]) {
    for (sql, expected) in cases {
        let rows = world.every_way(sql).await.unwrap_or_else(|error| panic!("{sql}\n{error:?}"));
        let told: Vec<String> = rows.into_iter().map(|row| row.join("|")).collect();
        assert_eq!(told.join(";"), *expected, "{sql}");
    }
}

/// What PostgreSQL answers is the answer in every way. `{t}` is the table.
async fn as_postgres(world: &World, database: &str, table: &str, statements: &[&str]) {
    let server = postgres().await;
    for statement in statements {
        let truth = server.query(database, &statement.replace("{t}", table)).await.unwrap();
        let sql = statement.replace("{t}", &format!("app.public.{table}"));
        let rows = world.every_way(&sql).await.unwrap_or_else(|error| panic!("{sql}\n{error:?}"));
        let told: Vec<String> = rows.into_iter().map(|row| row.join("\t").replace("NULL", "")).collect();
        assert_eq!(told.join("\n"), truth.trim_end_matches('\n'), "{statement}");
    }
}

/// The texts that are sent for a question.
async fn sent(world: &World, sql: &str) -> String {
    let json = world.rows(&format!("EXPLAIN (FORMAT JSON) {sql}")).await.concat().join("\n");
    let report: weir_api::PlanReport = serde_json::from_str(&json).unwrap_or_else(|error| panic!("{error}: {json}"));
    report.sources.into_iter().flat_map(|found| found.statements).map(|statement| statement.sql).collect::<Vec<_>>().join("\n")
}

const F32: &str = "CREATE TABLE n (id int PRIMARY KEY, v numeric(10,2), w numeric);
    INSERT INTO n VALUES (1, 1.25, 1.25), (2, 'NaN', 'NaN'), (3, 2, -2), (4, NULL, NULL)";

#[tokio::test(flavor = "multi_thread")]
async fn f32_a_nan_of_numeric_is_never_a_number() {
    let world = plain("f32_error", F32).await;
    for sql in [
        "SELECT v FROM app.public.n",
        "SELECT w FROM app.public.n",
        "SELECT sum(v) FROM app.public.n",
        "SELECT max(v) FROM app.public.n",
        "SELECT avg(w) FROM app.public.n",
    ] {
        let error = world.every_way(sql).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::ValueOutOfRange, "{sql}: {error:?}");
        let detail = error.detail().unwrap_or_default().to_owned();
        assert!(detail.contains("NaN") && detail.contains('v') | detail.contains('w'), "{sql}: {error:?}");
    }
    agree(&world, &[("SELECT id FROM app.public.n WHERE id <> 2 ORDER BY id", "1;3;4")]).await;
    // Not read, it does no harm; read, it is an error. Never another row.
    assert_eq!(world.rows("SELECT id FROM app.public.n WHERE v = 1.25").await, [["1"]]);

    let world = app("f32_null", F32, ValuePolicy::Null, ValuePolicy::Null).await;
    agree(
        &world,
        &[
            ("SELECT id, v, w FROM app.public.n ORDER BY id", "1|1.25|1.250000000000000000;2|NULL|NULL;3|2.00|-2.000000000000000000;4|NULL|NULL"),
            ("SELECT sum(v), count(v), count(*), min(v), max(v) FROM app.public.n", "3.25|2|4|1.25|2.00"),
            ("SELECT id FROM app.public.n WHERE v IS NULL ORDER BY id", "2;4"),
            ("SELECT id FROM app.public.n WHERE v > 1 ORDER BY id", "1;3"),
            ("SELECT id FROM app.public.n WHERE v <> 2 ORDER BY id", "1"),
            ("SELECT id FROM app.public.n WHERE w >= -2 ORDER BY id", "1;3"),
            ("SELECT v, count(*) FROM app.public.n GROUP BY v ORDER BY v", "1.25|1;2.00|1;NULL|2"),
            ("SELECT id FROM app.public.n ORDER BY v DESC NULLS LAST, id LIMIT 2", "3;1"),
            ("SELECT a.id FROM app.public.n a JOIN app.public.n b ON a.v = b.v ORDER BY 1", "1;3"),
        ],
    )
    .await;
}

const F34: &str = "CREATE TABLE t (id int PRIMARY KEY, at timestamptz, local timestamp, day date);
    INSERT INTO t VALUES (1, '2026-11-01 12:00+00', '2026-11-01 12:00', '2026-11-01'), (2, 'infinity', 'infinity', 'infinity'), (3, '-infinity', '-infinity', '-infinity'), (4, NULL, NULL, NULL)";

#[tokio::test(flavor = "multi_thread")]
async fn f34_infinities_are_found_and_never_a_date() {
    let world = plain("f34_error", F34).await;
    for sql in ["SELECT at FROM app.public.t", "SELECT max(local) FROM app.public.t", "SELECT day FROM app.public.t ORDER BY day LIMIT 1"] {
        let error = world.every_way(sql).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::ValueOutOfRange, "{sql}: {error:?}");
        assert!(error.detail().unwrap_or_default().contains("infinity"), "{sql}: {error:?}");
    }
    // Whoever asks for them gets them, as long as the value itself is not asked for.
    for (sql, wanted, rows) in [
        ("SELECT id FROM app.public.t WHERE at = 'infinity'", "'infinity'::timestamptz", "2"),
        ("SELECT id FROM app.public.t WHERE local = '-infinity'::timestamp", "'-infinity'::timestamp", "3"),
        ("SELECT id FROM app.public.t WHERE day = date 'infinity'", "'infinity'::date", "2"),
        ("SELECT id FROM app.public.t WHERE at < 'infinity' AND at > '-infinity'", "'-infinity'::timestamptz", "1"),
        ("SELECT id FROM app.public.t WHERE day IN ('infinity', '2026-11-01') ORDER BY id", "'infinity'::date", "1;2"),
        ("SELECT id FROM app.public.t WHERE at BETWEEN '2026-01-01' AND 'infinity' ORDER BY id", "'infinity'::timestamptz", "1;2"),
    ] {
        assert!(sent(&world, sql).await.contains(wanted), "{sql}: {}", sent(&world, sql).await);
        assert_eq!(world.rows(sql).await.concat().join(";"), rows, "{sql}");
    }
    assert_eq!(world.error("SELECT timestamp 'infinity'").await.code(), ErrorCode::Unsupported);

    let world = app("f34_null", F34, ValuePolicy::Null, ValuePolicy::Null).await;
    agree(
        &world,
        &[
            (
                "SELECT id, at, local, day FROM app.public.t ORDER BY id",
                "1|2026-11-01T12:00:00Z|2026-11-01T12:00:00|2026-11-01;2|NULL|NULL|NULL;3|NULL|NULL|NULL;4|NULL|NULL|NULL",
            ),
            ("SELECT id FROM app.public.t WHERE at IS NULL ORDER BY id", "2;3;4"),
            ("SELECT max(at), min(day), count(local) FROM app.public.t", "2026-11-01T12:00:00Z|2026-11-01|1"),
            ("SELECT id FROM app.public.t WHERE at > '2026-01-01' ORDER BY id", "1"),
            ("SELECT id FROM app.public.t WHERE at = 'infinity'", ""),
            ("SELECT id FROM app.public.t WHERE day < 'infinity'", "1"),
            ("SELECT id FROM app.public.t ORDER BY day NULLS FIRST, id LIMIT 4", "2;3;4;1"),
        ],
    )
    .await;

    let world = app("f34_clamp", F34, ValuePolicy::Error, ValuePolicy::Clamp).await;
    agree(
        &world,
        &[
            ("SELECT id, day FROM app.public.t ORDER BY day LIMIT 3", "3|-4713-11-24;1|2026-11-01;2|+262142-12-31"),
            ("SELECT id FROM app.public.t WHERE at > '2026-01-01' ORDER BY id", "1;2"),
            ("SELECT id FROM app.public.t WHERE day >= '262142-12-31'", "2"),
            ("SELECT count(at), count(*) FROM app.public.t WHERE at < 'infinity'", "3|3"),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f35_far_and_early_moments_are_exact_to_the_microsecond() {
    let script = "CREATE TABLE m (id int PRIMARY KEY, at timestamptz, local timestamp, day date);
        INSERT INTO m VALUES (1, '9999-12-31 23:59:59.999999+00', '9999-12-31 23:59:59.999999', '9999-12-31'), (2, '1969-12-31 23:59:59.999999+00', '1969-12-31 23:59:59.999999', '1969-12-31'),
            (3, '0001-01-01 00:00:00.000001+00', '0001-01-01 00:00:00.000001', '0001-01-01'), (4, '0044-03-15 12:00+00 BC', '0044-03-15 12:00 BC', '0044-03-15 BC'), (5, '1677-09-20+00', '2262-04-12', '2262-04-12')";
    let world = plain("f35", script).await;
    agree(
        &world,
        &[
            (
                "SELECT id, at FROM app.public.m ORDER BY at",
                "4|-0043-03-15T12:00:00Z;3|0001-01-01T00:00:00.000001Z;5|1677-09-20T00:00:00Z;2|1969-12-31T23:59:59.999999Z;1|9999-12-31T23:59:59.999999Z",
            ),
            (
                "SELECT local FROM app.public.m WHERE id <> 4 ORDER BY local",
                "0001-01-01T00:00:00.000001;1969-12-31T23:59:59.999999;2262-04-12T00:00:00;9999-12-31T23:59:59.999999",
            ),
            ("SELECT id FROM app.public.m WHERE at = '9999-12-31 23:59:59.999999+00'", "1"),
            ("SELECT id FROM app.public.m WHERE local = '1969-12-31 23:59:59.999999'", "2"),
            ("SELECT id FROM app.public.m WHERE day < '1900-01-01' ORDER BY id", "3;4"),
            ("SELECT max(at), min(local), max(day) FROM app.public.m", "9999-12-31T23:59:59.999999Z|-0043-03-15T12:00:00|9999-12-31"),
            ("SELECT count(*), count(local) FROM app.public.m", "5|5"),
            ("SELECT a.id FROM app.public.m a JOIN app.public.m b ON a.at = b.at AND a.local = b.local ORDER BY 1", "1;2;3;4;5"),
        ],
    )
    .await;
    let beyond = plain("f35_beyond", "CREATE TABLE m (id int, at timestamp); INSERT INTO m VALUES (1, '294276-12-31 23:59:59'), (2, 'epoch')").await;
    assert_eq!(beyond.every_way("SELECT at FROM app.public.m").await.unwrap_err().code(), ErrorCode::ValueOutOfRange);
}

#[tokio::test(flavor = "multi_thread")]
async fn f37_uuids_and_enums_take_literals_and_are_pushed() {
    let script = "CREATE SCHEMA odd; CREATE TYPE odd.\"Mood of 's\" AS ENUM ('sad', 'ok', 'it''s', 'Happy');
        CREATE TABLE p (id int PRIMARY KEY, u uuid, m odd.\"Mood of 's\", name varchar(40));
        INSERT INTO p SELECT n, ('00000000-0000-0000-0000-' || lpad(n::text, 12, '0'))::uuid, (ARRAY['sad', 'ok', 'it''s', 'Happy'])[1 + n % 4]::odd.\"Mood of 's\", (ARRAY['sad', 'ok', 'it''s', 'Happy'])[1 + n % 3] FROM generate_series(1, 40) n;
        INSERT INTO p VALUES (41, NULL, NULL, NULL); ANALYZE";
    let world = plain("f37", script).await;
    for (sql, wanted) in [
        ("SELECT id FROM app.public.p WHERE u = '00000000-0000-0000-0000-00000000000A'", "::uuid"),
        ("SELECT id FROM app.public.p WHERE m = 'it''s' ORDER BY id", "\"m\" = 'it''s'"),
        ("SELECT id FROM app.public.p WHERE m IN ('ok', 'Happy') AND id < 9 ORDER BY id", "\"m\" "),
        ("SELECT count(*) FROM app.public.p WHERE m <> 'sad'", "count(*)"),
        ("SELECT m, count(*) FROM app.public.p WHERE m = 'ok' GROUP BY m", "GROUP BY"),
    ] {
        let text = sent(&world, sql).await;
        assert!(text.contains(wanted) && text.contains("WHERE"), "{sql}: {text}");
    }
    as_postgres(
        &world,
        "f37",
        "p",
        &[
            "SELECT id FROM {t} WHERE u = '{0000000000000000000000000000000a}'",
            "SELECT id FROM {t} WHERE u IN ('00000000-0000-0000-0000-000000000007', '00000000-0000-0000-0000-00000000FFFF')",
            "SELECT id FROM {t} WHERE m = 'it''s' ORDER BY id",
            "SELECT id FROM {t} WHERE m IN ('ok', 'Happy') ORDER BY id",
            "SELECT id FROM {t} WHERE m NOT IN ('ok', 'Happy') ORDER BY id",
            "SELECT count(*) FROM {t} WHERE m IS DISTINCT FROM 'sad'",
            "SELECT id FROM {t} WHERE m >= 'it''s' ORDER BY m DESC, id LIMIT 5",
            "SELECT a.id FROM {t} a JOIN {t} b ON a.u = b.u AND a.m = b.m WHERE b.m = 'sad' ORDER BY 1",
            "SELECT id FROM {t} WHERE m::text = name ORDER BY id",
            "SELECT m, count(*) FROM {t} GROUP BY m ORDER BY m",
            "SELECT count(*) FROM {t} WHERE CASE WHEN id < 20 THEN m END = 'ok'",
        ],
    )
    .await;
    for (condition, code) in [("u = 'no uuid'", ErrorCode::BadValue), ("m = 'SAD'", ErrorCode::BadValue), ("m = name", ErrorCode::UnknownFunction)] {
        let sql = format!("SELECT id FROM app.public.p WHERE {condition}");
        match world.every_way(&sql).await {
            Err(error) => assert_eq!(error.code(), code, "{sql}: {error:?}"),
            Ok(rows) => assert!(condition == "m = name" && !rows.is_empty(), "{sql}: {rows:?}"),
        }
    }
}

const F39: &str = r#"CREATE TABLE d (id int PRIMARY KEY, doc jsonb, raw json, tags text[], grid int[][], nums int[]);
    INSERT INTO d VALUES
        (1, '{"a": "x", "n": 1.50, "in": {"k": [1, "y", null]}, "": 7}', '{"a":"x","a" : "last", "n": 1.50}', '{a,NULL,"NULL","b c"}', '{{1,2},{3,NULL}}', '{1,NULL,3}'),
        (2, '{"a": null, "b": "é \"q\" \\ \u0001"}', '{"a":null,"b":"\u00e9\n"}', '{}', '{}', '{}'),
        (3, '[10, {"a": 1}, "z"]', '[10, {"a":1}, "z"]', NULL, NULL, NULL),
        (4, '"scalar"', '"scalar"', '{x}', '{{5}}', '{-2147483648}'),
        (5, 'null', '  7 ', '{""}', '{{7,8,9}}', '{2}'),
        (6, NULL, NULL, NULL, NULL, NULL);
    CREATE VIEW dv AS SELECT * FROM d"#;

#[tokio::test(flavor = "multi_thread")]
async fn f39_members_of_json_are_those_of_postgres() {
    let world = plain("f39", F39).await;
    let statements = [
        "SELECT id, {c} -> 'a' FROM {t} ORDER BY id",
        "SELECT id, {c} ->> 'a' FROM {t} ORDER BY id",
        "SELECT id, {c} ->> 'n', {c} ->> '', {c} -> 'in' -> 'k' ->> 1 FROM {t} ORDER BY id",
        "SELECT id, {c} -> 0, {c} ->> -1, {c} -> 1 ->> 'a', {c} -> 7 FROM {t} ORDER BY id",
        "SELECT id FROM {t} WHERE {c} ->> 'a' = 'x'",
        "SELECT id FROM {t} WHERE {c} ->> 'a' <> 'x' OR {c} ->> 0 = '10' ORDER BY id",
        "SELECT id FROM {t} WHERE {c} ->> 'a' IS NULL ORDER BY id",
        "SELECT id FROM {t} WHERE {c} -> 'a' IS NULL ORDER BY id",
        "SELECT id FROM {t} WHERE {c} ->> 'a' LIKE '%x%' ORDER BY id",
        "SELECT {c} ->> 'a', count(*) FROM {t} GROUP BY 1 ORDER BY 2, 1",
        "SELECT max({c} ->> 'a') FROM {t}",
        "SELECT id FROM {t} ORDER BY {c} ->> 'a' DESC, id LIMIT 2",
        "SELECT a.id, b.id FROM {t} a JOIN {t} b ON a.{c} ->> 'a' = b.{c} ->> 'a' ORDER BY 1, 2",
        "SELECT length({c} ->> 'b'), length({c} ->> 'n') + 1 FROM {t} WHERE id < 3 ORDER BY id",
    ];
    for table in ["d", "dv"] {
        for column in ["doc", "raw"] {
            let asked: Vec<String> = statements.iter().map(|sql| sql.replace("{c}", column)).collect();
            as_postgres(&world, "f39", table, &asked.iter().map(String::as_str).collect::<Vec<_>>()).await;
        }
    }
    as_postgres(&world, "f39", "d", &["SELECT id FROM {t} WHERE doc -> 'n' = '1.5'", "SELECT id FROM {t} WHERE doc -> 'in' = '{\"k\":[1.0,\"y\",null]}'"])
        .await;
    for (sql, wanted) in [
        ("SELECT id FROM app.public.d WHERE doc ->> 'a' = 'x'", "(\"doc\" ->> 'a'::text) = 'x'"),
        ("SELECT count(*) FROM app.public.d WHERE doc -> 'in' -> 'k' ->> 1 = 'y'", "count(*)"),
    ] {
        let text = sent(&world, sql).await;
        assert!(text.contains(wanted), "{sql}: {text}");
    }
    let plain_text = world.every_way("SELECT tags::text -> 'a' FROM app.public.d").await.unwrap_err();
    assert_eq!(plain_text.code(), ErrorCode::UnknownFunction, "{plain_text:?}");
    let words = world.explain("SELECT id FROM app.public.d WHERE raw ->> 'a' = 'x'").await;
    assert!(words.contains("->> 'a') = 'x'"), "a member is shown as it was written: {words}");
}

#[tokio::test(flavor = "multi_thread")]
async fn f39_arrays_keep_their_nulls_dimensions_and_bounds() {
    let world = plain("f39_arrays", F39).await;
    agree(
        &world,
        &[
            ("SELECT id, tags, grid, nums FROM app.public.d ORDER BY id", "1|[a, NULL, NULL, b c]|[[1, 2], [3, NULL]]|[1, NULL, 3];2|[]|[]|[];3|NULL|NULL|NULL;4|[x]|[[5]]|[-2147483648];5|[]|[[7, 8, 9]]|[2];6|NULL|NULL|NULL"),
            ("SELECT tags[2] IS NULL, tags[3] IS NULL, tags[3] = 'NULL', nums[3], grid[2][1] FROM app.public.d WHERE id = 1", "true|false|true|3|3"),
            ("SELECT id FROM app.public.d WHERE nums[1] = 1", "1"),
            ("SELECT count(*) FROM app.public.d WHERE tags IS NULL", "2"),
            ("SELECT id FROM app.public.d WHERE 'x' = ANY(tags)", "4"),
            ("SELECT cardinality(nums) FROM app.public.d WHERE id IN (1, 2) ORDER BY id", "3;0"),
        ],
    )
    .await;
    // Of a bound that a list cannot hold, the text is read; the list itself is refused, and nothing moves by one.
    let shifted =
        plain("f39_bounds", "CREATE TABLE s (id int, a int[], b int[][]); INSERT INTO s VALUES (1, '[0:1]={7,8}', '[2:2][1:1]={{9}}'), (2, '{1}', '{{1}}')")
            .await;
    for sql in ["SELECT a FROM app.public.s", "SELECT a[1] FROM app.public.s", "SELECT b FROM app.public.s"] {
        assert_eq!(shifted.every_way(sql).await.unwrap_err().code(), ErrorCode::ValueOutOfRange, "{sql}");
    }
    agree(&shifted, &[("SELECT id, a::text, b::text FROM app.public.s ORDER BY id", "1|[0:1]={7,8}|[2:2][1:1]={{9}};2|{1}|{{1}}")]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn f40_zero_dates_are_null_for_every_filter() {
    let server = mariadb().await;
    let script = "CREATE TABLE z (id int PRIMARY KEY, day date NULL, at datetime(3) NULL, stamp timestamp(3) NULL);
        SET sql_mode = 'ALLOW_INVALID_DATES', time_zone = '+00:00';
        INSERT INTO z VALUES (1, '0000-00-00', '0000-00-00 00:00:00', '0000-00-00 00:00:00'), (2, NULL, NULL, NULL), (3, '2026-01-31', '2026-01-31 10:00:00.250', '2026-01-31 10:00:00.250'),
            (4, '2026-02-01', '2026-02-01', '2026-02-01'), (5, '2026-00-00', '2026-00-00 00:00:00', '0000-00-00 00:00:00'), (6, '0001-01-01', '0001-01-01', '1970-01-02')";
    server.run("f40", script).await.unwrap();
    let world = World::builder().source("billing", "mysql", &server.url("f40")).start().await;
    for column in ["day", "at", "stamp"] {
        let world = &world;
        let nulls = "1;2;5";
        let ask = |sql: &str| sql.replace("{c}", column).replace("{t}", "billing.f40.z");
        for (sql, expected) in [
            ("SELECT id FROM {t} WHERE {c} IS NULL ORDER BY id", nulls),
            ("SELECT id FROM {t} WHERE {c} IS NOT NULL ORDER BY id", "3;4;6"),
            ("SELECT id FROM {t} WHERE {c} < '2026-02-01' ORDER BY id", "3;6"),
            ("SELECT id FROM {t} WHERE {c} <= '2026-01-31 10:00:00.250' ORDER BY id", "3;6"),
            ("SELECT id FROM {t} WHERE {c} <> '2026-02-01' ORDER BY id", "3;6"),
            ("SELECT id FROM {t} WHERE NOT ({c} > '2026-01-31 12:00') ORDER BY id", "3;6"),
            ("SELECT id FROM {t} WHERE {c} NOT IN ('2026-02-01') ORDER BY id", "3;6"),
            ("SELECT id FROM {t} WHERE {c} IS NOT DISTINCT FROM NULL ORDER BY id", nulls),
            ("SELECT count(*), count({c}), count(DISTINCT {c}) FROM {t}", "6|3|3"),
            ("SELECT id FROM {t} ORDER BY {c} NULLS FIRST, id LIMIT 4", "1;2;5;6"),
            ("SELECT id FROM {t} ORDER BY {c}, id LIMIT 1", "6"),
            ("SELECT count(*) FROM {t} GROUP BY {c} ORDER BY 1 DESC LIMIT 1", "3"),
            ("SELECT a.id FROM {t} a JOIN {t} b ON a.{c} = b.{c} ORDER BY 1", "3;4;6"),
            ("SELECT a.id FROM {t} a WHERE a.{c} IN (SELECT b.{c} FROM {t} b) ORDER BY 1", "3;4;6"),
            ("SELECT id FROM {t} WHERE coalesce({c}, '2000-01-01') = '2000-01-01' ORDER BY id", nulls),
        ] {
            let sql = if column == "day" && sql.contains(':') { sql.replace(" 10:00:00.250", "").replace(" 12:00", "") } else { sql.to_owned() };
            agree(world, &[(&ask(&sql), expected)]).await;
        }
        assert_ne!(world.value(&ask("SELECT min({c}) FROM {t}")).await, "NULL");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f42_unsigned_numbers_keep_all_their_bits() {
    let server = mariadb().await;
    let script = "CREATE TABLE u (id int PRIMARY KEY, big bigint unsigned, n int unsigned, tiny tinyint unsigned);
        INSERT INTO u VALUES (1, 18446744073709551615, 4294967295, 255), (2, 9223372036854775807, 7, 0), (3, 9223372036854775808, 0, 1), (4, NULL, NULL, NULL), (5, 9007199254740993, 5, 5)";
    server.run("f42", script).await.unwrap();
    let app = "CREATE TABLE p (id int PRIMARY KEY, b bigint, n numeric(20,0)); INSERT INTO p VALUES (1, 9223372036854775807, 18446744073709551615), (2, 9007199254740993, 9007199254740992), (3, -1, 9223372036854775808)";
    postgres().await.run("f42", app).await.unwrap();
    let world = World::builder().source("billing", "mysql", &server.url("f42")).source("app", "postgres", &postgres().await.url("f42")).start().await;
    agree(
        &world,
        &[
            (
                "SELECT big, n, tiny FROM billing.f42.u ORDER BY big",
                "9007199254740993|5|5;9223372036854775807|7|0;9223372036854775808|0|1;18446744073709551615|4294967295|255;NULL|NULL|NULL",
            ),
            ("SELECT id FROM billing.f42.u WHERE big = 18446744073709551615", "1"),
            ("SELECT id FROM billing.f42.u WHERE big > 9223372036854775807 ORDER BY id", "1;3"),
            ("SELECT id FROM billing.f42.u WHERE big > -1 ORDER BY id", "1;2;3;5"),
            ("SELECT sum(big), max(big), min(big) FROM billing.f42.u", "36902495346673844223|18446744073709551615|9007199254740993"),
            ("SELECT u.id, p.id FROM billing.f42.u u JOIN app.public.p p ON p.b = u.big ORDER BY 1", "2|1;5|2"),
            ("SELECT u.id, p.id FROM billing.f42.u u JOIN app.public.p p ON p.n = u.big ORDER BY 1", "1|1;3|3"),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_peers_get_wrong_of_blanks_digits_and_nan() {
    let script = "CREATE TABLE w (id int PRIMARY KEY, c char(5), n numeric, f float8, r real);
        INSERT INTO w VALUES (1, 'ab', 12345678901234567890.000000000000000001, 'NaN', 'NaN'), (2, 'ab ', 12345678901234567890, 'Infinity', 'Infinity'), (3, 'abcde', 0.1, 1e308, 1.5),
            (4, '', -0.1, '-Infinity', '-Infinity'), (5, NULL, NULL, NULL, NULL), (6, 'AB', 0.10, '-0', '-0')";
    let world = plain("peers", script).await;
    agree(
        &world,
        &[
            // char(n) has no blanks at its end, whoever compares it.
            ("SELECT id, c, length(c) FROM app.public.w ORDER BY id", "1|ab|2;2|ab|2;3|abcde|5;4||0;5|NULL|NULL;6|AB|2"),
            ("SELECT id FROM app.public.w WHERE c = 'ab' ORDER BY id", "1;2"),
            ("SELECT id FROM app.public.w WHERE c IN ('ab', '') ORDER BY id", "1;2;4"),
            ("SELECT id FROM app.public.w WHERE c <> 'ab' ORDER BY id", "3;4;6"),
            ("SELECT id FROM app.public.w WHERE c LIKE 'ab' ORDER BY id", "1;2"),
            ("SELECT c, count(*) FROM app.public.w GROUP BY c ORDER BY c", "|1;AB|1;ab|2;abcde|1;NULL|1"),
            ("SELECT a.id, b.id FROM app.public.w a JOIN app.public.w b ON a.c = b.c AND a.id < b.id", "1|2"),
            // An undeclared numeric is no double.
            ("SELECT n FROM app.public.w WHERE id < 3 ORDER BY id", "12345678901234567890.000000000000000001;12345678901234567890.000000000000000000"),
            ("SELECT id FROM app.public.w WHERE n = 12345678901234567890", "2"),
            ("SELECT id FROM app.public.w WHERE n > 12345678901234567890", "1"),
            ("SELECT sum(n) FROM app.public.w WHERE n < 1", "0.100000000000000000"),
            ("SELECT count(DISTINCT n) FROM app.public.w", "4"),
            ("SELECT a.id, b.id FROM app.public.w a JOIN app.public.w b ON a.n = b.n AND a.id < b.id", "3|6"),
            // NaN is the largest number and equal to itself; there is one zero.
            ("SELECT id FROM app.public.w WHERE f > 1 ORDER BY id", "1;2;3"),
            ("SELECT id FROM app.public.w WHERE f = 'NaN'", "1"),
            ("SELECT id FROM app.public.w WHERE f <> 'NaN' ORDER BY id", "2;3;4;6"),
            ("SELECT id FROM app.public.w WHERE f < 'NaN' ORDER BY id", "2;3;4;6"),
            ("SELECT id FROM app.public.w WHERE r >= 'Infinity' ORDER BY id", "1;2"),
            ("SELECT id FROM app.public.w WHERE f = 0", "6"),
            ("SELECT id FROM app.public.w ORDER BY f DESC NULLS LAST LIMIT 2", "1;2"),
            ("SELECT max(f), min(r), count(DISTINCT f) FROM app.public.w", "NaN|-inf|5"),
            ("SELECT a.id FROM app.public.w a JOIN app.public.w b ON a.f = b.f ORDER BY 1", "1;2;3;4;6"),
            ("SELECT id FROM app.public.w WHERE f IN ('NaN', '0') ORDER BY id", "1;6"),
        ],
    )
    .await;
}

/// An unknown type, operator or kind of filter stays here, and is no error.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_known_stays_here() {
    let script = "CREATE EXTENSION hstore; CREATE DOMAIN short AS text CHECK (length(VALUE) < 9); CREATE TYPE pair AS (a int, b text); CREATE TYPE span AS RANGE (subtype = float8);
        CREATE TABLE o (id int PRIMARY KEY, range_ int4range, box_ box, words tsvector, bits bit varying(4), net inet, cash money, mac macaddr, path_ point, doc xml, pairs hstore, row_ pair, dom short, own span, multi int4multirange, lsn pg_lsn, rows_ pair[], iv interval, tz timetz);
        INSERT INTO o VALUES (1, '[1,5)', '(1,1),(0,0)', 'cat', '101', '10.0.0.1', '1.50', '08:00:2b:01:02:03', '(1,2)', '<a/>', 'a=>1', '(1,x)', 'd', '[1,2]', '{[1,2)}', '0/1', ARRAY['(1,x)'::pair], '1 day', '12:00+02'), (2)";
    let script = script.replace(", (2)", "; INSERT INTO o (id) VALUES (2)");
    let world = plain("odd_types", &script).await;
    let columns = ["range_", "box_", "words", "bits", "net", "cash", "mac", "path_", "doc", "pairs", "row_", "dom", "own", "multi", "lsn", "rows_", "tz"];
    for column in columns {
        let texts = world.every_way(&format!("SELECT {column} FROM app.public.o WHERE id = 1")).await.unwrap_or_else(|error| panic!("{column}: {error:?}"));
        let text = texts[0][0].replace('\'', "''");
        let mut conditions = vec![
            format!("{column} LIKE '%'"),
            format!("{column} ~ '.'"),
            format!("lower({column}) = lower('{text}')"),
            format!("{column}::text >= '' AND {column} IS NOT NULL"),
            format!("starts_with({column}, left('{text}', 1))"),
        ];
        // An amount has several texts, and an address is read as one.
        if column != "cash" {
            conditions.push(format!("{column} = '{text}'"));
        }
        if !["cash", "net"].contains(&column) {
            conditions.push(format!("{column} IN ('{text}', 'zz')"));
            conditions.push(format!("coalesce({column}, 'zz') <> 'zz'"));
        }
        let ordered = !["cash", "range_", "multi", "lsn", "tz"].contains(&column);
        if ordered && column != "net" {
            conditions.push(format!("{column} >= '' AND {column} IS NOT NULL"));
        }
        for condition in conditions {
            agree(&world, &[(&format!("SELECT id FROM app.public.o WHERE {condition}"), "1")]).await;
        }
        let by_it = format!("SELECT id FROM app.public.o ORDER BY {column} DESC LIMIT 1");
        match ordered {
            true => agree(&world, &[(&by_it, "2")]).await,
            // Their order is not that of their letters.
            false => assert_eq!(world.every_way(&by_it).await.unwrap_err().code(), ErrorCode::Unsupported, "{column}"),
        }
        agree(
            &world,
            &[
                (&format!("SELECT id FROM app.public.o WHERE {column} IS NULL"), "2"),
                (&format!("SELECT count(DISTINCT {column}), count(*) FROM app.public.o"), "1|2"),
                (&format!("SELECT a.id FROM app.public.o a JOIN app.public.o b ON a.{column} = b.{column}"), "1"),
            ],
        )
        .await;
    }
}
