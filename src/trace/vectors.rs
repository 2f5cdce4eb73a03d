//! Files of known hashes: JSON Lines of `{"topic":…,"id":…,"racks":[…]}` and `{"topics":{…}}`, each perhaps with the
//! `"hash"` that Kafka gives it (`tests/golden/hash-vectors.jsonl`).

use crate::kafka::hash::{EncodedRack, HashedRacks, TopicHasher, group_hash};
use crate::kafka::{JString, Uuid};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Something wrong in a line of a vectors file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {field}{message}")]
pub struct VectorError {
    /// The line, from 1.
    pub line: usize,
    /// The field with `": "` after it, such as `racks[2][0]: `; empty for the line as a whole.
    field: String,
    /// What is wrong, and what would be right.
    message: String,
}

/// The topic or group hash of every line, computed; a hash that a line states is not looked at.
/// Errors: all of the file.
pub fn check_vectors(text: &str) -> Result<Vec<i64>, Vec<VectorError>> {
    let mut hasher = TopicHasher::new();
    let mut hashes = Vec::new();
    let mut errors = Vec::new();
    for (line, json) in (1..).zip(text.lines()) {
        let mut fault = |field: &str, message: String| {
            let field = if field.is_empty() { String::new() } else { format!("{field}: ") };
            errors.push(VectorError { line, field, message });
        };
        hashes.extend(line_hash(json, &mut hasher, &mut fault));
    }
    if errors.is_empty() { Ok(hashes) } else { Err(errors) }
}

const TOPIC_FIELDS: [&str; 4] = ["topic", "id", "racks", "hash"];
const GROUP_FIELDS: [&str; 2] = ["topics", "hash"];

fn line_hash(json: &str, hasher: &mut TopicHasher, fault: &mut impl FnMut(&str, String)) -> Option<i64> {
    let object = match serde_json::from_str(json) {
        Ok(Value::Object(object)) => object,
        Ok(_) => {
            fault("", "not a JSON object".to_owned());
            return None;
        }
        Err(error) => {
            fault("", format!("not a JSON object ({error})"));
            return None;
        }
    };
    let is_group = object.contains_key("topics");
    let known = if is_group { &GROUP_FIELDS[..] } else { &TOPIC_FIELDS };
    for field in object.keys().filter(|field| !known.contains(&field.as_str())) {
        fault(field, format!("unknown field; known here: {}", known.join(", ")));
    }
    if let Some(hash) = object.get("hash").filter(|hash| !hash.is_null()) {
        integer("hash", hash, fault);
    }
    if is_group { group(&object, fault) } else { topic(&object, hasher, fault) }
}

fn topic(object: &Map<String, Value>, hasher: &mut TopicHasher, fault: &mut impl FnMut(&str, String)) -> Option<i64> {
    let name = text(object, "topic", fault);
    let id = text(object, "id", fault).and_then(|id| match id.parse::<Uuid>() {
        Ok(id) => Some(id),
        Err(error) => {
            fault("id", error.to_string());
            None
        }
    });
    let racks = racks(object, fault);
    let (hash, _) = hasher.topic_hash(name?, id?, HashedRacks::List, racks?.iter());
    Some(hash)
}

/// The racks of each partition, those without a rack left out.
fn racks(object: &Map<String, Value>, fault: &mut impl FnMut(&str, String)) -> Option<Vec<Vec<EncodedRack>>> {
    let Some(partitions) = object.get("racks").and_then(Value::as_array) else {
        fault("racks", "missing or not an array; an array with an array for each partition expected".to_owned());
        return None;
    };
    let mut right = true;
    let mut encoded = Vec::with_capacity(partitions.len());
    for (index, partition) in partitions.iter().enumerate() {
        let mut racks = Vec::new();
        match partition {
            Value::Array(replicas) => {
                for (place, rack) in replicas.iter().enumerate() {
                    match rack {
                        Value::String(rack) => racks.push(EncodedRack::new(rack.as_str())),
                        Value::Null => {}
                        other => {
                            fault(&format!("racks[{index}][{place}]"), format!("{other} is neither a string nor null"));
                            right = false;
                        }
                    }
                }
            }
            other => {
                fault(&format!("racks[{index}]"), format!("{other} is not an array of racks (strings or null)"));
                right = false;
            }
        }
        encoded.push(racks);
    }
    right.then_some(encoded)
}

