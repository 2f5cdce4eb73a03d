//! The topology of a streams application (`StreamsTopology`).

use crate::kafka::JString;
use crate::kafka::java::HashMap;
use crate::kafka::records::streams::{self, Subtopology};
use std::collections::BTreeSet;

/// A topology. Two are equal whatever the order of their subtopologies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    /// Its epoch.
    pub epoch: i32,
    /// The subtopologies by id.
    pub subtopologies: HashMap<JString, Subtopology>,
    /// The topics that must exist: all that are read, and the changelogs (`requiredTopics`).
    pub required_topics: BTreeSet<JString>,
}

impl Topology {
    /// The topology of a record; `None` if two subtopologies have one id (`Collectors.toMap` throws) or the epoch is
    /// negative.
    pub fn new(record: &streams::Topology) -> Option<Topology> {
        let mut subtopologies = HashMap::new();
        let mut required_topics = BTreeSet::new();
        for subtopology in &record.subtopologies {
            let changelogs = subtopology.state_changelog_topics.iter().map(|topic| &topic.name);
            required_topics.extend(inputs(subtopology).chain(changelogs).cloned());
            if subtopologies.insert(subtopology.subtopology_id.clone(), subtopology.clone()).is_some() {
                return None;
            }
        }
        (record.epoch >= 0).then_some(Topology { epoch: record.epoch, subtopologies, required_topics })
    }
}

/// The names of all topics that a subtopology reads.
pub fn inputs(subtopology: &Subtopology) -> impl Iterator<Item = &JString> {
    subtopology.source_topics.iter().chain(subtopology.repartition_source_topics.iter().map(|topic| &topic.name))
}
