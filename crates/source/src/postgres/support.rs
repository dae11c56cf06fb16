// SPDX-License-Identifier: Apache-2.0
//! Which comparisons PostgreSQL does with exactly our meaning: the table that the planner, EXPLAIN and the tests read.
//!
//! | column | operations | verdict | reason code |
//! |---|---|---|---|
//! | bool, integers, bytea, time | all six | exact; never outside the range of the type | `range` |
//! | numeric(p,s) | all six | exact; `<>` `>` `>=` superset when NaN is read as NULL | `values` |
//! | numeric without a size that a decimal has | all six | superset | `numeric`, `values` |
//! | real, double precision | all six | superset; never with 0, NaN or an infinity | `float` |
//! | date, timestamp, timestamptz | all six | exact; all but `=` superset when infinities are read as NULL | `values`, `range` |
//! | date, timestamp, timestamptz beside an infinity | all six | exact; never when infinities are read as something else | `values` |
//! | text, varchar, name | `=` `<>` | exact; under a collation that takes different texts for equal: superset, never | `collation` |
//! | text, varchar, name | ranges | exact under `COLLATE "C"`; never where the encoding orders differently | `encoding` |
//! | char(n) | `=` `<>`, ranges | as text, by its own operators, which do not look at blanks at the end; beside a constant with such: superset, never | `padding` |
//! | citext | `=` | superset, else never | `collation` |
//! | uuid | `=` | exact with a canonical literal, else never | `uuid` |
//! | enum | `=` `<>` | exact with one of its labels, else never | `enum` |
//! | everything else | all six | never | `type` |
//! | text, varchar, name, char(n) | LIKE | exact; never under a collation that takes different texts for equal | `collation` |
//! | all but citext, json, and what is read as text | groups, DISTINCT, keys | exact; never when a policy changes values | `values`, `collation`, `type` |
//! | numbers, date, timestamp, time, bytea, text, char(n) | ORDER BY, min, max | exact, texts under `COLLATE "C"` | `values`, `type` |
//! | any | NULL tests | exact; where a policy makes NULLs: never, superset | `values` |

use super::mapping::{base_type, cased, padded};
use super::value::{DATE_CLAMP_MAX, DATE_CLAMP_MIN, Policies, TIMESTAMP_CLAMP_MAX, TIMESTAMP_CLAMP_MIN};
use crate::{Column, Operand, Operation, Pattern, Reason, Support, ValuePolicy};
use arrow::datatypes::DataType;
use weir_base::DAY_MICROS;

/// The six comparisons by what they do with values that a policy has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    NotEqual,
    /// `<` and `<=`: never true for a NaN, which is above every number.
    Below,
    /// `>` and `>=`: true for a NaN.
    Above,
}

