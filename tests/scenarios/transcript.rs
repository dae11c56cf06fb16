// SPDX-License-Identifier: Apache-2.0
//! Transcripts: text files that act in real systems and ask Weir, one block after the other.
//!
//! | a block begins with | and means |
//! |---|---|
//! | `sources: a postgres, b mysql, c sqlite` | the systems; the first block. Each gets a database named after the file |
//! | `$ a` and SQL in the lines below | the SQL is run in that system, by somebody else than Weir |
//! | `> sql` | must answer exactly the lines below the SQL |
//! | `~ sql` | must answer so before the deadline |
//! | `! sql` | must fail with the code, message and hint below |
//! | `#` | a comment |
//!
//! SQL goes on in lines that begin with a blank. `WEIR_BLESS=1` writes the answers into the file; read the diff.

use crate::kit::{SqliteFile, World, eventually, mariadb, postgres};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use weir_base::Error;
use weir_sandbox::{MariaDb, Postgres};

/// A system that a transcript acts in.
enum System {
    Postgres(&'static Postgres),
    MariaDb(&'static MariaDb),
    Sqlite(SqliteFile),
}

struct Stage {
    world: World,
    systems: Vec<(String, System)>,
    database: String,
}

impl Stage {
    /// `sources: a postgres, b mysql`, with an empty database in each.
    async fn set(head: &str, database: &str) -> Self {
        let mut world = World::builder();
        let mut systems = Vec::new();
        for one in head.trim_start_matches("sources:").split(',') {
            let (name, kind) = one.trim().split_once(' ').expect("a name and a kind");
            let (system, url) = match kind {
                "postgres" => (System::Postgres(postgres().await), postgres().await.url(database)),
                "mysql" => (System::MariaDb(mariadb().await), mariadb().await.url(database)),
                "sqlite" => {
                    let file = SqliteFile::with("").await;
                    let url = file.url();
                    (System::Sqlite(file), url)
                }
                other => panic!("{other} is not a kind of system"),
            };
            world = world.source(name, kind, &url);
            systems.push((name.to_owned(), system));
        }
        let stage = Self { world: world.start().await, systems, database: database.to_owned() };
        for (name, _) in &stage.systems {
            stage.act(name, "SELECT 1").await;
        }
        stage
    }

    async fn act(&self, name: &str, sql: &str) {
        let (_, system) = self.systems.iter().find(|(known, _)| known == name).unwrap_or_else(|| panic!("{name} is not a source"));
        match system {
            System::Postgres(server) => server.run(&self.database, sql).await.unwrap_or_else(|error| panic!("{sql}\n{error:?}")),
            System::MariaDb(server) => server.run(&self.database, sql).await.unwrap_or_else(|error| panic!("{sql}\n{error:?}")),
            System::Sqlite(file) => file.run(sql).await,
        }
    }

    /// What a block has to say now: rows, or the error.
    async fn ask(&self, sql: &str) -> Result<String, String> {
        match self.world.ask(sql).await {
            Ok(rows) => Ok(rows.iter().map(|row| masked(row.join(" | ").trim_end())).collect::<Vec<_>>().join("\n")),
            Err(error) => Err(told(&error)),
        }
    }

    /// The answer to a block, as it should stand in the file.
    async fn play(&self, block: &Block) -> Result<String, String> {
        let (sql, expected) = (&block.sql, &block.expected);
        match block.mark {
            '$' => {
                self.act(sql, expected).await;
                Ok(expected.clone())
            }
            '!' => match self.ask(sql).await {
                Err(error) => Ok(error),
                Ok(rows) => Err(format!("should fail and gives\n{rows}")),
            },
            '~' => {
                eventually(sql, async || self.ask(sql).await.as_ref() == Ok(expected)).await;
                Ok(expected.clone())
            }
            _ => self.ask(sql).await,
        }
    }
}

/// A forecast is the source's guess, and may be another one tomorrow.
fn masked(line: &str) -> String {
    match line.strip_prefix("            forecast ") {
        Some(_) => "            forecast …".to_owned(),
        None => line.to_owned(),
    }
}

fn told(error: &Error) -> String {
    let mut text = format!("{} {}", error.code().sqlstate(), error.message());
    if let Some(hint) = error.hint() {
        let _ = write!(text, "\nhint: {hint}");
    }
    text
}

/// A block that does something.
struct Block {
    mark: char,
    /// For `$` the name of the system.
    sql: String,
    /// For `$` the SQL.
    expected: String,
}

fn parse(text: &str) -> Option<Block> {
    let mark = text.chars().next().filter(|mark| "$>~!".contains(*mark))?;
    let mut lines = text.lines();
    let mut sql = lines.next()?.get(1..)?.trim().to_owned();
    let mut expected = Vec::new();
    for line in lines {
        match line.strip_prefix(' ') {
            Some(more) if mark != '$' && expected.is_empty() => sql = format!("{sql}\n {more}"),
            _ => expected.push(line),
        }
    }
    Some(Block { mark, sql, expected: expected.join("\n") })
}

async fn play(file: &Path) -> Result<(), String> {
    let name = file.file_stem().expect("a name").to_string_lossy().into_owned();
    let text = std::fs::read_to_string(file).expect("a transcript");
    let bless = std::env::var_os("WEIR_BLESS").is_some();
    let mut stage = None;
    let mut played = Vec::new();
    let mut wrong = Vec::new();
    for text in text.trim_end().split("\n\n") {
        if text.starts_with("sources:") {
            stage = Some(Stage::set(text, &name).await);
        }
        let (Some(block), Some(stage)) = (parse(text), &stage) else {
            played.push(text.to_owned());
            continue;
        };
        match stage.play(&block).await {
            Ok(answer) if answer == block.expected || bless => played.push(format!("{} {}\n{answer}", block.mark, block.sql).trim_end().to_owned()),
            Ok(answer) => wrong.push(format!("{}\nexpected:\n{}\nbut it is:\n{answer}", block.sql, block.expected)),
            Err(error) => wrong.push(format!("{}\n{error}", block.sql)),
        }
    }
    if bless {
        std::fs::write(file, played.join("\n\n") + "\n").expect("a file that can be written");
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("{}\n{}", file.display(), wrong.join("\n\n"))) }
}

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/transcripts");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).expect("the folder of transcripts").map(|entry| entry.expect("a transcript").path()).collect();
    files.sort();
    files
}

#[tokio::test(flavor = "multi_thread")]
async fn all_transcripts() {
    let files = files();
    assert!(files.len() >= 4, "only {} transcripts were found", files.len());
    let mut failures = Vec::new();
    for file in &files {
        failures.extend(play(file).await.err());
    }
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
}
