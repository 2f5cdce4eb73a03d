//! Named random streams. Every entity draws from streams of its own, one for each purpose, so that adding an
//! entity or a purpose changes no draw of any other. The generator (ChaCha8, its crate pinned) and the samplers
//! here are part of what a seed means: the tests pin literal draws.

use super::TimeMs;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use xxhash_rust::xxh3::xxh3_128_with_seed;

/// All streams of a seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Streams {
    seed: u64,
}

impl Streams {
    /// The streams of a seed.
    pub const fn new(seed: u64) -> Self {
        Streams { seed }
    }

    /// The stream of one entity (a kind and a number) for one purpose, from its beginning.
    pub fn stream(&self, kind: &str, number: u64, purpose: &str) -> Stream {
        // Lengths first, so that no two names are the same bytes.
        let mut name = Vec::with_capacity(24 + kind.len() + purpose.len());
        name.extend((kind.len() as u64).to_le_bytes());
        name.extend(kind.as_bytes());
        name.extend(number.to_le_bytes());
        name.extend((purpose.len() as u64).to_le_bytes());
        name.extend(purpose.as_bytes());
        let mut key = [0; 32];
        key[..16].copy_from_slice(&xxh3_128_with_seed(&name, self.seed).to_le_bytes());
        name.push(1);
        key[16..].copy_from_slice(&xxh3_128_with_seed(&name, self.seed).to_le_bytes());
        Stream { generator: ChaCha8Rng::from_seed(key) }
    }
}

/// A stream of random draws.
#[derive(Debug, Clone)]
pub struct Stream {
    generator: ChaCha8Rng,
}

impl Stream {
    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// An integer from 0 up to, but not with, `n`; each equally likely (Lemire's multiplication with rejection).
    /// 0 for `n` = 0.
    pub fn below(&mut self, n: u64) -> u64 {
        let mut product = u128::from(self.bits()) * u128::from(n);
        if (product as u64) < n {
            let threshold = n.wrapping_neg() % n.max(1);
            while (product as u64) < threshold {
                product = u128::from(self.bits()) * u128::from(n);
            }
        }
        (product >> 64) as u64
    }

    /// An integer from `low` to `high`, both included; `low` if `high` is less.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        match u64::try_from(i128::from(high) - i128::from(low)) {
            Err(_) => low,
            Ok(u64::MAX) => self.bits() as i64,
            Ok(width) => (i128::from(low) + i128::from(self.below(width + 1))) as i64,
        }
    }

    /// A number from 0 up to, but not with, 1: a multiple of 2^-53.
    fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// An exponentially distributed time, rounded to whole milliseconds; 0 if the mean is not positive.
    pub fn exponential_ms(&mut self, mean_ms: f64) -> TimeMs {
        // 1 - u is never 0. The logarithm is libm's, not the platform's: the same everywhere.
        let time_ms = -libm::log(1.0 - self.unit()) * mean_ms.max(0.0);
        libm::round(time_ms) as TimeMs
    }

    /// One of the values, each equally likely; `None` of nothing.
    pub fn choose<'a, T>(&mut self, values: &'a [T]) -> Option<&'a T> {
        let index = self.below(values.len() as u64);
        values.get(index as usize)
    }

    /// Puts the values into a random order (Fisher and Yates, from the end).
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for last in (1..values.len()).rev() {
            let other = self.below(last as u64 + 1);
            values.swap(last, other as usize);
        }
    }

    /// Random bytes.
    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.generator.fill_bytes(&mut bytes);
        bytes
    }

    /// An index from 0 below the number of weights, as likely as its weight says; 0 if all weights are 0.
    pub fn weighted(&mut self, weights: &[u64]) -> usize {
        let total: u64 = weights.iter().sum();
        let mut left = self.below(total);
        for (index, weight) in weights.iter().enumerate() {
            if left < *weight {
                return index;
            }
            left -= weight;
        }
        0
    }
}

/// Zipf's distribution over the ranks 0 to n-1: rank r is as likely as 1 / (r + 1)^exponent says.
#[derive(Debug, Clone)]
pub struct Zipf {
    /// Up to which of 2^53 equal parts each rank reaches.
    ends: Vec<u64>,
}

impl Zipf {
    /// The distribution over `n` ranks. The exponent 0 makes all ranks equally likely.
    pub fn new(n: u64, exponent: f64) -> Self {
        let mut sum = 0.0;
        let sums: Vec<f64> = (1..=n)
            .map(|rank| {
                sum += libm::pow(rank as f64, -exponent);
                sum
            })
            .collect();
        let parts = (1u64 << 53) as f64;
        Zipf { ends: sums.iter().map(|part| libm::round(part / sum * parts) as u64).collect() }
    }

    /// A rank; 0 if there is none.
    pub fn draw(&self, stream: &mut Stream) -> u64 {
        let point = stream.bits() >> 11;
        self.ends.partition_point(|end| *end <= point) as u64
    }
}

/// The times of a Poisson process: events come independently of each other, with a mean gap.
#[derive(Debug, Clone)]
pub struct Poisson {
    stream: Stream,
    mean_gap_ms: f64,
    time_ms: TimeMs,
}

