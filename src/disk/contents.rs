//! What a log holds, counted: what a broker's disk shows, and what a coordinator that loads it reads.

use super::segment::{Item, Record, Segment};
use crate::kafka::batch::BATCH_HEADER_BYTES;
use crate::kafka::records::RecordType;

/// Records of one type in a log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TypeContents {
    /// How many there are.
    pub records: u64,
    /// Of these, tombstones.
    pub tombstones: u64,
    /// Their bytes in their batches.
    pub bytes: u64,
}

/// Everything in a log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogContents {
    /// Segments, the active one included.
    pub segments: u64,
    /// Batches, those that the cleaner has left without records included.
    pub batches: u64,
    /// All bytes.
    pub bytes: u64,
    /// The coordinator's records, in the order of [`RecordType::ALL`].
    pub records: [TypeContents; RecordType::ALL.len()],
    /// Offset commits.
    pub commits: TypeContents,
    /// By how much shorter group metadata records were without their hash.
    pub hash_field_bytes: u64,
}

impl LogContents {
    /// Counts a log's segments.
    pub fn of<P: Clone>(segments: &[Segment<P>]) -> LogContents {
        let mut contents = LogContents { segments: segments.len() as u64, ..LogContents::default() };
        for segment in segments {
            contents.bytes += segment.bytes;
            for (item, records) in segment.items() {
                match item {
                    Item::Batch { info, .. } => {
                        contents.batches += 1;
                        records.iter().for_each(|record| contents.add(record, info.base_timestamp_ms));
                    }
                    Item::Commits(run) => {
                        let batches = run.rounds * run.round.batches.len() as u64;
                        contents.batches += batches;
                        contents.commits.records += run.rounds * run.round.records;
                        contents.commits.bytes += run.rounds * run.round.bytes - batches * BATCH_HEADER_BYTES as u64;
                    }
                }
            }
        }
        contents
    }

    fn add<P>(&mut self, record: &Record<P>, base_timestamp_ms: i64) {
        let bytes = record.bytes(base_timestamp_ms);
        self.hash_field_bytes += record.hash_field_bytes(base_timestamp_ms);
        let of_type = match record.record_type {
            Some(record_type) => &mut self.records[record_type.position()],
            None => &mut self.commits,
        };
        of_type.records += 1;
        of_type.tombstones += u64::from(record.value_bytes.is_none());
        of_type.bytes += bytes;
    }

    /// Bytes of what the strategy stores: records of types 4, 9 and 18, and the hash in group metadata records.
    pub fn strategy_bytes(&self) -> u64 {
        self.bytes_of(RecordType::is_partition_metadata) + self.hash_field_bytes
    }

    /// Bytes of target and current assignments.
    pub fn rebalance_bytes(&self) -> u64 {
        self.bytes_of(RecordType::is_rebalance)
    }

    fn bytes_of(&self, is_meant: impl Fn(RecordType) -> bool) -> u64 {
        let types = RecordType::ALL.into_iter().zip(&self.records);
        types.filter(|(record_type, _)| is_meant(*record_type)).map(|(_, records)| records.bytes).sum()
    }

    /// All records, commits included.
    pub fn num_records(&self) -> u64 {
        self.records.iter().map(|of_type| of_type.records).sum::<u64>() + self.commits.records
    }
}

impl std::ops::AddAssign<&LogContents> for LogContents {
    fn add_assign(&mut self, other: &LogContents) {
        self.segments += other.segments;
        self.batches += other.batches;
        self.bytes += other.bytes;
        let mine = self.records.iter_mut().chain([&mut self.commits]);
        for (mine, theirs) in mine.zip(other.records.iter().chain([&other.commits])) {
            mine.records += theirs.records;
            mine.tombstones += theirs.tombstones;
            mine.bytes += theirs.bytes;
        }
        self.hash_field_bytes += other.hash_field_bytes;
    }
}
