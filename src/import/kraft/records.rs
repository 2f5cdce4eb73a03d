//! KRaft's metadata records: the frame around them, and those that a cluster's topics and brokers depend on.
//!
//! A record's value is a frame version (1), an api key and a version, each an unsigned varint, and then a flexible
//! message (`AbstractApiMessageSerde` of `kafka-server-common`, 4.3.1).

use super::schema::{Message, RecordError, read_message};
use super::tables::schema;
use crate::kafka::Uuid;
use crate::kafka::wire::Reader;

/// The only frame version: 0 was that of Kafka 2.8's preview of KRaft.
const FRAME_VERSION: u32 = 1;

/// `PartitionChangeRecord.leader` where the leader does not change.
const NO_LEADER_CHANGE: i32 = -2;

/// A metadata record, as far as topics and brokers depend on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MetadataRecord {
    /// A broker registers, or registers anew.
    RegisterBroker {
        /// The broker.
        id: i32,
        /// The epoch of this registration.
        epoch: i64,
        /// Its rack; a broker without one writes null, and `Some("")` is a rack.
        rack: Option<String>,
        /// Whether it begins fenced: always in a log, and in a snapshot if it is.
        fenced: bool,
    },
    /// A broker is unregistered.
    UnregisterBroker {
        /// The broker.
        id: i32,
    },
    /// A registration changes: `BrokerRegistrationChangeRecord` and its ancestors `FenceBrokerRecord`,
    /// `UnfenceBrokerRecord`.
    ChangeBroker {
        /// The broker.
        id: i32,
        /// The epoch of the registration that changes.
        epoch: i64,
        /// Whether it is now fenced; `None` if that stays.
        fenced: Option<bool>,
    },
    /// A topic; its partitions follow.
    Topic {
        /// Its name.
        name: String,
        /// Its id.
        id: Uuid,
    },
    /// A partition as a whole.
    Partition {
        /// The topic's id.
        topic_id: Uuid,
        /// The partition.
        partition: i32,
        /// Its replicas, those that are being added or removed included.
        replicas: Vec<i32>,
        /// Its in-sync replicas.
        isr: Vec<i32>,
        /// Its leader; -1 is none.
        leader: i32,
        /// Its eligible leader replicas.
        elr: Vec<i32>,
    },
    /// What changes of a partition; what is `None` stays.
    PartitionChange {
        /// The topic's id.
        topic_id: Uuid,
        /// The partition.
        partition: i32,
        /// Its replicas, those that are being added or removed included.
        replicas: Option<Vec<i32>>,
        /// Its in-sync replicas.
        isr: Option<Vec<i32>>,
        /// Its leader; -1 is none.
        leader: Option<i32>,
        /// Its eligible leader replicas.
        elr: Option<Vec<i32>>,
    },
    /// A topic is deleted, with its partitions.
    RemoveTopic {
        /// Its id.
        id: Uuid,
    },
    /// The eligible leader replicas of a topic are dropped; `None`: of every topic.
    ClearElr {
        /// The topic's name.
        topic: Option<String>,
    },
    /// A feature has a level; 0 is none.
    FeatureLevel {
        /// The feature.
        name: String,
        /// Its level.
        level: i16,
    },
    /// From here on nothing counts until the end.
    BeginTransaction,
    /// Everything since the beginning counts.
    EndTransaction,
    /// Nothing since the beginning counts.
    AbortTransaction,
    /// Nothing; the active controller writes one every 500 ms (`metadata.max.idle.interval.ms`).
    NoOp,
    /// Something on which neither topics nor brokers depend: configurations, quotas, ACLs, …
    Other,
}

/// A record that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded {
    /// Its number.
    pub api_key: u32,
    /// Its name in Kafka's `MetadataRecordType`; `None` for a number that is not known here.
    pub name: Option<&'static str>,
    /// The version of its schema.
    pub version: u32,
    /// What it says; `None` if the number or the version is not known here.
    pub record: Option<MetadataRecord>,
}

