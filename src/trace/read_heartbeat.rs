//! Reads a heartbeat event.

use super::diagnostic::Errors;
use super::json::{self, Node, Object};
use super::{
    ConsumerBody, EpochSpec, Heartbeat, HeartbeatBody, Owned, StreamsBody, Subtopology, Tasks, TopicInfo,
    TopicPartitions, Topology, host, read_change,
};

/// The fields that every kind of heartbeat has.
const COMMON: [&str; 10] = ["t", "ev", "kind", "group", "member", "epoch", "rack", "client_id", "client_host", "write"];
const CONSUMER: [&str; 6] = ["topics", "regex", "instance", "assignor", "rebalance_timeout_ms", "owned"];
const SHARE: [&str; 1] = ["topics"];
const STREAMS: [&str; 7] =
    ["instance", "rebalance_timeout_ms", "topology", "process_id", "active", "standby", "warmup"];

/// A heartbeat; `None` if not even its kind is known.
pub fn heartbeat(object: &Object<'_>, errors: &mut Errors) -> Option<Heartbeat> {
    let kind = object.text("kind", errors);
    let own: &[&str] = match kind.as_str() {
        "consumer" => &CONSUMER,
        "share" => &SHARE,
        "streams" => &STREAMS,
        other => {
            if let Some(Node::Text(_)) = object.get("kind") {
                errors.add("kind", format!("unknown word {other:?}: must be consumer, share or streams"));
            }
            return None;
        }
    };
    object.only(&[&COMMON[..], own].concat(), errors);
    let body = match kind.as_str() {
        "consumer" => HeartbeatBody::Consumer(consumer(object, errors)),
        "share" => HeartbeatBody::Share(topics(object, errors)),
        _ => HeartbeatBody::Streams(streams(object, errors)),
    };
    Some(Heartbeat {
        group: object.text("group", errors),
        member: object.text("member", errors),
        epoch: epoch(object, errors),
        rack: object.text_or_null("rack", errors),
        client_id: object.text_or_absent("client_id", errors),
        client_host: client_host(object, errors),
        write_fails: write_fails(object, errors),
        body,
    })
}

fn epoch(object: &Object<'_>, errors: &mut Errors) -> EpochSpec {
    const EXPECTED: &str = "an integer of 32 bits or \"last\"";
    match object.need("epoch", EXPECTED, errors) {
        Some(Node::Text(word)) if word == "last" => return EpochSpec::Last,
        Some(Node::Int(number)) if i32::try_from(*number).is_ok() => {
            return EpochSpec::Number(*number as i32);
        }
        Some(other) => errors.add("epoch", format!("must be {EXPECTED}, not {}", json::shown(other))),
        None => {}
    }
    EpochSpec::Last
}

fn client_host(object: &Object<'_>, errors: &mut Errors) -> Option<String> {
    let before = errors.count();
    let text = object.text_or_absent("client_host", errors)?;
    let host = host::normalised(&text);
    if host.is_none() && errors.count() == before {
        errors.add("client_host", format!("{}, not {text:?}", host::EXPECTED));
    }
    host
}

fn write_fails(object: &Object<'_>, errors: &mut Errors) -> bool {
    match object.get("write") {
        None => false,
        Some(Node::Text(word)) if word == "fail" => true,
        Some(other) => {
            errors.add("write", format!("must be \"fail\" or absent, not {}", json::shown(other)));
            false
        }
    }
}

fn topics(object: &Object<'_>, errors: &mut Errors) -> Option<Vec<String>> {
    match object.get("topics") {
        None | Some(Node::Null) => None,
        Some(value) => Some(json::texts("topics", value, errors)),
    }
}

fn consumer(object: &Object<'_>, errors: &mut Errors) -> ConsumerBody {
    ConsumerBody {
        topics: topics(object, errors),
        regex: object.text_or_null("regex", errors),
        instance: object.text_or_null("instance", errors),
        assignor: object.text_or_null("assignor", errors),
        rebalance_timeout_ms: object.int32_or_absent("rebalance_timeout_ms", errors),
        owned: owned(object, "owned", errors, |item, errors| {
            item.only(&["topic_id", "partitions"], errors);
            let topic_id = read_change::topic_id(item, "topic_id", errors);
            TopicPartitions { topic_id, partitions: item.int32s("partitions", errors) }
        }),
    }
}

fn streams(object: &Object<'_>, errors: &mut Errors) -> StreamsBody {
    let mut tasks = |name| {
        owned(object, name, errors, |item, errors| {
            item.only(&["subtopology", "partitions"], errors);
            Tasks { subtopology: item.text("subtopology", errors), partitions: item.int32s("partitions", errors) }
        })
    };
    let (active, standby, warmup) = (tasks("active"), tasks("standby"), tasks("warmup"));
    StreamsBody {
        instance: object.text_or_null("instance", errors),
        rebalance_timeout_ms: object.int32_or_absent("rebalance_timeout_ms", errors),
        topology: object.get("topology").and_then(|value| topology(value, errors)),
        process_id: object.text_or_null("process_id", errors),
        active,
        standby,
        warmup,
    }
}

fn owned<T>(
    object: &Object<'_>,
    name: &str,
    errors: &mut Errors,
    mut item: impl FnMut(&Object<'_>, &mut Errors) -> T,
) -> Owned<T> {
    match object.get(name) {
        None => Owned::Absent,
        Some(Node::Text(word)) if word == "last" => Owned::Last,
        Some(value) => Owned::List(json::list(name, value, "a list or \"last\"", errors, |path, value, errors| {
            Object::nested(path, value, errors).map(|object| item(&object, errors))
        })),
    }
}

fn topology(value: &Node, errors: &mut Errors) -> Option<Topology> {
    let object = Object::nested("topology", value, errors)?;
    object.only(&["epoch", "subtopologies"], errors);
    let epoch = object.int32("epoch", errors);
    let list = object.need("subtopologies", "a list of subtopologies", errors)?;
    let subtopologies =
        json::list(&object.path("subtopologies"), list, "a list of subtopologies", errors, |path, value, errors| {
            Object::nested(path, value, errors).map(|object| subtopology(&object, errors))
        });
    Some(Topology { epoch, subtopologies })
}

fn subtopology(object: &Object<'_>, errors: &mut Errors) -> Subtopology {
    object.only(&["id", "sources", "repartition_sinks", "state_changelogs", "repartition_sources"], errors);
    let names =
        |name: &str, errors: &mut Errors| object.get(name).map(|value| json::texts(&object.path(name), value, errors));
    let infos = |name: &str, errors: &mut Errors| {
        let value = object.get(name)?;
        Some(json::list(&object.path(name), value, "a list of topics", errors, |path, value, errors| {
            let object = Object::nested(path, value, errors)?;
            object.only(&["name", "partitions"], errors);
            let name = object.text("name", errors);
            Some(TopicInfo { name, partitions: object.int32_or_absent("partitions", errors) })
        }))
    };
    Subtopology {
        id: object.text("id", errors),
        sources: names("sources", errors),
        repartition_sinks: names("repartition_sinks", errors),
        state_changelogs: infos("state_changelogs", errors),
        repartition_sources: infos("repartition_sources", errors),
    }
}
