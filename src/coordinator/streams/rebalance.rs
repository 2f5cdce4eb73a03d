//! What a heartbeat does to its group, step by step: the topology is configured for the topics that exist, the group is
//! bumped, and the member moves towards its target.

use super::group::StreamsGroup;
use super::internal_topics::{self, ConfiguredTopology, Status, TopologyError};
use super::member::Member;
use super::reconcile::Reconciliation;
use super::target::CurrentTarget;
use super::tasks::{self, Tasks};
use super::topology::Topology;
use crate::coordinator::effects::Cause;
use crate::coordinator::operation::{Operation, Refusal, TimerChange};
use crate::coordinator::protocol::{HeartbeatError, StreamsHeartbeat, TaskLists};
use crate::coordinator::refresh::{Look, Subscriptions};
use crate::coordinator::shard::Shard;
use crate::coordinator::timer::{Timer, TimerKind};
use crate::kafka::JString;
use crate::kafka::records::streams::{GroupMetadata, KeyValue};
use crate::kafka::records::{RecordType, Value};
use crate::kernel::TimeMs;
use crate::strategy::Design;
use std::sync::Arc;

/// What a heartbeat changes of its group.
pub(super) struct Update {
    pub causes: Vec<Cause>,
    /// Whether the topics are not as they were.
    differs: bool,
    validated_topology_epoch: i32,
    configs: Vec<KeyValue>,
}

/// A heartbeat of a member that stays, or the timer of the initial delay.
pub(super) struct Rebalance<'a, 'h> {
    pub shard: &'a Shard<'h>,
    pub group: &'a StreamsGroup,
    pub topology: &'a Arc<Topology>,
    /// What the member is told beside its tasks.
    pub status: Vec<Status>,
}

impl Rebalance<'_, '_> {
    /// Looks at the topics if they may have changed, and configures the topology anew if they have.
    pub fn configure(&self, operation: &mut Operation) -> Result<(Look, Arc<ConfiguredTopology>), Refusal> {
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

    pub(super) fn configured_topology(&self) -> Result<ConfiguredTopology, TopologyError> {
        let (history, image) = (self.shard.history, self.shard.image);
        internal_topics::configure(self.topology, &|name| {
            Some(history.version_at(history.index_of(name)?, image)?.num_partitions())
        })
    }

    /// What the request changes.
    pub fn update(
        &self,
        member: &Member,
        updated: &Member,
        look: &Look,
        configured: &ConfiguredTopology,
        request: &StreamsHeartbeat,
    ) -> Update {
        let (group, behaviour) = (self.group, &self.shard.settings.behaviour.streams);
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
        Update { causes, differs: look.differs, validated_topology_epoch, configs }
    }

    /// Of a stable group that nothing changes: whether the member does not have what it is to have, so that the group is
    /// bumped for it (4.4).
    pub fn refines(&self, update: &Update, updated: &Member) -> Option<bool> {
        let asks = self.shard.settings.behaviour.streams.refines && update.causes.is_empty() && !update.differs;
        (asks && self.group.is_stable()).then(|| !self.group.target_of(&updated.id).are(&updated.current.assigned))
    }

    /// Bumps the group if there is a reason to. Gives its epoch.
    pub fn bump(&self, operation: &mut Operation, update: Update, look: Look) -> i32 {
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
    pub fn delay_first_target(&self, operation: &mut Operation) {
        let (base, delay_ms) = (&self.group.base, self.shard.settings.config.streams_initial_rebalance_delay_ms);
        if self.group.members.is_empty() && delay_ms > 0 && !self.is_delayed(operation) {
            let timer = Timer::new(TimerKind::InitialRebalance, base, &JString::default());
            operation.timers.push(TimerChange::Schedule(operation.now_ms + TimeMs::from(delay_ms), timer));
        }
    }

    pub(super) fn is_delayed(&self, operation: &Operation) -> bool {
        let is_initial = |change: &TimerChange| matches!(change, TimerChange::Schedule(_, timer) if timer.kind == TimerKind::InitialRebalance);
        operation.timers.iter().any(is_initial)
            || self.shard.timers.is_scheduled(TimerKind::InitialRebalance, &self.group.base.id, "")
    }

    /// Moves the member towards its target (`maybeReconcile`).
    pub fn reconcile(
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
        operation.set_rebalance_timer(&self.group.base, &next.id, next.revocation());
        Ok(next)
    }
}

/// The value of a group's metadata record.
pub(super) fn metadata(epoch: i32, metadata_hash: i64, validated_topology_epoch: i32, configs: Vec<KeyValue>) -> Value {
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

/// Adds the target of a member.
pub(super) fn add_target(operation: &mut Operation, group: &JString, member: &JString, tasks: &Tasks) {
    let value = Value::StreamsTargetAssignmentMember(Arc::new(tasks.to_record()));
    operation.add_member(RecordType::StreamsGroupTargetAssignmentMember, group, member, Some(value));
}
