//! How the records of share groups change them (`GroupMetadataManager.replay` of types 10, 14 and 15).

use super::group::ShareGroup;
use super::member::ShareMember;
use super::partitions::SharePartitionStates;
use crate::coordinator::group::ReplayError;
use crate::coordinator::log::Entry;
use crate::coordinator::protocol::LEAVE_EPOCH;
use crate::coordinator::replay::{Replay, member_of};
use crate::kafka::GroupKind;
use crate::kafka::records::{Key, RecordType, Value};
use std::sync::Arc;

impl Replay<'_> {
    /// Replays a record of a share group that other kinds do not have.
    pub fn replay_share(&mut self, entry: &Entry) -> Result<(), ReplayError> {
        let key = &entry.record.key;
        let write = self.write;
        match (&entry.record.value, key.record_type) {
            (Some(Value::ShareMemberMetadata(value)), _) => {
                self.update_share_member(key, |member| member.with_metadata(value))
            }
            (None, RecordType::ShareGroupMemberMetadata) => {
                let member = member_of(key)?;
                self.with_subscriptions(&key.group, false, |group: &mut ShareGroup| {
                    if group.modern.check_removal(member)? {
                        group.remove_member(member, write);
                    }
                    Ok(())
                })
            }
            (Some(Value::ShareCurrentMemberAssignment(value)), _) => {
                self.update_share_member(key, |member| member.with_assignment(value))
            }
            (None, RecordType::ShareGroupCurrentMemberAssignment) => {
                let member = member_of(key)?;
                self.with_subscriptions(&key.group, false, |group: &mut ShareGroup| {
                    if let Some(old) = group.modern.members.get(member) {
                        let gone = old.moved_to(LEAVE_EPOCH, Arc::default());
                        group.update_member(Arc::new(ShareMember { previous_epoch: LEAVE_EPOCH, ..gone }), write);
                    }
                    Ok(())
                })
            }
            (Some(Value::ShareStatePartitionMetadata(value)), _) => {
                self.group(GroupKind::Share, &key.group, true)?;
                let states = SharePartitionStates::from_record(value, self.now_ms);
                self.share_partitions.insert(key.group.clone(), Arc::new(states), write);
                Ok(())
            }
            (_, other) => Err(ReplayError::IllegalState(format!("{other:?} is not a share group's"))),
        }
    }

    /// Changes a member, or a new one.
    fn update_share_member(
        &mut self,
        key: &Key,
        change: impl FnOnce(&ShareMember) -> ShareMember,
    ) -> Result<(), ReplayError> {
        let (member, write) = (member_of(key)?, self.write);
        self.with_subscriptions(&key.group, true, |group: &mut ShareGroup| {
            let new = match group.modern.members.get(member) {
                Some(old) => change(old),
                None => change(&ShareMember::new(member.clone())),
            };
            group.update_member(Arc::new(new), write);
            Ok(())
        })
    }
}
