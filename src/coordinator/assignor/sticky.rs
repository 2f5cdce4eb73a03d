//! `UniformHeterogeneousAssignmentBuilder` of Kafka 3.9: members subscribe to different topics. Members keep what
//! they subscribe to; what is left goes partition by partition to the least loaded; then partitions move, one by one,
//! from a member to a much less loaded one, as long as any can.
//!
//! Kafka also records these moves, to move a partition back instead of another one. Its check of that record is the
//! wrong way round: the whole assignment fails where a partition would move back. (No partition otherwise moves
//! twice, for one that has moved is not looked at again.)

use super::{AssignorError, GroupAssignment, GroupSpec, MemberSpec};
use crate::coordinator::assignment::Assignment;
use crate::kafka::java::{HashMap, HashSet, JString, JavaHash};
use crate::kafka::uuid::Uuid;
use crate::kernel::lookup::Lookup;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

struct Topic {
    id: Uuid,
    num_partitions: i32,
    subscribers: Vec<usize>,
}

/// `TopicIdPartition`, with the topic as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Partition {
    topic: usize,
    partition: i32,
    topic_hash: i32,
}

impl JavaHash for Partition {
    /// `Objects.hash(topicId, partitionId)`.
    fn java_hash(&self) -> i32 {
        (31 + self.topic_hash).wrapping_mul(31).wrapping_add(self.partition)
    }
}

struct Member<'a> {
    id: &'a JString,
    /// Where it stands when all members are sorted by id.
    rank: usize,
    spec: &'a MemberSpec,
    target: Assignment,
    load: usize,
    max_load: usize,
}

struct Builder<'a> {
    topics: Vec<Topic>,
    /// `subscribedTopicIds`, for its order: topics by number.
    topic_order: Vec<usize>,
    places: Lookup<Uuid, usize>,
    members: Vec<Member<'a>>,
    /// Members that can take more: (load, rank, member).
    takers: BTreeSet<(usize, usize, usize)>,
    unassigned: HashSet<Partition>,
    owners: Lookup<Partition, usize>,
}

pub(super) fn assign(group: &GroupSpec<'_>) -> Result<GroupAssignment, AssignorError> {
    let mut builder = Builder::new(group)?;
    if builder.topics.is_empty() {
        return Ok(HashMap::new());
    }
    builder.keep_subscribed();
    builder.assign_remaining()?;
    builder.balance()?;

    let mut assignments = HashMap::new();
    for member in builder.members {
        assignments.insert(member.id.clone(), Arc::new(member.target));
    }
    Ok(assignments)
}

impl<'a> Builder<'a> {
    fn new(group: &GroupSpec<'a>) -> Result<Self, AssignorError> {
        let mut builder = Builder {
            topics: Vec::new(),
            topic_order: Vec::new(),
            places: Lookup::new(),
            members: Vec::new(),
            takers: BTreeSet::new(),
            unassigned: HashSet::new(),
            owners: Lookup::new(),
        };
        let mut subscribed = HashSet::<Uuid>::new();
        for (index, (id, spec)) in group.members.iter().enumerate() {
            let mut max_load = 0;
            for &topic_id in spec.subscribed.iter() {
                subscribed.insert(topic_id);
                let topic = builder.topic(group, topic_id)?;
                topic.subscribers.push(index);
                max_load += topic.num_partitions as usize;
            }
            builder.members.push(Member { id, rank: 0, spec, target: Assignment::default(), load: 0, max_load });
        }
        builder.topic_order = subscribed.iter().filter_map(|id| builder.places.get(id).copied()).collect();
        builder.unassigned = builder.all_partitions();
        let mut by_id: Vec<usize> = (0..builder.members.len()).collect();
        by_id.sort_by_key(|&member| builder.members[member].id);
        for (rank, member) in by_id.into_iter().enumerate() {
            builder.members[member].rank = rank;
            builder.return_taker(member);
        }
        Ok(builder)
    }

    fn topic(&mut self, group: &GroupSpec<'_>, id: Uuid) -> Result<&mut Topic, AssignorError> {
        let place = match self.places.get(&id) {
            Some(&place) => place,
            None => {
                let num_partitions = group.partitions_of(id)?;
                self.topics.push(Topic { id, num_partitions, subscribers: Vec::new() });
                self.places.insert(id, self.topics.len() - 1);
                self.topics.len() - 1
            }
        };
        Ok(&mut self.topics[place])
    }

    fn all_partitions(&self) -> HashSet<Partition> {
        let mut all = HashSet::new();
        for &topic in &self.topic_order {
            for partition in 0..self.topics[topic].num_partitions {
                all.insert(self.partition(topic, partition));
            }
        }
        all
    }

    fn partition(&self, topic: usize, partition: i32) -> Partition {
        Partition { topic, partition, topic_hash: self.topics[topic].id.java_hash() }
    }

    /// Most partitions for a subscriber first, then fewest subscribers, then by partition. Ties between topics are
    /// left as they are in the hash set.
    fn sorted(&self, partitions: &HashSet<Partition>) -> Vec<Partition> {
        let per_subscriber = |topic: &Topic| f64::from(topic.num_partitions) / topic.subscribers.len() as f64;
        let compare = |a: &Partition, b: &Partition| -> Ordering {
            let (topic_a, topic_b) = (&self.topics[a.topic], &self.topics[b.topic]);
            let by_load = per_subscriber(topic_b).total_cmp(&per_subscriber(topic_a));
            let by_subscribers = topic_a.subscribers.len().cmp(&topic_b.subscribers.len());
            by_load.then(by_subscribers).then(a.partition.cmp(&b.partition))
        };
        let mut sorted: Vec<Partition> = partitions.iter().copied().collect();
        sorted.sort_by(compare);
        sorted
    }

