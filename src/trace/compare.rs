//! Compares outcomes, line by line.

use super::Diagnostic;
use super::outcome::{OutcomeRow, RawRecord, read_line};
use super::read::split_lines;
use crate::kafka::JString;
use crate::kafka::records::{Key, Record, TopicPartitions, Value as RecordValue};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;

/// How many differences are shown.
pub const SHOWN: usize = 3;

/// What must be equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Everything, the bytes of records included.
    Exact,
    /// Everything but the orders that Kafka takes from hash maps.
    Canonical,
    /// Errors, epochs, hashes, and how many records of each type there are and how many bytes they have.
    Sizes,
    /// What a client sees: errors, member epochs and assignments.
    Protocol,
}

impl Level {
    /// The level of a name.
    pub fn named(name: &str) -> Option<Level> {
        Some(match name {
            "exact" => Level::Exact,
            "canonical" => Level::Canonical,
            "sizes" => Level::Sizes,
            "protocol" => Level::Protocol,
            _ => return None,
        })
    }
}

/// What came of a comparison.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Comparison {
    /// How many lines there are (of the longer one).
    pub lines: usize,
    /// How many differ.
    pub differing: usize,
    /// The first that differ, [`SHOWN`] at most.
    pub first: Vec<Difference>,
}

/// A line that differs.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The line, from 1.
    pub line: usize,
    /// The fields that differ: name, expected, actual. Records are decoded.
    pub fields: Vec<(String, Value, Value)>,
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for difference in &self.first {
            writeln!(f, "line {}", difference.line)?;
            for (name, expected, actual) in &difference.fields {
                writeln!(f, "  {name}\n    expected {expected}\n    actual   {actual}")?;
            }
        }
        writeln!(f, "{} lines, {} differ", self.lines, self.differing)
    }
}

/// Compares two texts of outcomes. Lines that are the same text are equal on every level, and are not looked into;
/// one that cannot be read is an error, which names it as a line of `expected` or `actual`.
pub fn compare(expected: &str, actual: &str, level: Level) -> Result<Comparison, Vec<Diagnostic>> {
    let (expected, actual) = (split_lines(expected), split_lines(actual));
    let mut comparer = Comparer::new(level);
    for index in 0..expected.len().max(actual.len()) {
        comparer.lines(expected.get(index).copied(), actual.get(index).copied())?;
    }
    Ok(comparer.finish())
}

/// Compares outcomes line by line, as they come: neither side need be there as a whole.
#[derive(Debug)]
pub struct Comparer {
    level: Level,
    comparison: Comparison,
}

impl Comparer {
    /// Nothing has been compared yet.
    pub fn new(level: Level) -> Self {
        Comparer { level, comparison: Comparison::default() }
    }

    /// Whether the next line of both is equal. It has no end; it is `None` where one has no more. Errors are those of
    /// [`compare()`].
    pub fn lines(&mut self, expected: Option<&str>, actual: Option<&str>) -> Result<bool, Vec<Diagnostic>> {
        let comparison = &mut self.comparison;
        comparison.lines += 1;
        if expected == actual {
            return Ok(true);
        }
        let view = |file: &str, line: Option<&str>| match line {
            None => Ok(BTreeMap::new()),
            Some(line) => read_line(file, comparison.lines, line).map(|row| view(&row, self.level)),
        };
        let (left, right) = (view("expected", expected)?, view("actual", actual)?);
        if left != right {
            comparison.differing += 1;
            if comparison.first.len() < SHOWN {
                comparison.first.push(difference(comparison.lines, &left, &right));
            }
        }
        Ok(left == right)
    }

    /// What came of it.
    pub fn finish(self) -> Comparison {
        self.comparison
    }
}

type View = BTreeMap<&'static str, Value>;

fn difference(line: usize, expected: &View, actual: &View) -> Difference {
    let mut names: Vec<&str> = expected.keys().chain(actual.keys()).copied().collect();
    names.sort_unstable();
    names.dedup();
    let value = |view: &View, name: &str| view.get(name).cloned().unwrap_or(Value::Null);
    let fields = names
        .into_iter()
        .map(|name| (name.to_owned(), value(expected, name), value(actual, name)))
        .filter(|(_, expected, actual)| expected != actual)
        .collect();
    Difference { line, fields }
}

/// What of a line is looked at.
fn view(row: &OutcomeRow, level: Level) -> View {
    let mut view = BTreeMap::from([
        ("i", json!(row.i)),
        ("t", json!(row.t_ms)),
        ("cause", json!(row.cause)),
        ("error", json!(row.error)),
        ("member_epoch", json!(row.member_epoch)),
    ]);
    if level != Level::Sizes {
        view.insert("assignment", json!(row.assignment));
    }
    if level != Level::Protocol {
        view.insert("group_epoch", json!(row.group_epoch));
        view.insert("metadata_hash", json!(row.metadata_hash));
        view.insert("records", records(&row.records, level));
    }
    view
}

fn records(records: &[RawRecord], level: Level) -> Value {
    match level {
        Level::Exact => records.iter().map(undecoded).collect(),
        Level::Sizes => {
            let mut totals: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
            for record in records {
                let total = totals.entry(&record.record_type).or_default();
                total[0] += 1;
                total[1] += record.key.len();
                total[2] += record.value.as_ref().map_or(0, Vec::len);
            }
            json!(totals)
        }
        _ => {
            let mut sorted: Vec<&RawRecord> = records.iter().collect();
            // Runs of one type by key; records of one key stay in their order.
            for run in sorted.chunk_by_mut(|a, b| a.record_type == b.record_type) {
                run.sort_by(|a, b| a.key.cmp(&b.key));
            }
            sorted.into_iter().map(canonical).collect()
        }
    }
}

fn undecoded(record: &RawRecord) -> Value {
    let hex = |bytes: &Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    json!({"type": record.record_type, "key": hex(&record.key), "value": record.value.as_ref().map(hex)})
}

/// A record without the orders that come from hash maps. Its size stays: equal content must take equally many bytes.
fn canonical(record: &RawRecord) -> Value {
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
        RecordValue::PartitionMetadata(topics) => sorted(topics.iter().map(|topic| {
            let partitions = sorted(
                topic
                    .partition_metadata
                    .iter()
                    .map(|partition| json!({"partition": partition.partition, "racks": texts(&partition.racks)})),
            );
            json!({
                "topic_id": topic.topic_id.to_string(),
                "topic_name": text(&topic.topic_name),
                "num_partitions": topic.num_partitions,
                "partition_metadata": partitions,
            })
        })),
        RecordValue::TopicHashes(topics) => {
            sorted(topics.iter().map(|topic| json!({"topic_name": text(&topic.topic_name), "hash": topic.hash})))
        }
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
    }
}

/// Topics by id, partitions ascending, each with its assignment epoch (if they have any) beside it.
fn topic_partitions(topics: &[TopicPartitions]) -> Value {
    sorted(topics.iter().map(|topic| {
        let id = topic.topic_id.to_string();
        let mut partitions = topic.partitions.clone();
        let mut epochs = topic.assignment_epochs.clone();
        match &mut epochs {
            Some(epochs) if epochs.len() == partitions.len() => {
                let mut pairs: Vec<(i32, i32)> = partitions.into_iter().zip(epochs.iter().copied()).collect();
                pairs.sort_unstable();
                (partitions, *epochs) = pairs.into_iter().unzip();
            }
            // No pairs: shown as they are.
            Some(_) => {}
            None => partitions.sort_unstable(),
        }
        json!({"topic_id": id, "partitions": partitions, "assignment_epochs": epochs})
    }))
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

#[cfg(test)]
mod tests;
