//! Builds a history from changes.

use super::check::check;
use super::content::{COVERAGES, Content, ContentHash, content_hashes};
use super::delta::Delta;
use super::history::{ChangeError, Versions};
use super::state::{BrokerState, PartitionState, State, TopicState};
use super::{Change, Changes, History, ImageNumber, PartitionChange, TopicIndex, TopicVersion};
use crate::cluster::history::Image;
use crate::kafka::hash::TopicHasher;
use crate::kernel::TimeMs;
use std::sync::Arc;

/// The topic whose leaders say where the coordinator's shards live.
const OFFSETS_TOPIC: &str = "__consumer_offsets";

/// Builds a history, image by image.
#[derive(Debug)]
pub struct HistoryBuilder {
    state: State,
    images: Vec<Image>,
    records: Vec<TopicRecord>,
    leaders: Vec<Vec<(ImageNumber, i32)>>,
    offsets_replicas: Vec<u32>,
    hasher: TopicHasher,
    /// What [`Delta::new`] takes.
    places: Vec<u32>,
    /// The changes of every image, if they are kept.
    changes: Option<Vec<Box<[Change]>>>,
}

/// Changes that are published.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part<'c> {
    One(&'c Change),
    Partitions(&'c [PartitionChange]),
}

impl<'c> From<&'c Changes> for Part<'c> {
    fn from(changes: &'c Changes) -> Self {
        match changes {
            Changes::One(change) => Part::One(change),
            Changes::Partitions(partitions) => Part::Partitions(partitions),
        }
    }
}

/// What is recorded of a topic name.
#[derive(Debug, Default)]
struct TopicRecord {
    versions: Versions,
    /// For each coverage the first version of each class, with its hash.
    classes: [Vec<(i64, Arc<TopicVersion>)>; 3],
}

impl Default for HistoryBuilder {
    fn default() -> Self {
        Self::new()
    }
}

impl HistoryBuilder {
    /// A builder at the empty image.
    pub fn new() -> Self {
        HistoryBuilder {
            state: State::default(),
            images: vec![Image::default()],
            records: Vec::new(),
            leaders: Vec::new(),
            offsets_replicas: Vec::new(),
            hasher: TopicHasher::new(),
            places: Vec::new(),
            changes: None,
        }
    }

    /// The same, for a history that knows the [changes](History::changes) of its images.
    pub fn keeping_changes() -> Self {
        HistoryBuilder { changes: Some(vec![Box::default()]), ..Self::new() }
    }

    /// Publishes an image: applies the changes in order; if any is wrong, gives all errors and publishes nothing.
    /// Times may repeat but never go back.
    pub fn publish(
        &mut self,
        time_ms: TimeMs,
        event: &str,
        changes: &[Change],
    ) -> Result<ImageNumber, Vec<ChangeError>> {
        let errors = check(&self.state, changes);
        self.publish_checked(time_ms, event, errors, changes.iter().map(Part::One))
    }

    /// The same, of changes some of which are by index; these were computed by this builder from how things are now.
    pub fn publish_effects(
        &mut self,
        time_ms: TimeMs,
        event: &str,
        changes: &[Changes],
    ) -> Result<ImageNumber, Vec<ChangeError>> {
        let parts = changes.iter().map(Part::from);
        let named = parts.clone().filter_map(|part| if let Part::One(change) = part { Some(change) } else { None });
        let errors = check(&self.state, named);
        self.publish_checked(time_ms, event, errors, parts)
    }

