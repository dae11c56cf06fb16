// SPDX-License-Identifier: Apache-2.0
//! The catalog: which metadata file is a table's current one. A commit is one compare-and-set of that pointer.
//!
//! The tables are the ones that every SQL catalog of Iceberg uses, so PyIceberg, Java and Spark see the same lake.

use crate::config::CatalogConfig;
use crate::fault::at;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool, SqlitePoolOptions};
use std::path::{Path, PathBuf};
use std::time::Duration;
use weir_base::{Error, ErrorCode, Result};

const CONNECTIONS_MAX: u32 = 4;
/// How long a commit waits for another process's.
const BUSY_TIMEOUT: Duration = Duration::from_secs(30);

const CREATE_TABLES: &str = "CREATE TABLE IF NOT EXISTS iceberg_tables (
    catalog_name VARCHAR(255) NOT NULL,
    table_namespace VARCHAR(255) NOT NULL,
    table_name VARCHAR(255) NOT NULL,
    metadata_location VARCHAR(1000),
    previous_metadata_location VARCHAR(1000),
    iceberg_type VARCHAR(5),
    PRIMARY KEY (catalog_name, table_namespace, table_name))";
const CREATE_NAMESPACES: &str = "CREATE TABLE IF NOT EXISTS iceberg_namespace_properties (
    catalog_name VARCHAR(255) NOT NULL,
    namespace VARCHAR(255) NOT NULL,
    property_key VARCHAR(255) NOT NULL,
    property_value VARCHAR(1000) NOT NULL,
    PRIMARY KEY (catalog_name, namespace, property_key))";

/// Where the pointers live. One kind for now; the REST catalog becomes the second.
#[derive(Debug)]
pub(crate) enum Pointers {
    Sql(SqlPointers),
}

#[derive(Debug)]
pub(crate) struct SqlPointers {
    pool: SqlitePool,
    catalog: String,
    /// A file that an old tool made has no column that tells views from tables.
    has_type: bool,
}

/// A table's current metadata file must still be this one for a change to go through.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Expect<'a> {
    Absent,
    At(&'a str),
}

impl Pointers {
    pub(crate) async fn open(config: &CatalogConfig, catalog: &str) -> Result<Self> {
        match config {
            CatalogConfig::Sql { url } => Ok(Self::Sql(SqlPointers::open(&sqlite_path(url)?, catalog).await?)),
            CatalogConfig::Rest { .. } => Err(Error::new(ErrorCode::Unsupported, "the Iceberg REST catalog comes with a later version of Weir")
                .with_hint("use lake.catalog: { type: sql, url: \"sqlite:///abs/catalog.db\" }")),
        }
    }

    pub(crate) async fn schemas(&self) -> Result<Vec<String>> {
        let Self::Sql(sql) = self;
        sql.texts(
            "SELECT table_namespace FROM iceberg_tables WHERE catalog_name = ?1 UNION SELECT namespace FROM iceberg_namespace_properties WHERE catalog_name = ?1 ORDER BY 1",
            &[&sql.catalog],
        )
        .await
    }

    pub(crate) async fn tables(&self, schema: &str) -> Result<Vec<String>> {
        let Self::Sql(sql) = self;
        let query = format!("SELECT table_name FROM iceberg_tables WHERE catalog_name = ?1 AND table_namespace = ?2{} ORDER BY 1", sql.only_tables());
        sql.texts(&query, &[&sql.catalog, schema]).await
    }

    pub(crate) async fn create_schema(&self, schema: &str) -> Result<()> {
        let Self::Sql(sql) = self;
        let insert =
            "INSERT OR IGNORE INTO iceberg_namespace_properties (catalog_name, namespace, property_key, property_value) VALUES (?1, ?2, 'exists', 'true')";
        sql.change(insert, &[&sql.catalog, schema]).await.map(drop)
    }

    /// Removes the schema if no table is in it, checked and done in one statement.
    pub(crate) async fn drop_empty_schema(&self, schema: &str) -> Result<bool> {
        let Self::Sql(sql) = self;
        let delete = "DELETE FROM iceberg_namespace_properties WHERE catalog_name = ?1 AND namespace = ?2
            AND NOT EXISTS (SELECT 1 FROM iceberg_tables WHERE catalog_name = ?1 AND table_namespace = ?2)";
        Ok(sql.change(delete, &[&sql.catalog, schema]).await? > 0)
    }

    /// The current metadata file of a table.
    pub(crate) async fn location(&self, schema: &str, table: &str) -> Result<Option<String>> {
        let Self::Sql(sql) = self;
        let query = format!(
            "SELECT metadata_location FROM iceberg_tables WHERE catalog_name = ?1 AND table_namespace = ?2 AND table_name = ?3 AND metadata_location IS NOT NULL{}",
            sql.only_tables()
        );
        Ok(sql.texts(&query, &[&sql.catalog, schema, table]).await?.pop())
    }

