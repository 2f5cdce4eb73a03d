//! An image in the making: applies changes and notes what Kafka's delta would say of them.
//!
//! Source: `TopicsDelta`, `ClusterDelta` of 3.9.1, 4.0.0, 4.1.1 and 4.3.1. All changes were checked before.

use super::state::State;
use super::{Change, ImageNumber, PartitionChange, TopicIndex};
use std::collections::{BTreeMap, BTreeSet};

/// A topic that is not changed stands nowhere.
const NOWHERE: u32 = u32::MAX;

/// What an image changes.
#[derive(Debug, Default)]
pub(super) struct Delta {
    image: ImageNumber,
    /// In order of first record; `None` where a deletion took the topic out again.
    changed: Vec<Option<TopicIndex>>,
    /// Where each topic stands in it, by index; [`NOWHERE`] if it does not.
    places: Vec<u32>,
    /// `TopicsDelta.deletedTopicIds`, by name.
    pub deleted: Vec<TopicIndex>,
    /// `TopicsDelta.createdTopics` of 4.3.1.
    created: BTreeSet<TopicIndex>,
    /// Whether a topic was created, although it may be deleted again: before 4.3, `RemoveTopicRecord` leaves
    /// `createdTopics` as it is.
    pub created_any: bool,
    /// The brokers with a registration record, in order of the first.
    pub registered: Vec<i32>,
    /// How each of them was registered before: not at all, or with which rack.
    rack_before: BTreeMap<i32, Option<Option<u16>>>,
    /// The topics whose replicas changed.
    moved: BTreeSet<TopicIndex>,
}

impl Delta {
    /// The delta of an image that no change was applied to yet, with what the one before [left](Self::into_places).
    pub fn new(image: ImageNumber, places: Vec<u32>) -> Self {
        Delta { image, places, ..Delta::default() }
    }

    /// A table of places for the next delta: to make it anew for each image would cost as much as there are topics.
    pub fn into_places(mut self) -> Vec<u32> {
        for topic in self.changed.iter().flatten() {
            self.places[topic.0 as usize] = NOWHERE;
        }
        self.places
    }

    /// Applies changes of partitions.
    pub fn apply_to_partitions(&mut self, state: &mut State, changes: &[PartitionChange]) {
        for change in changes {
            let Some(partition) = state.partition_mut(change.topic, change.partition) else { continue };
            if let Some(isr) = &change.isr {
                partition.isr.clone_from(isr);
            }
            partition.leader = change.leader.unwrap_or(partition.leader);
            self.change(change.topic);
        }
    }

    /// Applies a change.
    pub fn apply(&mut self, state: &mut State, change: &Change) {
        match change {
            Change::RegisterBroker { id, rack } => {
                self.registration(state, *id);
                state.register(*id, rack.as_deref());
            }
            Change::UnregisterBroker { id } => {
                self.registration(state, *id);
                state.brokers.remove(id);
            }
            Change::FenceBroker { id, fenced } => {
                if let Some(broker) = state.brokers.get_mut(id) {
                    broker.fenced = *fenced;
                }
            }
            Change::CreateTopic { name, id, replicas } => {
                let topic = state.create_topic(name, *id, self.image);
                state.add_partitions(topic, replicas);
                self.change(topic);
                self.created.insert(topic);
                self.created_any = true;
                self.moved.insert(topic);
            }
            // No partition is no record: nothing changes.
            Change::AddPartitions { replicas, .. } if replicas.is_empty() => {}
            Change::AddPartitions { topic, replicas } => {
                let topic = state.names.index(topic);
                state.add_partitions(topic, replicas);
                self.change(topic);
                self.moved.insert(topic);
            }
            Change::ChangePartition { topic, partition, replicas, isr, leader, elr } => {
                let topic = state.names.index(topic);
                self.change(topic);
                if replicas.as_ref().is_some_and(|replicas| state.set_replicas(topic, *partition, replicas)) {
                    self.moved.insert(topic);
                }
                if let Some(state) = state.partition_mut(topic, *partition) {
                    isr.iter().for_each(|isr| state.isr = isr.as_slice().into());
                    elr.iter().for_each(|elr| state.elr = elr.as_slice().into());
                    state.leader = leader.unwrap_or(state.leader);
                }
            }
            Change::DeleteTopic { topic } => {
                let topic = state.names.index(topic);
                self.delete(state, topic);
            }
        }
    }

    fn registration(&mut self, state: &State, id: i32) {
        if !self.rack_before.contains_key(&id) {
            self.registered.push(id);
            self.rack_before.insert(id, state.brokers.get(&id).map(|broker| broker.rack_number));
        }
    }

    fn change(&mut self, topic: TopicIndex) {
        let slot = topic.0 as usize;
        if self.places.len() <= slot {
            self.places.resize(slot + 1, NOWHERE);
        }
        if self.places[slot] == NOWHERE {
            self.places[slot] = self.changed.len() as u32;
            self.changed.push(Some(topic));
        }
    }

    fn delete(&mut self, state: &mut State, topic: TopicIndex) {
        if let Some(place) = self.places.get_mut(topic.0 as usize)
            && *place != NOWHERE
        {
            self.changed[*place as usize] = None;
            *place = NOWHERE;
        }
        self.created.remove(&topic);
        self.moved.insert(topic);
        if state.delete_topic(topic).is_some_and(|deleted| deleted.created_in < self.image) {
            self.deleted.push(topic);
        }
    }

    /// `TopicsDelta.changedTopics`, by name.
    pub fn changed(&self) -> Vec<TopicIndex> {
        self.changed.iter().flatten().copied().collect()
    }

    /// Whether `TopicsDelta.createdTopicIds` of 4.3.1 is not empty.
    pub fn creates_topics(&self) -> bool {
        !self.created.is_empty()
    }

    /// The topics whose content may have changed, in order of their indexes: those whose replicas did, and those on
    /// brokers that are registered otherwise than before.
    pub fn suspects(&mut self, state: &State) -> BTreeSet<TopicIndex> {
        let mut topics = std::mem::take(&mut self.moved);
        for (id, before) in &self.rack_before {
            if state.brokers.get(id).map(|broker| broker.rack_number) != *before {
                topics.extend(state.topics_on(*id));
            }
        }
        topics
    }

    /// The topics that brokers host which register (anew) in this image, in order of their indexes.
    pub fn rehosted(&self, state: &State) -> Vec<TopicIndex> {
        let there = self.registered.iter().filter(|id| state.brokers.contains_key(id));
        let mut topics: Vec<TopicIndex> = there.flat_map(|id| state.topics_on(*id)).collect();
        topics.sort_unstable();
        topics.dedup();
        topics
    }
}
