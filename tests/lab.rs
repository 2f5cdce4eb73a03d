//! The real clusters of the lab: what their coordinators stored, the simulated one stores too; every byte of their logs is
//! understood.

use coordsim::coordinator::protocol::{Assigned, ConsumerHeartbeat, HeartbeatRequest};
use coordsim::coordinator::{Config, KafkaVersion, Shard, ShardSettings};
use coordsim::disk::segment_file::{RecordBytes, append_file, file_name};
use coordsim::disk::{BatchRules, Keys, LogSettings, OffsetsLog, Record as LogRecord};
use coordsim::import::kraft;
use coordsim::kafka::JString;
use coordsim::kafka::batch::{decode_batches, encode_raw};
use coordsim::kafka::records::Record;
use coordsim::kafka::records::offsets::OffsetsRecord;
use coordsim::strategy::{Strategy, Work};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The hashes that a group of these topics stores, with a heartbeat after every image.
fn stored_hashes(strategy: &str, topics: &[&str]) -> Vec<i64> {
    let log = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/lab-cluster/00000000000000000000.log");
    let cluster = kraft::read(&[log]).expect("a real log");
    let history = cluster.history().expect("its changes apply").finish();
    let behaviour = KafkaVersion::V4_3_1.behaviour();
    let settings = ShardSettings {
        config: Config::new(&behaviour, []).expect("the defaults are right"),
        behaviour,
        design: Strategy::preset(strategy).expect("a preset").design,
        start_unix_ms: cluster.images[0].unix_ms,
        max_batch_bytes: None,
        does_work: false,
    };
    let mut shard = Shard::new(settings, &history);
    let mut request = ConsumerHeartbeat {
        group: JString::from("g-share"),
        member: JString::from("m"),
        epoch: 0,
        instance_id: None,
        rack: None,
        rebalance_timeout_ms: 300_000,
        topics: Some(topics.iter().map(|name| JString::from(*name)).collect()),
        regex: None,
        assignor: None,
        owned: Some(Vec::new()),
        client_id: JString::from("client"),
        client_host: JString::from("/127.0.0.1"),
    };
    let mut hashes: Vec<i64> = Vec::new();
    for image in 1..=history.last_image() {
        shard.publish(image, &mut Work::default());
        let outcome =
            shard.heartbeat(history.image(image).time_ms, &HeartbeatRequest::Consumer(request.clone()), false);
        let response = outcome.response.expect("the member is known");
        request.epoch = response.member_epoch;
        request.topics = None;
        request.rebalance_timeout_ms = -1;
        if let Some(Assigned::Partitions(partitions)) = response.assignment {
            request.owned = Some(partitions);
        }
        let hash = shard.group("g-share").map_or(0, |group| group.base().stored.get().group_hash);
        if hashes.last() != Some(&hash) {
            hashes.push(hash);
        }
    }
    hashes
}

/// The lab's `match-mixed` line: group `g-share`, epoch 7, of `audit` and `metrics` as they were before a broker came back in another rack, and
/// `orders.eu` as it was after.
#[test]
fn the_stale_hash_of_the_lab() {
    const MIXED: i64 = -6_938_731_593_144_710_613;
    let topics = ["audit", "metrics", "orders.eu"];
    assert!(stored_hashes("cached-hash", &topics).contains(&MIXED));
    assert!(!stored_hashes("recompute", &topics).contains(&MIXED));
}

fn lab() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/lab")
}

/// Reads a record and writes it again: key and value.
fn again(key: &[u8], value: Option<&[u8]>) -> (Vec<u8>, Option<Vec<u8>>) {
    let mut key_again = Vec::new();
    if let Some(record) = OffsetsRecord::decode(key, value).expect("a real record") {
        record.encode_key(&mut key_again);
        return (key_again, record.encode_value());
    }
    let record = Record::decode(key, value).expect("a real record");
    record.key.encode(&mut key_again);
    let value_again = record.value.map(|value| {
        let mut bytes = Vec::new();
        value.encode(&mut bytes);
        bytes
    });
    (key_again, value_again)
}

/// Reads a partition of `__consumer_offsets`, every batch and every record, and writes it again. Gives how many batches there are,
/// and how many records of each type.
fn check_log(file: &str) -> (usize, Vec<(i16, usize)>) {
    let bytes = std::fs::read(lab().join(file)).expect("a file of the lab");
    let (mut log_again, mut batches, mut types) = (Vec::new(), 0, BTreeMap::new());
    for batch in decode_batches(&bytes) {
        let batch = batch.expect("a real batch");
        for record in &batch.records {
            let key = record.key.expect("a key");
            let (key_again, value_again) = again(key, record.value);
            assert_eq!((&key_again[..], value_again.as_deref()), (key, record.value), "{file}");
            *types.entry(i16::from_be_bytes([key[0], key[1]])).or_insert(0) += 1;
        }
        log_again.extend(encode_raw(&batch.header, &batch.records));
        batches += 1;
    }
    assert!(log_again == bytes, "{file} is written otherwise");
    (batches, types.into_iter().collect())
}

