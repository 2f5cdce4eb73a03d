//! The metadata hashes of Kafka 4.1 and later (KIP-1101): `Utils.computeTopicHash` and `computeGroupHash` of
//! `kafka-group-coordinator`, XXH3-64 with seed 0 over a byte stream laid out by hash4j. 4.1.1, 4.3.1 and 4.4.0
//! give the same.
//!
//! A topic's stream, all integers little-endian: byte 0; the id's most and least significant 64 bits; the name;
//! int32 number of partitions; for each partition its int32 index and, in Java's order of strings, its racks, each as
//! int32 length and string. A string is its UTF-16 units and then an int32 with their number, so a rack's
//! length stands on both sides. Hashing the stream as a whole gives what hash4j gives piece by piece.

use super::{JString, Uuid};
use xxhash_rust::xxh3::xxh3_64;

/// `TOPIC_HASH_MAGIC_BYTE`: the version of the layout.
const LAYOUT: u8 = 0;

/// A rack as it is fed to a topic's hash, encoded once for the many partitions it occurs in.
#[derive(Debug, Clone)]
pub struct EncodedRack {
    name: JString,
    /// The UTF-16 units in big-endian order: comparing these bytes compares as Java does.
    order: Box<[u8]>,
    /// int32 length, UTF-16LE units, int32 length.
    bytes: Box<[u8]>,
}

impl EncodedRack {
    /// Encodes a rack.
    pub fn new(name: impl Into<JString>) -> Self {
        let name = name.into();
        let order: Box<[u8]> = name.encode_utf16().flat_map(u16::to_be_bytes).collect();
        let mut bytes = Vec::with_capacity(order.len() + 8);
        put_i32(&mut bytes, order.len() as i32 / 2);
        put_string(&mut bytes, &name);
        EncodedRack { name, order, bytes: bytes.into() }
    }

    /// The rack.
    pub fn name(&self) -> &JString {
        &self.name
    }
}

/// What of the racks of a partition's replicas is hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HashedRacks {
    /// Every replica's: what Kafka hashes.
    List,
    /// Each once. In no Kafka: the same layout, repeated racks left out.
    Set,
    /// None. In no Kafka: the same layout, all racks left out.
    None,
}

/// Computes topic hashes. Keeps its buffer from one topic to the next.
#[derive(Debug, Default)]
pub struct TopicHasher {
    stream: Vec<u8>,
}

impl TopicHasher {
    /// A hasher with an empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// The hash of a topic, and how many bytes were fed to it. `partitions` gives, for each partition from 0 on, the
    /// racks of its replicas in replica order; replicas without a rack or without a registered broker are left out.
    pub fn topic_hash<'a, P>(
        &mut self,
        name: &str,
        id: Uuid,
        racks: HashedRacks,
        partitions: impl Iterator<Item = P>,
    ) -> (i64, u64)
    where
        P: IntoIterator<Item = &'a EncodedRack>,
    {
        let stream = &mut self.stream;
        stream.clear();
        stream.push(LAYOUT);
        stream.extend_from_slice(&id.most().to_le_bytes());
        stream.extend_from_slice(&id.least().to_le_bytes());
        put_string(stream, name);
        let count_at = stream.len();
        put_i32(stream, 0);
        let mut count = 0;
        let mut sorted: Vec<&EncodedRack> = Vec::new();
        for partition in partitions {
            put_i32(stream, count);
            count += 1;
            if racks == HashedRacks::None {
                continue;
            }
            sorted.clear();
            sorted.extend(partition);
            sorted.sort_by(|a, b| a.order.cmp(&b.order));
            if racks == HashedRacks::Set {
                sorted.dedup_by(|a, b| a.order == b.order);
            }
            for rack in &sorted {
                stream.extend_from_slice(&rack.bytes);
            }
        }
        stream[count_at..count_at + 4].copy_from_slice(&count.to_le_bytes());
        (xxh3_64(stream) as i64, stream.len() as u64)
    }
}

/// The hash of a group from the hashes of the topics that it subscribes to and that exist, in Java's order of their
/// names; 0 without topics.
pub fn group_hash(topics: impl Iterator<Item = i64>) -> i64 {
    let mut stream = Vec::with_capacity(topics.size_hint().0 * 8);
    for topic_hash in topics {
        stream.extend_from_slice(&topic_hash.to_le_bytes());
    }
    if stream.is_empty() { 0 } else { xxh3_64(&stream) as i64 }
}

fn put_i32(stream: &mut Vec<u8>, value: i32) {
    stream.extend_from_slice(&value.to_le_bytes());
}

