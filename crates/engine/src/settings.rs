// SPDX-License-Identifier: Apache-2.0
//! SET, RESET and SHOW over the settings of a session.

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use std::sync::Arc;
use weir_api::{Session, Settings};
use weir_base::{Error, Result};

/// Sets all or none.
pub(crate) fn set(session: &Session, assignments: &[(String, String)]) -> Result<()> {
    let mut settings = session.settings();
    let mut changed = settings.clone();
    for (name, value) in assignments {
        changed.assign(name, value)?;
    }
    *settings = changed;
    Ok(())
}

pub(crate) fn reset(session: &Session, name: Option<&str>) -> Result<()> {
    let mut settings = session.settings();
    match name {
        Some(name) => settings.reset(name),
        None => {
            let application_name = settings.application_name.clone();
            *settings = Settings::default();
            settings.application_name = application_name;
            Ok(())
        }
    }
}

pub(crate) fn show_schema(name: Option<&str>) -> SchemaRef {
    let names = name.map_or(vec!["name", "setting", "description"], |name| vec![name]);
    Arc::new(Schema::new(names.into_iter().map(|name| Field::new(name, DataType::Utf8, false)).collect::<Vec<_>>()))
}

/// One value under its own name, or all as name, setting and description.
pub(crate) fn show(session: &Session, name: Option<&str>) -> Result<RecordBatch> {
    let settings = session.settings().clone();
    let columns: Vec<ArrayRef> = match name {
        Some(name) => vec![text([settings.get(name)?])],
        None => {
            let all = settings.all();
            vec![text(all.iter().map(|one| &one.name)), text(all.iter().map(|one| &one.value)), text(all.iter().map(|one| one.description))]
        }
    };
    RecordBatch::try_new(show_schema(name), columns).map_err(|error| Error::internal("settings do not fit their schema").with_detail(error.to_string()))
}

fn text<T: AsRef<str>>(values: impl IntoIterator<Item = T>) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}
