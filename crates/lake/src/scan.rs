// SPDX-License-Identifier: Apache-2.0
//! A running scan: one queue of work that all partitions take from, so that no core idles while another has a long file.

use crate::BatchStream;
use crate::fault::fault;
use crate::file::local_path;
use crate::filter::BatchFilter;
use crate::plan::ScanPlan;
use crate::prune::FilePruner;
use crate::read::{self, ReadFile};
use arrow::array::RecordBatch;
use futures::StreamExt;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::task::JoinHandle;
use weir_base::Result;

/// A row group is cut into pieces no smaller than this when there are too few of them for the partitions.
const PIECE_ROWS_MIN: u64 = 65_536;
/// Pieces per partition that keep the last one from being waited for.
const PIECES_PER_PARTITION: usize = 2;
/// Below this share of rows kept, the filter's columns are read first and the others only for the rows that it keeps.
const LATE_SHARE: f64 = 0.02;

/// A scan that several streams work on. Each piece of the table comes out of exactly one of them.
#[derive(Clone)]
pub struct Scan(Arc<Shared>);

impl std::fmt::Debug for Scan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scan").field("files", &self.0.files.len()).finish_non_exhaustive()
    }
}

pub(crate) struct Shared {
    pub(crate) plan: ScanPlan,
    pub(crate) files: Vec<ReadFile>,
    queue: Mutex<VecDeque<Morsel>>,
    /// Fetching the next piece early pays where every request has to travel, unless the scan may stop at any moment.
    reads_ahead: bool,
    /// Rows given out, also for the limit, and bytes taken in.
    meter: Arc<ScanMeter>,
    /// What the filter has done so far.
    pub(crate) filtered: FilterShare,
}

/// What a scan has done so far. Outlives the scan.
#[derive(Debug, Default)]
pub struct ScanMeter {
    rows: AtomicU64,
    bytes: AtomicU64,
}

impl ScanMeter {
    /// Rows that came out of the scan, behind its filter.
    pub fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// Compressed bytes of the wanted columns in the row groups that were read.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

/// A piece of work: some rows of a row group.
#[derive(Debug, Clone)]
pub(crate) struct Morsel {
    pub(crate) file: usize,
    /// Position among the file's planned groups.
    pub(crate) group: usize,
    /// Rows within the row group; `None` for all of them.
    pub(crate) rows: Option<Range<u64>>,
}

/// Rows that a filter has seen and kept, over all partitions.
#[derive(Debug, Default)]
pub(crate) struct FilterShare {
    seen: AtomicU64,
    kept: AtomicU64,
}

impl FilterShare {
    pub(crate) fn add(&self, seen: usize, kept: usize) {
        self.seen.fetch_add(seen as u64, Ordering::Relaxed);
        self.kept.fetch_add(kept as u64, Ordering::Relaxed);
    }

    /// Whether so few rows were kept that decoding the other columns late pays.
    pub(crate) fn is_selective(&self) -> bool {
        let seen = self.seen.load(Ordering::Relaxed);
        seen > 0 && (self.kept.load(Ordering::Relaxed) as f64) < seen as f64 * LATE_SHARE
    }
}

impl Scan {
    pub(crate) fn new(plan: ScanPlan, partitions: usize) -> Self {
        let files = plan.files.iter().map(|file| ReadFile::new(file.clone())).collect();
        let queue = Mutex::new(morsels(&plan, partitions));
        let reads_ahead = plan.request.limit.is_none() && plan.files.iter().any(|file| local_path(file.entry.location()).is_none());
        Self(Arc::new(Shared { plan, files, queue, reads_ahead, meter: Arc::default(), filtered: FilterShare::default() }))
    }

    pub fn meter(&self) -> Arc<ScanMeter> {
        self.0.meter.clone()
    }

