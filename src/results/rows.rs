//! The rows of the CSV files. The order of the fields is the order of the columns; what is not known is `None`, an empty
//! cell.

use super::RunResults;
use crate::cost::heap::Component;
use crate::cost::{Counts, Operation, Shares, Trigger};
use crate::kafka::GroupKind;
use crate::kafka::records::RecordType;
use crate::simulation::{Bucket, BumpTotals, LoadTotals, ShardLog, ShardWork, Totals, Written};
use crate::strategy::{Design, Strategy};
use serde::Serialize;
use std::cmp::Reverse;

/// A row of `summary.csv`.
#[derive(Debug, Clone, Serialize)]
pub struct Summary<'a> {
    /// The scenario.
    pub scenario: &'a str,
    /// The seed.
    pub seed: u64,
    /// The strategy.
    pub strategy: &'a str,
    /// The Kafka version.
    pub kafka: &'a str,
    /// Groups.
    pub groups: u64,
    /// Members.
    pub members: u64,
    /// Topics.
    pub topics: u64,
    /// Partitions.
    pub partitions: u64,
    /// Heartbeats.
    pub heartbeats: u64,
    /// Metadata images.
    pub metadata_images: u64,
    /// Refreshes.
    pub refreshes: u64,
    /// Epoch bumps.
    pub epoch_bumps: u64,
    /// Bumps known to have changed no assignment.
    pub idle_bumps: u64,
    /// Bumps that nothing explains.
    pub needless_bumps: u64,
    /// Changes missed; unknown where no group has a coordinator at the end, and for the bound, which stores nothing.
    pub missed_changes: Option<u64>,
    /// Records, tombstones included.
    pub records: u64,
    /// Bytes of whole batches.
    pub appended_bytes: u64,
    /// Bytes of what the strategy stores.
    pub strategy_bytes: u64,
    /// Bytes of what bumps cause.
    pub rebalance_bytes: u64,
    /// The most bytes that the logs took.
    pub log_peak_bytes: u64,
    /// The bytes of the logs at the end.
    pub log_final_bytes: u64,
    /// Topic hashes computed.
    pub topic_hashes: u64,
    /// Bytes fed to them.
    pub hash_bytes: u64,
    /// How long the coordinators' work took by the cost profile.
    pub cpu_model_ns: u64,
    /// Bytes that the shards hold in memory at the end, with compressed references.
    pub heap_model_bytes: u64,
    /// Bumps of which it is not known whether they changed an assignment.
    pub unjudged_bumps: u64,
    /// Offset commits.
    pub commit_records: u64,
    /// The bytes of their batches.
    pub commit_bytes: u64,
    /// Bytes that the cleaners read.
    pub cleaner_read_bytes: u64,
    /// Bytes that they wrote.
    pub cleaner_written_bytes: u64,
    /// By how much they made the logs smaller.
    pub removed_bytes: i64,
    /// Bytes of the logs at the end, on all brokers.
    pub replicated_bytes: u64,
    /// Of the logs at the end, what the strategy stores.
    pub log_strategy_bytes: u64,
    /// Of the logs at the end, target and current assignments.
    pub log_rebalance_bytes: u64,
    /// Of the logs at the end, offset commits.
    pub log_commit_bytes: u64,
    /// How long loading the busiest shard would take at the end.
    pub load_model_ms: u64,
    /// How long the longest load took of those that happened after the first one of a shard.
    pub load_max_model_ms: Option<u64>,
    /// The shard whose work took the longest; none without a shard.
    pub busiest_shard: Option<i32>,
    /// How long it took.
    pub busiest_shard_cpu_model_ns: Option<u64>,
    /// Half of the operations that do more than an idle heartbeat waited no longer for a thread, where that is modelled.
    pub waiting_p50_model_ns: Option<u64>,
    /// 99 % of them waited no longer.
    pub waiting_p99_model_ns: Option<u64>,
    /// None of them waited longer.
    pub waiting_max_model_ns: Option<u64>,
}

