// SPDX-License-Identifier: Apache-2.0
//! Which Arrow type a PostgreSQL column is read as, and what is selected to get it.

use crate::{Altering, Column};
use arrow::datatypes::{DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION, DataType, Field, IntervalUnit, TimeUnit};
use std::collections::HashMap;
use std::sync::Arc;

/// Numerics without a declared size, or with one that no Arrow decimal has, are read with these; a value that does not fit is loud.
pub const UNDECLARED_NUMERIC: DataType = DataType::Decimal128(38, 18);

/// Read the column as text, as the server prints it.
const AS_TEXT: Option<&str> = Some("{}::text");
const AS_TEXTS: Option<&str> = Some("{}::text[]");

/// A row of `pg_type`.
#[derive(Debug, Clone)]
pub struct NativeType {
    pub name: String,
    /// In `pg_catalog`, so that the name means what PostgreSQL means by it.
    pub built_in: bool,
    pub domain: bool,
    /// What a domain stands on.
    pub base: u32,
    pub base_modifier: i32,
    pub base_dimensions: i32,
    /// What an array is made of; 0 for what is none.
    pub element: u32,
    /// The labels of an enum in their order; empty for what is none.
    pub labels: Vec<String>,
}

/// Types by their oid.
pub type TypeTable = HashMap<u32, NativeType>;

/// A column as the catalog describes it.
#[derive(Debug, Clone)]
pub struct NativeColumn {
    pub name: String,
    pub type_id: u32,
    pub modifier: i32,
    pub dimensions: i32,
    /// The type as `format_type` writes it.
    pub shown: String,
    pub nullable: bool,
    pub collation: Option<String>,
    pub deterministic: bool,
    pub readable: bool,
}

/// How a type is read.
#[derive(Debug, Clone, PartialEq)]
struct Reading {
    data_type: DataType,
    read_as: Option<&'static str>,
}

impl Reading {
    fn bare(data_type: DataType) -> Self {
        Self { data_type, read_as: None }
    }

    fn text() -> Self {
        Self { data_type: DataType::Utf8, read_as: AS_TEXT }
    }
}

/// The type without its domain's name: `money2 (numeric(12,2))` is `numeric(12,2)`.
pub fn base_type(native_type: &str) -> &str {
    native_type.strip_suffix(')').and_then(|open| open.split_once(" (")).map_or(native_type, |(_, base)| base)
}

/// Whether it is a `char(n)`, whose values are read without the blanks at their end.
pub(super) fn padded(column: &Column) -> bool {
    let native = base_type(&column.native_type);
    native.starts_with("character(") || native == "character" || native == "bpchar"
}

/// Whether it is a `citext`, in whatever schema.
pub(super) fn cased(column: &Column) -> bool {
    let native = base_type(&column.native_type);
    native == "citext" || native.ends_with(".citext")
}

/// The column as the rest of Weir sees it. Domains are read as what they stand on.
pub fn column(native: NativeColumn, types: &TypeTable) -> Column {
    let (base, modifier, dimensions) = base_of(&native, types);
    let reading = base.map_or_else(Reading::text, |base| reading(base, modifier, dimensions, types));
    let shown = match base {
        Some(base) if types.get(&native.type_id).is_some_and(|own| own.domain) => format!("{} ({})", native.shown, with_modifier(&base.name, modifier)),
        _ => native.shown,
    };
    let comparable = matches!(base, Some(base) if base.built_in && ["text", "varchar", "name", "bpchar"].contains(&base.name.as_str()));
    Column {
        name: native.name,
        native_type: shown,
        data_type: reading.data_type,
        nullable: native.nullable,
        bytewise_equality: comparable && native.deterministic,
        collation: native.collation,
        read_as: reading.read_as,
        labels: base.filter(|base| !base.labels.is_empty()).map(|base| base.labels.clone().into()),
        degraded: (!native.readable).then(|| "the account has no SELECT privilege on this column".to_owned()),
        altering: Altering::default(),
    }
}

fn base_of<'a>(native: &NativeColumn, types: &'a TypeTable) -> (Option<&'a NativeType>, i32, i32) {
    let (mut modifier, mut dimensions) = (native.modifier, native.dimensions);
    let mut at = types.get(&native.type_id);
    while let Some(domain) = at.filter(|at| at.domain) {
        modifier = if modifier == -1 { domain.base_modifier } else { modifier };
        dimensions = dimensions.max(domain.base_dimensions);
        at = types.get(&domain.base);
    }
    (at, modifier, dimensions)
}

