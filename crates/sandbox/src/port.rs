// SPDX-License-Identifier: Apache-2.0
//! Finds a free loopback port, outside the range from which the kernel takes ports for outgoing connections.

use rand::Rng;
use std::net::{Ipv4Addr, TcpListener};
use weir_base::{Error, ErrorCode, Result};

/// Linux hands out 32768 and above by itself; a server that restarts on its port must not find it taken by a client.
const PORTS: std::ops::Range<u16> = 15_000..32_000;
const TRIES: usize = 200;

/// A loopback port that was free a moment ago. Whoever starts a server on it retries with another when it lost the race.
pub(crate) fn free_port() -> Result<u16> {
    for _ in 0..TRIES {
        let port = rand::rng().random_range(PORTS);
        if TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok() {
            return Ok(port);
        }
    }
    Err(Error::new(ErrorCode::OutOfResources, "no free loopback port").with_detail(format!("tried {TRIES} ports from {} to {}", PORTS.start, PORTS.end)))
}
