//! Goes through everything that happens to the cluster, in order of time, and publishes it as metadata images.

use super::BaseTimes;
use super::application::Application;
use super::brokers::BrokerHappening;
use super::topics::{TopicHappening, Topics};
use crate::cluster::{Change, ChangeError, Changes, HistoryBuilder, ImageNumber, PartitionChange};
use crate::kernel::TimeMs;
use crate::kernel::queue::EventQueue;
use crate::kernel::random::{Poisson, Streams};
use crate::scenario::{ChurnKind, Cluster, Diagnostic, EventKind, Place, Scenario, show_duration};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Something that happens to the cluster.
#[derive(Debug, Clone)]
pub(super) enum Happening {
    /// The next occurrence of a `[[churn]]` table: its index, and how often it occurred before.
    Churn(usize, u64),
    /// An `[[events]]` table: its index.
    Event(usize),
    /// What follows from one of those, to topics.
    Topic(TopicHappening),
    /// What follows from one of those, to brokers.
    Broker(BrokerHappening),
}

/// What a happening does: nothing of it is done yet.
#[derive(Debug, Default)]
pub(super) struct Effect {
    /// A word for the image.
    pub event: &'static str,
    /// What changes.
    pub changes: Vec<Changes>,
    /// What follows, and when.
    pub follow: Vec<(TimeMs, Happening)>,
    /// Why it is impossible.
    pub error: Option<String>,
}

impl Effect {
    /// It is impossible.
    pub fn impossible(error: impl Into<String>) -> Self {
        Effect { error: Some(error.into()), ..Effect::default() }
    }

    /// It changes something.
    pub fn of(event: &'static str, changes: Vec<Change>) -> Self {
        Effect::with(event, changes.into_iter().map(Changes::One).collect())
    }

    /// It changes partitions.
    pub fn on_partitions(event: &'static str, changes: Vec<PartitionChange>) -> Self {
        Effect::with(event, vec![Changes::Partitions(changes)])
    }

    /// It changes all that.
    pub fn with(event: &'static str, mut changes: Vec<Changes>) -> Self {
        changes.retain(|changes| !changes.is_empty());
        Effect { event, changes, ..Effect::default() }
    }

    /// The changes but those of partitions.
    fn single_changes(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter().filter_map(|changes| if let Changes::One(change) = changes { Some(change) } else { None })
    }

    /// Something follows.
    pub fn then(mut self, time_ms: TimeMs, happening: Happening) -> Self {
        self.follow.push((time_ms, happening));
        self
    }
}

/// Changes that wait for being published together.
#[derive(Debug, Default)]
struct Batch {
    since_ms: TimeMs,
    events: Vec<&'static str>,
    changes: Vec<Changes>,
    topics: BTreeSet<String>,
    brokers: BTreeSet<i32>,
}

impl Batch {
    /// Notes what changes touch.
    fn touch(&mut self, changes: &[Changes], builder: &HistoryBuilder) {
        for touched in touched(changes, builder) {
            match touched {
                Touched::Topic(topic) if !self.topics.contains(topic) => {
                    self.topics.insert(topic.to_owned());
                }
                Touched::Topic(_) => {}
                Touched::Broker(id) => {
                    self.brokers.insert(id);
                }
            }
        }
    }

    /// Whether changes touch what the batch touches.
    fn clashes(&self, changes: &[Changes], builder: &HistoryBuilder) -> bool {
        let is_empty = self.topics.is_empty() && self.brokers.is_empty();
        !is_empty
            && touched(changes, builder).any(|touched| match touched {
                Touched::Topic(topic) => self.topics.contains(topic),
                Touched::Broker(id) => self.brokers.contains(&id),
            })
    }
}

/// Makes the history of a scenario.
#[derive(Debug)]
pub(super) struct Director<'a> {
    pub scenario: &'a Scenario,
    pub streams: Streams,
    pub builder: HistoryBuilder,
    pub topics: Topics,
    /// Which brokers are between a stop and their last catching up: nothing else is done to them.
    pub restarting: BTreeSet<i32>,
    /// How often each broker was restarted, to name its streams.
    pub restarts: BTreeMap<i32, u64>,
    /// The applications of streams groups, and from when on they need their internal topics.
    pub applications: Vec<(TimeMs, Arc<Application>)>,
    base: Vec<(TimeMs, String, Vec<Change>)>,
    /// The first time that is the scenario's own.
    base_end_ms: TimeMs,
    queue: EventQueue<Happening>,
    churn: Vec<Option<Poisson>>,
    batch: Batch,
    /// Where the windows of batches begin.
    batching_phase_ms: TimeMs,
    impossible: Vec<Diagnostic>,
}

