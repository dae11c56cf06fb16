// SPDX-License-Identifier: Apache-2.0
//! Which aggregates and casts a warehouse computes with exactly our result. Only Snowflake's are documented to mean the same and were
//! seen to, at the stand-in; its numbers of up to 38 digits never overflow where ours do not, and what comes back is checked when it is read.

use super::capability::support;
use super::native_type::AS_VARCHAR;
use super::vendor::Vendor;
use crate::expression::unknown_function;
use crate::{Aggregate, Argument, Column, Function, Operation, Reason, Term, ValuePolicy, Written};
use arrow::datatypes::DataType;

/// A vendor, and what its source makes of numbers that are none.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rules {
    pub(super) vendor: Vendor,
    pub(super) infinity: ValuePolicy,
    pub(super) nan: ValuePolicy,
}

impl Rules {
    fn exact(self, operation: Operation<'_>, column: &Column) -> Result<(), Reason> {
        support(self.vendor, self.infinity, self.nan, &operation, column).exact()
    }

    /// Only casts that leave the value and its text as they are.
    pub(super) fn function(self, function: Function<'_>, arguments: &[Argument<'_>], result: &DataType) -> Written {
        let (Vendor::Snowflake, Function::Widen, [argument]) = (self.vendor, function, arguments) else {
            return Err(unproven("functions"));
        };
        let term = argument.term;
        let holds = match (&term.meaning.data_type, result) {
            (DataType::Int64, DataType::Decimal128(precision, scale)) => i16::from(*precision) - i16::from(*scale) >= 19,
            (DataType::Decimal128(p, s), DataType::Decimal128(precision, scale)) => {
                scale >= s && i16::from(*precision) - i16::from(*scale) >= i16::from(*p) - i16::from(*s)
            }
            _ => false,
        };
        if !holds {
            return Err(unknown_function());
        }
        let meaning = Column { data_type: result.clone(), read_as: Some(AS_VARCHAR), ..term.meaning.clone() };
        Ok(Term { sql: term.sql.clone(), meaning, total: term.total, constant: term.constant })
    }

    pub(super) fn aggregate(self, aggregate: Aggregate, argument: Option<&Term>, distinct: bool, result: &DataType) -> Written {
        if self.vendor != Vendor::Snowflake {
            return Err(unproven("aggregates"));
        }
        let Some(argument) = argument else {
            return if aggregate == Aggregate::Count && !distinct { Ok(number("COUNT(*)".to_owned(), result, true)) } else { Err(unknown_function()) };
        };
        if distinct {
            self.exact(Operation::Distinguish, &argument.meaning)?;
        }
        let quantified = format!("{}{}", if distinct { "DISTINCT " } else { "" }, argument.sql);
        match aggregate {
            Aggregate::Count => {
                self.exact(Operation::IsNotNull, &argument.meaning)?;
                Ok(number(format!("COUNT({quantified})"), result, true))
            }
            Aggregate::Sum if distinct => Err(unproven("sums of distinct values")),
            Aggregate::Sum => sum(argument, result),
            Aggregate::Min | Aggregate::Max => {
                self.exact(Operation::Order, &argument.meaning)?;
                match argument.meaning.data_type {
                    DataType::Int64 | DataType::Decimal128(..) | DataType::Date32 | DataType::Time64(_) | DataType::Timestamp(..) => {
                        Ok(argument.written(format!("{}({})", aggregate.word().to_uppercase(), argument.sql)))
                    }
                    _ => Err(unknown_function()),
                }
            }
            Aggregate::BoolAnd | Aggregate::BoolOr => Err(unproven("aggregates of truths")),
        }
    }
}

/// With the type said, so that no server adds up anything else.
fn sum(argument: &Term, result: &DataType) -> Written {
    let (precision, scale) = match (&argument.meaning.data_type, result) {
        (DataType::Int64, DataType::Int64 | DataType::Decimal128(_, 0)) => (19, 0),
        (DataType::Decimal128(precision, own), DataType::Decimal128(_, scale)) if own == scale => (*precision, *own),
        (DataType::Float64, _) => {
            let reason = Reason::new("float_order", "the last digits of a sum of floating point numbers depend on the order in which they are added");
            return Err(reason.with_remedy("store it as numeric, whose sums are the same in any order"));
        }
        _ => return Err(unknown_function()),
    };
    Ok(number(format!("SUM(CAST({} AS NUMBER({precision},{scale})))", argument.sql), result, false))
}

/// A computed number, which travels as text: the driver would make a double of one with many digits.
fn number(sql: String, result: &DataType, total: bool) -> Term {
    let mut term = Term::computed(sql, "NUMBER", result.clone(), total);
    term.meaning.read_as = Some(AS_VARCHAR);
    term
}

fn unproven(what: &str) -> Reason {
    Reason::new("unproven", format!("{what} are not known to mean the same in the source"))
}
