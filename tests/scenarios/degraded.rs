// SPDX-License-Identifier: Apache-2.0
//! A column that cannot be read is degraded alone (F38): its table stays, and system.tables and the source's note say why.

use crate::kit::World;
use weir_base::ErrorCode;
use weir_sandbox::Postgres;

#[tokio::test(flavor = "multi_thread")]
async fn one_bad_column_never_hides_its_table() {
    let app = Postgres::start().await.unwrap();
    let script = "CREATE TABLE people (id int, name text, secret text); INSERT INTO people VALUES (1, 'Ana', 'x');
        CREATE ROLE weir_ro LOGIN PASSWORD 'ro'; GRANT USAGE ON SCHEMA public TO weir_ro; GRANT SELECT (id, name) ON people TO weir_ro;";
    app.run("app", script).await.unwrap();
    let world = World::builder().source("app_pg", "postgres", &app.url_as("weir_ro", "ro", "app")).start().await;

    assert_eq!(world.rows("SELECT id, name FROM app_pg.public.people").await, [["1", "Ana"]]);
    assert_eq!(world.value("SELECT count(*) FROM app_pg.public.people").await, "1");
    let listed = world.rows("SELECT \"table\", degraded, degraded_columns FROM system.tables WHERE source = 'app_pg'").await;
    assert_eq!((listed.len(), listed[0][0].as_str(), listed[0][1].as_str()), (1, "people", "true"));
    assert!(listed[0][2].starts_with("secret: "), "{listed:?}");

    let note = world.value("SELECT note FROM system.sources WHERE source = 'app_pg'").await;
    assert!(note.contains("cannot be read: public.people.secret"), "{note}");
    assert_eq!(world.every_way("SELECT name FROM app_pg.public.people WHERE id = 1").await.unwrap(), [["Ana"]]);

    let refused = world.error("SELECT secret FROM app_pg.public.people").await;
    assert_eq!(refused.code(), ErrorCode::Unsupported);
    assert_eq!(refused.message(), "column app_pg.public.people.secret cannot be read");
}
