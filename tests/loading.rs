//! What a coordinator loads from a cleaned log is what it loads from the whole log: for random histories of groups, random
//! segments and random moments of cleaning. Versions that cannot load every cleaned log say so, and load nothing wrong.

use coordsim::cluster::HistoryBuilder;
use coordsim::coordinator::{Config, Entry, Group, KafkaVersion, Member, Shard, ShardSettings};
use coordsim::disk::{BatchRules, Keys, LogSettings, NewRecord, OffsetsLog, Segment};
use coordsim::kafka::JString;
use coordsim::kafka::records::{Key, Record, Value};
use coordsim::strategy::{Design, Strategy, Work};
use coordsim::trace::EventKind;
use coordsim::trace::random::{GeneratorOptions, generate};
use coordsim::trace::replay::Replayer;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A stream of numbers, the same for ever (SplitMix64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

/// What the coordinator wrote in a random history: the time and the records of each operation. Nothing is loaded meanwhile.
fn operations(seed: u64, version: KafkaVersion, design: Design) -> Vec<(i64, Vec<Record>)> {
    let options =
        GeneratorOptions { replayable_by_3_9: version == KafkaVersion::V3_9_1, ..GeneratorOptions::default() };
    let mut trace = generate(seed, &options);
    trace.events.retain(|event| event.kind != EventKind::Failover);
    let mut operations = Vec::new();
    Replayer::new(&trace, version, design).expect("can be replayed").run(|line| {
        if !line.records.is_empty() {
            operations.push((line.t_ms, line.records.iter().map(|&record| record.clone()).collect()));
        }
    });
    operations
}

/// Settings under which short logs have many segments and are cleaned often, some of them with a map that is soon full.
fn settings(numbers: &mut Numbers, version: KafkaVersion) -> LogSettings {
    LogSettings {
        segment_bytes: 100 + numbers.below(3_000),
        min_cleanable_dirty_ratio: numbers.below(10) as f64 / 10.0,
        min_compaction_lag_ms: numbers.below(2) as i64 * numbers.below(60_000) as i64,
        delete_retention_ms: numbers.below(3) as i64 * numbers.below(20_000) as i64,
        cleaner_backoff_ms: 1 + numbers.below(30_000) as i64,
        dedupe_buffer_bytes: 24 * (3 + numbers.below(100)),
        keeps_last_batch: version.behaviour().cleaner_keeps_last_batch,
        ..LogSettings::default()
    }
}

type Log = OffsetsLog<Arc<Entry>>;

/// The log of all operations, as the cleaner has left it at the end.
fn cleaned(operations: &[(i64, Vec<Record>)], numbers: &mut Numbers, version: KafkaVersion) -> Log {
    let linger_ms = [None, Some(0), Some(10)][numbers.below(3) as usize];
    let rules = BatchRules { linger_ms, max_bytes: BatchRules::DEFAULT_MAX_BYTES };
    let mut log = OffsetsLog::new(settings(numbers, version), rules, 0, 1_000);
    let mut keys: Keys<Key> = Keys::default();
    for (now_ms, records) in operations {
        let lengths: Vec<_> =
            records.iter().map(|r| (r.key.encoded_len(), r.value.as_ref().map(Value::encoded_len))).collect();
        log.begin(*now_ms, &lengths);
        for (record, (key_bytes, value_bytes)) in records.iter().zip(lengths) {
            let key = keys.id(&record.key);
            let payload = Arc::new(Entry::from(record.clone()));
            let record_type = Some(record.key.record_type);
            log.append(*now_ms, NewRecord { key, record_type, key_bytes, value_bytes, hash_bytes: 0, payload });
        }
        if numbers.below(20) == 0 {
            log.clean(*now_ms);
        }
    }
    log.flush();
    log
}

fn shown_member(member: &Member) -> String {
    let state = (member.epoch, member.previous_epoch, member.state);
    format!("{state:?} {:?} {:?} {:?}", member.metadata_record(), member.assigned, member.pending_revocation)
}

/// What is in a group, without the orders of its maps.
fn shown(group: &Group) -> String {
    let Group::Consumer(group) = group else { panic!("only consumer groups are asked for") };
    let (base, modern) = (&group.base, &group.modern);
    let members: BTreeMap<_, _> = modern.members.iter().map(|(id, member)| (id, shown_member(member))).collect();
    let target: BTreeMap<_, _> = modern.target.iter().map(|(member, target)| (member, target.to_record())).collect();
    let subscribed: BTreeMap<_, _> = modern.subscribed.iter().collect();
    let resolved: BTreeMap<_, _> = group.resolved.iter().map(|(regex, found)| (regex, &found.topics.sorted)).collect();
    // Before 4.4 a member that changes its instance id is known by the old one too, until the log is loaded without it.
    let is_own = |(instance, member): &(&JString, &JString)| {
        modern.members.get(*member).is_some_and(|member| member.instance_id.as_ref() == Some(*instance))
    };
    let statics: BTreeMap<_, _> = group.static_members.iter().filter(is_own).collect();
    format!(
        "{} {:?} {:?} {:?}\n{members:?}\n{target:?}\n{subscribed:?}\n{resolved:?}\n{statics:?}",
        base.id,
        base.epoch.get(),
        base.assignment.get(),
        base.has_map_record.get(),
    )
}

/// The groups that a coordinator has after loading these records, or why it cannot.
fn load<'a>(
    version: KafkaVersion,
    design: Design,
    entries: impl IntoIterator<Item = &'a Entry>,
) -> Result<Vec<String>, String> {
    let behaviour = version.behaviour();
    let config = Config::new(&behaviour, []).expect("the defaults are right");
    let settings = ShardSettings { behaviour, config, design, start_unix_ms: 0, max_batch_bytes: None };
    let history = HistoryBuilder::new().finish();
    let (shard, error) = Shard::load(settings, &history, entries, 0, 0, &mut Work::default());
    let mut groups: Vec<String> = shard.groups().map(shown).collect();
    groups.sort();
    error.map_or(Ok(groups), |error| Err(error.to_string()))
}

