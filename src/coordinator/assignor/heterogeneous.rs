//! `UniformHeterogeneousAssignmentBuilder` of Kafka 4.0 and later: members subscribe to different topics. Members
//! keep what they subscribe to; what is left goes topic by topic to the least loaded; then partitions move, topic by
//! topic, from the most to the least loaded subscribers.

use super::balancer::Balancer;
use super::target::Target;
use super::{AssignorError, GroupAssignment, GroupSpec, MemberSpec};
use crate::kafka::java::{HashMap, HashSet, JString};
use crate::kafka::uuid::Uuid;
use crate::kernel::lookup::Lookup;
use std::cmp::Ordering;
use std::sync::Arc;

/// Rounds over all topics after which an imbalance is accepted (`MAX_ITERATION_COUNT`).
const MAX_ROUNDS: usize = 16;

struct Topic {
    id: Uuid,
    /// The members that subscribe to it, in order.
    subscribers: Vec<usize>,
    /// Who owns each partition.
    owners: Vec<Option<usize>>,
}

impl Topic {
    fn partitions_per_subscriber(&self) -> f64 {
        self.owners.len() as f64 / self.subscribers.len() as f64
    }

    /// Most partitions for a subscriber first, then fewest subscribers, then by id (as signed halves).
    fn compare(&self, other: &Self) -> Ordering {
        let signed = |id: Uuid| (id.most() as i64, id.least() as i64);
        let by_load = other.partitions_per_subscriber().total_cmp(&self.partitions_per_subscriber());
        by_load
            .then(self.subscribers.len().cmp(&other.subscribers.len()))
            .then_with(|| signed(self.id).cmp(&signed(other.id)))
    }
}

struct Builder {
    /// In the order in which they are assigned and balanced.
    topics: Vec<Topic>,
    /// By member.
    targets: Vec<Target>,
    /// How many partitions each member's target has.
    loads: Vec<i32>,
}

pub(super) fn assign(group: &GroupSpec<'_>) -> Result<GroupAssignment, AssignorError> {
    let members: Vec<(&JString, &MemberSpec)> = group.members.iter().collect();
    let topics = subscribed_topics(group, &members)?;
    if topics.is_empty() {
        return Ok(HashMap::new());
    }
    let mut builder = Builder { topics, targets: Vec::with_capacity(members.len()), loads: vec![0; members.len()] };
    builder.keep_subscribed(&members)?;
    builder.assign_remaining();
    builder.balance();

    let mut assignments = HashMap::new();
    for ((member_id, _), target) in members.into_iter().zip(builder.targets) {
        assignments.insert(member_id.clone(), target.into_assignment());
    }
    Ok(assignments)
}

fn subscribed_topics(group: &GroupSpec<'_>, members: &[(&JString, &MemberSpec)]) -> Result<Vec<Topic>, AssignorError> {
    let mut topics: Vec<Topic> = Vec::new();
    let mut places = Lookup::<Uuid, usize>::new();
    for (index, (_, member)) in members.iter().enumerate() {
        for &id in member.subscribed.iter() {
            let place = match places.get(&id) {
                Some(&place) => place,
                None => {
                    let owners = (0..group.partitions_of(id)?).map(|_| None).collect();
                    topics.push(Topic { id, subscribers: Vec::new(), owners });
                    places.insert(id, topics.len() - 1);
                    topics.len() - 1
                }
            };
            topics[place].subscribers.push(index);
        }
    }
    topics.sort_by(Topic::compare);
    Ok(topics)
}

