//! `coordsim run`, `trace` and `log` from outside: files, tables, errors.

mod support {
    pub mod command;
}

use coordsim::kafka::batch::decode_batches;
use coordsim::kafka::records::Record;
use coordsim::kafka::records::offsets::OffsetsRecord;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use support::command::coordsim;

/// Everything that a coordinator meets, on one shard: its broker's restart leaves it without a leader for a while.
const ONE_SHARD: &str = r#"
name = "one-shard"
seed = 3
duration = "4m"
timeline = "30s"
[strategies.fixed-cache]
covers = "rack-list"
stores = "hash"
memo = "broker"
forgets = "topic-or-broker"
[cluster]
brokers = 3
racks = ["a", "b", "c"]
[cluster.offsets]
partitions = 1
replication = 1
[[topics]]
name = "orders-{n}"
count = 4
partitions = [2, 3]
replication = 2
[[groups]]
name = "app-{n}"
count = 5
members = [1, 3]
subscribe = { from = "orders-{n}", count = 2 }
revocation = "200ms"
[[groups]]
name = "fixed"
members = 2
static = true
subscribe = ["orders-1", "later"]
[[events]]
at = "30s"
kind = "create-topics"
topics = ["later"]
partitions = 5
[[events]]
at = "40s"
kind = "redeploy"
group = "fixed"
[[events]]
at = "60s"
kind = "member-crash"
group = "app-1"
member = "m1"
[[events]]
at = "70s"
kind = "rolling-restart"
pause = "5s"
down = "15s"
racks = ["d", "e"]
[[events]]
at = "3m30s"
kind = "expand"
topic = "orders-1"
partitions = 9
"#;

fn output(folder: &Path, arguments: &[&str]) -> Output {
    coordsim(folder, arguments).output().expect("it runs")
}

fn home(scenario: &str) -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a temporary folder");
    fs::write(home.path().join("scenario.toml"), scenario).expect("written");
    home
}

fn succeeds(folder: &Path, arguments: &[&str]) -> String {
    let output = output(folder, arguments);
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success() && errors.is_empty(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).expect("text")
}

fn fails(folder: &Path, arguments: &[&str]) -> String {
    let output = output(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert!(output.stdout.is_empty());
    String::from_utf8(output.stderr).expect("text")
}

/// The files of a folder, by name; those in a folder of its own with that before it.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry")) {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_dir() {
            all.extend(files(&entry.path()).into_iter().map(|(file, bytes)| (format!("{name}/{file}"), bytes)));
        } else {
            all.insert(name, fs::read(entry.path()).expect("a file"));
        }
    }
    all
}

/// The rows of a CSV file, by column.
fn rows(file: &[u8]) -> Vec<BTreeMap<String, String>> {
    csv::Reader::from_reader(file).deserialize().map(|row| row.expect("a row")).collect()
}

fn number(row: &BTreeMap<String, String>, column: &str) -> u64 {
    row[column].parse().unwrap_or_else(|_| panic!("{column} of {row:?}"))
}

#[test]
fn the_same_bytes_on_any_number_of_threads() {
    let home = home(ONE_SHARD);
    let run = |threads: &str, out: &str| {
        let all = ["run", "scenario.toml", "--seeds", "2", "--threads", threads, "--out", out];
        let table = succeeds(home.path(), &all).replace(&format!("Files: {out}"), "Files: OUT");
        (table, files(&home.path().join(out)))
    };
    let first = run("1", "one");
    let is_plot = |name: &&str| name.starts_with("plots/");
    let plots: Vec<&str> = first.1.keys().map(String::as_str).filter(is_plot).collect();
    let drawn = ["appended", "bumps", "causes", "cpu-per-refresh", "cpu", "delays", "log", "records"];
    let drawn: Vec<String> =
        drawn.iter().flat_map(|name| [format!("plots/{name}.png"), format!("plots/{name}.svg")]).collect();
    assert_eq!(plots, drawn);
    let names: Vec<&str> = first.1.keys().map(String::as_str).filter(|name| !is_plot(name)).collect();
    let all = "bumps.csv delays.csv differences.csv heap.csv kinds.csv loads.csv logs.csv operations.csv records.csv replications.csv report.html run.json shards.csv summary.csv threads.csv timeline.csv work.csv";
    assert_eq!(names.join(" "), all);
    assert_eq!(rows(&first.1["summary.csv"]).len(), 2 * 7);
    for (threads, out) in [("1", "again"), ("2", "two"), ("7", "seven"), ("2", "one")] {
        assert!(run(threads, out) == first, "{threads} threads");
    }
}

