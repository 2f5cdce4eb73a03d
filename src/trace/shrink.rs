//! Makes a trace smaller while something stays true of it (two coordinators differ on it, say).
//!
//! First whole groups, topics, members and subtopologies go, then runs of events (delta debugging: halves, quarters, … single
//! ones), then configuration, single changes, partitions, replicas and fields. What no longer makes sense once
//! something is gone (a change of a topic that nobody creates any more) goes with it, so that every candidate is a
//! trace that can be read.

use super::{
    ConsumerBody, Event, EventKind, GroupKind, Heartbeat, HeartbeatBody, Names, Owned, StreamsBody, Subtopology, Tasks,
    TopicInfo, Trace,
};
use crate::cluster::Change;
use std::collections::BTreeSet;

/// The smallest trace that was found for which `still_differs` holds; it is asked of every candidate, never of
/// `trace` itself. Runs until no single step makes the trace smaller.
pub fn shrink(trace: &Trace, mut still_differs: impl FnMut(&Trace) -> bool) -> Trace {
    let mut best = trace.clone();
    loop {
        let before = best.clone();
        try_each(&mut best, names, &mut still_differs);
        drop_runs(&mut best, &mut still_differs);
        try_each(&mut best, parts, &mut still_differs);
        if best == before {
            return best;
        }
    }
}

/// One way to make a trace smaller.
#[derive(Debug, Clone)]
enum Step {
    Group(GroupKind, String),
    Member(GroupKind, String, String),
    Topic(String),
    /// A subtopology of all members of a group.
    Subtopology(String, String),
    Config(usize),
    /// A change of a metadata event.
    Change(usize, usize),
    /// Only so many partitions of a new topic, or new partitions of one.
    Partitions(usize, usize, usize),
    /// The last replica of every partition of a change.
    Replica(usize, usize),
    /// Whatever else a change says.
    Detail(usize, usize, fn(&mut Change)),
    /// A field of a heartbeat.
    Field(usize, fn(&mut Heartbeat)),
    /// A name of a subscription.
    Subscription(usize, usize),
    /// An owned topic.
    OwnedTopic(usize, usize),
    /// The time between an event and the one before.
    Pause(usize),
}

/// Tries steps one after the other. After a step that was made the list of steps is drawn up anew, and goes on at
/// the same place.
fn try_each(best: &mut Trace, steps: fn(&Trace) -> Vec<Step>, still_differs: &mut impl FnMut(&Trace) -> bool) {
    let mut place = 0;
    loop {
        let steps = steps(best);
        let taken = steps.get(place..).and_then(|rest| {
            rest.iter().position(|step| {
                let candidate = make(best, step);
                attempt(best, candidate, still_differs)
            })
        });
        match taken {
            Some(passed) => place += passed,
            None => return,
        }
    }
}

/// Takes a candidate if it is another trace and still differs.
fn attempt(best: &mut Trace, candidate: Trace, still_differs: &mut impl FnMut(&Trace) -> bool) -> bool {
    let candidate = repaired(candidate);
    let taken = candidate != *best && still_differs(&candidate);
    if taken {
        *best = candidate;
    }
    taken
}

/// Drops runs of events, long ones first.
fn drop_runs(best: &mut Trace, still_differs: &mut impl FnMut(&Trace) -> bool) {
    let mut length = best.events.len().div_ceil(2);
    while length > 0 {
        // From the end: what happens after the difference is of no use.
        let mut end = best.events.len();
        while end > 0 {
            let start = end.saturating_sub(length);
            let mut candidate = best.clone();
            candidate.events.drain(start..end);
            attempt(best, candidate, still_differs);
            end = start.min(best.events.len());
        }
        length /= 2;
    }
}

/// Without the changes that cannot be applied; lines are numbered anew.
fn repaired(mut trace: Trace) -> Trace {
    let mut names = Names::new();
    for (index, event) in trace.events.iter_mut().enumerate() {
        event.line = index + 2;
        if let EventKind::Metadata(changes) = &mut event.kind {
            changes.retain(|change| names.apply(change).is_ok());
        }
    }
    trace
}

