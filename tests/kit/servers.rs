// SPDX-License-Identifier: Apache-2.0
//! Servers that all tests of the binary share; each test has databases of its own in them. They end with the process.

use tokio::sync::OnceCell;
use weir_sandbox::{MariaDb, Postgres, S3, Snowflake};

static POSTGRES: OnceCell<Postgres> = OnceCell::const_new();
static MARIADB: OnceCell<MariaDb> = OnceCell::const_new();
static QUIET_MARIADB: OnceCell<MariaDb> = OnceCell::const_new();
static STORE: OnceCell<S3> = OnceCell::const_new();
static WAREHOUSE: OnceCell<Snowflake> = OnceCell::const_new();

pub async fn postgres() -> &'static Postgres {
    POSTGRES.get_or_init(async || Postgres::start().await.expect("a PostgreSQL server")).await
}

/// One that no other test adds databases to, for tests that list everything.
pub async fn quiet_mariadb() -> &'static MariaDb {
    QUIET_MARIADB.get_or_init(async || MariaDb::start().await.expect("a MariaDB server")).await
}

pub async fn mariadb() -> &'static MariaDb {
    MARIADB.get_or_init(async || MariaDb::start().await.expect("a MariaDB server")).await
}

pub async fn s3() -> &'static S3 {
    STORE.get_or_init(async || S3::start().await.expect("an S3 server")).await
}

/// The stand-in of a cloud warehouse.
pub async fn snowflake() -> &'static Snowflake {
    WAREHOUSE.get_or_init(async || Snowflake::start().await.expect("the warehouse stand-in")).await
}
