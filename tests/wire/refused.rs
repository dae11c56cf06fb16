// SPDX-License-Identifier: Apache-2.0
//! What Weir does not do is said in its own words, with what it does instead; and what is told of sources and of everybody.

use super::ground;
use crate::kit::{Doors, World, postgres};
use std::sync::Arc;
use weir_base::{SourceName, UserName};
use weir_guard::Limits;
use weir_policy::{Action, Grant, Policy, Role};
use weir_source::{SourceSpec, ValuePolicy};

#[tokio::test(flavor = "multi_thread")]
async fn files_and_systems_are_met_with_the_way_to_do_it() {
    let (_world, doors, _file) = ground::open().await;
    for (sql, code, words) in [
        ("COPY app_pg.public.customers TO '/tmp/x'", "0A000", "\\copy"),
        ("COPY app_pg.public.customers TO PROGRAM 'cat'", "0A000", "TO STDOUT"),
        ("COPY app_pg.public.customers FROM '/tmp/x'", "25006", "source app_pg is read-only"),
        ("COPY app_pg.public.customers FROM STDIN", "25006", "source app_pg is read-only"),
        ("COPY lake.web.visits FROM STDIN", "0A000", "INSERT"),
        ("CREATE EXTERNAL TABLE x STORED AS CSV LOCATION '/tmp/x'", "0A000", "`sources` of weir.yaml"),
        ("SELECT * FROM read_csv('/tmp/x')", "0A000", "`sources` of weir.yaml"),
        ("SELECT * FROM read_parquet('s3://b/x')", "0A000", "`sources` of weir.yaml"),
        ("SELECT read_csv('/tmp/x')", "0A000", "`sources` of weir.yaml"),
        ("SELECT * FROM '/tmp/x.csv'", "42P01", "`sources` of weir.yaml"),
        ("SELECT * FROM generate_serie(1, 2)", "42883", "did you mean generate_series?"),
        ("ATTACH 'x.db' AS x", "0A000", "`sources` of weir.yaml"),
        ("SELECT 1 INTO OUTFILE '/tmp/x'", "0A000", "TO STDOUT"),
    ] {
        let said = doors.psql_in("weir", &["-v", "VERBOSITY=verbose", "-c", sql], "").await.output;
        assert!(said.starts_with(&format!("ERROR:  {code}: ")) && said.contains(words) && !said.contains("at Line"), "{sql}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_primary_that_is_not_allowed_is_refused_and_not_unreachable() {
    let server = postgres().await;
    let spec = SourceSpec {
        name: SourceName::new("front"),
        kind: "postgres".into(),
        url: server.url("postgres"),
        allow_primary: false,
        nan: ValuePolicy::default(),
        infinity: ValuePolicy::default(),
        limits: Limits::default(),
        options: Default::default(),
    };
    let world = World::builder().configured(spec).source("gone", "postgres", "postgres://weir:x@127.0.0.1:1/app").start().await;
    let rows = world.rows("SELECT source, state, note FROM system.sources ORDER BY source").await;
    let [front, gone] = rows.as_slice() else { panic!("{rows:?}") };
    assert_eq!(front[..2], ["front", "refused"]);
    assert!(front[2].contains("source front is a primary") && front[2].contains("allow_primary: true"), "{}", front[2]);
    assert_eq!(gone[..2], ["gone", "unreachable"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn metrics_are_for_those_who_may_see_everybody() {
    let role = |on: &str| {
        vec![Arc::new(Role {
            name: "r".into(),
            grants: vec![Grant { on: on.parse().unwrap(), allow: vec![Action::Select] }],
            priority: weir_base::Priority::Normal,
        })]
    };
    let users = [("ana", "app_pg.public.*"), ("prom", "system.system.metrics"), ("root", "*.*.*")];
    let world = World::builder().policy(Policy::closed(users.map(|(user, on)| (UserName::new(user), role(on))))).start().await;
    let doors = Doors::for_users(&world, &["ana", "prom", "root"]).await;
    let status = async |user: &str| {
        let response = reqwest::Client::new().get(doors.url("/metrics")).basic_auth(user, Some(user)).send().await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    let (code, said) = status("ana").await;
    assert!(code == 403 && said.contains("no right to select system.system.metrics"), "{code} {said}");
    // These doors collect none, which only those learn who may see them.
    for user in ["prom", "root"] {
        assert_eq!(status(user).await.0, 404, "{user}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn milliseconds_are_told_to_the_microsecond() {
    let (_world, doors, _file) = ground::open().await;
    let question =
        serde_json::json!({ "sql": "SELECT count(*) FROM app_pg.public.events e JOIN billing_mysql.billing.payments p ON p.customer_id = e.customer_id" });
    let answer: serde_json::Value = reqwest::Client::new().post(doors.url("/v1/query")).json(&question).send().await.unwrap().json().await.unwrap();
    let receipt = &answer["receipt"];
    let sources = receipt["sources"].as_array().unwrap();
    assert_eq!(sources.len(), 2, "{receipt}");
    let told = sources.iter().flat_map(|source| [&source["ms"], &source["queued_ms"]]).chain([&receipt["elapsed_ms"]]);
    for number in told {
        let digits = number.to_string();
        let places = digits.split_once('.').map_or(0, |(_, places)| places.len());
        assert!(places <= 3, "{digits} in {receipt}");
    }
}
