// SPDX-License-Identifier: Apache-2.0
//! The first minutes of a connection: encryption, the startup packet, login, and the greeting.

use crate::login::{Exchange, LOCAL_USER, Logins};
use crate::metrics;
use crate::postgres::fault::{Fault, Trouble};
use crate::postgres::frame::Body;
use crate::postgres::link::{Frame, Link};
use crate::postgres::registry::CancelKey;
use crate::postgres::reply;
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use weir_api::{Door, QueryService, Session};
use weir_base::{ErrorCode, UserName};

const PROTOCOL_3: i32 = 0x0003_0000;
const CANCEL_REQUEST: i32 = 80_877_102;
const SSL_REQUEST: i32 = 80_877_103;
const GSS_REQUEST: i32 = 80_877_104;
/// Nothing before login needs more.
const PACKET_BYTES_MAX: usize = 10_000;
const AUTH_OK: i32 = 0;
const AUTH_SASL: i32 = 10;
const AUTH_SASL_CONTINUE: i32 = 11;
const AUTH_SASL_FINAL: i32 = 12;

/// What the first packets were about.
pub enum Opening {
    Login(Link, Startup),
    Cancel(CancelKey),
    /// Without a link where it is lost.
    Refused(Option<Link>, Trouble),
}

/// The startup packet.
pub struct Startup {
    minor: i32,
    parameters: BTreeMap<String, String>,
}

/// Answers requests for encryption until a startup packet or a cancel request comes. Refuses what is neither with 08P01.
pub async fn open(mut link: Link, tls: Option<&TlsAcceptor>) -> Opening {
    let mut encrypted = false;
    loop {
        let packet = match packet(&mut link).await {
            Ok(packet) => packet,
            Err(trouble) => return Opening::Refused(Some(link), trouble),
        };
        match (packet, tls) {
            (Packet::Encrypt { tls: true }, Some(acceptor)) if !encrypted => {
                link = match encrypt(link, acceptor).await {
                    Ok(link) => link,
                    Err(trouble) => return Opening::Refused(None, trouble),
                };
                encrypted = true;
            }
            (Packet::Encrypt { .. }, _) => {
                link.out.push(b'N');
                if let Err(trouble) = link.flush().await {
                    return Opening::Refused(None, trouble);
                }
            }
            (Packet::Cancel(key), _) => return Opening::Cancel(key),
            (Packet::Startup(startup), _) => return Opening::Login(link, startup),
        }
    }
}

/// A packet before login.
enum Packet {
    /// A request for TLS, or for GSS encryption.
    Encrypt {
        tls: bool,
    },
    Cancel(CancelKey),
    Startup(Startup),
}

async fn packet(link: &mut Link) -> Result<Packet, Trouble> {
    let header = link.exactly(4).await?;
    let length = Body(&header).i32()?;
    let size = usize::try_from(length).ok().and_then(|length| length.checked_sub(4)).filter(|size| (4..=PACKET_BYTES_MAX).contains(size));
    let bytes = link.exactly(size.ok_or_else(|| Fault::fatal("08P01", "invalid length of startup packet"))?).await?;
    let mut body = Body(&bytes);
    Ok(match body.i32()? {
        SSL_REQUEST => Packet::Encrypt { tls: true },
        GSS_REQUEST => Packet::Encrypt { tls: false },
        CANCEL_REQUEST => Packet::Cancel(CancelKey { process: body.i32()?, secret: body.i32()? }),
        code => Packet::Startup(startup(code, body)?),
    })
}

/// Bytes that came before the handshake would be plain text taken for encrypted: such a client is dropped.
async fn encrypt(mut link: Link, acceptor: &TlsAcceptor) -> Result<Link, Trouble> {
    link.out.push(b'S');
    link.flush().await?;
    let socket = link.into_socket().ok_or(Trouble::Gone)?;
    Ok(Link::new(Box::new(acceptor.accept(socket).await?)))
}

fn startup(code: i32, mut body: Body<'_>) -> Result<Startup, Fault> {
    if code >> 16 != PROTOCOL_3 >> 16 {
        return Err(Fault::fatal("08P01", "unsupported frontend protocol").with_detail("version 3 of the Postgres protocol is spoken here"));
    }
    let mut parameters = BTreeMap::new();
    loop {
        let name = body.text()?;
        if name.is_empty() {
            return Ok(Startup { minor: code & 0xffff, parameters });
        }
        parameters.insert(name, body.text()?);
    }
}

/// Proves who the client is, makes the session and greets. Errors: 28P01, 28000, bad settings; all of them fatal.
pub async fn greet(link: &mut Link, startup: Startup, logins: &Logins, service: &dyn QueryService, key: CancelKey) -> Result<Arc<Session>, Trouble> {
    negotiate(link, &startup);
    let user = startup.parameters.get("user").filter(|user| !user.is_empty());
    let user = user.ok_or_else(|| Fault::fatal("28000", "no user name in the startup packet"))?;
    let name = if logins.open() { UserName::new(LOCAL_USER) } else { prove(link, user, logins).await? };
    let asked = startup.parameters.get("database").unwrap_or(user);
    // A client that is told no database names the user; in an open door that is not the name the user then has.
    let asked = if asked == user { name.as_str() } else { asked };
    let database = service.database(&name, asked).await.map_err(|error| fatal(error.into()))?;
    let session = Session::numbered(key.process, name, Door::Postgres, Some(database));
    apply_settings(&session, &startup.parameters)?;
    reply::authentication(&mut link.out, AUTH_OK, &[]);
    reply::message(&mut link.out, b'K', |out| {
        out.extend_from_slice(&key.process.to_be_bytes());
        out.extend_from_slice(&key.secret.to_be_bytes());
    });
    Ok(session)
}

