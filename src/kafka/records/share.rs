//! The values that only share groups write (KIP-932; schemas: `common/message/ShareGroup*Value.json` of 4.1.1 to 4.4.0).

use super::TopicPartitions;
use super::decode::{Decoded, array, int32, no_tags, nullable_string, string};
use super::encode::{put_array, put_int32_array, put_no_tags, put_strings};
use crate::kafka::wire::{Reader, Sink};
use crate::kafka::{JString, Uuid};

/// `ShareGroupMetadataValue`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupMetadata {
    /// The group epoch.
    pub epoch: i32,
    /// The metadata hash: always written, unlike a consumer group's.
    pub metadata_hash: i64,
}

impl GroupMetadata {
    pub(super) fn write(&self, out: &mut impl Sink) {
        out.put_i32(self.epoch);
        out.put_i64(self.metadata_hash);
        put_no_tags(out);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Decoded<Self> {
        let group = GroupMetadata { epoch: reader.i32()?, metadata_hash: reader.i64()? };
        no_tags(reader)?;
        Ok(group)
    }
}

/// `ShareGroupMemberMetadataValue`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberMetadata {
    /// `client.rack`.
    pub rack_id: Option<JString>,
    /// `client.id`.
    pub client_id: JString,
    /// The host, as Java's `InetAddress` shows it.
    pub client_host: JString,
    /// The names subscribed to, in order.
    pub subscribed_topic_names: Vec<JString>,
}

impl MemberMetadata {
    pub(super) fn write(&self, out: &mut impl Sink) {
        out.put_compact_nullable_str(self.rack_id.as_deref());
        out.put_compact_str(&self.client_id);
        out.put_compact_str(&self.client_host);
        put_strings(out, &self.subscribed_topic_names);
        put_no_tags(out);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Decoded<Self> {
        let member = MemberMetadata {
            rack_id: nullable_string(reader)?,
            client_id: string(reader)?,
            client_host: string(reader)?,
            subscribed_topic_names: array(reader, string)?,
        };
        no_tags(reader)?;
        Ok(member)
    }
}

/// `ShareGroupCurrentMemberAssignmentValue`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CurrentMemberAssignment {
    /// The member's epoch.
    pub member_epoch: i32,
    /// The one before.
    pub previous_member_epoch: i32,
    /// `MemberState`: always 0, stable.
    pub state: i8,
    /// What the member reads.
    pub assigned_partitions: Vec<TopicPartitions>,
}

impl CurrentMemberAssignment {
    pub(super) fn write(&self, out: &mut impl Sink) {
        out.put_i32(self.member_epoch);
        out.put_i32(self.previous_member_epoch);
        out.put_i8(self.state);
        put_array(out, &self.assigned_partitions, TopicPartitions::write);
        put_no_tags(out);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Decoded<Self> {
        let current = CurrentMemberAssignment {
            member_epoch: reader.i32()?,
            previous_member_epoch: reader.i32()?,
            state: reader.i8()?,
            assigned_partitions: array(reader, TopicPartitions::read)?,
        };
        no_tags(reader)?;
        Ok(current)
    }
}

/// `ShareGroupStatePartitionMetadataValue`: how far the share partitions are whose state the persister keeps.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StatePartitionMetadata {
    /// Those whose state is being initialised.
    pub initializing_topics: Vec<TopicPartitionsInfo>,
    /// Those whose state is initialised.
    pub initialized_topics: Vec<TopicPartitionsInfo>,
    /// Topics whose state is being deleted.
    pub deleting_topics: Vec<TopicInfo>,
}

impl StatePartitionMetadata {
    pub(super) fn write(&self, out: &mut impl Sink) {
        put_array(out, &self.initializing_topics, TopicPartitionsInfo::write);
        put_array(out, &self.initialized_topics, TopicPartitionsInfo::write);
        put_array(out, &self.deleting_topics, TopicInfo::write);
        put_no_tags(out);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Decoded<Self> {
        let state = StatePartitionMetadata {
            initializing_topics: array(reader, TopicPartitionsInfo::read)?,
            initialized_topics: array(reader, TopicPartitionsInfo::read)?,
            deleting_topics: array(reader, TopicInfo::read)?,
        };
        no_tags(reader)?;
        Ok(state)
    }
}

/// `ShareGroupStatePartitionMetadataValue.TopicPartitionsInfo`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicPartitionsInfo {
    /// The topic's id.
    pub topic_id: Uuid,
    /// The topic's name.
    pub topic_name: JString,
    /// The partitions.
    pub partitions: Vec<i32>,
}

impl TopicPartitionsInfo {
    fn write(&self, out: &mut impl Sink) {
        out.put_uuid(self.topic_id);
        out.put_compact_str(&self.topic_name);
        put_int32_array(out, &self.partitions);
        put_no_tags(out);
    }

    fn read(reader: &mut Reader<'_>) -> Decoded<Self> {
        let topic = TopicPartitionsInfo {
            topic_id: reader.uuid()?,
            topic_name: string(reader)?,
            partitions: array(reader, int32)?,
        };
        no_tags(reader)?;
        Ok(topic)
    }
}

/// `ShareGroupStatePartitionMetadataValue.TopicInfo`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicInfo {
    /// The topic's id.
    pub topic_id: Uuid,
    /// The topic's name.
    pub topic_name: JString,
}

impl TopicInfo {
    fn write(&self, out: &mut impl Sink) {
        out.put_uuid(self.topic_id);
        out.put_compact_str(&self.topic_name);
        put_no_tags(out);
    }

    fn read(reader: &mut Reader<'_>) -> Decoded<Self> {
        let topic = TopicInfo { topic_id: reader.uuid()?, topic_name: string(reader)? };
        no_tags(reader)?;
        Ok(topic)
    }
}