impl<'a> Summary<'a> {
    /// The row of a strategy.
    pub fn new(run: &'a RunResults, strategy: &'a Strategy, totals: &Totals) -> Summary<'a> {
        let (contents, done) = (totals.log_contents(), totals.log_totals());
        let waiting = totals.threads.as_ref().map(|threads| threads.waiting).filter(|waiting| waiting.jobs > 0);
        let busiest = shard_costs(run, totals).min_by_key(|(shard, cost_ns)| (Reverse(*cost_ns), shard.shard));
        Summary {
            scenario: &run.scenario,
            seed: run.seed,
            strategy: &strategy.name,
            kafka: &run.kafka,
            groups: run.size.groups,
            members: run.size.members,
            topics: run.size.topics,
            partitions: run.size.partitions,
            heartbeats: totals.count(Operation::Heartbeat),
            metadata_images: run.size.metadata_images,
            refreshes: totals.count(Operation::Refresh),
            epoch_bumps: totals.bumps.len() as u64,
            idle_bumps: totals.idle_bumps(),
            needless_bumps: totals.needless_bumps(),
            missed_changes: totals.known_missed_changes().filter(|_| strategy.design != Design::Ideal),
            records: totals.num_records(),
            appended_bytes: totals.appended_bytes,
            strategy_bytes: totals.strategy_bytes(),
            rebalance_bytes: totals.rebalance_bytes(),
            log_peak_bytes: totals.log_peak_bytes(),
            log_final_bytes: contents.bytes,
            topic_hashes: totals.count(Operation::TopicHash),
            hash_bytes: totals.count(Operation::HashByte),
            cpu_model_ns: run.profile.cost_ns(&totals.all_counts()),
            heap_model_bytes: totals.heap.total().bytes.compressed,
            unjudged_bumps: totals.bumps.iter().filter(|bump| bump.assignment_changed.is_none()).count() as u64,
            commit_records: done.commit_records,
            commit_bytes: done.commit_bytes,
            cleaner_read_bytes: done.cleaned.read_bytes,
            cleaner_written_bytes: done.cleaned.written_bytes,
            removed_bytes: done.cleaned.removed_bytes(),
            replicated_bytes: totals.logs.iter().map(|log| log.contents.bytes * u64::from(log.replicas)).sum(),
            log_strategy_bytes: contents.strategy_bytes(),
            log_rebalance_bytes: contents.rebalance_bytes(),
            log_commit_bytes: contents.commits.bytes,
            load_model_ms: run.longest_load_ms(totals),
            load_max_model_ms: failovers(totals).map(|load| run.loading.time_ms(load.bytes, load.records)).max(),
            busiest_shard: busiest.map(|(shard, _)| shard.shard),
            busiest_shard_cpu_model_ns: busiest.map(|(_, cost_ns)| cost_ns),
            waiting_p50_model_ns: waiting.map(|waiting| waiting.p50_ns),
            waiting_p99_model_ns: waiting.map(|waiting| waiting.p99_ns),
            waiting_max_model_ns: waiting.map(|waiting| waiting.max_ns),
        }
    }
}

/// Each shard with how long its work took.
fn shard_costs<'a>(run: &'a RunResults, totals: &'a Totals) -> impl Iterator<Item = (&'a ShardWork, u64)> {
    let mut shares = Shares::new(&run.profile);
    totals.shards.iter().map(move |shard| (shard, shares.next_ns(&shard.counts)))
}

/// A row of `timeline.csv`.
#[derive(Debug, Serialize)]
pub(super) struct TimelineRow<'a> {
    scenario: &'a str,
    seed: u64,
    strategy: &'a str,
    time_ms: i64,
    heartbeats: u64,
    refreshes: u64,
    epoch_bumps: u64,
    appended_bytes: u64,
    log_bytes: u64,
    topic_hashes: u64,
    cpu_model_ns: u64,
    log_peak_bytes: u64,
}

