//! The changes that a metadata image is made of: KRaft's metadata records, with topics by name.

use super::TopicIndex;
use super::broker_ids::BrokerIds;
use crate::kafka::Uuid;

/// One change. The changes of an image are applied in order and published together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A broker registers, or registers anew (`RegisterBrokerRecord`), and is unfenced. `Some("")` is a rack, `None`
    /// is none.
    RegisterBroker {
        /// The broker.
        id: i32,
        /// Its rack.
        rack: Option<String>,
    },
    /// A broker is unregistered; partitions keep naming it (`UnregisterBrokerRecord`).
    UnregisterBroker {
        /// The broker.
        id: i32,
    },
    /// A broker is fenced or unfenced (`BrokerRegistrationChangeRecord`). Changes no topic by itself.
    FenceBroker {
        /// The broker.
        id: i32,
        /// Fenced or not.
        fenced: bool,
    },
    /// A topic is created (`TopicRecord`, `PartitionRecord`): ISR = replicas, leader = the first.
    CreateTopic {
        /// Its name.
        name: String,
        /// Its id.
        id: Uuid,
        /// The brokers of each partition.
        replicas: Vec<Vec<i32>>,
    },
    /// Partitions are appended to a topic (`PartitionRecord`).
    AddPartitions {
        /// The topic's name.
        topic: String,
        /// The brokers of each new partition.
        replicas: Vec<Vec<i32>>,
    },
    /// One partition changes (`PartitionChangeRecord`); what is `None` stays. Puts the topic into the delta even if
    /// it changes nothing.
    ChangePartition {
        /// The topic's name.
        topic: String,
        /// The partition.
        partition: i32,
        /// Its brokers.
        replicas: Option<Vec<i32>>,
        /// Its in-sync replicas.
        isr: Option<Vec<i32>>,
        /// Its leader; -1 is none.
        leader: Option<i32>,
        /// Its eligible leader replicas.
        elr: Option<Vec<i32>>,
    },
    /// A topic is deleted (`RemoveTopicRecord`).
    DeleteTopic {
        /// Its name.
        topic: String,
    },
}

/// What a partition becomes when brokers stop, return or are elected: a [`Change::ChangePartition`] with the topic by its
/// index, which only the builder that made it knows. What is `None` stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionChange {
    /// The topic.
    pub topic: TopicIndex,
    /// The partition.
    pub partition: i32,
    /// Its in-sync replicas.
    pub isr: Option<BrokerIds>,
    /// Its leader; -1 is none.
    pub leader: Option<i32>,
}

/// Changes of an image, as the effects of a cluster's own doings are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Changes {
    /// One change.
    One(Change),
    /// Many partitions change, in this order.
    Partitions(Vec<PartitionChange>),
}

impl Changes {
    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        matches!(self, Changes::Partitions(partitions) if partitions.is_empty())
    }
}
