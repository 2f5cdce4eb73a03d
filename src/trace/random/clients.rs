//! The members of random groups: what they believe, and what they send. They know no answers; `"last"` lets them behave
//! as if they did. What only members of [share](super::share) or [streams](super::streams) groups send has its own file.

use super::application::Application;
use super::images::Cluster;
use super::rng::Rng;
use super::streams::{owns_last, process, streams};
use super::swarm::Swarm;
use crate::kernel::TimeMs;
use crate::trace::{
    ConsumerBody, EpochSpec, GroupKind, Heartbeat, HeartbeatBody, Owned, StreamsBody, TopicPartitions, Topology,
};

/// Regular expressions: of many topics, of few, of none, alternatives, and one that is wrong.
const REGEXES: [&str; 10] = ["foo.*", "ba.?", ".*", "gr[oö]+ße", "foo|bar", "none", "", "(", "[a-zA-Z]", r"orders-v\d"];
const HOSTS: [&str; 4] = ["/10.0.0.1", "host-1/10.0.0.2", "hôst/192.168.1.1", "/0:0:0:0:0:0:0:1"];
const CLIENT_IDS: [&str; 4] = ["consumer-1", "cliént", "😀", ""];

/// What a member believes of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It is a member.
    Alive,
    /// It has left for a while (a static member, epoch -2).
    Away,
    /// It has left.
    Gone,
}

/// A member.
#[derive(Debug, Clone)]
pub struct Member {
    /// Its id.
    pub id: String,
    /// Its instance id.
    pub instance: Option<String>,
    /// What it believes of itself.
    pub state: State,
    /// When it last sent anything.
    pub last_ms: TimeMs,
    /// It goes on heartbeating but never says what it owns.
    pub stubborn: bool,
    pub(super) topics: Option<Vec<String>>,
    regex: Option<String>,
    pub(super) rack: Option<String>,
    assignor: Option<String>,
    pub(super) rebalance_timeout_ms: Option<i32>,
    pub(super) client: Option<(String, String)>,
    /// Of a streams group's member.
    pub(super) process: Option<String>,
    /// Of a streams group's member.
    pub(super) topology: Option<Topology>,
}

impl Member {
    /// Other topics, mostly one more or less.
    pub(super) fn change_subscription(&mut self, rng: &mut Rng, swarm: &Swarm) {
        if rng.chance(500) {
            // One name more or less.
            let topics = self.topics.get_or_insert_default();
            if topics.len() > 1 && rng.chance(500) {
                topics.remove(rng.index(topics.len()));
            } else {
                topics.push((*rng.pick(&swarm.topics)).to_owned());
            }
        } else {
            self.topics = Some(subscription(rng, swarm));
        }
    }
}

/// A group.
#[derive(Debug)]
pub struct Group {
    /// Its kind.
    pub kind: GroupKind,
    /// What the members of a streams group run.
    pub application: Option<Application>,
    /// Its id.
    pub name: &'static str,
    /// All members that it ever had.
    pub members: Vec<Member>,
    /// About the group's epoch, to draw plausible member epochs from.
    pub epoch: i32,
}

impl Group {
    /// A group without members.
    pub fn new(kind: GroupKind, name: &'static str, rng: &mut Rng, swarm: &Swarm) -> Self {
        let application = (kind == GroupKind::Streams).then(|| Application::draw(name, rng, swarm));
        Group { kind, application, name, members: Vec::new(), epoch: 0 }
    }

    /// The members in a state, by their places.
    pub fn in_state(&self, state: State) -> Vec<usize> {
        (0..self.members.len()).filter(|&at| self.members[at].state == state).collect()
    }

