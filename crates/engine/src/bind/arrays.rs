// SPDX-License-Identifier: Apache-2.0
//! `x = ANY($1)` and its sisters: a list that comes as one value is asked about item by item, which sources understand.
//! Nothing of it becomes text: each item is a parameter of its own.

use super::{placeholders, unnested};
use datafusion::sql::sqlparser::ast::{Array, ArrayElemTypeDef, BinaryOperator, CastKind, DataType, Expr, Statement, Value, VisitMut, VisitorMut};
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use weir_api::Parameter;
use weir_base::{Error, ErrorCode, Result};

/// A longer list stays one value, which no source is asked about.
const ITEMS_MAX: usize = 10_000;

/// The parameters of a statement, the items of its lists behind them.
#[derive(Debug)]
pub(crate) struct Spread {
    pub params: Vec<Parameter>,
    /// For each, the number of the parameter that the client sent.
    origins: Vec<usize>,
}

impl Spread {
    /// The number under which the client knows a parameter.
    pub fn origin(&self, number: usize) -> usize {
        self.origins.get(number.wrapping_sub(1)).copied().unwrap_or(number)
    }
}

/// Spreads every list that is compared item by item. Errors: 22P02 for a text that is no list, 42804 for a value that is none.
pub(crate) fn spread(statement: &mut Statement, params: &[Parameter]) -> Result<Spread> {
    let spread = Spread { params: params.to_vec(), origins: (1..=params.len()).collect() };
    let mut visitor = Spreader { spread, given: params.len() };
    match statement.visit(&mut visitor) {
        ControlFlow::Break(error) => Err(error),
        ControlFlow::Continue(()) => Ok(visitor.spread),
    }
}

/// Without values: each list parameter is asked about as if it were one item. Gives the numbers of those parameters.
pub(crate) fn open(statement: &mut Statement) -> BTreeSet<usize> {
    let mut opener = Opener::default();
    let _ = statement.visit(&mut opener);
    opener.lists
}

struct Spreader {
    spread: Spread,
    given: usize,
}

impl VisitorMut for Spreader {
    type Break = Error;

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<Error> {
        let Some(comparison) = Comparison::of(expr) else { return ControlFlow::Continue(()) };
        match self.items(&comparison) {
            Err(error) => ControlFlow::Break(error),
            Ok(None) => ControlFlow::Continue(()),
            Ok(Some(List::Null)) => {
                // Unnesting nothing gives no rows.
                *expr = if comparison.unnested { Expr::value(Value::Boolean(comparison.all)) } else { cast(Expr::value(Value::Null), DataType::Boolean) };
                ControlFlow::Continue(())
            }
            Ok(Some(List::Items(items))) => {
                if let Some(spelled) = comparison.over(items) {
                    *expr = spelled;
                }
                ControlFlow::Continue(())
            }
        }
    }
}

/// What is compared with.
enum List {
    Null,
    Items(Vec<Expr>),
}

impl Spreader {
    fn items(&mut self, comparison: &Comparison) -> Result<Option<List>> {
        let items = match &comparison.list {
            ListExpr::Written(items) => items.clone(),
            ListExpr::Parameter(number) if *number > self.given => return Ok(None),
            ListExpr::Parameter(number) => match self.parameters(*number)? {
                None => return Ok(Some(List::Null)),
                Some(items) if items.len() > ITEMS_MAX => return Ok(None),
                Some(items) => items.into_iter().map(|item| self.add(item, *number)).collect(),
            },
        };
        let typed = items.into_iter().map(|item| comparison.item_type.clone().map_or_else(|| item.clone(), |item_type| cast(item.clone(), item_type)));
        Ok(Some(List::Items(typed.collect())))
    }

    /// The items of a list parameter; `None` for NULL.
    fn parameters(&mut self, number: usize) -> Result<Option<Vec<Parameter>>> {
        let place = number - 1;
        match &self.spread.params[place] {
            Parameter::Null => Ok(None),
            Parameter::Array { items, .. } => Ok(Some(items.clone())),
            Parameter::Text(text) => {
                let items = Parameter::array_items(text).ok_or_else(|| malformed(number))?;
                let items: Vec<Parameter> = items.into_iter().map(|item| item.map_or(Parameter::Null, Parameter::Text)).collect();
                self.spread.params[place] = Parameter::Array { element: arrow::datatypes::DataType::Utf8, items: items.clone() };
                Ok(Some(items))
            }
            _ => Err(Error::new(ErrorCode::TypeMismatch, "ANY and ALL need a list on the right").with_detail(format!("parameter ${number} is a single value"))),
        }
    }

    fn add(&mut self, item: Parameter, origin: usize) -> Expr {
        self.spread.params.push(item);
        self.spread.origins.push(origin);
        Expr::value(Value::Placeholder(format!("${}", self.spread.params.len())))
    }
}

