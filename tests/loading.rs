//! What a coordinator loads from a cleaned log is what it loads from the whole log: for random histories of groups, random
//! segments and random moments of cleaning. Where a version cannot load such a log it says so, and loads nothing wrong.

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
use std::ops::RangeInclusive;
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

/// How a log is read.
#[derive(Clone, Copy, PartialEq)]
enum Reading {
    /// As the cleaner has left it.
    Cleaned,
    /// As a cleaner has left it whose offset map was often full.
    CleanedInParts,
    /// Up to some record before the cleaner was there, from then on after.
    WhileCleaning,
}

/// Settings under which short logs have many segments and are cleaned often.
fn settings(numbers: &mut Numbers, version: KafkaVersion, reading: Reading) -> LogSettings {
    LogSettings {
        segment_bytes: 100 + numbers.below(3_000),
        min_cleanable_dirty_ratio: numbers.below(10) as f64 / 10.0,
        min_compaction_lag_ms: numbers.below(2) as i64 * numbers.below(60_000) as i64,
        // Whoever reads while the log is cleaned meets every tombstone, or has taken longer than this.
        delete_retention_ms: match reading {
            Reading::WhileCleaning => 3_650 * 24 * 3_600_000,
            _ => numbers.below(3) as i64 * numbers.below(20_000) as i64,
        },
        cleaner_backoff_ms: 1 + numbers.below(30_000) as i64,
        dedupe_buffer_bytes: if reading == Reading::CleanedInParts { 24 * (3 + numbers.below(100)) } else { 1 << 20 },
        keeps_last_batch: version.behaviour().cleaner_keeps_last_batch,
        ..LogSettings::default()
    }
}

/// Of each record its number in the whole log, and the record.
type Log = OffsetsLog<Arc<(usize, Entry)>>;

/// The log of all operations, as the cleaner has left it at the end.
fn cleaned(operations: &[(i64, Vec<Record>)], numbers: &mut Numbers, version: KafkaVersion, reading: Reading) -> Log {
    let linger_ms = [None, Some(0), Some(10)][numbers.below(3) as usize];
    let rules = BatchRules { linger_ms, max_bytes: BatchRules::DEFAULT_MAX_BYTES };
    let mut log = OffsetsLog::new(settings(numbers, version, reading), rules, 0, 1_000);
    let mut keys: Keys<Key> = Keys::default();
    let mut numbered = 0;
    for (now_ms, records) in operations {
        let lengths: Vec<_> =
            records.iter().map(|r| (r.key.encoded_len(), r.value.as_ref().map(Value::encoded_len))).collect();
        log.begin(*now_ms, &lengths);
        for (record, (key_bytes, value_bytes)) in records.iter().zip(lengths) {
            let key = keys.id(&record.key);
            let payload = Arc::new((numbered, Entry::from(record.clone())));
            numbered += 1;
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
    let settings =
        ShardSettings { behaviour, config, design, start_unix_ms: 0, max_batch_bytes: None, does_work: false };
    let history = HistoryBuilder::new().finish();
    let (shard, error) = Shard::load(settings, &history, entries, 0, 0, &mut Work::default());
    let mut groups: Vec<String> = shard.groups().map(shown).collect();
    groups.sort();
    error.map_or(Ok(groups), |error| Err(error.to_string()))
}

/// How many records the cleaner removed from the logs of these seeds, and why some of them could not be loaded. Those that can
/// are loaded as the whole log is.
fn failures(version: KafkaVersion, preset: &str, reading: Reading, seeds: RangeInclusive<u64>) -> (u64, Vec<String>) {
    let design = Strategy::preset(preset).expect("a preset").design;
    let (mut removed, mut errors) = (0, Vec::new());
    for seed in seeds {
        let operations = operations(seed, version, design);
        let whole: Vec<Entry> = operations.iter().flat_map(|(_, records)| records).cloned().map(Entry::from).collect();
        let expected = load(version, design, &whole).expect("what was written can be loaded");
        for round in 0..4 {
            let mut numbers = Numbers(seed * 1_000 + round);
            let log = cleaned(&operations, &mut numbers, version, reading);
            removed += log.totals().cleaned.removed_records;
            let from = match reading {
                Reading::WhileCleaning => numbers.below(whole.len() as u64 + 1) as usize,
                _ => 0,
            };
            let records = log.segments().iter().flat_map(Segment::records).map(|record| &*record.payload);
            let after = records.filter(|(number, _)| *number >= from).map(|(_, entry)| entry);
            match load(version, design, whole[..from].iter().chain(after)) {
                Ok(loaded) => {
                    let lines = |groups: &[String]| groups.join("\n").lines().map(str::to_owned).collect::<Vec<_>>();
                    for (loaded, expected) in lines(&loaded).iter().zip(lines(&expected)) {
                        assert_eq!(*loaded, expected, "{version} {preset}, seed {seed}, from {from}");
                    }
                    assert_eq!(loaded.len(), expected.len());
                }
                Err(error) => errors.push(error),
            }
        }
    }
    (removed, errors)
}

#[test]
fn a_cleaned_log_is_loaded_as_the_whole_one() {
    for (version, preset) in [
        (KafkaVersion::V4_0_0, "count-map"),
        (KafkaVersion::V4_1_1, "cached-hash"),
        (KafkaVersion::V4_3_1, "cached-hash"),
        (KafkaVersion::V4_3_1, "full-map"),
        (KafkaVersion::V4_4_0, "stored-hash"),
    ] {
        let (removed, errors) = failures(version, preset, Reading::Cleaned, 1..=8);
        assert_eq!(errors, [""; 0], "{version} {preset}");
        assert!(removed > 1_000, "{version} {preset}: {removed}");
    }
}

/// 3.9.1 needs a group's and a member's own record before any other of them (golden trace `21-load-order`).
#[test]
fn not_every_cleaned_log_can_be_loaded_by_3_9_1() {
    let (_, errors) = failures(KafkaVersion::V3_9_1, "full-map", Reading::Cleaned, 1..=8);
    let of = |text: &str| errors.iter().filter(|error| error.contains(text)).count();
    assert!(of("not found") > 5 && of("is not a member of") > 0, "{errors:#?}");
}

/// While the cleaner is at work a coordinator may read a record that takes a partition, and no longer the one that gives it up:
/// up to 4.1.1 that is an error (KAFKA-19862), from 4.3 on the later record counts.
#[test]
fn loading_while_the_log_is_cleaned() {
    let (_, errors) = failures(KafkaVersion::V4_1_1, "cached-hash", Reading::WhileCleaning, 1..=12);
    let is_known = |error: &String| error.contains("cannot set the epoch of") && error.contains("it is still owned");
    assert!(!errors.is_empty() && errors.iter().all(is_known), "{errors:#?}");
    let (_, errors) = failures(KafkaVersion::V4_3_1, "cached-hash", Reading::WhileCleaning, 1..=12);
    assert_eq!(errors, [""; 0]);
}

/// An offset map that is full in the midst of a batch parts a member's tombstones: once their time is over, that of its current
/// assignment goes and that of the member stays. No version can load that.
#[test]
fn a_map_that_is_full_within_a_batch() {
    let (_, errors) = failures(KafkaVersion::V4_4_0, "cached-hash", Reading::CleanedInParts, 14..=14);
    let expected =
        "the shard could not be loaded: member dFHxLF-h_S6SBDN_6cafTQ is deleted but its current assignment is not";
    assert_eq!(errors, [expected]);
}