impl<'a> TimelineRow<'a> {
    /// A row for each bucket.
    pub fn all(run: &'a RunResults, strategy: &'a Strategy, totals: &'a Totals) -> impl Iterator<Item = Self> {
        let mut shares = Shares::new(&run.profile);
        let times = (0..).step_by(run.timeline_ms.max(1) as usize);
        times.zip(&totals.timeline).map(move |(time_ms, bucket)| {
            let cpu_model_ns = shares.next_ns(&bucket.counts);
            TimelineRow::new(run, strategy, time_ms, bucket, cpu_model_ns)
        })
    }

    fn new(run: &'a RunResults, strategy: &'a Strategy, time_ms: i64, bucket: &Bucket, cpu_model_ns: u64) -> Self {
        TimelineRow {
            scenario: &run.scenario,
            seed: run.seed,
            strategy: &strategy.name,
            time_ms,
            heartbeats: bucket.counts[Operation::Heartbeat],
            refreshes: bucket.counts[Operation::Refresh],
            epoch_bumps: bucket.epoch_bumps,
            appended_bytes: bucket.appended_bytes,
            log_bytes: bucket.log_bytes,
            log_peak_bytes: bucket.log_peak_bytes,
            topic_hashes: bucket.counts[Operation::TopicHash],
            cpu_model_ns,
        }
    }
}

/// A row of `bumps.csv`.
#[derive(Debug, Serialize)]
pub(super) struct BumpRow<'a> {
    scenario: &'a str,
    seed: u64,
    strategy: &'a str,
    time_ms: i64,
    kind: &'static str,
    group: &'a str,
    old_epoch: i32,
    new_epoch: i32,
    cause: String,
    topic: String,
    field: String,
    event: &'a str,
    delay_ms: Option<i64>,
    assignment_changed: Option<bool>,
    needless: bool,
    image: Option<u32>,
    before: String,
    after: String,
    wrote: String,
    followed: String,
}

impl<'a> BumpRow<'a> {
    pub fn new(run: &'a RunResults, strategy: &'a Strategy, bump: &'a BumpTotals) -> BumpRow<'a> {
        let joined = |words: Vec<&str>| words.join(";");
        BumpRow {
            scenario: &run.scenario,
            seed: run.seed,
            strategy: &strategy.name,
            time_ms: bump.time_ms,
            kind: bump.kind.name(),
            group: &bump.group,
            old_epoch: bump.old_epoch,
            new_epoch: bump.new_epoch,
            cause: joined(bump.causes.iter().map(|cause| cause.name()).collect()),
            topic: joined(bump.found.iter().map(|change| change.topic.as_str()).collect()),
            field: joined(bump.found.iter().map(|change| change.field.name()).collect()),
            event: &bump.event,
            delay_ms: bump.delay_ms(),
            assignment_changed: bump.assignment_changed,
            needless: bump.needless,
            image: bump.values.iter().map(|values| values.image).min(),
            before: joined(bump.values.iter().map(|values| values.before.as_str()).collect()),
            after: joined(bump.values.iter().map(|values| values.after.as_str()).collect()),
            wrote: written(&bump.wrote),
            followed: written(&bump.followed),
        }
    }
}

/// Records by type: their number and bytes.
fn written(all: &[Written]) -> String {
    let of_type = |of: &Written| format!("{} {} {}", of.record_type.name(), of.records, of.bytes);
    all.iter().map(of_type).collect::<Vec<_>>().join(";")
}

/// A row of `heap.csv`.
#[derive(Debug, Serialize)]
pub(super) struct HeapRow<'a> {
    scenario: &'a str,
    seed: u64,
    strategy: &'a str,
    component: &'static str,
    objects: u64,
    bytes: u64,
    bytes_without_compressed_references: u64,
}

impl<'a> HeapRow<'a> {
    /// The rows of a strategy: the components of which it has anything.
    pub fn all(run: &'a RunResults, strategy: &'a Strategy, totals: &Totals) -> Vec<HeapRow<'a>> {
        let counts = Component::ALL.into_iter().map(|component| (component.name(), totals.heap.component(component)));
        let rows = counts.filter(|(_, count)| count.objects > 0).map(|(component, count)| HeapRow {
            scenario: &run.scenario,
            seed: run.seed,
            strategy: &strategy.name,
            component,
            objects: count.objects,
            bytes: count.bytes.compressed,
            bytes_without_compressed_references: count.bytes.plain,
        });
        rows.collect()
    }
}

