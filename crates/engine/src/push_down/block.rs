// SPDX-License-Identifier: Apache-2.0
//! A SELECT under construction: the part of a plan that one source answers with one statement.

use super::fragment::{Fragment, Open, TableUse};
use super::terms::Scope;
use crate::discovery::SourceHandle;
use crate::sizes::Size;
use arrow::datatypes::DataType;
use datafusion::common::DFSchemaRef;
use std::sync::Arc;
use weir_api::Kept;
use weir_base::{Error, ErrorCode, Result};
use weir_source::{OutputColumn, Source, Term};

/// One column of what the block returns.
#[derive(Debug, Clone)]
pub(crate) struct Output {
    pub term: Term,
    /// What it is called in errors.
    pub label: String,
}

/// Clauses in the order in which SQL applies them; a step that comes too late for its clause wraps what is there.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub handle: Arc<SourceHandle>,
    /// What the outputs are called in the plan.
    pub schema: DFSchemaRef,
    pub outputs: Vec<Output>,
    from: String,
    /// Whether `from` is one table, and the outputs are columns of it.
    bare: bool,
    /// Whether `from` is more than one table.
    joined: bool,
    /// What `from` is derived from, and its columns: where nothing more is asked, it is the statement.
    whole: Option<(String, usize)>,
    conditions: Vec<String>,
    grouping: Option<Vec<String>>,
    /// The outputs that are keys of the groups, as their text.
    keys: Vec<String>,
    having: Vec<String>,
    order: Vec<String>,
    limit: Option<usize>,
    /// Texts that together tell all rows apart, as far as the source's catalog knew.
    pub unique: Vec<Vec<String>>,
    /// Whether there is never more than one row, whatever the source holds.
    pub one_row: bool,
    pub tables: Vec<TableUse>,
    pub pushed: Vec<String>,
    pub kept: Vec<Kept>,
    /// A guess.
    pub rows: Option<f64>,
    /// What the part of the plan that it answers is taken to give, once that is known.
    pub size: Option<Size>,
}

impl Block {
    /// All of one table.
    pub fn of_table(handle: Arc<SourceHandle>, schema: DFSchemaRef, outputs: Vec<Output>, from: String, table: TableUse, rows: Option<f64>) -> Self {
        Self {
            handle,
            schema,
            outputs,
            from,
            bare: true,
            joined: false,
            whole: None,
            conditions: Vec::new(),
            grouping: None,
            keys: Vec::new(),
            having: Vec::new(),
            order: Vec::new(),
            limit: None,
            unique: Vec::new(),
            one_row: false,
            tables: vec![table],
            pushed: Vec::new(),
            kept: Vec::new(),
            rows,
            size: None,
        }
    }

    /// All rows of several blocks of one source, one after the other. `columns` has the terms of each arm, alike from arm to arm; the
    /// outputs get the labels of the first.
    pub fn of_arms(arms: Vec<Self>, columns: &[Vec<Term>], schema: DFSchemaRef, alias: &str) -> Option<Self> {
        let select = |(arm, terms): (&Self, &Vec<Term>)| {
            let named = |(index, term): (usize, &Term)| format!("{} AS c{}", term.sql, index + 1);
            arm.select(&terms.iter().enumerate().map(named).collect::<Vec<_>>())
        };
        let text = arms.iter().zip(columns).map(select).collect::<Vec<_>>().join(" UNION ALL ");
        let rows = arms.iter().map(|arm| arm.rows).try_fold(0.0, |sum, rows| Some(sum + rows?));
        let mut rest = arms.into_iter();
        let mut whole = rest.next()?;
        rest.for_each(|arm| whole.takes_over(arm));
        let output = |(index, (term, output)): (usize, (&Term, &Output))| {
            let term = Term { sql: format!("{alias}.c{}", index + 1), meaning: term.meaning.clone(), total: true, constant: false };
            Output { term, label: output.label.clone() }
        };
        let outputs = columns.first()?.iter().zip(&whole.outputs).enumerate().map(output).collect();
        let from = format!("({text}) AS {alias}");
        let width = columns.first()?.len();
        Some(Self { schema, outputs, rows, size: None, one_row: false, unique: Vec::new(), whole: Some((text, width)), ..whole.over(from) })
    }

    /// The block with nothing asked of what it comes from now.
    fn over(self, from: String) -> Self {
        Self {
            from,
            bare: false,
            joined: false,
            whole: None,
            conditions: Vec::new(),
            grouping: None,
            keys: Vec::new(),
            having: Vec::new(),
            order: Vec::new(),
            limit: None,
            ..self
        }
    }

    pub fn source(&self) -> &dyn Source {
        self.handle.source.as_ref()
    }

    /// The terms of the outputs, for expressions over them.
    pub fn terms(&self) -> Vec<Term> {
        self.outputs.iter().map(|output| output.term.clone()).collect()
    }

