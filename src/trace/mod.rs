//! Traces (everything that happens to one coordinator shard from outside) and outcomes (everything that it answers
//! and writes), as files that a real Kafka can read and write too. `docs/trace-format.md` is their definition.
//!
//! Reading gives a whole [`Trace`] or all that is wrong with the text; nothing here knows how a coordinator works.
//! [`random`] invents traces, [`shrink()`] makes one smaller while something stays true of it, and [`compare()`]
//! compares what two coordinators made of the same trace.

pub mod compare;
mod diagnostic;
mod host;
mod json;
mod model;
mod names;
pub mod outcome;
pub mod random;
mod read;
mod read_change;
mod read_heartbeat;
pub mod replay;
mod request;
pub mod shrink;
pub mod unstored;
pub mod vectors;
mod write;

pub use crate::kafka::GroupKind;
pub use compare::{Comparer, Comparison, Level, compare};
pub use diagnostic::Diagnostic;
pub use model::{
    ConfigValue, ConsumerBody, EpochSpec, Event, EventKind, Heartbeat, HeartbeatBody, Owned, Requirements, Sent,
    StreamsBody, Subtopology, Tasks, TopicInfo, TopicPartitions, Topology, Trace,
};
pub use names::Names;
pub use shrink::shrink;

#[cfg(test)]
mod tests;
