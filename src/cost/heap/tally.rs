//! Objects and bytes by component and class.

use super::class::Class;
use super::layout::Bytes;

/// A part of what a shard holds. An object that several reach belongs to the first of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Component {
    /// The groups themselves, their ids, epochs and states.
    Groups,
    /// Members, what they subscribe to by name, static members, counts of assignors.
    Members,
    /// Target assignments, by member and by partition.
    TargetAssignment,
    /// What members own, and at which epochs partitions are owned.
    CurrentAssignment,
    /// Counts of subscriptions by topic, regular expressions and what they match; the topology of a streams group.
    Subscriptions,
    /// Which groups subscribe to a topic.
    GroupsByTopics,
    /// Share partitions and how far they are initialised.
    SharePartitions,
    /// Session and rebalance timers.
    Timers,
    /// The strategy's: what groups stored of their topics.
    SubscriptionMetadata,
    /// The strategy's: remembered topic hashes.
    TopicHashCache,
    /// The registry of everything that can go back to a snapshot.
    SnapshotRegistry,
    /// The buffer that batches are built in.
    Buffer,
}

impl Component {
    /// All of them, in the order in which they reach objects.
    pub const ALL: [Component; 12] = [
        Component::Groups,
        Component::Members,
        Component::TargetAssignment,
        Component::CurrentAssignment,
        Component::Subscriptions,
        Component::GroupsByTopics,
        Component::SharePartitions,
        Component::Timers,
        Component::SubscriptionMetadata,
        Component::TopicHashCache,
        Component::SnapshotRegistry,
        Component::Buffer,
    ];

    /// Its name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Component::Groups => "groups",
            Component::Members => "members",
            Component::TargetAssignment => "target_assignment",
            Component::CurrentAssignment => "current_assignment",
            Component::Subscriptions => "subscriptions",
            Component::GroupsByTopics => "groups_by_topics",
            Component::SharePartitions => "share_partitions",
            Component::Timers => "timers",
            Component::SnapshotRegistry => "snapshot_registry",
            Component::Buffer => "buffer",
            Component::SubscriptionMetadata => "subscription_metadata",
            Component::TopicHashCache => "topic_hash_cache",
        }
    }
}

/// How many objects there are, and their bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// Objects.
    pub objects: u64,
    /// Bytes of all of them.
    pub bytes: Bytes,
}

impl std::ops::AddAssign for Count {
    fn add_assign(&mut self, other: Count) {
        self.objects += other.objects;
        self.bytes.compressed += other.bytes.compressed;
        self.bytes.plain += other.bytes.plain;
    }
}

/// What is held, by component and class.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heap {
    /// Component by component, class by class.
    counts: Vec<Count>,
}

impl Default for Heap {
    fn default() -> Self {
        Heap { counts: vec![Count::default(); Component::ALL.len() * Class::ALL.len()] }
    }
}

impl std::ops::AddAssign<&Heap> for Heap {
    fn add_assign(&mut self, other: &Heap) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, other)| *count += *other);
    }
}

impl Heap {
    /// What a component holds of a class.
    pub fn count(&self, component: Component, class: Class) -> Count {
        self.counts[component as usize * Class::ALL.len() + class as usize]
    }

    /// What a component holds.
    pub fn component(&self, component: Component) -> Count {
        let mut sum = Count::default();
        Class::ALL.iter().for_each(|class| sum += self.count(component, *class));
        sum
    }

    /// All of it.
    pub fn total(&self) -> Count {
        let mut sum = Count::default();
        self.counts.iter().for_each(|count| sum += *count);
        sum
    }

    /// Every component and class of which there is an object.
    pub fn classes(&self) -> impl Iterator<Item = (Component, Class, Count)> {
        let counts =
            Component::ALL.into_iter().flat_map(|component| Class::ALL.iter().map(move |&class| (component, class)));
        counts
            .zip(&self.counts)
            .map(|((component, class), count)| (component, class, *count))
            .filter(|c| c.2.objects > 0)
    }

    /// The objects of a class, in all components.
    pub fn objects(&self, class: Class) -> u64 {
        Component::ALL.into_iter().map(|component| self.count(component, class).objects).sum()
    }

    /// A component, to add to.
    pub(super) fn part(&mut self, component: Component) -> Part<'_> {
        let first = component as usize * Class::ALL.len();
        Part { counts: &mut self.counts[first..first + Class::ALL.len()] }
    }
}

/// A component that is being counted.
#[derive(Debug)]
pub(super) struct Part<'h> {
    counts: &'h mut [Count],
}

impl Part<'_> {
    /// Objects of one class and size.
    pub fn sized(&mut self, class: Class, objects: u64, each: Bytes) {
        let bytes = Bytes { compressed: each.compressed * objects, plain: each.plain * objects };
        self.counts[class as usize] += Count { objects, bytes };
    }

    /// Objects of a class.
    pub fn add(&mut self, class: Class, objects: u64) {
        self.sized(class, objects, class.fields().object());
    }

    /// What has been counted elsewhere.
    pub fn counted(&mut self, class: Class, count: Count) {
        self.counts[class as usize] += count;
    }
}
