//! Files of real Kafka clusters, as what the rest of the house works with. One module a kind of file; each format
//! ends at its module's edge.

pub mod kraft;
