//! The groups of a shard: what all kinds have in common, and the kinds.
//!
//! Everything that records change can go back to the last committed write. What Kafka keeps outside its timeline
//! structures (the refresh deadline) does not go back here either.

use super::assignment::Assignment;
use super::behaviour::Behaviour;
use super::consumer::ConsumerGroup;
use super::operation::{Refusal, refuse};
use super::protocol::{HeartbeatError, JOIN_EPOCH, LEAVE_EPOCH};
use super::share::ShareGroup;
use super::streams::StreamsGroup;
use super::timeline::Timeline;
use super::timer::Revocation;
use crate::cluster::ImageNumber;
use crate::kafka::java::TimelineMap;
use crate::kafka::{GroupKind, JString};
use crate::kernel::TimeMs;
use crate::strategy::Seen;
use std::sync::Arc;

/// A record that cannot be replayed: what Kafka throws.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReplayError {
    /// `IllegalStateException` (or a `NullPointerException` in its place).
    #[error("{0}")]
    IllegalState(String),
    /// `UnknownMemberIdException`.
    #[error("member {member} is not a member of group {group}")]
    UnknownMember {
        /// The group.
        group: JString,
        /// The member.
        member: JString,
    },
}

impl ReplayError {
    /// What a client is answered.
    pub fn answer(&self) -> HeartbeatError {
        match self {
            ReplayError::IllegalState(_) => HeartbeatError::UnknownServerError,
            ReplayError::UnknownMember { .. } => HeartbeatError::UnknownMemberId,
        }
    }
}

/// What groups of all kinds have.
#[derive(Debug)]
pub struct GroupBase {
    /// Its id.
    pub id: JString,
    /// Its kind.
    pub kind: GroupKind,
    /// Its epoch.
    pub epoch: Timeline<i32>,
    /// The epoch of its target assignment, and when that was computed (Unix time in ms; 0 is unknown).
    pub assignment: Timeline<(i32, i64)>,
    /// What it stored of its topics at its last bump.
    pub stored: Timeline<Arc<Seen>>,
    /// Whether a refresh has compared that with what it saw; for the heap only.
    pub stored_is_compared: bool,
    /// Whether an old record with a map of its topics must be taken back (4.1 on, after an upgrade).
    pub has_map_record: Timeline<bool>,
    /// Until when (and up to which group epoch) the metadata counts as fresh (`DeadlineAndEpoch`).
    pub refresh_deadline: (TimeMs, i32),
    /// The image at the last refresh; for explanations only.
    pub refreshed_at_image: Option<ImageNumber>,
}

impl GroupBase {
    /// A group that no record has been written of.
    pub fn new(id: JString, kind: GroupKind, behaviour: &Behaviour) -> GroupBase {
        GroupBase {
            id,
            kind,
            epoch: Timeline::new(behaviour.first_group_epoch),
            assignment: Timeline::new((behaviour.first_group_epoch, 0)),
            stored: Timeline::new(Arc::default()),
            stored_is_compared: false,
            has_map_record: Timeline::new(false),
            refresh_deadline: (0, 0),
            refreshed_at_image: None,
        }
    }

    /// Whether the group must look at its metadata again.
    pub fn metadata_expired(&self, now_ms: TimeMs) -> bool {
        now_ms >= self.refresh_deadline.0 || *self.epoch.get() < self.refresh_deadline.1
    }

    /// Stores what was seen.
    pub fn store(&mut self, seen: Arc<Seen>, write: u64) {
        self.stored.set(seen, write);
        self.stored_is_compared = false;
    }

    /// Goes back to the last committed write.
    pub fn revert(&mut self, write: u64) {
        self.epoch.revert(write);
        self.assignment.revert(write);
        self.stored.revert(write);
        self.has_map_record.revert(write);
    }
}