/// hash4j's `putString`: the UTF-16 units, then their number.
fn put_string(stream: &mut Vec<u8>, text: &str) {
    let start = stream.len();
    if text.is_ascii() {
        stream.extend(text.bytes().flat_map(|byte| [byte, 0]));
    } else {
        stream.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    }
    put_i32(stream, ((stream.len() - start) / 2) as i32);
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOO: Uuid = Uuid::from_halves(1, 2);
    const BAR: Uuid = Uuid::from_halves(5, 6);

    fn hash_of(name: &str, id: Uuid, racks: HashedRacks, partitions: &[&[&str]]) -> (i64, u64) {
        let encoded: Vec<Vec<_>> =
            partitions.iter().map(|partition| partition.iter().map(|rack| EncodedRack::new(*rack)).collect()).collect();
        TopicHasher::new().topic_hash(name, id, racks, encoded.iter())
    }

    fn check(name: &str, id: Uuid, partitions: &[&[&str]], expected: u64) {
        let (hash, _) = hash_of(name, id, HashedRacks::List, partitions);
        assert_eq!(hash as u64, expected, "{name} {partitions:?}: {hash:x}");
    }

    #[test]
    fn racks_are_free_text_in_utf16_order() {
        // Kafka 4.1.1 and 4.3.1. U+10000 is D800 DC00 in UTF-16 and sorts before U+FFFD.
        check("foo", FOO, &[&["\u{fffd}", "\u{10000}"]], 0x85b3_85cb_38d4_e968);
        check("foo", FOO, &[&["a", "bc"]], 0xbfef_be28_3eb4_e363);
        check("foo", FOO, &[&["ab", "c"]], 0xaca1_361f_b38b_2fcc);
    }

    #[test]
    fn topics_and_groups() {
        // Kafka 4.1.1 and 4.3.1.
        let (foo, bar) = (0xfbce_9748_9244_4c1b, 0x5911_495e_1321_5cf2);
        check("foo", FOO, &[&["a", "b"], &["b", "a"]], foo);
        check("foo", FOO, &[&["b", "a"], &["a", "b"]], foo);
        check("bar", BAR, &[&["b", "c"]], bar);
        let group = |topics: &[u64]| group_hash(topics.iter().map(|&hash| hash as i64)) as u64;
        assert_eq!(group(&[foo]), 0xb83b_8778_95d9_8a92);
        assert_eq!(group(&[bar, foo]), 0x989b_fbd8_9968_922f);
        assert_eq!(group(&[]), 0);
        // A topic that hashes to 0 is not a topic that is absent.
        assert_eq!(group(&[0]), 0xc77b_3abb_6f87_acd9);
    }

    #[test]
    fn a_topic_grows_and_is_created_anew() {
        // Group hashes of Kafka 4.1.1.
        let group = |id, partitions: &[&[&str]]| {
            group_hash([hash_of("foo", id, HashedRacks::List, partitions).0].into_iter()) as u64
        };
        assert_eq!(group(FOO, &[&["a"]]), 0xd02b_0b61_d6dd_c51b);
        assert_eq!(group(FOO, &[&["a"], &["b"]]), 0xb3a1_8b14_9392_9dfd);
        assert_eq!(group(Uuid::from_halves(3, 4), &[&["a"], &["b"]]), 0xf60f_5fb2_c5f4_8f89);
    }

    #[test]
    fn sets_and_no_racks_use_the_same_layout() {
        let partitions: &[&[&str]] = &[&["b", "a", "b"], &["a"]];
        let list = hash_of("foo", FOO, HashedRacks::List, partitions);
        let set = hash_of("foo", FOO, HashedRacks::Set, partitions);
        assert_eq!(set, hash_of("foo", FOO, HashedRacks::List, &[&["a", "b"], &["a"]]));
        let none = hash_of("foo", FOO, HashedRacks::None, partitions);
        assert_eq!(none, hash_of("foo", FOO, HashedRacks::List, &[&[], &[]]));
        // 1 + 16 + (6 + 4) + 4 bytes; 4 a partition; 4 + 2 + 4 a rack of one character.
        assert_eq!((none.1, set.1, list.1), (31 + 2 * 4, 31 + 2 * 4 + 3 * 10, 31 + 2 * 4 + 4 * 10));
    }

    #[test]
    fn the_buffer_is_emptied_between_topics() {
        let mut hasher = TopicHasher::new();
        let rack = EncodedRack::new("a");
        let first = hasher.topic_hash("foo", FOO, HashedRacks::List, std::iter::once([&rack; 3]));
        hasher.topic_hash("bar", BAR, HashedRacks::List, std::iter::once([&rack]));
        assert_eq!(hasher.topic_hash("foo", FOO, HashedRacks::List, std::iter::once([&rack; 3])), first);
    }
}
