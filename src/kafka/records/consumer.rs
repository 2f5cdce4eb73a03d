//! The values of consumer groups' records (KIP-848), some of which share and streams groups write in the same form
//! (schemas: `common/message/ConsumerGroup*Value.json`).

use super::decode::{DecodeProblem, Decoded, array, int32, no_tags, nullable_string, string, tag};
use super::encode::{
    count, put_array, put_int32_array, put_int32_array_tag, put_int64_tag, put_no_tags, put_strings, put_tag,
};
use crate::kafka::wire::{Reader, Sink, unsigned_varint_len};
use crate::kafka::{JString, Uuid};

/// `ConsumerGroupMetadataValue`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupMetadata {
    /// The group epoch.
    pub epoch: i32,
    /// The metadata hash: a tagged field, left out when it is 0.
    pub metadata_hash: i64,
}

impl GroupMetadata {
    pub(super) fn write(&self, out: &mut impl Sink) {
        out.put_i32(self.epoch);
        put_int64_tag(out, self.metadata_hash);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Decoded<Self> {
        let epoch = reader.i32()?;
        let metadata_hash = tag(reader, |reader| Ok(reader.i64()?))?.unwrap_or(0);
        Ok(GroupMetadata { epoch, metadata_hash })
    }
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

impl TopicMetadata {
    /// How many bytes this entry of a type 4 record takes.
    pub fn encoded_len(&self) -> usize {
        count(|out| self.write(out))
    }

    pub(super) fn write(&self, out: &mut impl Sink) {
        out.put_uuid(self.topic_id);
        out.put_compact_str(&self.topic_name);
        out.put_i32(self.num_partitions);
        put_array(out, &self.partition_metadata, PartitionMetadata::write);
        put_no_tags(out);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Decoded<Self> {
        let topic = TopicMetadata {
            topic_id: reader.uuid()?,
            topic_name: string(reader)?,
            num_partitions: reader.i32()?,
            partition_metadata: array(reader, PartitionMetadata::read)?,
        };
        no_tags(reader)?;
        Ok(topic)
    }
}

/// `ConsumerGroupPartitionMetadataValue.PartitionMetadata`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionMetadata {
    /// The partition.
    pub partition: i32,
    /// Its racks, each once.
    pub racks: Vec<JString>,
}

impl PartitionMetadata {
    fn write(&self, out: &mut impl Sink) {
        out.put_i32(self.partition);
        put_strings(out, &self.racks);
        put_no_tags(out);
    }

    fn read(reader: &mut Reader<'_>) -> Decoded<Self> {
        let partition = PartitionMetadata { partition: reader.i32()?, racks: array(reader, string)? };
        no_tags(reader)?;
        Ok(partition)
    }
}

/// An entry of the record of `stores = "hashes"`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicHash {
    /// The topic's name.
    pub topic_name: JString,
    /// Its hash.
    pub hash: i64,
}

impl TopicHash {
    /// How many bytes this entry of a type 4 record takes.
    pub fn encoded_len(&self) -> usize {
        count(|out| self.write(out))
    }

