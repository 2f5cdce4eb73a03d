//! Heartbeats that need not be processed: those that say nothing but their epoch, are answered with it, and change nothing
//! but when the member's session ends. Who counts them by arithmetic takes the session's timer out meanwhile, and puts
//! it back as if the last of them had started it.

use super::Shard;
use super::consumer::MIN_REFRESH_INTERVAL_MS;
use super::group::{Group, GroupBase};
use super::operation::{Operation, TimerChange};
use super::protocol::HeartbeatRequest;
use super::timer::{Timer, TimerKind};
use crate::kafka::{GroupKind, JString};
use crate::kernel::TimeMs;
use crate::kernel::queue::Moment;
use crate::strategy::{MemoTable, Work};

impl Shard<'_> {
    /// Whether this heartbeat, which says nothing but its epoch, would change nothing now but when the member's session
    /// ends: then until when that holds, if no other operation changes the group and no image [touches](Self::touched) it.
    /// The heartbeat is tried, on nothing but paper.
    pub fn idle_until(&self, now_ms: TimeMs, request: &HeartbeatRequest) -> Option<TimeMs> {
        let group = self.groups.get(request.group()).filter(|_| self.is_active())?;
        let (base, config) = (group.base(), self.settings.config.of(request.kind()));
        // A target that is still to be computed waits for its interval; a session must not end between two heartbeats.
        let waits = base.assignment.get().0 < *base.epoch.get()
            || self.timers.is_scheduled(TimerKind::InitialRebalance, &base.id, "")
            || config.heartbeat_interval_ms >= config.session_timeout_ms;
        if waits || request.epoch() <= 0 || !is_reconciled(group, request.member()) {
            return None;
        }
        let mut operation = Operation::new(now_ms, MemoTable::default());
        let answer = match request {
            HeartbeatRequest::Consumer(request) => self.consumer_group_heartbeat(&mut operation, request),
            HeartbeatRequest::Share(request) => self.share_group_heartbeat(&mut operation, request),
            HeartbeatRequest::Streams(request) => self.streams_group_heartbeat(&mut operation, request),
        };
        let response = answer.ok()?;
        let is_idle = response.member_epoch == request.epoch()
            && response.assignment.is_none()
            && only_restarts_session(&operation);
        if is_idle { Some(self.holds_until(now_ms, group, base)) } else { None }
    }

    /// When time alone makes a difference to an idle group.
    fn holds_until(&self, now_ms: TimeMs, group: &Group, base: &GroupBase) -> TimeMs {
        let of_kind = match group {
            Group::Consumer(group) if !group.regexes.is_empty() => {
                let resolved_ms = group.resolved.values().next().map_or(0, |resolved| resolved.timestamp_ms);
                let resolved_ms = resolved_ms - self.settings.start_unix_ms;
                if now_ms <= resolved_ms + MIN_REFRESH_INTERVAL_MS {
                    resolved_ms + MIN_REFRESH_INTERVAL_MS + 1
                } else if self.settings.behaviour.regex_refresh_interval {
                    resolved_ms + TimeMs::from(self.settings.config.regex_refresh_interval_ms) + 1
                } else {
                    TimeMs::MAX
                }
            }
            Group::Share(_) => {
                let states = self.share_partitions.get(&base.id);
                let asked_for = states.into_iter().flat_map(|states| states.initializing.values());
                let retry_ms = TimeMs::from(self.settings.config.share_initialize_retry_interval_ms);
                asked_for.map(|states| states.since_ms + retry_ms).min().unwrap_or(TimeMs::MAX)
            }
            _ => TimeMs::MAX,
        };
        of_kind.min(base.refresh_deadline.0)
    }

    /// The groups to whose heartbeats the image at hand makes a difference: they subscribe to a topic that it changes, or
    /// their regular expressions may match one that it creates.
    pub fn touched(&self) -> Vec<JString> {
        let delta = self.history.image(self.image);
        let topics = delta.changed.iter().chain(&delta.deleted).map(|&topic| self.history.topic_name(topic));
        let mut groups: Vec<JString> = topics
            .filter_map(|topic| self.topics.groups.get(topic))
            .flat_map(|groups| groups.iter().cloned())
            .collect();
        if delta.creates_topics || delta.creates_topics_up_to_4_1 {
            let has_regexes = |group: &&Group| matches!(group, Group::Consumer(group) if !group.regexes.is_empty());
            groups.extend(self.groups.values().filter(has_regexes).map(|group| group.base().id.clone()));
        }
        groups
    }

    /// What happens next happens at that moment; for the order of timers of one deadline.
    pub fn set_moment(&mut self, moment: Moment) {
        self.timers.set_moment(moment);
    }

    /// Takes the session timer of a member out.
    pub fn park(&mut self, group: &str, member: &str) {
        self.timers.cancel(TimerKind::Session, group, member);
    }

    /// Puts the session timer of a member back, as a heartbeat of that moment starts it.
    pub fn unpark(&mut self, kind: GroupKind, group: &str, member: &JString, heard: Moment) {
        let Some(group) = self.groups.get(group) else { return };
        let timeout_ms = TimeMs::from(self.settings.config.of(kind).session_timeout_ms);
        let timer = Timer::new(TimerKind::Session, group.base(), member);
        self.timers.schedule_since(heard, heard.time_ms + timeout_ms, timer);
    }

    /// How often the shard has gone back to its last committed write, which may change any group.
    pub fn num_reverts(&self) -> u64 {
        self.reverts
    }
}

/// Whether a member has its target. What a consumer is to give up before also depends on which topics the image has.
fn is_reconciled(group: &Group, member: &str) -> bool {
    match group {
        Group::Consumer(group) => {
            let epoch = group.base.assignment.get().0;
            group.modern.members.get(member).is_some_and(|member| member.is_reconciled_to(epoch))
        }
        Group::Share(_) | Group::Streams(_) => true,
    }
}

fn only_restarts_session(operation: &Operation) -> bool {
    let is_session =
        |change: &TimerChange| matches!(change, TimerChange::Schedule(_, timer) if timer.kind == TimerKind::Session);
    operation.entries.is_empty()
        && operation.work == Work::default()
        && operation.refreshed.is_none()
        && operation.background.is_none()
        && operation.after_write.is_none()
        && operation.streams.is_none()
        && operation.timers.len() == 1
        && operation.timers.iter().all(is_session)
}
