//! Replays a trace on a simulated shard: the events in order, before each the timers that are due, after each what
//! was handed to the background.

use super::outcome::{Assignment, Cause, OutcomeLine};
use super::request::request;
use super::{ConfigValue, EpochSpec, Event, EventKind, Heartbeat, HeartbeatBody, Sent, Trace};
use crate::cluster::{History, HistoryBuilder, ImageNumber};
use crate::coordinator::protocol::{Assigned, AssignedPartitions, HeartbeatError, HeartbeatRequest, TaskLists};
use crate::coordinator::{CompactedLog, Config, ConfigError, KafkaVersion, Outcome, Shard, ShardSettings};
use crate::cost::heap::Heap;
use crate::cost::{Counts, Operation};
use crate::kafka::JString;
use crate::kafka::java::HashMap;
use crate::kafka::records::Record;
use crate::kernel::TimeMs;
use crate::strategy::{Design, Stores, Work};

/// Why a trace cannot be replayed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// The trace has what the version does not: its first line that has it, and what it is.
    #[error("line {line}: {what}")]
    NotInVersion {
        /// The line, from 1.
        line: usize,
        /// What the version lacks, and since when Kafka has it.
        what: &'static str,
    },
    /// The configuration is one that a broker would refuse.
    #[error("line 1: {0}")]
    Config(ConfigError),
    /// The changes of a metadata event cannot be applied.
    #[error("line {line}: {message}")]
    Change {
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
}

/// What a member last heard.
#[derive(Debug, Default)]
struct Heard {
    epoch: i32,
    partitions: AssignedPartitions,
    /// Active, standby and warm-up tasks.
    tasks: [TaskLists; 3],
}

/// A trace made ready to be replayed, any number of times: its metadata as a history, its texts shared.
#[derive(Debug)]
pub struct Replayer {
    settings: ShardSettings,
    history: History,
    steps: Vec<Step>,
    members: usize,
}

#[derive(Debug)]
struct Step {
    t_ms: TimeMs,
    action: Action,
}

#[derive(Debug)]
enum Action {
    Publish,
    Heartbeat(Box<Beat>),
    Tick,
    Failover,
}

/// A heartbeat whose request is complete but for what the member last heard.
#[derive(Debug)]
struct Beat {
    member: usize,
    request: HeartbeatRequest,
    last_epoch: bool,
    last_owned: bool,
    /// Of a streams group: active, standby and warm-up tasks.
    last_tasks: [bool; 3],
    fails: bool,
}

impl Replayer {
    /// Makes a trace ready for a version and a strategy.
    pub fn new(trace: &Trace, version: KafkaVersion, design: Design) -> Result<Replayer, Vec<ReplayError>> {
        let mut errors = missing_features(trace, version);
        let behaviour = version.behaviour();
        let texts: Vec<(&str, String)> =
            trace.config.iter().map(|(name, value)| (name.as_str(), text(value))).collect();
        let config = Config::new(&behaviour, texts.iter().map(|(name, value)| (*name, value.as_str())));
        let config = config.map_err(|wrong| errors.extend(wrong.into_iter().map(ReplayError::Config)));
        let mut builder = HistoryBuilder::new();
        for event in &trace.events {
            if let EventKind::Metadata(changes) = &event.kind
                && let Err(wrong) = builder.publish(event.t_ms, "metadata", changes)
            {
                errors.extend(
                    wrong.into_iter().map(|e| ReplayError::Change { line: event.line, message: e.to_string() }),
                );
            }
        }
        let (Ok(config), true) = (config, errors.is_empty()) else { return Err(errors) };
        let settings = ShardSettings {
            behaviour,
            config,
            design,
            start_unix_ms: trace.start_unix_ms,
            max_batch_bytes: None,
            does_work: false,
        };
        let mut members: HashMap<JString, usize> = HashMap::new();
        let steps = trace.events.iter().map(|event| step(event, &mut members)).collect();
        Ok(Replayer { settings, history: builder.finish(), steps, members: members.len() })
    }

