//! What consumer and share groups have in common (`ModernGroup`): members that subscribe to topics by name, and a target
//! assignment of partitions.

use super::assignment::{Assignment, EMPTY, PartitionSet};
use super::group::{GroupBase, ReplayError, check_removal};
use super::timeline::Timeline;
use crate::kafka::java::{HashMap, HashSet, TimelineMap};
use crate::kafka::{JString, Uuid};
use std::sync::Arc;

/// How many members subscribe to a topic by name, and how many regular expressions match it (`SubscriptionCount`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SubscriptionCount {
    /// Members that name it.
    pub by_name: i32,
    /// Regular expressions that match it.
    pub by_regex: i32,
}

impl SubscriptionCount {
    fn or_none(self) -> Option<SubscriptionCount> {
        (self.by_name > 0 || self.by_regex > 0).then_some(self)
    }

    fn plus(self, by_name: i32, by_regex: i32) -> SubscriptionCount {
        SubscriptionCount { by_name: self.by_name + by_name, by_regex: self.by_regex + by_regex }
    }
}

/// The subscriptions of a group as counts; a refresh works on what they will be after the operation.
pub type SubscribedTopics = HashMap<JString, SubscriptionCount>;

/// Changes the count of a topic in a copy of the subscriptions.
pub fn count(topics: &mut SubscribedTopics, name: &JString, by_name: i32, by_regex: i32) {
    match topics.get(name).copied().unwrap_or_default().plus(by_name, by_regex).or_none() {
        Some(new) => {
            topics.insert(name.clone(), new);
        }
        None => {
            topics.remove(name);
        }
    }
}

/// A set of topic names: Java's order (for assignors) and the sorted one (for records).
#[derive(Debug, Clone, Default)]
pub struct Subscription {
    /// As Kafka keeps it: `new HashSet<>(list)`.
    pub names: HashSet<JString>,
    /// In Java's order of strings, each once.
    pub sorted: Vec<JString>,
}

impl Subscription {
    /// The set of the names in a list.
    pub fn new(list: &[JString]) -> Subscription {
        let names = HashSet::copy_of(list.iter().cloned());
        let mut sorted: Vec<JString> = names.iter().cloned().collect();
        sorted.sort();
        Subscription { names, sorted }
    }

    /// What a request says, in its own order although that may be an equal set; the old one where it says nothing.
    pub fn requested(old: &Arc<Subscription>, list: Option<&[JString]>) -> Arc<Subscription> {
        list.map_or_else(|| old.clone(), |list| Arc::new(Subscription::new(list)))
    }

    /// What a record says, which is in order of names.
    pub fn recorded(old: &Arc<Subscription>, list: &[JString]) -> Arc<Subscription> {
        if list == old.sorted { old.clone() } else { Arc::new(Subscription::new(list)) }
    }
}

impl PartialEq for Subscription {
    fn eq(&self, other: &Self) -> bool {
        self.sorted == other.sorted
    }
}

/// A member that subscribes to topics by name (`ModernGroupMember`).
pub trait ModernMember {
    /// Its id.
    fn id(&self) -> &JString;
    /// Its epoch.
    fn epoch(&self) -> i32;
    /// `group.instance.id` of a static member.
    fn instance_id(&self) -> Option<&JString>;
    /// `client.rack`.
    fn rack(&self) -> Option<&JString>;
    /// What it subscribes to by name.
    fn topics(&self) -> &Subscription;
}

/// A group whose members are such.
pub trait Modern {
    /// Its members.
    type Member: ModernMember;

    /// What groups of all kinds have.
    fn base(&self) -> &GroupBase;

    /// What such groups have.
    fn modern(&self) -> &ModernGroup<Self::Member>;

    /// The member that now has an instance id.
    fn static_member_id(&self, instance_id: &str) -> Option<&JString>;

    /// The names that a member subscribes to, in the order of Kafka's set.
    fn subscribed_names<'m>(&'m self, member: &'m Self::Member) -> Box<dyn Iterator<Item = &'m JString> + 'm>;
}

/// See the module.
#[derive(Debug)]
pub struct ModernGroup<M> {
    /// The members.
    pub members: TimelineMap<JString, Arc<M>>,
    /// The subscribed topics.
    pub subscribed: TimelineMap<JString, SubscriptionCount>,
    /// Whether all members subscribe alike; kept as of the last change of a member, as Kafka does.
    pub homogeneous: Timeline<bool>,
    /// The target assignment.
    pub target: TimelineMap<JString, Arc<Assignment>>,
    /// The target assignment by partition.
    pub inverted: TimelineMap<Uuid, TimelineMap<i32, JString>>,
}

