//! Computes the target assignment of a consumer or share group (`modern.TargetAssignmentBuilder`).

use super::assignment::Assignment;
use super::assignor::{Assignor, AssignorError, GroupSpec, MemberSpec};
use super::behaviour::Behaviour;
use super::effects::AssignorRun;
use super::group::{GroupBase, members_once_replaced};
use super::modern::{Modern, ModernMember};
use super::operation::{Operation, Refusal};
use super::protocol::HeartbeatError;
use super::shard::Shard;
use crate::cluster::{History, ImageNumber};
use crate::kafka::java::HashMap;
use crate::kafka::records::{RecordType, Value};
use crate::kafka::{GroupKind, JString, Uuid};
use std::sync::Arc;

/// A new target assignment.
#[derive(Debug)]
pub struct Target {
    /// The members whose target is new or another one than before, in the order in which Kafka writes them.
    pub changed: Vec<(JString, Arc<Assignment>)>,
    /// The target of the member that asked.
    pub own: Arc<Assignment>,
    /// How many members were assigned to.
    pub members: u64,
    /// How many partitions were assigned.
    pub partitions: u64,
    /// Whether any member's target, as a set of partitions, differs from before.
    pub differs: bool,
}

/// How many partitions an assignment has.
pub fn num_partitions(assignment: &Assignment) -> usize {
    assignment.partitions.values().map(|partitions| partitions.len()).sum()
}

/// What a target assignment is computed from.
pub struct TargetBuilder<'a, G> {
    /// What the Kafka version does.
    pub behaviour: &'a Behaviour,
    /// The metadata.
    pub history: &'a History,
    /// The image.
    pub image: ImageNumber,
    /// The group as it is.
    pub group: &'a G,
    /// Whether all its members subscribe alike.
    pub homogeneous: bool,
    /// Whether a partition may be assigned.
    pub is_assignable: &'a dyn Fn(Uuid, i32) -> bool,
}

impl<G: Modern> TargetBuilder<'_, G> {
    /// Runs the assignor; `updated` is the member that has just changed or come, if any.
    pub fn build(&self, assignor: Assignor, updated: Option<&G::Member>) -> Result<Target, AssignorError> {
        let members = self.member_specs(updated);
        let partition_count = |topic: Uuid| self.num_partitions(topic);
        let spec = GroupSpec {
            members: &members,
            homogeneous: self.homogeneous,
            inverted: &self.group.modern().inverted,
            num_partitions: &partition_count,
            is_assignable: self.is_assignable,
        };
        let assigned = assignor.assign(&spec, self.behaviour.assignors)?;
        let mut target = Target {
            changed: Vec::new(),
            own: Arc::default(),
            members: members.len() as u64,
            partitions: 0,
            differs: false,
        };
        for member in members.keys() {
            let new = assigned.get(member).cloned().unwrap_or_default();
            target.partitions += num_partitions(&new) as u64;
            if updated.is_some_and(|m| *m.id() == *member) {
                target.own = new.clone();
            }
            let old = match self.behaviour.target_sees_replacement {
                true => self.target_once_replaced(member, updated),
                false => self.group.modern().target.get(member),
            };
            if old.is_none_or(|old| **old != *new) {
                target.differs |= old.map_or(num_partitions(&new) > 0, |old| **old != *new);
                target.changed.push((member.clone(), new));
            }
        }
        Ok(target)
    }

    /// The target that a member has before the run, as if it had already replaced its predecessor.
    fn target_once_replaced(&self, member: &JString, updated: Option<&G::Member>) -> Option<&Arc<Assignment>> {
        let replaced = updated.filter(|updated| *updated.id() == *member).and_then(|updated| self.replaced_by(updated));
        replaced
            .and_then(|replaced| self.group.modern().target.get(replaced))
            .or_else(|| self.group.modern().target.get(member))
    }

    /// The member whose instance id this one takes over.
    fn replaced_by(&self, updated: &G::Member) -> Option<&JString> {
        let old = self.group.static_member_id(updated.instance_id()?)?;
        (old != updated.id()).then_some(old)
    }

    fn num_partitions(&self, topic: Uuid) -> i32 {
        self.history
            .index_of_id(topic)
            .and_then(|index| self.history.version_at(index, self.image))
            .filter(|version| version.id == topic)
            .map_or(-1, |version| version.num_partitions())
    }

    fn member_specs(&self, updated: Option<&G::Member>) -> HashMap<JString, MemberSpec> {
        if self.behaviour.target_sees_replacement {
            return self.specs_once_replaced(updated);
        }
        let mut specs = HashMap::new();
        for (id, member) in self.group.modern().members.iter() {
            specs.insert(id.clone(), self.member_spec(member, self.group.modern().target.get(id)));
        }
        let Some(updated) = updated else { return specs };
        // The member that asked, and the one whose instance id it takes over, in the order of a `HashMap`.
        let replaced = self.replaced_by(updated);
        let mut updates: HashMap<JString, bool> = HashMap::new();
        updates.insert(updated.id().clone(), true);
        if let Some(old) = replaced {
            updates.insert(old.clone(), false);
        }
        for (id, comes) in updates.iter() {
            if *comes {
                specs.insert(
                    id.clone(),
                    self.member_spec(updated, self.group.modern().target.get(replaced.unwrap_or(id))),
                );
            } else {
                specs.remove(id);
            }
        }
        specs
    }

    /// The members as if the one that asked had already replaced its predecessor: that one is never in the map, which
    /// may thus stay smaller.
    fn specs_once_replaced(&self, updated: Option<&G::Member>) -> HashMap<JString, MemberSpec> {
        let mut specs = HashMap::new();
        let replaced = updated.and_then(|updated| self.replaced_by(updated));
        let comes = updated.map(|updated| (updated.id(), updated));
        for (id, member) in members_once_replaced(&self.group.modern().members, comes, replaced) {
            specs.insert(id.clone(), self.member_spec(member, self.target_once_replaced(id, updated)));
        }
        specs
    }

    fn member_spec(&self, member: &G::Member, target: Option<&Arc<Assignment>>) -> MemberSpec {
        MemberSpec {
            instance_id: member.instance_id().cloned(),
            rack: member.rack().cloned(),
            subscribed_names: self.group.subscribed_names(member).count(),
            subscribed: self.group.subscribed_names(member).filter_map(|name| self.topic_id(name)).collect(),
            assignment: target.cloned().unwrap_or_default(),
        }
    }

    fn topic_id(&self, name: &JString) -> Option<Uuid> {
        let index = self.history.index_of(name)?;
        Some(self.history.version_at(index, self.image)?.id)
    }
}

