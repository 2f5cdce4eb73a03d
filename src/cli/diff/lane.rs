//! One Kafka version and strategy: all seeds through the real coordinator and through ours.

use super::server::{Answer, Server};
use super::shown;
use crate::coordinator::KafkaVersion;
use crate::strategy::Strategy;
use crate::trace::compare::Difference;
use crate::trace::random::{GeneratorOptions, Kinds, generate};
use crate::trace::replay::{ReplayError, Replayer};
use crate::trace::unstored::Unstored;
use crate::trace::{Comparer, Comparison, Diagnostic, Level, Trace};
use serde_json::{Value, json};
use std::io;
use std::path::PathBuf;
use std::sync::mpsc::sync_channel;
use std::time::Duration;

/// How many traces may be on their way. The two sides work at the same time, and never far apart.
const AHEAD: usize = 8;

/// A Kafka version, and what in it stands for a strategy.
#[derive(Debug, Clone)]
pub struct Lane {
    /// The version.
    pub version: KafkaVersion,
    /// The strategy.
    pub strategy: Strategy,
}

/// What is asked of every lane.
#[derive(Debug)]
pub struct Plan {
    /// The first seed and the one after the last.
    pub seeds: std::ops::Range<u64>,
    /// The least and the greatest number of events.
    pub events: (u32, u32),
    /// The kinds of group.
    pub kinds: Kinds,
    /// `conformance/replay`.
    pub replay: PathBuf,
    /// Where differences go.
    pub out: PathBuf,
    /// How many differing traces of a lane are made small and shown.
    pub shown: usize,
    /// How long one may take to be made small.
    pub shrink: Duration,
}

/// What came of a lane.
#[derive(Debug, Default)]
pub struct Report {
    /// What was compared.
    pub traces: u64,
    /// Their events.
    pub events: u64,
    /// The lines of their outcomes.
    pub lines: u64,
    /// The seeds of those that differ.
    pub differing: Vec<u64>,
    /// For `recompute`: what `stored-hash` made of the same traces.
    pub stored: Option<StoredReport>,
    /// The first differences, as text.
    pub shown: String,
}

/// `stored-hash` beside `recompute`, both ours.
#[derive(Debug, Default)]
pub struct StoredReport {
    /// Records of type 4 that `stored-hash` wrote.
    pub records: u64,
    /// The seeds on which anything else but these and the hash fields differs.
    pub differing: Vec<u64>,
}

impl Lane {
    /// All that real Kafka can check: each version as it is, and those with topic hashes also without their cache.
    pub fn all() -> Vec<Lane> {
        let lane = |version, preset| Strategy::preset(preset).map(|strategy| Lane { version, strategy });
        let own = KafkaVersion::ALL.into_iter().map(|version| match version {
            KafkaVersion::V3_9_1 => lane(version, "full-map"),
            KafkaVersion::V4_0_0 => lane(version, "count-map"),
            _ => lane(version, "cached-hash"),
        });
        let uncached = KafkaVersion::ALL.into_iter().skip(2).map(|version| lane(version, "recompute"));
        own.chain(uncached).flatten().collect()
    }

    /// Whether real Kafka replays with its topic-hash cache emptied before every operation.
    pub fn is_uncached(&self) -> bool {
        self.strategy.name == "recompute"
    }

    /// Whether the version has groups of these kinds.
    pub fn has(&self, kinds: Kinds) -> bool {
        kinds == Kinds::CONSUMER || self.version.behaviour().share_and_streams
    }

    /// The trace of a seed. Versions from 4.0 on get the same traces.
    pub fn trace(&self, seed: u64, plan: &Plan) -> Trace {
        let (events_min, events_max) = plan.events;
        let replayable_by_3_9 = !self.version.behaviour().regexes;
        generate(seed, &GeneratorOptions { events_min, events_max, replayable_by_3_9, kinds: plan.kinds })
    }

    /// Compares all seeds, then makes the first differences small; `tick` is called after each seed.
    pub fn run(&self, plan: &Plan, tick: &(dyn Fn() + Sync)) -> io::Result<Report> {
        let mut server = Server::start(&plan.replay, self.version.name(), !self.is_uncached())?;
        let mut report = Report { stored: self.is_uncached().then(StoredReport::default), ..Report::default() };
        self.compare_all(plan, &mut server, &mut report, tick)?;
        for &seed in report.differing.iter().take(plan.shown) {
            report.shown += &shown::show(self, seed, plan, &mut server)?;
        }
        server.finish()?;
        Ok(report)
    }

