//! How far the share partitions of a group are: their state must be initialised, by the share coordinator's persister,
//! before they can be assigned (`ShareGroupStatePartitionMetadata`).
//!
//! The persister answers in the background, and always well. State is deleted on request of an admin only, which is not
//! modelled: no topic is ever among those that are being deleted.

use super::ShareGroup;
use crate::coordinator::assignment::Assignment;
use crate::coordinator::operation::{Background, Operation};
use crate::coordinator::shard::Shard;
use crate::kafka::records::share::{StatePartitionMetadata, TopicPartitionsInfo};
use crate::kafka::records::{RecordType, Value};
use crate::kafka::{JString, Uuid};
use crate::kernel::TimeMs;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Partitions of topics.
pub type TopicPartitions = BTreeMap<Uuid, BTreeSet<i32>>;

/// Some partitions of a topic (`InitMapValue`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicStates {
    /// The topic's name.
    pub name: JString,
    /// The partitions.
    pub partitions: BTreeSet<i32>,
    /// When the record was replayed that says so.
    pub since_ms: TimeMs,
}

/// The share partitions of a group (`ShareGroupStatePartitionMetadataInfo`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SharePartitionStates {
    /// Those whose state is being initialised.
    pub initializing: BTreeMap<Uuid, TopicStates>,
    /// Those whose state is initialised.
    pub initialized: BTreeMap<Uuid, TopicStates>,
}

impl SharePartitionStates {
    /// From a record that is replayed at that time.
    pub fn from_record(value: &StatePartitionMetadata, now_ms: TimeMs) -> SharePartitionStates {
        let states = |topics: &[TopicPartitionsInfo]| {
            let topics = topics.iter().map(|topic| {
                let partitions = topic.partitions.iter().copied().collect();
                (topic.topic_id, TopicStates { name: topic.topic_name.clone(), partitions, since_ms: now_ms })
            });
            topics.collect()
        };
        SharePartitionStates {
            initializing: states(&value.initializing_topics),
            initialized: states(&value.initialized_topics),
        }
    }

    fn to_record(&self) -> StatePartitionMetadata {
        let infos = |topics: &BTreeMap<Uuid, TopicStates>| {
            let topics = topics.iter().map(|(topic_id, states)| TopicPartitionsInfo {
                topic_id: *topic_id,
                topic_name: states.name.clone(),
                partitions: states.partitions.iter().copied().collect(),
            });
            topics.collect()
        };
        StatePartitionMetadata {
            initializing_topics: infos(&self.initializing),
            initialized_topics: infos(&self.initialized),
            deleting_topics: Vec::new(),
        }
    }

    /// Whether a partition's state is initialised.
    pub fn is_initialized(&self, topic: Uuid, partition: i32) -> bool {
        self.initialized.get(&topic).is_some_and(|states| states.partitions.contains(&partition))
    }
}

/// Share partitions whose state was asked to be initialised.
#[derive(Debug)]
pub(in crate::coordinator) struct Initialization {
    group: JString,
    partitions: TopicPartitions,
}

