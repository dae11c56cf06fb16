// SPDX-License-Identifier: Apache-2.0
//! Values as a source's SQL: columns, literals, and what the source's own table of functions says it computes as we do.

use super::condition::{Condition, condition};
use super::literal::operand;
use crate::arithmetic;
use arrow::datatypes::DataType;
use datafusion::common::tree_node::TreeNode;
use datafusion::common::{Column as PlanColumn, DFSchema, ScalarValue};
use datafusion::logical_expr::expr::{Case, Cast, ScalarFunction};
use datafusion::logical_expr::{BinaryExpr, Expr, ExprSchemable, Operator};
use weir_source::{Argument, Function, Reason, Source, SourceTable, Term, Written};

/// What the columns of an expression are called at the source.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub source: &'a dyn Source,
    /// What the columns of the expression refer to.
    pub schema: &'a DFSchema,
    /// One per column of the schema, as far as they are known to the source.
    pub terms: &'a [Term],
}

impl Scope<'_> {
    pub fn column(&self, column: &PlanColumn) -> Option<&Term> {
        self.schema.maybe_index_of_column(column).and_then(|index| self.terms.get(index))
    }
}

/// The columns of a table, under an alias where the statement has several tables.
pub(crate) fn table_terms(table: &SourceTable, source: &dyn Source, alias: Option<&str>) -> Vec<Term> {
    let dialect = source.dialect();
    let term = |column: &weir_source::Column| {
        let quoted = dialect.quote(&column.name);
        let sql = alias.map_or_else(|| quoted.clone(), |alias| format!("{alias}.{quoted}"));
        Term { sql, meaning: column.clone(), total: true, constant: false }
    };
    table.columns.iter().map(term).collect()
}

/// Writes a value, or says why it is computed here.
pub(crate) fn value(expr: &Expr, scope: Scope<'_>) -> Written {
    match expr {
        Expr::Column(column) => scope.column(column).cloned().ok_or_else(not_sent),
        Expr::Alias(alias) => value(&alias.expr, scope),
        Expr::Literal(literal, _) => written_literal(literal, scope.source),
        Expr::Cast(Cast { expr: inner, field }) => widened(inner, field.data_type(), scope),
        Expr::Negative(inner) => call(Function::Negate, &[inner.as_ref()], expr, scope),
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => match operator(*op) {
            Some(function) => call(function, &[left.as_ref(), right.as_ref()], expr, scope),
            None => truth(expr, scope),
        },
        Expr::Case(case) => case_of(case, expr, scope),
        Expr::ScalarFunction(function) => scalar(function, expr, scope),
        Expr::Not(_) | Expr::IsNull(_) | Expr::IsNotNull(_) | Expr::Between(_) | Expr::InList(_) | Expr::Like(_) => truth(expr, scope),
        _ => Err(not_sent()),
    }
}

fn not_sent() -> Reason {
    Reason::new("expression", "expressions of this kind are computed here")
}

/// Why a condition with a subquery in it is checked here, and what of it goes to the source all the same.
pub(super) fn found_later(expr: &Expr) -> Option<Reason> {
    let subquery = expr.exists(|node| Ok(matches!(node, Expr::ScalarSubquery(_)))).unwrap_or(false);
    subquery.then(|| Reason::new("subquery", "its subquery runs first; where a column is compared with what that finds, the source gets the value then"))
}

/// The expression's type here.
pub(crate) fn type_of(expr: &Expr, scope: Scope<'_>) -> Result<DataType, Reason> {
    expr.get_type(scope.schema).map_err(|_| not_sent())
}

fn written_literal(literal: &ScalarValue, source: &dyn Source) -> Written {
    let unwritten = || Reason::new("literal", "a constant of this type is not written for a source");
    let data_type = match literal.data_type() {
        unsigned if unsigned.is_unsigned_integer() => {
            return Err(unwritten());
        }
        DataType::Utf8View | DataType::LargeUtf8 => DataType::Utf8,
        DataType::BinaryView | DataType::LargeBinary => DataType::Binary,
        other => other,
    };
    if literal.is_null() {
        let sql = source.dialect().missing(&data_type).ok_or_else(unwritten)?;
        return Ok(Term::of_constant(sql, data_type));
    }
    let value = operand(literal).ok_or_else(unwritten)?;
    let sql = source.dialect().literal(value, &data_type).map_err(|error| Reason::new("literal", error.message().to_owned()))?;
    Ok(Term::of_constant(sql, data_type))
}

fn widened(inner: &Expr, to: &DataType, scope: Scope<'_>) -> Written {
    let term = value(inner, scope)?;
    let text = |data_type: &DataType| matches!(data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    if term.meaning.data_type == *to || text(&term.meaning.data_type) && text(to) {
        return Ok(term);
    }
    scope.source.function(Function::Widen, &[Argument { term: &term, literal: None }], to)
}

fn operator(op: Operator) -> Option<Function<'static>> {
    Some(match op {
        Operator::Plus => Function::Add,
        Operator::Minus => Function::Subtract,
        Operator::Multiply => Function::Multiply,
        Operator::Divide => Function::Divide,
        Operator::Modulo => Function::Modulo,
        Operator::StringConcat => Function::Concat,
        _ => return None,
    })
}