/// The answer for one operation on one column.
pub fn support(operation: &Operation<'_>, column: &Column, policies: Policies) -> Support {
    if let Some(why) = &column.degraded {
        return never("degraded", why.clone());
    }
    let (comparison, operand) = match *operation {
        Operation::IsNull => return null_test(column, policies, true),
        Operation::IsNotNull => return null_test(column, policies, false),
        Operation::IsTrue if column.data_type == DataType::Boolean => return Support::Exact,
        Operation::IsTrue => return never("type", "only a boolean is a condition by itself"),
        Operation::Like(pattern) => return like(pattern, column),
        Operation::Distinguish => return distinguish(column, policies),
        Operation::Order => return order(column, policies),
        Operation::Equal(operand) => (Comparison::Equal, operand),
        Operation::NotEqual(operand) => (Comparison::NotEqual, operand),
        Operation::Less(operand) | Operation::LessOrEqual(operand) => (Comparison::Below, operand),
        Operation::Greater(operand) | Operation::GreaterOrEqual(operand) => (Comparison::Above, operand),
    };
    match (&column.data_type, operand) {
        (DataType::Boolean, Operand::Bool(_)) | (DataType::Binary, Operand::Bytes(_)) => Support::Exact,
        (DataType::Int16 | DataType::Int32 | DataType::Int64, Operand::Int(value)) => integer(value, column),
        (DataType::Time64(_), Operand::Time(micros)) => {
            if (0..DAY_MICROS).contains(&micros) {
                Support::Exact
            } else {
                out_of_range()
            }
        }
        (DataType::Float32 | DataType::Float64, Operand::Float(value)) => float(comparison, value, policies),
        (DataType::Decimal128(precision, _), Operand::Decimal(unscaled)) => decimal(comparison, unscaled, *precision, column, policies),
        (DataType::Date32, Operand::Date(i32::MIN | i32::MAX)) | (DataType::Timestamp(..), Operand::Timestamp(i64::MIN | i64::MAX)) => infinite(policies),
        (DataType::Date32, Operand::Date(days)) => moment(i64::from(days), (i64::from(DATE_CLAMP_MIN), i64::from(DATE_CLAMP_MAX)), comparison, policies),
        (DataType::Timestamp(..), Operand::Timestamp(micros)) => moment(micros, (TIMESTAMP_CLAMP_MIN, TIMESTAMP_CLAMP_MAX), comparison, policies),
        (DataType::Utf8, Operand::Text(text)) => text_column(comparison, text, column),
        _ => never("type", "values of this type are compared here"),
    }
}

fn integer(value: i128, column: &Column) -> Support {
    let fits = match (&column.data_type, base_type(&column.native_type)) {
        (_, "oid") => u32::try_from(value).is_ok(),
        (DataType::Int16, _) => i16::try_from(value).is_ok(),
        (DataType::Int32, _) => i32::try_from(value).is_ok(),
        _ => i64::try_from(value).is_ok(),
    };
    if fits { Support::Exact } else { out_of_range() }
}

/// PostgreSQL has one zero and one NaN, which is above every number: so it is here. What the policies of the source turn into
/// another value is compared there as what it is.
fn float(comparison: Comparison, value: f64, policies: Policies) -> Support {
    let (nan, infinity) = (policies.nan != ValuePolicy::Keep, policies.infinity != ValuePolicy::Keep);
    if value.is_nan() && nan || value.is_infinite() && infinity {
        return never("values", "NaN and infinities are changed or refused by `values` of the source");
    }
    if policies.infinity == ValuePolicy::Clamp && (value.abs() >= f64::from(f32::MAX)) {
        return never("values", "infinities are clamped by `values.infinity` of the source");
    }
    let gains = policies.nan == ValuePolicy::Null || policies.infinity == ValuePolicy::Null;
    if gains && comparison != Comparison::Equal {
        return Support::Superset(Reason::new("values", "NaN or infinities are read as NULL by `values` of the source"));
    }
    Support::Exact
}

fn decimal(comparison: Comparison, unscaled: i128, precision: u8, column: &Column, policies: Policies) -> Support {
    let declared = declared_numeric(column);
    let most = 10_i128.checked_pow(u32::from(precision)).map_or(i128::MAX, |power| power - 1);
    if !declared && policies.infinity == ValuePolicy::Clamp && unscaled.unsigned_abs() >= most.unsigned_abs() {
        return never("values", "infinities are clamped by `values.infinity` of the source");
    }
    if !declared {
        return Support::Superset(
            Reason::new("numeric", "the column has no declared precision: what the source returns is checked again here")
                // Each value that is read here fits: with fewer decimal places some would be rounded.
                .with_remedy("ALTER TABLE {table} ALTER COLUMN {column} TYPE numeric(38, 18)"),
        );
    }
    // A declared numeric can still be NaN, above every number. Under `null` it is NULL here.
    let nan_matches = matches!(comparison, Comparison::NotEqual | Comparison::Above);
    if nan_matches && policies.nan == ValuePolicy::Null {
        return Support::Superset(Reason::new("values", "NaN is read as NULL by `values.nan` of the source"));
    }
    Support::Exact
}

