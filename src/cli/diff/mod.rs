//! `coordsim diff`: random traces on real Kafka and on ours, compared. `conformance/diff` calls it; it is not in the
//! list of commands, because it is of no use without `conformance/`.

mod lane;
mod server;
mod shown;

use super::error::CliError;
use super::traces::parse_events;
use crate::coordinator::KafkaVersion;
use crate::trace::random::Kinds;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use lane::{Lane, Plan, Report};
use rayon::prelude::*;
use std::io::{IsTerminal, Write};
use std::ops::Range;
use std::path::PathBuf;
use std::time::Duration;

/// Replays random traces on real Kafka and on the simulator, and compares all answers and records.
///
/// Each version of Kafka is compared as it is, and from 4.1 on also with its topic-hash cache emptied before every
/// operation (`recompute`); on the latter traces `stored-hash` must bump as `recompute` does. Prints a line for each
/// of these, and the first differences as the smallest traces that still have them. Exit code 1 if there are any.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  conformance/diff --seeds 0..500 --kafka all")]
pub struct DiffArgs {
    /// The seeds: from, and up to but without
    #[arg(long, value_name = "A..B", value_parser = parse_seeds)]
    seeds: Range<u64>,
    /// The Kafka version, or all
    #[arg(long, value_name = "VERSION|all")]
    kafka: String,
    /// Only this strategy
    #[arg(long)]
    strategy: Option<String>,
    /// The kinds of group: consumer, share, streams with commas between, or all; the seed draws one or more of them.
    /// Versions that lack one are left out
    #[arg(long, value_name = "KINDS", default_value_t = Kinds::CONSUMER)]
    kinds: Kinds,
    /// How many events a trace has: a number, or from..to (both included)
    #[arg(long, value_name = "FROM..TO", default_value = "100..600", value_parser = parse_events)]
    events: (u32, u32),
    /// How many differing traces of each version and strategy are made small and shown
    #[arg(long, value_name = "N", default_value_t = 3)]
    show: usize,
    /// How long one of them may take to be made small
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    shrink: u64,
    /// How many versions are compared at a time
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: usize,
    /// The program that replays a trace on real Kafka
    #[arg(long, value_name = "FILE", default_value = "conformance/replay")]
    replay: PathBuf,
    /// Where differing traces and their outcomes go
    #[arg(long, value_name = "DIR", default_value = "conformance/target/differences")]
    out: PathBuf,
}

/// Reads `0..500`.
fn parse_seeds(text: &str) -> Result<Range<u64>, String> {
    let ends = text.split_once("..").map(|(start, end)| (start.parse::<u64>(), end.parse::<u64>()));
    match ends {
        Some((Ok(start), Ok(end))) if start < end => Ok(start..end),
        _ => Err("must be a range of seeds like 0..500".to_owned()),
    }
}

/// Runs the command.
pub fn run(args: &DiffArgs, quiet: bool) -> Result<(), CliError> {
    let lanes = args.lanes()?;
    let plan = Plan {
        seeds: args.seeds.clone(),
        events: args.events,
        kinds: args.kinds,
        replay: args.replay.clone(),
        out: args.out.clone(),
        shown: args.show,
        shrink: Duration::from_secs(args.shrink),
    };
    let progress = progress(quiet, (args.seeds.end - args.seeds.start) * lanes.len() as u64);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.jobs.max(1)).build();
    let pool = pool.map_err(|error| CliError::Failed(error.to_string()))?;
    // One lane at a time from the list, so that the report is in its order and the slow first ones start first.
    let reports: Vec<std::io::Result<Report>> =
        pool.install(|| lanes.par_iter().with_max_len(1).map(|lane| lane.run(&plan, &|| progress.inc(1))).collect());
    progress.finish_and_clear();
    let (mut passed, mut failed) = (0, 0);
    let mut broken = Vec::new();
    let mut out = std::io::stdout().lock();
    for (lane, report) in lanes.iter().zip(&reports) {
        let (version, strategy) = (lane.version.name(), &lane.strategy.name);
        match report {
            Err(error) => broken.push(format!("{version} {strategy}: {error}")),
            Ok(report) => {
                report.write(lane, &mut out)?;
                failed += report.failed();
                passed += report.traces - report.failed();
            }
        }
    }
    writeln!(out, "{passed} passed, {failed} failed")?;
    match (broken.is_empty(), failed) {
        (true, 0) => Ok(()),
        (true, _) => Err(CliError::Failed(format!("{failed} traces differ"))),
        (false, _) => Err(CliError::Failed(broken.join("\n"))),
    }
}

