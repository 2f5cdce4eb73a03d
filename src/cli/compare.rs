//! `coordsim compare`: two outcomes of one trace, line by line.

use super::error::CliError;
use super::files;
use crate::trace::{Level, compare};
use std::io::Write;
use std::path::PathBuf;

/// Compares two outcome files of one trace; exit code 1 if they differ.
///
/// Two coordinators may write records of one type in another order within an operation, and lists within a record: what
/// Kafka takes from hash maps. `canonical` sorts these; plain `diff` does not.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  coordsim compare --level canonical real.jsonl ours.jsonl")]
pub struct CompareArgs {
    /// How closely: exact lines; canonical orders; sizes (numbers and bytes of records); protocol (what a client sees).
    #[arg(long, value_enum, default_value_t = LevelName::Canonical)]
    level: LevelName,
    /// What is right.
    expected: PathBuf,
    /// What is to be checked.
    actual: PathBuf,
}

/// The levels of the trace format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum LevelName {
    Exact,
    Canonical,
    Sizes,
    Protocol,
}

/// Runs the command.
pub fn run(args: &CompareArgs) -> Result<(), CliError> {
    let level = match args.level {
        LevelName::Exact => Level::Exact,
        LevelName::Canonical => Level::Canonical,
        LevelName::Sizes => Level::Sizes,
        LevelName::Protocol => Level::Protocol,
    };
    let texts = [&args.expected, &args.actual].map(|path| files::read_text(path));
    let [Ok(expected), Ok(actual)] = &texts else {
        return Err(CliError::Input(texts.into_iter().filter_map(Result::err).collect()));
    };
    let comparison = compare(expected, actual, level)
        .map_err(|wrong| CliError::Input(wrong.iter().map(ToString::to_string).collect()))?;
    writeln!(std::io::stdout().lock(), "{comparison}")?;
    match comparison.differing {
        0 => Ok(()),
        lines => Err(CliError::Failed(format!("{lines} lines differ"))),
    }
}
