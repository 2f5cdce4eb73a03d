//! The topology of a streams group, and what became of it.

use super::Origin;
use super::class::Class;
use super::java::{copied, grown};
use super::layout::reference_array;
use super::tally::Part;
use super::version::Objects;
use crate::coordinator::StreamsGroup;
use crate::kafka::records::streams::{Subtopology, TopicInfo};

/// The topology as its record says it, and as it was configured. `ids_are_counted`: the ids of subtopologies are among the
/// target's.
pub(super) fn add_topology(part: &mut Part<'_>, group: &StreamsGroup, objects: &Objects, ids_are_counted: bool) {
    part.add(Class::TimelineObject, 2);
    let Some(topology) = group.topology.get() else { return };
    let origin = group.topology.changed_in().map_or(Origin::Operation, Origin::of);
    part.add(Class::Optional, 1);
    part.add(Class::StreamsTopology, 1);
    part.kept_hash_map(&topology.subtopologies);
    part.add(Class::UnmodifiableMap, 1);
    part.add(Class::HashMapValues, 1);
    part.add(Class::UnmodifiableCollection, 1);
    part.add(Class::HashMapEntrySet, 1);
    if objects.assignment_configs {
        let sources =
            topology.subtopologies.values().map(|s| s.source_topics.len() + s.repartition_source_topics.len());
        let sources = sources.sum();
        part.hash_map(grown(sources), sources);
        part.add(Class::UnmodifiableMap, 1);
        part.add(Class::HashMapEntrySet, 1);
    }
    for subtopology in topology.subtopologies.values() {
        add_subtopology(part, subtopology, origin, ids_are_counted);
    }
    let Some(configured) = group.configured.get() else { return };
    part.add(Class::Optional, 1);
    part.add(Class::ConfiguredTopology, 1);
    if configured.subtopologies.is_empty() {
        return;
    }
    part.add(Class::Optional, 1);
    part.add(Class::TreeMap, 1);
    part.add(Class::TreeMapEntry, configured.subtopologies.len() as u64);
    part.add(Class::TreeMapKeySet, 1);
    part.add(Class::TreeMapValues, 1);
    // Internal topics are first put there, and taken out again if they exist.
    let has_internal_topics = configured.subtopologies.values().any(|s| !s.internal_topics.is_empty());
    part.hash_map(grown(configured.to_create.len().max(usize::from(has_internal_topics))), configured.to_create.len());
    for subtopology in topology.subtopologies.values() {
        add_configured(part, subtopology);
    }
}

fn add_subtopology(part: &mut Part<'_>, subtopology: &Subtopology, origin: Origin, ids_are_counted: bool) {
    part.add(Class::Subtopology, 1);
    if !ids_are_counted {
        part.string(&subtopology.subtopology_id);
    }
    for topics in [&subtopology.source_topics, &subtopology.source_topic_regex, &subtopology.repartition_sink_topics] {
        add_array_list(part, topics.len());
        topics.iter().for_each(|topic| part.string(topic));
    }
    for topics in [&subtopology.state_changelog_topics, &subtopology.repartition_source_topics] {
        add_list(part, topics.len(), origin);
        topics.iter().for_each(|topic| add_topic(part, topic, origin));
    }
    add_list(part, subtopology.copartition_groups.len(), origin);
    for group in &subtopology.copartition_groups {
        part.add(Class::CopartitionGroup, 1);
        for members in [&group.source_topics, &group.source_topic_regex, &group.repartition_source_topics] {
            add_array_list(part, members.len());
        }
    }
}

fn add_topic(part: &mut Part<'_>, topic: &TopicInfo, origin: Origin) {
    part.add(Class::TopicInfo, 1);
    part.string(&topic.name);
    add_list(part, topic.topic_configs.len(), origin);
    part.add(Class::TopicConfig, topic.topic_configs.len() as u64);
    for config in &topic.topic_configs {
        part.string(&config.key);
        part.string(&config.value);
    }
}

/// A list that was read: from a request, or from a record.
fn add_array_list(part: &mut Part<'_>, elements: usize) {
    part.add(Class::ArrayList, 1);
    if elements > 0 {
        part.sized(Class::ObjectArray, 1, reference_array(elements as u64));
    }
}

/// A list that an operation has made of a request's (`Stream.toList`), or that was read from a record.
fn add_list(part: &mut Part<'_>, elements: usize, origin: Origin) {
    match (origin, elements) {
        (Origin::Log, _) => add_array_list(part, elements),
        (Origin::Operation, 0) => {}
        (Origin::Operation, _) => {
            part.add(Class::ListN, 1);
            part.sized(Class::ObjectArray, 1, reference_array(elements as u64));
        }
    }
}

fn add_configured(part: &mut Part<'_>, subtopology: &Subtopology) {
    part.add(Class::ConfiguredSubtopology, 1);
    for topics in [&subtopology.source_topics, &subtopology.repartition_sink_topics] {
        part.hash_map(copied(topics.len()), topics.len());
        part.add(Class::HashSet, 1);
    }
    for topics in [&subtopology.repartition_source_topics, &subtopology.state_changelog_topics] {
        part.hash_map(grown(topics.len()), topics.len());
        part.add(Class::HashMapValues, 1);
        for topic in topics {
            part.add(Class::ConfiguredInternalTopic, 1);
            part.add(Class::Optional, u64::from(topic.replication_factor != 0));
            part.hash_map(grown(topic.topic_configs.len()), topic.topic_configs.len());
            part.add(Class::UnmodifiableMap, 1);
        }
    }
}