impl DiffArgs {
    fn lanes(&self) -> Result<Vec<Lane>, CliError> {
        let mut lanes = Lane::all();
        if self.kafka != "all" {
            let version: KafkaVersion =
                self.kafka.parse().map_err(|e| CliError::Input(vec![format!("{e}, or all")]))?;
            lanes.retain(|lane| lane.version == version);
        }
        lanes.retain(|lane| lane.has(self.kinds));
        if let Some(strategy) = &self.strategy {
            lanes.retain(|lane| lane.strategy.name == *strategy);
        }
        if lanes.is_empty() {
            let known: Vec<String> = Lane::all()
                .iter()
                .filter(|l| l.has(self.kinds))
                .map(|l| format!("{} {}", l.version, l.strategy.name))
                .collect();
            return Err(CliError::Input(vec![format!("nothing to compare: known are {}", known.join(", "))]));
        }
        Ok(lanes)
    }
}

impl Report {
    /// The traces on which anything differs.
    fn failed(&self) -> u64 {
        let stored = self.stored.as_ref().map_or(&[][..], |stored| &stored.differing);
        let also = stored.iter().filter(|seed| !self.differing.contains(seed)).count();
        (self.differing.len() + also) as u64
    }

    fn write(&self, lane: &Lane, out: &mut impl Write) -> std::io::Result<()> {
        let Report { traces, events, lines, differing, stored, shown } = self;
        let (version, strategy) = (lane.version.name(), &lane.strategy.name);
        let differ = differing.len();
        writeln!(out, "{version} {strategy}: {traces} traces, {events} events, {lines} lines, {differ} differ")?;
        if let Some(stored) = stored {
            let (records, differ) = (stored.records, stored.differing.len());
            write!(out, "{version} stored-hash as recompute: {traces} traces, {records} records of type 4, ")?;
            writeln!(out, "{differ} differ")?;
        }
        for (what, seeds) in [("", Some(differing)), ("stored-hash: ", stored.as_ref().map(|s| &s.differing))] {
            let seeds: Vec<String> = seeds.into_iter().flatten().take(20).map(u64::to_string).collect();
            if !seeds.is_empty() {
                writeln!(out, "  {what}the first seeds are {}", seeds.join(" "))?;
            }
        }
        out.write_all(shown.as_bytes())
    }
}

fn progress(quiet: bool, traces: u64) -> ProgressBar {
    if quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("[{bar:40}] {pos}/{len} traces");
    ProgressBar::with_draw_target(Some(traces), ProgressDrawTarget::stderr())
        .with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds() {
        assert_eq!(parse_seeds("3..5"), Ok(3..5));
        for wrong in ["", "3", "5..5", "6..5", "a..b", "-1..5", "1...5"] {
            assert!(parse_seeds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_can_be_compared() {
        let lanes: Vec<String> = Lane::all().iter().map(|l| format!("{} {}", l.version, l.strategy.name)).collect();
        assert_eq!(
            lanes,
            [
                "3.9.1 full-map",
                "4.0.0 count-map",
                "4.1.1 cached-hash",
                "4.3.1 cached-hash",
                "4.4.0 cached-hash",
                "4.1.1 recompute",
                "4.3.1 recompute",
                "4.4.0 recompute"
            ]
        );
    }
}
