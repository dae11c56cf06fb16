// SPDX-License-Identifier: Apache-2.0
//! The fewest digits that read back as the same floating point number, as PostgreSQL picks them. The library's digits may lie exactly
//! between two numbers, where reading back is a matter of how ties are settled; PostgreSQL takes one digit more then.

/// `d.ddde±x`; `NaN` and `inf` as they are.
pub fn scientific_f64(value: f64) -> String {
    const FRACTION_BITS: u32 = 52;
    let fraction = value.to_bits() & ((1 << FRACTION_BITS) - 1);
    let exponent = ((value.to_bits() >> FRACTION_BITS) & 0x7ff) as i32 - 1023 - FRACTION_BITS as i32;
    let text = format!("{value:e}");
    let between = |text: &str| is_tie(text, value.abs(), exponent, fraction == 0);
    if !between(&text) {
        return text;
    }
    longer(&text, |places| format!("{value:.places$e}"), |text| text.parse() == Ok(value) && !between(text))
}

/// As `scientific_f64`, for single precision.
pub fn scientific_f32(value: f32) -> String {
    const FRACTION_BITS: u32 = 23;
    let fraction = value.to_bits() & ((1 << FRACTION_BITS) - 1);
    let exponent = ((value.to_bits() >> FRACTION_BITS) & 0xff) as i32 - 127 - FRACTION_BITS as i32;
    let text = format!("{value:e}");
    let between = |text: &str| is_tie(text, f64::from(value.abs()), exponent, fraction == 0);
    if !between(&text) {
        return text;
    }
    longer(&text, |places| format!("{value:.places$e}"), |text| text.parse() == Ok(value) && !between(text))
}

/// Whether the digits are as far from the number as from its neighbour. `exponent` is that of its last bit; below 2 there is nothing
/// in between that has fewer digits than the number itself. `lowest` when the neighbour below is only half as far away.
fn is_tie(text: &str, value: f64, exponent: i32, lowest: bool) -> bool {
    const BITS_MAX: f64 = 1e38;
    if exponent < 1 || !value.is_finite() || value > BITS_MAX {
        return false;
    }
    let (exact, half) = (value as u128, 1u128 << (exponent - 1));
    let Some(shown) = whole(text) else { return false };
    let away = shown.abs_diff(exact);
    away == half || lowest && shown < exact && away * 2 == half
}

/// The number that the digits are, where it is whole.
fn whole(text: &str) -> Option<u128> {
    let (mantissa, exponent) = text.trim_start_matches('-').split_once('e')?;
    let (head, tail) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let zeros = exponent.parse::<u32>().ok()?.checked_sub(u32::try_from(tail.len()).ok()?)?;
    format!("{head}{tail}").parse::<u128>().ok()?.checked_mul(10u128.checked_pow(zeros)?)
}

/// The first longer text that will do; the exact number has at most 39 digits.
fn longer(text: &str, write: impl Fn(usize) -> String, will_do: impl Fn(&str) -> bool) -> String {
    const PLACES_MAX: usize = 40;
    let places = text.split_once('e').and_then(|(mantissa, _)| mantissa.split_once('.')).map_or(0, |(_, tail)| tail.len());
    (places + 1..PLACES_MAX).map(write).find(|text| will_do(text)).unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_between_two_numbers_are_not_enough() {
        assert_eq!(scientific_f32(50_331_648.0), "5.0331648e7");
        assert_eq!(scientific_f32(-50_331_648.0), "-5.0331648e7");
        assert_eq!(scientific_f32(16_777_216.0), "1.6777216e7");
        assert_eq!(scientific_f32(9.007_199e15), "9.007199e15");
    }

    #[test]
    fn other_digits_are_as_ever() {
        for value in [0.0f32, 1.0, 0.1, 3.4e38, 1e-45, 33_554_436.0] {
            assert_eq!(scientific_f32(value), format!("{value:e}"), "{value}");
            assert_eq!(scientific_f32(value).parse(), Ok(value));
        }
        for value in [0.0f64, 1e22, 5e-324, 1.797e308, 9_007_199_254_740_993.0, 0.1 + 0.2] {
            assert_eq!(scientific_f64(value), format!("{value:e}"), "{value}");
        }
    }
}