impl<'a> Director<'a> {
    /// A director before the start.
    pub fn new(scenario: &'a Scenario, streams: Streams, base: Option<BaseTimes>) -> Self {
        let base = base.map_or_else(Vec::new, |base| base.images);
        Director {
            scenario,
            streams,
            builder: HistoryBuilder::new(),
            topics: Topics::new(scenario),
            restarting: BTreeSet::new(),
            restarts: BTreeMap::new(),
            applications: Vec::new(),
            base_end_ms: base.last().map_or(0, |(time_ms, _, _)| *time_ms),
            base,
            queue: EventQueue::new(),
            churn: Vec::new(),
            batch: Batch::default(),
            batching_phase_ms: streams.stream("images", 0, "phase").between(0, (scenario.image_batching_ms - 1).max(0)),
            impossible: Vec::new(),
        }
    }

    /// Makes the whole history; what is impossible is added to the errors.
    pub fn run(mut self, errors: &mut Vec<Diagnostic>) -> HistoryBuilder {
        self.publish_base(errors);
        self.check_base(errors);
        if errors.is_empty() {
            self.publish_start(errors);
        }
        if errors.is_empty() {
            self.schedule();
            self.go(errors);
        }
        errors.append(&mut self.impossible);
        self.builder
    }

    /// The images of the metadata log. Nothing of the scenario's own comes between them.
    fn publish_base(&mut self, errors: &mut Vec<Diagnostic>) {
        let Cluster::Kraft { place, .. } = &self.scenario.cluster else { return };
        for (time_ms, event, changes) in std::mem::take(&mut self.base) {
            if time_ms > self.scenario.duration_ms {
                break;
            }
            if let Err(wrong) = self.builder.publish(time_ms, &event, &changes) {
                let message =
                    format!("the metadata log's image {event:?} at {time_ms} ms is impossible: {}", list(&wrong));
                errors.push(self.scenario.diagnostic(place, message));
                return;
            }
        }
        if self.builder.topic("__consumer_offsets").is_none() {
            let message = "the metadata log has no topic __consumer_offsets within the run, so no group has a coordinator; \
                           expected the log of a cluster that had groups";
            errors.push(self.scenario.diagnostic(place, message));
        }
    }

    /// With a metadata log, the scenario may change the cluster only after the log's end.
    fn check_base(&self, errors: &mut Vec<Diagnostic>) {
        if !matches!(self.scenario.cluster, Cluster::Kraft { .. }) {
            return;
        }
        let end_ms = self.base_end_ms;
        let mut early = |place: &Place, time_ms: TimeMs| {
            if time_ms < end_ms {
                let end = show_duration(end_ms);
                let message =
                    format!("changes the cluster before the end of the metadata log; expected {end} or later");
                errors.push(self.scenario.diagnostic(place, message));
            }
        };
        self.scenario.topics.iter().for_each(|topics| early(&topics.place, 0));
        let churn = self.scenario.churn.iter().filter(|churn| churn.kind.is_of_cluster());
        churn.for_each(|churn| early(&churn.place, churn.from_ms));
        let events = self.scenario.events.iter().filter(|event| event.kind.is_of_cluster());
        events.for_each(|event| early(&event.place, event.at_ms));
    }

    /// What there is at the start: brokers in one image, topics in the next.
    fn publish_start(&mut self, errors: &mut Vec<Diagnostic>) {
        if let Cluster::Synthetic { brokers, .. } = &self.scenario.cluster {
            let registered = brokers.iter().flat_map(|(id, rack)| {
                [Change::RegisterBroker { id: *id, rack: rack.clone() }, Change::FenceBroker { id: *id, fenced: false }]
            });
            let changes: Vec<Change> = registered.collect();
            self.publish(0, "register", &changes);
        }
        let (changes, wrong) = self.first_topics();
        errors.extend(wrong.into_iter().map(|(place, message)| self.scenario.diagnostic(&place, message)));
        if errors.is_empty() && !changes.is_empty() {
            self.topics.note(changes.iter());
            self.publish(self.builder.last_time_ms(), "create", &changes);
        }
    }

    /// Puts the dated events and the first occurrence of every kind of churn into the queue.
    fn schedule(&mut self) {
        for (index, event) in self.scenario.events.iter().enumerate() {
            if event.kind.is_of_cluster() {
                self.queue.push(event.at_ms, Happening::Event(index));
            }
        }
        for (index, (join_ms, application)) in self.applications.iter().enumerate() {
            let create = Happening::Topic(TopicHappening::CreateInternal { application: index });
            self.queue.push(join_ms + application.internal_topics_after_ms, create);
        }
        self.churn = churn_times(self.scenario, self.streams, ChurnKind::is_of_cluster);
        for index in 0..self.churn.len() {
            self.schedule_churn(index, 0);
        }
    }

