//! A member of a consumer group, as the coordinator knows it (`ConsumerGroupMember`).

use crate::coordinator::behaviour::Behaviour;
use crate::coordinator::modern::{ModernMember, Subscription};
use crate::coordinator::protocol::ConsumerHeartbeat;
use crate::coordinator::timer::Revocation;
use crate::kafka::records::{CurrentMemberAssignment, MemberMetadata, TopicPartitions};
use crate::kafka::{JString, Uuid};
use std::collections::BTreeMap;
use std::sync::Arc;

/// `MemberState`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i8)]
pub enum MemberState {
    /// The member owns its assignment.
    Stable = 0,
    /// It must give up partitions first.
    UnrevokedPartitions = 1,
    /// It waits for partitions that others still own.
    UnreleasedPartitions = 2,
}

impl MemberState {
    fn from_record(state: i8) -> MemberState {
        match state {
            1 => MemberState::UnrevokedPartitions,
            2 => MemberState::UnreleasedPartitions,
            // The coordinator writes no other state; Kafka's UNKNOWN is for records of later versions.
            _ => MemberState::Stable,
        }
    }
}

/// Partitions of topics, each with the epoch at which it was assigned (0 in versions that keep none).
///
/// Kafka keeps them in hash maps; only the order inside records shows, and no choice depends on it.
pub type Owned = BTreeMap<Uuid, BTreeMap<i32, i32>>;

/// A member. Immutable: a change makes a new one.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// Its id.
    pub id: JString,
    /// Its epoch.
    pub epoch: i32,
    /// The epoch before.
    pub previous_epoch: i32,
    /// Where it is in its reconciliation.
    pub state: MemberState,
    /// `group.instance.id` of a static member.
    pub instance_id: Option<JString>,
    /// `client.rack`.
    pub rack: Option<JString>,
    /// `max.poll.interval.ms`; -1 when never told.
    pub rebalance_timeout_ms: i32,
    /// `client.id`.
    pub client_id: JString,
    /// The client's host.
    pub client_host: JString,
    /// What it subscribes to by name.
    pub topics: Arc<Subscription>,
    /// The regular expression it subscribes to; `""` is none.
    pub regex: JString,
    /// The assignor it asks for.
    pub assignor: Option<JString>,
    /// The partitions it owns.
    pub assigned: Arc<Owned>,
    /// The partitions it must give up.
    pub pending_revocation: Arc<Owned>,
}

impl ModernMember for Member {
    fn id(&self) -> &JString {
        &self.id
    }

    fn epoch(&self) -> i32 {
        self.epoch
    }

    fn instance_id(&self) -> Option<&JString> {
        self.instance_id.as_ref()
    }

    fn rack(&self) -> Option<&JString> {
        self.rack.as_ref()
    }

    fn topics(&self) -> &Subscription {
        &self.topics
    }
}

impl Member {
    /// A member that nothing is known of but its id.
    pub fn new(id: JString) -> Member {
        Member {
            id,
            epoch: 0,
            previous_epoch: -1,
            state: MemberState::Stable,
            instance_id: None,
            rack: None,
            rebalance_timeout_ms: -1,
            client_id: JString::default(),
            client_host: JString::default(),
            topics: Arc::default(),
            regex: JString::default(),
            assignor: None,
            assigned: Arc::default(),
            pending_revocation: Arc::default(),
        }
    }

    /// The member with what a heartbeat says of it; what was not sent stays.
    pub fn with_request(&self, request: &ConsumerHeartbeat) -> Member {
        let mut member = self.clone();
        if request.instance_id.is_some() {
            member.instance_id.clone_from(&request.instance_id);
        }
        if request.rack.is_some() {
            member.rack.clone_from(&request.rack);
        }
        if request.rebalance_timeout_ms != -1 {
            member.rebalance_timeout_ms = request.rebalance_timeout_ms;
        }
        if request.assignor.is_some() {
            member.assignor.clone_from(&request.assignor);
        }
        member.topics = Subscription::requested(&member.topics, request.topics.as_deref());
        if let Some(regex) = &request.regex {
            member.regex = regex.clone();
        }
        member.client_id = request.client_id.clone();
        member.client_host = request.client_host.clone();
        member
    }

