// SPDX-License-Identifier: Apache-2.0
//! What can be done about something that stays here, as the very statement that does it: with the names of the column and its table.

use super::fragment::{Fragment, TableUse};
use weir_api::Kept;
use weir_base::ColumnName;
use weir_source::{Altering, Column, Dialect, Operation, Reason, Source, Support};

/// Stands in a remedy for the table of a column until the statement is known.
const TABLE_OF: &str = "{table of ";
const END: char = '}';

/// Whether the source does this on the column. A reason that it gives says what to do about that column.
pub(super) fn asked(source: &dyn Source, operation: &Operation<'_>, column: &Column) -> Support {
    match source.support(operation, column) {
        Support::Exact => Support::Exact,
        Support::Superset(reason) => Support::Superset(named(reason, column, source.dialect())),
        Support::Never(reason) => Support::Never(named(reason, column, source.dialect())),
    }
}

/// What is computed has no column that somebody could change.
fn named(mut reason: Reason, column: &Column, dialect: &dyn Dialect) -> Reason {
    let Some(remedy) = reason.remedy.take_if(|remedy| remedy.contains("{column}")) else { return reason };
    if column.name.is_empty() || column.name.contains(END) {
        return reason;
    }
    let null = if column.nullable { "NULL" } else { "NOT NULL" };
    let again = match &column.altering {
        Altering::ByType => "",
        Altering::Saying(attributes) => attributes,
        Altering::InWords(words) => return in_words(reason, &remedy, words, column),
    };
    let remedy = typed(&remedy, column).replace("{null}", null);
    // Last: nothing that a DBA wrote into them is a place of ours.
    let remedy = remedy.replace("{table}", &format!("{TABLE_OF}{}{END}", column.name)).replace("{column}", &dialect.quote(&column.name));
    reason.with_remedy(remedy.replace("{again}", again))
}

fn typed(remedy: &str, column: &Column) -> String {
    remedy.replace("{type}", &column.native_type).replace("{collation}", column.collation.as_deref().unwrap_or_default())
}

/// What the statement would make of the column, where there is no such statement.
fn in_words(reason: Reason, remedy: &str, words: &str, column: &Column) -> Reason {
    let Some((_, becomes)) = remedy.split_once("{column} ") else { return reason };
    let becomes = becomes.trim_start_matches("TYPE ").split(" {null}").next().unwrap_or_default();
    reason.with_remedy(words.replace("{}", &typed(becomes, column)))
}

/// What helps whatever the column: another way to ask. `None` where only we could do something about it.
pub(super) fn usual(code: &str) -> Option<&'static str> {
    Some(match code {
        "all_rows" => "add a LIMIT, where the first rows are enough",
        "switched_off" => "RESET weir.pushdown",
        "not_in" => "write NOT EXISTS with an equality of keys in the place of NOT IN",
        "null_keys" => "compare with =, where rows without a key need not be found",
        "grouping_sets" => "group by all the keys, and add these rows up",
        _ => return None,
    })
}

/// The same with the table's name, which the statement knows.
pub(crate) fn addressed(mut kept: Kept, fragment: &Fragment, dialect: &dyn Dialect) -> Kept {
    // A reason that did not come by way of `asked` knows no column.
    kept.remedy = kept.remedy.filter(|remedy| !remedy.contains("{column}"));
    let Some(remedy) = &kept.remedy else { return kept };
    let Some((before, rest)) = remedy.split_once(TABLE_OF) else { return kept };
    let Some((column, after)) = rest.split_once(END) else { return kept };
    kept.remedy = owner(fragment, column).map(|table| format!("{before}{}{after}", dialect.table(&table.name.schema, &table.name.table)));
    kept
}

/// The table that a column of a statement is of; `None` where several tables could be meant.
fn owner<'a>(fragment: &'a Fragment, column: &str) -> Option<&'a TableUse> {
    let mut tables = fragment.tables.clone();
    tables.dedup_by(|a, b| a.name == b.name);
    if let [_] = tables.as_slice() {
        return fragment.tables.first();
    }
    let label = |used: &TableUse| ColumnName { table: used.name.clone(), column: column.to_owned() }.to_string();
    let returned = |used: &&TableUse| fragment.outputs.iter().any(|output| output.label == label(used));
    let mut found = fragment.tables.iter().filter(returned);
    found.next().filter(|first| found.all(|other| other.name == first.name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::datatypes::DataType;
    use weir_base::TableName;
    use weir_source::OutputColumn;
    use weir_source::mysql::MySqlDialect;

    fn fragment(tables: &[&str]) -> Fragment {
        let name = |table: &&str| TableName::new("app", "shop", *table);
        let output = |table: &&str| OutputColumn { name: "c".into(), data_type: DataType::Utf8, label: format!("app.shop.{table}.c_{table}") };
        Fragment {
            tables: tables.iter().map(|table| TableUse { name: name(table), bounded: Vec::new(), prefixed: Vec::new() }).collect(),
            sql: String::new(),
            outputs: tables.iter().map(output).collect(),
            pushed: Vec::new(),
            kept: Vec::new(),
            limit: None,
            open: None,
        }
    }

    fn column(name: &str) -> Column {
        Column {
            name: name.into(),
            native_type: "varchar(9)".into(),
            data_type: DataType::Utf8,
            nullable: false,
            collation: Some("utf8mb4_bin".into()),
            bytewise_equality: true,
            read_as: None,
            labels: None,
            degraded: None,
            altering: weir_source::Altering::default(),
        }
    }

    fn remedy(name: &str, tables: &[&str]) -> Option<String> {
        let reason = Reason::new("code", "why").with_remedy("ALTER TABLE {table} MODIFY {column} {type} COLLATE {collation} {null}");
        let reason = named(reason, &column(name), &MySqlDialect);
        let kept = Kept { what: "filter".into(), code: reason.code.into(), reason: reason.text, remedy: reason.remedy };
        addressed(kept, &fragment(tables), &MySqlDialect).remedy
    }

    fn told(altering: Altering) -> Option<String> {
        let reason = Reason::new("code", "why").with_remedy("ALTER TABLE {table} MODIFY {column} {type} COLLATE {collation} {null}{again}");
        named(reason, &Column { altering, ..column("x") }, &MySqlDialect).remedy
    }

    #[test]
    fn what_a_statement_would_drop_is_said_again() {
        let again = told(Altering::Saying(" DEFAULT '{null}' COMMENT 'a {table}'".to_owned()));
        assert_eq!(again.as_deref(), Some("ALTER TABLE {table of x} MODIFY `x` varchar(9) COLLATE utf8mb4_bin NOT NULL DEFAULT '{null}' COMMENT 'a {table}'"));
        let words = told(Altering::InWords("give the column beneath the view the type {}"));
        assert_eq!(words.as_deref(), Some("give the column beneath the view the type varchar(9) COLLATE utf8mb4_bin"));
    }

    #[test]
    fn a_remedy_names_its_column_and_its_table() {
        let expected = "ALTER TABLE `shop`.`a` MODIFY `x` varchar(9) COLLATE utf8mb4_bin NOT NULL";
        assert_eq!(remedy("x", &["a"]).as_deref(), Some(expected));
        assert_eq!(remedy("c_b", &["a", "b"]).as_deref(), Some("ALTER TABLE `shop`.`b` MODIFY `c_b` varchar(9) COLLATE utf8mb4_bin NOT NULL"));
        assert_eq!(remedy("x", &["a", "b"]), None, "of either table");
        assert_eq!(remedy("", &["a"]), None, "computed");
    }
}
