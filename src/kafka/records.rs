//! The records that the coordinator writes to `__consumer_offsets`: typed here, encoded as Kafka encodes them
//! (schemas: `common/message/{Consumer,Share,Streams}Group*.json` of `kafka-group-coordinator`).
//!
//! A record is data. Lists are kept in the order in which Kafka writes them: what is loaded later is rebuilt in
//! that order.

mod consumer;
mod decode;
mod encode;
pub mod offsets;
pub mod share;
pub mod streams;
#[cfg(test)]
mod tests;

pub use consumer::{
    CurrentMemberAssignment, GroupMetadata, MemberMetadata, PartitionMetadata, RegularExpression,
    TargetAssignmentMetadata, TopicHash, TopicMetadata, TopicPartitions, map_value_len,
};
pub use decode::{DecodeError, DecodeProblem, Part};

use super::{GroupKind, JString};
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
    /// Type 9. Only Kafka 4.0 writes it, without racks; what `stores = "map"` and `"hashes"` write for share groups has the
    /// forms of type 4, racks included.
    ShareGroupPartitionMetadata = 9,
    /// Type 10.
    ShareGroupMemberMetadata = 10,
    /// Type 11.
    ShareGroupMetadata = 11,
    /// Type 12.
    ShareGroupTargetAssignmentMetadata = 12,
    /// Type 13.
    ShareGroupTargetAssignmentMember = 13,
    /// Type 14.
    ShareGroupCurrentMemberAssignment = 14,
    /// Type 15.
    ShareGroupStatePartitionMetadata = 15,
    /// Type 16, from 4.0 on.
    ConsumerGroupRegularExpression = 16,
    /// Type 17.
    StreamsGroupMetadata = 17,
    /// Type 18. In no released Kafka (4.1 left the number free): what `stores = "map"` and `"hashes"` write for streams
    /// groups, in the forms of type 4.
    StreamsGroupPartitionMetadata = 18,
    /// Type 19.
    StreamsGroupMemberMetadata = 19,
    /// Type 20.
    StreamsGroupTargetAssignmentMetadata = 20,
    /// Type 21.
    StreamsGroupTargetAssignmentMember = 21,
    /// Type 22.
    StreamsGroupCurrentMemberAssignment = 22,
    /// Type 23.
    StreamsGroupTopology = 23,
}

impl RecordType {
    /// All types, in order.
    pub const ALL: [RecordType; 21] = [
        RecordType::ConsumerGroupMetadata,
        RecordType::ConsumerGroupPartitionMetadata,
        RecordType::ConsumerGroupMemberMetadata,
        RecordType::ConsumerGroupTargetAssignmentMetadata,
        RecordType::ConsumerGroupTargetAssignmentMember,
        RecordType::ConsumerGroupCurrentMemberAssignment,
        RecordType::ShareGroupPartitionMetadata,
        RecordType::ShareGroupMemberMetadata,
        RecordType::ShareGroupMetadata,
        RecordType::ShareGroupTargetAssignmentMetadata,
        RecordType::ShareGroupTargetAssignmentMember,
        RecordType::ShareGroupCurrentMemberAssignment,
        RecordType::ShareGroupStatePartitionMetadata,
        RecordType::ConsumerGroupRegularExpression,
        RecordType::StreamsGroupMetadata,
        RecordType::StreamsGroupPartitionMetadata,
        RecordType::StreamsGroupMemberMetadata,
        RecordType::StreamsGroupTargetAssignmentMetadata,
        RecordType::StreamsGroupTargetAssignmentMember,
        RecordType::StreamsGroupCurrentMemberAssignment,
        RecordType::StreamsGroupTopology,
    ];

    /// The type of that number; `None` for those of offsets and of classic groups.
    pub fn from_i16(number: i16) -> Option<RecordType> {
        Self::ALL.into_iter().find(|record_type| *record_type as i16 == number)
    }

