//! Errors of syntax, one for each mistake. A parser that goes on after a mistake takes what follows for something else,
//! and finds errors where there are none. So a file with errors is taken apart into statements (a table's header or a
//! field, each with the lines up to the next one), and those that are none are blanked out before the rest is read.

use super::diagnostic::{Diagnostic, Problems};
use super::reader::Table;
use std::ops::Range;
use toml::de::DeTable;

/// Of how many statements a value over several lines may seem to consist.
const MOST_JOINED: usize = 50;

/// A file without its errors of syntax.
#[derive(Debug)]
struct Sound {
    /// The text with blanks for what is broken: all else stands where it stood.
    text: String,
    /// The errors: where, and what the parser says.
    errors: Vec<(usize, String)>,
}

/// Reads a file: `make` is given its root and the text without what is broken.
///
/// # Errors
/// Everything that is wrong in order of position, but first the errors of syntax.
pub(super) fn read<T>(
    file: &str,
    text: &str,
    make: impl FnOnce(Table, &str, &mut Problems) -> T,
) -> Result<T, Vec<Diagnostic>> {
    let mut problems = Problems::new(file, text);
    let sound = sound(text);
    for (at, message) in &sound.errors {
        problems.add(*at, "", format!("not TOML: {message}"));
    }
    problems.syntax_is_read();
    let (table, _) = DeTable::parse_recoverable(&sound.text);
    let made = make(Table::root(table.get_ref()), &sound.text, &mut problems);
    if problems.is_empty() { Ok(made) } else { Err(problems.into_sorted()) }
}

/// Finds the errors of syntax.
fn sound(text: &str) -> Sound {
    let mut sound = Sound { text: text.to_owned(), errors: Vec::new() };
    if errors(text).is_empty() {
        return sound;
    }
    let starts = statement_starts(text);
    let mut next = 0;
    // The fields of a table without a header would be those of the table before.
    let mut in_broken_table = false;
    while let Some(&start) = starts.get(next) {
        let is_header = is_header(&text[start..]);
        in_broken_table &= !is_header;
        let ends: Vec<usize> = starts[next + 1..].iter().copied().chain([text.len()]).take(MOST_JOINED).collect();
        let most = if is_open(&text[start..ends[0]]) { ends.len() } else { 1 };
        let whole = ends[..most].iter().position(|end| errors(&text[start..*end]).is_empty());
        next += 1 + whole.unwrap_or(0);
        if whole.is_none() {
            let broken = sound.blank_broken(text, start..ends[0]);
            in_broken_table |= is_header && broken == start;
        }
        if in_broken_table {
            sound.blank(start..ends[whole.unwrap_or(0)]);
        }
    }
    sound.find_duplicates();
    sound
}

impl Sound {
    /// Notes the first error of a statement and blanks it out; gives where. The lines before the error may be a whole
    /// statement: then what follows is a line that is none.
    fn blank_broken(&mut self, text: &str, statement: Range<usize>) -> usize {
        let Range { start, end } = statement;
        let first = |start: usize| errors(&text[start..end]).into_iter().next().unwrap_or_default();
        let (at, mut message) = first(start);
        let line = text[..start + at].rfind('\n').map_or(start, |newline| newline + 1);
        let (mut from, mut at) = (start, start + at);
        if line > start && line < end && errors(&text[start..line]).is_empty() {
            let error = first(line);
            (from, at, message) = (line, line + error.0, error.1);
        }
        // What is missing at the end is missing on the last line, not on the one after it.
        let last = from + text[from..end].trim_end().len();
        self.errors.push((at.min(last), message));
        self.blank(from..end);
        from
    }

    /// What is there twice, of which only the whole file tells; of a table that is, its header.
    fn find_duplicates(&mut self) {
        let mut table_end = 0;
        for (at, message) in errors(&self.text) {
            if at < table_end {
                continue;
            }
            let line = self.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
            if is_header(&self.text[line..]) {
                let headers = statement_starts(&self.text).into_iter().filter(|start| is_header(&self.text[*start..]));
                table_end = headers.into_iter().find(|start| *start > at).unwrap_or(self.text.len());
            }
            self.errors.push((at, message));
        }
        self.errors.sort();
    }

    fn blank(&mut self, range: Range<usize>) {
        let blanks: String = self.text[range.clone()].bytes().map(|b| if b == b'\n' { '\n' } else { ' ' }).collect();
        self.text.replace_range(range, &blanks);
    }
}

