//! `coordsim sweep`: a grid of runs, each kept as soon as it is done.

use super::error::CliError;
use super::files;
use super::inputs::Input;
use super::progress::Progress;
use crate::cluster::HistoryBuilder;
use crate::results::summary_file;
use crate::scenario::{Scenario, Seeds, Sweep, counted, show_duration};
use crate::simulation::simulate;
use crate::strategy::Strategy;
use crate::study::{Folder, FolderError, Plan, Run, run_id};
use rayon::prelude::*;
use serde_json::json;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64;

/// Runs a grid of variants of a scenario.
///
/// Every run is kept in DIR as soon as it is done: start the command again after an interruption, or with more values, and only
/// what is missing is run. When all is done, DIR/sweep.csv has a row for each run and strategy: the run's id, the parameters,
/// the columns of summary.csv (docs/sweep.md).
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  coordsim sweep scenarios/sweeps/topics-and-groups.toml --out out/grid\n  coordsim sweep scenarios/sweeps/topics-and-groups.toml --shard 0/8 --out out/grid-0"
)]
pub struct SweepArgs {
    /// The sweep's file
    #[arg(value_name = "SWEEP")]
    sweep: PathBuf,
    /// The folder to keep runs in [default: out/<sweep>]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Run only every Nth run, from the one numbered I, 0 to N-1; `coordsim merge` joins the shards
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// How many threads to use [default: as many as there are processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

/// A part of the runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Shard {
    number: usize,
    of: usize,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let parts = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        let shard = parts.map(|(number, of)| Shard { number, of }).filter(|shard| shard.number < shard.of);
        shard.ok_or_else(|| "expected I/N with I from 0 to N-1, such as 0/8".to_owned())
    }
}

/// What is common to all runs of a sweep.
struct Study {
    sweep: Sweep,
    /// The scenario's path and text.
    path: PathBuf,
    base: toml::Table,
    manifest: Vec<u8>,
}

/// A run, and the scenario that it is of.
struct Job {
    run: Run,
    text: Arc<str>,
    /// The values of the parameters in words.
    at: Arc<str>,
}

/// The scenario at a point.
struct Variant<'a> {
    point: &'a [toml::Value],
    text: Arc<str>,
    /// The values of the parameters in words.
    at: Arc<str>,
    /// What of the text makes a difference.
    identity: String,
}

