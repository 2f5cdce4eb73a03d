//! A scenario as it was understood: what `docs/scenario.md` describes, with all units in milliseconds.

use super::diagnostic::Place;
use super::units::Rate;
use crate::kafka::GroupKind;
use crate::kernel::TimeMs;
use crate::strategy::Strategy;
use std::collections::BTreeMap;

/// A scenario without errors.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// The file that it was read from, as the user named it.
    pub file: String,
    /// Its name, as in results.
    pub name: String,
    /// What it shows.
    pub description: String,
    /// The seed, unless the command line gives another.
    pub seed: u64,
    /// How long it runs.
    pub duration_ms: TimeMs,
    /// The wall clock at time 0, in Unix milliseconds. `None`: the log's own time (Kraft), else
    /// [`Scenario::DEFAULT_START_UNIX_MS`].
    pub start_unix_ms: Option<TimeMs>,
    /// The Kafka version that brokers and clients follow.
    pub kafka: String,
    /// The strategies to compare, in order.
    pub strategies: Vec<Strategy>,
    /// The width of the timeline's buckets.
    pub timeline_ms: TimeMs,
    /// Metadata changes that come this soon after the first of a batch are published with it, in one image.
    pub image_batching_ms: TimeMs,
    /// Whether it is modelled how long operations wait for a coordinator thread.
    pub waiting: bool,
    /// Kafka's broker configuration.
    pub config: BTreeMap<String, ConfigValue>,
    /// The log, beside what is Kafka's configuration.
    pub log: Log,
    /// How `coordsim check` treats it.
    pub check: Checks,
    /// The cluster.
    pub cluster: Cluster,
    /// Populations of topics.
    pub topics: Vec<TopicPopulation>,
    /// Populations of groups.
    pub groups: Vec<GroupPopulation>,
    /// What happens at random times.
    pub churn: Vec<Churn>,
    /// What happens at given times.
    pub events: Vec<Event>,
}

impl Scenario {
    /// The wall clock at time 0 unless a scenario or a metadata log says otherwise: 14 November 2023.
    pub const DEFAULT_START_UNIX_MS: TimeMs = 1_700_000_000_000;

    /// The population and the number of a group.
    pub fn group_named(&self, name: &str) -> Option<(usize, u64)> {
        let mut found = self.groups.iter().enumerate();
        found.find_map(|(index, group)| Some((index, group.name.number_of(name).filter(|n| *n <= group.count)?)))
    }
}

/// A value of Kafka's configuration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfigValue {
    /// A number; durations are in the unit that the name ends with.
    Integer(i64),
    /// A switch.
    Boolean(bool),
    /// A text; lists are joined by commas, as in Kafka's property files.
    Text(String),
}

/// How `coordsim check` treats a scenario.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checks {
    /// Why it is checked only when it is named.
    pub only_when_named: Option<String>,
    /// The figures that may differ from the baseline.
    pub tolerances: Vec<Tolerance>,
}

/// By how much a figure may differ from the baseline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tolerance {
    /// The figure.
    pub metric: String,
    /// By how many millionths of what it was.
    pub millionths: u64,
    /// Why.
    pub reason: String,
    /// Where it is stated.
    pub place: Place,
}

/// What Kafka has no configuration for of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Log {
    /// When the log cleaners die; `None`: never.
    pub cleaner_stops_ms: Option<TimeMs>,
    /// How often each member commits the offsets of all its partitions; `None`: never.
    pub commit_interval_ms: Option<TimeMs>,
    /// How many bytes of its log a coordinator loads in a second.
    pub load_bytes_per_second: u64,
    /// How long each record takes it beside that, in ns.
    pub load_record_ns: u64,
}

impl Default for Log {
    fn default() -> Self {
        Log {
            cleaner_stops_ms: None,
            commit_interval_ms: None,
            load_bytes_per_second: 100 * 1024 * 1024,
            load_record_ns: 1_300,
        }
    }
}

/// Where the cluster comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cluster {
    /// It is made up.
    Synthetic {
        /// The brokers with their racks.
        brokers: Vec<(i32, Option<String>)>,
        /// Partitions of `__consumer_offsets`.
        offsets_partitions: u32,
        /// Replicas of each.
        offsets_replication: u32,
        /// How often KRaft moves leadership back to the preferred leaders; `None`: never.
        leader_rebalance_ms: Option<TimeMs>,
    },
    /// It is read from the metadata log of a real one.
    Kraft {
        /// Log segments and snapshots, as written in the scenario: relative to its folder.
        files: Vec<String>,
        /// How long after the first image the run's time 0 lies; what came before is there at time 0.
        from_ms: TimeMs,
        /// Where the files are named.
        place: Place,
    },
}

