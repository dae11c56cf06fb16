// SPDX-License-Identifier: Apache-2.0
//! psql, as people use it: its backslash commands, scripts, variables and exit codes.

use super::ground;
use crate::kit::eventually;
use std::process::Stdio;
use weir_api::QueryService;

#[tokio::test(flavor = "multi_thread")]
async fn backslash_commands() {
    let (_world, doors, _file) = ground::open().await;
    let said = doors.psql("\\pset format unaligned\n\\pset footer off\n\\dt\n").await;
    let tables = "List of relations
Schema|Name|Type|Owner
app_pg.Odd Schema|Mixed Case|table|weir
app_pg.public|customers|table|weir
app_pg.public|events|table|weir
billing_mysql.billing|payments|table|weir
desk.main|notes|table|weir
lake.web|visits|table|weir\n";
    assert_eq!(said, tables);
    let described = doors.psql("\\pset format unaligned\n\\pset footer off\n\\d \"app_pg.public\".customers\n").await;
    let columns = "Table \"app_pg.public.customers\"
Column|Type|Collation|Nullable|Default
id|integer||not null|
email|text||not null|
plan|text|||
balance|numeric(12,2)|||
signed_up|timestamp with time zone|||
tags|text[]|||
note|text|||\n";
    assert_eq!(described, columns);
    let lists = doors.psql("\\pset format unaligned\n\\pset footer off\n\\l\n\\dn\n\\du\n\\dv \"app_pg.public\".*\n\\df\n").await;
    for line in [
        "billing_mysql|weir|UTF8|C|C||libc|",
        "lake.web|weir",
        "local||{}",
        "app_pg.public|paying|view|weir",
        "Schema|Name|Result data type|Argument data types|Type",
    ] {
        assert!(lists.lines().any(|said| said == line), "{line} is not in\n{lists}");
    }
}

