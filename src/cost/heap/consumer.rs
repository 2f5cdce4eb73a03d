//! Consumer groups and their members.

use super::Origin;
use super::assignment::{add_current, add_target};
use super::class::Class;
use super::group::{add_base, add_counts};
use super::tally::{Component, Heap, Part};
use super::version::Objects;
use crate::coordinator::{ConsumerGroup, Member, ModernGroup, Subscription};
use std::sync::Arc;

/// A group.
pub(super) fn add(heap: &mut Heap, group: &ConsumerGroup, objects: &Objects) {
    let mut part = heap.part(Component::Groups);
    part.sized(Class::ConsumerGroup, 1, objects.consumer_group.object());
    part.add(Class::TimelineInteger, objects.consumer_group_integers);
    part.add(Class::TimelineObject, objects.consumer_group_values);
    // The protocols of classic members, of which there are none.
    part.timeline_map(&crate::kafka::java::TimelineMap::<i32, i32>::new(0));
    add_base(&mut part, &group.base, objects);

    let mut part = heap.part(Component::Members);
    part.timeline_map(&group.modern.members);
    part.timeline_map(&group.static_members);
    add_counts(&mut part, &group.assignors);
    group.modern.members.values().for_each(|member| add_member(&mut part, member));

    add_target(heap, &group.base, &group.modern.target, &group.modern.inverted);

    let mut part = heap.part(Component::CurrentAssignment);
    for (id, member, write) in group.modern.members.entries() {
        let target = group.modern.target.get(id).map(Arc::as_ref);
        add_current(&mut part, member, target, Origin::of(write), objects);
    }
    part.timeline_map(group.partition_epochs());
    for epochs in group.partition_epochs().values() {
        part.timeline_map(epochs);
        epochs.values().for_each(|epoch| part.integer(*epoch));
    }

    add_subscriptions(&mut heap.part(Component::Subscriptions), &group.modern, objects);
    if objects.subscription_counts {
        add_regexes(&mut heap.part(Component::Subscriptions), group);
    }
}

fn add_member(part: &mut Part<'_>, member: &Member) {
    part.add(Class::ConsumerGroupMember, 1);
    for text in [&member.id, &member.client_id, &member.client_host, &member.regex] {
        part.string(text);
    }
    for text in [&member.instance_id, &member.rack, &member.assignor] {
        part.string_or_null(text.as_deref());
    }
    add_names(part, &member.topics);
}

/// The names that a member subscribes to: its own texts.
pub(super) fn add_names(part: &mut Part<'_>, topics: &Subscription) {
    part.kept_hash_set(&topics.names);
    topics.sorted.iter().for_each(|name| part.string(name));
}

/// How many members subscribe to each topic; its name is a member's.
pub(super) fn add_subscriptions<M>(part: &mut Part<'_>, group: &ModernGroup<M>, objects: &Objects) {
    part.timeline_map(&group.subscribed);
    if objects.subscription_counts {
        part.add(Class::SubscriptionCount, group.subscribed.len() as u64);
    } else {
        group.subscribed.values().for_each(|count| part.integer(count.by_name));
    }
}

fn add_regexes(part: &mut Part<'_>, group: &ConsumerGroup) {
    add_counts(part, &group.regexes);
    part.timeline_map(&group.resolved);
    for (regex, resolved, write) in group.resolved.entries() {
        part.add(Class::ResolvedRegularExpression, 1);
        part.kept_hash_set(&resolved.topics.names);
        if Origin::of(write) == Origin::Log {
            part.string(regex);
            resolved.topics.sorted.iter().for_each(|name| part.string(name));
        }
    }
}
