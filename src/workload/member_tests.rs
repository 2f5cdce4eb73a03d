//! What the Java consumer sends, and when. The expected requests follow from kafka-clients 4.3.1's sources; the order
//! of requests of a join, a rebalance and a leave is that of the real consumers in the lab.

use super::application::Application;
use super::fleet::{GroupPlan, MemberPlan, Step};
use super::member::MemberEmulator;
use crate::coordinator::protocol::{Assigned, ConsumerHeartbeat, HeartbeatError, HeartbeatRequest, HeartbeatResponse};
use crate::kafka::{GroupKind, JString, Uuid};
use crate::scenario;
use std::sync::Arc;

const ORDERS: Uuid = Uuid(1);
const PAYMENTS: Uuid = Uuid(2);

fn plan(revocation_ms: i64, instance: Option<&str>) -> MemberPlan {
    MemberPlan {
        instance_id: instance.map(JString::from),
        process_id: None,
        rack: Some(JString::from("a")),
        client_id: JString::from("client"),
        client_host: JString::from("/10.0.0.1"),
        assignor: Some(JString::from("range")),
        rebalance_timeout_ms: 300_000,
        revocation_ms,
        retry_seed: 5,
        steps: Vec::new(),
    }
}

fn group(kind: GroupKind) -> GroupPlan {
    let plan = scenario::Application {
        threads: 1,
        subtopologies: vec![scenario::Subtopology { reads: scenario::Reads::Sources, stores: 1 }],
        internal_topics_after_ms: 100,
    };
    let application = (kind == GroupKind::Streams).then(|| Application::new("g", &[JString::from("orders")], &plan));
    GroupPlan { kind, name: JString::from("g"), application: application.map(Arc::new), members: Vec::new() }
}

fn join(topics: &[&str]) -> Step {
    let topics = topics.iter().map(|topic| JString::from(*topic)).collect();
    Step::Join { member_id: JString::from("m"), topics }
}

fn answer(member_epoch: i32, assignment: Option<&[(Uuid, &[i32])]>) -> HeartbeatResponse {
    let assignment = assignment.map(|list| list.iter().map(|(id, p)| (*id, p.to_vec())).collect());
    HeartbeatResponse {
        member_epoch,
        heartbeat_interval_ms: 5_000,
        assignment: assignment.map(Assigned::Partitions),
        status: Vec::new(),
    }
}

/// A request in short: time, epoch, and what it carries.
fn short(time_ms: i64, request: &ConsumerHeartbeat) -> String {
    let mut text = format!("{time_ms} epoch={}", request.epoch);
    let names = |topics: &[JString]| topics.iter().map(|t| t.as_str()).collect::<Vec<_>>().join(",");
    let owned = |owned: &[(Uuid, Vec<i32>)]| owned.iter().map(|(id, p)| format!("{}:{p:?}", id.0)).collect::<String>();
    request.topics.iter().for_each(|topics| text.push_str(&format!(" topics={}", names(topics))));
    request.owned.iter().for_each(|list| text.push_str(&format!(" owned={}", owned(list))));
    request.rack.iter().for_each(|rack| text.push_str(&format!(" rack={rack}")));
    request.assignor.iter().for_each(|assignor| text.push_str(&format!(" assignor={assignor}")));
    if request.rebalance_timeout_ms >= 0 {
        text.push_str(&format!(" timeout={}", request.rebalance_timeout_ms));
    }
    text
}

/// Sends the next heartbeat and takes an answer; gives the request in short.
fn beat(member: &mut MemberEmulator, response: Result<HeartbeatResponse, HeartbeatError>) -> String {
    let now_ms = member.next_heartbeat_ms().expect("it runs");
    let request = member.build_request(now_ms).map(|request| match request {
        HeartbeatRequest::Consumer(request) => request,
        other => panic!("{other:?}"),
    });
    member.on_response(now_ms, response.as_ref().map_err(|error| *error));
    request.map_or_else(|| format!("{now_ms} nothing"), |request| short(now_ms, &request))
}

const FULL: &str = "topics=orders,payments owned= rack=a assignor=range timeout=300000";

#[test]
fn a_join_says_everything_then_only_what_changed() {
    let (group, plan, start) = (group(GroupKind::Consumer), plan(0, None), join(&["orders", "payments"]));
    let mut member = MemberEmulator::new(&group, &plan);
    assert_eq!(member.next_heartbeat_ms(), None);
    member.step(100, &start);
    assert_eq!(beat(&mut member, Ok(answer(2, Some(&[(ORDERS, &[1, 0])])))), format!("100 epoch=0 {FULL}"));
    assert_eq!(member.idle_interval_ms(), None);
    assert_eq!(beat(&mut member, Ok(answer(2, None))), "101 epoch=2 owned=1:[0, 1]");
    assert_eq!(member.idle_interval_ms(), Some(5_000));
    assert_eq!(beat(&mut member, Ok(answer(2, None))), "5101 epoch=2");
    member.skip_idle_heartbeats(2);
    assert_eq!(beat(&mut member, Ok(answer(2, None))), "20101 epoch=2");
}