/// A row of `kinds.csv`.
#[derive(Debug, Serialize)]
pub(super) struct KindRow<'a> {
    scenario: &'a str,
    seed: u64,
    strategy: &'a str,
    kind: &'static str,
    groups: u64,
    members: u64,
    heartbeats: u64,
    epoch_bumps: u64,
    idle_bumps: u64,
    needless_bumps: u64,
    unjudged_bumps: u64,
    records: u64,
    batch_bytes: u64,
    strategy_bytes: u64,
    rebalance_bytes: u64,
}

impl<'a> KindRow<'a> {
    /// A row for each kind that the run has groups of.
    pub fn all(run: &'a RunResults, strategy: &'a Strategy, totals: &Totals) -> Vec<KindRow<'a>> {
        let kinds = GroupKind::ALL.into_iter().zip(run.size.kinds).filter(|(_, (groups, _))| *groups > 0);
        kinds.map(|(kind, size)| KindRow::new(run, strategy, totals, kind, size)).collect()
    }

    fn new(
        run: &'a RunResults,
        strategy: &'a Strategy,
        totals: &Totals,
        kind: GroupKind,
        (groups, members): (u64, u64),
    ) -> KindRow<'a> {
        let bumps = || totals.bumps.iter().filter(|bump| bump.kind == kind);
        let judged = |verdict| bumps().filter(|bump| bump.assignment_changed == verdict).count() as u64;
        let types = || RecordType::ALL.into_iter().filter(|record_type| record_type.kind() == kind);
        let rebalancing = types().filter(|record_type| record_type.is_rebalance());
        KindRow {
            scenario: &run.scenario,
            seed: run.seed,
            strategy: &strategy.name,
            kind: kind.name(),
            groups,
            members,
            heartbeats: totals.heartbeats[kind as usize],
            epoch_bumps: totals.bumps_of(kind),
            idle_bumps: judged(Some(false)),
            needless_bumps: bumps().filter(|bump| bump.needless).count() as u64,
            unjudged_bumps: judged(None),
            records: types().map(|record_type| totals.of(record_type).records).sum(),
            batch_bytes: totals.batch_bytes_of(kind),
            strategy_bytes: totals.strategy_bytes_of(kind),
            rebalance_bytes: rebalancing.map(|record_type| totals.of(record_type).batch_bytes).sum(),
        }
    }
}

/// A row of `records.csv`.
#[derive(Debug, Serialize)]
pub(super) struct RecordRow<'a> {
    scenario: &'a str,
    seed: u64,
    strategy: &'a str,
    record_type: &'static str,
    records: u64,
    tombstones: u64,
    key_bytes: u64,
    value_bytes: u64,
    batch_bytes: u64,
    log_records: u64,
    log_tombstones: u64,
    log_batch_bytes: u64,
}

impl<'a> RecordRow<'a> {
    pub fn new(run: &'a RunResults, strategy: &'a Strategy, totals: &Totals, record_type: RecordType) -> RecordRow<'a> {
        let of_type = totals.of(record_type);
        let in_log = totals.log_contents().records[record_type.position()];
        RecordRow {
            scenario: &run.scenario,
            seed: run.seed,
            strategy: &strategy.name,
            record_type: record_type.name(),
            records: of_type.records,
            tombstones: of_type.tombstones,
            key_bytes: of_type.key_bytes,
            value_bytes: of_type.value_bytes,
            batch_bytes: of_type.batch_bytes,
            log_records: in_log.records,
            log_tombstones: in_log.tombstones,
            log_batch_bytes: in_log.bytes,
        }
    }
}

/// A row of `operations.csv`.
#[derive(Debug, Serialize)]
pub(super) struct OperationRow<'a> {
    scenario: &'a str,
    seed: u64,
    strategy: &'a str,
    operation: &'static str,
    count: u64,
    cpu_model_ns: Option<u64>,
}

