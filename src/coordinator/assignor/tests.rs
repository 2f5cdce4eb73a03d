//! Replays chains of assignments that real assignors have given: `tests/golden/assignors/*.jsonl`, made by calling
//! `RangeAssignor`, `UniformAssignor` and `SimpleAssignor` of the Kafka version that each line names, with random groups whose members
//! join, leave, come back under another id and change their subscriptions, while topics grow, go and come.

use super::*;
use crate::coordinator::assignment::EMPTY;
use crate::kernel::lookup::Lookup;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Members, and the partitions of each topic of theirs.
type Changes = Vec<(String, Vec<(String, Vec<i32>)>)>;

#[derive(Deserialize)]
struct Chain {
    kafka: String,
    seed: u32,
    assignor: String,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    topics: BTreeMap<String, i32>,
    homogeneous: bool,
    /// In the order in which they are put into the map: id, instance id, number of names, topic ids.
    members: Vec<(String, Option<String>, usize, Vec<String>)>,
    /// Members that came back under another id.
    moved: Vec<(String, String)>,
    /// Partitions whose state is not initialised.
    #[serde(default)]
    unassignable: Vec<(String, Vec<i32>)>,
    /// The members with new targets in the order of their records, and what these list.
    #[serde(default)]
    changed: Changes,
    /// Why there was no assignment.
    error: Option<String>,
}

type Targets = BTreeMap<JString, Arc<Assignment>>;

fn uuid(text: &str) -> Uuid {
    text.parse().expect("a topic id")
}

fn behaviour(kafka: &str) -> AssignorBehaviour {
    let heterogeneous = if kafka == "3.9.1" { Heterogeneous::Partitions } else { Heterogeneous::Topics };
    let simple = if kafka == "4.1.1" { SimpleAssignor::Hashed } else { SimpleAssignor::Shared };
    AssignorBehaviour { extra_partitions_stay: !matches!(kafka, "3.9.1" | "4.0.0"), heterogeneous, simple }
}

fn invert(targets: &Targets) -> TimelineMap<Uuid, TimelineMap<i32, JString>> {
    let mut inverted = TimelineMap::<Uuid, TimelineMap<i32, JString>>::new(0);
    for (member, target) in targets {
        for (topic, partitions) in target.partitions.iter() {
            if !inverted.contains(topic) {
                inverted.insert(*topic, TimelineMap::new(0), 1);
            }
            for partition in partitions.iter() {
                inverted.get_mut(topic).expect("put above").insert(partition, member.clone(), 1);
            }
        }
    }
    inverted
}

/// As `TargetAssignmentBuilder.build` does, and then as the records are replayed.
fn play(step: &Step, assignor: &str, kafka: &str, targets: &mut Targets) -> Result<Changes, AssignorError> {
    for (old, new) in &step.moved {
        if let Some(target) = targets.remove(old.as_str()) {
            targets.insert(JString::from(new.as_str()), target);
        }
    }
    targets.retain(|id, _| step.members.iter().any(|member| member.0 == id.as_str()));
    let mut members = HashMap::new();
    for (id, instance_id, subscribed_names, subscribed) in &step.members {
        let spec = MemberSpec {
            instance_id: instance_id.as_deref().map(JString::from),
            rack: None,
            subscribed: subscribed.iter().map(|id| uuid(id)).collect(),
            subscribed_names: *subscribed_names,
            assignment: targets.get(id.as_str()).unwrap_or(&EMPTY).clone(),
        };
        members.insert(JString::from(id.as_str()), spec);
    }
    let mut counts = Lookup::new();
    for (id, &count) in &step.topics {
        counts.insert(uuid(id), count);
    }
    let inverted = invert(targets);
    let unassignable: Vec<_> = step.unassignable.iter().map(|(id, partitions)| (uuid(id), partitions)).collect();
    let is_assignable = |id, partition| !unassignable.iter().any(|(of, them)| *of == id && them.contains(&partition));
    let num_partitions = |id| counts.get(&id).copied().unwrap_or(-1);
    let group = GroupSpec {
        members: &members,
        homogeneous: step.homogeneous,
        inverted: &inverted,
        num_partitions: &num_partitions,
        is_assignable: &is_assignable,
    };
    let given = Assignor::from_name(assignor).unwrap_or(Assignor::Simple).assign(&group, behaviour(kafka))?;

    let mut changes = Changes::new();
    for id in members.keys() {
        let target = given.get(id).unwrap_or(&EMPTY);
        if targets.get(id) != Some(target) {
            let record = target.to_record();
            let listed = record.iter().map(|topic| (topic.topic_id.to_string(), topic.partitions.clone()));
            changes.push((id.to_string(), listed.collect()));
            targets.insert(id.clone(), Arc::new(Assignment::from_record(&record)));
        }
    }
    Ok(changes)
}

