// SPDX-License-Identifier: Apache-2.0
//! How SQL is written for one kind of source: names, literals and the row limit. The engine writes the rest, which is the same everywhere.

use crate::capability::{Operand, Pattern};
use crate::{Column, Term};
use arrow::datatypes::DataType;
use weir_base::Result;

/// How many keys of a join one statement may hold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KeysMax {
    /// In one list; more stand in several lists beside each other.
    pub list: usize,
    /// All of them, as text.
    pub text_bytes: usize,
    /// What one of them costs, to be read by the source and looked for in its table: as much as reading so many more rows. A list is
    /// sent when it spares more than it costs.
    pub rows_a_key: f64,
    /// The same for a key that is a bit in a set (`in_bits`).
    pub rows_a_bit: f64,
}

/// The writing rules of one kind of source.
pub trait Dialect: Send + Sync + std::fmt::Debug {
    /// A name in the source's quotes, exact: `"My""Table"`, `` `My``Table` ``.
    fn quote(&self, name: &str) -> String;

    /// `schema.table` in quotes; a source without schemas leaves the schema out.
    fn table(&self, schema: &str, table: &str) -> String {
        format!("{}.{}", self.quote(schema), self.quote(table))
    }

    /// A literal of the given Arrow type, typed so that the source neither guesses nor converts the column to meet it:
    /// `DATE '2026-11-30'`, `12.50`, `'it''s'`. Error: 22P02 for a value that the source cannot spell (a NUL in a text).
    fn literal(&self, value: Operand<'_>, data_type: &DataType) -> Result<String>;

    /// A literal to be compared with `column`: as `literal`, except where the source needs its own type rather than the
    /// Arrow one, such as `'…'::uuid` for a uuid column that is read as text.
    fn literal_for(&self, value: Operand<'_>, column: &Column) -> Result<String> {
        self.literal(value, &column.data_type)
    }

    /// A column, given in quotes, as the text that the source prints for it.
    fn as_text(&self, quoted: &str) -> String {
        format!("CAST({quoted} AS VARCHAR)")
    }

    /// What stands at the end of a SELECT to stop after `rows`.
    fn limit(&self, rows: u64) -> String {
        format!(" LIMIT {rows}")
    }

    /// Whether a condition is a value of a type of its own, which can be selected and aggregated.
    fn has_booleans(&self) -> bool {
        false
    }

    /// A branch of a CASE, so that what it is does not depend on the types of the others.
    fn branch(&self, term: &Term) -> String {
        term.sql.clone()
    }

    /// A CASE, so that it has the type of its branches, which is this one here.
    fn chosen(&self, case: String, data_type: &DataType) -> String {
        let _ = data_type;
        case
    }

    /// How many keys of a join go into one list, and how long the text of all may be. Servers refuse or choke on more.
    fn keys_max(&self) -> KeysMax {
        KeysMax { list: 10_000, text_bytes: 512 * 1024, rows_a_key: 2.0, rows_a_bit: 2.0 }
    }

    /// Whether HAVING knows whatever a group is made by, so that a condition on groups needs no table derived from them.
    fn has_having(&self) -> bool {
        true
    }

    /// The values as one array to be compared with `column`, which a source takes more easily than a long list: `'{1,2,3}'::int8[]`.
    /// `None` where there is no such thing.
    fn array(&self, values: &[Operand<'_>], column: &Column) -> Option<String> {
        let _ = (values, column);
        None
    }

    /// A condition for the whole numbers of which a set has the bits: that of `low` is the lowest of the first byte of `set`, and
    /// `high` has the last one. It looks at each row, and is far cheaper than a long list there. `None` where there is no such thing.
    fn in_bits(&self, term: &Term, low: i64, high: i64, set: &[u8]) -> Option<String> {
        let _ = (term, low, high, set);
        None
    }

    /// An element of ORDER BY that sorts as we do, with NULLs where they are asked for.
    fn order(&self, term: &Term, descending: bool, nulls_first: bool) -> String {
        let direction = if descending { " DESC" } else { "" };
        let nulls = if nulls_first { "FIRST" } else { "LAST" };
        format!("{}{direction} NULLS {nulls}", self.ordered(term))
    }

    /// What stands in our order: texts by their bytes.
    fn ordered(&self, term: &Term) -> String {
        let text = matches!(term.meaning.data_type, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
        let bytewise = if text { self.bytewise(&term.sql) } else { None };
        bytewise.unwrap_or_else(|| term.sql.clone())
    }

    /// What falls into the groups that we would make.
    fn grouped(&self, term: &Term) -> String {
        term.sql.clone()
    }

    /// `term sign literal`; `sign` is one of `=`, `<>`, `<`, `<=`, `>`, `>=`.
    fn compare(&self, term: &Term, sign: &str, literal: &str) -> Comparison {
        let side = if matches!(sign, "=" | "<>") { term.sql.clone() } else { self.ordered(term) };
        Comparison::whole(format!("{side} {sign} {literal}"))
    }

    /// `term IN (literals)`, or NOT IN.
    fn compare_list(&self, term: &Term, negated: bool, literals: &[String]) -> Comparison {
        let word = if negated { "NOT IN" } else { "IN" };
        Comparison::whole(format!("{} {word} ({})", term.sql, literals.join(", ")))
    }

    /// `term IS NULL`, or IS NOT NULL.
    fn null_test(&self, term: &Term, wants_null: bool) -> String {
        format!("{} {}", term.sql, if wants_null { "IS NULL" } else { "IS NOT NULL" })
    }

    /// `left = right`. `None` when the two cannot be compared there: texts of different collations.
    fn same(&self, left: &Term, right: &Term) -> Option<Comparison> {
        let right = if left.meaning.collation == right.meaning.collation { right.sql.clone() } else { self.bytewise(&right.sql)? };
        Some(Comparison::whole(format!("{} = {right}", left.sql)))
    }

    /// `left = right`, or both are NULL. `None` as for `same`.
    fn same_or_missing(&self, left: &Term, right: &Term) -> Option<Comparison> {
        let same = self.same(left, right)?.sql;
        Some(Comparison::whole(format!("({same} OR ({} AND {}))", self.null_test(left, true), self.null_test(right, true))))
    }

    /// Whether the source looks for the partners of a row under `same_or_missing` without comparing each row with each other.
    fn hashes_missing(&self) -> bool {
        false
    }

    /// Whether GROUP BY has ROLLUP, CUBE and GROUPING SETS with the meaning that they have here, and a function GROUPING of all keys.
    fn has_grouping_sets(&self) -> bool {
        false
    }

    /// Behind a derived table that is planned by itself, not as a part of the statement around it. Asked of sources with grouping sets.
    fn planned_apart(&self) -> &'static str {
        ""
    }

    /// Whether tables can be joined fully on equalities.
    fn joins_fully(&self) -> bool {
        false
    }

    /// A NULL of the type, where the source needs to be told which. `None` where it has no such type.
    fn missing(&self, data_type: &DataType) -> Option<String> {
        let _ = data_type;
        None
    }

    /// `term LIKE pattern`; the text of the pattern is given as it is, the escape character too. Error: as for literals.
    fn like(&self, term: &Term, pattern: Pattern<'_>) -> Result<String> {
        let text = self.literal(Operand::Text(pattern.text), &DataType::Utf8)?;
        let escape = self.literal(Operand::Text(pattern.escape.encode_utf8(&mut [0; 4])), &DataType::Utf8)?;
        Ok(format!("{} LIKE {text} ESCAPE {escape}", term.sql))
    }

    /// The expression whose ordering is by bytes, for `<` and its sisters on texts, when the source can say so:
    /// `"name" COLLATE "C"`. `None` when it cannot.
    fn bytewise(&self, quoted: &str) -> Option<String>;
}

/// A comparison as a source's SQL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comparison {
    pub sql: String,
    /// Whether it is also false and unknown where ours is, so that its opposite is ours. Else it is only true where ours is.
    pub negatable: bool,
}

impl Comparison {
    /// True, false and unknown as here.
    pub fn whole(sql: impl Into<String>) -> Self {
        Self { sql: sql.into(), negatable: true }
    }

    /// True as here.
    pub fn only_true(sql: impl Into<String>) -> Self {
        Self { sql: sql.into(), negatable: false }
    }
}
