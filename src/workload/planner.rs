//! Plans what every member of every group does: who joins, leaves, dies and changes its subscription, and when.

use super::application::Application;
use super::director::{churn_times, stream_name};
use super::fleet::{Fleet, GroupPlan, MemberPlan, Step};
use super::random_uuid;
use crate::kafka::{GroupKind, JString, Uuid};
use crate::kernel::TimeMs;
use crate::kernel::queue::EventQueue;
use crate::kernel::random::{Poisson, Stream, Streams, Zipf};
use crate::scenario::{
    Choice, ChurnKind, Diagnostic, EventKind, GroupPopulation, Redeploy, Scenario, Subscribe, show_duration,
};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Something that happens to members.
#[derive(Debug, Clone, Copy)]
enum Happening {
    /// The next occurrence of a `[[churn]]` table: its index, and how often it occurred before.
    Churn(usize, u64),
    /// An `[[events]]` table: its index.
    Event(usize),
}

/// A member while it is being planned.
#[derive(Debug)]
struct Member {
    name: String,
    plan: MemberPlan,
    /// Whether it runs after its last step.
    is_up: bool,
    /// The time of its last step: nothing earlier can be planned.
    busy_until_ms: TimeMs,
    /// How often it started.
    starts: u64,
    /// What an event made it subscribe to; else it follows its group.
    own_topics: Option<Vec<JString>>,
}

/// A group while it is being planned.
#[derive(Debug)]
struct Group {
    name: String,
    kind: GroupKind,
    application: Option<Arc<Application>>,
    population: usize,
    /// What new members subscribe to.
    topics: Vec<JString>,
    members: Vec<Member>,
    first_rack: u64,
}

/// Makes the fleet of a scenario.
#[derive(Debug)]
pub(super) struct Planner<'a> {
    scenario: &'a Scenario,
    streams: Streams,
    racks: &'a [String],
    groups: Vec<Group>,
    /// Where the groups of each population begin.
    first_group: Vec<usize>,
    popularity: BTreeMap<(usize, u64), Zipf>,
    queue: EventQueue<Happening>,
    churn: Vec<Option<Poisson>>,
}

/// Why something cannot happen to members.
type Impossible = String;

impl<'a> Planner<'a> {
    /// A planner before the start. The racks are those that clients can be in.
    pub fn new(scenario: &'a Scenario, streams: Streams, racks: &'a [String]) -> Self {
        Planner {
            scenario,
            streams,
            racks,
            groups: Vec::new(),
            first_group: Vec::new(),
            popularity: BTreeMap::new(),
            queue: EventQueue::new(),
            churn: Vec::new(),
        }
    }

    /// Plans everything; what is impossible is added to the errors.
    pub fn run(mut self, errors: &mut Vec<Diagnostic>) -> Fleet {
        for population in 0..self.scenario.groups.len() {
            self.first_group.push(self.groups.len());
            for number in 1..=self.scenario.groups[population].count {
                self.add_group(population, number);
            }
        }
        self.schedule();
        while let Some((now_ms, happening)) = self.queue.pop() {
            match happening {
                Happening::Churn(index, occurrence) => {
                    self.schedule_churn(index, occurrence + 1);
                    self.churn(now_ms, index, occurrence);
                }
                Happening::Event(index) => {
                    let event = &self.scenario.events[index];
                    if let Err(message) = self.event(now_ms, &event.kind) {
                        errors.push(self.scenario.diagnostic(&event.place, message));
                    }
                }
            }
        }
        Fleet { groups: self.groups.into_iter().map(|group| finish(group, self.scenario.duration_ms)).collect() }
    }

