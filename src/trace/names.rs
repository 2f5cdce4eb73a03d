//! What the metadata of a trace names at a moment: brokers, and topics with their numbers of partitions. Just
//! enough to know whether a change can be applied; hashes and racks are the history's business.

use crate::cluster::Change;
use crate::kafka::Uuid;
use std::collections::{BTreeMap, BTreeSet};

/// The brokers and topics that there are.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Names {
    /// The registered brokers.
    pub brokers: BTreeSet<i32>,
    /// The topics: id and number of partitions.
    pub topics: BTreeMap<String, (Uuid, i32)>,
}

impl Names {
    /// No broker and no topic.
    pub fn new() -> Self {
        Self::default()
    }

    /// Applies a change. If it cannot be applied, nothing happens, and the error is the field that is wrong and
    /// why.
    pub fn apply(&mut self, change: &Change) -> Result<(), (&'static str, String)> {
        match change {
            Change::RegisterBroker { id, .. } => {
                self.brokers.insert(*id);
            }
            Change::UnregisterBroker { id } | Change::FenceBroker { id, .. } => {
                if !self.brokers.contains(id) {
                    return Err(("id", format!("no broker {id} is registered here")));
                }
                if let Change::UnregisterBroker { .. } = change {
                    self.brokers.remove(id);
                }
            }
            Change::CreateTopic { name, id, replicas } => {
                if self.topics.contains_key(name) {
                    return Err((
                        "name",
                        format!("topic {name:?} is there already: delete it first, or choose another name"),
                    ));
                }
                if let Some(other) = self.topics.iter().find(|(_, (known, _))| known == id).map(|(name, _)| name) {
                    return Err(("id", format!("is the id of topic {other:?}: every topic needs its own")));
                }
                self.topics.insert(name.clone(), (*id, replicas.len() as i32));
            }
            Change::AddPartitions { topic, replicas } => {
                self.topic(topic)?.1 += replicas.len() as i32;
            }
            Change::ChangePartition { topic, partition, .. } => {
                let partitions = self.topic(topic)?.1;
                if !(0..partitions).contains(partition) {
                    let there = match partitions {
                        0 => "none".to_owned(),
                        1 => "only partition 0".to_owned(),
                        n => format!("partitions 0 to {}", n - 1),
                    };
                    return Err(("partition", format!("topic {topic:?} has no partition {partition}: it has {there}")));
                }
            }
            Change::DeleteTopic { topic } => {
                self.topic(topic)?;
                self.topics.remove(topic);
            }
        }
        Ok(())
    }

    fn topic(&mut self, name: &str) -> Result<&mut (Uuid, i32), (&'static str, String)> {
        self.topics.get_mut(name).ok_or_else(|| ("topic", format!("there is no topic {name:?} here")))
    }
}
