//! What is counted of a simulated shard, and of all shards of a strategy together. `docs/output.md` defines each number.

use super::evidence::{Values, Written};
use crate::coordinator::{Cause, FoundChange};
use crate::cost::heap::Heap;
use crate::cost::{Counts, Operation, Profile, Tenure, Threads, Trigger, serve};
use crate::disk::{LogContents, LogTotals};
use crate::kafka::records::RecordType;
use crate::kafka::{GroupKind, JString};
use crate::kernel::TimeMs;
use std::cmp::Reverse;
use std::sync::Arc;

/// Records of one type.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecordTotals {
    /// All, tombstones included.
    pub records: u64,
    /// Tombstones.
    pub tombstones: u64,
    /// Bytes of keys.
    pub key_bytes: u64,
    /// Bytes of values.
    pub value_bytes: u64,
    /// Bytes in their batches: each with its length, its deltas and the lengths of key and value.
    pub batch_bytes: u64,
}

/// What happened in one time bucket.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bucket {
    /// What the coordinator did.
    pub counts: Counts,
    /// Bumps.
    pub epoch_bumps: u64,
    /// Bytes appended to the log; a batch's header counts where the batch begins.
    pub appended_bytes: u64,
    /// Bytes in the logs at its end.
    pub log_bytes: u64,
    /// The most bytes that each log took on the disk in it, together.
    pub log_peak_bytes: u64,
}

/// What happened beside what costs time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Happenings {
    /// Requests answered with an error.
    pub rejected_heartbeats: u64,
    /// Heartbeats that members could not send, as no broker led the shard.
    pub unsent_heartbeats: u64,
    /// Loads of a shard by a new incarnation.
    pub loads: u64,
    /// Those that failed.
    pub failed_loads: u64,
    /// Operations that wrote records.
    pub writes: u64,
    /// Operations that failed because their records are too large for a batch.
    pub refused_writes: u64,
}

/// A write that is remarkable for its size.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LargeWrite {
    /// The bytes of a batch with its records.
    pub bytes: u64,
    /// When.
    pub time_ms: TimeMs,
    /// The group.
    pub group: JString,
}

/// The log of a shard at the end of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ShardLog {
    /// The shard.
    pub shard: i32,
    /// The broker that leads it then.
    pub broker: Option<i32>,
    /// Its groups.
    pub groups: u64,
    /// Replicas of its log.
    pub replicas: u32,
    /// Bytes that the coordinator has appended.
    pub appended_bytes: u64,
    /// What was committed, and what the cleaner did.
    pub done: LogTotals,
    /// The most bytes that it took on the disk of one broker.
    pub peak_bytes: u64,
    /// What is in it.
    pub contents: LogContents,
}

/// What a shard did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardWork {
    /// The shard.
    pub shard: i32,
    /// The broker that leads it at the end.
    pub broker: Option<i32>,
    /// What its incarnations did.
    pub counts: Counts,
    /// Bumps.
    pub epoch_bumps: u64,
    /// What its coordinators had to do, one after another; none where waiting is not modelled.
    pub tenures: Vec<Tenure>,
}

/// Work that came to something else when it was really done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WrongWork {
    /// When.
    pub time_ms: TimeMs,
    /// The shard.
    pub shard: i32,
    /// What differs.
    pub what: String,
}

/// A log that a new incarnation has loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadTotals {
    /// When.
    pub time_ms: TimeMs,
    /// The shard.
    pub shard: i32,
    /// Where.
    pub broker: i32,
    /// The log's bytes.
    pub bytes: u64,
    /// Its records, offset commits included.
    pub records: u64,
    /// Of these, the coordinator's own: those that are replayed.
    pub replayed_records: u64,
    /// Why it could not be loaded.
    pub error: Option<String>,
}

/// A bump, with what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct BumpTotals {
    /// When.
    pub time_ms: TimeMs,
    /// In which shard.
    pub shard: i32,
    /// The kind of the group.
    pub kind: GroupKind,
    /// The group.
    pub group: JString,
    /// Its epoch before.
    pub old_epoch: i32,
    /// Its epoch after.
    pub new_epoch: i32,
    /// Why.
    pub causes: Vec<Cause>,
    /// What a refresh found changed.
    pub found: Vec<FoundChange>,
    /// The word of the image that brought the earliest found change; without one, what the member did.
    pub event: Arc<str>,
    /// Whether nothing explains it.
    pub needless: bool,
    /// Whether any member's target assignment differs because of it; `None` if that was never computed.
    pub assignment_changed: Option<bool>,
    /// What each of the found changes was.
    pub values: Vec<Values>,
    /// The records that were written with it, by type.
    pub wrote: Vec<Written>,
    /// The records that the group wrote after it, until its next bump.
    pub followed: Vec<Written>,
}

impl BumpTotals {
    /// From the earliest found change to the bump.
    pub fn delay_ms(&self) -> Option<TimeMs> {
        self.found.iter().map(|change| self.time_ms - change.since_ms).max()
    }
}

