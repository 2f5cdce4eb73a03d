//! `SimpleHomogeneousAssignmentBuilder` and `SimpleHeterogeneousAssignmentBuilder` (4.3 on): one algorithm, over all
//! topics at once where all members subscribe to the same ones, else topic by topic.
//!
//! Members are numbered in their order. Java keeps their numbers in hash tables; those with room for all numbers are
//! walked in ascending order, and need be no hash tables here.

use super::super::target::Target;
use super::super::{AssignorError, GroupAssignment, GroupSpec};

use super::{PartitionKey, assignable, new_hash_map, targets};
use crate::coordinator::assignment::Assignment;
use crate::kafka::java::{HashMap, HashSet};
use crate::kafka::uuid::Uuid;
use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) fn assign_homogeneous(group: &GroupSpec<'_>) -> Result<GroupAssignment, AssignorError> {
    let Some(first) = group.members.values().next().filter(|first| first.subscribed_names > 0) else {
        return Ok(HashMap::new());
    };
    let partitions = targets(group, first)?;
    let subscribed: BTreeSet<Uuid> = first.subscribed.iter().copied().collect();
    let mut assigned = old_targets(group);
    let all: Vec<usize> = (0..assigned.len()).collect();
    let mut sharing = Sharing::new(&mut assigned, &all, partitions.len());
    for (member, spec) in group.members.values().enumerate() {
        sharing.keep_subscribed(member, &spec.assignment, &subscribed);
    }
    sharing.balance(&partitions)?;
    Ok(finished(group, assigned))
}

pub(super) fn assign_heterogeneous(group: &GroupSpec<'_>) -> Result<GroupAssignment, AssignorError> {
    let mut topics = HashSet::new();
    for topic_id in group.members.values().flat_map(|member| member.subscribed.iter()) {
        topics.insert(*topic_id);
    }
    // What nobody subscribes to any more is not looked at, and stays.
    if topics.is_empty() {
        return Ok(HashMap::new());
    }
    let mut partitions = Vec::with_capacity(topics.len());
    for &topic_id in topics.iter() {
        let of_topic = assignable(group, topic_id)?.map(|partition| PartitionKey::of_topic(topic_id, partition));
        partitions.push((topic_id, of_topic.collect::<Vec<_>>()));
    }
    let mut assigned = old_targets(group);
    for (topic_id, partitions) in partitions {
        let members = group.members.values().enumerate();
        let subscribed: Vec<usize> =
            members.filter(|(_, member)| member.subscribed.contains(&topic_id)).map(|(index, _)| index).collect();
        let mut sharing = Sharing::new(&mut assigned, &subscribed, partitions.len());
        for (member, spec) in group.members.values().enumerate() {
            for partition in spec.assignment.partitions.get(&topic_id).into_iter().flat_map(|set| set.iter()) {
                sharing.count(member, PartitionKey::of_topic(topic_id, partition));
            }
        }
        sharing.balance(&partitions)?;
    }
    Ok(finished(group, assigned))
}

/// The targets of the members, as they were.
fn old_targets(group: &GroupSpec<'_>) -> Vec<Target> {
    group.members.values().map(|member| Target::Kept(Arc::clone(&member.assignment))).collect()
}

fn finished(group: &GroupSpec<'_>, targets: Vec<Target>) -> GroupAssignment {
    let mut assignments = new_hash_map(targets.len());
    for (member_id, target) in group.members.keys().zip(targets) {
        assignments.insert(member_id.clone(), target.into_assignment());
    }
    assignments
}

/// Who shares which partitions, while that is balanced.
struct Sharing<'a> {
    assigned: &'a mut [Target],
    subscribed: &'a [usize],
    by_partition: HashMap<PartitionKey, HashSet<i32>>,
    by_member: HashMap<i32, HashSet<PartitionKey>>,
    /// How many members shall share a partition.
    desired_sharing: usize,
    /// How many partitions each member shall have.
    desired_counts: Vec<usize>,
}

impl<'a> Sharing<'a> {
    fn new(assigned: &'a mut [Target], subscribed: &'a [usize], num_partitions: usize) -> Self {
        let num_members = subscribed.len();
        let desired_sharing = if num_partitions == 0 { 0 } else { num_members.div_ceil(num_partitions) };
        // In floating point, as in Kafka: its rounding may give a member one partition more.
        let precise = (desired_sharing * num_partitions) as f64 / num_members as f64;
        let up_to = |members: usize| (precise * members as f64).ceil() as usize;
        let mut desired_counts = vec![0; assigned.len()];
        for (index, &member) in subscribed.iter().enumerate() {
            desired_counts[member] = up_to(index + 1) - up_to(index);
        }
        let (by_partition, by_member) = (new_hash_map(num_partitions), new_hash_map(num_members));
        Sharing { assigned, subscribed, by_partition, by_member, desired_sharing, desired_counts }
    }

