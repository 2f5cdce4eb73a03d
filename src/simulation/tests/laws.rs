//! How what a strategy does grows with the cluster: closed forms of what changes cost, for drawn sizes, and what doubling
//! one axis does to it. `docs/methods.md` says where simulations of whole clusters depart from them, and why.

use super::*;
use crate::cost::Counts;
use crate::kernel::random::Streams;

/// So many groups in one shard, each with so many members that all subscribe to the same topics, of which the first
/// changes its racks so often, each time seen by all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sizes {
    groups: u64,
    members: u64,
    topics: u64,
    partitions: u64,
    changes: u64,
}

/// What changes cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Cost {
    counts: Counts,
    /// Bytes of the values of type-4 records.
    map_bytes: u64,
    bumps: u64,
}

const CHANGE_EVERY_MS: TimeMs = 60_000;

fn name(topic: u64) -> String {
    format!("topic-{topic:03}")
}

/// What the changes cost: the totals less those of the same without a change.
fn cost(sizes: Sizes, strategy: &str) -> Cost {
    let (with, without) = (totals(sizes, strategy), totals(Sizes { changes: 0, ..sizes }, strategy));
    let mut counts = Counts::default();
    for operation in Operation::ALL {
        counts.add(operation, with.count(operation) - without.count(operation));
    }
    let map_bytes = |totals: &Totals| totals.of(RecordType::ConsumerGroupPartitionMetadata).value_bytes;
    let map_bytes = map_bytes(&with) - map_bytes(&without);
    Cost { counts, map_bytes, bumps: (with.bumps.len() - without.bumps.len()) as u64 }
}

