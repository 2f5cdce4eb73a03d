//! Kafka's assignors: range and uniform of consumer groups, simple of share groups. Every tie and every iteration order is Kafka's, so that each member gets
//! the very partitions that it gets there.

mod balancer;
mod heterogeneous;
mod homogeneous;
mod range;
mod simple;
mod sticky;
mod target;
#[cfg(test)]
mod tests;

pub use simple::SimpleAssignor;

use super::assignment::Assignment;
use crate::kafka::java::{HashMap, JString, TimelineMap};
use crate::kafka::uuid::Uuid;
use std::sync::Arc;

/// What an assignor is told of a member (`MemberSubscriptionAndAssignmentImpl`).
#[derive(Debug, Clone)]
pub struct MemberSpec {
    /// `group.instance.id`.
    pub instance_id: Option<JString>,
    /// `client.rack`; no assignor of Kafka's looks at it.
    pub rack: Option<JString>,
    /// The ids of the subscribed topics that exist, in the order of the member's set of names.
    pub subscribed: Arc<[Uuid]>,
    /// How many names that set holds, those of topics that do not exist included: `TopicIds.size`, after which
    /// Kafka sizes its tables.
    pub subscribed_names: usize,
    /// The member's current target.
    pub assignment: Arc<Assignment>,
}

/// What an assignor is told of a group (`GroupSpecImpl` and `SubscribedTopicDescriber`).
#[derive(Clone, Copy)]
pub struct GroupSpec<'a> {
    /// The members.
    pub members: &'a HashMap<JString, MemberSpec>,
    /// Whether all members subscribe to the same names.
    pub homogeneous: bool,
    /// Which member's target each partition is in.
    pub inverted: &'a TimelineMap<Uuid, TimelineMap<i32, JString>>,
    /// How many partitions a topic has; −1 if it does not exist.
    pub num_partitions: &'a dyn Fn(Uuid) -> i32,
    /// Whether a partition may be assigned (only `simple` asks): a share group's state of it must be initialised.
    pub is_assignable: &'a dyn Fn(Uuid, i32) -> bool,
}

/// What of the assignors differs between versions of Kafka.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AssignorBehaviour {
    /// A member of a homogeneous group that could take an extra partition but would have to be given one leaves
    /// that to a member that owns one already (`uniform`, from 4.1 on).
    pub extra_partitions_stay: bool,
    /// How `uniform` treats heterogeneous groups.
    pub heterogeneous: Heterogeneous,
    /// How `simple` works.
    pub simple: SimpleAssignor,
}

/// The two algorithms of `UniformHeterogeneousAssignmentBuilder`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heterogeneous {
    /// 3.9: partition by partition, until no partition can move from a larger to a smaller member.
    Partitions,
    /// From 4.0 on: topic by topic, in at most 16 rounds.
    Topics,
}

/// A server-side assignor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assignor {
    /// `range`.
    Range,
    /// `uniform`.
    Uniform,
    /// `simple`, of share groups; they have no other.
    Simple,
}

/// Why an assignor gave no assignment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AssignorError {
    /// A subscribed topic has no number of partitions.
    #[error("members are subscribed to topic {0} which does not exist in the topic metadata")]
    UnknownTopic(Uuid),
    /// A target names a partition that the topic does not have; Kafka runs over the end of an array.
    #[error("the target names partition {1} of topic {0} which does not exist")]
    UnknownPartition(Uuid, i32),
    /// No member could take a partition.
    #[error("partitions were left unassigned")]
    LeftUnassigned,
    /// No member could take a partition that should move (3.9).
    #[error("no suitable new owner was found for partition {1} of topic {0}")]
    NoNewOwner(Uuid, i32),
    /// A partition would move a second time, where the check of Kafka 3.9 is the wrong way round.
    #[error("mismatch in partition movement record with respect to partition ownership during a rebalance")]
    MovementMismatch,
    /// Every member has more partitions than it should, and some are left (`simple` of 4.1).
    #[error("inconsistent number of member IDs")]
    InconsistentMembers,
    /// Every member has its partitions, but one partition lacks members (`simple`, from 4.3 on; Kafka runs over the
    /// end of an iterator, whose exception has no message).
    #[error("null")]
    NoMemberLeft,
}

/// What an assignor gives: the members that it says nothing about get the empty assignment.
pub type GroupAssignment = HashMap<JString, Arc<Assignment>>;

impl Assignor {
    /// The assignor of a name that consumer groups may ask for.
    pub fn from_name(name: &str) -> Option<Self> {
        [Assignor::Range, Assignor::Uniform].into_iter().find(|assignor| assignor.name() == name)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Assignor::Range => "range",
            Assignor::Uniform => "uniform",
            Assignor::Simple => "simple",
        }
    }

    /// Assigns the partitions of the subscribed topics to the members.
    pub fn assign(self, group: &GroupSpec<'_>, behaviour: AssignorBehaviour) -> Result<GroupAssignment, AssignorError> {
        if group.members.is_empty() {
            return Ok(HashMap::new());
        }
        match (self, group.homogeneous, behaviour.heterogeneous) {
            (Assignor::Range, ..) => range::assign(group),
            (Assignor::Simple, ..) => behaviour.simple.assign(group),
            (Assignor::Uniform, true, _) => homogeneous::assign(group, behaviour.extra_partitions_stay),
            (Assignor::Uniform, false, Heterogeneous::Topics) => heterogeneous::assign(group),
            (Assignor::Uniform, false, Heterogeneous::Partitions) => sticky::assign(group),
        }
    }
}

impl GroupSpec<'_> {
    /// The number of partitions of a topic that must exist.
    fn partitions_of(&self, topic_id: Uuid) -> Result<i32, AssignorError> {
        match (self.num_partitions)(topic_id) {
            -1 => Err(AssignorError::UnknownTopic(topic_id)),
            num_partitions => Ok(num_partitions),
        }
    }

    fn is_assigned(&self, topic_id: Uuid, partition: i32) -> bool {
        self.inverted.get(&topic_id).is_some_and(|owners| owners.contains(&partition))
    }
}
