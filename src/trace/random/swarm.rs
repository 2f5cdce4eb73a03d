//! What a seed draws before anything happens: which features its trace has, and how often.

use super::rng::Rng;
use super::{ConfigValue, GeneratorOptions};
use crate::kernel::TimeMs;

/// Names of topics: short and long, in ASCII and out of it, one the prefix of another.
const TOPICS: [&str; 14] =
    ["foo", "foo2", "bar", "ba", "größe", "📦", "～full", "fo.o", "orders-v1", "a", "Z", "日本", "foo-bar", "x_y"];
const GROUPS: [&str; 7] = ["g", "group-é", "😀", "billing", "Aa", "BB", "a-rather-long-name-of-a-consumer-group"];

/// The features of a trace. Rates are per mille, weights are relative to those of the other actions.
#[derive(Debug)]
pub struct Swarm {
    /// The topic names that the trace may use.
    pub topics: Vec<&'static str>,
    /// The groups.
    pub groups: Vec<&'static str>,
    /// How many members a group may have at a time.
    pub members_max: usize,
    /// Whether member ids look like those of a real client instead of `m-1`.
    pub long_ids: bool,
    /// How long a usual step is, at most.
    pub step_ms: u32,
    /// How often time jumps.
    pub jumps: u32,
    /// The session timeout of the configuration.
    pub session_ms: TimeMs,
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
}

impl Swarm {
    /// The features of a seed, and the configuration that goes with them.
    pub fn draw(rng: &mut Rng, options: &GeneratorOptions) -> (Self, Vec<(String, ConfigValue)>) {
        let mut topics = TOPICS.to_vec();
        rng.shuffle(&mut topics);
        topics.truncate(rng.within(2, 9) as usize);
        let mut groups = GROUPS.to_vec();
        rng.shuffle(&mut groups);
        groups.truncate(*rng.pick(&[1, 1, 2, 2, 3, 4]));
        let config = Config::draw(rng, options);
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
            groups,
            members_max,
            long_ids: rng.chance(500),
            step_ms: *rng.pick(&[20, 200, 600, 600, 1_500, 4_000]),
            jumps: *rng.pick(&[0, 5, 15, 40]),
            session_ms: config.session_ms,
            assignor_names: config.assignors,
            statics: *rng.pick(&[0, 0, 300, 900]),
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
        };
        (swarm, config.entries)
    }
}

/// The configuration of a seed, and what members should know of it.
struct Config {
    entries: Vec<(String, ConfigValue)>,
    session_ms: TimeMs,
    max_size: Option<i64>,
    assignors: &'static [&'static str],
}

impl Config {
    fn draw(rng: &mut Rng, options: &GeneratorOptions) -> Self {
        let session_ms = *rng.pick(&[45_000, 45_000, 45_000, 45_000, 10_000, 60_000]);
        let mut config = Config { entries: Vec::new(), session_ms, max_size: None, assignors: &["range", "uniform"] };
        if session_ms != 45_000 {
            config.set("session.timeout.ms", session_ms);
            config.set("min.session.timeout.ms", session_ms.min(45_000));
        }
        match rng.below(5) {
            0 => config.set("heartbeat.interval.ms", 6_000),
            1 => {
                config.set("heartbeat.interval.ms", 500);
                config.set("min.heartbeat.interval.ms", 500);
            }
            _ => {}
        }
        if rng.chance(250) {
            let max_size = rng.within(1, 5);
            config.set("max.size", max_size);
            config.max_size = Some(max_size);
        }
        if rng.chance(600) {
            config.set("assignment.interval.ms", *rng.pick(&[0, 0, 1_000, 5_000]));
        }
        if !options.replayable_by_3_9 && rng.chance(300) {
            config.set("regex.refresh.interval.ms", *rng.pick(&[10_000, 30_000]));
        }
        config.draw_assignors(rng, options);
        config
    }

    fn set(&mut self, name: &str, value: i64) {
        self.entries.push((format!("group.consumer.{name}"), ConfigValue::Int(value)));
    }

    fn draw_assignors(&mut self, rng: &mut Rng, options: &GeneratorOptions) {
        const CLASSES: [(&str, &str); 2] = [
            ("range", "org.apache.kafka.coordinator.group.assignor.RangeAssignor"),
            ("uniform", "org.apache.kafka.coordinator.group.assignor.UniformAssignor"),
        ];
        // Kafka 3.9 only takes the names of classes here.
        let as_classes = options.replayable_by_3_9 || rng.chance(300);
        self.assignors = match rng.below(8) {
            0 => &["range"],
            1 => &["uniform"],
            2 => &["range", "uniform"],
            3 => &["uniform", "range"],
            _ => return,
        };
        let named = self.assignors.iter().map(|name| {
            let class = CLASSES.iter().find(|(known, _)| as_classes && known == name);
            class.map_or(*name, |(_, class)| class)
        });
        let text = named.collect::<Vec<&str>>().join(",");
        self.entries.push(("group.consumer.assignors".to_owned(), ConfigValue::Text(text)));
    }
}
