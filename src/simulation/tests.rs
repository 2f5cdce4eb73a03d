//! Small worlds by hand. What the coordinator answers is checked elsewhere on real Kafka; here it is what happens in
//! which order, and what is counted of it.

use super::*;
use crate::cluster::{Change, History, HistoryBuilder};
use crate::coordinator::{Cause, Config, Field, KafkaVersion};
use crate::cost::Operation;
use crate::disk::{LoadModel, LogSettings};
use crate::kafka::records::RecordType;
use crate::kafka::{JString, Uuid};
use crate::kernel::TimeMs;
use crate::workload::fleet::{Fleet, GroupPlan, MemberPlan, Step};

mod laws;

/// A history of three brokers in racks a, b and c, with topics foo (2 partitions) and bar (1), and 2 shards.
struct Cluster(HistoryBuilder);

impl Cluster {
    fn new() -> Cluster {
        let racks = [(1, "a"), (2, "b"), (3, "c")];
        let mut changes: Vec<Change> = racks.iter().map(|&(id, rack)| register(id, rack)).collect();
        changes.push(create("__consumer_offsets", 9, &[&[1, 2], &[2, 1]]));
        changes.push(create("foo", 1, &[&[1, 2], &[2, 3]]));
        changes.push(create("bar", 2, &[&[3, 1]]));
        Cluster(HistoryBuilder::new()).at(0, "start", changes)
    }

    fn at(mut self, time_ms: TimeMs, event: &str, changes: Vec<Change>) -> Cluster {
        self.0.publish(time_ms, event, &changes).expect("right changes");
        self
    }

    fn history(self) -> History {
        self.0.finish()
    }
}

fn register(id: i32, rack: &str) -> Change {
    Change::RegisterBroker { id, rack: Some(rack.to_owned()) }
}

fn create(name: &str, id: u128, replicas: &[&[i32]]) -> Change {
    let replicas = replicas.iter().map(|brokers| brokers.to_vec()).collect();
    Change::CreateTopic { name: name.to_owned(), id: Uuid(id), replicas }
}

fn expand(topic: &str, replicas: &[i32]) -> Change {
    Change::AddPartitions { topic: topic.to_owned(), replicas: vec![replicas.to_vec()] }
}

fn leader(partition: i32, leader: i32) -> Change {
    let topic = "__consumer_offsets".to_owned();
    Change::ChangePartition { topic, partition, replicas: None, isr: None, leader: Some(leader), elr: None }
}

fn touch(topic: &str) -> Change {
    let topic = topic.to_owned();
    Change::ChangePartition { topic, partition: 0, replicas: None, isr: None, leader: None, elr: None }
}

fn replicas(topic: &str, replicas: &[i32]) -> Change {
    let topic = topic.to_owned();
    let isr = Some(replicas.to_vec());
    Change::ChangePartition { topic, partition: 0, replicas: isr.clone(), isr, leader: None, elr: None }
}

fn join(member: &str, topics: &[&str]) -> Step {
    Step::Join { member_id: member.into(), topics: topics.iter().map(|topic| JString::from(*topic)).collect() }
}

fn member(steps: Vec<(TimeMs, Step)>) -> MemberPlan {
    MemberPlan {
        process_id: None,
        instance_id: None,
        rack: None,
        client_id: "client".into(),
        client_host: "/10.0.0.1".into(),
        assignor: Some("range".into()),
        rebalance_timeout_ms: 300_000,
        revocation_ms: 0,
        retry_seed: 1,
        steps,
    }
}

fn group(name: &str, members: Vec<MemberPlan>) -> GroupPlan {
    GroupPlan { kind: crate::kafka::GroupKind::Consumer, name: name.into(), application: None, members }
}

fn subject<'a>(history: &'a History, fleet: &'a Fleet, kafka: KafkaVersion, end_ms: TimeMs) -> Subject<'a> {
    Subject {
        history,
        fleet,
        kafka,
        config: Config::new(&kafka.behaviour(), []).expect("the defaults are right"),
        append_linger_ms: None,
        max_message_bytes: 1_048_588,
        log: LogOptions {
            settings: LogSettings::default(),
            commit_interval_ms: None,
            loading: LoadModel { bytes_per_second: 1_000_000, record_ns: 1_000 },
        },
        start_unix_ms: 1_700_000_000_000,
        end_ms,
        timeline_ms: 10_000,
        threads: 4,
        waiting: None,
        every_heartbeat: false,
        does_work: false,
    }
}

