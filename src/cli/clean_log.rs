//! `coordsim clean-log`: what the modelled cleaner makes of a log in files, for `conformance/check-cleaner`, which compares it with the real one.

use super::error::CliError;
use crate::coordinator::KafkaVersion;
use crate::disk::segment_file::{RecordBytes, append_file, file_name};
use crate::disk::{BatchRules, Keys, LogSettings, OffsetsLog};
use crate::kafka::batch::decode_batches;
use crate::results::write_tree;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Appends the batches of logs, each at its time, to modelled logs that the modelled cleaner cleans, and writes these.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  coordsim clean-log logs --out cleaned --kafka 4.3.1 --set segment.bytes=4096 --more 3600000"
)]
pub struct CleanLogArgs {
    /// The folder of the partitions' folders
    #[arg(value_name = "DIR")]
    logs: PathBuf,
    /// The folder to write to, which must not be there or be empty
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// The Kafka version whose cleaner it is
    #[arg(long, value_name = "V")]
    kafka: String,
    /// A setting of the topic or the cleaner, by Kafka's name
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// How many ms the cleaner goes on looking at the log after the last batch
    #[arg(long, value_name = "MS", default_value_t = 0, value_parser = clap::value_parser!(i64).range(0..=1_000_000_000_000))]
    more: i64,
}

/// Runs the command.
pub fn run(args: &CleanLogArgs) -> Result<(), CliError> {
    let settings = args.settings().map_err(CliError::Input)?;
    let mut files = Vec::new();
    for folder in list(&args.logs)?.into_iter().filter(|path| path.is_dir()) {
        let name = PathBuf::from(folder.file_name().unwrap_or_default());
        for (file, bytes) in clean(&folder, &settings, args.more)? {
            files.push((name.join(file), bytes));
        }
    }
    write_tree(&args.out, files).map_err(|error| CliError::Failed(error.to_string()))
}

/// What is in a folder, in the order of names.
fn list(folder: &Path) -> Result<Vec<PathBuf>, CliError> {
    let wrong = |error| CliError::Input(vec![format!("{}: {error}", folder.display())]);
    let entries = fs::read_dir(folder).map_err(wrong)?;
    let mut paths =
        entries.map(|entry| entry.map(|entry| entry.path())).collect::<Result<Vec<_>, _>>().map_err(wrong)?;
    paths.sort();
    Ok(paths)
}

/// The files of a partition's log once all of its batches were appended.
fn clean(folder: &Path, settings: &LogSettings, more_ms: i64) -> Result<Vec<(String, Vec<u8>)>, CliError> {
    let wrong =
        |path: &Path, error: &dyn ToString| CliError::Input(vec![format!("{}: {}", path.display(), error.to_string())]);
    // Batches are appended whole, so these rules do not matter.
    let rules = BatchRules { linger_ms: Some(0), max_bytes: BatchRules::DEFAULT_MAX_BYTES };
    let mut keys = Keys::default();
    let mut log: Option<OffsetsLog<Arc<RecordBytes>>> = None;
    let mut last_ms = 0;
    for path in list(folder)?.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "log")) {
        let bytes = fs::read(&path).map_err(|error| wrong(&path, &error))?;
        let Some(first) = decode_batches(&bytes).next() else { continue };
        let first_ms = first.map_err(|error| wrong(&path, &error))?.header.max_timestamp_ms;
        let log = log.get_or_insert_with(|| OffsetsLog::new(settings.clone(), rules, first_ms, i64::MAX / 2));
        last_ms = append_file(log, &mut keys, &bytes).map_err(|error| wrong(&path, &error))?;
    }
    let Some(mut log) = log else { return Ok(Vec::new()) };
    log.advance(last_ms + more_ms);
    let to_file = |segment: &crate::disk::Segment<_>| {
        let bytes = segment.to_file(|record: &crate::disk::Record<Arc<RecordBytes>>| record.payload.clone());
        (file_name(segment.base_offset), bytes)
    };
    Ok(log.segments().iter().map(to_file).collect())
}

impl CleanLogArgs {
    fn settings(&self) -> Result<LogSettings, Vec<String>> {
        let mut settings = LogSettings::default();
        let mut errors = Vec::new();
        match self.kafka.parse::<KafkaVersion>() {
            Ok(version) => settings.keeps_last_batch = version.behaviour().cleaner_keeps_last_batch,
            Err(error) => errors.push(error.to_string()),
        }
        for setting in &self.set {
            if apply(&mut settings, setting).is_none() {
                errors.push(format!("--set {setting}: expected a setting of the log or its cleaner and a number"));
            }
        }
        if errors.is_empty() { Ok(settings) } else { Err(errors) }
    }
}

fn apply(settings: &mut LogSettings, setting: &str) -> Option<()> {
    let (name, value) = setting.split_once('=')?;
    match name {
        "segment.bytes" => settings.segment_bytes = value.parse().ok()?,
        "segment.ms" => settings.segment_ms = value.parse().ok()?,
        "min.cleanable.dirty.ratio" => settings.min_cleanable_dirty_ratio = value.parse().ok()?,
        "min.compaction.lag.ms" => settings.min_compaction_lag_ms = value.parse().ok()?,
        "max.compaction.lag.ms" => settings.max_compaction_lag_ms = value.parse().ok()?,
        "delete.retention.ms" => settings.delete_retention_ms = value.parse().ok()?,
        "log.cleaner.backoff.ms" => settings.cleaner_backoff_ms = value.parse().ok()?,
        "log.cleaner.dedupe.buffer.size" => settings.dedupe_buffer_bytes = value.parse().ok()?,
        "log.cleaner.io.buffer.load.factor" => settings.dedupe_load_factor = value.parse().ok()?,
        "log.cleaner.threads" => settings.cleaner_threads = value.parse().ok()?,
        _ => return None,
    }
    Some(())
}
