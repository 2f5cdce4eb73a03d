//! Reading keys and values, strictly: nothing unknown is skipped, so what is read is written again as the same
//! bytes.

use super::encode::{TAG, VALUE_VERSION};
use super::{
    CurrentMemberAssignment, GroupMetadata, Key, MemberMetadata, PartitionMetadata, Record, RecordType,
    RegularExpression, TargetAssignmentMetadata, TopicMetadata, TopicPartitions, Value,
};
use crate::kafka::JString;
use crate::kafka::wire::{Reader, WireError};
use std::fmt;
use std::sync::Arc;

/// A record that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{part}: {problem}")]
pub struct DecodeError {
    /// Where.
    pub part: Part,
    /// What is wrong.
    pub problem: DecodeProblem,
}

/// A part of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The key.
    Key,
    /// The value of a record of this type.
    Value(RecordType),
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Key => f.write_str("key"),
            Part::Value(record_type) => write!(f, "{} value", record_type.name()),
        }
    }
}

/// What can be wrong with a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecodeProblem {
    /// The type is not one of consumer groups.
    #[error("record type {0}, which is none of consumer groups (3 to 8, 16)")]
    Type(i16),
    /// The value has a version of which nothing is known.
    #[error("value version {0}; only version {VALUE_VERSION} is known")]
    Version(i16),
    /// A field cannot be read.
    #[error(transparent)]
    Field(#[from] WireError),
    /// A member that uses the classic protocol.
    #[error("byte {position}: classic member metadata, which is not supported")]
    ClassicMember {
        /// Where the tagged fields of the member begin.
        position: usize,
    },
    /// A tagged field that is not known.
    #[error("byte {position}: tagged field {tag} is not known")]
    Tag {
        /// Where the tag is.
        position: usize,
        /// The tag.
        tag: u32,
    },
    /// A tagged field is not as long as it says.
    #[error("byte {position}: tagged field {tag} says it has {stated} bytes but has {read}")]
    TagLength {
        /// Where the field begins.
        position: usize,
        /// The tag.
        tag: u32,
        /// What it says.
        stated: u32,
        /// What it has.
        read: usize,
    },
    /// There are bytes after the last field.
    #[error("{0} bytes after the last field")]
    TrailingBytes(usize),
}

type Decoded<T> = Result<T, DecodeProblem>;

impl Record {
    /// A record from the bytes of its key and its value (`None` is a tombstone). A value of type 4 is read as Kafka
    /// writes it; the form of `stores = "hashes"` is not told from it.
    pub fn decode(key: &[u8], value: Option<&[u8]>) -> Result<Record, DecodeError> {
        let key = Key::decode(key)?;
        let part = Part::Value(key.record_type);
        let value = value
            .map(|value| read_value(key.record_type, value).map_err(|problem| DecodeError { part, problem }))
            .transpose()?;
        Ok(Record { key, value })
    }
}

impl Key {
    /// A key from its bytes.
    pub fn decode(bytes: &[u8]) -> Result<Key, DecodeError> {
        read_key(bytes).map_err(|problem| DecodeError { part: Part::Key, problem })
    }
}

fn read_key(bytes: &[u8]) -> Decoded<Key> {
    let mut reader = Reader::new(bytes);
    let number = reader.i16()?;
    let record_type = RecordType::from_i16(number).ok_or(DecodeProblem::Type(number))?;
    let group = reader.str()?.into();
    let member = if record_type.has_member() { Some(reader.str()?.into()) } else { None };
    end(&reader)?;
    Ok(Key { record_type, group, member })
}

fn read_value(record_type: RecordType, bytes: &[u8]) -> Decoded<Value> {
    let mut reader = Reader::new(bytes);
    let version = reader.i16()?;
    if version != VALUE_VERSION {
        return Err(DecodeProblem::Version(version));
    }
    let value = match record_type {
        RecordType::ConsumerGroupMetadata => Value::GroupMetadata(group_metadata(&mut reader)?),
        RecordType::ConsumerGroupPartitionMetadata => {
            let topics = array(&mut reader, topic_metadata)?;
            no_tags(&mut reader)?;
            Value::PartitionMetadata(Arc::new(topics))
        }
        RecordType::ConsumerGroupMemberMetadata => Value::MemberMetadata(Arc::new(member_metadata(&mut reader)?)),
        RecordType::ConsumerGroupTargetAssignmentMetadata => {
            Value::TargetAssignmentMetadata(target_metadata(&mut reader)?)
        }
        RecordType::ConsumerGroupTargetAssignmentMember => {
            let topics = array(&mut reader, target_partitions)?;
            no_tags(&mut reader)?;
            Value::TargetAssignmentMember(Arc::new(topics))
        }
        RecordType::ConsumerGroupCurrentMemberAssignment => {
            Value::CurrentMemberAssignment(Arc::new(current_assignment(&mut reader)?))
        }
        RecordType::ConsumerGroupRegularExpression => {
            Value::RegularExpression(Arc::new(regular_expression(&mut reader)?))
        }
    };
    end(&reader)?;
    Ok(value)
}

fn group_metadata(reader: &mut Reader<'_>) -> Decoded<GroupMetadata> {
    let epoch = reader.i32()?;
    let metadata_hash = tag(reader, |reader| Ok(reader.i64()?))?.unwrap_or(0);
    Ok(GroupMetadata { epoch, metadata_hash })
}

