//! The coordinator's heap: which Java objects a shard of a Kafka version would hold for the state that it has, and how
//! large they are. `docs/heap.md` says what is counted and how it was checked on real Kafka.
//!
//! Shared objects count once, in the first of the [components](Component) that reaches them. What others hold anyway counts
//! nowhere: constants, cached boxes, and what a shard that has not just loaded its groups shares with the metadata image
//! (names and ids of topics, racks).

mod assignment;
mod class;
mod consumer;
mod group;
mod java;
mod layout;
mod metadata;
mod runtime;
mod share;
mod streams;
mod tally;
#[cfg(test)]
mod tests;
mod topology;
mod version;

pub use class::Class;
pub use layout::Bytes;
pub use tally::{Component, Count, Heap};

use crate::coordinator::{Group, LOADING, Shard};
use crate::strategy::{Memo, MemoTable};
use version::Objects;

/// Where the texts, ids and numbers of an object come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Origin {
    /// From an operation of this incarnation: objects of one operation share what they have in common.
    Operation,
    /// From the log: each record was read into objects of its own.
    Log,
}

impl Origin {
    fn of(write: u64) -> Origin {
        if write == LOADING { Origin::Log } else { Origin::Operation }
    }
}

impl Heap {
    /// What a shard holds; what its broker remembers for all shards is not among it.
    pub fn of(shard: &Shard<'_>) -> Heap {
        let settings = shard.settings();
        let objects = Objects::of(&settings.behaviour, settings.design);
        let mut heap = Heap::default();
        if !shard.is_active() {
            return heap;
        }
        let mut racks = metadata::RacksOfVersions::default();
        group::add_groups(&mut heap, shard);
        for group in shard.groups_by_id().values() {
            match group {
                Group::Consumer(group) => consumer::add(&mut heap, group, &objects),
                Group::Share(group) => share::add(&mut heap, group, &objects),
                Group::Streams(group) => streams::add(&mut heap, group, &objects),
            }
            metadata::add_stored(&mut heap, group.base(), shard, &objects, &mut racks);
        }
        if settings.behaviour.share_and_streams {
            share::add_share_partitions(&mut heap, shard);
        }
        if settings.design.memo() == Memo::Shard {
            metadata::add_memo(&mut heap, shard.memo(), shard.has_written());
        }
        runtime::add_timers(&mut heap, shard, &objects);
        runtime::add_buffer(&mut heap, shard, &objects);
        runtime::add_registry(&mut heap, &objects);
        heap
    }

    /// What a broker remembers for all its shards.
    pub fn of_broker(memo: &MemoTable) -> Heap {
        let mut heap = Heap::default();
        metadata::add_memo(&mut heap, memo, true);
        heap
    }
}
