// SPDX-License-Identifier: Apache-2.0
//! A set of whole numbers that stays in the cache while millions are looked up in it. It may take a few for members that are none,
//! never the other way round: whoever found the keys looks at each row again.

use arrow::array::{Array, ArrayRef, AsArray, BooleanArray, PrimitiveArray};
use arrow::buffer::BooleanBuffer;
use arrow::datatypes::{ArrowPrimitiveType, DataType, Date32Type, Int8Type, Int16Type, Int32Type, Int64Type};
use datafusion::common::ScalarValue;

/// Up to so many bits, a bit for every number between the least and the largest key is no bigger than the first cache.
const DENSE_BITS_ALWAYS: u64 = 1 << 18;
/// Beyond that, a bit for every number pays while there are at most so many of them for a key: rows come mostly in the order of their
/// keys, and neighbours share a cache line.
const DENSE_BITS_PER_KEY: u64 = 512;
const DENSE_BITS_MAX: u64 = 1 << 26;
/// Where the keys are too far apart: so many bits for a key, of which it sets three in one word.
const SCATTERED_BITS_PER_KEY: usize = 16;

/// Keys of one type, without NULL.
#[derive(Debug)]
pub(super) struct KeySet {
    data_type: DataType,
    /// How many there are.
    pub count: usize,
    members: Members,
}

#[derive(Debug)]
enum Members {
    /// A bit for each number from `least` on.
    Dense { least: i64, bits: u64, words: Vec<u64> },
    /// A word for each key, picked by its hash, with three bits set.
    Scattered { words: Vec<u64>, shift: u32 },
}

impl KeySet {
    /// `None` when the keys are not whole numbers of one type. NULL is no key.
    pub fn of<'a>(keys: impl Iterator<Item = &'a ScalarValue>) -> Option<Self> {
        let mut known: Option<DataType> = None;
        let mut numbers = Vec::with_capacity(keys.size_hint().0);
        for key in keys {
            let (data_type, number) = whole_number(key)?;
            if known.get_or_insert_with(|| data_type.clone()) != &data_type {
                return None;
            }
            numbers.extend(number);
        }
        Some(Self { data_type: known?, count: numbers.len(), members: Members::of(&numbers) })
    }

    /// For each value whether it may be one of the keys; NULL is none. `None` for an array of another type.
    pub fn holds(&self, array: &ArrayRef) -> Option<BooleanArray> {
        if *array.data_type() != self.data_type {
            return None;
        }
        Some(match self.data_type {
            DataType::Int8 => self.members.hold(array.as_primitive::<Int8Type>()),
            DataType::Int16 => self.members.hold(array.as_primitive::<Int16Type>()),
            DataType::Int32 => self.members.hold(array.as_primitive::<Int32Type>()),
            DataType::Int64 => self.members.hold(array.as_primitive::<Int64Type>()),
            DataType::Date32 => self.members.hold(array.as_primitive::<Date32Type>()),
            _ => return None,
        })
    }
}

fn whole_number(value: &ScalarValue) -> Option<(DataType, Option<i64>)> {
    Some(match value {
        ScalarValue::Int8(value) => (DataType::Int8, value.map(i64::from)),
        ScalarValue::Int16(value) => (DataType::Int16, value.map(i64::from)),
        ScalarValue::Int32(value) => (DataType::Int32, value.map(i64::from)),
        ScalarValue::Int64(value) => (DataType::Int64, *value),
        ScalarValue::Date32(value) => (DataType::Date32, value.map(i64::from)),
        _ => return None,
    })
}

impl Members {
    fn of(keys: &[i64]) -> Self {
        let least = keys.iter().min().copied().unwrap_or(0);
        let largest = keys.iter().max().copied().unwrap_or(0);
        // Two's complement: the difference is right as an unsigned number even where it is none as a signed one.
        let span = largest.wrapping_sub(least) as u64;
        let pays = span < DENSE_BITS_ALWAYS || (span < DENSE_BITS_MAX && span / DENSE_BITS_PER_KEY < keys.len() as u64);
        if pays { Self::dense(keys, least, span + 1) } else { Self::scattered(keys) }
    }

    fn dense(keys: &[i64], least: i64, bits: u64) -> Self {
        let mut words = vec![0_u64; bits.div_ceil(64) as usize];
        for key in keys {
            let at = key.wrapping_sub(least) as u64;
            words[(at / 64) as usize] |= 1 << (at % 64);
        }
        // An empty list holds nothing, not even the number zero that stands for its least.
        Self::Dense { least, bits: if keys.is_empty() { 0 } else { bits }, words }
    }