/// Steps that drop a group, a topic, a member or a subtopology.
fn names(trace: &Trace) -> Vec<Step> {
    let mut groups = BTreeSet::new();
    let mut members = BTreeSet::new();
    let mut topics = BTreeSet::new();
    let mut subtopologies = BTreeSet::new();
    for event in &trace.events {
        match &event.kind {
            EventKind::Heartbeat(heartbeat) => {
                groups.insert((heartbeat.kind(), &heartbeat.group));
                members.insert((heartbeat.kind(), &heartbeat.group, &heartbeat.member));
                for subtopology in subtopologies_of(heartbeat) {
                    subtopologies.insert((&heartbeat.group, &subtopology.id));
                    topics.extend(topics_of(subtopology));
                }
            }
            EventKind::Metadata(changes) => topics.extend(changes.iter().filter_map(topic_of)),
            EventKind::Tick | EventKind::Failover => {}
        }
    }
    let groups = groups.into_iter().map(|(kind, group)| Step::Group(kind, group.clone()));
    let topics = topics.into_iter().map(|topic| Step::Topic(topic.to_owned()));
    let members = members.into_iter().map(|(kind, group, member)| Step::Member(kind, group.clone(), member.clone()));
    let subtopologies = subtopologies.into_iter().map(|(group, id)| Step::Subtopology(group.clone(), id.clone()));
    groups.chain(topics).chain(members).chain(subtopologies).collect()
}

fn subtopologies_of(heartbeat: &Heartbeat) -> impl Iterator<Item = &Subtopology> {
    let topology = match &heartbeat.body {
        HeartbeatBody::Streams(body) => body.topology.as_ref(),
        HeartbeatBody::Consumer(_) | HeartbeatBody::Share(_) => None,
    };
    topology.into_iter().flat_map(|topology| &topology.subtopologies)
}

fn topics_of(subtopology: &Subtopology) -> impl Iterator<Item = &str> {
    let names = [&subtopology.sources, &subtopology.repartition_sinks].into_iter().flatten().flatten();
    let infos = [&subtopology.state_changelogs, &subtopology.repartition_sources].into_iter().flatten().flatten();
    names.chain(infos.map(|info| &info.name)).map(String::as_str)
}

fn topic_of(change: &Change) -> Option<&str> {
    match change {
        Change::CreateTopic { name: topic, .. }
        | Change::AddPartitions { topic, .. }
        | Change::ChangePartition { topic, .. }
        | Change::DeleteTopic { topic } => Some(topic),
        Change::RegisterBroker { .. } | Change::UnregisterBroker { .. } | Change::FenceBroker { .. } => None,
    }
}

/// Steps that drop a part of the header or of an event.
fn parts(trace: &Trace) -> Vec<Step> {
    let mut steps: Vec<Step> = (0..trace.config.len()).map(Step::Config).collect();
    let mut previous_ms = 0;
    for (at, event) in trace.events.iter().enumerate() {
        if event.t_ms > previous_ms {
            steps.push(Step::Pause(at));
        }
        previous_ms = event.t_ms;
        match &event.kind {
            EventKind::Metadata(changes) => {
                for (position, change) in changes.iter().enumerate() {
                    change_steps(at, position, change, &mut steps);
                }
            }
            EventKind::Heartbeat(heartbeat) => heartbeat_steps(at, heartbeat, &mut steps),
            EventKind::Tick | EventKind::Failover => {}
        }
    }
    steps
}

fn change_steps(at: usize, position: usize, change: &Change, steps: &mut Vec<Step>) {
    steps.push(Step::Change(at, position));
    let mut detail = |step| steps.push(Step::Detail(at, position, step));
    match change {
        Change::RegisterBroker { rack: Some(_), .. } => detail(|change| {
            if let Change::RegisterBroker { rack, .. } = change {
                *rack = None;
            }
        }),
        Change::ChangePartition { .. } => {
            detail(|change| {
                if let Change::ChangePartition { isr, leader, elr, .. } = change {
                    (*isr, *leader, *elr) = (None, None, None);
                }
            });
            detail(|change| {
                if let Change::ChangePartition { replicas, .. } = change {
                    *replicas = None;
                }
            });
        }
        Change::CreateTopic { replicas, .. } | Change::AddPartitions { replicas, .. } => {
            let count = replicas.len();
            if count > 1 {
                steps.extend([count / 2, count - 1].map(|keep| Step::Partitions(at, position, keep)));
            }
            if replicas.iter().any(|replicas| replicas.len() > 1) {
                steps.push(Step::Replica(at, position));
            }
        }
        _ => {}
    }
}