/// Plays the chains of a file; gives the numbers of chains, steps, and steps that fail in Kafka.
fn replay(text: &str) -> (usize, usize, usize) {
    let (mut chains, mut steps, mut failed) = (0, 0, 0);
    for line in text.lines() {
        let chain: Chain = serde_json::from_str(line).expect("a chain");
        let mut targets = Targets::new();
        for (index, step) in chain.steps.iter().enumerate() {
            let what = format!("Kafka {}, seed {}, step {index}", chain.kafka, chain.seed);
            match (play(step, &chain.assignor, &chain.kafka, &mut targets), &step.error) {
                (Ok(changes), None) => assert_eq!(changes, step.changed, "{what}"),
                (Err(error), Some(message)) => {
                    let (_, message) = message.split_once(": ").unwrap_or_default();
                    assert_eq!(error.to_string().to_lowercase(), message.to_lowercase(), "{what}");
                    failed += 1;
                }
                (ours, theirs) => panic!("{what}: we give {ours:?}, Kafka {theirs:?}"),
            }
        }
        chains += 1;
        steps += chain.steps.len();
    }
    (chains, steps, failed)
}

#[test]
fn range() {
    assert_eq!(replay(include_str!("../../../tests/golden/assignors/range.jsonl")), (3, 7, 0));
}

#[test]
fn uniform_homogeneous() {
    assert_eq!(replay(include_str!("../../../tests/golden/assignors/uniform-homogeneous.jsonl")), (3, 6, 0));
}

/// The last chain stops at the greatest number of rounds.
#[test]
fn uniform_heterogeneous() {
    assert_eq!(replay(include_str!("../../../tests/golden/assignors/uniform-heterogeneous.jsonl")), (5, 14, 0));
}

/// The second chain runs into the wrong check of Kafka 3.9.
#[test]
fn uniform_heterogeneous_of_kafka_3_9() {
    assert_eq!(replay(include_str!("../../../tests/golden/assignors/uniform-heterogeneous-3.9.jsonl")), (3, 7, 1));
}

/// Four chains end where Kafka has no member left to give a partition to.
#[test]
fn simple_of_share_groups() {
    assert_eq!(replay(include_str!("../../../tests/golden/assignors/simple.jsonl")), (21, 74, 4));
}

#[test]
fn a_topic_that_does_not_exist() {
    let spec = MemberSpec {
        instance_id: None,
        rack: None,
        subscribed: Arc::new([Uuid(1)]),
        subscribed_names: 1,
        assignment: Arc::clone(&EMPTY),
    };
    let mut members = HashMap::new();
    members.insert(JString::from("a"), spec);
    let inverted = TimelineMap::new(0);
    for (homogeneous, assignor) in [(true, Assignor::Range), (true, Assignor::Uniform), (false, Assignor::Uniform)] {
        let group = GroupSpec {
            members: &members,
            homogeneous,
            inverted: &inverted,
            num_partitions: &|_| -1,
            is_assignable: &|_, _| true,
        };
        for kafka in ["3.9.1", "4.3.1"] {
            let error = assignor.assign(&group, behaviour(kafka)).expect_err("there is no such topic");
            assert_eq!(error, AssignorError::UnknownTopic(Uuid(1)));
        }
    }
}
