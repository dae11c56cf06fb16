// SPDX-License-Identifier: Apache-2.0
//! One session on the Postgres wire: takes messages one after the other, answers them, keeps the state in between.

use crate::postgres::command::{Command, Fetch, recognise};
use crate::postgres::fault::{Fault, Severity, Trouble};
use crate::postgres::frame::{self, Message};
use crate::postgres::lexer::{Token, pieces};
use crate::postgres::link::{Attention, Frame, Link};
use crate::postgres::portal::{Portal, Progress, Statement, Work, binary_columns, check_room};
use crate::postgres::registry::Seat;
use crate::postgres::rows::{Rows, Stretch, copy_out_response, measure};
use crate::postgres::transaction::Transaction;
use crate::postgres::{reply, startup};
use crate::server::Ending;
use crate::values::delimited::{CopyFormat, CopyOptions, put_epilogue, put_prologue};
use crate::values::{Zone, kind};
use std::collections::HashMap;
use std::sync::Arc;
use weir_api::{Parameter, Query, QueryService, Session, Settings};
use weir_base::limits::{SQL_TEXT_BYTES_MAX, WIRE_MESSAGE_BYTES_MAX};

/// Parameters that clients are told at the start; those that are settings are told again when they change.
const TOLD_SETTINGS: [(&str, &str); 9] = [
    ("server_version", "server_version"),
    ("server_encoding", "server_encoding"),
    ("client_encoding", "client_encoding"),
    ("application_name", "application_name"),
    ("DateStyle", "datestyle"),
    ("IntervalStyle", "intervalstyle"),
    ("TimeZone", "timezone"),
    ("integer_datetimes", "integer_datetimes"),
    ("standard_conforming_strings", "standard_conforming_strings"),
];

/// A session with all it holds.
pub struct Conversation {
    pub(super) link: Link,
    pub(super) session: Arc<Session>,
    pub(super) service: Arc<dyn QueryService>,
    seat: Seat,
    pub(super) attention: Attention,
    pub(super) statements: HashMap<String, Arc<Statement>>,
    pub(super) portals: HashMap<String, Portal>,
    pub(super) transaction: Transaction,
    /// Settings as they were after login: what DISCARD ALL goes back to.
    initial: Settings,
    told: HashMap<&'static str, String>,
    /// After an error in the extended protocol everything is skipped up to the next Sync.
    skip_to_sync: bool,
}

/// What a message leads to.
enum Next {
    Go,
    Quit,
}

impl Conversation {
    pub fn new(link: Link, session: Arc<Session>, service: Arc<dyn QueryService>, seat: Seat, ending: Ending) -> Self {
        let initial = session.settings().clone();
        let attention = Attention { cancel: seat.begin(), ending };
        Self {
            link,
            session,
            service,
            seat,
            attention,
            statements: HashMap::new(),
            portals: HashMap::new(),
            transaction: Transaction::default(),
            initial,
            told: HashMap::new(),
            skip_to_sync: false,
        }
    }

    /// Speaks until one side ends it.
    pub async fn run(mut self) {
        match self.talk().await {
            Ok(()) => self.link.close().await,
            Err(Trouble::Fault(fault)) => {
                reply::fault(&mut self.link.out, &startup::fatal(fault));
                self.portals.clear();
                self.link.close().await;
            }
            Err(Trouble::Gone) => tracing::debug!(session = %self.session.id, "ClientVanished"),
        }
    }

    async fn talk(&mut self) -> Result<(), Trouble> {
        for (name, value) in [("is_superuser", "off"), ("in_hot_standby", "off"), ("default_transaction_read_only", "off")] {
            reply::parameter_status(&mut self.link.out, name, value);
        }
        reply::parameter_status(&mut self.link.out, "session_authorization", self.session.user.as_str());
        self.ready().await?;
        loop {
            let drain = self.attention.ending.drain.clone();
            let frame = tokio::select! {
                biased;
                frame = self.link.frame(WIRE_MESSAGE_BYTES_MAX) => frame?,
                () = drain.cancelled() => return Err(Fault::shutting_down().into()),
            };
            self.attention.cancel = self.seat.begin();
            let answered = self.answer(frame).await;
            self.seat.end();
            match answered {
                Ok(Next::Go) => {}
                Ok(Next::Quit) => return Ok(()),
                Err(trouble) => return Err(trouble),
            }
        }
    }

