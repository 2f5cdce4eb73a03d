//! The members of the groups of a world, each with its emulator, and the queue of what they do next.

use crate::coordinator::protocol::{HeartbeatError, HeartbeatRequest, HeartbeatResponse};
use crate::kafka::JString;
use crate::kernel::TimeMs;
use crate::kernel::lookup::Lookup;
use crate::kernel::queue::EventQueue;
use crate::workload::fleet::{GroupPlan, Step};
use crate::workload::member::MemberEmulator;

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

#[derive(Debug)]
struct Client<'a> {
    group: usize,
    emulator: MemberEmulator<'a>,
    steps: &'a [(TimeMs, Step)],
    last_step: Option<&'a Step>,
    /// When its next heartbeat is in the queue; older entries are void.
    queued_ms: Option<TimeMs>,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Clients<'a> {
    clients: Vec<Client<'a>>,
    queue: EventQueue<Action>,
    by_member: Lookup<(usize, JString), usize>,
}

impl<'a> Clients<'a> {
    /// Adds a group's members; `group` is the world's number of it. Steps are put into the queue as they are planned,
    /// so that at equal times a member's step comes before any heartbeat.
    pub fn add_group(&mut self, group: usize, plan: &'a GroupPlan) {
        for member in &plan.members {
            let client = self.clients.len();
            for (step, (time_ms, _)) in member.steps.iter().enumerate() {
                self.queue.push(*time_ms, Action::Step { client, step });
            }
            let emulator = MemberEmulator::new(plan, member);
            let steps = member.steps.as_slice();
            self.clients.push(Client { group, emulator, steps, last_step: None, queued_ms: None });
        }
    }

    /// When a member does something next.
    pub fn next_time_ms(&self) -> Option<TimeMs> {
        self.queue.next_time_ms()
    }

    /// The next member does what it is about to do. A heartbeat has to be answered: gives the member, its group and
    /// the request.
    pub fn act(&mut self) -> Option<(usize, usize, HeartbeatRequest)> {
        let (now_ms, action) = self.queue.pop()?;
        let (client, request) = match action {
            Action::Step { client, step } => {
                self.step(client, step);
                (client, None)
            }
            Action::Heartbeat { client } => {
                let sender = &mut self.clients[client];
                if sender.queued_ms != Some(now_ms) {
                    return None;
                }
                sender.queued_ms = None;
                (client, sender.emulator.build_request(now_ms))
            }
        };
        match request {
            Some(request) => Some((client, self.clients[client].group, request)),
            None => {
                self.queue_heartbeat(client);
                None
            }
        }
    }

    fn step(&mut self, client: usize, step: usize) {
        let member = &mut self.clients[client];
        let (now_ms, step) = &member.steps[step];
        if let Step::Join { member_id, .. } = step {
            self.by_member.insert((member.group, member_id.clone()), client);
        }
        member.emulator.step(*now_ms, step);
        member.last_step = Some(step);
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
            self.queue.push(time_ms, Action::Heartbeat { client });
        }
        member.queued_ms = next_ms;
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
