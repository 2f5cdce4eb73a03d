//! Folds over what a shard writes: batches, the segments of its log, and what the cleaner leaves of them.

mod batches;
mod cleaner;
mod commits;
mod contents;
mod loading;
mod log;
mod segment;
pub mod segment_file;
mod settings;
mod sizes;

#[cfg(test)]
mod tests;

pub use batches::{Appended, BatchRules, Batches};
pub use cleaner::Cleaning;
pub use contents::{LogContents, TypeContents};
pub use loading::LoadModel;
pub use log::{LogTotals, NewRecord, OffsetsLog};
pub use segment::{BatchInfo, CommitRound, CommitRun, Item, KeyId, Keys, Record, Segment};
pub use settings::LogSettings;
pub use sizes::SizesOfBucket;
