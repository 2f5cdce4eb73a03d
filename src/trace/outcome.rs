//! Outcome files: what a coordinator answers and writes, a line for each event.

use super::diagnostic::{Diagnostic, Errors};
use super::json::{self, Node, Object};
use super::read::split_lines;
use crate::kafka::java::compare_utf16;
use crate::kafka::records::Record;
use crate::kafka::{JString, Uuid};
use crate::kernel::TimeMs;
use std::borrow::Borrow;
use std::fmt::Write;

/// What a line is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// A `metadata` event.
    Metadata,
    /// A `heartbeat` event.
    Heartbeat,
    /// A `tick` event.
    Tick,
    /// A `failover` event.
    Failover,
    /// A timer that was due before the event.
    Timer,
    /// A background task that the event or a timer asked for.
    Background,
}

impl Cause {
    /// The word of the format.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Metadata => "metadata",
            Cause::Heartbeat => "heartbeat",
            Cause::Tick => "tick",
            Cause::Failover => "failover",
            Cause::Timer => "timer",
            Cause::Background => "background",
        }
    }
}

/// An assignment as an answer carries it, in any order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Assignment<'a> {
    /// Of a consumer or share group: topics, each once, and their partitions.
    Partitions(&'a [(Uuid, Vec<i32>)]),
    /// Of a streams group: active, standby and warm-up tasks, each a list of subtopologies and their partitions.
    Tasks([&'a [(JString, Vec<i32>)]; 3]),
}

/// One line of outcomes; `R` is [`Record`] or a reference to one.
#[derive(Debug, Clone, Copy)]
pub struct OutcomeLine<'a, R = Record> {
    /// The index of the event that the line belongs to, from 0.
    pub i: usize,
    /// The clock: the event's time, or a timer's deadline.
    pub t_ms: TimeMs,
    /// What the line is about.
    pub cause: Cause,
    /// Kafka's name of the error.
    pub error: Option<&'a str>,
    /// The member epoch of the answer. With an error it is not written.
    pub member_epoch: Option<i32>,
    /// The assignment of the answer. With an error it is not written.
    pub assignment: Option<Assignment<'a>>,
    /// The epoch of the group after this line.
    pub group_epoch: Option<i32>,
    /// The metadata hash of the group after this line.
    pub metadata_hash: Option<i64>,
    /// What is written, in order.
    pub records: &'a [R],
}

impl<R: Borrow<Record>> OutcomeLine<'_, R> {
    /// Appends the line, with its end.
    pub fn write(&self, out: &mut String) {
        self.try_write(out).expect("writing to a String cannot fail");
    }

    fn try_write(&self, out: &mut String) -> std::fmt::Result {
        write!(out, r#"{{"i":{},"t":{},"cause":"{}","error":"#, self.i, self.t_ms, self.cause.name())?;
        let (epoch, assignment) = match self.error {
            None => {
                out.push_str("null");
                (self.member_epoch, self.assignment)
            }
            Some(error) => {
                quoted(out, error);
                (None, None)
            }
        };
        out.push_str(r#","member_epoch":"#);
        number_or_null(out, epoch);
        out.push_str(r#","assignment":"#);
        match assignment {
            None => out.push_str("null"),
            Some(assignment) => assignment.write(out),
        }
        out.push_str(r#","group_epoch":"#);
        number_or_null(out, self.group_epoch);
        out.push_str(r#","metadata_hash":"#);
        number_or_null(out, self.metadata_hash);
        out.push_str(r#","records":["#);
        let mut bytes = Vec::new();
        for (position, record) in self.records.iter().enumerate() {
            let record: &Record = record.borrow();
            let separator = if position == 0 { "" } else { "," };
            write!(out, r#"{separator}{{"type":"{}","key":"#, record.key.record_type.name())?;
            bytes.clear();
            record.key.encode(&mut bytes);
            hex(out, &bytes);
            out.push_str(r#","value":"#);
            match &record.value {
                None => out.push_str("null"),
                Some(value) => {
                    bytes.clear();
                    value.encode(&mut bytes);
                    hex(out, &bytes);
                }
            }
            out.push('}');
        }
        out.push_str("]}\n");
        Ok(())
    }
}

impl Assignment<'_> {
    fn write(self, out: &mut String) {
        match self {
            Assignment::Partitions(topics) => {
                let topics = topics.iter().map(|(id, partitions)| (id.to_string(), partitions.as_slice()));
                lists(out, "topic_id", topics.collect());
            }
            Assignment::Tasks(tasks) => {
                for (name, tasks) in ["{\"active\":", ",\"standby\":", ",\"warmup\":"].iter().zip(tasks) {
                    out.push_str(name);
                    let tasks = tasks.iter().map(|(id, partitions)| (id.to_string(), partitions.as_slice()));
                    lists(out, "subtopology", tasks.collect());
                }
                out.push('}');
            }
        }
    }
}

/// Lists of partitions, sorted by Java's order of their names.
fn lists(out: &mut String, name: &str, mut lists: Vec<(String, &[i32])>) {
    lists.sort_by(|(a, _), (b, _)| compare_utf16(a, b));
    out.push('[');
    for (position, (id, partitions)) in lists.into_iter().enumerate() {
        if position > 0 {
            out.push(',');
        }
        out.push_str("{\"");
        out.push_str(name);
        out.push_str("\":");
        quoted(out, &id);
        out.push_str(",\"partitions\":[");
        let mut partitions = partitions.to_vec();
        partitions.sort_unstable();
        for (position, partition) in partitions.into_iter().enumerate() {
            if position > 0 {
                out.push(',');
            }
            number_or_null(out, Some(partition));
        }
        out.push_str("]}");
    }
    out.push(']');
}

fn number_or_null(out: &mut String, number: Option<impl Into<i64>>) {
    match number {
        None => out.push_str("null"),
        Some(number) => write!(out, "{}", number.into()).expect("writing to a String cannot fail"),
    }
}

/// A JSON string; every control character as `\u00xx`.
fn quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\0'..'\u{20}' => write!(out, "\\u{:04x}", c as u32).expect("writing to a String cannot fail"),
            c => out.push(c),
        }
    }
    out.push('"');
}

fn hex(out: &mut String, bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    out.reserve(2 * bytes.len() + 2);
    out.push('"');
    for byte in bytes {
        out.push(DIGITS[usize::from(byte >> 4)] as char);
        out.push(DIGITS[usize::from(byte & 15)] as char);
    }
    out.push('"');
}

/// A line of an outcome file, as it was read. Types of records are kept as their names: other versions have others.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutcomeRow {
    /// The index of the event.
    pub i: i64,
    /// The clock.
    pub t_ms: TimeMs,
    /// What the line is about.
    pub cause: String,
    /// The error.
    pub error: Option<String>,
    /// The member epoch of the answer.
    pub member_epoch: Option<i64>,
    /// The assignment of the answer, as compact JSON.
    pub assignment: Option<String>,
    /// The group's epoch.
    pub group_epoch: Option<i64>,
    /// The group's metadata hash.
    pub metadata_hash: Option<i64>,
    /// The records.
    pub records: Vec<RawRecord>,
}

/// A record as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawRecord {
    /// The name of its type.
    pub record_type: String,
    /// Its key, the type first.
    pub key: Vec<u8>,
    /// Its value, the version first; `None` is a tombstone.
    pub value: Option<Vec<u8>>,
}

/// Reads a file of outcomes; `file` only names it in errors.
pub fn read_outcomes(file: &str, text: &str) -> Result<Vec<OutcomeRow>, Vec<Diagnostic>> {
    let mut errors = Errors::new(file);
    let mut rows = Vec::new();
    for (index, line) in split_lines(text).into_iter().enumerate() {
        errors.at_line(index + 1);
        rows.extend(json::parse_line(line, &mut errors).map(|fields| row(&Object::line(&fields), &mut errors)));
    }
    errors.into_result(rows)
}

/// Reads one line of a file of outcomes.
pub(super) fn read_line(file: &str, number: usize, line: &str) -> Result<OutcomeRow, Vec<Diagnostic>> {
    let mut errors = Errors::new(file);
    errors.at_line(number);
    let row = json::parse_line(line, &mut errors).map(|fields| row(&Object::line(&fields), &mut errors));
    errors.into_result(row.unwrap_or_default())
}

const FIELDS: [&str; 9] =
    ["i", "t", "cause", "error", "member_epoch", "assignment", "group_epoch", "metadata_hash", "records"];

fn row(object: &Object<'_>, errors: &mut Errors) -> OutcomeRow {
    object.only(&FIELDS, errors);
    let nullable = |name: &str, errors: &mut Errors| match object.get(name) {
        Some(Node::Null) => None,
        _ => Some(object.int64(name, errors)),
    };
    OutcomeRow {
        i: object.int64("i", errors),
        t_ms: object.int64("t", errors),
        cause: object.text("cause", errors),
        error: match object.get("error") {
            Some(Node::Null) => None,
            _ => Some(object.text("error", errors)),
        },
        member_epoch: nullable("member_epoch", errors),
        assignment: match object.need("assignment", "a list, an object or null", errors) {
            None | Some(Node::Null) => None,
            Some(node) => Some(node.to_value().to_string()),
        },
        group_epoch: nullable("group_epoch", errors),
        metadata_hash: nullable("metadata_hash", errors),
        records: match object.need("records", "a list of records", errors) {
            None => Vec::new(),
            Some(node) => json::list("records", node, "a list of records", errors, |path, node, errors| {
                Object::nested(path, node, errors).map(|object| raw_record(&object, errors))
            }),
        },
    }
}

fn raw_record(object: &Object<'_>, errors: &mut Errors) -> RawRecord {
    object.only(&["type", "key", "value"], errors);
    let bytes = |name: &str, errors: &mut Errors| {
        let before = errors.count();
        let text = object.text(name, errors);
        let bytes = from_hex(&text);
        if bytes.is_none() && errors.count() == before {
            errors.add(object.path(name), "must be bytes in hex, two digits each");
        }
        bytes.unwrap_or_default()
    };
    RawRecord {
        record_type: object.text("type", errors),
        key: bytes("key", errors),
        value: match object.get("value") {
            Some(Node::Null) => None,
            _ => Some(bytes("value", errors)),
        },
    }
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| (c as char).to_digit(16);
    text.as_bytes()
        .chunks(2)
        .map(|pair| match pair {
            [high, low] => Some((digit(*high)? << 4 | digit(*low)?) as u8),
            _ => None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kafka::records::{GroupMetadata, Key, RecordType, Value};

    fn line() -> OutcomeLine<'static> {
        OutcomeLine {
            i: 3,
            t_ms: 10,
            cause: Cause::Tick,
            error: None,
            member_epoch: None,
            assignment: None,
            group_epoch: None,
            metadata_hash: None,
            records: &[],
        }
    }

    fn written(line: &OutcomeLine<'_>) -> String {
        let mut out = String::new();
        line.write(&mut out);
        out
    }

    #[test]
    fn every_field_in_its_place() {
        assert_eq!(
            written(&line()),
            "{\"i\":3,\"t\":10,\"cause\":\"tick\",\"error\":null,\"member_epoch\":null,\"assignment\":null,\
             \"group_epoch\":null,\"metadata_hash\":null,\"records\":[]}\n"
        );
        // Line 2 of golden trace 01-join, Kafka 4.3.1, as far as its first record.
        let topic = "LS0tZm9vLXRvcGljLTAwMA".parse().expect("an id");
        let early = "-_8AAAAAAAAAAAAAAAAAAA".parse().expect("an id");
        let assignment = [(topic, vec![10, 2, 1]), (early, vec![])];
        let key = Key { record_type: RecordType::ConsumerGroupMetadata, group: JString::from("g"), member: None };
        let value = Value::GroupMetadata(GroupMetadata { epoch: 2, metadata_hash: -2 });
        let records = [Record { key: key.clone(), value: Some(value) }, Record { key, value: None }];
        let line = OutcomeLine {
            member_epoch: Some(-1),
            assignment: Some(Assignment::Partitions(&assignment)),
            group_epoch: Some(2),
            metadata_hash: Some(i64::MIN),
            records: &records,
            ..line()
        };
        assert_eq!(
            written(&line),
            "{\"i\":3,\"t\":10,\"cause\":\"tick\",\"error\":null,\"member_epoch\":-1,\"assignment\":[\
             {\"topic_id\":\"-_8AAAAAAAAAAAAAAAAAAA\",\"partitions\":[]},\
             {\"topic_id\":\"LS0tZm9vLXRvcGljLTAwMA\",\"partitions\":[1,2,10]}],\
             \"group_epoch\":2,\"metadata_hash\":-9223372036854775808,\"records\":[\
             {\"type\":\"ConsumerGroupMetadata\",\"key\":\"0003000167\",\
             \"value\":\"000000000002010008fffffffffffffffe\"},\
             {\"type\":\"ConsumerGroupMetadata\",\"key\":\"0003000167\",\"value\":null}]}\n"
        );
        // An error has neither epoch nor assignment.
        let failed = written(&OutcomeLine { error: Some("UNKNOWN_MEMBER_ID"), ..line });
        assert!(
            failed.contains(r#""error":"UNKNOWN_MEMBER_ID","member_epoch":null,"assignment":null,"group_epoch":2,"#)
        );
    }

    #[test]
    fn tasks_in_javas_order() {
        let tasks = |names: &[&str]| -> Vec<(JString, Vec<i32>)> {
            names.iter().map(|name| (JString::from(*name), vec![1, 0])).collect()
        };
        let [active, warmup] = [tasks(&["～", "😀", "\"\u{1}"]), tasks(&["0"])];
        let text = written(&OutcomeLine { assignment: Some(Assignment::Tasks([&active, &[], &warmup])), ..line() });
        assert!(
            text.contains(
                "{\"active\":[{\"subtopology\":\"\\\"\\u0001\",\"partitions\":[0,1]},{\"subtopology\":\"😀\",\
                 \"partitions\":[0,1]},{\"subtopology\":\"～\",\"partitions\":[0,1]}],\"standby\":[],\
                 \"warmup\":[{\"subtopology\":\"0\",\"partitions\":[0,1]}]}"
            ),
            "{text}"
        );
        let row = &read_outcomes("x", &text).expect("reads")[0];
        assert!(row.assignment.as_ref().is_some_and(|text| text.contains("\\u0001")));
    }

    #[test]
    fn what_is_written_is_read() {
        let key = Key { record_type: RecordType::ConsumerGroupMetadata, group: JString::from("g"), member: None };
        let text = written(&OutcomeLine { error: Some("X"), records: &[Record { key, value: None }], ..line() });
        let record =
            RawRecord { record_type: "ConsumerGroupMetadata".to_owned(), key: vec![0, 3, 0, 1, b'g'], value: None };
        let row = OutcomeRow {
            i: 3,
            t_ms: 10,
            cause: "tick".to_owned(),
            error: Some("X".to_owned()),
            records: vec![record],
            ..OutcomeRow::default()
        };
        assert_eq!(read_outcomes("x", &text), Ok(vec![row]));
    }

    #[test]
    fn wrong_outcomes() {
        let text = "{\"i\":1,\"t\":2,\"cause\":\"tick\",\"error\":0,\"member_epoch\":\"1\",\"assignment\":null,\
                    \"group_epoch\":null,\"records\":[{\"type\":\"A\",\"key\":\"0g\",\"value\":\"123\"}],\"x\":1}\n\n";
        let errors: Vec<String> =
            read_outcomes("o.jsonl", text).expect_err("is wrong").iter().map(ToString::to_string).collect();
        assert_eq!(
            errors,
            [
                "o.jsonl:1: x: unknown field; known here: i, t, cause, error, member_epoch, assignment, group_epoch, \
                 metadata_hash, records",
                "o.jsonl:1: error: must be a string, not 0",
                "o.jsonl:1: member_epoch: must be an integer of 64 bits, not \"1\"",
                "o.jsonl:1: metadata_hash: is missing: must be an integer",
                "o.jsonl:1: records[0].key: must be bytes in hex, two digits each",
                "o.jsonl:1: records[0].value: must be bytes in hex, two digits each",
                "o.jsonl:2: empty line: every line must be a JSON object",
            ]
        );
    }
}
