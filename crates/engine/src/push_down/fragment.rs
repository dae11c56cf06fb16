// SPDX-License-Identifier: Apache-2.0
//! A fragment: the statement for one table of one source, with what it pushes and what it leaves here.

use super::block::Block;
use super::bound::{bounded_columns, prefixed_columns};
use super::remedy::usual;
use super::terms::{Scope, table_terms};
use super::words::in_words;
use super::{Condition, condition};
use arrow::datatypes::DataType;
use datafusion::common::DFSchema;
use datafusion::logical_expr::Expr;
use std::hash::{DefaultHasher, Hash, Hasher};
use weir_api::{Kept, PushDown};
use weir_base::{ColumnName, Error, ErrorCode, TableName};
use weir_source::{Column, Dialect, OutputColumn, Reason, Source, SourceTable, Term};

/// What the planner would like from one table.
pub(crate) struct FragmentRequest<'a> {
    pub name: &'a TableName,
    pub table: &'a SourceTable,
    /// Texts of columns; their indexes come after those of the table's columns.
    pub texts: &'a [TextOf],
    pub source: &'a dyn Source,
    /// What the filters' columns refer to: those of the table, then the texts.
    pub schema: &'a DFSchema,
    /// Indexes of the columns that are needed, in order.
    pub projection: &'a [usize],
    pub filters: &'a [Expr],
    pub limit: Option<usize>,
    pub mode: PushDown,
}

impl FragmentRequest<'_> {
    fn scope<'a>(&'a self, terms: &'a [Term]) -> Scope<'a> {
        Scope { source: self.source, schema: self.schema, terms }
    }
}

/// A column that is read as the text which its source prints for it, under a name of its own.
#[derive(Debug, Clone)]
pub(crate) struct TextOf {
    pub column: usize,
    pub name: String,
}

/// A column of the statement: one of the table, or the text of one.
struct Needed<'a> {
    column: &'a Column,
    text: Option<&'a str>,
}

/// A statement ready to be sent, and the words for it.
#[derive(Debug, Clone)]
pub(crate) struct Fragment {
    pub tables: Vec<TableUse>,
    pub sql: String,
    pub outputs: Vec<OutputColumn>,
    pub pushed: Vec<String>,
    pub kept: Vec<Kept>,
    pub limit: Option<usize>,
    /// What more conditions can be added to; `None` where they would change the answer.
    pub open: Option<Open>,
}

/// A statement that takes conditions on its outputs.
#[derive(Debug, Clone)]
pub(crate) enum Open {
    Table { has_conditions: bool, terms: Vec<Term> },
    Block(Box<Block>),
}

impl Fragment {
    /// The terms of the outputs, where more may be asked of them.
    pub fn open_terms(&self) -> Option<Vec<Term>> {
        match self.open.as_ref()? {
            Open::Table { terms, .. } => Some(terms.clone()),
            Open::Block(block) => Some(block.early_terms()),
        }
    }

    /// The text with more conditions.
    pub fn narrowed(&self, conditions: &[&str]) -> weir_base::Result<String> {
        match &self.open {
            Some(Open::Table { has_conditions, .. }) if !conditions.is_empty() => {
                let word = if *has_conditions { "AND" } else { "WHERE" };
                Ok(format!("{} {word} {}", self.sql, conditions.join(" AND ")))
            }
            Some(Open::Block(block)) => {
                let mut block = block.as_ref().clone();
                conditions.iter().for_each(|condition| block.filter_early((*condition).to_owned()));
                Ok(block.fragment()?.sql)
            }
            _ => Ok(self.sql.clone()),
        }
    }
}

/// A table that a statement reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableUse {
    pub name: TableName,
    /// Columns that the statement compares with constants.
    pub bounded: Vec<String>,
    /// Columns of which it says what their texts begin with.
    pub prefixed: Vec<String>,
}