fn totals(sizes: Sizes, strategy: &str) -> Totals {
    let brokers = [(1, "a"), (2, "b"), (3, "c")].map(|(id, rack)| register(id, rack));
    let partitions = vec![&[1, 2][..]; sizes.partitions as usize];
    let mut changes = brokers.to_vec();
    changes.push(create("__consumer_offsets", 1_000, &[&[1]]));
    changes.extend((0..sizes.topics).map(|topic| create(&name(topic), u128::from(topic) + 1, &partitions)));
    let mut history = HistoryBuilder::new();
    history.publish(0, "start", &changes).expect("right changes");
    for change in 0..sizes.changes {
        let to = if change % 2 == 0 { [3, 2] } else { [1, 2] };
        let at_ms = CHANGE_EVERY_MS * (change as TimeMs + 1);
        history.publish(at_ms, "reassign", &[replicas(&name(0), &to)]).expect("right changes");
    }
    let history = history.finish();
    let names: Vec<String> = (0..sizes.topics).map(name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let groups = (0..sizes.groups).map(|group_number| {
        let members = (0..sizes.members).map(|number| {
            let at_ms = 1_000 + 100 * number as TimeMs;
            member(vec![(at_ms, join(&format!("m{number}"), &names))])
        });
        group(&format!("group-{group_number}"), members.collect())
    });
    let fleet = Fleet { groups: groups.collect() };
    let end_ms = CHANGE_EVERY_MS * (sizes.changes as TimeMs + 1);
    run(&subject(&history, &fleet, KafkaVersion::V4_3_1, end_ms), strategy)
}

/// The bytes that Kafka feeds to the hash of a topic whose partitions have two replicas each: a byte, the id, the name, the number
/// of partitions, and for each its number and two racks of one letter, with their length on both sides.
fn hashed_bytes(partitions: u64) -> u64 {
    let name_bytes = 2 * name(0).len() as u64 + 4;
    1 + 16 + name_bytes + 4 + partitions * (4 + 2 * (4 + 2 + 4))
}

fn drawn_sizes(seed: u64) -> Sizes {
    let mut stream = Streams::new(seed).stream("laws", 0, "sizes");
    let mut draw = |most: u64| 1 + stream.below(most);
    Sizes { groups: draw(4), members: draw(3), topics: draw(4), partitions: draw(6), changes: draw(4) }
}

/// What changes cost, in closed form.
#[test]
fn changes_cost_what_the_closed_forms_say() {
    for seed in 0..20 {
        let sizes = drawn_sizes(seed);
        let Sizes { groups, topics, partitions, changes, .. } = sizes;
        let looks = changes * groups;
        for strategy in ["full-map", "count-map", "stored-hash", "recompute", "cached-hash", "ideal"] {
            let cost = cost(sizes, strategy);
            let count = |operation| cost.counts[operation];
            let case = format!("seed {seed}, {strategy}, {sizes:?}");
            let (hashes, hits) = match strategy {
                "stored-hash" | "recompute" => (looks * topics, 0),
                "cached-hash" => (changes, looks * topics - changes),
                _ => (0, 0),
            };
            assert_eq!((count(Operation::TopicHash), count(Operation::MemoHit)), (hashes, hits), "{case}");
            assert_eq!(count(Operation::HashByte), hashes * hashed_bytes(partitions), "{case}");
            assert_eq!(count(Operation::HashPartition), hashes * partitions, "{case}");
            assert_eq!(count(Operation::HashReplica), hashes * partitions * 2, "{case}");
            let refreshes = if strategy == "ideal" { 0 } else { looks };
            assert_eq!(count(Operation::Refresh), refreshes, "{case}");
            assert_eq!(count(Operation::TopicLookup), refreshes * topics, "{case}");
            assert_eq!(count(Operation::GroupMarked), looks, "{case}");
            let entries = if strategy.ends_with("-map") { looks * topics } else { 0 };
            assert_eq!(count(Operation::MapEntry), entries, "{case}");
            let mapped = if strategy == "full-map" { entries * partitions } else { 0 };
            assert_eq!(count(Operation::MapPartition), mapped, "{case}");
            assert_eq!(count(Operation::MapReplica), mapped * 2, "{case}");
            // Nobody is bumped who does not look at racks.
            let bumps = if matches!(strategy, "count-map" | "ideal") { 0 } else { looks };
            assert_eq!(cost.bumps, bumps, "{case}");
            // A map of hashes: a version, a length, for each topic its name with a length, a hash and no tags, and no tags.
            let hashes_bytes = 2 + 1 + topics * (1 + name(0).len() as u64 + 8 + 1) + 1;
            // With racks: for each topic also an id, a count and the partitions, each a number and two racks.
            let racks_bytes =
                2 + 1 + topics * (16 + 1 + name(0).len() as u64 + 4 + 1 + partitions * (4 + 1 + 2 * 2 + 1) + 1) + 1;
            let map_bytes = match strategy {
                "full-map" => bumps * racks_bytes,
                "stored-hash" => bumps * hashes_bytes,
                _ => 0,
            };
            assert_eq!(cost.map_bytes, map_bytes, "{case}");
        }
    }
}

/// Doubling one axis doubles what depends on it and leaves the rest alone.
#[test]
fn doubling_an_axis_doubles_what_depends_on_it() {
    type Axis = (&'static str, fn(&mut Sizes) -> &mut u64);
    let axes: [Axis; 5] = [
        ("groups", |sizes| &mut sizes.groups),
        ("members", |sizes| &mut sizes.members),
        ("topics", |sizes| &mut sizes.topics),
        ("partitions", |sizes| &mut sizes.partitions),
        ("changes", |sizes| &mut sizes.changes),
    ];
    // Which axes double an operation.
    let laws: [(&str, Operation, &[&str]); 9] = [
        ("recompute", Operation::TopicHash, &["groups", "topics", "changes"]),
        ("recompute", Operation::HashPartition, &["groups", "topics", "partitions", "changes"]),
        ("stored-hash", Operation::HashPartition, &["groups", "topics", "partitions", "changes"]),
        ("cached-hash", Operation::TopicHash, &["changes"]),
        ("cached-hash", Operation::HashPartition, &["partitions", "changes"]),
        ("cached-hash", Operation::GroupHashTopic, &["groups", "topics", "changes"]),
        ("full-map", Operation::MapReplica, &["groups", "topics", "partitions", "changes"]),
        ("count-map", Operation::MapEntry, &["groups", "topics", "changes"]),
        ("count-map", Operation::HashByte, &[]),
    ];
    for seed in 20..26 {
        let sizes = drawn_sizes(seed);
        for (strategy, operation, doubling) in laws {
            let before = cost(sizes, strategy).counts[operation];
            for (axis, field) in axes {
                let mut doubled = sizes;
                *field(&mut doubled) *= 2;
                let after = cost(doubled, strategy).counts[operation];
                let factor = if doubling.contains(&axis) { 2 } else { 1 };
                assert_eq!(after, factor * before, "{strategy}, {}, {axis} of {sizes:?}", operation.name());
            }
        }
    }
    // In bytes: the hash of each group looks at each topic again, or only the shard does.
    let hash_bytes = |groups, strategy| {
        let sizes = Sizes { groups, members: 2, topics: 3, partitions: 5, changes: 2 };
        cost(sizes, strategy).counts[Operation::HashByte]
    };
    assert_eq!((hash_bytes(4, "recompute"), hash_bytes(8, "recompute")), (4 * 6 * 163, 8 * 6 * 163));
    assert_eq!((hash_bytes(4, "cached-hash"), hash_bytes(8, "cached-hash")), (2 * 163, 2 * 163));
}
