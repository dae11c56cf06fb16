// SPDX-License-Identifier: Apache-2.0
//! Every column type, with its extremes, read exactly or refused by name (F40, F42).

use crate::{Held, shared, texts};
use arrow::datatypes::{DataType, TimeUnit};
use weir_base::ErrorCode;
use weir_source::SourceTable;

const MICROS: DataType = DataType::Timestamp(TimeUnit::Microsecond, None);

fn utc() -> DataType {
    DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()))
}

async fn prepared(database: &str, script: &str) -> Held {
    let server = shared().await;
    server.create_database(database).await.unwrap();
    server.run(database, script).await.unwrap();
    Held::new(server.url(database))
}

/// Reads all of a table the way the engine would: each column as discovery says.
async fn read_all(held: &Held, database: &str, table: &str) -> (SourceTable, Vec<Vec<String>>) {
    let discovered = held.discover().await;
    let table = discovered.tables.into_iter().find(|found| found.schema == database && found.name == table).unwrap();
    let dialect = held.source.dialect();
    let mut columns = Vec::new();
    for column in &table.columns {
        let quoted = dialect.quote(&column.name);
        columns.push(column.read_as.map_or(quoted.clone(), |read_as| read_as.replace("{}", &quoted)));
    }
    let sql = format!("SELECT {} FROM {} ORDER BY 1", columns.join(", "), dialect.table(&table.schema, &table.name));
    let types: Vec<DataType> = table.columns.iter().map(|column| column.data_type.clone()).collect();
    let rows = texts(&held.rows(&sql, &types).await.unwrap());
    (table, rows)
}

fn types_of(table: &SourceTable) -> Vec<DataType> {
    table.columns.iter().map(|column| column.data_type.clone()).collect()
}

#[tokio::test]
async fn integers_of_every_width_and_sign() {
    let script = "CREATE TABLE t (id INT PRIMARY KEY, a TINYINT, b TINYINT UNSIGNED, bool TINYINT(1), c SMALLINT, d SMALLINT UNSIGNED, e MEDIUMINT,
        f MEDIUMINT UNSIGNED, g INT UNSIGNED, h BIGINT, i BIGINT UNSIGNED, z INT(6) ZEROFILL, y YEAR, b1 BIT(1), b64 BIT(64));
        INSERT INTO t VALUES (1, -128, 0, 2, -32768, 0, -8388608, 0, 0, -9223372036854775808, 0, 0, 1901, b'0', b'0');
        INSERT INTO t VALUES (2, 127, 255, -1, 32767, 65535, 8388607, 16777215, 4294967295, 9223372036854775807, 18446744073709551615, 42, 2155, b'1', 18446744073709551615);
        INSERT INTO t (id, y) VALUES (3, 0);";
    let held = prepared("ints", script).await;
    let (table, rows) = read_all(&held, "ints", "t").await;
    use DataType::{Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64};
    let expected = [Int32, Int8, UInt8, Int8, Int16, UInt16, Int32, UInt32, UInt32, Int64, UInt64, UInt32, Int16, UInt64, UInt64];
    assert_eq!(types_of(&table), expected);
    assert_eq!(rows[0].join(" "), "1 -128 0 2 -32768 0 -8388608 0 0 -9223372036854775808 0 0 1901 0 0");
    let largest = "2 127 255 -1 32767 65535 8388607 16777215 4294967295 9223372036854775807 18446744073709551615 42 2155 1 18446744073709551615";
    assert_eq!(rows[1].join(" "), largest);
    assert_eq!(rows[2][1..].join(" "), "NULL NULL NULL NULL NULL NULL NULL NULL NULL NULL NULL 0 NULL NULL");
}