    fn schedule_churn(&mut self, index: usize, occurrence: u64) {
        let until_ms = self.scenario.churn[index].until_ms;
        if let Some(time_ms) = self.churn[index].as_mut().and_then(Iterator::next)
            && time_ms < until_ms
        {
            self.queue.push(time_ms, Happening::Churn(index, occurrence));
        }
    }

    fn go(&mut self, errors: &mut Vec<Diagnostic>) {
        while let Some((now_ms, happening)) = self.queue.pop() {
            if now_ms > self.scenario.duration_ms {
                break;
            }
            if self.batching_window(now_ms) != self.batching_window(self.batch.since_ms)
                || self.scenario.image_batching_ms == 0
            {
                self.flush();
            }
            let mut effect = self.effect(now_ms, &happening);
            if self.batch.clashes(&effect.changes, &self.builder)
                || (effect.error.is_some() && !self.batch.changes.is_empty())
            {
                // It must see what the batch does.
                self.flush();
                effect = self.effect(now_ms, &happening);
            }
            if let (Some(error), Happening::Event(index)) = (&effect.error, &happening) {
                errors.push(self.scenario.diagnostic(&self.scenario.events[*index].place, error));
            }
            self.accept(now_ms, &happening, effect);
        }
        self.flush();
    }

    /// The window of a time: changes of one are published in one image. When windows begin is drawn, as it is chance in a cluster.
    fn batching_window(&self, time_ms: TimeMs) -> TimeMs {
        (time_ms + self.batching_phase_ms).div_euclid(self.scenario.image_batching_ms.max(1))
    }

    /// What a happening does, as things are now: the same however often it is asked.
    fn effect(&self, now_ms: TimeMs, happening: &Happening) -> Effect {
        match happening {
            Happening::Churn(index, occurrence) => self.churn_effect(now_ms, *index, *occurrence),
            Happening::Event(index) => self.event_effect(now_ms, &self.scenario.events[*index].kind),
            Happening::Topic(happening) => self.topic_effect(now_ms, happening),
            Happening::Broker(happening) => self.broker_effect(now_ms, happening),
        }
    }

    fn churn_effect(&self, now_ms: TimeMs, index: usize, occurrence: u64) -> Effect {
        let churn = &self.scenario.churn[index];
        let mut stream = self.streams.stream(&stream_name(self.scenario, index), occurrence, "target");
        match &churn.kind {
            ChurnKind::RestartBroker { brokers, restart } => {
                self.restart_any(now_ms, brokers, restart, &mut stream).unwrap_or_default()
            }
            ChurnKind::RollingRestart { restart, pause_ms } => self.start_rolling(now_ms, restart, *pause_ms),
            kind => self.topic_churn(now_ms, kind, &mut stream).unwrap_or_default(),
        }
    }

    fn event_effect(&self, now_ms: TimeMs, kind: &EventKind) -> Effect {
        match kind {
            EventKind::RestartBroker { broker, restart } => self.restart_one(now_ms, *broker, restart),
            EventKind::RollingRestart { restart, pause_ms } => self.start_rolling(now_ms, restart, *pause_ms),
            EventKind::ElectLeaders => self.elect_everywhere(now_ms),
            kind => self.topic_event(now_ms, kind),
        }
    }

    /// Does what a happening does.
    fn accept(&mut self, now_ms: TimeMs, happening: &Happening, mut effect: Effect) {
        if let Happening::Churn(index, occurrence) = happening {
            self.schedule_churn(*index, occurrence + 1);
        }
        if let Happening::Broker(happening) = happening {
            self.note_broker(happening);
        }
        for (time_ms, follow) in std::mem::take(&mut effect.follow) {
            self.queue.push(time_ms, follow);
        }
        if effect.changes.is_empty() {
            return;
        }
        self.topics.note(effect.single_changes());
        self.miss_internal_topics(now_ms, &effect);
        if self.batch.changes.is_empty() {
            self.batch.since_ms = now_ms;
        }
        if self.scenario.image_batching_ms > 0 {
            self.batch.touch(&effect.changes, &self.builder);
        }
        if !self.batch.events.contains(&effect.event) {
            self.batch.events.push(effect.event);
        }
        if self.batch.changes.is_empty() {
            self.batch.changes = effect.changes;
        } else {
            self.batch.changes.extend(effect.changes);
        }
    }

