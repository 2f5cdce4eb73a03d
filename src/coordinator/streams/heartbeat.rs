//! The operations on streams groups (`GroupMetadataManager.streamsGroupHeartbeat`, `streamsGroupLeave`, …). An operation
//! reads the shard's state and collects records; nothing is changed before they are replayed, but what no record has
//! (the configured topology, the refined assignment).

use super::group::StreamsGroup;
use super::internal_topics::{ConfiguredTopology, Status, TopologyError};
use super::member::Member;
use super::rebalance::{Rebalance, add_target, metadata};
use super::tasks::{self, AssignedTasks, TaskSet, Tasks};
use super::topology::Topology;
use crate::coordinator::effects::Cause;
use crate::coordinator::group::{Group, check_epoch, check_size, known_instance, leaving_member, static_member};
use crate::coordinator::operation::{Operation, Refusal, refuse};
use crate::coordinator::protocol::{
    Assigned, HeartbeatError, HeartbeatResponse, JOIN_EPOCH, LEAVE_EPOCH, LEAVE_STATIC_EPOCH, StreamsHeartbeat,
    TaskLists, is_blank, is_given_blank,
};
use crate::coordinator::refresh::Subscriptions;
use crate::coordinator::shard::Shard;
use crate::coordinator::timer::{Timer, TimerKind};
use crate::kafka::records::streams::KeyValue;
use crate::kafka::records::{RecordType, Value};
use crate::kafka::{GroupKind, JString};
use std::sync::Arc;

type Answer = Result<HeartbeatResponse, Refusal>;

impl From<TopologyError> for Refusal {
    fn from(error: TopologyError) -> Refusal {
        Refusal(match error {
            TopologyError::Invalid => HeartbeatError::StreamsInvalidTopology,
            TopologyError::TopicName => HeartbeatError::InvalidTopicException,
            TopologyError::Unexpected => HeartbeatError::UnknownServerError,
        })
    }
}