    /// Replays the trace; `tell` gets each line of outcome.
    pub fn run(&self, mut tell: impl FnMut(OutcomeLine<'_, &Record>)) {
        let mut run = self.start(true);
        for (i, step) in self.steps.iter().enumerate() {
            let request = run.request(step);
            run.perform(i, step, request.as_ref(), &mut tell);
        }
    }

    /// Replays the trace without output; gives what the shard then holds in memory.
    pub fn heap(&self) -> Heap {
        let mut run = self.start(self.steps.iter().any(|step| matches!(step.action, Action::Failover)));
        for (i, step) in self.steps.iter().enumerate() {
            let request = run.request(step);
            run.perform(i, step, request.as_ref(), &mut |_| {});
        }
        Heap::of(&run.shard)
    }

    /// Replays the trace without output and says how long the events at or after `from_ms` took by `clock_ns`: timers,
    /// request checks, heartbeats with their records encoded, background tasks; not the making of requests. The log is
    /// kept only if the trace has a failover.
    pub fn time(&self, from_ms: TimeMs, clock_ns: &mut impl FnMut() -> u64) -> Timing {
        let mut run = self.start(self.steps.iter().any(|step| matches!(step.action, Action::Failover)));
        let mut timing = Timing::default();
        let mut bytes = Vec::new();
        let mut encode = |line: OutcomeLine<'_, &Record>| {
            for record in line.records {
                bytes.clear();
                record.key.encode(&mut bytes);
                if let Some(value) = &record.value {
                    value.encode(&mut bytes);
                }
                std::hint::black_box(&bytes);
            }
        };
        for (i, step) in self.steps.iter().enumerate() {
            let request = run.request(step);
            let before_ns = clock_ns();
            run.perform(i, step, request.as_ref(), &mut encode);
            let took_ns = clock_ns() - before_ns;
            if step.t_ms < from_ms {
                continue;
            }
            let (events, ns) = match step.action {
                Action::Heartbeat(_) => (&mut timing.heartbeats, &mut timing.heartbeat_ns),
                _ => (&mut timing.others, &mut timing.other_ns),
            };
            *events += 1;
            *ns += took_ns;
        }
        timing
    }

    /// Replays the trace without output and counts what the events at or after `from_ms` made the coordinator do.
    pub fn count(&self, from_ms: TimeMs) -> Counts {
        let mut run = self.start(self.steps.iter().any(|step| matches!(step.action, Action::Failover)));
        for (i, step) in self.steps.iter().enumerate() {
            if step.t_ms >= from_ms {
                run.counts.get_or_insert_default();
            }
            let request = run.request(step);
            run.perform(i, step, request.as_ref(), &mut |_| ());
        }
        run.counts.unwrap_or_default()
    }

    fn start(&self, keeps_log: bool) -> Run<'_> {
        Run {
            replayer: self,
            shard: Shard::new(self.settings.clone(), &self.history),
            log: keeps_log.then(CompactedLog::default),
            image: 0,
            now_ms: 0,
            heard: (0..self.members).map(|_| Heard::default()).collect(),
            counts: None,
        }
    }
}

/// How long the events of a replay took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Timing {
    /// Heartbeats that were timed.
    pub heartbeats: u64,
    /// What they took.
    pub heartbeat_ns: u64,
    /// Other events that were timed.
    pub others: u64,
    /// What they took.
    pub other_ns: u64,
}

struct Run<'r> {
    replayer: &'r Replayer,
    shard: Shard<'r>,
    log: Option<CompactedLog>,
    image: ImageNumber,
    now_ms: TimeMs,
    heard: Vec<Heard>,
    /// What the coordinator did, from when on that is wanted.
    counts: Option<Counts>,
}

