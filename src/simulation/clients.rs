//! The members of the groups of a world, each with its emulator, and the queue of what they do next.

use crate::coordinator::protocol::{HeartbeatError, HeartbeatRequest, HeartbeatResponse};
use crate::kafka::JString;
use crate::kernel::TimeMs;
use crate::kernel::lookup::Lookup;
use crate::kernel::queue::{EventQueue, Moment};
use crate::workload::fleet::{GroupPlan, Step};
use crate::workload::member::MemberEmulator;
use std::ops::Range;

/// What a member does next.
#[derive(Debug, Clone, Copy)]
pub enum Action {
    /// It takes a step of its plan.
    Step {
        /// Which member.
        client: usize,
        /// Which step.
        step: usize,
    },
    /// It sends a heartbeat, if it still means to.
    Heartbeat {
        /// Which member.
        client: usize,
    },
}

/// Heartbeats of a member that were not processed, for they would have changed nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdleHeartbeats {
    /// When the first of them is sent.
    pub first_ms: TimeMs,
    /// The time between two.
    pub interval_ms: TimeMs,
    /// How many there are.
    pub count: i64,
    /// The last heartbeat of the member: the last of these or, if there is none, the one before.
    pub last: Moment,
}

#[derive(Debug)]
struct Client<'a> {
    group: usize,
    emulator: MemberEmulator<'a>,
    steps: &'a [(TimeMs, Step)],
    last_step: Option<&'a Step>,
    /// When its next heartbeat that is processed is in the queue; older entries are void.
    queued_ms: Option<TimeMs>,
    /// While its heartbeats are not processed: the last one that was, and the interval.
    parked: Option<(Moment, TimeMs)>,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Clients<'a> {
    clients: Vec<Client<'a>>,
    queue: EventQueue<Action>,
    by_member: Lookup<(usize, JString), usize>,
}

/// Whose turn it is at one time: timers and images come first, then steps, then heartbeats in order of members.
const fn heartbeat_turn(client: usize) -> u64 {
    client as u64 + 2
}
const STEP_TURN: u64 = 1;

impl<'a> Clients<'a> {
    /// Adds a group's members; `group` is the world's number of it. Gives the members' numbers.
    pub fn add_group(&mut self, group: usize, plan: &'a GroupPlan) -> Range<usize> {
        let first = self.clients.len();
        for member in &plan.members {
            let client = self.clients.len();
            for (step, (time_ms, _)) in member.steps.iter().enumerate() {
                self.queue.push_at(Moment::new(*time_ms, STEP_TURN), Action::Step { client, step });
            }
            let emulator = MemberEmulator::new(plan, member);
            let steps = member.steps.as_slice();
            self.clients.push(Client { group, emulator, steps, last_step: None, queued_ms: None, parked: None });
        }
        first..self.clients.len()
    }

    /// When a member does something next.
    pub fn next_time_ms(&self) -> Option<TimeMs> {
        self.queue.next_time_ms()
    }

    /// What a member does next.
    pub fn next(&mut self) -> Option<(Moment, Action)> {
        self.queue.pop_at()
    }

    /// The group of a member.
    pub fn group_of(&self, client: usize) -> usize {
        self.clients[client].group
    }

