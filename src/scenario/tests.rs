//! Every kind of error with its exact message and place, and what a right scenario is read as.

mod follow_ons;

use super::*;
use crate::strategy::{Covers, Design, Forgets, Memo, Stores};

/// The errors of a text, as a user sees them.
fn errors(text: &str) -> Vec<String> {
    match Scenario::parse("s.toml", text) {
        Ok(_) => Vec::new(),
        Err(diagnostics) => diagnostics.iter().map(ToString::to_string).collect(),
    }
}

#[track_caller]
fn parse(file: &str, text: &str) -> Scenario {
    Scenario::parse(file, text).unwrap_or_else(|errors| panic!("{errors:?}"))
}

#[track_caller]
fn check(text: &str, expected: &[&str]) {
    assert_eq!(errors(text), expected, "in\n{text}");
}

/// Checks a line in a file that is otherwise right; the line is the file's third.
#[track_caller]
fn check_line(line: &str, expected: &str) {
    check(&format!("# a comment\nduration = \"1h\"\n{line}\n"), &[expected]);
}

/// Checks a line of a `[[groups]]` table, with topics before it; the line is the file's fourth.
#[track_caller]
fn check_in(table: &str, line: &str, expected: &str) {
    let topics = "[[topics]]\nname = \"t-{n}\"\ncount = 10\n[[groups]]\nname = \"g-{n}\"\ncount = 5\nmembers = 2\n\
                  subscribe = { from = \"t-{n}\" }\n";
    check(&format!("duration = \"1h\"\n[[{table}]]\n\n{line}\n{topics}"), &[expected]);
}

/// Checks a line of a group that is otherwise right; the line is the file's seventh.
#[track_caller]
fn check_group(line: &str, expected: &str) {
    check_in("groups", &format!("name = \"x\"\nmembers = 1\nsubscribe = [\"a\"]\n{line}"), expected);
}

/// Checks what a group subscribes to.
#[track_caller]
fn check_subscribe(what: &str, expected: &str) {
    check_in("groups", &format!("name = \"x\"\nmembers = 1\nsubscribe = {what}"), expected);
}

#[test]
fn least_and_defaults() {
    let scenario = parse("dir/small.toml", "duration = \"90s\"");
    assert_eq!((scenario.name.as_str(), scenario.seed, scenario.duration_ms), ("small", 1, 90_000));
    assert_eq!((scenario.kafka.as_str(), scenario.timeline_ms, scenario.image_batching_ms), ("4.3.1", 60_000, 0));
    let names: Vec<&str> = scenario.strategies.iter().map(|s| s.name.as_str()).collect();
    assert_eq!(names, ["full-map", "count-map", "stored-hash", "recompute", "cached-hash", "ideal"]);
    let Cluster::Synthetic { brokers, offsets_partitions, offsets_replication, leader_rebalance_ms } = scenario.cluster
    else {
        panic!("a made-up cluster")
    };
    assert_eq!(brokers, [(1, None), (2, None), (3, None)]);
    assert_eq!((offsets_partitions, offsets_replication, leader_rebalance_ms), (50, 3, Some(300_000)));
}

