// SPDX-License-Identifier: Apache-2.0
//! Users, roles and grants: what is not granted is neither read nor named.

use crate::kit::{SqliteFile, World};
use std::sync::Arc;
use weir_api::{Query, QueryService, Session};
use weir_base::{Error, ErrorCode, UserName};
use weir_policy::{Action, Grant, Policy, Role};

fn role(name: &str, grants: &[(&str, &[Action])]) -> Arc<Role> {
    let grants = grants.iter().map(|(on, allow)| Grant { on: on.parse().unwrap(), allow: allow.to_vec() });
    Arc::new(Role { name: name.into(), grants: grants.collect(), priority: weir_base::Priority::Normal })
}

struct Office {
    world: World,
    ana: Arc<Session>,
    bob: Arc<Session>,
    _file: SqliteFile,
}

impl Office {
    async fn open() -> Self {
        let file = SqliteFile::with(
            "CREATE TABLE orders (id INTEGER); INSERT INTO orders VALUES (1), (2); CREATE TABLE salaries (id INTEGER, amount INTEGER); CREATE TABLE salaries_2025 (id INTEGER);",
        )
        .await;
        let analyst = role("analyst", &[("shop.main.orders", &[Action::Select]), ("lake.team.*", &[Action::Select, Action::Create, Action::Insert])]);
        let reader = role("reader", &[("lake.team.*", &[Action::Select])]);
        let writer = role("writer", &[("shop.main.orders", &[Action::Insert])]);
        let policy = Policy::closed([
            (UserName::new("ana"), vec![analyst]),
            (UserName::new("bob"), vec![reader]),
            (UserName::new("writer"), vec![writer]),
            (UserName::new("eve"), vec![]),
        ]);
        let world = World::builder().source("shop", "sqlite", &file.url()).policy(policy).start().await;
        let lake = world.engine.places().lake.as_ref().expect("a lake").lake.clone();
        lake.create_schema("hidden", false).await.expect("a schema that only the owner knows");
        let (ana, bob) = (world.session("ana", None), world.session("bob", None));
        Self { world, ana, bob, _file: file }
    }

    async fn rows(&self, who: &Arc<Session>, sql: &str) -> Vec<Vec<String>> {
        self.world.ask_as(who, sql).await.unwrap_or_else(|error| panic!("{sql}\n{error:?}")).0
    }

