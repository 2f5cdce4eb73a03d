//! What the heartbeats of each kind of member say. Fields that the coordinator knows already are not sent again; after
//! an error they all are.

use super::member::{LocalAssignment, MemberEmulator, State};
use crate::coordinator::protocol::{
    Assigned, AssignedPartitions, ConsumerHeartbeat, HeartbeatRequest, ShareHeartbeat, StreamsHeartbeat,
};
use crate::kafka::{GroupKind, JString};

impl<'a> MemberEmulator<'a> {
    /// The next heartbeat, and a note of what it says.
    pub(super) fn request(&mut self, member: &JString, epoch: i32) -> HeartbeatRequest {
        match self.group.kind {
            GroupKind::Consumer => HeartbeatRequest::Consumer(self.consumer_request(member, epoch)),
            GroupKind::Share => HeartbeatRequest::Share(self.share_request(member, epoch)),
            GroupKind::Streams => HeartbeatRequest::Streams(Box::new(self.streams_request(member, epoch))),
        }
    }

    /// The last request. By then a consumer has unsubscribed and owns nothing, and it says so.
    pub(super) fn leave_request(&self, member: &JString, epoch: i32) -> HeartbeatRequest {
        let unsubscribes = self.sent.topics.is_none_or(|topics| !topics.is_empty());
        let topics = unsubscribes.then(Vec::new);
        match self.group.kind {
            GroupKind::Consumer => {
                let none = LocalAssignment::none(GroupKind::Consumer);
                let owned = (self.sent.local.as_ref() != Some(&none)).then(Vec::new);
                HeartbeatRequest::Consumer(ConsumerHeartbeat { topics, owned, ..self.bare_consumer(member, epoch) })
            }
            GroupKind::Share => HeartbeatRequest::Share(ShareHeartbeat { topics, ..self.bare_share(member, epoch) }),
            GroupKind::Streams => HeartbeatRequest::Streams(Box::new(self.bare_streams(member, epoch))),
        }
    }

    /// A heartbeat that carries no field but the ids and the epoch.
    pub(super) fn bare_request(&self, member: &JString, epoch: i32) -> HeartbeatRequest {
        match self.group.kind {
            GroupKind::Consumer => HeartbeatRequest::Consumer(self.bare_consumer(member, epoch)),
            GroupKind::Share => HeartbeatRequest::Share(self.bare_share(member, epoch)),
            GroupKind::Streams => HeartbeatRequest::Streams(Box::new(self.bare_streams(member, epoch))),
        }
    }

    /// Whether the next heartbeat carries no field but the ids and the epoch.
    pub(super) fn says_nothing_new(&self) -> bool {
        match self.group.kind {
            GroupKind::Consumer => {
                self.sent.rebalance_timeout && self.topics_are_sent() && self.sent.local.as_ref() == Some(&self.current)
            }
            GroupKind::Share => self.sent.rack && self.topics_are_sent(),
            GroupKind::Streams => self.tasks_are_sent(),
        }
    }

    fn consumer_request(&mut self, member: &JString, epoch: i32) -> ConsumerHeartbeat {
        let all = self.state == State::Joining;
        let mut request = self.bare_consumer(member, epoch);
        if all || !self.sent.rebalance_timeout {
            request.rebalance_timeout_ms = self.plan.rebalance_timeout_ms;
            self.sent.rebalance_timeout = true;
        }
        request.topics = self.new_topics(all);
        if all || !self.sent.assignor {
            request.assignor.clone_from(&self.plan.assignor);
            self.sent.assignor = true;
        }
        if all || self.sent.local.as_ref() != Some(&self.current) {
            request.owned = Some(self.partitions());
            self.sent.local = Some(self.current.clone());
        }
        if all {
            request.rack.clone_from(&self.plan.rack);
        }
        request
    }

    fn share_request(&mut self, member: &JString, epoch: i32) -> ShareHeartbeat {
        let all = self.state == State::Joining;
        let mut request = self.bare_share(member, epoch);
        if !self.sent.rack {
            request.rack.clone_from(&self.plan.rack);
            self.sent.rack = true;
        }
        request.topics = self.new_topics(all);
        request
    }

    fn streams_request(&mut self, member: &JString, epoch: i32) -> StreamsHeartbeat {
        let mut request = self.bare_streams(member, epoch);
        if self.state == State::Joining {
            request.topology = self.group.application.as_ref().map(|application| application.topology.clone());
            request.rebalance_timeout_ms = self.plan.rebalance_timeout_ms;
            request.process_id.clone_from(&self.plan.process_id);
            request.rack.clone_from(&self.plan.rack);
            (request.active, request.standby, request.warmup) = (Some(Vec::new()), Some(Vec::new()), Some(Vec::new()));
        } else if !self.tasks_are_sent()
            && let Assigned::Tasks { active, standby, warmup } = self.owned()
        {
            request.active = Some(active.clone());
            request.standby = Some(standby.clone());
            request.warmup = Some(warmup.clone());
            self.sent.local = Some(self.current.clone());
        }
        request
    }

    /// The subscription, if it has to be sent.
    fn new_topics(&mut self, all: bool) -> Option<Vec<JString>> {
        (all || !self.topics_are_sent()).then(|| {
            self.sent.topics = Some(self.topics);
            self.topics.to_vec()
        })
    }

    /// Whether the subscription was sent; its order does not matter.
    fn topics_are_sent(&self) -> bool {
        self.sent.topics.is_some_and(|sent| {
            let sorted = |topics: &[JString]| {
                let mut topics: Vec<JString> = topics.to_vec();
                topics.sort_unstable();
                topics.dedup();
                topics
            };
            std::ptr::eq(sent, self.topics) || sorted(sent) == sorted(self.topics)
        })
    }

    /// Whether these very tasks were sent; unlike a consumer, a streams member does not tell assignments apart that are equal.
    fn tasks_are_sent(&self) -> bool {
        self.sent.local.as_ref().is_some_and(|sent| sent.assigned == self.current.assigned)
    }

    fn partitions(&self) -> AssignedPartitions {
        match self.owned() {
            Assigned::Partitions(partitions) => partitions.clone(),
            Assigned::Tasks { .. } => Vec::new(),
        }
    }

    fn bare_consumer(&self, member: &JString, epoch: i32) -> ConsumerHeartbeat {
        ConsumerHeartbeat {
            group: self.group.name.clone(),
            member: member.clone(),
            epoch,
            instance_id: self.plan.instance_id.clone(),
            rack: None,
            rebalance_timeout_ms: -1,
            topics: None,
            regex: None,
            assignor: None,
            owned: None,
            client_id: self.plan.client_id.clone(),
            client_host: self.plan.client_host.clone(),
        }
    }

    fn bare_share(&self, member: &JString, epoch: i32) -> ShareHeartbeat {
        ShareHeartbeat {
            group: self.group.name.clone(),
            member: member.clone(),
            epoch,
            rack: None,
            topics: None,
            client_id: self.plan.client_id.clone(),
            client_host: self.plan.client_host.clone(),
        }
    }

    fn bare_streams(&self, member: &JString, epoch: i32) -> StreamsHeartbeat {
        StreamsHeartbeat {
            group: self.group.name.clone(),
            member: member.clone(),
            epoch,
            instance_id: self.plan.instance_id.clone(),
            rack: None,
            rebalance_timeout_ms: -1,
            topology: None,
            process_id: None,
            active: None,
            standby: None,
            warmup: None,
            client_id: self.plan.client_id.clone(),
            client_host: self.plan.client_host.clone(),
        }
    }
}
