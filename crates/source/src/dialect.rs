// SPDX-License-Identifier: Apache-2.0
//! How SQL is written for one kind of source: names, literals and the row limit. The engine writes the rest, which is the same everywhere.

use crate::Column;
use crate::capability::Operand;
use arrow::datatypes::DataType;
use weir_base::Result;

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

    /// The expression whose ordering is by bytes, for `<` and its sisters on texts, when the source can say so:
    /// `"name" COLLATE "C"`. `None` when it cannot.
    fn bytewise(&self, quoted: &str) -> Option<String>;
}
