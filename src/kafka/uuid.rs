//! `org.apache.kafka.common.Uuid`: 128 bits, shown as URL-safe base64 without padding.

use super::java::JavaHash;
use std::fmt;
use std::str::FromStr;

/// A topic id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Uuid(pub u128);

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

impl Uuid {
    /// From the most and the least significant 64 bits.
    pub const fn from_halves(most: u64, least: u64) -> Self {
        Uuid((most as u128) << 64 | least as u128)
    }

    /// The most significant 64 bits.
    pub const fn most(self) -> u64 {
        (self.0 >> 64) as u64
    }

    /// The least significant 64 bits.
    pub const fn least(self) -> u64 {
        self.0 as u64
    }

    /// The 16 bytes in network order, as in Kafka's records.
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0.to_be_bytes()
    }

    /// From 16 bytes in network order.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Uuid(u128::from_be_bytes(bytes))
    }
}

impl JavaHash for Uuid {
    /// `Uuid.hashCode`: the high half xor the low half of msb ^ lsb.
    fn java_hash(&self) -> i32 {
        let x = self.most() ^ self.least();
        ((x >> 32) ^ x) as u32 as i32
    }
}

impl fmt::Display for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // 22 digits of 6 bits; the last one carries only 2.
        for digit in 0..22 {
            let shifted = if digit < 21 { self.0 >> (122 - 6 * digit) } else { self.0 << 4 };
            write!(f, "{}", ALPHABET[(shifted & 63) as usize] as char)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A text that is not a topic id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a topic id (22 characters of URL-safe base64 for 16 bytes)")]
pub struct UuidError(pub String);

impl FromStr for Uuid {
    type Err = UuidError;

    fn from_str(text: &str) -> Result<Self, UuidError> {
        let wrong = || UuidError(text.to_owned());
        let digits = text.as_bytes();
        if digits.len() != 22 {
            return Err(wrong());
        }
        let mut value = 0u128;
        for (place, digit) in digits.iter().enumerate() {
            let six = ALPHABET.iter().position(|c| c == digit).ok_or_else(wrong)? as u128;
            value = if place < 21 { value << 6 | six } else { value << 2 | six >> 4 };
        }
        Ok(Uuid(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_halves() {
        let id: Uuid = "LS0tZm9vLXRvcGljLTAwMA".parse().unwrap();
        assert_eq!(&id.to_bytes(), b"---foo-topic-000");
        assert_eq!(id.to_string(), "LS0tZm9vLXRvcGljLTAwMA");
        assert_eq!("_____________________w".parse::<Uuid>().unwrap(), Uuid(u128::MAX));
        assert_eq!(Uuid::from_halves(1, 2).to_string(), "AAAAAAAAAAEAAAAAAAAAAg");
        assert!("short".parse::<Uuid>().is_err());
    }
}
