//! Random changes; everything that a history says is computed again from scratch.

use super::*;
use crate::cluster::history::Image;
use std::collections::{BTreeMap, BTreeSet};
use xxhash_rust::xxh3::xxh3_64;

/// Numerical Recipes' linear congruential generator.
struct Lcg(u64);

impl Lcg {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }
}

const RACKS: [&str; 6] = ["a", "b", "", "ab", "\u{FFFD}", "\u{10000}"];

/// The cluster, kept as simply as possible.
#[derive(Clone, Default)]
struct Model {
    brokers: BTreeMap<i32, Option<&'static str>>,
    topics: BTreeMap<String, (u64, Vec<Vec<i32>>)>,
    next_id: u64,
}

impl Model {
    fn random_replicas(random: &mut Lcg) -> Vec<i32> {
        let first = random.below(8) as i32;
        (0..1 + random.below(3) as i32).map(|i| (first + 3 * i) % 8).collect()
    }

    /// Draws a change that is valid now, and applies it.
    fn random_change(&mut self, random: &mut Lcg) -> Change {
        let name = format!("t{}", random.below(4));
        let id = random.below(8) as i32;
        let rack = random.below(8) as usize;
        let topic = self.topics.get_mut(&name);
        match (random.below(10), topic) {
            (0 | 1, _) => {
                let rack = RACKS.get(rack).copied();
                self.brokers.insert(id, rack);
                Change::RegisterBroker { id, rack: rack.map(str::to_owned) }
            }
            (2, _) if self.brokers.remove(&id).is_some() => unregister(id),
            (3 | 4, Some(_)) => {
                self.topics.remove(&name);
                delete(&name)
            }
            (5, Some((_, partitions))) => {
                partitions.push(Self::random_replicas(random));
                let replicas = partitions[partitions.len() - 1..].to_vec();
                Change::AddPartitions { topic: name, replicas }
            }
            (6 | 7, Some((_, partitions))) => {
                let partition = random.below(partitions.len() as u64) as usize;
                partitions[partition] = Self::random_replicas(random);
                reassign(&name, partition as i32, &partitions[partition])
            }
            (_, Some((_, partitions))) => isr(&name, random.below(partitions.len() as u64) as i32, &[], Some(-1)),
            (_, None) => {
                self.next_id += 1;
                let replicas: Vec<_> = (0..1 + random.below(2)).map(|_| Self::random_replicas(random)).collect();
                self.topics.insert(name.clone(), (self.next_id, replicas.clone()));
                Change::CreateTopic { name, id: Uuid::from_halves(1, self.next_id), replicas }
            }
        }
    }

    /// The racks of each partition's replicas, in replica order.
    fn racks(&self, name: &str) -> Option<Vec<Vec<&'static str>>> {
        let of = |replicas: &Vec<i32>| replicas.iter().filter_map(|id| *self.brokers.get(id)?).collect();
        Some(self.topics.get(name)?.1.iter().map(of).collect())
    }

    fn unregistered(&self, name: &str) -> bool {
        self.topics[name].1.iter().flatten().any(|id| !self.brokers.contains_key(id))
    }

    /// What is hashed, as text: equal if and only if the content is.
    fn covered(&self, name: &str, coverage: usize) -> Option<(u64, Vec<Vec<Vec<u16>>>)> {
        let mut racks: Vec<Vec<Vec<u16>>> = Vec::new();
        for of_partition in self.racks(name)? {
            let mut of_partition: Vec<Vec<u16>> =
                of_partition.iter().map(|rack| rack.encode_utf16().collect()).collect();
            of_partition.sort();
            match coverage {
                0 => {}
                1 => of_partition.dedup(),
                _ => of_partition.clear(),
            }
            racks.push(of_partition);
        }
        Some((self.topics[name].0, racks))
    }

    fn bytes(&self, name: &str, coverage: usize) -> Vec<u8> {
        fn put(bytes: &mut Vec<u8>, units: &[u16]) {
            units.iter().for_each(|unit| bytes.extend(unit.to_le_bytes()));
            bytes.extend((units.len() as u32).to_le_bytes());
        }
        let (id, racks) = self.covered(name, coverage).expect("the topic exists");
        let mut bytes = vec![0];
        bytes.extend(1u64.to_le_bytes());
        bytes.extend(id.to_le_bytes());
        put(&mut bytes, &name.encode_utf16().collect::<Vec<_>>());
        bytes.extend((racks.len() as u32).to_le_bytes());
        for (partition, racks) in (0u32..).zip(racks) {
            bytes.extend(partition.to_le_bytes());
            for rack in racks {
                bytes.extend((rack.len() as u32).to_le_bytes());
                put(&mut bytes, &rack);
            }
        }
        bytes
    }
}

/// `TopicsDelta` as Kafka 4.3.1 keeps it, by id.
#[derive(Default)]
struct ModelDelta {
    changed: BTreeMap<u64, String>,
    deleted: BTreeSet<String>,
    created: BTreeMap<String, u64>,
}

