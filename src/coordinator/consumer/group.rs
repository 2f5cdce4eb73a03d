//! A consumer group: its state, and how records change it (`ConsumerGroup`).

use super::member::{Member, Owned};
use crate::coordinator::behaviour::Behaviour;
use crate::coordinator::group::{GroupBase, ReplayError};
use crate::coordinator::modern::{
    Modern, ModernGroup, SubscribedTopics, Subscription, SubscriptionCount, count, homogeneous_by_name,
};
use crate::kafka::java::{HashMap, TimelineMap};
use crate::kafka::{GroupKind, JString, Uuid};
use std::sync::Arc;

/// `ResolvedRegularExpression`.
#[derive(Debug, Clone, PartialEq)]
pub struct ResolvedRegex {
    /// The topics that match.
    pub topics: Arc<Subscription>,
    /// The image that was looked at.
    pub version: i64,
    /// When (Unix time in ms).
    pub timestamp_ms: i64,
}

/// A consumer group.
#[derive(Debug)]
pub struct ConsumerGroup {
    /// What groups of all kinds have.
    pub base: GroupBase,
    /// Members, subscriptions by name, target.
    pub modern: ModernGroup<Member>,
    /// Static members: instance id → member id.
    pub static_members: TimelineMap<JString, JString>,
    /// How many members ask for which assignor.
    pub assignors: TimelineMap<JString, i32>,
    /// How many members subscribe to which regular expression.
    pub regexes: TimelineMap<JString, i32>,
    /// The resolved regular expressions.
    pub resolved: TimelineMap<JString, ResolvedRegex>,
    /// The epoch at which each owned partition is owned.
    partition_epochs: TimelineMap<Uuid, TimelineMap<i32, i32>>,
}

impl Modern for ConsumerGroup {
    type Member = Member;

    fn base(&self) -> &GroupBase {
        &self.base
    }

    fn modern(&self) -> &ModernGroup<Member> {
        &self.modern
    }

    fn static_member_id(&self, instance_id: &str) -> Option<&JString> {
        self.static_members.get(instance_id)
    }

    /// Its own names, or the topics of its regular expression, or the union (`UnionSet`: the larger set, then what only
    /// the smaller one has).
    fn subscribed_names<'m>(&'m self, member: &'m Member) -> Box<dyn Iterator<Item = &'m JString> + 'm> {
        let own = &member.topics.names;
        let Some(resolved) = member.regex_or_none().and_then(|regex| self.resolved.get(regex)) else {
            return Box::new(own.iter());
        };
        let matched = &resolved.topics.names;
        if own.is_empty() {
            Box::new(matched.iter())
        } else if matched.is_empty() {
            Box::new(own.iter())
        } else if own.len() > matched.len() {
            Box::new(own.iter().chain(matched.iter().filter(|name| !own.contains(*name))))
        } else {
            Box::new(matched.iter().chain(own.iter().filter(|name| !matched.contains(*name))))
        }
    }
}

impl ConsumerGroup {
    /// A group that no record has been written of.
    pub fn new(id: JString, behaviour: &Behaviour) -> ConsumerGroup {
        ConsumerGroup {
            base: GroupBase::new(id, GroupKind::Consumer, behaviour),
            modern: ModernGroup::default(),
            static_members: TimelineMap::new(0),
            assignors: TimelineMap::new(0),
            regexes: TimelineMap::new(0),
            resolved: TimelineMap::new(0),
            partition_epochs: TimelineMap::new(0),
        }
    }

    /// The epoch at which a partition is owned; -1 when it is free.
    pub fn partition_epoch(&self, topic: Uuid, partition: i32) -> i32 {
        self.partition_epochs.get(&topic).and_then(|p| p.get(&partition)).copied().unwrap_or(-1)
    }

    /// The epoch at which each owned partition is owned.
    pub fn partition_epochs(&self) -> &TimelineMap<Uuid, TimelineMap<i32, i32>> {
        &self.partition_epochs
    }

    /// How many members subscribe to a regular expression.
    pub fn regex_members(&self, regex: &str) -> i32 {
        self.regexes.get(regex).copied().unwrap_or(0)
    }