/// Something that a shard did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Effect {
    /// When.
    pub time_ms: TimeMs,
    /// The shard.
    pub shard: i32,
    /// XXH3-64 of all that is known of it, time and shard included.
    pub digest: u64,
    /// The same in words, if they were asked for.
    pub text: Option<Box<str>>,
}

/// All that is counted.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Totals {
    /// What the coordinator did, by what made it do that, in the order of [`Trigger::ALL`].
    pub counts: [Counts; Trigger::ALL.len()],
    /// What happened beside it.
    pub happened: Happenings,
    /// Records by type, in the order of [`RecordType::ALL`].
    pub records: [RecordTotals; RecordType::ALL.len()],
    /// Bytes of whole batches.
    pub appended_bytes: u64,
    /// Of these, the hash fields in group metadata records, by kind of group.
    pub hash_field_bytes: [u64; GroupKind::ALL.len()],
    /// Requests that reached the coordinator, by kind of group.
    pub heartbeats: [u64; GroupKind::ALL.len()],
    /// By time.
    pub timeline: Vec<Bucket>,
    /// Every bump, in order of time; at equal times in order of shards.
    pub bumps: Vec<BumpTotals>,
    /// What the shards did, in order of time; at equal times in order of shards. Empty unless it was asked for.
    pub effects: Vec<Effect>,
    /// The logs at the end, in order of shards.
    pub logs: Vec<ShardLog>,
    /// What each shard did, in order of shards.
    pub shards: Vec<ShardWork>,
    /// Every load, in order of time; at equal times in order of shards.
    pub loads: Vec<LoadTotals>,
    /// The largest write that succeeded, the earliest of these.
    pub largest_write: Option<LargeWrite>,
    /// The first write that failed because it was too large.
    pub first_refusal: Option<LargeWrite>,
    /// What the shards hold in memory at the end.
    pub heap: Heap,
    /// How long operations waited; `None` where that is not modelled.
    pub threads: Option<Threads>,
    /// Where work that was really done came to something else than the model says, in order of shards.
    pub wrong_work: Vec<WrongWork>,
    /// Changes missed at the end, by groups that have a coordinator then.
    pub missed_changes: u64,
    /// Groups whose shard has a coordinator at the end, so that their misses are known.
    pub judged_groups: u64,
    /// Groups whose shard has none.
    pub unjudged_groups: u64,
}

impl Totals {
    /// Nothing yet, in so many time buckets.
    pub(super) fn new(num_buckets: usize) -> Totals {
        Totals { timeline: vec![Bucket::default(); num_buckets], ..Totals::default() }
    }

    /// What the coordinator did, whatever made it do that.
    pub fn all_counts(&self) -> Counts {
        let mut all = Counts::default();
        self.counts.iter().for_each(|counts| all += counts);
        all
    }

    /// How often an operation happened.
    pub fn count(&self, operation: Operation) -> u64 {
        self.counts.iter().map(|counts| counts[operation]).sum()
    }

    /// The records of one type.
    pub fn of(&self, record_type: RecordType) -> &RecordTotals {
        &self.records[record_type.position()]
    }

    /// The records of one type.
    pub(super) fn of_mut(&mut self, record_type: RecordType) -> &mut RecordTotals {
        &mut self.records[record_type.position()]
    }

    /// All records, tombstones included.
    pub fn num_records(&self) -> u64 {
        self.records.iter().map(|of_type| of_type.records).sum()
    }

    /// Whether groups of that kind wrote anything; consumer groups count as there in any case.
    pub fn has_kind(&self, kind: GroupKind) -> bool {
        let wrote = |of_type: &RecordType| of_type.kind() == kind && self.of(*of_type).records > 0;
        kind == GroupKind::Consumer || RecordType::ALL.iter().any(wrote)
    }

    /// Batch bytes of what the strategy stores: type 4 records (9 and 18 of share and streams groups), and the hash field in
    /// group metadata records.
    pub fn strategy_bytes(&self) -> u64 {
        GroupKind::ALL.into_iter().map(|kind| self.strategy_bytes_of(kind)).sum()
    }

    /// The same of one kind of groups.
    pub fn strategy_bytes_of(&self, kind: GroupKind) -> u64 {
        self.of(RecordType::partition_metadata(kind)).batch_bytes + self.hash_field_bytes[kind as usize]
    }

    /// Bumps of groups of a kind.
    pub fn bumps_of(&self, kind: GroupKind) -> u64 {
        self.bumps.iter().filter(|bump| bump.kind == kind).count() as u64
    }

    /// Batch bytes of the records of groups of a kind; a batch's header belongs to none.
    pub fn batch_bytes_of(&self, kind: GroupKind) -> u64 {
        let types = RecordType::ALL.into_iter().filter(|record_type| record_type.kind() == kind);
        types.map(|record_type| self.of(record_type).batch_bytes).sum()
    }

    /// Batch bytes of target and current assignments.
    pub fn rebalance_bytes(&self) -> u64 {
        let types = RecordType::ALL.into_iter().filter(|record_type| record_type.is_rebalance());
        types.map(|record_type| self.of(record_type).batch_bytes).sum()
    }

