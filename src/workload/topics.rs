//! What happens to topics: creation, expansion, deletion, re-creation, reassignment.

use super::application::Application;
use super::director::{Director, Effect, Happening};
use super::random_uuid;
use crate::cluster::effects::Reassignment;
use crate::cluster::placement::{PlacementError, UsableBroker, place};
use crate::cluster::{Change, PartitionState};
use crate::kafka::Uuid;
use crate::kernel::TimeMs;
use crate::kernel::random::Stream;
use crate::scenario::{ChurnKind, Cluster, EventKind, Layout, Place, Scenario, counted};
use std::collections::BTreeMap;

/// How long a moved replica waits for another try at joining, when its broker is down.
const REJOIN_MS: TimeMs = 10_000;

/// What follows from an earlier happening.
#[derive(Debug, Clone)]
pub(super) enum TopicHappening {
    /// A deleted topic is created anew.
    CreateAgain { topic: String, partitions: usize, replication: i64 },
    /// The internal topics of a streams group's application are created, those that are missing.
    CreateInternal { application: usize },
    /// New replicas have caught up.
    Join { topic_id: Uuid, moves: Vec<Reassignment> },
}

/// Which topics of each population exist, and how often each name was created.
#[derive(Debug)]
pub(super) struct Topics {
    /// By population, ascending.
    living: Vec<Vec<u64>>,
    /// By population.
    greatest: Vec<u64>,
    creations: BTreeMap<String, u64>,
    names: Vec<crate::scenario::NamePattern>,
}

impl Topics {
    pub fn new(scenario: &Scenario) -> Self {
        Topics {
            living: vec![Vec::new(); scenario.topics.len()],
            greatest: scenario.topics.iter().map(|topics| topics.count).collect(),
            creations: BTreeMap::new(),
            names: scenario.topics.iter().map(|topics| topics.name.clone()).collect(),
        }
    }

    /// The population and the number of a topic.
    fn numbers(&self, topic: &str) -> Vec<(usize, u64)> {
        let numbered = self.names.iter().enumerate();
        numbered.filter_map(|(population, name)| Some((population, name.number_of(topic)?))).collect()
    }

