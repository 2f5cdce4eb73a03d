//! `java.util.HashMap` and `HashSet`: the order in which they are walked (Java 17).

use super::JavaHash;
use super::chains::Chains;
use std::borrow::Borrow;

/// The capacity that `new HashMap<>()` gets with its first entry.
const DEFAULT_CAPACITY: usize = 16;
/// A bucket that would hold more than this many entries doubles a table that is smaller than `MIN_TREE_CAPACITY`.
const TREEIFY_THRESHOLD: usize = 8;
/// In a larger table Java would turn such a bucket into a tree.
const MIN_TREE_CAPACITY: usize = 64;

/// A map that is walked in the order of Java's `HashMap`: bucket by bucket, in a bucket by insertion.
///
/// Java turns a bucket of more than eight entries into a tree and may then walk it in another order. That is not
/// modelled: it takes nine keys that agree in all the bits that select a bucket of 64 or more.
#[derive(Debug, Clone)]
pub struct HashMap<K, V> {
    chains: Chains<(K, V)>,
    /// The capacity of the table once there is one.
    initial_capacity: usize,
}

impl<K, V> Default for HashMap<K, V> {
    /// `new HashMap<>()`.
    fn default() -> Self {
        HashMap { chains: Chains::new(0), initial_capacity: DEFAULT_CAPACITY }
    }
}

impl<K, V> HashMap<K, V> {
    /// `new HashMap<>()`.
    pub fn new() -> Self {
        Self::default()
    }

    /// `new HashMap<>(initial)`.
    pub fn with_capacity(initial: usize) -> Self {
        HashMap { chains: Chains::new(0), initial_capacity: initial.next_power_of_two() }
    }

    /// `new HashMap<>((int) (expected / 0.75f + 1))`: how Kafka makes room for an expected number of entries,
    /// and Java's own rule for a copy of another map.
    pub fn with_room_for(expected: usize) -> Self {
        Self::with_capacity(room_for(expected))
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.chains.len()
    }

    /// Whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many buckets the table has; 0 before the first entry.
    pub fn slots(&self) -> usize {
        self.chains.slots()
    }

    /// The entries in Java's order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&K, &V)> {
        self.chains.iter().map(|(key, value)| (key, value))
    }

    /// The keys in Java's order.
    pub fn keys(&self) -> impl ExactSizeIterator<Item = &K> {
        self.chains.iter().map(|(key, _)| key)
    }

    /// The values in Java's order.
    pub fn values(&self) -> impl ExactSizeIterator<Item = &V> {
        self.chains.iter().map(|(_, value)| value)
    }

    /// Keeps only some entries; the table keeps its size.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        self.chains.drain(|(key, value)| !keep(key, value));
    }
}

/// `(int) (expected / 0.75f + 1)` with Java's `float`s.
fn room_for(expected: usize) -> usize {
    (expected as f32 / 0.75 + 1.0) as usize
}

impl<K: JavaHash + Eq, V> HashMap<K, V> {
    fn slot<Q: JavaHash + ?Sized>(&self, key: &Q) -> usize {
        bucket(key, self.chains.slots())
    }

