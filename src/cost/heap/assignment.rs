//! Target and current assignments of partitions.

use super::Origin;
use super::class::Class;
use super::java::{copied, grown, is_boxed_anew};
use super::tally::{Component, Heap, Part};
use super::version::Objects;
use crate::coordinator::assignment::{Assignment, PartitionSet};
use crate::coordinator::{GroupBase, Member};
use crate::kafka::java::TimelineMap;
use crate::kafka::{GroupKind, JString, Uuid};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The target assignment by member, and by partition.
pub(super) fn add_target(
    heap: &mut Heap,
    base: &GroupBase,
    target: &TimelineMap<JString, Arc<Assignment>>,
    inverted: &TimelineMap<Uuid, TimelineMap<i32, JString>>,
) {
    let mut part = heap.part(Component::TargetAssignment);
    part.timeline_map(target);
    // An assignor walks the targets that it finds, not those that it makes.
    let last_run = base.assignment.changed_in();
    for (member, assignment, write) in target.entries() {
        let origin = Origin::of(write);
        if origin == Origin::Log {
            part.string(member);
        }
        add_assignment(&mut part, assignment, origin);
        let is_walked = match base.kind {
            // Every heartbeat looks for share partitions that are still to be initialised.
            GroupKind::Share => base.refreshed_at_image.is_some(),
            _ => last_run.is_some_and(|last_run| write < last_run),
        };
        part.add(Class::HashMapEntrySet, u64::from(is_walked));
        part.add(Class::UnmodifiableEntrySet, u64::from(is_walked));
    }
    part.timeline_map(inverted);
    inverted.values().for_each(|owners| part.timeline_map(owners));
}

fn add_assignment(part: &mut Part<'_>, assignment: &Assignment, origin: Origin) {
    part.add(Class::Assignment, 1);
    // The map of topics, wrapped, and the views of its keys.
    part.kept_hash_map(&assignment.partitions);
    part.add(Class::UnmodifiableMap, 1);
    part.add(Class::HashMapKeySet, 1);
    part.add(Class::UnmodifiableSet, 1);
    add_topic_ids(part, assignment.partitions.len(), origin);
    for partitions in assignment.partitions.values() {
        match partitions {
            PartitionSet::Hash(set) => part.kept_hash_set(set),
            PartitionSet::Range(range) => part.hash_set(copied(range.len()), range.len()),
        }
        part.add(Class::Integer, partitions.iter().filter(|partition| is_boxed_anew(*partition)).count() as u64);
    }
}

/// The ids of topics, which belong to the metadata image unless they were read from the log.
fn add_topic_ids(part: &mut Part<'_>, topics: usize, origin: Origin) {
    if origin == Origin::Log {
        part.add(Class::Uuid, topics as u64);
    }
}

/// What a member owns and what it must give up. The numbers of partitions are the target's, as far as those are in it and both
/// come from operations.
pub(super) fn add_current(
    part: &mut Part<'_>,
    member: &Member,
    target: Option<&Assignment>,
    origin: Origin,
    objects: &Objects,
) {
    for owned in [&member.assigned, &member.pending_revocation] {
        part.hash_map(grown(owned.len()), owned.len());
        add_topic_ids(part, owned.len(), origin);
        if objects.assignment_epochs {
            part.add(Class::UnmodifiableMap, 1);
        }
        for (topic, partitions) in owned.iter() {
            let target = target.filter(|_| origin == Origin::Operation).and_then(|target| target.partitions.get(topic));
            let is_shared = |partition: i32| target.is_some_and(|target| target.contains(partition));
            let boxed = partitions.keys().filter(|partition| is_boxed_anew(**partition) && !is_shared(**partition));
            part.add(Class::Integer, boxed.count() as u64);
            add_owned(part, partitions, objects);
        }
    }
}

/// What a member of a share group reads; nobody has walked it.
pub(super) fn add_share_current(part: &mut Part<'_>, assignment: &Assignment, origin: Origin) {
    part.kept_hash_map(&assignment.partitions);
    add_topic_ids(part, assignment.partitions.len(), origin);
    for partitions in assignment.partitions.values() {
        part.hash_map(copied(partitions.len()), partitions.len());
        part.add(Class::HashSet, 1);
        part.add(Class::UnmodifiableSet, 1);
        if origin == Origin::Log {
            partitions.iter().for_each(|partition| part.integer(partition));
        }
    }
}

fn add_owned(part: &mut Part<'_>, partitions: &BTreeMap<i32, i32>, objects: &Objects) {
    if objects.assignment_epochs {
        // Partition to epoch, wrapped, and the views of its keys.
        part.hash_map(grown(partitions.len()), partitions.len());
        part.add(Class::UnmodifiableMap, 1);
        part.add(Class::HashMapKeySet, 1);
        part.add(Class::UnmodifiableSet, 1);
        partitions.values().for_each(|epoch| part.integer(*epoch));
    } else {
        part.hash_set(copied(partitions.len()), partitions.len());
        part.add(Class::UnmodifiableSet, 1);
    }
}
