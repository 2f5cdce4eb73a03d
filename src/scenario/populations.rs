//! `[[topics]]` and `[[groups]]`: populations of things that are alike.

use super::MAX_PARTITIONS;
use super::diagnostic::{Problems, suggestion};
use super::general::broker_ids;
use super::reader::{LONGEST_MS, Table, Value};
use super::types::{
    Application, Choice, ConfigValue, GroupPopulation, Layout, NamePattern, Reads, Scenario, Subscribe, Subtopology,
    TopicPopulation,
};
use super::units::counted;
use crate::kafka::GroupKind;
use std::ops::RangeInclusive;

/// All populations of topics.
pub(super) fn read_topics(root: &mut Table, problems: &mut Problems, scenario: &mut Scenario) {
    for mut table in root.tables(problems, "topics") {
        let (name, count) = read_name_and_count(&mut table, problems, check_topic_name);
        let layout = read_layout(&mut table, problems, broker_ids(scenario));
        if let (Layout::Given(_), 2..) = (&layout, count) {
            table.complain(problems, "replicas", "is for one topic; expected count = 1, or partitions and replication");
        }
        let place = table.place(problems);
        scenario.topics.push(TopicPopulation { name, count, layout, place });
        table.finish(problems);
    }
}

/// Kafka's rule for topic names (`Topic.validate`).
pub(super) fn check_topic_name(name: &str, value: &Value, problems: &mut Problems) {
    let legal = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if name.is_empty() || name.len() > 249 || name == "." || name == ".." || !name.chars().all(legal) {
        value
            .expected(problems, "a topic's name: 1 to 249 letters, digits, \".\", \"_\" or \"-\", not \".\" or \"..\"");
    } else if name == "__consumer_offsets" {
        value.complain(problems, "is made by itself; expected another name, or the table [cluster.offsets]");
    }
}

/// `name` and `count`; `check` says what is wrong with the first name by itself.
fn read_name_and_count(
    table: &mut Table,
    problems: &mut Problems,
    check: impl Fn(&str, &Value, &mut Problems),
) -> (NamePattern, u64) {
    let count = table.integer(problems, "count", 1..=1_000_000, 1) as u64;
    let name = table.require(problems, "name", "a name, with {n} for the number if there are several");
    let text = name.as_ref().and_then(|value| value.text(problems, "a name")).unwrap_or("unnamed-{n}");
    let pattern = NamePattern(text.to_owned());
    if let Some(value) = &name {
        check(&pattern.name(1), value, problems);
        if count > 1 && !pattern.is_numbered() && !problems.is_wrong(&value.path) {
            value.complain(
                problems,
                format!("names {count} things alike; expected {{n}} in it, such as {:?}", format!("{text}-{{n}}")),
            );
        }
        if text.matches("{n}").count() > 1 {
            value.expected(problems, "{n} once");
        }
    }
    (pattern, count)
}

/// `partitions` and `replication`, or `replicas`.
pub(super) fn read_layout(table: &mut Table, problems: &mut Problems, brokers: RangeInclusive<i64>) -> Layout {
    let replicas = table.get("replicas");
    let partitions = table.get("partitions");
    let replication = table.get("replication");
    let Some(replicas) = replicas else {
        let default = Choice::one(1);
        let most_replicas = (*brokers.end()).min(100);
        let partitions =
            partitions.and_then(|value| read_choice(&value, problems, 1, MAX_PARTITIONS)).unwrap_or(default);
        let replication = replication.and_then(|value| value.integer(problems, 1..=most_replicas));
        return Layout::Placed { partitions, replication: replication.unwrap_or(most_replicas.min(3)) };
    };
    for value in [partitions, replication].into_iter().flatten() {
        value
            .complain(problems, "is said by replicas already; expected either replicas, or partitions and replication");
    }
    let expected = "the brokers of each partition, such as [[1, 2], [2, 3]]";
    let items = replicas.items(problems, expected).unwrap_or_default();
    if items.is_empty() && replicas.is_list() {
        replicas.complain(problems, format!("found an empty list; expected {expected}"));
    }
    Layout::Given(items.iter().map(|item| read_replicas(item, problems, brokers.clone())).collect())
}