    /// Errors here end the connection; those of statements have been told to the client already.
    async fn answer(&mut self, frame: Frame) -> Result<Next, Trouble> {
        let (message, simple) = match frame {
            Frame::Whole(tag, body) => (frame::parse(tag, &body), tag == b'Q' || tag == b'F'),
            Frame::TooLong(tag, size) => (Err(too_long(size)), tag == b'Q'),
        };
        let message = match message {
            Ok(message) => message,
            Err(fault) if fault.severity == Severity::Fatal => return Err(fault.into()),
            Err(fault) => return self.refuse(fault, simple).await,
        };
        let worked = match message {
            Message::Terminate => return Ok(Next::Quit),
            Message::Sync => {
                self.skip_to_sync = false;
                self.ready().await?;
                return Ok(Next::Go);
            }
            Message::Query(sql) => {
                self.skip_to_sync = false;
                let worked = self.simple(&sql).await;
                return self.end_simple(worked).await;
            }
            Message::Flush => self.link.flush().await,
            Message::Ignored => Ok(()),
            _ if self.skip_to_sync => Ok(()),
            Message::Parse { name, sql, types } => self.parse(name, &sql, &types).await,
            Message::Bind(bind) => self.bind(bind),
            Message::Describe(target) => self.describe(target).await,
            Message::Execute { portal, rows_max } => self.execute(&portal, rows_max).await,
            Message::Close(target) => self.close(&target),
        };
        match worked {
            Ok(()) => Ok(Next::Go),
            Err(Trouble::Fault(fault)) if fault.severity != Severity::Fatal => self.refuse(fault, false).await,
            Err(trouble) => Err(trouble),
        }
    }

    async fn end_simple(&mut self, worked: Result<(), Trouble>) -> Result<Next, Trouble> {
        match worked {
            Ok(()) => self.ready().await?,
            Err(Trouble::Fault(fault)) if fault.severity != Severity::Fatal => return self.refuse(fault, true).await,
            Err(trouble) => return Err(trouble),
        }
        Ok(Next::Go)
    }

    /// Tells the client about a statement that failed.
    async fn refuse(&mut self, fault: Fault, simple: bool) -> Result<Next, Trouble> {
        if self.skip_to_sync && !simple {
            return Ok(Next::Go);
        }
        tracing::debug!(session = %self.session.id, code = fault.code, "StatementFailed");
        reply::fault(&mut self.link.out, &fault);
        self.transaction.fail();
        self.portals.retain(|_, portal| portal.hold);
        if simple {
            self.ready().await?;
        } else {
            self.skip_to_sync = true;
        }
        Ok(Next::Go)
    }

    /// Ends a round: settings that changed, ReadyForQuery, and all that has gathered goes out.
    async fn ready(&mut self) -> Result<(), Trouble> {
        self.tell_settings();
        if !self.transaction.open() {
            self.portals.retain(|_, portal| portal.hold);
        }
        reply::ready(&mut self.link.out, self.transaction.status());
        self.link.flush().await?;
        self.link.shrink();
        Ok(())
    }

    fn tell_settings(&mut self) {
        let settings = self.session.settings();
        for (shown, name) in TOLD_SETTINGS {
            let Ok(value) = settings.get(name) else { continue };
            if self.told.get(shown) != Some(&value) {
                reply::parameter_status(&mut self.link.out, shown, &value);
                self.told.insert(shown, value);
            }
        }
    }

    /// Cuts a text into the statements of the wire and those of the service. Errors: too long, bad SQL.
    pub(super) fn works(&self, sql: &str) -> Result<Vec<Work>, Fault> {
        if sql.len() > SQL_TEXT_BYTES_MAX {
            return Err(too_long(sql.len()));
        }
        let Some(pieces) = pieces(sql) else { return Ok(self.service.split(sql)?.into_iter().map(Work::Query).collect()) };
        let mut works = Vec::with_capacity(pieces.len());
        for piece in &pieces {
            match recognise(piece, sql)? {
                Some(command) => works.push(Work::Command(command)),
                None => works.extend(self.service.split(piece.text)?.into_iter().map(Work::Query)),
            }
        }
        Ok(works)
    }

