//! Kafka versions as sets of named behaviours: what differs between them is data here, not a version check there.

use super::assignor::{AssignorBehaviour, Heterogeneous, SimpleAssignor};
use super::streams::StreamsBehaviour;
use serde::Serialize;
use std::fmt;
use std::str::FromStr;

/// A version of Kafka that the coordinator can follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KafkaVersion {
    /// 3.9.1
    V3_9_1,
    /// 4.0.0
    V4_0_0,
    /// 4.1.1
    V4_1_1,
    /// 4.3.1
    V4_3_1,
    /// 4.4.0
    V4_4_0,
}

impl KafkaVersion {
    /// All of them, oldest first.
    pub const ALL: [KafkaVersion; 5] = [Self::V3_9_1, Self::V4_0_0, Self::V4_1_1, Self::V4_3_1, Self::V4_4_0];

    /// The version as Kafka writes it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::V3_9_1 => "3.9.1",
            Self::V4_0_0 => "4.0.0",
            Self::V4_1_1 => "4.1.1",
            Self::V4_3_1 => "4.3.1",
            Self::V4_4_0 => "4.4.0",
        }
    }

    /// What this version does.
    pub const fn behaviour(self) -> Behaviour {
        match self {
            Self::V3_9_1 => Behaviour {
                version: self,
                first_group_epoch: 0,
                bumps_at_epoch_zero: false,
                member_id_from_client: false,
                joins_without_topics: false,
                regexes: false,
                assignors_by_class: true,
                assignors_may_repeat: false,
                known_member_may_join: false,
                replay_creates: false,
                partition_epochs_strict: true,
                revoked_member_advances: true,
                reconciles_with_subscription: false,
                assignment_epochs: false,
                assignment_timestamps: false,
                throws_on_unregistered_replica: true,
                empty_regex_bumps: false,
                regex_refresh_interval: false,
                empty_group_assignment_epoch: false,
                target_sees_replacement: false,
                assignor_change_bumps: false,
                static_members_rejoin_full_groups: false,
                old_instance_is_forgotten: false,
                default_assignment_interval_ms: 0,
                append_linger_ms: Some(10),
                default_threads: 1,
                checks_size_before_replay: true,
                cleaner_keeps_last_batch: false,
                offset_commit_value_bytes: 24,
                deleted_topics_stay_created: false,
                share_and_streams: false,
                share_initialization_is_compared_whole: true,
                streams_warmups: false,
                assignors: AssignorBehaviour {
                    extra_partitions_stay: false,
                    heterogeneous: Heterogeneous::Partitions,
                    simple: SimpleAssignor::Hashed,
                },
                streams: StreamsBehaviour::V4_1,
            },
            Self::V4_0_0 => Behaviour {
                bumps_at_epoch_zero: true,
                member_id_from_client: true,
                joins_without_topics: true,
                regexes: true,
                assignors_by_class: false,
                replay_creates: true,
                throws_on_unregistered_replica: false,
                append_linger_ms: Some(5),
                default_threads: 4,
                cleaner_keeps_last_batch: true,
                deleted_topics_stay_created: true,
                assignors: AssignorBehaviour {
                    heterogeneous: Heterogeneous::Topics,
                    ..Self::V3_9_1.behaviour().assignors
                },
                ..Self::V3_9_1.behaviour_as(self)
            },
            Self::V4_1_1 => Behaviour {
                regex_refresh_interval: true,
                share_and_streams: true,
                checks_size_before_replay: false,
                offset_commit_value_bytes: 42,
                assignors: AssignorBehaviour { extra_partitions_stay: true, ..Self::V4_0_0.behaviour().assignors },
                ..Self::V4_0_0.behaviour_as(self)
            },
            Self::V4_3_1 => Behaviour {
                first_group_epoch: 1,
                bumps_at_epoch_zero: false,
                partition_epochs_strict: false,
                revoked_member_advances: false,
                reconciles_with_subscription: true,
                known_member_may_join: true,
                assignors_may_repeat: true,
                assignment_epochs: true,
                assignment_timestamps: true,
                empty_regex_bumps: true,
                default_assignment_interval_ms: 1000,
                append_linger_ms: None,
                deleted_topics_stay_created: false,
                share_initialization_is_compared_whole: false,
                assignors: AssignorBehaviour { simple: SimpleAssignor::Shared, ..Self::V4_1_1.behaviour().assignors },
                streams: StreamsBehaviour::V4_3,
                ..Self::V4_1_1.behaviour_as(self)
            },
            Self::V4_4_0 => Behaviour {
                empty_group_assignment_epoch: true,
                target_sees_replacement: true,
                assignor_change_bumps: true,
                static_members_rejoin_full_groups: true,
                old_instance_is_forgotten: true,
                streams: StreamsBehaviour::V4_4,
                streams_warmups: true,
                ..Self::V4_3_1.behaviour_as(self)
            },
        }
    }

    /// The behaviour of this version under the name of a later one.
    const fn behaviour_as(self, version: KafkaVersion) -> Behaviour {
        Behaviour { version, ..self.behaviour() }
    }
}

impl fmt::Display for KafkaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for KafkaVersion {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// A version that is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown Kafka version {0:?}: one of 3.9.1, 4.0.0, 4.1.1, 4.3.1, 4.4.0")]
pub struct UnknownVersion(pub String);

impl FromStr for KafkaVersion {
    type Err = UnknownVersion;

