//! Reading keys and values, strictly: nothing unknown is skipped, so what is read is written again as the same
//! bytes.

use super::encode::{TAG, VALUE_VERSION};
use super::{
    CurrentMemberAssignment, GroupMetadata, Key, MemberMetadata, Record, RecordType, RegularExpression,
    TargetAssignmentMetadata, TopicMetadata, TopicPartitions, Value, share, streams,
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
    /// The type is not one of consumer, share or streams groups.
    #[error("record type {0}, which is none of consumer, share and streams groups (3 to 23)")]
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
    /// A tagged field that stands after one of a higher tag, or twice.
    #[error("byte {position}: tagged field {tag} is out of order")]
    TagOrder {
        /// Where the tag is.
        position: usize,
        /// The tag.
        tag: u32,
    },
    /// There are bytes after the last field.
    #[error("{0} bytes after the last field")]
    TrailingBytes(usize),
}

pub(super) type Decoded<T> = Result<T, DecodeProblem>;

impl Record {
    /// A record from the bytes of its key and its value (`None` is a tombstone). A value of type 4, 9 or 18 is read as
    /// Kafka writes type 4; the form of `stores = "hashes"` is not told from it.
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
    let value = read_fields(record_type, &mut reader)?;
    end(&reader)?;
    Ok(value)
}

fn read_fields(record_type: RecordType, reader: &mut Reader<'_>) -> Decoded<Value> {
    Ok(match record_type {
        RecordType::ConsumerGroupMetadata => Value::GroupMetadata(GroupMetadata::read(reader)?),
        RecordType::ConsumerGroupPartitionMetadata
        | RecordType::ShareGroupPartitionMetadata
        | RecordType::StreamsGroupPartitionMetadata => {
            Value::PartitionMetadata(Arc::new(only_array(reader, TopicMetadata::read)?))
        }
        RecordType::ConsumerGroupMemberMetadata => Value::MemberMetadata(Arc::new(MemberMetadata::read(reader)?)),
        RecordType::ConsumerGroupTargetAssignmentMetadata
        | RecordType::ShareGroupTargetAssignmentMetadata
        | RecordType::StreamsGroupTargetAssignmentMetadata => {
            Value::TargetAssignmentMetadata(TargetAssignmentMetadata::read(reader)?)
        }
        RecordType::ConsumerGroupTargetAssignmentMember | RecordType::ShareGroupTargetAssignmentMember => {
            Value::TargetAssignmentMember(Arc::new(only_array(reader, TopicPartitions::read)?))
        }
        RecordType::ConsumerGroupCurrentMemberAssignment => {
            Value::CurrentMemberAssignment(Arc::new(CurrentMemberAssignment::read(reader)?))
        }
        RecordType::ConsumerGroupRegularExpression => {
            Value::RegularExpression(Arc::new(RegularExpression::read(reader)?))
        }
        RecordType::ShareGroupMetadata => Value::ShareGroupMetadata(share::GroupMetadata::read(reader)?),
        RecordType::ShareGroupMemberMetadata => {
            Value::ShareMemberMetadata(Arc::new(share::MemberMetadata::read(reader)?))
        }
        RecordType::ShareGroupCurrentMemberAssignment => {
            Value::ShareCurrentMemberAssignment(Arc::new(share::CurrentMemberAssignment::read(reader)?))
        }
        RecordType::ShareGroupStatePartitionMetadata => {
            Value::ShareStatePartitionMetadata(Arc::new(share::StatePartitionMetadata::read(reader)?))
        }
        RecordType::StreamsGroupMetadata => {
            Value::StreamsGroupMetadata(Arc::new(streams::GroupMetadata::read(reader)?))
        }
        RecordType::StreamsGroupMemberMetadata => {
            Value::StreamsMemberMetadata(Arc::new(streams::MemberMetadata::read(reader)?))
        }
        RecordType::StreamsGroupTargetAssignmentMember => {
            Value::StreamsTargetAssignmentMember(Arc::new(streams::TargetAssignmentMember::read(reader)?))
        }
        RecordType::StreamsGroupCurrentMemberAssignment => {
            Value::StreamsCurrentMemberAssignment(Arc::new(streams::CurrentMemberAssignment::read(reader)?))
        }
        RecordType::StreamsGroupTopology => Value::StreamsTopology(Arc::new(streams::Topology::read(reader)?)),
    })
}

pub(super) fn string(reader: &mut Reader<'_>) -> Decoded<JString> {
    Ok(reader.compact_str()?.into())
}

pub(super) fn nullable_string(reader: &mut Reader<'_>) -> Decoded<Option<JString>> {
    Ok(reader.compact_nullable_str()?.map(JString::from))
}

pub(super) fn int16(reader: &mut Reader<'_>) -> Decoded<i16> {
    Ok(reader.i16()?)
}

pub(super) fn int32(reader: &mut Reader<'_>) -> Decoded<i32> {
    Ok(reader.i32()?)
}

pub(super) fn array<T>(reader: &mut Reader<'_>, read: impl Fn(&mut Reader<'_>) -> Decoded<T>) -> Decoded<Vec<T>> {
    let len = reader.array_len()?;
    // Not more memory up front than there are bytes: a length that cannot be is found when they end.
    let mut items = Vec::with_capacity(len.min(reader.left() / size_of::<T>().max(1)));
    for _ in 0..len {
        items.push(read(reader)?);
    }
    Ok(items)
}

/// A value with no other field than an array.
fn only_array<T>(reader: &mut Reader<'_>, read: impl Fn(&mut Reader<'_>) -> Decoded<T>) -> Decoded<Vec<T>> {
    let items = array(reader, read)?;
    no_tags(reader)?;
    Ok(items)
}

/// The only tagged field that a structure can have; `None` if it is left out.
pub(super) fn tag<T>(reader: &mut Reader<'_>, read: impl Fn(&mut Reader<'_>) -> Decoded<T>) -> Decoded<Option<T>> {
    let mut field = None;
    tags(reader, |tag, reader| {
        if tag == TAG {
            field = Some(read(reader)?);
        }
        Ok(tag == TAG)
    })?;
    Ok(field)
}

/// The tagged fields of a structure, each read by `read`, which returns whether it knows the tag. They must stand in
/// the order of their tags, as Kafka writes them.
pub(super) fn tags(
    reader: &mut Reader<'_>,
    mut read: impl FnMut(u32, &mut Reader<'_>) -> Decoded<bool>,
) -> Decoded<()> {
    let count = reader.unsigned_varint()?;
    let mut next = 0;
    for _ in 0..count {
        let at = reader.position();
        let tag = reader.unsigned_varint()?;
        if tag < next {
            return Err(DecodeProblem::TagOrder { position: at, tag });
        }
        next = tag.saturating_add(1);
        let stated = reader.unsigned_varint()?;
        let position = reader.position();
        if !read(tag, reader)? {
            return Err(DecodeProblem::Tag { position: at, tag });
        }
        let read = reader.position() - position;
        if usize::try_from(stated) != Ok(read) {
            return Err(DecodeProblem::TagLength { position, tag, stated, read });
        }
    }
    Ok(())
}

/// No tagged field.
pub(super) fn no_tags(reader: &mut Reader<'_>) -> Decoded<()> {
    tags(reader, |_, _| Ok(false))
}

pub(super) fn end(reader: &Reader<'_>) -> Decoded<()> {
    match reader.left() {
        0 => Ok(()),
        left => Err(DecodeProblem::TrailingBytes(left)),
    }
}