/// Newer minor versions and protocol options are declined, as the protocol provides.
fn negotiate(link: &mut Link, startup: &Startup) {
    let options: Vec<&String> = startup.parameters.keys().filter(|name| name.starts_with("_pq_.")).collect();
    if startup.minor == 0 && options.is_empty() {
        return;
    }
    reply::message(&mut link.out, b'v', |out| {
        out.extend_from_slice(&PROTOCOL_3.to_be_bytes());
        out.extend_from_slice(&(options.len() as u32).to_be_bytes());
        for option in options {
            reply::put_text(option, out);
        }
    });
}

async fn prove(link: &mut Link, user: &str, logins: &Logins) -> Result<UserName, Trouble> {
    let mut exchange = logins.exchange(user);
    let proved = converse(link, &mut exchange).await;
    metrics::login(Door::Postgres, proved.is_ok());
    match proved {
        Ok(()) => Ok(UserName::new(user)),
        Err(Trouble::Fault(fault)) => {
            tracing::info!(door = "postgres", code = fault.code, "LoginRefused");
            Err(Trouble::Fault(fatal(fault)))
        }
        Err(Trouble::Gone) => Err(Trouble::Gone),
    }
}

async fn converse(link: &mut Link, exchange: &mut Exchange) -> Result<(), Trouble> {
    reply::authentication(&mut link.out, AUTH_SASL, b"SCRAM-SHA-256\0\0");
    link.flush().await?;
    let first = password_message(link).await?;
    let mut body = Body(&first);
    if body.text()? != "SCRAM-SHA-256" {
        return Err(Fault::protocol("SCRAM-SHA-256 is the only login offered").into());
    }
    let client_first = body.value()?.ok_or_else(|| Fault::protocol("login without a first message"))?;
    let challenge = exchange.challenge(as_text(&client_first)?)?;
    reply::authentication(&mut link.out, AUTH_SASL_CONTINUE, challenge.as_bytes());
    link.flush().await?;
    let client_final = password_message(link).await?;
    let proof = exchange.prove(as_text(&client_final)?)?;
    reply::authentication(&mut link.out, AUTH_SASL_FINAL, proof.as_bytes());
    Ok(())
}

async fn password_message(link: &mut Link) -> Result<bytes::Bytes, Trouble> {
    match link.frame(PACKET_BYTES_MAX).await? {
        Frame::Whole(b'p', body) => Ok(body),
        _ => Err(Fault::protocol("expected a login message").into()),
    }
}

fn as_text(bytes: &[u8]) -> Result<&str, Fault> {
    std::str::from_utf8(bytes).map_err(|_| Fault::protocol("login message is not UTF-8"))
}

/// The same fault, and the end of the connection.
pub fn fatal(fault: Fault) -> Fault {
    Fault { severity: crate::postgres::fault::Severity::Fatal, ..fault }
}

/// Settings from the startup packet and from its `options` (`-c name=value`). Unknown ones are errors, as in Postgres.
fn apply_settings(session: &Session, parameters: &BTreeMap<String, String>) -> Result<(), Fault> {
    if parameters.get("replication").is_some_and(|value| !["false", "off", "no", "0"].contains(&value.as_str())) {
        return Err(Fault::fatal("0A000", "replication connections are not supported"));
    }
    let direct = parameters.iter().filter(|(name, _)| !["user", "database", "options", "replication"].contains(&name.as_str()) && !name.starts_with("_pq_."));
    let mut wanted: Vec<(String, String)> = direct.map(|(name, value)| (name.clone(), value.clone())).collect();
    wanted.extend(options(parameters.get("options").map_or("", String::as_str))?);
    let mut settings = session.settings();
    for (name, value) in wanted {
        // A C locale makes psql ask for SQL_ASCII, which means "send the bytes as they are".
        let any_bytes = name.eq_ignore_ascii_case("client_encoding") && ["SQL_ASCII", "UNICODE"].iter().any(|known| value.eq_ignore_ascii_case(known));
        let value = if any_bytes { "UTF8" } else { &value };
        settings.set(&name, value).map_err(|error| {
            let offered = error.code() != ErrorCode::Unsupported;
            let fault = fatal(error.into());
            if offered { fault } else { Fault { code: "22023", ..fault } }
        })?;
    }
    Ok(())
}

/// `-c a=b --c=d`; a backslash keeps the next character.
fn options(text: &str) -> Result<Vec<(String, String)>, Fault> {
    let bad = || Fault::fatal("42601", "malformed startup options").with_hint("write -c name=value");
    let mut settings = Vec::new();
    let mut words = words(text).into_iter();
    while let Some(word) = words.next() {
        let assignment = match word.strip_prefix("--") {
            Some(rest) => rest.replacen('-', "_", rest.split('=').next().unwrap_or_default().matches('-').count()),
            None if word == "-c" => words.next().ok_or_else(bad)?,
            None => word.strip_prefix("-c").ok_or_else(bad)?.to_owned(),
        };
        let (name, value) = assignment.split_once('=').ok_or_else(bad)?;
        settings.push((name.to_owned(), value.to_owned()));
    }
    Ok(settings)
}

fn words(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, words.last_mut()) {
            ('\\', Some(word)) => word.extend(chars.next()),
            (c, _) if c.is_whitespace() => words.push(String::new()),
            (c, Some(word)) => word.push(c),
            (_, None) => {}
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read() {
        let read = options("-c weir.read=copy  --statement-timeout=5s -cTimeZone=UTC -c application_name=a\\ b").unwrap();
        let expected = [("weir.read", "copy"), ("statement_timeout", "5s"), ("TimeZone", "UTC"), ("application_name", "a b")];
        assert_eq!(read, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(options("-x").unwrap_err().code, "42601");
    }
}
