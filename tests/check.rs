//! `coordsim check` from outside: baselines, differences with their first event, reports, wrong input.

mod support {
    pub mod command;
    pub mod small;
}

use std::fs;
use std::path::Path;
use std::process::Output;
use support::command::coordsim;
use support::small::small;

const EXPAND: &str = "[[events]]\nat = \"1m\"\nkind = \"expand\"\ntopic = \"orders-1\"\npartitions = 6\n";

fn scenario() -> String {
    small("2m", EXPAND)
}

fn check(home: &Path, arguments: &[&str]) -> Output {
    coordsim(home, &[&["check"], arguments].concat()).output().expect("it runs")
}

fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir(home.path().join("scenarios")).expect("a folder");
    fs::write(home.path().join("scenarios/small.toml"), scenario()).expect("written");
    home
}

fn blessed() -> tempfile::TempDir {
    let home = home();
    assert_eq!(code(&check(home.path(), &["--bless"])), 0);
    home
}

/// Puts the scenario in another way, and checks.
fn check_with(home: &Path, from: &str, to: &str, arguments: &[&str]) -> (i32, String) {
    assert!(scenario().contains(from));
    fs::write(home.join("scenarios/small.toml"), scenario().replacen(from, to, 1)).expect("written");
    let output = check(home, arguments);
    (code(&output), text(&output))
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("it ends")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// Whether every element that is opened is closed in its place.
fn is_well_formed(xml: &str) -> bool {
    let mut open = Vec::new();
    for part in xml.split('<').skip(1) {
        let Some((tag, text)) = part.split_once('>') else { return false };
        let name = tag.split_whitespace().next().unwrap_or_default();
        match name.strip_prefix('/') {
            Some(name) if open.pop() != Some(name) => return false,
            None if !tag.ends_with('/') && !tag.starts_with('?') => open.push(name),
            _ => {}
        }
        if text.contains('>')
            || text.replace("&lt;", "").replace("&gt;", "").replace("&quot;", "").replace("&amp;", "").contains('&')
        {
            return false;
        }
    }
    open.is_empty()
}

#[test]
fn a_missing_baseline_differs_until_it_is_blessed() {
    let home = home();
    let first = check(home.path(), &[]);
    assert_eq!(code(&first), 1);
    assert!(text(&first).contains("there is none yet; `coordsim check --bless` writes it"), "{}", text(&first));
    assert_eq!(code(&check(home.path(), &["--kinds", "smoke"])), 0);
    assert_eq!(code(&check(home.path(), &["--bless"])), 0);
    let written = fs::read(home.path().join("reports/baseline/small.toml")).expect("a baseline");
    let again = check(home.path(), &[]);
    assert_eq!((code(&again), text(&again).starts_with("small: same (2 strategies, ")), (0, true), "{}", text(&again));
    assert_eq!(code(&check(home.path(), &["--bless"])), 0);
    assert_eq!(fs::read(home.path().join("reports/baseline/small.toml")).expect("a baseline"), written);
}

/// Another interval in the answers: the first event is the first join, though hardly any figure says so.
#[test]
fn another_schedule_is_found() {
    let home = blessed();
    let from = "[cluster]\n";
    let to = "[config]\n\"group.consumer.heartbeat.interval.ms\" = 5001\n[cluster]\n";
    let (code, text) = check_with(home.path(), from, to, &["--kinds", "fingerprint"]);
    assert_eq!(code, 1, "{text}");
    for part in ["small: differs", "fingerprint full-map events: ", "fingerprint cached-hash events: "] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("answered epoch 2"), "{text}");
}

/// A timer that never fires counts: until when it runs is part of an event.
#[test]
fn another_session_timeout_is_found() {
    let home = blessed();
    let to = "[config]\n\"group.consumer.session.timeout.ms\" = 45001\n[cluster]\n";
    let (code, text) = check_with(home.path(), "[cluster]\n", to, &[]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("fingerprint full-map events: ") && !text.contains("cost"), "{text}");
}

/// One more partition from the event on: everything before is the same.
#[test]
fn the_first_event_is_that_of_the_change() {
    let home = blessed();
    let (code, text) = check_with(home.path(), "partitions = 6", "partitions = 7", &[]);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("cost full-map records.ConsumerGroupTargetAssignmentMember.value_bytes: "), "{text}");
    let first = text.lines().find(|line| line.contains("first: event ")).expect("an event");
    assert!(first.contains("heartbeat at epoch ") && first.contains("partitions of orders-1"), "{first}");
    assert!(first.contains("at 1m"), "{first}");
}

