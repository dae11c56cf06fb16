// SPDX-License-Identifier: Apache-2.0
//! Dates and times under a session's zone: the same statement gives what PostgreSQL itself says, with push-down on and off.

use crate::kit::{World, mariadb, postgres};
use std::sync::Arc;
use weir_api::{Parameter, Query, Session};
use weir_base::ErrorCode;
use weir_sandbox::Postgres;

const DATABASE: &str = "moments";
const ZONES: [&str; 4] = ["UTC", "Asia/Kolkata", "Europe/Berlin", "America/New_York"];

const TABLE: &str = "CREATE TABLE t (id int PRIMARY KEY, tz timestamptz, ts timestamp, d date, ti time);
    INSERT INTO t VALUES
        (1, '2026-11-30 18:30:00+00', '2026-11-30 18:30:00', '2026-11-30', '18:30'),
        (2, '2026-12-01 00:00:00+00', '2026-12-01 00:00:00', '2026-12-01', '00:00'),
        (3, '2026-03-29 01:30:00+00', '2026-03-29 02:30:00', '2026-03-29', '02:30'),
        (4, '2026-10-25 00:30:00+00', '2026-10-25 02:30:00', '2026-10-25', '02:30'),
        (5, '2026-10-25 01:30:00+00', '2026-10-25 01:30:00', '2026-10-24', '23:59:59.5'),
        (6, '2026-11-29 18:30:00+00', '2026-11-30 00:00:00', '1969-12-31', '12:00'),
        (7, '1969-12-31 23:59:59.999999+00', '1969-12-31 23:59:59.999999', '0001-01-01', '23:59:59.999999'),
        (8, '2150-07-01 12:00:00+00', '9999-12-31 23:59:59', '9999-12-31', '00:00:01'),
        (9, NULL, NULL, NULL, NULL);";

const TEXTS: [&str; 9] = [
    "2026-11-30",
    "2026-11-30 18:30",
    "2026-11-30T18:30:00Z",
    "2026-03-29 02:30:00",
    "2026-10-25 02:30:00",
    "2026-12-01 00:00:00 Europe/Berlin",
    "2150-07-01 12:00",
    "Nov 30 2026 6:30 PM",
    "2026-11-30 13:30-05",
];

/// A text that meets an instant in every way there is.
const OF_TEXT: [&str; 12] = [
    "SELECT id FROM {t} WHERE tz >= '{x}' ORDER BY id",
    "SELECT id FROM {t} WHERE '{x}' = tz ORDER BY id",
    "SELECT id FROM {t} WHERE tz IN ('{x}', '2026-12-01 00:00:00') ORDER BY id",
    "SELECT id FROM {t} WHERE tz BETWEEN '{x}' AND '2026-12-31' ORDER BY id",
    "SELECT id FROM {t} WHERE tz IS DISTINCT FROM '{x}' ORDER BY id",
    "SELECT id FROM {t} WHERE tz >= date '{x}' ORDER BY id",
    "SELECT id FROM {t} WHERE tz < timestamp '{x}' ORDER BY id",
    "SELECT id FROM {t} WHERE ts >= '{x}' AND d <= '{x}' ORDER BY id",
    "SELECT CAST('{x}' AS timestamptz)::text, timestamptz '{x}'::text, timestamp '{x}'::text, date '{x}'::text",
    "SELECT id, coalesce(tz, '{x}')::text, nullif(tz, '{x}')::text FROM {t} ORDER BY id",
    "SELECT id, CASE WHEN id = 1 THEN tz ELSE '{x}' END::text FROM {t} ORDER BY id",
    "SELECT greatest(tz, '{x}')::text FROM {t} ORDER BY id",
];

