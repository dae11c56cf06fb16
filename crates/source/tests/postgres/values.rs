// SPDX-License-Identifier: Apache-2.0
//! Every type of PostgreSQL comes back with exactly its value, or is refused with the name of its column.

use crate::conformance::Subject;
use crate::{cells, read_table, server, source, spec, subject};
use arrow::datatypes::{DataType, IntervalUnit, TimeUnit};
use weir_base::ErrorCode;
use weir_guard::Limits;
use weir_source::{ValuePolicy, connect};

const SCALARS: &str = r#"
CREATE TYPE "Mood" AS ENUM ('sad', 'Happy', 'it''s ok');
CREATE DOMAIN price AS numeric(12,2) CHECK (VALUE >= 0);
CREATE DOMAIN short_price AS price;
CREATE TYPE pair AS (a int, b text);
CREATE EXTENSION citext;
CREATE EXTENSION hstore;
CREATE TABLE scalars (
    id int4 PRIMARY KEY, yes bool, tiny int2, big int8, oid_ oid, single float4, double float8,
    money_ numeric(12,2), wide numeric(76,10), loose numeric, hundreds numeric(3,-2), domain_ short_price,
    plain text, vary varchar(10), name_ name, padded char(5), ci citext, raw bytea,
    day date, clock time, moment timestamp, instant timestamptz, span interval,
    uid uuid, mood "Mood", doc json, docb jsonb, ip inet, net cidr, mac macaddr, cash money, bits bit(4), markup xml, range_ int4range,
    words tsvector, pairs hstore, row_ pair, zoned timetz, point_ point, letter "char"
);
INSERT INTO scalars VALUES
 (1, true, -32768, -9223372036854775808, 4294967295, 1.5, 0.1,
  -9999999999.99, 123456789012345678901234567890123456789012345678901234567890123456.0123456789, 12345678901234567890.000000000000000001, 99900, 12.5,
  'Zoë 🎉 tab' || chr(9) || 'nl' || chr(10) || '\', 'O''Neil', 'nm', 'ab', 'MiXed', '\x00ff0a',
  '0001-01-01 BC', '23:59:59.999999', '9999-12-31 23:59:59.999999', '9999-12-31 23:59:59.999999+00', '1 year 2 mons 3 days 04:05:06.000007',
  '6f1d1e0a-0000-4000-8000-00000000abcd', 'it''s ok', '{"a": [1,  2]}', '{"b":1,"a":"x"}', '10.0.0.1/8', '10.0.0.0/8', '08:00:2b:01:02:03', '1234.5', '1010', '<a>x</a>', '[1,5)',
 'fat:2 cat:1', 'a=>1', '(1,"x y")', '12:00:00+02', '(1,2)', 'q'),
 (2, false, 32767, 9223372036854775807, 0, 'NaN', '-Infinity',
  9999999999.99, -0.0000000001, -0.5, -100, 0,
  '', '', '', '', '', '',
  '5874897-12-31', '00:00:00', '1969-12-31 23:59:59.999999', '0044-03-15 12:00:00+00 BC', '-1 mons -1 days -00:00:00.000001',
  '00000000-0000-0000-0000-000000000000', 'sad', 'null', 'null', '::1', '::/0', '00:00:00:00:00:00', '-1', '0000', NULL, 'empty',
  '', '', '(,)', '00:00:00+00', '(0,0)', '');
INSERT INTO scalars (id) VALUES (3);
"#;