#[test]
fn an_empty_first_assignment_is_acknowledged_too() {
    let (group, plan, start) = (group(GroupKind::Consumer), plan(0, None), join(&["orders", "payments"]));
    let mut member = MemberEmulator::new(&group, &plan);
    member.step(0, &start);
    assert_eq!(beat(&mut member, Ok(answer(3, Some(&[])))), format!("0 epoch=0 {FULL}"));
    assert_eq!(beat(&mut member, Ok(answer(3, Some(&[])))), "1 epoch=3 owned=");
    assert_eq!(beat(&mut member, Ok(answer(3, None))), "5001 epoch=3");
}

#[test]
fn revocation_takes_its_time_while_heartbeats_go_on() {
    let (group, plan, start) = (group(GroupKind::Consumer), plan(7_000, None), join(&["orders"]));
    let mut member = MemberEmulator::new(&group, &plan);
    member.step(0, &start);
    beat(&mut member, Ok(answer(2, Some(&[(ORDERS, &[0, 1]), (PAYMENTS, &[0])]))));
    assert_eq!(beat(&mut member, Ok(answer(2, None))), "1 epoch=2 owned=1:[0, 1]2:[0]");
    assert_eq!(beat(&mut member, Ok(answer(2, Some(&[(ORDERS, &[0])])))), "5001 epoch=2");
    // While the callback runs nothing is given up yet; a new target waits for the next round.
    assert_eq!(beat(&mut member, Ok(answer(2, Some(&[(ORDERS, &[0]), (PAYMENTS, &[3])])))), "10001 epoch=2");
    assert_eq!(beat(&mut member, Ok(answer(3, None))), "12001 epoch=2 owned=1:[0]");
    assert_eq!(beat(&mut member, Ok(answer(3, None))), "12002 epoch=3 owned=1:[0]2:[3]");
    assert!(matches!(member.owned(), Assigned::Partitions(owned) if owned.len() == 2));
}

#[test]
fn a_changed_subscription_waits_for_the_next_heartbeat() {
    let (group, plan, start) = (group(GroupKind::Consumer), plan(0, None), join(&["orders"]));
    let mut member = MemberEmulator::new(&group, &plan);
    member.step(0, &start);
    beat(&mut member, Ok(answer(2, Some(&[]))));
    beat(&mut member, Ok(answer(2, None)));
    let other = Step::Subscribe { topics: vec![JString::from("payments")] };
    member.step(300, &other);
    assert_eq!(member.idle_interval_ms(), None);
    assert_eq!(beat(&mut member, Ok(answer(2, None))), "5001 epoch=2 topics=payments");
    assert_eq!(beat(&mut member, Ok(answer(2, None))), "10001 epoch=2");
}

#[test]
fn a_fenced_member_gives_up_and_rejoins() {
    for error in [HeartbeatError::FencedMemberEpoch, HeartbeatError::UnknownMemberId] {
        let (group, plan, start) = (group(GroupKind::Consumer), plan(2_000, None), join(&["orders", "payments"]));
        let mut member = MemberEmulator::new(&group, &plan);
        member.step(0, &start);
        beat(&mut member, Ok(answer(2, Some(&[(ORDERS, &[0])]))));
        beat(&mut member, Ok(answer(2, None)));
        assert_eq!(beat(&mut member, Err(error)), "5001 epoch=2");
        assert_eq!(*member.owned(), Assigned::Partitions(Vec::new()));
        assert_eq!(beat(&mut member, Ok(answer(5, Some(&[(ORDERS, &[0])])))), format!("7001 epoch=0 {FULL}"));
        assert_eq!(beat(&mut member, Ok(answer(5, None))), "7002 epoch=5 owned=1:[0]");
    }
}