/// What one file says agrees with what another says.
#[test]
fn files_agree_with_each_other() {
    let home = home(ONE_SHARD);
    succeeds(home.path(), &["run", "scenario.toml", "--out", "out"]);
    let files = files(&home.path().join("out"));
    let of = |file: &str, strategy: &str| -> Vec<BTreeMap<String, String>> {
        rows(&files[file]).into_iter().filter(|row| row["strategy"] == strategy).collect()
    };
    let summaries = rows(&files["summary.csv"]);
    for summary in &summaries {
        let strategy = summary["strategy"].as_str();
        let (records, timeline) = (of("records.csv", strategy), of("timeline.csv", strategy));
        let operations = of("operations.csv", strategy);
        let sum =
            |rows: &[BTreeMap<String, String>], column: &str| rows.iter().map(|row| number(row, column)).sum::<u64>();
        let count =
            |operation: &str| number(operations.iter().find(|r| r["operation"] == operation).expect("a row"), "count");
        assert_eq!(timeline.len(), 8);
        for column in ["heartbeats", "refreshes", "epoch_bumps", "appended_bytes", "topic_hashes"] {
            assert_eq!(sum(&timeline, column), number(summary, column), "{strategy} {column}");
        }
        assert_eq!(sum(&records, "records"), number(summary, "records"));
        assert_eq!(sum(&records, "batch_bytes") + 61 * count("batch"), number(summary, "appended_bytes"));
        assert!(sum(&records, "batch_bytes") > sum(&records, "key_bytes") + sum(&records, "value_bytes"));
        let types = |types: &[&str]| -> Vec<_> {
            records.iter().filter(|row| types.contains(&row["record_type"].as_str())).cloned().collect()
        };
        let assignments = types(&[
            "ConsumerGroupTargetAssignmentMetadata",
            "ConsumerGroupTargetAssignmentMember",
            "ConsumerGroupCurrentMemberAssignment",
        ]);
        assert_eq!(sum(&assignments, "batch_bytes"), number(summary, "rebalance_bytes"));
        let bumps = of("bumps.csv", strategy);
        assert_eq!(bumps.len() as u64, number(summary, "epoch_bumps"));
        assert_eq!(sum(&types(&["ConsumerGroupMetadata"]), "records"), bumps.len() as u64);
        let idle = bumps.iter().filter(|bump| bump["assignment_changed"] == "false").count();
        assert_eq!(idle as u64, number(summary, "idle_bumps"));
        let changes = bumps.iter().flat_map(|bump| bump["topic"].split(';')).filter(|topic| !topic.is_empty()).count();
        assert_eq!(changes as u64, number(&of("delays.csv", strategy)[0], "changes"));
        assert_eq!(count("heartbeat"), number(summary, "heartbeats"));
        assert!(count("heartbeat-unsent") > 0 && count("load") == 2, "{operations:?}");
        assert_eq!(number(summary, "log_final_bytes"), number(summary, "appended_bytes"));
        assert!(number(summary, "heap_model_bytes") > 0);
        // What each file says of the work adds up to the same.
        let cost_ns = number(summary, "cpu_model_ns");
        assert!(cost_ns > 0);
        let known = |file: &str| -> u64 {
            let rows = of(file, strategy).into_iter().filter(|row| !row["cpu_model_ns"].is_empty());
            rows.map(|row| number(&row, "cpu_model_ns")).sum()
        };
        for file in ["operations.csv", "work.csv", "shards.csv", "timeline.csv"] {
            assert_eq!(known(file), cost_ns, "{strategy} {file}");
        }
        let work = of("work.csv", strategy);
        for operation in operations.iter().filter(|row| !row["cpu_model_ns"].is_empty()) {
            let of_it = work.iter().filter(|row| row["operation"] == operation["operation"]);
            assert_eq!(of_it.map(|row| number(row, "count")).sum::<u64>(), number(operation, "count"), "{operation:?}");
        }
    }
    // The bound bumps least, is never idle, and what others add to its bytes is what they store or what they bump for.
    let summary = |strategy: &str| summaries.iter().find(|row| row["strategy"] == strategy).expect("a row");
    assert_eq!(number(summary("ideal"), "strategy_bytes"), 0);
    assert_eq!(number(summary("ideal"), "idle_bumps"), 0);
    assert_eq!(summary("ideal")["missed_changes"], "");
    assert!(number(summary("recompute"), "epoch_bumps") > number(summary("ideal"), "epoch_bumps"));
    assert_eq!(number(summary("recompute"), "missed_changes"), 0);
    assert!(number(summary("count-map"), "missed_changes") > 0);
}

