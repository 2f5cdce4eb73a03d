//! What a seed draws before anything happens: which features its trace has, and how often.

use super::config::Config;
use super::rng::Rng;
use super::{ConfigValue, GeneratorOptions, Kinds};
use crate::kernel::TimeMs;
use crate::trace::GroupKind;

/// Names of topics: short and long, in ASCII and out of it, one the prefix of another.
const TOPICS: [&str; 14] =
    ["foo", "foo2", "bar", "ba", "größe", "📦", "～full", "fo.o", "orders-v1", "a", "Z", "日本", "foo-bar", "x_y"];
const GROUPS: [&str; 7] = ["g", "group-é", "😀", "billing", "Aa", "BB", "a-rather-long-name-of-a-consumer-group"];

/// The features of a trace. Rates are per mille, weights are relative to those of the other actions.
#[derive(Debug)]
pub struct Swarm {
    /// The topic names that the trace may use.
    pub topics: Vec<&'static str>,
    /// The groups. Two of different kinds may have one name.
    pub groups: Vec<(GroupKind, &'static str)>,
    /// How many members a group may have at a time.
    pub members_max: usize,
    /// Whether member ids look like those of a real client instead of `m-1`.
    pub long_ids: bool,
    /// How long a usual step is, at most.
    pub step_ms: u32,
    /// How often time jumps.
    pub jumps: u32,
    /// The session timeout that is configured for each kind.
    pub session_ms: [TimeMs; 3],
    /// Members with an instance id.
    pub statics: u32,
    /// Members with a rack.
    pub racks: u32,
    /// The assignors that are configured.
    pub assignor_names: &'static [&'static str],
    /// Members that name an assignor.
    pub assignors: u32,
    /// Members with a client id and host of their own.
    pub clients: u32,
    /// Members with a rebalance timeout of their own.
    pub timeouts: u32,
    /// Members that subscribe to a regular expression.
    pub regexes: u32,
    /// Subscriptions with a name twice.
    pub duplicates: u32,
    /// Members that stop acknowledging for a while.
    pub stubborn: u32,
    /// Heartbeats whose write fails.
    pub failed_writes: u32,
    /// Weight of joins and leaves.
    pub churn: u32,
    /// Weight of subscription changes.
    pub subscriptions: u32,
    /// Weight of heartbeats with an epoch that nobody told the member.
    pub odd_epochs: u32,
    /// Weight of heartbeats that own what they were not given.
    pub odd_owned: u32,
    /// Weight of invalid requests.
    pub invalid: u32,
    /// Weight of heartbeats of members and groups that nobody knows.
    pub strangers: u32,
    /// Weight of joins under an instance id that somebody has.
    pub thefts: u32,
    /// Weight of new images.
    pub images: u32,
    /// Partitions with a replica on a broker that is not registered.
    pub unregistered: u32,
    /// Weight of brokers that vanish.
    pub vanishing: u32,
    /// Weight of failovers.
    pub failovers: u32,
    /// How many partitions a new topic has at most.
    pub partitions_max: i64,
    /// Weight of images that bring the internal topics of streams groups.
    pub internal: u32,
    /// What only streams groups have.
    pub streams: Streams,
}

/// The features of streams groups.
#[derive(Debug, Default)]
pub struct Streams {
    /// Members with an instance id (refused before 4.4).
    pub statics: u32,
    /// How many processes the members of a group run in.
    pub processes: u32,
    /// How many subtopologies a topology has at most.
    pub subtopologies_max: i64,
    /// Subtopologies that read a repartition topic.
    pub repartitions: u32,
    /// Subtopologies with state stores.
    pub stores: u32,
    /// Joins with another topology than the application's.
    pub twisted: u32,
    internal: u32,
}

