// SPDX-License-Identifier: Apache-2.0
//! Each private server starts, answers a real client, and is gone after its value, or its whole process.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use weir_base::{ErrorCode, Result};
use weir_sandbox::{MariaDb, Postgres, S3, Snowflake, random_word, venv};

fn listens(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

#[tokio::test]
async fn postgres_answers_and_is_gone_after_drop() -> Result<()> {
    let pg = Postgres::start().await?;
    pg.run("app", "CREATE TABLE t (a int, b text);\nCOPY t FROM stdin;\n1\tżółć\n2\t\\N\n\\.\nVACUUM ANALYZE t;").await?;
    assert_eq!(pg.query("app", "SELECT a, b FROM t ORDER BY a").await?, "1\tżółć\n2\t");
    let error = pg.run("app", "SELECT 1;\nSELECT * FROM nowhere;").await.unwrap_err();
    assert!(error.detail().unwrap_or_default().contains("relation \"nowhere\" does not exist"), "{error:?}");
    assert_eq!(pg.url_as("ana", "p@ss", "app"), format!("postgres://ana:p%40ss@127.0.0.1:{}/app", pg.port()));

    let (port, folder) = (pg.port(), pg.folder().to_path_buf());
    assert!(listens(port) && folder.is_dir());
    drop(pg);
    assert!(!listens(port) && !folder.exists());
    Ok(())
}

#[tokio::test]
async fn postgres_wants_its_password() -> Result<()> {
    let pg = Postgres::start().await?;
    let tried = Command::new("psql").args(["-w", "-X", "-c", "SELECT 1", &pg.url_as("postgres", "wrong", "postgres")]).output();
    let tried = tried.map_err(|e| weir_base::Error::internal(e.to_string()))?;
    assert!(!tried.status.success());
    assert!(String::from_utf8_lossy(&tried.stderr).contains("password authentication failed"));
    Ok(())
}

#[tokio::test]
async fn a_replica_follows_and_a_killed_primary_comes_back() -> Result<()> {
    let mut pg = Postgres::start().await?;
    pg.run("app", "CREATE TABLE t AS SELECT generate_series(1, 1000) AS a").await?;
    let replica = pg.replica().await?;
    assert_eq!(replica.query("app", "SELECT count(*), pg_is_in_recovery() FROM t").await?, "1000\tt");
    pg.run("app", "INSERT INTO t VALUES (0)").await?;
    pg.wait_for(&replica).await?;
    assert_eq!(replica.query("app", "SELECT min(a) FROM t").await?, "0");

    let port = pg.port();
    pg.stop_hard()?;
    assert!(!listens(port));
    assert_eq!(replica.query("app", "SELECT count(*) FROM t").await?, "1001");
    pg.restart().await?;
    assert_eq!(pg.port(), port);
    assert_eq!(pg.query("app", "SELECT count(*) FROM t").await?, "1001");
    Ok(())
}

#[tokio::test]
async fn a_given_folder_keeps_its_data() -> Result<()> {
    let outer = std::env::temp_dir().join(format!("weir-kept-{}", std::process::id()));
    for word in ["first", "second"] {
        let pg = Postgres::options().folder(outer.join("pg")).setting("work_mem", "5MB").start().await?;
        let my = MariaDb::options().folder(outer.join("my")).binlog().start().await?;
        let sql = format!("CREATE TABLE IF NOT EXISTS t (a varchar(9)); INSERT INTO t VALUES ('{word}');");
        pg.run("app", &sql).await?;
        my.run("app", &sql).await?;
        assert_eq!(pg.query("app", "SHOW work_mem").await?, "5MB");
        assert_eq!(my.query("app", "SELECT @@log_bin, @@binlog_format").await?, "1\tROW");
        let expected = if word == "first" { "first" } else { "first\nsecond" };
        assert_eq!(pg.query("app", "SELECT a FROM t ORDER BY a").await?, expected);
        assert_eq!(my.query("app", "SELECT a FROM t ORDER BY a").await?, expected);
    }
    assert!(outer.join("pg/data/PG_VERSION").exists() && outer.join("my/data/mysql").is_dir());
    std::fs::remove_dir_all(&outer).map_err(|e| weir_base::Error::internal(e.to_string()))
}

#[tokio::test]
async fn mariadb_answers_and_is_gone_after_drop() -> Result<()> {
    let mut my = MariaDb::start().await?;
    my.run("billing", "CREATE TABLE t (a int, b text); INSERT INTO t VALUES (1, 'żółć 🐟'), (2, NULL);").await?;
    assert_eq!(my.query("billing", "SELECT a, b FROM t ORDER BY a").await?, "1\tżółć 🐟\n2\tNULL");
    let error = my.run("billing", "SELECT 1; SELECT * FROM nowhere").await.unwrap_err();
    assert!(error.detail().unwrap_or_default().contains("'billing.nowhere' doesn't exist"), "{error:?}");

    let port = my.port();
    my.stop_hard()?;
    assert!(!listens(port));
    my.restart().await?;
    assert_eq!((my.port(), my.query("billing", "SELECT count(*) FROM t").await?.as_str()), (port, "2"));

    let folder = my.folder().to_path_buf();
    drop(my);
    assert!(!listens(port) && !folder.exists());
    Ok(())
}

#[tokio::test]
async fn both_databases_offer_tls() -> Result<()> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]);
    let made = made.map_err(|e| weir_base::Error::internal(e.to_string()))?;
    let (certificate, key) = (made.cert.pem(), made.signing_key.serialize_pem());
    let pg = Postgres::options().tls(&certificate, &key).start().await?;
    assert_eq!(pg.query("postgres", "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()").await?, "t");
    let my = MariaDb::options().tls(&certificate, &key).start().await?;
    assert_eq!(my.query("mysql", "SELECT @@have_ssl").await?, "YES");
    Ok(())
}

