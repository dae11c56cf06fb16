// SPDX-License-Identifier: Apache-2.0
//! Statements that the wire carries out itself: transactions, cursors, COPY to the client, and session housekeeping.
//!
//! Decided by the leading keywords alone: BEGIN, START TRANSACTION, COMMIT, END, ROLLBACK, ABORT, SAVEPOINT, RELEASE, SET [SESSION
//! CHARACTERISTICS AS] TRANSACTION, DISCARD, DEALLOCATE, LISTEN, UNLISTEN, DECLARE, FETCH, MOVE, CLOSE, and COPY … TO STDOUT.
//! Everything else goes to the service as it was typed.

use crate::postgres::copy::read_options;
use crate::postgres::fault::Fault;
use crate::postgres::lexer::{Lexeme, Piece, Token};
use crate::values::delimited::CopyOptions;

/// A statement that the service never sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    Begin {
        tag: &'static str,
        read_only: Option<bool>,
    },
    Commit {
        chain: bool,
    },
    Rollback {
        chain: bool,
    },
    RollbackTo(String),
    Savepoint(String),
    Release(String),
    /// For this transaction, or with `session` for all that follow.
    SetTransaction {
        session: bool,
        read_only: Option<bool>,
    },
    Discard {
        all: bool,
        tag: &'static str,
    },
    /// One prepared statement, or all.
    Deallocate(Option<String>),
    Listen,
    Unlisten,
    Declare(Declare),
    Fetch(Fetch),
    /// One cursor, or all.
    CloseCursor(Option<String>),
    Copy {
        query: String,
        options: CopyOptions,
    },
}

/// `DECLARE name CURSOR [WITH HOLD] FOR query`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declare {
    pub name: String,
    pub binary: bool,
    pub hold: bool,
    pub query: String,
}

/// `FETCH` or `MOVE`, forward only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetch {
    pub name: String,
    /// `None` is ALL.
    pub count: Option<u64>,
    /// MOVE: rows are passed over.
    pub skip: bool,
}

impl Command {
    /// Whether it may run in a failed transaction.
    pub fn ends_failure(&self) -> bool {
        matches!(self, Self::Commit { .. } | Self::Rollback { .. } | Self::RollbackTo(_))
    }

    /// The query inside of it that takes the statement's parameters.
    pub fn query(&self) -> Option<&str> {
        match self {
            Self::Declare(declare) => Some(&declare.query),
            Self::Copy { query, .. } => Some(query),
            _ => None,
        }
    }
}

/// Recognises a command; `None` for what belongs to the service. Errors: 42601 when it begins like one and goes on wrongly.
pub fn recognise(piece: &Piece<'_>, sql: &str) -> Result<Option<Command>, Fault> {
    let mut words = Words { sql, lexemes: &piece.lexemes, at: 0 };
    let command = match words.keyword().as_str() {
        "BEGIN" => {
            let _noise = words.eat("WORK") || words.eat("TRANSACTION");
            Command::Begin { tag: "BEGIN", read_only: modes(&mut words) }
        }
        "START" if words.eat("TRANSACTION") => Command::Begin { tag: "START TRANSACTION", read_only: modes(&mut words) },
        "COMMIT" | "END" => Command::Commit { chain: words.chain()? },
        "ROLLBACK" | "ABORT" => rollback(&mut words)?,
        "SAVEPOINT" => Command::Savepoint(words.name()?),
        "RELEASE" => {
            words.eat("SAVEPOINT");
            Command::Release(words.name()?)
        }
        "SET" => match set_transaction(&mut words) {
            Some(command) => command,
            None => return Ok(None),
        },
        "DISCARD" => discard(&mut words)?,
        "DEALLOCATE" => {
            words.eat("PREPARE");
            Command::Deallocate(words.name_or_all()?)
        }
        "LISTEN" => words.rest(Command::Listen),
        "UNLISTEN" => words.rest(Command::Unlisten),
        "DECLARE" => Command::Declare(declare(&mut words)?),
        "FETCH" => Command::Fetch(fetch(&mut words, false)?),
        "MOVE" => Command::Fetch(fetch(&mut words, true)?),
        "CLOSE" => Command::CloseCursor(words.name_or_all()?),
        "COPY" => match copy(&mut words)? {
            Some(command) => command,
            None => return Ok(None),
        },
        _ => return Ok(None),
    };
    words.end()?;
    Ok(Some(command))
}

