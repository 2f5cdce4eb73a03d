//! The cluster as it is in the last image: brokers, topics, and who hosts what.

use super::broker_ids::BrokerIds;
use super::racks::Racks;
use super::{ImageNumber, TopicIndex};
use crate::kafka::{JString, Uuid};
use crate::kernel::lookup::Lookup;
use std::collections::BTreeMap;

/// A registered broker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokerState {
    /// Its rack; `Some("")` is a rack.
    pub rack: Option<JString>,
    /// Whether it is fenced. A registration unfences: a broker that registers fenced, as KRaft's do at first, has a
    /// [`super::Change::FenceBroker`] after it.
    pub fenced: bool,
    pub(super) rack_number: Option<u16>,
}

/// A topic.
#[derive(Debug, Clone)]
pub struct TopicState {
    /// Its id.
    pub id: Uuid,
    /// Its partitions.
    pub partitions: Vec<PartitionState>,
    /// The image that brought it.
    pub(super) created_in: ImageNumber,
    /// Its place in the order of creation.
    pub(super) creation: u64,
}

/// A partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartitionState {
    /// The brokers that host it, the preferred leader first.
    pub replicas: BrokerIds,
    /// Its in-sync replicas.
    pub isr: BrokerIds,
    /// Its eligible leader replicas.
    pub elr: Box<[i32]>,
    /// Its leader; -1 is none.
    pub leader: i32,
}

impl PartitionState {
    /// A new partition: all replicas are in sync, the first one leads.
    pub(super) fn new(replicas: &[i32]) -> Self {
        let leader = replicas.first().copied().unwrap_or(-1);
        PartitionState { replicas: replicas.into(), isr: replicas.into(), elr: Box::default(), leader }
    }
}

/// The replicas on a broker, in order of topic index and partition: whole brokers are walked often, single replicas come
/// and go seldom, and new topics have the highest indexes.
#[derive(Debug, Default)]
struct Hosted(Vec<(TopicIndex, i32)>);

impl Hosted {
    fn insert(&mut self, replica: (TopicIndex, i32)) {
        let at = match self.0.last() {
            Some(last) if *last >= replica => self.0.partition_point(|other| *other < replica),
            _ => self.0.len(),
        };
        if self.0.get(at) != Some(&replica) {
            self.0.insert(at, replica);
        }
    }

    fn remove(&mut self, replica: (TopicIndex, i32)) {
        if let Ok(at) = self.0.binary_search(&replica) {
            self.0.remove(at);
        }
    }
}

/// The names of topics and their indexes.
#[derive(Debug, Default)]
pub(super) struct Names {
    pub texts: Vec<JString>,
    pub indexes: Lookup<JString, TopicIndex>,
}

impl Names {
    /// The index of a name, given on first use.
    pub fn index(&mut self, name: &str) -> TopicIndex {
        if let Some(index) = self.indexes.get(name) {
            return *index;
        }
        let index = TopicIndex(self.texts.len() as u32);
        let name = JString::from(name);
        self.texts.push(name.clone());
        self.indexes.insert(name, index);
        index
    }
}

/// Everything that changes act upon.
#[derive(Debug, Default)]
pub(super) struct State {
    pub brokers: BTreeMap<i32, BrokerState>,
    pub racks: Racks,
    pub names: Names,
    /// By index; `None` where the topic does not exist.
    topics: Vec<Option<TopicState>>,
    /// The name that each id has or had.
    pub ids: Lookup<Uuid, TopicIndex>,
    /// The existing topics in order of creation.
    pub created: BTreeMap<u64, TopicIndex>,
    hosted: BTreeMap<i32, Hosted>,
    creations: u64,
}

impl State {
    /// The topic of an index, if it exists.
    pub fn topic(&self, topic: TopicIndex) -> Option<&TopicState> {
        self.topics.get(topic.0 as usize)?.as_ref()
    }

    /// The topic of a name, if it exists.
    pub fn topic_named(&self, name: &str) -> Option<(TopicIndex, &TopicState)> {
        let index = *self.names.indexes.get(name)?;
        Some((index, self.topic(index)?))
    }

    /// The replicas on a broker, registered or not.
    pub fn hosted(&self, broker: i32) -> impl Iterator<Item = (TopicIndex, i32)> + '_ {
        self.hosted.get(&broker).into_iter().flat_map(|hosted| &hosted.0).copied()
    }

    /// The topics that have a replica on a broker.
    pub fn topics_on(&self, broker: i32) -> Vec<TopicIndex> {
        let mut topics: Vec<TopicIndex> = self.hosted(broker).map(|(topic, _)| topic).collect();
        topics.dedup();
        topics
    }

    /// Registers a broker, unfenced.
    pub fn register(&mut self, id: i32, rack: Option<&str>) {
        let rack_number = rack.map(|rack| self.racks.number(rack));
        self.brokers.insert(id, BrokerState { rack: rack.map(JString::from), fenced: false, rack_number });
    }

    /// Creates a topic without partitions.
    pub fn create_topic(&mut self, name: &str, id: Uuid, image: ImageNumber) -> TopicIndex {
        let index = self.names.index(name);
        let slot = index.0 as usize;
        if self.topics.len() <= slot {
            self.topics.resize_with(slot + 1, || None);
        }
        self.topics[slot] =
            Some(TopicState { id, partitions: Vec::new(), created_in: image, creation: self.creations });
        self.created.insert(self.creations, index);
        self.creations += 1;
        self.ids.insert(id, index);
        index
    }

    /// Appends partitions to a topic that exists.
    pub fn add_partitions(&mut self, index: TopicIndex, replicas: &[Vec<i32>]) {
        let Some(topic) = self.topics[index.0 as usize].as_mut() else { return };
        topic.partitions.reserve_exact(replicas.len());
        for replicas in replicas {
            let partition = topic.partitions.len() as i32;
            topic.partitions.push(PartitionState::new(replicas));
            for broker in replicas {
                self.hosted.entry(*broker).or_default().insert((index, partition));
            }
        }
    }

    /// A partition that exists, to be changed in all but its replicas.
    pub fn partition_mut(&mut self, topic: TopicIndex, partition: i32) -> Option<&mut PartitionState> {
        let topic = self.topics.get_mut(topic.0 as usize)?.as_mut()?;
        topic.partitions.get_mut(usize::try_from(partition).ok()?)
    }

    /// Moves a partition to other brokers. Says whether that is a change.
    pub fn set_replicas(&mut self, topic: TopicIndex, partition: i32, replicas: &[i32]) -> bool {
        let Some(state) = self.partition_mut(topic, partition) else { return false };
        if *state.replicas == *replicas {
            return false;
        }
        let before = std::mem::replace(&mut state.replicas, replicas.into());
        self.unhost(&before, topic, partition);
        for broker in replicas {
            self.hosted.entry(*broker).or_default().insert((topic, partition));
        }
        true
    }

    /// Deletes a topic; gives back what it was.
    pub fn delete_topic(&mut self, index: TopicIndex) -> Option<TopicState> {
        let topic = self.topics.get_mut(index.0 as usize)?.take()?;
        self.created.remove(&topic.creation);
        for (partition, state) in (0..).zip(&topic.partitions) {
            self.unhost(&state.replicas, index, partition);
        }
        Some(topic)
    }

    fn unhost(&mut self, replicas: &[i32], topic: TopicIndex, partition: i32) {
        for broker in replicas {
            if let Some(hosted) = self.hosted.get_mut(broker) {
                hosted.remove((topic, partition));
                if hosted.0.is_empty() {
                    self.hosted.remove(broker);
                }
            }
        }
    }
}
