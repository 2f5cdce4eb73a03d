//! `coordsim report`: one page of runs.

use super::error::CliError;
use crate::report::{RunFiles, page};
use crate::results::write_file;
use std::io::Write;
use std::path::PathBuf;

/// Writes one self-contained HTML page that shows runs.
///
/// It needs no network, and everything on it is from the CSV files of the runs. `coordsim run` writes report.html of one run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  coordsim report out/quickstart out/rack-change --out both.html")]
pub struct ReportArgs {
    /// The folders of runs
    #[arg(required = true, value_name = "DIR")]
    runs: Vec<PathBuf>,
    /// The file to write
    #[arg(long, value_name = "FILE.html")]
    out: PathBuf,
}

/// Runs the command.
pub fn run(args: &ReportArgs) -> Result<(), CliError> {
    let (mut runs, mut errors) = (Vec::new(), Vec::new());
    for folder in &args.runs {
        match RunFiles::read(folder) {
            Ok(run) => runs.push(run),
            Err(error) => errors.push(error.to_string()),
        }
    }
    if !errors.is_empty() {
        return Err(CliError::Input(errors));
    }
    let html = page(&runs).map_err(|error| CliError::Input(vec![error.to_string()]))?;
    write_file(&args.out, html.as_bytes()).map_err(|error| CliError::Failed(error.to_string()))?;
    Ok(writeln!(std::io::stdout().lock(), "Page: {}", args.out.display())?)
}
