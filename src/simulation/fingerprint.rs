//! What shards did, one digest an effect, so that two runs can be compared event by event without keeping either. An effect is
//! an operation that left something behind: records (with their bytes), a bump, an error, an answer that says something new, a
//! refresh, a timer that fired, an image that made the shard forget something, a load with the timers that it starts. A
//! heartbeat that changes nothing is none, however many there are and however they are counted.

mod text;

use super::totals::{Effect, LoadTotals};
use crate::coordinator::protocol::{Assigned, HeartbeatRequest, HeartbeatResponse, TaskLists};
use crate::coordinator::{Bump, Outcome, Shard, Timer, TimerKind};
use crate::kafka::GroupKind;
use crate::kernel::TimeMs;
use crate::strategy::Work;
use std::ops::RangeInclusive;
use xxhash_rust::xxh3::xxh3_64;

/// What is wanted of the effects.
#[derive(Debug, Clone)]
pub enum Watch {
    /// Their digests.
    Digests,
    /// Also the words for those of a time.
    Texts(RangeInclusive<TimeMs>),
}

/// What made a shard do something.
#[derive(Debug, Clone, Copy)]
pub(super) enum Trigger<'t> {
    Heartbeat(&'t HeartbeatRequest),
    Timer(&'t Timer),
    Background,
}

/// Notes the effects of a shard.
#[derive(Debug)]
pub(super) struct Watcher {
    watch: Watch,
    shard: i32,
    effects: Vec<Effect>,
    content: Content,
}

impl Watcher {
    pub fn new(watch: Watch, shard: i32) -> Watcher {
        Watcher { watch, shard, effects: Vec::new(), content: Content::default() }
    }

    pub fn into_effects(self) -> Vec<Effect> {
        self.effects
    }

    /// An operation is done.
    pub fn operation(&mut self, now_ms: TimeMs, trigger: Trigger, outcome: &Outcome, shard: &Shard) {
        if !is_effect(trigger, outcome) {
            return;
        }
        self.content.begin(now_ms, self.shard);
        self.content.put_trigger(trigger, shard);
        self.content.put_outcome(outcome);
        self.note(now_ms, || text::operation(trigger, outcome));
    }

    /// An image has been published to the shard, or to its broker's memo.
    pub fn published(&mut self, now_ms: TimeMs, work: Work) {
        if work == Work::default() {
            return;
        }
        self.content.begin(now_ms, self.shard);
        self.content.put_text("image");
        self.content.put_work(work);
        self.note(now_ms, || text::published(work));
    }

    /// A new incarnation has loaded the log, which was some work.
    pub fn load(&mut self, load: &LoadTotals, work: Work, shard: &Shard) {
        self.content.begin(load.time_ms, self.shard);
        self.content.put_text("load");
        self.content.put_int(load.broker);
        [load.bytes, load.records, load.replayed_records]
            .iter()
            .for_each(|number| self.content.put(&number.to_le_bytes()));
        self.content.put_text(load.error.as_deref().unwrap_or_default());
        self.content.put_work(work);
        for (deadline_ms, timer) in shard.timers() {
            self.content.put(&deadline_ms.to_le_bytes());
            self.content.put_timer(timer);
        }
        self.note(load.time_ms, || text::load(load));
    }

    fn note(&mut self, time_ms: TimeMs, text: impl FnOnce() -> String) {
        let is_wanted = matches!(&self.watch, Watch::Texts(times) if times.contains(&time_ms));
        let text = is_wanted.then(|| text().into_boxed_str());
        self.effects.push(Effect { time_ms, shard: self.shard, digest: xxh3_64(&self.content.0), text });
    }
}

/// Whether an operation left something behind.
fn is_effect(trigger: Trigger, outcome: &Outcome) -> bool {
    let says_something = |response: &HeartbeatResponse| match trigger {
        Trigger::Heartbeat(request) => response.assignment.is_some() || response.member_epoch != request.epoch(),
        Trigger::Timer(_) | Trigger::Background => true,
    };
    matches!(trigger, Trigger::Timer(_))
        || !outcome.entries.is_empty()
        || outcome.error.is_some()
        || outcome.work != Work::default()
        || outcome.refused_bytes.is_some()
        || outcome.response.as_ref().is_some_and(says_something)
}

/// The bytes that make up an effect. Lists and texts begin with their length, so that no two effects have the same bytes.
#[derive(Debug, Default)]
struct Content(Vec<u8>);

impl Content {
    fn begin(&mut self, now_ms: TimeMs, shard: i32) {
        self.0.clear();
        self.put(&now_ms.to_le_bytes());
        self.put_int(shard);
    }

    fn put(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn put_int(&mut self, number: i32) {
        self.put(&number.to_le_bytes());
    }

    fn put_len(&mut self, len: usize) {
        self.put(&(len as u64).to_le_bytes());
    }

    fn put_flag(&mut self, flag: bool) {
        self.put(&[u8::from(flag)]);
    }

    fn put_text(&mut self, text: &str) {
        self.put_len(text.len());
        self.put(text.as_bytes());
    }

    /// A text that may be missing.
    fn put_name(&mut self, name: Option<&str>) {
        self.put_flag(name.is_some());
        self.put_text(name.unwrap_or_default());
    }

    /// Bytes that `write` adds, after their number.
    fn put_written(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let at = self.0.len();
        self.put_len(0);
        write(&mut self.0);
        let len = (self.0.len() - at - size_of::<u64>()) as u64;
        self.0[at..at + size_of::<u64>()].copy_from_slice(&len.to_le_bytes());
    }

    fn put_kind(&mut self, kind: GroupKind) {
        self.put(&[kind as u8]);
    }

    /// Who made the shard do something, and until when the timers of a member now run.
    fn put_trigger(&mut self, trigger: Trigger, shard: &Shard) {
        match trigger {
            Trigger::Heartbeat(request) => {
                self.put_text("heartbeat");
                self.put_kind(request.kind());
                self.put_text(request.group());
                self.put_text(request.member());
                self.put_int(request.epoch());
                for deadline_ms in shard.deadlines_ms(request.group(), request.member()) {
                    self.put(&deadline_ms.unwrap_or(-1).to_le_bytes());
                }
            }
            Trigger::Timer(timer) => {
                self.put_text("timer");
                self.put_timer(timer);
            }
            Trigger::Background => self.put_text("background"),
        }
    }

    fn put_timer(&mut self, timer: &Timer) {
        self.put_kind(timer.group_kind);
        self.put_text(&timer.group);
        self.put_text(&timer.member);
        self.put_int(match timer.kind {
            TimerKind::Session => -1,
            TimerKind::InitialRebalance => -2,
            TimerKind::Rebalance { member_epoch } => member_epoch,
        });
    }

    fn put_work(&mut self, work: Work) {
        work.numbers().iter().for_each(|number| self.put(&number.to_le_bytes()));
    }

    fn put_outcome(&mut self, outcome: &Outcome) {
        self.put_name(outcome.error.map(|error| error.name()));
        self.put(&outcome.refused_bytes.unwrap_or(0).to_le_bytes());
        self.put_work(outcome.work);
        self.put_flag(outcome.response.is_some());
        outcome.response.iter().for_each(|response| self.put_response(response));
        self.put_len(outcome.entries.len());
        for entry in &outcome.entries {
            self.put_written(|out| entry.record.key.encode(out));
            self.put_flag(entry.record.value.is_some());
            self.put_written(|out| entry.record.value.iter().for_each(|value| value.encode(out)));
        }
        self.put_len(outcome.bumps.len());
        outcome.bumps.iter().for_each(|bump| self.put_bump(bump));
        self.put_len(outcome.assignments.len());
        for run in &outcome.assignments {
            self.put_text(&run.group);
            self.put_int(run.epoch);
            self.put_flag(run.changed);
            [run.members, run.partitions].iter().for_each(|number| self.put(&number.to_le_bytes()));
        }
    }

    fn put_response(&mut self, response: &HeartbeatResponse) {
        self.put_int(response.member_epoch);
        self.put_int(response.heartbeat_interval_ms);
        self.put_len(response.status.len());
        response.status.iter().for_each(|status| self.put(&[*status as u8]));
        match &response.assignment {
            None => self.put(&[0]),
            Some(Assigned::Partitions(topics)) => {
                self.put(&[1]);
                self.put_len(topics.len());
                for (topic, partitions) in topics {
                    self.put(&topic.to_bytes());
                    self.put_partitions(partitions);
                }
            }
            Some(Assigned::Tasks { active, standby, warmup }) => {
                self.put(&[2]);
                [active, standby, warmup].iter().for_each(|tasks| self.put_tasks(tasks));
            }
        }
    }

    fn put_tasks(&mut self, tasks: &TaskLists) {
        self.put_len(tasks.len());
        for (subtopology, partitions) in tasks {
            self.put_text(subtopology);
            self.put_partitions(partitions);
        }
    }

    fn put_partitions(&mut self, partitions: &[i32]) {
        self.put_len(partitions.len());
        partitions.iter().for_each(|&partition| self.put_int(partition));
    }

    fn put_bump(&mut self, bump: &Bump) {
        self.put_kind(bump.kind);
        self.put_text(&bump.group);
        [bump.old_epoch, bump.new_epoch].iter().for_each(|&epoch| self.put_int(epoch));
        self.put_len(bump.causes.len());
        bump.causes.iter().for_each(|cause| self.put_text(cause.name()));
        self.put_len(bump.found.len());
        for change in &bump.found {
            self.put_text(&change.topic);
            self.put_text(change.field.name());
            self.put(&change.since_ms.to_le_bytes());
        }
        [bump.needless, bump.removes_assignment].iter().for_each(|&flag| self.put_flag(flag));
    }
}
