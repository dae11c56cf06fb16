// SPDX-License-Identifier: Apache-2.0
//! `weir demo --once` from outside: its three answers against answers computed from the marketplace itself, its exit code, and
//! that nothing of it is left.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};
use weir::demo::market::Market;
use weir_base::Timestamp;

const SCALE: f64 = 0.05;
const DAY: i64 = 86_400_000_000;

/// Runs the demo with all of its files below `folder`.
fn demo(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_weir")).arg("demo").args(arguments).env("TMPDIR", folder).stdin(Stdio::null()).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Processes whose command line names the folder.
fn processes_in(folder: &Path) -> Vec<String> {
    let needle = folder.display().to_string();
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let commands = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    commands.map(|command| String::from_utf8_lossy(&command).replace('\0', " ")).filter(|command| command.contains(&needle)).collect()
}

/// The rows below `--- answer` of a question, cell by cell.
fn rows(out: &str, question: usize) -> Vec<Vec<String>> {
    let section = out.split(&format!("=== Question {question}.")).nth(1).unwrap();
    let section = section.split("\n=== ").next().unwrap();
    let answer = section.split("--- answer\n").nth(1).unwrap();
    let lines = answer.lines().skip(2).take_while(|line| !line.starts_with('('));
    lines.map(|line| line.split('|').map(|cell| cell.trim().to_owned()).collect()).collect()
}

/// The marketplace that the demo says it loaded.
fn market(out: &str) -> Market {
    let line = out.lines().find(|line| line.starts_with("A marketplace of")).unwrap();
    let now = line.split("as of ").nth(1).unwrap().trim_end_matches(':');
    let now: Timestamp = serde_json::from_value(serde_json::Value::String(now.into())).unwrap();
    Market::new(SCALE, now).unwrap()
}

fn close(printed: &str, expected: f64, within: f64) -> bool {
    (printed.parse::<f64>().unwrap() - expected).abs() <= within
}

fn correlation(pairs: &[(f64, f64)]) -> f64 {
    let count = pairs.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|pair| pair.0), mean(|pair| pair.1));
    let sum = |of: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>();
    let covariance = sum(&|pair| (pair.0 - x) * (pair.1 - y));
    covariance / (sum(&|pair| (pair.0 - x).powi(2)) * sum(&|pair| (pair.1 - y).powi(2))).sqrt()
}

fn check_engagement(market: &Market, rows: &[Vec<String>]) {
    let mut events: BTreeMap<u64, f64> = BTreeMap::new();
    for click in market.clicks().filter(|click| click.event_time >= market.quarter().micros()) {
        if let Some(customer) = click.customer_id {
            *events.entry(customer).or_default() += 1.0;
        }
    }
    let mut earned: BTreeMap<u64, f64> = BTreeMap::new();
    let first_day = (market.quarter().micros() / DAY) as i32;
    for month in market.revenue().into_iter().filter(|month| month.month >= first_day) {
        *earned.entry(month.customer_id).or_default() += month.net_cents() as f64 / 100.0;
    }
    let mut groups: BTreeMap<bool, Vec<(f64, f64)>> = BTreeMap::new();
    for customer in market.customers().filter(|customer| customer.signed_up_at >= market.quarter().micros()) {
        let of = |map: &BTreeMap<u64, f64>| map.get(&customer.customer_id).copied().unwrap_or(0.0);
        groups.entry(customer.good_standing).or_default().push((of(&events), of(&earned)));
    }
    assert_eq!(rows.len(), 2);
    for (row, (standing, word)) in rows.iter().zip([(true, "t"), (false, "f")]) {
        let pairs = &groups[&standing];
        let count = pairs.len() as f64;
        assert_eq!((row[0].as_str(), row[1].parse::<usize>().unwrap()), (word, pairs.len()));
        assert!(close(&row[2], pairs.iter().map(|pair| pair.0).sum::<f64>() / count, 0.051), "{row:?}");
        assert!(close(&row[3], pairs.iter().map(|pair| pair.1).sum::<f64>() / count, 0.0051), "{row:?}");
        assert!(close(&row[4], correlation(pairs), 0.00051), "{row:?} is not {}", correlation(pairs));
    }
}

fn check_failed_payments(market: &Market, rows: &[Vec<String>]) {
    let week = (market.now().micros().div_euclid(DAY) - 7) * DAY;
    let mut expected = Vec::new();
    let failed: Vec<_> = market.payments().filter(|payment| payment.status == "failed" && payment.attempted_at >= week).collect();
    let open: Vec<_> = market.tickets().filter(|ticket| ticket.status == "open").collect();
    for customer in market.customers() {
        let payments = failed.iter().filter(|payment| customer.billing_ref.as_ref() == Some(&payment.customer_ref));
        for payment in payments {
            for ticket in open.iter().filter(|ticket| customer.email.is_some() && ticket.customer_email == customer.email) {
                let reason = payment.failure_reason.unwrap_or("∅");
                let email = customer.email.clone().unwrap();
                expected.push(vec![customer.customer_id.to_string(), email, ticket.ticket_id.to_string(), reason.to_owned()]);
            }
        }
    }
    let mut rows = rows.to_vec();
    rows.sort();
    expected.sort();
    assert!((2..=12).contains(&expected.len()), "{}", expected.len());
    assert_eq!(rows, expected);
}

