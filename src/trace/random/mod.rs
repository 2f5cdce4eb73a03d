//! Random traces, to compare coordinators on what nobody thought of. A seed names a trace for ever.
//!
//! "Swarm" style: a seed first draws which features its trace has and how often ([`swarm`]), so that every feature
//! is somewhere without all the others in its way. Most heartbeats are those of well-behaved clients, which
//! acknowledge what they were told: without them a group never gets anywhere. The generator knows no answers; it
//! neither looks for errors nor avoids them.

mod application;
mod clients;
mod config;
mod images;
mod kinds;
mod rng;
mod share;
mod streams;
mod swarm;

use super::{ConfigValue, EpochSpec, Event, EventKind, GroupKind, Heartbeat, Trace};
use crate::kernel::TimeMs;
use clients::{Group, State};
use images::Cluster;
pub use kinds::Kinds;
use rng::Rng;
use swarm::Swarm;

/// What random traces are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GeneratorOptions {
    /// How many events a trace has at least.
    pub events_min: u32,
    /// How many it has at most.
    pub events_max: u32,
    /// Whether Kafka 3.9 must be able to replay it: no regular expressions, assignors configured by class, and no
    /// joins without a member id (which 3.9 answers with a random one).
    pub replayable_by_3_9: bool,
    /// The kinds of group.
    pub kinds: Kinds,
}

impl Default for GeneratorOptions {
    /// 100 to 600 events that every version can replay.
    fn default() -> Self {
        GeneratorOptions { events_min: 100, events_max: 600, replayable_by_3_9: true, kinds: Kinds::CONSUMER }
    }
}

/// The trace of a seed.
pub fn generate(seed: u64, options: &GeneratorOptions) -> Trace {
    let mut rng = Rng::new(seed);
    let (swarm, config) = Swarm::draw(&mut rng, options);
    let groups = swarm.groups.iter().map(|(kind, name)| Group::new(*kind, name, &mut rng, &swarm)).collect();
    let low = options.events_min.min(options.events_max);
    let events = rng.within(i64::from(low), i64::from(options.events_max)) as usize;
    let generator = Generator {
        rng,
        swarm,
        replayable_by_3_9: options.replayable_by_3_9,
        groups,
        cluster: Cluster::default(),
        now_ms: 0,
        trace: Trace { start_unix_ms: 1_700_000_000_000, config, events: Vec::with_capacity(events) },
        wanted: events,
    };
    generator.run()
}

struct Generator {
    rng: Rng,
    swarm: Swarm,
    replayable_by_3_9: bool,
    groups: Vec<Group>,
    cluster: Cluster,
    now_ms: TimeMs,
    trace: Trace,
    wanted: usize,
}

#[derive(Debug, Clone, Copy)]
enum Action {
    Beat,
    Round,
    Join,
    Rejoin,
    Leave,
    Away,
    Back,
    Theft,
    Change,
    OddEpoch,
    OddOwned,
    Invalid,
    Stranger,
    Image,
    Failover,
    Tick,
    InternalTopics,
}

impl Generator {
    fn run(mut self) -> Trace {
        // Now and then groups are there before any topic is.
        if self.rng.chance(950) {
            let changes = self.cluster.first_image(&mut self.rng, &self.swarm);
            self.push(EventKind::Metadata(changes));
        }
        while self.trace.events.len() < self.wanted {
            self.advance();
            let action = self.action();
            self.act(action);
        }
        self.trace.events.truncate(self.wanted);
        self.trace
    }

    fn action(&mut self) -> Action {
        let swarm = &self.swarm;
        let statics = swarm.statics.max(swarm.streams.statics) / 150;
        self.rng.weighted(&[
            (60, Action::Beat),
            (12, Action::Round),
            (2 * swarm.churn, Action::Join),
            (3, Action::Rejoin),
            (swarm.churn / 2, Action::Leave),
            (statics, Action::Away),
            (2 * statics, Action::Back),
            (swarm.thefts.min(swarm.statics.max(swarm.streams.statics)), Action::Theft),
            (swarm.subscriptions, Action::Change),
            (swarm.odd_epochs, Action::OddEpoch),
            (swarm.odd_owned, Action::OddOwned),
            (swarm.invalid, Action::Invalid),
            (swarm.strangers, Action::Stranger),
            (swarm.images, Action::Image),
            (swarm.failovers, Action::Failover),
            (1, Action::Tick),
            (swarm.internal, Action::InternalTopics),
        ])
    }

