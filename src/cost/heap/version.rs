//! What the objects of Kafka versions and strategies differ in.

use super::layout::Fields;
use crate::coordinator::{Behaviour, KafkaVersion};
use crate::strategy::{Design, Stores};

/// See the module.
#[derive(Debug, Clone, Copy)]
pub(super) struct Objects {
    /// The fields of a consumer group.
    pub consumer_group: Fields,
    /// Its epochs and other numbers (`TimelineInteger`).
    pub consumer_group_integers: u64,
    /// Its states (`TimelineObject`).
    pub consumer_group_values: u64,
    /// The fields of a share group.
    pub share_group: Fields,
    /// Its epochs.
    pub share_group_integers: u64,
    /// Its states.
    pub share_group_values: u64,
    /// The fields of a streams group.
    pub streams_group: Fields,
    /// Streams groups keep what members are reconciled with and epochs of descriptions of topologies (4.4).
    pub refined_assignments: bool,
    /// Streams groups still have the map of partitions that no record fills (4.1).
    pub streams_partition_metadata: bool,
    /// Streams groups remember the configuration of their last assignment and what is cached for answers (4.3 on).
    pub assignment_configs: bool,
    /// Target assignments have their epoch and time in one object (4.3 on).
    pub target_metadata: bool,
    /// Subscriptions are counted by name and by regular expression, in an object (4.0 on); before, in an `Integer`.
    pub subscription_counts: bool,
    /// Members own partitions at an epoch each (4.3 on).
    pub assignment_epochs: bool,
    /// Timers are in a `ConcurrentHashMap` (4.3 on); before, in a `HashMap`.
    pub concurrent_timers: bool,
    /// Structures that can go back to a snapshot and are none of groups: offsets, transactions, metrics.
    pub other_structures: u64,
    /// A shard's buffer has `max.message.bytes` at once (before 4.1); since, it begins with 512 KiB.
    pub whole_buffer: bool,
}

impl Objects {
    /// Those of a version under a strategy.
    pub fn of(behaviour: &Behaviour, design: Design) -> Objects {
        // Of `ModernGroup` and `ConsumerGroup` together, without the strategy's.
        let streams_partition_metadata = !behaviour.assignment_timestamps && design.stores(Stores::Hash);
        let references = if behaviour.version < KafkaVersion::V4_0_0 { 17 } else { 19 };
        Objects {
            consumer_group: Fields::NONE.references(references).references(strategy_references(design)),
            consumer_group_integers: if behaviour.assignment_timestamps { 2 } else { 3 },
            consumer_group_values: if behaviour.assignment_timestamps { 3 } else { 2 },
            share_group: Fields::NONE.references(11).references(u64::from(design != Design::Ideal)),
            share_group_integers: if behaviour.assignment_timestamps { 1 } else { 2 },
            share_group_values: if behaviour.assignment_timestamps { 3 } else { 2 },
            streams_group: Fields::NONE
                .ints(1)
                .references(if behaviour.assignment_timestamps { 19 } else { 18 })
                .references(if behaviour.streams_warmups { 4 } else { 0 })
                .references(u64::from(design != Design::Ideal) + u64::from(streams_partition_metadata)),
            refined_assignments: behaviour.streams_warmups,
            streams_partition_metadata,
            assignment_configs: behaviour.assignment_timestamps,
            target_metadata: behaviour.assignment_timestamps,
            subscription_counts: behaviour.regexes,
            assignment_epochs: behaviour.assignment_epochs,
            concurrent_timers: behaviour.assignment_timestamps,
            other_structures: match behaviour.version {
                KafkaVersion::V3_9_1 => 10,
                KafkaVersion::V4_0_0 => 8,
                _ => 5,
            },
            whole_buffer: behaviour.version < KafkaVersion::V4_1_1,
        }
    }
}

/// The fields that a group has for its strategy: the map of 4.0 and before, or the hash of 4.1 on with the mark that an old
/// map's record must still be taken back.
fn strategy_references(design: Design) -> u64 {
    if design.stores(Stores::Hash) { 2 } else { u64::from(design != Design::Ideal) }
}