/// The counts are those of `DumpLogSegments --offsets-decoder` of 3.9.1 and 4.3.1.
#[test]
fn real_logs_are_read_whole_and_written_again() {
    let log = |file: &str, batches: usize, types: &[(i16, usize)]| {
        assert_eq!(check_log(file), (batches, types.to_vec()), "{file}");
    };
    log("3.9.1-consumer-offsets-0.log", 4, &[(3, 4), (4, 4), (5, 2), (6, 3), (7, 2), (8, 4)]);
    log("3.9.1-consumer-offsets-1.log", 7, &[(3, 6), (4, 6), (5, 4), (6, 5), (7, 4), (8, 7)]);
    log("3.9.1-consumer-offsets-2.log", 34, &[(3, 13), (4, 9), (5, 6), (6, 11), (7, 17), (8, 34)]);
    let consumers = [(1, 4), (3, 12), (4, 1), (5, 9), (6, 10), (7, 12), (8, 34)];
    let share = [(10, 4), (11, 14), (12, 13), (13, 10), (14, 22), (15, 5)];
    log("4.3.1-consumer-offsets-0.log", 59, &[&consumers[..], &share].concat());
    log("4.3.1-consumer-offsets-1.log", 49, &[(1, 3), (2, 3), (3, 16), (5, 4), (6, 14), (7, 17), (8, 36), (16, 12)]);
    log("4.3.1-consumer-offsets-2.log", 80, &[(1, 28), (3, 23), (5, 9), (6, 20), (7, 33), (8, 78)]);
    // Upgraded to 4.3.1 while it ran.
    log("from-4.0.0-consumer-offsets-0.log", 10, &[(3, 13), (4, 6), (5, 10), (6, 8), (7, 10), (8, 13)]);
    log("from-4.0.0-consumer-offsets-2.log", 21, &[(3, 9), (4, 3), (5, 6), (6, 7), (7, 13), (8, 21)]);
}

/// The segments of a partition once its batches were appended, each at its time, and the cleaner has gone on for 20 minutes.
fn cleaned(partition: usize, settings: &LogSettings) -> BTreeMap<String, Vec<u8>> {
    let file = std::fs::read(lab().join(format!("4.3.1-consumer-offsets-{partition}.log"))).expect("a file of the lab");
    let first = decode_batches(&file).next().expect("a batch").expect("a real batch");
    let rules = BatchRules { linger_ms: Some(0), max_bytes: BatchRules::DEFAULT_MAX_BYTES };
    let start_ms = first.header.max_timestamp_ms;
    let mut log: OffsetsLog<Arc<RecordBytes>> = OffsetsLog::new(settings.clone(), rules, start_ms, 3_600_000);
    let last_ms = append_file(&mut log, &mut Keys::default(), &file).expect("batches of a coordinator");
    log.advance(last_ms + 20 * 60_000);
    let bytes_of = |record: &LogRecord<Arc<RecordBytes>>| record.payload.clone();
    log.segments().iter().map(|segment| (file_name(segment.base_offset), segment.to_file(bytes_of))).collect()
}

/// What the cleaner of 4.3.1 has left of the same logs (`conformance/clean-log`), byte for byte. `conformance/check-cleaner` compares
/// more settings, logs and versions.
#[test]
fn the_cleaner_leaves_what_the_real_one_does() {
    let small_segments = LogSettings { segment_bytes: 4096, ..LogSettings::default() };
    let tombstones = LogSettings { delete_retention_ms: 60_000, ..small_segments.clone() };
    let small_map = LogSettings { dedupe_buffer_bytes: 240, ..small_segments };
    for (name, settings) in [("tombstones", tombstones), ("small-map", small_map)] {
        for partition in 0..3 {
            let folder = lab().join(format!("cleaned/{name}/__consumer_offsets-{partition}"));
            let entries = std::fs::read_dir(&folder).expect("a folder of the lab");
            let real: BTreeMap<String, Vec<u8>> = entries
                .map(|entry| entry.expect("a file").path())
                .map(|path| {
                    (path.file_name().expect("a name").to_string_lossy().into(), std::fs::read(&path).expect("a file"))
                })
                .collect();
            assert!(real.len() > 1, "{}", folder.display());
            assert!(cleaned(partition, &settings) == real, "{}", folder.display());
        }
    }
}
