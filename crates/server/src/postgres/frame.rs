// SPDX-License-Identifier: Apache-2.0
//! Messages from a Postgres client, out of their bytes.

use crate::postgres::fault::Fault;

/// A message after login.
#[derive(Debug, PartialEq, Eq)]
pub enum Message {
    Query(String),
    Parse {
        name: String,
        sql: String,
        types: Vec<u32>,
    },
    Bind(Bind),
    Describe(Target),
    Execute {
        portal: String,
        rows_max: u32,
    },
    Close(Target),
    Sync,
    Flush,
    Terminate,
    /// CopyData, CopyDone and CopyFail outside of a copy: ignored, as the protocol says.
    Ignored,
}

/// Values for the parameters of a statement.
#[derive(Debug, PartialEq, Eq)]
pub struct Bind {
    pub portal: String,
    pub statement: String,
    pub formats: Vec<i16>,
    pub values: Vec<Option<Vec<u8>>>,
    pub result_formats: Vec<i16>,
}

/// A prepared statement or a portal, by name; the empty name is the unnamed one.
#[derive(Debug, PartialEq, Eq)]
pub enum Target {
    Statement(String),
    Portal(String),
}

/// Reads the body of a message from its front.
pub struct Body<'a>(pub &'a [u8]);

impl<'a> Body<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Fault> {
        let (front, rest) = self.0.split_at_checked(count).ok_or_else(|| Fault::protocol("message is shorter than it says"))?;
        self.0 = rest;
        Ok(front)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    pub fn byte(&mut self) -> Result<u8, Fault> {
        Ok(self.array::<1>()?[0])
    }

    pub fn i16(&mut self) -> Result<i16, Fault> {
        Ok(i16::from_be_bytes(self.array()?))
    }

    /// Counts on the wire are unsigned 16-bit numbers.
    pub fn count(&mut self) -> Result<usize, Fault> {
        Ok(usize::from(u16::from_be_bytes(self.array()?)))
    }

    pub fn i32(&mut self) -> Result<i32, Fault> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    /// Text up to a zero byte. Error: 22021 when it is not UTF-8.
    pub fn text(&mut self) -> Result<String, Fault> {
        let end = self.0.iter().position(|byte| *byte == 0).ok_or_else(|| Fault::protocol("text without an end"))?;
        let bytes = self.take(end)?;
        self.take(1)?;
        let text = std::str::from_utf8(bytes).map_err(|_| Fault::error("22021", "text is not valid UTF-8"))?;
        Ok(text.to_owned())
    }

    /// A value with its length in front; -1 is null.
    pub fn value(&mut self) -> Result<Option<Vec<u8>>, Fault> {
        match usize::try_from(self.i32()?) {
            Ok(length) => Ok(Some(self.take(length)?.to_vec())),
            Err(_) => Ok(None),
        }
    }

    fn i16s(&mut self) -> Result<Vec<i16>, Fault> {
        (0..self.count()?).map(|_| self.i16()).collect()
    }
}

/// Reads one message. Errors: 08P01 for malformed ones and unknown kinds, 22021 for text that is not UTF-8.
pub fn parse(tag: u8, body: &[u8]) -> Result<Message, Fault> {
    let mut body = Body(body);
    let message = match tag {
        b'Q' => Message::Query(body.text()?),
        b'P' => {
            let (name, sql) = (body.text()?, body.text()?);
            let types = (0..body.count()?).map(|_| Ok(body.i32()?.cast_unsigned())).collect::<Result<_, Fault>>()?;
            Message::Parse { name, sql, types }
        }
        b'B' => {
            let (portal, statement, formats) = (body.text()?, body.text()?, body.i16s()?);
            let values = (0..body.count()?).map(|_| body.value()).collect::<Result<_, Fault>>()?;
            Message::Bind(Bind { portal, statement, formats, values, result_formats: body.i16s()? })
        }
        b'D' => Message::Describe(target(&mut body)?),
        b'C' => Message::Close(target(&mut body)?),
        b'E' => Message::Execute { portal: body.text()?, rows_max: u32::try_from(body.i32()?).unwrap_or(0) },
        b'S' => Message::Sync,
        b'H' => Message::Flush,
        b'X' => Message::Terminate,
        b'd' | b'c' | b'f' => Message::Ignored,
        b'F' => return Err(Fault::error("0A000", "function calls are not supported").with_hint("use SELECT")),
        _ => return Err(Fault::fatal("08P01", "unknown kind of message")),
    };
    Ok(message)
}

fn target(body: &mut Body<'_>) -> Result<Target, Fault> {
    match body.byte()? {
        b'S' => Ok(Target::Statement(body.text()?)),
        b'P' => Ok(Target::Portal(body.text()?)),
        _ => Err(Fault::protocol("neither a statement nor a portal")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read() {
        assert_eq!(parse(b'Q', b"select 1\0").unwrap(), Message::Query("select 1".into()));
        assert_eq!(parse(b'D', b"Pc1\0").unwrap(), Message::Describe(Target::Portal("c1".into())));
        let bind = parse(b'B', b"\0s\0\0\x01\0\x01\0\x02\0\0\0\x01x\xff\xff\xff\xff\0\0").unwrap();
        let expected = Bind { portal: String::new(), statement: "s".into(), formats: vec![1], values: vec![Some(b"x".to_vec()), None], result_formats: vec![] };
        assert_eq!(bind, Message::Bind(expected));
    }

    #[test]
    fn malformed_messages_are_refused() {
        assert_eq!(parse(b'Q', b"select 1").unwrap_err().code, "08P01");
        assert_eq!(parse(b'Q', b"\xff\0").unwrap_err().code, "22021");
        assert_eq!(parse(b'B', b"\0\0\0\x05").unwrap_err().code, "08P01");
    }
}
