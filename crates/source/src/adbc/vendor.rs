// SPDX-License-Identifier: Apache-2.0
//! What differs between warehouses: how they list tables, tell the time, set up a session and cancel. Snowflake's lines run
//! in the tests against a stand-in that speaks its protocol; the others are written from the vendors' documents.

use super::dialect::WarehouseDialect;
use crate::Dialect;
use std::time::Duration;

/// The kind of warehouse behind a driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Vendor {
    Snowflake,
    BigQuery,
    Redshift,
    Databricks,
    /// Anything with an `information_schema` and standard SQL, such as a Flight SQL server.
    Generic,
}

impl Vendor {
    pub(super) const ALL: [Self; 5] = [Self::Snowflake, Self::BigQuery, Self::Redshift, Self::Databricks, Self::Generic];

    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Snowflake => "snowflake",
            Self::BigQuery => "bigquery",
            Self::Redshift => "redshift",
            Self::Databricks => "databricks",
            Self::Generic => "generic",
        }
    }

    pub(super) const fn product(self) -> &'static str {
        match self {
            Self::Snowflake => "Snowflake",
            Self::BigQuery => "BigQuery",
            Self::Redshift => "Redshift",
            Self::Databricks => "Databricks",
            Self::Generic => "ADBC",
        }
    }

    pub(super) fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|vendor| vendor.word().eq_ignore_ascii_case(word))
    }

    /// From the file name of a driver: `libadbc_driver_snowflake.so`.
    pub(super) fn guess(driver: &str) -> Self {
        let file = driver.rsplit(['/', '\\']).next().unwrap_or(driver).to_ascii_lowercase();
        Self::ALL.into_iter().find(|vendor| file.contains(vendor.word())).unwrap_or(Self::Generic)
    }

    /// Options that the driver gets unless the configuration sets them.
    pub(super) fn default_options(self, login_timeout: &str, database: Option<&str>) -> Vec<(String, String)> {
        let Self::Snowflake = self else {
            return Vec::new();
        };
        let mut options = vec![
            // Without it the driver tries to log in for minutes.
            ("adbc.snowflake.sql.client_option.login_timeout".to_owned(), login_timeout.to_owned()),
            // Else a timestamp beyond the year 2262 wraps around without a word.
            ("adbc.snowflake.sql.client_option.max_timestamp_precision".to_owned(), "nanoseconds_error_on_overflow".to_owned()),
        ];
        // Integers as integers; what has more digits or a fraction is read as text (see `native_type`), never as a double.
        options.push(("adbc.snowflake.sql.client_option.use_high_precision".to_owned(), "false".to_owned()));
        options.extend(database.map(|database| ("adbc.snowflake.sql.db".to_owned(), database.to_owned())));
        options
    }

    /// Options of every statement: few batches read ahead (the Snowflake driver's own default is 200), and who asks.
    pub(super) fn statement_options(self, asker: &str) -> Vec<(&'static str, String)> {
        match self {
            Self::Snowflake => vec![
                ("adbc.rpc.result_queue_size", "4".to_owned()),
                ("adbc.snowflake.rpc.prefetch_concurrency", "2".to_owned()),
                ("adbc.snowflake.statement.query_tag", asker.to_owned()),
            ],
            _ => Vec::new(),
        }
    }

    /// Makes a fresh session use UTC and the statement timeout, as one statement where the product allows.
    pub(super) fn session_sql(self, statement_timeout: Duration) -> Vec<String> {
        let seconds = statement_timeout.as_secs().max(1);
        match self {
            Self::Snowflake => vec![format!("ALTER SESSION SET TIMEZONE = 'UTC', STATEMENT_TIMEOUT_IN_SECONDS = {seconds}")],
            Self::Redshift => vec![format!("SET statement_timeout TO {}", statement_timeout.as_millis().max(1)), "SET timezone TO 'UTC'".to_owned()],
            Self::Databricks => vec![format!("SET STATEMENT_TIMEOUT = {seconds}"), "SET TIME ZONE 'UTC'".to_owned()],
            Self::BigQuery | Self::Generic => Vec::new(),
        }
    }

    /// Asks a fresh session for the number that `cancel_sql` needs.
    pub(super) fn session_id_sql(self) -> Option<&'static str> {
        match self {
            Self::Snowflake => Some("SELECT CURRENT_SESSION()"),
            _ => None,
        }
    }

    /// Ends what another session runs. The id is digits only.
    pub(super) fn cancel_sql(self, session_id: u64) -> Option<String> {
        match self {
            Self::Snowflake => Some(format!("SELECT SYSTEM$CANCEL_ALL_QUERIES({session_id})")),
            _ => None,
        }
    }

    /// The warehouse's own clock, as a timestamp.
    pub(super) const fn clock_sql(self) -> &'static str {
        match self {
            Self::BigQuery => "SELECT CURRENT_TIMESTAMP()",
            Self::Redshift => "SELECT SYSDATE",
            _ => "SELECT CURRENT_TIMESTAMP",
        }
    }

    pub(super) const fn probe_sql(self) -> &'static str {
        match self {
            Self::Snowflake => "SELECT CURRENT_VERSION()",
            Self::BigQuery => "SELECT 'managed'",
            Self::Databricks => "SELECT current_version().dbsql_version",
            Self::Redshift | Self::Generic => "SELECT version()",
        }
    }

    /// One row per column of every table, in the order of `discover::CatalogRow`, sorted by table and position.
    pub(super) fn catalog_sql(self, dialect: &WarehouseDialect, database: Option<&str>, location: &str) -> String {
        match self {
            Self::Snowflake => joined_catalog("information_schema", "t.row_count, t.bytes, t.comment", "c.collation_name"),
            Self::Databricks => {
                let schema = database.map_or_else(|| "information_schema".to_owned(), |name| format!("{}.information_schema", dialect.quote(name)));
                let full_type = "c.full_data_type, c.is_nullable, c.numeric_precision, c.numeric_scale, NULL";
                catalog(&schema, full_type, "NULL, NULL, t.comment")
            }
            Self::BigQuery => {
                let project = database.map_or_else(String::new, |name| format!("{}.", dialect.quote(name)));
                let region = dialect.quote(&format!("region-{location}"));
                joined_bigquery(&format!("{project}{region}.INFORMATION_SCHEMA"))
            }
            Self::Redshift => joined_catalog("information_schema", "NULL, NULL, NULL", "NULL"),
            Self::Generic => joined_catalog("information_schema", "NULL, NULL, NULL", "NULL"),
        }
    }
}

