//! The expected orders and digests were printed by Java 17 programs that did the same, with `java.util` and the
//! timeline maps of Kafka 3.9.1 and 4.3.1 (which gave the same).

use super::*;

/// The draws that both sides make.
struct Draws(i64);

impl Draws {
    fn draw(&mut self, n: i32) -> i32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (((self.0 as u64) >> 33) % n as u64) as i32
    }

    /// Dense keys, keys that collide in the low 16 bits, keys all over the place.
    fn int_key(&mut self, n: i32) -> i32 {
        let v = self.draw(n);
        match self.draw(3) {
            0 => v,
            1 => (v << 16) ^ (v & 3),
            _ => (-v).wrapping_mul(40_503),
        }
    }

    /// Four strings with the same hash for each number.
    fn string_key(&mut self, n: i32) -> JString {
        let bits = self.draw(4);
        let pair = |bit: i32| if bit == 0 { "Aa" } else { "BB" };
        JString::from(format!("{}{}{}", pair(bits & 1), pair(bits >> 1), self.draw(n)))
    }
}

#[derive(Default)]
struct Digest(i64);

impl Digest {
    fn mix(&mut self, value: i64) {
        self.0 = self.0.wrapping_mul(31).wrapping_add(value);
    }

    fn mix_keys<'a, K: JavaHash + 'a>(&mut self, keys: impl Iterator<Item = &'a K>) {
        for key in keys {
            self.mix(i64::from(key.java_hash().wrapping_add(7)));
        }
        self.mix(-1);
    }

    fn mix_values<'a>(&mut self, values: impl Iterator<Item = &'a i32>) {
        values.for_each(|&value| self.mix(i64::from(value)));
    }
}

fn hash_map_digest<K: JavaHash + Eq + Clone>(seed: i64, key: impl Fn(&mut Draws, i32) -> K) -> i64 {
    let (mut draws, mut digest) = (Draws(seed), Digest::default());
    for _round in 0..50 {
        let n = 1 + draws.draw(seed as i32 * 40);
        let mut map: HashMap<K, i32> =
            if draws.draw(2) == 0 { HashMap::new() } else { HashMap::with_capacity(draws.draw(70) as usize) };
        for i in 0..200 {
            let op = draws.draw(10);
            let key = key(&mut draws, n);
            match (op, i % 7) {
                (0..5, _) => digest.mix(map.insert(key, i).unwrap_or(-2).into()),
                (5..7, _) => digest.mix((*map.get_or_insert_with(key, || 1000)).into()),
                (7..9, _) => digest.mix(map.remove(&key).unwrap_or(-2).into()),
                (_, 0) => map = HashMap::copy_of(map.iter().map(|(k, v)| (k.clone(), *v))),
                (_, 1) => digest.mix_keys(HashSet::copy_of(map.keys().cloned()).iter()),
                (_, 2) => map.retain(|_, value| *value % 5 != 0),
                _ => {}
            }
            if i % 10 == 0 {
                digest.mix_keys(map.keys());
            }
        }
        digest.mix_keys(map.keys());
        digest.mix_values(map.values());
    }
    digest.0
}

#[test]
fn hash_map_of_integers() {
    let digests = [1, 2, 3, 4].map(|seed| hash_map_digest(seed, Draws::int_key));
    let java = [1871664412057038517, 3605836567433441143, -3194811386878610899, 6314315493350715397];
    assert_eq!(digests, java);
}

#[test]
fn hash_map_of_strings() {
    let digests = [1, 2, 3, 4].map(|seed| hash_map_digest(seed, Draws::string_key));
    let java = [982548303208006028, -931239411110010324, 7211820163295225576, -6033613745882905594];
    assert_eq!(digests, java);
}

type Nested = TimelineMap<i32, TimelineMap<i32, i32>>;

fn change_nested(op: i32, nested: &mut Nested, (key, inner, value): (i32, i32, i32), draws: &mut Draws, epoch: u64) {
    if op < 28 {
        let size = draws.draw(4);
        if !nested.touch(&key, epoch) {
            nested.insert(key, TimelineMap::new(size as usize), epoch);
        }
        nested.get_mut(&key).expect("put above").insert(inner, value, epoch);
    } else if let Some(map) = nested.get_mut(&key) {
        if op == 33 {
            map.insert(inner, value, epoch);
            return;
        }
        map.remove(&inner, epoch);
        match map.is_empty() {
            true => nested.remove(&key, epoch),
            false => nested.touch(&key, epoch),
        };
    }
}

fn timeline_digest(seed: i64) -> i64 {
    let (mut draws, mut digest) = (Draws(seed), Digest::default());
    for _round in 0..40 {
        let mut epoch = 1;
        let n = 1 + draws.draw(seed as i32 * 20);
        let mut flat: TimelineMap<i32, i32> = TimelineMap::new(draws.draw(20) as usize);
        let mut set: TimelineSet<JString> = TimelineSet::new(draws.draw(5) as usize);
        let mut nested = Nested::new(0);
        for i in 0..400 {
            let op = draws.draw(40);
            let key = draws.int_key(n);
            let inner = draws.draw(12);
            match op {
                0..10 => digest.mix(flat.insert(key, i, epoch).into()),
                10..16 => digest.mix(flat.remove(&key, epoch).into()),
                16..18 => digest.mix(set.insert(draws.string_key(n), epoch).into()),
                18..20 => digest.mix(set.remove(&draws.string_key(n), epoch).into()),
                20..34 => change_nested(op, &mut nested, (key, inner, i), &mut draws, epoch),
                34 => digest.mix(nested.remove(&key, epoch).into()),
                35 if i % 4 == 0 => flat.clear(epoch),
                35 => flat.retain(epoch, |_, value| value % 3 != 0),
                36..38 => {
                    flat.revert(epoch);
                    set.revert(epoch);
                    nested.revert_with(epoch, |map| map.revert(epoch));
                }
                _ => {
                    epoch += 1;
                    draws.draw(2);
                }
            }
            if i % 5 == 0 || (36..38).contains(&op) {
                digest.mix_keys(flat.keys());
                digest.mix_values(flat.values());
                digest.mix_keys(set.iter());
                digest.mix_keys(nested.keys());
                for map in nested.values() {
                    digest.mix_keys(map.keys());
                    digest.mix_values(map.values());
                }
            }
        }
    }
    digest.0
}

