//! Records without the orders that come from hash maps.

use super::undecoded;
use crate::kafka::JString;
use crate::kafka::records::{Key, Record, TopicHash, TopicMetadata, TopicPartitions, Value as RecordValue};
use crate::kafka::records::{share, streams};
use crate::trace::outcome::RawRecord;
use serde_json::{Value, json};

/// A record without the orders that come from hash maps. Its size stays: equal content must take equally many bytes.
pub(super) fn canonical(record: &RawRecord) -> Value {
    match Record::decode(&record.key, record.value.as_deref()) {
        Ok(decoded) if decoded.key.record_type.name() == record.record_type => json!({
            "type": record.record_type,
            "key": key(&decoded.key),
            "value": decoded.value.as_ref().map(value),
            "bytes": [Some(record.key.len()), record.value.as_ref().map(Vec::len)],
        }),
        Ok(decoded) => {
            let mut shown = undecoded(record);
            shown["undecodable"] = json!(format!("the key is of a {}", decoded.key.record_type.name()));
            shown
        }
        Err(error) => {
            let mut shown = undecoded(record);
            shown["undecodable"] = json!(error.to_string());
            shown
        }
    }
}

fn key(key: &Key) -> Value {
    match &key.member {
        None => json!({"group": text(&key.group)}),
        Some(member) => json!({"group": text(&key.group), "member": text(member)}),
    }
}

fn value(value: &RecordValue) -> Value {
    match value {
        RecordValue::GroupMetadata(group) => {
            json!({"epoch": group.epoch, "metadata_hash": group.metadata_hash})
        }
        RecordValue::PartitionMetadata(topics) => sorted(topics.iter().map(topic_metadata)),
        RecordValue::TopicHashes(topics) => sorted(topics.iter().map(topic_hash)),
        RecordValue::MemberMetadata(member) => json!({
            "instance_id": member.instance_id.as_ref().map(text),
            "rack_id": member.rack_id.as_ref().map(text),
            "client_id": text(&member.client_id),
            "client_host": text(&member.client_host),
            "subscribed_topic_names": texts(&member.subscribed_topic_names),
            "subscribed_topic_regex": member.subscribed_topic_regex.as_ref().map(text),
            "rebalance_timeout_ms": member.rebalance_timeout_ms,
            "server_assignor": member.server_assignor.as_ref().map(text),
        }),
        RecordValue::TargetAssignmentMetadata(target) => json!({
            "assignment_epoch": target.assignment_epoch,
            "assignment_timestamp_ms": target.assignment_timestamp_ms,
        }),
        RecordValue::TargetAssignmentMember(topics) => topic_partitions(topics),
        RecordValue::CurrentMemberAssignment(current) => json!({
            "member_epoch": current.member_epoch,
            "previous_member_epoch": current.previous_member_epoch,
            "state": current.state,
            "assigned_partitions": topic_partitions(&current.assigned_partitions),
            "partitions_pending_revocation": topic_partitions(&current.partitions_pending_revocation),
        }),
        RecordValue::RegularExpression(regex) => json!({
            "topics": texts(&regex.topics),
            "version": regex.version,
            "timestamp_ms": regex.timestamp_ms,
        }),
        RecordValue::ShareGroupMetadata(group) => {
            json!({"epoch": group.epoch, "metadata_hash": group.metadata_hash})
        }
        RecordValue::ShareMemberMetadata(member) => json!({
            "rack_id": member.rack_id.as_ref().map(text),
            "client_id": text(&member.client_id),
            "client_host": text(&member.client_host),
            "subscribed_topic_names": texts(&member.subscribed_topic_names),
        }),
        RecordValue::ShareCurrentMemberAssignment(current) => json!({
            "member_epoch": current.member_epoch,
            "previous_member_epoch": current.previous_member_epoch,
            "state": current.state,
            "assigned_partitions": topic_partitions(&current.assigned_partitions),
        }),
        RecordValue::ShareStatePartitionMetadata(state) => share_state(state),
        RecordValue::StreamsGroupMetadata(group) => json!({
            "epoch": group.epoch,
            "metadata_hash": group.metadata_hash,
            "validated_topology_epoch": group.validated_topology_epoch,
            "last_assignment_configs": key_values(&group.last_assignment_configs),
            "stored_description_topology_epoch": group.stored_description_topology_epoch,
            "failed_description_topology_epoch": group.failed_description_topology_epoch,
        }),
        RecordValue::StreamsMemberMetadata(member) => json!({
            "instance_id": member.instance_id.as_ref().map(text),
            "rack_id": member.rack_id.as_ref().map(text),
            "client_id": text(&member.client_id),
            "client_host": text(&member.client_host),
            "rebalance_timeout_ms": member.rebalance_timeout_ms,
            "topology_epoch": member.topology_epoch,
            "process_id": text(&member.process_id),
            "user_endpoint": member.user_endpoint.as_ref().map(|endpoint| json!([text(&endpoint.host), endpoint.port])),
            "client_tags": key_values(&member.client_tags),
        }),
        RecordValue::StreamsTargetAssignmentMember(target) => json!({
            "active_tasks": tasks(&target.active_tasks),
            "standby_tasks": tasks(&target.standby_tasks),
            "warmup_tasks": tasks(&target.warmup_tasks),
        }),
        RecordValue::StreamsCurrentMemberAssignment(current) => json!({
            "member_epoch": current.member_epoch,
            "previous_member_epoch": current.previous_member_epoch,
            "state": current.state,
            "active_tasks": tasks(&current.active_tasks),
            "standby_tasks": tasks(&current.standby_tasks),
            "warmup_tasks": tasks(&current.warmup_tasks),
            "active_tasks_pending_revocation": tasks(&current.active_tasks_pending_revocation),
            "standby_tasks_pending_revocation": tasks(&current.standby_tasks_pending_revocation),
            "warmup_tasks_pending_revocation": tasks(&current.warmup_tasks_pending_revocation),
        }),
        RecordValue::StreamsTopology(topology) => json!({
            "epoch": topology.epoch,
            "subtopologies": topology.subtopologies.iter().map(subtopology).collect::<Vec<_>>(),
        }),
    }
}

