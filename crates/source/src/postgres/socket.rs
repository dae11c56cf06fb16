// SPDX-License-Identifier: Apache-2.0
//! The socket to a server, with every byte that arrives counted where it arrives: below TLS and below the protocol.

use super::address::Endpoint;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, BufReader, ReadBuf};
use tokio::net::{TcpStream, UnixStream};
use weir_base::Error;
use weir_guard::Meter;

/// Read at once from the kernel. The protocol layer asks for 8 KiB at a time; fewer system calls are cheaper.
const READ_AHEAD_BYTES: usize = 128 * 1024;

/// A connected socket as the protocol layer sees it.
pub type Socket = BufReader<Counted>;

/// Whose bytes are arriving: the meter of the statement that uses the session now.
#[derive(Debug, Default)]
pub struct Tally {
    state: Mutex<State>,
    over: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    meter: Option<Arc<Meter>>,
    over: Option<Error>,
}

impl Tally {
    /// From here on bytes count for `meter`.
    pub fn attach(&self, meter: Arc<Meter>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        *state = State { meter: Some(meter), over: None };
        self.over.store(false, Ordering::Release);
    }

    pub fn detach(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).meter = None;
    }

    /// The error that the budget raised, once it was passed.
    pub fn over_budget(&self) -> Option<Error> {
        if !self.over.load(Ordering::Acquire) {
            return None;
        }
        self.state.lock().unwrap_or_else(PoisonError::into_inner).over.clone()
    }

    fn count(&self, bytes: usize) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(meter) = &state.meter else { return };
        if let Err(over) = meter.count_bytes(bytes as u64) {
            state.over.get_or_insert(over);
            self.over.store(true, Ordering::Release);
        }
    }
}

trait Duplex: AsyncRead + AsyncWrite + Send + Sync + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Sync + Unpin> Duplex for T {}

/// A socket that counts.
pub struct Counted {
    inner: Box<dyn Duplex>,
    tally: Arc<Tally>,
    half_closed: bool,
}

/// Opens a socket. Error: the operating system's.
pub async fn open(endpoint: &Endpoint, tally: Arc<Tally>) -> io::Result<Socket> {
    let inner: Box<dyn Duplex> = match endpoint {
        Endpoint::Tcp { host, port } => {
            let stream = TcpStream::connect((host.as_str(), *port)).await?;
            stream.set_nodelay(true)?;
            Box::new(stream)
        }
        Endpoint::Unix(path) => Box::new(UnixStream::connect(path).await?),
    };
    Ok(BufReader::with_capacity(READ_AHEAD_BYTES, Counted { inner, tally, half_closed: false }))
}

impl AsyncRead for Counted {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buf))?;
        self.tally.count(buf.filled().len() - before);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Counted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    /// Shuts down, then waits for the server to hang up: only then has its backend left, and only then may another
    /// session take the place under the cap.
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !self.half_closed {
            ready!(Pin::new(&mut self.inner).poll_shutdown(cx))?;
            self.half_closed = true;
        }
        let mut scratch = [0_u8; 1024];
        loop {
            let mut buf = ReadBuf::new(&mut scratch);
            match ready!(Pin::new(&mut self.inner).poll_read(cx, &mut buf)) {
                Ok(()) if !buf.filled().is_empty() => {}
                // A reset says the same as an end: the server is gone.
                Ok(()) | Err(_) => return Poll::Ready(Ok(())),
            }
        }
    }
}
