//! What came of a run, in sentences, from `summary.csv`.

use super::files::{ReportError, RunFiles};
use super::rows::Summary;
use super::words::grouped;

/// The bound, which does not compete.
const BOUND: &str = "ideal";

/// What stands out. With several seeds numbers are sums of them all.
///
/// # Errors
/// If the files are not those of a run.
pub(super) fn verdict(run: &RunFiles<'_>) -> Result<Vec<String>, ReportError> {
    let rows: Vec<Summary> = run.rows("summary.csv")?;
    if rows.is_empty() {
        return Ok(vec!["Nothing to show: summary.csv has no rows.".to_owned()]);
    }
    let names = run.strategies();
    let sum =
        |name: &str, value: fn(&Summary) -> u64| rows.iter().filter(|row| row.strategy == name).map(value).sum::<u64>();
    let compete = || names.iter().filter(|name| *name != BOUND);
    let mut said = Vec::new();
    let bytes = |name: &str| sum(name, |row| row.appended_bytes);
    let missed = |name: &str| sum(name, |row| row.missed_changes.unwrap_or(0));
    let sound = || compete().filter(|name| missed(name) == 0);
    if let (Some(least), Some(most)) = (sound().min_by_key(|name| bytes(name)), sound().max_by_key(|name| bytes(name)))
        && bytes(least) < bytes(most)
    {
        said.push(format!(
            "Of the strategies that miss nothing {least} appends least: {} bytes, {} less than {most} with {}.",
            grouped(bytes(least)),
            percent(bytes(most) - bytes(least), bytes(most)),
            grouped(bytes(most))
        ));
        let bound = bytes(BOUND);
        if bound > 0 {
            let more = bytes(least).saturating_sub(bound);
            said.push(format!("That is {} above the bound ({BOUND}, {} bytes).", percent(more, bound), grouped(bound)));
        }
    }
    for name in compete().filter(|name| missed(name) > 0) {
        said.push(format!(
            "{name} appends {} bytes, but misses {} changes at the end.",
            grouped(bytes(name)),
            grouped(missed(name))
        ));
    }
    let list = |value: fn(&Summary) -> u64| {
        let with: Vec<String> = names
            .iter()
            .filter(|name| sum(name, value) > 0)
            .map(|name| format!("{name} {}", grouped(sum(name, value))))
            .collect();
        with.join(", ")
    };
    for (what, none, value) in [
        ("Idle bumps, which changed no assignment", "No bump was idle.", (|row| row.idle_bumps) as fn(&Summary) -> u64),
        ("Needless bumps, which nothing explains", "No bump was needless.", |row| row.needless_bumps),
    ] {
        let list = list(value);
        said.push(if list.is_empty() { none.to_owned() } else { format!("{what}: {list}.") });
    }
    if compete().all(|name| missed(name) == 0) {
        said.push("No strategy misses a change at the end, as far as that is known.".to_owned());
    }
    let hashes = list(|row| row.topic_hashes);
    if !hashes.is_empty() {
        said.push(format!("Topic hashes computed: {hashes}."));
    }
    let own = list(|row| row.strategy_bytes);
    if !own.is_empty() {
        said.push(format!("Of the bytes appended, what the strategies store themselves: {own}."));
    }
    let bumps = list(|row| row.epoch_bumps);
    said.push(if bumps.is_empty() { "No epoch was bumped.".to_owned() } else { format!("Epoch bumps: {bumps}.") });
    Ok(said)
}

/// A part of a whole with one digit, rounded down.
fn percent(part: u64, whole: u64) -> String {
    let permille = u128::from(part) * 1000 / u128::from(whole.max(1));
    format!("{}.{} %", permille / 10, permille % 10)
}
