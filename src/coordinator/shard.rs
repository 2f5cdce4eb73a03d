//! A coordinator shard: the groups of one `__consumer_offsets` partition on the broker that leads it. A pure state
//! machine (`GroupMetadataManager` with what `CoordinatorRuntime` does around it): no clock, no I/O, no chance.

use super::behaviour::Behaviour;
use super::config::Config;
use super::effects::Outcome;
use super::group::{Group, OfKind, ReplayError};
use super::log::Entry;
use super::operation::{Background, Operation, Refusal, TimerChange};
use super::protocol::{HeartbeatError, HeartbeatRequest, HeartbeatResponse};
use super::replay::Replay;
use super::share::SharePartitionStates;
use super::timer::{Timer, TimerKind, Timers};
use crate::cluster::{History, ImageNumber};
use crate::kafka::batch::{Lengths, batch_len};
use crate::kafka::java::{TimelineMap, TimelineSet};
use crate::kafka::records::Value;
use crate::kafka::{GroupKind, JString, Uuid};
use crate::kernel::TimeMs;
use crate::strategy::{Design, Memo, MemoTable, Work};
use std::collections::VecDeque;
use std::sync::Arc;

/// How long a timer waits that failed (`CoordinatorTimer.schedule`).
const TIMER_RETRY_BACKOFF_MS: TimeMs = 500;

/// The number of the write that a load counts as.
pub const LOADING: u64 = 0;

/// The groups of a shard.
pub(super) type Groups = TimelineMap<JString, Group>;

/// How far the share partitions of each share group are (`shareGroupStatePartitionMetadata`).
pub(super) type SharePartitions = TimelineMap<JString, Arc<SharePartitionStates>>;

/// Which groups subscribe to a topic (`groupsByTopics`).
#[derive(Debug)]
pub(super) struct Topics {
    pub(super) groups: TimelineMap<JString, TimelineSet<JString>>,
    /// Whether the last group that leaves a topic takes its remembered hash along.
    evicts: bool,
}

impl Topics {
    fn new(design: Design) -> Topics {
        Topics { groups: TimelineMap::new(0), evicts: design.memo() == Memo::Shard }
    }

    pub(super) fn subscribe(&mut self, group: &JString, topic: &JString, write: u64) {
        if self.groups.get(topic).is_none() {
            self.groups.insert(topic.clone(), TimelineSet::new(1), write);
        }
        if let Some(groups) = self.groups.get_mut(topic) {
            groups.insert(group.clone(), write);
        }
    }

    pub(super) fn unsubscribe(
        &mut self,
        group: &JString,
        topic: &JString,
        write: u64,
        memo: &mut MemoTable,
        work: &mut Work,
    ) {
        let Some(groups) = self.groups.get_mut(topic) else { return };
        groups.remove(group, write);
        if groups.is_empty() {
            self.groups.remove(topic, write);
            if self.evicts {
                memo.forget(topic, work);
            }
        } else {
            self.groups.touch(topic, write);
        }
    }
}

/// What a shard is told once.
#[derive(Debug, Clone)]
pub struct ShardSettings {
    /// What the Kafka version does.
    pub behaviour: Behaviour,
    /// The broker's configuration.
    pub config: Config,
    /// How changed topics are noticed.
    pub design: Design,
    /// The Unix time of time 0, in ms.
    pub start_unix_ms: i64,
    /// `max.message.bytes` of the log: an operation whose records need a larger batch fails. `None`: there is no limit.
    pub max_batch_bytes: Option<u64>,
    /// Whether what a strategy is said to do is also really done, and compared.
    pub does_work: bool,
}

/// A coordinator shard.
#[derive(Debug)]
pub struct Shard<'h> {
    pub(super) settings: ShardSettings,
    pub(super) history: &'h History,
    pub(super) image: ImageNumber,
    pub(super) loaded_at_image: ImageNumber,
    pub(super) groups: Groups,
    pub(super) topics: Topics,
    pub(super) memo: MemoTable,
    pub(super) timers: Timers,
    pub(super) background: VecDeque<Background>,
    pub(super) share_partitions: SharePartitions,
    /// The last image with new topics, for regular expressions.
    pub(super) last_image_with_new_topics: i64,
    /// The number of the write operation at hand.
    pub(super) write: u64,
    /// How often it went back to the last committed write.
    pub(super) reverts: u64,
    active: bool,
}

/// A compacted log that this version cannot load.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the shard could not be loaded: {0}")]
pub struct LoadError(pub ReplayError);

