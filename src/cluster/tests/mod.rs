//! The room's tests, and short ways to write changes.

mod effects;
mod history;
mod placement;
mod random_changes;

use super::{Change, History, HistoryBuilder, ImageNumber, TopicIndex, TopicVersion};
use crate::kafka::Uuid;

pub(super) fn broker(id: i32, rack: &str) -> Change {
    Change::RegisterBroker { id, rack: Some(rack.to_owned()) }
}

pub(super) fn unregister(id: i32) -> Change {
    Change::UnregisterBroker { id }
}

/// A topic whose id is (1, `id`).
pub(super) fn create(name: &str, id: u64, replicas: &[&[i32]]) -> Change {
    Change::CreateTopic { name: name.to_owned(), id: Uuid::from_halves(1, id), replicas: lists(replicas) }
}

pub(super) fn grow(topic: &str, replicas: &[&[i32]]) -> Change {
    Change::AddPartitions { topic: topic.to_owned(), replicas: lists(replicas) }
}

pub(super) fn delete(topic: &str) -> Change {
    Change::DeleteTopic { topic: topic.to_owned() }
}

/// A change of a partition that changes nothing.
pub(super) fn touch(topic: &str, partition: i32) -> Change {
    change(topic, partition, None, None, None)
}

pub(super) fn reassign(topic: &str, partition: i32, replicas: &[i32]) -> Change {
    change(topic, partition, Some(replicas), None, None)
}

pub(super) fn isr(topic: &str, partition: i32, isr: &[i32], leader: Option<i32>) -> Change {
    change(topic, partition, None, Some(isr), leader)
}

pub(super) fn change(
    topic: &str,
    partition: i32,
    replicas: Option<&[i32]>,
    isr: Option<&[i32]>,
    leader: Option<i32>,
) -> Change {
    let topic = topic.to_owned();
    Change::ChangePartition {
        topic,
        partition,
        replicas: replicas.map(<[i32]>::to_vec),
        isr: isr.map(<[i32]>::to_vec),
        leader,
        elr: None,
    }
}

fn lists(replicas: &[&[i32]]) -> Vec<Vec<i32>> {
    replicas.iter().map(|list| list.to_vec()).collect()
}

/// A history of images one second apart.
pub(super) fn builder(images: &[&[Change]]) -> HistoryBuilder {
    let mut builder = HistoryBuilder::new();
    for (time_s, changes) in (1..).zip(images) {
        builder.publish(time_s * 1000, "test", changes).expect("valid changes");
    }
    builder
}

pub(super) fn history(images: &[&[Change]]) -> History {
    builder(images).finish()
}

pub(super) fn index(history: &History, name: &str) -> TopicIndex {
    history.index_of(name).expect("a known name")
}

pub(super) fn version<'a>(history: &'a History, name: &str, image: ImageNumber) -> &'a TopicVersion {
    history.version_at(index(history, name), image).expect("the topic exists")
}
