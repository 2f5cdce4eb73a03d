//! `UniformHomogeneousAssignmentBuilder`: all members subscribe to the same topics. Members keep what they have up
//! to their quota; what is left fills those below it, in the order of the members.

use super::target::Target;
use super::{AssignorError, GroupAssignment, GroupSpec, MemberSpec};
use crate::kafka::java::{HashMap, HashSet, JString};
use crate::kafka::uuid::Uuid;
use std::sync::Arc;

/// How many partitions members may have.
struct Quotas {
    minimum: usize,
    /// How many more members get one partition more than the minimum.
    extras: usize,
    /// From 4.1 on: see [`super::AssignorBehaviour::extra_partitions_stay`].
    extra_partitions_stay: bool,
}

struct Builder<'a> {
    subscribed: HashSet<Uuid>,
    unassigned: Vec<(Uuid, i32)>,
    /// Each member and its target, in order.
    targets: Vec<(&'a JString, Target)>,
    /// Which members are below their quota, and how far.
    unfilled: Vec<(usize, usize)>,
}

pub(super) fn assign(group: &GroupSpec<'_>, extra_partitions_stay: bool) -> Result<GroupAssignment, AssignorError> {
    let Some(first) = group.members.values().next().filter(|first| !first.subscribed.is_empty()) else {
        return Ok(HashMap::new());
    };
    let mut builder = Builder {
        subscribed: subscribed(first),
        unassigned: Vec::new(),
        targets: Vec::with_capacity(group.members.len()),
        unfilled: Vec::new(),
    };
    let total = builder.find_unassigned(group)?;
    let (minimum, extras) = (total / group.members.len(), total % group.members.len());
    let mut quotas = Quotas { minimum, extras, extra_partitions_stay };
    for (index, (member_id, member)) in group.members.iter().enumerate() {
        builder.keep_up_to_quota(member_id, member, group.members.len() - index, &mut quotas);
    }
    builder.fill()?;

    let mut assignments = HashMap::new();
    for (member_id, target) in builder.targets {
        assignments.insert(member_id.clone(), target.into_assignment());
    }
    Ok(assignments)
}

/// `new HashSet<>(topicIds)`, which has room for topics that do not exist, too.
fn subscribed(member: &MemberSpec) -> HashSet<Uuid> {
    let mut set = HashSet::with_room_for(member.subscribed_names.max(DEFAULT_ROOM));
    for &topic_id in member.subscribed.iter() {
        set.insert(topic_id);
    }
    set
}

/// For as many names `new HashSet<>(collection)` makes its smallest table.
const DEFAULT_ROOM: usize = 11;

impl Builder<'_> {
    /// Collects the partitions that are in nobody's target; gives the number of all partitions.
    fn find_unassigned(&mut self, group: &GroupSpec<'_>) -> Result<usize, AssignorError> {
        let mut total = 0;
        for &topic_id in self.subscribed.iter() {
            let partitions = 0..group.partitions_of(topic_id)?;
            total += partitions.len();
            let unassigned = partitions.filter(|&partition| !group.is_assigned(topic_id, partition));
            self.unassigned.extend(unassigned.map(|partition| (topic_id, partition)));
        }
        Ok(total)
    }
}

impl<'a> Builder<'a> {
    /// Takes from a member what it no longer subscribes to and what exceeds its quota. `members_left` counts this
    /// member and those after it.
    fn keep_up_to_quota(
        &mut self,
        member_id: &'a JString,
        member: &MemberSpec,
        members_left: usize,
        quotas: &mut Quotas,
    ) {
        let mut may_have_extra = quotas.extras > 0;
        let mut room = quotas.minimum + usize::from(may_have_extra);
        let mut target = Target::Kept(Arc::clone(&member.assignment));
        for (&topic_id, partitions) in member.assignment.partitions.iter() {
            if !self.subscribed.contains(&topic_id) {
                target.change().partitions.remove(&topic_id);
                continue;
            }
            if partitions.len() <= room {
                room -= partitions.len();
                continue;
            }
            for partition in partitions.iter().skip(std::mem::take(&mut room)) {
                target.change().remove(topic_id, partition);
                self.unassigned.push((topic_id, partition));
            }
        }
        // The extra partition is for a member that has it already, unless all that are left must take one.
        if quotas.extra_partitions_stay && may_have_extra && room > 0 && members_left > quotas.extras {
            room -= 1;
            may_have_extra = false;
        }
        if room > 0 {
            self.unfilled.push((self.targets.len(), room));
        }
        quotas.extras -= usize::from(may_have_extra);
        self.targets.push((member_id, target));
    }

    fn fill(&mut self) -> Result<(), AssignorError> {
        let mut unassigned = self.unassigned.iter();
        for &(member, room) in &self.unfilled {
            let target = self.targets[member].1.change();
            for &(topic_id, partition) in unassigned.by_ref().take(room) {
                target.add(topic_id, partition, HashSet::new);
            }
        }
        if unassigned.next().is_some() { Err(AssignorError::LeftUnassigned) } else { Ok(()) }
    }
}
