// SPDX-License-Identifier: Apache-2.0
//! All tables and columns of a server, from three catalog queries whatever their number, and a fourth of MariaDB.

use super::failure::Failure;
use super::native::{NativeType, TextOrder, reading, text_order};
use super::session::{Product, Session};
use crate::{Altering, Column, Discovered, SourceTable, TableKind};
use std::collections::HashMap;
use weir_base::limits::{COLUMNS_MAX, TABLES_PER_SOURCE_MAX};

/// Joined by us: the servers have no index on their catalog, and joining it there takes the square of its size.
const TABLES: &str = "SELECT TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, ENGINE, TABLE_ROWS, DATA_LENGTH, TABLE_COMMENT \
    FROM information_schema.TABLES \
    WHERE TABLE_SCHEMA NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys') AND TABLE_TYPE <> 'SEQUENCE' \
    ORDER BY TABLE_SCHEMA, TABLE_NAME";
const COLUMNS: &str = "SELECT TABLE_SCHEMA, TABLE_NAME, COLUMN_NAME, DATA_TYPE, COLUMN_TYPE, IS_NULLABLE, NUMERIC_PRECISION, NUMERIC_SCALE, \
    COLLATION_NAME, PRIVILEGES, COLUMN_DEFAULT, EXTRA, COLUMN_COMMENT \
    FROM information_schema.COLUMNS \
    WHERE TABLE_SCHEMA NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys') \
    ORDER BY TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION";

/// Of indexes over columns that are never NULL; a prefix of a column that is unique makes the column so.
const UNIQUE: &str = "SELECT TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, COLUMN_NAME FROM information_schema.STATISTICS \
    WHERE TABLE_SCHEMA NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys') AND NON_UNIQUE = 0 \
    ORDER BY TABLE_SCHEMA, TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX";

/// Only MariaDB has checks that belong to a column, by the name of that.
const CHECKS: &str = "SELECT CONSTRAINT_SCHEMA, TABLE_NAME, CONSTRAINT_NAME, CHECK_CLAUSE FROM information_schema.CHECK_CONSTRAINTS \
    WHERE LEVEL = 'Column' AND CONSTRAINT_SCHEMA NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys')";

type Row = Vec<Option<String>>;

/// Lists what the account may see.
pub(super) async fn discover(session: &mut Session) -> Result<Discovered, Failure> {
    let tables = session.query(TABLES).await?.rows;
    let columns = session.query(COLUMNS).await?.rows;
    let unique = session.query(UNIQUE).await?.rows;
    let checks = if session.product == Product::MariaDb { session.query(CHECKS).await?.rows } else { Vec::new() };
    let mut discovered = assemble(tables, columns, session.product);
    tell_unique(&mut discovered.tables, unique);
    tell_checks(&mut discovered.tables, checks);
    Ok(discovered)
}

/// Days that are none read as NULL, and two of them as the same, so a column of days tells nothing apart.
fn tell_unique(tables: &mut [SourceTable], rows: Vec<Row>) {
    let mut indexes: HashMap<(String, String), HashMap<String, Vec<String>>> = HashMap::new();
    for mut row in rows {
        let table = (take(&mut row, 0), take(&mut row, 1));
        indexes.entry(table).or_default().entry(take(&mut row, 2)).or_default().push(take(&mut row, 3));
    }
    for table in tables {
        let Some(indexes) = indexes.remove(&(table.schema.clone(), table.name.clone())) else { continue };
        let known = |places: &Vec<usize>| places.iter().all(|place| !table.columns[*place].nullable);
        let mut unique: Vec<Vec<usize>> = indexes.values().filter_map(|names| table.places(names)).filter(known).collect();
        unique.sort();
        table.unique = unique;
    }
}

/// A check goes with the definition of its column.
fn tell_checks(tables: &mut [SourceTable], rows: Vec<Row>) {
    let mut checks: HashMap<(String, String), Vec<(String, String)>> = HashMap::new();
    for mut row in rows {
        let table = (take(&mut row, 0), take(&mut row, 1));
        checks.entry(table).or_default().push((take(&mut row, 2), take(&mut row, 3)));
    }
    for table in tables {
        for (name, clause) in checks.remove(&(table.schema.clone(), table.name.clone())).unwrap_or_default() {
            let Some(column) = table.columns.iter_mut().find(|column| column.name == name) else { continue };
            column.altering = match (std::mem::take(&mut column.altering), in_backticks(&clause)) {
                (Altering::ByType, Some(clause)) => Altering::Saying(format!(" CHECK ({clause})")),
                (Altering::Saying(others), Some(clause)) => Altering::Saying(format!("{others} CHECK ({clause})")),
                (in_words @ Altering::InWords(_), _) => in_words,
                (_, None) => IN_FULL,
            };
        }
    }
}

