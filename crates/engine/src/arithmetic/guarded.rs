// SPDX-License-Identifier: Apache-2.0
//! `CASE WHEN n = 0 THEN false ELSE m / n > 2 END` must not divide by zero. The optimizer writes a `CASE` of booleans as `AND` and
//! `OR`, which look at all rows; one that compares with `true` it leaves alone.

use arrow::datatypes::DataType;
use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::common::{DFSchema, Result};
use datafusion::logical_expr::expr::Case;
use datafusion::logical_expr::expr_rewriter::FunctionRewrite;
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, Operator, lit};

#[derive(Debug)]
pub(super) struct KeepGuards;

impl FunctionRewrite for KeepGuards {
    fn name(&self) -> &str {
        "keep_guards"
    }

    fn rewrite(&self, expr: Expr, schema: &DFSchema, _: &ConfigOptions) -> Result<Transformed<Expr>> {
        match expr {
            Expr::Case(case) if guards(&case, schema) => Ok(Transformed::yes(Expr::Case(Case { expr: Some(Box::new(lit(true))), ..case }))),
            other => Ok(Transformed::no(other)),
        }
    }
}

fn guards(case: &Case, schema: &DFSchema) -> bool {
    let boolean = || case.when_then_expr.first().and_then(|(_, then)| then.get_type(schema).ok()) == Some(DataType::Boolean);
    let branches = || case.when_then_expr.iter().flat_map(|(when, then)| [when, then]).chain(&case.else_expr);
    case.expr.is_none() && branches().any(|branch| can_fail(branch, schema)) && boolean()
}

/// Functions that have a value for all arguments.
const TOTAL: &[&str] = &[
    "bit_length",
    "btrim",
    "ceil",
    "char_length",
    "character_length",
    "coalesce",
    "concat",
    "concat_ws",
    "date_part",
    "date_trunc",
    "ends_with",
    "floor",
    "greatest",
    "least",
    "length",
    "lower",
    "ltrim",
    "nullif",
    "octet_length",
    "position",
    "replace",
    "reverse",
    "round",
    "rtrim",
    "starts_with",
    "strpos",
    "trunc",
    "upper",
];

/// Whether a value of the expression may be an error.
pub(super) fn can_fail(expr: &Expr, schema: &DFSchema) -> bool {
    expr.exists(|node| Ok(fails(node, schema))).unwrap_or(true)
}

fn fails(node: &Expr, schema: &DFSchema) -> bool {
    use Operator::{Divide, Minus, Modulo, Multiply, Plus};
    match node {
        Expr::BinaryExpr(BinaryExpr { op, .. }) => matches!(op, Divide | Modulo | Plus | Minus | Multiply),
        Expr::Cast(cast) => !cast.expr.get_type(schema).is_ok_and(|from| widens(&from, cast.field.data_type())),
        Expr::ScalarFunction(function) => !TOTAL.contains(&function.name()),
        Expr::Negative(_) => true,
        _ => false,
    }
}

/// Whether a type has all values of another.
fn widens(from: &DataType, to: &DataType) -> bool {
    use DataType::{Date32, Decimal128, Float64, LargeUtf8, Timestamp, Utf8, Utf8View};
    let digits = |whole: &DataType| match whole.primitive_width() {
        Some(1) => 3,
        Some(2) => 5,
        Some(4) => 10,
        _ => 20,
    };
    match (from, to) {
        (_, Utf8 | LargeUtf8 | Utf8View) | (Date32, Timestamp(..)) => true,
        (whole, Float64) if whole.is_integer() => true,
        (whole, Decimal128(precision, scale)) if whole.is_integer() => i32::from(*precision) - i32::from(*scale) >= digits(whole),
        (Decimal128(p, s), Decimal128(precision, scale)) => s <= scale && i32::from(*p) - i32::from(*s) <= i32::from(*precision) - i32::from(*scale),
        (narrow, wide) if narrow.is_signed_integer() && wide.is_signed_integer() || narrow.is_unsigned_integer() && wide.is_integer() => {
            let spare = narrow.is_unsigned_integer() != wide.is_unsigned_integer();
            wide.primitive_width() >= narrow.primitive_width().map(|width| width + usize::from(spare))
        }
        (same, other) => same == other,
    }
}
