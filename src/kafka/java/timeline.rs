//! `TimelineHashMap` and `TimelineHashSet` of `org.apache.kafka.timeline`: the order in which they are walked, and
//! what a roll-back makes of it. The same in Kafka 3.9.1, 4.0.0, 4.1.1 and 4.3.1.

use super::JavaHash;
use super::chains::Chains;
use std::borrow::Borrow;

/// `BaseHashTable`: chains are arrays in Kafka, and walked from their last element. Here the last element of
/// Kafka's array is the head of the chain.
#[derive(Debug, Clone)]
struct BaseTable<K, T> {
    chains: Chains<(K, T)>,
}

impl<K, T> BaseTable<K, T> {
    fn new(expected_size: usize) -> Self {
        // `expectedSizeToCapacity`: ceil(expected / 0.75) as a power of two, at least 2.
        let slots = (expected_size * 4).div_ceil(3).next_power_of_two().max(2);
        BaseTable { chains: Chains::new(slots) }
    }
}

impl<K: JavaHash + Eq, T> BaseTable<K, T> {
    fn slot<Q: JavaHash + ?Sized>(&self, key: &Q) -> usize {
        slot_of(key, self.chains.slots())
    }

    fn get<Q: JavaHash + Eq + ?Sized>(&self, key: &Q) -> Option<&T>
    where
        K: Borrow<Q>,
    {
        self.chains.find(self.slot(key), |(k, _)| k.borrow() == key).map(|(_, item)| item)
    }

    fn get_mut<Q: JavaHash + Eq + ?Sized>(&mut self, key: &Q) -> Option<&mut T>
    where
        K: Borrow<Q>,
    {
        self.chains.find_mut(self.slot(key), |(k, _)| k.borrow() == key).map(|(_, item)| item)
    }

    /// The first half of `baseAddOrReplace`, which does not ask whether the key is already there.
    fn grow(&mut self) {
        if (self.chains.len() + 1) * 3 > self.chains.slots() * 4 {
            let slots = self.chains.slots() * 2;
            self.chains.respread(slots, |(key, _)| slot_of(key, slots));
        }
    }

    /// `baseAddOrReplace`: what is replaced keeps its place.
    fn add_or_replace(&mut self, key: K, item: T) -> Option<(K, T)> {
        self.grow();
        let slot = self.slot(&key);
        if let Some(old) = self.chains.find_mut(slot, |(k, _)| *k == key) {
            return Some(std::mem::replace(old, (key, item)));
        }
        self.chains.push_front(slot, (key, item));
        None
    }

    fn remove<Q: JavaHash + Eq + ?Sized>(&mut self, key: &Q) -> Option<(K, T)>
    where
        K: Borrow<Q>,
    {
        self.chains.remove(self.slot(key), |(k, _)| k.borrow() == key)
    }
}

/// `BaseHashTable.findSlot`: Fibonacci hashing.
fn slot_of<Q: JavaHash + ?Sized>(key: &Q, slots: usize) -> usize {
    let spread = i64::from(key.java_hash()).wrapping_mul(-7_046_029_254_386_353_131) as u64;
    (spread >> (64 - slots.trailing_zeros())) as usize
}

#[derive(Debug, Clone)]
struct Element<V> {
    value: V,
    start_epoch: u64,
    /// This is a newer entry for the value of an older one, which waits in the delta without its value.
    shares_value: bool,
}

/// An entry of the last snapshot, kept for a roll-back.
#[derive(Debug, Clone)]
struct OldElement<V> {
    start_epoch: u64,
    /// `None`: the table's entry of the same key holds the value.
    value: Option<V>,
}

/// What has changed since the last snapshot (`SnapshottableHashTable.HashTier`).
#[derive(Debug, Clone)]
struct Delta<K, V> {
    epoch: u64,
    old: Option<BaseTable<K, OldElement<V>>>,
}

impl<K: JavaHash + Eq, V> Delta<K, V> {
    fn keep(&mut self, key: K, start_epoch: u64, value: Option<V>) {
        let old = self.old.get_or_insert_with(|| BaseTable::new(1));
        old.add_or_replace(key, OldElement { start_epoch, value });
    }
}

