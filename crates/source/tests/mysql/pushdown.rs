// SPDX-License-Identifier: Apache-2.0
//! `support()` keeps its word (F15, F16, F40): every comparison that it calls exact finds the rows that we would, every
//! superset loses none, on adversarial values, with and without an index.

use crate::{Held, shared};
use arrow::array::{Array, ArrayRef, AsArray};
use arrow::compute::cast;
use arrow::datatypes::{DataType, Date32Type, Decimal128Type, Float64Type, Int64Type, Time64MicrosecondType, TimestampMicrosecondType};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use weir_source::{Column, Operand, Operation, Support, Term};

/// A value as we hold it after reading.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Int(i128),
    Float(f64),
    Decimal(i128),
    Text(String),
    Bytes(Vec<u8>),
    Date(i32),
    Time(i64),
    Timestamp(i64),
}

impl Value {
    fn operand(&self) -> Operand<'_> {
        match self {
            Self::Int(value) => Operand::Int(*value),
            Self::Float(value) => Operand::Float(*value),
            Self::Decimal(value) => Operand::Decimal(*value),
            Self::Text(value) => Operand::Text(value),
            Self::Bytes(value) => Operand::Bytes(value),
            Self::Date(value) => Operand::Date(*value),
            Self::Time(value) => Operand::Time(*value),
            Self::Timestamp(value) => Operand::Timestamp(*value),
        }
    }

    /// Our meaning of order: by bytes, by number, by instant.
    fn compare(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) | (Self::Decimal(a), Self::Decimal(b)) => a.cmp(b),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan())),
            (Self::Text(a), Self::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
            (Self::Bytes(a), Self::Bytes(b)) => a.cmp(b),
            (Self::Date(a), Self::Date(b)) => a.cmp(b),
            (Self::Time(a), Self::Time(b)) | (Self::Timestamp(a), Self::Timestamp(b)) => a.cmp(b),
            _ => panic!("{self:?} is compared with {other:?}"),
        }
    }
}

fn values(array: &ArrayRef) -> Vec<Option<Value>> {
    (0..array.len()).map(|row| (!array.is_null(row)).then(|| value(array, row))).collect()
}

fn value(array: &ArrayRef, row: usize) -> Value {
    match array.data_type() {
        DataType::Utf8 => Value::Text(array.as_string::<i32>().value(row).to_owned()),
        DataType::Binary => Value::Bytes(array.as_binary::<i32>().value(row).to_vec()),
        DataType::Float64 => Value::Float(array.as_primitive::<Float64Type>().value(row)),
        DataType::Decimal128(..) => Value::Decimal(array.as_primitive::<Decimal128Type>().value(row)),
        DataType::Date32 => Value::Date(array.as_primitive::<Date32Type>().value(row)),
        DataType::Time64(_) => Value::Time(array.as_primitive::<Time64MicrosecondType>().value(row)),
        DataType::Timestamp(..) => Value::Timestamp(array.as_primitive::<TimestampMicrosecondType>().value(row)),
        DataType::UInt64 => Value::Int(array.as_primitive::<arrow::datatypes::UInt64Type>().value(row).into()),
        DataType::Float32 => Value::Float(cast(array, &DataType::Float64).unwrap().as_primitive::<Float64Type>().value(row)),
        _ => Value::Int(cast(array, &DataType::Int64).unwrap().as_primitive::<Int64Type>().value(row).into()),
    }
}

struct Case {
    column: &'static str,
    /// As SQL, one row each; NULL is added.
    rows: &'static str,
    /// Literals beyond the values that the rows hold.
    literals: Vec<Value>,
}

fn texts(texts: &[&str]) -> Vec<Value> {
    texts.iter().map(|text| Value::Text((*text).to_owned())).collect()
}

fn day(text: &str) -> i32 {
    let date: chrono::NaiveDate = text.parse().unwrap();
    date.signed_duration_since(chrono::NaiveDate::from_ymd_opt(1970, 1, 1).unwrap()).num_days() as i32
}

fn instants() -> Vec<Value> {
    let days = ["0001-01-01", "1000-01-01", "1969-12-31", "1970-01-01", "2024-02-29", "2038-01-19", "2038-01-20", "9999-12-31"];
    let of_day = [0, 1, 500_000, 11_647_000_000, 86_399_999_999];
    let stamp = |day: i32| of_day.map(|micros| Value::Timestamp(i64::from(day) * 86_400_000_000 + micros));
    days.iter().flat_map(|text| stamp(day(text))).collect()
}