    async fn simple(&mut self, sql: &str) -> Result<(), Trouble> {
        let works = self.works(sql)?;
        if works.is_empty() {
            reply::bare(&mut self.link.out, b'I');
        }
        for work in works {
            match work {
                Work::Query(sql) => self.simple_query(sql).await?,
                Work::Command(command) => self.carry_out(&command, &[], &[], true).await?,
                Work::Empty => {}
            }
        }
        Ok(())
    }

    async fn simple_query(&mut self, sql: String) -> Result<(), Trouble> {
        self.transaction.check()?;
        let tag = rows_tag(&sql);
        let mut rows = self.begin(sql, Vec::new(), None).await?;
        let formats = vec![false; rows.columns().len()];
        if rows.command_tag().is_none() {
            reply::row_description(&mut self.link.out, rows.columns(), &formats);
        }
        let stretch = self.send(&mut rows, &formats, None).await?;
        self.complete(&rows, tag, stretch);
        Ok(())
    }

    /// Starts a statement at the service.
    pub(super) async fn begin(&mut self, sql: String, parameters: Vec<Parameter>, announced: Option<&[reply::ColumnShape]>) -> Result<Rows, Trouble> {
        let verb = first_word(&sql);
        self.transaction.check_access(&verb, self.read_only()?)?;
        let mut measure = measure();
        let query = Query::new(sql).with_params(parameters);
        let answer = self.attention.wait(&mut self.link, self.service.run(&self.session, query)).await?;
        let answer = answer.inspect_err(|error| measure.failed(error.code().sqlstate()))?;
        Ok(Rows::new(answer, announced, measure)?)
    }

    /// Whether the session's settings say that it only reads.
    fn read_only(&self) -> Result<bool, Fault> {
        let settings = self.session.settings();
        Ok(settings.get("transaction_read_only")? == "on" || settings.get("default_transaction_read_only")? == "on")
    }

    pub(super) async fn send(&mut self, rows: &mut Rows, formats: &[bool], rows_max: Option<u64>) -> Result<Stretch, Trouble> {
        let zone = self.zone(rows.columns())?;
        let sent = rows.send(&mut self.link, &self.attention, formats, zone, rows_max).await;
        if let Err(Trouble::Fault(fault)) = &sent {
            rows.failed(fault);
        }
        sent
    }

    /// The session's zone, where there are instants to show in it: a bad one must not stand in the way of setting a good one.
    fn zone(&self, columns: &[reply::ColumnShape]) -> Result<Zone, Fault> {
        let instants = columns.iter().any(|column| column.kind.element == kind::TIMESTAMPTZ);
        if instants { Ok(Zone::parse(&self.session.settings().timezone)?) } else { Ok(Zone::Utc) }
    }

    /// CommandComplete, after the receipt where it is wanted.
    pub(super) fn complete(&mut self, rows: &Rows, tag: RowsTag, stretch: Stretch) {
        if stretch.ended && rows.told() && self.session.settings().receipt {
            let receipt = rows.receipt();
            let notice = Fault::notice(receipt.footer());
            let notice = match serde_json::to_string(&receipt) {
                Ok(json) => notice.with_detail(json),
                Err(error) => notice.with_detail(format!("receipt cannot be shown: {error}")),
            };
            reply::fault(&mut self.link.out, &notice);
        }
        let tag = match (rows.command_tag(), tag) {
            (Some(command), _) => command.to_owned(),
            (None, RowsTag::Counted) => format!("SELECT {}", stretch.rows),
            (None, RowsTag::Word(word)) => word.to_owned(),
        };
        if rows.command_tag().is_some() {
            self.transaction.done(&tag);
        }
        reply::command_complete(&mut self.link.out, &tag);
    }