/// A log of small segments that is cleaned while members commit, and loaded: what one file says of it agrees with what
/// another says.
#[test]
fn files_agree_about_the_log() {
    let log = "[config]\n\"offsets.topic.segment.bytes\" = \"2KiB\"\n\"log.cleaner.delete.retention.ms\" = \"30s\"\n\
               [log]\ncommit_interval = \"5s\"\n";
    let home = home(&ONE_SHARD.replace("[cluster]\n", &format!("{log}[cluster]\n")));
    succeeds(home.path(), &["run", "scenario.toml", "--out", "out"]);
    let files = files(&home.path().join("out"));
    for summary in rows(&files["summary.csv"]) {
        let of = |file: &str| -> Vec<BTreeMap<String, String>> {
            rows(&files[file]).into_iter().filter(|row| row["strategy"] == summary["strategy"]).collect()
        };
        let (logs, loads, records, timeline) = (of("logs.csv"), of("loads.csv"), of("records.csv"), of("timeline.csv"));
        let operations = of("operations.csv");
        let count =
            |operation: &str| number(operations.iter().find(|r| r["operation"] == operation).expect("a row"), "count");
        let sum = |rows: &[BTreeMap<String, String>], column: &str| -> u64 {
            rows.iter().map(|row| number(row, column)).sum()
        };
        let of_summary = |column: &str| number(&summary, column);
        assert!(of_summary("commit_bytes") > 50_000 && of_summary("removed_bytes") > 50_000, "{summary:?}");
        assert!(count("cleaning") > 5 && count("tombstone-removed") > 0, "{operations:?}");
        let appended = of_summary("appended_bytes") + of_summary("commit_bytes");
        assert_eq!(of_summary("log_final_bytes"), appended - of_summary("removed_bytes"));
        assert_eq!(number(timeline.last().expect("a bucket"), "log_bytes"), of_summary("log_final_bytes"));
        let peak = timeline.iter().map(|bucket| number(bucket, "log_peak_bytes")).max();
        assert_eq!(peak, Some(of_summary("log_peak_bytes")));
        assert!(peak > Some(of_summary("log_final_bytes")));
        for column in ["appended_bytes", "commit_bytes", "cleaner_read_bytes", "cleaner_written_bytes", "removed_bytes"]
        {
            assert_eq!(sum(&logs, column), of_summary(column), "{column}");
        }
        assert_eq!(sum(&logs, "log_bytes"), of_summary("log_final_bytes"));
        assert_eq!(sum(&of("heap.csv"), "bytes"), of_summary("heap_model_bytes"));
        assert_eq!(of_summary("replicated_bytes"), of_summary("log_final_bytes"));
        let headers = 61 * sum(&logs, "batches");
        let in_records = sum(&records, "log_batch_bytes") + of_summary("log_commit_bytes");
        assert_eq!(in_records + headers, of_summary("log_final_bytes"));
        assert!(sum(&records, "log_records") < sum(&records, "records"));
        // One shard, loaded when it was empty and after its broker's restart.
        assert_eq!((loads.len() as u64, sum(&loads, "replayed_records")), (count("load"), count("record-loaded")));
        assert_eq!((number(&loads[0], "bytes"), &*loads[0]["error"]), (0, ""));
        assert!(number(&loads[1], "records") > number(&loads[1], "replayed_records"));
        assert_eq!(number(&loads[1], "load_model_ms"), of_summary("load_max_model_ms"));
    }
}

