// SPDX-License-Identifier: Apache-2.0
//! Tables for people, as psql prints them: aligned columns, or one record per block.

use crate::output::rows::cells;
use crate::output::{Destination, Sink, Style, write_failed};
use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, SchemaRef};
use std::io::Write;
use unicode_width::UnicodeWidthStr;
use weir_base::Result;
use weir_server::values::text;

/// Rows that decide how wide columns are. Later rows that are wider stick out, since nothing is held back for them.
const MEASURED_ROWS_MAX: usize = 1_000;

/// The two ways of psql.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    Aligned,
    /// `\x`
    Expanded,
}

struct Column {
    name: String,
    right: bool,
    width: usize,
}

pub(crate) struct Table<'a> {
    style: Style,
    out: &'a mut Destination,
    columns: Vec<Column>,
    /// Rows that wait until enough are seen to decide on widths.
    held: Vec<Vec<String>>,
    measured: bool,
    rows: u64,
}

impl<'a> Table<'a> {
    pub(crate) fn new(style: Style, out: &'a mut Destination) -> Self {
        Self { style, out, columns: Vec::new(), held: Vec::new(), measured: false, rows: 0 }
    }

    fn take(&mut self, row: Vec<String>) -> Result<()> {
        self.rows += 1;
        if self.style.layout == Layout::Expanded {
            return self.print_record(&row);
        }
        if self.measured {
            return self.print_row(&row);
        }
        self.held.push(row);
        if self.held.len() >= MEASURED_ROWS_MAX { self.measure() } else { Ok(()) }
    }

    fn measure(&mut self) -> Result<()> {
        if self.measured {
            return Ok(());
        }
        self.measured = true;
        for (index, column) in self.columns.iter_mut().enumerate() {
            let widest = self.held.iter().flat_map(|row| row[index].lines()).map(UnicodeWidthStr::width).max().unwrap_or(0);
            column.width = widest.max(column.name.width());
        }
        self.print_header()?;
        for row in std::mem::take(&mut self.held) {
            self.print_row(&row)?;
        }
        Ok(())
    }

    fn print_header(&mut self) -> Result<()> {
        let names: Vec<String> = self.columns.iter().map(|column| format!(" {} ", centred(&column.name, column.width))).collect();
        let rules: Vec<String> = self.columns.iter().map(|column| "-".repeat(column.width + 2)).collect();
        self.print(names.join("|").trim_end_matches('\n'))?;
        self.print(&rules.join("+"))
    }

    /// A value of several lines makes a row of several; `+` says that one goes on, as in psql.
    fn print_row(&mut self, row: &[String]) -> Result<()> {
        let parts: Vec<Vec<&str>> = row.iter().map(|value| value.split('\n').collect()).collect();
        let height = parts.iter().map(Vec::len).max().unwrap_or(1);
        for line in 0..height {
            let mut text = String::new();
            for (index, (column, lines)) in self.columns.iter().zip(&parts).enumerate() {
                let value = lines.get(line).copied().unwrap_or_default();
                let goes_on = line + 1 < lines.len();
                let last = index + 1 == self.columns.len();
                let fill = " ".repeat(column.width.saturating_sub(value.width()));
                text.push_str(if index == 0 { " " } else { "| " });
                match (column.right, last && !goes_on) {
                    (true, _) => text.push_str(&format!("{fill}{value}")),
                    (false, true) => text.push_str(value),
                    (false, false) => text.push_str(&format!("{value}{fill}")),
                }
                if goes_on {
                    text.push('+');
                } else if !last {
                    text.push(' ');
                }
            }
            self.print(&text)?;
        }
        Ok(())
    }

    fn print_record(&mut self, row: &[String]) -> Result<()> {
        let width = self.columns.iter().map(|column| column.name.width()).max().unwrap_or(0);
        let title = format!("-[ RECORD {} ]", self.rows);
        self.print(&format!("{title}{}", "-".repeat(width.saturating_sub(title.len()))))?;
        let mut lines = Vec::new();
        for (column, value) in self.columns.iter().zip(row) {
            for (index, part) in value.split('\n').enumerate() {
                let name = if index == 0 { column.name.as_str() } else { "" };
                let fill = " ".repeat(width.saturating_sub(name.width()));
                let goes_on = if index + 1 < value.split('\n').count() { "+" } else { "" };
                lines.push(format!("{name}{fill} | {part}{goes_on}"));
            }
        }
        lines.iter().try_for_each(|line| self.print(line))
    }

    fn print(&mut self, line: &str) -> Result<()> {
        writeln!(self.out, "{line}").map_err(write_failed)
    }
}

