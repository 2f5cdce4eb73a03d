//! Compares outcomes, line by line.

mod canonical;

use super::Diagnostic;
use super::outcome::{OutcomeRow, RawRecord, read_line};
use super::read::split_lines;
use canonical::canonical;
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

#[cfg(test)]
mod tests;
