//! Effects in words.

use super::Trigger;
use crate::coordinator::{Bump, Entry, Outcome, TimerKind};
use crate::kafka::batch::{Lengths, batch_len};
use crate::kafka::records::{RecordType, Value};
use crate::scenario::counted;
use crate::simulation::LoadTotals;
use crate::strategy::Work;

/// An operation.
pub fn operation(trigger: Trigger, outcome: &Outcome) -> String {
    let mut parts = Vec::new();
    if let (Some(response), Trigger::Heartbeat(_)) = (&outcome.response, trigger) {
        let assigned = if response.assignment.is_some() { " and an assignment" } else { "" };
        parts.push(format!("answered epoch {}{assigned}", response.member_epoch));
    }
    parts.extend(outcome.error.map(|error| format!("failed with {}", error.name())));
    if outcome.work != Work::default() {
        parts.push(worked(outcome.work));
    }
    parts.extend(outcome.refused_bytes.map(|bytes| format!("could not write a batch of {bytes} bytes")));
    if !outcome.entries.is_empty() {
        parts.push(written(&outcome.entries));
    }
    parts.extend(outcome.bumps.iter().map(bump));
    if parts.is_empty() {
        parts.push("did nothing".to_owned());
    }
    format!("{}: {}", triggered(trigger), parts.join(", "))
}

fn triggered(trigger: Trigger) -> String {
    match trigger {
        Trigger::Heartbeat(request) => {
            let (kind, group, member) = (request.kind().name(), request.group(), request.member());
            format!("heartbeat at epoch {} of member {member}, {kind} group {group}", request.epoch())
        }
        Trigger::Timer(timer) => {
            let name = match timer.kind {
                TimerKind::Session => "session timeout",
                TimerKind::Rebalance { .. } => "rebalance timeout",
                TimerKind::InitialRebalance => "initial rebalance delay",
            };
            let member = if timer.member.is_empty() { String::new() } else { format!(" of member {}", timer.member) };
            format!("{name}{member}, {} group {}", timer.group_kind.name(), timer.group)
        }
        Trigger::Background => "background task".to_owned(),
    }
}

/// Records by type, those that follow each other counted.
fn written(entries: &[Entry]) -> String {
    let mut types: Vec<(RecordType, usize)> = Vec::new();
    let mut lengths: Vec<Lengths> = Vec::new();
    for entry in entries {
        let record = &entry.record;
        lengths.push((record.key.encoded_len(), record.value.as_ref().map(Value::encoded_len)));
        match types.last_mut() {
            Some((last, number)) if *last == record.key.record_type => *number += 1,
            _ => types.push((record.key.record_type, 1)),
        }
    }
    let name = |&(record_type, number): &(RecordType, usize)| match number {
        1 => record_type.name().to_owned(),
        _ => format!("{number} × {}", record_type.name()),
    };
    let types: Vec<String> = types.iter().map(name).collect();
    let group = &entries[0].record.key.group;
    let records = counted(entries.len() as u64, "record");
    format!("wrote {records} of group {group} ({} bytes): {}", batch_len(&lengths), types.join(", "))
}

fn bump(bump: &Bump) -> String {
    let causes: Vec<&str> = bump.causes.iter().map(|cause| cause.name()).collect();
    let found = bump.found.iter().map(|change| format!("; {} of {}", change.field.name(), change.topic));
    format!("bump {} → {} ({}{})", bump.old_epoch, bump.new_epoch, causes.join(", "), found.collect::<String>())
}

/// An image.
pub fn published(work: Work) -> String {
    format!("image: {}", worked(work))
}

/// What a strategy did.
fn worked(work: Work) -> String {
    let done = [
        ("refreshes", work.refreshes),
        ("topics looked up", work.topics_looked_up),
        ("topics put into a map", work.map_entries),
        ("topic hashes", work.topic_hashes),
        ("bytes hashed", work.hash_bytes),
        ("topic hashes forgotten", work.memo_drops),
    ];
    let done = done.into_iter().filter(|(_, number)| *number > 0);
    done.map(|(name, number)| format!("{name} {number}")).collect::<Vec<_>>().join(", ")
}

/// A load.
pub fn load(load: &LoadTotals) -> String {
    let records = counted(load.records, "record");
    let failed = load.error.as_ref().map_or_else(String::new, |error| format!(", failed: {error}"));
    format!("load by broker {}: {records}, {} bytes{failed}", load.broker, load.bytes)
}