/// A name, or a pattern with `{n}` for the number, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamePattern(pub String);

impl NamePattern {
    /// Whether the number is in it.
    pub fn is_numbered(&self) -> bool {
        self.0.contains("{n}")
    }

    /// The name of a number.
    pub fn name(&self, number: u64) -> String {
        self.0.replace("{n}", &number.to_string())
    }

    /// The number of a name; 1 for a name without number.
    pub fn number_of(&self, name: &str) -> Option<u64> {
        let Some((before, after)) = self.0.split_once("{n}") else { return (self.0 == name).then_some(1) };
        let length = name.len().checked_sub(before.len() + after.len())?;
        let digits = name.get(before.len()..before.len() + length);
        let number: u64 = digits?.parse().ok()?;
        (number > 0 && !after.contains("{n}") && self.name(number) == name).then_some(number)
    }
}

/// An integer, or a choice of several with weights.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The integers.
    pub values: Vec<i64>,
    /// How likely each is, relative to the others.
    pub weights: Vec<u64>,
}

impl Choice {
    /// Always the same.
    pub fn one(value: i64) -> Self {
        Choice { values: vec![value], weights: vec![1] }
    }

    /// The greatest of the integers.
    pub fn max(&self) -> i64 {
        self.values.iter().copied().max().unwrap_or(0)
    }
}

/// How the partitions of a new topic are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layout {
    /// As many as this, placed as KRaft does.
    Placed {
        /// How many partitions.
        partitions: Choice,
        /// How many replicas each has.
        replication: i64,
    },
    /// On these brokers.
    Given(Vec<Vec<i32>>),
}

/// Topics that are alike. They exist from the start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicPopulation {
    /// Their names.
    pub name: NamePattern,
    /// How many there are at the start.
    pub count: u64,
    /// Their partitions.
    pub layout: Layout,
    /// Where it is defined.
    pub place: Place,
}

/// Groups that are alike.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupPopulation {
    /// Their kind.
    pub kind: GroupKind,
    /// What the members of streams groups run.
    pub application: Option<Application>,
    /// Their names.
    pub name: NamePattern,
    /// How many there are.
    pub count: u64,
    /// How many members each has.
    pub members: Choice,
    /// What they subscribe to.
    pub subscribe: Subscribe,
    /// `group.remote.assignor`.
    pub assignor: Option<String>,
    /// Whether the members are static.
    pub is_static: bool,
    /// Whether the clients know their rack and tell it.
    pub rack_aware: bool,
    /// How long a client takes to give up partitions.
    pub revocation_ms: TimeMs,
    /// When the first members may join.
    pub start_ms: TimeMs,
    /// Over how long a time the joins are spread.
    pub join_over_ms: TimeMs,
    /// `max.poll.interval.ms`.
    pub max_poll_interval_ms: TimeMs,
    /// `client.id` with `{group}` and `{m}`, and for streams groups `{process}`.
    pub client_id: String,
    /// Where it is defined.
    pub place: Place,
}

/// What the members of a streams group run. Its sources are what the group subscribes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Application {
    /// `num.stream.threads`: so many members share a process.
    pub threads: u64,
    /// The parts of its topology, at least one.
    pub subtopologies: Vec<Subtopology>,
    /// How long after they are needed internal topics are there.
    pub internal_topics_after_ms: TimeMs,
}

/// A part of an application's topology.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subtopology {
    /// What it reads.
    pub reads: Reads,
    /// How many state stores it has, each with a changelog topic.
    pub stores: u64,
}

/// What a part of a topology reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// The topics that the group subscribes to.
    Sources,
    /// A repartition topic that the part before it writes.
    Repartition {
        /// How many partitions it has; `None`: as many as its writer has tasks.
        partitions: Option<i32>,
    },
}

/// What a group subscribes to.
#[derive(Debug, Clone, PartialEq)]
pub enum Subscribe {
    /// These topics; they need not exist.
    Names(Vec<String>),
    /// Topics drawn from a population, the same for all members of a group.
    Drawn {
        /// The population, as an index into `Scenario::topics`.
        from: usize,
        /// How many different topics.
        count: Choice,
        /// The exponent of Zipf's distribution over the topics' numbers (topic 1 is the most popular); 0 is uniform.
        exponent: f64,
    },
}

/// Something that happens again and again at random times (a Poisson process).
#[derive(Debug, Clone, PartialEq)]
pub struct Churn {
    /// What happens.
    pub kind: ChurnKind,
    /// How often, over the whole population.
    pub rate: Rate,
    /// From when on.
    pub from_ms: TimeMs,
    /// Until when.
    pub until_ms: TimeMs,
    /// Where it is defined.
    pub place: Place,
}

