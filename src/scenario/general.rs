//! The top of a scenario: what it is called, how long it runs, strategies, Kafka's configuration, the cluster.

use super::diagnostic::{Problems, suggestion};
use super::reader::{LONGEST_MS, Table, Value};
use super::types::{Cluster, ConfigValue, Log, Scenario};
use super::units::{DURATION_FORM, SIZE_FORM};
use super::{DEFAULT_KAFKA_VERSION, KAFKA_VERSIONS, MAX_BROKERS};
use crate::kernel::TimeMs;
use crate::strategy::axes::PRESETS;
use crate::strategy::{Covers, Design, Forgets, Memo, Stores, Strategy};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

const COVERS: [(&str, Covers); 3] =
    [("partitions", Covers::Partitions), ("rack-set", Covers::RackSet), ("rack-list", Covers::RackList)];
const STORES: [(&str, Stores); 3] = [("map", Stores::Map), ("hashes", Stores::Hashes), ("hash", Stores::Hash)];
const MEMO: [(&str, Memo); 3] = [("none", Memo::None), ("shard", Memo::Shard), ("broker", Memo::Broker)];
const FORGETS: [(&str, Forgets); 2] = [("topic", Forgets::Topic), ("topic-or-broker", Forgets::TopicOrBroker)];

/// The name of a scenario that does not say: its file's, without folder and ending.
pub(super) fn file_stem(file: &str) -> String {
    let name = file.rsplit(['/', '\\']).next().unwrap_or(file);
    name.strip_suffix(".toml").unwrap_or(name).to_owned()
}

/// The name of a scenario: it becomes a folder's name and a cell of a CSV file.
pub(super) fn read_name(root: &mut Table, problems: &mut Problems, file: &str) -> String {
    let expected = "letters, digits, \"-\", \"_\" or \".\"";
    let Some(value) = root.get("name") else { return file_stem(file) };
    let Some(name) = value.text(problems, expected) else { return String::new() };
    if name.starts_with('.') || !name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) {
        value.expected(problems, &format!("{expected}, not beginning with \".\""));
    }
    name.to_owned()
}

/// The Kafka version.
pub(super) fn read_kafka(root: &mut Table, problems: &mut Problems) -> String {
    let Some(value) = root.get("kafka") else { return DEFAULT_KAFKA_VERSION.to_owned() };
    let known = KAFKA_VERSIONS.map(|version| format!("{version:?}")).join(", ");
    // Another version is not a misspelt one: nothing is suggested.
    let version = value.text(problems, &format!("one of {known}")).unwrap_or(DEFAULT_KAFKA_VERSION);
    if !KAFKA_VERSIONS.contains(&version) {
        value.expected(problems, &format!("one of {known}"));
    }
    version.to_owned()
}

/// The strategies: definitions from `[strategies]`, and which to compare from `compare`.
pub(super) fn read_strategies(root: &mut Table, problems: &mut Problems) -> Vec<Strategy> {
    let mut known: Vec<Strategy> = PRESETS.iter().filter_map(|name| Strategy::preset(name)).collect();
    if let Some(table) = root.get("strategies").and_then(|v| v.table(problems, "tables such as [strategies.my-idea]")) {
        for (name, at, value) in table.fields() {
            let Some(design) = read_design(&value, problems) else { continue };
            if Strategy::preset(name).is_some() {
                problems.add(
                    at,
                    &value.path,
                    "is the name of a preset, which cannot be redefined; expected another name",
                );
            } else if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) {
                problems.add(at, &value.path, "is not a name; expected letters, digits, \"-\", \"_\" or \".\"");
            } else {
                known.push(Strategy { name: name.to_owned(), design });
            }
        }
    }
    let Some(list) = root.get("compare") else { return known };
    let expected = "a list of strategies such as [\"full-map\", \"cached-hash\"]";
    let Some(items) = list.items(problems, expected) else { return known };
    if items.is_empty() {
        list.complain(problems, format!("found an empty list; expected {expected}"));
    }
    let mut compared: Vec<Strategy> = Vec::new();
    for item in items {
        let Some(name) = item.text(problems, "the name of a strategy") else { continue };
        if compared.iter().any(|strategy| strategy.name == name) {
            item.complain(problems, format!("{name:?} is in the list twice; expected each strategy once"));
        } else if let Some(strategy) = known.iter().find(|strategy| strategy.name == name) {
            compared.push(strategy.clone());
        } else if !is_definition_wrong(root, name, problems) {
            let names: Vec<&str> = known.iter().map(|strategy| strategy.name.as_str()).collect();
            let near = suggestion(name, names.iter().copied());
            let tail = if near.is_empty() { format!("; expected one of {}", names.join(", ")) } else { near };
            item.complain(problems, format!("there is no strategy {name:?}{tail}"));
        }
    }
    compared
}

