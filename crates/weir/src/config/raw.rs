// SPDX-License-Identifier: Apache-2.0
//! `weir.yaml` as written. The JSON Schema, the check of the file and the reference all come from these structs.

use schemars::{JsonSchema, Schema};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use weir_source::CONNECTORS;

/// A Weir project: listeners, lake, sources and their limits, users and roles. Durations are written 250ms 30s 15m 24h 90d, sizes 64KiB 512MiB 2GiB, and ${NAME} in any value is an environment variable.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "weir.yaml")]
pub(crate) struct RawConfig {
    /// Folder for everything Weir keeps, relative to this file. Default: ./data
    pub(crate) data_dir: Option<String>,
    /// Where Weir listens.
    pub(crate) listen: Option<RawListen>,
    /// The lake: Iceberg tables that Weir reads and writes. `lake: {}` is a lake in data_dir.
    pub(crate) lake: Option<RawLake>,
    /// Systems that Weir reads, by the name they have in SQL.
    pub(crate) sources: Option<BTreeMap<String, RawSource>>,
    /// How clients log in.
    pub(crate) auth: Option<RawAuth>,
    /// Who may log in.
    pub(crate) users: Option<Vec<RawUser>>,
    /// What users may do.
    pub(crate) roles: Option<Vec<RawRole>>,
    /// Memory that queries may use before they spill to disk. Default: half of the machine's.
    pub(crate) memory_limit: Option<String>,
    /// Folder for what does not fit in memory. Default: spill in data_dir
    pub(crate) spill_dir: Option<String>,
}

/// Addresses as ADDRESS:PORT; port 0 takes a free one; `off` closes a door.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Listen")]
pub(crate) struct RawListen {
    /// Postgres wire. Default: 127.0.0.1:5439
    pub(crate) postgres: Option<String>,
    /// HTTP. Default: 127.0.0.1:8642
    pub(crate) http: Option<String>,
    /// Arrow Flight SQL. Not served by this version yet.
    pub(crate) flight: Option<String>,
    /// Certificate and key for TLS on every door.
    pub(crate) tls: Option<RawTls>,
}

/// PEM files, relative to this file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Tls")]
pub(crate) struct RawTls {
    /// Certificate chain.
    pub(crate) cert: String,
    /// Private key.
    pub(crate) key: String,
}

/// Where lake tables live.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Lake")]
pub(crate) struct RawLake {
    /// First part of the names of its tables. Default: lake
    pub(crate) name: Option<String>,
    /// Which tables there are. Default: an SQLite file in data_dir.
    pub(crate) catalog: Option<RawLakeCatalog>,
    /// Folder or bucket of the data: file://./data/lake or s3://bucket/prefix. Default: lake in data_dir.
    pub(crate) warehouse: Option<String>,
    /// How to reach the object store of an s3:// warehouse.
    pub(crate) s3: Option<RawS3>,
}

/// A catalog of Iceberg tables.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "LakeCatalog")]
pub(crate) struct RawLakeCatalog {
    /// Kind of catalog.
    #[serde(rename = "type")]
    pub(crate) kind: RawCatalogKind,
    /// sqlite://./catalog.db, or the address of a REST catalog.
    pub(crate) url: Option<String>,
    /// Bearer token for a REST catalog.
    pub(crate) token: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "CatalogKind")]
pub(crate) enum RawCatalogKind {
    Sql,
    Rest,
}

/// An S3-compatible object store.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "S3")]
pub(crate) struct RawS3 {
    /// Address of the service; absent for AWS itself.
    pub(crate) endpoint: Option<String>,
    /// Default: us-east-1
    pub(crate) region: Option<String>,
    /// Key id.
    pub(crate) access_key: Option<String>,
    /// Secret key.
    pub(crate) secret_key: Option<String>,
    /// Bucket in the path instead of the host name. Default: true with an endpoint.
    pub(crate) path_style: Option<bool>,
}

/// One system that Weir reads.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "Source")]
pub(crate) struct RawSource {
    /// Kind of system.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// Where and as whom: postgres://user:password@host:port/database
    pub(crate) url: Option<String>,
    /// A source that is not a replica is refused unless this says true.
    pub(crate) allow_primary: Option<bool>,
    /// What the source allows.
    pub(crate) limits: Option<RawLimits>,
    /// What becomes of numbers that other types cannot hold.
    pub(crate) values: Option<RawValues>,
    /// Rules for single tables, by schema.table.
    pub(crate) tables: Option<BTreeMap<String, RawTableRule>>,
    /// Options handed to the driver of an adbc source as they are.
    pub(crate) options: Option<BTreeMap<String, String>>,
    /// Options of the connector.
    #[serde(flatten)]
    pub(crate) own: BTreeMap<String, String>,
}

