// SPDX-License-Identifier: Apache-2.0
//! What unnamed columns of a result are called: as Postgres calls them (`count`, `?column?`), and duplicates are allowed.

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::sql::sqlparser::ast::{
    Expr, Function, Ident, Query, Select, SelectItem, SetExpr, Statement, TableFactor, Value, Visit, VisitMut, Visitor, VisitorMut,
};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::ControlFlow;
use std::sync::Arc;

/// The planner wants unique names. What it got, and what is shown instead.
#[derive(Debug, Clone, Default)]
pub(crate) struct OutputNames {
    shown: BTreeMap<String, String>,
}

/// The field with texts that are no views, inside lists and structs too.
fn plain_text(field: &Arc<Field>) -> Arc<Field> {
    let plain = match field.data_type() {
        DataType::Utf8View => DataType::Utf8,
        DataType::List(item) => DataType::List(plain_text(item)),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(plain_text).collect()),
        _ => return field.clone(),
    };
    Arc::new(field.as_ref().clone().with_data_type(plain))
}

const STAND_IN: &str = "__weir_column_";
/// What a column of a subquery is called that shares its name with others, or has none: this, a number, `_`, and what is shown.
const TWIN: &str = "__weir_twin_";
pub(super) const UNNAMED: &str = "?column?";

/// Whether `name` is shared by several columns of a subquery, one of which the planner calls `known`.
pub(crate) fn is_twin(name: &str, known: &str) -> bool {
    known.strip_prefix(TWIN).and_then(|rest| rest.split_once('_')).is_some_and(|(_, shown)| shown == name)
}

impl OutputNames {
    /// Gives every unnamed or repeated output column of the outermost SELECT a name.
    pub fn give(statement: &mut Statement) -> Self {
        let mut names = Self::default();
        let query = match statement {
            Statement::Query(query) => Some(query),
            Statement::Insert(insert) => insert.source.as_mut(),
            _ => None,
        };
        if let Some(select) = query.and_then(|query| outermost(&mut query.body)) {
            names.name_all(select);
        }
        let _ = statement.visit(&mut InnerNames { names: &mut names });
        names
    }

    /// With what other columns are called.
    pub fn and(mut self, shown: BTreeMap<String, String>) -> Self {
        self.shown.extend(shown);
        self
    }

    /// The schema as the client sees it: other names, and texts that are no views, which not every reader of Arrow knows.
    pub fn show(&self, schema: &SchemaRef) -> SchemaRef {
        let renamed = |field: &Arc<Field>| match self.shown.get(field.name()) {
            Some(shown) => Arc::new(field.as_ref().clone().with_name(shown)),
            None => field.clone(),
        };
        let fields = schema.fields().iter().map(|field| plain_text(&renamed(field)));
        Arc::new(Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone()))
    }

    fn name_all(&mut self, select: &mut Select) {
        let mut taken: HashSet<String> = select.projection.iter().filter_map(given_name).collect();
        let mut plain: Vec<Vec<String>> = Vec::new();
        let mut aliases = HashSet::new();
        // `c.oid, c.*` names a column twice, in a way that only shows once the star is expanded.
        let starred = select.projection.iter().any(|item| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)));
        for (index, item) in select.projection.iter_mut().enumerate() {
            if let SelectItem::ExprWithAlias { alias, .. } = item {
                let name = if alias.quote_style.is_some() { alias.value.clone() } else { alias.value.to_lowercase() };
                if !aliases.insert(name.clone()) {
                    *alias = Ident::with_quote('"', self.stand_in(index, name));
                }
                continue;
            }
            let SelectItem::UnnamedExpr(expr) = item else { continue };
            let meaning = meant(expr);
            let repeated = plain.iter().any(|other| same_column(other, &meaning));
            plain.push(meaning);
            if is_column(expr) && !repeated && !starred {
                continue;
            }
            let shown = figured(expr).unwrap_or_else(|| UNNAMED.to_owned());
            let alias = if !starred && shown != UNNAMED && taken.insert(shown.clone()) { shown } else { self.stand_in(index, shown) };
            *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias: Ident::with_quote('"', alias) };
        }
    }

    /// Columns of a subquery may share a name, as long as nobody asks for one by it.
    fn name_inner(&mut self, body: &mut SetExpr) {
        let Some(select) = outermost(body) else { return };
        if select.projection.iter().any(|item| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..))) {
            return;
        }
        let called: Vec<Option<String>> = select.projection.iter().map(|item| given_name(item).or_else(|| unaliased(item).and_then(figured))).collect();
        for (item, name) in select.projection.iter_mut().zip(&called) {
            let alone = name.is_some() && called.iter().filter(|other| *other == name).count() == 1;
            let alias = match (alone, name) {
                (true, Some(name)) if unaliased(item).is_some_and(|expr| !is_column(expr)) => name.clone(),
                (true, _) => continue,
                (false, name) => self.twin(name.as_deref().unwrap_or(UNNAMED)),
            };
            if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item {
                *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias: Ident::with_quote('"', alias) };
            }
        }
    }

    fn twin(&mut self, shown: &str) -> String {
        let name = format!("{TWIN}{}_{shown}", self.shown.len());
        self.shown.insert(name.clone(), shown.to_owned());
        name
    }

    fn stand_in(&mut self, index: usize, shown: String) -> String {
        let name = format!("{STAND_IN}{index}");
        self.shown.insert(name.clone(), shown);
        name
    }
}

