//! `coordsim run`: every strategy on the same history, a table, and files.

use super::comparison::{self, Look};
use super::error::CliError;
use super::inputs::{self, Input, parse_duration};
use super::progress::Progress;
use crate::cluster::HistoryBuilder;
use crate::kernel::TimeMs;
use crate::report::{self, ReportError, RunFiles};
use crate::results::{
    Manifest, ManifestScenario, OutputFile, Replications, RunResults, SUMS, csv_files, summary_file, write_files,
};
use crate::scenario::{ConfigValue, show_duration};
use crate::simulation::{Subject, WrongWork, num_worlds, simulate};
use crate::strategy::Strategy;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Runs every strategy of scenarios on the same history and compares them.
///
/// Prints a table and writes summary.csv, timeline.csv, bumps.csv, records.csv, operations.csv, delays.csv, logs.csv, loads.csv,
/// kinds.csv, heap.csv, work.csv, shards.csv and run.json
/// (docs/output.md says what they mean). The same scenario and seed give the same files on any machine and any number
/// of threads.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  coordsim run scenarios/lab-cluster.toml --strategies full-map,cached-hash --out out/lab"
)]
pub struct RunArgs {
    /// Scenario files
    #[arg(required = true, value_name = "SCENARIO")]
    scenarios: Vec<PathBuf>,
    /// The folder to write to; with several scenarios, to one folder in it for each [default: out/<scenario>]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The seed [default: the scenario's]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How many seeds: that one and those after it
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    seeds: u64,
    /// Stop as soon as the 95 % interval of a metric of summary.csv is at most that part of its mean to each side, for every
    /// strategy; looked at after 10 seeds, 20, and so on, up to --seeds
    #[arg(long, value_name = "METRIC=P%", value_parser = parse_precision)]
    precision: Option<Precision>,
    /// Leave what happens before this time out of replications.csv and differences.csv: a multiple of the scenario's timeline
    #[arg(long, value_name = "T", value_parser = parse_duration)]
    warm_up: Option<TimeMs>,
    /// The strategies: presets and those that the scenario defines [default: the scenario's]
    #[arg(long, value_name = "a,b", value_delimiter = ',')]
    strategies: Vec<String>,
    /// The Kafka version that brokers follow [default: the scenario's]
    #[arg(long, value_name = "V")]
    kafka: Option<String>,
    /// How many threads to use [default: as many as there are processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Simulate only what happens before this time, such as 10m [default: the whole scenario]
    #[arg(long, value_name = "T", value_parser = parse_duration)]
    until: Option<TimeMs>,
    /// What the coordinator's operations cost: a profile as `coordsim calibrate` writes it [default: one of real Kafka 4.3.1]
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// Process every heartbeat, also those that change nothing: a check, for the files are the same
    #[arg(long)]
    every_heartbeat: bool,
    /// Write no plots and no report.html
    #[arg(long)]
    no_plots: bool,
    /// How to print the comparison
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Really hash topics, build maps and encode records where the model only counts it: a check, for the files are the same
    #[arg(long)]
    check_work: bool,
}

/// The fewest seeds whose means are trusted, and how many more are run before they are looked at again.
const SEEDS_AT_ONCE: u64 = 10;

/// How well a metric is to be known.
#[derive(Debug, Clone, PartialEq)]
struct Precision {
    metric: String,
    text: String,
    relative: f64,
}

fn parse_precision(text: &str) -> Result<Precision, String> {
    let parts = text.split_once('=').and_then(|(metric, percent)| Some((metric, percent.strip_suffix('%')?)));
    let parts = parts.and_then(|(metric, percent)| Some((metric, percent.parse::<f64>().ok()?)));
    match parts.filter(|(metric, percent)| !metric.is_empty() && *percent > 0.0 && *percent <= 100.0) {
        Some((metric, percent)) => {
            Ok(Precision { metric: metric.to_owned(), text: text.to_owned(), relative: percent / 100.0 })
        }
        None => Err("expected a metric and a percentage above 0, such as epoch_bumps=2%".to_owned()),
    }
}

/// A scenario with the strategies and seeds to run.
struct Job {
    input: Input,
    strategies: Vec<Strategy>,
    seeds: Vec<u64>,
    folder: PathBuf,
    every_heartbeat: bool,
    check_work: bool,
    precision: Option<Precision>,
    warm_up_ms: Option<TimeMs>,
}

/// What came of the seeds of a scenario.
struct Seeds {
    runs: Vec<RunResults>,
    replications: Replications,
}

