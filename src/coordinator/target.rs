//! Computes the target assignment of a group (`TargetAssignmentBuilder`).

use super::assignment::Assignment;
use super::assignor::{Assignor, AssignorError, GroupSpec, MemberSpec};
use super::behaviour::Behaviour;
use super::group::Group;
use super::member::Member;
use crate::cluster::{History, ImageNumber};
use crate::kafka::java::HashMap;
use crate::kafka::{JString, Uuid};
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
pub struct TargetBuilder<'a> {
    /// What the Kafka version does.
    pub behaviour: &'a Behaviour,
    /// The metadata.
    pub history: &'a History,
    /// The image.
    pub image: ImageNumber,
    /// The group as it is.
    pub group: &'a Group,
    /// Whether all its members subscribe alike.
    pub homogeneous: bool,
}

impl TargetBuilder<'_> {
    /// Runs the assignor; `updated` is the member that has just changed or come, if any.
    pub fn build(&self, assignor: Assignor, updated: Option<&Member>) -> Result<Target, AssignorError> {
        let members = self.member_specs(updated);
        let partition_count = |topic: Uuid| self.num_partitions(topic);
        let spec = GroupSpec {
            members: &members,
            homogeneous: self.homogeneous,
            inverted: &self.group.inverted,
            num_partitions: &partition_count,
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
            if updated.is_some_and(|m| m.id == *member) {
                target.own = new.clone();
            }
            let old = match self.behaviour.target_sees_replacement {
                true => self.target_once_replaced(member, updated),
                false => self.group.target.get(member),
            };
            if old.is_none_or(|old| **old != *new) {
                target.differs |= old.map_or(num_partitions(&new) > 0, |old| **old != *new);
                target.changed.push((member.clone(), new));
            }
        }
        Ok(target)
    }

    /// The target that a member has before the run, as if it had already replaced its predecessor.
    fn target_once_replaced(&self, member: &JString, updated: Option<&Member>) -> Option<&Arc<Assignment>> {
        let replaced = updated.filter(|updated| updated.id == *member).and_then(|updated| self.replaced_by(updated));
        replaced.and_then(|replaced| self.group.target.get(replaced)).or_else(|| self.group.target.get(member))
    }

    /// The member whose instance id this one takes over.
    fn replaced_by(&self, updated: &Member) -> Option<&JString> {
        let old = self.group.static_members.get(updated.instance_id.as_ref()?)?;
        (*old != updated.id).then_some(old)
    }

    fn num_partitions(&self, topic: Uuid) -> i32 {
        self.history
            .index_of_id(topic)
            .and_then(|index| self.history.version_at(index, self.image))
            .filter(|version| version.id == topic)
            .map_or(-1, |version| version.num_partitions())
    }

    fn member_specs(&self, updated: Option<&Member>) -> HashMap<JString, MemberSpec> {
        if self.behaviour.target_sees_replacement {
            return self.specs_once_replaced(updated);
        }
        let mut specs = HashMap::new();
        for (id, member) in self.group.members.iter() {
            specs.insert(id.clone(), self.member_spec(member, self.group.target.get(id)));
        }
        let Some(updated) = updated else { return specs };
        // The member that asked, and the one whose instance id it takes over, in the order of a `HashMap`.
        let replaced = self.replaced_by(updated);
        let mut updates: HashMap<JString, bool> = HashMap::new();
        updates.insert(updated.id.clone(), true);
        if let Some(old) = replaced {
            updates.insert(old.clone(), false);
        }
        for (id, comes) in updates.iter() {
            if *comes {
                specs.insert(id.clone(), self.member_spec(updated, self.group.target.get(replaced.unwrap_or(id))));
            } else {
                specs.remove(id);
            }
        }
        specs
    }

    /// The members as if the one that asked had already replaced its predecessor: that one is never in the map, which
    /// may thus stay smaller.
    fn specs_once_replaced(&self, updated: Option<&Member>) -> HashMap<JString, MemberSpec> {
        let mut specs = HashMap::new();
        let replaced = updated.and_then(|updated| self.replaced_by(updated));
        let comes = updated.filter(|updated| !self.group.members.contains(&updated.id));
        let members = self.group.members.values().map(|member| match updated {
            Some(updated) if updated.id == member.id => updated,
            _ => member,
        });
        for member in members.filter(|member| Some(&member.id) != replaced).chain(comes) {
            specs.insert(member.id.clone(), self.member_spec(member, self.target_once_replaced(&member.id, updated)));
        }
        specs
    }

    fn member_spec(&self, member: &Member, target: Option<&Arc<Assignment>>) -> MemberSpec {
        MemberSpec {
            instance_id: member.instance_id.clone(),
            rack: member.rack.clone(),
            subscribed_names: self.subscribed_names(member).count(),
            subscribed: self.subscribed_names(member).filter_map(|name| self.topic_id(name)).collect(),
            assignment: target.cloned().unwrap_or_default(),
        }
    }

    fn topic_id(&self, name: &JString) -> Option<Uuid> {
        let index = self.history.index_of(name)?;
        Some(self.history.version_at(index, self.image)?.id)
    }

    /// The names that a member subscribes to, in the order of Kafka's set: its own, or the topics of its regular
    /// expression, or the union (`UnionSet`: the larger set, then what only the smaller one has).
    fn subscribed_names<'m>(&'m self, member: &'m Member) -> Box<dyn Iterator<Item = &'m JString> + 'm> {
        let own = &member.topics.names;
        let Some(resolved) = member.regex_or_none().and_then(|regex| self.group.resolved.get(regex)) else {
            return Box::new(own.iter());
        };
        let matched = &resolved.topics.names;
        if own.is_empty() {
            Box::new(matched.iter())
        } else if matched.is_empty() {
            Box::new(own.iter())
        } else if own.len() > matched.len() {
            Box::new(own.iter().chain(matched.iter().filter(|name| !own.contains(*name))))
        } else {
            Box::new(matched.iter().chain(own.iter().filter(|name| !matched.contains(*name))))
        }
    }
}
