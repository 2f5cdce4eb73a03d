//! The log of one `__consumer_offsets` partition: what the coordinator appends, in segments, as the cleaner leaves it.
//!
//! Everything happens in order of time. What nobody asks for (cleaning, commits, files that are deleted late) is caught up with
//! before the next append, or when the log is [advanced](OffsetsLog::advance). All times are Unix times in ms.

use super::batches::{Appended, BatchRules, Batches};
use super::cleaner::{self, Cleaning};
use super::commits::Commits;
use super::segment::{BatchInfo, CommitRound, CommitRun, KeyId, Record, Segment};
use super::settings::LogSettings;
use super::sizes::{Sizes, SizesOfBucket};
use crate::kafka::batch::Lengths;
use crate::kafka::records::RecordType;
use std::collections::VecDeque;
use std::sync::Arc;

/// A record to be appended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewRecord<P> {
    /// Its key.
    pub key: KeyId,
    /// Its type; `None` is an offset commit.
    pub record_type: Option<RecordType>,
    /// The bytes of the key.
    pub key_bytes: usize,
    /// The bytes of the value; `None` is a tombstone.
    pub value_bytes: Option<usize>,
    /// How many bytes of the value are the strategy's hash.
    pub hash_bytes: u8,
    /// What else is kept of it.
    pub payload: P,
}

/// What has been done to a log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogTotals {
    /// Offset commits appended.
    pub commit_records: u64,
    /// Their batches.
    pub commit_batches: u64,
    /// The bytes of these.
    pub commit_bytes: u64,
    /// What the cleaner did.
    pub cleaned: Cleaning,
    /// Segments begun, the first one included.
    pub segments_rolled: u64,
}

impl std::ops::AddAssign for LogTotals {
    fn add_assign(&mut self, other: LogTotals) {
        self.commit_records += other.commit_records;
        self.commit_batches += other.commit_batches;
        self.commit_bytes += other.commit_bytes;
        self.cleaned += other.cleaned;
        self.segments_rolled += other.segments_rolled;
    }
}

/// See the module.
#[derive(Debug)]
pub struct OffsetsLog<P> {
    settings: LogSettings,
    batches: Batches,
    leader_epoch: i32,
    /// The records of the batch that is being filled.
    open: Vec<Record<P>>,
    open_bytes: u64,
    segments: Vec<Segment<P>>,
    /// The bytes of all segments.
    written_bytes: u64,
    next_offset: i64,
    /// The cleaner's checkpoint: what is before it has been cleaned.
    first_dirty_offset: i64,
    commits: Commits<P>,
    /// When the cleaner looks next.
    next_check_ms: i64,
    /// Replaced segments that are still on the disk: until when, and their bytes.
    replaced: VecDeque<(i64, u64)>,
    replaced_bytes: u64,
    sizes: Sizes,
    totals: LogTotals,
}

impl<P: Clone> OffsetsLog<P> {
    /// An empty log from a time on. Sizes are noted for buckets of time of this width.
    pub fn new(settings: LogSettings, rules: BatchRules, start_ms: i64, bucket_ms: i64) -> OffsetsLog<P> {
        OffsetsLog {
            batches: Batches::new(rules),
            leader_epoch: 0,
            open: Vec::new(),
            open_bytes: 0,
            segments: vec![Segment::new(0)],
            written_bytes: 0,
            next_offset: 0,
            first_dirty_offset: 0,
            commits: Commits::new(),
            next_check_ms: start_ms + settings.cleaner_backoff_ms.max(1),
            replaced: VecDeque::new(),
            replaced_bytes: 0,
            sizes: Sizes::new(start_ms, bucket_ms),
            totals: LogTotals { segments_rolled: 1, ..LogTotals::default() },
            settings,
        }
    }

    /// The settings.
    pub fn settings(&self) -> &LogSettings {
        &self.settings
    }

    /// Offsets are committed from now on, every so often.
    pub fn start_commits(&mut self, first_ms: i64, interval_ms: i64) {
        self.commits.start(first_ms, interval_ms);
    }

    /// What a member commits from now on, each time: one record for each partition; the timestamps do not matter.
    pub fn set_commits(&mut self, member: KeyId, records: Vec<Record<P>>) {
        self.commits.set(member, records);
    }

    /// Another leader writes from now on.
    pub fn end_incarnation(&mut self, rules: BatchRules, leader_epoch: i32) {
        self.flush();
        self.batches = Batches::new(rules);
        self.leader_epoch = leader_epoch;
    }