/// `log` writes the very log that `run` counts: cleaned segments, offsets of consumers and all.
#[test]
fn a_log_has_what_the_run_says() {
    let log = "[config]\n\"offsets.topic.segment.bytes\" = \"2KiB\"\n\"log.cleaner.delete.retention.ms\" = \"30s\"\n\
               [log]\ncommit_interval = \"5s\"\n";
    let home = home(&ONE_SHARD.replace("[cluster]\n", &format!("{log}[cluster]\n")));
    succeeds(home.path(), &["run", "scenario.toml", "--strategies", "full-map", "--out", "out"]);
    let run = files(&home.path().join("out"));
    let said = succeeds(home.path(), &["log", "scenario.toml", "--strategy", "full-map", "--out", "log"]);
    let partition = files(&home.path().join("log/__consumer_offsets-0"));
    let (mut batches, mut records, mut offsets, mut expected_name) = (0, 0, 0, 0);
    for (name, file) in &partition {
        assert!(*name >= format!("{expected_name:020}.log"), "{name}");
        for batch in decode_batches(file) {
            let batch = batch.expect("a batch");
            batches += 1;
            expected_name = batch.header.last_offset() + 1;
            for record in &batch.records {
                match OffsetsRecord::decode(record.key.expect("a key"), record.value).expect("a record") {
                    Some(_) => offsets += 1,
                    None => records += usize::from(Record::decode(record.key.expect("a key"), record.value).is_ok()),
                }
            }
        }
    }
    let shard = &rows(&run["logs.csv"])[0];
    let bytes = partition.values().map(Vec::len).sum::<usize>() as u64;
    assert!(partition.len() > 3 && offsets > 10 && records > 10, "{offsets} offsets, {records} records");
    assert_eq!((number(shard, "segments"), number(shard, "batches")), (partition.len() as u64, batches));
    assert_eq!((number(shard, "log_bytes"), number(shard, "records")), (bytes, (records + offsets) as u64));
    assert_eq!(said, format!("wrote log: 1 partition, {} segments, {bytes} bytes\n", partition.len()));
    // The groups as they are at the end, with the epochs of their last bumps.
    let groups = rows(&fs::read(home.path().join("log/groups.csv")).expect("a file"));
    let bumps = rows(&run["bumps.csv"]);
    assert_eq!(groups.len(), 6);
    for group in &groups {
        let last = bumps.iter().rfind(|bump| bump["group"] == group["group"]).expect("a bump");
        assert_eq!((number(group, "epoch"), &*group["kind"]), (number(last, "new_epoch"), "consumer"), "{group:?}");
    }
    assert_eq!(number(groups.iter().find(|row| row["group"] == "fixed").expect("a group"), "members"), 2);
    // A second log does not get mixed up with the first.
    let errors = fails(home.path(), &["log", "scenario.toml", "--out", "log"]);
    assert!(errors.contains("--out: log is there already"), "{errors}");
    assert_eq!(files(&home.path().join("log/__consumer_offsets-0")), partition);
    assert!(
        fails(home.path(), &["log", "scenario.toml", "--strategy", "x", "--out", "other"]).contains("unknown strategy")
    );
    assert!(!home.path().join("other").exists());
}