fn scalar(function: &ScalarFunction, whole: &Expr, scope: Scope<'_>) -> Written {
    // Sources check their arithmetic too, and have one zero and one NaN.
    if let Some(operators) = arithmetic::written(whole) {
        return value(&operators, scope);
    }
    let arguments: Vec<&Expr> = function.args.iter().collect();
    let known = match (function.func.name(), arguments.as_slice()) {
        ("abs", _) => Function::Absolute,
        ("character_length", _) => Function::CharLength,
        ("substr", _) => Function::Substring,
        ("left", [text, count @ Expr::Literal(..)]) => {
            return call(Function::Substring, &[*text, &Expr::Literal(ScalarValue::Int64(Some(1)), None), *count], whole, scope);
        }
        ("floor", [_]) => Function::Floor,
        ("ceil", [_]) => Function::Ceil,
        ("round", [number]) => return call(Function::Round, &[*number, &Expr::Literal(ScalarValue::Int64(Some(0)), None)], whole, scope),
        ("round", [_, _]) => Function::Round,
        ("numeric_trunc", [_, _]) => Function::Cut,
        // Only the optimizer is not to know that it is the value itself.
        ("member", [itself]) => return value(itself, scope),
        ("ltrim", [_]) => Function::TrimStart,
        ("rtrim", [_]) => Function::TrimEnd,
        ("btrim", [_]) => Function::TrimBoth,
        ("strpos", [_, _]) => Function::Position,
        ("json_member", [_, _]) => Function::Member,
        ("json_member_text", [_, _]) => Function::MemberText,
        ("nullif" | "greatest" | "least", [a, b]) => return value(&as_case(function.func.name(), a, b), scope),
        // As the pages say of the columns that these are over.
        ("numeric_divide", _) => {
            return Err(Reason::new("rounding", "a quotient of decimals has other places behind the point in the source")
                .with_remedy("divide here, after the rows are few"));
        }
        ("enum_rank", _) => {
            return Err(Reason::new("enum", "enums stand in the order of their labels, which is known here: only equality is the same in the source"));
        }
        ("inet" | "jsonb", [_]) => return Err(Reason::new("type", "a value that is read as text is compared here")),
        ("lower" | "upper" | "initcap", _) => return Err(case_folding()),
        (name, _) if name.starts_with("regexp") => return Err(regex_dialect()),
        ("date_part", [field, moment]) => return call(Function::Extract(&named(field)?), &[*moment], whole, scope),
        ("date_trunc", [unit, moment]) => return call(Function::Truncate(&named(unit)?), &[*moment], whole, scope),
        _ => return Err(Reason::new("function", format!("the function {} is computed here", function.func.name()))),
    };
    call(known, &arguments, whole, scope)
}

/// `nullif`, `greatest` and `least` of two values, as the choice that they are.
fn as_case(name: &str, a: &Expr, b: &Expr) -> Expr {
    let compared = |op: Operator| Expr::BinaryExpr(BinaryExpr::new(Box::new(a.clone()), op, Box::new(b.clone())));
    let when = |when: Expr, then: &Expr| (Box::new(when), Box::new(then.clone()));
    let nothing = Expr::Literal(ScalarValue::Null, None);
    let (when_then_expr, otherwise) = match name {
        "nullif" => (vec![when(compared(Operator::Eq), &nothing)], a),
        "greatest" => (vec![when(a.clone().is_null(), b), when(b.clone().is_null(), a), when(compared(Operator::GtEq), a)], b),
        _ => (vec![when(a.clone().is_null(), b), when(b.clone().is_null(), a), when(compared(Operator::LtEq), a)], b),
    };
    Expr::Case(Case { expr: None, when_then_expr, else_expr: Some(Box::new(otherwise.clone())) })
}

pub(super) fn case_folding() -> Reason {
    Reason::new("case_folding", "which letters are the same without regard to case differs between systems")
        .with_remedy("compare with the letters as they are stored")
}

pub(super) fn regex_dialect() -> Reason {
    Reason::new("regex_dialect", "regular expressions differ between systems").with_remedy("use LIKE, or starts_with for a prefix")
}

/// A field of a date or time. EXTRACT comes with it in capitals.
fn named(field: &Expr) -> Result<String, Reason> {
    let Expr::Literal(ScalarValue::Utf8(Some(field)) | ScalarValue::Utf8View(Some(field)), _) = field else { return Err(not_sent()) };
    Ok(field.to_ascii_lowercase())
}

