// SPDX-License-Identifier: Apache-2.0
//! `weir.yaml`: the contract's example resolves, and every mistake is told with file, line, column, key and what to do.

use std::path::Path;
use weir::config::{Config, LakeCatalog, Login, Secret, parse};
use weir_base::{TableName, UserName};
use weir_policy::Action;

const FILE: &str = "/project/weir.yaml";

fn variables(name: &str) -> Option<String> {
    let value = match name {
        "APP_PG_PASSWORD" => "p@ss word",
        "BILLING_PASSWORD" => "b",
        "K" | "S" => "key",
        "ANA_PASSWORD" => "ana's",
        "ROWS" => "5000",
        _ => return None,
    };
    Some(value.to_owned())
}

fn good(text: &str) -> Config {
    parse(text, Path::new(FILE), &variables).unwrap_or_else(|problems| panic!("{problems}"))
}

/// The messages, with the file name taken off.
fn mistakes(text: &str) -> Vec<String> {
    let problems = parse(text, Path::new(FILE), &variables).expect_err("a mistake was not found");
    problems.to_string().lines().map(|line| line.strip_prefix("/project/weir.yaml:").unwrap().to_owned()).collect()
}

const CONTRACT: &str = r#"
data_dir: ./data
listen: { postgres: 127.0.0.1:5439, http: 127.0.0.1:8642, flight: 127.0.0.1:8643 }
lake:
  name: lake
  catalog: { type: sql, url: "sqlite://./data/lake/catalog.db" }   # or { type: rest, url: ..., token: ${...} }
  warehouse: "file://./data/lake"
  s3: { endpoint: "http://127.0.0.1:9000", region: us-east-1, access_key: "${K}", secret_key: "${S}", path_style: true }
sources:
  app_pg:
    type: postgres
    url: "postgres://weir_ro:${APP_PG_PASSWORD}@127.0.0.1:5433/app?sslmode=prefer"
    allow_primary: false
    limits:
      connections: 4
      statement_timeout: 30s
      rows_per_query: 2000000
      bytes_per_query: 512MiB
      queue: { max_wait: 20s, max_waiting: 200 }
      replica_lag: 60s
    tables:
      public.events: { require_filter: [created_at] }
  billing_mysql: { type: mysql, url: "mysql://weir_ro:${BILLING_PASSWORD}@127.0.0.1:3307/billing" }
auth: { mode: scram }
users:
  - { name: ana, password: "${ANA_PASSWORD}", roles: [analyst] }
roles:
  - name: analyst
    grants: [ { on: "app_pg.public.*", allow: [select] }, { on: "lake.*.*", allow: [select, insert, create] } ]
"#;

#[test]
fn limits_by_user_day_and_time() {
    let config = good(
        "sources:\n  a:\n    type: sqlite\n    url: sqlite://./a.db\n    tables: { main.t: { strict: true } }\n    limits: { connections: 4, connections_per_user: 2, \
         rows_per_day: 9, bytes_per_day: 1KiB, time_per_query: 5s, unknown_forecast: refuse }\nusers:\n  - { name: bob, password: b, roles: [late] }\nroles:\n  - { name: late, priority: low, grants: [] }\n",
    );
    let limits = &config.sources[0].limits;
    assert_eq!((limits.connections_per_user, limits.rows_per_day, limits.bytes_per_day), (Some(2), Some(9), Some(1_024)));
    assert_eq!((limits.time_per_query.map(|time| time.as_secs()), limits.unknown_forecast), (Some(5), weir_guard::UnknownForecast::Refuse));
    assert!(config.table_rules[0].strict && config.table_rules[0].require_filter.is_empty());
    assert_eq!(config.policy.principal(&UserName::new("bob")).unwrap().priority(), weir_base::Priority::Low);
}

