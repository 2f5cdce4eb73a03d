//! A streams group: its state, and how records change it (`StreamsGroup`).

use crate::coordinator::behaviour::Behaviour;
use crate::coordinator::group::GroupBase;
use crate::kafka::{GroupKind, JString};

/// A streams group.
#[derive(Debug)]
pub struct StreamsGroup {
    /// What groups of all kinds have.
    pub base: GroupBase,
}

impl StreamsGroup {
    /// A group that no record has been written of.
    pub fn new(id: JString, behaviour: &Behaviour) -> StreamsGroup {
        StreamsGroup { base: GroupBase::new(id, GroupKind::Streams, behaviour) }
    }

    /// Goes back to the last committed write.
    pub fn revert(&mut self, write: u64) {
        self.base.revert(write);
    }
}