#[test]
fn everything_is_read() {
    let text = r#"
name = "all"
description = "Everything."
seed = 42
duration = "1d"
start = 1_600_000_000_000
kafka = "3.9.1"
compare = ["ideal", "mine"]
timeline = "5m"
image_batching = "5ms"
[strategies.mine]
covers = "rack-set"
stores = "hash"
memo = "broker"
forgets = "topic-or-broker"
[config]
"group.consumer.session.timeout.ms" = "30s"
"group.consumer.heartbeat.interval.ms" = 3000
"group.consumer.assignors" = ["range", "uniform"]
"offsets.topic.segment.bytes" = "100MiB"
"group.coordinator.append.linger.ms" = -1
[cluster]
brokers = 4
racks = ["a", "b", ""]
brokers_without_rack = [2]
leader_rebalance = false
[cluster.offsets]
partitions = 8
replication = 2
[[topics]]
name = "orders-{n}"
count = 20
partitions = { choices = [6, 12], weights = [3, 1] }
replication = 2
[[topics]]
name = "moves"
replicas = [[1, 2], [2, 3]]
[[groups]]
name = "app-{n}"
count = 7
members = [2, 4]
subscribe = { from = "orders-{n}", count = 5, popularity = "zipf 1.2" }
assignor = "range"
static = true
rack_aware = true
revocation = "2s"
start = "1m"
join_over = "30s"
max_poll_interval = "1m"
client_id = "{group}.{m}"
[[groups]]
name = "one"
members = 0
subscribe = ["moves", "later"]
[[churn]]
kind = "expand"
rate = "3/h"
topics = "orders-{n}"
add = 2
from = "1h"
until = "2h"
[[churn]]
kind = "restart-broker"
rate = "1/7d"
brokers = [3]
racks = ["x", "y"]
[[events]]
at = "10m"
kind = "restart-broker"
broker = 3
rack = ""
down = "20s"
catch_up = "5s"
[[events]]
at = "11m"
kind = "member-join"
group = "one"
member = "n1"
"#;
    let scenario = parse("s.toml", text);
    assert_eq!((scenario.name.as_str(), scenario.seed, scenario.start_unix_ms), ("all", 42, Some(1_600_000_000_000)));
    let mine = Design::Point {
        covers: Covers::RackSet,
        stores: Stores::Hash,
        memo: Memo::Broker,
        forgets: Forgets::TopicOrBroker,
    };
    assert_eq!((scenario.strategies[1].name.as_str(), scenario.strategies[1].design), ("mine", mine));
    let config: Vec<_> = scenario.config.values().cloned().collect();
    let integer = ConfigValue::Integer;
    let assignors = ConfigValue::Text("range,uniform".to_owned());
    assert_eq!(config, [assignors, integer(3000), integer(30_000), integer(-1), integer(104_857_600)]);
    let Cluster::Synthetic { brokers, leader_rebalance_ms: None, .. } = &scenario.cluster else { panic!() };
    let rack = |text: &str| Some(text.to_owned());
    assert_eq!(brokers, &[(1, rack("a")), (2, None), (3, rack("")), (4, rack("a"))]);
    let partitions = Choice { values: vec![6, 12], weights: vec![3, 1] };
    assert_eq!(scenario.topics[0].layout, Layout::Placed { partitions, replication: 2 });
    assert_eq!(scenario.topics[1].layout, Layout::Given(vec![vec![1, 2], vec![2, 3]]));
    let group = &scenario.groups[0];
    assert_eq!(group.subscribe, Subscribe::Drawn { from: 0, count: Choice::one(5), exponent: 1.2 });
    assert_eq!((group.is_static, group.rack_aware, group.revocation_ms, group.start_ms), (true, true, 2_000, 60_000));
    assert_eq!((group.join_over_ms, group.max_poll_interval_ms, group.place.line), (30_000, 60_000, 38));
    assert_eq!(scenario.group_named("app-7"), Some((0, 7)));
    assert_eq!(scenario.group_named("app-8"), None);
    let churn = &scenario.churn[0];
    assert_eq!(churn.kind, ChurnKind::Expand { topics: 0, add: 2, up_to: 1_000 });
    assert_eq!((churn.rate.mean_gap_ms(), churn.from_ms, churn.until_ms), (1_200_000.0, 3_600_000, 7_200_000));
    let racks = NewRack::OneOf(vec!["x".to_owned(), "y".to_owned()]);
    let restart = Restart { down_ms: 30_000, rack: racks, catch_up_ms: 0, crash: false };
    assert_eq!(scenario.churn[1].kind, ChurnKind::RestartBroker { brokers: vec![3], restart });
    let restart = Restart { down_ms: 20_000, rack: NewRack::Given(rack("")), catch_up_ms: 5_000, crash: false };
    assert_eq!(scenario.events[0].kind, EventKind::RestartBroker { broker: 3, restart });
    assert_eq!(scenario.events[1].place, Place { line: 74, column: 1, field: "events[1]".to_owned() });
}

#[test]
fn syntax_errors() {
    check("duration = 1h\n", &["s.toml:1:12: not TOML: string values must be quoted, expected literal string"]);
    check(
        "duration = \"1h\n[topics\n",
        &[
            "s.toml:1:15: not TOML: invalid basic string, expected `\"`",
            "s.toml:2:8: not TOML: unclosed table, expected `]`",
        ],
    );
    check(
        "a = 1\na = 2\n",
        &[
            "s.toml:2:1: not TOML: duplicate key",
            "s.toml:1:1: a: is not a field here; expected one of check, churn, cluster, compare, config, description, duration, events, groups, image_batching, kafka, log, name, seed, start, strategies, timeline, topics, waiting",
        ],
    );
    check(
        "duration = 1h\nseed = -1\n[cluster]\nbroker = 1\nname \n",
        &[
            "s.toml:1:12: not TOML: string values must be quoted, expected literal string",
            "s.toml:5:5: not TOML: key with no value, expected `=`",
            "s.toml:2:8: seed: found -1; expected an integer of 0 or more",
            "s.toml:4:1: cluster.broker: is not a field here; did you mean \"brokers\"?",
        ],
    );
}

#[test]
fn an_empty_file() {
    check("", &["s.toml:1:1: duration: is missing; expected how long the run is, a duration such as \"10m\""]);
}

#[test]
fn all_errors_at_once_in_order() {
    check(
        "duration = \"0s\"\nsed = 5\n[[topics]]\nname = \"a\"\ncount = -1\n[[groups]]\nmembers = \"x\"\n",
        &[
            "s.toml:1:12: duration: found \"0s\"; expected a duration from 1ms to 521w3d",
            "s.toml:2:1: sed: is not a field here; did you mean \"seed\"?",
            "s.toml:5:9: topics[0].count: found -1; expected an integer from 1 to 1000000",
            "s.toml:6:1: groups[0].name: is missing; expected a name, with {n} for the number if there are several",
            "s.toml:6:1: groups[0].subscribe: is missing; expected a list of topics, or a table such as { from = \
             \"orders-{n}\", count = 5 }",
            "s.toml:7:11: groups[0].members: found \"x\"; expected an integer from 0 to 100000",
        ],
    );
}

