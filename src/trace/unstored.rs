//! What stays of outcomes without what a strategy stores: the same for all strategies that bump at the same moments.

use super::outcome::OutcomeLine;
use super::replay::Replayer;
use crate::kafka::records::{Record, Value};
use crate::kernel::TimeMs;
use std::borrow::Cow;
use xxhash_rust::xxh3::xxh3_64;

/// What a replay comes to without what its strategy stores.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Unstored {
    /// Event, time and fingerprint of every line; lines of one event and time in the order of their fingerprints: at
    /// one deadline, timers fire in the order in which groups were loaded, and such a record may be the first of
    /// its group in the log.
    pub lines: Vec<(usize, TimeMs, u64)>,
    /// How many records the strategy has written in order to remember topics.
    pub stored_records: u64,
}

impl Unstored {
    /// Replays the trace.
    pub fn new(replayer: &Replayer) -> Self {
        let mut unstored = Unstored::default();
        let mut text = String::new();
        replayer.run(|line| {
            unstored.stored_records += line.records.iter().filter(|record| is_stored(record)).count() as u64;
            unstored.lines.push((line.i, line.t_ms, fingerprint(&line, &mut text)));
        });
        unstored.lines.chunk_by_mut(|a, b| (a.0, a.1) == (b.0, b.1)).for_each(<[_]>::sort_unstable);
        unstored
    }
}

/// A number for everything in the line but the records of types 4, 9 and 18 and the hash in the group's metadata (and the
/// field of the line that repeats it). `text` is room to work in.
fn fingerprint(line: &OutcomeLine<'_, &Record>, text: &mut String) -> u64 {
    let records: Vec<Cow<'_, Record>> = line.records.iter().filter(|record| !is_stored(record)).map(unhashed).collect();
    text.clear();
    let bare = OutcomeLine {
        i: line.i,
        t_ms: line.t_ms,
        cause: line.cause,
        error: line.error,
        member_epoch: line.member_epoch,
        assignment: line.assignment,
        group_epoch: line.group_epoch,
        metadata_hash: None,
        records: &records,
    };
    bare.write(text);
    xxh3_64(text.as_bytes())
}

/// Whether a strategy writes the record in order to remember topics.
fn is_stored(record: &Record) -> bool {
    record.key.record_type.is_partition_metadata()
}

fn unhashed<'r>(record: &&'r Record) -> Cow<'r, Record> {
    match record.value.as_ref().and_then(Value::unhashed) {
        Some(value) => Cow::Owned(Record { key: record.key.clone(), value: Some(value) }),
        None => Cow::Borrowed(*record),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kafka::JString;
    use crate::kafka::records::{GroupMetadata, Key, RecordType};
    use crate::trace::outcome::Cause;

    fn of(records: &[&Record], metadata_hash: Option<i64>, group_epoch: i32) -> u64 {
        let line = OutcomeLine {
            i: 1,
            t_ms: 2,
            cause: Cause::Heartbeat,
            error: None,
            member_epoch: Some(1),
            assignment: None,
            group_epoch: Some(group_epoch),
            metadata_hash,
            records,
        };
        fingerprint(&line, &mut String::new())
    }

    #[test]
    fn nothing_but_what_is_stored_is_left_out() {
        let key = |record_type| Key { record_type, group: JString::from("g"), member: None };
        let group = |epoch, metadata_hash| Record {
            key: key(RecordType::ConsumerGroupMetadata),
            value: Some(Value::GroupMetadata(GroupMetadata { epoch, metadata_hash })),
        };
        let map = Record { key: key(RecordType::ConsumerGroupPartitionMetadata), value: None };
        let tombstone = Record { key: key(RecordType::ConsumerGroupMetadata), value: None };
        let plain = of(&[&group(3, 0)], None, 3);
        assert_eq!(plain, of(&[&group(3, -9)], Some(-9), 3));
        assert_eq!(plain, of(&[&map, &group(3, 0), &map], None, 3));
        assert_ne!(plain, of(&[&group(4, 0)], None, 3));
        assert_ne!(plain, of(&[&group(3, 0)], None, 4));
        assert_ne!(plain, of(&[&group(3, 0), &tombstone], None, 3));
    }
}
