//! Ctrl-C and its like: what is in the making goes, what is there stays whole.

use crate::results::abandon_unfinished;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io;

/// From now on a signal that asks the program to end takes away whatever is in the making; the exit code is the shell's:
/// 128 and the signal's number (130 for Ctrl-C).
///
/// # Errors
/// The operating system lets nobody listen to signals; they then end the program as they always do.
pub fn clean_up_when_interrupted() -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            abandon_unfinished();
            std::process::exit(128 + signal);
        }
    });
    Ok(())
}
