// SPDX-License-Identifier: Apache-2.0
//! TPC-H: its data as DuckDB's generator makes them, its 22 questions with the parameters of the validation run, its published
//! answers, and ways to spread its eight tables over places.

mod placement;
mod table;

pub use placement::{PLACEMENTS, Place, Placement, tables_in};
pub use table::{TABLES, Table, Texts};

use crate::folder::trouble;
use crate::program::Tool;
use crate::{MariaDb, Postgres, peers_venv};
use std::path::{Path, PathBuf};
use weir_base::{Error, Result};

const GENERATOR: &str = include_str!("generate.py");
const QUESTIONS: &str = include_str!("queries.sql");

/// How many questions there are; the first has number 1.
pub const QUESTIONS_COUNT: usize = 22;

/// The data of one scale in a folder of the caller.
#[derive(Debug)]
pub struct Tpch {
    folder: PathBuf,
}

impl Tpch {
    /// Makes the data of a scale factor (1 is about a gigabyte) in a folder, unless an earlier run has left them there.
    pub async fn make(folder: &Path, scale: f64) -> Result<Self> {
        let made = folder.join(format!("made-{scale}"));
        if !made.exists() {
            let python = peers_venv()?.join("bin/python");
            Tool::new(&python).args(["-c", GENERATOR]).args([folder]).args([scale.to_string()]).run().await?;
            std::fs::write(&made, "").map_err(|error| trouble("cannot write beside the data of TPC-H", &made, &error))?;
        }
        Ok(Self { folder: folder.to_path_buf() })
    }

    /// Makes and fills tables in a database of PostgreSQL, with keys, indexes and statistics.
    pub async fn load_postgres(&self, server: &Postgres, database: &str, tables: &[&Table], texts: Texts) -> Result<()> {
        let load = |table: &&Table| {
            let file = self.folder.join(format!("{}.csv", table.name));
            format!("{}\n\\copy {} from '{}' (format text, delimiter '|')\n{}\n", table.create(texts), table.name, file.display(), table.create_indexes())
        };
        let script: String = tables.iter().map(load).collect();
        server.run(database, &format!("{script}VACUUM ANALYZE;")).await
    }

    /// The same in a database of MariaDB.
    pub async fn load_mariadb(&self, server: &MariaDb, database: &str, tables: &[&Table], texts: Texts) -> Result<()> {
        let load = |table: &&Table| {
            let file = self.folder.join(format!("{}.csv", table.name));
            let (name, create, indexes) = (table.name, table.create(texts), table.create_indexes());
            let fill = format!("LOAD DATA LOCAL INFILE '{}' INTO TABLE {name} FIELDS TERMINATED BY '|' ESCAPED BY ''", file.display());
            format!("{create}\n{fill};\n{indexes}\nANALYZE TABLE {name};\n")
        };
        let script: String = tables.iter().map(load).collect();
        server.run(database, &script).await
    }

    /// A SQLite file that holds `region` and `nation`.
    pub fn small_tables(&self) -> PathBuf {
        self.folder.join("small.db")
    }

    /// The published answer of a question at this scale, without its heading. It has averages and ratios as floating point numbers.
    pub fn published(&self, number: usize) -> Result<Vec<Vec<String>>> {
        let path = self.folder.join(format!("answer-{number}.csv"));
        let text = std::fs::read_to_string(&path).map_err(|error| trouble("no answer is published for this scale", &path, &error))?;
        Ok(text.lines().skip(1).map(|line| line.split('|').map(str::to_owned).collect()).collect())
    }
}

/// A question, with `named` for each table that it speaks of. Error: there is no such number.
pub fn question(number: usize, named: impl Fn(&str) -> String) -> Result<String> {
    let heading = format!("-- {number}\n");
    let missing = || Error::internal("TPC-H has no such question").with_detail(number.to_string());
    let (_, after) = QUESTIONS.split_once(&heading).ok_or_else(missing)?;
    let text = after.split("-- ").next().unwrap_or(after).trim_end().to_owned();
    Ok(TABLES.iter().fold(text, |text, table| text.replace(&format!("{{{}}}", table.name), &named(table.name))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_twenty_two_questions_over_known_tables() {
        for number in 1..=QUESTIONS_COUNT {
            let text = question(number, |table| format!("somewhere.{table}")).unwrap();
            assert!(text.contains("somewhere.") && !text.contains(['{', '}']), "{number}: {text}");
            assert!(text.starts_with("SELECT") || text.starts_with("WITH"), "{number}: {text}");
        }
        assert!(question(QUESTIONS_COUNT + 1, str::to_owned).is_err());
    }
}