impl<M> Default for ModernGroup<M> {
    fn default() -> Self {
        ModernGroup {
            members: TimelineMap::new(0),
            subscribed: TimelineMap::new(0),
            homogeneous: Timeline::new(true),
            target: TimelineMap::new(0),
            inverted: TimelineMap::new(0),
        }
    }
}

impl<M: ModernMember> ModernGroup<M> {
    /// The subscribed topics as they will be once `old` is `new`, by names.
    pub fn subscribed_after(&self, old: Option<&M>, new: Option<&M>) -> SubscribedTopics {
        let mut topics = SubscribedTopics::copy_of(
            self.subscribed.iter().map(|(k, v)| (k.clone(), *v)).collect::<Vec<_>>().into_iter(),
        );
        for (member, change) in [(old, -1), (new, 1)] {
            for name in member.into_iter().flat_map(|m| m.topics().names.iter()) {
                count(&mut topics, name, change, 0);
            }
        }
        topics
    }

    /// Before a member is taken out: whether there is one.
    ///
    /// # Errors
    /// The tombstones of its assignments must have come first.
    pub fn check_removal(&self, id: &JString) -> Result<bool, ReplayError> {
        let Some(member) = self.members.get(id) else { return Ok(false) };
        check_removal(id, member.epoch(), self.target.contains(id)).map(|()| true)
    }

    /// Counts the subscriptions of a member that is now `new`.
    pub fn update_subscriptions(&mut self, old: Option<&M>, new: Option<&M>, write: u64) {
        for (member, change) in [(old, -1), (new, 1)] {
            for name in member.into_iter().flat_map(|m| m.topics().names.iter()) {
                self.count_subscription(name, change, 0, write);
            }
        }
    }

    /// Changes the count of a topic.
    pub fn count_subscription(&mut self, name: &JString, by_name: i32, by_regex: i32, write: u64) {
        match self.subscribed.get(name).copied().unwrap_or_default().plus(by_name, by_regex).or_none() {
            Some(new) => {
                self.subscribed.insert(name.clone(), new, write);
            }
            None => {
                self.subscribed.remove(name, write);
            }
        }
    }

    /// Sets whether all members subscribe alike.
    pub fn set_homogeneous(&mut self, now: bool, write: u64) {
        if now != *self.homogeneous.get() {
            self.homogeneous.set(now, write);
        }
    }

    /// Sets the target of a member, or takes it out.
    pub fn set_target(&mut self, member: &JString, new: Option<Arc<Assignment>>, write: u64) {
        let old = self.target.get(member).cloned().unwrap_or_default();
        self.update_inverted(member, &old, new.as_ref().unwrap_or(&EMPTY), write);
        match new {
            Some(new) => self.target.insert(member.clone(), new, write),
            None => self.target.remove(member, write),
        };
    }

    fn update_inverted(&mut self, member: &JString, old: &Assignment, new: &Assignment, write: u64) {
        let empty = PartitionSet::Range(0..0);
        let mut topics: Vec<Uuid> = old.partitions.keys().chain(new.partitions.keys()).copied().collect();
        topics.sort();
        topics.dedup();
        for topic in topics {
            let old = old.partitions.get(&topic).unwrap_or(&empty);
            let new = new.partitions.get(&topic).unwrap_or(&empty);
            if self.inverted.get(&topic).is_none() {
                self.inverted.insert(topic, TimelineMap::new(old.len().max(new.len())), write);
            }
            let Some(owners) = self.inverted.get_mut(&topic) else { continue };
            // A partition may have gone to another member by a record that was replayed first: then it stays there.
            for partition in old.iter() {
                if !new.contains(partition) && owners.get(&partition) == Some(member) {
                    owners.remove(&partition, write);
                }
            }
            for partition in new.iter() {
                if !old.contains(partition) {
                    owners.insert(partition, member.clone(), write);
                }
            }
            if owners.is_empty() {
                self.inverted.remove(&topic, write);
            } else {
                self.inverted.touch(&topic, write);
            }
        }
    }

    /// Goes back to the last committed write.
    pub fn revert(&mut self, write: u64) {
        self.members.revert(write);
        self.subscribed.revert(write);
        self.homogeneous.revert(write);
        self.target.revert(write);
        self.inverted.revert_with(write, |owners| owners.revert(write));
    }
}

/// Whether all of so many members subscribe to the same names (`ModernGroup.subscriptionType`).
pub fn homogeneous_by_name(mut topics: impl Iterator<Item = SubscriptionCount>, members: i32) -> bool {
    topics.all(|topic| topic.by_name == members)
}
