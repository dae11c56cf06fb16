// SPDX-License-Identifier: Apache-2.0
//! The binary as a user meets it: output, exit codes, two processes on one data directory, a server and its clients.

mod project;

use project::{Project, Ran};
use std::io::Read;

const OPEN: &str = "auth: { mode: open }\nlisten: { postgres: '127.0.0.1:0', http: '127.0.0.1:0' }\nlake: {}\nsources:\n  crm: { type: sqlite, url: 'sqlite://./crm.db', limits: { rows_per_query: 1000 } }\n";

async fn open_project() -> Project {
    let project = Project::new(OPEN);
    project
        .sqlite(
            "crm.db",
            &[
                "CREATE TABLE accounts (id INTEGER NOT NULL, name TEXT, region TEXT)",
                "INSERT INTO accounts VALUES (1, 'Ána', 'EU'), (2, NULL, 'US'), (3, 'Bo, \"the\" third', 'EU')",
                "CREATE TABLE many AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i FROM n",
            ],
        )
        .await;
    project
}

#[test]
fn help_teaches_and_mistakes_are_met_with_suggestions() {
    let project = Project::new(OPEN);
    let help = project.weir(&["--help"]);
    assert_eq!(help.code, 0);
    for part in ["weir sql \"SELECT", "serve", "Exit codes: 0 ok", "--config"] {
        assert!(help.out.contains(part), "{part} is not in\n{}", help.out);
    }
    let typo = project.weir(&["srve"]);
    assert_eq!(typo.code, 2);
    assert!(typo.err.contains("serve"), "{}", typo.err);
    assert_eq!(project.weir(&["sql", "--format", "xml", "SELECT 1"]).code, 2);
    assert_eq!(project.weir(&["sql", "--set", "novalue", "SELECT 1"]).code, 2);
}

#[test]
fn version_names_what_it_is_built_on() {
    let ran = Project::new("").weir(&["version"]);
    assert_eq!(ran.code, 0);
    assert!(ran.out.starts_with(&format!("weir {} (", env!("CARGO_PKG_VERSION"))), "{}", ran.out);
    assert!(ran.out.contains("arrow 58.") && ran.out.contains("datafusion 54.") && ran.out.contains("sqlite"), "{}", ran.out);
}

#[test]
fn check_tells_every_mistake_and_exits_with_2() {
    let project = Project::new("lisen: {}\ndata_dir: [x]\n");
    let ran = project.weir(&["check"]);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""));
    let expected = "error: configuration has 2 mistakes\n  weir.yaml:1:1: lisen: unknown key; did you mean listen?\n  weir.yaml:2:11: data_dir: must be a single value, not a list\n";
    assert_eq!(ran.err, expected);

    let right = Project::new(OPEN);
    let ran = right.weir(&["check"]);
    assert_eq!(ran.code, 0);
    assert_eq!(ran.out, format!("{} is right: 1 source (crm), lake lake, open to everyone on this machine\n", right.path("weir.yaml").display()));

    let nowhere = Project::new("");
    std::fs::remove_file(nowhere.path("weir.yaml")).unwrap();
    let ran = nowhere.weir(&["check"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.starts_with("error: no weir.yaml in this folder or above it\n"), "{}", ran.err);
}

#[test]
fn schema_is_json_and_needs_no_configuration() {
    let nowhere = Project::new("");
    std::fs::remove_file(nowhere.path("weir.yaml")).unwrap();
    let ran = nowhere.weir(&["check", "--schema"]);
    let schema: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(schema["title"], "weir.yaml");
    assert!(schema["properties"]["sources"].is_object());
}

#[test]
fn password_prints_a_verifier_that_a_configuration_takes() {
    let made = Project::new("").weir_with_input(&["password"], "hunter2\n");
    assert_eq!(made.code, 0);
    let verifier = made.out.trim();
    assert!(weir_server::Verifier::parse(verifier).unwrap().matches("hunter2"));
    let project = Project::new(&format!("users:\n  - {{ name: ana, password_scram: '{verifier}' }}\n"));
    assert_eq!(project.weir(&["check"]).code, 0);
    assert_eq!(Project::new("").weir_with_input(&["password"], "\n").code, 2);
}