impl<'h> Shard<'h> {
    /// An empty shard at the empty image.
    pub fn new(settings: ShardSettings, history: &'h History) -> Shard<'h> {
        Shard {
            topics: Topics::new(settings.design),
            settings,
            history,
            image: 0,
            loaded_at_image: 0,
            groups: TimelineMap::new(0),
            memo: MemoTable::default(),
            timers: Timers::default(),
            background: VecDeque::new(),
            share_partitions: TimelineMap::new(0),
            last_image_with_new_topics: 0,
            write: LOADING + 1,
            reverts: 0,
            active: true,
        }
    }

    /// The incarnation that loads a log, oldest record first, at a time, with the image that is then current.
    ///
    /// # Errors
    /// Some versions cannot load every compacted log; nothing answers until another incarnation loads it.
    pub fn load<'l>(
        settings: ShardSettings,
        history: &'h History,
        log: impl IntoIterator<Item = &'l Entry>,
        image: ImageNumber,
        now_ms: TimeMs,
        work: &mut Work,
    ) -> (Shard<'h>, Option<LoadError>) {
        let mut shard = Shard { write: LOADING, ..Shard::new(settings, history) };
        for entry in log {
            if let Err(error) = shard.replay(entry, now_ms, work) {
                let mut failed = Shard::new(shard.settings, history);
                failed.active = false;
                failed.image = image;
                return (failed, Some(LoadError(error)));
            }
        }
        shard.write += 1;
        shard.image = image;
        shard.loaded_at_image = image;
        shard.last_image_with_new_topics = i64::from(image);
        shard.schedule_loaded_timers(now_ms);
        (shard, None)
    }

    /// Whether the shard answers.
    pub fn is_active(&self) -> bool {
        self.active
    }

    /// The image that the shard knows.
    pub fn image(&self) -> ImageNumber {
        self.image
    }

    /// A group.
    pub fn group(&self, id: &str) -> Option<&Group> {
        self.groups.get(id)
    }

    /// The group of that id; one of another kind is none.
    pub(super) fn group_of<G: OfKind>(&self, id: &str) -> Option<&G> {
        self.groups.get(id).and_then(G::of)
    }