/// `[log]`, and the configurations of the log.
#[test]
fn logs() {
    let head = "duration = \"1h\"\n";
    let read = |text: &str| Scenario::parse("s.toml", &format!("{head}{text}"));
    let log =
        read("[log]\ncleaner_stops = \"10m\"\ncommit_interval = \"5s\"\nload_rate = \"2MiB\"\nload_record_ns = 7\n");
    let expected = Log {
        cleaner_stops_ms: Some(600_000),
        commit_interval_ms: Some(5_000),
        load_bytes_per_second: 2 << 20,
        load_record_ns: 7,
    };
    assert_eq!(log.map(|scenario| scenario.log), Ok(expected));
    let config = "[config]\n\"log.cleaner.enable\" = false\n\"log.cleaner.min.cleanable.ratio\" = 0.25\n\
                  \"log.cleaner.io.buffer.load.factor\" = 1\n\"log.roll.ms\" = \"1h\"\n\
                  \"log.cleaner.dedupe.buffer.size\" = \"1GiB\"\n";
    let config = read(config).map(|scenario| scenario.config.into_values().collect::<Vec<_>>());
    let text = |text: &str| ConfigValue::Text(text.to_owned());
    let values = [ConfigValue::Integer(1 << 30), ConfigValue::Boolean(false), text("1"), text("0.25")];
    assert_eq!(config, Ok([&values[..], &[ConfigValue::Integer(3_600_000)]].concat()));
    let errors = |text: &str| read(text).expect_err("wrong").iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(
        errors("[log]\ncommit_interval = \"0ms\"\ncleaner = 1\n[config]\n\"log.cleaner.min.cleanable.ratio\" = 2\n"),
        [
            "s.toml:3:19: log.commit_interval: found \"0ms\"; expected a duration from 1ms to 521w3d",
            "s.toml:4:1: log.cleaner: is not a field here; expected one of cleaner_stops, commit_interval, load_rate, \
             load_record_ns",
            "s.toml:6:37: config.\"log.cleaner.min.cleanable.ratio\": found 2; expected a number from 0 to 1",
        ]
    );
}

#[test]
fn general_fields() {
    check_line(
        "colour = 1",
        "s.toml:3:1: colour: is not a field here; expected one of check, churn, cluster, compare, config, description, duration, events, groups, image_batching, kafka, log, name, seed, start, strategies, timeline, topics, waiting",
    );
    check_line("seed = -1", "s.toml:3:8: seed: found -1; expected an integer of 0 or more");
    check_line(
        "seed = 99999999999999999999",
        "s.toml:3:8: seed: found 99999999999999999999; expected an integer of 0 or more",
    );
    check_line(
        "name = \"a/b\"",
        "s.toml:3:8: name: found \"a/b\"; expected letters, digits, \"-\", \"_\" or \".\", not beginning with \".\"",
    );
    check_line("name = 5", "s.toml:3:8: name: found 5; expected letters, digits, \"-\", \"_\" or \".\"");
    check_line("description = 5", "s.toml:3:15: description: found 5; expected a text");
    check_line("start = \"now\"", "s.toml:3:9: start: found \"now\"; expected an integer from 0 to 4102444800000");
    check_line(
        "timeline = 60",
        "s.toml:3:12: timeline: found 60; expected a duration such as \"250ms\", \"5s\" or \"1h30m\" (units w, d, h, m, s, ms)",
    );
    check_line(
        "timeline = \"1 min\"",
        "s.toml:3:12: timeline: found \"1 min\"; expected a duration such as \"250ms\", \"5s\" or \"1h30m\" (units w, d, h, m, s, ms)",
    );
    check_line(
        "kafka = \"4.3\"",
        "s.toml:3:9: kafka: found \"4.3\"; expected one of \"3.9.1\", \"4.0.0\", \"4.1.1\", \"4.3.1\", \"4.4.0\"",
    );
    check_line(
        "kafka = \"4.2.0\"",
        "s.toml:3:9: kafka: found \"4.2.0\"; expected one of \"3.9.1\", \"4.0.0\", \"4.1.1\", \"4.3.1\", \"4.4.0\"",
    );
    check_line(
        "kafka = 4",
        "s.toml:3:9: kafka: found 4; expected one of \"3.9.1\", \"4.0.0\", \"4.1.1\", \"4.3.1\", \"4.4.0\"",
    );
    check_line("topics = 5", "s.toml:3:10: topics: found 5; expected tables, each with the header [[topics]]");
    check_line("topics = [5]", "s.toml:3:11: topics[0]: found 5; expected tables, each with the header [[topics]]");
    check(
        "duration = 1.5\n",
        &[
            "s.toml:1:12: duration: found 1.5; expected a duration such as \"250ms\", \"5s\" or \"1h30m\" (units w, d, h, m, s, ms)",
        ],
    );
    check(
        "duration = 2024-01-01\n",
        &[
            "s.toml:1:12: duration: found a date; expected a duration such as \"250ms\", \"5s\" or \"1h30m\" (units w, d, h, m, s, ms)",
        ],
    );
}

