//! A trace as data: as it is written in its file, defaults not filled in. Methods say what a default stands for.

use crate::cluster::Change;
use crate::kafka::{GroupKind, Uuid};
use crate::kernel::TimeMs;

/// Everything that happens to one coordinator shard from outside.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// The Unix time in ms at which the trace's clock is 0.
    pub start_unix_ms: i64,
    /// Kafka broker configuration, by Kafka's names, in the order of the file. Names that a version does not know
    /// are ignored by that version.
    pub config: Vec<(String, ConfigValue)>,
    /// What happens, in order.
    pub events: Vec<Event>,
}

/// The value of a configuration name.
#[derive(Debug, Clone, PartialEq)]
pub enum ConfigValue {
    /// An integer.
    Int(i64),
    /// A number that is no 64-bit integer.
    Float(f64),
    /// True or false.
    Bool(bool),
    /// A text (lists are texts with commas, as in Kafka's property files).
    Text(String),
}

/// One line of a trace.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Its line in the file, from 1 (the header is line 1).
    pub line: usize,
    /// When it happens, in ms from the start of the trace.
    pub t_ms: TimeMs,
    /// What happens.
    pub kind: EventKind,
}

/// What happens at an event.
#[derive(Debug, Clone, PartialEq)]
pub enum EventKind {
    /// A new metadata image is published; its changes, in order.
    Metadata(Vec<Change>),
    /// A member sends a heartbeat.
    Heartbeat(Box<Heartbeat>),
    /// Time passes.
    Tick,
    /// A new coordinator loads the shard from the compacted log.
    Failover,
}

/// A heartbeat request, as the trace writes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Heartbeat {
    /// The group id.
    pub group: String,
    /// The member id.
    pub member: String,
    /// The member epoch that is sent.
    pub epoch: EpochSpec,
    /// `client.rack`; `None` is not sent.
    pub rack: Option<String>,
    /// The client id; `None` is the default, [`Heartbeat::client_id`].
    pub client_id: Option<String>,
    /// The client's host in Java's form, `name/address`, normalised; `None` is the default,
    /// [`Heartbeat::client_host`].
    pub client_host: Option<String>,
    /// Whether the records of this heartbeat fail to be written (if it has any).
    pub write_fails: bool,
    /// The fields that not every kind of group has.
    pub body: HeartbeatBody,
}

/// The fields of a heartbeat that not every kind of group has.
#[derive(Debug, Clone, PartialEq)]
pub enum HeartbeatBody {
    /// Of a consumer group's member.
    Consumer(ConsumerBody),
    /// Of a share group's member: the names subscribed to (`None`: not sent).
    Share(Option<Vec<String>>),
    /// Of a streams group's member.
    Streams(StreamsBody),
}

/// The fields of a consumer group's heartbeat; `None` is not sent, or the default.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ConsumerBody {
    /// The names subscribed to.
    pub topics: Option<Vec<String>>,
    /// The regular expression subscribed to.
    pub regex: Option<String>,
    /// `group.instance.id`.
    pub instance: Option<String>,
    /// `group.remote.assignor`.
    pub assignor: Option<String>,
    /// The rebalance timeout as written; [`Heartbeat::rebalance_timeout_ms`] knows the default.
    pub rebalance_timeout_ms: Option<i32>,
    /// What the member says it owns.
    pub owned: Owned<TopicPartitions>,
}

/// The fields of a streams group's heartbeat; `None` is not sent, or the default.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct StreamsBody {
    /// `group.instance.id`.
    pub instance: Option<String>,
    /// The rebalance timeout as written; [`Heartbeat::rebalance_timeout_ms`] knows the default.
    pub rebalance_timeout_ms: Option<i32>,
    /// The topology.
    pub topology: Option<Topology>,
    /// The process that the member runs in.
    pub process_id: Option<String>,
    /// Active tasks.
    pub active: Owned<Tasks>,
    /// Standby tasks.
    pub standby: Owned<Tasks>,
    /// Warm-up tasks.
    pub warmup: Owned<Tasks>,
}

/// A member epoch in a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EpochSpec {
    /// This number.
    Number(i32),
    /// The epoch of this member's last successful answer; 0 if there is none.
    Last,
}

/// What a member says it owns, as the trace writes it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Owned<T> {
    /// Not written: an empty list when the member joins (epoch 0), else not sent.
    #[default]
    Absent,
    /// What was in the last answer that carried an assignment; an empty list if none has.
    Last,
    /// This.
    List(Vec<T>),
}

