//! Replays assignments that real assignors have given: `tests/golden/assignors/sticky.jsonl`, made by calling
//! `StickyTaskAssignor` of the Kafka version that each line names, with random groups whose members join, leave and change
//! their process, while subtopologies grow.

use super::*;
use crate::coordinator::KafkaVersion;
use serde::Deserialize;
use std::collections::BTreeSet;

type Given = BTreeMap<String, BTreeSet<i32>>;

#[derive(Deserialize)]
struct Line {
    kafka: KafkaVersionName,
    replicas: i32,
    /// How many tasks each has, and whether it has a state.
    subtopologies: BTreeMap<String, (i32, bool)>,
    /// Id, process, former active tasks, former standby tasks; in the order of the map.
    members: Vec<(String, String, Given, Given)>,
    /// The active and standby tasks of each.
    assigned: Vec<(Given, Given)>,
}

#[derive(Deserialize)]
#[serde(transparent)]
struct KafkaVersionName(String);

fn tasks(given: &Given) -> TaskSet {
    given.iter().map(|(id, partitions)| (JString::from(id.as_str()), partitions.clone())).collect()
}

fn check(text: &str) -> Result<(), String> {
    let line: Line = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let version: KafkaVersion = line.kafka.0.parse().map_err(|_| line.kafka.0)?;
    let configured = |&(tasks, stateful): &(i32, bool)| ConfiguredSubtopology {
        tasks,
        internal_topics: BTreeMap::new(),
        inputs: BTreeSet::new(),
        stateful,
    };
    let subtopologies =
        line.subtopologies.iter().map(|(id, of_id)| (JString::from(id.as_str()), configured(of_id))).collect();
    let members: Vec<(JString, JString, TaskSet, TaskSet)> = line
        .members
        .iter()
        .map(|(id, process, active, standby)| {
            (id.as_str().into(), process.as_str().into(), tasks(active), tasks(standby))
        })
        .collect();
    let specs: Vec<(&JString, MemberSpec<'_>)> = members
        .iter()
        .map(|(id, process_id, active, standby)| (id, MemberSpec { process_id, active, standby }))
        .collect();
    let group = GroupSpec { members: &specs, standby_replicas: line.replicas, subtopologies: &subtopologies };
    let algorithm = version.behaviour().streams.assignor;
    let assigned = algorithm.assign(&group).map_err(|error| error.to_string())?;
    for ((member, given), (active, standby)) in line.members.iter().zip(&assigned).zip(&line.assigned) {
        let expected = Tasks { active: tasks(active), standby: tasks(standby), ..Tasks::default() };
        if *given != expected {
            return Err(format!("member {}: expected {expected:?}, got {given:?}", member.0));
        }
    }
    Ok(())
}

#[test]
fn tasks_go_to_whom_kafka_gives_them() {
    let text = include_str!("../../../../tests/golden/assignors/sticky.jsonl");
    assert_eq!(text.lines().count(), 64);
    for (number, line) in text.lines().enumerate() {
        assert_eq!(check(line), Ok(()), "line {}", number + 1);
    }
}
