//! Clock, event queue, random streams and look-up tables. Knows nothing of Kafka.

pub mod lookup;
pub mod queue;
pub mod random;

/// Simulated time in milliseconds since the start of the run.
pub type TimeMs = i64;
