//! Record batches of format 2 (`DefaultRecordBatch`, `DefaultRecord` of `kafka-clients`; the same in all versions):
//! what one append of the coordinator puts into the log, and what segment files and KRaft checkpoints consist of.
//!
//! The coordinator writes neither compressed batches nor headers, and no producer. Reading also understands
//! what others write: control batches, producers, headers, and the gaps that the log cleaner leaves. It never
//! decompresses.

#[cfg(test)]
mod tests;

use super::wire::{Reader, Sink, WireError, WireProblem, varlong_len};

/// The bytes of a batch before its first record.
pub const BATCH_HEADER_BYTES: usize = 61;

/// The bytes of the base offset and the batch length, which the batch length does not count.
const LOG_OVERHEAD_BYTES: usize = 12;

/// The format that is read and written.
const MAGIC: i8 = 2;

/// The byte at which the part begins that the checksum covers: the attributes.
const CRC_START: usize = 21;

/// The record attributes byte, which Kafka does not use.
const RECORD_ATTRIBUTES: u8 = 0;

/// Everything in a batch's header but its length, its checksum and the number of its records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchHeader {
    /// The offset that the records' deltas count from.
    pub base_offset: i64,
    /// The epoch of the partition's leader that appended it.
    pub leader_epoch: i32,
    /// Compression, timestamp type, transactional, control and delete-horizon flags.
    pub attributes: Attributes,
    /// The last offset of the batch as it was appended, from the base offset: the cleaner keeps it.
    pub last_offset_delta: i32,
    /// What the records' timestamps count from; with a delete horizon, the horizon (Unix time in ms).
    pub base_timestamp_ms: i64,
    /// The greatest timestamp of a record (Unix time in ms).
    pub max_timestamp_ms: i64,
    /// The producer's id; -1 is none.
    pub producer_id: i64,
    /// The producer's epoch; -1 is none.
    pub producer_epoch: i16,
    /// The producer's sequence number of the first record; -1 is none.
    pub base_sequence: i32,
}

impl BatchHeader {
    /// The last offset of the batch as it was appended.
    pub fn last_offset(&self) -> i64 {
        self.base_offset.wrapping_add(i64::from(self.last_offset_delta))
    }

    /// A record's offset.
    pub fn offset(&self, record: &BatchRecord<'_>) -> i64 {
        self.base_offset.wrapping_add(i64::from(record.offset_delta))
    }

    /// A record's timestamp (Unix time in ms).
    pub fn timestamp_ms(&self, record: &BatchRecord<'_>) -> i64 {
        if self.attributes.is_log_append_time() {
            return self.max_timestamp_ms;
        }
        self.base_timestamp_ms.wrapping_add(record.timestamp_delta_ms)
    }
}

/// The attributes of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Attributes(pub i16);

impl Attributes {
    /// The name of the compression codec; `None` for none.
    pub fn compression(self) -> Option<&'static str> {
        match self.0 & 7 {
            0 => None,
            1 => Some("gzip"),
            2 => Some("snappy"),
            3 => Some("lz4"),
            4 => Some("zstd"),
            _ => Some("unknown"),
        }
    }

    /// Whether the timestamps are the broker's (`LogAppendTime`): then all records have the greatest one.
    pub fn is_log_append_time(self) -> bool {
        self.0 & 0x08 != 0
    }

    /// Whether the batch belongs to a transaction.
    pub fn is_transactional(self) -> bool {
        self.0 & 0x10 != 0
    }

    /// Whether its record is a marker and not data.
    pub fn is_control(self) -> bool {
        self.0 & 0x20 != 0
    }

    /// Whether the base timestamp is the time from which on the cleaner drops the batch's tombstones.
    pub fn has_delete_horizon(self) -> bool {
        self.0 & 0x40 != 0
    }
}

/// A record in a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchRecord<'a> {
    /// Its offset, from the batch's base offset.
    pub offset_delta: i32,
    /// Its timestamp, from the batch's base timestamp.
    pub timestamp_delta_ms: i64,
    /// Its key. Records of the metadata log have none.
    pub key: Option<&'a [u8]>,
    /// Its value; `None` is a tombstone.
    pub value: Option<&'a [u8]>,
    /// Its headers, in order.
    pub headers: Vec<Header<'a>>,
}

