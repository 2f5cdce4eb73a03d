//! What the members of a streams group run: the topology that they send, and the internal topics that it needs.
//!
//! In Kafka the coordinator names missing internal topics in its answers, and the broker that passes an answer on
//! creates them (`AutoTopicCreationManager`). Here the history creates them, so that it does not depend on the strategy:
//! at a fixed delay after a member has joined for the first time and all sources are there.

use crate::kafka::JString;
use crate::kafka::records::streams::{Subtopology, TopicInfo, Topology};
use crate::kernel::TimeMs;
use crate::scenario::{self, Reads};
use std::sync::Arc;

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Application {
    /// The topology, as a member sends it when it joins.
    pub topology: Arc<Topology>,
    /// How long after they are needed its internal topics are there.
    pub internal_topics_after_ms: TimeMs,
}

impl Application {
    /// The application of a group. Internal topics are named as Kafka Streams does it, after the application's id.
    pub fn new(group: &str, sources: &[JString], plan: &scenario::Application) -> Self {
        let mut sources = sources.to_vec();
        sources.sort_unstable();
        sources.dedup();
        let internal = |name: String, partitions| TopicInfo {
            name: JString::from(name),
            partitions,
            replication_factor: 0,
            topic_configs: Vec::new(),
        };
        let mut subtopologies: Vec<Subtopology> = Vec::new();
        for (number, part) in plan.subtopologies.iter().enumerate() {
            let stores = 0..part.stores;
            let mut subtopology = Subtopology {
                subtopology_id: JString::from(number.to_string()),
                source_topics: Vec::new(),
                source_topic_regex: Vec::new(),
                state_changelog_topics: stores
                    .map(|store| internal(format!("{group}-store-{number}-{store}-changelog"), 0))
                    .collect(),
                repartition_sink_topics: Vec::new(),
                repartition_source_topics: Vec::new(),
                copartition_groups: Vec::new(),
            };
            match part.reads {
                Reads::Sources => subtopology.source_topics.clone_from(&sources),
                Reads::Repartition { partitions } => {
                    let topic = internal(format!("{group}-{number}-repartition"), partitions.unwrap_or(0));
                    if let Some(writer) = subtopologies.last_mut() {
                        writer.repartition_sink_topics.push(topic.name.clone());
                    }
                    subtopology.repartition_source_topics.push(topic);
                }
            }
            subtopologies.push(subtopology);
        }
        // In the order of the record: by id, as texts.
        subtopologies.sort_by(|a, b| a.subtopology_id.cmp(&b.subtopology_id));
        subtopologies.iter_mut().for_each(|s| s.state_changelog_topics.sort_by(|a, b| a.name.cmp(&b.name)));
        Application {
            topology: Arc::new(Topology { epoch: 0, subtopologies }),
            internal_topics_after_ms: plan.internal_topics_after_ms,
        }
    }

    /// The topics that it reads and does not write.
    pub fn sources(&self) -> impl Iterator<Item = &JString> {
        self.topology.subtopologies.iter().flat_map(|subtopology| &subtopology.source_topics)
    }

    /// The topics that it needs and that nobody else makes.
    pub fn internal_topics(&self) -> impl Iterator<Item = &JString> {
        self.topology.subtopologies.iter().flat_map(|subtopology| {
            subtopology
                .repartition_source_topics
                .iter()
                .chain(&subtopology.state_changelog_topics)
                .map(|info| &info.name)
        })
    }

    /// The internal topics, each with the number of partitions that the coordinator would ask for
    /// (`InternalTopicManager`, `RepartitionTopics`, `ChangelogTopics` of 4.3.1); `None` if a source is missing.
    pub fn internal_topic_partitions(&self, partitions_of: impl Fn(&str) -> Option<i64>) -> Option<Vec<(&str, i64)>> {
        let mut decided: Vec<(&str, i64)> = Vec::new();
        let mut open: Vec<&Subtopology> = self.topology.subtopologies.iter().collect();
        // A part's tasks are known once the tasks of the part that writes to it are.
        while let Some(at) = open.iter().position(|part| self.tasks(part, &decided, &partitions_of).is_some()) {
            let part = open.remove(at);
            let tasks = self.tasks(part, &decided, &partitions_of)?;
            for sink in &part.repartition_sink_topics {
                let fixed = self.fixed_partitions(sink);
                decided.push((sink, fixed.unwrap_or(tasks)));
            }
            decided.extend(part.state_changelog_topics.iter().map(|info| (info.name.as_str(), tasks)));
        }
        open.is_empty().then_some(decided)
    }

    /// How many tasks a part has: the most partitions of what it reads.
    fn tasks(
        &self,
        part: &Subtopology,
        decided: &[(&str, i64)],
        partitions_of: impl Fn(&str) -> Option<i64>,
    ) -> Option<i64> {
        let sources = part.source_topics.iter().map(|topic| partitions_of(topic));
        let repartition = part.repartition_source_topics.iter().map(|info| {
            decided.iter().find(|(name, _)| *name == info.name.as_str()).map(|(_, partitions)| *partitions)
        });
        sources.chain(repartition).collect::<Option<Vec<i64>>>()?.into_iter().max()
    }

    fn fixed_partitions(&self, topic: &JString) -> Option<i64> {
        let infos = self.topology.subtopologies.iter().flat_map(|part| &part.repartition_source_topics);
        infos.filter(|info| info.name == *topic && info.partitions > 0).map(|info| i64::from(info.partitions)).next()
    }
}