/// Writes the statement. Error: a column that cannot be read is asked for.
pub(crate) fn cut(request: &FragmentRequest<'_>) -> weir_base::Result<Fragment> {
    let columns = needed_columns(request)?;
    let mut pushed = Vec::new();
    let mut kept = Vec::new();
    let conditions = write_conditions(request, &mut pushed, &mut kept);
    let (bounded, prefixed) = (bounded(request, bounded_columns), bounded(request, prefixed_columns));
    // Beyond that a source cannot count, and neither does anybody.
    let countable = |limit: &usize| i64::try_from(*limit).is_ok();
    let limit = request.limit.filter(|limit| kept.is_empty() && request.mode == PushDown::On && countable(limit));
    if columns.len() < request.table.columns.len() {
        pushed.push(format!("{} of {} columns", columns.len(), request.table.columns.len()));
    }
    match (limit, request.limit) {
        (Some(limit), _) => pushed.push(format!("limit {limit}")),
        (None, Some(limit)) => {
            let switched = may_push(PushDown::Off, "").err().filter(|_| request.mode != PushDown::On);
            kept.push(as_kept(format!("limit {limit}"), switched.unwrap_or_else(checked_first)));
        }
        (None, None) => {}
    }
    Ok(Fragment {
        tables: vec![TableUse { name: request.name.clone(), bounded, prefixed }],
        sql: select(request, &columns, &conditions, limit),
        outputs: outputs(request, &columns),
        pushed,
        kept,
        open: (limit.is_none() && request.mode != PushDown::Off)
            .then(|| Open::Table { has_conditions: !conditions.is_empty(), terms: read_terms(request, &columns) }),
        limit,
    })
}

/// The filters that the source does not do, or not exactly.
pub(crate) fn kept_here(request: &FragmentRequest<'_>) -> Vec<Expr> {
    let terms = table_terms(request.table, request.source, None);
    let exact = |filter: &Expr| {
        let what = format!("filter {}", in_words(filter));
        matches!(allowed(request.mode, &what, condition(filter, request.scope(&terms))), Condition::Exact(_))
    };
    request.filters.iter().filter(|filter| !exact(filter)).cloned().collect()
}

fn needed_columns<'a>(request: &FragmentRequest<'a>) -> weir_base::Result<Vec<Needed<'a>>> {
    let own = &request.table.columns;
    let needed = |index: &usize| match own.get(*index) {
        Some(column) => Needed { column, text: None },
        None => {
            let text = &request.texts[*index - own.len()];
            Needed { column: &own[text.column], text: Some(&text.name) }
        }
    };
    let columns: Vec<Needed<'_>> = request.projection.iter().map(needed).collect();
    match columns.iter().map(|needed| needed.column).find_map(|column| column.degraded.as_ref().map(|why| (column, why))) {
        None => Ok(columns),
        Some((column, why)) => Err(Error::new(ErrorCode::Unsupported, format!("column {} cannot be read", label(request.name, column)))
            .with_detail(why.clone())
            .with_hint("the other columns of the table can; system.tables lists such columns")),
    }
}

fn write_conditions(request: &FragmentRequest<'_>, pushed: &mut Vec<String>, kept: &mut Vec<Kept>) -> Vec<String> {
    let terms = table_terms(request.table, request.source, None);
    let mut conditions = Vec::new();
    for filter in request.filters {
        let what = format!("filter {}", in_words(filter));
        match allowed(request.mode, &what, condition(filter, request.scope(&terms))) {
            Condition::Exact(sent) => {
                conditions.push(sent.sql);
                pushed.push(what);
            }
            Condition::Superset(sent, reason) => {
                conditions.push(sent.sql);
                pushed.push(format!("{what} (at least; checked again here)"));
                kept.push(as_kept(what, reason));
            }
            Condition::Kept(reason) => kept.push(as_kept(what, reason)),
        }
    }
    conditions
}

