// SPDX-License-Identifier: Apache-2.0
//! Backslash commands, named as in psql.

use crate::output::Layout;
use crate::shell::{Next, Shell};
use crate::statements::cut;
use std::str::FromStr;
use weir_api::{Parameter, Query};
use weir_base::{Error, ErrorCode, Result, nearest};

const HELP: &str = "\
\\d [NAME]          columns of a table; without a name, all tables
\\dt [PATTERN]      tables; * stands for any run of characters
\\dn                schemas
\\l                 sources and the lake
\\plan QUERY        what the query would do, without running it
\\i FILE            run the statements of a file
\\x                 one block per row, on or off
\\timing            time of each statement, on or off
\\receipt           age and sources after each answer, on or off
\\set [NAME VALUE]  set a setting; without a name, all settings
\\?                 this list
\\q                 leave (Ctrl-D too)
Statements end with `;`. Ctrl-C cancels a running one. Tab completes names.";

/// A parsed backslash command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MetaCommand {
    Describe(String),
    Tables(Option<String>),
    Schemas,
    Sources,
    Plan(String),
    Include(String),
    Expanded,
    Timing,
    Receipt,
    Set(Option<(String, String)>),
    Help,
    Quit,
}

const WORDS: [&str; 12] = ["d", "dt", "dn", "l", "plan", "i", "x", "timing", "receipt", "set", "?", "q"];

impl FromStr for MetaCommand {
    type Err = Error;

    /// The text after the backslash. Error: an unknown command, a missing argument.
    fn from_str(text: &str) -> Result<Self> {
        let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
        let rest = rest.trim().trim_end_matches(';').trim_end();
        let argument = |what: &str| match rest {
            "" => Err(Error::new(ErrorCode::Syntax, format!("\\{word} needs {what}"))),
            rest => Ok(rest.to_owned()),
        };
        Ok(match word {
            "d" | "d+" if rest.is_empty() => Self::Tables(None),
            "d" | "d+" => Self::Describe(rest.to_owned()),
            "dt" | "dt+" | "dv" | "dm" => Self::Tables(Some(rest.to_owned()).filter(|rest| !rest.is_empty())),
            "dn" | "dn+" => Self::Schemas,
            "l" | "l+" => Self::Sources,
            "plan" => Self::Plan(argument("a query")?),
            "i" => Self::Include(argument("a file")?),
            "x" => Self::Expanded,
            "timing" => Self::Timing,
            "receipt" => Self::Receipt,
            "set" if rest.is_empty() => Self::Set(None),
            "set" => {
                let (name, value) = rest.split_once([' ', '=']).unwrap_or((rest, ""));
                Self::Set(Some((name.to_owned(), value.trim_matches(['=', ' ', '\'']).to_owned())))
            }
            "?" | "h" | "help" => Self::Help,
            "q" | "quit" | "exit" => Self::Quit,
            unknown => return Err(unknown_command(unknown)),
        })
    }
}

fn unknown_command(word: &str) -> Error {
    let error = Error::new(ErrorCode::Syntax, format!("unknown command \\{word}"));
    match nearest(word, WORDS).first() {
        Some(near) => error.with_hint(format!("did you mean \\{near}? \\? lists all")),
        None => error.with_hint("\\? lists all"),
    }
}