/// What stands for itself.
const OTHERS: [&str; 33] = [
    "SELECT id FROM {t} WHERE tz >= d ORDER BY id",
    "SELECT id FROM {t} WHERE tz > ts ORDER BY id",
    "SELECT id FROM {t} WHERE ts > d ORDER BY id",
    "SELECT a.id, b.id FROM {t} a JOIN {t} b ON a.tz = b.ts ORDER BY 1, 2",
    "SELECT a.id, b.id FROM {t} a JOIN {t} b ON a.tz = b.d ORDER BY 1, 2",
    "SELECT tz::text FROM (SELECT tz FROM {t} UNION ALL SELECT ts FROM {t}) u ORDER BY tz",
    "SELECT tz::text FROM {t} WHERE tz IN (SELECT ts FROM {t}) ORDER BY tz",
    "SELECT id, tz::date::text, tz::timestamp::text, tz::time::text, tz::text FROM {t} ORDER BY id",
    "SELECT id, ts::text, d::text, ti::text, ts::date::text, d::timestamptz::text, ts::timestamptz::text FROM {t} ORDER BY id",
    "SELECT id FROM {t} WHERE tz::date = '2026-12-01' ORDER BY id",
    "SELECT id FROM {t} WHERE tz::text LIKE '2026-12-01%' ORDER BY id",
    "SELECT id, 'at ' || tz FROM {t} ORDER BY id",
    "SELECT tz::date::text, count(*) FROM {t} GROUP BY tz::date ORDER BY tz::date",
    "SELECT count(*) FROM {t} WHERE now()::date <> current_date",
    "SELECT id, date_trunc('day', tz)::text, date_trunc('hour', tz)::text, date_trunc('week', tz)::text FROM {t} ORDER BY id",
    "SELECT id, date_trunc('month', tz)::text, date_trunc('quarter', tz)::text, date_trunc('century', tz)::text FROM {t} ORDER BY id",
    "SELECT id, date_trunc('week', ts)::text, date_trunc('year', ts)::text, date_trunc('decade', ts)::text FROM {t} ORDER BY id",
    "SELECT id, extract(hour FROM tz)::int, extract(day FROM tz)::int, extract(doy FROM tz)::int, extract(isodow FROM tz)::int FROM {t} ORDER BY id",
    "SELECT id, (tz + interval '1 day')::text, (tz - interval '1 month')::text, (tz + interval '24 hours')::text FROM {t} ORDER BY id",
    "SELECT (timestamptz '2026-03-28 12:00' + interval '1 day')::text, (timestamptz '2026-10-24 12:00' + interval '1 month 1 day')::text",
    "SELECT id, (tz AT TIME ZONE 'Asia/Tokyo')::text, (ts AT TIME ZONE 'Asia/Tokyo')::text, (d AT TIME ZONE 'EST')::text FROM {t} ORDER BY id",
    "SELECT id FROM {t} WHERE tz AT TIME ZONE 'America/New_York' >= '2026-11-30' ORDER BY id",
    "SELECT timestamp '2026-11-30 24:00:00'::text, timestamp '2026-11-30 23:59:60'::text, timestamp '2026-11-30 10:00:00.0000005'::text",
    "SELECT date '20261130'::text, date 'Nov 30, 2026'::text, date '11/30/2026'::text, date '0044-03-15 BC'::text, timestamp 'epoch'::text",
    "SELECT id, to_char(tz, 'YYYY-MM-DD HH24:MI:SS.US OF'), to_char(ts, 'FMDay, DDth Month YY HH12:MI AM'), to_char(d, 'IYYY-IW-ID Q DDD') FROM {t} ORDER BY id",
    "SELECT id, to_char(tz, 'Dy DY dy Mon MON mon DAY day MONTH month D W WW CC J RM FMRM') FROM {t} ORDER BY id",
    "SELECT id, to_char(ts, '\"YYYY\" yyyy/mm/dd hh24-mi-ss MS FF1 FF3 SSSS Y,YYY YYY Y a.m. P.M. ad B.C.') FROM {t} ORDER BY id",
    "SELECT id, to_char(tz, 'TZH:TZM IDDD IYY IY I FMMM FMDD FMHH24 MITH SSth') FROM {t} ORDER BY id",
    "SELECT to_timestamp(1796063778)::text, to_timestamp(1796063778.5)::text",
    "SELECT id, extract(epoch FROM tz - ts)::bigint, extract(epoch FROM ts - tz)::bigint FROM {t} WHERE id <> 8 ORDER BY id",
    "SELECT to_char(tz, 'YYYY-MM'), count(*) FROM {t} GROUP BY 1 ORDER BY 1",
    "SELECT id FROM {t} WHERE to_char(tz, 'YYYY-MM-DD') = '2026-12-01' ORDER BY id",
    "SELECT timestamptz '1800-01-01 00:00'::text, timestamptz '2500-07-01 00:00'::text, timestamptz '2026-07-30 10:00 America/New_York'::text",
];

#[tokio::test(flavor = "multi_thread")]
async fn postgres_is_the_judge() {
    let server = postgres().await;
    server.run(DATABASE, TABLE).await.unwrap();
    let world = World::builder().source("app", "postgres", &server.url(DATABASE)).start().await;
    for zone in ZONES {
        server.run(DATABASE, &format!("ALTER DATABASE {DATABASE} SET timezone = '{zone}'")).await.unwrap();
        let sessions = [session(&world, zone, "on").await, session(&world, zone, "off").await];
        let of_text = TEXTS.iter().flat_map(|text| OF_TEXT.iter().map(|pattern| pattern.replace("{x}", text)));
        for pattern in of_text.chain(OTHERS.iter().map(ToString::to_string)) {
            agree(server, &world, &sessions, &pattern).await;
        }
    }
}

async fn session(world: &World, zone: &str, mode: &str) -> Arc<Session> {
    let session = world.session("local", None);
    for setting in [format!("SET timezone = '{zone}'"), format!("SET weir.pushdown = '{mode}'")] {
        world.ask_as(&session, &setting).await.unwrap();
    }
    session
}

