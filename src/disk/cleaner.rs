//! What Kafka's log cleaner does to a log (`LogCleanerManager`, `LogToClean`, `Cleaner`, `MemoryRecords.filterTo` of 4.3.1).

use super::segment::{BatchInfo, CommitRun, Item, KeyId, Record, Segment, batch_bytes};
use super::settings::LogSettings;
use crate::kafka::batch::BATCH_HEADER_BYTES;

/// What cleaning cost, and what it gave.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cleaning {
    /// How often the log was cleaned.
    pub cleanings: u64,
    /// Bytes read: the dirty part for the offset map, then everything that is written anew.
    pub read_bytes: u64,
    /// Bytes of the segments that were replaced.
    pub replaced_bytes: u64,
    /// Bytes of the segments that were written for them.
    pub written_bytes: u64,
    /// Records removed.
    pub removed_records: u64,
    /// Of these, tombstones.
    pub removed_tombstones: u64,
    /// Cleanings whose offset map was full before all of the dirty part was in it.
    pub full_maps: u64,
}

impl Cleaning {
    /// By how much the log became smaller. A delete horizon makes records longer, so that it may also have grown.
    pub fn removed_bytes(&self) -> i64 {
        self.replaced_bytes as i64 - self.written_bytes as i64
    }
}

impl std::ops::AddAssign for Cleaning {
    fn add_assign(&mut self, other: Cleaning) {
        self.cleanings += other.cleanings;
        self.read_bytes += other.read_bytes;
        self.replaced_bytes += other.replaced_bytes;
        self.written_bytes += other.written_bytes;
        self.removed_records += other.removed_records;
        self.removed_tombstones += other.removed_tombstones;
        self.full_maps += other.full_maps;
    }
}

/// The first segment that must not be cleaned: the active one, or one that is younger than the least lag
/// (`LogCleanerManager.cleanableOffsets`). All records count as committed: the high watermark is the log's end.
fn first_uncleanable<P: Clone>(
    segments: &[Segment<P>],
    first_dirty: i64,
    settings: &LogSettings,
    now_ms: i64,
) -> usize {
    let active = segments.len() - 1;
    if settings.min_compaction_lag_ms <= 0 {
        return active;
    }
    let too_young = |segment: &Segment<P>| {
        segment.largest_timestamp_ms().is_some_and(|largest_ms| largest_ms > now_ms - settings.min_compaction_lag_ms)
    };
    let from = floor(segments, first_dirty);
    (from..active).find(|&index| too_young(&segments[index])).unwrap_or(active)
}

/// The segment that holds an offset.
fn floor<P: Clone>(segments: &[Segment<P>], offset: i64) -> usize {
    segments.partition_point(|segment| segment.base_offset <= offset).saturating_sub(1)
}

/// Whether the cleaner would clean the log (`LogCleanerManager.grabFilthiestCompactedLog`).
pub(super) fn is_due<P: Clone>(segments: &[Segment<P>], first_dirty: i64, settings: &LogSettings, now_ms: i64) -> bool {
    let uncleanable = first_uncleanable(segments, first_dirty, settings, now_ms);
    let dirty = floor(segments, first_dirty).min(uncleanable);
    let bytes = |segments: &[Segment<P>]| segments.iter().map(|segment| segment.bytes).sum::<u64>();
    let cleanable = bytes(&segments[dirty..uncleanable]);
    // As Kafka has it, a segment that is clean only in part counts in both.
    let clean = bytes(&segments[..segments.partition_point(|segment| segment.base_offset < first_dirty)]);
    let total = clean + cleanable;
    if cleanable == 0 {
        return false;
    }
    let clean_until_ms = now_ms.saturating_sub(settings.max_compaction_lag_ms.max(0));
    let is_overdue = |segment: &Segment<P>| {
        segment.first_batch_ms().is_some_and(|first_ms| first_ms > 0 && first_ms < clean_until_ms)
    };
    let must = segments[dirty..segments.len() - 1].iter().any(is_overdue);
    must || cleanable as f64 / total as f64 > settings.min_cleanable_dirty_ratio
}

/// The last offset of each key in the dirty part, as far as there was room (`SkimpyOffsetMap`; equal digests of different
/// keys are left out).
struct OffsetMap {
    offsets: Vec<i64>,
    keys: u64,
    max_keys: u64,
    latest: i64,
    read_bytes: u64,
    is_full: bool,
}

