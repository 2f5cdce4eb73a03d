//! The assignor of share groups (`SimpleAssignor`), where several members may read one partition.

mod hashed;
mod shared;

use super::{AssignorError, GroupAssignment, GroupSpec, MemberSpec};
use crate::kafka::java::{HashMap, JavaHash};
use crate::kafka::uuid::Uuid;

/// The two algorithms of `SimpleAssignor`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SimpleAssignor {
    /// 4.1: each member gets a partition by the hash of its id; what is then left goes round.
    Hashed,
    /// From 4.3 on: each partition is shared by equally many members, each member gets equally many partitions.
    Shared,
}

impl SimpleAssignor {
    /// Assigns the partitions of the subscribed topics to the members.
    pub fn assign(self, group: &GroupSpec<'_>) -> Result<GroupAssignment, AssignorError> {
        if group.members.is_empty() {
            return Ok(HashMap::new());
        }
        match (self, group.homogeneous) {
            (SimpleAssignor::Hashed, true) => hashed::assign_homogeneous(group),
            (SimpleAssignor::Hashed, false) => hashed::assign_heterogeneous(group),
            (SimpleAssignor::Shared, true) => shared::assign_homogeneous(group),
            (SimpleAssignor::Shared, false) => shared::assign_heterogeneous(group),
        }
    }
}

/// A partition as the key of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PartitionKey {
    topic_id: Uuid,
    partition: i32,
    hash: i32,
}

impl PartitionKey {
    /// `TopicIdPartition`, a Java record.
    fn of_group(topic_id: Uuid, partition: i32) -> Self {
        let hash = topic_id.java_hash().wrapping_mul(31).wrapping_add(partition);
        PartitionKey { topic_id, partition, hash }
    }

    /// An `Integer`, where one topic is looked at.
    fn of_topic(topic_id: Uuid, partition: i32) -> Self {
        PartitionKey { topic_id, partition, hash: partition }
    }
}

impl JavaHash for PartitionKey {
    fn java_hash(&self) -> i32 {
        self.hash
    }
}

/// `AssignorHelpers.newHashMap`, and `newHashSet`.
fn new_hash_map<K, V>(expected: usize) -> HashMap<K, V> {
    HashMap::with_room_for(expected + 1)
}

/// The partitions of a topic that may be assigned.
fn assignable(group: &GroupSpec<'_>, topic_id: Uuid) -> Result<impl Iterator<Item = i32>, AssignorError> {
    let partitions = 0..group.partitions_of(topic_id)?;
    Ok(partitions.filter(move |&partition| (group.is_assignable)(topic_id, partition)))
}

/// The partitions of a member's topics that may be assigned.
fn targets(group: &GroupSpec<'_>, member: &MemberSpec) -> Result<Vec<PartitionKey>, AssignorError> {
    let mut targets = Vec::new();
    for &topic_id in member.subscribed.iter() {
        targets.extend(assignable(group, topic_id)?.map(|partition| PartitionKey::of_group(topic_id, partition)));
    }
    Ok(targets)
}
