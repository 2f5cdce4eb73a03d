//! Against what real Kafka wrote, and against what it must refuse.

use super::*;
use crate::kafka::Uuid;
use crate::kafka::batch::decode_batches;
use crate::kafka::wire::{WireError, WireProblem};
use std::path::{Path, PathBuf};

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b' ').collect();
    let byte = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

fn encoded(value: &Value) -> Vec<u8> {
    let mut bytes = Vec::new();
    value.encode(&mut bytes);
    assert_eq!(value.encoded_len(), bytes.len());
    bytes
}

/// Reads a record and writes it again. The record's type.
fn check_round_trip(key: &[u8], value: Option<&[u8]>) -> RecordType {
    let record = Record::decode(key, value).unwrap();
    let mut bytes = Vec::new();
    record.key.encode(&mut bytes);
    assert_eq!(bytes, key, "{:?}", record.key);
    assert_eq!(record.key.encoded_len(), key.len());
    assert_eq!(record.value.as_ref().map(encoded).as_deref(), value, "{record:?}");
    record.key.record_type
}

/// Reads and writes again the records of every outcome file of a version; how many there are.
fn check_outcomes(version: &str) -> usize {
    let mut records = 0;
    let folders = std::fs::read_dir(golden()).unwrap().map(|entry| entry.unwrap().path());
    let files = folders.flat_map(|folder| ["", "recompute/"].map(|sub| folder.join(format!("{sub}{version}.jsonl"))));
    for file in files.filter(|file| file.exists()) {
        for line in std::fs::read_to_string(&file).unwrap().lines() {
            let outcome: serde_json::Value = serde_json::from_str(line).unwrap();
            for record in outcome["records"].as_array().unwrap() {
                let name = record["type"].as_str().unwrap();
                let value = record["value"].as_str().map(hex);
                let record_type = check_round_trip(&hex(record["key"].as_str().unwrap()), value.as_deref());
                assert_eq!(record_type.name(), name);
                records += 1;
            }
        }
    }
    records
}

#[test]
fn types_know_their_place_in_the_list() {
    let places: Vec<usize> = RecordType::ALL.into_iter().map(RecordType::position).collect();
    assert_eq!(places, (0..21).collect::<Vec<_>>());
}

#[test]
fn every_golden_record_round_trips() {
    assert_eq!(check_outcomes("3.9.1"), 472);
    assert_eq!(check_outcomes("4.0.0"), 500);
    assert_eq!(check_outcomes("4.1.1"), 1_223);
    assert_eq!(check_outcomes("4.3.1"), 1_224);
    assert_eq!(check_outcomes("4.4.0"), 1_236);
}

/// Encodes the consumer-group records of a real segment again; how many there are, and how many others.
fn check_segment(file: &str) -> (usize, usize) {
    let bytes = std::fs::read(golden().join("lab").join(file)).unwrap();
    let (mut ours, mut others) = (0, 0);
    for batch in decode_batches(&bytes) {
        for record in batch.unwrap().records {
            match Key::decode(record.key.unwrap()) {
                Err(DecodeError { problem: DecodeProblem::Type(_), .. }) => others += 1,
                _ => {
                    check_round_trip(record.key.unwrap(), record.value);
                    ours += 1;
                }
            }
        }
    }
    (ours, others)
}

#[test]
fn records_of_real_logs_round_trip() {
    // Counts of `DumpLogSegments`; the others of 4.3.1 are offsets and classic groups.
    assert_eq!(check_segment("3.9.1-consumer-offsets-1.log"), (32, 0));
    assert_eq!(check_segment("4.3.1-consumer-offsets-1.log"), (99, 6));
}

#[test]
fn the_hash_is_left_out_when_it_is_0() {
    // Kafka 4.1.1.
    let metadata_hash = 0x989b_fbd8_9968_922f_u64 as i64;
    let with = Value::GroupMetadata(GroupMetadata { epoch: 1, metadata_hash });
    assert_eq!(encoded(&with), hex("0000 00000001 01 00 08 989bfbd89968922f"));
    let without = Value::GroupMetadata(GroupMetadata { epoch: 1, metadata_hash: 0 });
    assert_eq!(encoded(&without), hex("0000 00000001 00"));
}

