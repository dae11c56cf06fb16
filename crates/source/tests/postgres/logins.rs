// SPDX-License-Identifier: Apache-2.0
//! Logging in: TLS in all its modes, wrong passwords, servers that are not there, bad configuration.

use crate::conformance::{Subject, eventually, statement};
use crate::{server, spec};
use arrow::datatypes::DataType;
use weir_base::{Error, ErrorCode};
use weir_guard::Limits;
use weir_sandbox::Postgres;
use weir_source::connect;

const ONE: [(&str, DataType); 1] = [("n", DataType::Int32)];

async fn try_login(url: String) -> Result<(), Error> {
    let subject = Subject::new(connect(spec(url))?, Limits::default(), "public");
    subject.fetch("SELECT 1 AS n", &ONE).await.map(|batch| assert_eq!(batch.num_rows(), 1))
}

#[tokio::test]
async fn a_wrong_password_names_source_and_user_and_not_the_password() {
    let url = server().await.url_as("postgres", "verkehrt", "postgres");
    let error = try_login(url).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::LoginRefused);
    assert_eq!(error.message(), "source app_pg refused the login of user postgres");
    assert!(!format!("{error:?}").contains("verkehrt"));
}

#[tokio::test]
async fn what_is_not_there_is_unreachable() {
    let unused = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let error = try_login(format!("postgres://u:p@127.0.0.1:{unused}/app")).await.unwrap_err();
    assert_eq!((error.code(), error.message()), (ErrorCode::SourceUnreachable, "source app_pg cannot be reached"));
    let error = try_login(server().await.url("no_such_database")).await.unwrap_err();
    assert_eq!((error.code(), error.message()), (ErrorCode::LoginRefused, "source app_pg has no such database"));
    // Something that listens and never answers.
    let mute = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let error = try_login(format!("postgres://u:p@{}/app?connect_timeout=1", mute.local_addr().unwrap())).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::SourceUnreachable);
    assert!(error.detail().unwrap().contains("no answer in time"), "{error:?}");
}

#[tokio::test]
async fn the_next_host_of_a_url_is_tried() {
    let server = server().await;
    let unused = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("postgres://postgres:{}@127.0.0.1:{unused},127.0.0.1:{}/postgres", server.password(), server.port());
    try_login(url).await.unwrap();
}

#[test]
fn a_bad_configuration_is_found_without_a_connection() {
    let mut wrong = spec("postgres://u:geheim@h/d".into());
    wrong.options.insert("server".into(), "compatibel".into());
    let error = connect(wrong).err().unwrap();
    assert_eq!((error.code(), error.hint()), (ErrorCode::Config, Some("did you mean compatible?")));
    let error = connect(spec("postgres://u:geheim@h/d?sslmode=verify-full&sslrootcert=/no/such/file".into())).err().unwrap();
    assert_eq!(error.code(), ErrorCode::Config);
    assert!(!format!("{error:?}").contains("geheim"));
}

struct Certificates {
    authority_pem: String,
    server_pem: String,
    server_key_pem: String,
}

/// A certificate for `localhost`, signed by an authority of its own.
fn certificates() -> Certificates {
    let authority_key = rcgen::KeyPair::generate().unwrap();
    let mut authority = rcgen::CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority_pem = authority.self_signed(&authority_key).unwrap().pem();
    let issuer = rcgen::Issuer::new(authority, authority_key);
    let key = rcgen::KeyPair::generate().unwrap();
    let server_pem = rcgen::CertificateParams::new(vec!["localhost".to_owned()]).unwrap().signed_by(&key, &issuer).unwrap().pem();
    Certificates { authority_pem, server_pem, server_key_pem: key.serialize_pem() }
}

#[tokio::test]
async fn every_sslmode_means_what_libpq_means() {
    let (good, other) = (certificates(), certificates());
    let server = Postgres::options().tls(&good.server_pem, &good.server_key_pem).start().await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (root, wrong_root) = (folder.path().join("root.pem"), folder.path().join("other.pem"));
    std::fs::write(&root, &good.authority_pem).unwrap();
    std::fs::write(&wrong_root, &other.authority_pem).unwrap();
    let url = |host: &str, parameters: &str| format!("postgres://postgres:{}@{host}:{}/postgres?{parameters}", server.password(), server.port());
    let with_root = |mode: &str, root: &std::path::Path| format!("sslmode={mode}&sslrootcert={}", root.display());

    for (host, parameters, encrypted) in [
        ("127.0.0.1", "sslmode=disable".to_owned(), false),
        ("127.0.0.1", String::new(), true),
        ("127.0.0.1", "sslmode=prefer".to_owned(), true),
        ("127.0.0.1", "sslmode=require".to_owned(), true),
        ("127.0.0.1", with_root("verify-ca", &root), true),
        ("localhost", with_root("verify-full", &root), true),
    ] {
        let subject = Subject::new(connect(spec(url(host, &parameters))).unwrap(), Limits::default(), "public");
        let ssl = "SELECT ssl AS n FROM pg_stat_ssl WHERE pid = pg_backend_pid()";
        let batch = subject.fetch(ssl, &[("n", DataType::Boolean)]).await.unwrap_or_else(|error| panic!("{parameters}: {error:?}"));
        assert_eq!(crate::cells(&batch, "n"), [encrypted.to_string()], "{parameters}");
    }
    for (host, parameters) in [
        ("127.0.0.1", with_root("verify-full", &root)),
        ("localhost", with_root("verify-full", &wrong_root)),
        ("127.0.0.1", with_root("verify-ca", &wrong_root)),
        ("127.0.0.1", with_root("require", &wrong_root)),
    ] {
        let error = try_login(url(host, &parameters)).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::SourceUnreachable, "{parameters}");
    }
    cancel_over_tls(url("localhost", &with_root("verify-full", &root)), &server).await;
}

async fn cancel_over_tls(url: String, server: &Postgres) {
    let subject = Subject::new(connect(spec(url)).unwrap(), Limits::default(), "public");
    let (permit, _ledger, cancel) = subject.watched_permit().await;
    let source = subject.source.clone();
    let running = tokio::spawn(async move { source.fetch(permit, statement("SELECT 1 AS n FROM pg_sleep(60)", &ONE)).await.map(|_| ()) });
    let sleeping = "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'weir/%' AND state = 'active'";
    eventually("the statement runs", async || server.query("postgres", sleeping).await.unwrap().trim() == "1").await;
    cancel.cancel();
    assert_eq!(running.await.unwrap().unwrap_err().code(), ErrorCode::Cancelled);
    assert_eq!(server.query("postgres", sleeping).await.unwrap().trim(), "0");
}

/// A server without TLS: `prefer` goes on in plain text, `require` does not.
#[tokio::test]
async fn a_server_without_tls_is_refused_only_where_tls_is_required() {
    let url = |mode: &str, server: &Postgres| format!("{}?sslmode={mode}", server.url("postgres"));
    try_login(url("prefer", server().await)).await.unwrap();
    let error = try_login(url("require", server().await)).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::SourceUnreachable);
}
