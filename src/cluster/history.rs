//! The history of the cluster's metadata: every image, as versions of topics. Computed once; every strategy and
//! every shard reads the same.

pub use super::builder::HistoryBuilder;
use super::{Change, TopicVersion};
use crate::kafka::{JString, Uuid};
use crate::kernel::TimeMs;
use crate::kernel::lookup::Lookup;
use std::sync::Arc;

/// The number of an image: how many were published before it and it. 0 is the empty image before the first.
pub type ImageNumber = u32;

/// The index of a topic *name* in a history. A topic created anew under an old name has the same index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicIndex(pub u32);

/// A published image, as the delta from the one before.
#[derive(Debug, Clone, Default)]
pub struct Image {
    /// When it was published.
    pub time_ms: TimeMs,
    /// `TopicsDelta.changedTopics`: topics with a record of their own, in the order of their first record.
    pub changed: Vec<TopicIndex>,
    /// `TopicsDelta.deletedTopicIds`: the names of topics of the image before that are gone (they may be in
    /// `changed` too, when created anew in the same image).
    pub deleted: Vec<TopicIndex>,
    /// Whether `TopicsDelta.createdTopicIds` is not empty, in Kafka 4.3.1.
    pub creates_topics: bool,
    /// The same in Kafka 4.0 and 4.1, where a topic that is deleted again in the same image stays in it.
    pub creates_topics_up_to_4_1: bool,
    /// The brokers that registered (anew) or were unregistered, in the order of their first record.
    pub registered: Vec<i32>,
    /// The topics that those of them host that are registered now, in order of their indexes.
    pub rehosted: Vec<TopicIndex>,
    /// The topics whose fresh `rack-list` hash differs from the image before, in order of their indexes: broker
    /// registrations included; topics that appear or are gone, too.
    pub hash_changed: Vec<TopicIndex>,
    /// What it was for, in a word (`create`, `expand`, `isr-shrink`, …); for explanations only.
    pub event: Arc<str>,
}

/// A change that cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("change {position}: {message}")]
pub struct ChangeError {
    /// Which change of the image, from 0.
    pub position: usize,
    /// What is wrong, and what would be right.
    pub message: String,
}

/// The versions of a topic name in order: the image from which each holds, and the version (`None`: deleted).
pub type Versions = Vec<(ImageNumber, Option<Arc<TopicVersion>>)>;

/// The cluster's metadata over time.
#[derive(Debug)]
pub struct History {
    pub(super) images: Vec<Image>,
    pub(super) names: Vec<JString>,
    pub(super) indexes: Lookup<JString, TopicIndex>,
    pub(super) ids: Lookup<Uuid, TopicIndex>,
    pub(super) racks: Vec<JString>,
    /// By topic index; shorter than `names` where the last names have no version.
    pub(super) versions: Vec<Versions>,
    pub(super) leaders: Vec<Vec<(ImageNumber, i32)>>,
    pub(super) offsets_replicas: Vec<u32>,
    pub(super) changes: Option<Vec<Box<[Change]>>>,
}

impl History {
    /// The number of the last image.
    pub fn last_image(&self) -> ImageNumber {
        (self.images.len() - 1) as ImageNumber
    }

    /// An image; number 0 is the empty one, at time 0, with an empty delta. Numbers above [`History::last_image`] are
    /// none.
    pub fn image(&self, number: ImageNumber) -> &Image {
        &self.images[number as usize]
    }

    /// The changes that an image was published with; `None` unless its builder
    /// [keeps them](HistoryBuilder::keeping_changes).
    pub fn changes(&self, number: ImageNumber) -> Option<&[Change]> {
        self.changes.as_ref().map(|changes| &*changes[number as usize])
    }

    /// The index of a topic name; `None` if no topic of that name ever exists and nobody asked for an index.
    pub fn index_of(&self, name: &str) -> Option<TopicIndex> {
        self.indexes.get(name).copied()
    }

    /// The name of an index.
    pub fn topic_name(&self, topic: TopicIndex) -> &JString {
        &self.names[topic.0 as usize]
    }

    /// The index of the name that a topic id has (or had).
    pub fn index_of_id(&self, id: Uuid) -> Option<TopicIndex> {
        self.ids.get(&id).copied()
    }

    /// What a topic looks like in an image; `None` where it does not exist.
    pub fn version_at(&self, topic: TopicIndex, image: ImageNumber) -> Option<&Arc<TopicVersion>> {
        last_at(self.versions(topic), image)?.as_ref()
    }

    /// All versions of a topic name in order: the image from which each holds, and the version (`None`: deleted).
    pub fn versions(&self, topic: TopicIndex) -> &[(ImageNumber, Option<Arc<TopicVersion>>)] {
        self.versions.get(topic.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// The first image since which, up to `image`, a topic's fresh `rack-list` hash has never been `hash` (`None`: the
    /// topic does not exist); `None` if it still is. A change and back again is none.
    pub fn differs_since(&self, topic: TopicIndex, hash: Option<i64>, image: ImageNumber) -> Option<ImageNumber> {
        let versions = self.versions(topic);
        let published = &versions[..versions.partition_point(|(from, _)| *from <= image)];
        let differs =
            |(_, version): &&(ImageNumber, Option<Arc<TopicVersion>>)| version.as_ref().map(|v| v.hash) != hash;
        published.iter().rev().take_while(differs).last().map(|(from, _)| *from)
    }

    /// All topic names, in the order of their indexes.
    pub fn topics(&self) -> impl Iterator<Item = TopicIndex> + '_ {
        (0..self.names.len()).map(|index| TopicIndex(index as u32))
    }

    /// The name of a rack that `TopicVersion::racks` speaks of.
    pub fn rack(&self, rack: u16) -> &JString {
        &self.racks[usize::from(rack)]
    }

    /// The names of all racks, in the order of their indexes.
    pub fn racks(&self) -> impl Iterator<Item = &JString> {
        self.racks.iter()
    }

    /// How the leader of each partition of `__consumer_offsets` changes: for each partition the image from which on it
    /// has the leader (-1: none). Empty if there never is such a topic.
    pub fn leaders(&self) -> &[Vec<(ImageNumber, i32)>] {
        &self.leaders
    }

    /// How many replicas a partition of `__consumer_offsets` has at the end, or had last.
    pub fn offsets_replicas(&self, partition: i32) -> u32 {
        let partition = usize::try_from(partition).ok();
        partition.and_then(|partition| self.offsets_replicas.get(partition)).copied().unwrap_or(0)
    }

    /// How often a partition of `__consumer_offsets` has had another leader (or none) up to an image: its leader epoch, as
    /// far as leaders change it.
    pub fn leader_epoch_at(&self, partition: i32, image: ImageNumber) -> i32 {
        let partition = usize::try_from(partition).ok().and_then(|partition| self.leaders.get(partition));
        let changes = partition.map_or(0, |leaders| leaders.partition_point(|(from, _)| *from <= image));
        changes.saturating_sub(1) as i32
    }

    /// The leader of a partition of `__consumer_offsets` in an image; -1 if it has none or does not exist.
    pub fn leader_at(&self, partition: i32, image: ImageNumber) -> i32 {
        let partition = usize::try_from(partition).ok().and_then(|partition| self.leaders.get(partition));
        partition.and_then(|leaders| last_at(leaders, image)).copied().unwrap_or(-1)
    }
}

/// What holds in an image, of a list in order of images.
fn last_at<T>(list: &[(ImageNumber, T)], image: ImageNumber) -> Option<&T> {
    let after = list.partition_point(|(from, _)| *from <= image);
    Some(&list[after.checked_sub(1)?].1)
}
