//! A sequence as one hash that is chained from item to item, and a trail by which the first item can be found at which two
//! sequences part, though only one of them is there.

use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64;

/// A trail has a character for each of so many items; from then on, one for two, from twice as many on one for four, and so on.
const EXACT_ITEMS: usize = 4_096;
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chain {
    /// How many items.
    pub len: usize,
    /// The hash after the last one.
    pub fingerprint: u64,
    /// Six bits of the hash after each item, or after some.
    pub trail: String,
}

impl Chain {
    /// The chain of items with these digests.
    pub fn new(digests: impl IntoIterator<Item = u64>) -> Chain {
        let mut chain = Chain { len: 0, fingerprint: 0, trail: String::new() };
        for digest in digests {
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&chain.fingerprint.to_le_bytes());
            bytes[8..].copy_from_slice(&digest.to_le_bytes());
            chain.fingerprint = xxh3_64(&bytes);
            chain.len += 1;
            if chain.len.is_multiple_of(step_at(chain.len - 1)) {
                chain.trail.push(char::from(ALPHABET[(chain.fingerprint % 64) as usize]));
            }
        }
        chain
    }

    /// How long the trail of so many items is.
    pub fn trail_len(len: usize) -> usize {
        (1..=len).filter(|items| items.is_multiple_of(step_at(items - 1))).count()
    }

    /// Whether these can be characters of a trail.
    pub fn is_trail(text: &str) -> bool {
        text.bytes().all(|byte| ALPHABET.contains(&byte))
    }

    /// The items among which the first is that another chain does not have. One character in 64 is the same by chance: then
    /// the item before is the first. An item past the end of either chain is one that only the other has.
    pub fn parting(&self, other: &Chain) -> Option<Range<usize>> {
        if self.fingerprint == other.fingerprint && self.len == other.len {
            return None;
        }
        let same = self.trail.bytes().zip(other.trail.bytes()).take_while(|(mine, theirs)| mine == theirs).count();
        let mut ends = (1..=self.len.max(other.len)).filter(|items| items.is_multiple_of(step_at(items - 1)));
        let start = if same == 0 { 0 } else { ends.nth(same - 1).unwrap_or(0) };
        let end = ends.next().unwrap_or(self.len.max(other.len)).max(start + 1);
        Some(start..end)
    }
}

/// How many items a character stands for at a position.
fn step_at(position: usize) -> usize {
    let mut step = 1;
    while position >= EXACT_ITEMS * step {
        step *= 2;
    }
    step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_part_at_the_first_different_item() {
        let items: Vec<u64> = (0..1_000).collect();
        let old = Chain::new(items.iter().copied());
        assert_eq!((old.len, old.trail.len()), (1_000, 1_000));
        assert_eq!(old.parting(&Chain::new(items.iter().copied())), None);
        let mut hits = 0;
        for at in 0..1_000 {
            let new = Chain::new(items.iter().map(|&item| if item == at { 5_000 } else { item }));
            let parting = old.parting(&new).expect("they differ");
            assert_eq!(parting.len(), 1);
            hits += usize::from(parting.start == at as usize);
            assert!((at as usize..at as usize + 3).contains(&parting.start), "{at}: {parting:?}");
        }
        assert!(hits > 960, "{hits}");
    }

    #[test]
    fn one_may_go_on() {
        let (short, long) = (Chain::new(0..5), Chain::new(0..8));
        assert_eq!([short.parting(&long), long.parting(&short)], [Some(5..6), Some(5..6)]);
        assert_eq!(Chain::new(0..0).parting(&short), Some(0..1));
    }

    #[test]
    fn long_chains_are_thinned_out() {
        assert_eq!([4_096, 8_192, 16_384].map(Chain::trail_len), [4_096, 6_144, 8_192]);
        let long = Chain::new(0..20_000);
        assert_eq!(long.trail.len(), Chain::trail_len(20_000));
        let other = Chain::new((0..20_000).map(|item| if item == 10_001 { 7 } else { item }));
        let parting = long.parting(&other).expect("they differ");
        assert_eq!(parting, 10_000..10_004);
        // The last items have no character of their own.
        let other = Chain::new((0..20_001).map(|item| if item == 20_000 { 7 } else { item }));
        assert_eq!(Chain::new(0..20_001).parting(&other), Some(20_000..20_001));
    }
}
