//! Kafka's facts about bytes and orders: ids, primitive types, Java's hashes and iteration orders, the metadata hash, record
//! schemas, record batches. Knows nothing of clusters or coordinators.

pub mod batch;
pub mod hash;
pub mod java;
pub mod records;
pub mod uuid;
pub mod wire;

pub use java::JString;
pub use uuid::Uuid;