fn reading(base: &NativeType, modifier: i32, dimensions: i32, types: &TypeTable) -> Reading {
    if base.element == 0 || !base.name.starts_with('_') {
        return scalar(base, modifier);
    }
    // Views do not say how many dimensions a column has: one is by far the most usual.
    let dimensions = dimensions.max(1);
    let mut element = types.get(&base.element);
    let mut modifier = modifier;
    while let Some(domain) = element.filter(|element| element.domain) {
        modifier = if modifier == -1 { domain.base_modifier } else { modifier };
        element = types.get(&domain.base);
    }
    let Some(element) = element.filter(|element| dimensions <= 2 && !element.name.starts_with('_')) else { return Reading::text() };
    let inner = scalar(element, modifier);
    let flat = list_of(inner.data_type);
    Reading { data_type: if dimensions == 2 { list_of(flat) } else { flat }, read_as: if inner.read_as.is_some() { AS_TEXTS } else { None } }
}

fn list_of(item: DataType) -> DataType {
    DataType::List(Arc::new(Field::new_list_field(item, true)))
}

fn scalar(base: &NativeType, modifier: i32) -> Reading {
    if !base.built_in {
        return Reading::text();
    }
    plain_type(&base.name, modifier).map_or_else(Reading::text, Reading::bare)
}

/// The types that are read in their own binary form; everything else is read as text.
pub fn plain_type(name: &str, modifier: i32) -> Option<DataType> {
    Some(match name {
        "bool" => DataType::Boolean,
        "int2" => DataType::Int16,
        "int4" => DataType::Int32,
        "int8" | "oid" => DataType::Int64,
        "float4" => DataType::Float32,
        "float8" => DataType::Float64,
        "numeric" => numeric_type(modifier),
        "text" | "varchar" | "name" => DataType::Utf8,
        "bytea" => DataType::Binary,
        "date" => DataType::Date32,
        "time" => DataType::Time64(TimeUnit::Microsecond),
        "timestamp" => DataType::Timestamp(TimeUnit::Microsecond, None),
        "timestamptz" => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
        "interval" => DataType::Interval(IntervalUnit::MonthDayNano),
        _ => return None,
    })
}

/// Precision and scale of a `numeric(p,s)` out of its type modifier; `None` when undeclared. The scale may be negative or
/// above the precision since PostgreSQL 15.
fn declared(modifier: i32) -> Option<(u32, i32)> {
    let packed = modifier.checked_sub(4).filter(|packed| *packed >= 0)?;
    Some(((packed >> 16) as u32 & 0xFFFF, ((packed & 0x7FF) ^ 1024) - 1024))
}

fn numeric_type(modifier: i32) -> DataType {
    declared(modifier).map_or(UNDECLARED_NUMERIC, |(precision, scale)| decimal(precision, scale))
}

/// The decimal that holds every `numeric(precision, scale)`.
pub fn decimal(precision: u32, scale: i32) -> DataType {
    // numeric(3,-2) holds 99900: five digits before the point; numeric(2,5) holds 0.00099: five behind it.
    let precision = if scale < 0 { precision + scale.unsigned_abs() } else { precision.max(scale.unsigned_abs()) };
    let Ok(scale) = i8::try_from(scale.max(0)) else { return UNDECLARED_NUMERIC };
    match u8::try_from(precision) {
        Ok(precision) if precision <= DECIMAL128_MAX_PRECISION => DataType::Decimal128(precision, scale),
        Ok(precision) if precision <= DECIMAL256_MAX_PRECISION => DataType::Decimal256(precision, scale),
        _ => UNDECLARED_NUMERIC,
    }
}

fn with_modifier(name: &str, modifier: i32) -> String {
    match (name, declared(modifier)) {
        ("numeric", Some((precision, scale))) => format!("numeric({precision},{scale})"),
        ("bpchar", _) => "character".to_owned(),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modifier(precision: i32, scale: i32) -> i32 {
        ((precision << 16) | (scale & 0x7FF)) + 4
    }

    #[test]
    fn numerics_keep_every_digit_or_are_undeclared() {
        assert_eq!(numeric_type(modifier(12, 2)), DataType::Decimal128(12, 2));
        assert_eq!(numeric_type(modifier(76, 30)), DataType::Decimal256(76, 30));
        assert_eq!(numeric_type(modifier(3, -2)), DataType::Decimal128(5, 0));
        assert_eq!(numeric_type(modifier(2, 5)), DataType::Decimal128(5, 5));
        assert_eq!(numeric_type(modifier(1000, 2)), UNDECLARED_NUMERIC);
        assert_eq!(numeric_type(-1), UNDECLARED_NUMERIC);
    }

    #[test]
    fn a_domain_shows_what_it_stands_on() {
        assert_eq!(base_type("shop.price (numeric(12,2))"), "numeric(12,2)");
        assert_eq!(base_type("numeric(12,2)"), "numeric(12,2)");
        assert_eq!(base_type("timestamp(3) with time zone"), "timestamp(3) with time zone");
    }
}
