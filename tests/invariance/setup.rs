// SPDX-License-Identifier: Apache-2.0
//! Tables of tricky rows, each in one place, and all of them in the PostgreSQL that says the truth.

use super::chance::Chance;
use super::kinds::{Class, KEY, Kind, LAKE, MARIADB, POSTGRES, SQLITE, SQLITE_KEY};
use std::fmt::Write;

/// Where a table can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// PostgreSQL that sorts by bytes.
    App,
    /// PostgreSQL whose default collation is one of ICU.
    Icu,
    Billing,
    Files,
    Lake,
}

pub const PLACES: [Place; 5] = [Place::App, Place::Icu, Place::Billing, Place::Files, Place::Lake];

impl Place {
    pub fn word(self) -> &'static str {
        match self {
            Self::App => "app",
            Self::Icu => "icu",
            Self::Billing => "billing",
            Self::Files => "files",
            Self::Lake => "lake",
        }
    }

    /// What stands in front of a table's name.
    pub fn schema(self) -> &'static str {
        match self {
            Self::App => "app.public",
            Self::Icu => "icu.public",
            Self::Billing => "billing.invariance",
            Self::Files => "files.main",
            Self::Lake => "lake.invariance",
        }
    }

    fn kinds(self) -> &'static [Kind] {
        match self {
            Self::App | Self::Icu => POSTGRES,
            Self::Billing => MARIADB,
            Self::Files => SQLITE,
            Self::Lake => LAKE,
        }
    }

    fn key(self) -> Kind {
        if self == Self::Files { SQLITE_KEY } else { KEY }
    }

    fn quoted(self, name: &str) -> String {
        if self == Self::Billing { format!("`{name}`") } else { format!("\"{name}\"") }
    }

    /// A value as its type's literal there.
    fn spelled(self, kind: &Kind, value: &str) -> String {
        let quoted = format!("'{}'", value.replace('\'', "''"));
        match (self, kind.class) {
            (Self::App | Self::Icu | Self::Lake, Class::Bytes) => format!("'\\x{value}'"),
            (Self::App | Self::Icu | Self::Lake, _) => quoted,
            (_, Class::Bytes) => format!("x'{value}'"),
            (_, Class::Int | Class::Big | Class::Bool) => value.to_owned(),
            (Self::Files, Class::Dec | Class::Wide | Class::Float) => value.to_owned(),
            _ => quoted,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct TableColumn {
    pub name: String,
    pub kind: Kind,
}

/// A table and its rows; a value that is `None` is NULL. The first column is its key.
#[derive(Debug, Clone)]
pub struct Table {
    pub name: String,
    pub place: Place,
    pub columns: Vec<TableColumn>,
    pub rows: Vec<Vec<Option<&'static str>>>,
    /// The numbers of the rows, in the first column.
    pub numbers: Vec<usize>,
}

/// The tables of some queries.
#[derive(Debug, Clone)]
pub struct Setup {
    pub tables: Vec<Table>,
}

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
/// Columns besides `id` and `k`.
const COLUMNS_MAX: usize = 7;
const ROWS_MAX: usize = 40;

impl Setup {
    /// Half of all setups are in one or two places, where joins can be pushed; the others are a mix.
    pub fn new(chance: &mut Chance) -> Self {
        let first = *chance.pick(&PLACES);
        let second = *chance.pick(&PLACES);
        let mixed = chance.percent(30);
        let tables = NAMES.iter().enumerate().map(|(index, name)| {
            let place = if mixed {
                *chance.pick(&PLACES)
            } else if index < 3 {
                first
            } else {
                second
            };
            table(chance, name, place)
        });
        Self { tables: tables.collect() }
    }

    /// Only the tables and columns that a query names.
    pub fn used_by(&self, sql: &str) -> Self {
        let tables = self.tables.iter().filter(|table| sql.contains(&format!("@{} ", table.name)));
        Self { tables: tables.map(|table| table.used_by(sql)).collect() }
    }

    /// Setups with fewer rows, the smallest first.
    pub fn with_fewer_rows(&self) -> Vec<Self> {
        let mut all = Vec::new();
        for parts in [1, 2, 4, 8] {
            for index in 0..self.tables.len() {
                let rows = self.tables[index].rows.len();
                let size = rows.div_ceil(parts).max(1);
                for from in (0..rows).step_by(size) {
                    let mut setup = self.clone();
                    let to = (from + size).min(rows);
                    setup.tables[index].rows.drain(from..to);
                    setup.tables[index].numbers.drain(from..to);
                    all.push(setup);
                }
            }
        }
        all
    }

    pub fn in_words(&self) -> String {
        let words = self.tables.iter().map(|table| format!("{}: {}, {} rows", table.name, table.place.word(), table.rows.len()));
        words.collect::<Vec<_>>().join("; ")
    }
}

fn table(chance: &mut Chance, name: &str, place: Place) -> Table {
    let named = |name: &str, kind: Kind| TableColumn { name: name.to_owned(), kind };
    let mut columns = vec![named("id", place.key()), named("k", place.key())];
    let count = 3 + chance.below(COLUMNS_MAX - 2);
    for number in 1..=count {
        let kind = *chance.pick(place.kinds());
        let odd = chance.percent(8);
        let name = if odd { format!("Odd {number}") } else { format!("{}{number}", letter(kind.class)) };
        columns.push(named(&name, kind));
    }
    let size = match chance.below(12) {
        0 => 0,
        1 => 1,
        _ => 4 + chance.below(ROWS_MAX - 4),
    };
    let rows = (0..size).map(|_| columns.iter().skip(1).map(|column| value(chance, column)).collect()).collect();
    Table { name: name.to_owned(), place, columns, rows, numbers: (1..=size).collect() }
}

fn value(chance: &mut Chance, column: &TableColumn) -> Option<&'static str> {
    if chance.percent(15) {
        return None;
    }
    let values = column.kind.values;
    // Half of the values come from a few, so that rows meet in joins and groups.
    let few = values.len().min(4);
    Some(if chance.percent(50) { values[chance.below(few)] } else { *chance.pick(values) })
}

fn letter(class: Class) -> &'static str {
    match class {
        Class::Int => "i",
        Class::Big => "big",
        Class::Dec => "n",
        Class::Wide => "w",
        Class::Float => "f",
        Class::Text => "t",
        Class::Bool => "yes",
        Class::Date => "d",
        Class::Ts => "ts",
        Class::Tstz => "tz",
        Class::Time => "ti",
        Class::Bytes => "raw",
        Class::Uuid => "uu",
        Class::Enum => "m",
    }
}