/// Topics with names of 12 characters, racks of 10.
fn full_map(topics: usize, partitions: i32, racks: usize) -> Vec<TopicMetadata> {
    let racks: Vec<JString> = (0..racks).map(|rack| format!("rack-{rack:05}").into()).collect();
    let with_racks = if racks.is_empty() { 0..0 } else { 0..partitions };
    let partition_metadata: Vec<_> =
        with_racks.map(|partition| PartitionMetadata { partition, racks: racks.clone() }).collect();
    let topic = |number| TopicMetadata {
        topic_id: Uuid::from_halves(1, number as u64),
        topic_name: format!("topic-{number:06}").into(),
        num_partitions: partitions,
        partition_metadata: partition_metadata.clone(),
    };
    (0..topics).map(topic).collect()
}

#[test]
fn sizes_of_the_full_map() {
    // Kafka 3.9.1; without racks also 4.0.0.
    for (topics, partitions, expected) in [
        (1, 1, [39, 56, 78]),
        (1, 100, [39, 1_739, 3_939]),
        (1, 1_000, [39, 17_040, 39_040]),
        (1, 2_000, [39, 34_040, 78_040]),
        (100, 20, [3_504, 37_504, 81_504]),
        (100, 100, [3_504, 173_504, 393_504]),
        (1_000, 10, [35_005, 205_005, 425_005]),
    ] {
        for (racks, expected) in [0, 1, 3].into_iter().zip(expected) {
            let map = full_map(topics, partitions, racks);
            let entries_bytes = map.iter().map(TopicMetadata::encoded_len).sum();
            assert_eq!(map_value_len(topics, entries_bytes), expected, "{topics} {partitions} {racks}");
            assert_eq!(encoded(&Value::PartitionMetadata(Arc::new(map))).len(), expected);
        }
    }
    assert_eq!(encoded(&Value::PartitionMetadata(Arc::default())), hex("0000 01 00"));
}

#[test]
fn topic_hashes() {
    // In no Kafka; the layout is ours.
    let topics =
        vec![TopicHash { topic_name: "bar".into(), hash: 1 }, TopicHash { topic_name: "größe".into(), hash: -2 }];
    let entries_bytes = topics.iter().map(TopicHash::encoded_len).sum();
    let bytes = encoded(&Value::TopicHashes(Arc::new(topics)));
    let bar = "04 626172 0000000000000001 00";
    let size = "08 6772c3b6c39f65 fffffffffffffffe 00";
    assert_eq!(bytes, hex(&format!("0000 03 {bar} {size} 00")));
    assert_eq!(map_value_len(2, entries_bytes), bytes.len());
}

#[test]
fn what_no_trace_has_round_trips() {
    // Generated classes of Kafka 4.4.0: every tagged field, a user endpoint, client tags, a whole topology.
    let group = "0011 0001 67";
    for (key, value) in [
        (group, "0000 00000007 fffffffffffffffe 04 00 04 00000003 01 06 02 026b 0276 00 02 04 00000004 03 04 fffffffe"),
        (group, "0000 00000007 fffffffffffffffe 01 03 04 00000005"),
        (
            "0013 0001 67 0001 6d",
            "0000 0269 0272 0263 032f68 000493e0 00000001 0270 01 05686f7374 ffff 00 02 057a6f6e65 0261 00 00",
        ),
        (
            "0016 0001 67 0001 6d",
            "0000 00000002 00000001 01 02 0273 03 00000000 00000001 01 00 09 03 00000001 00000002 01 02 0274 02 00000004 00 \
             01 01 01 00",
        ),
        (
            "0017 0001 67",
            "0000 00000002 02 0273 03 04666f6f 04626172 02 04782e2a 02 03636c 00000000 0000 01 00 02 0573696e6b \
             02 04726570 00000003 0002 02 03636b 036376 00 00 02 03 0000 0001 02 0000 02 0000 00 00 00",
        ),
    ] {
        let value = hex(value);
        check_round_trip(&hex(key), Some(&value));
        for len in 0..value.len() {
            assert!(Record::decode(&hex(key), Some(&value[..len])).is_err(), "{len} bytes of {key}");
        }
    }
}

#[test]
fn an_epoch_that_is_left_out_is_none() {
    // Kafka 4.4.0; before 4.3 no epoch is ever there.
    let value = hex("0000 00000007 fffffffffffffffe 01 03 04 00000000");
    let Value::StreamsGroupMetadata(group) = Record::decode(&hex("0011 0001 67"), Some(&value)).unwrap().value.unwrap()
    else {
        panic!("another value");
    };
    assert_eq!((group.validated_topology_epoch, group.stored_description_topology_epoch), (-1, -1));
    assert_eq!(group.failed_description_topology_epoch, 0);
}