fn check_dashboard(market: &Market, rows: &[Vec<String>]) {
    let since = (market.now().micros().div_euclid(DAY) - 2) * DAY;
    let mut expected: BTreeMap<(i64, u64), (u32, u32, f64)> = BTreeMap::new();
    for click in market.clicks().filter(|click| click.seller_id == 7 && click.event_type == "click" && click.event_time >= since) {
        expected.entry((click.event_time / DAY, click.campaign_id)).or_default().0 += 1;
    }
    for order in market.orders().filter(|order| order.seller_id == 7 && order.ordered_at >= since) {
        if let Some(day) = expected.get_mut(&(order.ordered_at / DAY, order.campaign_id)) {
            day.1 += u32::from(order.kind == "sale");
            day.2 += order.cents as f64 / 100.0;
        }
    }
    assert!(expected.len() > 3, "{}", expected.len());
    assert_eq!(rows.len(), expected.len());
    for (row, ((day, campaign), (clicks, orders, revenue))) in rows.iter().zip(expected) {
        let date = Timestamp::from_micros(day * DAY).to_string();
        assert_eq!((row[0].as_str(), &row[1], &row[2], &row[3]), (&date[..10], &campaign.to_string(), &clicks.to_string(), &orders.to_string()));
        assert!(close(&row[4], revenue, 0.001), "{row:?} is not {revenue}");
        assert!(close(&row[5], 100.0 * f64::from(orders) / f64::from(clicks), 0.051), "{row:?}");
    }
}

fn check_answers(out: &str) {
    let market = market(out);
    check_engagement(&market, &rows(out, 1));
    check_failed_payments(&market, &rows(out, 2));
    check_dashboard(&market, &rows(out, 3));
}

#[test]
fn three_questions_are_answered_from_running_systems_and_nothing_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let ran = demo(folder.path(), &["--once", "--scale", "0.05"]);
    let (out, err) = (text(&ran.stdout), text(&ran.stderr));
    assert_eq!(ran.status.code(), Some(0), "{out}\n{err}");
    check_answers(&out);
    assert!(out.contains("PostgreSQL with a streaming replica; Weir reads the replica"), "{out}");
    assert!(out.contains("  billing_mysql  MariaDB\n"), "{out}");
    // The plan shows what is sent, the receipt how old the answer is and what was read; a source that is down is named.
    assert!(out.contains("fragment 1  app_pg"), "{out}");
    assert!(out.contains("app_pg.public.customers") && out.contains("(replica_replay)"), "{out}");
    assert!(out.contains("lake.web.clickstream") && out.contains("(snapshot)"), "{out}");
    let crash = out.split("=== When a source is down").nth(1).unwrap();
    assert!(crash.contains("→ error 08001: ") && crash.contains("support_pg"), "{crash}");
    assert!(crash.contains("A seller's dashboard: one seller and a time range of the lake → "), "{crash}");
    assert_eq!(processes_in(folder.path()), Vec::<String>::new());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "files are left");
}

#[test]
fn without_any_server_the_answers_are_the_same_from_files() {
    let folder = tempfile::tempdir().unwrap();
    let ran = demo(folder.path(), &["--once", "--scale", "0.05", "--no-servers"]);
    let (out, err) = (text(&ran.stdout), text(&ran.stderr));
    assert_eq!(ran.status.code(), Some(0), "{out}\n{err}");
    check_answers(&out);
    assert!(out.contains("SQLite file in place of a server"), "{out}");
}