#[test]
fn the_example_of_the_contract() {
    let config = good(CONTRACT);
    assert_eq!(config.data_dir, Path::new("/project/data"));
    assert_eq!(config.spill_dir, Path::new("/project/data/spill"));
    assert_eq!(config.listen.postgres.unwrap().to_string(), "127.0.0.1:5439");
    let lake = config.lake.as_ref().unwrap();
    assert!(matches!(&lake.catalog, LakeCatalog::Sql { url } if url == "sqlite:///project/data/lake/catalog.db"));
    assert_eq!(lake.warehouse, "file:///project/data/lake");
    assert!(lake.s3.as_ref().unwrap().path_style);
    let [app_pg, billing] = config.sources.as_slice() else { panic!("two sources were configured") };
    assert_eq!(app_pg.url, "postgres://weir_ro:p%40ss%20word@127.0.0.1:5433/app?sslmode=prefer");
    assert_eq!((app_pg.limits.rows_per_query, app_pg.limits.bytes_per_query), (Some(2_000_000), Some(512 << 20)));
    assert_eq!(app_pg.limits.replica_lag_max.map(|lag| lag.as_secs()), Some(60));
    assert_eq!((billing.limits.connections, billing.limits.rows_per_query, billing.allow_primary), (4, None, false));
    let [rule] = config.table_rules.as_slice() else { panic!("one rule was configured") };
    assert_eq!((rule.schema.as_str(), rule.table.as_str(), rule.require_filter.as_slice()), ("public", "events", ["created_at".to_owned()].as_slice()));
    let Login::Scram(users) = &config.login else { panic!("scram was configured") };
    assert!(matches!(&users[0].secret, Secret::Password(password) if password == "ana's"));
    let ana = config.policy.principal(&UserName::new("ana")).unwrap();
    assert!(ana.may(Action::Insert, &TableName::new("lake", "web", "clicks")));
    assert!(!ana.may(Action::Select, &TableName::new("billing_mysql", "billing", "payments")));
    let notes = ["listen.flight: the Flight SQL door is not in this version; nothing listens there"];
    assert_eq!(config.notes, notes);
}

#[test]
fn nothing_secret_is_ever_printed() {
    let shown = format!("{:?}", good(CONTRACT));
    for secret in ["p%40ss", "p@ss", "ana's", "\"key\""] {
        assert!(!shown.contains(secret), "{secret} in {shown}");
    }
}

#[test]
fn an_empty_file_has_every_default() {
    let config = good("");
    assert_eq!(config.data_dir, Path::new("/project/data"));
    assert_eq!(config.listen.postgres.unwrap().to_string(), "127.0.0.1:5439");
    assert_eq!(config.listen.http.unwrap().to_string(), "127.0.0.1:8642");
    assert!(config.lake.is_none() && config.sources.is_empty() && config.login == Login::Scram(vec![]));
    assert!(config.memory_limit.0 >= 16 << 20);
    let lake = good("lake:\n").lake.is_none();
    assert!(lake);
    assert_eq!(good("lake: {}").lake.unwrap().warehouse, "file:///project/data/lake");
}

#[test]
fn all_mistakes_at_once_in_the_order_of_the_file() {
    let text = r#"data_dir: ./data
lisen: { http: off }
listen:
  postgres: 5439
sources:
  app_pg:
    type: postgres
    url: "postgres://weir_ro:${MISSING}@127.0.0.1/app"
    limits:
      conections: 4
      connections: many
      statement_timeout: 30
  App: { type: sqlite, url: "sqlite://./a.db" }
users:
  - { name: ana, password: a, password_scram: b, roles: [analist] }
  - { name: ana }
roles:
  - name: analyst
    grants: [ { on: app_pgg.public.*, allow: [selct] }, { on: app_pg.public, allow: [] } ]
"#;
    let expected = [
        "2:1: lisen: unknown key; did you mean listen?",
        "4:13: listen.postgres: is not ADDRESS:PORT; write an IP address, localhost or * and a port, such as 127.0.0.1:5439, or off",
        "8:10: sources.app_pg.url: environment variable MISSING is not set",
        "10:7: sources.app_pg.limits.conections: unknown key; did you mean connections or connections_per_user?",
        "11:20: sources.app_pg.limits.connections: must be a whole number",
        "12:26: sources.app_pg.limits.statement_timeout: `30` is not a duration; write a whole number with ms, s, m, h or d, such as 30s",
        "13:8: sources.App: is not a name; write lower-case letters, digits and _, beginning with a letter",
        "15:47: users[0].password_scram: stands beside password; keep one of them",
        "15:58: users[0].roles[0]: names no role: analist; did you mean analyst?",
        "16:5: users[1]: has no password; give password (best as ${NAME}) or password_scram (from `weir password`)",
        "16:13: users[1].name: is the name of an earlier user too",
        "19:21: roles[0].grants[0].on: names no source and not the lake: app_pgg; did you mean app_pg or App?",
        "19:47: roles[0].grants[0].allow[0]: must be one of select, insert, update, delete, create, drop; did you mean select?",
        "19:63: roles[0].grants[1].on: `app_pg.public` is not a grant target; write source.schema.table, such as app_pg.public.*",
        "19:85: roles[0].grants[1].allow: is empty; name at least one action",
    ];
    let found = mistakes(text);
    assert_eq!(found.iter().map(String::as_str).collect::<Vec<_>>(), expected, "\n{}", found.join("\n"));
}