    /// A command of the wire itself. `simple` says whether row descriptions are sent unasked.
    pub(super) async fn carry_out(&mut self, command: &Command, parameters: &[Parameter], formats: &[i16], simple: bool) -> Result<(), Trouble> {
        if !command.ends_failure() {
            self.transaction.check()?;
        }
        match command {
            Command::Copy { query, options } => return self.copy(query.clone(), parameters.to_vec(), options).await,
            Command::Fetch(fetch) => return self.fetch(fetch, formats, simple).await,
            Command::Declare(declare) => {
                if !declare.hold {
                    self.transaction.require_block("DECLARE CURSOR")?;
                }
                if self.portals.contains_key(&declare.name) {
                    return Err(Fault::error("42P03", format!("cursor {:?} already exists", declare.name)).into());
                }
                check_room(&self.portals, &declare.name, "portals")?;
                let rows = self.begin(declare.query.clone(), parameters.to_vec(), None).await?;
                if rows.command_tag().is_some() {
                    return Err(Fault::syntax("a cursor needs a query that returns rows").into());
                }
                let formats = if declare.binary { vec![1] } else { Vec::new() };
                let statement =
                    Statement { work: Work::Query(declare.query.clone()), parameters: Vec::new(), taken: 0, columns: Some(rows.columns().to_vec()) };
                let portal =
                    Portal { progress: Progress::Running(Box::new(rows)), hold: declare.hold, ..Portal::new(Arc::new(statement), Vec::new(), formats) };
                self.portals.insert(declare.name.clone(), portal);
                self.done("DECLARE CURSOR", None);
            }
            _ => self.keep_house(command)?,
        }
        Ok(())
    }

    /// Commands that touch only the session's own state.
    fn keep_house(&mut self, command: &Command) -> Result<(), Fault> {
        let failed = self.transaction.status() == b'E';
        let (tag, warning) = match command {
            Command::Begin { tag, read_only } => (*tag, self.transaction.begin(*read_only)),
            Command::Commit { chain } => self.transaction.commit(*chain),
            Command::Rollback { chain } => ("ROLLBACK", self.transaction.rollback(*chain)),
            Command::RollbackTo(name) => ("ROLLBACK", self.transaction.rollback_to(name)?),
            Command::Savepoint(name) => ("SAVEPOINT", self.transaction.savepoint(name).map(|()| None)?),
            Command::Release(name) => ("RELEASE", self.transaction.release(name).map(|()| None)?),
            Command::SetTransaction { session, read_only } => {
                self.transaction.characterise(*session, *read_only);
                ("SET", None)
            }
            Command::Listen => ("LISTEN", None),
            Command::Unlisten => ("UNLISTEN", None),
            Command::Discard { all, tag } => (*tag, self.discard(*all)?),
            Command::Deallocate(name) => (self.deallocate(name.as_deref())?, None),
            Command::CloseCursor(name) => (self.close_cursor(name.as_deref())?, None),
            Command::Declare(_) | Command::Fetch(_) | Command::Copy { .. } => return Err(Fault::error("XX000", "a command went the wrong way")),
        };
        self.keep_block(command, failed)?;
        self.done(tag, warning);
        Ok(())
    }

    /// What a transaction block holds besides its state: cursors, and settings that end with it.
    fn keep_block(&mut self, command: &Command, failed: bool) -> Result<(), Fault> {
        if let Command::Commit { chain } | Command::Rollback { chain } = command {
            self.portals.retain(|_, portal| portal.hold);
            self.session.end_block(failed || matches!(command, Command::Rollback { .. }))?;
            if *chain && self.transaction.open() {
                self.session.begin_block();
            }
        }
        if matches!(command, Command::Begin { .. }) {
            self.session.begin_block();
        }
        Ok(())
    }

    fn done(&mut self, tag: &str, warning: Option<Fault>) {
        if let Some(warning) = warning {
            reply::fault(&mut self.link.out, &warning);
        }
        reply::command_complete(&mut self.link.out, tag);
    }

    fn discard(&mut self, all: bool) -> Result<Option<Fault>, Fault> {
        if !all {
            return Ok(None);
        }
        if self.transaction.open() {
            return Err(Fault::error("25001", "DISCARD ALL cannot run inside a transaction block"));
        }
        self.statements.clear();
        self.portals.clear();
        self.session.settings().clone_from(&self.initial);
        Ok(None)
    }

