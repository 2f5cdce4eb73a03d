//! Targets that are copied only when they change.

use crate::coordinator::assignment::Assignment;
use std::sync::Arc;

/// A member's target while an assignor works.
#[derive(Debug)]
pub(super) enum Target {
    /// As it was.
    Kept(Arc<Assignment>),
    /// A copy that the assignor changes.
    Changed(Assignment),
}

impl Target {
    /// The target as one that can be changed: the first call copies it, and a copy may be walked in another order.
    pub(super) fn change(&mut self) -> &mut Assignment {
        if let Target::Kept(old) = self {
            *self = Target::Changed(old.deep_copy());
        }
        match self {
            Target::Changed(assignment) => assignment,
            Target::Kept(_) => unreachable!("it has just been copied"),
        }
    }

    pub(super) fn into_assignment(self) -> Arc<Assignment> {
        match self {
            Target::Kept(assignment) => assignment,
            Target::Changed(assignment) => Arc::new(assignment),
        }
    }
}
