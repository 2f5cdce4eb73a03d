//! Reading TOML with a place for every error: tables that know which fields they were asked for, so that what
//! nobody asked for is an error with a suggestion.

use super::diagnostic::{Place, Problems, suggestion};
use super::units::{self, DURATION_FORM, RATE_FORM, SIZE_FORM, show_duration};
use crate::kernel::TimeMs;
use std::ops::RangeInclusive;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Longest duration that a scenario may name: sums of a few cannot overflow.
pub(super) const LONGEST_MS: TimeMs = 3650 * 86_400_000;

/// A table that is being read.
#[derive(Debug)]
pub(super) struct Table<'t> {
    table: &'t DeTable<'t>,
    at: usize,
    path: String,
    asked: Vec<&'static str>,
}

/// A value and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Value<'t> {
    value: &'t DeValue<'t>,
    pub at: usize,
    pub path: String,
}

/// The path of a field of what has a path.
fn path_in(path: &str, field: &str) -> String {
    let bare = field.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-') && !field.is_empty();
    let field = if bare { field.to_owned() } else { format!("{field:?}") };
    if path.is_empty() { field } else { format!("{path}.{field}") }
}

impl<'t> Table<'t> {
    /// The root of a file.
    pub fn root(table: &'t DeTable<'t>) -> Self {
        Table { table, at: 0, path: String::new(), asked: Vec::new() }
    }

    /// The path of a field of this table.
    pub fn path_of(&self, field: &str) -> String {
        path_in(&self.path, field)
    }

    /// The place of the table itself.
    pub fn place(&self, problems: &Problems) -> Place {
        problems.place(self.at, &self.path)
    }

    /// An error about the table as a whole.
    pub fn complain(&self, problems: &mut Problems, field: &str, message: impl Into<String>) {
        problems.add(self.at, &self.path_of(field), message);
    }