/// Replaying a trace writes the records that the run wrote.
#[test]
fn a_replayed_trace_writes_what_the_run_wrote() {
    let home = home(ONE_SHARD);
    for (strategy, kafka) in
        [("cached-hash", "4.3.1"), ("full-map", "3.9.1"), ("stored-hash", "4.3.1"), ("ideal", "4.3.1")]
    {
        let how = ["--kafka", kafka, "--seed", "11"];
        succeeds(
            home.path(),
            &[&["run", "scenario.toml", "--strategies", strategy, "--out", "out"][..], &how].concat(),
        );
        succeeds(
            home.path(),
            &[&["trace", "scenario.toml", "--strategy", strategy, "--out", "t.jsonl"][..], &how].concat(),
        );
        let outcomes = succeeds(home.path(), &["replay", "t.jsonl", "--strategy", strategy, "--kafka", kafka]);
        let mut replayed: BTreeMap<String, [u64; 4]> = BTreeMap::new();
        let mut heartbeats = 0;
        for line in outcomes.lines() {
            let outcome: serde_json::Value = serde_json::from_str(line).expect("JSON");
            heartbeats += u64::from(outcome["cause"] == "heartbeat");
            for record in outcome["records"].as_array().expect("a list") {
                let bytes = |hex: &serde_json::Value| hex.as_str().map(|hex| hex.len() as u64 / 2);
                let name = record["type"].as_str().expect("a name").to_owned();
                let sums = replayed.entry(name).or_default();
                let value_bytes = bytes(&record["value"]);
                let added = [
                    1,
                    u64::from(value_bytes.is_none()),
                    bytes(&record["key"]).expect("a key"),
                    value_bytes.unwrap_or(0),
                ];
                sums.iter_mut().zip(added).for_each(|(sum, added)| *sum += added);
            }
        }
        let files = files(&home.path().join("out"));
        let ran = rows(&files["records.csv"]).into_iter().filter(|row| row["records"] != "0");
        let columns = ["records", "tombstones", "key_bytes", "value_bytes"];
        let ran: BTreeMap<String, [u64; 4]> =
            ran.map(|row| (row["record_type"].clone(), columns.map(|column| number(&row, column)))).collect();
        assert_eq!(replayed, ran, "{strategy} {kafka}");
        assert_eq!(heartbeats, number(&rows(&files["summary.csv"])[0], "heartbeats"), "{strategy} {kafka}");
    }
}

#[test]
fn bad_input_is_told_and_leaves_nothing() {
    let home = home("duration = \"1m\"\nseed = -1\n[[groups]]\nname = \"g\"\nmembrs = 2\nsubscribe = [\"x\"]\n");
    fs::write(home.path().join("empty.toml"), "").expect("written");
    fs::write(home.path().join("right.toml"), ONE_SHARD).expect("written");
    fs::write(home.path().join("plain.toml"), "duration = \"1m\"\n").expect("written");
    let before = files(home.path());
    let errors = fails(home.path(), &["run", "scenario.toml", "missing.toml"]);
    for part in ["scenario.toml:2:8: seed", "scenario.toml:3:1: groups[0]", "membrs", "missing.toml: no such file"] {
        assert!(errors.contains(part), "{part} in {errors}");
    }
    assert!(fails(home.path(), &["run", "empty.toml"]).contains("duration"));
    let errors = fails(home.path(), &["run", "right.toml", "--strategies", "cached-hsh,ideal"]);
    let known = "one of full-map, count-map, stored-hash, recompute, cached-hash, ideal, fixed-cache";
    assert!(errors.contains("unknown strategy \"cached-hsh\"") && errors.contains(known), "{errors}");
    let errors =
        fails(home.path(), &["run", "right.toml", "plain.toml", "--strategies", "fixed-cache", "--until", "2m"]);
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.contains("--until 2m: plain.toml is over after 1m"), "{errors}");
    let errors = fails(home.path(), &["run", "right.toml", "plain.toml", "--strategies", "fixed-cache"]);
    assert_eq!(errors.lines().count(), 1, "{errors}");
    assert!(errors.contains("plain.toml: unknown strategy \"fixed-cache\""), "{errors}");
    for (arguments, part) in [
        (["hash", "empty.toml"].as_slice(), "empty.toml: the file is empty"),
        (&["replay", "right.toml", "--strategy", "ideal", "--kafka", "4.3.1"], "right.toml is no trace"),
    ] {
        let errors = fails(home.path(), arguments);
        assert!(errors.lines().count() == 1 && errors.contains(part), "{errors}");
    }
    assert!(fails(home.path(), &["run", "right.toml", "--kafka", "2.8.0"]).contains("unknown Kafka version \"2.8.0\""));
    assert!(fails(home.path(), &["run", "right.toml", "--until", "1h"]).contains("is over after 4m"));
    assert!(
        fails(home.path(), &["run", "right.toml", "right.toml"]).contains("two scenarios are called \"one-shard\"")
    );
    assert!(fails(home.path(), &["run", "right.toml", "--out", "empty.toml"]).contains("is not a folder"));
    assert!(fails(home.path(), &["trace", "right.toml", "--shard", "1", "--out", "t"]).contains("partitions 0 to 0"));
    assert!(fails(home.path(), &["trace", "right.toml", "--strategy", "x", "--out", "t"]).contains("unknown strategy"));
    assert!(files(home.path()) == before);
}