/// The brokers of one partition: at least one, each once.
pub(super) fn read_replicas(value: &Value, problems: &mut Problems, brokers: RangeInclusive<i64>) -> Vec<i32> {
    let expected = "a list of different brokers such as [1, 2]";
    let items = value.items(problems, expected).unwrap_or_default();
    let ids: Vec<i32> = items.iter().filter_map(|i| i.integer(problems, brokers.clone())).map(|id| id as i32).collect();
    let twice = ids.iter().enumerate().any(|(at, id)| ids[..at].contains(id));
    if twice {
        value.complain(problems, format!("names a broker twice; expected {expected}"));
    } else if value.is_list() && items.is_empty() {
        value.complain(problems, format!("found an empty list; expected {expected}"));
    }
    ids
}

/// An integer, a list of integers, or a table with `choices` and `weights`.
pub(super) fn read_choice(value: &Value, problems: &mut Problems, low: i64, high: i64) -> Option<Choice> {
    let integers = |value: &Value, problems: &mut Problems, low, high| {
        let items = value.items(problems, "a list of integers")?;
        let numbers: Vec<i64> = items.iter().filter_map(|item| item.integer(problems, low..=high)).collect();
        if items.is_empty() {
            value.complain(problems, "found an empty list; expected at least one integer");
        }
        (numbers.len() == items.len() && !items.is_empty()).then_some(numbers)
    };
    if value.is_list() {
        let values = integers(value, problems, low, high)?;
        return Some(Choice { weights: vec![1; values.len()], values });
    }
    if !value.is_table() {
        return value.integer(problems, low..=high).map(Choice::one);
    }
    let mut table = value.table(problems, "a table")?;
    let choices = table.require(problems, "choices", "a list of integers");
    let weights = table.require(problems, "weights", "a list of integers, one for each choice");
    table.finish(problems);
    let (choices, weights_value) = (choices?, weights?);
    let values = integers(&choices, problems, low, high);
    let weights = integers(&weights_value, problems, 0, 1_000_000);
    let (values, weights) = (values?, weights?);
    if weights.len() != values.len() || weights.iter().all(|weight| *weight == 0) {
        let expected = format!("{}, one for each choice and not all 0", counted(values.len() as u64, "weight"));
        weights_value
            .complain(problems, format!("found {}; expected {expected}", counted(weights.len() as u64, "weight")));
        return None;
    }
    Some(Choice { values, weights: weights.into_iter().map(|weight| weight as u64).collect() })
}

/// All populations of groups. What a kind does not have is not a field of its tables.
pub(super) fn read_groups(root: &mut Table, problems: &mut Problems, scenario: &mut Scenario) {
    let kinds = GroupKind::ALL.map(|kind| (kind.name(), kind));
    for mut table in root.tables(problems, "groups") {
        let kind_value = table.get("kind");
        let kind = kind_value.as_ref().map_or(Some(GroupKind::Consumer), |value| value.one_of(problems, &kinds));
        let (name, count) = read_name_and_count(&mut table, problems, |name, value, problems| {
            if kind == Some(GroupKind::Streams) {
                check_application_id(name, value, problems);
            }
        });
        let expected = "how many members a group has, such as 3 or [2, 4, 8]";
        let members = table.require(problems, "members", expected);
        let members = members.and_then(|value| read_choice(&value, problems, 0, 100_000)).unwrap_or(Choice::one(0));
        let subscribe = read_subscribe(&mut table, problems, scenario);
        let rack_aware = table.flag(problems, "rack_aware");
        let start_ms = table.duration(problems, "start", 0..=LONGEST_MS, 0);
        let join_over_ms = table.duration(problems, "join_over", 0..=LONGEST_MS, 10_000);
        let client_id = table.text(problems, "client_id").unwrap_or_else(|| default_client_id(kind).to_owned());
        let mut population = GroupPopulation {
            kind: kind.unwrap_or(GroupKind::Consumer),
            application: None,
            name,
            count,
            members,
            subscribe,
            assignor: None,
            is_static: false,
            rack_aware,
            revocation_ms: 0,
            start_ms,
            join_over_ms,
            max_poll_interval_ms: 300_000,
            client_id,
            place: table.place(problems),
        };
        if kind != Some(GroupKind::Share) {
            population.revocation_ms = table.duration(problems, "revocation", 0..=LONGEST_MS, 0);
            population.max_poll_interval_ms =
                table.duration(problems, "max_poll_interval", 1..=i64::from(i32::MAX), 300_000);
        }
        // Nothing is said of fields that the kind that is meant may have.
        if !matches!(kind, Some(GroupKind::Share | GroupKind::Streams)) {
            population.assignor = read_assignor(&mut table, problems, scenario);
            population.is_static = table.flag(problems, "static");
        }
        if matches!(kind, None | Some(GroupKind::Streams)) {
            let application = read_application(&mut table, problems);
            population.application = kind.map(|_| application);
        }
        scenario.groups.push(population);
        table.finish(problems);
    }
}

