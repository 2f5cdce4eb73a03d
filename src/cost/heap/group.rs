//! Groups of any kind, and the index of groups by topic.

use super::class::Class;
use super::tally::{Component, Heap, Part};
use super::version::Objects;
use crate::coordinator::{GroupBase, Shard};
use crate::kafka::java::TimelineMap;
use crate::kafka::{GroupKind, JString};

/// The tables of a shard's groups.
pub(super) fn add_groups(heap: &mut Heap, shard: &Shard<'_>) {
    let mut part = heap.part(Component::Groups);
    part.timeline_map(shard.groups_by_id());
    let mut part = heap.part(Component::GroupsByTopics);
    let topics = shard.groups_by_topic();
    part.timeline_map(topics);
    topics.values().for_each(|groups| part.timeline_set(groups));
}

/// What a group of any kind has: its id, and when its metadata must be looked at again.
pub(super) fn add_base(part: &mut Part<'_>, base: &GroupBase, objects: &Objects) {
    part.string(&base.id);
    let deadline =
        if base.kind == GroupKind::Streams { Class::StreamsDeadlineAndEpoch } else { Class::DeadlineAndEpoch };
    part.add(deadline, u64::from(base.refresh_deadline != (0, 0)));
    part.add(
        Class::TargetAssignmentMetadata,
        u64::from(objects.target_metadata && base.assignment.changed_in().is_some()),
    );
}

/// Counts by a text that members share with them: `Integer`s.
pub(super) fn add_counts(part: &mut Part<'_>, counts: &TimelineMap<JString, i32>) {
    part.timeline_map(counts);
    counts.values().for_each(|count| part.integer(*count));
}
