//! The rows of a run's tables, as far as something is made of them. `docs/output.md` says what they mean.

use serde::{Deserialize, Serialize};

/// A row that belongs to a seed and a strategy.
pub(super) trait OfStrategy {
    fn seed(&self) -> u64;
    fn strategy(&self) -> &str;
}

macro_rules! of_strategy {
    ($($row:ty),*) => {
        $(impl OfStrategy for $row {
            fn seed(&self) -> u64 {
                self.seed
            }

            fn strategy(&self) -> &str {
                &self.strategy
            }
        })*
    };
}

of_strategy!(Timeline, Bump, Records, Delays, Summary);

/// Of `timeline.csv`.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Timeline {
    pub seed: u64,
    pub strategy: String,
    pub time_ms: i64,
    pub epoch_bumps: u64,
    pub appended_bytes: u64,
    pub log_bytes: u64,
    pub topic_hashes: u64,
    pub cpu_model_ns: Option<u64>,
}

/// Of `bumps.csv`.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub struct Bump {
    /// The seed.
    pub seed: u64,
    /// The strategy.
    pub strategy: String,
    /// When.
    pub time_ms: i64,
    /// The kind of the group.
    pub kind: String,
    /// The group.
    pub group: String,
    /// Its epoch before.
    pub old_epoch: i32,
    /// Its epoch after.
    pub new_epoch: i32,
    /// Why, joined.
    pub cause: String,
    /// The topics that were found changed, joined.
    pub topic: String,
    /// What of each, joined.
    pub field: String,
    /// The word of the image, or of what the member did.
    pub event: String,
    /// From the image to the bump.
    pub delay_ms: Option<i64>,
    /// Empty: not known.
    pub assignment_changed: String,
    /// Whether nothing explains it.
    pub needless: String,
    /// The image.
    pub image: Option<u32>,
    /// As the group had stored each topic, joined.
    pub before: String,
    /// As each topic was, joined.
    pub after: String,
    /// The records that were written with it.
    pub wrote: String,
    /// The records that were written after it.
    pub followed: String,
}

/// Of `records.csv`.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Records {
    pub seed: u64,
    pub strategy: String,
    pub record_type: String,
    pub batch_bytes: u64,
}

/// Of `delays.csv`.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Delays {
    pub seed: u64,
    pub strategy: String,
    pub changes: u64,
}

/// Of `summary.csv`.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Summary {
    pub seed: u64,
    pub strategy: String,
    pub refreshes: u64,
    pub epoch_bumps: u64,
    pub idle_bumps: u64,
    pub needless_bumps: u64,
    pub missed_changes: Option<u64>,
    pub appended_bytes: u64,
    pub strategy_bytes: u64,
    pub topic_hashes: u64,
    pub cpu_model_ns: Option<u64>,
}