    /// The subscribed topics as they will be once `old` is `new`.
    pub fn subscribed_after(&self, old: Option<&Member>, new: Option<&Member>) -> SubscribedTopics {
        let mut topics = self.modern.subscribed_after(old, new);
        // The last member of a regular expression takes what it matches along.
        if let Some(regex) = old.and_then(Member::regex_or_none)
            && new.and_then(Member::regex_or_none) != Some(regex)
            && self.regex_members(regex) == 1
            && let Some(resolved) = self.resolved.get(regex)
        {
            for name in resolved.topics.names.iter() {
                count(&mut topics, name, 0, -1);
            }
        }
        topics
    }

    /// Whether all members subscribe alike once `old` is `new` (`ConsumerGroup.subscriptionType`).
    pub fn homogeneous_after(&self, old: &Member, new: &Member, topics: &SubscribedTopics, members: i32) -> bool {
        let mut regexes: Vec<(JString, i32)> = self.regexes.iter().map(|(k, v)| (k.clone(), *v)).collect();
        if old.regex != new.regex {
            for (regex, change) in [(old.regex_or_none(), -1), (new.regex_or_none(), 1)] {
                let Some(regex) = regex else { continue };
                match regexes.iter_mut().find(|(name, _)| name == regex) {
                    Some((_, members)) => *members += change,
                    None => regexes.push((regex.clone(), change)),
                }
            }
            regexes.retain(|(_, members)| *members > 0);
        }
        homogeneous(regexes.iter().map(|(_, n)| *n), topics.values().copied(), members)
    }

    /// The assignor that most members ask for once `old` is `new`: ties go to the first in `HashMap` order.
    pub fn preferred_assignor(&self, old: &Member, new: &Member) -> Option<JString> {
        let mut counts: HashMap<JString, i32> =
            HashMap::copy_of(self.assignors.iter().map(|(k, v)| (k.clone(), *v)).collect::<Vec<_>>().into_iter());
        if let Some(name) = &old.assignor {
            match counts.get_mut(name) {
                Some(members) if *members > 1 => *members -= 1,
                _ => {
                    counts.remove(name);
                }
            }
        }
        if let Some(name) = &new.assignor {
            *counts.get_or_insert_with(name.clone(), || 0) += 1;
        }
        most_wanted(counts.iter()).cloned()
    }

    /// The assignor that most members ask for now: ties go to the first in the order of Kafka's timeline map.
    pub fn current_assignor(&self) -> Option<&JString> {
        most_wanted(self.assignors.iter())
    }
}

/// The first of the names with the highest count.
fn most_wanted<'a>(counts: impl Iterator<Item = (&'a JString, &'a i32)>) -> Option<&'a JString> {
    counts.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(name, _)| name)
}

fn homogeneous(
    mut regexes: impl Iterator<Item = i32>,
    mut topics: impl Iterator<Item = SubscriptionCount>,
    members: i32,
) -> bool {
    match regexes.next() {
        None => homogeneous_by_name(topics, members),
        // Kafka looks at one expression: if all members have it, there is no other.
        Some(count) => count == members && topics.all(|t| t.by_regex == 1 && t.by_name <= 0),
    }
}

/// What records do. `write` is the number of the write operation, for roll-backs.
impl ConsumerGroup {
    /// Puts a member in, or its new state.
    pub fn update_member(&mut self, new: Arc<Member>, behaviour: &Behaviour, write: u64) -> Result<(), ReplayError> {
        let old = self.modern.members.get(&new.id).cloned();
        self.modern.members.insert(new.id.clone(), new.clone(), write);
        self.update_counts(old.as_deref(), Some(&new), write);
        if let Some(old) = &old {
            self.remove_partition_epochs(old, behaviour, write)?;
        }
        self.add_partition_epochs(&new.assigned, new.epoch, behaviour, write)?;
        self.add_partition_epochs(&new.pending_revocation, new.epoch, behaviour, write)?;
        if let Some(instance) = old.as_ref().and_then(|old| old.instance_id.as_ref())
            && behaviour.old_instance_is_forgotten
        {
            self.static_members.remove(instance, write);
        }
        if let Some(instance) = &new.instance_id {
            self.static_members.insert(instance.clone(), new.id.clone(), write);
        }
        self.update_homogeneous(write);
        Ok(())
    }

    /// Takes a member out.
    pub fn remove_member(&mut self, id: &str, behaviour: &Behaviour, write: u64) -> Result<(), ReplayError> {
        let old = self.modern.members.get(id).cloned();
        self.modern.members.remove(id, write);
        self.update_counts(old.as_deref(), None, write);
        if let Some(old) = old {
            self.remove_partition_epochs(&old, behaviour, write)?;
            if let Some(instance) = &old.instance_id {
                self.static_members.remove(instance, write);
            }
        }
        self.update_homogeneous(write);
        Ok(())
    }

