//! Kafka's facts about bytes and orders: ids, primitive types, Java's hashes and iteration orders, the metadata hash, record
//! schemas, record batches. Knows nothing of clusters or coordinators.

pub mod batch;
mod group_kind;
pub mod hash;
pub mod java;
pub mod records;
pub mod uuid;
pub mod wire;

pub use group_kind::GroupKind;
pub use java::JString;
pub use uuid::Uuid;