#[test]
fn strategies() {
    check_line(
        "compare = \"ideal\"",
        "s.toml:3:11: compare: found \"ideal\"; expected a list of strategies such as [\"full-map\", \"cached-hash\"]",
    );
    check_line(
        "compare = []",
        "s.toml:3:11: compare: found an empty list; expected a list of strategies such as [\"full-map\", \"cached-hash\"]",
    );
    check_line(
        "compare = [\"cached-hahs\"]",
        "s.toml:3:12: compare[0]: there is no strategy \"cached-hahs\"; did you mean \"cached-hash\"?",
    );
    check_line(
        "compare = [\"nonsense\"]",
        "s.toml:3:12: compare[0]: there is no strategy \"nonsense\"; expected one of full-map, count-map, stored-hash, recompute, cached-hash, ideal",
    );
    check_line(
        "compare = [\"ideal\", \"ideal\"]",
        "s.toml:3:21: compare[1]: \"ideal\" is in the list twice; expected each strategy once",
    );
    check_line(
        "strategies = [\"ideal\"]",
        "s.toml:3:14: strategies: found a list; expected tables such as [strategies.my-idea]",
    );
    check_line(
        "strategies.ideal = { covers = \"partitions\", stores = \"map\" }",
        "s.toml:3:12: strategies.ideal: is the name of a preset, which cannot be redefined; expected another name",
    );
    check_line(
        "strategies.\"a b\" = { covers = \"partitions\", stores = \"map\" }",
        "s.toml:3:12: strategies.\"a b\": is not a name; expected letters, digits, \"-\", \"_\" or \".\"",
    );
    check_line(
        "strategies.a = { covers = \"racks\", stores = \"map\" }",
        "s.toml:3:27: strategies.a.covers: found \"racks\"; expected one of \"partitions\", \"rack-set\", \"rack-list\"",
    );
    check_line(
        "strategies.a = { stores = \"map\" }",
        "s.toml:3:16: strategies.a.covers: is missing; expected \"partitions\", \"rack-set\" or \"rack-list\"",
    );
    check_line(
        "strategies.a = { covers = \"partitions\", stores = \"map\", forgets = \"topic\" }",
        "s.toml:3:67: strategies.a.forgets: there is no memo that could forget; expected memo = \"shard\" or \"broker\" beside it",
    );
    check_line(
        "strategies.a = { covers = \"partitions\", stores = \"map\", memo = \"shard\" }",
        "s.toml:3:64: strategies.a.memo: stores = \"map\" computes no hashes to keep; expected memo = \"none\"",
    );
    check_line(
        "strategies.a = { covers = \"partitions\", stores = \"map\", memos = \"none\" }",
        "s.toml:3:57: strategies.a.memos: is not a field here; did you mean \"memo\"?",
    );
}

#[test]
fn configuration() {
    check_line(
        "config.\"group.consumer.sesion.timeout.ms\" = 1",
        "s.toml:3:8: config.\"group.consumer.sesion.timeout.ms\": is not a configuration of the group coordinator; did you mean \"group.consumer.session.timeout.ms\"?",
    );
    check_line(
        "config.group.consumer = 1",
        "s.toml:3:8: config.group: is not a configuration of the group coordinator; names with dots must be in quotes",
    );
    check_line(
        "config.\"offsets.topic.num.partitions\" = 3",
        "s.toml:3:8: config.\"offsets.topic.num.partitions\": is not a configuration of the group coordinator; use cluster.offsets.partitions",
    );
    check_line(
        "config.\"offsets.topic.replication.factor\" = 3",
        "s.toml:3:8: config.\"offsets.topic.replication.factor\": is not a configuration of the group coordinator; use cluster.offsets.replication",
    );
    check_line(
        "config.\"group.consumer.session.timeout.ms\" = -1",
        "s.toml:3:46: config.\"group.consumer.session.timeout.ms\": found -1; expected an integer from 0 to 2147483647",
    );
    check_line(
        "config.\"group.consumer.session.timeout.ms\" = \"soon\"",
        "s.toml:3:46: config.\"group.consumer.session.timeout.ms\": found \"soon\"; expected a duration such as \"250ms\", \"5s\" or \"1h30m\" (units w, d, h, m, s, ms)",
    );
    check_line(
        "config.\"group.consumer.session.timeout.ms\" = \"45\"",
        "s.toml:3:46: config.\"group.consumer.session.timeout.ms\": found \"45\"; expected an integer without quotes (45: milliseconds), or a duration such as \"250ms\", \"5s\" or \"1h30m\" (units w, d, h, m, s, ms)",
    );
    check_line(
        "config.\"max.message.bytes\" = \"1000000\"",
        "s.toml:3:30: config.\"max.message.bytes\": found \"1000000\"; expected an integer without quotes (1000000: bytes), or a size such as \"512B\", \"64KiB\" or \"1MiB\"",
    );
    check_line(
        "config.\"group.consumer.max.size\" = \"9\"",
        "s.toml:3:36: config.\"group.consumer.max.size\": found \"9\"; expected an integer without quotes (9)",
    );
    check_line(
        "config.\"offsets.topic.segment.bytes\" = \"1MB\"",
        "s.toml:3:40: config.\"offsets.topic.segment.bytes\": found \"1MB\"; expected a size such as \"512B\", \"64KiB\" or \"1MiB\"",
    );
    check_line(
        "config.\"group.consumer.assignors\" = 1",
        "s.toml:3:37: config.\"group.consumer.assignors\": found 1; expected a list of assignors",
    );
    check_line(
        "config.\"offsets.topic.compression.codec\" = 1",
        "s.toml:3:44: config.\"offsets.topic.compression.codec\": found 1; expected a text",
    );
}

