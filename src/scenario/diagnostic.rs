//! What is wrong with a scenario: where, what was found, and what would be right.

use std::fmt;

/// One error, as a user sees it: `file:line:column: field: message`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Diagnostic {
    /// The file, as the user named it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
    /// The field as a path, `groups[0].members`; list items are counted from 0. Empty for errors of syntax.
    pub field: String,
    /// What was found, and what would be right.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Diagnostic { file, line, column, field, message } = self;
        if field.is_empty() {
            write!(f, "{file}:{line}:{column}: {message}")
        } else {
            write!(f, "{file}:{line}:{column}: {field}: {message}")
        }
    }
}

/// Where something stands in a scenario, for errors that show only later.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Place {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
    /// The field as a path.
    pub field: String,
}

/// Collects the errors of a file.
#[derive(Debug)]
pub(super) struct Problems<'a> {
    file: &'a str,
    text: &'a str,
    line_starts: Vec<usize>,
    found: Vec<(usize, Diagnostic)>,
    /// Lines with errors of syntax: what else is said of them would be a guess.
    broken_lines: Vec<u32>,
}

impl<'a> Problems<'a> {
    pub fn new(file: &'a str, text: &'a str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let line_starts = std::iter::once(0).chain(ends.map(|(at, _)| at + 1)).collect();
        Problems { file, text, line_starts, found: Vec::new(), broken_lines: Vec::new() }
    }

    /// The place of a byte of the file.
    pub fn place(&self, at: usize, field: &str) -> Place {
        let at = at.min(self.text.len());
        let line = self.line_starts.partition_point(|start| *start <= at);
        let start = self.line_starts[line - 1];
        let column = self.text.get(start..at).map_or(at - start, |before| before.chars().count()) + 1;
        Place { line: line as u32, column: column as u32, field: field.to_owned() }
    }

    /// Says that all errors so far were of syntax, and the others follow.
    pub fn syntax_is_read(&mut self) {
        self.broken_lines = self.found.iter().map(|(_, diagnostic)| diagnostic.line).collect();
    }

    /// Notes that something is missing, unless a broken line may be where it was.
    pub fn add_missing(&mut self, at: usize, field: &str, expected: &str) {
        if self.broken_lines.is_empty() {
            self.add(at, field, format!("is missing; expected {expected}"));
        }
    }

    /// Notes an error at a byte of the file.
    pub fn add(&mut self, at: usize, field: &str, message: impl Into<String>) {
        let Place { line, column, field } = self.place(at, field);
        if self.broken_lines.contains(&line) {
            return;
        }
        let diagnostic = Diagnostic { file: self.file.to_owned(), line, column, field, message: message.into() };
        self.found.push((at, diagnostic));
    }

    /// Notes an error about a field of a table whose place was kept.
    pub fn add_at(&mut self, place: &Place, field: &str, message: impl Into<String>) {
        let at = self.line_starts.get(place.line as usize - 1).copied().unwrap_or(0) + place.column as usize - 1;
        self.add(at, &format!("{}.{field}", place.field), message);
    }

    /// Whether a field, or anything in it, is wrong or may stand on a broken line: then nothing follows from its value.
    pub fn is_wrong(&self, field: &str) -> bool {
        let within = |rest: &str| rest.is_empty() || rest.starts_with(['.', '[']);
        !self.broken_lines.is_empty()
            || self.found.iter().any(|(_, found)| found.field.strip_prefix(field).is_some_and(within))
    }

    /// Whether a list of tables may lack items, or one of these fields of an item is wrong: then what is not found in the
    /// list may be meant to be there.
    pub fn is_list_wrong(&self, list: &str, fields: &[&str]) -> bool {
        let about_it = |found: &Diagnostic| {
            let Some(rest) = found.field.strip_prefix(list) else { return false };
            let of_item = rest.strip_prefix('[').and_then(|rest| rest.split_once(']')).map(|(_, field)| field);
            let rest = of_item.unwrap_or(rest);
            rest.is_empty() || rest.strip_prefix('.').is_some_and(|field| fields.contains(&field))
        };
        !self.broken_lines.is_empty() || self.found.iter().any(|(_, found)| about_it(found))
    }

    /// Whether there is none so far.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// All errors in order of position, but first those of syntax.
    pub fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.found.sort();
        self.found.sort_by_key(|(_, found)| !found.field.is_empty());
        self.found.dedup();
        self.found.into_iter().map(|(_, diagnostic)| diagnostic).collect()
    }
}

/// The candidate nearest to a name, if it is near enough to be what was meant.
pub(super) fn nearest<'n>(name: &str, candidates: impl IntoIterator<Item = &'n str>) -> Option<&'n str> {
    let limit = (name.chars().count() / 3).clamp(1, 4);
    let near = candidates.into_iter().map(|candidate| (distance(name, candidate), candidate));
    near.filter(|(distance, _)| *distance <= limit).min().map(|(_, candidate)| candidate)
}

/// How many characters must be put in, taken out or replaced (Levenshtein).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, cb) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != *cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// `; did you mean "x"?`, or nothing.
pub(super) fn suggestion<'n>(name: &str, candidates: impl IntoIterator<Item = &'n str>) -> String {
    nearest(name, candidates).map_or_else(String::new, |near| format!("; did you mean {near:?}?"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_names() {
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(nearest("membrs", ["member", "members"]), Some("members"));
        assert_eq!(nearest("member_s", ["members", "topics"]), Some("members"));
        assert_eq!(nearest("xyz", ["members", "topics"]), None);
    }

    #[test]
    fn places_count_characters() {
        let problems = Problems::new("f", "äb\ncd\n");
        assert_eq!((problems.place(2, "").line, problems.place(2, "").column), (1, 2));
        assert_eq!((problems.place(5, "").line, problems.place(5, "").column), (2, 2));
        assert_eq!((problems.place(99, "").line, problems.place(99, "").column), (3, 1));
    }
}
