//! A member as the real Java client behaves: what its next heartbeat says, when it is sent, and what an answer
//! changes. A pure state machine: no clock, no network, no random number beyond its plan. The three kinds of group share
//! the machine; what their requests say is in [`requests`](super::requests).
//!
//! Source: `AbstractHeartbeatRequestManager`, `AbstractMembershipManager`, `RequestState` and, for consumer groups,
//! `ConsumerHeartbeatRequestManager` and `ConsumerMembershipManager`, for share groups `ShareHeartbeatRequestManager` and
//! `ShareMembershipManager`, for streams groups `StreamsGroupHeartbeatRequestManager` and `StreamsMembershipManager` of
//! kafka-clients 4.3.1; `HeartbeatRequestManager` and `MembershipManagerImpl` of 3.9.1 do the same, but for `client.rack`,
//! which they do not send (then the plan has no rack). Left out: the metadata request for the names of new topic ids, auto
//! commit, an expired `max.poll.interval.ms` (our applications poll in time), and the heartbeat with which a streams
//! member acknowledges that its group is, or is not, ready while its tasks stay the same.

use super::fleet::{GroupPlan, MemberPlan, Step};
use crate::coordinator::protocol::{
    Assigned, HeartbeatError, HeartbeatRequest, HeartbeatResponse, JOIN_EPOCH, LEAVE_EPOCH, LEAVE_STATIC_EPOCH,
};
use crate::kafka::{GroupKind, JString};
use crate::kernel::TimeMs;
use crate::kernel::random::Streams;
use std::sync::Arc;

/// The time between an answer and the request that it causes: heartbeats themselves take no time, but a client's next
/// one comes after the last one's answer.
const TURNAROUND_MS: TimeMs = 1;
/// `retry.backoff.ms`.
const RETRY_BACKOFF_MS: i64 = 100;
/// `retry.backoff.max.ms`.
const RETRY_BACKOFF_MAX_MS: i64 = 1_000;

/// `AbstractMembershipManager.LocalAssignment`: -1 is "none"; every new target has the next number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LocalAssignment {
    local_epoch: i64,
    /// What it is; lists are sorted.
    pub assigned: Arc<Assigned>,
}

impl LocalAssignment {
    /// Nothing, in a group of a kind.
    pub fn none(kind: GroupKind) -> Self {
        let assigned = match kind {
            GroupKind::Consumer | GroupKind::Share => Assigned::Partitions(Vec::new()),
            GroupKind::Streams => Assigned::Tasks { active: Vec::new(), standby: Vec::new(), warmup: Vec::new() },
        };
        LocalAssignment { local_epoch: -1, assigned: Arc::new(assigned) }
    }

    /// Whether there is nothing in it that an application would have to give up.
    fn is_empty(&self) -> bool {
        match &*self.assigned {
            Assigned::Partitions(partitions) => partitions.is_empty(),
            Assigned::Tasks { active, .. } => active.is_empty(),
        }
    }

    /// Whether an application has to give something of it up to get to another one.
    fn loses_to(&self, target: &LocalAssignment) -> bool {
        match (&*self.assigned, &*target.assigned) {
            (Assigned::Partitions(own), Assigned::Partitions(target)) => is_lost(own, target),
            (Assigned::Tasks { active: own, .. }, Assigned::Tasks { active: target, .. }) => is_lost(own, target),
            _ => false,
        }
    }
}

/// Whether one of these partitions is not in the target, whose partitions ascend.
fn is_lost<K: PartialEq>(own: &[(K, Vec<i32>)], target: &[(K, Vec<i32>)]) -> bool {
    own.iter().any(|(name, owned)| {
        let kept = target.iter().find(|(known, _)| known == name);
        owned.iter().any(|partition| kept.is_none_or(|(_, kept)| kept.binary_search(partition).is_err()))
    })
}