    /// A field, if it is there.
    pub fn get(&mut self, field: &'static str) -> Option<Value<'t>> {
        if !self.asked.contains(&field) {
            self.asked.push(field);
        }
        let value = self.table.get(field)?;
        Some(Value { value: value.get_ref(), at: value.span().start, path: self.path_of(field) })
    }

    /// A field that must be there.
    pub fn require(&mut self, problems: &mut Problems, field: &'static str, expected: &str) -> Option<Value<'t>> {
        let value = self.get(field);
        if value.is_none() {
            problems.add_missing(self.at, &self.path_of(field), expected);
        }
        value
    }

    /// All fields in the order of the file, with the place of the name and the value.
    pub fn fields(&self) -> Vec<(&'t str, usize, Value<'t>)> {
        let mut fields: Vec<_> = self
            .table
            .iter()
            .map(|(name, value)| {
                let path = self.path_of(name.get_ref());
                let value = Value { value: value.get_ref(), at: value.span().start, path };
                (&**name.get_ref(), name.span().start, value)
            })
            .collect();
        fields.sort_by_key(|(_, at, _)| *at);
        fields
    }

    /// Makes an error of every field that nobody asked for.
    pub fn finish(self, problems: &mut Problems) {
        for (name, at, value) in self.fields() {
            if !self.asked.contains(&name) {
                let mut known = self.asked.clone();
                known.sort_unstable();
                let known = known.join(", ");
                let near = suggestion(name, self.asked.iter().copied());
                let message = if near.is_empty() {
                    format!("is not a field here; expected one of {known}")
                } else {
                    format!("is not a field here{near}")
                };
                problems.add(at, &value.path, message);
            }
        }
    }

    /// A text.
    pub fn text(&mut self, problems: &mut Problems, field: &'static str) -> Option<String> {
        self.get(field)?.text(problems, "a text").map(str::to_owned)
    }

    /// `true` or `false`; `false` if it is not there.
    pub fn flag(&mut self, problems: &mut Problems, field: &'static str) -> bool {
        self.get(field).and_then(|value| value.boolean(problems)).unwrap_or(false)
    }

    /// An integer within a range, or what it is by default.
    pub fn integer(
        &mut self,
        problems: &mut Problems,
        field: &'static str,
        range: RangeInclusive<i64>,
        default: i64,
    ) -> i64 {
        self.get(field).and_then(|value| value.integer(problems, range)).unwrap_or(default)
    }

    /// A duration within a range, or what it is by default.
    pub fn duration(
        &mut self,
        problems: &mut Problems,
        field: &'static str,
        range: RangeInclusive<TimeMs>,
        default: TimeMs,
    ) -> TimeMs {
        self.get(field).and_then(|value| value.duration(problems, range)).unwrap_or(default)
    }

    /// The tables of an array of tables; none if it is not there.
    pub fn tables(&mut self, problems: &mut Problems, field: &'static str) -> Vec<Table<'t>> {
        let Some(value) = self.get(field) else { return Vec::new() };
        let expected = format!("tables, each with the header [[{field}]]");
        let Some(items) = value.items(problems, &expected) else { return Vec::new() };
        items.into_iter().filter_map(|item| item.table(problems, &expected)).collect()
    }
}

impl<'t> Value<'t> {
    /// An error about this value.
    pub fn complain(&self, problems: &mut Problems, message: impl Into<String>) {
        problems.add(self.at, &self.path, message);
    }

    /// The error that something else was expected.
    pub fn expected(&self, problems: &mut Problems, expected: &str) {
        self.complain(problems, format!("found {}; expected {expected}", self.show()));
    }

    /// The value as an error shows it.
    fn show(&self) -> String {
        match self.value {
            DeValue::String(text) => format!("{text:?}"),
            DeValue::Integer(number) => number.to_string(),
            DeValue::Float(number) => number.to_string(),
            DeValue::Boolean(flag) => flag.to_string(),
            DeValue::Datetime(_) => "a date".to_owned(),
            DeValue::Array(_) => "a list".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
        }
    }

    /// The path of a field, if this is a table.
    pub fn path_of(&self, field: &str) -> String {
        path_in(&self.path, field)
    }

    /// Whether it is a text.
    pub fn is_text(&self) -> bool {
        self.value.is_str()
    }

    /// The text, if it is an integer in quotes.
    pub fn bare_integer(&self) -> Option<&'t str> {
        self.value.as_str().filter(|text| text.parse::<i64>().is_ok())
    }

    /// Whether it is a list.
    pub fn is_list(&self) -> bool {
        self.value.is_array()
    }

    /// Whether it is a table.
    pub fn is_table(&self) -> bool {
        self.value.is_table()
    }

    /// Whether it is `true` or `false`.
    pub fn is_boolean(&self) -> bool {
        self.value.is_bool()
    }

    /// A text that is not empty.
    pub fn text(&self, problems: &mut Problems, expected: &str) -> Option<&'t str> {
        let text = self.value.as_str().filter(|text| !text.is_empty());
        if text.is_none() {
            self.expected(problems, expected);
        }
        text
    }

    /// A text that may be empty.
    pub fn any_text(&self, problems: &mut Problems, expected: &str) -> Option<&'t str> {
        let text = self.value.as_str();
        if text.is_none() {
            self.expected(problems, expected);
        }
        text
    }

    /// One of a few names.
    pub fn one_of<T: Copy>(&self, problems: &mut Problems, names: &[(&str, T)]) -> Option<T> {
        let found = self.value.as_str().and_then(|text| names.iter().find(|(name, _)| *name == text));
        if found.is_none() {
            let list: Vec<String> = names.iter().map(|(name, _)| format!("{name:?}")).collect();
            let near = self.value.as_str().map_or_else(String::new, |t| suggestion(t, names.iter().map(|(n, _)| *n)));
            self.expected(problems, &format!("one of {}{near}", list.join(", ")));
        }
        found.map(|(_, value)| *value)
    }

    /// `true` or `false`.
    pub fn boolean(&self, problems: &mut Problems) -> Option<bool> {
        let flag = self.value.as_bool();
        if flag.is_none() {
            self.expected(problems, "true or false");
        }
        flag
    }

