//! Every type and version of record, as Kafka's classes write it: with every field set that the version has, and with
//! defaults. Written by `MetadataRecordSerde` of 4.4.0; 4.3.1 and 3.9.1 give the same bytes of those that they know.

use super::super::records::{MetadataRecord, decode};
use super::repository;
use serde_json::{Value, json};

fn bytes(hex: &str) -> Vec<u8> {
    let digits = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(digits).collect()
}

/// What we read, with the names of Kafka's JSON; fields that Kafka leaves out where they have their default are null.
fn as_json(record: MetadataRecord) -> Value {
    match record {
        MetadataRecord::RegisterBroker { id, epoch, rack, fenced } => {
            json!({"brokerId": id, "brokerEpoch": epoch, "rack": rack, "fenced": fenced})
        }
        MetadataRecord::UnregisterBroker { id } => json!({"brokerId": id}),
        MetadataRecord::ChangeBroker { id, epoch, fenced } => {
            json!({"brokerId": id, "brokerEpoch": epoch, "fenced": fenced.map(i32::from)})
        }
        MetadataRecord::Topic { name, id } => json!({"name": name, "topicId": id.to_string()}),
        MetadataRecord::Partition { topic_id, partition, replicas, isr, leader, elr } => json!({
            "topicId": topic_id.to_string(), "partitionId": partition, "replicas": replicas, "isr": isr,
            "leader": leader, "eligibleLeaderReplicas": Some(elr).filter(|elr| !elr.is_empty()),
        }),
        MetadataRecord::PartitionChange { topic_id, partition, replicas, isr, leader, elr } => json!({
            "topicId": topic_id.to_string(), "partitionId": partition, "replicas": replicas, "isr": isr,
            "leader": leader, "eligibleLeaderReplicas": elr,
        }),
        MetadataRecord::RemoveTopic { id } => json!({"topicId": id.to_string()}),
        MetadataRecord::ClearElr { topic } => json!({"topicName": topic.unwrap_or_default()}),
        MetadataRecord::FeatureLevel { name, level } => json!({"name": name, "featureLevel": level}),
        _ => json!({}),
    }
}

#[test]
fn all_types_and_versions() {
    let text = std::fs::read_to_string(repository("tests/golden/lab/metadata-records.jsonl")).unwrap();
    let mut compared = 0;
    for line in text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let decoded = decode(&bytes(line["hex"].as_str().unwrap())).unwrap_or_else(|error| panic!("{line}: {error}"));
        assert_eq!((json!(decoded.name), json!(decoded.version)), (line["type"].clone(), line["version"].clone()));
        let ours = as_json(decoded.record.unwrap());
        for (field, value) in ours.as_object().unwrap() {
            // The records that this one replaced say it in other words.
            let theirs = match (line["type"].as_str().unwrap(), field.as_str()) {
                ("FENCE_BROKER_RECORD", "fenced") => &json!(1),
                ("UNFENCE_BROKER_RECORD", "fenced") => &json!(0),
                ("FENCE_BROKER_RECORD" | "UNFENCE_BROKER_RECORD", "brokerId") => &line["data"]["id"],
                ("FENCE_BROKER_RECORD" | "UNFENCE_BROKER_RECORD", "brokerEpoch") => &line["data"]["epoch"],
                _ => &line["data"][field],
            };
            assert_eq!(value, theirs, "{field} of {line}");
            compared += 1;
        }
    }
    assert_eq!((text.lines().count(), compared), (76, 162));
}

/// Cut anywhere, no record is read: the tagged fields at the end have a count of their own.
#[test]
fn cut_anywhere() {
    let text = std::fs::read_to_string(repository("tests/golden/lab/metadata-records.jsonl")).unwrap();
    for line in text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let whole = bytes(line["hex"].as_str().unwrap());
        for end in 0..whole.len() {
            assert!(decode(&whole[..end]).is_err(), "{line} cut at {end}");
        }
    }
}
