// SPDX-License-Identifier: Apache-2.0
//! The options of `COPY … TO STDOUT`, in the old form and the new one.

use crate::postgres::command::Words;
use crate::postgres::fault::Fault;
use crate::postgres::lexer::Token;
use crate::values::delimited::{CopyFormat, CopyOptions};

/// What stands after TO STDOUT, in the old form (`CSV HEADER`) or the new one (`WITH (FORMAT csv, HEADER)`).
pub fn read_options(words: &mut Words<'_>) -> Result<CopyOptions, Fault> {
    let mut draft = Draft::default();
    words.eat("WITH");
    if words.eat_symbol('(') {
        loop {
            let option = words.name()?;
            draft.set(&option, words)?;
            if words.eat_symbol(')') {
                break;
            }
            if !words.eat_symbol(',') {
                return Err(words.wrong(", or )"));
            }
        }
    } else {
        while words.peek().is_some() {
            let option = words.name()?;
            words.eat("AS");
            draft.set(&option, words)?;
        }
    }
    draft.finish()
}

#[derive(Default)]
struct Draft {
    format: Option<CopyFormat>,
    header: bool,
    delimiter: Option<u8>,
    null: Option<String>,
    quote: Option<u8>,
    escape: Option<u8>,
    quote_all: bool,
}

impl Draft {
    fn set(&mut self, option: &str, words: &mut Words<'_>) -> Result<(), Fault> {
        match option {
            "format" => {
                let format = words.name()?;
                return self.set(&format, words);
            }
            "text" => self.format = Some(CopyFormat::Text),
            "csv" => self.format = Some(CopyFormat::Csv),
            "binary" => self.format = Some(CopyFormat::Binary),
            "header" => self.header = read_switch(words),
            "delimiter" => self.delimiter = Some(read_byte(words)?),
            "null" => self.null = Some(read_text(words)?),
            "quote" => self.quote = Some(read_byte(words)?),
            "escape" => self.escape = Some(read_byte(words)?),
            "force_quote" if words.eat_symbol('*') => self.quote_all = true,
            "force" if words.eat("QUOTE") && words.eat_symbol('*') => self.quote_all = true,
            "encoding" => {
                let encoding = read_text(words)?;
                if !["utf8", "utf-8"].contains(&encoding.to_ascii_lowercase().as_str()) {
                    return Err(Fault::error("0A000", "COPY writes UTF8 only"));
                }
            }
            _ => {
                return Err(Fault::syntax(format!("COPY option {option:?} is not recognized"))
                    .with_hint("FORMAT, HEADER, DELIMITER, NULL, QUOTE, ESCAPE, FORCE_QUOTE * and ENCODING are"));
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<CopyOptions, Fault> {
        let format = self.format.unwrap_or(CopyFormat::Text);
        let csv = format == CopyFormat::Csv;
        if !csv && (self.quote.is_some() || self.escape.is_some() || self.quote_all) {
            return Err(Fault::error("0A000", "COPY quoting is available in CSV mode only"));
        }
        if format == CopyFormat::Binary && (self.header || self.delimiter.is_some() || self.null.is_some()) {
            return Err(Fault::syntax("cannot specify HEADER, DELIMITER or NULL in BINARY mode"));
        }
        let quote = self.quote.unwrap_or(b'"');
        let delimiter = self.delimiter.unwrap_or(if csv { b',' } else { b'\t' });
        let unusable = [b'\n', b'\r', b'\\'].contains(&delimiter) && !csv || (csv && (delimiter == quote || delimiter == b'\n' || delimiter == b'\r'));
        if unusable {
            return Err(Fault::error("22023", "COPY delimiter cannot be used"));
        }
        let null = self.null.unwrap_or_else(|| if csv { String::new() } else { "\\N".into() });
        Ok(CopyOptions { format, header: self.header, delimiter, null, quote, escape: self.escape.unwrap_or(quote), quote_all: self.quote_all })
    }
}

fn read_switch(words: &mut Words<'_>) -> bool {
    if words.eat("FALSE") || words.eat("OFF") {
        return false;
    }
    let _explicit = words.eat("TRUE") || words.eat("ON");
    true
}

fn read_text(words: &mut Words<'_>) -> Result<String, Fault> {
    match words.next() {
        Some(Token::Text(text)) => Ok(text.clone()),
        _ => Err(words.wrong("a text in single quotes")),
    }
}

fn read_byte(words: &mut Words<'_>) -> Result<u8, Fault> {
    let text = read_text(words)?;
    match text.as_bytes() {
        [byte] => Ok(*byte),
        _ => Err(Fault::error("0A000", "COPY delimiter, quote and escape must be a single one-byte character")),
    }
}
