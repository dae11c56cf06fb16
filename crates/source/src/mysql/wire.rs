// SPDX-License-Identifier: Apache-2.0
//! The socket to a MySQL or MariaDB server: packets in and out, over TCP or TLS, every byte read counted below TLS.

use super::failure::Failure;
use futures::FutureExt;
use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;

/// Most payload bytes in one packet; a longer payload goes on in the next packet.
const PACKET_PART_BYTES_MAX: usize = 0xFF_FFFF;
const HEADER_BYTES: usize = 4;
/// What is read at a time, and what the buffer shrinks back to.
const BUFFER_BYTES: usize = 256 * 1024;
/// The largest row that a server can send at all (`max_allowed_packet` ends there).
const PAYLOAD_BYTES_MAX: usize = 1 << 30;

/// A TCP stream that counts what it reads.
#[derive(Debug)]
pub(super) struct Counted {
    stream: TcpStream,
    bytes_read: u64,
}

impl AsyncRead for Counted {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buf);
        self.bytes_read += (buf.filled().len() - before) as u64;
        polled
    }
}

impl AsyncWrite for Counted {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[derive(Debug)]
enum Stream {
    Plain(Counted),
    Tls(Box<TlsStream<Counted>>),
    /// Only while TLS is being set up, or after that failed.
    Gone,
}

/// One connection, as packets.
#[derive(Debug)]
pub(super) struct Wire {
    stream: Stream,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// Sequence number that the next packet of this exchange carries.
    sequence: u8,
    /// Framed packets that wait for `flush`.
    outgoing: Vec<u8>,
}

impl Wire {
    pub(super) fn new(stream: TcpStream) -> Self {
        let stream = Stream::Plain(Counted { stream, bytes_read: 0 });
        Self { stream, buffer: vec![0; 16 * 1024], start: 0, end: 0, sequence: 0, outgoing: Vec::new() }
    }

    /// Goes on over TLS.
    pub(super) async fn secure(&mut self, tls: &super::tls::Tls) -> Result<(), Failure> {
        let Stream::Plain(plain) = std::mem::replace(&mut self.stream, Stream::Gone) else {
            return Err(Failure::Protocol("TLS was asked for twice"));
        };
        let secured = tls.connector().connect(tls.server_name(), plain).await?;
        self.stream = Stream::Tls(Box::new(secured));
        Ok(())
    }

    pub(super) fn encrypted(&self) -> bool {
        matches!(self.stream, Stream::Tls(_))
    }

    /// Bytes that have arrived at the socket since the connection was opened.
    pub(super) fn bytes_read(&self) -> u64 {
        match &self.stream {
            Stream::Plain(stream) => stream.bytes_read,
            Stream::Tls(stream) => stream.get_ref().0.bytes_read,
            Stream::Gone => 0,
        }
    }

    /// Adds a command; `flush` sends it. Commands added together travel together.
    pub(super) fn command(&mut self, word: u8, body: &[u8]) {
        self.sequence = 0;
        let mut payload = Vec::with_capacity(1 + body.len());
        payload.push(word);
        payload.extend_from_slice(body);
        self.answer(&payload);
    }

    /// Adds the next packet of the exchange that is under way.
    pub(super) fn answer(&mut self, payload: &[u8]) {
        let mut rest = payload;
        loop {
            let (part, after) = rest.split_at(rest.len().min(PACKET_PART_BYTES_MAX));
            self.outgoing.extend_from_slice(&(part.len() as u32).to_le_bytes()[..3]);
            self.outgoing.push(self.sequence);
            self.outgoing.extend_from_slice(part);
            self.sequence = self.sequence.wrapping_add(1);
            if part.len() < PACKET_PART_BYTES_MAX {
                return;
            }
            rest = after;
        }
    }

    pub(super) async fn flush(&mut self) -> io::Result<()> {
        let outgoing = std::mem::take(&mut self.outgoing);
        match &mut self.stream {
            Stream::Plain(stream) => stream.write_all(&outgoing).await,
            Stream::Tls(stream) => {
                stream.write_all(&outgoing).await?;
                stream.flush().await
            }
            Stream::Gone => Err(io::ErrorKind::NotConnected.into()),
        }
    }

    /// The next packet's payload, waiting for it if need be.
    pub(super) async fn packet(&mut self) -> Result<&[u8], Failure> {
        loop {
            if let Some(payload) = self.locate()? {
                return Ok(&self.buffer[payload]);
            }
            self.fill().await?;
        }
    }

    /// The next packet's payload if all of it has arrived.
    pub(super) fn buffered(&mut self) -> Result<Option<&[u8]>, Failure> {
        Ok(self.locate()?.map(|payload| &self.buffer[payload]))
    }

