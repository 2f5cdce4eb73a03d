//! One scenario: runs it, compares it, finds the first event that differs.

use super::{CheckArgs, Finding, speed};
use crate::cli::files;
use crate::cli::inputs::Input;
use crate::cluster::HistoryBuilder;
use crate::results::baseline::{self, Baseline, Difference, EVENTS, Kind, Parting};
use crate::results::{RunResults, csv_files};
use crate::scenario::show_duration;
use crate::simulation::{Effect, Subject, Watch, simulate_watched};
use crate::strategy::Strategy;
use std::path::Path;

/// What came of a scenario.
#[derive(Debug)]
pub struct Checked {
    /// Its name; its file, if it has none.
    pub name: String,
    /// What was found.
    pub(super) state: State,
    /// The baseline that it would have now.
    pub baseline: Option<String>,
}

/// See [`Checked`].
#[derive(Debug)]
pub(super) enum State {
    /// It, or its baseline, cannot be read.
    Wrong(Vec<String>),
    /// It was not run, for this reason.
    Skipped(String),
    /// It is as it was; in a few words.
    Same(String),
    /// It is not.
    Differs(Vec<Finding>),
}

impl Checked {
    /// What is wrong with the input.
    pub fn errors(&self) -> &[String] {
        if let State::Wrong(errors) = &self.state { errors } else { &[] }
    }

    /// Whether anything differs.
    pub fn differs(&self) -> bool {
        matches!(self.state, State::Differs(_))
    }

    /// A baseline that no scenario has.
    pub fn orphan(path: &Path) -> Checked {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let new = Some(format!("no scenario has this name; remove {}", path.display()));
        let finding = about_baseline(new);
        Checked { name, state: State::Differs(vec![finding]), baseline: None }
    }
}

fn about_baseline(new: Option<String>) -> Finding {
    let (kind, metric) = (Kind::Cost, "baseline".to_owned());
    let difference = Difference { kind, strategy: None, metric, old: None, new, change: None, parting: None };
    Finding { difference, event: None }
}

/// Runs and compares a scenario.
pub fn check(path: &Path, args: &CheckArgs) -> Checked {
    let wrong = |name: String, errors| Checked { name, state: State::Wrong(errors), baseline: None };
    let input = match Input::read(path, None, None) {
        Ok(input) => input,
        Err(errors) => return wrong(path.display().to_string(), errors),
    };
    let name = input.scenario.name.clone();
    if let Some(reason) = reason_to_leave_out(&input, args) {
        return Checked { name, state: State::Skipped(reason.to_owned()), baseline: None };
    }
    check_input(&input, path, args).unwrap_or_else(|errors| wrong(name, errors))
}

/// The name of a scenario, unless it is to be left out.
pub fn name_to_check(path: &Path, args: &CheckArgs) -> Result<Option<String>, Vec<String>> {
    let input = Input::read(path, None, None)?;
    Ok(reason_to_leave_out(&input, args).is_none().then_some(input.scenario.name))
}

fn reason_to_leave_out<'a>(input: &'a Input, args: &CheckArgs) -> Option<&'a str> {
    input.scenario.check.only_when_named.as_deref().filter(|_| args.scenarios.is_empty())
}

fn check_input(input: &Input, path: &Path, args: &CheckArgs) -> Result<Checked, Vec<String>> {
    let scenario = &input.scenario;
    let workload = input.workload(HistoryBuilder::new(), scenario.seed)?;
    let subject = input.subject(&workload);
    let totals = simulate_watched(&subject, &scenario.strategies, &Watch::Digests, &|| ());
    let run = input.results(&workload, scenario.seed, scenario.strategies.iter().cloned().zip(totals).collect());
    let new = Baseline::new(&run).map_err(|error| vec![format!("{}: {error}", scenario.file)])?;
    check_tolerances(input, &new)?;
    let kinds = args.kinds();
    let mut findings: Vec<Finding> = Vec::new();
    if kinds.contains(&Kind::Smoke) {
        findings.extend(baseline::insanities(&run).into_iter().map(|(strategy, wrong)| insanity(strategy, wrong)));
    }
    let mut remark = String::new();
    if kinds.contains(&Kind::Speed) {
        let counts = speed::Counts::read(&args.baseline)?;
        match speed::count(path).and_then(|count| counts.compare(&scenario.name, count)) {
            Ok(finding) => findings.extend(finding),
            Err(why) => remark = format!("; speed not checked: {why}"),
        }
    }
    if kinds.iter().any(|kind| [Kind::Fingerprint, Kind::Cost, Kind::Plots].contains(kind)) {
        match read_baseline(args, &scenario.name)? {
            None => {
                findings.push(about_baseline(Some("there is none yet; `coordsim check --bless` writes it".to_owned())))
            }
            Some(old) => {
                let within = |metric: &str| {
                    scenario.check.tolerances.iter().find(|t| t.metric == metric).map(|tolerance| tolerance.millionths)
                };
                let all = baseline::compare(&old, &new, &within);
                findings.extend(Partings::new(&run, &subject, &all).findings(&all, &kinds)?);
            }
        }
    }
    let state = if findings.is_empty() { State::Same(in_short(&new) + &remark) } else { State::Differs(findings) };
    Ok(Checked { name: scenario.name.clone(), state, baseline: Some(baseline::to_text(&new)) })
}

fn in_short(new: &Baseline) -> String {
    let figures: usize = new.strategies.iter().map(|strategy| strategy.figures.len()).sum();
    let events: usize = new.strategies.iter().filter_map(|s| s.chain(EVENTS)).map(|chain| chain.len).sum();
    format!("{} strategies, {figures} figures, {events} events", new.strategies.len())
}