/// Runs the command.
pub fn run(args: &RunArgs, quiet: bool) -> Result<(), CliError> {
    let jobs = args.jobs().map_err(CliError::Input)?;
    let threads = args.threads.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| CliError::Failed(format!("cannot start threads: {error}")))?;
    let mut results = Vec::new();
    for job in &jobs {
        results.push(pool.install(|| job.run(quiet)).map_err(CliError::Input)?);
    }
    let wrong: Vec<String> = results.iter().flat_map(|seeds| &seeds.runs).flat_map(wrong_work).collect();
    if !wrong.is_empty() {
        return Err(CliError::Failed(wrong.join("\n")));
    }
    for (job, seeds) in jobs.iter().zip(&results) {
        pool.install(|| job.write(args, seeds))?;
    }
    let mut out = std::io::stdout().lock();
    match args.format {
        Format::Csv => {
            let all = results.iter().flat_map(|seeds| &seeds.runs);
            out.write_all(&summary_bytes(all)?)?;
        }
        Format::Json => writeln!(out, "{}", in_json(&results)?)?,
        Format::Table | Format::Markdown => {
            for (job, seeds) in jobs.iter().zip(&results) {
                job.show(args, seeds, &mut out)?;
            }
        }
    }
    Ok(())
}

/// `summary.csv` of several runs as one table.
fn summary_bytes<'r>(runs: impl Iterator<Item = &'r RunResults>) -> Result<Vec<u8>, CliError> {
    let mut all = Vec::new();
    for run in runs {
        let file = summary_file(std::slice::from_ref(run)).map_err(|error| CliError::Failed(error.to_string()))?;
        let header = file.bytes.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        all.extend_from_slice(if all.is_empty() { &file.bytes } else { &file.bytes[header..] });
    }
    Ok(all)
}

/// What a program wants to know: the rows of `summary.csv` of each scenario, and the findings.
fn in_json(results: &[Seeds]) -> Result<String, CliError> {
    let mut all = Vec::new();
    for seeds in results {
        let bytes = summary_bytes(seeds.runs.iter())?;
        let rows: Result<Vec<BTreeMap<String, String>>, _> =
            csv::Reader::from_reader(&bytes[..]).deserialize().collect();
        let rows = rows.map_err(|error| CliError::Failed(error.to_string()))?;
        // What cannot be known is null.
        let value = |text: String| match text.parse::<i64>() {
            Ok(number) => number.into(),
            Err(_) if text.is_empty() => serde_json::Value::Null,
            Err(_) => text.into(),
        };
        let object = |row: BTreeMap<String, String>| {
            row.into_iter().map(|(name, text)| (name, value(text))).collect::<serde_json::Map<_, _>>()
        };
        let rows: Vec<_> = rows.into_iter().map(object).collect();
        all.push(serde_json::json!({ "summary": rows, "findings": comparison::findings(&seeds.runs) }));
    }
    serde_json::to_string_pretty(&all).map_err(|error| CliError::Failed(error.to_string()))
}

/// How results are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// For people
    Table,
    /// For a page or a comment
    Markdown,
    /// The rows of summary.csv, and the findings
    Json,
    /// summary.csv
    Csv,
}

/// The most differences between work that is modelled and work that is done that are told of a strategy.
const MOST_WRONG: usize = 10;

/// Where work that was really done came to something else, a line each.
fn wrong_work(run: &RunResults) -> impl Iterator<Item = String> {
    run.strategies.iter().flat_map(move |(strategy, totals)| {
        let (scenario, seed, strategy) = (&run.scenario, run.seed, &strategy.name);
        totals.wrong_work.iter().take(MOST_WRONG).map(move |WrongWork { time_ms, shard, what }| {
            format!("{scenario}, seed {seed}, {strategy}: at {time_ms}ms, shard {shard}: {what}")
        })
    })
}

impl RunArgs {
    /// What is to be run; all that is wrong with any of it.
    fn jobs(&self) -> Result<Vec<Job>, Vec<String>> {
        let (mut jobs, mut errors): (Vec<Job>, Vec<String>) = (Vec::new(), Vec::new());
        let profile = self.profile.as_deref().map(inputs::read_profile).transpose();
        let profile = profile.map_err(|wrong| errors.extend(wrong)).ok().flatten();
        for path in &self.scenarios {
            let input = match Input::read(path, self.kafka.as_deref(), self.until) {
                Ok(mut input) => {
                    input.profile = profile.clone().unwrap_or(input.profile);
                    input
                }
                Err(wrong) => {
                    errors.extend(wrong);
                    continue;
                }
            };
            match self.job(input, path) {
                Ok(job) => jobs.push(job),
                Err(wrong) => errors.extend(wrong),
            }
        }
        let mut folders = BTreeSet::new();
        for job in &jobs {
            let folder = &job.folder;
            if !folders.insert(folder) {
                errors.push(format!("two scenarios are called {:?}; run them one by one", job.input.scenario.name));
            }
            if folder.exists() && !folder.is_dir() {
                errors.push(format!("--out: {} is not a folder", folder.display()));
            }
        }
        // What is wrong with all scenarios alike is said once.
        let mut said = BTreeSet::new();
        errors.retain(|error| said.insert(error.clone()));
        if errors.is_empty() { Ok(jobs) } else { Err(errors) }
    }