/// How a broker goes and comes back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Restart {
    /// From its stop to its registration.
    pub down_ms: TimeMs,
    /// Which rack it comes back in.
    pub rack: NewRack,
    /// How long its replicas need to catch up, at least: from its return to the first image with a grown ISR.
    pub catch_up_ms: TimeMs,
    /// Whether it dies without a word: it is fenced when its session runs out.
    pub crash: bool,
}

/// The rack that a broker comes back in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewRack {
    /// As before.
    Same,
    /// This one, or none.
    Given(Option<String>),
    /// One of these, drawn.
    OneOf(Vec<String>),
}

/// What happens at random times, and to which population.
#[derive(Debug, Clone, PartialEq)]
pub enum ChurnKind {
    /// A topic is added to a population.
    CreateTopics {
        /// The population.
        topics: usize,
    },
    /// A topic gets more partitions.
    Expand {
        /// The population.
        topics: usize,
        /// How many more.
        add: i64,
        /// But never more than this in all.
        up_to: i64,
    },
    /// A topic is deleted.
    DeleteTopics {
        /// The population.
        topics: usize,
    },
    /// A topic is deleted and created anew under its name.
    Recreate {
        /// The population.
        topics: usize,
        /// The time between.
        gap_ms: TimeMs,
    },
    /// Partitions of a topic move: each trades one of its brokers for another.
    Reassign {
        /// The population.
        topics: usize,
        /// How many partitions of the topic.
        partitions: i64,
        /// How long copying takes.
        copy_ms: TimeMs,
    },
    /// A broker is restarted.
    RestartBroker {
        /// Which may be; empty: all.
        brokers: Vec<i32>,
        /// How.
        restart: Restart,
    },
    /// All brokers are restarted, one after the other.
    RollingRestart {
        /// How each.
        restart: Restart,
        /// The time from one broker's last image to the next one's stop.
        pause_ms: TimeMs,
    },
    /// A new member joins a group.
    MemberJoin {
        /// The population.
        groups: usize,
    },
    /// A member leaves its group.
    MemberLeave {
        /// The population.
        groups: usize,
        /// After how long it comes back; `None`: never.
        back_after_ms: Option<TimeMs>,
    },
    /// A member dies without a word.
    MemberCrash {
        /// The population.
        groups: usize,
        /// After how long it comes back; `None`: never.
        back_after_ms: Option<TimeMs>,
    },
    /// All members of a group are restarted, one after the other.
    Redeploy {
        /// The population.
        groups: usize,
        /// How.
        redeploy: Redeploy,
    },
    /// A group trades one of its topics for another of the population that it subscribes to.
    SubscriptionChange {
        /// The population.
        groups: usize,
        /// Over how long a time the members follow.
        over_ms: TimeMs,
    },
}

impl ChurnKind {
    /// Its name in a scenario.
    pub const fn name(&self) -> &'static str {
        match self {
            ChurnKind::CreateTopics { .. } => "create-topics",
            ChurnKind::Expand { .. } => "expand",
            ChurnKind::DeleteTopics { .. } => "delete-topics",
            ChurnKind::Recreate { .. } => "recreate",
            ChurnKind::Reassign { .. } => "reassign",
            ChurnKind::RestartBroker { restart: Restart { crash: false, .. }, .. } => "restart-broker",
            ChurnKind::RestartBroker { .. } => "crash-broker",
            ChurnKind::RollingRestart { .. } => "rolling-restart",
            ChurnKind::MemberJoin { .. } => "member-join",
            ChurnKind::MemberLeave { .. } => "member-leave",
            ChurnKind::MemberCrash { .. } => "member-crash",
            ChurnKind::Redeploy { .. } => "redeploy",
            ChurnKind::SubscriptionChange { .. } => "subscription-change",
        }
    }

    /// The population of topics that it happens to.
    pub const fn topics(&self) -> Option<usize> {
        match self {
            ChurnKind::CreateTopics { topics }
            | ChurnKind::Expand { topics, .. }
            | ChurnKind::DeleteTopics { topics }
            | ChurnKind::Recreate { topics, .. }
            | ChurnKind::Reassign { topics, .. } => Some(*topics),
            _ => None,
        }
    }

    /// The population of groups that it happens to.
    pub const fn groups(&self) -> Option<usize> {
        match self {
            ChurnKind::MemberJoin { groups }
            | ChurnKind::MemberLeave { groups, .. }
            | ChurnKind::MemberCrash { groups, .. }
            | ChurnKind::Redeploy { groups, .. }
            | ChurnKind::SubscriptionChange { groups, .. } => Some(*groups),
            _ => None,
        }
    }

    /// Whether it changes the cluster (or else members).
    pub const fn is_of_cluster(&self) -> bool {
        self.groups().is_none()
    }
}

