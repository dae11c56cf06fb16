// SPDX-License-Identifier: Apache-2.0
//! Everything that the capability table calls exact, done by a MariaDB on tricky rows; and the page of the reference that says so.

use crate::conformance::{Page, Subject, keep, prove};
use crate::{limits, shared, spec};
use weir_source::connect;

/// A column's type, and values that tell meanings apart; NULL is added.
type Sample = (&'static str, &'static str);

const NUMBERS: [Sample; 16] = [
    ("TINYINT", "-128|127|0|-1|3"),
    ("TINYINT UNSIGNED", "255|0|1|3"),
    ("SMALLINT", "-32768|32767|0|5"),
    ("SMALLINT UNSIGNED", "65535|0|5"),
    ("MEDIUMINT", "-8388608|8388607|0"),
    ("INT", "-2147483648|2147483647|0|-1|46341|-7"),
    ("INT UNSIGNED", "4294967295|0|1|65536|7"),
    ("BIGINT", "-9223372036854775808|9223372036854775807|0|-1|3037000500|-7"),
    ("BIGINT UNSIGNED", "18446744073709551615|0|1|9223372036854775808|4294967296"),
    ("DECIMAL(10,2)", "-99999999.99|99999999.99|0|0.01|-0.05"),
    ("DECIMAL(20,6) UNSIGNED", "0|0.000001|99999999999999.999999"),
    ("DECIMAL(38,10)", "9999999999999999999999999999.9999999999|-1|0|1.0000000001"),
    ("DOUBLE", "-0.0|0.0|0.1|1e300|-1e300|9007199254740993|5e-324|1.5"),
    ("FLOAT", "0.1|16777216|1.5|-0.0"),
    ("YEAR", "0|1901|1970|2024|2155"),
    ("BIT(9)", "0|5|511"),
];

const MOMENTS: [Sample; 7] = [
    ("DATE", "'0000-00-00'|'2024-05-00'|'2024-00-00'|'0001-01-01'|'2024-02-29'|'2024-12-31'|'9999-12-31'|'2023-01-01'"),
    ("DATE NOT NULL", "'0000-00-00'|'2024-05-00'|'0001-01-02'|'1969-12-31'|'2024-02-29'|'2026-11-29'"),
    ("DATETIME", "'0000-00-00'|'2024-05-00 10:00:00'|'0001-01-01 00:00:00'|'2024-02-29 12:34:56'|'9999-12-31 23:59:59'|'2021-01-03 01:00:00'"),
    ("DATETIME(6)", "'0000-00-00'|'1969-12-31 23:59:59.999999'|'2024-02-29 00:00:00.5'|'9999-12-31 23:59:59.999999'|'2024-08-15 13:59:59.000001'"),
    ("TIMESTAMP NULL", "'0000-00-00'|'1970-01-01 00:00:01'|'2024-03-31 01:30:00'|'2038-01-19 03:14:07'"),
    ("TIMESTAMP(6) NULL", "'0000-00-00'|'1970-01-01 00:00:00.000001'|'2024-10-27 00:59:59.999999'|'2038-01-19 03:14:07.999999'"),
    ("TIME(6)", "'00:00:00'|'00:00:00.000001'|'23:59:59.999999'"),
];

const TEXTS: &str = "'a'|'A'|'a '|'aa'|''|' '|'é'|'É'|'e'|'ss'|'ß'|'a%'|'a_b'|'it''s'|'a\\\\b'|'a\\0'|'Z'|'~'|'a\\t'";
const WIDE: &str = "'a'|'A'|'a '|'aa'|''|' '|'é'|'e'|'😀'|'😀a'|'\u{ffff}'|'日本'|'a%'|'a_b'|'it''s'|'a\\\\b'|'a\\0'|'Z'|'~'|'ß'|REPEAT('ä', 9)|'a\u{301}'";
const PLAIN: &str = "'a'|'A'|'a '|'aa'|''|'b'|'a%'|'Z'";

