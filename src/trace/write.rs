//! Writes a trace as text, every field that is set and none that is not, in one fixed order.

use super::{
    ConfigValue, EpochSpec, EventKind, Heartbeat, HeartbeatBody, Owned, StreamsBody, Subtopology, Tasks, TopicInfo,
    TopicPartitions, Topology, Trace,
};
use crate::cluster::Change;
use std::fmt::Write;

impl Trace {
    /// The text of the trace. Reading it again gives an equal trace (if the lines of the events are those of the
    /// text). [`Change::FenceBroker`] has no place in the format and changes no topic: it is left out.
    pub fn write(&self) -> String {
        let mut out = Json::default();
        out.object(|out| {
            out.int("trace", 1);
            out.int("start_unix_ms", self.start_unix_ms);
            out.field("config");
            out.object(|out| self.config.iter().for_each(|(name, value)| out.config(name, value)));
        });
        out.text.push('\n');
        for event in &self.events {
            out.object(|out| {
                out.int("t", event.t_ms);
                match &event.kind {
                    EventKind::Metadata(changes) => {
                        out.string("ev", "metadata");
                        out.field("changes");
                        let written = changes.iter().filter(|change| !matches!(change, Change::FenceBroker { .. }));
                        out.list(written, |out, change| out.object(|out| out.change(change)));
                    }
                    EventKind::Heartbeat(heartbeat) => out.heartbeat(heartbeat),
                    EventKind::Tick => out.string("ev", "tick"),
                    EventKind::Failover => out.string("ev", "failover"),
                }
            });
            out.text.push('\n');
        }
        out.text
    }
}

/// Text of JSON without spaces.
#[derive(Default)]
struct Json {
    text: String,
    /// Whether the next field or item is the first of its object or list.
    first: bool,
}

impl Json {
    fn object(&mut self, fields: impl FnOnce(&mut Self)) {
        self.text.push('{');
        self.first = true;
        fields(self);
        self.text.push('}');
        self.first = false;
    }

    fn list<T>(&mut self, items: impl IntoIterator<Item = T>, mut item: impl FnMut(&mut Self, T)) {
        self.text.push('[');
        self.first = true;
        for value in items {
            self.separate();
            item(self, value);
        }
        self.text.push(']');
        self.first = false;
    }

    fn separate(&mut self) {
        if !std::mem::replace(&mut self.first, false) {
            self.text.push(',');
        }
    }

    fn quoted(&mut self, text: &str) {
        self.text.push_str(&serde_json::Value::from(text).to_string());
    }

    fn field(&mut self, name: &str) {
        self.separate();
        self.quoted(name);
        self.text.push(':');
    }

    fn raw(&mut self, value: impl std::fmt::Display) {
        write!(self.text, "{value}").expect("writing to a String cannot fail");
    }

    fn int(&mut self, name: &str, value: i64) {
        self.field(name);
        self.raw(value);
    }

    fn string(&mut self, name: &str, value: &str) {
        self.field(name);
        self.quoted(value);
    }

    fn ints(&mut self, name: &str, values: &[i32]) {
        self.field(name);
        self.list(values, |out, value| out.raw(value));
    }

    fn strings(&mut self, name: &str, values: &[String]) {
        self.field(name);
        self.list(values, |out, value| out.quoted(value));
    }

    fn optional_string(&mut self, name: &str, value: Option<&String>) {
        if let Some(value) = value {
            self.string(name, value);
        }
    }

    fn optional_int(&mut self, name: &str, value: Option<i32>) {
        if let Some(value) = value {
            self.int(name, i64::from(value));
        }
    }

    fn optional_ints(&mut self, name: &str, values: Option<&Vec<i32>>) {
        if let Some(values) = values {
            self.ints(name, values);
        }
    }

    fn optional_strings(&mut self, name: &str, values: Option<&Vec<String>>) {
        if let Some(values) = values {
            self.strings(name, values);
        }
    }

    fn config(&mut self, name: &str, value: &ConfigValue) {
        self.field(name);
        match value {
            ConfigValue::Int(value) => self.raw(value),
            // JSON has no other numbers than finite ones.
            ConfigValue::Float(value) => self.raw(serde_json::Value::from(*value)),
            ConfigValue::Bool(value) => self.raw(value),
            ConfigValue::Text(value) => self.quoted(value),
        }
    }

    fn replicas(&mut self, replicas: &[Vec<i32>]) {
        self.field("replicas");
        self.list(replicas, |out, replicas| out.list(replicas, |out, id| out.raw(id)));
    }