impl Shell<'_> {
    pub(super) fn obey(&mut self, command: MetaCommand) -> Result<Next> {
        match command {
            MetaCommand::Describe(name) => self.describe(&name)?,
            MetaCommand::Tables(pattern) => self.tables(pattern.as_deref())?,
            MetaCommand::Schemas => self.schemas()?,
            MetaCommand::Sources => self.sources()?,
            MetaCommand::Plan(query) => self.plan(&query)?,
            MetaCommand::Include(file) => self.include(&file)?,
            MetaCommand::Expanded => {
                let layout = if self.show.style.layout == Layout::Aligned { Layout::Expanded } else { Layout::Aligned };
                self.show.style.layout = layout;
                println!("Expanded display is {}.", on_off(layout == Layout::Expanded));
            }
            MetaCommand::Timing => {
                self.timing = !self.timing;
                println!("Timing is {}.", on_off(self.timing));
            }
            MetaCommand::Receipt => {
                self.show.receipt = !self.show.receipt;
                println!("Receipts are {}.", on_off(self.show.receipt));
            }
            MetaCommand::Set(None) => self.look_up(Query::new("SHOW ALL")).map(|_| ())?,
            MetaCommand::Set(Some((name, value))) => self.client.session.settings().set(&name, &value)?,
            MetaCommand::Help => println!("{HELP}"),
            MetaCommand::Quit => return Ok(Next::Quit),
        }
        Ok(Next::Line)
    }

    /// Names go as parameters, never into the text.
    fn describe(&mut self, name: &str) -> Result<()> {
        let [source, schema, table] = parts_of(name);
        let columns = "SELECT source || '.' || schema || '.' || \"table\" AS \"table\", \"column\", native_type AS \"type\",
                CASE WHEN nullable THEN '' ELSE 'not null' END AS nullable, degraded AS \"note\"
            FROM system.columns
            WHERE lower(\"table\") = lower($3) AND ($2 = '' OR lower(schema) = lower($2)) AND ($1 = '' OR lower(source) = lower($1))
            ORDER BY source, schema, \"table\", position";
        let parameters = [source, schema, table].map(Parameter::Text).to_vec();
        if self.look_up(Query::new(columns).with_params(parameters))? == 0 {
            return Err(Error::new(ErrorCode::UnknownTable, format!("no table is named {name}")).with_hint("\\dt lists the tables"));
        }
        Ok(())
    }

    fn tables(&mut self, pattern: Option<&str>) -> Result<()> {
        let like = pattern.map_or_else(|| "%".to_owned(), like_of);
        let tables = "SELECT source, schema, \"table\", kind, rows_estimate AS rows, degraded_columns AS note FROM system.tables
            WHERE lower(\"table\") LIKE lower($1) OR lower(source || '.' || schema || '.' || \"table\") LIKE lower($1)
                OR lower(schema || '.' || \"table\") LIKE lower($1)
            ORDER BY source, schema, \"table\"";
        self.look_up(Query::new(tables).with_params(vec![Parameter::Text(like)])).map(|_| ())
    }

    fn schemas(&mut self) -> Result<()> {
        let schemas = "SELECT source, schema, count(*) AS tables FROM system.tables GROUP BY source, schema ORDER BY source, schema";
        self.look_up(Query::new(schemas)).map(|_| ())
    }

    fn sources(&mut self) -> Result<()> {
        let sources = "SELECT source, type, state, tables, note FROM system.sources";
        let query = match self.client.config.lake.as_ref() {
            None => Query::new(format!("{sources} ORDER BY source")),
            Some(lake) => {
                Query::new(format!("{sources} UNION ALL SELECT $1, 'lake', 'reachable', count(*), NULL FROM system.tables WHERE source = $1 ORDER BY source"))
                    .with_params(vec![Parameter::Text(lake.name.to_string())])
            }
        };
        self.look_up(query).map(|_| ())
    }

    fn plan(&mut self, query: &str) -> Result<()> {
        let report = self.runtime.block_on(self.client.service.plan(&self.client.session, Query::new(query)))?;
        println!("{}", report.to_text());
        Ok(())
    }

    fn include(&mut self, file: &str) -> Result<()> {
        let text = crate::sql::text_of(None, Some(std::path::Path::new(file)))?.unwrap_or_default();
        let parts = cut(&text);
        let last = Some(parts.rest).filter(|rest| !rest.is_empty());
        for statement in parts.complete.into_iter().chain(last) {
            self.ask(Query::new(statement))?;
        }
        Ok(())
    }
}

fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

/// Source, schema and table of a name as typed, with what is missing left empty. Quotes hold dots together.
pub(crate) fn parts_of(name: &str) -> [String; 3] {
    let mut parts = vec![String::new()];
    let mut quoted = false;
    for c in name.chars() {
        match c {
            '"' => quoted = !quoted,
            '.' if !quoted => parts.push(String::new()),
            c => parts.iter_mut().last().into_iter().for_each(|part| part.push(c)),
        }
    }
    let mut from_the_end = parts.into_iter().rev();
    let mut next = || from_the_end.next().unwrap_or_default();
    let (table, schema, source) = (next(), next(), next());
    [source, schema, table]
}

/// `*` and `?` as in psql; what LIKE would take for a wildcard is escaped.
fn like_of(pattern: &str) -> String {
    let mut like = String::new();
    for c in pattern.chars() {
        match c {
            '*' => like.push('%'),
            '?' => like.push('_'),
            '%' | '_' | '\\' => like.extend(['\\', c]),
            c => like.push(c),
        }
    }
    like
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_read() {
        assert_eq!("dt".parse::<MetaCommand>().unwrap(), MetaCommand::Tables(None));
        assert_eq!("d app_pg.public.t;".parse::<MetaCommand>().unwrap(), MetaCommand::Describe("app_pg.public.t".into()));
        assert_eq!("set weir.read = 'live'".parse::<MetaCommand>().unwrap(), MetaCommand::Set(Some(("weir.read".into(), "live".into()))));
        assert_eq!("plan SELECT 1;".parse::<MetaCommand>().unwrap(), MetaCommand::Plan("SELECT 1".into()));
        assert_eq!("timng".parse::<MetaCommand>().unwrap_err().hint(), Some("did you mean \\timing? \\? lists all"));
        assert_eq!("plan".parse::<MetaCommand>().unwrap_err().message(), "\\plan needs a query");
    }

    #[test]
    fn names_and_patterns() {
        assert_eq!(parts_of("customers"), ["", "", "customers"]);
        assert_eq!(parts_of("app_pg.public.\"My.Table\""), ["app_pg", "public", "My.Table"]);
        assert_eq!(like_of("app_*.t?"), "app\\_%.t_");
    }
}