fn assemble(tables: Vec<Row>, columns: Vec<Row>, product: Product) -> Discovered {
    let mut discovered = Discovered::default();
    if tables.len() > TABLES_PER_SOURCE_MAX {
        discovered.warnings.push(format!("only the first {TABLES_PER_SOURCE_MAX} of {} tables are listed", tables.len()));
    }
    let mut of_table: HashMap<(String, String), Vec<Column>> = HashMap::new();
    for mut row in columns {
        let table = (take(&mut row, 0), take(&mut row, 1));
        of_table.entry(table).or_default().push(column(row, product));
    }
    for mut row in tables.into_iter().take(TABLES_PER_SOURCE_MAX) {
        let (schema, name) = (take(&mut row, 0), take(&mut row, 1));
        let mut columns = of_table.remove(&(schema.clone(), name.clone())).unwrap_or_default();
        if columns.is_empty() {
            discovered.warnings.push(format!("{schema}.{name} is left out: the server lists no columns (a broken view, or no right to them)"));
            continue;
        }
        if columns.len() > COLUMNS_MAX {
            discovered.warnings.push(format!("only the first {COLUMNS_MAX} columns of {schema}.{name} are listed"));
            columns.truncate(COLUMNS_MAX);
        }
        let kind = kind(field(&row, 2), field(&row, 3));
        match kind {
            TableKind::Table => {}
            TableKind::View | TableKind::MaterializedView => columns.iter_mut().for_each(|column| column.altering = Altering::BENEATH_A_VIEW),
            TableKind::ForeignTable => columns.iter_mut().for_each(|column| column.altering = Altering::ELSEWHERE),
        }
        let comment = field(&row, 6).filter(|comment| !comment.is_empty() && kind != TableKind::View).map(str::to_owned);
        discovered.tables.push(SourceTable {
            schema,
            name,
            kind,
            columns,
            rows_estimate: number(&row, 4),
            bytes_estimate: number(&row, 5),
            comment,
            unique: Vec::new(),
        });
    }
    discovered
}

fn kind(table_type: Option<&str>, engine: Option<&str>) -> TableKind {
    match (table_type, engine) {
        (Some("VIEW" | "SYSTEM VIEW"), _) => TableKind::View,
        (_, Some("FEDERATED" | "CONNECT" | "SPIDER")) => TableKind::ForeignTable,
        _ => TableKind::Table,
    }
}

fn column(mut row: Row, product: Product) -> Column {
    let altering = altering(&row, product);
    let name = take(&mut row, 2);
    let native_type = take(&mut row, 4);
    let word = field(&row, 3).unwrap_or_default().to_lowercase();
    let native = NativeType { word: &word, full: &native_type, precision: number(&row, 6), scale: number(&row, 7) };
    let reading = reading(native, product);
    let readable = field(&row, 9).is_none_or(|rights| rights.split(',').any(|right| right == "select"));
    let collation = field(&row, 8).map(str::to_owned);
    let loose = collation.as_deref().is_some_and(|collation| matches!(text_order(collation), TextOrder::Loose | TextOrder::Ambiguous));
    let compares_otherwise = matches!(word.as_str(), "char" | "uuid" | "inet4" | "inet6" | "json" | "set") || reading.read_as.is_some();
    Column {
        name,
        data_type: reading.data_type,
        nullable: field(&row, 5) == Some("YES") || matches!(word.as_str(), "date" | "datetime" | "timestamp"),
        bytewise_equality: !loose && !compares_otherwise,
        collation,
        read_as: reading.read_as,
        labels: None,
        degraded: (!readable).then(|| "the account has no SELECT right on it".to_owned()),
        altering,
        native_type,
    }
}

const IN_FULL: Altering = Altering::InWords("MODIFY the column to {}, and say again all else that SHOW CREATE TABLE says of it");

