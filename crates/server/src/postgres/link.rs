// SPDX-License-Identifier: Apache-2.0
//! The connection to one Postgres client: framed input, buffered output, and an eye on both while a query runs.

use crate::postgres::fault::{Fault, Trouble};
use crate::server::Ending;
use crate::socket::Duplex;
use bytes::{Buf, Bytes, BytesMut};
use std::future::Future;
use std::io;
use std::pin::pin;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;
use weir_base::limits::WIRE_MESSAGE_BYTES_MAX;

/// Output is sent when this much has gathered.
const OUTPUT_BYTES: usize = 64 * 1024;
/// Buffers larger than this are given back when a session falls idle.
const IDLE_BUFFER_BYTES: usize = 64 * 1024;
/// Rows that wait in the buffer are sent after this long when no more come.
const PROGRESS: Duration = Duration::from_millis(50);
/// Input that is read ahead while a query runs, only to notice when the client has gone.
const READ_AHEAD_BYTES: usize = 256 * 1024;

/// A framed message, or one that was too long and has been skipped.
pub enum Frame {
    Whole(u8, Bytes),
    TooLong(u8, usize),
}

/// Buffers around a socket. Output gathers until `flush`.
pub struct Link {
    socket: Box<dyn Duplex>,
    input: BytesMut,
    /// Bytes of a message that is too long and still has to be skipped, with its tag and size.
    skipping: Option<(u8, usize, usize)>,
    pub out: Vec<u8>,
    sent: usize,
}

impl Link {
    pub fn new(socket: Box<dyn Duplex>) -> Self {
        Self { socket, input: BytesMut::new(), skipping: None, out: Vec::new(), sent: 0 }
    }

    /// The bare socket, for a TLS handshake. `None` when the client has already sent more than it should have.
    pub fn into_socket(self) -> Option<Box<dyn Duplex>> {
        self.input.is_empty().then_some(self.socket)
    }

    async fn fill(&mut self) -> io::Result<usize> {
        self.input.reserve(4096);
        self.socket.read_buf(&mut self.input).await
    }

    /// Exactly `count` bytes, before messages are framed. `Gone` at the end of the stream.
    pub async fn exactly(&mut self, count: usize) -> Result<Bytes, Trouble> {
        while self.input.len() < count {
            if self.fill().await? == 0 {
                return Err(Trouble::Gone);
            }
        }
        Ok(self.input.split_to(count).freeze())
    }

    /// The next message of at most `bytes_max` bytes. Safe to drop while it waits. Errors: a length that cannot be.
    pub async fn frame(&mut self, bytes_max: usize) -> Result<Frame, Trouble> {
        loop {
            if let Some(frame) = self.buffered_frame(bytes_max)? {
                return Ok(frame);
            }
            if self.fill().await? == 0 {
                return Err(Trouble::Gone);
            }
        }
    }

    fn buffered_frame(&mut self, bytes_max: usize) -> Result<Option<Frame>, Fault> {
        if let Some((tag, size, rest)) = self.skipping {
            let skipped = rest.min(self.input.len());
            self.input.advance(skipped);
            self.skipping = (skipped < rest).then_some((tag, size, rest - skipped));
            return Ok(self.skipping.is_none().then_some(Frame::TooLong(tag, size)));
        }
        let Some(header) = self.input.get(..5) else { return Ok(None) };
        let (tag, length) = (header[0], i32::from_be_bytes([header[1], header[2], header[3], header[4]]));
        let Some(size) = usize::try_from(length).ok().and_then(|length| length.checked_sub(4)) else {
            return Err(Fault::fatal("08P01", "message with an impossible length"));
        };
        if size > bytes_max {
            self.input.advance(5);
            self.skipping = Some((tag, size, size));
            return self.buffered_frame(bytes_max);
        }
        if self.input.len() < 5 + size {
            self.input.reserve(5 + size - self.input.len());
            return Ok(None);
        }
        self.input.advance(5);
        Ok(Some(Frame::Whole(tag, self.input.split_to(size).freeze())))
    }

    pub fn full(&self) -> bool {
        self.out.len() >= OUTPUT_BYTES
    }

    /// Sends what has gathered. Safe to drop: what was not sent yet stays.
    pub async fn flush(&mut self) -> Result<(), Trouble> {
        while self.sent < self.out.len() {
            let count = self.socket.write(&self.out[self.sent..]).await?;
            if count == 0 {
                return Err(Trouble::Gone);
            }
            self.sent += count;
        }
        self.out.clear();
        self.sent = 0;
        Ok(self.socket.flush().await?)
    }

    /// Gives large buffers back; called when nothing is under way.
    pub fn shrink(&mut self) {
        if self.out.is_empty() && self.out.capacity() > IDLE_BUFFER_BYTES {
            self.out = Vec::new();
        }
        if self.input.is_empty() {
            self.input = BytesMut::new();
        }
    }

    /// Ends the connection politely.
    pub async fn close(mut self) {
        let goodbye = async {
            self.flush().await?;
            Ok::<_, Trouble>(self.socket.shutdown().await?)
        };
        if tokio::time::timeout(Duration::from_secs(1), goodbye).await.is_err() {
            tracing::debug!("SessionGoodbyeExpired");
        }
    }
}

/// What may interrupt work on a statement.
#[derive(Debug, Clone)]
pub struct Attention {
    pub cancel: CancellationToken,
    pub ending: Ending,
}

impl Attention {
    fn check(&self) -> Result<(), Fault> {
        if self.cancel.is_cancelled() {
            return Err(Fault::cancelled());
        }
        if self.ending.abort.is_cancelled() {
            return Err(Fault::shutting_down());
        }
        Ok(())
    }

    /// Waits for something the service does, while watching for a cancel request, a client that has gone, and the server's end.
    pub async fn wait<T>(&self, link: &mut Link, work: impl Future<Output = T>) -> Result<T, Trouble> {
        self.check()?;
        let mut work = pin!(work);
        loop {
            let pending_output = !link.out.is_empty();
            let room = link.input.len() < READ_AHEAD_BYTES.min(WIRE_MESSAGE_BYTES_MAX);
            tokio::select! {
                biased;
                value = &mut work => return Ok(value),
                () = self.cancel.cancelled() => return Err(Fault::cancelled().into()),
                () = self.ending.abort.cancelled() => return Err(Fault::shutting_down().into()),
                read = link.fill(), if room => {
                    if read? == 0 {
                        return Err(Trouble::Gone);
                    }
                }
                () = tokio::time::sleep(PROGRESS), if pending_output => self.flush(link).await?,
            }
        }
    }

    /// Sends what has gathered, which waits for a slow client; a cancel request ends the wait.
    pub async fn flush(&self, link: &mut Link) -> Result<(), Trouble> {
        self.check()?;
        tokio::select! {
            biased;
            sent = link.flush() => sent,
            () = self.cancel.cancelled() => Err(Fault::cancelled().into()),
            () = self.ending.abort.cancelled() => Err(Fault::shutting_down().into()),
        }
    }
}