fn heartbeat_steps(at: usize, heartbeat: &Heartbeat, steps: &mut Vec<Step>) {
    let mut fields: Vec<fn(&mut Heartbeat)> = vec![
        |heartbeat| heartbeat.write_fails = false,
        |heartbeat| heartbeat.rack = None,
        |heartbeat| heartbeat.client_id = None,
        |heartbeat| heartbeat.client_host = None,
    ];
    match &heartbeat.body {
        HeartbeatBody::Consumer(body) => {
            fields.extend::<[fn(&mut Heartbeat); 6]>([
                |heartbeat| consumer(heartbeat, |body| body.topics = None),
                |heartbeat| consumer(heartbeat, |body| body.regex = None),
                |heartbeat| consumer(heartbeat, |body| body.instance = None),
                |heartbeat| consumer(heartbeat, |body| body.assignor = None),
                |heartbeat| consumer(heartbeat, |body| body.rebalance_timeout_ms = None),
                |heartbeat| consumer(heartbeat, |body| body.owned = Owned::Absent),
            ]);
            if let Owned::List(list) = &body.owned {
                steps.extend((0..list.len()).map(|place| Step::OwnedTopic(at, place)));
            }
            subscription_steps(at, body.topics.as_ref(), steps);
        }
        HeartbeatBody::Share(topics) => subscription_steps(at, topics.as_ref(), steps),
        HeartbeatBody::Streams(_) => fields.extend::<[fn(&mut Heartbeat); 7]>([
            |heartbeat| streams(heartbeat, |body| body.process_id = None),
            |heartbeat| streams(heartbeat, |body| body.instance = None),
            |heartbeat| streams(heartbeat, |body| body.rebalance_timeout_ms = None),
            |heartbeat| streams(heartbeat, |body| body.topology = None),
            |heartbeat| streams(heartbeat, |body| body.active = Owned::Absent),
            |heartbeat| streams(heartbeat, |body| body.standby = Owned::Absent),
            |heartbeat| streams(heartbeat, |body| body.warmup = Owned::Absent),
        ]),
    }
    let changes = |step: &fn(&mut Heartbeat)| {
        let mut changed = heartbeat.clone();
        step(&mut changed);
        changed != *heartbeat
    };
    steps.extend(fields.into_iter().filter(changes).map(|step| Step::Field(at, step)));
}

fn subscription_steps(at: usize, topics: Option<&Vec<String>>, steps: &mut Vec<Step>) {
    let count = topics.map_or(0, Vec::len);
    if count > 1 {
        steps.extend((0..count).map(|place| Step::Subscription(at, place)));
    }
}

fn consumer(heartbeat: &mut Heartbeat, change: fn(&mut ConsumerBody)) {
    if let HeartbeatBody::Consumer(body) = &mut heartbeat.body {
        change(body);
    }
}

fn streams(heartbeat: &mut Heartbeat, change: fn(&mut StreamsBody)) {
    if let HeartbeatBody::Streams(body) = &mut heartbeat.body {
        change(body);
    }
}