/// Runs a piece of Python with boto3 against the store.
async fn boto(s3: &S3, secret_key: &str, code: &str) -> std::result::Result<String, String> {
    let python = venv().map_err(|e| format!("{e:?}"))?.join("bin/python");
    let setup = format!(
        "import boto3\nfrom botocore.config import Config\ns3 = boto3.client('s3', endpoint_url='{}', region_name='us-east-1', \
         aws_access_key_id='{}', aws_secret_access_key='{secret_key}', config=Config(s3={{'addressing_style': 'path'}}))\n",
        s3.endpoint(),
        s3.access_key()
    );
    let output = tokio::process::Command::new(python).arg("-c").arg(format!("{setup}{code}")).output().await.map_err(|e| e.to_string())?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

#[tokio::test]
async fn s3_stores_checks_signatures_and_is_gone_after_drop() -> Result<()> {
    let s3 = S3::start().await?;
    let code =
        "s3.put_object(Bucket='weir', Key='a/b.txt', Body=b'water')\nprint(s3.get_object(Bucket='weir', Key='a/b.txt', Range='bytes=1-3')['Body'].read())";
    assert_eq!(boto(&s3, s3.secret_key(), code).await.as_deref(), Ok("b'ate'"));
    let refused = boto(&s3, "wrong", "s3.list_objects_v2(Bucket='weir')").await.unwrap_err();
    assert!(refused.contains("SignatureDoesNotMatch"), "{refused}");

    let (port, folder) = (s3.port(), s3.folder());
    assert_eq!(std::fs::read(folder.join("weir/a/b.txt")).ok().as_deref(), Some(&b"water"[..]));
    drop(s3);
    assert!(!listens(port) && !folder.exists());
    Ok(())
}

#[tokio::test]
async fn the_warehouse_stand_in_answers_snowflakes_clients() -> Result<()> {
    let warehouse = Snowflake::start().await?;
    warehouse.run("CREATE DATABASE marts; CREATE SCHEMA marts.shop; CREATE TABLE marts.shop.t (a int, b text); INSERT INTO marts.shop.t VALUES (1, 'one'), (2, NULL);").await?;
    assert_eq!(warehouse.query("SELECT a, b FROM marts.shop.t ORDER BY a").await?, "1\tone\n2\t");
    let error = warehouse.run("SELECT * FROM marts.shop.nowhere").await.unwrap_err();
    assert!(error.detail().unwrap_or_default().to_lowercase().contains("nowhere"), "{error:?}");
    assert!(warehouse.driver_path()?.is_file());

    let port = warehouse.port();
    drop(warehouse);
    assert!(!listens(port));
    Ok(())
}

/// The value of one `export NAME='…'` line.
fn exported<'a>(lines: &'a [String], name: &str) -> &'a str {
    let prefix = format!("export {name}='");
    let line = lines.iter().find_map(|line| line.strip_prefix(&prefix));
    line.and_then(|rest| rest.strip_suffix('\'')).unwrap_or_else(|| panic!("{name} not in {lines:?}"))
}

