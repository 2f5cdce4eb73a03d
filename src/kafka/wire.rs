//! The primitive types of Kafka's protocol: fixed-width big-endian integers, variable-length integers, strings
//! and byte arrays (`ByteUtils`, `ByteBufferAccessor`, `MessageUtil` of `kafka-clients`; the same in all versions).
//!
//! A *compact* length is an unsigned varint of the length plus one; 0 stands for null.

use super::Uuid;

/// Bytes that are not what they should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("byte {position}: {problem}")]
pub struct WireError {
    /// Where, from the start of what the [`Reader`] was given.
    pub position: usize,
    /// What.
    pub problem: WireProblem,
}

/// What can be wrong with bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum WireProblem {
    /// The bytes end too early.
    #[error("{needed} bytes expected, {left} left")]
    End {
        /// How many bytes the field has.
        needed: usize,
        /// How many there are.
        left: usize,
    },
    /// A variable-length integer that does not end where it must.
    #[error("a variable-length integer of more than {bits} bits")]
    LongVarint {
        /// How many bits it may have.
        bits: u32,
    },
    /// A length below zero, or null where null is not allowed.
    #[error("a length of {0}; 0 or more expected")]
    Length(i64),
    /// What stands before a structure that may be null, neither -1 nor 1.
    #[error("{0}, neither -1 (null) nor 1 (a structure)")]
    Presence(i8),
    /// A string that is not UTF-8.
    #[error("a string that is not UTF-8")]
    NotUtf8,
}

/// Stands for a structure that is null.
const NULL: i8 = -1;

/// Stands before a structure that might be null and is not.
const PRESENT: i8 = 1;

/// Reads primitive types, one after the other.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Reader<'a> {
    /// A reader at the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { bytes, position: 0 }
    }

    /// How many bytes were read.
    pub fn position(&self) -> usize {
        self.position
    }

    /// How many bytes are left.
    pub fn left(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// The next `count` bytes.
    pub fn bytes(&mut self, count: usize) -> Result<&'a [u8], WireError> {
        let left = self.left();
        if count > left {
            return Err(self.wrong(WireProblem::End { needed: count, left }));
        }
        let start = self.position;
        self.position += count;
        Ok(&self.bytes[start..self.position])
    }

    /// An error at the current position.
    pub fn wrong(&self, problem: WireProblem) -> WireError {
        WireError { position: self.position, problem }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let mut array = [0; N];
        array.copy_from_slice(self.bytes(N)?);
        Ok(array)
    }

    /// An int8.
    pub fn i8(&mut self) -> Result<i8, WireError> {
        Ok(i8::from_be_bytes(self.array()?))
    }

    /// An int16.
    pub fn i16(&mut self) -> Result<i16, WireError> {
        Ok(i16::from_be_bytes(self.array()?))
    }

    /// A uint16.
    pub fn u16(&mut self) -> Result<u16, WireError> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    /// An int32.
    pub fn i32(&mut self) -> Result<i32, WireError> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    /// An int64.
    pub fn i64(&mut self) -> Result<i64, WireError> {
        Ok(i64::from_be_bytes(self.array()?))
    }

    /// A topic id.
    pub fn uuid(&mut self) -> Result<Uuid, WireError> {
        Ok(Uuid::from_bytes(self.array()?))
    }

    /// An unsigned varint of at most 32 bits.
    pub fn unsigned_varint(&mut self) -> Result<u32, WireError> {
        self.base_128(32).map(|value| value as u32)
    }

    /// A varint (zigzag) of at most 32 bits.
    pub fn varint(&mut self) -> Result<i32, WireError> {
        self.base_128(32).map(|value| unzigzag(value) as i32)
    }

    /// A varlong (zigzag) of at most 64 bits.
    pub fn varlong(&mut self) -> Result<i64, WireError> {
        self.base_128(64).map(unzigzag)
    }

    /// Seven bits a byte, the lowest first; the eighth bit says that more follow.
    fn base_128(&mut self, bits: u32) -> Result<u64, WireError> {
        let start = self.position;
        let mut value = 0u64;
        let mut shift = 0;
        while shift < bits {
            let [byte] = self.array()?;
            let low = u64::from(byte & 0x7f);
            let room = bits - shift;
            if room < 7 && low >> room != 0 {
                break;
            }
            value |= low << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
            shift += 7;
        }
        Err(WireError { position: start, problem: WireProblem::LongVarint { bits } })
    }

    /// A compact length; `None` for null.
    pub fn compact_len(&mut self) -> Result<Option<usize>, WireError> {
        Ok(self.unsigned_varint()?.checked_sub(1).map(|len| len as usize))
    }

    /// The length of a compact array that cannot be null.
    pub fn array_len(&mut self) -> Result<usize, WireError> {
        let at = self.position;
        self.compact_len()?.ok_or(WireError { position: at, problem: WireProblem::Length(-1) })
    }

    /// A compact string that cannot be null.
    pub fn compact_str(&mut self) -> Result<&'a str, WireError> {
        let len = self.array_len()?;
        self.utf8(len)
    }

    /// A compact string; `None` for null.
    pub fn compact_nullable_str(&mut self) -> Result<Option<&'a str>, WireError> {
        self.compact_len()?.map(|len| self.utf8(len)).transpose()
    }

    /// A string with an int16 length that cannot be null.
    pub fn str(&mut self) -> Result<&'a str, WireError> {
        let at = self.position;
        let len = self.i16()?;
        let len = usize::try_from(len)
            .map_err(|_| WireError { position: at, problem: WireProblem::Length(i64::from(len)) })?;
        self.utf8(len)
    }

    /// Whether a structure that may be null follows.
    pub fn presence(&mut self) -> Result<bool, WireError> {
        let at = self.position;
        match self.i8()? {
            NULL => Ok(false),
            PRESENT => Ok(true),
            other => Err(WireError { position: at, problem: WireProblem::Presence(other) }),
        }
    }

    /// A string with an int16 length; `None` for a length of -1.
    pub fn nullable_str(&mut self) -> Result<Option<&'a str>, WireError> {
        let mut ahead = self.clone();
        if ahead.i16()? == -1 {
            *self = ahead;
            return Ok(None);
        }
        self.str().map(Some)
    }

    /// The int32 length of an array, of bytes or of anything, that cannot be null.
    pub fn i32_len(&mut self) -> Result<usize, WireError> {
        let at = self.position;
        let len = self.i32()?;
        usize::try_from(len).map_err(|_| WireError { position: at, problem: WireProblem::Length(i64::from(len)) })
    }

    /// A byte array with a varint length, as in record batches; `None` for a length of -1.
    pub fn varint_bytes(&mut self) -> Result<Option<&'a [u8]>, WireError> {
        let at = self.position;
        match self.varint()? {
            -1 => Ok(None),
            len if len < 0 => Err(WireError { position: at, problem: WireProblem::Length(i64::from(len)) }),
            len => self.bytes(len as usize).map(Some),
        }
    }

    fn utf8(&mut self, len: usize) -> Result<&'a str, WireError> {
        let at = self.position;
        std::str::from_utf8(self.bytes(len)?).map_err(|_| WireError { position: at, problem: WireProblem::NotUtf8 })
    }
}

