//! One or several coordinator shards, the members of their groups, and the images that both live under: the loop of
//! events. Shards that share remembered hashes (`memo = "broker"`) are one world; any other shard is a world alone.
//!
//! Order of events: before an event at time t every timer due at or before t fires, with the clock at its deadline.
//! At equal times images come first, then steps of members' plans, then heartbeats, each in the order of members. What
//! an operation hands to the background executor runs right after it.
//!
//! The heartbeats of a member that change nothing are counted, not processed: see [`parking`](super::parking).

use super::clients::{Action, Clients};
use super::fingerprint::{Trigger, Watch};
use super::fold::Fold;
use super::leadership::{Move, moves};
use super::missed;
use super::subject::{ShardGroups, Subject};
use super::tape::Tape;
use super::totals::{LoadTotals, ShardLog, Totals};
use super::{GroupAtEnd, ShardFiles};
use crate::cluster::ImageNumber;
use crate::coordinator::protocol::{HeartbeatError, HeartbeatRequest};
use crate::coordinator::{Outcome, Shard, Timer};
use crate::cost::{self, heap::Heap};
use crate::disk::{LogContents, Segment};
use crate::kafka::{GroupKind, JString};
use crate::kernel::TimeMs;
use crate::kernel::lookup::Lookup;
use crate::kernel::queue::Moment;
use crate::strategy::{Design, Forgets, Memo, MemoTable, Work};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// A shard, wherever it lives at the moment.
#[derive(Debug)]
pub(super) struct Place<'a> {
    number: i32,
    /// Its moves, the next one last.
    moves: Vec<Move>,
    broker: Option<i32>,
    pub(super) shard: Option<Shard<'a>>,
    pub(super) fold: Fold<'a>,
    /// How often the shard had reverted when its groups were looked at last.
    pub(super) reverts: u64,
}

/// A group of the world.
#[derive(Debug)]
pub(super) struct WorldGroup<'a> {
    pub(super) name: &'a JString,
    pub(super) kind: GroupKind,
    pub(super) place: usize,
    /// Its members.
    pub(super) clients: Range<usize>,
    /// How many of them are parked.
    pub(super) num_parked: usize,
    /// The member whose next heartbeat is to find what an image changed, though it is idle itself.
    pub(super) scout: Option<usize>,
    /// The image of its last heartbeat that reached a coordinator.
    pub(super) heard_at: Option<ImageNumber>,
}

/// See the module.
#[derive(Debug)]
pub struct World<'a> {
    pub(super) subject: &'a Subject<'a>,
    design: Design,
    pub(super) places: Vec<Place<'a>>,
    pub(super) groups: Vec<WorldGroup<'a>>,
    pub(super) clients: Clients<'a>,
    /// Remembered topic hashes by broker, where all shards of a broker share them.
    memos: BTreeMap<i32, MemoTable>,
    image: ImageNumber,
    words: Words,
    tape: Option<Tape>,
    /// The moment at hand.
    pub(super) now: Moment,
    pub(super) by_name: Lookup<JString, usize>,
    /// Heartbeats that were processed.
    pub(super) processed: u64,
}