#[test]
fn clusters() {
    check_line("cluster.brokers = 0", "s.toml:3:19: cluster.brokers: found 0; expected an integer from 1 to 10000");
    check_line(
        "cluster.racks = \"a\"",
        "s.toml:3:17: cluster.racks: found \"a\"; expected a list of racks such as [\"a\", \"b\"]",
    );
    check_line(
        "cluster.brokers_without_rack = [4]",
        "s.toml:3:33: cluster.brokers_without_rack[0]: found 4; expected an integer from 1 to 3",
    );
    check_line(
        "cluster.leader_rebalance = true",
        "s.toml:3:28: cluster.leader_rebalance: found true; expected a duration, or false",
    );
    check_line("cluster.broker = 3", "s.toml:3:9: cluster.broker: is not a field here; did you mean \"brokers\"?");
    check_line(
        "cluster.offsets.replication = 4",
        "s.toml:3:31: cluster.offsets.replication: found 4; expected an integer from 1 to 3",
    );
    check_line(
        "cluster.offsets.partitions = 0",
        "s.toml:3:30: cluster.offsets.partitions: found 0; expected an integer from 1 to 10000",
    );
    check_line(
        "cluster.kraft = {}",
        "s.toml:3:17: cluster.kraft.files: is missing; expected a list of log segments and snapshots",
    );
    check_line(
        "cluster.kraft.files = []",
        "s.toml:3:23: cluster.kraft.files: found an empty list; expected a list of log segments and snapshots",
    );
    check_line(
        "cluster = { kraft = { files = [\"a\"] }, brokers = 3 }",
        "s.toml:3:50: cluster.brokers: comes from the metadata log; expected only [cluster.kraft] here",
    );
    check_line(
        "cluster.kraft = { files = [\"a\"], from = \"-1s\" }",
        "s.toml:3:41: cluster.kraft.from: found \"-1s\"; expected a duration such as \"250ms\", \"5s\" or \"1h30m\" (units w, d, h, m, s, ms)",
    );
}

#[test]
fn topics() {
    check_in(
        "topics",
        "name = \"a b\"",
        "s.toml:4:8: topics[0].name: found \"a b\"; expected a topic's name: 1 to 249 letters, digits, \".\", \"_\" or \"-\", not \".\" or \"..\"",
    );
    check_in(
        "topics",
        "name = \"__consumer_offsets\"",
        "s.toml:4:8: topics[0].name: is made by itself; expected another name, or the table [cluster.offsets]",
    );
    check_in("topics", "name = \"\"", "s.toml:4:8: topics[0].name: found \"\"; expected a name");
    check_in(
        "topics",
        "name = \"x\"\ncount = 2",
        "s.toml:4:8: topics[0].name: names 2 things alike; expected {n} in it, such as \"x-{n}\"",
    );
    check_in("topics", "name = \"{n}{n}\"", "s.toml:4:8: topics[0].name: found \"{n}{n}\"; expected {n} once");
    check_in(
        "topics",
        "name = \"t-3\"",
        "s.toml:5:1: topics[1].name: makes the name \"t-3\", as \"t-3\" does; expected names of its own",
    );
    check_in(
        "topics",
        "name = \"x\"\npartitions = 0",
        "s.toml:5:14: topics[0].partitions: found 0; expected an integer from 1 to 100000",
    );
    check_in(
        "topics",
        "name = \"x\"\npartitions = []",
        "s.toml:5:14: topics[0].partitions: found an empty list; expected at least one integer",
    );
    check_in(
        "topics",
        "name = \"x\"\npartitions = { choices = [1, 2], weights = [1] }",
        "s.toml:5:44: topics[0].partitions.weights: found 1 weight; expected 2 weights, one for each choice and not all 0",
    );
    check_in(
        "topics",
        "name = \"x\"\npartitions = { choices = [1, 2], weights = [0, 0] }",
        "s.toml:5:44: topics[0].partitions.weights: found 2 weights; expected 2 weights, one for each choice and not all 0",
    );
    check_in(
        "topics",
        "name = \"x\"\npartitions = { choices = [1, 2] }",
        "s.toml:5:14: topics[0].partitions.weights: is missing; expected a list of integers, one for each choice",
    );
    check_in(
        "topics",
        "name = \"x\"\nreplication = 4",
        "s.toml:5:15: topics[0].replication: found 4; expected an integer from 1 to 3",
    );
    check_in(
        "topics",
        "name = \"x\"\nreplicas = []",
        "s.toml:5:12: topics[0].replicas: found an empty list; expected the brokers of each partition, such as [[1, 2], [2, 3]]",
    );
    check_in(
        "topics",
        "name = \"x\"\nreplicas = [[1, 1]]",
        "s.toml:5:13: topics[0].replicas[0]: names a broker twice; expected a list of different brokers such as [1, 2]",
    );
    check_in(
        "topics",
        "name = \"x\"\nreplicas = [[]]",
        "s.toml:5:13: topics[0].replicas[0]: found an empty list; expected a list of different brokers such as [1, 2]",
    );
    check_in(
        "topics",
        "name = \"x\"\nreplicas = [[9]]",
        "s.toml:5:14: topics[0].replicas[0][0]: found 9; expected an integer from 1 to 3",
    );
    check_in(
        "topics",
        "name = \"x\"\nreplicas = [[1]]\npartitions = 1",
        "s.toml:6:14: topics[0].partitions: is said by replicas already; expected either replicas, or partitions and replication",
    );
    check_in(
        "topics",
        "name = \"x-{n}\"\nreplicas = [[1]]\ncount = 2",
        "s.toml:2:1: topics[0].replicas: is for one topic; expected count = 1, or partitions and replication",
    );
}

