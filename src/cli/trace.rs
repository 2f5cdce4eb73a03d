//! `coordsim trace`: what happens to one shard in a run, as a trace that any coordinator can replay.

use super::error::CliError;
use super::inputs::{Input, parse_duration};
use crate::cluster::HistoryBuilder;
use crate::coordinator::protocol::{HeartbeatRequest, TaskLists};
use crate::kafka::JString;
use crate::kafka::records::streams;
use crate::kernel::TimeMs;
use crate::results::write_file;
use crate::scenario::{ConfigValue, counted};
use crate::simulation::{Happening, Subject, Tape, record, shard_of};
use crate::trace::{
    self, ConsumerBody, EpochSpec, Event, EventKind, Heartbeat, HeartbeatBody, Owned, StreamsBody, Tasks, TopicInfo,
    TopicPartitions, Trace,
};
use std::io::Write;
use std::path::PathBuf;

/// Writes what happens to one coordinator shard of a scenario as a trace.
///
/// The trace has all metadata images, every heartbeat that reaches the shard just as it is sent, and a failover whenever
/// another broker takes the shard over. It is closed-loop: members react to what they are answered under this one strategy
/// and Kafka version. So a replay of it makes sense only with the same strategy and version.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  coordsim trace scenarios/lab-cluster.toml --out lab.jsonl\n  coordsim replay lab.jsonl \
--strategy cached-hash --kafka 4.3.1"
)]
pub struct TraceArgs {
    /// The scenario file
    #[arg(value_name = "SCENARIO")]
    scenario: PathBuf,
    /// The shard: a partition of __consumer_offsets [default: that of the first group]
    #[arg(long, value_name = "N")]
    shard: Option<i32>,
    /// The strategy: a preset or one that the scenario defines
    #[arg(long, value_name = "S", default_value = "cached-hash")]
    strategy: String,
    /// The Kafka version that brokers follow [default: the scenario's]
    #[arg(long, value_name = "V")]
    kafka: Option<String>,
    /// The seed [default: the scenario's]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Only what happens before this time, such as 10m; not longer than the scenario [default: the whole scenario]
    #[arg(long, value_name = "T", value_parser = parse_duration)]
    until: Option<TimeMs>,
    /// The file to write
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

/// Runs the command.
pub fn run(args: &TraceArgs, quiet: bool) -> Result<(), CliError> {
    let (trace, shard) = args.trace().map_err(CliError::Input)?;
    write_file(&args.out, trace.write().as_bytes()).map_err(|error| CliError::Failed(error.to_string()))?;
    if !quiet {
        let (events, out) = (trace.events.len(), args.out.display());
        writeln!(std::io::stdout().lock(), "wrote {out}: shard {shard}, {}", counted(events as u64, "event"))?;
    }
    Ok(())
}

impl TraceArgs {
    /// The trace, and of which shard it is.
    fn trace(&self) -> Result<(Trace, i32), Vec<String>> {
        let input = Input::read(&self.scenario, self.kafka.as_deref(), self.until)?;
        let strategies = input.strategies(std::slice::from_ref(&self.strategy))?;
        let seed = self.seed.unwrap_or(input.scenario.seed);
        let workload = input.workload(HistoryBuilder::keeping_changes(), seed)?;
        let subject = input.subject(&workload);
        let shards = subject.num_shards();
        let shard = match (self.shard, subject.fleet.groups.first()) {
            (Some(shard), _) if (0..shards).contains(&shard) => shard,
            (Some(shard), _) => {
                return Err(vec![format!("--shard {shard}: __consumer_offsets has partitions 0 to {}", shards - 1)]);
            }
            (None, Some(group)) => shard_of(&group.name, shards).unwrap_or(0),
            (None, None) => 0,
        };
        let Some(design) = strategies.first().map(|strategy| strategy.design) else { return Err(Vec::new()) };
        let (_, tape) = record(&subject, design, shard);
        let config = input.scenario.config.iter().map(|(name, value)| (name.clone(), setting(value))).collect();
        Ok((to_trace(&subject, config, &tape, shard), shard))
    }
}

fn setting(value: &ConfigValue) -> trace::ConfigValue {
    match value {
        ConfigValue::Integer(number) => trace::ConfigValue::Int(*number),
        ConfigValue::Boolean(switch) => trace::ConfigValue::Bool(*switch),
        ConfigValue::Text(text) => trace::ConfigValue::Text(text.clone()),
    }
}

/// What happened as a trace.
fn to_trace(subject: &Subject, config: Vec<(String, trace::ConfigValue)>, tape: &Tape, shard: i32) -> Trace {
    let mut events = Events { events: Vec::new(), leaderless_ms: None, patience_ms: patience_ms(subject, shard) };
    for (time_ms, happening) in &tape.happenings {
        events.pass(*time_ms);
        match happening {
            Happening::Image(image) => {
                let changes = subject.history.changes(*image).unwrap_or_default().to_vec();
                events.add(*time_ms, EventKind::Metadata(changes));
            }
            Happening::Heartbeat(request) => {
                events.add(*time_ms, EventKind::Heartbeat(Box::new(heartbeat(request))));
            }
            Happening::Failover => {
                events.leaderless_ms = None;
                events.add(*time_ms, EventKind::Failover);
            }
            Happening::Leaderless => {
                events.leaderless_ms = Some(*time_ms);
                events.add(*time_ms, EventKind::Failover);
            }
            Happening::End => events.add(*time_ms, EventKind::Tick),
        }
    }
    Trace { start_unix_ms: subject.start_unix_ms, config, events: events.events }
}

/// The events of a trace in the making.
///
/// A trace's shard always has a coordinator. While the real one has none, nobody answers and no timer fires: in the trace
/// one coordinator then follows another so fast that no timer of theirs runs out, and no heartbeat comes.
struct Events {
    events: Vec<Event>,
    /// The last failover, while there is no coordinator.
    leaderless_ms: Option<TimeMs>,
    /// How long a coordinator lives without a timer.
    patience_ms: TimeMs,
}

impl Events {
    fn add(&mut self, t_ms: TimeMs, kind: EventKind) {
        // The header is line 1.
        let line = self.events.len() + 2;
        self.events.push(Event { line, t_ms, kind });
    }

