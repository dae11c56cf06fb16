// SPDX-License-Identifier: Apache-2.0
//! Bytes as PostgreSQL writes them in text.

/// The bytes that a text spells: hexadecimal after `\\x`, else themselves, with `\\ooo` for one in octal and `\\\\` for a backslash. `None` for
/// a text that spells none.
pub fn read(text: &str) -> Option<Vec<u8>> {
    match text.strip_prefix("\\x") {
        Some(digits) => read_hex(digits),
        None => read_escaped(text.as_bytes()),
    }
}

/// Two hexadecimal digits a byte; blanks between them do not count. `None` for anything else.
pub fn read_hex(digits: &str) -> Option<Vec<u8>> {
    let digit = |letter: char| letter.to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let digits: Vec<u8> = digits.chars().filter(|letter| !letter.is_ascii_whitespace()).map(digit).collect::<Option<_>>()?;
    digits.len().is_multiple_of(2).then(|| digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}

fn read_escaped(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        if *first != b'\\' {
            out.push(*first);
            rest = after;
        } else if after.first() == Some(&b'\\') {
            out.push(b'\\');
            rest = &after[1..];
        } else {
            let octal = after.get(..3).filter(|digits| digits.iter().all(|digit| (b'0'..=b'7').contains(digit)))?;
            out.push(u8::from_str_radix(std::str::from_utf8(octal).ok()?, 8).ok()?);
            rest = &after[3..];
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn spellings() {
        let cases: [(&str, Option<&[u8]>); 10] = [
            ("\\xDEad", Some(&[0xde, 0xad])),
            ("\\x de ad ", Some(&[0xde, 0xad])),
            ("\\x", Some(&[])),
            ("abc", Some(b"abc")),
            ("a\\000\\\\", Some(&[b'a', 0, b'\\'])),
            ("\\x1", None),
            ("\\xzz", None),
            ("\\9", None),
            ("\\+12", None),
            ("\\400", None),
        ];
        for (text, bytes) in cases {
            assert_eq!(read(text).as_deref(), bytes, "{text}");
        }
    }
}
