//! What a scenario is brought to life as.

use super::*;
use crate::cluster::ImageNumber;
use crate::workload::fleet::Step;
use std::collections::BTreeSet;
use std::fmt::Write;
use xxhash_rust::xxh3::xxh3_64;

#[track_caller]
fn make(text: &str) -> Workload {
    match made(text, None) {
        Ok(workload) => workload,
        Err(errors) => panic!("{errors:#?}"),
    }
}

fn made(text: &str, base: Option<BaseHistory>) -> Result<Workload, Vec<Diagnostic>> {
    let scenario = Scenario::parse("s.toml", text)?;
    generate(&scenario, scenario.seed, base)
}

#[track_caller]
fn check_errors(text: &str, expected: &[&str]) {
    let errors = made(text, None).map(|_| ()).expect_err("it is impossible");
    assert_eq!(errors.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
}

/// All images with their versions, a line each; and all members.
fn dump(workload: &Workload) -> String {
    let mut text = String::new();
    let history = &workload.history;
    for number in 1..=history.last_image() {
        let image = history.image(number);
        let names = |topics: &[crate::cluster::TopicIndex]| {
            topics.iter().map(|topic| history.topic_name(*topic).to_string()).collect::<Vec<_>>().join(",")
        };
        let _ = write!(text, "{} {} changed={}", image.time_ms, image.event, names(&image.changed));
        for topic in &image.hash_changed {
            let hash = history.version_at(*topic, number).map(|version| (version.id, version.hash));
            let _ = write!(text, " {}={hash:?}", history.topic_name(*topic));
        }
        text.push('\n');
    }
    let _ = writeln!(text, "{:?}", history.leaders());
    text + &members(workload, "")
}

/// What the members of the groups do whose names begin so.
fn members(workload: &Workload, prefix: &str) -> String {
    let groups = workload.fleet.groups.iter().filter(|group| group.name.starts_with(prefix));
    groups.map(|group| format!("{group:?}\n")).collect()
}

/// Times and events of all images after the start.
fn images(workload: &Workload) -> Vec<(TimeMs, String)> {
    let image = |number: ImageNumber| workload.history.image(number);
    (3..=workload.history.last_image()).map(|n| (image(n).time_ms, image(n).event.to_string())).collect()
}

const RICH: &str = r#"
seed = 11
duration = "2h"
[cluster]
brokers = 6
racks = ["a", "b", "c"]
[[topics]]
name = "orders-{n}"
count = 30
partitions = [3, 6]
[[topics]]
name = "moves"
replicas = [[1, 2], [2, 3]]
[[groups]]
name = "app-{n}"
count = 12
members = [2, 3]
subscribe = { from = "orders-{n}", count = 4, popularity = "zipf 1.0" }
rack_aware = true
[[groups]]
name = "still-{n}"
count = 3
members = 2
static = true
subscribe = ["moves", "later"]
[[churn]]
kind = "expand"
rate = "20/h"
topics = "orders-{n}"
[[churn]]
kind = "create-topics"
rate = "6/h"
topics = "orders-{n}"
[[churn]]
kind = "delete-topics"
rate = "3/h"
topics = "orders-{n}"
[[churn]]
kind = "recreate"
rate = "6/h"
topics = "orders-{n}"
[[churn]]
kind = "reassign"
rate = "10/h"
topics = "orders-{n}"
partitions = 2
[[churn]]
kind = "restart-broker"
rate = "4/h"
racks = ["a", "x"]
[[churn]]
kind = "crash-broker"
rate = "2/h"
[[churn]]
kind = "member-join"
rate = "5/h"
groups = "app-{n}"
[[churn]]
kind = "member-leave"
rate = "10/h"
groups = "app-{n}"
back_after = "1m"
[[churn]]
kind = "member-crash"
rate = "10/h"
groups = "app-{n}"
[[churn]]
kind = "redeploy"
rate = "4/h"
groups = "app-{n}"
[[churn]]
kind = "subscription-change"
rate = "10/h"
groups = "app-{n}"
[[events]]
at = "1h"
kind = "rolling-restart"
"#;

/// A digest of everything: it changes only if what a seed means is changed on purpose.
#[test]
fn the_same_seed_is_the_same_workload() {
    let text = dump(&make(RICH));
    assert_eq!(text, dump(&make(RICH)));
    assert_eq!((text.lines().count(), xxh3_64(text.as_bytes())), (312, 1045425775252519972));
    assert_ne!(text, dump(&make(&RICH.replace("seed = 11", "seed = 12"))));
}

#[test]
fn another_entity_changes_no_draw_of_the_others() {
    let before = make(RICH);
    let more = "[[groups]]\nname = \"new-{n}\"\ncount = 2\nmembers = 3\nsubscribe = { from = \"orders-{n}\" }\n\
                [[churn]]\nkind = \"redeploy\"\nrate = \"5/h\"\ngroups = \"new-{n}\"\n";
    // Before the others, so that every index moves.
    let text = RICH.replacen("[[groups]]", &format!("{more}[[topics]]\nname = \"new\"\n[[groups]]"), 1);
    let after = make(&text);
    for prefix in ["app-", "still-"] {
        assert_eq!(members(&before, prefix), members(&after, prefix));
        assert!(!members(&before, prefix).is_empty());
    }
    assert_ne!(members(&after, "new-"), "");
    // Topics keep their ids, partitions and places.
    let first = |workload: &Workload, name: &str| {
        let index = workload.history.index_of(name).expect("it exists");
        let version = workload.history.versions(index)[0].1.clone().expect("it exists at first");
        (version.id, version.hash)
    };
    for number in 1..=30 {
        let name = format!("orders-{number}");
        assert_eq!(first(&before, &name), first(&after, &name));
    }
}

const SMALL: &str = "duration = \"10m\"\nseed = 3\n[cluster]\nbrokers = 3\nracks = [\"a\", \"b\", \"c\"]\n\
                     [cluster.offsets]\npartitions = 6\n[[topics]]\nname = \"t-{n}\"\ncount = 2\npartitions = 6\n";

fn with_event(event: &str) -> String {
    format!("{SMALL}[[events]]\n{event}\n")
}

#[test]
fn the_start_is_brokers_then_topics() {
    let workload = make(SMALL);
    let history = &workload.history;
    assert_eq!(history.last_image(), 2);
    assert_eq!((&*history.image(1).event, history.image(1).registered.clone()), ("register", vec![1, 2, 3]));
    assert_eq!((&*history.image(2).event, history.image(2).time_ms), ("create", 0));
    let names: Vec<&str> = history.image(2).changed.iter().map(|topic| history.topic_name(*topic).as_str()).collect();
    assert_eq!(names, ["__consumer_offsets", "t-1", "t-2"]);
    assert_eq!(history.leaders().len(), 6);
    // Racks are striped: two partitions lead on each of three brokers.
    let mut leaders: Vec<i32> = (0..6).map(|partition| history.leader_at(partition, 2)).collect();
    leaders.sort_unstable();
    assert_eq!(leaders, [1, 1, 2, 2, 3, 3]);
    assert_eq!(workload.start_unix_ms, 1_700_000_000_000);
}

/// The order and the gaps are those of the lab's restarts of 4.3.1.
#[test]
fn a_restart_as_the_lab_saw_it() {
    let workload =
        make(&with_event("at = \"1m\"\nkind = \"restart-broker\"\nbroker = 2\nrack = \"x\"\ndown = \"20s\""));
    let images = images(&workload);
    let events: Vec<&str> = images.iter().map(|(_, event)| event.as_str()).collect();
    let expands = events.iter().filter(|event| **event == "isr-expand").count();
    assert!((2..=4).contains(&expands));
    let mut expected = vec!["isr-shrink", "fence", "register", "unfence"];
    expected.extend(vec!["isr-expand"; expands]);
    expected.push("elect");
    assert_eq!(events, expected);
    let time = |index: usize| images[index].0;
    assert_eq!((time(0), time(2)), (60_000, 80_000));
    assert!((2_000..=4_000).contains(&(time(1) - time(0))));
    assert!((50..=2_900).contains(&(time(3) - time(2))));
    assert!((40..=500).contains(&(time(4) - time(3))));
    assert!((5..4 + expands).all(|index| (30..=430).contains(&(time(index) - time(index - 1)))));
    // The next five minutes' check gives leadership back.
    assert_eq!(time(4 + expands), 300_000);
    let history = &workload.history;
    let leads = |image| (0..6).filter(|partition| history.leader_at(*partition, image) == 2).count();
    assert_eq!((leads(2), leads(3), leads(history.last_image() - 1), leads(history.last_image())), (2, 0, 0, 2));
    // The new rack shows with the registration.
    let registered: Vec<_> = (3..=history.last_image()).filter(|n| !history.image(*n).registered.is_empty()).collect();
    assert_eq!(registered, [5]);
    assert_eq!(history.image(5).hash_changed.len(), 3);
}

#[test]
fn a_crash_is_noticed_when_the_session_runs_out() {
    let workload = make(&with_event("at = \"1m\"\nkind = \"crash-broker\"\nbroker = 2\ndown = \"1s\""));
    let images = images(&workload);
    assert_eq!(images[0], (69_000, "fence".to_owned()));
    // Refused until then, it registers at its next try.
    assert_eq!(images[1], (71_000, "register".to_owned()));
    assert!(!workload.history.image(3).changed.is_empty());
}

#[test]
fn a_rolling_restart_takes_one_broker_after_the_other() {
    let workload = make(&with_event("at = \"1m\"\nkind = \"rolling-restart\"\npause = \"30s\"\ndown = \"15s\""));
    let images = images(&workload);
    let times = |event: &str| images.iter().filter(|(_, e)| e == event).map(|(t, _)| *t).collect::<Vec<_>>();
    let stops = times("isr-shrink");
    assert_eq!((stops.len(), times("register").len()), (3, 3));
    for (stop, next) in stops.iter().zip(&stops[1..]) {
        let last = images.iter().filter(|(t, e)| e == "isr-expand" && t < next).map(|(t, _)| *t).max();
        assert_eq!(last.map(|last| last + 30_000), Some(*next));
        assert!(next - stop > 45_000);
    }
    // Nothing of it changes what any topic looks like.
    assert!((3..=workload.history.last_image()).all(|n| workload.history.image(n).hash_changed.is_empty()));
}

#[test]
fn topics_are_created_expanded_recreated_and_deleted() {
    let workload = make(&with_event(
        "at = \"1m\"\nkind = \"create-topics\"\ntopics = [\"x\", \"y\"]\npartitions = 2\n\
         [[events]]\nat = \"2m\"\nkind = \"expand\"\ntopic = \"x\"\npartitions = 5\n\
         [[events]]\nat = \"3m\"\nkind = \"recreate\"\ntopic = \"x\"\ngap = \"2s\"\n\
         [[events]]\nat = \"4m\"\nkind = \"recreate\"\ntopic = \"x\"\ngap = \"0s\"\n\
         [[events]]\nat = \"5m\"\nkind = \"delete-topics\"\ntopics = [\"x\", \"y\"]",
    ));
    let expected = [
        (60_000, "create"),
        (120_000, "expand"),
        (180_000, "delete"),
        (182_000, "create"),
        (240_000, "recreate"),
        (300_000, "delete"),
    ];
    assert_eq!(images(&workload), expected.map(|(time_ms, event)| (time_ms, event.to_owned())));
    let history = &workload.history;
    let versions = history.versions(history.index_of("x").expect("x"));
    let partitions: Vec<_> = versions.iter().map(|(_, v)| v.as_ref().map(|v| v.num_partitions())).collect();
    assert_eq!(partitions, [Some(2), Some(5), None, Some(5), Some(5), None]);
    let ids: std::collections::BTreeSet<Uuid> = versions.iter().filter_map(|(_, v)| Some(v.as_ref()?.id)).collect();
    assert_eq!(ids.len(), 3);
}

#[test]
fn a_reassignment_adds_then_removes() {
    let text = "duration = \"10m\"\n[cluster]\nbrokers = 4\nracks = [\"a\", \"b\", \"c\", \"d\"]\n[[topics]]\nname = \"m\"\n\
                replicas = [[1, 2]]\n[[events]]\nat = \"1m\"\nkind = \"reassign\"\ntopic = \"m\"\nreplicas = [3, 4]\n\
                copy = \"10s\"\n";
    let workload = make(text);
    let expected = [(60_000, "reassign"), (70_000, "reassigned"), (70_001, "reassigned")];
    assert_eq!(images(&workload), expected.map(|(time_ms, event)| (time_ms, event.to_owned())));
    let history = &workload.history;
    let topic = history.index_of("m").expect("m");
    let racks = |image| {
        let version = history.version_at(topic, image).expect("m");
        version.partition_racks(0).iter().map(|rack| history.rack(*rack).to_string()).collect::<Vec<_>>().concat()
    };
    assert_eq!((racks(2), racks(3), racks(4), racks(5)), ("ab".into(), "cdab".into(), "cdab".into(), "cd".into()));
}

#[test]
fn events_close_together_make_one_image() {
    let events = "[[events]]\nat = \"60s\"\nkind = \"expand\"\ntopic = \"t-1\"\npartitions = 7\n\
                  [[events]]\nat = \"60s4ms\"\nkind = \"delete-topics\"\ntopics = [\"t-2\"]\n\
                  [[events]]\nat = \"60s5ms\"\nkind = \"expand\"\ntopic = \"t-1\"\npartitions = 8\n\
                  [[events]]\nat = \"60s9ms\"\nkind = \"create-topics\"\ntopics = [\"x\"]\n";
    let apart = make(&format!("{SMALL}{events}"));
    assert_eq!(images(&apart).len(), 4);
    let named =
        |images: &[(i64, &str)]| images.iter().map(|(ms, event)| (*ms, (*event).to_owned())).collect::<Vec<_>>();
    let together = make(&format!("image_batching = \"1s\"\n{SMALL}{events}"));
    // The third touches what the first does, and must see it.
    let pairs = named(&[(60_000, "expand+delete"), (60_005, "expand+create")]);
    assert_eq!(images(&together), pairs);
    // Where windows of 5 ms begin is drawn: one in five draws parts the two pairs.
    let text = format!("image_batching = \"5ms\"\n{SMALL}{events}");
    let scenario = Scenario::parse("s.toml", &text).expect("a scenario");
    let drawn: BTreeSet<_> =
        (0..40).map(|seed| images(&generate(&scenario, seed, None).expect("a workload"))).collect();
    let middle = named(&[(60_000, "expand"), (60_004, "delete+expand"), (60_009, "create")]);
    assert_eq!(drawn, BTreeSet::from([pairs, middle]));
}

#[test]
fn what_turns_out_to_be_impossible() {
    let text = with_event(
        "at = \"1m\"\nkind = \"expand\"\ntopic = \"nope\"\npartitions = 5\n\
         [[events]]\nat = \"1m\"\nkind = \"expand\"\ntopic = \"t-1\"\npartitions = 6\n\
         [[events]]\nat = \"1m\"\nkind = \"create-topics\"\ntopics = [\"t-2\"]\n\
         [[events]]\nat = \"1m\"\nkind = \"reassign\"\ntopic = \"t-1\"\npartition = 9\nreplicas = [1]\n\
         [[events]]\nat = \"1m\"\nkind = \"restart-broker\"\nbroker = 1\n\
         [[events]]\nat = \"61s\"\nkind = \"restart-broker\"\nbroker = 1\n\
         [[groups]]\nname = \"g\"\nmembers = 1\nsubscribe = [\"t-1\"]\n\
         [[events]]\nat = \"1m\"\nkind = \"member-leave\"\ngroup = \"g\"\nmember = \"m2\"\n\
         [[events]]\nat = \"1m\"\nkind = \"member-join\"\ngroup = \"g\"\nmember = \"m1\"\n\
         [[events]]\nat = \"1m\"\nkind = \"member-crash\"\ngroup = \"g\"\nmember = \"m1\"\n\
         [[events]]\nat = \"2m\"\nkind = \"member-stop\"\ngroup = \"g\"\nmember = \"m1\"",
    );
    check_errors(
        &text,
        &[
            "s.toml:12:1: events[0]: there is no topic \"nope\" then",
            "s.toml:17:1: events[1]: topic \"t-1\" has 6 partitions then; expected more than that",
            "s.toml:22:1: events[2]: topic \"t-2\" exists already",
            "s.toml:26:1: events[3]: topic \"t-1\" has no partition 9 then",
            "s.toml:36:1: events[5]: broker 1 is being restarted then; expected a later time",
            "s.toml:44:1: events[6]: there is no member \"m2\" then; the group has m1",
            "s.toml:49:1: events[7]: member \"m1\" runs then, or starts later (its last step before is at 2s786ms)",
            "s.toml:59:1: events[9]: member \"m1\" does not run then (its last step before or start is at 1m)",
        ],
    );
}

#[test]
fn members_follow_their_events() {
    let text = with_event(
        "at = \"1m\"\nkind = \"member-join\"\ngroup = \"g\"\nmember = \"q2\"\ninstance = \"i-q2\"\nrack = \"z\"\n\
         [[events]]\nat = \"2m\"\nkind = \"member-stop\"\ngroup = \"g\"\nmember = \"q2\"\n\
         [[events]]\nat = \"3m\"\nkind = \"member-join\"\ngroup = \"g\"\nmember = \"q2\"\n\
         [[events]]\nat = \"4m\"\nkind = \"subscription-change\"\ngroup = \"g\"\nmember = \"q2\"\ntopics = [\"t-2\"]\n\
         [[events]]\nat = \"5m\"\nkind = \"redeploy\"\ngroup = \"g\"\ndown = \"3s\"\npause = \"7s\"\n\
         [[groups]]\nname = \"g\"\nmembers = 1\nrack_aware = true\nsubscribe = [\"t-1\"]\njoin_over = \"0s\"",
    );
    let workload = make(&text);
    let group = &workload.fleet.groups[0];
    let steps = |member: usize| {
        let steps = group.members[member].steps.iter().map(|(time_ms, step)| match step {
            Step::Join { topics, .. } => format!("{time_ms} join {topics:?}"),
            Step::Subscribe { topics } => format!("{time_ms} subscribe {topics:?}"),
            step => format!("{time_ms} {step:?}"),
        });
        steps.collect::<Vec<_>>()
    };
    assert_eq!(steps(0), ["0 join [\"t-1\"]", "300000 Stop", "303000 join [\"t-1\"]"]);
    let expected = [
        "60000 join [\"t-1\"]",
        "120000 Stop",
        "180000 join [\"t-1\"]",
        "240000 subscribe [\"t-2\"]",
        "307000 Stop",
        "310000 join [\"t-2\"]",
    ];
    assert_eq!(steps(1), expected);
    let (m1, q2) = (&group.members[0], &group.members[1]);
    assert_eq!(
        (q2.instance_id.as_deref(), q2.rack.as_deref(), &*q2.client_id),
        (Some("i-q2"), Some("z"), "consumer-g-q2")
    );
    assert_eq!((m1.instance_id.as_deref(), &*m1.client_id), (None, "consumer-g-1"));
    assert!(["a", "b", "c"].contains(&m1.rack.as_deref().unwrap_or("none")));
    let ids: std::collections::BTreeSet<&str> = group
        .members
        .iter()
        .flat_map(|member| &member.steps)
        .filter_map(|(_, step)| if let Step::Join { member_id, .. } = step { Some(member_id.as_str()) } else { None })
        .collect();
    assert_eq!((ids.len(), ids.iter().all(|id| id.len() == 22 && !id.starts_with('-'))), (5, true));
    // 3.9.1's clients do not tell their rack.
    let old = make(&format!("kafka = \"3.9.1\"\n{text}"));
    assert!(old.fleet.groups[0].members.iter().all(|member| member.rack.is_none()));
}

fn log() -> BaseHistory {
    let broker = |id, rack: &str| Change::RegisterBroker { id, rack: Some(rack.to_owned()) };
    let up = |id| Change::FenceBroker { id, fenced: false };
    let start = vec![broker(1, "a"), up(1), broker(2, "b"), up(2)];
    let create =
        |name: &str, id| Change::CreateTopic { name: name.to_owned(), id: Uuid(id), replicas: vec![vec![1, 2]] };
    BaseHistory {
        images: vec![
            (1_000_000, "register".to_owned(), start),
            (1_002_000, "create".to_owned(), vec![create("__consumer_offsets", 1), create("t", 2)]),
            (1_001_000, "create".to_owned(), vec![create("u", 3)]),
            (1_009_000, "create".to_owned(), vec![create("v", 4)]),
        ],
    }
}

#[test]
fn a_metadata_log_is_the_history() {
    let text = |more: &str| format!("duration = \"1m\"\n[cluster.kraft]\nfiles = [\"f\"]\n{more}");
    let workload = made(&text(""), Some(log())).expect("right");
    let times = |workload: &Workload| {
        (1..=workload.history.last_image()).map(|n| workload.history.image(n).time_ms).collect::<Vec<_>>()
    };
    // Time does not go back.
    assert_eq!((times(&workload), workload.start_unix_ms), (vec![0, 2_000, 2_000, 9_000], 1_000_000));
    let later = made(&text("from = \"5s\"\n"), Some(log())).expect("right");
    assert_eq!((times(&later), later.start_unix_ms), (vec![0, 0, 0, 4_000], 1_005_000));
    // The scenario's own changes come after the log's.
    let event = "[[events]]\nat = \"5s\"\nkind = \"expand\"\ntopic = \"t\"\npartitions = 2\n";
    let errors = made(&text(event), Some(log())).expect_err("too early");
    let message = "s.toml:4:1: events[0]: changes the cluster before the end of the metadata log; expected 9s or later";
    assert_eq!(errors[0].to_string(), message);
    let event = event.replace("\"5s\"", "\"9s\"");
    let workload = made(&text(&event), Some(log())).expect("right");
    assert_eq!(times(&workload), [0, 2_000, 2_000, 9_000, 9_000]);
    let without = BaseHistory { images: log().images[..1].to_vec() };
    let errors = made(&text(""), Some(without)).expect_err("no coordinators");
    let message = "s.toml:2:1: cluster.kraft: the metadata log has no topic __consumer_offsets within the run, so no group has \
                   a coordinator; expected the log of a cluster that had groups";
    assert_eq!(errors[0].to_string(), message);
    let mut wrong = log();
    wrong.images.remove(1);
    wrong.images[1].2.push(Change::DeleteTopic { topic: "t".to_owned() });
    let errors = made(&text(""), Some(wrong)).expect_err("an impossible log");
    let message = "s.toml:2:1: cluster.kraft: the metadata log's image \"create\" at 1000 ms is impossible: change 1: there is \
                   no topic \"t\"; create it first";
    assert_eq!(errors[0].to_string(), message);
}

/// Every scenario that comes with the project can be brought to life (those that take long are left to `coordsim check`),
/// and opens with what it shows.
#[test]
fn the_scenarios_of_the_project() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).expect("scenarios") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a text");
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let scenario = Scenario::parse(&name, &text).unwrap_or_else(|errors| panic!("{name}: {errors:#?}"));
        assert_eq!(format!("{}.toml", scenario.name), name);
        assert!(text.starts_with("# ") && !scenario.description.is_empty(), "{name} says what it shows");
        if matches!(scenario.cluster, Cluster::Synthetic { .. }) && scenario.check.only_when_named.is_none() {
            generate(&scenario, scenario.seed, None).unwrap_or_else(|errors| panic!("{name}: {errors:#?}"));
        }
        names.push(name);
    }
    assert!(names.len() >= 8, "{names:?}");
}