    fn job(&self, input: Input, path: &Path) -> Result<Job, Vec<String>> {
        let strategies = input.strategies(&self.strategies)?;
        let first = self.seed.unwrap_or(input.scenario.seed);
        let mut errors = Vec::new();
        if self.precision.is_some() && self.seeds < SEEDS_AT_ONCE {
            errors.push(format!("--precision: needs --seeds {SEEDS_AT_ONCE} or more, the most that may be run"));
        }
        if let Some(warm_up_ms) = self.warm_up {
            let timeline_ms = input.scenario.timeline_ms;
            if warm_up_ms >= input.until_ms || warm_up_ms % timeline_ms != 0 {
                let (end, width) = (show_duration(input.until_ms), show_duration(timeline_ms));
                errors.push(format!("--warm-up: expected a multiple of the timeline's {width}, less than {end}"));
            }
            if let Some(precision) =
                self.precision.as_ref().filter(|precision| !SUMS.contains(&precision.metric.as_str()))
            {
                let (metric, sums) = (&precision.metric, SUMS.join(", "));
                errors.push(format!("--precision: {metric} is not known without the warm-up; expected one of {sums}"));
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let Some(end) = first.checked_add(self.seeds) else {
            return Err(vec![format!("{}: there are no {} seeds from {first} on", path.display(), self.seeds)]);
        };
        let name = &input.scenario.name;
        let folder = match &self.out {
            None => Path::new("out").join(name),
            Some(out) if self.scenarios.len() == 1 => out.clone(),
            Some(out) => out.join(name),
        };
        Ok(Job {
            input,
            strategies,
            seeds: (first..end).collect(),
            folder,
            every_heartbeat: self.every_heartbeat,
            check_work: self.check_work,
            precision: self.precision.clone(),
            warm_up_ms: self.warm_up,
        })
    }

    /// The command, as far as it makes a difference to the results of one scenario.
    fn command(&self, job: &Job) -> Vec<String> {
        let mut command = vec!["coordsim".to_owned(), "run".to_owned(), job.file_name()];
        let mut option = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                command.extend([name.to_owned(), value]);
            }
        };
        option("--seed", self.seed.map(|seed| seed.to_string()));
        option("--seeds", (self.seeds > 1).then(|| self.seeds.to_string()));
        option("--precision", self.precision.as_ref().map(|precision| precision.text.clone()));
        option("--warm-up", self.warm_up.map(show_duration));
        option("--strategies", (!self.strategies.is_empty()).then(|| self.strategies.join(",")));
        option("--kafka", self.kafka.clone());
        option("--until", self.until.map(show_duration));
        option("--profile", self.profile.as_deref().map(inputs::name_of));
        command
    }
}

impl Job {
    fn file_name(&self) -> String {
        inputs::name_of(Path::new(&self.input.scenario.file))
    }

    /// Runs the seeds, all of them or until they say enough.
    fn run(&self, quiet: bool) -> Result<Seeds, Vec<String>> {
        let progress = Progress::new(quiet, &self.input.scenario.name, "shards");
        let at_once = if self.precision.is_some() { SEEDS_AT_ONCE as usize } else { self.seeds.len() };
        let mut all = Seeds { runs: Vec::new(), replications: Replications::new(self.warm_up_ms) };
        for seeds in self.seeds.chunks(at_once) {
            let more: Vec<Result<RunResults, Vec<String>>> =
                seeds.par_iter().map(|&seed| self.run_seed(seed, &progress)).collect();
            for run in more {
                let run = run?;
                all.replications.add(&run).map_err(|error| vec![error.to_string()])?;
                all.runs.push(run);
            }
            if self.is_enough(&all.replications)? {
                break;
            }
        }
        progress.0.finish_and_clear();
        Ok(all)
    }

    /// Whether a metric is known as well as was asked for.
    fn is_enough(&self, replications: &Replications) -> Result<bool, Vec<String>> {
        let Some(Precision { metric, relative, .. }) = &self.precision else { return Ok(false) };
        replications.is_precise(metric, *relative).ok_or_else(|| {
            let known: Vec<&str> = replications.metrics().collect();
            vec![format!("--precision: there is no metric {metric:?}; expected one of {}", known.join(", "))]
        })
    }

