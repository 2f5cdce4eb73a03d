//! How far a command is.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;

/// A bar on standard error, if somebody sees it.
pub(super) struct Progress(pub ProgressBar);

impl Progress {
    /// Of something, whose parts are counted.
    pub fn new(quiet: bool, of: &str, parts: &str) -> Progress {
        if quiet || !std::io::stderr().is_terminal() {
            return Progress(ProgressBar::hidden());
        }
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        let style =
            ProgressStyle::with_template(&format!("{{msg}} [{{bar:40}}] {{pos}}/{{len}} {parts}, {{eta}} left"));
        Progress(bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar())).with_message(of.to_owned()))
    }
}
