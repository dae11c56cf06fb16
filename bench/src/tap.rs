// SPDX-License-Identifier: Apache-2.0
//! A tap on the way to a server: passes everything on and counts it, whoever the client is.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use weir_base::{Error, Result};

const BUFFER_BYTES: usize = 64 << 10;

/// A port that leads to a server on this machine. Dropping it closes the door, not the connections that went through.
pub struct Tap {
    pub port: u16,
    counted: Arc<Counted>,
    door: JoinHandle<()>,
}

#[derive(Default)]
struct Counted {
    to_server: AtomicU64,
    from_server: AtomicU64,
}

/// Bytes since the last look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moved {
    pub to_server: u64,
    pub from_server: u64,
}

impl Tap {
    pub async fn on(server_port: u16) -> Result<Self> {
        let broke = |error: std::io::Error| Error::internal("a port cannot be opened").with_detail(error.to_string());
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(broke)?;
        let port = listener.local_addr().map_err(broke)?.port();
        let counted = Arc::new(Counted::default());
        let door = tokio::spawn(serve(listener, server_port, counted.clone()));
        Ok(Self { port, counted, door })
    }

    /// What went through since the last time.
    pub fn take(&self) -> Moved {
        let take = |counter: &AtomicU64| counter.swap(0, Ordering::SeqCst);
        Moved { to_server: take(&self.counted.to_server), from_server: take(&self.counted.from_server) }
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.door.abort();
    }
}

async fn serve(listener: TcpListener, server_port: u16, counted: Arc<Counted>) {
    // A client that goes away while it is let in is nobody's loss.
    while let Ok((client, _)) = listener.accept().await {
        let counted = counted.clone();
        tokio::spawn(async move {
            if let Ok(server) = TcpStream::connect(("127.0.0.1", server_port)).await {
                pass(client, server, &counted).await;
            }
        });
    }
}

async fn pass(client: TcpStream, server: TcpStream, counted: &Counted) {
    let without_delay = client.set_nodelay(true).and_then(|()| server.set_nodelay(true));
    if without_delay.is_err() {
        return;
    }
    let (client_reads, client_writes) = client.into_split();
    let (server_reads, server_writes) = server.into_split();
    tokio::join!(one_way(client_reads, server_writes, &counted.to_server), one_way(server_reads, client_writes, &counted.from_server));
}

/// Until one of the two ends has no more; both see it as the end of the connection.
async fn one_way(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, counter: &AtomicU64) {
    let mut buffer = vec![0; BUFFER_BYTES];
    while let Ok(read) = from.read(&mut buffer).await {
        if read == 0 || to.write_all(&buffer[..read]).await.is_err() {
            break;
        }
        counter.fetch_add(read as u64, Ordering::SeqCst);
    }
    // It may be closed already.
    let _ = to.shutdown().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn counts_both_ways() {
        let server = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let tap = Tap::on(server.local_addr().unwrap().port()).await.unwrap();
        let mut client = TcpStream::connect(("127.0.0.1", tap.port)).await.unwrap();
        let (mut inside, _) = server.accept().await.unwrap();
        client.write_all(b"how much?").await.unwrap();
        let mut asked = [0; 9];
        inside.read_exact(&mut asked).await.unwrap();
        inside.write_all(b"42").await.unwrap();
        drop(inside);
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).await.unwrap();
        assert_eq!((&asked, answer.as_slice()), (b"how much?", b"42".as_slice()));
        assert_eq!(tap.take(), Moved { to_server: 9, from_server: 2 });
        assert_eq!(tap.take(), Moved { to_server: 0, from_server: 0 });
    }
}