    fn deallocate(&mut self, name: Option<&str>) -> Result<&'static str, Fault> {
        let Some(name) = name else {
            self.statements.clear();
            return Ok("DEALLOCATE ALL");
        };
        match self.statements.remove(name) {
            Some(_) => Ok("DEALLOCATE"),
            None => Err(Fault::error("26000", format!("prepared statement {name:?} does not exist"))),
        }
    }

    fn close_cursor(&mut self, name: Option<&str>) -> Result<&'static str, Fault> {
        let Some(name) = name else {
            self.portals.clear();
            return Ok("CLOSE CURSOR ALL");
        };
        match self.portals.remove(name) {
            Some(_) => Ok("CLOSE CURSOR"),
            None => Err(no_cursor(name)),
        }
    }

    async fn fetch(&mut self, fetch: &Fetch, formats: &[i16], simple: bool) -> Result<(), Trouble> {
        let mut portal = self.portals.remove(&fetch.name).ok_or_else(|| no_cursor(&fetch.name))?;
        let verb = if fetch.skip { "MOVE" } else { "FETCH" };
        let columns = portal.statement.columns.clone().unwrap_or_default();
        let chosen = if formats.is_empty() { &portal.formats } else { formats };
        let formats = binary_columns(chosen, columns.len())?;
        if simple && !fetch.skip {
            reply::row_description(&mut self.link.out, &columns, &formats);
        }
        let mut stretch = Stretch { rows: 0, ended: true };
        if let Progress::Running(rows) = &mut portal.progress {
            stretch = match fetch.skip {
                true => rows.skip(&mut self.link, &self.attention, fetch.count).await?,
                false => self.send(rows, &formats, fetch.count).await?,
            };
            if stretch.ended {
                portal.progress = Progress::Ended;
            }
        }
        self.portals.insert(fetch.name.clone(), portal);
        self.done(&format!("{verb} {}", stretch.rows), None);
        Ok(())
    }

    async fn copy(&mut self, query: String, parameters: Vec<Parameter>, options: &CopyOptions) -> Result<(), Trouble> {
        let mut rows = self.begin(query, parameters, None).await?;
        let zone = self.zone(rows.columns())?;
        if rows.command_tag().is_some() {
            return Err(Fault::syntax("COPY needs a query that returns rows").into());
        }
        let names: Vec<&str> = rows.columns().iter().map(|column| column.name.as_str()).collect();
        copy_out_response(&mut self.link.out, options.format == CopyFormat::Binary, names.len());
        let mut prologue = Vec::new();
        put_prologue(options, &names, &mut prologue);
        if options.format != CopyFormat::Binary {
            self.copy_data(&std::mem::take(&mut prologue));
        }
        let sent = rows.copy(&mut self.link, &self.attention, options, zone, &mut prologue).await;
        if let Err(Trouble::Fault(fault)) = &sent {
            rows.failed(fault);
        }
        let stretch = sent?;
        put_epilogue(options, &mut prologue);
        self.copy_data(&prologue);
        reply::bare(&mut self.link.out, b'c');
        self.done(&format!("COPY {}", stretch.rows), None);
        Ok(())
    }

    fn copy_data(&mut self, data: &[u8]) {
        if !data.is_empty() {
            reply::message(&mut self.link.out, b'd', |out| out.extend_from_slice(data));
        }
    }
}

/// How the tag of a statement that gave rows is worded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowsTag {
    Counted,
    Word(&'static str),
}

/// The keyword that a statement begins with, in upper case; empty when there is none.
fn first_word(sql: &str) -> String {
    let first = pieces(sql).and_then(|pieces| pieces.into_iter().next()).and_then(|piece| piece.lexemes.into_iter().next());
    match first.map(|lexeme| lexeme.token) {
        Some(Token::Word(word)) => word.to_ascii_uppercase(),
        _ => String::new(),
    }
}

pub(super) fn rows_tag(sql: &str) -> RowsTag {
    match first_word(sql).as_str() {
        "SHOW" => RowsTag::Word("SHOW"),
        "EXPLAIN" => RowsTag::Word("EXPLAIN"),
        _ => RowsTag::Counted,
    }
}

pub(super) fn no_cursor(name: &str) -> Fault {
    Fault::error("34000", format!("cursor {name:?} does not exist"))
}

fn too_long(size: usize) -> Fault {
    Fault::error("54000", "statement is too long")
        .with_detail(format!("{size} bytes; at most {SQL_TEXT_BYTES_MAX} are taken"))
        .with_hint("pass long lists as parameters, or load them into a lake table")
}
