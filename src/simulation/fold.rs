//! Folds what a shard does into totals.

use super::subject::Subject;
use super::totals::{Bucket, BumpTotals, Totals};
use crate::cluster::{History, ImageNumber};
use crate::coordinator::{AssignorRun, Bump, Entry, FoundChange, Outcome};
use crate::disk::{BatchRules, Batches};
use crate::kafka::JString;
use crate::kafka::records::{GroupMetadata, Value};
use crate::kernel::TimeMs;
use crate::kernel::lookup::Lookup;
use crate::strategy::Work;
use std::sync::Arc;

/// The totals of a shard in the making.
#[derive(Debug)]
pub struct Fold<'h> {
    history: &'h History,
    shard: i32,
    timeline_ms: TimeMs,
    batches: Batches,
    totals: Totals,
    /// The bumps of a group that no assignor run has judged yet.
    unjudged: Lookup<JString, Vec<usize>>,
}

impl<'h> Fold<'h> {
    /// Nothing yet of a shard.
    pub fn new(subject: &Subject<'h>, shard: i32) -> Fold<'h> {
        Fold {
            history: subject.history,
            shard,
            timeline_ms: subject.timeline_ms,
            batches: Batches::new(subject.batch_rules_at(None, 0)),
            totals: Totals::new(subject.num_buckets()),
            unjudged: Lookup::new(),
        }
    }

    /// The totals, to count what is not an outcome.
    pub fn totals_mut(&mut self) -> &mut Totals {
        &mut self.totals
    }

    /// Another incarnation writes to the log from now on.
    pub fn end_incarnation(&mut self, rules: BatchRules) {
        self.batches = Batches::new(rules);
    }

    /// What is done at a time outside any outcome.
    pub fn add_work(&mut self, now_ms: TimeMs, work: Work) {
        let bucket = self.bucket(now_ms);
        bucket.refreshes += work.refreshes;
        bucket.topic_hashes += work.topic_hashes;
        self.totals.work += work;
    }

    /// A request reached the coordinator.
    pub fn add_heartbeat(&mut self, now_ms: TimeMs, outcome: &Outcome) {
        self.bucket(now_ms).heartbeats += 1;
        self.totals.operations.heartbeats += 1;
        self.totals.operations.rejected_heartbeats += u64::from(outcome.error.is_some());
    }

    /// What an operation did. `event` says what the member did that it is about.
    pub fn add_outcome(&mut self, now_ms: TimeMs, outcome: &Outcome, event: &Arc<str>) {
        self.add_work(now_ms, outcome.work);
        if !outcome.entries.is_empty() {
            self.add_records(now_ms, &outcome.entries);
        }
        for bump in &outcome.bumps {
            self.add_bump(now_ms, bump, event);
        }
        for run in &outcome.assignments {
            self.add_assignor_run(run);
        }
    }

    /// The finished totals.
    pub fn finish(self) -> Totals {
        self.totals
    }

    fn bucket(&mut self, now_ms: TimeMs) -> &mut Bucket {
        &mut self.totals.timeline[(now_ms / self.timeline_ms) as usize]
    }

    fn add_records(&mut self, now_ms: TimeMs, entries: &[Entry]) {
        let lengths: Vec<(usize, Option<usize>)> = entries
            .iter()
            .map(|entry| (entry.record.key.encoded_len(), entry.record.value.as_ref().map(Value::encoded_len)))
            .collect();
        self.totals.operations.writes += 1;
        self.totals.operations.oversized_writes += u64::from(self.batches.is_too_large(&lengths));
        let header_bytes = self.batches.begin(now_ms, &lengths);
        self.totals.operations.batches += u64::from(header_bytes > 0);
        let mut appended_bytes = header_bytes;
        for (entry, &(key_bytes, value_bytes)) in entries.iter().zip(&lengths) {
            let place = self.batches.append(now_ms, key_bytes, value_bytes);
            let bytes = place.bytes(key_bytes, value_bytes);
            appended_bytes += bytes;
            if let Some(without_hash) = len_without_hash(entry.record.value.as_ref()) {
                self.totals.hash_field_bytes += bytes - place.bytes(key_bytes, Some(without_hash));
            }
            let of_type = self.totals.of_mut(entry.record.key.record_type);
            of_type.records += 1;
            of_type.tombstones += u64::from(value_bytes.is_none());
            of_type.key_bytes += key_bytes as u64;
            of_type.value_bytes += value_bytes.unwrap_or(0) as u64;
            of_type.batch_bytes += bytes;
        }
        self.totals.appended_bytes += appended_bytes;
        self.bucket(now_ms).appended_bytes += appended_bytes;
    }

    fn add_bump(&mut self, now_ms: TimeMs, bump: &Bump, event: &Arc<str>) {
        self.bucket(now_ms).epoch_bumps += 1;
        let event = self.event_of(&bump.found).unwrap_or_else(|| event.clone());
        if !bump.removes_assignment {
            let index = self.totals.bumps.len();
            self.unjudged.get_or_insert_with(bump.group.clone(), Vec::new).push(index);
        }
        self.totals.bumps.push(BumpTotals {
            time_ms: now_ms,
            shard: self.shard,
            group: bump.group.clone(),
            old_epoch: bump.old_epoch,
            new_epoch: bump.new_epoch,
            causes: bump.causes.clone(),
            found: bump.found.clone(),
            event,
            needless: bump.needless,
            assignment_changed: bump.removes_assignment.then_some(true),
        });
    }

    /// A run judges all bumps since the one before it.
    fn add_assignor_run(&mut self, run: &AssignorRun) {
        self.totals.operations.assignor_runs += 1;
        self.totals.operations.assigned_members += run.members;
        self.totals.operations.assigned_partitions += run.partitions;
        let Some(unjudged) = self.unjudged.get_mut(&run.group) else { return };
        let bumps = &mut self.totals.bumps;
        unjudged.retain(|&index| {
            let is_covered = bumps[index].new_epoch <= run.epoch;
            if is_covered {
                bumps[index].assignment_changed = Some(run.changed);
            }
            !is_covered
        });
    }

    /// The word of the image that brought the earliest of these changes.
    fn event_of(&self, found: &[FoundChange]) -> Option<Arc<str>> {
        let first = found.iter().min_by_key(|change| change.since_ms)?;
        let topic = self.history.index_of(&first.topic)?;
        let images = first_image_at(self.history, first.since_ms)..=self.history.last_image();
        let image =
            images.map(|number| self.history.image(number)).find(|image| image.hash_changed.contains(&topic))?;
        Some(image.event.clone())
    }
}

/// The first image of that time or later.
fn first_image_at(history: &History, time_ms: TimeMs) -> ImageNumber {
    let (mut low, mut high) = (1, history.last_image() + 1);
    while low < high {
        let middle = low + (high - low) / 2;
        if history.image(middle).time_ms < time_ms {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

/// The length that a group's metadata record would have without its hash.
fn len_without_hash(value: Option<&Value>) -> Option<usize> {
    match value {
        Some(Value::GroupMetadata(metadata)) => {
            Some(Value::GroupMetadata(GroupMetadata { metadata_hash: 0, ..*metadata }).encoded_len())
        }
        _ => None,
    }
}