impl Poisson {
    /// A process that starts at a time. A mean gap that is not positive is read as one millisecond.
    pub fn new(stream: Stream, from_ms: TimeMs, mean_gap_ms: f64) -> Self {
        let mean_gap_ms = if mean_gap_ms > 0.0 { mean_gap_ms } else { 1.0 };
        Poisson { stream, mean_gap_ms, time_ms: from_ms }
    }
}

impl Iterator for Poisson {
    type Item = TimeMs;

    /// The next time; it never ends before time itself does.
    fn next(&mut self) -> Option<TimeMs> {
        let gap_ms = self.stream.exponential_ms(self.mean_gap_ms);
        self.time_ms = self.time_ms.checked_add(gap_ms)?;
        Some(self.time_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> Stream {
        Streams::new(7).stream("group", 3, "times")
    }

    fn draws<T>(mut draw: impl FnMut(&mut Stream) -> T) -> Vec<T> {
        let mut stream = stream();
        (0..6).map(|_| draw(&mut stream)).collect()
    }

    /// What a seed means: if one of these changes, every result of every scenario changes.
    #[test]
    fn literal_draws() {
        assert_eq!(draws(Stream::bits)[..2], [13787388847884558923, 17646251428850088534]);
        assert_eq!(draws(|s| s.below(10)), [7, 9, 3, 1, 4, 4]);
        assert_eq!(
            draws(|s| s.below((1 << 63) + 1)),
            [
                8823125714425044267,
                3971373008147231969,
                4282742150439133077,
                2583388109620456518,
                3776427636170232091,
                8691359037726111742
            ]
        );
        assert_eq!(draws(|s| s.between(-3, 3)), [2, 3, -1, -3, 0, 0]);
        assert_eq!(draws(|s| s.exponential_ms(60_000.0)), [82561, 188245, 24847, 8969, 33788, 37455]);
        assert_eq!(draws(|s| s.choose(&["a", "b", "c"]).copied().unwrap_or("")), ["c", "c", "b", "a", "b", "b"]);
        assert_eq!(draws(|s| s.weighted(&[1, 0, 3])), [2, 2, 2, 0, 2, 2]);
        assert_eq!(stream().bytes::<5>(), [75, 98, 87, 194, 27]);
        let zipf = Zipf::new(1000, 1.0);
        assert_eq!(draws(|s| zipf.draw(s)), [150, 722, 6, 1, 13, 17]);
        let mut order = [0, 1, 2, 3, 4, 5, 6, 7];
        stream().shuffle(&mut order);
        assert_eq!(order, [7, 4, 3, 1, 0, 2, 6, 5]);
        let times: Vec<_> = Poisson::new(stream(), 1000, 500.0).take(4).collect();
        assert_eq!(times, [1688, 3257, 3464, 3539]);
    }

    #[test]
    fn streams_are_named_by_all_of_seed_kind_number_and_purpose() {
        let first = |seed, kind, number, purpose| Streams::new(seed).stream(kind, number, purpose).bits();
        let names = [(1, "a", 1, "b"), (2, "a", 1, "b"), (1, "aa", 1, "b"), (1, "a", 2, "b"), (1, "a", 1, "c")];
        let bits: Vec<u64> = names.iter().map(|(s, k, n, p)| first(*s, k, *n, p)).collect();
        for (i, one) in bits.iter().enumerate() {
            assert!(!bits[..i].contains(one));
        }
        assert_eq!(bits[0], first(1, "a", 1, "b"));
    }

    #[test]
    fn edges() {
        let mut stream = stream();
        assert_eq!(stream.below(0), 0);
        assert_eq!(stream.below(1), 0);
        assert_eq!(stream.between(5, 4), 5);
        assert_eq!(stream.between(i64::MAX, i64::MAX), i64::MAX);
        let _any = stream.between(i64::MIN, i64::MAX);
        assert_eq!(stream.choose::<u8>(&[]), None);
        assert_eq!(stream.exponential_ms(0.0), 0);
        assert_eq!(Zipf::new(0, 1.0).draw(&mut stream), 0);
        assert_eq!(Zipf::new(1, 1.0).draw(&mut stream), 0);
    }

    /// Means and shares over many draws lie within four standard deviations of what they should be.
    #[test]
    fn distributions() {
        let mut stream = stream();
        let n = 40_000;
        let mean = (0..n).map(|_| stream.exponential_ms(1000.0) as f64).sum::<f64>() / f64::from(n);
        assert!((980.0..1020.0).contains(&mean), "{mean}");
        let mut counts = [0u32; 7];
        (0..n).for_each(|_| counts[stream.below(7) as usize] += 1);
        assert!(counts.iter().all(|count| (5434..5995).contains(count)), "{counts:?}");
        // Ranks 1 and 2 of 10 with exponent 1: 1/H and 1/(2H), H = 2.928968.
        let zipf = Zipf::new(10, 1.0);
        let mut ranks = [0u32; 10];
        (0..n).for_each(|_| ranks[zipf.draw(&mut stream) as usize] += 1);
        assert!((13_277..14_036).contains(&ranks[0]) && (6_526..7_130).contains(&ranks[1]), "{ranks:?}");
    }
}