/// What a member is told, with everything in order.
fn sorted(assigned: &Assigned) -> Assigned {
    fn of<K: Ord + Clone>(list: &[(K, Vec<i32>)]) -> Vec<(K, Vec<i32>)> {
        let mut list = list.to_vec();
        list.iter_mut().for_each(|(_, partitions)| partitions.sort_unstable());
        list.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        list
    }
    match assigned {
        Assigned::Partitions(partitions) => Assigned::Partitions(of(partitions)),
        Assigned::Tasks { active, standby, warmup } => {
            Assigned::Tasks { active: of(active), standby: of(standby), warmup: of(warmup) }
        }
    }
}

/// `MemberState`, with `UNSUBSCRIBED` and a process that does not run as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Down,
    Joining,
    Reconciling,
    Acknowledging,
    Stable,
    Fenced { released_ms: TimeMs },
    Fatal,
}

/// `SentFields` of the request managers' `HeartbeatState`.
#[derive(Debug, Clone, Default)]
pub(super) struct SentFields<'a> {
    pub rebalance_timeout: bool,
    pub topics: Option<&'a [JString]>,
    pub assignor: bool,
    pub rack: bool,
    pub local: Option<LocalAssignment>,
}

/// A member of a group, and what its client knows.
#[derive(Debug, Clone)]
pub struct MemberEmulator<'a> {
    pub(super) group: &'a GroupPlan,
    pub(super) plan: &'a MemberPlan,
    pub(super) state: State,
    member_id: Option<&'a JString>,
    pub(super) topics: &'a [JString],
    epoch: i32,
    heartbeat_interval_ms: i32,
    /// When the heartbeat timer runs out.
    timer_ms: TimeMs,
    /// Before when it can send nothing: no answer has come yet, or the coordinator is unknown.
    blocked_ms: TimeMs,
    /// How many answers in a row asked for another coordinator, and how many there ever were.
    failures: u32,
    failures_ever: u64,
    target: LocalAssignment,
    pub(super) current: LocalAssignment,
    /// The target that is being reconciled, and when that is done.
    reconciling: Option<(TimeMs, LocalAssignment)>,
    /// When it leaves, and with which epoch.
    leaving: Option<(TimeMs, i32)>,
    pub(super) sent: SentFields<'a>,
}

impl<'a> MemberEmulator<'a> {
    /// A client that does not run yet.
    pub fn new(group: &'a GroupPlan, plan: &'a MemberPlan) -> Self {
        MemberEmulator {
            group,
            plan,
            state: State::Down,
            member_id: None,
            topics: &[],
            epoch: JOIN_EPOCH,
            heartbeat_interval_ms: 0,
            timer_ms: 0,
            blocked_ms: 0,
            failures: 0,
            failures_ever: 0,
            target: LocalAssignment::none(group.kind),
            current: LocalAssignment::none(group.kind),
            reconciling: None,
            leaving: None,
            sent: SentFields::default(),
        }
    }

