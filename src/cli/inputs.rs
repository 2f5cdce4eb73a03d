//! What `run` and `trace` are given: a scenario file with the metadata files that it names, a Kafka version, strategies.

use super::files;
use crate::cluster::HistoryBuilder;
use crate::coordinator::{Config, KafkaVersion};
use crate::cost::Profile;
use crate::disk::{BatchRules, LoadModel, LogSettings};
use crate::import::kraft;
use crate::kafka::GroupKind;
use crate::kernel::TimeMs;
use crate::results::{ManifestFile, RunResults, RunSize};
use crate::scenario::{Cluster, ConfigValue, Scenario, duration_ms, show_duration};
use crate::simulation::{LogOptions, Subject, Totals};
use crate::strategy::Strategy;
use crate::strategy::axes::PRESETS;
use crate::workload::{self, BaseHistory, Workload};
use std::path::{Path, PathBuf};

/// A scenario that can be run.
#[derive(Debug)]
pub struct Input {
    /// The scenario.
    pub scenario: Scenario,
    /// Its text.
    pub text: String,
    /// The Kafka version.
    pub kafka: KafkaVersion,
    /// What happens before this time is simulated.
    pub until_ms: TimeMs,
    /// The metadata files that the scenario names.
    pub metadata_files: Vec<ManifestFile>,
    /// What the coordinator's work costs.
    pub profile: Profile,
    config: Config,
    base: Option<BaseHistory>,
}

impl Input {
    /// Reads a scenario and all that it names. `kafka` and `until` are what the command line says instead.
    ///
    /// # Errors
    /// Everything that is wrong, a line each.
    pub fn read(path: &Path, kafka: Option<&str>, until: Option<TimeMs>) -> Result<Input, Vec<String>> {
        let text = files::read_text(path).map_err(|error| vec![error])?;
        Input::of_text(path, text, kafka, until)
    }

    /// The same of a text that the scenario file might have.
    pub fn of_text(
        path: &Path,
        text: String,
        kafka: Option<&str>,
        until: Option<TimeMs>,
    ) -> Result<Input, Vec<String>> {
        let file = path.display().to_string();
        let scenario = Scenario::parse(&file, &text).map_err(|errors| lines(&errors))?;
        let mut errors = Vec::new();
        let kafka = match kafka.unwrap_or(&scenario.kafka).parse::<KafkaVersion>() {
            Ok(version) => version,
            Err(error) => return Err(vec![error.to_string()]),
        };
        for groups in scenario.groups.iter().filter(|groups| groups.kind != GroupKind::Consumer) {
            if !kafka.behaviour().share_and_streams {
                let kind = groups.kind.name();
                let message = format!("{kind} groups are simulated as of Kafka 4.1.1; found Kafka {kafka}");
                errors.push(scenario.diagnostic(&groups.place, message).to_string());
            }
        }
        let settings: Vec<(&str, String)> =
            scenario.config.iter().map(|(name, value)| (name.as_str(), setting(value))).collect();
        let settings = settings.iter().map(|(name, value)| (*name, value.as_str()));
        let config = Config::new(&kafka.behaviour(), settings)
            .map_err(|wrong| errors.extend(wrong.iter().map(|error| format!("{file}: {error}"))));
        let base = read_base(path, &scenario).map_err(|wrong| errors.extend(wrong));
        let until_ms = until.unwrap_or(scenario.duration_ms);
        if until_ms > scenario.duration_ms {
            let (until, duration) = (show_duration(until_ms), show_duration(scenario.duration_ms));
            errors.push(format!("--until {until}: {file} is over after {duration}; give {duration} or less"));
        }
        match (config, base) {
            (Ok(config), Ok((base, metadata_files))) if errors.is_empty() => {
                Ok(Input { scenario, text, kafka, until_ms, metadata_files, config, base, profile: Profile::shipped() })
            }
            _ => Err(errors),
        }
    }

    /// What happens with a seed, with a history of this builder.
    ///
    /// # Errors
    /// What of the scenario turns out to be impossible.
    pub fn workload(&self, builder: HistoryBuilder, seed: u64) -> Result<Workload, Vec<String>> {
        let workload = workload::generate_into(builder, &self.scenario, seed, self.base.clone());
        let workload = workload.map_err(|errors| lines(&errors))?;
        if workload.history.leaders().is_empty() {
            let file = &self.scenario.file;
            return Err(vec![format!("{file}: there is no topic __consumer_offsets: no group has a coordinator")]);
        }
        Ok(workload)
    }