#[test]
fn groups() {
    check_group("static = \"yes\"", "s.toml:7:10: groups[0].static: found \"yes\"; expected true or false");
    check_group(
        "revocation = \"fast\"",
        "s.toml:7:14: groups[0].revocation: found \"fast\"; expected a duration such as \"250ms\", \"5s\" or \"1h30m\" (units w, d, h, m, s, ms)",
    );
    check_group(
        "max_poll_interval = \"0ms\"",
        "s.toml:7:21: groups[0].max_poll_interval: found \"0ms\"; expected a duration from 1ms to 3w3d20h31m23s647ms",
    );
    check_group("assignor = \"\"", "s.toml:7:12: groups[0].assignor: found \"\"; expected the name of an assignor");
    check_group(
        "assignor = \"sticky\"",
        "s.toml:7:12: groups[0].assignor: found \"sticky\"; expected an assignor that the coordinator has: \"uniform\" or \"range\"",
    );
    check_group("membrs = 3", "s.toml:7:1: groups[0].membrs: is not a field here; did you mean \"members\"?");
    check_subscribe("[]", "s.toml:6:13: groups[0].subscribe: found an empty list; expected at least one topic");
    check_subscribe("[\"\"]", "s.toml:6:14: groups[0].subscribe[0]: found \"\"; expected a text");
    check_subscribe(
        "5",
        "s.toml:6:13: groups[0].subscribe: found 5; expected a list of topics, or a table such as { from = \"orders-{n}\", count = 5 }",
    );
    check_subscribe(
        "{ count = 1 }",
        "s.toml:6:13: groups[0].subscribe.from: is missing; expected the name of a population of topics as it is written there",
    );
    check_subscribe(
        "{ from = \"t-{m}\" }",
        "s.toml:6:22: groups[0].subscribe.from: there is no population of topics named \"t-{m}\"; did you mean \"t-{n}\"?",
    );
    check_subscribe(
        "{ from = \"orders\" }",
        "s.toml:6:22: groups[0].subscribe.from: there is no population of topics named \"orders\"; expected one of t-{n}",
    );
    check_subscribe(
        "{ from = \"t-{n}\", count = 11 }",
        "s.toml:6:39: groups[0].subscribe.count: found 11; expected an integer from 1 to 10",
    );
    check_subscribe(
        "{ from = \"t-{n}\", popularity = \"pareto\" }",
        "s.toml:6:44: groups[0].subscribe.popularity: found \"pareto\"; expected \"uniform\", or \"zipf\" with an exponent from 0 to 10 such as \"zipf 1.0\"",
    );
    check_subscribe(
        "{ from = \"t-{n}\", popularity = \"zipf -1\" }",
        "s.toml:6:44: groups[0].subscribe.popularity: found \"zipf -1\"; expected \"uniform\", or \"zipf\" with an exponent from 0 to 10 such as \"zipf 1.0\"",
    );
    check_subscribe(
        "{ from = \"t-{n}\", popularity = \"zipf 11\" }",
        "s.toml:6:44: groups[0].subscribe.popularity: found \"zipf 11\"; expected \"uniform\", or \"zipf\" with an exponent from 0 to 10 such as \"zipf 1.0\"",
    );
    check_in(
        "groups",
        "name = \"g-5\"\nmembers = 1\nsubscribe = [\"a\"]",
        "s.toml:10:1: groups[1].name: makes the name \"g-5\", as \"g-5\" does; expected names of its own",
    );
    check(
        "duration = \"1s\"\n[[groups]]\nname = \"g\"\nmembers = 1\nsubscribe = { from = \"t\" }\n",
        &[
            "s.toml:5:22: groups[0].subscribe.from: there is no population of topics named \"t\"; there is no [[topics]] table",
        ],
    );
}