impl Run<'_> {
    /// The request of a heartbeat, with what the member last heard.
    fn request(&self, step: &Step) -> Option<HeartbeatRequest> {
        let Action::Heartbeat(beat) = &step.action else { return None };
        let heard = &self.heard[beat.member];
        let mut request = beat.request.clone();
        match &mut request {
            HeartbeatRequest::Consumer(request) => {
                if beat.last_epoch {
                    request.epoch = heard.epoch;
                }
                if beat.last_owned {
                    request.owned = Some(heard.partitions.clone());
                }
            }
            HeartbeatRequest::Share(request) => {
                if beat.last_epoch {
                    request.epoch = heard.epoch;
                }
            }
            HeartbeatRequest::Streams(request) => {
                if beat.last_epoch {
                    request.epoch = heard.epoch;
                }
                let lists = [&mut request.active, &mut request.standby, &mut request.warmup];
                for ((list, heard), last) in lists.into_iter().zip(&heard.tasks).zip(beat.last_tasks) {
                    if last {
                        *list = Some(heard.clone());
                    }
                }
            }
        }
        Some(request)
    }

    fn perform(
        &mut self,
        i: usize,
        step: &Step,
        request: Option<&HeartbeatRequest>,
        tell: &mut impl FnMut(OutcomeLine<'_, &Record>),
    ) {
        while let Some(deadline_ms) = self.shard.next_deadline_ms().filter(|deadline| *deadline <= step.t_ms) {
            self.now_ms = self.now_ms.max(deadline_ms);
            let outcome = self.shard.fire_next_timer(self.now_ms);
            self.tell_if_any(i, Cause::Timer, &outcome, tell);
            self.count(Operation::Timer, &outcome);
            self.background(i, tell);
        }
        self.now_ms = step.t_ms;
        let mut work = Work::default();
        match &step.action {
            Action::Tick => self.tell(i, Cause::Tick, None, &Outcome::default(), tell),
            Action::Publish => {
                self.image += 1;
                self.shard.publish(self.image, &mut work);
                let delta = self.replayer.history.image(self.image);
                let topics = (delta.changed.len() + delta.deleted.len()) as u64;
                self.counts.iter_mut().for_each(|counts| counts.add(Operation::ImageTopic, topics));
                self.count(Operation::ImagePublished, &Outcome { work, ..Outcome::default() });
                self.tell(i, Cause::Metadata, None, &Outcome::default(), tell);
            }
            Action::Failover => {
                let replayer = self.replayer;
                let (shard, error) = Shard::load(
                    replayer.settings.clone(),
                    &replayer.history,
                    self.log.iter().flat_map(CompactedLog::entries),
                    self.image,
                    self.now_ms,
                    &mut work,
                );
                if let Some(counts) = &mut self.counts {
                    let entries = self.log.iter().flat_map(CompactedLog::entries);
                    entries.for_each(|entry| counts.add_loaded(&entry.record));
                    counts.add_work(&work);
                }
                self.shard = shard;
                let error = error.map(|error| error.0.answer());
                self.tell(i, Cause::Failover, None, &Outcome { error, ..Outcome::default() }, tell);
            }
            Action::Heartbeat(beat) => {
                if let Some(request) = request {
                    self.heartbeat(i, beat, request, tell);
                }
            }
        }
        self.background(i, tell);
    }

    fn heartbeat(
        &mut self,
        i: usize,
        beat: &Beat,
        request: &HeartbeatRequest,
        tell: &mut impl FnMut(OutcomeLine<'_, &Record>),
    ) {
        let outcome = self.shard.heartbeat(self.now_ms, request, beat.fails);
        if let Some(response) = &outcome.response {
            let heard = &mut self.heard[beat.member];
            heard.epoch = response.member_epoch;
            match &response.assignment {
                Some(Assigned::Partitions(partitions)) => heard.partitions.clone_from(partitions),
                Some(Assigned::Tasks { active, standby, warmup }) => {
                    heard.tasks = [active.clone(), standby.clone(), warmup.clone()];
                }
                None => {}
            }
        }
        self.tell(i, Cause::Heartbeat, Some(request.group()), &outcome, tell);
        self.count(Operation::Heartbeat, &outcome);
        self.keep(&outcome);
    }

    fn keep(&mut self, outcome: &Outcome) {
        if let Some(log) = &mut self.log {
            log.append(&outcome.entries);
        }
    }

    fn background(&mut self, i: usize, tell: &mut impl FnMut(OutcomeLine<'_, &Record>)) {
        while let Some(outcome) = self.shard.run_background(self.now_ms) {
            self.tell_if_any(i, Cause::Background, &outcome, tell);
            self.count(Operation::BackgroundTask, &outcome);
        }
    }

    /// Counts an operation, if that is wanted; what it writes is a batch.
    fn count(&mut self, operation: Operation, outcome: &Outcome) {
        if let Some(counts) = &mut self.counts {
            counts.add(operation, 1);
            counts.add(Operation::Batch, u64::from(!outcome.entries.is_empty()));
            counts.add_outcome(outcome);
        }
    }

    fn tell_if_any(
        &mut self,
        i: usize,
        cause: Cause,
        outcome: &Outcome,
        tell: &mut impl FnMut(OutcomeLine<'_, &Record>),
    ) {
        if outcome.error.is_some() || !outcome.entries.is_empty() {
            self.tell(i, cause, outcome.group.as_ref(), outcome, tell);
        }
        self.keep(outcome);
    }

    fn tell(
        &self,
        i: usize,
        cause: Cause,
        group: Option<&JString>,
        outcome: &Outcome,
        tell: &mut impl FnMut(OutcomeLine<'_, &Record>),
    ) {
        let group = group.filter(|_| self.shard.is_active()).and_then(|id| self.shard.group(id));
        let settings = &self.replayer.settings;
        let has_hash = settings.design.stores(Stores::Hash);
        let records: Vec<&Record> = outcome.entries.iter().map(|entry| &entry.record).collect();
        let response = outcome.response.as_ref();
        tell(OutcomeLine {
            i,
            t_ms: self.now_ms,
            cause,
            error: outcome.error.map(HeartbeatError::name),
            member_epoch: response.map(|r| r.member_epoch),
            assignment: response.and_then(|r| r.assignment.as_ref()).map(|assigned| match assigned {
                Assigned::Partitions(partitions) => Assignment::Partitions(partitions),
                Assigned::Tasks { active, standby, warmup } => Assignment::Tasks([active, standby, warmup]),
            }),
            group_epoch: group.map(|g| *g.base().epoch.get()),
            metadata_hash: group.filter(|_| has_hash).map(|g| g.base().stored.get().group_hash),
            records: &records,
        });
    }
}

fn missing_features(trace: &Trace, version: KafkaVersion) -> Vec<ReplayError> {
    let needs = trace.requires();
    let mut errors = Vec::new();
    let mut lacks =
        |line: Option<usize>, what| errors.extend(line.map(|line| ReplayError::NotInVersion { line, what }));
    if !version.behaviour().regexes {
        lacks(needs.regex, "regular expressions are replayed from 4.0.0 on");
    }
    if !version.behaviour().share_and_streams {
        lacks(needs.share, "share groups are replayed from 4.1.1 on");
        lacks(needs.streams, "streams groups are replayed from 4.1.1 on");
    }
    errors
}

fn text(value: &ConfigValue) -> String {
    match value {
        ConfigValue::Int(number) => number.to_string(),
        ConfigValue::Float(number) => format!("{number:?}"),
        ConfigValue::Bool(truth) => truth.to_string(),
        ConfigValue::Text(text) => text.clone(),
    }
}

fn step(event: &Event, members: &mut HashMap<JString, usize>) -> Step {
    let action = match &event.kind {
        EventKind::Metadata(_) => Action::Publish,
        EventKind::Tick => Action::Tick,
        EventKind::Failover => Action::Failover,
        EventKind::Heartbeat(heartbeat) => {
            let next = members.len();
            let name = format!("{:?} {:?} {:?}", heartbeat.kind(), heartbeat.group, heartbeat.member);
            let member = *members.get_or_insert_with(JString::from(name), || next);
            Action::Heartbeat(Box::new(beat(heartbeat, member)))
        }
    };
    Step { t_ms: event.t_ms, action }
}

fn beat(heartbeat: &Heartbeat, member: usize) -> Beat {
    let mut beat = Beat {
        member,
        request: request(heartbeat),
        last_epoch: heartbeat.epoch == EpochSpec::Last,
        last_owned: false,
        last_tasks: [false; 3],
        fails: heartbeat.write_fails,
    };
    match &heartbeat.body {
        HeartbeatBody::Consumer(body) => beat.last_owned = heartbeat.sent(&body.owned) == Sent::Last,
        HeartbeatBody::Share(_) => {}
        HeartbeatBody::Streams(body) => {
            let lists = [&body.active, &body.standby, &body.warmup];
            beat.last_tasks = lists.map(|owned| heartbeat.sent(owned) == Sent::Last);
        }
    }
    beat
}
