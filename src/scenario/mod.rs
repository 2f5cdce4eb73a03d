//! What a user writes: a scenario in TOML, read with a place for every error and all errors at once. Its fields are
//! described in `docs/scenario.md`.

mod checks;
mod diagnostic;
mod general;
mod happenings;
mod populations;
mod profile;
mod reader;
mod sweep;
mod syntax;
#[cfg(test)]
mod tests;
mod types;
mod units;

pub use diagnostic::{Diagnostic, Place};
pub use profile::{ProfileError, ProfileFile};
pub use sweep::{Parameter, Seeds, Sweep};
pub use types::*;
pub use units::{Rate, counted, duration_ms, rate, show_duration, size_bytes};

use diagnostic::Problems;
use reader::{LONGEST_MS, Table};

/// The Kafka versions that a run can follow.
pub const KAFKA_VERSIONS: [&str; 5] = ["3.9.1", "4.0.0", "4.1.1", "4.3.1", "4.4.0"];
/// The version of a scenario that names none.
pub const DEFAULT_KAFKA_VERSION: &str = "4.3.1";

/// The most brokers of a made-up cluster.
const MAX_BROKERS: i64 = 10_000;
/// The most partitions of a topic.
const MAX_PARTITIONS: i64 = 100_000;

impl Scenario {
    /// Reads a scenario. The file's name is for errors, and is the scenario's name if it has none.
    ///
    /// # Errors
    ///
    /// Everything that is wrong in order of position, but first the errors of syntax.
    pub fn parse(file: &str, text: &str) -> Result<Scenario, Vec<Diagnostic>> {
        syntax::read(file, text, |root, _, problems| read(root, problems, file))
    }

    /// An error about something that shows only when the scenario is brought to life.
    pub fn diagnostic(&self, place: &Place, message: impl Into<String>) -> Diagnostic {
        let Place { line, column, field } = place.clone();
        Diagnostic { file: self.file.clone(), line, column, field, message: message.into() }
    }
}

fn read(mut root: Table, problems: &mut Problems, file: &str) -> Scenario {
    let mut scenario = Scenario {
        file: file.to_owned(),
        name: general::read_name(&mut root, problems, file),
        description: root.get("description").and_then(|v| v.any_text(problems, "a text")).unwrap_or("").to_owned(),
        seed: root.integer(problems, "seed", 0..=i64::MAX, 1) as u64,
        duration_ms: general::read_duration(&mut root, problems),
        start_unix_ms: general::read_start(&mut root, problems),
        kafka: general::read_kafka(&mut root, problems),
        strategies: general::read_strategies(&mut root, problems),
        timeline_ms: root.duration(problems, "timeline", 1..=LONGEST_MS, 60_000),
        image_batching_ms: root.duration(problems, "image_batching", 0..=60_000, 0),
        waiting: root.get("waiting").and_then(|value| value.boolean(problems)).unwrap_or(true),
        config: general::read_config(&mut root, problems),
        log: general::read_log(&mut root, problems),
        check: checks::read_checks(&mut root, problems),
        cluster: general::read_cluster(&mut root, problems),
        topics: Vec::new(),
        groups: Vec::new(),
        churn: Vec::new(),
        events: Vec::new(),
    };
    populations::read_topics(&mut root, problems, &mut scenario);
    populations::read_groups(&mut root, problems, &mut scenario);
    happenings::read_churn(&mut root, problems, &mut scenario);
    happenings::read_events(&mut root, problems, &mut scenario);
    check_names(&scenario, problems);
    root.finish(problems);
    scenario
}

/// No two populations may have a name in common.
fn check_names(scenario: &Scenario, problems: &mut Problems) {
    let topics = scenario.topics.iter().map(|p| (&p.name, p.count, &p.place));
    let groups = scenario.groups.iter().map(|p| (&p.name, p.count, &p.place));
    let is_known =
        |place: &Place| ["name", "count"].iter().all(|field| !problems.is_wrong(&format!("{}.{field}", place.field)));
    let topics: Vec<_> = topics.filter(|(_, _, place)| is_known(place)).collect();
    let groups: Vec<_> = groups.filter(|(_, _, place)| is_known(place)).collect();
    for list in [topics, groups] {
        for (index, (name, count, place)) in list.iter().enumerate() {
            let clash = list[..index].iter().find_map(|(other, other_count, _)| {
                let taken = |n: u64| other.number_of(&name.name(n)).is_some_and(|number| number <= *other_count);
                (1..=*count).find(|n| taken(*n)).map(|n| (name.name(n), other))
            });
            if let Some((clash, other)) = clash {
                let message = format!("makes the name {clash:?}, as {:?} does; expected names of its own", other.0);
                problems.add_at(place, "name", message);
            }
        }
    }
}
