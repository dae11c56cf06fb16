// SPDX-License-Identifier: Apache-2.0
//! One conjunct of a filter as a source's SQL, with how exactly the source means the same.

use super::literal::{operand, same_type};
use arrow::datatypes::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{Between, BinaryExpr, Expr, Operator};
use weir_base::Result;
use weir_source::{Column, Operand, Operation, Reason, Source, SourceTable, Support};

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sent {
    pub sql: String,
}

impl Condition {
    fn exact(sql: String) -> Self {
        Self::Exact(Sent { sql })
    }

    fn with_support(support: Support, sql: impl FnOnce() -> Result<String>) -> Self {
        let written = |sql: Result<String>| sql.map(|sql| Sent { sql }).map_err(|error| Reason::new("literal", error.message().to_owned()));
        match support {
            Support::Never(reason) => Self::Kept(reason),
            Support::Exact => written(sql()).map_or_else(Self::Kept, Self::Exact),
            Support::Superset(reason) => match written(sql()) {
                Ok(sent) => Self::Superset(sent, reason),
                Err(unwritable) => Self::Kept(unwritable),
            },
        }
    }

    fn map_sql(self, change: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Exact(sent) => Self::exact(change(sent.sql)),
            Self::Superset(sent, reason) => Self::Superset(Sent { sql: change(sent.sql) }, reason),
            Self::Kept(reason) => Self::Kept(reason),
        }
    }
}

/// Writes a conjunct for `table`, or says why it stays here.
pub(crate) fn condition(expr: &Expr, table: &SourceTable, source: &dyn Source) -> Condition {
    let writer = Writer { table, source };
    writer.write(expr)
}

struct Writer<'a> {
    table: &'a SourceTable,
    source: &'a dyn Source,
}

