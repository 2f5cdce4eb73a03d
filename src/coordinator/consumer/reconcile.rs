//! Moves a member from what it owns towards its target (`CurrentAssignmentBuilder`).

use super::member::{Member, MemberState, Owned};
use crate::coordinator::assignment::{Assignment, PartitionSet};
use crate::coordinator::behaviour::Behaviour;
use crate::kafka::Uuid;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What a reconciliation looks at.
pub struct Reconciliation<'a> {
    /// What the Kafka version does.
    pub behaviour: &'a Behaviour,
    /// The epoch of the target assignment.
    pub target_epoch: i32,
    /// The member's target.
    pub target: &'a Assignment,
    /// Whether the member has changed its subscription with this heartbeat.
    pub subscription_changed: bool,
    /// Whether the member subscribes to a topic that exists (looked at from 4.3 on).
    pub subscribes: &'a dyn Fn(Uuid) -> bool,
    /// Whether the member subscribes to no name and no topic of a resolved regular expression.
    pub subscribes_to_nothing: bool,
    /// The epoch at which a partition is owned; -1 when it is free.
    pub partition_epoch: &'a dyn Fn(Uuid, i32) -> i32,
    /// What the member says it owns, if it said so.
    pub owned: Option<&'a [(Uuid, Vec<i32>)]>,
}

impl Reconciliation<'_> {
    /// The member's next state; `None` when it stays as it is.
    pub fn next(&self, member: &Member) -> Option<Member> {
        let next = match member.state {
            MemberState::Stable if member.epoch != self.target_epoch => self.towards_target(member, member.epoch),
            MemberState::Stable if self.subscription_changed => self.without_unsubscribed(member)?,
            MemberState::Stable => return None,
            MemberState::UnrevokedPartitions if self.still_owns(&member.pending_revocation) => {
                if !(self.subscription_changed && self.behaviour.reconciles_with_subscription) {
                    return None;
                }
                self.without_unsubscribed(member)?
            }
            MemberState::UnrevokedPartitions => {
                let advance = i32::from(self.behaviour.revoked_member_advances);
                self.towards_target(member, member.epoch.wrapping_add(advance))
            }
            MemberState::UnreleasedPartitions => self.towards_target(member, member.epoch),
        };
        (next != *member).then_some(next)
    }

    /// Whether the member may still own a partition of these; one that does not say what it owns may.
    fn still_owns(&self, partitions: &Owned) -> bool {
        let Some(owned) = self.owned else { return true };
        owned.iter().any(|(topic, owned)| {
            partitions.get(topic).is_some_and(|pending| owned.iter().any(|p| pending.contains_key(p)))
        })
    }

    /// The member without the topics that it no longer subscribes to.
    fn without_unsubscribed(&self, member: &Member) -> Option<Member> {
        let everything_goes = self.subscribes_to_nothing && member.pending_revocation.is_empty();
        let unsubscribed: Vec<Uuid> =
            member.assigned.keys().copied().filter(|t| everything_goes || !(self.subscribes)(*t)).collect();
        // A member that subscribes to nothing gets a new state even if it owned nothing: its previous epoch becomes its
        // epoch. (Kafka compares the maps by identity here.)
        if unsubscribed.is_empty() && !everything_goes {
            return None;
        }
        let mut assigned = (*member.assigned).clone();
        let mut pending = (*member.pending_revocation).clone();
        for topic in unsubscribed {
            if let Some(partitions) = assigned.remove(&topic) {
                pending.entry(topic).or_default().extend(partitions);
            }
        }
        let mut next = member.moved_to(member.epoch);
        next.assigned = Arc::new(assigned);
        if !pending.is_empty() && self.still_owns(&pending) {
            next.state = MemberState::UnrevokedPartitions;
            next.pending_revocation = Arc::new(pending);
        }
        Some(next)
    }

    fn towards_target(&self, member: &Member, epoch: i32) -> Member {
        let target_of = |topic: Uuid| -> BTreeSet<i32> {
            if self.behaviour.reconciles_with_subscription && !(self.subscribes)(topic) {
                return BTreeSet::new();
            }
            self.target.partitions.get(&topic).into_iter().flat_map(PartitionSet::iter).collect()
        };
        let mut assigned = Owned::new();
        let mut revoked = Owned::new();
        let mut gained: BTreeMap<Uuid, Vec<i32>> = BTreeMap::new();
        let mut waits = false;
        let topics: BTreeSet<Uuid> =
            self.target.partitions.keys().copied().chain(member.assigned.keys().copied()).collect();
        let none = BTreeMap::new();
        for topic in topics {
            let target = target_of(topic);
            let current = member.assigned.get(&topic).unwrap_or(&none);
            let (kept, given_up): (BTreeMap<i32, i32>, BTreeMap<i32, i32>) =
                current.iter().partition(|(partition, _)| target.contains(partition));
            let mut free = Vec::new();
            for partition in target.into_iter().filter(|p| !kept.contains_key(p)) {
                if self.is_unreleased(member, topic, partition) {
                    waits = true;
                } else {
                    free.push(partition);
                }
            }
            if !kept.is_empty() {
                assigned.insert(topic, kept);
            }
            if !given_up.is_empty() {
                revoked.insert(topic, given_up);
            }
            if !free.is_empty() {
                gained.insert(topic, free);
            }
        }
        if !revoked.is_empty() && self.still_owns(&revoked) {
            let mut next = member.moved_to(epoch);
            next.state = MemberState::UnrevokedPartitions;
            next.assigned = Arc::new(assigned);
            next.pending_revocation = Arc::new(revoked);
            return next;
        }
        let assigned_at = if self.behaviour.assignment_epochs { self.target_epoch } else { 0 };
        for (topic, partitions) in gained {
            assigned.entry(topic).or_default().extend(partitions.into_iter().map(|p| (p, assigned_at)));
        }
        let mut next = member.moved_to(self.target_epoch);
        next.state = if waits { MemberState::UnreleasedPartitions } else { MemberState::Stable };
        next.assigned = Arc::new(assigned);
        next.pending_revocation = Arc::default();
        next
    }

    /// Whether a partition is still owned by someone. From 4.3 on, not when the member itself gives it up just now.
    fn is_unreleased(&self, member: &Member, topic: Uuid, partition: i32) -> bool {
        (self.partition_epoch)(topic, partition) != -1
            && !(self.behaviour.reconciles_with_subscription
                && member.pending_revocation.get(&topic).is_some_and(|p| p.contains_key(&partition)))
    }
}
