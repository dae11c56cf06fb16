// SPDX-License-Identifier: Apache-2.0
//! What warehouses do with our meaning. Conservative: what is not known to be the same stays here.

use super::vendor::Vendor;
use crate::capability::Operand;
use crate::{Column, Operation, Reason, Support, ValuePolicy};
use arrow::datatypes::DataType;

pub(super) fn support(vendor: Vendor, infinity: ValuePolicy, nan: ValuePolicy, operation: &Operation<'_>, column: &Column) -> Support {
    if let Operation::IsNull | Operation::IsNotNull = operation {
        return nullness(infinity, nan, column);
    }
    match operation {
        Operation::Like(_) => return Support::Never(unproven("patterns")),
        Operation::Distinguish => return told_apart(vendor, column, false),
        Operation::Order => return told_apart(vendor, column, true),
        _ => {}
    }
    // Timestamps and decimals only travel as text; the source still compares them as what they are.
    if column.read_as.is_some() && column.data_type == DataType::Utf8 {
        return Support::Never(converted(column));
    }
    match &column.data_type {
        DataType::Boolean | DataType::Int64 | DataType::Decimal128(..) | DataType::Date32 => Support::Exact,
        DataType::Time64(_) => time(vendor),
        DataType::Timestamp(_, zone) => timestamp(vendor, zone.is_some()),
        DataType::Utf8 => text(vendor, operation, column),
        DataType::Binary => binary(vendor, operation),
        DataType::Float64 => float(vendor, infinity, nan, operation),
        other => Support::Never(Reason::new("type", format!("comparisons of {other} are not known to mean the same in the source"))),
    }
}

/// NULL is NULL everywhere, unless a policy makes NULLs of other values here.
fn nullness(infinity: ValuePolicy, nan: ValuePolicy, column: &Column) -> Support {
    if column.data_type == DataType::Float64 && (infinity == ValuePolicy::Null || nan == ValuePolicy::Null) {
        return Support::Never(Reason::new("value_policy", "NaN or infinity become NULL here, and the source does not know"));
    }
    // A driver that turns a value into text turns NULL into NULL, and nothing else: checked against the stand-in.
    Support::Exact
}

/// Groups, keys of joins and orders. Texts without a collation are equal when their bytes are; how they sort is left open.
fn told_apart(vendor: Vendor, column: &Column, ordered: bool) -> Support {
    if vendor != Vendor::Snowflake {
        return Support::Never(Reason::new("unproven", "groups and orders are not known to mean the same in the source"));
    }
    match (&column.data_type, column.read_as) {
        (DataType::Boolean | DataType::Int64 | DataType::Decimal128(..) | DataType::Date32 | DataType::Time64(_) | DataType::Timestamp(_, None), _) => {
            Support::Exact
        }
        (DataType::Utf8, None) if !ordered && column.bytewise_equality => Support::Exact,
        (DataType::Utf8, None) => Support::Never(Reason::new("collation", "the source may sort texts, or hold them equal, otherwise than by bytes")),
        (DataType::Utf8, Some(_)) => Support::Never(converted(column)),
        (DataType::Float64, _) => Support::Never(Reason::new("float", "NaN and the two zeros are told apart differently in the source")),
        (DataType::Timestamp(..), _) => Support::Never(Reason::new("zone", "an instant keeps the zone in which it was written in the source")),
        _ => Support::Never(unproven("values of this type")),
    }
}

fn converted(column: &Column) -> Reason {
    Reason::new("converted", format!("{} is read as text, and the source compares it as itself", column.native_type))
}

/// Finer than microseconds is compared in the source as itself, and is an error when read: never a wrong answer.
fn time(vendor: Vendor) -> Support {
    match vendor {
        Vendor::Snowflake | Vendor::BigQuery => Support::Exact,
        _ => Support::Never(unproven("times")),
    }
}

fn timestamp(vendor: Vendor, zoned: bool) -> Support {
    match (vendor, zoned) {
        (Vendor::Generic, _) => Support::Never(unproven("timestamps")),
        (_, false) => Support::Exact,
        (_, true) => Support::Superset(Reason::new("zone", "instants are compared in the source, and again here because its zone rules are not ours")),
    }
}

