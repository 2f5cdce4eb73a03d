//! Streams groups (KIP-1071).

mod group;

pub use group::StreamsGroup;
