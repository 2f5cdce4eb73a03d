//! Counting idle heartbeats makes no difference: random scenarios, run both ways.

use super::world::World;
use super::*;
use crate::cluster::HistoryBuilder;
use crate::coordinator::{Config, KafkaVersion};
use crate::cost::Operation;
use crate::disk::{LoadModel, LogSettings};
use crate::kernel::TimeMs;
use crate::kernel::random::{Stream, Streams};
use crate::scenario::Scenario;
use crate::workload;
use std::fmt::Write;

/// A random scenario: small groups of all kinds, whose heartbeats often meet at one time, and all that can happen to them.
fn scenario_text(stream: &mut Stream, kafka: KafkaVersion) -> String {
    let mut text = String::from("name = \"random\"\nseed = 1\nduration = \"6m\"\ntimeline = \"7s\"\n");
    let _ = write!(text, "[strategies.shared]\ncovers = \"rack-list\"\nstores = \"hash\"\nmemo = \"broker\"\n");
    let _ = write!(text, "forgets = \"topic-or-broker\"\n[log]\n{}", pick(stream, &["", "commit_interval = \"3s\"\n"]));
    let _ = write!(
        text,
        "[cluster]\nbrokers = 3\nracks = [\"a\", \"b\", \"c\"]\n[cluster.offsets]\npartitions = {}\nreplication = {}\n",
        stream.between(1, 3),
        stream.between(1, 2)
    );
    let _ = write!(text, "[[topics]]\nname = \"t-{{n}}\"\ncount = 4\npartitions = [1, 3]\nreplication = 2\n");
    let kinds: &[&str] =
        if kafka.behaviour().share_and_streams { &["consumer", "share", "streams"] } else { &["consumer"] };
    for kind in kinds {
        let _ = write!(
            text,
            "[[groups]]\nkind = \"{kind}\"\nname = \"{kind}-{{n}}\"\ncount = {}\nmembers = [1, {}]\nrack_aware = {}\n\
             subscribe = {{ from = \"t-{{n}}\", count = [1, 2] }}\njoin_over = \"{}s\"\n",
            stream.between(1, 3),
            stream.between(2, 5),
            pick(stream, &["true", "false"]),
            stream.between(1, 9),
        );
        match *kind {
            "consumer" => {
                let revocation = pick(stream, &["0ms", "700ms"]);
                let _ = write!(text, "static = {}\nrevocation = \"{revocation}\"\n", pick(stream, &["true", "false"]));
            }
            "streams" => text.push_str("[[groups.subtopologies]]\nstores = 1\n"),
            _ => {}
        }
    }
    let _ = write!(text, "[[groups]]\nname = \"early\"\nmembers = 2\nsubscribe = [\"t-1\", \"later\"]\n");
    // Never two brokers at a time.
    for slot in 0..stream.between(3, 5) {
        let (at_s, topic, broker) = (10 + 70 * slot + stream.between(0, 9), stream.between(1, 4), stream.between(1, 3));
        let event = match stream.below(7) {
            0 => format!("kind = \"expand\"\ntopic = \"t-{topic}\"\npartitions = {}", 4 + at_s / 10),
            1 => format!("kind = \"recreate\"\ntopic = \"t-{topic}\"\ngap = \"{}ms\"", stream.between(0, 9_000)),
            2 => format!("kind = \"restart-broker\"\nbroker = {broker}\nrack = \"d\"\ndown = \"8s\""),
            3 => format!("kind = \"crash-broker\"\nbroker = {broker}\ndown = \"12s\""),
            4 => "kind = \"rolling-restart\"\npause = \"4s\"\ndown = \"6s\"".to_owned(),
            5 => "kind = \"redeploy\"\ngroup = \"consumer-1\"".to_owned(),
            _ => "kind = \"subscription-change\"\ngroup = \"early\"\ntopics = [\"later\"]".to_owned(),
        };
        let _ = write!(text, "[[events]]\nat = \"{at_s}s\"\n{event}\n");
    }
    text.push_str(
        "[[events]]\nat = \"45s\"\nkind = \"create-topics\"\ntopics = [\"later\"]\npartitions = 3\nreplication = 2\n",
    );
    for kind in kinds {
        for churn in ["member-crash", "member-leave"] {
            let _ = write!(text, "[[churn]]\nkind = \"{churn}\"\ngroups = \"{kind}-{{n}}\"\nrate = \"20/h\"\n");
            let _ = writeln!(text, "back_after = \"{}s\"", stream.between(1, 40));
        }
    }
    text.push_str("[[churn]]\nkind = \"reassign\"\ntopics = \"t-{n}\"\nrate = \"60/h\"\ncopy = \"5s\"\n");
    text
}

fn pick<'a>(stream: &mut Stream, values: &[&'a str]) -> &'a str {
    stream.choose(values).copied().unwrap_or_default()
}