/// All three kinds on one topic.
const THREE_KINDS: &str = r#"
name = "three-kinds"
duration = "2m"
compare = ["recompute", "cached-hash"]
[cluster.offsets]
partitions = 2
[[topics]]
name = "t"
partitions = 4
[[groups]]
name = "service"
members = 2
subscribe = ["t"]
[[groups]]
kind = "share"
name = "queue"
members = 3
subscribe = ["t"]
[[groups]]
kind = "streams"
name = "app"
members = 2
subscribe = ["t"]
subtopologies = [{ stores = 1 }]
[[events]]
at = "1m"
kind = "expand"
topic = "t"
partitions = 6
"#;

#[test]
fn kinds_are_kept_apart_and_add_up() {
    let home = home(THREE_KINDS);
    succeeds(home.path(), &["run", "scenario.toml", "--out", "out"]);
    let files = files(&home.path().join("out"));
    let kinds = rows(&files["kinds.csv"]);
    for summary in rows(&files["summary.csv"]) {
        let of_strategy: Vec<_> = kinds.iter().filter(|row| row["strategy"] == summary["strategy"]).collect();
        let names: Vec<&str> = of_strategy.iter().map(|row| row["kind"].as_str()).collect();
        assert_eq!(names, ["consumer", "share", "streams"]);
        for column in [
            "groups",
            "members",
            "heartbeats",
            "epoch_bumps",
            "idle_bumps",
            "needless_bumps",
            "unjudged_bumps",
            "records",
            "strategy_bytes",
            "rebalance_bytes",
        ] {
            let sum: u64 = of_strategy.iter().map(|row| number(row, column)).sum();
            assert_eq!(sum, number(&summary, column), "{column}");
        }
        assert!(of_strategy.iter().all(|row| number(row, "heartbeats") > 0));
    }
    let old = fails(home.path(), &["run", "scenario.toml", "--kafka", "4.0.0"]);
    assert!(
        old.contains("scenario.toml:14:1: groups[1]: share groups are simulated as of Kafka 4.1.1; found Kafka 4.0.0")
    );
    assert!(old.contains("groups[2]: streams groups are simulated"), "{old}");
}

#[test]
fn several_scenarios_each_have_a_folder() {
    let home = home(ONE_SHARD);
    let other = ONE_SHARD.replace("\"one-shard\"", "\"other\"");
    fs::write(home.path().join("other.toml"), other).expect("written");
    let shown =
        succeeds(home.path(), &["run", "scenario.toml", "other.toml", "--until", "50s", "--strategies", "ideal"]);
    assert!(shown.contains("one-shard: Kafka 4.3.1, seed 3;") && shown.contains("other: Kafka 4.3.1, seed 3;"));
    let summary = |folder: &str| files(&home.path().join(folder)).remove("summary.csv").expect("a file");
    let (one, other) = (summary("out/one-shard"), summary("out/other"));
    assert_eq!(String::from_utf8_lossy(&one).replace("one-shard", "other"), String::from_utf8_lossy(&other));
    assert_eq!(number(&rows(&one)[0], "topics"), 6);
}

