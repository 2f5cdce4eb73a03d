//! `SimpleAssignor` of 4.1.

use super::super::{AssignorError, GroupAssignment, GroupSpec};
use super::{PartitionKey, new_hash_map, targets};
use crate::coordinator::assignment::Assignment;
use crate::kafka::java::{HashMap, HashSet, JString, JavaHash};
use crate::kafka::uuid::Uuid;
use std::sync::Arc;

/// Which members have each partition.
type ByPartition = HashMap<PartitionKey, Vec<JString>>;

/// Which partitions each member has.
type ByMember = HashMap<JString, HashSet<PartitionKey>>;

pub(super) fn assign_homogeneous(group: &GroupSpec<'_>) -> Result<GroupAssignment, AssignorError> {
    let Some(first) = group.members.values().next().filter(|first| first.subscribed_names > 0) else {
        return Ok(HashMap::new());
    };
    let partitions = targets(group, first)?;
    let num_members = group.members.len();
    let desired = partitions.len().div_ceil(num_members);

    let mut hashed = new_hash_map(partitions.len());
    for member in group.members.keys() {
        assign_by_hash(member, &partitions, &mut hashed);
    }
    let mut by_member: ByMember = new_hash_map(num_members);
    let mut taken: HashSet<PartitionKey> = HashSet::new();
    for (&partition, members) in hashed.iter() {
        for member in members {
            give(&mut by_member, member, partition);
            taken.insert(partition);
        }
    }
    for (&partition, members) in current(group).iter() {
        if !first.subscribed.contains(&partition.topic_id) {
            continue;
        }
        for member in members {
            let has = by_member.get_or_insert_with(member.clone(), HashSet::new);
            if has.len() < desired && !hashed.contains(&partition) {
                has.insert(partition);
                taken.insert(partition);
            }
        }
    }
    let left = partitions.into_iter().filter(|partition| !taken.contains(partition));
    go_round_up_to(group, left, &mut by_member, desired)?;
    Ok(finished(group, &by_member))
}

pub(super) fn assign_heterogeneous(group: &GroupSpec<'_>) -> Result<GroupAssignment, AssignorError> {
    let mut subscriptions: HashMap<JString, Vec<PartitionKey>> = HashMap::new();
    for (id, member) in group.members.iter().filter(|(_, member)| member.subscribed_names > 0) {
        subscriptions.insert(id.clone(), targets(group, member)?);
    }
    let current = current(group);
    let mut subscribers: HashMap<Uuid, Vec<JString>> = HashMap::new();
    for (member, partitions) in subscriptions.iter() {
        for partition in partitions {
            let members = subscribers.get_or_insert_with(partition.topic_id, Vec::new);
            if members.last() != Some(member) {
                members.push(member.clone());
            }
        }
    }
    let mut new: ByPartition = HashMap::new();
    for (member, partitions) in subscriptions.iter() {
        assign_by_hash(member, partitions, &mut new);
    }
    let mut left: HashMap<Uuid, Vec<PartitionKey>> = HashMap::new();
    let mut seen = HashSet::new();
    for &partition in subscriptions.values().flatten() {
        if seen.insert(partition) && !new.contains(&partition) && !current.contains(&partition) {
            left.get_or_insert_with(partition.topic_id, Vec::new).push(partition);
        }
    }
    for (topic_id, partitions) in left.iter() {
        let members = subscribers.get(topic_id).map(Vec::as_slice).unwrap_or_default();
        for (partition, member) in partitions.iter().zip(members.iter().cycle()) {
            new.get_or_insert_with(*partition, Vec::new).push(member.clone());
        }
    }
    let mut by_member: ByMember = new_hash_map(group.members.len());
    for (&partition, members) in new.iter() {
        members.iter().for_each(|member| give(&mut by_member, member, partition));
    }
    for (&partition, members) in current.iter().filter(|(partition, _)| !new.contains(*partition)) {
        let subscribers = subscribers.get(&partition.topic_id).map(Vec::as_slice).unwrap_or_default();
        members.iter().filter(|m| subscribers.contains(m)).for_each(|m| give(&mut by_member, m, partition));
    }
    Ok(finished(group, &by_member))
}

/// The targets of the members, by partition.
fn current(group: &GroupSpec<'_>) -> ByPartition {
    let mut current = HashMap::new();
    for (id, member) in group.members.iter() {
        for (&topic_id, partitions) in member.assignment.partitions.iter() {
            for partition in partitions.iter() {
                let key = PartitionKey::of_group(topic_id, partition);
                current.get_or_insert_with(key, Vec::new).push(id.clone());
            }
        }
    }
    current
}

/// Gives a member the partition that the hash of its id picks.
fn assign_by_hash(member: &JString, partitions: &[PartitionKey], assignment: &mut ByPartition) {
    if partitions.is_empty() {
        return;
    }
    let index = (i64::from(member.java_hash()) % partitions.len() as i64).unsigned_abs() as usize;
    assignment.get_or_insert_with(partitions[index], Vec::new).push(member.clone());
}

fn give(by_member: &mut ByMember, member: &JString, partition: PartitionKey) {
    by_member.get_or_insert_with(member.clone(), HashSet::new).insert(partition);
}

/// Gives the partitions to the members in turn; one that has more than the desired count is passed over from then on.
fn go_round_up_to(
    group: &GroupSpec<'_>,
    partitions: impl Iterator<Item = PartitionKey>,
    by_member: &mut ByMember,
    desired: usize,
) -> Result<(), AssignorError> {
    let mut members: Vec<&JString> = group.members.keys().collect();
    let mut next = 0;
    for partition in partitions {
        loop {
            if next >= members.len() {
                next = 0;
            }
            let Some(&member) = members.get(next) else { return Err(AssignorError::InconsistentMembers) };
            let has = by_member.get_or_insert_with(member.clone(), HashSet::new);
            if has.len() <= desired {
                has.insert(partition);
                next += 1;
                break;
            }
            members.remove(next);
        }
    }
    Ok(())
}

fn finished(group: &GroupSpec<'_>, by_member: &ByMember) -> GroupAssignment {
    let mut assignments = HashMap::new();
    for (member, partitions) in by_member.iter() {
        let mut assignment = Assignment::default();
        for partition in partitions.iter() {
            assignment.add(partition.topic_id, partition.partition, HashSet::new);
        }
        assignments.insert(member.clone(), Arc::new(assignment));
    }
    for member in group.members.keys() {
        if !assignments.contains(member) {
            assignments.insert(member.clone(), Arc::default());
        }
    }
    assignments
}