/// Whether the scenario may mean to define a strategy of this name.
fn is_definition_wrong(root: &mut Table, name: &str, problems: &Problems) -> bool {
    match root.get("strategies") {
        Some(value) if value.is_table() => problems.is_wrong(&value.path_of(name)),
        Some(value) => problems.is_wrong(&value.path),
        None => problems.is_wrong("strategies"),
    }
}

/// A point of the design space; `None` after an error.
fn read_design(value: &Value, problems: &mut Problems) -> Option<Design> {
    let mut table = value.table(problems, "a table with covers, stores and perhaps memo and forgets")?;
    let covers = table.require(problems, "covers", "\"partitions\", \"rack-set\" or \"rack-list\"");
    let covers = covers.and_then(|value| value.one_of(problems, &COVERS));
    let stores = table.require(problems, "stores", "\"map\", \"hashes\" or \"hash\"");
    let stores = stores.and_then(|value| value.one_of(problems, &STORES));
    let memo_value = table.get("memo");
    let memo = memo_value.as_ref().map_or(Some(Memo::None), |value| value.one_of(problems, &MEMO));
    let forgets_value = table.get("forgets");
    let forgets = forgets_value.as_ref().map_or(Some(Forgets::Topic), |value| value.one_of(problems, &FORGETS));
    let no_memo = memo == Some(Memo::None) && !problems.is_wrong(&table.path_of("memo"));
    if let (Some(value), true) = (&forgets_value, no_memo) {
        value.complain(
            problems,
            "there is no memo that could forget; expected memo = \"shard\" or \"broker\" beside it",
        );
    }
    if let (Some(value), Some(Stores::Map), Some(Memo::Shard | Memo::Broker)) = (&memo_value, stores, memo) {
        value.complain(problems, "stores = \"map\" computes no hashes to keep; expected memo = \"none\"");
    }
    table.finish(problems);
    Some(Design::Point { covers: covers?, stores: stores?, memo: memo?, forgets: forgets? })
}

/// Broker configurations of the group coordinator and of its log that a scenario may set, of any Kafka version.
const CONFIG: [&str; 64] = [
    "group.consumer.assignment.interval.ms",
    "group.consumer.assignors",
    "group.consumer.heartbeat.interval.ms",
    "group.consumer.max.assignment.interval.ms",
    "group.consumer.max.heartbeat.interval.ms",
    "group.consumer.max.session.timeout.ms",
    "group.consumer.max.size",
    "group.consumer.migration.policy",
    "group.consumer.min.assignment.interval.ms",
    "group.consumer.min.heartbeat.interval.ms",
    "group.consumer.min.session.timeout.ms",
    "group.consumer.regex.refresh.interval.ms",
    "group.consumer.session.timeout.ms",
    "group.coordinator.append.linger.ms",
    "group.coordinator.background.threads",
    "group.coordinator.cached.buffer.max.bytes",
    "group.coordinator.threads",
    "group.initial.rebalance.delay.ms",
    "group.max.session.timeout.ms",
    "group.max.size",
    "group.min.session.timeout.ms",
    "group.share.assignment.interval.ms",
    "group.share.assignors",
    "group.share.heartbeat.interval.ms",
    "group.share.initialize.retry.interval.ms",
    "group.share.max.assignment.interval.ms",
    "group.share.max.heartbeat.interval.ms",
    "group.share.max.session.timeout.ms",
    "group.share.max.size",
    "group.share.min.assignment.interval.ms",
    "group.share.min.heartbeat.interval.ms",
    "group.share.min.session.timeout.ms",
    "group.share.session.timeout.ms",
    "group.streams.assignment.interval.ms",
    "group.streams.heartbeat.interval.ms",
    "group.streams.initial.rebalance.delay.ms",
    "group.streams.max.assignment.interval.ms",
    "group.streams.max.heartbeat.interval.ms",
    "group.streams.max.session.timeout.ms",
    "group.streams.max.size",
    "group.streams.max.standby.replicas",
    "group.streams.min.assignment.interval.ms",
    "group.streams.min.heartbeat.interval.ms",
    "group.streams.min.session.timeout.ms",
    "group.streams.num.standby.replicas",
    "group.streams.session.timeout.ms",
    "log.cleaner.backoff.ms",
    "log.cleaner.dedupe.buffer.size",
    "log.cleaner.delete.retention.ms",
    "log.cleaner.enable",
    "log.cleaner.io.buffer.load.factor",
    "log.cleaner.max.compaction.lag.ms",
    "log.cleaner.min.cleanable.ratio",
    "log.cleaner.min.compaction.lag.ms",
    "log.cleaner.threads",
    "log.roll.ms",
    "log.segment.delete.delay.ms",
    "max.message.bytes",
    "offsets.commit.timeout.ms",
    "offsets.load.buffer.size",
    "offsets.retention.check.interval.ms",
    "offsets.retention.minutes",
    "offsets.topic.compression.codec",
    "offsets.topic.segment.bytes",
];

