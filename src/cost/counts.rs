//! How often each operation happened.

use super::Operation;
use crate::coordinator::{Entry, Outcome};
use crate::kafka::batch::Lengths;
use crate::kafka::records::{Record, Value};
use crate::strategy::Work;
use std::ops::{AddAssign, Index};

/// What makes a shard work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trigger {
    /// A request of a member.
    Heartbeat,
    /// A timer.
    Timer,
    /// A task of the background executor.
    Background,
    /// A published image.
    Image,
    /// A new incarnation that loads its log.
    Load,
}

impl Trigger {
    /// All of them, in the order of files.
    pub const ALL: [Trigger; 5] =
        [Trigger::Heartbeat, Trigger::Timer, Trigger::Background, Trigger::Image, Trigger::Load];

    /// The name in `work.csv`.
    pub const fn name(self) -> &'static str {
        match self {
            Trigger::Heartbeat => "heartbeat",
            Trigger::Timer => "timer",
            Trigger::Background => "background",
            Trigger::Image => "image",
            Trigger::Load => "load",
        }
    }
}

/// How often each operation happened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts([u64; Operation::ALL.len()]);

impl Counts {
    /// One operation, so many times.
    pub fn of(operation: Operation, count: u64) -> Counts {
        let mut counts = Counts::default();
        counts.add(operation, count);
        counts
    }

    /// Adds to an operation.
    pub fn add(&mut self, operation: Operation, count: u64) {
        self.0[operation as usize] += count;
    }

    /// Adds what refreshes and images made a strategy do.
    pub fn add_work(&mut self, work: &Work) {
        let done = [
            (Operation::GroupMarked, work.groups_marked),
            (Operation::Refresh, work.refreshes),
            (Operation::TopicLookup, work.topics_looked_up),
            (Operation::MapEntry, work.map_entries),
            (Operation::MapPartition, work.map_partitions),
            (Operation::MapReplica, work.map_replicas),
            (Operation::EntryComparison, work.entries_compared),
            (Operation::PartitionComparison, work.partitions_compared),
            (Operation::TopicHash, work.topic_hashes),
            (Operation::HashPartition, work.hash_partitions),
            (Operation::HashReplica, work.hash_replicas),
            (Operation::HashByte, work.hash_bytes),
            (Operation::MemoHit, work.memo_hits),
            (Operation::MemoDrop, work.memo_drops),
            (Operation::GroupHash, work.group_hashes),
            (Operation::GroupHashTopic, work.group_hash_topics),
        ];
        done.into_iter().for_each(|(operation, count)| self.add(operation, count));
    }

    /// Adds a record that is loaded, its place in a batch apart.
    pub fn add_loaded(&mut self, record: &Record) {
        self.add(Operation::RecordLoaded, 1);
        self.add(Operation::ByteLoaded, record_bytes(record));
    }

    /// Adds what an operation of the shard did, its request or timer and its batch apart. Lengths that it does not tell are
    /// those of its records.
    pub fn add_outcome(&mut self, outcome: &Outcome) {
        self.add_work(&outcome.work);
        for run in &outcome.assignments {
            self.add(Operation::AssignorRun, 1);
            self.add(Operation::AssignedMember, run.members);
            self.add(Operation::AssignedPartition, run.partitions);
        }
        self.add(Operation::Record, outcome.entries.len() as u64);
        let bytes = |(key, value): Lengths| (key + value.unwrap_or(0)) as u64;
        let of_entry = |entry: &Entry| record_bytes(&entry.record);
        self.add(
            Operation::RecordByte,
            match outcome.lengths.is_empty() {
                true => outcome.entries.iter().map(of_entry).sum(),
                false => outcome.lengths.iter().copied().map(bytes).sum(),
            },
        );
    }
}

/// The bytes of a record's key and value.
fn record_bytes(record: &Record) -> u64 {
    (record.key.encoded_len() + record.value.as_ref().map_or(0, Value::encoded_len)) as u64
}

impl Index<Operation> for Counts {
    type Output = u64;

    fn index(&self, operation: Operation) -> &u64 {
        &self.0[operation as usize]
    }
}

impl AddAssign<&Counts> for Counts {
    fn add_assign(&mut self, other: &Counts) {
        self.0.iter_mut().zip(other.0).for_each(|(mine, theirs)| *mine += theirs);
    }
}
