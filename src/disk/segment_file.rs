//! Segments as the files that Kafka has of them (`00000000000000000000.log`). The indexes that a broker has beside them are left
//! out: it makes them anew when they are missing (`LogLoader`, `LogSegment.recover`).

use super::log::OffsetsLog;
use super::segment::{BatchInfo, Keys, Record, Segment};
use crate::kafka::batch::{Attributes, Batch, BatchError, BatchHeader, BatchRecord, decode_batches, encode_raw};
use crate::kafka::records::RecordType;
use std::borrow::Borrow;
use std::sync::Arc;

/// The bytes of a record, for a log whose files are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordBytes {
    /// Its key.
    pub key: Vec<u8>,
    /// Its value; `None` is a tombstone.
    pub value: Option<Vec<u8>>,
}

/// The attribute of a batch that has a delete horizon (`DefaultRecordBatch`).
const DELETE_HORIZON: i16 = 0x40;

/// The name of a segment's file, which is that of its first offset (`LogFileUtils.logFile`).
pub fn file_name(base_offset: i64) -> String {
    format!("{base_offset:020}.log")
}

impl<P: Clone> Segment<P> {
    /// The segment's file. `bytes_of` gives the bytes of a record.
    pub fn to_file<B: Borrow<RecordBytes>>(&self, bytes_of: impl Fn(&Record<P>) -> B) -> Vec<u8> {
        let mut file = Vec::with_capacity(self.bytes as usize);
        for (info, records) in self.batches() {
            let bytes: Vec<B> = records.iter().map(&bytes_of).collect();
            let records: Vec<BatchRecord<'_>> = records
                .iter()
                .zip(bytes.iter().map(Borrow::borrow))
                .map(|(record, bytes)| BatchRecord {
                    offset_delta: record.offset_delta,
                    timestamp_delta_ms: record.timestamp_ms.wrapping_sub(info.base_timestamp_ms),
                    key: Some(&bytes.key),
                    value: bytes.value.as_deref(),
                    headers: Vec::new(),
                })
                .collect();
            file.extend(encode_raw(&header(&info), &records));
        }
        file
    }
}

fn header(info: &BatchInfo) -> BatchHeader {
    BatchHeader {
        base_offset: info.base_offset,
        leader_epoch: info.leader_epoch,
        attributes: Attributes(if info.delete_horizon_ms.is_some() { DELETE_HORIZON } else { 0 }),
        last_offset_delta: info.last_offset_delta,
        base_timestamp_ms: info.base_timestamp_ms,
        max_timestamp_ms: info.max_timestamp_ms,
        producer_id: -1,
        producer_epoch: -1,
        // See `encode_batch`.
        base_sequence: 0,
    }
}

/// A file that is not a segment which a coordinator wrote and no cleaner has touched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SegmentError {
    /// It is no segment.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// A batch that no coordinator writes without transactions, or that lacks records.
    #[error("record batch at byte {position}: {what}")]
    Foreign {
        /// Where the batch begins.
        position: usize,
        /// What it has.
        what: &'static str,
    },
    /// Offsets are missing before a batch.
    #[error("record batch at byte {position}: it begins at offset {found}, the log so far ends before {expected}")]
    Gap {
        /// Where the batch begins.
        position: usize,
        /// Its base offset.
        found: i64,
        /// The one expected.
        expected: i64,
    },
}

/// Appends the batches of a segment's file to a log, each at its time: that of its last record. Gives the last of these times.
///
/// # Errors
/// At the first batch that cannot be appended so that the log has it as it stands in the file.
pub fn append_file(
    log: &mut OffsetsLog<Arc<RecordBytes>>,
    keys: &mut Keys<Vec<u8>>,
    file: &[u8],
) -> Result<i64, SegmentError> {
    let mut last_ms = 0;
    for batch in decode_batches(file) {
        let batch = batch?;
        check(&batch, log.next_offset())?;
        let records = batch.records.iter().map(|record| to_record(&batch.header, record, keys)).collect();
        last_ms = batch.header.max_timestamp_ms;
        log.append_batch(last_ms, batch.header.leader_epoch, records);
    }
    Ok(last_ms)
}

/// Whether the batch is one of a coordinator, as it was appended, and the next one of the log.
fn check(batch: &Batch<'_>, expected: i64) -> Result<(), SegmentError> {
    let (position, header) = (batch.position, &batch.header);
    if header.base_offset != expected {
        return Err(SegmentError::Gap { position, found: header.base_offset, expected });
    }
    let what = if header.attributes != Attributes::default() || header.producer_id >= 0 {
        "it belongs to a transaction or has been cleaned"
    } else if batch.records.len() as i64 != i64::from(header.last_offset_delta) + 1 {
        "records are missing"
    } else if batch.records.iter().any(|record| record.key.is_none() || !record.headers.is_empty()) {
        "a record has no key or has headers"
    } else {
        return Ok(());
    };
    Err(SegmentError::Foreign { position, what })
}

fn to_record(header: &BatchHeader, record: &BatchRecord<'_>, keys: &mut Keys<Vec<u8>>) -> Record<Arc<RecordBytes>> {
    let key = record.key.unwrap_or_default();
    let record_type = key.first_chunk().and_then(|number| RecordType::from_i16(i16::from_be_bytes(*number)));
    Record {
        key: keys.id(key),
        record_type,
        offset_delta: record.offset_delta,
        timestamp_ms: header.timestamp_ms(record),
        key_bytes: key.len() as u32,
        value_bytes: record.value.map(|value| value.len() as u32),
        hash_bytes: 0,
        payload: Arc::new(RecordBytes { key: key.to_vec(), value: record.value.map(<[u8]>::to_vec) }),
    }
}
