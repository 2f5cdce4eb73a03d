//! `coordsim hash`: the metadata hashes of a vectors file.

use super::error::CliError;
use super::files;
use crate::trace::vectors::check_vectors;
use std::io::Write;
use std::path::PathBuf;

/// Computes the topic or group hash of each line of a vectors file.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  coordsim hash tests/golden/hash-vectors.jsonl")]
pub struct HashArgs {
    /// JSON lines: {"topic":NAME,"id":ID,"racks":[[RACK,…],…]} or {"topics":{NAME:HASH,…}}.
    vectors: PathBuf,
}

/// Runs the command.
pub fn run(args: &HashArgs) -> Result<(), CliError> {
    let text = files::read_text(&args.vectors).map_err(|wrong| CliError::Input(vec![wrong]))?;
    let file = args.vectors.display();
    if text.is_empty() {
        return Err(CliError::Input(vec![format!("{file}: the file is empty; expected a vector on each line")]));
    }
    let hashes = check_vectors(&text)
        .map_err(|wrong| CliError::Input(wrong.iter().map(|e| format!("{file}: {e}")).collect()))?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for hash in hashes {
        writeln!(out, "{hash}")?;
    }
    out.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_file_is_an_error() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let vectors = folder.path().join("empty.jsonl");
        std::fs::write(&vectors, "").expect("writes");
        let expected = format!("{}: the file is empty; expected a vector on each line", vectors.display());
        match run(&HashArgs { vectors }) {
            Err(CliError::Input(errors)) => assert_eq!(errors, [expected]),
            other => panic!("{other:?}"),
        }
    }
}
