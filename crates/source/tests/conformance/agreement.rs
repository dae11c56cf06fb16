// SPDX-License-Identifier: Apache-2.0
//! The capability table against the server: whatever `support` calls exact finds the same rows there as here.

use super::{Subject, integers};
use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Float32Type, Float64Type, Int16Type, Int32Type, Int64Type, Time64MicrosecondType, TimeUnit, TimestampMicrosecondType,
};
use std::cmp::Ordering;
use std::collections::BTreeSet;
use weir_source::{Column, Operand, Operation, SourceTable, Support, Term};

/// How often each verdict was met, so that a test can see that it tested something.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub exact: usize,
    pub superset: usize,
    pub never: usize,
}

type Wrap = for<'a> fn(Operand<'a>) -> Operation<'a>;

/// The sign, the operation, and when it holds.
type Comparison = (&'static str, Wrap, fn(Ordering) -> bool);

const COMPARISONS: [Comparison; 6] = [
    ("=", |operand| Operation::Equal(operand), Ordering::is_eq),
    ("<>", |operand| Operation::NotEqual(operand), Ordering::is_ne),
    ("<", |operand| Operation::Less(operand), Ordering::is_lt),
    ("<=", |operand| Operation::LessOrEqual(operand), Ordering::is_le),
    (">", |operand| Operation::Greater(operand), Ordering::is_gt),
    (">=", |operand| Operation::GreaterOrEqual(operand), Ordering::is_ge),
];

/// Compares every column of `table` (whose first column is a unique integer) with every value that it holds, there and here.
/// `extra_texts` are more literals for text columns. Returns how often each verdict was met.
pub async fn support_agrees_with_the_server(subject: &Subject, table: &SourceTable, extra_texts: &[&str]) -> Tally {
    let mut tally = Tally::default();
    for column in table.columns.iter().filter(|column| column.degraded.is_none()) {
        let batch = read(subject, table, column).await;
        for row in 0..batch.num_rows() {
            if let Some(literal) = value(&batch, row) {
                compare(subject, table, column, &batch, literal, &mut tally).await;
            }
        }
        if column.data_type == DataType::Utf8 {
            for text in extra_texts {
                compare(subject, table, column, &batch, Operand::Text(text), &mut tally).await;
            }
        }
        null_tests(subject, table, column, &batch, &mut tally).await;
    }
    tally
}

async fn read(subject: &Subject, table: &SourceTable, column: &Column) -> RecordBatch {
    let dialect = subject.source.dialect();
    let id = &table.columns[0];
    let selected = column.read_as.unwrap_or("{}").replace("{}", &dialect.quote(&column.name));
    let sql = format!("SELECT {}, {selected} FROM {}", dialect.quote(&id.name), dialect.table(&table.schema, &table.name));
    subject.fetch(&sql, &[("id", id.data_type.clone()), ("value", column.data_type.clone())]).await.unwrap()
}

async fn compare(subject: &Subject, table: &SourceTable, column: &Column, all: &RecordBatch, literal: Operand<'_>, tally: &mut Tally) {
    let dialect = subject.source.dialect();
    for (sign, wrap, keeps) in COMPARISONS {
        let support = subject.source.support(&wrap(literal), column);
        if matches!(support, Support::Never(_)) {
            tally.never += 1;
            continue;
        }
        let term = Term { sql: dialect.quote(&column.name), meaning: column.clone(), total: true, constant: false };
        let predicate = dialect.compare(&term, sign, &dialect.literal_for(literal, column).unwrap()).sql;
        let here = ids(all, |row| value(all, row).is_some_and(|value| keeps(order(value, literal))));
        check(subject, table, column, &predicate, &here, &support, tally).await;
    }
}

async fn null_tests(subject: &Subject, table: &SourceTable, column: &Column, all: &RecordBatch, tally: &mut Tally) {
    let dialect = subject.source.dialect();
    let term = Term { sql: dialect.quote(&column.name), meaning: column.clone(), total: true, constant: false };
    for (operation, wanted) in [(Operation::IsNull, true), (Operation::IsNotNull, false)] {
        let support = subject.source.support(&operation, column);
        if matches!(support, Support::Never(_)) {
            tally.never += 1;
            continue;
        }
        let here = ids(all, |row| all.column(1).is_null(row) == wanted);
        check(subject, table, column, &dialect.null_test(&term, wanted), &here, &support, tally).await;
    }
}

async fn check(subject: &Subject, table: &SourceTable, column: &Column, predicate: &str, here: &BTreeSet<i64>, support: &Support, tally: &mut Tally) {
    let dialect = subject.source.dialect();
    let id = &table.columns[0];
    let sql = format!("SELECT {} FROM {} WHERE {predicate}", dialect.quote(&id.name), dialect.table(&table.schema, &table.name));
    let found = subject.fetch(&sql, &[("id", id.data_type.clone())]).await.unwrap_or_else(|error| panic!("{predicate}: {error:?}"));
    let there: BTreeSet<i64> = integers(&found, 0).into_iter().flatten().collect();
    if *support == Support::Exact {
        tally.exact += 1;
        assert_eq!(&there, here, "{predicate} on {} ({}) is not exact", column.name, column.native_type);
    } else {
        tally.superset += 1;
        assert!(there.is_superset(here), "{predicate} on {} ({}) loses rows", column.name, column.native_type);
    }
}

fn ids(batch: &RecordBatch, keeps: impl Fn(usize) -> bool) -> BTreeSet<i64> {
    let all = integers(batch, 0);
    (0..batch.num_rows()).filter(|row| keeps(*row)).filter_map(|row| all[row]).collect()
}

/// The value in the second column; `None` for NULL and for types that no literal has.
fn value(batch: &RecordBatch, row: usize) -> Option<Operand<'_>> {
    let column = batch.column(1);
    if column.is_null(row) {
        return None;
    }
    Some(match column.data_type() {
        DataType::Boolean => Operand::Bool(column.as_boolean().value(row)),
        DataType::Int16 => Operand::Int(column.as_primitive::<Int16Type>().value(row).into()),
        DataType::Int32 => Operand::Int(column.as_primitive::<Int32Type>().value(row).into()),
        DataType::Int64 => Operand::Int(column.as_primitive::<Int64Type>().value(row).into()),
        DataType::Float32 => Operand::Float(column.as_primitive::<Float32Type>().value(row).into()),
        DataType::Float64 => Operand::Float(column.as_primitive::<Float64Type>().value(row)),
        DataType::Decimal128(..) => Operand::Decimal(column.as_primitive::<Decimal128Type>().value(row)),
        DataType::Utf8 => Operand::Text(column.as_string::<i32>().value(row)),
        DataType::Binary => Operand::Bytes(column.as_binary::<i32>().value(row)),
        DataType::Date32 => Operand::Date(column.as_primitive::<Date32Type>().value(row)),
        DataType::Time64(TimeUnit::Microsecond) => Operand::Time(column.as_primitive::<Time64MicrosecondType>().value(row)),
        DataType::Timestamp(TimeUnit::Microsecond, _) => Operand::Timestamp(column.as_primitive::<TimestampMicrosecondType>().value(row)),
        _ => return None,
    })
}

/// Our meaning: numbers by value, NaN above every other float and both zeros equal, texts and bytes by bytes.
fn order(left: Operand<'_>, right: Operand<'_>) -> Ordering {
    match (left, right) {
        (Operand::Bool(a), Operand::Bool(b)) => a.cmp(&b),
        (Operand::Int(a), Operand::Int(b)) | (Operand::Decimal(a), Operand::Decimal(b)) => a.cmp(&b),
        (Operand::Float(a), Operand::Float(b)) => a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan())),
        (Operand::Text(a), Operand::Text(b)) => a.as_bytes().cmp(b.as_bytes()),
        (Operand::Bytes(a), Operand::Bytes(b)) => a.cmp(b),
        (Operand::Date(a), Operand::Date(b)) => a.cmp(&b),
        (Operand::Time(a), Operand::Time(b)) | (Operand::Timestamp(a), Operand::Timestamp(b)) => a.cmp(&b),
        _ => unreachable!("a column has one type"),
    }
}