fn bounded(request: &FragmentRequest<'_>, columns: fn(&Expr, Scope<'_>) -> Vec<String>) -> Vec<String> {
    if request.mode != PushDown::On {
        return Vec::new();
    }
    let terms = table_terms(request.table, request.source, None);
    request.filters.iter().flat_map(|filter| columns(filter, request.scope(&terms))).collect()
}

fn allowed(mode: PushDown, what: &str, condition: Condition) -> Condition {
    match may_push(mode, what) {
        Ok(()) => condition,
        Err(switched_off) => Condition::Kept(switched_off),
    }
}

/// `weir.pushdown` off keeps everything here; random keeps what its coin says.
pub(crate) fn may_push(mode: PushDown, what: &str) -> Result<(), Reason> {
    let allowed = match mode {
        PushDown::On => true,
        PushDown::Off => false,
        PushDown::Random(seed) => {
            let mut hasher = DefaultHasher::new();
            (seed, what).hash(&mut hasher);
            hasher.finish().is_multiple_of(2)
        }
    };
    if allowed { Ok(()) } else { Err(Reason::new("switched_off", "weir.pushdown says to keep it here")) }
}

fn checked_first() -> Reason {
    Reason::new("local_input", "its rows are checked here first")
}

pub(crate) fn as_kept(what: String, reason: Reason) -> Kept {
    let remedy = reason.remedy.or_else(|| usual(reason.code).map(str::to_owned));
    Kept { what, code: reason.code.to_owned(), reason: reason.text, remedy }
}

fn select(request: &FragmentRequest<'_>, columns: &[Needed<'_>], conditions: &[String], limit: Option<usize>) -> String {
    let dialect = request.source.dialect();
    let list: Vec<String> = columns.iter().map(|needed| read_expression(dialect, needed)).collect();
    // A count needs rows but no columns; a constant is the cheapest row there is.
    let list = if list.is_empty() { "1".to_owned() } else { list.join(", ") };
    let mut sql = format!("SELECT {list} FROM {}", dialect.table(&request.table.schema, &request.table.name));
    if !conditions.is_empty() {
        sql.push_str(" WHERE ");
        sql.push_str(&conditions.join(" AND "));
    }
    if let Some(limit) = limit {
        sql.push_str(&dialect.limit(limit as u64));
    }
    sql
}

fn read_expression(dialect: &dyn Dialect, needed: &Needed<'_>) -> String {
    let quoted = dialect.quote(&needed.column.name);
    match (needed.text, needed.column.read_as) {
        (Some(name), _) => format!("{} AS {}", dialect.as_text(&quoted), dialect.quote(name)),
        (None, Some(pattern)) => format!("{} AS {quoted}", pattern.replace("{}", &quoted)),
        (None, None) => quoted,
    }
}

fn read_terms(request: &FragmentRequest<'_>, columns: &[Needed<'_>]) -> Vec<Term> {
    let dialect = request.source.dialect();
    let term = |needed: &Needed<'_>| match needed.text {
        Some(_) => Term::computed(dialect.as_text(&dialect.quote(&needed.column.name)), "", DataType::Utf8, false),
        None => Term { sql: dialect.quote(&needed.column.name), meaning: needed.column.clone(), total: true, constant: false },
    };
    columns.iter().map(term).collect()
}

fn outputs(request: &FragmentRequest<'_>, columns: &[Needed<'_>]) -> Vec<OutputColumn> {
    if columns.is_empty() {
        let one = OutputColumn { name: "one".into(), data_type: DataType::Int32, label: format!("{} (count)", request.name) };
        return vec![one];
    }
    let output = |needed: &Needed<'_>| {
        let (name, data_type) = match needed.text {
            Some(name) => (name.to_owned(), DataType::Utf8),
            None => (needed.column.name.clone(), needed.column.data_type.clone()),
        };
        OutputColumn { name, data_type, label: label(request.name, needed.column) }
    };
    columns.iter().map(output).collect()
}

pub(crate) fn label(table: &TableName, column: &Column) -> String {
    ColumnName { table: table.clone(), column: column.name.clone() }.to_string()
}