#[test]
fn timeline_maps_with_roll_backs() {
    let digests = [1, 2, 3, 4].map(timeline_digest);
    let kafka = [6367227412373150105, -6002837099125743117, -1138937033581782499, 202753352312769473];
    assert_eq!(digests, kafka);
}

#[test]
fn compute_if_absent_goes_to_the_start_of_the_bucket() {
    let mut map = HashMap::new();
    map.insert(1, ());
    map.get_or_insert_with(17, || ());
    map.insert(33, ());
    map.get_or_insert_with(49, || ());
    assert_eq!(map.keys().collect::<Vec<_>>(), [&49, &17, &1, &33]);
}

#[test]
fn strings_with_equal_hashes() {
    let mut map = HashMap::new();
    for key in ["BB", "Aa", "AaBB", "BBAa", "consumer-1", "consumer-2"] {
        map.insert(JString::from(key), ());
    }
    let order: Vec<&str> = map.keys().map(JString::as_str).collect();
    assert_eq!(order, ["BB", "Aa", "consumer-2", "consumer-1", "AaBB", "BBAa"]);
    assert!(map.contains("BBAa") && !map.contains("BBBB"));
}

#[test]
fn copy_of_a_collection() {
    let set = HashSet::copy_of([40, 3, 19, 35, 7].into_iter());
    assert_eq!(set.iter().collect::<Vec<_>>(), [&3, &19, &35, &7, &40]);
    let mut other = HashSet::with_capacity(1);
    for key in [35, 40, 19, 7, 3] {
        assert!(other.insert(key));
    }
    assert_eq!(set, other, "whatever the order");
    other.remove(&3);
    assert_ne!(set, other);
}

#[test]
fn a_roll_back_changes_the_order() {
    let mut map = TimelineMap::new(0);
    for key in ["Aa", "BB", "AaBB", "BBAa", "AaAa", "BBBB"] {
        map.insert(JString::from(key), 0, 1);
    }
    let order = |map: &TimelineMap<JString, i32>| map.keys().map(JString::as_str).collect::<Vec<_>>().join(" ");
    assert_eq!(order(&map), "BB Aa BBBB AaAa BBAa AaBB");
    map.remove("BBAa", 2);
    map.insert("Aa".into(), 1, 2);
    map.insert("x".into(), 1, 2);
    map.remove("BB", 2);
    assert_eq!(order(&map), "x Aa BBBB AaAa AaBB");
    map.revert(2);
    assert_eq!(order(&map), "BB Aa BBAa BBBB AaAa AaBB");
    assert_eq!(map.get("Aa"), Some(&0));
}

#[test]
fn strings_are_compared_and_hashed_by_utf16_units() {
    assert_eq!("\u{10000}".java_hash(), 0xd800 * 31 + 0xdc00);
    assert_eq!(compare_utf16("\u{10000}", "\u{ffff}"), Ordering::Less);
    assert_eq!(compare_utf16("ab", "b"), Ordering::Less);
}

/// Java 17, hundreds compared only: `705, 301, 302, 710, 303, 101, 304, 709` leave as below, and the digest of 5,000 drawn
/// additions and polls.
#[test]
fn equal_elements_leave_a_priority_queue_in_javas_order() {
    let hundreds = |a: &i64, b: &i64| (a / 100).cmp(&(b / 100));
    let mut queue = PriorityQueue::default();
    for element in [705, 301, 302, 710, 303, 101, 304, 709] {
        queue.add(element, hundreds);
    }
    let mut polled: Vec<i64> = (0..4).filter_map(|_| queue.poll(hundreds)).collect();
    queue.add(305, hundreds);
    queue.add(711, hundreds);
    polled.extend(std::iter::from_fn(|| queue.poll(hundreds)));
    assert_eq!(polled, [101, 303, 304, 302, 301, 305, 709, 710, 705, 711]);

    let (mut seed, mut digest) = (1i64, 0i32);
    for _ in 0..5000 {
        seed = (seed * 1_103_515_245 + 12_345) & 0x7fff_ffff;
        let drawn = seed / 65_536;
        if drawn % 5 < 3 {
            queue.add(drawn % 1000, hundreds);
        } else {
            let element = queue.poll(hundreds).unwrap_or(-1);
            digest = digest.wrapping_mul(31).wrapping_add(element as i32);
        }
    }
    assert_eq!(digest, 1_116_607_399);
}

/// Java 17 with `-XX:hashCode=2`: new objects put into a `HashSet` one after the other.
#[test]
fn objects_of_one_hash_code_are_walked_as_their_tree_lists_them() {
    let walked = |len: usize| in_collided_set(&(0..len).collect::<Vec<_>>());
    let with_first = |first: &[usize], len: usize| -> Vec<usize> {
        first.iter().copied().chain((0..len).filter(|element| !first.contains(element))).collect()
    };
    for (first, len) in [(&[][..], 10), (&[3], 11), (&[3], 16), (&[7, 3], 23), (&[15, 7, 3], 60)] {
        assert_eq!(walked(len), with_first(first, len), "{len}");
    }
}