    /// The value of a key.
    pub fn get<Q: JavaHash + Eq + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.chains.find(self.slot(key), |(k, _)| k.borrow() == key).map(|(_, value)| value)
    }

    /// The value of a key, to be changed.
    pub fn get_mut<Q: JavaHash + Eq + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.chains.find_mut(self.slot(key), |(k, _)| k.borrow() == key).map(|(_, value)| value)
    }

    /// Whether the key is there.
    pub fn contains<Q: JavaHash + Eq + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.get(key).is_some()
    }

    /// `put`: gives back the old value; the entry then keeps its place.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.allocate();
        if let Some(old) = self.get_mut(&key) {
            return Some(std::mem::replace(old, value));
        }
        let slot = self.slot(&key);
        let before = self.chains.chain(slot).count();
        self.chains.push_back(slot, (key, value));
        if before >= TREEIFY_THRESHOLD {
            self.treeify();
        }
        if self.is_overfull() {
            self.double();
        }
        None
    }

    /// `computeIfAbsent` (also `compute` and `merge` of an absent key): unlike `put` it places a new entry at the
    /// *start* of its bucket, and a table that it makes too full grows only with the next insertion.
    pub fn get_or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V
    where
        K: Clone,
    {
        if self.chains.slots() == 0 {
            self.allocate();
        } else if self.is_overfull() {
            self.double();
        }
        let slot = self.slot(&key);
        if self.chains.find(slot, |(k, _)| *k == key).is_none() {
            let before = self.chains.chain(slot).count();
            self.chains.push_front(slot, (key.clone(), make()));
            if before >= TREEIFY_THRESHOLD - 1 {
                self.treeify();
            }
        }
        self.get_mut(&key).expect("just inserted")
    }

    /// `remove`: the table keeps its size.
    pub fn remove<Q: JavaHash + Eq + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.chains.remove(self.slot(key), |(k, _)| k.borrow() == key).map(|(_, value)| value)
    }

    /// `new HashMap<>(map)`, from the entries of a map in its order.
    pub fn copy_of(entries: impl ExactSizeIterator<Item = (K, V)>) -> Self {
        let mut copy = if entries.len() > 0 { Self::with_room_for(entries.len()) } else { Self::new() };
        for (key, value) in entries {
            copy.insert(key, value);
        }
        copy
    }

    fn allocate(&mut self) {
        if self.chains.slots() == 0 {
            self.chains = Chains::new(self.initial_capacity);
        }
    }

    fn is_overfull(&self) -> bool {
        self.len() > self.chains.slots() * 3 / 4
    }

    fn treeify(&mut self) {
        if self.chains.slots() < MIN_TREE_CAPACITY {
            self.double();
        }
    }

    fn double(&mut self) {
        let slots = self.chains.slots() * 2;
        self.chains.respread(slots, |(key, _)| bucket(key, slots));
    }
}

/// The bucket of a key: `HashMap.hash`, and the low bits of it.
fn bucket<Q: JavaHash + ?Sized>(key: &Q, slots: usize) -> usize {
    let hash = key.java_hash() as u32;
    (hash ^ (hash >> 16)) as usize & slots.wrapping_sub(1)
}

/// `Map.equals`: the same entries in whatever order.
impl<K: JavaHash + Eq, V: PartialEq> PartialEq for HashMap<K, V> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().all(|(key, value)| other.get(key) == Some(value))
    }
}

impl<K: JavaHash + Eq, V: Eq> Eq for HashMap<K, V> {}

/// A set that is walked in the order of Java's `HashSet`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HashSet<K: JavaHash + Eq> {
    map: HashMap<K, ()>,
}

impl<K: JavaHash + Eq> Default for HashSet<K> {
    fn default() -> Self {
        HashSet { map: HashMap::default() }
    }
}

impl<K: JavaHash + Eq> HashSet<K> {
    /// `new HashSet<>()`.
    pub fn new() -> Self {
        Self::default()
    }

    /// `new HashSet<>(initial)`.
    pub fn with_capacity(initial: usize) -> Self {
        HashSet { map: HashMap::with_capacity(initial) }
    }

    /// `new HashSet<>((int) (expected / 0.75f + 1))`.
    pub fn with_room_for(expected: usize) -> Self {
        HashSet { map: HashMap::with_room_for(expected) }
    }

    /// `new HashSet<>(collection)`, from the elements of the collection in its order.
    pub fn copy_of(elements: impl ExactSizeIterator<Item = K>) -> Self {
        let mut copy = Self::with_capacity(room_for(elements.len()).max(DEFAULT_CAPACITY));
        for key in elements {
            copy.insert(key);
        }
        copy
    }

    /// `add`: whether the key is new.
    pub fn insert(&mut self, key: K) -> bool {
        self.map.insert(key, ()).is_none()
    }

    /// `remove`: whether the key was there.
    pub fn remove<Q: JavaHash + Eq + ?Sized>(&mut self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.map.remove(key).is_some()
    }

    /// Whether the key is there.
    pub fn contains<Q: JavaHash + Eq + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.map.contains(key)
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// How many buckets the table has; 0 before the first key.
    pub fn slots(&self) -> usize {
        self.map.slots()
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// The keys in Java's order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &K> {
        self.map.keys()
    }

    /// Keeps only some keys; the table keeps its size.
    pub fn retain(&mut self, mut keep: impl FnMut(&K) -> bool) {
        self.map.retain(|key, ()| keep(key));
    }
}