fn topic_metadata(topic: &TopicMetadata) -> Value {
    let racks = topic.partition_metadata.iter();
    json!({
        "topic_id": topic.topic_id.to_string(),
        "topic_name": text(&topic.topic_name),
        "num_partitions": topic.num_partitions,
        "partition_metadata": sorted(racks.map(|of| json!({"partition": of.partition, "racks": texts(&of.racks)}))),
    })
}

fn topic_hash(topic: &TopicHash) -> Value {
    json!({"topic_name": text(&topic.topic_name), "hash": topic.hash})
}

fn share_state(state: &share::StatePartitionMetadata) -> Value {
    let partitions = |topics: &[share::TopicPartitionsInfo]| {
        sorted(topics.iter().map(|topic| {
            let mut partitions = topic.partitions.clone();
            partitions.sort_unstable();
            json!({
                "topic_id": topic.topic_id.to_string(),
                "topic_name": text(&topic.topic_name),
                "partitions": partitions,
            })
        }))
    };
    let topic = |topic: &share::TopicInfo| json!({"topic_id": topic.topic_id.to_string(), "topic_name": text(&topic.topic_name)});
    json!({
        "initializing_topics": partitions(&state.initializing_topics),
        "initialized_topics": partitions(&state.initialized_topics),
        "deleting_topics": sorted(state.deleting_topics.iter().map(topic)),
    })
}

/// Nothing of a topology comes from a hash map.
fn subtopology(subtopology: &streams::Subtopology) -> Value {
    let plain = |names: &[JString]| names.iter().map(|name| text(name).to_owned()).collect::<Vec<_>>();
    let topics = |topics: &[streams::TopicInfo]| {
        let topic = |topic: &streams::TopicInfo| {
            json!({
                "name": text(&topic.name),
                "partitions": topic.partitions,
                "replication_factor": topic.replication_factor,
                "topic_configs": key_values(&topic.topic_configs),
            })
        };
        topics.iter().map(topic).collect::<Vec<_>>()
    };
    let copartitioned = |group: &streams::CopartitionGroup| {
        json!([group.source_topics, group.source_topic_regex, group.repartition_source_topics])
    };
    json!({
        "subtopology_id": text(&subtopology.subtopology_id),
        "source_topics": plain(&subtopology.source_topics),
        "source_topic_regex": plain(&subtopology.source_topic_regex),
        "state_changelog_topics": topics(&subtopology.state_changelog_topics),
        "repartition_sink_topics": plain(&subtopology.repartition_sink_topics),
        "repartition_source_topics": topics(&subtopology.repartition_source_topics),
        "copartition_groups": subtopology.copartition_groups.iter().map(copartitioned).collect::<Vec<_>>(),
    })
}

fn key_values(pairs: &[streams::KeyValue]) -> Value {
    sorted(pairs.iter().map(|pair| json!([text(&pair.key), text(&pair.value)])))
}

fn topic_partitions(topics: &[TopicPartitions]) -> Value {
    sorted(topics.iter().map(|topic| {
        let (partitions, epochs) = with_epochs(&topic.partitions, topic.assignment_epochs.as_deref());
        json!({"topic_id": topic.topic_id.to_string(), "partitions": partitions, "assignment_epochs": epochs})
    }))
}

fn tasks(tasks: &[streams::TaskIds]) -> Value {
    sorted(tasks.iter().map(|task| {
        let (partitions, epochs) = with_epochs(&task.partitions, task.assignment_epochs.as_deref());
        json!({"subtopology_id": text(&task.subtopology_id), "partitions": partitions, "assignment_epochs": epochs})
    }))
}

/// Partitions ascending, each with its assignment epoch (if they have any) beside it.
fn with_epochs(partitions: &[i32], epochs: Option<&[i32]>) -> (Vec<i32>, Option<Vec<i32>>) {
    let mut partitions = partitions.to_vec();
    match epochs {
        Some(epochs) if epochs.len() == partitions.len() => {
            let mut pairs: Vec<(i32, i32)> = partitions.into_iter().zip(epochs.iter().copied()).collect();
            pairs.sort_unstable();
            let (partitions, epochs) = pairs.into_iter().unzip();
            (partitions, Some(epochs))
        }
        // No pairs: shown as they are.
        Some(epochs) => (partitions, Some(epochs.to_vec())),
        None => {
            partitions.sort_unstable();
            (partitions, None)
        }
    }
}

fn text(text: &JString) -> &str {
    text.as_str()
}

fn texts(texts: &[JString]) -> Vec<&str> {
    let mut texts: Vec<&str> = texts.iter().map(JString::as_str).collect();
    texts.sort_unstable();
    texts
}

/// A list by the text of its items.
fn sorted(items: impl Iterator<Item = Value>) -> Value {
    let mut items: Vec<Value> = items.collect();
    items.sort_by_cached_key(Value::to_string);
    Value::Array(items)
}