/// Reads the value of a record.
///
/// A record of a type or version that is not known is not an error: its bytes are left alone.
pub fn decode(value: &[u8]) -> Result<Decoded, RecordError> {
    let mut reader = Reader::new(value);
    let mut header = |what: &str| {
        let start = reader.position();
        let number = reader.unsigned_varint();
        number.map_err(|error| RecordError::new(start, format!("{what}: {}", error.problem)))
    };
    let frame = header("the frame version")?;
    if frame != FRAME_VERSION {
        return Err(RecordError::new(0, format!("frame version {frame}; only {FRAME_VERSION} is known")));
    }
    let api_key = header("the api key")?;
    let version = header("the version")?;
    let schema = schema(api_key);
    let name = schema.map(|schema| schema.name);
    let known = schema.zip(i16::try_from(version).ok()).filter(|(schema, version)| *version <= schema.max_version);
    let Some((schema, message_version)) = known else {
        return Ok(Decoded { api_key, name, version, record: None });
    };
    let message = read_message(&mut reader, schema.fields, message_version)?;
    if reader.left() > 0 {
        let message = format!("{} bytes are left after the {}", reader.left(), schema.name);
        return Err(RecordError::new(reader.position(), message));
    }
    let record = typed(api_key, &message).map_err(|message| RecordError::new(0, message))?;
    Ok(Decoded { api_key, name, version, record: Some(record) })
}

fn typed(api_key: u32, message: &Message<'_>) -> Result<MetadataRecord, String> {
    Ok(match api_key {
        0 => MetadataRecord::RegisterBroker {
            id: message.int32("brokerId"),
            epoch: message.int("brokerEpoch"),
            rack: message.text("rack"),
            fenced: message.bool("fenced"),
        },
        1 => MetadataRecord::UnregisterBroker { id: message.int32("brokerId") },
        2 => MetadataRecord::Topic { name: message.text("name").unwrap_or_default(), id: message.uuid("topicId") },
        3 => MetadataRecord::Partition {
            topic_id: message.uuid("topicId"),
            partition: message.int32("partitionId"),
            replicas: message.brokers("replicas").unwrap_or_default(),
            isr: message.brokers("isr").unwrap_or_default(),
            leader: message.int32("leader"),
            elr: message.brokers("eligibleLeaderReplicas").unwrap_or_default(),
        },
        5 => MetadataRecord::PartitionChange {
            topic_id: message.uuid("topicId"),
            partition: message.int32("partitionId"),
            replicas: message.brokers("replicas"),
            isr: message.brokers("isr"),
            leader: message.sent_int32("leader").filter(|leader| *leader != NO_LEADER_CHANGE),
            elr: message.brokers("eligibleLeaderReplicas"),
        },
        7 => fencing(message, true),
        8 => fencing(message, false),
        9 => MetadataRecord::RemoveTopic { id: message.uuid("topicId") },
        12 => MetadataRecord::FeatureLevel {
            name: message.text("name").unwrap_or_default(),
            level: message.int32("featureLevel") as i16,
        },
        17 => MetadataRecord::ChangeBroker {
            id: message.int32("brokerId"),
            epoch: message.int("brokerEpoch"),
            fenced: match message.sent_int32("fenced").unwrap_or(0) {
                -1 => Some(false),
                0 => None,
                1 => Some(true),
                other => return Err(format!("fenced is {other}; -1, 0 or 1 expected")),
            },
        },
        20 => MetadataRecord::NoOp,
        23 => MetadataRecord::BeginTransaction,
        24 => MetadataRecord::EndTransaction,
        25 => MetadataRecord::AbortTransaction,
        28 => MetadataRecord::ClearElr { topic: message.text("topicName").filter(|name| !name.is_empty()) },
        _ => MetadataRecord::Other,
    })
}

fn fencing(message: &Message<'_>, fenced: bool) -> MetadataRecord {
    MetadataRecord::ChangeBroker { id: message.int32("id"), epoch: message.int("epoch"), fenced: Some(fenced) }
}
