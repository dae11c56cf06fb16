// SPDX-License-Identifier: Apache-2.0
//! Servers that are not there, refuse, die or lie about who they are.

use crate::{Held, limits, shared, spec, statement};
use arrow::datatypes::DataType;
use futures::StreamExt;
use weir_base::ErrorCode;
use weir_guard::Limits;
use weir_sandbox::MariaDb;
use weir_source::connect;

const INT: DataType = DataType::Int64;

#[tokio::test]
async fn a_wrong_password_names_source_and_user_only() {
    let server = shared().await;
    let held = Held::new(server.url_as("root", "wr0ng", "mysql"));
    let error = held.rows("SELECT 1", &[INT]).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::LoginRefused);
    assert_eq!(error.message(), "source billing refused the login of user root");
    assert!(error.detail().unwrap_or_default().contains("wrong password, or no such account for this host"), "{error:?}");
    assert!(!format!("{error:?}").contains("wr0ng"));
    let error = Held::new(server.url("nowhere")).rows("SELECT 1", &[INT]).await.unwrap_err();
    assert!(error.detail().unwrap().ends_with("there is no database nowhere"));
}

#[tokio::test]
async fn an_unreachable_server_is_named() {
    // A port that was free a moment ago.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let held = Held::new(format!("mysql://u:s3cret@127.0.0.1:{port}/db"));
    let error = held.rows("SELECT 1", &[INT]).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::SourceUnreachable);
    assert_eq!(error.message(), "cannot reach source billing");
    assert!(error.detail().unwrap().starts_with(&format!("127.0.0.1:{port}: ")));
    assert_eq!(held.source.probe(held.permit().await).await.unwrap_err().code(), ErrorCode::SourceUnreachable);
}

#[tokio::test]
async fn a_server_that_speaks_otherwise_is_no_server() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        tokio::io::AsyncWriteExt::write_all(&mut stream, b"\x05\0\0\0HELLO").await.unwrap();
        // Stays open until the client has understood.
        tokio::io::AsyncReadExt::read(&mut stream, &mut [0]).await.unwrap();
    });
    let error = Held::new(format!("mysql://u:p@127.0.0.1:{port}/db")).rows("SELECT 1", &[INT]).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::SourceUnreachable);
    assert!(error.detail().unwrap().ends_with("this is no MySQL or MariaDB server"));
}

#[tokio::test]
async fn a_server_that_dies_in_the_middle_is_an_error_and_comes_back() {
    let mut server = MariaDb::start().await.unwrap();
    server.create_database("test").await.unwrap();
    let held = Held::new(server.url("test"));
    let sql = "SELECT CAST(seq AS SIGNED), REPEAT('x', 100) FROM seq_1_to_5000000";
    let mut fetched = held.source.fetch(held.permit().await, statement(sql, &[INT, DataType::Utf8])).await.unwrap();
    let mut rows = fetched.batches.next().await.unwrap().unwrap().num_rows();
    server.stop_hard().unwrap();
    let error = loop {
        match fetched.batches.next().await {
            Some(Ok(batch)) => rows += batch.num_rows(),
            Some(Err(error)) => break error,
            None => panic!("{rows} rows and then the end, as if that were all"),
        }
    };
    assert_eq!(error.code(), ErrorCode::SourceBroke);
    assert!(rows < 5_000_000);
    assert!(fetched.batches.next().await.is_none());
    server.restart().await.unwrap();
    assert_eq!(held.texts("SELECT 1", &[INT]).await, [["1"]]);
}

#[tokio::test]
async fn idle_sessions_that_died_are_replaced_unnoticed() {
    let mut server = MariaDb::start().await.unwrap();
    let held = Held::new(server.url("mysql"));
    assert_eq!(held.texts("SELECT 1", &[INT]).await, [["1"]]);
    server.stop().unwrap();
    server.restart().await.unwrap();
    assert_eq!(held.texts("SELECT 2", &[INT]).await, [["2"]]);
}

#[tokio::test]
async fn a_full_server_says_so() {
    let server = MariaDb::options().setting("max_connections", "10").start().await.unwrap();
    server.create_database("test").await.unwrap();
    server.run("mysql", "CREATE USER plain@'%' IDENTIFIED BY 'pw' WITH MAX_USER_CONNECTIONS 1; GRANT SELECT ON test.* TO plain@'%'").await.unwrap();
    let held = Held::limited(server.url_as("plain", "pw", "test"), Limits { connections: 2, ..limits() });
    let sql = "SELECT CAST(seq AS SIGNED), REPEAT('x', 100) FROM seq_1_to_5000000";
    let mut first = held.source.fetch(held.permit().await, statement(sql, &[INT, DataType::Utf8])).await.unwrap();
    first.batches.next().await.unwrap().unwrap();
    let error = held.rows("SELECT 1", &[INT]).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::NoPermit);
    assert_eq!(error.message(), "source billing takes no more connections");
}

struct Pair {
    certificate: String,
    key: String,
    authority: tempfile::NamedTempFile,
}

/// A certificate for `name`, and the file of the authority that signed it.
fn certified(name: &str) -> Pair {
    let mut authority = rcgen::CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let authority_key = rcgen::KeyPair::generate().unwrap();
    let authority = rcgen::CertifiedIssuer::self_signed(authority, authority_key).unwrap();
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), authority.pem()).unwrap();
    Pair { certificate: certificate.pem(), key: key.serialize_pem(), authority: file }
}

#[tokio::test]
async fn tls_is_used_and_checked_as_far_as_asked() {
    let right = certified("localhost");
    let wrong = certified("localhost");
    let server = MariaDb::options().tls(&right.certificate, &right.key).start().await.unwrap();
    let url = |host: &str, rest: &str| format!("{}?{rest}", server.url("mysql").replace("127.0.0.1", host));
    let ca = |pair: &Pair| pair.authority.path().display().to_string();
    let cipher = "SELECT VARIABLE_VALUE <> '' FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME = 'Ssl_cipher'";
    let accepted = [
        (url("127.0.0.1", "ssl-mode=disabled"), "0"),
        (url("127.0.0.1", "ssl-mode=preferred"), "1"),
        (url("127.0.0.1", "ssl-mode=required"), "1"),
        (url("127.0.0.1", &format!("ssl-mode=verify_ca&ssl-ca={}", ca(&right))), "1"),
        (url("localhost", &format!("ssl-mode=verify_identity&ssl-ca={}", ca(&right))), "1"),
    ];
    for (url, encrypted) in accepted {
        let held = Held::new(url.clone());
        assert_eq!(held.texts(cipher, &[INT]).await, [[encrypted]], "{url}");
    }
    let refused =
        [url("127.0.0.1", &format!("ssl-mode=verify_ca&ssl-ca={}", ca(&wrong))), url("127.0.0.1", &format!("ssl-mode=verify_identity&ssl-ca={}", ca(&right)))];
    for url in refused {
        let error = Held::new(url).rows("SELECT 1", &[INT]).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::SourceUnreachable);
    }
    let missing = connect(spec(url("localhost", "ssl-mode=verify_ca&ssl-ca=/nowhere.pem"))).unwrap_err();
    assert_eq!(missing.code(), ErrorCode::Config);
}

#[tokio::test]
async fn tls_that_is_not_offered_is_not_gone_without() {
    let server = shared().await;
    let required = Held::new(format!("{}?ssl-mode=required", server.url("mysql")));
    let error = required.rows("SELECT 1", &[INT]).await.unwrap_err();
    assert!(error.detail().unwrap().ends_with("ssl-mode asks for TLS and the server does not offer it"));
}
