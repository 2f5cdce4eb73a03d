//! How the records of write operations become the batches of a `__consumer_offsets` partition
//! (`CoordinatorRuntime.append`, `maybeAllocateNewBatch`, `flushCurrentBatch`).

use crate::kafka::batch::{BATCH_HEADER_BYTES, Lengths, batch_len, record_len};
use crate::kernel::TimeMs;

/// When a batch is full and when it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchRules {
    /// `group.coordinator.append.linger.ms`: how long a batch waits for more operations. `None` is -1, as long as the
    /// queue has work: modelled as the operations of one instant.
    pub linger_ms: Option<TimeMs>,
    /// `max.message.bytes`: no batch may be larger.
    pub max_bytes: u64,
}

impl BatchRules {
    /// `max.message.bytes` unless the configuration says otherwise (`LogConfig`).
    pub const DEFAULT_MAX_BYTES: u64 = 1_048_588;
}

/// The batch that is being filled.
#[derive(Debug)]
struct Open {
    first_ms: TimeMs,
    records: i32,
    bytes: u64,
}

/// The batches of one partition of the log.
#[derive(Debug)]
pub struct Batches {
    rules: BatchRules,
    open: Option<Open>,
}

impl Batches {
    /// No batch yet.
    pub fn new(rules: BatchRules) -> Batches {
        Batches { rules, open: None }
    }

    /// Whether there is a batch that still waits for operations at a time.
    pub fn is_open(&self, now_ms: TimeMs) -> bool {
        self.open.as_ref().is_some_and(|open| match self.rules.linger_ms {
            Some(linger_ms) => now_ms < open.first_ms + linger_ms,
            None => now_ms == open.first_ms,
        })
    }

    /// An operation is about to append records with these lengths of key and value, all into one batch. Gives the
    /// bytes that this costs before the records: a batch's header if it needs a new one, else 0.
    pub fn begin(&mut self, now_ms: TimeMs, lengths: &[Lengths]) -> u64 {
        // Kafka asks for room for the records as if they were a batch of their own
        // (`AbstractRecords.estimateSizeInBytes`, which counts a header again).
        let needed = batch_len(lengths);
        let has_room = |open: &Open| open.bytes + needed <= self.rules.max_bytes;
        if self.is_open(now_ms) && self.open.as_ref().is_some_and(has_room) {
            return 0;
        }
        let header_bytes = BATCH_HEADER_BYTES as u64;
        self.open = Some(Open { first_ms: now_ms, records: 0, bytes: header_bytes });
        header_bytes
    }

    /// Appends a record of the operation that has begun. Gives where it stands: the deltas of its offset and of its
    /// timestamp, which its encoded length depends on.
    pub fn append(&mut self, now_ms: TimeMs, key_bytes: usize, value_bytes: Option<usize>) -> Appended {
        let open = self.open.get_or_insert(Open { first_ms: now_ms, records: 0, bytes: 0 });
        let appended = Appended { offset_delta: open.records, timestamp_delta_ms: now_ms - open.first_ms };
        open.records += 1;
        open.bytes += appended.bytes(key_bytes, value_bytes);
        appended
    }
}

/// Where a record stands in its batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    offset_delta: i32,
    timestamp_delta_ms: TimeMs,
}

impl Appended {
    /// How many bytes of the batch a record of these lengths takes there, its own length and deltas included.
    pub fn bytes(self, key_bytes: usize, value_bytes: Option<usize>) -> u64 {
        record_len(key_bytes, value_bytes, self.offset_delta, self.timestamp_delta_ms) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kafka::batch::{NewRecord, encode_batch};

    const RECORD: (usize, Option<usize>) = (11, Some(17));

    fn append(batches: &mut Batches, now_ms: TimeMs, lengths: &[(usize, Option<usize>)]) -> u64 {
        let header_bytes = batches.begin(now_ms, lengths);
        let records = lengths.iter().map(|&(key, value)| batches.append(now_ms, key, value).bytes(key, value));
        header_bytes + records.sum::<u64>()
    }

    fn rules(linger_ms: Option<TimeMs>) -> BatchRules {
        BatchRules { linger_ms, max_bytes: BatchRules::DEFAULT_MAX_BYTES }
    }

    /// Real batches have the size that is counted: of several operations, over an hour apart in timestamps.
    #[test]
    fn counts_what_encoded_batches_have() {
        let times = [0, 3, 3, 9];
        let mut batches = Batches::new(rules(Some(10)));
        let lengths = [(300, None), RECORD, (35, Some(70_000))];
        let counted: u64 = times.iter().map(|&now_ms| append(&mut batches, now_ms, &lengths)).sum();
        let bytes = vec![0; 70_000];
        let records: Vec<NewRecord> = times
            .iter()
            .flat_map(|&now_ms| lengths.map(|(key, value)| (now_ms, key, value)))
            .map(|(timestamp_ms, key, value)| NewRecord {
                timestamp_ms,
                key: &bytes[..key],
                value: value.map(|len| &bytes[..len]),
            })
            .collect();
        assert_eq!(counted, encode_batch(0, 0, &records).len() as u64);
    }

    #[test]
    fn a_batch_lingers_or_holds_an_instant() {
        let headers = |linger_ms, times: &[TimeMs]| {
            let mut batches = Batches::new(rules(linger_ms));
            times.iter().map(|&now_ms| batches.begin(now_ms, &[RECORD])).collect::<Vec<_>>()
        };
        assert_eq!(headers(Some(10), &[100, 109, 110, 119, 120]), [61, 0, 61, 0, 61]);
        assert_eq!(headers(None, &[100, 100, 101]), [61, 0, 61]);
        assert_eq!(headers(Some(0), &[100, 100]), [61, 61]);
    }

    #[test]
    fn a_full_batch_takes_no_more() {
        // A record of (11, 17) takes 35 bytes at the start of a batch: 1 length, 1 attributes, 2 deltas, 1 + 11, 1 + 17,
        // 1 headers. The next needs room for a batch of its own, 96 bytes.
        let mut batches = Batches::new(BatchRules { linger_ms: None, max_bytes: 61 + 35 + 96 });
        assert_eq!(append(&mut batches, 0, &[RECORD]), 96);
        assert_eq!(append(&mut batches, 0, &[RECORD]), 35);
        assert_eq!(append(&mut batches, 0, &[RECORD]), 96);
    }
}
