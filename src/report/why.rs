//! Why epochs were bumped, and where two strategies part, from the files of a run.

use super::files::{ReportError, RunFiles};
use super::rows::{Bump, Timeline};
use super::words::{counted, steps, time};

/// Which bumps are asked for.
#[derive(Debug, Clone, Default)]
pub struct Question {
    /// Of which group.
    pub group: Option<String>,
    /// To which epoch.
    pub epoch: Option<i32>,
    /// Under which strategy.
    pub strategy: Option<String>,
    /// Only those that changed no assignment.
    pub idle: bool,
    /// Only those that nothing explains.
    pub needless: bool,
}

/// The bumps that are asked for, explained; at most `limit` of them.
///
/// # Errors
/// If the files are not those of a run, or no bump is such.
pub fn explain(run: &RunFiles<'_>, question: &Question, limit: usize) -> Result<String, ReportError> {
    let bumps: Vec<Bump> = run.rows("bumps.csv")?;
    check(run, question, &bumps)?;
    let is_asked = |bump: &&Bump| {
        question.group.as_ref().is_none_or(|group| *group == bump.group)
            && question.epoch.is_none_or(|epoch| epoch == bump.new_epoch)
            && question.strategy.as_ref().is_none_or(|strategy| *strategy == bump.strategy)
            && (!question.idle || bump.assignment_changed == "false")
            && (!question.needless || bump.needless == "true")
    };
    let asked: Vec<&Bump> = bumps.iter().filter(is_asked).collect();
    if asked.is_empty() {
        return Ok(format!("No such bump among {}.\n", counted(bumps.len() as u64, "bump")));
    }
    let mut text = String::new();
    let several_seeds = run.seeds().len() > 1;
    for bump in asked.iter().take(limit) {
        text.push_str(&title(bump, several_seeds));
        for (number, step) in (1..).zip(steps(bump)) {
            text.push_str(&format!("  {number}. {step}\n"));
        }
    }
    if asked.len() > limit {
        text.push_str(&format!(
            "{} more; --limit shows more, --group, --epoch and --strategy fewer.\n",
            asked.len() - limit
        ));
    }
    Ok(text)
}

fn title(bump: &Bump, several_seeds: bool) -> String {
    let seed = if several_seeds { format!(", seed {}", bump.seed) } else { String::new() };
    format!("{}{seed}: group {}, epoch {} → {}\n", bump.strategy, bump.group, bump.old_epoch, bump.new_epoch)
}

/// Names that the run does not have are errors, not empty answers.
fn check(run: &RunFiles<'_>, question: &Question, bumps: &[Bump]) -> Result<(), ReportError> {
    if let Some(strategy) = &question.strategy {
        of_run(run, strategy)?;
    }
    match &question.group {
        Some(group) if bumps.iter().all(|bump| bump.group != *group) => {
            Err(run.missing("bumps.csv", format!("no bump of a group {group}")))
        }
        _ => Ok(()),
    }
}

fn of_run(run: &RunFiles<'_>, strategy: &str) -> Result<(), ReportError> {
    let names = run.strategies();
    match names.iter().any(|name| name == strategy) {
        true => Ok(()),
        false => Err(run.missing("run.json", format!("no strategy {strategy}; there are {}", names.join(", ")))),
    }
}

/// What tells one bump from another, whoever wrote it how.
fn identity(bump: &Bump) -> (i64, &str, i32, i32, &str, &str, &str) {
    (bump.time_ms, &bump.group, bump.old_epoch, bump.new_epoch, &bump.cause, &bump.topic, &bump.field)
}

/// Where two strategies part: in what they write, and in what they bump. Of the first seed.
///
/// # Errors
/// If the files are not those of a run, or it does not have the strategies.
pub fn difference(run: &RunFiles<'_>, a: &str, b: &str) -> Result<String, ReportError> {
    of_run(run, a)?;
    of_run(run, b)?;
    let seed = run.seeds().first().copied().unwrap_or_default();
    let bumps: Vec<Bump> = run.rows("bumps.csv")?;
    let of = |name: &str| bumps.iter().filter(|bump| bump.seed == seed && bump.strategy == name).collect::<Vec<_>>();
    let (of_a, of_b) = (of(a), of(b));
    let mut text = String::new();
    let pairs = || of_a.iter().zip(&of_b);
    let alike = pairs().take_while(|(a, b)| identity(a) == identity(b)).count();
    let written = pairs().take(alike).find(|(a, b)| a.wrote != b.wrote);
    if let Some((one, other)) = written {
        text.push_str(&format!(
            "What they write parts first at {}, when both bump group {} from epoch {} to {}.\n  {a}: {}\n  {b}: {}\n",
            time(one.time_ms),
            one.group,
            one.old_epoch,
            one.new_epoch,
            cell(&one.wrote),
            cell(&other.wrote),
        ));
    }
    let rows: Vec<Timeline> = run.rows("timeline.csv")?;
    let buckets =
        |name: &str| rows.iter().filter(|row| row.seed == seed && row.strategy == name).cloned().collect::<Vec<_>>();
    let (buckets_a, buckets_b) = (buckets(a), buckets(b));
    let differs = |(a, b): &(&Timeline, &Timeline)| a.topic_hashes != b.topic_hashes;
    if let Some((one, other)) = buckets_a.iter().zip(&buckets_b).find(differs) {
        text.push_str(&format!(
            "How much they hash parts first in the time from {} on (timeline.csv): {a} computes {}, {b} {}.\n",
            time(one.time_ms),
            counted(one.topic_hashes, "topic hash").replace("hashs", "hashes"),
            one_or_more(other.topic_hashes),
        ));
    }
    match (of_a.get(alike), of_b.get(alike)) {
        (None, None) => {
            text.push_str(&format!(
                "They bump the same groups at the same times for the same causes, {}.\n",
                counted(alike as u64, "bump")
            ));
        }
        (one, other) => {
            let is_first = |one: &Bump, other: Option<&&Bump>| other.is_none_or(|other| one.time_ms <= other.time_ms);
            let (name, rest, bump) = match (one, other) {
                (Some(one), other) if is_first(one, other) => (a, b, one),
                (_, Some(other)) => (b, a, other),
                (Some(one), None) => (a, b, one),
                (None, None) => return Ok(text),
            };
            text.push_str(&format!(
                "What they bump parts first at {}, after {} that both have. {name} bumps group {} from epoch {} to {}, {rest} does not:\n",
                time(bump.time_ms),
                counted(alike as u64, "bump"),
                bump.group,
                bump.old_epoch,
                bump.new_epoch,
            ));
            for (number, step) in (1..).zip(steps(bump)) {
                text.push_str(&format!("  {number}. {step}\n"));
            }
        }
    }
    Ok(text)
}

fn one_or_more(number: u64) -> String {
    if number == 0 { "none".to_owned() } else { super::words::grouped(number) }
}

fn cell(records: &str) -> String {
    if records.is_empty() { "nothing".to_owned() } else { records.replace(';', ", ") }
}
