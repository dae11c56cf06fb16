// SPDX-License-Identifier: Apache-2.0
//! The operating-system account a server runs under: ours, or for PostgreSQL the unprivileged `postgres` when we are root.

use std::ffi::OsString;
use std::os::unix::fs::{MetadataExt, chown};
use std::path::Path;
use weir_base::{Error, ErrorCode, Result};

/// Who a server runs as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Account {
    Own,
    Other { uid: u32, gid: u32 },
}

impl Account {
    /// PostgreSQL refuses to run as root, so root lends it the account that its Debian package makes.
    pub(crate) fn for_postgres() -> Result<Self> {
        if !runs_as_root()? {
            return Ok(Self::Own);
        }
        let accounts = std::fs::read_to_string("/etc/passwd").map_err(|e| Error::internal("cannot read the list of accounts").with_detail(e.to_string()))?;
        find(&accounts, "postgres").ok_or_else(|| {
            Error::new(ErrorCode::NotFound, "no account to run PostgreSQL under")
                .with_detail("this process is root, PostgreSQL does not run as root, and there is no user postgres")
                .with_hint("run `make setup`, or install the Debian package postgresql")
        })
    }

    /// What stands before a command so that it runs under this account.
    pub(crate) fn prefix(self) -> Vec<OsString> {
        match self {
            Self::Own => Vec::new(),
            Self::Other { uid, gid } => {
                vec!["setpriv".into(), format!("--reuid={uid}").into(), format!("--regid={gid}").into(), "--clear-groups".into(), "--".into()]
            }
        }
    }

    /// Makes `path` (one file or folder, not what is in it) belong to this account.
    pub(crate) fn own(self, path: &Path) -> Result<()> {
        let Self::Other { uid, gid } = self else { return Ok(()) };
        chown(path, Some(uid), Some(gid))
            .map_err(|e| Error::internal("cannot hand a file to the server's account").with_detail(format!("{}: {e}", path.display())))
    }
}

/// Whether this process is root. Asked of /proc, since std has no `geteuid`.
pub(crate) fn runs_as_root() -> Result<bool> {
    let me = std::fs::metadata("/proc/self").map_err(|e| Error::internal("cannot read /proc/self").with_detail(e.to_string()))?;
    Ok(me.uid() == 0)
}

/// Finds `name` in the text of a passwd file (`name:x:uid:gid:…`).
fn find(accounts: &str, name: &str) -> Option<Account> {
    let line = accounts.lines().find(|line| line.split(':').next() == Some(name))?;
    let mut fields = line.split(':').skip(2);
    let uid = fields.next()?.parse().ok()?;
    let gid = fields.next()?.parse().ok()?;
    Some(Account::Other { uid, gid })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_an_account_by_its_whole_name() {
        let text = "root:x:0:0:root:/root:/bin/bash\npostgres2:x:7:7::/:/bin/sh\npostgres:x:106:113::/var/lib/postgresql:/bin/bash\n";
        assert_eq!(find(text, "postgres"), Some(Account::Other { uid: 106, gid: 113 }));
        assert_eq!(find(text, "post"), None);
    }

    #[test]
    fn another_account_is_entered_through_setpriv() {
        let prefix = Account::Other { uid: 106, gid: 113 }.prefix();
        assert_eq!(prefix, ["setpriv", "--reuid=106", "--regid=113", "--clear-groups", "--"]);
        assert!(Account::Own.prefix().is_empty());
    }
}