#[test]
fn a_kept_folder_is_used_again_and_a_foreign_one_is_not_touched() {
    let outer = tempfile::tempdir().unwrap();
    // Where root runs the test, PostgreSQL runs under another account.
    std::fs::set_permissions(outer.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
    let shop = outer.path().join("shop");
    let arguments = ["--once", "--scale", "0.05", "--dir", shop.to_str().unwrap()];
    let first = demo(outer.path(), &arguments);
    assert_eq!(first.status.code(), Some(0), "{}", text(&first.stderr));
    let second = demo(outer.path(), &arguments);
    assert_eq!(second.status.code(), Some(0), "{}", text(&second.stderr));
    check_answers(&text(&second.stdout));
    assert!(text(&second.stderr).contains("rows of an earlier run"), "{}", text(&second.stderr));
    assert_eq!(market(&text(&first.stdout)), market(&text(&second.stdout)));
    assert_eq!(processes_in(outer.path()), Vec::<String>::new());

    std::fs::write(outer.path().join("thesis.tex"), "").unwrap();
    let refused = demo(outer.path(), &["--once", "--dir", outer.path().to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused.stderr).contains("the folder holds something other than a demo"), "{}", text(&refused.stderr));
}

/// A demo that stays up, with all of its files below `folder`.
struct Up {
    child: Child,
    http: String,
    /// Open as long as it runs: it ends when nobody listens any more.
    _out: BufReader<ChildStdout>,
}

impl Up {
    fn start(folder: &Path) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_weir"));
        command.args(["demo", "--scale", "0.02"]).env("TMPDIR", folder).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let lines = out.by_ref().lines().map(Result::unwrap);
        let mut addresses = lines.filter_map(|line| Some(line.split_once("curl -s http://")?.1.split_once("/v1/query")?.0.to_owned()));
        let http = addresses.next().expect("the demo ended before it was up");
        drop(addresses);
        Self { child, http, _out: out }
    }

    /// What the HTTP door says to a statement.
    fn ask(http: &str, sql: &str) -> String {
        let mut socket = TcpStream::connect(http).unwrap();
        let body = serde_json::json!({ "sql": sql }).to_string();
        let head =
            format!("POST /v1/query HTTP/1.1\r\nhost: {http}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
        socket.write_all(format!("{head}{body}").as_bytes()).unwrap();
        let mut answer = String::new();
        // A server that ends may cut the answer short; what came is what counts.
        let _ = socket.read_to_string(&mut answer);
        answer
    }

    fn signal(&self, signal: &str) {
        assert!(Command::new("kill").args(["-s", signal, &self.child.id().to_string()]).status().unwrap().success());
    }
}

fn until(what: &str, mut so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !so() {
        assert!(began.elapsed() < Duration::from_secs(60), "in vain: {what}");
        std::thread::yield_now();
    }
}

fn nothing_is_left(folder: &Path) {
    until("every process ends", || processes_in(folder).is_empty());
    until("every folder goes", || std::fs::read_dir(folder).unwrap().next().is_none());
}

#[test]
fn an_interrupt_ends_it_also_while_a_query_computes() {
    let outer = tempfile::tempdir().unwrap();
    std::fs::set_permissions(outer.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
    let mut up = Up::start(outer.path());
    let http = up.http.clone();
    let endless = std::thread::spawn(move || Up::ask(&http, "SELECT count(*) FROM generate_series(1, 900000000000) WHERE value % 7 = 3"));
    let running = "SELECT 'it ' || state FROM system.queries WHERE sql LIKE '%900000000000%' AND sql NOT LIKE '%system%'";
    until("the query runs", || Up::ask(&up.http, running).contains("it running"));
    up.signal("INT");
    assert_eq!(up.child.wait().unwrap().code(), Some(0));
    let answer = endless.join().unwrap();
    assert!(answer.contains("\"57014\"") || answer.is_empty(), "{answer}");
    nothing_is_left(outer.path());
}

/// A server that does not end keeps the demo from ending in order; a second Ctrl-C does not wait for it.
#[test]
fn a_second_interrupt_ends_it_at_once_and_every_server_after_it() {
    let outer = tempfile::tempdir().unwrap();
    std::fs::set_permissions(outer.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
    let mut up = Up::start(outer.path());
    let stuck = server_in(outer.path(), "mariadbd");
    assert!(Command::new("kill").args(["-s", "STOP", &stuck]).status().unwrap().success());
    up.signal("INT");
    until("the doors close", || TcpStream::connect(&up.http).is_err());
    assert_eq!(up.child.try_wait().unwrap(), None, "it waits for its servers");
    up.signal("INT");
    assert_eq!(up.child.wait().unwrap().code(), Some(130));
    nothing_is_left(outer.path());
}

/// The process of a private server, without the shell that keeps it.
fn server_in(folder: &Path, program: &str) -> String {
    let needle = folder.display().to_string();
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let fits = |entry: &std::fs::DirEntry| {
        let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        command.contains(&needle) && command.split(' ').next().is_some_and(|first| first.ends_with(program))
    };
    let found = entries.filter(fits).map(|entry| entry.file_name().to_string_lossy().into_owned()).next();
    found.unwrap_or_else(|| panic!("no {program} runs in {needle}"))
}

#[test]
fn killed_it_leaves_nothing_behind() {
    let outer = tempfile::tempdir().unwrap();
    std::fs::set_permissions(outer.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
    let mut up = Up::start(outer.path());
    assert!(!processes_in(outer.path()).is_empty());
    up.signal("KILL");
    assert_eq!(up.child.wait().unwrap().code(), None);
    nothing_is_left(outer.path());
}

#[test]
fn the_example_is_right_as_it_stands() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/federated/weir.yaml");
    let variables =
        ["APP_PG", "SUPPORT_PG", "BILLING_MYSQL", "MARTS"].into_iter().flat_map(|name| [(format!("{name}_PORT"), "5432"), (format!("{name}_PASSWORD"), "x")]);
    let ran = Command::new(env!("CARGO_BIN_EXE_weir"))
        .args(["check", "--config", example])
        .envs(variables)
        .envs([("MARTS_DRIVER", "libadbc_driver_snowflake.so"), ("WEIR_DEMO", "/nowhere")])
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(0), "{}", text(&ran.stderr));
    assert!(text(&ran.stdout).contains("5 sources (app_pg, billing_mysql, crm, marts, support_pg)"), "{}", text(&ran.stdout));
}