    fn from_str(text: &str) -> Result<Self, UnknownVersion> {
        Self::ALL.into_iter().find(|v| v.name() == text).ok_or_else(|| UnknownVersion(text.to_owned()))
    }
}

/// What a version of `GroupMetadataManager` does where versions differ.
#[derive(Debug, Clone, Copy)]
pub struct Behaviour {
    /// The version.
    pub version: KafkaVersion,
    /// The epoch of a group that has written none yet (0; 1 from 4.3 on, KAFKA-20268).
    pub first_group_epoch: i32,
    /// A heartbeat bumps a group whose epoch is still 0 (4.0 to 4.2).
    pub bumps_at_epoch_zero: bool,
    /// The member id must be in every request (4.0 on, request version 1); before, the coordinator makes one up.
    pub member_id_from_client: bool,
    /// A member may join with no topic (4.0 on).
    pub joins_without_topics: bool,
    /// `group.consumer.assignors` must name classes (3.9); from 4.0 on the names of the assignors do too.
    pub assignors_by_class: bool,
    /// An assignor may be named twice there (4.3 on).
    pub assignors_may_repeat: bool,
    /// Broker-side regular expressions (4.0 on).
    pub regexes: bool,
    /// A member that the group knows may join again with epoch 0 (4.3 on); before, that is a wrong epoch like others.
    pub known_member_may_join: bool,
    /// A record that is replayed creates the group and the member it names (4.0 on); before, only the member's and
    /// the group's metadata do, and every other record throws.
    pub replay_creates: bool,
    /// Replaying a current assignment throws when a partition is still owned at another epoch (before 4.3, KAFKA-19862).
    pub partition_epochs_strict: bool,
    /// A member that has revoked its partitions moves to its epoch + 1, not straight to the target's (before 4.3).
    pub revoked_member_advances: bool,
    /// Reconciliation takes topics that the member no longer subscribes to out of its target (4.3 on).
    pub reconciles_with_subscription: bool,
    /// Current assignments say at which epoch each partition was assigned (4.3 on).
    pub assignment_epochs: bool,
    /// Target assignments say when they were computed, and there is an assignment interval (4.3 on).
    pub assignment_timestamps: bool,
    /// A map of racks throws on a replica whose broker is not registered (3.9: `NullPointerException`).
    pub throws_on_unregistered_replica: bool,
    /// A member that gives up its regular expression bumps the group (4.3 on, KAFKA-19899).
    pub empty_regex_bumps: bool,
    /// Regular expressions are resolved again after `group.consumer.regex.refresh.interval.ms` (4.1 on).
    pub regex_refresh_interval: bool,
    /// A target is computed as if a static member had already replaced its predecessor: it has that one's target, an
    /// equal new one is not written, and the two are never side by side (4.4, `UpdatedMembersAndTargetAssignmentView`).
    pub target_sees_replacement: bool,
    /// A heartbeat bumps the group if it now prefers another assignor than before (4.4).
    pub assignor_change_bumps: bool,
    /// A request with an instance id that the group knows is let into a full group (4.4).
    pub static_members_rejoin_full_groups: bool,
    /// A member that changes its instance id is no longer known under the old one (4.4).
    pub old_instance_is_forgotten: bool,
    /// When the last member leaves, the epoch of the target assignment is written too, without a time (4.4).
    pub empty_group_assignment_epoch: bool,
    /// `group.consumer.assignment.interval.ms`.
    pub default_assignment_interval_ms: i32,
    /// A topic that is created and deleted in one image counts as created (4.0 and 4.1): regular expressions are resolved.
    pub deleted_topics_stay_created: bool,
    /// Share groups and streams groups (4.1 on).
    pub share_and_streams: bool,
    /// A share group bumps whenever its initialised partitions are not exactly those of its target, those of topics that
    /// nobody subscribes to any more included, and also while a target is still to be computed (4.1; KAFKA-19468,
    /// KAFKA-20291).
    pub share_initialization_is_compared_whole: bool,
    /// Streams groups know warm-up replicas, rack-aware tags and other assignors by configuration (4.4).
    pub streams_warmups: bool,
    /// What of the assignors differs.
    pub assignors: AssignorBehaviour,
    /// What of streams groups differs (4.1 on; before, there are none).
    pub streams: StreamsBehaviour,
    /// `group.coordinator.threads`, where it is not configured.
    pub default_threads: u32,
    /// `group.coordinator.append.linger.ms`; `None` is -1: as long as the queue has work.
    pub append_linger_ms: Option<i64>,
    /// Whether an operation that is too large fails before its records are replayed, so that nothing goes back
    /// (`CoordinatorRuntime.append`).
    pub checks_size_before_replay: bool,
    /// Whether the log cleaner keeps the last batch that it has looked at, though no record of it stays.
    pub cleaner_keeps_last_batch: bool,
    /// The value of an offset commit without metadata: version 3, or from 4.1 on version 4, which has the topic's id.
    pub offset_commit_value_bytes: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_have_their_own_name_and_inherit() {
        for version in KafkaVersion::ALL {
            assert_eq!(version.behaviour().version, version);
            assert_eq!(version.name().parse(), Ok(version));
        }
        assert!(KafkaVersion::V4_4_0.behaviour().reconciles_with_subscription);
        assert_eq!("4.2.0".parse::<KafkaVersion>(), Err(UnknownVersion("4.2.0".into())));
    }
}
