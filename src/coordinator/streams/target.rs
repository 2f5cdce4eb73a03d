//! The target assignment of a group: who is to run which task (`maybeUpdateStreamsTargetAssignment`, the streams
//! `TargetAssignmentBuilder`), and what of it a member is reconciled with.

use super::assignor::{GroupSpec, MemberSpec, NoMember};
use super::group::RefinedAssignment;
use super::internal_topics::{ConfiguredTopology, Status};
use super::member::Member;
use super::rebalance::{Rebalance, add_target};
use super::tasks::{self, TaskSet, Tasks};
use crate::coordinator::effects::AssignorRun;
use crate::coordinator::group::members_once_replaced;
use crate::coordinator::operation::{Operation, Refusal};
use crate::coordinator::protocol::HeartbeatError;
use crate::kafka::java::HashMap;
use crate::kafka::{GroupKind, JString};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The target assignment of a group.
pub(super) struct GroupTarget {
    epoch: i32,
    targets: Targets,
}

/// The tasks of each member.
enum Targets {
    /// None: the group waits for its first target.
    Nothing,
    /// Those that the group has.
    Known,
    /// Those that were just computed, in the order in which Kafka writes them.
    Computed(BTreeMap<JString, Arc<Tasks>>),
}

/// The target that a member is reconciled with.
pub(super) struct CurrentTarget {
    /// Its epoch.
    pub epoch: i32,
    /// The member's tasks.
    pub own: Arc<Tasks>,
}

impl Rebalance<'_, '_> {
    /// The target of the group, computed anew if the group has a newer epoch and may compute one now. `refined`: the
    /// newer epoch is only for a member that did not have its tasks.
    pub fn group_target(
        &mut self,
        operation: &mut Operation,
        epoch: i32,
        updated: &Member,
        configured: &ConfiguredTopology,
        refined: bool,
    ) -> Result<GroupTarget, Refusal> {
        let base = &self.group.base;
        let (assignment_epoch, assigned_at_ms) = *base.assignment.get();
        let known = GroupTarget { epoch: assignment_epoch, targets: Targets::Known };
        if self.is_delayed(operation) {
            self.status.push(Status::AssignmentDelayed);
            return Ok(GroupTarget { targets: Targets::Nothing, ..known });
        }
        if assignment_epoch >= epoch {
            return Ok(known);
        }
        if refined {
            operation.add_assignment_epoch(GroupKind::Streams, &base.id, epoch, assigned_at_ms);
            return Ok(GroupTarget { epoch, ..known });
        }
        if !self.shard.may_assign(operation, base, self.shard.settings.config.streams.assignment_interval_ms) {
            self.status.push(Status::AssignmentDelayed);
            return Ok(known);
        }
        let targets = Targets::Computed(self.compute_target(operation, epoch, Some(updated), configured)?);
        Ok(GroupTarget { epoch, targets })
    }

    /// The member whose instance id this one takes over.
    fn replaced_by(&self, updated: &Member) -> Option<&JString> {
        let old = self.group.static_members.get(updated.instance_id.as_ref()?)?;
        (*old != updated.id).then_some(old)
    }

    /// The target of a member, as if the one that asks had already replaced its predecessor
    /// (`UpdatedMembersAndTargetAssignmentView`).
    fn known_target(&self, id: &JString, updated: Option<&Member>) -> Option<&Arc<Tasks>> {
        let target = &self.group.target;
        let replaced = updated.and_then(|updated| Some((updated, self.replaced_by(updated)?)));
        match replaced {
            Some((updated, old)) if updated.id == *id => target.get(old).or_else(|| target.get(id)),
            Some((_, old)) if old == id => None,
            _ => target.get(id),
        }
    }

    /// Computes a target; `updated` is the member that has just changed or come, if any.
    pub fn compute_target(
        &self,
        operation: &mut Operation,
        epoch: i32,
        updated: Option<&Member>,
        configured: &ConfiguredTopology,
    ) -> Result<BTreeMap<JString, Arc<Tasks>>, Refusal> {
        let group = &self.group.base.id;
        let new = self.assign(updated, configured).map_err(|NoMember| Refusal(HeartbeatError::UnknownServerError))?;
        let mut changed = false;
        for (member, tasks) in &new {
            let old = self.known_target(member, updated);
            if old != Some(tasks) {
                changed |= old.is_some() || tasks.count() > 0;
                add_target(operation, group, member, tasks);
            }
        }
        let timestamp_ms = self.shard.assignment_timestamp_ms(operation);
        operation.add_assignment_epoch(GroupKind::Streams, group, epoch, timestamp_ms);
        operation.assignment = Some(AssignorRun {
            group: group.clone(),
            epoch,
            changed,
            members: new.len() as u64,
            partitions: new.iter().map(|(_, tasks)| tasks.count()).sum(),
        });
        Ok(new.into_iter().collect())
    }