/// A numeric with a size of its own that a decimal here has too.
pub(super) fn declared_numeric(column: &Column) -> bool {
    base_type(&column.native_type).starts_with("numeric(") && declared_as_read(column)
}

/// `numeric(1000,2)` is declared, but read as an undeclared one.
fn declared_as_read(column: &Column) -> bool {
    let inside = base_type(&column.native_type).strip_prefix("numeric(").and_then(|rest| rest.strip_suffix(')'));
    let Some((precision, scale)) = inside.map(|inside| inside.split_once(',').unwrap_or((inside, "0"))) else { return false };
    match (precision.parse(), scale.parse()) {
        (Ok(precision), Ok(scale)) => precision <= 76 && super::mapping::decimal(precision, scale) == column.data_type,
        _ => false,
    }
}

/// Dates and timestamps. `bounds` are the instants that infinities clamp to, and the first one PostgreSQL can spell.
fn moment(value: i64, bounds: (i64, i64), comparison: Comparison, policies: Policies) -> Support {
    if value <= bounds.0 || value >= bounds.1 {
        return out_of_range();
    }
    // Strictly inside the bounds a clamped infinity is on the same side as the infinity itself.
    if policies.infinity == ValuePolicy::Null && comparison != Comparison::Equal {
        return Support::Superset(Reason::new("values", "infinities are read as NULL by `values.infinity` of the source"));
    }
    Support::Exact
}

/// Everything that is read is finite where infinities are refused, and the source says the same of the finite.
fn infinite(policies: Policies) -> Support {
    match policies.infinity {
        ValuePolicy::Keep | ValuePolicy::Error => Support::Exact,
        ValuePolicy::Null | ValuePolicy::Clamp => never("values", "infinities are changed by `values.infinity` of the source"),
    }
}

fn text_column(comparison: Comparison, text: &str, column: &Column) -> Support {
    if text.contains('\0') {
        return never("literal", "PostgreSQL has no NUL in a text");
    }
    match (base_type(&column.native_type), column.read_as) {
        (_, Some(_)) if column.labels.is_some() => label(comparison, text, column),
        ("uuid", Some(_)) => uuid(comparison, text),
        (_, None) => plain_text(comparison, column),
        (_, Some(_)) if cased(column) => loose_text(comparison, "citext compares without regard to case"),
        (_, Some(_)) if padded(column) => padded_text(comparison, text, column),
        _ => never("type", "a value that is read as text is compared here"),
    }
}

/// Ranges are by bytes under `COLLATE "C"`, which is how the dialect writes them.
fn plain_text(comparison: Comparison, column: &Column) -> Support {
    match comparison {
        Comparison::Below | Comparison::Above => Support::Exact,
        _ if column.bytewise_equality => Support::Exact,
        Comparison::Equal => Support::Superset(loose_collation()),
        _ => Support::Never(loose_collation()),
    }
}

/// It compares without the blanks at the end, and is read without them: only a constant that has some means something else.
fn padded_text(comparison: Comparison, text: &str, column: &Column) -> Support {
    let reason = match (text.ends_with(' '), column.bytewise_equality) {
        (false, true) => return Support::Exact,
        (true, _) => Reason::new("padding", "char(n) compares without regard to trailing blanks, and the constant has some")
            .with_remedy("leave out the blanks at the end of the constant: no value of a char(n) has any here"),
        (false, false) if column.collation.is_some() => loose_collation(),
        (false, false) => Reason::new("padding", "char(n) compares without regard to trailing blanks"),
    };
    if comparison == Comparison::Equal { Support::Superset(reason) } else { Support::Never(reason) }
}

/// Under a deterministic collation a pattern is matched letter by letter, whatever the collation says of order or case.
fn like(pattern: Pattern<'_>, column: &Column) -> Support {
    if pattern.text.contains('\0') {
        return never("literal", "PostgreSQL has no NUL in a text");
    }
    match (&column.data_type, column.read_as) {
        (DataType::Utf8, None) if column.bytewise_equality => Support::Exact,
        (DataType::Utf8, Some(_)) if padded(column) && column.bytewise_equality => Support::Exact,
        (DataType::Utf8, None) => Support::Never(loose_collation()),
        (DataType::Utf8, Some(_)) if padded(column) && column.collation.is_some() => Support::Never(loose_collation()),
        _ => never("type", "only a text is matched with a pattern"),
    }
}