/// Runs the command.
pub fn run(args: &SweepArgs, quiet: bool) -> Result<(), CliError> {
    let (study, jobs) = Study::read(&args.sweep).map_err(CliError::Input)?;
    let plan = study.plan(&jobs);
    let out = args.out.clone().unwrap_or_else(|| Path::new("out").join(&study.sweep.name));
    let folder = Folder::open(&out).map_err(failed)?;
    folder.keep_plan(&plan, &study.manifest).map_err(failed)?;
    let shard = args.shard.unwrap_or(Shard { number: 0, of: 1 });
    let own: Vec<&Job> = jobs.iter().skip(shard.number).step_by(shard.of).collect();
    let mut to_do = Vec::new();
    for job in &own {
        let missing = folder.missing(&job.run).map_err(failed)?;
        if !missing.is_empty() {
            to_do.push((*job, missing));
        }
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(args.threads.map_or(0, usize::from)).build();
    let pool = pool.map_err(|error| CliError::Failed(format!("cannot start threads: {error}")))?;
    let progress = Progress::new(quiet, &study.sweep.name, "runs");
    progress.0.set_length(to_do.len() as u64);
    let run_one = |(job, missing): &(&Job, Vec<String>)| {
        let done = study.run(job, missing).and_then(|bytes| folder.keep_run(&job.run, &bytes).map_err(Wrong::Folder));
        progress.0.inc(1);
        done
    };
    let done: Vec<Result<(), Wrong>> = pool.install(|| to_do.par_iter().map(run_one).collect());
    progress.0.finish_and_clear();
    let mut errors = Vec::new();
    for wrong in done.into_iter().filter_map(Result::err) {
        match wrong {
            Wrong::Input(wrong) => errors.extend(wrong),
            Wrong::Folder(error) => return Err(failed(error)),
        }
    }
    if !errors.is_empty() {
        return Err(CliError::Input(distinct(errors)));
    }
    let missing = folder.write_table(&plan).map_err(failed)?;
    let others = folder.others(&plan).map_err(failed)?;
    let mut text = std::io::stdout().lock();
    let strategies = plan.runs.first().map_or(0, |run| run.strategies.len());
    let (runs, there) = (counted(own.len() as u64, "run"), own.len() - to_do.len());
    let part = args.shard.map_or_else(String::new, |shard| format!("shard {}/{}: ", shard.number, shard.of));
    writeln!(
        text,
        "{}: {part}{runs} of {strategies} strategies: {there} were there, {} done now",
        study.sweep.name,
        to_do.len()
    )?;
    if missing > 0 {
        writeln!(text, "{missing} rows of {} are missing here: other shards have them", plan.num_rows())?;
    }
    if others > 0 {
        writeln!(text, "{} of other plans are kept in runs/ and not in sweep.csv", counted(others as u64, "run"))?;
    }
    Ok(writeln!(text, "Table: {}", out.join("sweep.csv").display())?)
}

/// What is wrong with a folder: with what the user gave, or with the machine.
pub(super) fn failed(error: FolderError) -> CliError {
    match error {
        FolderError::Io { .. } => CliError::Failed(error.to_string()),
        _ => CliError::Input(vec![error.to_string()]),
    }
}

fn distinct(mut errors: Vec<String>) -> Vec<String> {
    let mut said = BTreeSet::new();
    errors.retain(|error| said.insert(error.clone()));
    errors
}

enum Wrong {
    Input(Vec<String>),
    Folder(FolderError),
}

impl Study {
    /// Reads a sweep and its scenario; gives the runs in order, all of them checked.
    fn read(path: &Path) -> Result<(Study, Vec<Job>), Vec<String>> {
        let text = files::read_text(path).map_err(|error| vec![error])?;
        let sweep = Sweep::parse(&path.display().to_string(), &text);
        let sweep = sweep.map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>())?;
        let scenario_path = path.parent().unwrap_or(Path::new("")).join(&sweep.scenario);
        let base = Input::read(&scenario_path, None, sweep.until_ms)?;
        let manifest = json!({
            "coordsim": env!("CARGO_PKG_VERSION"),
            "sweep": { "name": sweep.name, "file": super::inputs::name_of(path), "xxh3_64": hash(&text) },
            "scenario": {
                "name": base.scenario.name,
                "file": super::inputs::name_of(&scenario_path),
                "xxh3_64": hash(&base.text),
                "metadata_files": base.metadata_files,
            },
            "until_ms": base.until_ms,
        });
        let study = Study {
            base: base.text.parse().unwrap_or_default(),
            manifest: format!("{manifest:#}\n").into_bytes(),
            path: scenario_path,
            sweep,
        };
        let jobs = study.jobs(&base)?;
        Ok((study, jobs))
    }

    fn jobs(&self, base: &Input) -> Result<Vec<Job>, Vec<String>> {
        let sweep = &self.sweep;
        let versions = match &sweep.kafka[..] {
            [] => vec![None],
            versions => versions.iter().map(|version| Some(version.as_str())).collect(),
        };
        let (mut jobs, mut errors): (Vec<Job>, Vec<String>) = (Vec::new(), Vec::new());
        for point in &sweep.points {
            let scenario = match sweep.scenario_at(&self.base, point) {
                Ok(scenario) => scenario,
                Err(error) => {
                    errors.push(error.to_string());
                    continue;
                }
            };
            let (text, at) = (scenario.to_string(), self.in_words(point));
            if let Err(wrong) = Scenario::parse(&sweep.file, &text) {
                errors.extend(wrong.iter().map(|wrong| {
                    let about = match wrong.field.as_str() {
                        "" => wrong.message.clone(),
                        field => format!("{field}: {}", wrong.message),
                    };
                    match sweep.parameter_of(&wrong.field) {
                        Some(parameter) => sweep.diagnostic(&parameter.place, about).to_string(),
                        None => format!("{}: at {at}: {about}", sweep.file),
                    }
                }));
                continue;
            }
            let variant = Variant { point, text: text.into(), at: at.into(), identity: identity(scenario) };
            for kafka in &versions {
                match self.jobs_at(base, &variant, *kafka) {
                    Ok(more) => jobs.extend(more),
                    Err(wrong) => errors.extend(wrong),
                }
            }
        }
        if errors.is_empty() { Ok(jobs) } else { Err(distinct(errors)) }
    }

    /// The runs of a variant with a Kafka version: one for each seed.
    fn jobs_at(&self, base: &Input, variant: &Variant, kafka: Option<&str>) -> Result<Vec<Job>, Vec<String>> {
        let sweep = &self.sweep;
        let Variant { point, text, at, identity } = variant;
        let input = self.input(text, at, kafka)?;
        let strategies = input.strategies(&sweep.strategies);
        let strategies = strategies.map_err(|errors| self.at_point(at, &errors))?;
        let first = base.scenario.seed;
        let seeds: Vec<u64> = match &sweep.seeds {
            Seeds::List(seeds) => seeds.clone(),
            Seeds::Count(count) => (first..first.saturating_add(*count)).collect(),
        };
        let metadata = json!(input.metadata_files).to_string();
        let (version, until) = (input.kafka.name(), show_duration(input.until_ms));
        let job = |seed: u64| {
            let seed_text = seed.to_string();
            let parts = [env!("CARGO_PKG_VERSION"), identity, &metadata, version, &until, &seed_text];
            let run = Run {
                id: run_id(parts),
                values: point.iter().map(show).collect(),
                kafka: version.to_owned(),
                seed,
                strategies: strategies.iter().map(|strategy| strategy.name.clone()).collect(),
            };
            Job { run, text: text.clone(), at: at.clone() }
        };
        Ok(seeds.into_iter().map(job).collect())
    }

    fn plan(&self, jobs: &[Job]) -> Plan {
        Plan {
            parameters: self.sweep.parameters.iter().map(|parameter| parameter.path.clone()).collect(),
            runs: jobs.iter().map(|job| job.run.clone()).collect(),
        }
    }

    fn input(&self, text: &str, at: &str, kafka: Option<&str>) -> Result<Input, Vec<String>> {
        let input = Input::of_text(&self.path, text.to_owned(), kafka, self.sweep.until_ms);
        input.map_err(|errors| self.at_point(at, &errors))
    }

    /// Errors of the scenario at a point; where they stand in its text, which nobody has, is left out.
    fn at_point(&self, at: &str, errors: &[String]) -> Vec<String> {
        let file = self.path.display().to_string();
        let without_place = |error: &String| {
            let Some(rest) = error.strip_prefix(&file).and_then(|rest| rest.strip_prefix(':')) else {
                return error.clone();
            };
            rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':').trim_start().to_owned()
        };
        errors.iter().map(|error| format!("{}: at {at}: {}", self.sweep.file, without_place(error))).collect()
    }

    fn in_words(&self, point: &[toml::Value]) -> String {
        if point.is_empty() {
            return "the only point".to_owned();
        }
        let parameters = self.sweep.parameters.iter().zip(point);
        parameters.map(|(parameter, value)| format!("{} = {value}", parameter.path)).collect::<Vec<_>>().join(", ")
    }

    /// Runs some strategies of a run; gives their `summary.csv`.
    fn run(&self, job: &Job, strategies: &[String]) -> Result<Vec<u8>, Wrong> {
        let input = self.input(&job.text, &job.at, Some(&job.run.kafka)).map_err(Wrong::Input)?;
        let strategies: Vec<Strategy> = input.strategies(strategies).map_err(Wrong::Input)?;
        let workload = input.workload(HistoryBuilder::new(), job.run.seed);
        let workload = workload.map_err(|errors| Wrong::Input(self.at_point(&job.at, &errors)))?;
        let totals = simulate(&input.subject(&workload), &strategies, &|| ());
        let results = input.results(&workload, job.run.seed, strategies.into_iter().zip(totals).collect());
        let file = summary_file(&[results]).map_err(|error| Wrong::Input(vec![error.to_string()]))?;
        Ok(file.bytes)
    }
}

/// The text of a scenario without what makes no difference to a run: which strategies are compared, and what is said beside. The
/// seed and the version are given apart.
fn identity(mut scenario: toml::Table) -> String {
    for field in ["compare", "description", "seed", "kafka", "check"] {
        scenario.remove(field);
    }
    scenario.to_string()
}

/// A value as a cell.
fn show(value: &toml::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn hash(text: &str) -> String {
    format!("{:016x}", xxh3_64(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_counted_from_0() {
        assert_eq!("3/8".parse(), Ok(Shard { number: 3, of: 8 }));
        for wrong in ["8/8", "1", "a/2", "-1/2", "1/0"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_makes_no_difference_is_not_in_the_id() {
        let text = "seed = 1\ncompare = [\"ideal\"]\ndescription = \"x\"\nkafka = \"4.0.0\"\nduration = \"1m\"\n";
        assert_eq!(identity(text.parse().expect("TOML")), "duration = \"1m\"\n");
    }
}
