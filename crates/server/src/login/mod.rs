// SPDX-License-Identifier: Apache-2.0
//! Who is asking: SCRAM-SHA-256 on the Postgres wire, the same secrets as Basic credentials on HTTP.

mod scram;

pub use scram::{Exchange, Verifier};

use crate::config::{Auth, Secret};
use ring::hmac;
use std::collections::{BTreeMap, HashSet};
use std::sync::{Mutex, PoisonError};
use weir_base::{Error, ErrorCode, Result, UserName};

/// The user that everybody is where there is no login.
pub const LOCAL_USER: &str = "local";
/// Proven credentials that are remembered, so that each HTTP request does not cost thousands of hash rounds.
const PROVEN_MAX: usize = 1024;

/// All users with what they prove to know.
pub struct Logins {
    users: Option<BTreeMap<UserName, Verifier>>,
    /// Makes up salts for users who do not exist, so that they look like those who do; also keys the memory of proofs.
    key: hmac::Key,
    proven: Mutex<HashSet<[u8; 32]>>,
}

impl Logins {
    /// Errors: a verifier that is not one.
    pub fn new(auth: &Auth) -> Result<Self> {
        let key_bytes: [u8; 32] = rand::random();
        let users = match auth {
            Auth::Open => None,
            Auth::Scram(users) => Some(users.iter().map(|(name, secret)| Ok((name.clone(), verifier(name, secret)?))).collect::<Result<_>>()?),
        };
        Ok(Self { users, key: hmac::Key::new(hmac::HMAC_SHA256, &key_bytes), proven: Mutex::default() })
    }

    /// True when nobody has to prove anything.
    pub fn open(&self) -> bool {
        self.users.is_none()
    }

    /// Begins a SCRAM exchange. A user who does not exist gets one that always fails at its end.
    pub fn exchange(&self, user: &str) -> Exchange {
        let known = self.users.as_ref().and_then(|users| users.get(&UserName::new(user)));
        Exchange::new(known.cloned().unwrap_or_else(|| self.decoy(user)))
    }

    /// Checks a name and a password. Error: 28P01, the same for a wrong name and a wrong password. Slow the first time.
    pub fn check_password(&self, user: &str, password: &str) -> Result<UserName> {
        let name = UserName::new(user);
        if self.proven(user, password) {
            return Ok(name);
        }
        let known = self.users.as_ref().and_then(|users| users.get(&name));
        let verifier = known.cloned().unwrap_or_else(|| self.decoy(user));
        let matches = verifier.matches(password);
        if !matches || known.is_none() {
            return Err(bad_password());
        }
        let mut proven = self.remembered();
        if proven.len() >= PROVEN_MAX {
            proven.clear();
        }
        proven.insert(self.proof(user, password));
        Ok(name)
    }

    /// Whether these have been proven before; cheap.
    pub fn proven(&self, user: &str, password: &str) -> bool {
        self.remembered().contains(&self.proof(user, password))
    }

    fn remembered(&self) -> std::sync::MutexGuard<'_, HashSet<[u8; 32]>> {
        self.proven.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A keyed hash: the memory of proofs holds no password.
    fn proof(&self, user: &str, password: &str) -> [u8; 32] {
        let mut context = hmac::Context::with_key(&self.key);
        for part in [user, password] {
            context.update(&(part.len() as u64).to_be_bytes());
            context.update(part.as_bytes());
        }
        scram::bytes_of(context.sign().as_ref())
    }

    fn decoy(&self, user: &str) -> Verifier {
        Verifier::decoy(scram::bytes_of(hmac::sign(&self.key, user.as_bytes()).as_ref()))
    }
}

/// The one answer to a login that failed.
pub fn bad_password() -> Error {
    Error::new(ErrorCode::BadPassword, "wrong user name or password")
}

fn verifier(name: &UserName, secret: &Secret) -> Result<Verifier> {
    match secret {
        Secret::Password(password) => Ok(Verifier::from_password(password)),
        Secret::ScramVerifier(text) => Verifier::parse(text).ok_or_else(|| {
            Error::new(ErrorCode::Config, "password_scram is not a SCRAM-SHA-256 verifier")
                .with_detail(format!("user {name}"))
                .with_hint("write SCRAM-SHA-256$4096:<salt>$<stored key>:<server key>, as in pg_authid of Postgres")
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_checked_and_remembered() {
        let users = BTreeMap::from([(UserName::new("ana"), Secret::Password("s3cret".into()))]);
        let logins = Logins::new(&Auth::Scram(users)).unwrap();
        assert_eq!(logins.check_password("ana", "s3cret").unwrap().as_str(), "ana");
        assert_eq!(logins.remembered().len(), 1);
        assert_eq!(logins.check_password("ana", "s3cret").unwrap().as_str(), "ana");
        let wrong = logins.check_password("ana", "guess").unwrap_err();
        let unknown = logins.check_password("eve", "guess").unwrap_err();
        assert_eq!((wrong.code().sqlstate(), wrong.message()), ("28P01", unknown.message()));
        assert!(logins.check_password("an", "as3cret").is_err());
    }
}
