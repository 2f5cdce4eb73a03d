//! Reads the changes of a metadata event, and checks that they can be applied.

use super::Names;
use super::diagnostic::Errors;
use super::json::{self, Node, Object};
use crate::cluster::Change;
use crate::kafka::Uuid;

const REPLICAS: &str = "a list of one list of broker ids a partition";

/// The changes of an event. `names` is what there is before it and becomes what there is after it.
pub fn changes(event: &Object<'_>, names: &mut Option<Names>, errors: &mut Errors) -> Vec<Change> {
    let Some(value) = event.need("changes", "a list of changes", errors) else {
        *names = None;
        return Vec::new();
    };
    json::list("changes", value, "a list of changes", errors, |path, value, errors| {
        let before = errors.count();
        let change = Object::nested(path, value, errors).and_then(|object| read(&object, errors));
        if errors.count() > before {
            *names = None;
            return None;
        }
        let change = change?;
        if let Some(names) = names
            && let Err((field, message)) = names.apply(&change)
        {
            errors.add(format!("{path}.{field}"), message);
        }
        Some(change)
    })
}

fn read(object: &Object<'_>, errors: &mut Errors) -> Option<Change> {
    let op = object.text("op", errors);
    Some(match op.as_str() {
        "broker" => {
            object.only(&["op", "id", "rack"], errors);
            Change::RegisterBroker { id: object.int32("id", errors), rack: object.text_or_null("rack", errors) }
        }
        "broker_gone" => {
            object.only(&["op", "id"], errors);
            Change::UnregisterBroker { id: object.int32("id", errors) }
        }
        "topic" => {
            object.only(&["op", "name", "id", "replicas"], errors);
            let name = object.text("name", errors);
            Change::CreateTopic { name, id: topic_id(object, "id", errors), replicas: replicas(object, errors) }
        }
        "partitions" => {
            object.only(&["op", "topic", "replicas"], errors);
            Change::AddPartitions { topic: object.text("topic", errors), replicas: replicas(object, errors) }
        }
        "partition" => {
            object.only(&["op", "topic", "partition", "replicas", "isr", "leader", "elr"], errors);
            Change::ChangePartition {
                topic: object.text("topic", errors),
                partition: object.int32("partition", errors),
                replicas: object.int32s_or_absent("replicas", errors),
                isr: object.int32s_or_absent("isr", errors),
                leader: object.int32_or_absent("leader", errors),
                elr: object.int32s_or_absent("elr", errors),
            }
        }
        "delete_topic" => {
            object.only(&["op", "topic"], errors);
            Change::DeleteTopic { topic: object.text("topic", errors) }
        }
        other => {
            if let Some(Node::Text(_)) = object.get("op") {
                let known = "broker, broker_gone, topic, partitions, partition or delete_topic";
                errors.add(object.path("op"), format!("unknown word {other:?}: must be {known}"));
            }
            return None;
        }
    })
}

fn replicas(object: &Object<'_>, errors: &mut Errors) -> Vec<Vec<i32>> {
    let Some(value) = object.need("replicas", REPLICAS, errors) else {
        return Vec::new();
    };
    json::list(&object.path("replicas"), value, REPLICAS, errors, |path, value, errors| {
        Some(json::int32s(path, value, errors))
    })
}

/// A topic id, in Kafka's text form.
pub fn topic_id(object: &Object<'_>, name: &str, errors: &mut Errors) -> Uuid {
    let before = errors.count();
    let text = object.text(name, errors);
    if errors.count() > before {
        return Uuid::default();
    }
    text.parse().unwrap_or_else(|_| {
        errors.add(
            object.path(name),
            format!("{text:?} is not a topic id: must be 22 characters of URL-safe base64 (16 bytes, no padding)"),
        );
        Uuid::default()
    })
}
