//! Random numbers for traces: small, and the same everywhere for ever (a seed names a trace).

/// SplitMix64.
#[derive(Debug, Clone)]
pub struct Rng(u64);

impl Rng {
    /// A stream that only depends on the seed.
    pub fn new(seed: u64) -> Self {
        Rng(seed)
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `end`; 0 if that is 0.
    pub fn below(&mut self, end: u32) -> u32 {
        ((u64::from(end) * (self.bits() >> 32)) >> 32) as u32
    }

    /// A number of a range, both ends included.
    pub fn within(&mut self, low: i64, high: i64) -> i64 {
        let span = u32::try_from(high - low).map_or(u32::MAX, |span| span.saturating_add(1));
        low + i64::from(self.below(span))
    }

    /// True in so many of a thousand cases.
    pub fn chance(&mut self, permille: u32) -> bool {
        self.below(1000) < permille
    }

    /// A place in a list of this length.
    pub fn index(&mut self, len: usize) -> usize {
        self.below(u32::try_from(len).unwrap_or(u32::MAX)) as usize
    }

    /// One of some values.
    pub fn pick<'a, T>(&mut self, values: &'a [T]) -> &'a T {
        &values[self.index(values.len())]
    }

    /// One of some values; each has a weight, and not all are 0.
    pub fn weighted<T: Copy>(&mut self, values: &[(u32, T)]) -> T {
        let mut place = self.below(values.iter().map(|(weight, _)| weight).sum());
        for (weight, value) in values {
            if place < *weight {
                return *value;
            }
            place -= weight;
        }
        values[0].1
    }

    /// Puts a list into a random order.
    pub fn shuffle<T>(&mut self, values: &mut [T]) {
        for end in (1..values.len()).rev() {
            values.swap(end, self.index(end + 1));
        }
    }
}
