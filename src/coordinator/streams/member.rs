//! A member of a streams group, as the coordinator knows it (`StreamsGroupMember`).

use super::reconcile::{CurrentAssignment, MemberState};
use super::tasks::{ActiveTasks, AssignedTasks, TaskSet, Tasks};
use crate::coordinator::timer::Revocation;
use crate::kafka::JString;
use crate::kafka::records::streams::{self, CurrentMemberAssignment, Endpoint, KeyValue, TaskIds};
use std::sync::Arc;

/// A member. Immutable: a change makes a new one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    /// Its id.
    pub id: JString,
    /// `group.instance.id` of a static member (4.4 on).
    pub instance_id: Option<JString>,
    /// `client.rack`.
    pub rack: Option<JString>,
    /// `client.id`.
    pub client_id: JString,
    /// The client's host.
    pub client_host: JString,
    /// `max.poll.interval.ms`; -1 when never told.
    pub rebalance_timeout_ms: i32,
    /// The epoch of its topology; -1 when never told.
    pub topology_epoch: i32,
    /// The process that it is a thread of; `None` as long as only its assignment was loaded.
    pub process_id: Option<JString>,
    /// `application.server`.
    pub user_endpoint: Option<Endpoint>,
    /// The client tags, sorted by key.
    pub client_tags: Vec<KeyValue>,
    /// Its epochs, its state and its tasks.
    pub current: Arc<CurrentAssignment>,
}

impl Member {
    /// A member that nothing is known of but its id.
    pub fn new(id: JString) -> Member {
        Member {
            id,
            instance_id: None,
            rack: None,
            client_id: JString::default(),
            client_host: JString::default(),
            rebalance_timeout_ms: -1,
            topology_epoch: -1,
            process_id: None,
            user_endpoint: None,
            client_tags: Vec::new(),
            current: Arc::default(),
        }
    }

    /// Its epoch.
    pub fn epoch(&self) -> i32 {
        self.current.epoch
    }

    /// Whether it has what a target of that epoch gives it.
    pub fn is_reconciled_to(&self, target_epoch: i32) -> bool {
        self.current.state == MemberState::Stable && self.current.epoch == target_epoch
    }

    /// What it must do, if it must give up tasks.
    pub fn revocation(&self) -> Option<Revocation> {
        let revokes = self.current.state == MemberState::UnrevokedTasks;
        revokes.then_some(Revocation { member_epoch: self.epoch(), timeout_ms: self.rebalance_timeout_ms })
    }

    /// The member with what a record of type 19 says of it.
    pub fn with_metadata(&self, value: &streams::MemberMetadata) -> Member {
        Member {
            id: self.id.clone(),
            instance_id: value.instance_id.clone(),
            rack: value.rack_id.clone(),
            client_id: value.client_id.clone(),
            client_host: value.client_host.clone(),
            rebalance_timeout_ms: value.rebalance_timeout_ms,
            topology_epoch: value.topology_epoch,
            process_id: Some(value.process_id.clone()),
            user_endpoint: value.user_endpoint.clone(),
            client_tags: value.client_tags.clone(),
            current: self.current.clone(),
        }
    }

    /// Its record of type 19.
    pub fn metadata_record(&self) -> streams::MemberMetadata {
        streams::MemberMetadata {
            instance_id: self.instance_id.clone(),
            rack_id: self.rack.clone(),
            client_id: self.client_id.clone(),
            client_host: self.client_host.clone(),
            rebalance_timeout_ms: self.rebalance_timeout_ms,
            topology_epoch: self.topology_epoch,
            process_id: self.process_id.clone().unwrap_or_default(),
            user_endpoint: self.user_endpoint.clone(),
            client_tags: self.client_tags.clone(),
        }
    }
}

