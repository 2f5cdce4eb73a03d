//! A streams group: its state, and how records change it (`StreamsGroup`).

use super::internal_topics::ConfiguredTopology;
use super::member::Member;
use super::owners::TaskOwners;
use super::tasks::Tasks;
use super::topology::Topology;
use crate::coordinator::behaviour::Behaviour;
use crate::coordinator::group::{GroupBase, ReplayError};
use crate::coordinator::timeline::Timeline;
use crate::kafka::java::TimelineMap;
use crate::kafka::records::streams::{self, KeyValue};
use crate::kafka::{GroupKind, JString};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The tasks of all members, as they were at an epoch of the target assignment (`RefinedAssignment`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefinedAssignment {
    /// That epoch.
    pub epoch: i32,
    /// Each member's tasks.
    pub tasks: BTreeMap<JString, Arc<Tasks>>,
}

/// What an operation changes of a group that no record has. It is changed whether the operation succeeds or not, and
/// goes back with a failed write.
#[derive(Debug, Default)]
pub struct StreamsChanges {
    /// The topology was configured.
    pub configured: Option<Arc<ConfiguredTopology>>,
    /// What members are reconciled with was looked up, or belongs to another member now.
    pub refined: Option<Arc<RefinedAssignment>>,
}

/// A streams group.
#[derive(Debug)]
pub struct StreamsGroup {
    /// What all kinds have.
    pub base: GroupBase,
    /// The members.
    pub members: TimelineMap<JString, Arc<Member>>,
    /// Static members: instance id → member id.
    pub static_members: TimelineMap<JString, JString>,
    /// The target assignment.
    pub target: TimelineMap<JString, Arc<Tasks>>,
    /// The topology.
    pub topology: Timeline<Option<Arc<Topology>>>,
    /// What became of it; no record has it, so that a shard that loads the group configures it anew.
    pub configured: Timeline<Option<Arc<ConfiguredTopology>>>,
    /// The epoch of the topology whose topics were found to be there and right (4.3 on).
    pub validated_topology_epoch: Timeline<i32>,
    /// The configuration at the last bump, sorted by key (4.3 on).
    pub last_assignment_configs: Timeline<Arc<Vec<KeyValue>>>,
    /// What members are reconciled with, once it was looked up for an epoch (4.4); no record has it either.
    pub refined: Timeline<Option<Arc<RefinedAssignment>>>,
    /// Which process runs which task.
    pub owners: TaskOwners,
}

impl StreamsGroup {
    /// A group that no record has been written of.
    pub fn new(id: JString, behaviour: &Behaviour) -> StreamsGroup {
        StreamsGroup {
            base: GroupBase::new(id, GroupKind::Streams, behaviour),
            members: TimelineMap::new(0),
            static_members: TimelineMap::new(0),
            target: TimelineMap::new(0),
            topology: Timeline::new(None),
            configured: Timeline::new(None),
            validated_topology_epoch: Timeline::new(behaviour.streams.first_validated_topology_epoch),
            last_assignment_configs: Timeline::new(Arc::default()),
            refined: Timeline::new(None),
            owners: TaskOwners::default(),
        }
    }

    /// The topics that it subscribes to: those that its topology requires, whether it has members or not.
    pub fn subscribed(&self) -> impl Iterator<Item = &JString> {
        self.topology.get().iter().flat_map(|topology| &topology.required_topics)
    }

    /// Whether it subscribes to a topic.
    pub fn subscribes(&self, topic: &str) -> bool {
        self.topology.get().as_ref().is_some_and(|topology| topology.required_topics.contains(topic))
    }

    /// The target of a member.
    pub fn target_of(&self, member: &str) -> Arc<Tasks> {
        self.target.get(member).cloned().unwrap_or_default()
    }

    /// `StreamsGroupState.STABLE`: the topology is validated, the target is that of the group's epoch, and every member
    /// has it.
    pub fn is_stable(&self) -> bool {
        let assignment_epoch = self.base.assignment.get().0;
        let validated = *self.validated_topology_epoch.get();
        !self.members.is_empty()
            && self.topology.get().as_ref().is_some_and(|topology| topology.epoch == validated)
            && *self.base.epoch.get() <= assignment_epoch
            && self.members.values().all(|member| member.is_reconciled_to(assignment_epoch))
    }

    /// A member is new or has changed.
    ///
    /// # Errors
    /// See [`TaskOwners`].
    pub fn update_member(&mut self, new: Arc<Member>, behaviour: &Behaviour, write: u64) -> Result<(), ReplayError> {
        let old = self.members.get(&new.id).cloned();
        self.members.insert(new.id.clone(), new.clone(), write);
        self.leave_tasks(old.as_deref(), behaviour, write)?;
        if let Some(process) = &new.process_id {
            for tasks in [&new.current.assigned, &new.current.pending_revocation] {
                self.owners.add(tasks, process, behaviour.streams.owners_strict, write).map_err(illegal_state)?;
            }
        }
        if behaviour.old_instance_is_forgotten
            && let Some(instance) = old.as_ref().and_then(|old| old.instance_id.as_ref())
        {
            self.static_members.remove(instance, write);
        }
        if let Some(instance) = &new.instance_id {
            self.static_members.insert(instance.clone(), new.id.clone(), write);
        }
        Ok(())
    }

    /// A member is gone.
    ///
    /// # Errors
    /// See [`TaskOwners`].
    pub fn remove_member(&mut self, id: &JString, behaviour: &Behaviour, write: u64) -> Result<(), ReplayError> {
        let old = self.members.get(id).cloned();
        self.members.remove(id, write);
        self.leave_tasks(old.as_deref(), behaviour, write)?;
        if let Some(instance) = old.as_ref().and_then(|old| old.instance_id.as_ref()) {
            self.static_members.remove(instance, write);
        }
        Ok(())
    }

    fn leave_tasks(&mut self, old: Option<&Member>, behaviour: &Behaviour, write: u64) -> Result<(), ReplayError> {
        let Some(old) = old else { return Ok(()) };
        for tasks in [&old.current.assigned, &old.current.pending_revocation] {
            let process = old.process_id.as_ref();
            self.owners.remove(tasks, process, behaviour.streams.owners_strict, write).map_err(illegal_state)?;
        }
        Ok(())
    }

    /// What a record of type 17 says beside the epoch.
    pub fn update_metadata(&mut self, value: &streams::GroupMetadata, write: u64) {
        self.validated_topology_epoch.set(value.validated_topology_epoch, write);
        if value.last_assignment_configs != **self.last_assignment_configs.get() {
            self.last_assignment_configs.set(Arc::new(value.last_assignment_configs.clone()), write);
        }
    }

    /// Changes what no record has.
    pub fn apply(&mut self, changes: StreamsChanges, write: u64) {
        if changes.configured.is_some() {
            self.configured.set(changes.configured, write);
        }
        if changes.refined.is_some() {
            self.refined.set(changes.refined, write);
        }
    }

    /// Goes back to the last committed write.
    pub fn revert(&mut self, write: u64) {
        self.base.revert(write);
        self.members.revert(write);
        self.static_members.revert(write);
        self.target.revert(write);
        self.topology.revert(write);
        self.configured.revert(write);
        self.validated_topology_epoch.revert(write);
        self.last_assignment_configs.revert(write);
        self.refined.revert(write);
        self.owners.revert(write);
    }
}

fn illegal_state(error: super::owners::OwnerMismatch) -> ReplayError {
    ReplayError::IllegalState(error.to_string())
}