/// The static member of an instance id.
///
/// # Errors
/// Before 4.4 a consumer that changes its instance id stays known under the old one too, even when it is gone: Kafka then
/// finds its id but not the member.
pub(super) fn static_member<'g, M>(
    static_members: &TimelineMap<JString, JString>,
    members: &'g TimelineMap<JString, Arc<M>>,
    instance_id: &str,
) -> Result<Option<&'g Arc<M>>, Refusal> {
    let Some(id) = static_members.get(instance_id) else { return Ok(None) };
    members.get(id).map(Some).ok_or(Refusal(HeartbeatError::UnknownMemberId))
}

/// The static member of an instance id, if the request comes from it (`throwIfStaticMemberIsUnknown`,
/// `throwIfInstanceIdIsFenced`).
pub(super) fn known_instance<'g, M>(
    existing: Option<&'g Arc<M>>,
    id: &str,
    id_of: impl Fn(&M) -> &JString,
) -> Result<&'g Arc<M>, Refusal> {
    match existing {
        None => refuse(HeartbeatError::UnknownMemberId),
        Some(member) if **id_of(member) != *id => refuse(HeartbeatError::FencedInstanceId),
        Some(member) => Ok(member),
    }
}

/// The member that leaves: that of its id, or that of its instance id if the request comes from it.
pub(super) fn leaving_member<'g, M>(
    static_members: &TimelineMap<JString, JString>,
    members: &'g TimelineMap<JString, Arc<M>>,
    instance_id: Option<&JString>,
    id: &JString,
    id_of: impl Fn(&M) -> &JString,
) -> Result<&'g Arc<M>, Refusal> {
    match instance_id {
        None => members.get(id).ok_or(Refusal(HeartbeatError::UnknownMemberId)),
        Some(instance) => known_instance(static_member(static_members, members, instance)?, id, id_of),
    }
}

/// Before a member is taken out: the tombstones of its assignments must have come first.
pub(super) fn check_removal(id: &JString, epoch: i32, has_target: bool) -> Result<(), ReplayError> {
    let left = |what| ReplayError::IllegalState(format!("member {id} is deleted but its {what} assignment is not"));
    if epoch != LEAVE_EPOCH {
        return Err(left("current"));
    }
    if has_target { Err(left("target")) } else { Ok(()) }
}

/// Whether a member's epoch is the one that a heartbeat says, or the one before if the answer with the new one may have
/// been lost (`throwIf…MemberEpochIsInvalid`).
pub(super) fn check_epoch(
    received: i32,
    (epoch, previous_epoch): (i32, i32),
    known_may_join: bool,
    owns_only_its_own: impl FnOnce() -> bool,
) -> Result<(), Refusal> {
    let joins_again = received == JOIN_EPOCH && known_may_join;
    let comes_late = received < epoch && received == previous_epoch;
    if joins_again || received == epoch || comes_late && owns_only_its_own() {
        return Ok(());
    }
    refuse(HeartbeatError::FencedMemberEpoch)
}

/// Whether a group has room for one more member, or knows it (`throwIf…GroupIsFull`).
pub(super) fn check_size(members: usize, max_size: i32, is_known: impl FnOnce() -> bool) -> Result<(), Refusal> {
    if members as i64 >= i64::from(max_size) && !is_known() {
        return refuse(HeartbeatError::GroupMaxSizeReached);
    }
    Ok(())
}

/// The members as if the one that asks, if any, had already replaced its predecessor: that one is left out.
pub(super) fn members_once_replaced<'g, M>(
    members: &'g TimelineMap<JString, Arc<M>>,
    updated: Option<(&'g JString, &'g M)>,
    replaced: Option<&JString>,
) -> impl Iterator<Item = (&'g JString, &'g M)> {
    let comes = updated.filter(|(id, _)| !members.contains(*id));
    let known = members.iter().map(move |(id, member)| match updated {
        Some((updated_id, updated)) if updated_id == id => (id, updated),
        _ => (id, &**member),
    });
    let replaced = replaced.cloned();
    known.filter(move |(id, _)| Some(*id) != replaced.as_ref()).chain(comes)
}

/// A group of some kind.
#[derive(Debug)]
pub enum Group {
    /// A consumer group.
    Consumer(Box<ConsumerGroup>),
    /// A share group.
    Share(Box<ShareGroup>),
    /// A streams group.
    Streams(Box<StreamsGroup>),
}

