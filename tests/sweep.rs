//! `coordsim sweep` and `merge` from outside: killed and started again, in shards, grown, wrong input.

mod support {
    pub mod command;
    pub mod small;
}

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use support::command::coordsim;
use support::small::small;

const EXPAND: &str = "[[churn]]\nkind = \"expand\"\ntopics = \"orders-{n}\"\nadd = 1\nrate = \"2/m\"\n";

fn run(home: &Path, arguments: &[&str]) -> Output {
    coordsim(home, arguments).output().expect("it runs")
}

/// Standard output of what succeeds.
fn succeeds(home: &Path, arguments: &[&str]) -> String {
    let output = run(home, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("a text")
}

/// Standard error of what is refused.
fn refused(home: &Path, arguments: &[&str]) -> String {
    let output = run(home, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8(output.stderr).expect("a text")
}

/// A folder with a scenario and a sweep of 3 × 2 points and so many seeds.
fn home(seeds: usize) -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a temporary folder");
    fs::write(home.path().join("small.toml"), small("1m", EXPAND)).expect("written");
    write_sweep(home.path(), &format!("seeds = {seeds}"), "[4, 8, 16]");
    home
}

fn write_sweep(home: &Path, first: &str, partitions: &str) {
    let grid = format!("\"topics[0].partitions\" = {partitions}\n\"groups[0].members\" = [1, 2]\n");
    let text = format!("name = \"grid\"\nscenario = \"small.toml\"\n{first}\n[grid]\n{grid}");
    fs::write(home.join("sweep.toml"), text).expect("written");
}

/// Every file beneath a folder.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(&next).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(folder).expect("beneath").to_string_lossy().into_owned();
                files.insert(name, fs::read(&path).expect("a file"));
            }
        }
    }
    files
}

fn same(one: &Path, other: &Path) {
    let (one, other) = (tree(one), tree(other));
    let names = |tree: &BTreeMap<String, Vec<u8>>| tree.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&one), names(&other));
    let differ: Vec<_> = one.iter().filter(|(name, bytes)| other[*name] != **bytes).map(|(name, _)| name).collect();
    assert!(differ.is_empty(), "{differ:?}");
}

/// How many runs are kept.
fn num_kept(folder: &Path) -> usize {
    let is_run = |name: &str| !name.starts_with('.') && name.ends_with(".csv");
    let entries = fs::read_dir(folder.join("runs")).into_iter().flatten().flatten();
    entries.filter(|entry| is_run(&entry.file_name().to_string_lossy())).count()
}

/// Kills a command (SIGKILL) as soon as so many runs are kept in the folder; says whether it was still running then.
fn kill_at(mut command: Command, folder: &Path, kept: usize) -> bool {
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("a process");
    while num_kept(folder) < kept && child.try_wait().expect("a process").is_none() {
        std::thread::sleep(std::time::Duration::from_micros(300));
    }
    let runs = child.try_wait().expect("a process").is_none();
    child.kill().expect("killed");
    child.wait().expect("an end");
    runs
}

/// Kills a sweep at some numbers of runs and resumes it; then does the same with shards, in another order, one of them killed.
fn survives(seeds: usize, kills: &[usize], shards: usize) {
    let home = home(seeds);
    let (home, num_runs) = (home.path(), seeds * 6);
    let says = succeeds(home, &["sweep", "sweep.toml", "--out", "whole"]);
    assert!(says.contains(&format!("{num_runs} runs of 2 strategies: 0 were there, {num_runs} done now")), "{says}");
    for &kept in kills {
        let sweep = coordsim(home, &["sweep", "sweep.toml", "--threads", "2", "--out", "killed"]);
        assert!(kill_at(sweep, &home.join("killed"), kept), "over before {kept} runs were kept");
        assert!(!home.join("killed/sweep.csv").exists());
        assert!(num_kept(&home.join("killed")) >= kept);
    }
    let there = num_kept(&home.join("killed"));
    let says = succeeds(home, &["sweep", "sweep.toml", "--threads", "1", "--out", "killed"]);
    assert!(says.contains(&format!("{there} were there, {} done now", num_runs - there)), "{says}");
    same(&home.join("whole"), &home.join("killed"));

    let mut folders: Vec<String> = Vec::new();
    for number in (0..shards).map(|number| (number * 5 + 3) % shards) {
        let (part, folder) = (format!("{number}/{shards}"), format!("shard-{number}"));
        let arguments = ["sweep", "sweep.toml", "--shard", &part, "--out", &folder];
        if number == 0 {
            assert!(kill_at(coordsim(home, &arguments), &home.join(&folder), num_runs / shards / 2));
            let missing = refused(home, &["merge", &folder, "--out", "early"]);
            assert!(missing.contains(&format!("of {num_runs} runs are in no folder")), "{missing}");
            assert!(!home.join("early").exists());
        }
        succeeds(home, &arguments);
        folders.push(folder);
    }
    let folders: Vec<&str> = folders.iter().map(String::as_str).collect();
    succeeds(home, &[&["merge"], &folders[..], &["--out", "merged"]].concat());
    same(&home.join("whole"), &home.join("merged"));
}