const STREAMS: &str = r#"
duration = "1h"
[cluster]
racks = ["a", "b", "c"]
[[topics]]
name = "in"
partitions = 4
[[groups]]
kind = "streams"
name = "app"
members = 3
threads = 2
start = "1m"
join_over = "0ms"
subscribe = ["in", "late"]
internal_topics_after = "200ms"
subtopologies = [{ stores = 1 }, { reads = "repartition", stores = 2 }, { partitions = 9 }]
[[events]]
at = "10m"
kind = "create-topics"
topics = ["late"]
partitions = 6
"#;

/// The partitions are those that `InternalTopicManager` of 4.3.1 asks for: as many as the sources' most, but what is
/// fixed; a changelog has as many as its subtopology has tasks.
#[test]
fn internal_topics_come_when_all_sources_are_there() {
    let workload = make(STREAMS);
    assert_eq!(images(&workload), [(600_000, "create".to_owned()), (600_200, "create-internal".to_owned())]);
    let history = &workload.history;
    let made: Vec<(String, i32)> = history
        .image(history.last_image())
        .changed
        .iter()
        .filter_map(|topic| Some((topic, history.version_at(*topic, history.last_image())?)))
        .map(|(topic, version)| (history.topic_name(*topic).to_string(), version.num_partitions()))
        .collect();
    let expected = [
        ("app-1-repartition", 6),
        ("app-2-repartition", 9),
        ("app-store-0-0-changelog", 6),
        ("app-store-1-0-changelog", 6),
        ("app-store-1-1-changelog", 6),
    ];
    let mut made: Vec<(&str, i32)> = made.iter().map(|(name, partitions)| (name.as_str(), *partitions)).collect();
    made.sort_unstable();
    assert_eq!(made, expected);
}