/// A header of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header<'a> {
    /// Its key, UTF-8 by convention.
    pub key: &'a [u8],
    /// Its value.
    pub value: Option<&'a [u8]>,
}

/// A batch as it stands in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch<'a> {
    /// Where its first byte is, from the start of what was decoded.
    pub position: usize,
    /// How many bytes it has, header included.
    pub len_bytes: usize,
    /// Its header.
    pub header: BatchHeader,
    /// Its records. The cleaner may leave a batch without any.
    pub records: Vec<BatchRecord<'a>>,
}

/// Bytes that are not a record batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("record batch at byte {position}: {problem}")]
pub struct BatchError {
    /// Where the batch begins, from the start of what was decoded.
    pub position: usize,
    /// What is wrong with it.
    pub problem: BatchProblem,
}

/// What can be wrong with a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BatchProblem {
    /// The file ends within the batch, as it does after a crash or in a copy of a log that is being written.
    #[error("the file ends after {left} of its {needed} bytes")]
    Truncated {
        /// How many bytes the batch has, or those of a header if not even that is there.
        needed: usize,
        /// How many there are.
        left: usize,
    },
    /// The batch length cannot be.
    #[error("a batch length of {0}; {min} or more expected", min = BATCH_HEADER_BYTES - LOG_OVERHEAD_BYTES)]
    Length(i32),
    /// Another format: 0 and 1 are Kafka's before 0.11.
    #[error("message format {0}; only format 2 is read")]
    Magic(i8),
    /// The checksum does not fit the bytes.
    #[error("the checksum (CRC-32C) is {stored:#010x}, that of its bytes {computed:#010x}")]
    Checksum {
        /// What the batch says.
        stored: u32,
        /// What its bytes give.
        computed: u32,
    },
    /// It is compressed.
    #[error("compressed with {0}; only uncompressed batches are read")]
    Compressed(&'static str),
    /// The number of records cannot be.
    #[error("{0} records")]
    RecordCount(i32),
    /// A record cannot be read; positions count from the start of what was decoded.
    #[error("record {number}: {error}")]
    Record {
        /// Which record, from 0.
        number: usize,
        /// What is wrong with it.
        error: WireError,
    },
    /// A record is not as long as it says.
    #[error("record {number} says it has {stated} bytes but its fields have {read}")]
    RecordLength {
        /// Which record, from 0.
        number: usize,
        /// What its length field says.
        stated: i32,
        /// What its fields take.
        read: usize,
    },
    /// There are bytes after the last record.
    #[error("{0} bytes after the last record")]
    TrailingBytes(usize),
}

/// The batches of a segment (`.log`) or a KRaft checkpoint, one after the other. After an error there are no more.
pub fn decode_batches(bytes: &[u8]) -> Batches<'_> {
    Batches { bytes, position: 0 }
}

/// See [`decode_batches`].
#[derive(Debug, Clone)]
pub struct Batches<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Iterator for Batches<'a> {
    type Item = Result<Batch<'a>, BatchError>;

    fn next(&mut self) -> Option<Self::Item> {
        let position = self.position;
        if position == self.bytes.len() {
            return None;
        }
        let decoded = decode_batch(self.bytes, position);
        self.position = decoded.as_ref().map_or(self.bytes.len(), |batch| position + batch.len_bytes);
        Some(decoded.map_err(|problem| BatchError { position, problem }))
    }
}

fn decode_batch(bytes: &[u8], position: usize) -> Result<Batch<'_>, BatchProblem> {
    let rest = &bytes[position..];
    let batch = whole_batch(rest)?;
    let stored = u32::from_be_bytes([batch[17], batch[18], batch[19], batch[20]]);
    let computed = crc32c::crc32c(&batch[CRC_START..]);
    if stored != computed {
        return Err(BatchProblem::Checksum { stored, computed });
    }
    let mut reader = Reader::new(batch);
    let (header, count) = read_header(&mut reader).expect("a whole batch has a header");
    if let Some(codec) = header.attributes.compression() {
        return Err(BatchProblem::Compressed(codec));
    }
    let count = usize::try_from(count).map_err(|_| BatchProblem::RecordCount(count))?;
    let mut records = Vec::with_capacity(count.min(reader.left() / MIN_RECORD_BYTES));
    for number in 0..count {
        let start = reader.position();
        let absolute = |error: WireError| WireError { position: position + error.position, ..error };
        let (stated, length_bytes, record) =
            read_record(&mut reader).map_err(|error| BatchProblem::Record { number, error: absolute(error) })?;
        let read = reader.position() - start - length_bytes;
        if usize::try_from(stated) != Ok(read) {
            return Err(BatchProblem::RecordLength { number, stated, read });
        }
        records.push(record);
    }
    if reader.left() > 0 {
        return Err(BatchProblem::TrailingBytes(reader.left()));
    }
    Ok(Batch { position, len_bytes: batch.len(), header, records })
}

