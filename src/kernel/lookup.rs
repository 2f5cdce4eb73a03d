//! Hash tables for look-up only: they cannot be iterated, so no result can depend on their order.

#![allow(clippy::disallowed_types, reason = "the one place where std's tables are allowed: they are never iterated")]

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// A table that can be asked but not walked.
#[derive(Debug, Clone)]
pub struct Lookup<K, V> {
    table: HashMap<K, V, BuildHasherDefault<FoldHasher>>,
}

impl<K, V> Default for Lookup<K, V> {
    fn default() -> Self {
        Lookup { table: HashMap::default() }
    }
}

impl<K: Eq + Hash, V> Lookup<K, V> {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// The value of a key.
    pub fn get<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.table.get(key)
    }

    /// The value of a key, to be changed.
    pub fn get_mut<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<&mut V>
    where
        K: Borrow<Q>,
    {
        self.table.get_mut(key)
    }

    /// Whether the key is there.
    pub fn contains<Q: Eq + Hash + ?Sized>(&self, key: &Q) -> bool
    where
        K: Borrow<Q>,
    {
        self.table.contains_key(key)
    }

    /// Puts a value; gives back what was there.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        self.table.insert(key, value)
    }

    /// Takes a key out.
    pub fn remove<Q: Eq + Hash + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        self.table.remove(key)
    }

    /// The value of a key, made on first use.
    pub fn get_or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        self.table.entry(key).or_insert_with(make)
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether there is no key.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.table.clear();
    }
}

/// A fast hasher with a fixed seed (multiply and fold, as in FxHash): these tables hold trusted keys.
#[derive(Debug, Clone, Copy, Default)]
pub struct FoldHasher(u64);

impl FoldHasher {
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    }
}

impl Hasher for FoldHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.add(u64::from_le_bytes(word));
        }
    }

    fn write_u32(&mut self, word: u32) {
        self.add(u64::from(word));
    }

    fn write_u64(&mut self, word: u64) {
        self.add(word);
    }

    fn write_usize(&mut self, word: usize) {
        self.add(word as u64);
    }

    fn finish(&self) -> u64 {
        self.0.rotate_left(26)
    }
}