#[tokio::test]
async fn scalars_of_every_type_are_exact() {
    let subject = subject("scalars", SCALARS).await;
    let table = subject.find("scalars").await;
    let type_of = |name: &str| table.columns.iter().find(|column| column.name == name).unwrap().data_type.clone();
    assert_eq!(type_of("wide"), DataType::Decimal256(76, 10));
    assert_eq!(type_of("loose"), DataType::Decimal128(38, 18));
    assert_eq!(type_of("domain_"), DataType::Decimal128(12, 2));
    assert_eq!(type_of("instant"), DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())));
    assert_eq!(type_of("span"), DataType::Interval(IntervalUnit::MonthDayNano));
    let domain = table.columns.iter().find(|column| column.name == "domain_").unwrap();
    assert_eq!(domain.native_type, "short_price (numeric(12,2))");

    let batch = read_table(&subject, "scalars").await.unwrap();
    let expected: &[(&str, [&str; 3])] = &[
        ("yes", ["true", "false", ""]),
        ("tiny", ["-32768", "32767", ""]),
        ("big", ["-9223372036854775808", "9223372036854775807", ""]),
        ("oid_", ["4294967295", "0", ""]),
        ("single", ["1.5", "NaN", ""]),
        ("double", ["0.1", "-inf", ""]),
        ("money_", ["-9999999999.99", "9999999999.99", ""]),
        ("wide", ["123456789012345678901234567890123456789012345678901234567890123456.0123456789", "-0.0000000001", ""]),
        ("loose", ["12345678901234567890.000000000000000001", "-0.500000000000000000", ""]),
        ("hundreds", ["99900", "-100", ""]),
        ("domain_", ["12.50", "0.00", ""]),
        ("plain", ["Zoë 🎉 tab\tnl\n\\", "", ""]),
        ("vary", ["O'Neil", "", ""]),
        ("name_", ["nm", "", ""]),
        ("padded", ["ab", "", ""]),
        ("ci", ["MiXed", "", ""]),
        ("raw", ["00ff0a", "", ""]),
        ("day", ["0000-01-01", "+5874897-12-31", ""]),
        ("clock", ["23:59:59.999999", "00:00:00", ""]),
        ("moment", ["9999-12-31T23:59:59.999999", "1969-12-31T23:59:59.999999", ""]),
        ("instant", ["9999-12-31T23:59:59.999999Z", "-0043-03-15T12:00:00Z", ""]),
        ("uid", ["6f1d1e0a-0000-4000-8000-00000000abcd", "00000000-0000-0000-0000-000000000000", ""]),
        ("mood", ["it's ok", "sad", ""]),
        ("doc", ["{\"a\": [1,  2]}", "null", ""]),
        ("docb", ["{\"a\": \"x\", \"b\": 1}", "null", ""]),
        ("ip", ["10.0.0.1/8", "::1/128", ""]),
        ("net", ["10.0.0.0/8", "::/0", ""]),
        ("mac", ["08:00:2b:01:02:03", "00:00:00:00:00:00", ""]),
        ("bits", ["1010", "0000", ""]),
        ("markup", ["<a>x</a>", "", ""]),
        ("range_", ["[1,5)", "empty", ""]),
        ("words", ["'cat':1 'fat':2", "", ""]),
        ("pairs", ["\"a\"=>\"1\"", "", ""]),
        ("row_", ["(1,\"x y\")", "(,)", ""]),
        ("zoned", ["12:00:00+02", "00:00:00+00", ""]),
        ("point_", ["(1,2)", "(0,0)", ""]),
        ("letter", ["q", "", ""]),
    ];
    for (name, wanted) in expected {
        if *name != "day" {
            assert_eq!(cells(&batch, name), *wanted, "column {name}");
        }
    }
    assert!(batch.columns().iter().skip(1).all(|column| column.is_null(2)), "the last row is all NULL");
    assert!(!batch.column_by_name("plain").unwrap().is_null(1), "an empty text is no NULL");
    exact_moments(&batch);
}

fn exact_moments(batch: &arrow::array::RecordBatch) {
    use arrow::array::AsArray;
    use arrow::datatypes::{Date32Type, IntervalMonthDayNano, IntervalMonthDayNanoType};
    let days = batch.column_by_name("day").unwrap().as_primitive::<Date32Type>();
    assert_eq!((days.value(0), days.value(1)), (-719_528, 2_145_042_905));
    let spans = batch.column_by_name("span").unwrap().as_primitive::<IntervalMonthDayNanoType>();
    assert_eq!(spans.value(0), IntervalMonthDayNano { months: 14, days: 3, nanoseconds: 14_706_000_007_000 });
    assert_eq!(spans.value(1), IntervalMonthDayNano { months: -1, days: -1, nanoseconds: -1_000 });
}

