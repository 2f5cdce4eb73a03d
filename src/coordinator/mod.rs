//! One coordinator shard as a pure state machine: consumer groups, assignors, reconciliation, timers; Kafka
//! versions as sets of named behaviours.
//!
//! Deliberately absent: clocks, I/O, chance, and any knowledge of who sends heartbeats. A [`Shard`] is told what
//! happens and when; it answers, and says what it wrote and did ([`Outcome`]). The strategy is asked in one place,
//! `refresh`.

pub mod assignment;
pub mod assignor;
mod behaviour;
mod config;
mod consumer;
mod effects;
mod group;
mod log;
mod member;
mod operation;
pub mod protocol;
mod re2;
mod reconcile;
mod refresh;
mod regex;
mod replay;
mod shard;
mod target;
mod timeline;
mod timer;

pub use behaviour::{Behaviour, KafkaVersion, UnknownVersion};
pub use config::{Config, ConfigError};
pub use effects::{AssignorRun, Bump, Cause, Field, FoundChange, Outcome};
pub use group::{Group, ReplayError, SubscriptionCount};
pub use log::{CompactedLog, Entry};
pub use member::{Member, MemberState};
pub use shard::{LoadError, Shard, ShardSettings};