/// Protection of a source.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Limits")]
pub(crate) struct RawLimits {
    /// Hard cap on sessions in the source, metadata and health checks included. Default: 4
    pub(crate) connections: Option<u64>,
    /// How many of them one user may hold at once. Default: all
    pub(crate) connections_per_user: Option<u64>,
    /// Longest time one statement may run in the source. Default: 30s
    pub(crate) statement_timeout: Option<String>,
    /// Rows that one query may take out of the source. Default: no limit.
    pub(crate) rows_per_query: Option<u64>,
    /// Bytes that one query may take out of the source. Default: no limit.
    pub(crate) bytes_per_query: Option<String>,
    /// Time that the statements of one query may take in the source, all together. Default: no limit.
    pub(crate) time_per_query: Option<String>,
    /// Rows that one user may take out of the source on one day (UTC), over all queries. Default: no limit.
    pub(crate) rows_per_day: Option<u64>,
    /// Bytes that one user may take out of the source on one day (UTC), over all queries. Default: no limit.
    pub(crate) bytes_per_day: Option<String>,
    /// What is done with a query of which nobody knows what it takes, where there is a budget: run (and be stopped at the budget) or refuse. Default: run
    pub(crate) unknown_forecast: Option<RawUnknownForecast>,
    /// Waiting for a session when all are in use.
    pub(crate) queue: Option<RawQueue>,
    /// A replica further behind than this is warned about, and refused where a query asks for fresher.
    pub(crate) replica_lag: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "UnknownForecast")]
pub(crate) enum RawUnknownForecast {
    Run,
    Refuse,
}

/// The queue in front of a source.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Queue")]
pub(crate) struct RawQueue {
    /// Longest wait. Default: 20s
    pub(crate) max_wait: Option<String>,
    /// Most that may wait; one more is refused. Default: 200
    pub(crate) max_waiting: Option<u64>,
}

/// Not-a-number and infinities. Default: keep where the type can, else error.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Values")]
pub(crate) struct RawValues {
    pub(crate) nan: Option<RawNan>,
    pub(crate) infinity: Option<RawInfinity>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Nan")]
pub(crate) enum RawNan {
    Keep,
    Error,
    Null,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Infinity")]
pub(crate) enum RawInfinity {
    Keep,
    Error,
    Null,
    Clamp,
}

/// A rule for one table.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "TableRule")]
pub(crate) struct RawTableRule {
    /// Refused at plan time unless a pushed filter bounds these columns.
    pub(crate) require_filter: Option<Vec<String>>,
    /// Refused at plan time where a filter on the table would stay here, so that more rows travel than are asked for. Default: false
    pub(crate) strict: Option<bool>,
}

/// How clients log in.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Auth")]
pub(crate) struct RawAuth {
    /// scram: users with passwords. open: everyone is user `local` with every right, on loopback listeners only. Default: scram
    pub(crate) mode: Option<RawAuthMode>,
    /// Tokens of an identity provider. Not in this version yet.
    pub(crate) tokens: Option<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "AuthMode")]
pub(crate) enum RawAuthMode {
    Scram,
    Open,
}

/// Somebody who may log in, with `password` or `password_scram`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "User")]
pub(crate) struct RawUser {
    pub(crate) name: String,
    /// Best given as ${NAME}.
    pub(crate) password: Option<String>,
    /// A verifier as `weir password` prints it: SCRAM-SHA-256$4096:…
    pub(crate) password_scram: Option<String>,
    /// Names from `roles`.
    pub(crate) roles: Option<Vec<String>>,
}

/// A set of grants.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Role")]
pub(crate) struct RawRole {
    /// Name of the role.
    pub(crate) name: String,
    pub(crate) grants: Option<Vec<RawGrant>>,
    /// Whose queries go first when others wait for the same source: high, normal or low. A user has the highest of all roles. Default: normal
    pub(crate) priority: Option<RawPriority>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Priority")]
pub(crate) enum RawPriority {
    Low,
    Normal,
    High,
}

/// Actions on the tables that match.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Grant")]
pub(crate) struct RawGrant {
    /// source.schema.table; `*` stands for any run of characters.
    pub(crate) on: String,
    pub(crate) allow: Vec<RawAction>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "Action")]
pub(crate) enum RawAction {
    Select,
    Insert,
    Update,
    Delete,
    Create,
    Drop,
}

/// The JSON Schema of `weir.yaml`, with the connectors of this build.
pub fn schema() -> Value {
    let mut schema: Schema = schemars::schema_for!(RawConfig);
    if let Some(source) = schema.pointer_mut("/$defs/Source") {
        source["additionalProperties"] = json!(false);
        source["properties"]["type"]["enum"] = CONNECTORS.iter().map(|kind| kind.word).collect();
        for kind in CONNECTORS {
            for (option, meaning) in kind.options {
                source["properties"][*option] = json!({ "description": format!("{meaning} ({})", kind.word), "type": ["string", "null"] });
            }
        }
    }
    schema.to_value()
}
