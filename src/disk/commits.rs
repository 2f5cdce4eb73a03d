//! Offset commits: what each member writes again and again, counted in rounds and not one by one.

use super::segment::{CommitRound, KeyId, Record, batch_bytes};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Who commits what, and when next.
#[derive(Debug)]
pub(super) struct Commits<P> {
    interval_ms: i64,
    next_ms: Option<i64>,
    members: BTreeMap<KeyId, Arc<Vec<Record<P>>>>,
    round: Option<Arc<CommitRound<P>>>,
}

impl<P> Commits<P> {
    /// Nobody commits.
    pub fn new() -> Commits<P> {
        Commits { interval_ms: 1, next_ms: None, members: BTreeMap::new(), round: None }
    }

    /// From then on everybody does.
    pub fn start(&mut self, first_ms: i64, interval_ms: i64) {
        self.next_ms = Some(first_ms);
        self.interval_ms = interval_ms.max(1);
    }

    /// What a member commits; nothing is no batch.
    pub fn set(&mut self, member: KeyId, mut records: Vec<Record<P>>) {
        self.round = None;
        if records.is_empty() {
            self.members.remove(&member);
            return;
        }
        (0..).zip(&mut records).for_each(|(delta, record)| record.offset_delta = delta);
        self.members.insert(member, Arc::new(records));
    }

    /// When the next round is written.
    pub fn next_ms(&self) -> Option<i64> {
        self.next_ms
    }

    /// The time between rounds.
    pub fn interval_ms(&self) -> i64 {
        self.interval_ms
    }

    /// So many rounds are written.
    pub fn done(&mut self, rounds: u64) {
        self.next_ms = self.next_ms.map(|next_ms| next_ms + rounds as i64 * self.interval_ms);
    }

    /// A batch of each member, in the order of their keys.
    pub fn round(&mut self) -> Arc<CommitRound<P>> {
        let members = &self.members;
        let make = || {
            let batches: Vec<_> = members.values().cloned().collect();
            let bytes = |batch: &Arc<Vec<Record<P>>>| batch_bytes(batch[0].timestamp_ms, batch);
            Arc::new(CommitRound {
                records: batches.iter().map(|batch| batch.len() as u64).sum(),
                bytes: batches.iter().map(bytes).sum(),
                batches,
            })
        };
        self.round.get_or_insert_with(make).clone()
    }
}
