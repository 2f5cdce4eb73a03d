//! A version of a topic: everything that any strategy may ask of a topic between two changes.

use super::ImageNumber;
use crate::kafka::records::{PartitionMetadata, TopicMetadata};
use crate::kafka::{JString, Uuid};
use crate::kernel::TimeMs;

/// What a topic looks like from one image on, until its content changes again. Broker registrations make new
/// versions too, although the topic is then in no delta.
#[derive(Debug)]
pub struct TopicVersion {
    /// The topic's name.
    pub name: JString,
    /// Its id.
    pub id: Uuid,
    /// The image that brought this version.
    pub image: ImageNumber,
    /// When that image was published.
    pub time_ms: TimeMs,
    /// The rack of every replica, partition by partition, as indexes into the history's racks
    /// ([`super::History::rack`]); a replica without a rack or without a registered broker is left out.
    /// `partition_ends[p]` is where the racks of partition `p` end.
    pub racks: Vec<u16>,
    /// See `racks`; its length is the number of partitions.
    pub partition_ends: Vec<u32>,
    /// How many partitions have any rack.
    pub racked_partitions: u32,
    /// Whether a partition names a broker that is not registered (Kafka 3.9.1 throws then).
    pub has_unregistered_replica: bool,
    /// The hash of what `rack-list` covers: `Utils.computeTopicHash` of Kafka 4.1 and later.
    pub hash: i64,
    /// How many bytes were fed to it.
    pub hashed_bytes: u64,
    /// The same for `rack-set` (each rack of a partition once) and for `partitions` (no racks): ours, in no Kafka.
    pub rack_set_hash: i64,
    /// Bytes fed for `rack-set`.
    pub rack_set_hashed_bytes: u64,
    /// Hash without racks.
    pub partitions_hash: i64,
    /// Bytes fed without racks.
    pub partitions_hashed_bytes: u64,
    /// Equal for versions of one topic name whose content is equal, racks as lists.
    pub rack_list_class: u32,
    /// Equal for versions of one topic name whose content is equal, racks as sets.
    pub rack_set_class: u32,
    /// Equal for versions of one topic name with the same id and number of partitions.
    pub partitions_class: u32,
}

impl TopicVersion {
    /// The number of partitions.
    pub fn num_partitions(&self) -> i32 {
        self.partition_ends.len() as i32
    }

    /// The racks of a partition's replicas, in replica order, duplicates kept.
    pub fn partition_racks(&self, partition: usize) -> &[u16] {
        let start = if partition == 0 { 0 } else { self.partition_ends[partition - 1] };
        &self.racks[start as usize..self.partition_ends[partition] as usize]
    }
}

/// How racks go into the entry of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapRacks {
    /// Not at all.
    None,
    /// Each once a partition.
    Set,
    /// As often as they occur.
    List,
}

impl TopicVersion {
    /// The topic's entry in a map that stores its partitions; a partition without racks has no entry of its own.
    pub fn map_entry(&self, racks: MapRacks, history: &super::History) -> TopicMetadata {
        let partitions = if racks == MapRacks::None { 0 } else { self.partition_ends.len() };
        let mut partition_metadata = Vec::new();
        for partition in 0..partitions {
            let mut of_partition = self.partition_racks(partition).to_vec();
            if racks == MapRacks::Set {
                of_partition.sort_unstable();
                of_partition.dedup();
            }
            if !of_partition.is_empty() {
                partition_metadata.push(PartitionMetadata {
                    partition: partition as i32,
                    racks: of_partition.into_iter().map(|rack| history.rack(rack).clone()).collect(),
                });
            }
        }
        TopicMetadata {
            topic_id: self.id,
            topic_name: self.name.clone(),
            num_partitions: self.num_partitions(),
            partition_metadata,
        }
    }
}