    /// All groups, in Kafka's order.
    pub fn groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.values()
    }

    /// What it was told.
    pub fn settings(&self) -> &ShardSettings {
        &self.settings
    }

    /// The metadata that it looks at.
    pub fn history(&self) -> &'h History {
        self.history
    }

    /// All groups by id.
    pub fn groups_by_id(&self) -> &TimelineMap<JString, Group> {
        &self.groups
    }

    /// Which groups subscribe to each topic.
    pub fn groups_by_topic(&self) -> &TimelineMap<JString, TimelineSet<JString>> {
        &self.topics.groups
    }

    /// How far the share partitions of each share group are.
    pub fn share_partitions(&self) -> &TimelineMap<JString, Arc<SharePartitionStates>> {
        &self.share_partitions
    }

    /// Whether anything has been written since it was loaded.
    pub fn has_written(&self) -> bool {
        self.write > LOADING + 1
    }

    /// The remembered topic hashes.
    pub fn memo(&self) -> &MemoTable {
        &self.memo
    }

    /// The remembered topic hashes, which a broker may share between its shards.
    pub fn memo_mut(&mut self) -> &mut MemoTable {
        &mut self.memo
    }

    /// A member's heartbeat. With `fail` its records cannot be written.
    pub fn heartbeat(&mut self, now_ms: TimeMs, request: &HeartbeatRequest, fail: bool) -> Outcome {
        if let HeartbeatRequest::Share(request) = request
            && self.active
        {
            self.add_joining_share_member(request);
        }
        self.write_operation(now_ms, fail, |shard, operation| {
            match request {
                HeartbeatRequest::Consumer(request) => shard.consumer_group_heartbeat(operation, request),
                HeartbeatRequest::Share(request) => shard.share_group_heartbeat(operation, request),
                HeartbeatRequest::Streams(request) => shard.streams_group_heartbeat(operation, request),
            }
            .map(Some)
        })
    }

    /// When the next timer fires.
    pub fn next_deadline_ms(&self) -> Option<TimeMs> {
        self.timers.next_deadline_ms()
    }

    /// All timers in the order in which they fire, with their deadlines.
    pub fn timers(&self) -> impl Iterator<Item = (TimeMs, &Timer)> {
        self.timers.iter()
    }

    /// When a member's session and rebalance timeouts end, as far as they run.
    pub fn deadlines_ms(&self, group: &str, member: &str) -> [Option<TimeMs>; 2] {
        [TimerKind::Session, TimerKind::Rebalance { member_epoch: 0 }]
            .map(|kind| self.timers.deadline_ms(kind, group, member))
    }

    /// Fires the next timer, at its deadline or later.
    pub fn fire_next_timer(&mut self, now_ms: TimeMs) -> Outcome {
        let Some((_, timer)) = self.timers.pop() else { return Outcome::default() };
        let outcome =
            self.write_operation(now_ms, false, |shard, operation| shard.fire(operation, &timer).map(|()| None));
        if outcome.error.is_some() && timer.kind != TimerKind::InitialRebalance {
            self.timers.schedule(now_ms + TIMER_RETRY_BACKOFF_MS, timer);
        }
        outcome
    }

    /// Runs the next task that was handed to the background executor.
    pub fn run_background(&mut self, now_ms: TimeMs) -> Option<Outcome> {
        let task = self.background.pop_front()?;
        Some(self.write_operation(now_ms, false, |shard, operation| {
            match &task {
                Background::Regexes(task) => shard.resolve_regexes(operation, task)?,
                Background::Initialize(task) => shard.share_partitions_are_initialized(operation, task),
                Background::ForgetShareState(topics) => shard.forget_share_partitions(operation, topics),
            }
            Ok(None)
        }))
    }

    /// A new metadata image is published (`onNewMetadataImage`, `onMetadataUpdate`).
    pub fn publish(&mut self, image: ImageNumber, work: &mut Work) {
        self.image = image;
        let delta = self.history.image(image);
        let creates_topics = match self.settings.behaviour.deleted_topics_stay_created {
            true => delta.creates_topics_up_to_4_1,
            false => delta.creates_topics,
        };
        if creates_topics {
            self.last_image_with_new_topics = i64::from(image);
        }
        if !self.active {
            return;
        }
        for &topic in delta.changed.iter().chain(&delta.deleted) {
            let name = self.history.topic_name(topic);
            self.memo.forget(name, work);
            let Some(groups) = self.topics.groups.get(name) else { continue };
            for id in groups.iter() {
                if let Some(group) = self.groups.get_mut(id) {
                    work.groups_marked += 1;
                    group.base_mut().refresh_deadline = (0, 0);
                }
            }
        }
        if self.share_partitions.is_empty() {
            return;
        }
        let id_before = |&topic| self.history.version_at(topic, image.checked_sub(1)?).map(|version| version.id);
        let deleted: Vec<Uuid> = delta.deleted.iter().filter_map(id_before).collect();
        if !deleted.is_empty() {
            self.background.push_back(Background::ForgetShareState(deleted));
        }
    }

    /// The name of the topic that has an id now.
    pub(super) fn name_of_id(&self, topic: Uuid) -> Option<&'h JString> {
        let index = self.history.index_of_id(topic)?;
        self.history.version_at(index, self.image).filter(|version| version.id == topic)?;
        Some(self.history.topic_name(index))
    }

    fn schedule_loaded_timers(&mut self, now_ms: TimeMs) {
        for group in self.groups.values() {
            let (base, session_timeout_ms) =
                (group.base(), self.settings.config.of(group.base().kind).session_timeout_ms);
            for (id, revocation) in group.revocations() {
                self.timers.schedule_loaded(now_ms, base, id, session_timeout_ms, revocation);
            }
        }
    }

    /// A timer fires.
    fn fire(&self, operation: &mut Operation, timer: &Timer) -> Result<(), Refusal> {
        match timer.group_kind {
            GroupKind::Consumer => self.fire_consumer_timer(operation, timer),
            GroupKind::Share => self.fire_share_timer(operation, timer),
            GroupKind::Streams => self.fire_streams_timer(operation, timer),
        }
    }

    pub(super) fn unix_ms(&self, now_ms: TimeMs) -> i64 {
        self.settings.start_unix_ms + now_ms
    }

    fn replay(&mut self, entry: &Entry, now_ms: TimeMs, work: &mut Work) -> Result<(), ReplayError> {
        Replay {
            groups: &mut self.groups,
            topics: &mut self.topics,
            memo: &mut self.memo,
            behaviour: &self.settings.behaviour,
            design: self.settings.design,
            write: self.write,
            work,
            now_ms,
            share_partitions: &mut self.share_partitions,
        }
        .replay(entry)
    }

    /// Runs an operation, replays its records and writes them as one batch; all of it or nothing
    /// (`CoordinatorRuntime`'s `CoordinatorWriteEvent`). Timers, remembered hashes and refresh deadlines do not go back.
    fn write_operation(
        &mut self,
        now_ms: TimeMs,
        fail: bool,
        operate: impl FnOnce(&Self, &mut Operation) -> Result<Option<HeartbeatResponse>, Refusal>,
    ) -> Outcome {
        if !self.active {
            return Outcome { error: Some(HeartbeatError::NotCoordinator), ..Outcome::default() };
        }
        let mut operation = Operation::new(now_ms, std::mem::take(&mut self.memo));
        let answer = operate(self, &mut operation);
        self.apply_side_effects(&mut operation);
        let mut work = operation.work;
        let wrong = std::mem::take(&mut operation.wrong);
        let failed = |error, work| Outcome { error: Some(error), work, wrong: wrong.clone(), ..Outcome::default() };
        let response = match answer {
            Ok(response) => response,
            Err(Refusal(error)) => return failed(error, work),
        };
        if operation.entries.is_empty() {
            return Outcome { response, work, wrong, ..Outcome::default() };
        }
        let (lengths, refused_bytes) = self.lengths_of(&operation.entries);
        let group = only_group(&operation.entries).cloned();
        // `RecordTooLargeException`, of which clients learn no more (`CoordinatorOperationExceptionHelper`).
        let refused = |work| {
            let error = Some(HeartbeatError::UnknownServerError);
            Outcome { error, group: group.clone(), refused_bytes, work, wrong: wrong.clone(), ..Outcome::default() }
        };
        if refused_bytes.is_some() && self.settings.behaviour.checks_size_before_replay {
            return refused(work);
        }
        let replayed = operation.entries.iter().try_for_each(|entry| self.replay(entry, now_ms, &mut work));
        let error = match replayed {
            Err(thrown) => Some(failed(thrown.answer(), work)),
            Ok(()) if fail => Some(failed(HeartbeatError::CoordinatorNotAvailable, work)),
            Ok(()) if refused_bytes.is_some() => Some(refused(work)),
            Ok(()) => None,
        };
        if let Some(outcome) = error {
            self.revert();
            return outcome;
        }
        self.write += 1;
        self.background.extend(operation.after_write);
        Outcome {
            response,
            error: None,
            group,
            entries: operation.entries,
            lengths,
            refused_bytes: None,
            work,
            wrong,
            bumps: operation.bump.into_iter().collect(),
            assignments: operation.assignment.into_iter().collect(),
        }
    }

    /// The lengths of records and, where they need a larger batch than one may be, its bytes.
    fn lengths_of(&self, entries: &[Entry]) -> (Vec<Lengths>, Option<u64>) {
        let Some(max_bytes) = self.settings.max_batch_bytes else { return (Vec::new(), None) };
        let length =
            |entry: &Entry| (entry.record.key.encoded_len(), entry.record.value.as_ref().map(Value::encoded_len));
        let lengths: Vec<Lengths> = entries.iter().map(length).collect();
        let bytes = batch_len(&lengths);
        (lengths, (bytes > max_bytes).then_some(bytes))
    }

    /// What holds whether the operation succeeds or not.
    fn apply_side_effects(&mut self, operation: &mut Operation) {
        self.memo = std::mem::take(&mut operation.memo);
        for change in operation.timers.drain(..) {
            match change {
                TimerChange::Schedule(deadline_ms, timer) => self.timers.schedule(deadline_ms, timer),
                TimerChange::Cancel(kind, group, member) => self.timers.cancel(kind, &group, &member),
            }
        }
        if let Some(refreshed) = operation.refreshed.take()
            && let Some(group) = self.groups.get_mut(&refreshed.group)
        {
            let base = group.base_mut();
            base.stored_is_compared = true;
            base.refresh_deadline = (refreshed.deadline_ms, refreshed.epoch);
            base.refreshed_at_image = Some(refreshed.image);
        }
        if let Some((id, changes)) = operation.streams.take()
            && let Some(Group::Streams(group)) = self.groups.get_mut(&id)
        {
            group.apply(changes, self.write);
        }
        self.background.extend(operation.background.take());
    }

    /// Goes back to the last committed write: what the records did, and what operations without records did since.
    fn revert(&mut self) {
        self.reverts += 1;
        let write = self.write;
        self.groups.revert_with(write, |group| group.revert(write));
        self.share_partitions.revert(write);
        self.topics.groups.revert_with(write, |groups| groups.revert(write));
    }
}

/// The group that all records are of; none if they are of several.
fn only_group(entries: &[Entry]) -> Option<&JString> {
    let group = &entries.first()?.record.key.group;
    entries.iter().all(|entry| entry.record.key.group == *group).then_some(group)
}
