//! What a person sees of runs: plots, one page, and why a group's epoch was bumped. Everything is made from the files of a run, so
//! that every number shown stands in a CSV file.

mod files;
mod page;
pub mod plot;
mod rows;
mod verdict;
pub mod why;
mod words;

pub use files::{ReportError, RunFiles};
pub use page::page;

/// All that may be in the folder of a run beside its tables.
pub const FILES: [&str; 17] = [
    "plots/appended.svg",
    "plots/appended.png",
    "plots/log.svg",
    "plots/log.png",
    "plots/bumps.svg",
    "plots/bumps.png",
    "plots/causes.svg",
    "plots/causes.png",
    "plots/delays.svg",
    "plots/delays.png",
    "plots/records.svg",
    "plots/records.png",
    "plots/cpu.svg",
    "plots/cpu.png",
    "plots/cpu-per-refresh.svg",
    "plots/cpu-per-refresh.png",
    "report.html",
];
