// SPDX-License-Identifier: Apache-2.0
//! The question that started it all: three systems, one statement, word for word.

use crate::kit::World;
use weir_base::ErrorCode;
use weir_sandbox::{MariaDb, Postgres};

const FAILED_PAYMENTS: &str = "SELECT c.customer_id, c.email, t.ticket_id, p.failure_reason
FROM app_pg.public.customers      c
JOIN billing_mysql.billing.payments p ON p.customer_ref   = c.billing_ref
JOIN support_pg.public.tickets      t ON t.customer_email = c.email
WHERE p.status = 'failed'
  AND p.attempted_at >= current_date - INTERVAL '7' DAY
  AND t.status = 'open';";

#[tokio::test(flavor = "multi_thread")]
async fn failed_payments_of_customers_with_open_tickets() {
    let app = Postgres::start().await.unwrap();
    let support = Postgres::start().await.unwrap();
    let billing = MariaDb::start().await.unwrap();
    app.run(
        "app",
        "CREATE TABLE customers (customer_id int PRIMARY KEY, email text, billing_ref text);
        INSERT INTO customers VALUES (1, 'a@x.example', 'BILL-1'), (2, 'b@x.example', 'BILL-2'), (3, NULL, 'BILL-3');",
    )
    .await
    .unwrap();
    support
        .run(
            "support",
            "CREATE TABLE tickets (ticket_id int, customer_email text, status text);
        INSERT INTO tickets VALUES (10, 'a@x.example', 'open'), (11, 'b@x.example', 'closed'), (12, NULL, 'open');",
        )
        .await
        .unwrap();
    billing
        .run(
            "billing",
            "CREATE TABLE payments (customer_ref varchar(20), status varchar(10), failure_reason varchar(40), attempted_at datetime);
        INSERT INTO payments VALUES ('BILL-1', 'failed', 'card expired', now() - interval 1 day), ('BILL-1', 'failed', 'too old', now() - interval 30 day),
        ('BILL-2', 'failed', 'no funds', now()), ('BILL-1', 'paid', NULL, now());",
        )
        .await
        .unwrap();
    let world = World::builder()
        .source("app_pg", "postgres", &app.url("app"))
        .source("support_pg", "postgres", &support.url("support"))
        .source("billing_mysql", "mysql", &billing.url("billing"))
        .start()
        .await;

    assert_eq!(world.rows(FAILED_PAYMENTS).await, [["1", "a@x.example", "10", "card expired"]]);

    let receipt = world.receipt(FAILED_PAYMENTS).await;
    let tables: Vec<&str> = receipt.tables.iter().map(|table| table.table.as_str()).collect();
    assert_eq!(tables, ["app_pg.public.customers", "billing_mysql.billing.payments", "support_pg.public.tickets"]);
    let support_rows = receipt.sources.iter().find(|source| source.source == "support_pg").unwrap();
    assert_eq!((support_rows.statements, support_rows.rows), (1, 2), "the status filter is done at the source");
    assert!(receipt.sources.iter().all(|source| source.bytes > 0));

    let plan = world.rows(&format!("EXPLAIN {FAILED_PAYMENTS}")).await.concat().join("\n");
    assert!(plan.contains("WHERE \"status\" = 'open'"), "{plan}");

    world.rows("CREATE SCHEMA lake.hot").await;
    let copied = world.rows(&format!("CREATE TABLE lake.hot.failed AS {}", FAILED_PAYMENTS.trim_end_matches(';'))).await;
    assert_eq!(copied, [["SELECT 1"]]);
    assert_eq!(world.rows("SELECT failure_reason FROM lake.hot.failed").await, [["card expired"]]);
    assert_eq!(world.rows("INSERT INTO lake.hot.failed VALUES (7, 'z', 8, 'other')").await, [["INSERT 0 1"]]);
    assert_eq!(world.value("SELECT count(*) FROM lake.hot.failed").await, "2");
    assert_eq!(world.error("INSERT INTO app_pg.public.customers VALUES (9, 'x', 'y')").await.code(), ErrorCode::ReadOnlySource);
    assert_eq!(world.error("SELECT * FROM app_pg.public.costumers").await.hint(), Some("did you mean app_pg.public.customers?"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_wants_a_filter_gets_one_or_is_not_read() {
    use weir_engine::TableRule;
    let app = Postgres::start().await.unwrap();
    app.run("app", "CREATE TABLE events (id int, created_at date, note text); INSERT INTO events VALUES (1, '2026-11-01', 'a'), (2, '2026-11-30', 'b');")
        .await
        .unwrap();
    let rule = TableRule { schema: "public".into(), table: "events".into(), require_filter: vec!["created_at".into()], strict: false };
    let world = World::builder().source("app_pg", "postgres", &app.url("app")).rules("app_pg", vec![rule]).start().await;

    let refused = world.error("SELECT * FROM app_pg.public.events WHERE id = 1").await;
    assert_eq!(refused.code(), ErrorCode::OverBudget);
    assert_eq!(refused.message(), "app_pg.public.events may only be read with a filter on created_at");
    // An OR does not bound, and neither does a filter that stays here.
    world.error("SELECT * FROM app_pg.public.events WHERE created_at > date '2026-11-01' OR id = 1").await;
    world.error("SELECT * FROM app_pg.public.events WHERE extract(day FROM created_at) = 30").await;
    assert_eq!(world.rows("SELECT id FROM app_pg.public.events WHERE created_at > date '2026-11-01' AND note = 'b'").await, [["2"]]);
    let plan = world.rows("EXPLAIN SELECT * FROM app_pg.public.events").await.concat().join("\n");
    assert!(plan.contains("refuse"), "{plan}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_hostile_caller_tries() {
    use weir_api::{Parameter, Query, QueryService};
    let app = Postgres::start().await.unwrap();
    app.run("app", "CREATE TABLE t (id int, price numeric(10,2)); INSERT INTO t VALUES (1, 1.23);").await.unwrap();
    let world = World::builder().source("app_pg", "postgres", &app.url("app")).start().await;

    for write in [
        "WITH x AS (DELETE FROM app_pg.public.t RETURNING *) SELECT * FROM x",
        "EXPLAIN ANALYZE DELETE FROM app_pg.public.t",
        "SELECT * INTO app_pg.public.u FROM app_pg.public.t",
        "SELECT * FROM app_pg.public.t FOR UPDATE",
    ] {
        assert_eq!(world.error(write).await.code(), ErrorCode::ReadOnlySource, "{write}");
    }
    assert!(world.rows("SELECT id FROM app_pg.public.t LIMIT 9223372036854775807 OFFSET 9223372036854775807").await.is_empty());

    // An id is used once: what is in the log stays in the log.
    let query = Query::new("SELECT 1");
    let again = Query { sql: "SELECT 2".into(), ..query.clone() };
    drop(world.engine.run(&world.session, query).await.unwrap());
    assert_eq!(world.engine.run(&world.session, again).await.unwrap_err().code(), ErrorCode::AlreadyExists);

    // A parameter keeps its digits beside a column that has fewer.
    let exact = Query::new("SELECT id FROM app_pg.public.t WHERE price = $1 OR id = $2")
        .with_params(vec![Parameter::Decimal("1.225".into()), Parameter::Decimal("1.5".into())]);
    let mut answer = world.engine.run(&world.session, exact).await.unwrap();
    let rows: usize = futures::TryStreamExt::try_collect::<Vec<_>>(answer.batches()).await.unwrap().iter().map(|batch| batch.num_rows()).sum();
    assert_eq!(rows, 0);
}
