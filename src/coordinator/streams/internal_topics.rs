//! Whether the topics that a topology needs are there, how many partitions its internal topics must have, and how
//! many tasks its subtopologies (`InternalTopicManager` and what it uses; the same in Kafka 4.1.1, 4.3.1 and 4.4.0).

use super::topology::{Topology, inputs};
use crate::kafka::JString;
use crate::kafka::java::HashMap;
use crate::kafka::records::streams::Subtopology;
use std::collections::{BTreeMap, BTreeSet};

/// What a member is told beside its tasks (`StreamsGroupHeartbeatResponse.Status`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i8)]
pub enum Status {
    /// Its topology is older than the group's.
    StaleTopology = 0,
    /// A source topic does not exist.
    MissingSourceTopics = 1,
    /// Topics have other numbers of partitions than they must.
    IncorrectlyPartitionedTopics = 2,
    /// Internal topics do not exist yet.
    MissingInternalTopics = 3,
    /// A member asked for the end of the application.
    ShutdownApplication = 4,
    /// The next target waits for the initial delay or the assignment interval (4.3 on).
    AssignmentDelayed = 5,
}

/// Why a topology cannot be configured at all: the heartbeat fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TopologyError {
    /// `StreamsInvalidTopologyException`.
    #[error("the topology is invalid")]
    Invalid,
    /// `InvalidTopicException`.
    #[error("an internal topic has a name that no topic can have")]
    TopicName,
    /// Some other exception, which Kafka does not expect.
    #[error("the topology contradicts itself")]
    Unexpected,
}

/// A subtopology of which all numbers are known (`ConfiguredSubtopology`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfiguredSubtopology {
    /// How many tasks it has: the most partitions of a topic that it reads.
    pub tasks: i32,
    /// The internal topics and their partitions: repartition topics that it reads, changelogs.
    pub internal_topics: BTreeMap<JString, i32>,
    /// The topics that it reads.
    pub inputs: BTreeSet<JString>,
    /// Whether it has a changelog.
    pub stateful: bool,
}

/// What became of a topology (`ConfiguredTopology`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfiguredTopology {
    /// The topology's epoch.
    pub epoch: i32,
    /// The subtopologies; empty if even their numbers could not be decided.
    pub subtopologies: BTreeMap<JString, ConfiguredSubtopology>,
    /// What is wrong.
    pub problem: Option<Status>,
    /// The internal topics that do not exist, with the partitions that they should get.
    pub to_create: BTreeMap<JString, i32>,
}

impl ConfiguredTopology {
    /// Whether tasks can be assigned.
    pub fn is_ready(&self) -> bool {
        self.problem.is_none()
    }
}

/// Something that keeps a topology from being configured.
enum Stop {
    Problem(Status),
    Error(TopologyError),
}

impl From<TopologyError> for Stop {
    fn from(error: TopologyError) -> Stop {
        Stop::Error(error)
    }
}

/// Configures a topology for the topics that exist: `existing` gives the partitions of a topic.
pub fn configure(
    topology: &Topology,
    existing: &dyn Fn(&str) -> Option<i32>,
) -> Result<ConfiguredTopology, TopologyError> {
    let mut configured = ConfiguredTopology {
        epoch: topology.epoch,
        subtopologies: BTreeMap::new(),
        problem: None,
        to_create: BTreeMap::new(),
    };
    let mut numbers = Numbers { topology, existing, decided: BTreeMap::new() };
    match numbers.configure() {
        Ok((subtopologies, to_create)) => {
            configured.problem = (!to_create.is_empty()).then_some(Status::MissingInternalTopics);
            configured.subtopologies = subtopologies;
            configured.to_create = to_create;
        }
        Err(Stop::Problem(status)) => configured.problem = Some(status),
        Err(Stop::Error(error)) => return Err(error),
    }
    Ok(configured)
}

struct Numbers<'a> {
    topology: &'a Topology,
    existing: &'a dyn Fn(&str) -> Option<i32>,
    /// The partitions that internal topics must have.
    decided: BTreeMap<JString, i32>,
}

type Configured = (BTreeMap<JString, ConfiguredSubtopology>, BTreeMap<JString, i32>);

