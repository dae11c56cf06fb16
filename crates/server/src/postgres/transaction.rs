// SPDX-License-Identifier: Apache-2.0
//! Transaction blocks as far as clients need them: states, savepoints, tags. Weir commits each statement at once.

use crate::postgres::fault::Fault;

/// Where a session stands.
#[derive(Debug, Default)]
pub struct Transaction {
    state: State,
    savepoints: Vec<String>,
    wrote: bool,
    read_only: bool,
    /// What the following transactions are unless they say otherwise.
    read_only_by_default: bool,
}

/// Statements that change something begin with one of these.
const WRITES: [&str; 9] = ["INSERT", "UPDATE", "DELETE", "MERGE", "CREATE", "DROP", "ALTER", "REFRESH", "TRUNCATE"];

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Idle,
    Open,
    Failed,
}

impl Transaction {
    /// What ReadyForQuery says.
    pub fn status(&self) -> u8 {
        match self.state {
            State::Idle => b'I',
            State::Open => b'T',
            State::Failed => b'E',
        }
    }

    pub fn open(&self) -> bool {
        self.state != State::Idle
    }

    /// Error: 25P02 in a failed transaction.
    pub fn check(&self) -> Result<(), Fault> {
        match self.state {
            State::Failed => {
                Err(Fault::error("25P02", "current transaction is aborted, commands ignored until end of transaction block").with_hint("send ROLLBACK"))
            }
            _ => Ok(()),
        }
    }

    /// A statement failed.
    pub fn fail(&mut self) {
        if self.state == State::Open {
            self.state = State::Failed;
        }
    }

    /// A statement with this tag was carried out: remembers whether a rollback would have something to undo.
    pub fn done(&mut self, tag: &str) {
        let verb = tag.split(' ').next().unwrap_or_default();
        self.wrote |= WRITES.contains(&verb) && self.open();
    }

    /// Error: 25006 when a statement that begins with this word would write in a read-only transaction, or in a session that only reads.
    pub fn check_access(&self, verb: &str, session_reads: bool) -> Result<(), Fault> {
        let read_only = session_reads || if self.open() { self.read_only } else { self.read_only_by_default };
        let verb = verb.to_ascii_uppercase();
        if read_only && WRITES.contains(&verb.as_str()) {
            return Err(Fault::error("25006", format!("cannot execute {verb} in a read-only transaction")));
        }
        Ok(())
    }

    /// `SET TRANSACTION` or, with `session`, `SET SESSION CHARACTERISTICS AS TRANSACTION`.
    pub fn characterise(&mut self, session: bool, read_only: Option<bool>) {
        match (session, read_only) {
            (true, Some(read_only)) => self.read_only_by_default = read_only,
            (false, Some(read_only)) => self.read_only = read_only,
            (_, None) => {}
        }
    }

    pub fn begin(&mut self, read_only: Option<bool>) -> Option<Fault> {
        if self.open() {
            return Some(Fault::warning("25001", "there is already a transaction in progress"));
        }
        self.state = State::Open;
        self.read_only = read_only.unwrap_or(self.read_only_by_default);
        None
    }

    /// Gives the tag, and a warning where there is one to give.
    pub fn commit(&mut self, chain: bool) -> (&'static str, Option<Fault>) {
        let before = self.end(chain);
        match before.state {
            State::Idle => ("COMMIT", Some(no_transaction())),
            State::Open => ("COMMIT", None),
            State::Failed => ("ROLLBACK", before.wrote.then(kept)),
        }
    }

    pub fn rollback(&mut self, chain: bool) -> Option<Fault> {
        let before = self.end(chain);
        if before.state == State::Idle { Some(no_transaction()) } else { before.wrote.then(kept) }
    }

    fn end(&mut self, chain: bool) -> Self {
        let fresh = Self { read_only_by_default: self.read_only_by_default, ..Self::default() };
        let before = std::mem::replace(self, fresh);
        if chain && before.open() {
            self.state = State::Open;
            self.read_only = before.read_only;
        }
        before
    }

    pub fn savepoint(&mut self, name: &str) -> Result<(), Fault> {
        self.require_block("SAVEPOINT")?;
        self.savepoints.push(name.to_owned());
        Ok(())
    }

    pub fn release(&mut self, name: &str) -> Result<(), Fault> {
        self.require_block("RELEASE SAVEPOINT")?;
        let at = self.find(name)?;
        self.savepoints.truncate(at);
        Ok(())
    }

    /// Back to a savepoint, which also ends the failed state.
    pub fn rollback_to(&mut self, name: &str) -> Result<Option<Fault>, Fault> {
        self.require_block("ROLLBACK TO SAVEPOINT")?;
        let at = self.find(name)?;
        self.savepoints.truncate(at + 1);
        self.state = State::Open;
        Ok(self.wrote.then(kept))
    }

    fn find(&self, name: &str) -> Result<usize, Fault> {
        self.savepoints.iter().rposition(|known| known == name).ok_or_else(|| Fault::error("3B001", format!("savepoint {name:?} does not exist")))
    }

    /// Error: 25P01 outside of a transaction block.
    pub fn require_block(&self, what: &str) -> Result<(), Fault> {
        match self.open() {
            true => Ok(()),
            false => Err(Fault::error("25P01", format!("{what} can only be used in transaction blocks")).with_hint("send BEGIN first")),
        }
    }
}

fn no_transaction() -> Fault {
    Fault::warning("25P01", "there is no transaction in progress")
}

fn kept() -> Fault {
    Fault::warning("01000", "changes made in this transaction were kept").with_detail("weir commits each statement at once, so a rollback does not undo it")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_follow_the_commands() {
        let mut transaction = Transaction::default();
        assert_eq!(transaction.commit(false).1.unwrap().code, "25P01");
        assert!(transaction.begin(None).is_none());
        transaction.savepoint("a").unwrap();
        transaction.fail();
        assert_eq!((transaction.status(), transaction.check().unwrap_err().code), (b'E', "25P02"));
        transaction.rollback_to("a").unwrap();
        assert_eq!(transaction.status(), b'T');
        assert_eq!(transaction.release("b").unwrap_err().code, "3B001");
        transaction.done("INSERT 0 1");
        assert_eq!(transaction.rollback(false).unwrap().code, "01000");
        assert_eq!(transaction.status(), b'I');
    }

    #[test]
    fn read_only_transactions_refuse_writes() {
        let mut transaction = Transaction::default();
        transaction.begin(Some(true));
        assert_eq!(transaction.check_access("insert", false).unwrap_err().code, "25006");
        transaction.check_access("select", false).unwrap();
        transaction.commit(false);
        transaction.check_access("insert", false).unwrap();
        transaction.characterise(true, Some(true));
        transaction.begin(None);
        assert_eq!(transaction.check_access("DROP", false).unwrap_err().message, "cannot execute DROP in a read-only transaction");
        transaction.characterise(false, Some(false));
        transaction.check_access("DROP", false).unwrap();
        assert_eq!(transaction.check_access("DROP", true).unwrap_err().code, "25006");
    }
}
