// SPDX-License-Identifier: Apache-2.0
//! Everything that the capability table calls exact, done by a PostgreSQL on tricky rows; and the page of the reference that says so.

use crate::conformance::{Page, keep, prove};
use crate::subject;

/// A column's type, and values that tell meanings apart; NULL is added.
type Sample = (&'static str, &'static str);

const NUMBERS: [Sample; 11] = [
    ("int2", "-32768|32767|0|-1|5"),
    ("int4", "-2147483648|2147483647|0|-1|46341|-7"),
    ("int8", "-9223372036854775808|9223372036854775807|0|-1|3037000500|-7"),
    ("oid", "0|7|4294967295"),
    ("numeric(10,2)", "-99999999.99|99999999.99|0|0.01|-0.05"),
    ("numeric(20,6)", "-99999999999999.999999|99999999999999.999999|0|0.000001"),
    ("numeric(38,10)", "9999999999999999999999999999.9999999999|-1|0|1.0000000001"),
    ("numeric", "-0.000000000000000001|10000000000|0|0.01"),
    ("float4", "'-0.0'|0.0|0.1|3.4e38|1.5|'NaN'|'Infinity'|'-Infinity'|1e-45"),
    ("float8", "'-0.0'|0.0|0.1|1e308|-1e308|9007199254740993|5e-324|1.5|'NaN'|'Infinity'|'-Infinity'"),
    ("bool", "true|false"),
];

const MOMENTS: [Sample; 4] = [
    ("date", "'4714-11-25 BC'|'0044-03-15 BC'|'0001-12-31 BC'|'0001-01-01'|'1969-12-31'|'2024-02-29'|'2024-12-30'|'9999-12-31'|'2023-01-01'"),
    ("time", "'00:00'|'23:59:59.999999'|'12:00:00.000001'"),
    (
        "timestamp",
        "'4713-01-01 12:00 BC'|'0044-03-15 12:34:56 BC'|'0001-01-01 00:00:00.000001'|'1969-12-31 23:59:59.999999'|'2024-02-29 12:34:56.5'|'2021-01-03 01:00'|'9999-12-31 23:59:59.999999'",
    ),
    ("timestamptz", "'1969-12-31 23:59:59.999999+00'|'2024-03-31 01:30:00+00'|'2024-10-27 00:59:59+00'|'9999-12-31 23:59:59+00'"),
];

const WIDE: &str = "'a'|'A'|'a '|'aa'|''|' '|'é'|E'e\\u0301'|'e'|'😀'|'😀a'|'日本'|'a%'|'a_b'|'it''s'|E'a\\\\b'|'Z'|'~'|'ß'|'ss'|repeat('ä', 3000)|E'a\\t'";
const SHORT: &str = "'a'|'A'|'a '|'aa'|''|'é'|'e'|'a%'|'Z'";

const KINDS_OF_TEXT: [Sample; 15] = [
    ("text", WIDE),
    ("text COLLATE \"C\"", WIDE),
    ("text COLLATE \"de-DE-x-icu\"", WIDE),
    ("text COLLATE loose", WIDE),
    ("varchar(40)", SHORT),
    ("char(4)", "'a'|'A'|'aa'|''|'é'|'Z'"),
    ("citext", SHORT),
    ("name", SHORT),
    ("bytea", "'\\x'|'\\x00'|'\\xff'|'\\x6100'|'\\x61'"),
    ("uuid", "'00000000-0000-0000-0000-000000000001'|'ffffffff-ffff-ffff-ffff-ffffffffffff'|'6f1d1e0a-0000-4000-8000-00000000abcd'"),
    ("mood", "'zeta'|'alpha'"),
    ("jsonb", r#"'{}'|'null'|'{"b": 1, "a": 2}'|'{"a": null, "": "x"}'|'{"a": "é \" \\ 😀 a", "it''s": true}'|'[1.5, "b", null]'|'[]'|'"a"'|'7'"#),
    ("json", r#"'{"a":1, "a":2}'|'[1]'|'"a"'"#),
    ("interval", "'1 month'|'30 days'|'-1 s'"),
    ("inet", "'10.0.0.1'|'::1'"),
];

fn script(samples: &[Sample], table: &str) -> String {
    let columns: Vec<String> = samples.iter().enumerate().map(|(index, (kind, _))| format!("c{index} {kind}")).collect();
    let values: Vec<Vec<&str>> = samples.iter().map(|(_, values)| values.split('|').collect()).collect();
    let rows = values.iter().map(Vec::len).max().unwrap() + 2;
    let cell = |column: usize, row: usize| values[column].get(row).copied().unwrap_or("NULL");
    let row = |row: usize| format!("({}, {})", row + 1, (0..samples.len()).map(|column| cell(column, row)).collect::<Vec<_>>().join(", "));
    let inserts: Vec<String> = (0..rows).map(row).map(|row| format!("INSERT INTO {table} VALUES {row};")).collect();
    format!("CREATE TABLE {table} (id int4 PRIMARY KEY, {});\n{}\n", columns.join(", "), inserts.join("\n"))
}

const HEAD: &str = "Which operations, aggregates and functions Weir leaves to PostgreSQL, by the type and the collation of the column. \
    Tested on PostgreSQL 15 with an answer for every place that says exact. Servers that only speak the protocol (`server: compatible`, Redshift) \
    get comparisons and NULL tests alone: code `server`. A timestamp in the last weeks of 4714 BC cannot be cut to its month or year there: error 22003.\n\n\
    Texts are sorted by their bytes (`COLLATE \"C\"`). Where `values: { nan, infinity }` of the source changes what is read, what would meet such \
    values is kept or checked again: code `values`. This page is for the default, `keep`.";

#[tokio::test]
async fn what_is_called_exact_is_computed_as_here() {
    let types = "CREATE EXTENSION citext; CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
        CREATE TYPE mood AS ENUM ('zeta', 'alpha');\n";
    let tables: [(&str, &[Sample]); 3] = [("numbers", &NUMBERS), ("moments", &MOMENTS), ("texts", &KINDS_OF_TEXT)];
    let scripts: Vec<String> = tables.iter().map(|(table, samples)| script(samples, table)).collect();
    let subject = subject("capabilities", &format!("{types}{}", scripts.concat())).await;
    let mut page = Page::default();
    for (table, _) in tables {
        prove(&subject, &subject.find(table).await, &mut page).await;
    }
    assert_eq!(page.failures, 0, "see above");
    assert!(page.executed > 5_000, "only {} were computed", page.executed);
    keep("push-down-postgres.md", &page.text("Push-down to PostgreSQL", HEAD));
}
