// SPDX-License-Identifier: Apache-2.0
//! The ground that the clients walk on: PostgreSQL, MariaDB, SQLite and the lake, each with a little data.

use crate::kit::{Doors, SqliteFile, World, WorldBuilder, postgres, quiet_mariadb};
use tokio::sync::OnceCell;

/// Tables of the application's PostgreSQL.
const APP: &str = "CREATE TYPE plan AS ENUM ('free', 'pro');
CREATE TABLE customers (id int PRIMARY KEY, email text NOT NULL, plan plan, balance numeric(12,2), signed_up timestamptz, tags text[], note varchar(20));
COMMENT ON TABLE customers IS 'everybody who ever signed up';
INSERT INTO customers VALUES
  (1, 'ana@x.example', 'pro', 1204.50, '2026-11-01 10:00:00+00', '{a,b}', 'first'),
  (2, 'bo@x.example', 'free', -0.01, '2026-11-02 11:30:00.123456+00', '{}', NULL),
  (3, 'cy@x.example', NULL, NULL, NULL, NULL, 'it''s; \"quoted\"');
CREATE VIEW paying AS SELECT id, email FROM customers WHERE plan = 'pro';
CREATE TABLE events (id bigint, customer_id int, at timestamp, kind text, payload bytea, seen boolean, ratio double precision, day date);
INSERT INTO events SELECT g, g % 3 + 1, timestamp '2026-11-01' + g * interval '1 minute', 'k' || g % 5, decode('00ff', 'hex'), g % 2 = 0, g / 4.0, date '2026-11-01' + g % 7 FROM generate_series(1, 1000) g;
CREATE SCHEMA \"Odd Schema\";
CREATE TABLE \"Odd Schema\".\"Mixed Case\" (\"The Id\" int, \"select\" text);
INSERT INTO \"Odd Schema\".\"Mixed Case\" VALUES (7, 'seven');
CREATE VIEW \"Odd Schema\".nap AS SELECT pg_sleep(3600)::text AS slept;
ANALYZE;";

/// A question that its source takes an hour for, unless it is cancelled there.
pub const SLOW: &str = "SELECT slept FROM app_pg.\"Odd Schema\".nap";

const BILLING: &str = "CREATE TABLE payments (id bigint unsigned, customer_id int, amount decimal(10,2), paid tinyint(1), at datetime(6));
INSERT INTO payments VALUES (18446744073709551615, 1, 19.99, 1, '2026-11-03 08:00:00'), (2, 1, 5.00, 0, '2026-11-04 09:00:00'), (3, 2, 7.25, 1, NULL);";

const NOTES: &str = "CREATE TABLE notes (id INTEGER PRIMARY KEY, customer_id INTEGER, body TEXT);
INSERT INTO notes VALUES (1, 1, 'called'), (2, 3, 'wrote');";

const LAKE: &[&str] = &["CREATE SCHEMA lake.web", "CREATE TABLE lake.web.visits AS SELECT id, customer_id, kind, at FROM app_pg.public.events WHERE id <= 100"];

/// A world over these sources, before it starts.
pub async fn builder() -> WorldBuilder {
    static LOADED: OnceCell<()> = OnceCell::const_new();
    let (app, billing) = (postgres().await, quiet_mariadb().await);
    LOADED
        .get_or_init(async || {
            app.run("wire_app", APP).await.expect("the application's tables");
            billing.run("billing", BILLING).await.expect("the billing tables");
        })
        .await;
    World::builder().source("app_pg", "postgres", &app.url("wire_app")).source("billing_mysql", "mysql", &billing.url("billing"))
}

/// The world with its SQLite file and its lake filled, and its doors open to everybody.
pub async fn open() -> (World, Doors, SqliteFile) {
    let file = SqliteFile::with(NOTES).await;
    let world = builder().await.source("desk", "sqlite", &file.url()).start().await;
    for statement in LAKE {
        world.rows(statement).await;
    }
    let doors = Doors::open(&world).await;
    (world, doors, file)
}
