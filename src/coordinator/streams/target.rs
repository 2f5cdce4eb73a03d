//! Computes the target assignment of a group (the streams `TargetAssignmentBuilder`).

use super::assignor::{GroupSpec, MemberSpec, NoMember, StickyAlgorithm};
use super::internal_topics::ConfiguredTopology;
use super::tasks::Tasks;
use crate::kafka::JString;
use std::sync::Arc;

/// What a target is computed from.
#[derive(Debug, Clone, Copy)]
pub struct TargetInput<'a> {
    /// How tasks are assigned.
    pub algorithm: StickyAlgorithm,
    /// The members, in the order in which Kafka's map gives them.
    pub members: &'a [(&'a JString, MemberSpec<'a>)],
    /// The topology; one that is not ready gives every member nothing.
    pub topology: &'a ConfiguredTopology,
    /// `num.standby.replicas`.
    pub standby_replicas: i32,
}

impl TargetInput<'_> {
    /// The target of each member, in their order.
    pub fn compute(&self) -> Result<Vec<Arc<Tasks>>, NoMember> {
        if !self.topology.is_ready() {
            return Ok(vec![Arc::default(); self.members.len()]);
        }
        let group = GroupSpec {
            members: self.members,
            standby_replicas: self.standby_replicas,
            subtopologies: &self.topology.subtopologies,
        };
        Ok(self.algorithm.assign(&group)?.into_iter().map(Arc::new).collect())
    }
}
