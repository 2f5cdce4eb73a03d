//! `[[churn]]` and `[[events]]`: what happens at random times and at given ones.

use super::MAX_PARTITIONS;
use super::diagnostic::Problems;
use super::general::{broker_ids, read_brokers};
use super::populations::{check_topic_name, read_group_population, read_layout, read_replicas, read_topic_population};
use super::reader::{LONGEST_MS, Table, Value};
use super::types::{Churn, ChurnKind, Event, EventKind, NewRack, Redeploy, Restart, Scenario, Subscribe};
use super::units::RATE_FORM;
use crate::kafka::GroupKind;
use crate::kernel::TimeMs;

const KINDS: [&str; 13] = [
    "create-topics",
    "expand",
    "delete-topics",
    "recreate",
    "reassign",
    "restart-broker",
    "crash-broker",
    "rolling-restart",
    "member-join",
    "member-leave",
    "member-crash",
    "redeploy",
    "subscription-change",
];
/// Kinds that only events have.
const EVENT_KINDS: [&str; 2] = ["elect-leaders", "member-stop"];

/// Why the members of a streams group do not change what they read.
const FIXED_TOPOLOGY: &str =
    "is a streams group, whose topology stays what it is (Kafka refuses another one); expected another group";

/// The kind of a table; `""` after an error.
fn read_kind(table: &mut Table, problems: &mut Problems, more: &[&'static str]) -> &'static str {
    let names: Vec<(&str, &'static str)> = KINDS.iter().chain(more).map(|kind| (*kind, *kind)).collect();
    let kind = table.require(problems, "kind", "what happens, such as \"expand\"");
    kind.and_then(|value| value.one_of(problems, &names)).unwrap_or("")
}

/// All `[[churn]]` tables.
pub(super) fn read_churn(root: &mut Table, problems: &mut Problems, scenario: &mut Scenario) {
    for mut table in root.tables(problems, "churn") {
        let kind_name = read_kind(&mut table, problems, &[]);
        let rate = table.require(problems, "rate", RATE_FORM).and_then(|value| value.rate(problems));
        let from_ms = table.duration(problems, "from", 0..=LONGEST_MS, 0);
        let until = table.get("until");
        let until_ms = until.as_ref().and_then(|value| value.duration(problems, 0..=LONGEST_MS));
        if let (Some(value), Some(0..)) = (&until, until_ms.map(|until_ms| from_ms - until_ms)) {
            value.expected(problems, "a time after from");
        }
        let until_ms = until_ms.unwrap_or(scenario.duration_ms);
        let kind = read_churn_kind(kind_name, &mut table, problems, scenario);
        let place = table.place(problems);
        if kind_name.is_empty() {
            continue; // Which fields belong here is not known.
        }
        table.finish(problems);
        if let (Some(kind), Some(rate)) = (kind, rate) {
            scenario.churn.push(Churn { kind, rate, from_ms, until_ms, place });
        }
    }
}

fn read_churn_kind(kind: &str, table: &mut Table, problems: &mut Problems, scenario: &Scenario) -> Option<ChurnKind> {
    Some(match kind {
        "restart-broker" | "crash-broker" => ChurnKind::RestartBroker {
            brokers: read_brokers(table, "brokers", broker_ids(scenario), problems),
            restart: read_restart(table, problems, kind == "crash-broker", true),
        },
        "rolling-restart" => ChurnKind::RollingRestart {
            restart: read_restart(table, problems, false, true),
            pause_ms: table.duration(problems, "pause", 0..=LONGEST_MS, 60_000),
        },
        "create-topics" | "expand" | "delete-topics" | "recreate" | "reassign" => {
            let topics = read_topic_population(table, "topics", problems, scenario);
            read_topic_churn(kind, table, problems, scenario, topics)?
        }
        "" => return None,
        _ => {
            let groups = read_group_population(table, "groups", problems, scenario);
            read_member_churn(kind, table, problems, scenario, groups)?
        }
    })
}

fn read_topic_churn(
    kind: &str,
    table: &mut Table,
    problems: &mut Problems,
    scenario: &Scenario,
    topics: Option<usize>,
) -> Option<ChurnKind> {
    let chosen = topics.unwrap_or(0);
    let kind = match kind {
        "create-topics" => {
            if let Some(population) = topics.map(|topics| &scenario.topics[topics])
                && !population.name.is_numbered()
                && !problems.is_wrong(&format!("{}.name", population.place.field))
            {
                let name = &population.name.0;
                table.complain(problems, "topics", format!("{name:?} has no {{n}} for the number of a new topic"));
            }
            ChurnKind::CreateTopics { topics: chosen }
        }
        "expand" => ChurnKind::Expand {
            topics: chosen,
            add: table.integer(problems, "add", 1..=MAX_PARTITIONS, 1),
            up_to: table.integer(problems, "up_to", 1..=MAX_PARTITIONS, 1_000),
        },
        "delete-topics" => ChurnKind::DeleteTopics { topics: chosen },
        "recreate" => ChurnKind::Recreate { topics: chosen, gap_ms: read_gap(table, problems) },
        _ => ChurnKind::Reassign {
            topics: chosen,
            partitions: table.integer(problems, "partitions", 1..=MAX_PARTITIONS, 1),
            copy_ms: read_copy(table, problems),
        },
    };
    topics.map(|_| kind)
}

fn read_member_churn(
    kind: &str,
    table: &mut Table,
    problems: &mut Problems,
    scenario: &Scenario,
    groups: Option<usize>,
) -> Option<ChurnKind> {
    let chosen = groups.unwrap_or(0);
    let back = |table: &mut Table, problems: &mut Problems| {
        table.get("back_after").and_then(|value| value.duration(problems, 1..=LONGEST_MS))
    };
    let kind = match kind {
        "member-join" => ChurnKind::MemberJoin { groups: chosen },
        "member-leave" => ChurnKind::MemberLeave { groups: chosen, back_after_ms: back(table, problems) },
        "member-crash" => ChurnKind::MemberCrash { groups: chosen, back_after_ms: back(table, problems) },
        "redeploy" => ChurnKind::Redeploy { groups: chosen, redeploy: read_redeploy(table, problems) },
        _ => {
            if let Some(population) = groups.map(|groups| &scenario.groups[groups])
                && population.application.is_some()
            {
                table.complain(problems, "groups", FIXED_TOPOLOGY);
            } else if let Some(population) = groups.map(|groups| &scenario.groups[groups])
                && let Subscribe::Names(_) = population.subscribe
                && !problems.is_wrong(&format!("{}.subscribe", population.place.field))
                && !problems.is_list_wrong("topics", &["name"])
            {
                let why =
                    "names its topics; expected groups that draw them (subscribe = { from = … }), to draw another";
                table.complain(problems, "groups", why);
            }
            let over_ms = table.duration(problems, "over", 0..=LONGEST_MS, 10_000);
            ChurnKind::SubscriptionChange { groups: chosen, over_ms }
        }
    };
    groups.map(|_| kind)
}

fn read_gap(table: &mut Table, problems: &mut Problems) -> TimeMs {
    table.duration(problems, "gap", 0..=LONGEST_MS, 300)
}

fn read_copy(table: &mut Table, problems: &mut Problems) -> TimeMs {
    table.duration(problems, "copy", 0..=LONGEST_MS, 30_000)
}

fn read_redeploy(table: &mut Table, problems: &mut Problems) -> Redeploy {
    Redeploy {
        down_ms: table.duration(problems, "down", 0..=LONGEST_MS, 5_000),
        pause_ms: table.duration(problems, "pause", 0..=LONGEST_MS, 10_000),
    }
}

/// `down`, `catch_up`, and the rack that a broker comes back in: `rack` and `without_rack`, or `racks` to draw from.
fn read_restart(table: &mut Table, problems: &mut Problems, crash: bool, drawn: bool) -> Restart {
    // A broker whose old session has not run out yet cannot register anew (lab of 4.3.1: about 9 s).
    let down_ms = table.duration(problems, "down", 0..=LONGEST_MS, 30_000);
    let rack = if drawn {
        let racks = table.get("racks").and_then(|value| value.racks(problems, "a list of racks to draw from"));
        racks.filter(|racks| !racks.is_empty()).map_or(NewRack::Same, NewRack::OneOf)
    } else {
        let given = table.get("rack");
        let rack = given.as_ref().and_then(|value| value.any_text(problems, "a rack"));
        let without = table.flag(problems, "without_rack");
        if let (Some(value), true) = (&given, without) {
            value.complain(problems, "the broker cannot have a rack and none; expected either rack or without_rack");
        }
        match rack {
            Some(rack) => NewRack::Given(Some(rack.to_owned())),
            None if without => NewRack::Given(None),
            None => NewRack::Same,
        }
    };
    let catch_up_ms = table.duration(problems, "catch_up", 0..=LONGEST_MS, 0);
    Restart { down_ms, rack, catch_up_ms, crash }
}

/// All `[[events]]` tables.
pub(super) fn read_events(root: &mut Table, problems: &mut Problems, scenario: &mut Scenario) {
    for mut table in root.tables(problems, "events") {
        let kind_name = read_kind(&mut table, problems, &EVENT_KINDS);
        let end_ms = scenario.duration_ms;
        let at = table.require(problems, "at", "when, a duration from the start such as \"10m\"");
        let at_ms = at.as_ref().and_then(|value| value.duration(problems, 0..=end_ms));
        let kind = match kind_name {
            "" => continue,
            "member-join" | "member-leave" | "member-stop" | "member-crash" | "subscription-change" | "redeploy" => {
                read_member_event(kind_name, &mut table, problems, scenario)
            }
            _ => read_cluster_event(kind_name, &mut table, problems, scenario),
        };
        let place = table.place(problems);
        table.finish(problems);
        if let (Some(kind), Some(at_ms)) = (kind, at_ms) {
            scenario.events.push(Event { at_ms, kind, place });
        }
    }
}

fn read_topic(table: &mut Table, problems: &mut Problems) -> Option<String> {
    let value = table.require(problems, "topic", "a topic's name")?;
    value.text(problems, "a topic's name").map(str::to_owned)
}

fn read_topics_of_event(table: &mut Table, problems: &mut Problems) -> Option<Vec<String>> {
    let expected = "a list of topics' names";
    let value = table.require(problems, "topics", expected)?;
    let items: Vec<Value> = value.items(problems, expected)?;
    if items.is_empty() {
        value.complain(problems, format!("found an empty list; expected {expected}"));
    }
    let names: Vec<String> = items
        .iter()
        .filter_map(|item| {
            let name = item.text(problems, "a topic's name")?;
            check_topic_name(name, item, problems);
            Some(name.to_owned())
        })
        .collect();
    Some(names)
}

fn read_cluster_event(
    kind: &str,
    table: &mut Table,
    problems: &mut Problems,
    scenario: &Scenario,
) -> Option<EventKind> {
    let brokers = broker_ids(scenario);
    Some(match kind {
        "create-topics" => {
            let topics = read_topics_of_event(table, problems);
            let layout = read_layout(table, problems, brokers.clone());
            EventKind::CreateTopics { topics: topics?, layout }
        }
        "expand" => {
            let topic = read_topic(table, problems);
            let partitions = table.require(problems, "partitions", "how many partitions it has then");
            let partitions = partitions.and_then(|value| value.integer(problems, 2..=MAX_PARTITIONS));
            EventKind::Expand { topic: topic?, partitions: partitions? }
        }
        "delete-topics" => EventKind::DeleteTopics { topics: read_topics_of_event(table, problems)? },
        "recreate" => {
            let topic = read_topic(table, problems);
            let gap_ms = read_gap(table, problems);
            EventKind::Recreate { topic: topic?, gap_ms }
        }
        "reassign" => {
            let topic = read_topic(table, problems);
            let partition = table.integer(problems, "partition", 0..=MAX_PARTITIONS, 0) as i32;
            let replicas = table.require(problems, "replicas", "the brokers that it moves to, such as [1, 2]");
            let replicas = replicas.map(|value| read_replicas(&value, problems, brokers.clone()));
            let copy_ms = read_copy(table, problems);
            EventKind::Reassign { topic: topic?, partition, replicas: replicas?, copy_ms }
        }
        "restart-broker" | "crash-broker" => {
            let broker = table.require(problems, "broker", "a broker's id");
            let broker = broker.and_then(|value| value.integer(problems, brokers));
            let restart = read_restart(table, problems, kind == "crash-broker", false);
            EventKind::RestartBroker { broker: broker? as i32, restart }
        }
        "rolling-restart" => EventKind::RollingRestart {
            restart: read_restart(table, problems, false, true),
            pause_ms: table.duration(problems, "pause", 0..=LONGEST_MS, 60_000),
        },
        _ => EventKind::ElectLeaders,
    })
}

fn read_member_event(kind: &str, table: &mut Table, problems: &mut Problems, scenario: &Scenario) -> Option<EventKind> {
    let value = table.require(problems, "group", "a group's name");
    let group = value.as_ref().and_then(|value| value.text(problems, "a group's name")).map(str::to_owned);
    if let (Some(value), Some(name)) = (&value, &group)
        && scenario.group_named(name).is_none()
        && !problems.is_list_wrong("groups", &["name", "count"])
    {
        let names = scenario.groups.iter().map(|groups| groups.name.0.as_str());
        let near = super::diagnostic::suggestion(name, names);
        value.complain(problems, format!("there is no group {name:?}; expected one that [[groups]] makes{near}"));
    }
    if kind == "redeploy" {
        let redeploy = read_redeploy(table, problems);
        return Some(EventKind::Redeploy { group: group?, redeploy });
    }
    let topics = table_topics(kind, table, problems);
    let found = group.as_ref().and_then(|name| scenario.group_named(name));
    let of_kind = found.map_or(GroupKind::Consumer, |(population, _)| scenario.groups[population].kind);
    if let (Some(value), GroupKind::Streams, true) = (&value, of_kind, topics.is_some()) {
        value.complain(problems, FIXED_TOPOLOGY);
    }
    if kind == "subscription-change" {
        let member = table.text(problems, "member");
        return Some(EventKind::SubscriptionChange { group: group?, member, topics: topics? });
    }
    let expected = "the member's name, such as \"m1\" for the first of its group";
    let member = table.require(problems, "member", expected);
    let member = member.and_then(|value| value.text(problems, expected)).map(str::to_owned);
    Some(match kind {
        "member-join" => {
            let (instance, rack) = (table.get("instance"), table.text(problems, "rack"));
            if let (Some(value), false) = (&instance, of_kind == GroupKind::Consumer) {
                let kind = of_kind.name();
                value.complain(problems, format!("members of {kind} groups are not static here; expected no instance"));
            }
            let instance = instance.and_then(|value| value.text(problems, "a text")).map(str::to_owned);
            EventKind::MemberJoin { group: group?, member: member?, topics, instance, rack }
        }
        "member-leave" => EventKind::MemberLeave { group: group?, member: member? },
        "member-stop" => EventKind::MemberStop { group: group?, member: member? },
        _ => EventKind::MemberCrash { group: group?, member: member? },
    })
}

/// `topics` of an event about members: for a join it may be missing, for a change it must be there.
fn table_topics(kind: &str, table: &mut Table, problems: &mut Problems) -> Option<Vec<String>> {
    let expected = "a list of topics";
    let value = match kind {
        "member-join" => table.get("topics")?,
        "subscription-change" => table.require(problems, "topics", expected)?,
        _ => return None,
    };
    let names = value.texts(problems, expected)?;
    if names.is_empty() {
        value.complain(problems, "found an empty list; expected at least one topic");
    }
    Some(names)
}
