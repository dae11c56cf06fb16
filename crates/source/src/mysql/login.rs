// SPDX-License-Identifier: Apache-2.0
//! The first exchange on a connection: greeting, TLS, and proof of the password.

use super::address::{Address, SslMode};
use super::failure::{Failure, ServerError};
use super::wire::{Reader, Wire};
use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY, SHA256, digest};

const LONG_PASSWORD: u32 = 1;
const LONG_FLAG: u32 = 1 << 2;
const CONNECT_WITH_DB: u32 = 1 << 3;
const PROTOCOL_41: u32 = 1 << 9;
const SSL: u32 = 1 << 11;
const TRANSACTIONS: u32 = 1 << 13;
const SECURE_CONNECTION: u32 = 1 << 15;
const PS_MULTI_RESULTS: u32 = 1 << 18;
const PLUGIN_AUTH: u32 = 1 << 19;
const CONNECT_ATTRS: u32 = 1 << 20;

/// `utf8mb4_general_ci`, which every server knows; the session set-up says the rest.
const UTF8MB4: u8 = 45;
const PACKET_BYTES_MAX: u32 = 1 << 30;

/// What the server says about itself.
#[derive(Debug)]
pub(super) struct Greeting {
    /// Without the `5.5.5-` that MariaDB puts before its version for old replicas.
    pub(super) version: String,
    capabilities: u32,
    nonce: Vec<u8>,
    plugin: String,
}

/// Runs the whole exchange; afterwards the connection takes commands.
pub(super) async fn log_in(wire: &mut Wire, address: &Address) -> Result<Greeting, Failure> {
    let greeting = greeting(wire.packet().await?)?;
    let mut wanted = LONG_PASSWORD | LONG_FLAG | PROTOCOL_41 | TRANSACTIONS | SECURE_CONNECTION | PS_MULTI_RESULTS | PLUGIN_AUTH | CONNECT_ATTRS;
    if address.database.is_some() {
        wanted |= CONNECT_WITH_DB;
    }
    let mut capabilities = wanted & greeting.capabilities;
    if capabilities & (PROTOCOL_41 | SECURE_CONNECTION | PLUGIN_AUTH) != PROTOCOL_41 | SECURE_CONNECTION | PLUGIN_AUTH {
        return Err(Failure::Protocol("the server is too old: it knows no authentication plugins"));
    }
    if let Some(tls) = tls_to_use(address, &greeting)? {
        capabilities |= SSL;
        wire.answer(&opening(capabilities));
        wire.flush().await?;
        wire.secure(tls).await?;
    }
    let proof = proof(&greeting.plugin, &address.password, &greeting.nonce, wire.encrypted()).unwrap_or_default();
    wire.answer(&response(capabilities, address, &greeting.plugin, &proof));
    wire.flush().await?;
    settle(wire, address).await?;
    Ok(greeting)
}

fn tls_to_use<'a>(address: &'a Address, greeting: &Greeting) -> Result<Option<&'a super::tls::Tls>, Failure> {
    let offered = greeting.capabilities & SSL != 0;
    match (&address.tls, address.ssl_mode) {
        (None, _) => Ok(None),
        (Some(tls), _) if offered => Ok(Some(tls)),
        (Some(_), SslMode::Preferred) => Ok(None),
        (Some(_), _) => Err(Failure::Protocol("ssl-mode asks for TLS and the server does not offer it")),
    }
}

fn greeting(packet: &[u8]) -> Result<Greeting, Failure> {
    if packet.first() == Some(&0xFF) {
        return Err(Failure::Server(ServerError::parse(packet)));
    }
    let mut rest = Reader(packet);
    if rest.byte()? != 10 {
        return Err(Failure::Protocol("this is no MySQL or MariaDB server"));
    }
    let version = String::from_utf8_lossy(rest.zero_ended()).into_owned();
    rest.u32()?; // connection id, cut to 32 bits; the set-up asks for the whole
    let mut nonce = rest.take(8)?.to_vec();
    rest.byte()?;
    let low = rest.u16()?;
    rest.take(3)?; // collation, status
    let high = rest.u16()?;
    let nonce_bytes = rest.byte()?;
    rest.take(10)?;
    let second = rest.take(usize::from(nonce_bytes).saturating_sub(8).max(13))?;
    nonce.extend_from_slice(second.strip_suffix(&[0]).unwrap_or(second));
    let plugin = String::from_utf8_lossy(rest.zero_ended()).into_owned();
    let version = version.strip_prefix("5.5.5-").map(str::to_owned).unwrap_or(version);
    Ok(Greeting { version, capabilities: u32::from(low) | u32::from(high) << 16, nonce, plugin })
}

fn opening(capabilities: u32) -> Vec<u8> {
    let mut packet = Vec::with_capacity(128);
    packet.extend_from_slice(&capabilities.to_le_bytes());
    packet.extend_from_slice(&PACKET_BYTES_MAX.to_le_bytes());
    packet.push(UTF8MB4);
    packet.extend_from_slice(&[0; 23]);
    packet
}

