//! Who commits the offsets of which partitions: read off the current assignments that the coordinator writes.

use super::fold::{Kept, LogKeys};
use crate::cluster::{History, TopicIndex};
use crate::disk::{KeyId, OffsetsLog, Record};
use crate::kafka::JString;
use crate::kafka::records::{CurrentMemberAssignment, Value};
use crate::kernel::lookup::Lookup;

/// The committing members of a shard.
#[derive(Debug)]
pub(super) struct Committers<'h> {
    history: &'h History,
    keys: Lookup<(JString, TopicIndex, i32), KeyId>,
}

impl<'h> Committers<'h> {
    pub fn new(history: &'h History) -> Committers<'h> {
        Committers { history, keys: Lookup::new() }
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