impl Shard<'_> {
    pub(in crate::coordinator) fn streams_group_heartbeat(
        &self,
        operation: &mut Operation,
        request: &StreamsHeartbeat,
    ) -> Answer {
        self.check_streams(request)?;
        match request.epoch {
            LEAVE_EPOCH | LEAVE_STATIC_EPOCH => self.streams_leave(operation, request),
            _ => self.streams_heartbeat_of_member(operation, request),
        }
    }

    /// What is checked before the group is looked at (`throwIfStreamsGroupHeartbeatRequestIsInvalid` and
    /// `…IsUsingUnsupportedFeatures`).
    fn check_streams(&self, request: &StreamsHeartbeat) -> Result<(), Refusal> {
        let behaviour = &self.settings.behaviour.streams;
        let lists = [&request.active, &request.standby, &request.warmup];
        let all_empty = lists.iter().all(|list| list.as_ref().is_some_and(Vec::is_empty));
        let unsupported = !behaviour.static_members && request.instance_id.is_some()
            || !behaviour.warmup_tasks && request.warmup.as_ref().is_some_and(|tasks| !tasks.is_empty())
            || request
                .topology
                .iter()
                .any(|topology| topology.subtopologies.iter().any(|s| !s.source_topic_regex.is_empty()));
        let invalid = is_blank(&request.member)
            || is_blank(&request.group)
            || is_given_blank(&request.instance_id)
            || is_given_blank(&request.rack)
            || match request.epoch {
                JOIN_EPOCH => request.rebalance_timeout_ms == -1 || !all_empty || request.topology.is_none(),
                LEAVE_STATIC_EPOCH => request.instance_id.is_none(),
                epoch => epoch < LEAVE_STATIC_EPOCH,
            }
            || lists.iter().any(|list| list.is_some()) && lists.iter().any(|list| list.is_none())
            || request.epoch != JOIN_EPOCH && request.topology.is_some();
        if unsupported || invalid {
            return refuse(HeartbeatError::InvalidRequest);
        }
        let mut subtopologies = request.topology.iter().flat_map(|topology| &topology.subtopologies);
        if subtopologies.any(|s| s.state_changelog_topics.iter().any(|topic| topic.partitions != 0)) {
            return refuse(HeartbeatError::StreamsInvalidTopology);
        }
        Ok(())
    }

    fn streams_heartbeat_of_member(&self, operation: &mut Operation, request: &StreamsHeartbeat) -> Answer {
        let joins = request.epoch == JOIN_EPOCH;
        // A new group is made for the operation only; replaying its records makes the one that stays. Its refresh
        // deadline and its configured topology are therefore lost.
        let new_group;
        let group: &StreamsGroup = match self.groups.get(&request.group) {
            Some(Group::Streams(group)) => group,
            None if joins => {
                new_group = StreamsGroup::new(request.group.clone(), &self.settings.behaviour);
                &new_group
            }
            _ => return refuse(HeartbeatError::GroupIdNotFound),
        };
        if joins {
            self.check_streams_size(group, request)?;
        }
        let member = match &request.instance_id {
            None => dynamic_member(group, request, self.settings.behaviour.known_member_may_join)?,
            Some(instance) => self.static_streams_member(operation, group, instance, request)?,
        };
        let updated = with_request(&member, request);
        if updated != *member {
            let value = Value::StreamsMemberMetadata(Arc::new(updated.metadata_record()));
            operation.add_member(RecordType::StreamsGroupMemberMetadata, &group.base.id, &updated.id, Some(value));
        }
        let topology = updated_topology(operation, group, request)?;
        let mut rebalance = Rebalance { shard: self, group, topology: &topology, status: Vec::new() };
        if group.topology.get().as_ref().is_some_and(|topology| updated.topology_epoch < topology.epoch) {
            rebalance.status.push(Status::StaleTopology);
        }
        let (look, configured) = rebalance.configure(operation)?;
        check_tasks(&configured, request)?;
        let mut update = rebalance.update(&member, &updated, &look, &configured, request);
        let refines = rebalance.refines(&update, &updated);
        if refines == Some(true) {
            update.causes.push(Cause::Refined);
        }
        let epoch = rebalance.bump(operation, update, look);
        rebalance.delay_first_target(operation);
        let target = rebalance.group_target(operation, epoch, &updated, &configured, refines == Some(true))?;
        let target = rebalance.refined_target(operation, target, &updated, refines.is_some());
        let member_id = updated.id.clone();
        let reconciled = rebalance.reconcile(operation, updated, &target, request)?;
        let session_timeout_ms = self.settings.config.streams.session_timeout_ms;
        operation.schedule_session(&group.base, &member_id, session_timeout_ms);
        rebalance.status.extend(configured.problem);
        let changed = joins || reconciled.current.assigned != member.current.assigned;
        Ok(HeartbeatResponse {
            member_epoch: reconciled.epoch(),
            heartbeat_interval_ms: self.settings.config.streams.heartbeat_interval_ms,
            assignment: changed.then(|| told(&reconciled.current.assigned)),
            status: rebalance.status,
        })
    }

    /// `throwIfStreamsGroupIsFull`.
    fn check_streams_size(&self, group: &StreamsGroup, request: &StreamsHeartbeat) -> Result<(), Refusal> {
        check_size(group.members.len(), self.settings.config.streams.max_size, || {
            let is_known_instance =
                || request.instance_id.as_ref().is_some_and(|instance| group.static_members.contains(instance));
            self.settings.behaviour.streams.members_rejoin_full_groups
                && (group.members.contains(&request.member) || is_known_instance())
        })
    }

    /// The member of a request with an instance id (`getOrMaybeCreateStaticStreamsGroupMember`).
    fn static_streams_member(
        &self,
        operation: &mut Operation,
        group: &StreamsGroup,
        instance: &JString,
        request: &StreamsHeartbeat,
    ) -> Result<Arc<Member>, Refusal> {
        let existing = static_member(&group.static_members, &group.members, instance)?;
        if let Some(existing) = existing
            && existing.id != request.member
        {
            // Kafka does so before it asks whether the member may take the instance id over.
            relabel_refined(operation, group, &existing.id, &request.member);
        }
        if request.epoch != JOIN_EPOCH {
            let existing = known_instance(existing, &request.member, |member| &member.id)?;
            check_member_epoch(existing, request, false)?;
            return Ok(existing.clone());
        }
        let Some(existing) = existing else { return Ok(joining_member(group, &request.member)) };
        if existing.epoch() != LEAVE_STATIC_EPOCH {
            return refuse(HeartbeatError::UnreleasedInstanceId);
        }
        let (id, member) = (&group.base.id, &request.member);
        let mut current = (*existing.current).clone();
        (current.epoch, current.previous_epoch) = (0, 0);
        let replaced = Member { id: member.clone(), current: Arc::new(current), ..(**existing).clone() };
        operation.add_member_tombstones(GroupKind::Streams, id, &existing.id);
        let metadata = Value::StreamsMemberMetadata(Arc::new(replaced.metadata_record()));
        operation.add_member(RecordType::StreamsGroupMemberMetadata, id, member, Some(metadata));
        add_target(operation, id, member, &group.target_of(&existing.id));
        self.add_current(operation, id, &replaced);
        Ok(Arc::new(replaced))
    }

    pub(super) fn add_current(&self, operation: &mut Operation, group: &JString, member: &Member) {
        let record = member.current.to_record(self.settings.behaviour.assignment_epochs);
        let value = Value::StreamsCurrentMemberAssignment(Arc::new(record));
        operation.add_member(RecordType::StreamsGroupCurrentMemberAssignment, group, &member.id, Some(value));
    }

    /// A member leaves (`streamsGroupLeave`).
    fn streams_leave(&self, operation: &mut Operation, request: &StreamsHeartbeat) -> Answer {
        let Some(group) = self.group_of::<StreamsGroup>(&request.group) else {
            return refuse(HeartbeatError::GroupIdNotFound);
        };
        let (members, instance_id) = (&group.members, request.instance_id.as_ref());
        let member = leaving_member(&group.static_members, members, instance_id, &request.member, |member| &member.id)?;
        if request.instance_id.is_some() && request.epoch == LEAVE_STATIC_EPOCH {
            let mut current = (*member.current).clone();
            current.epoch = LEAVE_STATIC_EPOCH;
            current.pending_revocation = AssignedTasks::default();
            current.assigned.active.values_mut().flat_map(|tasks| tasks.values_mut()).for_each(|epoch| *epoch = 0);
            self.add_current(operation, &group.base.id, &Member { current: Arc::new(current), ..(**member).clone() });
        } else {
            self.streams_fence(operation, group, member, Cause::Leave);
        }
        Ok(HeartbeatResponse::left(request.epoch))
    }

    /// Takes a member out of the group (`streamsGroupFenceMember`). The group's metadata is not looked at.
    fn streams_fence(&self, operation: &mut Operation, group: &StreamsGroup, member: &Member, cause: Cause) {
        let (behaviour, id) = (&self.settings.behaviour, &group.base.id);
        operation.add_member_tombstones(GroupKind::Streams, id, &member.id);
        let look = match behaviour.streams.leave_forgets_hash {
            true => self.nothing(operation, &group.base),
            false => self.stored(&group.base),
        };
        let before = |name: &JString| group.subscribes(name);
        let topics = Subscriptions::new(group.subscribed(), &before);
        let (validated, configs) =
            (*group.validated_topology_epoch.get(), group.last_assignment_configs.get().to_vec());
        let metadata = |epoch, hash| metadata(epoch, hash, validated, configs);
        let epoch = self.bump(operation, &group.base, &topics, look, &[cause], metadata);
        if let Some(bump) = &mut operation.bump {
            bump.removes_assignment = *group.target_of(&member.id) != Tasks::default();
        }
        if behaviour.empty_group_assignment_epoch && group.members.len() == 1 {
            operation.add_assignment_epoch(GroupKind::Streams, id, epoch, 0);
        }
        operation.cancel_timers(id, &member.id);
    }

    /// A timer of a streams group fires.
    pub(in crate::coordinator) fn fire_streams_timer(
        &self,
        operation: &mut Operation,
        timer: &Timer,
    ) -> Result<(), Refusal> {
        let Some(group) = self.group_of::<StreamsGroup>(&timer.group) else { return Ok(()) };
        if timer.kind == TimerKind::InitialRebalance {
            return self.compute_delayed_target(operation, group);
        }
        let Some(member) = group.members.get(&timer.member) else { return Ok(()) };
        match timer.kind {
            TimerKind::Rebalance { member_epoch } if member.epoch() != member_epoch => {}
            _ => self.streams_fence(operation, group, member, Cause::Timeout),
        }
        Ok(())
    }

    /// The first target of a group, once its members had time to join (`computeDelayedTargetAssignment`).
    fn compute_delayed_target(&self, operation: &mut Operation, group: &StreamsGroup) -> Result<(), Refusal> {
        if group.members.is_empty() {
            return Ok(());
        }
        let epoch = *group.base.epoch.get();
        if epoch <= group.base.assignment.get().0 {
            return refuse(HeartbeatError::UnknownServerError);
        }
        let (Some(configured), Some(topology)) = (group.configured.get(), group.topology.get()) else {
            return Ok(());
        };
        let rebalance = Rebalance { shard: self, group, topology, status: Vec::new() };
        if self.may_assign(operation, &group.base, self.settings.config.streams.assignment_interval_ms) {
            rebalance.compute_target(operation, epoch, None, configured)?;
        }
        Ok(())
    }

    /// `num.standby.replicas` and its like, sorted by key (`streamsGroupAssignmentConfigs`).
    pub(super) fn assignment_configs(&self) -> Vec<KeyValue> {
        let config = &self.settings.config;
        let pair = |key: &str, value: String| KeyValue { key: key.into(), value: value.into() };
        let mut configs = vec![pair("num.standby.replicas", config.streams_num_standby_replicas.to_string())];
        if !config.streams_rack_aware_assignment_tags.is_empty() {
            let tags = config.streams_rack_aware_assignment_tags.join(",");
            configs.push(pair("rack.aware.assignment.tags", tags));
        }
        configs
    }
}