/// What a member says it owns, as it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent<'a, T> {
    /// Not sent.
    Nothing,
    /// What was in the last answer that carried an assignment; an empty list if none has.
    Last,
    /// This.
    List(&'a [T]),
}

/// Some partitions of a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicPartitions {
    /// The topic.
    pub topic_id: Uuid,
    /// The partitions.
    pub partitions: Vec<i32>,
}

/// Some tasks of a subtopology.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tasks {
    /// The subtopology.
    pub subtopology: String,
    /// The partitions.
    pub partitions: Vec<i32>,
}

/// The topology of a streams application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    /// Its epoch.
    pub epoch: i32,
    /// Its parts.
    pub subtopologies: Vec<Subtopology>,
}

/// A part of a topology; `None` is an empty list that is not written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subtopology {
    /// Its id.
    pub id: String,
    /// The topics that it reads.
    pub sources: Option<Vec<String>>,
    /// The repartition topics that it writes.
    pub repartition_sinks: Option<Vec<String>>,
    /// The changelog topics of its state stores.
    pub state_changelogs: Option<Vec<TopicInfo>>,
    /// The repartition topics that it reads.
    pub repartition_sources: Option<Vec<TopicInfo>>,
}

/// An internal topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicInfo {
    /// Its name.
    pub name: String,
    /// Its number of partitions; `None` is 0 (left to the coordinator) and not written.
    pub partitions: Option<i32>,
}

/// What a trace needs that not every Kafka version has: the first line that needs it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Requirements {
    /// Regular expressions, from 4.0 on.
    pub regex: Option<usize>,
    /// Share groups, from 4.1 on.
    pub share: Option<usize>,
    /// Streams groups, from 4.1 on.
    pub streams: Option<usize>,
}

impl Trace {
    /// The value of a configuration name.
    pub fn config(&self, name: &str) -> Option<&ConfigValue> {
        self.config.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// What this trace needs of a Kafka version.
    pub fn requires(&self) -> Requirements {
        let mut needs = Requirements::default();
        for event in &self.events {
            let EventKind::Heartbeat(heartbeat) = &event.kind else {
                continue;
            };
            let need = match &heartbeat.body {
                HeartbeatBody::Consumer(body) if body.regex.is_some() => &mut needs.regex,
                HeartbeatBody::Consumer(_) => continue,
                HeartbeatBody::Share(_) => &mut needs.share,
                HeartbeatBody::Streams(_) => &mut needs.streams,
            };
            need.get_or_insert(event.line);
        }
        needs
    }
}

impl Heartbeat {
    /// The client id of a heartbeat that names none.
    pub const CLIENT_ID: &str = "client";
    /// The host of a heartbeat that names none.
    pub const CLIENT_HOST: &str = "/127.0.0.1";
    /// The rebalance timeout of a member that joins and names none.
    pub const REBALANCE_TIMEOUT_MS: i32 = 300_000;

    /// The kind of the group.
    pub fn kind(&self) -> GroupKind {
        match self.body {
            HeartbeatBody::Consumer(_) => GroupKind::Consumer,
            HeartbeatBody::Share(_) => GroupKind::Share,
            HeartbeatBody::Streams(_) => GroupKind::Streams,
        }
    }

    /// Whether epoch 0 is written (`"last"` may turn out to be 0, but that fills in no defaults).
    pub fn joins(&self) -> bool {
        self.epoch == EpochSpec::Number(0)
    }

    /// The client id that is sent.
    pub fn client_id(&self) -> &str {
        self.client_id.as_deref().unwrap_or(Self::CLIENT_ID)
    }

    /// The host that the request comes from, as Java shows it.
    pub fn client_host(&self) -> &str {
        self.client_host.as_deref().unwrap_or(Self::CLIENT_HOST)
    }

    /// The rebalance timeout that is sent; -1 is none (share groups never have one).
    pub fn rebalance_timeout_ms(&self) -> i32 {
        let written = match &self.body {
            HeartbeatBody::Consumer(body) => body.rebalance_timeout_ms,
            HeartbeatBody::Share(_) => return -1,
            HeartbeatBody::Streams(body) => body.rebalance_timeout_ms,
        };
        written.unwrap_or(if self.joins() { Self::REBALANCE_TIMEOUT_MS } else { -1 })
    }

    /// What a list of owned partitions or tasks of this heartbeat means.
    pub fn sent<'a, T>(&self, owned: &'a Owned<T>) -> Sent<'a, T> {
        match owned {
            Owned::Absent if self.joins() => Sent::List(&[]),
            Owned::Absent => Sent::Nothing,
            Owned::Last => Sent::Last,
            Owned::List(list) => Sent::List(list),
        }
    }
}