    async fn error(&self, who: &Arc<Session>, sql: &str) -> Error {
        self.world.ask_as(who, sql).await.expect_err(sql)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_granted_is_refused() {
    let office = Office::open().await;
    assert_eq!(office.rows(&office.ana, "SELECT count(*) FROM shop.main.orders").await, [["2"]]);
    let refused = ["CREATE TABLE lake.other.t AS SELECT 1 AS a", "DROP TABLE lake.team.t", "CREATE SCHEMA lake.other"];
    for sql in refused {
        let error = office.error(&office.ana, sql).await;
        assert_eq!((error.code(), error.code().exit_code()), (ErrorCode::Forbidden, 3), "{sql}: {error:?}");
    }
    let writer = office.world.session("writer", None);
    assert_eq!(office.error(&writer, "SELECT * FROM shop.main.orders").await.message(), "no right to select shop.main.orders");
}

/// A table that nobody granted reads like one that is not there: by code, message, detail and hint, whatever the statement.
/// A full name outside the grants is 42501 either way; a shorter one is looked for among what was granted, and is unknown.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_hidden_is_not_there() {
    let office = Office::open().await;
    let statements = [
        "SELECT * FROM shop.main.QQ",
        "SELECT amount FROM shop.main.QQ",
        "SELECT nosuch FROM shop.main.QQ",
        "SELECT 1 FROM shop.main.orders WHERE id IN (SELECT id FROM shop.main.QQ)",
        "WITH s AS (SELECT * FROM shop.main.QQ) SELECT 1",
        "SELECT (SELECT max(amount) FROM shop.main.QQ)",
        "EXPLAIN SELECT * FROM shop.main.QQ",
        "EXPLAIN ANALYZE SELECT * FROM shop.main.QQ",
        "CREATE TABLE lake.team.copy AS SELECT * FROM shop.main.QQ",
        "SELECT * FROM shop.QQ",
        "SELECT * FROM \"shop.main\".QQ",
        "SELECT * FROM lake.hidden.QQ",
    ];
    for sql in statements {
        let hidden = format!("{:?}", office.error(&office.ana, &sql.replace("QQ", "salaries")).await);
        let absent = format!("{:?}", office.error(&office.ana, &sql.replace("QQ", "sakaries")).await);
        assert_eq!(hidden.replace("salaries", "QQ"), absent.replace("sakaries", "QQ"), "{sql}");
        let code = if sql.contains("shop.QQ") { ErrorCode::UnknownTable } else { ErrorCode::Forbidden };
        assert_eq!(office.error(&office.ana, &sql.replace("QQ", "salaries")).await.code(), code, "{sql}");
    }
    for sql in ["SELECT * FROM PLACE.main.orders", "SELECT * FROM PLACE.orders"] {
        let hidden = format!("{:?}", office.error(&office.bob, &sql.replace("PLACE", "shop")).await);
        let absent = format!("{:?}", office.error(&office.bob, &sql.replace("PLACE", "shqp")).await);
        assert_eq!(hidden.replace("shop", "PLACE"), absent.replace("shqp", "PLACE"), "{sql}");
    }
    assert_eq!(office.world.engine.complete(&office.bob, "sho").await, ["SHOW"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_lake_is_writable_where_a_role_allows() {
    let office = Office::open().await;
    office.rows(&office.ana, "CREATE SCHEMA lake.team").await;
    office.rows(&office.ana, "CREATE TABLE lake.team.t AS SELECT id FROM shop.main.orders").await;
    office.rows(&office.ana, "INSERT INTO lake.team.t VALUES (3)").await;
    assert_eq!(office.rows(&office.bob, "SELECT count(*) FROM lake.team.t").await, [["3"]]);
    assert_eq!(office.error(&office.bob, "INSERT INTO lake.team.t VALUES (4)").await.code(), ErrorCode::Forbidden);
    assert_eq!(office.error(&office.ana, "DROP TABLE lake.team.t").await.code(), ErrorCode::Forbidden);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_may_not_be_seen_is_not_named() {
    let office = Office::open().await;
    assert_eq!(office.rows(&office.ana, "SELECT name FROM system.tables").await, [["shop.main.orders"]]);
    assert_eq!(office.rows(&office.ana, "SELECT DISTINCT \"table\" FROM system.columns").await, [["orders"]]);
    assert_eq!(office.rows(&office.bob, "SELECT source FROM system.sources").await, Vec::<Vec<String>>::new());
    let error = office.error(&office.ana, "SELECT * FROM shop.main.salarie").await;
    assert_eq!(error.code(), ErrorCode::Forbidden);
    assert!(!format!("{error:?}").contains("salaries"), "{error:?}");
    let error = office.error(&office.ana, "SELECT * FROM shop.main.order").await;
    assert_eq!(error.hint(), Some("did you mean shop.main.orders?"));
    let offered = office.world.engine.complete(&office.ana, "shop.main.").await;
    assert_eq!(offered, ["shop.main.orders"]);
    let eve = office.world.session("eve", None);
    assert_eq!(office.rows(&eve, "SELECT name FROM system.tables").await, Vec::<Vec<String>>::new());
    assert_eq!(office.error(&office.world.session("nobody", None), "SELECT 1").await.code(), ErrorCode::Forbidden);
}

/// Whether a table exists must not show in how its refusal reads.
#[tokio::test(flavor = "multi_thread")]
async fn a_hidden_column_is_not_named_either() {
    let office = Office::open().await;
    let error = office.error(&office.ana, "SELECT amoun FROM shop.main.salaries").await;
    assert!(!format!("{error:?}").contains("amount"), "{error:?}");
    assert_eq!((error.code(), error.code().exit_code()), (ErrorCode::Forbidden, 3));
}

#[tokio::test(flavor = "multi_thread")]
async fn everybody_sees_their_own_queries() {
    let office = Office::open().await;
    office.rows(&office.ana, "SELECT id AS hers FROM shop.main.orders").await;
    office.rows(&office.bob, "SELECT 1 AS his").await;
    let seen = office.rows(&office.bob, "SELECT count(*) FROM system.queries WHERE \"user\" = 'ana'").await;
    assert_eq!(seen, [["0"]]);
    assert_eq!(office.rows(&office.ana, "SELECT count(*) FROM system.query_sources").await, [["1"]]);
    assert_eq!(office.rows(&office.bob, "SELECT count(*) FROM system.query_sources").await, [["0"]]);

    let asked = Query::new("SELECT id FROM shop.main.orders");
    let id = asked.id;
    let _answer = office.world.engine.run(&office.ana, asked).await.unwrap();
    assert!(!office.world.engine.cancel(&office.bob, id).await.unwrap(), "somebody else's query");
    assert_eq!(office.world.engine.status(&office.bob, id).await.unwrap_err().code(), ErrorCode::NotFound);
    assert!(office.world.engine.cancel(&office.ana, id).await.unwrap());
}