/// MODIFY names the whole definition of a column: what is not said again is gone.
fn altering(row: &Row, product: Product) -> Altering {
    let mut again = String::new();
    for word in field(row, 11).unwrap_or_default().split_ascii_whitespace() {
        match word.to_ascii_uppercase().as_str() {
            word @ ("INVISIBLE" | "AUTO_INCREMENT") => again.push_str(&format!(" {word}")),
            _ => return IN_FULL,
        }
    }
    if field(row, 4).is_some_and(|native| native.contains("/*")) {
        return IN_FULL;
    }
    match (product, field(row, 10)) {
        (_, None) | (Product::MariaDb, Some("NULL")) => {}
        (_, Some(default)) => match default_again(default, product) {
            Some(default) => again.push_str(&format!(" DEFAULT {default}")),
            None => return IN_FULL,
        },
    }
    match field(row, 12).filter(|comment| !comment.is_empty()).map(plainly_quoted) {
        None => {}
        Some(Some(comment)) => again.push_str(&format!(" COMMENT {comment}")),
        Some(None) => return IN_FULL,
    }
    if again.is_empty() { Altering::ByType } else { Altering::Saying(again) }
}

/// A default as it is written. In MariaDB it stands as an expression, quotes and all.
fn default_again(default: &str, product: Product) -> Option<String> {
    let inside = default.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')).filter(|_| product == Product::MariaDb);
    match (product, inside) {
        (Product::MySql, _) => plainly_quoted(default),
        (Product::MariaDb, Some(text)) => plainly_quoted(&text.replace("\\'", "'").replace("''", "'")),
        (Product::MariaDb, None) => in_backticks(default),
    }
}

/// An expression as our sessions read it, with its names as every session reads them.
fn in_backticks(expression: &str) -> Option<String> {
    let mut text = String::with_capacity(expression.len());
    let mut in_text = false;
    for letter in expression.chars() {
        in_text ^= letter == '\'';
        match letter {
            '\\' => return None,
            '`' if !in_text => return None,
            '"' if !in_text => text.push('`'),
            letter => text.push(letter),
        }
    }
    (!text.contains("``")).then_some(text)
}

/// A text in quotes, where those mean the same in every `sql_mode`.
fn plainly_quoted(text: &str) -> Option<String> {
    let plain = !text.chars().any(|character| character == '\\' || character.is_control());
    plain.then(|| format!("'{}'", text.replace('\'', "''")))
}

fn take(row: &mut Row, index: usize) -> String {
    row.get_mut(index).and_then(Option::take).unwrap_or_default()
}

fn field(row: &Row, index: usize) -> Option<&str> {
    row.get(index)?.as_deref()
}

fn number(row: &Row, index: usize) -> Option<u64> {
    field(row, index)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(fields: &[&str]) -> Row {
        fields.iter().map(|field| (*field != "-").then(|| (*field).to_owned())).collect()
    }

    #[test]
    fn what_a_column_has_beside_its_type_is_said_again() {
        assert_eq!(default_again("'it\\'s'", Product::MariaDb).as_deref(), Some("'it''s'"));
        assert_eq!(default_again("uuid()", Product::MariaDb).as_deref(), Some("uuid()"));
        assert_eq!(default_again("it's", Product::MySql).as_deref(), Some("'it''s'"));
        assert_eq!(default_again("'a\\\\b'", Product::MariaDb), None);
        assert_eq!(in_backticks("\"a b\" <> 'x \"y\"'").as_deref(), Some("`a b` <> 'x \"y\"'"));
        assert_eq!(in_backticks("\"a\"\"b\" > 0"), None);
    }

    #[test]
    fn a_bad_column_and_a_broken_view_hide_nothing_else() {
        let tables = vec![
            row(&["b", "My Table", "BASE TABLE", "InnoDB", "7", "16384", "what it is"]),
            row(&["b", "v", "VIEW", "-", "-", "-", "View 'b.v' references invalid table(s)"]),
        ];
        let columns = vec![
            row(&["b", "My Table", "id", "bigint", "bigint(20) unsigned", "NO", "20", "0", "-", "select,insert"]),
            row(&["b", "My Table", "Ssn", "varchar", "varchar(9)", "YES", "-", "-", "latin1_swedish_ci", "insert"]),
        ];
        let discovered = assemble(tables, columns, Product::MariaDb);
        assert_eq!(discovered.tables.len(), 1);
        let table = &discovered.tables[0];
        assert_eq!((table.name.as_str(), table.rows_estimate, table.comment.as_deref()), ("My Table", Some(7), Some("what it is")));
        assert!(table.columns[0].degraded.is_none() && table.columns[1].degraded.is_some());
        assert_eq!(discovered.warnings, ["b.v is left out: the server lists no columns (a broken view, or no right to them)"]);
    }
}