#[test]
fn type_numbers() {
    for (record_type, number) in RecordType::ALL.into_iter().zip(3..=23) {
        assert_eq!(record_type as i16, number);
        assert_eq!(RecordType::from_i16(number), Some(record_type));
    }
    for other in [-1, 0, 1, 2, 24, 1024] {
        assert_eq!(RecordType::from_i16(other), None);
    }
}

fn problem(key: &str, value: &str) -> DecodeProblem {
    Record::decode(&hex(key), Some(&hex(value))).unwrap_err().problem
}

#[test]
fn what_is_unknown_is_refused() {
    let error = Record::decode(&hex("0003 0001 67"), Some(&hex("0000 00000001 01 01 00"))).unwrap_err();
    assert_eq!(error.to_string(), "ConsumerGroupMetadata value: byte 7: tagged field 1 is not known");
    let error = Record::decode(&hex("0002 0001 67"), None).unwrap_err();
    let none = "key: record type 2, which is none of consumer, share and streams groups (3 to 23)";
    assert_eq!(error.to_string(), none);
    assert_eq!(problem("0003 0001 67", "0001 00000001 00"), DecodeProblem::Version(1));
    assert_eq!(problem("0003 0001 67", "0000 00000001 00 00"), DecodeProblem::TrailingBytes(1));
    assert_eq!(problem("0003 0001 67 00", "0000 00000001 00"), DecodeProblem::TrailingBytes(1));
    let shorter = DecodeProblem::TagLength { position: 9, tag: 0, stated: 7, read: 8 };
    assert_eq!(problem("0003 0001 67", "0000 00000001 01 00 07 0000000000000001"), shorter);
    let second = DecodeProblem::Tag { position: 17, tag: 5 };
    assert_eq!(problem("0003 0001 67", "0000 00000001 02 00 08 0000000000000001 05 00"), second);
    let twice = DecodeProblem::TagOrder { position: 17, tag: 0 };
    assert_eq!(problem("0003 0001 67", "0000 00000001 02 00 08 0000000000000001 00 00"), twice);
    let order = DecodeProblem::TagOrder { position: 21, tag: 0 };
    assert_eq!(problem("0011 0001 67", "0000 00000001 0000000000000000 02 02 04 00000001 00 04 00000001"), order);
    let presence = WireError { position: 18, problem: WireProblem::Presence(2) };
    let member = "0000 00 00 0263 0263 00000001 00000001 0270 02";
    assert_eq!(problem("0013 0001 67 0001 6d", member), DecodeProblem::Field(presence));
    // Members of the classic protocol, and one with another tag.
    let member = "0000 00 00 0263 0263 01 01 00000001 00";
    let classic = DecodeProblem::ClassicMember { position: 15 };
    assert_eq!(problem("0005 0001 67 0001 6d", &format!("{member} 00")), classic);
    let metadata = "01 00 07 01 0000afc8 01 00";
    assert_eq!(problem("0005 0001 67 0001 6d", &format!("{member} {metadata}")), classic);
    let other = DecodeProblem::Tag { position: 16, tag: 1 };
    assert_eq!(problem("0005 0001 67 0001 6d", &format!("{member} 01 01 00")), other);
    // Arrays that end too early; a length that cannot be costs no memory.
    let end =
        |position, needed| DecodeProblem::Field(WireError { position, problem: WireProblem::End { needed, left: 0 } });
    assert_eq!(problem("0004 0001 67", "0000 ff"), end(3, 1));
    assert_eq!(problem("0004 0001 67", "0000 ffffffff0f"), end(7, 16));
}

#[test]
fn every_truncation_is_told() {
    // 4.3.1: a member with owned and with revoked partitions and their assignment epochs.
    let key = hex("0008 0001 67 0003 6d2d31");
    let value = hex("0000 00000002 00000002 01 02 2d2d2d666f6f2d746f7069632d303030 03 0000000000000001 01 00 09 03 \
                     0000000200000002 02 2d2d2d6261722d746f7069632d303030 02 00000001 01 00 05 02 00000002 00");
    check_round_trip(&key, Some(&value));
    for len in 0..value.len() {
        assert!(Record::decode(&key, Some(&value[..len])).is_err(), "{len} bytes");
    }
    for len in 0..key.len() {
        assert!(Record::decode(&key[..len], None).is_err(), "{len} bytes");
    }
}