/// How a group is redeployed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Redeploy {
    /// How long each member is down.
    pub down_ms: TimeMs,
    /// The time from one member's stop to the next one's.
    pub pause_ms: TimeMs,
}

/// Something that happens at a given time.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// When.
    pub at_ms: TimeMs,
    /// What.
    pub kind: EventKind,
    /// Where it is defined.
    pub place: Place,
}

/// What happens at a given time, and to whom.
#[derive(Debug, Clone, PartialEq)]
pub enum EventKind {
    /// Topics are created in one image.
    CreateTopics {
        /// Their names.
        topics: Vec<String>,
        /// Their partitions.
        layout: Layout,
    },
    /// A topic gets more partitions.
    Expand {
        /// Its name.
        topic: String,
        /// How many it has then.
        partitions: i64,
    },
    /// Topics are deleted in one image.
    DeleteTopics {
        /// Their names.
        topics: Vec<String>,
    },
    /// A topic is deleted and created anew.
    Recreate {
        /// Its name.
        topic: String,
        /// The time between.
        gap_ms: TimeMs,
    },
    /// A partition moves to other brokers.
    Reassign {
        /// The topic.
        topic: String,
        /// The partition.
        partition: i32,
        /// The brokers it moves to.
        replicas: Vec<i32>,
        /// How long copying takes.
        copy_ms: TimeMs,
    },
    /// A broker is restarted.
    RestartBroker {
        /// Which.
        broker: i32,
        /// How.
        restart: Restart,
    },
    /// All brokers are restarted, one after the other.
    RollingRestart {
        /// How each.
        restart: Restart,
        /// The time from one broker's last image to the next one's stop.
        pause_ms: TimeMs,
    },
    /// Every partition's preferred leader leads again, where it is in sync.
    ElectLeaders,
    /// A member joins. A name that the group has used before is the same client, started again.
    MemberJoin {
        /// The group.
        group: String,
        /// The member's name.
        member: String,
        /// What it subscribes to; `None`: as its group does.
        topics: Option<Vec<String>>,
        /// Its instance id; `None`: as its group does it.
        instance: Option<String>,
        /// Its rack; `None`: as its group does it.
        rack: Option<String>,
    },
    /// A member leaves for good.
    MemberLeave {
        /// The group.
        group: String,
        /// The member's name.
        member: String,
    },
    /// A member stops for a while.
    MemberStop {
        /// The group.
        group: String,
        /// The member's name.
        member: String,
    },
    /// A member dies without a word.
    MemberCrash {
        /// The group.
        group: String,
        /// The member's name.
        member: String,
    },
    /// Members change their subscription.
    SubscriptionChange {
        /// The group.
        group: String,
        /// The member's name; `None`: all that are there.
        member: Option<String>,
        /// What they subscribe to from then on.
        topics: Vec<String>,
    },
    /// All members of a group are restarted, one after the other.
    Redeploy {
        /// The group.
        group: String,
        /// How.
        redeploy: Redeploy,
    },
}

impl EventKind {
    /// Whether it changes the cluster (or else members).
    pub const fn is_of_cluster(&self) -> bool {
        use EventKind::*;
        match self {
            CreateTopics { .. } | Expand { .. } | DeleteTopics { .. } | Recreate { .. } | Reassign { .. } => true,
            RestartBroker { .. } | RollingRestart { .. } | ElectLeaders => true,
            MemberJoin { .. } | MemberLeave { .. } | MemberStop { .. } | MemberCrash { .. } => false,
            SubscriptionChange { .. } | Redeploy { .. } => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_and_numbers() {
        let pattern = NamePattern("orders-{n}.eu".to_owned());
        assert_eq!(pattern.name(12), "orders-12.eu");
        assert_eq!(pattern.number_of("orders-12.eu"), Some(12));
        for other in ["orders-.eu", "orders-012.eu", "orders-0.eu", "orders-12.us", "orders", "", "orders-+1.eu"] {
            assert_eq!(pattern.number_of(other), None, "{other}");
        }
        assert_eq!(NamePattern("a".to_owned()).number_of("a"), Some(1));
        assert_eq!(NamePattern("a".to_owned()).number_of("b"), None);
        assert_eq!(NamePattern("{n}".to_owned()).number_of("7"), Some(7));
    }
}