#[tokio::test]
async fn decimals_and_floats() {
    let script = "CREATE TABLE t (id INT PRIMARY KEY, a DECIMAL(12,2), b DECIMAL(38,10), c DECIMAL(65,30), d DECIMAL(5,0) UNSIGNED, f FLOAT, g DOUBLE, h DOUBLE(10,3));
        INSERT INTO t VALUES (1, -9999999999.99, 9999999999999999999999999999.0123456789, 99999999999999999999999999999999999.000000000000000000000000000001, 99999, 16777217, 0.1, 1.005);
        INSERT INTO t VALUES (2, 0.01, -0.0000000001, -0.000000000000000000000000000001, 0, 3.4028234e38, -1.7976931348623157e308, -0.125);
        INSERT INTO t (id, f, g) VALUES (3, 0.1, 4.9406564584124654e-324);";
    let held = prepared("decimals", script).await;
    let (table, rows) = read_all(&held, "decimals", "t").await;
    let expected = [
        DataType::Int32,
        DataType::Decimal128(12, 2),
        DataType::Decimal128(38, 10),
        DataType::Decimal256(65, 30),
        DataType::Decimal128(5, 0),
        DataType::Float32,
        DataType::Float64,
        DataType::Float64,
    ];
    assert_eq!(types_of(&table), expected);
    let first = ["1", "-9999999999.99", "9999999999999999999999999999.0123456789"];
    assert_eq!(rows[0][..3], first);
    assert_eq!(rows[0][3..6], ["99999999999999999999999999999999999.000000000000000000000000000001", "99999", "16777216.0"]);
    assert_eq!(rows[0][6..], ["0.1", "1.005"]);
    assert_eq!(rows[1][1..5], ["0.01", "-0.0000000001", "-0.000000000000000000000000000001", "0"]);
    assert_eq!(rows[1][6..], ["-1.7976931348623157e308", "-0.125"]);
    assert_eq!(rows[2][1..], ["NULL", "NULL", "NULL", "NULL", "0.1", "5e-324", "NULL"]);
}

#[tokio::test]
async fn dates_and_times() {
    let script = "SET time_zone = '+00:00';
        CREATE TABLE t (id INT PRIMARY KEY, a DATE, b DATETIME, c DATETIME(6), d TIMESTAMP NULL, e TIMESTAMP(6) NULL, f TIME, g TIME(6));
        INSERT INTO t VALUES (1, '1000-01-01', '1000-01-01 00:00:00', '9999-12-31 23:59:59.999999', '1970-01-01 00:00:01', '2038-01-19 03:14:07.999999', '00:00:00', '23:59:59.999999');
        INSERT INTO t VALUES (2, '9999-12-31', '1969-12-31 23:59:59', '1582-10-10 12:00:00.000001', '2024-02-29 12:00:00', '2001-01-01 00:00:00.5', '12:34:56', '00:00:00.000001');
        INSERT INTO t (id) VALUES (3);";
    let held = prepared("times", script).await;
    let (table, rows) = read_all(&held, "times", "t").await;
    let time = DataType::Time64(TimeUnit::Microsecond);
    assert_eq!(types_of(&table), [DataType::Int32, DataType::Date32, MICROS, MICROS, utc(), utc(), time.clone(), time]);
    assert_eq!(rows[0][1..4], ["1000-01-01", "1000-01-01T00:00:00", "9999-12-31T23:59:59.999999"]);
    assert_eq!(rows[0][4..], ["1970-01-01T00:00:01Z", "2038-01-19T03:14:07.999999Z", "00:00:00", "23:59:59.999999"]);
    assert_eq!(rows[1][1..4], ["9999-12-31", "1969-12-31T23:59:59", "1582-10-10T12:00:00.000001"]);
    assert_eq!(rows[1][4..], ["2024-02-29T12:00:00Z", "2001-01-01T00:00:00.500Z", "12:34:56", "00:00:00.000001"]);
    assert_eq!(rows[2][1..], ["NULL"; 7]);
}

#[tokio::test]
async fn zero_dates_read_as_null() {
    let script = "SET sql_mode = ''; CREATE TABLE t (id INT PRIMARY KEY, a DATE NOT NULL, b DATETIME, c TIMESTAMP NOT NULL DEFAULT '0000-00-00 00:00:00');
        INSERT INTO t VALUES (1, '0000-00-00', '0000-00-00 00:00:00', '0000-00-00 00:00:00'), (2, '2024-00-00', '2024-05-00 01:00:00', '2024-01-01 00:00:00');";
    let held = prepared("zero", script).await;
    let (table, rows) = read_all(&held, "zero", "t").await;
    assert!(table.columns[1].nullable, "a NOT NULL date can still read as NULL");
    assert_eq!(rows, [["1", "NULL", "NULL", "NULL"], ["2", "NULL", "NULL", "2024-01-01T00:00:00Z"]]);
}