    /// What is simulated of a workload.
    pub fn subject<'a>(&'a self, workload: &'a Workload) -> Subject<'a> {
        let max_bytes = self.integer("max.message.bytes").and_then(|bytes| u64::try_from(bytes).ok());
        let threads = self.integer("group.coordinator.threads").and_then(|threads| u32::try_from(threads).ok());
        Subject {
            history: &workload.history,
            fleet: &workload.fleet,
            kafka: self.kafka,
            config: self.config.clone(),
            append_linger_ms: self.integer("group.coordinator.append.linger.ms"),
            max_message_bytes: max_bytes.unwrap_or(BatchRules::DEFAULT_MAX_BYTES),
            log: self.log_options(),
            start_unix_ms: workload.start_unix_ms,
            end_ms: self.until_ms,
            threads: threads.unwrap_or(self.kafka.behaviour().default_threads),
            waiting: self.scenario.waiting.then_some(&self.profile),
            timeline_ms: self.scenario.timeline_ms,
            every_heartbeat: false,
            does_work: false,
        }
    }

    /// What came of a seed under some strategies.
    pub fn results(&self, workload: &Workload, seed: u64, totals: Vec<(Strategy, Totals)>) -> RunResults {
        let subject = self.subject(workload);
        RunResults {
            scenario: self.scenario.name.clone(),
            seed,
            kafka: self.kafka.name().to_owned(),
            size: size(&subject),
            start_unix_ms: workload.start_unix_ms,
            timeline_ms: subject.timeline_ms,
            end_ms: subject.end_ms,
            loading: subject.log.loading,
            max_message_bytes: subject.max_message_bytes,
            profile: self.profile.clone(),
            strategies: totals,
        }
    }

    fn integer(&self, name: &str) -> Option<i64> {
        match self.scenario.config.get(name) {
            Some(ConfigValue::Integer(number)) => Some(*number),
            _ => None,
        }
    }

    /// The log: Kafka's configuration of it, and what the scenario says beside that.
    fn log_options(&self) -> LogOptions {
        let default = LogSettings::default();
        let fraction = |name: &str, default: f64| match self.scenario.config.get(name) {
            Some(ConfigValue::Text(number)) => number.parse().unwrap_or(default),
            _ => default,
        };
        let at_least = |name: &str, least: i64, default: i64| self.integer(name).map_or(default, |n| n.max(least));
        let bytes = |name: &str, default: u64| at_least(name, 1, default as i64) as u64;
        let is_off = self.scenario.config.get("log.cleaner.enable") == Some(&ConfigValue::Boolean(false));
        let log = &self.scenario.log;
        let settings = LogSettings {
            segment_bytes: bytes("offsets.topic.segment.bytes", default.segment_bytes),
            segment_ms: at_least("log.roll.ms", 1, default.segment_ms),
            min_cleanable_dirty_ratio: fraction("log.cleaner.min.cleanable.ratio", default.min_cleanable_dirty_ratio),
            min_compaction_lag_ms: at_least("log.cleaner.min.compaction.lag.ms", 0, default.min_compaction_lag_ms),
            max_compaction_lag_ms: at_least("log.cleaner.max.compaction.lag.ms", 1, default.max_compaction_lag_ms),
            delete_retention_ms: at_least("log.cleaner.delete.retention.ms", 0, default.delete_retention_ms),
            file_delete_delay_ms: at_least("log.segment.delete.delay.ms", 0, default.file_delete_delay_ms),
            cleaner_backoff_ms: at_least("log.cleaner.backoff.ms", 1, default.cleaner_backoff_ms),
            dedupe_buffer_bytes: bytes("log.cleaner.dedupe.buffer.size", default.dedupe_buffer_bytes),
            dedupe_load_factor: fraction("log.cleaner.io.buffer.load.factor", default.dedupe_load_factor),
            cleaner_threads: bytes("log.cleaner.threads", u64::from(default.cleaner_threads)) as u32,
            cleaner_stops_at_ms: if is_off { Some(0) } else { log.cleaner_stops_ms },
            ..default
        };
        LogOptions {
            settings,
            commit_interval_ms: log.commit_interval_ms,
            loading: LoadModel { bytes_per_second: log.load_bytes_per_second, record_ns: log.load_record_ns },
        }
    }