#[test]
fn killed_sweeps_and_shards_give_the_same_bytes() {
    survives(10, &[1, 17, 40], 8);
}

#[test]
#[ignore = "a thousand runs, killed ten times; takes a minute"]
fn killed_sweeps_and_shards_give_the_same_bytes_at_length() {
    survives(167, &[3, 71, 180, 222, 401, 402, 555, 690, 808, 950], 8);
}

#[test]
fn a_study_grows() {
    let home = home(1);
    let home = home.path();
    succeeds(home, &["sweep", "sweep.toml", "--out", "study"]);
    write_sweep(home, "seeds = 2\nstrategies = [\"ideal\", \"full-map\"]", "[2, 4, 8]");
    let says = succeeds(home, &["sweep", "sweep.toml", "--out", "study"]);
    let expected = "grid: 12 runs of 2 strategies: 0 were there, 12 done now\n2 runs of other plans are kept in runs/ and not in sweep.csv\n";
    assert_eq!(says, format!("{expected}Table: study/sweep.csv\n"));
    succeeds(home, &["sweep", "sweep.toml", "--out", "fresh"]);
    let table = |folder: &str| fs::read_to_string(home.join(folder).join("sweep.csv")).expect("a table");
    assert_eq!(table("study"), table("fresh"));
    let header = "run,topics[0].partitions,groups[0].members,scenario,seed,strategy,kafka,";
    assert!(table("study").starts_with(header));
    let key = |row: &str| row.split(',').skip(1).take(5).collect::<Vec<_>>().join(",");
    let keys: Vec<String> = table("study").lines().skip(1).take(4).map(key).collect();
    assert_eq!(keys, ["2,1,small,1,ideal", "2,1,small,1,full-map", "2,1,small,2,ideal", "2,1,small,2,full-map"]);
    // What was done before under other strategies is not done again.
    write_sweep(home, "seeds = 1", "[4, 8, 16]");
    let says = succeeds(home, &["sweep", "sweep.toml", "--out", "study"]);
    assert!(says.starts_with("grid: 6 runs of 2 strategies: 6 were there, 0 done now\n"), "{says}");
}

#[test]
fn points_change_parameters_together() {
    let home = home(1);
    let home = home.path();
    let text = "scenario = \"small.toml\"\nseeds = [5]\nkafka = [\"3.9.1\", \"4.3.1\"]\nuntil = \"30s\"\n\
        [[points]]\n\"cluster.brokers\" = 4\n\"config.group.consumer.session.timeout.ms\" = 50000\n\
        [[points]]\n\"config.group.consumer.session.timeout.ms\" = 45000\n\"cluster.brokers\" = 5\n";
    fs::write(home.join("points.toml"), text).expect("written");
    succeeds(home, &["sweep", "points.toml", "--out", "points"]);
    let plan = fs::read_to_string(home.join("points/plan.csv")).expect("a plan");
    let rows: Vec<String> = plan.lines().map(|row| row.split_once(',').expect("cells").1.to_owned()).collect();
    let expected = [
        "cluster.brokers,config.group.consumer.session.timeout.ms,kafka,seed,strategy",
        "4,50000,3.9.1,5,full-map",
        "4,50000,3.9.1,5,cached-hash",
        "4,50000,4.3.1,5,full-map",
        "4,50000,4.3.1,5,cached-hash",
        "5,45000,3.9.1,5,full-map",
        "5,45000,3.9.1,5,cached-hash",
        "5,45000,4.3.1,5,full-map",
        "5,45000,4.3.1,5,cached-hash",
    ];
    assert_eq!(rows, expected);
}

