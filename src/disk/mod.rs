//! Folds over what a shard writes: how records become batches of the log. Segments and the cleaner are not modelled yet.

mod batches;

pub use batches::{BatchRules, Batches};
