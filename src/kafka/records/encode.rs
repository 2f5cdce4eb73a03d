//! Writing keys and values, each with its leading int16. Keys have no flexible versions (int16 lengths, no tags);
//! values have only flexible ones (compact lengths, tagged fields that are left out at their default).

use super::{Key, TopicHash, TopicMetadata, TopicPartitions, Value};
use crate::kafka::JString;
use crate::kafka::wire::{ByteCount, Sink};

/// Every value has this version, in all Kafka versions.
pub(super) const VALUE_VERSION: i16 = 0;

/// The tag of a structure's first tagged field, and mostly its only one: `MetadataHash`, `AssignmentTimestamp`,
/// `AssignmentEpochs`, `ClassicMemberMetadata`.
pub(super) const TAG: u32 = 0;

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
            Value::GroupMetadata(group) => group.write(out),
            Value::PartitionMetadata(topics) => put_only_array(out, topics, TopicMetadata::write),
            Value::TopicHashes(topics) => put_only_array(out, topics, TopicHash::write),
            Value::MemberMetadata(member) => member.write(out),
            Value::TargetAssignmentMetadata(target) => target.write(out),
            Value::TargetAssignmentMember(topics) => put_only_array(out, topics, TopicPartitions::write),
            Value::CurrentMemberAssignment(current) => current.write(out),
            Value::RegularExpression(regex) => regex.write(out),
            Value::ShareGroupMetadata(group) => group.write(out),
            Value::ShareMemberMetadata(member) => member.write(out),
            Value::ShareCurrentMemberAssignment(current) => current.write(out),
            Value::ShareStatePartitionMetadata(state) => state.write(out),
            Value::StreamsGroupMetadata(group) => group.write(out),
            Value::StreamsMemberMetadata(member) => member.write(out),
            Value::StreamsTargetAssignmentMember(tasks) => tasks.write(out),
            Value::StreamsCurrentMemberAssignment(current) => current.write(out),
            Value::StreamsTopology(topology) => topology.write(out),
        }
    }
}

/// A value with no other field than an array.
pub(super) fn put_only_array<T, S: Sink>(out: &mut S, items: &[T], write: impl Fn(&T, &mut S)) {
    put_array(out, items, write);
    put_no_tags(out);
}

pub(super) fn put_array<T, S: Sink>(out: &mut S, items: &[T], write: impl Fn(&T, &mut S)) {
    out.put_array_len(items.len());
    for item in items {
        write(item, out);
    }
}

pub(super) fn put_strings(out: &mut impl Sink, strings: &[JString]) {
    out.put_array_len(strings.len());
    for string in strings {
        out.put_compact_str(string);
    }
}

pub(super) fn put_int32_array(out: &mut impl Sink, values: &[i32]) {
    out.put_array_len(values.len());
    out.put_i32s(values);
}

pub(super) fn put_int16_array(out: &mut impl Sink, values: &[i16]) {
    out.put_array_len(values.len());
    values.iter().for_each(|value| out.put_i16(*value));
}

/// The tagged fields of a structure with one int64 whose default is 0.
pub(super) fn put_int64_tag(out: &mut impl Sink, value: i64) {
    if value == 0 {
        put_no_tags(out);
    } else {
        put_tag(out, size_of::<i64>());
        out.put_i64(value);
    }
}

/// The tagged fields of a structure with one array of int32 that may be left out.
pub(super) fn put_int32_array_tag(out: &mut impl Sink, values: Option<&[i32]>) {
    match values {
        None => put_no_tags(out),
        Some(values) => {
            put_tag(out, count(|out| put_int32_array(out, values)));
            put_int32_array(out, values);
        }
    }
}

/// What stands before the only tagged field of a structure: one field, its tag, its size.
pub(super) fn put_tag(out: &mut impl Sink, len: usize) {
    out.put_unsigned_varint(1);
    put_tag_head(out, TAG, len);
}

/// What stands before a tagged field: its tag, its size.
pub(super) fn put_tag_head(out: &mut impl Sink, tag: u32, len: usize) {
    out.put_unsigned_varint(u64::from(tag));
    out.put_unsigned_varint(len as u64);
}

pub(super) fn put_no_tags(out: &mut impl Sink) {
    out.put_unsigned_varint(0);
}

pub(super) fn count(write: impl FnOnce(&mut ByteCount)) -> usize {
    let mut bytes = ByteCount::default();
    write(&mut bytes);
    bytes.0
}
