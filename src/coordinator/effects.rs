//! What an operation of the shard leaves behind: an answer, records, work, and what can be said about its bumps.

use super::log::Entry;
use super::protocol::{HeartbeatError, HeartbeatResponse};
use crate::kafka::batch::Lengths;
use crate::kafka::{GroupKind, JString};
use crate::kernel::TimeMs;
use crate::strategy::Work;

/// What an operation answered and did.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The answer to a heartbeat.
    pub response: Option<HeartbeatResponse>,
    /// Why it failed.
    pub error: Option<HeartbeatError>,
    /// The group that its records are of.
    pub group: Option<JString>,
    /// The records that were written.
    pub entries: Vec<Entry>,
    /// The bytes of their keys and values, where writes have a limit.
    pub lengths: Vec<Lengths>,
    /// The bytes of a batch that would hold the records, which was refused as larger than one may be.
    pub refused_bytes: Option<u64>,
    /// What it did.
    pub work: Work,
    /// Where the work, really done, came to something else than the model says. Only if it is to be done.
    pub wrong: Vec<String>,
    /// Bumps that were written.
    pub bumps: Vec<Bump>,
    /// Assignor runs that were written.
    pub assignments: Vec<AssignorRun>,
}

/// Why a group was bumped. Several may hold; they are told in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// A member joined.
    Join,
    /// A member left.
    Leave,
    /// A member's session or rebalance timed out.
    Timeout,
    /// A member changed its subscription.
    Subscription,
    /// The group prefers another assignor (4.4).
    Assignor,
    /// A regular expression was resolved, to other topics than before or for the first time.
    Regex,
    /// The state of share partitions was initialised.
    ShareInit,
    /// The topics of a streams group's topology are there now, or no longer (4.3 on).
    Topology,
    /// The configuration of a streams group's assignor changed (4.3 on).
    Config,
    /// A member of a stable streams group did not have its tasks (4.4).
    Refined,
    /// A refresh found a topic that changed.
    Refresh,
}

impl Cause {
    /// The name in `bumps.csv`.
    pub const fn name(self) -> &'static str {
        match self {
            Cause::Join => "join",
            Cause::Leave => "leave",
            Cause::Timeout => "timeout",
            Cause::Subscription => "subscription",
            Cause::Assignor => "assignor",
            Cause::Regex => "regex",
            Cause::ShareInit => "share-init",
            Cause::Topology => "topology",
            Cause::Config => "config",
            Cause::Refined => "refined",
            Cause::Refresh => "refresh",
        }
    }
}

/// What of a topic a refresh found changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// It appeared.
    Created,
    /// It is gone.
    Deleted,
    /// It has another id: it was created anew.
    Id,
    /// It has another number of partitions.
    Partitions,
    /// Its replicas are in other racks.
    Racks,
    /// An earlier change, which the group has looked past before, is seen only now.
    Stale,
    /// Nothing changed but the form in which it is stored: the first bump after an upgrade.
    StoredForm,
}

impl Field {
    /// The name in `bumps.csv`.
    pub const fn name(self) -> &'static str {
        match self {
            Field::Created => "created",
            Field::Deleted => "deleted",
            Field::Id => "id",
            Field::Partitions => "partitions",
            Field::Racks => "racks",
            Field::Stale => "stale",
            Field::StoredForm => "stored-form",
        }
    }
}

/// A topic whose change a refresh found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundChange {
    /// The topic.
    pub topic: JString,
    /// What changed.
    pub field: Field,
    /// When the first image was published that changed its fresh `rack-list` hash since it was stored.
    pub since_ms: TimeMs,
}

/// A written group epoch that exceeds the one before.
#[derive(Debug, Clone)]
pub struct Bump {
    /// The kind of the group.
    pub kind: GroupKind,
    /// The group.
    pub group: JString,
    /// Its epoch before.
    pub old_epoch: i32,
    /// Its epoch now.
    pub new_epoch: i32,
    /// Why, in order.
    pub causes: Vec<Cause>,
    /// What a refresh found changed, in order of topic names.
    pub found: Vec<FoundChange>,
    /// Whether nothing explains it: no cause but a refresh, and every subscribed topic's fresh value, as far as the
    /// strategy covers it, equals what the group had stored.
    pub needless: bool,
    /// Whether the operation itself took partitions from a member's target (a member that left or timed out).
    pub removes_assignment: bool,
}

/// A computed target assignment.
#[derive(Debug, Clone)]
pub struct AssignorRun {
    /// The group.
    pub group: JString,
    /// The epoch of the assignment.
    pub epoch: i32,
    /// Whether any member's target differs from before.
    pub changed: bool,
    /// How many members were assigned to.
    pub members: u64,
    /// How many partitions were assigned.
    pub partitions: u64,
}