fn malformed(number: usize) -> Error {
    Error::new(ErrorCode::BadValue, "a parameter is not a list").with_detail(format!("parameter ${number}")).with_hint("write a list as {1,2,3}")
}

#[derive(Default)]
struct Opener {
    lists: BTreeSet<usize>,
}

impl VisitorMut for Opener {
    type Break = ();

    fn post_visit_expr(&mut self, expr: &mut Expr) -> ControlFlow<()> {
        let Some(comparison) = Comparison::of(expr) else { return ControlFlow::Continue(()) };
        let items = match &comparison.list {
            ListExpr::Written(items) => items.clone(),
            ListExpr::Parameter(number) => {
                self.lists.insert(*number);
                vec![Expr::value(Value::Placeholder(format!("${number}")))]
            }
        };
        let typed = items.into_iter().map(|item| comparison.item_type.clone().map_or_else(|| item.clone(), |item_type| cast(item.clone(), item_type)));
        if let Some(spelled) = comparison.over(typed.collect()) {
            *expr = spelled;
        }
        ControlFlow::Continue(())
    }
}

/// `left op ANY (list)` or `left op ALL (list)`.
struct Comparison {
    left: Expr,
    operator: Operator,
    all: bool,
    list: ListExpr,
    /// The type of the items, where the list is cast to `type[]`.
    item_type: Option<DataType>,
    /// Written as `left IN (SELECT unnest(list))`.
    unnested: bool,
}

enum Operator {
    Binary(BinaryOperator),
    Like { negated: bool, ignoring_case: bool },
}

enum ListExpr {
    /// The number of a parameter, from 1.
    Parameter(usize),
    Written(Vec<Expr>),
}

impl Comparison {
    fn of(expr: &Expr) -> Option<Self> {
        let (left, operator, all, right) = match expr {
            Expr::AnyOp { left, compare_op, right, .. } => (left, Operator::Binary(compare_op.clone()), false, right),
            Expr::AllOp { left, compare_op, right } => (left, Operator::Binary(compare_op.clone()), true, right),
            Expr::Like { any: true, negated, expr, pattern, escape_char: None } => {
                (expr, Operator::Like { negated: *negated, ignoring_case: false }, false, pattern)
            }
            Expr::ILike { any: true, negated, expr, pattern, escape_char: None } => {
                (expr, Operator::Like { negated: *negated, ignoring_case: true }, false, pattern)
            }
            Expr::InSubquery { expr: left, subquery, negated } => {
                let operator = if *negated { BinaryOperator::NotEq } else { BinaryOperator::Eq };
                let (list, item_type) = list(unnested::only(subquery)?).filter(|(list, _)| matches!(list, ListExpr::Parameter(_)))?;
                return Some(Self { left: left.as_ref().clone(), operator: Operator::Binary(operator), all: *negated, list, item_type, unnested: true });
            }
            _ => return None,
        };
        let (list, item_type) = list(right)?;
        Some(Self { left: left.as_ref().clone(), operator, all, list, item_type, unnested: false })
    }

    /// The same over items that are there one by one; `None` where it has to stay as it is.
    fn over(&self, items: Vec<Expr>) -> Option<Expr> {
        if items.is_empty() {
            return Some(Expr::value(Value::Boolean(self.all)));
        }
        let negated = match (&self.operator, self.all) {
            (Operator::Binary(BinaryOperator::Eq), false) => Some(false),
            (Operator::Binary(BinaryOperator::NotEq), true) => Some(true),
            _ => None,
        };
        if let Some(negated) = negated {
            return Some(Expr::InList { expr: Box::new(self.left.clone()), list: items, negated });
        }
        if items.len() > 1 && !repeatable(&self.left) {
            return None;
        }
        let mut compared: Vec<Expr> = items.into_iter().map(|item| self.with(item)).collect();
        let joined = joined(&mut compared, if self.all { BinaryOperator::And } else { BinaryOperator::Or });
        joined.map(|joined| Expr::Nested(Box::new(joined)))
    }

    fn with(&self, item: Expr) -> Expr {
        let left = Box::new(self.left.clone());
        match &self.operator {
            Operator::Binary(op) => Expr::BinaryOp { left, op: op.clone(), right: Box::new(item) },
            Operator::Like { negated, ignoring_case: false } => {
                Expr::Like { negated: *negated, any: false, expr: left, pattern: Box::new(item), escape_char: None }
            }
            Operator::Like { negated, ignoring_case: true } => {
                Expr::ILike { negated: *negated, any: false, expr: left, pattern: Box::new(item), escape_char: None }
            }
        }
    }
}

/// A balanced tree, so that a long list does not nest deeply.
fn joined(compared: &mut Vec<Expr>, op: BinaryOperator) -> Option<Expr> {
    if compared.len() <= 1 {
        return compared.pop();
    }
    let mut right = compared.split_off(compared.len() / 2);
    let (left, right) = (joined(compared, op.clone())?, joined(&mut right, op.clone())?);
    Some(Expr::BinaryOp { left: Box::new(left), op, right: Box::new(right) })
}

