//! Java's own objects and Kafka's timeline structures.

use super::class::Class;
use super::layout::{byte_array, reference_array};
use super::tally::Part;
use crate::kafka::java::{HashMap, HashSet, TimelineMap, TimelineSet};

/// The buckets of a `HashMap` that grew to so many entries; 0 before the first one.
pub(super) fn grown(entries: usize) -> usize {
    if entries == 0 {
        return 0;
    }
    let mut buckets = 16;
    while entries > buckets * 3 / 4 {
        buckets *= 2;
    }
    buckets
}

/// The buckets of `new HashSet<>(collection)`.
pub(super) fn copied(elements: usize) -> usize {
    if elements == 0 {
        return 0;
    }
    ((elements as f32 / 0.75) as usize + 1).max(16).next_power_of_two()
}

/// Whether Java has no box of its own for a number.
pub(super) fn is_boxed_anew(number: i32) -> bool {
    !(-128..=127).contains(&number)
}

impl Part<'_> {
    /// A text; the empty one is a constant.
    pub fn string(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        // One byte a character while all are Latin-1.
        let bytes = if text.is_ascii() {
            text.len()
        } else if text.chars().all(|character| character <= '\u{ff}') {
            text.chars().count()
        } else {
            2 * text.encode_utf16().count()
        };
        self.add(Class::String, 1);
        self.sized(Class::ByteArray, 1, byte_array(bytes as u64));
    }

    /// A text that may be absent.
    pub fn string_or_null(&mut self, text: Option<&str>) {
        text.into_iter().for_each(|text| self.string(text));
    }

    /// An `Integer`.
    pub fn integer(&mut self, number: i32) {
        self.add(Class::Integer, u64::from(is_boxed_anew(number)));
    }

    /// A `HashMap` with so many buckets and entries, without keys and values.
    pub fn hash_map(&mut self, buckets: usize, entries: usize) {
        self.add(Class::HashMap, 1);
        self.add(Class::HashMapNode, entries as u64);
        if buckets > 0 {
            self.sized(Class::NodeArray, 1, reference_array(buckets as u64));
        }
    }

    /// A `HashMap` as it is kept.
    pub fn kept_hash_map<K, V>(&mut self, map: &HashMap<K, V>) {
        self.hash_map(map.slots(), map.len());
    }

    /// A `HashSet` that has been walked, without its elements.
    pub fn hash_set(&mut self, buckets: usize, elements: usize) {
        self.hash_map(buckets, elements);
        self.add(Class::HashSet, 1);
        self.add(Class::HashMapKeySet, 1);
    }

    /// A `HashSet` as it is kept.
    pub fn kept_hash_set<K: crate::kafka::java::JavaHash + Eq>(&mut self, set: &HashSet<K>) {
        self.hash_set(set.slots(), set.len());
    }

    /// A `TimelineHashMap`, without keys and values.
    pub fn timeline_map<K, V>(&mut self, map: &TimelineMap<K, V>) {
        self.add(Class::TimelineHashMap, 1);
        self.add(Class::TimelineHashMapEntry, map.len() as u64);
        self.timeline_table(map.slots(), map.collisions());
    }

    /// A `TimelineHashSet`, without its elements.
    pub fn timeline_set<K: crate::kafka::java::JavaHash + Eq + Clone>(&mut self, set: &TimelineSet<K>) {
        self.add(Class::TimelineHashSet, 1);
        self.add(Class::TimelineHashSetEntry, set.len() as u64);
        self.timeline_table(set.slots(), set.collisions());
    }

    /// A slot with one entry refers to it; one with several, to an array of them.
    fn timeline_table(&mut self, slots: usize, collisions: impl Iterator<Item = usize>) {
        self.sized(Class::ObjectArray, 1, reference_array(slots as u64));
        collisions.for_each(|entries| self.sized(Class::ObjectArray, 1, reference_array(entries as u64)));
    }
}
