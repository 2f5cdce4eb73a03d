//! Every recorded answer of real Kafka to a trace, against ours: `tests/golden/NAME` and
//! `tests/golden/found/NAME`. No Java is needed: `conformance/check-golden` is the test that Kafka still says so.

use coordsim::coordinator::KafkaVersion;
use coordsim::strategy::Strategy;
use coordsim::trace::replay::Replayer;
use coordsim::trace::unstored::Unstored;
use coordsim::trace::{Comparer, Level, Trace};
use std::fs;
use std::path::{Path, PathBuf};

/// The folders with a trace, by name.
fn traces(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(folder);
    let Ok(entries) = fs::read_dir(&folder) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    found.retain(|path| path.join("trace.jsonl").exists());
    found.sort();
    found
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn trace(folder: &Path) -> Trace {
    Trace::parse("trace.jsonl", &read(&folder.join("trace.jsonl"))).expect("a trace")
}

fn replayer(trace: &Trace, version: KafkaVersion, preset: &str) -> Replayer {
    Replayer::new(trace, version, Strategy::preset(preset).expect("a preset").design).expect("can be replayed")
}

/// The strategy that a version is.
fn own(version: KafkaVersion) -> &'static str {
    match version {
        KafkaVersion::V3_9_1 => "full-map",
        KafkaVersion::V4_0_0 => "count-map",
        _ => "cached-hash",
    }
}

/// How many lines a recorded outcome has, all of which are ours too.
fn replay(folder: &Path, version: KafkaVersion, preset: &str, recorded: &str) -> usize {
    let mut expected = recorded.lines();
    let mut comparer = Comparer::new(Level::Canonical);
    let mut text = String::new();
    replayer(&trace(folder), version, preset).run(|line| {
        text.clear();
        line.write(&mut text);
        comparer.lines(expected.next(), Some(text.trim_end())).expect("lines that can be read");
    });
    for line in expected {
        comparer.lines(Some(line), None).expect("a line that can be read");
    }
    let comparison = comparer.finish();
    assert_eq!(comparison.differing, 0, "{} {version} {preset}:\n{comparison}", folder.display());
    comparison.lines
}

/// How many traces, outcomes and lines there are in a folder, all of which are ours too.
fn replay_all(folder: &str) -> (usize, usize, usize) {
    let traces = traces(folder);
    let (mut outcomes, mut lines) = (0, 0);
    for trace in &traces {
        for version in KafkaVersion::ALL {
            for (sub, preset) in [("", own(version)), ("recompute", "recompute")] {
                let file = trace.join(sub).join(format!("{version}.jsonl"));
                if file.exists() {
                    lines += replay(trace, version, preset, &read(&file));
                    outcomes += 1;
                }
            }
        }
    }
    (traces.len(), outcomes, lines)
}

#[test]
fn recorded_outcomes_are_ours() {
    // 19 traces on 5 versions, one of them not on 3.9.1, and one each of share and streams groups on 3; all on 3 without the
    // topic-hash cache.
    assert_eq!(replay_all("."), (21, 19 * 5 - 1 + 2 * 3 + 21 * 3, 3_065));
}

#[test]
fn found_outcomes_are_ours() {
    // Every trace has a row of the table in the README, which has two rows for its head.
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/found/README.md");
    let text = fs::read_to_string(readme).unwrap_or_default();
    let rows = text.lines().filter(|line| line.starts_with('|')).count().saturating_sub(2);
    let (traces, outcomes, lines) = replay_all("found");
    assert_eq!(traces, rows);
    assert!(outcomes >= traces && lines >= outcomes, "{traces} traces, {outcomes} outcomes, {lines} lines");
}

/// How many lines of outcome `stored-hash` and `recompute` agree on, and how many records of its own the former writes.
fn agree(folder: &str) -> (usize, u64) {
    let (mut compared, mut stored) = (0, 0);
    for folder in traces(folder) {
        let trace = trace(&folder);
        for version in &KafkaVersion::ALL[2..] {
            let [recompute, stored_hash] =
                ["recompute", "stored-hash"].map(|preset| Unstored::new(&replayer(&trace, *version, preset)));
            assert_eq!(recompute.lines, stored_hash.lines, "{} {version}", folder.display());
            compared += recompute.lines.len();
            stored += stored_hash.stored_records;
        }
    }
    (compared, stored)
}

#[test]
fn stored_hash_bumps_as_recompute_does() {
    assert_eq!(agree("."), (1_223, 233));
    agree("found");
}