impl OffsetMap {
    /// `Cleaner.buildOffsetMap`.
    fn build<P: Clone>(segments: &[Segment<P>], first_dirty: i64, end: i64, settings: &LogSettings) -> OffsetMap {
        let mut map = OffsetMap {
            offsets: Vec::new(),
            keys: 0,
            max_keys: settings.max_map_keys(),
            latest: -1,
            read_bytes: 0,
            is_full: false,
        };
        for (index, segment) in segments.iter().enumerate() {
            let next_base = segments.get(index + 1).map_or(end, |next| next.base_offset);
            if !map.add_segment(segment, first_dirty) {
                map.is_full = true;
                break;
            }
            map.read_bytes += segment.bytes;
            // Offsets that are missing at the segment's end count as seen.
            map.latest = next_base - 1;
        }
        map
    }

    fn add_segment<P: Clone>(&mut self, segment: &Segment<P>, first_dirty: i64) -> bool {
        segment.items().all(|(item, records)| match item {
            Item::Batch { info, .. } => self.add_batch(info, records, first_dirty),
            Item::Commits(run) => self.add_run(run, first_dirty),
        })
    }

    fn add_batch<P: Clone>(&mut self, info: &BatchInfo, records: &[Record<P>], first_dirty: i64) -> bool {
        if info.last_offset() < first_dirty {
            return true;
        }
        for record in records {
            let offset = info.base_offset + i64::from(record.offset_delta);
            if offset >= first_dirty && !self.put(record.key, offset) {
                return false;
            }
        }
        self.latest = info.last_offset();
        true
    }

    /// Of rounds that are alike the first fills the map and the last has the last offsets.
    fn add_run<P: Clone>(&mut self, run: &CommitRun<P>, first_dirty: i64) -> bool {
        let mut add = |round: u64| {
            let mut offset = run.base_offset + (round * run.round.records) as i64;
            for batch in &run.round.batches {
                for record in batch.iter() {
                    if offset >= first_dirty && !self.put(record.key, offset) {
                        return false;
                    }
                    offset += 1;
                }
                self.latest = offset - 1;
            }
            true
        };
        let dirty_rounds = first_dirty.saturating_sub(run.base_offset).max(0) as u64 / run.round.records.max(1);
        let first = dirty_rounds.min(run.rounds);
        // The round after the first whole one finds every key in the map.
        (first..run.rounds.min(first + 2)).all(&mut add) && (run.rounds <= first + 2 || add(run.rounds - 1))
    }

    /// No key is taken once the map is full, not even one that is in it.
    fn put(&mut self, key: KeyId, offset: i64) -> bool {
        if self.keys >= self.max_keys {
            return false;
        }
        let index = key.0 as usize;
        if index >= self.offsets.len() {
            self.offsets.resize(index + 1, -1);
        }
        self.keys += u64::from(self.offsets[index] < 0);
        self.offsets[index] = offset;
        self.latest = offset;
        true
    }

    fn get(&self, key: KeyId) -> i64 {
        self.offsets.get(key.0 as usize).copied().unwrap_or(-1)
    }
}

/// Cleans a log once; gives also the offset up to which it is clean then (`Cleaner.doClean`).
pub(super) fn clean<P: Clone>(
    segments: &mut Vec<Segment<P>>,
    first_dirty: i64,
    settings: &LogSettings,
    now_ms: i64,
) -> (Cleaning, i64) {
    let uncleanable = first_uncleanable(segments, first_dirty, settings, now_ms);
    let end = segments[uncleanable].base_offset;
    if end <= first_dirty {
        return (Cleaning::default(), first_dirty);
    }
    let dirty = floor(segments, first_dirty).min(uncleanable);
    let map = OffsetMap::build(&segments[dirty..uncleanable], first_dirty, end, settings);
    let end_offset = (map.latest + 1).max(first_dirty);
    let num_cleaned = segments[..uncleanable].partition_point(|segment| segment.base_offset < end_offset);
    let rest = segments.split_off(num_cleaned);
    let sources = std::mem::take(segments);
    let mut pass = Pass { map: &map, settings, now_ms, end, cleaning: Cleaning::default() };
    pass.cleaning.cleanings = 1;
    pass.cleaning.read_bytes = map.read_bytes;
    pass.cleaning.full_maps = u64::from(map.is_full);
    for group in group_by_size(sources, settings.segment_bytes, end) {
        segments.push(pass.clean_group(group));
    }
    segments.extend(rest);
    (pass.cleaning, end_offset)
}