    /// Its place in [`RecordType::ALL`].
    pub fn position(self) -> usize {
        // The list has every number from the first one on.
        (self as i16 - Self::ALL[0] as i16) as usize
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
            RecordType::ShareGroupPartitionMetadata => "ShareGroupPartitionMetadata",
            RecordType::ShareGroupMemberMetadata => "ShareGroupMemberMetadata",
            RecordType::ShareGroupMetadata => "ShareGroupMetadata",
            RecordType::ShareGroupTargetAssignmentMetadata => "ShareGroupTargetAssignmentMetadata",
            RecordType::ShareGroupTargetAssignmentMember => "ShareGroupTargetAssignmentMember",
            RecordType::ShareGroupCurrentMemberAssignment => "ShareGroupCurrentMemberAssignment",
            RecordType::ShareGroupStatePartitionMetadata => "ShareGroupStatePartitionMetadata",
            RecordType::ConsumerGroupRegularExpression => "ConsumerGroupRegularExpression",
            RecordType::StreamsGroupMetadata => "StreamsGroupMetadata",
            RecordType::StreamsGroupPartitionMetadata => "StreamsGroupPartitionMetadata",
            RecordType::StreamsGroupMemberMetadata => "StreamsGroupMemberMetadata",
            RecordType::StreamsGroupTargetAssignmentMetadata => "StreamsGroupTargetAssignmentMetadata",
            RecordType::StreamsGroupTargetAssignmentMember => "StreamsGroupTargetAssignmentMember",
            RecordType::StreamsGroupCurrentMemberAssignment => "StreamsGroupCurrentMemberAssignment",
            RecordType::StreamsGroupTopology => "StreamsGroupTopology",
        }
    }

    /// The kind of the groups that have such records.
    pub fn kind(self) -> GroupKind {
        match self as i16 {
            3..=8 | 16 => GroupKind::Consumer,
            9..=15 => GroupKind::Share,
            _ => GroupKind::Streams,
        }
    }

    /// The type of a group's metadata.
    pub fn group_metadata(kind: GroupKind) -> RecordType {
        match kind {
            GroupKind::Consumer => RecordType::ConsumerGroupMetadata,
            GroupKind::Share => RecordType::ShareGroupMetadata,
            GroupKind::Streams => RecordType::StreamsGroupMetadata,
        }
    }

    /// The type of what strategies store apart: maps or lists of hashes.
    pub fn partition_metadata(kind: GroupKind) -> RecordType {
        match kind {
            GroupKind::Consumer => RecordType::ConsumerGroupPartitionMetadata,
            GroupKind::Share => RecordType::ShareGroupPartitionMetadata,
            GroupKind::Streams => RecordType::StreamsGroupPartitionMetadata,
        }
    }

    /// The type of a target assignment's epoch.
    pub fn target_metadata(kind: GroupKind) -> RecordType {
        match kind {
            GroupKind::Consumer => RecordType::ConsumerGroupTargetAssignmentMetadata,
            GroupKind::Share => RecordType::ShareGroupTargetAssignmentMetadata,
            GroupKind::Streams => RecordType::StreamsGroupTargetAssignmentMetadata,
        }
    }

    /// The type of a member's target.
    pub fn target_member(kind: GroupKind) -> RecordType {
        match kind {
            GroupKind::Consumer => RecordType::ConsumerGroupTargetAssignmentMember,
            GroupKind::Share => RecordType::ShareGroupTargetAssignmentMember,
            GroupKind::Streams => RecordType::StreamsGroupTargetAssignmentMember,
        }
    }

    /// The type of what a member owns.
    pub fn current_assignment(kind: GroupKind) -> RecordType {
        match kind {
            GroupKind::Consumer => RecordType::ConsumerGroupCurrentMemberAssignment,
            GroupKind::Share => RecordType::ShareGroupCurrentMemberAssignment,
            GroupKind::Streams => RecordType::StreamsGroupCurrentMemberAssignment,
        }
    }

    /// The type of what a member has said of itself.
    pub fn member_metadata(kind: GroupKind) -> RecordType {
        match kind {
            GroupKind::Consumer => RecordType::ConsumerGroupMemberMetadata,
            GroupKind::Share => RecordType::ShareGroupMemberMetadata,
            GroupKind::Streams => RecordType::StreamsGroupMemberMetadata,
        }
    }

    /// Whether a strategy writes it in order to remember topics.
    pub fn is_partition_metadata(self) -> bool {
        self == RecordType::partition_metadata(self.kind())
    }

    /// Whether bumps cause it: it holds target or current assignments.
    pub fn is_rebalance(self) -> bool {
        let kind = self.kind();
        let types = [RecordType::target_metadata, RecordType::target_member, RecordType::current_assignment];
        types.into_iter().any(|of_kind| of_kind(kind) == self)
    }

    /// Whether its key has a member or a regular expression beside the group.
    pub fn has_member(self) -> bool {
        matches!(
            self,
            RecordType::ConsumerGroupMemberMetadata
                | RecordType::ConsumerGroupTargetAssignmentMember
                | RecordType::ConsumerGroupCurrentMemberAssignment
                | RecordType::ShareGroupMemberMetadata
                | RecordType::ShareGroupTargetAssignmentMember
                | RecordType::ShareGroupCurrentMemberAssignment
                | RecordType::ConsumerGroupRegularExpression
                | RecordType::StreamsGroupMemberMetadata
                | RecordType::StreamsGroupTargetAssignmentMember
                | RecordType::StreamsGroupCurrentMemberAssignment
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
    /// The member, or the regular expression (type 16); `None` where the type [has none](RecordType::has_member).
    pub member: Option<JString>,
}

/// The value of a record.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Type 3.
    GroupMetadata(GroupMetadata),
    /// Type 4, as Kafka 3.9 and 4.0 write it; types 9 and 18 in the same form.
    PartitionMetadata(Arc<Vec<TopicMetadata>>),
    /// Types 4, 9 and 18, as `stores = "hashes"` would write them; in no Kafka.
    TopicHashes(Arc<Vec<TopicHash>>),
    /// Type 5.
    MemberMetadata(Arc<MemberMetadata>),
    /// Types 6, 12 and 20.
    TargetAssignmentMetadata(TargetAssignmentMetadata),
    /// Types 7 and 13.
    TargetAssignmentMember(Arc<Vec<TopicPartitions>>),
    /// Type 8.
    CurrentMemberAssignment(Arc<CurrentMemberAssignment>),
    /// Type 16.
    RegularExpression(Arc<RegularExpression>),
    /// Type 11.
    ShareGroupMetadata(share::GroupMetadata),
    /// Type 10.
    ShareMemberMetadata(Arc<share::MemberMetadata>),
    /// Type 14.
    ShareCurrentMemberAssignment(Arc<share::CurrentMemberAssignment>),
    /// Type 15.
    ShareStatePartitionMetadata(Arc<share::StatePartitionMetadata>),
    /// Type 17.
    StreamsGroupMetadata(Arc<streams::GroupMetadata>),
    /// Type 19.
    StreamsMemberMetadata(Arc<streams::MemberMetadata>),
    /// Type 21.
    StreamsTargetAssignmentMember(Arc<streams::TargetAssignmentMember>),
    /// Type 22.
    StreamsCurrentMemberAssignment(Arc<streams::CurrentMemberAssignment>),
    /// Type 23.
    StreamsTopology(Arc<streams::Topology>),
}

