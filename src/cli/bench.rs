//! Measuring replays: the one place that reads a clock. What it prints is in no result and no baseline.

#![allow(clippy::disallowed_types, reason = "a measurement needs a clock")]

use crate::trace::replay::{Replayer, Timing};
use serde::Serialize;
use std::time::{Duration, Instant};

/// How long, and how often at least, a trace is replayed before it is measured.
const WARM_UP: Duration = Duration::from_secs(1);
const WARM_UP_RUNS: u32 = 3;

/// A line of measurements, as `conformance/replay --bench` prints it.
#[derive(Debug, Serialize)]
struct Line {
    what: &'static str,
    events: u64,
    runs: u32,
    ns_per_event_min: u64,
    ns_per_event_median: u64,
    events_per_s_max: u64,
    events_per_s_median: u64,
}

/// Replays a trace `runs` times and gives the lines to print: all events, heartbeats, others; least and median of the runs.
pub fn measure(replayer: &Replayer, runs: u32, from_ms: i64) -> Vec<String> {
    let start = Instant::now();
    let mut clock_ns = || start.elapsed().as_nanos() as u64;
    let mut warm = 0;
    while warm < WARM_UP_RUNS || start.elapsed() < WARM_UP {
        replayer.time(from_ms, &mut clock_ns);
        warm += 1;
    }
    let timings: Vec<Timing> = (0..runs).map(|_| replayer.time(from_ms, &mut clock_ns)).collect();
    let all = |t: &Timing| (t.heartbeats + t.others, t.heartbeat_ns + t.other_ns);
    let lines = [
        line("all", timings.iter().map(all)),
        line("heartbeat", timings.iter().map(|t| (t.heartbeats, t.heartbeat_ns))),
        line("other", timings.iter().map(|t| (t.others, t.other_ns))),
    ];
    lines.into_iter().flatten().filter_map(|line| serde_json::to_string(&line).ok()).collect()
}

fn line(what: &'static str, runs: impl Iterator<Item = (u64, u64)>) -> Option<Line> {
    let (events, mut took_ns): (Vec<u64>, Vec<u64>) = runs.unzip();
    took_ns.sort_unstable();
    let events = *events.first().filter(|events| **events > 0)?;
    let (least, median) = (*took_ns.first()?, took_ns[took_ns.len() / 2]);
    let a_second = |ns: u64| (u128::from(events) * 1_000_000_000 / u128::from(ns.max(1))) as u64;
    let rounded = |ns: u64| (ns + events / 2) / events;
    Some(Line {
        what,
        events,
        runs: took_ns.len() as u32,
        ns_per_event_min: rounded(least),
        ns_per_event_median: rounded(median),
        events_per_s_max: a_second(least),
        events_per_s_median: a_second(median),
    })
}
