//! `coordsim completions` and `coordsim man`: what a shell and `man` need to know of the command line.

use super::error::CliError;
use crate::results::write_tree;
use clap_complete::Shell;
use std::io::Write;
use std::path::PathBuf;

/// Prints completions for a shell.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  coordsim completions bash > ~/.local/share/bash-completion/completions/coordsim")]
pub struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

/// Writes man pages: one for coordsim and one for each command.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  coordsim man --out man/man1")]
pub struct ManArgs {
    /// The folder to write to; it must not be there yet, or be empty
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// Prints completions.
pub fn completions(args: &CompletionsArgs, mut command: clap::Command) -> Result<(), CliError> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, "coordsim", &mut text);
    Ok(std::io::stdout().lock().write_all(&text)?)
}

/// Writes man pages.
pub fn man(args: &ManArgs, mut command: clap::Command) -> Result<(), CliError> {
    command.build();
    let mut pages = Vec::new();
    add_pages(&command, &mut pages)?;
    let count = pages.len();
    write_tree(&args.out, pages).map_err(|error| CliError::Failed(error.to_string()))?;
    Ok(writeln!(std::io::stdout().lock(), "wrote {}: {count} pages", args.out.display())?)
}

fn add_pages(command: &clap::Command, pages: &mut Vec<(PathBuf, Vec<u8>)>) -> Result<(), CliError> {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    pages.push((PathBuf::from(format!("{name}.1")), page));
    let shown = |command: &&clap::Command| !command.is_hide_set() && command.get_name() != "help";
    command.get_subcommands().filter(shown).try_for_each(|command| add_pages(command, pages))
}