impl Writer<'_> {
    fn write(&self, expr: &Expr) -> Condition {
        match expr {
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::And, right }) => self.and(left, right),
            Expr::BinaryExpr(BinaryExpr { left, op: Operator::Or, right }) => self.or(left, right),
            Expr::BinaryExpr(BinaryExpr { left, op, right }) => self.compare(left, *op, right),
            Expr::Between(Between { expr, negated: false, low, high }) => {
                let low = Expr::BinaryExpr(BinaryExpr::new(expr.clone(), Operator::GtEq, low.clone()));
                let high = Expr::BinaryExpr(BinaryExpr::new(expr.clone(), Operator::LtEq, high.clone()));
                self.and(&low, &high)
            }
            Expr::InList(InList { expr, list, negated }) => self.in_list(expr, list, *negated),
            Expr::IsNull(inner) => self.unary(inner, Operation::IsNull, "IS NULL"),
            Expr::IsNotNull(inner) => self.unary(inner, Operation::IsNotNull, "IS NOT NULL"),
            Expr::Not(inner) => self.not(inner),
            Expr::Column(_) => self.unary(expr, Operation::IsTrue, ""),
            _ => kept_expression(),
        }
    }

    /// Of a conjunction, the part that can be sent is sent.
    fn and(&self, left: &Expr, right: &Expr) -> Condition {
        match (self.write(left), self.write(right)) {
            (Condition::Exact(a), Condition::Exact(b)) => Condition::exact(format!("({} AND {})", a.sql, b.sql)),
            (Condition::Kept(a), Condition::Kept(_)) => Condition::Kept(a),
            (Condition::Kept(reason), Condition::Exact(sent) | Condition::Superset(sent, _))
            | (Condition::Exact(sent) | Condition::Superset(sent, _), Condition::Kept(reason)) => Condition::Superset(sent, reason),
            (Condition::Exact(a), Condition::Superset(b, reason)) | (Condition::Superset(a, reason), Condition::Exact(b) | Condition::Superset(b, _)) => {
                Condition::Superset(Sent { sql: format!("({} AND {})", a.sql, b.sql) }, reason)
            }
        }
    }

    /// Of a disjunction, both sides must be sent or none.
    fn or(&self, left: &Expr, right: &Expr) -> Condition {
        match (self.write(left), self.write(right)) {
            (Condition::Kept(reason), _) | (_, Condition::Kept(reason)) => Condition::Kept(reason),
            (Condition::Exact(a), Condition::Exact(b)) => Condition::exact(format!("({} OR {})", a.sql, b.sql)),
            (Condition::Exact(a), Condition::Superset(b, reason)) | (Condition::Superset(a, reason), Condition::Exact(b) | Condition::Superset(b, _)) => {
                Condition::Superset(Sent { sql: format!("({} OR {})", a.sql, b.sql) }, reason)
            }
        }
    }

    /// The opposite of a superset would lose rows, so only exact conditions are negated.
    fn not(&self, inner: &Expr) -> Condition {
        match self.write(inner) {
            exact @ Condition::Exact(_) => exact.map_sql(|sql| format!("(NOT {sql})")),
            Condition::Superset(_, reason) | Condition::Kept(reason) => Condition::Kept(reason),
        }
    }

    fn unary(&self, inner: &Expr, operation: Operation<'_>, suffix: &str) -> Condition {
        let Some(column) = self.column(inner) else { return kept_expression() };
        let quoted = self.source.dialect().quote(&column.name);
        let sql = if suffix.is_empty() { quoted } else { format!("{quoted} {suffix}") };
        Condition::with_support(self.source.support(&operation, column), || Ok(sql))
    }

    fn compare(&self, left: &Expr, op: Operator, right: &Expr) -> Condition {
        let (column, op, literal) = match (self.column(left), as_literal(right), as_literal(left), self.column(right)) {
            (Some(column), Some(literal), _, _) => (column, op, literal),
            (_, _, Some(literal), Some(column)) => match op.swap() {
                Some(swapped) => (column, swapped, literal),
                None => return kept_expression(),
            },
            _ => return kept_expression(),
        };
        let Some(value) = comparable(column, literal) else { return kept_types(column) };
        let Some((operation, sign)) = operation(op, value) else { return kept_expression() };
        let support = self.source.support(&operation, column);
        Condition::with_support(support, || {
            let literal = self.source.dialect().literal_for(value, column)?;
            Ok(format!("{} {sign} {literal}", self.operand_column(column, &operation)))
        })
    }

    fn in_list(&self, inner: &Expr, list: &[Expr], negated: bool) -> Condition {
        let Some(column) = self.column(inner) else { return kept_expression() };
        let mut literals = Vec::with_capacity(list.len());
        let mut weakest: Option<Reason> = None;
        for item in list {
            let Some(literal) = as_literal(item) else { return kept_expression() };
            let Some(value) = comparable(column, literal) else { return kept_types(column) };
            let operation = if negated { Operation::NotEqual(value) } else { Operation::Equal(value) };
            match self.source.support(&operation, column) {
                Support::Exact => {}
                Support::Superset(reason) => weakest = Some(reason),
                Support::Never(reason) => return Condition::Kept(reason),
            }
            match self.source.dialect().literal_for(value, column) {
                Ok(text) => literals.push(text),
                Err(error) => return Condition::Kept(Reason::new("literal", error.message().to_owned())),
            }
        }
        let word = if negated { "NOT IN" } else { "IN" };
        let sql = format!("{} {word} ({})", self.source.dialect().quote(&column.name), literals.join(", "));
        match weakest {
            None => Condition::exact(sql),
            Some(reason) => Condition::Superset(Sent { sql }, reason),
        }
    }

    /// Ordering of texts is by bytes here; a source that can say so gets told.
    fn operand_column(&self, column: &Column, operation: &Operation<'_>) -> String {
        let quoted = self.source.dialect().quote(&column.name);
        let ordering = matches!(operation, Operation::Less(_) | Operation::LessOrEqual(_) | Operation::Greater(_) | Operation::GreaterOrEqual(_));
        let text = matches!(column.data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
        if ordering && text { self.source.dialect().bytewise(&quoted).unwrap_or(quoted) } else { quoted }
    }

    fn column(&self, expr: &Expr) -> Option<&Column> {
        let Expr::Column(column) = expr else { return None };
        self.table.columns.iter().find(|known| known.name == column.name)
    }
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
    Condition::Kept(Reason::new("expression", "only comparisons of a column with a constant are sent so far"))
}

fn kept_types(column: &Column) -> Condition {
    let reason =
        Reason::new("type", format!("the constant is not of the type of column {}, and a conversion at the source could change its meaning", column.name));
    Condition::Kept(reason.with_remedy(format!("cast the constant to {}", column.native_type)))
}