impl Sink for Table<'_> {
    fn begin(&mut self, schema: &SchemaRef) -> Result<()> {
        let column = |field: &arrow::datatypes::FieldRef| Column { name: printable(field.name()), right: numeric(field.data_type()), width: 0 };
        self.columns = schema.fields().iter().map(column).collect();
        Ok(())
    }

    fn batch(&mut self, batch: &RecordBatch) -> Result<()> {
        let columns = cells(batch)?;
        let mut value = Vec::new();
        for row in 0..batch.num_rows() {
            let mut texts = Vec::with_capacity(columns.len());
            for cells in &columns {
                value.clear();
                if cells.is_null(row) {
                    texts.push(self.style.null.clone());
                    continue;
                }
                text::put(cells, row, self.style.zone, &mut value)?;
                texts.push(printable(&String::from_utf8_lossy(&value)));
            }
            self.take(texts)?;
        }
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        if self.style.layout == Layout::Aligned {
            self.measure()?;
        }
        if self.style.layout == Layout::Aligned || self.rows == 0 {
            let plural = if self.rows == 1 { "row" } else { "rows" };
            self.print(&format!("({} {plural})", self.rows))?;
        }
        self.out.flush().map_err(write_failed)
    }
}

/// Control characters could move the cursor or worse: they are shown as psql shows them. Line ends stay.
fn printable(text: &str) -> String {
    let fine = |c: char| c == '\n' || !c.is_control();
    if text.chars().all(fine) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            c if fine(c) => out.push(c),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c => out.push_str(&format!("\\x{:02X}", u32::from(c))),
        }
    }
    out
}

fn centred(text: &str, width: usize) -> String {
    let free = width.saturating_sub(text.width());
    format!("{}{text}{}", " ".repeat(free / 2), " ".repeat(free - free / 2))
}

fn numeric(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => numeric(values),
        other => other.is_numeric(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{Format, sink};
    use arrow::array::{ArrayRef, Int64Array, StringArray};
    use std::sync::{Arc, Mutex};
    use weir_server::values::Zone;

    #[derive(Clone, Default)]
    struct Shared(Arc<Mutex<Vec<u8>>>);

    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn batch() -> RecordBatch {
        let ids: ArrayRef = Arc::new(Int64Array::from(vec![Some(1), None, Some(1000)]));
        let names: ArrayRef = Arc::new(StringArray::from(vec![Some("ana"), Some("日本\nx"), Some("a\tb")]));
        RecordBatch::try_from_iter([("id", ids), ("name of it", names)]).unwrap()
    }

    fn printed(format: Format, layout: Layout, null: &str) -> String {
        let shared = Shared::default();
        let mut destination = Destination::to(shared.clone());
        let style = Style { layout, null: null.into(), zone: Zone::parse("UTC").unwrap() };
        let mut sink = sink(format, &style, &mut destination);
        sink.begin(&batch().schema()).unwrap();
        sink.batch(&batch()).unwrap();
        sink.end().unwrap();
        drop(sink);
        destination.finish().unwrap();
        let bytes = shared.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn aligned_as_in_psql() {
        let expected = "  id  | name of it \n------+------------\n    1 | ana\n      | 日本      +\n      | x\n 1000 | a\\tb\n(3 rows)\n";
        assert_eq!(printed(Format::Table, Layout::Aligned, ""), expected);
    }

    #[test]
    fn expanded_as_in_psql() {
        let expected = "-[ RECORD 1 ]\nid         | 1\nname of it | ana\n-[ RECORD 2 ]\nid         | ∅\nname of it | 日本+\n           | x\n-[ RECORD 3 ]\nid         | 1000\nname of it | a\\tb\n";
        assert_eq!(printed(Format::Table, Layout::Expanded, "∅"), expected);
    }

    #[test]
    fn csv_and_json() {
        assert_eq!(printed(Format::Csv, Layout::Aligned, ""), "id,name of it\n1,ana\n,\"日本\nx\"\n1000,a\tb\n");
        let json = printed(Format::Json, Layout::Aligned, "");
        assert_eq!(json, "[{\"id\":1,\"name of it\":\"ana\"},\n{\"id\":null,\"name of it\":\"日本\\nx\"},\n{\"id\":1000,\"name of it\":\"a\\tb\"}]\n");
    }

    #[test]
    fn a_file_appears_only_when_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("out.parquet");
        let mut destination = Destination::open(Some(&target), Format::Parquet).unwrap();
        let style = Style { layout: Layout::Aligned, null: String::new(), zone: Zone::parse("UTC").unwrap() };
        let mut writer = sink(Format::Parquet, &style, &mut destination);
        writer.begin(&batch().schema()).unwrap();
        writer.batch(&batch()).unwrap();
        drop(writer);
        drop(destination);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);

        let mut destination = Destination::open(Some(&target), Format::Parquet).unwrap();
        let mut writer = sink(Format::Parquet, &style, &mut destination);
        writer.begin(&batch().schema()).unwrap();
        writer.batch(&batch()).unwrap();
        writer.end().unwrap();
        drop(writer);
        destination.finish().unwrap();
        let file = std::fs::File::open(&target).unwrap();
        let mut reader = parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
        assert_eq!(reader.next().unwrap().unwrap(), batch());
    }
}