    /// An operation is about to append records with these lengths of key and value, all into one batch. Gives the bytes
    /// that this costs before the records: a batch's header if it needs a new one, else 0.
    pub fn begin(&mut self, now_ms: i64, lengths: &[Lengths]) -> u64 {
        self.advance(now_ms);
        let header_bytes = self.batches.begin(now_ms, lengths);
        if header_bytes > 0 {
            self.flush();
        }
        self.open_bytes += header_bytes;
        header_bytes
    }

    /// Appends a record of the operation that has begun. Gives where it stands in its batch.
    pub fn append(&mut self, now_ms: i64, record: NewRecord<P>) -> Appended {
        let appended = self.batches.append(now_ms, record.key_bytes, record.value_bytes);
        self.open_bytes += appended.bytes(record.key_bytes, record.value_bytes);
        self.open.push(Record {
            key: record.key,
            record_type: record.record_type,
            offset_delta: self.open.len() as i32,
            timestamp_ms: now_ms,
            key_bytes: record.key_bytes as u32,
            value_bytes: record.value_bytes.map(|bytes| bytes as u32),
            hash_bytes: record.hash_bytes,
            payload: record.payload,
        });
        self.note_size(now_ms);
        appended
    }

    /// The batch that is being filled is written.
    pub fn flush(&mut self) {
        if self.open.is_empty() {
            return;
        }
        let mut records = std::mem::take(&mut self.open);
        let info =
            BatchInfo { bytes: self.open_bytes, ..BatchInfo::new(self.next_offset, self.leader_epoch, &records) };
        self.open_bytes = 0;
        self.write(info, records.drain(..));
        self.open = records;
    }

    /// Appends a whole batch, at the end of the log.
    pub fn append_batch(&mut self, now_ms: i64, leader_epoch: i32, records: Vec<Record<P>>) {
        self.flush();
        self.advance(now_ms);
        self.write(BatchInfo::new(self.next_offset, leader_epoch, &records), records);
        self.note_size(now_ms);
    }

    fn write(&mut self, info: BatchInfo, records: impl IntoIterator<Item = Record<P>>) {
        self.roll_for(info.bytes, info.max_timestamp_ms, info.last_offset());
        self.next_offset = info.last_offset() + 1;
        self.written_bytes += info.bytes;
        self.active().push(info, records);
    }

    fn active(&mut self) -> &mut Segment<P> {
        self.segments.last_mut().expect("a log has an active segment")
    }

    /// Begins another segment if the active one must not take what comes (`LogSegment.shouldRoll`).
    fn roll_for(&mut self, bytes: u64, timestamp_ms: i64, last_offset: i64) {
        if self.must_roll(bytes, timestamp_ms, last_offset) {
            self.segments.push(Segment::new(self.next_offset));
            self.totals.segments_rolled += 1;
            // The cleaner has looked in vain until now.
            let backoff_ms = self.settings.cleaner_backoff_ms.max(1);
            let late_ms = (timestamp_ms - self.next_check_ms).max(0);
            self.next_check_ms += (late_ms + backoff_ms - 1) / backoff_ms * backoff_ms;
        }
    }

    fn must_roll(&self, bytes: u64, timestamp_ms: i64, last_offset: i64) -> bool {
        let Some(active) = self.segments.last() else { return true };
        let Some(first_ms) = active.first_batch_ms() else { return false };
        active.bytes + bytes > self.settings.segment_bytes
            || timestamp_ms - first_ms > self.settings.max_segment_ms()
            || last_offset - active.base_offset > i64::from(i32::MAX)
    }

    /// Catches up with everything that happens until a time, that time included.
    pub fn advance(&mut self, until_ms: i64) {
        if !self.batches.is_open(until_ms) {
            self.flush();
        }
        loop {
            let deletion_ms = self.replaced.front().map(|(at_ms, _)| *at_ms);
            let commit_ms = self.commits.next_ms();
            let check_ms = self.next_check_that_matters_ms();
            let Some(now_ms) = [deletion_ms, commit_ms, check_ms].into_iter().flatten().min() else { break };
            if now_ms > until_ms {
                break;
            }
            if deletion_ms == Some(now_ms) {
                self.replaced_bytes -= self.replaced.pop_front().map_or(0, |(_, bytes)| bytes);
            } else if commit_ms == Some(now_ms) {
                let before_ms = [deletion_ms, check_ms].into_iter().flatten().min();
                self.commit(now_ms, before_ms.map_or(until_ms, |before_ms| until_ms.min(before_ms)));
            } else {
                self.check(now_ms);
            }
            self.note_size(now_ms);
        }
    }

    /// The log's bytes, the batch that is being filled included.
    pub fn bytes(&self) -> u64 {
        self.written_bytes + self.open_bytes
    }

    /// The segments; the last one is the active one. What is being filled is not in them.
    pub fn segments(&self) -> &[Segment<P>] {
        &self.segments
    }