/// Walks over the tokens of one statement.
pub struct Words<'a> {
    sql: &'a str,
    lexemes: &'a [Lexeme<'a>],
    at: usize,
}

impl<'a> Words<'a> {
    pub fn peek(&self) -> Option<&'a Token<'a>> {
        self.lexemes.get(self.at).map(|lexeme| &lexeme.token)
    }

    pub fn next(&mut self) -> Option<&'a Token<'a>> {
        let token = self.peek();
        self.at += 1;
        token
    }

    /// The next token as an upper-case keyword; empty when it is none.
    fn keyword(&mut self) -> String {
        match self.next() {
            Some(Token::Word(word)) => word.to_ascii_uppercase(),
            _ => String::new(),
        }
    }

    /// Passes a keyword if it stands here.
    pub fn eat(&mut self, keyword: &str) -> bool {
        let here = matches!(self.peek(), Some(Token::Word(word)) if word.eq_ignore_ascii_case(keyword));
        self.at += usize::from(here);
        here
    }

    pub fn eat_symbol(&mut self, symbol: char) -> bool {
        let here = self.peek() == Some(&Token::Symbol(symbol));
        self.at += usize::from(here);
        here
    }

    /// A name: quoted ones exact, others in lower case.
    pub fn name(&mut self) -> Result<String, Fault> {
        match self.next() {
            Some(Token::Word(word)) => Ok(word.to_lowercase()),
            Some(Token::Name(name)) => Ok(name.clone()),
            _ => Err(self.wrong("a name")),
        }
    }

    fn name_or_all(&mut self) -> Result<Option<String>, Fault> {
        if self.eat("ALL") { Ok(None) } else { self.name().map(Some) }
    }

    fn chain(&mut self) -> Result<bool, Fault> {
        let _noise = self.eat("WORK") || self.eat("TRANSACTION");
        if !self.eat("AND") {
            return Ok(false);
        }
        let chain = !self.eat("NO");
        if self.eat("CHAIN") { Ok(chain) } else { Err(self.wrong("CHAIN")) }
    }

    /// Accepts whatever else stands in the statement.
    fn rest(&mut self, command: Command) -> Command {
        self.at = self.lexemes.len();
        command
    }

    pub fn end(&self) -> Result<(), Fault> {
        if self.at >= self.lexemes.len() {
            Ok(())
        } else {
            Err(Fault::syntax("syntax error").with_detail(format!("unexpected text at byte {}", self.lexemes[self.at].start)))
        }
    }

    pub fn wrong(&self, expected: &str) -> Fault {
        let place = self.lexemes.get(self.at.saturating_sub(1)).map_or_else(|| "at the end".to_owned(), |lexeme| format!("at byte {}", lexeme.start));
        Fault::syntax("syntax error").with_detail(format!("expected {expected} {place}"))
    }

    /// The text from here to the end.
    fn remaining_text(&mut self) -> Result<String, Fault> {
        let (Some(first), Some(last)) = (self.lexemes.get(self.at), self.lexemes.last()) else { return Err(self.wrong("a query")) };
        self.at = self.lexemes.len();
        Ok(self.sql[first.start..last.end].to_owned())
    }

    /// The text between parentheses that open here.
    fn parenthesised(&mut self) -> Result<&'a str, Fault> {
        let open = self.lexemes.get(self.at).map(|lexeme| lexeme.end);
        if !self.eat_symbol('(') {
            return Err(self.wrong("("));
        }
        let mut depth = 1;
        while let Some(lexeme) = self.lexemes.get(self.at) {
            self.at += 1;
            match lexeme.token {
                Token::Symbol('(') => depth += 1,
                Token::Symbol(')') => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return Ok(self.sql[open.unwrap_or(lexeme.start)..lexeme.start].trim());
            }
        }
        Err(self.wrong(")"))
    }
}