#[test]
fn a_tolerance_holds_for_its_figure_alone() {
    let home = blessed();
    let to = "partitions = 7\n[check.tolerances.partitions]\nwithin = \"10%\"\nreason = \"a test\"\n";
    let (code, text) = check_with(home.path(), "partitions = 6\n", to, &["--kinds", "cost"]);
    assert_eq!(code, 1, "{text}");
    assert!(!text.contains(" partitions: ") && text.contains(" appended_bytes: "), "{text}");
    let (code, text) = check_with(home.path(), "partitions = 6\n", &to.replace("s.partitions", "s.bumbs"), &[]);
    assert_eq!(code, 2, "{text}");
    assert!(text.contains("small.toml:25:19:") && text.contains("check.tolerances.bumbs: is not a figure"), "{text}");
}

#[test]
fn reports_are_well_formed_whatever_happens() {
    let home = blessed();
    let arguments = ["--junit", "j.xml", "--markdown", "m.md", "--json", "j.json"];
    fs::write(home.path().join("scenarios/broken.toml"), "duration = \"<&'\n").expect("written");
    let (code, text) = check_with(home.path(), "partitions = 6", "partitions = 7", &arguments);
    assert_eq!(code, 2, "{text}");
    let read = |name: &str| fs::read_to_string(home.path().join(name)).expect("a report");
    let xml = read("j.xml");
    assert!(is_well_formed(&xml), "{xml}");
    assert!(xml.contains("<testsuite name=\"small\"") && xml.contains("<error ") && xml.contains("<failure "), "{xml}");
    let json: serde_json::Value = serde_json::from_str(&read("j.json")).expect("JSON");
    assert_eq!(json["scenarios"][0]["state"], "wrong");
    assert_eq!(json["scenarios"][1]["state"], "differs");
    assert_eq!(json["scenarios"][1]["differences"][0]["strategy"], "full-map");
    assert!(read("m.md").starts_with("### coordsim check: 2 of 2 scenarios not as before\n"), "{}", read("m.md"));
}

#[test]
fn wrong_baselines_are_told_with_their_line_and_stay() {
    let home = blessed();
    let path = home.path().join("reports/baseline/small.toml");
    let text_before = fs::read_to_string(&path).expect("a baseline");
    let broken = text_before.replacen("len = ", "len = 9", 1);
    fs::write(&path, &broken).expect("written");
    let output = check(home.path(), &[]);
    assert_eq!(code(&output), 2);
    let line = broken.lines().position(|line| line.starts_with("[chains.full-map.events]")).expect("a chain") + 1;
    let expected = format!("error: reports/baseline/small.toml:{line}: full-map, events: the trail has ");
    assert!(text(&output).contains(&expected), "{expected}: {}", text(&output));
    // A scenario that fails keeps all baselines as they are.
    fs::write(home.path().join("scenarios/broken.toml"), "duration = 1").expect("written");
    assert_eq!(code(&check(home.path(), &["--bless"])), 2);
    assert_eq!(fs::read_to_string(&path).expect("a baseline"), broken);
}

#[test]
fn scenarios_may_be_left_out_and_baselines_left_over() {
    let home = blessed();
    let long = scenario().replace("\"small\"", "\"long\"") + "[check]\nonly_when_named = \"a test\"\n";
    fs::write(home.path().join("scenarios/long.toml"), long).expect("written");
    let output = check(home.path(), &[]);
    assert_eq!(code(&output), 0, "{}", text(&output));
    assert!(text(&output).contains("long: left out unless named (a test)"), "{}", text(&output));
    assert_eq!(code(&check(home.path(), &["scenarios/long.toml"])), 1);
    let baselines = home.path().join("reports/baseline");
    fs::copy(baselines.join("small.toml"), baselines.join("gone.toml")).expect("copied");
    let output = check(home.path(), &[]);
    assert_eq!(code(&output), 1);
    assert!(
        text(&output).contains("no scenario has this name; remove reports/baseline/gone.toml"),
        "{}",
        text(&output)
    );
}