const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

const fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// How many bytes an unsigned varint takes.
pub const fn unsigned_varint_len(value: u64) -> usize {
    // Seven bits a byte; 0 takes one.
    (63 - (value | 1).leading_zeros() as usize) / 7 + 1
}

/// How many bytes a varint or a varlong takes (a number takes the same as either).
pub const fn varlong_len(value: i64) -> usize {
    unsigned_varint_len(zigzag(value))
}

/// What primitive types are written to: bytes, or only their number. One function that writes a structure thereby
/// also tells its size.
pub trait Sink {
    /// Some bytes.
    fn put(&mut self, bytes: &[u8]);

    /// An unsigned varint.
    fn put_unsigned_varint(&mut self, value: u64);

    /// The elements of an array of int32.
    fn put_i32s(&mut self, values: &[i32]);

    /// An int8.
    fn put_i8(&mut self, value: i8) {
        self.put(&value.to_be_bytes());
    }

    /// An int16.
    fn put_i16(&mut self, value: i16) {
        self.put(&value.to_be_bytes());
    }

    /// A uint16.
    fn put_u16(&mut self, value: u16) {
        self.put(&value.to_be_bytes());
    }

    /// An int32.
    fn put_i32(&mut self, value: i32) {
        self.put(&value.to_be_bytes());
    }

    /// An int64.
    fn put_i64(&mut self, value: i64) {
        self.put(&value.to_be_bytes());
    }

    /// A topic id.
    fn put_uuid(&mut self, id: Uuid) {
        self.put(&id.to_bytes());
    }

    /// A varint or a varlong (a number is written the same as either).
    fn put_varlong(&mut self, value: i64) {
        self.put_unsigned_varint(zigzag(value));
    }

    /// A byte array with a varint length, as in record batches; `None` is null.
    fn put_varint_bytes(&mut self, bytes: Option<&[u8]>) {
        self.put_varlong(bytes.map_or(-1, |bytes| bytes.len() as i64));
        self.put(bytes.unwrap_or_default());
    }

    /// The compact length of an array that is not null.
    fn put_array_len(&mut self, len: usize) {
        self.put_unsigned_varint(len as u64 + 1);
    }

