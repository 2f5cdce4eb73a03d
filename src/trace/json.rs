//! A strict reader of JSON objects: it keeps duplicate and unknown fields, so that every one of them is told.

use super::diagnostic::Errors;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use std::fmt;

/// A JSON value that keeps the order of an object's fields and their duplicates.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    Null,
    Bool(bool),
    Int(i64),
    /// A number that is not an integer of 64 bits.
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Object(Vec<(String, Node)>),
}

impl Node {
    /// The value as `serde_json` has it (of duplicate fields the last one).
    pub fn to_value(&self) -> serde_json::Value {
        use serde_json::Value;
        match self {
            Node::Null => Value::Null,
            Node::Bool(value) => Value::from(*value),
            Node::Int(value) => Value::from(*value),
            Node::Float(value) => Value::from(*value),
            Node::Text(text) => Value::from(text.as_str()),
            Node::List(list) => list.iter().map(Node::to_value).collect(),
            Node::Object(fields) => fields.iter().map(|(name, value)| (name.clone(), value.to_value())).collect(),
        }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NodeVisitor;
        impl<'de> Visitor<'de> for NodeVisitor {
            type Value = Node;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON value")
            }
            fn visit_unit<E>(self) -> Result<Node, E> {
                Ok(Node::Null)
            }
            fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
                Ok(Node::Bool(value))
            }
            fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
                Ok(Node::Int(value))
            }
            fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
                Ok(i64::try_from(value).map_or(Node::Float(value as f64), Node::Int))
            }
            fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
                Ok(Node::Float(value))
            }
            fn visit_str<E>(self, value: &str) -> Result<Node, E> {
                Ok(Node::Text(value.to_owned()))
            }
            fn visit_string<E>(self, value: String) -> Result<Node, E> {
                Ok(Node::Text(value))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
                let mut list = Vec::new();
                while let Some(node) = access.next_element()? {
                    list.push(node);
                }
                Ok(Node::List(list))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Node, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = access.next_entry()? {
                    fields.push(field);
                }
                Ok(Node::Object(fields))
            }
        }
        deserializer.deserialize_any(NodeVisitor)
    }
}

/// An object of a line, with the path that leads to it.
#[derive(Debug, Clone)]
pub struct Object<'a> {
    path: String,
    fields: &'a [(String, Node)],
}

/// Parses a line that must be one object, without duplicate fields anywhere; adds an error if it is not.
pub fn parse_line(text: &str, errors: &mut Errors) -> Option<Vec<(String, Node)>> {
    match serde_json::from_str(text) {
        Ok(Node::Object(fields)) => {
            let before = errors.count();
            duplicates("", &fields, errors);
            (errors.count() == before).then_some(fields)
        }
        Ok(_) => {
            errors.add("", "must be a JSON object");
            None
        }
        Err(_) if text.trim().is_empty() => {
            errors.add("", "empty line: every line must be a JSON object");
            None
        }
        Err(error) => {
            let message = error.to_string();
            let what = message.rsplit_once(" at line ").map_or(message.as_str(), |(what, _)| what);
            errors.add("", format!("not JSON: {what} at column {}", error.column()));
            None
        }
    }
}

fn duplicates(path: &str, fields: &[(String, Node)], errors: &mut Errors) {
    for (position, (name, value)) in fields.iter().enumerate() {
        let field = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
        if fields[..position].iter().any(|(earlier, _)| earlier == name) {
            errors.add(&field, "is there twice: a field must be there once");
        }
        duplicates_within(&field, value, errors);
    }
}

fn duplicates_within(path: &str, value: &Node, errors: &mut Errors) {
    match value {
        Node::Object(fields) => duplicates(path, fields, errors),
        Node::List(list) => {
            for (index, value) in list.iter().enumerate() {
                if let Node::List(_) | Node::Object(_) = value {
                    duplicates_within(&format!("{path}[{index}]"), value, errors);
                }
            }
        }
        _ => {}
    }
}

/// Reads a 32-bit integer; what else it may be is told by `expected`.
fn int32(path: &str, value: &Node, expected: &str, errors: &mut Errors) -> Option<i32> {
    let read = match value {
        Node::Int(number) => i32::try_from(*number).ok(),
        _ => None,
    };
    if read.is_none() {
        errors.add(path, format!("must be {expected}, not {}", shown(value)));
    }
    read
}

/// What a 32-bit integer is called.
pub const INT32: &str = "an integer of 32 bits";

/// The items of a list, read one by one; the items that cannot be read are left out.
pub fn list<T>(
    path: &str,
    value: &Node,
    expected: &str,
    errors: &mut Errors,
    mut item: impl FnMut(&str, &Node, &mut Errors) -> Option<T>,
) -> Vec<T> {
    let Node::List(values) = value else {
        errors.add(path, format!("must be {expected}, not {}", shown(value)));
        return Vec::new();
    };
    values.iter().enumerate().filter_map(|(index, value)| item(&format!("{path}[{index}]"), value, errors)).collect()
}

