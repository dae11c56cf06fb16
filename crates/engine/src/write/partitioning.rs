// SPDX-License-Identifier: Apache-2.0
//! Partitioning as people write it: `PARTITIONED BY (day(ts), bucket(16, id), region)` or `WITH (partitioning = 'day(ts), region')`.

use datafusion::sql::sqlparser::ast::{CreateTable, CreateTableOptions, Expr, FunctionArg, FunctionArgExpr, FunctionArguments, SqlOption, Value};
use datafusion::sql::sqlparser::dialect::PostgreSqlDialect;
use datafusion::sql::sqlparser::parser::Parser;
use std::collections::BTreeMap;
use weir_base::{Error, ErrorCode, Result};
use weir_lake::{PartitionField, Transform};

/// Partition fields and the other table properties of a CREATE TABLE.
pub(crate) fn options(table: &CreateTable) -> Result<(Vec<PartitionField>, BTreeMap<String, String>)> {
    let mut fields = match &table.partition_by {
        Some(by) => fields_of(by)?,
        None => Vec::new(),
    };
    let mut properties = BTreeMap::new();
    let options = match &table.table_options {
        CreateTableOptions::None => &[][..],
        CreateTableOptions::With(options)
        | CreateTableOptions::Options(options)
        | CreateTableOptions::Plain(options)
        | CreateTableOptions::TableProperties(options) => options,
    };
    for option in options {
        let SqlOption::KeyValue { key, value } = option else { return Err(unknown_option(&option.to_string())) };
        match key.value.to_ascii_lowercase().as_str() {
            "partitioning" | "partitioned_by" => fields.extend(parse_texts(value)?),
            "format" if text(value).eq_ignore_ascii_case("parquet") => {}
            name if name.contains('.') => {
                properties.insert(name.to_owned(), text(value));
            }
            name => return Err(unknown_option(name)),
        }
    }
    Ok((fields, properties))
}

fn unknown_option(name: &str) -> Error {
    Error::new(ErrorCode::Syntax, format!("unknown table option {name}"))
        .with_hint("known: partitioning = 'day(ts), region', and quoted Iceberg properties such as \"write.target-file-size-bytes\"")
}

fn text(value: &Expr) -> String {
    match value {
        Expr::Value(value) => value.value.clone().into_string().unwrap_or_else(|| value.to_string()),
        other => other.to_string(),
    }
}

/// `'day(ts), region'` or `ARRAY['day(ts)', 'region']`.
fn parse_texts(value: &Expr) -> Result<Vec<PartitionField>> {
    let texts: Vec<String> = match value {
        Expr::Array(array) => array.elem.iter().map(text).collect(),
        other => vec![text(other)],
    };
    let mut fields = Vec::new();
    for one in texts {
        let parsed = Parser::new(&PostgreSqlDialect {}).try_with_sql(&format!("({one})")).and_then(|mut parser| parser.parse_expr());
        fields.extend(fields_of(&parsed.map_err(|_| bad_field(&one))?)?);
    }
    Ok(fields)
}

fn fields_of(expr: &Expr) -> Result<Vec<PartitionField>> {
    match expr {
        Expr::Tuple(all) => all.iter().map(field).collect(),
        Expr::Nested(one) => fields_of(one),
        one => Ok(vec![field(one)?]),
    }
}

fn field(expr: &Expr) -> Result<PartitionField> {
    match expr {
        Expr::Nested(inner) => field(inner),
        Expr::Identifier(ident) => Ok(PartitionField { column: column(ident), transform: Transform::Identity }),
        Expr::Function(function) => {
            let arguments = arguments(&function.args).ok_or_else(|| bad_field(&expr.to_string()))?;
            let name = function.name.to_string().to_ascii_lowercase();
            transform(&name, &arguments).ok_or_else(|| bad_field(&expr.to_string()))
        }
        other => Err(bad_field(&other.to_string())),
    }
}

fn column(ident: &datafusion::sql::sqlparser::ast::Ident) -> String {
    if ident.quote_style.is_some() { ident.value.clone() } else { ident.value.to_lowercase() }
}

fn arguments(arguments: &FunctionArguments) -> Option<Vec<&Expr>> {
    let FunctionArguments::List(list) = arguments else { return None };
    let plain = |argument| match argument {
        &FunctionArg::Unnamed(FunctionArgExpr::Expr(ref expr)) => Some(expr),
        _ => None,
    };
    list.args.iter().map(plain).collect()
}

fn transform(name: &str, arguments: &[&Expr]) -> Option<PartitionField> {
    let simple = |transform| match arguments {
        [Expr::Identifier(ident)] => Some(PartitionField { column: column(ident), transform }),
        _ => None,
    };
    // Both orders are in use: bucket(16, id) in Iceberg's own words, bucket(id, 16) in Trino.
    let counted = |make: fn(u32) -> Transform| match arguments {
        [Expr::Identifier(ident), count] | [count, Expr::Identifier(ident)] => Some(PartitionField { column: column(ident), transform: make(number(count)?) }),
        _ => None,
    };
    match name {
        "year" | "years" => simple(Transform::Year),
        "month" | "months" => simple(Transform::Month),
        "day" | "days" => simple(Transform::Day),
        "hour" | "hours" => simple(Transform::Hour),
        "identity" => simple(Transform::Identity),
        "bucket" => counted(Transform::Bucket),
        "truncate" => counted(Transform::Truncate),
        _ => None,
    }
}

fn number(expr: &Expr) -> Option<u32> {
    match expr {
        Expr::Value(value) => match &value.value {
            Value::Number(digits, _) => digits.to_string().parse().ok().filter(|count| *count > 0),
            _ => None,
        },
        _ => None,
    }
}

fn bad_field(text: &str) -> Error {
    Error::new(ErrorCode::Syntax, format!("{text} is not a partition field"))
        .with_hint("write a column, or year, month, day or hour(column), bucket(16, column), truncate(8, column)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::{Command, classify, parse};

    fn of(sql: &str) -> Result<Vec<String>> {
        let Command::CreateTable(table) = classify(parse(sql)?)? else { panic!("not a CREATE TABLE") };
        Ok(options(&table)?.0.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn both_ways_of_writing_it() {
        assert_eq!(of("CREATE TABLE lake.s.t PARTITIONED BY (day(ts), bucket(16, id), region) AS SELECT 1").unwrap(), ["day(ts)", "bucket(16, id)", "region"]);
        assert_eq!(of("CREATE TABLE lake.s.t WITH (partitioning = 'month(ts), region') AS SELECT 1").unwrap(), ["month(ts)", "region"]);
        assert_eq!(
            of("CREATE TABLE lake.s.t WITH (partitioning = ARRAY['day(ts)', 'truncate(4, name)']) AS SELECT 1").unwrap(),
            ["day(ts)", "truncate(4, name)"]
        );
        assert!(of("CREATE TABLE lake.s.t PARTITIONED BY (week(ts)) AS SELECT 1").is_err());
        assert!(of("CREATE TABLE lake.s.t WITH (partitoning = 'ts') AS SELECT 1").is_err());
    }
}
