//! Share groups, their members and their share partitions.

use super::Origin;
use super::assignment::{add_share_current, add_target};
use super::class::Class;
use super::consumer::{add_names, add_subscriptions};
use super::group::add_base;
use super::java::{copied, grown, is_boxed_anew};
use super::tally::{Component, Heap, Part};
use super::version::Objects;
use crate::coordinator::{Shard, ShareGroup, ShareMember, TopicStates};
use crate::kafka::Uuid;
use std::collections::BTreeMap;

/// A group.
pub(super) fn add(heap: &mut Heap, group: &ShareGroup, objects: &Objects) {
    let mut part = heap.part(Component::Groups);
    part.sized(Class::ShareGroup, 1, objects.share_group.object());
    part.add(Class::TimelineInteger, objects.share_group_integers);
    part.add(Class::TimelineObject, objects.share_group_values);
    add_base(&mut part, &group.base, objects);

    let mut part = heap.part(Component::Members);
    part.timeline_map(&group.modern.members);
    group.modern.members.values().for_each(|member| add_member(&mut part, member));

    add_target(heap, &group.base, &group.modern.target, &group.modern.inverted);

    let mut part = heap.part(Component::CurrentAssignment);
    for (_, member, write) in group.modern.members.entries() {
        add_share_current(&mut part, &member.assigned, Origin::of(write));
    }
    add_subscriptions(&mut heap.part(Component::Subscriptions), &group.modern, objects);
}

fn add_member(part: &mut Part<'_>, member: &ShareMember) {
    part.add(Class::ShareGroupMember, 1);
    for text in [&member.id, &member.client_id, &member.client_host] {
        part.string(text);
    }
    part.string_or_null(member.rack.as_deref());
    add_names(part, &member.topics);
}

/// How far the share partitions of all groups are.
pub(super) fn add_share_partitions(heap: &mut Heap, shard: &Shard<'_>) {
    let mut part = heap.part(Component::SharePartitions);
    let groups = shard.share_partitions();
    part.timeline_map(groups);
    for (group, states, write) in groups.entries() {
        let origin = Origin::of(write);
        if origin == Origin::Log {
            part.string(group);
        }
        // Every heartbeat to the group looks for partitions that are still to be initialised.
        let is_walked = shard.group(group).is_some_and(|group| group.base().refreshed_at_image.is_some());
        part.add(Class::ShareGroupStatePartitionMetadataInfo, 1);
        add_states(&mut part, &states.initializing, origin, is_walked);
        add_states(&mut part, &states.initialized, origin, is_walked);
        // The topics that are being deleted: none.
        add_set(&mut part, 0, is_walked);
    }
}

fn add_set(part: &mut Part<'_>, elements: usize, is_walked: bool) {
    part.hash_map(copied(elements), elements);
    part.add(Class::HashSet, 1);
    part.add(Class::HashMapKeySet, u64::from(is_walked));
}

fn add_states(part: &mut Part<'_>, topics: &BTreeMap<Uuid, TopicStates>, origin: Origin, is_walked: bool) {
    part.hash_map(grown(topics.len()), topics.len());
    part.add(Class::HashMapEntrySet, u64::from(is_walked));
    for states in topics.values() {
        part.add(Class::InitMapValue, 1);
        add_set(part, states.partitions.len(), is_walked);
        let boxed = states.partitions.iter().filter(|partition| is_boxed_anew(**partition)).count();
        part.add(Class::Integer, boxed as u64);
        if origin == Origin::Log {
            part.string(&states.name);
            part.add(Class::Uuid, 1);
        }
    }
}