/// The trace after a step.
fn make(trace: &Trace, step: &Step) -> Trace {
    let mut trace = trace.clone();
    let events = &mut trace.events;
    match step {
        Step::Group(kind, group) => drop_heartbeats(events, |of| of.kind() == *kind && of.group == *group),
        Step::Member(kind, group, member) => {
            drop_heartbeats(events, |of| of.kind() == *kind && of.group == *group && of.member == *member);
        }
        Step::Topic(topic) => drop_topic(events, topic),
        Step::Subtopology(group, id) => drop_subtopology(events, group, id),
        Step::Config(place) => {
            trace.config.remove(*place);
        }
        Step::Change(at, position) => {
            if let EventKind::Metadata(changes) = &mut events[*at].kind {
                changes.remove(*position);
            }
        }
        Step::Partitions(at, position, keep) => {
            if let Some(replicas) = new_replicas(&mut events[*at], *position) {
                replicas.truncate(*keep);
            }
        }
        Step::Replica(at, position) => {
            if let Some(replicas) = new_replicas(&mut events[*at], *position) {
                replicas.iter_mut().for_each(|replicas| replicas.truncate((replicas.len() - 1).max(1)));
            }
        }
        Step::Detail(at, position, change) => {
            if let EventKind::Metadata(changes) = &mut events[*at].kind {
                change(&mut changes[*position]);
            }
        }
        Step::Field(at, change) => {
            if let EventKind::Heartbeat(heartbeat) = &mut events[*at].kind {
                change(heartbeat);
            }
        }
        Step::Subscription(at, place) => {
            if let Some(topics) = subscription(&mut events[*at]) {
                topics.remove(*place);
            }
        }
        Step::OwnedTopic(at, place) => {
            if let EventKind::Heartbeat(heartbeat) = &mut events[*at].kind
                && let HeartbeatBody::Consumer(body) = &mut heartbeat.body
                && let Owned::List(list) = &mut body.owned
            {
                list.remove(*place);
            }
        }
        Step::Pause(at) => {
            let before_ms = at.checked_sub(1).map_or(0, |before| events[before].t_ms);
            let pause_ms = events[*at].t_ms - before_ms;
            events[*at..].iter_mut().for_each(|event| event.t_ms -= pause_ms);
        }
    }
    trace
}

fn drop_heartbeats(events: &mut Vec<Event>, unwanted: impl Fn(&Heartbeat) -> bool) {
    events.retain(|event| !matches!(&event.kind, EventKind::Heartbeat(heartbeat) if unwanted(heartbeat)));
}

/// A topic goes from the metadata, from all subscriptions and topologies.
fn drop_topic(events: &mut [Event], topic: &str) {
    for event in events {
        if let EventKind::Metadata(changes) = &mut event.kind {
            changes.retain(|change| topic_of(change) != Some(topic));
        }
        if let Some(topics) = subscription(event) {
            topics.retain(|name| name != topic);
        }
        let Some(StreamsBody { topology: Some(topology), .. }) = streams_body(event) else { continue };
        for subtopology in &mut topology.subtopologies {
            for names in [&mut subtopology.sources, &mut subtopology.repartition_sinks].into_iter().flatten() {
                names.retain(|name| name != topic);
            }
            let internal = [&mut subtopology.state_changelogs, &mut subtopology.repartition_sources];
            internal
                .into_iter()
                .flatten()
                .for_each(|infos: &mut Vec<TopicInfo>| infos.retain(|info| info.name != topic));
        }
    }
}

/// A subtopology goes from the topologies of a group, and its tasks from what members own.
fn drop_subtopology(events: &mut [Event], group: &str, id: &str) {
    for event in events {
        if matches!(&event.kind, EventKind::Heartbeat(heartbeat) if heartbeat.group == group)
            && let Some(body) = streams_body(event)
        {
            if let Some(topology) = &mut body.topology {
                topology.subtopologies.retain(|subtopology| subtopology.id != id);
            }
            for owned in [&mut body.active, &mut body.standby, &mut body.warmup] {
                if let Owned::List(tasks) = owned {
                    tasks.retain(|Tasks { subtopology, .. }| subtopology != id);
                }
            }
        }
    }
}

fn streams_body(event: &mut Event) -> Option<&mut StreamsBody> {
    match &mut event.kind {
        EventKind::Heartbeat(heartbeat) => match &mut heartbeat.body {
            HeartbeatBody::Streams(body) => Some(body),
            HeartbeatBody::Consumer(_) | HeartbeatBody::Share(_) => None,
        },
        EventKind::Metadata(_) | EventKind::Tick | EventKind::Failover => None,
    }
}

fn subscription(event: &mut Event) -> Option<&mut Vec<String>> {
    let EventKind::Heartbeat(heartbeat) = &mut event.kind else {
        return None;
    };
    match &mut heartbeat.body {
        HeartbeatBody::Consumer(ConsumerBody { topics, .. }) | HeartbeatBody::Share(topics) => topics.as_mut(),
        HeartbeatBody::Streams(_) => None,
    }
}