fn port_of(url: &str) -> u16 {
    let after_host = url.rsplit_once("127.0.0.1:").map(|(_, rest)| rest).unwrap_or_default();
    let digits: String = after_host.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap_or_else(|_| panic!("no port in a url"))
}

fn until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !condition() {
        assert!(Instant::now() < deadline, "still not: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// The services command with these services, and what it exported once all of them ran.
fn services(kinds: &[&str], prepare: impl FnOnce(&mut Command)) -> (Child, Vec<String>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_weir-services"));
    command.args(kinds).arg("s3").stdout(Stdio::piped());
    prepare(&mut command);
    let mut services = command.spawn().unwrap();
    let mut lines = Vec::new();
    for line in BufReader::new(services.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        let last = line.contains("WEIR_S3_FOLDER");
        lines.push(line);
        if last {
            break;
        }
    }
    (services, lines)
}

#[test]
fn a_killed_process_takes_its_servers_with_it() {
    let (mut services, lines) = services(&["postgres", "replica", "mariadb"], |_| {});
    let ports: Vec<u16> =
        ["WEIR_POSTGRES_URL", "WEIR_REPLICA_URL", "WEIR_MARIADB_URL", "WEIR_S3_ENDPOINT"].iter().map(|name| port_of(exported(&lines, name))).collect();
    let mut folders: Vec<PathBuf> =
        ["WEIR_POSTGRES_FOLDER", "WEIR_REPLICA_FOLDER", "WEIR_MARIADB_FOLDER"].iter().map(|name| exported(&lines, name).into()).collect();
    folders.extend(Path::new(exported(&lines, "WEIR_S3_FOLDER")).parent().map(Path::to_path_buf));
    assert!(ports.iter().all(|port| listens(*port)));
    assert!(folders.len() == 4 && folders.iter().all(|folder| folder.is_dir()));

    services.kill().unwrap();
    services.wait().unwrap();
    until("ports closed", || ports.iter().all(|port| !listens(*port)));
    until("folders removed", || folders.iter().all(|folder| !folder.exists()));
}

/// A folder that goes with the value.
struct Scratch(PathBuf);

impl Scratch {
    fn new(word: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("weir-{word}-{}", random_word(8)));
        std::fs::create_dir(&folder).unwrap();
        // The account of PostgreSQL has to pass through.
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
        Self(folder)
    }

    fn names(&self) -> Vec<String> {
        std::fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

/// The temporary tables of a MariaDB that the machine runs may be in the same place: a starting server would remove them,
/// and the other one crashes when it opens one.
#[test]
fn a_starting_mariadb_removes_no_temporary_tables_of_others() {
    let (shared, cache) = (Scratch::new("shared-tmp"), Scratch::new("cache"));
    let theirs = ["#sql-temptable-2a3e-7-1.MAI", "#sql-temptable-2a3e-7-1.MAD"];
    for name in theirs {
        std::fs::write(shared.0.join(name), "an open table").unwrap();
    }
    // Without templates in the cache, its tables are made first: that starts a server too.
    let (mut services, lines) = services(&["mariadb"], |command| {
        command.env("TMPDIR", &shared.0).env("XDG_CACHE_HOME", &cache.0);
    });
    let own = PathBuf::from(exported(&lines, "WEIR_MARIADB_FOLDER"));
    let temporary = own.join("tmp").is_dir();
    services.kill().unwrap();
    services.wait().unwrap();
    until("folder removed", || !own.exists());
    assert!(temporary && own.starts_with(&shared.0));
    let left = shared.names();
    assert!(theirs.iter().all(|name| left.iter().any(|there| there == name)), "{left:?}");
}

/// Sends the signal of a wild pointer.
fn crash(process: &str) {
    assert!(Command::new("kill").args(["-s", "SEGV", process.trim()]).status().unwrap().success());
}

#[test]
fn a_server_that_crashed_is_told_of() {
    let reports = Scratch::new("reports");
    let (mut services, lines) = services(&["postgres", "replica", "mariadb"], |command| {
        command.env("WEIR_CRASH_REPORTS", &reports.0).stderr(Stdio::piped());
    });
    let folder = |name: &str| PathBuf::from(exported(&lines, name));
    let (mariadb, replica, postgres) = (folder("WEIR_MARIADB_FOLDER"), folder("WEIR_REPLICA_FOLDER"), folder("WEIR_POSTGRES_FOLDER"));
    crash(&std::fs::read_to_string(mariadb.join("pid")).unwrap());
    crash(&std::fs::read_to_string(replica.join("pid")).unwrap());
    until("two servers ended", || mariadb.join("ended").exists() && replica.join("ended").exists());
    assert_eq!(reports.names().len(), 2);
    // PostgreSQL outlives the crash of one session: it starts itself again, and only its log knows.
    let url = exported(&lines, "WEIR_POSTGRES_URL");
    let session = |sql: &str| Command::new("psql").args(["-X", "-A", "-t", "-c", sql, url]).output().unwrap();
    let writer = session("SELECT pid FROM pg_stat_activity WHERE backend_type = 'background writer'").stdout;
    crash(&String::from_utf8(writer).unwrap());
    until("PostgreSQL answers again", || {
        std::fs::read_to_string(postgres.join("log")).unwrap().contains("was terminated by signal 11") && session("SELECT 1").stdout == b"1\n"
    });

    services.kill().unwrap();
    let mut told = String::new();
    services.stderr.take().unwrap().read_to_string(&mut told).unwrap();
    services.wait().unwrap();
    let crashes = [(&mariadb, "killed by signal 11"), (&replica, "killed by signal 11"), (&postgres, "was terminated by signal 11")];
    let files = reports.names();
    // The S3 store ended with its process, as it should.
    assert_eq!(files.len(), crashes.len(), "{files:?}");
    for (server, how) in crashes {
        let beginning = format!("weir-crash-{}-", server.file_name().unwrap().display());
        let name = files.iter().find(|name| name.starts_with(&beginning)).unwrap_or_else(|| panic!("{beginning} is not among {files:?}"));
        let path = reports.0.join(name);
        let report = std::fs::read_to_string(&path).unwrap();
        assert!(report.starts_with("weir-sandbox: a private server crashed\n") && report.contains(how), "{report}");
        assert!(told.contains(report.trim_end()), "not shown: {report}");
        assert!(told.contains(&format!("a private server had crashed, see {}\n", path.display())), "{told}");
    }
    let report = |server: &Path| files.iter().find(|name| name.contains(&*server.file_name().unwrap().to_string_lossy())).unwrap();
    let log = std::fs::read_to_string(reports.0.join(report(&mariadb))).unwrap();
    assert!(log.contains("mariadbd got signal 11") && log.contains("--tmpdir="), "{log}");
}

#[test]
fn the_services_command_names_what_it_does_not_know() {
    let output = Command::new(env!("CARGO_BIN_EXE_weir-services")).arg("oracle").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("weir-services: no service is called oracle\n"));
}

#[test]
fn a_missing_python_environment_says_what_to_do() {
    let output = Command::new(env!("CARGO_BIN_EXE_weir-services")).arg("warehouse").env("XDG_CACHE_HOME", "/nonexistent").output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains(&format!("{:?}", ErrorCode::NotFound)) && said.contains("hint: run `make setup`"), "{said}");
}
