//! Sets of partitions and target assignments, in Java's iteration orders.

use crate::kafka::java::{HashMap, HashSet};
use crate::kafka::records::TopicPartitions;
use crate::kafka::uuid::Uuid;
use std::ops::Range;
use std::sync::{Arc, LazyLock};

/// The assignment of nothing (`Assignment.EMPTY`).
pub static EMPTY: LazyLock<Arc<Assignment>> = LazyLock::new(Arc::default);

/// Some partitions of a topic. Sets are equal whatever their order.
#[derive(Debug, Clone)]
pub enum PartitionSet {
    /// Consecutive partitions, in order (`RangeSet`).
    Range(Range<i32>),
    /// Partitions in the order of Java's `HashSet`.
    Hash(HashSet<i32>),
}

impl PartitionSet {
    /// `new HashSet<>(list)`.
    pub fn from_list(list: &[i32]) -> Self {
        PartitionSet::Hash(HashSet::copy_of(list.iter().copied()))
    }

    /// How many partitions there are.
    pub fn len(&self) -> usize {
        match self {
            PartitionSet::Range(range) => range.len(),
            PartitionSet::Hash(set) => set.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the partition is there.
    pub fn contains(&self, partition: i32) -> bool {
        match self {
            PartitionSet::Range(range) => range.contains(&partition),
            PartitionSet::Hash(set) => set.contains(&partition),
        }
    }

    /// The partitions in Java's order.
    pub fn iter(&self) -> impl Iterator<Item = i32> {
        let (range, set) = match self {
            PartitionSet::Range(range) => (range.clone(), None),
            PartitionSet::Hash(set) => (0..0, Some(set)),
        };
        range.chain(set.into_iter().flat_map(|set| set.iter().copied()))
    }

    /// The partitions in Java's order.
    pub fn to_list(&self) -> Vec<i32> {
        self.iter().collect()
    }

    /// The set as one that can be changed.
    pub fn as_hash_set(&mut self) -> &mut HashSet<i32> {
        if let PartitionSet::Range(_) = self {
            *self = Self::from_list(&self.to_list());
        }
        match self {
            PartitionSet::Hash(set) => set,
            PartitionSet::Range(_) => unreachable!("it has just become a hash set"),
        }
    }
}

impl PartialEq for PartitionSet {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|partition| other.contains(partition))
    }
}

impl Eq for PartitionSet {}

/// What a member is to own (`Assignment`, `MemberAssignmentImpl`). Assignments are equal whatever their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Assignment {
    /// The partitions of each topic.
    pub partitions: HashMap<Uuid, PartitionSet>,
}

impl Assignment {
    /// `Assignment.fromRecord`: from a record of type 7. (Kafka refuses to load a record that names a topic twice.)
    pub fn from_record(topics: &[TopicPartitions]) -> Self {
        let mut partitions = HashMap::new();
        for topic in topics {
            partitions.insert(topic.topic_id, PartitionSet::from_list(&topic.partitions));
        }
        Assignment { partitions }
    }

    /// What a record of type 7 lists, in the order in which Kafka writes it.
    pub fn to_record(&self) -> Vec<TopicPartitions> {
        let topic = |(&topic_id, partitions): (&Uuid, &PartitionSet)| TopicPartitions {
            topic_id,
            partitions: partitions.to_list(),
            assignment_epochs: None,
        };
        self.partitions.iter().map(topic).collect()
    }

    /// `AssignorHelpers.deepCopyAssignment`: an equal assignment that can be changed, maybe in another order.
    pub fn deep_copy(&self) -> Self {
        let mut partitions = HashMap::with_capacity(self.partitions.len());
        for (&topic_id, set) in self.partitions.iter() {
            partitions.insert(topic_id, PartitionSet::from_list(&set.to_list()));
        }
        Assignment { partitions }
    }

    /// Takes a partition out, and the topic with its last one.
    pub fn remove(&mut self, topic_id: Uuid, partition: i32) {
        let Some(set) = self.partitions.get_mut(&topic_id) else { return };
        set.as_hash_set().remove(&partition);
        if set.is_empty() {
            self.partitions.remove(&topic_id);
        }
    }

    /// Adds a partition; a new topic gets the set that `make` makes.
    pub fn add(&mut self, topic_id: Uuid, partition: i32, make: impl FnOnce() -> HashSet<i32>) {
        let set = self.partitions.get_or_insert_with(topic_id, || PartitionSet::Hash(make()));
        set.as_hash_set().insert(partition);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Java 17: `new HashSet<>(List.of(40, 3, 19, 35, 7))` is walked 3, 19, 35, 7, 40.
    #[test]
    fn a_record_becomes_an_assignment_and_back() {
        let topic = |id: u128, partitions: &[i32]| TopicPartitions {
            topic_id: Uuid(id),
            partitions: partitions.to_vec(),
            assignment_epochs: None,
        };
        let assignment = Assignment::from_record(&[topic(17, &[40, 3, 19, 35, 7]), topic(3, &[1, 0]), topic(1, &[5])]);
        let written = assignment.to_record();
        assert_eq!(written, [topic(17, &[3, 19, 35, 7, 40]), topic(1, &[5]), topic(3, &[0, 1])]);
    }

    #[test]
    fn equality_ignores_order_and_form() {
        let hash = PartitionSet::from_list(&[18, 2, 17]);
        assert_ne!(hash, PartitionSet::Range(2..5));
        assert_eq!(PartitionSet::from_list(&[4, 2, 3]), PartitionSet::Range(2..5));
        let mut range = PartitionSet::Range(2..5);
        range.as_hash_set().remove(&3);
        assert_eq!(range.to_list(), [2, 4]);
    }

    #[test]
    fn the_last_partition_takes_its_topic_with_it() {
        let mut assignment = Assignment::default();
        assignment.add(Uuid(1), 7, HashSet::new);
        assignment.add(Uuid(1), 8, HashSet::new);
        assignment.remove(Uuid(1), 7);
        assert!(assignment.partitions.contains(&Uuid(1)));
        assignment.remove(Uuid(1), 8);
        assert_eq!(assignment, **EMPTY);
    }
}
