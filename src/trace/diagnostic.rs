//! What is wrong with a trace or outcome file: file, line, field, and what would be right.

use std::fmt;

/// How many errors of one file are told; what is more is only counted.
pub const TOLD: usize = 20;

/// One thing that is wrong with a file of lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file, as the user named it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The field, as a path (`changes[2].replicas`); empty when it is the whole line.
    pub field: String,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: ", self.file, self.line)?;
        if !self.field.is_empty() {
            write!(f, "{}: ", self.field)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for Diagnostic {}

/// Collects the errors of one file, line by line.
#[derive(Debug)]
pub(super) struct Errors {
    file: String,
    line: usize,
    told: Vec<Diagnostic>,
    found: usize,
}

impl Errors {
    pub fn new(file: &str) -> Self {
        Errors { file: file.to_owned(), line: 1, told: Vec::new(), found: 0 }
    }

    /// The errors added from now on are of this line.
    pub fn at_line(&mut self, line: usize) {
        self.line = line;
    }

    /// Adds an error of a field (empty: of the whole line).
    pub fn add(&mut self, field: impl Into<String>, message: impl Into<String>) {
        self.found += 1;
        let diagnostic =
            Diagnostic { file: self.file.clone(), line: self.line, field: field.into(), message: message.into() };
        // One more than is told: the place of "and N more" is that of the first one left out.
        if self.told.len() <= TOLD {
            self.told.push(diagnostic);
        }
    }

    /// How many errors there have been so far.
    pub fn count(&self) -> usize {
        self.found
    }

    /// What was understood if nothing was wrong, or else what was wrong.
    pub fn into_result<T>(mut self, value: T) -> Result<T, Vec<Diagnostic>> {
        if self.found == 0 {
            return Ok(value);
        }
        let more = self.found.saturating_sub(TOLD);
        if more > 0
            && let Some(last) = self.told.last_mut()
        {
            last.field = String::new();
            last.message = format!("and {more} more {}", if more == 1 { "error" } else { "errors" });
        }
        Err(self.told)
    }
}
