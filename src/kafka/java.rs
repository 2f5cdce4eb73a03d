//! What of Java shows in Kafka's answers: strings compared and hashed by UTF-16 units, and the iteration orders
//! of `HashMap`, `HashSet`, `PriorityQueue` and Kafka's timeline maps. All of it is kept in this one module.

mod chains;
mod collided;
mod hash_map;
mod priority_queue;
#[cfg(test)]
mod tests;
mod timeline;

pub use collided::in_collided_set;
pub use hash_map::{HashMap, HashSet};
pub use priority_queue::PriorityQueue;
pub use timeline::{TimelineMap, TimelineSet};

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// `Object.hashCode`.
pub trait JavaHash {
    /// The hash code that Java gives an equal object.
    fn java_hash(&self) -> i32;
}

impl JavaHash for i32 {
    fn java_hash(&self) -> i32 {
        *self
    }
}

impl JavaHash for str {
    /// `String.hashCode`: over UTF-16 units.
    fn java_hash(&self) -> i32 {
        self.encode_utf16().fold(0i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)))
    }
}

/// Java's order of strings: by UTF-16 units, which differs from the order by code points above U+FFFF.
pub fn compare_utf16(a: &str, b: &str) -> Ordering {
    if a.is_ascii() || b.is_ascii() {
        return a.cmp(b);
    }
    a.encode_utf16().cmp(b.encode_utf16())
}

/// A shared string that knows its Java hash and is ordered as Java orders it.
#[derive(Clone)]
pub struct JString {
    text: Arc<str>,
    hash: i32,
}

impl JString {
    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl JavaHash for JString {
    fn java_hash(&self) -> i32 {
        self.hash
    }
}

impl From<&str> for JString {
    fn from(text: &str) -> Self {
        JString { text: Arc::from(text), hash: text.java_hash() }
    }
}

impl From<String> for JString {
    fn from(text: String) -> Self {
        JString { hash: text.as_str().java_hash(), text: Arc::from(text) }
    }
}

impl Default for JString {
    fn default() -> Self {
        JString::from("")
    }
}

impl Deref for JString {
    type Target = str;
    fn deref(&self) -> &str {
        &self.text
    }
}

impl Borrow<str> for JString {
    fn borrow(&self) -> &str {
        &self.text
    }
}

impl PartialEq for JString {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && (Arc::ptr_eq(&self.text, &other.text) || self.text == other.text)
    }
}

impl Eq for JString {}

impl Hash for JString {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Like `str`, so that a table of `JString` can be asked with `&str`.
        self.text.hash(state);
    }
}

impl PartialOrd for JString {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for JString {
    fn cmp(&self, other: &Self) -> Ordering {
        compare_utf16(self, other)
    }
}

impl fmt::Debug for JString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for JString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}