impl<'a> World<'a> {
    /// A world of these shards.
    pub fn new(subject: &'a Subject<'a>, design: Design, shards: &[ShardGroups]) -> World<'a> {
        let mut world = World {
            subject,
            design,
            places: Vec::new(),
            groups: Vec::new(),
            clients: Clients::default(),
            memos: BTreeMap::new(),
            image: 0,
            words: Words::default(),
            tape: None,
            now: Moment::default(),
            by_name: Lookup::new(),
            processed: 0,
        };
        // In the order of the fleet, whatever shards they are in.
        let mut members: Vec<(usize, usize)> = Vec::new();
        for (place, shard) in shards.iter().enumerate() {
            let mut moves = moves(subject.history, shard.number);
            moves.reverse();
            world.places.push(Place {
                number: shard.number,
                moves,
                broker: None,
                shard: None,
                reverts: 0,
                fold: Fold::new(subject, shard.number),
            });
            members.extend(shard.groups.iter().map(|&group| (group, place)));
        }
        members.sort_unstable();
        for (group, (planned, place)) in members.into_iter().enumerate() {
            let plan = &subject.fleet.groups[planned];
            let clients = world.clients.add_group(group, plan);
            world.groups.push(WorldGroup {
                name: &plan.name,
                kind: plan.kind,
                place,
                clients,
                num_parked: 0,
                scout: None,
                heard_at: None,
            });
            world.by_name.insert(plan.name.clone(), group);
        }
        world
    }

    /// The world of one shard, that writes down everything that happens to it.
    pub fn taped(subject: &'a Subject<'a>, design: Design, shard: ShardGroups) -> World<'a> {
        World { tape: Some(Tape::default()), ..World::new(subject, design, &[shard]) }
    }

    /// Whether heartbeats that change nothing are only counted.
    pub(super) fn parks(&self) -> bool {
        self.tape.is_none() && !self.subject.every_heartbeat
    }

    /// Notes the effects of all shards.
    pub fn watch(&mut self, watch: &Watch) {
        self.places.iter_mut().for_each(|place| place.fold.watch(watch));
    }

    /// Runs until the end.
    pub fn run(mut self) -> (Totals, Option<Tape>) {
        self.run_until_end();
        self.finish()
    }

    /// Runs until the end, for the logs that are there then.
    pub fn run_for_files(mut self) -> Vec<ShardFiles> {
        self.places.iter_mut().for_each(|place| place.fold.keep_bytes());
        self.run_until_end();
        let end_ms = self.subject.end_ms;
        self.places.into_iter().map(|place| place.into_files(end_ms)).collect()
    }

    pub(super) fn run_until_end(&mut self) {
        let end_ms = self.subject.end_ms;
        loop {
            let timer = self.next_timer().filter(|&(deadline_ms, _)| deadline_ms < end_ms);
            let image_ms = self.next_image_ms().filter(|&time_ms| time_ms < end_ms);
            let member_ms = self.clients.next_time_ms().filter(|&time_ms| time_ms < end_ms);
            let times = [timer.map(|(deadline_ms, _)| deadline_ms), image_ms, member_ms];
            let Some(now_ms) = times.into_iter().flatten().min() else { break };
            match timer {
                Some((deadline_ms, place)) if deadline_ms == now_ms => self.fire_timer(now_ms, place),
                _ if image_ms == Some(now_ms) => {
                    self.advance(Moment::new(now_ms, 0));
                    self.publish(now_ms);
                }
                _ => self.act(now_ms),
            }
        }
        self.advance(Moment::new(end_ms, 0));
        self.count_parked();
    }

    fn finish(mut self) -> (Totals, Option<Tape>) {
        let mut heard_at = Lookup::new();
        for group in &self.groups {
            group.heard_at.map(|image| heard_at.insert(group.name.clone(), image));
        }
        if let Some(tape) = &mut self.tape {
            tape.end(self.subject.end_ms);
        }
        let mut groups = vec![0; self.places.len()];
        self.groups.iter().for_each(|group| groups[group.place] += 1);
        let mut totals = Totals::new(self.subject.num_buckets());
        for (mut place, groups) in self.places.into_iter().zip(groups) {
            let of_place = place.fold.totals_mut();
            match &place.shard {
                Some(shard) => {
                    of_place.missed_changes = missed::changes(self.subject.history, shard, &heard_at);
                    of_place.judged_groups = groups;
                    of_place.heap = Heap::of(shard);
                }
                None => of_place.unjudged_groups = groups,
            }
            let log = ShardLog {
                shard: place.number,
                broker: place.broker,
                groups,
                replicas: self.subject.history.offsets_replicas(place.number),
                ..ShardLog::default()
            };
            totals.add(place.fold.finish(self.subject.end_ms, log));
        }
        self.memos.values().for_each(|memo| totals.heap += &Heap::of_broker(memo));
        (totals, self.tape)
    }

    fn next_image_ms(&self) -> Option<TimeMs> {
        let history = self.subject.history;
        (self.image < history.last_image()).then(|| history.image(self.image + 1).time_ms)
    }

    /// Publishes the next image; shards whose leader it changes begin anew.
    fn publish(&mut self, now_ms: TimeMs) {
        self.image += 1;
        if let Some(tape) = &mut self.tape {
            tape.image(now_ms, self.image);
        }
        self.publish_to_brokers(now_ms);
        for place in 0..self.places.len() {
            match self.places[place].next_move(self.image) {
                Some(moved) => self.begin_incarnation(now_ms, place, moved.broker),
                None => self.publish_to_shard(now_ms, place),
            }
        }
    }

    fn publish_to_shard(&mut self, now_ms: TimeMs, place: usize) {
        let image = self.image;
        let forgotten = self.rehosted_topics();
        let mut work = Work::default();
        let published = self.with_shard(place, |shard| {
            shard.publish(image, &mut work);
            for topic in &forgotten {
                shard.memo_mut().forget(topic, &mut work);
            }
        });
        if published.is_some() {
            let fold = &mut self.places[place].fold;
            let delta = self.subject.history.image(image);
            fold.add_image(now_ms, delta.changed.len() + delta.deleted.len(), work);
            let event = delta.event.clone();
            self.run_background(now_ms, place, &event);
            self.wake_touched(place);
        }
    }

    /// What the brokers' tables forget, though no shard may be there to forget it; a broker that registers anew has
    /// been restarted and remembers nothing.
    fn publish_to_brokers(&mut self, now_ms: TimeMs) {
        if self.design.memo() != Memo::Broker {
            return;
        }
        let delta = self.subject.history.image(self.image);
        for broker in &delta.registered {
            self.memos.remove(broker);
        }
        let mut forgotten = self.rehosted_topics();
        forgotten
            .extend(delta.changed.iter().chain(&delta.deleted).map(|&topic| self.subject.history.topic_name(topic)));
        let mut work = Work::default();
        for table in self.memos.values_mut() {
            forgotten.iter().for_each(|topic| table.forget(topic, &mut work));
        }
        if let Some(first) = self.places.first_mut() {
            first.fold.add_broker_memo(now_ms, work);
        }
    }

    /// The topics of brokers that register, if the strategy forgets them for that.
    fn rehosted_topics(&self) -> Vec<&'a JString> {
        let delta = self.subject.history.image(self.image);
        match self.design {
            Design::Point { forgets: Forgets::TopicOrBroker, .. } => {
                delta.rehosted.iter().map(|&topic| self.subject.history.topic_name(topic)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The shard's incarnation ends, and another one begins on a broker, if there is one that leads it.
    fn begin_incarnation(&mut self, now_ms: TimeMs, place: usize, broker: Option<i32>) {
        let subject = self.subject;
        let image = self.image;
        self.wake_shard(place);
        let place = &mut self.places[place];
        place.reverts = 0;
        let is_first = place.fold.totals_mut().happened.loads == 0;
        place.shard = None;
        place.broker = broker;
        let leader_epoch = subject.history.leader_epoch_at(place.number, image);
        let rules = subject.batch_rules_at(broker, image);
        place.fold.end_incarnation(now_ms, broker, rules, leader_epoch, place.moves.is_empty());
        let Some(broker) = broker else {
            if let Some(tape) = &mut self.tape {
                tape.leaderless(now_ms);
            }
            return;
        };
        let settings = subject.shard_settings_at(broker, image, self.design);
        let mut work = Work::default();
        let entries = place.fold.log().segments().iter().flat_map(Segment::records);
        let entries = entries.filter_map(|record| record.payload.as_deref());
        let (shard, error) = Shard::load(settings, subject.history, entries, image, now_ms, &mut work);
        let contents = LogContents::of(place.fold.log().segments());
        let load = LoadTotals {
            time_ms: now_ms,
            shard: place.number,
            broker,
            bytes: contents.bytes,
            records: contents.num_records(),
            replayed_records: contents.num_records() - contents.commits.records,
            error: error.map(|error| error.to_string()),
        };
        place.fold.add_load(load, work, &shard);
        place.shard = Some(shard);
        if let Some(tape) = &mut self.tape {
            tape.failover(now_ms, is_first);
        }
    }

    /// Does something with a shard while it has what its broker remembers; `None` if nobody leads it.
    fn with_shard<T>(&mut self, place: usize, act: impl FnOnce(&mut Shard<'a>) -> T) -> Option<T> {
        let place = &mut self.places[place];
        let shard = place.shard.as_mut()?;
        shard.set_moment(self.now);
        let shared = match (self.design.memo(), place.broker) {
            (Memo::Broker, Some(broker)) => Some(self.memos.entry(broker).or_default()),
            _ => None,
        };
        let Some(table) = shared else { return Some(act(shard)) };
        std::mem::swap(shard.memo_mut(), table);
        let result = act(shard);
        std::mem::swap(shard.memo_mut(), table);
        Some(result)
    }

    /// When the next timer fires, and of which shard: at equal deadlines in order of shards.
    fn next_timer(&self) -> Option<(TimeMs, usize)> {
        let deadline = |(index, place): (usize, &Place<'_>)| Some((place.shard.as_ref()?.next_deadline_ms()?, index));
        self.places.iter().enumerate().filter_map(deadline).min()
    }

    fn fire_timer(&mut self, deadline_ms: TimeMs, place: usize) {
        self.advance(Moment::new(deadline_ms, 0));
        let timer = self.places[place].timer_to_watch();
        let Some(outcome) = self.with_shard(place, |shard| shard.fire_next_timer(deadline_ms)) else { return };
        if let Some(timer) = timer {
            self.places[place].note(deadline_ms, Trigger::Timer(&timer), &outcome);
        }
        let event = self.event_of_timer(place, &outcome);
        self.take(deadline_ms, place, cost::Trigger::Timer, &outcome, &event);
    }

    /// What the member did that a timer has taken out.
    fn event_of_timer(&mut self, place: usize, outcome: &Outcome) -> Arc<str> {
        let key = outcome.entries.first().map(|entry| &entry.record.key);
        let group = key.and_then(|key| self.by_name.get(&key.group)).copied();
        let group = group.filter(|&group| self.groups[group].place == place);
        let member = key.and_then(|key| key.member.as_ref());
        let word = match (group, member) {
            (Some(group), Some(member)) => self.clients.timeout_of(group, member),
            _ => "timeout",
        };
        self.words.get(word)
    }

    /// The moment at hand; it never goes back.
    fn advance(&mut self, moment: Moment) {
        self.now = self.now.max(moment);
    }

    /// The next member acts.
    fn act(&mut self, now_ms: TimeMs) {
        let Some((moment, action)) = self.clients.next() else { return };
        if self.clients.is_void(now_ms, &action) {
            return;
        }
        self.advance(moment);
        match action {
            Action::Step { client, step } => {
                self.wake(client);
                self.clients.step(client, step);
                self.replace_scout(client);
            }
            Action::Heartbeat { client } => {
                self.wake(client);
                if let Some(request) = self.clients.heartbeat(client, now_ms) {
                    self.heartbeat(now_ms, client, request);
                }
            }
        }
    }

    /// A heartbeat is answered at once.
    fn heartbeat(&mut self, now_ms: TimeMs, client: usize, request: HeartbeatRequest) {
        let group = self.clients.group_of(client);
        let place = self.groups[group].place;
        let Some(outcome) = self.with_shard(place, |shard| shard.heartbeat(now_ms, &request, false)) else {
            self.places[place].fold.totals_mut().happened.unsent_heartbeats += 1;
            self.clients.answer(client, now_ms, Err(HeartbeatError::NotCoordinator));
            return;
        };
        self.processed += 1;
        self.places[place].note(now_ms, Trigger::Heartbeat(&request), &outcome);
        self.heard(now_ms, group, request, &outcome);
        let event = self.words.get(self.clients.last_step(client));
        self.take(now_ms, place, cost::Trigger::Heartbeat, &outcome, &event);
        let answer = match (&outcome.error, &outcome.response) {
            (None, Some(response)) => Ok(response),
            (Some(error), _) => Err(*error),
            (None, None) => Err(HeartbeatError::UnknownServerError),
        };
        self.clients.answer(client, now_ms, answer);
        self.wake_after_heartbeat(client, &outcome);
        if outcome.entries.is_empty() && outcome.work == Work::default() {
            self.park_if_idle(client);
        }
    }

    fn heard(&mut self, now_ms: TimeMs, group: usize, request: HeartbeatRequest, outcome: &Outcome) {
        let place = self.groups[group].place;
        self.places[place].fold.add_heartbeat(now_ms, request.kind(), outcome);
        if self.places[place].shard.as_ref().is_some_and(Shard::is_active) {
            self.groups[group].heard_at = Some(self.image);
        }
        if let Some(tape) = &mut self.tape {
            tape.heartbeat(now_ms, request);
        }
    }

    /// Takes what an operation did, and what it handed to the background.
    fn take(&mut self, now_ms: TimeMs, place: usize, cause: cost::Trigger, outcome: &Outcome, event: &Arc<str>) {
        self.places[place].fold.add_outcome(now_ms, cause, outcome, event);
        self.wake_written(place, outcome);
        self.run_background(now_ms, place, event);
    }

    fn run_background(&mut self, now_ms: TimeMs, place: usize, event: &Arc<str>) {
        while let Some(outcome) = self.with_shard(place, |shard| shard.run_background(now_ms)).flatten() {
            self.places[place].note(now_ms, Trigger::Background, &outcome);
            self.places[place].fold.add_outcome(now_ms, cost::Trigger::Background, &outcome, event);
            self.wake_written(place, &outcome);
            if outcome.error.is_some() {
                // What failed is still due: at any heartbeat.
                self.wake_shard(place);
            }
        }
    }
}

impl Place<'_> {
    fn into_files(self, end_ms: TimeMs) -> ShardFiles {
        let groups = self.shard.iter().filter(|shard| shard.is_active()).flat_map(Shard::groups);
        let mut groups: Vec<GroupAtEnd> = groups
            .map(|group| GroupAtEnd {
                name: group.base().id.clone(),
                kind: group.base().kind,
                epoch: *group.base().epoch.get(),
                members: group.num_members(),
            })
            .collect();
        groups.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        ShardFiles { number: self.number, segments: self.fold.into_files(end_ms), groups }
    }

    /// The move that an image brings.
    fn next_move(&mut self, image: ImageNumber) -> Option<Move> {
        if self.moves.last()?.image > image { None } else { self.moves.pop() }
    }

    /// The timer that fires next, if somebody wants to know.
    fn timer_to_watch(&mut self) -> Option<Timer> {
        self.fold.watcher_mut()?;
        self.shard.as_ref()?.timers().next().map(|(_, timer)| timer.clone())
    }

    /// Notes what a shard has done, if somebody wants to know.
    fn note(&mut self, now_ms: TimeMs, trigger: Trigger, outcome: &Outcome) {
        if let (Some(watcher), Some(shard)) = (self.fold.watcher_mut(), &self.shard) {
            watcher.operation(now_ms, trigger, outcome, shard);
        }
    }
}

/// Words as shared texts, each made once.
#[derive(Debug, Default)]
struct Words(BTreeMap<&'static str, Arc<str>>);

impl Words {
    fn get(&mut self, word: &'static str) -> Arc<str> {
        self.0.entry(word).or_insert_with(|| Arc::from(word)).clone()
    }
}