impl<'a> OperationRow<'a> {
    /// The rows of a strategy: what the profile prices, and what else is counted.
    pub fn all(run: &'a RunResults, strategy: &'a Strategy, totals: &Totals) -> Vec<OperationRow<'a>> {
        let row = |operation, count, cpu_model_ns| OperationRow {
            scenario: &run.scenario,
            seed: run.seed,
            strategy: &strategy.name,
            operation,
            count,
            cpu_model_ns,
        };
        let counts = totals.all_counts();
        let priced = Operation::ALL.into_iter().map(|operation| {
            let count = counts[operation];
            row(operation.name(), count, run.profile.nanoseconds(operation, count))
        });
        priced.chain(others(totals).into_iter().map(|(name, count)| row(name, count, None))).collect()
    }
}

/// What is counted beside what the profile prices, by name.
fn others(totals: &Totals) -> [(&'static str, u64); 12] {
    let (happened, log) = (&totals.happened, totals.log_totals());
    [
        ("heartbeat-rejected", happened.rejected_heartbeats),
        ("heartbeat-unsent", happened.unsent_heartbeats),
        ("load", happened.loads),
        ("load-failed", happened.failed_loads),
        ("write", happened.writes),
        ("write-oversized", happened.refused_writes),
        ("commit-batch", log.commit_batches),
        ("segment-rolled", log.segments_rolled),
        ("cleaning", log.cleaned.cleanings),
        ("cleaning-with-full-map", log.cleaned.full_maps),
        ("record-removed", log.cleaned.removed_records),
        ("tombstone-removed", log.cleaned.removed_tombstones),
    ]
}

/// A row of `work.csv`.
#[derive(Debug, Serialize)]
pub(super) struct WorkRow<'a> {
    scenario: &'a str,
    seed: u64,
    strategy: &'a str,
    cause: &'static str,
    operation: &'static str,
    count: u64,
    cpu_model_ns: Option<u64>,
}

impl<'a> WorkRow<'a> {
    /// The rows of a strategy: what each cause made the coordinators do.
    pub fn all(run: &'a RunResults, strategy: &'a Strategy, totals: &Totals) -> Vec<WorkRow<'a>> {
        let mut shares = Operation::ALL.map(|_| Shares::new(&run.profile));
        let mut rows = Vec::new();
        for (trigger, counts) in Trigger::ALL.into_iter().zip(&totals.counts) {
            for operation in Operation::ALL.into_iter().filter(|&operation| counts[operation] > 0) {
                let count = counts[operation];
                let cost_ns = shares[operation as usize].next_ns(&Counts::of(operation, count));
                rows.push(WorkRow {
                    scenario: &run.scenario,
                    seed: run.seed,
                    strategy: &strategy.name,
                    cause: trigger.name(),
                    operation: operation.name(),
                    count,
                    cpu_model_ns: run.profile.picoseconds(operation).map(|_| cost_ns),
                });
            }
        }
        rows
    }
}

/// A row of `shards.csv`.
#[derive(Debug, Serialize)]
pub(super) struct ShardRow<'a> {
    scenario: &'a str,
    seed: u64,
    strategy: &'a str,
    shard: i32,
    broker: Option<i32>,
    heartbeats: u64,
    refreshes: u64,
    epoch_bumps: u64,
    topic_hashes: u64,
    hash_bytes: u64,
    records: u64,
    cpu_model_ns: u64,
}

