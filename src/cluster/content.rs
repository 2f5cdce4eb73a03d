//! What a strategy can see of a topic, and its hashes in the three coverages.

use super::racks::Racks;
use super::state::State;
use super::{TopicIndex, TopicVersion};
use crate::kafka::Uuid;
use crate::kafka::hash::{HashedRacks, TopicHasher};

/// The part of a topic that versions are made of.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Content {
    pub id: Uuid,
    pub racks: Vec<u16>,
    pub partition_ends: Vec<u32>,
    pub has_unregistered_replica: bool,
}

impl Content {
    /// What a topic looks like now; `None` if it does not exist.
    pub fn of(state: &State, topic: TopicIndex) -> Option<Self> {
        let topic = state.topic(topic)?;
        let replicas: usize = topic.partitions.iter().map(|partition| partition.replicas.len()).sum();
        let mut content = Content {
            id: topic.id,
            racks: Vec::with_capacity(replicas),
            partition_ends: Vec::with_capacity(topic.partitions.len()),
            has_unregistered_replica: false,
        };
        for partition in &topic.partitions {
            for replica in partition.replicas.iter() {
                match state.brokers.get(replica) {
                    Some(broker) => content.racks.extend(broker.rack_number),
                    None => content.has_unregistered_replica = true,
                }
            }
            content.partition_ends.push(content.racks.len() as u32);
        }
        content.racks.shrink_to_fit();
        Some(content)
    }

    /// Whether a version holds exactly this, the order of replicas included.
    pub fn is_of(&self, version: &TopicVersion) -> bool {
        self.id == version.id
            && self.has_unregistered_replica == version.has_unregistered_replica
            && self.partition_ends == version.partition_ends
            && self.racks == version.racks
    }

    /// How many partitions have any rack.
    pub fn racked_partitions(&self) -> u32 {
        self.partitions().filter(|racks| !racks.is_empty()).count() as u32
    }

    fn partitions(&self) -> impl Iterator<Item = &[u16]> {
        partitions(&self.racks, &self.partition_ends)
    }

    /// Whether a strategy of this coverage would see no difference to a version of the same topic name.
    pub fn equals(&self, version: &TopicVersion, coverage: Coverage) -> bool {
        if self.id != version.id || self.partition_ends.len() != version.partition_ends.len() {
            return false;
        }
        let mut pairs = self.partitions().zip(partitions(&version.racks, &version.partition_ends));
        match coverage {
            Coverage::Partitions => true,
            Coverage::RackList => pairs.all(|(a, b)| a == b || sorted(a) == sorted(b)),
            Coverage::RackSet => pairs.all(|(a, b)| a == b || set(a) == set(b)),
        }
    }
}

fn partitions<'a>(racks: &'a [u16], ends: &'a [u32]) -> impl Iterator<Item = &'a [u16]> {
    let starts = std::iter::once(0).chain(ends.iter().copied());
    starts.zip(ends).map(|(start, end)| &racks[start as usize..*end as usize])
}

fn sorted(racks: &[u16]) -> Vec<u16> {
    let mut racks = racks.to_vec();
    racks.sort_unstable();
    racks
}

fn set(racks: &[u16]) -> Vec<u16> {
    let mut racks = sorted(racks);
    racks.dedup();
    racks
}

/// What of a topic is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Coverage {
    /// The racks of each partition, with duplicates.
    RackList,
    /// The racks of each partition, each once.
    RackSet,
    /// The id and the number of partitions.
    Partitions,
}

/// All coverages, in the order in which results are kept.
pub(super) const COVERAGES: [Coverage; 3] = [Coverage::RackList, Coverage::RackSet, Coverage::Partitions];

/// A hash, and how many bytes were fed to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ContentHash {
    pub hash: i64,
    pub bytes: u64,
}

/// The topic hash in each coverage, in the order of [`COVERAGES`]. `rack-list` is `Utils.computeTopicHash` of Kafka
/// 4.1 and later.
pub(super) fn content_hashes(
    name: &str,
    content: &Content,
    racks: &Racks,
    hasher: &mut TopicHasher,
) -> [ContentHash; 3] {
    COVERAGES.map(|coverage| {
        let hashed = match coverage {
            Coverage::RackList => HashedRacks::List,
            Coverage::RackSet => HashedRacks::Set,
            Coverage::Partitions => HashedRacks::None,
        };
        let partitions = content.partitions().map(|partition| partition.iter().map(|rack| racks.encoded(*rack)));
        let (hash, bytes) = hasher.topic_hash(name, content.id, hashed, partitions);
        ContentHash { hash, bytes }
    })
}
