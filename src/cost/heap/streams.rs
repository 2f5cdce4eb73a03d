//! Streams groups and their members. What an operation has walked, and which views of its maps it has thus left behind, is
//! taken to be the usual: everything of the target, nothing of the rest.

use super::Origin;
use super::class::Class;
use super::group::add_base;
use super::java::{copied, grown};
use super::layout::reference_array;
use super::tally::{Component, Heap, Part};
use super::topology::add_topology;
use super::version::Objects;
use crate::coordinator::StreamsGroup;
use crate::coordinator::streams::member::Member;
use crate::coordinator::streams::owners::Several;
use crate::coordinator::streams::tasks::{AssignedTasks, TaskSet, Tasks};
use crate::kafka::JString;
use crate::kafka::java::TimelineMap;
use std::collections::BTreeSet;

/// A group.
pub(super) fn add(heap: &mut Heap, group: &StreamsGroup, objects: &Objects) {
    let mut part = heap.part(Component::Groups);
    part.sized(Class::StreamsGroup, 1, objects.streams_group.object());
    // The epochs of the group and of its target, or of its validated topology.
    part.add(Class::TimelineInteger, if objects.refined_assignments { 4 } else { 2 });
    part.add(Class::TimelineObject, if objects.target_metadata { 2 } else { 1 });
    add_base(&mut part, &group.base, objects);
    if objects.assignment_configs {
        let configs = group.last_assignment_configs.get();
        let mut table = TimelineMap::new(0);
        configs.iter().for_each(|config| {
            table.insert(config.key.clone(), (), 0);
        });
        part.timeline_map(&table);
        // The keys are constants.
        configs.iter().for_each(|config| part.string(&config.value));
        part.hash_map(0, 0);
    }
    if objects.refined_assignments {
        // The offsets of tasks, of which members send none.
        part.hash_map(0, 0);
    }

    let mut part = heap.part(Component::Members);
    part.timeline_map(&group.members);
    part.timeline_map(&group.static_members);
    group.members.values().for_each(|member| add_member(&mut part, member));

    let mut part = heap.part(Component::TargetAssignment);
    add_target(&mut part, group);
    if objects.refined_assignments {
        part.add(Class::TimelineObject, 1);
        if let Some(refined) = group.refined.get() {
            part.add(Class::RefinedAssignment, 1);
            match refined.tasks.len() {
                1 => part.add(Class::Map1, 1),
                members => {
                    part.add(Class::MapN, 1);
                    part.sized(Class::ObjectArray, 1, reference_array(4 * members as u64));
                }
            }
        }
    }
    add_current(&mut heap.part(Component::CurrentAssignment), group, objects);
    let ids_are_counted = group.target.entries().any(|(_, _, write)| Origin::of(write) == Origin::Operation);
    add_topology(&mut heap.part(Component::Subscriptions), group, objects, ids_are_counted);
}

fn add_member(part: &mut Part<'_>, member: &Member) {
    part.add(Class::StreamsGroupMember, 1);
    for text in [&member.id, &member.client_id, &member.client_host] {
        part.string(text);
    }
    part.string_or_null(member.process_id.as_deref());
    for text in [&member.instance_id, &member.rack].into_iter().flatten() {
        part.add(Class::Optional, 1);
        part.string(text);
    }
    if let Some(endpoint) = &member.user_endpoint {
        part.add(Class::Optional, 1);
        part.add(Class::Endpoint, 1);
        part.string(&endpoint.host);
    }
    let current = &member.current;
    for number in [current.epoch, current.previous_epoch, member.rebalance_timeout_ms, member.topology_epoch] {
        part.integer(number);
    }
    part.hash_map(grown(member.client_tags.len()), member.client_tags.len());
    part.add(Class::UnmodifiableMap, 1);
    for tag in &member.client_tags {
        part.string(&tag.key);
        part.string(&tag.value);
    }
}

