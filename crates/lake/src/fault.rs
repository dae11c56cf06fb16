// SPDX-License-Identifier: Apache-2.0
//! Failures of the crates below, turned into our one error type: coded, without row values, without secrets.

use std::error::Error as StdError;
use weir_base::{Error, ErrorCode};

/// What the operating system says when no more can be written: no space, quota, file size limit.
const FULL: [&str; 6] = ["os error 28", "os error 122", "os error 27", "No space left", "StorageFull", "database or disk is full"];
/// What a store says when it cannot be reached.
const UNREACHABLE: [&str; 4] = ["os error 111", "Connection refused", "dns error", "ConnectError"];

/// Turns any failure into an error of the lake. `doing` names the step: `cannot read a data file`.
pub(crate) fn fault(doing: &str, cause: &(dyn StdError + 'static)) -> Error {
    let text = whole_text(cause);
    if FULL.iter().any(|mark| text.contains(mark)) {
        return Error::new(ErrorCode::OutOfResources, format!("{doing}: no space left"))
            .with_detail(os_error(&text))
            .with_hint("free space in the lake's warehouse or raise the quota, then run the statement again; nothing of it was kept");
    }
    let code = if UNREACHABLE.iter().any(|mark| text.contains(mark)) { ErrorCode::SourceUnreachable } else { ErrorCode::SourceBroke };
    Error::new(code, doing).with_detail(redact(&text))
}

/// For `map_err`: the step, then the failure.
pub(crate) fn at<E: StdError + 'static>(doing: &'static str) -> impl Fn(E) -> Error {
    move |cause| fault(doing, &cause)
}

/// A failure that is an error of ours already keeps its code; Parquet and Arrow carry ours through as an external cause.
pub(crate) fn reading(cause: parquet::errors::ParquetError) -> Error {
    if let parquet::errors::ParquetError::External(inner) = &cause
        && let Some(own) = inner.downcast_ref::<Error>()
    {
        return own.clone();
    }
    if let parquet::errors::ParquetError::ArrowError(text) = &cause {
        return Error::new(ErrorCode::SourceBroke, "cannot read a data file").with_detail(redact(text));
    }
    fault("cannot read a data file", &cause)
}

pub(crate) fn computing(cause: arrow::error::ArrowError) -> Error {
    if let arrow::error::ArrowError::ExternalError(inner) = &cause
        && let Some(own) = inner.downcast_ref::<Error>()
    {
        return own.clone();
    }
    Error::internal("cannot compute on a batch of the lake").with_detail(redact(&cause.to_string()))
}

/// The text of an error and of all its causes; the iceberg crate puts what matters at the end of the chain.
fn whole_text(cause: &(dyn StdError + 'static)) -> String {
    let mut text = cause.to_string();
    let mut next = cause.source();
    while let Some(inner) = next {
        let inner_text = inner.to_string();
        if !text.contains(&inner_text) {
            text.push_str(": ");
            text.push_str(&inner_text);
        }
        next = inner.source();
    }
    text
}

fn os_error(text: &str) -> String {
    match text.find("(os error") {
        Some(at) => text[at..].trim_start_matches('(').chars().take_while(|c| *c != ')').collect(),
        None => "the store is full".to_owned(),
    }
}

/// Values of partition folders (`region=EU`) are values of rows: they are blanked. Long texts are cut, quoted ones dropped.
pub(crate) fn redact(text: &str) -> String {
    let first_line = text.lines().next().unwrap_or_default();
    let blanked: Vec<String> = first_line.split('/').map(blank_partition).collect();
    blanked.join("/").chars().take(400).collect()
}

fn blank_partition(segment: &str) -> String {
    match segment.split_once('=') {
        Some((key, _)) if !key.contains(' ') => format!("{key}=…"),
        _ => segment.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_apart_and_values_are_blanked() {
        let full = std::io::Error::from_raw_os_error(28);
        let error = fault("cannot write a data file", &full);
        assert_eq!(error.code(), ErrorCode::OutOfResources);
        assert_eq!(error.detail(), Some("os error 28"));
        assert_eq!(redact("cannot open /lake/t/data/region=EU/part.parquet"), "cannot open /lake/t/data/region=…/part.parquet");
    }
}
