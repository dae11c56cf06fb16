// SPDX-License-Identifier: Apache-2.0
//! What `support` calls exact finds the same rows in the server as here, over values chosen to differ.

use crate::conformance::{Subject, support_agrees_with_the_server};
use crate::{server, source, spec, subject};
use arrow::datatypes::DataType;
use weir_guard::Limits;
use weir_source::{Operand, Support, ValuePolicy, connect};

const ADVERSARIAL: &str = r#"
CREATE EXTENSION citext;
CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
CREATE TYPE mood AS ENUM ('zeta', 'alpha');
CREATE DOMAIN price AS numeric(8,2);
CREATE TABLE tricky (id int4 PRIMARY KEY, yes bool, tiny int2, big int8, oid_ oid, single float4, double float8, cash numeric(10,2), loose_cash numeric, priced price,
    plain text, de text COLLATE "de-DE-x-icu", loose text COLLATE loose, ci citext, padded char(4), name_ name, raw bytea,
    day date, clock time, moment timestamp, instant timestamptz, uid uuid, mood mood, doc jsonb, ints int[]);
INSERT INTO tricky VALUES
 (1, true, -32768, -9223372036854775808, 0, -1.5, -0.0, -99999999.99, -0.000000000000000001, -1, 'a', 'a', 'a', 'a', 'a', 'a', '\x', '4714-11-25 BC', '00:00', '4714-11-25 BC', '4714-11-25 00:00+00 BC', '00000000-0000-0000-0000-000000000001', 'zeta', '{}', '{1}'),
 (2, false, 32767, 9223372036854775807, 4294967295, 0.1, 0.0, 99999999.99, 10000000000, 0, 'A', 'A', 'A', 'A', 'A', 'A', '\x00', '9999-12-31', '23:59:59.999999', '9999-12-31 23:59:59.999999', '9999-12-31 23:59:59.999999+00', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 'alpha', 'null', '{}'),
 (3, NULL, 0, 0, 7, 'NaN', 'NaN', 0, 0, 0.01, 'a ', 'a ', 'a ', 'a ', 'a ', 'a ', '\x0000', '1970-01-01', '12:00', '1969-12-31 23:59:59.999999', '1969-12-31 23:59:59.999999+00', '6f1d1e0a-0000-4000-8000-00000000abcd', NULL, '1', NULL),
 (4, NULL, -1, -1, 8, 'Infinity', '-Infinity', 0.01, 0.01, NULL, 'ä', 'ä', 'ä', 'ä', 'ä', 'ä', '\xff', '2026-11-30', '12:00:00.000001', '2026-11-30', '2026-11-30 00:00+00', NULL, NULL, NULL, NULL),
 (5, NULL, 1, 1, 9, 3.4e38, 1e308, -0.01, NULL, NULL, 'a\''b', 'a\b', 'aB', 'ab', 'ab', 'ab', '\x5c27', '0001-01-01', NULL, '0001-01-01', NULL, NULL, NULL, NULL, NULL),
 (6, NULL, NULL, NULL, NULL, NULL, 0.1, NULL, NULL, NULL, '', '', '', '', '', '', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
 (7, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 'straße', 'strasse', 'STRASSE', 'STRASSE', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
 (9, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, '🎉', U&'e\0301', U&'\00e9', 'É', 'x', 'x', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO tricky (id) VALUES (8);
"#;

const LITERALS: [&str; 12] =
    ["a", "A", "a  ", "aa", "\u{e9}", "e\u{301}", "zeta", "z", "\u{1f389}", "it's \\ \"x\"", "", "6F1D1E0A-0000-4000-8000-00000000ABCD"];

#[tokio::test]
async fn pushed_comparisons_find_the_rows_that_we_would() {
    let subject = subject("tricky", ADVERSARIAL).await;
    let table = subject.find("tricky").await;
    let tally = support_agrees_with_the_server(&subject, &table, &LITERALS).await;
    assert!(tally.exact > 400 && tally.superset > 50 && tally.never > 50, "{tally:?}");
}

/// The same under every policy for what our types cannot hold.
#[tokio::test]
async fn pushed_comparisons_agree_under_every_policy() {
    let script = "
        CREATE TABLE odd (id int PRIMARY KEY, n numeric(10,2), loose numeric, f float8, ts timestamptz, d date);
        INSERT INTO odd VALUES (1, 'NaN', 'Infinity', 'NaN', 'infinity', '-infinity'), (2, 1.25, '-Infinity', '-Infinity', '-infinity', 'infinity'), (3, 2, 3, 4, 'epoch', 'epoch'),
            (4, NULL, NULL, NULL, NULL, NULL), (5, -2, 'NaN', 'Infinity', '9999-12-31', '0001-01-01'), (6, 99999999.99, 5, -4, '0044-03-15 BC', '9999-12-31');";
    source("odd_meaning", script).await;
    for infinity in [ValuePolicy::Null, ValuePolicy::Clamp] {
        let mut spec = spec(server().await.url("odd_meaning"));
        (spec.nan, spec.infinity) = (ValuePolicy::Null, infinity);
        let subject = Subject::new(connect(spec).unwrap(), Limits::default(), "public");
        let table = subject.find("odd").await;
        let tally = support_agrees_with_the_server(&subject, &table, &[]).await;
        assert!(tally.exact > 30 && tally.superset > 5 && tally.never >= 5, "{tally:?}");
    }
}

/// F4: a literal that had to be converted would hide the column from its index.
#[tokio::test]
async fn typed_literals_leave_the_index_usable() {
    let script = "
        CREATE EXTENSION citext;
        CREATE TABLE indexed (id int4, big int8, small int2, price numeric(10,2), at timestamptz, naive timestamp, day date, uid uuid, name varchar(40), label text, raw bytea);
        INSERT INTO indexed SELECT n, n, n % 30000, n / 100.0, '2026-01-01'::timestamptz + n * interval '1 s', '2026-01-01'::timestamp + n * interval '1 s', '1990-01-01'::date + n % 20000,
            gen_random_uuid(), 'n' || n, 'l' || n, decode(lpad(to_hex(n), 8, '0'), 'hex') FROM generate_series(1, 50000) n;
        CREATE INDEX ON indexed (id); CREATE INDEX ON indexed (big); CREATE INDEX ON indexed (small); CREATE INDEX ON indexed (price); CREATE INDEX ON indexed (at);
        CREATE INDEX ON indexed (naive); CREATE INDEX ON indexed (day); CREATE INDEX ON indexed (uid); CREATE INDEX ON indexed (name); CREATE INDEX ON indexed (label); CREATE INDEX ON indexed (raw);
        VACUUM ANALYZE;";
    let subject = subject("indexed", script).await;
    let table = subject.find("indexed").await;
    let uid = server().await.query("indexed", "SELECT uid FROM indexed LIMIT 1").await.unwrap();
    let literals = [
        ("id", Operand::Int(77)),
        ("big", Operand::Int(-77)),
        ("small", Operand::Int(7)),
        ("price", Operand::Decimal(1250)),
        ("at", Operand::Timestamp(1_767_225_677_000_000)),
        ("naive", Operand::Timestamp(1_767_225_677_000_000)),
        ("day", Operand::Date(10_000)),
        ("uid", Operand::Text(uid.trim())),
        ("name", Operand::Text("n77")),
        ("label", Operand::Text("l77")),
        ("raw", Operand::Bytes(&[0, 0, 0, 77])),
    ];
    for (name, literal) in literals {
        let column = table.columns.iter().find(|column| column.name == name).unwrap();
        assert_eq!(subject.source.support(&weir_source::Operation::Equal(literal), column), Support::Exact, "{name}");
        let literal = subject.source.dialect().literal_for(literal, column).unwrap();
        let plan = server().await.query("indexed", &format!("EXPLAIN SELECT * FROM indexed WHERE \"{name}\" = {literal}")).await.unwrap();
        assert!(plan.contains("Index"), "{name} = {literal}\n{plan}");
        assert!(subject.fetch(&format!("SELECT id FROM indexed WHERE \"{name}\" = {literal}"), &[("id", DataType::Int32)]).await.is_ok());
    }
}
