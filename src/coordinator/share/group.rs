//! A share group: its state, and how records change it (`ShareGroup`).

use super::member::ShareMember;
use crate::coordinator::behaviour::Behaviour;
use crate::coordinator::group::GroupBase;
use crate::coordinator::modern::{Modern, ModernGroup, homogeneous_by_name};
use crate::kafka::{GroupKind, JString};
use std::sync::Arc;

/// A share group. The state of its share partitions is the shard's ([`super::SharePartitionStates`]).
#[derive(Debug)]
pub struct ShareGroup {
    /// What groups of all kinds have.
    pub base: GroupBase,
    /// Members, subscriptions by name, target.
    pub modern: ModernGroup<ShareMember>,
}

impl Modern for ShareGroup {
    type Member = ShareMember;

    fn base(&self) -> &GroupBase {
        &self.base
    }

    fn modern(&self) -> &ModernGroup<ShareMember> {
        &self.modern
    }

    fn static_member_id(&self, _instance_id: &str) -> Option<&JString> {
        None
    }

    fn subscribed_names<'m>(&'m self, member: &'m ShareMember) -> Box<dyn Iterator<Item = &'m JString> + 'm> {
        Box::new(member.topics.names.iter())
    }
}

impl ShareGroup {
    /// A group that no record has been written of.
    pub fn new(id: JString, behaviour: &Behaviour) -> ShareGroup {
        ShareGroup { base: GroupBase::new(id, GroupKind::Share, behaviour), modern: ModernGroup::default() }
    }

    /// Puts a member in, or its new state. `write` is the number of the write operation, for roll-backs.
    pub fn update_member(&mut self, new: Arc<ShareMember>, write: u64) {
        let old = self.modern.members.get(&new.id).cloned();
        self.modern.members.insert(new.id.clone(), new.clone(), write);
        self.modern.update_subscriptions(old.as_deref(), Some(&new), write);
        self.update_homogeneous(write);
    }

    /// Takes a member out.
    pub fn remove_member(&mut self, id: &str, write: u64) {
        let old = self.modern.members.get(id).cloned();
        self.modern.members.remove(id, write);
        self.modern.update_subscriptions(old.as_deref(), None, write);
        self.update_homogeneous(write);
    }

    fn update_homogeneous(&mut self, write: u64) {
        let subscribed = self.modern.subscribed.values().copied();
        let now = homogeneous_by_name(subscribed, self.modern.members.len() as i32);
        self.modern.set_homogeneous(now, write);
    }

    /// Goes back to the last committed write.
    pub fn revert(&mut self, write: u64) {
        self.base.revert(write);
        self.modern.revert(write);
    }
}