    fn act(&mut self, action: Action) {
        let at = self.rng.index(self.groups.len());
        let alive = self.groups[at].in_state(State::Alive);
        match action {
            Action::Beat => self.beat(at, &alive),
            Action::Round => self.round(at, &alive),
            Action::Join if alive.len() < self.swarm.members_max => self.join(at),
            Action::Rejoin => self.rejoin(at, &alive),
            Action::Leave => self.leave(at),
            Action::Away => self.away(at, &alive),
            Action::Back => self.back(at),
            Action::Theft => self.theft(at),
            Action::Change if !alive.is_empty() => {
                let member = *self.rng.pick(&alive);
                let heartbeat = self.groups[at].changed(member, &mut self.rng, &self.swarm);
                self.groups[at].epoch += 1;
                self.send(at, member, heartbeat);
            }
            Action::OddEpoch | Action::OddOwned | Action::Invalid => self.odd(at, action),
            Action::Stranger => self.stranger(at),
            Action::Image => {
                let changes = self.cluster.next_image(&mut self.rng, &self.swarm);
                self.groups.iter_mut().for_each(|group| group.epoch += i32::from(!changes.is_empty()));
                self.push(EventKind::Metadata(changes));
            }
            Action::InternalTopics => self.internal_topics(),
            Action::Failover if self.may_fail_over() => self.push(EventKind::Failover),
            Action::Tick => self.push(EventKind::Tick),
            Action::Join | Action::Change | Action::Failover => self.beat(at, &alive),
        }
    }

    /// Kafka 3.9 often cannot load the shard, and then answers nothing any more: mostly late, for its sake.
    fn may_fail_over(&mut self) -> bool {
        !self.replayable_by_3_9 || 4 * self.trace.events.len() > 3 * self.wanted || self.rng.chance(150)
    }

    /// Time passes: usually a little, not at all, or up to a deadline and over it.
    fn advance(&mut self) {
        let session_ms = self.swarm.session_ms[self.groups[0].kind as usize];
        let step_ms = if self.rng.chance(self.swarm.jumps) {
            match self.rng.below(4) {
                // The very moment at which somebody's session ends, or one millisecond beside it.
                0 => {
                    let ends: Vec<TimeMs> = self.groups.iter().flat_map(|group| self.session_ends(group)).collect();
                    let end_ms = if ends.is_empty() { self.now_ms + session_ms } else { *self.rng.pick(&ends) };
                    (end_ms + self.rng.within(-1, 1) - self.now_ms).max(0)
                }
                1 => *self.rng.pick(&[500, 999, 1_000, 1_001, 3_000, 5_000, 10_000, 10_001]),
                2 => session_ms + self.rng.within(-20_000, 50_000).max(-session_ms),
                _ => self.long_jump_ms(),
            }
        } else if self.rng.chance(80) {
            0
        } else {
            i64::from(self.rng.below(self.swarm.step_ms) + 1)
        };
        self.now_ms += step_ms;
    }

