//! A share group: its state, and how records change it (`ShareGroup`).

use crate::coordinator::behaviour::Behaviour;
use crate::coordinator::group::GroupBase;
use crate::kafka::{GroupKind, JString};

/// A share group.
#[derive(Debug)]
pub struct ShareGroup {
    /// What groups of all kinds have.
    pub base: GroupBase,
}

impl ShareGroup {
    /// A group that no record has been written of.
    pub fn new(id: JString, behaviour: &Behaviour) -> ShareGroup {
        ShareGroup { base: GroupBase::new(id, GroupKind::Share, behaviour) }
    }

    /// Goes back to the last committed write.
    pub fn revert(&mut self, write: u64) {
        self.base.revert(write);
    }
}