fn preset(name: &str) -> Strategy {
    Strategy::preset(name).expect("a preset")
}

fn run(subject: &Subject, strategy: &str) -> Totals {
    simulate(subject, &[preset(strategy)], &|| ()).remove(0)
}

/// Bumps in short.
fn bumps(totals: &Totals) -> Vec<String> {
    let short = |bump: &BumpTotals| {
        let causes: Vec<_> = bump.causes.iter().map(|cause| cause.name()).collect();
        let found: Vec<_> = bump.found.iter().map(|c| format!("{}:{}", c.topic, c.field.name())).collect();
        format!(
            "{} {} {}>{} {} [{}] {} {:?} {:?}",
            bump.time_ms,
            bump.group,
            bump.old_epoch,
            bump.new_epoch,
            causes.join(";"),
            found.join(";"),
            bump.event,
            bump.delay_ms(),
            bump.assignment_changed
        )
    };
    totals.bumps.iter().map(short).collect()
}

fn one_group(members: Vec<MemberPlan>) -> Fleet {
    Fleet { groups: vec![group("g", members)] }
}

/// One member joins, its topic grows once: two bumps, three refreshes (the second heartbeat of a new group looks again).
#[test]
fn one_member_and_an_expansion() {
    let history = Cluster::new().at(12_000, "expand", vec![expand("foo", &[3])]).history();
    let fleet = one_group(vec![member(vec![(1_000, join("m1", &["foo"]))])]);
    let totals = run(&subject(&history, &fleet, KafkaVersion::V4_3_1, 30_000), "cached-hash");
    assert_eq!(
        bumps(&totals),
        [
            "1000 g 1>2 join [] join None Some(true)",
            "16001 g 2>3 refresh [foo:partitions] expand Some(4001) Some(true)"
        ]
    );
    // At 1000, 1001, 6001, 11001, 16001, 16002, 21002 and 26002.
    assert_eq!(totals.timeline.iter().map(|bucket| bucket.counts[Operation::Heartbeat]).collect::<Vec<_>>(), [3, 3, 2]);
    assert_eq!((totals.count(Operation::Refresh), totals.count(Operation::TopicHash)), (3, 2));
    assert_eq!(totals.delays_ms(), [4_001]);
    // Types 5, 3, 7, 6 and 8, then 3, 7, 6 and 8.
    let written = RecordType::ALL.map(|record_type| (record_type as i16, totals.of(record_type).records));
    let written: Vec<(i16, u64)> = written.into_iter().filter(|(_, records)| *records > 0).collect();
    assert_eq!(written, [(3, 2), (5, 1), (6, 2), (7, 2), (8, 2)]);
    // A type 3 record: key 5 bytes, value 17; with 7 bytes around them, as all are shorter than 64.
    let metadata = RecordTotals { records: 2, tombstones: 0, key_bytes: 10, value_bytes: 34, batch_bytes: 58 };
    assert_eq!(*totals.of(RecordType::ConsumerGroupMetadata), metadata);
    // Without the hash its value has 7.
    assert_eq!(totals.strategy_bytes(), 20);
    assert_eq!(totals.count(Operation::Batch), 2);
    let in_records: u64 = totals.records.iter().map(|of_type| of_type.batch_bytes).sum();
    assert_eq!(totals.appended_bytes, in_records + 2 * 61);
    assert_eq!(totals.appended_bytes, totals.timeline.iter().map(|bucket| bucket.appended_bytes).sum::<u64>());
}

/// A map of racks is a type 4 record of its own, and all of it is the strategy's.
#[test]
fn the_bytes_of_a_map_are_the_strategys() {
    let history = Cluster::new().history();
    let fleet = one_group(vec![member(vec![(1_000, join("m1", &["foo"]))])]);
    let totals = run(&subject(&history, &fleet, KafkaVersion::V3_9_1, 10_000), "full-map");
    let map = totals.of(RecordType::ConsumerGroupPartitionMetadata);
    assert_eq!((map.records, map.key_bytes), (1, 5));
    assert_eq!(totals.strategy_bytes(), map.batch_bytes);
    assert_eq!((totals.count(Operation::TopicHash), totals.count(Operation::MapPartition)), (0, 4));
}