/// The groups of one kind.
pub trait OfKind: Sized {
    /// The kind.
    const KIND: GroupKind;

    /// The group, if it is of the kind.
    fn of(group: &Group) -> Option<&Self>;

    /// The group, if it is of the kind.
    fn of_mut(group: &mut Group) -> Option<&mut Self>;
}

macro_rules! of_kind {
    ($($kind:ident => $group:ty),*) => {$(
        impl OfKind for $group {
            const KIND: GroupKind = GroupKind::$kind;

            fn of(group: &Group) -> Option<&Self> {
                if let Group::$kind(group) = group { Some(group) } else { None }
            }

            fn of_mut(group: &mut Group) -> Option<&mut Self> {
                if let Group::$kind(group) = group { Some(group) } else { None }
            }
        }
    )*};
}

of_kind!(Consumer => ConsumerGroup, Share => ShareGroup, Streams => StreamsGroup);

impl Group {
    /// A group that no record has been written of.
    pub fn new(id: JString, kind: GroupKind, behaviour: &Behaviour) -> Group {
        match kind {
            GroupKind::Consumer => Group::Consumer(Box::new(ConsumerGroup::new(id, behaviour))),
            GroupKind::Share => Group::Share(Box::new(ShareGroup::new(id, behaviour))),
            GroupKind::Streams => Group::Streams(Box::new(StreamsGroup::new(id, behaviour))),
        }
    }

    /// What all kinds have.
    pub fn base(&self) -> &GroupBase {
        match self {
            Group::Consumer(group) => &group.base,
            Group::Share(group) => &group.base,
            Group::Streams(group) => &group.base,
        }
    }

    /// What all kinds have.
    pub fn base_mut(&mut self) -> &mut GroupBase {
        match self {
            Group::Consumer(group) => &mut group.base,
            Group::Share(group) => &mut group.base,
            Group::Streams(group) => &mut group.base,
        }
    }

    /// How many members it has.
    pub fn num_members(&self) -> usize {
        match self {
            Group::Consumer(group) => group.modern.members.len(),
            Group::Share(group) => group.modern.members.len(),
            Group::Streams(group) => group.members.len(),
        }
    }

    /// Its members, in Kafka's order, and what those have to do that must give up what they have.
    pub(super) fn revocations(&self) -> Vec<(&JString, Option<Revocation>)> {
        match self {
            Group::Consumer(group) => {
                group.modern.members.iter().map(|(id, member)| (id, member.revocation())).collect()
            }
            Group::Share(group) => group.modern.members.keys().map(|id| (id, None)).collect(),
            Group::Streams(group) => group.members.iter().map(|(id, member)| (id, member.revocation())).collect(),
        }
    }

    /// The topics that it subscribes to, as the index of groups by topic has them.
    pub fn subscribed(&self) -> Vec<&JString> {
        match self {
            Group::Consumer(group) => group.modern.subscribed.keys().collect(),
            Group::Share(group) => group.modern.subscribed.keys().collect(),
            Group::Streams(group) => group.subscribed().collect(),
        }
    }

    /// Whether it subscribes to a topic.
    pub fn subscribes(&self, topic: &str) -> bool {
        match self {
            Group::Consumer(group) => group.modern.subscribed.contains(topic),
            Group::Share(group) => group.modern.subscribed.contains(topic),
            Group::Streams(group) => group.subscribes(topic),
        }
    }

    /// Sets the target of a member, or takes it out. (That of a streams group is of tasks, in records of its own form.)
    pub fn set_target(&mut self, member: &JString, new: Option<Arc<Assignment>>, write: u64) {
        match self {
            Group::Consumer(group) => group.modern.set_target(member, new, write),
            Group::Share(group) => group.modern.set_target(member, new, write),
            Group::Streams(_) => {}
        }
    }

    /// Goes back to the last committed write.
    pub fn revert(&mut self, write: u64) {
        match self {
            Group::Consumer(group) => group.revert(write),
            Group::Share(group) => group.revert(write),
            Group::Streams(group) => group.revert(write),
        }
    }
}
