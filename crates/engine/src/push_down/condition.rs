// SPDX-License-Identifier: Apache-2.0
//! One conjunct of a filter as a source's SQL, with how exactly the source means the same.

use super::literal::{operand, same_type};
use super::remedy::asked;
use super::terms::{Scope, case_folding, found_later, regex_dialect, value};
use arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Like, Operator};
use weir_base::Result;
use weir_source::{Column, Comparison, Operand, Operation, Pattern, Reason, Source, Support, Term};

/// Longer lists are not for people to read, and are sent as an array.
const LIST_READ_MAX: usize = 40;

/// What becomes of a conjunct.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Condition {
    /// The source does it and it need not be looked at again.
    Exact(Sent),
    /// The source does at least this much; the filter stays here too.
    Superset(Sent, Reason),
    /// The filter stays here.
    Kept(Reason),
}

/// The text for the source.
pub(crate) type Sent = Comparison;

impl Condition {
    fn with_support(support: Support, sql: impl FnOnce() -> Result<Sent>) -> Self {
        let written = |sent: Result<Sent>| sent.map_err(|error| Reason::new("literal", error.message().to_owned()));
        match support {
            Support::Never(reason) => Self::Kept(reason),
            Support::Exact => written(sql()).map_or_else(Self::Kept, Self::Exact),
            Support::Superset(reason) => match written(sql()) {
                Ok(sent) => Self::Superset(sent, reason),
                Err(unwritable) => Self::Kept(unwritable),
            },
        }
    }

    /// The opposite. That of a superset would lose rows, and so would that of what is unknown here and false there.
    fn negated(self) -> Self {
        match self {
            Self::Exact(sent) if sent.negatable => Self::Exact(Sent::whole(format!("(NOT {})", sent.sql))),
            Self::Exact(_) => Self::Kept(Reason::new("negation", "what is unknown here is false in the source, so its opposite is checked here")),
            Self::Superset(_, reason) | Self::Kept(reason) => Self::Kept(reason),
        }
    }
}

/// Two conditions as one.
fn joined(a: &Sent, word: &str, b: &Sent) -> Sent {
    Sent { sql: format!("({} {word} {})", a.sql, b.sql), negatable: a.negatable && b.negatable }
}

/// Writes a conjunct, or says why it stays here.
pub(crate) fn condition(expr: &Expr, scope: Scope<'_>) -> Condition {
    match (Writer { scope }).write(expr) {
        Condition::Kept(reason) => Condition::Kept(found_later(expr).unwrap_or(reason)),
        sent => sent,
    }
}

struct Writer<'a> {
    scope: Scope<'a>,
}