    /// Notes creations and deletions.
    pub fn note<'c>(&mut self, changes: impl Iterator<Item = &'c Change>) {
        for change in changes {
            match change {
                Change::CreateTopic { name, .. } => {
                    *self.creations.entry(name.clone()).or_default() += 1;
                    for (population, number) in self.numbers(name) {
                        self.greatest[population] = self.greatest[population].max(number);
                        let living = &mut self.living[population];
                        if let Err(at) = living.binary_search(&number) {
                            living.insert(at, number);
                        }
                    }
                }
                Change::DeleteTopic { topic } => {
                    for (population, number) in self.numbers(topic) {
                        let living = &mut self.living[population];
                        if let Ok(at) = living.binary_search(&number) {
                            living.remove(at);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// One of the topics of a population that exist.
    fn any(&self, population: usize, stream: &mut Stream) -> Option<String> {
        stream.choose(&self.living[population]).map(|number| self.names[population].name(*number))
    }
}

impl Director<'_> {
    /// The topics at the start, and what is wrong with them.
    pub fn first_topics(&self) -> (Vec<Change>, Vec<(Place, String)>) {
        let (mut changes, mut errors) = (Vec::new(), Vec::new());
        if let Cluster::Synthetic { offsets_partitions, offsets_replication, .. } = self.scenario.cluster {
            let name = "__consumer_offsets";
            match self.placed(name, offsets_partitions as usize, i64::from(offsets_replication), "placement") {
                Ok(replicas) => changes.extend(self.builder.create_topic(name, self.topic_id(name), replicas)),
                Err(error) => errors.push((Place::default(), error.to_string())),
            }
        }
        for population in &self.scenario.topics {
            for number in 1..=population.count {
                match self.create(&population.name.name(number), &population.layout) {
                    Ok(created) => changes.extend(created),
                    Err(error) => {
                        errors.push((population.place.clone(), error));
                        break;
                    }
                }
            }
        }
        (changes, errors)
    }

    /// A stream of a topic: another one each time that the topic is created.
    fn topic_stream(&self, topic: &str, purpose: &str) -> Stream {
        let creations = self.topics.creations.get(topic).copied().unwrap_or(0);
        self.streams.stream(&format!("topic {topic}"), creations, purpose)
    }

    fn topic_id(&self, topic: &str) -> Uuid {
        random_uuid(&mut self.topic_stream(topic, "id"))
    }

    fn placed(
        &self,
        topic: &str,
        partitions: usize,
        replication: i64,
        purpose: &str,
    ) -> Result<Vec<Vec<i32>>, PlacementError> {
        let usable = self.builder.brokers().filter(|(id, _)| !self.restarting.contains(id));
        let brokers: Vec<UsableBroker> = usable
            .map(|(id, broker)| UsableBroker { id, rack: broker.rack.as_deref(), fenced: broker.fenced })
            .collect();
        let mut stream = self.topic_stream(topic, purpose);
        place(partitions, replication as i32, &brokers, &mut |n| stream.below(u64::from(n.unsigned_abs())) as i32)
    }

    /// A new topic; why it cannot be created.
    fn create(&self, topic: &str, layout: &Layout) -> Result<Vec<Change>, String> {
        if self.builder.topic(topic).is_some() {
            return Err(format!("topic {topic:?} exists already"));
        }
        let replicas = match layout {
            Layout::Placed { partitions, replication } => {
                let choice = self.topic_stream(topic, "partitions").weighted(&partitions.weights);
                let partitions = partitions.values[choice] as usize;
                self.placed(topic, partitions, *replication, "placement").map_err(|error| error.to_string())?
            }
            Layout::Given(replicas) => {
                let unknown = replicas.iter().flatten().find(|id| self.builder.broker(**id).is_none());
                if let Some(id) = unknown {
                    return Err(format!("there is no broker {id}"));
                }
                replicas.clone()
            }
        };
        Ok(self.builder.create_topic(topic, self.topic_id(topic), replicas))
    }

    /// What a kind of churn does to a topic; `None` if there is nothing that it could be done to.
    pub fn topic_churn(&self, now_ms: TimeMs, kind: &ChurnKind, stream: &mut Stream) -> Option<Effect> {
        if let ChurnKind::CreateTopics { topics } = kind {
            let population = &self.scenario.topics[*topics];
            let created = self.create(&population.name.name(self.topics.greatest[*topics] + 1), &population.layout);
            return Some(created.map_or_else(Effect::impossible, |changes| Effect::of("create", changes)));
        }
        let topic = self.topics.any(kind.topics()?, stream)?;
        let Some(state) = self.builder.topic(&topic) else {
            // It is created in the batch that waits.
            return Some(Effect::impossible("it is not published yet"));
        };
        Some(match kind {
            ChurnKind::Expand { add, up_to, .. } => {
                let now = state.partitions.len() as i64;
                let then = (now + add).min(*up_to);
                if then <= now {
                    return None;
                }
                self.expand(&topic, then)
            }
            ChurnKind::DeleteTopics { .. } => Effect::of("delete", vec![Change::DeleteTopic { topic }]),
            ChurnKind::Recreate { gap_ms, .. } => self.recreate(now_ms, topic, *gap_ms),
            ChurnKind::Reassign { partitions, copy_ms, .. } => {
                let mut numbers: Vec<i32> = (0..state.partitions.len() as i32).collect();
                stream.shuffle(&mut numbers);
                let chosen = numbers.into_iter().take(*partitions as usize);
                let moves = chosen.filter_map(|number| {
                    let target = self.other_brokers(&state.partitions[number as usize], stream)?;
                    self.builder.reassignment(&topic, number, &target)
                });
                self.reassign(now_ms, moves.collect(), *copy_ms)
            }
            _ => return None,
        })
    }

    /// A partition's brokers, with one of them replaced by another that runs.
    fn other_brokers(&self, partition: &PartitionState, stream: &mut Stream) -> Option<Vec<i32>> {
        let others = self
            .builder
            .brokers()
            .filter(|(id, broker)| !broker.fenced && !self.restarting.contains(id) && !partition.replicas.contains(id));
        let others: Vec<i32> = others.map(|(id, _)| id).collect();
        let mut replicas = partition.replicas.to_vec();
        let place = stream.below(replicas.len() as u64) as usize;
        *replicas.get_mut(place)? = *stream.choose(&others)?;
        Some(replicas)
    }

    /// What an event does to topics.
    pub fn topic_event(&self, now_ms: TimeMs, kind: &EventKind) -> Effect {
        match kind {
            EventKind::CreateTopics { topics, layout } => {
                let created: Result<Vec<_>, _> = topics.iter().map(|topic| self.create(topic, layout)).collect();
                created.map_or_else(Effect::impossible, |changes| Effect::of("create", changes.concat()))
            }
            EventKind::Expand { topic, partitions } => match self.builder.topic(topic) {
                None => no_topic(topic),
                Some(state) if state.partitions.len() as i64 >= *partitions => {
                    let now = state.partitions.len();
                    Effect::impossible(format!(
                        "topic {topic:?} has {} then; expected more than that",
                        counted(now as u64, "partition")
                    ))
                }
                Some(_) => self.expand(topic, *partitions),
            },
            EventKind::DeleteTopics { topics } => match topics.iter().find(|topic| self.builder.topic(topic).is_none())
            {
                Some(topic) => no_topic(topic),
                None => {
                    let delete = |topic: &String| Change::DeleteTopic { topic: topic.clone() };
                    Effect::of("delete", topics.iter().map(delete).collect())
                }
            },
            EventKind::Recreate { topic, gap_ms } => match self.builder.topic(topic) {
                None => no_topic(topic),
                Some(_) => self.recreate(now_ms, topic.clone(), *gap_ms),
            },
            EventKind::Reassign { topic, partition, replicas, copy_ms } => {
                if let Some(id) = replicas.iter().find(|id| self.builder.broker(**id).is_none()) {
                    return Effect::impossible(format!("there is no broker {id} then"));
                }
                match (self.builder.topic(topic), self.builder.reassignment(topic, *partition, replicas)) {
                    (None, _) => no_topic(topic),
                    (Some(_), None) => Effect::impossible(format!("topic {topic:?} has no partition {partition} then")),
                    (Some(_), Some(moved)) => self.reassign(now_ms, vec![moved], *copy_ms),
                }
            }
            _ => Effect::default(),
        }
    }

    fn expand(&self, topic: &str, partitions: i64) -> Effect {
        let Some(state) = self.builder.topic(topic) else { return no_topic(topic) };
        let now = state.partitions.len();
        // As many replicas as the first partition has (`ReplicationControlManager.createPartitions`).
        let replication = state.partitions.first().map_or(1, |partition| partition.replicas.len()) as i64;
        let placed = self.placed(topic, partitions as usize - now, replication, &format!("expand {now}"));
        placed.map_or_else(
            |error| Effect::impossible(error.to_string()),
            |replicas| Effect::of("expand", self.builder.add_partitions(topic, replicas)),
        )
    }

    fn recreate(&self, now_ms: TimeMs, topic: String, gap_ms: TimeMs) -> Effect {
        let Some(state) = self.builder.topic(&topic) else { return no_topic(&topic) };
        let partitions = state.partitions.len();
        let replication = state.partitions.first().map_or(1, |partition| partition.replicas.len()) as i64;
        let delete = Change::DeleteTopic { topic: topic.clone() };
        if gap_ms > 0 {
            let again = TopicHappening::CreateAgain { topic, partitions, replication };
            return Effect::of("delete", vec![delete]).then(now_ms + gap_ms, Happening::Topic(again));
        }
        match self.placed(&topic, partitions, replication, "placement") {
            Err(error) => Effect::impossible(error.to_string()),
            Ok(replicas) => {
                let mut changes = vec![delete];
                changes.extend(self.builder.create_topic(&topic, self.topic_id(&topic), replicas));
                Effect::of("recreate", changes)
            }
        }
    }

    fn reassign(&self, now_ms: TimeMs, moves: Vec<Reassignment>, copy_ms: TimeMs) -> Effect {
        let changes: Vec<Change> = moves.iter().filter_map(|moved| moved.begin(&self.builder)).collect();
        let topic = moves.first().and_then(|moved| self.builder.topic(&moved.topic));
        let effect = Effect::of("reassign", changes);
        let Some(topic_id) = topic.map(|topic| topic.id) else { return effect };
        effect.then(now_ms + copy_ms.max(1), Happening::Topic(TopicHappening::Join { topic_id, moves }))
    }

    /// What follows from an earlier happening.
    pub fn topic_effect(&self, now_ms: TimeMs, happening: &TopicHappening) -> Effect {
        match happening {
            TopicHappening::CreateAgain { topic, partitions, replication } => {
                if self.builder.topic(topic).is_some() {
                    return Effect::default(); // Somebody else was faster.
                }
                match self.placed(topic, *partitions, *replication, "placement") {
                    Ok(replicas) => {
                        Effect::of("create", self.builder.create_topic(topic, self.topic_id(topic), replicas))
                    }
                    Err(error) => Effect::impossible(error.to_string()),
                }
            }
            TopicHappening::CreateInternal { application } => self.create_internal(&self.applications[*application].1),
            TopicHappening::Join { topic_id, moves } => self.join(now_ms, *topic_id, moves),
        }
    }

    /// With the default replication, and partitions as the coordinator asks for; nothing while a source is missing.
    fn create_internal(&self, application: &Application) -> Effect {
        let partitions_of = |topic: &str| self.builder.topic(topic).map(|state| state.partitions.len() as i64);
        let wanted = application.internal_topic_partitions(partitions_of).unwrap_or_default();
        let missing = wanted.into_iter().filter(|(topic, _)| self.builder.topic(topic).is_none());
        let replication = (self.builder.brokers().count() as i64).min(3);
        let created: Result<Vec<_>, _> = missing
            .map(|(topic, partitions)| {
                let replicas = self.placed(topic, partitions as usize, replication, "placement");
                replicas.map(|replicas| self.builder.create_topic(topic, self.topic_id(topic), replicas))
            })
            .collect();
        match created {
            Ok(changes) => Effect::of("create-internal", changes.concat()),
            Err(error) => Effect::impossible(error.to_string()),
        }
    }

    /// One new replica of each partition joins its ISR; those that are left follow.
    fn join(&self, now_ms: TimeMs, topic_id: Uuid, moves: &[Reassignment]) -> Effect {
        let exists = |moved: &&Reassignment| self.builder.topic(&moved.topic).is_some_and(|topic| topic.id == topic_id);
        let (mut changes, mut left, mut blocked) = (Vec::new(), Vec::new(), Vec::new());
        for moved in moves.iter().filter(exists) {
            let missing: Vec<i32> = {
                let state = self.builder.topic(&moved.topic).and_then(|t| t.partitions.get(moved.partition as usize));
                let Some(state) = state else { continue };
                moved.adding.iter().copied().filter(|id| !state.isr.contains(id)).collect()
            };
            let joined = missing.iter().find_map(|broker| moved.join(&self.builder, *broker));
            match joined.or_else(|| if missing.is_empty() { moved.begin(&self.builder) } else { None }) {
                Some(change) => {
                    changes.push(change);
                    if missing.len() > 1 {
                        left.push(moved.clone());
                    }
                }
                None if !missing.is_empty() => blocked.push(moved.clone()),
                None => {}
            }
        }
        let mut effect = Effect::of("reassigned", changes);
        for (moves, wait_ms) in [(left, 1), (blocked, REJOIN_MS)] {
            if !moves.is_empty() {
                let join = TopicHappening::Join { topic_id, moves };
                effect = effect.then(now_ms + wait_ms, Happening::Topic(join));
            }
        }
        effect
    }
}

fn no_topic(topic: &str) -> Effect {
    Effect::impossible(format!("there is no topic {topic:?} then"))
}
