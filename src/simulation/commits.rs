//! Who commits the offsets of which partitions: read off the current assignments that the coordinator writes.

use super::fold::{Kept, LogKeys};
use crate::cluster::{History, TopicIndex};
use crate::disk::{KeyId, OffsetsLog, Record};
use crate::kafka::records::offsets::{OffsetCommit, OffsetCommitKey};
use crate::kafka::records::{CurrentMemberAssignment, Value};
use crate::kafka::{JString, Uuid};
use crate::kernel::lookup::Lookup;
use std::collections::BTreeMap;

/// The committing members of a shard.
#[derive(Debug)]
pub(super) struct Committers<'h> {
    history: &'h History,
    keys: Lookup<(JString, TopicIndex, i32), KeyId>,
    /// What each key stands for, where the log's bytes are wanted.
    names: Option<BTreeMap<KeyId, (OffsetCommitKey, Uuid)>>,
}

/// The length of an offset's value from version 4 on, which has the topic's id, without metadata.
const VALUE_BYTES_WITH_TOPIC_ID: u32 = 42;

impl<'h> Committers<'h> {
    pub fn new(history: &'h History) -> Committers<'h> {
        Committers { history, keys: Lookup::new(), names: None }
    }

    /// From now on it is noted what the keys stand for.
    pub fn keep_names(&mut self) {
        self.names = Some(BTreeMap::new());
    }

    /// The key and the value of an offset, if it was noted what its key stands for. Nothing is consumed in a simulation, so
    /// the offset is always 0.
    pub fn record_of(&self, record: &Record<Kept>) -> Option<(OffsetCommitKey, OffsetCommit)> {
        let (key, topic_id) = self.names.as_ref()?.get(&record.key)?;
        let has_topic_id = record.value_bytes? >= VALUE_BYTES_WITH_TOPIC_ID;
        let value = OffsetCommit {
            version: if has_topic_id { 4 } else { 3 },
            offset: 0,
            leader_epoch: -1,
            metadata: JString::from(""),
            commit_timestamp_ms: record.timestamp_ms,
            expire_timestamp_ms: -1,
            topic_id: has_topic_id.then_some(*topic_id),
        };
        Some((key.clone(), value))
    }

    /// A member's current assignment is written, or removed: from now on it commits what it owns. A static member that has
    /// stopped for a while keeps its assignment and commits nothing.
    pub fn follow(
        &mut self,
        log: &mut OffsetsLog<Kept>,
        keys: &mut LogKeys,
        member: (KeyId, &JString),
        value: Option<&Value>,
        value_bytes: u32,
    ) {
        let (member, group) = member;
        let records = match value {
            Some(Value::CurrentMemberAssignment(assignment)) if assignment.member_epoch >= 0 => {
                self.records(keys, group, assignment, value_bytes)
            }
            _ => Vec::new(),
        };
        log.set_commits(member, records);
    }

    fn records(
        &mut self,
        keys: &mut LogKeys,
        group: &JString,
        assignment: &CurrentMemberAssignment,
        value_bytes: u32,
    ) -> Vec<Record<Kept>> {
        let mut records = Vec::new();
        for of_topic in &assignment.assigned_partitions {
            let Some(topic) = self.history.index_of_id(of_topic.topic_id) else { continue };
            // OffsetCommitKey: the type, group and topic with their lengths, the partition.
            let key_bytes = (2 + 2 + group.len() + 2 + self.history.topic_name(topic).len() + 4) as u32;
            for &partition in &of_topic.partitions {
                let key = *self.keys.get_or_insert_with((group.clone(), topic, partition), || keys.fresh());
                if let Some(names) = &mut self.names {
                    let topic = self.history.topic_name(topic).clone();
                    let name = OffsetCommitKey { key_type: 1, group: group.clone(), topic, partition };
                    names.insert(key, (name, of_topic.topic_id));
                }
                records.push(Record {
                    key,
                    record_type: None,
                    offset_delta: 0,
                    timestamp_ms: 0,
                    key_bytes,
                    value_bytes: Some(value_bytes),
                    hash_bytes: 0,
                    payload: None,
                });
            }
        }
        records
    }
}