    /// A compact string.
    fn put_compact_str(&mut self, text: &str) {
        self.put_array_len(text.len());
        self.put(text.as_bytes());
    }

    /// A compact string; `None` is null.
    fn put_compact_nullable_str(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.put_compact_str(text),
            None => self.put_unsigned_varint(0),
        }
    }

    /// What stands before a structure that may be null.
    fn put_presence(&mut self, present: bool) {
        self.put_i8(if present { PRESENT } else { NULL });
    }

    /// A string with an int16 length. Kafka's protocol has none of more than 32,767 bytes.
    fn put_str(&mut self, text: &str) {
        debug_assert!(text.len() <= i16::MAX as usize, "a string of {} bytes", text.len());
        self.put_i16(text.len() as i16);
        self.put(text.as_bytes());
    }

    /// A string with an int16 length; `None` is null.
    fn put_nullable_str(&mut self, text: Option<&str>) {
        match text {
            Some(text) => self.put_str(text),
            None => self.put_i16(-1),
        }
    }

    /// A byte array with an int32 length.
    fn put_i32_bytes(&mut self, bytes: &[u8]) {
        self.put_i32(bytes.len() as i32);
        self.put(bytes);
    }
}

impl Sink for Vec<u8> {
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }

    fn put_unsigned_varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.push(value as u8);
    }

    fn put_i32s(&mut self, values: &[i32]) {
        self.extend(values.iter().flat_map(|value| value.to_be_bytes()));
    }
}

/// Counts the bytes and drops them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ByteCount(pub usize);

impl Sink for ByteCount {
    fn put(&mut self, bytes: &[u8]) {
        self.0 += bytes.len();
    }

    fn put_unsigned_varint(&mut self, value: u64) {
        self.0 += unsigned_varint_len(value);
    }

    fn put_i32s(&mut self, values: &[i32]) {
        self.0 += size_of_val(values);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints() {
        // Bytes as in `ByteUtilsTest` of kafka-clients.
        for (value, bytes) in [
            (0, &[0x00][..]),
            (-1, &[0x01]),
            (1, &[0x02]),
            (63, &[0x7e]),
            (-64, &[0x7f]),
            (64, &[0x80, 0x01]),
            (-65, &[0x81, 0x01]),
            (8191, &[0xfe, 0x7f]),
            (8192, &[0x80, 0x80, 0x01]),
            (i64::from(i32::MAX), &[0xfe, 0xff, 0xff, 0xff, 0x0f]),
            (i64::from(i32::MIN), &[0xff, 0xff, 0xff, 0xff, 0x0f]),
            (i64::MAX, &[0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
            (i64::MIN, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01]),
        ] {
            let mut out = Vec::new();
            out.put_varlong(value);
            assert_eq!(out, bytes, "{value}");
            assert_eq!(varlong_len(value), bytes.len(), "{value}");
            assert_eq!(Reader::new(bytes).varlong(), Ok(value));
            if let Ok(small) = i32::try_from(value) {
                assert_eq!(Reader::new(bytes).varint(), Ok(small));
            }
        }
        assert_eq!((unsigned_varint_len(127), unsigned_varint_len(128)), (1, 2));
        assert_eq!(unsigned_varint_len(u64::MAX), 10);
    }

    #[test]
    fn wrong_bytes() {
        let long = WireError { position: 0, problem: WireProblem::LongVarint { bits: 32 } };
        assert_eq!(Reader::new(&[0xff, 0xff, 0xff, 0xff, 0x1f]).varint(), Err(long));
        assert_eq!(Reader::new(&[0x80; 9]).varint(), Err(long));
        let end = WireProblem::End { needed: 1, left: 0 };
        assert_eq!(Reader::new(&[0x80]).varlong(), Err(WireError { position: 1, problem: end }));
        let end = WireProblem::End { needed: 4, left: 3 };
        assert_eq!(Reader::new(&[0; 3]).i32(), Err(WireError { position: 0, problem: end }));
        assert_eq!(
            Reader::new(&[2, 0xff]).compact_str(),
            Err(WireError { position: 1, problem: WireProblem::NotUtf8 })
        );
        assert_eq!(Reader::new(&[0]).compact_str(), Err(WireError { position: 0, problem: WireProblem::Length(-1) }));
        assert_eq!(Reader::new(&[0]).compact_nullable_str(), Ok(None));
        assert_eq!(Reader::new(&[0xff, 0xff]).str(), Err(WireError { position: 0, problem: WireProblem::Length(-1) }));
        assert_eq!(Reader::new(&[3]).varint_bytes(), Err(WireError { position: 0, problem: WireProblem::Length(-2) }));
    }
}
