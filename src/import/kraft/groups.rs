//! Which records are published together.
//!
//! `MetadataBatchLoader` (`kafka-metadata` 4.3.1) publishes an image after the batches that Raft hands over in one
//! go; how many those were is not in the log. Here every batch is an image, and a transaction is one as a whole:
//! from its begin record to the end of the batch with its end record. Records that precede a transaction in its
//! first batch are an image of their own, as in Kafka. An aborted transaction is nothing.

use super::error::{ImportError, Place};
use super::files::{Ordered, Snapshot, Source, control_type};
use super::records::{self, MetadataRecord};
use super::{Counts, RecordType};
use crate::kafka::batch::{Batch, BatchRecord};

/// The records of an image.
#[derive(Debug)]
pub(super) struct Group {
    /// The last offset that it covers.
    pub offset: i64,
    /// The greatest timestamp of its last batch.
    pub unix_ms: i64,
    /// Whether it is a snapshot.
    pub snapshot: bool,
    /// What it says, with transaction and no-op records left out.
    pub records: Vec<(Place, MetadataRecord)>,
}

/// Groups the records of all batches.
pub(super) fn group(ordered: &Ordered<'_>) -> Result<(Vec<Group>, Counts), Vec<ImportError>> {
    let mut grouping = Grouping::default();
    if let Some(snapshot) = &ordered.snapshot {
        grouping.snapshot(snapshot);
    }
    for chosen in &ordered.batches {
        grouping.batch(chosen.source, &chosen.batch, chosen.from);
    }
    if grouping.transaction.is_some() {
        grouping.counts.unfinished = grouping.pending.len() as u64;
    }
    if grouping.errors.is_empty() { Ok((grouping.groups, grouping.counts)) } else { Err(grouping.errors) }
}

#[derive(Debug, Default)]
struct Grouping {
    groups: Vec<Group>,
    counts: Counts,
    errors: Vec<ImportError>,
    /// Records that are not published yet.
    pending: Vec<(Place, MetadataRecord)>,
    /// Where the transaction that is going on began.
    transaction: Option<i64>,
}

impl Grouping {
    fn snapshot(&mut self, snapshot: &Snapshot<'_>) {
        for batch in &snapshot.batches {
            for record in &batch.records {
                if let Some((place, record)) = self.decode(snapshot.source, batch, record) {
                    match record {
                        MetadataRecord::NoOp => {}
                        record => self.pending.push((place, record)),
                    }
                }
            }
        }
        let (offset, unix_ms) = (snapshot.end_offset - 1, snapshot.unix_ms);
        self.groups.push(Group { offset, unix_ms, snapshot: true, records: std::mem::take(&mut self.pending) });
    }

    fn batch(&mut self, source: &Source, batch: &Batch<'_>, from: i64) {
        let unix_ms = batch.header.max_timestamp_ms;
        for record in batch.records.iter().filter(|record| batch.header.offset(record) >= from) {
            if let Some((place, record)) = self.decode(source, batch, record) {
                let offset = place.offset;
                if let Err(message) = self.record(place.clone(), record, unix_ms) {
                    self.errors.push(ImportError::Record { place, message });
                    // So that one error is told once.
                    self.transaction = self.transaction.and(Some(offset));
                }
            }
        }
        if self.transaction.is_none() {
            self.publish(batch.header.last_offset(), unix_ms);
        }
    }

    fn record(&mut self, place: Place, record: MetadataRecord, unix_ms: i64) -> Result<(), String> {
        match (record, self.transaction) {
            (MetadataRecord::NoOp, _) => {}
            (MetadataRecord::BeginTransaction, None) => {
                self.publish(place.offset - 1, unix_ms);
                self.transaction = Some(place.offset);
            }
            (MetadataRecord::BeginTransaction, Some(begin)) => {
                return Err(format!("a transaction begins within the one that began at offset {begin}"));
            }
            (MetadataRecord::EndTransaction, Some(_)) => self.transaction = None,
            (MetadataRecord::AbortTransaction, Some(_)) => {
                self.counts.aborted += self.pending.len() as u64;
                self.pending.clear();
                self.transaction = None;
            }
            (MetadataRecord::EndTransaction | MetadataRecord::AbortTransaction, None) => {
                return Err("a transaction ends, but none has begun".to_owned());
            }
            (record, _) => self.pending.push((place, record)),
        }
        Ok(())
    }

    /// Makes an image of what is pending, if anything is.
    fn publish(&mut self, offset: i64, unix_ms: i64) {
        if !self.pending.is_empty() {
            let records = std::mem::take(&mut self.pending);
            self.groups.push(Group { offset, unix_ms, snapshot: false, records });
        }
    }

    fn decode(
        &mut self,
        source: &Source,
        batch: &Batch<'_>,
        record: &BatchRecord<'_>,
    ) -> Option<(Place, MetadataRecord)> {
        if batch.header.attributes.is_control() {
            *self.counts.control.entry(control_type(record)).or_default() += 1;
            return None;
        }
        let place = source.place(batch, record);
        let Some(value) = record.value else {
            let message = "a metadata record without a value; the log has no tombstones".to_owned();
            self.errors.push(ImportError::Record { place, message });
            return None;
        };
        match records::decode(value) {
            Ok(decoded) => {
                let name = decoded.name.map_or_else(|| format!("type {}", decoded.api_key), str::to_owned);
                let kind = RecordType { name, version: decoded.version };
                let counts = if decoded.record.is_some() { &mut self.counts.records } else { &mut self.counts.skipped };
                *counts.entry(kind).or_default() += 1;
                Some((place, decoded.record?))
            }
            Err(error) => {
                let place = Place { byte: place.byte + error.position, ..place };
                self.errors.push(ImportError::Record { place, message: error.message });
                None
            }
        }
    }
}
