//! The operations on share groups (KIP-932; `GroupMetadataManager.shareGroupHeartbeat`, `shareGroupLeave`, …).

mod group;
mod member;
mod partitions;
mod replay;

pub use group::ShareGroup;
pub use member::ShareMember;
pub(super) use partitions::Initialization;
pub use partitions::{SharePartitionStates, TopicStates};

use crate::coordinator::assignment::Assignment;
use crate::coordinator::assignor::Assignor;
use crate::coordinator::effects::Cause;
use crate::coordinator::group::{Group, check_epoch, check_size};
use crate::coordinator::modern::homogeneous_by_name;
use crate::coordinator::operation::{Operation, Refusal, TimerChange, refuse};
use crate::coordinator::protocol::{
    Assigned, HeartbeatError, HeartbeatResponse, JOIN_EPOCH, LEAVE_EPOCH, ShareHeartbeat, is_blank, is_given_blank,
};
use crate::coordinator::refresh::Subscriptions;
use crate::coordinator::shard::Shard;
use crate::coordinator::target::{CurrentTarget, TargetBuilder};
use crate::coordinator::timer::{Timer, TimerKind};
use crate::kafka::records::{RecordType, Value, share};
use crate::kafka::{GroupKind, JString, Uuid};
use std::sync::Arc;

type Answer = Result<HeartbeatResponse, Refusal>;

/// What a heartbeat makes of its group.
struct Refreshed {
    epoch: i32,
    homogeneous: bool,
    /// The topics that the group subscribes to.
    topics: Vec<JString>,
}