impl Numbers<'_> {
    fn subtopologies(&self) -> impl Iterator<Item = &Subtopology> {
        self.topology.subtopologies.values()
    }

    fn configure(&mut self) -> Result<Configured, Stop> {
        // Looked up before anything else: a place that is not in the list throws.
        let copartitioned = self.copartition_groups()?;
        if self.subtopologies().flat_map(|s| &s.source_topics).any(|topic| (self.existing)(topic).is_none()) {
            return Err(Stop::Problem(Status::MissingSourceTopics));
        }
        self.decided = self.repartition_topics()?;
        for group in copartitioned {
            self.enforce_copartitioning(&group)?;
        }
        self.changelog_topics()?;
        let mut subtopologies = BTreeMap::new();
        for subtopology in self.subtopologies() {
            subtopologies.insert(subtopology.subtopology_id.clone(), self.configured(subtopology)?);
        }
        let to_create = self.missing(&subtopologies)?;
        Ok((subtopologies, to_create))
    }

    /// The partitions of a topic: as it exists, else as decided.
    fn partitions(&self, topic: &str) -> Option<i32> {
        (self.existing)(topic).or_else(|| self.decided.get(topic).copied())
    }

    /// `RepartitionTopics`: how many partitions each repartition topic needs, from what those write that write to it.
    fn repartition_topics(&self) -> Result<BTreeMap<JString, i32>, TopologyError> {
        let repartition_sources = || self.subtopologies().flat_map(|s| &s.repartition_source_topics);
        let fixed = repartition_sources().filter(|topic| topic.partitions != 0);
        let mut counts: BTreeMap<JString, i32> = fixed.map(|topic| (topic.name.clone(), topic.partitions)).collect();
        loop {
            let (mut progress, mut needed) = (false, false);
            for subtopology in self.subtopologies() {
                for sink in &subtopology.repartition_sink_topics {
                    if counts.contains_key(sink) {
                        continue;
                    }
                    match self.most_read(subtopology, &counts) {
                        Some(partitions) => {
                            counts.insert(sink.clone(), partitions);
                            progress = true;
                        }
                        None => needed = true,
                    }
                }
            }
            if !needed {
                break;
            }
            if !progress {
                return Err(TopologyError::Invalid);
            }
        }
        match repartition_sources().all(|topic| counts.contains_key(&topic.name)) {
            true => Ok(counts),
            false => Err(TopologyError::Invalid),
        }
    }

    /// The most partitions of the topics that a subtopology reads, of those that are known yet.
    fn most_read(&self, subtopology: &Subtopology, counts: &BTreeMap<JString, i32>) -> Option<i32> {
        let repartition =
            subtopology.repartition_source_topics.iter().filter_map(|topic| counts.get(&topic.name).copied());
        repartition.chain(subtopology.source_topics.iter().filter_map(|topic| (self.existing)(topic))).max()
    }

    /// The names in the copartition groups, subtopology by subtopology.
    fn copartition_groups(&self) -> Result<Vec<BTreeSet<JString>>, TopologyError> {
        let mut by_subtopology = HashMap::new();
        for subtopology in self.subtopologies() {
            by_subtopology.insert(subtopology.subtopology_id.clone(), subtopology);
        }
        let mut groups = Vec::new();
        for subtopology in by_subtopology.values() {
            for group in &subtopology.copartition_groups {
                let sources = group.source_topics.iter().map(|&at| place(&subtopology.source_topics, at).cloned());
                let repartition = &subtopology.repartition_source_topics;
                let repartition =
                    group.repartition_source_topics.iter().map(|&at| Some(place(repartition, at)?.name.clone()));
                let names: Option<BTreeSet<JString>> = sources.chain(repartition).collect();
                groups.push(names.ok_or(TopologyError::Unexpected)?);
            }
        }
        Ok(groups)
    }

    /// `CopartitionedTopicsEnforcer`: the repartition topics of a group get the partitions of its other topics, or
    /// those of the largest. (Where all are repartition topics, Kafka looks at the fixed ones of the whole topology.)
    fn enforce_copartitioning(&mut self, group: &BTreeSet<JString>) -> Result<(), Stop> {
        let repartition_sources = || self.subtopologies().flat_map(|s| &s.repartition_source_topics);
        let fixed: BTreeSet<&JString> =
            repartition_sources().filter(|topic| topic.partitions != 0).map(|topic| &topic.name).collect();
        let all: BTreeSet<&JString> = repartition_sources().map(|topic| &topic.name).collect();
        let count = |topic: &JString| self.partitions(topic).ok_or(TopologyError::Unexpected);
        let counts: Vec<(&JString, i32)> =
            group.iter().map(|topic| Ok((topic, count(topic)?))).collect::<Result<_, TopologyError>>()?;
        let others = counts.iter().filter(|(topic, _)| !all.contains(topic)).map(|(_, partitions)| *partitions);
        let partitions = match others.clone().next() {
            _ if group.is_empty() => return Ok(()),
            Some(first) if others.clone().all(|partitions| partitions == first) => first,
            Some(_) => return Err(Stop::Problem(Status::IncorrectlyPartitionedTopics)),
            None if fixed.is_empty() => {
                let most = counts.iter().map(|(_, partitions)| *partitions).max();
                most.filter(|partitions| *partitions > 0).ok_or(TopologyError::Invalid)?
            }
            None => {
                let fixed: Vec<i32> = fixed.iter().map(|topic| count(topic)).collect::<Result<_, TopologyError>>()?;
                if fixed.iter().any(|partitions| *partitions != fixed[0]) {
                    return Err(Stop::Problem(Status::IncorrectlyPartitionedTopics));
                }
                fixed[0]
            }
        };
        let repartition: Vec<(JString, i32)> =
            counts.iter().filter(|(topic, _)| all.contains(topic)).map(|&(topic, n)| (topic.clone(), n)).collect();
        if repartition.iter().any(|(topic, n)| fixed.contains(topic) && *n != partitions) {
            return Err(Stop::Problem(Status::IncorrectlyPartitionedTopics));
        }
        self.decided.extend(repartition.into_iter().map(|(topic, _)| (topic, partitions)));
        Ok(())
    }

    /// `ChangelogTopics`: a changelog has a partition for each task.
    fn changelog_topics(&mut self) -> Result<(), TopologyError> {
        let mut changelogs = BTreeMap::new();
        for subtopology in self.subtopologies() {
            let inputs: Option<Vec<i32>> = inputs(subtopology).map(|topic| self.partitions(topic)).collect();
            let most = inputs.ok_or(TopologyError::Unexpected)?.into_iter().max().ok_or(TopologyError::Invalid)?;
            changelogs.extend(subtopology.state_changelog_topics.iter().map(|topic| (topic.name.clone(), most)));
        }
        self.decided.extend(changelogs);
        Ok(())
    }

    fn configured(&self, subtopology: &Subtopology) -> Result<ConfiguredSubtopology, TopologyError> {
        let tasks = inputs(subtopology).filter_map(|topic| self.partitions(topic)).max();
        let mut internal_topics = BTreeMap::new();
        for topics in [&subtopology.repartition_source_topics, &subtopology.state_changelog_topics] {
            let mut names = BTreeSet::new();
            for topic in topics {
                let partitions = Some(topic.partitions).filter(|partitions| *partitions != 0);
                let partitions = partitions.or_else(|| self.decided.get(&topic.name).copied());
                if !is_topic_name(&topic.name) {
                    return Err(TopologyError::TopicName);
                }
                let partitions = partitions.filter(|n| *n > 0 && names.insert(&topic.name));
                internal_topics.insert(topic.name.clone(), partitions.ok_or(TopologyError::Unexpected)?);
            }
        }
        Ok(ConfiguredSubtopology {
            tasks: tasks.filter(|tasks| *tasks > 0).ok_or(TopologyError::Unexpected)?,
            internal_topics,
            inputs: inputs(subtopology).cloned().collect(),
            stateful: !subtopology.state_changelog_topics.is_empty(),
        })
    }

    /// The internal topics that do not exist; those that do must have the right number of partitions.
    fn missing(
        &self,
        subtopologies: &BTreeMap<JString, ConfiguredSubtopology>,
    ) -> Result<BTreeMap<JString, i32>, Stop> {
        let internal = subtopologies.values().flat_map(|subtopology| &subtopology.internal_topics);
        let mut to_create: BTreeMap<JString, i32> = internal.map(|(name, n)| (name.clone(), *n)).collect();
        let existing = |topic: &JString| (self.existing)(topic);
        if to_create.iter().any(|(topic, partitions)| existing(topic).is_some_and(|found| found != *partitions)) {
            return Err(Stop::Problem(Status::IncorrectlyPartitionedTopics));
        }
        to_create.retain(|topic, _| existing(topic).is_none());
        Ok(to_create)
    }
}

