//! The other records of `__consumer_offsets`: committed offsets (types 0 and 1) and classic groups (type 2). Schemas:
//! `OffsetCommit*.json` and `GroupMetadata*.json` of `kafka-group-coordinator`, the same from 3.9.1 to 4.4.0 but for the
//! topic's id in an offset.
//!
//! The simulated coordinator has neither; a real log has both, and committed offsets are most of it.

use super::decode::{self, DecodeProblem};
use super::encode::{count, put_no_tags, put_tag};
use crate::kafka::wire::{Reader, Sink, WireError};
use crate::kafka::{JString, Uuid};

/// An offset or a classic group.
#[derive(Debug, Clone, PartialEq)]
pub enum OffsetsRecord {
    /// Types 0 and 1.
    Offset {
        /// The key.
        key: OffsetCommitKey,
        /// The value; `None` is a tombstone.
        value: Option<OffsetCommit>,
    },
    /// Type 2.
    ClassicGroup {
        /// The group's name: all of the key.
        group: JString,
        /// The value; `None` is a tombstone.
        value: Option<ClassicGroup>,
    },
}

/// `OffsetCommitKey`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OffsetCommitKey {
    /// 1; in logs of before Kafka 0.9 also 0.
    pub key_type: i16,
    /// The group.
    pub group: JString,
    /// The topic.
    pub topic: JString,
    /// The partition.
    pub partition: i32,
}

/// `OffsetCommitValue`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OffsetCommit {
    /// The value's version: what 3.9 to 4.4 write is 3, with a topic id 4, and 1 for a commit that says when it expires.
    pub version: i16,
    /// The offset.
    pub offset: i64,
    /// The leader epoch of the last record consumed; -1 is unknown. From version 3 on.
    pub leader_epoch: i32,
    /// What the client wants to be kept with it.
    pub metadata: JString,
    /// When it was committed (Unix time in ms).
    pub commit_timestamp_ms: i64,
    /// When it expires (Unix time in ms); -1 is by the broker's configuration. In version 1 only.
    pub expire_timestamp_ms: i64,
    /// The topic's id. In version 4 only.
    pub topic_id: Option<Uuid>,
}

/// `GroupMetadataValue`, up to its version 3, which is the one that is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassicGroup {
    /// The value's version.
    pub version: i16,
    /// `consumer`, or what else uses the protocol (`connect`, …).
    pub protocol_type: JString,
    /// The generation.
    pub generation: i32,
    /// The protocol that the members agreed on.
    pub protocol: Option<JString>,
    /// The member that leads.
    pub leader: Option<JString>,
    /// When the state changed last (Unix time in ms); -1 is unknown. From version 2 on.
    pub current_state_timestamp_ms: i64,
    /// The members.
    pub members: Vec<ClassicMember>,
}

/// `GroupMetadataValue.MemberMetadata`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClassicMember {
    /// Its id.
    pub member_id: JString,
    /// `group.instance.id`. From version 3 on.
    pub instance_id: Option<JString>,
    /// `client.id`.
    pub client_id: JString,
    /// The host, as Java's `InetAddress` shows it.
    pub client_host: JString,
    /// `max.poll.interval.ms`. From version 1 on; -1 is unknown.
    pub rebalance_timeout_ms: i32,
    /// `session.timeout.ms`.
    pub session_timeout_ms: i32,
    /// Its subscription, of which the coordinator knows nothing.
    pub subscription: Vec<u8>,
    /// Its assignment, likewise.
    pub assignment: Vec<u8>,
}

/// An offset or a classic group that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{part}: {problem}")]
pub struct OffsetsError {
    /// The key, or which value.
    pub part: &'static str,
    /// What is wrong.
    pub problem: OffsetsProblem,
}

/// What can be wrong with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum OffsetsProblem {
    /// The value has a version of which nothing is known.
    #[error("value version {version}; versions 0 to {newest} are known")]
    Version {
        /// The version.
        version: i16,
        /// The newest that is known.
        newest: i16,
    },
    /// Anything that can be wrong with other records too.
    #[error(transparent)]
    Other(#[from] DecodeProblem),
}