/// At equal times an image comes before what members do, and a timer before both: what the group looks at and whom it
/// has. Members m1 and m2 crash; m2's session ends at the very moment at which m3 joins and foo grows.
#[test]
fn order_at_equal_times() {
    let history = Cluster::new().at(46_010, "expand", vec![expand("foo", &[3])]).history();
    let crash = |member_id, at_ms| member(vec![(at_ms, join(member_id, &["foo"])), (at_ms + 1, Step::Crash)]);
    let joins = member(vec![(46_010, join("m3", &["foo"]))]);
    let fleet = one_group(vec![crash("m1", 1_000), crash("m2", 1_010), joins]);
    let totals = run(&subject(&history, &fleet, KafkaVersion::V4_1_1, 46_011), "recompute");
    assert_eq!(
        bumps(&totals),
        [
            "1000 g 0>1 join [] join None Some(true)",
            "1010 g 1>2 join [] join None Some(true)",
            "46000 g 2>3 timeout [] crash None Some(true)",
            "46010 g 3>4 timeout [] crash None Some(true)",
            "46010 g 4>5 join [] join None Some(true)",
        ]
    );
    assert_eq!(totals.count(Operation::Timer), 2);
    // The timer of 46010 has not seen foo grow, which it would have told; m3 is given all three partitions at once.
    assert_eq!(totals.count(Operation::AssignedPartition), 2 + 2 + 3);
}

/// A rack change without another assignment: bumps that are idle, unless the strategy is blind to racks, which then
/// misses the change; the bound does not bump.
#[test]
fn idle_bumps_and_missed_changes() {
    let history = Cluster::new().at(12_000, "reassign", vec![replicas("foo", &[3, 2])]).history();
    let fleet = one_group(vec![member(vec![(1_000, join("m1", &["foo", "bar"]))])]);
    let subject = subject(&history, &fleet, KafkaVersion::V4_3_1, 30_000);
    let numbers = |strategy| {
        let totals = run(&subject, strategy);
        (totals.bumps.len(), totals.idle_bumps(), totals.needless_bumps(), totals.missed_changes)
    };
    assert_eq!(numbers("full-map"), (2, 1, 0, 0));
    assert_eq!(numbers("stored-hash"), (2, 1, 0, 0));
    assert_eq!(numbers("cached-hash"), (2, 1, 0, 0));
    assert_eq!(numbers("count-map"), (1, 0, 0, 1));
    assert_eq!(numbers("ideal").0, 1);
    let bump = run(&subject, "cached-hash").bumps.remove(1);
    assert_eq!((bump.causes, bump.found[0].field, &*bump.event), (vec![Cause::Refresh], Field::Racks, "reassign"));
}

/// A change and back between two heartbeats is no missed change; one that no heartbeat has followed is none either; a
/// stale hash is one.
#[test]
fn what_counts_as_missed() {
    let missed = |history: &History, topics: &[&str], end_ms, strategy| {
        let fleet = one_group(vec![member(vec![(1_000, join("m1", topics))])]);
        run(&subject(history, &fleet, KafkaVersion::V4_3_1, end_ms), strategy).missed_changes
    };
    let back = Cluster::new()
        .at(12_000, "there", vec![replicas("foo", &[3, 2])])
        .at(12_100, "back", vec![replicas("foo", &[1, 2])])
        .history();
    assert_eq!(missed(&back, &["foo"], 30_000, "count-map"), 0);
    let moved = Cluster::new().at(12_000, "there", vec![replicas("foo", &[3, 2])]).history();
    // Heartbeats at 11001 and 16001.
    assert_eq!(missed(&moved, &["foo"], 16_001, "count-map"), 0);
    assert_eq!(missed(&moved, &["foo"], 16_002, "count-map"), 1);
    // Broker 3 holds foo's second partition and bar's; foo alone is touched, so its hash alone is dropped.
    let stale =
        Cluster::new().at(12_000, "register", vec![register(3, "d")]).at(12_500, "touch", vec![touch("foo")]).history();
    assert_eq!(missed(&stale, &["foo", "bar"], 30_000, "cached-hash"), 1);
    assert_eq!(missed(&stale, &["foo", "bar"], 30_000, "recompute"), 0);
    assert_eq!(missed(&stale, &["foo"], 30_000, "cached-hash"), 0);
}