#[test]
fn structure_that_is_wrong() {
    assert_eq!(mistakes("data_dir: [a]"), ["1:11: data_dir: must be a single value, not a list"]);
    assert_eq!(mistakes("sources: here"), ["1:10: sources: must be a group of keys, not a single value"]);
    assert_eq!(mistakes("users: { ana: b }"), ["1:8: users: must be a list, not a group of keys"]);
    assert_eq!(mistakes("roles:\n  - grants: []\n"), ["2:5: roles[0].name: is missing (name of the role)"]);
    assert_eq!(mistakes("data_dir: a\ndata_dir: b"), ["2:1: data_dir: given twice, first in line 1"]);
    assert_eq!(mistakes("a: 1\n---\nb: 2"), ["2:1: a second document; write everything in one"]);
    assert!(mistakes("data_dir: [")[0].contains(": not YAML: "));
    assert!(mistakes("- a")[0].starts_with("1:1: must be a group of keys"));
}

#[test]
fn sources_that_are_wrong() {
    let source = |body: &str| mistakes(&format!("sources:\n  a:\n    {body}\n"));
    assert_eq!(source("type: clickhouse").len(), 1);
    assert!(source("type: clickhouse")[0].starts_with("3:11: sources.a.type: clickhouse is not in this version; it has "));
    assert!(source("type: postgrs")[0].ends_with("; did you mean postgres?"), "{:?}", source("type: postgrs"));
    assert_eq!(source("url: x"), ["3:5: sources.a.type: is missing (kind of system)"]);
    assert_eq!(source("type: postgres"), ["3:5: sources.a.url: is missing; write it as postgres://user:${PASSWORD}@host:5432/database?sslmode=prefer"]);
    assert_eq!(source("type: mysql"), ["3:5: sources.a.url: is missing; write mysql://user:password@host:port/database, with special characters as %XX"]);
    assert_eq!(source("type: sqlite"), ["3:5: sources.a.url: is missing; write sqlite://relative/path.db or sqlite:///absolute/path.db"]);
    assert_eq!(
        source("type: sqlite\n    url: sqlite://./a.db\n    limits: { connections: 0, rows_per_query: 0, bytes_per_query: 5MB, queue: { max_wait: 2d } }"),
        [
            "5:28: sources.a.limits.connections: must be between 1 and 1000",
            "5:47: sources.a.limits.rows_per_query: must be at least 1; leave the key out for no limit",
            "5:67: sources.a.limits.bytes_per_query: `5MB` is not a size; write a whole number with B, KiB, MiB, GiB or TiB, such as 512MiB",
            "5:91: sources.a.limits.queue.max_wait: must be between 1ms and 1h",
        ]
    );
    assert_eq!(
        source("type: sqlite\n    url: sqlite://./a.db\n    limits: { statement_timeout: 2 s, bytes_per_query: 5 MiB }"),
        [
            "5:34: sources.a.limits.statement_timeout: `2 s` has a blank in it; write 2s",
            "5:56: sources.a.limits.bytes_per_query: `5 MiB` has a blank in it; write 5MiB",
        ],
        "a duration and a size have one written form"
    );
    assert_eq!(
        source(
            "type: sqlite\n    url: sqlite://./a.db\n    limits: { connections: 2, connections_per_user: 3, rows_per_day: 0, bytes_per_day: 0B, time_per_query: 0s, unknown_forecast: maybe }"
        ),
        [
            "5:53: sources.a.limits.connections_per_user: must be between 1 and connections, which is 2",
            "5:70: sources.a.limits.rows_per_day: must be at least 1; leave the key out for no limit",
            "5:88: sources.a.limits.bytes_per_day: must be at least 1B; leave the key out for no limit",
            "5:108: sources.a.limits.time_per_query: must be between 1ms and 1d",
            "5:130: sources.a.limits.unknown_forecast: must be one of run, refuse",
        ]
    );
    let reserved = mistakes("lake: {}\nsources:\n  system: { type: sqlite, url: 'sqlite://./a.db' }\n  lake: { type: sqlite, url: 'sqlite://./a.db' }\n");
    assert_eq!(
        reserved,
        [
            "3:11: sources.system: is reserved, as are system, information_schema, pg_catalog, weir",
            "4:9: sources.lake: is the name of the lake too; rename one of them",
        ]
    );
    assert!(source("type: sqlite\n    url: sqlite://./a.db\n    tables: { events: {} }")[0].ends_with("write schema.table"));
}

