// SPDX-License-Identifier: Apache-2.0
//! A uuid, an enum and JSON are compared as PostgreSQL does it, whichever way they are written.

use crate::kit::{World, mariadb, postgres};
use weir_base::ErrorCode;

const TABLE: &str = r#"CREATE TYPE mood AS ENUM ('sad', 'ok', 'Happy');
    CREATE TABLE t (id int PRIMARY KEY, u uuid, m mood, j json, jb jsonb);
    INSERT INTO t VALUES
        (1, '6f1d1e0a-0000-4000-8000-00000000abcd', 'ok', '{"a":1}', '{"a": 1}'),
        (2, '6f1d1e0a-0000-4000-8000-00000000abce', 'sad', '{"a":2}', '{"b": 1.50, "a": [2]}'),
        (3, 'ffffffff-0000-0000-0000-000000000000', 'Happy', NULL, NULL),
        (4, NULL, NULL, NULL, NULL);"#;

const STATEMENTS: [&str; 30] = [
    "SELECT id FROM {t} WHERE u = '6F1D1E0A-0000-4000-8000-00000000ABCD'",
    "SELECT id FROM {t} WHERE '{6f1d1e0a-0000-4000-8000-00000000abcd}' = u",
    "SELECT id FROM {t} WHERE u <> '6f1d1e0a00004000800000000000abcd' ORDER BY id",
    "SELECT id FROM {t} WHERE u IN ('6F1D1E0A00004000800000000000ABCD', 'FFFFFFFF-0000-0000-0000-000000000000') ORDER BY id",
    "SELECT id FROM {t} WHERE u BETWEEN '6F1D1E0A-0000-4000-8000-00000000ABCE' AND 'FFFFFFFF-0000-0000-0000-000000000000' ORDER BY id",
    "SELECT id FROM (SELECT id, u AS x FROM {t}) q WHERE x = '6F1D1E0A-0000-4000-8000-00000000ABCD'",
    "SELECT id FROM (SELECT id, u::text AS x FROM {t}) q WHERE x = '6F1D1E0A-0000-4000-8000-00000000ABCD'",
    "SELECT id FROM {t} WHERE u::text = '6F1D1E0A-0000-4000-8000-00000000ABCD'",
    "SELECT id FROM {t} WHERE u = '6F1D1E0A-0000-4000-8000-00000000ABCD'::uuid",
    "SELECT '{6F1D1E0A-0000-4000-8000-00000000ABCD}'::uuid, uuid '6F1D1E0A00004000800000000000ABCD'",
    "SELECT id, coalesce(u, 'FFFFFFFF-0000-0000-0000-00000000000A') FROM {t} ORDER BY id",
    "SELECT upper(u::text)::uuid FROM {t} ORDER BY id",
    "SELECT a.id, b.id FROM {t} a JOIN {t} b ON a.u = b.u ORDER BY 1, 2",
    "SELECT id FROM {t} WHERE m = 'ok'",
    "SELECT id FROM {t} WHERE m < 'Happy' ORDER BY id",
    "SELECT id FROM {t} WHERE 'ok' <= m ORDER BY id",
    "SELECT id FROM {t} WHERE m BETWEEN 'sad' AND 'ok' ORDER BY id",
    "SELECT id, m FROM {t} ORDER BY m, id",
    "SELECT m FROM {t} ORDER BY m DESC LIMIT 2",
    "SELECT m, count(*) FROM {t} GROUP BY m ORDER BY m",
    "SELECT id, row_number() OVER (ORDER BY m, id) FROM {t} ORDER BY id",
    "SELECT string_agg(m::text, ',' ORDER BY m) FROM {t}",
    "SELECT a.id, b.id FROM {t} a JOIN {t} b ON a.m < b.m ORDER BY 1, 2",
    "SELECT m FROM {t} UNION SELECT m FROM {t} ORDER BY m",
    "SELECT id FROM {t} WHERE jb = '{\"a\":1.0}'",
    "SELECT id FROM {t} WHERE jb = '{\"a\":[2.0],\"b\":15e-1}'",
    "SELECT id FROM {t} WHERE jb <> '{\"a\":1}'",
    "SELECT id FROM {t} WHERE jb IN ('[1]', '{\"a\": 1}')",
    "SELECT a.id, b.id FROM {t} a JOIN {t} b ON a.jb = b.jb ORDER BY 1, 2",
    "SELECT id FROM {t} WHERE j::text = '{\"a\":1}'",
];