/// Names of unnamed columns in subqueries, by which the query around them can ask: `SELECT max FROM (SELECT max(x) FROM t) s`.
struct InnerNames<'a> {
    names: &'a mut OutputNames,
}

impl VisitorMut for InnerNames<'_> {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Derived { subquery, alias, .. } = factor
            && alias.as_ref().is_none_or(|alias| alias.columns.is_empty())
        {
            self.names.name_inner(&mut subquery.body);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        for cte in query.with.iter_mut().flat_map(|with| &mut with.cte_tables).filter(|cte| cte.alias.columns.is_empty()) {
            self.names.name_inner(&mut cte.query.body);
        }
        ControlFlow::Continue(())
    }
}

/// The names that outputs are given with AS, anywhere in a statement.
pub(super) fn aliases(statement: &Statement) -> BTreeSet<String> {
    let mut given = Given::default();
    let _ = Visit::visit(statement, &mut given);
    given.0
}

#[derive(Default)]
struct Given(BTreeSet<String>);

impl Visitor for Given {
    type Break = ();

    fn pre_visit_select(&mut self, select: &Select) -> ControlFlow<()> {
        let alias = |item: &SelectItem| if let SelectItem::ExprWithAlias { alias, .. } = item { Some(folded(alias)) } else { None };
        self.0.extend(select.projection.iter().filter_map(alias));
        ControlFlow::Continue(())
    }
}

/// The SELECT that names the columns: of a union, the leftmost one.
fn outermost(body: &mut SetExpr) -> Option<&mut Select> {
    match body {
        SetExpr::Select(select) => Some(select),
        SetExpr::Query(query) => outermost(&mut query.body),
        SetExpr::SetOperation { left, .. } => outermost(left),
        _ => None,
    }
}

/// The name that an item has without us: its alias, or the column that it is.
fn given_name(item: &SelectItem) -> Option<String> {
    match item {
        SelectItem::ExprWithAlias { alias, .. } => Some(folded(alias)),
        SelectItem::UnnamedExpr(expr) if is_column(expr) => figured(expr),
        _ => None,
    }
}

fn unaliased(item: &SelectItem) -> Option<&Expr> {
    match item {
        SelectItem::UnnamedExpr(expr) => Some(expr),
        _ => None,
    }
}

fn is_column(expr: &Expr) -> bool {
    matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_))
}

/// The parts of a column's name, the last one first, however it was typed; of anything else its text.
fn meant(expr: &Expr) -> Vec<String> {
    match expr {
        Expr::Identifier(name) => vec![folded(name)],
        Expr::CompoundIdentifier(parts) => parts.iter().rev().map(folded).collect(),
        other => vec![other.to_string()],
    }
}

/// Whether both may mean one column, of which one was typed with more qualifiers.
fn same_column(a: &[String], b: &[String]) -> bool {
    a.iter().zip(b).all(|(a, b)| a == b)
}

fn folded(ident: &Ident) -> String {
    if ident.quote_style.is_some() { ident.value.clone() } else { ident.value.to_lowercase() }
}

