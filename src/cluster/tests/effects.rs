//! What the controller writes; expected values are from Kafka 4.3.1's rules, those of single partitions from its
//! `PartitionChangeBuilder` itself.

use super::*;
use crate::cluster::builder::Part;
use crate::cluster::effects::Target;
use crate::cluster::{Changes, PartitionChange, PartitionState, Reassignment};

fn numbers(text: &str) -> Vec<i32> {
    text.split(',').filter(|number| *number != "-").map(|number| number.parse().expect("a number")).collect()
}

/// `now` and `expected` are "replicas isr leader", `wanted` is "replicas isr"; lists with commas, `-` is empty.
fn check_target(
    now: &str,
    active: &str,
    [adding, removing]: [&str; 2],
    wanted: &str,
    elect_preferred: bool,
    expected: &str,
) {
    let state = |text: &str| -> PartitionState {
        let parts: Vec<_> = text.split(' ').map(numbers).collect();
        PartitionState { isr: parts[1].clone().into(), leader: parts[2][0], ..PartitionState::new(&parts[0]) }
    };
    let (mut now, active) = (state(now), numbers(active));
    let (replicas, isr) = wanted.split_once(' ').expect("two lists");
    let (adding, removing) = (numbers(adding), numbers(removing));
    let target = numbers(replicas).into_iter().filter(|replica| !removing.contains(replica)).collect();
    let plan = Reassignment { topic: "foo".to_owned(), partition: 0, target, adding, removing };
    let target = Target { elect_preferred, ..plan.target(numbers(replicas).into(), numbers(isr).into()) };
    let change = target.change("foo", 0, &now, &|broker| active.contains(&broker));
    if let Some(Change::ChangePartition { replicas, isr, leader, .. }) = change {
        replicas.into_iter().for_each(|replicas| now.replicas = replicas.into());
        isr.into_iter().for_each(|isr| now.isr = isr.into());
        now.leader = leader.unwrap_or(now.leader);
    }
    assert_eq!(now, state(expected));
}

/// The real `PartitionChangeBuilder` of 4.3.1 with these states.
#[test]
fn partitions_become_what_kafka_makes_of_them() {
    let none = ["-", "-"];
    check_target("2,1,5 2 -1", "0,2", none, "2,1,5 2", true, "2,1,5 2 2");
    check_target("5,1,2 2 2", "-", none, "5,1,2 2", true, "5,1,2 2 -1");
    check_target("2,1,3 2 2", "-", none, "2,1,3 -", false, "2,1,3 2 -1");
    check_target("3,0,1 0 0", "3,0,5", ["5", "3"], "1,5,0,3 0,5", false, "1,5,0 0,5 0");
    check_target("0,3,1 1,3 1", "0,5,2,4", ["5", "0,1,3"], "5,0,1,3 1,3,5", false, "5 5 5");
    check_target("4,0,3 0 -1", "-", ["1,2", "0"], "4,3,1,2,0 0,2", false, "4,3,1,2,0 0,2 -1");
    check_target("1,3,4 3 3", "1,2,4", ["-", "1,4"], "3,1,4 3", false, "3 3 -1");
    check_target("4,1,5 5 5", "4,5", ["-", "5"], "1,4,5 5", false, "1,4,5 5 5");
    check_target("3,5,1 1 -1", "4", ["0", "1,5"], "3,0,1,5 1,0", false, "3,0,1,5 1,0 -1");
}

/// Brokers 1 to 4; `foo` with partitions on [1,2,3], [2,3,1], [1] and `bar` on [3,4].
fn start() -> HistoryBuilder {
    builder(&[&[
        broker(1, "a"),
        broker(2, "b"),
        broker(3, "c"),
        broker(4, "d"),
        create("foo", 1, &[&[1, 2, 3], &[2, 3, 1], &[1]]),
        create("bar", 2, &[&[3, 4]]),
    ]])
}

