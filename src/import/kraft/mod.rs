//! The metadata log of a KRaft cluster: segments and snapshots of `__cluster_metadata-0` → images.
//!
//! [`read`] takes any mix of segments (`*.log`) and snapshots (`*.checkpoint`), in any order. Segments may overlap;
//! a gap is an error. A snapshot is used where the segments do not reach back to offset 0, or where there are none.
//! `bootstrap.checkpoint` is passed over: the first controller copies it into the log.
//!
//! What a running coordinator saw as one image is not in the log: Kafka's `MetadataLoader` may merge the batches
//! that it is handed together. Here every batch is an image, a transaction is one as a whole, an aborted transaction
//! is none, and batches of nothing but `NO_OP_RECORD`s are none (they change nothing). A snapshot is one image. An
//! image's offset is its last record's, its time the greatest timestamp of its last batch.
//!
//! A record of an unknown type or version is skipped by its length and counted, never guessed at.

mod error;
mod files;
mod groups;
pub mod records;
mod resolve;
mod scenario;
mod schema;
mod tables;
mod topics;

pub use error::{ImportError, Place};
pub use scenario::{summary, to_scenario};
pub use schema::RecordError;
pub use topics::{TopicHashRow, topic_hash_rows, write_topic_hash_rows};

use crate::cluster::Change;
use files::{Decoded, Source};
use resolve::Resolver;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

/// What the metadata files of a cluster say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedCluster {
    /// The images, in order of their offsets.
    pub images: Vec<ImportedImage>,
    /// What was read, by type.
    pub counts: Counts,
    /// The levels of the cluster's features at the end; those of level 0 are left out.
    pub features: BTreeMap<String, i16>,
    /// Files of which nothing was needed.
    pub unused: Vec<PathBuf>,
}

/// An image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedImage {
    /// The offset of its last record.
    pub offset: i64,
    /// The greatest timestamp of its last batch (Unix time in ms); with several controllers it may go back.
    pub unix_ms: i64,
    /// What it was for, in a word: `snapshot`, `delete`, `create`, `expand`, `reassign`, `register`, `unregister`,
    /// `isr-shrink`, `isr-expand`, `leader`, `clear-elr`, `partition`, `fence`, `unfence`, `broker`, `feature` or
    /// `other`: the first of these that is in it.
    pub event: &'static str,
    /// What changes; empty where neither topics nor brokers do (configurations, features, …).
    pub changes: Vec<Change>,
}

/// How many records there were, by type. Of files that overlap, each record counts once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Metadata records that are known.
    pub records: BTreeMap<RecordType, u64>,
    /// Records of a type or version that is not known.
    pub skipped: BTreeMap<RecordType, u64>,
    /// Raft's own records.
    pub control: BTreeMap<&'static str, u64>,
    /// Records of aborted transactions.
    pub aborted: u64,
    /// Records of a transaction that has no end at the end of the files.
    pub unfinished: u64,
}

/// A type of metadata record.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RecordType {
    /// Its name in Kafka's `MetadataRecordType`, or `type N`.
    pub name: String,
    /// The version of its schema.
    pub version: u32,
}

impl fmt::Display for RecordType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} v{}", self.name, self.version)
    }
}

/// Reads metadata files; gives all that is wrong with them.
pub fn read(files: &[PathBuf]) -> Result<ImportedCluster, Vec<ImportError>> {
    let sources: Vec<Source> = all(files.iter().map(|file| Source::read(file)))?;
    let decoded: Vec<Decoded<'_>> = all(sources.iter().map(Source::decode))?;
    let ordered = files::order(decoded)?;
    let (groups, counts) = groups::group(&ordered)?;
    let mut resolver = Resolver::default();
    let images = groups.into_iter().map(|group| resolver.image(group)).collect();
    if resolver.errors.is_empty() {
        Ok(ImportedCluster { images, counts, features: resolver.features, unused: ordered.unused })
    } else {
        Err(resolver.errors(&counts))
    }
}

/// All values, or all errors.
fn all<T>(results: impl Iterator<Item = Result<T, ImportError>>) -> Result<Vec<T>, Vec<ImportError>> {
    let (mut values, mut errors) = (Vec::new(), Vec::new());
    for result in results {
        match result {
            Ok(value) => values.push(value),
            Err(error) => errors.push(error),
        }
    }
    if errors.is_empty() { Ok(values) } else { Err(errors) }
}

#[cfg(test)]
mod tests;