/// Passes over isolation levels, which all mean the same here (a statement sees its sources as they are when it runs), and gives the access mode.
fn modes(words: &mut Words<'_>) -> Option<bool> {
    let mut read_only = None;
    loop {
        if words.eat("READ") {
            if words.eat("ONLY") {
                read_only = Some(true);
            } else if words.eat("WRITE") {
                read_only = Some(false);
            } else {
                let _level = words.eat("COMMITTED") || words.eat("UNCOMMITTED");
            }
            continue;
        }
        let passed = words.eat_symbol(',') || ["ISOLATION", "LEVEL", "REPEATABLE", "SERIALIZABLE", "NOT", "DEFERRABLE"].iter().any(|word| words.eat(word));
        if !passed {
            return read_only;
        }
    }
}

fn rollback(words: &mut Words<'_>) -> Result<Command, Fault> {
    let start = words.at;
    let _noise = words.eat("WORK") || words.eat("TRANSACTION");
    if words.eat("TO") {
        words.eat("SAVEPOINT");
        return Ok(Command::RollbackTo(words.name()?));
    }
    words.at = start;
    Ok(Command::Rollback { chain: words.chain()? })
}

/// `None` when it sets something else, which is the service's.
fn set_transaction(words: &mut Words<'_>) -> Option<Command> {
    let scope = words.eat("SESSION") || words.eat("LOCAL");
    let session = scope && words.eat("CHARACTERISTICS") && words.eat("AS");
    let transaction = words.eat("TRANSACTION") && words.peek() != Some(&Token::Symbol('='));
    transaction.then(|| Command::SetTransaction { session, read_only: modes(words) })
}

fn discard(words: &mut Words<'_>) -> Result<Command, Fault> {
    match words.keyword().as_str() {
        "ALL" => Ok(Command::Discard { all: true, tag: "DISCARD ALL" }),
        "PLANS" => Ok(Command::Discard { all: false, tag: "DISCARD PLANS" }),
        "SEQUENCES" => Ok(Command::Discard { all: false, tag: "DISCARD SEQUENCES" }),
        "TEMP" | "TEMPORARY" => Ok(Command::Discard { all: false, tag: "DISCARD TEMP" }),
        _ => Err(words.wrong("ALL, PLANS, SEQUENCES or TEMP")),
    }
}

fn declare(words: &mut Words<'_>) -> Result<Declare, Fault> {
    let name = words.name()?;
    let (mut binary, mut scroll) = (false, false);
    while !words.eat("CURSOR") {
        match words.keyword().as_str() {
            "BINARY" => binary = true,
            "INSENSITIVE" | "ASENSITIVE" => {}
            "NO" if words.eat("SCROLL") => {}
            "SCROLL" => scroll = true,
            _ => return Err(words.wrong("CURSOR")),
        }
    }
    if scroll {
        return Err(Fault::error("0A000", "cursors that scroll back are not supported").with_hint("declare it without SCROLL"));
    }
    let hold = words.eat("WITH");
    if (hold || words.eat("WITHOUT")) && !words.eat("HOLD") {
        return Err(words.wrong("HOLD"));
    }
    if !words.eat("FOR") {
        return Err(words.wrong("FOR"));
    }
    Ok(Declare { name, binary, hold, query: words.remaining_text()? })
}

fn fetch(words: &mut Words<'_>, skip: bool) -> Result<Fetch, Fault> {
    let forward = words.eat("NEXT") || words.eat("FORWARD");
    let count = match words.peek() {
        Some(Token::Number(digits)) => {
            words.next();
            Some(digits.parse().map_err(|_| words.wrong("a number of rows"))?)
        }
        Some(Token::Word(word)) if word.eq_ignore_ascii_case("ALL") => {
            words.next();
            None
        }
        Some(Token::Symbol('-')) => return Err(backward()),
        Some(Token::Word(word)) if !forward && BACKWARD.iter().any(|known| known.eq_ignore_ascii_case(word)) => return Err(backward()),
        _ => Some(1),
    };
    let _noise = words.eat("FROM") || words.eat("IN");
    Ok(Fetch { name: words.name()?, count, skip })
}

const BACKWARD: [&str; 6] = ["PRIOR", "FIRST", "LAST", "ABSOLUTE", "RELATIVE", "BACKWARD"];

fn backward() -> Fault {
    Fault::error("55000", "cursor can only scan forward").with_hint("use FETCH n, FETCH NEXT or FETCH ALL")
}

