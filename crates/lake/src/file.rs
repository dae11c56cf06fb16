// SPDX-License-Identifier: Apache-2.0
//! Bytes of data files: positioned reads on a local disk, joined range requests on S3.

use crate::config::S3Config;
use crate::fault::{at, fault};
use bytes::Bytes;
use futures::FutureExt;
use futures::future::{BoxFuture, try_join_all};
use iceberg::io::{FileIO, FileIOBuilder, FileRead, LocalFsStorageFactory};
use iceberg_storage_opendal::OpenDalStorageFactory;
use parquet::arrow::arrow_reader::ArrowReaderOptions;
use parquet::arrow::async_reader::AsyncFileReader;
use parquet::errors::{ParquetError, Result as ParquetResult};
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData, ParquetMetaDataReader};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Arc;
use weir_base::{Error, ErrorCode, Result};

/// Ranges on S3 that lie nearer than this are fetched in one request.
const JOIN_GAP_BYTES: u64 = 512 * 1024;
/// A joined request stays below this, so that several run side by side.
const JOINED_BYTES_MAX: u64 = 8 * 1024 * 1024;
/// Read from a file's end in the hope that the whole footer is in it.
const FOOTER_GUESS_BYTES: usize = 128 * 1024;

/// The files of a warehouse: local for `file://` and bare paths, S3 for `s3://`.
pub(crate) fn open_storage(warehouse: &str, s3: Option<&S3Config>) -> Result<FileIO> {
    if local_path(warehouse).is_some() {
        return Ok(FileIOBuilder::new(Arc::new(LocalFsStorageFactory)).build());
    }
    if !warehouse.starts_with("s3://") && !warehouse.starts_with("s3a://") {
        return Err(
            Error::new(ErrorCode::Config, "the lake's warehouse is neither a folder nor S3").with_hint("write file:///abs/folder or s3://bucket/prefix")
        );
    }
    let s3 = s3.ok_or_else(|| {
        Error::new(ErrorCode::Config, "the lake's warehouse is on S3, but lake.s3 is not set").with_hint("add lake.s3 with at least a region")
    })?;
    let factory = OpenDalStorageFactory::S3 { customized_credential_load: None };
    let mut builder = FileIOBuilder::new(Arc::new(factory)).with_prop("s3.region", &s3.region).with_prop("s3.path-style-access", s3.path_style);
    for (key, value) in [("s3.endpoint", &s3.endpoint), ("s3.access-key-id", &s3.access_key), ("s3.secret-access-key", &s3.secret_key)] {
        if let Some(value) = value {
            builder = builder.with_prop(key, value);
        }
    }
    if s3.access_key.is_some() {
        builder = builder.with_prop("s3.disable-ec2-metadata", "true").with_prop("s3.disable-config-load", "true");
    }
    Ok(builder.build())
}

/// The path of a location on this machine; `None` for other stores.
pub(crate) fn local_path(location: &str) -> Option<&str> {
    if let Some(rest) = location.strip_prefix("file:") {
        return Some(rest.strip_prefix("//").unwrap_or(rest));
    }
    (!location.contains("://")).then_some(location)
}

/// Waits until files of this machine are on the disk: the catalog must never point at something that a power cut takes away,
/// and some file systems notice only here that they are full. Other stores answer a write when it is safe.
pub(crate) async fn make_durable(locations: Vec<String>) -> Result<()> {
    let sync = move || {
        let paths = locations.iter().filter_map(|location| local_path(location));
        paths.filter(|path| Path::new(path).exists()).try_for_each(|path| File::open(path)?.sync_all())
    };
    let synced = tokio::task::spawn_blocking(sync).await.map_err(at("cannot write a data file"))?;
    synced.map_err(at("cannot write a data file"))
}

/// One open data file; clones share the handle.
#[derive(Clone)]
pub(crate) struct LakeFile {
    handle: Handle,
    size: u64,
}

#[derive(Clone)]
enum Handle {
    Local(Arc<File>),
    Remote(Arc<dyn FileRead>),
}

impl LakeFile {
    /// `size` is what the manifest says; a shorter file is an error when it is read.
    pub(crate) async fn open(io: &FileIO, location: &str, size: u64) -> Result<Self> {
        let handle = match local_path(location) {
            Some(path) => Handle::Local(Arc::new(File::open(path).map_err(at("cannot open a data file"))?)),
            None => {
                let input = io.new_input(location).map_err(at("cannot open a data file"))?;
                Handle::Remote(Arc::from(input.reader().await.map_err(at("cannot open a data file"))?))
            }
        };
        Ok(Self { handle, size })
    }

    /// The footer, with the page index where there is one.
    pub(crate) async fn footer(&self) -> Result<ParquetMetaData> {
        let mut reader = self.clone();
        let loader = ParquetMetaDataReader::new().with_page_index_policy(PageIndexPolicy::Optional).with_prefetch_hint(Some(FOOTER_GUESS_BYTES));
        loader.load_and_finish(&mut reader, self.size).await.map_err(crate::fault::reading)
    }

