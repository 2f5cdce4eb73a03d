//! Metadata records → changes, with topics by name.
//!
//! Sources: `ClusterDelta`, `TopicsDelta`, `TopicDelta`, `PartitionRegistration` of `kafka-metadata` 4.3.1. What
//! would make them throw is an error here too.

use super::error::{ImportError, Place};
use super::groups::Group;
use super::records::MetadataRecord;
use super::{Counts, ImportedImage};
use crate::cluster::Change;
use crate::kafka::Uuid;
use std::collections::{BTreeMap, BTreeSet};

/// What an image is for; where several fit, the first of this list names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Delete,
    Create,
    Expand,
    Reassign,
    Register,
    Unregister,
    IsrShrink,
    IsrExpand,
    Leader,
    ClearElr,
    Partition,
    Fence,
    Unfence,
    Broker,
    Feature,
    Other,
}

impl Event {
    fn word(self) -> &'static str {
        match self {
            Event::Delete => "delete",
            Event::Create => "create",
            Event::Expand => "expand",
            Event::Reassign => "reassign",
            Event::Register => "register",
            Event::Unregister => "unregister",
            Event::IsrShrink => "isr-shrink",
            Event::IsrExpand => "isr-expand",
            Event::Leader => "leader",
            Event::ClearElr => "clear-elr",
            Event::Partition => "partition",
            Event::Fence => "fence",
            Event::Unfence => "unfence",
            Event::Broker => "broker",
            Event::Feature => "feature",
            Event::Other => "other",
        }
    }
}

/// The cluster as far as later records refer to it.
#[derive(Debug, Default)]
pub(super) struct Resolver {
    /// The epoch of each registered broker.
    brokers: BTreeMap<i32, i64>,
    topics: BTreeMap<Uuid, Topic>,
    names: BTreeMap<String, Uuid>,
    pub features: BTreeMap<String, i16>,
    pub errors: Vec<ImportError>,
    /// Topics and brokers that an error was told of: what follows from it is not told again.
    told: BTreeSet<String>,
}

#[derive(Debug)]
struct Topic {
    name: String,
    partitions: BTreeMap<i32, Partition>,
}

#[derive(Debug)]
struct Partition {
    in_sync: usize,
    has_elr: bool,
}

/// A `CreateTopic` or `AddPartitions` whose partitions are still coming.
#[derive(Debug)]
struct Growing {
    topic: Uuid,
    place: Place,
    /// Which change it is.
    change: usize,
    /// How many partitions there were before.
    first: i32,
    replicas: BTreeMap<i32, Vec<i32>>,
}

/// An image in the making.
#[derive(Debug, Default)]
struct Making {
    changes: Vec<Change>,
    growing: Vec<Growing>,
    events: BTreeSet<Event>,
}

impl Making {
    fn add(&mut self, event: Event, change: Change) {
        self.events.insert(event);
        self.changes.push(change);
    }
}

impl Resolver {
    /// The changes of an image.
    pub(super) fn image(&mut self, group: Group) -> ImportedImage {
        let mut making = Making::default();
        for (place, record) in group.records {
            if let Err((about, message)) = self.record(&mut making, &place, record) {
                self.tell(about, place, message);
            }
        }
        self.finish_growing(&mut making);
        let event = making.events.first().copied().unwrap_or(Event::Other).word();
        let event = if group.snapshot { "snapshot" } else { event };
        ImportedImage { offset: group.offset, unix_ms: group.unix_ms, event, changes: making.changes }
    }

    /// All errors, with the records that were skipped, as those may be the cause.
    pub(super) fn errors(self, counts: &Counts) -> Vec<ImportError> {
        let mut errors = self.errors;
        if !errors.is_empty() && !counts.skipped.is_empty() {
            let skipped = counts.skipped.iter().map(|(kind, count)| format!("{count} of {kind}"));
            errors.push(ImportError::Skipped(skipped.collect::<Vec<_>>().join(", ")));
        }
        errors
    }

    fn tell(&mut self, about: String, place: Place, message: String) {
        if self.told.insert(about) {
            self.errors.push(ImportError::Record { place, message });
        }
    }

