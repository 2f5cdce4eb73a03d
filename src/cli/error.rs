//! How a command fails, and with which exit code.

use std::io;

/// Why a command failed.
#[derive(Debug)]
pub enum CliError {
    /// What the user gave is wrong: every error, a line each. Exit code 2.
    Input(Vec<String>),
    /// Something else went wrong, or a check found a difference. Exit code 1.
    Failed(String),
    /// Nobody reads the output any more: not an error.
    ClosedPipe,
}

impl From<io::Error> for CliError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => CliError::ClosedPipe,
            _ => CliError::Failed(error.to_string()),
        }
    }
}
