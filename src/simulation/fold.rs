//! Folds what a shard does into totals.

use super::clients::IdleHeartbeats;
use super::commits::Committers;
use super::evidence::{self, Written};
use super::fingerprint::{Watch, Watcher};
use super::subject::Subject;
use super::totals::{Bucket, BumpTotals, LargeWrite, LoadTotals, ShardLog, ShardWork, Totals, WrongWork};
use crate::cluster::{History, ImageNumber};
use crate::coordinator::{AssignorRun, Bump, Entry, FoundChange, Outcome, Shard};
use crate::cost::{Counts, Operation, Profile, Tenure, Trigger};
use crate::disk::segment_file::RecordBytes;
use crate::disk::{BatchRules, KeyId, Keys, LogContents, NewRecord, OffsetsLog, Record};
use crate::kafka::batch::{Lengths, batch_len};
use crate::kafka::records::offsets::OffsetsRecord;
use crate::kafka::records::{Key, RecordType, Value};
use crate::kafka::{GroupKind, JString};
use crate::kernel::TimeMs;
use crate::kernel::lookup::Lookup;
use crate::strategy::Work;
use std::sync::Arc;

/// What the log keeps of a record beside its numbers: all of it, where an incarnation may still load it.
pub(super) type Kept = Option<Arc<Entry>>;

/// The keys of the log, offset commits apart.
pub(super) type LogKeys = Keys<Key>;

/// The totals of a shard in the making.
#[derive(Debug)]
pub struct Fold<'h> {
    history: &'h History,
    shard: i32,
    timeline_ms: TimeMs,
    start_unix_ms: i64,
    log: OffsetsLog<Kept>,
    keys: LogKeys,
    /// Whether an incarnation will still load the log.
    keeps_entries: bool,
    /// Whether the log's bytes are wanted in the end.
    keeps_bytes: bool,
    committers: Option<Committers<'h>>,
    commit_value_bytes: u32,
    /// What there was to do while each broker led the shard, and what operations take, where it is modelled how long they wait.
    tenures: Vec<Tenure>,
    waiting: Option<&'h Profile>,
    /// Whether what is modelled is also really done.
    does_work: bool,
    totals: Totals,
    watcher: Option<Watcher>,
    /// The bumps of a group that no assignor run has judged yet.
    unjudged: Lookup<JString, Vec<usize>>,
    /// The last bump of each group: what the group writes from then on is because of it.
    last_bump: Lookup<JString, usize>,
}

