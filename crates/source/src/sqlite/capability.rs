// SPDX-License-Identifier: Apache-2.0
//! What SQLite does with our meaning. Strays decide much: where one could pass a filter, the filter is checked again here,
//! and that reads the stray and makes it an error. There are none in numbers and blobs of STRICT tables nor in INTEGER PRIMARY KEY.

use super::declared_type::{Meaning, meaning};
use super::discover::UTF16;
use crate::capability::Operand;
use crate::expression::unknown_function;
use crate::{Aggregate, Column, Operation, Reason, Support, Term, ValuePolicy, Window, Written};
use arrow::datatypes::DataType;

pub(super) fn support(infinity: ValuePolicy, operation: &Operation<'_>, column: &Column) -> Support {
    let meaning = meaning(&column.native_type);
    if let Operation::IsNull | Operation::IsNotNull = operation {
        return nullness(infinity, meaning);
    }
    match operation {
        Operation::Like(_) => {
            return Support::Never(Reason::new("case_folding", "LIKE takes no notice of the case of ASCII letters in SQLite"));
        }
        Operation::Distinguish | Operation::Order => return told_apart(infinity, meaning, column),
        _ => {}
    }
    match meaning {
        Meaning::Integer | Meaning::Blob if column.bytewise_equality => Support::Exact,
        Meaning::Integer | Meaning::Boolean | Meaning::Blob => by_class(operation),
        Meaning::Text => text(operation, column),
        Meaning::Date => date(operation, column),
        Meaning::Decimal { .. } => decimal(infinity, operation),
        Meaning::Real => real(infinity, operation),
        Meaning::Time | Meaning::Timestamp { .. } => Support::Never(
            Reason::new("text_time", "one instant can be written as several texts")
                .with_remedy("store it as a number, such as the seconds since 1970, in a column that is declared INTEGER"),
        ),
        Meaning::Printed => {
            Support::Never(Reason::new("dynamic_type", "the column has no declared type that SQLite keeps to").with_remedy("declare it TEXT or INTEGER"))
        }
    }
}

/// Groups, keys of joins and orders. A stray would have a group and a place of its own, and be no error.
fn told_apart(infinity: ValuePolicy, meaning: Meaning, column: &Column) -> Support {
    match meaning {
        Meaning::Integer | Meaning::Blob if column.bytewise_equality => Support::Exact,
        Meaning::Real if column.bytewise_equality && !changes(infinity) => Support::Exact,
        Meaning::Real if column.bytewise_equality => Support::Never(Reason::new("value_policy", "`values.infinity` of the source changes what is read")),
        _ => Support::Never(
            Reason::new("stray", "SQLite lets values of any type into the column, which have groups and places of their own there and are an error here")
                .with_remedy("make the table STRICT, and the column INTEGER or REAL where it holds numbers"),
        ),
    }
}

/// Functions that take a row by its place; `over` is the window in parentheses.
pub(super) fn window(infinity: ValuePolicy, window: Window, argument: Option<&Term>, over: &str, result: &DataType) -> Written {
    let numbered = |word: &str| Ok(Term::computed(format!("{word}() OVER {over}"), "INTEGER", DataType::Int64, true));
    match window {
        Window::RowNumber => numbered("row_number"),
        Window::Rank => numbered("rank"),
        Window::DenseRank => numbered("dense_rank"),
        Window::Aggregate(of) => {
            let term = aggregate(infinity, of, argument, false, result)?;
            Ok(term.written(format!("{} OVER {over}", term.sql)))
        }
        Window::Lag | Window::Lead | Window::First | Window::Last => Err(strays()),
    }
}

/// Rows, values that are not NULL, and the least and the greatest of numbers.
pub(super) fn aggregate(infinity: ValuePolicy, aggregate: Aggregate, argument: Option<&Term>, distinct: bool, result: &DataType) -> Written {
    let exact = |operation: Operation<'_>, column: &Column| support(infinity, &operation, column).exact();
    let Some(argument) = argument else {
        let counts = aggregate == Aggregate::Count && !distinct;
        return if counts { Ok(Term::computed("COUNT(*)", "INTEGER", result.clone(), true)) } else { Err(unknown_function()) };
    };
    let column = &argument.meaning;
    match aggregate {
        Aggregate::Count => {
            exact(Operation::IsNotNull, column)?;
            if distinct {
                exact(Operation::Distinguish, column)?;
            }
            let quantifier = if distinct { "DISTINCT " } else { "" };
            Ok(Term::computed(format!("COUNT({quantifier}{})", argument.sql), "INTEGER", result.clone(), true))
        }
        Aggregate::Min | Aggregate::Max => {
            exact(Operation::Order, column)?;
            match meaning(&column.native_type) {
                Meaning::Integer | Meaning::Real => Ok(argument.written(format!("{}({})", aggregate.word().to_uppercase(), argument.sql))),
                _ => Err(unknown_function()),
            }
        }
        Aggregate::Sum => Err(Reason::new("overflow", "a sum that leaves 64 bits on its way is an error in SQLite, and one of fractions is rounded")),
        Aggregate::BoolAnd | Aggregate::BoolOr => Err(Reason::new("boolean", "SQLite has no boolean type")),
    }
}

fn strays() -> Reason {
    Reason::new("stray", "SQLite lets values of any type into any column, so what is kept is checked again here")
}

/// NULL is NULL, also beside strays, which are an error only when they are read.
fn nullness(infinity: ValuePolicy, meaning: Meaning) -> Support {
    if infinity == ValuePolicy::Null && matches!(meaning, Meaning::Real | Meaning::Decimal { .. }) {
        return Support::Never(Reason::new("value_policy", "infinity becomes NULL here, and the source does not know"));
    }
    Support::Exact
}