/// The tasks of a request must be those of the topology, if it is ready (`throwIfRequestContainsInvalidTasks`).
fn check_tasks(configured: &ConfiguredTopology, request: &StreamsHeartbeat) -> Result<(), Refusal> {
    let mut lists = [&request.active, &request.standby, &request.warmup].into_iter().flatten().flatten();
    let is_valid = |(id, partitions): &(JString, Vec<i32>)| {
        let known = configured.subtopologies.get(id);
        known.is_some_and(|known| partitions.iter().all(|partition| (0..known.tasks).contains(partition)))
    };
    if configured.is_ready() && !lists.all(is_valid) {
        return refuse(HeartbeatError::InvalidRequest);
    }
    Ok(())
}

/// The member of a request without an instance id.
fn dynamic_member(
    group: &StreamsGroup,
    request: &StreamsHeartbeat,
    known_may_join: bool,
) -> Result<Arc<Member>, Refusal> {
    let joins = request.epoch == JOIN_EPOCH;
    if !joins && !group.members.contains(&request.member) {
        return refuse(HeartbeatError::UnknownMemberId);
    }
    let member = joining_member(group, &request.member);
    check_member_epoch(&member, request, known_may_join)?;
    Ok(member)
}

/// The member of that id; a new one is of no process yet (`getOrCreateDefaultMember`).
fn joining_member(group: &StreamsGroup, id: &JString) -> Arc<Member> {
    let new = || Member { process_id: Some(JString::default()), ..Member::new(id.clone()) };
    group.members.get(id).cloned().unwrap_or_else(|| Arc::new(new()))
}