    fn session_ends<'a>(&self, group: &'a Group) -> impl Iterator<Item = TimeMs> + use<'a> {
        let session_ms = self.swarm.session_ms[group.kind as usize];
        group.members.iter().map(move |member| member.last_ms + session_ms)
    }

    /// Past rebalance timeouts, the refresh of regular expressions, and (24.8 days) the refresh of metadata.
    fn long_jump_ms(&mut self) -> TimeMs {
        // A timer that fails is tried again every 500 ms: where Kafka 3.9 has an unregistered broker, and where 4.1 does not
        // find the process of a streams group's task.
        let fails_in_3_9 = self.replayable_by_3_9 && self.swarm.unregistered + self.swarm.vanishing > 0;
        let fails_in_4_1 = self.groups.iter().any(|group| group.kind == GroupKind::Streams);
        let end = match (fails_in_3_9, fails_in_4_1) {
            (true, _) => 1,
            (false, true) => 5,
            (false, false) => 6,
        };
        [60_000, 299_999, 300_000, 300_001, 600_001, 2_147_483_648][self.rng.index(end)]
    }

    fn push(&mut self, kind: EventKind) {
        let line = self.trace.events.len() + 2;
        self.trace.events.push(Event { line, t_ms: self.now_ms, kind });
    }

    fn send(&mut self, at: usize, member: usize, mut heartbeat: Heartbeat) {
        heartbeat.write_fails = self.rng.chance(self.swarm.failed_writes);
        let (group, now_ms) = (&mut self.groups[at], self.now_ms);
        // Thieves and strangers keep nobody's session alive.
        if heartbeat.group == group.name && heartbeat.member == group.members[member].id {
            group.members[member].last_ms = now_ms;
        }
        self.push(EventKind::Heartbeat(Box::new(heartbeat)));
    }

    fn join(&mut self, at: usize) {
        let member = self.groups[at].add(&mut self.rng, &self.swarm);
        self.groups[at].epoch += 1;
        let heartbeat = self.groups[at].full(member, EpochSpec::Number(0));
        self.send(at, member, heartbeat);
    }

    /// A well-behaved heartbeat: mostly of the member that has waited longest.
    fn beat(&mut self, at: usize, alive: &[usize]) {
        if alive.is_empty() {
            return self.join(at);
        }
        let members = &self.groups[at].members;
        let member = if self.rng.chance(600) {
            alive.iter().copied().min_by_key(|&member| members[member].last_ms).unwrap_or(alive[0])
        } else {
            *self.rng.pick(alive)
        };
        if self.rng.chance(self.swarm.stubborn) {
            let member = &mut self.groups[at].members[member];
            member.stubborn = !member.stubborn;
        }
        self.sensible(at, member);
    }

    /// Every member of the group heartbeats, so that it comes to rest.
    fn round(&mut self, at: usize, alive: &[usize]) {
        let step_ms = self.swarm.step_ms.min(300);
        for (count, &member) in alive.iter().enumerate() {
            if count > 0 {
                self.now_ms += i64::from(self.rng.below(step_ms));
            }
            self.sensible(at, member);
        }
    }

    /// A member that has been silent for a session mostly joins again, as a client that was fenced does; others do
    /// so now and then, because they may have been fenced for something else.
    fn sensible(&mut self, at: usize, member: usize) {
        let silent_ms = self.now_ms - self.groups[at].members[member].last_ms;
        let session_ms = self.swarm.session_ms[self.groups[at].kind as usize];
        let seldom = if self.groups[at].application.is_some() { 120 } else { 60 };
        let joins_again = if silent_ms >= session_ms { 800 } else { seldom };
        if self.rng.chance(joins_again) {
            self.groups[at].epoch += 2;
            self.groups[at].renew_topology(member, &mut self.rng, &self.swarm);
            let heartbeat = self.groups[at].full(member, EpochSpec::Number(0));
            return self.send(at, member, heartbeat);
        }
        let heartbeat = self.groups[at].sensible(member, &mut self.rng);
        self.send(at, member, heartbeat);
    }

    fn rejoin(&mut self, at: usize, alive: &[usize]) {
        if alive.is_empty() {
            return self.join(at);
        }
        let member = *self.rng.pick(alive);
        let heartbeat = self.groups[at].full(member, EpochSpec::Number(0));
        self.send(at, member, heartbeat);
    }

    /// Anybody leaves, mostly somebody who is there.
    fn leave(&mut self, at: usize) {
        let group = &mut self.groups[at];
        let alive = group.in_state(State::Alive);
        if group.members.is_empty() {
            return self.join(at);
        }
        let member = if alive.is_empty() || self.rng.chance(150) {
            self.rng.index(group.members.len())
        } else {
            *self.rng.pick(&alive)
        };
        group.members[member].state = State::Gone;
        group.epoch += 1;
        let heartbeat = group.bare(member, EpochSpec::Number(-1));
        self.send(at, member, heartbeat);
    }

    /// A member leaves for a while; rarely one without an instance id, which is an error.
    fn away(&mut self, at: usize, alive: &[usize]) {
        let group = &mut self.groups[at];
        let statics: Vec<usize> =
            alive.iter().copied().filter(|&member| group.members[member].instance.is_some()).collect();
        let among = if statics.is_empty() || self.rng.chance(50) { alive } else { &statics };
        if among.is_empty() {
            return self.join(at);
        }
        let member = *self.rng.pick(among);
        if group.members[member].instance.is_some() {
            group.members[member].state = State::Away;
        }
        let heartbeat = group.bare(member, EpochSpec::Number(-2));
        self.send(at, member, heartbeat);
    }

    /// A static member comes back, mostly under another member id.
    fn back(&mut self, at: usize) {
        let away = self.groups[at].in_state(State::Away);
        if away.is_empty() {
            let alive = self.groups[at].in_state(State::Alive);
            return self.beat(at, &alive);
        }
        let group = &mut self.groups[at];
        let mut member = *self.rng.pick(&away);
        if self.rng.chance(800) {
            member = group.replace(member, &mut self.rng, &self.swarm);
        }
        group.members[member].state = State::Alive;
        let epoch = if self.rng.chance(900) { EpochSpec::Number(0) } else { EpochSpec::Last };
        let heartbeat = group.full(member, epoch);
        self.send(at, member, heartbeat);
    }

    /// Somebody joins under an instance id that is in use, or heartbeats under one that it lost.
    fn theft(&mut self, at: usize) {
        let group = &mut self.groups[at];
        let statics: Vec<usize> =
            (0..group.members.len()).filter(|&member| group.members[member].instance.is_some()).collect();
        if statics.is_empty() {
            return self.join(at);
        }
        let victim = *self.rng.pick(&statics);
        if self.rng.chance(500) {
            let heartbeat = group.sensible(victim, &mut self.rng);
            return self.send(at, victim, heartbeat);
        }
        let mut heartbeat = group.full(victim, EpochSpec::Number(0));
        heartbeat.member = format!("thief-{}", self.rng.below(3));
        self.send(at, victim, heartbeat);
    }

    fn odd(&mut self, at: usize, action: Action) {
        let group = &self.groups[at];
        if group.members.is_empty() {
            return self.join(at);
        }
        let alive = group.in_state(State::Alive);
        let member = if alive.is_empty() || self.rng.chance(100) {
            self.rng.index(group.members.len())
        } else {
            *self.rng.pick(&alive)
        };
        let heartbeat = match action {
            Action::OddEpoch => group.odd_epoch(member, &mut self.rng),
            Action::OddOwned => group.odd_owned(member, &self.cluster, &mut self.rng, &self.swarm),
            _ => group.invalid(member, &self.cluster, &mut self.rng, &self.swarm, self.replayable_by_3_9),
        };
        self.send(at, member, heartbeat);
    }

    /// Internal topics that a streams group waits for.
    fn internal_topics(&mut self) {
        let applications: Vec<_> = self.groups.iter().filter_map(|group| group.application.as_ref()).collect();
        let application = *self.rng.pick(&applications);
        let topics = application.internal_topics(|topic| self.cluster.num_partitions(topic));
        let changes = self.cluster.internal_image(&topics, application.sources(), &mut self.rng, &self.swarm);
        self.groups.iter_mut().for_each(|group| group.epoch += i32::from(!changes.is_empty()));
        self.push(EventKind::Metadata(changes));
    }

    /// A member or group that nobody knows heartbeats or leaves.
    fn stranger(&mut self, at: usize) {
        if self.groups[at].members.is_empty() {
            return self.join(at);
        }
        let member = self.rng.index(self.groups[at].members.len());
        let epoch = *self.rng.pick(&[1, 1, -1, -2, 3]);
        let mut heartbeat = self.groups[at].bare(member, EpochSpec::Number(epoch));
        if self.rng.chance(300) {
            heartbeat.group = "nobody's".to_owned();
        } else {
            heartbeat.member = "nobody".to_owned();
        }
        self.send(at, member, heartbeat);
    }
}

#[cfg(test)]
mod tests;