/// Each of these asks the catalog something else; none may fail.
#[tokio::test(flavor = "multi_thread")]
async fn every_command_is_answered() {
    let (_world, doors, _file) = ground::open().await;
    let commands = "d+ \"app_pg.public\".customers|d pg_class|dt+|dt *.*|dn+|l+|dp|dT|di|ds|dm|dx|db|dD|dC|ddp|dy|dRp|des|dF|dL|do|da|dA|dX|dE|dconfig|conninfo|d *.*|d+|dt+ *.*|dv|di *.*|dm+|ds+|dd *.*|dC+|dD+|dE+|dT+|dO|dS+|dx|dX+|do+|da+|\
         dAc|dAf|dAo|dAp|df+ *|df lower|sf lower|sf+ abs|sv \"app_pg.public\".paying|dFd|dFp|dFt|dP+|dPi|deu|det|dew|dl|drds|dg+|du+|dp *.*|z|encoding|dconfig+ *|dRs";
    for command in commands.split('|') {
        let finished = doors.psql_in("weir", &["-v", "ON_ERROR_STOP=1"], &format!("\\{command}\n")).await;
        assert!(finished.success && !finished.output.contains("ERROR"), "\\{command}\n{}", finished.output);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_listed_twice() {
    let (_world, doors, _file) = ground::open().await;
    for database in ["weir", "app_pg"] {
        for command in ["\\dt *.*", "\\dv *.*", "\\dn *", "\\l", "\\du"] {
            let listed = doors.psql_in(database, &["-At", "-c", command], "").await.output;
            let names: Vec<&str> = listed.lines().filter(|line| !line.is_empty()).collect();
            let distinct: std::collections::BTreeSet<&str> = names.iter().copied().collect();
            assert!(!names.is_empty() && names.len() == distinct.len(), "{command} in {database}\n{listed}");
        }
    }
}

/// What psql asks when Tab is pressed; a question that fails offers nothing, and psql does not say so.
#[tokio::test(flavor = "multi_thread")]
async fn tab_is_answered() {
    let (_world, doors, _file) = ground::open().await;
    let asked = [
        "SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'S', 'v', 'm', 'f', 'p') AND (c.relname) LIKE 'cus%'
            AND pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <> (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'pg_catalog')
            UNION ALL SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE 'cus%' AND n.nspname NOT LIKE E'pg\\\\_%' LIMIT 1000",
        "SELECT a.attname FROM pg_catalog.pg_attribute a, pg_catalog.pg_class c WHERE c.oid = a.attrelid AND a.attnum > 0 AND NOT a.attisdropped
            AND (a.attname) LIKE 'cust%' AND c.relname = 'events' AND pg_catalog.pg_table_is_visible(c.oid) LIMIT 1000",
        "SELECT channel FROM pg_catalog.pg_listening_channels() AS channel WHERE channel LIKE '%' LIMIT 1000",
        "SELECT pg_catalog.quote_literal(name) AS name FROM pg_catalog.pg_timezone_names() WHERE pg_catalog.lower(name) LIKE pg_catalog.lower('%') LIMIT 1000",
    ];
    let mut found = Vec::new();
    for sql in asked {
        let finished = doors.psql_in("app_pg", &["-At", "-v", "ON_ERROR_STOP=1", "-c", sql], "").await;
        assert!(finished.success, "{sql}\n{}", finished.output);
        found.push(finished.output);
    }
    assert_eq!(found, ["customers|\n", "customer_id\n", "", ""]);
}

#[tokio::test(flavor = "multi_thread")]
async fn scripts() {
    let (_world, doors, _file) = ground::open().await;
    let script = "\\copy (select id, note from app_pg.public.customers order by id) to stdout csv header
select count(*) as n, max(id) as m from app_pg.public.events \\gset got_
\\echo :got_n :got_m
\\set who ana
\\pset format unaligned
\\pset tuples_only on
select id from app_pg.public.customers where email like :'who' || '%';
\\c app_pg
select current_database(), current_schema(), count(*) from customers;
select \"The Id\" from \"Odd Schema\".\"Mixed Case\";\n";
    assert_eq!(doors.psql(script).await, "id,note\n1,first\n2,\n3,\"it's; \"\"quoted\"\"\"\n1000 1000\n1\napp_pg|public|3\n7\n");

    let stopped = doors
        .psql_in("weir", &["-1", "-At", "-v", "ON_ERROR_STOP=1", "-c", "select 1", "-c", "select * from app_pg.public.costumers", "-c", "select 2"], "")
        .await;
    let error = "1\nERROR:  table app_pg.public.costumers does not exist\nHINT:  did you mean app_pg.public.customers";
    assert!(!stopped.success && stopped.output.starts_with(error) && !stopped.output.contains("\n2\n"), "{}", stopped.output);
    let several = doors.psql_in("weir", &["-At", "-c", "select 1; select 2"], "").await;
    assert_eq!(several.output, "1\n2\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn databases_at_login() {
    let (_world, doors, _file) = ground::open().await;
    let at = async |database: &str| doors.psql_in(database, &["-At", "-c", "select current_database()"], "").await;
    for (asked, entered) in [("weir", "weir\n"), ("local", "weir\n"), ("desk", "desk\n"), ("lake", "lake\n")] {
        assert_eq!(at(asked).await.output, entered);
    }
    let unknown = at("apppg").await;
    assert!(!unknown.success && unknown.output.contains("FATAL:  database apppg does not exist\nHINT:  did you mean app_pg?"), "{}", unknown.output);
}

/// Ctrl-C in psql is an interrupt, which it turns into a cancel request.
#[tokio::test(flavor = "multi_thread")]
async fn control_c_cancels() {
    let (world, doors, _file) = ground::open().await;
    let mut command = doors.psql_command("local", "weir", &["-v", "VERBOSITY=verbose", "-c", ground::SLOW]);
    let client = command.stdin(Stdio::null()).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let running = "SELECT count(*) FROM system.queries WHERE state = 'running' AND door = 'postgres'";
    eventually("the query runs", async || world.value(running).await == "1").await;
    let interrupted = tokio::process::Command::new("kill").args(["-INT", &client.id().unwrap().to_string()]).status().await.unwrap();
    assert!(interrupted.success());
    let output = client.wait_with_output().await.unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("57014"), "{said}");
    eventually("nothing runs", async || world.value(running).await == "0").await;
    assert!(world.engine.readiness().await.ready);
}
