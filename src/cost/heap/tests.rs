//! What JOL 0.17 measures of real Kafka on Java 17 (`conformance/replay VERSION --heap TRACE`), with and without compressed
//! references.

use super::{Bytes, Class, Component, Count, Heap};
use crate::coordinator::KafkaVersion;
use crate::strategy::Strategy;
use crate::trace::Trace;
use crate::trace::replay::Replayer;
use std::fmt::Write;

fn heap(trace: &str, version: &str, strategy: &str) -> Heap {
    let trace = Trace::parse("trace", trace).expect("a trace");
    let version: KafkaVersion = version.parse().expect("a version");
    let design = Strategy::preset(strategy).expect("a preset").design;
    Replayer::new(&trace, version, design).expect("it can be replayed").heap()
}

/// Component, objects, bytes with compressed references, bytes without.
type Line = (&'static str, u64, u64, u64);

fn lines(heap: &Heap) -> Vec<Line> {
    let compared = |component: &Component| !matches!(component, Component::Buffer | Component::SnapshotRegistry);
    let line = |component: Component| {
        let Count { objects, bytes: Bytes { compressed, plain } } = heap.component(component);
        (component.name(), objects, compressed, plain)
    };
    let mut lines: Vec<Line> =
        Component::ALL.into_iter().filter(compared).map(line).filter(|(_, objects, ..)| *objects > 0).collect();
    lines.sort_unstable();
    lines
}

macro_rules! golden {
    ($name:literal) => {
        include_str!(concat!("../../../tests/golden/", $name, "/trace.jsonl"))
    };
}

#[test]
fn groups_of_kafka_3_9() {
    let expected = [
        ("current_assignment", 59, 2080, 3024),
        ("groups", 39, 1160, 1600),
        ("groups_by_topics", 14, 360, 480),
        ("members", 66, 2000, 2736),
        ("subscription_metadata", 51, 1960, 2880),
        ("subscriptions", 11, 296, 384),
        ("target_assignment", 89, 2728, 3864),
        ("timers", 38, 1232, 1576),
    ];
    assert_eq!(lines(&heap(golden!("20-stale-cache"), "3.9.1", "full-map")), expected);
}

/// Names of topics beyond Latin-1, which take two bytes a character.
#[test]
fn groups_of_kafka_4_0() {
    let expected = [
        ("current_assignment", 72, 2456, 3528),
        ("groups", 26, 784, 1088),
        ("groups_by_topics", 21, 544, 720),
        ("members", 56, 1648, 2200),
        ("subscription_metadata", 16, 432, 568),
        ("subscriptions", 26, 688, 864),
        ("target_assignment", 78, 2584, 3712),
        ("timers", 26, 944, 1200),
    ];
    assert_eq!(lines(&heap(golden!("15-unicode"), "4.0.0", "count-map")), expected);
}

#[test]
fn groups_of_kafka_4_1() {
    let expected = [
        ("current_assignment", 18, 648, 936),
        ("groups", 14, 416, 584),
        ("groups_by_topics", 6, 152, 200),
        ("members", 23, 688, 936),
        ("share_partitions", 2, 48, 64),
        ("subscription_metadata", 2, 48, 72),
        ("subscriptions", 8, 200, 256),
        ("target_assignment", 25, 776, 1120),
        ("timers", 14, 496, 664),
        ("topic_hash_cache", 4, 184, 272),
    ];
    assert_eq!(lines(&heap(golden!("06-reassignment"), "4.1.1", "cached-hash")), expected);
}

#[test]
fn groups_of_kafka_4_3() {
    let expected = [
        ("current_assignment", 65, 2336, 3408),
        ("groups", 42, 1256, 1792),
        ("groups_by_topics", 14, 360, 480),
        ("members", 66, 2000, 2736),
        ("share_partitions", 2, 48, 64),
        ("subscription_metadata", 6, 144, 216),
        ("subscriptions", 27, 680, 864),
        ("target_assignment", 89, 2728, 3864),
        ("timers", 38, 1248, 1608),
        ("topic_hash_cache", 6, 240, 336),
    ];
    assert_eq!(lines(&heap(golden!("20-stale-cache"), "4.3.1", "cached-hash")), expected);
}

/// A share group whose members have left, and the state of its share partitions.
#[test]
fn a_share_group() {
    let expected = [
        ("groups", 11, 312, 424),
        ("groups_by_topics", 2, 48, 64),
        ("members", 2, 48, 64),
        ("share_partitions", 24, 776, 1096),
        ("subscription_metadata", 1, 24, 32),
        ("subscriptions", 2, 48, 64),
        ("target_assignment", 4, 96, 128),
        ("timers", 2, 128, 208),
        ("topic_hash_cache", 2, 128, 208),
    ];
    assert_eq!(lines(&heap(golden!("18-share-group"), "4.1.1", "cached-hash")), expected);
}

/// One topic of 2,000 partitions, three replicas of each in three racks, and so many members.
fn kip_1101(members: usize) -> String {
    let mut trace = "{\"trace\":1,\"start_unix_ms\":1700000000000,\"config\":{}}\n".to_owned();
    let brokers = [(1, "a"), (2, "b"), (3, "c")]
        .map(|(id, rack)| format!("{{\"op\":\"broker\",\"id\":{id},\"rack\":\"{rack}\"}}"))
        .join(",");
    let replicas = vec!["[1,2,3]"; 2_000].join(",");
    let topic =
        format!("{{\"op\":\"topic\",\"name\":\"events\",\"id\":\"LS0tZm9vLXRvcGljLTAwMA\",\"replicas\":[{replicas}]}}");
    writeln!(trace, "{{\"t\":0,\"ev\":\"metadata\",\"changes\":[{brokers},{topic}]}}").expect("a text");
    for member in 1..=members {
        let heartbeat = format!("\"member\":\"m-{member}\",\"epoch\":0,\"topics\":[\"events\"]");
        let t = 10 * member;
        writeln!(trace, "{{\"t\":{t},\"ev\":\"heartbeat\",\"kind\":\"consumer\",\"group\":\"g\",{heartbeat}}}")
            .expect("a text");
    }
    trace
}

/// The 654,400 bytes of KAFKA-17578: the racks of a topic once they have been compared with newer ones. The map of topics
/// itself takes 112.
#[test]
fn racks_take_what_kafkas_people_measured() {
    let racks = |members| {
        let heap = heap(&kip_1101(members), "3.9.1", "full-map");
        heap.component(Component::SubscriptionMetadata).bytes.compressed - 112
    };
    assert_eq!(racks(1), 622_400);
    assert_eq!(racks(2), 654_400);
}

/// What has been given up, and is not in the member's target any more, has boxes of its own.
#[test]
fn partitions_are_boxed_once_for_target_and_assignment() {
    let boxes = |members| {
        let heap = heap(&kip_1101(members), "3.9.1", "full-map");
        [Component::TargetAssignment, Component::CurrentAssignment]
            .map(|component| heap.count(component, Class::Integer).objects)
    };
    assert_eq!(boxes(1), [1_872, 0]);
    assert_eq!(boxes(2), [1_872, 1_000]);
}

/// Strategies differ in their own part and in what a group has for it; the bound has none.
#[test]
fn what_strategies_add() {
    let own = |strategy| {
        let heap = heap(golden!("20-stale-cache"), "4.3.1", strategy);
        [Component::SubscriptionMetadata, Component::TopicHashCache].map(|part| heap.component(part).bytes.compressed)
    };
    assert_eq!(own("ideal"), [0, 0]);
    assert_eq!(own("recompute"), [144, 0]);
    assert_eq!(own("cached-hash"), [144, 240]);
    // As in 3.9.1.
    assert_eq!(own("full-map"), [1960, 0]);
    // Three groups with a map of two slots each; four topics with an entry and a `Long`, two of them in one slot.
    assert_eq!(own("stored-hash"), [3 * (24 + 24) + 4 * (32 + 24) + 24, 0]);
}

#[test]
fn the_parts_are_the_whole() {
    let heap = heap(golden!("19-streams-group"), "4.3.1", "cached-hash");
    let mut sum = Count::default();
    Component::ALL.into_iter().for_each(|component| sum += heap.component(component));
    assert_eq!(heap.total(), sum);
    let mut twice = heap.clone();
    twice += &heap;
    assert_eq!(twice.total().objects, 2 * sum.objects);
    assert_eq!(twice.total().bytes.plain, 2 * sum.bytes.plain);
}