/// Whether a policy reads some values of this type as others.
pub(super) fn changed_by_policy(column: &Column, policies: Policies) -> bool {
    let changes = |policy: ValuePolicy| matches!(policy, ValuePolicy::Null | ValuePolicy::Clamp);
    let numbers = matches!(column.data_type, DataType::Float32 | DataType::Float64 | DataType::Decimal128(..) | DataType::Decimal256(..));
    let moments = matches!(column.data_type, DataType::Date32 | DataType::Timestamp(..));
    numbers && (changes(policies.nan) || changes(policies.infinity)) || moments && changes(policies.infinity)
}

fn distinguish(column: &Column, policies: Policies) -> Support {
    if changed_by_policy(column, policies) {
        return never("values", "`values` of the source reads some values as others");
    }
    match (&column.data_type, column.read_as) {
        (DataType::Utf8, None) if !column.bytewise_equality => Support::Never(loose_collation()),
        (DataType::Utf8, Some(_)) if column.labels.is_some() && is_domain(column) => never("enum", "a domain over an enum has no operators in the source"),
        (DataType::Utf8, Some(_)) if base_type(&column.native_type) == "uuid" || column.labels.is_some() => Support::Exact,
        (DataType::Utf8, Some(_)) if padded(column) && column.bytewise_equality => Support::Exact,
        (DataType::Utf8, Some(_)) if padded(column) && column.collation.is_some() => Support::Never(loose_collation()),
        (_, Some(_)) | (DataType::List(_), _) => never("type", "a value that is read as text is compared here"),
        _ => Support::Exact,
    }
}

fn order(column: &Column, policies: Policies) -> Support {
    if changed_by_policy(column, policies) {
        return never("values", "`values` of the source reads some values as others");
    }
    match (&column.data_type, column.read_as) {
        (DataType::Utf8, Some(_)) if padded(column) && column.bytewise_equality => Support::Exact,
        (_, Some(_)) | (DataType::List(_), _) => never("type", "a value that is read as text is sorted here"),
        _ => Support::Exact,
    }
}

/// Equality that finds at least every bytewise equal text.
fn loose_text(comparison: Comparison, why: &str) -> Support {
    let reason = Reason::new("collation", why).with_remedy("ALTER TABLE {table} ALTER COLUMN {column} TYPE text");
    match comparison {
        Comparison::Equal => Support::Superset(reason),
        _ => Support::Never(reason),
    }
}

fn loose_collation() -> Reason {
    Reason::new("collation", "the collation of the column takes different texts for equal")
        .with_remedy("ALTER TABLE {table} ALTER COLUMN {column} TYPE {type} COLLATE \"C\"")
}

fn uuid(comparison: Comparison, text: &str) -> Support {
    if comparison != Comparison::Equal {
        return never("uuid", "uuids are read as text: only equality is the same in the source");
    }
    if !canonical_uuid(text) {
        return never("uuid", "the literal is not a uuid as PostgreSQL prints it, in lower case with hyphens");
    }
    Support::Exact
}

/// An enum is equal to one of its labels; its order goes by their places.
fn label(comparison: Comparison, text: &str, column: &Column) -> Support {
    if matches!(comparison, Comparison::Below | Comparison::Above) {
        return never("enum", "enums are read as text: only equality is the same in the source");
    }
    if is_domain(column) {
        return never("enum", "a domain over an enum has no operators in the source");
    }
    match column.labels.as_ref().is_some_and(|labels| labels.iter().any(|label| label == text)) {
        true => Support::Exact,
        false => never("enum", "the literal is no label of the enum, which is an error there"),
    }
}