#[test]
fn what_is_wrong_is_told_at_once_and_nothing_is_made() {
    let home = home(1);
    let home = home.path();
    let text = "scenario = \"small.toml\"\nseeds = [1, 1]\nkafka = [\"4.3.2\"]\ncolour = 1\n\
        [grid]\n\"topics[0].count\" = [3, 3]\nseed = [1]\n\"topics[0\" = [1]\n";
    fs::write(home.join("wrong.toml"), text).expect("written");
    let expected = "\
error: wrong.toml:2:13: seeds[1]: is in the list twice; expected once
error: wrong.toml:3:10: kafka[0]: found \"4.3.2\"; expected one of \"3.9.1\", \"4.0.0\", \"4.1.1\", \"4.3.1\", \"4.4.0\"; did you mean \"4.3.1\"?
error: wrong.toml:4:1: colour: is not a field here; expected one of grid, kafka, name, points, scenario, seeds, strategies, until
error: wrong.toml:6:25: grid.\"topics[0].count\"[1]: is in the list twice; expected once
error: wrong.toml:7:1: grid.seed: cannot be varied here; use seeds
error: wrong.toml:8:1: grid.\"topics[0\": is not a path; expected the path of a field, such as cluster.brokers, topics[0].count or config.NAME
";
    assert_eq!(refused(home, &["sweep", "wrong.toml", "--out", "out"]), expected);
    let text = "scenario = \"small.toml\"\nstrategies = [\"fast\"]\n[grid]\n\"topics[0].count\" = [0, 3]\n\"topics[1].count\" = [1]\n";
    fs::write(home.join("wrong.toml"), text).expect("written");
    let expected =
        "error: wrong.toml:5:1: grid.\"topics[1].count\": the scenario's topics has 1 items, counted from 0\n";
    assert_eq!(refused(home, &["sweep", "wrong.toml", "--out", "out"]), expected);
    fs::write(home.join("wrong.toml"), text.replace("\"topics[1].count\" = [1]\n", "")).expect("written");
    let expected = "\
error: wrong.toml:4:1: grid.\"topics[0].count\": topics[0].count: found 0; expected an integer from 1 to 1000000
error: wrong.toml: at topics[0].count = 3: unknown strategy \"fast\"; expected one of full-map, count-map, stored-hash, recompute, cached-hash, ideal
";
    assert_eq!(refused(home, &["sweep", "wrong.toml", "--out", "out"]), expected);
    assert!(!home.join("out").exists());
}

#[test]
fn only_shards_of_one_sweep_are_merged() {
    let home = home(1);
    let home = home.path();
    succeeds(home, &["sweep", "sweep.toml", "--shard", "0/2", "--out", "a"]);
    write_sweep(home, "seeds = 2", "[4, 8, 16]");
    succeeds(home, &["sweep", "sweep.toml", "--shard", "1/2", "--out", "b"]);
    let error = refused(home, &["merge", "a", "b", "--out", "m"]);
    assert_eq!(error, "error: b: a shard of another sweep than a: their plan.csv or sweep.json differ\n");
    let error = refused(home, &["merge", "a", "nothing", "--out", "m"]);
    assert_eq!(error, "error: nothing: not the folder of a sweep: it has no plan.csv\n");
    succeeds(home, &["sweep", "sweep.toml", "--shard", "0/2", "--out", "c"]);
    succeeds(home, &["sweep", "sweep.toml", "--shard", "0/2", "--out", "d"]);
    let run = tree(&home.join("d/runs")).into_keys().next().expect("a run");
    let path = home.join("d/runs").join(&run);
    let changed = fs::read_to_string(&path).expect("a run").replace(",4.3.1,", ",4.3.0,");
    fs::write(&path, changed).expect("written");
    let error = refused(home, &["merge", "b", "c", "d", "--out", "m"]);
    assert_eq!(error, format!("error: runs/{run} differs between c and d; remove the one that is wrong\n"));
    assert!(!home.join("m").exists());
    succeeds(home, &["merge", "b", "c", "--out", "m"]);
}
