//! The operations on consumer groups (`GroupMetadataManager.consumerGroupHeartbeat`, `consumerGroupLeave`, …).
//! An operation reads the shard's state and collects records; nothing is changed before they are replayed.

mod group;
mod member;
mod reconcile;
mod regex;
mod replay;

pub use group::ConsumerGroup;
pub use member::{Member, MemberState};
pub(super) use regex::{MIN_REFRESH_INTERVAL_MS, RegexTask};

use crate::coordinator::assignor::Assignor;
use crate::coordinator::effects::Cause;
use crate::coordinator::group::{Group, check_epoch, check_size, known_instance, leaving_member, static_member};
use crate::coordinator::operation::{Operation, Refusal, refuse};
use crate::coordinator::protocol::{
    Assigned, ConsumerHeartbeat, HeartbeatError, HeartbeatResponse, JOIN_EPOCH, LEAVE_EPOCH, LEAVE_STATIC_EPOCH,
    is_blank, is_given_blank,
};
use crate::coordinator::refresh::Subscriptions;
use crate::coordinator::shard::Shard;
use crate::coordinator::target::{CurrentTarget, add_target_record};
use crate::coordinator::timer::{Timer, TimerKind};
use crate::kafka::records::{GroupMetadata, RecordType, Value};
use crate::kafka::{GroupKind, JString, Uuid};
use crate::kernel::TimeMs;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_128;

use reconcile::Reconciliation;
use regex::RegexChange;

type Answer = Result<HeartbeatResponse, Refusal>;