/// A tolerance must be of a figure that there is.
fn check_tolerances(input: &Input, new: &Baseline) -> Result<(), Vec<String>> {
    let is_known = |metric: &str| new.strategies.iter().any(|strategy| strategy.figure(metric).is_some());
    let unknown = input.scenario.check.tolerances.iter().filter(|tolerance| !is_known(&tolerance.metric));
    let message = "is not a figure of this run; expected a name from its baseline, such as appended_bytes";
    let errors: Vec<String> =
        unknown.map(|tolerance| input.scenario.diagnostic(&tolerance.place, message).to_string()).collect();
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

fn read_baseline(args: &CheckArgs, scenario: &str) -> Result<Option<Baseline>, Vec<String>> {
    let path = args.baseline_of(scenario);
    if !path.exists() {
        return Ok(None);
    }
    let text = files::read_text(&path).map_err(|error| vec![error])?;
    baseline::read(&path.display().to_string(), &text).map(Some).map_err(|error| vec![error.to_string()])
}

fn insanity(strategy: String, wrong: String) -> Finding {
    let (kind, metric) = (Kind::Smoke, "sane".to_owned());
    let (strategy, new) = (Some(strategy), Some(wrong));
    let difference = Difference { kind, strategy, metric, old: None, new, change: None, parting: None };
    Finding { difference, event: None }
}

/// Where the runs of each strategy part, in words.
struct Partings<'a> {
    run: &'a RunResults,
    events: Vec<(String, String)>,
}

impl<'a> Partings<'a> {
    /// Runs the strategies whose events differ again, for the words.
    fn new(run: &'a RunResults, subject: &Subject, all: &[Difference]) -> Partings<'a> {
        let mut events = Vec::new();
        for (strategy, totals) in &run.strategies {
            let is_its = |d: &&Difference| d.metric == EVENTS && d.strategy.as_ref() == Some(&strategy.name);
            if let Some(parting) = all.iter().find(is_its).and_then(|difference| difference.parting.as_ref()) {
                events.push((strategy.name.clone(), event(subject, strategy, &totals.effects, parting)));
            }
        }
        Partings { run, events }
    }

    fn findings(&self, all: &[Difference], kinds: &[Kind]) -> Result<Vec<Finding>, Vec<String>> {
        let wanted = all.iter().filter(|difference| kinds.contains(&difference.kind));
        wanted
            .map(|difference| Ok(Finding { difference: difference.clone(), event: self.of(difference, all)? }))
            .collect()
    }

    /// A row of a table is shown as it is now; anything else with the strategy's first event or, if its events are the same,
    /// with the row at which its timeline parts.
    fn of(&self, difference: &Difference, all: &[Difference]) -> Result<Option<String>, Vec<String>> {
        let Some(strategy) = &difference.strategy else { return Ok(None) };
        if let Some(parting) = difference.parting.as_ref().filter(|parting| parting.of != EVENTS) {
            return self.row(strategy, parting).map(Some);
        }
        if let Some((_, event)) = self.events.iter().find(|(of, _)| of == strategy) {
            return Ok(Some(event.clone()));
        }
        let timeline = all.iter().find(|d| d.metric == "timeline" && d.strategy.as_ref() == Some(strategy));
        let Some(parting) = timeline.and_then(|difference| difference.parting.as_ref()) else { return Ok(None) };
        Ok(Some(format!("all events are the same; {}", self.row(strategy, parting)?)))
    }

    fn row(&self, strategy: &str, parting: &Parting) -> Result<String, Vec<String>> {
        let failed = |error: csv::Error| vec![error.to_string()];
        let files = csv_files(std::slice::from_ref(self.run)).map_err(failed)?;
        let Some(file) = files.iter().find(|file| file.name.trim_end_matches(".csv") == parting.of) else {
            return Ok(String::new());
        };
        let (columns, rows) = baseline::rows_of(file, strategy).map_err(failed)?;
        let number = parting.items.start + 1;
        let row = rows.get(parting.items.start).map_or_else(
            || format!("there is none; the baseline has {} rows", parting.lengths.0),
            |row| {
                columns.iter().zip(row).map(|(column, cell)| format!("{column}={cell}")).collect::<Vec<_>>().join(" ")
            },
        );
        Ok(format!("{} row {number}, now: {row}", file.name))
    }
}

/// The first event that differs, in words.
fn event(subject: &Subject, strategy: &Strategy, effects: &[Effect], parting: &Parting) -> String {
    let (start, end) = (parting.items.start, parting.items.end.min(effects.len()));
    let (old, new) = parting.lengths;
    let Some(first) = effects.get(start) else {
        return format!("event {} of {old} is missing: now there are {new}", start + 1);
    };
    let window = first.time_ms..=effects[end - 1].time_ms;
    let again = simulate_watched(subject, std::slice::from_ref(strategy), &Watch::Texts(window), &|| ());
    let Some(effect) = again.first().and_then(|totals| totals.effects.get(start)) else { return String::new() };
    let which = match end - start {
        1 => format!("event {}", start + 1),
        _ => format!("one of events {} to {end}", start + 1),
    };
    let beyond = if start >= old { format!(", beyond the baseline's {old}") } else { String::new() };
    let text = effect.text.as_deref().unwrap_or_default();
    let (time, shard) = (show_duration(effect.time_ms), effect.shard);
    // Of several, the first is told.
    format!("{which} of {new}{beyond}, at {time} ({} ms), shard {shard}: {text}", effect.time_ms)
}