#[test]
fn internal_topics_that_are_deleted_come_again() {
    let delete = "[[events]]\nat = \"20m\"\nkind = \"delete-topics\"\ntopics = [\"app-2-repartition\", \"in\"]\n";
    let again = "[[events]]\nat = \"30m\"\nkind = \"create-topics\"\ntopics = [\"in\"]\npartitions = 1\n";
    let workload = make(&format!("{STREAMS}{delete}{again}"));
    let after: Vec<TimeMs> = images(&workload).into_iter().skip(2).map(|(time_ms, _)| time_ms).collect();
    // Without its source, nothing comes; the batch of a window is published before what it makes necessary.
    assert_eq!(after, [1_200_000, 1_800_000, 1_800_200]);
    let batched = make(&format!("image_batching = \"1s\"\n{STREAMS}"));
    assert_eq!(
        images(&batched).last().map(|(time_ms, event)| (*time_ms, event.as_str())),
        Some((601_200, "create-internal"))
    );
}

#[test]
fn members_of_a_process_share_its_id() {
    let workload = make(STREAMS);
    let group = &workload.fleet.groups[0];
    let processes: Vec<&str> = group.members.iter().filter_map(|member| member.process_id.as_deref()).collect();
    assert_eq!(processes.len(), 3);
    assert!(processes[0] == processes[1] && processes[1] != processes[2], "{processes:?}");
    assert_eq!(processes[0].split('-').map(str::len).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);
    assert_eq!(group.members[1].client_id.as_str(), format!("app-{}-StreamThread-2-consumer", processes[1]));
    let topology = &group.application.as_ref().expect("it is a streams group").topology;
    let reads: Vec<usize> = topology.subtopologies.iter().map(|part| part.source_topics.len()).collect();
    let writes: Vec<usize> = topology.subtopologies.iter().map(|part| part.repartition_sink_topics.len()).collect();
    assert_eq!((reads, writes), (vec![2, 0, 0], vec![1, 1, 0]));
}