/// As Java's clients call themselves: `ConsumerConfig`, `StreamThread`.
fn default_client_id(kind: Option<GroupKind>) -> &'static str {
    match kind {
        Some(GroupKind::Streams) => "{group}-{process}-StreamThread-{m}-consumer",
        _ => "consumer-{group}-{m}",
    }
}

/// The names of internal topics begin with the application's id.
fn check_application_id(name: &str, value: &Value, problems: &mut Problems) {
    let legal = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if name.len() > 200 || !name.chars().all(legal) {
        let expected = "a name that topics' names can begin with: at most 200 letters, digits, \".\", \"_\" or \"-\"";
        value.expected(problems, expected);
    }
}

/// `threads`, `subtopologies` and `internal_topics_after`.
fn read_application(table: &mut Table, problems: &mut Problems) -> Application {
    let threads = table.integer(problems, "threads", 1..=1_000, 1) as u64;
    let internal_topics_after_ms = table.duration(problems, "internal_topics_after", 1..=LONGEST_MS, 100);
    let mut subtopologies = Vec::new();
    for mut part in table.tables(problems, "subtopologies") {
        let is_first = subtopologies.is_empty();
        let value = part.get("reads");
        let names = [("sources", false), ("repartition", true)];
        let reads = value.as_ref().and_then(|value| value.one_of(problems, &names));
        if let (true, Some(true), Some(value)) = (is_first, reads, &value) {
            value.complain(problems, "no subtopology before this one could write it; expected \"sources\"");
        }
        let partitions = match reads.unwrap_or(!is_first) {
            true => part.get("partitions").and_then(|value| value.integer(problems, 1..=MAX_PARTITIONS)),
            false => None,
        };
        let reads = match reads.unwrap_or(!is_first) {
            true => Reads::Repartition { partitions: partitions.map(|partitions| partitions as i32) },
            false => Reads::Sources,
        };
        let stores = part.integer(problems, "stores", 0..=100, 0) as u64;
        subtopologies.push(Subtopology { reads, stores });
        part.finish(problems);
    }
    if subtopologies.is_empty() {
        subtopologies.push(Subtopology { reads: Reads::Sources, stores: 0 });
    }
    Application { threads, subtopologies, internal_topics_after_ms }
}

/// `assignor`: one that the coordinators have; they answer every heartbeat that asks for another with an error.
fn read_assignor(table: &mut Table, problems: &mut Problems, scenario: &Scenario) -> Option<String> {
    let value = table.get("assignor")?;
    let name = value.text(problems, "the name of an assignor")?;
    let configured = match scenario.config.get("group.consumer.assignors") {
        Some(ConfigValue::Text(list)) if !list.trim().is_empty() => list,
        _ => "uniform,range",
    };
    // A class is asked for by its assignor's name.
    let known: Vec<&str> = configured
        .split(',')
        .map(|assignor| match assignor.trim() {
            assignor if assignor.ends_with(".UniformAssignor") => "uniform",
            assignor if assignor.ends_with(".RangeAssignor") => "range",
            assignor => assignor,
        })
        .collect();
    if !known.contains(&name) && !problems.is_wrong("config") {
        let list: Vec<String> = known.iter().map(|assignor| format!("{assignor:?}")).collect();
        value.expected(problems, &format!("an assignor that the coordinator has: {}", list.join(" or ")));
    }
    Some(name.to_owned())
}