/// Short intervals, of which sessions are small multiples.
fn config(stream: &mut Stream, kafka: KafkaVersion) -> Config {
    let behaviour = kafka.behaviour();
    let kinds: &[&str] = if behaviour.share_and_streams { &["consumer", "share", "streams"] } else { &["consumer"] };
    let mut settings: Vec<(String, String)> = Vec::new();
    for kind in kinds {
        let interval_ms = 500 * stream.between(1, 10);
        let session_ms = interval_ms * stream.between(2, 5);
        for (name, value) in [
            ("heartbeat.interval.ms", interval_ms),
            ("min.heartbeat.interval.ms", 500),
            ("session.timeout.ms", session_ms),
            ("min.session.timeout.ms", 1_000),
        ] {
            settings.push((format!("group.{kind}.{name}"), value.to_string()));
        }
    }
    let settings = settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    Config::new(&behaviour, settings).expect("right settings")
}

/// Heartbeats in all and those that were processed.
struct Counts {
    all: u64,
    processed: u64,
}

fn run(subject: &Subject, strategies: &[Strategy]) -> (Vec<Totals>, Counts) {
    let totals = simulate_watched(subject, strategies, &Watch::Digests, &|| ());
    let shards = subject.shards();
    let mut counts = Counts { all: 0, processed: 0 };
    for strategy in strategies {
        for groups in shards.chunks(world_size(strategy.design, shards.len())) {
            let mut world = World::new(subject, strategy.design, groups);
            world.run_until_end();
            counts.processed += world.processed;
        }
    }
    counts.all = totals.iter().map(|totals| totals.count(Operation::Heartbeat)).sum();
    (totals, counts)
}

fn check(seed: u64) -> Counts {
    let stream = &mut Streams::new(seed).stream("test", 0, "parking");
    let versions =
        [KafkaVersion::V3_9_1, KafkaVersion::V4_0_0, KafkaVersion::V4_1_1, KafkaVersion::V4_3_1, KafkaVersion::V4_4_0];
    let kafka = *stream.choose(&versions).expect("some");
    let text = scenario_text(stream, kafka);
    let scenario = Scenario::parse("random.toml", &text).unwrap_or_else(|errors| panic!("{errors:?} in\n{text}"));
    let workload = workload::generate_into(HistoryBuilder::new(), &scenario, seed, None);
    let workload = workload.unwrap_or_else(|errors| panic!("{errors:?} in\n{text}"));
    let end_ms: TimeMs = stream.between(60_000, 360_000);
    let idle = Subject {
        history: &workload.history,
        fleet: &workload.fleet,
        kafka,
        config: config(stream, kafka),
        append_linger_ms: None,
        // So little that some writes fail.
        max_message_bytes: *stream.choose(&[1_048_588, 1_048_588, 1_200, 600]).expect("some"),
        log: LogOptions {
            settings: LogSettings { segment_bytes: 20_000, ..LogSettings::default() },
            commit_interval_ms: scenario.log.commit_interval_ms,
            loading: LoadModel { bytes_per_second: 1_000_000, record_ns: 1_000 },
        },
        start_unix_ms: workload.start_unix_ms,
        end_ms,
        timeline_ms: scenario.timeline_ms,
        threads: 4,
        waiting: None,
        every_heartbeat: false,
        does_work: false,
    };
    let mut strategies = scenario.strategies.clone();
    strategies
        .extend(["full-map", "count-map", "cached-hash", "ideal"].map(|name| Strategy::preset(name).expect("one")));
    let (counted, counts) = run(&idle, &strategies);
    let every = Subject { every_heartbeat: true, config: idle.config.clone(), log: idle.log.clone(), ..idle };
    let (processed, of_every) = run(&every, &strategies);
    assert_eq!(of_every.all, of_every.processed);
    for ((strategy, counted), processed) in strategies.iter().zip(&counted).zip(&processed) {
        let name = &strategy.name;
        assert_eq!(counted.counts, processed.counts, "seed {seed}, {name}, Kafka {}\n{text}", kafka.name());
        assert_eq!(counted.bumps, processed.bumps, "seed {seed}, {name}, Kafka {}\n{text}", kafka.name());
        assert!(
            counted == processed,
            "seed {seed}, {name}, Kafka {}:\n{counted:?}\n{processed:?}\n{text}",
            kafka.name()
        );
    }
    counts
}

/// Checks so many seeds; most of their heartbeats are idle.
fn check_seeds(seeds: std::ops::Range<u64>) {
    let mut sum = Counts { all: 0, processed: 0 };
    for seed in seeds {
        let counts = check(seed);
        sum.all += counts.all;
        sum.processed += counts.processed;
    }
    assert!(sum.processed * 2 < sum.all, "{} of {} heartbeats were processed", sum.processed, sum.all);
}

#[test]
fn counted_heartbeats_are_as_good_as_processed_ones() {
    check_seeds(0..16);
}

#[test]
#[ignore = "the same at length, which takes minutes"]
fn counted_heartbeats_are_as_good_at_length() {
    check_seeds(100..500);
}
