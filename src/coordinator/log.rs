//! The compacted log of a shard: the last record of every key, in the order in which they were written, tombstones
//! dropped. What a new incarnation loads.

use crate::kafka::records::{Key, Record};
use crate::kernel::lookup::Lookup;
use crate::strategy::Seen;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A record and, beside one that stores what a group has seen of its topics, what that was. The second is not in the
/// bytes; it lets a loaded group explain its later bumps.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The record.
    pub record: Record,
    /// What it stores.
    pub seen: Option<Arc<Seen>>,
}

impl From<Record> for Entry {
    fn from(record: Record) -> Entry {
        Entry { record, seen: None }
    }
}

/// See the module.
#[derive(Debug, Default)]
pub struct CompactedLog {
    entries: BTreeMap<u64, Entry>,
    places: Lookup<Key, u64>,
    next: u64,
}

impl CompactedLog {
    /// Appends records.
    pub fn append(&mut self, entries: &[Entry]) {
        for entry in entries {
            if let Some(place) = self.places.remove(&entry.record.key) {
                self.entries.remove(&place);
            }
            if entry.record.value.is_some() {
                self.places.insert(entry.record.key.clone(), self.next);
                self.entries.insert(self.next, entry.clone());
                self.next += 1;
            }
        }
    }

    /// The records, oldest first.
    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values()
    }

    /// How many records there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kafka::records::{GroupMetadata, RecordType, Value};

    fn record(group: &str, epoch: Option<i32>) -> Entry {
        let key = Key { record_type: RecordType::ConsumerGroupMetadata, group: group.into(), member: None };
        let value = epoch.map(|epoch| Value::GroupMetadata(GroupMetadata { epoch, metadata_hash: 0 }));
        Record { key, value }.into()
    }

    #[test]
    fn keeps_the_last_of_each_key_in_log_order() {
        let mut log = CompactedLog::default();
        log.append(&[record("a", Some(1)), record("b", Some(1)), record("c", Some(1))]);
        log.append(&[record("a", Some(2)), record("b", None)]);
        let left: Vec<_> = log.entries().map(|e| e.record.clone()).collect();
        assert_eq!(left, [record("c", Some(1)).record, record("a", Some(2)).record]);
    }
}