/// A map that is walked in the order of Kafka's `TimelineHashMap`, and can go back to its last snapshot.
///
/// There is one snapshot: the state before the current *epoch*, a number that the owner passes to every change and
/// raises whenever a write succeeds. After a roll-back the owner keeps the epoch: Kafka's snapshot, too, then stays
/// and remembers what it has once put back.
///
/// A value may itself be such a map: it is changed through [`get_mut`](Self::get_mut), and
/// [`revert_with`](Self::revert_with) rolls it back with its owner.
#[derive(Debug, Clone)]
pub struct TimelineMap<K, V> {
    table: BaseTable<K, Element<V>>,
    delta: Option<Box<Delta<K, V>>>,
}

impl<K, V> TimelineMap<K, V> {
    /// `new TimelineHashMap<>(registry, expectedSize)`.
    pub fn new(expected_size: usize) -> Self {
        TimelineMap { table: BaseTable::new(expected_size), delta: None }
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.table.chains.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The entries in Kafka's order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&K, &V)> {
        self.table.chains.iter().map(|(key, element)| (key, &element.value))
    }

    /// The keys in Kafka's order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &K> {
        self.table.chains.iter().map(|(key, _)| key)
    }

    /// The entries in Kafka's order, each with the epoch in which it was put.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&K, &V, u64)> {
        self.table.chains.iter().map(|(key, element)| (key, &element.value, element.start_epoch))
    }

    /// How many slots the table has.
    pub fn slots(&self) -> usize {
        self.table.chains.slots()
    }

    /// How many entries are in each slot that has several.
    pub fn collisions(&self) -> impl Iterator<Item = usize> {
        let chains = &self.table.chains;
        (0..chains.slots()).map(|slot| chains.chain(slot).count()).filter(|entries| *entries > 1)
    }

    /// The values in Kafka's order.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &V> {
        self.iter().map(|(_, value)| value)
    }
}

