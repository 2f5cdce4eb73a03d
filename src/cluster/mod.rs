//! Brokers, racks, topics and their versions; the history of metadata images; replica placement; who leads the
//! partitions of `__consumer_offsets`.
//!
//! [`HistoryBuilder`] takes the changes of an image, checks them all ([`history::ChangeError`]), applies them to the
//! cluster's state and records what they did: the delta ([`history::Image`]) and new [`TopicVersion`]s. A change of ISR
//! or leader costs as much as the changed partitions and makes no version. What whole brokers do to their partitions
//! ([`PartitionChange`]) names topics by index: a broker of a large cluster hosts ten thousand.

mod broker_ids;
mod builder;
pub mod change;
mod check;
mod content;
mod delta;
pub mod effects;
pub mod history;
pub mod placement;
mod racks;
mod state;
#[cfg(test)]
mod tests;
pub mod version;

pub use broker_ids::BrokerIds;
pub use change::{Change, Changes, PartitionChange};
pub use effects::Reassignment;
pub use history::{ChangeError, History, HistoryBuilder, Image, ImageNumber, TopicIndex};
pub use state::{BrokerState, PartitionState, TopicState};
pub use version::TopicVersion;