/// Whether writing an expression several times means the same and costs next to nothing.
fn repeatable(expr: &Expr) -> bool {
    match expr {
        Expr::Identifier(_) | Expr::CompoundIdentifier(_) | Expr::Value(_) | Expr::TypedString(_) => true,
        Expr::Nested(inner) | Expr::Cast { expr: inner, .. } => repeatable(inner),
        _ => false,
    }
}

fn list(expr: &Expr) -> Option<(ListExpr, Option<DataType>)> {
    match expr {
        Expr::Nested(inner) => list(inner),
        Expr::Value(_) => placeholders::number(expr).map(|number| (ListExpr::Parameter(number), None)),
        Expr::Array(Array { elem, .. }) if !elem.iter().any(|item| matches!(item, Expr::Array(_))) => Some((ListExpr::Written(elem.clone()), None)),
        Expr::Cast { expr, data_type: DataType::Array(ArrayElemTypeDef::SquareBracket(item_type, _)), .. } => {
            list(expr).map(|(list, _)| (list, Some(item_type.as_ref().clone())))
        }
        _ => None,
    }
}

fn cast(expr: Expr, data_type: DataType) -> Expr {
    Expr::Cast { kind: CastKind::DoubleColon, expr: Box::new(expr), data_type, array: false, format: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::parse;
    use arrow::datatypes::DataType as ArrowType;

    fn ints(items: &[i64]) -> Parameter {
        Parameter::Array { element: ArrowType::Int64, items: items.iter().map(|item| Parameter::Int(*item)).collect() }
    }

    fn written(sql: &str, param: Parameter) -> String {
        let mut statement = parse(sql).unwrap();
        unnested::name(&mut statement);
        spread(&mut statement, &[param]).unwrap();
        statement.to_string()
    }

    #[test]
    fn lists_are_asked_about_item_by_item() {
        assert_eq!(written("SELECT x = ANY($1)", ints(&[7, 8])), "SELECT x IN ($2, $3)");
        assert_eq!(written("SELECT x <> ALL($1)", ints(&[7])), "SELECT x NOT IN ($2)");
        assert_eq!(written("SELECT x = ANY($1::INT[])", ints(&[7])), "SELECT x IN ($2::INT)");
        assert_eq!(written("SELECT x < ANY($1)", ints(&[7, 8])), "SELECT (x < $2 OR x < $3)");
        assert_eq!(written("SELECT x >= ALL($1)", ints(&[7, 8])), "SELECT (x >= $2 AND x >= $3)");
        assert_eq!(written("SELECT x LIKE ANY($1)", Parameter::Text("{a%,b%}".into())), "SELECT (x LIKE $2 OR x LIKE $3)");
        assert_eq!(written("SELECT x = ANY(ARRAY[1, NULL])", Parameter::Null), "SELECT x IN (1, NULL)");
        assert_eq!(written("SELECT x IN (SELECT unnest($1))", ints(&[7, 8])), "SELECT x IN ($2, $3)");
        assert_eq!(written("SELECT x NOT IN (SELECT * FROM unnest($1::INT[]) AS t)", ints(&[7])), "SELECT x NOT IN ($2::INT)");
    }

    #[test]
    fn no_items_and_no_list() {
        assert_eq!(written("SELECT x = ANY($1)", ints(&[])), "SELECT false");
        assert_eq!(written("SELECT x <> ALL($1)", Parameter::Text("{}".into())), "SELECT true");
        assert_eq!(written("SELECT x = ANY($1)", Parameter::Null), "SELECT NULL::BOOLEAN");
        assert_eq!(written("SELECT x IN (SELECT unnest($1))", Parameter::Null), "SELECT false");
        assert_eq!(written("SELECT x NOT IN (SELECT unnest($1))", ints(&[])), "SELECT true");
        let mut statement = parse("SELECT x = ANY($1)").unwrap();
        assert_eq!(spread(&mut statement, &[Parameter::Text("1,2".into())]).unwrap_err().code(), ErrorCode::BadValue);
        assert_eq!(spread(&mut statement, &[Parameter::Int(1)]).unwrap_err().code(), ErrorCode::TypeMismatch);
    }

    #[test]
    fn items_know_the_parameter_they_came_in() {
        let mut statement = parse("SELECT y = $1 AND x = ANY($2)").unwrap();
        let spread = spread(&mut statement, &[Parameter::Int(1), ints(&[7, 8])]).unwrap();
        assert_eq!((spread.params.len(), spread.origin(1), spread.origin(3), spread.origin(4)), (4, 1, 2, 2));
    }

    #[test]
    fn without_values_an_item_stands_for_the_list() {
        let mut statement = parse("SELECT x > ANY($1), y = ANY($2)").unwrap();
        assert_eq!(open(&mut statement), BTreeSet::from([1, 2]));
        assert_eq!(statement.to_string(), "SELECT (x > $1), y IN ($2)");
    }
}
