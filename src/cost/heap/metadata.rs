//! The strategy's part: what groups stored of their topics, and remembered topic hashes.

use super::Origin;
use super::class::Class;
use super::java::{copied, grown, is_boxed_anew};
use super::layout::{Fields, reference_array};
use super::tally::{Component, Count, Heap};
use super::version::Objects;
use crate::cluster::TopicVersion;
use crate::coordinator::{GroupBase, Shard};
use crate::kafka::java::TimelineMap;
use crate::kafka::{GroupKind, JString};
use crate::kernel::lookup::Lookup;
use crate::strategy::{Covers, Design, MemoTable, Stores};
use std::sync::Arc;

/// What a group stored of its topics.
pub(super) fn add_stored(
    heap: &mut Heap,
    base: &GroupBase,
    shard: &Shard<'_>,
    objects: &Objects,
    racks: &mut RacksOfVersions,
) {
    let Design::Point { covers, stores, .. } = shard.settings().design else { return };
    let mut part = heap.part(Component::SubscriptionMetadata);
    let topics = &base.stored.get().topics;
    match stores {
        Stores::Hash => {
            part.add(Class::TimelineLong, 1);
            // Whether the record of an old map must still be taken back.
            part.add(Class::TimelineObject, u64::from(base.kind == GroupKind::Consumer));
            if base.kind == GroupKind::Streams && objects.streams_partition_metadata {
                part.timeline_map(&TimelineMap::<i32, ()>::new(0));
            }
            return;
        }
        Stores::Hashes => part.add(Class::Long, topics.len() as u64),
        Stores::Map => {
            let racks = u64::from(covers != Covers::Partitions);
            part.sized(Class::TopicMetadata, topics.len() as u64, TOPIC_METADATA.references(racks).object());
        }
    }
    let mut table = TimelineMap::new(0);
    topics.iter().for_each(|(name, _)| {
        table.insert(name.clone(), (), 0);
    });
    part.timeline_map(&table);
    let origin = base.stored.changed_in().map_or(Origin::Operation, Origin::of);
    if origin == Origin::Log {
        topics.iter().for_each(|(name, _)| part.string(name));
        if stores == Stores::Map {
            part.add(Class::Uuid, topics.len() as u64);
        }
    }
    if stores == Stores::Map && covers != Covers::Partitions {
        for (name, version) in topics {
            racks.add(heap, name, version, covers, origin, base.stored_is_compared, shard);
        }
    }
}

/// `TopicMetadata` of 4.0.
const TOPIC_METADATA: Fields = Fields::NONE.references(2).ints(1);

/// Remembered topic hashes; the names are those of subscriptions.
pub(super) fn add_memo(heap: &mut Heap, memo: &MemoTable, has_been_used: bool) {
    let mut part = heap.part(Component::TopicHashCache);
    part.hash_map(grown(memo.len().max(usize::from(has_been_used))), memo.len());
    part.add(Class::Long, memo.len() as u64);
}

/// The racks of versions of topics, counted once for all groups that stored them.
#[derive(Debug, Default)]
pub(super) struct RacksOfVersions {
    counted: Lookup<(JString, u32, Origin), Vec<(Class, Count)>>,
}

impl RacksOfVersions {
    #[allow(clippy::too_many_arguments, reason = "each says something else of the map")]
    fn add(
        &mut self,
        heap: &mut Heap,
        name: &JString,
        version: &Arc<TopicVersion>,
        covers: Covers,
        origin: Origin,
        is_compared: bool,
        shard: &Shard<'_>,
    ) {
        let key = (name.clone(), covers.class(version), origin);
        let counted = self.counted.get_or_insert_with(key, || racks_of(version, covers, origin, shard));
        let mut part = heap.part(Component::SubscriptionMetadata);
        for (class, count) in counted {
            part.counted(*class, *count);
            // Comparing with another map walks each set of racks, and a walked one keeps the view of its keys.
            if is_compared && *class == Class::HashSet {
                part.add(Class::HashMapKeySet, count.objects);
            }
        }
    }
}

/// A map from partition to racks (`TopicMetadata.partitionRacks`).
fn racks_of(version: &TopicVersion, covers: Covers, origin: Origin, shard: &Shard<'_>) -> Vec<(Class, Count)> {
    let mut alone = Heap::default();
    let mut part = alone.part(Component::SubscriptionMetadata);
    let mut entries = 0;
    for partition in 0..version.partition_ends.len() {
        let mut racks = version.partition_racks(partition).to_vec();
        if covers == Covers::RackSet {
            racks.sort_unstable();
            racks.dedup();
        }
        if racks.is_empty() {
            continue;
        }
        entries += 1;
        part.add(Class::Integer, u64::from(is_boxed_anew(partition as i32)));
        if covers == Covers::RackSet {
            part.hash_map(copied(racks.len()), racks.len());
            part.add(Class::HashSet, 1);
            part.add(Class::UnmodifiableSet, 1);
        } else {
            part.add(Class::ArrayList, 1);
            part.sized(Class::ObjectArray, 1, reference_array(racks.len() as u64));
        }
        if origin == Origin::Log {
            racks.iter().for_each(|rack| part.string(shard.history().rack(*rack)));
        }
    }
    part.hash_map(grown(entries), entries);
    alone.classes().map(|(_, class, count)| (class, count)).collect()
}