#[test]
fn another_coordinator_is_looked_for_at_once_then_with_backoff() {
    let (group, plan, start) = (group(GroupKind::Consumer), plan(0, None), join(&["orders"]));
    let mut member = MemberEmulator::new(&group, &plan);
    member.step(0, &start);
    beat(&mut member, Ok(answer(2, Some(&[(ORDERS, &[0])]))));
    beat(&mut member, Ok(answer(2, None)));
    let sent = "epoch=2 topics=orders owned=1:[0] assignor=range timeout=300000";
    assert_eq!(beat(&mut member, Err(HeartbeatError::NotCoordinator)), "5001 epoch=2");
    let times: Vec<String> = (0..6).map(|_| beat(&mut member, Err(HeartbeatError::CoordinatorNotAvailable))).collect();
    let at = |time_ms: i64| format!("{time_ms} {sent}");
    assert_eq!(times, [at(5_003), at(5_100), at(5_269), at(5_627), at(6_495), at(7_321)]);
    // After an error all but the rack is said again, and the backoff starts anew after a success.
    assert_eq!(beat(&mut member, Ok(answer(2, None))), at(8_177));
    assert_eq!(beat(&mut member, Err(HeartbeatError::NotCoordinator)), "13177 epoch=2");
    assert_eq!(beat(&mut member, Ok(answer(2, None))), at(13_179));
}

#[test]
fn some_errors_are_fatal_until_the_next_start() {
    for error in [
        HeartbeatError::UnknownServerError,
        HeartbeatError::UnreleasedInstanceId,
        HeartbeatError::FencedInstanceId,
        HeartbeatError::GroupIdNotFound,
        HeartbeatError::InvalidRequest,
        HeartbeatError::UnsupportedAssignor,
        HeartbeatError::GroupMaxSizeReached,
        HeartbeatError::InvalidRegularExpression,
    ] {
        let (group, plan, start) = (group(GroupKind::Consumer), plan(0, Some("i")), join(&["orders"]));
        let mut member = MemberEmulator::new(&group, &plan);
        member.step(0, &start);
        beat(&mut member, Err(error));
        assert_eq!((member.next_heartbeat_ms(), member.is_up()), (None, false), "{}", error.name());
        assert_eq!(member.build_request(10), None);
        member.step(20, &start);
        assert_eq!(member.next_heartbeat_ms(), Some(20));
    }
}

/// Leaves at 8 s: gives the requests after that.
fn leave(step: &Step, instance: Option<&str>, revocation_ms: i64) -> Vec<String> {
    let (group, plan, start) = (group(GroupKind::Consumer), plan(revocation_ms, instance), join(&["orders"]));
    let mut member = MemberEmulator::new(&group, &plan);
    member.step(0, &start);
    beat(&mut member, Ok(answer(2, Some(&[(ORDERS, &[0])]))));
    beat(&mut member, Ok(answer(2, None)));
    beat(&mut member, Ok(answer(2, None)));
    member.step(8_000, step);
    let mut requests = Vec::new();
    while member.next_heartbeat_ms().is_some() {
        requests.push(beat(&mut member, Ok(answer(2, None))));
    }
    requests
}

#[test]
fn leaving_stopping_and_crashing() {
    assert_eq!(leave(&Step::Leave, None, 0), ["8000 epoch=-1 topics= owned="]);
    assert_eq!(leave(&Step::Stop, None, 0), ["8000 epoch=-1 topics= owned="]);
    assert_eq!(leave(&Step::Stop, Some("i"), 0), ["8000 epoch=-2 topics= owned="]);
    assert_eq!(leave(&Step::Leave, Some("i"), 0), ["8000 epoch=-1 topics= owned="]);
    assert_eq!(leave(&Step::Crash, None, 0), [""; 0]);
    // The callback runs first; heartbeats go on.
    assert_eq!(leave(&Step::Leave, None, 3_000), ["10001 epoch=2", "11000 epoch=-1 topics= owned="]);
}

#[test]
fn a_leave_without_a_coordinator_is_lost() {
    let (group, plan, start) = (group(GroupKind::Consumer), plan(0, None), join(&["orders"]));
    let mut member = MemberEmulator::new(&group, &plan);
    member.step(0, &start);
    beat(&mut member, Err(HeartbeatError::NotCoordinator));
    member.step(1, &Step::Leave);
    assert_eq!(beat(&mut member, Ok(answer(-1, None))), "1 nothing");
    assert_eq!(member.next_heartbeat_ms(), None);
}

/// A request of a share or streams group's member in short.
fn other(member: &mut MemberEmulator, response: Result<HeartbeatResponse, HeartbeatError>) -> String {
    let now_ms = member.next_heartbeat_ms().expect("it runs");
    let request = member.build_request(now_ms).expect("it sends");
    member.on_response(now_ms, response.as_ref().map_err(|error| *error));
    let mut text = format!("{now_ms} epoch={}", request.epoch());
    match &request {
        HeartbeatRequest::Share(request) => {
            request.topics.iter().for_each(|topics| text.push_str(&format!(" topics={}", topics.len())));
            request.rack.iter().for_each(|rack| text.push_str(&format!(" rack={rack}")));
        }
        HeartbeatRequest::Streams(request) => {
            let topology = request.topology.iter().map(|topology| topology.subtopologies.len());
            topology.for_each(|parts| text.push_str(&format!(" topology={parts}")));
            request.process_id.iter().for_each(|process| text.push_str(&format!(" process={process}")));
            request.rack.iter().for_each(|rack| text.push_str(&format!(" rack={rack}")));
            for (role, list) in
                [("active", &request.active), ("standby", &request.standby), ("warmup", &request.warmup)]
            {
                let tasks = |list: &Vec<(JString, Vec<i32>)>| format!(" {role}={list:?}").replace("JString", "");
                list.iter().for_each(|list| text.push_str(&tasks(list)));
            }
        }
        HeartbeatRequest::Consumer(request) => panic!("{request:?}"),
    }
    text
}