#[test]
fn churn() {
    check_in(
        "churn",
        "rate = \"1/h\"",
        "s.toml:2:1: churn[0].kind: is missing; expected what happens, such as \"expand\"",
    );
    check_in(
        "churn",
        "kind = \"explode\"\nrate = \"1/h\"",
        "s.toml:4:8: churn[0].kind: found \"explode\"; expected one of \"create-topics\", \"expand\", \"delete-topics\", \"recreate\", \"reassign\", \"restart-broker\", \"crash-broker\", \"rolling-restart\", \"member-join\", \"member-leave\", \"member-crash\", \"redeploy\", \"subscription-change\"",
    );
    check_in(
        "churn",
        "kind = \"expnd\"\nrate = \"1/h\"",
        "s.toml:4:8: churn[0].kind: found \"expnd\"; expected one of \"create-topics\", \"expand\", \"delete-topics\", \"recreate\", \"reassign\", \"restart-broker\", \"crash-broker\", \"rolling-restart\", \"member-join\", \"member-leave\", \"member-crash\", \"redeploy\", \"subscription-change\"; did you mean \"expand\"?",
    );
    check_in(
        "churn",
        "kind = \"rolling-restart\"",
        "s.toml:2:1: churn[0].rate: is missing; expected a rate such as \"3/h\", \"10/d\" or \"1/90m\"",
    );
    check_in(
        "churn",
        "kind = \"rolling-restart\"\nrate = \"0/h\"",
        "s.toml:5:8: churn[0].rate: found \"0/h\"; expected a rate such as \"3/h\", \"10/d\" or \"1/90m\"",
    );
    check_in(
        "churn",
        "kind = \"rolling-restart\"\nrate = \"1/h\"\ntopics = \"t-{n}\"",
        "s.toml:6:1: churn[0].topics: is not a field here; expected one of catch_up, down, from, kind, pause, racks, rate, until",
    );
    check_in(
        "churn",
        "kind = \"rolling-restart\"\nrate = \"1/h\"\nfrom = \"2m\"\nuntil = \"1m\"",
        "s.toml:7:9: churn[0].until: found \"1m\"; expected a time after from",
    );
    check_in(
        "churn",
        "kind = \"expand\"\nrate = \"1/h\"",
        "s.toml:2:1: churn[0].topics: is missing; expected the name of a population of topics as it is written there",
    );
    check_in(
        "churn",
        "kind = \"expand\"\nrate = \"1/h\"\ntopics = \"u-{n}\"",
        "s.toml:6:10: churn[0].topics: there is no population of topics named \"u-{n}\"; did you mean \"t-{n}\"?",
    );
    check_in(
        "churn",
        "kind = \"redeploy\"\nrate = \"1/h\"\ngroups = \"g\"",
        "s.toml:6:10: churn[0].groups: there is no population of groups named \"g\"; expected one of g-{n}",
    );
    check_in(
        "churn",
        "kind = \"member-leave\"\nrate = \"1/h\"\ngroups = \"g-{n}\"\nback_after = \"0s\"",
        "s.toml:7:14: churn[0].back_after: found \"0s\"; expected a duration from 1ms to 521w3d",
    );
    check_in(
        "churn",
        "kind = \"restart-broker\"\nrate = \"1/h\"\nbrokers = [0]",
        "s.toml:6:12: churn[0].brokers[0]: found 0; expected an integer from 1 to 3",
    );
    check(
        "duration = \"1s\"\n[[topics]]\nname = \"t\"\n[[groups]]\nname = \"g\"\nmembers = 1\nsubscribe = [\"t\"]\n\
         [[churn]]\nkind = \"create-topics\"\nrate = \"1/h\"\ntopics = \"t\"\n\
         [[churn]]\nkind = \"subscription-change\"\nrate = \"1/h\"\ngroups = \"g\"\n",
        &[
            "s.toml:8:1: churn[0].topics: \"t\" has no {n} for the number of a new topic",
            "s.toml:12:1: churn[1].groups: names its topics; expected groups that draw them (subscribe = { from = … }), to draw another",
        ],
    );
}

#[test]
fn events() {
    check_in(
        "events",
        "kind = \"elect-leaders\"",
        "s.toml:2:1: events[0].at: is missing; expected when, a duration from the start such as \"10m\"",
    );
    check_in(
        "events",
        "kind = \"elect-leaders\"\nat = \"2h\"",
        "s.toml:5:6: events[0].at: found \"2h\"; expected a duration from 0ms to 1h",
    );
    check_in(
        "events",
        "kind = \"elect\"\nat = \"1m\"",
        "s.toml:4:8: events[0].kind: found \"elect\"; expected one of \"create-topics\", \"expand\", \"delete-topics\", \"recreate\", \"reassign\", \"restart-broker\", \"crash-broker\", \"rolling-restart\", \"member-join\", \"member-leave\", \"member-crash\", \"redeploy\", \"subscription-change\", \"elect-leaders\", \"member-stop\"",
    );
    check_in(
        "events",
        "kind = \"expand\"\nat = \"1m\"\ntopic = \"t-1\"",
        "s.toml:2:1: events[0].partitions: is missing; expected how many partitions it has then",
    );
    check_in(
        "events",
        "kind = \"expand\"\nat = \"1m\"\ntopic = \"t-1\"\npartitions = 1",
        "s.toml:7:14: events[0].partitions: found 1; expected an integer from 2 to 100000",
    );
    check_in(
        "events",
        "kind = \"delete-topics\"\nat = \"1m\"\ntopics = []",
        "s.toml:6:10: events[0].topics: found an empty list; expected a list of topics' names",
    );
    check_in(
        "events",
        "kind = \"create-topics\"\nat = \"1m\"\ntopics = [\"a/b\"]",
        "s.toml:6:11: events[0].topics[0]: found \"a/b\"; expected a topic's name: 1 to 249 letters, digits, \".\", \"_\" or \"-\", not \".\" or \"..\"",
    );
    check_in(
        "events",
        "kind = \"recreate\"\nat = \"1m\"",
        "s.toml:2:1: events[0].topic: is missing; expected a topic's name",
    );
    check_in(
        "events",
        "kind = \"reassign\"\nat = \"1m\"\ntopic = \"t-1\"",
        "s.toml:2:1: events[0].replicas: is missing; expected the brokers that it moves to, such as [1, 2]",
    );
    check_in(
        "events",
        "kind = \"reassign\"\nat = \"1m\"\ntopic = \"t-1\"\nreplicas = [4]",
        "s.toml:7:13: events[0].replicas[0]: found 4; expected an integer from 1 to 3",
    );
    check_in(
        "events",
        "kind = \"restart-broker\"\nat = \"1m\"",
        "s.toml:2:1: events[0].broker: is missing; expected a broker's id",
    );
    check_in(
        "events",
        "kind = \"restart-broker\"\nat = \"1m\"\nbroker = 1\nrack = \"a\"\nwithout_rack = true",
        "s.toml:7:8: events[0].rack: the broker cannot have a rack and none; expected either rack or without_rack",
    );
    check_in(
        "events",
        "kind = \"member-leave\"\nat = \"1m\"\ngroup = \"g-1\"",
        "s.toml:2:1: events[0].member: is missing; expected the member's name, such as \"m1\" for the first of its group",
    );
    check_in(
        "events",
        "kind = \"member-leave\"\nat = \"1m\"\ngroup = \"g-6\"\nmember = \"m1\"",
        "s.toml:6:9: events[0].group: there is no group \"g-6\"; expected one that [[groups]] makes",
    );
    check_in(
        "events",
        "kind = \"subscription-change\"\nat = \"1m\"\ngroup = \"g-1\"",
        "s.toml:2:1: events[0].topics: is missing; expected a list of topics",
    );
    check_in(
        "events",
        "kind = \"subscription-change\"\nat = \"1m\"\ngroup = \"g-1\"\ntopics = []",
        "s.toml:7:10: events[0].topics: found an empty list; expected at least one topic",
    );
    check_in(
        "events",
        "kind = \"member-join\"\nat = \"1m\"\ngroup = \"g-1\"\nmember = \"\"",
        "s.toml:7:10: events[0].member: found \"\"; expected the member's name, such as \"m1\" for the first of its group",
    );
}

