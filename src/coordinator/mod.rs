//! One coordinator shard as a pure state machine: consumer, share and streams groups, assignors, reconciliation, timers; Kafka
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
mod idle;
mod log;
mod modern;
mod operation;
pub mod protocol;
mod re2;
mod refresh;
mod replay;
mod shard;
mod share;
pub mod streams;
mod target;
mod timeline;
mod timer;

pub use behaviour::{Behaviour, KafkaVersion, UnknownVersion};
pub use config::{Config, ConfigError};
pub use consumer::{ConsumerGroup, Member, MemberState};
pub use effects::{AssignorRun, Bump, Cause, Field, FoundChange, Outcome};
pub use group::{Group, GroupBase, ReplayError};
pub use log::{CompactedLog, Entry};
pub use modern::{ModernGroup, Subscription, SubscriptionCount};
pub use shard::{LOADING, LoadError, Shard, ShardSettings};
pub use share::{ShareGroup, ShareMember, SharePartitionStates, TopicStates};
pub use streams::StreamsGroup;
pub use timer::{Timer, TimerKind};