    /// The member id, once it has started.
    pub fn member_id(&self) -> Option<&'a JString> {
        self.member_id
    }

    /// The epoch that its next heartbeat carries.
    pub fn epoch(&self) -> i32 {
        self.epoch
    }

    /// Whether it runs and has not failed for good.
    pub fn is_up(&self) -> bool {
        !matches!(self.state, State::Down | State::Fatal)
    }

    /// What it owns.
    pub fn owned(&self) -> &Assigned {
        &self.current.assigned
    }

    /// Takes a step of its plan.
    pub fn step(&mut self, now_ms: TimeMs, step: &'a Step) {
        self.advance(now_ms);
        match step {
            Step::Join { member_id, topics } => {
                let failures_ever = self.failures_ever;
                *self = MemberEmulator::new(self.group, self.plan);
                (self.failures_ever, self.member_id, self.topics) = (failures_ever, Some(member_id), topics);
                self.state = State::Joining;
                (self.timer_ms, self.blocked_ms) = (now_ms, now_ms);
            }
            Step::Subscribe { topics } => self.topics = topics,
            Step::Leave => self.leave(now_ms, LEAVE_EPOCH),
            Step::Stop if self.plan.instance_id.is_some() => self.leave(now_ms, LEAVE_STATIC_EPOCH),
            Step::Stop => self.leave(now_ms, LEAVE_EPOCH),
            Step::Crash => self.state = State::Down,
        }
    }

    /// `AsyncKafkaConsumer.close`: the callback gives up what the member owns, then the leave request is sent, once.
    fn leave(&mut self, now_ms: TimeMs, epoch: i32) {
        if !self.is_up() || matches!(self.state, State::Fenced { .. }) {
            self.state = State::Down;
            return;
        }
        self.leaving = Some((now_ms + self.callback_ms(), epoch));
    }

    /// How long the application's callback takes to give everything up.
    fn callback_ms(&self) -> TimeMs {
        if self.current.is_empty() { 0 } else { self.plan.revocation_ms }
    }

    /// What time alone changes: a reconciliation is done, a fenced member has released its partitions.
    fn advance(&mut self, now_ms: TimeMs) {
        if let State::Fenced { released_ms } = self.state
            && released_ms <= now_ms
        {
            self.state = State::Joining;
        }
        if let Some((done_ms, _)) = self.reconciling
            && done_ms <= now_ms
            && let Some((_, reconciled)) = self.reconciling.take()
            && self.state == State::Reconciling
        {
            self.current = reconciled;
            self.state = State::Acknowledging;
        }
    }

    /// When its next heartbeat is sent; `None` while it does not run.
    pub fn next_heartbeat_ms(&self) -> Option<TimeMs> {
        let own_ms = match self.state {
            State::Down | State::Fatal => return None,
            State::Joining | State::Acknowledging => self.blocked_ms,
            State::Fenced { released_ms } => released_ms,
            State::Stable => self.timer_ms.max(self.blocked_ms),
            State::Reconciling => {
                let done_ms = self.reconciling.as_ref().map_or(TimeMs::MAX, |(done_ms, _)| *done_ms);
                self.timer_ms.min(done_ms).max(self.blocked_ms)
            }
        };
        // A leave does not wait for the coordinator to be found: it is given up (`onHeartbeatRequestSkipped`).
        Some(self.leaving.map_or(own_ms, |(leave_ms, _)| own_ms.min(leave_ms)))
    }

    /// The interval of its heartbeats, if the next one says nothing new (no field but the ids and the epoch).
    pub fn idle_interval_ms(&self) -> Option<TimeMs> {
        let idle =
            self.state == State::Stable && self.leaving.is_none() && self.failures == 0 && self.says_nothing_new();
        (idle && self.heartbeat_interval_ms > 0).then_some(TimeMs::from(self.heartbeat_interval_ms))
    }

    /// Passes over so many heartbeats that say nothing new and are answered with nothing new.
    pub fn skip_idle_heartbeats(&mut self, heartbeats: i64) {
        self.timer_ms += heartbeats * TimeMs::from(self.heartbeat_interval_ms);
        if heartbeats > 0 {
            self.blocked_ms = self.timer_ms - TimeMs::from(self.heartbeat_interval_ms) + TURNAROUND_MS;
        }
    }

    /// The next heartbeat, if it says nothing new.
    pub fn idle_request(&self) -> Option<HeartbeatRequest> {
        self.idle_interval_ms()?;
        Some(self.bare_request(self.member_id?, self.epoch))
    }

    /// The request that it sends now; `None` if there is nothing to send: it does not run, or leaves while it knows no
    /// coordinator.
    pub fn build_request(&mut self, now_ms: TimeMs) -> Option<HeartbeatRequest> {
        self.advance(now_ms);
        let member = self.member_id.filter(|_| self.is_up())?;
        if let Some((leave_ms, epoch)) = self.leaving
            && leave_ms <= now_ms
        {
            self.state = State::Down;
            let knows_coordinator = self.failures == 0 || now_ms >= self.blocked_ms;
            return knows_coordinator.then(|| self.leave_request(member, epoch));
        }
        let request = self.request(member, self.epoch);
        self.timer_ms = now_ms + TimeMs::from(self.heartbeat_interval_ms);
        if self.state == State::Acknowledging {
            // `onHeartbeatRequestGenerated`
            self.state = if self.current == self.target { State::Stable } else { State::Reconciling };
            self.reconcile(now_ms);
        }
        Some(request)
    }

    /// Takes an answer to the request that was built last.
    pub fn on_response(&mut self, now_ms: TimeMs, response: Result<&HeartbeatResponse, HeartbeatError>) {
        match response {
            Ok(response) => self.on_success(now_ms, response),
            Err(error) => self.on_error(now_ms, error),
        }
    }

    fn on_success(&mut self, now_ms: TimeMs, response: &HeartbeatResponse) {
        if !self.is_up() {
            return;
        }
        self.failures = 0;
        if response.heartbeat_interval_ms != self.heartbeat_interval_ms {
            self.heartbeat_interval_ms = response.heartbeat_interval_ms;
            self.timer_ms = now_ms + TimeMs::from(self.heartbeat_interval_ms);
        }
        if response.member_epoch < 0 {
            return;
        }
        self.epoch = response.member_epoch;
        self.blocked_ms = now_ms + TURNAROUND_MS;
        let Some(assigned) = response.assignment.as_ref().map(sorted) else { return };
        if self.target.local_epoch < 0 || *self.target.assigned != assigned {
            let local_epoch = self.target.local_epoch + 1;
            self.target = LocalAssignment { local_epoch, assigned: Arc::new(assigned) };
        }
        if self.current != self.target {
            self.state = State::Reconciling;
            self.reconcile(now_ms);
        } else if matches!(self.state, State::Reconciling | State::Joining) {
            self.state = State::Stable;
        }
    }

    /// `maybeReconcile`: revoke, then assign; one at a time.
    fn reconcile(&mut self, now_ms: TimeMs) {
        if self.state != State::Reconciling || self.reconciling.is_some() {
            return;
        }
        let revokes = self.current.loses_to(&self.target);
        let callback_ms = if revokes { self.plan.revocation_ms } else { 0 };
        self.reconciling = Some((now_ms + callback_ms.max(TURNAROUND_MS), self.target.clone()));
    }

    fn on_error(&mut self, now_ms: TimeMs, error: HeartbeatError) {
        if !self.is_up() {
            return;
        }
        self.sent = SentFields::default();
        self.timer_ms = now_ms;
        match error {
            HeartbeatError::CoordinatorNotAvailable | HeartbeatError::NotCoordinator => {
                self.blocked_ms = now_ms + self.retry_ms();
                self.failures += 1;
                self.failures_ever += 1;
            }
            HeartbeatError::FencedMemberEpoch | HeartbeatError::UnknownMemberId => self.fence(now_ms),
            // All others are fatal to all clients (`onErrorResponse`).
            _ => self.state = State::Fatal,
        }
    }

    /// `transitionToFenced`: it gives everything up and joins again at once, under the same member id.
    fn fence(&mut self, now_ms: TimeMs) {
        if self.leaving.is_some() {
            // It is leaving anyway: it neither rejoins nor sends the leave request.
            self.state = State::Down;
            return;
        }
        let released_ms = now_ms + self.callback_ms().max(TURNAROUND_MS);
        self.state = State::Fenced { released_ms };
        self.epoch = JOIN_EPOCH;
        (self.failures, self.blocked_ms) = (0, released_ms);
        let none = LocalAssignment::none(self.group.kind);
        (self.target, self.current, self.reconciling) = (none.clone(), none, None);
    }

    /// How long until the coordinator is looked up and asked again: the first time at once (two round trips), then with
    /// the client's exponential backoff and its jitter of a fifth.
    fn retry_ms(&self) -> TimeMs {
        let Some(doublings) = self.failures.checked_sub(1) else { return 2 * TURNAROUND_MS };
        let backoff_ms = (RETRY_BACKOFF_MS << doublings.min(4)).min(RETRY_BACKOFF_MAX_MS);
        let mut stream = Streams::new(self.plan.retry_seed).stream("retry", self.failures_ever, "jitter");
        (backoff_ms * stream.between(800, 1_200) / 1_000).min(RETRY_BACKOFF_MAX_MS)
    }
}