    pub fn scope<'a>(&'a self, terms: &'a [Term]) -> Scope<'a> {
        Scope { source: self.source(), schema: &self.schema, terms }
    }

    /// FROM and WHERE, and nothing behind them.
    pub fn is_flat(&self) -> bool {
        self.grouping.is_none() && self.limit.is_none()
    }

    /// One table, whole.
    pub fn is_bare_table(&self) -> bool {
        self.bare && self.conditions.is_empty() && self.is_flat()
    }

    pub fn is_joined(&self) -> bool {
        self.joined
    }

    /// Whether the rows come in an order, of which the first ones are taken.
    pub fn is_ordered(&self) -> bool {
        !self.order.is_empty()
    }

    pub fn limit(&self) -> Option<usize> {
        self.limit
    }

    pub fn from(&self) -> &str {
        &self.from
    }

    pub fn conditions(&self) -> &[String] {
        &self.conditions
    }

    /// Keeps the rows for which the condition is true.
    pub fn filter(&mut self, sql: String) {
        if self.grouping.is_some() {
            self.having.push(sql)
        } else {
            self.conditions.push(sql)
        }
        self.bare = false;
    }

    /// The outputs as far as rows can be left out by them before all else: those of groups are not there yet.
    pub fn early_terms(&self) -> Vec<Term> {
        let early = |term: &Term| self.grouping.is_none() || self.keys.contains(&term.sql);
        self.terms().into_iter().map(|term| Term { total: term.total && early(&term), ..term }).collect()
    }

    /// Leaves out the rows for which a condition on early terms is not true.
    pub fn filter_early(&mut self, sql: String) {
        self.conditions.push(sql);
        self.bare = false;
    }

    /// Groups the rows; the block must be flat. The outputs are computed for every group, whatever is asked of it later.
    /// `width` of them are keys.
    pub fn group(&mut self, keys: Vec<String>, mut outputs: Vec<Output>, width: usize) {
        outputs.iter_mut().for_each(|output| output.term.total = true);
        self.keys = outputs.iter().take(width).filter(|output| !output.term.constant).map(|output| output.term.sql.clone()).collect();
        self.one_row = keys.is_empty() || self.one_row;
        self.unique = if self.keys.is_empty() { Vec::new() } else { vec![self.keys.clone()] };
        self.outputs = outputs;
        self.grouping = Some(keys);
        self.bare = false;
    }

    /// Sorts, and stops after so many rows.
    pub fn stop(&mut self, order: Vec<String>, rows: usize) {
        self.order = order;
        self.limit = Some(self.limit.map_or(rows, |limit| limit.min(rows)));
        self.one_row |= rows <= 1;
        self.rows = Some(self.rows.map_or(rows as f64, |known| known.min(rows as f64)));
        self.bare = false;
    }

    /// The same rows with other columns. `computed` when not all of them are columns of before.
    pub fn with_outputs(self, schema: DFSchemaRef, outputs: Vec<Output>, computed: bool) -> Self {
        Self { schema, outputs, bare: self.bare && !computed, ..self }
    }

    /// The same columns under other names.
    pub fn renamed(self, schema: DFSchemaRef) -> Self {
        Self { schema, ..self }
    }

    /// Takes over what another block has told of itself.
    pub fn takes_over(&mut self, other: Self) {
        self.tables.extend(other.tables);
        self.pushed.extend(other.pushed);
        self.kept.extend(other.kept);
    }

    /// What the rows come from now: a join of several.
    pub fn join_into(&mut self, from: String, conditions: Vec<String>) {
        self.from = from;
        self.joined = true;
        self.whole = None;
        self.conditions = conditions;
        self.bare = false;
    }

    /// The same rows as a derived table under an alias, with plain columns. Columns get names of their own: two may be called the same.
    pub fn wrap(self, alias: &str) -> Self {
        self.derived(alias, "")
    }

    /// As `wrap`; the source does not take the derived table for a part of what is asked of it.
    pub fn apart(self, alias: &str) -> Self {
        let behind = self.source().dialect().planned_apart();
        self.derived(alias, behind)
    }

    fn derived(self, alias: &str, behind: &str) -> Self {
        let columns: Vec<String> = (1..=self.outputs.len()).map(|number| format!("c{number}")).collect();
        let list: Vec<String> = self.outputs.iter().zip(&columns).map(|(output, column)| format!("{} AS {column}", output.term.sql)).collect();
        let inner = self.select(&list);
        let output = |(output, column): (&Output, &String)| {
            let term = Term { sql: format!("{alias}.{column}"), meaning: output.term.meaning.clone(), total: true, constant: false };
            Output { term, label: output.label.clone() }
        };
        let outputs = self.outputs.iter().zip(&columns).map(output).collect();
        let place = |sql: &String| self.outputs.iter().position(|output| output.term.sql == *sql).map(|index| format!("{alias}.{}", columns[index]));
        let unique = self.unique.iter().filter_map(|key| key.iter().map(place).collect()).collect();
        Self { outputs, unique, ..self.over(format!("({inner}{behind}) AS {alias}")) }
    }