impl Value {
    /// The value of a group's metadata with no hash in it; `None` if it is no such value.
    pub fn unhashed(&self) -> Option<Value> {
        match self {
            Value::GroupMetadata(group) => Some(Value::GroupMetadata(GroupMetadata { metadata_hash: 0, ..*group })),
            Value::ShareGroupMetadata(group) => {
                Some(Value::ShareGroupMetadata(share::GroupMetadata { metadata_hash: 0, ..*group }))
            }
            Value::StreamsGroupMetadata(group) => {
                let group = streams::GroupMetadata { metadata_hash: 0, ..(**group).clone() };
                Some(Value::StreamsGroupMetadata(Arc::new(group)))
            }
            _ => None,
        }
    }

    /// How many bytes the hash takes in a group's metadata: 10 in a tagged field (consumer groups), 8 in a plain one. A hash
    /// of 0 is none: a plain field has room for it whatever is stored.
    pub fn hash_bytes(&self) -> usize {
        let plain = |hash: i64| if hash == 0 { 0 } else { size_of::<i64>() };
        match self {
            Value::GroupMetadata(group) => {
                let bare = Value::GroupMetadata(GroupMetadata { metadata_hash: 0, ..*group });
                self.encoded_len() - bare.encoded_len()
            }
            Value::ShareGroupMetadata(group) => plain(group.metadata_hash),
            Value::StreamsGroupMetadata(group) => plain(group.metadata_hash),
            _ => 0,
        }
    }
}
