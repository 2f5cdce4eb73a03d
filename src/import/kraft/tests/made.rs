//! Logs made up here, for what the real ones do not hold.

use super::bytes::*;
use super::*;

fn images(batches: &[Vec<Vec<u8>>]) -> Vec<(i64, &'static str, usize)> {
    let cluster = read_bytes(&[("0.log", log(batches))]).unwrap();
    cluster.images.iter().map(|image| (image.offset, image.event, image.changes.len())).collect()
}

fn changes(batches: &[Vec<Vec<u8>>]) -> Vec<Change> {
    let cluster = read_bytes(&[("0.log", log(batches))]).unwrap();
    cluster.history().unwrap();
    cluster.images.last().unwrap().changes.clone()
}

/// A topic `name` of one partition on brokers 1 and 2, which nobody registered: Kafka does not mind.
fn one(name: &str, number: u128) -> Vec<Vec<u8>> {
    vec![topic(name, number), partition(number, 0, &[1, 2], &[1, 2], 1)]
}

#[test]
fn a_batch_is_an_image() {
    let batches = [one("a", 1), vec![no_op()], vec![feature("f", 1)], vec![no_op(), register(1, None), no_op()]];
    assert_eq!(images(&batches), [(1, "create", 1), (3, "feature", 0), (6, "register", 2)]);
}

#[test]
fn times_are_those_of_the_last_batch() {
    let batches = [vec![begin(), topic("a", 1)], vec![no_op()], vec![partition(1, 0, &[1], &[1], 1), end()]];
    let cluster = read_bytes(&[("0.log", log(&batches))]).unwrap();
    let times: Vec<_> = cluster.images.iter().map(|image| (image.offset, image.unix_ms - START_MS)).collect();
    assert_eq!(times, [(4, 4)]);
}

#[test]
fn a_transaction_is_one_image() {
    let batches = [
        vec![register(1, None), begin(), topic("a", 1)],
        vec![partition(1, 0, &[1], &[1], 1)],
        vec![partition(1, 1, &[1], &[1], 1), end(), register(2, None)],
        vec![unregister(2)],
    ];
    // What precedes it in its first batch is an image of its own; what follows in its last batch belongs to it.
    assert_eq!(images(&batches), [(0, "register", 2), (6, "create", 3), (7, "unregister", 1)]);
}

#[test]
fn an_aborted_transaction_is_nothing() {
    let batches = [one("a", 1), vec![begin(), topic("b", 2)], vec![remove(1)], vec![abort()], one("b", 3)];
    assert_eq!(images(&batches), [(1, "create", 1), (7, "create", 1)]);
    assert_eq!(read_bytes(&[("0.log", log(&batches))]).unwrap().counts.aborted, 2);
}

#[test]
fn an_unfinished_transaction_is_nothing() {
    let batches = [one("a", 1), vec![begin(), topic("b", 2)], vec![remove(1)]];
    assert_eq!(images(&batches), [(1, "create", 1)]);
    assert_eq!(read_bytes(&[("0.log", log(&batches))]).unwrap().counts.unfinished, 2);
}

#[test]
fn an_empty_rack_is_a_rack() {
    let registered = |id, rack: Option<&str>| Change::RegisterBroker { id, rack: rack.map(str::to_owned) };
    let fenced = |id, fenced| Change::FenceBroker { id, fenced };
    let batch = vec![register(1, Some("")), register(2, None), register(3, Some("é")), unfence(3, 3)];
    let expected = [
        registered(1, Some("")),
        fenced(1, true),
        registered(2, None),
        fenced(2, true),
        registered(3, Some("é")),
        fenced(3, true),
        fenced(3, false),
    ];
    assert_eq!(changes(&[batch]), expected);
}

fn changed(
    partition: i32,
    replicas: Option<&[i32]>,
    isr: Option<&[i32]>,
    leader: Option<i32>,
    elr: Option<&[i32]>,
) -> Change {
    let list = |ids: Option<&[i32]>| ids.map(<[i32]>::to_vec);
    Change::ChangePartition {
        topic: "a".to_owned(),
        partition,
        replicas: list(replicas),
        isr: list(isr),
        leader,
        elr: list(elr),
    }
}

#[test]
fn what_a_partition_change_leaves_out_stays() {
    let change = |version, tagged: &[(u8, Vec<u8>)]| changes(&[one("a", 1), vec![change(version, 1, 0, tagged)]]);
    assert_eq!(change(2, &[]), [changed(0, None, None, None, None)]);
    assert_eq!(change(0, &[isr(&[1])]), [changed(0, None, Some(&[1]), None, None)]);
    assert_eq!(change(0, &[leader(-1)]), [changed(0, None, None, Some(-1), None)]);
    assert_eq!(change(0, &[leader(-2)]), [changed(0, None, None, None, None)]);
    assert_eq!(change(1, &[replicas(&[3, 1])]), [changed(0, Some(&[3, 1]), None, None, None)]);
    assert_eq!(change(2, &[elr(&[2]), isr(&[1])]), [changed(0, None, Some(&[1]), None, Some(&[2]))]);
    // Null, sent: the same as not sent.
    assert_eq!(change(2, &[(0, vec![0]), (6, vec![0])]), [changed(0, None, None, None, None)]);
    // A tag that is not known, or not in this version, is passed over.
    assert_eq!(change(2, &[(99, vec![1, 2, 3])]), [changed(0, None, None, None, None)]);
    assert_eq!(change(1, &[elr(&[2])]), [changed(0, None, None, None, None)]);
}

