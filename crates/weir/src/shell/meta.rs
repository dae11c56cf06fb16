// SPDX-License-Identifier: Apache-2.0
//! Backslash commands, named as in psql.

use crate::output::Layout;
use crate::shell::{Next, Shell};
use crate::start::report;
use crate::statements::cut;
use arrow::datatypes::DataType;
use std::str::FromStr;
use weir_api::{Parameter, Query};
use weir_base::{Error, ErrorCode, Result, nearest};

const HELP: &str = "\
\\d [NAME]          columns of a table; without a name, all tables and views
\\dt [PATTERN]      tables; * stands for any run of characters
\\dv, \\dm [PATTERN] views, materialized views
\\dn                schemas
\\l                 sources and the lake
\\plan QUERY        what the query would do, without running it
\\i FILE            run the statements of a file
\\x [on|off]        one block per row
\\timing [on|off]   time of each statement
\\receipt [on|off]  age and sources after each answer
\\pset null TEXT    what stands for NULL
\\set [NAME VALUE]  set a setting; without a name, all settings
\\errverbose        the last error with its code
\\conninfo          who asks whom
\\?                 this list
\\q                 leave (Ctrl-D too)
Statements end with `;` or \\g, and with \\gx for one block per row. Ctrl-C cancels a running one. Tab completes names,
the arrow keys and Ctrl-R bring back what was typed before.";

/// A parsed backslash command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MetaCommand {
    Describe(String),
    /// Which kinds, and a pattern.
    Tables(&'static [&'static str], Option<String>),
    Schemas,
    Sources,
    Plan(String),
    Include(String),
    Expanded(Option<bool>),
    Timing(Option<bool>),
    Receipt(Option<bool>),
    Null(String),
    LastError,
    Connection,
    Set(Option<(String, String)>),
    Help,
    Quit,
}

const WORDS: [&str; 17] = ["d", "dt", "dv", "dm", "dn", "l", "plan", "i", "x", "timing", "receipt", "pset", "set", "errverbose", "conninfo", "?", "q"];

const ALL: &[&str] = &["table", "foreign table", "view", "materialized view"];
const TABLES: &[&str] = &["table", "foreign table"];

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
            "d" | "d+" if rest.is_empty() => Self::Tables(ALL, None),
            "d" | "d+" => Self::Describe(rest.to_owned()),
            "dt" | "dt+" => Self::Tables(TABLES, pattern(rest)),
            "dv" | "dv+" => Self::Tables(&["view"], pattern(rest)),
            "dm" | "dm+" => Self::Tables(&["materialized view"], pattern(rest)),
            "dn" | "dn+" => Self::Schemas,
            "l" | "l+" => Self::Sources,
            "plan" => Self::Plan(argument("a query")?),
            "i" => Self::Include(argument("a file")?),
            "x" => Self::Expanded(switch(word, rest)?),
            "timing" => Self::Timing(switch(word, rest)?),
            "receipt" => Self::Receipt(switch(word, rest)?),
            "pset" => match rest.split_once(char::is_whitespace) {
                Some(("null", text)) => Self::Null(text.trim().trim_matches('\'').to_owned()),
                _ if rest == "null" => Self::Null(String::new()),
                _ => return Err(Error::new(ErrorCode::Syntax, "\\pset knows only null").with_hint("write \\pset null TEXT; \\x switches the layout")),
            },
            "errverbose" => Self::LastError,
            "conninfo" => Self::Connection,
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

fn pattern(rest: &str) -> Option<String> {
    Some(rest.to_owned()).filter(|rest| !rest.is_empty())
}

/// `on` or `off`; without either, the other way round.
fn switch(word: &str, rest: &str) -> Result<Option<bool>> {
    match rest.to_ascii_lowercase().as_str() {
        "" => Ok(None),
        "on" | "true" | "1" => Ok(Some(true)),
        "off" | "false" | "0" => Ok(Some(false)),
        _ => Err(Error::new(ErrorCode::Syntax, format!("\\{word} takes on or off"))),
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
            MetaCommand::Tables(kinds, pattern) => self.tables(kinds, pattern.as_deref())?,
            MetaCommand::Schemas => self.schemas()?,
            MetaCommand::Sources => self.sources()?,
            MetaCommand::Plan(query) => self.plan(&query)?,
            MetaCommand::Include(file) => self.include(&file)?,
            MetaCommand::Expanded(on) => {
                let on = on.unwrap_or(self.show.style.layout == Layout::Aligned);
                self.show.style.layout = if on { Layout::Expanded } else { Layout::Aligned };
                println!("Expanded display is {}.", on_off(on));
            }
            MetaCommand::Timing(on) => {
                self.timing = on.unwrap_or(!self.timing);
                println!("Timing is {}.", on_off(self.timing));
            }
            MetaCommand::Receipt(on) => {
                self.show.receipt = on.unwrap_or(!self.show.receipt);
                println!("Receipts are {}.", on_off(self.show.receipt));
            }
            MetaCommand::Null(text) => {
                println!("NULL is shown as \"{text}\".");
                self.show.style.null = text;
            }
            MetaCommand::LastError => self.last_error(),
            MetaCommand::Connection => println!("{}", self.connection()),
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

    fn last_error(&self) {
        match &self.last_error {
            Some(error) => report(error),
            None => println!("There is no previous error."),
        }
    }

    fn tables(&mut self, kinds: &[&str], pattern: Option<&str>) -> Result<()> {
        let like = pattern.map_or_else(|| "%".to_owned(), like_of);
        let kinds = Parameter::Array { element: DataType::Utf8, items: kinds.iter().map(|kind| Parameter::Text((*kind).to_owned())).collect() };
        let tables = "SELECT source, schema, \"table\", kind, rows_estimate AS rows, degraded_columns AS note FROM system.tables
            WHERE kind = ANY($2) AND (lower(\"table\") LIKE lower($1) OR lower(source || '.' || schema || '.' || \"table\") LIKE lower($1)
                OR lower(schema || '.' || \"table\") LIKE lower($1))
            ORDER BY source, schema, \"table\"";
        self.look_up(Query::new(tables).with_params(vec![Parameter::Text(like), kinds])).map(|_| ())
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
        assert_eq!("dt".parse::<MetaCommand>().unwrap(), MetaCommand::Tables(TABLES, None));
        assert_eq!("d app_pg.public.t;".parse::<MetaCommand>().unwrap(), MetaCommand::Describe("app_pg.public.t".into()));
        assert_eq!("set weir.read = 'live'".parse::<MetaCommand>().unwrap(), MetaCommand::Set(Some(("weir.read".into(), "live".into()))));
        assert_eq!("x on".parse::<MetaCommand>().unwrap(), MetaCommand::Expanded(Some(true)));
        assert_eq!("timing".parse::<MetaCommand>().unwrap(), MetaCommand::Timing(None));
        assert_eq!("pset null '-'".parse::<MetaCommand>().unwrap(), MetaCommand::Null("-".into()));
        assert_eq!("timing maybe".parse::<MetaCommand>().unwrap_err().message(), "\\timing takes on or off");
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