    async fn fetch(&self, ranges: Vec<Range<u64>>) -> Result<Vec<Bytes>> {
        match &self.handle {
            Handle::Local(file) => read_local(file.clone(), ranges).await,
            Handle::Remote(remote) => read_remote(remote.as_ref(), ranges).await,
        }
    }
}

async fn read_local(file: Arc<File>, ranges: Vec<Range<u64>>) -> Result<Vec<Bytes>> {
    let read = move || ranges.into_iter().map(|range| read_at(&file, range)).collect::<Result<Vec<Bytes>>>();
    match tokio::task::spawn_blocking(read).await {
        Ok(bytes) => bytes,
        Err(stopped) => Err(fault("cannot read a data file", &stopped)),
    }
}

fn read_at(file: &File, range: Range<u64>) -> Result<Bytes> {
    let mut buffer = vec![0; (range.end - range.start) as usize];
    file.read_exact_at(&mut buffer, range.start).map_err(at("cannot read a data file"))?;
    Ok(Bytes::from(buffer))
}

async fn read_remote(remote: &dyn FileRead, ranges: Vec<Range<u64>>) -> Result<Vec<Bytes>> {
    let joined = join(&ranges);
    let fetched = try_join_all(joined.iter().map(|range| remote.read(range.clone()))).await.map_err(at("cannot read a data file"))?;
    ranges.iter().map(|range| cut(&joined, &fetched, range)).collect()
}

fn cut(joined: &[Range<u64>], fetched: &[Bytes], wanted: &Range<u64>) -> Result<Bytes> {
    let holder = joined.iter().position(|range| range.start <= wanted.start && wanted.end <= range.end);
    let Some(holder) = holder else { return Err(Error::internal("a joined range does not hold its part")) };
    let from = (wanted.start - joined[holder].start) as usize;
    let to = (wanted.end - joined[holder].start) as usize;
    if fetched[holder].len() < to {
        return Err(Error::new(ErrorCode::SourceBroke, "a data file is shorter than its metadata says"));
    }
    Ok(fetched[holder].slice(from..to))
}

/// Neighbouring ranges as one, while the whole stays small enough to go side by side with others.
fn join(ranges: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut sorted = ranges.to_vec();
    sorted.sort_by_key(|range| (range.start, range.end));
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in sorted {
        match joined.last_mut() {
            Some(last) if range.end <= last.end => {}
            Some(last) if range.start <= last.end + JOIN_GAP_BYTES && range.end - last.start <= JOINED_BYTES_MAX => last.end = range.end,
            _ => joined.push(range),
        }
    }
    joined
}

impl AsyncFileReader for LakeFile {
    fn get_bytes(&mut self, range: Range<u64>) -> BoxFuture<'_, ParquetResult<Bytes>> {
        async move {
            let mut bytes = self.fetch(vec![range]).await.map_err(external)?;
            bytes.pop().ok_or_else(|| ParquetError::EOF("no bytes".to_owned()))
        }
        .boxed()
    }

    fn get_byte_ranges(&mut self, ranges: Vec<Range<u64>>) -> BoxFuture<'_, ParquetResult<Vec<Bytes>>> {
        async move { self.fetch(ranges).await.map_err(external) }.boxed()
    }

    fn get_metadata<'a>(&'a mut self, _options: Option<&'a ArrowReaderOptions>) -> BoxFuture<'a, ParquetResult<Arc<ParquetMetaData>>> {
        async move { self.footer().await.map(Arc::new).map_err(external) }.boxed()
    }
}

fn external(error: Error) -> ParquetError {
    ParquetError::External(Box::new(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_ranges_are_joined_and_cut_again() {
        let ranges = [100..200, 0..50, 150..400, 900_000_000..900_000_010];
        let joined = join(&ranges);
        assert_eq!(joined, vec![0..400, 900_000_000..900_000_010]);
        let fetched = [Bytes::from(vec![7; 400]), Bytes::from(vec![9; 10])];
        assert_eq!(cut(&joined, &fetched, &(100..200)).unwrap().len(), 100);
        assert!(cut(&joined, &[Bytes::new(), Bytes::new()], &(100..200)).is_err());
    }

    #[test]
    fn locations_of_this_machine() {
        assert_eq!(local_path("file:///lake/t"), Some("/lake/t"));
        assert_eq!(local_path("file:/lake/t"), Some("/lake/t"));
        assert_eq!(local_path("s3://bucket/t"), None);
    }

    #[test]
    fn a_warehouse_on_s3_needs_its_settings() {
        assert_eq!(open_storage("s3://bucket/x", None).unwrap_err().code(), ErrorCode::Config);
        assert_eq!(open_storage("ftp://bucket/x", None).unwrap_err().code(), ErrorCode::Config);
    }
}