#[tokio::test]
async fn sql_in_every_format() {
    let project = open_project().await;
    let question = "SELECT id, name FROM crm.main.accounts ORDER BY id";
    let table = project.weir(&["sql", question]);
    assert_eq!(
        (table.code, table.out.as_str()),
        (0, " id |      name       \n----+-----------------\n  1 | Ána\n  2 | \n  3 | Bo, \"the\" third\n(3 rows)\n"),
        "{}",
        table.err
    );
    let footer: Vec<&str> = table.err.lines().collect();
    assert!(footer[0].starts_with("as of 20") && footer[0].contains(" · crm 3 rows"), "{}", table.err);
    assert!(footer[1].starts_with("query ") && footer.len() == 2, "{}", table.err);

    let csv = project.weir(&["sql", "-q", "--format", "csv", "--null", "NULL", question]);
    assert_eq!((csv.out.as_str(), csv.err.as_str()), ("id,name\n1,Ána\n2,NULL\n3,\"Bo, \"\"the\"\" third\"\n", ""));
    let json = project.weir(&["sql", "-q", "--format", "json", question]);
    let rows: serde_json::Value = serde_json::from_str(&json.out).unwrap();
    assert_eq!(rows, serde_json::json!([{ "id": 1, "name": "Ána" }, { "id": 2, "name": null }, { "id": 3, "name": "Bo, \"the\" third" }]));
    let expanded = project.weir(&["sql", "-qx", "SELECT 1 AS a, 'b' AS text"]);
    assert_eq!(expanded.out, "-[ RECORD 1 ]\na    | 1\ntext | b\n");

    let file = project.path("out.parquet");
    assert_eq!(project.weir(&["sql", "-q", "--format", "parquet", "-o", file.to_str().unwrap(), question]).code, 0);
    let reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(std::fs::File::open(&file).unwrap()).unwrap().build().unwrap();
    assert_eq!(reader.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 3);
    let stream = project.path("out.arrow");
    assert_eq!(project.weir(&["sql", "-q", "--format", "arrow", "-o", stream.to_str().unwrap(), question]).code, 0);
    let reader = arrow::ipc::reader::StreamReader::try_new(std::fs::File::open(&stream).unwrap(), None).unwrap();
    assert_eq!(reader.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 3);
}

#[tokio::test]
async fn sql_from_files_and_standard_input() {
    let project = open_project().await;
    let piped = project.weir_with_input(&["sql", "-q"], "SELECT 1 AS a; -- one\nSELECT ';' AS b;\n");
    assert_eq!((piped.code, piped.out.as_str()), (0, " a \n---\n 1\n(1 row)\n b \n---\n ;\n(1 row)\n"), "{}", piped.err);
    std::fs::write(project.path("q.sql"), "SET timezone = 'Europe/Berlin';\nSELECT TIMESTAMPTZ '2026-07-01 00:00:00Z' AS at").unwrap();
    let file = project.weir(&["sql", "-q", "--format", "csv", "-f", project.path("q.sql").to_str().unwrap()]);
    assert_eq!((file.code, file.out.as_str(), file.err.as_str()), (0, "at\n2026-07-01 02:00:00+02\n", "SET\n"));
    assert_eq!(project.weir_with_input(&["sql", "-q"], " -- nothing\n").code, 1);
}