#[test]
fn open_is_for_loopback_only() {
    assert_eq!(good("auth: { mode: open }").login, Login::Open);
    let found = mistakes("auth: { mode: open }\nlisten: { http: '*:8642' }");
    assert!(found[0].starts_with("2:17: listen.http: is reachable from other machines"), "{found:?}");
    assert_eq!(good("auth: { mode: open }\nlisten: { http: off, postgres: 'localhost:0' }").listen.http, None);
    assert!(mistakes("auth: { tokens: { jwt: x } }")[0].contains("auth.tokens: is not in this version yet"));
}

#[test]
fn values_keep_their_text_and_numbers_may_come_from_variables() {
    let config =
        good("sources:\n  a: { type: sqlite, url: 'sqlite://./a.db', limits: { rows_per_query: '${ROWS}' } }\nusers:\n  - { name: '007', password: 0123 }\n");
    assert_eq!(config.sources[0].limits.rows_per_query, Some(5000));
    assert_eq!(config.sources[0].url, "sqlite:///project/a.db");
    let Login::Scram(users) = &config.login else { panic!("scram is the default") };
    assert!(users[0].name == UserName::new("007") && users[0].secret == Secret::Password("0123".into()));
}

#[test]
fn aliases_cannot_blow_up() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..20 {
        let items = vec![format!("*a{}", level - 1); 10].join(", ");
        text.push_str(&format!("a{level}: &a{level} [{items}]\n"));
    }
    let found = mistakes(&text);
    assert!(found.iter().any(|line| line.ends_with("too large or too deeply nested for a configuration")), "{found:?}");
    let deep = format!("a: {}1{}", "[".repeat(500), "]".repeat(500));
    assert!(!mistakes(&deep).is_empty());
    let shared = "x: &limits { connections: 2 }\n";
    assert!(mistakes(shared)[0].contains("x: unknown key"));
    let reused = good(
        "sources:\n  a: { type: sqlite, url: 'sqlite://./a.db', limits: &l { connections: 2 } }\n  b: { type: sqlite, url: 'sqlite://./b.db', limits: *l }\n",
    );
    assert_eq!(reused.sources[1].limits.connections, 2);
}

#[test]
fn the_schema_comes_from_the_same_structs() {
    let schema = weir::config::schema();
    assert_eq!(schema["additionalProperties"], false);
    let words: Vec<&str> = schema["$defs"]["Source"]["properties"]["type"]["enum"].as_array().unwrap().iter().filter_map(|word| word.as_str()).collect();
    assert_eq!(words, weir_source::CONNECTORS.iter().map(|kind| kind.word).collect::<Vec<_>>());
    assert_eq!(schema["$defs"]["Limits"]["properties"]["statement_timeout"]["description"], "Longest time one statement may run in the source. Default: 30s");
}
