//! Reads a trace: the header and the frame of every event.

use super::diagnostic::{Diagnostic, Errors};
use super::json::{self, Node, Object};
use super::{ConfigValue, Event, EventKind, Names, Trace, read_change, read_heartbeat};
use crate::kernel::TimeMs;

/// The header, as messages show it.
const HEADER: &str = r#"{"trace":1,"start_unix_ms":…,"config":{…}}"#;

impl Trace {
    /// Reads the text of a trace; `file` only names it in errors. Gives the whole trace or all errors (the first
    /// 20, and how many more there are).
    pub fn parse(file: &str, text: &str) -> Result<Trace, Vec<Diagnostic>> {
        let mut errors = Errors::new(file);
        let mut lines = split_lines(text).into_iter();
        let mut trace = Trace { start_unix_ms: 0, config: Vec::new(), events: Vec::new() };
        match lines.next() {
            None => errors.add("", format!("the file is empty: the first line must be the header {HEADER}")),
            Some(line) => header(line, &mut trace, &mut errors),
        }
        let mut reader = EventReader { start_unix_ms: trace.start_unix_ms, previous_ms: 0, names: Some(Names::new()) };
        for (index, text) in lines.enumerate() {
            let line = index + 2;
            errors.at_line(line);
            if let Some(fields) = json::parse_line(text, &mut errors)
                && let Some((t_ms, kind)) = reader.event(&Object::line(&fields), &mut errors)
            {
                trace.events.push(Event { line, t_ms, kind });
            }
        }
        errors.into_result(trace)
    }
}

/// Lines as Java's `Files.readAllLines` finds them: ended by `\n`, `\r\n` or `\r`; the last one may lack its end.
pub(super) fn split_lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let mut rest = text;
    while let Some(end) = rest.find(['\n', '\r']) {
        lines.push(&rest[..end]);
        rest = rest[end..].strip_prefix("\r\n").unwrap_or(&rest[end + 1..]);
    }
    if !rest.is_empty() {
        lines.push(rest);
    }
    lines
}

fn header(text: &str, trace: &mut Trace, errors: &mut Errors) {
    let Some(fields) = json::parse_line(text, errors) else {
        return;
    };
    let object = Object::line(&fields);
    match object.get("trace") {
        Some(Node::Int(1)) => {}
        Some(other) => errors.add("trace", format!("unknown trace version {}: must be 1", json::shown(other))),
        None => {
            errors.add("trace", format!("is missing: the first line must be the header {HEADER}"));
            return;
        }
    }
    object.only(&["trace", "start_unix_ms", "config"], errors);
    trace.start_unix_ms = object.int64("start_unix_ms", errors);
    if let Some(config) = object.get("config")
        && let Some(config) = Object::nested("config", config, errors)
    {
        for (name, value) in config.fields() {
            let value = match value {
                Node::Int(value) => ConfigValue::Int(*value),
                Node::Float(value) => ConfigValue::Float(*value),
                Node::Bool(value) => ConfigValue::Bool(*value),
                Node::Text(value) => ConfigValue::Text(value.clone()),
                other => {
                    let message = format!("must be a number, true, false or a string, not {}", json::shown(other));
                    errors.add(config.path(name), message);
                    continue;
                }
            };
            trace.config.push((name.clone(), value));
        }
    }
}

struct EventReader {
    start_unix_ms: i64,
    previous_ms: TimeMs,
    /// What there is so far; `None` once a change could not be read, so that nothing follows from it.
    names: Option<Names>,
}

impl EventReader {
    fn event(&mut self, object: &Object<'_>, errors: &mut Errors) -> Option<(TimeMs, EventKind)> {
        let t_ms = self.time(object, errors);
        let kind = match object.text("ev", errors).as_str() {
            "metadata" => {
                object.only(&["t", "ev", "changes"], errors);
                EventKind::Metadata(read_change::changes(object, &mut self.names, errors))
            }
            "heartbeat" => EventKind::Heartbeat(Box::new(read_heartbeat::heartbeat(object, errors)?)),
            word @ ("tick" | "failover") => {
                object.only(&["t", "ev"], errors);
                if word == "tick" { EventKind::Tick } else { EventKind::Failover }
            }
            other => {
                // A missing or wrongly typed `ev` has been told already.
                if let Some(Node::Text(_)) = object.get("ev") {
                    errors.add("ev", format!("unknown word {other:?}: must be metadata, heartbeat, tick or failover"));
                }
                return None;
            }
        };
        Some((t_ms, kind))
    }

    fn time(&mut self, object: &Object<'_>, errors: &mut Errors) -> TimeMs {
        let t_ms = object.int64("t", errors);
        let Some(Node::Int(_)) = object.get("t") else {
            return self.previous_ms;
        };
        if t_ms < self.previous_ms {
            errors.add("t", format!("time goes back from {} to {t_ms}", self.previous_ms));
        } else if self.start_unix_ms.checked_add(t_ms).is_none() {
            errors.add("t", "start_unix_ms and t together must be an integer of 64 bits");
        }
        self.previous_ms = t_ms;
        t_ms
    }
}
