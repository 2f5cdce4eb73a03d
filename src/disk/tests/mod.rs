//! Small logs by hand.

mod cleaning;
mod growing;

use super::*;

const DAY_MS: i64 = 24 * 3_600_000;

/// Segments of so many bytes, and each operation a batch of its own.
fn log(segment_bytes: u64) -> OffsetsLog<u32> {
    log_with(LogSettings { segment_bytes, ..LogSettings::default() })
}

fn log_with(settings: LogSettings) -> OffsetsLog<u32> {
    let rules = BatchRules { linger_ms: Some(0), max_bytes: BatchRules::DEFAULT_MAX_BYTES };
    OffsetsLog::new(settings, rules, 0, 1_000)
}

/// Appends an operation of records with a key of 4 bytes and a value of 8, or of tombstones: 19 and 11 bytes in a batch of
/// 61 more.
fn append(log: &mut OffsetsLog<u32>, now_ms: i64, records: &[(u32, bool)]) {
    let lengths: Vec<_> = records.iter().map(|(_, value)| (4, value.then_some(8))).collect();
    log.begin(now_ms, &lengths);
    for &(key, value) in records {
        let value_bytes = value.then_some(8);
        let payload = log.next_offset() as u32;
        let (key, record_type) = (KeyId(key), None);
        log.append(now_ms, NewRecord { key, record_type, key_bytes: 4, value_bytes, hash_bytes: 0, payload });
    }
}

/// The segments: base offset, bytes, and the batches as `offset:key` of each record, with `-` for a tombstone.
fn shown(log: &OffsetsLog<u32>) -> Vec<String> {
    let segment = |segment: &Segment<u32>| {
        let batches: Vec<String> = segment.batches().map(|(info, records)| batch(info, &records)).collect();
        format!("{} {} {}", segment.base_offset, segment.bytes, batches.join(" "))
    };
    log.segments().iter().map(segment).collect()
}

fn batch(info: BatchInfo, records: &[Record<u32>]) -> String {
    let record = |record: &Record<u32>| {
        let sign = if record.value_bytes.is_none() { "-" } else { "" };
        format!("{}:{sign}{}", info.base_offset + i64::from(record.offset_delta), record.key.0)
    };
    let horizon = info.delete_horizon_ms.map_or(String::new(), |at_ms| format!("@{at_ms}"));
    format!("[{}]{horizon}", records.iter().map(record).collect::<Vec<_>>().join(" "))
}