    fn publish_checked<'c>(
        &mut self,
        time_ms: TimeMs,
        event: &str,
        mut errors: Vec<ChangeError>,
        changes: impl Iterator<Item = Part<'c>> + Clone,
    ) -> Result<ImageNumber, Vec<ChangeError>> {
        if time_ms < self.last_time_ms() {
            let message = format!("time {time_ms} ms is before the last image's; give {} or more", self.last_time_ms());
            errors.insert(0, ChangeError { position: 0, message });
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let number = self.images.len() as ImageNumber;
        if self.changes.is_some() {
            let named: Box<[Change]> = changes.clone().flat_map(|part| self.named(part)).collect();
            self.changes.get_or_insert_default().push(named);
        }
        let mut delta = Delta::new(number, std::mem::take(&mut self.places));
        for part in changes {
            match part {
                Part::One(change) => delta.apply(&mut self.state, change),
                Part::Partitions(changes) => delta.apply_to_partitions(&mut self.state, changes),
            }
        }
        let suspects = delta.suspects(&self.state);
        let hash_changed = suspects.into_iter().filter(|topic| self.record(*topic, number, time_ms)).collect();
        let image = Image {
            time_ms,
            changed: delta.changed(),
            creates_topics: delta.creates_topics(),
            creates_topics_up_to_4_1: delta.created_any,
            rehosted: delta.rehosted(&self.state),
            deleted: std::mem::take(&mut delta.deleted),
            registered: std::mem::take(&mut delta.registered),
            hash_changed,
            event: self.event(event),
        };
        self.record_leaders(&image, number);
        self.places = delta.into_places();
        self.images.push(image);
        Ok(number)
    }

    /// Changes with topics by name.
    pub(super) fn named(&self, part: Part<'_>) -> Vec<Change> {
        match part {
            Part::One(change) => vec![change.clone()],
            Part::Partitions(partitions) => partitions.iter().map(|change| self.named_partition(change)).collect(),
        }
    }

    /// A partition's change, with the topic by name.
    pub(super) fn named_partition(&self, change: &PartitionChange) -> Change {
        Change::ChangePartition {
            topic: self.topic_name(change.topic).to_owned(),
            partition: change.partition,
            replicas: None,
            isr: change.isr.as_ref().map(|isr| isr.to_vec()),
            leader: change.leader,
            elr: None,
        }
    }

    /// The text of an event, shared with the image before if that has the same.
    fn event(&self, event: &str) -> Arc<str> {
        match self.images.last() {
            Some(last) if *last.event == *event => Arc::clone(&last.event),
            _ => Arc::from(event),
        }
    }

    /// Makes a version of a topic if its content changed. Says whether its `rack-list` hash did.
    fn record(&mut self, topic: TopicIndex, image: ImageNumber, time_ms: TimeMs) -> bool {
        let content = Content::of(&self.state, topic);
        let slot = topic.0 as usize;
        if self.records.len() <= slot {
            self.records.resize_with(slot + 1, TopicRecord::default);
        }
        let record = &mut self.records[slot];
        let last = record.versions.last().and_then(|(_, version)| version.as_deref());
        let last_hash = last.map(|version| version.hash);
        let Some(content) = content else {
            if last.is_some() {
                record.versions.push((image, None));
            }
            return last_hash.is_some();
        };
        if last.is_some_and(|version| content.is_of(version)) {
            return false;
        }
        let name = &self.state.names.texts[slot];
        let hashes = content_hashes(name, &content, &self.state.racks, &mut self.hasher);
        let classes = record.classes_of(&content, &hashes);
        let [rack_list, rack_set, partitions] = hashes;
        let version = Arc::new(TopicVersion {
            name: name.clone(),
            id: content.id,
            image,
            time_ms,
            racked_partitions: content.racked_partitions(),
            racks: content.racks,
            partition_ends: content.partition_ends,
            has_unregistered_replica: content.has_unregistered_replica,
            hash: rack_list.hash,
            hashed_bytes: rack_list.bytes,
            rack_set_hash: rack_set.hash,
            rack_set_hashed_bytes: rack_set.bytes,
            partitions_hash: partitions.hash,
            partitions_hashed_bytes: partitions.bytes,
            rack_list_class: classes[0],
            rack_set_class: classes[1],
            partitions_class: classes[2],
        });
        record.keep(image, version);
        last_hash != Some(rack_list.hash)
    }

    fn record_leaders(&mut self, image: &Image, number: ImageNumber) {
        let Some(offsets) = self.state.names.indexes.get(OFFSETS_TOPIC).copied() else { return };
        if !image.changed.contains(&offsets) && !image.deleted.contains(&offsets) {
            return;
        }
        let partitions = self.state.topic(offsets).map_or(&[][..], |topic| &topic.partitions);
        if self.leaders.len() < partitions.len() {
            self.leaders.resize_with(partitions.len(), Vec::new);
            self.offsets_replicas.resize(partitions.len(), 0);
        }
        for (replicas, partition) in self.offsets_replicas.iter_mut().zip(partitions) {
            *replicas = partition.replicas.len() as u32;
        }
        for (partition, leaders) in self.leaders.iter_mut().enumerate() {
            let leader = partitions.get(partition).map_or(-1, |partition| partition.leader);
            if leaders.last().is_none_or(|(_, last)| *last != leader) {
                leaders.push((number, leader));
            }
        }
    }

    /// Makes sure that a topic name has an index, although it may never exist (groups subscribe to such names).
    pub fn name(&mut self, name: &str) -> TopicIndex {
        self.state.names.index(name)
    }

    /// The finished history.
    pub fn finish(self) -> History {
        History {
            images: self.images,
            names: self.state.names.texts,
            indexes: self.state.names.indexes,
            ids: self.state.ids,
            racks: self.state.racks.into_names(),
            versions: self.records.into_iter().map(|record| record.versions).collect(),
            leaders: self.leaders,
            offsets_replicas: self.offsets_replicas,
            changes: self.changes,
        }
    }
}

