//! A reader for Kafka's flexible messages that is driven by tables: a field is a name, a type, the version from
//! which it is there, and, for a tagged field, its tag.
//!
//! The wire format is that of Kafka's generated message classes (KIP-482): numbers in network order, lengths as
//! unsigned varints plus one (0 is null), and after the fields of every structure the tagged ones, each with its
//! size. Tags that a table does not know are stepped over by that size, as Kafka does.

use crate::kafka::Uuid;
use crate::kafka::wire::{Reader, WireError};

/// The type of a field.
#[derive(Debug)]
pub(super) enum Kind {
    Bool,
    Int8,
    Int16,
    Uint16,
    Int32,
    Int64,
    Float64,
    Uuid,
    String,
    Bytes,
    Array(&'static Kind),
    Struct(&'static [Field]),
}

/// A field of a message.
#[derive(Debug)]
pub(super) struct Field {
    name: &'static str,
    kind: Kind,
    since: i16,
    tag: Option<u32>,
    nullable: bool,
}

/// A field that is there in all versions and never null.
pub(super) const fn field(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, since: 0, tag: None, nullable: false }
}

impl Field {
    /// The field is there from this version on.
    pub(super) const fn since(mut self, version: i16) -> Field {
        self.since = version;
        self
    }

    /// The field is a tagged one.
    pub(super) const fn tag(mut self, tag: u32) -> Field {
        self.tag = Some(tag);
        self
    }

    /// The field may be null.
    pub(super) const fn nullable(mut self) -> Field {
        self.nullable = true;
        self
    }
}

/// The value of a field; it borrows from the bytes that were read.
#[derive(Debug)]
pub(super) enum Value<'a> {
    /// The field is not in this version, or it is a tagged one that was not sent: its default holds.
    Absent,
    Null,
    Bool(bool),
    Int(i64),
    Uuid(Uuid),
    Text(&'a str),
    List(Vec<Value<'a>>),
    /// Of a type that nobody asks for: read and checked, but not kept.
    Passed,
}

/// Bytes that are not what the table says.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("byte {position} of the record: {message}")]
pub struct RecordError {
    /// Where, counted from the first byte of the record's value.
    pub position: usize,
    /// What is wrong there, and what would be right.
    pub message: String,
}

impl RecordError {
    pub(super) fn new(position: usize, message: String) -> Self {
        RecordError { position, message }
    }
}

/// Names the field in which the bytes were wrong.
fn named<T>(what: &str, read: Result<T, WireError>) -> Result<T, RecordError> {
    read.map_err(|error| RecordError::new(error.position, format!("{what}: {}", error.problem)))
}

/// Reads a message: its fields in order, then the tagged ones.
pub(super) fn read_message<'a>(
    reader: &mut Reader<'a>,
    fields: &'static [Field],
    version: i16,
) -> Result<Message<'a>, RecordError> {
    let mut values = Vec::with_capacity(fields.len());
    for field in fields {
        values.push(if field.tag.is_some() || version < field.since {
            Value::Absent
        } else {
            read_value(reader, &field.kind, field, version)?
        });
    }
    for _ in 0..named("the number of tagged fields", reader.unsigned_varint())? {
        let tag = named("a tag", reader.unsigned_varint())?;
        let size = named("the size of a tagged field", reader.unsigned_varint())? as usize;
        let start = reader.position();
        let known = fields.iter().position(|field| field.tag == Some(tag) && version >= field.since);
        let Some(index) = known else {
            named("a tagged field", reader.bytes(size))?;
            continue;
        };
        let field = &fields[index];
        values[index] = read_value(reader, &field.kind, field, version)?;
        let read = reader.position() - start;
        if read != size {
            let message = format!("tagged field {} has {read} bytes, but its size says {size}", field.name);
            return Err(RecordError::new(start, message));
        }
    }
    Ok(Message { fields, values })
}