fn days() -> Vec<Value> {
    ["0001-01-01", "0999-12-31", "2024-01-01", "2024-05-01", "2024-02-29", "9999-12-31"].iter().map(|text| Value::Date(day(text))).collect()
}

const TEXTS: &str = "('a'), ('A'), ('a '), ('a  '), (''), (' '), ('á'), ('ä'), ('ae'), ('æ'), ('ß'), ('ss'), ('b'), ('1'), ('01'), ('1e0'), ('a\\\\'), ('a''b'), ('a\\0'), ('a\\n'), ('a%'), ('Z'), ('~')";

fn text_literals() -> Vec<Value> {
    texts(&["a\t", "日本", "😀", "a' OR 1=1 -- ", "\\", "zzz", "0", "a\u{301}"])
}

fn number_cases() -> Vec<Case> {
    let ints = |values: &[i128]| values.iter().map(|value| Value::Int(*value)).collect();
    vec![
        Case { column: "TINYINT", rows: "(-128), (-1), (0), (1), (127)", literals: ints(&[5]) },
        Case { column: "TINYINT UNSIGNED", rows: "(0), (1), (255)", literals: ints(&[254]) },
        Case { column: "INT", rows: "(-2147483648), (-1), (0), (2147483647)", literals: ints(&[7]) },
        Case {
            column: "BIGINT",
            rows: "(-9223372036854775808), (-9007199254740993), (9007199254740993), (9223372036854775807)",
            literals: ints(&[9_007_199_254_740_992]),
        },
        Case {
            column: "BIGINT UNSIGNED",
            rows: "(0), (9007199254740993), (9223372036854775808), (18446744073709551615)",
            literals: ints(&[9_223_372_036_854_775_807]),
        },
        Case { column: "YEAR", rows: "(0), (1901), (1970), (2001), (2024), (2155)", literals: ints(&[0, 1, 70, 99, 1900, 2000, 2156]) },
        Case { column: "BIT(64)", rows: "(0), (1), (9223372036854775808), (18446744073709551615)", literals: ints(&[2, 48]) },
        Case {
            column: "DECIMAL(20,4)",
            rows: "(-1.5), (0), (0.0001), (9007199254740993.0001), (9999999999999999.9999)",
            literals: vec![Value::Decimal(2), Value::Decimal(-15_001)],
        },
        Case {
            column: "DOUBLE",
            rows: "(-0.0), (0.1), (1e300), (-1e300), (9007199254740993), (5e-324)",
            literals: vec![Value::Float(0.0), Value::Float(0.1 + 0.2), Value::Float(-0.0), Value::Float(f64::NAN), Value::Float(f64::INFINITY)],
        },
        Case { column: "FLOAT", rows: "(0.1), (16777216), (1.5)", literals: vec![Value::Float(0.1)] },
    ]
}

fn time_cases() -> Vec<Case> {
    let zero = "('0000-00-00'), ('2024-00-00'), ('2024-05-00'), ('1000-01-01'), ('2024-02-29'), ('2024-04-30'), ('2024-05-01'), ('9999-12-31')";
    let stamps = "('0000-00-00'), ('1970-01-01 00:00:01'), ('2024-02-29 12:00:00'), ('2038-01-19 03:14:07')";
    let times = (0..5).map(|index| Value::Time(index * 20_000_000_000 + index)).collect();
    vec![
        Case { column: "DATE", rows: zero, literals: days() },
        Case { column: "DATE NOT NULL DEFAULT 0", rows: zero, literals: days() },
        Case { column: "DATETIME", rows: zero, literals: instants() },
        Case {
            column: "DATETIME(6)",
            rows: "('0000-00-00'), ('1969-12-31 23:59:59.999999'), ('2024-02-29 00:00:00.5'), ('9999-12-31 23:59:59.999999')",
            literals: instants(),
        },
        Case { column: "TIMESTAMP NULL", rows: stamps, literals: instants() },
        Case {
            column: "TIMESTAMP(6) NULL",
            rows: "('0000-00-00'), ('1970-01-01 00:00:00.000001'), ('2038-01-19 03:14:07.999999'), ('2024-02-29 00:00:00.5')",
            literals: instants(),
        },
        Case { column: "TIME(6)", rows: "('00:00:00'), ('00:00:00.000001'), ('12:00:00'), ('23:59:59.999999')", literals: times },
    ]
}