    /// A new member: it joins.
    pub fn add(&mut self, rng: &mut Rng, swarm: &Swarm) -> usize {
        let number = self.members.len();
        let instance = rng.chance(swarm.statics_of(self.kind)).then(|| format!("i-{number}"));
        let client =
            rng.chance(swarm.clients).then(|| ((*rng.pick(&CLIENT_IDS)).to_owned(), (*rng.pick(&HOSTS)).to_owned()));
        // What a kind does not have is drawn all the same, and not sent.
        let regex = rng.chance(swarm.regexes).then(|| (*rng.pick(&REGEXES[..6])).to_owned());
        let regex = regex.filter(|_| self.kind == GroupKind::Consumer);
        let topics = if regex.is_some() && rng.chance(600) { None } else { Some(subscription(rng, swarm)) };
        self.members.push(Member {
            id: member_id(number, rng, swarm),
            instance,
            state: State::Alive,
            last_ms: 0,
            stubborn: false,
            topics,
            regex,
            rack: rng.chance(swarm.racks).then(|| (*rng.pick(&["a", "b", "～", "😀"])).to_owned()),
            assignor: rng.chance(swarm.assignors).then(|| assignor(rng, swarm)),
            rebalance_timeout_ms: rng
                .chance(swarm.timeouts)
                .then(|| *rng.pick(&[1, 500, 3_000, 10_000, 60_000, i32::MAX])),
            client,
            process: self.application.as_ref().and_then(|_| process(rng, swarm)),
            topology: self.application.as_ref().map(|application| application.topology(rng, swarm)),
        });
        number
    }

    /// A new member id for the instance of a member that is away or gone.
    pub fn replace(&mut self, at: usize, rng: &mut Rng, swarm: &Swarm) -> usize {
        let number = self.members.len();
        let mut member = self.members[at].clone();
        member.id = member_id(number, rng, swarm);
        member.state = State::Alive;
        member.stubborn = false;
        if rng.chance(250) {
            member.topics = Some(subscription(rng, swarm));
        }
        if rng.chance(100) {
            member.rack = None;
        }
        self.members[at].state = State::Gone;
        self.members.push(member);
        number
    }

    /// A bare heartbeat of a member.
    pub fn bare(&self, at: usize, epoch: EpochSpec) -> Heartbeat {
        let member = &self.members[at];
        Heartbeat {
            group: self.name.to_owned(),
            member: member.id.clone(),
            epoch,
            rack: None,
            client_id: member.client.as_ref().map(|(id, _)| id.clone()),
            client_host: member.client.as_ref().map(|(_, host)| host.clone()),
            write_fails: false,
            body: match self.kind {
                GroupKind::Consumer => HeartbeatBody::Consumer(ConsumerBody {
                    instance: member.instance.clone(),
                    ..ConsumerBody::default()
                }),
                GroupKind::Share => HeartbeatBody::Share(None),
                GroupKind::Streams => {
                    HeartbeatBody::Streams(StreamsBody { instance: member.instance.clone(), ..StreamsBody::default() })
                }
            },
        }
    }

    /// A heartbeat with everything that a member says of itself, as it joins or joins again.
    pub fn full(&self, at: usize, epoch: EpochSpec) -> Heartbeat {
        let member = &self.members[at];
        let mut heartbeat = self.bare(at, epoch);
        heartbeat.rack = member.rack.clone();
        match &mut heartbeat.body {
            HeartbeatBody::Consumer(body) => {
                body.topics = member.topics.clone();
                body.regex = member.regex.clone();
                body.assignor = member.assignor.clone();
                body.rebalance_timeout_ms = member.rebalance_timeout_ms;
            }
            HeartbeatBody::Share(topics) => topics.clone_from(&member.topics),
            HeartbeatBody::Streams(body) => {
                body.topology = member.topology.clone();
                body.process_id = member.process.clone();
                body.rebalance_timeout_ms = member.rebalance_timeout_ms;
            }
        }
        heartbeat
    }