#[test]
fn events() {
    let event = |record: Vec<u8>| images(&[one("a", 1), vec![record]])[1].1;
    assert_eq!(event(change(0, 1, 0, &[isr(&[1])])), "isr-shrink");
    assert_eq!(event(change(0, 1, 0, &[isr(&[1, 2, 3])])), "isr-expand");
    assert_eq!(event(change(0, 1, 0, &[leader(2)])), "leader");
    assert_eq!(event(change(0, 1, 0, &[replicas(&[2, 1])])), "reassign");
    assert_eq!(event(change(0, 1, 0, &[])), "partition");
    assert_eq!(event(partition(1, 1, &[1], &[1], 1)), "expand");
    assert_eq!(event(remove(1)), "delete");
    assert_eq!(event(clear_elr("a")), "clear-elr");
    assert_eq!(event(register(4, None)), "register");
}

/// A partition that is not as a new one is (all in sync, the first leads) has a change after its creation.
#[test]
fn created_as_found() {
    let batch = vec![
        topic("a", 1),
        partition(1, 1, &[2, 1], &[1], 1),
        partition(1, 0, &[1, 2], &[1, 2], 1),
        change(0, 1, 1, &[leader(-1)]),
    ];
    let create = Change::CreateTopic { name: "a".to_owned(), id: id(1), replicas: vec![vec![1, 2], vec![2, 1]] };
    let as_found = changed(1, None, Some(&[1]), Some(1), Some(&[]));
    assert_eq!(changes(&[batch]), [create, as_found, changed(1, None, None, Some(-1), None)]);
}

#[test]
fn new_partitions_of_an_image_are_one_change() {
    let batch = vec![partition(1, 1, &[1], &[1], 1), partition(1, 2, &[2], &[2], 2), partition(1, 0, &[3], &[3], 3)];
    let add = Change::AddPartitions { topic: "a".to_owned(), replicas: vec![vec![1], vec![2]] };
    // A record for a partition that exists takes its place.
    let replaced = changed(0, Some(&[3]), Some(&[3]), Some(3), Some(&[]));
    assert_eq!(changes(&[one("a", 1), batch]), [add, replaced]);
}

#[test]
fn deleted_and_created_in_one_image() {
    let mut batch = vec![remove(1)];
    batch.extend(one("a", 2));
    let create = Change::CreateTopic { name: "a".to_owned(), id: id(2), replicas: vec![vec![1, 2]] };
    assert_eq!(changes(&[one("a", 1), batch]), [Change::DeleteTopic { topic: "a".to_owned() }, create]);
}

#[test]
fn clearing_elr() {
    let with_elr = [one("a", 1), vec![partition(1, 1, &[1], &[1], 1)], vec![change(2, 1, 1, &[elr(&[2])])]];
    let clear = |name| changes(&[with_elr.as_slice(), &[vec![clear_elr(name)]]].concat());
    let cleared = changed(1, None, None, None, Some(&[]));
    assert_eq!(clear("a"), std::slice::from_ref(&cleared));
    assert_eq!(clear(""), [cleared]);
    // Without any ELR the topic is still in the delta.
    assert_eq!(changes(&[one("a", 1), vec![clear_elr("a")]]), [changed(0, None, None, None, None)]);
}

#[test]
fn rows_follow_registrations_and_deletions() {
    let batches = [
        one("b", 2),
        one("a", 1),
        vec![register(1, Some("r"))],
        vec![register(1, Some("r"))],
        vec![unregister(9)],
        vec![remove(2)],
    ];
    let rows = topic_hash_rows(&read_bytes(&[("0.log", log(&batches))]).unwrap()).unwrap();
    let found: Vec<_> = rows.iter().map(|row| (row.offset, row.topic.as_str(), row.hash.is_some())).collect();
    let expected = [(1, "b", true), (3, "a", true), (4, "a", true), (4, "b", true), (7, "b", false)];
    assert_eq!(found, expected);
    let mut csv = Vec::new();
    write_topic_hash_rows(&rows[4..], &mut csv).unwrap();
    let expected = "offset,unix_ms,topic,topic_id,partitions,hash\n7,1700000000007,b,AAAAAAAAAAAAAAAAAAAAAg,1,\n";
    assert_eq!(String::from_utf8(csv).unwrap(), expected);
}

#[test]
fn unknown_records_are_skipped_and_counted() {
    let batches = [one("a", 1), vec![vec![1, 99, 0, 255, 255], vec![1, 2, 7], vec![1, 0xac, 2, 0xff, 0xff, 3]]];
    let cluster = read_bytes(&[("0.log", log(&batches))]).unwrap();
    let skipped: Vec<_> = cluster.counts.skipped.iter().map(|(kind, count)| format!("{kind}: {count}")).collect();
    assert_eq!(skipped, ["TOPIC_RECORD v7: 1", "type 300 v65535: 1", "type 99 v0: 1"]);
    assert_eq!(cluster.images.len(), 1);
}

#[test]
fn features_of_level_0_are_gone() {
    let batches = [vec![feature("a", 1), feature("b", 2)], vec![feature("a", 0), feature("b", 3)]];
    let features = read_bytes(&[("0.log", log(&batches))]).unwrap().features;
    assert_eq!(features, BTreeMap::from([("b".to_owned(), 3)]));
}