/// `subscribe`: a list of names, or how topics are drawn from a population.
fn read_subscribe(table: &mut Table, problems: &mut Problems, scenario: &Scenario) -> Subscribe {
    let nothing = Subscribe::Names(Vec::new());
    let expected = "a list of topics, or a table such as { from = \"orders-{n}\", count = 5 }";
    let Some(value) = table.require(problems, "subscribe", expected) else { return nothing };
    if !value.is_table() {
        let names = value.texts(problems, expected).unwrap_or_default();
        if value.is_list() && value.items(problems, expected).is_some_and(|items| items.is_empty()) {
            value.complain(problems, "found an empty list; expected at least one topic");
        }
        return Subscribe::Names(names);
    }
    let Some(mut table) = value.table(problems, expected) else { return nothing };
    let from = read_topic_population(&mut table, "from", problems, scenario);
    let most = from.map(|from| &scenario.topics[from]).map_or(i64::MAX, |topics| match topics.count {
        _ if problems.is_wrong(&format!("{}.count", topics.place.field)) => i64::MAX,
        count => count as i64,
    });
    let most = most.min(10_000);
    let count = table.get("count").and_then(|value| read_choice(&value, problems, 1, most)).unwrap_or(Choice::one(1));
    let exponent = table.get("popularity").and_then(|value| read_popularity(&value, problems)).unwrap_or(0.0);
    table.finish(problems);
    from.map_or(nothing, |from| Subscribe::Drawn { from, count, exponent })
}

/// `"uniform"` or `"zipf 1.0"`: the exponent, 0 for uniform.
fn read_popularity(value: &Value, problems: &mut Problems) -> Option<f64> {
    let expected = "\"uniform\", or \"zipf\" with an exponent from 0 to 10 such as \"zipf 1.0\"";
    match value.text(problems, expected)? {
        "uniform" => Some(0.0),
        text => match text.strip_prefix("zipf ") {
            Some(exponent) => {
                let exponent = value.decimal(exponent.trim(), problems, expected)?;
                if exponent > 10.0 {
                    value.expected(problems, expected);
                }
                Some(exponent)
            }
            None => {
                value.expected(problems, expected);
                None
            }
        },
    }
}

/// The population of topics that a field names, by its `name` as it is written.
pub(super) fn read_topic_population(
    table: &mut Table,
    field: &'static str,
    problems: &mut Problems,
    scenario: &Scenario,
) -> Option<usize> {
    let names: Vec<&str> = scenario.topics.iter().map(|topics| topics.name.0.as_str()).collect();
    read_population(table, field, problems, &names, "topics")
}

/// The population of groups that a field names.
pub(super) fn read_group_population(
    table: &mut Table,
    field: &'static str,
    problems: &mut Problems,
    scenario: &Scenario,
) -> Option<usize> {
    let names: Vec<&str> = scenario.groups.iter().map(|groups| groups.name.0.as_str()).collect();
    read_population(table, field, problems, &names, "groups")
}

fn read_population(
    table: &mut Table,
    field: &'static str,
    problems: &mut Problems,
    names: &[&str],
    what: &str,
) -> Option<usize> {
    let expected = format!("the name of a population of {what} as it is written there");
    let value = table.require(problems, field, &expected)?;
    let name = value.text(problems, &expected)?;
    let found = names.iter().position(|known| *known == name);
    if found.is_none() && !problems.is_list_wrong(what, &["name"]) {
        let near = suggestion(name, names.iter().copied());
        let tail = match names {
            [] => format!("; there is no [[{what}]] table"),
            _ if near.is_empty() => format!("; expected one of {}", names.join(", ")),
            _ => near,
        };
        value.complain(problems, format!("there is no population of {what} named {name:?}{tail}"));
    }
    found
}
