//! The records that the coordinator writes to `__consumer_offsets`: typed here, encoded as Kafka encodes them
//! (schemas: `common/message/ConsumerGroup*.json` of `kafka-group-coordinator`).
//!
//! A record is data. Lists are kept in the order in which Kafka writes them: what is loaded later is rebuilt in
//! that order.

mod decode;
mod encode;
#[cfg(test)]
mod tests;

pub use decode::{DecodeError, DecodeProblem, Part};
pub use encode::map_value_len;

use super::{JString, Uuid};
use std::sync::Arc;

/// A record: a key, and a value or a tombstone.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The key.
    pub key: Key,
    /// The value; `None` is a tombstone.
    pub value: Option<Value>,
}

/// The type of a record: the int16 at the start of its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(i16)]
pub enum RecordType {
    /// Type 3.
    ConsumerGroupMetadata = 3,
    /// Type 4.
    ConsumerGroupPartitionMetadata = 4,
    /// Type 5.
    ConsumerGroupMemberMetadata = 5,
    /// Type 6.
    ConsumerGroupTargetAssignmentMetadata = 6,
    /// Type 7.
    ConsumerGroupTargetAssignmentMember = 7,
    /// Type 8.
    ConsumerGroupCurrentMemberAssignment = 8,
    /// Type 16, from 4.0 on.
    ConsumerGroupRegularExpression = 16,
}

impl RecordType {
    /// All types, in order.
    pub const ALL: [RecordType; 7] = [
        RecordType::ConsumerGroupMetadata,
        RecordType::ConsumerGroupPartitionMetadata,
        RecordType::ConsumerGroupMemberMetadata,
        RecordType::ConsumerGroupTargetAssignmentMetadata,
        RecordType::ConsumerGroupTargetAssignmentMember,
        RecordType::ConsumerGroupCurrentMemberAssignment,
        RecordType::ConsumerGroupRegularExpression,
    ];

    /// The type of that number; `None` for those of offsets and of other kinds of groups.
    pub fn from_i16(number: i16) -> Option<RecordType> {
        Self::ALL.into_iter().find(|record_type| *record_type as i16 == number)
    }

    /// The schema's name without `Key` or `Value`.
    pub fn name(self) -> &'static str {
        match self {
            RecordType::ConsumerGroupMetadata => "ConsumerGroupMetadata",
            RecordType::ConsumerGroupPartitionMetadata => "ConsumerGroupPartitionMetadata",
            RecordType::ConsumerGroupMemberMetadata => "ConsumerGroupMemberMetadata",
            RecordType::ConsumerGroupTargetAssignmentMetadata => "ConsumerGroupTargetAssignmentMetadata",
            RecordType::ConsumerGroupTargetAssignmentMember => "ConsumerGroupTargetAssignmentMember",
            RecordType::ConsumerGroupCurrentMemberAssignment => "ConsumerGroupCurrentMemberAssignment",
            RecordType::ConsumerGroupRegularExpression => "ConsumerGroupRegularExpression",
        }
    }

    /// Whether its key has a member or a regular expression beside the group.
    pub fn has_member(self) -> bool {
        matches!(
            self,
            RecordType::ConsumerGroupMemberMetadata
                | RecordType::ConsumerGroupTargetAssignmentMember
                | RecordType::ConsumerGroupCurrentMemberAssignment
                | RecordType::ConsumerGroupRegularExpression
        )
    }
}

/// The key of a record.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key {
    /// The type.
    pub record_type: RecordType,
    /// The group.
    pub group: JString,
    /// The member (types 5, 7, 8) or the regular expression (type 16); else `None`.
    pub member: Option<JString>,
}

/// The value of a record.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Type 3.
    GroupMetadata(GroupMetadata),
    /// Type 4, as Kafka 3.9 and 4.0 write it.
    PartitionMetadata(Arc<Vec<TopicMetadata>>),
    /// Type 4, as `stores = "hashes"` would write it; in no Kafka.
    TopicHashes(Arc<Vec<TopicHash>>),
    /// Type 5.
    MemberMetadata(Arc<MemberMetadata>),
    /// Type 6.
    TargetAssignmentMetadata(TargetAssignmentMetadata),
    /// Type 7.
    TargetAssignmentMember(Arc<Vec<TopicPartitions>>),
    /// Type 8.
    CurrentMemberAssignment(Arc<CurrentMemberAssignment>),
    /// Type 16.
    RegularExpression(Arc<RegularExpression>),
}

/// `ConsumerGroupMetadataValue`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupMetadata {
    /// The group epoch.
    pub epoch: i32,
    /// The metadata hash: a tagged field, left out when it is 0.
    pub metadata_hash: i64,
}

/// `ConsumerGroupPartitionMetadataValue.TopicMetadata`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicMetadata {
    /// The topic's id.
    pub topic_id: Uuid,
    /// The topic's name.
    pub topic_name: JString,
    /// How many partitions it has.
    pub num_partitions: i32,
    /// The racks of each partition that has any.
    pub partition_metadata: Vec<PartitionMetadata>,
}

/// `ConsumerGroupPartitionMetadataValue.PartitionMetadata`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionMetadata {
    /// The partition.
    pub partition: i32,
    /// Its racks, each once.
    pub racks: Vec<JString>,
}

/// An entry of the record of `stores = "hashes"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicHash {
    /// The topic's name.
    pub topic_name: JString,
    /// Its hash.
    pub hash: i64,
}

/// `ConsumerGroupMemberMetadataValue` (without classic members).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberMetadata {
    /// `group.instance.id`.
    pub instance_id: Option<JString>,
    /// `client.rack`.
    pub rack_id: Option<JString>,
    /// `client.id`.
    pub client_id: JString,
    /// The host, as Java's `InetAddress` shows it.
    pub client_host: JString,
    /// The names subscribed to, in order.
    pub subscribed_topic_names: Vec<JString>,
    /// The regular expression subscribed to; Kafka writes `""` for none.
    pub subscribed_topic_regex: Option<JString>,
    /// `max.poll.interval.ms`.
    pub rebalance_timeout_ms: i32,
    /// `group.remote.assignor`.
    pub server_assignor: Option<JString>,
}

/// `ConsumerGroupTargetAssignmentMetadataValue`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TargetAssignmentMetadata {
    /// The epoch of the target assignment.
    pub assignment_epoch: i32,
    /// When it was computed (Unix time in ms): a tagged field from 4.3 on, left out when it is 0.
    pub assignment_timestamp_ms: i64,
}

/// Some partitions of a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicPartitions {
    /// The topic.
    pub topic_id: Uuid,
    /// The partitions.
    pub partitions: Vec<i32>,
    /// Only in type 8 from 4.3 on (a tagged field): the epoch at which each partition was assigned.
    pub assignment_epochs: Option<Vec<i32>>,
}

/// `ConsumerGroupCurrentMemberAssignmentValue`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurrentMemberAssignment {
    /// The member's epoch.
    pub member_epoch: i32,
    /// The one before.
    pub previous_member_epoch: i32,
    /// `MemberState`: 0 stable, 1 unrevoked partitions, 2 unreleased partitions.
    pub state: i8,
    /// What the member owns.
    pub assigned_partitions: Vec<TopicPartitions>,
    /// What it must give up.
    pub partitions_pending_revocation: Vec<TopicPartitions>,
}

/// `ConsumerGroupRegularExpressionValue`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegularExpression {
    /// The topics that match, in order.
    pub topics: Vec<JString>,
    /// The version of the metadata image that was looked at.
    pub version: i64,
    /// When it was resolved (Unix time in ms).
    pub timestamp_ms: i64,
}