fn response(capabilities: u32, address: &Address, plugin: &str, proof: &[u8]) -> Vec<u8> {
    let mut packet = opening(capabilities);
    push_zero_ended(&mut packet, &address.user);
    packet.push(proof.len() as u8);
    packet.extend_from_slice(proof);
    if let Some(database) = address.database.as_ref().filter(|_| capabilities & CONNECT_WITH_DB != 0) {
        push_zero_ended(&mut packet, database);
    }
    push_zero_ended(&mut packet, plugin);
    if capabilities & CONNECT_ATTRS != 0 {
        let mut attributes = Vec::new();
        for text in ["_client_name", "weir", "_client_version", env!("CARGO_PKG_VERSION"), "program_name", "weir"] {
            attributes.push(text.len() as u8);
            attributes.extend_from_slice(text.as_bytes());
        }
        packet.push(attributes.len() as u8);
        packet.extend_from_slice(&attributes);
    }
    packet
}

fn push_zero_ended(packet: &mut Vec<u8>, text: &str) {
    packet.extend_from_slice(text.as_bytes());
    packet.push(0);
}

/// Answers what the server still asks until it says yes or no.
async fn settle(wire: &mut Wire, address: &Address) -> Result<(), Failure> {
    let encrypted = wire.encrypted();
    loop {
        let packet = wire.packet().await?;
        let answer = match packet.split_first() {
            Some((0x00, _)) => return Ok(()),
            Some((0xFF, _)) => return Err(Failure::Server(ServerError::parse(packet))),
            Some((0xFE, rest)) => {
                let mut rest = Reader(rest);
                let plugin = String::from_utf8_lossy(rest.zero_ended()).into_owned();
                let nonce = rest.0.strip_suffix(&[0]).unwrap_or(rest.0);
                proof(&plugin, &address.password, nonce, encrypted)?
            }
            // caching_sha2_password: 3 is "known, wait for the OK", 4 is "not in my cache, show me the password".
            Some((0x01, [3])) => continue,
            Some((0x01, [4])) => open_password(&address.password, encrypted)?,
            _ => return Err(Failure::Protocol("the server's login cannot be followed")),
        };
        wire.answer(&answer);
        wire.flush().await?;
    }
}

/// The password as the plugin wants it proved.
fn proof(plugin: &str, password: &str, nonce: &[u8], encrypted: bool) -> Result<Vec<u8>, Failure> {
    match plugin {
        "mysql_native_password" | "caching_sha2_password" if password.is_empty() => Ok(Vec::new()),
        "mysql_native_password" => Ok(native_proof(password, nonce)),
        "caching_sha2_password" => Ok(caching_proof(password, nonce)),
        "mysql_clear_password" | "sha256_password" => open_password(password, encrypted),
        "client_ed25519" | "parsec" => Err(Failure::Protocol("the account logs in by ed25519 or parsec, which is not spoken here; use another plugin for it")),
        _ => Err(Failure::Protocol("the account logs in by a plugin that is not spoken here; use mysql_native_password or caching_sha2_password for it")),
    }
}

fn open_password(password: &str, encrypted: bool) -> Result<Vec<u8>, Failure> {
    if !encrypted {
        return Err(Failure::Protocol("the server wants to see the password, which is only shown over TLS; use ssl-mode=required"));
    }
    let mut shown = password.as_bytes().to_vec();
    shown.push(0);
    Ok(shown)
}

fn native_proof(password: &str, nonce: &[u8]) -> Vec<u8> {
    let once = digest(&SHA1_FOR_LEGACY_USE_ONLY, password.as_bytes());
    let twice = digest(&SHA1_FOR_LEGACY_USE_ONLY, once.as_ref());
    let mut mixed = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    mixed.update(nonce);
    mixed.update(twice.as_ref());
    xor(once.as_ref(), mixed.finish().as_ref())
}

fn caching_proof(password: &str, nonce: &[u8]) -> Vec<u8> {
    let once = digest(&SHA256, password.as_bytes());
    let twice = digest(&SHA256, once.as_ref());
    let mut mixed = Context::new(&SHA256);
    mixed.update(twice.as_ref());
    mixed.update(nonce);
    xor(once.as_ref(), mixed.finish().as_ref())
}

fn xor(left: &[u8], right: &[u8]) -> Vec<u8> {
    left.iter().zip(right).map(|(left, right)| left ^ right).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex::hex;

    #[test]
    fn a_password_is_shown_over_tls_only() {
        assert!(proof("mysql_clear_password", "pw", b"", false).is_err());
        assert_eq!(proof("mysql_clear_password", "pw", b"", true).unwrap(), b"pw\0");
    }

    #[test]
    fn the_server_can_check_a_proof() {
        // The server keeps SHA1(SHA1(password)); with the nonce it takes the proof back to SHA1(password) and hashes that once.
        let nonce = b"01234567890123456789";
        let kept = digest(&SHA1_FOR_LEGACY_USE_ONLY, digest(&SHA1_FOR_LEGACY_USE_ONLY, b"secret").as_ref());
        let mut mixed = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
        mixed.update(nonce);
        mixed.update(kept.as_ref());
        let once = xor(&native_proof("secret", nonce), mixed.finish().as_ref());
        assert_eq!(hex(digest(&SHA1_FOR_LEGACY_USE_ONLY, &once).as_ref()), hex(kept.as_ref()));
    }
}