/// The delay counts from the registration of a broker, not from the later image that makes the group look.
#[test]
fn delays_count_from_the_registration() {
    let history = Cluster::new()
        .at(12_000, "register", vec![register(3, "d")])
        .at(18_000, "isr-expand", vec![touch("foo")])
        .history();
    let fleet = one_group(vec![member(vec![(1_000, join("m1", &["foo"]))])]);
    let totals = run(&subject(&history, &fleet, KafkaVersion::V4_3_1, 30_000), "cached-hash");
    assert_eq!(bumps(&totals)[1..], ["21001 g 2>3 refresh [foo:racks] register Some(9001) Some(false)"]);
}

/// A bump that found several changes is told of the image of the earliest; each change has its own delay.
#[test]
fn the_earliest_change_names_the_event() {
    let history = Cluster::new()
        .at(12_000, "first", vec![expand("foo", &[3])])
        .at(13_000, "second", vec![expand("bar", &[3])])
        .at(14_000, "third", vec![expand("foo", &[3])])
        .history();
    let fleet = one_group(vec![member(vec![(1_000, join("m1", &["foo", "bar"]))])]);
    let totals = run(&subject(&history, &fleet, KafkaVersion::V4_3_1, 30_000), "full-map");
    let bump = "16001 g 2>3 refresh [bar:partitions;foo:partitions] first Some(4001) Some(true)";
    assert_eq!(bumps(&totals)[1..], [bump]);
    assert_eq!(totals.delays_ms(), [3_001, 4_001]);
}

/// Several bumps that one assignor run covers share its verdict; a bump that no run follows has none.
#[test]
fn verdicts_on_bumps() {
    // The assignment interval of 4.3.1 puts the run after the third join off until the first heartbeat after 2000.
    let history = Cluster::new().history();
    let joins = |id, at_ms| member(vec![(at_ms, join(id, &["foo"]))]);
    let fleet = one_group(vec![joins("m1", 1_000), joins("m2", 1_100), joins("m3", 1_200)]);
    let totals = run(&subject(&history, &fleet, KafkaVersion::V4_3_1, 10_000), "cached-hash");
    assert_eq!(
        bumps(&totals),
        [
            "1000 g 1>2 join [] join None Some(true)",
            "1100 g 2>3 join [] join None Some(true)",
            "1200 g 3>4 join [] join None Some(true)",
        ]
    );
    assert_eq!(totals.count(Operation::AssignorRun), 2);
    let early = run(&subject(&history, &fleet, KafkaVersion::V4_3_1, 1_300), "cached-hash");
    assert_eq!(early.bumps.iter().map(|bump| bump.assignment_changed).collect::<Vec<_>>(), [Some(true), None, None]);
    assert_eq!(early.idle_bumps(), 0);
}

/// The shard moves from broker 2 to 1 and is loaded there, then has no leader for a while, in which nobody is answered and
/// no session ends.
#[test]
fn shards_live_where_their_leader_is() {
    let history = Cluster::new()
        .at(8_000, "leader", vec![leader(1, 1)])
        .at(20_000, "leader", vec![leader(1, -1)])
        .at(90_000, "leader", vec![leader(1, 2)])
        .history();
    let fleet = one_group(vec![member(vec![(1_000, join("m1", &["foo"]))])]);
    let subject = subject(&history, &fleet, KafkaVersion::V4_3_1, 100_000);
    let totals = run(&subject, "cached-hash");
    let done = totals.happened;
    assert_eq!((done.loads, done.failed_loads, done.rejected_heartbeats), (3, 0, 0));
    assert_eq!(totals.count(Operation::Timer), 0);
    // Types 5, 3, 7, 6 and 8 are loaded twice.
    assert_eq!(totals.count(Operation::RecordLoaded), 10);
    assert!(done.unsent_heartbeats > 10, "{done:?}");
    // Every incarnation looks once and hashes foo anew; the first one looks twice.
    assert_eq!((totals.bumps.len(), totals.count(Operation::Refresh), totals.count(Operation::TopicHash)), (1, 4, 3));
}