/// The bytes of a record with a length of one byte, no key, no value and no headers.
const MIN_RECORD_BYTES: usize = 7;

/// The bytes of the batch at the start of `rest`: as many as its length says, and at least a header of format 2.
fn whole_batch(rest: &[u8]) -> Result<&[u8], BatchProblem> {
    let left = rest.len();
    let truncated = |needed| BatchProblem::Truncated { needed, left };
    let length = rest.get(8..LOG_OVERHEAD_BYTES).ok_or(truncated(BATCH_HEADER_BYTES))?;
    let length = i32::from_be_bytes([length[0], length[1], length[2], length[3]]);
    let magic = *rest.get(16).ok_or(truncated(BATCH_HEADER_BYTES))? as i8;
    // Zeros after the last batch, say in a preallocated file, are no other format.
    if magic != MAGIC && length > 0 {
        return Err(BatchProblem::Magic(magic));
    }
    let needed = usize::try_from(length).map_err(|_| BatchProblem::Length(length))? + LOG_OVERHEAD_BYTES;
    if needed < BATCH_HEADER_BYTES {
        return Err(BatchProblem::Length(length));
    }
    rest.get(..needed).ok_or(truncated(needed))
}

/// The header and the number of records.
fn read_header(reader: &mut Reader<'_>) -> Result<(BatchHeader, i32), WireError> {
    let base_offset = reader.i64()?;
    let _batch_length = reader.i32()?;
    let leader_epoch = reader.i32()?;
    let _magic = reader.i8()?;
    let _checksum = reader.i32()?;
    let header = BatchHeader {
        base_offset,
        leader_epoch,
        attributes: Attributes(reader.i16()?),
        last_offset_delta: reader.i32()?,
        base_timestamp_ms: reader.i64()?,
        max_timestamp_ms: reader.i64()?,
        producer_id: reader.i64()?,
        producer_epoch: reader.i16()?,
        base_sequence: reader.i32()?,
    };
    Ok((header, reader.i32()?))
}

/// A record, what its length field says, and how many bytes that field has.
fn read_record<'a>(reader: &mut Reader<'a>) -> Result<(i32, usize, BatchRecord<'a>), WireError> {
    let start = reader.position();
    let stated = reader.varint()?;
    let length_bytes = reader.position() - start;
    let _attributes = reader.i8()?;
    let timestamp_delta_ms = reader.varlong()?;
    let offset_delta = reader.varint()?;
    let key = reader.varint_bytes()?;
    let value = reader.varint_bytes()?;
    let headers = read_headers(reader)?;
    Ok((stated, length_bytes, BatchRecord { offset_delta, timestamp_delta_ms, key, value, headers }))
}

fn read_headers<'a>(reader: &mut Reader<'a>) -> Result<Vec<Header<'a>>, WireError> {
    let at = reader.position();
    let negative = |position, count: i64| WireError { position, problem: WireProblem::Length(count) };
    let count = reader.varint()?;
    if count < 0 {
        return Err(negative(at, i64::from(count)));
    }
    let mut headers = Vec::new();
    for _ in 0..count {
        let at = reader.position();
        let key = reader.varint_bytes()?.ok_or(negative(at, -1))?;
        headers.push(Header { key, value: reader.varint_bytes()? });
    }
    Ok(headers)
}

/// How many bytes a record without headers takes in a batch, the length before it included.
pub const fn record_len(key_len: usize, value_len: Option<usize>, offset_delta: i32, timestamp_delta_ms: i64) -> usize {
    let value_len = match value_len {
        None => varlong_len(-1),
        Some(len) => varlong_len(len as i64) + len,
    };
    let no_headers = 1;
    let body = 1
        + varlong_len(timestamp_delta_ms)
        + varlong_len(offset_delta as i64)
        + varlong_len(key_len as i64)
        + key_len
        + value_len
        + no_headers;
    varlong_len(body as i64) + body
}

