//! A consumer group: its state, and how records change it (`ConsumerGroup`, `ModernGroup`).
//!
//! Everything that records change can go back to the last committed write. What Kafka keeps outside its timeline
//! structures (the refresh deadline) does not go back here either.

use super::assignment::{Assignment, PartitionSet};
use super::behaviour::Behaviour;
use super::member::{Member, Owned, Subscription};
use super::protocol::HeartbeatError;
use super::timeline::Timeline;
use crate::cluster::ImageNumber;
use crate::kafka::java::{HashMap, TimelineMap};
use crate::kafka::{JString, Uuid};
use crate::kernel::TimeMs;
use crate::strategy::Seen;
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
}

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

/// A record that cannot be replayed: what Kafka throws.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// `IllegalStateException` (or a `NullPointerException` in its place).
    #[error("{0}")]
    IllegalState(String),
    /// `UnknownMemberIdException`.
    #[error("member {member} is not a member of group {group}")]
    UnknownMember {
        /// The group.
        group: JString,
        /// The member.
        member: JString,
    },
}

impl ReplayError {
    /// What a client is answered.
    pub fn answer(&self) -> HeartbeatError {
        match self {
            ReplayError::IllegalState(_) => HeartbeatError::UnknownServerError,
            ReplayError::UnknownMember { .. } => HeartbeatError::UnknownMemberId,
        }
    }
}

/// The subscriptions of a group as counts; a refresh works on what they will be after the operation.
pub type SubscribedTopics = HashMap<JString, SubscriptionCount>;

/// A consumer group.
#[derive(Debug)]
pub struct Group {
    /// Its id.
    pub id: JString,
    /// Its epoch.
    pub epoch: Timeline<i32>,
    /// The epoch of its target assignment, and when that was computed (Unix time in ms; 0 is unknown).
    pub assignment: Timeline<(i32, i64)>,
    /// What it stored of its topics at its last bump.
    pub stored: Timeline<Arc<Seen>>,
    /// Whether an old type-4 record must be taken back (4.1 on, after an upgrade).
    pub has_map_record: Timeline<bool>,
    /// Whether all members subscribe alike; kept as of the last change of a member, as Kafka does.
    pub homogeneous: Timeline<bool>,
    /// The members.
    pub members: TimelineMap<JString, Arc<Member>>,
    /// Static members: instance id → member id.
    pub static_members: TimelineMap<JString, JString>,
    /// How many members ask for which assignor.
    pub assignors: TimelineMap<JString, i32>,
    /// The subscribed topics.
    pub subscribed: TimelineMap<JString, SubscriptionCount>,
    /// How many members subscribe to which regular expression.
    pub regexes: TimelineMap<JString, i32>,
    /// The resolved regular expressions.
    pub resolved: TimelineMap<JString, ResolvedRegex>,
    /// The target assignment.
    pub target: TimelineMap<JString, Arc<Assignment>>,
    /// The target assignment by partition.
    pub inverted: TimelineMap<Uuid, TimelineMap<i32, JString>>,
    /// The epoch at which each owned partition is owned.
    partition_epochs: TimelineMap<Uuid, TimelineMap<i32, i32>>,
    /// Until when (and up to which group epoch) the metadata counts as fresh (`DeadlineAndEpoch`).
    pub refresh_deadline: (TimeMs, i32),
    /// The image at the last refresh; for explanations only.
    pub refreshed_at_image: Option<ImageNumber>,
}

impl Group {
    /// A group that no record has been written of.
    pub fn new(id: JString, behaviour: &Behaviour) -> Group {
        Group {
            id,
            epoch: Timeline::new(behaviour.first_group_epoch),
            assignment: Timeline::new((behaviour.first_group_epoch, 0)),
            stored: Timeline::new(Arc::default()),
            has_map_record: Timeline::new(false),
            homogeneous: Timeline::new(true),
            members: TimelineMap::new(0),
            static_members: TimelineMap::new(0),
            assignors: TimelineMap::new(0),
            subscribed: TimelineMap::new(0),
            regexes: TimelineMap::new(0),
            resolved: TimelineMap::new(0),
            target: TimelineMap::new(0),
            inverted: TimelineMap::new(0),
            partition_epochs: TimelineMap::new(0),
            refresh_deadline: (0, 0),
            refreshed_at_image: None,
        }
    }

    /// The static member of an instance id.
    ///
    /// # Errors
    /// Before 4.4 a member that changes its instance id stays known under the old one too, even when it is gone: Kafka
    /// then finds its id but not the member.
    pub fn static_member(&self, instance_id: &str) -> Result<Option<&Arc<Member>>, HeartbeatError> {
        let Some(id) = self.static_members.get(instance_id) else { return Ok(None) };
        self.members.get(id).map(Some).ok_or(HeartbeatError::UnknownMemberId)
    }

    /// The target of a member; a static one that comes back under another id has that of its predecessor.
    pub fn target_of(&self, member: &str, instance_id: Option<&JString>) -> Arc<Assignment> {
        let owner = match instance_id {
            None => Some(member),
            Some(instance) => self.static_members.get(instance).map(JString::as_str),
        };
        owner.and_then(|id| self.target.get(id)).cloned().unwrap_or_default()
    }

