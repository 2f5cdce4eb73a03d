//! A cost profile: how long each operation takes.

use super::{Counts, Operation};
use crate::scenario::{Diagnostic, ProfileError, ProfileFile};

/// The profile that is used where none is named.
const SHIPPED: &str = include_str!("profiles/kafka-4.3.1.toml");

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile {
    file: ProfileFile,
}

impl Profile {
    /// Reads a profile. The file's name is for errors.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(file: &str, text: &str) -> Result<Profile, Vec<Diagnostic>> {
        let file = ProfileFile::parse(file, text, &Operation::ALL.map(Operation::name))?;
        Ok(Profile { file })
    }

    /// The profile that is used where none is named: of real Kafka.
    ///
    /// # Panics
    /// Never: a test reads the same text.
    pub fn shipped() -> Profile {
        Profile::parse("kafka-4.3.1.toml", SHIPPED).expect("a profile that tests have read")
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.file.name
    }

    /// Where it comes from.
    pub fn provenance(&self) -> &[(String, String)] {
        &self.file.provenance
    }

    /// How far what it predicts is from what was measured, where that is known.
    pub fn error(&self) -> Option<ProfileError> {
        self.file.error
    }

    /// How long an operation takes; `None`: not measured.
    pub fn picoseconds(&self, operation: Operation) -> Option<u64> {
        self.file.picoseconds[operation as usize]
    }

    /// How long so many of an operation take, rounded; `None`: not measured.
    pub fn nanoseconds(&self, operation: Operation, count: u64) -> Option<u64> {
        let picoseconds = u128::from(self.picoseconds(operation)?) * u128::from(count);
        Some(u64::try_from((picoseconds + 500) / 1000).unwrap_or(u64::MAX))
    }

    /// How long operations take all together, rounded once; what was not measured takes no time.
    pub fn time_ns(&self, counts: &Counts) -> u64 {
        let prices = self.file.picoseconds.iter().zip(Operation::ALL);
        let picoseconds = prices.map(|(price, operation)| price.unwrap_or(0).saturating_mul(counts[operation]));
        (picoseconds.fold(0, u64::saturating_add).saturating_add(500)) / 1000
    }

    /// How long operations take: the sum of what each takes, rounded one by one.
    pub fn cost_ns(&self, counts: &Counts) -> u64 {
        Operation::ALL.into_iter().filter_map(|operation| self.nanoseconds(operation, counts[operation])).sum()
    }
}

/// What parts of something cost, each rounded such that they add up to what the whole costs.
#[derive(Debug)]
pub struct Shares<'p> {
    profile: &'p Profile,
    counts: Counts,
    cost_ns: u64,
}

impl<'p> Shares<'p> {
    /// Nothing yet.
    pub fn new(profile: &'p Profile) -> Shares<'p> {
        Shares { profile, counts: Counts::default(), cost_ns: 0 }
    }

    /// What the next part costs.
    pub fn next_ns(&mut self, part: &Counts) -> u64 {
        self.counts += part;
        let before_ns = std::mem::replace(&mut self.cost_ns, self.profile.cost_ns(&self.counts));
        self.cost_ns - before_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_profile_is_read() {
        assert_eq!(Profile::shipped().name(), "kafka-4.3.1");
    }

    #[test]
    fn each_operation_is_rounded_by_itself() {
        let mut text = "name = \"p\"\n[picoseconds]\n".to_owned();
        Operation::ALL.into_iter().for_each(|operation| text += &format!("{} = 1499\n", operation.name()));
        let profile = Profile::parse("p.toml", &text).expect("a profile");
        let mut counts = Counts::of(Operation::Heartbeat, 1);
        assert_eq!(profile.cost_ns(&counts), 1);
        counts.add(Operation::HashByte, 3);
        // 1.499 and 4.497 nanoseconds.
        assert_eq!(profile.cost_ns(&counts), 1 + 4);
        counts.add(Operation::HashByte, 1_000_000);
        assert_eq!(profile.cost_ns(&counts), 1 + 1_499_004);
        // 1.499, 2.998 and 4.497 nanoseconds.
        let mut shares = Shares::new(&profile);
        assert_eq!([(); 3].map(|()| shares.next_ns(&Counts::of(Operation::Timer, 1))), [1, 2, 1]);
    }
}