#[tokio::test(flavor = "multi_thread")]
async fn postgres_is_the_judge() {
    let server = postgres().await;
    server.run("text_kinds", TABLE).await.unwrap();
    let world = World::builder().source("app", "postgres", &server.url("text_kinds")).start().await;
    for mode in ["on", "off"] {
        world.rows(&format!("SET weir.pushdown = '{mode}'")).await;
        for statement in STATEMENTS {
            let truth = server.query("text_kinds", &statement.replace("{t}", "public.t")).await.unwrap();
            let told: Vec<String> = world.rows(&statement.replace("{t}", "app.public.t")).await.into_iter().map(|row| row.join("\t")).collect();
            assert_eq!(told.join("\n").replace("NULL", "").trim_end_matches('\n'), truth, "{statement} with push-down {mode}");
        }
        for (condition, code, named) in [
            ("u = 'x'", ErrorCode::BadValue, "uuid"),
            ("u = ''", ErrorCode::BadValue, "uuid"),
            ("m = 'nothing'", ErrorCode::BadValue, "mood"),
            ("m IN ('ok', 'OK')", ErrorCode::BadValue, "mood"),
            ("jb = '{a}'", ErrorCode::BadValue, "jsonb"),
            ("j = '{}'", ErrorCode::UnknownFunction, "json"),
            ("jb > '{}'", ErrorCode::Unsupported, "jsonb"),
        ] {
            let error = world.error(&format!("SELECT id FROM app.public.t WHERE {condition}")).await;
            assert_eq!(error.code(), code, "{condition}: {error:?}");
            assert!(error.message().contains(named), "{condition}: {error:?}");
        }
        assert_eq!(world.error("SELECT max(m) FROM app.public.t").await.code(), ErrorCode::Unsupported);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_uuid_of_mariadb_meets_one_of_postgres_and_survives_the_lake() {
    let server = mariadb().await;
    let rows = "CREATE TABLE t (id int PRIMARY KEY, u uuid); INSERT INTO t VALUES (1, '6F1D1E0A-0000-4000-8000-00000000ABCD'), (2, NULL);";
    server.run("text_kinds", rows).await.unwrap();
    let other = postgres().await;
    other
        .run("text_kinds_too", "CREATE TABLE t (id int PRIMARY KEY, u uuid); INSERT INTO t VALUES (7, '6F1D1E0A-0000-4000-8000-00000000ABCD');")
        .await
        .unwrap();
    let world = World::builder().source("billing", "mysql", &server.url("text_kinds")).source("app", "postgres", &other.url("text_kinds_too")).start().await;
    assert_eq!(world.value("SELECT id FROM billing.text_kinds.t WHERE u = '{6F1D1E0A00004000800000000000ABCD}'").await, "1");
    let joined = "SELECT a.id, b.id FROM billing.text_kinds.t a JOIN app.public.t b ON a.u = b.u";
    assert_eq!(world.rows(joined).await, [["1", "7"]]);
    world.rows("CREATE SCHEMA lake.kinds").await;
    world.rows("CREATE TABLE lake.kinds.t AS SELECT * FROM app.public.t").await;
    world.rows("INSERT INTO lake.kinds.t SELECT * FROM billing.text_kinds.t WHERE u IS NOT NULL").await;
    assert_eq!(world.value("SELECT count(*) FROM lake.kinds.t WHERE u = '6f1d1e0a-0000-4000-8000-00000000abcd'").await, "2");
}