    /// Waits for more bytes. May be dropped at any await without losing any. The end of the stream is an error.
    pub(super) async fn fill(&mut self) -> io::Result<()> {
        self.make_room();
        let room = &mut self.buffer[self.end..];
        let count = match &mut self.stream {
            Stream::Plain(stream) => stream.read(room).await?,
            Stream::Tls(stream) => stream.read(room).await?,
            Stream::Gone => return Err(io::ErrorKind::NotConnected.into()),
        };
        if count == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.end += count;
        Ok(())
    }

    /// Whether nothing has arrived unasked: neither the end of the stream nor a farewell of the server.
    pub(super) fn quiet(&mut self) -> bool {
        self.start == self.end && self.fill().now_or_never().is_none()
    }

    /// Gives back memory that one large row has taken.
    pub(super) fn shrink(&mut self) {
        if self.start == self.end && self.buffer.len() > BUFFER_BYTES {
            (self.start, self.end) = (0, 0);
            self.buffer = vec![0; BUFFER_BYTES];
        }
    }

    fn make_room(&mut self) {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        let full = self.end == self.buffer.len();
        if full && self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.end == self.buffer.len() {
            let larger = (self.buffer.len() * 2).max(BUFFER_BYTES);
            self.buffer.resize(larger, 0);
        }
    }

    /// Where the next whole payload stands in the buffer, and steps behind it. Parts of a long payload are joined in place.
    fn locate(&mut self) -> Result<Option<Range<usize>>, Failure> {
        let Some((first, sequence)) = self.header(self.start) else { return Ok(None) };
        let begin = self.start + HEADER_BYTES;
        if begin + first > self.end {
            return Ok(None);
        }
        if first < PACKET_PART_BYTES_MAX {
            self.start = begin + first;
            self.sequence = sequence.wrapping_add(1);
            return Ok(Some(begin..begin + first));
        }
        self.locate_long(begin)
    }

    fn locate_long(&mut self, begin: usize) -> Result<Option<Range<usize>>, Failure> {
        let mut parts = Vec::new();
        let mut at = begin - HEADER_BYTES;
        loop {
            let Some((length, sequence)) = self.header(at) else { return Ok(None) };
            let body = at + HEADER_BYTES..at + HEADER_BYTES + length;
            if body.end - begin > PAYLOAD_BYTES_MAX {
                return Err(Failure::Protocol("the server sent a packet of more than 1 GiB"));
            }
            if body.end > self.end {
                return Ok(None);
            }
            at = body.end;
            parts.push(body);
            if length < PACKET_PART_BYTES_MAX {
                self.sequence = sequence.wrapping_add(1);
                break;
            }
        }
        let mut joined = begin;
        for part in parts {
            let length = part.len();
            self.buffer.copy_within(part, joined);
            joined += length;
        }
        self.start = at;
        Ok(Some(begin..joined))
    }

    fn header(&self, at: usize) -> Option<(usize, u8)> {
        let header = self.buffer.get(at..at + HEADER_BYTES).filter(|_| at + HEADER_BYTES <= self.end)?;
        Some((u32::from_le_bytes([header[0], header[1], header[2], 0]) as usize, header[3]))
    }
}

/// Reads the parts of a packet; every read past its end is a protocol error.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl<'a> Reader<'a> {
    #[inline]
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Failure> {
        let Some((taken, rest)) = self.0.split_at_checked(count) else { return Err(Failure::Protocol("a packet of the server is too short")) };
        self.0 = rest;
        Ok(taken)
    }

    #[inline]
    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Failure> {
        let Some((taken, rest)) = self.0.split_first_chunk::<N>() else { return Err(Failure::Protocol("a packet of the server is too short")) };
        self.0 = rest;
        Ok(*taken)
    }

    #[inline]
    pub(super) fn byte(&mut self) -> Result<u8, Failure> {
        Ok(self.array::<1>()?[0])
    }

    pub(super) fn u16(&mut self) -> Result<u16, Failure> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Result<u32, Failure> {
        self.array().map(u32::from_le_bytes)
    }

    /// A length of one, three, four or nine bytes. Error: a NULL marker where a length must stand.
    #[inline]
    pub(super) fn length(&mut self) -> Result<usize, Failure> {
        match self.byte()? {
            short @ 0..=0xFA => Ok(short as usize),
            0xFC => Ok(self.u16()? as usize),
            0xFD => self.array::<3>().map(|b| u32::from_le_bytes([b[0], b[1], b[2], 0]) as usize),
            0xFE => self.array().map(|b| u64::from_le_bytes(b) as usize),
            _ => Err(Failure::Protocol("a length of the server's cannot be read")),
        }
    }

    /// Bytes with their length before them.
    #[inline]
    pub(super) fn sized(&mut self) -> Result<&'a [u8], Failure> {
        let length = self.length()?;
        self.take(length)
    }

    /// Bytes up to a zero, which is skipped; all that is left when there is none.
    pub(super) fn zero_ended(&mut self) -> &'a [u8] {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap_or(self.0.len());
        let taken = &self.0[..end];
        self.0 = self.0.get(end + 1..).unwrap_or_default();
        taken
    }
}