/// `ShareHeartbeatRequestManager.HeartbeatState.buildRequestData` of 4.3.1: the rack once, topics when they change.
#[test]
fn a_share_member_says_its_rack_once() {
    let (group, plan, start) = (group(GroupKind::Share), plan(0, None), join(&["orders"]));
    let mut member = MemberEmulator::new(&group, &plan);
    member.step(0, &start);
    assert_eq!(other(&mut member, Ok(answer(2, Some(&[(ORDERS, &[0, 1])])))), "0 epoch=0 topics=1 rack=a");
    // It acknowledges at once, which says nothing.
    assert_eq!(other(&mut member, Ok(answer(2, None))), "1 epoch=2");
    assert_eq!(member.idle_interval_ms(), Some(5_000));
    let both = Step::Subscribe { topics: vec![JString::from("orders"), JString::from("payments")] };
    member.step(3, &both);
    assert_eq!(other(&mut member, Ok(answer(3, None))), "5001 epoch=2 topics=2");
    assert_eq!(other(&mut member, Err(HeartbeatError::UnknownMemberId)), "10001 epoch=3");
    assert_eq!(other(&mut member, Ok(answer(5, Some(&[(ORDERS, &[0])])))), "10002 epoch=0 topics=2 rack=a");
    assert_eq!(other(&mut member, Ok(answer(5, None))), "10003 epoch=5");
    member.step(10_004, &Step::Leave);
    assert_eq!(other(&mut member, Ok(answer(-1, None))), "10004 epoch=-1 topics=0");
    assert!(!member.is_up());
}

/// `StreamsGroupHeartbeatRequestManager.HeartbeatState.buildRequestData` of 4.3.1: the topology when it joins, tasks when
/// they change, and none of both when it leaves.
#[test]
fn a_streams_member_sends_its_topology_when_it_joins() {
    let group = group(GroupKind::Streams);
    let plan = MemberPlan { process_id: Some(JString::from("p")), ..plan(1_000, None) };
    let start = join(&["orders"]);
    let tasks = |active: &[i32]| Assigned::Tasks {
        active: vec![(JString::from("0"), active.to_vec())],
        standby: Vec::new(),
        warmup: Vec::new(),
    };
    let told = |member_epoch, active: &[i32]| {
        Ok(HeartbeatResponse {
            member_epoch,
            heartbeat_interval_ms: 5_000,
            assignment: Some(tasks(active)),
            status: Vec::new(),
        })
    };
    let mut member = MemberEmulator::new(&group, &plan);
    member.step(0, &start);
    let joins = "epoch=0 topology=1 process=p rack=a active=[] standby=[] warmup=[]";
    assert_eq!(other(&mut member, told(2, &[1, 0])), format!("0 {joins}"));
    assert_eq!(*member.owned(), Assigned::Tasks { active: Vec::new(), standby: Vec::new(), warmup: Vec::new() });
    let acknowledges = other(&mut member, Ok(answer(2, None)));
    assert_eq!(acknowledges, "1 epoch=2 active=[(\"0\", [0, 1])] standby=[] warmup=[]");
    assert_eq!(*member.owned(), tasks(&[0, 1]));
    assert_eq!(member.idle_interval_ms(), Some(5_000));
    assert_eq!(other(&mut member, told(2, &[0])), "5001 epoch=2");
    // The application takes a second to close the task that it loses.
    assert_eq!(other(&mut member, Ok(answer(3, None))), "6001 epoch=2 active=[(\"0\", [0])] standby=[] warmup=[]");
    assert_eq!(other(&mut member, Err(HeartbeatError::FencedMemberEpoch)), "11001 epoch=3");
    assert_eq!(other(&mut member, told(5, &[0])), format!("12001 {joins}"));
    assert!(other(&mut member, Ok(answer(5, None))).starts_with("12002 epoch=5 active="));
    // It gives its task up, then leaves: a member that is not static cannot leave for a while.
    member.step(12_003, &Step::Stop);
    assert_eq!(other(&mut member, Ok(answer(-1, None))), "13003 epoch=-1");
}