impl<'h> Fold<'h> {
    /// Nothing yet of a shard.
    pub fn new(subject: &Subject<'h>, shard: i32) -> Fold<'h> {
        Fold {
            history: subject.history,
            shard,
            timeline_ms: subject.timeline_ms,
            start_unix_ms: subject.start_unix_ms,
            log: subject.new_log(),
            keys: Keys::default(),
            keeps_entries: true,
            keeps_bytes: false,
            committers: subject.log.commit_interval_ms.map(|_| Committers::new(subject.history)),
            commit_value_bytes: subject.kafka.behaviour().offset_commit_value_bytes,
            tenures: Vec::new(),
            waiting: subject.waiting,
            does_work: subject.does_work,
            totals: Totals::new(subject.num_buckets()),
            watcher: None,
            unjudged: Lookup::new(),
            last_bump: Lookup::new(),
        }
    }

    /// The totals, to count what is not an outcome.
    pub fn totals_mut(&mut self) -> &mut Totals {
        &mut self.totals
    }

    /// Another incarnation, on that broker, writes to the log from now on. `is_last`: none will load what it writes.
    pub fn end_incarnation(
        &mut self,
        now_ms: TimeMs,
        broker: Option<i32>,
        rules: BatchRules,
        leader_epoch: i32,
        is_last: bool,
    ) {
        self.tenures.push(Tenure { broker, ..Tenure::default() });
        self.log.end_incarnation(rules, leader_epoch);
        self.log.advance(self.start_unix_ms + now_ms);
        self.keeps_entries = !is_last || self.keeps_bytes;
    }

    /// Effects are to be noted. To be said before anything happens.
    pub fn watch(&mut self, watch: &Watch) {
        self.watcher = Some(Watcher::new(watch.clone(), self.shard));
    }

    /// Who notes effects, if anybody.
    pub fn watcher_mut(&mut self) -> Option<&mut Watcher> {
        self.watcher.as_mut()
    }

    /// The log's bytes are wanted in the end. To be said before anything happens.
    pub fn keep_bytes(&mut self) {
        self.keeps_bytes = true;
        self.committers.iter_mut().for_each(Committers::keep_names);
    }

    /// The segments' files at the end of the run, each with its first offset.
    pub fn into_files(mut self, end_ms: TimeMs) -> Vec<(i64, Vec<u8>)> {
        self.log.flush();
        self.log.advance(self.start_unix_ms + end_ms - 1);
        let bytes_of = |record: &Record<Kept>| self.bytes_of(record);
        self.log.segments().iter().map(|segment| (segment.base_offset, segment.to_file(bytes_of))).collect()
    }

    fn bytes_of(&self, record: &Record<Kept>) -> RecordBytes {
        let mut key = Vec::new();
        if let Some(entry) = &record.payload {
            entry.record.key.encode(&mut key);
            let value = entry.record.value.as_ref().map(|value| {
                let mut bytes = Vec::new();
                value.encode(&mut bytes);
                bytes
            });
            return RecordBytes { key, value };
        }
        let commit = self.committers.as_ref().and_then(|committers| committers.record_of(record));
        let (name, value) = commit.expect("all entries and the names of all offsets are kept");
        let record = OffsetsRecord::Offset { key: name, value: Some(value) };
        record.encode_key(&mut key);
        RecordBytes { key, value: record.encode_value() }
    }

    /// A new incarnation has loaded the log.
    pub fn add_load(&mut self, load: LoadTotals, work: Work, shard: &Shard) {
        let happened = &mut self.totals.happened;
        happened.loads += 1;
        happened.failed_loads += u64::from(load.error.is_some());
        self.watcher.iter_mut().for_each(|watcher| watcher.load(&load, work, shard));
        let mut counts = Counts::of(Operation::RecordLoaded, load.replayed_records);
        counts.add(Operation::ByteLoaded, load.bytes);
        counts.add_work(&work);
        self.count(load.time_ms, Trigger::Load, &counts);
        self.totals.loads.push(load);
    }

    /// The log.
    pub fn log(&self) -> &OffsetsLog<Kept> {
        &self.log
    }

    /// An image whose delta has so many topics has been published.
    pub fn add_image(&mut self, now_ms: TimeMs, topics: usize, work: Work) {
        self.watcher.iter_mut().for_each(|watcher| watcher.published(now_ms, work));
        let mut counts = Counts::of(Operation::ImagePublished, 1);
        counts.add(Operation::ImageTopic, topics as u64);
        counts.add_work(&work);
        self.count(now_ms, Trigger::Image, &counts);
        self.add_job(now_ms, &counts);
    }

    /// An image has made a broker's remembered hashes go.
    pub fn add_broker_memo(&mut self, now_ms: TimeMs, work: Work) {
        self.watcher.iter_mut().for_each(|watcher| watcher.published(now_ms, work));
        let mut counts = Counts::default();
        counts.add_work(&work);
        self.count(now_ms, Trigger::Image, &counts);
    }

    /// A coordinator thread has something to do.
    fn add_job(&mut self, now_ms: TimeMs, counts: &Counts) {
        if let (Some(profile), Some(tenure)) = (self.waiting, self.tenures.last_mut()) {
            tenure.jobs.push(now_ms, profile.time_ns(counts));
        }
    }

    /// Heartbeats find nothing to do.
    fn add_idle(&mut self, heartbeats: u64) {
        self.tenures.last_mut().into_iter().for_each(|tenure| tenure.idle_heartbeats += heartbeats);
    }

    fn count(&mut self, now_ms: TimeMs, trigger: Trigger, counts: &Counts) {
        self.bucket(now_ms).counts += counts;
        self.totals.counts[trigger as usize] += counts;
    }

    /// A request reached the coordinator.
    pub fn add_heartbeat(&mut self, now_ms: TimeMs, kind: GroupKind, outcome: &Outcome) {
        self.totals.heartbeats[kind as usize] += 1;
        self.totals.happened.rejected_heartbeats += u64::from(outcome.error.is_some());
        self.count(now_ms, Trigger::Heartbeat, &Counts::of(Operation::Heartbeat, 1));
    }

    /// Heartbeats that were not processed.
    pub fn add_idle_heartbeats(&mut self, kind: GroupKind, idle: &IdleHeartbeats) {
        self.totals.heartbeats[kind as usize] += idle.count as u64;
        self.add_idle(idle.count as u64);
        let (mut next_ms, mut left) = (idle.first_ms, idle.count);
        while left > 0 {
            let bucket_end_ms = (next_ms / self.timeline_ms + 1) * self.timeline_ms;
            let in_bucket = ((bucket_end_ms - next_ms + idle.interval_ms - 1) / idle.interval_ms).min(left);
            self.count(next_ms, Trigger::Heartbeat, &Counts::of(Operation::Heartbeat, in_bucket as u64));
            next_ms += in_bucket * idle.interval_ms;
            left -= in_bucket;
        }
    }

    /// What an operation did, and what made it do that. `event` says what the member did that it is about.
    pub fn add_outcome(&mut self, now_ms: TimeMs, trigger: Trigger, outcome: &Outcome, event: &Arc<str>) {
        let mut counts = Counts::default();
        match trigger {
            Trigger::Timer => counts.add(Operation::Timer, 1),
            Trigger::Background => counts.add(Operation::BackgroundTask, 1),
            Trigger::Heartbeat | Trigger::Image | Trigger::Load => {}
        }
        counts.add_outcome(outcome);
        if let (Some(bytes), Some(group)) = (outcome.refused_bytes, &outcome.group) {
            self.totals.happened.refused_writes += 1;
            self.totals.first_refusal.get_or_insert(LargeWrite { bytes, time_ms: now_ms, group: group.clone() });
        }
        self.check_work(now_ms, outcome);
        let mut written = Vec::new();
        if !outcome.entries.is_empty() {
            let begins_batch = self.add_records(now_ms, &outcome.entries, &outcome.lengths, &mut written);
            counts.add(Operation::Batch, u64::from(begins_batch));
        }
        self.count(now_ms, trigger, &counts);
        if trigger == Trigger::Heartbeat {
            if counts == Counts::default() {
                self.add_idle(1);
            } else {
                counts.add(Operation::Heartbeat, 1);
            }
        }
        if counts != Counts::default() {
            self.add_job(now_ms, &counts);
        }
        for bump in &outcome.bumps {
            self.add_bump(now_ms, bump, event);
        }
        if let Some(&bump) = outcome.group.as_ref().and_then(|group| self.last_bump.get(group)) {
            let bump = &mut self.totals.bumps[bump];
            let all = if outcome.bumps.is_empty() { &mut bump.followed } else { &mut bump.wrote };
            written.into_iter().for_each(|records| evidence::add(all, records));
        }
        for run in &outcome.assignments {
            self.add_assignor_run(run);
        }
    }

    /// The finished totals, at the end of the run.
    pub fn finish(mut self, end_ms: TimeMs, mut shard: ShardLog) -> Totals {
        self.log.flush();
        let sizes = self.log.finish_sizes(self.start_unix_ms + end_ms);
        shard.peak_bytes = sizes.iter().map(|size| size.peak_bytes).max().unwrap_or(0);
        let last = sizes.last().copied().unwrap_or_default();
        for (bucket, size) in self.totals.timeline.iter_mut().zip(sizes.into_iter().chain(std::iter::repeat(last))) {
            bucket.log_bytes = size.log_bytes;
            bucket.log_peak_bytes = size.peak_bytes;
        }
        shard.done = self.log.totals();
        shard.contents = LogContents::of(self.log.segments());
        shard.appended_bytes = self.totals.appended_bytes;
        self.totals.shards.push(ShardWork {
            shard: shard.shard,
            broker: shard.broker,
            counts: self.totals.all_counts(),
            tenures: if self.waiting.is_some() { self.tenures } else { Vec::new() },
            epoch_bumps: self.totals.bumps.len() as u64,
        });
        self.totals.logs.push(shard);
        self.totals.effects = self.watcher.map(Watcher::into_effects).unwrap_or_default();
        self.totals
    }

    fn bucket(&mut self, now_ms: TimeMs) -> &mut Bucket {
        &mut self.totals.timeline[(now_ms / self.timeline_ms) as usize]
    }

    /// Notes where work that was really done came to something else. Records are really encoded here.
    fn check_work(&mut self, now_ms: TimeMs, outcome: &Outcome) {
        if !self.does_work {
            return;
        }
        let shard = self.shard;
        let wrong = outcome.wrong.iter().cloned();
        let encoded = outcome.entries.iter().zip(&outcome.lengths).filter_map(|(entry, &lengths)| {
            let (mut key, mut value) = (Vec::new(), Vec::new());
            entry.record.key.encode(&mut key);
            entry.record.value.iter().for_each(|filled| filled.encode(&mut value));
            let real = (key.len(), entry.record.value.as_ref().map(|_| value.len()));
            let name = entry.record.key.record_type.name();
            (real != lengths).then(|| format!("the bytes of a {name}: modelled {lengths:?}, really {real:?}"))
        });
        let wrong = wrong.chain(encoded).map(|what| WrongWork { time_ms: now_ms, shard, what });
        self.totals.wrong_work.extend(wrong);
    }

    /// Appends records, and says of which types; says whether they begin a batch.
    fn add_records(
        &mut self,
        now_ms: TimeMs,
        entries: &[Entry],
        lengths: &[Lengths],
        written: &mut Vec<Written>,
    ) -> bool {
        self.totals.happened.writes += 1;
        let bytes = batch_len(lengths);
        if self.totals.largest_write.as_ref().is_none_or(|largest| largest.bytes < bytes) {
            let group = entries.first().map(|entry| entry.record.key.group.clone()).unwrap_or_default();
            self.totals.largest_write = Some(LargeWrite { bytes, time_ms: now_ms, group });
        }
        let unix_ms = self.start_unix_ms + now_ms;
        let header_bytes = self.log.begin(unix_ms, lengths);
        let mut appended_bytes = header_bytes;
        for (entry, &(key_bytes, value_bytes)) in entries.iter().zip(lengths) {
            let hash_bytes = entry.record.value.as_ref().map_or(0, Value::hash_bytes);
            let key = self.keys.id(&entry.record.key);
            let record = NewRecord {
                key,
                record_type: Some(entry.record.key.record_type),
                key_bytes,
                value_bytes,
                hash_bytes: hash_bytes as u8,
                payload: self.keeps_entries.then(|| Arc::new(entry.clone())),
            };
            let place = self.log.append(unix_ms, record);
            let bytes = place.bytes(key_bytes, value_bytes);
            appended_bytes += bytes;
            let kind = entry.record.key.record_type.kind();
            self.totals.hash_field_bytes[kind as usize] +=
                bytes - place.bytes(key_bytes, value_bytes.map(|bytes| bytes - hash_bytes));
            self.follow_commits(entry, key);
            let of_type = self.totals.of_mut(entry.record.key.record_type);
            of_type.records += 1;
            of_type.tombstones += u64::from(value_bytes.is_none());
            of_type.key_bytes += key_bytes as u64;
            of_type.value_bytes += value_bytes.unwrap_or(0) as u64;
            of_type.batch_bytes += bytes;
            evidence::add(written, Written { record_type: entry.record.key.record_type, records: 1, bytes });
        }
        self.totals.appended_bytes += appended_bytes;
        self.bucket(now_ms).appended_bytes += appended_bytes;
        header_bytes > 0
    }

    /// Who owns partitions commits their offsets.
    fn follow_commits(&mut self, entry: &Entry, key: KeyId) {
        let Some(committers) = &mut self.committers else { return };
        if entry.record.key.record_type == RecordType::ConsumerGroupCurrentMemberAssignment {
            let member = (key, &entry.record.key.group);
            let value = entry.record.value.as_ref();
            committers.follow(&mut self.log, &mut self.keys, member, value, self.commit_value_bytes);
        }
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
            kind: bump.kind,
            group: bump.group.clone(),
            old_epoch: bump.old_epoch,
            new_epoch: bump.new_epoch,
            causes: bump.causes.clone(),
            found: bump.found.clone(),
            event,
            needless: bump.needless,
            assignment_changed: bump.removes_assignment.then_some(true),
            values: bump.found.iter().map(|change| evidence::values_of(self.history, change, now_ms)).collect(),
            wrote: Vec::new(),
            followed: Vec::new(),
        });
        self.last_bump.insert(bump.group.clone(), self.totals.bumps.len() - 1);
    }

    /// A run judges all bumps since the one before it.
    fn add_assignor_run(&mut self, run: &AssignorRun) {
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
pub(super) fn first_image_at(history: &History, time_ms: TimeMs) -> ImageNumber {
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