fn group(object: &Map<String, Value>, fault: &mut impl FnMut(&str, String)) -> Option<i64> {
    let Some(topics) = object.get("topics").and_then(Value::as_object) else {
        fault("topics", "not an object of topic hashes by topic name".to_owned());
        return None;
    };
    let mut hashes = BTreeMap::new();
    for (name, hash) in topics {
        let hash = integer(&format!("topics.{name}"), hash, fault);
        hashes.insert(JString::from(name.as_str()), hash);
    }
    let hashes: Vec<i64> = hashes.into_values().collect::<Option<_>>()?;
    Some(group_hash(hashes.into_iter()))
}

fn text<'a>(object: &'a Map<String, Value>, field: &str, fault: &mut impl FnMut(&str, String)) -> Option<&'a str> {
    let text = object.get(field).and_then(Value::as_str);
    if text.is_none() {
        fault(field, "missing or not a string".to_owned());
    }
    text
}

fn integer(field: &str, value: &Value, fault: &mut impl FnMut(&str, String)) -> Option<i64> {
    let integer = value.as_i64();
    if integer.is_none() {
        fault(field, format!("{value} is not a signed 64-bit integer"));
    }
    integer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_of_kafka() {
        // Kafka 4.1.1, 4.3.1 and 4.4.0.
        let text = include_str!("../../tests/golden/hash-vectors.jsonl");
        let expected: Vec<i64> =
            text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["hash"].as_i64().unwrap()).collect();
        assert_eq!(expected.len(), 40);
        assert_eq!(check_vectors(text), Ok(expected));
    }

    #[test]
    fn a_stated_hash_is_not_needed() {
        // Kafka 4.3.1.
        let text = "{\"topic\":\"foo\",\"id\":\"AAAAAAAAAAAAAAAAAAAAAA\",\"racks\":[[\"a\"]]}\r\n\
                    {\"topics\":{\"b\":1,\"a\":2},\"hash\":null}\r\n";
        assert_eq!(check_vectors(text), Ok(vec![7633607925704798523, -336420445500852088]));
        assert_eq!(check_vectors(""), Ok(vec![]));
    }

    #[test]
    fn all_errors_at_once() {
        let text = r#"{"topic":"foo","id":"x","racks":[["a",5],null],"hash":1.5,"rack":1}
[]
{"topics":{"a":"1","b":9223372036854775808},"topic":"a"}
{"topics":[]}
{"topic":7}

{"topic":"foo","id":"AAAAAAAAAAAAAAAAAAAAAA","racks":[]}"#;
        let errors = check_vectors(text).unwrap_err();
        let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
        let expected = [
            "line 1: rack: unknown field; known here: topic, id, racks, hash",
            "line 1: hash: 1.5 is not a signed 64-bit integer",
            "line 1: id: \"x\" is not a topic id (22 characters of URL-safe base64 for 16 bytes)",
            "line 1: racks[0][1]: 5 is neither a string nor null",
            "line 1: racks[1]: null is not an array of racks (strings or null)",
            "line 2: not a JSON object",
            "line 3: topic: unknown field; known here: topics, hash",
            "line 3: topics.a: \"1\" is not a signed 64-bit integer",
            "line 3: topics.b: 9223372036854775808 is not a signed 64-bit integer",
            "line 4: topics: not an object of topic hashes by topic name",
            "line 5: topic: missing or not a string",
            "line 5: id: missing or not a string",
            "line 5: racks: missing or not an array; an array with an array for each partition expected",
            "line 6: not a JSON object (EOF while parsing a value at line 1 column 0)",
        ];
        assert_eq!(errors, expected);
    }
}