fn check_member_epoch(member: &Member, request: &StreamsHeartbeat, known_may_join: bool) -> Result<(), Refusal> {
    let assigned = &member.current.assigned;
    let owns_only_its_own = || {
        request.active.as_ref().is_some_and(|list| tasks::contained(list, &assigned.active))
            && request.standby.as_ref().is_some_and(|list| tasks::contained(list, &assigned.standby))
            && request.warmup.as_ref().is_some_and(|list| tasks::contained(list, &assigned.warmup))
    };
    let epochs = (member.epoch(), member.current.previous_epoch);
    check_epoch(request.epoch, epochs, known_may_join, owns_only_its_own)
}

/// The member with what a heartbeat says of it; what was not sent stays.
fn with_request(member: &Member, request: &StreamsHeartbeat) -> Member {
    let mut member = member.clone();
    if request.instance_id.is_some() {
        member.instance_id.clone_from(&request.instance_id);
    }
    if request.rack.is_some() {
        member.rack.clone_from(&request.rack);
    }
    if request.rebalance_timeout_ms != -1 {
        member.rebalance_timeout_ms = request.rebalance_timeout_ms;
    }
    if let Some(topology) = &request.topology {
        member.topology_epoch = topology.epoch;
    }
    if request.process_id.is_some() {
        member.process_id.clone_from(&request.process_id);
    }
    member.client_id = request.client_id.clone();
    member.client_host = request.client_host.clone();
    member
}

/// The topology that the group has after the heartbeat (`maybeUpdateTopology`): its own, or the first one that it is told.
fn updated_topology(
    operation: &mut Operation,
    group: &StreamsGroup,
    request: &StreamsHeartbeat,
) -> Result<Arc<Topology>, Refusal> {
    let Some(record) = &request.topology else {
        return group.topology.get().clone().ok_or(Refusal(HeartbeatError::UnknownServerError));
    };
    let told = Topology::new(record).ok_or(Refusal(HeartbeatError::UnknownServerError))?;
    match group.topology.get() {
        None => {
            let value = Value::StreamsTopology(record.clone());
            operation.add_group(RecordType::StreamsGroupTopology, &group.base.id, Some(value));
            Ok(Arc::new(told))
        }
        Some(known) if known.epoch > told.epoch || **known == told => Ok(known.clone()),
        // Kafka does not update topologies yet.
        Some(_) => refuse(HeartbeatError::InvalidRequest),
    }
}

/// What was remembered for a member is now another's.
fn relabel_refined(operation: &mut Operation, group: &StreamsGroup, old: &JString, new: &JString) {
    let Some(refined) = group.refined.get() else { return };
    let mut relabelled = (**refined).clone();
    if let Some(tasks) = relabelled.tasks.remove(old) {
        relabelled.tasks.insert(new.clone(), tasks);
        operation.streams_changes(&group.base.id).refined = Some(Arc::new(relabelled));
    }
}

/// The tasks of a member as answers carry them.
fn told(assigned: &AssignedTasks) -> Assigned {
    let list = |tasks: &TaskSet| -> TaskLists {
        tasks.iter().map(|(id, partitions)| (id.clone(), partitions.iter().copied().collect())).collect()
    };
    Assigned::Tasks {
        active: list(&tasks::without_epochs(&assigned.active)),
        standby: list(&assigned.standby),
        warmup: list(&assigned.warmup),
    }
}