#[tokio::test]
async fn failures_have_their_exit_codes_and_leave_no_file() {
    let project = open_project().await;
    let wrong = project.weir(&["sql", "SELEC 1"]);
    assert_eq!((wrong.code, wrong.out.as_str()), (1, ""));
    let unknown = project.weir(&["sql", "SELECT * FROM crm.main.acounts"]);
    assert_eq!(unknown.code, 1);
    assert!(unknown.err.contains("accounts"), "no near name in {}", unknown.err);
    let target = project.path("big.csv");
    let over = project.weir(&["sql", "--format", "csv", "-o", target.to_str().unwrap(), "SELECT * FROM crm.main.many"]);
    assert_eq!(over.code, 3, "{}", over.err);
    assert!(over.err.contains("budget") && !target.exists(), "{}", over.err);
    let left: Vec<String> = std::fs::read_dir(project.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("part"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(project.weir(&["sql", "-q", "--set", "weir.pushdwn=off", "SELECT 1"]).code, 1);
}

#[tokio::test]
async fn plan_is_text_or_json() {
    let project = open_project().await;
    let question = "SELECT name FROM crm.main.accounts WHERE id = 2";
    let text = project.weir(&["plan", question]);
    assert_eq!(text.code, 0, "{}", text.err);
    assert!(text.out.contains("placement   crm.main.accounts  live") && text.out.contains("\nfragment 1  crm  SELECT "), "{}", text.out);
    let json: serde_json::Value = serde_json::from_str(&project.weir(&["plan", "--json", question]).out).unwrap();
    assert_eq!((&json["verdict"], &json["sources"][0]["source"]), (&"run".into(), &"crm".into()));
    assert_eq!(project.weir(&["plan", "SELECT 1; SELECT 2"]).code, 1);
    assert_eq!(project.weir(&["plan"]).code, 2);
}

#[tokio::test]
async fn check_connect_looks_at_every_source() {
    let project = open_project().await;
    let good = project.weir(&["check", "--connect"]);
    assert_eq!(good.code, 0, "{}\n{}", good.out, good.err);
    assert!(good.out.contains(" crm ") && good.out.contains(" SQLite ") && good.out.contains(" t "), "{}", good.out);

    let half = Project::new(&format!("{OPEN}  gone: {{ type: sqlite, url: 'sqlite://./gone.db' }}\n"));
    half.sqlite("crm.db", &["CREATE TABLE accounts (id INTEGER)"]).await;
    let ran = half.weir(&["check", "--connect"]);
    assert_eq!(ran.code, 1, "{}", ran.out);
    assert!(ran.out.lines().any(|line| line.starts_with("gone: ")), "{}", ran.out);
    let json: serde_json::Value = serde_json::from_str(&half.weir(&["check", "--connect", "--json"]).out).unwrap();
    assert_eq!((&json[0]["reachable"], &json[0]["tables"], &json[1]["reachable"]), (&true.into(), &1.into(), &false.into()));
}

#[tokio::test]
async fn users_and_rights() {
    let project = Project::new(
        "sources:\n  crm: { type: sqlite, url: 'sqlite://./crm.db' }\nusers:\n  - { name: ana, password: \"${ANA}\", roles: [reader] }\n  - { name: eve, password: e }\nroles:\n  - { name: reader, grants: [ { on: 'crm.*.*', allow: [select] } ] }\n",
    );
    project.sqlite("crm.db", &["CREATE TABLE accounts (id INTEGER)", "INSERT INTO accounts VALUES (7)"]).await;
    let question = "SELECT id FROM crm.main.accounts";
    let missing = project.weir(&["check"]);
    assert!(missing.err.contains("weir.yaml:4:28: users[0].password: environment variable ANA is not set"), "{}", missing.err);
    let project = project.with_variable("ANA", "secret");
    assert_eq!(project.weir(&["sql", question]).err.lines().next(), Some("error: who asks is not said"));
    assert_eq!(project.weir(&["sql", "-U", "anna", question]).code, 2);
    assert_eq!(project.weir(&["sql", "-q", "-U", "ana", "--format", "csv", question]).out, "id\n7\n");
    let denied = project.weir(&["sql", "-U", "eve", question]);
    assert!(denied.code == 3 || denied.code == 1, "{}", denied.err);
    assert!(!denied.out.contains('7'), "{}", denied.out);
}

#[tokio::test]
async fn a_server_and_its_clients() {
    let project = open_project().await;
    let mut server = project.serve();
    let http = server.http();
    let ready = project::get(&format!("{http}/readyz")).await;
    assert_eq!(ready.0, 200, "{}", ready.1);

    let second = project.weir(&["serve"]);
    assert_eq!(second.code, 2);
    assert!(second.err.contains("data directory is in use by another weir") && second.err.contains(&http), "{}", second.err);

    let question = "SELECT id, name FROM crm.main.accounts WHERE region = 'EU' ORDER BY id";
    let through = project.weir(&["sql", question]);
    assert_eq!(
        (through.code, through.out.as_str()),
        (0, " id |      name       \n----+-----------------\n  1 | Ána\n  3 | Bo, \"the\" third\n(2 rows)\n"),
        "{}",
        through.err
    );
    assert!(through.err.contains(" · crm 2 rows"), "no receipt in {}", through.err);
    assert_eq!(project.weir(&["sql", "SELECT * FROM crm.main.acounts"]).code, 1);
    assert_eq!(project.weir(&["sql", "-q", "--format", "csv", "SELECT * FROM crm.main.many"]).code, 3);
    let settings = project
        .weir_with_input(&["sql", "-q", "--format", "csv", "--set", "weir.pushdown=off"], "SHOW weir.pushdown; SET timezone TO 'Asia/Tokyo'; SHOW timezone");
    assert!(settings.out.contains("off") && settings.out.contains("Asia/Tokyo"), "{}{}", settings.out, settings.err);
    let plan = project.weir(&["plan", question]);
    assert!(plan.code == 0 && plan.out.contains("\nfragment 1  crm  SELECT "), "{}{}", plan.out, plan.err);
    let sources = project.weir(&["sources"]).out;
    assert!(sources.contains("|    version    |") && sources.contains("| SQLite ") && sources.contains(" of 4 "), "{sources}");
    let looked = project.weir(&["check", "--connect"]);
    assert!(looked.code == 0 && looked.out.contains(" SQLite ") && looked.err.contains(&http), "{}{}", looked.out, looked.err);
    let json: serde_json::Value = serde_json::from_str(&project.weir(&["check", "--connect", "--json"]).out).unwrap();
    assert_eq!((&json[0]["reachable"], &json[0]["role"], &json[0]["round_trip_ms"]), (&true.into(), &"n/a".into(), &serde_json::Value::Null));
    let written = project.weir(&["sql", "DELETE FROM crm.main.accounts"]);
    assert!(written.code == 1 && written.err.starts_with("error 25006: source crm is read-only\n"), "{}", written.err);
    let listed = project.weir_with_input(&["sql", "-q", "--format", "csv"], "SELECT 7 = ANY(ARRAY[7, 8]) AS among");
    assert_eq!(listed.out, "among\nt\n", "{}", listed.err);

    server.terminate();
    let mut rest = String::new();
    server.stdout().read_to_string(&mut rest).unwrap();
    assert_eq!(server.wait(), 0);
    let log: Ran = project.weir(&["sql", "-q", "--format", "csv", "SELECT count(*) AS n FROM system.queries WHERE door = 'http' AND state = 'finished'"]);
    assert!(log.out.starts_with("n\n") && log.out != "n\n0\n", "the log of the server is not in the store: {}{}", log.out, log.err);
}

#[tokio::test]
async fn a_server_with_users_asks_for_the_password() {
    let project = Project::new(
        "listen: { postgres: '127.0.0.1:0', http: '127.0.0.1:0' }\nsources:\n  crm: { type: sqlite, url: 'sqlite://./crm.db' }\nusers:\n  - { name: ana, password: s3cret, roles: [reader] }\nroles:\n  - { name: reader, grants: [ { on: 'crm.*.*', allow: [select] } ] }\n",
    );
    project.sqlite("crm.db", &["CREATE TABLE accounts (id INTEGER)", "INSERT INTO accounts VALUES (7)"]).await;
    let _server = project.serve();
    let question = ["sql", "-q", "-U", "ana", "--format", "csv", "SELECT id FROM crm.main.accounts"];
    let without = project.weir(&question);
    assert_eq!((without.code, without.err.lines().next()), (2, Some("error: password is not given")));
    let project = project.with_variable("WEIR_PASSWORD", "wrong");
    let wrong = project.weir(&question);
    assert!(wrong.code == 1 && wrong.out.is_empty(), "{}{}", wrong.out, wrong.err);
    let project = project.with_variable("WEIR_PASSWORD", "s3cret");
    let right = project.weir(&question);
    assert_eq!((right.code, right.out.as_str()), (0, "id\n7\n"), "{}", right.err);
    assert_eq!(project.weir(&["check", "--connect"]).code, 2, "the server answers no stranger, and holds the sessions");
    let looked = project.weir(&["check", "--connect", "-U", "ana"]);
    assert_eq!(looked.code, 0, "{}{}", looked.out, looked.err);
}

/// The account may have one session, which is the server's: the check gets by without a second one.
#[tokio::test(flavor = "multi_thread")]
async fn a_check_beside_a_server_stays_under_the_cap() {
    let postgres = weir_sandbox::Postgres::start().await.unwrap();
    postgres.run("app", "CREATE TABLE t (id int); CREATE ROLE one LOGIN PASSWORD 'one' CONNECTION LIMIT 1; GRANT SELECT ON t TO one;").await.unwrap();
    let project = Project::new(&format!(
        "auth: {{ mode: open }}\nlisten: {{ postgres: '127.0.0.1:0', http: '127.0.0.1:0' }}\nsources:\n  app: {{ type: postgres, url: '{}', allow_primary: true, limits: {{ connections: 1 }} }}\n",
        postgres.url_as("one", "one", "app")
    ));
    let _server = project.serve();
    assert_eq!(project.weir(&["sql", "-q", "--format", "csv", "SELECT count(*) AS n FROM app.public.t"]).out, "n\n0\n");
    assert_eq!(postgres.query("app", "SELECT count(*) FROM pg_stat_activity WHERE usename = 'one'").await.unwrap().trim(), "1");
    let looked = project.weir(&["check", "--connect"]);
    assert!(looked.code == 0 && looked.out.contains(" primary ") && looked.out.contains(" read-only "), "{}{}", looked.out, looked.err);
}

/// The first signal lets a running query finish; the second one does not wait for it.
#[tokio::test]
async fn a_second_ctrl_c_ends_the_server_at_once() {
    let project = open_project().await;
    let mut server = project.serve();
    let asking = project.spawn(&["sql", "-q", "SELECT count(*) FROM generate_series(1, 900000000000) WHERE value % 7 = 3"]);
    let running = "SELECT state FROM system.queries WHERE sql LIKE '%900000000000%' AND sql NOT LIKE '%system%'";
    project::until("the query runs", || project.weir(&["sql", "-q", "--format", "csv", running]).out == "state\nrunning\n");
    let address = server.http().trim_start_matches("http://").to_owned();
    server.interrupt();
    project::until("the doors close", || std::net::TcpStream::connect(&address).is_err());
    server.interrupt();
    assert_eq!(server.wait(), 1, "0 would be an end in order");
    let ran = asking.finish();
    assert_eq!((ran.code, ran.out.as_str()), (1, ""), "{}", ran.err);
    let free = project.weir(&["sql", "-q", "--format", "csv", "SELECT count(*) FROM crm.main.accounts"]);
    assert_eq!(free.code, 0, "the data directory is free again: {}", free.err);
}

/// The running query is waited for in the server's own list, and so is its end.
#[tokio::test]
async fn ctrl_c_ends_the_query_in_the_server_too() {
    let project = open_project().await;
    let _server = project.serve();
    let endless = "SELECT count(*) FROM generate_series(1, 900000000000) WHERE value % 7 = 3";
    let asking = project.spawn(&["sql", "-q", endless]);
    let state = |project: &Project| {
        let question = "SELECT state FROM system.queries WHERE sql LIKE '%900000000000%' AND sql NOT LIKE '%system%'";
        project.weir(&["sql", "-q", "--format", "csv", question]).out
    };
    project::until("the query runs", || state(&project) == "state\nrunning\n");
    asking.interrupt();
    let ran = asking.finish();
    assert_eq!((ran.code, ran.out.as_str()), (1, ""));
    assert!(ran.err.starts_with("error 57014: query was cancelled\n"), "{}", ran.err);
    project::until("the query is cancelled", || state(&project) == "state\ncancelled\n");
}

/// A trillion pairs on all cores of the server, with and without a key: whoever asks meanwhile has an answer before the first has one.
#[tokio::test]
async fn a_heavy_join_stops_nobody_else() {
    let project = open_project().await;
    let _server = project.serve();
    let (a, b) = ("generate_series(1, 1000000) a(x)", "generate_series(1, 1000000) b(y)");
    for (mark, condition) in [(41, "x + y < -41"), (42, "x % 2 = y % 2 AND x + y < -42")] {
        let heavy = project.spawn(&["sql", "-q", &format!("SELECT count(*) FROM {a} JOIN {b} ON {condition}")]);
        let question = format!("SELECT state FROM system.queries WHERE sql LIKE '%< -{mark}%' AND sql NOT LIKE '%system%'");
        let state = || project.weir(&["sql", "-q", "--format", "csv", &question]).out;
        project::until("it computes", || state() == "state\nrunning\n");
        let beside = project.weir(&["sql", "-q", "--format", "csv", "SELECT count(*) AS n FROM crm.main.accounts"]);
        assert_eq!((beside.code, beside.out.as_str()), (0, "n\n3\n"), "{}", beside.err);
        assert_eq!(state(), "state\nrunning\n", "{condition} still computes");
        heavy.interrupt();
        let ran = heavy.finish();
        assert!(ran.code == 1 && ran.err.starts_with("error 57014: query was cancelled\n"), "{}", ran.err);
    }
}
