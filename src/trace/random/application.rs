//! The application that the members of a random streams group run: its topology, and other topologies that some of
//! them come with.

use super::rng::Rng;
use super::swarm::Swarm;
use crate::trace::{Subtopology, TopicInfo, Topology};
use std::collections::BTreeMap;

/// A topology, and what makes others of it.
#[derive(Debug)]
pub struct Application {
    /// What the names of its internal topics start with.
    id: String,
    topology: Topology,
}

impl Application {
    /// The application of a group. Its subtopologies read from topics of the swarm, and each may read what one before
    /// it writes to a repartition topic.
    pub fn draw(group: &'static str, rng: &mut Rng, swarm: &Swarm) -> Self {
        // Kafka refuses internal topics with names that topics cannot have.
        let id = if group.is_ascii() || rng.chance(100) { group } else { "app" };
        let count = rng.within(1, swarm.streams.subtopologies_max);
        let mut subtopologies: Vec<Subtopology> = Vec::new();
        let first_id = *rng.pick(&[0, 0, 0, 8]);
        for number in 0..count {
            let repartition = (number > 0 && rng.chance(swarm.streams.repartitions))
                .then(|| TopicInfo { name: format!("{id}-{number}-repartition"), partitions: fixed(rng) });
            if let Some(topic) = &repartition {
                let from = rng.index(subtopologies.len());
                subtopologies[from].repartition_sinks.get_or_insert_default().push(topic.name.clone());
            }
            let sources = if repartition.is_some() && rng.chance(700) { Vec::new() } else { sources(rng, swarm) };
            let stores = if rng.chance(swarm.streams.stores) { rng.within(1, 2) } else { 0 };
            subtopologies.push(Subtopology {
                id: (first_id + number).to_string(),
                sources: some(sources, rng),
                repartition_sinks: None,
                state_changelogs: some((0..stores).map(|store| changelog(id, number, store, rng)).collect(), rng),
                repartition_sources: some(repartition.into_iter().collect(), rng),
            });
        }
        Application { id: id.to_owned(), topology: Topology { epoch: *rng.pick(&[0, 1, 1, 5]), subtopologies } }
    }

    /// The topology of a member that joins: mostly the application's.
    pub fn topology(&self, rng: &mut Rng, swarm: &Swarm) -> Topology {
        let mut topology = self.topology.clone();
        if rng.chance(swarm.streams.twisted) {
            self.twist(&mut topology, rng);
        }
        topology
    }

    /// The ids of the subtopologies.
    pub fn subtopologies(&self) -> Vec<&str> {
        self.topology.subtopologies.iter().map(|subtopology| subtopology.id.as_str()).collect()
    }

    /// The topics that it reads and does not write.
    pub fn sources(&self) -> Vec<&str> {
        self.topology.subtopologies.iter().flat_map(|s| s.sources.iter().flatten()).map(String::as_str).collect()
    }

    /// The internal topics, each with the number of partitions that it should have while the sources have theirs.
    pub fn internal_topics(&self, partitions_of: impl Fn(&str) -> Option<i64>) -> Vec<(String, i64)> {
        let mut counts: BTreeMap<&str, i64> = BTreeMap::new();
        let mut wanted = Vec::new();
        // Each subtopology reads only what those before it write.
        for subtopology in &self.topology.subtopologies {
            let repartitions = subtopology.repartition_sources.iter().flatten();
            for topic in repartitions.clone() {
                let fixed = topic.partitions.filter(|count| *count > 0).map(i64::from);
                let count = fixed.or(counts.get(topic.name.as_str()).copied()).unwrap_or(1);
                counts.insert(&topic.name, count);
                wanted.push((topic.name.clone(), count));
            }
            let sources = subtopology.sources.iter().flatten().filter_map(|topic| partitions_of(topic));
            let tasks = sources.chain(repartitions.map(|topic| counts[topic.name.as_str()])).max().unwrap_or(1);
            let sinks = subtopology.repartition_sinks.iter().flatten();
            sinks.for_each(|topic| _ = counts.insert(topic, tasks));
            wanted.extend(subtopology.state_changelogs.iter().flatten().map(|topic| (topic.name.clone(), tasks)));
        }
        wanted
    }

    /// Another topology: newer, older, in another order, different, or one that makes no sense.
    fn twist(&self, topology: &mut Topology, rng: &mut Rng) {
        let subtopologies = &mut topology.subtopologies;
        let at = rng.index(subtopologies.len());
        let one = &mut subtopologies[at];
        match rng.below(14) {
            0 => topology.epoch += 1,
            1 | 2 => topology.epoch -= 1,
            3 => {
                topology.epoch += 1;
                one.state_changelogs.get_or_insert_default().push(changelog(&self.id, 9, 9, rng));
            }
            4 => one.state_changelogs.get_or_insert_default().push(changelog(&self.id, 9, 9, rng)),
            5 => one.sources.get_or_insert_default().push("foo".to_owned()),
            6 => rng.shuffle(subtopologies),
            7 => one.sources.get_or_insert_default().reverse(),
            8 => {
                let name = format!("{}-wrong-changelog", self.id);
                one.state_changelogs.get_or_insert_default().push(TopicInfo { name, partitions: Some(3) });
            }
            9 => (one.sources, one.repartition_sources) = (None, None),
            // Nobody writes it, or only who reads it.
            10 | 11 => {
                let name = format!("{}-loop-repartition", self.id);
                if rng.chance(500) {
                    (one.sources, one.repartition_sources) = (None, None);
                    one.repartition_sinks.get_or_insert_default().push(name.clone());
                }
                one.repartition_sources.get_or_insert_default().push(TopicInfo { name, partitions: None });
            }
            12 => {
                let double = one.clone();
                subtopologies.push(double);
            }
            _ => subtopologies.clear(),
        }
    }
}

/// One to three topics, mostly among the first of the swarm's.
fn sources(rng: &mut Rng, swarm: &Swarm) -> Vec<String> {
    let among = if rng.chance(800) { swarm.topics.len().min(3) } else { swarm.topics.len() };
    let mut topics = swarm.topics[..among].to_vec();
    rng.shuffle(&mut topics);
    topics.truncate(*rng.pick(&[1, 1, 1, 2, 3]));
    topics.into_iter().map(str::to_owned).collect()
}

fn changelog(id: &str, subtopology: i64, store: i64, rng: &mut Rng) -> TopicInfo {
    let name = format!("{id}-{subtopology}-store-{store}-changelog");
    TopicInfo { name, partitions: rng.chance(500).then_some(0) }
}

/// The number of partitions of a repartition topic: mostly left to the coordinator.
fn fixed(rng: &mut Rng) -> Option<i32> {
    *rng.pick(&[None, None, Some(0), Some(0), Some(2), Some(5)])
}

/// An empty list is written as one or left out.
fn some<T>(list: Vec<T>, rng: &mut Rng) -> Option<Vec<T>> {
    if list.is_empty() && rng.chance(500) { None } else { Some(list) }
}