const KINDS_OF_TEXT: [Sample; 22] = [
    ("VARCHAR(20) COLLATE utf8mb4_general_ci", WIDE),
    (
        "VARCHAR(255) COLLATE utf8mb4_unicode_ci",
        "REPEAT('😀', 255)|CONCAT(REPEAT('😀', 254), 'a')|CONCAT(REPEAT('😀', 254), 'b')|CONCAT(REPEAT('😀', 254), 'B')|'a'|'A'|'a '",
    ),
    ("VARCHAR(256)", "CONCAT(REPEAT('😀', 255), 'a')|CONCAT(REPEAT('😀', 255), 'b')|'a'|'A'"),
    ("VARCHAR(20) COLLATE utf8mb4_unicode_520_nopad_ci", WIDE),
    ("VARCHAR(20) COLLATE utf8mb4_bin", WIDE),
    ("VARCHAR(20) COLLATE utf8mb4_nopad_bin", WIDE),
    ("VARCHAR(20) CHARACTER SET utf8mb3", TEXTS),
    ("VARCHAR(20) CHARACTER SET latin1", TEXTS),
    ("VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_nopad_bin", TEXTS),
    ("VARCHAR(20) CHARACTER SET utf16 COLLATE utf16_nopad_bin", WIDE),
    ("VARCHAR(20) CHARACTER SET ascii", PLAIN),
    ("VARCHAR(20) CHARACTER SET cp932", PLAIN),
    ("CHAR(20)", WIDE),
    ("CHAR(20) COLLATE utf8mb4_nopad_bin", WIDE),
    ("TINYTEXT", WIDE),
    ("TEXT", WIDE),
    ("ENUM('2','1','a','B','')", "'2'|'1'|'a'|'B'|''"),
    ("SET('a','b')", "'a'|'a,b'|''"),
    ("UUID", "'123e4567-e89b-12d3-a456-426655440000'|'ffffffff-e89b-12d3-a456-426655440000'|'00000000-0000-0000-0000-000000000001'"),
    ("INET6", "'::1'|'2001:db8::ff'|'10.0.0.1'"),
    ("VARBINARY(9)", "''|'a'|'a '|X'00'|X'FF'|X'6100'"),
    ("BLOB", "''|'a'|X'FF'"),
];

fn script(samples: &[Sample], table: &str) -> String {
    let columns: Vec<String> = samples.iter().enumerate().map(|(index, (kind, _))| format!("c{index} {kind}")).collect();
    let values: Vec<Vec<&str>> = samples.iter().map(|(_, values)| values.split('|').collect()).collect();
    let rows = values.iter().map(Vec::len).max().unwrap() + 2;
    let cell = |column: usize, row: usize| {
        let nothing = if samples[column].0.contains("NOT NULL") { "'2000-01-01'" } else { "NULL" };
        values[column].get(row).copied().unwrap_or(nothing)
    };
    let row = |row: usize| format!("({}, {})", row + 1, (0..samples.len()).map(|column| cell(column, row)).collect::<Vec<_>>().join(", "));
    let rows: Vec<String> = (0..rows).map(row).collect();
    format!(
        "SET sql_mode = ''; SET NAMES utf8mb4; SET time_zone = '+00:00'; CREATE TABLE {table} (id BIGINT PRIMARY KEY, {});\nINSERT INTO {table} VALUES {};\n",
        columns.join(", "),
        rows.join(",\n")
    )
}

const HEAD: &str = "Which operations, aggregates and functions Weir leaves to MariaDB and MySQL, by the type and the collation of the column. \
    Tested on MariaDB 10.11 with an answer for every place that says exact; for MySQL 8 the same statements are sent, by its manual.\n\n\
    Texts are compared, grouped and sorted by their bytes in UTF-8: where the collation does not do that by itself, the statement says so \
    (`CAST(name AS BINARY)`), beside the bare comparison that an index can answer. Days that are none (`0000-00-00`, `2026-05-00`) read as \
    NULL, and the statement leaves them out. Sessions are in UTC, and `sql_mode`, `max_sort_length` and the character set are set by Weir.";

#[tokio::test]
async fn what_is_called_exact_is_computed_as_here() {
    let server = shared().await;
    server.create_database("capabilities").await.unwrap();
    let tables: [(&str, &[Sample]); 3] = [("numbers", &NUMBERS), ("moments", &MOMENTS), ("texts", &KINDS_OF_TEXT)];
    for (table, samples) in tables {
        server.run("capabilities", &script(samples, table)).await.unwrap();
    }
    let subject = Subject::new(connect(spec(server.url("capabilities"))).unwrap(), limits(), "capabilities");
    let mut page = Page::default();
    for (table, _) in tables {
        prove(&subject, &subject.find(table).await, &mut page).await;
    }
    assert_eq!(page.failures, 0, "see above");
    assert!(page.executed > 10_000, "only {} were computed", page.executed);
    keep("push-down-mysql.md", &page.text("Push-down to MySQL and MariaDB", HEAD));
}