    /// The strategies that the command line names, else those of the scenario.
    ///
    /// # Errors
    /// A line for each name that is not known.
    pub fn strategies(&self, names: &[String]) -> Result<Vec<Strategy>, Vec<String>> {
        let own = &self.scenario.strategies;
        if names.is_empty() {
            return Ok(own.clone());
        }
        let mut known: Vec<Strategy> = PRESETS.iter().filter_map(|name| Strategy::preset(name)).collect();
        known.extend(own.iter().filter(|strategy| Strategy::preset(&strategy.name).is_none()).cloned());
        let find = |name: &String| match known.iter().find(|strategy| strategy.name == *name) {
            Some(strategy) => Ok(strategy.clone()),
            None => {
                let names: Vec<&str> = known.iter().map(|strategy| strategy.name.as_str()).collect();
                let file = &self.scenario.file;
                Err(format!("{file}: unknown strategy {name:?}; expected one of {}", names.join(", ")))
            }
        };
        let (mut strategies, mut errors): (Vec<Strategy>, Vec<String>) = (Vec::new(), Vec::new());
        for found in names.iter().map(find) {
            match found {
                Ok(strategy) if strategies.iter().any(|known| known.name == strategy.name) => {
                    errors.push(format!("strategy {:?} is named twice", strategy.name));
                }
                Ok(strategy) => strategies.push(strategy),
                Err(error) => errors.push(error),
            }
        }
        if errors.is_empty() { Ok(strategies) } else { Err(errors) }
    }
}

/// Reads a cost profile.
pub fn read_profile(path: &Path) -> Result<Profile, Vec<String>> {
    let text = files::read_text(path).map_err(|error| vec![error])?;
    let profile = Profile::parse(&path.display().to_string(), &text);
    profile.map_err(|errors| lines(&errors))
}

/// A duration on the command line, such as `90s` or `1h30m`.
pub fn parse_duration(text: &str) -> Result<TimeMs, String> {
    let known = duration_ms(text).filter(|&time_ms| time_ms > 0);
    known.ok_or_else(|| "must be a duration such as 90s, 10m or 1h30m".to_owned())
}

fn lines(errors: &[impl ToString]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

/// A setting as it stands in Kafka's property files.
fn setting(value: &ConfigValue) -> String {
    match value {
        ConfigValue::Integer(number) => number.to_string(),
        ConfigValue::Boolean(switch) => switch.to_string(),
        ConfigValue::Text(text) => text.clone(),
    }
}

/// A file's name without its folder.
pub fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Reads the metadata files of a scenario, which names them from its own folder.
fn read_base(path: &Path, scenario: &Scenario) -> Result<(Option<BaseHistory>, Vec<ManifestFile>), Vec<String>> {
    let Cluster::Kraft { files, .. } = &scenario.cluster else { return Ok((None, Vec::new())) };
    let folder = path.parent().unwrap_or(Path::new(""));
    let files: Vec<PathBuf> = files.iter().map(|file| folder.join(file)).collect();
    let cluster = kraft::read(&files).map_err(|errors| lines(&errors))?;
    let images = cluster.images.into_iter().map(|image| (image.unix_ms, image.event.to_owned(), image.changes));
    let hash = |path: &PathBuf| match std::fs::read(path) {
        Ok(bytes) => Ok(ManifestFile::new(name_of(path), &bytes)),
        Err(error) => Err(vec![format!("{}: {error}", path.display())]),
    };
    let hashes = files.iter().map(hash).collect::<Result<_, _>>()?;
    Ok((Some(BaseHistory { images: images.collect() }), hashes))
}

/// How large a run is.
fn size(subject: &Subject) -> RunSize {
    let history = subject.history;
    let images = 1..=history.last_image();
    let published = images.take_while(|&image| history.image(image).time_ms < subject.end_ms);
    let last = published.last().unwrap_or(0);
    let topics = || history.topics().filter_map(|topic| history.version_at(topic, last));
    let mut kinds = [(0, 0); 3];
    for group in &subject.fleet.groups {
        let (groups, members) = &mut kinds[group.kind as usize];
        *groups += 1;
        *members += group.members.len() as u64;
    }
    RunSize {
        kinds,
        groups: subject.fleet.groups.len() as u64,
        members: subject.fleet.groups.iter().map(|group| group.members.len() as u64).sum(),
        topics: topics().count() as u64,
        partitions: topics().map(|topic| topic.num_partitions() as u64).sum(),
        metadata_images: u64::from(last),
    }
}
