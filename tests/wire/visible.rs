// SPDX-License-Identifier: Apache-2.0
//! What the catalog shows to whom: only what a principal may see, what answers, the same oids to everybody, and quickly.

use super::ground;
use crate::kit::{Doors, World, postgres};
use std::sync::Arc;
use std::time::{Duration, Instant};
use weir_base::UserName;
use weir_policy::{Action, Grant, Policy, Role};
use weir_sandbox::Postgres;

fn role(on: &str) -> Vec<Arc<Role>> {
    let grant = Grant { on: on.parse().expect("a grant"), allow: vec![Action::Select] };
    vec![Arc::new(Role { name: "reader".into(), grants: vec![grant], priority: weir_base::Priority::Normal })]
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_sees_what_is_not_theirs() {
    let users = [("ana", "app_pg.public.customers"), ("bo", "app_pg.public.*")];
    let policy = Policy::closed(users.map(|(user, on)| (UserName::new(user), role(on))));
    let world = ground::builder().await.policy(policy).start().await;
    let doors = Doors::for_users(&world, &["ana", "bo"]).await;
    let ask = async |user: &str, sql: &str| doors.psql_as(user, "weir", &["-At", "-v", "ON_ERROR_STOP=1", "-c", sql], "").await.output;

    assert_eq!(ask("ana", "\\dt").await, "app_pg.public|customers|table|weir\n");
    assert_eq!(ask("ana", "select datname from pg_database order by 1").await, "app_pg\nweir\n");
    assert_eq!(ask("ana", "select rolname from pg_roles order by 1").await, "ana\nweir\n");
    let everywhere = [
        "select count(*) from pg_class where relname in ('events', 'payments', 'Mixed Case', 'paying')",
        "select count(*) from pg_attribute where attname in ('payload', 'amount')",
        "select count(*) from pg_namespace where nspname like 'billing%' or nspname like '%Odd%'",
        "select count(*) from information_schema.tables where table_name in ('events', 'payments')",
        "select count(*) from information_schema.columns where column_name in ('payload', 'amount')",
        "select count(*) from information_schema.schemata where schema_name like 'billing%'",
        "select count(*) from pg_tables where tablename = 'events'",
        "select count(to_regclass('\"app_pg.public\".events')) + count(to_regnamespace('billing_mysql.billing'))",
        "select count(has_table_privilege('\"app_pg.public\".events', 'select'))",
    ];
    for sql in everywhere {
        assert_eq!(ask("ana", sql).await, "0\n", "{sql}");
    }
    let rights = "select has_table_privilege('\"app_pg.public\".customers', 'select'), has_table_privilege('\"app_pg.public\".customers', 'insert')";
    assert_eq!(ask("ana", rights).await, "t|f\n");
    assert_eq!(ask("bo", "select count(*) from pg_class where relname in ('events', 'payments', 'paying')").await, "2\n");
    let denied = doors.psql_as("ana", "billing_mysql", &["-c", "select 1"], "").await;
    assert!(denied.output.contains("database billing_mysql does not exist"), "{}", denied.output);

    let oid = "select oid, relnamespace from pg_class where relname = 'customers'";
    let first = ask("ana", oid).await;
    assert_eq!((ask("bo", oid).await, ask("ana", oid).await), (first.clone(), first.clone()));
    let in_source = doors.psql_as("bo", "app_pg", &["-At", "-c", oid], "").await.output;
    assert_eq!(in_source, first, "an oid is the same from every database");
    assert_eq!(ask("bo", "select count(*) - count(distinct oid) from pg_class").await, "0\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_is_down_is_only_missing() {
    let mut shaky = Postgres::start().await.unwrap();
    shaky.run("shaky", "CREATE TABLE gone (id int)").await.unwrap();
    shaky.stop_hard().unwrap();
    let world = ground::builder().await.source("shaky", "postgres", &shaky.url("shaky")).start().await;
    let doors = Doors::open(&world).await;
    let tables = doors.psql_in("weir", &["-At", "-c", "\\dt"], "").await;
    assert!(tables.success && tables.output.contains("app_pg.public|customers|table|weir") && !tables.output.contains("gone"), "{}", tables.output);
    let broken = doors.psql_in("weir", &["-v", "VERBOSITY=verbose", "-c", "select * from shaky.public.gone"], "").await;
    assert!(broken.output.contains("08001"), "{}", broken.output);
}

/// Built for debugging and on a busy machine, this takes two seconds; quadratic, it would take minutes.
#[tokio::test(flavor = "multi_thread")]
async fn five_thousand_tables() {
    let server = postgres().await;
    let script = "DO $$ BEGIN FOR i IN 1..5000 LOOP EXECUTE format('CREATE TABLE t%s (id int, name text, amount numeric(10,2), at timestamptz, a int, b int, c text, d text, e date, f bool)', i);
        IF i % 500 = 0 THEN COMMIT; END IF; END LOOP; END $$;";
    server.run("wire_many", script).await.unwrap();
    let world = World::builder().source("many", "postgres", &server.url("wire_many")).start().await;
    let doors = Doors::open(&world).await;
    assert_eq!(world.value("SELECT count(*) FROM many.public.t1").await, "0");

    let started = Instant::now();
    let listed = doors.psql_in("weir", &["-At", "-c", "\\dt"], "").await.output;
    assert_eq!(listed.lines().count(), 5000);
    let listing = started.elapsed();
    let started = Instant::now();
    let described = doors.psql_in("weir", &["-At", "-c", "\\d \"many.public\".t4321"], "").await.output;
    assert!(described.contains("amount|numeric(10,2)|||"), "{described}");
    let describing = started.elapsed();
    println!("5,000 tables: listed in {listing:?}, one described in {describing:?}");
    assert!(listing + describing < Duration::from_secs(20), "listed in {listing:?}, described in {describing:?}");
}