/// `[config]`: names as in Kafka's documentation of brokers.
pub(super) fn read_config(root: &mut Table, problems: &mut Problems) -> BTreeMap<String, ConfigValue> {
    let mut config = BTreeMap::new();
    let expected = "a table with Kafka's configuration names in quotes";
    let Some(table) = root.get("config").and_then(|value| value.table(problems, expected)) else { return config };
    for (name, at, value) in table.fields() {
        if !CONFIG.contains(&name) {
            let hint = match name {
                "offsets.topic.num.partitions" => "; use cluster.offsets.partitions".to_owned(),
                "offsets.topic.replication.factor" => "; use cluster.offsets.replication".to_owned(),
                _ if value.is_table() => "; names with dots must be in quotes".to_owned(),
                _ => suggestion(name, CONFIG),
            };
            problems.add(at, &value.path, format!("is not a configuration of the group coordinator{hint}"));
        } else if let Some(setting) = read_setting(name, &value, problems) {
            config.insert(name.to_owned(), setting);
        }
    }
    config
}

fn read_setting(name: &str, value: &Value, problems: &mut Problems) -> Option<ConfigValue> {
    if name.ends_with(".assignors") {
        let list = value.is_list().then(|| value.texts(problems, "a list of texts"));
        let text =
            list.map_or_else(|| value.text(problems, "a list of assignors").map(str::to_owned), |t| Some(t?.join(",")));
        return text.map(ConfigValue::Text);
    }
    if name.ends_with(".policy") || name.ends_with(".codec") {
        return value.text(problems, "a text").map(|text| ConfigValue::Text(text.to_owned()));
    }
    if name.ends_with(".enable") {
        return value.boolean(problems).map(ConfigValue::Boolean);
    }
    if name.ends_with(".ratio") || name.ends_with(".factor") {
        return value.fraction(problems).map(|number| ConfigValue::Text(number.to_string()));
    }
    let unit = match name {
        _ if name.ends_with(".ms") => "milliseconds",
        _ if name.ends_with(".bytes") || name.ends_with(".buffer.size") => "bytes",
        _ => "",
    };
    if let Some(text) = value.bare_integer() {
        let bare = format!("an integer without quotes ({text}");
        let expected = match unit {
            "milliseconds" => format!("{bare}: {unit}), or {DURATION_FORM}"),
            "bytes" => format!("{bare}: {unit}), or {SIZE_FORM}"),
            _ => format!("{bare})"),
        };
        value.expected(problems, &expected);
        return None;
    }
    if value.is_text() && unit == "milliseconds" {
        return value.duration(problems, 0..=LONGEST_MS).map(ConfigValue::Integer);
    }
    if value.is_text() && unit == "bytes" {
        return value.size(problems).map(ConfigValue::Integer);
    }
    // -1 means "adaptive" for the linger; nothing else is negative.
    let lowest = if name == "group.coordinator.append.linger.ms" { -1 } else { 0 };
    value.integer(problems, lowest..=i64::from(i32::MAX)).map(ConfigValue::Integer)
}

/// `[cluster]`.
pub(super) fn read_cluster(root: &mut Table, problems: &mut Problems) -> Cluster {
    let made_up = |brokers| Cluster::Synthetic {
        brokers,
        offsets_partitions: 50,
        offsets_replication: 3,
        leader_rebalance_ms: Some(300_000),
    };
    let plain = |count| made_up((1..=count).map(|id| (id, None)).collect());
    let Some(value) = root.get("cluster") else {
        return plain(if problems.is_wrong("cluster") { MAX_BROKERS as i32 } else { 3 });
    };
    let Some(mut table) = value.table(problems, "a table") else { return plain(MAX_BROKERS as i32) };
    let cluster = match table.get("kraft") {
        Some(kraft) => read_kraft(&mut table, &kraft, problems),
        None => read_synthetic(&mut table, problems),
    };
    table.finish(problems);
    cluster
}