    fn pass(&mut self, until_ms: TimeMs) {
        while let Some(last_ms) = self.leaderless_ms
            && last_ms + self.patience_ms < until_ms
        {
            self.leaderless_ms = Some(last_ms + self.patience_ms);
            self.add(last_ms + self.patience_ms, EventKind::Failover);
        }
    }
}

/// Less than any timeout of the shard's members.
fn patience_ms(subject: &Subject, shard: i32) -> TimeMs {
    let groups = subject.fleet.groups.iter().filter(|g| shard_of(&g.name, subject.num_shards()) == Some(shard));
    let config = &subject.config;
    let timeouts = groups.flat_map(|group| {
        let session_timeout_ms = config.of(group.kind).session_timeout_ms;
        group.members.iter().map(|member| member.rebalance_timeout_ms).chain([session_timeout_ms])
    });
    TimeMs::from(timeouts.min().unwrap_or(1) - 1).max(1)
}

/// A heartbeat with everything that it says, and nothing left to what its member last heard.
fn heartbeat(request: &HeartbeatRequest) -> Heartbeat {
    let text = |name: &Option<JString>| name.as_ref().map(ToString::to_string);
    let texts = |names: &Vec<JString>| names.iter().map(ToString::to_string).collect();
    let owned = |list: &Vec<_>| {
        Owned::List(
            list.iter().cloned().map(|(topic_id, partitions)| TopicPartitions { topic_id, partitions }).collect(),
        )
    };
    let timeout = |timeout_ms: i32| (timeout_ms >= 0).then_some(timeout_ms);
    let (rack, client_id, client_host, body) = match request {
        HeartbeatRequest::Consumer(request) => {
            let body = HeartbeatBody::Consumer(ConsumerBody {
                topics: request.topics.as_ref().map(texts),
                regex: text(&request.regex),
                instance: text(&request.instance_id),
                assignor: text(&request.assignor),
                rebalance_timeout_ms: timeout(request.rebalance_timeout_ms),
                owned: request.owned.as_ref().map_or(Owned::Absent, owned),
            });
            (&request.rack, &request.client_id, &request.client_host, body)
        }
        HeartbeatRequest::Share(request) => {
            let body = HeartbeatBody::Share(request.topics.as_ref().map(texts));
            (&request.rack, &request.client_id, &request.client_host, body)
        }
        HeartbeatRequest::Streams(request) => {
            let body = HeartbeatBody::Streams(StreamsBody {
                instance: text(&request.instance_id),
                rebalance_timeout_ms: timeout(request.rebalance_timeout_ms),
                topology: request.topology.as_deref().map(topology),
                process_id: text(&request.process_id),
                active: tasks(request.active.as_ref()),
                standby: tasks(request.standby.as_ref()),
                warmup: tasks(request.warmup.as_ref()),
            });
            (&request.rack, &request.client_id, &request.client_host, body)
        }
    };
    Heartbeat {
        group: request.group().to_string(),
        member: request.member().to_string(),
        epoch: EpochSpec::Number(request.epoch()),
        rack: text(rack),
        client_id: Some(client_id.to_string()),
        client_host: Some(client_host.to_string()),
        write_fails: false,
        body,
    }
}

/// Tasks that a streams member says it owns.
fn tasks(lists: Option<&TaskLists>) -> Owned<Tasks> {
    let Some(lists) = lists else { return Owned::Absent };
    let tasks = lists.iter().map(|(subtopology, partitions)| Tasks {
        subtopology: subtopology.to_string(),
        partitions: partitions.clone(),
    });
    Owned::List(tasks.collect())
}

/// A topology as a trace writes it. Members of scenarios know nothing that it could not say.
fn topology(topology: &streams::Topology) -> trace::Topology {
    let names = |names: &[JString]| Some(names.iter().map(ToString::to_string).collect());
    let infos = |infos: &[streams::TopicInfo]| {
        let info =
            |info: &streams::TopicInfo| TopicInfo { name: info.name.to_string(), partitions: Some(info.partitions) };
        Some(infos.iter().map(info).collect())
    };
    let subtopologies = topology.subtopologies.iter().map(|part| trace::Subtopology {
        id: part.subtopology_id.to_string(),
        sources: names(&part.source_topics),
        repartition_sinks: names(&part.repartition_sink_topics),
        state_changelogs: infos(&part.state_changelog_topics),
        repartition_sources: infos(&part.repartition_source_topics),
    });
    trace::Topology { epoch: topology.epoch, subtopologies: subtopologies.collect() }
}
