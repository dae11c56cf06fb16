// SPDX-License-Identifier: Apache-2.0
//! Rows of the warehouse's catalog to tables with columns.

use super::native_type::NativeType;
use super::vendor::Vendor;
use crate::{Altering, Column, Discovered, SourceTable, TableKind};
use arrow::datatypes::DataType;
use weir_base::limits::TABLES_PER_SOURCE_MAX;
use weir_base::{Error, ErrorCode, Result, SourceName};

/// One row of `Vendor::catalog_sql`.
struct CatalogRow {
    schema: String,
    table: String,
    kind: String,
    column: String,
    native: NativeType,
    nullable: bool,
    collation: Option<String>,
    rows: Option<u64>,
    bytes: Option<u64>,
    comment: Option<String>,
}

/// Groups the rows, which come sorted by table. Errors: more tables than Weir lists, rows of another shape.
pub(super) fn tables(vendor: Vendor, source: &SourceName, rows: Vec<Vec<Option<String>>>) -> Result<Discovered> {
    let mut tables: Vec<SourceTable> = Vec::new();
    for row in rows {
        let row = CatalogRow::read(row).ok_or_else(|| Error::internal(format!("catalog of source {source} answered in an unknown shape")))?;
        let same = tables.last().is_some_and(|table| table.schema == row.schema && table.name == row.table);
        if !same {
            tables.push(row.table());
        }
        let column = row.column(vendor);
        if let Some(table) = tables.last_mut() {
            table.columns.push(column);
        }
    }
    if tables.len() > TABLES_PER_SOURCE_MAX {
        return Err(Error::new(ErrorCode::LimitExceeded, format!("source {source} has too many tables"))
            .with_detail(format!("{} tables, at most {TABLES_PER_SOURCE_MAX} are listed", tables.len()))
            .with_hint("set options.database to the one that is needed"));
    }
    Ok(Discovered { tables, warnings: Vec::new() })
}

impl CatalogRow {
    fn read(row: Vec<Option<String>>) -> Option<Self> {
        let [schema, table, kind, column, data_type, nullable, precision, scale, collation, rows, bytes, comment] =
            <[Option<String>; 12]>::try_from(row).ok()?;
        let native = NativeType::parse(&data_type?, precision.and_then(|text| text.parse().ok()), scale.and_then(|text| text.parse().ok()));
        Some(Self {
            schema: schema?,
            table: table?,
            kind: kind?.to_ascii_uppercase(),
            column: column?,
            native,
            nullable: nullable.is_none_or(|word| !word.eq_ignore_ascii_case("no")),
            collation: collation.filter(|name| !name.is_empty() && name != "NULL"),
            rows: rows.and_then(|text| text.parse().ok()),
            bytes: bytes.and_then(|text| text.parse().ok()),
            comment: comment.filter(|text| !text.is_empty()),
        })
    }

    fn table(&self) -> SourceTable {
        // A size of zero beside rows is "not measured", which must not look like "free".
        let bytes_estimate = self.bytes.filter(|bytes| *bytes > 0 || self.rows == Some(0));
        SourceTable {
            schema: self.schema.clone(),
            name: self.table.clone(),
            kind: self.kind(),
            columns: Vec::new(),
            rows_estimate: self.rows,
            bytes_estimate,
            comment: self.comment.clone(),
            unique: Vec::new(),
        }
    }

    fn kind(&self) -> TableKind {
        match self.kind.as_str() {
            "VIEW" => TableKind::View,
            "MATERIALIZED VIEW" | "MATERIALIZED_VIEW" => TableKind::MaterializedView,
            "EXTERNAL TABLE" | "EXTERNAL" | "FOREIGN" | "FOREIGN TABLE" => TableKind::ForeignTable,
            _ => TableKind::Table,
        }
    }

    fn column(self, vendor: Vendor) -> Column {
        let reading = self.native.reading(vendor);
        let text_as_is = reading.data_type == DataType::Utf8 && reading.read_as.is_none();
        Column {
            name: self.column,
            native_type: self.native.text(),
            data_type: reading.data_type,
            nullable: self.nullable,
            bytewise_equality: text_as_is && self.collation.is_none() && compares_bytes(vendor),
            collation: self.collation,
            read_as: reading.read_as,
            labels: None,
            degraded: None,
            altering: Altering::default(),
        }
    }
}

/// Whether texts without a collation are equal exactly when their bytes are. Redshift ignores trailing blanks; of an
/// unknown server nothing is known.
fn compares_bytes(vendor: Vendor) -> bool {
    matches!(vendor, Vendor::Snowflake | Vendor::BigQuery | Vendor::Databricks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: [&str; 12]) -> Vec<Option<String>> {
        cells.iter().map(|cell| (!cell.is_empty()).then(|| (*cell).to_owned())).collect()
    }

    #[test]
    fn rows_become_tables() {
        let rows = vec![
            row(["PUBLIC", "REVENUE", "BASE TABLE", "ID", "NUMBER", "NO", "38", "0", "", "7", "0", "money"]),
            row(["PUBLIC", "REVENUE", "BASE TABLE", "name", "TEXT", "YES", "", "", "en-ci", "7", "0", "money"]),
            row(["PUBLIC", "V", "VIEW", "ID", "TEXT", "YES", "", "", "", "", "", ""]),
        ];
        let found = tables(Vendor::Snowflake, &SourceName::new("marts"), rows).unwrap();
        assert_eq!(found.tables.len(), 2);
        let revenue = &found.tables[0];
        assert_eq!((revenue.rows_estimate, revenue.bytes_estimate, revenue.comment.as_deref()), (Some(7), None, Some("money")));
        assert_eq!((revenue.columns[0].native_type.as_str(), revenue.columns[0].nullable), ("NUMBER(38,0)", false));
        assert_eq!((revenue.columns[1].collation.as_deref(), revenue.columns[1].bytewise_equality), (Some("en-ci"), false));
        assert_eq!((found.tables[1].kind, found.tables[1].columns[0].bytewise_equality), (TableKind::View, true));
    }

    #[test]
    fn another_shape_is_an_error() {
        let error = tables(Vendor::Snowflake, &SourceName::new("marts"), vec![vec![None]]).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Internal);
    }
}
