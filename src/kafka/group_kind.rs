//! The kinds of groups that a coordinator keeps.

/// `Group.GroupType` without the classic one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GroupKind {
    /// Consumer groups (KIP-848).
    Consumer,
    /// Share groups (KIP-932).
    Share,
    /// Streams groups (KIP-1071).
    Streams,
}

impl GroupKind {
    /// All of them.
    pub const ALL: [GroupKind; 3] = [GroupKind::Consumer, GroupKind::Share, GroupKind::Streams];

    /// Kafka's name of the kind.
    pub const fn name(self) -> &'static str {
        match self {
            GroupKind::Consumer => "consumer",
            GroupKind::Share => "share",
            GroupKind::Streams => "streams",
        }
    }
}
