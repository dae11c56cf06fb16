// SPDX-License-Identifier: Apache-2.0
//! Connections for HTTP, with TLS where it is configured. Handshakes run beside each other, so that a slow one stops nobody.

use crate::socket::{self, Duplex};
use axum::serve::Listener;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use weir_base::{Error, Result};

const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Connections that are through their handshake and wait to be served.
const WAITING_MAX: usize = 64;

type Connection = (Box<dyn Duplex>, SocketAddr);

/// Connections as they become ready.
pub struct Incoming {
    ready: mpsc::Receiver<Connection>,
    address: SocketAddr,
}

impl Incoming {
    /// Accepts until `drain`.
    pub fn open(listener: TcpListener, tls: Option<TlsAcceptor>, drain: CancellationToken) -> Result<Self> {
        let address = listener.local_addr().map_err(|error| Error::internal("a listener without an address").with_detail(error.to_string()))?;
        let (sender, ready) = mpsc::channel(WAITING_MAX);
        tokio::spawn(async move {
            tokio::select! {
                () = drain.cancelled() => {}
                () = accept(listener, tls, sender) => {}
            }
        });
        Ok(Self { ready, address })
    }
}

impl Listener for Incoming {
    type Io = Box<dyn Duplex>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> Connection {
        match self.ready.recv().await {
            Some(connection) => connection,
            // Draining: nothing more will come, and the server ends by itself.
            None => std::future::pending().await,
        }
    }

    fn local_addr(&self) -> std::io::Result<SocketAddr> {
        Ok(self.address)
    }
}

async fn accept(listener: TcpListener, tls: Option<TlsAcceptor>, sender: mpsc::Sender<Connection>) {
    loop {
        let (socket, peer) = socket::accept(&listener, "http").await;
        tokio::spawn(shake_hands(socket, peer, tls.clone(), sender.clone()));
    }
}

async fn shake_hands(socket: TcpStream, peer: SocketAddr, tls: Option<TlsAcceptor>, sender: mpsc::Sender<Connection>) {
    let stream: Box<dyn Duplex> = match tls {
        None => Box::new(socket),
        Some(acceptor) => match tokio::time::timeout(HANDSHAKE_TIMEOUT, acceptor.accept(socket)).await {
            Ok(Ok(stream)) => Box::new(stream),
            Ok(Err(error)) => return tracing::debug!(door = "http", %error, "HandshakeFailed"),
            Err(_) => return tracing::debug!(door = "http", "HandshakeTimedOut"),
        },
    };
    if sender.send((stream, peer)).await.is_err() {
        tracing::debug!(door = "http", "ConnectionCameTooLate");
    }
}