    /// What a well-behaved client sends: mostly what it owns, sometimes nothing or everything.
    pub fn sensible(&self, at: usize, rng: &mut Rng) -> Heartbeat {
        let member = &self.members[at];
        if member.stubborn {
            return self.bare(at, EpochSpec::Last);
        }
        match self.kind {
            GroupKind::Consumer => {}
            GroupKind::Share if rng.chance(200) => return self.full(at, EpochSpec::Last),
            GroupKind::Share => return self.bare(at, EpochSpec::Last),
            GroupKind::Streams => {
                let mut heartbeat = self.bare(at, EpochSpec::Last);
                if rng.chance(850) {
                    owns_last(streams(&mut heartbeat));
                }
                return heartbeat;
            }
        }
        // With everything in it, it is a join again where `"last"` is 0 because the first one failed.
        let mut heartbeat = if rng.chance(200) {
            let mut heartbeat = self.full(at, EpochSpec::Last);
            let body = consumer(&mut heartbeat);
            body.rebalance_timeout_ms = body.rebalance_timeout_ms.or(Some(300_000));
            heartbeat
        } else {
            self.bare(at, EpochSpec::Last)
        };
        let body = consumer(&mut heartbeat);
        if rng.chance(850) {
            body.owned = Owned::Last;
        }
        if rng.chance(100) {
            body.instance = None;
        }
        heartbeat
    }

    /// A change of what the member subscribes to, or of what else it says of itself.
    pub fn changed(&mut self, at: usize, rng: &mut Rng, swarm: &Swarm) -> Heartbeat {
        match self.kind {
            GroupKind::Consumer => {}
            GroupKind::Share => return self.changed_share(at, rng, swarm),
            GroupKind::Streams => return self.changed_streams(at, rng, swarm),
        }
        let mut heartbeat = self.bare(at, EpochSpec::Last);
        let regexes = swarm.regexes > 0;
        let member = &mut self.members[at];
        let body = consumer(&mut heartbeat);
        match rng.below(10) {
            0 => member.topics = Some(Vec::new()),
            1 => {
                let rack = rng.pick(&["a", "b", "c"]);
                member.rack = Some((*rack).to_owned());
            }
            2 => member.assignor = Some(assignor(rng, swarm)),
            3 => member.rebalance_timeout_ms = Some(*rng.pick(&[500, 5_000, 100_000])),
            4 | 5 if regexes => member.regex = Some((*rng.pick(&REGEXES)).to_owned()),
            6 if regexes && member.regex.is_some() => member.regex = Some(String::new()),
            _ => member.change_subscription(rng, swarm),
        }
        body.topics.clone_from(&member.topics);
        body.regex.clone_from(&member.regex);
        body.assignor.clone_from(&member.assignor);
        body.rebalance_timeout_ms = member.rebalance_timeout_ms;
        if rng.chance(700) {
            body.owned = Owned::Last;
        }
        heartbeat.rack.clone_from(&member.rack);
        heartbeat
    }

    /// A heartbeat with an epoch that the member was not told, or not last.
    pub fn odd_epoch(&self, at: usize, rng: &mut Rng) -> Heartbeat {
        let near = self.epoch.saturating_add(rng.within(-3, 2) as i32).max(1);
        let epoch = *rng.pick(&[near, near, near, 1, 2, i32::MAX, -3, i32::MIN]);
        let mut heartbeat = self.bare(at, EpochSpec::Number(epoch));
        if rng.chance(700) {
            match &mut heartbeat.body {
                HeartbeatBody::Consumer(body) => body.owned = Owned::Last,
                HeartbeatBody::Share(_) => {}
                HeartbeatBody::Streams(body) => owns_last(body),
            }
        }
        heartbeat
    }