    fn compare_all(
        &self,
        plan: &Plan,
        server: &mut Server,
        report: &mut Report,
        tick: &(dyn Fn() + Sync),
    ) -> io::Result<()> {
        let Server { child, requests, answers } = server;
        let (sent, sents) = sync_channel(AHEAD);
        std::thread::scope(|scope| {
            let feeder = scope.spawn(move || -> io::Result<()> {
                for seed in plan.seeds.clone() {
                    let trace = self.trace(seed, plan);
                    requests.send(&trace.write())?;
                    if sent.send((seed, trace)).is_err() {
                        break;
                    }
                }
                Ok(())
            });
            let compared = sents.into_iter().try_for_each(|(seed, trace)| {
                report.add(self, seed, &trace, &self.compare(&trace, &answers.next()?)?);
                tick();
                Ok(())
            });
            let compared = compared.map_err(|error: io::Error| match child.try_wait() {
                Ok(Some(status)) => io::Error::other(format!("{error} (real Kafka's server: {status})")),
                _ => error,
            });
            if compared.is_err() {
                // Else the feeder might wait for the server, and the server for somebody who reads.
                child.kill()?;
            }
            let fed = feeder.join().unwrap_or_else(|_| Err(io::Error::other("the generator broke")));
            compared.and(fed)
        })
    }

    /// What ours makes of a trace beside what real Kafka made of it.
    pub fn compare(&self, trace: &Trace, real: &Answer) -> io::Result<Found> {
        let replayer = Replayer::new(trace, self.version, self.strategy.design);
        let (real, replayer) = match (real, replayer) {
            (Answer::Outcomes(real), Ok(replayer)) => (real, replayer),
            (real, replayer) => return Ok(Found::refused(real, &replayer.err().unwrap_or_default())),
        };
        let mut expected = real.lines();
        let mut comparer = Comparer::new(Level::Canonical);
        let mut event = None;
        let mut problem = None;
        let mut text = String::new();
        replayer.run(|line| {
            text.clear();
            line.write(&mut text);
            match comparer.lines(expected.next(), Some(text.trim_end())) {
                Ok(true) => {}
                Ok(false) => event = event.or(Some(line.i)),
                Err(wrong) => problem = problem.take().or_else(|| wrong.into_iter().next()),
            }
        });
        for line in expected {
            comparer.lines(Some(line), None).map_err(|wrong| unreadable(&wrong))?;
        }
        match problem {
            Some(wrong) => Err(unreadable(&[wrong])),
            None => Ok(Found { comparison: comparer.finish(), event }),
        }
    }
}

fn unreadable(wrong: &[Diagnostic]) -> io::Error {
    io::Error::other(wrong.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))
}

/// What came of one trace.
#[derive(Debug)]
pub struct Found {
    /// Line by line.
    pub comparison: Comparison,
    /// The event of ours at which they first differ; `None` also where real Kafka only says more at the end.
    pub event: Option<usize>,
}

impl Found {
    /// Random traces are such that every version can replay them: a refusal is a difference.
    fn refused(real: &Answer, ours: &[ReplayError]) -> Found {
        let real = match real {
            Answer::Outcomes(_) => Value::Null,
            Answer::Refused(why) => json!(why),
        };
        let ours = json!(ours.iter().map(ToString::to_string).collect::<Vec<_>>());
        let first = vec![Difference { line: 0, fields: vec![("refused".to_owned(), real, ours)] }];
        Found { comparison: Comparison { lines: 0, differing: 1, first }, event: None }
    }

    /// Whether the two sides differ.
    pub fn differs(&self) -> bool {
        self.comparison.differing > 0
    }
}

impl Report {
    fn add(&mut self, lane: &Lane, seed: u64, trace: &Trace, found: &Found) {
        self.traces += 1;
        self.events += trace.events.len() as u64;
        self.lines += found.comparison.lines as u64;
        if found.differs() {
            self.differing.push(seed);
        }
        if let Some(stored) = &mut self.stored {
            stored.add(lane, seed, trace);
        }
    }
}

impl StoredReport {
    fn add(&mut self, lane: &Lane, seed: u64, trace: &Trace) {
        let unstored = |preset: &str| {
            let replayer = Replayer::new(trace, lane.version, Strategy::preset(preset)?.design).ok()?;
            Some(Unstored::new(&replayer))
        };
        let (stored, recomputed) = (unstored("stored-hash"), unstored("recompute"));
        self.records += stored.as_ref().map_or(0, |stored| stored.stored_records);
        if stored.map(|stored| stored.lines) != recomputed.map(|recomputed| recomputed.lines) {
            self.differing.push(seed);
        }
    }
}
