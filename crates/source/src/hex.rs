// SPDX-License-Identifier: Apache-2.0
//! Bytes as hexadecimal digits, as literals of several sources hold them. Sets of keys make them long.

const DIGITS: &[u8; 16] = b"0123456789abcdef";

/// Two digits a byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    let digit = |half: u8| char::from(DIGITS[usize::from(half)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}
