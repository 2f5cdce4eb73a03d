//! Random traces: the same for ever, readable, and with everything in them.

use super::*;
use crate::cluster::{Change, HistoryBuilder};
use crate::trace::{HeartbeatBody, Owned};
use std::collections::BTreeMap;

const BOTH: [GeneratorOptions; 2] = [
    GeneratorOptions { events_min: 100, events_max: 600, replayable_by_3_9: true, kinds: Kinds::CONSUMER },
    GeneratorOptions { events_min: 100, events_max: 600, replayable_by_3_9: false, kinds: Kinds::CONSUMER },
];

#[test]
fn a_seed_names_a_trace() {
    for options in &BOTH {
        assert_eq!(generate(11, options), generate(11, options));
        assert_ne!(generate(11, options).events, generate(12, options).events);
    }
    // A change of the generator gives every seed another trace, and makes known seeds worthless: it must be meant.
    let hash =
        |text: &str| text.bytes().fold(0u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    let hashes =
        BOTH.map(|options| (0..50).map(|seed| hash(&generate(seed, &options).write())).fold(0, u64::wrapping_add));
    assert_eq!(hashes, [8718045814305140390, 6930628425088336140]);
}

#[test]
fn every_trace_can_be_read_and_its_images_published() {
    for options in &BOTH {
        for seed in 0..60 {
            let trace = generate(seed, options);
            assert!((100..=600).contains(&trace.events.len()), "seed {seed}");
            assert_eq!(Trace::parse("x", &trace.write()).as_ref(), Ok(&trace), "seed {seed}");
            let mut history = HistoryBuilder::new();
            for event in &trace.events {
                if let EventKind::Metadata(changes) = &event.kind {
                    let published = history.publish(event.t_ms, "", changes);
                    assert!(published.is_ok(), "seed {seed}, line {}: {published:?}", event.line);
                }
            }
            let needs = trace.requires();
            assert!(!options.replayable_by_3_9 || needs == super::super::Requirements::default(), "seed {seed}");
        }
    }
}

/// What kinds of events, heartbeats and changes there are, and how many of 400 traces have each.
#[test]
fn everything_is_in_some_traces_and_not_in_all() {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..200 {
        for options in &BOTH {
            let mut kinds: Vec<&str> = generate(seed, options).events.iter().flat_map(kinds).collect();
            kinds.sort_unstable();
            kinds.dedup();
            kinds.into_iter().for_each(|kind| *seen.entry(kind).or_default() += 1);
        }
    }
    for kind in [
        "failover",
        "tick",
        "empty image",
        "several changes",
        "register",
        "unregister",
        "create",
        "grow",
        "touch",
        "isr",
        "move",
        "delete",
        "join",
        "leave",
        "static leave",
        "last",
        "number",
        "odd number",
        "regex",
        "bad regex",
        "empty topics",
        "duplicate topics",
        "assignor",
        "owned last",
        "owned list",
        "owned absent",
        "rack",
        "empty rack",
        "empty group",
        "empty member",
        "no timeout",
        "host",
        "failed write",
        "instance",
    ] {
        let traces = seen.get(kind).copied().unwrap_or(0);
        assert!(traces >= 8, "{kind} is in {traces} of 400 traces");
    }
    for kind in ["failover", "regex", "failed write", "static leave", "unregister", "odd number", "host"] {
        assert!(seen[kind] <= 360, "{kind} is in {} of 400 traces", seen[kind]);
    }
}

fn kinds(event: &Event) -> Vec<&'static str> {
    match &event.kind {
        EventKind::Tick => vec!["tick"],
        EventKind::Failover => vec!["failover"],
        EventKind::Metadata(changes) => {
            let mut kinds: Vec<&str> = changes.iter().map(change_kind).collect();
            match changes.len() {
                0 => kinds.push("empty image"),
                1 => {}
                _ => kinds.push("several changes"),
            }
            kinds
        }
        EventKind::Heartbeat(heartbeat) => heartbeat_kinds(heartbeat),
    }
}

fn change_kind(change: &Change) -> &'static str {
    match change {
        Change::RegisterBroker { .. } => "register",
        Change::UnregisterBroker { .. } => "unregister",
        Change::FenceBroker { .. } => "fence",
        Change::CreateTopic { .. } => "create",
        Change::AddPartitions { .. } => "grow",
        Change::ChangePartition { replicas: Some(_), .. } => "move",
        Change::ChangePartition { isr: Some(_), .. } => "isr",
        Change::ChangePartition { .. } => "touch",
        Change::DeleteTopic { .. } => "delete",
    }
}

fn heartbeat_kinds(heartbeat: &Heartbeat) -> Vec<&'static str> {
    let HeartbeatBody::Consumer(body) = &heartbeat.body else { panic!("{heartbeat:?}") };
    let epoch = match heartbeat.epoch {
        EpochSpec::Last => "last",
        EpochSpec::Number(0) => "join",
        EpochSpec::Number(-1) => "leave",
        EpochSpec::Number(-2) => "static leave",
        EpochSpec::Number(i32::MAX | ..-2) => "odd number",
        EpochSpec::Number(_) => "number",
    };
    let owned = match &body.owned {
        Owned::Absent => "owned absent",
        Owned::Last => "owned last",
        Owned::List(_) => "owned list",
    };
    let twice = |topics: &Vec<String>| (1..topics.len()).any(|at| topics[..at].contains(&topics[at]));
    let mut kinds = vec![epoch, owned];
    kinds.extend(
        [
            (body.regex.is_some(), "regex"),
            (body.regex.as_deref() == Some("("), "bad regex"),
            (body.topics.as_ref().is_some_and(Vec::is_empty), "empty topics"),
            (body.topics.as_ref().is_some_and(twice), "duplicate topics"),
            (body.assignor.is_some(), "assignor"),
            (body.instance.is_some(), "instance"),
            (body.rebalance_timeout_ms == Some(-1), "no timeout"),
            (heartbeat.rack.is_some(), "rack"),
            (heartbeat.rack.as_deref() == Some(""), "empty rack"),
            (heartbeat.group.is_empty(), "empty group"),
            (heartbeat.member.is_empty(), "empty member"),
            (heartbeat.client_host.is_some(), "host"),
            (heartbeat.write_fails, "failed write"),
        ]
        .into_iter()
        .filter_map(|(is, kind)| is.then_some(kind)),
    );
    kinds
}