impl Writer<'_> {
    fn write(&self, expr: &Expr) -> Condition {
        match expr {
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => self.and(left, right),
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => self.or(left, right),
            Expr::BinaryExpr(BinaryExpr { left, op, right }) if operation(*op, Operand::Bool(true)).is_some() => self.compare(left, *op, right),
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::IsDistinctFrom, right }) => self.distinct(left, right, true),
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::IsNotDistinctFrom, right }) => self.distinct(left, right, false),
            Expr::Literal(ScalarValue::Boolean(value), _) => Condition::Exact(Sent::whole(match value {
                Some(true) => "1 = 1".to_owned(),
                Some(false) => "1 = 0".to_owned(),
                None => "1 = NULL".to_owned(),
            })),
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::RegexMatch, right }) => self.regex(left, right),
            Expr::BinaryExpr(BinaryExpr { op: Operator::RegexIMatch | Operator::RegexNotMatch | Operator::RegexNotIMatch, .. }) => {
                Condition::Kept(regex_dialect())
            }
            Expr::Between(Between { expr, negated: false, low, high }) => {
                let low = Expr::BinaryExpr(BinaryExpr::new(expr.clone(), Operator::GtEq, low.clone()));
                let high = Expr::BinaryExpr(BinaryExpr::new(expr.clone(), Operator::LtEq, high.clone()));
                self.and(&low, &high)
            }
            Expr::Between(Between { expr, negated: true, low, high }) => {
                let low = Expr::BinaryExpr(BinaryExpr::new(expr.clone(), Operator::Lt, low.clone()));
                let high = Expr::BinaryExpr(BinaryExpr::new(expr.clone(), Operator::Gt, high.clone()));
                self.or(&low, &high)
            }
            Expr::InList(InList { expr, list, negated }) => self.in_list(expr, list, *negated),
            Expr::Like(like) => self.like(like),
            Expr::IsNull(inner) => self.null_test(inner, true),
            Expr::IsNotNull(inner) => self.null_test(inner, false),
            Expr::Not(inner) => self.write(inner).negated(),
            Expr::Column(_) | Expr::Case(_) => self.truth(expr),
            _ => kept_expression(),
        }
    }

    /// Of a conjunction, the part that can be sent is sent.
    fn and(&self, left: &Expr, right: &Expr) -> Condition {
        match (self.write(left), self.write(right)) {
            (Condition::Exact(a), Condition::Exact(b)) => Condition::Exact(joined(&a, "AND", &b)),
            (Condition::Kept(a), Condition::Kept(_)) => Condition::Kept(a),
            (Condition::Kept(reason), Condition::Exact(sent) | Condition::Superset(sent, _))
            | (Condition::Exact(sent) | Condition::Superset(sent, _), Condition::Kept(reason)) => Condition::Superset(sent, reason),
            (Condition::Exact(a), Condition::Superset(b, reason)) | (Condition::Superset(a, reason), Condition::Exact(b) | Condition::Superset(b, _)) => {
                Condition::Superset(joined(&a, "AND", &b), reason)
            }
        }
    }

    /// Of a disjunction, both sides must be sent or none.
    fn or(&self, left: &Expr, right: &Expr) -> Condition {
        match (self.write(left), self.write(right)) {
            (Condition::Kept(reason), _) | (_, Condition::Kept(reason)) => Condition::Kept(reason),
            (Condition::Exact(a), Condition::Exact(b)) => Condition::Exact(joined(&a, "OR", &b)),
            (Condition::Exact(a), Condition::Superset(b, reason)) | (Condition::Superset(a, reason), Condition::Exact(b) | Condition::Superset(b, _)) => {
                Condition::Superset(joined(&a, "OR", &b), reason)
            }
        }
    }

    fn null_test(&self, inner: &Expr, wants_null: bool) -> Condition {
        let term = match self.total(inner) {
            Ok(term) => term,
            Err(reason) => return Condition::Kept(reason),
        };
        let operation = if wants_null { Operation::IsNull } else { Operation::IsNotNull };
        let source = self.scope.source;
        Condition::with_support(asked(source, &operation, &term.meaning), || Ok(Sent::whole(source.dialect().null_test(&term, wants_null))))
    }

    fn truth(&self, expr: &Expr) -> Condition {
        match self.total(expr) {
            Ok(term) => Condition::with_support(asked(self.scope.source, &Operation::IsTrue, &term.meaning), || Ok(Sent::whole(term.sql.clone()))),
            Err(reason) => Condition::Kept(reason),
        }
    }

    fn compare(&self, left: &Expr, op: Operator, right: &Expr) -> Condition {
        let (side, op, literal) = match (as_literal(left), as_literal(right)) {
            (None, Some(literal)) => (left, op, literal),
            (Some(literal), None) => match op.swap() {
                Some(swapped) => (right, swapped, literal),
                None => return kept_expression(),
            },
            (None, None) => return self.compare_terms(left, op, right),
            (Some(_), Some(_)) => return kept_expression(),
        };
        let term = match self.total(side) {
            Ok(term) => term,
            Err(reason) => return Condition::Kept(reason),
        };
        let Some(value) = comparable(&term.meaning, literal) else { return kept_types(&term.meaning) };
        let Some((operation, sign)) = operation(op, value) else { return kept_expression() };
        let support = asked(self.scope.source, &operation, &term.meaning);
        Condition::with_support(support, || {
            let literal = self.scope.source.dialect().literal_for(value, &term.meaning)?;
            Ok(self.scope.source.dialect().compare(&term, sign, &literal))
        })
    }

    /// Two values of the source beside each other.
    fn compare_terms(&self, left: &Expr, op: Operator, right: &Expr) -> Condition {
        let (left, right) = match (self.total(left), self.total(right)) {
            (Ok(left), Ok(right)) => (left, right),
            (Err(reason), _) | (_, Err(reason)) => return Condition::Kept(reason),
        };
        let Some((operation, sign)) = operation(op, Operand::Bool(true)) else { return kept_expression() };
        let ranges = !matches!(operation, Operation::Equal(_) | Operation::NotEqual(_));
        let source = self.scope.source;
        let written = match (ranges, operation) {
            (true, _) => ordered(&left, &right, source).map(|(left, right)| Sent::whole(format!("{left} {sign} {right}"))),
            (false, Operation::Equal(_)) => same(&left, &right, source),
            (false, _) => return same(&left, &right, source).map_or_else(Condition::Kept, Condition::Exact).negated(),
        };
        written.map_or_else(Condition::Kept, Condition::Exact)
    }

    /// `IS [NOT] DISTINCT FROM`, which is never unknown, in words that every source has.
    fn distinct(&self, left: &Expr, right: &Expr, distinct: bool) -> Condition {
        let (equal, unequal) = (left.clone().eq(right.clone()), left.clone().not_eq(right.clone()));
        let (value, other) = match (as_literal(left), as_literal(right)) {
            (Some(_), Some(_)) => return kept_expression(),
            (None, Some(literal)) if !literal.is_null() => (left, None),
            (Some(literal), None) if !literal.is_null() => (right, None),
            (None, None) => (left, Some(right)),
            _ => return kept_expression(),
        };
        let null = |expr: &Expr| expr.clone().is_null();
        let not_null = |expr: &Expr| expr.clone().is_not_null();
        self.write(&match (other, distinct) {
            (None, true) => null(value).or(unequal),
            (None, false) => not_null(value).and(equal),
            (Some(other), true) => {
                let one_missing = null(value).and(not_null(other)).or(not_null(value).and(null(other)));
                one_missing.or(not_null(value).and(not_null(other)).and(unequal))
            }
            (Some(other), false) => null(value).and(null(other)).or(not_null(value).and(not_null(other)).and(equal)),
        })
    }

    fn like(&self, like: &Like) -> Condition {
        if like.case_insensitive {
            return Condition::Kept(case_folding());
        }
        let (Some(ScalarValue::Utf8(Some(text)) | ScalarValue::Utf8View(Some(text))), false) = (as_literal(&like.pattern), like.case_insensitive) else {
            return Condition::Kept(Reason::new("pattern", "only LIKE with a constant pattern, in which case counts, means the same in a source"));
        };
        let term = match self.total(&like.expr) {
            Ok(term) => term,
            Err(reason) => return Condition::Kept(reason),
        };
        let pattern = Pattern { text, escape: like.escape_char.unwrap_or('\\') };
        let written = Condition::with_support(asked(self.scope.source, &Operation::Like(pattern), &term.meaning), || {
            self.scope.source.dialect().like(&term, pattern).map(Sent::whole)
        });
        if like.negated { written.negated() } else { written }
    }

    /// Of a pattern that begins with plain letters, at least those are looked for.
    fn regex(&self, text: &Expr, pattern: &Expr) -> Condition {
        let prefix = match as_literal(pattern) {
            Some(ScalarValue::Utf8(Some(pattern)) | ScalarValue::Utf8View(Some(pattern)) | ScalarValue::LargeUtf8(Some(pattern))) => plain_prefix(pattern),
            _ => None,
        };
        let (Some(prefix), Ok(term)) = (prefix, self.total(text)) else { return Condition::Kept(regex_dialect()) };
        let pattern = format!("{}%", prefix.replace('_', "\\_"));
        let pattern = Pattern { text: &pattern, escape: '\\' };
        let written = Condition::with_support(self.scope.source.support(&Operation::Like(pattern), &term.meaning), || {
            self.scope.source.dialect().like(&term, pattern).map(Sent::whole)
        });
        match written {
            Condition::Exact(sent) | Condition::Superset(sent, _) => Condition::Superset(sent, regex_dialect()),
            Condition::Kept(_) => Condition::Kept(regex_dialect()),
        }
    }

    fn in_list(&self, inner: &Expr, list: &[Expr], negated: bool) -> Condition {
        let term = match self.total(inner) {
            Ok(term) => term,
            Err(reason) => return Condition::Kept(reason),
        };
        let (source, meaning) = (self.scope.source, &term.meaning);
        let mut literals = Vec::with_capacity(list.len());
        let mut values = Vec::with_capacity(list.len());
        let mut weakest: Option<Reason> = None;
        for item in list {
            let Some(literal) = as_literal(item) else { return kept_expression() };
            let Some(value) = comparable(meaning, literal) else { return kept_types(meaning) };
            let operation = if negated { Operation::NotEqual(value) } else { Operation::Equal(value) };
            match asked(source, &operation, meaning) {
                Support::Exact => {}
                Support::Superset(reason) => weakest = Some(reason),
                Support::Never(reason) => return Condition::Kept(reason),
            }
            match source.dialect().literal_for(value, meaning) {
                Ok(text) => literals.push(text),
                Err(error) => return Condition::Kept(Reason::new("literal", error.message().to_owned())),
            }
            values.push(value);
        }
        let array = if list.len() > LIST_READ_MAX { source.dialect().array(&values, meaning) } else { None };
        let sent = match (array, negated) {
            (Some(array), false) => Sent::whole(format!("{} = ANY ({array})", term.sql)),
            (Some(array), true) => Sent::whole(format!("{} <> ALL ({array})", term.sql)),
            (None, _) => source.dialect().compare_list(&term, negated, &literals),
        };
        match weakest {
            None => Condition::Exact(sent),
            Some(reason) => Condition::Superset(sent, reason),
        }
    }

    /// A value that can be computed for any row, also one that another condition leaves out.
    fn total(&self, expr: &Expr) -> Result<Term, Reason> {
        let term = value(expr, self.scope)?;
        if term.total {
            Ok(term)
        } else {
            Err(Reason::new("may_fail", "it can fail, and the source may compute it for rows that another condition leaves out"))
        }
    }
}