impl From<WireError> for OffsetsProblem {
    fn from(error: WireError) -> Self {
        DecodeProblem::from(error).into()
    }
}

/// From this version on an offset has compact lengths and tagged fields.
const FLEXIBLE_OFFSET: i16 = 4;
const NEWEST_CLASSIC_GROUP: i16 = 3;

impl OffsetsRecord {
    /// A record from the bytes of its key and its value (`None` is a tombstone); `None` if it is of another type.
    ///
    /// # Errors
    /// If it is of these types and cannot be read.
    pub fn decode(key: &[u8], value: Option<&[u8]>) -> Result<Option<OffsetsRecord>, OffsetsError> {
        let in_key = |problem| OffsetsError { part: "key", problem };
        let mut reader = Reader::new(key);
        let record_type = reader.i16().map_err(|error| in_key(error.into()))?;
        match record_type {
            0 | 1 => {
                let key = read_offset_key(record_type, &mut reader).map_err(in_key)?;
                let value = value.map(read_offset).transpose();
                let value = value.map_err(|problem| OffsetsError { part: "OffsetCommit value", problem })?;
                Ok(Some(OffsetsRecord::Offset { key, value }))
            }
            2 => {
                let group = read_classic_key(&mut reader).map_err(in_key)?;
                let value = value.map(read_classic_group).transpose();
                let value = value.map_err(|problem| OffsetsError { part: "GroupMetadata value", problem })?;
                Ok(Some(OffsetsRecord::ClassicGroup { group, value }))
            }
            _ => Ok(None),
        }
    }

    /// Appends the key.
    pub fn encode_key(&self, out: &mut Vec<u8>) {
        match self {
            OffsetsRecord::Offset { key, .. } => key.write(out),
            OffsetsRecord::ClassicGroup { group, .. } => {
                out.put_i16(2);
                out.put_str(group);
            }
        }
    }

    /// The value's bytes; `None` is a tombstone.
    pub fn encode_value(&self) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        match self {
            OffsetsRecord::Offset { value, .. } => value.as_ref()?.write(&mut out),
            OffsetsRecord::ClassicGroup { value, .. } => value.as_ref()?.write(&mut out),
        }
        Some(out)
    }
}

impl OffsetCommitKey {
    /// How many bytes the key takes.
    pub fn encoded_len(&self) -> usize {
        count(|out| self.write(out))
    }

    fn write(&self, out: &mut impl Sink) {
        out.put_i16(self.key_type);
        out.put_str(&self.group);
        out.put_str(&self.topic);
        out.put_i32(self.partition);
    }
}

impl OffsetCommit {
    /// How many bytes the value takes.
    pub fn encoded_len(&self) -> usize {
        count(|out| self.write(out))
    }

    fn write(&self, out: &mut impl Sink) {
        out.put_i16(self.version);
        out.put_i64(self.offset);
        if self.version >= 3 {
            out.put_i32(self.leader_epoch);
        }
        if self.version >= FLEXIBLE_OFFSET {
            out.put_compact_str(&self.metadata);
        } else {
            out.put_str(&self.metadata);
        }
        out.put_i64(self.commit_timestamp_ms);
        if self.version == 1 {
            out.put_i64(self.expire_timestamp_ms);
        }
        match self.topic_id {
            Some(id) => {
                put_tag(out, id.to_bytes().len());
                out.put_uuid(id);
            }
            None if self.version >= FLEXIBLE_OFFSET => put_no_tags(out),
            None => {}
        }
    }
}

impl ClassicGroup {
    fn write(&self, out: &mut impl Sink) {
        out.put_i16(self.version);
        out.put_str(&self.protocol_type);
        out.put_i32(self.generation);
        out.put_nullable_str(self.protocol.as_deref());
        out.put_nullable_str(self.leader.as_deref());
        if self.version >= 2 {
            out.put_i64(self.current_state_timestamp_ms);
        }
        out.put_i32(self.members.len() as i32);
        self.members.iter().for_each(|member| member.write(self.version, out));
    }
}