/// The rules of Postgres, as far as its users notice them.
pub(super) fn figured(expr: &Expr) -> Option<String> {
    match expr {
        Expr::Identifier(ident) => Some(folded(ident)),
        Expr::CompoundIdentifier(idents) => idents.last().map(folded),
        Expr::Nested(inner) => figured(inner),
        Expr::Function(function) => called(function),
        Expr::Cast { expr, data_type, .. } => figured(expr).or_else(|| Some(type_word(&data_type.to_string()))),
        Expr::TypedString(typed) => Some(type_word(&typed.data_type.to_string())),
        Expr::Value(value) if matches!(value.value, Value::Boolean(_)) => Some("bool".into()),
        Expr::Case { else_result, .. } => Some(else_result.as_deref().filter(|result| is_column(result)).and_then(figured).unwrap_or_else(|| "case".into())),
        Expr::Exists { .. } => Some("exists".into()),
        Expr::Extract { .. } => Some("extract".into()),
        Expr::Ceil { .. } => Some("ceil".into()),
        Expr::Floor { .. } => Some("floor".into()),
        Expr::Position { .. } => Some("position".into()),
        Expr::Substring { shorthand: true, .. } => Some("substr".into()),
        Expr::Substring { .. } => Some("substring".into()),
        Expr::Trim { .. } => Some("btrim".into()),
        Expr::AtTimeZone { .. } => Some("timezone".into()),
        Expr::Interval(_) => Some("interval".into()),
        Expr::Array(_) => Some("array".into()),
        Expr::Subquery(query) => asked(&query.body),
        _ => None,
    }
}

/// What a question that stands for a value calls its column.
fn asked(body: &SetExpr) -> Option<String> {
    match body {
        SetExpr::Select(select) => match select.projection.first()? {
            SelectItem::ExprWithAlias { alias, .. } => Some(folded(alias)),
            SelectItem::UnnamedExpr(expr) => figured(expr),
            _ => None,
        },
        SetExpr::Query(query) => asked(&query.body),
        SetExpr::SetOperation { left, .. } => asked(left),
        _ => None,
    }
}

fn called(function: &Function) -> Option<String> {
    function.name.0.last().and_then(|part| part.as_ident()).map(folded)
}

/// `int4` for what Postgres stores under that name; else the type as written, without its length.
fn type_word(data_type: &str) -> String {
    let word = data_type.split('(').next().unwrap_or(data_type).trim().to_lowercase();
    match word.as_str() {
        "int" | "integer" => "int4".into(),
        "bigint" => "int8".into(),
        "smallint" => "int2".into(),
        "double precision" | "double" => "float8".into(),
        "real" => "float4".into(),
        "boolean" => "bool".into(),
        "decimal" => "numeric".into(),
        _ => word,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::parse;

    fn names(sql: &str) -> (String, Vec<(String, String)>) {
        let mut statement = parse(sql).unwrap();
        let names = OutputNames::give(&mut statement);
        (statement.to_string(), names.shown.into_iter().collect())
    }

    #[test]
    fn functions_are_named_and_literals_are_not() {
        let (sql, shown) = names("SELECT count(*), 1, t.a, sum(b) AS s, 2 FROM t");
        assert_eq!(sql, r#"SELECT count(*) AS "count", 1 AS "__weir_column_1", t.a, sum(b) AS s, 2 AS "__weir_column_4" FROM t"#);
        assert_eq!(shown, [("__weir_column_1".into(), "?column?".into()), ("__weir_column_4".into(), "?column?".into())]);
    }

    #[test]
    fn repeated_columns_are_allowed() {
        let (sql, shown) = names("SELECT a, a, max(x), max(y) FROM t UNION ALL SELECT 1, 2, 3, 4");
        assert!(sql.starts_with(r#"SELECT a, a AS "__weir_column_1", max(x) AS "max", max(y) AS "__weir_column_3" FROM t"#), "{sql}");
        assert_eq!(shown, [("__weir_column_1".into(), "a".into()), ("__weir_column_3".into(), "max".into())]);
    }

    #[test]
    fn columns_of_a_subquery_may_share_a_name() {
        let (sql, shown) = names("SELECT * FROM (SELECT a, b AS a, max(x), 1 FROM t) AS s");
        assert_eq!(sql, r#"SELECT * FROM (SELECT a AS "__weir_twin_0_a", b AS "__weir_twin_1_a", max(x) AS "max", 1 AS "__weir_twin_2_?column?" FROM t) AS s"#);
        assert_eq!(shown.last(), Some(&("__weir_twin_2_?column?".into(), "?column?".into())));
        assert!(is_twin("a", "__weir_twin_1_a") && !is_twin("b", "__weir_twin_1_a") && !is_twin("a", "a"));
    }

    #[test]
    fn a_question_is_called_as_its_column() {
        let (text, shown) = names("SELECT (SELECT name FROM t), (SELECT max(x) FROM t), (SELECT 1 AS one), (SELECT 1)");
        assert!(["\"name\"", "\"max\"", "\"one\""].iter().all(|name| text.contains(name)), "{text}");
        assert_eq!(shown, [("__weir_column_3".into(), "?column?".into())]);
    }
}
