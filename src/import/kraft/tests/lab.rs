//! The files of real clusters. Counts are those of Kafka's `DumpLogSegments`, hashes those of the 4.3.1 coordinator
//! (group hashes: read from `__consumer_offsets`) and of its classes (topic hashes: `Utils.computeTopicHash`).

use super::*;
use crate::cluster::{HistoryBuilder, PartitionState};
use crate::kafka::JString;
use crate::kafka::hash::group_hash;
use serde_json::Value;

fn count(folder: &str) -> String {
    let cluster = read(&[lab_log(folder)]).unwrap();
    let counts = &cluster.counts;
    assert!(counts.skipped.is_empty() && counts.aborted == 0 && counts.unfinished == 0, "{counts:?}");
    let control = counts.control.iter().map(|(name, count)| format!("{name} {count}"));
    let records = counts.records.iter().map(|(kind, count)| format!("{kind} {count}"));
    control.chain(records).collect::<Vec<_>>().join("\n")
}

#[test]
fn counts_of_4_3_1() {
    let expected = "\
LEADER_CHANGE 1
BEGIN_TRANSACTION_RECORD v0 1
BROKER_REGISTRATION_CHANGE_RECORD v0 23
BROKER_REGISTRATION_CHANGE_RECORD v1 5
BROKER_REGISTRATION_CHANGE_RECORD v3 9
CLEAR_ELR_RECORD v0 1
CONFIG_RECORD v0 21
END_TRANSACTION_RECORD v0 1
FEATURE_LEVEL_RECORD v0 6
NO_OP_RECORD v0 1944
PARTITION_CHANGE_RECORD v2 1919
PARTITION_RECORD v2 165
PRODUCER_IDS_RECORD v0 3
REGISTER_BROKER_RECORD v4 9
REGISTER_CONTROLLER_RECORD v0 1
REMOVE_TOPIC_RECORD v0 4
TOPIC_RECORD v0 27";
    assert_eq!(count("scenarios/lab-cluster"), expected);
}

#[test]
fn counts_of_3_9_1() {
    let expected = "\
LEADER_CHANGE 1
BEGIN_TRANSACTION_RECORD v0 1
BROKER_REGISTRATION_CHANGE_RECORD v0 12
BROKER_REGISTRATION_CHANGE_RECORD v1 5
CONFIG_RECORD v0 3
END_TRANSACTION_RECORD v0 1
FEATURE_LEVEL_RECORD v0 1
NO_OP_RECORD v0 645
PARTITION_CHANGE_RECORD v1 808
PARTITION_RECORD v1 112
REGISTER_BROKER_RECORD v3 6
REGISTER_CONTROLLER_RECORD v0 1
REMOVE_TOPIC_RECORD v0 1
TOPIC_RECORD v0 14
ZK_MIGRATION_STATE_RECORD v0 1";
    assert_eq!(count("tests/golden/lab/3.9.1"), expected);
}

#[test]
fn counts_of_4_0_0_upgraded() {
    let expected = "\
KRAFT_VERSION 1
KRAFT_VOTERS 1
LEADER_CHANGE 2
BEGIN_TRANSACTION_RECORD v0 1
BROKER_REGISTRATION_CHANGE_RECORD v0 13
BROKER_REGISTRATION_CHANGE_RECORD v1 6
BROKER_REGISTRATION_CHANGE_RECORD v3 3
CONFIG_RECORD v0 4
END_TRANSACTION_RECORD v0 1
FEATURE_LEVEL_RECORD v0 9
NO_OP_RECORD v0 494
PARTITION_CHANGE_RECORD v2 435
PARTITION_RECORD v2 55
REGISTER_BROKER_RECORD v3 6
REGISTER_CONTROLLER_RECORD v0 2
TOPIC_RECORD v0 7";
    assert_eq!(count("tests/golden/lab/from-4.0.0"), expected);
}

/// The racks that broker 3 of the 4.3.1 cluster was restarted with; a broker without a rack writes null.
#[test]
fn racks_of_restarted_broker() {
    let cluster = read(&[lab_log("scenarios/lab-cluster")]).unwrap();
    let racks: Vec<_> = cluster
        .images
        .iter()
        .flat_map(|image| &image.changes)
        .filter_map(|change| match change {
            Change::RegisterBroker { id: 3, rack } => Some(rack.as_deref()),
            _ => None,
        })
        .collect();
    assert_eq!(racks, [Some("use1-az3"), Some("use1-az4"), Some("use1-az2"), None, Some("use1-az3")]);
}