impl ClassicMember {
    fn write(&self, version: i16, out: &mut impl Sink) {
        out.put_str(&self.member_id);
        if version >= 3 {
            out.put_nullable_str(self.instance_id.as_deref());
        }
        out.put_str(&self.client_id);
        out.put_str(&self.client_host);
        if version >= 1 {
            out.put_i32(self.rebalance_timeout_ms);
        }
        out.put_i32(self.session_timeout_ms);
        out.put_i32_bytes(&self.subscription);
        out.put_i32_bytes(&self.assignment);
    }
}

type Read<T> = Result<T, OffsetsProblem>;

fn read_offset_key(key_type: i16, reader: &mut Reader<'_>) -> Read<OffsetCommitKey> {
    let key = OffsetCommitKey {
        key_type,
        group: reader.str()?.into(),
        topic: reader.str()?.into(),
        partition: reader.i32()?,
    };
    decode::end(reader)?;
    Ok(key)
}

fn read_classic_key(reader: &mut Reader<'_>) -> Read<JString> {
    let group = reader.str()?.into();
    decode::end(reader)?;
    Ok(group)
}

/// The version of a value, if it is known.
fn read_version(reader: &mut Reader<'_>, newest: i16) -> Read<i16> {
    let version = reader.i16()?;
    if (0..=newest).contains(&version) { Ok(version) } else { Err(OffsetsProblem::Version { version, newest }) }
}

fn read_offset(bytes: &[u8]) -> Read<OffsetCommit> {
    let mut reader = Reader::new(bytes);
    let version = read_version(&mut reader, FLEXIBLE_OFFSET)?;
    let is_flexible = version >= FLEXIBLE_OFFSET;
    let mut offset = OffsetCommit {
        version,
        offset: reader.i64()?,
        leader_epoch: if version >= 3 { reader.i32()? } else { -1 },
        metadata: if is_flexible { reader.compact_str()? } else { reader.str()? }.into(),
        commit_timestamp_ms: reader.i64()?,
        expire_timestamp_ms: if version == 1 { reader.i64()? } else { -1 },
        topic_id: None,
    };
    if is_flexible {
        offset.topic_id = decode::tag(&mut reader, |reader| Ok(reader.uuid()?))?;
    }
    decode::end(&reader)?;
    Ok(offset)
}

fn read_classic_group(bytes: &[u8]) -> Read<ClassicGroup> {
    let mut reader = Reader::new(bytes);
    let version = read_version(&mut reader, NEWEST_CLASSIC_GROUP)?;
    let mut group = ClassicGroup {
        version,
        protocol_type: reader.str()?.into(),
        generation: reader.i32()?,
        protocol: reader.nullable_str()?.map(JString::from),
        leader: reader.nullable_str()?.map(JString::from),
        current_state_timestamp_ms: if version >= 2 { reader.i64()? } else { -1 },
        members: Vec::new(),
    };
    for _ in 0..reader.i32_len()? {
        group.members.push(read_classic_member(version, &mut reader)?);
    }
    decode::end(&reader)?;
    Ok(group)
}

fn read_classic_member(version: i16, reader: &mut Reader<'_>) -> Read<ClassicMember> {
    Ok(ClassicMember {
        member_id: reader.str()?.into(),
        instance_id: if version >= 3 { reader.nullable_str()?.map(JString::from) } else { None },
        client_id: reader.str()?.into(),
        client_host: reader.str()?.into(),
        rebalance_timeout_ms: if version >= 1 { reader.i32()? } else { -1 },
        session_timeout_ms: reader.i32()?,
        subscription: read_bytes(reader)?,
        assignment: read_bytes(reader)?,
    })
}