const ARRAYS: &str = r#"
CREATE TYPE mood AS ENUM ('sad', 'happy');
CREATE DOMAIN small AS int4 CHECK (VALUE < 10);
CREATE TABLE arrays (id int PRIMARY KEY, ints int4[], grid int8[][], texts text[], moods mood[], docs jsonb[], prices numeric(6,2)[],
    days date[], smalls small[], cube int4[][][], padded char(3)[]);
INSERT INTO arrays VALUES
 (1, '{1,NULL,3}', '{{1,2},{3,NULL}}', '{"a b","","NULL",NULL}', '{happy,sad}', ARRAY['{"a":1}'::jsonb, NULL], '{1.5,-2}', '{2026-11-30,1969-01-01}', '{1,9}', '{{{1},{2}}}', '{a,b}'),
 (2, '[1:2]={7,8}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}');
INSERT INTO arrays (id) VALUES (3);
CREATE VIEW arrays_view AS SELECT id, ints FROM arrays;
"#;

#[tokio::test]
async fn arrays_keep_nulls_and_dimensions() {
    let subject = subject("arrays", ARRAYS).await;
    let batch = read_table(&subject, "arrays").await.unwrap();
    let expected: &[(&str, [&str; 3])] = &[
        ("ints", ["[1, , 3]", "[7, 8]", ""]),
        ("grid", ["[[1, 2], [3, ]]", "[]", ""]),
        ("texts", ["[a b, , NULL, ]", "[]", ""]),
        ("moods", ["[happy, sad]", "[]", ""]),
        ("docs", ["[{\"a\": 1}, ]", "[]", ""]),
        ("prices", ["[1.50, -2.00]", "[]", ""]),
        ("days", ["[2026-11-30, 1969-01-01]", "[]", ""]),
        ("smalls", ["[1, 9]", "[]", ""]),
        ("cube", ["{{{1},{2}}}", "{}", ""]),
        ("padded", ["[a, b]", "[]", ""]),
    ];
    for (name, wanted) in expected {
        assert_eq!(cells(&batch, name), *wanted, "column {name}");
    }
    assert_eq!(cells(&read_table(&subject, "arrays_view").await.unwrap(), "ints"), ["[1, , 3]", "[7, 8]", ""]);
}

/// A list cannot say where its subscripts begin; the text of the array can.
#[tokio::test]
async fn an_array_with_another_lower_bound_is_refused_and_read_as_text() {
    let script = "CREATE TABLE shifted (id int PRIMARY KEY, tags text[]); INSERT INTO shifted VALUES (1, '{a,b}'), (2, '[3:3]={z}');";
    let subject = subject("shifted", script).await;
    let error = read_table(&subject, "shifted").await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ValueOutOfRange);
    assert_eq!(error.detail(), Some("column subject.t.tags holds an array whose subscripts do not begin with 1"));
    assert_eq!(error.hint(), Some("read it as text: CAST(column AS text) is read at the source, with its bounds"));
    let texts = subject.fetch("SELECT tags::text FROM shifted ORDER BY id", &[("tags", DataType::Utf8)]).await.unwrap();
    assert_eq!(cells(&texts, "tags"), ["{a,b}", "[3:3]={z}"]);
}

