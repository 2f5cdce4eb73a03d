//! Checks the changes of an image before any of them is applied.
//!
//! KRaft's replay accepts any list of broker ids, registered or not, and an empty one. What is refused here would make
//! the replay throw (an unknown topic, partition or broker), or cannot come from a controller (two topics with one id,
//! a broker twice in a list).

use super::history::ChangeError;
use super::racks::MAX_RACKS;
use super::state::State;
use super::{Change, TopicIndex};
use crate::kafka::Uuid;
use crate::kernel::lookup::Lookup;
use std::collections::BTreeSet;

/// What the changes before have made of the state, as far as later ones depend on it.
struct Check<'a> {
    state: &'a State,
    /// The number of partitions of topics that were created, deleted or grown; `None`: deleted.
    topics: Lookup<&'a str, Option<usize>>,
    /// The names of new topics, by id.
    ids: Lookup<Uuid, &'a str>,
    /// Brokers that were registered or unregistered.
    brokers: Lookup<i32, bool>,
    new_racks: BTreeSet<&'a str>,
}

/// All that is wrong with the changes of an image.
pub(super) fn check<'a>(state: &'a State, changes: impl IntoIterator<Item = &'a Change>) -> Vec<ChangeError> {
    let mut check =
        Check { state, topics: Lookup::new(), ids: Lookup::new(), brokers: Lookup::new(), new_racks: BTreeSet::new() };
    let wrong = |(position, change)| check.change(change).err().map(|message| ChangeError { position, message });
    changes.into_iter().enumerate().filter_map(wrong).collect()
}

impl<'a> Check<'a> {
    fn change(&mut self, change: &'a Change) -> Result<(), String> {
        match change {
            Change::RegisterBroker { id, rack } => self.register(*id, rack.as_deref()),
            Change::UnregisterBroker { id } => {
                self.broker(*id)?;
                self.brokers.insert(*id, false);
                Ok(())
            }
            Change::FenceBroker { id, .. } => self.broker(*id),
            Change::CreateTopic { name, id, replicas } => self.create(name, *id, replicas),
            Change::AddPartitions { topic, replicas } => {
                let partitions = self.partitions(topic)?;
                self.topics.insert(topic, Some(partitions + replicas.len()));
                new_partitions(partitions, replicas)
            }
            Change::ChangePartition { topic, partition, replicas, isr, leader, elr } => {
                self.partition(topic, *partition)?;
                let place = || format!("partition {partition} of topic {topic:?}");
                replicas.iter().try_for_each(|list| broker_list(list, "replicas", &place))?;
                isr.iter().try_for_each(|list| broker_list(list, "ISR", &place))?;
                elr.iter().try_for_each(|list| broker_list(list, "ELR", &place))?;
                match leader {
                    Some(leader) if *leader < -1 => {
                        Err(format!("{leader} cannot lead {}; give a broker's id, or -1 for no leader", place()))
                    }
                    _ => Ok(()),
                }
            }
            Change::DeleteTopic { topic } => {
                self.partitions(topic)?;
                self.topics.insert(topic, None);
                Ok(())
            }
        }
    }

    fn register(&mut self, id: i32, rack: Option<&'a str>) -> Result<(), String> {
        if id < 0 {
            return Err(format!("a broker cannot have the id {id}; ids are 0 or more"));
        }
        self.brokers.insert(id, true);
        if let Some(rack) = rack.filter(|rack| self.state.racks.number_of(rack).is_none()) {
            self.new_racks.insert(rack);
            if self.state.racks.len() + self.new_racks.len() > MAX_RACKS {
                return Err(format!("rack {rack:?} is one too many; a history holds at most {MAX_RACKS} racks"));
            }
        }
        Ok(())
    }

    fn broker(&self, id: i32) -> Result<(), String> {
        let registered = self.brokers.get(&id).copied();
        if registered.unwrap_or_else(|| self.state.brokers.contains_key(&id)) {
            Ok(())
        } else {
            Err(format!("broker {id} is not registered; register it first"))
        }
    }

    fn create(&mut self, name: &'a str, id: Uuid, replicas: &[Vec<i32>]) -> Result<(), String> {
        if self.partitions(name).is_ok() {
            return Err(format!("topic {name:?} exists already; delete it first, or add partitions to it"));
        }
        // A wrong topic is kept in mind too: what follows on it is no error of its own.
        self.topics.insert(name, Some(replicas.len()));
        if let Some(owner) = self.owner(id).filter(|owner| *owner != name) {
            return Err(format!("topic id {id} is or was that of topic {owner:?}; give topic {name:?} another one"));
        }
        self.ids.insert(id, name);
        new_partitions(0, replicas)
    }

    fn owner(&self, id: Uuid) -> Option<&'a str> {
        let name = |index: &TopicIndex| self.state.names.texts[index.0 as usize].as_str();
        self.ids.get(&id).copied().or_else(|| self.state.ids.get(&id).map(name))
    }

    fn partitions(&self, topic: &str) -> Result<usize, String> {
        let now = || self.state.topic_named(topic).map(|(_, topic)| topic.partitions.len());
        let partitions = self.topics.get(topic).copied().unwrap_or_else(now);
        partitions.ok_or_else(|| format!("there is no topic {topic:?}; create it first"))
    }

    fn partition(&self, topic: &str, partition: i32) -> Result<(), String> {
        let partitions = self.partitions(topic)?;
        if usize::try_from(partition).is_ok_and(|partition| partition < partitions) {
            return Ok(());
        }
        let there = match partitions {
            0 => "it has none".to_owned(),
            _ => format!("it has 0 to {}", partitions - 1),
        };
        Err(format!("topic {topic:?} has no partition {partition}; {there}"))
    }
}

fn new_partitions(first: usize, replicas: &[Vec<i32>]) -> Result<(), String> {
    let place = |partition| move || format!("new partition {partition}");
    (first..).zip(replicas).try_for_each(|(partition, list)| broker_list(list, "replicas", &place(partition)))
}

fn broker_list(list: &[i32], what: &str, place: &dyn Fn() -> String) -> Result<(), String> {
    for (position, id) in list.iter().enumerate() {
        if *id < 0 {
            return Err(format!("the {what} of {} name broker {id}; ids are 0 or more", place()));
        }
        if list[..position].contains(id) {
            return Err(format!("the {what} of {} name broker {id} twice; name each once", place()));
        }
    }
    Ok(())
}