    /// Applies a record. An error comes with what it is about.
    fn record(&mut self, making: &mut Making, place: &Place, record: MetadataRecord) -> Result<(), (String, String)> {
        match record {
            MetadataRecord::RegisterBroker { id, epoch, rack, fenced } => {
                self.brokers.insert(id, epoch);
                making.add(Event::Register, Change::RegisterBroker { id, rack });
                if fenced {
                    making.add(Event::Fence, Change::FenceBroker { id, fenced });
                }
            }
            MetadataRecord::UnregisterBroker { id } => {
                // Kafka takes a broker out that is not there without a word.
                if self.brokers.remove(&id).is_some() {
                    making.add(Event::Unregister, Change::UnregisterBroker { id });
                }
            }
            MetadataRecord::ChangeBroker { id, epoch, fenced } => {
                self.broker(id, epoch)?;
                match fenced {
                    Some(fenced) => {
                        let event = if fenced { Event::Fence } else { Event::Unfence };
                        making.add(event, Change::FenceBroker { id, fenced });
                    }
                    None => {
                        making.events.insert(Event::Broker);
                    }
                }
            }
            MetadataRecord::Topic { name, id } => self.create(making, place, name, id)?,
            MetadataRecord::Partition { .. } => self.partition(making, place, record)?,
            MetadataRecord::PartitionChange { .. } => self.change(making, record)?,
            MetadataRecord::RemoveTopic { id } => {
                let topic = self.topics.remove(&id).ok_or_else(|| no_topic(id))?;
                self.names.remove(&topic.name);
                making.add(Event::Delete, Change::DeleteTopic { topic: topic.name });
            }
            MetadataRecord::ClearElr { topic } => self.clear_elr(making, topic)?,
            MetadataRecord::FeatureLevel { name, level } => {
                making.events.insert(Event::Feature);
                match level {
                    0 => self.features.remove(&name),
                    level => self.features.insert(name, level),
                };
            }
            MetadataRecord::BeginTransaction
            | MetadataRecord::EndTransaction
            | MetadataRecord::AbortTransaction
            | MetadataRecord::NoOp
            | MetadataRecord::Other => {
                making.events.insert(Event::Other);
            }
        }
        Ok(())
    }

    fn broker(&self, id: i32, epoch: i64) -> Result<(), (String, String)> {
        let message = match self.brokers.get(&id) {
            Some(registered) if *registered == epoch => return Ok(()),
            Some(registered) => format!("broker {id} is changed with epoch {epoch}; its registration has {registered}"),
            None => format!("broker {id} is changed, but no record before registers it"),
        };
        Err((format!("broker {id}"), message))
    }

    fn create(&mut self, making: &mut Making, place: &Place, name: String, id: Uuid) -> Result<(), (String, String)> {
        if let Some(other) = self.names.get(&name) {
            return Err((format!("topic {id}"), format!("topic {name} exists already, with id {other}")));
        }
        if let Some(other) = self.topics.get(&id) {
            return Err((format!("topic {id}"), format!("topic id {id} is that of topic {} already", other.name)));
        }
        self.names.insert(name.clone(), id);
        self.topics.insert(id, Topic { name: name.clone(), partitions: BTreeMap::new() });
        let (place, change) = (place.clone(), making.changes.len());
        making.growing.push(Growing { topic: id, place, change, first: 0, replicas: BTreeMap::new() });
        making.add(Event::Create, Change::CreateTopic { name, id, replicas: Vec::new() });
        Ok(())
    }

    fn partition(
        &mut self,
        making: &mut Making,
        place: &Place,
        record: MetadataRecord,
    ) -> Result<(), (String, String)> {
        let MetadataRecord::Partition { topic_id, partition, replicas, isr, leader, elr } = record else {
            return Ok(());
        };
        let topic = self.topics.get_mut(&topic_id).ok_or_else(|| no_topic(topic_id))?;
        let first = topic.partitions.len() as i32;
        let state = Partition { in_sync: isr.len(), has_elr: !elr.is_empty() };
        let overwritten = topic.partitions.insert(partition, state).is_some();
        let as_created = !overwritten && isr == replicas && elr.is_empty() && replicas.first() == Some(&leader);
        if !overwritten {
            let growing = match making.growing.iter_mut().rev().find(|growing| growing.topic == topic_id) {
                Some(growing) => growing,
                None => {
                    let add = Change::AddPartitions { topic: topic.name.clone(), replicas: Vec::new() };
                    let (place, change) = (place.clone(), making.changes.len());
                    making.events.insert(Event::Expand);
                    making.changes.push(add);
                    making.growing.push(Growing { topic: topic_id, place, change, first, replicas: BTreeMap::new() });
                    making.growing.last_mut().expect("just pushed")
                }
            };
            growing.replicas.insert(partition, replicas.clone());
        }
        if !as_created {
            let change = Change::ChangePartition {
                topic: topic.name.clone(),
                partition,
                replicas: overwritten.then_some(replicas),
                isr: Some(isr),
                leader: Some(leader),
                elr: Some(elr),
            };
            making.add(Event::Partition, change);
        }
        Ok(())
    }

