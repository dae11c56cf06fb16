// SPDX-License-Identifier: Apache-2.0
//! Login and encryption on both doors.

use crate::canned::Canned;
use crate::harness::{Doors, certificate, free_port, users};
use std::sync::Arc;
use weir_server::{Auth, Server, ServerConfig};

#[tokio::test(flavor = "multi_thread")]
async fn scram_lets_in_who_knows_the_secret() {
    let doors = Doors::with(ServerConfig { auth: users(), ..ServerConfig::default() }).await;
    for (user, password) in [("ana", "s3cret pä§"), ("bo", "pencil")] {
        let finished = doors.psql_as(user, password, &["-At"], "select who()").await;
        assert_eq!((finished.output.trim(), finished.success), (user, true));
    }
    let refused = "FATAL:  wrong user name or password\n";
    for (user, password) in [("ana", "guess"), ("bo", "s3cret pä§"), ("nobody", "pencil"), ("ANA", "s3cret pä§")] {
        let finished = doors.psql_as(user, password, &[], "select 1").await;
        assert!(finished.output.ends_with(refused) && !finished.success, "{user}: {}", finished.output);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tls_is_offered_and_holds() {
    let (_folder, files) = certificate();
    let ca = files.cert.clone();
    let doors = Doors::with(ServerConfig { auth: users(), tls: Some(files), ..ServerConfig::default() }).await;
    let verify = format!("sslmode=verify-full sslrootcert={} dbname=lake hostaddr=127.0.0.1 host=localhost", ca.display());
    let finished = doors.psql_as("bo", "pencil", &["-At", "-d", &verify], "\\conninfo\nselect n from numbers(20000)").await;
    assert!(finished.output.contains("SSL connection (protocol: TLSv1.3"), "{}", finished.output);
    assert!(finished.output.ends_with("\n19998\n19999\n"));
    let plain = doors.psql_as("bo", "pencil", &["-At", "-d", "sslmode=disable dbname=lake"], "select who()").await;
    assert_eq!(plain.output, "bo\n");

    let trusted = reqwest::Certificate::from_pem(&std::fs::read(&ca).unwrap()).unwrap();
    let client = reqwest::Client::builder().add_root_certificate(trusted).build().unwrap();
    let url = format!("https://localhost:{}/healthz", doors.http.port());
    let health: serde_json::Value = client.get(url).send().await.unwrap().json().await.unwrap();
    assert_eq!(health["status"], "alive");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_certificate_tls_is_declined() {
    let doors = Doors::open().await;
    let finished = doors.psql_as("ana", "", &["-d", "sslmode=require dbname=lake"], "select 1").await;
    assert!(finished.output.contains("server does not support SSL, but SSL was required"), "{}", finished.output);
}

#[tokio::test]
async fn an_open_door_must_be_on_loopback() {
    let outside = Some("0.0.0.0:0".parse().unwrap());
    let service = Arc::new(Canned::new());
    for config in
        [ServerConfig { postgres: outside, ..ServerConfig::default() }, ServerConfig { http: outside, postgres: free_port(), ..ServerConfig::default() }]
    {
        let Err(error) = Server::bind(config, service.clone()).await else { panic!("an open door on every address") };
        assert_eq!((error.code().exit_code(), error.message()), (2, "an open door must listen on loopback"));
    }
    Server::bind(ServerConfig { postgres: outside, auth: users(), ..ServerConfig::default() }, service.clone()).await.unwrap();
    let taken = Server::bind(ServerConfig { postgres: free_port(), ..ServerConfig::default() }, service.clone()).await.unwrap();
    let Err(error) = Server::bind(ServerConfig { postgres: taken.postgres_addr(), auth: Auth::Open, ..ServerConfig::default() }, service).await else {
        panic!("one address, two servers")
    };
    assert_eq!(error.message(), "cannot listen for postgres");
}

#[tokio::test(flavor = "multi_thread")]
async fn basic_credentials_on_http() {
    let doors = Doors::with(ServerConfig { auth: users(), ..ServerConfig::default() }).await;
    let client = reqwest::Client::new();
    let ask = |user: &'static str, password: &'static str| {
        client.post(doors.url("/v1/query")).basic_auth(user, Some(password)).json(&serde_json::json!({"sql": "select who()"})).send()
    };
    for (user, password) in [("ana", "s3cret pä§"), ("bo", "pencil"), ("bo", "pencil")] {
        let answer: serde_json::Value = ask(user, password).await.unwrap().json().await.unwrap();
        assert_eq!(answer["rows"], serde_json::json!([[user]]));
    }
    let mut bodies = Vec::new();
    for (user, password) in [("ana", "guess"), ("nobody", "pencil")] {
        let refused = ask(user, password).await.unwrap();
        assert_eq!(refused.status(), 401);
        assert_eq!(refused.headers()["www-authenticate"], "Basic realm=\"weir\", charset=\"UTF-8\"");
        bodies.push(refused.text().await.unwrap());
    }
    assert_eq!(bodies[0], bodies[1]);
    for path in ["/v1/query", "/v1/plan"] {
        assert_eq!(client.post(doors.url(path)).json(&serde_json::json!({"sql": "select 1"})).send().await.unwrap().status(), 401);
    }
    assert_eq!(client.get(doors.url("/metrics")).send().await.unwrap().status(), 401);
    let metrics = async |user, password| client.get(doors.url("/metrics")).basic_auth(user, Some(password)).send().await.unwrap().status().as_u16();
    assert_eq!(metrics("bo", "pencil").await, 403, "they count what everybody does");
    assert_eq!(metrics("ana", "s3cret pä§").await, 404, "none are collected here");
    assert_eq!(client.get(doors.url("/v1/queries/x")).send().await.unwrap().status(), 401);
    assert_eq!(client.get(doors.url("/readyz")).send().await.unwrap().status(), 200);
    let readiness = async |login: Option<(&str, &str)>| {
        let request = client.get(doors.url("/readyz"));
        let request = login.into_iter().fold(request, |request, (user, password)| request.basic_auth(user, Some(password)));
        let response = request.send().await.unwrap();
        (response.status().as_u16(), response.json::<serde_json::Value>().await.unwrap())
    };
    assert_eq!(readiness(None).await, (200, serde_json::json!({"ready": true, "unreachable_count": 1})), "names are for those who log in");
    let named = serde_json::json!({"ready": true, "unreachable_count": 1, "unreachable": ["billing_mysql"]});
    assert_eq!(readiness(Some(("bo", "pencil"))).await, (200, named));
    assert_eq!(readiness(Some(("bo", "guess"))).await.0, 401);
}