    /// One of the streams. `_index` names it; all draw from the same queue. With a filter, only rows that it keeps come out.
    pub fn partition(&self, _index: usize, filter: Option<Arc<dyn BatchFilter>>) -> BatchStream {
        let worker = Worker { shared: self.0.clone(), filter, current: None, ahead: None };
        futures::stream::try_unfold(worker, |mut worker| async move { Ok(worker.next().await?.map(|batch| (batch, worker))) }).boxed()
    }
}

/// The pieces of a plan in file order.
fn morsels(plan: &ScanPlan, partitions: usize) -> VecDeque<Morsel> {
    let groups = plan.files.iter().enumerate().flat_map(|(file, planned)| (0..planned.groups.len()).map(move |group| (file, group)));
    let groups: Vec<(usize, usize)> = groups.collect();
    let wanted = if partitions == 1 { 1 } else { partitions * PIECES_PER_PARTITION };
    if groups.is_empty() || groups.len() >= wanted {
        return groups.into_iter().map(|(file, group)| Morsel { file, group, rows: None }).collect();
    }
    let pieces = wanted.div_ceil(groups.len()) as u64;
    groups.into_iter().flat_map(|(file, group)| cut(plan, file, group, pieces)).collect()
}

fn cut(plan: &ScanPlan, file: usize, group: usize, pieces: u64) -> Vec<Morsel> {
    let planned = &plan.files[file];
    let rows = planned.footer.parquet().row_group(planned.groups[group].index).num_rows() as u64;
    let piece = rows.div_ceil(pieces).next_multiple_of(8_192).max(PIECE_ROWS_MIN);
    if rows <= piece {
        return vec![Morsel { file, group, rows: None }];
    }
    (0..rows.div_ceil(piece)).map(|at| Morsel { file, group, rows: Some(at * piece..rows.min((at + 1) * piece)) }).collect()
}

/// One partition's state.
struct Worker {
    shared: Arc<Shared>,
    filter: Option<Arc<dyn BatchFilter>>,
    current: Option<BatchStream>,
    /// The piece after the current one, on its way from a store that is far away.
    ahead: Option<Ahead>,
}

/// A piece that is fetched while another is worked on; given up when the scan is.
struct Ahead(JoinHandle<Result<BatchStream>>);

impl Ahead {
    fn begin(shared: Arc<Shared>, morsel: Morsel, filter: Option<Arc<dyn BatchFilter>>) -> Self {
        Self(tokio::spawn(async move {
            let mut stream = read::open(shared, &morsel, filter).await?;
            let first = stream.next().await;
            Ok(futures::stream::iter(first).chain(stream).boxed())
        }))
    }

    async fn arrive(mut self) -> Result<BatchStream> {
        match (&mut self.0).await {
            Ok(opened) => opened,
            Err(stopped) => Err(fault("reading was stopped", &stopped)),
        }
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Worker {
    async fn next(&mut self) -> Result<Option<RecordBatch>> {
        loop {
            if self.shared.limit_reached() {
                return Ok(None);
            }
            if let Some(current) = &mut self.current {
                match current.next().await.transpose()? {
                    Some(batch) if batch.num_rows() == 0 => continue,
                    Some(batch) => {
                        self.shared.meter.rows.fetch_add(batch.num_rows() as u64, Ordering::Relaxed);
                        return Ok(Some(batch));
                    }
                    None => self.current = None,
                }
            }
            self.current = self.open_next().await?;
            if self.current.is_none() {
                return Ok(None);
            }
        }
    }

    async fn open_next(&mut self) -> Result<Option<BatchStream>> {
        let opened = match self.ahead.take() {
            Some(ahead) => ahead.arrive().await?,
            None => match self.shared.take(self.filter.as_deref())? {
                Some(morsel) => read::open(self.shared.clone(), &morsel, self.filter.clone()).await?,
                None => return Ok(None),
            },
        };
        if self.shared.reads_ahead
            && let Some(morsel) = self.shared.take(self.filter.as_deref())?
        {
            self.ahead = Some(Ahead::begin(self.shared.clone(), morsel, self.filter.clone()));
        }
        Ok(Some(opened))
    }
}

impl Shared {
    /// The next piece that the filter does not rule out.
    fn take(&self, filter: Option<&dyn BatchFilter>) -> Result<Option<Morsel>> {
        loop {
            let Some(morsel) = self.queue.lock().unwrap_or_else(PoisonError::into_inner).pop_front() else { return Ok(None) };
            if !self.ruled_out(&morsel, filter)? {
                self.meter.bytes.fetch_add(self.plan.piece_bytes(morsel.file, morsel.group, morsel.rows.as_ref()), Ordering::Relaxed);
                return Ok(Some(morsel));
            }
        }
    }

    fn limit_reached(&self) -> bool {
        self.plan.request.limit.is_some_and(|limit| self.meter.rows() >= limit)
    }

    /// Whether the filter, as tight as it is now, lets nothing of the row group through.
    fn ruled_out(&self, morsel: &Morsel, filter: Option<&dyn BatchFilter>) -> Result<bool> {
        let Some(filter) = filter else { return Ok(false) };
        let file = &self.files[morsel.file];
        let index = file.planned.groups[morsel.group].index;
        let table = &self.plan.table;
        let matching = file.matching_groups(filter, || {
            let planned = &file.planned;
            let spec = table.spec(planned.entry.spec_id);
            FilePruner { footer: &planned.footer, entry: &planned.entry, spec, columns: table.columns() }
        })?;
        Ok(matching.is_some_and(|matching| !matching[index]))
    }
}