impl Shard<'_> {
    /// Whether partitions are initialised that the target does not give to anyone (`initializedAssignmentPending`).
    pub(super) fn initialized_assignment_pending(&self, group: &ShareGroup) -> bool {
        let Some(states) = self.share_partitions.get(&group.base.id) else { return false };
        let assigned = || all_assigned(group.modern.target.values());
        if self.settings.behaviour.share_initialization_is_compared_whole {
            let initialized: TopicPartitions =
                states.initialized.iter().map(|(topic, states)| (*topic, states.partitions.clone())).collect();
            return initialized != assigned();
        }
        let is_pending = group.base.assignment.get().0 < *group.base.epoch.get();
        let mut subscribed =
            states.initialized.iter().filter(|(_, states)| group.modern.subscribed.contains(&states.name)).peekable();
        if is_pending || subscribed.peek().is_none() {
            return false;
        }
        let assigned = assigned();
        subscribed.any(|(topic, states)| assigned.get(topic) != Some(&states.partitions))
    }

    /// Asks for the state of subscribed partitions to be initialised that is not yet, or was asked for too long ago
    /// (`maybeCreateInitializeShareGroupStateRequest`).
    pub(super) fn initialize_share_partitions(
        &self,
        operation: &mut Operation,
        group: &JString,
        subscribed: impl Iterator<Item = JString>,
    ) {
        let now_ms = operation.now_ms;
        let retry_ms = self.settings.config.share_initialize_retry_interval_ms;
        let states = self.share_partitions.get(group);
        let mut missing: BTreeMap<Uuid, TopicStates> = BTreeMap::new();
        for name in subscribed {
            let Some(index) = self.history.index_of(&name) else { continue };
            let Some(topic) = self.history.version_at(index, self.image) else { continue };
            let initialized = states.and_then(|states| states.initialized.get(&topic.id));
            let asked_for = states.and_then(|states| states.initializing.get(&topic.id));
            let known: BTreeSet<i32> = initialized
                .into_iter()
                .chain(asked_for.filter(|states| now_ms - states.since_ms < retry_ms))
                .flat_map(|states| states.partitions.iter().copied())
                .collect();
            if (known.len() as i64) < i64::from(topic.num_partitions()) {
                let partitions = (0..topic.num_partitions()).filter(|partition| !known.contains(partition)).collect();
                missing.insert(topic.id, TopicStates { name, partitions, since_ms: now_ms });
            }
        }
        if missing.is_empty() {
            return;
        }
        let partitions = missing.iter().map(|(topic, states)| (*topic, states.partitions.clone())).collect();
        let mut next = states.map(|states| (**states).clone()).unwrap_or_default();
        add(&mut next.initializing, missing);
        add_states(operation, group, &next);
        operation.after_write = Some(Background::Initialize(Initialization { group: group.clone(), partitions }));
    }

    /// The persister has initialised the state of partitions (`initializeShareGroupState`).
    pub(in crate::coordinator) fn share_partitions_are_initialized(
        &self,
        operation: &mut Operation,
        task: &Initialization,
    ) {
        let states = self.share_partitions.get(&task.group);
        let mut next = states.map(|states| (**states).clone()).unwrap_or_default();
        for (topic, partitions) in &task.partitions {
            if let Some(states) = next.initializing.get_mut(topic) {
                states.partitions.retain(|partition| !partitions.contains(partition));
            }
        }
        next.initializing.retain(|topic, states| !task.partitions.contains_key(topic) || !states.partitions.is_empty());
        let initialized = task.partitions.iter().map(|(topic, partitions)| {
            let name = self.name_of_id(*topic).cloned().unwrap_or_else(|| JString::from("<UNKNOWN>"));
            (*topic, TopicStates { name, partitions: partitions.clone(), since_ms: operation.now_ms })
        });
        add(&mut next.initialized, initialized.collect());
        add_states(operation, &task.group, &next);
    }

    /// Topics have been deleted, and the state of their partitions with them (`maybeCleanupShareGroupState`).
    pub(in crate::coordinator) fn forget_share_partitions(&self, operation: &mut Operation, deleted: &[Uuid]) {
        for (group, states) in self.share_partitions.iter() {
            let mut next = (**states).clone();
            next.initializing.retain(|topic, _| !deleted.contains(topic));
            next.initialized.retain(|topic, _| !deleted.contains(topic));
            if next != **states {
                add_states(operation, group, &next);
            }
        }
    }
}

/// All partitions that a target gives to anyone. A topic of which it gives none may be there too.
fn all_assigned<'a>(target: impl Iterator<Item = &'a Arc<Assignment>>) -> TopicPartitions {
    let mut all = TopicPartitions::new();
    for (topic, partitions) in target.flat_map(|assignment| assignment.partitions.iter()) {
        all.entry(*topic).or_default().extend(partitions.iter());
    }
    all
}

/// `combineInitMaps`.
fn add(states: &mut BTreeMap<Uuid, TopicStates>, more: BTreeMap<Uuid, TopicStates>) {
    for (topic, mut new) in more {
        if let Some(old) = states.get_mut(&topic) {
            new.partitions.append(&mut old.partitions);
        }
        states.insert(topic, new);
    }
}

fn add_states(operation: &mut Operation, group: &JString, states: &SharePartitionStates) {
    let value = Value::ShareStatePartitionMetadata(Arc::new(states.to_record()));
    operation.add_group(RecordType::ShareGroupStatePartitionMetadata, group, Some(value));
}
