//! From a scenario and a seed to a history and a fleet; and how members behave.
//!
//! The history is made by a `Director`, which goes through everything that happens to the cluster in order of time;
//! the fleet by a `Planner`, which does the same for members. Neither knows of strategies or coordinators. Every
//! entity draws from streams of its own, named after it, so that another topic, group or churn table changes no draw
//! of any other.

pub mod application;
mod brokers;
mod director;
pub mod fleet;
pub mod member;
#[cfg(test)]
mod member_tests;
mod planner;
mod requests;
#[cfg(test)]
mod tests;
mod topics;

pub use fleet::Fleet;
pub use member::MemberEmulator;

use crate::cluster::{Change, History, HistoryBuilder};
use crate::kafka::Uuid;
use crate::kernel::TimeMs;
use crate::kernel::random::{Stream, Streams};
use crate::scenario::{Cluster, Diagnostic, Scenario};
use application::Application;
use director::Director;
use fleet::Step;
use planner::Planner;
use std::sync::Arc;

/// The metadata of a real cluster, from its log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BaseHistory {
    /// The images in the order of the log: when (Unix time in ms; where it goes back, the time before holds), what for
    /// in a word, and what changes.
    pub images: Vec<(TimeMs, String, Vec<Change>)>,
}

/// What happens in a run, whatever the strategy.
#[derive(Debug)]
pub struct Workload {
    /// What happens to the cluster.
    pub history: History,
    /// What members do of their own accord.
    pub fleet: Fleet,
    /// The wall clock at time 0, in Unix milliseconds.
    pub start_unix_ms: TimeMs,
    /// How long the run is.
    pub duration_ms: TimeMs,
}

/// Brings a scenario to life. `base` is what the files of `[cluster.kraft]` say, and `None` for a made-up cluster.
///
/// # Errors
///
/// Everything in the scenario that turns out to be impossible, such as an event on a topic that does not exist then.
pub fn generate(scenario: &Scenario, seed: u64, base: Option<BaseHistory>) -> Result<Workload, Vec<Diagnostic>> {
    generate_into(HistoryBuilder::new(), scenario, seed, base)
}

/// The same, with a history of this builder, which must be at the empty image.
///
/// # Errors
///
/// As [`generate`].
pub fn generate_into(
    builder: HistoryBuilder,
    scenario: &Scenario,
    seed: u64,
    base: Option<BaseHistory>,
) -> Result<Workload, Vec<Diagnostic>> {
    let streams = Streams::new(seed);
    let base = base.map(|base| BaseTimes::new(scenario, base));
    let log_start_unix_ms = base.as_ref().map(|base| base.start_unix_ms);
    let mut errors = Vec::new();
    let mut director = Director::new(scenario, streams, base);
    director.builder = builder;
    director.applications = applications(scenario, streams);
    let mut builder = director.run(&mut errors);
    let fleet = Planner::new(scenario, streams, &racks(scenario, &builder)).run(&mut errors);
    if !errors.is_empty() {
        errors.sort();
        return Err(errors);
    }
    for group in &fleet.groups {
        group.topics().for_each(|topic| {
            builder.name(topic);
        });
    }
    let start_unix_ms = scenario.start_unix_ms.or(log_start_unix_ms).unwrap_or(Scenario::DEFAULT_START_UNIX_MS);
    Ok(Workload { history: builder.finish(), fleet, start_unix_ms, duration_ms: scenario.duration_ms })
}

/// The applications of streams groups, and when their first members join: the plan of members does not depend on the
/// history but for the racks that clients tell, and these are not asked for here.
fn applications(scenario: &Scenario, streams: Streams) -> Vec<(TimeMs, Arc<Application>)> {
    if scenario.groups.iter().all(|group| group.application.is_none()) {
        return Vec::new();
    }
    let fleet = Planner::new(scenario, streams, &[]).run(&mut Vec::new());
    let groups = fleet.groups.iter().filter_map(|group| {
        let joins = group.members.iter().flat_map(|member| &member.steps);
        let joins = joins.filter_map(|(time_ms, step)| matches!(step, Step::Join { .. }).then_some(*time_ms));
        Some((joins.min()?, group.application.clone()?))
    });
    groups.collect()
}

/// A metadata log in the run's time.
#[derive(Debug)]
struct BaseTimes {
    start_unix_ms: TimeMs,
    /// What there is at time 0 comes first, with time 0.
    images: Vec<(TimeMs, String, Vec<Change>)>,
}

impl BaseTimes {
    fn new(scenario: &Scenario, base: BaseHistory) -> Self {
        let first_unix_ms = base.images.first().map_or(0, |(unix_ms, _, _)| *unix_ms);
        let from_ms = if let Cluster::Kraft { from_ms, .. } = &scenario.cluster { *from_ms } else { 0 };
        let start_unix_ms = first_unix_ms.saturating_add(from_ms);
        let mut last_ms = 0;
        let in_run_time = |(unix_ms, event, changes): (TimeMs, String, Vec<Change>)| {
            last_ms = unix_ms.saturating_sub(start_unix_ms).max(last_ms);
            (last_ms, event, changes)
        };
        BaseTimes { start_unix_ms, images: base.images.into_iter().map(in_run_time).collect() }
    }
}

/// The racks that clients can be in: those of the scenario's brokers, or of the log's last image.
fn racks(scenario: &Scenario, builder: &HistoryBuilder) -> Vec<String> {
    let mut racks: Vec<String> = match &scenario.cluster {
        Cluster::Synthetic { brokers, .. } => brokers.iter().filter_map(|(_, rack)| rack.clone()).collect(),
        Cluster::Kraft { .. } => {
            builder.brokers().filter_map(|(_, broker)| Some(broker.rack.as_ref()?.to_string())).collect()
        }
    };
    racks.sort_unstable();
    racks.dedup();
    racks.retain(|rack| !rack.is_empty());
    racks
}

/// A random id as Kafka makes them (`Uuid.randomUuid`): version 4, and its text does not begin with a dash.
fn random_uuid(stream: &mut Stream) -> Uuid {
    loop {
        let mut bytes: [u8; 16] = stream.bytes();
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let id = Uuid::from_bytes(bytes);
        if !id.to_string().starts_with('-') {
            return id;
        }
    }
}
