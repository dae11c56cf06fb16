// SPDX-License-Identifier: Apache-2.0
//! Names of functions, operators and types as Postgres clients write them: with `pg_catalog.` in front, as `regclass`, as `'{a,b}'`.

use super::{folded, last};
use crate::bind::names::{INFORMATION_SCHEMA, PG_CATALOG};
use crate::call;
use datafusion::sql::sqlparser::ast::{
    Array, ArrayElemTypeDef, BinaryOperator, CastKind, DataType, ExactNumberInfo, Expr, Function, FunctionArg, FunctionArgExpr, FunctionArguments, Ident,
    ObjectName, Select, SelectItem, TableFactor, TimezoneInfo, Value, ValueWithSpan, VisitorMut,
};
use std::ops::ControlFlow;

/// Means the same in every statement.
pub(super) struct Words;

impl VisitorMut for Words {
    type Break = ();

    /// `'lower'::regproc::oid`, before the inner cast is gone.
    fn pre_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        if let Expr::Cast { expr: inner, data_type, .. } = expr
            && type_name(data_type).as_deref() == Some("oid")
            && let Expr::Cast { expr: operand, data_type: function, .. } = inner.as_ref()
            && matches!(type_name(function).as_deref(), Some("regproc" | "regprocedure"))
        {
            *expr = call("regproc_oid", Some(operand.as_ref().clone()));
        }
        ControlFlow::Continue(())
    }

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        match expr {
            Expr::Function(function) => unqualify(&mut function.name),
            Expr::Identifier(ident) if ident.quote_style.is_none() && ident.value.eq_ignore_ascii_case("current_schema") => {
                *expr = call("current_schema", None)
            }
            Expr::Collate { expr: inner, collation } if bytewise(collation) => *expr = inner.as_ref().clone(),
            Expr::Like { pattern, escape_char, .. } | Expr::ILike { pattern, escape_char, .. } => backslash_escapes(pattern, escape_char),
            Expr::BinaryOp { op, .. } => plain_operator(op),
            Expr::AnyOp { compare_op, right, .. } | Expr::AllOp { compare_op, right, .. } => {
                plain_operator(compare_op);
                if let Some(array) = array_literal(right) {
                    **right = array;
                }
            }
            Expr::Cast { .. } => cast(expr),
            _ => {}
        }
        ControlFlow::Continue(())
    }

    fn post_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Table { name, args: Some(_), .. } | TableFactor::Function { name, .. } = factor {
            unqualify(name);
        }
        ControlFlow::Continue(())
    }

    /// A `regclass` that is shown is shown as a name.
    fn post_visit_select(&mut self, select: &mut Select) -> ControlFlow<()> {
        for item in &mut select.projection {
            let shown = match item {
                SelectItem::UnnamedExpr(expr) => expr,
                SelectItem::ExprWithAlias { expr, .. } => expr,
                _ => continue,
            };
            let Expr::Function(function) = shown else { continue };
            let operand = operand_name(function);
            if !shown_by_name(function) {
                continue;
            }
            if let (SelectItem::UnnamedExpr(expr), Some(alias)) = (&*item, operand) {
                *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias };
            }
        }
        ControlFlow::Continue(())
    }
}

/// Postgres calls a cast column as its operand.
fn operand_name(function: &Function) -> Option<Ident> {
    let FunctionArguments::List(list) = &function.args else { return None };
    match list.args.first()? {
        FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::Identifier(ident))) => Some(ident.clone()),
        FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::CompoundIdentifier(idents))) => idents.last().cloned(),
        _ => None,
    }
}

fn unqualify(name: &mut ObjectName) {
    let schema = name.0.len().checked_sub(2).and_then(|at| name.0[at].as_ident()).map(folded);
    if matches!(schema.as_deref(), Some(PG_CATALOG | INFORMATION_SCHEMA)) {
        name.0.drain(..name.0.len() - 1);
    }
}

/// Collations that sort and compare as Weir always does, by bytes.
fn bytewise(collation: &ObjectName) -> bool {
    last(collation).is_some_and(|name| ["default", "c", "posix", "ucs_basic"].contains(&name.value.to_ascii_lowercase().as_str()))
}