    /// Puts the new partitions into their changes, and checks that none is left out.
    fn finish_growing(&mut self, making: &mut Making) {
        for growing in std::mem::take(&mut making.growing) {
            let (Change::CreateTopic { name: topic, replicas, .. } | Change::AddPartitions { topic, replicas }) =
                &mut making.changes[growing.change]
            else {
                continue;
            };
            if let Some((expected, found)) =
                (growing.first..).zip(growing.replicas.keys()).find(|(expected, found)| expected != *found)
            {
                let message = format!("topic {topic} gets partition {found}, but has no partition {expected}");
                self.tell(format!("topic {}", growing.topic), growing.place, message);
            } else {
                *replicas = growing.replicas.into_values().collect();
            }
        }
    }

    fn change(&mut self, making: &mut Making, record: MetadataRecord) -> Result<(), (String, String)> {
        let MetadataRecord::PartitionChange { topic_id, partition, replicas, isr, leader, elr } = record else {
            return Ok(());
        };
        let topic = self.topics.get_mut(&topic_id).ok_or_else(|| no_topic(topic_id))?;
        let state = topic.partitions.get_mut(&partition).ok_or_else(|| {
            let message = format!("topic {} has no partition {partition}, but that one changes", topic.name);
            (format!("topic {topic_id} partition {partition}"), message)
        })?;
        let before = state.in_sync;
        state.in_sync = isr.as_ref().map_or(before, Vec::len);
        state.has_elr = elr.as_ref().map_or(state.has_elr, |elr| !elr.is_empty());
        let event = match (&replicas, state.in_sync.cmp(&before), leader) {
            (Some(_), _, _) => Event::Reassign,
            (None, std::cmp::Ordering::Less, _) => Event::IsrShrink,
            (None, std::cmp::Ordering::Greater, _) => Event::IsrExpand,
            (None, std::cmp::Ordering::Equal, Some(_)) => Event::Leader,
            (None, std::cmp::Ordering::Equal, None) => Event::Partition,
        };
        let topic = topic.name.clone();
        making.add(event, Change::ChangePartition { topic, partition, replicas, isr, leader, elr });
        Ok(())
    }

    /// `TopicsDelta.replay(ClearElrRecord)`: puts the topic into the delta even if it has no ELR to be cleared.
    fn clear_elr(&mut self, making: &mut Making, name: Option<String>) -> Result<(), (String, String)> {
        making.events.insert(Event::ClearElr);
        if let Some(name) = name.as_ref().filter(|name| !self.names.contains_key(*name)) {
            return Err((
                format!("ELR of {name}"),
                format!("the ELR of topic {name} is dropped, but there is no such topic"),
            ));
        }
        let meant = |topic: &&mut Topic| name.as_ref().is_none_or(|name| *name == topic.name);
        for topic in self.topics.values_mut().filter(meant) {
            if topic.partitions.is_empty() {
                continue;
            }
            let with_elr: Vec<i32> =
                topic.partitions.iter().filter(|(_, state)| state.has_elr).map(|(partition, _)| *partition).collect();
            topic.partitions.values_mut().for_each(|state| state.has_elr = false);
            let (partitions, elr) = if with_elr.is_empty() { (vec![0], None) } else { (with_elr, Some(Vec::new())) };
            making.changes.extend(partitions.into_iter().map(|partition| Change::ChangePartition {
                topic: topic.name.clone(),
                partition,
                replicas: None,
                isr: None,
                leader: None,
                elr: elr.clone(),
            }));
        }
        Ok(())
    }
}

fn no_topic(id: Uuid) -> (String, String) {
    (format!("topic {id}"), format!("topic id {id}, which no record before gives to a topic"))
}