/// The target assignment that a member is reconciled with.
pub(super) struct CurrentTarget {
    /// Its epoch.
    pub epoch: i32,
    /// The member's.
    pub own: Arc<Assignment>,
}

impl Shard<'_> {
    /// Whether a group whose epoch is newer than its target may compute one now, or must wait for its assignment interval.
    pub(super) fn may_assign(&self, operation: &Operation, group: &GroupBase, interval_ms: i32) -> bool {
        let computed_at_ms = group.assignment.get().1;
        !self.settings.behaviour.assignment_timestamps
            || computed_at_ms == 0
            || interval_ms == 0
            || self.unix_ms(operation.now_ms) >= computed_at_ms + i64::from(interval_ms)
    }

    /// When a target assignment is computed, as its record tells it: 0 where versions do not tell.
    pub(super) fn assignment_timestamp_ms(&self, operation: &Operation) -> i64 {
        if self.settings.behaviour.assignment_timestamps { self.unix_ms(operation.now_ms) } else { 0 }
    }

    /// The target assignment of a group, computed anew if the group has a newer epoch and may compute one now.
    pub(super) fn current_target<G: Modern>(
        &self,
        operation: &mut Operation,
        builder: &TargetBuilder<'_, G>,
        epoch: i32,
        interval_ms: i32,
        assignor: impl FnOnce() -> Option<Assignor>,
        updated: &G::Member,
    ) -> Result<CurrentTarget, Refusal> {
        let group = builder.group;
        let assignment_epoch = group.base().assignment.get().0;
        if assignment_epoch >= epoch || !self.may_assign(operation, group.base(), interval_ms) {
            return Ok(CurrentTarget { epoch: assignment_epoch, own: target_of(group, updated) });
        }
        let target = assignor().and_then(|assignor| builder.build(assignor, Some(updated)).ok());
        let Some(target) = target else { return Err(Refusal(HeartbeatError::UnknownServerError)) };
        let (kind, id) = (group.base().kind, &group.base().id);
        for (member, assignment) in &target.changed {
            add_target_record(operation, kind, id, member, assignment);
        }
        operation.add_assignment_epoch(kind, id, epoch, self.assignment_timestamp_ms(operation));
        operation.assignment = Some(AssignorRun {
            group: id.clone(),
            epoch,
            changed: target.differs,
            members: target.members,
            partitions: target.partitions,
        });
        Ok(CurrentTarget { epoch, own: target.own })
    }

    /// What a target assignment of this group is computed from.
    pub(super) fn target_builder<'a, G: Modern>(&'a self, group: &'a G, homogeneous: bool) -> TargetBuilder<'a, G> {
        TargetBuilder {
            behaviour: &self.settings.behaviour,
            history: self.history,
            image: self.image,
            group,
            homogeneous,
            is_assignable: &|_, _| true,
        }
    }
}

/// The target of a member; a static one that comes back under another id has that of its predecessor.
fn target_of<G: Modern>(group: &G, member: &G::Member) -> Arc<Assignment> {
    let owner = match member.instance_id() {
        None => Some(member.id()),
        Some(instance) => group.static_member_id(instance),
    };
    owner.and_then(|id| group.modern().target.get(id)).cloned().unwrap_or_default()
}

/// Adds the target of a member.
pub(super) fn add_target_record(
    operation: &mut Operation,
    kind: GroupKind,
    group: &JString,
    member: &JString,
    target: &Assignment,
) {
    let value = Value::TargetAssignmentMember(Arc::new(target.to_record()));
    operation.add_member(RecordType::target_member(kind), group, member, Some(value));
}