/// The left value equal to the right one, as we mean it.
pub(crate) fn same(left: &Term, right: &Term, source: &dyn Source) -> Result<Sent, Reason> {
    comparable_terms(left, right, Operation::Distinguish, source)?;
    let same = source.dialect().same(left, right);
    same.ok_or_else(|| Reason::new("collation", "the two sides have different collations").with_remedy("give both columns one collation"))
}

/// As `same`, and NULLs are equal too.
pub(super) fn same_or_missing(left: &Term, right: &Term, source: &dyn Source) -> Result<Sent, Reason> {
    comparable_terms(left, right, Operation::Distinguish, source)?;
    let same = source.dialect().same_or_missing(left, right);
    same.ok_or_else(|| Reason::new("collation", "the two sides have different collations").with_remedy("give both columns one collation"))
}

/// Both values as they stand in our order.
fn ordered(left: &Term, right: &Term, source: &dyn Source) -> Result<(String, String), Reason> {
    comparable_terms(left, right, Operation::Order, source)?;
    Ok((source.dialect().ordered(left), source.dialect().ordered(right)))
}

/// Whether the source can compare two of its values with each other as we would.
fn comparable_terms(left: &Term, right: &Term, needed: Operation<'_>, source: &dyn Source) -> Result<(), Reason> {
    let (a, b) = (&left.meaning, &right.meaning);
    let decimals = |data_type: &DataType| matches!(data_type, DataType::Decimal128(..));
    let whole = |data_type: &DataType| data_type.is_integer();
    let like_types = a.data_type == b.data_type || whole(&a.data_type) && whole(&b.data_type) || decimals(&a.data_type) && decimals(&b.data_type);
    // What is read as text is compared there as what it is, so both have to be the same.
    let like_readings = a.read_as == b.read_as && (a.read_as.is_none() || a.native_type == b.native_type);
    if !like_types || !like_readings {
        return Err(Reason::new("type", "the two sides are of different types, and a conversion at the source could change their meaning"));
    }
    for side in [a, b] {
        if let Support::Superset(reason) | Support::Never(reason) = asked(source, &needed, side) {
            return Err(reason);
        }
    }
    Ok(())
}