    /// An integer within a range.
    pub fn integer(&self, problems: &mut Problems, range: RangeInclusive<i64>) -> Option<i64> {
        let number =
            self.value.as_integer().and_then(|number| i64::from_str_radix(number.as_str(), number.radix()).ok());
        let number = number.filter(|number| range.contains(number));
        if number.is_none() {
            let expected = match (*range.start(), *range.end()) {
                (0, i64::MAX) => "an integer of 0 or more".to_owned(),
                (low, i64::MAX) => format!("an integer of {low} or more"),
                (low, high) if low == high => format!("{low}"),
                (low, high) => format!("an integer from {low} to {high}"),
            };
            self.expected(problems, &expected);
        }
        number
    }

    /// A number that is not negative, whole or not.
    pub fn decimal(&self, text: &str, problems: &mut Problems, expected: &str) -> Option<f64> {
        let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
        if number.is_none() {
            self.expected(problems, expected);
        }
        number
    }

    /// A number from 0 to 1.
    pub fn fraction(&self, problems: &mut Problems) -> Option<f64> {
        let number = match self.value {
            DeValue::Float(number) => number.as_str().parse().ok(),
            DeValue::Integer(number) => number.as_str().parse().ok(),
            _ => None,
        };
        let number = number.filter(|number: &f64| (0.0..=1.0).contains(number));
        if number.is_none() {
            self.expected(problems, "a number from 0 to 1");
        }
        number
    }

    /// A duration within a range, in words.
    pub fn duration(&self, problems: &mut Problems, range: RangeInclusive<TimeMs>) -> Option<TimeMs> {
        let Some(time_ms) = self.value.as_str().and_then(units::duration_ms) else {
            self.expected(problems, DURATION_FORM);
            return None;
        };
        if !range.contains(&time_ms) {
            let (low, high) = (show_duration(*range.start()), show_duration(*range.end()));
            self.expected(problems, &format!("a duration from {low} to {high}"));
            return None;
        }
        Some(time_ms)
    }

    /// A rate in words.
    pub fn rate(&self, problems: &mut Problems) -> Option<units::Rate> {
        let rate = self.value.as_str().and_then(units::rate).filter(|rate| rate.per_ms <= LONGEST_MS);
        if rate.is_none() {
            self.expected(problems, RATE_FORM);
        }
        rate
    }

    /// A size in words.
    pub fn size(&self, problems: &mut Problems) -> Option<i64> {
        let size = self.value.as_str().and_then(units::size_bytes);
        if size.is_none() {
            self.expected(problems, SIZE_FORM);
        }
        size
    }

    /// The items of a list.
    pub fn items(&self, problems: &mut Problems, expected: &str) -> Option<Vec<Value<'t>>> {
        let Some(items) = self.value.as_array() else {
            self.expected(problems, expected);
            return None;
        };
        let item = |(index, item): (usize, &'t Spanned<DeValue<'t>>)| Value {
            value: item.get_ref(),
            at: item.span().start,
            path: format!("{}[{index}]", self.path),
        };
        Some(items.iter().enumerate().map(item).collect())
    }

    /// A list of texts that are not empty.
    pub fn texts(&self, problems: &mut Problems, expected: &str) -> Option<Vec<String>> {
        let items = self.items(problems, expected)?;
        let texts: Vec<String> =
            items.iter().filter_map(|item| item.text(problems, "a text")).map(str::to_owned).collect();
        (texts.len() == items.len()).then_some(texts)
    }

    /// A list of racks: texts that may be empty, for `""` is a rack.
    pub fn racks(&self, problems: &mut Problems, expected: &str) -> Option<Vec<String>> {
        let items = self.items(problems, expected)?;
        Some(items.iter().filter_map(|item| item.any_text(problems, "a rack")).map(str::to_owned).collect())
    }

    /// A table.
    pub fn table(&self, problems: &mut Problems, expected: &str) -> Option<Table<'t>> {
        let Some(table) = self.value.as_table() else {
            self.expected(problems, expected);
            return None;
        };
        Some(Table { table, at: self.at, path: self.path.clone(), asked: Vec::new() })
    }
}