    /// The same rows as a table derived from them, of which nothing is asked yet: until then the statement needs none.
    pub fn settled(self, alias: &str) -> Self {
        let named: Vec<String> = self.outputs.iter().enumerate().map(|(index, output)| format!("{} AS c{}", output.term.sql, index + 1)).collect();
        let whole = (self.select(&named), named.len());
        Self { whole: Some(whole), ..self.wrap(alias) }
    }

    fn select(&self, list: &[String]) -> String {
        let list = if list.is_empty() { "1".to_owned() } else { list.join(", ") };
        let mut sql = format!("SELECT {list} FROM {}", self.from);
        if !self.conditions.is_empty() {
            sql.push_str(&format!(" WHERE {}", self.conditions.join(" AND ")));
        }
        if let Some(keys) = self.grouping.as_ref().filter(|keys| !keys.is_empty()) {
            sql.push_str(&format!(" GROUP BY {}", keys.join(", ")));
        }
        if !self.having.is_empty() {
            sql.push_str(&format!(" HAVING {}", self.having.join(" AND ")));
        }
        if !self.order.is_empty() {
            sql.push_str(&format!(" ORDER BY {}", self.order.join(", ")));
        }
        if let Some(limit) = self.limit {
            sql.push_str(&self.source().dialect().limit(limit as u64));
        }
        sql
    }

    /// What the rows are derived from, where nothing but how many there are is asked of them.
    fn alone(&self) -> Option<String> {
        let (text, width) = self.whole.as_ref().filter(|_| self.conditions.is_empty() && self.grouping.is_none() && self.order.is_empty())?;
        let place = |index: usize, sql: &str| sql.split_once('.').is_some_and(|(_, column)| column == format!("c{}", index + 1));
        let same = self.outputs.iter().enumerate().all(|(index, output)| output.term.meaning.read_as.is_none() && place(index, &output.term.sql));
        let whole = same && !self.outputs.is_empty() && *width == self.outputs.len();
        whole.then(|| format!("{text}{}", self.limit.map(|limit| self.source().dialect().limit(limit as u64)).unwrap_or_default()))
    }

    /// The statement. Error: a column that cannot be read.
    pub fn fragment(&self) -> Result<Fragment> {
        if let Some((output, why)) = self.outputs.iter().find_map(|output| Some((output, output.term.meaning.degraded.as_ref()?))) {
            return Err(Error::new(ErrorCode::Unsupported, format!("column {} cannot be read", output.label))
                .with_detail(why.clone())
                .with_hint("the other columns of the table can; system.tables lists such columns"));
        }
        let dialect = self.source().dialect();
        // A name given here would hide a column of that name from ORDER BY and its like.
        let clauses: Vec<&String> = self.order.iter().chain(self.grouping.iter().flatten()).chain(&self.having).collect();
        let hides = |name: &str| clauses.iter().any(|sql| sql.contains(&dialect.quote(name)));
        let shown = |(output, field): (&Output, &arrow::datatypes::FieldRef)| {
            let term = &output.term;
            match term.meaning.read_as {
                Some(pattern) => format!("{} AS {}", pattern.replace("{}", &term.sql), dialect.quote(field.name())),
                None if speaking(field.name()) && !hides(field.name()) && !term.sql.ends_with(&dialect.quote(field.name())) => {
                    format!("{} AS {}", term.sql, dialect.quote(field.name()))
                }
                None => term.sql.clone(),
            }
        };
        let list: Vec<String> = self.outputs.iter().zip(self.schema.fields()).map(shown).collect();
        Ok(Fragment {
            tables: self.tables.clone(),
            sql: self.alone().unwrap_or_else(|| self.select(&list)),
            outputs: self.output_columns(),
            pushed: self.pushed.clone(),
            kept: self.kept.clone(),
            limit: self.limit,
            open: self.limit.is_none().then(|| Open::Block(Box::new(self.clone()))),
        })
    }

    fn output_columns(&self) -> Vec<OutputColumn> {
        if self.outputs.is_empty() {
            return vec![OutputColumn { name: "one".into(), data_type: DataType::Int32, label: "count".into() }];
        }
        let fields = self.outputs.iter().zip(self.schema.fields());
        let column = |(output, field): (&Output, &arrow::datatypes::FieldRef)| OutputColumn {
            name: field.name().clone(),
            data_type: output.term.meaning.data_type.clone(),
            label: output.label.clone(),
        };
        fields.map(column).collect()
    }
}

/// Whether a name says something to people; columns are taken by their place.
fn speaking(name: &str) -> bool {
    const NAME_BYTES_MAX: usize = 60;
    name.len() <= NAME_BYTES_MAX && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
