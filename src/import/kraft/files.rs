//! The files of `__cluster_metadata-0`: which of their batches count, in what order.

use super::error::{ImportError, Place};
use crate::kafka::batch::{Batch, BatchRecord, decode_batches};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a snapshot's first and last records are (`ControlRecordType` of `kafka-clients`, 4.3.1).
const SNAPSHOT_HEADER: &str = "SNAPSHOT_HEADER";
const SNAPSHOT_FOOTER: &str = "SNAPSHOT_FOOTER";

/// A file that was read.
#[derive(Debug)]
pub(super) struct Source {
    pub path: PathBuf,
    kind: FileKind,
    bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileKind {
    Segment,
    /// The snapshot of everything before this offset.
    Snapshot {
        end_offset: i64,
    },
    /// `bootstrap.checkpoint`: what the first controller copies into the log (`BootstrapDirectory`), and no snapshot.
    Bootstrap,
}

/// The batches of a file.
#[derive(Debug)]
pub(super) struct Decoded<'a> {
    source: &'a Source,
    batches: Vec<Batch<'a>>,
}

/// A batch that counts.
#[derive(Debug)]
pub(super) struct Chosen<'a> {
    pub source: &'a Source,
    pub batch: Batch<'a>,
    /// Records below this offset were in a batch before.
    pub from: i64,
}

/// The snapshot to start from.
#[derive(Debug)]
pub(super) struct Snapshot<'a> {
    pub source: &'a Source,
    pub batches: Vec<Batch<'a>>,
    pub end_offset: i64,
    /// The time of the last record that it covers.
    pub unix_ms: i64,
}

/// What counts, in order of offsets.
#[derive(Debug)]
pub(super) struct Ordered<'a> {
    pub snapshot: Option<Snapshot<'a>>,
    pub batches: Vec<Chosen<'a>>,
    /// Files of which nothing counts.
    pub unused: Vec<PathBuf>,
}

impl Source {
    /// Reads a file; its name says what it is.
    pub fn read(path: &Path) -> Result<Source, ImportError> {
        let error = |message: String| ImportError::File { file: path.to_owned(), message };
        let kind = kind(path).ok_or_else(|| {
            error("a segment (*.log) or a snapshot (OFFSET-EPOCH.checkpoint, 20 and 10 digits) is expected".to_owned())
        })?;
        let bytes = std::fs::read(path).map_err(|cause| error(format!("cannot be read: {cause}")))?;
        Ok(Source { path: path.to_owned(), kind, bytes })
    }

    /// Its batches.
    pub fn decode(&self) -> Result<Decoded<'_>, ImportError> {
        let batches = decode_batches(&self.bytes).collect::<Result<_, _>>();
        let batches = batches.map_err(|error| ImportError::Batch { file: self.path.clone(), error })?;
        let decoded = Decoded { source: self, batches };
        decoded.batches.iter().try_for_each(|batch| decoded.check_offsets(batch))?;
        Ok(decoded)
    }

    /// Where a record is: its value, or if it has none, its batch.
    pub fn place(&self, batch: &Batch<'_>, record: &BatchRecord<'_>) -> Place {
        let byte = match record.value {
            Some(value) => value.as_ptr() as usize - self.bytes.as_ptr() as usize,
            None => batch.position,
        };
        Place { file: self.path.clone(), offset: batch.header.offset(record), byte }
    }
}

fn kind(path: &Path) -> Option<FileKind> {
    match path.extension()?.to_str()? {
        "log" => Some(FileKind::Segment),
        "checkpoint" if path.file_stem()? == "bootstrap" => Some(FileKind::Bootstrap),
        "checkpoint" => {
            // `Snapshots.filenameFromSnapshotId` of kafka-raft.
            let (offset, epoch) = path.file_stem()?.to_str()?.split_once('-')?;
            let digits = |text: &str, count| text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
            let end_offset = offset.parse().ok().filter(|_| digits(offset, 20) && digits(epoch, 10))?;
            Some(FileKind::Snapshot { end_offset })
        }
        _ => None,
    }
}

impl<'a> Decoded<'a> {
    /// Raft never compacts the log: a batch has a record for each of its offsets.
    fn check_offsets(&self, batch: &Batch<'_>) -> Result<(), ImportError> {
        let header = &batch.header;
        let expected = header.last_offset_delta.checked_add(1).filter(|count| *count > 0);
        let whole = expected.is_some_and(|count| batch.records.len() == count as usize)
            && (0..).zip(&batch.records).all(|(delta, record)| record.offset_delta == delta)
            && header.base_offset >= 0
            && header.base_offset.checked_add(i64::from(header.last_offset_delta)).is_some();
        if whole {
            return Ok(());
        }
        let place = Place { file: self.source.path.clone(), offset: header.base_offset, byte: batch.position };
        let message = format!(
            "a batch of offsets {} to {} with {} records; one for each offset is expected",
            header.base_offset,
            header.last_offset(),
            batch.records.len()
        );
        Err(ImportError::Record { place, message })
    }