impl Table {
    fn used_by(&self, sql: &str) -> Self {
        let used =
            |index: usize| index < 2 || sql.contains(&format!(".{}", self.columns[index].name)) || sql.contains(&format!("\"{}\"", self.columns[index].name));
        let kept: Vec<usize> = (0..self.columns.len()).filter(|index| used(*index)).collect();
        let columns = kept.iter().map(|index| self.columns[*index].clone()).collect();
        // The first column is no value of a row.
        let row = |row: &Vec<Option<&'static str>>| kept.iter().skip(1).map(|index| row[index - 1]).collect();
        Self { columns, rows: self.rows.iter().map(row).collect(), ..self.clone() }
    }

    /// What makes the table in its place, called `physical`. For the lake: in the truth.
    pub fn script(&self, physical: &str) -> String {
        let place = self.place;
        let of = |column: &TableColumn| format!("{} {}", place.quoted(&column.name), column.kind.ddl);
        let value = |column: &TableColumn, value: Option<&str>| value.map_or("NULL".to_owned(), |value| place.spelled(&column.kind, value));
        self.written(physical, place, of, value)
    }

    /// What makes the table in the truth.
    pub fn truth(&self, physical: &str) -> String {
        let of = |column: &TableColumn| format!("\"{}\" {}", column.name, column.kind.truth);
        let value = |column: &TableColumn, value: Option<&str>| {
            let read = value.and_then(|value| column.kind.reading.of(value));
            read.map_or("NULL".to_owned(), |value| Place::App.spelled(&column.kind, value))
        };
        self.written(physical, Place::App, of, value)
    }

    fn written(&self, physical: &str, place: Place, of: impl Fn(&TableColumn) -> String, value: impl Fn(&TableColumn, Option<&str>) -> String) -> String {
        let columns: Vec<String> = self.columns.iter().map(of).collect();
        let key = format!("{} PRIMARY KEY", columns[0]);
        let columns: Vec<String> = std::iter::once(key).chain(columns.into_iter().skip(1)).collect();
        let mut script = format!("CREATE TABLE {} ({});", place.quoted(physical), columns.join(", "));
        if self.rows.is_empty() {
            return script;
        }
        let row = |(number, row): (&usize, &Vec<Option<&'static str>>)| {
            let values = self.columns.iter().skip(1).zip(row).map(|(column, one)| value(column, *one));
            format!("({number}, {})", values.collect::<Vec<_>>().join(", "))
        };
        let rows: Vec<String> = self.numbers.iter().zip(&self.rows).map(row).collect();
        let _ = write!(script, "\nINSERT INTO {} VALUES\n    {};", place.quoted(physical), rows.join(",\n    "));
        script
    }
}
