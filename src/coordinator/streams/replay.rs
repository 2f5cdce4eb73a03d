//! How the records of streams groups change them (`GroupMetadataManager.replay` of types 17, 19 and 21 to 23).

use super::group::StreamsGroup;
use super::member::Member;
use super::reconcile::CurrentAssignment;
use super::tasks::Tasks;
use super::topology::Topology;
use crate::coordinator::group::{ReplayError, check_removal};
use crate::coordinator::log::Entry;
use crate::coordinator::protocol::LEAVE_EPOCH;
use crate::coordinator::replay::{Replay, member_of};
use crate::kafka::records::{Key, RecordType, Value, streams};
use std::sync::Arc;

impl Replay<'_> {
    /// Replays a record of a streams group that other kinds do not have.
    pub fn replay_streams(&mut self, entry: &Entry) -> Result<(), ReplayError> {
        let (key, write) = (&entry.record.key, self.write);
        match (&entry.record.value, key.record_type) {
            (Some(Value::StreamsGroupMetadata(value)), _) => {
                if let Some(group) = self.group_of::<StreamsGroup>(&key.group, true)? {
                    group.update_metadata(value, write);
                }
                self.replay_epoch(entry, value.epoch)
            }
            (Some(Value::StreamsMemberMetadata(value)), _) => {
                let old = self.streams_member(key)?;
                self.update_streams_member(key, old.with_metadata(value))
            }
            (None, RecordType::StreamsGroupMemberMetadata) => self.remove_streams_member(key),
            (Some(Value::StreamsTargetAssignmentMember(value)), _) => {
                let member = member_of(key)?;
                if let Some(group) = self.group_of::<StreamsGroup>(&key.group, true)? {
                    group.target.insert(member.clone(), Arc::new(Tasks::from_record(value)), write);
                }
                Ok(())
            }
            (None, RecordType::StreamsGroupTargetAssignmentMember) => {
                let member = member_of(key)?;
                if let Some(group) = self.group_of::<StreamsGroup>(&key.group, false)? {
                    group.target.remove(member, write);
                }
                Ok(())
            }
            (Some(Value::StreamsCurrentMemberAssignment(value)), _) => {
                let current = CurrentAssignment::from_record(value, self.behaviour.assignment_epochs);
                let old = self.streams_member(key)?;
                self.update_streams_member(key, Member { current: Arc::new(current), ..old })
            }
            (None, RecordType::StreamsGroupCurrentMemberAssignment) => self.forget_streams_assignment(key),
            (Some(Value::StreamsTopology(value)), _) => self.set_topology(key, value),
            (_, other) => Err(ReplayError::IllegalState(format!("{other:?} is not a streams group's"))),
        }
    }

    /// The member of a key, or one that nothing is known of.
    fn streams_member(&mut self, key: &Key) -> Result<Member, ReplayError> {
        let id = member_of(key)?;
        let known = self.group_of::<StreamsGroup>(&key.group, true)?.and_then(|group| group.members.get(id));
        Ok(known.map_or_else(|| Member::new(id.clone()), |member| (**member).clone()))
    }

    fn update_streams_member(&mut self, key: &Key, member: Member) -> Result<(), ReplayError> {
        let (behaviour, write) = (self.behaviour, self.write);
        match self.group_of::<StreamsGroup>(&key.group, true)? {
            Some(group) => group.update_member(Arc::new(member), behaviour, write),
            None => Ok(()),
        }
    }

    fn remove_streams_member(&mut self, key: &Key) -> Result<(), ReplayError> {
        let (id, behaviour, write) = (member_of(key)?, self.behaviour, self.write);
        let Some(group) = self.group_of::<StreamsGroup>(&key.group, false)? else { return Ok(()) };
        let Some(old) = group.members.get(id) else { return Ok(()) };
        check_removal(id, old.epoch(), group.target.contains(id))?;
        group.remove_member(id, behaviour, write)
    }

    fn forget_streams_assignment(&mut self, key: &Key) -> Result<(), ReplayError> {
        let (id, behaviour, write) = (member_of(key)?, self.behaviour, self.write);
        let Some(group) = self.group_of::<StreamsGroup>(&key.group, false)? else { return Ok(()) };
        let Some(old) = group.members.get(id).cloned() else { return Ok(()) };
        let gone = CurrentAssignment {
            epoch: LEAVE_EPOCH,
            previous_epoch: LEAVE_EPOCH,
            state: old.current.state,
            ..CurrentAssignment::default()
        };
        group.update_member(Arc::new(Member { current: Arc::new(gone), ..(*old).clone() }), behaviour, write)
    }

    fn set_topology(&mut self, key: &Key, value: &streams::Topology) -> Result<(), ReplayError> {
        let topology = Topology::new(value)
            .ok_or_else(|| ReplayError::IllegalState("two subtopologies have one id".to_owned()))?;
        let write = self.write;
        self.with_subscriptions(&key.group, true, |group: &mut StreamsGroup| {
            group.topology.set(Some(Arc::new(topology)), write);
            Ok(())
        })
    }
}