fn text(vendor: Vendor, operation: &Operation<'_>, column: &Column) -> Support {
    let range = !matches!(operation, Operation::Equal(_) | Operation::NotEqual(_));
    if range {
        return Support::Never(
            Reason::new("collation", "the source may sort texts in another order than by bytes")
                .with_remedy("filter by equality, or read the table from a copy"),
        );
    }
    match (column.bytewise_equality, vendor, operation) {
        (true, ..) => Support::Exact,
        // Whatever a collation or blank padding holds equal includes what is equal by bytes.
        (false, Vendor::Snowflake | Vendor::BigQuery | Vendor::Databricks | Vendor::Redshift, Operation::Equal(_)) => {
            Support::Superset(Reason::new("collation", "the source holds more texts equal than those with equal bytes"))
        }
        _ => Support::Never(Reason::new("collation", "the source may hold other texts equal than those with equal bytes")),
    }
}

fn binary(vendor: Vendor, operation: &Operation<'_>) -> Support {
    match (vendor, operation) {
        (Vendor::Snowflake | Vendor::BigQuery | Vendor::Databricks, Operation::Equal(_) | Operation::NotEqual(_)) => Support::Exact,
        _ => Support::Never(unproven("binary values")),
    }
}

/// Both zeros are one number in a warehouse and here; NaN has a place in the order that differs between products.
fn float(vendor: Vendor, infinity: ValuePolicy, nan: ValuePolicy, operation: &Operation<'_>) -> Support {
    let (Operation::Equal(operand)
    | Operation::NotEqual(operand)
    | Operation::Less(operand)
    | Operation::LessOrEqual(operand)
    | Operation::Greater(operand)
    | Operation::GreaterOrEqual(operand)) = operation
    else {
        return Support::Never(unproven("floats"));
    };
    let literal = match operand {
        Operand::Float(value) => *value,
        _ => return Support::Never(unproven("floats")),
    };
    if !literal.is_finite() {
        return Support::Never(Reason::new("float", "NaN and infinities are compared differently in the source"));
    }
    let policies_change_values = matches!(infinity, ValuePolicy::Clamp | ValuePolicy::Null) || nan == ValuePolicy::Null;
    let nan_is_greatest = matches!(vendor, Vendor::Snowflake | Vendor::Databricks);
    if matches!(operation, Operation::Equal(_)) || nan_is_greatest && !policies_change_values {
        return Support::Superset(Reason::new("float", "floats are compared in the source, and again here"));
    }
    Support::Never(Reason::new("float", "NaN and infinities are ordered differently in the source"))
}

fn unproven(what: &str) -> Reason {
    Reason::new("unproven", format!("comparisons of {what} are not known to mean the same in the source"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(data_type: DataType, read_as: Option<&'static str>, bytewise_equality: bool) -> Column {
        Column {
            name: "C".into(),
            native_type: "X".into(),
            data_type,
            nullable: true,
            collation: None,
            bytewise_equality,
            read_as,
            labels: None,
            degraded: None,
            altering: crate::Altering::default(),
        }
    }

    fn verdict(operation: Operation<'_>, column: &Column) -> &'static str {
        match support(Vendor::Snowflake, ValuePolicy::Keep, ValuePolicy::Keep, &operation, column) {
            Support::Exact => "exact",
            Support::Superset(reason) | Support::Never(reason) => reason.code,
        }
    }

    #[test]
    fn texts_by_equality_only() {
        let bytewise = column(DataType::Utf8, None, true);
        assert_eq!(verdict(Operation::Equal(Operand::Text("x")), &bytewise), "exact");
        assert_eq!(verdict(Operation::Less(Operand::Text("x")), &bytewise), "collation");
        let collated = column(DataType::Utf8, None, false);
        let equal = support(Vendor::Snowflake, ValuePolicy::Keep, ValuePolicy::Keep, &Operation::Equal(Operand::Text("x")), &collated);
        assert!(matches!(equal, Support::Superset(_)));
        let different = support(Vendor::Snowflake, ValuePolicy::Keep, ValuePolicy::Keep, &Operation::NotEqual(Operand::Text("x")), &collated);
        assert!(matches!(different, Support::Never(_)));
        assert_eq!(verdict(Operation::Equal(Operand::Text("x")), &column(DataType::Utf8, Some("TO_JSON({})"), false)), "converted");
    }

    #[test]
    fn nan_and_infinities_stay_here() {
        let float = column(DataType::Float64, None, false);
        for literal in [f64::NAN, f64::INFINITY] {
            let answer = support(Vendor::Snowflake, ValuePolicy::Keep, ValuePolicy::Keep, &Operation::Equal(Operand::Float(literal)), &float);
            assert!(matches!(answer, Support::Never(_)), "{literal}");
        }
        let nulls = support(Vendor::Snowflake, ValuePolicy::Null, ValuePolicy::Keep, &Operation::IsNull, &float);
        assert!(matches!(nulls, Support::Never(_)));
    }
}
