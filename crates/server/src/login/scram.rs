// SPDX-License-Identifier: Apache-2.0
//! SCRAM-SHA-256 (RFC 5802 and 7677), the server's half, without channel binding.

use crate::login::bad_password;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::{digest, hmac, pbkdf2};
use std::fmt;
use std::num::NonZeroU32;
use weir_base::{Error, ErrorCode, Result};

/// Rounds of hashing for passwords given in the clear; what Postgres uses.
const ITERATIONS: NonZeroU32 = NonZeroU32::new(4096).expect("4096 is not zero");
/// More than this in a stored verifier is a mistake that would stall logins.
const ITERATIONS_MAX: u32 = 10_000_000;

/// What the server keeps of a password: enough to check it, not enough to use it.
#[derive(Clone)]
pub struct Verifier {
    iterations: NonZeroU32,
    salt: Vec<u8>,
    stored_key: [u8; 32],
    server_key: [u8; 32],
}

impl Verifier {
    /// With a fresh salt.
    pub fn from_password(password: &str) -> Self {
        let salt: [u8; 16] = rand::random();
        Self::derive(password, ITERATIONS, salt.to_vec())
    }

    /// Reads `SCRAM-SHA-256$<iterations>:<salt>$<stored key>:<server key>`.
    pub fn parse(text: &str) -> Option<Self> {
        let (head, keys) = text.strip_prefix("SCRAM-SHA-256$")?.split_once('$')?;
        let (iterations, salt) = head.split_once(':')?;
        let (stored_key, server_key) = keys.split_once(':')?;
        let iterations = iterations.parse().ok().filter(|rounds: &NonZeroU32| rounds.get() <= ITERATIONS_MAX)?;
        let key = |text: &str| STANDARD.decode(text).ok()?.try_into().ok();
        Some(Self { iterations, salt: STANDARD.decode(salt).ok()?, stored_key: key(stored_key)?, server_key: key(server_key)? })
    }

    /// A verifier that nothing matches, made of bytes that stay the same for one user name.
    pub fn decoy(seed: [u8; 32]) -> Self {
        Self { iterations: ITERATIONS, salt: seed[..16].to_vec(), stored_key: [0; 32], server_key: seed }
    }

    fn derive(password: &str, iterations: NonZeroU32, salt: Vec<u8>) -> Self {
        // RFC 7677 wants SASLprep; as in Postgres, a password that it refuses is taken as it is.
        let prepared = stringprep::saslprep(password).unwrap_or(password.into());
        let mut salted = [0; 32];
        pbkdf2::derive(pbkdf2::PBKDF2_HMAC_SHA256, iterations, &salt, prepared.as_bytes(), &mut salted);
        let key = hmac::Key::new(hmac::HMAC_SHA256, &salted);
        let client_key = hmac::sign(&key, b"Client Key");
        let stored_key = bytes_of(digest::digest(&digest::SHA256, client_key.as_ref()).as_ref());
        Self { iterations, salt, stored_key, server_key: bytes_of(hmac::sign(&key, b"Server Key").as_ref()) }
    }

    /// Whether this is the password. Costs all rounds of hashing.
    pub fn matches(&self, password: &str) -> bool {
        let tried = Self::derive(password, self.iterations, self.salt.clone());
        same(&tried.stored_key, &self.stored_key)
    }
}

impl fmt::Display for Verifier {
    /// As `parse` reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [salt, stored, server] = [&self.salt[..], &self.stored_key, &self.server_key].map(|bytes| STANDARD.encode(bytes));
        write!(f, "SCRAM-SHA-256${}:{salt}${stored}:{server}", self.iterations)
    }
}

/// A SHA-256 sized array of a slice that has this size.
pub fn bytes_of(slice: &[u8]) -> [u8; 32] {
    let mut out = [0; 32];
    for (to, from) in out.iter_mut().zip(slice) {
        *to = *from;
    }
    out
}

/// Compares without telling by its time where two keys differ.
fn same(a: &[u8; 32], b: &[u8; 32]) -> bool {
    a.iter().zip(b).fold(0, |difference, (x, y)| difference | (x ^ y)) == 0
}

/// One login: the client's first message gives `challenge`, its second `prove`.
pub struct Exchange {
    verifier: Verifier,
    nonce: String,
    gs2_header: String,
    first_bare: String,
    server_first: String,
}

