//! What a log consists of: segments of batches of records, as numbers and with whatever else is kept of each record.

use crate::kafka::batch::{BATCH_HEADER_BYTES, record_len};
use crate::kafka::records::RecordType;
use crate::kernel::lookup::Lookup;
use std::borrow::Borrow;
use std::hash::Hash;
use std::sync::Arc;

/// A key of a log, for whoever only needs to know whether two are the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub u32);

/// The keys of a log, numbered in the order in which they came.
#[derive(Debug)]
pub struct Keys<K> {
    ids: Lookup<K, KeyId>,
    next: u32,
}

impl<K: Eq + Hash> Default for Keys<K> {
    fn default() -> Self {
        Keys { ids: Lookup::new(), next: 0 }
    }
}

impl<K: Eq + Hash> Keys<K> {
    /// The number of a key.
    pub fn id<Q: Eq + Hash + ToOwned<Owned = K> + ?Sized>(&mut self, key: &Q) -> KeyId
    where
        K: Borrow<Q>,
    {
        if let Some(id) = self.ids.get(key) {
            return *id;
        }
        let id = self.fresh();
        self.ids.insert(key.to_owned(), id);
        id
    }

    /// A number for a key that is kept elsewhere.
    pub fn fresh(&mut self) -> KeyId {
        self.next += 1;
        KeyId(self.next - 1)
    }
}

/// A record as the log keeps it.
#[derive(Debug, Clone, PartialEq)]
pub struct Record<P> {
    /// Its key.
    pub key: KeyId,
    /// Its type; `None` is an offset commit.
    pub record_type: Option<RecordType>,
    /// Its offset, from its batch's base offset.
    pub offset_delta: i32,
    /// Its timestamp (Unix time in ms).
    pub timestamp_ms: i64,
    /// The bytes of the key.
    pub key_bytes: u32,
    /// The bytes of the value; `None` is a tombstone.
    pub value_bytes: Option<u32>,
    /// How many bytes of the value are the strategy's hash.
    pub hash_bytes: u8,
    /// What else is kept of it.
    pub payload: P,
}

impl<P> Record<P> {
    /// Its bytes in a batch whose timestamps count from `base_timestamp_ms`.
    pub fn bytes(&self, base_timestamp_ms: i64) -> u64 {
        let value_bytes = self.value_bytes.map(|bytes| bytes as usize);
        record_len(self.key_bytes as usize, value_bytes, self.offset_delta, self.timestamp_ms - base_timestamp_ms)
            as u64
    }

    /// By how much shorter it were there without the strategy's hash.
    pub fn hash_field_bytes(&self, base_timestamp_ms: i64) -> u64 {
        let Some(value_bytes) = self.value_bytes.filter(|_| self.hash_bytes > 0) else { return 0 };
        let without = (value_bytes - u32::from(self.hash_bytes)) as usize;
        let delta_ms = self.timestamp_ms - base_timestamp_ms;
        self.bytes(base_timestamp_ms)
            - record_len(self.key_bytes as usize, Some(without), self.offset_delta, delta_ms) as u64
    }
}

/// A batch without its records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchInfo {
    /// The offset that its records' deltas count from.
    pub base_offset: i64,
    /// The last offset of the batch as it was appended.
    pub last_offset_delta: i32,
    /// The epoch of the leader that appended it.
    pub leader_epoch: i32,
    /// What its records' timestamps count from: the first one's; with a delete horizon, the horizon; -1 without a record.
    pub base_timestamp_ms: i64,
    /// The greatest timestamp of a record.
    pub max_timestamp_ms: i64,
    /// From when on the cleaner drops its tombstones (attribute bit 6).
    pub delete_horizon_ms: Option<i64>,
    /// All its bytes.
    pub bytes: u64,
}

impl BatchInfo {
    /// The batch of these records, which are not empty, at an offset.
    pub fn new<P>(base_offset: i64, leader_epoch: i32, records: &[Record<P>]) -> BatchInfo {
        let base_timestamp_ms = records.first().map_or(-1, |record| record.timestamp_ms);
        let max_timestamp_ms = records.iter().map(|record| record.timestamp_ms).max().unwrap_or(-1);
        BatchInfo {
            base_offset,
            last_offset_delta: records.last().map_or(0, |record| record.offset_delta),
            leader_epoch,
            base_timestamp_ms,
            max_timestamp_ms,
            delete_horizon_ms: None,
            bytes: batch_bytes(base_timestamp_ms, records),
        }
    }

    /// Its last offset.
    pub fn last_offset(&self) -> i64 {
        self.base_offset + i64::from(self.last_offset_delta)
    }
}

/// The bytes of a batch with these records.
pub(super) fn batch_bytes<P>(base_timestamp_ms: i64, records: &[Record<P>]) -> u64 {
    BATCH_HEADER_BYTES as u64 + records.iter().map(|record| record.bytes(base_timestamp_ms)).sum::<u64>()
}

/// All batches that members write when each of them commits once, in the order in which they do.
#[derive(Debug, Clone, PartialEq)]
pub struct CommitRound<P> {
    /// The records of each batch.
    pub batches: Vec<Arc<Vec<Record<P>>>>,
    /// How many records there are.
    pub records: u64,
    /// The bytes of all batches.
    pub bytes: u64,
}