/// The first minutes of every scenario: as they are run; with each heartbeat processed, also those that change nothing; with what is
/// modelled really done.
#[test]
fn what_is_spared_gives_the_same_bytes() {
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut paths: Vec<_> =
        fs::read_dir(scenarios).expect("a folder").map(|entry| entry.expect("one").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    // Those that take long are run when they are named.
    paths.retain(|path| !fs::read_to_string(path).expect("a scenario").contains("only_when_named"));
    assert!(paths.len() >= 10, "{paths:?}");
    let home = tempfile::tempdir().expect("a temporary folder");
    for path in paths {
        let path = path.to_str().expect("a name in UTF-8");
        let run = |out: &str, more: &[&str]| {
            let more = &[more, &["--no-plots"]].concat();
            let strategies = ["--strategies", "full-map,cached-hash"];
            let until = if path.ends_with("partition-expansion.toml") { "3m" } else { "4m" };
            let all = [&["run", path, "--out", out, "--until", until], &strategies[..], more].concat();
            succeeds(home.path(), &all);
            files(&home.path().join(out))
        };
        let spared = run("spared", &[]);
        for (out, mode) in [("processed", "--every-heartbeat"), ("done", "--check-work")] {
            let done = run(out, &[mode]);
            let differ = spared.iter().filter(|(name, bytes)| done.get(*name) != Some(bytes));
            let differ: Vec<_> = differ.map(|(name, _)| name).collect();
            assert!(differ.is_empty() && spared.len() == done.len(), "{path} {mode}: {differ:?}");
        }
    }
}

/// All tables of a run, on any machine and in any build profile. When a change of results is meant, so is a new digest.
#[test]
fn a_run_has_its_digest() {
    let home = home(ONE_SHARD);
    succeeds(home.path(), &["run", "scenario.toml", "--no-plots", "--out", "out"]);
    let files = files(&home.path().join("out"));
    let bytes: Vec<u8> = files.into_iter().flat_map(|(name, bytes)| [name.into_bytes(), bytes].concat()).collect();
    assert_eq!(format!("{:032x}", xxhash_rust::xxh3::xxh3_128(&bytes)), "db4515c968451affe6f89bd17878abe5");
}

/// A run that would take long is interrupted.
#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_nothing() {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let home = tempfile::tempdir().expect("a temporary folder");
        fs::write(home.path().join("one-shard.toml"), ONE_SHARD).expect("written");
        let arguments = ["run", "one-shard.toml", "--seeds", "100000", "--threads", "1", "--out", "out"];
        let mut run = coordsim(home.path(), &arguments).spawn().expect("a process");
        std::thread::sleep(std::time::Duration::from_millis(500));
        let kill = Command::new("kill").args([format!("-{signal}"), run.id().to_string()]).status();
        assert!(kill.expect("kill").success());
        assert_eq!(run.wait().expect("an end").code(), Some(code), "SIG{signal}");
        let left: Vec<_> =
            fs::read_dir(home.path()).expect("a folder").map(|e| e.expect("an entry").file_name()).collect();
        assert_eq!(left, ["one-shard.toml"], "SIG{signal}");
    }
}

