//! What was found, in words; and a scenario that builds on it.

use super::{ImportError, ImportedCluster};
use crate::cluster::HistoryBuilder;
use std::fmt::Write;

/// How many of the largest topics are listed.
const LISTED_TOPICS: usize = 10;

/// How many of them the groups of the example subscribe to.
const EXAMPLE_TOPICS: usize = 3;

/// How long the run goes on after the last image, so that the groups notice it: some heartbeats.
const AFTER_LAST_IMAGE_MS: i64 = 30_000;

/// What was found, a fact a line.
pub fn summary(cluster: &ImportedCluster) -> Result<Vec<String>, Vec<ImportError>> {
    let mut lines = describe(cluster, &cluster.history()?);
    lines.extend(cluster.unused.iter().map(|file| format!("not needed: {}", quoted(&file.to_string_lossy()))));
    Ok(lines)
}

/// A scenario, ready to be edited, whose cluster comes from these files. Their paths are relative to its folder, with
/// `/` between folders.
pub fn to_scenario(cluster: &ImportedCluster, name: &str, files: &[String]) -> Result<String, Vec<ImportError>> {
    let builder = cluster.history()?;
    let mut text = String::from(
        "# Written by `coordsim import kraft` from the metadata of a real cluster. Edit it as you like.\n#\n",
    );
    for line in describe(cluster, &builder) {
        let _ = writeln!(text, "# {line}");
    }
    let span_ms = builder.last_time_ms();
    let files: Vec<String> = files.iter().map(|file| quoted(file)).collect();
    let topics: Vec<String> = largest(&builder).iter().take(EXAMPLE_TOPICS).map(|(topic, _)| quoted(topic)).collect();
    let _ = write!(
        text,
        "
name = {name}
description = \"The cluster of a real KRaft metadata log\"
# The log's {span}, and half a minute for the groups to notice the last change.
duration = \"{duration}\"

# Every batch of the log is a metadata image, a transaction is one as a whole. Where a real coordinator saw several
# batches as one image is not in the log.
[cluster.kraft]
files = [{files}]
# Where in the log the run begins; what came before is there at its start.
# from = \"1m\"
",
        name = quoted(name),
        span = duration(span_ms),
        duration = duration(span_ms.saturating_add(AFTER_LAST_IMAGE_MS)),
        files = files.join(", "),
    );
    if !topics.is_empty() {
        let _ = write!(
            text,
            "
# An example: the metadata log says nothing of groups.
[[groups]]
name = \"example-{{n}}\"
count = 10
members = 3
subscribe = [{}]
",
            topics.join(", ")
        );
    }
    Ok(text)
}

fn describe(cluster: &ImportedCluster, builder: &HistoryBuilder) -> Vec<String> {
    let mut lines = Vec::new();
    if let (Some(first), Some(last)) = (cluster.images.first(), cluster.images.last()) {
        lines.push(format!(
            "images: {}, of offsets {} to {}, Unix time {} to {} ms ({})",
            cluster.images.len(),
            first.offset,
            last.offset,
            first.unix_ms,
            last.unix_ms,
            duration(builder.last_time_ms())
        ));
    }
    lines.push("brokers at the end:".to_owned());
    lines.extend(builder.brokers().map(|(id, broker)| {
        let rack = broker.rack.as_ref().map_or("no rack".to_owned(), |rack| format!("rack {}", quoted(rack)));
        format!("  {id}: {rack}{}", if broker.fenced { ", fenced" } else { "" })
    }));
    let partitions: usize =
        builder.topic_names().filter_map(|name| builder.topic(name)).map(|t| t.partitions.len()).sum();
    lines.push(format!(
        "topics at the end: {} with {partitions} partitions; the largest:",
        builder.topic_names().count()
    ));
    lines.extend(
        largest(builder)
            .iter()
            .take(LISTED_TOPICS)
            .map(|(name, partitions)| format!("  {}: {partitions} partitions", quoted(name))),
    );
    lines.push("events (what an image is named after):".to_owned());
    lines.extend(counted(cluster.images.iter().map(|image| image.event)));
    lines.push("features at the end:".to_owned());
    lines.extend(cluster.features.iter().map(|(name, level)| format!("  {}: level {level}", quoted(name))));
    lines.push("records:".to_owned());
    let counts = &cluster.counts;
    lines.extend(counts.records.iter().map(|(kind, count)| format!("  {kind}: {count}")));
    lines.extend(counts.control.iter().map(|(kind, count)| format!("  control {kind}: {count}")));
    lines.extend(counts.skipped.iter().map(|(kind, count)| format!("  skipped, not known here: {kind}: {count}")));
    lines.extend((counts.aborted > 0).then(|| format!("  of aborted transactions: {}", counts.aborted)));
    lines.extend((counts.unfinished > 0).then(|| format!("  of a transaction without end: {}", counts.unfinished)));
    lines
}

/// How often each word occurs, in order of the words.
fn counted<'a>(words: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut counts = std::collections::BTreeMap::<&str, u64>::new();
    words.for_each(|word| *counts.entry(word).or_default() += 1);
    counts.into_iter().map(|(word, count)| format!("  {word}: {count}")).collect()
}

/// The topics that exist at the end, without Kafka's own; the largest first.
fn largest(builder: &HistoryBuilder) -> Vec<(&str, usize)> {
    let topics = builder.topic_names().filter(|name| !name.starts_with("__"));
    let mut sized: Vec<_> =
        topics.map(|name| (name, builder.topic(name).map_or(0, |topic| topic.partitions.len()))).collect();
    sized.sort_by_key(|(name, partitions)| (std::cmp::Reverse(*partitions), *name));
    sized
}

/// A TOML string. A name may be anything that a log holds: line breaks must not end a comment.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(c));
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// A duration as scenarios write it.
fn duration(ms: i64) -> String {
    let units = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];
    let mut text = String::new();
    let mut rest = ms;
    for (unit, unit_ms) in units {
        if rest >= unit_ms {
            let _ = write!(text, "{}{unit}", rest / unit_ms);
            rest %= unit_ms;
        }
    }
    if text.is_empty() { "0s".to_owned() } else { text }
}