    /// Runs the assignor: the members in the order in which Kafka writes their targets. A topology that is not ready gives
    /// every member nothing.
    fn assign(
        &self,
        updated: Option<&Member>,
        configured: &ConfiguredTopology,
    ) -> Result<Vec<(JString, Arc<Tasks>)>, NoMember> {
        let behaviour = &self.shard.settings.behaviour.streams;
        let replaced = updated.and_then(|updated| self.replaced_by(updated));
        let mut members: HashMap<JString, &Member> = HashMap::new();
        let comes = updated.map(|updated| (&updated.id, updated));
        for (id, member) in members_once_replaced(&self.group.members, comes, replaced) {
            members.insert(id.clone(), member);
        }
        if !configured.is_ready() {
            return Ok(members.keys().map(|id| (id.clone(), Arc::default())).collect());
        }
        let former = |member: &Member| -> (TaskSet, TaskSet) {
            if behaviour.assigns_from_current {
                let assigned = &member.current.assigned;
                return (tasks::without_epochs(&assigned.active), assigned.standby.clone());
            }
            let target = self.known_target(&member.id, updated);
            target.map(|target| (target.active.clone(), target.standby.clone())).unwrap_or_default()
        };
        let former: Vec<(TaskSet, TaskSet)> = members.values().map(|member| former(member)).collect();
        let no_process = JString::default();
        let spec = |((id, member), (active, standby))| {
            let member: &Member = member;
            let process_id = member.process_id.as_ref().unwrap_or(&no_process);
            (id, MemberSpec { process_id, active, standby })
        };
        let specs: Vec<(&JString, MemberSpec<'_>)> = members
            .iter()
            .map(|(id, member)| (id, *member))
            .zip(former.iter().map(|(a, s)| (a, s)))
            .map(spec)
            .collect();
        let group = GroupSpec {
            members: &specs,
            standby_replicas: self.shard.settings.config.streams_num_standby_replicas,
            subtopologies: &configured.subtopologies,
        };
        let targets = behaviour.assignor.assign(&group)?.into_iter().map(Arc::new);
        Ok(members.keys().cloned().zip(targets).collect())
    }

    /// Whether the assignor would give another assignment now.
    pub fn would_reassign(&self) -> bool {
        let Ok(configured) = self.configured_topology() else { return false };
        let differs = |(id, tasks): &(JString, Arc<Tasks>)| self.group.target.get(id) != Some(tasks);
        self.assign(None, &configured).is_ok_and(|new| new.iter().any(differs))
    }

    /// What a member is reconciled with. From 4.4 on that is remembered for an epoch, whatever becomes of the target
    /// meanwhile: a member that leaves and comes back before the next target has its tasks again.
    pub fn refined_target(
        &self,
        operation: &mut Operation,
        target: GroupTarget,
        updated: &Member,
        stable: bool,
    ) -> CurrentTarget {
        let GroupTarget { epoch, targets } = target;
        let settings = &self.shard.settings;
        let remembers = settings.behaviour.streams.refines && settings.config.streams_num_warmup_replicas > 0;
        let relabelled = operation.streams.as_ref().and_then(|(_, changes)| changes.refined.as_ref());
        let remembered = relabelled.or(self.group.refined.get().as_ref());
        let remembered = remembered.filter(|refined| remembers && refined.epoch == epoch);
        if let Some(refined) = remembered
            && !stable
        {
            return CurrentTarget { epoch, own: refined.tasks.get(&updated.id).cloned().unwrap_or_default() };
        }
        let own = match &targets {
            Targets::Nothing => None,
            Targets::Known => self.known_target(&updated.id, Some(updated)),
            Targets::Computed(targets) => targets.get(&updated.id),
        };
        let own = own.cloned().unwrap_or_default();
        if remembers && remembered.is_none_or(|refined| !self.is_target(&refined.tasks)) {
            let tasks = self.all(targets, updated);
            operation.streams_changes(&self.group.base.id).refined = Some(Arc::new(RefinedAssignment { epoch, tasks }));
        }
        CurrentTarget { epoch, own }
    }

    /// Whether these are the targets that the group has.
    fn is_target(&self, tasks: &BTreeMap<JString, Arc<Tasks>>) -> bool {
        let target = &self.group.target;
        tasks.len() == target.len() && target.iter().all(|(id, own)| tasks.get(id) == Some(own))
    }

    /// The targets of all members.
    fn all(&self, targets: Targets, updated: &Member) -> BTreeMap<JString, Arc<Tasks>> {
        match targets {
            Targets::Nothing => BTreeMap::new(),
            Targets::Computed(targets) => targets,
            Targets::Known => {
                let ids = self.group.target.keys().chain([&updated.id]);
                ids.filter_map(|id| Some((id.clone(), self.known_target(id, Some(updated))?.clone()))).collect()
            }
        }
    }
}