#[tokio::test]
async fn texts_and_bytes() {
    let script = "SET NAMES utf8mb4; CREATE TABLE t (id INT PRIMARY KEY, a CHAR(5) CHARACTER SET latin1, b VARCHAR(20) CHARACTER SET utf8mb4, c LONGTEXT, d TEXT CHARACTER SET ucs2,
        e BINARY(3), f VARBINARY(10), g LONGBLOB, h ENUM('new','a,b'), i SET('x','y'), j JSON, k UUID, l INET6, m POINT, n INET4);
        INSERT INTO t VALUES (1, 'é  ', '😀 \\'', '', 'Ω', 'a', X'00FF', X'', 'a,b', 'x,y', '{\"a\": [1, null]}', '123E4567-e89b-12d3-a456-426655440000', '::FFFF:1.2.3.4', POINT(1, -2.5), '10.0.0.1');
        INSERT INTO t (id) VALUES (2);";
    let held = prepared("texts", script).await;
    let (table, rows) = read_all(&held, "texts", "t").await;
    let (text, bytes) = (DataType::Utf8, DataType::Binary);
    let mut expected = vec![DataType::Int32];
    expected.extend([text.clone(), text.clone(), text.clone(), text.clone(), bytes.clone(), bytes.clone(), bytes]);
    expected.extend(vec![text; 7]);
    assert_eq!(types_of(&table), expected);
    assert_eq!(rows[0][1..5], ["é", "😀 '", "", "Ω"]);
    assert_eq!(rows[0][5..8], ["610000", "00ff", ""]);
    assert_eq!(rows[0][8..11], ["a,b", "x,y", "{\"a\": [1, null]}"]);
    assert_eq!(rows[0][11..], ["123e4567-e89b-12d3-a456-426655440000", "::ffff:1.2.3.4", "POINT(1 -2.5)", "10.0.0.1"]);
    assert_eq!(rows[1][1..], ["NULL"; 14]);
}

#[tokio::test]
async fn a_value_that_does_not_fit_is_refused_by_column() {
    let script = "SET sql_mode = 'ALLOW_INVALID_DATES'; CREATE TABLE t (a TIME, b DATE, c VARBINARY(9));
        INSERT INTO t VALUES ('-00:00:01', '2024-02-31', X'FF41');";
    let held = prepared("unfit", script).await;
    let time = DataType::Time64(TimeUnit::Microsecond);
    let cases = [
        ("SELECT a FROM unfit.t", time.clone()),
        ("SELECT b FROM unfit.t", DataType::Date32),
        ("SELECT c FROM unfit.t", DataType::Utf8),
        ("SELECT TIME'24:00:00'", time),
        ("SELECT 300", DataType::Int8),
        ("SELECT CAST(-1 AS SIGNED)", DataType::UInt64),
        ("SELECT 1.25", DataType::Decimal128(10, 1)),
    ];
    for (sql, data_type) in cases {
        let error = held.rows(sql, &[data_type]).await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::ValueOutOfRange, "{sql}: {error:?}");
        assert_eq!(error.message(), "a value of billing.t.c0 cannot be represented exactly");
        assert!(!format!("{error:?}").contains("2024"), "{error:?}");
    }
}

#[tokio::test]
async fn another_type_than_expected_is_told() {
    let held = Held::new(shared().await.url("mysql"));
    let error = held.rows("SELECT 'a'", &[DataType::Int64]).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::TypeMismatch);
    let error = held.rows("SELECT 1, 2", &[DataType::Int64]).await.unwrap_err();
    assert_eq!(error.detail(), Some("source billing: 1 expected, 2 came"));
}

#[tokio::test]
async fn expressions_come_in_the_wanted_type() {
    let held = Held::new(shared().await.url("mysql"));
    let types = [DataType::Int64, DataType::Decimal128(38, 0), DataType::Decimal128(12, 2), DataType::Boolean, DataType::Utf8, DataType::Float64];
    let rows = held.texts("SELECT COUNT(*), 18446744073709551615, CAST(1.5 AS DECIMAL(12,2)), 2 > 1, NULL, 1e0", &types).await;
    assert_eq!(rows, [["1", "18446744073709551615", "1.50", "true", "NULL", "1.0"]]);
}

#[tokio::test]
async fn rows_longer_than_a_packet_come_whole() {
    let server = weir_sandbox::MariaDb::options().setting("max_allowed_packet", "134217728").start().await.unwrap();
    let held = Held::new(server.url("mysql"));
    let sql = "SELECT REPEAT('ab', 20000000), 'end' UNION ALL SELECT 'short', 'end'";
    let batch = held.rows(sql, &[DataType::Utf8, DataType::Utf8]).await.unwrap();
    let lengths: Vec<usize> = texts(&batch).iter().map(|row| row[0].len()).collect();
    assert_eq!(lengths, [40_000_000, 5]);
    assert!(texts(&batch).iter().all(|row| row[1] == "end"));
}
