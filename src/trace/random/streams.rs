//! What members of random streams groups send.

use super::clients::Group;
use super::rng::Rng;
use super::swarm::Swarm;
use crate::trace::{EpochSpec, Heartbeat, HeartbeatBody, Owned, StreamsBody, Tasks};

impl Group {
    /// Another rack, process or timeout, or a newer topology, for which the member joins anew.
    pub(super) fn changed_streams(&mut self, at: usize, rng: &mut Rng, swarm: &Swarm) -> Heartbeat {
        let member = &mut self.members[at];
        match rng.below(5) {
            0 => member.rack = Some((*rng.pick(&["a", "b", "c"])).to_owned()),
            1 => member.process = process(rng, swarm),
            2 => member.rebalance_timeout_ms = Some(*rng.pick(&[500, 5_000, 100_000])),
            3 => {
                member.topology = self.application.as_ref().map(|application| application.topology(rng, swarm));
                return self.full(at, EpochSpec::Number(0));
            }
            _ => member.client = Some(("streams-😀".to_owned(), "/10.0.0.9".to_owned())),
        }
        let mut heartbeat = self.full(at, EpochSpec::Last);
        let body = streams(&mut heartbeat);
        body.topology = None;
        if rng.chance(700) {
            owns_last(body);
        }
        heartbeat
    }

    /// A member that joins again may run another version of the application than before.
    pub(super) fn renew_topology(&mut self, at: usize, rng: &mut Rng, swarm: &Swarm) {
        if let Some(application) = &self.application
            && rng.chance(500)
        {
            self.members[at].topology = Some(application.topology(rng, swarm));
        }
    }

    /// A heartbeat that owns tasks that may not be the member's, or of one kind only.
    pub(super) fn odd_tasks(&self, at: usize, rng: &mut Rng, swarm: &Swarm) -> Heartbeat {
        let epoch = if rng.chance(800) { EpochSpec::Last } else { EpochSpec::Number(self.epoch.max(1)) };
        let mut heartbeat = self.bare(at, epoch);
        let body = streams(&mut heartbeat);
        owns_last(body);
        match rng.below(8) {
            0..3 => body.active = Owned::List(self.some_tasks(rng, swarm)),
            3 => {
                body.active = Owned::List(self.some_tasks(rng, swarm));
                body.standby = Owned::List(self.some_tasks(rng, swarm));
                body.warmup = Owned::List(Vec::new());
            }
            4 => body.standby = Owned::List(self.some_tasks(rng, swarm)),
            5 => body.warmup = Owned::List(self.some_tasks(rng, swarm)),
            6 => (body.active, body.standby, body.warmup) = (Owned::List(Vec::new()), Owned::Last, Owned::Last),
            _ => body.standby = Owned::Absent,
        }
        heartbeat
    }

    fn some_tasks(&self, rng: &mut Rng, swarm: &Swarm) -> Vec<Tasks> {
        let ids = self.application.iter().flat_map(|application| application.subtopologies());
        let mut tasks = Vec::new();
        for id in ids.filter(|_| rng.chance(600)).collect::<Vec<_>>() {
            let end = rng.within(0, swarm.partitions_max.min(6)) as i32;
            let mut partitions: Vec<i32> = (0..end).filter(|_| rng.chance(700)).collect();
            if rng.chance(30) {
                partitions.push(*rng.pick(&[-1, 0, i32::MAX]));
            }
            let subtopology = if rng.chance(20) { "unknown" } else { id }.to_owned();
            tasks.push(Tasks { subtopology, partitions });
        }
        tasks
    }

    /// A request that Kafka refuses without looking at the group (some are accepted by some versions).
    pub(super) fn invalid_streams(&self, at: usize, rng: &mut Rng, swarm: &Swarm) -> Heartbeat {
        let mut heartbeat = match rng.below(3) {
            0 => self.bare(at, EpochSpec::Last),
            1 => self.full(at, EpochSpec::Number(self.epoch.max(1))),
            _ => self.full(at, EpochSpec::Number(0)),
        };
        let tasks = self.some_tasks(rng, swarm);
        let body = streams(&mut heartbeat);
        match rng.below(10) {
            0 => body.rebalance_timeout_ms = Some(-1),
            1 => body.active = Owned::List(tasks),
            2 => body.standby = Owned::List(tasks),
            3 => body.warmup = Owned::List(tasks),
            4 => body.topology = None,
            5 => body.instance = Some(String::new()),
            6 => heartbeat.rack = Some(String::new()),
            7 => heartbeat.member = String::new(),
            8 => heartbeat.epoch = EpochSpec::Number(*rng.pick(&[-2, -3])),
            _ => heartbeat.group = String::new(),
        }
        heartbeat
    }
}

/// A process that members run in; clients always name one.
pub fn process(rng: &mut Rng, swarm: &Swarm) -> Option<String> {
    (!rng.chance(20)).then(|| format!("process-{}", rng.below(swarm.streams.processes.max(1))))
}

/// The member says that it owns what it was last told.
pub fn owns_last(body: &mut StreamsBody) {
    (body.active, body.standby, body.warmup) = (Owned::Last, Owned::Last, Owned::Last);
}

/// The streams part of a heartbeat that has one.
pub fn streams(heartbeat: &mut Heartbeat) -> &mut StreamsBody {
    match &mut heartbeat.body {
        HeartbeatBody::Streams(body) => body,
        HeartbeatBody::Consumer(_) | HeartbeatBody::Share(_) => unreachable!("the group is a streams group"),
    }
}
