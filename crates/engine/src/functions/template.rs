// SPDX-License-Identifier: Apache-2.0
//! `format('%s %2$I %-10L', …)`: texts filled into a template, as PostgreSQL does it.

use super::scalar::Scalar;
use crate::errors::carry;
use arrow::array::{Array, ArrayRef, AsArray, StringArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::common::{DataFusionError, Result};
use std::sync::Arc;
use weir_base::{Error, ErrorCode};

pub(super) fn format_function() -> Scalar {
    Scalar::variadic(
        "format",
        |_, _| Ok(DataType::Utf8),
        |arrays, _| {
            let texts = arrays.iter().map(as_texts).collect::<Result<Vec<StringArray>>>()?;
            let rows = (0..texts[0].len()).map(|row| {
                let value = |index: usize| texts.get(index).map(|column| column.is_valid(row).then(|| column.value(row)));
                value(0).flatten().map(|template| filled(template, &value)).transpose()
            });
            Ok(Arc::new(rows.collect::<Result<StringArray>>()?))
        },
    )
}

/// Truths are a letter here, as everywhere outside a cast.
fn as_texts(array: &ArrayRef) -> Result<StringArray> {
    let text = match array.data_type() {
        DataType::Boolean => return Ok(array.as_boolean().iter().map(|truth| truth.map(|truth| if truth { "t" } else { "f" })).collect()),
        _ => cast(array, &DataType::Utf8)?,
    };
    Ok(text.as_string::<i32>().clone())
}

fn wrong(message: &str) -> DataFusionError {
    let error = Error::new(ErrorCode::BadSetting, message.to_owned());
    carry(error.with_hint("a place is %s, %I or %L, also as %2$s or %-10s; %% is a percent sign"))
}

/// `value(n)` is the n-th argument, the template being the 0th; `None` where there is none. Errors: 22023.
fn filled<'a>(template: &str, value: &dyn Fn(usize) -> Option<Option<&'a str>>) -> Result<String> {
    let mut written = String::new();
    let mut next = 1;
    let mut chars = template.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '%' {
            written.push(c);
            continue;
        }
        if chars.next_if_eq(&'%').is_some() {
            written.push('%');
            continue;
        }
        let take = |next: &mut usize| {
            let taken = value(*next).ok_or_else(|| wrong("too few arguments for format"));
            *next += 1;
            taken
        };
        let mut width = digits(&mut chars);
        if width.is_some() && chars.next_if_eq(&'$').is_some() {
            next = width.take().filter(|position| *position > 0).ok_or_else(|| wrong("format counts its arguments from 1"))?;
        }
        let left = chars.next_if_eq(&'-').is_some();
        if width.is_none() {
            width = if chars.next_if_eq(&'*').is_some() {
                let given = take(&mut next)?.map(str::parse::<i64>);
                Some(given.transpose().map_err(|_| wrong("the width of a place is no number"))?.unwrap_or(0).unsigned_abs() as usize)
            } else {
                digits(&mut chars)
            };
        }
        let kind = chars.next().ok_or_else(|| wrong("unterminated format specifier"))?;
        let text = placed(kind, take(&mut next)?)?;
        pad(&mut written, &text, width.unwrap_or(0).min(PADDING_MAX), left);
    }
    Ok(written)
}

const PADDING_MAX: usize = 1 << 20;

fn placed(kind: char, value: Option<&str>) -> Result<String> {
    Ok(match (kind, value) {
        ('s', value) => value.unwrap_or_default().to_owned(),
        ('I', Some(value)) => weir_base::quote_ident(value),
        ('I', None) => return Err(wrong("null values cannot be formatted as an SQL identifier")),
        ('L', Some(value)) if value.contains('\\') => format!("E'{}'", value.replace('\'', "''").replace('\\', "\\\\")),
        ('L', Some(value)) => format!("'{}'", value.replace('\'', "''")),
        ('L', None) => "NULL".to_owned(),
        _ => return Err(wrong("unrecognized format specifier")),
    })
}

fn digits(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Option<usize> {
    let mut number = None;
    while let Some(digit) = chars.next_if(char::is_ascii_digit) {
        number = Some(number.unwrap_or(0_usize).saturating_mul(10).saturating_add(digit as usize - '0' as usize));
    }
    number
}

fn pad(written: &mut String, text: &str, width: usize, left: bool) {
    let blanks = " ".repeat(width.saturating_sub(text.chars().count()));
    if left {
        written.push_str(text);
        written.push_str(&blanks);
    } else {
        written.push_str(&blanks);
        written.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::filled;

    #[test]
    fn places_are_filled() {
        let of = |template: &str, values: &[Option<&'static str>]| filled(template, &|index| values.get(index - 1).copied()).ok();
        assert_eq!(of("%s-%s", &[Some("a"), Some("1")]).as_deref(), Some("a-1"));
        assert_eq!(of("%I %L %L %%", &[Some("A b"), Some("it's"), None]).as_deref(), Some("\"A b\" 'it''s' NULL %"));
        assert_eq!(of("%5s|%-5s|", &[Some("a"), Some("b")]).as_deref(), Some("    a|b    |"));
        assert_eq!(of("%2$s %1$s %s", &[Some("a"), Some("b")]).as_deref(), Some("b a b"));
        assert_eq!(of("%*s", &[Some("3"), Some("x")]).as_deref(), Some("  x"));
        for wrong in ["%s %s", "%d", "%", "%0$s"] {
            assert_eq!(of(wrong, &[Some("a")]), None, "{wrong}");
        }
    }
}
