//! The operations that cost time: what differs between strategies, or grows with the cluster.

/// Declares the operations once: variant, name in files, meaning.
macro_rules! operations {
    ($($(#[doc = $doc:literal])+ $variant:ident = $name:literal,)+) => {
        /// An operation of the coordinator that a profile prices.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Operation {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Operation {
            /// All of them, in the order of files.
            pub const ALL: [Operation; [$($name),+].len()] = [$(Operation::$variant),+];

            /// The name in `operations.csv` and in profiles.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Operation::$variant => $name,)+
                }
            }
        }
    };
}

operations! {
    /// A request that reaches the coordinator, whatever it does: checks, the look-up of the member, its timer, the answer.
    Heartbeat = "heartbeat",
    /// A timer that fires.
    Timer = "timer",
    /// A task of the background executor.
    BackgroundTask = "background-task",
    /// An image published to a loaded shard.
    ImagePublished = "image-published",
    /// A topic of a published delta that is looked up among the shard's subscriptions and remembered hashes.
    ImageTopic = "image-topic",
    /// A group that an image asks to refresh its metadata.
    GroupMarked = "group-marked",
    /// A recomputation of a group's metadata.
    Refresh = "refresh",
    /// A subscribed topic looked up in the image.
    TopicLookup = "topic-lookup",
    /// A topic put into a map.
    MapEntry = "map-entry",
    /// A partition whose racks are put into a map.
    MapPartition = "map-partition",
    /// A replica whose rack is looked up for a map.
    MapReplica = "map-replica",
    /// A topic's entry compared with what the group stored; a group that stores one hash compares one.
    EntryComparison = "entry-comparison",
    /// A partition whose racks are compared with those that the group stored.
    PartitionComparison = "partition-comparison",
    /// A topic hash computed.
    TopicHash = "topic-hash",
    /// A partition visited for a topic hash.
    HashPartition = "hash-partition",
    /// A replica whose rack is looked up, sorted and fed to a topic hash.
    HashReplica = "hash-replica",
    /// A byte fed to a topic hash.
    HashByte = "hash-byte",
    /// A topic hash found among the remembered ones.
    MemoHit = "memo-hit",
    /// A remembered topic hash dropped.
    MemoDrop = "memo-drop",
    /// A group hash combined from topic hashes.
    GroupHash = "group-hash",
    /// A topic hash that goes into a group hash.
    GroupHashTopic = "group-hash-topic",
    /// A run of an assignor, with what prepares it.
    AssignorRun = "assignor-run",
    /// A member in such a run.
    AssignedMember = "assigned-member",
    /// A partition in such a run.
    AssignedPartition = "assigned-partition",
    /// A record made, serialised and replayed.
    Record = "record",
    /// A byte of a record's key and value.
    RecordByte = "record-byte",
    /// A batch appended.
    Batch = "batch",
    /// A record read and replayed by a load.
    RecordLoaded = "record-loaded",
    /// A byte read by a load.
    ByteLoaded = "byte-loaded",
}

impl Operation {
    /// The operation of that name.
    pub fn from_name(name: &str) -> Option<Operation> {
        Operation::ALL.into_iter().find(|operation| operation.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_found_again() {
        for (index, operation) in Operation::ALL.into_iter().enumerate() {
            assert_eq!(Operation::from_name(operation.name()), Some(operation));
            assert_eq!(operation as usize, index);
        }
        assert_eq!(Operation::from_name("heart-beat"), None);
    }
}
