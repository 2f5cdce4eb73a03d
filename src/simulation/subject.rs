//! What is simulated: one seed of a scenario, the same for every strategy.

use super::fold::Kept;
use crate::cluster::{History, ImageNumber};
use crate::coordinator::{Config, KafkaVersion, ShardSettings};
use crate::cost::Profile;
use crate::disk::{BatchRules, LoadModel, LogSettings, OffsetsLog};
use crate::kafka::java::JavaHash;
use crate::kernel::TimeMs;
use crate::strategy::Design;
use crate::workload::fleet::Fleet;

/// What is simulated of the log beside what the coordinator writes.
#[derive(Debug, Clone, PartialEq)]
pub struct LogOptions {
    /// Segments and cleaner; `cleaner_stops_at_ms` counts from the start of the run, and `keeps_last_batch` follows the
    /// Kafka version.
    pub settings: LogSettings,
    /// How often each member commits the offsets of all its partitions; `None`: never.
    pub commit_interval_ms: Option<TimeMs>,
    /// How long loading takes.
    pub loading: LoadModel,
}

/// See the module.
#[derive(Debug)]
pub struct Subject<'a> {
    /// The cluster.
    pub history: &'a History,
    /// The groups.
    pub fleet: &'a Fleet,
    /// The version of all brokers.
    pub kafka: KafkaVersion,
    /// Their configuration.
    pub config: Config,
    /// `group.coordinator.append.linger.ms`, where it is not the version's own; -1 is as long as the queue has work.
    pub append_linger_ms: Option<i64>,
    /// `max.message.bytes`.
    pub max_message_bytes: u64,
    /// The log.
    pub log: LogOptions,
    /// The Unix time of time 0.
    pub start_unix_ms: i64,
    /// What happens before this time is simulated.
    pub end_ms: TimeMs,
    /// `group.coordinator.threads` of each broker.
    pub threads: u32,
    /// What operations take, where it is modelled how long they wait for each other.
    pub waiting: Option<&'a Profile>,
    /// The width of the timeline's buckets.
    pub timeline_ms: TimeMs,
    /// Whether every heartbeat is processed, also those that change nothing: a check, for results are the same.
    pub every_heartbeat: bool,
    /// Whether what is modelled is also really done, and compared: topic hashes, maps, encoded records.
    pub does_work: bool,
}

/// A shard, and the numbers of its groups in the fleet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShardGroups {
    /// Its number.
    pub number: i32,
    /// Its groups, in order.
    pub groups: Vec<usize>,
}

impl Subject<'_> {
    /// The number of shards: of partitions of `__consumer_offsets`.
    pub fn num_shards(&self) -> i32 {
        self.history.leaders().len() as i32
    }

    /// The number of the timeline's buckets.
    pub fn num_buckets(&self) -> usize {
        usize::try_from((self.end_ms + self.timeline_ms - 1) / self.timeline_ms).unwrap_or(0)
    }

    /// The shards that have groups, in order.
    pub fn shards(&self) -> Vec<ShardGroups> {
        let numbers = 0..self.num_shards();
        let mut shards: Vec<ShardGroups> = numbers.map(|number| ShardGroups { number, groups: Vec::new() }).collect();
        for (index, group) in self.fleet.groups.iter().enumerate() {
            if let Some(shard) = shard_of(&group.name, self.num_shards()) {
                shards[shard as usize].groups.push(index);
            }
        }
        shards.retain(|shard| !shard.groups.is_empty());
        shards
    }

    /// The version that a broker runs from an image on.
    fn kafka_at(&self, _broker: Option<i32>, _image: ImageNumber) -> KafkaVersion {
        self.kafka
    }

    /// The settings of an incarnation on a broker from an image on.
    pub(super) fn shard_settings_at(&self, broker: i32, image: ImageNumber, design: Design) -> ShardSettings {
        ShardSettings {
            behaviour: self.kafka_at(Some(broker), image).behaviour(),
            config: self.config.clone(),
            design,
            start_unix_ms: self.start_unix_ms,
            max_batch_bytes: Some(self.max_message_bytes),
            does_work: self.does_work,
        }
    }

    /// A shard's log at the start of the run.
    pub(super) fn new_log(&self) -> OffsetsLog<Kept> {
        let mut settings = self.log.settings.clone();
        settings.cleaner_stops_at_ms = settings.cleaner_stops_at_ms.map(|at_ms| self.start_unix_ms + at_ms);
        settings.keeps_last_batch = self.kafka.behaviour().cleaner_keeps_last_batch;
        let mut log = OffsetsLog::new(settings, self.batch_rules_at(None, 0), self.start_unix_ms, self.timeline_ms);
        if let Some(interval_ms) = self.log.commit_interval_ms {
            log.start_commits(self.start_unix_ms + interval_ms, interval_ms);
        }
        log
    }

    /// How an incarnation on a broker writes batches from an image on.
    pub(super) fn batch_rules_at(&self, broker: Option<i32>, image: ImageNumber) -> BatchRules {
        let linger_ms = match self.append_linger_ms {
            None => self.kafka_at(broker, image).behaviour().append_linger_ms,
            Some(linger_ms) => (linger_ms >= 0).then_some(linger_ms),
        };
        BatchRules { linger_ms, max_bytes: self.max_message_bytes }
    }
}

/// The shard of a group among so many: `Utils.abs(groupId.hashCode()) % partitions`, where the absolute value of
/// the least integer is 0 (`GroupCoordinatorService.partitionFor`). `None` if there is no shard.
pub fn shard_of(group: &str, shards: i32) -> Option<i32> {
    let hash = match group.java_hash() {
        i32::MIN => 0,
        hash => hash.abs(),
    };
    (shards > 0).then(|| hash % shards)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `"polygenelubricants".hashCode()` is -2147483648 in Java; `"g".hashCode()` is 103, `"group-a"`'s is -1237459975.
    #[test]
    fn groups_belong_to_shards_by_java_hash() {
        assert_eq!(shard_of("polygenelubricants", 50), Some(0));
        assert_eq!(shard_of("g", 50), Some(3));
        assert_eq!(shard_of("group-a", 50), Some("group-a".java_hash().abs() % 50));
        assert_eq!(shard_of("g", 0), None);
    }
}