impl TopicRecord {
    /// The class of a content in each coverage: that of an earlier version if one is equal, else the next number.
    fn classes_of(&self, content: &Content, hashes: &[ContentHash; 3]) -> [u32; 3] {
        std::array::from_fn(|i| {
            let classes = &self.classes[i];
            let same = |(hash, version): &(i64, Arc<TopicVersion>)| {
                *hash == hashes[i].hash && content.equals(version, COVERAGES[i])
            };
            classes.iter().position(same).unwrap_or(classes.len()) as u32
        })
    }

    fn keep(&mut self, image: ImageNumber, version: Arc<TopicVersion>) {
        let first_of = [
            (version.rack_list_class, version.hash),
            (version.rack_set_class, version.rack_set_hash),
            (version.partitions_class, version.partitions_hash),
        ];
        for (classes, (class, hash)) in self.classes.iter_mut().zip(first_of) {
            if class as usize == classes.len() {
                classes.push((hash, Arc::clone(&version)));
            }
        }
        self.versions.push((image, Some(version)));
    }
}

/// What those who build histories ask about the last image.
impl HistoryBuilder {
    /// The number of the last image; 0 before the first.
    pub fn last_image(&self) -> ImageNumber {
        (self.images.len() - 1) as ImageNumber
    }

    /// When the last image was published; 0 before the first.
    pub fn last_time_ms(&self) -> TimeMs {
        self.images.last().map_or(0, |image| image.time_ms)
    }

    /// A topic that exists.
    pub fn topic(&self, name: &str) -> Option<&TopicState> {
        self.state.topic_named(name).map(|(_, topic)| topic)
    }

    /// The names of the topics that exist, in order of creation.
    pub fn topic_names(&self) -> impl Iterator<Item = &str> {
        self.state.created.values().map(|topic| self.state.names.texts[topic.0 as usize].as_str())
    }

    /// The name of a topic.
    pub fn topic_name(&self, topic: TopicIndex) -> &str {
        self.state.names.texts[topic.0 as usize].as_str()
    }

    /// A registered broker.
    pub fn broker(&self, id: i32) -> Option<&BrokerState> {
        self.state.brokers.get(&id)
    }

    /// The registered brokers, in order of their ids.
    pub fn brokers(&self) -> impl Iterator<Item = (i32, &BrokerState)> {
        self.state.brokers.iter().map(|(id, broker)| (*id, broker))
    }

    /// The partitions that have a replica on a broker, registered or not: topic, partition number, partition; in order
    /// of topic index and partition.
    pub fn partitions_on(&self, broker: i32) -> impl Iterator<Item = (TopicIndex, i32, &PartitionState)> {
        self.state.hosted(broker).filter_map(|(topic, partition)| {
            Some((topic, partition, self.state.topic(topic)?.partitions.get(partition as usize)?))
        })
    }
}
