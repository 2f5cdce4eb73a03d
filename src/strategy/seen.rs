//! What a group has seen of its topics: computed at a refresh, compared with what it stored, stored when they differ.

use super::{Covers, Design, Memo, Stores};
use crate::cluster::{History, ImageNumber, TopicVersion};
use crate::kafka::JString;
use crate::kafka::hash::group_hash;
use crate::kafka::records::{TopicHash, Value};
use crate::kernel::lookup::Lookup;
use std::sync::Arc;

/// The topics of a group as a refresh saw them: those that exist, in order of names (UTF-16 units), each in the
/// version that was looked at or remembered.
#[derive(Debug, Default)]
pub struct Seen {
    /// The topics.
    pub topics: Vec<(JString, Arc<TopicVersion>)>,
    /// The group hash over them; 0 unless the strategy stores one hash.
    pub group_hash: i64,
}

/// Declares numbers that are added up.
macro_rules! numbers {
    ($(#[doc = $of:literal])+ $name:ident { $(#[doc = $doc:literal] $field:ident,)+ }) => {
        $(#[doc = $of])+
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        pub struct $name {
            $(#[doc = $doc] pub $field: u64,)+
        }

        impl $name {
            /// All numbers, in the order of the fields.
            pub fn numbers(&self) -> [u64; [$(stringify!($field)),+].len()] {
                [$(self.$field),+]
            }
        }

        impl std::ops::AddAssign for $name {
            fn add_assign(&mut self, other: $name) {
                $(self.$field += other.$field;)+
            }
        }
    };
}

numbers! {
    /// What refreshes and images made a strategy do, in numbers.
    Work {
        /// Groups that images asked to look again.
        groups_marked,
        /// Refreshes: recomputations of a group's metadata, whatever asked for them.
        refreshes,
        /// Topics looked up in the image.
        topics_looked_up,
        /// Topics put into a map (`stores = "map"`).
        map_entries,
        /// Partitions whose racks were put into it.
        map_partitions,
        /// Replicas whose racks were looked up for it.
        map_replicas,
        /// Entries compared with what is stored.
        entries_compared,
        /// Partitions whose racks were compared with those stored.
        partitions_compared,
        /// Topic hashes computed.
        topic_hashes,
        /// Partitions visited for them.
        hash_partitions,
        /// Replicas whose racks went into them.
        hash_replicas,
        /// Bytes fed to them.
        hash_bytes,
        /// Topic hashes found in the memo.
        memo_hits,
        /// Entries dropped from the memo.
        memo_drops,
        /// Group hashes combined from topic hashes.
        group_hashes,
        /// Topic hashes that went into them.
        group_hash_topics,
    }
}

/// Computed topic hashes, kept for the next refresh (`GroupMetadataManager.topicHashCache`). Not rolled back when a
/// write fails.
#[derive(Debug, Default)]
pub struct MemoTable {
    table: Lookup<JString, Arc<TopicVersion>>,
}

impl MemoTable {
    /// Forgets a topic.
    pub fn forget(&mut self, topic: &str, work: &mut Work) {
        if self.table.remove(topic).is_some() {
            work.memo_drops += 1;
        }
    }

    /// The version of a topic whose hash is remembered.
    pub fn remembered(&self, topic: &str) -> Option<&Arc<TopicVersion>> {
        self.table.get(topic)
    }

    /// Forgets everything: a new incarnation starts empty.
    pub fn clear(&mut self) {
        self.table.clear();
    }

    /// How many topics are remembered.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }
}

impl Covers {
    /// The hash of what is covered of a topic, and the bytes fed to it.
    pub fn hash(self, version: &TopicVersion) -> (i64, u64) {
        match self {
            Covers::Partitions => (version.partitions_hash, version.partitions_hashed_bytes),
            Covers::RackSet => (version.rack_set_hash, version.rack_set_hashed_bytes),
            Covers::RackList => (version.hash, version.hashed_bytes),
        }
    }

    /// Equal for versions of one topic name that are the same as far as this covers.
    pub fn class(self, version: &TopicVersion) -> u32 {
        match self {
            Covers::Partitions => version.partitions_class,
            Covers::RackSet => version.rack_set_class,
            Covers::RackList => version.rack_list_class,
        }
    }
}

impl Design {
    /// What of a topic is looked at; the bound looks at what assignors read.
    pub fn covers(self) -> Covers {
        match self {
            Design::Ideal => Covers::Partitions,
            Design::Point { covers, .. } => covers,
        }
    }

    /// Whether it stores in that way.
    pub fn stores(self, what: Stores) -> bool {
        matches!(self, Design::Point { stores, .. } if stores == what)
    }

    /// Where it remembers topic hashes.
    pub fn memo(self) -> Memo {
        match self {
            Design::Point { memo, stores: Stores::Hash | Stores::Hashes, .. } => memo,
            _ => Memo::None,
        }
    }

    /// Looks at the topics that a group subscribes to.
    pub fn look<'a>(
        self,
        names: impl Iterator<Item = &'a JString>,
        history: &History,
        image: ImageNumber,
        memo: &mut MemoTable,
        work: &mut Work,
    ) -> Seen {
        let mut topics: Vec<(JString, Arc<TopicVersion>)> = Vec::new();
        for name in names {
            let fresh = history.index_of(name).and_then(|topic| history.version_at(topic, image));
            if let Some(fresh) = fresh {
                topics.push((name.clone(), self.remember(name, fresh, memo, work)));
            }
        }
        topics.sort_by(|a, b| a.0.cmp(&b.0));
        let mut seen = Seen { topics, group_hash: 0 };
        if self == Design::Ideal {
            return seen;
        }
        work.refreshes += 1;
        work.topics_looked_up += seen.topics.len() as u64;
        if self.stores(Stores::Hash) {
            seen.group_hash = group_hash(seen.topics.iter().map(|(_, version)| self.covers().hash(version).0));
            work.group_hashes += 1;
            work.group_hash_topics += seen.topics.len() as u64;
        }
        seen
    }

    /// The version of a topic that counts: the remembered one if there is one, else the fresh one, at its cost.
    fn remember(
        self,
        name: &JString,
        fresh: &Arc<TopicVersion>,
        memo: &mut MemoTable,
        work: &mut Work,
    ) -> Arc<TopicVersion> {
        let Design::Point { covers, stores, .. } = self else { return fresh.clone() };
        if stores == Stores::Map {
            work.map_entries += 1;
            if covers != Covers::Partitions {
                work.map_partitions += fresh.num_partitions() as u64;
                work.map_replicas += fresh.racks.len() as u64;
            }
            return fresh.clone();
        }
        if self.memo() != Memo::None
            && let Some(remembered) = memo.remembered(name)
        {
            work.memo_hits += 1;
            return remembered.clone();
        }
        work.topic_hashes += 1;
        work.hash_partitions += fresh.num_partitions() as u64;
        work.hash_replicas += if covers == Covers::Partitions { 0 } else { fresh.racks.len() as u64 };
        work.hash_bytes += covers.hash(fresh).1;
        if self.memo() != Memo::None {
            memo.table.insert(name.clone(), fresh.clone());
        }
        fresh.clone()
    }

    /// Whether what is seen differs from what was stored.
    pub fn differs(self, stored: &Seen, seen: &Seen, work: &mut Work) -> bool {
        let covers = self.covers();
        let stores = match self {
            Design::Ideal => return stored.topics.len() != seen.topics.len() || differs_in_any(covers, stored, seen),
            Design::Point { stores, .. } => stores,
        };
        if stores == Stores::Hash {
            work.entries_compared += 1;
            return stored.group_hash != seen.group_hash;
        }
        // Maps of another size differ at once; else they are compared up to the first difference.
        if stored.topics.len() != seen.topics.len() {
            return true;
        }
        stored.topics.iter().zip(&seen.topics).any(|((old_name, old), (name, new))| {
            work.entries_compared += 1;
            if old_name != name {
                return true;
            }
            if stores == Stores::Hashes {
                return covers.hash(old).0 != covers.hash(new).0;
            }
            if covers != Covers::Partitions && old.partitions_class == new.partitions_class {
                work.partitions_compared += u64::from(new.racked_partitions);
            }
            covers.class(old) != covers.class(new)
        })
    }

    /// The type-4 record that stores what was seen, for strategies that have one.
    pub fn stored_record(self, seen: &Seen, history: &History) -> Option<Value> {
        let Design::Point { covers, stores, .. } = self else { return None };
        match stores {
            Stores::Hash => None,
            Stores::Hashes => Some(Value::TopicHashes(Arc::new(
                seen.topics
                    .iter()
                    .map(|(name, version)| TopicHash { topic_name: name.clone(), hash: covers.hash(version).0 })
                    .collect(),
            ))),
            Stores::Map => Some(Value::PartitionMetadata(Arc::new(
                seen.topics.iter().map(|(_, version)| version.map_entry(covers.racks(), history)).collect(),
            ))),
        }
    }

    /// The hash that goes into the group's metadata record: 0 where there is none.
    pub fn metadata_hash(self, seen: &Seen) -> i64 {
        if self.stores(Stores::Hash) { seen.group_hash } else { 0 }
    }
}

/// Whether any of as many topics is another one, or another version of it.
fn differs_in_any(covers: Covers, stored: &Seen, seen: &Seen) -> bool {
    let mut pairs = stored.topics.iter().zip(&seen.topics);
    pairs.any(|((old_name, old), (name, new))| old_name != name || covers.class(old) != covers.class(new))
}

impl Covers {
    /// How racks go into a map.
    pub(super) fn racks(self) -> crate::cluster::version::MapRacks {
        use crate::cluster::version::MapRacks;
        match self {
            Covers::Partitions => MapRacks::None,
            Covers::RackSet => MapRacks::Set,
            Covers::RackList => MapRacks::List,
        }
    }
}