/// The planner knows the backslash only.
fn backslash_escapes(pattern: &mut Expr, escape: &mut Option<ValueWithSpan>) {
    let Some(ValueWithSpan { value: Value::SingleQuotedString(character), .. }) = escape else { return };
    if character == "\\" {
        return;
    }
    let character = Expr::value(Value::SingleQuotedString(std::mem::take(character)));
    let written = std::mem::replace(pattern, Expr::value(Value::Null));
    *pattern = call::call("like_pattern", vec![written, character]);
    *escape = None;
}

fn plain_operator(op: &mut BinaryOperator) {
    let BinaryOperator::PGCustomBinaryOperator(parts) = op else { return };
    let known = match parts.last().map(String::as_str) {
        Some("~") => BinaryOperator::PGRegexMatch,
        Some("~*") => BinaryOperator::PGRegexIMatch,
        Some("!~") => BinaryOperator::PGRegexNotMatch,
        Some("!~*") => BinaryOperator::PGRegexNotIMatch,
        Some("~~") => BinaryOperator::PGLikeMatch,
        Some("~~*") => BinaryOperator::PGILikeMatch,
        Some("!~~") => BinaryOperator::PGNotLikeMatch,
        Some("!~~*") => BinaryOperator::PGNotILikeMatch,
        Some("=") => BinaryOperator::Eq,
        Some("<>") => BinaryOperator::NotEq,
        Some("<") => BinaryOperator::Lt,
        Some("<=") => BinaryOperator::LtEq,
        Some(">") => BinaryOperator::Gt,
        Some(">=") => BinaryOperator::GtEq,
        Some("+") => BinaryOperator::Plus,
        Some("-") => BinaryOperator::Minus,
        Some("*") => BinaryOperator::Multiply,
        Some("/") => BinaryOperator::Divide,
        Some("||") => BinaryOperator::StringConcat,
        _ => return,
    };
    *op = known;
}

/// The function that gives the oid, and the one that gives the name, for each type whose values are both.
const REGISTERED: [(&str, &str, &str); 4] = [
    ("regclass", "regclass_oid", "regclass_name"),
    ("regtype", "regtype_oid", "format_type"),
    ("regnamespace", "regnamespace_oid", "regnamespace_name"),
    ("regrole", "regrole_oid", "pg_get_userbyid"),
];

fn cast(expr: &mut Expr) {
    let Expr::Cast { expr: operand, data_type, .. } = expr else { return };
    let name = type_name(data_type);
    if let Some((_, to_oid, _)) = REGISTERED.iter().find(|(known, ..)| Some(*known) == name.as_deref()) {
        *expr = call(to_oid, Some(operand.as_ref().clone()));
        return;
    }
    match name.as_deref() {
        Some("regproc" | "regprocedure") => {
            // The catalog has functions by their bare names.
            if let Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(typed), .. }) = operand.as_mut()
                && let Some((_, bare)) = typed.rsplit_once('.')
            {
                *typed = bare.to_owned();
            }
            *data_type = DataType::Text;
        }
        Some("text" | "varchar" | "name") => {
            if let Expr::Function(function) = operand.as_mut()
                && shown_by_name(function)
            {
                *expr = Expr::Function(function.clone());
                return;
            }
            *data_type = DataType::Text;
        }
        _ => plain_type(data_type),
    }
    if matches!(data_type, DataType::Array(_))
        && let Some(array) = array_literal(operand)
    {
        **operand = array;
    }
}

/// Turns a call that gives an oid into the one that gives the name. Says whether it was one, and means it only once.
fn shown_by_name(function: &mut Function) -> bool {
    let Some(name) = last(&function.name).map(folded) else { return false };
    let Some((kind, _, to_name)) = REGISTERED.iter().find(|(_, to_oid, _)| *to_oid == name) else { return false };
    function.name = ObjectName::from(vec![Ident::new(*to_name)]);
    if let (&"regtype", FunctionArguments::List(list)) = (kind, &mut function.args) {
        list.args.push(FunctionArg::Unnamed(FunctionArgExpr::Expr(Expr::value(Value::Null))));
    }
    true
}

