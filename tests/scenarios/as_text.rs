// SPDX-License-Identifier: Apache-2.0
//! What our types cannot hold can be read as text, as the hint of the error says.

use crate::kit::{World, mariadb, postgres};
use weir_base::ErrorCode;

#[tokio::test(flavor = "multi_thread")]
async fn a_cast_to_text_reads_what_does_not_fit() {
    let server = postgres().await;
    server
        .run(
            "as_text",
            "CREATE TABLE t (id int PRIMARY KEY, n numeric, p numeric(10,2), d date, ts timestamp, iv interval, ar int[], tt timetz, rg int4range);
            INSERT INTO t VALUES
                (1, 1.5, 1.50, '2026-11-30', '2026-11-30 18:30:00.25', '1 mon 2 days 03:04:05', '{1,NULL,2}', '10:00+02', '[1,5)'),
                (2, 'NaN', 'NaN', 'infinity', '-infinity', '-1 days', '{{1,2},{3,4}}', NULL, NULL),
                (3, '123456789012345678901234567890123456789012345.5', NULL, NULL, NULL, NULL, NULL, NULL, NULL);",
        )
        .await
        .unwrap();
    let world = World::builder().source("app", "postgres", &server.url("as_text")).start().await;
    for mode in ["on", "off"] {
        world.rows(&format!("SET weir.pushdown = '{mode}'")).await;
        assert_eq!(world.error("SELECT n FROM app.public.t").await.code(), ErrorCode::ValueOutOfRange);
        for statement in [
            "SELECT id, n::text, CAST(p AS text), d::varchar, ts::text, iv::text, ar::text, tt::text, rg::text FROM {t} ORDER BY id",
            "SELECT x.id, x.n::text FROM (SELECT id, n FROM {t} WHERE id > 1) x ORDER BY x.id",
            "SELECT id FROM {t} WHERE n::text = 'NaN'",
            "SELECT d::text, count(*) FROM {t} GROUP BY d::text ORDER BY 1",
            "SELECT a.id, b.p::text FROM {t} a JOIN {t} b ON a.id = b.id AND b.n::text <> 'NaN' ORDER BY a.id",
            "SELECT id FROM {t} WHERE id > (SELECT min(id) FROM {t} WHERE d::text = 'infinity') ORDER BY ts::text",
        ] {
            let truth = server.query("as_text", &statement.replace("{t}", "public.t")).await.unwrap();
            let visible = |value: String| if value == "NULL" { String::new() } else { value };
            let rows = world.rows(&statement.replace("{t}", "app.public.t")).await.into_iter();
            let told: Vec<String> = rows.map(|row| row.into_iter().map(visible).collect::<Vec<_>>().join("\t")).collect();
            assert_eq!(told.join("\n").trim_end_matches('\n'), truth, "{statement} with push-down {mode}");
        }
    }
    world.rows("SET weir.pushdown = 'on'").await;
    let width = world.rows("SELECT * FROM app.public.t WHERE id = 1 AND n::text = '1.5'").await[0].len();
    assert_eq!(width, 9, "the text is no column of its own");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_time_of_mariadb_is_readable_as_text() {
    let server = mariadb().await;
    server
        .run("as_text", "CREATE TABLE t (id int PRIMARY KEY, ti time); INSERT INTO t VALUES (1, '838:59:59'), (2, '-01:00:00'), (3, '10:00:00');")
        .await
        .unwrap();
    let world = World::builder().source("billing", "mysql", &server.url("as_text")).start().await;
    assert_eq!(world.error("SELECT ti FROM billing.as_text.t").await.code(), ErrorCode::ValueOutOfRange);
    let rows = world.rows("SELECT ti::text FROM billing.as_text.t ORDER BY id").await.concat();
    assert_eq!(rows, ["838:59:59", "-01:00:00", "10:00:00"]);
}