    /// A snapshot's last record must be there, else the file is cut; the first one knows its time.
    fn snapshot(self, end_offset: i64) -> Result<Snapshot<'a>, ImportError> {
        let control = |batch: Option<&Batch<'a>>, last: bool| {
            let batch = batch.filter(|batch| batch.header.attributes.is_control())?;
            if last { batch.records.last() } else { batch.records.first() }.cloned()
        };
        let first = control(self.batches.first(), false).filter(|record| control_type(record) == SNAPSHOT_HEADER);
        let last = control(self.batches.last(), true).filter(|record| control_type(record) == SNAPSHOT_FOOTER);
        let Some((header, _)) = first.zip(last) else {
            let message = "no whole snapshot: it begins with a header record and ends with a footer record";
            return Err(ImportError::File { file: self.source.path.clone(), message: message.to_owned() });
        };
        let unix_ms = header.value.and_then(last_contained_log_timestamp);
        let fallback = self.batches.first().map_or(0, |batch| batch.header.max_timestamp_ms);
        Ok(Snapshot {
            source: self.source,
            batches: self.batches,
            end_offset,
            unix_ms: unix_ms.filter(|time| *time >= 0).unwrap_or(fallback),
        })
    }
}

/// `SnapshotHeaderRecord`: an int16 version, then an int64.
fn last_contained_log_timestamp(value: &[u8]) -> Option<i64> {
    let bytes = value.get(2..10)?;
    Some(i64::from_be_bytes(bytes.try_into().ok()?))
}

/// The name of a control record's type: its key is an int16 version and an int16 type.
pub(super) fn control_type(record: &BatchRecord<'_>) -> &'static str {
    match record.key {
        Some([_, _, 0, 2]) => "LEADER_CHANGE",
        Some([_, _, 0, 3]) => SNAPSHOT_HEADER,
        Some([_, _, 0, 4]) => SNAPSHOT_FOOTER,
        Some([_, _, 0, 5]) => "KRAFT_VERSION",
        Some([_, _, 0, 6]) => "KRAFT_VOTERS",
        _ => "UNKNOWN",
    }
}

/// Chooses what counts of the files: the log from offset 0 on if it is there, else a snapshot and the log after it.
pub(super) fn order(files: Vec<Decoded<'_>>) -> Result<Ordered<'_>, Vec<ImportError>> {
    let all: Vec<PathBuf> = files.iter().map(|file| file.source.path.clone()).collect();
    let mut segments = Vec::new();
    let mut snapshots = BTreeMap::new();
    for file in files {
        match file.source.kind {
            FileKind::Segment => segments.extend(file.batches.into_iter().map(|batch| (file.source, batch))),
            FileKind::Snapshot { end_offset } => {
                snapshots.insert(end_offset, file);
            }
            FileKind::Bootstrap => {}
        }
    }
    segments.sort_by_key(|(_, batch)| batch.header.base_offset);
    let log_start = segments.first().map(|(_, batch)| batch.header.base_offset);
    let log_end = segments.iter().map(|(_, batch)| batch.header.last_offset().saturating_add(1)).max();
    let snapshot = match choose_snapshot(snapshots, log_start, log_end) {
        None => None,
        Some((end_offset, file)) => Some(file.snapshot(end_offset).map_err(|error| vec![error])?),
    };
    if snapshot.is_none() && segments.is_empty() {
        return Err(vec![ImportError::Nothing]);
    }
    let start = snapshot.as_ref().map_or(0, |snapshot| snapshot.end_offset);
    let batches = chain(segments, start)?;
    let used = |path: &PathBuf| {
        batches.iter().any(|chosen| chosen.source.path == *path)
            || snapshot.as_ref().is_some_and(|snapshot| snapshot.source.path == *path)
    };
    let unused = all.into_iter().filter(|path| !used(path)).collect();
    Ok(Ordered { snapshot, batches, unused })
}

/// The snapshot to start from, if one is needed: the earliest that the log continues, else the newest of all.
fn choose_snapshot(
    mut snapshots: BTreeMap<i64, Decoded<'_>>,
    log_start: Option<i64>,
    log_end: Option<i64>,
) -> Option<(i64, Decoded<'_>)> {
    if log_start == Some(0) {
        return None;
    }
    let continued = log_start.zip(log_end).and_then(|(start, end)| snapshots.range(start..=end).next());
    let end_offset = match continued {
        Some((end_offset, _)) => *end_offset,
        None => *snapshots.last_key_value()?.0,
    };
    snapshots.remove_entry(&end_offset)
}

/// The batches from an offset on, each offset once.
fn chain<'a>(segments: Vec<(&'a Source, Batch<'a>)>, start: i64) -> Result<Vec<Chosen<'a>>, Vec<ImportError>> {
    let mut chosen: Vec<Chosen<'a>> = Vec::new();
    let mut errors = Vec::new();
    let mut next = start;
    for (source, batch) in segments {
        let (base, last) = (batch.header.base_offset, batch.header.last_offset());
        if base > next {
            errors.push(ImportError::Gap { from: next, to: base - 1, before: source.path.clone() });
        }
        let before = chosen.last().filter(|before| before.batch.header.base_offset == base);
        let differs =
            |before: &&Chosen<'_>| before.batch.header != batch.header || before.batch.records != batch.records;
        if let Some(before) = before.filter(differs) {
            let message = format!("another batch than the one of the same offset in {}", before.source.path.display());
            let place = Place { file: source.path.clone(), offset: base, byte: batch.position };
            errors.push(ImportError::Record { place, message });
        }
        if last >= next {
            chosen.push(Chosen { source, batch, from: next });
            next = last.saturating_add(1);
        }
    }
    if errors.is_empty() { Ok(chosen) } else { Err(errors) }
}
