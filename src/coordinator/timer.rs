//! The shard's timers. A timer is known by its key; scheduling it again replaces it. They fire in order of
//! deadline, ties in the order in which they were scheduled.

use super::group::GroupBase;
use crate::kafka::{GroupKind, JString};
use crate::kernel::TimeMs;
use crate::kernel::lookup::Lookup;
use crate::kernel::queue::Moment;
use std::collections::BTreeMap;

/// What a timer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TimerKind {
    /// The member has not been heard of for the session timeout.
    Session,
    /// The member has not left the epoch that it had when it was asked to revoke partitions.
    Rebalance {
        /// That epoch.
        member_epoch: i32,
    },
    /// The members of a new streams group had time to join; it is the group's, of no member.
    InitialRebalance,
}

/// A scheduled timer.
#[derive(Debug, Clone)]
pub struct Timer {
    /// What it is for.
    pub kind: TimerKind,
    /// The kind of the group when it was scheduled: not part of its name.
    pub group_kind: GroupKind,
    /// The group.
    pub group: JString,
    /// The member.
    pub member: JString,
}

/// What a member that must give up what it has has to do, and by when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Revocation {
    /// Leave this epoch…
    pub member_epoch: i32,
    /// … within this time.
    pub timeout_ms: i32,
}

impl Timer {
    /// A timer of a member of a group.
    pub fn new(kind: TimerKind, group: &GroupBase, member: &JString) -> Timer {
        Timer { kind, group_kind: group.kind, group: group.id.clone(), member: member.clone() }
    }
}

/// Where a timer is in the order of firing: its deadline, when it was scheduled, and which of those it was.
type Place = (TimeMs, Moment, u64);

/// All timers of a shard.
#[derive(Debug, Default)]
pub struct Timers {
    queue: BTreeMap<Place, Timer>,
    by_key: Lookup<String, Place>,
    sequence: u64,
    /// The moment at hand, where somebody tells it; what is scheduled later has a greater sequence number in any case.
    moment: Moment,
}

/// Kafka names a timer by kind, group and member joined with dashes, so that the timers of group `a-b`, member `c`
/// and of group `a`, member `b-c` are one (`GroupMetadataManager.groupSessionTimeoutKey`).
fn key(kind: TimerKind, group: &str, member: &str) -> String {
    let prefix = match kind {
        TimerKind::Session => "s",
        TimerKind::Rebalance { .. } => "r",
        TimerKind::InitialRebalance => "i",
    };
    [prefix, group, member].join("-")
}

impl Timers {
    /// Schedules a timer, or schedules it anew.
    pub fn schedule(&mut self, deadline_ms: TimeMs, timer: Timer) {
        self.schedule_since(self.moment, deadline_ms, timer);
    }

    /// What is scheduled next is scheduled at that moment.
    pub fn set_moment(&mut self, moment: Moment) {
        self.moment = moment;
    }

    /// Schedules a timer as if it had been done at a moment.
    pub fn schedule_since(&mut self, since: Moment, deadline_ms: TimeMs, timer: Timer) {
        let place = (deadline_ms, since, self.sequence);
        self.sequence += 1;
        if let Some(old) = self.by_key.insert(key(timer.kind, &timer.group, &timer.member), place) {
            self.queue.remove(&old);
        }
        self.queue.insert(place, timer);
    }

    /// Schedules the timers of a member that has just been loaded.
    pub fn schedule_loaded(
        &mut self,
        now_ms: TimeMs,
        group: &GroupBase,
        member: &JString,
        session_timeout_ms: i32,
        revocation: Option<Revocation>,
    ) {
        self.schedule(now_ms + TimeMs::from(session_timeout_ms), Timer::new(TimerKind::Session, group, member));
        if let Some(Revocation { member_epoch, timeout_ms }) = revocation {
            let timer = Timer::new(TimerKind::Rebalance { member_epoch }, group, member);
            self.schedule(now_ms + TimeMs::from(timeout_ms), timer);
        }
    }

    /// Cancels a timer, if it is scheduled.
    pub fn cancel(&mut self, kind: TimerKind, group: &str, member: &str) {
        if let Some(place) = self.by_key.remove(&key(kind, group, member)) {
            self.queue.remove(&place);
        }
    }

    /// Whether a timer is scheduled.
    pub fn is_scheduled(&self, kind: TimerKind, group: &str, member: &str) -> bool {
        self.by_key.contains(&key(kind, group, member))
    }

    /// The deadline of the next timer.
    pub fn next_deadline_ms(&self) -> Option<TimeMs> {
        self.queue.first_key_value().map(|((deadline_ms, ..), _)| *deadline_ms)
    }

    /// All timers in the order in which they fire, with their deadlines.
    pub fn iter(&self) -> impl Iterator<Item = (TimeMs, &Timer)> {
        self.queue.iter().map(|((deadline_ms, ..), timer)| (*deadline_ms, timer))
    }

    /// The deadline of a timer, if it is scheduled.
    pub fn deadline_ms(&self, kind: TimerKind, group: &str, member: &str) -> Option<TimeMs> {
        self.by_key.get(&key(kind, group, member)).map(|(deadline_ms, ..)| *deadline_ms)
    }

    /// Takes the next timer out.
    pub fn pop(&mut self) -> Option<(TimeMs, Timer)> {
        let ((deadline_ms, ..), timer) = self.queue.pop_first()?;
        self.by_key.remove(&key(timer.kind, &timer.group, &timer.member));
        Some((deadline_ms, timer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timer(group: &str, member: &str) -> Timer {
        Timer { kind: TimerKind::Session, group_kind: GroupKind::Consumer, group: group.into(), member: member.into() }
    }

    #[test]
    fn order_replacement_and_shared_keys() {
        let mut timers = Timers::default();
        timers.schedule(20, timer("g", "late"));
        timers.schedule(10, timer("g", "first"));
        timers.schedule(10, timer("g", "second"));
        timers.schedule(30, timer("g", "first"));
        timers.schedule(40, timer("a-b", "c"));
        timers.cancel(TimerKind::Session, "a", "b-c");
        let fired: Vec<_> =
            std::iter::from_fn(|| timers.pop()).map(|(t, timer)| (t, timer.member.to_string())).collect();
        assert_eq!(fired, [(10, "second".into()), (20, "late".into()), (30, "first".into())]);
    }
}