fn read_bytes(reader: &mut Reader<'_>) -> Read<Vec<u8>> {
    let len = reader.i32_len()?;
    Ok(reader.bytes(len)?.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(record: &OffsetsRecord) -> (Vec<u8>, Option<Vec<u8>>) {
        let mut key = Vec::new();
        record.encode_key(&mut key);
        (key, record.encode_value())
    }

    fn offset(version: i16) -> OffsetsRecord {
        OffsetsRecord::Offset {
            key: OffsetCommitKey { key_type: 1, group: "g".into(), topic: "orders".into(), partition: 3 },
            value: Some(OffsetCommit {
                version,
                offset: 7,
                leader_epoch: if version >= 3 { 2 } else { -1 },
                metadata: "m".into(),
                commit_timestamp_ms: 1_796_043_453_608,
                expire_timestamp_ms: if version == 1 { 1_796_043_453_609 } else { -1 },
                topic_id: (version == 4).then(|| Uuid::from_halves(1, 2)),
            }),
        }
    }

    fn classic(version: i16) -> OffsetsRecord {
        let member = ClassicMember {
            member_id: "m".into(),
            instance_id: (version >= 3).then(|| "i".into()),
            client_id: "c".into(),
            client_host: "/127.0.0.1".into(),
            rebalance_timeout_ms: if version >= 1 { 300_000 } else { -1 },
            session_timeout_ms: 45_000,
            subscription: vec![1, 2, 3],
            assignment: Vec::new(),
        };
        OffsetsRecord::ClassicGroup {
            group: "g".into(),
            value: Some(ClassicGroup {
                version,
                protocol_type: "consumer".into(),
                generation: 1,
                protocol: Some("range".into()),
                leader: None,
                current_state_timestamp_ms: if version >= 2 { 5 } else { -1 },
                members: vec![member],
            }),
        }
    }

    /// The sizes are those of the schemas: what real logs have is in `tests/lab.rs`.
    #[test]
    fn all_versions_round_trip() {
        for (version, len) in [(0, 21), (1, 29), (2, 21), (3, 25), (4, 43)] {
            let record = offset(version);
            let (key, value) = encoded(&record);
            let value = value.expect("a value");
            assert_eq!((key.len(), value.len()), (17, len), "version {version}");
            if let OffsetsRecord::Offset { key, value: Some(value) } = &record {
                assert_eq!((key.encoded_len(), value.encoded_len()), (17, len));
            }
            assert_eq!(OffsetsRecord::decode(&key, Some(&value)), Ok(Some(record)));
        }
        for version in 0..=3 {
            let record = classic(version);
            let (key, value) = encoded(&record);
            assert_eq!(OffsetsRecord::decode(&key, value.as_deref()), Ok(Some(record)), "version {version}");
        }
    }

    #[test]
    fn what_is_wrong_is_told() {
        let (key, value) = encoded(&offset(4));
        let value = value.expect("a value");
        for len in 0..value.len() {
            assert!(OffsetsRecord::decode(&key, Some(&value[..len])).is_err(), "{len} bytes");
        }
        let longer = [&value[..], &[0]].concat();
        let error = OffsetsRecord::decode(&key, Some(&longer)).expect_err("a byte too many");
        assert_eq!(error.to_string(), "OffsetCommit value: 1 bytes after the last field");
        let error = OffsetsRecord::decode(&key, Some(&[0, 5])).expect_err("no such version");
        assert_eq!(error.to_string(), "OffsetCommit value: value version 5; versions 0 to 4 are known");
        let error = OffsetsRecord::decode(&[0, 2, 0, 1, b'g'], Some(&[0, 4])).expect_err("no such version");
        assert_eq!(error.to_string(), "GroupMetadata value: value version 4; versions 0 to 3 are known");
        assert_eq!(OffsetsRecord::decode(&[0, 3, 0, 1, b'g'], None), Ok(None));
        assert!(OffsetsRecord::decode(&[0], None).is_err());
    }
}