impl CurrentAssignment {
    /// What a record of type 22 says. `epochs`: tasks know at which epoch they were assigned (4.3 on).
    pub fn from_record(value: &CurrentMemberAssignment, epochs: bool) -> CurrentAssignment {
        let default_epoch = if epochs { value.member_epoch } else { 0 };
        CurrentAssignment {
            epoch: value.member_epoch,
            previous_epoch: value.previous_member_epoch,
            state: MemberState::from_record(value.state),
            assigned: AssignedTasks {
                active: active_from_record(&value.active_tasks, default_epoch, epochs),
                standby: from_record(&value.standby_tasks),
                warmup: from_record(&value.warmup_tasks),
            },
            pending_revocation: AssignedTasks {
                active: active_from_record(&value.active_tasks_pending_revocation, default_epoch, epochs),
                standby: from_record(&value.standby_tasks_pending_revocation),
                warmup: from_record(&value.warmup_tasks_pending_revocation),
            },
        }
    }

    /// The record of type 22.
    pub fn to_record(&self, epochs: bool) -> CurrentMemberAssignment {
        CurrentMemberAssignment {
            member_epoch: self.epoch,
            previous_member_epoch: self.previous_epoch,
            state: self.state as i8,
            active_tasks: active_to_record(&self.assigned.active, epochs),
            standby_tasks: to_record(&self.assigned.standby),
            warmup_tasks: to_record(&self.assigned.warmup),
            active_tasks_pending_revocation: active_to_record(&self.pending_revocation.active, epochs),
            standby_tasks_pending_revocation: to_record(&self.pending_revocation.standby),
            warmup_tasks_pending_revocation: to_record(&self.pending_revocation.warmup),
        }
    }
}

impl Tasks {
    /// The tasks of a record of type 21.
    pub fn from_record(value: &streams::TargetAssignmentMember) -> Tasks {
        Tasks {
            active: from_record(&value.active_tasks),
            standby: from_record(&value.standby_tasks),
            warmup: from_record(&value.warmup_tasks),
        }
    }

    /// The record of type 21.
    pub fn to_record(&self) -> streams::TargetAssignmentMember {
        streams::TargetAssignmentMember {
            active_tasks: to_record(&self.active),
            standby_tasks: to_record(&self.standby),
            warmup_tasks: to_record(&self.warmup),
        }
    }
}

fn from_record(tasks: &[TaskIds]) -> TaskSet {
    tasks.iter().map(|of_id| (of_id.subtopology_id.clone(), of_id.partitions.iter().copied().collect())).collect()
}

fn active_from_record(tasks: &[TaskIds], default_epoch: i32, epochs: bool) -> ActiveTasks {
    let of_subtopology = |tasks: &TaskIds| {
        let known = tasks.assignment_epochs.as_deref().filter(|known| epochs && known.len() == tasks.partitions.len());
        let epoch = |place: usize| known.map_or(default_epoch, |known| known[place]);
        tasks.partitions.iter().enumerate().map(|(place, &partition)| (partition, epoch(place))).collect()
    };
    tasks.iter().map(|of_id| (of_id.subtopology_id.clone(), of_subtopology(of_id))).collect()
}

fn to_record(tasks: &TaskSet) -> Vec<TaskIds> {
    let of_subtopology = |(id, partitions): (&JString, &std::collections::BTreeSet<i32>)| TaskIds {
        subtopology_id: id.clone(),
        partitions: partitions.iter().copied().collect(),
        assignment_epochs: None,
    };
    tasks.iter().map(of_subtopology).collect()
}

fn active_to_record(tasks: &ActiveTasks, epochs: bool) -> Vec<TaskIds> {
    let of_subtopology = |(id, partitions): (&JString, &std::collections::BTreeMap<i32, i32>)| TaskIds {
        subtopology_id: id.clone(),
        partitions: partitions.keys().copied().collect(),
        assignment_epochs: epochs.then(|| partitions.values().copied().collect()),
    };
    tasks.iter().map(of_subtopology).collect()
}