    /// A member, as its client knows it.
    pub fn emulator(&self, client: usize) -> &MemberEmulator<'a> {
        &self.clients[client].emulator
    }

    /// A member sends its heartbeat, if it still means to.
    pub fn heartbeat(&mut self, client: usize, now_ms: TimeMs) -> Option<HeartbeatRequest> {
        let sender = &mut self.clients[client];
        if sender.queued_ms != Some(now_ms) {
            return None;
        }
        sender.queued_ms = None;
        let request = sender.emulator.build_request(now_ms);
        if request.is_none() {
            self.queue_heartbeat(client);
        }
        request
    }

    /// Whether an action still stands: a heartbeat may have been put off.
    pub fn is_void(&self, now_ms: TimeMs, action: &Action) -> bool {
        matches!(action, Action::Heartbeat { client } if self.clients[*client].queued_ms != Some(now_ms))
    }

    /// A member takes a step.
    pub fn step(&mut self, client: usize, step: usize) {
        let member = &mut self.clients[client];
        let (now_ms, step) = &member.steps[step];
        if let Step::Join { member_id, .. } = step {
            self.by_member.insert((member.group, member_id.clone()), client);
        }
        member.emulator.step(*now_ms, step);
        member.last_step = Some(step);
        self.queue_heartbeat(client);
    }

    /// A member's request is answered.
    pub fn answer(&mut self, client: usize, now_ms: TimeMs, answer: Result<&HeartbeatResponse, HeartbeatError>) {
        self.clients[client].emulator.on_response(now_ms, answer);
        self.queue_heartbeat(client);
    }

    fn queue_heartbeat(&mut self, client: usize) {
        let member = &mut self.clients[client];
        let next_ms = member.emulator.next_heartbeat_ms();
        if let Some(time_ms) = next_ms
            && next_ms != member.queued_ms
        {
            self.queue.push_at(Moment::new(time_ms, heartbeat_turn(client)), Action::Heartbeat { client });
        }
        member.queued_ms = next_ms;
    }

    /// From now on no heartbeat of a member is processed, up to the first at `until_ms` or later; it has just sent one.
    pub fn park(&mut self, client: usize, now: Moment, until_ms: TimeMs, end_ms: TimeMs) {
        let member = &mut self.clients[client];
        let (Some(interval_ms), Some(next_ms)) = (member.emulator.idle_interval_ms(), member.queued_ms) else { return };
        if until_ms <= next_ms {
            return;
        }
        member.parked = Some((now, interval_ms));
        member.queued_ms = None;
        if until_ms < end_ms {
            let wakes_ms = next_ms + (until_ms - next_ms + interval_ms - 1) / interval_ms * interval_ms;
            member.queued_ms = Some(wakes_ms);
            self.queue.push_at(Moment::new(wakes_ms, heartbeat_turn(client)), Action::Heartbeat { client });
        }
    }

    /// Whether a member is parked.
    pub fn is_parked(&self, client: usize) -> bool {
        self.clients[client].parked.is_some()
    }

    /// A parked member's heartbeats are processed again from now on; gives those that were not.
    pub fn unpark(&mut self, client: usize, now: Moment) -> Option<IdleHeartbeats> {
        let idle = self.idle_heartbeats(client, now)?;
        let member = &mut self.clients[client];
        member.parked = None;
        member.emulator.skip_idle_heartbeats(idle.count);
        self.queue_heartbeat(client);
        Some(idle)
    }

    /// The heartbeats of a parked member until now.
    pub fn idle_heartbeats(&self, client: usize, now: Moment) -> Option<IdleHeartbeats> {
        let member = &self.clients[client];
        let (before, interval_ms) = member.parked?;
        let first_ms = member.emulator.next_heartbeat_ms()?;
        let turn = heartbeat_turn(client);
        let limit_ms = now.time_ms + TimeMs::from(turn < now.turn);
        let count = (limit_ms - first_ms + interval_ms - 1).max(0) / interval_ms;
        let last = if count > 0 { Moment::new(first_ms + (count - 1) * interval_ms, turn) } else { before };
        Some(IdleHeartbeats { first_ms, interval_ms, count, last })
    }

    /// Which of some members is the first parked one to send a heartbeat from now on.
    pub fn first_parked(&self, clients: Range<usize>, now: Moment) -> Option<usize> {
        let next = |client| {
            let idle = self.idle_heartbeats(client, now)?;
            Some((idle.first_ms + idle.count * idle.interval_ms, client))
        };
        clients.filter_map(next).min().map(|(_, client)| client)
    }

    /// What a member did last of its own accord, in a word.
    pub fn last_step(&self, client: usize) -> &'static str {
        match self.clients[client].last_step {
            None => "",
            Some(Step::Join { .. }) => "join",
            Some(Step::Subscribe { .. }) => "subscribe",
            Some(Step::Leave) => "leave",
            Some(Step::Stop) => "stop",
            Some(Step::Crash) => "crash",
        }
    }

    /// Why a member timed out: it crashed or stopped, or its coordinator has not heard of it for another reason.
    pub fn timeout_of(&self, group: usize, member: &JString) -> &'static str {
        let client = self.by_member.get(&(group, member.clone()));
        match client.map(|&client| self.last_step(client)) {
            Some(step @ ("crash" | "stop")) => step,
            _ => "timeout",
        }
    }
}