/// How many of so many random logs a version cannot load once they have been cleaned.
fn failures(version: KafkaVersion, preset: &str) -> (usize, Vec<String>) {
    let design = Strategy::preset(preset).expect("a preset").design;
    let (mut removed, mut errors) = (0, Vec::new());
    for seed in 0..150 {
        let operations = operations(seed, version, design);
        let whole: Vec<Entry> = operations.iter().flat_map(|(_, records)| records).cloned().map(Entry::from).collect();
        let expected = load(version, design, &whole).expect("what was written can be loaded");
        for round in 0..4 {
            let mut numbers = Numbers(seed * 1_000 + round);
            let log = cleaned(&operations, &mut numbers, version);
            let records = log.segments().iter().flat_map(Segment::records).map(|record| &*record.payload);
            removed += log.totals().cleaned.removed_records;
            match load(version, design, records) {
                Ok(loaded) => {
                    for (a, b) in loaded.iter().flat_map(|g| g.lines()).zip(expected.iter().flat_map(|g| g.lines())) {
                        if a != b {
                            println!("{version} seed {seed} {round}\n L {a}\n R {b}");
                        }
                    }
                }
                Err(error) => errors.push(format!("{seed}.{round}: {error}")),
            }
        }
    }
    (removed as usize, errors)
}

#[test]
fn a_cleaned_log_is_loaded_as_the_whole_one() {
    for (version, preset) in [
        (KafkaVersion::V4_3_1, "cached-hash"),
        (KafkaVersion::V4_4_0, "cached-hash"),
        (KafkaVersion::V4_3_1, "full-map"),
        (KafkaVersion::V4_3_1, "stored-hash"),
    ] {
        let (removed, errors) = failures(version, preset);
        assert_eq!(errors, [""; 0], "{version} {preset}");
        assert!(removed > 10_000, "{version} {preset}: {removed}");
    }
}

#[test]
fn versions_that_cannot_load_every_cleaned_log() {
    for (version, preset) in
        [(KafkaVersion::V3_9_1, "full-map"), (KafkaVersion::V4_0_0, "count-map"), (KafkaVersion::V4_1_1, "cached-hash")]
    {
        let (removed, errors) = failures(version, preset);
        let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
        errors.iter().for_each(|error| *kinds.entry(error).or_default() += 1);
        println!("{version} {preset} {removed} {}", errors.len());
        for (kind, number) in kinds {
            println!("   {number} {kind}");
        }
    }
}