impl Builder {
    /// Takes from each member the topics that it does not subscribe to.
    fn keep_subscribed(&mut self, members: &[(&JString, &MemberSpec)]) -> Result<(), AssignorError> {
        let mut places = Lookup::<Uuid, usize>::new();
        for (place, topic) in self.topics.iter().enumerate() {
            places.insert(topic.id, place);
        }
        for (index, (_, member)) in members.iter().enumerate() {
            let mut target = Target::Kept(Arc::clone(&member.assignment));
            for (&topic_id, partitions) in member.assignment.partitions.iter() {
                let topic = places.get(&topic_id).map(|&place| &mut self.topics[place]);
                // The subscribers are in order.
                let Some(topic) = topic.filter(|topic| topic.subscribers.binary_search(&index).is_ok()) else {
                    target.change().partitions.remove(&topic_id);
                    continue;
                };
                self.loads[index] += partitions.len() as i32;
                for partition in partitions.iter() {
                    let owner = usize::try_from(partition).ok().and_then(|place| topic.owners.get_mut(place));
                    *owner.ok_or(AssignorError::UnknownPartition(topic_id, partition))? = Some(index);
                }
            }
            self.targets.push(target);
        }
        Ok(())
    }

    fn assign_remaining(&mut self) {
        let mut balancer = Balancer::default();
        for place in 0..self.topics.len() {
            let topic = &self.topics[place];
            let unassigned = |partition: &usize| topic.owners[*partition].is_none();
            let unassigned: Vec<usize> = (0..topic.owners.len()).filter(unassigned).collect();
            if unassigned.is_empty() {
                continue;
            }
            balancer.start(&topic.subscribers, &self.loads);
            for partition in unassigned {
                let member = balancer.least_loaded(&self.loads);
                self.give(place, partition, member);
            }
        }
    }

    /// Goes over the topics until a whole round has moved nothing.
    fn balance(&mut self) {
        let shared: Vec<usize> =
            (0..self.topics.len()).filter(|&place| self.topics[place].subscribers.len() >= 2).collect();
        let mut balancer = Balancer::default();
        // Which partitions of the topic at hand each member had when its turn came.
        let mut owned: Vec<Vec<usize>> = vec![Vec::new(); self.targets.len()];
        let mut last_moved = None;
        for _round in 0..MAX_ROUNDS {
            for &place in &shared {
                if last_moved == Some(place) {
                    return;
                }
                if self.balance_topic(place, &mut balancer, &mut owned) || last_moved.is_none() {
                    last_moved = Some(place);
                }
            }
        }
    }

    /// Balances the subscribers of a topic as far as its own partitions can. Whether any moved.
    fn balance_topic(&mut self, place: usize, balancer: &mut Balancer, owned: &mut [Vec<usize>]) -> bool {
        let topic = &self.topics[place];
        if balancer.start(&topic.subscribers, &self.loads) <= 1 {
            return false;
        }
        topic.subscribers.iter().for_each(|&member| owned[member].clear());
        for (partition, owner) in topic.owners.iter().enumerate() {
            owned[owner.expect("every partition has been assigned")].push(partition);
        }
        let mut moved = false;
        while let Some(partition) = next_to_move(balancer, owned, &self.loads) {
            let member = balancer.least_loaded(&self.loads);
            if balancer.is_balanced() {
                break;
            }
            self.give(place, partition, member);
            moved = true;
        }
        moved
    }

    /// Gives a partition to a member, and takes it from its owner if it has one.
    fn give(&mut self, place: usize, partition: usize, member: usize) {
        let topic = &mut self.topics[place];
        let number = partition as i32;
        if let Some(owner) = topic.owners[partition].replace(member) {
            self.targets[owner].change().remove(topic.id, number);
            self.loads[owner] -= 1;
        }
        let share = topic.owners.len().div_ceil(topic.subscribers.len());
        self.targets[member].change().add(topic.id, number, || HashSet::with_room_for(share));
        self.loads[member] += 1;
    }
}

/// The last partition of the most loaded member that has any.
fn next_to_move(balancer: &mut Balancer, owned: &mut [Vec<usize>], loads: &[i32]) -> Option<usize> {
    loop {
        let member = balancer.most_loaded(loads)?;
        match owned[member].pop() {
            Some(partition) => return Some(partition),
            None => balancer.exclude_most_loaded(),
        }
    }
}
