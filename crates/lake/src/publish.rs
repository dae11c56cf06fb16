// SPDX-License-Identifier: Apache-2.0
//! The last step of every write: moving the catalog's pointer. It runs in a task of its own, because a caller that goes away in
//! the middle must not leave it unknown whether the files belong to the table or are to be removed.

use crate::commit::{ATTEMPTS_MAX, Append, Base, back_off, first_metadata_file};
use crate::drop::remove_files;
use crate::fault::fault;
use crate::file::make_durable;
use crate::lake::{Store, already_exists, conflict};
use crate::pointer::{Expect, Pointers};
use crate::write::Staged;
use iceberg::spec::TableMetadata;
use std::future::Future;
use std::sync::Arc;
use weir_base::{Error, Result, TableName};

/// Where a table's pointer is, and where its files are.
pub(crate) struct Publication {
    pub(crate) store: Arc<Store>,
    pub(crate) pointers: Arc<Pointers>,
    pub(crate) name: TableName,
}

/// What became of an attempt to move the pointer.
enum Moved {
    Yes,
    No,
    /// The catalog refused; the pointer is where it was.
    Failed(Error),
    /// The catalog did not answer; the files must stay, because they may be the table's.
    Unknown(Error),
}

impl Publication {
    /// Makes the table visible with the staged files in it, in place of `replaced`; its snapshot, where there are rows.
    pub(crate) async fn run_create(self, metadata: TableMetadata, replaced: Option<String>, staged: Staged) -> Result<Option<i64>> {
        undisturbed(async move { self.create(metadata, replaced.as_deref(), staged).await }).await
    }

    /// Adds the staged files to the table as it is then; the new snapshot.
    pub(crate) async fn run_append(self, written_for: TableMetadata, staged: Staged) -> Result<i64> {
        undisturbed(async move { self.append(&written_for, staged).await }).await
    }

    async fn create(&self, metadata: TableMetadata, replaced: Option<&str>, mut staged: Staged) -> Result<Option<i64>> {
        let (new, snapshot_id) = match self.first_metadata(metadata, &mut staged).await {
            Ok(prepared) => prepared,
            Err(error) => {
                staged.discard().await;
                return Err(error);
            }
        };
        match self.point(replaced.map_or(Expect::Absent, Expect::At), &new).await {
            Moved::Yes => staged.keep(),
            Moved::No => {
                staged.discard().await;
                return Err(if replaced.is_some() { conflict(&self.name) } else { already_exists("table", &self.name.table) });
            }
            Moved::Failed(error) => {
                staged.discard().await;
                return Err(error);
            }
            Moved::Unknown(error) => {
                staged.keep();
                return Err(error);
            }
        }
        if let Some(old) = replaced {
            remove_files(self.store.table_at(&self.name, old).await?.as_ref()).await?;
        }
        Ok(snapshot_id)
    }

    async fn first_metadata(&self, empty: TableMetadata, staged: &mut Staged) -> Result<(String, Option<i64>)> {
        if staged.files().is_empty() {
            let new = first_metadata_file(&self.store, &empty).await?;
            staged.also_remove(std::slice::from_ref(&new));
            staged.make_durable().await?;
            return Ok((new, None));
        }
        let append = Append::prepare(&self.store, &empty, staged).await?;
        let full = append.apply(&self.store, &self.name, &Base { metadata: &empty, location: None }, staged).await?;
        let new = first_metadata_file(&self.store, &full).await?;
        staged.also_remove(std::slice::from_ref(&new));
        staged.make_durable().await?;
        Ok((new, Some(append.snapshot_id())))
    }

    async fn append(&self, written_for: &TableMetadata, mut staged: Staged) -> Result<i64> {
        match self.try_append(written_for, &mut staged).await {
            Ok((Moved::Yes, snapshot_id)) => {
                staged.keep();
                Ok(snapshot_id)
            }
            Ok((Moved::Unknown(error), _)) => {
                staged.keep();
                Err(error)
            }
            Ok((Moved::No, _)) => {
                staged.discard().await;
                Err(conflict(&self.name))
            }
            Ok((Moved::Failed(error), _)) | Err(error) => {
                staged.discard().await;
                Err(error)
            }
        }
    }

    /// Tries on fresh metadata until the pointer moves, a bounded number of times. A table that was dropped or replaced is
    /// another table: the rows were not meant for it.
    async fn try_append(&self, written_for: &TableMetadata, staged: &mut Staged) -> Result<(Moved, i64)> {
        let append = Append::prepare(&self.store, written_for, staged).await?;
        let snapshot_id = append.snapshot_id();
        staged.make_durable().await?;
        for attempt in 0..ATTEMPTS_MAX {
            let Some(current) = self.pointers.location(&self.name.schema, &self.name.table).await? else { return Ok((Moved::No, snapshot_id)) };
            let table = self.store.table_at(&self.name, &current).await?;
            if table.metadata().uuid() != written_for.uuid() {
                return Ok((Moved::No, snapshot_id));
            }
            let base = Base { metadata: table.metadata(), location: Some(&current) };
            let (new, attempted) = append.write_next(&self.store, &self.name, &base).await?;
            if let Err(error) = make_durable(attempted.clone()).await {
                crate::drop::remove_locations(self.store.io(), attempted).await;
                return Err(error);
            }
            match self.point(Expect::At(&current), &new).await {
                Moved::No => crate::drop::remove_locations(self.store.io(), attempted).await,
                settled => return Ok((settled, snapshot_id)),
            }
            back_off(attempt).await;
        }
        Ok((Moved::No, snapshot_id))
    }

    /// Moves the pointer. When the catalog reports a failure, it is asked what the pointer is now.
    async fn point(&self, expect: Expect<'_>, new: &str) -> Moved {
        let (schema, table) = (&self.name.schema, &self.name.table);
        let error = match self.pointers.point(schema, table, expect, new).await {
            Ok(true) => return Moved::Yes,
            Ok(false) => return Moved::No,
            Err(error) => error,
        };
        match self.pointers.location(schema, table).await {
            Ok(Some(current)) if current == new => Moved::Yes,
            Ok(_) => Moved::Failed(error),
            Err(_) => Moved::Unknown(error),
        }
    }
}

/// Runs to its end even when the caller's future is dropped.
async fn undisturbed<T: Send + 'static>(work: impl Future<Output = Result<T>> + Send + 'static) -> Result<T> {
    match tokio::spawn(work).await {
        Ok(outcome) => outcome,
        Err(stopped) => Err(fault("the commit was stopped", &stopped)),
    }
}