fn joined_catalog(schema: &str, size_and_comment: &str, collation: &str) -> String {
    catalog(schema, &format!("c.data_type, c.is_nullable, c.numeric_precision, c.numeric_scale, {collation}"), size_and_comment)
}

/// A left join, because some servers list views among the columns but not among the tables.
fn catalog(schema: &str, type_columns: &str, size_and_comment: &str) -> String {
    format!(
        "SELECT c.table_schema, c.table_name, COALESCE(t.table_type, 'VIEW'), c.column_name, {type_columns}, {size_and_comment} \
         FROM {schema}.columns c LEFT JOIN {schema}.tables t ON t.table_catalog = c.table_catalog AND t.table_schema = c.table_schema AND t.table_name = c.table_name \
         WHERE LOWER(c.table_schema) NOT IN ('information_schema', 'pg_catalog') \
         ORDER BY c.table_schema, c.table_name, c.ordinal_position"
    )
}

fn joined_bigquery(schema: &str) -> String {
    format!(
        "SELECT c.table_schema, c.table_name, t.table_type, c.column_name, c.data_type, c.is_nullable, NULL, NULL, c.collation_name, NULL, NULL, NULL \
         FROM {schema}.COLUMNS c JOIN {schema}.TABLES t ON t.table_schema = c.table_schema AND t.table_name = c.table_name \
         ORDER BY c.table_schema, c.table_name, c.ordinal_position"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses_by_file_name_only() {
        assert_eq!(Vendor::guess("/opt/snowflake/libadbc_driver_bigquery.so"), Vendor::BigQuery);
        assert_eq!(Vendor::guess("adbc_driver_flightsql"), Vendor::Generic);
    }

    #[test]
    fn names_in_catalog_queries_are_quoted() {
        let sql = Vendor::BigQuery.catalog_sql(&WarehouseDialect(Vendor::BigQuery), Some("my`project"), "eu");
        assert!(sql.contains("FROM `my\\`project`.`region-eu`.INFORMATION_SCHEMA.COLUMNS c"), "{sql}");
    }

    #[test]
    fn cancelling_names_the_session() {
        assert_eq!(Vendor::Snowflake.cancel_sql(42).as_deref(), Some("SELECT SYSTEM$CANCEL_ALL_QUERIES(42)"));
    }
}
