// SPDX-License-Identifier: Apache-2.0
//! How SQL is written for one kind of source: names, literals and the row limit. The engine writes the rest, which is the same everywhere.

use crate::Column;
use crate::capability::{Operand, Pattern};
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

    /// Whether a condition is a value of a type of its own, which can be selected and aggregated.
    fn has_booleans(&self) -> bool {
        false
    }

    /// The values as one array to be compared with `column`, which a source takes more easily than a long list: `'{1,2,3}'::int8[]`.
    /// `None` where there is no such thing.
    fn array(&self, values: &[Operand<'_>], column: &Column) -> Option<String> {
        let _ = (values, column);
        None
    }

    /// An element of ORDER BY, with NULLs where they are asked for.
    fn order(&self, expression: &str, descending: bool, nulls_first: bool) -> String {
        let direction = if descending { " DESC" } else { "" };
        let nulls = if nulls_first { "FIRST" } else { "LAST" };
        format!("{expression}{direction} NULLS {nulls}")
    }

    /// `expression LIKE pattern`; the text of the pattern is given as it is, the escape character too. Error: as for literals.
    fn like(&self, expression: &str, pattern: Pattern<'_>) -> Result<String> {
        let text = self.literal(Operand::Text(pattern.text), &DataType::Utf8)?;
        let escape = self.literal(Operand::Text(pattern.escape.encode_utf8(&mut [0; 4])), &DataType::Utf8)?;
        Ok(format!("{expression} LIKE {text} ESCAPE {escape}"))
    }

    /// The expression whose ordering is by bytes, for `<` and its sisters on texts, when the source can say so:
    /// `"name" COLLATE "C"`. `None` when it cannot.
    fn bytewise(&self, quoted: &str) -> Option<String>;
}
