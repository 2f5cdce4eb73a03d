//! Writing keys and values, each with its leading int16. Keys have no flexible versions (int16 lengths, no tags);
//! values have only flexible ones (compact lengths, tagged fields that are left out at their default).

use super::{
    CurrentMemberAssignment, GroupMetadata, Key, MemberMetadata, RegularExpression, TargetAssignmentMetadata,
    TopicHash, TopicMetadata, TopicPartitions, Value,
};
use crate::kafka::JString;
use crate::kafka::wire::{ByteCount, Sink, unsigned_varint_len};

/// Every value has this version, in all Kafka versions.
pub(super) const VALUE_VERSION: i16 = 0;

/// The tag of the only tagged field of a structure: `MetadataHash`, `AssignmentTimestamp`, `AssignmentEpochs`,
/// `ClassicMemberMetadata`.
pub(super) const TAG: u64 = 0;

impl Key {
    /// Appends the key, the record type first.
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.write(out);
    }

    /// How many bytes [`Key::encode`] appends.
    pub fn encoded_len(&self) -> usize {
        count(|out| self.write(out))
    }

    fn write(&self, out: &mut impl Sink) {
        out.put_i16(self.record_type as i16);
        out.put_str(&self.group);
        if let Some(member) = &self.member {
            out.put_str(member);
        }
    }
}

impl Value {
    /// Appends the value, its version first.
    pub fn encode(&self, out: &mut Vec<u8>) {
        self.write(out);
    }

    /// How many bytes [`Value::encode`] appends.
    pub fn encoded_len(&self) -> usize {
        count(|out| self.write(out))
    }

    fn write(&self, out: &mut impl Sink) {
        out.put_i16(VALUE_VERSION);
        match self {
            Value::GroupMetadata(group) => put_group_metadata(out, group),
            Value::PartitionMetadata(topics) => put_only_array(out, topics, TopicMetadata::write),
            Value::TopicHashes(topics) => put_only_array(out, topics, TopicHash::write),
            Value::MemberMetadata(member) => put_member_metadata(out, member),
            Value::TargetAssignmentMetadata(target) => put_target_metadata(out, target),
            Value::TargetAssignmentMember(topics) => put_only_array(out, topics, put_target_partitions),
            Value::CurrentMemberAssignment(current) => put_current_assignment(out, current),
            Value::RegularExpression(regex) => put_regular_expression(out, regex),
        }
    }
}

impl TopicMetadata {
    /// How many bytes this entry of a type 4 record takes.
    pub fn encoded_len(&self) -> usize {
        count(|out| self.write(out))
    }

    fn write(&self, out: &mut impl Sink) {
        out.put_uuid(self.topic_id);
        out.put_compact_str(&self.topic_name);
        out.put_i32(self.num_partitions);
        out.put_array_len(self.partition_metadata.len());
        for partition in &self.partition_metadata {
            out.put_i32(partition.partition);
            put_strings(out, &partition.racks);
            put_no_tags(out);
        }
        put_no_tags(out);
    }
}

impl TopicHash {
    /// How many bytes this entry of a type 4 record takes.
    pub fn encoded_len(&self) -> usize {
        count(|out| self.write(out))
    }

    fn write(&self, out: &mut impl Sink) {
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

fn put_group_metadata(out: &mut impl Sink, group: &GroupMetadata) {
    out.put_i32(group.epoch);
    put_int64_tag(out, group.metadata_hash);
}

fn put_target_metadata(out: &mut impl Sink, target: &TargetAssignmentMetadata) {
    out.put_i32(target.assignment_epoch);
    put_int64_tag(out, target.assignment_timestamp_ms);
}

fn put_member_metadata(out: &mut impl Sink, member: &MemberMetadata) {
    out.put_compact_nullable_str(member.instance_id.as_deref());
    out.put_compact_nullable_str(member.rack_id.as_deref());
    out.put_compact_str(&member.client_id);
    out.put_compact_str(&member.client_host);
    put_strings(out, &member.subscribed_topic_names);
    out.put_compact_nullable_str(member.subscribed_topic_regex.as_deref());
    out.put_i32(member.rebalance_timeout_ms);
    out.put_compact_nullable_str(member.server_assignor.as_deref());
    // No classic member: null is written, for the default of the generated class is an empty structure.
    put_tag(out, 1);
    out.put_unsigned_varint(0);
}

fn put_current_assignment(out: &mut impl Sink, current: &CurrentMemberAssignment) {
    out.put_i32(current.member_epoch);
    out.put_i32(current.previous_member_epoch);
    out.put_i8(current.state);
    put_array(out, &current.assigned_partitions, put_current_partitions);
    put_array(out, &current.partitions_pending_revocation, put_current_partitions);
    put_no_tags(out);
}

fn put_regular_expression(out: &mut impl Sink, regex: &RegularExpression) {
    put_strings(out, &regex.topics);
    out.put_i64(regex.version);
    out.put_i64(regex.timestamp_ms);
    put_no_tags(out);
}

/// Type 7: its schema has no assignment epochs.
fn put_target_partitions(topic: &TopicPartitions, out: &mut impl Sink) {
    out.put_uuid(topic.topic_id);
    put_int32_array(out, &topic.partitions);
    put_no_tags(out);
}

/// Type 8.
fn put_current_partitions(topic: &TopicPartitions, out: &mut impl Sink) {
    out.put_uuid(topic.topic_id);
    put_int32_array(out, &topic.partitions);
    match &topic.assignment_epochs {
        None => put_no_tags(out),
        Some(epochs) => {
            put_tag(out, count(|out| put_int32_array(out, epochs)));
            put_int32_array(out, epochs);
        }
    }
}

/// A value with no other field than an array.
fn put_only_array<T, S: Sink>(out: &mut S, items: &[T], write: impl Fn(&T, &mut S)) {
    put_array(out, items, write);
    put_no_tags(out);
}

fn put_array<T, S: Sink>(out: &mut S, items: &[T], write: impl Fn(&T, &mut S)) {
    out.put_array_len(items.len());
    for item in items {
        write(item, out);
    }
}

fn put_strings(out: &mut impl Sink, strings: &[JString]) {
    out.put_array_len(strings.len());
    for string in strings {
        out.put_compact_str(string);
    }
}

fn put_int32_array(out: &mut impl Sink, values: &[i32]) {
    out.put_array_len(values.len());
    out.put_i32s(values);
}

/// The tagged fields of a structure with one int64 whose default is 0.
fn put_int64_tag(out: &mut impl Sink, value: i64) {
    if value == 0 {
        put_no_tags(out);
    } else {
        put_tag(out, size_of::<i64>());
        out.put_i64(value);
    }
}

/// What stands before the only tagged field of a structure: one field, its tag, its size.
fn put_tag(out: &mut impl Sink, len: usize) {
    out.put_unsigned_varint(1);
    out.put_unsigned_varint(TAG);
    out.put_unsigned_varint(len as u64);
}

fn put_no_tags(out: &mut impl Sink) {
    out.put_unsigned_varint(0);
}

fn count(write: impl FnOnce(&mut ByteCount)) -> usize {
    let mut bytes = ByteCount::default();
    write(&mut bytes);
    bytes.0
}