    fn population(&self, group: usize) -> &'a GroupPopulation {
        &self.scenario.groups[self.groups[group].population]
    }

    fn group_stream(&self, group: &str, purpose: &str) -> Stream {
        self.streams.stream(&format!("group {group}"), 0, purpose)
    }

    /// A stream of a member's start.
    fn member_stream(&self, group: usize, member: usize, purpose: &str) -> Stream {
        let group = &self.groups[group];
        let member = &group.members[member];
        self.streams.stream(&format!("member {} of {}", member.name, group.name), member.starts, purpose)
    }

    fn add_group(&mut self, population: usize, number: u64) {
        let plan = &self.scenario.groups[population];
        let name = plan.name.name(number);
        let topics = self.draw_topics(plan, &name);
        let members = weighted(&plan.members, &mut self.group_stream(&name, "members"));
        let first_rack = self.group_stream(&name, "rack").below(self.racks.len() as u64);
        let application = plan.application.as_ref().map(|plan| Arc::new(Application::new(&name, &topics, plan)));
        let group = Group { name, kind: plan.kind, application, population, topics, members: Vec::new(), first_rack };
        self.groups.push(group);
        let group = self.groups.len() - 1;
        for _ in 0..members {
            let member = self.add_member(group, None, None, None);
            let delay_ms = self.member_stream(group, member, "join").between(0, plan.join_over_ms);
            self.join(group, member, plan.start_ms + delay_ms, None);
        }
    }

    /// What a group subscribes to.
    fn draw_topics(&mut self, plan: &GroupPopulation, group: &str) -> Vec<JString> {
        match &plan.subscribe {
            Subscribe::Names(names) => names.iter().map(|name| JString::from(name.as_str())).collect(),
            Subscribe::Drawn { from, count, exponent } => {
                let mut stream = self.group_stream(group, "topics");
                let count = weighted(count, &mut stream);
                let mut topics = Vec::new();
                for _ in 0..count {
                    if let Some(topic) = self.draw_topic(*from, *exponent, &topics, &mut stream) {
                        topics.push(topic);
                    }
                }
                topics
            }
        }
    }

    /// A topic of a population that is not among those drawn already; `None` if all are.
    fn draw_topic(&mut self, from: usize, exponent: f64, drawn: &[JString], stream: &mut Stream) -> Option<JString> {
        let population = &self.scenario.topics[from];
        let key = (from, exponent.to_bits());
        let zipf = self.popularity.entry(key).or_insert_with(|| Zipf::new(population.count, exponent));
        let first = zipf.draw(stream);
        // A popular topic that is drawn again is drawn anew, but not for ever: then the next free one is taken.
        let mut rank = first;
        for attempt in 0..population.count + 64 {
            let topic = JString::from(population.name.name(rank + 1));
            if !drawn.contains(&topic) {
                return Some(topic);
            }
            rank = if attempt < 64 { zipf.draw(stream) } else { (rank + 1) % population.count };
        }
        None
    }

    /// A new member of a group; by default as its population says.
    fn add_member(&mut self, group: usize, name: Option<&str>, instance: Option<&str>, rack: Option<&str>) -> usize {
        let plan = self.population(group);
        let Group { name: group_name, members, first_rack, .. } = &self.groups[group];
        let number = members.len() as u64 + 1;
        let name = name.map_or_else(|| format!("m{number}"), str::to_owned);
        let numbered = name.strip_prefix('m').filter(|digits| digits.parse::<u64>().is_ok());
        let short = numbered.unwrap_or(&name);
        let own_rack = (plan.rack_aware && !self.racks.is_empty())
            .then(|| self.racks[((first_rack + number - 1) % self.racks.len() as u64) as usize].as_str());
        let rack = rack.or(own_rack).filter(|_| sends_rack(&self.scenario.kafka, plan.kind)).map(JString::from);
        let own_instance = plan.is_static.then(|| format!("{group_name}-{short}"));
        let instance_id = instance.map(str::to_owned).or(own_instance).map(JString::from);
        let process_id = plan.application.as_ref().map(|application| {
            let process = (number - 1) / application.threads;
            java_uuid(random_uuid(&mut self.streams.stream(&format!("group {group_name}"), process, "process")))
        });
        let client_id = plan.client_id.replace("{group}", group_name).replace("{m}", short);
        let client_id = client_id.replace("{process}", process_id.as_deref().unwrap_or(""));
        let mut stream = self.streams.stream(&format!("member {name} of {group_name}"), 0, "client");
        let [a, b, c] = stream.bytes();
        let plan = MemberPlan {
            instance_id,
            process_id: process_id.map(JString::from),
            rack,
            client_id: JString::from(client_id),
            client_host: JString::from(format!("/10.{a}.{b}.{c}")),
            assignor: plan.assignor.as_deref().map(JString::from),
            rebalance_timeout_ms: plan.max_poll_interval_ms as i32,
            revocation_ms: plan.revocation_ms,
            retry_seed: stream.bits(),
            steps: Vec::new(),
        };
        let member = Member { name, plan, is_up: false, busy_until_ms: 0, starts: 0, own_topics: None };
        self.groups[group].members.push(member);
        self.groups[group].members.len() - 1
    }

    /// A member starts: with a new member id, as the Java client draws one.
    fn join(&mut self, group: usize, member: usize, time_ms: TimeMs, topics: Option<Vec<JString>>) {
        let id = random_uuid(&mut self.member_stream(group, member, "id"));
        let Group { topics: group_topics, members, .. } = &mut self.groups[group];
        let member = &mut members[member];
        member.own_topics = topics.or(member.own_topics.take());
        let topics = member.own_topics.as_ref().unwrap_or(group_topics).clone();
        member.plan.steps.push((time_ms, Step::Join { member_id: JString::from(id.to_string()), topics }));
        (member.is_up, member.busy_until_ms) = (true, time_ms);
        member.starts += 1;
    }

    fn down(&mut self, group: usize, member: usize, time_ms: TimeMs, step: Step) {
        let member = &mut self.groups[group].members[member];
        member.plan.steps.push((time_ms, step));
        (member.is_up, member.busy_until_ms) = (false, time_ms);
    }

    fn schedule(&mut self) {
        for (index, event) in self.scenario.events.iter().enumerate() {
            if !event.kind.is_of_cluster() {
                self.queue.push(event.at_ms, Happening::Event(index));
            }
        }
        self.churn = churn_times(self.scenario, self.streams, |kind| !kind.is_of_cluster());
        for index in 0..self.churn.len() {
            self.schedule_churn(index, 0);
        }
    }

    fn schedule_churn(&mut self, index: usize, occurrence: u64) {
        let until_ms = self.scenario.churn[index].until_ms.min(self.scenario.duration_ms);
        if let Some(time_ms) = self.churn[index].as_mut().and_then(Iterator::next)
            && time_ms < until_ms
        {
            self.queue.push(time_ms, Happening::Churn(index, occurrence));
        }
    }

    /// One occurrence of churn. If nobody is there that it could happen to, nothing happens.
    fn churn(&mut self, now_ms: TimeMs, index: usize, occurrence: u64) {
        let kind = &self.scenario.churn[index].kind;
        let Some(population) = kind.groups() else { return };
        let mut stream = self.streams.stream(&stream_name(self.scenario, index), occurrence, "target");
        let number = stream.below(self.scenario.groups[population].count);
        let group = self.first_group[population] + number as usize;
        match kind {
            ChurnKind::MemberJoin { .. } => {
                let member = self.add_member(group, None, None, None);
                self.join(group, member, now_ms, None);
            }
            ChurnKind::MemberLeave { back_after_ms, .. } | ChurnKind::MemberCrash { back_after_ms, .. } => {
                let Some(member) = stream.choose(&self.free_members(group, now_ms)).copied() else { return };
                let step = match (kind, back_after_ms) {
                    (ChurnKind::MemberCrash { .. }, _) => Step::Crash,
                    (_, Some(_)) => Step::Stop,
                    (_, None) => Step::Leave,
                };
                self.down(group, member, now_ms, step);
                if let Some(back_after_ms) = back_after_ms {
                    self.join(group, member, now_ms + back_after_ms, None);
                }
            }
            ChurnKind::Redeploy { redeploy, .. } => self.redeploy(now_ms, group, *redeploy),
            ChurnKind::SubscriptionChange { over_ms, .. } => {
                if let Some(topics) = self.trade_topic(group, &mut stream) {
                    self.groups[group].topics.clone_from(&topics);
                    for member in self.free_members(group, now_ms) {
                        let time_ms = now_ms + stream.between(0, *over_ms);
                        self.subscribe(group, member, time_ms, topics.clone());
                    }
                }
            }
            _ => {}
        }
    }

    /// The members that run and have nothing planned.
    fn free_members(&self, group: usize, now_ms: TimeMs) -> Vec<usize> {
        let members = self.groups[group].members.iter().enumerate();
        members.filter(|(_, member)| member.is_up && member.busy_until_ms <= now_ms).map(|(index, _)| index).collect()
    }

    fn redeploy(&mut self, now_ms: TimeMs, group: usize, redeploy: Redeploy) {
        for (order, member) in (0..).zip(self.free_members(group, now_ms)) {
            let time_ms = now_ms + order * redeploy.pause_ms;
            self.down(group, member, time_ms, Step::Stop);
            self.join(group, member, time_ms + redeploy.down_ms, None);
        }
    }

    /// A group's topics with one of them replaced by another of the population that they were drawn from.
    fn trade_topic(&mut self, group: usize, stream: &mut Stream) -> Option<Vec<JString>> {
        let Subscribe::Drawn { from, exponent, .. } = &self.population(group).subscribe else { return None };
        let mut topics = self.groups[group].topics.clone();
        let place = stream.below(topics.len() as u64) as usize;
        let other = self.draw_topic(*from, *exponent, &topics, stream)?;
        *topics.get_mut(place)? = other;
        Some(topics)
    }

    fn subscribe(&mut self, group: usize, member: usize, time_ms: TimeMs, topics: Vec<JString>) {
        let member = &mut self.groups[group].members[member];
        member.plan.steps.push((time_ms, Step::Subscribe { topics }));
        member.busy_until_ms = time_ms;
    }

    fn event(&mut self, now_ms: TimeMs, kind: &EventKind) -> Result<(), Impossible> {
        match kind {
            EventKind::MemberJoin { group, member, topics, instance, rack } => {
                let group = self.group(group)?;
                let topics =
                    topics.as_ref().map(|names| names.iter().map(|name| JString::from(name.as_str())).collect());
                let member = self.member_to_join(now_ms, group, member, instance.as_deref(), rack.as_deref())?;
                self.join(group, member, now_ms, topics);
            }
            EventKind::MemberLeave { group, member } => self.stop(now_ms, group, member, Step::Leave)?,
            EventKind::MemberStop { group, member } => self.stop(now_ms, group, member, Step::Stop)?,
            EventKind::MemberCrash { group, member } => self.stop(now_ms, group, member, Step::Crash)?,
            EventKind::SubscriptionChange { group, member, topics } => {
                let group = self.group(group)?;
                let topics: Vec<JString> = topics.iter().map(|name| JString::from(name.as_str())).collect();
                let members = match member {
                    Some(member) => {
                        let member = self.running_member(now_ms, group, member)?;
                        self.groups[group].members[member].own_topics = Some(topics.clone());
                        vec![member]
                    }
                    None => {
                        self.groups[group].topics.clone_from(&topics);
                        self.free_members(group, now_ms)
                    }
                };
                for member in members {
                    self.subscribe(group, member, now_ms, topics.clone());
                }
            }
            EventKind::Redeploy { group, redeploy } => {
                let group = self.group(group)?;
                self.redeploy(now_ms, group, *redeploy);
            }
            _ => {}
        }
        Ok(())
    }

    fn group(&self, name: &str) -> Result<usize, Impossible> {
        let found = self.scenario.group_named(name);
        let group = found.map(|(population, number)| self.first_group[population] + number as usize - 1);
        group.ok_or_else(|| format!("there is no group {name:?}"))
    }

    fn find(&self, group: usize, name: &str) -> Option<usize> {
        self.groups[group].members.iter().position(|member| member.name == name)
    }

    /// The member that an event starts: one that is down, or a new one.
    fn member_to_join(
        &mut self,
        now_ms: TimeMs,
        group: usize,
        name: &str,
        instance: Option<&str>,
        rack: Option<&str>,
    ) -> Result<usize, Impossible> {
        let Some(index) = self.find(group, name) else { return Ok(self.add_member(group, Some(name), instance, rack)) };
        let member = &self.groups[group].members[index];
        if member.is_up || member.busy_until_ms > now_ms {
            let until = show_duration(member.busy_until_ms);
            return Err(format!("member {name:?} runs then, or starts later (its last step before is at {until})"));
        }
        if instance.is_some_and(|instance| member.plan.instance_id.as_deref() != Some(instance)) {
            return Err(format!("member {name:?} was started before with another instance; expected another member"));
        }
        let sends_rack = sends_rack(&self.scenario.kafka, self.groups[group].kind);
        if rack.is_some_and(|rack| sends_rack && member.plan.rack.as_deref() != Some(rack)) {
            return Err(format!("member {name:?} was started before in another rack; expected another member"));
        }
        Ok(index)
    }

    fn running_member(&self, now_ms: TimeMs, group: usize, name: &str) -> Result<usize, Impossible> {
        let Some(index) = self.find(group, name) else {
            let names: Vec<&str> = self.groups[group].members.iter().take(5).map(|m| m.name.as_str()).collect();
            return Err(format!("there is no member {name:?} then; the group has {}", names.join(", ")));
        };
        let member = &self.groups[group].members[index];
        if !member.is_up || member.busy_until_ms > now_ms {
            let until = show_duration(member.busy_until_ms);
            return Err(format!("member {name:?} does not run then (its last step before or start is at {until})"));
        }
        Ok(index)
    }

    fn stop(&mut self, now_ms: TimeMs, group: &str, member: &str, step: Step) -> Result<(), Impossible> {
        let group = self.group(group)?;
        let member = self.running_member(now_ms, group, member)?;
        self.down(group, member, now_ms, step);
        Ok(())
    }
}