fn add_target(part: &mut Part<'_>, group: &StreamsGroup) {
    part.timeline_map(&group.target);
    let mut subtopologies = BTreeSet::new();
    for (member, tasks, write) in group.target.entries() {
        match Origin::of(write) {
            Origin::Log => {
                part.string(member);
                subtopologies_of(tasks).for_each(|subtopology| part.string(subtopology));
            }
            Origin::Operation => subtopologies.extend(subtopologies_of(tasks)),
        }
        add_tasks(part, tasks);
    }
    // Without warm-up tasks a refined assignment shares the tasks of the target, as long as that has them.
    for (member, tasks) in group.refined.get().iter().flat_map(|refined| &refined.tasks) {
        if group.target.get(member).is_none() {
            part.string(member);
            subtopologies.extend(subtopologies_of(tasks));
            add_tasks(part, tasks);
        }
    }
    subtopologies.into_iter().for_each(|subtopology| part.string(subtopology));
}

fn subtopologies_of(tasks: &Tasks) -> impl Iterator<Item = &JString> {
    [&tasks.active, &tasks.standby, &tasks.warmup].into_iter().flat_map(|tasks| tasks.keys())
}

/// Three maps, wrapped, and the views of their keys.
fn add_tasks(part: &mut Part<'_>, tasks: &Tasks) {
    part.add(Class::TasksTuple, 1);
    for tasks in [&tasks.active, &tasks.standby, &tasks.warmup] {
        part.hash_map(grown(tasks.len()), tasks.len());
        part.add(Class::UnmodifiableMap, 1);
        part.add(Class::UnmodifiableSet, 1);
        part.add(Class::HashMapKeySet, 1);
        for partitions in tasks.values() {
            part.hash_set(copied(partitions.len()), partitions.len());
            partitions.iter().for_each(|partition| part.integer(*partition));
        }
    }
}

fn add_current(part: &mut Part<'_>, group: &StreamsGroup, objects: &Objects) {
    for (_, member, write) in group.members.entries() {
        for tasks in [&member.current.assigned, &member.current.pending_revocation] {
            add_assigned(part, tasks, Origin::of(write), objects);
        }
    }
    let (active, several) = group.owners.all();
    part.timeline_map(active);
    active.values().for_each(|processes| part.timeline_map(processes));
    several.into_iter().for_each(|owners| add_owners(part, owners));
}

fn add_owners(part: &mut Part<'_>, owners: &Several) {
    part.timeline_map(owners);
    for processes in owners.values() {
        part.timeline_map(processes);
        for processes in processes.values() {
            // A set that was made empty has its table since.
            part.hash_map(grown(processes.len().max(1)), processes.len());
            part.add(Class::HashSet, 1);
        }
    }
}

fn add_assigned(part: &mut Part<'_>, tasks: &AssignedTasks, origin: Origin, objects: &Objects) {
    part.add(if objects.assignment_epochs { Class::TasksTupleWithEpochs } else { Class::TasksTuple }, 1);
    part.add(Class::UnmodifiableMap, 3);
    part.hash_map(grown(tasks.active.len()), tasks.active.len());
    for (subtopology, partitions) in &tasks.active {
        if origin == Origin::Log {
            part.string(subtopology);
        }
        if objects.assignment_epochs {
            part.hash_map(grown(partitions.len()), partitions.len());
            part.add(Class::HashMapKeySet, 1);
            partitions.values().for_each(|epoch| part.integer(*epoch));
        } else {
            add_immutable(part, partitions.len());
        }
    }
    for tasks in [&tasks.standby, &tasks.warmup] {
        add_simple(part, tasks, origin, objects);
    }
}

fn add_simple(part: &mut Part<'_>, tasks: &TaskSet, origin: Origin, objects: &Objects) {
    part.hash_map(grown(tasks.len()), tasks.len());
    for (subtopology, partitions) in tasks {
        if origin == Origin::Log {
            part.string(subtopology);
        }
        if objects.assignment_epochs {
            part.hash_set(copied(partitions.len()), partitions.len());
        } else {
            add_immutable(part, partitions.len());
        }
    }
}

/// `Set.copyOf`.
fn add_immutable(part: &mut Part<'_>, elements: usize) {
    match elements {
        0 => {}
        1 | 2 => part.add(Class::Set12, 1),
        _ => {
            part.add(Class::SetN, 1);
            part.sized(Class::ObjectArray, 1, reference_array(2 * elements as u64));
        }
    }
}
