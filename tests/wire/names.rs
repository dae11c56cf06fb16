// SPDX-License-Identifier: Apache-2.0
//! Names as they are typed at the doors: the catalog of one database, DESCRIBE, databases over HTTP, columns of functions.

use super::ground;
use crate::kit::Doors;
use serde_json::{Value, json};
use std::sync::Arc;
use weir_base::UserName;
use weir_policy::{Action, Grant, Policy, Role};

/// Status and body of what the HTTP door says.
async fn posted(doors: &Doors, path: &str, question: Value) -> (u16, Value) {
    let response = reqwest::Client::new().post(doors.url(path)).json(&question).send().await.unwrap();
    (response.status().as_u16(), response.json().await.unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_catalog_in_front_shows_that_catalog_alone() {
    let (_world, doors, _file) = ground::open().await;
    let ask = async |database: &str, sql: &str| doors.psql_in(database, &["-At", "-c", sql], "").await.output;
    let tables = "SELECT table_catalog, table_schema, table_name FROM {}information_schema.tables WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2, 3";
    let of = |place: &str| tables.replace("{}", place);
    let billing = "billing_mysql|billing|payments\n";
    for database in ["weir", "app_pg", "billing_mysql"] {
        assert_eq!(ask(database, &of("billing_mysql.")).await, billing, "in {database}");
    }
    assert_eq!(ask("billing_mysql", &of("")).await, billing);
    assert_eq!(ask("weir", &of("lake.")).await, "lake|web|visits\n");
    let all = ask("app_pg", &of("weir.")).await;
    assert!(all.contains("weir|billing_mysql.billing|payments\n") && all.contains("weir|app_pg.public|customers\n"), "{all}");
    let own = "SELECT DISTINCT table_schema FROM app_pg.information_schema.columns WHERE column_name IN ('email', 'amount', 'The Id') ORDER BY 1";
    assert_eq!(ask("weir", own).await, "Odd Schema\npublic\n");
    assert_eq!(ask("weir", "SELECT count(*) FROM billing_mysql.information_schema.schemata WHERE schema_name LIKE '%public%'").await, "0\n");
    assert_eq!(ask("weir", "SELECT relname FROM billing_mysql.pg_catalog.pg_class WHERE relname IN ('payments', 'customers')").await, "payments\n");
    let both = "SELECT a.table_name, b.table_name FROM app_pg.information_schema.tables a, billing_mysql.information_schema.tables b
        WHERE a.table_schema = 'public' AND b.table_schema = 'billing' ORDER BY 1";
    assert_eq!(ask("weir", both).await, "customers|payments\nevents|payments\npaying|payments\n");
    let nowhere = doors.psql_in("weir", &["-v", "VERBOSITY=verbose", "-c", &of("biling_mysql.")], "").await.output;
    assert!(nowhere.contains("42P01") && nowhere.contains("did you mean billing_mysql?"), "{nowhere}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_described_is_there() {
    let (_world, doors, _file) = ground::open().await;
    let ask = async |database: &str, sql: &str| doors.psql_in(database, &["-At", "-v", "VERBOSITY=verbose", "-c", sql], "").await.output;
    let customers = "id|integer|";
    for sql in [
        "DESCRIBE app_pg.public.customers",
        "SHOW COLUMNS FROM app_pg.public.customers",
        "DESC APP_PG.Public.CUSTOMERS",
        "DESCRIBE \"app_pg.public\".customers",
    ] {
        let described = ask("weir", sql).await;
        assert!(described.starts_with(customers) && described.lines().count() == 7, "{sql}: {described}");
    }
    assert!(ask("app_pg", "SHOW COLUMNS FROM customers").await.starts_with(customers), "names are those of the database");
    assert_eq!(ask("weir", "SHOW COLUMNS FROM app_pg.public.customers LIKE 'e%'").await.lines().count(), 1);
    assert!(ask("weir", "DESCRIBE system.sources").await.starts_with("source|text||t\n"), "Weir's own tables are described, too");
    for sql in ["DESCRIBE app_pg.public.costumers", "SHOW COLUMNS FROM app_pg.public.costumers"] {
        let unknown = ask("weir", sql).await;
        assert!(unknown.contains("42P01") && unknown.contains("did you mean app_pg.public.customers"), "{sql}: {unknown}");
    }
    for (sql, near) in [("SHOW TABLES FROM app_pgg", "app_pg"), ("SHOW TABLES FROM app_pg.publik", "public"), ("SHOW SCHEMAS FROM ap_pg", "app_pg")] {
        let unknown = ask("weir", sql).await;
        assert!(unknown.contains("42P01") && unknown.contains(&format!("did you mean {near}")), "{sql}: {unknown}");
    }
    assert_eq!(ask("weir", "SHOW TABLES FROM APP_PG.public LIKE 'pay%'").await, "app_pg|public|paying|view|\n");
    assert_eq!(ask("weir", "SHOW SCHEMAS FROM lake").await, "lake|web\n");
    assert!(ask("weir", "SHOW TABLES FROM system").await.contains("system|system|queries|view|"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_granted_is_not_described() {
    let grant = Grant { on: "app_pg.public.customers".parse().unwrap(), allow: vec![Action::Select] };
    let role = Arc::new(Role { name: "reader".into(), grants: vec![grant], priority: weir_base::Priority::Normal });
    let world = ground::builder().await.policy(Policy::closed([(UserName::new("ana"), vec![role])])).start().await;
    let session = world.session("ana", None);
    let code = async |sql: &str| world.ask_as(&session, sql).await.map(|(rows, _)| rows.len()).map_err(|error| error.code().sqlstate());
    assert_eq!(code("DESCRIBE app_pg.public.customers").await, Ok(7));
    for sql in ["DESCRIBE app_pg.public.events", "SHOW COLUMNS FROM app_pg.public.nothing", "SHOW COLUMNS FROM billing_mysql.billing.payments"] {
        assert_eq!(code(sql).await, Err("42501"), "{sql}");
    }
    let hidden = world.ask_as(&session, "SELECT count(*) FROM billing_mysql.information_schema.tables").await.map(|_| ()).unwrap_err();
    assert_eq!(hidden.code().sqlstate(), "42501");
}

#[tokio::test(flavor = "multi_thread")]
async fn http_takes_as_many_parameters_as_there_are_and_databases_that_are_there() {
    let (_world, doors, _file) = ground::open().await;
    for path in ["/v1/query", "/v1/plan"] {
        for (sql, params, message) in [
            ("SELECT 1", json!([1]), "more values than parameters"),
            ("SELECT $1::int + 1", json!([1, 2]), "more values than parameters"),
            ("SELECT id FROM app_pg.public.customers WHERE id = ANY($1)", json!([[1], 2]), "more values than parameters"),
            ("SELECT $1::int", json!([]), "a parameter has no value"),
            ("SELECT $1::int, $2::int", json!([1]), "a parameter has no value"),
        ] {
            let (status, said) = posted(&doors, path, json!({ "sql": sql, "params": params })).await;
            assert_eq!(
                (status, said["error"]["code"].as_str(), said["error"]["message"].as_str()),
                (400, Some("08P01"), Some(message)),
                "{path} {sql}: {said}"
            );
        }
        let (status, said) = posted(&doors, path, json!({ "sql": "SELECT 1", "database": "app_pgg" })).await;
        assert_eq!((status, said["error"]["code"].as_str()), (400, Some("3D000")), "{said}");
        assert_eq!(said["error"]["hint"], "did you mean app_pg?");
    }
    let (_, said) = posted(&doors, "/v1/query", json!({ "sql": "SHOW timezone", "params": [1] })).await;
    assert_eq!(said["error"]["code"], "08P01", "{said}");
    let (_, said) = posted(&doors, "/v1/query", json!({ "sql": "DELETE FROM app_pg.public.customers WHERE id = $1", "params": [1] })).await;
    assert_eq!(said["error"]["code"], "25006", "{said}");
    let (_, said) = posted(&doors, "/v1/query", json!({ "sql": "SELECT count(*) FROM customers WHERE id = $1", "params": [1], "database": "app_pg" })).await;
    assert_eq!(said["rows"], json!([[1]]));
    for (sql, params) in [
        ("SELECT id FROM app_pg.public.customers WHERE id IN (SELECT unnest($1)) ORDER BY id", json!([[1, 3]])),
        ("SELECT id FROM app_pg.public.customers WHERE id IN (SELECT * FROM unnest($1) AS t) ORDER BY id", json!(["{1,3}"])),
        ("SELECT CAST(unnest AS int) FROM unnest($1)", json!([["1", "3"]])),
    ] {
        let (_, said) = posted(&doors, "/v1/query", json!({ "sql": sql, "params": params })).await;
        assert_eq!(said["rows"], json!([[1], [3]]), "{sql}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_column_of_an_unnest_is_called_so_and_bytes_are_counted() {
    let (_world, doors, _file) = ground::open().await;
    let header = async |sql: &str| doors.psql_in("weir", &["-A", "-c", sql], "").await.output.lines().next().unwrap_or_default().to_owned();
    assert_eq!(header("SELECT unnest(ARRAY[1, 2])").await, "unnest");
    assert_eq!(header("SELECT * FROM unnest(ARRAY[1, 2])").await, "unnest");
    assert_eq!(header("SELECT * FROM unnest(ARRAY[1, 2]) AS t").await, "t");
    assert_eq!(header("SELECT * FROM unnest(ARRAY[1, 2]) AS t(id)").await, "id");
    let ask = async |sql: &str| doors.psql_in("weir", &["-At", "-c", sql], "").await.output;
    let lengths = "SELECT length(payload), octet_length(payload), bit_length(payload) FROM app_pg.public.events WHERE id = 1";
    assert_eq!(ask(lengths).await, "2|2|16\n", "\\x00ff is no text");
    assert_eq!(ask("SELECT length('\\xe4bda0ff'::bytea), octet_length('äß'), bit_length('ä'), length('äß'), length(NULL::bytea)").await, "4|4|16|2|\n");
}