impl<'a> ShardRow<'a> {
    /// The rows of a strategy.
    pub fn all(run: &'a RunResults, strategy: &'a Strategy, totals: &'a Totals) -> impl Iterator<Item = ShardRow<'a>> {
        shard_costs(run, totals).map(|(shard, cpu_model_ns)| ShardRow {
            scenario: &run.scenario,
            seed: run.seed,
            strategy: &strategy.name,
            shard: shard.shard,
            broker: shard.broker,
            heartbeats: shard.counts[Operation::Heartbeat],
            refreshes: shard.counts[Operation::Refresh],
            epoch_bumps: shard.epoch_bumps,
            topic_hashes: shard.counts[Operation::TopicHash],
            hash_bytes: shard.counts[Operation::HashByte],
            records: shard.counts[Operation::Record],
            cpu_model_ns,
        })
    }
}

/// A row of `threads.csv`.
#[derive(Debug, Serialize)]
pub(super) struct ThreadsRow<'a> {
    scenario: &'a str,
    seed: u64,
    strategy: &'a str,
    broker: i32,
    threads: u32,
    idle_ratio: String,
    busy_model_ns: u64,
    idle_heartbeats_model_ns: u64,
    jobs: u64,
    waiting_p50_model_ns: Option<u64>,
    waiting_p99_model_ns: Option<u64>,
    waiting_max_model_ns: Option<u64>,
    waiting_max_at_ms: Option<i64>,
}

impl<'a> ThreadsRow<'a> {
    /// The rows of a strategy; none where waiting is not modelled.
    pub fn all(
        run: &'a RunResults,
        strategy: &'a Strategy,
        totals: &'a Totals,
    ) -> impl Iterator<Item = ThreadsRow<'a>> {
        totals.threads.iter().flat_map(|threads| &threads.brokers).map(|broker| {
            let known = |ns: u64| (broker.waiting.jobs > 0).then_some(ns);
            let idle = broker.idle_millionths(run.end_ms);
            ThreadsRow {
                scenario: &run.scenario,
                seed: run.seed,
                strategy: &strategy.name,
                broker: broker.broker,
                threads: broker.threads,
                idle_ratio: format!("{}.{:06}", idle / 1_000_000, idle % 1_000_000),
                busy_model_ns: broker.busy_ns,
                idle_heartbeats_model_ns: broker.idle_heartbeats_ns,
                jobs: broker.waiting.jobs,
                waiting_p50_model_ns: known(broker.waiting.p50_ns),
                waiting_p99_model_ns: known(broker.waiting.p99_ns),
                waiting_max_model_ns: known(broker.waiting.max_ns),
                waiting_max_at_ms: broker.waiting.max_at_ms,
            }
        })
    }
}

/// The loads after the first one of each shard, whose log is empty.
fn failovers(totals: &Totals) -> impl Iterator<Item = &LoadTotals> {
    totals.loads.iter().filter(|load| load.bytes > 0)
}

/// A row of `logs.csv`.
#[derive(Debug, Serialize)]
pub(super) struct LogRow<'a> {
    scenario: &'a str,
    seed: u64,
    strategy: &'a str,
    shard: i32,
    broker: Option<i32>,
    groups: u64,
    replicas: u32,
    appended_bytes: u64,
    commit_bytes: u64,
    cleanings: u64,
    cleaner_read_bytes: u64,
    cleaner_written_bytes: u64,
    removed_bytes: i64,
    log_peak_bytes: u64,
    log_bytes: u64,
    segments: u64,
    batches: u64,
    records: u64,
    strategy_bytes: u64,
    rebalance_bytes: u64,
    load_model_ms: u64,
}

impl<'a> LogRow<'a> {
    pub fn new(run: &'a RunResults, strategy: &'a Strategy, log: &ShardLog) -> LogRow<'a> {
        let (contents, done) = (&log.contents, &log.done);
        LogRow {
            scenario: &run.scenario,
            seed: run.seed,
            strategy: &strategy.name,
            shard: log.shard,
            broker: log.broker,
            groups: log.groups,
            replicas: log.replicas,
            appended_bytes: log.appended_bytes,
            commit_bytes: done.commit_bytes,
            cleanings: done.cleaned.cleanings,
            cleaner_read_bytes: done.cleaned.read_bytes,
            cleaner_written_bytes: done.cleaned.written_bytes,
            removed_bytes: done.cleaned.removed_bytes(),
            log_peak_bytes: log.peak_bytes,
            log_bytes: contents.bytes,
            segments: contents.segments,
            batches: contents.batches,
            records: contents.num_records(),
            strategy_bytes: contents.strategy_bytes(),
            rebalance_bytes: contents.rebalance_bytes(),
            load_model_ms: run.load_ms(log),
        }
    }
}