/// Each of these values has no exact counterpart: the error says so and names the column, and nothing is rounded or wrapped.
#[tokio::test]
async fn a_value_that_does_not_fit_is_refused_by_name() {
    let cases = [
        ("numeric", "1e21", "a value outside"),
        ("numeric", "0.0000000000000000001", "more decimal places"),
        ("numeric(10,2)", "'NaN'", "NaN"),
        ("numeric", "'Infinity'", "an infinity"),
        ("timestamptz", "'infinity'", "an infinity"),
        ("timestamp", "'-infinity'", "an infinity"),
        ("timestamp", "'294276-12-31 23:59:59'", "a value outside"),
        ("date", "'infinity'", "an infinity"),
        ("time", "'24:00:00'", "24:00:00"),
        ("interval", "'2562048 hours'", "a value outside"),
        ("int4[]", "'{{1,2}}'", "another number of dimensions"),
        ("text[]", "'[3:3]={z}'", "subscripts do not begin with 1"),
        ("int4[]", "'[0:1]={7,8}'", "subscripts do not begin with 1"),
        ("int8[][]", "'[1:1][-2:-1]={{1,2}}'", "subscripts do not begin with 1"),
    ];
    for (at, (native, value, words)) in cases.iter().enumerate() {
        let script = format!("CREATE TABLE misfits (id int PRIMARY KEY, good text, bad {native}); INSERT INTO misfits VALUES (1, 'x', {value});");
        let subject = subject(&format!("misfit_{at}"), &script).await;
        let error = read_table(&subject, "misfits").await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::ValueOutOfRange, "{native} {value}: {error:?}");
        let detail = error.detail().unwrap();
        assert!(detail.contains("subject.t.bad") && detail.contains(words), "{native} {value}: {detail}");
        // The rest of the table can be read.
        let good = subject.fetch("SELECT good FROM misfits", &[("good", DataType::Utf8)]).await.unwrap();
        assert_eq!(cells(&good, "good"), ["x"]);
    }
}

const ODD_NUMBERS: &str = "
CREATE TABLE odd (id int PRIMARY KEY, n numeric(10,2), loose numeric, f float8, ts timestamptz, d date);
INSERT INTO odd VALUES (1, 'NaN', 'Infinity', 'NaN', 'infinity', '-infinity'), (2, 1.25, '-Infinity', '-Infinity', '-infinity', 'infinity'), (3, 2, 3, 4, 'epoch', 'epoch');
";

#[tokio::test]
async fn the_policy_for_nan_and_infinities_is_kept() {
    source("odd_numbers", ODD_NUMBERS).await;
    let with = async |nan, infinity| {
        let mut spec = spec(server().await.url("odd_numbers"));
        (spec.nan, spec.infinity) = (nan, infinity);
        Subject::new(connect(spec).unwrap(), Limits::default(), "public")
    };
    let nulls = read_table(&with(ValuePolicy::Null, ValuePolicy::Null).await, "odd").await.unwrap();
    assert_eq!(cells(&nulls, "n"), ["", "1.25", "2.00"]);
    assert_eq!(cells(&nulls, "loose"), ["", "", "3.000000000000000000"]);
    assert_eq!(cells(&nulls, "f"), ["", "", "4.0"]);
    assert_eq!(cells(&nulls, "ts"), ["", "", "1970-01-01T00:00:00Z"]);
    assert_eq!(cells(&nulls, "d"), ["", "", "1970-01-01"]);

    let clamped = read_table(&with(ValuePolicy::Null, ValuePolicy::Clamp).await, "odd").await.unwrap();
    assert_eq!(cells(&clamped, "ts"), ["+262142-12-31T23:59:59.999999Z", "-4713-11-24T00:00:00Z", "1970-01-01T00:00:00Z"]);
    assert_eq!(cells(&clamped, "d"), ["-4713-11-24", "+262142-12-31", "1970-01-01"]);
    assert_eq!(cells(&clamped, "loose")[1], "-99999999999999999999.999999999999999999");

    let error = with(ValuePolicy::Error, ValuePolicy::Keep).await.fetch("SELECT f FROM odd WHERE id = 1", &[("f", DataType::Float64)]).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::ValueOutOfRange);
    let kept = with(ValuePolicy::Keep, ValuePolicy::Keep).await.fetch("SELECT f FROM odd ORDER BY id", &[("f", DataType::Float64)]).await.unwrap();
    assert_eq!(cells(&kept, "f"), ["NaN", "-inf", "4.0"]);
}