    fn update_homogeneous(&mut self, write: u64) {
        let subscribed = self.modern.subscribed.values().copied();
        let now = homogeneous(self.regexes.values().copied(), subscribed, self.modern.members.len() as i32);
        self.modern.set_homogeneous(now, write);
    }

    fn update_counts(&mut self, old: Option<&Member>, new: Option<&Member>, write: u64) {
        self.modern.update_subscriptions(old, new, write);
        for (member, change) in [(old, -1), (new, 1)] {
            if let Some(name) = member.and_then(|m| m.assignor.as_ref()) {
                add(&mut self.assignors, name, change, write);
            }
        }
        for (member, change) in [(old, -1), (new, 1)] {
            if let Some(regex) = member.and_then(Member::regex_or_none) {
                add(&mut self.regexes, regex, change, write);
            }
        }
    }

    /// Puts a resolved regular expression in, or takes it out.
    pub fn update_regex(&mut self, regex: &JString, new: Option<ResolvedRegex>, write: u64) {
        let old = self.resolved.get(regex).cloned();
        self.resolved.remove(regex, write);
        for name in old.iter().flat_map(|r| r.topics.names.iter()) {
            self.modern.count_subscription(name, 0, -1, write);
        }
        if let Some(new) = new {
            let topics = new.topics.clone();
            self.resolved.insert(regex.clone(), new, write);
            for name in topics.names.iter() {
                self.modern.count_subscription(name, 0, 1, write);
            }
        }
    }

    fn remove_partition_epochs(&mut self, old: &Member, behaviour: &Behaviour, write: u64) -> Result<(), ReplayError> {
        for owned in [&old.assigned, &old.pending_revocation] {
            for (topic, partitions) in owned.iter() {
                let Some(epochs) = self.partition_epochs.get_mut(topic) else {
                    if behaviour.partition_epochs_strict {
                        return Err(ReplayError::IllegalState(format!(
                            "cannot remove the epoch {} of {topic}: it has none",
                            old.epoch
                        )));
                    }
                    continue;
                };
                for partition in partitions.keys() {
                    let owned_at = epochs.get(partition).copied();
                    if owned_at == Some(old.epoch) {
                        epochs.remove(partition, write);
                    } else if behaviour.partition_epochs_strict {
                        return Err(ReplayError::IllegalState(format!(
                            "cannot remove the epoch {} of {topic}-{partition}: it is owned at {owned_at:?}",
                            old.epoch
                        )));
                    }
                }
                if epochs.is_empty() {
                    self.partition_epochs.remove(topic, write);
                } else {
                    self.partition_epochs.touch(topic, write);
                }
            }
        }
        Ok(())
    }

    fn add_partition_epochs(
        &mut self,
        owned: &Owned,
        epoch: i32,
        behaviour: &Behaviour,
        write: u64,
    ) -> Result<(), ReplayError> {
        for (topic, partitions) in owned {
            if self.partition_epochs.get(topic).is_none() {
                self.partition_epochs.insert(*topic, TimelineMap::new(partitions.len()), write);
            } else {
                self.partition_epochs.touch(topic, write);
            }
            let Some(epochs) = self.partition_epochs.get_mut(topic) else { continue };
            for &partition in partitions.keys() {
                if let Some(&owned_at) = epochs.get(&partition)
                    && (behaviour.partition_epochs_strict || owned_at >= epoch)
                {
                    return Err(ReplayError::IllegalState(format!(
                        "cannot set the epoch of {topic}-{partition} to {epoch}: it is still owned at {owned_at}"
                    )));
                }
                epochs.insert(partition, epoch, write);
            }
        }
        Ok(())
    }

    /// Goes back to the last committed write.
    pub fn revert(&mut self, write: u64) {
        self.base.revert(write);
        self.modern.revert(write);
        self.static_members.revert(write);
        self.assignors.revert(write);
        self.regexes.revert(write);
        self.resolved.revert(write);
        self.partition_epochs.revert_with(write, |epochs| epochs.revert(write));
    }
}

fn add(counts: &mut TimelineMap<JString, i32>, name: &JString, change: i32, write: u64) {
    let now = counts.get(name).copied().unwrap_or(0) + change;
    if now > 0 {
        counts.insert(name.clone(), now, write);
    } else {
        counts.remove(name, write);
    }
}