    fn run_seed(&self, seed: u64, progress: &Progress) -> Result<RunResults, Vec<String>> {
        let workload = self.input.workload(HistoryBuilder::new(), seed)?;
        let subject = Subject {
            every_heartbeat: self.every_heartbeat,
            does_work: self.check_work,
            ..self.input.subject(&workload)
        };
        // As many for every seed: the groups are the same.
        progress.0.set_length((num_worlds(&subject, &self.strategies) * self.seeds.len()) as u64);
        let totals = simulate(&subject, &self.strategies, &|| progress.0.inc(1));
        Ok(self.input.results(&workload, seed, self.strategies.iter().cloned().zip(totals).collect()))
    }

    /// Prints the comparison.
    fn show(&self, args: &RunArgs, Seeds { runs, replications }: &Seeds, out: &mut impl Write) -> Result<(), CliError> {
        let is_colored =
            std::io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        let is_markdown = args.format == Format::Markdown;
        let look = match (is_markdown, is_colored) {
            (true, _) => Look::Markdown,
            (false, true) => Look::Styled,
            (false, false) => Look::Plain,
        };
        // Markdown needs an empty line around a table.
        let gap = if is_markdown { "\n" } else { "" };
        writeln!(out, "{}{gap}", comparison::title(runs))?;
        let tables = [
            Some(comparison::table(runs, look)),
            comparison::kinds_table(runs, look),
            comparison::disk_table(runs, look),
        ];
        tables.iter().flatten().try_for_each(|table| writeln!(out, "{table}{gap}"))?;
        writeln!(out, "{}{gap}", comparison::legend())?;
        if runs.len() > 1 {
            writeln!(out, "{}", comparison::replications_table(replications))?;
        }
        let item = if is_markdown { "- " } else { "" };
        comparison::findings(runs).iter().try_for_each(|finding| writeln!(out, "{item}{finding}"))?;
        Ok(writeln!(out, "{item}Files: {}", self.folder.display())?)
    }

    /// Pictures of an earlier run in the same folder that do not belong to this one. They are only hints: a failure is no error.
    fn remove_old_pictures(&self, files: &[OutputFile]) {
        let is_old = |name: &&str| files.iter().all(|file| file.name != *name);
        for name in report::FILES.into_iter().filter(is_old) {
            let _ = std::fs::remove_file(self.folder.join(name));
        }
    }

    fn write(&self, args: &RunArgs, Seeds { runs, replications }: &Seeds) -> Result<(), CliError> {
        let scenario = &self.input.scenario;
        let config: BTreeMap<String, serde_json::Value> =
            scenario.config.iter().map(|(name, value)| (name.clone(), json(value))).collect();
        let manifest = Manifest {
            coordsim: env!("CARGO_PKG_VERSION"),
            command: args.command(self),
            scenario: ManifestScenario::new(
                &scenario.name,
                self.file_name(),
                &self.input.text,
                self.input.metadata_files.clone(),
            ),
            seeds: runs.iter().map(|run| run.seed).collect(),
            kafka: self.input.kafka.name().to_owned(),
            strategies: self.strategies.iter().map(Into::into).collect(),
            config,
            start_unix_ms: runs.first().map_or(0, |run| run.start_unix_ms),
            until_ms: self.input.until_ms,
            profile: (&self.input.profile).into(),
        };
        let mut files = csv_files(runs).map_err(|error| CliError::Failed(error.to_string()))?;
        if runs.len() > 1 {
            files.extend(replications.files().map_err(|error| CliError::Failed(error.to_string()))?);
        }
        files.push(manifest.file().map_err(|error| CliError::Failed(error.to_string()))?);
        if !args.no_plots {
            let shown = pictures(&files).map_err(|error| CliError::Failed(error.to_string()))?;
            files.extend(shown);
        }
        write_files(&self.folder, &files).map_err(|error| CliError::Failed(error.to_string()))?;
        self.remove_old_pictures(&files);
        Ok(())
    }
}

/// The pictures of a run, and its page.
fn pictures(files: &[OutputFile]) -> Result<Vec<OutputFile>, ReportError> {
    let run = [RunFiles::of(files)?];
    let mut shown = report::plot::files(&report::plot::figures(&run[0])?)?;
    shown.push(OutputFile { name: "report.html", bytes: report::page(&run)?.into_bytes() });
    Ok(shown)
}

fn json(value: &ConfigValue) -> serde_json::Value {
    match value {
        ConfigValue::Integer(number) => (*number).into(),
        ConfigValue::Boolean(switch) => (*switch).into(),
        ConfigValue::Text(text) => text.clone().into(),
    }
}
