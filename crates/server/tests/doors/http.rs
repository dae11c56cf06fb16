// SPDX-License-Identifier: Apache-2.0
//! The HTTP door: answers in three shapes, errors with their status, cancelling, and the routes about the server itself.

use crate::canned::reached;
use crate::harness::Doors;
use arrow::ipc::reader::StreamReader;
use futures::StreamExt;
use reqwest::{Client, Method, Response};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use weir_server::ServerConfig;

async fn ask(doors: &Doors, question: Value) -> Response {
    Client::new().post(doors.url("/v1/query")).json(&question).send().await.unwrap()
}

async fn error_of(response: Response) -> (u16, Value) {
    (response.status().as_u16(), response.json::<Value>().await.unwrap()["error"].take())
}

#[tokio::test(flavor = "multi_thread")]
async fn json_answers_keep_every_digit() {
    let doors = Doors::open().await;
    let response = ask(&doors, json!({"sql": "select * from every_type"})).await;
    assert_eq!((response.status().as_u16(), response.headers()["content-type"].to_str().unwrap()), (200, "application/json"));
    let id = response.headers()["weir-query-id"].to_str().unwrap().to_owned();
    let text = response.text().await.unwrap();
    let rows = text.split("\"rows\":").nth(1).unwrap().split(",\"receipt\"").next().unwrap();
    let expected = "[\n[true,-8,-32768,2147483647,-9223372036854775808,4294967295,18446744073709551615,0.1,\"-Infinity\",\"-123456789012.3450\",\
        \"naïve \\\\ \\t, \\\"q\\\"\",\"AAH/\",\"2026-11-30\",\"18:36:18.5\",\"2026-11-30T18:36:18.123456\",\"2026-11-30T18:36:18.123456Z\",\"P1Y2M3DT4S\",\
        [1,null,3],{\"a\":1,\"b\":\"x\\\"y\"},\"red\",null],\n[null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null,null]]";
    assert_eq!(rows, expected);
    let answer: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(answer["query_id"], id.as_str());
    assert_eq!(answer["columns"][9], json!({"name": "money", "type": "numeric(20,4)"}));
    assert_eq!(answer["columns"][17]["type"], "integer[]");
    assert_eq!((&answer["receipt"]["query_id"], &answer["receipt"]["as_of"]), (&json!(id), &json!("2026-11-30T18:36:18.000Z")));
    assert_eq!(answer.as_object().unwrap().keys().collect::<Vec<_>>(), ["query_id", "columns", "rows", "receipt"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_settings_and_parameters() {
    let doors = Doors::open().await;
    let answer: Value = ask(&doors, json!({"sql": "insert into lake.a.b select 1;"})).await.json().await.unwrap();
    assert_eq!((answer["command"].as_str(), answer["receipt"]["cache"].as_str()), (Some("INSERT 0 3"), Some("none")));
    let answer: Value = ask(&doors, json!({"sql": "show weir.read", "settings": {"weir.read": "copy", "weir.receipt": true}})).await.json().await.unwrap();
    assert_eq!(answer["rows"], json!([["copy"]]));
    for (given, echoed) in [
        (json!(5), json!(5)),
        (json!(true), json!(true)),
        (json!(1.5), json!(1.5)),
        (json!("a'b"), json!("a'b")),
        (Value::Null, Value::Null),
        (json!(u64::MAX), json!("18446744073709551615")),
    ] {
        let answer: Value = ask(&doors, json!({"sql": "select echo($1)", "params": [given]})).await.json().await.unwrap();
        assert_eq!(answer["rows"], json!([[echoed]]));
    }
    let answer: Value = ask(&doors, json!({"sql": "select database()", "database": "shop"})).await.json().await.unwrap();
    assert_eq!(answer["rows"], json!([["shop"]]));
    let answer: Value = ask(&doors, json!({"sql": "select n from numbers(0)"})).await.json().await.unwrap();
    assert_eq!((&answer["rows"], &answer["columns"]), (&json!([]), &json!([{"name": "n", "type": "bigint"}])));
}

#[tokio::test(flavor = "multi_thread")]
async fn csv_and_arrow() {
    let doors = Doors::open().await;
    let get =
        |accept: &'static str| Client::new().post(doors.url("/v1/query")).header("accept", accept).json(&json!({"sql": "select n from numbers(2500)"})).send();
    let csv = get("text/csv").await.unwrap();
    assert_eq!(csv.headers()["content-type"], "text/csv; charset=utf-8; header=present");
    let expected: String = std::iter::once("n\n".to_owned()).chain((0..2500).map(|n| format!("{n}\n"))).collect();
    assert_eq!(csv.text().await.unwrap(), expected);
    let stream = get("application/vnd.apache.arrow.stream, application/json;q=0.5").await.unwrap();
    assert_eq!(stream.headers()["content-type"], "application/vnd.apache.arrow.stream");
    let bytes = stream.bytes().await.unwrap();
    let batches: Vec<_> = StreamReader::try_new(&bytes[..], None).unwrap().map(Result::unwrap).collect();
    assert_eq!(batches.iter().map(|batch| batch.num_rows()).collect::<Vec<_>>(), [1000, 1000, 500]);
    assert_eq!(error_of(get("image/png").await.unwrap()).await.0, 406);
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_before_the_first_row_have_their_status() {
    let doors = Doors::open().await;
    let cases = [
        (json!({"sql": "select * from missing"}), 404, "42P01"),
        (json!({"sql": "select over budget"}), 422, "53400"),
        (json!({"sql": "selec 1"}), 400, "42601"),
        (json!({"sql": "select 1; select 2"}), 400, "42601"),
        (json!({"sql": " "}), 400, "42601"),
        (json!({"sql": "select text with zero", "settings": {"weir.raed": "copy"}}), 400, "42704"),
        (json!({"sql": "select 1", "query_id": "seven"}), 400, "08P01"),
        (json!({"sql": "select 1", "params": [[[1]]]}), 400, "08P01"),
        (json!({"sql": "select 1", "params": [{"a": 1}]}), 400, "08P01"),
        (json!({"sql": "select 1", "settings": {"timezone": "Nope/Zone"}}), 400, "22023"),
        (json!({"sql": "select 1", "settings": {"timezone": 5}}), 400, "22023"),
        (json!({"sql": "select 1", "settings": {"extra_float_digits": 99}}), 400, "22023"),
        (json!({"sql": "select 1", "settings": {"timezne": "UTC"}}), 400, "42704"),
        (json!({"sql": "select 1", "parameters": []}), 400, "08P01"),
        (json!({"sql": "select database()", "database": "nowhere"}), 400, "3D000"),
        (json!({"sql": "x".repeat(2 * 1024 * 1024)}), 413, "54000"),
        (json!({"sql": "x".repeat(9 * 1024 * 1024)}), 413, "54000"),
    ];
    for (question, status, code) in cases {
        let (got, error) = error_of(ask(&doors, question).await).await;
        assert_eq!((got, error["code"].as_str()), (status, Some(code)), "{error}");
    }
    let (_, error) = error_of(ask(&doors, json!({"sql": "select * from missing"})).await).await;
    assert_eq!((error["message"].as_str(), error["hint"].as_str()), (Some("unknown table"), Some("did you mean app_pg.public.customers?")));
    assert_eq!(error["query_id"].as_str().unwrap().len(), 36);
}

#[tokio::test(flavor = "multi_thread")]
async fn requests_that_are_none() {
    let doors = Doors::open().await;
    let client = Client::new();
    let post = |body: &'static str, kind: &'static str| client.post(doors.url("/v1/query")).header("content-type", kind).body(body).send();
    let (status, error) = error_of(post("{\"sql\":\n \"select 1\",,}", "application/json").await.unwrap()).await;
    assert_eq!((status, error["message"].as_str(), error["detail"].as_str()), (400, Some("the body is not JSON"), Some("line 2, column 13")));
    let (status, error) = error_of(post("{\"sqll\": \"secret\"}", "application/json").await.unwrap()).await;
    assert_eq!(status, 400);
    assert!(error["detail"].as_str().unwrap().starts_with("unknown field `sqll`"), "{error}");
    assert_eq!(error_of(post("{\"sql\":\"select 1\"}", "text/plain").await.unwrap()).await.0, 415);
    let (status, error) = error_of(client.get(doors.url("/v2/nothing")).send().await.unwrap()).await;
    assert_eq!((status, error["message"].as_str(), error["detail"].as_str()), (404, Some("no such route"), Some("/v2/nothing")));
    let (status, error) = error_of(client.get(doors.url("/v1/query")).send().await.unwrap()).await;
    assert_eq!((status, error["detail"].as_str()), (405, Some("GET /v1/query")));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_breaks_is_never_taken_for_whole() {
    let doors = Doors::open().await;
    for accept in ["application/json", "text/csv", "application/vnd.apache.arrow.stream"] {
        let response = Client::new().post(doors.url("/v1/query")).header("accept", accept).json(&json!({"sql": "select broken"})).send().await.unwrap();
        assert_eq!(response.status(), 200);
        let mut pieces = response.bytes_stream();
        let mut body = Vec::new();
        let mut whole = true;
        while let Some(piece) = pieces.next().await {
            match piece {
                Ok(piece) => body.extend_from_slice(&piece),
                Err(_) => whole = false,
            }
        }
        assert!(!whole, "{accept}");
        if accept == "application/json" {
            let answer: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!((&answer["rows"], answer["error"]["code"].as_str(), answer.get("receipt")), (&json!([[0], [1], [2]]), Some("08006"), None));
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_is_watched_and_cancelled_by_its_id() {
    let doors = Doors::open().await;
    let id = "0196f3a0-0000-7000-8000-000000000001";
    let client = Client::new();
    let (response, ()) = tokio::join!(ask(&doors, json!({"sql": "select stuck", "query_id": id})), async {
        reached(&doors.canned.begun, 1).await;
        let status: Value = client.get(doors.url(&format!("/v1/queries/{id}"))).send().await.unwrap().json().await.unwrap();
        assert_eq!((status["query_id"].as_str(), status["state"].as_str()), (Some(id), Some("running")));
        assert_eq!(client.delete(doors.url(&format!("/v1/queries/{id}"))).send().await.unwrap().status(), 202);
    });
    let (status, error) = error_of(response).await;
    assert_eq!((status, error["code"].as_str(), error["query_id"].as_str()), (499, Some("57014"), Some(id)));
    reached(&doors.canned.dropped, 1).await;
    for (method, id) in [(Method::GET, id), (Method::DELETE, id), (Method::DELETE, "seven")] {
        let response = client.request(method, doors.url(&format!("/v1/queries/{id}"))).send().await.unwrap();
        assert_eq!(error_of(response).await.0, 404);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_away_ends_its_query() {
    let doors = Doors::open().await;
    for (round, sql) in ["select stuck", "select stuck early", "select three then stuck", "select n from numbers(100000000)"].into_iter().enumerate() {
        let asking = tokio::spawn(Client::new().post(doors.url("/v1/query")).json(&json!({"sql": sql})).send());
        reached(&doors.canned.begun, round as u64 + 1).await;
        asking.abort();
        drop(asking.await);
        reached(&doors.canned.dropped, round as u64 + 1).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn plans() {
    let doors = Doors::open().await;
    let client = Client::new();
    let plan: Value = client.post(doors.url("/v1/plan")).json(&json!({"sql": "select 1"})).send().await.unwrap().json().await.unwrap();
    assert_eq!((plan["verdict"].as_str(), plan["why"].as_str(), &plan["residual"]), (Some("run"), Some("within budget"), &json!(["Scan"])));
    let refused = client.post(doors.url("/v1/plan")).json(&json!({"sql": "select * from missing"})).send().await.unwrap();
    assert_eq!(error_of(refused).await.1["code"], "42P01");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_server_tells_about_itself() {
    let metrics = weir_server::metrics::install().unwrap();
    let doors = Doors::with(ServerConfig { metrics: Some(metrics), version: "9.8.7".into(), ..ServerConfig::default() }).await;
    let get = |path: &'static str| Client::new().get(doors.url(path)).send();
    let health: Value = get("/healthz").await.unwrap().json().await.unwrap();
    assert_eq!((health["status"].as_str(), health["version"].as_str()), (Some("alive"), Some("9.8.7")));
    let ready = get("/readyz").await.unwrap();
    assert_eq!(
        (ready.status().as_u16(), ready.json::<Value>().await.unwrap()),
        (200, json!({"ready": true, "unreachable_count": 1, "unreachable": ["billing_mysql"]}))
    );
    doors.canned.ready.send_replace(false);
    assert_eq!(get("/readyz").await.unwrap().status(), 503);
    ask(&doors, json!({"sql": "select * from missing"})).await;
    let shown = get("/metrics").await.unwrap().text().await.unwrap();
    assert!(shown.contains("weir_queries_total{door=\"http\",outcome=\"42P01\"}"), "{shown}");
    let page = get("/").await.unwrap();
    assert_eq!(page.headers()["content-type"], "text/html; charset=utf-8");
    assert_eq!(page.headers()["x-content-type-options"], "nosniff");
    assert!(page.text().await.unwrap().contains("<h1>Weir</h1>"));
}

/// Every path and method of the description is a route, and every route answers with JSON errors.
#[tokio::test(flavor = "multi_thread")]
async fn the_api_description_is_true() {
    let doors = Doors::open().await;
    let api: Value = Client::new().get(doors.url("/openapi.json")).send().await.unwrap().json().await.unwrap();
    let paths = api["paths"].as_object().unwrap();
    assert_eq!(paths.keys().collect::<Vec<_>>(), ["/", "/healthz", "/readyz", "/openapi.json", "/metrics", "/v1/query", "/v1/plan", "/v1/queries/{id}"]);
    for (path, operations) in paths {
        let url = doors.url(&path.replace("{id}", "0196f3a0-0000-7000-8000-00000000ffff"));
        for method in ["get", "post", "delete", "put"] {
            let response = Client::new().request(method.to_uppercase().parse().unwrap(), &url).send().await.unwrap();
            assert_eq!(response.status() == 405, operations.get(method).is_none(), "{method} {path}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_pages_are_refused_in_open_mode() {
    let doors = Doors::open().await;
    let client = Client::new();
    for (name, value, status) in [
        ("host", "evil.example", 403),
        ("host", "localhost:1", 200),
        ("origin", "https://evil.example", 403),
        ("origin", "null", 403),
        ("origin", "http://127.0.0.1:1", 200),
    ] {
        let response = client.post(doors.url("/v1/query")).header(name, value).json(&json!({"sql": "select 1"})).send().await.unwrap();
        assert_eq!(response.status(), status, "{name}: {value}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_breaks_answers_off_after_the_grace_time() {
    let mut doors = Doors::with(ServerConfig { drain: Duration::from_millis(200), ..ServerConfig::default() }).await;
    let mut socket = tokio::net::TcpStream::connect(doors.http).await.unwrap();
    let body = "{\"sql\":\"select three then stuck\"}";
    let request = format!("POST /v1/query HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    socket.write_all(request.as_bytes()).await.unwrap();
    reached(&doors.canned.begun, 1).await;
    doors.shutdown.cancel();
    (&mut doors.running).await.unwrap().unwrap();
    reached(&doors.canned.dropped, 1).await;
    let mut text = String::new();
    socket.read_to_string(&mut text).await.unwrap();
    assert!(text.contains("\n],\"error\":{\"code\":\"57014\",\"message\":\"weir is shutting down\""), "{text}");
    assert!(!text.ends_with("0\r\n\r\n"), "the body must not end as if it were whole");
}