impl Shard<'_> {
    pub(in crate::coordinator) fn consumer_group_heartbeat(
        &self,
        operation: &mut Operation,
        request: &ConsumerHeartbeat,
    ) -> Answer {
        self.check(request)?;
        match request.epoch {
            LEAVE_EPOCH | LEAVE_STATIC_EPOCH => self.leave(operation, request),
            _ => self.heartbeat_of_member(operation, request),
        }
    }

    /// What is checked before the group is looked at (`throwIfConsumerGroupConsumerHeartbeatIsInvalid`).
    fn check(&self, request: &ConsumerHeartbeat) -> Result<(), Refusal> {
        let behaviour = &self.settings.behaviour;
        let needs_member_id = behaviour.member_id_from_client || request.epoch != JOIN_EPOCH;
        let invalid = is_blank(&request.group)
            || is_given_blank(&request.instance_id)
            || is_given_blank(&request.rack)
            || needs_member_id && is_blank(&request.member)
            || match request.epoch {
                JOIN_EPOCH => !is_complete_join(request, behaviour.joins_without_topics),
                LEAVE_STATIC_EPOCH => request.instance_id.is_none(),
                epoch => epoch < LEAVE_STATIC_EPOCH,
            };
        if invalid {
            return refuse(HeartbeatError::InvalidRequest);
        }
        match &request.assignor {
            Some(name) if self.assignor(name).is_none() => refuse(HeartbeatError::UnsupportedAssignor),
            _ => Ok(()),
        }
    }

    /// The assignor that most members of a group ask for.
    pub(super) fn group_assignor(&self, group: &ConsumerGroup) -> Option<Assignor> {
        let nobody = Member::new(JString::default());
        self.assignor(&group.preferred_assignor(&nobody, &nobody)?)
    }

    fn assignor(&self, name: &str) -> Option<Assignor> {
        Assignor::from_name(name).filter(|assignor| self.settings.config.assignors.contains(assignor))
    }

    fn heartbeat_of_member(&self, operation: &mut Operation, request: &ConsumerHeartbeat) -> Answer {
        // A new group is made for the operation only; replaying its records makes the one that stays. Its refresh
        // deadline is therefore lost.
        let new_group;
        let group: &ConsumerGroup = match self.groups.get(&request.group) {
            Some(Group::Consumer(group)) => group,
            None if request.epoch == JOIN_EPOCH => {
                new_group = ConsumerGroup::new(request.group.clone(), &self.settings.behaviour);
                &new_group
            }
            _ => return refuse(HeartbeatError::GroupIdNotFound),
        };
        self.check_size(group, request)?;
        let member_id = member_id(operation.now_ms, group, request);
        let member = match &request.instance_id {
            None => self.dynamic_member(group, &member_id, request)?,
            Some(instance) => self.static_member(operation, group, &member_id, instance, request)?,
        };
        let updated = member.with_request(request);
        if updated != *member {
            let value = Value::MemberMetadata(Arc::new(updated.metadata_record()));
            operation.add_member(RecordType::ConsumerGroupMemberMetadata, &group.base.id, &member_id, Some(value));
        }
        let topics_changed = updated.topics != member.topics;
        let regex = self.change_regex(operation, group, &member, &updated)?;
        let current = self.maybe_refresh(
            operation,
            group,
            &member,
            &updated,
            topics_changed || regex == RegexChange::ToResolved,
        )?;
        let target = self.current_consumer_target(operation, group, current, &member, &updated)?;
        let subscription_changed = topics_changed || regex != RegexChange::None;
        let reconciled = self.reconcile(operation, group, updated, &target, subscription_changed, request);
        operation.schedule_session(&group.base, &member_id, self.settings.config.consumer.session_timeout_ms);
        // A member that sends everything asks for its assignment.
        let is_full_request = request.epoch == JOIN_EPOCH
            || request.rebalance_timeout_ms != -1
                && (request.topics.is_some() || request.regex.is_some())
                && request.owned.is_some();
        Ok(HeartbeatResponse {
            member_epoch: reconciled.epoch,
            heartbeat_interval_ms: self.settings.config.consumer.heartbeat_interval_ms,
            assignment: (is_full_request || reconciled.assigned != member.assigned)
                .then(|| Assigned::Partitions(reconciled.assignment_response())),
            status: Vec::new(),
        })
    }

    /// `throwIfConsumerGroupIsFull`.
    fn check_size(&self, group: &ConsumerGroup, request: &ConsumerHeartbeat) -> Result<(), Refusal> {
        check_size(group.modern.members.len(), self.settings.config.consumer.max_size, || {
            let is_known_instance = self.settings.behaviour.static_members_rejoin_full_groups
                && request.instance_id.as_ref().is_some_and(|instance| group.static_members.contains(instance));
            is_known_instance || group.modern.members.contains(&request.member)
        })
    }

    fn dynamic_member(
        &self,
        group: &ConsumerGroup,
        id: &JString,
        request: &ConsumerHeartbeat,
    ) -> Result<Arc<Member>, Refusal> {
        let member = match group.modern.members.get(id) {
            Some(member) => member.clone(),
            None if request.epoch == JOIN_EPOCH => Arc::new(Member::new(id.clone())),
            None => return refuse(HeartbeatError::UnknownMemberId),
        };
        self.check_epoch(&member, request)?;
        Ok(member)
    }

    fn check_epoch(&self, member: &Member, request: &ConsumerHeartbeat) -> Result<(), Refusal> {
        let owns_only_its_own = || {
            request.owned.as_ref().is_some_and(|owned| {
                owned.iter().all(|(topic, partitions)| {
                    member.assigned.get(topic).is_some_and(|mine| partitions.iter().all(|p| mine.contains_key(p)))
                })
            })
        };
        let known_may_join = self.settings.behaviour.known_member_may_join;
        check_epoch(request.epoch, (member.epoch, member.previous_epoch), known_may_join, owns_only_its_own)
    }

    /// The member of a request with an instance id (`getOrMaybeSubscribeStaticConsumerGroupMember`).
    fn static_member(
        &self,
        operation: &mut Operation,
        group: &ConsumerGroup,
        member_id: &JString,
        instance: &JString,
        request: &ConsumerHeartbeat,
    ) -> Result<Arc<Member>, Refusal> {
        let existing = static_member(&group.static_members, &group.modern.members, instance)?;
        if request.epoch != JOIN_EPOCH {
            let existing = known_instance(existing, member_id, |member| &member.id)?;
            self.check_epoch(existing, request)?;
            return Ok(existing.clone());
        }
        let Some(existing) = existing else {
            return Ok(group
                .modern
                .members
                .get(member_id)
                .cloned()
                .unwrap_or_else(|| Arc::new(Member::new(member_id.clone()))));
        };
        if existing.epoch != LEAVE_STATIC_EPOCH {
            return refuse(HeartbeatError::UnreleasedInstanceId);
        }
        // The member takes the place of its predecessor, whose timers stay: they will find nobody.
        let replaced = Member { id: member_id.clone(), epoch: 0, previous_epoch: 0, ..(**existing).clone() };
        operation.add_member_tombstones(GroupKind::Consumer, &group.base.id, &existing.id);
        let metadata = Value::MemberMetadata(Arc::new(replaced.metadata_record()));
        operation.add_member(RecordType::ConsumerGroupMemberMetadata, &group.base.id, member_id, Some(metadata));
        let target = group.modern.target.get(&existing.id).cloned().unwrap_or_default();
        add_target_record(operation, GroupKind::Consumer, &group.base.id, member_id, &target);
        self.add_current_assignment(operation, &group.base.id, &replaced);
        Ok(Arc::new(replaced))
    }

    /// Looks at the group's metadata if the member makes a difference or it has expired. Gives the group epoch, and
    /// whether all members subscribe alike.
    fn maybe_refresh(
        &self,
        operation: &mut Operation,
        group: &ConsumerGroup,
        member: &Member,
        updated: &Member,
        subscription_changed: bool,
    ) -> Result<(i32, bool), Refusal> {
        let behaviour = &self.settings.behaviour;
        let is_known = group.modern.members.contains(&updated.id);
        let cause = if subscription_changed || behaviour.bumps_at_epoch_zero && *group.base.epoch.get() == 0 {
            Some(if is_known { Cause::Subscription } else { Cause::Join })
        } else if behaviour.assignor_change_bumps && self.assignor_changes(group, member, updated) {
            Some(Cause::Assignor)
        } else {
            None
        };
        if cause.is_none() && !group.base.metadata_expired(operation.now_ms) {
            return Ok((*group.base.epoch.get(), *group.modern.homogeneous.get()));
        }
        let topics = group.subscribed_after(Some(member), Some(updated));
        let is_new = !is_known && updated.instance_id.as_ref().is_none_or(|i| !group.static_members.contains(i));
        let members = group.modern.members.len() as i32 + i32::from(is_new);
        let homogeneous = group.homogeneous_after(member, updated, &topics, members);
        let before = |topic: &JString| group.modern.subscribed.contains(topic);
        let topics = Subscriptions::new(topics.keys(), &before);
        let reassigns = || self.reassigns(group, homogeneous);
        let epoch = self.refresh(operation, &group.base, &topics, cause, reassigns, metadata_value)?;
        Ok((epoch, homogeneous))
    }

    /// Whether the group's assignor would give another assignment now.
    fn reassigns(&self, group: &ConsumerGroup, homogeneous: bool) -> bool {
        let default = self.settings.config.assignors.first().copied();
        let Some(assignor) = self.group_assignor(group).or(default) else { return false };
        self.target_builder(group, homogeneous).build(assignor, None).is_ok_and(|target| target.differs)
    }

    /// Whether the group will prefer another assignor than now (`hasPreferredServerAssignorChanged`). When one member
    /// each asks for two assignors, the two sides may differ though nothing has changed: counting the member out and in
    /// again moves its assignor to the start of its bucket.
    fn assignor_changes(&self, group: &ConsumerGroup, member: &Member, updated: &Member) -> bool {
        let default = self.settings.config.assignors.first().map(|assignor| assignor.name());
        let before = group.current_assignor().map(|name| &**name).or(default);
        let after = group.preferred_assignor(member, updated);
        before != after.as_deref().or(default)
    }

    /// The group's target assignment.
    fn current_consumer_target(
        &self,
        operation: &mut Operation,
        group: &ConsumerGroup,
        (epoch, homogeneous): (i32, bool),
        member: &Member,
        updated: &Member,
    ) -> Result<CurrentTarget, Refusal> {
        let interval_ms = self.settings.config.consumer.assignment_interval_ms;
        let assignor = || match group.preferred_assignor(member, updated) {
            Some(name) => self.assignor(&name),
            None => self.settings.config.assignors.first().copied(),
        };
        let builder = self.target_builder(group, homogeneous);
        self.current_target(operation, &builder, epoch, interval_ms, assignor, updated)
    }

    fn add_current_assignment(&self, operation: &mut Operation, group: &JString, member: &Member) {
        let value = Value::CurrentMemberAssignment(Arc::new(member.assignment_record(&self.settings.behaviour)));
        operation.add_member(RecordType::ConsumerGroupCurrentMemberAssignment, group, &member.id, Some(value));
    }

    /// Moves the member towards its target (`maybeReconcile`).
    fn reconcile(
        &self,
        operation: &mut Operation,
        group: &ConsumerGroup,
        member: Member,
        target: &CurrentTarget,
        subscription_changed: bool,
        request: &ConsumerHeartbeat,
    ) -> Member {
        let behaviour = &self.settings.behaviour;
        let subscription_changed = subscription_changed && behaviour.reconciles_with_subscription;
        if !subscription_changed && member.is_reconciled_to(target.epoch) {
            return member;
        }
        let resolved = member.regex_or_none().and_then(|regex| group.resolved.get(regex));
        let subscribes = |topic: Uuid| {
            self.name_of_id(topic).is_some_and(|name| {
                member.topics.names.contains(name) || resolved.is_some_and(|r| r.topics.names.contains(name))
            })
        };
        let next = Reconciliation {
            behaviour,
            target_epoch: target.epoch,
            target: &target.own,
            subscription_changed,
            subscribes: &subscribes,
            subscribes_to_nothing: member.topics.names.is_empty() && resolved.is_none_or(|r| r.topics.names.is_empty()),
            partition_epoch: &|topic, partition| group.partition_epoch(topic, partition),
            owned: request.owned.as_deref(),
        }
        .next(&member);
        let Some(next) = next else { return member };
        self.add_current_assignment(operation, &group.base.id, &next);
        operation.set_rebalance_timer(&group.base, &next.id, next.revocation());
        next
    }

    fn leave(&self, operation: &mut Operation, request: &ConsumerHeartbeat) -> Answer {
        let Some(group) = self.group_of::<ConsumerGroup>(&request.group) else {
            return refuse(HeartbeatError::GroupIdNotFound);
        };
        let (members, instance_id) = (&group.modern.members, request.instance_id.as_ref());
        let member = leaving_member(&group.static_members, members, instance_id, &request.member, |member| &member.id)?;
        if request.instance_id.is_some() && request.epoch == LEAVE_STATIC_EPOCH {
            self.leave_for_a_while(operation, group, member);
        } else {
            self.fence(operation, group, member, Cause::Leave)?;
        }
        Ok(HeartbeatResponse::left(request.epoch))
    }

    /// A static member leaves and may come back: its partitions stay its own.
    fn leave_for_a_while(&self, operation: &mut Operation, group: &ConsumerGroup, member: &Member) {
        let mut leaving = Member { epoch: LEAVE_STATIC_EPOCH, pending_revocation: Arc::default(), ..member.clone() };
        if self.settings.behaviour.assignment_epochs {
            let owned = leaving.assigned.iter();
            leaving.assigned = Arc::new(
                owned.map(|(topic, p)| (*topic, p.keys().map(|&partition| (partition, 0)).collect())).collect(),
            );
        }
        self.add_current_assignment(operation, &group.base.id, &leaving);
    }

    /// Takes a member out of the group (`consumerGroupFenceMember`).
    fn fence(
        &self,
        operation: &mut Operation,
        group: &ConsumerGroup,
        member: &Member,
        cause: Cause,
    ) -> Result<(), Refusal> {
        operation.add_member_tombstones(GroupKind::Consumer, &group.base.id, &member.id);
        if let Some(regex) = member.regex_or_none()
            && group.regex_members(regex) == 1
        {
            operation.add_member(RecordType::ConsumerGroupRegularExpression, &group.base.id, regex, None);
        }
        let topics = group.subscribed_after(Some(member), None);
        self.bump_without_member(operation, group, member, &topics, cause, metadata_value)?;
        operation.cancel_timers(&group.base.id, &member.id);
        Ok(())
    }

    /// A timer fires.
    pub(in crate::coordinator) fn fire_consumer_timer(
        &self,
        operation: &mut Operation,
        timer: &Timer,
    ) -> Result<(), Refusal> {
        let Some(group) = self.group_of::<ConsumerGroup>(&timer.group) else { return Ok(()) };
        let Some(member) = group.modern.members.get(&timer.member) else { return Ok(()) };
        match timer.kind {
            TimerKind::Rebalance { member_epoch } if member.epoch != member_epoch => Ok(()),
            _ => self.fence(operation, group, member, Cause::Timeout),
        }
    }
}

/// Whether a request to join says all that it must.
fn is_complete_join(request: &ConsumerHeartbeat, joins_without_topics: bool) -> bool {
    let subscribes = match &request.topics {
        Some(topics) => joins_without_topics || !topics.is_empty(),
        None => joins_without_topics && request.regex.is_some(),
    };
    request.rebalance_timeout_ms != -1 && request.owned.as_ref().is_some_and(Vec::is_empty) && subscribes
}

/// The member id of a request; 3.9 makes one up for a member that has none (a random one: here it follows from the
/// group and the time).
fn member_id(now_ms: TimeMs, group: &ConsumerGroup, request: &ConsumerHeartbeat) -> JString {
    if !request.member.is_empty() {
        return request.member.clone();
    }
    let seed = format!("{}\n{now_ms}\n{}", group.base.id, group.base.epoch.get());
    JString::from(Uuid(xxh3_128(seed.as_bytes())).to_string())
}

fn metadata_value(epoch: i32, metadata_hash: i64) -> Value {
    Value::GroupMetadata(GroupMetadata { epoch, metadata_hash })
}
