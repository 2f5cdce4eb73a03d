//! What a member and its coordinator say to each other: the heartbeat requests and responses of KIP-848, KIP-932 and
//! KIP-1071, reduced to what the coordinator looks at. The coordinator answers requests; the member
//! emulators of `workload` and the traces make them.

use super::streams::internal_topics::Status;
use crate::kafka::records::streams::Topology;
use crate::kafka::{GroupKind, JString, Uuid};
use std::sync::Arc;

/// The epoch with which a member joins (`ConsumerGroupHeartbeatRequest.JOIN_GROUP_MEMBER_EPOCH`).
pub const JOIN_EPOCH: i32 = 0;
/// The epoch with which a member leaves for good (`LEAVE_GROUP_MEMBER_EPOCH`).
pub const LEAVE_EPOCH: i32 = -1;
/// The epoch with which a static member leaves for a while (`LEAVE_GROUP_STATIC_MEMBER_EPOCH`).
pub const LEAVE_STATIC_EPOCH: i32 = -2;

/// A heartbeat of a member of some kind of group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HeartbeatRequest {
    /// To a consumer group.
    Consumer(ConsumerHeartbeat),
    /// To a share group.
    Share(ShareHeartbeat),
    /// To a streams group.
    Streams(Box<StreamsHeartbeat>),
}

impl HeartbeatRequest {
    /// The kind of the group.
    pub fn kind(&self) -> GroupKind {
        match self {
            HeartbeatRequest::Consumer(_) => GroupKind::Consumer,
            HeartbeatRequest::Share(_) => GroupKind::Share,
            HeartbeatRequest::Streams(_) => GroupKind::Streams,
        }
    }

    /// `GroupId`.
    pub fn group(&self) -> &JString {
        match self {
            HeartbeatRequest::Consumer(request) => &request.group,
            HeartbeatRequest::Share(request) => &request.group,
            HeartbeatRequest::Streams(request) => &request.group,
        }
    }

    /// `MemberId`.
    pub fn member(&self) -> &JString {
        match self {
            HeartbeatRequest::Consumer(request) => &request.member,
            HeartbeatRequest::Share(request) => &request.member,
            HeartbeatRequest::Streams(request) => &request.member,
        }
    }

    /// `MemberEpoch`.
    pub fn epoch(&self) -> i32 {
        match self {
            HeartbeatRequest::Consumer(request) => request.epoch,
            HeartbeatRequest::Share(request) => request.epoch,
            HeartbeatRequest::Streams(request) => request.epoch,
        }
    }
}

/// `ConsumerGroupHeartbeatRequest`. What is `None` (or -1) was not sent: it stays as the coordinator knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConsumerHeartbeat {
    /// `GroupId`.
    pub group: JString,
    /// `MemberId`.
    pub member: JString,
    /// `MemberEpoch`: 0 joins, -1 leaves, -2 leaves for a while.
    pub epoch: i32,
    /// `InstanceId`.
    pub instance_id: Option<JString>,
    /// `RackId`.
    pub rack: Option<JString>,
    /// `RebalanceTimeoutMs`; -1: not sent.
    pub rebalance_timeout_ms: i32,
    /// `SubscribedTopicNames`.
    pub topics: Option<Vec<JString>>,
    /// `SubscribedTopicRegex`.
    pub regex: Option<JString>,
    /// `ServerAssignor`.
    pub assignor: Option<JString>,
    /// `TopicPartitions`: what the member owns.
    pub owned: Option<Vec<(Uuid, Vec<i32>)>>,
    /// The client id, from the request's header.
    pub client_id: JString,
    /// The client's host as Java shows it, `/10.0.0.1`.
    pub client_host: JString,
}

/// `ShareGroupHeartbeatRequest`. What is `None` was not sent: it stays as the coordinator knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShareHeartbeat {
    /// `GroupId`.
    pub group: JString,
    /// `MemberId`.
    pub member: JString,
    /// `MemberEpoch`: 0 joins, -1 leaves.
    pub epoch: i32,
    /// `RackId`.
    pub rack: Option<JString>,
    /// `SubscribedTopicNames`.
    pub topics: Option<Vec<JString>>,
    /// The client id, from the request's header.
    pub client_id: JString,
    /// The client's host as Java shows it, `/10.0.0.1`.
    pub client_host: JString,
}

/// Tasks of a streams application: the partitions of subtopologies.
pub type TaskLists = Vec<(JString, Vec<i32>)>;