/// The page and the explanations, from the files of a run.
#[test]
fn a_run_explains_itself() {
    let home = home(ONE_SHARD);
    succeeds(home.path(), &["run", "scenario.toml", "--out", "out"]);
    let written = files(&home.path().join("out"));
    succeeds(home.path(), &["report", "out", "--out", "page.html"]);
    assert!(fs::read(home.path().join("page.html")).expect("a file") == written["report.html"]);
    // Each bump adds up: what is written with bumps and after them is all that groups write, but for batch headers.
    let of_strategy = |name: &str, file: &str| {
        rows(&written[file]).into_iter().filter(|row| row["strategy"] == name).collect::<Vec<_>>()
    };
    let bumps = of_strategy("full-map", "bumps.csv");
    let bytes =
        |cell: &String| cell.split(';').filter_map(|part| part.rsplit(' ').next()?.parse::<u64>().ok()).sum::<u64>();
    let explained: u64 = bumps.iter().map(|bump| bytes(&bump["wrote"]) + bytes(&bump["followed"])).sum();
    let all: u64 = of_strategy("full-map", "records.csv").iter().map(|row| number(row, "batch_bytes")).sum();
    assert_eq!(explained, all);
    let expanded = bumps.iter().find(|bump| bump["event"] == "expand").expect("a bump");
    assert!(expanded["field"] == "partitions" && expanded["after"] == "9", "{expanded:?}");
    let group = &expanded["group"];
    let epoch = &expanded["new_epoch"];
    let why = succeeds(home.path(), &["why", "out", "--group", group, "--epoch", epoch, "--strategy", "full-map"]);
    for part in [
        "is published (expand)",
        "Topic orders-1",
        "partitions: ",
        " → 9",
        "notices",
        "epoch goes from",
        "Written with that: 1 ",
    ] {
        assert!(why.contains(part), "{part} in {why}");
    }
    let parts = succeeds(home.path(), &["why", "out", "--diff", "full-map", "cached-hash"]);
    assert!(
        parts.contains("What they write parts first at") && parts.contains("ConsumerGroupPartitionMetadata 1 "),
        "{parts}"
    );
    let same = succeeds(home.path(), &["why", "out", "--diff", "recompute", "recompute"]);
    assert!(same.starts_with("They bump the same groups at the same times"), "{same}");
    assert!(fails(home.path(), &["why", "out", "--diff", "recompute", "x"]).contains("no strategy x; there are "));
    assert!(fails(home.path(), &["why", "out", "--group", "x"]).contains("no bump of a group x"));
    assert!(fails(home.path(), &["why", "missing"]).contains("summary.csv: no such file"));
    // A series less is an error, never a picture without it.
    for name in ["timeline.csv", "delays.csv", "records.csv"] {
        let path = home.path().join("out").join(name);
        let kept: Vec<&str> = std::str::from_utf8(&written[name])
            .expect("text")
            .lines()
            .filter(|line| !line.contains(",ideal,"))
            .collect();
        fs::write(&path, kept.join("\n")).expect("written");
        let error = fails(home.path(), &["report", "out", "--out", "less.html"]);
        assert!(error.contains("no row of strategy ideal and seed 3, which run.json names"), "{name}: {error}");
        fs::write(&path, &written[name]).expect("written");
    }
    assert!(!home.path().join("less.html").exists());
    // Pictures of the run before go with it.
    succeeds(home.path(), &["run", "scenario.toml", "--no-plots", "--out", "out"]);
    assert!(files(&home.path().join("out")).keys().all(|name| !name.starts_with("plots/") && name != "report.html"));
}

#[test]
fn comparisons_for_people_and_programs() {
    let home = home(ONE_SHARD);
    let run = |format: &str| {
        let all = ["run", "scenario.toml", "--no-plots", "--strategies", "full-map,ideal", "--format", format];
        succeeds(home.path(), &all)
    };
    assert_eq!(run("csv").as_bytes(), files(&home.path().join("out/one-shard"))["summary.csv"]);
    let json: serde_json::Value = serde_json::from_str(&run("json")).expect("JSON");
    assert_eq!(json[0]["summary"][1]["strategy"], "ideal");
    assert!(json[0]["summary"][1]["missed_changes"].is_null() && json[0]["summary"][0]["appended_bytes"].is_u64());
    assert!(json[0]["findings"].as_array().is_some_and(|findings| findings.len() > 2));
    assert!(run("markdown").contains("\n\n| strategy | bumps |"), "{}", run("markdown"));
    assert!(succeeds(home.path(), &["completions", "bash"]).contains("_coordsim()"));
    assert!(succeeds(home.path(), &["man", "--out", "man"]).starts_with("wrote man: "));
    let page = fs::read_to_string(home.path().join("man/coordsim-run.1")).expect("a page");
    assert!(page.contains(".TH coordsim-run 1") && page.contains("precision"), "{page}");
}

/// What the README shows of its first command is what that prints and draws.
#[test]
fn the_readme_shows_what_its_command_prints() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let home = tempfile::tempdir().expect("a temporary folder");
    let out = home.path().join("out");
    let scenario = project.join("scenarios/lab-cluster.toml");
    let arguments = ["run", scenario.to_str().expect("text"), "--out", out.to_str().expect("text")];
    let printed = succeeds(home.path(), &arguments);
    let (printed, _) = printed.split_once("Files: ").expect("where the files are");
    let readme = fs::read_to_string(project.join("README.md")).expect("a file");
    assert!(readme.contains(&format!("```\n{printed}```\n")), "{printed}");
    let picture = fs::read_to_string(project.join("docs/images/lab-cluster.svg")).expect("a file");
    assert_eq!(fs::read_to_string(out.join("plots/appended.svg")).expect("a file"), picture);
}