    /// The offset of the next record.
    pub fn next_offset(&self) -> i64 {
        self.next_offset
    }

    /// What was done so far.
    pub fn totals(&self) -> LogTotals {
        self.totals
    }

    /// The sizes until a time.
    pub fn finish_sizes(&mut self, end_ms: i64) -> Vec<SizesOfBucket> {
        self.advance(end_ms - 1);
        self.note_size(end_ms - 1);
        self.sizes.take()
    }

    fn note_size(&mut self, now_ms: i64) {
        let bytes = self.bytes();
        self.sizes.note(now_ms, bytes, bytes + self.replaced_bytes);
    }

    /// Writes the commits of a time, and of those after it that come until another one.
    fn commit(&mut self, now_ms: i64, until_ms: i64) {
        let round = self.commits.round();
        let interval_ms = self.commits.interval_ms();
        let bucket_end_ms = self.sizes.bucket_end_ms(now_ms) - 1;
        let due = (until_ms.min(bucket_end_ms) - now_ms) / interval_ms + 1;
        let mut rounds = due.max(1) as u64;
        if round.records > 0 {
            let last_ms = |rounds: u64| now_ms + (rounds as i64 - 1) * interval_ms;
            let fits = |rounds: u64, log: &Self| {
                let last_offset = log.next_offset + (rounds * round.records) as i64 - 1;
                !log.must_roll(rounds * round.bytes, last_ms(rounds), last_offset)
            };
            let room = self.settings.segment_bytes.saturating_sub(self.active().bytes) / round.bytes;
            rounds = rounds.min(room.max(1));
            if !fits(rounds, self) {
                rounds = 1;
            }
            match fits(rounds, self) && room > 0 {
                true => self.push_commits(now_ms, rounds, &round),
                false => self.write_commits(now_ms, &round),
            }
            self.totals.commit_records += rounds * round.records;
            self.totals.commit_batches += rounds * round.batches.len() as u64;
            self.totals.commit_bytes += rounds * round.bytes;
        }
        self.commits.done(rounds);
    }

    fn push_commits(&mut self, now_ms: i64, rounds: u64, round: &Arc<CommitRound<P>>) {
        let run = CommitRun {
            round: round.clone(),
            rounds,
            base_offset: self.next_offset,
            first_ms: now_ms,
            interval_ms: self.commits.interval_ms(),
            leader_epoch: self.leader_epoch,
        };
        self.next_offset = run.next_offset();
        self.written_bytes += rounds * round.bytes;
        self.active().push_commits(run);
    }

    /// A round in whose midst a segment ends is written batch by batch.
    fn write_commits(&mut self, now_ms: i64, round: &CommitRound<P>) {
        for batch in &round.batches {
            let records: Vec<Record<P>> =
                batch.iter().map(|record| Record { timestamp_ms: now_ms, ..record.clone() }).collect();
            self.write(BatchInfo::new(self.next_offset, self.leader_epoch, &records), records);
        }
    }

    /// When the cleaner looks next, if there is something to look at: it never cleans the active segment.
    fn next_check_that_matters_ms(&self) -> Option<i64> {
        let active = self.segments.last()?;
        let is_stopped = self.settings.cleaner_stops_at_ms.is_some_and(|stops_at_ms| stops_at_ms <= self.next_check_ms);
        (self.first_dirty_offset < active.base_offset && !is_stopped).then_some(self.next_check_ms)
    }

    /// The cleaner looks at the log, and cleans it until it is clean enough.
    fn check(&mut self, now_ms: i64) {
        self.next_check_ms = now_ms + self.settings.cleaner_backoff_ms.max(1);
        while cleaner::is_due(&self.segments, self.first_dirty_offset, &self.settings, now_ms) {
            let before = self.first_dirty_offset;
            self.clean(now_ms);
            if self.first_dirty_offset == before {
                // An offset map without room for a single key; Kafka does not start with one.
                break;
            }
        }
    }

    /// Cleans the log once, whether or not the cleaner would (`Cleaner.clean`).
    pub fn clean(&mut self, now_ms: i64) -> Cleaning {
        let (cleaning, end_offset) =
            cleaner::clean(&mut self.segments, self.first_dirty_offset, &self.settings, now_ms);
        self.first_dirty_offset = end_offset;
        self.totals.cleaned += cleaning;
        self.written_bytes = self.written_bytes + cleaning.written_bytes - cleaning.replaced_bytes;
        self.replaced_bytes += cleaning.replaced_bytes;
        self.replaced.push_back((now_ms + self.settings.file_delete_delay_ms, cleaning.replaced_bytes));
        self.note_size(now_ms);
        cleaning
    }
}