/// `StreamsGroupHeartbeatRequest`. What is `None` (or -1) was not sent: it stays as the coordinator knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamsHeartbeat {
    /// `GroupId`.
    pub group: JString,
    /// `MemberId`.
    pub member: JString,
    /// `MemberEpoch`: 0 joins, -1 leaves, -2 leaves for a while.
    pub epoch: i32,
    /// `InstanceId`.
    pub instance_id: Option<JString>,
    /// `RackId`.
    pub rack: Option<JString>,
    /// `RebalanceTimeoutMs`; -1: not sent.
    pub rebalance_timeout_ms: i32,
    /// `Topology`, in the form of its record.
    pub topology: Option<Arc<Topology>>,
    /// `ProcessId`.
    pub process_id: Option<JString>,
    /// `ActiveTasks`: what the member owns.
    pub active: Option<TaskLists>,
    /// `StandbyTasks`.
    pub standby: Option<TaskLists>,
    /// `WarmupTasks`.
    pub warmup: Option<TaskLists>,
    /// The client id, from the request's header.
    pub client_id: JString,
    /// The client's host as Java shows it, `/10.0.0.1`.
    pub client_host: JString,
}

/// What a member is told to own: the partitions of topics.
pub type AssignedPartitions = Vec<(Uuid, Vec<i32>)>;

/// What a member is told to own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Assigned {
    /// Consumer and share groups.
    Partitions(AssignedPartitions),
    /// Streams groups.
    Tasks {
        /// Tasks that the member processes.
        active: TaskLists,
        /// Tasks whose state it keeps up.
        standby: TaskLists,
        /// Tasks whose state it restores before it gets them.
        warmup: TaskLists,
    },
}

/// `ConsumerGroupHeartbeatResponse` and its like, without an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeartbeatResponse {
    /// `MemberEpoch`.
    pub member_epoch: i32,
    /// `HeartbeatIntervalMs`; 0 in the answer to a member that leaves.
    pub heartbeat_interval_ms: i32,
    /// `Assignment`; `None`: as before.
    pub assignment: Option<Assigned>,
    /// `Status`: what streams groups tell beside it.
    pub status: Vec<Status>,
}

impl HeartbeatResponse {
    /// The answer to a member that leaves with that epoch.
    pub fn left(member_epoch: i32) -> HeartbeatResponse {
        HeartbeatResponse { member_epoch, heartbeat_interval_ms: 0, assignment: None, status: Vec::new() }
    }
}

/// The errors that a coordinator answers a heartbeat with, under Kafka's names (`Errors`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeartbeatError {
    /// The request is not well-formed.
    InvalidRequest,
    /// The assignor that the member asked for is not configured.
    UnsupportedAssignor,
    /// There is no such group, or it is of another kind.
    GroupIdNotFound,
    /// The group does not know the member.
    UnknownMemberId,
    /// The member's epoch is not the coordinator's.
    FencedMemberEpoch,
    /// Another member has taken the instance id over.
    FencedInstanceId,
    /// The instance id still belongs to another member.
    UnreleasedInstanceId,
    /// The group has as many members as it may have.
    GroupMaxSizeReached,
    /// The coordinator cannot answer now: writing failed, or the shard is not there.
    CoordinatorNotAvailable,
    /// The broker is not the group's coordinator.
    NotCoordinator,
    /// The coordinator threw something that no client can handle.
    UnknownServerError,
    /// The regular expression does not compile.
    InvalidRegularExpression,
    /// The topology of a streams group can never work.
    StreamsInvalidTopology,
    /// An internal topic has a name that no topic can have.
    InvalidTopicException,
}

impl HeartbeatError {
    /// Kafka's name of the error.
    pub const fn name(self) -> &'static str {
        match self {
            HeartbeatError::InvalidRequest => "INVALID_REQUEST",
            HeartbeatError::UnsupportedAssignor => "UNSUPPORTED_ASSIGNOR",
            HeartbeatError::GroupIdNotFound => "GROUP_ID_NOT_FOUND",
            HeartbeatError::UnknownMemberId => "UNKNOWN_MEMBER_ID",
            HeartbeatError::FencedMemberEpoch => "FENCED_MEMBER_EPOCH",
            HeartbeatError::FencedInstanceId => "FENCED_INSTANCE_ID",
            HeartbeatError::UnreleasedInstanceId => "UNRELEASED_INSTANCE_ID",
            HeartbeatError::GroupMaxSizeReached => "GROUP_MAX_SIZE_REACHED",
            HeartbeatError::CoordinatorNotAvailable => "COORDINATOR_NOT_AVAILABLE",
            HeartbeatError::NotCoordinator => "NOT_COORDINATOR",
            HeartbeatError::UnknownServerError => "UNKNOWN_SERVER_ERROR",
            HeartbeatError::InvalidRegularExpression => "INVALID_REGULAR_EXPRESSION",
            HeartbeatError::StreamsInvalidTopology => "STREAMS_INVALID_TOPOLOGY",
            HeartbeatError::InvalidTopicException => "INVALID_TOPIC_EXCEPTION",
        }
    }
}

/// Whether a text is empty once `String.trim` has taken away everything up to U+0020.
pub(super) fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c <= ' ')
}

/// Whether a text was sent and is blank.
pub(super) fn is_given_blank(text: &Option<JString>) -> bool {
    text.as_ref().is_some_and(|text| is_blank(text))
}