fn place<T>(list: &[T], at: i16) -> Option<&T> {
    usize::try_from(at).ok().and_then(|at| list.get(at))
}

/// `Topic.validate`.
pub fn is_topic_name(name: &str) -> bool {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    !name.is_empty() && name != "." && name != ".." && name.len() <= 249 && name.chars().all(legal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kafka::records::streams::{self, CopartitionGroup, TopicInfo};
    use serde::Deserialize;

    /// Id, sources, changelogs, repartition sinks, repartition sources, copartition groups.
    type Listed = (String, Vec<String>, Vec<(String, i32)>, Vec<String>, Vec<(String, i32)>, Vec<(Vec<i16>, Vec<i16>)>);

    #[derive(Deserialize)]
    struct Line {
        /// How many partitions the existing topics have.
        topics: BTreeMap<String, i32>,
        subtopologies: Vec<Listed>,
        /// The code of the status, if there is one.
        status: Option<i8>,
        #[serde(default)]
        tasks: BTreeMap<String, i32>,
        #[serde(default)]
        to_create: BTreeMap<String, i32>,
        error: Option<String>,
    }

    fn subtopology((id, sources, changelogs, sinks, repartition, groups): &Listed) -> Subtopology {
        let names = |names: &[String]| names.iter().map(|name| name.as_str().into()).collect();
        let infos = |infos: &[(String, i32)]| {
            infos
                .iter()
                .map(|(name, n)| TopicInfo {
                    name: name.as_str().into(),
                    partitions: *n,
                    replication_factor: 0,
                    topic_configs: Vec::new(),
                })
                .collect()
        };
        let group = |(sources, repartition): &(Vec<i16>, Vec<i16>)| CopartitionGroup {
            source_topics: sources.clone(),
            source_topic_regex: Vec::new(),
            repartition_source_topics: repartition.clone(),
        };
        Subtopology {
            subtopology_id: id.as_str().into(),
            source_topics: names(sources),
            source_topic_regex: Vec::new(),
            state_changelog_topics: infos(changelogs),
            repartition_sink_topics: names(sinks),
            repartition_source_topics: infos(repartition),
            copartition_groups: groups.iter().map(group).collect(),
        }
    }

    fn check(text: &str) -> Result<(), String> {
        let line: Line = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let record =
            streams::Topology { epoch: 3, subtopologies: line.subtopologies.iter().map(subtopology).collect() };
        let topology = Topology::new(&record).ok_or("two subtopologies of one id")?;
        let configured = configure(&topology, &|topic| line.topics.get(topic).copied());
        let by_name = |map: BTreeMap<JString, i32>| map.into_iter().map(|(name, n)| (name.to_string(), n)).collect();
        let got = configured.map(|c| {
            let tasks = c.subtopologies.into_iter().map(|(id, of_id)| (id.to_string(), of_id.tasks)).collect();
            (c.problem.map(|status| status as i8), tasks, by_name(c.to_create))
        });
        let expected = match line.error.as_deref() {
            Some("StreamsInvalidTopologyException") => Err(TopologyError::Invalid),
            Some(_) => Err(TopologyError::Unexpected),
            None => Ok((line.status, line.tasks, line.to_create)),
        };
        if got == expected { Ok(()) } else { Err(format!("expected {expected:?}, got {got:?}")) }
    }

    /// `tests/golden/streams/topologies.jsonl`: what `InternalTopicManager.configureTopics` of Kafka 4.3.1 made of random
    /// topologies.
    #[test]
    fn topologies_become_what_kafka_makes_of_them() {
        let text = include_str!("../../../tests/golden/streams/topologies.jsonl");
        assert_eq!(text.lines().count(), 60);
        for (number, line) in text.lines().enumerate() {
            assert_eq!(check(line), Ok(()), "line {}", number + 1);
        }
    }
}