/// A row of `loads.csv`.
#[derive(Debug, Serialize)]
pub(super) struct LoadRow<'a> {
    scenario: &'a str,
    seed: u64,
    strategy: &'a str,
    time_ms: i64,
    shard: i32,
    broker: i32,
    bytes: u64,
    records: u64,
    replayed_records: u64,
    load_model_ms: u64,
    error: &'a str,
}

impl<'a> LoadRow<'a> {
    pub fn new(run: &'a RunResults, strategy: &'a Strategy, load: &'a LoadTotals) -> LoadRow<'a> {
        LoadRow {
            scenario: &run.scenario,
            seed: run.seed,
            strategy: &strategy.name,
            time_ms: load.time_ms,
            shard: load.shard,
            broker: load.broker,
            bytes: load.bytes,
            records: load.records,
            replayed_records: load.replayed_records,
            load_model_ms: run.loading.time_ms(load.bytes, load.records),
            error: load.error.as_deref().unwrap_or_default(),
        }
    }
}

/// How long changes took to be noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Delays {
    /// How many changes were noticed.
    pub changes: u64,
    /// Half of them took no longer.
    pub p50_ms: Option<i64>,
    /// 90 of 100.
    pub p90_ms: Option<i64>,
    /// 99 of 100.
    pub p99_ms: Option<i64>,
    /// The longest.
    pub max_ms: Option<i64>,
}

/// Exact percentiles (nearest rank) of times, shortest first.
pub fn delays(sorted_ms: &[i64]) -> Delays {
    let rank = |percent: usize| (sorted_ms.len() * percent).div_ceil(100).checked_sub(1).map(|rank| sorted_ms[rank]);
    Delays {
        changes: sorted_ms.len() as u64,
        p50_ms: rank(50),
        p90_ms: rank(90),
        p99_ms: rank(99),
        max_ms: sorted_ms.last().copied(),
    }
}

/// A row of `delays.csv`.
#[derive(Debug, Serialize)]
pub struct DelaysRow<'a> {
    scenario: &'a str,
    seed: u64,
    strategy: &'a str,
    changes: u64,
    p50_ms: Option<i64>,
    p90_ms: Option<i64>,
    p99_ms: Option<i64>,
    max_ms: Option<i64>,
}

impl<'a> DelaysRow<'a> {
    /// The row of a strategy.
    pub fn new(run: &'a RunResults, strategy: &'a Strategy, totals: &Totals) -> DelaysRow<'a> {
        let Delays { changes, p50_ms, p90_ms, p99_ms, max_ms } = delays(&totals.delays_ms());
        let (scenario, seed, strategy) = (run.scenario.as_str(), run.seed, strategy.name.as_str());
        DelaysRow { scenario, seed, strategy, changes, p50_ms, p90_ms, p99_ms, max_ms }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_ranks() {
        let none = Delays { changes: 0, p50_ms: None, p90_ms: None, p99_ms: None, max_ms: None };
        assert_eq!(delays(&[]), none);
        let one = Delays { changes: 1, p50_ms: Some(7), p90_ms: Some(7), p99_ms: Some(7), max_ms: Some(7) };
        assert_eq!(delays(&[7]), one);
        let hundred: Vec<i64> = (1..=100).map(|n| n * 10).collect();
        let expected =
            Delays { changes: 100, p50_ms: Some(500), p90_ms: Some(900), p99_ms: Some(990), max_ms: Some(1000) };
        assert_eq!(delays(&hundred), expected);
        // Of four, half is the second; 90 of 100 is more than three of four.
        let four = Delays { changes: 4, p50_ms: Some(2), p90_ms: Some(9), p99_ms: Some(9), max_ms: Some(9) };
        assert_eq!(delays(&[1, 2, 3, 9]), four);
    }
}
