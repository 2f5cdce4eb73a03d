//! Comparing outcomes: with each other, with real ones, and real ones with what we write.

use super::*;
use crate::kafka::records::{CurrentMemberAssignment, Key, Record, RecordType, TopicPartitions, Value as RecordValue};
use crate::kafka::{JString, Uuid};
use crate::trace::outcome::{Assignment, Cause, OutcomeLine, read_outcomes};
use std::path::PathBuf;
use std::slice;
use std::sync::Arc;

fn golden(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

fn line(records: &[Record]) -> String {
    let mut out = String::new();
    OutcomeLine {
        i: 0,
        t_ms: 0,
        cause: Cause::Heartbeat,
        error: None,
        member_epoch: Some(1),
        assignment: None,
        group_epoch: Some(1),
        metadata_hash: None,
        records,
    }
    .write(&mut out);
    out
}

/// A current assignment of partitions of topic 1, each with its epoch.
fn current(member: &str, partitions: &[(i32, i32)]) -> Record {
    let topic = TopicPartitions {
        topic_id: Uuid(1),
        partitions: partitions.iter().map(|(partition, _)| *partition).collect(),
        assignment_epochs: Some(partitions.iter().map(|(_, epoch)| *epoch).collect()),
    };
    Record {
        key: Key {
            record_type: RecordType::ConsumerGroupCurrentMemberAssignment,
            group: JString::from("g"),
            member: Some(JString::from(member)),
        },
        value: Some(RecordValue::CurrentMemberAssignment(Arc::new(CurrentMemberAssignment {
            member_epoch: 1,
            previous_member_epoch: 0,
            state: 0,
            assigned_partitions: vec![topic],
            partitions_pending_revocation: Vec::new(),
        }))),
    }
}

fn tombstone(member: &str) -> Record {
    Record { value: None, ..current(member, &[]) }
}

/// How many lines differ on the levels exact, canonical, sizes, protocol.
fn differing(expected: &str, actual: &str) -> [usize; 4] {
    [Level::Exact, Level::Canonical, Level::Sizes, Level::Protocol]
        .map(|level| compare(expected, actual, level).expect("reads").differing)
}

#[test]
fn orders_of_hash_maps_do_not_count() {
    let one = current("a", &[(0, 5), (1, 7)]);
    let turned = current("a", &[(1, 7), (0, 5)]);
    assert_eq!(differing(&line(slice::from_ref(&one)), &line(slice::from_ref(&turned))), [1, 0, 0, 0]);
    // Epochs stay with their partitions.
    assert_eq!(differing(&line(slice::from_ref(&one)), &line(&[current("a", &[(0, 7), (1, 5)])])), [1, 1, 0, 0]);
    let other = current("b", &[]);
    assert_eq!(differing(&line(&[one.clone(), other.clone()]), &line(&[other, turned])), [1, 0, 0, 0]);
    // Which of two records of one key is the last one is no accident.
    assert_eq!(differing(&line(&[one.clone(), tombstone("a")]), &line(&[tombstone("a"), one])), [1, 1, 0, 0]);
}

#[test]
fn what_each_level_sees() {
    let expected = line(&[current("a", &[(0, 5)])]);
    let with = |from: &str, to: &str| {
        assert!(expected.contains(from));
        differing(&expected, &expected.replacen(from, to, 1))
    };
    assert_eq!(with("\"error\":null", "\"error\":\"X\""), [1, 1, 1, 1]);
    assert_eq!(with("\"member_epoch\":1", "\"member_epoch\":2"), [1, 1, 1, 1]);
    assert_eq!(with("\"assignment\":null", "\"assignment\":[]"), [1, 1, 0, 1]);
    assert_eq!(with("\"group_epoch\":1", "\"group_epoch\":null"), [1, 1, 1, 0]);
    assert_eq!(with("\"metadata_hash\":null", "\"metadata_hash\":0"), [1, 1, 1, 0]);
    assert_eq!(differing(&expected, &line(&[current("a", &[(0, 6)])])), [1, 1, 0, 0]);
    assert_eq!(differing(&expected, &line(&[current("aa", &[(0, 5)])])), [1, 1, 1, 0]);
    assert_eq!(differing(&expected, ""), [1, 1, 1, 1]);
    // Spaces and the order of fields are no difference, as they are none to JSON.
    assert_eq!(with("{\"i\":0,\"t\":0,", "{ \"t\":0, \"i\":0,"), [0, 0, 0, 0]);
}

#[test]
fn differences_are_shown_decoded() {
    let two = |epoch| format!("{}{}", line(&[]), line(&[current("a", &[(0, epoch)]), tombstone("b")]));
    let shown = compare(&two(5), &two(6), Level::Canonical).expect("reads").to_string();
    let record = |epoch| {
        format!(
            "[{{\"bytes\":[8,43],\"key\":{{\"group\":\"g\",\"member\":\"a\"}},\"type\":\"ConsumerGroupCurrentMemberAssignment\",\
             \"value\":{{\"assigned_partitions\":[{{\"assignment_epochs\":[{epoch}],\"partitions\":[0],\
             \"topic_id\":\"AAAAAAAAAAAAAAAAAAAAAQ\"}}],\"member_epoch\":1,\"partitions_pending_revocation\":[],\
             \"previous_member_epoch\":0,\"state\":0}}}},{{\"bytes\":[8,null],\"key\":{{\"group\":\"g\",\"member\":\"b\"}},\
             \"type\":\"ConsumerGroupCurrentMemberAssignment\",\"value\":null}}]"
        )
    };
    let expected =
        format!("line 2\n  records\n    expected {}\n    actual   {}\n2 lines, 1 differ\n", record(5), record(6));
    assert_eq!(shown, expected);
    let many = compare(&line(&[]).repeat(9), "", Level::Protocol).expect("reads");
    assert_eq!((many.lines, many.differing, many.first.len()), (9, 9, SHOWN));
}

#[test]
fn a_line_that_cannot_be_read_is_an_error() {
    let errors = compare(&line(&[]), "{}\n", Level::Sizes).expect_err("is wrong");
    assert_eq!(errors[0].to_string(), "actual:1: i: is missing: must be an integer");
    let record = "\"records\":[{\"type\":\"A\",\"key\":\"00\",\"value\":null}]";
    let unknown = line(&[]).replace("\"records\":[]", record);
    let shown = compare(&line(&[]), &unknown, Level::Canonical).expect("reads").to_string();
    assert!(shown.contains("\"key\":\"00\",\"type\":\"A\",\"undecodable\":\"key: "), "{shown}");
}

/// The counts are those of comparisons with an independent tool, over the same files of real outcomes.
#[test]
fn real_outcomes_of_two_versions() {
    for (name, expected, actual, differ) in COUNTS {
        let (expected, actual) = (golden(&format!("{name}/{expected}")), golden(&format!("{name}/{actual}")));
        assert_eq!(differing(&expected, &actual), *differ, "{name}");
    }
}

/// A trace, two versions, and how many lines differ: exact, canonical, sizes, protocol.
const COUNTS: &[(&str, &str, &str, [usize; 4])] = &[
    ("04-partition-expansion", "3.9.1.jsonl", "4.0.0.jsonl", [3, 3, 3, 0]),
    ("06-reassignment", "4.1.1.jsonl", "4.3.1.jsonl", [6, 6, 6, 6]),
    ("03-three-members-uniform", "4.3.1.jsonl", "4.4.0.jsonl", [1, 1, 1, 0]),
    ("12-static-member", "4.1.1.jsonl", "4.3.1.jsonl", [25, 25, 25, 19]),
    ("16-regex", "4.0.0.jsonl", "4.1.1.jsonl", [40, 40, 40, 0]),
    ("18-share-group", "4.1.1.jsonl", "4.3.1.jsonl", [32, 32, 32, 26]),
    ("20-stale-cache", "4.3.1.jsonl", "recompute/4.3.1.jsonl", [9, 9, 9, 6]),
];

/// What real Kafka wrote, read and written again by us, is the same text, as far as it is of consumer groups.
#[test]
fn real_outcomes_are_written_byte_for_byte() {
    let mut lines = 0;
    for name in ["03-three-members-uniform", "12-static-member", "15-unicode", "16-regex", "17-write-failure"] {
        for version in ["3.9.1", "4.0.0", "4.1.1", "4.3.1", "4.4.0"] {
            if (name, version) == ("16-regex", "3.9.1") {
                continue;
            }
            let text = golden(&format!("{name}/{version}.jsonl"));
            let written: String = read_outcomes(name, &text).expect("reads").iter().map(written).collect();
            assert_eq!(written, text, "{name} {version}");
            lines += text.lines().count();
        }
    }
    assert!(lines > 500, "{lines}");
}

fn written(row: &OutcomeRow) -> String {
    let causes = [Cause::Metadata, Cause::Heartbeat, Cause::Tick, Cause::Failover, Cause::Timer, Cause::Background];
    let assignment = row.assignment.as_ref().map(|text| assignment(text));
    let records: Vec<Record> = row
        .records
        .iter()
        .map(|record| Record::decode(&record.key, record.value.as_deref()).expect("decodes"))
        .collect();
    let mut out = String::new();
    OutcomeLine {
        i: row.i as usize,
        t_ms: row.t_ms,
        cause: *causes.iter().find(|cause| cause.name() == row.cause).expect("a cause"),
        error: row.error.as_deref(),
        member_epoch: row.member_epoch.map(|epoch| epoch as i32),
        assignment: assignment.as_deref().map(Assignment::Partitions),
        group_epoch: row.group_epoch.map(|epoch| epoch as i32),
        metadata_hash: row.metadata_hash,
        records: &records,
    }
    .write(&mut out);
    out
}

/// An assignment of topics, in an order that is not the written one.
fn assignment(text: &str) -> Vec<(Uuid, Vec<i32>)> {
    let list: Vec<Value> = serde_json::from_str(text).expect("a list");
    let topics = list.iter().rev().map(|topic| {
        let id = topic["topic_id"].as_str().expect("an id").parse().expect("an id");
        let partitions = topic["partitions"].as_array().expect("a list");
        (id, partitions.iter().rev().map(|number| number.as_i64().expect("a number") as i32).collect())
    });
    topics.collect()
}
