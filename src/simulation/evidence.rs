//! What a bump can be explained with beside its causes: the image, what the topic was before and after, and what was written.

use super::fold::first_image_at;
use crate::cluster::{History, ImageNumber, TopicVersion};
use crate::coordinator::FoundChange;
use crate::kafka::JString;
use crate::kafka::records::RecordType;
use crate::kernel::TimeMs;

/// The most partitions whose racks are told.
const PARTITIONS: usize = 2;

/// A topic that was found changed: as the group stored it, and as it was at the bump. What does not exist is empty.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Values {
    /// The image in which it was no longer as the group had stored it.
    pub image: ImageNumber,
    /// As the group stored it.
    pub before: String,
    /// As it was at the bump.
    pub after: String,
}

/// Records of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// The type.
    pub record_type: RecordType,
    /// How many.
    pub records: u64,
    /// Their bytes in batches.
    pub bytes: u64,
}

/// Adds records to others, which are in the order of their first one.
pub(super) fn add(all: &mut Vec<Written>, more: Written) {
    match all.iter_mut().find(|written| written.record_type == more.record_type) {
        Some(written) => {
            written.records += more.records;
            written.bytes += more.bytes;
        }
        None => all.push(more),
    }
}

/// What a found change was. Until the first image since which the topic differs it was as the group had stored it.
pub(super) fn values_of(history: &History, change: &FoundChange, now_ms: TimeMs) -> Values {
    let Some(topic) = history.index_of(&change.topic) else { return Values::default() };
    let changed = |image: &ImageNumber| history.image(*image).hash_changed.contains(&topic);
    let from = first_image_at(history, change.since_ms);
    let Some(image) = (from..=history.last_image()).find(changed) else { return Values::default() };
    let now = first_image_at(history, now_ms + 1) - 1;
    let before = history.version_at(topic, image - 1).map(AsRef::as_ref);
    let after = history.version_at(topic, now).map(AsRef::as_ref);
    let (before, after) = in_words(history, before, after);
    Values { image, before, after }
}

/// The first of id, number of partitions and racks that differs.
fn in_words(history: &History, before: Option<&TopicVersion>, after: Option<&TopicVersion>) -> (String, String) {
    let partitions = |version: &TopicVersion| version.num_partitions().to_string();
    let (Some(old), Some(new)) = (before, after) else {
        return (before.map(partitions).unwrap_or_default(), after.map(partitions).unwrap_or_default());
    };
    if old.id != new.id {
        return (old.id.to_string(), new.id.to_string());
    }
    if old.num_partitions() != new.num_partitions() {
        return (partitions(old), partitions(new));
    }
    let differ: Vec<usize> = (0..new.partition_ends.len())
        .filter(|&partition| old.partition_racks(partition) != new.partition_racks(partition))
        .collect();
    let racks = |version: &TopicVersion| {
        let of = |&partition: &usize| {
            let racks = version.partition_racks(partition).iter().map(|rack| history.rack(*rack));
            format!("{partition}: {}", racks.map(word).collect::<Vec<_>>().join(" "))
        };
        let mut told: Vec<String> = differ.iter().take(PARTITIONS).map(of).collect();
        if differ.len() > PARTITIONS {
            told.push(format!("and {} more partitions", differ.len() - PARTITIONS));
        }
        told.join(", ")
    };
    if differ.is_empty() { (String::new(), String::new()) } else { (racks(old), racks(new)) }
}

/// A name without the sign that stands between values.
fn word(name: &JString) -> String {
    name.as_str().replace(';', ",")
}