    fn scattered(keys: &[i64]) -> Self {
        let count = (keys.len() * SCATTERED_BITS_PER_KEY / 64).next_power_of_two().max(2);
        let mut words = vec![0_u64; count];
        let shift = 64 - count.trailing_zeros();
        for key in keys {
            let hash = hash(*key);
            words[(hash >> shift) as usize] |= marks(hash);
        }
        Self::Scattered { words, shift }
    }

    fn hold<T: ArrowPrimitiveType>(&self, array: &PrimitiveArray<T>) -> BooleanArray
    where
        T::Native: Into<i64>,
    {
        let values = array.values();
        let held = match self {
            Self::Dense { least, bits, words } => BooleanBuffer::collect_bool(values.len(), |row| {
                let at = Into::<i64>::into(values[row]).wrapping_sub(*least) as u64;
                at < *bits && words[(at / 64) as usize] >> (at % 64) & 1 == 1
            }),
            Self::Scattered { words, shift } => BooleanBuffer::collect_bool(values.len(), |row| {
                let hash = hash(values[row].into());
                let marks = marks(hash);
                words[(hash >> shift) as usize] & marks == marks
            }),
        };
        match array.nulls() {
            Some(nulls) => BooleanArray::new(&held & nulls.inner(), None),
            None => BooleanArray::new(held, None),
        }
    }
}

/// Its upper bits pick the word, its lower ones the marks in it.
fn hash(key: i64) -> u64 {
    let mixed = (key as u64 ^ (key as u64 >> 32)).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed ^ (mixed >> 29)
}

fn marks(hash: u64) -> u64 {
    1 << (hash % 64) | 1 << (hash >> 6 & 63) | 1 << (hash >> 12 & 63)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow::array::{Int32Array, Int64Array, StringArray};
    use std::sync::Arc;

    fn set(keys: &[Option<i64>]) -> KeySet {
        KeySet::of(keys.iter().map(|key| ScalarValue::Int64(*key)).collect::<Vec<_>>().iter()).unwrap()
    }

    fn held(set: &KeySet, values: Vec<Option<i64>>) -> Vec<bool> {
        let array: ArrayRef = Arc::new(Int64Array::from(values));
        set.holds(&array).unwrap().values().iter().collect()
    }

    #[test]
    fn near_keys_are_told_apart_exactly() {
        let near = set(&[Some(-3), None, Some(70), Some(5)]);
        assert_eq!(near.count, 3);
        let values = vec![Some(-4), Some(-3), Some(0), Some(5), Some(70), Some(71), None, Some(i64::MAX), Some(i64::MIN)];
        assert_eq!(held(&near, values), [false, true, false, true, true, false, false, false, false]);
        assert_eq!(held(&set(&[None]), vec![Some(0), None]), [false, false], "NULL is no key");
    }

    #[test]
    fn keys_at_both_ends_of_the_numbers_are_found() {
        let keys: Vec<Option<i64>> = [i64::MIN, -1, 0, i64::MAX].into_iter().chain((0..10_000).map(|n| n * 982_451_653 * 7)).map(Some).collect();
        let far = set(&keys);
        assert!(matches!(far.members, Members::Scattered { .. }));
        assert!(held(&far, keys).into_iter().all(|held| held), "a key must never be missed");
        let others: Vec<Option<i64>> = (0..100_000).map(|n| Some(n * 6_700_417 + 1)).collect();
        let wrong = held(&far, others).into_iter().filter(|held| *held).count();
        assert!(wrong < 5_000, "{wrong} of 100,000 are taken for keys");
        assert_eq!(held(&far, vec![None]), [false]);
    }

    #[test]
    fn keys_that_are_a_sequence_of_large_steps_are_spread_over_the_words() {
        for step in [1 << 20, 1 << 32, 1 << 40, 1_000_003] {
            let keys: Vec<Option<i64>> = (0..4_096).map(|n| Some(n * step)).collect();
            let far = set(&keys);
            assert!(held(&far, keys).into_iter().all(|held| held));
            let wrong = held(&far, (0..4_096).map(|n| Some(n * step + step / 2)).collect()).into_iter().filter(|held| *held).count();
            assert!(wrong < 400, "{wrong} of 4,096 with a step of {step}");
        }
    }

    #[test]
    fn other_types_have_no_such_set() {
        assert!(KeySet::of([ScalarValue::from("x")].iter()).is_none());
        assert!(KeySet::of([ScalarValue::Int32(Some(1)), ScalarValue::Int64(Some(1))].iter()).is_none());
        let near = set(&[Some(1)]);
        assert!(near.holds(&(Arc::new(Int32Array::from(vec![1])) as ArrayRef)).is_none());
        assert!(near.holds(&(Arc::new(StringArray::from(vec!["1"])) as ArrayRef)).is_none());
    }
}
