//! How many instructions a scenario's run takes, counted by Valgrind where it is installed: the same on an idle and on a busy
//! machine, but not for another processor or compiler, so that a count is compared only with one of the same target.

use super::Finding;
use crate::cli::files;
use crate::results::baseline::{Difference, Kind, change, is_within};
use crate::results::{FileError, write_file};
use std::collections::BTreeMap;
use std::env::consts::{ARCH, OS};
use std::path::{Path, PathBuf};
use std::process::Command;

/// By how many millionths of what it was a count may differ: allocation and libraries are never quite the same.
const WITHIN: u64 = 20_000;
const HEADER: &str = "scenario,target,instructions";

/// The counts that were blessed, by scenario and target.
#[derive(Debug, Default)]
pub struct Counts(BTreeMap<(String, String), u64>);

/// What came of a comparison: a finding, or why there was nothing to compare.
pub type Outcome = Result<Option<Finding>, String>;

fn path_in(baselines: &Path) -> PathBuf {
    baselines.join("speed.csv")
}

fn target() -> String {
    format!("{ARCH}-{OS}")
}

impl Counts {
    /// Reads those of a folder of baselines; none if there is no file.
    ///
    /// # Errors
    /// Every line that is wrong.
    pub fn read(baselines: &Path) -> Result<Counts, Vec<String>> {
        let path = path_in(baselines);
        if !path.exists() {
            return Ok(Counts::default());
        }
        let text = files::read_text(&path).map_err(|error| vec![error])?;
        let (mut counts, mut errors) = (Counts::default(), Vec::new());
        for (index, line) in text.lines().enumerate() {
            let cells: Vec<&str> = line.split(',').collect();
            match (index, &cells[..]) {
                (0, _) if line == HEADER => {}
                (0, _) => errors.push(format!("{}:1: expected {HEADER}", path.display())),
                (_, [scenario, target, count]) if count.parse::<u64>().is_ok() => {
                    let count = count.parse().unwrap_or_default();
                    counts.0.insert(((*scenario).to_owned(), (*target).to_owned()), count);
                }
                _ => errors.push(format!(
                    "{}:{}: found {line:?}; expected a scenario, a target and a number",
                    path.display(),
                    index + 1
                )),
            }
        }
        if errors.is_empty() { Ok(counts) } else { Err(errors) }
    }

    /// Notes a count of this machine's target.
    pub fn set(&mut self, scenario: &str, count: u64) {
        self.0.insert((scenario.to_owned(), target()), count);
    }

    /// Writes them.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, baselines: &Path) -> Result<(), FileError> {
        let rows = self.0.iter().map(|((scenario, target), count)| format!("{scenario},{target},{count}\n"));
        write_file(&path_in(baselines), format!("{HEADER}\n{}", rows.collect::<String>()).as_bytes())
    }

    /// Compares a count with the one that was blessed.
    pub fn compare(&self, scenario: &str, now: u64) -> Outcome {
        let Some(&before) = self.0.get(&(scenario.to_owned(), target())) else {
            return Err(format!(
                "there is no count for {}; `coordsim check --bless --kinds speed` writes it",
                target()
            ));
        };
        let (old, new) = (before as i64, now as i64);
        let difference = Difference {
            kind: Kind::Speed,
            strategy: None,
            metric: "instructions".to_owned(),
            old: Some(old.to_string()),
            new: Some(new.to_string()),
            change: Some(change(old, new)),
            parting: None,
        };
        let finding = Finding { difference, event: None };
        Ok((!is_within(old, new, WITHIN)).then_some(finding))
    }
}

/// How many instructions `coordsim run` takes for a scenario on one thread.
///
/// # Errors
/// Why they cannot be counted here.
pub fn count(scenario: &Path) -> Result<u64, String> {
    if cfg!(debug_assertions) {
        return Err("this is a debug build; a release build's instructions are counted".to_owned());
    }
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let out = std::env::temp_dir().join(format!("coordsim-speed-{}", std::process::id()));
    let mut command = Command::new("valgrind");
    command.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]).arg(program);
    command.args(["--quiet", "run"]).arg(scenario).args(["--threads", "1", "--out"]).arg(&out);
    let output = command.output();
    // What the run wrote is of no use; if it is not there, there is nothing to remove.
    let _ = std::fs::remove_dir_all(&out);
    let output = output.map_err(|_| "there is no valgrind here".to_owned())?;
    let text = String::from_utf8_lossy(&output.stderr);
    counted(&text).filter(|_| output.status.success()).ok_or_else(|| "valgrind counted nothing".to_owned())
}

/// The number in `==12== I   refs:      69,830,457`.
fn counted(text: &str) -> Option<u64> {
    let number = text.lines().find_map(|line| line.split_once("refs:").filter(|(before, _)| before.contains("I ")))?;
    number.1.trim().replace(',', "").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_compared_with_their_like() {
        assert_eq!(counted("==1== \n==1== I   refs:      69,830,457\n"), Some(69_830_457));
        assert_eq!(counted("==1== nothing"), None);
        let home = tempfile::tempdir().expect("a temporary folder");
        let mut counts = Counts::read(home.path()).expect("none");
        let none = counts.compare("a", 5).expect_err("no count");
        assert!(none.starts_with("there is no count for "), "{none}");
        counts.set("a", 1_000_000);
        counts.write(home.path()).expect("written");
        let counts = Counts::read(home.path()).expect("one");
        assert!(counts.compare("a", 1_020_000).expect("a count").is_none());
        let finding = counts.compare("a", 1_020_001).expect("a count").expect("a difference");
        assert_eq!(finding.difference.change.as_deref(), Some("+20001 (+2.000 %)"));
        std::fs::write(path_in(home.path()), "scenario\na,b\nb,c,x\n").expect("written");
        let errors = Counts::read(home.path()).expect_err("wrong");
        assert_eq!(errors.len(), 3, "{errors:?}");
    }
}
