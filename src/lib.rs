//! `coordsim`: a deterministic discrete-event simulator of Kafka's group coordinator.
//!
//! It answers one question: *what does it cost to notice that a subscribed topic has changed?* A strategy
//! (full map, stored hashes, one cached hash, …) is a point in a small design space; every strategy answers the
//! same seeded history, and they are compared by bytes on disk, work, and group-epoch bumps. `ARCHITECTURE.md`
//! is the plan of the house: one module here is one room there.

pub mod cli;
pub mod cluster;
pub mod coordinator;
pub mod cost;
pub mod disk;
pub mod import;
pub mod kafka;
pub mod kernel;
pub mod report;
pub mod results;
pub mod scenario;
pub mod simulation;
pub mod strategy;
pub mod study;
pub mod trace;
pub mod workload;
