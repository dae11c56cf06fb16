// SPDX-License-Identifier: Apache-2.0
//! Names as users of other engines lose them (F38, F44): exact when quoted, folded when not and there is only one, ambiguous only where
//! that is used; and a table with odd columns is a table.

use crate::kit::{World, mariadb, postgres};
use weir_base::ErrorCode;

const NAMES: &str = r#"CREATE TABLE "MyTable" ("Id" int, "id" int, "ID" int, "Ab" int, "aB" int, plain int, "od""d;--" int, "select" int);
    INSERT INTO "MyTable" VALUES (1, 2, 3, 4, 5, 6, 7, 8), (11, 12, 13, 14, 15, 16, 17, 18);
    CREATE TABLE cs_user (n int); CREATE TABLE "cs_User" (n int); INSERT INTO cs_user VALUES (1); INSERT INTO "cs_User" VALUES (2);
    CREATE TABLE "Clash" (n int); CREATE TABLE "clAsh" (n int); INSERT INTO "Clash" VALUES (3); INSERT INTO "clAsh" VALUES (4);
    CREATE SCHEMA "Sales"; CREATE TABLE "Sales"."Q 1" (n int); INSERT INTO "Sales"."Q 1" VALUES (5);
    CREATE TABLE "ünï" ("Größe" int); INSERT INTO "ünï" VALUES (6); ANALYZE"#;

async fn names(database: &str) -> World {
    let server = postgres().await;
    server.run(database, NAMES).await.unwrap();
    World::builder().source("app", "postgres", &server.url(database)).start().await
}

#[tokio::test(flavor = "multi_thread")]
async fn f44_tables_are_exact_when_quoted_and_fold_when_there_is_one() {
    let world = names("f44_tables").await;
    for (table, rows) in [
        ("app.public.\"MyTable\"", "2"),
        ("app.public.mytable", "2"),
        ("APP.PUBLIC.MYTABLE", "2"),
        ("app.public.cs_user", "1"),
        ("app.public.CS_USER", "1"),
        ("app.public.\"cs_User\"", "1"),
        ("app.sales.\"Q 1\"", "1"),
        ("app.\"Sales\".\"Q 1\"", "1"),
        ("app.public.\"ünï\"", "1"),
        ("app.public.ÜNÏ", "1"),
        ("app.mytable", "2"),
    ] {
        assert_eq!(world.every_way(&format!("SELECT count(*) FROM {table}")).await.unwrap(), [[rows]], "{table}");
    }
    assert_eq!(world.every_way("SELECT a.n, b.n FROM app.public.cs_user a CROSS JOIN app.public.\"cs_User\" b").await.unwrap(), [["1", "2"]]);
    for table in ["app.public.\"mytable\"", "app.public.\"CS_USER\"", "app.\"sales\".\"Q 1\""] {
        let unknown = world.error(&format!("SELECT * FROM {table}")).await;
        assert_eq!(unknown.code(), ErrorCode::UnknownTable, "{table}: {unknown:?}");
        assert!(unknown.hint().is_some_and(|hint| hint.contains("did you mean")), "{table}: {unknown:?}");
    }
    // Both are there; only the name that could be either is refused.
    let listed = "SELECT \"table\" FROM system.tables WHERE source = 'app' AND lower(\"table\") IN ('clash', 'cs_user') ORDER BY 1";
    assert_eq!(world.rows(listed).await.concat(), ["Clash", "clAsh", "cs_User", "cs_user"]);
    let either = world.error("SELECT * FROM app.public.clash").await;
    assert_eq!(either.code(), ErrorCode::AmbiguousName, "{either:?}");
    assert!(either.detail().is_some_and(|detail| detail.contains("\"Clash\"") && detail.contains("\"clAsh\"")), "{either:?}");
    assert_eq!(world.every_way("SELECT n FROM app.public.\"clAsh\"").await.unwrap(), [["4"]]);
}