fn topic_metadata(reader: &mut Reader<'_>) -> Decoded<TopicMetadata> {
    let topic = TopicMetadata {
        topic_id: reader.uuid()?,
        topic_name: reader.compact_str()?.into(),
        num_partitions: reader.i32()?,
        partition_metadata: array(reader, partition_metadata)?,
    };
    no_tags(reader)?;
    Ok(topic)
}

fn partition_metadata(reader: &mut Reader<'_>) -> Decoded<PartitionMetadata> {
    let partition = PartitionMetadata { partition: reader.i32()?, racks: array(reader, string)? };
    no_tags(reader)?;
    Ok(partition)
}

fn member_metadata(reader: &mut Reader<'_>) -> Decoded<MemberMetadata> {
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

/// The tagged field `ClassicMemberMetadata` must be null. Left out it is an empty structure (see the generated
/// class of 3.9.1 to 4.3.1), which Kafka does not write.
fn no_classic_member(reader: &mut Reader<'_>) -> Decoded<()> {
    let classic = DecodeProblem::ClassicMember { position: reader.position() };
    let null = tag(reader, |reader| if reader.unsigned_varint()? == 0 { Ok(()) } else { Err(classic) })?;
    null.ok_or(classic)
}

fn target_metadata(reader: &mut Reader<'_>) -> Decoded<TargetAssignmentMetadata> {
    let assignment_epoch = reader.i32()?;
    let assignment_timestamp_ms = tag(reader, |reader| Ok(reader.i64()?))?.unwrap_or(0);
    Ok(TargetAssignmentMetadata { assignment_epoch, assignment_timestamp_ms })
}

fn target_partitions(reader: &mut Reader<'_>) -> Decoded<TopicPartitions> {
    let topic =
        TopicPartitions { topic_id: reader.uuid()?, partitions: array(reader, int32)?, assignment_epochs: None };
    no_tags(reader)?;
    Ok(topic)
}

fn current_assignment(reader: &mut Reader<'_>) -> Decoded<CurrentMemberAssignment> {
    let current = CurrentMemberAssignment {
        member_epoch: reader.i32()?,
        previous_member_epoch: reader.i32()?,
        state: reader.i8()?,
        assigned_partitions: array(reader, current_partitions)?,
        partitions_pending_revocation: array(reader, current_partitions)?,
    };
    no_tags(reader)?;
    Ok(current)
}

fn current_partitions(reader: &mut Reader<'_>) -> Decoded<TopicPartitions> {
    Ok(TopicPartitions {
        topic_id: reader.uuid()?,
        partitions: array(reader, int32)?,
        assignment_epochs: tag(reader, |reader| array(reader, int32))?,
    })
}

fn regular_expression(reader: &mut Reader<'_>) -> Decoded<RegularExpression> {
    let regex =
        RegularExpression { topics: array(reader, string)?, version: reader.i64()?, timestamp_ms: reader.i64()? };
    no_tags(reader)?;
    Ok(regex)
}

fn string(reader: &mut Reader<'_>) -> Decoded<JString> {
    Ok(reader.compact_str()?.into())
}

fn nullable_string(reader: &mut Reader<'_>) -> Decoded<Option<JString>> {
    Ok(reader.compact_nullable_str()?.map(JString::from))
}

fn int32(reader: &mut Reader<'_>) -> Decoded<i32> {
    Ok(reader.i32()?)
}

fn array<T>(reader: &mut Reader<'_>, read: impl Fn(&mut Reader<'_>) -> Decoded<T>) -> Decoded<Vec<T>> {
    let len = reader.array_len()?;
    // Not more memory up front than there are bytes: a length that cannot be is found when they end.
    let mut items = Vec::with_capacity(len.min(reader.left() / size_of::<T>().max(1)));
    for _ in 0..len {
        items.push(read(reader)?);
    }
    Ok(items)
}

/// The only tagged field that a structure can have; `None` if it is left out.
fn tag<T>(reader: &mut Reader<'_>, read: impl Fn(&mut Reader<'_>) -> Decoded<T>) -> Decoded<Option<T>> {
    let count = reader.unsigned_varint()?;
    if count == 0 {
        return Ok(None);
    }
    let position = reader.position();
    let tag = reader.unsigned_varint()?;
    if u64::from(tag) != TAG {
        return Err(DecodeProblem::Tag { position, tag });
    }
    let stated = reader.unsigned_varint()?;
    let position = reader.position();
    let field = read(reader)?;
    let read = reader.position() - position;
    if usize::try_from(stated) != Ok(read) {
        return Err(DecodeProblem::TagLength { position, tag, stated, read });
    }
    if count > 1 { Err(unknown_tag(reader)) } else { Ok(Some(field)) }
}

fn no_tags(reader: &mut Reader<'_>) -> Decoded<()> {
    if reader.unsigned_varint()? == 0 { Ok(()) } else { Err(unknown_tag(reader)) }
}

/// The error for the tag that comes next.
fn unknown_tag(reader: &mut Reader<'_>) -> DecodeProblem {
    let position = reader.position();
    reader.unsigned_varint().map_or_else(DecodeProblem::from, |tag| DecodeProblem::Tag { position, tag })
}

fn end(reader: &Reader<'_>) -> Decoded<()> {
    match reader.left() {
        0 => Ok(()),
        left => Err(DecodeProblem::TrailingBytes(left)),
    }
}
