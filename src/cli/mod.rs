//! The command line: one file for each subcommand. Exit codes are decided here: 0, 1 for a failure or a difference,
//! 2 for bad input; a closed pipe is success.

mod bench;
mod check;
mod clean_log;
mod compare;
mod comparison;
mod diff;
mod error;
mod files;
mod hash;
mod import;
mod inputs;
mod interrupt;
mod log;
mod merge;
mod progress;
mod replay;
mod report;
mod run;
mod shell;
mod sweep;
mod trace;
mod traces;
mod why;

use clap::{CommandFactory, Parser, Subcommand};
use error::CliError;
use std::process::ExitCode;

/// Simulates Kafka's group coordinator, and compares ways in which it can notice that a subscribed topic changed.
#[derive(Debug, Parser)]
#[command(name = "coordsim", version, max_term_width = 110, after_help = MANUAL)]
struct Cli {
    /// No progress, no remarks.
    #[arg(long, global = true)]
    quiet: bool,
    #[command(subcommand)]
    command: Command,
}

/// What `coordsim --help` says after the list of commands.
const MANUAL: &str = "\
A scenario is a TOML file: a cluster, topics, groups, and what happens to them (docs/scenario.md).
`run` brings it to life with a seed, runs every strategy on the same history, prints a table and
writes CSV files to out/<scenario> (docs/output.md). `import` makes a scenario of a real cluster.
`trace` writes what happens to one coordinator shard, which `replay` repeats event by event; `log` writes what would
be in `__consumer_offsets`.

Exit codes: 0 done, 1 failed or different, 2 wrong input (every error is listed), 130 interrupted (Ctrl-C).

Examples:
  coordsim run scenarios/quickstart.toml
  coordsim run scenarios/*.toml --strategies full-map,cached-hash --seeds 5 --out out/mine

`coordsim COMMAND --help` says more, with an example.";

#[derive(Debug, Subcommand)]
enum Command {
    Run(run::RunArgs),
    Why(why::WhyArgs),
    Report(report::ReportArgs),
    Check(check::CheckArgs),
    Sweep(sweep::SweepArgs),
    Merge(merge::MergeArgs),
    Trace(trace::TraceArgs),
    Log(log::LogArgs),
    Replay(replay::ReplayArgs),
    Compare(compare::CompareArgs),
    Hash(hash::HashArgs),
    Import(import::ImportArgs),
    RandomTrace(traces::RandomTraceArgs),
    Completions(shell::CompletionsArgs),
    Man(shell::ManArgs),
    #[command(hide = true)]
    CleanLog(clean_log::CleanLogArgs),
    #[command(hide = true)]
    Diff(diff::DiffArgs),
}

/// Runs the command line.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    if let Err(error) = interrupt::clean_up_when_interrupted() {
        eprintln!("warning: an interrupted command may leave a hidden .partial file behind: {error}");
    }
    let result = match &cli.command {
        Command::Run(args) => run::run(args, cli.quiet),
        Command::Why(args) => why::run(args),
        Command::Report(args) => report::run(args),
        Command::Completions(args) => shell::completions(args, Cli::command()),
        Command::Man(args) => shell::man(args, Cli::command()),
        Command::Check(args) => check::run(args, cli.quiet),
        Command::Sweep(args) => sweep::run(args, cli.quiet),
        Command::Merge(args) => merge::run(args),
        Command::Trace(args) => trace::run(args, cli.quiet),
        Command::Log(args) => log::run(args, cli.quiet),
        Command::Replay(args) => replay::run(args),
        Command::Compare(args) => compare::run(args),
        Command::Hash(args) => hash::run(args),
        Command::Import(args) => import::run(args),
        Command::CleanLog(args) => clean_log::run(args),
        Command::Diff(args) => diff::run(args, cli.quiet),
        Command::RandomTrace(args) => traces::run(args),
    };
    match result {
        Ok(()) | Err(CliError::ClosedPipe) => ExitCode::SUCCESS,
        Err(CliError::Input(errors)) => {
            errors.iter().for_each(|error| eprintln!("error: {error}"));
            ExitCode::from(2)
        }
        Err(CliError::Failed(error)) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the help of a command and of all beneath it.
    fn check_help(command: &mut clap::Command) {
        let help = command.render_long_help().to_string();
        assert!(help.contains("Example") && help.contains("  co"), "{}: {help}", command.get_name());
        command.get_subcommands_mut().filter(|command| command.get_name() != "help").for_each(check_help);
    }

    #[test]
    fn every_help_has_an_example() {
        let mut command = Cli::command();
        command.build();
        check_help(&mut command);
        let help = command.render_help().to_string();
        assert_eq!(help.matches("\n  coordsim run ").count(), 2, "{help}");
    }
}