impl Exchange {
    pub fn new(verifier: Verifier) -> Self {
        let random: [u8; 18] = rand::random();
        Self { verifier, nonce: STANDARD.encode(random), gs2_header: String::new(), first_bare: String::new(), server_first: String::new() }
    }

    /// Takes the client's first message and gives the server's. Errors: 08P01.
    pub fn challenge(&mut self, client_first: &str) -> Result<String> {
        let bad = || protocol("malformed SCRAM message");
        let mut parts = client_first.splitn(3, ',');
        let (binding, authzid, bare) = (parts.next().ok_or_else(bad)?, parts.next().ok_or_else(bad)?, parts.next().ok_or_else(bad)?);
        if !matches!(binding, "n" | "y") {
            return Err(protocol("channel binding is not offered"));
        }
        let nonce = bare.split(',').find_map(|field| field.strip_prefix("r=")).filter(|nonce| !nonce.is_empty()).ok_or_else(bad)?;
        if bare.starts_with("m=") {
            return Err(protocol("a SCRAM extension is not supported"));
        }
        self.nonce.insert_str(0, nonce);
        self.gs2_header = format!("{binding},{authzid},");
        self.first_bare = bare.to_owned();
        self.server_first = format!("r={},s={},i={}", self.nonce, STANDARD.encode(&self.verifier.salt), self.verifier.iterations);
        Ok(self.server_first.clone())
    }

    /// Takes the client's proof and gives the server's. Errors: 28P01, 08P01.
    pub fn prove(&self, client_final: &str) -> Result<String> {
        let (without_proof, proof) = client_final.rsplit_once(",p=").ok_or_else(|| protocol("malformed SCRAM message"))?;
        let mut fields = without_proof.split(',');
        let binding = format!("c={}", STANDARD.encode(&self.gs2_header));
        let nonce = format!("r={}", self.nonce);
        if fields.next() != Some(&binding) || fields.next() != Some(&nonce) {
            return Err(protocol("SCRAM messages do not belong together"));
        }
        let proof: [u8; 32] = STANDARD.decode(proof).ok().and_then(|bytes| bytes.try_into().ok()).ok_or_else(|| protocol("malformed SCRAM proof"))?;
        let signed = format!("{},{},{without_proof}", self.first_bare, self.server_first);
        let signature = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, &self.verifier.stored_key), signed.as_bytes());
        let mut client_key = proof;
        for (byte, mask) in client_key.iter_mut().zip(signature.as_ref()) {
            *byte ^= mask;
        }
        let stored = bytes_of(digest::digest(&digest::SHA256, &client_key).as_ref());
        if !same(&stored, &self.verifier.stored_key) {
            return Err(bad_password());
        }
        let server_key = hmac::Key::new(hmac::HMAC_SHA256, &self.verifier.server_key);
        Ok(format!("v={}", STANDARD.encode(hmac::sign(&server_key, signed.as_bytes()))))
    }
}

fn protocol(message: &str) -> Error {
    Error::new(ErrorCode::Protocol, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example conversation of RFC 7677.
    #[test]
    fn the_rfc_example() {
        let salt = STANDARD.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
        let mut exchange = Exchange::new(Verifier::derive("pencil", ITERATIONS, salt));
        exchange.nonce = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0".into();
        let challenge = exchange.challenge("n,,n=user,r=rOprNGfwEbeRWgbNEkqO").unwrap();
        assert_eq!(challenge, "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096");
        let client_final = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
        assert_eq!(exchange.prove(client_final).unwrap(), "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
        let wrong = client_final.replace("dHz", "dHy");
        assert_eq!(exchange.prove(&wrong).unwrap_err().code(), ErrorCode::BadPassword);
    }

    #[test]
    fn stored_verifiers_are_read() {
        let made = Verifier::from_password("pass word");
        let text = format!("SCRAM-SHA-256$4096:{}${}:{}", STANDARD.encode(&made.salt), STANDARD.encode(made.stored_key), STANDARD.encode(made.server_key));
        let read = Verifier::parse(&text).unwrap();
        assert!(read.matches("pass word"));
        assert!(!read.matches("password"));
        assert!(Verifier::parse("md5abc").is_none());
        assert!(Verifier::parse("SCRAM-SHA-256$0:AA==$AA==:AA==").is_none());
    }
}