fn text_cases() -> Vec<Case> {
    let columns = [
        "VARCHAR(20) COLLATE utf8mb4_general_ci",
        "VARCHAR(20) COLLATE utf8mb4_unicode_520_nopad_ci",
        "VARCHAR(20) COLLATE utf8mb4_bin",
        "VARCHAR(20) COLLATE utf8mb4_nopad_bin",
        "VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_german2_ci",
        "VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_nopad_bin",
        "VARCHAR(20) CHARACTER SET utf8mb3 COLLATE utf8mb3_nopad_bin",
        "VARCHAR(20) CHARACTER SET utf16 COLLATE utf16_nopad_bin",
        "VARCHAR(20) CHARACTER SET cp932",
        "CHAR(20) COLLATE utf8mb4_nopad_bin",
        "CHAR(20) COLLATE utf8mb4_general_ci",
    ];
    // cp932 has no accented letters: it gets what it can hold.
    let plain = "('a'), ('A'), ('a '), (''), ('b'), ('1')";
    let rows = |column: &str| if column.contains("cp932") { plain } else { TEXTS };
    let mut cases: Vec<Case> = columns.into_iter().map(|column| Case { column, rows: rows(column), literals: text_literals() }).collect();
    let bytes = vec![Value::Bytes(vec![0]), Value::Bytes(b"a  ".to_vec()), Value::Bytes(Vec::new())];
    cases.push(Case { column: "VARBINARY(9)", rows: "(''), ('a'), ('a '), (X'00'), (X'FF'), (X'6100')", literals: bytes.clone() });
    cases.push(Case { column: "BINARY(3)", rows: "(''), ('a'), ('a '), (X'00'), (X'FF'), ('abc')", literals: bytes });
    cases.push(Case { column: "ENUM('2','1','a','B','')", rows: "('2'), ('1'), ('a'), ('B'), ('')", literals: texts(&["A", "b", "3", "zzz", "a "]) });
    cases.push(Case { column: "SET('a','b')", rows: "('a'), ('a,b'), ('')", literals: texts(&["b", "b,a", "1"]) });
    let uuids = texts(&["123E4567-e89b-12d3-a456-426655440000", "123e4567e89b12d3a456426655440000", "no uuid", "00000000-0000-0000-0000-000000000000"]);
    cases.push(Case { column: "UUID", rows: "('123e4567-e89b-12d3-a456-426655440000'), ('ffffffff-e89b-12d3-a456-426655440000')", literals: uuids });
    cases
}

#[tokio::test]
async fn numbers_are_compared_as_we_do() {
    check("push_numbers", number_cases()).await;
}

#[tokio::test]
async fn dates_are_compared_as_we_do() {
    check("push_dates", time_cases()).await;
}

#[tokio::test]
async fn texts_are_compared_as_we_do() {
    check("push_texts", text_cases()).await;
}

async fn check(database: &str, cases: Vec<Case>) {
    let server = shared().await;
    server.create_database(database).await.unwrap();
    let mut script = "SET sql_mode = ''; SET NAMES utf8mb4; SET time_zone = '+00:00';\n".to_owned();
    for (index, case) in cases.iter().enumerate() {
        for (table, key) in [(format!("k{index}"), ", KEY (c)"), (format!("n{index}"), "")] {
            script.push_str(&format!("CREATE TABLE {table} (id INT PRIMARY KEY AUTO_INCREMENT, c {}{key}); ", case.column));
            let null = if case.column.contains("NOT NULL") { "" } else { ", (NULL)" };
            script.push_str(&format!("INSERT INTO {table} (c) VALUES {}{null};\n", case.rows));
        }
    }
    server.run(database, &script).await.unwrap();
    let held = Held::new(server.url(database));
    let discovered = held.discover().await;
    let (mut exact, mut superset) = (0, 0);
    for (index, case) in cases.iter().enumerate() {
        for table in [format!("k{index}"), format!("n{index}")] {
            let found = discovered.tables.iter().find(|found| found.schema == database && found.name == table).unwrap();
            let checked = check_table(&held, &table, &found.columns[1], case).await;
            exact += checked.0;
            superset += checked.1;
        }
    }
    println!("{database}: {exact} exact and {superset} superset comparisons hold");
    assert!(exact + superset > 50);
}

type Test = (&'static str, fn(Ordering) -> bool);

const TESTS: [Test; 6] =
    [("=", Ordering::is_eq), ("<>", Ordering::is_ne), ("<", Ordering::is_lt), ("<=", Ordering::is_le), (">", Ordering::is_gt), (">=", Ordering::is_ge)];

fn operation<'a>(word: &str, operand: Operand<'a>) -> Operation<'a> {
    match word {
        "=" => Operation::Equal(operand),
        "<>" => Operation::NotEqual(operand),
        "<" => Operation::Less(operand),
        "<=" => Operation::LessOrEqual(operand),
        ">" => Operation::Greater(operand),
        _ => Operation::GreaterOrEqual(operand),
    }
}