    /// The epoch at which a partition is owned; -1 when it is free.
    pub fn partition_epoch(&self, topic: Uuid, partition: i32) -> i32 {
        self.partition_epochs.get(&topic).and_then(|p| p.get(&partition)).copied().unwrap_or(-1)
    }

    /// Whether the group must look at its metadata again.
    pub fn metadata_expired(&self, now_ms: TimeMs) -> bool {
        now_ms >= self.refresh_deadline.0 || *self.epoch.get() < self.refresh_deadline.1
    }

    /// How many members subscribe to a regular expression.
    pub fn regex_members(&self, regex: &str) -> i32 {
        self.regexes.get(regex).copied().unwrap_or(0)
    }

    /// The subscribed topics as they will be once `old` is `new`.
    pub fn subscribed_after(&self, old: Option<&Member>, new: Option<&Member>) -> SubscribedTopics {
        let mut topics = SubscribedTopics::copy_of(
            self.subscribed.iter().map(|(k, v)| (k.clone(), *v)).collect::<Vec<_>>().into_iter(),
        );
        for name in old.into_iter().flat_map(|m| m.topics.names.iter()) {
            count(&mut topics, name, -1, 0);
        }
        for name in new.into_iter().flat_map(|m| m.topics.names.iter()) {
            count(&mut topics, name, 1, 0);
        }
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

/// Changes the count of a topic in a copy of the subscriptions.
pub fn count(topics: &mut SubscribedTopics, name: &JString, by_name: i32, by_regex: i32) {
    let old = topics.get(name).copied().unwrap_or_default();
    let new = SubscriptionCount { by_name: old.by_name + by_name, by_regex: old.by_regex + by_regex };
    match new.or_none() {
        Some(new) => {
            topics.insert(name.clone(), new);
        }
        None => {
            topics.remove(name);
        }
    }
}

fn homogeneous(
    mut regexes: impl Iterator<Item = i32>,
    mut topics: impl Iterator<Item = SubscriptionCount>,
    members: i32,
) -> bool {
    match regexes.next() {
        None => topics.all(|t| t.by_name == members),
        // Kafka looks at one expression: if all members have it, there is no other.
        Some(count) => count == members && topics.all(|t| t.by_regex == 1 && t.by_name <= 0),
    }
}

/// What records do. `write` is the number of the write operation, for roll-backs.
impl Group {
    /// Puts a member in, or its new state.
    pub fn update_member(&mut self, new: Arc<Member>, behaviour: &Behaviour, write: u64) -> Result<(), ReplayError> {
        let old = self.members.get(&new.id).cloned();
        self.members.insert(new.id.clone(), new.clone(), write);
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
        let old = self.members.get(id).cloned();
        self.members.remove(id, write);
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
        let now =
            homogeneous(self.regexes.values().copied(), self.subscribed.values().copied(), self.members.len() as i32);
        if now != *self.homogeneous.get() {
            self.homogeneous.set(now, write);
        }
    }

    fn update_counts(&mut self, old: Option<&Member>, new: Option<&Member>, write: u64) {
        for (member, change) in [(old, -1), (new, 1)] {
            let Some(member) = member else { continue };
            for name in member.topics.names.iter() {
                self.count_subscription(name, change, 0, write);
            }
        }
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

    fn count_subscription(&mut self, name: &JString, by_name: i32, by_regex: i32, write: u64) {
        let old = self.subscribed.get(name).copied().unwrap_or_default();
        let new = SubscriptionCount { by_name: old.by_name + by_name, by_regex: old.by_regex + by_regex };
        match new.or_none() {
            Some(new) => {
                self.subscribed.insert(name.clone(), new, write);
            }
            None => {
                self.subscribed.remove(name, write);
            }
        }
    }

    /// Puts a resolved regular expression in, or takes it out.
    pub fn update_regex(&mut self, regex: &JString, new: Option<ResolvedRegex>, write: u64) {
        let old = self.resolved.get(regex).cloned();
        self.resolved.remove(regex, write);
        for name in old.iter().flat_map(|r| r.topics.names.iter()) {
            self.count_subscription(name, 0, -1, write);
        }
        if let Some(new) = new {
            let topics = new.topics.clone();
            self.resolved.insert(regex.clone(), new, write);
            for name in topics.names.iter() {
                self.count_subscription(name, 0, 1, write);
            }
        }
    }

    /// Sets the target of a member.
    pub fn update_target(&mut self, member: &JString, new: Arc<Assignment>, write: u64) {
        let old = self.target.get(member).cloned().unwrap_or_default();
        self.update_inverted(member, &old, &new, write);
        self.target.insert(member.clone(), new, write);
    }

    /// Takes the target of a member out.
    pub fn remove_target(&mut self, member: &JString, write: u64) {
        let old = self.target.get(member).cloned().unwrap_or_default();
        self.update_inverted(member, &old, &Assignment::default(), write);
        self.target.remove(member, write);
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
        self.epoch.revert(write);
        self.assignment.revert(write);
        self.stored.revert(write);
        self.has_map_record.revert(write);
        self.homogeneous.revert(write);
        self.members.revert(write);
        self.static_members.revert(write);
        self.assignors.revert(write);
        self.subscribed.revert(write);
        self.regexes.revert(write);
        self.resolved.revert(write);
        self.target.revert(write);
        self.inverted.revert_with(write, |owners| owners.revert(write));
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