impl Swarm {
    /// The features of a seed, and the configuration that goes with them.
    pub fn draw(rng: &mut Rng, options: &GeneratorOptions) -> (Self, Vec<(String, ConfigValue)>) {
        let mut topics = TOPICS.to_vec();
        rng.shuffle(&mut topics);
        topics.truncate(rng.within(2, 9) as usize);
        let mut groups = GROUPS.to_vec();
        rng.shuffle(&mut groups);
        let groups_wanted = *rng.pick(&[1, 1, 2, 2, 3, 4]);
        let mut config = Config::draw(rng, options);
        // Consumer traces draw nothing for kinds: those of known seeds stay what they are.
        let (groups, streams) = if options.kinds == Kinds::CONSUMER {
            groups.truncate(groups_wanted);
            (groups.into_iter().map(|name| (GroupKind::Consumer, name)).collect(), Streams::default())
        } else {
            let kinds = options.kinds.draw(rng);
            if !kinds.contains(&GroupKind::Consumer) {
                config.entries.clear();
                config.max_size = None;
            }
            kinds.iter().for_each(|kind| config.draw_kind(*kind, rng));
            groups.truncate(groups_wanted.max(kinds.len()));
            (of_kinds(&groups, &kinds, rng), Streams::draw(rng))
        };
        let has = |kind| groups.iter().any(|(of, _)| *of == kind);
        let regexes = *rng.pick(&[0, 200, 600]);
        let mut members_max = *rng.pick(&[1, 2, 3, 3, 4, 6, 8, 12]);
        if let Some(max_size) = config.max_size {
            // One more tries to come in; or many do.
            members_max = members_max.min(max_size as usize + *rng.pick(&[1, 1, 5]));
        }
        // Kafka 3.9 answers nothing but errors once a replica is on a broker that is not registered: not too often.
        let (unregistered, vanishing) = if !options.replayable_by_3_9 || rng.chance(250) {
            (*rng.pick(&[0, 0, 0, 30, 200]), *rng.pick(&[0, 0, 3, 10]))
        } else {
            (0, 0)
        };
        let swarm = Swarm {
            topics,
            members_max,
            long_ids: rng.chance(500),
            step_ms: *rng.pick(&[20, 200, 600, 600, 1_500, 4_000]),
            jumps: *rng.pick(&[0, 5, 15, 40]),
            session_ms: config.session_ms,
            assignor_names: config.assignors,
            statics: *rng.pick(&if has(GroupKind::Consumer) { [0, 0, 300, 900] } else { [0; 4] }),
            racks: *rng.pick(&[0, 500]),
            assignors: *rng.pick(&[0, 300, 1000]),
            clients: *rng.pick(&[0, 0, 300]),
            timeouts: *rng.pick(&[0, 300, 900]),
            regexes: if options.replayable_by_3_9 { 0 } else { regexes },
            duplicates: *rng.pick(&[0, 0, 100]),
            stubborn: *rng.pick(&[0, 0, 10, 50]),
            failed_writes: *rng.pick(&[0, 0, 20, 80]),
            churn: *rng.pick(&[4, 10, 25]),
            subscriptions: *rng.pick(&[0, 3, 12]),
            odd_epochs: *rng.pick(&[0, 3, 10]),
            odd_owned: *rng.pick(&[0, 3, 10]),
            invalid: *rng.pick(&[0, 2, 6]),
            strangers: *rng.pick(&[0, 1, 5]),
            thefts: *rng.pick(&[0, 2, 6]),
            images: *rng.pick(&[2, 8, 25]),
            unregistered,
            vanishing,
            failovers: *rng.pick(&[0, 0, 0, 1, 3]),
            partitions_max: *rng.pick(&[1, 3, 6, 6, 10, 40]),
            internal: if has(GroupKind::Streams) { streams.internal } else { 0 },
            groups,
            streams,
        };
        (swarm, config.entries)
    }

    /// Members with an instance id, in groups of a kind.
    pub fn statics_of(&self, kind: GroupKind) -> u32 {
        match kind {
            GroupKind::Consumer => self.statics,
            GroupKind::Share => 0,
            GroupKind::Streams => self.streams.statics,
        }
    }
}

/// Groups of these kinds, of each kind at least one; sometimes one of each kind has the name of the first.
fn of_kinds(names: &[&'static str], kinds: &[GroupKind], rng: &mut Rng) -> Vec<(GroupKind, &'static str)> {
    let one_name = rng.chance(200);
    let mut groups = Vec::new();
    for (at, &name) in names.iter().enumerate() {
        match kinds.get(at) {
            Some(&kind) => groups.push((kind, if one_name { names[0] } else { name })),
            None => groups.push((*rng.pick(kinds), name)),
        }
    }
    groups
}

impl Streams {
    fn draw(rng: &mut Rng) -> Self {
        Streams {
            statics: *rng.pick(&[0, 0, 0, 300]),
            processes: *rng.pick(&[1, 2, 3, 3, 12]),
            subtopologies_max: *rng.pick(&[1, 2, 3, 5]),
            repartitions: *rng.pick(&[0, 400, 900]),
            stores: *rng.pick(&[0, 500, 1000, 1000]),
            twisted: *rng.pick(&[0, 0, 30, 150]),
            internal: *rng.pick(&[6, 15, 30]),
        }
    }
}