    fn change(&mut self, change: &Change) {
        let op = match change {
            Change::RegisterBroker { .. } => "broker",
            Change::UnregisterBroker { .. } => "broker_gone",
            Change::FenceBroker { .. } => "",
            Change::CreateTopic { .. } => "topic",
            Change::AddPartitions { .. } => "partitions",
            Change::ChangePartition { .. } => "partition",
            Change::DeleteTopic { .. } => "delete_topic",
        };
        self.string("op", op);
        match change {
            Change::RegisterBroker { id, rack } => {
                self.int("id", i64::from(*id));
                self.field("rack");
                match rack {
                    Some(rack) => self.quoted(rack),
                    None => self.text.push_str("null"),
                }
            }
            Change::UnregisterBroker { id } | Change::FenceBroker { id, .. } => self.int("id", i64::from(*id)),
            Change::CreateTopic { name, id, replicas } => {
                self.string("name", name);
                self.string("id", &id.to_string());
                self.replicas(replicas);
            }
            Change::AddPartitions { topic, replicas } => {
                self.string("topic", topic);
                self.replicas(replicas);
            }
            Change::ChangePartition { topic, partition, replicas, isr, leader, elr } => {
                self.string("topic", topic);
                self.int("partition", i64::from(*partition));
                self.optional_ints("replicas", replicas.as_ref());
                self.optional_ints("isr", isr.as_ref());
                self.optional_int("leader", *leader);
                self.optional_ints("elr", elr.as_ref());
            }
            Change::DeleteTopic { topic } => self.string("topic", topic),
        }
    }

    fn heartbeat(&mut self, heartbeat: &Heartbeat) {
        self.string("ev", "heartbeat");
        self.string("kind", heartbeat.kind().name());
        self.string("group", &heartbeat.group);
        self.string("member", &heartbeat.member);
        match heartbeat.epoch {
            EpochSpec::Number(number) => self.int("epoch", i64::from(number)),
            EpochSpec::Last => self.string("epoch", "last"),
        }
        match &heartbeat.body {
            HeartbeatBody::Consumer(body) => {
                self.owned("owned", &body.owned, Self::topic_partitions);
                self.optional_strings("topics", body.topics.as_ref());
                self.optional_string("regex", body.regex.as_ref());
                self.optional_string("instance", body.instance.as_ref());
                self.optional_string("rack", heartbeat.rack.as_ref());
                self.optional_string("assignor", body.assignor.as_ref());
                self.optional_int("rebalance_timeout_ms", body.rebalance_timeout_ms);
            }
            HeartbeatBody::Share(topics) => {
                self.optional_strings("topics", topics.as_ref());
                self.optional_string("rack", heartbeat.rack.as_ref());
            }
            HeartbeatBody::Streams(body) => self.streams(heartbeat, body),
        }
        self.optional_string("client_id", heartbeat.client_id.as_ref());
        self.optional_string("client_host", heartbeat.client_host.as_ref());
        if heartbeat.write_fails {
            self.string("write", "fail");
        }
    }

    fn streams(&mut self, heartbeat: &Heartbeat, body: &StreamsBody) {
        if let Some(topology) = &body.topology {
            self.field("topology");
            self.object(|out| out.topology(topology));
        }
        self.optional_string("process_id", body.process_id.as_ref());
        self.optional_string("instance", body.instance.as_ref());
        self.optional_string("rack", heartbeat.rack.as_ref());
        self.optional_int("rebalance_timeout_ms", body.rebalance_timeout_ms);
        self.owned("active", &body.active, Self::tasks);
        self.owned("standby", &body.standby, Self::tasks);
        self.owned("warmup", &body.warmup, Self::tasks);
    }

    fn owned<T>(&mut self, name: &str, owned: &Owned<T>, item: fn(&mut Self, &T)) {
        match owned {
            Owned::Absent => {}
            Owned::Last => self.string(name, "last"),
            Owned::List(list) => {
                self.field(name);
                self.list(list, |out, value| out.object(|out| item(out, value)));
            }
        }
    }

    fn topic_partitions(&mut self, value: &TopicPartitions) {
        self.string("topic_id", &value.topic_id.to_string());
        self.ints("partitions", &value.partitions);
    }

    fn tasks(&mut self, value: &Tasks) {
        self.string("subtopology", &value.subtopology);
        self.ints("partitions", &value.partitions);
    }

    fn topology(&mut self, topology: &Topology) {
        self.int("epoch", i64::from(topology.epoch));
        self.field("subtopologies");
        self.list(&topology.subtopologies, |out, value| out.object(|out| out.subtopology(value)));
    }

    fn subtopology(&mut self, value: &Subtopology) {
        self.string("id", &value.id);
        self.optional_strings("sources", value.sources.as_ref());
        self.optional_strings("repartition_sinks", value.repartition_sinks.as_ref());
        self.infos("state_changelogs", value.state_changelogs.as_ref());
        self.infos("repartition_sources", value.repartition_sources.as_ref());
    }

    fn infos(&mut self, name: &str, infos: Option<&Vec<TopicInfo>>) {
        let Some(infos) = infos else { return };
        self.field(name);
        self.list(infos, |out, info| {
            out.object(|out| {
                out.string("name", &info.name);
                out.optional_int("partitions", info.partitions);
            });
        });
    }
}