    /// Points the table at `new`; false when somebody else was faster.
    pub(crate) async fn point(&self, schema: &str, table: &str, expect: Expect<'_>, new: &str) -> Result<bool> {
        let Self::Sql(sql) = self;
        let changed = match expect {
            Expect::Absent if sql.has_type => {
                let insert = "INSERT OR IGNORE INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location, iceberg_type) VALUES (?1, ?2, ?3, ?4, 'TABLE')";
                sql.change(insert, &[&sql.catalog, schema, table, new]).await?
            }
            Expect::Absent => {
                let insert = "INSERT OR IGNORE INTO iceberg_tables (catalog_name, table_namespace, table_name, metadata_location) VALUES (?1, ?2, ?3, ?4)";
                sql.change(insert, &[&sql.catalog, schema, table, new]).await?
            }
            Expect::At(old) => {
                let update = "UPDATE iceberg_tables SET metadata_location = ?4, previous_metadata_location = ?5
                    WHERE catalog_name = ?1 AND table_namespace = ?2 AND table_name = ?3 AND metadata_location = ?5";
                sql.change(update, &[&sql.catalog, schema, table, new, old]).await?
            }
        };
        Ok(changed == 1)
    }

    /// Removes the entry if it still points at `current`.
    pub(crate) async fn remove(&self, schema: &str, table: &str, current: &str) -> Result<bool> {
        let Self::Sql(sql) = self;
        let delete = "DELETE FROM iceberg_tables WHERE catalog_name = ?1 AND table_namespace = ?2 AND table_name = ?3 AND metadata_location = ?4";
        Ok(sql.change(delete, &[&sql.catalog, schema, table, current]).await? == 1)
    }
}

impl SqlPointers {
    async fn open(path: &Path, catalog: &str) -> Result<Self> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(at("cannot make the folder of the lake's catalog"))?;
        }
        let options = SqliteConnectOptions::new().filename(path).create_if_missing(true).busy_timeout(BUSY_TIMEOUT);
        let pool = SqlitePoolOptions::new()
            .max_connections(CONNECTIONS_MAX)
            .test_before_acquire(false)
            .connect_with(options)
            .await
            .map_err(at("cannot open the lake's catalog"))?;
        let mut sql = Self { pool, catalog: catalog.to_owned(), has_type: true };
        sql.change(CREATE_TABLES, &[]).await?;
        sql.change(CREATE_NAMESPACES, &[]).await?;
        sql.has_type = !sql.texts("SELECT name FROM pragma_table_info('iceberg_tables') WHERE name = 'iceberg_type'", &[]).await?.is_empty();
        Ok(sql)
    }

    fn only_tables(&self) -> &'static str {
        if self.has_type { " AND (iceberg_type = 'TABLE' OR iceberg_type IS NULL)" } else { "" }
    }

    async fn texts(&self, query: &str, values: &[&str]) -> Result<Vec<String>> {
        let mut statement = sqlx::query_scalar::<_, String>(query);
        for value in values {
            statement = statement.bind((*value).to_owned());
        }
        statement.fetch_all(&self.pool).await.map_err(at("cannot read the lake's catalog"))
    }

    async fn change(&self, statement: &str, values: &[&str]) -> Result<u64> {
        let mut bound = sqlx::query(statement);
        for value in values {
            bound = bound.bind((*value).to_owned());
        }
        Ok(bound.execute(&self.pool).await.map_err(at("cannot change the lake's catalog"))?.rows_affected())
    }
}

/// The file behind `sqlite:///abs/x.db`, `sqlite://./x.db` or `sqlite:x.db`.
fn sqlite_path(url: &str) -> Result<PathBuf> {
    let wrong =
        || Error::new(ErrorCode::Config, "the lake's catalog is not a SQLite file").with_hint("write sqlite:///abs/catalog.db or sqlite://./relative.db");
    let rest = url.strip_prefix("sqlite:").ok_or_else(wrong)?;
    let path = rest.strip_prefix("//").unwrap_or(rest);
    let path = path.split('?').next().unwrap_or(path);
    if path.is_empty() || path == ":memory:" { Err(wrong()) } else { Ok(PathBuf::from(path)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_sqlite_files() {
        assert_eq!(sqlite_path("sqlite:///a/b.db").unwrap(), Path::new("/a/b.db"));
        assert_eq!(sqlite_path("sqlite://./data/c.db?mode=rwc").unwrap(), Path::new("./data/c.db"));
        assert_eq!(sqlite_path("postgres://x").unwrap_err().code(), ErrorCode::Config);
    }

    #[tokio::test]
    async fn a_pointer_moves_only_from_where_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let config = CatalogConfig::Sql { url: format!("sqlite://{}/deep/c.db", folder.path().display()) };
        let pointers = Pointers::open(&config, "lake").await.unwrap();
        assert!(pointers.point("s", "t", Expect::Absent, "one").await.unwrap());
        assert!(!pointers.point("s", "t", Expect::Absent, "two").await.unwrap());
        assert!(!pointers.point("s", "t", Expect::At("zero"), "two").await.unwrap());
        assert!(pointers.point("s", "t", Expect::At("one"), "two").await.unwrap());
        assert_eq!(pointers.location("s", "t").await.unwrap().as_deref(), Some("two"));
        assert_eq!(pointers.schemas().await.unwrap(), ["s"]);
        assert!(!pointers.drop_empty_schema("s").await.unwrap());
        assert!(!pointers.remove("s", "t", "one").await.unwrap());
        assert!(pointers.remove("s", "t", "two").await.unwrap());
        assert!(pointers.tables("s").await.unwrap().is_empty());
    }
}
