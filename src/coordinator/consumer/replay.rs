//! How the records of consumer groups change them (`GroupMetadataManager.replay` of types 5, 7, 8 and 16).

use super::group::{ConsumerGroup, ResolvedRegex};
use super::member::Member;
use crate::coordinator::group::ReplayError;
use crate::coordinator::log::Entry;
use crate::coordinator::modern::Subscription;
use crate::coordinator::protocol::LEAVE_EPOCH;
use crate::coordinator::replay::{Replay, member_of, unknown_member};
use crate::kafka::records::{Key, RecordType, Value};
use std::sync::Arc;

impl Replay<'_> {
    /// Replays a record of a consumer group that other kinds do not have.
    pub fn replay_consumer(&mut self, entry: &Entry) -> Result<(), ReplayError> {
        let key = &entry.record.key;
        match (&entry.record.value, key.record_type) {
            (Some(Value::MemberMetadata(value)), _) => {
                let member = member_of(key)?;
                let (behaviour, write) = (self.behaviour, self.write);
                self.with_subscriptions(&key.group, true, |group: &mut ConsumerGroup| {
                    let old = group.modern.members.get(member).cloned();
                    let old = old.unwrap_or_else(|| Arc::new(Member::new(member.clone())));
                    group.update_member(Arc::new(old.with_metadata(value)), behaviour, write)
                })
            }
            (None, RecordType::ConsumerGroupMemberMetadata) => self.remove_member(key),
            (Some(Value::CurrentMemberAssignment(value)), _) => {
                let (member, behaviour, write) = (member_of(key)?, self.behaviour, self.write);
                let Some(group) = self.group_of::<ConsumerGroup>(&key.group, behaviour.replay_creates)? else {
                    return Ok(());
                };
                let old = match group.modern.members.get(member).cloned() {
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
                self.with_subscriptions(&key.group, true, |group: &mut ConsumerGroup| {
                    group.update_regex(regex, Some(resolved), write);
                    Ok(())
                })
            }
            (None, RecordType::ConsumerGroupRegularExpression) => {
                let (regex, write) = (member_of(key)?, self.write);
                self.with_subscriptions(&key.group, false, |group: &mut ConsumerGroup| {
                    group.update_regex(regex, None, write);
                    Ok(())
                })
            }
            (_, other) => Err(ReplayError::IllegalState(format!("{other:?} is not a consumer group's"))),
        }
    }

    fn remove_member(&mut self, key: &Key) -> Result<(), ReplayError> {
        let member = member_of(key)?;
        let (behaviour, write) = (self.behaviour, self.write);
        self.with_subscriptions(&key.group, false, |group: &mut ConsumerGroup| {
            match group.modern.check_removal(member)? {
                true => group.remove_member(member, behaviour, write),
                false if behaviour.replay_creates => Ok(()),
                false => Err(unknown_member(key)),
            }
        })
    }

    fn forget_assignment(&mut self, key: &Key) -> Result<(), ReplayError> {
        let (member, behaviour, write) = (member_of(key)?, self.behaviour, self.write);
        let Some(group) = self.group_of::<ConsumerGroup>(&key.group, false)? else { return Ok(()) };
        let Some(old) = group.modern.members.get(member).cloned() else {
            return if behaviour.replay_creates { Ok(()) } else { Err(unknown_member(key)) };
        };
        let mut gone = (*old).clone();
        gone.epoch = LEAVE_EPOCH;
        gone.previous_epoch = LEAVE_EPOCH;
        gone.assigned = Arc::default();
        gone.pending_revocation = Arc::default();
        group.update_member(Arc::new(gone), behaviour, write)
    }
}