/// The name of a type that Postgres has and the planner does not, without its schema.
fn type_name(data_type: &DataType) -> Option<String> {
    match data_type {
        DataType::Regclass => Some("regclass".into()),
        DataType::Text => Some("text".into()),
        DataType::Varchar(None) => Some("varchar".into()),
        DataType::JSON => Some("json".into()),
        DataType::JSONB => Some("jsonb".into()),
        DataType::Custom(name, arguments) if arguments.is_empty() => last(name).map(|ident| ident.value.to_ascii_lowercase()),
        _ => None,
    }
}

/// A type of Postgres's own (or one with `pg_catalog.` in front) as the type that the planner has for it.
fn plain_type(data_type: &mut DataType) {
    if let DataType::Array(ArrayElemTypeDef::SquareBracket(element, _)) = data_type {
        plain_type(element);
        return;
    }
    let DataType::Custom(..) = data_type else { return };
    *data_type = match type_name(data_type).as_deref() {
        Some("bool") => DataType::Boolean,
        Some("int2") => DataType::SmallInt(None),
        Some("int4" | "oid" | "xid" | "cid" | "cardinal_number") => DataType::Int(None),
        Some("int8") => DataType::BigInt(None),
        Some("float4") => DataType::Real,
        Some("float8") => DataType::DoublePrecision,
        Some("numeric") => DataType::Numeric(ExactNumberInfo::None),
        Some("bytea") => DataType::Bytea,
        Some("date") => DataType::Date,
        Some("timestamp") => DataType::Timestamp(None, TimezoneInfo::None),
        Some("timestamptz") => DataType::Timestamp(None, TimezoneInfo::Tz),
        Some(
            "text" | "varchar" | "name" | "char" | "bpchar" | "sql_identifier" | "character_data" | "yes_or_no" | "aclitem" | "regoper" | "regoperator"
            | "regconfig" | "regcollation" | "regdictionary",
        ) => DataType::Text,
        _ => return,
    };
}

/// `'{a,"b c",NULL}'` as an array; `None` for anything else.
fn array_literal(expr: &Expr) -> Option<Expr> {
    let Expr::Value(ValueWithSpan { value: Value::SingleQuotedString(text), .. }) = expr else { return None };
    let inner = text.trim().strip_prefix('{')?.strip_suffix('}')?;
    if inner.contains(['{', '}']) {
        return None;
    }
    let elements = elements(inner).into_iter().map(|element| Expr::value(element.map_or(Value::Null, Value::SingleQuotedString)));
    Some(Expr::Array(Array { elem: elements.collect(), named: true }))
}

/// The elements of an array's text; an unquoted `NULL` is none.
fn elements(inner: &str) -> Vec<Option<String>> {
    if inner.trim().is_empty() {
        return Vec::new();
    }
    let mut elements = Vec::new();
    let (mut element, mut inside, mut quoted) = (String::new(), false, false);
    let mut end = |element: &mut String, quoted: &mut bool| {
        let text = std::mem::take(element);
        let text = if *quoted { text } else { text.trim().to_owned() };
        elements.push((*quoted || !text.eq_ignore_ascii_case("null")).then_some(text));
        *quoted = false;
    };
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                inside = !inside;
                quoted = true;
            }
            '\\' => element.extend(chars.next()),
            ',' if !inside => end(&mut element, &mut quoted),
            c => element.push(c),
        }
    }
    end(&mut element, &mut quoted);
    elements
}

pub(super) fn call(name: &str, argument: Option<Expr>) -> Expr {
    call::call(name, argument.into_iter().collect())
}

/// `NULL`, of the type that an expression is cast to where it is.
pub(super) fn null_like(expr: &Expr) -> Expr {
    let null = Expr::value(Value::Null);
    match expr {
        Expr::Cast { data_type, .. } => {
            Expr::Cast { kind: CastKind::DoubleColon, expr: Box::new(null), data_type: data_type.clone(), array: false, format: None }
        }
        _ => null,
    }
}