impl Shard<'_> {
    /// A member that joins a known group is put into it before anything is written, and stays in it when the operation
    /// fails later without a roll-back (`ShareGroup.getOrMaybeCreateMember`).
    pub(in crate::coordinator) fn add_joining_share_member(&mut self, request: &ShareHeartbeat) {
        let (max_size, write) = (self.settings.config.share.max_size, self.write);
        if request.epoch != JOIN_EPOCH || check(request).is_err() {
            return;
        }
        let Some(Group::Share(group)) = self.groups.get_mut(&request.group) else { return };
        let members = &group.modern.members;
        if !members.contains(&request.member) && check_size(members.len(), max_size, || false).is_ok() {
            group.update_member(Arc::new(ShareMember::new(request.member.clone())), write);
        }
    }

    pub(in crate::coordinator) fn share_group_heartbeat(
        &self,
        operation: &mut Operation,
        request: &ShareHeartbeat,
    ) -> Answer {
        check(request)?;
        if request.epoch == LEAVE_EPOCH {
            return self.share_member_leaves(operation, request);
        }
        // As for a consumer group, a new group is made for the operation only.
        let mut new_group;
        let group: &ShareGroup = match self.groups.get(&request.group) {
            Some(Group::Share(group)) => group,
            None if request.epoch == JOIN_EPOCH => {
                new_group = ShareGroup::new(request.group.clone(), &self.settings.behaviour);
                new_group.update_member(Arc::new(ShareMember::new(request.member.clone())), 0);
                &new_group
            }
            _ => return refuse(HeartbeatError::GroupIdNotFound),
        };
        let (members, max_size) = (&group.modern.members, self.settings.config.share.max_size);
        check_size(members.len(), max_size, || members.contains(&request.member))?;
        let Some(member) = group.modern.members.get(&request.member) else {
            return refuse(HeartbeatError::UnknownMemberId);
        };
        let known_may_join = self.settings.behaviour.known_member_may_join;
        check_epoch(request.epoch, (member.epoch, member.previous_epoch), known_may_join, || true)?;
        self.share_member_heartbeats(operation, request, group, member)
    }

    fn share_member_heartbeats(
        &self,
        operation: &mut Operation,
        request: &ShareHeartbeat,
        group: &ShareGroup,
        member: &ShareMember,
    ) -> Answer {
        let id = &group.base.id;
        let updated = member.with_request(request);
        if updated != *member {
            let value = Value::ShareMemberMetadata(Arc::new(updated.metadata_record()));
            operation.add_member(RecordType::ShareGroupMemberMetadata, id, &member.id, Some(value));
        }
        let refreshed = self.maybe_refresh_share_group(operation, group, member, &updated)?;
        let target = self.current_share_target(operation, group, &refreshed, &updated)?;
        let bumped = refreshed.epoch > *group.base.epoch.get();
        let reconciled = self.reconcile_share_member(updated, &target, bumped);
        if let Some(next) = &reconciled.changed {
            let value = Value::ShareCurrentMemberAssignment(Arc::new(next.assignment_record()));
            operation.add_member(RecordType::ShareGroupCurrentMemberAssignment, id, &member.id, Some(value));
        }
        let now = reconciled.changed.as_ref().unwrap_or(&reconciled.member);
        let config = &self.settings.config.share;
        operation.schedule_session(&group.base, &member.id, config.session_timeout_ms);
        let is_told = request.epoch == JOIN_EPOCH || request.topics.is_some() || now.assigned != member.assigned;
        let response = HeartbeatResponse {
            member_epoch: now.epoch,
            heartbeat_interval_ms: config.heartbeat_interval_ms,
            assignment: is_told.then(|| Assigned::Partitions(now.assignment_response())),
            status: Vec::new(),
        };
        self.initialize_share_partitions(operation, id, refreshed.topics.into_iter());
        Ok(response)
    }

    /// Looks at the group's metadata if the member or an initialised partition makes a difference or it has expired.
    fn maybe_refresh_share_group(
        &self,
        operation: &mut Operation,
        group: &ShareGroup,
        member: &ShareMember,
        updated: &ShareMember,
    ) -> Result<Refreshed, Refusal> {
        let cause = if updated.topics != member.topics {
            let is_new = *member == ShareMember::new(member.id.clone());
            Some(if is_new { Cause::Join } else { Cause::Subscription })
        } else {
            self.initialized_assignment_pending(group).then_some(Cause::ShareInit)
        };
        if cause.is_none() && !group.base.metadata_expired(operation.now_ms) {
            return Ok(Refreshed {
                epoch: *group.base.epoch.get(),
                homogeneous: *group.modern.homogeneous.get(),
                topics: group.modern.subscribed.keys().cloned().collect(),
            });
        }
        let topics = group.modern.subscribed_after(Some(member), Some(updated));
        let homogeneous = homogeneous_by_name(topics.values().copied(), group.modern.members.len() as i32);
        let before = |topic: &JString| group.modern.subscribed.contains(topic);
        let subscriptions = Subscriptions::new(topics.keys(), &before);
        let reassigns = || {
            let is_assignable = self.is_assignable(&group.base.id);
            let builder = self.share_target_builder(group, homogeneous, &is_assignable);
            builder.build(Assignor::Simple, None).is_ok_and(|target| target.differs)
        };
        let epoch = self.refresh(operation, &group.base, &subscriptions, cause, reassigns, metadata_value)?;
        Ok(Refreshed { epoch, homogeneous, topics: topics.keys().cloned().collect() })
    }

    /// Which partitions of a group may be assigned.
    fn is_assignable(&self, group: &str) -> impl Fn(Uuid, i32) -> bool + '_ {
        let states = self.share_partitions.get(group);
        move |topic, partition| states.is_some_and(|states| states.is_initialized(topic, partition))
    }

    fn share_target_builder<'a>(
        &'a self,
        group: &'a ShareGroup,
        homogeneous: bool,
        is_assignable: &'a dyn Fn(Uuid, i32) -> bool,
    ) -> TargetBuilder<'a, ShareGroup> {
        TargetBuilder { is_assignable, ..self.target_builder(group, homogeneous) }
    }

    fn current_share_target(
        &self,
        operation: &mut Operation,
        group: &ShareGroup,
        refreshed: &Refreshed,
        updated: &ShareMember,
    ) -> Result<CurrentTarget, Refusal> {
        let interval_ms = self.settings.config.share.assignment_interval_ms;
        let is_assignable = self.is_assignable(&group.base.id);
        let builder = self.share_target_builder(group, refreshed.homogeneous, &is_assignable);
        self.current_target(operation, &builder, refreshed.epoch, interval_ms, || Some(Assignor::Simple), updated)
    }

    /// Gives a member its target at once (`maybeReconcile`): it need not wait for anybody. From 4.3 on without the topics
    /// that it does not subscribe to.
    fn reconcile_share_member(&self, member: ShareMember, target: &CurrentTarget, bumped: bool) -> Reconciled {
        let filters = self.settings.behaviour.reconciles_with_subscription;
        let moves = member.epoch != target.epoch;
        if !(moves || filters && bumped) {
            return Reconciled { member, changed: None };
        }
        let assigned = if filters { self.subscribed_of(&target.own, &member) } else { target.own.clone() };
        let next =
            if moves { member.moved_to(target.epoch, assigned) } else { ShareMember { assigned, ..member.clone() } };
        let changed = (next != member).then_some(next);
        Reconciled { member, changed }
    }

    /// What of a target is of topics that the member subscribes to.
    fn subscribed_of(&self, target: &Arc<Assignment>, member: &ShareMember) -> Arc<Assignment> {
        let subscribes = |topic: &Uuid| self.name_of_id(*topic).is_some_and(|name| member.topics.names.contains(name));
        if target.partitions.keys().all(subscribes) {
            return target.clone();
        }
        let mut filtered = (**target).clone();
        filtered.partitions.retain(|topic, _| subscribes(topic));
        Arc::new(filtered)
    }

    fn share_member_leaves(&self, operation: &mut Operation, request: &ShareHeartbeat) -> Answer {
        let Some(group) = self.group_of::<ShareGroup>(&request.group) else {
            return refuse(HeartbeatError::GroupIdNotFound);
        };
        let Some(member) = group.modern.members.get(&request.member) else {
            return refuse(HeartbeatError::UnknownMemberId);
        };
        self.fence_share_member(operation, group, member, Cause::Leave)?;
        Ok(HeartbeatResponse::left(request.epoch))
    }

    /// Takes a member out of the group (`shareGroupFenceMember`).
    fn fence_share_member(
        &self,
        operation: &mut Operation,
        group: &ShareGroup,
        member: &ShareMember,
        cause: Cause,
    ) -> Result<(), Refusal> {
        operation.add_member_tombstones(GroupKind::Share, &group.base.id, &member.id);
        let topics = group.modern.subscribed_after(Some(member), None);
        self.bump_without_member(operation, group, member, &topics, cause, metadata_value)?;
        let (group, member) = (group.base.id.clone(), member.id.clone());
        operation.timers.push(TimerChange::Cancel(TimerKind::Session, group, member));
        Ok(())
    }

    /// A session timer fires.
    pub(in crate::coordinator) fn fire_share_timer(
        &self,
        operation: &mut Operation,
        timer: &Timer,
    ) -> Result<(), Refusal> {
        let Some(group) = self.group_of::<ShareGroup>(&timer.group) else { return Ok(()) };
        let Some(member) = group.modern.members.get(&timer.member) else { return Ok(()) };
        self.fence_share_member(operation, group, member, Cause::Timeout)
    }
}

/// A member after a reconciliation.
struct Reconciled {
    /// As it was.
    member: ShareMember,
    /// As it is now, if that is another state.
    changed: Option<ShareMember>,
}

/// What is checked before the group is looked at (`throwIfShareGroupHeartbeatRequestIsInvalid`).
fn check(request: &ShareHeartbeat) -> Result<(), Refusal> {
    let invalid = is_blank(&request.member)
        || is_blank(&request.group)
        || is_given_blank(&request.rack)
        || match request.epoch {
            JOIN_EPOCH => request.topics.as_ref().is_none_or(Vec::is_empty),
            epoch => epoch < LEAVE_EPOCH,
        };
    if invalid { refuse(HeartbeatError::InvalidRequest) } else { Ok(()) }
}

fn metadata_value(epoch: i32, metadata_hash: i64) -> Value {
    Value::ShareGroupMetadata(share::GroupMetadata { epoch, metadata_hash })
}