#[tokio::test]
async fn another_type_than_announced_is_an_error_and_never_a_guess() {
    let subject = subject("announced", "CREATE TABLE t (id int8, c char(3)); INSERT INTO t VALUES (1, 'a');").await;
    for (sql, wanted) in [
        ("SELECT id FROM t", DataType::Int32),
        ("SELECT c FROM t", DataType::Utf8),
        ("SELECT 'x'::uuid FROM t", DataType::Utf8),
        ("SELECT 1.5", DataType::Float64),
    ] {
        let error = subject.fetch(sql, &[("id", wanted)]).await.unwrap_err();
        assert!(matches!(error.code(), ErrorCode::TypeMismatch | ErrorCode::BadValue), "{sql}: {error:?}");
    }
    let error = subject.fetch("SELECT id, c FROM t", &[("id", DataType::Int64)]).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::Internal);
    // Exact widening is no guess.
    let wider = subject.fetch("SELECT 7::int2, sum(id) FROM t", &[("a", DataType::Int64), ("b", DataType::Int64)]).await.unwrap();
    assert_eq!((cells(&wider, "a"), cells(&wider, "b")), (vec!["7".to_owned()], vec!["1".to_owned()]));
}

/// One value larger than a batch may be, and many that fill one by their bytes.
#[tokio::test]
async fn large_values_make_small_batches() {
    use futures::TryStreamExt;
    let subject = subject("large", "CREATE TABLE t AS SELECT n, repeat(chr(64 + n), 3000000) AS body FROM generate_series(1, 9) n;").await;
    let statement = crate::conformance::statement("SELECT body FROM t ORDER BY n", &[("body", DataType::Utf8)]);
    let fetched = subject.source.fetch(subject.permit().await, statement).await.unwrap();
    let batches: Vec<_> = fetched.batches.try_collect().await.unwrap();
    assert_eq!(batches.iter().map(|batch| batch.num_rows()).collect::<Vec<_>>(), [2, 2, 2, 2, 1]);
}

/// Numbers of every length and scale against the server's own text of them.
#[tokio::test]
async fn random_numerics_are_what_the_server_prints() {
    let script = "
        SELECT setseed(0.25);
        CREATE TABLE numbers AS SELECT id, (sign * digits / 10::numeric ^ 12)::numeric(38,12) AS narrow, (sign * digits * digits / 10::numeric ^ 12)::numeric(76,12) AS wide,
            (sign * digits / 10::numeric ^ 18)::numeric AS loose FROM (
            SELECT id, CASE WHEN random() < 0.5 THEN -1 ELSE 1 END AS sign, trunc(random()::numeric * 10::numeric ^ 15) * trunc(10::numeric ^ (id % 18)) AS digits
            FROM generate_series(1, 3000) id) parts;
        ALTER TABLE numbers ADD PRIMARY KEY (id);
        CREATE VIEW texts AS SELECT id, narrow::text AS narrow, wide::text AS wide, loose::numeric(38,18)::text AS loose FROM numbers;";
    let subject = subject("numbers", script).await;
    let numbers = read_table(&subject, "numbers").await.unwrap();
    let texts = read_table(&subject, "texts").await.unwrap();
    for name in ["narrow", "wide", "loose"] {
        assert_eq!(cells(&numbers, name), cells(&texts, name), "column {name}");
    }
}

/// Whatever encoding the database has, texts arrive as UTF-8.
#[tokio::test]
async fn another_encoding_is_converted_by_the_server() {
    server().await.query("postgres", "CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0").await.unwrap();
    let subject = subject("latin", "CREATE TABLE t (id int, name text); INSERT INTO t VALUES (1, U&'Zo\\00EB');").await;
    assert_eq!(cells(&read_table(&subject, "t").await.unwrap(), "name"), ["Zo\u{eb}"]);
}
