// SPDX-License-Identifier: Apache-2.0
//! Many keys that are whole numbers and close to each other, as a set of bits: a source that looks at each row anyway finds a bit sooner
//! than a key in a list, and need not plan with hundreds of thousands of them.

use super::literal::operand;
use datafusion::logical_expr::Expr;
use weir_source::{Operand, Source, Term};

/// Fewer keys are a short list.
const KEYS_MIN: usize = 10_000;
/// In a list a key takes about as many bytes as these bits do.
const BITS_A_KEY_MAX: usize = 64;

/// The condition on `term`; `None` where a list is better, or the source has no such thing.
pub(super) fn in_bits(term: &Term, keys: &[Expr], source: &dyn Source) -> Option<String> {
    if keys.len() < KEYS_MIN {
        return None;
    }
    let numbers = keys.iter().map(number).collect::<Option<Vec<i64>>>()?;
    let (low, high, set) = bits(&numbers)?;
    let sql = source.dialect().in_bits(term, low, high, &set)?;
    (sql.len() <= source.keys_max().text_bytes).then_some(sql)
}

fn number(key: &Expr) -> Option<i64> {
    let Expr::Literal(value, _) = key else { return None };
    match operand(value)? {
        Operand::Int(number) => i64::try_from(number).ok(),
        _ => None,
    }
}

/// The smallest and the largest number, and a bit for each from the one to the other, the lowest of a byte first.
fn bits(numbers: &[i64]) -> Option<(i64, i64, Vec<u8>)> {
    let (low, high) = (*numbers.iter().min()?, *numbers.iter().max()?);
    let count = usize::try_from(i128::from(high) - i128::from(low) + 1).ok()?;
    if count > numbers.len().saturating_mul(BITS_A_KEY_MAX) {
        return None;
    }
    let mut set = vec![0_u8; count.div_ceil(8)];
    for number in numbers {
        let place = (number - low) as usize;
        set[place / 8] |= 1 << (place % 8);
    }
    Some((low, high, set))
}

#[cfg(test)]
mod tests {
    use super::bits;

    #[test]
    fn a_bit_for_each_number_that_is_close() {
        assert_eq!(bits(&[-3, 5, -3, 4]), Some((-3, 5, vec![0b1000_0001, 1])));
        assert_eq!(bits(&[7]), Some((7, 7, vec![1])));
        assert_eq!((bits(&[0, 128]), bits(&[i64::MIN, i64::MAX]), bits(&[])), (None, None, None));
    }
}