/// A domain shows what it stands on.
fn is_domain(column: &Column) -> bool {
    base_type(&column.native_type) != column.native_type
}

fn canonical_uuid(text: &str) -> bool {
    let fits = |(at, byte): (usize, u8)| match at {
        8 | 13 | 18 | 23 => byte == b'-',
        _ => byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte),
    };
    text.len() == 36 && text.bytes().enumerate().all(fits)
}

/// NULL tests agree except where a policy turns values into NULL.
fn null_test(column: &Column, policies: Policies, asks_for_null: bool) -> Support {
    let by_nan = policies.nan == ValuePolicy::Null
        && matches!(column.data_type, DataType::Float32 | DataType::Float64 | DataType::Decimal128(..) | DataType::Decimal256(..));
    let by_infinity = policies.infinity == ValuePolicy::Null
        && matches!(
            column.data_type,
            DataType::Float32 | DataType::Float64 | DataType::Decimal128(..) | DataType::Decimal256(..) | DataType::Date32 | DataType::Timestamp(..)
        );
    if !by_nan && !by_infinity {
        return Support::Exact;
    }
    let reason = Reason::new("values", "`values` of the source turns NaN or infinities into NULL");
    if asks_for_null { Support::Never(reason) } else { Support::Superset(reason) }
}

fn never(code: &'static str, why: impl Into<String>) -> Support {
    Support::Never(Reason::new(code, why))
}

fn out_of_range() -> Support {
    never("range", "the literal is outside the range that the column's type has in the source")
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEEP: Policies = Policies { nan: ValuePolicy::Keep, infinity: ValuePolicy::Keep };

    fn column(native: &str, data_type: DataType, read_as: Option<&'static str>) -> Column {
        let bytewise_equality = native == "text";
        Column {
            name: "c".into(),
            native_type: native.into(),
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

    fn code(support: &Support) -> &'static str {
        match support {
            Support::Exact => "exact",
            Support::Superset(reason) | Support::Never(reason) => reason.code,
        }
    }

    #[test]
    fn uuids_only_by_equality_with_a_canonical_literal() {
        let uuid = column("uuid", DataType::Utf8, Some("{}::text"));
        let id = "6f1d1e0a-0000-4000-8000-00000000abcd";
        assert_eq!(support(&Operation::Equal(Operand::Text(id)), &uuid, KEEP), Support::Exact);
        assert_eq!(code(&support(&Operation::Equal(Operand::Text(&id.to_uppercase())), &uuid, KEEP)), "uuid");
        assert_eq!(code(&support(&Operation::Less(Operand::Text(id)), &uuid, KEEP)), "uuid");
    }

    #[test]
    fn declared_numerics_are_exact_and_others_are_checked_again() {
        let price = column("numeric(12,2)", DataType::Decimal128(12, 2), None);
        assert_eq!(support(&Operation::Greater(Operand::Decimal(100)), &price, KEEP), Support::Exact);
        let loose = column("numeric", DataType::Decimal128(38, 18), None);
        assert_eq!(code(&support(&Operation::Greater(Operand::Decimal(100)), &loose, KEEP)), "numeric");
        let wide = column("numeric(1000,2)", DataType::Decimal128(38, 18), None);
        assert_eq!(code(&support(&Operation::Less(Operand::Decimal(100)), &wide, KEEP)), "numeric");
    }

    #[test]
    fn a_policy_that_makes_nulls_keeps_null_tests_here() {
        let nulls = Policies { nan: ValuePolicy::Keep, infinity: ValuePolicy::Null };
        let day = column("date", DataType::Date32, None);
        assert!(matches!(support(&Operation::IsNull, &day, nulls), Support::Never(_)));
        assert!(matches!(support(&Operation::IsNotNull, &day, nulls), Support::Superset(_)));
        assert_eq!(support(&Operation::IsNull, &day, KEEP), Support::Exact);
        assert!(matches!(support(&Operation::NotEqual(Operand::Date(0)), &day, nulls), Support::Superset(_)));
    }
}
