//! What the runtime keeps for a shard: timers, the buffer for batches, the registry of snapshots.

use super::class::Class;
use super::java::grown;
use super::layout::{byte_array, reference_array};
use super::tally::{Component, Heap};
use super::version::Objects;
use crate::coordinator::{Group, Shard, Timer, TimerKind};

/// `max.message.bytes` where nobody says.
const DEFAULT_MAX_MESSAGE_BYTES: u64 = 1_048_588;
/// `CoordinatorRuntime.INITIAL_BUFFER_SIZE`.
const INITIAL_BUFFER_BYTES: u64 = 512 * 1024;

/// Timers: every member has one for its session, whether its heartbeats are simulated or only counted.
pub(super) fn add_timers(heap: &mut Heap, shard: &Shard<'_>, objects: &Objects) {
    let mut part = heap.part(Component::Timers);
    let mut timers = 0;
    let mut session = |group: &str, member: &str| {
        timers += 1;
        let key = format!("session-timeout-{group}-{member}");
        part.string(&key);
        // The key of the first schedule stays in the map; the task has that of the last heartbeat, and its texts. What was
        // scheduled by the load of a group of which nothing has been heard since has the group's texts.
        if shard.group(group).is_none_or(|group| group.base().refreshed_at_image.is_some()) {
            [key.as_str(), group, member].into_iter().for_each(|text| part.string(text));
        }
    };
    for group in shard.groups_by_id().values() {
        let id = &group.base().id;
        let parked = members(group).into_iter().filter(|member| shard.deadlines_ms(id, member)[0].is_none());
        parked.for_each(|member| session(id, member));
    }
    let (sessions, others): (Vec<&Timer>, Vec<&Timer>) =
        shard.timers().map(|(_, timer)| timer).partition(|timer| timer.kind == TimerKind::Session);
    sessions.into_iter().for_each(|timer| session(&timer.group, &timer.member));
    for timer in others {
        timers += 1;
        part.string(&format!("rebalance-timeout-{}-{}", timer.group, timer.member));
        part.string(&timer.group);
    }
    part.add(Class::TimerLambda, timers as u64);
    part.add(Class::TimerTask, timers as u64);
    part.add(Class::TimerTaskEntry, timers as u64);
    if objects.concurrent_timers {
        part.add(Class::ConcurrentHashMap, 1);
        part.add(Class::ConcurrentHashMapNode, timers as u64);
        if timers > 0 || shard.has_written() {
            // It doubles with the entry that fills three quarters.
            let buckets = grown(timers + 1);
            part.sized(Class::ConcurrentNodeArray, 1, reference_array(buckets as u64));
        }
    } else {
        part.hash_map(table(timers, shard), timers);
    }
}

/// A table that has once had an entry keeps its buckets.
fn table(entries: usize, shard: &Shard<'_>) -> usize {
    grown(entries.max(usize::from(shard.has_written())))
}

fn members(group: &Group) -> Vec<&str> {
    match group {
        Group::Consumer(group) => group.modern.members.keys().map(|id| &**id).collect(),
        Group::Share(group) => group.modern.members.keys().map(|id| &**id).collect(),
        Group::Streams(group) => group.members.keys().map(|id| &**id).collect(),
    }
}

/// The buffer that the shard keeps for its next batch, once it has written one.
pub(super) fn add_buffer(heap: &mut Heap, shard: &Shard<'_>, objects: &Objects) {
    let mut part = heap.part(Component::Buffer);
    part.add(Class::GrowableBufferSupplier, 1);
    if !shard.has_written() {
        return;
    }
    let max_bytes = shard.settings().max_batch_bytes.unwrap_or(DEFAULT_MAX_MESSAGE_BYTES);
    let bytes = if objects.whole_buffer { max_bytes } else { max_bytes.min(INITIAL_BUFFER_BYTES) };
    part.add(Class::HeapByteBuffer, 1);
    part.sized(Class::ByteArray, 1, byte_array(bytes));
}

/// The registry: a weak reference to every structure that it can take back, of those that are still in use.
pub(super) fn add_registry(heap: &mut Heap, objects: &Objects) {
    let registered = [
        Class::TimelineHashMap,
        Class::TimelineHashSet,
        Class::TimelineInteger,
        Class::TimelineLong,
        Class::TimelineObject,
    ]
    .into_iter()
    .map(|class| heap.objects(class))
    .sum::<u64>()
        + objects.other_structures;
    let mut part = heap.part(Component::SnapshotRegistry);
    part.add(Class::SnapshotRegistry, 1);
    part.add(Class::WeakReference, registered);
    part.add(Class::ArrayList, 1);
    let mut capacity = 10;
    while capacity < registered {
        capacity += capacity / 2;
    }
    part.sized(Class::ObjectArray, 1, reference_array(capacity));
    // The snapshot of the last write and the end of the list of snapshots, each with an empty table of changes.
    part.add(Class::Snapshot, 2);
    part.add(Class::IdentityHashMap, 2);
    part.sized(Class::ObjectArray, 2, reference_array(16));
    part.hash_map(grown(1), 1);
}
