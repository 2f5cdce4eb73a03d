//! A write operation in the making: the records it wants to write and what can be said of them.

use super::consumer::RegexTask;
use super::effects::{AssignorRun, Bump};
use super::group::GroupBase;
use super::log::Entry;
use super::protocol::HeartbeatError;
use super::share::Initialization;
use super::streams::StreamsChanges;
use super::timer::{Revocation, Timer, TimerKind};
use crate::cluster::ImageNumber;
use crate::kafka::records::{Key, Record, RecordType, TargetAssignmentMetadata, Value};
use crate::kafka::{GroupKind, JString, Uuid};
use crate::kernel::TimeMs;
use crate::strategy::{MemoTable, Seen, Work};
use std::sync::Arc;

/// An operation that is answered with an error and writes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Refusal(pub HeartbeatError);

/// Refuses an operation.
pub(super) fn refuse<T>(error: HeartbeatError) -> Result<T, Refusal> {
    Err(Refusal(error))
}

/// A change of a timer.
#[derive(Debug)]
pub(super) enum TimerChange {
    Schedule(TimeMs, Timer),
    Cancel(TimerKind, JString, JString),
}

/// What is done in the background, by Kafka's executor, its persister or in answer to an image.
#[derive(Debug)]
pub(super) enum Background {
    /// Regular expressions are resolved.
    Regexes(RegexTask),
    /// The state of share partitions is initialised.
    Initialize(Initialization),
    /// Topics of these ids have been deleted.
    ForgetShareState(Vec<Uuid>),
}

/// When a group's metadata was looked at: until when it is fresh, at which group epoch, and the image.
#[derive(Debug)]
pub(super) struct Refreshed {
    pub group: JString,
    pub deadline_ms: TimeMs,
    pub epoch: i32,
    pub image: ImageNumber,
}

/// See the module. What is kept outside Kafka's timeline structures (`memo`, `timers`, `refreshed`, `background`)
/// holds even when the operation fails later.
#[derive(Debug)]
pub(super) struct Operation {
    pub now_ms: TimeMs,
    pub entries: Vec<Entry>,
    pub work: Work,
    /// Where the work, really done, came to something else.
    pub wrong: Vec<String>,
    pub bump: Option<Bump>,
    pub assignment: Option<AssignorRun>,
    pub memo: MemoTable,
    pub timers: Vec<TimerChange>,
    pub refreshed: Option<Refreshed>,
    pub background: Option<Background>,
    /// What is done in the background once the records are written.
    pub after_write: Option<Background>,
    /// What changes of a streams group though no record has it.
    pub streams: Option<(JString, StreamsChanges)>,
}

impl Operation {
    pub fn new(now_ms: TimeMs, memo: MemoTable) -> Operation {
        Operation {
            now_ms,
            entries: Vec::new(),
            work: Work::default(),
            wrong: Vec::new(),
            bump: None,
            assignment: None,
            memo,
            timers: Vec::new(),
            refreshed: None,
            background: None,
            after_write: None,
            streams: None,
        }
    }

    /// What changes of a streams group though no record has it.
    pub fn streams_changes(&mut self, group: &JString) -> &mut StreamsChanges {
        &mut self.streams.get_or_insert_with(|| (group.clone(), StreamsChanges::default())).1
    }

    /// Adds a record about the group.
    pub fn add_group(&mut self, record_type: RecordType, group: &JString, value: Option<Value>) {
        self.add_seen(record_type, group, value, None);
    }

    /// Adds a record about the group that stores what was seen of its topics.
    pub fn add_seen(
        &mut self,
        record_type: RecordType,
        group: &JString,
        value: Option<Value>,
        seen: Option<Arc<Seen>>,
    ) {
        let key = Key { record_type, group: group.clone(), member: None };
        self.entries.push(Entry { record: Record { key, value }, seen });
    }

    /// Adds a record about a member (or a regular expression).
    pub fn add_member(&mut self, record_type: RecordType, group: &JString, member: &JString, value: Option<Value>) {
        let key = Key { record_type, group: group.clone(), member: Some(member.clone()) };
        self.entries.push(Record { key, value }.into());
    }

    /// Adds the epoch of a target assignment, and when it was computed (Unix time; 0 is not told).
    pub fn add_assignment_epoch(&mut self, kind: GroupKind, group: &JString, epoch: i32, timestamp_ms: i64) {
        let value = Value::TargetAssignmentMetadata(TargetAssignmentMetadata {
            assignment_epoch: epoch,
            assignment_timestamp_ms: timestamp_ms,
        });
        self.add_group(RecordType::target_metadata(kind), group, Some(value));
    }

    /// Starts the session timeout of a member anew.
    pub fn schedule_session(&mut self, group: &GroupBase, member: &JString, timeout_ms: i32) {
        let timer = Timer::new(TimerKind::Session, group, member);
        self.timers.push(TimerChange::Schedule(self.now_ms + TimeMs::from(timeout_ms), timer));
    }

    /// Starts the rebalance timeout of a member that must give up what it has; any other member's ends.
    pub fn set_rebalance_timer(&mut self, group: &GroupBase, member: &JString, revocation: Option<Revocation>) {
        let kind = |member_epoch| TimerKind::Rebalance { member_epoch };
        self.timers.push(match revocation {
            Some(Revocation { member_epoch, timeout_ms }) => TimerChange::Schedule(
                self.now_ms + TimeMs::from(timeout_ms),
                Timer::new(kind(member_epoch), group, member),
            ),
            None => TimerChange::Cancel(kind(0), group.id.clone(), member.clone()),
        });
    }

    /// Cancels the timers of a member (`cancelTimers`).
    pub fn cancel_timers(&mut self, group: &JString, member: &JString) {
        for kind in [TimerKind::Session, TimerKind::Rebalance { member_epoch: 0 }] {
            self.timers.push(TimerChange::Cancel(kind, group.clone(), member.clone()));
        }
    }

    /// Adds the tombstones of a member, in Kafka's order.
    pub fn add_member_tombstones(&mut self, kind: GroupKind, group: &JString, member: &JString) {
        for record_type in
            [RecordType::current_assignment(kind), RecordType::target_member(kind), RecordType::member_metadata(kind)]
        {
            self.add_member(record_type, group, member, None);
        }
    }
}
