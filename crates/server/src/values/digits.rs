// SPDX-License-Identifier: Apache-2.0
//! Numbers as Postgres prints them, and `numeric` in its binary form.

use weir_base::shortest::{scientific_f32, scientific_f64};

/// Decimal digits of a whole number, without an allocation.
pub fn put_u64(number: u64, out: &mut Vec<u8>) {
    let mut digits = [0_u8; 20];
    let mut start = digits.len();
    let mut rest = number;
    loop {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[start..]);
}

/// As `put_u64`, with a sign.
pub fn put_i64(number: i64, out: &mut Vec<u8>) {
    if number < 0 {
        out.push(b'-');
    }
    put_u64(number.unsigned_abs(), out);
}

/// A whole number with at least `width` digits.
pub fn put_padded(number: u64, width: usize, out: &mut Vec<u8>) {
    let mut bound = 10_u64;
    for _ in 1..width {
        if number < bound {
            out.push(b'0');
        }
        bound = bound.saturating_mul(10);
    }
    // The zeros were pushed from the smallest bound up, so their number is right and their order does not matter.
    put_u64(number, out);
}

/// A decimal from its unscaled digits (`-1250`, scale 2 → `-12.50`). A negative scale appends zeros.
pub fn put_decimal(unscaled: &str, scale: i8, out: &mut Vec<u8>) {
    let (sign, digits) = match unscaled.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", unscaled),
    };
    out.extend_from_slice(sign.as_bytes());
    let Ok(places) = usize::try_from(scale) else {
        out.extend_from_slice(digits.as_bytes());
        let zeros = if digits == "0" { 0 } else { usize::from(scale.unsigned_abs()) };
        out.extend(std::iter::repeat_n(b'0', zeros));
        return;
    };
    if digits.len() <= places {
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', places - digits.len()));
        out.extend_from_slice(digits.as_bytes());
        return;
    }
    let (whole, fraction) = digits.split_at(digits.len() - places);
    out.extend_from_slice(whole.as_bytes());
    if places > 0 {
        out.push(b'.');
        out.extend_from_slice(fraction.as_bytes());
    }
}

/// A double as Postgres 12 and later print it: the shortest digits that read back the same.
pub fn put_f64(number: f64, out: &mut Vec<u8>) {
    match special(number.is_nan(), number.is_infinite(), number.is_sign_negative()) {
        Some(word) => out.extend_from_slice(word),
        None => put_shortest(&scientific_f64(number), 15, out),
    }
}

/// As `put_f64`, for single precision.
pub fn put_f32(number: f32, out: &mut Vec<u8>) {
    match special(number.is_nan(), number.is_infinite(), number.is_sign_negative()) {
        Some(word) => out.extend_from_slice(word),
        None => put_shortest(&scientific_f32(number), 6, out),
    }
}

fn special(nan: bool, infinite: bool, negative: bool) -> Option<&'static [u8]> {
    match (nan, infinite, negative) {
        (true, _, _) => Some(b"NaN"),
        (_, true, false) => Some(b"Infinity"),
        (_, true, true) => Some(b"-Infinity"),
        _ => None,
    }
}

/// Lays out `d.ddde±x`: plain digits for exponents from -4 up to `plain_below`, else with an exponent of two digits or more.
fn put_shortest(scientific: &str, plain_below: i32, out: &mut Vec<u8>) {
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |digits| ("-", digits));
    let digits = mantissa.replace('.', "");
    out.extend_from_slice(sign.as_bytes());
    if exponent < -4 || exponent >= plain_below {
        put_scientific(&digits, exponent, out);
    } else if exponent < 0 {
        out.extend_from_slice(b"0.");
        out.extend(std::iter::repeat_n(b'0', exponent.unsigned_abs() as usize - 1));
        out.extend_from_slice(digits.as_bytes());
    } else {
        put_plain(&digits, exponent.unsigned_abs() as usize + 1, out);
    }
}

fn put_plain(digits: &str, whole: usize, out: &mut Vec<u8>) {
    if digits.len() <= whole {
        out.extend_from_slice(digits.as_bytes());
        out.extend(std::iter::repeat_n(b'0', whole - digits.len()));
        return;
    }
    out.extend_from_slice(&digits.as_bytes()[..whole]);
    out.push(b'.');
    out.extend_from_slice(&digits.as_bytes()[whole..]);
}

fn put_scientific(digits: &str, exponent: i32, out: &mut Vec<u8>) {
    out.extend_from_slice(&digits.as_bytes()[..1]);
    if digits.len() > 1 {
        out.push(b'.');
        out.extend_from_slice(&digits.as_bytes()[1..]);
    }
    out.push(b'e');
    out.push(if exponent < 0 { b'-' } else { b'+' });
    put_padded(u64::from(exponent.unsigned_abs()), 2, out);
}

/// Lowercase hexadecimal digits.
pub fn put_hex(bytes: &[u8], out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    for byte in bytes {
        out.push(HEX[usize::from(byte >> 4)]);
        out.push(HEX[usize::from(byte & 15)]);
    }
}

const NUMERIC_NEGATIVE: u16 = 0x4000;
const NUMERIC_NAN: u16 = 0xC000;
const NUMERIC_INFINITY: u16 = 0xD000;
const NUMERIC_MINUS_INFINITY: u16 = 0xF000;