    /// Bumps that are known to have changed no assignment.
    pub fn idle_bumps(&self) -> u64 {
        self.bumps.iter().filter(|bump| bump.assignment_changed == Some(false)).count() as u64
    }

    /// Bumps that nothing explains.
    pub fn needless_bumps(&self) -> u64 {
        self.bumps.iter().filter(|bump| bump.needless).count() as u64
    }

    /// From each found change to its bump, shortest first.
    pub fn delays_ms(&self) -> Vec<TimeMs> {
        let of_bump = |bump: &BumpTotals| bump.found.iter().map(|c| bump.time_ms - c.since_ms).collect::<Vec<_>>();
        let mut delays: Vec<TimeMs> = self.bumps.iter().flat_map(of_bump).collect();
        delays.sort_unstable();
        delays
    }

    /// Adds another shard's, in any order of shards. Lists must be [put in order](Totals::sort) once all are there.
    pub(super) fn add(&mut self, other: Totals) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(mine, theirs)| *mine += theirs);
        self.happened += other.happened;
        for (mine, theirs) in self.records.iter_mut().zip(other.records) {
            mine.records += theirs.records;
            mine.tombstones += theirs.tombstones;
            mine.key_bytes += theirs.key_bytes;
            mine.value_bytes += theirs.value_bytes;
            mine.batch_bytes += theirs.batch_bytes;
        }
        self.appended_bytes += other.appended_bytes;
        for kind in 0..GroupKind::ALL.len() {
            self.hash_field_bytes[kind] += other.hash_field_bytes[kind];
            self.heartbeats[kind] += other.heartbeats[kind];
        }
        for (mine, theirs) in self.timeline.iter_mut().zip(other.timeline) {
            mine.counts += &theirs.counts;
            mine.epoch_bumps += theirs.epoch_bumps;
            mine.appended_bytes += theirs.appended_bytes;
            mine.log_bytes += theirs.log_bytes;
            mine.log_peak_bytes += theirs.log_peak_bytes;
        }
        let by_size = |write: &LargeWrite| (Reverse(write.bytes), write.time_ms, write.group.clone());
        self.largest_write = self.largest_write.take().into_iter().chain(other.largest_write).min_by_key(by_size);
        let by_time = |write: &LargeWrite| (write.time_ms, write.group.clone());
        self.first_refusal = self.first_refusal.take().into_iter().chain(other.first_refusal).min_by_key(by_time);
        self.logs.extend(other.logs);
        self.shards.extend(other.shards);
        self.wrong_work.extend(other.wrong_work);
        self.loads.extend(other.loads);
        self.bumps.extend(other.bumps);
        self.effects.extend(other.effects);
        self.heap += &other.heap;
        self.missed_changes += other.missed_changes;
        self.judged_groups += other.judged_groups;
        self.unjudged_groups += other.unjudged_groups;
    }

    /// Changes missed at the end; `None` where no group could be judged.
    pub fn known_missed_changes(&self) -> Option<u64> {
        (self.judged_groups > 0 || self.unjudged_groups == 0).then_some(self.missed_changes)
    }

    /// All logs at the end.
    pub fn log_contents(&self) -> LogContents {
        let mut contents = LogContents::default();
        self.logs.iter().for_each(|log| contents += &log.contents);
        contents
    }

    /// What was committed in all logs, and what their cleaners did.
    pub fn log_totals(&self) -> LogTotals {
        let mut totals = LogTotals::default();
        self.logs.iter().for_each(|log| totals += log.done);
        totals
    }

    /// The most bytes that the logs took, all of one copy each.
    pub fn log_peak_bytes(&self) -> u64 {
        self.timeline.iter().map(|bucket| bucket.log_peak_bytes).max().unwrap_or(0)
    }

    /// Lets the threads of brokers serve what there was to do, which is then forgotten. All shards must be in order.
    pub(super) fn serve(&mut self, profile: &Profile, threads: u32, end_ms: TimeMs) {
        let tenures: Vec<&[Tenure]> = self.shards.iter().map(|shard| shard.tenures.as_slice()).collect();
        self.threads = Some(serve(&tenures, profile, threads, end_ms));
        self.shards.iter_mut().for_each(|shard| shard.tenures = Vec::new());
    }

    /// Puts what comes from several shards in order of time, at equal times of shards.
    pub(super) fn sort(&mut self) {
        self.bumps.sort_by_key(|bump| (bump.time_ms, bump.shard));
        self.effects.sort_by_key(|effect| (effect.time_ms, effect.shard));
        self.loads.sort_by_key(|load| (load.time_ms, load.shard));
        self.logs.sort_by_key(|log| log.shard);
        self.shards.sort_by_key(|shard| shard.shard);
        self.wrong_work.sort_by_key(|wrong| (wrong.time_ms, wrong.shard));
    }
}

impl std::ops::AddAssign for Happenings {
    fn add_assign(&mut self, other: Happenings) {
        self.rejected_heartbeats += other.rejected_heartbeats;
        self.unsent_heartbeats += other.unsent_heartbeats;
        self.loads += other.loads;
        self.failed_loads += other.failed_loads;
        self.writes += other.writes;
        self.refused_writes += other.refused_writes;
    }
}
