//! The requests that the heartbeats of a trace stand for.

use super::{
    ConsumerBody, EpochSpec, Heartbeat, HeartbeatBody, Owned, Sent, StreamsBody, Subtopology, Tasks, TopicInfo,
    Topology,
};
use crate::coordinator::protocol::{ConsumerHeartbeat, HeartbeatRequest, ShareHeartbeat, StreamsHeartbeat, TaskLists};
use crate::kafka::JString;
use crate::kafka::records::streams;
use std::sync::Arc;

/// The request of a heartbeat, without what the member last heard.
pub(super) fn request(heartbeat: &Heartbeat) -> HeartbeatRequest {
    match &heartbeat.body {
        HeartbeatBody::Consumer(body) => HeartbeatRequest::Consumer(consumer(heartbeat, body)),
        HeartbeatBody::Share(topics) => HeartbeatRequest::Share(share(heartbeat, topics.as_deref())),
        HeartbeatBody::Streams(body) => HeartbeatRequest::Streams(Box::new(streams(heartbeat, body))),
    }
}

fn consumer(heartbeat: &Heartbeat, body: &ConsumerBody) -> ConsumerHeartbeat {
    ConsumerHeartbeat {
        group: JString::from(heartbeat.group.as_str()),
        member: JString::from(heartbeat.member.as_str()),
        epoch: epoch(heartbeat),
        instance_id: shared(&body.instance),
        rack: shared(&heartbeat.rack),
        rebalance_timeout_ms: heartbeat.rebalance_timeout_ms(),
        topics: body.topics.as_deref().map(shared_list),
        regex: shared(&body.regex),
        assignor: shared(&body.assignor),
        owned: match heartbeat.sent(&body.owned) {
            Sent::List(list) => Some(list.iter().map(|t| (t.topic_id, t.partitions.clone())).collect()),
            Sent::Nothing | Sent::Last => None,
        },
        client_id: JString::from(heartbeat.client_id()),
        client_host: JString::from(heartbeat.client_host()),
    }
}

fn share(heartbeat: &Heartbeat, topics: Option<&[String]>) -> ShareHeartbeat {
    ShareHeartbeat {
        group: JString::from(heartbeat.group.as_str()),
        member: JString::from(heartbeat.member.as_str()),
        epoch: epoch(heartbeat),
        rack: shared(&heartbeat.rack),
        topics: topics.map(shared_list),
        client_id: JString::from(heartbeat.client_id()),
        client_host: JString::from(heartbeat.client_host()),
    }
}

fn streams(heartbeat: &Heartbeat, body: &StreamsBody) -> StreamsHeartbeat {
    let tasks = |owned: &Owned<Tasks>| -> Option<TaskLists> {
        match heartbeat.sent(owned) {
            Sent::List(list) => {
                Some(list.iter().map(|t| (t.subtopology.as_str().into(), t.partitions.clone())).collect())
            }
            Sent::Nothing | Sent::Last => None,
        }
    };
    StreamsHeartbeat {
        group: JString::from(heartbeat.group.as_str()),
        member: JString::from(heartbeat.member.as_str()),
        epoch: epoch(heartbeat),
        instance_id: shared(&body.instance),
        rack: shared(&heartbeat.rack),
        rebalance_timeout_ms: heartbeat.rebalance_timeout_ms(),
        topology: body.topology.as_ref().map(|topology| Arc::new(topology_record(topology))),
        process_id: shared(&body.process_id),
        active: tasks(&body.active),
        standby: tasks(&body.standby),
        warmup: tasks(&body.warmup),
        client_id: JString::from(heartbeat.client_id()),
        client_host: JString::from(heartbeat.client_host()),
    }
}

fn topology_record(topology: &Topology) -> streams::Topology {
    let names = |names: &Option<Vec<String>>| names.iter().flatten().map(|name| name.as_str().into()).collect();
    let infos = |topics: &Option<Vec<TopicInfo>>| {
        let info = |topic: &TopicInfo| streams::TopicInfo {
            name: topic.name.as_str().into(),
            partitions: topic.partitions.unwrap_or(0),
            replication_factor: 0,
            topic_configs: Vec::new(),
        };
        topics.iter().flatten().map(info).collect()
    };
    let subtopology = |s: &Subtopology| streams::Subtopology {
        subtopology_id: s.id.as_str().into(),
        source_topics: names(&s.sources),
        source_topic_regex: Vec::new(),
        state_changelog_topics: infos(&s.state_changelogs),
        repartition_sink_topics: names(&s.repartition_sinks),
        repartition_source_topics: infos(&s.repartition_sources),
        copartition_groups: Vec::new(),
    };
    streams::Topology { epoch: topology.epoch, subtopologies: topology.subtopologies.iter().map(subtopology).collect() }
}

/// The epoch that a heartbeat says; 0 where it is the last one heard, which is filled in later.
fn epoch(heartbeat: &Heartbeat) -> i32 {
    match heartbeat.epoch {
        EpochSpec::Number(epoch) => epoch,
        EpochSpec::Last => 0,
    }
}

fn shared(text: &Option<String>) -> Option<JString> {
    text.as_deref().map(JString::from)
}

fn shared_list(texts: &[String]) -> Vec<JString> {
    texts.iter().map(|text| JString::from(text.as_str())).collect()
}