/// 3.9.1 cannot load every log that the cleaner has been at: here a tombstone of a member that is no longer there. Nobody is
/// answered until the next move. What the cleaner has not seen yet, it can load.
#[test]
fn a_failed_load_answers_nobody() {
    let history =
        Cluster::new().at(8_000, "leader", vec![leader(1, 1)]).at(20_000, "leader", vec![leader(1, 2)]).history();
    // Static members take turns, each as the same instance.
    let instance = |steps| MemberPlan { instance_id: Some("i1".into()), ..member(steps) };
    let fleet = one_group(vec![
        instance(vec![(1_000, join("m1", &["foo"])), (2_000, Step::Stop)]),
        instance(vec![(3_000, join("m2", &["foo"])), (4_000, Step::Stop)]),
        instance(vec![(5_000, join("m3", &["foo"]))]),
    ]);
    let mut subject = subject(&history, &fleet, KafkaVersion::V3_9_1, 30_000);
    let loads = |subject: &Subject| {
        let totals = run(subject, "full-map");
        let loads: Vec<_> = totals.loads.iter().map(|load| (load.time_ms, load.error.is_some())).collect();
        (loads, totals.happened.rejected_heartbeats)
    };
    assert_eq!(loads(&subject), (vec![(0, false), (8_000, false), (20_000, false)], 0));
    // Every batch is a segment, and the cleaner comes at 15000.
    subject.log.settings.segment_bytes = 1;
    let (loads, rejected_heartbeats) = loads(&subject);
    assert_eq!(loads, [(0, false), (8_000, false), (20_000, true)]);
    assert!(rejected_heartbeats > 5);
}

/// An operation whose records need a larger batch than one may be fails as a whole: here the map of a topic that has grown.
/// The member is told of an unknown error, at which Java's client gives up; the group is as it was until its session ends.
#[test]
fn a_write_that_is_too_large_fails() {
    let more: Vec<&[i32]> = vec![&[3, 1]; 40];
    let replicas: Vec<Vec<i32>> = more.iter().map(|replicas| replicas.to_vec()).collect();
    let grown = Change::AddPartitions { topic: "foo".to_owned(), replicas };
    let history = Cluster::new().at(12_000, "expand", vec![grown]).history();
    let fleet = one_group(vec![member(vec![(1_000, join("m1", &["foo"]))])]);
    for version in [KafkaVersion::V3_9_1, KafkaVersion::V4_3_1] {
        let mut subject = subject(&history, &fleet, version, 70_000);
        let unlimited = run(&subject, "full-map");
        let largest = unlimited.largest_write.expect("a write");
        assert_eq!((largest.time_ms, largest.group.as_str()), (16_001, "g"));
        assert_eq!((unlimited.happened.refused_writes, unlimited.first_refusal), (0, None));
        subject.max_message_bytes = largest.bytes;
        assert_eq!(run(&subject, "full-map").bumps, unlimited.bumps);
        subject.max_message_bytes = largest.bytes - 1;
        let limited = run(&subject, "full-map");
        assert_eq!(limited.first_refusal.as_ref(), Some(&largest), "{version}");
        assert_eq!((limited.happened.refused_writes, limited.happened.rejected_heartbeats), (1, 1));
        // It joins; its session ends 45 s after the heartbeat that failed, which has reached the coordinator all the same.
        let bumps: Vec<_> = limited.bumps.iter().map(|bump| (bump.time_ms, bump.new_epoch - bump.old_epoch)).collect();
        assert_eq!(bumps, [(1_000, 1), (61_001, 1)], "{version}");
        assert_eq!(run(&subject, "cached-hash").happened.refused_writes, 0);
    }
}