/// `numeric` on the wire: count of base-10,000 digits, weight of the first, sign, digits after the point, then the digits.
pub fn put_numeric(unscaled: &str, scale: i8, out: &mut Vec<u8>) {
    let (negative, digits) = unscaled.strip_prefix('-').map_or((false, unscaled), |digits| (true, digits));
    let places = usize::try_from(scale).unwrap_or(0);
    let appended = if scale < 0 { usize::from(scale.unsigned_abs()) } else { 0 };
    let mut text = "0".repeat(places.saturating_sub(digits.len()));
    text.push_str(digits);
    text.push_str(&"0".repeat(appended));
    let (whole, fraction) = text.split_at(text.len() - places);
    let left = "0".repeat((4 - whole.len() % 4) % 4);
    let right = "0".repeat((4 - fraction.len() % 4) % 4);
    let aligned = [left.as_str(), whole, fraction, right.as_str()].concat();
    let groups: Vec<u16> = aligned.as_bytes().chunks(4).map(|group| group.iter().fold(0, |value, digit| value * 10 + u16::from(digit - b'0'))).collect();
    let whole_groups = (left.len() + whole.len()) / 4;
    let leading = groups.iter().take_while(|group| **group == 0).count();
    let trailing = groups.iter().rev().take_while(|group| **group == 0).count();
    let kept = if leading == groups.len() { &[][..] } else { &groups[leading..groups.len() - trailing] };
    let weight = if kept.is_empty() { 0 } else { whole_groups as i16 - 1 - leading as i16 };
    let sign = if negative && !kept.is_empty() { NUMERIC_NEGATIVE } else { 0 };
    out.extend_from_slice(&(kept.len() as u16).to_be_bytes());
    out.extend_from_slice(&weight.to_be_bytes());
    out.extend_from_slice(&sign.to_be_bytes());
    out.extend_from_slice(&(places as u16).to_be_bytes());
    for group in kept {
        out.extend_from_slice(&group.to_be_bytes());
    }
}

/// Reads a binary `numeric` into text (`-12.50`, `NaN`, `Infinity`). `None` when the bytes are not one.
pub fn read_numeric(bytes: &[u8]) -> Option<String> {
    let word = |index: usize| bytes.get(index * 2..index * 2 + 2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
    let (count, weight, sign, places) = (usize::from(word(0)?), word(1)? as i16, word(2)?, usize::from(word(3)?));
    if bytes.len() != 8 + count * 2 {
        return None;
    }
    let mut text = match sign {
        0 => String::new(),
        NUMERIC_NEGATIVE => "-".to_owned(),
        NUMERIC_NAN => return Some("NaN".into()),
        NUMERIC_INFINITY => return Some("Infinity".into()),
        NUMERIC_MINUS_INFINITY => return Some("-Infinity".into()),
        _ => return None,
    };
    let group_at = |position: i32| -> Option<u16> {
        let index = i32::from(weight) - position;
        match usize::try_from(index) {
            Ok(index) if index < count => word(4 + index).filter(|group| *group < 10_000),
            _ => Some(0),
        }
    };
    let mut whole = String::new();
    for position in (0..=i32::from(weight).max(0)).rev() {
        whole.push_str(&format!("{:04}", group_at(position)?));
    }
    let trimmed = whole.trim_start_matches('0');
    text.push_str(if trimmed.is_empty() { "0" } else { trimmed });
    let mut fraction = String::new();
    for position in 0..places.div_ceil(4) {
        fraction.push_str(&format!("{:04}", group_at(-1 - position as i32)?));
    }
    fraction.truncate(places);
    if places > 0 {
        text.push('.');
        text.push_str(&fraction);
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(put: impl Fn(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        put(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn doubles_print_as_in_postgres() {
        let cases = [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (0.1, "0.1"),
            (1e14, "100000000000000"),
            (1e15, "1e+15"),
            (123_456_789_012_345_680.0, "1.2345678901234568e+17"),
            (0.0001, "0.0001"),
            (0.00001, "1e-05"),
            (-1.5e300, "-1.5e+300"),
            (f64::NAN, "NaN"),
            (f64::NEG_INFINITY, "-Infinity"),
            (1234.5, "1234.5"),
        ];
        for (number, expected) in cases {
            assert_eq!(text(|out| put_f64(number, out)), expected);
        }
        assert_eq!(text(|out| put_f32(1e6, out)), "1e+06");
        assert_eq!(text(|out| put_f32(123_456.7, out)), "123456.7");
        assert_eq!(text(|out| put_f32(0.1, out)), "0.1");
    }

    #[test]
    fn decimals_keep_their_places() {
        for (unscaled, scale, expected) in [("-1250", 2, "-12.50"), ("5", 3, "0.005"), ("0", 2, "0.00"), ("12", -2, "1200"), ("0", -2, "0"), ("7", 0, "7")] {
            assert_eq!(text(|out| put_decimal(unscaled, scale, out)), expected);
        }
        assert_eq!(text(|out| put_padded(7, 4, out)), "0007");
        assert_eq!(text(|out| put_padded(12_345, 4, out)), "12345");
        assert_eq!(text(|out| put_i64(i64::MIN, out)), "-9223372036854775808");
    }

    #[test]
    fn numeric_goes_there_and_back() {
        let cases = [
            ("-1250", 2, "-12.50"),
            ("5", 7, "0.0000005"),
            ("0", 2, "0.00"),
            ("123456789012345678901234567890", 10, "12345678901234567890.1234567890"),
            ("10000", 0, "10000"),
            ("12", -6, "12000000"),
        ];
        for (unscaled, scale, expected) in cases {
            let mut out = Vec::new();
            put_numeric(unscaled, scale, &mut out);
            assert_eq!(read_numeric(&out).as_deref(), Some(expected));
        }
        let mut out = Vec::new();
        put_numeric("1234500", 4, &mut out);
        assert_eq!(out, [0, 2, 0, 0, 0, 0, 0, 4, 0, 123, 0x11, 0x94]);
        assert_eq!(read_numeric(&[0, 1]), None);
    }
}