/// A list of 32-bit integers.
pub fn int32s(path: &str, value: &Node, errors: &mut Errors) -> Vec<i32> {
    list(path, value, "a list of integers", errors, |path, value, errors| int32(path, value, INT32, errors))
}

/// A list of texts.
pub fn texts(path: &str, value: &Node, errors: &mut Errors) -> Vec<String> {
    list(path, value, "a list of strings", errors, |path, value, errors| match value {
        Node::Text(text) => Some(text.clone()),
        _ => {
            errors.add(path, format!("must be a string, not {}", shown(value)));
            None
        }
    })
}

/// A value in a message: short, and as JSON has it.
pub fn shown(value: &Node) -> String {
    match value {
        Node::Null => "null".to_owned(),
        Node::Bool(value) => value.to_string(),
        Node::Int(value) => value.to_string(),
        Node::Float(value) => format!("{value:?}"),
        Node::Text(text) if text.chars().count() <= 40 => format!("{text:?}"),
        Node::Text(text) => format!("{:?}…", text.chars().take(40).collect::<String>()),
        Node::List(_) => "a list".to_owned(),
        Node::Object(_) => "an object".to_owned(),
    }
}

impl<'a> Object<'a> {
    /// A whole line.
    pub fn line(fields: &'a [(String, Node)]) -> Self {
        Object { path: String::new(), fields }
    }

    /// A value that must be an object.
    pub fn nested(path: &str, value: &'a Node, errors: &mut Errors) -> Option<Self> {
        match value {
            Node::Object(fields) => Some(Object { path: path.to_owned(), fields }),
            _ => {
                errors.add(path, format!("must be an object, not {}", shown(value)));
                None
            }
        }
    }

    /// The path of a field.
    pub fn path(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    /// All fields.
    pub fn fields(&self) -> &'a [(String, Node)] {
        self.fields
    }

    /// A field's value.
    pub fn get(&self, name: &str) -> Option<&'a Node> {
        self.fields.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// A field that must be there.
    pub fn need(&self, name: &str, expected: &str, errors: &mut Errors) -> Option<&'a Node> {
        let value = self.get(name);
        if value.is_none() {
            errors.add(self.path(name), format!("is missing: must be {expected}"));
        }
        value
    }

    /// Adds an error for every field that is not in `known`.
    pub fn only(&self, known: &[&str], errors: &mut Errors) {
        for (name, _) in self.fields {
            if !known.contains(&name.as_str()) {
                errors.add(self.path(name), format!("unknown field; known here: {}", known.join(", ")));
            }
        }
    }

    /// A text that must be there. Where it cannot be read, the empty text stands for it.
    pub fn text(&self, name: &str, errors: &mut Errors) -> String {
        match self.need(name, "a string", errors) {
            None => String::new(),
            Some(Node::Text(text)) => text.clone(),
            Some(other) => {
                errors.add(self.path(name), format!("must be a string, not {}", shown(other)));
                String::new()
            }
        }
    }

    /// A text that may be absent or null.
    pub fn text_or_null(&self, name: &str, errors: &mut Errors) -> Option<String> {
        match self.get(name) {
            None | Some(Node::Null) => None,
            Some(_) => Some(self.text(name, errors)),
        }
    }

    /// A text that may be absent, but not null.
    pub fn text_or_absent(&self, name: &str, errors: &mut Errors) -> Option<String> {
        self.get(name).map(|_| self.text(name, errors))
    }

    /// A 64-bit integer that must be there. Where it cannot be read, 0 stands for it.
    pub fn int64(&self, name: &str, errors: &mut Errors) -> i64 {
        match self.need(name, "an integer", errors) {
            None => 0,
            Some(Node::Int(number)) => *number,
            Some(other) => {
                errors.add(self.path(name), format!("must be an integer of 64 bits, not {}", shown(other)));
                0
            }
        }
    }

    /// A 32-bit integer that must be there. Where it cannot be read, 0 stands for it.
    pub fn int32(&self, name: &str, errors: &mut Errors) -> i32 {
        let value = self.need(name, "an integer", errors);
        value.and_then(|value| int32(&self.path(name), value, INT32, errors)).unwrap_or(0)
    }

    /// A 32-bit integer that may be absent, but not null.
    pub fn int32_or_absent(&self, name: &str, errors: &mut Errors) -> Option<i32> {
        self.get(name).map(|_| self.int32(name, errors))
    }

    /// A list of 32-bit integers that may be absent, but not null.
    pub fn int32s_or_absent(&self, name: &str, errors: &mut Errors) -> Option<Vec<i32>> {
        self.get(name).map(|value| int32s(&self.path(name), value, errors))
    }

    /// A list of 32-bit integers that must be there.
    pub fn int32s(&self, name: &str, errors: &mut Errors) -> Vec<i32> {
        let value = self.need(name, "a list of integers", errors);
        value.map(|value| int32s(&self.path(name), value, errors)).unwrap_or_default()
    }
}