    /// A heartbeat that owns something that may not be the member's.
    pub fn odd_owned(&self, at: usize, cluster: &Cluster, rng: &mut Rng, swarm: &Swarm) -> Heartbeat {
        match self.kind {
            GroupKind::Consumer => {}
            // Members of share groups do not say what they own.
            GroupKind::Share => return self.odd_epoch(at, rng),
            GroupKind::Streams => return self.odd_tasks(at, rng, swarm),
        }
        let epoch = if rng.chance(800) { EpochSpec::Last } else { EpochSpec::Number(self.epoch.max(1)) };
        let mut heartbeat = self.bare(at, epoch);
        let count = rng.below(3);
        consumer(&mut heartbeat).owned = Owned::List(
            (0..count)
                .map(|_| {
                    let topic_id = cluster.some_id(rng);
                    let end = rng.within(0, swarm.partitions_max.min(6)) as i32;
                    let mut partitions: Vec<i32> = (0..end).filter(|_| rng.chance(700)).collect();
                    if rng.chance(30) {
                        partitions.push(*rng.pick(&[-1, 0, i32::MAX]));
                    }
                    TopicPartitions { topic_id, partitions }
                })
                .collect(),
        );
        heartbeat
    }

    /// A request that Kafka refuses without looking at the group (some are accepted by some versions).
    pub fn invalid(
        &self,
        at: usize,
        cluster: &Cluster,
        rng: &mut Rng,
        swarm: &Swarm,
        replayable_by_3_9: bool,
    ) -> Heartbeat {
        match self.kind {
            GroupKind::Consumer => {}
            GroupKind::Share => return self.invalid_share(at, rng),
            GroupKind::Streams => return self.invalid_streams(at, rng, swarm),
        }
        let mut heartbeat = match rng.below(3) {
            0 => self.bare(at, EpochSpec::Last),
            1 => self.full(at, EpochSpec::Number(self.epoch.max(1))),
            _ => self.full(at, EpochSpec::Number(0)),
        };
        let joins = heartbeat.joins();
        let mut member = None;
        let body = consumer(&mut heartbeat);
        match rng.below(9) {
            0 => body.rebalance_timeout_ms = Some(-1),
            1 => {
                let partitions = vec![0];
                body.owned = Owned::List(vec![TopicPartitions { topic_id: cluster.some_id(rng), partitions }]);
            }
            2 => body.instance = Some(String::new()),
            3 => body.assignor = Some((*rng.pick(&["", "unknown", "Range", "sticky"])).to_owned()),
            4 => body.topics = Some(Vec::new()),
            5 => body.topics = None,
            // Kafka 3.9 invents a member id at random for one that joins without.
            6 if !(replayable_by_3_9 && joins) && heartbeat.epoch != EpochSpec::Last => member = Some(String::new()),
            7 => heartbeat.rack = Some(String::new()),
            _ => heartbeat.group = String::new(),
        }
        heartbeat.member = member.unwrap_or(heartbeat.member);
        heartbeat
    }
}

/// The consumer part of a heartbeat that has one.
pub fn consumer(heartbeat: &mut Heartbeat) -> &mut ConsumerBody {
    match &mut heartbeat.body {
        HeartbeatBody::Consumer(body) => body,
        HeartbeatBody::Share(_) | HeartbeatBody::Streams(_) => {
            unreachable!("the group is a consumer group")
        }
    }
}

fn subscription(rng: &mut Rng, swarm: &Swarm) -> Vec<String> {
    let mut topics = swarm.topics.clone();
    // Members of a group mostly have something in common: the first names are drawn more often.
    let shared = rng.chance(500);
    if !shared {
        rng.shuffle(&mut topics);
    }
    topics.truncate(*rng.pick(&[1, 1, 2, 2, 3, 5]));
    if rng.chance(swarm.duplicates) {
        topics.push(*rng.pick(&topics));
    }
    topics.into_iter().map(str::to_owned).collect()
}

/// An assignor: mostly one that is configured.
fn assignor(rng: &mut Rng, swarm: &Swarm) -> String {
    let names = if rng.chance(50) { &["range", "uniform"] } else { swarm.assignor_names };
    (*rng.pick(names)).to_owned()
}

fn member_id(number: usize, rng: &mut Rng, swarm: &Swarm) -> String {
    if swarm.long_ids {
        let bits = u128::from(rng.bits()) << 64 | u128::from(rng.bits());
        crate::kafka::Uuid(bits).to_string()
    } else if number == 5 {
        "m-😀".to_owned()
    } else {
        format!("m-{number}")
    }
}