/// All that the parser complains of, in order of position.
fn errors(text: &str) -> Vec<(usize, String)> {
    let (_, errors) = DeTable::parse_recoverable(text);
    let place = |error: &toml::de::Error| error.span().map_or(0, |span| span.start);
    let mut errors: Vec<_> = errors.iter().map(|error| (place(error), error.message().to_owned())).collect();
    errors.sort_by_key(|(at, _)| *at);
    errors
}

/// Where lines begin that look like a header or a field, and the start of the file.
fn statement_starts(text: &str) -> Vec<usize> {
    let mut starts = vec![0];
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if at > 0 && (is_header(line) || is_field(line)) {
            starts.push(at);
        }
        at += line.len();
    }
    starts
}

/// Whether the first line looks like the header of a table, perhaps without its first bracket; items of a list have commas.
fn is_header(text: &str) -> bool {
    let line = text.lines().next().unwrap_or("").split('#').next().unwrap_or("").trim();
    let without_first = line.starts_with(|c: char| c.is_ascii_alphabetic()) && line.ends_with(']');
    (line.starts_with('[') || without_first) && !line.contains([',', '='])
}

fn is_field(line: &str) -> bool {
    let name = line.split_once('=').map_or("", |(name, _)| name.trim());
    !name.is_empty() && !name.contains(['[', '{', '(', ',', '#'])
}

/// Whether a field's value may go on after a line that looks like another statement.
fn is_open(statement: &str) -> bool {
    let value = statement.split_once('=').map_or("", |(_, value)| value);
    value.contains(['[', '{']) || value.contains("\"\"\"") || value.contains("'''")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines that are left, and the lines (from 1) with errors.
    fn left(text: &str) -> (String, Vec<usize>) {
        let sound = sound(text);
        assert_eq!(sound.text.len(), text.len());
        let lines = sound.errors.iter().map(|(at, _)| text[..*at].matches('\n').count() + 1).collect();
        let left: Vec<&str> = sound.text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        (left.join("|"), lines)
    }

    #[test]
    fn a_mistake_is_one_error_and_takes_only_itself_away() {
        for (text, expected, lines) in [
            ("a = 1\nb = [\n", "a = 1", vec![2]),
            ("a = [\"x\", \"y\"\n\nb = 2\n[c]\nd = [1]\n", "b = 2|[c]|d = [1]", vec![1]),
            ("a = { x = 1\nb = 2\n", "b = 2", vec![1]),
            ("a = \"ä\nb = 2\n", "b = 2", vec![1]),
            ("a = \"\"\"\nx\nb = 2\n", "b = 2", vec![2]),
            ("a 1\nb = 2\nc\nd = 3\n", "b = 2|d = 3", vec![1, 3]),
            ("a = 1\n5,\n6]\nb = 2\n", "a = 1|b = 2", vec![2]),
            // The fields of a table whose header is broken are no other's.
            ("a = 1\n[[t]\na = 2\nb = [\n2]\n[u]\nc = 3\n", "a = 1|[u]|c = 3", vec![2]),
            ("a = 1\n[t\na = 2\nb = 1h\n[[u]]\nc = 3\n", "a = 1|[[u]]|c = 3", vec![2, 4]),
            ("a = 1\nt]\na = 2\n[u]\nc = 3\n", "a = 1|[u]|c = 3", vec![2]),
            // Values over several lines, with lines that look like statements, stay whole.
            (
                "x\na = [\n[1],\n[2]\n]\nb = \"\"\"\nc = 1\n[d]\n\"\"\"\n",
                "a = [|[1],|[2]|]|b = \"\"\"|c = 1|[d]|\"\"\"",
                vec![1],
            ),
            ("a = 1\r\nb = ]\r\nc = 2\r\n", "a = 1|c = 2", vec![2]),
            // Twice there.
            ("a = 1\na = 2\n", "a = 1|a = 2", vec![2]),
            ("[t]\na = 1\nb = 2\n[u]\n[t]\na = 2\nb = 2\n", "[t]|a = 1|b = 2|[u]|[t]|a = 2|b = 2", vec![5]),
        ] {
            assert_eq!(left(text), (expected.to_owned(), lines), "{text}");
        }
    }
}