impl ModelDelta {
    fn replay(&mut self, before: &Model, after_change: &Model, just_before: &Model, change: &Change) {
        match change {
            Change::CreateTopic { name, .. } => {
                let id = after_change.topics[name].0;
                self.changed.insert(id, name.clone());
                self.created.insert(name.clone(), id);
            }
            Change::AddPartitions { topic, .. } | Change::ChangePartition { topic, .. } => {
                self.changed.insert(after_change.topics[topic].0, topic.clone());
            }
            Change::DeleteTopic { topic } => {
                let id = just_before.topics[topic].0;
                if self.changed.remove(&id).is_some() {
                    self.created.remove(topic);
                }
                if before.topics.values().any(|(existing, _)| *existing == id) {
                    self.deleted.insert(topic.clone());
                }
            }
            _ => {}
        }
    }

    fn check(&self, history: &History, image: &Image) {
        let names = |topics: &[TopicIndex]| -> BTreeSet<String> {
            topics.iter().map(|topic| history.topic_name(*topic).to_string()).collect()
        };
        assert_eq!(names(&image.changed), self.changed.values().cloned().collect());
        assert_eq!(image.changed.len(), self.changed.len());
        assert_eq!(names(&image.deleted), self.deleted);
        assert_eq!(image.deleted.len(), self.deleted.len());
        assert_eq!(image.creates_topics, !self.created.is_empty());
    }
}

fn check_version(history: &History, model: &Model, name: &str, image: ImageNumber) {
    let version = history.index_of(name).and_then(|topic| history.version_at(topic, image));
    let Some(racks) = model.racks(name) else {
        assert!(version.is_none(), "{name} is gone in image {image}");
        return;
    };
    let version = version.expect("the topic exists");
    assert_eq!(version.id, Uuid::from_halves(1, model.topics[name].0));
    assert_eq!(version.has_unregistered_replica, model.unregistered(name));
    let text = |racks: &[u16]| -> Vec<String> { racks.iter().map(|rack| history.rack(*rack).to_string()).collect() };
    let of_version: Vec<_> = (0..version.partition_ends.len()).map(|p| text(version.partition_racks(p))).collect();
    assert_eq!(of_version, racks);
    let hashes = [
        (version.hash, version.hashed_bytes),
        (version.rack_set_hash, version.rack_set_hashed_bytes),
        (version.partitions_hash, version.partitions_hashed_bytes),
    ];
    for (coverage, (hash, length)) in hashes.into_iter().enumerate() {
        let bytes = model.bytes(name, coverage);
        assert_eq!((hash, length), (xxh3_64(&bytes) as i64, bytes.len() as u64), "{name} in image {image}");
    }
}

/// Numbers different contents from 0 in the order in which they appear.
fn check_classes(history: &History, models: &[Model], name: &str) {
    let Some(topic) = history.index_of(name) else { return };
    for coverage in 0..3 {
        let mut seen = Vec::new();
        for (image, version) in history.versions(topic) {
            let Some(version) = version else { continue };
            let content = models[*image as usize].covered(name, coverage);
            let class = seen.iter().position(|other| *other == content).unwrap_or(seen.len());
            if class == seen.len() {
                seen.push(content);
            }
            let classes = [version.rack_list_class, version.rack_set_class, version.partitions_class];
            assert_eq!(classes[coverage] as usize, class, "{name} in image {image}");
        }
    }
}

fn check_hash_changed(history: &History, before: &Model, after: &Model, image: &Image) {
    for topic in history.topics() {
        let name = history.topic_name(topic);
        let differs = before.covered(name, 0) != after.covered(name, 0);
        assert_eq!(image.hash_changed.contains(&topic), differs, "{name}");
    }
}

/// No version but for other content.
fn check_no_needless_version(history: &History, models: &[Model], name: &str) {
    let Some(topic) = history.index_of(name) else { return };
    let content = |image: ImageNumber| {
        let model = &models[image as usize];
        model.racks(name).map(|racks| (model.topics[name].0, racks, model.unregistered(name)))
    };
    for (image, _) in history.versions(topic) {
        assert_ne!(content(*image), content(image - 1), "{name} in image {image}");
    }
}

#[test]
fn everything_is_as_computed_from_scratch() {
    for seed in 0..40 {
        let mut random = Lcg(seed);
        let mut models = vec![Model::default()];
        let mut deltas = vec![ModelDelta::default()];
        let mut builder = HistoryBuilder::new();
        for time_ms in 1..120 {
            let before = models[models.len() - 1].clone();
            let (mut model, mut delta, mut changes) = (before.clone(), ModelDelta::default(), Vec::new());
            for _ in 0..random.below(5) {
                let just_before = model.clone();
                changes.push(model.random_change(&mut random));
                delta.replay(&before, &model, &just_before, &changes[changes.len() - 1]);
            }
            builder.publish(time_ms, "random", &changes).expect("valid changes");
            models.push(model);
            deltas.push(delta);
        }
        let history = builder.finish();
        for (image, model) in (0..).zip(&models) {
            for name in ["t0", "t1", "t2", "t3"] {
                check_version(&history, model, name, image);
            }
            deltas[image as usize].check(&history, history.image(image));
        }
        for (image, pair) in (1..).zip(models.windows(2)) {
            check_hash_changed(&history, &pair[0], &pair[1], history.image(image));
        }
        for name in ["t0", "t1", "t2", "t3"] {
            check_classes(&history, &models, name);
            check_no_needless_version(&history, &models, name);
        }
    }
}
