//! `coordsim why`: what bumps came from, and where strategies part.

use super::error::CliError;
use crate::report::RunFiles;
use crate::report::why::{Question, difference, explain};
use std::io::Write;
use std::path::PathBuf;

/// Explains epoch bumps from the files of a run.
///
/// For each bump, step by step: what happened, the image, the topic and what of it changed, the group, its epoch, and the
/// records that were written because of it. With --diff, the first moment at which two strategies part.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  coordsim why out/quickstart --group app-1 --strategy cached-hash\n  coordsim why out/quickstart --idle --limit 3\n  coordsim why out/quickstart --diff recompute cached-hash"
)]
pub struct WhyArgs {
    /// The folder of a run
    #[arg(value_name = "DIR")]
    run: PathBuf,
    /// Only bumps of this group
    #[arg(long, value_name = "G")]
    group: Option<String>,
    /// Only bumps to this epoch
    #[arg(long, value_name = "N")]
    epoch: Option<i32>,
    /// Only bumps under this strategy
    #[arg(long, value_name = "S")]
    strategy: Option<String>,
    /// Only bumps that changed no assignment
    #[arg(long)]
    idle: bool,
    /// Only bumps that nothing explains
    #[arg(long)]
    needless: bool,
    /// How many bumps to explain at most
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Where two strategies part first
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with_all = ["group", "epoch", "strategy", "idle", "needless"])]
    diff: Option<Vec<String>>,
}

/// Runs the command.
pub fn run(args: &WhyArgs) -> Result<(), CliError> {
    let wrong = |error: crate::report::ReportError| CliError::Input(vec![error.to_string()]);
    let run = RunFiles::read(&args.run).map_err(wrong)?;
    let text = match args.diff.as_deref() {
        Some([a, b]) => difference(&run, a, b),
        _ => {
            let question = Question {
                group: args.group.clone(),
                epoch: args.epoch,
                strategy: args.strategy.clone(),
                idle: args.idle,
                needless: args.needless,
            };
            explain(&run, &question, args.limit)
        }
    };
    Ok(write!(std::io::stdout().lock(), "{}", text.map_err(wrong)?)?)
}