fn read_synthetic(table: &mut Table, problems: &mut Problems) -> Cluster {
    let count = table.integer(problems, "brokers", 1..=MAX_BROKERS, 3);
    // Which ids are too high is not known then.
    let count = if problems.is_wrong(&table.path_of("brokers")) { MAX_BROKERS } else { count };
    let racks_value = table.get("racks");
    let racks = racks_value.as_ref().and_then(|value| value.racks(problems, "a list of racks such as [\"a\", \"b\"]"));
    let racks = racks.unwrap_or_default();
    let mut brokers: Vec<(i32, Option<String>)> =
        (1..=count as i32).map(|id| (id, racks.get((id as usize - 1) % racks.len().max(1)).cloned())).collect();
    for id in read_brokers(table, "brokers_without_rack", 1..=count, problems) {
        brokers[id as usize - 1].1 = None;
    }
    let leader_rebalance_ms = match table.get("leader_rebalance") {
        Some(value) if value.is_boolean() => match value.boolean(problems) {
            Some(false) => None,
            _ => {
                value.expected(problems, "a duration, or false");
                None
            }
        },
        Some(value) => value.duration(problems, 1_000..=LONGEST_MS),
        None => Some(300_000),
    };
    let (mut offsets_partitions, mut offsets_replication) = (50, count.min(3));
    if let Some(mut offsets) = table.get("offsets").and_then(|value| value.table(problems, "a table")) {
        offsets_partitions = offsets.integer(problems, "partitions", 1..=10_000, offsets_partitions);
        offsets_replication = offsets.integer(problems, "replication", 1..=count, offsets_replication);
        offsets.finish(problems);
    }
    Cluster::Synthetic {
        brokers,
        offsets_partitions: offsets_partitions as u32,
        offsets_replication: offsets_replication as u32,
        leader_rebalance_ms,
    }
}

/// A list of brokers' ids.
pub(super) fn read_brokers(
    table: &mut Table,
    field: &'static str,
    ids: RangeInclusive<i64>,
    problems: &mut Problems,
) -> Vec<i32> {
    let expected = "a list of brokers' ids such as [1, 2]";
    let Some(items) = table.get(field).and_then(|value| value.items(problems, expected)) else { return Vec::new() };
    items.iter().filter_map(|item| item.integer(problems, ids.clone())).map(|id| id as i32).collect()
}

fn read_kraft(table: &mut Table, kraft: &Value, problems: &mut Problems) -> Cluster {
    for field in ["brokers", "racks", "brokers_without_rack", "leader_rebalance", "offsets"] {
        if let Some(value) = table.get(field) {
            value.complain(problems, "comes from the metadata log; expected only [cluster.kraft] here");
        }
    }
    let mut files = Vec::new();
    let mut from_ms = 0;
    if let Some(mut table) = kraft.table(problems, "a table with files") {
        let expected = "a list of log segments and snapshots";
        if let Some(value) = table.require(problems, "files", expected) {
            files = value.texts(problems, expected).unwrap_or_default();
            if value.is_list() && files.is_empty() && value.items(problems, expected).is_some_and(|i| i.is_empty()) {
                value.complain(problems, format!("found an empty list; expected {expected}"));
            }
        }
        from_ms = table.duration(problems, "from", 0..=LONGEST_MS, 0);
        table.finish(problems);
    }
    Cluster::Kraft { files, from_ms, place: problems.place(kraft.at, &kraft.path) }
}

/// How long the scenario runs; as long as can be if that is wrong, so that nothing seems to be after its end.
pub(super) fn read_duration(root: &mut Table, problems: &mut Problems) -> TimeMs {
    let expected = "how long the run is, a duration such as \"10m\"";
    let value = root.require(problems, "duration", expected);
    value.and_then(|value| value.duration(problems, 1..=LONGEST_MS)).unwrap_or(LONGEST_MS)
}

/// `[log]`: what Kafka has no configuration for.
pub(super) fn read_log(root: &mut Table, problems: &mut Problems) -> Log {
    let mut log = Log::default();
    let Some(mut table) = root.get("log").and_then(|value| value.table(problems, "a table")) else { return log };
    let mut duration = |field, least| table.get(field).and_then(|value| value.duration(problems, least..=LONGEST_MS));
    log.cleaner_stops_ms = duration("cleaner_stops", 0);
    log.commit_interval_ms = duration("commit_interval", 1);
    if let Some(bytes) = table.get("load_rate").and_then(|value| value.size(problems)) {
        log.load_bytes_per_second = bytes.max(1) as u64;
    }
    let record_ns = log.load_record_ns as i64;
    log.load_record_ns = table.integer(problems, "load_record_ns", 0..=1_000_000_000, record_ns) as u64;
    table.finish(problems);
    log
}

/// The wall clock at time 0.
pub(super) fn read_start(root: &mut Table, problems: &mut Problems) -> Option<TimeMs> {
    root.get("start")?.integer(problems, 0..=4_102_444_800_000)
}

/// The brokers' ids that a scenario may name; with a metadata log, any.
pub(super) fn broker_ids(scenario: &Scenario) -> RangeInclusive<i64> {
    match &scenario.cluster {
        Cluster::Synthetic { brokers, .. } => 1..=brokers.len() as i64,
        Cluster::Kraft { .. } => 0..=i64::from(i32::MAX),
    }
}
