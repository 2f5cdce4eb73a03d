//! Random traces: the same for ever, readable, and with everything in them.

use super::*;
use crate::cluster::{Change, HistoryBuilder};
use crate::trace::{ConsumerBody, GroupKind, HeartbeatBody, Owned, StreamsBody, Subtopology};
use std::collections::{BTreeMap, BTreeSet};

const BOTH: [GeneratorOptions; 2] = [
    GeneratorOptions { events_min: 100, events_max: 600, replayable_by_3_9: true, kinds: Kinds::CONSUMER },
    GeneratorOptions { events_min: 100, events_max: 600, replayable_by_3_9: false, kinds: Kinds::CONSUMER },
];

/// Of all kinds; such traces need Kafka 4.1.
fn all_kinds() -> GeneratorOptions {
    let kinds = "all".parse().expect("all kinds");
    GeneratorOptions { replayable_by_3_9: false, kinds, ..GeneratorOptions::default() }
}

#[test]
fn a_seed_names_a_trace() {
    for options in BOTH.iter().chain([&all_kinds()]) {
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
    for options in BOTH.iter().chain([&all_kinds()]) {
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
    let epoch = match heartbeat.epoch {
        EpochSpec::Last => "last",
        EpochSpec::Number(0) => "join",
        EpochSpec::Number(-1) => "leave",
        EpochSpec::Number(-2) => "static leave",
        EpochSpec::Number(i32::MAX | ..-2) => "odd number",
        EpochSpec::Number(_) => "number",
    };
    let mut kinds = vec![epoch];
    match &heartbeat.body {
        HeartbeatBody::Consumer(body) => kinds.extend(consumer_kinds(body)),
        HeartbeatBody::Share(topics) => kinds.extend(share_kinds(topics.as_ref())),
        HeartbeatBody::Streams(body) => kinds.extend(streams_kinds(body, heartbeat.joins())),
    }
    kinds.extend(those([
        (heartbeat.rack.is_some(), "rack"),
        (heartbeat.rack.as_deref() == Some(""), "empty rack"),
        (heartbeat.group.is_empty(), "empty group"),
        (heartbeat.member.is_empty(), "empty member"),
        (heartbeat.client_host.is_some(), "host"),
        (heartbeat.write_fails, "failed write"),
    ]));
    kinds
}

fn those<const N: usize>(all: [(bool, &'static str); N]) -> impl Iterator<Item = &'static str> {
    all.into_iter().filter_map(|(is, kind)| is.then_some(kind))
}

fn consumer_kinds(body: &ConsumerBody) -> Vec<&'static str> {
    let owned = match &body.owned {
        Owned::Absent => "owned absent",
        Owned::Last => "owned last",
        Owned::List(_) => "owned list",
    };
    let twice = |topics: &Vec<String>| (1..topics.len()).any(|at| topics[..at].contains(&topics[at]));
    let mut kinds = vec![owned];
    kinds.extend(those([
        (body.regex.is_some(), "regex"),
        (body.regex.as_deref() == Some("("), "bad regex"),
        (body.topics.as_ref().is_some_and(Vec::is_empty), "empty topics"),
        (body.topics.as_ref().is_some_and(twice), "duplicate topics"),
        (body.assignor.is_some(), "assignor"),
        (body.instance.is_some(), "instance"),
        (body.rebalance_timeout_ms == Some(-1), "no timeout"),
    ]));
    kinds
}

fn share_kinds(topics: Option<&Vec<String>>) -> Vec<&'static str> {
    vec![match topics {
        None => "share",
        Some(topics) if topics.is_empty() => "share empty topics",
        Some(_) => "share topics",
    }]
}

fn streams_kinds(body: &StreamsBody, joins: bool) -> Vec<&'static str> {
    let subtopologies = body.topology.iter().flat_map(|topology| &topology.subtopologies);
    let any = |has: fn(&Subtopology) -> bool| subtopologies.clone().any(has);
    those([
        (body.topology.is_some() && !joins, "topology of no join"),
        (joins && body.topology.is_none(), "no topology"),
        (subtopologies.clone().count() > 1, "several subtopologies"),
        (any(|s| s.state_changelogs.as_ref().is_some_and(|list| !list.is_empty())), "changelog"),
        (any(|s| s.repartition_sources.as_ref().is_some_and(|list| !list.is_empty())), "repartition"),
        (any(|s| s.sources.as_ref().is_none_or(Vec::is_empty)), "no source"),
        (any(|s| s.repartition_sources.iter().flatten().any(|info| info.partitions > Some(0))), "fixed partitions"),
        (body.process_id.is_some(), "process"),
        (body.instance.is_some(), "streams instance"),
        (body.active == Owned::Last, "active last"),
        (body.active == Owned::Absent && !joins, "active absent"),
        (matches!(&body.active, Owned::List(list) if !list.is_empty()), "active list"),
        (matches!(&body.standby, Owned::List(list) if !list.is_empty()), "standby list"),
        (matches!(&body.warmup, Owned::List(list) if !list.is_empty()), "warmup list"),
        ((body.active == Owned::Absent) != (body.standby == Owned::Absent), "some lists absent"),
    ])
    .collect()
}

/// What is in how many of 200 traces of all kinds.
#[test]
fn all_kinds_have_everything() {
    let options = all_kinds();
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut alone, mut mixed, mut one_name) = ([0; 3], 0, 0);
    for seed in 0..200 {
        let trace = generate(seed, &options);
        let mut kinds: Vec<&str> = trace.events.iter().flat_map(kinds).collect();
        kinds.sort_unstable();
        kinds.dedup();
        kinds.into_iter().for_each(|kind| *seen.entry(kind).or_default() += 1);
        let groups: BTreeSet<(GroupKind, &str)> = trace
            .events
            .iter()
            .filter_map(|event| match &event.kind {
                EventKind::Heartbeat(heartbeat) => Some((heartbeat.kind(), heartbeat.group.as_str())),
                _ => None,
            })
            .filter(|(_, name)| !["", "nobody's"].contains(name))
            .collect();
        let kinds: BTreeSet<GroupKind> = groups.iter().map(|(kind, _)| *kind).collect();
        let names: BTreeSet<&str> = groups.iter().map(|(_, name)| *name).collect();
        match kinds.first() {
            Some(kind) if kinds.len() == 1 => alone[*kind as usize] += 1,
            _ => mixed += 1,
        }
        one_name += usize::from(names.len() < groups.len());
    }
    assert!(alone.iter().all(|traces| *traces >= 15) && mixed >= 60 && one_name >= 8, "{alone:?} {mixed} {one_name}");
    for kind in [
        "share",
        "share topics",
        "share empty topics",
        "topology of no join",
        "no topology",
        "several subtopologies",
        "changelog",
        "repartition",
        "no source",
        "fixed partitions",
        "process",
        "streams instance",
        "active last",
        "active absent",
        "active list",
        "standby list",
        "warmup list",
        "some lists absent",
        "regex",
        "failover",
        "failed write",
        "static leave",
        "empty member",
    ] {
        let traces = seen.get(kind).copied().unwrap_or(0);
        assert!(traces >= 8, "{kind} is in {traces} of 200 traces");
    }
}