fn json_lines(path: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(repository(path)).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn rows(folder: &str) -> Vec<TopicHashRow> {
    topic_hash_rows(&read(&[lab_log(folder)]).unwrap()).unwrap()
}

/// Every hash that Kafka's classes give of these topics at any time is in our rows, at the same offset; and our
/// rows hold no other.
fn check_topic_hashes(folder: &str, golden: &str) -> (usize, usize) {
    let rows: Vec<_> = rows(folder).into_iter().filter(|row| !row.topic.starts_with("__")).collect();
    let lines = json_lines(&format!("tests/golden/lab/{golden}/topic-hashes.jsonl"));
    for line in &lines {
        let same = |row: &&TopicHashRow| {
            row.hash == line["topicHash"].as_i64()
                && line["topic"] == *row.topic
                && line["id"] == row.topic_id.to_string()
                && line["partitions"] == row.partitions
        };
        // The file has each hash once, where it is first.
        let first = rows.iter().find(same).unwrap_or_else(|| panic!("{line} is missing"));
        assert_eq!((line["metaOffset"].as_i64(), line["ts"].as_i64()), (Some(first.offset), Some(first.unix_ms)));
    }
    for row in rows.iter().filter(|row| row.hash.is_some()) {
        assert!(lines.iter().any(|line| line["topicHash"].as_i64() == row.hash), "{row:?} is in no line");
    }
    (lines.len(), rows.len())
}

#[test]
fn topic_hashes() {
    assert_eq!(check_topic_hashes("scenarios/lab-cluster", "4.3.1"), (123, 152));
    assert_eq!(check_topic_hashes("tests/golden/lab/from-4.0.0", "from-4.0.0"), (7, 7));
}

/// What a topic's fresh hash is at an offset.
fn fresh(rows: &[TopicHashRow], topic: &str, offset: i64) -> Option<i64> {
    rows.iter().rfind(|row| *row.topic == *topic && row.offset <= offset)?.hash
}

/// `audit=-8005 (value since metaOffset 749, STALE) metrics=…`: topic, hash, offset.
fn parse_mix(mix: &str) -> Vec<(JString, i64, i64)> {
    mix.split(") ")
        .map(|part| {
            let (topic, rest) = part.split_once('=').unwrap();
            let (hash, rest) = rest.split_once(" (value since metaOffset ").unwrap();
            let (offset, _) = rest.split_once(',').unwrap();
            (topic.into(), hash.parse().unwrap(), offset.parse().unwrap())
        })
        .collect()
}

/// Recomputes every stored group hash from our rows; how many there were of each kind.
fn check_group_hashes(folder: &str, golden: &str) -> BTreeMap<String, u32> {
    let rows = rows(folder);
    let mut kinds = BTreeMap::new();
    for line in json_lines(&format!("tests/golden/lab/{golden}/group-hashes.jsonl")) {
        let stored = line["hash"].as_i64().unwrap();
        let kind = line["result"].as_str().unwrap();
        let mut subscribed: Vec<JString> =
            line["subscribed"].as_array().unwrap().iter().map(|topic| topic.as_str().unwrap().into()).collect();
        subscribed.sort();
        let hashes: Vec<i64> = match kind {
            "match-latest" => {
                let offset = line["matchOffset"].as_i64().unwrap();
                subscribed.iter().filter_map(|topic| fresh(&rows, topic, offset)).collect()
            }
            "match-mixed" => {
                let mut mix = parse_mix(line["mix"].as_str().unwrap());
                mix.sort();
                for (topic, hash, offset) in &mix {
                    assert_eq!(fresh(&rows, topic, *offset), Some(*hash), "{topic} at {offset}");
                }
                // The newest hashes of all topics are another group hash: one of the mix is stale.
                let latest = line["latestMetaOffset"].as_i64().unwrap();
                let newest = subscribed.iter().filter_map(|topic| fresh(&rows, topic, latest));
                assert_ne!(group_hash(newest), stored, "{line}");
                mix.iter().map(|(_, hash, _)| *hash).collect()
            }
            // No topics; or, for the lines with topics, a 4.0.0 coordinator, which writes no hash.
            "zero" => Vec::new(),
            other => panic!("a line of an unknown kind: {other}"),
        };
        assert_eq!(group_hash(hashes.into_iter()), stored, "{line}");
        *kinds.entry(kind.to_owned()).or_default() += 1;
    }
    kinds
}

#[test]
fn group_hashes() {
    let kinds = |kinds: &[(&str, u32)]| kinds.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect();
    let expected: BTreeMap<_, _> = kinds(&[("match-latest", 59), ("match-mixed", 1), ("zero", 4)]);
    assert_eq!(check_group_hashes("scenarios/lab-cluster", "4.3.1"), expected);
    let expected: BTreeMap<_, _> = kinds(&[("match-latest", 10), ("zero", 12)]);
    assert_eq!(check_group_hashes("tests/golden/lab/from-4.0.0", "from-4.0.0"), expected);
}

/// The images up to an offset.
fn state(cluster: &ImportedCluster, end_offset: i64) -> HistoryBuilder {
    let images = cluster.images.iter().filter(|image| image.offset < end_offset).cloned().collect();
    ImportedCluster { images, ..cluster.clone() }.history().unwrap()
}

type Topics = Vec<(String, crate::kafka::Uuid, Vec<PartitionState>)>;

fn topics(state: &HistoryBuilder) -> Topics {
    let mut topics: Topics = state
        .topic_names()
        .filter_map(|name| Some((name.to_owned(), state.topic(name)?)))
        .map(|(name, topic)| (name, topic.id, topic.partitions.clone()))
        .collect();
    topics.sort_by(|a, b| a.0.cmp(&b.0));
    topics
}

/// The log up to a snapshot's end gives what the controller wrote into the snapshot: brokers with racks and fencing,
/// topics with replicas, ISR, ELR and leaders.
#[test]
fn log_and_snapshot_agree() {
    for (folder, snapshot) in LAB {
        let end_offset: i64 = snapshot[..20].parse().unwrap();
        let whole = state(&read(&[lab_log(folder)]).unwrap(), end_offset);
        let snapshot = read(&[repository(folder).join(snapshot)]).unwrap();
        assert_eq!((snapshot.images.len(), snapshot.images[0].offset), (1, end_offset - 1));
        let snapshot = snapshot.history().unwrap();
        assert_eq!(
            whole.brokers().map(|(id, broker)| (id, broker.rack.clone(), broker.fenced)).collect::<Vec<_>>(),
            snapshot.brokers().map(|(id, broker)| (id, broker.rack.clone(), broker.fenced)).collect::<Vec<_>>()
        );
        assert_eq!(topics(&whole), topics(&snapshot), "{folder}");
        assert!(
            topics(&whole).iter().any(|(_, _, partitions)| partitions.iter().any(|p| p.isr != p.replicas))
                || folder.ends_with("4.0.0")
        );
    }
}

/// Where the segments do not reach back to offset 0, the snapshot is the first image and the log goes on from it.
#[test]
fn snapshot_and_tail() {
    for (folder, snapshot) in LAB {
        let end_offset: i64 = snapshot[..20].parse().unwrap();
        let bytes = std::fs::read(lab_log(folder)).unwrap();
        let batches = crate::kafka::batch::decode_batches(&bytes).map(Result::unwrap);
        // The tail begins two batches before the end of the snapshot.
        let starts: Vec<_> = batches.map(|batch| (batch.header.base_offset, batch.position)).collect();
        let index = starts.iter().position(|(base, _)| *base == end_offset).unwrap() - 2;
        let tail = bytes[starts[index].1..].to_vec();
        let snapshot_bytes = std::fs::read(repository(folder).join(snapshot)).unwrap();
        let both = read_bytes(&[("00000000000000000999.log", tail), (snapshot, snapshot_bytes)]).unwrap();
        let whole = read(&[lab_log(folder)]).unwrap();
        let after = whole.images.iter().filter(|image| image.offset >= end_offset);
        assert_eq!(both.images[0].event, "snapshot");
        assert!(both.images[1..].iter().eq(after), "{folder}");
        assert_eq!(both.features, whole.features);
        assert_eq!(topics(&both.history().unwrap()), topics(&whole.history().unwrap()));
    }
}

#[test]
fn overlapping_segments_in_any_order() {
    let bytes = std::fs::read(lab_log("scenarios/lab-cluster")).unwrap();
    let starts: Vec<_> =
        crate::kafka::batch::decode_batches(&bytes).map(|batch| batch.unwrap().position).step_by(50).collect();
    let (early, late) = (bytes[..starts[3]].to_vec(), bytes[starts[2]..].to_vec());
    let parts = read_bytes(&[("b.log", late), ("a.log", early)]).unwrap();
    assert_eq!(parts, read(&[lab_log("scenarios/lab-cluster")]).unwrap());
}

/// `bootstrap.checkpoint` and a snapshot beside a whole log are not needed.
#[test]
fn whole_folder() {
    let folder = repository("scenarios/lab-cluster");
    let names = ["00000000000000003794-0000000001.checkpoint", "bootstrap.checkpoint"];
    let mut files: Vec<_> = names.iter().map(|name| folder.join(name)).collect();
    files.push(lab_log("scenarios/lab-cluster"));
    let mut cluster = read(&files).unwrap();
    assert_eq!(std::mem::take(&mut cluster.unused), files[..2]);
    assert_eq!(cluster, read(&files[2..]).unwrap());
}

#[test]
fn scenario_text() {
    let cluster = read(&[lab_log("scenarios/lab-cluster")]).unwrap();
    let text = to_scenario(&cluster, "mine", &["lab-cluster/00000000000000000000.log".to_owned()]).unwrap();
    assert!(
        text.contains("# images: 102, of offsets 9 to 4138, Unix time 1796042372237 to 1796043345082 ms (16m12s845ms)"),
        "{text}"
    );
    assert!(text.contains("#   1: rack \"use1-az9\", fenced\n"), "{text}");
    let table: toml::Table = text.parse().unwrap();
    assert_eq!(table["duration"].as_str(), Some("16m42s845ms"));
    assert_eq!(table["cluster"]["kraft"]["files"], toml::Value::from(vec!["lab-cluster/00000000000000000000.log"]));
    assert_eq!(table["groups"][0]["subscribe"], toml::Value::from(vec!["payments.us", "clicks-web", "clicks-app"]));
}