/// The bytes of a record's key and value; no value is a tombstone.
pub type Lengths = (usize, Option<usize>);

/// How many bytes a batch takes whose records have these lengths and all the same timestamp.
pub fn batch_len(records: &[Lengths]) -> u64 {
    let records = (0..).zip(records).map(|(delta, &(key, value))| record_len(key, value, delta, 0) as u64);
    BATCH_HEADER_BYTES as u64 + records.sum::<u64>()
}

/// A record to be appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewRecord<'a> {
    /// Its timestamp (Unix time in ms).
    pub timestamp_ms: i64,
    /// Its key.
    pub key: &'a [u8],
    /// Its value; `None` is a tombstone.
    pub value: Option<&'a [u8]>,
}

/// A batch as the coordinator appends it: not compressed, no producer, consecutive offsets, timestamps from that
/// of the first record (`CoordinatorRuntime`, `MemoryRecordsBuilder`). No records make no batch: no bytes.
pub fn encode_batch(base_offset: i64, leader_epoch: i32, records: &[NewRecord<'_>]) -> Vec<u8> {
    let Some(first) = records.first() else {
        return Vec::new();
    };
    let base_timestamp_ms = first.timestamp_ms;
    let header = BatchHeader {
        base_offset,
        leader_epoch,
        attributes: Attributes::default(),
        last_offset_delta: records.len() as i32 - 1,
        base_timestamp_ms,
        max_timestamp_ms: records.iter().fold(base_timestamp_ms, |max, record| max.max(record.timestamp_ms)),
        producer_id: -1,
        producer_epoch: -1,
        // Not -1, although there is no producer: `CoordinatorRuntime` passes 0, from 3.9.1 to 4.3.1.
        base_sequence: 0,
    };
    let records: Vec<_> = (0..)
        .zip(records)
        .map(|(offset_delta, record)| BatchRecord {
            offset_delta,
            timestamp_delta_ms: record.timestamp_ms.wrapping_sub(base_timestamp_ms),
            key: Some(record.key),
            value: record.value,
            headers: Vec::new(),
        })
        .collect();
    encode_raw(&header, &records)
}

/// A batch with any header and any records, such as the cleaner leaves it.
pub fn encode_raw(header: &BatchHeader, records: &[BatchRecord<'_>]) -> Vec<u8> {
    let mut out = Vec::new();
    out.put_i64(header.base_offset);
    out.put_i32(0); // the length, later
    out.put_i32(header.leader_epoch);
    out.put_i8(MAGIC);
    out.put_i32(0); // the checksum, later
    out.put_i16(header.attributes.0);
    out.put_i32(header.last_offset_delta);
    out.put_i64(header.base_timestamp_ms);
    out.put_i64(header.max_timestamp_ms);
    out.put_i64(header.producer_id);
    out.put_i16(header.producer_epoch);
    out.put_i32(header.base_sequence);
    out.put_i32(records.len() as i32);
    let mut body = Vec::new();
    for record in records {
        body.clear();
        put_record_body(&mut body, record);
        out.put_varlong(body.len() as i64);
        out.extend_from_slice(&body);
    }
    let batch_length = (out.len() - LOG_OVERHEAD_BYTES) as i32;
    out[8..LOG_OVERHEAD_BYTES].copy_from_slice(&batch_length.to_be_bytes());
    let checksum = crc32c::crc32c(&out[CRC_START..]);
    out[17..CRC_START].copy_from_slice(&checksum.to_be_bytes());
    out
}

fn put_record_body(out: &mut Vec<u8>, record: &BatchRecord<'_>) {
    out.push(RECORD_ATTRIBUTES);
    out.put_varlong(record.timestamp_delta_ms);
    out.put_varlong(i64::from(record.offset_delta));
    out.put_varint_bytes(record.key);
    out.put_varint_bytes(record.value);
    out.put_varlong(record.headers.len() as i64);
    for header in &record.headers {
        out.put_varint_bytes(Some(header.key));
        out.put_varint_bytes(header.value);
    }
}
