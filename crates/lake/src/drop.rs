// SPDX-License-Identifier: Apache-2.0
//! Removing files: those of a dropped table, and those of a write that came to nothing.

use crate::fault::at;
use crate::file::local_path;
use futures::future::BoxFuture;
use futures::{FutureExt, stream};
use iceberg::io::FileIO;
use iceberg::table::Table;
use std::path::Path;
use weir_base::Result;

/// Removes every file that the table's metadata knows, then folders that are left empty.
pub(crate) async fn remove_files(table: &Table) -> Result<()> {
    // Boxed, since the compiler cannot see that the closures inside are Send for every lifetime.
    let removal: BoxFuture<'_, iceberg::Result<()>> = iceberg::drop_table_data(table).boxed();
    removal.await.map_err(at("the table is dropped, but some of its files could not be removed"))?;
    if let Some(folder) = local_path(table.metadata().location()) {
        remove_empty(Path::new(folder)).map_err(at("the table is dropped, but its folder could not be removed"))?;
    }
    Ok(())
}

/// Removes a folder if nothing but empty folders is in it.
fn remove_empty(folder: &Path) -> std::io::Result<bool> {
    if !folder.is_dir() {
        return Ok(false);
    }
    let mut empty = true;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let gone = entry.file_type()?.is_dir() && remove_empty(&entry.path())?;
        empty &= gone;
    }
    if empty {
        std::fs::remove_dir(folder)?;
    }
    Ok(empty)
}

/// Removes files of this machine at once; false when there is one that is not.
pub(crate) fn remove_local(locations: &[String], folder: Option<&str>) -> bool {
    let paths: Option<Vec<&str>> = locations.iter().map(|location| local_path(location)).collect();
    let Some(paths) = paths else { return false };
    for path in paths {
        forget(std::fs::remove_file(path));
        remove_empty_ancestors(Path::new(path));
    }
    if let Some(folder) = folder.and_then(local_path) {
        forget(std::fs::remove_dir_all(folder));
    }
    true
}

/// Partition folders that were made for a file go with it; the first one with something in it ends this.
fn remove_empty_ancestors(path: &Path) {
    let mut ancestors = path.ancestors().skip(1);
    while ancestors.next().is_some_and(|folder| folder.file_name().is_some_and(|name| name != "data") && std::fs::remove_dir(folder).is_ok()) {}
}

/// Removes files of any store.
pub(crate) async fn remove_locations(io: &FileIO, locations: Vec<String>) {
    if let Err(error) = io.delete_stream(stream::iter(locations)).await {
        tracing::warn!(reason = %crate::fault::redact(&error.to_string()), "LeftoverFilesKept");
    }
}

/// A leftover that cannot be removed is no error of the statement, but it is said.
fn forget(outcome: std::io::Result<()>) {
    if let Err(error) = outcome
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(reason = %error.kind(), "LeftoverFileKept");
    }
}