/// The same round of commits again and again, with nothing else between.
#[derive(Debug, Clone, PartialEq)]
pub struct CommitRun<P> {
    /// What is written each time.
    pub round: Arc<CommitRound<P>>,
    /// How often.
    pub rounds: u64,
    /// The offset of the first record.
    pub base_offset: i64,
    /// When the first round was written (Unix time in ms).
    pub first_ms: i64,
    /// The time between rounds.
    pub interval_ms: i64,
    /// The epoch of the leader.
    pub leader_epoch: i32,
}

impl<P: Clone> CommitRun<P> {
    /// The offset after the last record.
    pub fn next_offset(&self) -> i64 {
        self.base_offset + (self.rounds * self.round.records) as i64
    }

    /// When the last round was written.
    pub fn last_ms(&self) -> i64 {
        self.first_ms + (self.rounds as i64 - 1) * self.interval_ms
    }

    /// The batches of one round, with their offsets and times.
    pub fn batches_of(&self, round: u64) -> impl Iterator<Item = (BatchInfo, Vec<Record<P>>)> + '_ {
        let mut offset = self.base_offset + (round * self.round.records) as i64;
        let timestamp_ms = self.first_ms + round as i64 * self.interval_ms;
        self.round.batches.iter().map(move |batch| {
            let records: Vec<Record<P>> =
                batch.iter().map(|record| Record { timestamp_ms, ..record.clone() }).collect();
            let info = BatchInfo::new(offset, self.leader_epoch, &records);
            offset += records.len() as i64;
            (info, records)
        })
    }
}

/// A batch of a segment, or many that are alike.
#[derive(Debug, Clone, PartialEq)]
pub enum Item<P> {
    /// A batch; its records are `num_records` of the segment's.
    Batch {
        /// Its header.
        info: BatchInfo,
        /// How many records it has.
        num_records: u32,
    },
    /// Commits that are only counted.
    Commits(CommitRun<P>),
}

/// A segment of a log.
#[derive(Debug, Clone, PartialEq)]
pub struct Segment<P> {
    /// The offset that its file is named after.
    pub base_offset: i64,
    /// The bytes of its `.log` file.
    pub bytes: u64,
    /// Its batches.
    items: Vec<Item<P>>,
    /// The records of all batches, one after the other.
    records: Vec<Record<P>>,
}

impl<P: Clone> Segment<P> {
    pub(super) fn new(base_offset: i64) -> Segment<P> {
        Segment { base_offset, bytes: 0, items: Vec::new(), records: Vec::new() }
    }

    /// Appends a batch.
    pub(super) fn push(&mut self, info: BatchInfo, records: impl IntoIterator<Item = Record<P>>) {
        let before = self.records.len();
        self.records.extend(records);
        self.items.push(Item::Batch { info, num_records: (self.records.len() - before) as u32 });
        self.bytes += info.bytes;
    }

    /// Appends rounds of commits, to the run that is there if they only go on with it.
    pub(super) fn push_commits(&mut self, run: CommitRun<P>) {
        self.bytes += run.rounds * run.round.bytes;
        if let Some(Item::Commits(last)) = self.items.last_mut()
            && Arc::ptr_eq(&last.round, &run.round)
            && last.last_ms() + last.interval_ms == run.first_ms
            && last.leader_epoch == run.leader_epoch
        {
            last.rounds += run.rounds;
        } else {
            self.items.push(Item::Commits(run));
        }
    }

    /// What is in it, each batch with its records; commits that are only counted have none.
    pub fn items(&self) -> impl Iterator<Item = (&Item<P>, &[Record<P>])> {
        let mut at = 0;
        self.items.iter().map(move |item| {
            let from = at;
            if let Item::Batch { num_records, .. } = item {
                at += *num_records as usize;
            }
            (item, &self.records[from..at])
        })
    }

    /// Every record that is not only counted.
    pub fn records(&self) -> impl Iterator<Item = &Record<P>> {
        self.records.iter()
    }

    /// Every batch with its records, counted commits included.
    pub fn batches(&self) -> impl Iterator<Item = (BatchInfo, Vec<Record<P>>)> + '_ {
        self.items().flat_map(|(item, records)| -> Box<dyn Iterator<Item = (BatchInfo, Vec<Record<P>>)>> {
            match item {
                Item::Batch { info, .. } => Box::new(std::iter::once((*info, records.to_vec()))),
                Item::Commits(run) => Box::new((0..run.rounds).flat_map(|round| run.batches_of(round))),
            }
        })
    }

    /// The time that rolling and the greatest lag count from: the greatest timestamp of its first batch.
    pub(super) fn first_batch_ms(&self) -> Option<i64> {
        self.items.first().map(|item| match item {
            Item::Batch { info, .. } => info.max_timestamp_ms,
            Item::Commits(run) => run.first_ms,
        })
    }

    /// The greatest timestamp in it.
    pub(super) fn largest_timestamp_ms(&self) -> Option<i64> {
        let of_item = |item: &Item<P>| match item {
            Item::Batch { info, .. } => info.max_timestamp_ms,
            Item::Commits(run) => run.last_ms(),
        };
        self.items.iter().map(of_item).max()
    }
}