    /// The member with what a member-metadata record says of it.
    pub fn with_metadata(&self, value: &MemberMetadata) -> Member {
        Member {
            instance_id: value.instance_id.clone(),
            rack: value.rack_id.clone(),
            rebalance_timeout_ms: value.rebalance_timeout_ms,
            client_id: value.client_id.clone(),
            client_host: value.client_host.clone(),
            topics: Subscription::recorded(&self.topics, &value.subscribed_topic_names),
            regex: value.subscribed_topic_regex.clone().unwrap_or_default(),
            assignor: value.server_assignor.clone(),
            ..self.clone()
        }
    }

    /// The member with what a current-assignment record says of it.
    pub fn with_assignment(&self, value: &CurrentMemberAssignment, behaviour: &Behaviour) -> Member {
        let default_epoch = if behaviour.assignment_epochs { value.member_epoch.max(0) } else { 0 };
        Member {
            epoch: value.member_epoch,
            previous_epoch: value.previous_member_epoch,
            state: MemberState::from_record(value.state),
            assigned: Arc::new(owned_from_record(&value.assigned_partitions, default_epoch)),
            pending_revocation: Arc::new(owned_from_record(&value.partitions_pending_revocation, default_epoch)),
            ..self.clone()
        }
    }

    /// The member after it moved to an epoch.
    pub fn moved_to(&self, epoch: i32) -> Member {
        Member { epoch, previous_epoch: self.epoch, ..self.clone() }
    }

    /// Whether it owns what a target of that epoch gives it.
    pub fn is_reconciled_to(&self, target_epoch: i32) -> bool {
        self.state == MemberState::Stable && self.epoch == target_epoch
    }

    /// What it must do, if it must give up partitions.
    pub fn revocation(&self) -> Option<Revocation> {
        let revokes = self.state == MemberState::UnrevokedPartitions;
        revokes.then_some(Revocation { member_epoch: self.epoch, timeout_ms: self.rebalance_timeout_ms })
    }

    /// Its metadata record.
    pub fn metadata_record(&self) -> MemberMetadata {
        MemberMetadata {
            instance_id: self.instance_id.clone(),
            rack_id: self.rack.clone(),
            client_id: self.client_id.clone(),
            client_host: self.client_host.clone(),
            subscribed_topic_names: self.topics.sorted.clone(),
            subscribed_topic_regex: Some(self.regex.clone()),
            rebalance_timeout_ms: self.rebalance_timeout_ms,
            server_assignor: self.assignor.clone(),
        }
    }

    /// Its current-assignment record.
    pub fn assignment_record(&self, behaviour: &Behaviour) -> CurrentMemberAssignment {
        CurrentMemberAssignment {
            member_epoch: self.epoch,
            previous_member_epoch: self.previous_epoch,
            state: self.state as i8,
            assigned_partitions: owned_to_record(&self.assigned, behaviour),
            partitions_pending_revocation: owned_to_record(&self.pending_revocation, behaviour),
        }
    }

    /// Its assignment as answers carry it.
    pub fn assignment_response(&self) -> Vec<(Uuid, Vec<i32>)> {
        self.assigned.iter().map(|(topic, partitions)| (*topic, partitions.keys().copied().collect())).collect()
    }

    /// The regular expression, if it has one.
    pub fn regex_or_none(&self) -> Option<&JString> {
        (!self.regex.is_empty()).then_some(&self.regex)
    }
}

fn owned_from_record(topics: &[TopicPartitions], default_epoch: i32) -> Owned {
    topics
        .iter()
        .map(|topic| {
            let epochs = topic.assignment_epochs.as_deref().filter(|e| e.len() == topic.partitions.len());
            let partitions = topic.partitions.iter().enumerate();
            (topic.topic_id, partitions.map(|(i, &p)| (p, epochs.map_or(default_epoch, |e| e[i]))).collect())
        })
        .collect()
}

fn owned_to_record(owned: &Owned, behaviour: &Behaviour) -> Vec<TopicPartitions> {
    owned
        .iter()
        .map(|(topic, partitions)| TopicPartitions {
            topic_id: *topic,
            partitions: partitions.keys().copied().collect(),
            assignment_epochs: behaviour.assignment_epochs.then(|| partitions.values().copied().collect()),
        })
        .collect()
}