/// Segments that together are no larger than one may be become one (`Cleaner.groupSegmentsBySize`).
fn group_by_size<P: Clone>(segments: Vec<Segment<P>>, max_bytes: u64, end: i64) -> Vec<Vec<Segment<P>>> {
    // The last offset of a segment is estimated by where the next one begins.
    let next_bases: Vec<i64> = segments.iter().skip(1).map(|segment| segment.base_offset).chain([end]).collect();
    let mut groups: Vec<Vec<Segment<P>>> = Vec::new();
    let mut group_bytes = 0;
    for (segment, next_base) in segments.into_iter().zip(next_bases) {
        let fits = |group: &Vec<Segment<P>>| {
            group_bytes + segment.bytes <= max_bytes
                && (segment.bytes == 0 || next_base - 1 - group[0].base_offset <= i64::from(i32::MAX))
        };
        match groups.last_mut().filter(|group| fits(group)) {
            Some(group) => {
                group_bytes += segment.bytes;
                group.push(segment);
            }
            None => {
                group_bytes = segment.bytes;
                groups.push(vec![segment]);
            }
        }
    }
    groups
}

/// A cleaning under way.
struct Pass<'a> {
    map: &'a OffsetMap,
    settings: &'a LogSettings,
    now_ms: i64,
    /// The offset after the part that is cleaned.
    end: i64,
    cleaning: Cleaning,
}

impl Pass<'_> {
    /// `Cleaner.cleanSegments`.
    fn clean_group<P: Clone>(&mut self, group: Vec<Segment<P>>) -> Segment<P> {
        let mut cleaned = Segment::new(group.first().map_or(0, |first| first.base_offset));
        let before: u64 = group.iter().map(|segment| segment.bytes).sum();
        for segment in &group {
            for (item, records) in segment.items() {
                match item {
                    Item::Batch { info, .. } => self.clean_batch(info, records, &mut cleaned),
                    Item::Commits(run) => self.clean_run(run, &mut cleaned),
                }
            }
        }
        self.cleaning.read_bytes += before;
        self.cleaning.replaced_bytes += before;
        self.cleaning.written_bytes += cleaned.bytes;
        cleaned
    }

    /// `MemoryRecords.filterTo`.
    fn clean_batch<P: Clone>(&mut self, info: &BatchInfo, records: &[Record<P>], cleaned: &mut Segment<P>) {
        let retained: Vec<Record<P>> = records.iter().filter(|record| self.retains(info, record)).cloned().collect();
        let removed = (records.len() - retained.len()) as u64;
        let tombstones = |records: &[Record<P>]| records.iter().filter(|r| r.value_bytes.is_none()).count() as u64;
        self.cleaning.removed_records += removed;
        self.cleaning.removed_tombstones += tombstones(records) - tombstones(&retained);
        if retained.is_empty() {
            if self.settings.keeps_last_batch && info.last_offset() + 1 == self.end {
                let bytes = BATCH_HEADER_BYTES as u64;
                cleaned.push(BatchInfo { base_timestamp_ms: -1, delete_horizon_ms: None, bytes, ..*info }, []);
            }
            return;
        }
        // The first cleaning that meets a tombstone says how long the batch's tombstones stay.
        let needs_horizon = info.delete_horizon_ms.is_none() && tombstones(&retained) > 0;
        if removed == 0 && !needs_horizon {
            cleaned.push(*info, retained);
            return;
        }
        let delete_horizon_ms = match needs_horizon {
            true => Some(self.now_ms + self.settings.delete_retention_ms),
            false => info.delete_horizon_ms,
        };
        let base_timestamp_ms = delete_horizon_ms.unwrap_or(retained[0].timestamp_ms);
        let info = BatchInfo {
            base_timestamp_ms,
            max_timestamp_ms: retained.iter().map(|record| record.timestamp_ms).max().unwrap_or(-1),
            delete_horizon_ms,
            bytes: batch_bytes(base_timestamp_ms, &retained),
            ..*info
        };
        cleaned.push(info, retained);
    }

    /// `Cleaner.shouldRetainRecord`.
    fn retains<P: Clone>(&self, info: &BatchInfo, record: &Record<P>) -> bool {
        let offset = info.base_offset + i64::from(record.offset_delta);
        if offset > self.map.latest {
            return true;
        }
        let stays = info.delete_horizon_ms.is_none_or(|horizon_ms| self.now_ms < horizon_ms);
        offset >= self.map.get(record.key) && (record.value_bytes.is_some() || stays)
    }

    /// Of rounds that are alike and all in the map, only the last has anything that stays.
    fn clean_run<P: Clone>(&mut self, run: &CommitRun<P>, cleaned: &mut Segment<P>) {
        let is_mapped = run.next_offset() - 1 <= self.map.latest
            && run.round.batches.iter().flat_map(|batch| batch.iter()).all(|r| self.map.get(r.key) >= run.base_offset);
        let first = if is_mapped { run.rounds - 1 } else { 0 };
        self.cleaning.removed_records += first * run.round.records;
        for round in first..run.rounds {
            for (info, records) in run.batches_of(round) {
                self.clean_batch(&info, &records, cleaned);
            }
        }
    }
}
