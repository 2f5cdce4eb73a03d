//! What of streams groups differs between versions of Kafka.

use super::assignor::StickyAlgorithm;

/// What a version of Kafka does with streams groups where versions differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StreamsBehaviour {
    /// How tasks are assigned.
    pub assignor: StickyAlgorithm,
    /// The assignor is told which tasks members have (4.4), not which they had in the last target.
    pub assigns_from_current: bool,
    /// A member's task changes its role at once (4.4); before, the member gives it up and gets it anew.
    pub roles_change: bool,
    /// Replaying a member throws when a task is not run by the process that it was thought to be run by (4.1).
    pub owners_strict: bool,
    /// A group remembers for which topology its topics were found to be there, and with which configuration it was last
    /// bumped; both bump it when they change (4.3 on).
    pub validates_topologies: bool,
    /// Which topology that is in a group of which no record says it.
    pub first_validated_topology_epoch: i32,
    /// A member that leaves makes the group store the hash of no topics (4.1).
    pub leave_forgets_hash: bool,
    /// Members may have an instance id (4.4).
    pub static_members: bool,
    /// Members may say that they have warm-up tasks (4.4).
    pub warmup_tasks: bool,
    /// A member that the group knows may join a full group again (4.4).
    pub members_rejoin_full_groups: bool,
    /// What members are to have is remembered for each epoch of the target, and a stable group is bumped for a member that
    /// does not have it (4.4, `AssignmentRefiner`).
    pub refines: bool,
}

impl StreamsBehaviour {
    /// Kafka 4.1.1.
    pub const V4_1: StreamsBehaviour = StreamsBehaviour {
        assignor: StickyAlgorithm::TaskPairs,
        assigns_from_current: false,
        roles_change: false,
        owners_strict: true,
        validates_topologies: false,
        first_validated_topology_epoch: -1,
        leave_forgets_hash: true,
        static_members: false,
        warmup_tasks: false,
        members_rejoin_full_groups: false,
        refines: false,
    };

    /// Kafka 4.3.1.
    pub const V4_3: StreamsBehaviour = StreamsBehaviour {
        assignor: StickyAlgorithm::LeastLoaded { skips_owners: false, computes_processes: false },
        owners_strict: false,
        validates_topologies: true,
        first_validated_topology_epoch: 0,
        leave_forgets_hash: false,
        ..Self::V4_1
    };

    /// Kafka 4.4.0.
    pub const V4_4: StreamsBehaviour = StreamsBehaviour {
        assignor: StickyAlgorithm::LeastLoaded { skips_owners: true, computes_processes: true },
        assigns_from_current: true,
        roles_change: true,
        first_validated_topology_epoch: -1,
        static_members: true,
        warmup_tasks: true,
        members_rejoin_full_groups: true,
        refines: true,
        ..Self::V4_3
    };
}
