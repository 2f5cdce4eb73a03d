//! How a record changes the state of a shard: `GroupMetadataManager.replay`, for what it has just written and for
//! what it loads.

use super::assignment::Assignment;
use super::behaviour::Behaviour;
use super::group::{Group, OfKind, ReplayError};
use super::log::Entry;
use super::shard::{Groups, SharePartitions, Topics};
use crate::kafka::records::{Key, RecordType, Value};
use crate::kafka::{GroupKind, JString};
use crate::kernel::TimeMs;
use crate::strategy::{Design, MemoTable, Stores, Work};
use std::sync::Arc;

/// Where records are replayed.
pub(super) struct Replay<'a> {
    pub groups: &'a mut Groups,
    pub topics: &'a mut Topics,
    pub memo: &'a mut MemoTable,
    pub behaviour: &'a Behaviour,
    pub design: Design,
    /// The number of the write operation, for roll-backs.
    pub write: u64,
    pub work: &'a mut Work,
    /// When.
    pub now_ms: TimeMs,
    pub share_partitions: &'a mut SharePartitions,
}

pub(super) fn member_of(key: &Key) -> Result<&JString, ReplayError> {
    key.member
        .as_ref()
        .ok_or_else(|| ReplayError::IllegalState(format!("a {:?} key without a member", key.record_type)))
}

impl Replay<'_> {
    /// Replays one record.
    pub fn replay(&mut self, entry: &Entry) -> Result<(), ReplayError> {
        let key = &entry.record.key;
        match (&entry.record.value, key.record_type) {
            (Some(Value::GroupMetadata(value)), _) => self.replay_epoch(entry, value.epoch),
            (Some(Value::ShareGroupMetadata(value)), _) => self.replay_epoch(entry, value.epoch),
            (Some(Value::PartitionMetadata(_) | Value::TopicHashes(_)), _) => self.stored_apart(entry),
            (None, record_type) if record_type.is_partition_metadata() => {
                let write = self.write;
                if let Some(group) = self.group(key.record_type.kind(), &key.group, false)? {
                    group.base_mut().has_map_record.set(false, write);
                }
                Ok(())
            }
            (Some(Value::TargetAssignmentMetadata(value)), _) => {
                let (creates, write) = (self.behaviour.replay_creates, self.write);
                if let Some(group) = self.group(key.record_type.kind(), &key.group, creates)? {
                    group.base_mut().assignment.set((value.assignment_epoch, value.assignment_timestamp_ms), write);
                }
                Ok(())
            }
            // Groups are deleted by an admin or when their offsets expire: neither is modelled.
            (None, RecordType::ConsumerGroupMetadata | RecordType::ConsumerGroupTargetAssignmentMetadata) => {
                Err(ReplayError::IllegalState(format!("group {} is deleted, which is not modelled", key.group)))
            }
            (Some(Value::TargetAssignmentMember(value)), _) => {
                let (member, creates, write) = (member_of(key)?, self.behaviour.replay_creates, self.write);
                if let Some(group) = self.group(key.record_type.kind(), &key.group, creates)? {
                    group.set_target(member, Some(Arc::new(Assignment::from_record(value))), write);
                }
                Ok(())
            }
            (None, RecordType::ConsumerGroupTargetAssignmentMember | RecordType::ShareGroupTargetAssignmentMember) => {
                let (member, write) = (member_of(key)?, self.write);
                if let Some(group) = self.group(key.record_type.kind(), &key.group, false)? {
                    group.set_target(member, None, write);
                }
                Ok(())
            }
            (_, record_type) => match record_type.kind() {
                GroupKind::Share => self.replay_share(entry),
                GroupKind::Streams => self.replay_streams(entry),
                GroupKind::Consumer => self.replay_consumer(entry),
            },
        }
    }

    /// A record of a group's metadata has its epoch, and may store what was seen.
    pub fn replay_epoch(&mut self, entry: &Entry, epoch: i32) -> Result<(), ReplayError> {
        let (key, design, write) = (&entry.record.key, self.design, self.write);
        if let Some(group) = self.group(key.record_type.kind(), &key.group, true)? {
            group.base_mut().epoch.set(epoch, write);
            if let (true, Some(seen)) = (!stores_apart(design), &entry.seen) {
                group.base_mut().store(seen.clone(), write);
            }
        }
        Ok(())
    }

    /// A record of its own stores what was seen.
    fn stored_apart(&mut self, entry: &Entry) -> Result<(), ReplayError> {
        let (creates, apart, write) = (self.behaviour.replay_creates, stores_apart(self.design), self.write);
        let key = &entry.record.key;
        if let Some(group) = self.group(key.record_type.kind(), &key.group, creates)? {
            match &entry.seen {
                Some(seen) if apart => group.base_mut().store(seen.clone(), write),
                _ => group.base_mut().has_map_record.set(true, write),
            }
        }
        Ok(())
    }

    /// The group of a record. Versions that are strict about the order of records throw where there is none, and all do
    /// where it is of another kind.
    pub fn group(&mut self, kind: GroupKind, id: &JString, create: bool) -> Result<Option<&mut Group>, ReplayError> {
        if !self.groups.contains(id) {
            if !create {
                return if self.behaviour.replay_creates {
                    Ok(None)
                } else {
                    Err(ReplayError::IllegalState(format!("{} group {id} not found", kind.name())))
                };
            }
            self.groups.insert(id.clone(), Group::new(id.clone(), kind, self.behaviour), self.write);
        }
        match self.groups.get_mut(id) {
            Some(group) if group.base().kind != kind => {
                Err(ReplayError::IllegalState(format!("group {id} is not a {} group", kind.name())))
            }
            group => Ok(group),
        }
    }

    /// The group of a record that only one kind has.
    pub fn group_of<G: OfKind>(&mut self, id: &JString, create: bool) -> Result<Option<&mut G>, ReplayError> {
        Ok(self.group(G::KIND, id, create)?.and_then(G::of_mut))
    }

    /// Changes a group's subscriptions, and the index of groups by topic with them.
    pub fn with_subscriptions<G: OfKind>(
        &mut self,
        id: &JString,
        create: bool,
        change: impl FnOnce(&mut G) -> Result<(), ReplayError>,
    ) -> Result<(), ReplayError> {
        let Some(group) = self.group(G::KIND, id, create)? else { return Ok(()) };
        let before: Vec<JString> = group.subscribed().into_iter().cloned().collect();
        G::of_mut(group).map_or(Ok(()), change)?;
        let after: Vec<JString> = group.subscribed().into_iter().cloned().collect();
        let still = |name: &JString| self.groups.get(id).is_some_and(|g| g.subscribes(name));
        for name in before.iter().filter(|name| !still(name)) {
            self.topics.unsubscribe(id, name, self.write, self.memo, self.work);
        }
        for name in &after {
            self.topics.subscribe(id, name, self.write);
        }
        Ok(())
    }
}

pub(super) fn unknown_member(key: &Key) -> ReplayError {
    ReplayError::UnknownMember { group: key.group.clone(), member: key.member.clone().unwrap_or_default() }
}

/// Whether what was seen is stored in a record of its own.
fn stores_apart(design: Design) -> bool {
    design.stores(Stores::Map) || design.stores(Stores::Hashes)
}
