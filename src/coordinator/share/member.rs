//! A member of a share group, as the coordinator knows it (`ShareGroupMember`).

use crate::coordinator::assignment::Assignment;
use crate::coordinator::modern::{ModernMember, Subscription};
use crate::coordinator::protocol::{AssignedPartitions, ShareHeartbeat};
use crate::kafka::JString;
use crate::kafka::records::share::{CurrentMemberAssignment, MemberMetadata};
use std::sync::Arc;

/// A member. Immutable: a change makes a new one. It is always stable: whatever it is assigned, others may read too.
#[derive(Debug, Clone, PartialEq)]
pub struct ShareMember {
    /// Its id.
    pub id: JString,
    /// Its epoch.
    pub epoch: i32,
    /// The epoch before.
    pub previous_epoch: i32,
    /// `client.rack`.
    pub rack: Option<JString>,
    /// `client.id`.
    pub client_id: JString,
    /// The client's host.
    pub client_host: JString,
    /// What it subscribes to by name.
    pub topics: Arc<Subscription>,
    /// The partitions it reads. From 4.3 on a topic may be there with none.
    pub assigned: Arc<Assignment>,
}

impl ModernMember for ShareMember {
    fn id(&self) -> &JString {
        &self.id
    }

    fn epoch(&self) -> i32 {
        self.epoch
    }

    fn instance_id(&self) -> Option<&JString> {
        None
    }

    fn rack(&self) -> Option<&JString> {
        self.rack.as_ref()
    }

    fn topics(&self) -> &Subscription {
        &self.topics
    }
}

impl ShareMember {
    /// A member that nothing is known of but its id.
    pub fn new(id: JString) -> ShareMember {
        ShareMember {
            id,
            epoch: 0,
            previous_epoch: -1,
            rack: None,
            client_id: JString::default(),
            client_host: JString::default(),
            topics: Arc::default(),
            assigned: Arc::default(),
        }
    }

    /// The member with what a heartbeat says of it; what was not sent stays.
    pub fn with_request(&self, request: &ShareHeartbeat) -> ShareMember {
        ShareMember {
            rack: request.rack.as_ref().or(self.rack.as_ref()).cloned(),
            client_id: request.client_id.clone(),
            client_host: request.client_host.clone(),
            topics: Subscription::requested(&self.topics, request.topics.as_deref()),
            ..self.clone()
        }
    }

    /// The member with what a member-metadata record says of it.
    pub fn with_metadata(&self, value: &MemberMetadata) -> ShareMember {
        ShareMember {
            rack: value.rack_id.clone(),
            client_id: value.client_id.clone(),
            client_host: value.client_host.clone(),
            topics: Subscription::recorded(&self.topics, &value.subscribed_topic_names),
            ..self.clone()
        }
    }

    /// The member with what a current-assignment record says of it.
    pub fn with_assignment(&self, value: &CurrentMemberAssignment) -> ShareMember {
        ShareMember {
            epoch: value.member_epoch,
            previous_epoch: value.previous_member_epoch,
            assigned: Arc::new(Assignment::from_record(&value.assigned_partitions)),
            ..self.clone()
        }
    }

    /// The member once it has moved to an epoch and its assignment.
    pub fn moved_to(&self, epoch: i32, assigned: Arc<Assignment>) -> ShareMember {
        ShareMember { epoch, previous_epoch: self.epoch, assigned, ..self.clone() }
    }

    /// Its metadata record.
    pub fn metadata_record(&self) -> MemberMetadata {
        MemberMetadata {
            rack_id: self.rack.clone(),
            client_id: self.client_id.clone(),
            client_host: self.client_host.clone(),
            subscribed_topic_names: self.topics.sorted.clone(),
        }
    }

    /// Its current-assignment record.
    pub fn assignment_record(&self) -> CurrentMemberAssignment {
        CurrentMemberAssignment {
            member_epoch: self.epoch,
            previous_member_epoch: self.previous_epoch,
            state: 0,
            assigned_partitions: self.assigned.to_record(),
        }
    }

    /// Its assignment as answers carry it.
    pub fn assignment_response(&self) -> AssignedPartitions {
        self.assigned.partitions.iter().map(|(topic, partitions)| (*topic, partitions.to_list())).collect()
    }
}