/// The letters that every text matched by a regular expression begins with, when it says so in the plainest way: `^letters…`.
fn plain_prefix(pattern: &str) -> Option<String> {
    let rest = pattern.strip_prefix('^').filter(|rest| !rest.contains('|'))?;
    let plain = |letter: &char| letter.is_alphanumeric() || " _-,:;/@=<>\"'!~&".contains(*letter);
    let mut prefix: String = rest.chars().take_while(plain).collect();
    // What may be there no time, or several, is not looked for.
    if matches!(rest[prefix.len()..].chars().next(), Some('*' | '?' | '{')) {
        prefix.pop();
    }
    (!prefix.is_empty()).then_some(prefix)
}

fn as_literal(expr: &Expr) -> Option<&ScalarValue> {
    match expr {
        Expr::Literal(value, _) => Some(value),
        _ => None,
    }
}

fn comparable<'a>(column: &Column, literal: &'a ScalarValue) -> Option<Operand<'a>> {
    if same_type(&column.data_type, &literal.data_type()) { operand(literal) } else { None }
}

fn operation(op: Operator, value: Operand<'_>) -> Option<(Operation<'_>, &'static str)> {
    Some(match op {
        Operator::Eq => (Operation::Equal(value), "="),
        Operator::NotEq => (Operation::NotEqual(value), "<>"),
        Operator::Lt => (Operation::Less(value), "<"),
        Operator::LtEq => (Operation::LessOrEqual(value), "<="),
        Operator::Gt => (Operation::Greater(value), ">"),
        Operator::GtEq => (Operation::GreaterOrEqual(value), ">="),
        _ => return None,
    })
}

fn kept_expression() -> Condition {
    Condition::Kept(Reason::new("expression", "conditions of this kind are checked here"))
}

fn kept_types(column: &Column) -> Condition {
    let what = if column.name.is_empty() { "the value beside it".to_owned() } else { format!("column {}", column.name) };
    let reason = Reason::new("type", format!("the constant is not of the type of {what}, and a conversion at the source could change its meaning"));
    Condition::Kept(reason.with_remedy(format!("cast the constant to {}", column.native_type)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_regular_expression_begins_with_what_is_plain() {
        for (pattern, prefix) in [
            ("^name 1", Some("name 1")),
            ("^ab.*c$", Some("ab")),
            ("^abc?", Some("ab")),
            ("^abc+d", Some("abc")),
            ("^ä_1{2}", Some("ä_")),
            ("^a*", None),
            ("^(ab)", None),
            ("^a|b", None),
            ("abc", None),
            ("^", None),
            ("^\\d", None),
        ] {
            assert_eq!(plain_prefix(pattern).as_deref(), prefix, "{pattern}");
        }
    }
}
