//! The fleet: which member of which group comes, goes and changes, and when. What members do in between
//! (heartbeats, revocations) follows from the coordinator's answers.

use super::application::Application;
use crate::kafka::{GroupKind, JString};
use crate::kernel::TimeMs;
use std::sync::Arc;

/// All groups.
#[derive(Debug, Clone, Default)]
pub struct Fleet {
    /// The groups, in the order of the scenario.
    pub groups: Vec<GroupPlan>,
}

/// A group and its members.
#[derive(Debug, Clone)]
pub struct GroupPlan {
    /// Its kind.
    pub kind: GroupKind,
    /// The group id.
    pub name: JString,
    /// What the members of a streams group run.
    pub application: Option<Arc<Application>>,
    /// Every member that the group ever has.
    pub members: Vec<MemberPlan>,
}

impl GroupPlan {
    /// All topics that its members ever subscribe to or need, some of them more than once.
    pub fn topics(&self) -> impl Iterator<Item = &JString> {
        let internal = self.application.iter().flat_map(|application| application.internal_topics());
        let steps = self.members.iter().flat_map(|member| &member.steps);
        let topics = steps.flat_map(|(_, step)| match step {
            Step::Join { topics, .. } | Step::Subscribe { topics } => topics.as_slice(),
            Step::Leave | Step::Stop | Step::Crash => &[],
        });
        topics.chain(internal)
    }
}

/// A client process slot of a group: it may join, leave and come back (with a new member id, as clients do).
#[derive(Debug, Clone)]
pub struct MemberPlan {
    /// `group.instance.id`, for static members.
    pub instance_id: Option<JString>,
    /// `ProcessId`, of streams groups' members.
    pub process_id: Option<JString>,
    /// `client.rack`.
    pub rack: Option<JString>,
    /// `client.id`.
    pub client_id: JString,
    /// The host as Java shows it, `/10.0.0.1`.
    pub client_host: JString,
    /// `group.remote.assignor`; `None` leaves it to the coordinator.
    pub assignor: Option<JString>,
    /// `max.poll.interval.ms`.
    pub rebalance_timeout_ms: i32,
    /// How long the client takes to revoke partitions (the callback), in ms.
    pub revocation_ms: TimeMs,
    /// What the jitter of its retries is drawn from.
    pub retry_seed: u64,
    /// What it does, in order of time.
    pub steps: Vec<(TimeMs, Step)>,
}

/// Something a member does of its own accord.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// It starts, with a new member id, and joins.
    Join {
        /// The id that this start of the client draws.
        member_id: JString,
        /// The topics it subscribes to.
        topics: Vec<JString>,
    },
    /// It changes its subscription.
    Subscribe {
        /// The topics it subscribes to from now on.
        topics: Vec<JString>,
    },
    /// It leaves for good (epoch -1).
    Leave,
    /// A static member stops for a while (epoch -2); a dynamic one leaves for good.
    Stop,
    /// It dies without a word; the session times out.
    Crash,
}