fn read_value<'a>(
    reader: &mut Reader<'a>,
    kind: &'static Kind,
    field: &Field,
    version: i16,
) -> Result<Value<'a>, RecordError> {
    let what = field.name;
    Ok(match kind {
        Kind::Bool => Value::Bool(named(what, reader.i8())? != 0),
        Kind::Int8 => Value::Int(named(what, reader.i8())?.into()),
        Kind::Int16 => Value::Int(named(what, reader.i16())?.into()),
        Kind::Int32 => Value::Int(named(what, reader.i32())?.into()),
        Kind::Int64 => Value::Int(named(what, reader.i64())?),
        Kind::Uint16 | Kind::Float64 => {
            named(what, reader.bytes(if matches!(kind, Kind::Uint16) { 2 } else { 8 }))?;
            Value::Passed
        }
        Kind::Uuid => Value::Uuid(named(what, reader.uuid())?),
        Kind::Struct(fields) => {
            read_message(reader, fields, version)?;
            Value::Passed
        }
        Kind::String | Kind::Bytes | Kind::Array(_) => {
            let start = reader.position();
            match named(what, reader.compact_len())? {
                None if field.nullable => Value::Null,
                None => {
                    return Err(RecordError::new(start, format!("{what} is null, which it must not be")));
                }
                Some(length) => read_sequence(reader, kind, field, length, version)?,
            }
        }
    })
}

fn read_sequence<'a>(
    reader: &mut Reader<'a>,
    kind: &'static Kind,
    field: &Field,
    length: usize,
    version: i16,
) -> Result<Value<'a>, RecordError> {
    let start = reader.position();
    // An element takes a byte at least: a length beyond the end is found before room is made for it.
    if length > reader.left() {
        let message = format!("{} of length {length}, but only {} bytes are left", field.name, reader.left());
        return Err(RecordError::new(start, message));
    }
    let Kind::Array(element) = kind else {
        let bytes = named(field.name, reader.bytes(length))?;
        return match (kind, std::str::from_utf8(bytes)) {
            (Kind::Bytes, _) => Ok(Value::Passed),
            (_, Ok(text)) => Ok(Value::Text(text)),
            (_, Err(_)) => Err(RecordError::new(start, format!("{} is not UTF-8", field.name))),
        };
    };
    let mut elements = Vec::with_capacity(length);
    for _ in 0..length {
        elements.push(read_value(reader, element, field, version)?);
    }
    Ok(Value::List(elements))
}

/// The values of a message with the table that names them.
#[derive(Debug)]
pub(super) struct Message<'a> {
    fields: &'static [Field],
    values: Vec<Value<'a>>,
}

impl<'a> Message<'a> {
    fn get(&self, name: &str) -> &Value<'a> {
        let index = self.fields.iter().position(|field| field.name == name);
        &self.values[index.expect("only asked for fields of its own table")]
    }

    /// A number; 0 where it is absent.
    pub(super) fn int(&self, name: &str) -> i64 {
        match self.get(name) {
            Value::Int(value) => *value,
            _ => 0,
        }
    }

    /// A number of at most 32 bits; `None` where it is absent.
    pub(super) fn sent_int32(&self, name: &str) -> Option<i32> {
        match self.get(name) {
            Value::Int(value) => i32::try_from(*value).ok(),
            _ => None,
        }
    }

    /// A number of at most 32 bits that is in all versions.
    pub(super) fn int32(&self, name: &str) -> i32 {
        self.sent_int32(name).unwrap_or_default()
    }

    /// A boolean; false where it is absent.
    pub(super) fn bool(&self, name: &str) -> bool {
        matches!(self.get(name), Value::Bool(true))
    }

    /// A string; `None` where it is null or absent.
    pub(super) fn text(&self, name: &str) -> Option<String> {
        match self.get(name) {
            Value::Text(text) => Some((*text).to_owned()),
            _ => None,
        }
    }

    /// An id; the zero id where it is absent.
    pub(super) fn uuid(&self, name: &str) -> Uuid {
        match self.get(name) {
            Value::Uuid(id) => *id,
            _ => Uuid::default(),
        }
    }

    /// A list of brokers; `None` where it is null or absent.
    pub(super) fn brokers(&self, name: &str) -> Option<Vec<i32>> {
        let Value::List(elements) = self.get(name) else {
            return None;
        };
        let id = |element: &Value<'_>| match element {
            Value::Int(id) => i32::try_from(*id).ok(),
            _ => None,
        };
        elements.iter().map(id).collect()
    }
}
