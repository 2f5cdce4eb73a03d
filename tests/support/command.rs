//! The program, called from outside.

use std::path::Path;
use std::process::Command;

/// `coordsim` with arguments, in a folder.
pub fn coordsim(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coordsim"));
    command.current_dir(folder).args(arguments).env_remove("NO_COLOR");
    command
}