fn new_replicas(event: &mut Event, position: usize) -> Option<&mut Vec<Vec<i32>>> {
    let EventKind::Metadata(changes) = &mut event.kind else {
        return None;
    };
    match changes.get_mut(position)? {
        Change::CreateTopic { replicas, .. } | Change::AddPartitions { replicas, .. } => Some(replicas),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::random::{GeneratorOptions, generate};

    fn size(trace: &Trace) -> usize {
        trace.write().len()
    }

    #[test]
    fn what_matters_stays_and_nothing_else() {
        // Differs when some topic has at least 3 partitions and, later, a member leaves.
        let differs = |trace: &Trace| {
            let mut grown = false;
            trace.events.iter().any(|event| match &event.kind {
                EventKind::Metadata(changes) => {
                    grown |= changes
                        .iter()
                        .any(|change| matches!(change, Change::CreateTopic { replicas, .. } if replicas.len() > 2));
                    false
                }
                EventKind::Heartbeat(heartbeat) => grown && heartbeat.epoch == crate::trace::EpochSpec::Number(-1),
                _ => false,
            })
        };
        let options = GeneratorOptions { events_min: 60, events_max: 90, ..GeneratorOptions::default() };
        let seed = (0..).find(|seed| differs(&generate(*seed, &options))).expect("some trace has both");
        let large = generate(seed, &options);
        let mut asked = 0;
        let small = shrink(&large, |candidate| {
            asked += 1;
            assert_eq!(Trace::parse("x", &candidate.write()).as_ref(), Ok(candidate));
            assert!(size(candidate) <= size(&large));
            differs(candidate)
        });
        assert!(differs(&small));
        assert_eq!(small.events.len(), 2, "{}", small.write());
        assert_eq!(small.config, []);
        let EventKind::Metadata(changes) = &small.events[0].kind else { panic!("{small:?}") };
        let [Change::CreateTopic { replicas, .. }] = &changes[..] else { panic!("{small:?}") };
        assert_eq!(replicas.iter().map(Vec::len).collect::<Vec<_>>(), [1, 1, 1]);
        let EventKind::Heartbeat(heartbeat) = &small.events[1].kind else { panic!("{small:?}") };
        assert_eq!(heartbeat.body, HeartbeatBody::Consumer(ConsumerBody::default()));
        assert_eq!((small.events[1].line, small.events[1].t_ms), (3, 0));
        assert!(asked < 1_000, "{asked} candidates");
    }

    #[test]
    fn nothing_to_take_away() {
        let options = GeneratorOptions { events_min: 60, events_max: 90, ..GeneratorOptions::default() };
        let trace = generate(1, &options);
        let mut asked = 0;
        assert_eq!(
            shrink(&trace, |_| {
                asked += 1;
                false
            }),
            trace
        );
        assert!(asked > trace.events.len(), "{asked}");
    }

    #[test]
    fn topologies_shrink_for_all_members_alike() {
        let kinds = "streams".parse().expect("a kind");
        let options = GeneratorOptions { events_min: 60, events_max: 90, replayable_by_3_9: false, kinds };
        // Two members join with one and the same changelog, whatever else is in their topologies.
        let differs = |trace: &Trace| {
            let mut members = BTreeSet::new();
            let mut topologies = BTreeSet::new();
            for event in &trace.events {
                let EventKind::Heartbeat(heartbeat) = &event.kind else { continue };
                let stores: Vec<_> = subtopologies_of(heartbeat).filter_map(|s| s.state_changelogs.as_ref()).collect();
                if heartbeat.joins() && stores.iter().any(|stores| !stores.is_empty()) {
                    members.insert(&heartbeat.member);
                    topologies.insert(format!("{:?}", subtopologies_of(heartbeat).collect::<Vec<_>>()));
                }
            }
            members.len() > 1 && topologies.len() == 1
        };
        let large = (0..).map(|seed| generate(seed, &options)).find(differs).expect("some trace has both");
        let small = shrink(&large, differs);
        assert_eq!(small.events.len(), 2, "{}", small.write());
        for event in &small.events {
            let EventKind::Heartbeat(heartbeat) = &event.kind else { panic!("{event:?}") };
            let subtopologies: Vec<&Subtopology> = subtopologies_of(heartbeat).collect();
            assert_eq!(subtopologies.len(), 1, "{}", small.write());
            assert_eq!(topics_of(subtopologies[0]).count(), 1, "{}", small.write());
        }
    }
}