async fn check_table(held: &Held, table: &str, column: &Column, case: &Case) -> (usize, usize) {
    let all = held.rows(&format!("SELECT id, c FROM {table} ORDER BY id"), &[DataType::Int64, column.data_type.clone()]).await.unwrap();
    let ours = values(all.column(1));
    let mut literals: Vec<Value> = ours.iter().flatten().cloned().collect();
    literals.extend(case.literals.iter().cloned());
    let mut counts = (0, 0);
    let term = Term { sql: "c".to_owned(), meaning: column.clone(), total: true, constant: false };
    for (word, holds) in TESTS {
        for literal in &literals {
            let support = held.source.support(&operation(word, literal.operand()), column);
            if matches!(support, Support::Never(_)) {
                continue;
            }
            let text = held.source.dialect().literal_for(literal.operand(), column).unwrap();
            let predicate = held.source.dialect().compare(&term, word, &text).sql;
            let expected = ids(&ours, |value| value.as_ref().is_some_and(|value| holds(value.compare(literal))));
            compare(held, table, case, &predicate, &support, &expected, &mut counts).await;
        }
    }
    for (operation, null) in [(Operation::IsNull, true), (Operation::IsNotNull, false)] {
        let expected = ids(&ours, |value| value.is_none() == null);
        let predicate = held.source.dialect().null_test(&term, null);
        compare(held, table, case, &predicate, &held.source.support(&operation, column), &expected, &mut counts).await;
    }
    counts
}

fn ids(values: &[Option<Value>], keep: impl Fn(&Option<Value>) -> bool) -> BTreeSet<i64> {
    values.iter().enumerate().filter(|(_, value)| keep(value)).map(|(index, _)| index as i64 + 1).collect()
}

async fn compare(held: &Held, table: &str, case: &Case, predicate: &str, support: &Support, expected: &BTreeSet<i64>, counts: &mut (usize, usize)) {
    if matches!(support, Support::Never(_)) {
        return;
    }
    let sql = format!("SELECT id FROM {table} WHERE {predicate}");
    let batch = held.rows(&sql, &[DataType::Int64]).await.unwrap_or_else(|error| panic!("{}: {sql}: {error}", case.column));
    let found: BTreeSet<i64> = batch.column(0).as_primitive::<Int64Type>().values().iter().copied().collect();
    if *support == Support::Exact {
        assert_eq!(&found, expected, "{}: {sql}", case.column);
        counts.0 += 1;
    } else {
        assert!(found.is_superset(expected), "{}: {sql} finds {found:?}, not all of {expected:?}", case.column);
        counts.1 += 1;
    }
}

#[tokio::test]
async fn a_pushed_comparison_uses_the_index() {
    let server = shared().await;
    server.create_database("indexed").await.unwrap();
    let script = "SET time_zone = '+00:00'; CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(20), b TIMESTAMP NULL, c DECIMAL(12,2), d DATE, e BIGINT UNSIGNED, KEY (a), KEY (b), KEY (c), KEY (d), KEY (e));
        INSERT INTO t SELECT seq, seq, FROM_UNIXTIME(seq * 60 + 60), seq, DATE'2000-01-01' + INTERVAL seq DAY, seq FROM seq_1_to_5000; ANALYZE TABLE t;";
    server.run("indexed", script).await.unwrap();
    let held = Held::new(server.url("indexed"));
    let table = held.discover().await.tables.into_iter().find(|table| table.schema == "indexed").unwrap();
    let literals = [
        ("a", Operand::Text("17")),
        ("b", Operand::Timestamp(600_000_000)),
        ("c", Operand::Decimal(1_700)),
        ("d", Operand::Date(11_000)),
        ("e", Operand::Int(17)),
    ];
    for (name, operand) in literals {
        let column = table.columns.iter().find(|column| column.name == name).unwrap();
        let literal = held.source.dialect().literal(operand, &column.data_type).unwrap();
        let term = Term { sql: name.to_owned(), meaning: column.clone(), total: true, constant: false };
        let condition = held.source.dialect().compare(&term, "=", &literal).sql;
        let plan = server.query("indexed", &format!("EXPLAIN SELECT id FROM t WHERE {condition}")).await.unwrap();
        assert!(plan.contains("\tref\t"), "{condition}: {plan}");
    }
}