#[test]
fn assignors_are_those_that_the_coordinator_has() {
    let group = "[[groups]]\nname = \"g\"\nmembers = 1\nsubscribe = [\"t\"]\nassignor = \"uniform\"\n";
    let with = |list: &str| format!("duration = \"1h\"\nconfig.\"group.consumer.assignors\" = {list}\n{group}");
    let only_range =
        "s.toml:7:12: groups[0].assignor: found \"uniform\"; expected an assignor that the coordinator has: \"range\"";
    check(&with("[\"range\"]"), &[only_range]);
    check(&with("\"org.apache.kafka.coordinator.group.assignor.RangeAssignor\""), &[only_range]);
    check(&with("\"range, uniform\""), &[]);
    check(&with("[\"org.apache.kafka.coordinator.group.assignor.UniformAssignor\"]"), &[]);
    check(&with("5"), &["s.toml:2:37: config.\"group.consumer.assignors\": found 5; expected a list of assignors"]);
}

#[test]
fn kinds_of_groups_have_their_own_fields() {
    let group =
        |text: &str| format!("duration = \"1h\"\n[[groups]]\nname = \"g\"\nmembers = 1\nsubscribe = [\"t\"]\n{text}");
    check(&group("kind = \"share\"\nrack_aware = true"), &[]);
    check(
        &group("kind = \"shared\""),
        &[
            "s.toml:6:8: groups[0].kind: found \"shared\"; expected one of \"consumer\", \"share\", \"streams\"; did you mean \"share\"?",
        ],
    );
    check(
        &group("kind = \"share\"\nassignor = \"range\""),
        &[
            "s.toml:7:1: groups[0].assignor: is not a field here; expected one of client_id, count, join_over, kind, members, \
           name, rack_aware, start, subscribe",
        ],
    );
    check(
        &group("threads = 2"),
        &[
            "s.toml:6:1: groups[0].threads: is not a field here; expected one of assignor, client_id, count, join_over, kind, \
           max_poll_interval, members, name, rack_aware, revocation, start, static, subscribe",
        ],
    );
    let streams = |text: &str| group(&format!("kind = \"streams\"\n{text}"));
    check(&streams("threads = 2\n[[groups.subtopologies]]\nstores = 3\n[[groups.subtopologies]]\npartitions = 6"), &[]);
    check(
        &streams("subtopologies = [{ reads = \"repartition\" }]"),
        &[
            "s.toml:7:28: groups[0].subtopologies[0].reads: no subtopology before this one could write it; expected \"sources\"",
        ],
    );
    check(
        &streams("subtopologies = [{ partitions = 6 }]"),
        &["s.toml:7:20: groups[0].subtopologies[0].partitions: is not a field here; expected one of reads, stores"],
    );
    check(
        &streams("static = true"),
        &[
            "s.toml:7:1: groups[0].static: is not a field here; expected one of client_id, count, internal_topics_after, \
           join_over, kind, max_poll_interval, members, name, rack_aware, revocation, start, subscribe, subtopologies, threads",
        ],
    );
    check(
        &streams("").replace("\"g\"", "\"größe\""),
        &[
            "s.toml:3:8: groups[0].name: found \"größe\"; expected a name that topics' names can begin with: at most 200 \
           letters, digits, \".\", \"_\" or \"-\"",
        ],
    );
    let change = "[[events]]\nat = \"1m\"\nkind = \"subscription-change\"\ngroup = \"g\"\ntopics = [\"u\"]";
    check(
        &streams(change),
        &[
            "s.toml:10:9: events[0].group: is a streams group, whose topology stays what it is (Kafka refuses another one); \
           expected another group",
        ],
    );
    let joins = "[[events]]\nat = \"1m\"\nkind = \"member-join\"\ngroup = \"g\"\nmember = \"m2\"\ninstance = \"i\"";
    check(
        &group(&format!("kind = \"share\"\n{joins}")),
        &["s.toml:12:12: events[0].instance: members of share groups are not static here; expected no instance"],
    );
}
