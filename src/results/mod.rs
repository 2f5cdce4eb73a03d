//! The results of runs as files: CSV with the columns that `docs/output.md` defines, and `run.json`.

pub mod baseline;
mod files;
mod manifest;
mod replications;
mod rows;
mod statistics;
mod tables;
mod unfinished;

pub use files::{FileError, OutputFile, write_file, write_files, write_tree};
pub use manifest::{Manifest, ManifestFile, ManifestProfile, ManifestScenario, ManifestStrategy};
pub use replications::{Replications, SUMS};
pub use rows::{Delays, DelaysRow, Summary, delays};
pub use tables::{csv_bytes, csv_files, summary_file};
pub use unfinished::abandon_unfinished;

use crate::cost::Profile;
use crate::disk::LoadModel;
use crate::simulation::{ShardLog, Totals};
use crate::strategy::Strategy;

/// The results of one seed of a scenario.
#[derive(Debug)]
pub struct RunResults {
    /// The scenario's name.
    pub scenario: String,
    /// The seed.
    pub seed: u64,
    /// The Kafka version.
    pub kafka: String,
    /// How large it is.
    pub size: RunSize,
    /// The Unix time of time 0, in ms.
    pub start_unix_ms: i64,
    /// The width of the timeline's buckets, in ms.
    pub timeline_ms: i64,
    /// When the run ends, in ms.
    pub end_ms: i64,
    /// How long loading a log takes.
    pub loading: LoadModel,
    /// `max.message.bytes`.
    pub max_message_bytes: u64,
    /// What the coordinator's work costs.
    pub profile: Profile,
    /// What came of each strategy.
    pub strategies: Vec<(Strategy, Totals)>,
}

impl RunResults {
    /// How long loading the largest log would take at the end, in ms.
    pub fn longest_load_ms(&self, totals: &Totals) -> u64 {
        totals.logs.iter().map(|log| self.load_ms(log)).max().unwrap_or(0)
    }

    /// How long loading a log would take as it is at the end, in ms.
    fn load_ms(&self, log: &ShardLog) -> u64 {
        self.loading.time_ms(log.contents.bytes, log.contents.num_records())
    }
}

/// How large a run is: the same for all strategies.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunSize {
    /// Groups.
    pub groups: u64,
    /// Members: clients that are ever started, each once.
    pub members: u64,
    /// Groups and members of each kind, in the order of `GroupKind`.
    pub kinds: [(u64, u64); 3],
    /// Topics that exist at the end.
    pub topics: u64,
    /// Their partitions.
    pub partitions: u64,
    /// Images published before the end.
    pub metadata_images: u64,
}
