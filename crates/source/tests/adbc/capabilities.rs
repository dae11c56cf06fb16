// SPDX-License-Identifier: Apache-2.0
//! Everything that the capability table calls exact for Snowflake, done by the stand-in on tricky rows; and the page of the reference.

use crate::conformance::{Page, Subject, keep, prove};
use crate::{spec, stand_in};
use weir_guard::Limits;
use weir_source::connect;

const TABLES: &str = "
create database if not exists proof;
use database proof;
create schema if not exists public;
use schema public;
create table proof.public.numbers (id number(10,0) not null, few number(9,0), whole number(18,0), many number(38,0), cash number(12,2), wide number(38,10), good boolean, ratio float);
insert into proof.public.numbers select 1, 999999999, 999999999999999999, 999999999999999999, 9999999999.99, 999999999999999999.9999999999, true, 1.5;
insert into proof.public.numbers select 2, -999999999, -999999999999999999, -999999999999999999, -9999999999.99, -1, false, 0.1;
insert into proof.public.numbers select 3, 0, 0, 0, 0.01, 1.0000000001, true, -1e300;
insert into proof.public.numbers select 4, 7, 7, 7, 0.01, 0, null, 0.0;
insert into proof.public.numbers (id) values (5);
insert into proof.public.numbers (id) values (6);
create table proof.public.others (id number(10,0) not null, name varchar, short varchar(10), day date, clock time, ts timestamp_ntz, tsz timestamp_tz, tsl timestamp_ltz, raw binary, doc variant);
insert into proof.public.others select 1, 'a', 'a', '0001-01-01', '00:00:00', '1905-06-07 08:09:10.000001', '2026-11-30 01:02:03.25', '2026-11-30 01:02:03.5', to_binary('00FF', 'hex'), parse_json('1');
insert into proof.public.others select 2, 'A', 'a ', '9999-12-31', '23:59:59.999999', '9999-12-31 23:59:59.999999', '1969-12-31 23:59:59', '1969-12-31 23:59:59', to_binary('00', 'hex'), parse_json('\"x\"');
insert into proof.public.others select 3, 'a ', '', '2024-02-29', '12:00:00', '2024-02-29 12:34:56.5', '2024-03-31 01:30:00', '2024-03-31 01:30:00', to_binary('', 'hex'), null;
insert into proof.public.others select 4, 'é', 'Z', '1969-12-31', '12:00:00', '1969-12-31 23:59:59.999999', '2024-03-31 01:30:00', null, null, null;
insert into proof.public.others (id, name) values (5, 'it''s');
insert into proof.public.others (id) values (6);
";

const HEAD: &str = "Which operations, aggregates and functions Weir leaves to a cloud warehouse. The tables are for Snowflake: what is exact is documented \
    there to mean the same, and was computed by a stand-in that speaks its protocol.\n\n\
    BigQuery, Redshift, Databricks and others through ADBC get comparisons and NULL tests as their documents allow, and LIMIT. Groups, aggregates, \
    joins, orders and functions over them stay here until they are proven: code `unproven`.";

#[tokio::test(flavor = "multi_thread")]
async fn what_is_called_exact_is_computed_as_here() {
    let server = stand_in().await;
    server.run(TABLES).await.unwrap();
    let mut spec = spec(server, Limits::default());
    spec.options.extend(server.adbc_options("PROOF", "PUBLIC"));
    let subject = Subject::new(connect(spec).unwrap(), Limits::default(), "PUBLIC");
    let mut page = Page::default();
    for table in ["NUMBERS", "OTHERS"] {
        prove(&subject, &subject.find(table).await, &mut page).await;
    }
    assert_eq!(page.failures, 0, "see above");
    assert!(page.executed > 500, "only {} were computed", page.executed);
    keep("push-down-adbc.md", &page.text("Push-down to cloud warehouses (ADBC)", HEAD));
}
