// SPDX-License-Identifier: Apache-2.0
//! PostgreSQL's binary `numeric` (digits to base 10,000) to the unscaled integer of an Arrow decimal: exact or refused.

use super::value::Misfit;
use arrow::datatypes::i256;

const NEGATIVE: u16 = 0x4000;
const NAN: u16 = 0xC000;
const PLUS_INFINITY: u16 = 0xD000;
const MINUS_INFINITY: u16 = 0xF000;

/// More groups than this could overflow the fast path: 8 groups are 32 digits, and the scale may add up to 4 more.
const FAST_GROUPS_MAX: usize = 8;

/// What a binary numeric holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Numeric<'a> {
    Finite(Digits<'a>),
    NaN,
    PlusInfinity,
    MinusInfinity,
}

/// A finite numeric: groups of four decimal digits, the first of which counts 10,000 to the power of `weight`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Digits<'a> {
    negative: bool,
    weight: i16,
    /// Two bytes a group, big-endian.
    groups: &'a [u8],
}

/// Reads the header. Error: bytes that are no numeric.
pub fn parse(raw: &[u8]) -> Result<Numeric<'_>, Misfit> {
    let (Some(header), Some(groups)) = (raw.get(..8), raw.get(8..)) else { return Err(Misfit::Wire("numeric")) };
    let word = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
    if groups.len() != usize::from(word(0)) * 2 {
        return Err(Misfit::Wire("numeric"));
    }
    let weight = word(2) as i16;
    match word(4) {
        0 => Ok(Numeric::Finite(Digits { negative: false, weight, groups })),
        NEGATIVE => Ok(Numeric::Finite(Digits { negative: true, weight, groups })),
        NAN => Ok(Numeric::NaN),
        PLUS_INFINITY => Ok(Numeric::PlusInfinity),
        MINUS_INFINITY => Ok(Numeric::MinusInfinity),
        _ => Err(Misfit::Wire("numeric")),
    }
}

impl Digits<'_> {
    /// The value times 10 to the power of `scale`. Errors: a digit behind the scale, or more than `precision` digits.
    pub fn to_i128(self, precision: u8, scale: i8) -> Result<i128, Misfit> {
        if self.groups.len() > FAST_GROUPS_MAX * 2 {
            return self.slow(precision, scale)?.to_i128().ok_or(Misfit::TooLarge);
        }
        let groups = self.groups.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
        let magnitude = groups.fold(0_u128, |sum, group| sum * 10_000 + u128::from(group));
        if magnitude == 0 {
            return Ok(0);
        }
        let shift = self.shift(scale);
        let unscaled = if shift >= 0 {
            let factor = 10_u128.checked_pow(shift as u32).ok_or(Misfit::TooLarge)?;
            magnitude.checked_mul(factor).ok_or(Misfit::TooLarge)?
        } else {
            let factor = 10_u128.checked_pow(shift.unsigned_abs()).ok_or(Misfit::TooFine)?;
            if !magnitude.is_multiple_of(factor) {
                return Err(Misfit::TooFine);
            }
            magnitude / factor
        };
        if unscaled >= 10_u128.pow(u32::from(precision)) {
            return Err(Misfit::TooLarge);
        }
        let unscaled = unscaled as i128;
        Ok(if self.negative { -unscaled } else { unscaled })
    }

    /// As `to_i128`, up to 76 digits.
    pub fn to_i256(self, precision: u8, scale: i8) -> Result<i256, Misfit> {
        if self.groups.len() <= FAST_GROUPS_MAX * 2 && precision <= 38 {
            return self.to_i128(precision, scale).map(i256::from_i128);
        }
        self.slow(precision, scale)
    }

    /// Powers of ten between the last group and the wanted scale.
    fn shift(self, scale: i8) -> i32 {
        let groups_behind_first = (self.groups.len() / 2) as i32 - 1;
        (i32::from(self.weight) - groups_behind_first) * 4 + i32::from(scale)
    }

    /// Through decimal text: no intermediate can overflow.
    fn slow(self, precision: u8, scale: i8) -> Result<i256, Misfit> {
        let groups = self.groups.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
        let mut text: String = groups.map(|group| format!("{group:04}")).collect();
        let shift = self.shift(scale);
        if text.bytes().all(|digit| digit == b'0') {
            return Ok(i256::ZERO);
        }
        if shift >= 0 {
            if shift > i32::from(precision) {
                return Err(Misfit::TooLarge);
            }
            text.extend(std::iter::repeat_n('0', shift as usize));
        } else {
            let cut = text.len().saturating_sub(shift.unsigned_abs() as usize);
            let lost = text.split_off(cut);
            if lost.bytes().any(|digit| digit != b'0') {
                return Err(Misfit::TooFine);
            }
        }
        let digits = text.trim_start_matches('0');
        if digits.len() > usize::from(precision) {
            return Err(Misfit::TooLarge);
        }
        let magnitude = i256::from_string(if digits.is_empty() { "0" } else { digits }).ok_or(Misfit::TooLarge)?;
        Ok(if self.negative { -magnitude } else { magnitude })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn binary(sign: u16, weight: i16, groups: &[u16]) -> Vec<u8> {
        let head = [groups.len() as u16, weight as u16, sign, 0];
        head.iter().chain(groups).flat_map(|word| word.to_be_bytes()).collect()
    }

    fn finite(raw: &[u8]) -> Digits<'_> {
        let Ok(Numeric::Finite(digits)) = parse(raw) else { unreachable!("finite by construction") };
        digits
    }

    #[test]
    fn both_ways_give_the_same_integer() {
        // 12345.67 = 1|2345|6700, weight 1
        let raw = binary(NEGATIVE, 1, &[1, 2345, 6700]);
        assert_eq!(finite(&raw).to_i128(12, 2), Ok(-1_234_567));
        assert_eq!(finite(&raw).slow(12, 2), Ok(i256::from_i128(-1_234_567)));
        assert_eq!(finite(&raw).to_i128(12, 1), Err(Misfit::TooFine));
        assert_eq!(finite(&raw).to_i128(6, 2), Err(Misfit::TooLarge));
        assert_eq!(finite(&raw).slow(6, 2), Err(Misfit::TooLarge));
    }

    #[test]
    fn far_scales_are_refused_and_never_rounded() {
        let tiny = binary(0, -20, &[1]);
        assert_eq!(finite(&tiny).to_i128(38, 18), Err(Misfit::TooFine));
        let huge = binary(0, 200, &[1]);
        assert_eq!(finite(&huge).to_i128(38, 18), Err(Misfit::TooLarge));
        assert_eq!(finite(&huge).slow(76, 0), Err(Misfit::TooLarge));
        assert_eq!(finite(&binary(0, 200, &[])).to_i128(38, 18), Ok(0));
    }

    #[test]
    fn thirty_eight_nines() {
        let raw = binary(0, 9, &[99, 9999, 9999, 9999, 9999, 9999, 9999, 9999, 9999, 9999]);
        assert_eq!(finite(&raw).to_i128(38, 0), Ok(10_i128.pow(38) - 1));
    }

    #[test]
    fn what_is_no_number_is_told_apart() {
        assert_eq!(parse(&binary(NAN, 0, &[])), Ok(Numeric::NaN));
        assert_eq!(parse(&binary(MINUS_INFINITY, 0, &[])), Ok(Numeric::MinusInfinity));
        assert_eq!(parse(&[0, 1]), Err(Misfit::Wire("numeric")));
    }
}