fn call(function: Function<'_>, arguments: &[&Expr], whole: &Expr, scope: Scope<'_>) -> Written {
    if arguments.iter().any(|argument| matches!(argument, Expr::Literal(literal, _) if literal.is_null())) {
        return Err(Reason::new("literal", "what is made of a NULL is made here"));
    }
    let terms: Vec<Term> = arguments.iter().map(|argument| value(argument, scope)).collect::<Result<_, _>>()?;
    let operands = arguments.iter().map(|argument| if let Expr::Literal(value, _) = argument { operand(value) } else { None });
    let arguments: Vec<Argument<'_>> = terms.iter().zip(operands).map(|(term, literal)| Argument { term, literal }).collect();
    let written = scope.source.function(function, &arguments, &type_of(whole, scope)?)?;
    // Servers compute constants before they look at a row, also in a branch that none takes.
    if !written.total && arguments.iter().all(|argument| argument.term.constant) {
        return Err(Reason::new("may_fail", "a constant that can fail is computed here"));
    }
    Ok(written)
}

/// A condition as a value, where the source has booleans that are no numbers.
fn truth(expr: &Expr, scope: Scope<'_>) -> Written {
    if !scope.source.dialect().has_booleans() {
        return Err(Reason::new("boolean", "the source has no booleans"));
    }
    match condition(expr, scope) {
        Condition::Exact(sent) if sent.negatable => Ok(Term::computed(format!("({})", sent.sql), "boolean", DataType::Boolean, true)),
        Condition::Exact(_) => Err(Reason::new("negation", "what is unknown here is false in the source")),
        Condition::Superset(_, reason) | Condition::Kept(reason) => Err(reason),
    }
}

/// A condition that is true there exactly when it is here.
fn exact(expr: &Expr, scope: Scope<'_>) -> Result<String, Reason> {
    match condition(expr, scope) {
        Condition::Exact(sent) => Ok(sent.sql),
        Condition::Superset(_, reason) | Condition::Kept(reason) => Err(reason),
    }
}

/// Only the branch that is taken is evaluated, so a branch may fail where it would here.
fn case_of(case: &Case, whole: &Expr, scope: Scope<'_>) -> Written {
    let result = type_of(whole, scope)?;
    // `CASE true WHEN condition` is how a guard is kept from being taken apart here.
    if !matches!(case.expr.as_deref(), None | Some(Expr::Literal(ScalarValue::Boolean(Some(true)), _))) {
        return Err(not_sent());
    }
    let mut heads = Vec::new();
    for (when, then) in &case.when_then_expr {
        heads.push((format!("WHEN {} THEN", exact(when, scope)?), then.as_ref()));
    }
    heads.extend(case.else_expr.as_ref().map(|otherwise| ("ELSE".to_owned(), otherwise.as_ref())));
    let null = |expr: &Expr| matches!(expr, Expr::Literal(value, _) if value.is_null());
    let terms = heads.iter().map(|(_, expr)| if null(expr) { Ok(None) } else { value(expr, scope).map(Some) }).collect::<Result<Vec<_>, Reason>>()?;
    let (texts, like, total) = branches(&terms, &result, scope)?;
    let mut sql = String::from("CASE");
    for ((head, _), text) in heads.iter().zip(texts) {
        sql.push_str(&format!(" {head} {text}"));
    }
    sql.push_str(" END");
    let sql = scope.source.dialect().chosen(sql, &result);
    Ok(Term { sql, meaning: weir_source::Column { name: String::new(), nullable: true, ..like }, total, constant: false })
}

/// The branches of a CASE as they are, or in one type and collation where they are of several; what all of them are, and whether each
/// can always be computed.
fn branches(terms: &[Option<Term>], result: &DataType, scope: Scope<'_>) -> Result<(Vec<String>, weir_source::Column, bool), Reason> {
    let dialect = scope.source.dialect();
    let values: Vec<&Term> = terms.iter().flatten().collect();
    let Some(first) = values.first() else { return Err(not_sent()) };
    let total = values.iter().all(|term| term.total);
    let text = |term: &Option<Term>, write: &dyn Fn(&Term) -> String| term.as_ref().map_or_else(|| "NULL".to_owned(), write);
    let fits = |term: &&Term| term.meaning.data_type == *result && term.meaning.read_as.is_none() && term.meaning.collation == first.meaning.collation;
    if values.iter().all(fits) {
        let mut like = first.meaning.clone();
        if values.iter().any(|term| term.meaning.native_type != like.native_type) {
            like.native_type.clear();
        }
        return Ok((terms.iter().map(|term| text(term, &|term| dialect.branch(term))).collect(), like, total));
    }
    let several = || Reason::new("case", "the branches of the CASE are of several types or collations in the source");
    let alike = scope.source.arms(&values).map_err(|_| several())?;
    let like = alike.first().map(|term| term.meaning.clone()).filter(|meaning| meaning.data_type == *result).ok_or_else(several)?;
    let mut written = alike.into_iter().map(|term| term.sql);
    let texts = terms.iter().map(|term| term.as_ref().and_then(|_| written.next()).unwrap_or_else(|| "NULL".to_owned())).collect();
    Ok((texts, like, total))
}
