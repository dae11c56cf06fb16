// SPDX-License-Identifier: Apache-2.0
//! Durations and sizes in `weir.yaml` have one written form: a whole number and its unit, with nothing between them.

use std::str::FromStr;

/// Reads a duration or a size. Error: what is wrong with it, and how it is written.
pub(super) fn unit<T: FromStr<Err = String>>(text: &str) -> Result<T, String> {
    if !text.contains(char::is_whitespace) {
        return text.parse();
    }
    let joined: String = text.split_whitespace().collect();
    match joined.parse::<T>() {
        Ok(_) => Err(format!("`{text}` has a blank in it; write {joined}")),
        Err(wrong) => Err(wrong),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weir_base::{ByteSize, Span};

    #[test]
    fn there_is_one_way_to_write_it() {
        assert_eq!(unit("2s"), Ok(Span::from_millis(2_000)));
        assert_eq!(unit::<Span>("2 s"), Err("`2 s` has a blank in it; write 2s".into()));
        assert_eq!(unit::<ByteSize>(" 5MiB"), Err("` 5MiB` has a blank in it; write 5MiB".into()));
        assert!(unit::<Span>("2 weeks").unwrap_err().contains("is not a duration"));
    }
}