/// `COPY (query) TO STDOUT` and `COPY table [(columns)] TO STDOUT`. `None` for a copy to somewhere else.
fn copy(words: &mut Words<'_>) -> Result<Option<Command>, Fault> {
    let query = if words.peek() == Some(&Token::Symbol('(')) { words.parenthesised()?.to_owned() } else { copied_table(words)? };
    // What is written to decides the error.
    if words.eat("FROM") {
        return Ok(None);
    }
    if !words.eat("TO") {
        return Err(words.wrong("TO"));
    }
    if !words.eat("STDOUT") {
        return Ok(None);
    }
    Ok(Some(Command::Copy { query, options: read_options(words)? }))
}

/// The table as it was typed, as a query; quoting stays the user's own.
fn copied_table(words: &mut Words<'_>) -> Result<String, Fault> {
    let start = words.lexemes.get(words.at).map(|lexeme| lexeme.start);
    words.name()?;
    while words.eat_symbol('.') {
        words.name()?;
    }
    let end = words.lexemes[words.at - 1].end;
    let table = &words.sql[start.unwrap_or(end)..end];
    let columns = if words.peek() == Some(&Token::Symbol('(')) { words.parenthesised()? } else { "*" };
    Ok(format!("SELECT {columns} FROM {table}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::postgres::lexer::pieces;
    use crate::values::delimited::CopyFormat;

    fn read(sql: &str) -> Result<Option<Command>, Fault> {
        recognise(&pieces(sql).unwrap()[0], sql)
    }

    #[test]
    fn commands_are_told_from_queries() {
        assert_eq!(read("begin isolation level serializable").unwrap(), Some(Command::Begin { tag: "BEGIN", read_only: None }));
        assert_eq!(
            read("start transaction read only, isolation level read committed").unwrap(),
            Some(Command::Begin { tag: "START TRANSACTION", read_only: Some(true) })
        );
        assert_eq!(read("begin nonsense").unwrap_err().code, "42601");
        assert_eq!(read("COMMIT AND CHAIN").unwrap(), Some(Command::Commit { chain: true }));
        assert_eq!(read("rollback to savepoint \"A b\"").unwrap(), Some(Command::RollbackTo("A b".into())));
        assert_eq!(
            read("set session characteristics as transaction read only").unwrap(),
            Some(Command::SetTransaction { session: true, read_only: Some(true) })
        );
        assert_eq!(read("set timezone = 'UTC'").unwrap(), None);
        assert_eq!(read("select 1").unwrap(), None);
        assert_eq!(read("deallocate all").unwrap(), Some(Command::Deallocate(None)));
        assert_eq!(read("commit now").unwrap_err().code, "42601");
    }

    #[test]
    fn cursors() {
        let declare = Declare { name: "c1".into(), binary: false, hold: true, query: "SELECT ';' /* x */ , 1".into() };
        assert_eq!(read("DECLARE C1 NO SCROLL CURSOR WITH HOLD FOR SELECT ';' /* x */ , 1 ;").unwrap(), Some(Command::Declare(declare)));
        let fetch = |count, skip| Some(Command::Fetch(Fetch { name: "c".into(), count, skip }));
        assert_eq!(read("fetch forward 10 from \"c\"").unwrap(), fetch(Some(10), false));
        assert_eq!(read("fetch c").unwrap(), fetch(Some(1), false));
        assert_eq!(read("move all in c").unwrap(), fetch(None, true));
        assert_eq!(read("fetch -1 from c").unwrap_err().code, "55000");
    }

    #[test]
    fn copies() {
        let Some(Command::Copy { query, options }) = read("copy (select (1), ')') to stdout with (format csv, header)").unwrap() else { panic!("not a copy") };
        assert_eq!((query.as_str(), options.format, options.header), ("select (1), ')'", CopyFormat::Csv, true));
        let Some(Command::Copy { query, .. }) = read("COPY a.\"B c\" (x, y) TO STDOUT").unwrap() else { panic!("not a copy") };
        assert_eq!(query, "SELECT x, y FROM a.\"B c\"");
        assert_eq!(read("copy t from stdin").unwrap(), None);
        assert_eq!(read("copy t to 'file.csv'").unwrap(), None);
    }
}