/// A stray is of another storage class and so equals no literal; it may pass every other comparison.
fn by_class(operation: &Operation<'_>) -> Support {
    if matches!(operation, Operation::Equal(_)) { Support::Exact } else { Support::Superset(strays()) }
}

/// Dates are texts of one form, which sort as they follow each other; RTRIM would let a stray with a blank behind it pass.
fn date(operation: &Operation<'_>, column: &Column) -> Support {
    let bytewise = column.collation.as_deref().is_some_and(|collation| collation.starts_with("BINARY"));
    if bytewise { by_class(operation) } else { Support::Superset(strays()) }
}

fn text(operation: &Operation<'_>, column: &Column) -> Support {
    if column.collation.as_deref().is_some_and(|collation| collation.ends_with(UTF16)) && !matches!(operation, Operation::Equal(_) | Operation::NotEqual(_)) {
        return Support::Never(Reason::new("collation", "the file is in UTF-16, whose bytes sort differently"));
    }
    match operation {
        Operation::Equal(_) if column.bytewise_equality => Support::Exact,
        // NOCASE and RTRIM hold more equal than bytes do, never less.
        Operation::Equal(_) => Support::Superset(Reason::new("collation", "the column's collation holds more texts equal than those with equal bytes")),
        Operation::NotEqual(_) if !column.bytewise_equality => {
            Support::Never(Reason::new("collation", "the column's collation holds texts equal whose bytes differ"))
        }
        _ => Support::Superset(strays()),
    }
}

/// SQLite keeps fractions as doubles: up to 15 digits they stand for one decimal each and sort as it does.
fn decimal(infinity: ValuePolicy, operation: &Operation<'_>) -> Support {
    let Some(Operand::Decimal(digits)) = operand(operation) else {
        return Support::Never(Reason::new("float", "fractions are doubles in SQLite"));
    };
    let significant = digits.unsigned_abs().to_string();
    if significant.trim_end_matches('0').len() > 15 || changes(infinity) {
        return Support::Never(Reason::new("float", "fractions are doubles in SQLite, which have no more than 15 digits"));
    }
    Support::Superset(Reason::new("float", "fractions are doubles in SQLite, so what is kept is checked again here"))
}

/// Both zeros are one number in SQLite and here; NaN cannot be stored.
fn real(infinity: ValuePolicy, operation: &Operation<'_>) -> Support {
    let Some(Operand::Float(literal)) = operand(operation) else {
        return Support::Never(Reason::new("float", "this comparison of floats is not known to mean the same in SQLite"));
    };
    if literal.is_nan() || changes(infinity) {
        return Support::Never(Reason::new("float", "NaN is not known to SQLite, and `values.infinity` changes what is read"));
    }
    Support::Superset(Reason::new("float", "floats are compared in SQLite, and again here"))
}

fn changes(infinity: ValuePolicy) -> bool {
    matches!(infinity, ValuePolicy::Null | ValuePolicy::Clamp)
}

fn operand<'a>(operation: &Operation<'a>) -> Option<Operand<'a>> {
    match operation {
        Operation::Equal(operand)
        | Operation::NotEqual(operand)
        | Operation::Less(operand)
        | Operation::LessOrEqual(operand)
        | Operation::Greater(operand)
        | Operation::GreaterOrEqual(operand) => Some(*operand),
        Operation::IsNull | Operation::IsNotNull | Operation::IsTrue | Operation::Like(_) | Operation::Distinguish | Operation::Order => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(native_type: &str, collation: &str) -> Column {
        Column {
            name: "c".into(),
            native_type: native_type.into(),
            data_type: DataType::Utf8,
            nullable: true,
            collation: Some(collation.into()),
            bytewise_equality: collation.starts_with("BINARY"),
            read_as: None,
            labels: None,
            degraded: None,
            altering: crate::Altering::default(),
        }
    }

    fn verdict(operation: Operation<'_>, column: &Column) -> &'static str {
        match support(ValuePolicy::Keep, &operation, column) {
            Support::Exact => "exact",
            Support::Superset(reason) => reason.code,
            Support::Never(_) => "never",
        }
    }

    #[test]
    fn collations_decide_about_texts() {
        let abc = Operand::Text("abc");
        assert_eq!(verdict(Operation::Equal(abc), &column("TEXT", "BINARY")), "exact");
        assert_eq!(verdict(Operation::Equal(abc), &column("TEXT", "NOCASE")), "collation");
        assert_eq!(verdict(Operation::NotEqual(abc), &column("TEXT", "NOCASE")), "never");
        assert_eq!(verdict(Operation::Less(abc), &column("TEXT", "NOCASE")), "stray");
        assert_eq!(verdict(Operation::Less(abc), &column("TEXT", "BINARY (UTF-16)")), "never");
        assert_eq!(verdict(Operation::Equal(abc), &column("TEXT", "BINARY (UTF-16)")), "exact");
        assert_eq!(verdict(Operation::Equal(Operand::Date(0)), &column("DATE", "RTRIM")), "stray");
    }

    #[test]
    fn long_decimals_and_zero_stay_here() {
        let price = column("DECIMAL(38,2)", "BINARY");
        assert_eq!(verdict(Operation::Less(Operand::Decimal(1_234_567_890_123_456)), &price), "never");
        assert_eq!(verdict(Operation::Less(Operand::Decimal(123_456_789_012_345)), &price), "float");
        assert_eq!(verdict(Operation::Equal(Operand::Float(f64::NAN)), &column("REAL", "BINARY")), "never");
        assert_eq!(verdict(Operation::IsTrue, &column("BOOLEAN", "BINARY")), "stray");
    }
}