fn publish(builder: &mut HistoryBuilder, changes: &[Change]) {
    builder.publish(builder.last_time_ms(), "effect", changes).expect("valid changes");
}

fn fenced(id: i32, fenced: bool) -> Change {
    Change::FenceBroker { id, fenced }
}

/// Effects with topics by name.
fn named(builder: &HistoryBuilder, changes: &[Changes]) -> Vec<Change> {
    changes.iter().flat_map(|changes| builder.named(Part::from(changes))).collect()
}

/// Changes of partitions with topics by name.
fn partitions(builder: &HistoryBuilder, changes: Vec<PartitionChange>) -> Vec<Change> {
    named(builder, &[Changes::Partitions(changes)])
}

/// `foo`'s ISR and leader by partition.
fn foo(builder: &HistoryBuilder) -> Vec<(Vec<i32>, i32)> {
    let foo = builder.topic("foo").expect("it exists");
    foo.partitions.iter().map(|partition| (partition.isr.to_vec(), partition.leader)).collect()
}

#[test]
fn a_clean_stop_and_the_way_back() {
    let mut builder = start();
    let shrunk = partitions(&builder, builder.shrink_isr(1));
    // The first other replica in the ISR leads; the last replica stays in the ISR, without leader.
    let no_leader = change("foo", 2, None, None, Some(-1));
    assert_eq!(shrunk, [isr("foo", 0, &[2, 3], Some(2)), isr("foo", 1, &[2, 3], None), no_leader]);
    publish(&mut builder, &shrunk);
    assert_eq!(partitions(&builder, builder.shrink_isr(1)), []);
    let fence = named(&builder, &builder.fence(1));
    assert_eq!(fence, [fenced(1, true)]);
    publish(&mut builder, &fence);

    let register = named(&builder, &builder.register(1, Some("z")));
    assert_eq!(register, [broker(1, "z"), fenced(1, true)]);
    publish(&mut builder, &register);
    assert_eq!(partitions(&builder, builder.expand_isr(1, 1)), [], "it is fenced");
    let unfence = named(&builder, &builder.unfence(1));
    assert_eq!(unfence, [fenced(1, false), change("foo", 2, None, None, Some(1))]);
    publish(&mut builder, &unfence);

    let expanded = partitions(&builder, builder.expand_isr(1, 2));
    assert_eq!(expanded, [isr("foo", 0, &[2, 3, 1], None)]);
    publish(&mut builder, &expanded);
    let expanded = partitions(&builder, builder.expand_isr(1, 1));
    assert_eq!(expanded, [isr("foo", 1, &[2, 3, 1], None)]);
    publish(&mut builder, &expanded);
    assert_eq!(partitions(&builder, builder.expand_isr(1, 1)), []);
    assert_eq!(foo(&builder), [(vec![2, 3, 1], 2), (vec![2, 3, 1], 2), (vec![1], 1)], "leadership stays");

    let elected = partitions(&builder, builder.elect_preferred(1));
    assert_eq!(elected, [change("foo", 0, None, None, Some(1))]);
    publish(&mut builder, &elected);
    assert_eq!(partitions(&builder, builder.elect_preferred(1)), []);
}

#[test]
fn a_crash_is_one_image() {
    let mut builder = start();
    let crash = named(&builder, &builder.fence(2));
    assert_eq!(crash, [isr("foo", 0, &[1, 3], None), isr("foo", 1, &[3, 1], Some(3)), fenced(2, true)]);
    publish(&mut builder, &crash);
    // A fenced broker is not elected and does not go on leading, even though it is in an ISR.
    publish(&mut builder, &[fenced(3, true)]);
    assert_eq!(partitions(&builder, builder.shrink_isr(1))[0], isr("foo", 0, &[3], Some(-1)));
    let mut gone = partitions(&builder, builder.shrink_isr(4));
    assert_eq!(gone, [isr("bar", 0, &[3], Some(-1))]);
    gone.push(unregister(4));
    assert_eq!(named(&builder, &builder.unregister(4)), gone);
}

