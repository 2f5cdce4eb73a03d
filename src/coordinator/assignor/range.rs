//! `RangeAssignor` (the same in Kafka 3.9.1 to 4.3.1): every topic is cut into contiguous ranges, one for each
//! subscriber in order.

use super::{AssignorError, GroupAssignment, GroupSpec, MemberSpec};
use crate::coordinator::assignment::{Assignment, PartitionSet};
use crate::kafka::java::{HashMap, JString};
use crate::kafka::uuid::Uuid;
use crate::kernel::lookup::Lookup;
use std::cmp::Ordering;
use std::ops::Range;
use std::sync::Arc;

/// A topic that is being cut.
struct Topic {
    num_partitions: i32,
    subscribers: i32,
    /// How many subscribers have had their range.
    served: i32,
    next: i32,
}

impl Topic {
    /// The next subscriber's range: the first `num_partitions % subscribers` of them get one partition more.
    fn cut(&mut self) -> Range<i32> {
        let extra = i32::from(self.served < self.num_partitions % self.subscribers);
        let start = self.next;
        self.next = (start + self.num_partitions / self.subscribers + extra).min(self.num_partitions);
        self.served += 1;
        start..self.next
    }
}

pub(super) fn assign(group: &GroupSpec<'_>) -> Result<GroupAssignment, AssignorError> {
    let mut members: Vec<(&JString, &MemberSpec)> = group.members.iter().collect();
    members.sort_by(|a, b| static_members_first(*a, *b));
    // In a homogeneous group Kafka asks the first member only, whose set may be walked in an order of its own.
    let common = members.first().filter(|_| group.homogeneous).map(|&(_, member)| member);

    let mut topics = Lookup::<Uuid, Topic>::new();
    for &(_, member) in &members {
        for &topic_id in common.unwrap_or(member).subscribed.iter() {
            match topics.get_mut(&topic_id) {
                Some(topic) => topic.subscribers += 1,
                None => {
                    let num_partitions = group.partitions_of(topic_id)?;
                    topics.insert(topic_id, Topic { num_partitions, subscribers: 1, served: 0, next: 0 });
                }
            }
        }
    }

    let mut assignments = HashMap::with_room_for(members.len());
    for (member_id, member) in members {
        let room = common.map_or(member.subscribed_names, |common| common.subscribed.len());
        let mut partitions = HashMap::with_room_for(room);
        for &topic_id in common.unwrap_or(member).subscribed.iter() {
            let range = topics.get_mut(&topic_id).map_or(0..0, Topic::cut);
            if !range.is_empty() {
                partitions.insert(topic_id, PartitionSet::Range(range));
            }
        }
        assignments.insert(member_id.clone(), Arc::new(Assignment { partitions }));
    }
    Ok(assignments)
}

/// Static members by instance id, then the others by member id.
fn static_members_first(a: (&JString, &MemberSpec), b: (&JString, &MemberSpec)) -> Ordering {
    match (&a.1.instance_id, &b.1.instance_id) {
        (Some(a), Some(b)) => a.cmp(b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.0.cmp(b.0),
    }
}
