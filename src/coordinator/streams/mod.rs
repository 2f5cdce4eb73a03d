//! Streams groups (KIP-1071): topologies, tasks, the sticky task assignor, reconciliation by process.

pub mod assignor;
mod behaviour;
mod group;
mod heartbeat;
pub mod internal_topics;
pub mod member;
pub mod owners;
mod rebalance;
pub mod reconcile;
mod replay;
mod target;
pub mod tasks;
pub mod topology;

pub use behaviour::StreamsBehaviour;
pub(super) use group::StreamsChanges;
pub use group::{RefinedAssignment, StreamsGroup};