#[tokio::test(flavor = "multi_thread")]
async fn f44_columns_are_exact_when_quoted_and_fold_when_there_is_one() {
    let world = names("f44_columns").await;
    for (columns, row) in [
        ("\"Id\", \"id\", \"ID\"", "1|2|3"),
        ("id, ID, Id", "2|2|2"),
        ("\"Ab\", \"aB\"", "4|5"),
        ("mytable.plain, app.public.mytable.plain + 1", "6|7"),
        ("PLAIN, t.plain, \"Ab\", t.\"Ab\"", "6|6|4|4"),
        ("\"od\"\"d;--\", t.\"select\"", "7|8"),
    ] {
        let table = if columns.contains("mytable") { "app.public.mytable" } else { "app.public.mytable t" };
        let sql = format!("SELECT {columns} FROM {table} WHERE plain = 6 AND \"od\"\"d;--\" < 10");
        let told = world.every_way(&sql).await.unwrap_or_else(|error| panic!("{sql}\n{error:?}"));
        assert_eq!(told[0].join("|"), row, "{sql}");
    }
    let either = world.error("SELECT ab FROM app.public.mytable").await;
    assert_eq!((either.code(), either.hint()), (ErrorCode::UnknownColumn, Some("did you mean Ab or aB?")), "either could be meant: {either:?}");
    assert_eq!(world.error("SELECT \"PLAIN\" FROM app.public.mytable").await.code(), ErrorCode::UnknownColumn);
    assert_eq!(world.every_way("SELECT \"Größe\" FROM app.public.\"ünï\" WHERE größe = 6").await.unwrap(), [["6"]]);
    let grouped = "SELECT \"Ab\", sum(\"aB\") FROM app.public.\"MyTable\" GROUP BY \"Ab\" HAVING max(\"ID\") > 3 ORDER BY 1";
    assert_eq!(world.every_way(grouped).await.unwrap(), [["14", "15"]]);
    // An expression in ORDER BY is over the columns of the table, a name by itself over what is selected.
    for (sql, expected) in [
        ("SELECT -plain AS plain FROM app.public.mytable ORDER BY plain", "-16;-6"),
        ("SELECT -plain AS plain FROM app.public.mytable ORDER BY plain + 0", "-6;-16"),
        ("SELECT -plain AS plain FROM app.public.mytable m ORDER BY -m.plain", "-16;-6"),
        ("SELECT q.plain FROM (SELECT 20 - plain AS plain FROM app.public.mytable ORDER BY plain * 1 LIMIT 1) q", "14"),
        ("WITH c AS (SELECT plain AS n, 1 AS z FROM app.public.mytable) SELECT -n + z AS n FROM c ORDER BY n + z", "-5;-15"),
        ("SELECT max(plain) AS plain FROM app.public.mytable GROUP BY \"Id\" ORDER BY -max(plain)", "16;6"),
    ] {
        let rows = world.every_way(sql).await.unwrap_or_else(|error| panic!("{sql}\n{error:?}"));
        assert_eq!(rows.concat().join(";"), expected, "{sql}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f44_tables_of_mariadb_that_differ_in_case_are_two() {
    let server = mariadb().await;
    server.run("f44", "CREATE TABLE t (N int); CREATE TABLE T (n int); CREATE TABLE `Wo``rd` (`A b` int); INSERT INTO t VALUES (1); INSERT INTO T VALUES (2); INSERT INTO `Wo``rd` VALUES (3)").await.unwrap();
    let world = World::builder().source("billing", "mysql", &server.url("f44")).start().await;
    for (sql, value) in [
        ("SELECT n FROM billing.f44.t", "1"),
        ("SELECT \"N\" FROM billing.f44.\"t\"", "1"),
        ("SELECT n FROM billing.f44.\"T\"", "2"),
        ("SELECT \"A b\" FROM billing.f44.\"Wo`rd\" WHERE \"A b\" > 2", "3"),
        ("SELECT \"a b\" + 0 FROM (SELECT \"A b\" AS \"a b\" FROM billing.f44.\"wo`RD\") q", "missing"),
    ] {
        match world.every_way(sql).await {
            Ok(rows) => assert_eq!(rows, [[value]], "{sql}"),
            Err(error) => assert_eq!((value, error.code()), ("missing", ErrorCode::UnknownTable), "{sql}: {error:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn f38_odd_columns_do_not_hide_a_source() {
    let server = postgres().await;
    let script = "CREATE TYPE \"Odd Enum\" AS ENUM ('A', 'b'); CREATE TYPE loop_ AS (x int); CREATE DOMAIN dd AS \"Odd Enum\"; CREATE TYPE rng AS RANGE (subtype = float8);
        CREATE TABLE odd (id int PRIMARY KEY, e \"Odd Enum\", es \"Odd Enum\"[], j jsonb, js jsonb[], c loop_, cs loop_[], d dd, r rng, gen int GENERATED ALWAYS AS (id * 2) STORED, \"\"\"\" int);
        INSERT INTO odd (id, e, es, j, js, c, cs, d, r) VALUES (1, 'A', '{A,b}', '{}', '{\"{}\"}', '(1)', '{(1)}', 'b', '[1,2)');
        CREATE TABLE fine (id int); INSERT INTO fine VALUES (1); CREATE TABLE nothing ()";
    server.run("f38", script).await.unwrap();
    let world = World::builder().source("app", "postgres", &server.url("f38")).start().await;
    assert_eq!(world.value("SELECT count(*) FROM app.public.fine").await, "1");
    assert_eq!(world.value("SELECT count(*) FROM app.public.nothing").await, "0");
    let row = world.every_way("SELECT * FROM app.public.odd").await.unwrap();
    assert_eq!(row[0].join("|"), "1|A|[A, b]|{}|[{}]|(1)|{(1)}|b|[1,2)|2|NULL");
    assert_eq!(world.every_way("SELECT id FROM app.public.odd WHERE e = 'A' AND d = 'b' AND gen = 2").await.unwrap(), [["1"]]);
    let states = world.rows("SELECT state, note FROM system.sources").await;
    assert_eq!(states[0][0], "reachable", "{states:?}");
}