/// Shards of one broker may share what they remember: a topic is then hashed once for both, and again only after it
/// changed or the broker was restarted.
#[test]
fn brokers_may_share_a_memo() {
    let shared = Strategy {
        name: "shared".to_owned(),
        design: Design::Point {
            covers: crate::strategy::Covers::RackList,
            stores: crate::strategy::Stores::Hash,
            memo: Memo::Broker,
            forgets: crate::strategy::Forgets::Topic,
        },
    };
    let fleet = Fleet {
        // "g" is in shard 1, "h" in shard 0.
        groups: ["g", "h"].map(|name| group(name, vec![member(vec![(1_000, join("m1", &["foo"]))])])).into(),
    };
    let hashes = |history: &History, strategy: &Strategy| {
        let subject = subject(history, &fleet, KafkaVersion::V4_3_1, 30_000);
        simulate(&subject, std::slice::from_ref(strategy), &|| ()).remove(0).count(Operation::TopicHash)
    };
    let together = || Cluster::new().at(500, "leader", vec![leader(0, 2)]);
    assert_eq!(hashes(&together().history(), &shared), 1);
    assert_eq!(hashes(&Cluster::new().history(), &shared), 2);
    assert_eq!(hashes(&together().history(), &preset("cached-hash")), 2);
    assert_eq!(hashes(&together().at(12_000, "touch", vec![touch("foo")]).history(), &shared), 2);
    assert_eq!(hashes(&together().at(12_000, "touch", vec![register(2, "b"), touch("bar")]).history(), &shared), 2);
    assert_eq!(hashes(&together().at(12_000, "touch", vec![register(1, "a"), touch("bar")]).history(), &shared), 1);
}

/// A memo may also forget the topics of a broker that registers, in whatever rack; that alone makes no group look.
#[test]
fn a_registration_may_drop_remembered_hashes() {
    let design = |forgets| Design::Point {
        covers: crate::strategy::Covers::RackList,
        stores: crate::strategy::Stores::Hash,
        memo: Memo::Shard,
        forgets,
    };
    let fleet = one_group(vec![member(vec![(1_000, join("m1", &["foo", "bar"]))])]);
    let work = |history: &History, forgets| {
        let strategy = Strategy { name: "s".to_owned(), design: design(forgets) };
        let totals = simulate(&subject(history, &fleet, KafkaVersion::V4_3_1, 30_000), &[strategy], &|| ()).remove(0);
        (totals.count(Operation::TopicHash), totals.bumps.len(), totals.missed_changes)
    };
    use crate::strategy::Forgets::{Topic, TopicOrBroker};
    let alone = Cluster::new().at(12_000, "register", vec![register(3, "d")]).history();
    assert_eq!((work(&alone, Topic), work(&alone, TopicOrBroker)), ((2, 1, 2), (2, 1, 2)));
    // Broker 3 hosts both topics; touching foo makes the group look at both, and at bar anew only if it was forgotten.
    let looked =
        |rack| Cluster::new().at(12_000, "register", vec![register(3, rack)]).at(13_000, "touch", vec![touch("foo")]);
    let (moved, same) = (looked("d").history(), looked("c").history());
    assert_eq!((work(&moved, Topic), work(&moved, TopicOrBroker)), ((3, 2, 1), (4, 2, 0)));
    assert_eq!((work(&same, Topic), work(&same, TopicOrBroker)), ((3, 1, 0), (4, 1, 0)));
}

/// The same totals on any number of threads.
#[test]
fn threads_make_no_difference() {
    let history = Cluster::new()
        .at(8_000, "leader", vec![leader(1, 1)])
        .at(12_000, "expand", vec![expand("foo", &[3]), expand("bar", &[1])])
        .history();
    let names: Vec<String> = (0..20).map(|n| format!("group-{n}")).collect();
    let joins = |at_ms| member(vec![(at_ms, join("m", &["foo", "bar"]))]);
    let groups = names.iter().zip(1_000..).map(|(name, at_ms)| group(name, vec![joins(at_ms)])).collect();
    let fleet = Fleet { groups };
    let subject = subject(&history, &fleet, KafkaVersion::V4_3_1, 30_000);
    let strategies = ["full-map", "cached-hash"].map(preset);
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| simulate(&subject, &strategies, &|| ()))
    };
    let one = with(1);
    assert_eq!(one[0].bumps.len(), 40);
    assert!(one[0].bumps.is_sorted_by_key(|bump| bump.time_ms));
    assert_eq!(with(2), one);
    assert_eq!(with(7), one);
}
