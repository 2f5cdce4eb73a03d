//! How a record changes the state of a shard: `GroupMetadataManager.replay`, for what it has just written and for
//! what it loads.

use super::assignment::Assignment;
use super::behaviour::Behaviour;
use super::group::{Group, ReplayError, ResolvedRegex};
use super::log::Entry;
use super::member::{Member, Subscription};
use super::protocol::LEAVE_EPOCH;
use super::shard::{Groups, Topics};
use crate::kafka::JString;
use crate::kafka::records::{Key, RecordType, Value};
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
}

fn member_of(key: &Key) -> Result<&JString, ReplayError> {
    key.member
        .as_ref()
        .ok_or_else(|| ReplayError::IllegalState(format!("a {:?} key without a member", key.record_type)))
}

impl Replay<'_> {
    /// Replays one record.
    pub fn replay(&mut self, entry: &Entry) -> Result<(), ReplayError> {
        let key = &entry.record.key;
        match (&entry.record.value, key.record_type) {
            (Some(Value::MemberMetadata(value)), _) => {
                let member = member_of(key)?;
                let (behaviour, write) = (self.behaviour, self.write);
                self.with_subscriptions(&key.group, true, |group| {
                    let old = group.members.get(member).cloned();
                    let old = old.unwrap_or_else(|| Arc::new(Member::new(member.clone())));
                    group.update_member(Arc::new(old.with_metadata(value)), behaviour, write)
                })
            }
            (None, RecordType::ConsumerGroupMemberMetadata) => self.remove_member(key),
            (Some(Value::GroupMetadata(value)), _) => {
                let (design, write) = (self.design, self.write);
                if let Some(group) = self.group(&key.group, true)? {
                    group.epoch.set(value.epoch, write);
                    if let (true, Some(seen)) = (!stores_apart(design), &entry.seen) {
                        group.stored.set(seen.clone(), write);
                    }
                }
                Ok(())
            }
            (Some(Value::PartitionMetadata(_) | Value::TopicHashes(_)), _) => {
                let (creates, apart, write) = (self.behaviour.replay_creates, stores_apart(self.design), self.write);
                if let Some(group) = self.group(&key.group, creates)? {
                    match &entry.seen {
                        Some(seen) if apart => group.stored.set(seen.clone(), write),
                        _ => group.has_map_record.set(true, write),
                    }
                }
                Ok(())
            }
            (None, RecordType::ConsumerGroupPartitionMetadata) => {
                let write = self.write;
                if let Some(group) = self.group(&key.group, false)? {
                    group.has_map_record.set(false, write);
                }
                Ok(())
            }
            (Some(Value::TargetAssignmentMember(value)), _) => {
                let (member, creates, write) = (member_of(key)?, self.behaviour.replay_creates, self.write);
                if let Some(group) = self.group(&key.group, creates)? {
                    group.update_target(member, Arc::new(Assignment::from_record(value)), write);
                }
                Ok(())
            }
            (None, RecordType::ConsumerGroupTargetAssignmentMember) => {
                let (member, write) = (member_of(key)?, self.write);
                if let Some(group) = self.group(&key.group, false)? {
                    group.remove_target(member, write);
                }
                Ok(())
            }
            (Some(Value::TargetAssignmentMetadata(value)), _) => {
                let (creates, write) = (self.behaviour.replay_creates, self.write);
                if let Some(group) = self.group(&key.group, creates)? {
                    group.assignment.set((value.assignment_epoch, value.assignment_timestamp_ms), write);
                }
                Ok(())
            }
            (Some(Value::CurrentMemberAssignment(value)), _) => {
                let (member, behaviour, write) = (member_of(key)?, self.behaviour, self.write);
                let Some(group) = self.group(&key.group, behaviour.replay_creates)? else { return Ok(()) };
                let old = match group.members.get(member).cloned() {
                    Some(old) => old,
                    None if behaviour.replay_creates => Arc::new(Member::new(member.clone())),
                    None => return Err(unknown_member(key)),
                };
                group.update_member(Arc::new(old.with_assignment(value, behaviour)), behaviour, write)
            }
            (None, RecordType::ConsumerGroupCurrentMemberAssignment) => self.forget_assignment(key),
            (Some(Value::RegularExpression(value)), _) => {
                let (regex, write) = (member_of(key)?, self.write);
                let resolved = ResolvedRegex {
                    topics: Arc::new(Subscription::new(&value.topics)),
                    version: value.version,
                    timestamp_ms: value.timestamp_ms,
                };
                self.with_subscriptions(&key.group, true, |group| {
                    group.update_regex(regex, Some(resolved), write);
                    Ok(())
                })
            }
            (None, RecordType::ConsumerGroupRegularExpression) => {
                let (regex, write) = (member_of(key)?, self.write);
                self.with_subscriptions(&key.group, false, |group| {
                    group.update_regex(regex, None, write);
                    Ok(())
                })
            }
            // Groups are deleted by an admin or when their offsets expire: neither is modelled.
            (None, RecordType::ConsumerGroupMetadata | RecordType::ConsumerGroupTargetAssignmentMetadata) => {
                Err(ReplayError::IllegalState(format!("group {} is deleted, which is not modelled", key.group)))
            }
            (_, other) => Err(ReplayError::IllegalState(format!("{}: of a kind of group not modelled", other.name()))),
        }
    }

    fn remove_member(&mut self, key: &Key) -> Result<(), ReplayError> {
        let member = member_of(key)?;
        let (behaviour, write) = (self.behaviour, self.write);
        self.with_subscriptions(&key.group, false, |group| {
            let Some(old) = group.members.get(member) else {
                return if behaviour.replay_creates { Ok(()) } else { Err(unknown_member(key)) };
            };
            if old.epoch != LEAVE_EPOCH {
                return Err(ReplayError::IllegalState(format!(
                    "member {member} is deleted but its current assignment is not"
                )));
            }
            if group.target.contains(member) {
                return Err(ReplayError::IllegalState(format!(
                    "member {member} is deleted but its target assignment is not"
                )));
            }
            group.remove_member(member, behaviour, write)
        })
    }

    fn forget_assignment(&mut self, key: &Key) -> Result<(), ReplayError> {
        let (member, behaviour, write) = (member_of(key)?, self.behaviour, self.write);
        let Some(group) = self.group(&key.group, false)? else { return Ok(()) };
        let Some(old) = group.members.get(member).cloned() else {
            return if behaviour.replay_creates { Ok(()) } else { Err(unknown_member(key)) };
        };
        let mut gone = (*old).clone();
        gone.epoch = LEAVE_EPOCH;
        gone.previous_epoch = LEAVE_EPOCH;
        gone.assigned = Arc::default();
        gone.pending_revocation = Arc::default();
        group.update_member(Arc::new(gone), behaviour, write)
    }

    /// The group of a record. Versions that are strict about the order of records throw where there is none.
    fn group(&mut self, id: &JString, create: bool) -> Result<Option<&mut Group>, ReplayError> {
        if !self.groups.contains(id) {
            if !create {
                return if self.behaviour.replay_creates {
                    Ok(None)
                } else {
                    Err(ReplayError::IllegalState(format!("consumer group {id} not found")))
                };
            }
            let group = Group::new(id.clone(), self.behaviour);
            self.groups.insert(id.clone(), Box::new(group), self.write);
        }
        Ok(self.groups.get_mut(id).map(|group| &mut **group))
    }

    /// Changes a group's subscriptions, and the index of groups by topic with them.
    fn with_subscriptions(
        &mut self,
        id: &JString,
        create: bool,
        change: impl FnOnce(&mut Group) -> Result<(), ReplayError>,
    ) -> Result<(), ReplayError> {
        let Some(group) = self.group(id, create)? else { return Ok(()) };
        let before: Vec<JString> = group.subscribed.keys().cloned().collect();
        change(group)?;
        let after: Vec<JString> = group.subscribed.keys().cloned().collect();
        let still = |name: &JString| self.groups.get(id).is_some_and(|g| g.subscribed.contains(name));
        for name in before.iter().filter(|name| !still(name)) {
            self.topics.unsubscribe(id, name, self.write, self.memo, self.work);
        }
        for name in &after {
            self.topics.subscribe(id, name, self.write);
        }
        Ok(())
    }
}

fn unknown_member(key: &Key) -> ReplayError {
    ReplayError::UnknownMember { group: key.group.clone(), member: key.member.clone().unwrap_or_default() }
}

/// Whether what was seen is stored in a record of its own.
fn stores_apart(design: Design) -> bool {
    design.stores(Stores::Map) || design.stores(Stores::Hashes)
}