fn weighted(choice: &Choice, stream: &mut Stream) -> i64 {
    choice.values[stream.weighted(&choice.weights)]
}

/// An id as `java.util.UUID` shows it.
fn java_uuid(id: Uuid) -> String {
    let hex = format!("{:032x}", id.0);
    let parts: Vec<&str> = [0..8, 8..12, 12..16, 16..20, 20..32].into_iter().map(|part| &hex[part]).collect();
    parts.join("-")
}

/// Whether the clients of a Kafka version tell the coordinator their rack: consumers were seen to do so in the lab with
/// 4.3.1, not with 3.9.1 and 4.0.0; 4.1.1's `ConsumerHeartbeatRequestManager` and `ShareHeartbeatRequestManager` do,
/// `StreamsGroupHeartbeatRequestManager` only from 4.3 on.
fn sends_rack(kafka: &str, kind: GroupKind) -> bool {
    let never = kafka.starts_with("3.") || kafka.starts_with("4.0.");
    !(never || kind == GroupKind::Streams && kafka.starts_with("4.1."))
}

/// Steps after the end are left out.
fn finish(group: Group, duration_ms: TimeMs) -> GroupPlan {
    let members = group.members.into_iter().map(|member| {
        let mut plan = member.plan;
        plan.steps.retain(|(time_ms, _)| *time_ms <= duration_ms);
        plan
    });
    let members = members.collect();
    GroupPlan { kind: group.kind, name: JString::from(group.name), application: group.application, members }
}