#[test]
fn leaders_report_one_after_the_other() {
    let start =
        [broker(1, "a"), broker(2, "b"), broker(3, "c"), create("foo", 1, &[&[3, 1], &[2, 1], &[3, 1], &[2, 1]])];
    let mut builder = builder(&[&start]);
    let crash = named(&builder, &builder.fence(1));
    publish(&mut builder, &crash);
    publish(&mut builder, &[fenced(1, false)]);
    let mut images = Vec::new();
    for left in [3, 2, 1] {
        let expanded = partitions(&builder, builder.expand_isr(1, left));
        publish(&mut builder, &expanded);
        let number =
            |change: &Change| if let Change::ChangePartition { partition, .. } = change { *partition } else { -1 };
        images.push(expanded.iter().map(number).collect::<Vec<_>>());
    }
    assert_eq!(images, [vec![1, 3], vec![0], vec![2]]);
}

#[test]
fn preferred_elections_are_at_most_1000_an_image() {
    let replicas = vec![vec![1, 2]; 1001];
    let name = "foo".to_owned();
    let mut builder =
        builder(&[&[broker(1, "a"), broker(2, "b"), Change::CreateTopic { name, id: Uuid(1), replicas }]]);
    let shrunk = partitions(&builder, builder.shrink_isr(1));
    publish(&mut builder, &shrunk);
    let expanded = partitions(&builder, builder.expand_isr(1, 1));
    publish(&mut builder, &expanded);
    let elected = partitions(&builder, builder.elect_preferred(1));
    assert_eq!(elected.len(), 1000);
    publish(&mut builder, &elected);
    assert_eq!(partitions(&builder, builder.elect_preferred(1)), [change("foo", 1000, None, None, Some(1))]);
}

#[test]
fn new_replicas_on_fenced_brokers_are_not_in_sync() {
    let mut builder = start();
    publish(&mut builder, &[fenced(1, true)]);
    let created = builder.create_topic("new", Uuid::from_halves(1, 9), vec![vec![2, 3], vec![1, 2]]);
    assert_eq!(created, [create("new", 9, &[&[2, 3], &[1, 2]]), isr("new", 1, &[2], Some(2))]);
    publish(&mut builder, &created);
    let grown = builder.add_partitions("new", vec![vec![2, 1]]);
    assert_eq!(grown, [grow("new", &[&[2, 1]]), isr("new", 2, &[2], None)]);
    publish(&mut builder, &grown);
}

#[test]
fn a_reassignment_adds_then_joins_then_removes() {
    let mut builder = start();
    let plan = builder.reassignment("foo", 0, &[4, 3]).expect("the partition exists");
    assert_eq!((&plan.adding[..], &plan.removing[..]), (&[4][..], &[1, 2][..]));
    let begun = plan.begin(&builder).expect("a change");
    assert_eq!(begun, reassign("foo", 0, &[4, 3, 1, 2]));
    publish(&mut builder, &[begun]);
    assert_eq!(plan.join(&builder, 3), None, "it is in the ISR");
    let joined = plan.join(&builder, 4).expect("a change");
    assert_eq!(joined, change("foo", 0, Some(&[4, 3]), Some(&[3, 4]), Some(4)));
    publish(&mut builder, &[joined]);
    assert_eq!(plan.join(&builder, 1), None, "it is no replica any more");
}

#[test]
fn a_reassignment_that_adds_nothing_is_complete_at_once() {
    let builder = start();
    let begin = |target: &[i32]| builder.reassignment("foo", 0, target).and_then(|plan| plan.begin(&builder));
    assert_eq!(begin(&[3, 2, 1]), Some(reassign("foo", 0, &[3, 2, 1])), "the leader stays");
    assert_eq!(begin(&[2, 3]), Some(change("foo", 0, Some(&[2, 3]), Some(&[2, 3]), Some(2))));
    assert_eq!(begin(&[1, 2, 3]), None);
    assert_eq!(builder.reassignment("foo", 9, &[1]), None);
}