    /// Where sources of a streams group come, or its internal topics go, internal topics may have to be made.
    fn miss_internal_topics(&mut self, now_ms: TimeMs, effect: &Effect) {
        for (index, (join_ms, application)) in self.applications.iter().enumerate() {
            let concerns = |change: &Change| match change {
                Change::CreateTopic { name, .. } => application.sources().any(|topic| topic.as_str() == name),
                Change::DeleteTopic { topic } => {
                    application.internal_topics().any(|internal| internal.as_str() == topic)
                }
                _ => false,
            };
            if effect.single_changes().any(concerns) {
                // By then the batch that brings the sources is published.
                let after_ms = application.internal_topics_after_ms + self.scenario.image_batching_ms;
                let create = Happening::Topic(TopicHappening::CreateInternal { application: index });
                self.queue.push(now_ms.max(*join_ms) + after_ms, create);
            }
        }
    }

    /// Publishes the batch. Its image comes with the first of its changes.
    fn flush(&mut self) {
        if !self.batch.changes.is_empty() {
            let batch = std::mem::take(&mut self.batch);
            let time_ms = batch.since_ms.max(self.builder.last_time_ms());
            let event = batch.events.join("+");
            let published = self.builder.publish_effects(time_ms, &event, &batch.changes);
            self.note_published(time_ms, &event, published);
        }
    }

    fn publish(&mut self, time_ms: TimeMs, event: &str, changes: &[Change]) {
        let published = self.builder.publish(time_ms, event, changes);
        self.note_published(time_ms, event, published);
    }

    fn note_published(&mut self, time_ms: TimeMs, event: &str, published: Result<ImageNumber, Vec<ChangeError>>) {
        if let Err(errors) = published {
            let message = format!("the image {event:?} at {time_ms} ms is impossible: {}", list(&errors));
            self.impossible.push(self.scenario.diagnostic(&Place { line: 1, column: 1, ..Place::default() }, message));
        }
    }
}

enum Touched<'c> {
    Topic(&'c str),
    Broker(i32),
}

fn touched<'c>(changes: &'c [Changes], builder: &'c HistoryBuilder) -> impl Iterator<Item = Touched<'c>> {
    let (mut one, mut many): (Vec<&Change>, Vec<&PartitionChange>) = (Vec::new(), Vec::new());
    for changes in changes {
        match changes {
            Changes::One(change) => one.push(change),
            Changes::Partitions(partitions) => many.extend(partitions),
        }
    }
    let topics = many.into_iter().map(|change| Touched::Topic(builder.topic_name(change.topic)));
    one.into_iter().map(touched_by).chain(topics)
}

fn touched_by(change: &Change) -> Touched<'_> {
    match change {
        Change::CreateTopic { name: topic, .. }
        | Change::AddPartitions { topic, .. }
        | Change::ChangePartition { topic, .. }
        | Change::DeleteTopic { topic } => Touched::Topic(topic),
        Change::RegisterBroker { id, .. } | Change::UnregisterBroker { id } | Change::FenceBroker { id, .. } => {
            Touched::Broker(*id)
        }
    }
}

fn list(errors: &[ChangeError]) -> String {
    let errors: Vec<String> = errors.iter().take(3).map(ToString::to_string).collect();
    errors.join("; ")
}

/// The name of a churn table's streams: its kind and target, and for several alike their order among those.
pub(super) fn stream_name(scenario: &Scenario, index: usize) -> String {
    let name = |index: usize| {
        let kind = &scenario.churn[index].kind;
        let target = match (kind.topics(), kind.groups()) {
            (Some(topics), _) => scenario.topics[topics].name.0.as_str(),
            (None, Some(groups)) => scenario.groups[groups].name.0.as_str(),
            (None, None) => "",
        };
        format!("churn {} {target}", kind.name())
    };
    let own = name(index);
    let alike = (0..index).filter(|other| name(*other) == own).count();
    format!("{own} {alike}")
}

/// The random times of every churn table of the wanted kinds.
pub(super) fn churn_times(
    scenario: &Scenario,
    streams: Streams,
    wanted: impl Fn(&ChurnKind) -> bool,
) -> Vec<Option<Poisson>> {
    let times = scenario.churn.iter().enumerate().map(|(index, churn)| {
        let stream = streams.stream(&stream_name(scenario, index), 0, "times");
        wanted(&churn.kind).then(|| Poisson::new(stream, churn.from_ms, churn.rate.mean_gap_ms()))
    });
    times.collect()
}