    pub(super) fn write(&self, out: &mut impl Sink) {
        out.put_compact_str(&self.topic_name);
        out.put_i64(self.hash);
        put_no_tags(out);
    }
}

/// How many bytes a type 4 value takes (either form) whose `entries` together take `entries_bytes`: for callers that
/// know the size of each entry.
pub const fn map_value_len(entries: usize, entries_bytes: usize) -> usize {
    size_of::<i16>() + unsigned_varint_len(entries as u64 + 1) + entries_bytes + 1
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

impl MemberMetadata {
    pub(super) fn write(&self, out: &mut impl Sink) {
        out.put_compact_nullable_str(self.instance_id.as_deref());
        out.put_compact_nullable_str(self.rack_id.as_deref());
        out.put_compact_str(&self.client_id);
        out.put_compact_str(&self.client_host);
        put_strings(out, &self.subscribed_topic_names);
        out.put_compact_nullable_str(self.subscribed_topic_regex.as_deref());
        out.put_i32(self.rebalance_timeout_ms);
        out.put_compact_nullable_str(self.server_assignor.as_deref());
        // No classic member: null is written, for the default of the generated class is an empty structure.
        put_tag(out, 1);
        out.put_unsigned_varint(0);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Decoded<Self> {
        let member = MemberMetadata {
            instance_id: nullable_string(reader)?,
            rack_id: nullable_string(reader)?,
            client_id: string(reader)?,
            client_host: string(reader)?,
            subscribed_topic_names: array(reader, string)?,
            subscribed_topic_regex: nullable_string(reader)?,
            rebalance_timeout_ms: reader.i32()?,
            server_assignor: nullable_string(reader)?,
        };
        no_classic_member(reader)?;
        Ok(member)
    }
}

/// The tagged field `ClassicMemberMetadata` must be null. Left out it is an empty structure (see the generated
/// class of 3.9.1 to 4.3.1), which Kafka does not write.
fn no_classic_member(reader: &mut Reader<'_>) -> Decoded<()> {
    let classic = DecodeProblem::ClassicMember { position: reader.position() };
    let null = tag(reader, |reader| if reader.unsigned_varint()? == 0 { Ok(()) } else { Err(classic) })?;
    null.ok_or(classic)
}

/// `ConsumerGroupTargetAssignmentMetadataValue`, and those of share and streams groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TargetAssignmentMetadata {
    /// The epoch of the target assignment.
    pub assignment_epoch: i32,
    /// When it was computed (Unix time in ms): a tagged field from 4.3 on, left out when it is 0.
    pub assignment_timestamp_ms: i64,
}

impl TargetAssignmentMetadata {
    pub(super) fn write(&self, out: &mut impl Sink) {
        out.put_i32(self.assignment_epoch);
        put_int64_tag(out, self.assignment_timestamp_ms);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Decoded<Self> {
        let assignment_epoch = reader.i32()?;
        let assignment_timestamp_ms = tag(reader, |reader| Ok(reader.i64()?))?.unwrap_or(0);
        Ok(TargetAssignmentMetadata { assignment_epoch, assignment_timestamp_ms })
    }
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

impl TopicPartitions {
    /// The form that has no assignment epochs: types 7, 13 and 14.
    pub(super) fn write(&self, out: &mut impl Sink) {
        out.put_uuid(self.topic_id);
        put_int32_array(out, &self.partitions);
        put_no_tags(out);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Decoded<Self> {
        let (topic_id, partitions) = (reader.uuid()?, array(reader, int32)?);
        no_tags(reader)?;
        Ok(TopicPartitions { topic_id, partitions, assignment_epochs: None })
    }

    fn write_with_epochs(&self, out: &mut impl Sink) {
        out.put_uuid(self.topic_id);
        put_int32_array(out, &self.partitions);
        put_int32_array_tag(out, self.assignment_epochs.as_deref());
    }

    fn read_with_epochs(reader: &mut Reader<'_>) -> Decoded<Self> {
        Ok(TopicPartitions {
            topic_id: reader.uuid()?,
            partitions: array(reader, int32)?,
            assignment_epochs: tag(reader, |reader| array(reader, int32))?,
        })
    }
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

impl CurrentMemberAssignment {
    pub(super) fn write(&self, out: &mut impl Sink) {
        out.put_i32(self.member_epoch);
        out.put_i32(self.previous_member_epoch);
        out.put_i8(self.state);
        put_array(out, &self.assigned_partitions, TopicPartitions::write_with_epochs);
        put_array(out, &self.partitions_pending_revocation, TopicPartitions::write_with_epochs);
        put_no_tags(out);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Decoded<Self> {
        let current = CurrentMemberAssignment {
            member_epoch: reader.i32()?,
            previous_member_epoch: reader.i32()?,
            state: reader.i8()?,
            assigned_partitions: array(reader, TopicPartitions::read_with_epochs)?,
            partitions_pending_revocation: array(reader, TopicPartitions::read_with_epochs)?,
        };
        no_tags(reader)?;
        Ok(current)
    }
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

impl RegularExpression {
    pub(super) fn write(&self, out: &mut impl Sink) {
        put_strings(out, &self.topics);
        out.put_i64(self.version);
        out.put_i64(self.timestamp_ms);
        put_no_tags(out);
    }

    pub(super) fn read(reader: &mut Reader<'_>) -> Decoded<Self> {
        let regex =
            RegularExpression { topics: array(reader, string)?, version: reader.i64()?, timestamp_ms: reader.i64()? };
        no_tags(reader)?;
        Ok(regex)
    }
}
