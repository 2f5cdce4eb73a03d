//! The operations on streams groups (`GroupMetadataManager.streamsGroupHeartbeat`, `streamsGroupLeave`, …). An operation
//! reads the shard's state and collects records; nothing is changed before they are replayed, but what no record has
//! (the configured topology, the refined assignment).

use super::assignor::{MemberSpec, NoMember};
use super::group::{RefinedAssignment, StreamsGroup};
use super::internal_topics::{self, ConfiguredTopology, Status, TopologyError};
use super::member::Member;
use super::reconcile::{MemberState, Reconciliation};
use super::target::TargetInput;
use super::tasks::{self, AssignedTasks, TaskSet, Tasks};
use super::topology::Topology;
use crate::coordinator::config::Config;
use crate::coordinator::effects::{AssignorRun, Cause};
use crate::coordinator::group::{Group, known_instance, members_once_replaced, static_member};
use crate::coordinator::operation::{Operation, Refusal, TimerChange, refuse};
use crate::coordinator::protocol::{
    Assigned, HeartbeatError, HeartbeatResponse, JOIN_EPOCH, LEAVE_EPOCH, LEAVE_STATIC_EPOCH, StreamsHeartbeat,
    TaskLists, is_blank, is_given_blank,
};
use crate::coordinator::refresh::{Look, Subscriptions};
use crate::coordinator::shard::Shard;
use crate::coordinator::timer::{Timer, TimerKind, Timers};
use crate::kafka::java::HashMap;
use crate::kafka::records::streams::{GroupMetadata, KeyValue};
use crate::kafka::records::{RecordType, Value};
use crate::kafka::{GroupKind, JString};
use crate::kernel::TimeMs;
use crate::strategy::Design;
use std::collections::BTreeMap;
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
        let mut heartbeat = Heartbeat { shard: self, group, topology: &topology, statuses: Vec::new() };
        if group.topology.get().as_ref().is_some_and(|topology| updated.topology_epoch < topology.epoch) {
            heartbeat.statuses.push(Status::StaleTopology);
        }
        let (look, configured) = heartbeat.configure(operation)?;
        let mut update = heartbeat.update(&member, &updated, &look, &configured, request)?;
        let refines = heartbeat.refines(&update, &updated);
        if refines == Some(true) {
            update.causes.push(Cause::Refined);
        }
        let epoch = heartbeat.bump(operation, update, look);
        heartbeat.delay_first_target(operation);
        let target = heartbeat.group_target(operation, epoch, &updated, &configured, refines == Some(true))?;
        let target = heartbeat.refined_target(operation, target, &updated, refines.is_some());
        let member_id = updated.id.clone();
        let reconciled = heartbeat.reconcile(operation, updated, &target, request)?;
        let session_timeout_ms = TimeMs::from(self.settings.config.streams.session_timeout_ms);
        operation.timers.push(TimerChange::Schedule(
            operation.now_ms + session_timeout_ms,
            streams_timer(TimerKind::Session, &group.base.id, &member_id),
        ));
        heartbeat.statuses.extend(configured.problem);
        let changed = joins || reconciled.current.assigned != member.current.assigned;
        Ok(HeartbeatResponse {
            member_epoch: reconciled.epoch(),
            heartbeat_interval_ms: self.settings.config.streams.heartbeat_interval_ms,
            assignment: changed.then(|| told(&reconciled.current.assigned)),
            status: heartbeat.statuses,
        })
    }

    /// `throwIfStreamsGroupIsFull`.
    fn check_streams_size(&self, group: &StreamsGroup, request: &StreamsHeartbeat) -> Result<(), Refusal> {
        let is_full = group.members.len() as i64 >= i64::from(self.settings.config.streams.max_size);
        let is_known = group.members.contains(&request.member)
            || request.instance_id.as_ref().is_some_and(|instance| group.static_members.contains(instance));
        if is_full && !(self.settings.behaviour.streams.members_rejoin_full_groups && is_known) {
            return refuse(HeartbeatError::GroupMaxSizeReached);
        }
        Ok(())
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
            check_epoch(existing, request)?;
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

    fn add_current(&self, operation: &mut Operation, group: &JString, member: &Member) {
        let record = member.current.to_record(self.settings.behaviour.assignment_epochs);
        let value = Value::StreamsCurrentMemberAssignment(Arc::new(record));
        operation.add_member(RecordType::StreamsGroupCurrentMemberAssignment, group, &member.id, Some(value));
    }

    /// A member leaves (`streamsGroupLeave`).
    fn streams_leave(&self, operation: &mut Operation, request: &StreamsHeartbeat) -> Answer {
        let Some(Group::Streams(group)) = self.groups.get(&request.group) else {
            return refuse(HeartbeatError::GroupIdNotFound);
        };
        let member = match &request.instance_id {
            None => group.members.get(&request.member).ok_or(Refusal(HeartbeatError::UnknownMemberId))?,
            Some(instance) => {
                let existing = static_member(&group.static_members, &group.members, instance)?;
                known_instance(existing, &request.member, |member| &member.id)?
            }
        };
        if request.instance_id.is_some() && request.epoch == LEAVE_STATIC_EPOCH {
            let mut current = (*member.current).clone();
            current.epoch = LEAVE_STATIC_EPOCH;
            current.pending_revocation = AssignedTasks::default();
            current.assigned.active.values_mut().flat_map(|tasks| tasks.values_mut()).for_each(|epoch| *epoch = 0);
            self.add_current(operation, &group.base.id, &Member { current: Arc::new(current), ..(**member).clone() });
        } else {
            self.streams_fence(operation, group, member, Cause::Leave);
        }
        Ok(HeartbeatResponse {
            member_epoch: request.epoch,
            heartbeat_interval_ms: 0,
            assignment: None,
            status: Vec::new(),
        })
    }

    /// Takes a member out of the group (`streamsGroupFenceMember`). The group's metadata is not looked at.
    fn streams_fence(&self, operation: &mut Operation, group: &StreamsGroup, member: &Member, cause: Cause) {
        let (behaviour, id) = (&self.settings.behaviour, &group.base.id);
        operation.add_member_tombstones(GroupKind::Streams, id, &member.id);
        let look = match behaviour.streams.leave_forgets_hash {
            true => Look::nothing(),
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
        let Some(Group::Streams(group)) = self.groups.get(&timer.group) else { return Ok(()) };
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
        let heartbeat = Heartbeat { shard: self, group, topology, statuses: Vec::new() };
        if self.may_assign(operation, &group.base, self.settings.config.streams.assignment_interval_ms) {
            heartbeat.compute_target(operation, epoch, None, configured)?;
        }
        Ok(())
    }

    /// `num.standby.replicas` and its like, sorted by key (`streamsGroupAssignmentConfigs`).
    fn assignment_configs(&self) -> Vec<KeyValue> {
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

/// What a heartbeat changes of its group.
struct Update {
    causes: Vec<Cause>,
    /// Whether the topics are not as they were.
    differs: bool,
    validated_topology_epoch: i32,
    configs: Vec<KeyValue>,
}

/// The tasks of each member.
type Targets = BTreeMap<JString, Arc<Tasks>>;

/// The target assignment of a group.
struct GroupTarget {
    epoch: i32,
    targets: Targets,
}

/// The target assignment that a member is reconciled with.
struct CurrentTarget {
    epoch: i32,
    own: Arc<Tasks>,
}

/// A heartbeat of a member that stays, or the timer of the initial delay.
struct Heartbeat<'a, 'h> {
    shard: &'a Shard<'h>,
    group: &'a StreamsGroup,
    topology: &'a Arc<Topology>,
    statuses: Vec<Status>,
}

impl Heartbeat<'_, '_> {
    /// Looks at the topics if they may have changed, and configures the topology anew if they have.
    fn configure(&self, operation: &mut Operation) -> Result<(Look, Arc<ConfiguredTopology>), Refusal> {
        let (shard, group) = (self.shard, self.group);
        let base = &group.base;
        let known = group.configured.get().as_ref().filter(|_| group.topology.get().is_some());
        if let Some(configured) = known
            && !base.metadata_expired(operation.now_ms)
        {
            return Ok((shard.stored(base), configured.clone()));
        }
        let before = |name: &JString| group.subscribes(name);
        let topics = Subscriptions::new(self.topology.required_topics.iter(), &before);
        let look = shard.look(operation, base, &topics, || self.would_reassign())?;
        shard.note_look(operation, base);
        match known {
            Some(configured) if !look.differs && shard.settings.design != Design::Ideal => {
                Ok((look, configured.clone()))
            }
            _ => {
                let configured = Arc::new(self.configured_topology()?);
                operation.streams_changes(&base.id).configured = Some(configured.clone());
                Ok((look, configured))
            }
        }
    }

    fn configured_topology(&self) -> Result<ConfiguredTopology, TopologyError> {
        let (history, image) = (self.shard.history, self.shard.image);
        internal_topics::configure(self.topology, &|name| {
            Some(history.version_at(history.index_of(name)?, image)?.num_partitions())
        })
    }

    /// What the request changes.
    fn update(
        &self,
        member: &Member,
        updated: &Member,
        look: &Look,
        configured: &ConfiguredTopology,
        request: &StreamsHeartbeat,
    ) -> Result<Update, Refusal> {
        let (group, behaviour) = (self.group, &self.shard.settings.behaviour.streams);
        if configured.is_ready() {
            let lists = [&request.active, &request.standby, &request.warmup].into_iter().flatten().flatten();
            let is_task = |id: &JString, partition: i32| {
                configured.subtopologies.get(id).is_some_and(|s| (0..s.tasks).contains(&partition))
            };
            for (id, partitions) in lists {
                let known = configured.subtopologies.contains_key(id);
                if !known || !partitions.iter().all(|&partition| is_task(id, partition)) {
                    return refuse(HeartbeatError::InvalidRequest);
                }
            }
        }
        let mut causes = Vec::new();
        let changed = match request.instance_id {
            // The instance id, the client and the like of a static member make no difference.
            Some(_) => {
                (updated.topology_epoch, &updated.rack, &updated.process_id)
                    != (member.topology_epoch, &member.rack, &member.process_id)
                    || updated.client_tags != member.client_tags
            }
            None => updated != member,
        };
        if changed {
            causes.push(if group.members.contains(&updated.id) { Cause::Subscription } else { Cause::Join });
        }
        let mut validated_topology_epoch = -1;
        let mut configs = Vec::new();
        if behaviour.validates_topologies {
            if configured.is_ready() {
                validated_topology_epoch = self.topology.epoch;
            }
            if validated_topology_epoch != *group.validated_topology_epoch.get() {
                causes.push(Cause::Topology);
            }
            configs = self.shard.assignment_configs();
            if causes.is_empty() && !look.differs && configs != **group.last_assignment_configs.get() {
                causes.push(Cause::Config);
            }
        }
        Ok(Update { causes, differs: look.differs, validated_topology_epoch, configs })
    }

    /// Of a stable group that nothing changes: whether the member does not have what it is to have, so that the group is
    /// bumped for it (4.4).
    fn refines(&self, update: &Update, updated: &Member) -> Option<bool> {
        let asks = self.shard.settings.behaviour.streams.refines && update.causes.is_empty() && !update.differs;
        (asks && self.group.is_stable()).then(|| !self.group.target_of(&updated.id).are(&updated.current.assigned))
    }

    /// Bumps the group if there is a reason to. Gives its epoch.
    fn bump(&self, operation: &mut Operation, update: Update, look: Look) -> i32 {
        let base = &self.group.base;
        if update.causes.is_empty() && !update.differs {
            return *base.epoch.get();
        }
        let before = |name: &JString| self.group.subscribes(name);
        let topics = Subscriptions::new(self.topology.required_topics.iter(), &before);
        let metadata = |epoch, hash| metadata(epoch, hash, update.validated_topology_epoch, update.configs);
        let epoch = self.shard.bump(operation, base, &topics, look, &update.causes, metadata);
        self.shard.note_refresh(operation, base, epoch);
        epoch
    }

    /// The first member of a group starts its initial delay.
    fn delay_first_target(&self, operation: &mut Operation) {
        let (base, delay_ms) = (&self.group.base, self.shard.settings.config.streams_initial_rebalance_delay_ms);
        if self.group.members.is_empty() && delay_ms > 0 && !self.is_delayed(operation) {
            let timer = streams_timer(TimerKind::InitialRebalance, &base.id, &JString::default());
            operation.timers.push(TimerChange::Schedule(operation.now_ms + TimeMs::from(delay_ms), timer));
        }
    }

    fn is_delayed(&self, operation: &Operation) -> bool {
        let is_initial = |change: &TimerChange| matches!(change, TimerChange::Schedule(_, timer) if timer.kind == TimerKind::InitialRebalance);
        operation.timers.iter().any(is_initial)
            || self.shard.timers.is_scheduled(TimerKind::InitialRebalance, &self.group.base.id, "")
    }

    /// The target of the group, computed anew if the group has a newer epoch and may compute one now
    /// (`maybeUpdateStreamsTargetAssignment`).
    fn group_target(
        &mut self,
        operation: &mut Operation,
        epoch: i32,
        updated: &Member,
        configured: &ConfiguredTopology,
        refined: bool,
    ) -> Result<GroupTarget, Refusal> {
        let base = &self.group.base;
        let (assignment_epoch, assigned_at_ms) = *base.assignment.get();
        if self.is_delayed(operation) {
            self.statuses.push(Status::AssignmentDelayed);
            return Ok(GroupTarget { epoch: assignment_epoch, targets: Targets::new() });
        }
        if assignment_epoch >= epoch {
            return Ok(GroupTarget { epoch: assignment_epoch, targets: self.targets_once_replaced(updated) });
        }
        if refined {
            operation.add_assignment_epoch(GroupKind::Streams, &base.id, epoch, assigned_at_ms);
            return Ok(GroupTarget { epoch, targets: self.targets_once_replaced(updated) });
        }
        if !self.shard.may_assign(operation, base, self.shard.settings.config.streams.assignment_interval_ms) {
            self.statuses.push(Status::AssignmentDelayed);
            return Ok(GroupTarget { epoch: assignment_epoch, targets: self.targets_once_replaced(updated) });
        }
        let targets = self.compute_target(operation, epoch, Some(updated), configured)?;
        Ok(GroupTarget { epoch, targets })
    }

    /// The member whose instance id this one takes over.
    fn replaced_by(&self, updated: &Member) -> Option<&JString> {
        let old = self.group.static_members.get(updated.instance_id.as_ref()?)?;
        (*old != updated.id).then_some(old)
    }

    /// The targets as if the member had already replaced its predecessor (`UpdatedMembersAndTargetAssignmentView`).
    fn targets_once_replaced(&self, updated: &Member) -> Targets {
        let mut targets: Targets = self.group.target.iter().map(|(id, tasks)| (id.clone(), tasks.clone())).collect();
        if let Some(old) = self.replaced_by(updated).and_then(|replaced| targets.remove(replaced)) {
            targets.insert(updated.id.clone(), old);
        }
        targets
    }

    /// Computes a target; `updated` is the member that has just changed or come, if any.
    fn compute_target(
        &self,
        operation: &mut Operation,
        epoch: i32,
        updated: Option<&Member>,
        configured: &ConfiguredTopology,
    ) -> Result<Targets, Refusal> {
        let id = &self.group.base.id;
        let old = match updated {
            Some(updated) => self.targets_once_replaced(updated),
            None => self.group.target.iter().map(|(id, tasks)| (id.clone(), tasks.clone())).collect(),
        };
        let new = self.assign(updated, configured, &old).or(refuse(HeartbeatError::UnknownServerError))?;
        let nothing = Tasks::default();
        let mut run = AssignorRun {
            group: id.clone(),
            epoch,
            changed: false,
            members: new.len() as u64,
            partitions: new.iter().map(|(_, tasks)| tasks.count()).sum(),
        };
        for (member, tasks) in &new {
            let before = old.get(member);
            if before.is_none_or(|before| before != tasks) {
                run.changed |= **tasks != before.map_or(&nothing, |before| &**before).clone();
                add_target(operation, id, member, tasks);
            }
        }
        let timestamp_ms = self.shard.assignment_timestamp_ms(operation);
        operation.add_assignment_epoch(GroupKind::Streams, id, epoch, timestamp_ms);
        operation.assignment = Some(run);
        Ok(new.into_iter().collect())
    }

    /// Runs the assignor: the members in the order in which Kafka writes their targets.
    fn assign(
        &self,
        updated: Option<&Member>,
        configured: &ConfiguredTopology,
        old: &Targets,
    ) -> Result<Vec<(JString, Arc<Tasks>)>, NoMember> {
        let behaviour = &self.shard.settings.behaviour.streams;
        let replaced = updated.and_then(|updated| self.replaced_by(updated));
        let mut members: HashMap<JString, &Member> = HashMap::new();
        let updated = updated.map(|updated| (&updated.id, updated));
        for (id, member) in members_once_replaced(&self.group.members, updated, replaced) {
            members.insert(id.clone(), member);
        }
        let former = |member: &Member| -> (TaskSet, TaskSet) {
            if behaviour.assigns_from_current {
                (tasks::without_epochs(&member.current.assigned.active), member.current.assigned.standby.clone())
            } else {
                let target = old.get(&member.id);
                target.map(|target| (target.active.clone(), target.standby.clone())).unwrap_or_default()
            }
        };
        let former: Vec<(TaskSet, TaskSet)> = members.values().map(|member| former(member)).collect();
        let no_process = JString::default();
        let specs: Vec<(&JString, MemberSpec<'_>)> = members
            .iter()
            .zip(&former)
            .map(|((id, member), (active, standby))| {
                let process_id = member.process_id.as_ref().unwrap_or(&no_process);
                (id, MemberSpec { process_id, active, standby })
            })
            .collect();
        let input = TargetInput {
            algorithm: behaviour.assignor,
            members: &specs,
            topology: configured,
            standby_replicas: self.shard.settings.config.streams_num_standby_replicas,
        };
        let targets = input.compute()?;
        Ok(members.keys().cloned().zip(targets).collect())
    }

    /// Whether the assignor would give another assignment now.
    fn would_reassign(&self) -> bool {
        let old = self.group.target.iter().map(|(id, tasks)| (id.clone(), tasks.clone())).collect();
        let Ok(configured) = self.configured_topology() else { return false };
        self.assign(None, &configured, &old).is_ok_and(|new| new.iter().any(|(id, tasks)| old.get(id) != Some(tasks)))
    }

    /// What a member is reconciled with. From 4.4 on that is remembered for an epoch, whatever becomes of the target
    /// meanwhile: a member that leaves and comes back before the next target has its tasks again.
    fn refined_target(
        &self,
        operation: &mut Operation,
        target: GroupTarget,
        updated: &Member,
        stable: bool,
    ) -> CurrentTarget {
        let settings = &self.shard.settings;
        let id = &self.group.base.id;
        let own = |targets: &Targets| targets.get(&updated.id).cloned().unwrap_or_default();
        if !settings.behaviour.streams.refines || settings.config.streams_num_warmup_replicas == 0 {
            return CurrentTarget { epoch: target.epoch, own: own(&target.targets) };
        }
        let relabelled = operation.streams.as_ref().and_then(|(_, changes)| changes.refined.as_ref());
        let known = relabelled.or(self.group.refined.get().as_ref()).filter(|known| known.epoch == target.epoch);
        if let Some(known) = known
            && !stable
        {
            return CurrentTarget { epoch: target.epoch, own: own(&known.tasks) };
        }
        let refined = RefinedAssignment { epoch: target.epoch, tasks: target.targets };
        let own = own(&refined.tasks);
        if known.is_none_or(|known| **known != refined) {
            operation.streams_changes(id).refined = Some(Arc::new(refined));
        }
        CurrentTarget { epoch: target.epoch, own }
    }

    /// Moves the member towards its target (`maybeReconcile`).
    fn reconcile(
        &self,
        operation: &mut Operation,
        member: Member,
        target: &CurrentTarget,
        request: &StreamsHeartbeat,
    ) -> Result<Member, Refusal> {
        if member.is_reconciled_to(target.epoch) {
            return Ok(member);
        }
        let owned = match (&request.active, &request.standby, &request.warmup) {
            (Some(active), Some(standby), Some(warmup)) => {
                let list = |list: &TaskLists| tasks::from_list(list).ok_or(Refusal(HeartbeatError::UnknownServerError));
                Some(Tasks { active: list(active)?, standby: list(standby)?, warmup: list(warmup)? })
            }
            _ => None,
        };
        let behaviour = &self.shard.settings.behaviour;
        let no_process = JString::default();
        let reconciliation = Reconciliation {
            assignment_epochs: behaviour.assignment_epochs,
            roles_change: behaviour.streams.roles_change,
            target_epoch: target.epoch,
            target: &target.own,
            process: member.process_id.as_ref().unwrap_or(&no_process),
            owners: &self.group.owners,
            owned: owned.as_ref(),
        };
        let Some(next) = reconciliation.next(&member.current) else { return Ok(member) };
        let next = Member { current: Arc::new(next), ..member };
        let id = &self.group.base.id;
        self.shard.add_current(operation, id, &next);
        let kind = TimerKind::Rebalance { member_epoch: next.epoch() };
        operation.timers.push(match next.current.state {
            MemberState::UnrevokedTasks => TimerChange::Schedule(
                operation.now_ms + TimeMs::from(next.rebalance_timeout_ms),
                streams_timer(kind, id, &next.id),
            ),
            _ => TimerChange::Cancel(kind, id.clone(), next.id.clone()),
        });
        Ok(next)
    }
}

/// The timers of a group that was loaded.
pub(in crate::coordinator) fn schedule_loaded_timers(
    timers: &mut Timers,
    group: &StreamsGroup,
    config: &Config,
    now_ms: TimeMs,
) {
    for (id, member) in group.members.iter() {
        let timer = |kind| streams_timer(kind, &group.base.id, id);
        timers.schedule(now_ms + TimeMs::from(config.streams.session_timeout_ms), timer(TimerKind::Session));
        if member.current.state == MemberState::UnrevokedTasks {
            let deadline_ms = now_ms + TimeMs::from(member.rebalance_timeout_ms);
            timers.schedule(deadline_ms, timer(TimerKind::Rebalance { member_epoch: member.epoch() }));
        }
    }
}

fn streams_timer(kind: TimerKind, group: &JString, member: &JString) -> Timer {
    Timer { kind, group_kind: GroupKind::Streams, group: group.clone(), member: member.clone() }
}

fn metadata(epoch: i32, metadata_hash: i64, validated_topology_epoch: i32, configs: Vec<KeyValue>) -> Value {
    Value::StreamsGroupMetadata(Arc::new(GroupMetadata {
        epoch,
        metadata_hash,
        validated_topology_epoch,
        last_assignment_configs: configs,
        // Topology descriptions are for a plugin of the broker.
        stored_description_topology_epoch: -1,
        failed_description_topology_epoch: -1,
    }))
}

fn add_target(operation: &mut Operation, group: &JString, member: &JString, tasks: &Tasks) {
    let value = Value::StreamsTargetAssignmentMember(Arc::new(tasks.to_record()));
    operation.add_member(RecordType::StreamsGroupTargetAssignmentMember, group, member, Some(value));
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
    if !(joins && known_may_join) {
        check_epoch(&member, request)?;
    }
    Ok(member)
}

/// The member of that id; a new one is of no process yet (`getOrCreateDefaultMember`).
fn joining_member(group: &StreamsGroup, id: &JString) -> Arc<Member> {
    let new = || Member { process_id: Some(JString::default()), ..Member::new(id.clone()) };
    group.members.get(id).cloned().unwrap_or_else(|| Arc::new(new()))
}

/// `throwIfStreamsGroupMemberEpochIsInvalid`: the epoch must be the member's, or the one before if the answer with the
/// new one may have been lost.
fn check_epoch(member: &Member, request: &StreamsHeartbeat) -> Result<(), Refusal> {
    let assigned = &member.current.assigned;
    let owns_only_its_own = || {
        request.active.as_ref().is_some_and(|list| tasks::contained(list, &assigned.active))
            && request.standby.as_ref().is_some_and(|list| tasks::contained(list, &assigned.standby))
            && request.warmup.as_ref().is_some_and(|list| tasks::contained(list, &assigned.warmup))
    };
    let comes_late = request.epoch < member.epoch() && request.epoch == member.current.previous_epoch;
    if request.epoch == member.epoch() || comes_late && owns_only_its_own() {
        return Ok(());
    }
    refuse(HeartbeatError::FencedMemberEpoch)
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
