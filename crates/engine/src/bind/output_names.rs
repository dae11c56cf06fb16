// SPDX-License-Identifier: Apache-2.0
//! What unnamed columns of a result are called: as Postgres calls them (`count`, `?column?`), and duplicates are allowed.

use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::sql::sqlparser::ast::{Expr, Function, Ident, Query, Select, SelectItem, SetExpr, Statement, TableFactor, Value, VisitMut, VisitorMut};
use std::collections::{BTreeMap, HashSet};
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
const UNNAMED: &str = "?column?";

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
        let _ = statement.visit(&mut InnerNames);
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
        let mut plain = HashSet::new();
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
            let column = meant(expr);
            // `id, t.id` is one column twice: a name without a table is that of one table alone.
            let also: bool = plain.iter().any(|known: &Vec<String>| known.len() != column.len() && known.last() == column.last());
            let repeated = !plain.insert(column) || also;
            if is_column(expr) && !repeated && !starred {
                continue;
            }
            let shown = figured(expr).unwrap_or_else(|| UNNAMED.to_owned());
            let alias = if !starred && shown != UNNAMED && taken.insert(shown.clone()) { shown } else { self.stand_in(index, shown) };
            *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias: Ident::with_quote('"', alias) };
        }
    }

    fn stand_in(&mut self, index: usize, shown: String) -> String {
        let name = format!("{STAND_IN}{index}");
        self.shown.insert(name.clone(), shown);
        name
    }
}

/// Names of unnamed columns in subqueries, by which the query around them can ask: `SELECT max FROM (SELECT max(x) FROM t) s`.
struct InnerNames;

impl VisitorMut for InnerNames {
    type Break = ();

    fn pre_visit_table_factor(&mut self, factor: &mut TableFactor) -> ControlFlow<()> {
        if let TableFactor::Derived { subquery, alias, .. } = factor
            && alias.as_ref().is_none_or(|alias| alias.columns.is_empty())
        {
            name_inner(&mut subquery.body);
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_query(&mut self, query: &mut Query) -> ControlFlow<()> {
        for cte in query.with.iter_mut().flat_map(|with| &mut with.cte_tables).filter(|cte| cte.alias.columns.is_empty()) {
            name_inner(&mut cte.query.body);
        }
        ControlFlow::Continue(())
    }
}

fn name_inner(body: &mut SetExpr) {
    let Some(select) = outermost(body) else { return };
    let starred = select.projection.iter().any(|item| matches!(item, SelectItem::Wildcard(_) | SelectItem::QualifiedWildcard(..)));
    if starred {
        return;
    }
    let mut taken: HashSet<String> = select.projection.iter().filter_map(given_name).collect();
    for item in &mut select.projection {
        if let SelectItem::UnnamedExpr(expr) = item
            && !is_column(expr)
            && let Some(name) = figured(expr)
            && taken.insert(name.clone())
        {
            *item = SelectItem::ExprWithAlias { expr: expr.clone(), alias: Ident::with_quote('"', name) };
        }
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

fn is_column(expr: &Expr) -> bool {
    matches!(expr, Expr::Identifier(_) | Expr::CompoundIdentifier(_))
}

/// The same words for the same column, however it was typed.
fn meant(expr: &Expr) -> Vec<String> {
    match expr {
        Expr::Identifier(name) => vec![folded(name)],
        Expr::CompoundIdentifier(parts) => parts.iter().map(folded).collect(),
        other => vec![other.to_string()],
    }
}

fn folded(ident: &Ident) -> String {
    if ident.quote_style.is_some() { ident.value.clone() } else { ident.value.to_lowercase() }
}

/// The rules of Postgres, as far as its users notice them.
fn figured(expr: &Expr) -> Option<String> {
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
    fn a_question_is_called_as_its_column() {
        let (text, shown) = names("SELECT (SELECT name FROM t), (SELECT max(x) FROM t), (SELECT 1 AS one), (SELECT 1)");
        assert!(["\"name\"", "\"max\"", "\"one\""].iter().all(|name| text.contains(name)), "{text}");
        assert_eq!(shown, [("__weir_column_3".into(), "?column?".into())]);
    }
}
