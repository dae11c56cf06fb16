// SPDX-License-Identifier: Apache-2.0
//! JSON in one spelling, so that two texts are equal exactly when `jsonb` takes them for equal: keys are sorted, the last of two
//! equal keys counts, and `1.0` is `1`.

use std::collections::BTreeMap;
use weir_base::limits::SQL_DEPTH_MAX;

/// The one spelling; `None` for what is no JSON.
pub(super) fn canonical(text: &str) -> Option<String> {
    let mut reader = Reader { rest: text, depth: 0 };
    let value = reader.value()?;
    reader.blank();
    reader.rest.is_empty().then_some(value)
}

struct Reader<'t> {
    rest: &'t str,
    depth: usize,
}

impl<'t> Reader<'t> {
    fn blank(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn take(&mut self, word: &str) -> Option<()> {
        self.blank();
        self.rest = self.rest.strip_prefix(word)?;
        Some(())
    }

    fn value(&mut self) -> Option<String> {
        self.blank();
        self.depth += 1;
        if self.depth > SQL_DEPTH_MAX {
            return None;
        }
        let value = match self.rest.chars().next()? {
            '{' => self.object(),
            '[' => self.list(),
            '"' => self.string().map(|text| serde_json::Value::from(text).to_string()),
            't' => self.take("true").map(|()| "true".to_owned()),
            'f' => self.take("false").map(|()| "false".to_owned()),
            'n' => self.take("null").map(|()| "null".to_owned()),
            _ => self.number(),
        };
        self.depth -= 1;
        value
    }

    fn object(&mut self) -> Option<String> {
        self.take("{")?;
        let mut members = BTreeMap::new();
        if self.take("}").is_some() {
            return Some("{}".to_owned());
        }
        loop {
            self.blank();
            let key = self.string()?;
            self.take(":")?;
            members.insert(key, self.value()?);
            if self.take(",").is_none() {
                break;
            }
        }
        self.take("}")?;
        let written = members.into_iter().map(|(key, value)| format!("{}:{value}", serde_json::Value::from(key)));
        Some(format!("{{{}}}", written.collect::<Vec<_>>().join(",")))
    }

    fn list(&mut self) -> Option<String> {
        self.take("[")?;
        let mut items = Vec::new();
        if self.take("]").is_some() {
            return Some("[]".to_owned());
        }
        loop {
            items.push(self.value()?);
            if self.take(",").is_none() {
                break;
            }
        }
        self.take("]")?;
        Some(format!("[{}]", items.join(",")))
    }

    /// A string without its quotes and escapes.
    fn string(&mut self) -> Option<String> {
        let body = self.rest.strip_prefix('"')?;
        let mut escaped = false;
        let end = body.find(|letter: char| {
            let ends = letter == '"' && !escaped;
            escaped = letter == '\\' && !escaped;
            ends
        })?;
        let (quoted, rest) = self.rest.split_at(end + 2);
        self.rest = rest;
        serde_json::from_str(quoted).ok()
    }

    /// A number as digits and a power of ten, without zeros at either end.
    fn number(&mut self) -> Option<String> {
        let end = self.rest.find(|letter: char| !(letter.is_ascii_digit() || "+-.eE".contains(letter))).unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(end);
        // Numbers beyond a double are numbers too: then what stands before the exponent decides.
        let number_before = |end: usize| serde_json::from_str::<serde_json::Number>(&number[..end]).is_ok();
        if !number_before(number.len()) && !number_before(number.find(['e', 'E'])?) {
            return None;
        }
        self.rest = rest;
        let (sign, digits) = number.strip_prefix('-').map_or(("", number), |digits| ("-", digits));
        let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "0"));
        let exponent: i64 = exponent.parse().ok()?;
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = format!("{whole}{fraction}");
        let trimmed = all.trim_end_matches('0');
        let power = exponent - i64::try_from(fraction.len()).ok()? + i64::try_from(all.len() - trimmed.len()).ok()?;
        match trimmed.trim_start_matches('0') {
            "" => Some("0".to_owned()),
            significant => Some(format!("{sign}{significant}e{power}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_have_one_spelling() {
        let same = |a: &str, b: &str| canonical(a).is_some() && canonical(a) == canonical(b);
        assert!(same(r#"{"b": 1, "a": [1.0, "x"]}"#, r#" {"a":[1,"\u0078"],"b":0,"b":1.00}"#));
        assert!(same("100", "1e2"));
        assert!(same("-0.50", "-5E-1"));
        assert!(same("0", "-0.0"));
        assert!(!same("[1,2]", "[2,1]"));
        assert!(!same("\"1\"", "1"));
        for wrong in ["", "{", "{a:1}", "[1,]", "tru", "\"x", "1 2", "-"] {
            assert_eq!(canonical(wrong), None, "{wrong}");
        }
    }
}
