// SPDX-License-Identifier: Apache-2.0
//! A parameter value as it came through a door. It is bound as a value and never becomes part of a text.

use arrow::datatypes::DataType;

/// One parameter. The engine casts it to the type the statement needs, exactly or with an error.
#[derive(Debug, Clone, PartialEq)]
pub enum Parameter {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// A decimal as its digits, such as `12.50`.
    Decimal(String),
    /// Text, also for every type that the client sent as text and left for us to infer.
    Text(String),
    Bytes(Vec<u8>),
    /// Days since 1970-01-01.
    Date(i32),
    /// Microseconds since midnight.
    Time(i64),
    /// Microseconds since 1970-01-01 without a zone.
    Timestamp(i64),
    /// Microseconds since 1970-01-01 UTC.
    TimestampUtc(i64),
    /// Three parts that never mix.
    Interval {
        months: i32,
        days: i32,
        micros: i64,
    },
    /// A text that the client declared to be an interval, such as `1 day 02:03:04`.
    IntervalText(String),
    /// A list of one dimension, each item a value or NULL. `element` is the type that the client declared for the items; text where it left that open.
    Array {
        element: DataType,
        items: Vec<Parameter>,
    },
}

impl Parameter {
    /// The items of an array's text, such as `{1,"a b",NULL}`; an unquoted NULL is none. `None` for what is no array of one dimension.
    pub fn array_items(text: &str) -> Option<Vec<Option<String>>> {
        let inner = text.trim().strip_prefix('{')?.strip_suffix('}')?;
        if inner.trim().is_empty() {
            return Some(Vec::new());
        }
        let mut items = Vec::new();
        let mut item = Item::default();
        let mut chars = inner.chars();
        while let Some(c) = chars.next() {
            match c {
                '"' => item.quote()?,
                '\\' => item.push(chars.next()?)?,
                ',' if !item.open => items.push(std::mem::take(&mut item).end()?),
                '{' | '}' if !item.open => return None,
                c => item.push(c)?,
            }
        }
        items.push(item.end()?);
        Some(items)
    }
}

/// One item of an array's text while it is read.
#[derive(Default)]
struct Item {
    text: String,
    /// Between quotes.
    open: bool,
    quoted: bool,
}

impl Item {
    /// Quotes hold the whole item, with blanks around them at most.
    fn quote(&mut self) -> Option<()> {
        if self.quoted && !self.open || !self.quoted && !self.text.trim().is_empty() {
            return None;
        }
        if !self.quoted {
            self.text.clear();
        }
        self.open = !self.open;
        self.quoted = true;
        Some(())
    }

    fn push(&mut self, c: char) -> Option<()> {
        if self.quoted && !self.open {
            return c.is_whitespace().then_some(());
        }
        self.text.push(c);
        Some(())
    }

    fn end(self) -> Option<Option<String>> {
        if self.open {
            return None;
        }
        if self.quoted {
            return Some(Some(self.text));
        }
        let text = self.text.trim();
        if text.is_empty() {
            return None;
        }
        Some((!text.eq_ignore_ascii_case("null")).then(|| text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_read_as_postgres_writes_them() {
        let read = |text| Parameter::array_items(text).map(|items| items.into_iter().map(|item| item.unwrap_or("-".into())).collect::<Vec<_>>().join("|"));
        assert_eq!(read("{}").unwrap(), "");
        assert_eq!(read("{1, 2 ,NULL}").unwrap(), "1|2|-");
        assert_eq!(read(r#"{"a,b\"", "NULL" ,c\\d}"#).unwrap(), "a,b\"|NULL|c\\d");
        for wrong in ["1,2", "{1,2", "{1,,2}", "{{1},{2}}", "{\"a}", "{\"a\"b}", "{a\"b\"}"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }
}