/// The same rows from Weir and from psql, in which NULL is empty.
async fn agree(server: &Postgres, world: &World, sessions: &[Arc<Session>], pattern: &str) {
    let truth = server.query(DATABASE, &pattern.replace("{t}", "public.t")).await.unwrap_or_else(|error| panic!("{pattern}\n{error:?}"));
    let asked = pattern.replace("{t}", "app.public.t");
    for session in sessions {
        let (rows, _) = world.ask_as(session, &asked).await.unwrap_or_else(|error| panic!("{asked}\n{error:?}"));
        let told: Vec<String> = rows.into_iter().map(|row| row.join("\t").replace("NULL", "")).collect();
        let settings = session.settings().clone();
        assert_eq!(told.join("\n").trim_end_matches('\n'), truth, "{asked}\nin {} with push-down {:?}", settings.timezone, settings.pushdown);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn parameters_and_mariadb_follow_the_zone() {
    let server = mariadb().await;
    let rows = "CREATE TABLE t (id int PRIMARY KEY, ts timestamp NULL, dt datetime NULL);
        SET time_zone = '+00:00';
        INSERT INTO t VALUES (1, '2026-11-30 18:30:00', '2026-11-30 18:30:00'), (2, '2026-12-01 00:00:00', '2026-12-01 00:00:00'), (3, '2026-11-29 18:30:00', '2026-11-29 18:30:00');";
    server.run("moments", rows).await.unwrap();
    let world = World::builder().source("billing", "mysql", &server.url("moments")).start().await;
    for mode in ["on", "off"] {
        let session = session(&world, "Asia/Kolkata", mode).await;
        let ids = async |condition: &str, params: Vec<Parameter>| {
            let sql = format!("SELECT id FROM billing.moments.t WHERE {condition} ORDER BY id");
            let told = world.tell(&session, Query::new(&sql).with_params(params)).await.unwrap_or_else(|error| panic!("{sql}\n{error:?}"));
            told.rows.concat().join(",")
        };
        assert_eq!(ids("ts >= '2026-12-01'", Vec::new()).await, "1,2");
        assert_eq!(ids("ts = '2026-12-01 00:00'", Vec::new()).await, "1");
        assert_eq!(ids("ts >= date '2026-12-01'", Vec::new()).await, "1,2");
        assert_eq!(ids("dt >= '2026-12-01'", Vec::new()).await, "2");
        assert_eq!(ids("ts::date = '2026-11-30'", Vec::new()).await, "3");
        assert_eq!(ids("ts = $1", vec![Parameter::Text("2026-12-01 00:00".into())]).await, "1");
        assert_eq!(ids("ts = $1", vec![Parameter::Text("2026-12-01 00:00Z".into())]).await, "2");
        assert_eq!(ids("ts >= $1", vec![Parameter::Date(20_788)]).await, "1,2");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_insert_reads_texts_in_the_zone() {
    let world = World::builder().start().await;
    world.rows("SET timezone = 'Asia/Kolkata'").await;
    world.rows("CREATE SCHEMA lake.zones").await;
    world.rows("CREATE TABLE lake.zones.t AS SELECT timestamptz '2026-11-30 00:00' AS tz").await;
    world.rows("INSERT INTO lake.zones.t VALUES ('2026-12-01 00:00'), (date '2026-12-02')").await;
    world.rows("SET timezone = 'UTC'").await;
    let rows = world.rows("SELECT tz::text FROM lake.zones.t ORDER BY tz").await.concat();
    assert_eq!(rows, ["2026-11-29 18:30:00+00", "2026-11-30 18:30:00+00", "2026-12-01 18:30:00+00"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_read_says_so() {
    let world = World::builder().start().await;
    for (sql, code) in [
        ("SELECT timestamptz 'infinity'", ErrorCode::Unsupported),
        ("SELECT now() - timestamptz '-infinity'", ErrorCode::Unsupported),
        ("SELECT now() > 'today'", ErrorCode::BadMoment),
        ("SELECT date '2026-02-30'", ErrorCode::MomentOutOfRange),
        ("SELECT now() AT TIME ZONE '+05:30'", ErrorCode::Unsupported),
        ("SELECT now() AT TIME ZONE 'Mars/Base'", ErrorCode::BadValue),
        ("SELECT to_char(now(), 'TMMonth')", ErrorCode::Unsupported),
    ] {
        let error = world.error(sql).await;
        assert_eq!(error.code(), code, "{sql}: {error:?}");
        assert!(error.hint().is_some() || code == ErrorCode::MomentOutOfRange, "{sql}: {error:?}");
    }
    assert_eq!(world.value("SELECT try_cast('soon' AS timestamptz) IS NULL").await, "true");
}