impl<K: JavaHash + Eq + Clone, V> TimelineMap<K, V> {
    /// The value of a key.
    pub fn get<Q: JavaHash + Eq + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.table.get(key).map(|element| &element.value)
    }

    /// The value of a key, to be changed within; the map itself does not notice. Only for a value that can roll
    /// itself back.
    pub fn get_mut<Q: JavaHash + Eq + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.table.get_mut(key).map(|element| &mut element.value)
    }

    /// Whether the key is there.
    pub fn contains<Q: JavaHash + Eq + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.table.get(key).is_some()
    }

    /// `put`: whether there was a value before; the entry then keeps its place.
    pub fn insert(&mut self, key: K, value: V, epoch: u64) -> bool {
        self.begin(epoch);
        let element = Element { value, start_epoch: epoch, shares_value: false };
        let old = self.table.add_or_replace(key, element);
        let replaced = old.is_some();
        self.keep(old, epoch);
        replaced
    }

    /// `put` of the very value that is already there, as `compute` does when its function returns the object that it
    /// was given: the entry is a new one for a roll-back. Whether the key is there.
    pub fn touch<Q: JavaHash + Eq + ?Sized>(&mut self, key: &Q, epoch: u64) -> bool
    where
        K: Borrow<Q>,
    {
        if !self.contains(key) {
            return false;
        }
        self.begin(epoch);
        self.table.grow();
        let slot = self.table.slot(key);
        let found = self.table.chains.find_mut(slot, |(k, _)| k.borrow() == key);
        if let (Some((key, element)), Some(delta)) = (found, &mut self.delta)
            && element.start_epoch < epoch
        {
            delta.keep(key.clone(), element.start_epoch, None);
            element.start_epoch = epoch;
            element.shares_value = true;
        }
        true
    }

    /// `remove`: whether the key was there.
    pub fn remove<Q: JavaHash + Eq + ?Sized>(&mut self, key: &Q, epoch: u64) -> bool
    where
        K: Borrow<Q>,
    {
        let Some(old) = self.table.remove(key) else {
            return false;
        };
        self.begin(epoch);
        self.keep(Some(old), epoch);
        true
    }

    /// Keeps only some entries, as a walk with the iterator's `remove` does.
    pub fn retain(&mut self, epoch: u64, mut keep: impl FnMut(&K, &V) -> bool) {
        let taken = self.table.chains.drain(|(key, element)| !keep(key, &element.value));
        if !taken.is_empty() {
            self.begin(epoch);
        }
        for old in taken {
            self.keep(Some(old), epoch);
        }
    }

    /// `clear`: the table keeps its size.
    pub fn clear(&mut self, epoch: u64) {
        self.retain(epoch, |_, _| false);
    }

    /// Goes back to the snapshot (`SnapshottableHashTable.executeRevert`). The order may differ from the one before.
    pub fn revert(&mut self, epoch: u64) {
        self.revert_with(epoch, |_| {});
    }

    /// Like [`revert`](Self::revert), and then rolls back every value of the snapshot.
    pub fn revert_with(&mut self, epoch: u64, mut revert_value: impl FnMut(&mut V)) {
        if self.delta.as_ref().is_some_and(|delta| delta.epoch == epoch) {
            self.revert_entries(epoch);
        }
        for (_, element) in self.table.chains.entries_mut() {
            revert_value(&mut element.value);
        }
    }

    fn revert_entries(&mut self, epoch: u64) {
        for new in self.table.chains.drain(|(_, element)| element.start_epoch >= epoch) {
            self.keep(Some(new), epoch);
        }
        let Some(old) = self.delta.as_mut().and_then(|delta| delta.old.as_mut()) else {
            return;
        };
        for slot in 0..old.chains.slots() {
            let mut keys: Vec<K> = old.chains.chain(slot).map(|(key, _)| key.clone()).collect();
            keys.reverse();
            for key in keys {
                let Some(kept) = old.get_mut(&key) else {
                    continue;
                };
                // It stays in the delta. What a roll-back before this one has put back replaces itself.
                let start_epoch = kept.start_epoch;
                match kept.value.take() {
                    Some(value) => {
                        self.table.add_or_replace(key, Element { value, start_epoch, shares_value: false });
                    }
                    None => self.table.grow(),
                }
            }
        }
    }

    /// Forgets the delta of an earlier epoch: a new snapshot has been taken since.
    fn begin(&mut self, epoch: u64) {
        if self.delta.as_ref().is_none_or(|delta| delta.epoch != epoch) {
            self.delta = Some(Box::new(Delta { epoch, old: None }));
        }
    }

    /// Keeps what left the table, if it belongs to the snapshot.
    fn keep(&mut self, gone: Option<(K, Element<V>)>, epoch: u64) {
        let (Some((key, element)), Some(delta)) = (gone, &mut self.delta) else {
            return;
        };
        if element.start_epoch < epoch {
            delta.keep(key, element.start_epoch, Some(element.value));
        } else if element.shares_value
            && let Some(waiting) = delta.old.as_mut().and_then(|old| old.get_mut(&key))
        {
            waiting.value = Some(element.value);
        }
    }
}

/// A set that is walked in the order of Kafka's `TimelineHashSet`; see [`TimelineMap`] for the epochs.
#[derive(Debug, Clone)]
pub struct TimelineSet<K> {
    map: TimelineMap<K, ()>,
}

impl<K: JavaHash + Eq + Clone> TimelineSet<K> {
    /// `new TimelineHashSet<>(registry, expectedSize)`.
    pub fn new(expected_size: usize) -> Self {
        TimelineSet { map: TimelineMap::new(expected_size) }
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// How many slots the table has.
    pub fn slots(&self) -> usize {
        self.map.slots()
    }

    /// How many keys are in each slot that has several.
    pub fn collisions(&self) -> impl Iterator<Item = usize> {
        self.map.collisions()
    }

    /// The keys in Kafka's order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &K> {
        self.map.keys()
    }

    /// Whether the key is there.
    pub fn contains<Q: JavaHash + Eq + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.map.contains(key)
    }

    /// `add`: whether the key is new. Unlike a map's `put`, it leaves an equal key as it is, and the table too.
    pub fn insert(&mut self, key: K, epoch: u64) -> bool {
        !self.contains(&key) && !self.map.insert(key, (), epoch)
    }

    /// `remove`: whether the key was there.
    pub fn remove<Q: JavaHash + Eq + ?Sized>(&mut self, key: &Q, epoch: u64) -> bool
    where
        K: Borrow<Q>,
    {
        self.map.remove(key, epoch)
    }

    /// Goes back to the snapshot.
    pub fn revert(&mut self, epoch: u64) {
        self.map.revert(epoch);
    }
}