    /// Counts what a member has.
    fn count(&mut self, member: usize, partition: PartitionKey) {
        self.by_partition.get_or_insert_with(partition, HashSet::new).insert(member as i32);
        self.by_member.get_or_insert_with(member as i32, HashSet::new).insert(partition);
    }

    /// Counts what a member has of subscribed topics, and takes the other topics from it.
    fn keep_subscribed(&mut self, member: usize, old: &Assignment, subscribed: &BTreeSet<Uuid>) {
        for (&topic_id, partitions) in old.partitions.iter() {
            if subscribed.contains(&topic_id) {
                let keys = partitions.iter().map(|partition| PartitionKey::of_group(topic_id, partition));
                keys.for_each(|key| self.count(member, key));
            } else {
                self.assigned[member].change().partitions.remove(&topic_id);
            }
        }
    }

    fn balance(mut self, partitions: &[PartitionKey]) -> Result<(), AssignorError> {
        self.revoke_from_overfilled();
        self.revoke_overshared();
        for &partition in partitions {
            self.by_partition.get_or_insert_with(partition, HashSet::new);
        }
        self.assign_remaining()
    }

    /// Takes a partition from a member; a topic stays with its last one gone.
    fn take(&mut self, member: i32, partition: PartitionKey) {
        if let Some(set) = self.assigned[member as usize].change().partitions.get_mut(&partition.topic_id) {
            set.as_hash_set().remove(&partition.partition);
        }
        if let Some(partitions) = self.by_member.get_mut(&member) {
            partitions.remove(&partition);
        }
        if let Some(members) = self.by_partition.get_mut(&partition) {
            members.remove(&member);
        }
    }

    fn revoke_from_overfilled(&mut self) {
        let mut surplus = Vec::new();
        for (&member, partitions) in self.by_member.iter() {
            let too_many = partitions.len().saturating_sub(self.desired_counts[member as usize]);
            surplus.extend(partitions.iter().take(too_many).map(|partition| (member, *partition)));
        }
        for (member, partition) in surplus {
            self.take(member, partition);
        }
    }

    fn revoke_overshared(&mut self) {
        let mut surplus = Vec::new();
        for (&partition, members) in self.by_partition.iter() {
            let too_many = members.len().saturating_sub(self.desired_sharing);
            surplus.extend(members.iter().take(too_many).map(|member| (*member, partition)));
        }
        for (member, partition) in surplus {
            self.take(member, partition);
        }
    }

    /// Goes once through the partitions and again and again through the members below their count.
    fn assign_remaining(&mut self) -> Result<(), AssignorError> {
        let has = |sharing: &Self, member: usize| sharing.by_member.get(&(member as i32)).map_or(0, HashSet::len);
        let members = self.subscribed.iter().copied();
        let mut unfilled: BTreeSet<usize> =
            members.filter(|&member| has(self, member) < self.desired_counts[member]).collect();
        // The members that the current round has still to come to, and whether it has assigned anything.
        let mut next = 0;
        let mut assigned_any = false;
        let partitions: Vec<PartitionKey> = self.by_partition.keys().copied().collect();
        for partition in partitions {
            let Some(sharing) = self.by_partition.get(&partition) else { continue };
            let sharing = sharing.clone();
            let mut missing = self.desired_sharing.saturating_sub(sharing.len());
            while missing > 0 {
                if unfilled.range(next..).next().is_none() {
                    if !assigned_any {
                        break;
                    }
                    (next, assigned_any) = (0, false);
                }
                let Some(&member) = unfilled.range(next..).next() else { return Err(AssignorError::NoMemberLeft) };
                next = member + 1;
                if sharing.contains(&(member as i32)) {
                    continue;
                }
                // The members of the partition are not kept up to date: one may get it twice.
                self.assigned[member].change().add(partition.topic_id, partition.partition, HashSet::new);
                self.by_member.get_or_insert_with(member as i32, HashSet::new).insert(partition);
                missing -= 1;
                assigned_any = true;
                if has(self, member) >= self.desired_counts[member] {
                    unfilled.remove(&member);
                }
            }
            if unfilled.is_empty() {
                break;
            }
        }
        Ok(())
    }
}