    fn subscribes(&self, member: usize, topic: usize) -> bool {
        // The subscribers are in order.
        self.topics[topic].subscribers.binary_search(&member).is_ok()
    }

    fn keep_subscribed(&mut self) {
        for index in 0..self.members.len() {
            let spec = self.members[index].spec;
            for (topic_id, partitions) in spec.assignment.partitions.iter() {
                let Some(&topic) = self.places.get(topic_id) else { continue };
                if self.subscribes(index, topic) {
                    partitions.iter().for_each(|partition| self.give(self.partition(topic, partition), index));
                }
            }
        }
    }

    fn assign_remaining(&mut self) -> Result<(), AssignorError> {
        for partition in self.sorted(&self.unassigned) {
            let subscribers = self.topics[partition.topic].subscribers.iter().copied();
            let with_room = subscribers.filter(|&index| self.members[index].load < self.members[index].max_load);
            let least = with_room.min_by_key(|&index| (self.members[index].load, self.members[index].rank));
            self.give(partition, least.ok_or(AssignorError::LeftUnassigned)?);
        }
        Ok(())
    }

    fn balance(&mut self) -> Result<(), AssignorError> {
        self.unassigned = self.all_partitions();
        let topics = &self.topics;
        self.unassigned.retain(|partition| topics[partition.topic].subscribers.len() >= 2);
        if self.unassigned.is_empty() { Ok(()) } else { self.move_partitions() }
    }

    fn move_partitions(&mut self) -> Result<(), AssignorError> {
        let mut moves = Lookup::<(usize, usize, usize), ()>::new();
        loop {
            let (mut moved_any, mut moved_last) = (false, false);
            for partition in self.sorted(&self.unassigned) {
                if moved_last && self.is_balanced() {
                    return Ok(());
                }
                moved_last = self.maybe_move(partition, &mut moves)?;
                moved_any |= moved_last;
            }
            if !moved_any {
                return Ok(());
            }
        }
    }

    /// Moves a partition if a subscriber has at least two partitions less than its owner.
    fn maybe_move(
        &mut self,
        partition: Partition,
        moves: &mut Lookup<(usize, usize, usize), ()>,
    ) -> Result<bool, AssignorError> {
        let topic = &self.topics[partition.topic];
        let &owner = self.owners.get(&partition).ok_or(AssignorError::LeftUnassigned)?;
        let load = self.members[owner].load;
        if !topic.subscribers.iter().any(|&other| load > self.members[other].load + 1) {
            return Ok(false);
        }
        let mut takers = self.takers.iter().map(|&(_, _, member)| member);
        let new_owner = takers.find(|&member| self.subscribes(member, partition.topic));
        let new_owner = new_owner.ok_or(AssignorError::NoNewOwner(topic.id, partition.partition))?;
        if moves.contains(&(partition.topic, new_owner, owner)) {
            return Err(AssignorError::MovementMismatch);
        }
        moves.insert((partition.topic, owner, new_owner), ());
        self.take(partition, owner);
        self.give(partition, new_owner);
        Ok(true)
    }

    /// Whether all loads are within one, or nobody can relieve anybody else.
    fn is_balanced(&self) -> bool {
        let loads = self.takers.first().zip(self.takers.last());
        if loads.is_none_or(|(least, most)| least.0 + 1 >= most.0) {
            return true;
        }
        let mut highest = vec![0; self.topics.len()];
        for (topic, highest) in highest.iter_mut().enumerate() {
            let owners =
                (0..self.topics[topic].num_partitions).filter_map(|p| self.owners.get(&self.partition(topic, p)));
            *highest = owners.map(|&owner| self.members[owner].load).max().unwrap_or(0);
        }
        !self.takers.iter().any(|&(load, _, member)| {
            let mut topics = self.members[member].spec.subscribed.iter().filter_map(|id| self.places.get(id));
            topics.any(|&topic| load + 1 < highest[topic])
        })
    }

    /// `addPartitionToTargetAssignment`.
    fn give(&mut self, partition: Partition, index: usize) {
        self.withdraw_taker(index);
        let member = &mut self.members[index];
        member.target.add(self.topics[partition.topic].id, partition.partition, HashSet::new);
        member.load += 1;
        self.return_taker(index);
        self.owners.insert(partition, index);
        self.unassigned.remove(&partition);
    }

    /// `removePartitionFromTargetAssignment`.
    fn take(&mut self, partition: Partition, index: usize) {
        self.withdraw_taker(index);
        let member = &mut self.members[index];
        member.target.remove(self.topics[partition.topic].id, partition.partition);
        member.load -= 1;
        self.return_taker(index);
        self.owners.remove(&partition);
    }

    fn withdraw_taker(&mut self, index: usize) {
        let member = &self.members[index];
        self.takers.remove(&(member.load, member.rank, index));
    }

    fn return_taker(&mut self, index: usize) {
        let member = &self.members[index];
        if member.load < member.max_load {
            self.takers.insert((member.load, member.rank, index));
        }
    }
}
