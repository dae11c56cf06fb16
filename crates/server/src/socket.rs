// SPDX-License-Identifier: Apache-2.0
//! Sockets as both doors take them in: plain or encrypted, without delay, and never in a busy loop when the system refuses.

use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};

/// How long accepting rests after the system refused a connection (no file descriptors left).
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A plain or an encrypted socket.
pub trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Duplex for S {}

/// The next connection of a door.
pub async fn accept(listener: &TcpListener, door: &'static str) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok((socket, peer)) => {
                if let Err(error) = socket.set_nodelay(true) {
                    tracing::debug!(door, %error, "SocketOptionFailed");
                }
                return (socket, peer);
            }
            Err(error) => {
                tracing::warn!(door, %error, "ConnectionAcceptFailed");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}
