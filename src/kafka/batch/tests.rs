//! Against segments of real brokers, and against bytes that are wrong.

use super::*;

// Written by real brokers; see the README there.
const SEGMENT_4_3_1: &[u8] = include_bytes!("../../../tests/golden/lab/4.3.1-consumer-offsets-1.log");
const SEGMENT_3_9_1: &[u8] = include_bytes!("../../../tests/golden/lab/3.9.1-consumer-offsets-1.log");
const CHECKPOINT_4_3_1: &[u8] = include_bytes!("../../../tests/golden/lab/4.3.1-bootstrap.checkpoint");

fn decode(bytes: &[u8]) -> Vec<Batch<'_>> {
    decode_batches(bytes).collect::<Result<_, _>>().unwrap()
}

fn error(bytes: &[u8]) -> BatchError {
    decode_batches(bytes).find_map(Result::err).unwrap()
}

/// Encodes a real file again, and counts its batches and records.
fn check_round_trip(bytes: &[u8], batches: usize, records: usize) {
    let decoded = decode(bytes);
    assert_eq!(decoded.len(), batches);
    assert_eq!(decoded.iter().map(|batch| batch.records.len()).sum::<usize>(), records);
    for batch in &decoded {
        let stored = &bytes[batch.position..batch.position + batch.len_bytes];
        assert_eq!(encode_raw(&batch.header, &batch.records), stored);
    }
}

#[test]
fn real_files_round_trip() {
    // The counts of the segments are those of Kafka's `DumpLogSegments`.
    check_round_trip(SEGMENT_4_3_1, 49, 105);
    check_round_trip(SEGMENT_3_9_1, 7, 32);
    check_round_trip(CHECKPOINT_4_3_1, 3, 8);
}

#[test]
fn what_a_coordinator_appends() {
    for segment in [SEGMENT_4_3_1, SEGMENT_3_9_1] {
        let mut next_offset = 0;
        for batch in decode(segment) {
            let header = &batch.header;
            assert_eq!(header.base_offset, next_offset);
            next_offset = header.last_offset() + 1;
            let new: Vec<_> = batch
                .records
                .iter()
                .map(|record| NewRecord {
                    timestamp_ms: header.timestamp_ms(record),
                    key: record.key.unwrap(),
                    value: record.value,
                })
                .collect();
            let encoded = encode_batch(header.base_offset, header.leader_epoch, &new);
            assert_eq!(encoded, &segment[batch.position..batch.position + batch.len_bytes]);
            let records_bytes: usize = batch
                .records
                .iter()
                .map(|record| {
                    let (key, value) = (record.key.unwrap().len(), record.value.map(<[u8]>::len));
                    record_len(key, value, record.offset_delta, record.timestamp_delta_ms)
                })
                .sum();
            assert_eq!(BATCH_HEADER_BYTES + records_bytes, batch.len_bytes);
        }
    }
    assert_eq!(encode_batch(7, 0, &[]), Vec::<u8>::new());
}

#[test]
fn every_truncation_is_told() {
    let first = decode(SEGMENT_4_3_1)[0].len_bytes;
    for left in 1..first {
        let needed = if left <= 16 { BATCH_HEADER_BYTES } else { first };
        let expected = BatchError { position: 0, problem: BatchProblem::Truncated { needed, left } };
        assert_eq!(error(&SEGMENT_4_3_1[..left]), expected);
    }
    let mut batches = decode_batches(&SEGMENT_4_3_1[..first + 20]);
    assert!(batches.next().unwrap().is_ok());
    assert_eq!(batches.next().unwrap().unwrap_err().position, first);
    assert_eq!(batches.next(), None);
}

#[test]
fn every_flipped_byte_is_told() {
    let len = decode(SEGMENT_4_3_1)[0].len_bytes;
    let mut bytes = SEGMENT_4_3_1[..len].to_vec();
    // The base offset and the leader's epoch are not covered by the checksum.
    for at in (8..12).chain(16..len) {
        bytes[at] ^= 0x40;
        assert_eq!(error(&bytes).position, 0, "byte {at}");
        bytes[at] ^= 0x40;
    }
    bytes[len - 1] ^= 1;
    assert!(matches!(error(&bytes).problem, BatchProblem::Checksum { .. }));
}

/// The error for a batch of one record (key `k`, value `v`) after a change; its checksum is made right again.
fn problem_after(change: impl FnOnce(&mut Vec<u8>)) -> BatchProblem {
    let mut bytes = encode_batch(0, 0, &[NewRecord { timestamp_ms: 5, key: b"k", value: Some(b"v") }]);
    change(&mut bytes);
    let length = (bytes.len() - LOG_OVERHEAD_BYTES) as i32;
    bytes[8..12].copy_from_slice(&length.to_be_bytes());
    let checksum = crc32c::crc32c(&bytes[CRC_START..]);
    bytes[17..CRC_START].copy_from_slice(&checksum.to_be_bytes());
    error(&bytes).problem
}

#[test]
fn wrong_content_is_told() {
    let compressed = problem_after(|bytes| bytes[22] = 4);
    assert_eq!(compressed, BatchProblem::Compressed("zstd"));
    assert_eq!(compressed.to_string(), "compressed with zstd; only uncompressed batches are read");
    assert_eq!(problem_after(|bytes| bytes[16] = 1), BatchProblem::Magic(1));
    assert_eq!(problem_after(|bytes| bytes[57] = 0xff), BatchProblem::RecordCount(-0x00ff_ffff));
    assert_eq!(problem_after(|bytes| bytes.push(0)), BatchProblem::TrailingBytes(1));
    let longer = BatchProblem::RecordLength { number: 0, stated: 9, read: 8 };
    assert_eq!(problem_after(|bytes| bytes[61] = 18), longer);
    // A second record that is not there; then a key that is longer than the batch.
    let end = |position, needed, left| WireError { position, problem: WireProblem::End { needed, left } };
    let second = BatchProblem::Record { number: 1, error: end(70, 1, 0) };
    assert_eq!(problem_after(|bytes| bytes[60] = 2), second);
    let key = BatchProblem::Record { number: 0, error: end(66, 63, 4) };
    assert_eq!(problem_after(|bytes| bytes[65] = 126), key);
    assert_eq!(error(&[0; 100]).problem, BatchProblem::Length(0));
}

#[test]
fn attributes_and_headers() {
    let header = BatchHeader {
        base_offset: 100,
        leader_epoch: 3,
        attributes: Attributes(0x78),
        last_offset_delta: 9,
        base_timestamp_ms: 1_000,
        max_timestamp_ms: 3_000,
        producer_id: 5,
        producer_epoch: 1,
        base_sequence: 2,
    };
    let headers = vec![Header { key: b"h", value: None }, Header { key: b"i", value: Some(b"") }];
    // The cleaner left the fifth record only.
    let record = BatchRecord { offset_delta: 4, timestamp_delta_ms: -1, key: None, value: Some(b"v"), headers };
    let bytes = encode_raw(&header, std::slice::from_ref(&record));
    let batches = decode(&bytes);
    assert_eq!((batches[0].header, &batches[0].records), (header, &vec![record.clone()]));
    let attributes = header.attributes;
    assert!(attributes.is_control() && attributes.is_transactional() && attributes.has_delete_horizon());
    assert_eq!((header.offset(&record), header.last_offset()), (104, 109));
    assert_eq!(header.timestamp_ms(&record), 3_000);
    let create_time = BatchHeader { attributes: Attributes(0), ..header };
    assert_eq!(create_time.timestamp_ms(&record), 999);
}
