//! `coordsim check`: runs scenarios and compares them with their baselines.

mod report;
mod speed;
mod subject;

use super::error::CliError;
use super::files;
use crate::results::baseline::{Difference, Kind};
use crate::results::write_file;
use report::Report;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use subject::{Checked, State};

/// Runs scenarios and compares them with their baselines.
///
/// Every figure must be equal unless the scenario states a tolerance; so must be every event and every row of the tables behind
/// pictures. What differs is shown with the first event at which the runs part. docs/check.md says more.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  coordsim check\n  coordsim check scenarios/quickstart.toml --kinds fingerprint,cost\n  \
coordsim check --bless\n  coordsim check --kinds speed"
)]
pub struct CheckArgs {
    /// Scenario files [default: all of scenarios/*.toml but those that say only_when_named]
    #[arg(value_name = "SCENARIO")]
    scenarios: Vec<PathBuf>,
    /// Write the baselines anew
    #[arg(long)]
    bless: bool,
    /// Check only this, of smoke, fingerprint, cost, plots, speed [default: all but speed]. With --bless: only speed
    #[arg(long, value_name = "KIND,…", value_delimiter = ',', value_parser = parse_kind)]
    kinds: Vec<Kind>,
    /// The folder with the baselines
    #[arg(long, value_name = "DIR", default_value = "reports/baseline")]
    baseline: PathBuf,
    /// Write the results as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Write what differs as Markdown, for a comment on a pull request
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write the results as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

fn parse_kind(text: &str) -> Result<Kind, String> {
    let names = || Kind::ALL.map(Kind::name).join(", ");
    Kind::ALL.into_iter().find(|kind| kind.name() == text).ok_or_else(|| format!("expected one of {}", names()))
}

/// Something that differs, and where the runs part.
#[derive(Debug)]
struct Finding {
    difference: Difference,
    /// The first event that differs, in words.
    event: Option<String>,
}

/// Runs the command.
pub fn run(args: &CheckArgs, quiet: bool) -> Result<(), CliError> {
    let mut checked = Vec::new();
    if args.bless && !matches!(args.kinds[..], [] | [Kind::Speed]) {
        let error = "--bless: writes all baselines but that of speed, or with --kinds speed that one".to_owned();
        return Err(CliError::Input(vec![error]));
    }
    let scenarios = args.scenarios().map_err(|error| CliError::Input(vec![error]))?;
    if args.kinds == [Kind::Speed] && args.bless {
        return args.bless_speed(&scenarios);
    }
    for path in &scenarios {
        let one = subject::check(path, args);
        show(&one, quiet)?;
        checked.push(one);
    }
    for orphan in args.orphans(&checked, &scenarios) {
        show(&orphan, quiet)?;
        checked.push(orphan);
    }
    let report = Report(&checked);
    let files = [(&args.junit, report.junit()), (&args.markdown, report.markdown()), (&args.json, report.json())];
    for (path, text) in files {
        let Some(path) = path else { continue };
        write_file(path, text.as_bytes()).map_err(|error| CliError::Failed(error.to_string()))?;
    }
    let errors: Vec<String> = checked.iter().flat_map(|one| one.errors().iter().cloned()).collect();
    let differ: Vec<&str> = checked.iter().filter(|one| one.differs()).map(|one| one.name.as_str()).collect();
    if !errors.is_empty() {
        return Err(CliError::Input(errors));
    }
    if !differ.is_empty() {
        let bless = if args.bless { "; nothing is blessed" } else { "; if that is meant, `coordsim check --bless`" };
        return Err(CliError::Failed(format!("not as before: {}{bless}", differ.join(", "))));
    }
    if args.bless { args.bless(&checked) } else { Ok(()) }
}

/// Prints what came of a scenario; quietly, only what is not as it should be.
fn show(one: &Checked, quiet: bool) -> std::io::Result<()> {
    if quiet && !matches!(one.state, State::Wrong(_) | State::Differs(_)) {
        return Ok(());
    }
    write!(std::io::stdout().lock(), "{}", report::text(one))
}

impl CheckArgs {
    fn kinds(&self) -> Vec<Kind> {
        match &self.kinds[..] {
            _ if self.bless => vec![Kind::Smoke],
            [] => Kind::EXACT.to_vec(),
            kinds => kinds.to_vec(),
        }
    }

    fn scenarios(&self) -> Result<Vec<PathBuf>, String> {
        if !self.scenarios.is_empty() {
            return Ok(self.scenarios.clone());
        }
        let found = toml_files(Path::new("scenarios"));
        if found.is_empty() {
            return Err("there are no scenarios/*.toml here; name scenarios, or go to the project's folder".to_owned());
        }
        Ok(found)
    }

    fn baseline_of(&self, scenario: &str) -> PathBuf {
        self.baseline.join(format!("{scenario}.toml"))
    }

    /// Baselines that no scenario has, where all scenarios are looked at.
    fn orphans(&self, checked: &[Checked], scenarios: &[PathBuf]) -> Vec<Checked> {
        if !self.scenarios.is_empty() || self.bless || checked.iter().any(|one| !one.errors().is_empty()) {
            return Vec::new();
        }
        let is_known = |path: &PathBuf| checked.iter().any(|one| self.baseline_of(&one.name) == *path);
        let orphans = toml_files(&self.baseline).into_iter().filter(|path| !is_known(path) && !scenarios.is_empty());
        orphans.map(|path| Checked::orphan(&path)).collect()
    }

    /// Counts the instructions of all scenarios, and writes them down.
    fn bless_speed(&self, scenarios: &[PathBuf]) -> Result<(), CliError> {
        let mut counts = speed::Counts::read(&self.baseline).map_err(CliError::Input)?;
        for path in scenarios {
            let Some(name) = subject::name_to_check(path, self).map_err(CliError::Input)? else { continue };
            let count = speed::count(path).map_err(|error| CliError::Failed(format!("speed: {error}")))?;
            writeln!(std::io::stdout().lock(), "{name}: {count} instructions")?;
            counts.set(&name, count);
        }
        counts.write(&self.baseline).map_err(|error| CliError::Failed(error.to_string()))
    }

    /// Writes all baselines; each file is whole, old or new, whatever happens.
    fn bless(&self, checked: &[Checked]) -> Result<(), CliError> {
        let failed = |error: &dyn std::fmt::Display| CliError::Failed(error.to_string());
        let folder = &self.baseline;
        fs::create_dir_all(folder).map_err(|error| failed(&format!("{}: {error}", folder.display())))?;
        for one in checked {
            let Some(text) = &one.baseline else { continue };
            let path = self.baseline_of(&one.name);
            let is_new = files::read_text(&path).map_or(true, |old| old != *text);
            if is_new {
                write_file(&path, text.as_bytes()).map_err(|error| failed(&error))?;
            }
            let word = if is_new { "wrote" } else { "as before:" };
            writeln!(std::io::stdout().lock(), "{word} {}", path.display())?;
        }
        Ok(())
    }
}

/// The TOML files of a folder, in the order of their names.
fn toml_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_toml = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "toml") && path.is_file();
    let mut found: Vec<PathBuf> = entries.filter(is_toml).collect();
    found.sort();
    found
}
